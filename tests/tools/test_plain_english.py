"""Pages and the package keep to the list of words and sentences."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tools import plain_english
from tools.plain_english import LIST, breaches, check, excess, sentences

RULES = tomllib.loads(LIST.read_text(encoding="utf-8"))


def broken(text: str, folder: Path, name: str = "page.md") -> list[str]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return [breach.rule for breach in breaches(path, RULES)]


def test_pages_and_package_break_the_list_as_often_as_it_allows_and_no_more() -> None:
    """Where fewer break it, ``python -m tools.plain_english --lower`` writes the count."""
    assert excess(check()) == {}


def test_every_rule_finds_its_word(tmp_path: Path) -> None:
    words = {"hangs? on": "hangs on", "centre(?:s|d)?": "centred", "analys(?:e|ed|ing)": "analysed"}
    for name in {**RULES["words"], **RULES["spelling"]}:
        word = words.get(
            name, name.partition("(")[0].partition("[")[0].removesuffix("?").replace("\\w*", "ed")
        )
        assert broken(f"It says {word} here.", tmp_path) == [name], word


@pytest.mark.parametrize(
    "text",
    [
        "The goal `equalize`, [the rule](that_of.md), $c = \\text{one is}$ and otherwise analyses.",
        "```\nthat of\n```\n\n<!-- one is -->\n\nText.",
        "That offers a zone is.",
    ],
)
def test_names_in_code_addresses_and_parts_of_words_are_left_alone(text: str, tmp_path: Path) -> None:
    assert broken(text, tmp_path) == []


def test_a_sentence_has_at_most_25_words(tmp_path: Path) -> None:
    long = "It has " + "many " * 23 + "words."
    assert broken(f"Short. {long[:-6]}. Short.", tmp_path) == []
    assert broken(f"Short.\n{long}\n\nShort.", tmp_path) == ["more than 25 words"]
    assert broken(f"| {long} |", tmp_path) == [], "a row of a table"
    assert broken(f"```\n{long}\n```", tmp_path) == []
    assert broken(f'"""{long}"""\n', tmp_path, "module.py") == [], "a page's rule"


def test_sentences_of_a_page() -> None:
    page = "# Title\n\nIt is .5 of `a. B`.\nThen **more.** β follows!\n\n- One\n- [Two](x.md). Three\n"
    assert list(sentences(page)) == [
        *("Title", "It is .5 of CODE.", "Then more.", "β follows!"),
        *("One", "Two.", "Three"),
    ]


def test_a_module_is_read_by_its_strings(tmp_path: Path) -> None:
    source = '"""Return that of it."""\n# that of it\nTEXT = f"{TEXT} is one is"\nNAME = "colour"\n'
    assert broken(source, tmp_path, "module.py") == ["that of", "one is"]
    assert broken("<p>of use</p>", tmp_path, "page.html") == ["of use"]


def test_a_count_can_only_fall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = tmp_path / "list.toml"
    allowed.write_text('[words]\n"one is" = "it"\n[spelling]\n[exceptions]\n"A.md" = 2\n"B.md" = 1\n')
    (tmp_path / "A.md").write_text("One is. One is. One is.\n")
    monkeypatch.setattr(plain_english, "LIST", allowed)
    assert excess(check(tmp_path)) == {"A.md": (3, 2), "B.md": (0, 1)}
    plain_english._lower(excess(check(tmp_path)))
    assert excess(check(tmp_path)) == {"A.md": (3, 2)}


def test_a_template_and_a_table_of_words_are_read_by_their_texts(tmp_path: Path) -> None:
    long = "It has {{ one }} " + "many " * 22 + "words."
    assert broken(f"{{# that of #}}\n{long}", tmp_path, "page.md.j2") == ["more than 25 words"]
    assert broken("{% if x %}{{ 'this one is here' if y }}{% endif %}", tmp_path, "page.md.j2") == ["one is"]
    assert broken('[reason.colour]\nmeaning = "Its colour."', tmp_path, "words.toml") == ["colour\\w*"]
