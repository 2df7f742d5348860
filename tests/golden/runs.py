"""The runs whose numbers and files are golden, and what is kept of them.

Everything goes through the command line and the files that it writes, so that modules may be moved, split and
renamed without a change here.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmark.cli import main
from benchmark.experiment import engine
from benchmark.experiment.versions import processor
from tests.experiment.test_merge import InProcess

__all__ = [
    "CELL",
    "GOLDEN",
    "as_json",
    "audited",
    "cell_values",
    "cells",
    "compared",
    "environment",
    "paper",
    "smoke",
    "smoke_on_real_data",
]

GOLDEN = Path(__file__).resolve().parent
_ROOT = GOLDEN.parents[1]

CELL = ("dataset", "bias", "beta", "technique", "classifier", "repetition")

_SMOKE = (
    *("--datasets", "adult", "compas", "--techniques", "none", "drop_sensitive", "massaging", "repair_0.50"),
    *("--betas", "0", "0.5", "--repetitions", "3"),
)
_PAPER = (
    *("--experiment", "paper", "--betas", "0.5", "--repetitions", "1"),
    *("--techniques", "none", "drop_sensitive", "massaging", "reweighing", "repair_0.50", "zafar_fpr"),
)


def environment() -> dict[str, object]:
    """Return what the last digits of numbers may depend on: versions of packages, and the processor."""
    packages = ("numpy", "scipy", "scikit-learn", "numba", "fairlearn", "pandas")
    versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
    return {"versions": versions, "processor": dict(processor())}


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


class _AsOneWorker(InProcess):
    """Computes in this process, on which the numbers do not depend, under the name of one worker."""

    name = engine.LocalEngine(1).name


def _run(*words: str) -> str:
    with patch.object(engine, "LocalEngine", _AsOneWorker):
        return _command("run", *words, "--offline", "--no-figures")


def cells(folder: Path) -> Path:
    """Compute cells of every technique on embedded networks; return the run's folder."""
    with _embedded(folder):
        _run("--experiment", str(GOLDEN / "cells.toml"), "--output", "cells")
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
    """Compare a part of ``paper`` with the published numbers, and a run with another one; return the folder.

    ``smoke`` has run in the same folder.
    """
    with _embedded(folder):
        words = (*_PAPER, "--datasets", "compas_leaky", "compas_zafar")
        _run(*words, "--output", "compared")
        _command("compare", "compared", "--allow-embedded", "--no-figures")
        experiment = (_ROOT / "experiments" / "smoke.toml").read_text(encoding="utf-8")
        Path("other.toml").write_text(experiment.replace("seed = 1\n", "seed = 2\n"), encoding="utf-8")
        _run("--experiment", "other.toml", *_SMOKE, "--output", "other")
        said = _command("compare", "smoke", "other")
        Path("compared", "smoke_with_another_seed.txt").write_text(said, encoding="utf-8")
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
            *("--html", "audited/audit.html"),
        )
    return folder / "audited"


def cell_values(folder: Path) -> dict[str, dict[str, str]]:
    """Return what a run's files say of each cell: metrics as they are written, or why there are none.

    Parameters
    ----------
    folder : Path
        Folder of a finished run.

    Returns
    -------
    dict of str to dict of str to str
        By dataset, bias, beta, technique, classifier and repetition, joined by ``|``; then by metric. Steps
        and residuals of techniques that report them stand beside the metrics.
    """
    found: dict[str, dict[str, str]] = {}

    def add(name: str, entries: Callable[[dict[str, str]], dict[str, str]]) -> None:
        path = folder / name
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    found.setdefault("|".join(row[column] for column in CELL), {}).update(entries(row))

    add("results.csv", lambda row: {row["metric"]: row["value"]})
    add("metrics.csv", lambda row: {row["metric"]: row["value"] or row["reason"]})
    add("convergence.csv", lambda row: {name: row[name] for name in ("steps", "residual")})
    add(
        "failures.csv",
        lambda row: {row["metric"] or "status": f"{row['status']}: {row['reason']}"},
    )
    return dict(sorted(found.items()))


def as_json(found: dict[str, dict[str, str]]) -> str:
    """Return cells as JSON with one line for each, so that a change of one is a change of one line."""
    lines = [
        f"  {json.dumps(key)}: {json.dumps(values, ensure_ascii=False)}" for key, values in found.items()
    ]
    return f'{{\n"environment": {json.dumps(environment())},\n"cells": {{\n' + ",\n".join(lines) + "\n}\n}\n"
