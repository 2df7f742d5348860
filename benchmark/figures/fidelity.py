"""How faithful sampled training data are: marginals and pairwise mutual information, real against sampled."""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.figures.label_places import place_labels
from benchmark.figures.style import GREY, SIZES, STEPS, Page, list_room, styled, text_width, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL = (2.9, 2.5)
_MOST_NAMED = 4
_LEAST = 0.005  # from the diagonal: nearer points are not worth a name
_KEY_SIZE = 8.0
_COLOR = "#0072B2"


def shares(table: Table, names: Sequence[str]) -> dict[str, float]:
    """Return the share of the rows in each state of some columns, by ``"column = state"``."""
    found = {}
    for name in names:
        column = table.schema.column(name)
        counts = np.bincount(table.codes[:, table.schema.index(name)], minlength=column.cardinality)
        for state, count in zip(column.states, counts, strict=True):
            found[f"{name} = {state}"] = float(count / len(table))
    return found


def mutual_information(table: Table, names: Sequence[str]) -> dict[str, float]:
    """Return the empirical mutual information in nats of each pair of columns, by ``"one × other"``."""
    found = {}
    for first, second in combinations(names, 2):
        i, j = table.schema.index(first), table.schema.index(second)
        n = [table.schema.columns[k].cardinality for k in (i, j)]
        cell = table.codes[:, i].astype(np.int64) * n[1] + table.codes[:, j]
        joint = np.bincount(cell, minlength=n[0] * n[1]).reshape(n) / len(table)
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        present = joint > 0
        found[f"{first} × {second}"] = float(
            (joint[present] * np.log(joint[present] / product[present])).sum()
        )
    return found


def draw_fidelity(
    real: Table, samples: Sequence[tuple[float, Table]], *, heading: str, provenance: str, bias: str
) -> Figure:
    """Draw what the data and samples at some levels of bias have in common.

    Parameters
    ----------
    real : Table
        The data that the network was learned from, or what stands in for them.
    samples : sequence of (float, Table)
        Level of bias, and a training sample.
    heading : str
        The dataset's name for readers.
    provenance : str
        What the data are and which samples are compared with them, as sentences.
    bias : str
        The planted bias, as a sentence.

    Returns
    -------
    Figure
        Above, each state's share; below, the mutual information of each pair of columns; a column of panels
        for each level of bias. On the diagonal both are the same; the farthest from it are named.
    """
    names = real.schema.names
    pairs = [
        (title, measure(real, names), [measure(sample, names) for _, sample in samples])
        for title, measure in (
            ("share of each state", shares),
            ("mutual information of each pair (nats)", mutual_information),
        )
    ]
    letters = iter(string.ascii_letters)
    panels = []
    for title, expected, found in pairs:
        for (beta, _), own in zip(samples, found, strict=True):
            far = _farthest(expected, own)
            panels.append((f"β = {beta:g}: {title}", expected, own, {name: next(letters) for name in far}))
    entries = [
        f"{key}  {name}: {expected[name]:.3f}, sampled {own[name]:.3f}"
        for _, expected, own, keys in panels
        for name, key in keys.items()
    ]
    columns = len(samples)
    left, right, gap = 0.66, 0.2, 0.72
    width = max(_PANEL[0], (5.0 - left - right - (columns - 1) * gap) / columns)
    page_width = left + columns * width + (columns - 1) * gap + right
    # A name as long as the page is broken: no column of the list would hold it.
    lines = [line for entry in entries for line in wrap(entry, page_width - 2 * Page.edge, SIZES["tick"])]
    with styled():
        page = Page(
            len(panels),
            columns,
            panel=(width, _PANEL[1]),
            title=f"{heading}: data and training samples",
            subtitle=f"{provenance} On the line both are the same; letters name the farthest.",
            notes=[bias],
            left=left,
            right=right,
            below=0.62 + list_room(lines, page_width),
            gap=(gap, 0.46),
            panel_titles=[title for title, *_ in panels],
        )
        for i, (axes, (_, expected, own, keys)) in enumerate(zip(page.axes, panels, strict=True)):
            _draw_panel(axes, expected, own, keys, (width, _PANEL[1]))
            if page.nothing_below(i):
                axes.set_xlabel("data")
            if page.first_in_row(i):
                axes.set_ylabel("sampled")
        page.list_below(lines, top=0.54)
    return page.figure


def _farthest(expected: dict[str, float], found: dict[str, float]) -> list[str]:
    gaps = {name: abs(found[name] - value) for name, value in expected.items()}
    far = sorted((name for name in gaps if gaps[name] >= _LEAST), key=lambda name: -gaps[name])
    return far[:_MOST_NAMED]


def _draw_panel(
    axes: Axes,
    expected: dict[str, float],
    found: dict[str, float],
    keys: dict[str, str],
    panel: tuple[float, float],
) -> None:
    # The named points come first, which is how places are given to their letters.
    names = [*keys, *(name for name in expected if name not in keys)]
    points = np.array([[expected[name], found[name]] for name in names])
    top = 1.06 * max(float(points.max()), 0.01)
    low = -0.03 * top
    axes.axline((0, 0), slope=1, color=GREY, lw=0.8, ls=(0, (2, 2)), zorder=1)
    axes.scatter(points[:, 0], points[:, 1], s=14, color=_COLOR, alpha=0.6, lw=0, zorder=2)
    axes.set_xlim(low, top)
    axes.set_ylim(low, top)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=5, steps=STEPS))
    sizes = np.array(
        [[text_width(key, _KEY_SIZE, bold=True), 0.75 * _KEY_SIZE / 72] for key in keys.values()]
    )
    inches = (points - low) / (top - low) * np.array(panel)
    places: NDArray[np.float64] = place_labels(inches, sizes.reshape(-1, 2), panel)
    for key, (x, y) in zip(keys.values(), places / np.array(panel), strict=True):
        if np.isfinite(x):
            axes.text(
                x,
                y,
                key,
                transform=axes.transAxes,
                ha="center",
                va="center_baseline",
                size=_KEY_SIZE,
                weight="bold",
                gid="key",
            )
