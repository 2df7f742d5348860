"""The label's probabilities before and after bias is planted, as in the paper's Tables 1 and 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from benchmark.figures import style
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import GREY, SIZES, Look, beta_look
from benchmark.network.inference import joint_distribution
from benchmark.network.model import Network

_MOST_ROWS = 14
_WIDTH = 3.0


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Rows of the label's table for a group of people, the most probable first."""

    group: str
    names: tuple[str, ...]  # the parents' states
    mass: NDArray[np.float64]  # probability of each row within the group, shape (n_rows,)
    probability: NDArray[np.float64]  # of the favorable label, shape (n_levels, n_rows)


def label_table(levels: Sequence[Network], *, deprived: bool) -> LabelRows:
    """Return the favorable label's probability under each configuration of its parents.

    ``levels`` are the network at each level of bias; only the label's table differs. The rows belong to the
    deprived group, or else to all others.
    """
    network = levels[0]
    schema = network.schema
    label, sensitive = schema.label_index, schema.sensitive_indices
    parents = network.parents[label]
    columns = list(dict.fromkeys([*sensitive, *parents]))
    joint = joint_distribution(network, [schema.names[i] for i in columns])
    shape = joint.shape[: len(sensitive)]
    states = dict(zip(sensitive, np.unravel_index(np.arange(np.prod(shape)), shape), strict=True))
    within = schema.deprived_among(states.__getitem__) == deprived
    joint = joint * within.reshape(*shape, *[1] * (joint.ndim - len(shape)))
    joint = joint.sum(axis=tuple(k for k, i in enumerate(columns) if i not in parents))
    remaining = [i for i in columns if i in parents]
    mass = joint.transpose([remaining.index(p) for p in parents]).ravel() / joint.sum()
    order = np.argsort(-mass, kind="stable")
    order = order[mass[order] > 0]
    # A group of one state needs no name in its rows.
    named = [p for p in parents if p not in sensitive or within.sum() > 1]
    codes = np.unravel_index(order, [int(schema.cardinalities[p]) for p in parents]) if parents else ()
    codes_of = {p: codes[i] for i, p in enumerate(parents)}
    names = tuple(
        ", ".join(f"{schema.names[p]} = {schema.columns[p].states[codes_of[p][row]]}" for p in named) or "all"
        for row in range(len(order))
    )
    group = schema.deprived_group if deprived else f"not {schema.deprived_group}"
    if not deprived and within.sum() == 1:
        group = schema.columns[sensitive[0]].states[int(states[sensitive[0]][within][0])]
    favorable = np.stack([level.cpts[label][order, schema.favorable_code] for level in levels])
    return LabelRows(f"{schema.sensitive_feature} = {group}", names, mass[order], favorable)


@style.styled()
def draw_label_table(
    levels: Sequence[Network], betas: Sequence[float], *, heading: str, provenance: str, bias: str
) -> Page:
    """Draw the favorable label's probability under each configuration of its parents, at each level of bias.

    One panel has the deprived group, the other everybody else. Of many configurations the most probable are
    shown; a panel's title has their share of the group. ``provenance`` is a sentence about the network's
    origin, ``bias`` one about the planted bias.
    """
    schema = levels[0].schema
    groups = [label_table(levels, deprived=deprived) for deprived in (True, False)]
    labels = []
    for rows in groups:
        shown = zip(rows.names[:_MOST_ROWS], rows.mass, strict=False)
        labels.append(RowLabels([f"{name} ({100 * mass:.1f}\u00a0%)" for name, mass in shown]))
    n_rows = max(map(len, labels))
    page = Page(
        2,
        1,
        panel=(_WIDTH, n_rows * max(own.row for own in labels)),
        title=f"{heading}: {schema.label} before and after bias is planted",
        subtitle=f"P({schema.label} = {schema.favorable_label}) under each configuration of its parents; "
        f"in brackets, its share of the group. Right: β = {betas[0]:g} → {betas[-1]:g}. {provenance}",
        notes=[bias],
        panel_titles=[_title(rows, len(names)) for rows, names in zip(groups, labels, strict=True)],
    )
    for axes, rows, names in zip(page.panels, groups, labels, strict=True):
        for row in range(len(names)):
            _draw_row(axes, row, rows.probability[:, row], betas)
        axes.set_xlim(-0.03, 1.03)
        style.set_ticks(axes, x=4)
        names.write(axes, n_rows)
    page.add_beta_colorbar(betas)
    return page.fit()


def _title(rows: LabelRows, n: int) -> str:
    total = len(rows.names)
    part = f"the {n} most probable of {total} configurations, " if n < total else ""
    return f"{rows.group}: {part}{100 * rows.mass[:n].sum():.1f} % of the group"


def _draw_row(axes: Axes, row: int, values: NDArray[np.float64], betas: Sequence[float]) -> None:
    axes.plot([values.min(), values.max()], [row, row], color=GREY, lw=1.0, zorder=2)
    look: Look = {"c": list(betas), "s": 26, "edgecolors": "black", "lw": 0.5, "zorder": 3}
    axes.scatter(values, np.full(len(values), row), **look, **beta_look())
    axes.annotate(
        f"{values[0]:.3f} " + ("unchanged" if np.ptp(values) == 0 else f"→ {values[-1]:.3f}"),
        (1, row),
        xycoords=axes.get_yaxis_transform(),
        xytext=(7, 0),
        textcoords="offset points",
        va="center",
        size=SIZES["note"],
        annotation_clip=False,
    )
