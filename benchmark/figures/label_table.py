"""The label's probabilities before and after bias is planted, as in the paper's Tables 1 and 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmark.figures import style
from benchmark.figures.style import GREY, LINE, SIZES, Look, Page, RowLabels, beta_look
from benchmark.network.inference import joint_distribution
from benchmark.network.model import Network

_MOST_ROWS = 14
_NAME_WIDTH = 3.6
_WIDTH = 3.0


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Rows of the label's table that a group of people is in, the most probable first.

    ``names`` are the parents' states; ``mass``, shape (n_rows,), is the probability of each row within the
    group, and ``probability``, shape (n_levels, n_rows), that of the favorable label.
    """

    group: str
    names: tuple[str, ...]
    mass: NDArray[np.float64]
    probability: NDArray[np.float64]


def label_table(levels: Sequence[Network], *, deprived: bool) -> LabelRows:
    """Return the favorable label's probability under each configuration of its parents.

    ``levels`` are the network at each level of bias, which differ in the label's table alone. The rows are
    those of the deprived group, or those of all others.
    """
    network = levels[0]
    schema = network.schema
    label, sensitive = schema.label_index, schema.sensitive_indices
    parents = network.parents[label]
    asked = list(dict.fromkeys([*sensitive, *parents]))
    joint = joint_distribution(network, [schema.names[i] for i in asked])
    shape = joint.shape[: len(sensitive)]
    states = dict(zip(sensitive, np.unravel_index(np.arange(np.prod(shape)), shape), strict=True))
    within = schema.deprived_among(states.__getitem__) == deprived
    joint = joint * within.reshape(*shape, *[1] * (joint.ndim - len(shape)))
    joint = joint.sum(axis=tuple(k for k, i in enumerate(asked) if i not in parents))
    left = [i for i in asked if i in parents]
    mass = joint.transpose([left.index(p) for p in parents]).ravel() / joint.sum()
    order = np.argsort(-mass, kind="stable")
    order = order[mass[order] > 0]
    # Where a group is one state, each of its rows says the same of it.
    named = [p for p in parents if p not in sensitive or within.sum() > 1]
    codes = np.unravel_index(order, [int(schema.cardinalities[p]) for p in parents]) if parents else ()
    columns = {p: codes[i] for i, p in enumerate(parents)}
    names = tuple(
        ", ".join(f"{schema.names[p]} = {schema.columns[p].states[columns[p][row]]}" for p in named) or "all"
        for row in range(len(order))
    )
    group = schema.deprived_group if deprived else f"not {schema.deprived_group}"
    if not deprived and within.sum() == 1:
        group = schema.columns[sensitive[0]].states[int(states[sensitive[0]][within][0])]
    favorable = np.stack([level.cpts[label][order, schema.favorable_code] for level in levels])
    return LabelRows(f"{schema.sensitive_feature} = {group}", names, mass[order], favorable)


def draw_label_table(
    levels: Sequence[Network], betas: Sequence[float], *, heading: str, provenance: str, bias: str
) -> Figure:
    """Draw the favorable label's probability under each configuration of its parents, at each level of bias.

    A panel for the deprived group, and one for all others. Of many configurations the most probable ones are
    shown; a panel's title says how much of the group they hold. ``provenance`` and ``bias`` are sentences:
    what the network was learned from, and what is planted.
    """
    schema = levels[0].schema
    groups = [label_table(levels, deprived=deprived) for deprived in (True, False)]
    labels = [
        RowLabels(
            [
                style.wrap(f"{name} ({100 * mass:.1f}\u00a0%)", _NAME_WIDTH)
                for name, mass in zip(rows.names[:_MOST_ROWS], rows.mass, strict=False)
            ]
        )
        for rows in groups
    ]
    n_rows = max(map(len, labels))
    with style.styled():
        page = Page(
            2,
            1,
            panel=(_WIDTH, n_rows * (0.08 + max(own.tallest for own in labels) * LINE)),
            title=f"{heading}: {schema.label} before and after bias is planted",
            subtitle=f"P({schema.label} = {schema.favorable_label}) under each configuration of its parents; "
            f"in brackets, its share of the group. Right: β = {betas[0]:g} → {betas[-1]:g}. {provenance}",
            notes=[bias],
            left=0.3 + max(own.width for own in labels),
            right=1.9,
            gap=(0.0, 0.36),
            below=0.36,
            panel_titles=[_title(rows, len(own)) for rows, own in zip(groups, labels, strict=True)],
        )
        for axes, rows, own in zip(page.axes, groups, labels, strict=True):
            for row in range(len(own)):
                _draw_row(axes, row, rows.probability[:, row], betas)
            axes.set_xlim(-0.03, 1.03)
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
            own.write(axes, n_rows)
        style.add_beta_colorbar(page, betas, shift=0.95)
    return page.figure


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
