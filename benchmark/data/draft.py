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

from benchmark.data.card import CategoricalColumn, NumericColumn
from benchmark.data.load import Coder
from benchmark.data.sniff import RawColumn, RawTable, sniff
from benchmark.errors import DataError
from benchmark.text.words import as_number, few, number, share

MIN_COUNT = 5
"""Fewest rows with which a value has a state of its own."""

MOST_STATES, MOST_LEVELS = 12, 8
"""Most states of a category, and most different numbers of which each is a state."""

LEAK, HINT, PROXY = 0.5, 0.25, 0.3
"""Share of the label's information from which a column is left out or named; Cramér's V of a proxy."""

_HEAVY = 0.25  # share of the rows from which one number has a bin of its own
_MOST_LISTED = 200  # raw values that a card's filter may list
_RANGE = re.compile(r"(<=|>=|<|>|≤|≥)\s*(\S+)")
_DATE = re.compile(
    r"(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4})"
    r"([T ]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?"
)
_ID_NAME = re.compile(
    r"(^|.*[_ .-])(id|uuid|guid|index|key|row|rownum|serial)$|.*[a-z](Id|ID)$|unnamed: 0", re.I
)
_OTHER, _MISSING = "other", "missing"


@dataclass(frozen=True)
class Wish:
    """What a user says of a file; ``None`` where it is to be found out."""

    label: str
    favorable: str | None
    sensitive: str
    deprived: str | None = None
    min_count: int = MIN_COUNT


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
    roles: dict[str, str]
    columns: dict[str, Kept]
    dropped: dict[str, str]  # the reason, by column
    filter: dict[str, list[str]]
    problems: list[str]
    warnings: list[str]  # what somebody has to know who reads no card
    role_comments: dict[str, str]

    @property
    def n_rows(self) -> int:
        """How many rows the card reads."""
        return len(next(iter(self.columns.values())).codes)

    @property
    def kept(self) -> dict[str, Kept]:
        """The columns that the card reads."""
        return {name: column for name, column in self.columns.items() if not column.leak}


def draft(path: Path, wish: Wish, folder: Path) -> Draft:
    """Draft the card of a CSV file, to lie in a folder.

    A DataError says in a sentence what cannot be read or found.
    """
    table = sniff(path, folder)
    for name, option in ((wish.label, "label"), (wish.sensitive, "sensitive")):
        if name not in table.columns:
            raise _no_column(name, option, table)
    if wish.label == wish.sensitive:
        raise DataError(
            f"{wish.label!r} cannot be the label and the sensitive column", remedy="name another --sensitive"
        )
    return _Drafting(table, wish).run()


def _no_column(name: str, option: str, table: RawTable) -> DataError:
    close = difflib.get_close_matches(name, table.columns, n=1)
    return DataError(
        f"The file has no column {name!r}",
        expected="one of " + few(list(map(repr, table.columns)), 60, "others"),
        remedy=(f"did you mean {close[0]!r}? " if close else "") + f"name the column with --{option}",
    )


