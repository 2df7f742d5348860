"""Drafting the card of an unknown file: what its columns are, and why."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card_parts import CategoricalColumn, NumericColumn
from benchmark.data.load import Coder
from benchmark.data.sniff import RawColumn, RawTable, sniff
from benchmark.data.states import (
    MISSING,
    MOST_LEVELS,
    MOST_STATES,
    OTHER,
    Found,
    Mask,
    bin_names,
    category,
    content,
    cut,
    cut_of,
    feature,
    merged,
    useless,
)
from benchmark.errors import DataError
from benchmark.text.words import as_number, few, number, share

MIN_COUNT = 5
"""Fewest rows with which a value has a state of its own."""

LEAK, HINT, PROXY = 0.5, 0.25, 0.3
"""Share of the label's information from which a column is left out or named; Cramér's V of a proxy."""

_MOST_LISTED = 200  # raw values that a card's filter may list
_MOST_NAMED = 60  # columns that an error lists
_CONDITION = re.compile(r"(<=|>=|<|>)\s*(\S+)")
_PEOPLE = re.compile(r"sex|gender|race|ethnic|age|nation|foreign|relig|disab|marital|colou?r|origin", re.I)


@dataclass(frozen=True)
class Wish:
    """What a user says of a file; ``None`` where it is to be found out."""

    label: str
    favorable: str | None
    sensitive: str
    deprived: str | None = None
    min_count: int = MIN_COUNT
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)  # values of columns, in their order


def as_wish(value: object) -> str | None:
    """Return what a user of Python names, in the words of the command line."""
    if value is None or isinstance(value, str):
        return value
    return ",".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else str(value)


@dataclass
class Kept:
    """A column as the card reads it, and the reasons."""

    name: str
    entry: dict[str, Any]  # the fields of its table in the card
    comments: list[str]
    leak: str = ""  # why it seems to give the label away, if it does: written as a comment then
    codes: NDArray[np.int16] = field(default_factory=lambda: np.empty(0, np.int16))


@dataclass
class Draft:
    """A card, and what is to be said of each choice."""

    table: RawTable
    columns: dict[str, Kept]
    dropped: dict[str, str]  # the reason, by column
    filter: dict[str, list[str]]
    problems: list[str]
    warnings: list[str]  # what somebody has to know who reads no card
    roles: dict[str, str] = field(default_factory=dict)
    role_comments: dict[str, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows the card reads."""
        return len(next(iter(self.columns.values())).codes)

    @property
    def kept(self) -> dict[str, Kept]:
        """The columns that the card reads."""
        return {name: column for name, column in self.columns.items() if not column.leak}


@dataclass
class _Choice:
    """Values that a user chose, the name of their state, and where a condition cuts numbers."""

    values: frozenset[str]
    name: str
    cut: float | None = None

    def of(self, column: RawColumn) -> Mask:
        """Return which values of a column are chosen."""
        return np.array([value in self.values for value in column.values], dtype=bool)


def draft(path: Path, wish: Wish, folder: Path) -> Draft:
    """Draft the card of a CSV file, to lie in a folder.

    A DataError says in a sentence what cannot be read or found.
    """
    table = sniff(path, folder)
    for name, option in ((wish.label, "label"), (wish.sensitive, "sensitive")):
        _require_column(name, option, table)
    if wish.label == wish.sensitive:
        what = f"{wish.label!r} cannot be the label and the sensitive column"
        raise DataError(what, remedy="name another --sensitive")
    if wish.favorable is None:
        raise DataError(
            f"Nobody says which value of {wish.label!r} is good for people",
            expected=_shown(table.columns[wish.label]),
            remedy="name it with --favorable",
        )
    return _Drafting(table, wish).run(wish.favorable)


