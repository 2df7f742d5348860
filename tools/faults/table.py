"""The table of faults in ``results/faults``, from what campaigns and the fuzzer have counted."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from benchmark.text import markdown
from benchmark.text.writing import write_atomically

__all__ = ["save_rows"]

FOLDER = Path(__file__).resolve().parents[2] / "results" / "faults"

_TEXT = """# Faults

## Disturbed runs

A run of 54 cells on two workers (or of one block of 30 cells that take a second each, where the row says
so) is disturbed at random moments or places, and then given the same command again. Every cell notes in a
file of its own that it is computed, so that what was *finished* when the disturbance had ended the run is
known whether or not it had come into the store. *Again* are those of them that were computed a second time,
and *lost* those of these that were stored, or had been finished for more than 5 seconds: results are written
about every second, and so only the latest may be computed again. *Twice* are rows that stand in
`results.csv` more than once, and *same bytes* says how often all outputs (results, summary, failures,
tables) were those of an undisturbed run, byte for byte. A damaged store is the one case in which finished
cells may be lost: those that cannot be read any more, or no longer match their checksums, are computed
again.

{campaigns}

`python -m tools.faults.campaign` runs all of them (`--times N`, names of campaigns, `--minutes M` for
each). `tests/tools/test_campaign.py` runs some of them once, `tests/faults/test_rescue.py` damages
stores in a hundred places, `tests/experiment/test_dask.py` kills workers of a Dask cluster, and
`tests/test_plugins.py` holds more techniques to their own cells.

## Damaged input

Valid input is damaged at random and given to its reader. What is *read* holds what it promises, what is
*refused* is refused in words of ours, and *escaped* would be anything else: a traceback, or a wrong
result.

{fuzz}

`python -m tools.faults.fuzz 100000 --save` does it again; `python -m tools.faults.guided "BIF file" 120`
looks for damage by coverage, and `tests/faults/test_security.py` holds archives, downloads and pages to
what is safe.

Both on {machine}.
"""


def save_rows(kind: Literal["campaigns", "fuzz"], rows: Mapping[str, Any], folder: Path = FOLDER) -> None:
    """Add rows to those that are known, and write the table of all."""
    known = {name: _read(folder / f"{name}.json") for name in ("campaigns", "fuzz")}
    known[kind] |= rows
    write_atomically(folder / f"{kind}.json", json.dumps(known[kind], indent=1) + "\n")
    campaigns = markdown.table(
        ("what is done", "times", "finished", "again", "lost", "twice", "same bytes", "what was seen"),
        [
            (
                f"{row['done']} (`{name}`)",
                *(f"{row[count]:,}" for count in ("times", "finished", "again", "lost", "duplicated")),
                f"{row['same']} of {row['times']}",
                "; ".join(f"{n} × {what}" for what, n in row["seen"].items()),
            )
            for name, row in known["campaigns"].items()
        ],
    )
    counts = ("given", "read", "refused", "escaped")
    totals = {count: sum(row[count] for row in known["fuzz"].values()) for count in counts}
    fuzz = markdown.table(
        ("input", *counts),
        [
            (name, *(f"{row[count]:,}" for count in counts))
            for name, row in [*known["fuzz"].items(), ("all", totals)]
        ],
    )
    machine = f"{platform.system()} with {os.cpu_count()} cores, Python {platform.python_version()}"
    text = _TEXT.format(campaigns=campaigns, fuzz=fuzz, machine=machine)
    write_atomically(folder / "README.md", text)


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
