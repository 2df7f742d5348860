"""The table of hidden bias: how it is read, which row speaks for a file, and when it withholds an answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchmark.columns import EQUALISE, RESTORE
from benchmark.errors import StatisticsError
from benchmark.statistics import hidden_bias
from benchmark.statistics.hidden_bias import (
    HIDDEN_BIAS_COLUMNS,
    HIDDEN_BIAS_FILE,
    greatest_hidden,
    hidden_bias_table,
    row_at,
    withheld,
)
from tests.helpers.hidden import made_up_table, write_made_up_table


def test_a_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    found = hidden_bias_table(write_made_up_table(tmp_path))
    pd.testing.assert_frame_equal(found, made_up_table(), check_exact=False)
    assert tuple(found.columns) == HIDDEN_BIAS_COLUMNS
    assert HIDDEN_BIAS_FILE.parent == Path(hidden_bias.__file__).parent


def test_a_missing_table_is_said(tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match=r"cannot be read.*none\.csv, which belongs to the package"):
        hidden_bias_table(tmp_path / "none.csv")


def _cell(column: str, value: object, at: int = 0) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def changed(table: pd.DataFrame) -> pd.DataFrame:
        table = table.astype({column: object})
        table.loc[at, column] = value
        return table

    return changed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop(columns="ceiling"), "other columns"),
        (lambda t: t[[*t.columns[::-1]]], "other columns"),
        (_cell("tau", "high"), "no number"),
        (_cell("regret", float("nan")), "no number"),
        (_cell("goal", "please"), "goal is unknown or missing"),
        (lambda t: t[t["goal"] == RESTORE], "goal is unknown or missing"),
        (lambda t: pd.concat([t, t.iloc[:1]]), "repeats"),
        (_cell("hidden", -0.1), "below 0"),
        (_cell("dose", 0.0), "not above 0"),
        (lambda t: t[(t["hidden"] > 0) | (t["goal"] == RESTORE)], "without hidden bias"),
        (_cell("tau_high", 1.5), "not from -1 to 1"),
        (_cell("tau_low", 0.85), "does not hold its value"),
        (_cell("regret_high", 0.001), "does not hold its value"),
        (_cell("datasets", 0), "no datasets"),
    ],
)
def test_what_is_no_such_table_is_not_read(
    change: Callable[[pd.DataFrame], pd.DataFrame], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.csv"
    change(made_up_table()).to_csv(path, index=False)
    with pytest.raises(StatisticsError, match=words):
        hidden_bias_table(path)


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
    row = row_at(made_up_table(), EQUALISE, hidden, dose)
    assert (None if row is None else (row.hidden, row.dose)) == found


def test_an_answer_is_withheld_where_the_interval_holds_zero() -> None:
    table = made_up_table()
    assert greatest_hidden(table) == 0.1
    assert [withheld(table, hidden, 0.1, RESTORE) for hidden in (-0.2, 0.0, 0.05, 0.06, 0.1, 0.3)] == [
        *(False, False, False),
        *(True, True, True),
    ]
    assert not any(withheld(table, hidden, 0.1, EQUALISE) for hidden in (0.0, 0.1, 0.3))
    touching = table.assign(tau_low=0.0)
    assert withheld(touching, 0.0, 0.1, EQUALISE)
