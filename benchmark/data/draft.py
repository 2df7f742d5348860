"""Drafts of cards of unknown files: how each column is read, and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.association import PROXY, cramers_v, finely, giving_away, right_by, told_by
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
from benchmark.data.persons import EQUAL_ROWS
from benchmark.data.proposals import require_column
from benchmark.data.reading import FEW_ROWS, Part, Reading, left_out
from benchmark.data.repeats import (
    INDEPENDENT,
    copies,
    naming_people,
    person_of,
    question_of_people,
    warning_of_copies,
)
from benchmark.data.sides import Side, as_list, counted, least_favored, shown, side
from benchmark.data.sniff import MOST_MB, RawColumn, RawTable, sniff
from benchmark.data.states import (
    MISSING,
    MOST_LEVELS,
    MOST_STATES,
    OTHER,
    CardEntry,
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

MIN_COUNT = 5  # fewest rows that a value needs for a state of its own
# Shares of the label's information from which a column is left out, or named.
LEAK, HINT = 0.5, 0.25

_KNOWN_BEFORE = "Check that it is known before the label."
_MOST_LISTED = 200  # raw values that a card's filter may list
_OPPOSITE = {"unfavorable": "favorable", "favored": "deprived"}


@dataclass(frozen=True)
class FileOptions:
    """What a user says about a file; ``None`` leaves a choice to the draft."""

    label: str
    favorable: str | None
    sensitive: str
    deprived: str | None = None
    min_count: int = MIN_COUNT
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)  # values of columns, in their order
    unfavorable: str | None = None  # by default all other values; if given, rows with neither are left out
    favored: str | None = None  # likewise
    # Values that mean missing: of label and groups, or of any column as COLUMN=VALUE.
    missing: str | None = None
    thousands: str | None = None  # columns whose point or comma separates thousands
    decimals: str | None = None  # columns where it stands before decimals
    max_mb: float = MOST_MB  # largest file, in megabytes of text, unpacked
    typed: bool = False  # whether the file was written from a frame, so that only empty values are missing
    # Column that names the person of each row; "rows": equal rows are one person's; "none": all rows are
    # independent.
    person: str | None = None


def as_option(value: object) -> str | None:
    """Return a Python value as the text of a command-line option."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):  # columns, and their values
        lists = ((name, item if isinstance(item, list | tuple) else [item]) for name, item in value.items())
        return ",".join(f"{name}={item}" for name, items in lists for item in items)
    return ",".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else str(value)


@dataclass
class DraftColumn:
    """A column as the card reads it, and why."""

    name: str
    entry: dict[str, Any]  # the fields of its table in the card
    comments: list[str]
    leak: str = ""  # why it seems to give the label away; such a column is written as a comment
    codes: NDArray[np.int16] = field(default_factory=lambda: np.empty(0, np.int16))