class _Drafting:
    def __init__(self, table: RawTable, wish: Wish) -> None:
        self.wish, self.least = wish, wish.min_count
        self.raw = table.columns
        self.made = Draft(table, {}, {}, {}, [], [])

    def run(self, favorable_label: str) -> Draft:
        wish, made = self.wish, self.made
        favorable = _chosen(self.raw[wish.label], favorable_label, "favorable")
        deprived = None
        if (asked := wish.deprived) is not None:
            if asked not in self.raw[wish.sensitive].values:
                asked = re.sub(rf"^{re.escape(wish.sensitive)}\s*=\s*", "", asked)
            deprived = _chosen(self.raw[wish.sensitive], asked, "deprived")
        self._leave_rows_out(deprived)
        label = self._label(favorable)
        sensitive = self._sensitive(deprived)
        y = label.codes == label.entry["states"].index(favorable.name)
        group, picked = self._group(sensitive, deprived, y)
        member = sensitive.codes == sensitive.entry["states"].index(group)
        self._features(label, sensitive)
        self._look(y, member)
        self._repeated_rows()
        made.roles = {
            "label": label.name,
            "favorable_label": favorable.name,
            "sensitive_feature": sensitive.name,
            "deprived_group": group,
        }
        made.role_comments = {
            "favorable_label": f"{share(float(y.mean()))} of {len(y):,} rows have it.",
            "deprived_group": f"{picked}{share(float(y[member].mean()))} of its {member.sum():,} rows have "
            f"the favorable label, {share(float(y[~member].mean()))} of the {(~member).sum():,} others.",
        }
        return made

    def _leave_rows_out(self, deprived: _Choice | None) -> None:
        """Leave rows out without label or group; the card's filter lists the values that remain."""
        kept = np.ones(self.made.table.n_rows, dtype=bool)
        for name in (self.wish.label, self.wish.sensitive):
            column = self.raw[name]
            gone: Mask = column.missing
            why = f"no {name!r}"
            if name == self.wish.sensitive and (deprived is None or deprived.cut is None):
                # Together too few for a state of their own, and no member of another group.
                rare: Mask = ~gone & (column.counts < self.least)
                if deprived is not None:
                    rare &= ~deprived.of(column)
                if 0 < column.counts[rare].sum() < self.least:
                    gone, why = gone | rare, f"{why}, or one that fewer than {self.least} rows have,"
            if not (n := int(column.counts[gone].sum())):
                continue
            if (~gone).sum() > _MOST_LISTED:
                raise DataError(
                    f"{n:,} rows have {why}",
                    expected="a value in each row of the label and of the sensitive column",
                    remedy="take these rows out of the file",
                )
            values = zip(column.values, gone, strict=True)
            self.made.filter[name] = [value for value, left_out in values if not left_out]
            kept &= ~gone[column.rows]
            self.made.problems.append(f"{n:,} rows with {why} are left out.")
        if not kept.any():
            what = f"No row has both {self.wish.label!r} and {self.wish.sensitive!r}"
            raise DataError(what, remedy="check the file, and the names of the columns")
        self.raw = {name: column.of(kept) for name, column in self.raw.items()}

    def _label(self, favorable: _Choice) -> Kept:
        column = self.raw[self.wish.label]
        chosen = favorable.of(column)
        self._require_both(column, chosen, ("favorable", "unfavorable"), "check --favorable")
        if favorable.cut is not None:
            entry, comments = cut(column, [favorable.cut]), ["Two classes, as --favorable says."]
            return self._coded(column, (entry, comments))
        order = sorted(np.flatnonzero(~chosen), key=lambda i: -column.counts[i])
        names = [column.values[i] for i in order]
        rest = names[0] if len(set(map(as_number, names)) - {None}) == 1 else " or ".join(names)
        rest = rest if len(names) <= 3 else OTHER
        if favorable.name == rest:
            favorable.name += " (favorable)"
        comments = [] if len(column.values) == 2 else ["Classes are merged into two, as --favorable says."]
        return self._coded(column, (merged(column, [(favorable.name, chosen), (rest, ~chosen)]), comments))

    def _sensitive(self, deprived: _Choice | None) -> Kept:
        column = self.raw[self.wish.sensitive]
        if deprived is None:
            many = len(column.values) > MOST_LEVELS
            kept = self._coded(column, feature(column, self.least) if many else category(column, self.least))
            if len(kept.entry["states"]) < 2:
                raise DataError(
                    f"The sensitive column {column.name!r} has one group",
                    expected=f"two or more, of {self.least} rows or more",
                    got=_shown(column),
                    remedy="name another --sensitive",
                )
            return kept
        chosen = deprived.of(column)
        both = f"in the deprived group {deprived.name!r}", "in another group"
        self._require_both(column, chosen, both, "name several values with --deprived A,B, or another group")
        if deprived.cut is not None:
            return self._coded(column, (cut(column, [deprived.cut]), ["Two groups, as --deprived says."]))
        return self._coded(column, category(column, self.least, (deprived.name, chosen)))

    def _require_both(self, column: RawColumn, chosen: Mask, words: tuple[str, str], remedy: str) -> None:
        for side, word in zip((chosen, ~chosen), words, strict=True):
            if (n := int(column.counts[side].sum())) < self.least:
                raise DataError(
                    f"{n} row{'s are' if n != 1 else ' is'} {word}, by the column {column.name!r}",
                    expected=f"{self.least} or more",
                    got=_shown(column),
                    remedy=f"{remedy}, or lower --min-count" if n else remedy,
                )

    def _group(self, sensitive: Kept, deprived: _Choice | None, y: Mask) -> tuple[str, str]:
        """Return the deprived group, by default the one of the fewest favorable labels, and why."""
        states, made = sensitive.entry["states"], self.made
        counts = np.bincount(sensitive.codes, minlength=len(states))
        rates = np.bincount(sensitive.codes, weights=y, minlength=len(states)) / np.maximum(counts, 1)
        picked = ""
        if deprived is None:
            # A handful of people has any rate.
            large = counts >= min(max(30, 0.02 * len(y)), np.sort(counts)[-2])
            code = int(np.argmin(np.where(large, rates, np.inf)))
            picked = "Nobody named it: it is the group that has the favorable label least often. "
            which = f"{sensitive.name} = {states[code]!r}, the one that has the favorable label least often"
            made.warnings.append(f"The deprived group was not named: it is {which}.")
        else:
            code = states.index(deprived.name)
        others = float(y[sensitive.codes != code].mean())
        if round(rates[code] - others, 3) > 0:
            better = f"{share(rates[code])} of it have the favorable label, {share(others)} of the others"
            made.warnings.append(
                f"{sensitive.name} = {states[code]!r} is better off in these data: {better}."
            )
        for state, n in zip(states, counts.tolist(), strict=True):
            if n < max(50, 0.01 * len(y)):
                few_rows = f"The group {sensitive.name} = {state!r} has {n} rows"
                made.problems.append(f"{few_rows}: what is said of it is noise.")
        for code_of, who in ((rates[code], "the deprived group"), (others, "the other groups")):
            if code_of in (0, 1):
                answer = "Everybody" if code_of else "Nobody"
                made.problems.append(f"{answer} of {who} has the favorable label.")
        if (rare := min(y.mean(), 1 - y.mean())) < 0.1:
            made.problems.append(f"The rarer label has {share(float(rare))} of the rows.")
        return str(states[code]), picked

    def _features(self, label: Kept, sensitive: Kept) -> None:
        made, first = self.made, dict[object, str]()
        lacking = []
        for name, column in self.raw.items():
            if name in (label.name, sensitive.name):
                made.columns[name] = label if name == label.name else sensitive
                continue
            if reason := useless(column):
                made.dropped[name] = reason
            elif (same := first.setdefault(content(column), name)) != name:
                made.dropped[name] = f"says the same as {same!r}, value by value"
            elif len((found := feature(column, self.least))[0]["states"]) < 2:
                made.dropped[name] = "has nearly the same value in every row"
            else:
                made.columns[name] = self._coded(column, found)
                gone = float(column.counts[column.missing].sum()) / len(column.rows)
                lacking += [(-gone, f"{name} ({share(gone)})")] * (gone >= 0.01)
        if lacking:
            shown = few([text for _, text in sorted(lacking)], 8)
            made.problems.append(f"Values are missing: {shown}. That they are is a state of its own.")

    def _coded(self, column: RawColumn, found: Found) -> Kept:
        """Return a column with its codes, as the loader reads them."""
        entry, comments = found
        order = list(self.wish.orders.get(column.name, ()))
        if entry["kind"] == "categorical" and set(entry["states"]) - {MISSING} <= set(order):
            entry["states"].sort(key=[*order, MISSING].index)
            entry["ordered"] = True
        spec = NumericColumn(**entry) if entry["kind"] == "numeric" else CategoricalColumn(**entry)
        coder = Coder(spec, column.decimal)
        codes = np.array([coder[value] for value in column.values], np.int16)[column.rows]
        return Kept(column.name, entry, comments, codes=codes)

    def _look(self, y: Mask, member: Mask) -> None:
        """Find the columns that give the label away, and those that stand in for the group."""
        proxies, hints = [], []
        for name, column in self.made.columns.items():
            if name in (self.wish.label, self.wish.sensitive):
                continue
            fine = _finely(self.raw[name])
            told, right = (max(f(codes, y) for codes in (column.codes, fine)) for f in (_told, _right))
            says = f"alone it tells {share(right)} of the labels, and the more frequent label "
            says += f"{share(float(max(y.mean(), 1 - y.mean())))}"
            if told >= LEAK:
                column.leak = f"suspected leak: {says}. Is it known before the label is?"
                self.made.warnings.append(
                    f"{name} is left out, a {column.leak} The card says how to keep it."
                )
                continue
            state = _giving_away(column, y)
            if state or told >= HINT:
                says = f"nearly all rows with {state!r} have one label" if state else says
                column.comments.append(f"A strong feature: {says}. Is it known before the label is?")
                hints.append(name)
            if (strength := _cramers_v(column.codes, member)) >= PROXY:
                column.comments.append(f"Proxy of {self.wish.sensitive}: Cramér's V {number(strength, 2)}.")
                proxies.append((-strength, f"{name} ({number(strength, 2)})"))
        if hints:
            self.made.problems.append(f"Tell much of the label: {few(hints, 8)}. Are they known before it?")
        if proxies:
            shown = few([text for _, text in sorted(proxies)], 8)
            hidden = (
                "Columns stand in for the sensitive one, so that hiding it alone hides little (Cramér's V)"
            )
            self.made.problems.append(f"{hidden}: {shown}.")

    def _repeated_rows(self) -> None:
        rows = np.column_stack([self.raw[name].rows for name in self.made.columns])
        if repeated := len(rows) - len(np.unique(rows, axis=0)):
            what = "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
            self.made.problems.append(f"{what} another one in every column that is read.")


