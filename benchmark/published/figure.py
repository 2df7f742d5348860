"""The heat map of a comparison: the difference of each of our numbers from the published one."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from benchmark.figures.heat_grid import Columns, StepColors, draw_cells, short_number
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import styled
from benchmark.published.pairing import TOLERANCES, Comparison
from benchmark.published.text import metric_title, technique_title, ways_of_reading
from benchmark.text.words import sentence

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
    rows = comparison.rows
    betas = sorted(rows["beta"].unique())
    columns = [(dataset, beta) for dataset in rows["dataset"].unique() for beta in betas]
    panels = dict(list(rows.groupby("metric", sort=False)))
    ways = ways_of_reading(comparison)
    lines = {metric: _lines(part, [suffix for _, suffix in ways]) for metric, part in panels.items()}
    reading = {suffix: f", {way}" * bool(suffix) for way, suffix in ways}
    # A panel of few columns must be as wide as its title.
    width = max(_CELL[0], _NARROWEST / len(columns))
    labels = {
        metric: RowLabels(
            [
                f"{technique_title(name, comparison)}  T{table}{reading[suffix]}"
                for table, name, suffix in own
            ],
            width=4.0,
        )
        for metric, own in lines.items()
    }
    across = Columns(columns, str, width)
    page = Page(
        len(panels),
        1,
        panel=(width * len(columns), [_CELL[1] * len(of_panel) for of_panel in lines.values()]),
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
    colors = StepColors(_STEPS, "PuOr_r", 0.04)
    for (metric, part), axes in zip(panels.items(), page.panels, strict=True):
        _draw_panel(axes, part, lines[metric], columns, colors)
        labels[metric].write(axes)
        across.write(axes, len(lines[metric]))
    colors.add_legend(page)
    return page.fit()


def _lines(rows: pd.DataFrame, suffixes: list[str]) -> list[tuple[int, str, str]]:
    """Return table, technique and reading of each line: as printed, and each reading that changes it."""
    lines = []
    pairs = rows[["table", "technique"]].drop_duplicates().sort_values("table", kind="stable")
    for table, technique in pairs.itertuples(index=False, name=None):
        line = rows[(rows["table"] == table) & (rows["technique"] == technique)]
        last = None
        for suffix in suffixes:
            if last is None or not line[f"published{suffix}"].equals(line[f"published{last}"]):
                lines.append((table, technique, suffix))
                last = suffix
    return lines


def _draw_panel(
    axes: Axes,
    rows: pd.DataFrame,
    lines: list[tuple[int, str, str]],
    columns: list[tuple[str, float]],
    colors: StepColors,
) -> None:
    grid = np.full((len(lines), len(columns)), np.nan)
    texts = [[""] * len(columns) for _ in lines]
    for i, (table, technique, suffix) in enumerate(lines):
        line = rows[(rows["table"] == table) & (rows["technique"] == technique)]
        cells = line[["dataset", "beta", f"difference{suffix}"]]
        for dataset, beta, difference in cells.itertuples(index=False):
            j = columns.index((dataset, beta))
            grid[i, j] = difference
            texts[i][j] = "–" if np.isnan(difference) else short_number(difference, signed=True)
    draw_cells(axes, colors(grid), texts)
    for i in range(1, len(lines)):
        if lines[i][0] != lines[i - 1][0]:
            axes.axhline(i - 0.5, color="black", lw=0.8)
