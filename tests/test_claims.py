"""The page of claims: each has its five parts, and its numbers stand in the results that it links to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "claims.md"
CLAIMS = re.findall(
    r"^### (.+?)\n\n(.+?)(?=\n\n#)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
PARTS = ["Claim", "Estimand", "Design", "Smallest difference", "What would change our mind"]

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d*\.\d+|\d+")


def numbers(text: str) -> set[float]:
    """Return the numbers in a text, without signs; links and names of learners have none."""
    plain = re.sub(r"\]\([^)]*\)|C4\.5", "", text)
    return {float(number.replace(",", "")) for number in _NUMBER.findall(plain)}


def anchor(title: str) -> str:
    """Return the address of a heading on its page."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower()))


@pytest.mark.parametrize(("title", "text"), CLAIMS, ids=[title for title, _ in CLAIMS])
def test_a_claim_has_its_parts_and_its_numbers_stand_in_committed_results(title: str, text: str) -> None:
    assert [part.rstrip("s") for part in re.findall(r"^- \*\*(.+?)\.\*\*", text, re.MULTILINE)] == PARTS
    links = re.findall(r"\]\((\.\./results/[^)#]+)", text)
    results = "".join((PAGE.parent / link).resolve().read_text(encoding="utf-8") for link in links)
    assert numbers(title + text) - numbers(results) <= half_widths(smallest_difference(text))


def smallest_difference(text: str) -> str:
    """Return the part of a claim of that name."""
    (part,) = re.findall(r"\*\*Smallest difference\.\*\*(.+?)\n- \*\*", text, re.DOTALL)
    return str(part)


def half_widths(text: str) -> set[float]:
    """Return the numbers in a text that are half the width of an interval there, as they are rounded."""
    numerals = re.findall(r"-?\d*\.?\d+", re.sub(r"C4\.5|`[^`]*`", "", text))
    ends = re.findall(r"\[(-?[\d.]+)(?: %)?, (-?[\d.]+)(?: %)?\]", text)
    found = set()
    for numeral in numerals:
        last = 10.0 ** -len(numeral.partition(".")[2])
        if any(abs(float(numeral) - (float(high) - float(low)) / 2) <= last for low, high in ends):
            found.add(float(numeral))
    return found


@pytest.mark.parametrize(("title", "text"), CLAIMS, ids=[title for title, _ in CLAIMS])
def test_the_smallest_difference_is_half_the_width_of_an_interval(title: str, text: str) -> None:
    smallest = smallest_difference(text)
    first = float(_NUMBER.findall(re.sub(r"C4\.5", "", smallest))[0])
    if "[" in smallest:
        assert first in half_widths(smallest)


def test_findings_in_readme_are_claims_and_repeat_their_numbers() -> None:
    text = (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    found = text.partition("## Three more findings")[2].partition("\n## ")[0].strip().split("\n- ")
    assert len(found) == 3
    found.append(text[text.index("**Look at 50 refusals again.**") :].partition("\n\n")[0])
    claims = {anchor(title): title + claim for title, claim in CLAIMS}
    for finding in found:
        claimed = "".join(claims[name] for name in re.findall(r"docs/claims\.md#([\w-]+)", finding))
        assert numbers(finding) - numbers(claimed) == set(), finding


def test_answers_in_the_list_of_results_repeat_numbers_of_their_findings() -> None:
    page = PAGE.parents[1] / "results" / "README.md"
    rows = page.read_text(encoding="utf-8").split("\n\n")[1].splitlines()[2:]
    assert len(rows) >= 15
    for row in rows:
        _, _, answer, links, _ = row.split("|")
        found = [page.parent / link for link in re.findall(r"\]\(([^)#]+\.md)", links)]
        told = "".join(path.read_text(encoding="utf-8") for path in found)
        assert numbers(answer) - numbers(told) == set(), row


def test_all_claims_are_read() -> None:
    assert len(CLAIMS) == PAGE.read_text(encoding="utf-8").count("\n### ") == 14
