"""Drafting the card of an unknown file: what its columns are, and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.association import cramers_v, finely, giving_away, right_by, told_by
from benchmark.data.card_parts import CategoricalColumn, NumericColumn
from benchmark.data.doubts import (
    Answer,
    DoubtError,
    Question,
    doubts_of_sides,
    marks_in_doubt,
    standing_apart,
)
from benchmark.data.load import Coder
from benchmark.data.proposals import require_column
from benchmark.data.reading import FEW_ROWS, Part, Reading, left_out
from benchmark.data.sides import Side, as_list, counted, least_favored, shown, side
from benchmark.data.sniff import MOST_MB, RawColumn, RawTable, sniff
from benchmark.data.states import (
    MISSING,
    MOST_LEVELS,
    MOST_STATES,
    OTHER,
    Found,
    Mask,
    category,
    content,
    cut,
    feature,
    figure,
    merged,
    useless,
)
from benchmark.errors import DataError
from benchmark.text.words import as_number, few, number, share, values_in_list

MIN_COUNT = 5
"""Fewest rows with which a value has a state of its own."""

LEAK, HINT, PROXY = 0.5, 0.25, 0.3
"""Share of the label's information from which a column is left out or named; Cramér's V of a proxy."""

_KNOWN_BEFORE = "Check that it is known before the label is."
_MOST_LISTED = 200  # raw values that a card's filter may list


@dataclass(frozen=True)
class Wish:
    """What a user says of a file; ``None`` where it is to be found out."""

    label: str
    favorable: str | None
    sensitive: str
    deprived: str | None = None
    min_count: int = MIN_COUNT
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)  # values of columns, in their order
    unfavorable: str | None = None  # all values but the favorable ones unless given; rows with neither go
    favored: str | None = None  # likewise
    missing: str | None = None  # values for none: of the label and the groups, or of a column as COLUMN=VALUE
    thousands: str | None = None  # columns whose point or comma separates thousands
    decimals: str | None = None  # columns where it stands before decimals
    max_mb: float = MOST_MB  # largest file, in megabytes of text, unpacked


def as_wish(value: object) -> str | None:
    """Return what a user of Python names, in the words of the command line."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):  # columns, and their values
        several = {name: own if isinstance(own, list | tuple) else [own] for name, own in value.items()}
        return ",".join(f"{name}={one}" for name, own in several.items() for one in own)
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
    exclude: dict[str, list[str]] = field(default_factory=dict)
    reading: Reading | None = None  # how labels, groups and numbers were read
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


def draft(path: Path, wish: Wish, folder: Path) -> Draft:
    """Draft the card of a CSV file, to lie in a folder.

    A DataError says in a sentence what cannot be read or found, a DoubtError what could be read in several
    ways.
    """
    table = sniff(path, folder, thousands=wish.thousands, decimals=wish.decimals, most_mb=wish.max_mb)
    for option in ("thousands", "decimals"):
        for name in values_in_list(getattr(wish, option) or "", table.columns):
            require_column(name, option, table)
    for name, option in ((wish.label, "label"), (wish.sensitive, "sensitive")):
        require_column(name, option, table)
    if wish.label == wish.sensitive:
        what = f"{wish.label!r} cannot be the label and the sensitive column"
        raise DataError(what, remedy="name another --sensitive")
    if wish.favorable is None:
        raise DataError(
            f"Nobody says which value of {wish.label!r} is good for people",
            expected=shown(table.columns[wish.label]),
            remedy="name it with --favorable",
        )
    return _Drafting(table, wish, path.name).run(wish.favorable)


