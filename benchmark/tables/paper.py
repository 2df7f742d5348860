"""Tables in the shape of the paper's Tables 2 to 7, of a run that repeats the paper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.tables.layout import Block, Row, Table
from benchmark.tables.numbers import ACCEPTED, CONSTANT, Numbers

_PREPROCESSING = ("massaging", "reweighing", "uniform_sampling", "preferential_sampling")

_SHAPES = {"baseline": (), "preprocessing": _PREPROCESSING, "repair": ("repair",)}
"""The paper's Tables 2 to 4, and 5 to 7: a name, and the methods in order; without methods, the baselines."""

_PAIRS = ((DISCRIMINATION, ACCURACY, ACCEPTED), ("overestimation", "underestimation"))
"""Metrics of the paper's Tables 2 to 4, with the shares accepted, and of its Tables 5 to 7."""

_Column = tuple[str, Scenario, str]  # the heading of a group of columns, and whose numbers it has


def paper_tables(numbers: Numbers) -> list[Table]:
    """Return the paper's Tables 2 to 7, as far as the run has their techniques and metrics.

    Rows are levels of bias. Columns are the datasets' baselines, or techniques, with a block for each
    dataset. Where accuracy is shown, the best constant answer is a row.
    """
    if numbers.run.experiment.published is None:
        return []
    tables = []
    for number, (pair, (name, methods)) in enumerate(product(_PAIRS, _SHAPES.items()), start=2):
        metrics = [metric for metric in pair if metric in numbers.columns]
        blocks = _blocks(numbers, methods)
        if metrics and blocks:
            tables.append(_table(numbers, f"table{number}_{name}", metrics, blocks))
    return tables


def _blocks(numbers: Numbers, methods: Sequence[str]) -> dict[str, list[_Column]]:
    """Return the columns of each block, by its heading; without methods, those of the baselines."""

    def tried(scenario: Scenario, technique: str) -> bool:
        return (*scenario.key, technique) in numbers.tried

    baselines = [(s.heading, s, str(s.baseline)) for s in numbers.scenarios if tried(s, str(s.baseline))]
    if not methods:
        return {"": baselines} if baselines else {}
    entries = [t for method in methods for t in numbers.run.techniques if t.technique == method]
    shown = [t for t in entries if any(tried(s, t.name) for s in numbers.scenarios)]
    return {
        s.heading: [(t.title, s, t.name) for t in shown]
        for s in numbers.scenarios
        if any(tried(s, t.name) for t in shown)
    }


def _table(numbers: Numbers, name: str, metrics: Sequence[str], blocks: dict[str, list[_Column]]) -> Table:
    titles = [numbers.title(metric) for metric in metrics]
    made = []
    for heading, columns in blocks.items():
        parts = list(product(columns, metrics))
        rows = [
            Row(
                (f"{level:.2f}",),
                tuple(numbers.value((*s.key, level, t), metric) for (_, s, t), metric in parts),
            )
            for level in numbers.run.levels
        ]
        if ACCURACY in metrics:
            rows.append(Row((CONSTANT,), tuple(numbers.constant(s, metric) for (_, s, _), metric in parts)))
        made.append(Block(heading, (heading,) if heading else (), tuple(rows)))
    groups = [title for title, *_ in next(iter(blocks.values()))]
    return Table(
        name=name,
        caption=f"{', '.join(titles)}, as in the paper's Table {name[len('table')]}{numbers.extent}",
        block_names=made[0].names and ("Dataset",),
        row_names=(numbers.run.level_sign,),
        columns=tuple(product(groups, titles)),
        blocks=tuple(made),
        note=f"{numbers.spread} Baselines, signs, data and versions: notes.txt.",
    )
