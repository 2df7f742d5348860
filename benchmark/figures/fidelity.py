"""Fidelity of sampled training data: marginals and pairwise mutual information beside the real data's."""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import rel_entr

from benchmark.data.table import Table
from benchmark.figures import style
from benchmark.figures.label_places import write_keys
from benchmark.figures.page import Page
from benchmark.figures.style import BLUE

_WIDTH, _HEIGHT = 2.9, 2.5
_MOST_NAMED = 4
_LEAST = 0.005  # distance to the diagonal of points with a name


def shares(table: Table, names: Sequence[str]) -> dict[str, float]:
    """Return each state's share of the rows in some columns, by ``"column = state"``."""
    state_shares = {}
    for name in names:
        column = table.schema.column(name)
        counts = np.bincount(table.codes[:, table.schema.index(name)], minlength=column.cardinality)
        for state, count in zip(column.states, counts, strict=True):
            state_shares[f"{name} = {state}"] = float(count / len(table))
    return state_shares


def mutual_information(table: Table, names: Sequence[str]) -> dict[str, float]:
    """Return the empirical mutual information in nats of each pair of columns, by ``"first × second"``."""
    information = {}
    for first, second in combinations(names, 2):
        i, j = table.schema.index(first), table.schema.index(second)
        shape = [table.schema.columns[k].cardinality for k in (i, j)]
        cells = np.ravel_multi_index((table.codes[:, i], table.codes[:, j]), shape)
        joint = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape) / len(table)
        independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        information[f"{first} × {second}"] = float(rel_entr(joint, independent).sum())
    return information


@style.styled()
def draw_fidelity(
    real: Table, samples: Sequence[tuple[str, Table]], *, heading: str, provenance: str, bias: str
) -> Page:
    """Draw shares and mutual information in the data against those in samples at some levels of bias.

    The upper panels show each state's share, the lower ones the mutual information of each pair of columns.
    Each level of bias has a column of panels. On the diagonal both are the same; the farthest points are
    named. ``provenance`` is a sentence about data and samples, ``bias`` one about the planted bias.
    """
    letters = iter(string.ascii_letters)
    panels: list[tuple[str, pd.DataFrame, dict[str, str]]] = []
    for title, measure in (
        ("share of each state", shares),
        ("mutual information of each pair (nats)", mutual_information),
    ):
        expected = measure(real, real.schema.names)
        for level, sample in samples:
            # A bias may hide columns, and add states.
            shared = [name for name in real.schema.names if name in sample.schema.names]
            points = pd.DataFrame({"sampled": measure(sample, shared)})
            points.insert(0, "data", [expected.get(name, 0.0) for name in points.index])
            gaps = (points["sampled"] - points["data"]).abs()
            farthest = gaps[gaps >= _LEAST].nlargest(_MOST_NAMED).index
            keys = {str(name): next(letters) for name in farthest}
            # Names go to the first points of a panel.
            points = points.loc[[*dict.fromkeys([*farthest, *points.index])]]
            panels.append((f"{level}: {title}", points, keys))
    entries = [
        f"{key}  {name}: {data:.3f}, sampled {sampled:.3f}"
        for _, points, keys in panels
        for (name, key), (data, sampled) in zip(keys.items(), points.to_numpy(), strict=False)
    ]
    page = Page(
        len(panels),
        len(samples),
        panel=(_WIDTH, _HEIGHT),
        title=f"{heading}: data and training samples",
        subtitle=f"{provenance} On the line both are the same; letters name the farthest.",
        notes=[bias],
        panel_titles=[title for title, *_ in panels],
    )
    for axes, (_, points, _) in zip(page.panels, panels, strict=True):
        top = 1.06 * max(float(points.to_numpy().max()), 0.01)
        axes.axline((0, 0), slope=1, **style.DASHED_RULE)
        axes.scatter(points["data"], points["sampled"], s=14, color=BLUE, alpha=0.6, lw=0, zorder=2)
        axes.set(xlim=(-0.03 * top, top), ylim=(-0.03 * top, top))
        style.set_ticks(axes, x=5, y=5)
    page.name_axes("data", "sampled", x_alike=False, y_alike=False)
    page.list_below(entries)
    page.fit()
    for axes, (_, points, keys) in zip(page.panels, panels, strict=True):
        write_keys(axes, points, list(keys.values()), len(keys))
    return page
