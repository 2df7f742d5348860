"""The heat map of a comparison: how far each of ours is from its published number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from benchmark.figures.heat_grid import LINE, add_step_colorbar, draw_cells, name_block, short_number
from benchmark.figures.style import SIZES, Page, styled, text_width, wrap
from benchmark.published.numbers import TOLERANCES, Comparison
from benchmark.published.text import metric_title, technique_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELL = (0.4, 0.21)
_NARROWEST = 1.6
_STEPS = (*TOLERANCES, 0.1, 0.2)
_BOUNDS = (*(-step for step in reversed(_STEPS)), *_STEPS)


def _colors() -> ListedColormap:
    # Purple to orange stays apart for all kinds of colour vision; one step of colour per class.
    return ListedColormap(colormaps["PuOr_r"](np.linspace(0.04, 0.96, len(_BOUNDS) + 1)), name="difference")


_COLORS = _colors()
_NORM = BoundaryNorm(_BOUNDS, _COLORS.N, extend="both")


def draw_differences(comparison: Comparison) -> Figure:
    """Draw ours minus published, a panel per metric.

    Parameters
    ----------
    comparison : Comparison
        From :func:`~benchmark.published.numbers.build_comparison`.

    Returns
    -------
    Figure
        Rows are the techniques of each table, columns the datasets by beta. Colour changes at the tolerances,
        and every difference is printed in its cell.
    """
    rows = comparison.rows
    metrics = list(rows["metric"].unique())
    columns = _columns(rows)
    lines = {metric: _lines(rows[rows["metric"] == metric]) for metric in metrics}
    n_lines = max(map(len, lines.values()))
    blocks = _blocks(columns)
    # A panel of few columns still has to be as wide as its title.
    cell_width = max(_CELL[0], _NARROWEST / len(columns))
    with styled():
        labels = {metric: _labels(own, comparison) for metric, own in lines.items()}
        widest = max(text_width(text, SIZES["tick"]) for own in labels.values() for text in own)
        names = [wrap(name, (last - first + 1) * cell_width, SIZES["tick"]) for name, first, last in blocks]
        below = (max(map(len, names)) + 1) * LINE + 0.16
        page = Page(
            len(metrics),
            1,
            panel=(cell_width * len(columns), _CELL[1] * n_lines),
            title="Ours minus published",
            subtitle=_subtitle(comparison),
            notes=_notes(comparison),
            left=widest + 0.3,
            right=1.0,
            below=below,
            gap=(0.0, below + 0.1),
            panel_titles=[metric_title(metric) for metric in metrics],
        )
        for metric, axes in zip(metrics, page.axes, strict=True):
            own = rows[rows["metric"] == metric]
            _draw_panel(axes, own, lines[metric], columns, n_lines)
            _label_panel(axes, lines[metric], labels[metric], columns)
            for wrapped, (_, first, last) in zip(names, blocks, strict=True):
                name_block(axes, "\n".join(wrapped), (first + last) / 2, n_lines)
        add_step_colorbar(page, _NORM, _COLORS)
    return page.figure


def _columns(rows: pd.DataFrame) -> list[tuple[str, float]]:
    betas = sorted(rows["beta"].unique())
    return [(dataset, beta) for dataset in rows["dataset"].unique() for beta in betas]


def _blocks(columns: list[tuple[str, float]]) -> list[tuple[str, int, int]]:
    """Return each dataset with its first and last column."""
    found: dict[str, tuple[int, int]] = {}
    for i, (dataset, _) in enumerate(columns):
        found[dataset] = (found.get(dataset, (i, i))[0], i)
    return [(dataset, first, last) for dataset, (first, last) in found.items()]


def _lines(rows: pd.DataFrame) -> list[tuple[int, str]]:
    pairs = rows[["table", "technique"]].drop_duplicates().sort_values("table", kind="stable")
    return list(pairs.itertuples(index=False, name=None))


def _labels(lines: list[tuple[int, str]], comparison: Comparison) -> list[str]:
    return [f"{technique_title(name, comparison)}  T{table}" for table, name in lines]


def _draw_panel(
    axes: Axes,
    rows: pd.DataFrame,
    lines: list[tuple[int, str]],
    columns: list[tuple[str, float]],
    n_lines: int,
) -> None:
    grid = np.full((len(lines), len(columns)), np.nan)
    published = np.zeros(grid.shape, dtype=bool)
    keys = rows[["table", "technique", "dataset", "beta", "difference"]]
    for table, technique, dataset, beta, difference in keys.itertuples(index=False):
        place = lines.index((table, technique)), columns.index((dataset, beta))
        grid[place], published[place] = difference, True
    colors = _COLORS(_NORM(np.nan_to_num(grid)))
    colors[np.isnan(grid)] = (1.0, 1.0, 1.0, 1.0)
    draw_cells(
        axes,
        colors,
        [
            [
                "" if not was else "–" if np.isnan(value) else short_number(value, signed=True)
                for was, value in zip(*row, strict=True)
            ]
            for row in zip(published, grid, strict=True)
        ],
    )
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(n_lines - 0.5, -0.5))


def _label_panel(
    axes: Axes, lines: list[tuple[int, str]], labels: list[str], columns: list[tuple[str, float]]
) -> None:
    axes.set_xticks(range(len(columns)), labels=[f"{beta:g}" for _, beta in columns])
    axes.set_yticks(range(len(lines)), labels=labels)
    for _, first, _ in _blocks(columns)[1:]:
        axes.axvline(first - 0.5, color="black", lw=0.8)
    for i in range(1, len(lines)):
        if lines[i][0] != lines[i - 1][0]:
            axes.axhline(i - 0.5, color="black", lw=0.8)


def _subtitle(comparison: Comparison) -> str:
    warning = f"{comparison.warning}. " if comparison.warning else ""
    return (
        f"{warning}Means of the experiment {comparison.run.name} against {comparison.entry.title}. "
        "Rows: technique and published table; columns: β and published dataset."
    )


def _notes(comparison: Comparison) -> list[str]:
    overall = comparison.agreement.iloc[0]
    met = ", ".join(f"{100 * overall[f'within_{t}']:.1f} % within ±{t:g}" for t in TOLERANCES)
    notes = [
        f"{overall['compared']} of {overall['published']} numbers compared: {met}, mean absolute error "
        f"{overall['mean_absolute_error']:.3f}. Dash: no counterpart in this run. Empty: nothing published."
    ]
    warned = [d for d in comparison.datasets if d.warning]
    return [*notes, *(f"Warning, {d.name}: {str(d.warning).strip().rstrip('.')}." for d in warned)]
