"""The runs whose values are golden, and which of these are kept.

Everything goes through the command line and the files that it writes, so that modules may be moved, split and
renamed without a change here.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmark.cli import main
from benchmark.experiment import engine
from tests.helpers.engines import InProcess

__all__ = [
    "CELL",
    "GOLDEN",
    "audited",
    "cells",
    "compared",
    "kept",
    "paper",
    "smoke",
    "smoke_on_real_data",
]

GOLDEN = Path(__file__).resolve().parent
_OF_CELLS = ("results.csv", "metrics.csv", "convergence.csv", "failures.csv")
_KEPT = {
    "cells": _OF_CELLS,
    "paper": _OF_CELLS,
    "compared": (
        *("results.csv", "failures.csv", "summary.csv", "metrics_summary.csv"),
        *("comparison_summary.csv", "comparison_ranks.csv"),
    ),
}

CELL = ("dataset", "bias", "level", "technique", "classifier", "repetition")

_SMOKE = (
    *("--datasets", "adult", "compas", "--techniques", "none", "drop_sensitive", "massaging", "repair_0.50"),
    *("--betas", "0", "0.5", "--repetitions", "3"),
)
_PAPER = (
    *("--experiment", "paper", "--betas", "0.5", "--repetitions", "1"),
    *("--techniques", "none", "drop_sensitive", "massaging", "reweighing", "repair_0.50", "zafar_fpr"),
)


@contextlib.contextmanager
def _embedded(folder: Path) -> Iterator[None]:
    """Work in a folder where no real data can be found, so that embedded networks stand in."""
    hidden = {name: value for name, value in os.environ.items() if name.startswith("BETABENCH_")}
    columns = os.environ.get("COLUMNS")
    for name in hidden:
        del os.environ[name]
    cache = folder / "empty_cache"
    cache.mkdir(exist_ok=True)
    os.environ.update(BETABENCH_CACHE=str(cache), COLUMNS="100")
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        del os.environ["BETABENCH_CACHE"], os.environ["COLUMNS"]
        os.environ.update(hidden, **({} if columns is None else {"COLUMNS": columns}))


def _command(*words: str) -> str:
    """Run a command in this process; return what it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = main(words)
    assert code == 0, f"betabench {' '.join(words)} ended with {code}:\n{said.getvalue()}"
    return said.getvalue()


def _run(*words: str) -> str:
    with patch.object(engine, "LocalEngine", InProcess):
        return _command("run", *words, "--offline", "--no-figures")


def cells(folder: Path, *words: str) -> Path:
    """Compute cells of every technique on embedded networks, or some of them; return the run's folder."""
    with _embedded(folder):
        _run("--experiment", str(GOLDEN / "cells.toml"), "--output", "cells", *words)
    return folder / "cells"


def paper(folder: Path, data_dir: Path) -> Path:
    """Compute one repetition of a part of the paper's experiment on the real data; return its folder."""
    output = folder / "paper"
    _run(
        *(*_PAPER, "--datasets", "adult", "compas_leaky", "compas_zafar", "--require-real-data"),
        *("--data-dir", str(data_dir), "--output", str(output)),
    )
    return output


def smoke_on_real_data(folder: Path, data_dir: Path) -> tuple[Path, str]:
    """Run all of ``smoke`` on the real data; return its folder and what it printed."""
    output = folder / "real_smoke"
    where = ("--require-real-data", "--data-dir", str(data_dir), "--output", str(output))
    return output, _run("--experiment", "smoke", *where)


def smoke(folder: Path) -> Path:
    """Run a part of ``smoke`` on embedded networks, and ``betabench report`` on it; return its folder."""
    with _embedded(folder):
        _run("--experiment", "smoke", *_SMOKE, "--output", "smoke")
        _command("report", "smoke", "--no-figures")
    return folder / "smoke"


def compared(folder: Path) -> Path:
    """Compare a part of ``paper`` with the published numbers; return its folder."""
    with _embedded(folder):
        words = (*_PAPER, "--datasets", "compas_leaky", "compas_zafar")
        _run(*words, "--output", "compared")
        _command("compare", "compared", "--allow-embedded", "--no-figures")
    return folder / "compared"


def audited(folder: Path) -> Path:
    """Audit a small table of made-up predictions; return the folder of what is written."""
    rng = np.random.default_rng(7)
    sex, region, true = rng.integers(0, 2, 240), rng.integers(0, 3, 240), rng.integers(0, 2, 240)
    # Whole percents, so that the table is the same text everywhere.
    score = np.clip(30 * true + 10 * sex - 5 * region + rng.integers(0, 60, 240), 0, 100)
    with _embedded(folder):
        with Path("predictions.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["sex", "region", "y", "yhat", "score"])
            for s, r, y, p in zip(sex, region, true, score, strict=True):
                rows.writerow(["FM"[s], ("north", "south", "")[r], y, int(p >= 50), f"{p / 100:.2f}"])
        _command(
            *("audit", "predictions.csv", "--label", "y", "--prediction", "yhat", "--score", "score"),
            *("--sensitive", "sex,region", "--intersections", "--out", "audited"),
        )
    return folder / "audited"


def kept(section: str, name: str) -> bool:
    """Return whether a file of a section's run is golden: of runs of many cells only some are."""
    return section not in _KEPT or name in _KEPT[section]
