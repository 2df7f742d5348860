"""Drafts of cards of unknown files: how each column is read, and why."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.association import PROXY, Told, told_by
from benchmark.data.card_parts import EQUAL_ROWS, REST
from benchmark.data.files import RawTable, frame_table, read_table
from benchmark.data.number_form import Unclear
from benchmark.data.raw import DATES, MOST_STATES, NO_STATES, Mask, RawColumn, counted, like_weight
from benchmark.data.reading import FEW_ROWS, ColumnReading, DoubtError, LeftOut, Part, Question, Reading
from benchmark.data.states import MISSING, RARE_STATES, coded, feature
from benchmark.data.table import Column, Schema, Table
from benchmark.errors import DataError, nearest
from benchmark.file_options import MIN_COUNT, FileOptions, Named
from benchmark.text.words import as_number, few, figure, in_list, number, share, values_in_list

INDEPENDENT = "none"
"""The ``person`` of a file whose rows are independent of each other."""

if TYPE_CHECKING:
    import pandas as pd

ALL_OTHERS = "*"
"""What an option names for all values that the other side does not."""
_CONDITION = re.compile(r"(<=|>=|<|>)\s*(\S+)")
_IN_WORDS = {"<": "below {}", "<=": "up to {}", ">": "above {}", ">=": "{} and more"}
# Shares of the label's information from which a column is left out, or said to tell much.
_LEAK, _HINT = 0.5, 0.25
_CLEAR, _LARGE = 3.0, 0.05  # standard errors, and distance, from which two shares differ clearly
_MOST_ODD = 6  # values of a column that may mean missing, at most
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_SMALLEST_SHARE = 0.02  # a group with a smaller share of the rows counts as deprived only if it is named
_MOST_NAMED = 60  # columns that an error lists
_REPEATED = 0.01  # share of rows from which repeats count
_FEW = 0.01  # different values per row, at least, in a column that names people
_PAIRS, _DIFFER = 10.0, 0.02  # pairs of rows that would differ by chance, and how often they do, at most
_BANDS = 5  # fewest numbers in a band, on average
_FINE, _BY_CHANCE = 0.005, 0.2  # share of pairs that agree in a fine column, and in all others, at most
_ALIKE = 0.7  # share of pairs that agree in the last column, of those that agree in all others
_NO_COLUMN = (EQUAL_ROWS, INDEPENDENT)  # words of --person that name no column


@dataclass(frozen=True, eq=False)
class Draft:
    """A card, and how the file is read by it."""

    table: RawTable
    reading: Reading
    roles: dict[str, str]
    exclude: dict[str, list[str]]  # as in the card
    person: str | None  # as in the card
    persons: NDArray[np.intp] | None  # the person of each row, if rows are not independent
    read: Mask  # which rows of the file are read

    @property
    def columns(self) -> dict[str, ColumnReading]:
        """The columns that the card reads."""
        return {column.name: column for column in self.reading.columns if column.entry}

    @property
    def rows(self) -> Table:
        """The rows that the card reads."""
        read = self.columns.values()
        columns = tuple(Column(own.name, own.states, own.ordered) for own in read)
        label, favorable, sensitive, deprived = self.roles.values()
        schema = Schema(columns, label, favorable, sensitive, deprived)
        return Table(schema, np.column_stack([own.codes for own in read]))

    @property
    def dropped(self) -> dict[str, str]:
        """The reason of each column that is no feature."""
        return {column.name: column.reason for column in self.reading.columns if column.read_as == "dropped"}


def draft(data: pd.DataFrame | str | Path, file_options: FileOptions, folder: Path = Path()) -> Draft:
    """Return the draft of the card of a file, or of a frame that becomes a file ``data.csv``.

    The card is to lie in a folder; nothing is written. Raises a DataError if something cannot be read or
    found, a DoubtError if it can be read in several ways.
    """
    label, sensitive, person = file_options.label.strip(), file_options.sensitive.strip(), file_options.person
    file_options = replace(file_options, label=label, sensitive=sensitive)
    if isinstance(data, str | Path):
        table = read_table(Path(data), folder, file_options, {label, sensitive} - {""})
    else:
        table = frame_table(data, "data.csv")
    named = {
        option: values_in_list(getattr(file_options, option), table.columns.__contains__, option)
        for option in ("drop", "keep", "thousands", "decimals")
    }
    roles = {"label": label, "favorable": file_options.favorable, "sensitive": sensitive}
    if lacking := [name for name, value in roles.items() if not value]:
        raise missing_roles(table, label, lacking)
    if person in _NO_COLUMN and person in table.columns:
        raise DataError(
            f"The column {person!r} cannot name people, because --person takes it for a word",
            remedy="give the column another name in the file",
        )
    named |= {"label": [label], "sensitive": [sensitive]}
    named["person"] = [] if person is None or person in _NO_COLUMN else [person]
    for option, name in ((option, name) for option, names in named.items() for name in names):
        require_column(name, option, table.columns)
    for one, two in (("label", "sensitive"), ("label", "person"), ("sensitive", "person")):
        if named[one] == named[two]:
            problem = f"{named[one][0]!r} cannot be the {one} column and the {two} column"
            raise DataError(problem, remedy=f"name another --{two}")
    if needed := {label, sensitive, *named["keep"], *named["person"]} & {*named["drop"]}:
        problem = f"The column {min(needed)!r} is named by --drop, and is needed"
        raise DataError(problem, remedy="take it out of --drop, or name it nowhere else")
    (file,) = table.source.files
    return _Drafting(table, file_options, named).draft(Path(str(file.path)).name)


class _Drafting:
    """The steps to a draft: :meth:`draft` calls them in an order that counts."""

    def __init__(
        self, table: RawTable, file_options: FileOptions, named: Mapping[str, Sequence[str]]
    ) -> None:
        self.table, self.file_options, self.named = table.decided(named), file_options, named
        self.label, self.sensitive = file_options.label, file_options.sensitive
        self.person = file_options.person
        self.names_groups = (file_options.deprived, file_options.favored) != (None, None)
        self.notes: list[str] = []  # warnings
        self.odd: list[str] = []  # values that may mean missing, as --missing takes them
        self.raw = _without_missing(self.table.columns, file_options)  # at first with all rows
        # Columns that seem to name people, with their numbers of values and rows.
        self.naming = {} if named["person"] else naming_people(self.raw, self.label, self.sensitive)
        outcome, groups = self._sides()
        # The label and the groups: both sides, and their roles.
        self.roles = {
            self.label: dict(zip(("favorable", "unfavorable"), outcome, strict=True)),
            self.sensitive: dict(zip(("deprived", "favored"), groups, strict=True)),
        }

    def draft(self, file: str) -> Draft:
        read, exclude, out = self._rows_read()
        self.raw = {name: column.of(read) for name, column in self.raw.items()}
        favorable, deprived = self.roles[self.label]["favorable"], self.roles[self.sensitive]["deprived"]
        y, member = favorable.rows(self.raw[self.label]), deprived.rows(self.raw[self.sensitive])
        once = self._independent()
        self._compare_groups(deprived.name, y, member)
        columns = tuple(self._column(column, y, member, once) for column in self.raw.values())
        parts = []
        for name, sides in self.roles.items():
            for role, side in sides.items():
                rows, values = side.rows(self.raw[name]), counted(self.raw[name], side.of(self.raw[name]))
                n, n_favorable = int(rows.sum()), int((rows & y).sum())
                in_words = "" if side.cut is None else side.name
                parts.append(Part(role, name, tuple(values), n, n_favorable, in_words))
        if self.odd:
            typed = DoubtError([("", {"missing": self.odd})], self.file_options).typed
            what = "Words among numbers, and numbers far from all others, may mean missing"
            self.notes.append(f"{what}. If these do, add {typed}.")
        if texts := sorted(name for name in {*self.raw} - {*self.roles} if self.raw[name].has_text_numbers):
            what = f"Numbers are text, and so categories: {few(texts)}"
            self.notes.append(f"{what}. If they are no codes, pandas.to_numeric corrects them.")
        numeric = {column.name for column in columns if column.entry.get("kind") == "numeric"}
        forms = (*self.table.remarks, *(text for name, text in self.table.numbers.items() if name in numeric))
        n_file, parts_, notes = self.table.n_rows, tuple(parts), tuple(self.notes)
        reading = Reading(file, n_file, len(y), parts_, out, columns, forms, notes)
        roles = {
            "label": self.label,
            "favorable_label": favorable.name,
            "sensitive_feature": self.sensitive,
            "deprived_group": deprived.name,
        }
        features = [column.name for column in columns if column.entry and column.name != self.label]
        person = None if self.person == INDEPENDENT else self.person
        return Draft(self.table, reading, roles, exclude, person, self._persons(features), read)

    def _sides(self) -> tuple[Sequence[Side], Sequence[Side]]:
        """Return the sides of the label and of the groups; a DoubtError has all that the file leaves open."""
        options, label, group = self.file_options, self.raw[self.label], self.raw[self.sensitive]
        for option, column in (("label", label), ("sensitive", group)):
            if column.n_different < 2:
                blank = " and rows without a value" * bool(column.missing.any())
                raise DataError(
                    f"The {option} column {column.name!r} has one value",
                    expected="two or more",
                    got=shown(column) + blank,
                    remedy=f"name another --{option}"
                    + ", or write a word into the file if an empty value is an answer" * bool(blank),
                )
        outcome, questions = two_sides(label, favorable=options.favorable, unfavorable=options.unfavorable)
        known = ~group.missing[group.rows] & ~label.missing[label.rows]
        likely = ""
        if outcome[0]:
            y = outcome[0].rows(label)
            if (~group.marked & ~group.missing).any():  # a mark such as ? is not proposed
                known &= ~group.marked[group.rows]
            likely = group.values[least_favored(group.rows[known], y[known], len(group.values))]
        given = {"deprived": options.deprived, "favored": options.favored}
        groups, more = two_sides(group, likely, **given)
        if likely and groups == (None, None) and not more:
            groups, _ = two_sides(group, deprived=(likely,), favored=None)
        unclear = {name: both for name, both in self.table.unclear.items() if name not in self.named["drop"]}
        questions += [*more, *about_numbers(unclear), *self._about_twins()]
        if self.naming and self.person is None:
            found = [f"{name!r} ({n:,} values in {rows:,} rows)" for name, (n, rows) in self.naming.items()]
            text = (
                f"People seem to have several rows each, by {few(found)}. A model that is tested on people "
                "of its training looks better than it is. If all rows are independent of each other, write "
                f"--person {INDEPENDENT}"
            )
            questions.append((text, {"person": next(iter(self.naming))}))
        if questions:
            raise DoubtError(questions, self.file_options)
        return [side for side in outcome if side], [side for side in groups if side]

    def _about_twins(self) -> Iterator[Question]:
        """Yield the question which of several columns of one name is meant."""
        for option in ("label", "sensitive", "person"):
            for name in self.named[option]:
                twins = [other for other in self.table.twins.get(name, ()) if other not in self.named["drop"]]
                if twins:
                    text = f"The file has {1 + len(twins)} columns {name!r}, with different values"
                    yield f"{text}. If not the first is meant, write --{option} {twins[0]}", {"drop": twins}

    def _rows_read(self) -> tuple[Mask, dict[str, list[str]], tuple[LeftOut, ...]]:
        """Return which rows are read, the card's ``exclude``, and the rows that are left out.

        A DoubtError says that they could change which group is deprived.
        """
        read, exclude = np.ones(self.table.n_rows, dtype=bool), dict[str, list[str]]()
        rows_out, known, deprived = [], [], self.roles[self.sensitive]["deprived"]
        for name, sides in self.roles.items():
            column, (first, second) = self.raw[name], sides.values()
            neither = ~column.missing & ~first.of(column) & ~second.of(column)
            for values, why in ((column.missing, f"no {name!r}"), (neither, f"a {name!r} on neither side")):
                if column.counts[values].sum():
                    names = [repr(value) for value, _ in counted(column, values) if value]
                    rows_out.append((values[column.rows], why + f" ({few(names)})" * bool(names)))
            if (out := column.missing | neither).any():
                exclude[name] = np.array(column.values)[out].tolist()
                read &= ~out[column.rows]
            known.append(np.where(out[column.rows], np.nan, first.rows(column)))
        least = min(self.file_options.min_count, MIN_COUNT)
        for name, role, side in ((name, *own) for name, sides in self.roles.items() for own in sides.items()):
            if (n := int((side.rows(self.raw[name]) & read).sum())) < least:
                raise DataError(
                    f"{n} row{'s are' if n != 1 else ' is'} {role}, by the column {name!r}",
                    expected=f"{least} or more",
                    got=shown(self.raw[name]),
                    remedy=f"name other values with --{role}" + f", or add --min-count {n}" * bool(n),
                )
        left = tuple(left_out(rows & ~read, why, read, *known) for rows, why in rows_out)
        if not self.names_groups and (turning := [rows for rows in left if rows.goes_with]):
            text = f"{turning[0]} So the rows do not tell which group is deprived"
            likely, quoted = min(deprived.values), self.raw[self.sensitive].has_commas
            raise DoubtError([(text, {"deprived": in_list([likely], quoted=quoted)})])
        return read, exclude, left

    def _compare_groups(self, deprived: str, y: Mask, member: Mask) -> None:
        """Warn if the deprived group was not named, or is better off."""
        name = f"{self.sensitive} = {deprived!r}"
        rate, others = float(y[member].mean()), float(y[~member].mean())
        if not self.names_groups:
            which = f"has the favorable label least often ({share(rate)} against {share(others)})"
            may_be_chance = "" if differ_clearly(y[member], y[~member]) else "; this may be chance"
            self.notes.append(
                f"The deprived group was not named: it is {name}, which {which}{may_be_chance}."
            )
        if round(rate - others, 3) > 0:
            better = f"{share(rate)} of it have the favorable label, {share(others)} of the others"
            self.notes.append(f"{name} is better off in these data: {better}.")

    def _independent(self) -> NDArray[np.intp]:
        """Return one row of each person, or of equal rows if they are copies, which is a warning."""
        columns = [own for own in self.raw.values() if own.name in self.roles or not own.useless]
        rows = [own.rows for own in columns if own.name != self.person]
        persons = self._persons([name for name in self.raw if name != self.label])
        once = np.arange(len(rows[0])) if persons is None else np.unique(persons, return_index=True)[1]
        repeated = copies([codes[once] for codes in rows])
        if not repeated or self.person in _NO_COLUMN:
            return once
        self.notes.append(
            f"{repeated:,} of {len(rows[0]):,} rows ({share(repeated / len(rows[0]))}) seem to be copies, so "
            "models look better than they are: they are tested on copies of rows that they were trained on. "
            f"Try --person {EQUAL_ROWS}."
        )
        return once[np.unique(equal_rows([codes[once] for codes in rows]), return_index=True)[1]]

    def _persons(self, features: Sequence[str]) -> NDArray[np.intp] | None:
        """Return the person of each row, as the card's loader does; None if all rows are independent."""
        if self.person in (None, INDEPENDENT):
            return None
        if self.person == EQUAL_ROWS:
            return equal_rows([self.raw[name].rows for name in features])
        column = self.raw[self.person]
        unnamed = column.missing[column.rows]
        return np.where(unnamed, len(column.values) + np.cumsum(unnamed), column.rows)

    def _column(self, column: RawColumn, y: Mask, member: Mask, once: NDArray[np.intp]) -> ColumnReading:
        """Return how a column of the file is read."""
        name, marks = column.name, np.array(column.values)[column.missing].tolist()
        if name == self.person:
            return ColumnReading(name, "person", "names persons, and is no feature")
        merged = 0
        if name in self.roles:
            entry = self._two_states(column)
        elif reason := self._why_dropped(column):
            return ColumnReading(name, "dropped", reason)
        else:
            entry, merged = feature(column, self.file_options.min_count)
        read = coded(column, entry)
        if name in self.roles:
            return ColumnReading(name, "label" if name == self.label else "group", **read)
        groups = self.raw[self.sensitive].rows[once]
        told = told_by(column.of(once), read["codes"][once], y[once], groups, member[once])
        too_much, reasons = self._telling(name, told)
        if too_much or len(entry["states"]) < 2:
            return ColumnReading(name, "dropped", too_much or "has nearly the same value in every row")
        if any(marks):
            listed = few([repr(mark) for mark in marks if mark])
            reasons.append(f"{listed} {'count' if ',' in listed else 'counts'} as missing")
        # Too few rows for a state of their own have that of others.
        lacking = entry.get("values", {}).get(marks[0]) if marks else None
        for which, state in (("rarer", entry.get("others")), ("missing", lacking)):
            if state not in (None, MISSING, *RARE_STATES):
                reasons.append(f"{which} values, which are few, are read as {state!r}")
        odd = counted(column, column.odd)
        if 0 < len(odd) <= _MOST_ODD:
            self.odd += [f"{name}={value}" for value, _ in odd]
            reasons.append(f"{few([repr(value) for value, _ in odd])} may mean missing")
        elif odd and entry["kind"] == "numeric":
            what = f"{len(odd):,} values, such as {odd[0][0]!r}, are read as {entry['others']!r}"
            reasons.append(what)
            typed = DoubtError([("", {"drop": [name]})], self.file_options).typed
            self.notes.append(
                f"Of {name}, {what}. If they are numbers, write them as the others, or add {typed}."
            )
        if like_weight(name):
            reasons.append("named like weights, and each row counts once")
        read_as = "number" if entry["kind"] == "numeric" else "category"
        n_missing = int(column.counts[column.missing].sum())
        return ColumnReading(name, read_as, ", ".join(reasons), n_missing, merged, **read)

    def _why_dropped(self, column: RawColumn) -> str:
        """Return why a column is no feature by its values, or an empty text."""
        if column.name in self.named["drop"]:
            return "named by --drop"
        if column.name in self.named["keep"]:
            return column.useless if column.useless in NO_STATES else ""
        return (
            "names people, or what else several rows share" if column.name in self.naming else column.useless
        )

    def _telling(self, name: str, told: Told) -> tuple[str, list[str]]:
        """Return why a column that tells too much is left out, and what it tells of label and group."""
        reasons = list[str]()
        if name not in self.named["keep"]:
            if told.is_copy:
                what = f"sensitive column {self.sensitive!r} in nearly every row, as a copy does"
                self.notes.append(f"{name} is left out: it goes with the {what}.")
                return f"goes with the {what}", []
            if told.label >= _HINT:
                reasons.append(f"alone it holds {share(told.label)} of the label's information")
            if told.label >= _LEAK:
                leak = f"suspected leak: {reasons[0]}. If it is known before, write --keep {name}"
                self.notes.append(f"{name} is left out, a {leak}.")
                return leak, []
        if told.group >= PROXY:
            reasons.append(f"proxy of {self.sensitive}: Cramér's V {number(told.group, 2)}")
        return "", reasons

    def _two_states(self, column: RawColumn) -> dict[str, Any]:
        """Return the entry of the label, or of the groups: each side is a state."""
        sides = self.roles[column.name]
        first, second = sides.values()
        states, entry = [first.name, second.name], dict[str, Any](kind="categorical")
        if first.cut is not None:
            if not (column.places[first.of(column)] < first.cut).all():
                states.reverse()
            entry = {"kind": "numeric", "bins": [-math.inf, first.cut, math.inf]}
        # A column of numbers lists its open classes only.
        listed = np.isnan(column.numbers) if first.cut is not None else ~np.isin(column.values, states)
        values = {
            value: first.name if value in first.values else second.name
            for value, n in counted(column, listed)
        }
        return entry | {"states": states} | ({"values": values} if values else {})


