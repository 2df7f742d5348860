"""Facts that are rows of one frame: gaps of groups, frontiers, regrets of settings, and what is missing."""

from __future__ import annotations

import re

import pandas as pd

from benchmark.facts.model import Estimate, Frontier, Gap, Missing, Regret
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.statistics.unprocessing import INSIDE, curves_of

# Reasons that differ only in these are one reason.
_NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def gaps(statistics: RunStatistics) -> tuple[Gap, ...]:
    """Return the gaps in each rate; none if the run told groups of one attribute apart."""
    return tuple(
        Gap.from_record(row, scenario=i, level=row.beta, change=Estimate.of(row, "difference"))
        for i, scenario in enumerate(statistics.scenarios)
        for row in records(scenario.rows(statistics.groups))
    )


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


def regrets(statistics: RunStatistics) -> tuple[Regret, ...]:
    """Return the mean regrets over techniques, against the oracle's settings; none if none were tuned."""
    table = statistics.regret
    table = table[(table["technique"] == "") & (table["against"] == "oracle")]
    table = table.sort_values("dataset", key=lambda names: names != "", kind="stable")
    return tuple(
        Regret.from_record(
            row,
            level=row.beta,
            beyond=row.breaks,
            beyond_oracle=row.breaks_against,
        )
        for row in records(table)
    )


def missing(failures: pd.DataFrame) -> tuple[Missing, ...]:
    """Return each status and reason with its number of results or values, the most frequent first."""
    alike = failures["reason"].map(lambda reason: _NUMBERS.sub("#", reason))
    groups = [
        Missing(
            status=str(status),
            reason=rows["reason"].iloc[0],
            count=len(rows),
            techniques=tuple(rows["technique"].unique()),
            datasets=tuple(rows["dataset"].unique()),
            levels=tuple(sorted(map(float, rows["beta"].unique()))),
            metrics=tuple(name for name in rows["metric"].unique() if name),
        )
        for (status, _), rows in failures.groupby(["status", alike], sort=False)
    ]
    return tuple(sorted(groups, key=lambda group: -group.count))
