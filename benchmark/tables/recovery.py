"""How much of the planted bias techniques take back, as rows of text for every page, and how to read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from benchmark.columns import TEST_TITLES
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import listed_betas
from benchmark.runs.frames import Scenario
from benchmark.runs.recovery import COSTS
from benchmark.text.words import with_interval

HOW_TO_READ = (
    "The reference is the baseline on samples without planted bias. Recovery is how far a technique moves a "
    "metric back, as a share of what the bias changes for the baseline, on the original test. 1: the metric "
    "is where it was before the bias was planted; above, it went farther. 0: what the baseline does; below, "
    "it is made worse. What a technique would change without planted bias is counted as well. A recovery of "
    "1 does not mean no discrimination, but as much as there was before. It speaks of one metric, not of who "
    "is accepted: both groups may have lost."
)
"""What a recovery is, and which of its values are good."""

NONE = "No level of bias is above 0, or no technique is compared with a baseline on the original test data."
"""Stands where there are no recoveries."""

_PLANTED = "changed by the bias"


@dataclass(frozen=True)
class Recoveries:
    """Recoveries of one metric in one scenario.

    ``rows`` begin with the title of a technique, or with what the first row is: what the bias changes.
    ``reasons`` say of what there is none, and why.
    """

    scenario: Scenario
    headings: list[str]
    rows: list[list[str]]
    reasons: list[str]


def recoveries_of(statistics: RunStatistics, metric: str) -> Iterator[Recoveries]:
    """Yield the recoveries of a metric in each scenario that has some: with intervals, and the accuracy."""
    table = statistics.recovery[statistics.recovery["metric"] == metric]
    titles = statistics.run.titles
    for scenario in statistics.scenarios:
        own = scenario.rows(table)
        if own.empty:
            continue
        betas = sorted(map(float, own["beta"].unique()))
        rows: list[list[str]] = []
        if own["recovery"].notna().any():
            for baseline, compared in own.groupby("baseline", sort=False):
                most = compared.sort_values("n", ascending=False, kind="stable").drop_duplicates("beta")
                of = f": {titles[str(baseline)]}" if own["baseline"].nunique() > 1 else ""
                rows.append([_PLANTED + of, *_cells(most, betas, "planted")])
                for name, found in compared.groupby("technique", sort=False):
                    rows.append([titles[str(name)], *_cells(found, betas, "recovery")])
        headings = ["Technique", *(f"β = {beta:g}" for beta in betas)]
        yield Recoveries(scenario, headings, rows, list(undefined(own, titles)))


def intervals_text(statistics: RunStatistics) -> str:
    """Say what the intervals of recoveries hold."""
    protocol = statistics.run.protocol
    what = "training samples only"
    if protocol.overlaps:
        what = "splits, corrected for their overlap"
    return (
        f"Intervals (95 %, Fieller's) reflect variation between {what}; technique and baseline are compared "
        f"on the same samples. {protocol.levels_text}"
    )


def costs_text(statistics: RunStatistics) -> str:
    """Say where the changes in accuracy are, and on which tests there are some."""
    found = [TEST_TITLES[test] for test, column in COSTS.items() if statistics.recovery[column].notna().any()]
    there = f" on the {' and the '.join(found)}" if found else ""
    return f"recovery.csv has every metric, and beside it what a technique changes in accuracy{there}."


def undefined(own: pd.DataFrame, titles: dict[str, str]) -> Iterator[str]:
    """Say of what in one scenario there is no recovery, and why."""
    for reason, rows in own[own["reason"] != ""].groupby("reason", sort=False):
        levels = {
            titles[str(name)]: listed_betas(sorted(found["beta"]))
            for name, found in rows.groupby("technique", sort=False)
        }
        where = "; ".join(f"{title} at β = {betas}" for title, betas in levels.items())
        if len(set(levels.values())) == 1 and len(levels) == own["technique"].nunique():
            where = f"all at β = {next(iter(levels.values()))}"
        yield f"not defined for {where}: {reason}."


def _cells(own: pd.DataFrame, betas: list[float], name: str) -> Iterator[str]:
    columns = (own[column].tolist() for column in ("beta", name, f"{name}_low", f"{name}_high"))
    found = {beta: with_interval(*interval) for beta, *interval in zip(*columns, strict=True)}
    return (found[beta] for beta in betas)
