"""The pages about metrics are what the declarations say."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from benchmark.metrics import Equivalent, list_metrics
from website.metric_pages import EQUIVALENTS_PAGE, METRICS_PAGE, metric_pages

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENTS = [(name, other) for name, item in list_metrics().items() for other in item.equivalents]

CLARIFY = [  # in the order of its document
    "CI", "DPL", "CDDL", "KL", "JS", "LP", "TVD", "KS", "DPPL", "DI", "CDDPL", "FT", "AD", "RD", "DAR", "DCA",
    "SD", "DRR", "DCR", "TE", "GE",
]  # fmt: skip
AEQUITAS = ["ppr", "pprev", "precision", "fdr", "for", "fpr", "fnr", "tpr", "tnr", "npv"]


PAGES = cache(metric_pages)


def test_every_metric_is_on_the_page() -> None:
    pages = PAGES()
    assert all(f"| [`{name}`]({name}.md)<br>" in pages[METRICS_PAGE] for name in list_metrics())
    assert pages.keys() == {METRICS_PAGE, EQUIVALENTS_PAGE, *(f"{name}.md" for name in list_metrics())}


@pytest.mark.parametrize(("name", "other"), EQUIVALENTS, ids=lambda v: getattr(v, "name", v))
def test_every_equivalent_names_a_test_that_exists(name: str, other: Equivalent) -> None:
    file, _, test = other.test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert f"`{other.name}`".replace("|", r"\|") in PAGES()[EQUIVALENTS_PAGE]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("Clarify", CLARIFY),
        ("Aequitas", [*AEQUITAS, "prev", "accuracy", *(f"{name}_disparity" for name in AEQUITAS)]),
    ],
)
def test_every_metric_of_a_source_has_one_equivalent(source: str, names: list[str]) -> None:
    found = [other.name for _, other in EQUIVALENTS if other.source == source]
    assert sorted(found) == sorted(names)
