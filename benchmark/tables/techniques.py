"""One table of all techniques, whatever their learner: values, and changes from each learner's baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmark.columns import GOAL_METRICS
from benchmark.errors import UnknownNameError
from benchmark.runs.report_frames import Scenario, by_rows
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.tables.layout import Block, Cell, Row, Table
from benchmark.tables.numbers import ACCEPTED, CONSTANT, Numbers, Where

_MOST_DEFAULT = 4


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
    parts = [
        (metric, change)
        for metric in columns
        for change in ((False, True) if changes and metric != ACCEPTED else (False,))
    ]
    several = len({scenario.classifier for scenario in numbers.scenarios}) > 1

    def row(where: Where, scenario: Scenario, best: Mapping[str, set[Where]]) -> Row:
        cells = (
            numbers.change(where, metric)
            if change
            else replace(numbers.value(where, metric), best=where in best[metric])
            for metric, change in parts
        )
        return Row((run.titles[where[-1]], *([scenario.classifier] if several else [])), tuple(cells))

    def block(heading: str, level: float, scenarios: Sequence[Scenario]) -> Block:
        cells: dict[Where, Scenario] = {
            (*s.key, level, name): s for s in scenarios for name in names if (*s.key, name) in numbers.tried
        }
        best = {metric: numbers.nearest(list(cells), metric) for metric in columns}
        rows = [row(where, scenario, best) for where, scenario in cells.items()]
        if {ACCURACY, DISCRIMINATION} & {*columns} and scenarios[0].best_constant:
            constant = (
                Cell(text="") if change else numbers.constant(scenarios[0], metric)
                for metric, change in parts
            )
            rows.append(Row((CONSTANT, *([""] if several else [])), tuple(constant)))
        return Block(f"{heading}, {run.level_text(level)}", (heading, f"{level:g}"), tuple(rows))

    blocks = [
        block(heading, level, scenarios)
        for heading, _, scenarios in by_rows(numbers.scenarios)
        for level in scenarios[0].telling_levels(run.levels)
    ]
    words = (
        "Change: from the baseline with the same learner, on the same samples, ± half of its 95 % interval."
    )
    return Table(
        name="techniques",
        caption=f"All techniques{numbers.extent}",
        block_names=("Dataset", run.level_sign),
        row_names=("Technique", *(["Learner"] if several else [])),
        columns=tuple(
            (numbers.title(metric), "change" if change else "value")
            if changes and metric != ACCEPTED
            else ("", numbers.title(metric))
            for metric, change in parts
        ),
        blocks=tuple(blocks),
        note=" ".join(
            [
                *(numbers.spread, *([words] if changes else []), "Bold: nearest to the ideal."),
                "Baselines, signs, data and versions: notes.txt.",
            ]
        ),
    )


def default_columns(numbers: Numbers) -> list[str]:
    """Return the metrics of both goals and accuracy, and the shares accepted.

    Where discrimination is no headline metric of the run, its first headline metrics stand for the former.
    """
    goals = [name for name in (*GOAL_METRICS.values(), ACCURACY) if name in numbers.metrics]
    headline = [m.name for m in numbers.run.shown.metrics if m.name in numbers.metrics] or numbers.metrics
    chosen = goals if DISCRIMINATION in headline and len(goals) > 1 else headline[:_MOST_DEFAULT]
    return [*chosen, *(name for name in numbers.columns if name == ACCEPTED)]
