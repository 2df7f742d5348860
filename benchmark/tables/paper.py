"""Tables in the shape of the paper's Tables 2 to 7, of a run that repeats the paper."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY, DISCRIMINATION
from benchmark.tables.layout import Block, Row, Table
from benchmark.tables.numbers import ACCEPTED, CONSTANT, Numbers

_PREPROCESSING = ("massaging", "reweighing", "uniform_sampling", "preferential_sampling")

_SHAPES = (
    ("preprocessing", "pre-processing techniques", _PREPROCESSING),
    ("repair", "repair", ("repair",)),
)
"""The paper's Tables 3 and 6, and 4 and 7: a name, a subject, and the methods in the paper's order."""

_PAIRS = {2: (DISCRIMINATION, ACCURACY), 5: ("overestimation", "underestimation")}
"""Metrics of the paper's Tables 2 to 4, and of its Tables 5 to 7."""


def paper_tables(numbers: Numbers) -> list[Table]:
    """Return the paper's Tables 2 to 7, as far as the run has their techniques and metrics.

    Beside accuracy stand the shares accepted, and the best constant answer is a row.
    """
    if numbers.run.experiment.published is None:
        return []
    tables: list[Table | None] = []
    for first, pair in _PAIRS.items():
        metrics = [name for name in pair if name in numbers.metrics]
        if ACCURACY in metrics and numbers.means["metric"].eq(ACCEPTANCE[0]).any():
            metrics.append(ACCEPTED)
        if metrics:
            tables.append(_baselines(numbers, f"table{first}_baseline", metrics))
            tables += [
                _by_technique(numbers, f"table{number}_{name}", subject, methods, metrics)
                for number, (name, subject, methods) in enumerate(_SHAPES, start=first + 1)
            ]
    return [table for table in tables if table is not None]


def _baselines(numbers: Numbers, name: str, metrics: Sequence[str]) -> Table | None:
    """Return a table in the shape of Tables 2 and 5: rows are levels of bias, columns datasets."""
    shown = [(s, str(s.baseline)) for s in numbers.scenarios if (*s.key, s.baseline) in numbers.tried]
    baselines = "; ".join(f"{s.heading}: {numbers.run.titles[baseline]}" for s, baseline in shown)
    blocks = [Block("", (), _rows(numbers, shown, metrics))] if shown else []
    note = f" Baselines: {baselines}."
    return _table(numbers, name, "no technique", metrics, [s.heading for s, _ in shown], blocks, note)


def _by_technique(
    numbers: Numbers, name: str, subject: str, methods: Sequence[str], metrics: Sequence[str]
) -> Table | None:
    """Return a table in the shape of Tables 3, 4, 6 and 7: rows are levels of bias, columns techniques."""
    techniques = [
        t
        for method in methods
        for t in numbers.run.techniques
        if t.technique == method and any((*s.key, t.name) in numbers.tried for s in numbers.scenarios)
    ]
    blocks = [
        Block(s.heading, (s.heading,), _rows(numbers, [(s, t.name) for t in techniques], metrics))
        for s in numbers.scenarios
        if any((*s.key, t.name) in numbers.tried for t in techniques)
    ]
    return _table(numbers, name, subject, metrics, [t.title for t in techniques], blocks)


def _rows(
    numbers: Numbers, columns: Sequence[tuple[Scenario, str]], metrics: Sequence[str]
) -> tuple[Row, ...]:
    """Return a row for each level of bias, and one for the best constant answer where accuracy is shown."""
    rows = [
        Row(
            (f"{level:.2f}",),
            tuple(numbers.value((*s.key, level, name), m) for s, name in columns for m in metrics),
        )
        for level in numbers.run.levels
    ]
    if ACCURACY in metrics:
        cells = (numbers.constant(scenario, metric) for scenario, _ in columns for metric in metrics)
        rows.append(Row((CONSTANT,), tuple(cells)))
    return tuple(rows)


def _table(
    numbers: Numbers,
    name: str,
    subject: str,
    metrics: Sequence[str],
    groups: Sequence[str],
    blocks: Sequence[Block],
    more: str = "",
) -> Table | None:
    """Return a table with each metric in each group of columns; None if nothing is shown."""
    if not blocks:
        return None
    titles = [numbers.title(metric) for metric in metrics]
    return Table(
        name=name,
        caption=f"{', '.join(titles)}: {subject}{numbers.extent}",
        block_names=("Dataset",) if blocks[0].heading else (),
        row_names=(numbers.run.level_sign,),
        columns=tuple((group, title) for group in groups for title in titles),
        blocks=tuple(blocks),
        note=f"{numbers.spread}{more} Signs, data and versions: notes.txt.",
    )
