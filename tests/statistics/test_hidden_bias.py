"""The table of hidden bias: how it is read, which row speaks for a file, and when it withholds an answer."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.columns import EQUALIZE, GOALS, RESTORE
from benchmark.statistics.hidden_bias import (
    HIDDEN_BIAS_COLUMNS,
    greatest_hidden,
    hidden_bias_table,
    row_at,
    withheld,
)
from tests.helpers.hidden import made_up_table


def test_the_shipped_table_is_whole() -> None:
    table = hidden_bias_table()
    assert tuple(table.columns) == HIDDEN_BIAS_COLUMNS
    assert np.isfinite(table[list(HIDDEN_BIAS_COLUMNS[1:])].to_numpy(dtype=float)).all()
    assert not table.duplicated(["goal", "hidden", "dose"]).any()
    assert set(table["goal"]) == set(table.loc[table["hidden"] == 0, "goal"]) == set(GOALS)
    assert (table["hidden"].ge(0) & table["dose"].gt(0) & table["datasets"].ge(1)).all()
    assert table[["tau", "tau_low", "tau_high", "ceiling"]].abs().le(1).all(axis=None)
    for name in ("tau", "regret"):
        assert table[f"{name}_low"].le(table[name] + 1e-9).all()
        assert table[name].le(table[f"{name}_high"] + 1e-9).all()


@pytest.mark.parametrize(
    ("hidden", "dose", "found"),
    [
        (0.0, 0.05, (0.0, 0.05)),
        (0.001, 0.05, (0.05, 0.05)),
        (0.05, 0.1, (0.05, 0.1)),
        (0.05 + 1e-12, 0.1, (0.05, 0.1)),
        (0.051, 0.2, (0.1, 0.1)),
        (0.1, 0.01, (0.1, 0.05)),
        (0.1, 0.075, (0.1, 0.05)),
        (0.101, 0.1, None),
    ],
)
def test_the_nearest_hidden_dose_at_or_above_speaks(
    hidden: float, dose: float, found: tuple[float, float] | None
) -> None:
    row = row_at(made_up_table(), EQUALIZE, hidden, dose)
    assert (None if row is None else (row.hidden, row.dose)) == found


def test_an_answer_is_withheld_where_the_interval_holds_zero() -> None:
    table = made_up_table()
    assert greatest_hidden(table) == 0.1
    assert [withheld(table, hidden, 0.1, RESTORE) for hidden in (-0.2, 0.0, 0.05, 0.06, 0.1, 0.3)] == [
        *(False, False, False),
        *(True, True, True),
    ]
    assert not any(withheld(table, hidden, 0.1, EQUALIZE) for hidden in (0.0, 0.1, 0.3))
    touching = table.assign(tau_low=0.0)
    assert withheld(touching, 0.0, 0.1, EQUALIZE)
