"""How a column of an unknown file becomes states: few, readable, and none of too few rows."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.sniff import RawColumn
from benchmark.text.words import as_number, few, share

MOST_STATES, MOST_LEVELS = 12, 8
"""Most states of a category, and most different numbers of which each is a state."""

OTHER, MISSING = "other", "missing"
"""States of what is rare, and of what is not there."""

Mask = NDArray[np.bool_]
Group = tuple[str, Mask]
"""A state, and which of a column's values it stands for."""
Found = tuple[dict[str, Any], list[str]]
"""A column's entry in the card, and what is to be said of it."""

_MOST_CODES = 40  # different numbers that may be codes
_LARGEST = 1e300  # number that is rounded
_HEAVY = 0.25  # share of the rows from which one number has a bin of its own
_DATE = re.compile(
    r"(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4})"
    r"([T ]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?"
)
_ID = re.compile(r"(^|.*[_ .-])(id|uuid|guid|index|key|row|serial)$|unnamed: 0$", re.IGNORECASE)
_CAMEL_ID = re.compile(r".*[a-z](Id|ID)$")


def mask(positions: Sequence[int], length: int) -> Mask:
    """Return which of so many positions are given."""
    found = np.zeros(length, dtype=bool)
    found[list(positions)] = True
    return found


def useless(column: RawColumn, n_file: int = 0) -> str:
    """Return why a column is no feature, if it is none; of ``n_file`` rows some may have been left out."""
    there = np.flatnonzero(~column.missing)
    n, n_rows = len(there), int(column.counts[there].sum())
    if not n:
        return "has no value in any row"
    if n == 1 and n_rows == len(column.rows):
        return "has the same value in every row"
    values, numbers = [column.values[i] for i in there], column.numbers[there]
    if sum(bool(_DATE.fullmatch(value)) for value in values) >= 0.95 * n:
        return "holds dates or times, which have no states"
    named = _ID.fullmatch(column.name) or _CAMEL_ID.fullmatch(column.name)
    if named and n > max(MOST_STATES, 0.05 * n_rows):
        return f"has the name of an identifier, and {n:,} different values"
    if not np.isnan(numbers).any():
        steps = np.diff(column.numbers[column.rows])
        counting = (steps > 0).all() or (steps < 0).all() or np.ptp(numbers) < max(n, n_file)
        whole = n == n_rows == len(column.rows) >= 20 and (numbers == np.round(numbers)).all()
        return "numbers the rows" if whole and counting else ""
    if np.isnan(numbers).mean() < 0.1:
        return ""
    if column.mixed:
        return column.mixed
    if n > 0.5 * n_rows and n > MOST_STATES:
        long = np.mean([len(value.split()) for value in values]) >= 4
        return f"{'is free text' if long else 'identifies rows'}: {n:,} different values"
    most = np.sort(column.counts[there])[::-1][: MOST_STATES - 1].sum()
    if n > 4 * MOST_STATES and most < 0.5 * n_rows:
        shown = f"the {MOST_STATES - 1} most frequent are {share(most / n_rows)} of the rows"
        return f"has {n:,} different values, of which {shown}"
    return ""


def content(column: RawColumn) -> object:
    """Return what columns share that tell rows apart alike: which rows have the same value.

    Columns of nearly as many values as rows do so by accident, so their values have to be the same.
    """
    if len(column.values) * 5 > len(column.rows):
        return column.values, column.rows.tobytes()
    _, first, inverse = np.unique(column.rows, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].tobytes()


