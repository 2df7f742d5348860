"""The effect of hidden bias on an answer: the table that the package ships.

On several datasets, bias was hidden in the labels first, and more was planted on top. Techniques are ranked
twice on each. The apparent rank compares them with the model without the planted bias. The true rank compares
techniques that were trained on the recorded rows with the model without any bias.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmark.columns import GOALS
from benchmark.errors import StatisticsError

HIDDEN_BIAS_FILE = Path(__file__).with_suffix(".csv")
"""File of the table in the package."""

HIDDEN_KIND, HIDDEN_CLASSIFIER = "label", "c45"
"""The kind of bias that was hidden and planted, and the classifier of all techniques."""

HIDDEN_BIAS = "hidden_bias"
"""Reason for naming no technique to restore decisions: so much bias is hidden that ranks may be wrong."""

_EQUAL = 1e-9


class HiddenBias(NamedTuple):
    """A row of the table, for a goal, a hidden dose, and a dose that is planted on top."""

    goal: str
    hidden: float
    dose: float
    tau: float  # Kendall's τ between both ranks, the mean over the datasets
    tau_low: float  # ends of its interval, as below
    tau_high: float
    ceiling: float  # agreement of ranks with themselves, between halves of the repetitions
    regret: float  # the distance to the goal by which the apparent choice is worse than the best choice
    regret_low: float
    regret_high: float
    drop_regret: float  # the regret of always leaving out the sensitive feature
    nothing_regret: float  # the regret of doing nothing
    datasets: int  # their number

    @property
    def tells(self) -> bool:
        """Whether ranks are shown to agree with the truth: the interval of τ lies above 0."""
        return self.tau_low > 0


HIDDEN_BIAS_COLUMNS = HiddenBias._fields
"""Columns of the table."""


def hidden_bias_table(path: Path | None = None) -> pd.DataFrame:
    """Return the table of hidden bias, columns :data:`HIDDEN_BIAS_COLUMNS`.

    ``path`` is its file; by default the one that the package ships. A missing file is a StatisticsError. So
    is another table: one with other columns, a wrong value, an interval that does not hold its value, a row
    that repeats, or no row without hidden bias.
    """
    return _read(HIDDEN_BIAS_FILE if path is None else path)


@cache
def _read(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise StatisticsError(
            "The table of hidden bias cannot be read",
            expected=f"{path.name}, which belongs to the package",
            got=str(error),
            remedy="install betabench again; if the file is still missing, report it",
        ) from error
    if wrong := _wrong(table):
        raise StatisticsError(
            f"{path.name} is no table of hidden bias: {wrong}",
            expected=", ".join(HIDDEN_BIAS_COLUMNS),
            got=", ".join(map(str, table.columns)),
            remedy="install betabench again; if the error stays, report it",
        )
    return table


def _wrong(table: pd.DataFrame) -> str:
    """Return the first fault of a table in words, or an empty text."""
    if tuple(table.columns) != HIDDEN_BIAS_COLUMNS:
        return "it has other columns"
    numbers = table[list(HIDDEN_BIAS_COLUMNS[1:])].apply(pd.to_numeric, errors="coerce")
    if not np.isfinite(numbers.to_numpy(dtype=float)).all():
        return "a value is no number"
    clean = table[table["hidden"] == 0]
    tau = table[["tau", "tau_low", "tau_high", "ceiling"]]
    faults = {
        "a goal is unknown or missing": set(table["goal"]) != set(GOALS),
        "a row repeats": table.duplicated(["goal", "hidden", "dose"]).any(),
        "a hidden dose is below 0, or a planted one not above 0": table["hidden"].lt(0).any()
        or table["dose"].le(0).any(),
        "a goal has no row without hidden bias": set(clean["goal"]) != set(GOALS),
        "τ is not from -1 to 1": tau.abs().gt(1).any(axis=None),
        "an interval does not hold its value": any(
            table[f"{name}_low"].gt(table[name] + _EQUAL).any()
            or table[name].gt(table[f"{name}_high"] + _EQUAL).any()
            for name in ("tau", "regret")
        ),
        "it has no datasets": table["datasets"].lt(1).any(),
    }
    return next((fault for fault, is_wrong in faults.items() if is_wrong), "")


def greatest_hidden(table: pd.DataFrame) -> float:
    """Return the greatest hidden dose that was measured for all goals."""
    return float(table.groupby("goal")["hidden"].max().min())


def row_at(table: pd.DataFrame, goal: str, hidden: float, dose: float) -> HiddenBias | None:
    """Return the row of the smallest measured hidden dose that is at least ``hidden``, or None.

    ``table`` is from :func:`hidden_bias_table`, and ``goal`` is one of :data:`~benchmark.columns.GOALS`.
    ``hidden`` and ``dose`` are label gaps, hidden and planted on top. The row has the measured dose nearest
    to ``dose``, the smaller of two.
    """
    rows = table[(table["goal"] == goal) & (table["hidden"] >= hidden - _EQUAL)]
    if rows.empty:
        return None
    rows = rows[rows["hidden"] == rows["hidden"].min()].sort_values("dose")
    away = (rows["dose"] - dose).abs().round(9)
    row = rows.loc[away.idxmin()]
    numbers = {name: float(row[name]) for name in HIDDEN_BIAS_COLUMNS[1:-1]}
    return HiddenBias(goal=goal, datasets=int(row["datasets"]), **numbers)


def withheld(table: pd.DataFrame, hidden: float, dose: float, goal: str) -> bool:
    """Return whether ranks for a goal are not shown to agree with the truth where so much bias is hidden.

    Above the greatest measured hidden dose, that dose decides. For hidden doses below 0, nothing is known, so
    nothing is withheld.
    """
    if hidden < -_EQUAL:
        return False
    row = row_at(table, goal, min(hidden, greatest_hidden(table)), dose)
    return row is not None and not row.tells
