"""Write the golden values anew: ``python -m tests.golden.record``, or with names, those folders alone.

Do so after a change that is meant to change numbers, and read what changed before it is committed: the tests
name every value. With ``BETABENCH_DATA`` set, the numbers on the real data are written as well; without, they
stay as they are. ``smoke_e5f630d.csv`` is what an earlier version wrote, and is never written anew.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.golden import runs
from tests.golden.compare import read_values, value_files

LARGEST_PLAIN = 200_000
"""Bytes up to which a file is kept as it is, not compressed."""


def write_values(section: str, folder: Path) -> None:
    """Keep the values of a run's folder."""
    golden = runs.GOLDEN / section
    shutil.rmtree(golden, ignore_errors=True)
    for name, path in value_files(folder).items():
        if not runs.kept(section, name):
            continue
        (golden / name).parent.mkdir(parents=True, exist_ok=True)
        text = read_values(path).to_csv(index=False, lineterminator="\n")
        if len(text) <= LARGEST_PLAIN:
            (golden / name).write_text(text, encoding="utf-8", newline="\n")
        else:
            read_values(path).to_csv(golden / f"{name}.xz", index=False, lineterminator="\n")


def main(names: Sequence[str]) -> int:
    """Compute the values of some folders, or of all, and write them; return 0."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for section in (runs.cells, runs.smoke, runs.compared, runs.audited):
            if not names or section.__name__ in names:
                write_values(section.__name__, section(folder))
        if "BETABENCH_DATA" in os.environ and (not names or "paper" in names):
            write_values("paper", runs.paper(folder, Path(os.environ["BETABENCH_DATA"])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