def _chosen(column: RawColumn, asked: str, option: str) -> _Choice:
    """Return the values that a user asks for: text as the file has it, numbers by value, or a condition."""
    asked, numbers = asked.strip(), column.numbers
    there = [value for value, gone in zip(column.values, column.missing, strict=True) if not gone]
    if asked not in there and (found := _CONDITION.fullmatch(asked)):
        limit = as_number(found[2])
        if limit is None or (~np.isnan(numbers)).sum() < max(1, 0.9 * len(there)):
            raise DataError(
                f"{asked!r} is no condition for the column {column.name!r}",
                expected="a condition such as '>= 10', for a column of numbers",
                got=_shown(column),
                remedy=f"name values with --{option}",
            )
        at, low = cut_of(found[1], limit, numbers), found[1][0] == "<"
        side = numbers < at if low else numbers >= at
        values = frozenset(column.values[i] for i in np.flatnonzero(side))
        return _Choice(values, bin_names([at], numbers)[0 if low else 1], at)
    parts = [asked] if asked in there else [part.strip() for part in asked.split(",")]
    chosen, matched = set[str](), set[str]()
    for value, own in zip(column.values, numbers, strict=True):
        same = [part for part in parts if value in there and (part == value or as_number(part) == own)]
        chosen |= {value} if same else set()
        matched |= set(same)
    if lacking := [part for part in parts if part not in matched]:
        many = (~np.isnan(numbers)).sum() > MOST_LEVELS
        hint = f"write --{option} '>= 10'; " if many else _meant(lacking[0], there)
        raise DataError(
            f"The column {column.name!r} has no value {lacking[0]!r}",
            expected=_shown(column),
            remedy=f"{hint}values are compared with the text of the file; several stand as A,B",
        )
    name = " or ".join(parts) if len(parts) <= 3 else f"{parts[0]} and {len(parts) - 1} more"
    return _Choice(frozenset(chosen), name)


