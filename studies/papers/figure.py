"""The heat map of a comparison: the difference of each of our numbers from the published one."""

from collections.abc import Hashable
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmark.figures.heat import add_steps, draw_cells, short_number, step_colors, write_columns
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import styled
from benchmark.text.words import sentence
from studies.papers.pairing import TOLERANCES, Comparison
from studies.papers.text import metric_title, technique_title, ways_of_reading

_CELL = (0.46, 0.21)
_NARROWEST = 1.6
_STEPS = (*TOLERANCES, 0.1, 0.2)


@styled()
def draw_differences(comparison: Comparison) -> Page:
    """Return a figure of ours minus published, a panel per metric.

    Rows are the techniques of each table, columns the datasets by beta. A row that another reading of the
    published numbers changes follows again in that reading. Color changes at the tolerances, and every
    difference is printed in its cell.
    """
    rows = comparison.rows.sort_values("table", kind="stable")
    columns = list(product(comparison.rows["dataset"].unique(), sorted(rows["beta"].unique())))
    panels = {metric: rows[rows["metric"] == metric] for metric in comparison.rows["metric"].unique()}
    lines = {metric: _lines(part, comparison, columns) for metric, part in panels.items()}
    # A panel of few columns must be as wide as its title.
    width = max(_CELL[0], _NARROWEST / len(columns))
    labels = {metric: RowLabels([line.label for line in own], width=4.0) for metric, own in lines.items()}
    page = Page(
        len(panels),
        1,
        panel=(width * len(columns), [_CELL[1] * len(own) for own in lines.values()]),
        title="Ours minus published",
        subtitle=(f"{comparison.warning}. " if comparison.warning else "")
        + f"Means of the experiment {comparison.run.name} against {comparison.entry.title}. "
        "Rows: technique and published table; columns: β and published dataset.",
        notes=[
            "Dash: no counterpart in this run. Empty: nothing published. comparison.md counts what agrees.",
            *(f"Warning, {d.name}: {sentence(str(d.warning))}" for d in comparison.datasets if d.warning),
        ],
        panel_titles=[metric_title(str(metric)) for metric in panels],
    )
    colors = step_colors(_STEPS, "PuOr_r", 0.04)
    for (metric, own), axes in zip(lines.items(), page.panels, strict=True):
        draw_cells(axes, np.array([line.differences for line in own]), colors, [line.texts for line in own])
        for i, (above, below) in enumerate(pairwise(own)):
            if above.table != below.table:
                axes.axhline(i + 0.5, color="black", lw=0.8)
        labels[metric].write(axes)
        write_columns(axes, columns, width)
    add_steps(page, colors)
    return page.fit()


class _Line(NamedTuple):
    """Differences of a technique in a published table, in one reading."""

    label: str
    table: Hashable
    differences: pd.Series
    texts: list[str]


def _lines(rows: pd.DataFrame, comparison: Comparison, columns: list[tuple[str, float]]) -> list[_Line]:
    """Return the lines of a metric: as printed, and each reading that changes them."""
    lines = []
    for (table, technique), line in rows.groupby(["table", "technique"], sort=False):
        cells, last = line.set_index(["dataset", "beta"]), None
        for way, suffix in ways_of_reading(comparison):
            published = cells[f"published{suffix}"]
            if last is None or not published.equals(last):
                apart = cells[f"difference{suffix}"]
                texts = apart.map(lambda value: short_number(value, signed=True))
                reading = f", {way}" * bool(suffix)
                lines.append(
                    _Line(
                        f"{technique_title(str(technique), comparison)}  T{table}{reading}",
                        table,
                        apart.reindex(columns),
                        [texts.get(column, "") for column in columns],
                    )
                )
            last = published
    return lines
