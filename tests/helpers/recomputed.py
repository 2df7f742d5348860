"""Parts of committed runs, computed again, and compared but for the last digits, which are a processor's."""

from pathlib import Path

import pandas as pd

from benchmark.cli import main
from benchmark.columns import RESULT_COLUMNS
from benchmark.text.writing import plain_or_packed

LAST_DIGITS = {"rtol": 1e-9, "atol": 1e-12}
"""Differences that another processor may make: arguments of pandas' comparisons."""


def check_again(words: list[str], output: Path, folder: Path) -> int:
    """Run one repetition, check that a folder has its values, and return their number."""
    words = ["run", *words, "--repetitions", "1", "--workers", "1", "--no-figures", "--offline"]
    main([*words, "--output", str(output)])
    again, committed = (
        pd.read_csv(plain_or_packed(run / "results.csv")).set_index(list(RESULT_COLUMNS[:-1]))["value"]
        for run in (output, folder)
    )
    pd.testing.assert_series_equal(again, committed.loc[again.index], **LAST_DIGITS)
    return len(again)


def check_file(path: Path, committed: Path) -> None:
    """Check that a CSV file has the words and numbers of a committed one."""
    pd.testing.assert_frame_equal(pd.read_csv(path), pd.read_csv(committed), **LAST_DIGITS, obj=path.name)
