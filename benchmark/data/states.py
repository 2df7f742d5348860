"""States for a column of an unknown file: few, readable, and each with enough rows."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.raw import RawColumn
from benchmark.text.words import as_number, few, share

MOST_STATES, MOST_LEVELS = 12, 8  # most states of a category, and most distinct numbers that are a state each
OTHER, MISSING = "other", "missing"  # states of rare values, and of missing ones
RARE_STATES = (f"{OTHER} values", OTHER)  # of rare values: the first if the second is a value of its own
NO_STATES = ("has no value in any row", "has the same value in every row")  # reasons of useless columns
DATES = "holds dates or times, which have no states"
Mask = NDArray[np.bool_]
Group = tuple[str, Mask]  # a state, and a mask of the column's values that it stands for
CardEntry = tuple[dict[str, Any], list[str]]  # a column's entry in the card, and comments on it
_MOST_WORDS = 3  # words that may stand for missing among numbers
_MOST_CODES = 40  # distinct numbers that may be codes
_LARGEST = 1e300  # larger numbers are not rounded
_HEAVY = 0.25  # share of the rows from which one number has a bin of its own
_DATE = re.compile(
    r"(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4})"
    r"([T ]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?"
)
PLACE = re.compile(
    r"(.*[_ .-])?((zip|post|postal)[_ .-]?codes?|zips?|plz|fips|zcta|puma|tract)([_ .-]?\d*|[_ .-].*)",
    re.IGNORECASE,
)
_ID = re.compile(r"(^|.*[_ .-])(id|uuid|guid|index|key|row|row_?names?|serial)$|unnamed: 0$", re.IGNORECASE)
_WEIGHT = re.compile(  # names of columns of weights: sample_weight, PWGTP, PERSONWT, WTMEC2YR
    r"(?!.*(birth|body|over|under|bmi|light))(.*[_ .-])?"
    r"(\w*(weights?|wgts?|wghts?)|(\w{3,}|p|hh)?wts?|fnlwgt|p?wgtp|wtfinl|wt(mec|int|sa|fa|ss)\w*|iptw|ipw)"
    r"([_ .-]?(\d+|norm\w*|final|person|indiv\w*)|[_ .-][a-z])?",
    re.IGNORECASE,
)
_OF_A_BODY = re.compile(r"(.*[_ .-])?(body_?)?(height|hgt|ht|stature|bmi)[_ .-]?(\d*|[a-z]+)", re.IGNORECASE)
_BARE_WEIGHT = re.compile(r"(weight|wt)[_ .-]?\d*", re.IGNORECASE)
_CAMEL_ID = re.compile(r".*[a-z](Id|ID)$")


def mask(positions: Sequence[int], length: int) -> Mask:
    """Return a mask of this length that is true at the positions."""
    chosen = np.zeros(length, dtype=bool)
    chosen[list(positions)] = True
    return chosen


def like_weight(name: str, names: Iterable[str] = ()) -> bool:
    """Return whether a column is named like weights of rows; ``weight`` beside a height is a body's."""
    if _BARE_WEIGHT.fullmatch(name) and any(map(_OF_A_BODY.fullmatch, names)):
        return False
    return _WEIGHT.fullmatch(name) is not None


def useless(column: RawColumn, n_file: int = 0) -> str:
    """Return why a column is no feature, or an empty text; ``n_file`` counts rows, left out ones included."""
    present = np.flatnonzero(~column.missing)
    n, n_rows = len(present), int(column.counts[present].sum())
    if not n:
        return NO_STATES[0]
    if n == 1 and n_rows == len(column.rows):
        return NO_STATES[1]
    values, numbers = [column.values[i] for i in present], column.numbers[present]
    if sum(bool(_DATE.fullmatch(value)) for value in values) >= 0.95 * n:
        return DATES
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
    if n > 0.5 * n_rows and n > MOST_STATES:
        long = np.mean([len(value.split()) for value in values]) >= 4
        return f"{'is free text' if long else 'identifies rows'}: {n:,} different values"
    most = np.sort(column.counts[present])[::-1][: MOST_STATES - 1].sum()
    if n > 4 * MOST_STATES and most < 0.5 * n_rows:
        shown = f"the {MOST_STATES - 1} most frequent are {share(most / n_rows)} of the rows"
        return f"has {n:,} different values, of which {shown}"
    return ""


def content(column: RawColumn) -> object:
    """Return a key that columns share if they give the same rows equal values.

    Columns with nearly as many values as rows do so by chance, so their values must be equal.
    """
    if len(column.values) * 5 > len(column.rows):
        return column.values, column.rows.tobytes()
    _, first, inverse = np.unique(column.rows, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].tobytes()


