"""Tuned techniques beside their default settings and an oracle, and what choosing on biased rows costs."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.report_table import Cell, ReportTable, Row, RowGroup
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.tuning import CHOSEN_ON, means_of_choices
from benchmark.text.words import number, share, with_interval

READING = (
    "Regret is by how much the objective of the rule is worse, on the original test, than with the setting "
    "that the test rows themselves would have chosen (the oracle); above 0 is a loss. A setting may have a "
    "better objective than the oracle's because it breaks the constraint: how often is in the columns after "
    "it. Means over techniques; intervals (95 %) are over training samples."
)

CHOICES = {
    "default": "default",
    "biased": "tuned on biased rows",
    "clean": "tuned on clean rows",
    "oracle": "oracle",
}
"""Names of what a setting is chosen on, for readers."""


def section(statistics: RunStatistics) -> Section | None:
    """Return the regrets that are means over techniques, where some were tuned."""
    if statistics.regret.empty:
        return None
    return Section(
        "tuning",
        "What it costs to tune on biased rows",
        (f"Rule: {statistics.run.tuned_by}.", READING),
        list(_blocks(statistics)),
        files={
            "regret": "what settings chosen on biased or on clean rows lose to those that the test rows "
            "would choose"
        },
        figures={"regret": "What it costs to choose settings on biased rows"},
    )


def choices_of(statistics: RunStatistics) -> list[str]:
    """Return what settings were chosen on, in order."""
    assert statistics.tuning is not None
    known = set(statistics.tuning["chosen_on"])
    return [on for on in CHOSEN_ON if on in known]


def pooled(statistics: RunStatistics, against: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield heading and regrets, as means over techniques, of all datasets together and then of each."""
    table = statistics.regret
    table = table[(table["technique"] == "") & (table["against"] == against)]
    several = [column for column in ("bias", "classifier") if table[column].nunique() > 1]
    known = {dataset.name: dataset.heading for dataset in statistics.run.datasets}
    table = table.sort_values("dataset", key=lambda own: own != "", kind="stable")
    for _, own in table.groupby(["dataset", "bias", "classifier"], sort=False):
        heading = known.get(str(own["dataset"].iloc[0]), "All datasets")
        yield ", ".join([heading, *(str(own[column].iloc[0]) for column in several)]), own


def _blocks(statistics: RunStatistics) -> Iterator[Block]:
    """Yield the regrets that are means over techniques, with how many fits break the constraint."""
    for heading, own in pooled(statistics, "oracle"):
        names = [on for on in CHOSEN_ON if on in set(own["chosen_on"])]
        rows = []
        for beta, at in own.groupby("beta"):
            found = at.set_index("chosen_on")
            numbers = found.loc[names, ["regret", "regret_low", "regret_high"]].to_numpy(dtype=float)
            beyond = [*found.loc[names, "breaks"], at["breaks_against"].iloc[0]]
            rows.append([f"{beta:g}", *(with_interval(*one) for one in numbers), *map(share, beyond)])
        titles = [CHOICES[on] for on in names]
        headings = [statistics.run.level_sign, *(f"regret, {one}" for one in titles)]
        headings += [f"beyond, {one}" for one in (*titles, CHOICES["oracle"])]
        # A dose that takes nearly all there is on a dataset leaves that dataset out of what is pooled.
        counts = own.sort_values("beta", kind="stable").drop_duplicates("beta")["n_techniques"].astype(int)
        fits = " or ".join(str(n) for n in dict.fromkeys(counts))
        yield Block(f"{heading} ({fits} fits in each repetition)", table=TextTable(headings, rows))


def tuning_table(statistics: RunStatistics) -> ReportTable:
    """Build the table ``tuning``: discrimination and accuracy with each choice of a setting."""
    assert statistics.tuning is not None
    run, names = statistics.run, choices_of(statistics)
    means = means_of_choices(statistics.tuning, ("discrimination", "accuracy"))
    betas = sorted(means["beta"].unique())
    several = [column for column in ("bias", "classifier") if means[column].nunique() > 1]
    blocks = []
    for (dataset, *_), own in means.groupby(["dataset", "bias", "classifier"], sort=False):
        rows = []
        for technique, of in own.groupby("of", sort=False):
            cells = tuple(_cell(of, beta, on) for beta in betas for on in names)
            rows.append(Row(run.titles[str(technique)], cells))
        more = [str(own[column].iloc[0]) for column in several]
        blocks.append(RowGroup(", ".join([run.dataset(str(dataset)).heading, *more]), tuple(rows)))
    return ReportTable(
        "tuning",
        "Discrimination / accuracy on the original test, with the default setting and with settings chosen",
        ("Dataset", "Technique"),
        tuple(map(run.level_text, betas)),
        tuple(CHOICES[on] for on in names),
        tuple(blocks),
        (
            f"Rule: {run.tuned_by}. Means over {run.repetitions_text}.",
            "Clean rows nobody has, and the oracle chooses by the labels of the test rows: neither is a "
            "choice for anybody, and neither is recommended, ranked or tested.",
        ),
    )


def _cell(means: pd.DataFrame, beta: float, chosen_on: str) -> Cell:
    found = means[(means["beta"] == beta) & (means["chosen_on"] == chosen_on)]
    if found.empty:
        return Cell(text="–")
    discrimination, accuracy = found[["discrimination", "accuracy"]].to_numpy(dtype=float)[0]
    return Cell(text=f"{number(discrimination)} / {number(accuracy)}")
