"""Every metric of every technique, and its change from the baseline."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark.columns import GOAL_METRICS
from benchmark.facts.model import Values
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import with_useful
from benchmark.statistics.recommendation import WITHIN_LIMITS

_AXES = ("beta", "technique")


def tried(run: Manifest, rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the techniques of a scenario's rows, in the run's order: the columns of its values."""
    names = set(rows["technique"])
    return tuple(name for name in run.titles if name in names)


def values(statistics: RunStatistics, scenario: Scenario) -> tuple[Values, ...]:
    """Return every metric of a scenario, by level of bias and technique."""
    techniques = tried(statistics.run, scenario.rows(statistics.everything))
    levels = list(scenario.telling_levels(statistics.run.levels))
    cells = pd.MultiIndex.from_product([levels, techniques], names=_AXES)
    shown, compared, answers = map(
        scenario.rows, (statistics.intervals, statistics.compared, statistics.answers)
    )
    useful = with_useful(scenario.rows(statistics.standing)).set_index(list(_AXES))["useful"]
    useful = useful.reindex(cells).eq(True)

    def grid(column: pd.Series) -> tuple[tuple[float, ...], ...]:
        numbers = column.to_numpy(dtype=float).reshape(len(levels), len(techniques))
        return tuple(map(tuple, numbers.tolist()))

    found = []
    for metric in statistics.metrics:
        of = shown[shown["metric"] == metric].set_index(list(_AXES)).reindex(cells)
        change = compared[compared["metric"] == metric].set_index(list(_AXES)).reindex(cells)
        better, worse, passed = change["better"].eq(True), change["worse"].eq(True), useful
        if metric in GOAL_METRICS.values():  # the verdicts on that goal decide
            verdicts = answers.loc[answers["metric"] == metric, [*_AXES, "verdict"]].set_index(list(_AXES))
            passed = verdicts["verdict"].reindex(cells).isin(WITHIN_LIMITS)
        letters = np.select([better & passed, better, worse], ["b", "r", "w"], ".")
        found.append(
            Values(
                metric=metric,
                mean=grid(of["mean"]),
                low=grid(of["ci_low"]),
                high=grid(of["ci_high"]),
                change=grid(change["difference"]),
                change_low=grid(change["difference_low"]),
                change_high=grid(change["difference_high"]),
                p=grid(change["p_paired_holm"]),
                shown=tuple("".join(row) for row in letters.reshape(len(levels), -1)),
            )
        )
    return tuple(found)
