"""What a user knows of a file's bias: refusals that were looked at again, or true rates of the groups."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmark.data.draft import Draft, draft
from benchmark.data.reading import typed
from benchmark.data.refusals import refused, write_sheet
from benchmark.file_options import FileOptions
from benchmark.statistics.true_gap import gap_from_refusals
from benchmark.text.words import few
from benchmark.wording import render_plain

REFUSALS = 50
"""Number of refusals to look at again, by default."""


def sample_refusals(
    data: pd.DataFrame | str | Path,
    m: int = REFUSALS,
    *,
    label: object = None,
    favorable: object = None,
    sensitive: object = None,
    deprived: object = None,
    seed: int = 1,
    output: str | Path = "refusals.csv",
    **reading: object,
) -> str:
    """Write a sheet with refused people of the deprived group, for others to judge; return how to judge them.

    The rows are drawn at random, without replacement. The sheet has the number of each row in the data, from
    1, the columns that are read, and an empty column ``verdict``. It has neither the label nor the group.
    With verdicts in it, it is the ``relabel`` of :func:`benchmark.quick`.

    Parameters
    ----------
    data : DataFrame, str or Path
        The rows, as for :func:`benchmark.quick`.
    m : int, default 50
        Number of rows to draw; all refusals of the group, if there are fewer.
    label, favorable, sensitive, deprived : object
        Columns and values, as for :func:`benchmark.quick`; so are those of ``reading``.
    seed : int, default 1
        The same seed draws the same rows.
    output : str or Path, default "refusals.csv"
        The sheet. A file with other content is never overwritten.

    Raises
    ------
    BetabenchError
        If the data cannot be read, the group has no refusal, or the sheet is there already.

    Examples
    --------
    >>> sample_refusals("people.csv", label="hired", favorable="yes", sensitive="sex")  # doctest: +SKIP
    """
    roles = {"label": label, "favorable": favorable, "sensitive": sensitive, "deprived": deprived}
    file_options = FileOptions.of(**roles, **reading)
    drafted = draft(data, file_options)
    path = Path(output)
    n = write_sheet(path, drafted, m, seed)
    file = "data" if isinstance(data, pd.DataFrame) else str(data)
    return render_plain(
        "refusals",
        n=n,
        parts=drafted.reading.parts,
        few=few,
        left=int(refused(drafted).sum()),
        path=str(path),
        width=width_of(drafted, n),
        command=typed("quick", file, file_options, f"--relabel={path}"),
    )


def width_of(drafted: Draft, n: int) -> float:
    """Return by how much so many refusals may miss the true gap, if a third of them is wrong."""
    deprived = drafted.reading.parts[2]
    gap = gap_from_refusals(deprived.rows, deprived.favorable, n, n // 3).gap
    return (gap.high - gap.low) / 2