def shown(column: RawColumn, chosen: Mask | None = None) -> str:
    """Return a text of a column's values, or of the chosen ones, with their rows, most frequent first."""
    values = counted(column, ~column.missing if chosen is None else chosen)
    rows = [f"{value!r} ({n:,} row{'s' * (n != 1)})" for value, n in values]
    return few(rows, MOST_STATES, "other values") or "nothing, as no row has a value"


def meant(name: str, names: Iterable[str]) -> str:
    """Return a question for the name that was probably meant, or an empty text."""
    close = nearest(name, names)
    return f"did you mean {close[0]!r}? " if close else ""


def require_column(name: str, option: str, columns: Collection[str]) -> None:
    """Raise a DataError unless a table has the column that an option names."""
    if name not in columns:
        raise DataError(
            f"The file has no column {name!r}",
            expected="one of " + few(list(map(repr, columns)), _MOST_NAMED, "others"),
            remedy=meant(name, columns)
            + f"name the column with --{option}{_by_place(columns)}"
            + "; if letters are wrong, add --encoding NAME" * (not name.isascii()),
        )


def _by_place(columns: Iterable[str]) -> str:
    """Return how to name columns by their place, where a number in the header says that it may be a row."""
    if all(as_number(name) is None for name in columns):
        return ""
    return "; if the first line is a row and no header, name columns by their place, as column_1"