def _meant(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name.lower(), [own.lower() for own in known], n=1, cutoff=0.5)
    return next((f"did you mean {own!r}? " for own in known if [own.lower()] == close), "")


def _shown(column: RawColumn) -> str:
    order = sorted(np.flatnonzero(~column.missing), key=lambda i: -column.counts[i])
    rows = [f"{column.values[i]!r} ({column.counts[i]:,} rows)" for i in order]
    return few(rows, MOST_STATES, "other values")


def _require_column(name: str, option: str, table: RawTable) -> None:
    if name not in table.columns:
        raise DataError(
            f"The file has no column {name!r}",
            expected="one of " + few(list(map(repr, table.columns)), _MOST_NAMED, "others"),
            remedy=_meant(name, list(table.columns)) + f"name the column with --{option}",
        )


def _finely(column: RawColumn) -> NDArray[np.intp]:
    """Return codes of a column that lose less than its states: up to 50 bins of a number, or its values."""
    numbers = column.numbers[column.rows]
    if np.isnan(numbers).mean() > 0.5:
        return column.rows
    n_bins = min(50, max(2, len(numbers) // 50))
    edges = np.unique(np.nanquantile(numbers, np.linspace(0, 1, n_bins + 1)[1:-1]))
    return np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers, side="right"))


