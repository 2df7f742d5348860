"""Thresholds by group on untreated scores: what they reach, and the techniques that they dominate."""

from __future__ import annotations

from benchmark.facts.model import Frontier
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.statistics.unprocessing import INSIDE, curves_of


def frontiers(statistics: RunStatistics, scenario: Scenario) -> tuple[Frontier, ...]:
    """Return the frontier at each level of bias of a scenario; none if the run recorded none."""
    curves = curves_of(statistics.frontier, scenario.key)
    if curves.empty:
        return ()
    gaps = scenario.rows(statistics.frontier_gaps)
    inside = gaps[(gaps["standing"] == INSIDE) & ~gaps["technique"].isin(statistics.unconstrained)]
    return tuple(
        Frontier(
            level=float(str(beta)),
            discrimination=tuple(points[DISCRIMINATION]),
            accuracy=tuple(points[ACCURACY]),
            inside=tuple(inside.loc[inside["beta"] == beta, "technique"]),
        )
        for beta, points in curves.groupby("beta")
    )
