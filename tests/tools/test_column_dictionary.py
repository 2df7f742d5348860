"""The dictionary of columns is whole, and stands on the page as the tool writes it."""

from __future__ import annotations

from studies.atlas.description import MEANINGS, TABLES
from tools.column_dictionary import ATLAS_PAGE, PAGE, atlas_dictionary, dictionary, files, unexplained


def test_every_column_has_one_meaning_and_every_meaning_a_column() -> None:
    assert unexplained() == []


def test_the_page_has_the_dictionary() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert dictionary() in page
    named = [name.removeprefix("statistics/") for name in files() if not name.startswith("alternation/")]
    assert [name for name in named if f"| `{name}` |" not in page] == []


def test_the_columns_of_an_atlas_are_explained_on_its_page() -> None:
    assert {name for columns in TABLES.values() for name in columns} == {*MEANINGS}
    assert atlas_dictionary() in ATLAS_PAGE.read_text(encoding="utf-8")
