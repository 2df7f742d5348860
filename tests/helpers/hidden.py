"""A made-up table of hidden bias: none of its numbers was measured."""

import itertools
from pathlib import Path

import pandas as pd

from benchmark.columns import EQUALIZE, RESTORE
from benchmark.statistics.hidden_bias import HIDDEN_BIAS_COLUMNS

TAUS = {
    (RESTORE, 0.0): (0.8, 0.7, 0.9),
    (RESTORE, 0.05): (0.5, 0.3, 0.7),
    (RESTORE, 0.1): (0.1, -0.2, 0.4),
    (EQUALIZE, 0.0): (0.9, 0.8, 1.0),
    (EQUALIZE, 0.05): (0.85, 0.75, 0.95),
    (EQUALIZE, 0.1): (0.75, 0.6, 0.9),
}


def made_up_table() -> pd.DataFrame:
    """Return a row for each goal, hidden dose and planted dose; τ to restore holds 0 at 0.1."""
    rows = []
    for ((goal, hidden), taus), dose in itertools.product(TAUS.items(), (0.05, 0.1)):
        regret = round(0.01 + hidden, 3)
        regrets = (regret, regret - 0.005, regret + 0.005, 0.021 + hidden, 0.111 + hidden)
        rows.append((goal, hidden, dose, *taus, 0.95, *regrets, 9 if hidden < 0.1 else 8))
    return pd.DataFrame(rows, columns=list(HIDDEN_BIAS_COLUMNS))


def write_made_up_table(folder: Path) -> Path:
    """Write the table to a folder, and return its file."""
    path = folder / "made_up_hidden_bias.csv"
    made_up_table().to_csv(path, index=False)
    return path
