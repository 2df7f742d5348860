"""One table of all techniques, from the numbers of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from benchmark.columns import GOAL_METRICS
from benchmark.errors import UnknownNameError
from benchmark.runs.report_frames import by_rows
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.tables.layout import Cell, Row, Table
from benchmark.tables.numbers import ACCEPTED, CONSTANT, Numbers, Where

_MOST_DEFAULT = 4

_CHANGE = "Change: from the baseline with the same learner, on the same samples, ± half of its 95 % interval."
_NOTES = "Baselines, signs, data and versions: notes.txt."


def techniques_table(numbers: Numbers, columns: Sequence[str] = (), techniques: Sequence[str] = ()) -> Table:
    """Return the table ``techniques``: a block for each dataset and level of bias, a row for each technique.

    ``columns`` are metrics, and ``"accepted"`` for the shares accepted, by default :func:`default_columns`.
    With statistics, the change from the baseline of the same learner stands beside each value. ``techniques``
    are all unless given. The best value of a block and column is bold. An UnknownNameError says that the run
    has no such metric or technique.
    """
    run = numbers.run
    columns, names = columns or default_columns(numbers), list(run.titles)
    for kind, given, known in (
        ("column", columns, numbers.columns),
        ("technique in this run", techniques, names),
    ):
        if unknown := [name for name in given if name not in known]:
            raise UnknownNameError(kind, unknown[0], known)
    names = list(techniques) or names
    changes = numbers.compared is not None
    # A metric, and whether its change is shown.
    parts = [part for part in product(columns, (False, True)[: 1 + changes]) if part != (ACCEPTED, True)]
    several = len({scenario.classifier for scenario in numbers.scenarios}) > 1
    blocks: dict[str, list[Row]] = {}
    for heading, scenarios in by_rows(numbers.scenarios):
        for level in scenarios[0].telling_levels(run.levels):
            tried: list[Where] = [
                (*s.key, level, name)
                for s, name in product(scenarios, names)
                if (*s.key, name) in numbers.tried
            ]
            best = {metric: numbers.nearest(tried, metric) for metric in columns}
            block = (heading, f"{level:g}")
            rows = []
            for where in tried:
                cells = [
                    numbers.change(where, metric)
                    if change
                    else replace(numbers.value(where, metric), best=where in best[metric])
                    for metric, change in parts
                ]
                rows.append(Row((*block, run.titles[where[-1]], *[where[2]] * several), tuple(cells)))
            if {ACCURACY, DISCRIMINATION} & {*columns} and scenarios[0].best_constant:
                cells = [Cell(text="") if c else numbers.constant(scenarios[0], m) for m, c in parts]
                rows.append(Row((*block, CONSTANT, *[""] * several), tuple(cells)))
            blocks[f"{heading}, {run.level_text(level)}"] = rows
    return Table(
        name="techniques",
        caption=f"All techniques{numbers.extent}",
        block_names=("Dataset", run.level_sign),
        row_names=("Technique", "Learner")[: 1 + several],
        columns=tuple(
            (numbers.title(metric), "change" if change else "value")
            if changes and metric != ACCEPTED
            else ("", numbers.title(metric))
            for metric, change in parts
        ),
        blocks=blocks,
        note=" ".join([numbers.spread, *[_CHANGE] * changes, "Bold: nearest to the ideal.", _NOTES]),
    )


def default_columns(numbers: Numbers) -> list[str]:
    """Return the metrics of both goals and accuracy, and the shares accepted.

    Where discrimination is no headline metric of the run, its first headline metrics stand for the former.
    """
    goals = [name for name in (*GOAL_METRICS.values(), ACCURACY) if name in numbers.metrics]
    headline = [m.name for m in numbers.run.shown.metrics if m.name in numbers.metrics] or numbers.metrics
    chosen = goals if DISCRIMINATION in headline and len(goals) > 1 else headline[:_MOST_DEFAULT]
    return [*chosen, *(name for name in numbers.columns if name == ACCEPTED)]
