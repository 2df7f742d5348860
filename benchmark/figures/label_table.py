"""The label's probabilities before and after bias is planted, as in the paper's Tables 1 and 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmark.figures.style import (
    BETA_COLORS,
    GREY,
    SIZES,
    Page,
    add_beta_colorbar,
    styled,
    text_width,
    wrap,
)
from benchmark.network.inference import joint_distribution
from benchmark.network.model import Network

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_ROWS = 14
_NAME_WIDTH = 3.6
_LINE = 1.3 * SIZES["tick"] / 72
_WIDTH = 3.0


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Rows of the label's table that a group of people is in, the most probable first.

    Attributes
    ----------
    group : str
        The group, in words.
    names : tuple of str
        The parents' states.
    mass : ndarray of float, shape (n_rows,)
        Probability of each row within the group.
    probability : ndarray of float, shape (n_levels, n_rows)
        Of the favorable label.
    """

    group: str
    names: tuple[str, ...]
    mass: NDArray[np.float64]
    probability: NDArray[np.float64]


def label_table(levels: Sequence[Network], *, deprived: bool) -> LabelRows:
    """Return the favorable label's probability under each configuration of its parents.

    Parameters
    ----------
    levels : sequence of Network
        The network at each level of bias, which differ in the label's table alone.
    deprived : bool
        Whether the rows of the deprived group are asked for, or those of all others.
    """
    network = levels[0]
    schema = network.schema
    label, sensitive = schema.label_index, schema.sensitive_index
    parents = network.parents[label]
    asked = list(dict.fromkeys([sensitive, *parents]))
    joint = joint_distribution(network, [schema.names[i] for i in asked])
    states = np.arange(schema.cardinalities[sensitive])
    within = (states == schema.deprived_code) == deprived
    joint = joint * within.reshape(-1, *[1] * (joint.ndim - 1))
    joint = np.moveaxis(joint, 0, parents.index(sensitive)) if sensitive in parents else joint.sum(axis=0)
    mass = joint.ravel() / joint.sum()
    order = np.argsort(-mass, kind="stable")
    order = order[mass[order] > 0]
    # Where a group is one state, each of its rows says the same of it.
    told = [p for p in parents if p != sensitive or within.sum() > 1]
    codes = np.unravel_index(order, [int(schema.cardinalities[p]) for p in parents]) if parents else ()
    columns = {p: codes[i] for i, p in enumerate(parents)}
    names = tuple(
        ", ".join(f"{schema.names[p]} = {schema.columns[p].states[columns[p][row]]}" for p in told) or "all"
        for row in range(len(order))
    )
    group = schema.deprived_group if deprived else f"not {schema.deprived_group}"
    if not deprived and within.sum() == 1:
        group = schema.columns[sensitive].states[int(states[within][0])]
    favorable = np.stack([level.cpts[label][order, schema.favorable_code] for level in levels])
    return LabelRows(f"{schema.sensitive_feature} = {group}", names, mass[order], favorable)


def draw_label_table(
    levels: Sequence[Network], betas: Sequence[float], *, heading: str, provenance: str, bias: str
) -> Figure:
    """Draw the favorable label's probability under each configuration of its parents, at each level of bias.

    Parameters
    ----------
    levels : sequence of Network
        The network at each level of bias.
    betas : sequence of float
        The levels, ascending.
    heading : str
        The dataset's name for readers.
    provenance : str
        What the network was learned from, as a sentence.
    bias : str
        The planted bias, as a sentence.

    Returns
    -------
    Figure
        A panel for the deprived group, and one for all others. Of many configurations the most probable ones
        are shown; a panel's title says how much of the group they hold.
    """
    schema = levels[0].schema
    groups = [label_table(levels, deprived=deprived) for deprived in (True, False)]
    shown = [min(len(rows.names), _MOST_ROWS) for rows in groups]
    labels = [
        [
            wrap(f"{name} ({100 * mass:.1f}\u00a0%)", _NAME_WIDTH, SIZES["tick"])
            for name, mass in zip(rows.names[:n], rows.mass, strict=False)
        ]
        for rows, n in zip(groups, shown, strict=True)
    ]
    tallest = max(len(lines) for own in labels for lines in own)
    with styled():
        page = Page(
            2,
            1,
            panel=(_WIDTH, max(shown) * (0.08 + tallest * _LINE)),
            title=f"{heading}: {schema.label} before and after bias is planted",
            subtitle=f"P({schema.label} = {schema.favorable_label}) under each configuration of its parents; "
            f"in brackets, its share of the group. Right: β = {betas[0]:g} → {betas[-1]:g}. {provenance}",
            notes=[bias],
            left=0.3
            + max(text_width(line, SIZES["tick"]) for own in labels for lines in own for line in lines),
            right=1.9,
            gap=(0.0, 0.36),
            below=0.36,
            panel_titles=[_title(rows, n) for rows, n in zip(groups, shown, strict=True)],
        )
        for axes, rows, own in zip(page.axes, groups, labels, strict=True):
            _draw_panel(axes, rows, own, betas, max(shown))
        add_beta_colorbar(page, betas, shift=0.95)
    return page.figure


def _title(rows: LabelRows, n: int) -> str:
    total = len(rows.names)
    part = f"the {n} most probable of {total} configurations, " if n < total else ""
    return f"{rows.group}: {part}{100 * rows.mass[:n].sum():.1f} % of the group"


def _draw_panel(
    axes: Axes, rows: LabelRows, labels: Sequence[Sequence[str]], betas: Sequence[float], n_rows: int
) -> None:
    for row in range(len(labels)):
        own = rows.probability[:, row]
        axes.plot([own.min(), own.max()], [row, row], color=GREY, lw=1.0, zorder=2)
        axes.scatter(
            own,
            np.full(len(own), row),
            c=list(betas),
            cmap=BETA_COLORS,
            vmin=0,
            vmax=1,
            s=26,
            edgecolors="black",
            lw=0.5,
            zorder=3,
        )
        changed = "unchanged" if np.ptp(own) == 0 else f"{own[0]:.3f} → {own[-1]:.3f}"
        text = f"{own[0]:.3f} {changed}" if np.ptp(own) == 0 else changed
        axes.annotate(
            text,
            (1, row),
            xycoords=axes.get_yaxis_transform(),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            size=SIZES["note"],
            annotation_clip=False,
        )
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(n_rows - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), labels=["\n".join(lines) for lines in labels])
    axes.tick_params(axis="y", length=0)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
