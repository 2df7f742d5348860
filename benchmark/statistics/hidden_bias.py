"""The effect of hidden bias on an answer: the table that the package ships.

On several datasets, bias was hidden in the labels first, and more was planted on top. Techniques are ranked
twice on each. The apparent rank compares them with the model without the planted bias. The true rank compares
techniques that were trained on the recorded rows with the model without any bias.
"""

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

HIDDEN_BIAS_FILE = Path(__file__).with_suffix(".csv")
"""File of the table in the package."""

HIDDEN_KIND, HIDDEN_CLASSIFIER = "label", "c45"
"""The kind of bias that was hidden and planted, and the classifier of all techniques."""

HIDDEN_BIAS = "hidden_bias"
"""Reason for naming no technique to restore decisions: so much bias is hidden that ranks may be wrong."""

_EQUAL = 1e-9


HIDDEN_BIAS_COLUMNS = (
    *("goal", "hidden", "dose", "tau", "tau_low", "tau_high", "ceiling"),
    *("regret", "regret_low", "regret_high", "drop_regret", "nothing_regret", "datasets"),
)
"""Columns of the table: a goal, a hidden dose, and a dose that is planted on top.

``tau`` is Kendall's τ between both ranks, the mean over the number of ``datasets``, with its interval.
``ceiling`` is the agreement of ranks with themselves, between halves of the repetitions. ``regret``, with its
interval, is the distance to the goal by which the apparent choice is worse than the best choice. Next are the
regrets of always leaving out the sensitive feature, and of doing nothing.
"""


def hidden_bias_table() -> pd.DataFrame:
    """Return the table of hidden bias that the package ships, columns :data:`HIDDEN_BIAS_COLUMNS`."""
    return read_once(HIDDEN_BIAS_FILE)


@cache
def read_once(path: Path) -> pd.DataFrame:
    """Return the table in a file of the package."""
    return pd.read_csv(path)


def greatest_hidden(table: pd.DataFrame) -> float:
    """Return the greatest hidden dose that was measured for all goals."""
    return float(table.groupby("goal")["hidden"].max().min())


def row_at(table: pd.DataFrame, goal: str, hidden: float, dose: float) -> Any:
    """Return the record of the smallest measured hidden dose that is at least ``hidden``, or None.

    ``table`` is from :func:`hidden_bias_table`, and ``goal`` is one of :data:`~benchmark.columns.GOALS`.
    ``hidden`` and ``dose`` are label gaps, hidden and planted on top. It has the measured dose nearest
    to ``dose``, the smaller of two.
    """
    rows = table[(table["goal"] == goal) & (table["hidden"] >= hidden - _EQUAL)]
    if rows.empty:
        return None
    rows = rows[rows["hidden"] == rows["hidden"].min()].sort_values("dose")
    away = (rows["dose"] - dose).abs().round(9)
    return next(rows.loc[[away.idxmin()]].itertuples(index=False))


def withheld(table: pd.DataFrame, hidden: float, dose: float, goal: str) -> bool:
    """Return whether ranks for a goal are not shown to agree with the truth where so much bias is hidden.

    Above the greatest measured hidden gap, that gap decides. Below 0 nothing is known, and nothing withheld.
    """
    if hidden < -_EQUAL:
        return False
    row = row_at(table, goal, min(hidden, greatest_hidden(table)), dose)
    return row is not None and not row.tau_low > 0