def feature(column: RawColumn, min_count: int) -> CardEntry:
    """Return a feature's entry: bins if nine in ten values are numbers, else a category."""
    rows, numeric = column.counts * ~column.missing, ~np.isnan(column.places)
    if rows[numeric].sum() < 0.9 * rows.sum():
        return category(column, min_count)
    if PLACE.fullmatch(column.name):
        entry, comments = category(column, min_count)
        return entry, ["Codes of places: each is a state.", *comments]
    distinct, positions = np.unique(column.places[numeric], return_inverse=True)
    counts = np.bincount(positions, weights=rows[numeric]).astype(int)
    if _are_codes(distinct):
        entry, comments = category(column, min_count)
        return entry, ["These numbers look like codes: each is a state.", *comments]
    levels = len(distinct) <= MOST_LEVELS
    cuts = [float(value) for value in distinct[1:]]
    comment = "Each number is a state."
    if not levels:
        cuts, comment = _quantile_cuts(distinct, counts)
    least = min_count if levels else max(min_count, counts.sum() // 100)
    n_cuts = len(cuts)
    cuts = _large_enough(cuts, distinct, counts, least)
    if levels and len(cuts) < n_cuts:
        comment += f" Numbers with fewer than {least} rows are joined with their neighbors."
    entry = cut(column, cuts, levels=levels)
    bins = np.searchsorted(cuts, column.places, side="right")
    groups = [(name, numeric & (bins == i)) for i, name in enumerate(entry["states"])]
    comments, rare = _add_the_rest(column, groups, min_count)
    if len(distinct) > 2 and distinct[0] < 0 <= distinct[1]:
        comments.append(f"{figure(distinct[0])} is the only number below 0: does it mean missing?")
    if (open_classes := numeric & np.isnan(column.numbers)).any():
        names = few([repr(column.values[i]) for i in np.flatnonzero(open_classes)])
        comments.append(f"Open classes are in the first or last bin: {names}.")
    return entry | _read_as(column, groups, rare, numeric & ~open_classes), [comment, *comments]


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
    listed = large if len(large) == len(sized) <= MOST_STATES else large[: MOST_STATES - 1]
    groups = [
        (column.values[max(positions, key=lambda i: counts[i])], mask(positions, len(counts)))
        for positions in listed
    ]
    # In the order of numbers, or of the alphabet: an order by frequency would disclose frequencies.
    groups.sort(key=lambda group: (as_number(group[0]) or 0 if numeric else 0, group[0]))
    if first is not None:
        groups.insert(0, first)
    comments, rare = _add_the_rest(column, groups, min_count)
    return merged(column, groups, rare), comments


def merged(column: RawColumn, groups: Sequence[Group], rare: Mask | None = None) -> dict[str, Any]:
    """Return the entry of a category with these states; rare values are not listed."""
    none = mask([], len(column.values))
    return {"kind": "categorical"} | _read_as(column, groups, none if rare is None else rare, none)


def cut(column: RawColumn, cuts: Sequence[float], *, levels: bool = False) -> dict[str, Any]:
    """Return the entry of a column of numbers with these cuts; ``levels`` if each number is a state."""
    numbers = column.numbers[~np.isnan(column.numbers)]
    bins = [-math.inf, *map(float, cuts), math.inf]
    if levels and len(np.unique(numbers[numbers < bins[1]])) == 1:
        bins[0] = float(numbers.min())  # the first state is a single number
    names, of = (
        bin_names(cuts, column.places, levels=levels),
        np.searchsorted(cuts, column.places, side="right"),
    )
    values = dict[str, str]()
    for i in np.flatnonzero(np.isnan(column.numbers) & ~np.isnan(column.places)).tolist():
        if not (of[~np.isnan(column.numbers)] == of[i]).any():
            names[of[i]] = column.values[i]  # a state of open classes alone
        values[column.values[i]] = names[of[i]]
    return {"kind": "numeric", "bins": bins, "states": names} | ({"values": values} if values else {})


def name_of_rest(column: RawColumn) -> str:
    """Return the state of rarer values, which is no value of the column."""
    return RARE_STATES[OTHER not in column.values]


def _add_the_rest(column: RawColumn, groups: list[Group], min_count: int) -> tuple[list[str], Mask]:
    """Give all other values a state; return comments on them, and which values are rare.

    Values with too few rows for a state of their own join the most frequent one.
    """
    counts, comments = column.counts, []
    rest = ~np.any([members for _, members in groups], axis=0) if groups else np.ones(len(counts), dtype=bool)
    for state, members, words in (
        (name_of_rest(column), rest & ~column.missing, "{n:,} rows have rarer values, {different:,} of them"),
        (MISSING, rest & column.missing, "{n:,} rows lack a value ({marks})"),
    ):
        if not members.any():
            continue
        n, names = int(counts[members].sum()), [name for name, _ in groups]
        marks = ", ".join(repr(column.values[i]) for i in np.flatnonzero(members)) if state == MISSING else ""
        fact = words.format(n=n, different=members.sum(), marks=marks)
        target = names.index(state) if state in names else len(groups)
        if n < min_count and groups and target == len(groups):
            target = max(range(len(groups)), key=lambda g: counts[groups[g][1]].sum())
            comments.append(f"{fact}: too few for a state, they are read as {groups[target][0]!r}.")
        else:
            comments.append(f"{fact}: they are one state.")
        if target == len(groups):
            groups.append((state, members))
        else:
            groups[target] = groups[target][0], groups[target][1] | members
    return comments, rest & ~column.missing


def _read_as(column: RawColumn, groups: Sequence[Group], rare: Mask, binned: Mask) -> dict[str, Any]:
    """Return states and the values that lead to them; rare values are covered by ``others``, not listed."""
    values: dict[str, str] = {}
    entry: dict[str, Any] = {"states": [name for name, _ in groups]}
    for name, members in groups:
        if (members & rare).any():
            entry["others"] = name
        listed = np.flatnonzero(members & ~binned & ~rare).tolist()
        # A column of numbers does not take the name of a state for a value.
        values |= {column.values[i]: name for i in listed if column.values[i] != name or binned.any()}
    return entry | ({"values": values} if values else {})


def words_among_numbers(column: RawColumn) -> list[str]:
    """Return a few words in a column of many numbers as ``--missing`` takes them; none of another column."""
    words = np.flatnonzero(np.isnan(column.places) & ~column.missing)
    many = (~np.isnan(column.places)).sum() > MOST_STATES
    rows = column.counts[words].sum() / max(1, column.counts[~column.missing].sum())
    few_words = many and 0 < len(words) <= _MOST_WORDS and rows < 0.5
    return [f"{column.name}={column.values[i]}" for i in words] if few_words else []


def _are_codes(distinct: NDArray[np.float64]) -> bool:
    """Return whether numbers look like codes: few, whole, far from each other, and not round."""
    whole = (distinct == np.round(distinct)).all() and (distinct % 5 != 0).mean() > 0.5
    n = len(distinct)
    return bool(whole and MOST_LEVELS < n <= _MOST_CODES and np.ptp(distinct) > 10 * n)


def bin_names(cuts: Sequence[float], numbers: NDArray[np.float64], *, levels: bool = False) -> list[str]:
    """Return a readable name for each bin."""
    distinct = np.unique(numbers[~np.isnan(numbers)])
    whole = bool((distinct == np.round(distinct)).all()) and all(limit == round(limit) for limit in cuts)
    names = []
    for low, high in _spans(cuts):
        inside = distinct[(distinct >= low) & (distinct < high)]
        if len(inside) == 1 and (levels or inside[0] == 0 or math.isfinite(high - low)):
            names.append(figure(inside[0]) if whole else f"{inside[0]:.6g}")
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
    """Return the shortest exact text of a number."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else f"{number:.12g}"


def cut_of(sign: str, limit: float, numbers: NDArray[np.float64]) -> float:
    """Return the number at which a condition cuts: smaller numbers are on one side, all others on another."""
    if sign in ("<", ">="):
        return limit
    above = numbers[numbers > limit]
    return _roundest(limit, float(above.min()), limit) if len(above) else math.nextafter(limit, math.inf)


def _roundest(low: float, high: float, near: float) -> float:
    """Return the roundest number above ``low`` and up to ``high``; among several the nearest to ``near``."""
    largest = max(abs(low), abs(high), high - low)
    if largest > _LARGEST:
        return high
    for exponent in range(math.floor(math.log10(largest)) + 1, math.floor(math.log10(largest)) - 15, -1):
        for leading in (5, 2, 1):
            step = leading * 10.0**exponent
            first, last = math.floor(low / step) + 1, math.floor(high / step)
            candidate = float(f"{min(max(round(near / step), first), last) * step:.15g}")
            if first <= last and low < candidate <= high:
                return candidate
    return high


def _quantile_cuts(distinct: NDArray[np.float64], counts: NDArray[np.intp]) -> tuple[list[float], str]:
    """Return cuts at rounded quantiles, and a comment; a number that many rows have gets a bin of its own."""
    heavy = counts >= _HEAVY * counts.sum()
    numbers, cuts = distinct.tolist(), set[float]()
    for i in np.flatnonzero(heavy).tolist():
        neighbors = itertools.pairwise(numbers[max(0, i - 1) : i + 2])
        cuts |= {_roundest(low, high, numbers[i]) for low, high in neighbors}
    values, below = distinct[~heavy], np.cumsum(counts[~heavy]) / counts[~heavy].sum()
    n_bins = max(2, 5 - int(heavy.sum()))
    for k in range(1, n_bins):
        # Any cut within a quarter of a bin around the quantile is as good, so the roundest is taken.
        low, middle, high = (
            float(values[np.searchsorted(below[:-1], (k + shift) / n_bins)]) for shift in (-0.25, 0, 0.25)
        )
        cuts.add(_roundest(low, high, middle) if low < high else low)
    comment = "Bins are cut at rounded quantiles"
    if heavy.any():
        names = few([figure(value) for value in distinct[heavy]])
        comment += f"; {names} has a bin of its own, because so many rows have it"
    return sorted(cuts - {numbers[0]}), f"{comment}."


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
