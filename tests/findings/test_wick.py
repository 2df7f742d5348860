"""The findings of results/wick are what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from benchmark.cli import main
from benchmark.columns import RESULT_COLUMNS
from benchmark.statistics.intervals import student_intervals
from benchmark.statistics.recovery import Ratio
from benchmark.text.writing import plain_or_packed

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "wick"
STRENGTHS = ["pr_0", "pr_1", "pr_3", "pr_10", "pr_30", "pr_100"]
SELECTED = ["none", "reweighing", "pr_100", "massaging", "threshold_optimizer"]
OVERLAP = 3 / 7  # test rows over training rows: repeated splits of the same rows are not independent
WHERE = ["dataset", "bias", "beta", "test"]


def measured(metric: str) -> pd.DataFrame:
    """Return a metric's values, a column for each technique and a row for each scenario and repetition."""
    results = pd.read_csv(plain_or_packed(FOLDER / "results.csv"))
    chosen = results[results["metric"] == metric]
    return chosen.pivot(index=[*WHERE, "repetition"], columns="technique", values="value")


def slopes() -> pd.DataFrame:
    """Return accuracy over |discrimination| along the strengths, with Fieller's interval, by scenario."""
    x, y = (measured(metric)[STRENGTHS] for metric in ("discrimination", "accuracy"))
    x, y = (frame.sub(frame.mean(axis=1), axis=0) for frame in (x.abs(), y))
    upper, lower = ((x * own).sum(axis=1).unstack("repetition") for own in (y, x))
    ratio = Ratio.of(upper.to_numpy(), lower.to_numpy(), overlap=OVERLAP)
    low, high = ratio.interval()
    return pd.DataFrame({"slope": ratio.value, "low": low, "high": high}, index=upper.index)


def mean_and_interval(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return a mean with its interval of 95 %."""
    [low], [high] = student_intervals(values[None, :], overlap=OVERLAP)
    return float(values.mean()), float(low), float(high)


def verdict(low: float, high: float) -> str:
    if low > 0:
        return "tension"
    if high < 0:
        return "accord"
    return "neither" if low > -0.05 and high < 0.05 else "cannot be told"


def shown(value: float, low: float, high: float) -> str:
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"


def rows_of_slopes() -> Iterator[str]:
    found = slopes()
    for dataset, bias, beta in found.index.droplevel("test").unique():
        own = found.loc[dataset, bias, beta]
        if (bias == "selection" and not beta) or own["low"].isna().all():
            continue  # nothing is planted there by either, or there is no interval on any test
        cells = []
        for test in ("biased", "original", "balanced"):
            slope, low, high = own.loc[test]
            cells.append("-" if np.isnan(low) else f"{shown(slope, low, high)} {verdict(low, high)}")
        yield f"| `{dataset}` | {bias} | {beta:g} | " + " | ".join(cells) + " |"


def words_of_gains() -> Iterator[str]:
    accuracy = measured("accuracy")
    for dataset in ("alike", "compas"):
        for technique in ("pr_100", "reweighing"):
            gain = accuracy[technique] - accuracy["none"]
            low, high = (gain.loc[dataset, "label", beta, "balanced"].to_numpy() for beta in (0.1, 0.4))
            more = shown(*mean_and_interval(high - low))
            yield f"`{dataset}`, `{technique}`: {low.mean():+.3f} to {high.mean():+.3f}, by {more}"


def words_of_discrimination() -> Iterator[str]:
    discrimination = measured("discrimination")
    for dataset in ("alike", "compas"):
        own = discrimination.loc[dataset, "selection", 0.4, "balanced"]
        found = (f"`{name}` {shown(*mean_and_interval(own[name].to_numpy()))}" for name in SELECTED)
        yield f"`{dataset}`: {', '.join(found)}."


@pytest.mark.parametrize("words", [rows_of_slopes, words_of_gains, words_of_discrimination])
def test_the_findings_are_what_was_measured(words: Callable[[], Iterator[str]]) -> None:
    text = (FOLDER / "FINDINGS.md").read_text(encoding="utf-8")
    for own in words():
        assert own in text, own


@pytest.mark.usefixtures("in_this_process")
def test_computing_again_gives_the_committed_numbers(tmp_path: Path) -> None:
    words = ["run", "--experiment", "wick", "--datasets", "alike", "--betas", "0.4", "--repetitions", "1"]
    words += ["--techniques", "none", "reweighing", "pr_10", "--workers", "1", "--no-figures", "--offline"]
    main([*words, "--output", str(tmp_path)])
    again, committed = (
        pd.read_csv(path, dtype={"value": str}).set_index(list(RESULT_COLUMNS[:-1]))["value"]
        for path in (tmp_path / "results.csv", plain_or_packed(FOLDER / "results.csv"))
    )
    assert len(again) >= 2 * 3 * 3 * 7
    pd.testing.assert_series_equal(again, committed.loc[again.index])
