"""The growth benchmarks run at their smallest sizes, and their report says what the numbers are."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from tools.performance import growth, growth_cells
from tools.performance.child import in_own_process
from tools.performance.growth_report import exponent, section
from tools.performance.startup import COMMANDS

pytestmark = pytest.mark.nightly

COLUMNS = ("part", "case", "contestant", "size", "repetition", "seconds", "bytes", "note")


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Return a folder of made-up measurements: fit grows with the square of the rows, all else in line."""
    rows: list[tuple[object, ...]] = []
    for size in (1_000, 10_000, 100_000):
        for step, seconds in {"sample": size / 1e6, "fit": (size / 1e5) ** 2, "total": size / 1e4}.items():
            rows.append(
                ("growth", "rows", step, size, 0, seconds, size * 2**20 if step == "total" else "", "")
            )
    worker_steps = ("total", "processor time of the workers", "processor time of other programs")
    for repetition, speed_up in enumerate((1.8, 1.9, 2.0)):
        for count, seconds in ((1, 10.0), (2, 10.0 / speed_up)):
            rows += [
                ("growth_workers", "workers", step, count, repetition, seconds, "", "36 cells")
                for step in worker_steps
            ]
    _write(tmp_path / "growth.csv", rows)
    starts = zip(COMMANDS, (0.01, 0.1, 0.2, 0.2, 0.5, 0.2, 0.2, 0.2, 0.2, 0.2), strict=True)
    _write(tmp_path / "startup.csv", [("startup", "start", name, "", 0, s, "", "") for name, s in starts])
    return tmp_path


def _write(path: Path, rows: list[tuple[object, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *rows])


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_exponent_is_that_of_the_larger_half(power: float) -> None:
    sizes = pd.Series([1, 10, 100, 1000])
    seconds = 0.01 * sizes.astype(float) ** power
    seconds[:2] = 5.0
    assert exponent(sizes, seconds) == pytest.approx(power)


def test_section_judges_what_was_measured(measured: Path) -> None:
    text = section(measured)
    assert "| fit | 0.1 ms | 10 ms | 1.00 s | 2.00 |" in text
    assert "*fit* is worse than linear" in text
    assert "*sample* is worse than linear" not in text
    assert "| peak memory | 1,000 MiB | 10,000 MiB | 100,000 MiB |  |" in text
    assert (
        "1.90 times as fast as one (1.80 to 2.00); the target of at least 1.85 is neither met nor missed"
        in text
    )
    assert "| `betabench list metrics` | 500 ms | 500 ms | **not met** |" in text
    assert "| `betabench list datasets` | 200 ms | 200 ms | met |" in text


def test_steps_are_measured_in_a_process_of_their_own() -> None:
    found = in_own_process("growth:attributes", count=4, n_rows=500)
    assert set(found["seconds"]) == {"sample", "fit", "predict", "metrics", "structure search", "total"}
    assert found["seconds"]["total"] == pytest.approx(sum(found["seconds"].values()) / 2)


def test_rows_and_techniques_are_measured() -> None:
    assert "accuracy" in growth.rows(1000)["note"]
    assert growth.techniques(2, 1000)["seconds"]["total"] > 0


def test_cells_are_stored_found_and_reported(tmp_path: Path) -> None:
    first = growth_cells.first_run(100, str(tmp_path))
    assert first["seconds"]["total"] >= first["seconds"]["writing"] + first["seconds"]["reading back"]
    assert growth_cells.second_start(100, str(tmp_path))["seconds"]["opening"] > 0
    assert growth_cells.folder_of_results(100, str(tmp_path))["note"].startswith("700 rows")