class _Drafting:
    def __init__(self, table: RawTable, wish: Wish, file: str) -> None:
        self.wish, self.least, self.file = wish, wish.min_count, file
        self.raw = _without_codes(table.columns, wish)
        self.made = Draft(table, {}, {}, {}, [], [])
        self.gone: list[tuple[Mask, str]] = []  # rows that are left out, and why

    def run(self, favorable_label: str) -> Draft:
        wish, made = self.wish, self.made
        favorable = side(self.raw[wish.label], favorable_label, "favorable")
        unfavorable = self._other(wish.label, favorable, wish.unfavorable, "favorable", "unfavorable")
        deprived = None
        if (asked := wish.deprived) is not None:
            if asked not in self.raw[wish.sensitive].values:
                asked = re.sub(rf"^{re.escape(wish.sensitive)}\s*=\s*", "", asked)
            deprived = side(self.raw[wish.sensitive], asked, "deprived")
        favored = self._other(wish.sensitive, deprived, wish.favored, "deprived", "favored")
        if doubts := list(self._doubts(favorable, unfavorable, deprived, favored)):
            raise DoubtError(doubts)
        whole = dict(self.raw)
        kept = self._leave_rows_out(favorable, unfavorable, deprived, favored)
        label = self._label(favorable, unfavorable)
        sensitive = self._sensitive(deprived, favored)
        y = label.codes == label.entry["states"].index(favorable.name)
        group, picked = self._group(sensitive, deprived, y)
        member = sensitive.codes == sensitive.entry["states"].index(group)
        self._read(whole, kept, favorable, deprived, y, member)
        if deprived is None:
            self._require_group()
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

    def _other(
        self, name: str, first: Side | None, asked: str | None, option: str, other: str
    ) -> Side | None:
        """Return the other side, if it is named; a DataError says that a value is on both."""
        if asked is None:
            return None
        if first is None:
            raise DataError(f"--{other} is named, and --{option} is not", remedy=f"name --{option} as well")
        if asked not in self.raw[name].values:
            asked = re.sub(rf"^{re.escape(name)}\s*=\s*", "", asked)
        found = side(self.raw[name], asked, other)
        if both := sorted(first.values & found.values):
            raise DataError(
                f"{few(list(map(repr, both)))} of {name!r} cannot be {option} as well as {other}",
                remedy=f"name each value once, in --{option} or in --{other}",
            )
        return found

    def _doubts(
        self, favorable: Side, unfavorable: Side | None, deprived: Side | None, favored: Side | None
    ) -> Iterator[Question]:
        yield from marks_in_doubt(self.made.table.unclear)
        for name, first, other, options, words in (
            (self.wish.label, favorable, unfavorable, ("favorable", "unfavorable"), "{}"),
            (self.wish.sensitive, deprived, favored, ("deprived", "favored"), "in the {} group"),
        ):
            if other is None:
                called = words.format(options[0]), words.format(options[1])
                yield from doubts_of_sides(self.raw[name], first, options, called)

    def _leave_rows_out(
        self, favorable: Side, unfavorable: Side | None, deprived: Side | None, favored: Side | None
    ) -> Mask:
        """Leave rows out without label or group; the card lists the values that remain, or those that go."""
        kept = np.ones(self.made.table.n_rows, dtype=bool)
        for name, first, other in (
            (self.wish.label, favorable, unfavorable),
            (self.wish.sensitive, deprived, favored),
        ):
            column = self.raw[name]
            missing: Mask = column.missing
            left, why = missing.copy(), f"no {name!r}"
            if codes := [own for own, out in zip(column.values, missing, strict=True) if own and out]:
                why += (
                    f" ({few(list(map(repr, codes)))} {'counts' if len(codes) == 1 else 'count'} as missing)"
                )
            if name == self.wish.sensitive and (first is None or first.cut is None) and other is None:
                # Together too few for a state of their own, and no member of another group.
                rare: Mask = ~missing & (column.counts < self.least)
                if first is not None:
                    rare &= ~first.of(column)
                if 0 < column.counts[rare].sum() < self.least:
                    left, why = left | rare, f"{why}, or one that fewer than {self.least} rows have,"
            neither = np.zeros_like(missing)
            if first is not None and other is not None:
                neither = ~missing & ~first.of(column) & ~other.of(column)
            for own, reason in ((left, why), (neither, f"another {name!r} than those named")):
                if column.counts[own].sum():
                    self.gone.append((own[column.rows], reason))
            if not (gone := left | neither).any():
                continue
            remaining, leaving = (
                [value for value, out in zip(column.values, gone, strict=True) if out == is_out]
                for is_out in (False, True)
            )
            if len(remaining) <= _MOST_LISTED:
                self.made.filter[name] = remaining
            elif len(leaving) <= _MOST_LISTED:
                self.made.exclude[name] = leaving
            else:
                raise DataError(
                    f"{int(column.counts[gone].sum()):,} rows have no {name!r} that is read, with "
                    f"{len(leaving):,} different values",
                    expected=f"at most {_MOST_LISTED} different values that are left out, or that remain",
                    remedy="take these rows out of the file",
                )
            kept &= ~gone[column.rows]
        if not kept.any():
            what = f"No row has both {self.wish.label!r} and {self.wish.sensitive!r}"
            raise DataError(what, remedy="check the file, and the names of the columns")
        self.raw = {name: column.of(kept) for name, column in self.raw.items()}
        return kept

    def _read(
        self,
        whole: Mapping[str, RawColumn],
        kept: Mask,
        favorable: Side,
        deprived: Side | None,
        y: Mask,
        member: Mask,
    ) -> None:
        """Say how labels and groups were read, and whether leaving rows out goes with them."""
        made, wish = self.made, self.wish
        known = [
            self._known(whole[name], self.raw[name], of)
            for name, of in ((wish.label, y), (wish.sensitive, member))
        ]
        gone = [left_out(rows & ~kept, why, kept, *known) for rows, why in self.gone]
        label, sensitive = self.raw[wish.label], self.raw[wish.sensitive]
        parts = [
            _part(role, column, chosen, own, y)
            for role, column, chosen, own in (
                ("favorable", label, favorable, y),
                ("unfavorable", label, favorable, ~y),
                ("deprived", sensitive, deprived, member),
                ("favored", sensitive, deprived, ~member),
            )
        ]
        merged = ""
        rest = [value for value, _ in parts[1].values]
        if wish.unfavorable is None and favorable.cut is None and len(rest) > 1:
            merged = (
                "All values that are not favorable count as unfavorable. To leave some out, name the others: "
                f"--unfavorable {json.dumps(as_list(rest[:1]), ensure_ascii=False)}"
            )
        made.problems += map(str, gone)
        made.reading = Reading(
            self.file, made.table.n_rows, len(y), tuple(parts), tuple(gone), made.table.numbers, merged
        )

    def _require_group(self) -> None:
        """Ask who is deprived where rows that are left out could turn what the others say."""
        assert self.made.reading is not None
        name = self.wish.sensitive
        if turning := [own for own in self.made.reading.left_out if own.may_turn]:
            groups = [group for group, _ in counted(self.raw[name])][:MOST_STATES]
            answers = tuple(Answer(f"{group} is deprived", {"deprived": group}) for group in groups)
            what = f"Which group of {name!r} is deprived, these rows do not tell. {turning[0]}"
            raise DoubtError([Question(what, answers)])

    @staticmethod
    def _known(whole: RawColumn, read: RawColumn, of: Mask) -> NDArray[np.float64]:
        """Return of each row of the file what is known of it by its value: 1, 0, or NaN."""
        side_of = np.full(len(read.values), np.nan)
        side_of[read.rows[~of]], side_of[read.rows[of]] = 0, 1
        values = dict(zip(read.values, side_of, strict=True))
        return np.array([values.get(value, np.nan) for value in whole.values])[whole.rows]

    def _label(self, favorable: Side, unfavorable: Side | None) -> Kept:
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
        if unfavorable is not None and unfavorable.cut is None:
            rest = unfavorable.name
        if favorable.name == rest:
            favorable.name += " (favorable)"
        comments = [] if len(column.values) == 2 else ["Classes are merged into two, as --favorable says."]
        return self._coded(column, (merged(column, [(favorable.name, chosen), (rest, ~chosen)]), comments))

    def _sensitive(self, deprived: Side | None, favored: Side | None) -> Kept:
        column = self.raw[self.wish.sensitive]
        if deprived is None:
            many = len(column.values) > MOST_LEVELS
            kept = self._coded(column, feature(column, self.least) if many else category(column, self.least))
            if len(kept.entry["states"]) < 2:
                raise DataError(
                    f"The sensitive column {column.name!r} has one group",
                    expected=f"two or more, of {self.least} rows or more",
                    got=shown(column),
                    remedy="name another --sensitive",
                )
            return kept
        chosen = deprived.of(column)
        both = f"in the deprived group {deprived.name!r}", "in another group"
        self._require_both(column, chosen, both, "name several values with --deprived A,B, or another group")
        if deprived.cut is not None:
            return self._coded(column, (cut(column, [deprived.cut]), ["Two groups, as --deprived says."]))
        if favored is not None and favored.cut is None:
            name = favored.name if favored.name != deprived.name else f"{favored.name} (favored)"
            groups = [(deprived.name, chosen), (name, ~chosen)]
            return self._coded(
                column, (merged(column, groups), ["Two groups, as --deprived and --favored say."])
            )
        return self._coded(column, category(column, self.least, (deprived.name, chosen)))

    def _require_both(self, column: RawColumn, chosen: Mask, words: tuple[str, str], remedy: str) -> None:
        for own, word in zip((chosen, ~chosen), words, strict=True):
            if (n := int(column.counts[own].sum())) < self.least:
                raise DataError(
                    f"{n} row{'s are' if n != 1 else ' is'} {word}, by the column {column.name!r}",
                    expected=f"{self.least} or more",
                    got=shown(column),
                    remedy=f"{remedy}, or lower --min-count" if n else remedy,
                )

    def _group(self, sensitive: Kept, deprived: Side | None, y: Mask) -> tuple[str, str]:
        """Return the deprived group, by default the one of the fewest favorable labels, and why."""
        states, made = sensitive.entry["states"], self.made
        counts = np.bincount(sensitive.codes, minlength=len(states))
        rates = np.bincount(sensitive.codes, weights=y, minlength=len(states)) / np.maximum(counts, 1)
        picked = ""
        if deprived is None:
            code = least_favored(sensitive.codes, y, len(states))
            picked = "Nobody named it: it is the group that has the favorable label least often. "
            which = f"{sensitive.name} = {states[code]!r}, the one that has the favorable label least often"
            made.warnings.append(f"The deprived group was not named: it is {which}.")
        else:
            code = states.index(deprived.name)
        others = float(y[sensitive.codes != code].mean())
        if round(rates[code] - others, 3) > 0:
            better = f"{share(rates[code])} of it have the favorable label, {share(others)} of the others"
            chance = (
                f" It has {counts[code]:,} rows, so this may be chance." if counts[code] < FEW_ROWS else ""
            )
            made.warnings.append(
                f"{sensitive.name} = {states[code]!r} is better off in these data: {better}.{chance}"
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
        lacking, apart = [], []
        for name, column in self.raw.items():
            if name in (label.name, sensitive.name):
                made.columns[name] = label if name == label.name else sensitive
                continue
            if reason := useless(column, made.table.n_rows):
                made.dropped[name] = reason
            elif (same := first.setdefault(content(column), name)) != name:
                made.dropped[name] = f"says the same as {same!r}, value by value"
            elif len((found := feature(column, self.least))[0]["states"]) < 2:
                made.dropped[name] = "has nearly the same value in every row"
            else:
                made.columns[name] = self._coded(column, found)
                gone = float(column.counts[column.missing].sum()) / len(column.rows)
                if made.columns[name].entry["kind"] == "numeric" and (codes := standing_apart(column)):
                    apart.append(f"{name} ({few(codes)})")
                lacking += [(-gone, f"{name} ({share(gone)})")] * (gone >= 0.01)
        if lacking:
            shown = few([text for _, text in sorted(lacking)], 8)
            made.problems.append(f"Values are missing: {shown}. That they are is a state of its own.")
        if apart:
            made.problems.append(
                f"Numbers that stand apart from all others of their column are read as numbers: "
                f"{few(apart, 8)}. If they mean missing, say so with --missing COLUMN=NUMBER."
            )

    def _coded(self, column: RawColumn, found: Found) -> Kept:
        """Return a column with its codes, as the loader reads them."""
        entry, comments = found
        order = list(self.wish.orders.get(column.name, ()))
        if entry["kind"] == "categorical" and set(entry["states"]) - {MISSING} <= set(order):
            entry["states"].sort(key=[*order, MISSING].index)
            entry["ordered"] = True
        if entry["kind"] == "numeric":
            form, decimal = column.form, self.made.table.source.decimal
            written = {"thousands": form.thousands, "unit": form.unit}
            written["decimal"] = form.decimal if form.decimal != decimal else None
            entry |= {name: value for name, value in written.items() if value is not None}
        spec = NumericColumn(**entry) if entry["kind"] == "numeric" else CategoricalColumn(**entry)
        coder = Coder(spec, self.made.table.source.decimal)
        codes = np.array([coder[value] for value in column.values], np.int16)[column.rows]
        return Kept(column.name, entry, comments, codes=codes)

    def _look(self, y: Mask, member: Mask) -> None:
        """Find the columns that give the label away, and those that stand in for the group."""
        proxies, hints = [], []
        for name, column in self.made.columns.items():
            if name in (self.wish.label, self.wish.sensitive):
                continue
            fine = finely(self.raw[name])
            told, right = (max(f(codes, y) for codes in (column.codes, fine)) for f in (told_by, right_by))
            says = f"alone it tells {share(right)} of the labels, and the more frequent label "
            says += f"{share(float(max(y.mean(), 1 - y.mean())))}"
            if told >= LEAK:
                column.leak = f"suspected leak: {says}. {_KNOWN_BEFORE}"
                self.made.warnings.append(
                    f"{name} is left out, a {column.leak} The card says how to keep it."
                )
                continue
            state = giving_away(column.codes, column.entry["states"], y)
            if state or told >= HINT:
                says = f"nearly all rows with {state!r} have one label" if state else says
                column.comments.append(
                    f"A strong feature: {says}. Check that it is known before the label is."
                )
                hints.append(name)
            if (strength := cramers_v(column.codes, member)) >= PROXY:
                column.comments.append(f"Proxy of {self.wish.sensitive}: Cramér's V {number(strength, 2)}.")
                proxies.append((-strength, f"{name} ({number(strength, 2)})"))
        if hints:
            self.made.problems.append(
                f"These columns tell much of the label: {few(hints, 8)}. Check that they are known "
                "before it is."
            )
        if proxies:
            shown = few([text for _, text in sorted(proxies)], 8)
            hidden = "Columns go with the sensitive one, so that hiding it alone may not hide it (Cramér's V)"
            self.made.problems.append(f"{hidden}: {shown}.")

    def _repeated_rows(self) -> None:
        rows = np.column_stack([self.raw[name].rows for name in self.made.columns])
        if repeated := len(rows) - len(np.unique(rows, axis=0)):
            what = "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
            self.made.problems.append(f"{what} another one in every column that is read.")


def _without_codes(columns: Mapping[str, RawColumn], wish: Wish) -> dict[str, RawColumn]:
    """Return the columns, and which values stand for none; a DataError says that there is no such value."""
    found: dict[str, set[str]] = {}
    for part in values_in_list(wish.missing, ()) if wish.missing is not None else ():
        named = [name for name in columns if part.startswith(f"{name}=")]
        own = max(named, key=len, default=None)
        value = part if own is None else part[len(own) + 1 :].strip()
        places = [wish.label, wish.sensitive] if own is None else [own]
        same = {
            name: {
                one
                for one, n in zip(columns[name].values, columns[name].numbers, strict=True)
                if one == value or (as_number(value) is not None and as_number(value) == n)
            }
            for name in places
        }
        if not any(same.values()):
            raise DataError(
                f"The column{'s' * (len(places) > 1)} {' and '.join(map(repr, places))} "
                f"{'have' if len(places) > 1 else 'has'} no value {value!r}",
                expected="; ".join(f"of {name!r} {shown(columns[name])}" for name in places),
                remedy="correct --missing: values as A,B, or those of a column as COLUMN=A,COLUMN=B",
            )
        for name, values in same.items():
            found.setdefault(name, set()).update(values)
    return {
        name: replace(column, none=frozenset(found[name])) if found.get(name) else column
        for name, column in columns.items()
    }


def _part(role: str, column: RawColumn, chosen: Side | None, own: Mask, y: Mask) -> Part:
    """Return what there is to say of one side."""
    values = counted(column.of(own))
    numbers = column.of(own).numbers
    name = span = ""
    if chosen is not None and chosen.cut is not None:
        low, high = np.nanmin(numbers), np.nanmax(numbers)
        name = f"below {figure(chosen.cut)}" if high < chosen.cut else f"{figure(chosen.cut)} and more"
        span = f"from {figure(low)} to {figure(high)}"
    return Part(role, column.name, tuple(values), int(own.sum()), int((own & y).sum()), len(own), name, span)