def missing_roles(table: RawTable, label: str, lacking: Sequence[str]) -> DoubtError:
    """Return an error that lists the file's columns, and the label's values, for options that are lacking."""
    # As in the label and the groups, NA or ? may be a value.
    raw = {name: replace(column, marks=frozenset({""})) for name, column in table.columns.items()}
    numbers = {name: int((~column.missing).sum()) for name, column in raw.items()}
    columns = [f"{name!r} ({n:,} value{'s' * (n != 1)})" for name, n in numbers.items()]
    text = f"--{' and --'.join(lacking)} must be named. The columns are {few(columns, _MOST_NAMED, 'others')}"
    text += _by_place(table.columns)
    if label:
        require_column(label, "label", table.columns)
        text += f". {label!r} has the values {shown(raw[label])}"
    return DoubtError([(text, {name: "VALUE" if name == "favorable" else "COLUMN" for name in lacking})])


def left_out(
    rows: Mask, why: str, read: Mask, y: NDArray[np.float64], member: NDArray[np.float64]
) -> LeftOut:
    """Return a comparison of rows that are left out with the rows that are read.

    ``y`` tells for each row of the file whether it has the favorable label, ``member`` whether it is in the
    deprived group: 1, 0, or NaN if that is unknown.
    """
    n, compared = int(rows.sum()), ""
    for column, values, have in (
        ("label", y, "have the favorable label"),
        ("group", member, "are in the deprived group"),
    ):
        out, others = values[rows & ~np.isnan(values)], values[read]
        if not len(out):
            continue
        compared = f"{share(out.mean())} of them {have}, {share(others.mean())} of the others"
        if differ_clearly(out, others, _LARGE):
            return LeftOut(n, why, compared, column)
    return LeftOut(n, why, compared)