def _table(codes: NDArray[Any], of: NDArray[np.bool_]) -> NDArray[np.float64]:
    _, inverse = np.unique(codes, return_inverse=True)
    return np.array(
        [np.bincount(inverse[of == side], minlength=inverse.max() + 1) for side in (False, True)], float
    )


def _told(codes: NDArray[Any], y: NDArray[np.bool_]) -> float:
    """Return the share of the label's information that codes hold, less what chance alone gives."""
    table = _table(codes, y)
    n = table.sum()

    def entropy(counts: NDArray[np.float64]) -> float:
        p = counts[counts > 0] / n
        return float(-(p * np.log(p)).sum())

    shared = entropy(table.sum(0)) + entropy(table.sum(1)) - entropy(table.ravel())
    return float((shared - (table.shape[1] - 1) / (2 * n)) / entropy(table.sum(1)))


def _right(codes: NDArray[Any], y: NDArray[np.bool_]) -> float:
    table = _table(codes, y)
    return float(table.max(0).sum() / table.sum())


def _giving_away(column: Kept, y: NDArray[np.bool_]) -> str:
    """Return the most frequent state, if any, of which nearly all rows have the same label."""
    table = _table(column.codes, y)
    n, states = table.sum(0), [column.entry["states"][code] for code in np.unique(column.codes)]
    common = table.sum(1).max() / table.sum()
    told = (table.max(0) >= 0.995 * n) & (n >= max(50, 0.02 * n.sum())) & (common < 0.9)
    return str(states[int(np.argmax(np.where(told, n, 0)))]) if told.any() else ""


def _cramers_v(codes: NDArray[Any], member: NDArray[np.bool_]) -> float:
    """Return Cramér's V of a column and a group, less what chance alone gives."""
    table = _table(codes, member)
    n = table.sum()
    expected = np.outer(table.sum(1), table.sum(0)) / n
    with np.errstate(invalid="ignore"):
        chi = np.nansum((table - expected) ** 2 / expected)
    return math.sqrt(max(0.0, float(chi - (table.shape[1] - 1)) / n))


def missing_roles(table: RawTable, asked: Mapping[str, str | None]) -> DataError:
    """Return an error that names the options that are missing, and the file's columns."""
    options = " and ".join(f"--{name}" for name, value in asked.items() if not value)
    return DataError(
        f"{options} must be named",
        expected="of the columns " + few(list(map(repr, table.columns)), _MOST_NAMED, "others"),
        remedy="say which column is the label, which value of it is favorable, and which column is sensitive",
    )


def proposals(table: RawTable, asked: Mapping[str, str | None]) -> Iterator[str]:
    """Yield what the options that are missing could be."""
    small = {
        name: column
        for name, column in table.columns.items()
        if 2 <= (~column.missing).sum() <= MOST_STATES and not useless(column)
    }
    if not (label := asked["label"]):
        binary = [name for name, column in small.items() if (~column.missing).sum() == 2]
        # What is to be told often stands last.
        yield f"--label: {few(binary[::-1] or list(table.columns)[::-1], 12, 'others')}"
    elif not asked["favorable"]:
        _require_column(label, "label", table)
        yield f"--favorable: of {label!r}, {_shown(table.columns[label])}"
    if not asked["sensitive"]:
        likely = [name for name in table.columns if _PEOPLE.search(name)] or list(small)
        yield f"--sensitive: {few(likely, 12, 'others')}"
    yield "Nothing is written: name them, and call the command again."
