"""Techniques against the baseline: a heat map of a metric, and a forest plot of the paired improvements."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from benchmark.figures.heat_grid import LINE, add_step_colorbar, draw_cells, name_block, short_number
from benchmark.figures.style import GREY, SIZES, STEPS, Page, beta_ticks, styled, text_width, wrap
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.frames import Scenario
from benchmark.runs.standing_marks import (
    BELOW_CONSTANT,
    DEGENERATE,
    below_constant_cells,
    below_constant_notes,
    degenerate_cells,
    degenerate_notes,
)
from benchmark.tables.answers import baseline_notes, mark, mark_notes
from benchmark.tables.significance import data_notes, reach_notes, scenarios_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELL = (0.45, 0.21)
_LEGEND, _NARROWEST = 1.4, 1.6
_NAME_WIDTH = 2.4
_STEPS = (1, 3, 10, 30)  # times the region of practical equivalence
_DEFAULT_STEP = 0.01
_MOST_BETAS = 5
_ROW = 0.19
_MINUS = "\N{MINUS SIGN}"
_BETTER, _WORSE = "#0072B2", "#D55E00"
_USELESS = (0.88, 0.88, 0.88, 1.0)


def draw_heat(statistics: RunStatistics, metric: str) -> Figure:
    """Draw the means of a metric: techniques down, datasets and levels of bias across.

    Parameters
    ----------
    statistics : RunStatistics
        From :func:`~benchmark.runs.analysis.run_statistics`.
    metric : str
        Name of a metric of which some values are better than others.

    Returns
    -------
    Figure
        Colour is the improvement over the dataset's baseline, in steps that are multiples of the region of
        practical equivalence; signs mark what is significant, so that better and worse differ in grey as
        well. The baseline's cells are framed. Degenerate techniques are grey and have no such sign; where
        nothing is compared with the baseline, all cells are white.
    """
    own = _of_metric(statistics.intervals, metric)
    columns = [
        (scenario, float(beta))
        for scenario in scenarios_of(statistics)
        for beta in np.unique(scenario.rows(own)["beta"])
    ]
    tried = own["technique"].unique()
    names = [name for name in statistics.run.titles if name in tried]
    labels = [wrap(statistics.run.titles[name], _NAME_WIDTH, SIZES["tick"]) for name in names]
    tallest = max(map(len, labels))
    # A map of few techniques still has to be as tall as its legend.
    height = max(_CELL[1], 0.06 + tallest * LINE, _LEGEND / len(names))
    width = max(_CELL[0], _NARROWEST / len(columns))
    blocks = _blocks(columns)
    headings = [
        wrap(scenario.heading, (last - first + 1) * width, SIZES["tick"]) for scenario, first, last in blocks
    ]
    below = (max(map(len, headings)) + 1) * LINE + 0.2
    bounds = _bounds(statistics.rope)
    with styled():
        page = Page(
            1,
            1,
            panel=(width * len(columns), height * len(names)),
            title=f"{statistics.title(metric)}: techniques against the baseline",
            subtitle="Means; columns: β and dataset. Colour: by how much a technique is nearer to the ideal "
            f"than the baseline (framed). + significantly better, {_MINUS} significantly worse.",
            notes=[
                *mark_notes(statistics.standing[statistics.standing["technique"].isin(names)]),
                *(
                    f"{scenario.heading}: {note}"
                    for scenario, _, _ in blocks
                    for note in _of_baseline(statistics, scenario)
                ),
                *reach_notes(_of_metric(statistics.out_of_reach(), metric), statistics.run),
                *(note for scenario, _, _ in blocks for note in data_notes([scenario.dataset])),
            ],
            left=0.3 + max(text_width(line, SIZES["tick"]) for lines in labels for line in lines),
            right=1.0,
            below=below,
        )
        (axes,) = page.axes
        norm, colors = _colors(bounds)
        values, texts, useless = _cells(statistics, own, names, columns)
        shades = colors(norm(np.nan_to_num(values)))
        shades[np.isnan(values)] = (1.0, 1.0, 1.0, 1.0)
        shades[useless] = _USELESS
        draw_cells(axes, shades, texts)
        axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(names) - 0.5, -0.5))
        axes.set_xticks(range(len(columns)), labels=[f"{beta:g}" for _, beta in columns])
        axes.set_yticks(range(len(names)), labels=["\n".join(lines) for lines in labels])
        for lines, (scenario, first, last) in zip(headings, blocks, strict=True):
            name_block(axes, "\n".join(lines), (first + last) / 2, len(names))
            if first:
                axes.axvline(first - 0.5, color="black", lw=0.8)
            _frame(axes, names, statistics.baselines[scenario.dataset.name], first, last)
        add_step_colorbar(page, norm, colors)
    return page.figure


def _of_baseline(statistics: RunStatistics, scenario: Scenario) -> list[str]:
    """Say where the baseline is degenerate, and whether it is compared with."""
    name = statistics.baselines[scenario.dataset.name]
    standing = scenario.rows(statistics.standing)
    return baseline_notes(standing[standing["technique"] == name], statistics.run.titles[name])


def _of_metric(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    return frame[frame["metric"] == metric]


def _blocks(columns: Sequence[tuple[Scenario, float]]) -> list[tuple[Scenario, int, int]]:
    """Return each scenario with its first and last column."""
    found: dict[Scenario, tuple[int, int]] = {}
    for i, (scenario, _) in enumerate(columns):
        found[scenario] = (found.get(scenario, (i, i))[0], i)
    return [(scenario, first, last) for scenario, (first, last) in found.items()]


def _bounds(rope: float) -> list[float]:
    steps = [(rope or _DEFAULT_STEP) * step for step in _STEPS]
    return [-step for step in reversed(steps)] + steps


def _colors(bounds: Sequence[float]) -> tuple[BoundaryNorm, ListedColormap]:
    # Orange to purple stays apart for all kinds of colour vision; one step of colour per class.
    colors = ListedColormap(colormaps["PuOr"](np.linspace(0.06, 0.94, len(bounds) + 1)), name="improvement")
    return BoundaryNorm(bounds, colors.N, extend="both"), colors


def _cells(
    statistics: RunStatistics,
    rows: pd.DataFrame,
    names: Sequence[str],
    columns: Sequence[tuple[Scenario, float]],
) -> tuple[np.ndarray, list[list[str]], np.ndarray]:
    """Return improvement and text of each cell, and whether it is degenerate; one not tried is empty."""
    key = ["dataset", "bias", "classifier", "beta", "technique"]
    means = dict(zip(rows[key].itertuples(index=False, name=None), rows["mean"], strict=True))
    compared = _of_metric(statistics.compared, str(rows["metric"].iloc[0]))
    against = {
        tuple(where): (improvement, improvement if p <= statistics.alpha else 0.0)
        for *where, improvement, p in compared[[*key, "improvement", "p_permutation_holm"]].itertuples(
            index=False, name=None
        )
    }
    standing: list[Any] = list(statistics.standing.itertuples(index=False))
    marks = {(row.dataset, row.bias, row.classifier, row.beta, row.technique): mark(row) for row in standing}
    values = np.full((len(names), len(columns)), np.nan)
    useless = np.zeros(values.shape, dtype=bool)
    texts: list[list[str]] = []
    for i, name in enumerate(names):
        texts.append([])
        for j, (scenario, beta) in enumerate(columns):
            where = (*scenario.key, beta, name)
            mean = means.get(where)
            values[i, j], sign = against.get(where, (np.nan, 0.0))
            own = marks.get(where, "")
            useless[i, j] = own == DEGENERATE
            differs = "" if useless[i, j] else "+" if sign > 0 else _MINUS if sign < 0 else ""
            text = "" if mean is None else "–" if np.isnan(mean) else short_number(mean) + differs + own
            texts[-1].append(text)
    return values, texts, useless


def _frame(axes: Axes, names: Sequence[str], baseline: str, first: int, last: int) -> None:
    if baseline in names:
        corner = (first - 0.5, names.index(baseline) - 0.5)
        axes.add_patch(
            Rectangle(
                corner, last - first + 1, 1, fill=False, edgecolor="black", lw=1.4, zorder=3, gid="frame"
            )
        )


def draw_forest(statistics: RunStatistics, scenario: Scenario, metric: str) -> Figure:
    """Draw by how much each technique improves a metric over the baseline, with intervals.

    Parameters
    ----------
    statistics : RunStatistics
        From :func:`~benchmark.runs.analysis.run_statistics`.
    scenario : Scenario
        Dataset, bias and classifier.
    metric : str
        Name of a metric of which some values are better than others.

    Returns
    -------
    Figure
        A panel for each level of bias, or for five of many; a row for each technique. Improvements are paired
        differences on the same samples; the band is the region of practical equivalence. A cross instead of
        the mark is a technique that is degenerate there. Where nothing is compared with the baseline, there
        are no marks.
    """
    rows = _of_metric(scenario.rows(statistics.compared), metric)
    betas = beta_ticks(sorted(rows["beta"].unique()), _MOST_BETAS)
    tried = rows["technique"].unique()
    names = [name for name in statistics.run.titles if name in tried]
    standing = scenario.rows(statistics.standing)
    titles = {
        name: statistics.run.titles[name] for name in (statistics.baselines[scenario.dataset.name], *names)
    }
    below = {name for name, _ in below_constant_cells(standing)}
    labels = [
        wrap(titles[name] + (f" {BELOW_CONSTANT}" if name in below else ""), _NAME_WIDTH, SIZES["tick"])
        for name in names
    ]
    height = max(_ROW, 0.05 + max(map(len, labels)) * LINE)
    baseline = statistics.run.titles[statistics.baselines[scenario.dataset.name]]
    with styled():
        page = Page(
            len(betas),
            len(betas),
            panel=(max(1.5, 4.4 / len(betas)), max(0.5, height * len(names))),
            title=f"{scenario.heading}: {statistics.title(metric)}, improvement over the baseline",
            subtitle=f"Baseline: {baseline}. Mean paired improvements with 95 % intervals; filled: "
            f"significant at {statistics.alpha:g} (sign-flip permutation test, Holm's correction).",
            notes=[
                f"Improvement: by how much a technique is nearer to the ideal than the baseline, on the same "
                f"training sample. Band: differences of up to {statistics.rope:g}, practically none.",
                *degenerate_notes(
                    standing, {name: titles[name] for name in names}, "Cross, not to be compared"
                ),
                *_of_baseline(statistics, scenario),
                *below_constant_notes(standing, titles),
                *reach_notes(_of_metric(scenario.rows(statistics.out_of_reach()), metric), statistics.run),
                *data_notes([scenario.dataset]),
            ],
            left=0.3
            + max((text_width(line, SIZES["tick"]) for lines in labels for line in lines), default=0),
            gap=(0.16, 0.0),
            below=0.86,
            panel_titles=[f"β = {beta:g}" for beta in betas],
        )
        limits, useless = _forest_limits(rows), degenerate_cells(standing)
        for i, (beta, axes) in enumerate(zip(betas, page.axes, strict=True)):
            _draw_effects(axes, rows[rows["beta"] == beta], names, useless, statistics)
            axes.set_xlim(*limits)
            axes.set_ylim(len(names) - 0.5, -0.5)
            axes.set_yticks(range(len(names)), labels=["\n".join(lines) for lines in labels])
            axes.tick_params(axis="y", length=0, labelleft=page.first_in_row(i))
            axes.grid(visible=False, axis="y")
            axes.xaxis.set_major_locator(MaxNLocator(nbins=3, steps=STEPS))
        _add_legend(page, crosses=bool(useless & set(itertools.product(names, betas))))
    return page.figure


def _draw_effects(
    axes: Axes,
    rows: pd.DataFrame,
    names: Sequence[str],
    useless: Collection[tuple[str, float]],
    statistics: RunStatistics,
) -> None:
    axes.axvspan(-statistics.rope, statistics.rope, color="#ECECEC", lw=0, zorder=0.5)
    axes.axvline(0, color=GREY, lw=0.8, zorder=1)
    for line in range(len(names)):
        axes.axhline(line, color="#EFEFEF", lw=0.6, zorder=0.4)  # leads the eye along the rows
    for row in rows.to_dict("records"):
        value = row["improvement"]
        if not np.isfinite(value):
            continue
        is_useless = (row["technique"], row["beta"]) in useless
        color = GREY if is_useless else _BETTER if value > 0 else _WORSE
        y = names.index(str(row["technique"]))
        axes.plot([row["improvement_low"], row["improvement_high"]], [y, y], color=color, lw=1.3, zorder=2)
        significant = row["p_permutation_holm"] <= statistics.alpha
        marker = "x" if is_useless else "o" if value > 0 else "s"
        face = color if significant else "white"
        axes.plot([value], [y], marker, mfc=face, mec=color, mew=1.1, ms=4.6, zorder=3, gid="effect")


def _forest_limits(rows: pd.DataFrame) -> tuple[float, float]:
    numbers = rows[["improvement", "improvement_low", "improvement_high"]].to_numpy(dtype=float)
    ends = np.append(numbers[np.isfinite(numbers)], 0.0)
    pad = max(0.06 * float(np.ptp(ends)), 0.005)
    return float(ends.min()) - pad, float(ends.max()) + pad


def _add_legend(page: Page, *, crosses: bool) -> None:
    looks = (("o", _BETTER, "better"), ("s", _WORSE, "worse"))
    handles = [
        Line2D([], [], ls="none", marker=marker, mec=color, mfc=color if filled else "white", ms=4.6)
        for marker, color, _ in looks
        for filled in (True, False)
    ]
    words = [f"{what}{more}" for *_, what in looks for more in (", significant", ", not significant")]
    if crosses:
        handles.append(Line2D([], [], ls="none", marker="x", mec=GREY, mew=1.1, ms=4.6))
        words.append(f"{DEGENERATE} degenerate, see below")
    page.figure.legend(
        handles,
        words,
        loc="upper left",
        bbox_to_anchor=(Page.edge / page.width, (page.grid_bottom - 0.36) / page.height),
        borderaxespad=0,
        borderpad=0,
        ncol=2,
        columnspacing=1.6,
        handletextpad=0.3,
    )