class _Drafting:
    def __init__(self, table: RawTable, wish: Wish) -> None:
        self.wish, self.min_count = wish, wish.min_count
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.filter: dict[str, list[str]] = {}
        self.table = table
        self.raw = table.columns

    def run(self) -> Draft:
        if self.wish.favorable is None:
            raise DataError(
                f"Nobody says which value of {self.wish.label!r} is good for people",
                expected=_shown(self.raw[self.wish.label]),
                remedy="name it with --favorable",
            )
        favorable = self._chosen(self.wish.label, self.wish.favorable, "favorable")
        deprived = None
        if (asked := self.wish.deprived) is not None:
            if asked not in self.raw[self.wish.sensitive].values:
                asked = re.sub(rf"^{re.escape(self.wish.sensitive)}\s*=\s*", "", asked)
            deprived = self._chosen(self.wish.sensitive, asked, "deprived")
        self._leave_out()
        label = self._label(favorable)
        sensitive = self._sensitive(deprived)
        y = label.codes == label.entry["states"].index(favorable.name)
        group = self._group(sensitive, deprived, y)
        member = sensitive.codes == sensitive.entry["states"].index(group)
        columns, dropped = self._features(label, sensitive)
        self._look(columns, y, member)
        self._duplicate_rows(columns)
        roles = {
            "label": label.name,
            "favorable_label": favorable.name,
            "sensitive_feature": sensitive.name,
            "deprived_group": group,
        }
        of_label = f"{share(float(y.mean()))} of {len(y):,} rows have it."
        rates = f"{share(float(y[member].mean()))} of its {member.sum():,} rows have the favorable label, "
        comments = {
            "favorable_label": of_label,
            "deprived_group": self.pick
            + rates
            + f"{share(float(y[~member].mean()))} of the {(~member).sum():,} others.",
        }
        return Draft(self.table, roles, columns, dropped, self.filter, self.problems, self.warnings, comments)

    # Roles

    def _chosen(self, name: str, asked: str, option: str) -> _Choice:
        column = self.raw[name]
        there = ~column.missing
        text = list(column.values)
        if asked in text:
            return _Choice(self._same(column, [asked]), asked)
        if found := _RANGE.fullmatch(asked.strip()):
            limit = as_number(found[2])
            if limit is None or np.isnan(column.numbers[there]).mean() > 0.1:
                raise DataError(
                    f"{asked!r} is no condition for the column {name!r}",
                    expected="a condition such as '>= 10' for a column of numbers",
                    got=_shown(column),
                    remedy=f"name values with --{option}",
                )
            cut = _cut_of(found[1], limit, column.numbers)
            low = found[1] in ("<", "<=", "≤")
            names = _bin_names([cut], column.numbers, levels=False)
            side = column.numbers < cut if low else column.numbers >= cut
            return _Choice(side, names[0 if low else 1], cut)
        parts = [part.strip() for part in asked.split(",")]
        numbers = {as_number(part) for part in parts} - {None}
        chosen = [v for v, n in zip(text, column.numbers, strict=True) if v in parts or n in numbers]
        known = {*chosen, *(as_number(v) for v in chosen)}
        if lacking := [part for part in parts if part not in known and as_number(part) not in known - {None}]:
            close = difflib.get_close_matches(lacking[0].lower(), [t.lower() for t in text], n=1, cutoff=0.5)
            meant = next((t for t in text if close and t.lower() == close[0]), None)
            hint = f"did you mean {meant!r}? " if meant else ""
            if (~np.isnan(column.numbers)).sum() > MOST_LEVELS:
                hint += f"for a column of numbers, write a condition: --{option} '>= 10'; "
            raise DataError(
                f"The column {name!r} has no value {lacking[0]!r}",
                expected=_shown(column),
                remedy=f"{hint}values are compared with the text of the file; several stand as A,B",
            )
        return _Choice(
            self._same(column, chosen), " or ".join(parts) if len(parts) <= 3 else f"{parts[0]} and others"
        )

    def _same(self, column: RawColumn, values: Sequence[str]) -> NDArray[np.bool_]:
        """Return which values of a column are some of them, numbers by value."""
        numbers = {as_number(value) for value in values} - {None}
        return np.array(
            [v in values or n in numbers for v, n in zip(column.values, column.numbers, strict=True)],
            dtype=bool,
        )

    def _leave_out(self) -> None:
        """Leave rows out without label or group; the card's filter lists the values that remain."""
        kept = np.ones(self.table.n_rows, dtype=bool)
        for name in (self.wish.label, self.wish.sensitive):
            column = self.raw[name]
            gone = column.missing.copy()
            if name == self.wish.sensitive:
                rare = ~gone & (column.counts < self.min_count)
                few_numbers = (~np.isnan(column.numbers)).sum() <= MOST_LEVELS
                if (
                    column.counts[rare].sum() < self.min_count
                    and few_numbers
                    and "<" not in (self.wish.deprived or "")
                ):
                    gone |= rare
            n = int(column.counts[gone].sum())
            if not n:
                continue
            if (~gone).sum() > _MOST_LISTED:
                raise DataError(
                    f"{n:,} rows have no {name!r}",
                    expected="a value in each row of the label and of the sensitive column",
                    remedy="take these rows out of the file",
                )
            self.filter[name] = [value for value, left in zip(column.values, gone, strict=True) if not left]
            kept &= ~gone[column.rows]
            what = (
                f"no {name!r}, or one that fewer than {self.min_count} rows have"
                if (gone & ~column.missing).any()
                else f"no {name!r}"
            )
            self.problems.append(f"{n:,} rows with {what} are left out.")
        self.kept_rows = kept
        self.raw = {name: column.of(kept) for name, column in self.raw.items()}
        if not kept.any():
            raise DataError(
                f"No row has both {self.wish.label!r} and {self.wish.sensitive!r}", remedy="check the file"
            )

    def _label(self, favorable: _Choice) -> Kept:
        column = self.raw[self.wish.label]
        chosen = self._restricted(favorable, self.wish.label)
        name, counts = self.wish.label, column.counts
        for side, word in ((chosen, "favorable"), (~chosen, "unfavorable")):
            if counts[side].sum() < self.min_count:
                raise DataError(
                    f"The label {name!r} has {counts[side].sum()} rows that are {word}",
                    expected=f"{self.min_count} or more",
                    got=_shown(column),
                    remedy="check --favorable" + (", or lower --min-count" if counts[side].any() else ""),
                )
        if favorable.cut is not None:
            return self._coded(
                name,
                _numeric([favorable.cut], column.numbers, levels=False),
                ["Two classes, as --favorable says."],
            )
        rest = self._rest_name(column, ~chosen)
        favorable.name = favorable.name if favorable.name != rest else f"{favorable.name} (favorable)"
        entry = _merged(column, [(favorable.name, chosen), (rest, ~chosen)])
        comments = [] if len(column.values) == 2 else ["Classes are merged into two, as --favorable says."]
        return self._coded(name, entry, comments)

    def _rest_name(self, column: RawColumn, rest: NDArray[np.bool_]) -> str:
        names = [column.values[i] for i in sorted(np.flatnonzero(rest), key=lambda i: -column.counts[i])]
        numbers = {as_number(name) for name in names}
        if len(numbers) == 1 and None not in numbers:
            return names[0]
        return " or ".join(names) if len(names) <= 3 else _OTHER

    def _restricted(self, choice: _Choice, name: str) -> NDArray[np.bool_]:
        """Return of the values that are left whether they were chosen."""
        before = {v for v, c in zip(self.table.columns[name].values, choice.values, strict=True) if c}
        return np.array([value in before for value in self.raw[name].values], dtype=bool)

    def _sensitive(self, deprived: _Choice | None) -> Kept:
        column, name = self.raw[self.wish.sensitive], self.wish.sensitive
        if len(column.values) < 2:
            raise DataError(
                f"The sensitive column {name!r} has one value", expected="two groups or more", got=_shown(column),
                remedy="name another --sensitive",
            )  # fmt: skip
        if deprived is None:
            groups, comments = self._states(column)
            if not np.isnan(column.numbers).any() and len(column.values) > MOST_LEVELS:
                return self._feature(column)
            return self._coded(name, _merged(column, groups), comments)
        chosen = self._restricted(deprived, name)
        for side, word in (
            (chosen, f"in the deprived group {deprived.name!r}"),
            (~chosen, "in another group"),
        ):
            if (n := column.counts[side].sum()) < self.min_count:
                raise DataError(
                    f"{n} rows are {word}", expected=f"{self.min_count} or more", got=_shown(column),
                    remedy="name several values with --deprived A,B, or another group",
                )  # fmt: skip
        if deprived.cut is not None:
            return self._coded(
                name,
                _numeric([deprived.cut], column.numbers, levels=False),
                ["Two groups, as --deprived says."],
            )
        rest, comments = self._states(column, ~chosen)
        return self._coded(name, _merged(column, [(deprived.name, chosen), *rest]), comments)

    def _group(self, sensitive: Kept, deprived: _Choice | None, y: NDArray[np.bool_]) -> str:
        """Return the deprived group: the one asked for, or that which has the favorable label least often."""
        states = sensitive.entry["states"]
        counts = np.bincount(sensitive.codes, minlength=len(states))
        rates = np.bincount(sensitive.codes, weights=y, minlength=len(states)) / np.maximum(counts, 1)
        self.pick = ""
        if deprived is None:
            large = counts >= min(max(30, 0.02 * len(y)), np.sort(counts)[-2])
            code = int(np.argmin(np.where(large, rates, np.inf)))
            self.pick = "Nobody named it: it is the group that has the favorable label least often. "
            self.warnings.append(
                f"The deprived group was not named: it is {sensitive.name} = {states[code]!r}, of whom "
                f"{share(rates[code])} have the favorable label."
            )
            group = str(states[code])
        else:
            group, code = deprived.name, states.index(deprived.name)
            others = float(y[sensitive.codes != code].mean())
            if round(rates[code] - others, 3) > 0:
                self.warnings.append(
                    f"{sensitive.name} = {group!r} is better off in these data: {share(rates[code])} of it have the "
                    f"favorable label, {share(others)} of the others."
                )
        for state, n in zip(states, counts.tolist(), strict=True):
            if n < max(50, 0.01 * len(y)):
                self.problems.append(
                    f"The group {sensitive.name} = {state!r} has {n} rows: what is said of it is noise."
                )
        if not 0 < rates[code] < 1:
            answer = "Nobody" if rates[code] == 0 else "Everybody"
            self.problems.append(f"{answer} of the deprived group has the favorable label.")
        if (rare := min(y.mean(), 1 - y.mean())) < 0.1:
            self.problems.append(f"The rarer label has {share(float(rare))} of the rows.")
        return group

    # Features

    def _features(self, label: Kept, sensitive: Kept) -> tuple[dict[str, Kept], dict[str, str]]:
        columns: dict[str, Kept] = {}
        dropped: dict[str, str] = {}
        same: dict[object, str] = {}
        lacking = []
        for name, column in self.raw.items():
            if name in (label.name, sensitive.name):
                columns[name] = label if name == label.name else sensitive
                continue
            if gone := float(column.counts[column.missing].sum()) / len(column.rows):
                lacking.append((gone, name))
            reason = _useless(column)
            if not reason:
                first = same.setdefault(_content(column), name)
                reason = f"says the same as {first!r}, value by value" if first != name else ""
            if reason:
                dropped[name] = reason
            else:
                found = self._feature(column)
                if len(found.entry["states"]) < 2:
                    dropped[name] = (
                        f"fewer than {self.min_count} rows have another value than the most frequent one"
                    )
                else:
                    columns[name] = found
        if lacking := [
            (gone, name) for gone, name in sorted(lacking, reverse=True) if gone >= 0.01 and name in columns
        ]:
            shown = few([f"{name} ({share(gone)})" for gone, name in lacking], 8)
            self.problems.append(f"Values are missing: {shown}. That they are is a state of its own.")
        return columns, dropped

    def _feature(self, column: RawColumn) -> Kept:
        numbers, there = column.numbers, ~column.missing
        is_number = ~np.isnan(numbers)
        counts = column.counts
        if counts[there & is_number].sum() >= 0.9 * counts[there].sum():
            return self._numeric_feature(column, there & is_number)
        groups, comments = self._states(column)
        covered = sum(counts[own].sum() for name, own in groups if name != _OTHER) / counts.sum()
        if covered < 0.5 and len(groups) < len(column.values):
            comments.append(f"Its most frequent states are only {share(float(covered))} of the rows.")
        return self._coded(column.name, _merged(column, groups), comments)

    def _numeric_feature(self, column: RawColumn, plain: NDArray[np.bool_]) -> Kept:
        numbers, counts = column.numbers[plain], column.counts[plain]
        order = np.argsort(numbers, kind="stable")
        numbers, counts = numbers[order], counts[order]
        distinct, where = np.unique(numbers, return_inverse=True)
        counts = np.bincount(where, weights=counts).astype(int)
        levels = len(distinct) <= MOST_LEVELS
        cuts, comment = (
            (list(distinct[1:]), "Each number is a state.") if levels else _quantile_cuts(distinct, counts)
        )
        least = self.min_count if levels else max(self.min_count, counts.sum() // 100)
        cuts, n_merged = _large_enough(cuts, distinct, counts, least)
        if n_merged and levels:
            comment += f" Those of fewer than {least} rows are joined with their neighbors."
        entry = _numeric(cuts, distinct, levels=levels)
        comments = [comment]
        extra, more = self._states(column, ~plain, floor=False)
        comments += more
        for state, own in extra:
            small = column.counts[own].sum() < self.min_count
            sizes = [
                counts[(distinct >= low) & (distinct < high)].sum() for low, high in _spans(entry["bins"])
            ]
            to = entry["states"][int(np.argmax(sizes))] if small else state
            if small:
                comments.append(
                    f"Fewer than {self.min_count} rows are {state}: they are read as {to!r}, the most frequent."
                )
            elif state not in entry["states"]:
                entry["states"].append(state)
            if state == _OTHER:
                entry["others"] = to
            else:
                entry.setdefault("values", {}).update({column.values[i]: to for i in np.flatnonzero(own)})
        return self._coded(column.name, entry, comments)

    def _states(
        self, column: RawColumn, among: NDArray[np.bool_] | None = None, *, floor: bool = True
    ) -> tuple[list[tuple[str, NDArray[np.bool_]]], list[str]]:
        """Return the states of a category, each with its values, and what is to be said of them.

        Missing values are a state, and so are those together that are rare. With ``floor``, a state of too
        few rows is read as the most frequent one.
        """
        among = np.ones(len(column.values), dtype=bool) if among is None else among
        counts, missing = column.counts, column.missing & among
        plain = np.flatnonzero(among & ~missing)
        alike: dict[object, list[int]] = {}
        all_numbers = not np.isnan(column.numbers[plain]).any()
        for i in plain:
            alike.setdefault(column.numbers[i] if all_numbers else column.values[i], []).append(int(i))
        sized = sorted(alike.values(), key=lambda own: (-counts[own].sum(), column.values[own[0]]))
        most = MOST_STATES - bool(missing.any())
        large = [own for own in sized if counts[own].sum() >= self.min_count]
        kept = large if len(large) == len(sized) <= most else large[: most - 1]
        groups = [(column.values[max(own, key=lambda i: counts[i])], _mask(own, len(among))) for own in kept]
        # In the natural order of numbers, or of the alphabet: the most frequent first would tell something.
        groups.sort(key=lambda group: (as_number(group[0]) if all_numbers else 0, group[0]))
        comments = []
        rest = _mask([i for own in sized if own not in kept for i in own], len(among))
        if rest.any():
            n = int(counts[rest].sum())
            if floor and n < self.min_count and groups:
                to = max(range(len(groups)), key=lambda g: counts[groups[g][1]].sum())
                comments.append(
                    f"{n} rows have rarer values; too few for a state, they are read as {groups[to][0]!r}."
                )
                groups[to] = (groups[to][0], groups[to][1] | rest)
            else:
                comments.append(f"{rest.sum():,} rarer values, {n:,} rows, are one state.")
                _join(groups, _OTHER, rest)
        if missing.any():
            n, marks = (
                int(counts[missing].sum()),
                ", ".join(repr(column.values[i]) for i in np.flatnonzero(missing)),
            )
            if floor and n < self.min_count and groups:
                to = max(range(len(groups)), key=lambda g: counts[groups[g][1]].sum())
                comments.append(
                    f"{n} rows lack a value ({marks}): too few for a state, they are read as {groups[to][0]!r}."
                )
                groups[to] = (groups[to][0], groups[to][1] | missing)
            else:
                comments.append(f"{n:,} rows lack a value: {marks}.")
                _join(groups, _MISSING, missing)
        return groups, comments

    def _coded(self, name: str, entry: dict[str, Any], comments: list[str]) -> Kept:
        """Return a column with its codes, as the loader reads them."""
        numeric = entry["kind"] == "numeric"
        spec = NumericColumn(**entry) if numeric else CategoricalColumn(**entry)
        coder, column = Coder(spec, self.table.source.decimal), self.raw[name]
        return Kept(
            name,
            entry,
            comments,
            codes=np.array([coder[value] for value in column.values], np.int16)[column.rows],
        )

    # What columns say of each other

    def _look(self, columns: dict[str, Kept], y: NDArray[np.bool_], member: NDArray[np.bool_]) -> None:
        """Find the columns that give the label away, and those that stand in for the group."""
        proxies, hints = [], []
        for name, column in columns.items():
            if name in (self.wish.label, self.wish.sensitive):
                continue
            fine = _finely(self.raw[name])
            told = max(_told(column.codes, y), _told(fine, y))
            if told >= HINT:
                right = max(_right(column.codes, y), _right(fine, y))
                says = (
                    f"alone it tells {share(right)} of the labels (the more frequent label is "
                    f"{share(float(max(y.mean(), 1 - y.mean())))} of the rows)"
                )
                if told >= LEAK:
                    column.leak = f"suspected leak: {says}. Is it known before the label is?"
                    self.warnings.append(f"{name} is left out, a {column.leak} The card says how to keep it.")
                else:
                    column.comments.append(f"A strong feature: {says}. Was it known before the label?")
                    hints.append(name)
            elif state := _giving_away(column, y):
                column.comments.append(
                    f"Nearly all rows with {state!r} have one label: was it known before the label?"
                )
                hints.append(name)
            strength = _cramers_v(column.codes, member)
            if strength >= PROXY and not column.leak:
                column.comments.append(f"Proxy of {self.wish.sensitive}: Cramér's V {number(strength, 2)}.")
                proxies.append((strength, name))
        if hints:
            self.problems.append(f"May be known only after the label: {few(hints, 8)}.")
        if proxies:
            shown = few(
                [
                    f"{name} ({number(strength, 2)})"
                    for strength, name in sorted(proxies, key=lambda p: (-p[0], p[1]))
                ],
                8,
            )
            self.problems.append(
                f"Columns stand in for the sensitive one, so that hiding it alone hides little (Cramér's V): {shown}."
            )

    def _duplicate_rows(self, columns: dict[str, Kept]) -> None:
        table = np.column_stack([self.raw[name].rows for name in columns])
        if repeated := len(table) - len(np.unique(table, axis=0)):
            rows = "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
            self.problems.append(f"{rows} another one in every column that is read.")


@dataclass
class _Choice:
    """Values that a user chose, the name of their state, and where numbers are cut if they are a condition."""

    values: NDArray[np.bool_]
    name: str
    cut: float | None = None


def _shown(column: RawColumn) -> str:
    order = sorted(np.flatnonzero(~column.missing), key=lambda i: -column.counts[i])
    rows = [f"{column.values[i]!r} ({column.counts[i]:,} rows)" for i in order]
    return few(rows, MOST_STATES, "other values")


def _mask(positions: Sequence[int], length: int) -> NDArray[np.bool_]:
    found = np.zeros(length, dtype=bool)
    found[list(positions)] = True
    return found


def _join(groups: list[tuple[str, NDArray[np.bool_]]], name: str, own: NDArray[np.bool_]) -> None:
    """Add values to the state of that name, or as a new one."""
    for i, (state, values) in enumerate(groups):
        if state == name:
            groups[i] = name, values | own
            return
    groups.append((name, own))


def _merged(column: RawColumn, groups: Sequence[tuple[str, NDArray[np.bool_]]]) -> dict[str, Any]:
    """Return the entry of a category: what is rare is not listed, but read as the state of all others."""
    states, values = [name for name, _ in groups], {}
    entry: dict[str, Any] = {"kind": "categorical", "states": states}
    for name, own in groups:
        if name == _OTHER and len(np.flatnonzero(own)) > 1:
            entry["others"] = name
            continue
        values |= {column.values[i]: name for i in np.flatnonzero(own) if column.values[i] != name}
    return entry | ({"values": values} if values else {})


def _useless(column: RawColumn) -> str:
    """Return why a column is no feature, if it is none."""
    counts, there = column.counts, np.flatnonzero(~column.missing)
    n, n_rows = len(there), int(counts[there].sum())
    if not n:
        return "has no value in any row"
    if n == 1 and n_rows == len(column.rows):
        return "has the same value in every row"
    values = [column.values[i] for i in there]
    numbers = column.numbers[there]
    numeric = not np.isnan(numbers).any()
    if not numeric and sum(bool(_DATE.fullmatch(value)) for value in values) >= 0.95 * n:
        return "holds dates or times, which have no states"
    first = numbers[column.rows[np.isin(column.rows, there)]] if numeric and n == n_rows else None
    if first is not None and n >= 20 and (numbers == np.round(numbers)).all():
        steps = np.diff(column.numbers[column.rows[np.isin(column.rows, there)]])
        if (steps > 0).all() or (steps < 0).all() or np.ptp(numbers) == n - 1:
            return "numbers the rows"
    if _ID_NAME.fullmatch(column.name) and n > max(MOST_STATES, 0.05 * n_rows):
        return f"is called as identifiers are, and has {n:,} different values"
    if numeric:
        return ""
    if n > 0.5 * n_rows and n > MOST_STATES:
        long = np.mean([len(value.split()) for value in values]) >= 4
        return f"is free text: {n:,} different values" if long else f"identifies rows: {n:,} different values"
    most = np.sort(counts[there])[::-1][: MOST_STATES - 1].sum()
    if n > 4 * MOST_STATES and most < 0.5 * n_rows and np.isnan(numbers).mean() > 0.1:
        return f"has {n:,} different values, of which the {MOST_STATES - 1} most frequent are {share(most / n_rows)} of the rows"
    return ""


def _content(column: RawColumn) -> object:
    """Return what two columns share that tell rows apart alike: which rows have the same value.

    Columns of nearly as many values as rows do so by accident, so their values have to be the same.
    """
    if len(column.values) * 5 > len(column.rows):
        return column.values, column.rows.tobytes()
    _, first, inverse = np.unique(column.rows, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].tobytes()


# Numbers


def _cut_of(sign: str, limit: float, numbers: NDArray[np.float64]) -> float:
    """Return where a condition cuts numbers: what is below it is on one side, it and all above on the other."""
    if sign in ("<", ">=", "≥"):
        return limit
    above = numbers[numbers > limit]
    return (
        float(_roundest(limit, float(above.min()), limit)) if len(above) else math.nextafter(limit, math.inf)
    )


def _roundest(low: float, high: float, near: float) -> float:
    """Return the number of the fewest digits above ``low`` and up to ``high``; of several the nearest one."""
    span = high - low
    for exponent in range(math.floor(math.log10(max(abs(low), abs(high), span))) + 1, -320, -1):
        for step in (5, 2, 1):
            first = math.floor(low / (step * 10.0**exponent)) + 1
            last = math.floor(high / (step * 10.0**exponent))
            if last >= first:
                best = min(max(round(near / (step * 10.0**exponent)), first), last)
                found = (
                    best * step * 10**exponent
                    if exponent >= 0
                    else round(best * step * 10.0**exponent, -exponent)
                )
                if low < found <= high:
                    return float(found)
    return high


def _quantile_cuts(distinct: NDArray[np.float64], counts: NDArray[np.intp]) -> tuple[list[float], str]:
    """Cut numbers at rounded quantiles; numbers that very many rows have get a bin of their own."""
    heavy = distinct[counts >= _HEAVY * counts.sum()]
    cuts = set()
    for value in heavy:
        if value > distinct[0]:
            cuts.add(float(value))
        if (above := distinct[distinct > value]).size:
            cuts.add(_roundest(float(value), float(above[0]), float(value)))
    light = ~np.isin(distinct, heavy)
    values, weights = distinct[light], counts[light]
    n_bins = max(2, 5 - len(heavy))
    below = np.cumsum(weights) / weights.sum()
    for k in range(1, n_bins):
        # Any cut within a quarter of a bin around the quantile is as good, so the roundest is taken.
        low, middle, high = (
            float(values[min(np.searchsorted(below, (k + shift) / n_bins), len(values) - 1)])
            for shift in (-0.25, 0, 0.25)
        )
        cut = _roundest(low, high, middle) if low < high else low
        if cut > distinct[0]:
            cuts.add(cut)
    words = "Bins are cut at rounded quantiles"
    if len(heavy):
        words += f"; {few([_figure(v) for v in heavy])} has one of its own, as so many rows have it"
    return sorted(cuts), f"{words}."


def _large_enough(
    cuts: list[float], distinct: NDArray[np.float64], counts: NDArray[np.intp], least: int
) -> tuple[list[float], int]:
    """Leave cuts out until each bin has so many rows; return the cuts, and how many are gone."""
    kept: list[float] = []
    for cut in cuts:
        start = kept[-1] if kept else -math.inf
        if counts[(distinct >= start) & (distinct < cut)].sum() >= least:
            kept.append(cut)
    while kept and counts[distinct >= kept[-1]].sum() < least:
        kept.pop()
    return kept, len(cuts) - len(kept)


def _numeric(cuts: Sequence[float], numbers: NDArray[np.float64], *, levels: bool) -> dict[str, Any]:
    found = numbers[~np.isnan(numbers)]
    bins = [-math.inf, *map(float, cuts), math.inf]
    if levels and len(np.unique(found[found < bins[1]])) == 1:
        bins[0] = float(found.min())  # one number is the state, and none below it
    return {"kind": "numeric", "bins": bins, "states": _bin_names(cuts, found, levels=levels)}


def _spans(bins: Sequence[float]) -> Iterator[tuple[float, float]]:
    return zip(bins[:-1], bins[1:], strict=True)


def _bin_names(cuts: Sequence[float], numbers: NDArray[np.float64], *, levels: bool) -> list[str]:
    """Return a readable name for each bin."""
    found = np.unique(numbers[~np.isnan(numbers)])
    whole = bool((found == np.round(found)).all()) and all(cut == round(cut) for cut in cuts)
    names = []
    for low, high in _spans([-math.inf, *cuts, math.inf]):
        inside = found[(found >= low) & (found < high)]
        if len(inside) == 1 and (levels or inside[0] == 0 or high - low == 1):
            names.append(_figure(inside[0]))
        elif low == -math.inf:
            names.append(f"below {_figure(high)}" if high < math.inf else "any")
        elif high == math.inf:
            names.append(f"{_figure(low)} and more")
        else:
            names.append(
                f"{_figure(low)} to {_figure(high - 1)}"
                if whole
                else f"{_figure(low)} to below {_figure(high)}"
            )
    return names


def _figure(value: float) -> str:
    return f"{float(value):.12g}"


# Measures


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
    """Return the most frequent state, if any, of which nearly all rows have the same label, and few others do."""
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


# Proposals

_PEOPLE = re.compile(
    r"sex|gender|race|ethnic|age|nation|foreign|religion|disab|marital|color|colour|origin", re.I
)


def missing_roles(table: RawTable, asked: Mapping[str, str | None]) -> DataError:
    """Return an error that names the options that are missing, and the file's columns."""
    options = " and ".join(f"--{name}" for name, value in asked.items() if not value)
    return DataError(
        f"{options} must be named",
        expected="of the columns " + few(list(map(repr, table.columns)), 60, "others"),
        remedy="say which column is the label, which of its values is favorable, and which column has the groups",
    )


def proposals(table: RawTable, asked: Mapping[str, str | None]) -> Iterator[str]:
    """Yield what the options that are missing could be."""
    small = {
        name: column
        for name, column in table.columns.items()
        if 2 <= (~column.missing).sum() <= MOST_STATES and not _useless(column)
    }
    if not (label := asked["label"]):
        binary = [name for name, column in small.items() if (~column.missing).sum() == 2]
        # What is to be told often stands last.
        yield f"--label: {few(binary[::-1] or list(table.columns)[::-1], 12, 'others')}"
    elif not asked["favorable"]:
        if label not in table.columns:
            raise _no_column(label, "label", table)
        yield f"--favorable: of {label!r}, {_shown(table.columns[label])}"
    if not asked["sensitive"]:
        likely = [name for name in table.columns if _PEOPLE.search(name)] or list(small)
        yield f"--sensitive: {few(likely, 12, 'others')}"
    yield "Nothing is written: name them, and call the command again."