def differ_clearly(some: NDArray[Any], others: NDArray[Any], least: float = 0.0) -> bool:
    """Return whether the shares of true values differ by more than chance, and by more than ``least``."""
    together = np.concatenate([some, others]).mean()
    error = math.sqrt(together * (1 - together) * (1 / len(some) + 1 / len(others)))
    return bool(abs(some.mean() - others.mean()) > max(least, _CLEAR * error))


def about_numbers(unclear: Mapping[str, Unclear]) -> Iterator[Question]:
    """Yield the question whether a mark in some columns separates thousands."""
    texts = [f"{name!r} has {both.example!r}, which may be {both.readings}" for name, both in unclear.items()]
    if texts:
        text = f"The column {'; '.join(texts)}. If the mark stands before decimals, write --decimals instead"
        yield text, {"thousands": [*unclear]}


def _without_missing(columns: Mapping[str, RawColumn], file_options: FileOptions) -> dict[str, RawColumn]:
    """Return the columns with the values that a user calls missing; a DataError says that there is none.

    Of the label and the groups, only these and empty values are missing: ``NA`` or ``?`` may be a value.
    """
    roles = file_options.label, file_options.sensitive
    missing: dict[str, set[str]] = {name: set() for name in columns}

    def named_by(part: str) -> dict[str, list[str]]:
        """Return the values that a part of the option means, by column."""
        named = [name for name in (*columns, REST) if part.startswith(f"{name}=")]
        name = max(named, key=len, default="")
        value = part[len(name) + 1 :].strip() if named else part
        names = roles if not named else [name] if name != REST else columns
        found = {name: same_values(columns[name], value) for name in names}
        return {name: values for name, values in found.items() if values}

    for part in values_in_list(file_options.missing, lambda part: bool(named_by(part)), "missing"):
        if not (found := named_by(part)):
            raise DataError(
                f"No column has the value that --missing names by {part!r}",
                expected="; ".join(f"of {name!r} {shown(columns[name])}" for name in roles),
                remedy="name values of the label and the groups as A,B, those of another column as COLUMN=A, "
                f"those of all as {REST}=A",
            )
        for name, values in found.items():
            missing[name] |= {*values}
    return {
        name: replace(
            column,
            none=frozenset(missing[name]),
            marks=frozenset({""}) if name in roles else column.marks,
        )
        for name, column in columns.items()
    }


