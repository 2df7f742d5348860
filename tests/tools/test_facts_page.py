"""The schema and the codes on the page are those of the facts."""

from __future__ import annotations

from benchmark.facts.model import Facts
from tests.helpers.facts import whole_facts
from tools.facts_page import PAGE, SCHEMA, schema, with_codes


def test_the_schema_is_the_models() -> None:
    """``python -m tools.facts_page`` writes it."""
    assert SCHEMA.read_text(encoding="utf-8") == schema()


def test_the_page_has_every_code_with_its_meaning() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_codes(page) == page
    assert "| `no_effect_shown` |" in page


def test_the_page_names_every_part() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert not [name for name in Facts.model_fields if f"`{name}`" not in page]


def test_facts_are_the_same_after_a_file() -> None:
    facts = whole_facts()
    assert Facts.model_validate_json(facts.model_dump_json()) == facts
