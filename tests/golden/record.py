"""Write the golden files anew: ``python -m tests.golden.record``.

Do so after a change that is meant to change numbers, texts or files, and read the difference before it is
committed: ``git diff tests/golden``. With ``BETABENCH_DATA`` set, the numbers on the real data are written as
well; without, they stay as they are. ``smoke_e5f630d.csv`` is what an earlier version wrote, and is never
written anew.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.golden import runs
from tests.golden.normal import digest, normal_files

LARGEST_TEXT = 40_000
"""Characters up to which a file's text is kept, not only its digest."""

FILES = runs.GOLDEN / "files"


def kept_name(name: str) -> str:
    """Return under which name a file's text is kept: a page's text is no page."""
    return name + ".txt" if name.endswith(".html") else name


def write_files(section: str, found: dict[str, str]) -> None:
    """Keep the digests of a section's files, and the texts of those that are short."""
    folder = FILES / section
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in found.items():
        if len(text) <= LARGEST_TEXT:
            path = folder / kept_name(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")


def main() -> int:
    """Compute everything and write it; return 0."""
    digests = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        values = runs.as_json(runs.cell_values(runs.cells(folder)))
        (runs.GOLDEN / "cells.json").write_text(values, encoding="utf-8", newline="\n")
        for section, run in (("smoke", runs.smoke), ("compared", runs.compared), ("audited", runs.audited)):
            found = normal_files(run(folder))
            write_files(section, found)
            digests[section] = {name: digest(text) for name, text in found.items()}
        if "BETABENCH_DATA" in os.environ:
            output = runs.paper(folder, Path(os.environ["BETABENCH_DATA"]))
            values = runs.as_json(runs.cell_values(output))
            (runs.GOLDEN / "paper.json").write_text(values, encoding="utf-8", newline="\n")
    facts = {"environment": runs.environment(), "files": digests}
    (FILES / "manifest.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