# ------------------------------------------------------------------- the sides of a label, or of the groups


@dataclass(frozen=True)
class Side:
    """The values on one side."""

    values: frozenset[str]
    name: str  # of their state
    cut: float | None = None  # the number at which a condition cuts, if there is one

    def of(self, column: RawColumn) -> Mask:
        """Return a mask of this side's values of a column."""
        return np.array([value in self.values for value in column.values], dtype=bool)

    def rows(self, column: RawColumn) -> Mask:
        """Return a mask of the rows of a column that are on this side."""
        return self.of(column)[column.rows]


def two_sides(
    column: RawColumn, likely: str = "", **given: Named | None
) -> tuple[tuple[Side | None, Side | None], list[Question]]:
    """Return both sides that two options name, as far as they are known, and the questions that are open.

    ``given`` has the values of both options. A column of two values needs one name, unless they differ by
    case alone, or the other may mean missing; without any, no side is known. ``likely`` is a value that a
    question proposes for the first side. A DataError says that there is no such value, or that both sides
    have it.
    """
    stars = [option for option, own in given.items() if own == ALL_OTHERS not in column.values]
    named = {
        option: _named(column, own, option)
        for option, own in given.items()
        if own is not None and option not in stars
    }
    n, questions = column.n_different, list[Question]()
    values = {value for value, _ in counted(column, ~column.missing)}
    # Yes and yes may mean the same, and a mark that is not named may be no value.
    marked = {*np.array(column.values)[column.marked].tolist()}
    marks = (values & marked).difference(*(own.values for own, _ in named.values()))
    several = n > 2 or len({value.casefold() for value in values}) < n == 2 or bool(marks)
    sides = {option: own for option, (own, _) in named.items()}
    lacking = [option for option in given if option not in sides]
    for own, rest in named.values() if len(lacking) == 1 else ():
        if stars or own.cut is not None or not several:
            sides[lacking[0]] = rest
        if own.cut is not None and not stars and (odd := _not_cut(column, own.cut)).any():
            text = f"{column.name!r} has words or codes among its numbers: {shown(column, odd)}"
            both = f"If they are no codes, name --{' and --'.join(given)}"
            questions.append((f"{text}. {both}", _as_missing(column, odd)))
    lacking = [option for option in given if option not in sides]
    if lacking:
        if several or stars:
            questions.append(_question(column, sides, lacking, likely))
    elif both_have := sorted(frozenset.intersection(*(own.values for own in sides.values()))):
        raise DataError(
            f"{few(list(map(repr, both_have)))} of {column.name!r} cannot be {' as well as '.join(given)}",
            remedy=f"name each value once, in --{' or in --'.join(given)}",
        )
    first, second = map(sides.get, given)
    return (first, second), questions