def feature(column: RawColumn, min_count: int) -> Found:
    """Return how a feature is read: as bins if nine of ten values are numbers, else as a category."""
    there, numeric = column.counts * ~column.missing, ~np.isnan(column.numbers)
    if there[numeric].sum() < 0.9 * there.sum():
        return category(column, min_count)
    numbers = column.numbers[numeric]
    distinct, where = np.unique(numbers, return_inverse=True)
    counts = np.bincount(where, weights=there[numeric]).astype(int)
    if _are_codes(distinct):
        entry, comments = category(column, min_count)
        return entry, ["These numbers look like codes: each is a state.", *comments]
    levels = len(distinct) <= MOST_LEVELS
    cuts, comment = [float(own) for own in distinct[1:]], "Each number is a state."
    if not levels:
        cuts, comment = _quantile_cuts(distinct, counts)
    least = min_count if levels else max(min_count, counts.sum() // 100)
    kept = _large_enough(cuts, distinct, counts, least)
    if levels and len(kept) < len(cuts):
        comment += f" Those of fewer than {least} rows are joined with their neighbors."
    entry = cut(column, kept, levels=levels)
    names = entry["states"]
    bins = np.searchsorted(kept, column.numbers, side="right")
    groups = [(name, numeric & (bins == i)) for i, name in enumerate(names)]
    comments, rare = _add_the_rest(column, groups, min_count)
    if len(distinct) > 2 and distinct[0] < 0 <= distinct[1]:
        comments.append(f"{figure(distinct[0])} is the only number below 0: does it stand for none?")
    return entry | _read_as(column, groups, rare, numeric), [comment, *comments]


def category(column: RawColumn, min_count: int, first: Group | None = None) -> Found:
    """Return how a category is read; the values of ``first`` are one of its states."""
    counts, free = column.counts, ~column.missing
    if first is not None:
        free &= ~first[1]
    alike: dict[object, list[int]] = {}
    numeric = not np.isnan(column.numbers[free]).any()
    for i in np.flatnonzero(free).tolist():
        alike.setdefault(column.numbers[i] if numeric else column.values[i], []).append(i)
    sized = sorted(alike.values(), key=lambda own: (-counts[own].sum(), column.values[own[0]]))
    large = [own for own in sized if counts[own].sum() >= min_count]
    kept = large if len(large) == len(sized) <= MOST_STATES else large[: MOST_STATES - 1]
    groups = [(column.values[max(own, key=lambda i: counts[i])], mask(own, len(counts))) for own in kept]
    # In the natural order of numbers, or of the alphabet: the most frequent first would tell something.
    groups.sort(key=lambda group: (as_number(group[0]) or 0 if numeric else 0, group[0]))
    if first is not None:
        groups.insert(0, first)
    comments, rare = _add_the_rest(column, groups, min_count)
    return merged(column, groups, rare), comments


def merged(column: RawColumn, groups: Sequence[Group], rare: Mask | None = None) -> dict[str, Any]:
    """Return the entry of a category whose states are known; rare values are not listed."""
    none = mask([], len(column.values))
    return {"kind": "categorical"} | _read_as(column, groups, none if rare is None else rare, none)


def cut(column: RawColumn, cuts: Sequence[float], *, levels: bool = False) -> dict[str, Any]:
    """Return the entry of a column of numbers that is cut there; ``levels`` if each number is a state."""
    found = column.numbers[~np.isnan(column.numbers)]
    bins = [-math.inf, *map(float, cuts), math.inf]
    if levels and len(np.unique(found[found < bins[1]])) == 1:
        bins[0] = float(found.min())  # one number is the state, and none below it
    return {"kind": "numeric", "bins": bins, "states": bin_names(cuts, found, levels=levels)}


def _add_the_rest(column: RawColumn, groups: list[Group], min_count: int) -> tuple[list[str], Mask]:
    """Give the values that are in no group a state; return what is to be said of it, and which are rare.

    Too few rows for a state are read as the most frequent one.
    """
    counts, comments = column.counts, []
    rest = ~np.any([own for _, own in groups], axis=0) if groups else np.ones(len(counts), dtype=bool)
    for state, own, what in (
        (OTHER, rest & ~column.missing, "{n:,} rows have rarer values, {different:,} of them"),
        (MISSING, rest & column.missing, "{n:,} rows lack a value ({marks})"),
    ):
        if not own.any():
            continue
        n, names = int(counts[own].sum()), [name for name, _ in groups]
        marks = ", ".join(repr(column.values[i]) for i in np.flatnonzero(own)) if state == MISSING else ""
        said = what.format(n=n, different=own.sum(), marks=marks)
        to = names.index(state) if state in names else len(groups)
        if n < min_count and groups and to == len(groups):
            to = max(range(len(groups)), key=lambda g: counts[groups[g][1]].sum())
            comments.append(f"{said}: too few for a state, they are read as {groups[to][0]!r}.")
        else:
            comments.append(f"{said}: they are one state.")
        if to == len(groups):
            groups.append((state, own))
        else:
            groups[to] = groups[to][0], groups[to][1] | own
    return comments, rest & ~column.missing


def _read_as(column: RawColumn, groups: Sequence[Group], rare: Mask, binned: Mask) -> dict[str, Any]:
    """Return states and what leads to them: rare values are not listed, but read as all that are not."""
    values: dict[str, str] = {}
    entry: dict[str, Any] = {"states": [name for name, _ in groups]}
    for name, own in groups:
        if (own & rare).any():
            entry["others"] = name
        listed = np.flatnonzero(own & ~binned & ~rare).tolist()
        values |= {column.values[i]: name for i in listed if column.values[i] != name}
    return entry | ({"values": values} if values else {})


def _are_codes(distinct: NDArray[np.float64]) -> bool:
    """Return whether numbers look like names: few and whole, far from each other, and not rounded."""
    whole = (distinct == np.round(distinct)).all() and (distinct % 5 != 0).mean() > 0.5
    return bool(
        whole and MOST_LEVELS < len(distinct) <= _MOST_CODES and np.ptp(distinct) > 10 * len(distinct)
    )


def bin_names(cuts: Sequence[float], numbers: NDArray[np.float64], *, levels: bool = False) -> list[str]:
    """Return a readable name for each bin."""
    found = np.unique(numbers[~np.isnan(numbers)])
    whole = bool((found == np.round(found)).all()) and all(own == round(own) for own in cuts)
    names = []
    for low, high in _spans(cuts):
        inside = found[(found >= low) & (found < high)]
        if len(inside) == 1 and (levels or inside[0] == 0 or math.isfinite(high - low)):
            names.append(f"{inside[0]:.6g}")
        elif low == -math.inf:
            names.append(f"below {figure(high)}")
        elif high == math.inf:
            names.append(f"{figure(low)} and more")
        else:
            names.append(f"{figure(low)} to {figure(high - 1) if whole else f'below {figure(high)}'}")
    return names


def _spans(cuts: Sequence[float]) -> Iterator[tuple[float, float]]:
    return zip([-math.inf, *cuts], [*cuts, math.inf], strict=True)


def figure(value: float) -> str:
    """Return a number as short as it is exact."""
    return f"{float(value):.12g}"


def cut_of(sign: str, limit: float, numbers: NDArray[np.float64]) -> float:
    """Return where a condition cuts numbers: what is below it is on one side, all else on the other."""
    if sign in ("<", ">="):
        return limit
    above = numbers[numbers > limit]
    return _roundest(limit, float(above.min()), limit) if len(above) else math.nextafter(limit, math.inf)


def _roundest(low: float, high: float, near: float) -> float:
    """Return the number of the fewest digits above ``low`` and up to ``high``; of several the nearest one."""
    largest = max(abs(low), abs(high), high - low)
    if largest > _LARGEST:
        return high
    for exponent in range(math.floor(math.log10(largest)) + 1, math.floor(math.log10(largest)) - 15, -1):
        for leading in (5, 2, 1):
            step = leading * 10.0**exponent
            first, last = math.floor(low / step) + 1, math.floor(high / step)
            found = float(f"{min(max(round(near / step), first), last) * step:.15g}")
            if first <= last and low < found <= high:
                return found
    return high


def _quantile_cuts(distinct: NDArray[np.float64], counts: NDArray[np.intp]) -> tuple[list[float], str]:
    """Cut numbers at rounded quantiles; a number that very many rows have gets a bin of its own."""
    heavy = distinct[counts >= _HEAVY * counts.sum()]
    light = ~np.isin(distinct, heavy)
    cuts = set[float]()
    for own in heavy:
        near = [float(number) for number in distinct]
        at = near.index(float(own))
        cuts |= {
            _roundest(low, high, float(own))
            for low, high in itertools.pairwise(near[max(0, at - 1) : at + 2])
        }
    values, below = distinct[light], np.cumsum(counts[light]) / counts[light].sum()
    n_bins = max(2, 5 - len(heavy))
    for k in range(1, n_bins):
        # Any cut within a quarter of a bin around the quantile is as good, so the roundest is taken.
        low, middle, high = (
            float(values[np.searchsorted(below[:-1], (k + shift) / n_bins)]) for shift in (-0.25, 0, 0.25)
        )
        cuts.add(_roundest(low, high, middle) if low < high else low)
    own = f"; {few([figure(own) for own in heavy])} has a bin of its own, as so many rows have it"
    return sorted(cuts - {float(distinct[0])}), f"Bins are cut at rounded quantiles{own * bool(len(heavy))}."


def _large_enough(
    cuts: Sequence[float], distinct: NDArray[np.float64], counts: NDArray[np.intp], least: int
) -> list[float]:
    """Leave cuts out until each bin has so many rows."""
    kept: list[float] = []
    for own in cuts:
        if counts[(distinct >= (kept[-1] if kept else -math.inf)) & (distinct < own)].sum() >= least:
            kept.append(own)
    while kept and counts[distinct >= kept[-1]].sum() < least:
        kept.pop()
    return kept