@dataclass
class Draft:
    """A card, with a comment on each choice."""

    table: RawTable
    columns: dict[str, DraftColumn]
    dropped: dict[str, str] = field(default_factory=dict)  # the reason, by column
    filter: dict[str, list[str]] = field(default_factory=dict)
    exclude: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # for readers who do not open the card
    reading: Reading | None = None  # how labels, groups and numbers were read
    person: str | None = None  # as in the card
    copies: str = ""  # the warning that rows are copies of others
    roles: dict[str, str] = field(default_factory=dict)
    role_comments: dict[str, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows that the card reads."""
        return len(next(iter(self.columns.values())).codes)

    @property
    def columns_read(self) -> dict[str, DraftColumn]:
        """The columns that the card reads."""
        return {name: column for name, column in self.columns.items() if not column.leak}


def draft(path: Path, file_options: FileOptions, folder: Path) -> Draft:
    """Return the draft of a file's card, which is to lie in a folder.

    Raises a DataError if something cannot be read or found, a DoubtError if it can be read in several ways.
    """
    table = sniff(
        path,
        folder,
        thousands=file_options.thousands,
        decimals=file_options.decimals,
        most_mb=file_options.max_mb,
        named={file_options.label, file_options.sensitive},
        typed=file_options.typed,
    )
    for option in ("thousands", "decimals"):
        for name in values_in_list(getattr(file_options, option) or "", table.columns):
            require_column(name, option, table)
    for name, option in ((file_options.label, "label"), (file_options.sensitive, "sensitive")):
        require_column(name, option, table)
    if file_options.label == file_options.sensitive:
        problem = f"{file_options.label!r} cannot be the label and the sensitive column"
        raise DataError(problem, remedy="name another --sensitive")
    if file_options.person not in (None, EQUAL_ROWS, INDEPENDENT):
        require_column(file_options.person, "person", table)
    if file_options.favorable is None:
        raise DataError(
            f"The favorable value of {file_options.label!r} is not named",
            expected=shown(table.columns[file_options.label]),
            remedy="name the value that is good for people with --favorable",
        )
    return _Drafting(table, file_options, file_options.favorable, path.name).run()


class _Drafting:
    """The steps to a draft: :meth:`run` calls them in an order that counts, as each adds to ``draft``."""

    def __init__(self, table: RawTable, file_options: FileOptions, favorable: str, file: str) -> None:
        self.file_options, self.least, self.file = file_options, file_options.min_count, file
        # Columns with all rows of the file, until :meth:`run` leaves out rows without a label or a group.
        self.raw = _without_codes(table.columns, file_options)
        roles = file_options.label, file_options.sensitive
        self.draft = Draft(table, {}, person=person_of(file_options.person, self.raw, roles))
        self.naming = naming_people(self.raw, *roles)
        self.rows_out: list[tuple[Mask, str]] = []  # rows that are left out, and why
        self.favorable = self._side(file_options.label, favorable, "favorable")
        self.unfavorable = self._opposite(
            file_options.label, self.favorable, file_options.unfavorable, "unfavorable"
        )
        text = file_options.deprived
        self.deprived = None if text is None else self._side(file_options.sensitive, text, "deprived")
        self.favored = self._opposite(file_options.sensitive, self.deprived, file_options.favored, "favored")
        # The label and the groups: the column, the side that is named first, and its opposite if named.
        self.pairs = (
            (file_options.label, self.favorable, self.unfavorable),
            (file_options.sensitive, self.deprived, self.favored),
        )

    def run(self) -> Draft:
        draft, whole = self.draft, self.raw
        if questions := list(self._doubts()):
            raise DoubtError(questions)
        read = self._rows_read()
        self.raw = {name: column.of(read) for name, column in whole.items()}
        label, favorable = self._label()
        sensitive = self._sensitive()
        y = label.codes == label.entry["states"].index(favorable)
        group, picked = self._group(sensitive, y)
        member = sensitive.codes == sensitive.entry["states"].index(group)
        self._read(whole, read, y, member)
        self._features(label, sensitive)
        self._look(y, member, self._repeated_rows())
        draft.roles = {
            "label": label.name,
            "favorable_label": favorable,
            "sensitive_feature": sensitive.name,
            "deprived_group": group,
        }
        draft.role_comments = {
            "favorable_label": f"{share(float(y.mean()))} of {len(y):,} rows have it.",
            "deprived_group": f"{picked}{share(float(y[member].mean()))} of its {member.sum():,} rows have "
            f"the favorable label, {share(float(y[~member].mean()))} of the {(~member).sum():,} others.",
        }
        return draft

    def _side(self, name: str, text: str, option: str) -> Side:
        """Return the side that a text names: values, or COLUMN=VALUES."""
        column = self.raw[name]
        if text not in column.values:
            text = re.sub(rf"^{re.escape(name)}\s*=\s*", "", text)
        return side(column, text, option)

    def _opposite(self, name: str, first: Side | None, text: str | None, option: str) -> Side | None:
        """Return the opposite side, if it is named; a DataError says that a value is on both."""
        if text is None:
            return None
        first_option = _OPPOSITE[option]
        if first is None:
            raise DataError(
                f"--{option} is named, and --{first_option} is not", remedy=f"name --{first_option} as well"
            )
        opposite = self._side(name, text, option)
        if both := sorted(first.values & opposite.values):
            raise DataError(
                f"{few(list(map(repr, both)))} of {name!r} cannot be {first_option} as well as {option}",
                remedy=f"name each value once, in --{first_option} or in --{option}",
            )
        return opposite

    def _doubts(self) -> Iterator[Question]:
        yield from marks_in_doubt(self.draft.table.unclear)
        label, sensitive = self.raw[self.file_options.label], self.raw[self.file_options.sensitive]
        if self.unfavorable is None:
            options = ("favorable", "unfavorable")
            yield from doubts_of_sides(label, self.favorable, options, options)
        if self.favored is None:
            words = ("in the deprived group", "in the favored group")
            yield from doubts_of_sides(sensitive, self.deprived, ("deprived", "favored"), words)
        if self.file_options.person is None:
            yield from question_of_people(self.naming, self.raw)

    def _rows_read(self) -> Mask:
        """Return which rows have a label and a group; the draft gets the values to keep, or to leave out."""
        read = np.ones(self.draft.table.n_rows, dtype=bool)
        for name, first, second in self.pairs:
            column = self.raw[name]
            missing: Mask = column.missing
            no_value, why = missing.copy(), f"no {name!r}"
            if codes := [value for value, out in zip(column.values, missing, strict=True) if value and out]:
                count = "counts" if len(codes) == 1 else "count"
                why += f" ({few(list(map(repr, codes)))} {count} as missing)"
            if (
                name == self.file_options.sensitive
                and (first is None or first.cut is None)
                and second is None
            ):
                # Together they are too few for a state, and they belong to no other group.
                rare: Mask = ~missing & (column.counts < self.least)
                if first is not None:
                    rare &= ~first.of(column)
                if 0 < column.counts[rare].sum() < self.least:
                    no_value, why = no_value | rare, f"{why}, or one that fewer than {self.least} rows have,"
            neither = np.zeros_like(missing)
            if first is not None and second is not None:
                neither = ~missing & ~first.of(column) & ~second.of(column)
            for rows, reason in ((no_value, why), (neither, f"a {name!r} other than those named")):
                if column.counts[rows].sum():
                    self.rows_out.append((rows[column.rows], reason))
            if not (excluded := no_value | neither).any():
                continue
            remaining, leaving = (
                [value for value, out in zip(column.values, excluded, strict=True) if out == is_out]
                for is_out in (False, True)
            )
            if len(remaining) <= _MOST_LISTED:
                self.draft.filter[name] = remaining
            elif len(leaving) <= _MOST_LISTED:
                self.draft.exclude[name] = leaving
            else:
                raise DataError(
                    f"{int(column.counts[excluded].sum()):,} rows would be left out: their {len(leaving):,} "
                    f"different values of {name!r} are not read",
                    expected=f"at most {_MOST_LISTED} different values left out, or at most {_MOST_LISTED} "
                    "kept",
                    remedy="take these rows out of the file",
                )
            read &= ~excluded[column.rows]
        if not read.any():
            problem = f"No row has both {self.file_options.label!r} and {self.file_options.sensitive!r}"
            raise DataError(problem, remedy="check the file, and the names of the columns")
        return read

    def _read(self, whole: Mapping[str, RawColumn], read: Mask, y: Mask, member: Mask) -> None:
        """Describe how labels and groups were read, and whether leaving rows out is associated with them.

        A DoubtError says that rows that are left out could change which group is deprived.
        """
        table, file_options = self.draft.table, self.file_options
        label, sensitive = self.raw[file_options.label], self.raw[file_options.sensitive]
        sides = (
            self._by_row(whole[label.name], label, y),
            self._by_row(whole[sensitive.name], sensitive, member),
        )
        groups_out = [left_out(rows & ~read, why, read, *sides) for rows, why in self.rows_out]
        parts = (
            _part("favorable", label, self.favorable, y, y),
            _part("unfavorable", label, self.favorable, ~y, y),
            _part("deprived", sensitive, self.deprived, member, y),
            _part("favored", sensitive, self.deprived, ~member, y),
        )
        merged_label = ""
        rest = [value for value, _ in parts[1].values]
        if file_options.unfavorable is None and self.favorable.cut is None and len(rest) > 1:
            merged_label = (
                "All values that are not favorable count as unfavorable. To leave some out, name the others: "
                f"--unfavorable {json.dumps(as_list(rest[:1]), ensure_ascii=False)}"
            )
        self.draft.problems += map(str, groups_out)
        self.draft.reading = Reading(
            self.file, table.n_rows, len(y), parts, tuple(groups_out), table.numbers, merged_label
        )
        turning = [rows for rows in groups_out if rows.may_turn]
        if turning and self.deprived is None:
            groups = [group for group, _ in counted(sensitive)][:MOST_STATES]
            answers = tuple(Answer(f"{group} is deprived", {"deprived": group}) for group in groups)
            question = f"These rows do not tell which group of {sensitive.name!r} is deprived. {turning[0]}"
            raise DoubtError([Question(question, answers)])

    @staticmethod
    def _by_row(whole: RawColumn, read: RawColumn, on_side: Mask) -> NDArray[np.float64]:
        """Return whether each row of the file is on a side, by its value: 1, 0, or NaN if that is unknown."""
        side_of = np.full(len(read.values), np.nan)
        side_of[read.rows[~on_side]], side_of[read.rows[on_side]] = 0, 1
        values = dict(zip(read.values, side_of, strict=True))
        return np.array([values.get(value, np.nan) for value in whole.values])[whole.rows]

    def _label(self) -> tuple[DraftColumn, str]:
        """Return the label, and the name of its favorable state."""
        column, favorable, unfavorable = self.raw[self.file_options.label], self.favorable, self.unfavorable
        chosen = favorable.of(column)
        self._require_both(column, chosen, ("favorable", "unfavorable"), "check --favorable")
        if favorable.cut is not None:
            entry, comments = cut(column, [favorable.cut]), ["Two classes, as --favorable says."]
            return self._coded(column, (entry, comments)), favorable.name
        order = sorted(np.flatnonzero(~chosen), key=lambda i: -column.counts[i])
        names = [column.values[i] for i in order]
        rest = names[0] if len(set(map(as_number, names)) - {None}) == 1 else " or ".join(names)
        rest = rest if len(names) <= 3 else OTHER
        if unfavorable is not None and unfavorable.cut is None:
            rest = unfavorable.name
        name = favorable.name if favorable.name != rest else f"{favorable.name} (favorable)"
        entry = merged(column, [(name, chosen), (rest, ~chosen)])
        comments = [] if len(column.values) == 2 else ["Classes are merged into two, as --favorable says."]
        return self._coded(column, (entry, comments)), name

    def _sensitive(self) -> DraftColumn:
        column, deprived, favored = self.raw[self.file_options.sensitive], self.deprived, self.favored
        if deprived is None:
            reading = feature if len(column.values) > MOST_LEVELS else category
            sensitive = self._coded(column, reading(column, self.least))
            if len(sensitive.entry["states"]) < 2:
                raise DataError(
                    f"The sensitive column {column.name!r} has one group",
                    expected=f"two or more, of {self.least} rows or more",
                    got=shown(column),
                    remedy="name another --sensitive",
                )
            return sensitive
        chosen = deprived.of(column)
        both = f"in the deprived group {deprived.name!r}", "in another group"
        self._require_both(column, chosen, both, "name several values with --deprived A,B, or another group")
        if deprived.cut is not None:
            return self._coded(column, (cut(column, [deprived.cut]), ["Two groups, as --deprived says."]))
        if favored is not None and favored.cut is None:
            name = favored.name if favored.name != deprived.name else f"{favored.name} (favored)"
            entry = merged(column, [(deprived.name, chosen), (name, ~chosen)])
            return self._coded(column, (entry, ["Two groups, as --deprived and --favored say."]))
        return self._coded(column, category(column, self.least, (deprived.name, chosen)))

    def _require_both(self, column: RawColumn, chosen: Mask, words: tuple[str, str], remedy: str) -> None:
        for rows, word in zip((chosen, ~chosen), words, strict=True):
            if (n := int(column.counts[rows].sum())) < self.least:
                raise DataError(
                    f"{n} row{'s are' if n != 1 else ' is'} {word}, by the column {column.name!r}",
                    expected=f"{self.least} or more",
                    got=shown(column),
                    remedy=f"{remedy}, or lower --min-count" if n else remedy,
                )

    def _group(self, sensitive: DraftColumn, y: Mask) -> tuple[str, str]:
        """Return the deprived group, by default the one with the fewest favorable labels, and why."""
        draft = self.draft
        states = sensitive.entry["states"]
        counts = np.bincount(sensitive.codes, minlength=len(states))
        rates = np.bincount(sensitive.codes, weights=y, minlength=len(states)) / np.maximum(counts, 1)
        picked = ""
        if self.deprived is None:
            code = least_favored(sensitive.codes, y, len(states))
            picked = "It was not named: it is the group that has the favorable label least often. "
            which = f"{sensitive.name} = {states[code]!r}, which has the favorable label least often"
            draft.warnings.append(f"The deprived group was not named: it is {which}.")
        else:
            code = states.index(self.deprived.name)
        others = float(y[sensitive.codes != code].mean())
        if round(rates[code] - others, 3) > 0:
            better = f"{share(rates[code])} of it have the favorable label, {share(others)} of the others"
            small = f" It has {counts[code]:,} rows, so this may be chance." * int(counts[code] < FEW_ROWS)
            draft.warnings.append(
                f"{sensitive.name} = {states[code]!r} is better off in these data: {better}.{small}"
            )
        for state, n in zip(states, counts.tolist(), strict=True):
            if n < max(50, 0.01 * len(y)):
                draft.problems.append(
                    f"The group {sensitive.name} = {state!r} has {n} rows: too few to tell."
                )
        for rate, who in ((rates[code], "the deprived group"), (others, "the other groups")):
            if rate in (0, 1):
                answer = "Everybody" if rate else "Nobody"
                draft.problems.append(f"{answer} in {who} has the favorable label.")
        if (rare := min(y.mean(), 1 - y.mean())) < 0.1:
            draft.problems.append(f"The rarer label has {share(float(rare))} of the rows.")
        return str(states[code]), picked

    def _features(self, label: DraftColumn, sensitive: DraftColumn) -> None:
        draft = self.draft
        first = dict[object, str]()
        incomplete, apart = [], []
        for name, column in self.raw.items():
            if name in (label.name, sensitive.name):
                draft.columns[name] = label if name == label.name else sensitive
            elif name == draft.person:
                continue
            elif name in self.naming:
                draft.dropped[name] = "names people, or what else several rows share"
            elif reason := useless(column, draft.table.n_rows):
                draft.dropped[name] = reason
            elif (same := first.setdefault(content(column), name)) != name:
                draft.dropped[name] = f"tells the same as {same!r}, value by value"
            elif len((entry := feature(column, self.least))[0]["states"]) < 2:
                draft.dropped[name] = "has nearly the same value in every row"
            else:
                draft.columns[name] = self._coded(column, entry)
                lacking = float(column.counts[column.missing].sum()) / len(column.rows)
                if draft.columns[name].entry["kind"] == "numeric" and (codes := standing_apart(column)):
                    apart.append(f"{name} ({few(codes)})")
                incomplete += [(-lacking, f"{name} ({share(lacking)})")] * (lacking >= 0.01)
        if incomplete:
            columns = few([text for _, text in sorted(incomplete)], 8)
            draft.problems.append(f"Values are missing: {columns}. A missing value is a state of its own.")
        if apart:
            draft.problems.append(
                f"Numbers far from all others in their column are read as numbers: {few(apart, 8)}. "
                "If they mean missing, write --missing COLUMN=NUMBER."
            )

    def _coded(self, column: RawColumn, reading: CardEntry) -> DraftColumn:
        """Return a column with the codes that the loader gives it."""
        entry, comments = reading
        order = list(self.file_options.orders.get(column.name, ()))
        decimal = self.draft.table.source.decimal
        spec: NumericColumn | CategoricalColumn
        if entry["kind"] == "numeric":
            form = column.form
            written = {"thousands": form.thousands, "unit": form.unit}
            written["decimal"] = form.decimal if form.decimal != decimal else None
            entry |= {name: value for name, value in written.items() if value is not None}
            spec = NumericColumn(**entry)
        else:
            if set(entry["states"]) - {MISSING} <= set(order):
                entry["states"].sort(key=[*order, MISSING].index)
                entry["ordered"] = True
            spec = CategoricalColumn(**entry)
        coder = Coder(spec, decimal)
        codes = np.array([coder[value] for value in column.values], np.int16)[column.rows]
        return DraftColumn(column.name, entry, comments, codes=codes)

    def _look(self, y: Mask, member: Mask, once: Mask) -> None:
        """Find the columns that give the label away, and the proxies of the group.

        Of people with several rows, or of copies, only the rows ``once`` count: otherwise a column of
        fine numbers seems to tell their labels.
        """
        proxies, hints = [], []
        y, member = y[once], member[once]
        for name, column in self.draft.columns.items():
            if name in (self.file_options.label, self.file_options.sensitive):
                continue
            coarse, fine = column.codes[once], finely(self.raw[name].of(once))
            strength = max(told_by(codes, y) for codes in (coarse, fine))
            right = share(max(right_by(codes, y) for codes in (coarse, fine)))
            common = share(float(max(y.mean(), 1 - y.mean())))
            reason = f"alone it tells {right} of the labels; the more frequent label is {common} of them"
            if strength >= LEAK:
                column.leak = f"suspected leak: {reason}. {_KNOWN_BEFORE}"
                warning = f"{name} is left out, a {column.leak} The card says how to keep it."
                self.draft.warnings.append(warning)
                continue
            state = giving_away(coarse, column.entry["states"], y)
            if state or strength >= HINT:
                reason = f"nearly all rows with {state!r} have one label" if state else reason
                column.comments.append(f"A strong feature: {reason}. {_KNOWN_BEFORE}")
                hints.append(name)
            if (v := cramers_v(coarse, member)) >= PROXY:
                proxy_of = self.file_options.sensitive
                column.comments.append(f"Proxy of {proxy_of}: Cramér's V {number(v, 2)}.")
                proxies.append((-v, f"{name} ({number(v, 2)})"))
        if hints:
            advice = "Check that they are known before it."
            self.draft.problems.append(f"These columns tell much about the label: {few(hints, 8)}. {advice}")
        if proxies:
            names = few([text for _, text in sorted(proxies)], 8)
            hidden = "Hiding the sensitive column may not hide the group: these go with it (Cramér's V)"
            self.draft.problems.append(f"{hidden}: {names}.")

    def _repeated_rows(self) -> Mask:
        """Note or warn that rows repeat; return a mask of one row of each person, or of all rows."""
        draft = self.draft
        rows = [self.raw[name].rows for name in draft.columns]
        person = None if draft.person in (None, EQUAL_ROWS) else self.raw[draft.person].rows
        repeated, copied = copies(rows, person)
        once = np.ones(draft.n_rows, dtype=bool)
        if person is not None or copied:
            together = np.column_stack(rows) if person is None else person[:, None]
            first = np.unique(together, axis=0, return_index=True)[1]
            once = np.isin(np.arange(draft.n_rows), first)
        if copied and self.file_options.person not in (EQUAL_ROWS, INDEPENDENT):
            draft.copies = warning_of_copies(repeated, draft.n_rows)
        elif repeated:
            words = "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
            draft.problems.append(f"{words} another row in every column that is read.")
        return once


def _without_codes(columns: Mapping[str, RawColumn], file_options: FileOptions) -> dict[str, RawColumn]:
    """Return the columns with the values that a user calls missing; a DataError says that there is none."""
    missing: dict[str, set[str]] = {}
    for part in values_in_list(file_options.missing, ()) if file_options.missing is not None else ():
        named = [name for name in columns if part.startswith(f"{name}=")]
        column_name = max(named, key=len, default=None)
        value = part if column_name is None else part[len(column_name) + 1 :].strip()
        names = [file_options.label, file_options.sensitive] if column_name is None else [column_name]
        same = {
            name: {
                one
                for one, n in zip(columns[name].values, columns[name].numbers, strict=True)
                if one == value or (as_number(value) is not None and as_number(value) == n)
            }
            for name in names
        }
        if not any(same.values()):
            raise DataError(
                f"The column{'s' * (len(names) > 1)} {' and '.join(map(repr, names))} "
                f"{'have' if len(names) > 1 else 'has'} no value {value!r}",
                expected="; ".join(f"of {name!r} {shown(columns[name])}" for name in names),
                remedy="correct --missing: values as A,B, or those of a column as COLUMN=A,COLUMN=B",
            )
        for name, values in same.items():
            missing.setdefault(name, set()).update(values)
    return {
        name: replace(column, none=frozenset(missing[name])) if missing.get(name) else column
        for name, column in columns.items()
    }


def _part(role: str, column: RawColumn, chosen: Side | None, rows: Mask, y: Mask) -> Part:
    """Return one side of the label or of the groups."""
    side_column, name, span = column.of(rows), "", ""
    if chosen is not None and chosen.cut is not None:
        low, high = np.nanmin(side_column.numbers), np.nanmax(side_column.numbers)
        name = f"below {figure(chosen.cut)}" if high < chosen.cut else f"{figure(chosen.cut)} and more"
        span = f"from {figure(low)} to {figure(high)}"
    n, n_favorable = int(rows.sum()), int((rows & y).sum())
    return Part(role, column.name, tuple(counted(side_column)), n, n_favorable, len(rows), name, span)
