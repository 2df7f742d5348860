"""People who get back what the bias took, and people who pay."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmark.columns import RESTORE
from benchmark.facts.model import Decisions, Estimate
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.recommendation import WITHIN_LIMITS


def decisions(statistics: RunStatistics, scenario: Scenario) -> tuple[Decisions, ...]:
    """Return the decisions of each technique at each level of bias, the nearest to the clean model first."""
    rows = scenario.rows(statistics.restoration)
    if rows.empty:
        return ()
    answers = scenario.rows(statistics.answers)
    answers = answers[answers["goal"] == RESTORE]
    found = [
        _decisions(float(str(level)), str(name), of_technique, answers)
        for (level, name), of_technique in rows.groupby(["beta", "technique"], sort=False)
    ]

    def order(entry: Decisions) -> tuple[float, bool, bool, float]:
        distance = entry.values.get("restoration_distance", Estimate()).mean
        return -entry.level, entry.role != "baseline", distance is None, distance or 0.0

    return tuple(sorted(found, key=order))


def _decisions(level: float, name: str, rows: pd.DataFrame, answers: pd.DataFrame) -> Decisions:
    of_metric = {row.metric: row for row in records(rows)}
    known = answers[(answers["beta"] == level) & (answers["technique"] == name)]
    verdict: Any
    role: Any
    verdict, role = ("", "technique") if known.empty else known[["verdict", "role"]].iloc[0]
    given = of_metric.get("given_back")
    return Decisions(
        level=level,
        technique=name,
        role=role,
        restores=verdict in WITHIN_LIMITS and given is not None and given.beyond_refit_low > 0,
        values={metric: Estimate.of(row, "value") for metric, row in of_metric.items()},
        refit_biased={metric: row.refit_biased for metric, row in of_metric.items()},
    )
