"""Tuned techniques beside default settings and an oracle, and the cost of choosing on biased rows."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.report_table import Cell, ReportTable, Row, RowGroup
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.tuning import CHOSEN_ON, means_of_choices
from benchmark.text.words import number, share, with_interval

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


def tuning_table(statistics: RunStatistics) -> ReportTable:
    """Return the table ``tuning``: discrimination and accuracy with each choice of a setting."""
    assert statistics.tuning is not None
    run, names = statistics.run, choices_of(statistics)
    means = means_of_choices(statistics.tuning, ("discrimination", "accuracy"))
    betas = sorted(means["beta"].unique())
    several = [column for column in ("bias", "classifier") if means[column].nunique() > 1]
    blocks = []
    for (dataset, *_), of_scenario in means.groupby(["dataset", "bias", "classifier"], sort=False):
        rows = tuple(
            Row(run.titles[str(name)], tuple(_cell(cells, beta, on) for beta in betas for on in names))
            for name, cells in of_scenario.groupby("of", sort=False)
        )
        more = [str(of_scenario[column].iloc[0]) for column in several]
        blocks.append(RowGroup(", ".join([run.dataset(str(dataset)).heading, *more]), rows))
    return ReportTable(
        "tuning",
        "Discrimination / accuracy on the original test, with the default setting and with settings chosen",
        ("Dataset", "Technique"),
        tuple(map(run.level_text, betas)),
        tuple(CHOICES[on] for on in names),
        tuple(blocks),
        (
            f"Rule: {run.tuned_by}. Means over {run.repetitions_text}.",
            "Clean rows and the labels of test rows are not available in practice. So settings chosen on "
            "clean rows and the oracle's are never recommended, ranked or tested.",
        ),
    )


def _cell(means: pd.DataFrame, beta: float, chosen_on: str) -> Cell:
    rows = means[(means["beta"] == beta) & (means["chosen_on"] == chosen_on)]
    if rows.empty:
        return Cell(text="–")
    discrimination, accuracy = rows[["discrimination", "accuracy"]].to_numpy(dtype=float)[0]
    return Cell(text=f"{number(discrimination)} / {number(accuracy)}")
