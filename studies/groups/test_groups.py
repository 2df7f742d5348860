"""The findings of results/groups: what studies/groups/findings.py counts, by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmark.runs.finished import read_optional
from studies.groups import findings as groups


def test_a_case_is_counted_by_hand() -> None:
    every = read_optional(groups.FOLDER, "groups")
    assert every is not None
    rows = every[
        (every["dataset"] == "adult_sex") & (every["level"] == 0) & (every["metric"] == "selection_rate")
    ]
    of_race = rows[(rows["attribute"] == "race") & rows["technique"].isin(["none", "massaging"])]
    gaps = of_race.pivot(index="repetition", columns="technique", values="value")
    change = gaps["massaging"] - gaps["none"]
    _, of_b, _ = groups.changes()
    counted = of_b.loc[("adult_sex", 0.0, "selection_rate", "massaging")]
    pd.testing.assert_series_equal(counted, change, check_names=False)
    assert groups.worse()[("adult_sex", 0.0, "selection_rate", "massaging")] == (change.mean() > 0)


def test_words_hold() -> None:
    low, high = groups.over_datasets()
    assert low < 0.5 < high
    _, low, high = groups.single_splits(groups.worse().notna().to_numpy())
    assert high < 0.5
    first = groups.worse().groupby("technique").mean().idxmin()
    assert first == "equalized_odds"
    of_a = groups.changes()[0].mean(axis=1)
    alike = groups.alike_splits()
    for (dataset, beta), count in alike.items():  # the same answer for all closes every gap
        if count == 10:
            assert (of_a.loc[dataset, beta].xs("equalized_odds", level="technique") < 0).all()
    assert groups.percent(0.371) == "37.1 %"
    assert len(groups.worse()) == pytest.approx(6 * 2 * 3 * 11)
