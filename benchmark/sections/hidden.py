"""What bias that the labels hide would make of an answer: a line of the table that the package ships."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmark.columns import GOALS, RESTORE
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import DatasetDescription
from benchmark.sections.goals import WHY_NOT, WORDS
from benchmark.sections.section import Block, Section
from benchmark.statistics.hidden_bias import (
    HIDDEN_BIAS,
    HIDDEN_KIND,
    HiddenBias,
    greatest_hidden,
    hidden_bias_table,
    row_at,
    withheld,
)
from benchmark.text.words import number

TITLE = "What bias that the labels hide makes of this answer"

_EXAMPLE = "--true-rate F=0.4,M=0.42"
_HIDDEN = (0.0, 0.05, 0.1)
"""Hidden doses that are told where nobody knows how much is hidden."""

_BELOW_ZERO = -5e-4  # as shown
_TAU = "τ says how alike techniques rank with hidden bias and in truth: 1 is the same order, 0 no relation."


def section(statistics: RunStatistics, table: pd.DataFrame | None = None) -> Section | None:
    """Return what hidden bias makes of the answers of a first look, or of a run like it."""
    blocks = list(hidden_blocks(statistics, table)) if statistics.run.level_name == "dose" else []
    return Section("hidden", TITLE, blocks[0].notes, [Block(remarks=blocks[0].remarks)]) if blocks else None


def hidden_blocks(statistics: RunStatistics, table: pd.DataFrame | None = None) -> Iterator[Block]:
    """Yield one block where a run has one dataset and one bias, and trains on real rows; else none.

    Of other kinds of bias than the measured one it says that nothing is known.

    ``table`` is that of :func:`~benchmark.statistics.hidden_bias.hidden_bias_table`, by default the shipped
    one.
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
                f"This is not known for the kind of bias {bias.kind!r}: it was measured with {HIDDEN_KIND!r} "
                "alone. All numbers here are against labels as the file has them."
            ],
        )
        return
    if not run.protocol.overlaps:
        return
    table = hidden_bias_table() if table is None else table
    hidden, level = dataset.hidden_dose, bias.highest(levels)
    dose = bias.added(level)
    yield _unknown(table, dose) if hidden is None else _known(table, dataset, hidden, dose)


def _unknown(table: pd.DataFrame, dose: float) -> Block:
    """Say what hidden bias would make of an answer where nobody says how much is hidden."""
    remarks, datasets = [], 0
    for goal in GOALS:
        rows = [row for hidden in _HIDDEN if (row := row_at(table, goal, hidden, dose)) is not None]
        taus = [f"{_tau(row)}{_where(row)}" for row in rows]
        regrets = [f"{number(row.regret)}{_where(row)}" for row in rows]
        datasets = max([datasets, *(row.datasets for row in rows)])
        remarks.append(
            f"{_purpose(goal)}: τ {'; '.join(taus)}. The choice is farther {WORDS[goal].away} than the best "
            "by "
            f"{'; '.join(regrets)}."
        )
    return Block(
        TITLE,
        [
            "All numbers are against labels as the file has them, and nobody knows how much bias these hide. "
            f"On {datasets} other datasets some was hidden first, and more planted on top. {_TAU}"
        ],
        remarks=[*remarks, f"Rates from outside the file say how much is hidden here: {_EXAMPLE}."],
    )


def _known(table: pd.DataFrame, dataset: DatasetDescription, hidden: float, dose: float) -> Block:
    """Say what the bias that outside rates tell of makes of an answer."""
    rates = dataset.entry.true_rates or {}
    given = rates["favored"] - rates["deprived"]
    notes = [
        f"The label gap is {number(dataset.recorded_gap)} in the file and {number(given)} by the outside "
        "rates: "
        f"the labels hide a dose of {number(hidden)}."
    ]
    if hidden < _BELOW_ZERO:
        notes.append(
            "Below 0 means that labels are kinder to the deprived group than these rates. What that makes of "
            "the answer was not measured."
        )
        return Block(TITLE, [" ".join(notes)])
    hidden, remarks = max(hidden, 0.0), []
    if hidden > greatest_hidden(table):
        most = greatest_hidden(table)
        notes.append(f"What so much makes of the answer is not known: at most {most:g} was measured.")
    else:
        rows = [row for goal in GOALS if (row := row_at(table, goal, hidden, dose)) is not None]
        notes.append(
            f"Measured at a hidden dose of {rows[0].hidden:g}, the nearest at or above it, with a dose of "
            f"{rows[0].dose:g} planted on top. {_TAU}"
        )
        remarks = [_line(row) for row in rows]
    if withheld(table, hidden, dose, RESTORE):
        remarks.append(WHY_NOT[HIDDEN_BIAS])
    return Block(TITLE, [" ".join(notes)], remarks=remarks)


def _line(row: HiddenBias) -> str:
    """Return a row of the table in words."""
    low, high = number(row.regret_low), number(row.regret_high)
    return (
        f"{_purpose(row.goal)}, on {row.datasets} datasets: τ {_tau(row)}; with themselves, in halves of the "
        f"repetitions, ranks agree by {row.ceiling:.2f}. The choice is {number(row.regret)} [{low}, {high}] "
        f"farther {WORDS[row.goal].away} than the best; always dropping the sensitive feature "
        f"{number(row.drop_regret)}, doing nothing {number(row.nothing_regret)}."
    )


def _purpose(goal: str) -> str:
    purpose = WORDS[goal].purpose
    return purpose[0].upper() + purpose[1:]


def _tau(row: HiddenBias) -> str:
    return f"{row.tau:.2f} [{row.tau_low:.2f}, {row.tau_high:.2f}]"


def _where(row: HiddenBias) -> str:
    return f" with {row.hidden:g} hidden" if row.hidden else " with nothing hidden"
