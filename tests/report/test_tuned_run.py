"""What a report says of the committed run whose techniques are tuned."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmark.report.statistics_files import write_statistics
from benchmark.runs.analysis import folder_statistics

pytestmark = pytest.mark.nightly

COMMITTED = Path(__file__).resolve().parents[2] / "results" / "tuning"


def test_regrets_are_in_the_report_and_what_nobody_has_is_no_choice(tmp_path: Path) -> None:
    run = tmp_path / "tuning"
    shutil.copytree(COMMITTED, run)
    statistics = folder_statistics(run)
    write_statistics(run / "statistics", statistics, figures=False)
    restored = set(statistics.restoration["technique"])
    assert "reject_option_tuned" in restored
    chosen = set(statistics.answers["technique"])
    assert "reject_option_tuned" in chosen
    assert not [name for name in chosen | restored if name.endswith(("_tuned_clean", "_oracle"))]
