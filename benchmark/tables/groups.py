"""Gaps between the groups of every attribute, as rows of text for every page, and how to read them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from benchmark.metrics import get_metric
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.frames import Scenario
from benchmark.text.words import number, with_interval

HOW_TO_READ_GAPS = (
    "The largest difference of a rate between two groups of an attribute, or of an intersection of "
    "attributes; in brackets what a technique changes of it on the same samples, with its interval of 95 % "
    "(none with folds). Above 0 the gap is wider than the baseline's: what is mitigated for one attribute "
    "may be paid by another."
)
"""What a gap is, and which of its changes are good."""


@dataclass(frozen=True)
class Gaps:
    """Gaps of one rate in one scenario at one level of bias; rows begin with the title of a technique."""

    scenario: Scenario
    heading: str
    headings: list[str]
    rows: list[list[str]]


def gaps_of(statistics: RunStatistics, metric: str) -> Iterator[Gaps]:
    """Yield the gaps of a rate in each scenario that has some, by level of bias."""
    table = statistics.groups
    table = table[table["metric"] == metric]
    titles = statistics.run.titles
    for scenario in statistics.scenarios:
        for beta, own in scenario.rows(table).groupby("beta"):
            attributes = list(own["attribute"].unique())
            rows = [
                [titles[str(name)], *(_cell(found[found["attribute"] == one]) for one in attributes)]
                for name, found in own.groupby("technique", sort=False)
            ]
            yield Gaps(scenario, f"β = {beta:g}", ["Technique", *attributes], rows)


def gap_title(metric: str) -> str:
    """Return what gaps of a rate are called."""
    return f"{get_metric(metric).title}, largest gap"


def smallest_text(statistics: RunStatistics) -> str:
    """Say which groups have no values."""
    smallest = statistics.run.facts.experiment.settings.get("smallest_group")
    return (
        f"Groups of fewer than {smallest} test rows are left out; groups.csv names them." if smallest else ""
    )


def _cell(own: pd.DataFrame) -> str:
    if own.empty:
        return "–"
    row = own.iloc[0]
    gap, *change = map(float, row[["gap", "difference", "difference_low", "difference_high"]])
    return number(gap) if math.isnan(change[0]) else f"{number(gap)} ({with_interval(*change)})"