def _question(column: RawColumn, sides: Mapping[str, Side], lacking: Sequence[str], likely: str) -> Question:
    """Return the question which values are on the sides that are not named."""
    both = len(lacking) == 2
    text = f"{column.name!r} has {column.n_different:,} values: {shown(column)}. So "
    if both and column.has_numbers:
        numbers = column.numbers[column.rows[~column.odd[column.rows]]]
        above = numbers[numbers > np.nanmin(numbers)]
        middle = max(float(np.nanmedian(numbers)), float(np.nanmin(above)))
        text += f"--{lacking[0]} must be a condition, or both sides must be named. Proposed is the lower half"
        return text, {lacking[0]: f"< {figure(middle)}", **_as_missing(column, column.odd)}
    text += f"--{' and --'.join(lacking)} must be named, and rows on neither side are left out. Proposed are "
    taken, ordered = (
        {value for side in sides.values() for value in side.values},
        counted(column, ~column.missing),
    )
    if both:
        text += f"{likely!r}, which has the favorable label least often, and " if likely else ""
        likely = likely or ordered[0][0]
        taken = {*same_values(column, likely)}
        if column.counts[~column.missing].max() < MIN_COUNT:
            raise DataError(
                f"{column.name!r} has {column.n_different:,} values, and none is in {MIN_COUNT} rows",
                expected="sides of several rows each",
                got=shown(column),
                remedy=f"name another column, or several values with --{' and --'.join(lacking)}",
            )
    text += "all other values"
    rest = [value for value, _ in ordered if value not in taken]
    # Marks such as ?, and single rows that may be none of the table, such as a total or a second header.
    marks = [value for value, _ in counted(column, column.marked | (column.counts == 1)) if value in rest]
    if marks and {*rest} != {*marks}:
        text += f" but {few(list(map(repr, marks)))}"
        rest = [value for value in rest if value not in marks]
    else:
        marks = []
    # Values that differ by case alone stand on one side, unless nothing else is left for the other.
    folded = {value.casefold() for value in taken}
    alike = {value for value in rest if value.casefold() in folded}
    proposed = {lacking[0]: in_list([likely], quoted=column.has_commas)} if both else {}
    if alike and alike != {*rest}:
        (named,) = proposed or sides
        whole = [value for value, _ in ordered if value in taken | alike]
        proposed = {named: in_list(whole, quoted=column.has_commas)}
        rest = [value for value in rest if value not in alike]
        text += f", and {few(list(map(repr, sorted(alike))))} for --{named}"
    text += ": take out those of neither side, such as unknown ones"
    many = len(rest) > MOST_STATES and ALL_OTHERS not in column.values and not marks
    return text, proposed | {lacking[-1]: ALL_OTHERS if many else in_list(rest, quoted=column.has_commas)}


