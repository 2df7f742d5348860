"""A part of a committed run, computed again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmark.cli import main
from benchmark.columns import RESULT_COLUMNS
from benchmark.text.writing import plain_or_packed


def again_and_committed(words: list[str], output: Path, folder: Path) -> tuple[pd.Series, pd.Series]:
    """Run one repetition, and return its values and the committed ones of the same cells, as texts."""
    words = ["run", *words, "--repetitions", "1", "--workers", "1", "--no-figures", "--offline"]
    main([*words, "--output", str(output)])
    again, committed = (
        pd.read_csv(plain_or_packed(run / "results.csv"), dtype={"value": str}).set_index(
            list(RESULT_COLUMNS[:-1])
        )["value"]
        for run in (output, folder)
    )
    return again, committed.loc[again.index]
