"""The effect of hidden bias in labels on an answer: a line of the shipped table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from benchmark.columns import GOALS, RESTORE
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import DatasetDescription
from benchmark.runs.manifest import Manifest
from benchmark.sections.goals import WHY_NOT, WORDS
from benchmark.sections.section import Block, Section
from benchmark.statistics.hidden_bias import (
    HIDDEN_BIAS,
    HIDDEN_CLASSIFIER,
    HIDDEN_KIND,
    HiddenBias,
    greatest_hidden,
    hidden_bias_table,
    row_at,
    withheld,
)
from benchmark.text.words import number

TITLE = "What bias that the labels hide makes of this answer"

_EXAMPLE = "--true-rate deprived=0.4,favored=0.42"  # names that every file takes
_HIDDEN = (0.0, 0.05, 0.1)
"""Hidden doses that are shown if the hidden dose is unknown."""

_BELOW_ZERO = -5e-4  # as shown
_READING = (
    "τ compares ranks under the planted dose with true ranks: by true labels, without the dose. 1 is the "
    "same order, 0 no relation. The choice is the technique that ranks first under the dose, recommended or "
    "not. Here brackets are 95 % intervals over those datasets."
)

_BY = ("the choice", "dropping the sensitive feature", "doing nothing")


def section(statistics: RunStatistics, table: pd.DataFrame | None = None) -> Section | None:
    """Return the effect of hidden bias on the answers of a first look, or of a run like it."""
    blocks = list(hidden_blocks(statistics, table)) if statistics.run.level_name == "dose" else []
    return Section("hidden", TITLE, blocks[0].notes, [Block(remarks=blocks[0].remarks)]) if blocks else None


def hidden_blocks(statistics: RunStatistics, table: pd.DataFrame | None = None) -> Iterator[Block]:
    """Yield one block if a run has one dataset and one bias and trains on real rows; else none.

    For other kinds of bias than the measured one, the block says that nothing is known. ``table`` is the
    shipped :func:`~benchmark.statistics.hidden_bias.hidden_bias_table` by default.
    """
    run = statistics.run
    levels = [level for level in statistics.answers["beta"].unique() if level > 0]
    if len(run.datasets) != 1 or len(run.datasets[0].bias) != 1 or not levels:
        return
    (dataset,) = run.datasets
    (bias,) = dataset.bias
    if bias.kind != HIDDEN_KIND:
        yield Block(
            TITLE,
            [
                f"This is not known for the kind of bias {bias.kind!r}. It was measured only with "
                f"{HIDDEN_KIND!r}. All numbers here compare with the labels of the file."
            ],
        )
        return
    if not run.protocol.overlaps:
        return
    table = hidden_bias_table() if table is None else table
    hidden, level = dataset.hidden_dose, bias.highest(levels)
    dose = bias.added(level)
    block = _unknown(table, dose) if hidden is None else _known(table, dataset, hidden, dose)
    yield replace(block, notes=[" ".join([*block.notes, *_measured_with(run)])])


def _measured_with(run: Manifest) -> Iterator[str]:
    """Yield sentences on the classifier of the measurement, and on others in the run."""
    yield f"It was measured with the classifier {HIDDEN_CLASSIFIER}."
    if others := [name for name in run.classifiers if name != HIDDEN_CLASSIFIER]:
        yield f"This run used {' and '.join(others)}, for which it is not known."


def _unknown(table: pd.DataFrame, dose: float) -> Block:
    """Return the effect of hidden bias on an answer if the hidden dose is unknown."""
    remarks: list[str] = []
    datasets: set[int] = set()
    for goal in GOALS:
        rows = [row for hidden in _HIDDEN if (row := row_at(table, goal, hidden, dose)) is not None]
        datasets |= {row.datasets for row in rows}
        taus = "; ".join(f"{_tau(row)} {_where(row)}" for row in rows)
        values = "; ".join(f"{', '.join(map(number, _regrets(row)))} {_where(row)}" for row in rows)
        remarks += [
            f"{_purpose(goal)}: τ {taus}.",
            f"{_purpose(goal)}, how much farther {WORDS[goal].away} than the best technique are "
            f"{', '.join(_BY)}: {values}. {_best_rule(rows)}",
        ]
    several = " to ".join(map(str, sorted({min(datasets), max(datasets)})))
    return Block(
        TITLE,
        [
            "All numbers compare with the labels of the file, which hide an unknown amount of bias. On "
            f"{several} datasets of this program, some bias was hidden first and more was planted on top. "
            f"{_READING}"
        ],
        remarks=[
            *remarks,
            f"Give true rates from outside the file with {_EXAMPLE}. They show the amount of hidden bias.",
        ],
    )


def _known(table: pd.DataFrame, dataset: DatasetDescription, hidden: float, dose: float) -> Block:
    """Return the effect on an answer of the hidden bias that outside rates show."""
    rates = dataset.entry.true_rates or {}
    true_gap = rates["favored"] - rates["deprived"]
    notes = [
        f"The label gap is {number(dataset.recorded_gap)} in the file and {number(true_gap)} by the outside "
        f"rates: the labels hide a dose of {number(hidden)}."
    ]
    if hidden < _BELOW_ZERO:
        notes.append(
            "Below 0, labels are kinder to the deprived group than these rates. The effect of that on the "
            "answer was not measured."
        )
        return Block(TITLE, [" ".join(notes)])
    hidden, remarks = max(hidden, 0.0), []
    if hidden > greatest_hidden(table):
        most = greatest_hidden(table)
        notes.append(f"The effect of so much on the answer is not known: at most {most:g} was measured.")
    else:
        rows = [row for goal in GOALS if (row := row_at(table, goal, hidden, dose)) is not None]
        notes.append(
            f"Measured at a hidden dose of {rows[0].hidden:g}, the nearest at or above it, with a dose of "
            f"{rows[0].dose:g} planted on top. {_READING}"
        )
        remarks = [_line(row) for row in rows]
    if withheld(table, hidden, dose, RESTORE):
        remarks.append(WHY_NOT[HIDDEN_BIAS])
    return Block(TITLE, [" ".join(notes)], remarks=remarks)


def _line(row: HiddenBias) -> str:
    """Return a row of the table in words."""
    chosen, dropped, nothing = map(number, _regrets(row))
    low, high = number(row.regret_low), number(row.regret_high)
    return (
        f"{_purpose(row.goal)}, on {row.datasets} datasets: τ {_tau(row)}. Chance alone would leave "
        f"{row.ceiling:.2f}. Farther {WORDS[row.goal].away} than the best technique: the choice by {chosen} "
        f"[{low}, {high}], dropping the sensitive feature by {dropped}, doing nothing by {nothing}. "
        f"{_best_rule([row])}"
    )


def _regrets(row: HiddenBias) -> tuple[float, float, float]:
    """Return the regrets of the choice and of two simple rules, against the best technique."""
    return row.regret, row.drop_regret, row.nothing_regret


def _best_rule(rows: Sequence[HiddenBias]) -> str:
    """Return a sentence on the best of the choice and the two simple rules, on average."""
    regrets = [[round(regret, 3) for regret in _regrets(row)] for row in rows]
    if any(values.count(min(values)) > 1 for values in regrets):
        return "On average the nearest of the three are tied, at least once."
    nearest = {_BY[values.index(min(values))] for values in regrets}
    if len(nearest) == 1:
        return f"On average {nearest.pop()} is best of the three."
    if _BY[0] not in nearest:
        return "On average the choice is never best of the three."
    return "On average none of the three is always best."


def _purpose(goal: str) -> str:
    purpose = WORDS[goal].purpose
    return purpose[0].upper() + purpose[1:]


def _tau(row: HiddenBias) -> str:
    return f"{row.tau:.2f} [{row.tau_low:.2f}, {row.tau_high:.2f}]"


def _where(row: HiddenBias) -> str:
    return f"with {row.hidden:g} hidden" if row.hidden else "with nothing hidden"
