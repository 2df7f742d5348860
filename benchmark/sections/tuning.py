"""Tuned techniques beside default settings and an oracle, and the cost of choosing on biased rows."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.tuning import CHOSEN_ON
from benchmark.text.words import share, with_interval

READING = (
    "Regret is the loss in the rule's objective, on the original test, against the setting that the test "
    "rows themselves would choose (the oracle). A setting may have a better objective than the oracle's "
    "because it breaks the constraint. The last columns show how often. Means over techniques; intervals "
    "(95 %) are over training samples."
)

CHOICES = {
    "default": "default",
    "biased": "tuned on biased rows",
    "clean": "tuned on clean rows",
    "oracle": "oracle",
}
"""Names of the choices of a setting, for readers."""


def section(statistics: RunStatistics) -> Section | None:
    """Return the mean regrets over techniques, if some were tuned."""
    if statistics.regret.empty:
        return None
    return Section(
        "tuning",
        "What it costs to tune on biased rows",
        (f"Rule: {statistics.run.tuned_by}.", READING),
        list(_blocks(statistics)),
        files={"regret": "loss of settings chosen on biased or on clean rows, against the oracle's settings"},
        figures={"regret": "What it costs to choose settings on biased rows"},
    )


def choices_of(statistics: RunStatistics) -> list[str]:
    """Return the choices of settings in this run, in order."""
    assert statistics.tuning is not None
    choices = set(statistics.tuning["chosen_on"])
    return [on for on in CHOSEN_ON if on in choices]


def pooled(statistics: RunStatistics, against: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield heading and mean regrets over techniques, of all datasets together and then of each."""
    table = statistics.regret
    table = table[(table["technique"] == "") & (table["against"] == against)]
    several = [column for column in ("bias", "classifier") if table[column].nunique() > 1]
    headings = {dataset.name: dataset.heading for dataset in statistics.run.datasets}
    table = table.sort_values("dataset", key=lambda names: names != "", kind="stable")
    for (dataset, *_), regrets in table.groupby(["dataset", "bias", "classifier"], sort=False):
        heading = headings.get(str(dataset), "All datasets")
        yield ", ".join([heading, *(str(regrets[column].iloc[0]) for column in several)]), regrets


def _blocks(statistics: RunStatistics) -> Iterator[Block]:
    """Yield the mean regrets over techniques, with the share of fits that break the constraint."""
    for heading, regrets in pooled(statistics, "oracle"):
        names = [on for on in CHOSEN_ON if on in set(regrets["chosen_on"])]
        rows = []
        for beta, at_level in regrets.groupby("beta"):
            by_choice = at_level.set_index("chosen_on")
            numbers = by_choice.loc[names, ["regret", "regret_low", "regret_high"]].to_numpy(dtype=float)
            beyond = [*by_choice.loc[names, "breaks"], at_level["breaks_against"].iloc[0]]
            rows.append([f"{beta:g}", *(with_interval(*row) for row in numbers), *map(share, beyond)])
        titles = [CHOICES[on] for on in names]
        headings = [statistics.run.level_sign, *(f"regret, {title}" for title in titles)]
        headings += [f"beyond, {title}" for title in (*titles, CHOICES["oracle"])]
        # A dose that takes nearly all of a dataset's labels leaves the dataset out of the pool.
        counts = regrets.drop_duplicates("beta").sort_values("beta")["n_techniques"].astype(int)
        fits = " or ".join(str(n) for n in dict.fromkeys(counts))
        yield Block(f"{heading} ({fits} fits in each repetition)", table=TextTable(headings, rows))
