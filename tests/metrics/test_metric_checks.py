"""``betabench check`` knows metrics: shipped ones pass, and what is wrong with one is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.cli import main
from benchmark.conformance import METRIC_CHECKS, check_metric
from benchmark.experiment.export import failures_frame
from benchmark.experiment.store import CellResult, MetricValue
from benchmark.metrics import Metric, UndefinedMetricError, get_metric, list_families, list_metrics
from tests.helpers.metric_properties import NOT_MIRRORED, NOT_WEIGHTED

FILE = '''"""A metric of a user's own."""
from benchmark.metrics import metric


@metric(title="{title}", formula="f", range=(-1.0, 1.0), ideal=0.0, source="s", needs=("y_true", "y_pred"),
        compare="one_against_rest", family="mine")
def {name}(deprived, favored):
    return {body}
'''


# One of each family by day.
DAILY = {names[0] for names in list_families().values()}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in DAILY else pytest.mark.nightly) for name in list_metrics()],
)
def test_shipped_metrics_pass(name: str) -> None:
    found = check_metric(get_metric(name))
    assert [result for result in found if result.status == "failed"] == []
    warned = {result.check for result in found if result.status == "warning"}
    expected = set()
    if name in NOT_MIRRORED:
        expected.add("groups that change places change the sign")
    if name in NOT_WEIGHTED:
        expected.add("a weight counts as rows")
    assert warned <= expected, [result for result in found if result.status == "warning"]


def checked(compute: Any, **declaration: Any) -> dict[str, str]:
    given = {"title": "t", "formula": "f", "range": (-1.0, 1.0), "ideal": 0.0, "source": "s", **declaration}
    given = {"needs": ("y_true", "y_pred"), "direction": "closer_to_ideal", **given}
    from benchmark import metrics as declaration

    metric = Metric(name="made_up_metric", compute=compute, **{"compare": "one_against_rest", **given})
    declaration._REGISTRY._items["made_up_metric"] = metric
    try:
        return {result.check: result.status for result in check_metric(metric)}
    finally:
        del declaration._REGISTRY._items["made_up_metric"]


COUNTER = iter(range(10**9))


def never(deprived: Any, favored: Any) -> float:
    raise UndefinedMetricError("never")


@pytest.mark.parametrize(
    ("compute", "check", "status"),
    [
        (lambda d, f: d.ratio(d.tp), "gives numbers in its range, or reasons", "failed"),
        (lambda d, f: "much", "gives numbers in its range, or reasons", "failed"),
        (lambda d, f: 3.0, "gives numbers in its range, or reasons", "failed"),
        (lambda d, f: float("nan"), "gives numbers in its range, or reasons", "failed"),
        (never, "gives numbers in its range, or reasons", "failed"),
        (lambda d, f: next(COUNTER) / 1e9, "same predictions, same values", "failed"),
        (lambda d, f: d.rows.y_pred[0] - 0.5, "row order irrelevant", "failed"),
        (lambda d, f: float(0 in d.codes), "order of groups irrelevant", "failed"),
        (lambda d, f: len(d.name) / 100, "names of groups irrelevant", "failed"),
        (lambda d, f: 0.5, "groups that change places change the sign", "warning"),
        (lambda d, f: 0.5, "perfect predictions are ideal", "warning"),
        (lambda d, f: d.n_rows / 1000, "a weight counts as rows", "warning"),
    ],
)
def test_each_check_finds_its_fault(compute: Any, check: str, status: str) -> None:
    found = checked(compute)
    assert list(found) == list(METRIC_CHECKS)
    assert found[check] == status, found


def test_a_file_of_metrics_alone_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "metric_file.py"
    good = FILE.format(title="Good", name="good_of_a_file", body="0.0")
    path.write_text(good + FILE.format(title="Bad", name="bad_of_a_file", body='deprived.ratio("x")'))
    assert main(["check", str(path), "--json"]) == 1
    found = {report["metric"]: report for report in json.loads(capsys.readouterr().out)}
    verdicts = {name: report["verdict"] for name, report in found.items()}
    assert verdicts == {"good_of_a_file": "keeps the rules", "bad_of_a_file": "breaks rules"}
    detail = found["bad_of_a_file"]["checks"][0]["detail"]
    assert "TypeError" in detail
    assert "file metric_file.py, line 16" in detail


def test_a_metric_that_fails_in_a_run_is_no_undefined_one() -> None:
    values = (
        MetricValue("broken", None, "the metric 'broken' fails. Got: TypeError", "original"),
        MetricValue("empty", None, "no row is favorable", "original"),
    )
    cell = CellResult("k", "d", "b", 0.0, 0.0, 0.0, 0, "none", "c45", "ok", metrics=values)
    found = failures_frame([cell], ["broken", "empty"])
    assert found["status"].tolist() == ["failed", "undefined"]
