"""The gaps between the groups of every attribute, and how techniques change them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from benchmark.metrics import get_metric
from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable
from benchmark.text.words import number, with_interval

READING = (
    "The gap is the largest difference of a rate between two groups of an attribute, or of an intersection "
    "of attributes. In brackets: its change to the baseline on the same samples, with its 95 % interval "
    "(none with folds). Above 0 the gap is wider: mitigation for one attribute may cost another."
)


def section(statistics: RunStatistics) -> Section | None:
    """Return the gaps in each rate, if the run has groups of several attributes."""
    if statistics.groups.empty:
        return None
    smallest = statistics.run.experiment.settings.get("smallest_group")
    left_out = f"Groups of fewer than {smallest} test rows are left out; groups.csv names them."
    return Section(
        "groups",
        "What happens to other groups",
        (READING, *([left_out] if smallest else [])),
        list(_blocks(statistics)),
        files={
            "groups": "largest gap between the groups of an attribute, and its change with each technique"
        },
        figures={"groups": "Gaps between the groups of every attribute"},
    )


def gap_title(metric: str) -> str:
    """Return the title of a rate's gaps."""
    return f"{get_metric(metric).title}, largest gap"


def _blocks(statistics: RunStatistics) -> Iterator[Block]:
    """Yield the gaps of each rate, in each scenario and at each level of bias with gaps."""
    titles = statistics.run.titles
    for metric, table in statistics.groups.groupby("metric", sort=False):
        for scenario in statistics.scenarios:
            for beta, gaps in scenario.rows(table).groupby("beta"):
                attributes = list(gaps["attribute"].unique())
                rows = [
                    [titles[str(name)], *(_cell(rows[rows["attribute"] == a]) for a in attributes)]
                    for name, rows in gaps.groupby("technique", sort=False)
                ]
                yield Block(
                    f"{scenario.heading}, {statistics.run.level_text(float(str(beta)))}",
                    table=TextTable(["Technique", *attributes], rows),
                    fold=gap_title(str(metric)),
                )


def _cell(gaps: pd.DataFrame) -> str:
    if gaps.empty:
        return "–"
    row = gaps.iloc[0]
    gap, *change = map(float, row[["gap", "difference", "difference_low", "difference_high"]])
    return number(gap) if math.isnan(change[0]) else f"{number(gap)} ({with_interval(*change)})"
