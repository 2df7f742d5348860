"""What tuning on biased rows costs: regrets of made-up choices, and the shares beyond the constraint."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from benchmark.columns import TUNING_COLUMNS
from benchmark.statistics.cells import Resampling
from benchmark.statistics.tuning import REGRET_COLUMNS, regrets

# By technique and choice: objective and excess in two repetitions.
MADE = {
    ("a", "default"): [(0.70, 0.10), (0.72, 0.00)],
    ("a", "biased"): [(0.75, 0.02), (0.77, 0.00)],
    ("a", "clean"): [(0.78, 0.00), (0.80, 0.00)],
    ("a", "oracle"): [(0.80, 0.00), (0.84, 0.00)],
    ("b", "default"): [(0.60, 0.00), (0.60, 0.00)],
    ("b", "biased"): [(0.60, 0.00), (0.60, 0.00)],
    ("b", "clean"): [(0.60, 0.00), (0.60, 0.00)],
    ("b", "oracle"): [(0.60, 0.00), (0.62, 0.00)],
}


def tuning(datasets: tuple[str, ...] = ("one",), **without: object) -> pd.DataFrame:
    rows = []
    for dataset in datasets:
        for (of, on), values in MADE.items():
            for repetition, (objective, excess) in enumerate(values):
                name = of if on == "default" else f"{of}_{on}"
                where = (dataset, "cpt", 0.5, name, "c45", repetition, of, on, "{}", 5, 0)
                rows.append((*where, objective, excess, objective, excess, excess, objective))
    frame = pd.DataFrame(rows, columns=list(TUNING_COLUMNS))
    for column, value in without.items():
        frame = frame[frame[column] != value]
    return frame


def one(table: pd.DataFrame, **where: object) -> pd.Series:
    for column, value in where.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_a_regret_is_what_the_oracle_has_more() -> None:
    table = regrets(tuning(), greatest=True)
    assert tuple(table.columns) == REGRET_COLUMNS
    own = one(table, technique="a", chosen_on="biased")
    assert own["regret"] == pytest.approx(0.06)  # 0.05 and 0.07
    # Student's interval of two values: 12.7 times half of their distance.
    assert own["regret_high"] - own["regret"] == pytest.approx(12.706 * 0.01, rel=1e-3)
    assert (own["breaks"], own["breaks_oracle"], own["n"]) == (0.5, 0.0, 2)


def test_means_over_techniques_have_a_value_for_each_repetition() -> None:
    table = regrets(tuning(("one", "two")), greatest=True)
    for dataset, n in (("one", 2), ("", 4)):
        own = one(table, dataset=dataset, technique="", chosen_on="biased")
        assert own["regret"] == pytest.approx((0.06 + 0.01) / 2)
        assert (own["n_techniques"], own["n"]) == (n, 2)
        assert own["breaks"] == 0.25


def test_a_technique_that_lacks_a_value_is_in_no_mean() -> None:
    frame = tuning()
    frame = frame[~((frame["of"] == "a") & (frame["chosen_on"] == "oracle") & (frame["repetition"] == 1))]
    table = regrets(frame, greatest=True)
    own = one(table, technique="", chosen_on="biased")
    assert (own["n_techniques"], own["regret"]) == (1, pytest.approx(0.01))
    alone = one(table, technique="a", chosen_on="biased")
    assert alone["n"] == 1
    assert math.isnan(alone["regret_low"])


def test_intervals_know_that_splits_overlap() -> None:
    """Half-widths are those of s √(1/n + overlap), of a mean over datasets with the largest overlap."""
    frame = tuning(("one", "two"))
    plain = regrets(frame, greatest=True)
    found = regrets(frame, Resampling({"one": 0.5, "two": 1.5}), greatest=True)
    for dataset, overlap in (("one", 0.5), ("two", 1.5), ("", 1.5)):
        before, after = (own[own["dataset"] == dataset] for own in (plain, found))
        assert after["regret"].tolist() == before["regret"].tolist()
        widths = [own["regret_high"] - own["regret_low"] for own in (before, after)]
        factor = math.sqrt((1 / 2 + overlap) / (1 / 2))
        assert widths[1].tolist() == pytest.approx((factor * widths[0]).tolist())
    assert (found["regret_high"] > found["regret_low"]).any()


def test_a_level_apart_is_in_no_mean_over_datasets() -> None:
    frame = tuning(("one", "two", "three"))
    found = regrets(frame, greatest=True, apart=[("three", "cpt", 0.5)])
    where = {"technique": "", "chosen_on": "biased"}
    assert one(found, dataset="", **where)["n_techniques"] == 4
    assert one(found, dataset="three", **where)["n_techniques"] == 2
