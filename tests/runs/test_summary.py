"""Summary: the numbers, their order, and what malformed frames are told."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmark.errors import ReportError, StatisticsError
from benchmark.runs.finished import SUMMARY_COLUMNS
from benchmark.runs.report_frames import check_read, described_scenarios
from benchmark.text.writing import csv_text
from tests.helpers.made_up_runs import ADULT, DUTCH, METRICS, TECHNIQUES, Run, changed, sample_run


def summary_of(run: Run) -> pd.DataFrame:
    return run.frames.summary


@pytest.fixture(scope="module")
def run() -> Run:
    return sample_run(repetitions=5)


def hand_run(values: list[float]) -> Run:
    run = sample_run(
        datasets=(ADULT,),
        techniques=TECHNIQUES[:1],
        betas=(0.5,),
        repetitions=len(values),
        metrics=METRICS[:1],
    )
    return replace(run, results=run.results.assign(value=values))


def test_numbers_equal_those_of_scipy() -> None:
    values = [0.11, 0.25, 0.18, 0.31]
    row = summary_of(hand_run(values)).iloc[0]
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert row["mean"] == pytest.approx(0.2125)
    assert row["std"] == pytest.approx(np.std(values, ddof=1))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
    assert row["n"] == 4


def test_only_finite_values_count() -> None:
    row = summary_of(hand_run([0.1, math.nan, 0.3, math.inf])).iloc[0]
    assert row["n"] == 2
    assert row["mean"] == pytest.approx(0.2)


def test_no_finite_value_is_a_row_all_the_same() -> None:
    row = summary_of(hand_run([math.nan, math.nan])).iloc[0]
    assert row["n"] == 0
    assert row[["mean", "std", "ci_low", "ci_high"]].isna().all()


def test_failed_cells_are_rows(run: Run) -> None:
    summary = summary_of(run)
    n_datasets, n_betas = len(run.description.datasets), len(run.description.levels)
    assert len(summary) == n_datasets * n_betas * len(TECHNIQUES) * len(METRICS)
    failed = summary[(summary["dataset"] == DUTCH.name) & (summary["level"] == 1) & (summary["n"] == 0)]
    assert list(failed["technique"].unique()) == ["uniform_sampling", "preferential_sampling"]
    assert list(failed["metric"]) == 2 * [metric.name for metric in METRICS]


def test_order_is_the_described_one(run: Run) -> None:
    summary = summary_of(run)
    assert tuple(summary.columns) == SUMMARY_COLUMNS
    assert list(summary["dataset"].unique()) == ["adult", "compas_leaky", "dutch:embedded"]
    assert list(summary["technique"].unique()) == [technique.name for technique in TECHNIQUES]
    assert list(summary["metric"].unique()) == [metric.name for metric in METRICS]
    reversed_order = changed(run.description, techniques=run.description.techniques[::-1])
    assert summary_of(replace(run, description=reversed_order))["technique"].iloc[0] == "repair_0.75"


def test_csv_reads_back_as_the_same_numbers(run: Run) -> None:
    summary = summary_of(run)
    text = csv_text(summary)
    assert "\r" not in text
    rows = list(csv.DictReader(io.StringIO(text)))
    for column in ("mean", "std", "ci_low", "ci_high", "n"):
        back = [float(row[column] or "nan") for row in rows]
        np.testing.assert_array_equal(back, summary[column].to_numpy(dtype=float))
    assert {row["level"] for row in rows} == {"0.0", "0.25", "0.5", "0.75", "1.0"}


def test_repeated_keys_are_refused(run: Run) -> None:
    with pytest.raises(StatisticsError, match=r"several rows of one key.*level=0\.0, technique=none"):
        check_read("results", pd.concat([run.results, run.results.head(1)]), run.description)
    with pytest.raises(StatisticsError, match="several rows of one key"):
        check_read("failures", pd.concat([run.failures, run.failures.head(1)]), run.description)


@pytest.mark.parametrize(
    ("column", "value"),
    [("dataset", "iris"), ("technique", "magic"), ("metric", "beauty"), ("level", 0.3)],
)
def test_undescribed_names_are_refused(run: Run, column: str, value: object) -> None:
    results = run.results.copy()
    results[column] = results[column].astype("object")
    results.loc[0, column] = value
    with pytest.raises(ReportError, match=f"name a {column} .*{value}"):
        check_read("results", results, run.description)


def test_scenarios_name_what_differs(run: Run) -> None:
    both = pd.concat([run.results, run.results.assign(classifier="logistic_regression")])
    found = described_scenarios(both, run.description)
    assert [scenario.heading for scenario in found][:2] == ["Adult, c45", "Adult, logistic_regression"]
    assert len({scenario.file_name for scenario in found}) == len(found) == 6
    single = described_scenarios(run.results, run.description)
    assert [scenario.heading for scenario in single] == ["Adult", "COMPAS (leaky)", "Dutch (embedded)"]


def test_names_must_differ_as_file_names(run: Run) -> None:
    twin = replace(ADULT, name="Adult")
    with pytest.raises(ReportError, match="Names of datasets"):
        changed(run.description, datasets=(ADULT, twin))
