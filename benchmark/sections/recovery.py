"""The share of the planted bias that techniques take back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from benchmark.columns import TEST_TITLES
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.recovery import COSTS
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.answers import DISCRIMINATION
from benchmark.text.words import LevelName, level_text, with_interval

READING = (
    "Recovery is a technique's change of a metric on the original test, as a share of the bias's change for "
    "the baseline. 1: the metric is where the baseline has it without planted bias; above 1 it went farther. "
    "0: it is where the biased baseline has it; below 0 it got worse. Changes that a technique would make "
    "without planted bias count as well. A recovery of 1 does not mean no discrimination, but as much as "
    "before. It is about one metric, not about people: both groups may have lost."
)
NONE = "No level of bias is above 0, or no technique is compared with a baseline on the original test data."


def section(statistics: RunStatistics) -> Section:
    """Return the recoveries of each metric."""
    blocks = list(_blocks(statistics))
    return Section(
        "recovery",
        "How much of the planted bias is taken back",
        (READING, _intervals(statistics), _costs(statistics)) if blocks else (NONE,),
        blocks,
        files={
            "recovery": "share of the planted bias that each technique takes back on the original test, with "
            "intervals, and its change of accuracy"
        },
        figures={"recovery": "How much of the planted bias is taken back"},
    )


def _blocks(statistics: RunStatistics) -> Iterator[Block]:
    """Yield the recoveries of each metric in each scenario with recoveries, discrimination first."""
    run, titles = statistics.run, statistics.run.titles
    for metric in sorted(statistics.metrics, key=lambda name: name != DISCRIMINATION):
        table = statistics.recovery[statistics.recovery["metric"] == metric]
        for scenario in statistics.scenarios:
            if len(rows := scenario.rows(table)):
                reasons = undefined(rows, titles, run.level_name)
                yield Block(
                    scenario.heading,
                    table=_table(rows, titles, run.level_name) if rows["recovery"].notna().any() else None,
                    remarks=[reason[0].upper() + reason[1:] for reason in reasons],
                    fold=statistics.title(metric),
                )


def _table(recovery: pd.DataFrame, titles: Mapping[str, str], level: LevelName) -> TextTable:
    betas = sorted(map(float, recovery["beta"].unique()))
    rows = []
    for baseline, compared in recovery.groupby("baseline", sort=False):
        most = compared.sort_values("n", ascending=False, kind="stable").drop_duplicates("beta")
        of = f": {titles[str(baseline)]}" if recovery["baseline"].nunique() > 1 else ""
        rows.append([f"changed by the bias{of}", *_cells(most, betas, "planted")])
        rows += [
            [titles[str(technique)], *_cells(recoveries, betas, "recovery")]
            for technique, recoveries in compared.groupby("technique", sort=False)
        ]
    return TextTable(["Technique", *(level_text(level, beta) for beta in betas)], rows)


def _cells(recovery: pd.DataFrame, betas: list[float], name: str) -> Iterator[str]:
    columns = (recovery[column].tolist() for column in ("beta", name, f"{name}_low", f"{name}_high"))
    texts = {beta: with_interval(*interval) for beta, *interval in zip(*columns, strict=True)}
    return (texts[beta] for beta in betas)


def _intervals(statistics: RunStatistics) -> str:
    """Return a note on the intervals of recoveries."""
    protocol = statistics.run.protocol
    variation = "splits, corrected for their overlap" if protocol.overlaps else "training samples only"
    return (
        f"Intervals (95 %, Fieller's) reflect variation between {variation}. Technique and baseline are "
        f"compared on the same samples. {protocol.levels_text}"
    )


def _costs(statistics: RunStatistics) -> str:
    """Return a note on the file with the changes in accuracy, and on their tests."""
    tests = [TEST_TITLES[test] for test, column in COSTS.items() if statistics.recovery[column].notna().any()]
    where = f" on the {' and the '.join(tests)}" if tests else ""
    return f"recovery.csv has every metric, and each technique's change of accuracy{where}."


def undefined(recovery: pd.DataFrame, titles: Mapping[str, str], level: LevelName = "beta") -> Iterator[str]:
    """Yield each reason why recoveries of a scenario are undefined, with techniques and levels of bias."""
    for reason, rows in recovery[recovery["reason"] != ""].groupby("reason", sort=False):
        levels = {
            titles[str(name)]: level_text(level, *sorted(betas))
            for name, betas in rows.groupby("technique", sort=False)["beta"]
        }
        where = "; ".join(f"{title} at {betas}" for title, betas in levels.items())
        if len(set(levels.values())) == 1 and len(levels) == recovery["technique"].nunique():
            where = f"all at {next(iter(levels.values()))}"
        yield f"not defined for {where}: {reason}."
