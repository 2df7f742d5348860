"""One table of all techniques, and the paper's tables, from the numbers of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from benchmark.columns import BLIND, GOAL_METRICS
from benchmark.errors import UnknownNameError
from benchmark.runs.report_frames import by_rows
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.tables.layout import Cell, Row, Table
from benchmark.tables.numbers import ACCEPTED, CONSTANT, Numbers, Where
from benchmark.wording import vocabulary

_MOST_DEFAULT = 4

_PREPROCESSING = ("massaging", "reweighing", "uniform_sampling", "preferential_sampling")
_SHAPES = {"baseline": (), "preprocessing": _PREPROCESSING, "repair": ("repair",)}
"""The paper's Tables 2 to 4, and 5 to 7: a name, and the methods in order; without methods, the baselines."""

_PAIRS = ((DISCRIMINATION, ACCURACY, ACCEPTED), ("overestimation", "underestimation"))
"""Metrics of the paper's Tables 2 to 4, with the shares accepted, and of its Tables 5 to 7."""

_CHANGE = "Change: from the baseline with the same learner, on the same samples, ± half of its 95 % interval."
_TOLD = "{column}: about the bias. {choice}".format_map(vocabulary()["told"])
_NOTES = "Baselines, signs, data and versions: notes.txt."


def techniques_table(numbers: Numbers, columns: Sequence[str] = (), techniques: Sequence[str] = ()) -> Table:
    """Return the table ``techniques``: a block for each dataset and level of bias, a row for each technique.

    ``columns`` are metrics, and ``"accepted"`` for the shares accepted, by default :func:`default_columns`.
    With statistics, the change from the baseline of the same learner stands beside each value. ``techniques``
    are all unless given. The best value of a block and column is bold; where techniques are told something,
    a column says what, and the best of those that know as much is bold. An UnknownNameError says that the
    run has no such metric or technique.
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
    knows, short = run.knows, {entry.name: entry.title for entry in run.techniques}
    told = any(knows[name] != BLIND for name in names)
    blocks: dict[str, list[Row]] = {}
    for heading, scenarios in by_rows(numbers.scenarios):
        for level in scenarios[0].telling_levels(run.levels):
            tried: list[Where] = [
                (*s.key, level, name)
                for s, name in product(scenarios, names)
                if (*s.key, name) in numbers.tried
            ]
            states = {own: [where for where in tried if knows[where[-1]] == own] for own in knows.values()}
            best = {
                metric: {
                    where
                    for own, state in states.items()
                    if own == BLIND or len(state) > 1
                    for where in numbers.nearest(state, metric)
                }
                for metric in columns
            }
            block = (heading, f"{level:g}")
            rows = []
            for where in tried:
                cells = [
                    numbers.change(where, metric)
                    if change
                    else replace(numbers.value(where, metric), best=where in best[metric])
                    for metric, change in parts
                ]
                what = knows[where[-1]] if knows[where[-1]] != BLIND else ""
                rows.append(
                    Row((*block, short[where[-1]], *[what] * told, *[where[2]] * several), tuple(cells))
                )
            if {ACCURACY, DISCRIMINATION} & {*columns} and scenarios[0].best_constant:
                cells = [Cell(text="") if c else numbers.constant(scenarios[0], m) for m, c in parts]
                rows.append(Row((*block, CONSTANT, *[""] * (told + several)), tuple(cells)))
            blocks[f"{heading}, {run.level_text(level)}"] = rows
    return Table(
        name="techniques",
        caption=f"All techniques{numbers.extent}",
        block_names=("Dataset", run.level_sign),
        row_names=("Technique", *[vocabulary()["told"]["column"]] * told, *["Learner"] * several),
        columns=tuple(
            (numbers.title(metric), "change" if change else "value")
            if changes and metric != ACCEPTED
            else ("", numbers.title(metric))
            for metric, change in parts
        ),
        blocks=blocks,
        note=" ".join(
            [numbers.spread, *[_CHANGE] * changes, "Bold: nearest to the ideal.", *[_TOLD] * told, _NOTES]
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


def paper_tables(numbers: Numbers) -> Iterator[Table]:
    """Yield the paper's Tables 2 to 7, as far as a run that repeats the paper has techniques and metrics.

    Rows are levels of bias. Columns are the datasets' baselines, or techniques, with a block for each
    dataset. Where accuracy is shown, the best constant answer is a row.
    """
    run, scenarios = numbers.run, numbers.scenarios
    if run.experiment.published is None:
        return
    for number, (pair, (name, methods)) in enumerate(product(_PAIRS, _SHAPES.items()), start=2):
        metrics = [metric for metric in pair if metric in numbers.columns]
        # The columns of each block: the heading of a group, and whose numbers it has.
        if methods:
            entries = [t for method in methods for t in run.techniques if t.technique == method]
            shown = [t for t in entries if any((*s.key, t.name) in numbers.tried for s in scenarios)]
            groups = {
                s.heading: [(t.title, s, t.name) for t in shown]
                for s in scenarios
                if any((*s.key, t.name) in numbers.tried for t in shown)
            }
        else:
            groups = {
                "": [(s.heading, s, s.baseline) for s in scenarios if (*s.key, s.baseline) in numbers.tried]
            }
        blocks: dict[str, list[Row]] = {}
        for heading, columns in groups.items():
            parts, block = list(product(columns, metrics)), [heading] if heading else []
            rows = [
                Row(
                    (*block, f"{level:.2f}"),
                    tuple(numbers.value((*s.key, level, own), metric) for (_, s, own), metric in parts),
                )
                for level in run.levels
            ]
            if ACCURACY in metrics:
                constant = (numbers.constant(s, metric) for (_, s, _), metric in parts)
                rows.append(Row((*block, CONSTANT), tuple(constant)))
            if parts:
                blocks[heading] = rows
        if blocks:
            titles = [numbers.title(metric) for metric in metrics]
            yield Table(
                name=f"table{number}_{name}",
                caption=f"{', '.join(titles)}, as in the paper's Table {number}{numbers.extent}",
                block_names=("Dataset",) if methods else (),
                row_names=(run.level_sign,),
                columns=tuple(product([title for title, *_ in next(iter(groups.values()))], titles)),
                blocks=blocks,
                note=f"{numbers.spread} {_NOTES}",
            )