def same_values(column: RawColumn, text: str) -> list[str]:
    """Return the values of a column that are a text, or the same number; the text itself comes first."""
    pairs = zip(column.values, column.meanings, strict=True)
    same = [value for value, meaning in pairs if value == text or meaning == as_number(text)]
    return sorted(same, key=lambda value: value != text)


def _named(column: RawColumn, given: Named, option: str) -> tuple[Side, Side]:
    """Return the side that an option names, and the side of all other values."""

    def known(part: str) -> bool:
        return bool(same_values(column, part))

    parts = values_in_list(given, known, option)
    if isinstance(given, str) and not all(map(known, parts)):
        given = re.sub(rf"^{re.escape(column.name)}\s*=\s*", "", given).strip()
        parts = values_in_list(given, known, option)
        if not known(parts[0] if parts else "") and (condition := _CONDITION.fullmatch(given)):
            return _by_condition(column, condition[1], condition[2], option)
    if strangers := [part for part in parts if not known(part)]:
        hint = f"write --{option} '>= 10'; " if column.has_numbers else meant(strangers[0], column.values)
        raise DataError(
            f"The column {column.name!r} has no value {strangers[0]!r}",
            expected=shown(column),
            remedy=f"{hint}write values as the file has them, several as A,B",
        )
    named = [same_values(column, part)[0] for part in parts]
    values = frozenset(value for part in parts for value in same_values(column, part))
    rest = [value for value, _ in counted(column, ~column.missing) if value not in values]
    return _side(column, named, values, option), _side(column, rest, frozenset(rest), f"not {option}")


def _side(column: RawColumn, names: Sequence[str], values: frozenset[str], option: str) -> Side:
    """Return a side that is named after its values, of equal numbers after the first."""
    meanings = dict(zip(column.values, column.meanings, strict=True))
    first = list({meanings[name]: name for name in reversed(names)}.values())[::-1]
    name = " or ".join(first) if len(first) <= 3 else f"{first[0]} and {len(first) - 1} more"
    return Side(values, f"{name} ({option})" if name in {*column.values} - values else name)


def _by_condition(column: RawColumn, sign: str, text: str, option: str) -> tuple[Side, Side]:
    """Return the side of a condition such as ``< 25``, and the opposite side."""
    limit = as_number(text)
    if limit is None or np.isnan(column.numbers[~column.missing]).mean() > 0.5:
        raise DataError(
            f"'{sign} {text}' is no condition for the column {column.name!r}",
            expected="a condition such as '>= 10', for a column of numbers",
            got=shown(column),
            remedy=f"name values with --{option}",
        )
    whole = limit.is_integer() and not np.any(column.numbers % 1 > 0)
    at = limit if sign in ("<", ">=") else limit + 1 if whole else math.nextafter(limit, math.inf)

    def side(own: str) -> Side:
        on_it = column.places < at if own[0] == "<" else column.places >= at
        values = np.array(column.values)[on_it & ~column.missing].tolist()
        return Side(frozenset(values), _IN_WORDS[own].format(figure(limit or 0)), at)

    return side(sign), side(_OPPOSITE[sign])


def _not_cut(column: RawColumn, cut: float) -> Mask:
    """Return a mask of values of which it is not known on which side of a cut they are."""
    numbers, open_class = column.numbers[~np.isnan(column.numbers)], np.isnan(column.numbers)
    # Of an open class only the limit is known.
    below = open_class & (column.places < numbers.min()) & (cut <= column.places)
    above = open_class & (column.places > numbers.max()) & (cut > column.places)
    words = np.isnan(column.places) & ~column.missing
    return np.asarray(column.odd | words | below | above)


def _as_missing(column: RawColumn, chosen: Mask) -> dict[str, list[str]]:
    """Return the option that calls values of a column missing."""
    values = [f"{column.name}={value}" for value, _ in counted(column, chosen)]
    return {"missing": values} if values else {}


