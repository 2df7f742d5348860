"""States for a column of an unknown file: few, readable, and each with enough rows."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card_parts import CategoricalColumn, NumericColumn
from benchmark.data.load import Coder
from benchmark.data.number_form import PLAIN
from benchmark.data.raw import MOST_LEVELS, MOST_STATES, Mask, RawColumn
from benchmark.text.words import as_number, figure

OTHER, MISSING = "other", "missing"  # states of rare values, and of missing ones
RARE_STATES = (f"{OTHER} values", OTHER)  # of rare values: the first if the second is a value of its own
Group = tuple[str, Mask]  # a state, and a mask of the column's values that it stands for
CardEntry = tuple[dict[str, Any], int]  # a column's entry in the card, and its rows with rarer values
_HEAVY = 0.25  # share of the rows from which one number has a bin of its own
_BINS = 5


def feature(column: RawColumn, min_count: int) -> CardEntry:
    """Return a feature's entry: bins if nine in ten values are numbers, else a category."""
    rows, numeric = column.counts * ~column.missing, ~np.isnan(column.places)
    if rows[numeric].sum() < 0.9 * rows.sum():
        return category(column, min_count)
    distinct, positions = np.unique(column.places[numeric], return_inverse=True)
    counts = np.bincount(positions, weights=rows[numeric]).astype(int)
    levels = len(distinct) <= MOST_LEVELS
    cuts = [float(number) for number in distinct[1:]] if levels else _quantile_cuts(distinct, counts)
    least = min_count if levels else max(min_count, counts.sum() // 100)
    cuts = _large_enough(cuts, distinct, counts, least)
    entry = _cut(column, cuts, levels=levels)
    bins = np.searchsorted(cuts, column.places, side="right")
    groups = [(name, numeric & (bins == i)) for i, name in enumerate(entry["states"])]
    more, merged = _with_the_rest(column, groups, min_count, numeric & ~np.isnan(column.numbers))
    return entry | more, merged


def category(column: RawColumn, min_count: int, first: Group | None = None) -> CardEntry:
    """Return a category's entry; ``first`` is one of its states."""
    counts, free = column.counts, ~column.missing
    if first is not None:
        free &= ~first[1]
    alike: dict[object, list[int]] = {}
    numeric = not np.isnan(column.numbers[free]).any()
    for i in np.flatnonzero(free).tolist():
        number = column.numbers[i]
        alike.setdefault(column.values[i] if np.isnan(number) else number, []).append(i)
    sized = sorted(
        alike.values(), key=lambda positions: (-counts[positions].sum(), column.values[positions[0]])
    )
    large = [positions for positions in sized if counts[positions].sum() >= min_count]
    kept = large if len(large) == len(sized) <= MOST_STATES else large[: MOST_STATES - 1]
    groups = [
        (column.values[max(positions, key=lambda i: counts[i])], np.isin(np.arange(len(counts)), positions))
        for positions in kept
    ]
    # In the order of numbers, or of the alphabet: an order by frequency would disclose frequencies.
    groups.sort(key=lambda group: (as_number(group[0]) or 0 if numeric else 0, group[0]))
    if first is not None:
        groups.insert(0, first)
    more, merged = _with_the_rest(column, groups, min_count)
    return {"kind": "categorical"} | more, merged


def coded(column: RawColumn, entry: dict[str, Any]) -> dict[str, Any]:
    """Return a column's entry, and the codes that the loader gives it."""
    order = column.order
    spec: NumericColumn | CategoricalColumn
    if entry["kind"] == "numeric":
        form = column.form or PLAIN
        written = {"thousands": form.thousands, "unit": form.unit}
        written["decimal"] = form.decimal if form.decimal != PLAIN.decimal else None
        entry |= {name: value for name, value in written.items() if value is not None}
        spec = NumericColumn(**entry)
    else:
        if set(entry["states"]) - {MISSING} <= set(order):
            entry["states"].sort(key=[*order, MISSING].index)
            entry["ordered"] = True
        spec = CategoricalColumn(**entry)
    coder = Coder(spec)
    codes = np.array([coder[value] for value in column.values], np.int16)[column.rows]
    return {"entry": entry, "codes": codes, "ordered": spec.ordered}


def _cut(column: RawColumn, cuts: Sequence[float], *, levels: bool) -> dict[str, Any]:
    """Return the entry of a column of numbers with these cuts; ``levels`` if each number is a state."""
    numbers = column.numbers[~np.isnan(column.numbers)]
    bins = [-math.inf, *map(float, cuts), math.inf]
    if levels and len(np.unique(numbers[numbers < bins[1]])) == 1:
        bins[0] = float(numbers.min())  # the first state is a single number
    states = _bin_names(cuts, column.places, levels=levels)
    of, values = np.searchsorted(cuts, column.places, side="right"), dict[str, str]()
    for i in np.flatnonzero(np.isnan(column.numbers) & ~np.isnan(column.places)).tolist():
        if not (of[~np.isnan(column.numbers)] == of[i]).any():
            states[of[i]] = column.values[i]  # a state of open classes alone
        values[column.values[i]] = states[of[i]]
    return {"kind": "numeric", "bins": bins, "states": states} | ({"values": values} if values else {})


def _with_the_rest(
    column: RawColumn, groups: list[Group], min_count: int, binned: Mask | None = None
) -> tuple[dict[str, Any], int]:
    """Return states and the values that lead to them, with states for rarer and missing values.

    The rows with rarer values are counted. Values with too few rows for a state join the most frequent one.
    ``binned`` values are numbers of bins; neither they nor rarer values are listed.
    """
    counts = column.counts
    free = ~np.any([members for _, members in groups], axis=0) if groups else np.ones(len(counts), dtype=bool)
    rare, entry = free & ~column.missing, dict[str, Any]()
    for state, members in ((RARE_STATES[OTHER not in column.values], rare), (MISSING, free & column.missing)):
        if not members.any():
            continue
        names = [name for name, _ in groups]
        target = names.index(state) if state in names else len(groups)
        if counts[members].sum() < min_count and groups and target == len(groups):
            target = max(range(len(groups)), key=lambda g: counts[groups[g][1]].sum())
        if target == len(groups):
            groups.append((state, members))
        else:
            groups[target] = groups[target][0], groups[target][1] | members
        if state != MISSING:
            entry["others"] = groups[target][0]
    values: dict[str, str] = {}
    for name, members in groups:
        listed = members & ~rare if binned is None else members & ~rare & ~binned
        # A column of numbers does not take the name of a state for a value.
        values |= {
            column.values[i]: name
            for i in np.flatnonzero(listed).tolist()
            if column.values[i] != name or binned is not None
        }
    entry |= {"states": [name for name, _ in groups]} | ({"values": values} if values else {})
    return entry, int(counts[rare].sum())


def _bin_names(cuts: Sequence[float], numbers: NDArray[np.float64], *, levels: bool) -> list[str]:
    """Return a readable name for each bin."""
    distinct = np.unique(numbers[~np.isnan(numbers)])
    whole = bool((distinct == np.round(distinct)).all()) and all(limit == round(limit) for limit in cuts)
    names = []
    for low, high in itertools.pairwise([-math.inf, *cuts, math.inf]):
        inside = distinct[(distinct >= low) & (distinct < high)]
        if len(inside) == 1 and (levels or inside[0] == 0 or math.isfinite(high - low)):
            name = figure(inside[0]) if whole else f"{inside[0]:.6g}"
            names.append(repr(float(inside[0])) if name in names else name)
        elif low == -math.inf:
            names.append(f"below {figure(high)}")
        elif high == math.inf:
            names.append(f"{figure(low)} and more")
        else:
            names.append(f"{figure(low)} to {figure(high - 1) if whole else f'below {figure(high)}'}")
    return names


def _quantile_cuts(distinct: NDArray[np.float64], counts: NDArray[np.intp]) -> list[float]:
    """Return cuts at rounded quantiles; a number that many rows have gets a bin of its own."""
    heavy = counts >= _HEAVY * counts.sum()
    values, below = distinct[~heavy], np.cumsum(counts[~heavy]) / counts[~heavy].sum()
    n_bins = max(2, _BINS - int(heavy.sum()))
    cuts = values[np.searchsorted(below[:-1], np.arange(1, n_bins) / n_bins)]
    typical = np.ptp(cuts) / n_bins or abs(cuts[0]) / 100
    if typical > 0 and math.isfinite(typical):
        step = 10.0 ** math.floor(math.log10(typical))
        cuts = np.array([float(f"{round(number / step) * step:.12g}") for number in cuts.tolist()])
    alone = np.flatnonzero(heavy)
    own = distinct[np.concatenate([alone, alone[alone + 1 < len(distinct)] + 1])]
    return sorted({*cuts.tolist(), *own.tolist()} - {float(distinct[0])})


def _large_enough(
    cuts: Sequence[float], distinct: NDArray[np.float64], counts: NDArray[np.intp], least: int
) -> list[float]:
    """Return as many of the cuts as leave at least ``least`` rows in each bin."""
    large: list[float] = []
    for limit in cuts:
        lowest = large[-1] if large else -math.inf
        if counts[(distinct >= lowest) & (distinct < limit)].sum() >= least:
            large.append(limit)
    while large and counts[distinct >= large[-1]].sum() < least:
        large.pop()
    return large
