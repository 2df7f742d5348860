"""The committed repetition of Legast, Calders and Fouss (2025): its numbers come out again, as written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data.source import Sources
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import load_experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.published.comparison_files import (
    compare_folder,
    published_path,
    read_published,
    write_comparison,
)
from benchmark.statistics.intervals import half_widths
from benchmark.text.writing import plain_or_packed

FOLDER = Path(__file__).resolve().parents[2] / "results" / "legast2025"
KEYS = ["dataset", "beta", "technique", "repetition", "test", "metric"]
TECHNIQUES = ["none", "reweighing", "massaging", "drop_sensitive"]


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    return pd.read_csv(plain_or_packed(FOLDER / "results.csv"))


@pytest.fixture(scope="module")
def comparison() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "comparison.csv")


@pytest.fixture(scope="module")
def findings() -> str:
    return re.sub(r"\s+", " ", (FOLDER / "FINDINGS.md").read_text(encoding="utf-8"))


def errors(apart: pd.Series) -> tuple[float, float, float]:
    apart = apart.abs()
    return float((apart <= 0.05).mean()), float((apart <= 0.02).mean()), float(apart.mean())


def test_the_published_numbers_are_complete() -> None:
    entry = load_experiment("legast2025").published
    assert entry is not None
    published = read_published(published_path(entry))
    assert len(published) == 320
    assert published.groupby(["table", "dataset", "technique", "metric"]).size().tolist() == [10] * 32
    assert sorted(published["beta"].unique()) == [level / 10 for level in range(10)]
    assert (published["value"].round(2) == published["value"]).all()
    indexed = published.set_index(["dataset", "technique", "beta", "metric"])["value"]
    for technique, accuracy, difference in (
        ("none", 0.60, -0.76),
        ("massaging", 0.63, -0.11),
        ("drop_sensitive", 0.66, -0.23),
        ("reweighing", 0.54, -0.52),
    ):
        assert indexed["student_label", technique, 0.9, "accuracy"] == accuracy
        assert indexed["student_label", technique, 0.9, "statistical_parity_difference"] == difference


def test_every_number_is_compared_and_the_tolerances_set_before_the_run_are_met(
    comparison: pd.DataFrame,
) -> None:
    paper = pd.read_csv(FOLDER.parent / "paper" / "comparison.csv", nrows=0).columns
    assert list(comparison.columns) == [c for c in paper if not c.endswith(("_as_read", "_with_hypotheses"))]
    assert comparison["ours"].notna().all()
    assert set(comparison["test_data"]) == {"real data"}
    near, very_near, mean = errors(comparison["difference"])
    assert near >= 0.90
    assert very_near >= 0.74
    assert mean <= 0.020


def test_comparing_again_gives_the_committed_bytes(tmp_path: Path) -> None:
    for name in ("manifest.json", "summary.csv", "failures.csv"):
        shutil.copy(FOLDER / name, tmp_path)
    written = write_comparison(tmp_path, compare_folder(tmp_path), figures=False)
    for path in written:
        if path.suffix == ".csv":
            assert path.read_bytes() == (FOLDER / path.name).read_bytes(), path.name


def test_the_comparison_is_of_the_committed_values(results: pd.DataFrame, comparison: pd.DataFrame) -> None:
    means = results.groupby(["dataset", "technique", "beta", "test", "metric"])["value"].mean()
    for row in comparison.itertuples():
        sign, metric = {
            "statistical_parity_difference": (-1, "discrimination"),
            "generalized_entropy_index": (1, "generalized_entropy"),
        }.get(row.metric, (1, row.metric))
        mean = means[row.dataset, row.technique, row.beta, "original", metric]
        assert row.ours == pytest.approx(sign * mean, abs=1e-12)


def test_without_bias_both_tests_are_the_same(results: pd.DataFrame) -> None:
    none = results[results["beta"] == 0].pivot_table("value", [*KEYS[:4], "metric"], "test", dropna=False)
    assert len(none) > 100
    pd.testing.assert_series_equal(none["original"], none["biased"], check_names=False, check_exact=True)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("dataset", "beta", "technique"),
    [("student_label", 0.5, "massaging"), ("student_selection", 0.9, "reweighing")],
)
def test_computing_again_gives_the_committed_numbers(
    results: pd.DataFrame, data_dir: Path, dataset: str, beta: float, technique: str
) -> None:
    asked = {"datasets": [dataset], "techniques": ["none", technique], "betas": [beta], "repetitions": 1}
    made = prepare_experiment(
        expand(narrow(load_experiment("legast2025"), **asked)), Sources(data_dir, offline=True)
    )
    committed = results.set_index(KEYS)["value"].sort_index()
    evaluator, compared = Evaluator(made), 0
    for block, cells in planned_cells(made):
        for cell in evaluator(block, cells):
            assert cell.status == "ok"
            for own in cell.metrics:
                if own.fold is None and own.metric in ("accuracy", "discrimination"):
                    key = (dataset, beta, cell.technique, 0, own.test, own.metric)
                    assert own.value == pytest.approx(committed[key], abs=1e-12), key
                    compared += 1
    assert compared == 8


def test_what_is_written_of_the_agreement_is_what_was_measured(
    findings: str, comparison: pd.DataFrame, results: pd.DataFrame
) -> None:
    row = r"\| ([\w ,]+) \| (\d+) \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) \|"
    quoted = {name: numbers for name, *numbers in re.findall(row, findings)}
    parts = {
        "all": comparison,
        "label bias": comparison[comparison["dataset"] == "student_label"],
        "malicious selection": comparison[comparison["dataset"] == "student_selection"],
        **{
            f"{kind}, equalised odds": comparison[
                (comparison["dataset"] == dataset) & (comparison["metric"] == "equalized_odds_difference")
            ]
            for kind, dataset in (("label", "student_label"), ("selection", "student_selection"))
        },
    }
    found = {name: (len(part), *errors(part["difference"])) for name, part in parts.items()}
    clean = results[
        (results["test"] == "original")
        & results["metric"].isin(
            ["accuracy", "discrimination", "equalized_odds_difference", "generalized_entropy"]
        )
    ]
    wide = clean.pivot_table("value", ["dataset", "beta", "technique", "metric"], "repetition")
    n = wide.shape[1]
    pairs = [errors(wide[i] - wide[j]) for i in range(n) for j in range(i)]
    found["two of our own seeds"] = (320, *np.mean(pairs, axis=0))
    assert quoted.keys() == found.keys()
    for name, (n_numbers, near, very_near, mean) in found.items():
        printed = [float(number) for number in quoted[name]]
        assert printed == pytest.approx([n_numbers, 100 * near, 100 * very_near, mean], abs=0.0501), name
        assert printed[-1] == pytest.approx(mean, abs=0.00051), name


def test_the_numbers_of_the_claims_are_what_was_measured(findings: str) -> None:
    summary = pd.read_csv(FOLDER / "summary.csv").set_index(
        ["dataset", "beta", "technique", "test", "metric"]
    )
    pair = r"(-?[\d.]+) ± ([\d.]+)"
    own_kind = rf" [\d.]+, -?[\d.]+ \| {pair} \| {pair} \| {pair} \|"
    quoted = re.findall(rf"\| `(\w+)` \|{own_kind}{own_kind}", findings)
    assert [technique for technique, *_ in quoted] == TECHNIQUES
    measured = [("original", "accuracy"), ("original", "discrimination"), ("biased", "accuracy")]
    places = [(kind, *own) for kind in ("label", "selection") for own in measured]
    for technique, *numbers in quoted:
        for (kind, test, metric), mean, half in zip(places, numbers[::2], numbers[1::2], strict=True):
            own = summary.loc[(f"student_{kind}", 0.9, technique, test, metric)]
            sign = -1 if metric == "discrimination" else 1
            assert float(mean) == pytest.approx(sign * own["mean"], abs=0.000501), (kind, technique, metric)
            assert float(half) == pytest.approx((own["ci_high"] - own["ci_low"]) / 2, abs=0.000501)


def test_the_differences_of_the_claims_are_what_was_measured(findings: str, results: pd.DataFrame) -> None:
    high = results[results["beta"] >= 0.5]
    where = ["dataset", "technique", "test", "metric", "repetition"]
    values = high.groupby(where)["value"].mean()
    near = high[(high["metric"] == "discrimination") & (high["test"] == "original")]
    near = near.assign(value=near["value"].abs()).groupby(where)["value"].mean()

    def quoted(change: pd.Series) -> str:
        half = half_widths(np.array([change.std()]), np.array([len(change)]))[0]
        return f"{change.mean():+.3f} ± {half:.3f}"

    for kind, test in (("label", "biased"), ("label", "original"), ("selection", "original")):
        own = values.loc[f"student_{kind}"].xs((test, "accuracy"), level=("test", "metric"))
        words = {"reweighing": "reweighing", "massaging": "massaging", "drop_sensitive": "unawareness"}
        changes = [f"{word} {quoted(own[name] - own['none'])}" for name, word in words.items()]
        assert ", ".join(changes) in findings, kind
    for kind, best, next_best in (
        ("label", "massaging", "drop_sensitive"),
        ("selection", "reweighing", "massaging"),
    ):
        own = near.loc[f"student_{kind}"].droplevel(["test", "metric"])
        means = own.groupby("technique").mean().sort_values()
        assert list(means.index[:2]) == [best, next_best]
        assert f"by {quoted(own[next_best] - own[best]).removeprefix('+')}" in findings
        accuracy = values.loc[f"student_{kind}"].xs(("original", "accuracy"), level=("test", "metric"))
        assert accuracy.groupby("technique").mean().idxmax() == "drop_sensitive"
