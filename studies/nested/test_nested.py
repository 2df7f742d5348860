"""The findings of ``nested``: what they say, and what ships, is what the committed values give."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pandas as pd
import pytest

from benchmark.columns import EQUALIZE, ORIGINAL, RESTORE, TRUTH
from benchmark.experiment.plan import load_experiment
from studies.agreement import tau_of_halves
from studies.estimates import student_estimate
from studies.nested import findings as nested

# Values of a large run take some seconds to be read.
pytestmark = pytest.mark.slow


def text() -> str:
    return re.sub(r"\s+", " ", nested.FINDINGS.read_text(encoding="utf-8"))


def test_the_shipped_table_is_that_of_the_committed_values() -> None:
    committed = pd.read_csv(nested.TABLE)
    pd.testing.assert_frame_equal(committed, nested.shipped(), rtol=1e-9)
    assert tuple(committed.columns) == nested.COLUMNS


def test_the_table_is_in_the_wheel() -> None:
    build = tomllib.loads((nested.ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert nested.TABLE.relative_to(nested.ROOT).parts[0] in build["targets"]["wheel"]["only-include"]
    assert "exclude" not in build
    assert "exclude" not in build["targets"]["wheel"]


def test_every_cell_has_a_value() -> None:
    frames = nested.run()
    assert frames.failures.empty
    assert frames.manifest.cells["planned"] == 14_280
    assert set(nested.techniques()) == {entry.name for entry in load_experiment("nested").techniques}
    assert not nested._values().isna().any(axis=None)


def test_datasets_count_where_they_reach_both_gaps() -> None:
    counts = {levels: len(nested.reached(*levels)) for levels in nested.levels()}
    assert [*counts.values()] == [10, 9, 9, 8, 8, 8]
    assert {*nested.reached(0.05, 0.05)} ^ {*nested.reached(0.0, 0.05)} == {"bank"}
    assert {*nested.reached(0.1, 0.1)} ^ {*nested.reached(0.05, 0.05)} == {"adult"}


def test_what_is_said_of_ranks_and_choices_holds() -> None:
    told = nested.shipped()
    assert (told["tau_low"] > 0).all()
    for levels in nested.levels():
        assert nested.beyond_dropping(nested.judged(EQUALIZE, *levels))[2] < 0
        _, low, high = nested.beyond_dropping(nested.judged(RESTORE, *levels))
        assert low < 0 < high
        if levels[0]:
            regrets = nested.judged(EQUALIZE, *levels).regrets
            _, low, high = student_estimate(regrets["own"] - regrets["fixed"])
            assert low < 0 < high
    assert "planting is not shown to beat a fixed choice" in text()
    assert "beyond chance" in text()
    assert "To restore, that is not shown" in text()
    clean = told[(told["goal"] == RESTORE) & (told["hidden"] == 0)]
    assert (clean["nothing_regret"] == 0).all()
    assert (clean["regret"] > 0).all()


def test_numbers_are_repeated_by_hand() -> None:
    """One row of the table, from the file alone."""
    results = pd.read_csv(nested.FOLDER / "results.csv.xz")
    results = results[(results["technique"] != "none") | (results["classifier"] == "c45")]
    hidden = results[(results["hidden"] == 0.1) & results["technique"].isin(nested.techniques())]
    hidden = hidden[hidden["dataset"].isin(nested.reached(0.1, 0.05))]
    hidden = hidden[hidden["metric"] == "restoration_distance"]
    means = hidden.groupby(["dataset", "level", "test", "technique"])["value"].mean()
    apparent, true = means.xs((0.05, ORIGINAL), level=(1, 2)), means.xs((0.0, TRUTH), level=(1, 2))
    regrets = [true[d][apparent[d].idxmin()] - true[d].min() for d in apparent.index.unique("dataset")]
    taus = [apparent[d].corr(true[d], method="kendall") for d in apparent.index.unique("dataset")]
    row = nested.shipped().set_index(["goal", "hidden", "dose"]).loc[(RESTORE, 0.1, 0.05)]
    assert row["regret"] == pytest.approx(np.mean(regrets), abs=1e-4)
    assert row["tau"] == pytest.approx(np.mean(taus), abs=1e-4)


def test_the_ceiling_steps_halves_up() -> None:
    rng = np.random.default_rng(0)
    noisy = np.arange(6.0)[:, None] + rng.normal(0, 2, (6, 10))
    halves = tau_of_halves(noisy)
    assert 0 < halves < nested.ceiling(noisy, noisy) == pytest.approx(2 * halves / (1 + halves))
    exact = np.arange(6.0)[:, None] + np.zeros((6, 10))
    assert nested.ceiling(exact, exact) == pytest.approx(1)
    assert nested.ceiling(noisy, exact) == pytest.approx(np.sqrt(nested.ceiling(noisy, noisy)))