def least_favored(codes: NDArray[np.integer[Any]], favorable: Mask, n_groups: int) -> int:
    """Return the group with the lowest share of favorable labels, among groups that are not tiny."""
    counts = np.bincount(codes, minlength=n_groups)
    rates = np.bincount(codes, weights=favorable, minlength=n_groups) / np.maximum(counts, 1)
    # The rate of a handful of people is chance.
    enough = min(max(FEW_ROWS, _SMALLEST_SHARE * len(codes)), np.sort(counts)[-2])
    return int(np.argmin(np.where(counts >= max(enough, 1), rates, np.inf)))


# -------------------------------------------------------------- rows that are not independent of each other


def naming_people(columns: Mapping[str, RawColumn], label: str, sensitive: str) -> dict[str, tuple[int, int]]:
    """Return the columns that seem to name people who have several rows: their numbers of values and rows.

    Nearly all rows of a value are of one group, which chance would not do. Copies of whole rows do not count,
    because with them each number seems to name a person.
    """
    others = {name: column for name, column in columns.items() if name not in (label, sensitive)}
    groups, known = [columns[sensitive].rows], 1
    if np.isfinite(columns[sensitive].numbers).sum() > MOST_STATES:
        # Numbers such as ages grow, but two other columns show a person; a column tells itself.
        groups, known = [column.rows for column in others.values()], 3
    rows = [column.rows for column in columns.values() if not column.useless]
    once, found = np.unique(_hashed(rows)[0], return_index=True)[1] if rows else np.arange(0), {}
    for name, column in others.items():
        present = column.counts[~column.missing]
        n, n_rows = len(present), int(present.sum())
        if n <= max(MOST_STATES, _FEW * n_rows) or present[present > 1].sum() < _REPEATED * n_rows:
            continue
        if _measures(column, columns[sensitive].rows):
            continue
        if sum(_stays(column, codes, once) for codes in groups) >= known:
            found[name] = n, n_rows
    return found


def _measures(column: RawColumn, groups: NDArray[np.intp]) -> bool:
    """Return whether a column has fractions, dates, weights, or numbers of which the groups are bands."""
    numbers = column.numbers[~np.isnan(column.numbers)]
    # Each group has weights of its own, because weights follow its share of the population.
    if like_weight(column.name) or (numbers != np.round(numbers)).any() or column.useless == DATES:
        return True
    members = groups[np.argsort(column.numbers[column.rows], kind="stable")]
    return len(numbers) == len(column.values) and _BANDS * (np.diff(members) != 0).sum() < len(numbers)


def _stays(column: RawColumn, groups: NDArray[np.intp], once: NDArray[np.intp]) -> bool:
    """Return whether the group stays the same in nearly all of some rows with the same value."""
    values, groups = column.rows[once], groups[once]
    order = np.argsort(values, kind="stable")
    pairs = (np.diff(values[order]) == 0) & ~column.missing[values[order][1:]]
    # Where only one group has values, as of pregnancies, they tell no person.
    shares = np.bincount(groups[~column.missing[values]]) / max(1, (~column.missing[values]).sum())
    expected = pairs.sum() * (1 - np.square(shares).sum())
    return bool(expected >= _PAIRS and (pairs & (np.diff(groups[order]) != 0)).sum() <= _DIFFER * expected)


def _hashed(columns: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.uint64], list[NDArray[np.uint64]]]:
    """Return a number for each row, equal for equal rows, and the part of each column in this sum."""
    rng = np.random.default_rng(0)
    parts = [rng.integers(2**64, size=int(codes.max()) + 1, dtype=np.uint64)[codes] for codes in columns]
    return np.sum(parts, axis=0, dtype=np.uint64), parts


def equal_rows(columns: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return a number for each row, shape (n_rows,): equal for rows that are equal in all columns."""
    return np.unique(_hashed(columns)[0], return_inverse=True)[1]


def copies(columns: Sequence[NDArray[np.intp]]) -> int:
    """Return how many rows seem to be copies of another row; 0 if people may be alike by chance.

    Other people agree by chance: then most pairs that agree in all columns but a certain one differ in this
    one. Copies agree in it, whichever it is, or agree in all others where they agree in a fine one.
    """
    rows, parts = _hashed(columns)
    repeated, equal = _equal_pairs(rows)
    every = len(rows) * (len(rows) - 1) / 2

    def seldom_shared(part: NDArray[np.uint64]) -> bool:
        alone, others = _equal_pairs(part)[1], _equal_pairs(rows - part)[1]
        return alone <= _FINE * every and others <= _BY_CHANCE * every and equal >= _ALIKE * alone

    if repeated < _REPEATED * len(rows):
        return 0
    copied = any(map(seldom_shared, parts)) or all(
        equal >= _ALIKE * _equal_pairs(rows - part)[1] for part in parts
    )
    return repeated if copied else 0


def _equal_pairs(rows: NDArray[np.uint64]) -> tuple[int, float]:
    """Return how many rows repeat another, and the number of pairs of equal rows."""
    counts = np.unique(rows, return_counts=True)[1].astype(float)
    return len(rows) - len(counts), float((counts * (counts - 1)).sum() / 2)
