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
    """Whether tables of a run have the column: where levels of bias are doses, which are paired."""
    return run.level_name == "dose"


def moved(statistics: RunStatistics, scenario: Scenario) -> Mapping[float, str]:
    """Return by how much each dose moves the baseline of a scenario, with its interval, as text.

    Empty where levels of bias are β, and where each technique has a baseline of its own.
    """
    run, baseline = statistics.run, statistics.baseline_of(scenario)
    if not shows_moved(run) or not isinstance(baseline, str):
        return {}
    own = scenario.rows(statistics.results)
    changes = level_changes(own[own["metric"] == DISCRIMINATION], baseline, statistics.resampling)
    columns = changes[["beta", "change", "change_low", "change_high"]].itertuples(index=False, name=None)
    return {beta: change_text(*change) for beta, *change in columns}
