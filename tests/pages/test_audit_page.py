"""The page of an audit is whole, safe whatever names the data hold, and says what the audit found."""

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.audit.table_audit import AuditResult
from benchmark.metrics import get_metric
from benchmark.report.audit import audit_page, audit_text
from benchmark.text.terminal import as_text
from benchmark.text.words import short
from tests.helpers.audits import audited

SCRIPT = "<script>alert(1)</script>"
VOID = {"meta", "link"}
HOSTILE = (
    SCRIPT,
    '" onload="x',
    "</td></table><img src=x>",
    "&amp;",
    "[red]bold[/]",
    "\x1b[31mred\x07",
    "Ł 女 ‮",
)


class Page(HTMLParser):
    """Collects elements and texts, and fails where tags are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


def made_up(groups: tuple[str, ...], name: str = "sex", **options: Any) -> AuditResult:
    n = 40 * len(groups)
    row = np.arange(n)
    frame = pd.DataFrame(
        {
            "y": row % 2,
            "p": (row // 3) % 2,
            "s": (row % 17) / 16,
            name: [groups[i % len(groups)] for i in row],
        }
    )
    roles = {"label": "y", "prediction": "p", "score": "s", "sensitive": name}
    return audited(frame, **{**roles, **options})


RESULT = made_up(("f", "m", "x"))
PAGE = audit_page(RESULT, "predictions.csv")


def console_text(result: AuditResult, width: int = 80) -> str:
    return as_text(audit_text(result), width)


def test_the_page_is_whole_and_needs_nothing_else() -> None:
    page = Page(PAGE)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "iframe", "object", "form", "base"}
    assert not [a for _, attributes in page.elements for a in attributes if a == "src" or a[:2] == "on"]
    assert {a["style"] for a in page.of("th", "td") if "style" in a} == {
        "text-align:left",
        "text-align:right",
    }
    assert [a["href"] for a in page.of("link")] == ["data:,"]
    assert all(str(a["href"]).startswith("#part") for a in page.of("a"))
    assert "url(" not in PAGE
    assert "http://" not in PAGE
    assert "https://" not in PAGE
    assert page.of("html") == [{"lang": "en"}]
    assert "color-scheme: light dark" in PAGE
    assert "@media print" in PAGE
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.of("meta")


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text_whatever_they_hold(name: str) -> None:
    result = made_up((name, "m"), name=name)
    text = audit_page(result, name)
    page = Page(text)
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in Page(PAGE).elements}
    assert {a for _, attributes in page.elements for a in attributes} == {
        a for _, attributes in Page(PAGE).elements for a in attributes
    }
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    readable = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    assert readable in page.texts
    shown = console_text(result, width=200)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert readable in shown


def test_the_numbers_are_those_of_the_audit() -> None:
    texts = "\n".join(Page(PAGE).texts)
    for row in RESULT.disparities.to_dict("records"):
        if np.isfinite(row["disparity"]):
            assert short(row["disparity"], 2) in texts
    for row in RESULT.groups.to_dict("records"):
        assert short(row["true_positive_rate"]) in texts
        assert f"{row['n']:,}" in texts
    for name in RESULT.metrics["metric"].unique():
        item = get_metric(name)
        for fact in (item.title, item.formula, item.source):
            assert fact in texts
    assert RESULT.facts["digest"] in texts


def test_without_a_value_there_is_a_reason() -> None:
    result = made_up(("f", "m"), label=None)
    text = audit_page(result)
    assert not re.search(r"\b(nan|None|<NA>)\b", text)
    rates = re.search(r'aria-label="Disparities".*?</table>', text, flags=re.DOTALL)
    assert rates
    assert "Selection rate" in rates[0]
    assert "Precision" not in rates[0]
    page = audit_page(made_up(("f",), metrics=["paper"]))
    assert "no row of the groups other than 'f'" in page


def test_the_console_shows_rates_marks_verdicts_and_reasons() -> None:
    shown = console_text(RESULT)
    for heading in ("selected", "TPR", "FPR", "FDR", "FOR", "precision", "accuracy", "AUC"):
        assert heading in shown
    assert "Compared with f, the largest group." in shown
    row = RESULT.groups.iloc[1]
    assert short(row["selection_rate"]) in shown
    assert "Supervised Fairness" in shown
    tables = [line for line in shown.splitlines() if line.startswith(("f ", "m ", "x ", "group"))]
    assert len(tables) == 8
    assert [line.split()[1] for line in tables if line.startswith("f ")][1] == "1.00="
    assert max(map(len, tables)) <= 80
    few = console_text(made_up(("f", "m"), metrics=["paper", "auc_gap"]))
    assert "auc_gap" in few
    assert "underestimation" in few


def test_of_many_groups_the_console_shows_the_largest_and_the_page_all() -> None:
    result = made_up(tuple(f"g{i:03}" for i in range(200)), metrics=["paper"])
    assert "180 smaller groups are in the files only" in console_text(result)
    page = audit_page(result)
    assert all(f"g{i:03}" in page for i in range(200))
