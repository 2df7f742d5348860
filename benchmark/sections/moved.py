"""What a dose makes of a model: by how much planted bias moves the discrimination of a baseline."""

from __future__ import annotations

from collections.abc import Mapping

from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.sections.choices import change_text
from benchmark.statistics.answers import DISCRIMINATION
from benchmark.statistics.levels import level_changes

MOVED = "Bias moves the baseline's discrimination by"
"""Heading of the column beside doses."""


def shows_moved(run: Manifest) -> bool:
    """Return whether tables of a run have the column: its levels of bias are doses, which are paired."""
    return run.level_name == "dose"


def moved(statistics: RunStatistics, scenario: Scenario) -> Mapping[float, str]:
    """Return each dose's effect on the baseline of a scenario, with its interval, as text.

    It is empty if levels of bias are β, or if each technique has its own baseline.
    """
    run, baseline = statistics.run, statistics.baseline_of(scenario)
    if not shows_moved(run) or not isinstance(baseline, str):
        return {}
    results = scenario.rows(statistics.results)
    changes = level_changes(results[results["metric"] == DISCRIMINATION], baseline, statistics.resampling)
    columns = changes[["beta", "change", "change_low", "change_high"]].itertuples(index=False, name=None)
    return {beta: change_text(*change) for beta, *change in columns}
