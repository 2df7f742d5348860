"""Drafts of cards of unknown files: how each column is read, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.association import PROXY, cramers_v, finely, is_copy, told_by
from benchmark.data.card_parts import EQUAL_ROWS, REST, CategoricalColumn, NumericColumn
from benchmark.data.doubts import (
    DoubtError,
    Question,
    Side,
    counted,
    least_favored,
    listed,
    missing_roles,
    n_different,
    require_column,
    same_values,
    shown,
    two_sides,
)
from benchmark.data.load import Coder
from benchmark.data.number_form import PLAIN, Unclear
from benchmark.data.raw import RawColumn
from benchmark.data.reading import ColumnReading, LeftOut, Part, Reading, left_out
from benchmark.data.repeats import copies, equal_rows, naming_people
from benchmark.data.sniff import RawTable, frame_table, sniff
from benchmark.data.states import (
    MISSING,
    NO_STATES,
    Mask,
    feature,
    like_weight,
    odd_values,
    useless,
)
from benchmark.data.table import Column, Schema, Table
from benchmark.errors import DataError
from benchmark.file_options import MIN_COUNT, FileOptions
from benchmark.text.words import few, in_list, number, share, values_in_list

INDEPENDENT = "none"
"""The ``person`` of a file whose rows are independent of each other."""

if TYPE_CHECKING:
    import pandas as pd

# Shares of the label's information from which a column is left out, or said to tell much.
_LEAK, _HINT = 0.5, 0.25
_MOST_ODD = 6  # values of a column that may mean missing, at most
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
    label, sensitive = file_options.label.strip(), file_options.sensitive.strip()
    file_options = replace(file_options, label=label, sensitive=sensitive)
    if isinstance(data, str | Path):
        table = sniff(
            Path(data),
            folder,
            thousands=file_options.thousands,
            decimals=file_options.decimals,
            most_mb=file_options.max_mb,
            named={*filter(None, (label, sensitive))},
        )
    else:
        table = frame_table(data, "data.csv")
    roles = {"label": label, "favorable": file_options.favorable, "sensitive": sensitive}
    if lacking := [name for name, value in roles.items() if not value]:
        raise missing_roles(table, label, lacking)
    named = {
        option: values_in_list(getattr(file_options, option), table.columns.__contains__, option)
        for option in ("drop", "keep", "thousands", "decimals")
    }
    if file_options.person in _NO_COLUMN and file_options.person in table.columns:
        raise DataError(
            f"The column {file_options.person!r} cannot name people, because --person takes it for a word",
            remedy="give the column another name in the file",
        )
    named |= {"label": [label], "sensitive": [sensitive], "person": []}
    if file_options.person not in (None, *_NO_COLUMN):
        named["person"] = [file_options.person]
    for option, name in ((option, name) for option, names in named.items() for name in names):
        require_column(name, option, table)
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
        self.table, self.file_options, self.named = table, file_options, named
        self.label, self.sensitive, self.person = (
            file_options.label,
            file_options.sensitive,
            file_options.person,
        )
        self.names_groups = (file_options.deprived, file_options.favored) != (None, None)
        self.notes: list[str] = []  # warnings
        self.odd: list[str] = []  # values that may mean missing, as --missing takes them
        self.raw = _without_missing(table.columns, file_options)  # at first with all rows
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
                parts.append(Part(role, name, tuple(values), n, n_favorable, len(y), in_words))
        if self.odd:
            typed = DoubtError([("", {"missing": in_list(self.odd)})], self.file_options).typed
            what = "Words among numbers, and numbers far from all others, may mean missing"
            self.notes.append(f"{what}. If these do, add {typed}.")
        forms = self.table.remarks
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
        return Draft(self.table, reading, roles, exclude, person, self._persons(features))

    def _sides(self) -> tuple[Sequence[Side], Sequence[Side]]:
        """Return the sides of the label and of the groups; a DoubtError has all that the file leaves open."""
        options, label, group = self.file_options, self.raw[self.label], self.raw[self.sensitive]
        outcome, questions = two_sides(label, favorable=options.favorable, unfavorable=options.unfavorable)
        if n_different(group) < 2:
            problem = f"The sensitive column {group.name!r} has one group"
            raise DataError(
                problem, expected="two or more", got=shown(group), remedy="name another --sensitive"
            )
        known = ~group.missing[group.rows] & ~label.missing[label.rows]
        y = outcome[0].rows(label) if outcome[0] else np.zeros(len(known), dtype=bool)
        likely = group.values[least_favored(group.rows[known], y[known], len(group.values))]
        given = {"deprived": options.deprived, "favored": options.favored}
        groups, more = two_sides(group, likely, **given)
        if groups == (None, None) and not more:
            groups, _ = two_sides(group, deprived=(likely,), favored=None)
        drop = self.named["drop"]
        unclear = {name: both for name, both in self.table.unclear.items() if name not in drop}
        questions += [*more, *_about_numbers(unclear)]
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

    def _rows_read(self) -> tuple[Mask, dict[str, list[str]], tuple[LeftOut, ...]]:
        """Return which rows are read, the card's ``exclude``, and the rows that are left out.

        A DoubtError says that they could change which group is deprived.
        """
        read, exclude = np.ones(self.table.n_rows, dtype=bool), dict[str, list[str]]()
        rows_out, known = [], []
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
                    remedy=f"name other values with --{role}" + ", or lower --min-count" * bool(n),
                )
        left = tuple(left_out(rows & ~read, why, read, *known) for rows, why in rows_out)
        if not self.names_groups and (turning := [rows for rows in left if rows.goes_with]):
            text = f"{turning[0]} So the rows do not tell which group is deprived"
            likely = min(self.roles[self.sensitive]["deprived"].values)
            raise DoubtError([(text, {"deprived": listed([likely], self.raw[self.sensitive])})])
        return read, exclude, left

    def _compare_groups(self, deprived: str, y: Mask, member: Mask) -> None:
        """Warn if the deprived group was not named, or is better off."""
        name = f"{self.sensitive} = {deprived!r}"
        if not self.names_groups:
            which = f"{name}, which has the favorable label least often"
            self.notes.append(f"The deprived group was not named: it is {which}.")
        rate, others = float(y[member].mean()), float(y[~member].mean())
        if round(rate - others, 3) > 0:
            better = f"{share(rate)} of it have the favorable label, {share(others)} of the others"
            self.notes.append(f"{name} is better off in these data: {better}.")

    def _independent(self) -> NDArray[np.intp]:
        """Return one row of each person, or of equal rows if they are copies, which is a warning."""
        columns = [own for own in self.raw.values() if own.name in self.roles or not useless(own)]
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
        if name in self.roles:
            read_as = "label" if name == self.label else "group"
            return ColumnReading(name, read_as, **self._coded(column, self._two_states(column)))
        if reason := self._why_dropped(column, once, member):
            return ColumnReading(name, "dropped", reason)
        entry, merged = feature(column, self.file_options.min_count)
        coded = self._coded(column, entry)
        leak, reasons = self._told(column.of(once), coded["codes"][once], y[once], member[once])
        if leak or len(entry["states"]) < 2:
            return ColumnReading(name, "dropped", leak or "has nearly the same value in every row")
        if any(marks):
            listed = few([repr(mark) for mark in marks if mark])
            reasons.append(f"{listed} {'count' if ',' in listed else 'counts'} as missing")
        odd = counted(column, odd_values(column))
        if 0 < len(odd) <= _MOST_ODD:
            self.odd += [f"{name}={value}" for value, _ in odd]
            reasons.append(f"{few([repr(value) for value, _ in odd])} may mean missing")
        if like_weight(name):
            reasons.append("named like weights, and each row counts once")
        read_as = "number" if entry["kind"] == "numeric" else "category"
        n_missing = int(column.counts[column.missing].sum())
        return ColumnReading(name, read_as, ", ".join(reasons), n_missing, merged, **coded)

    def _why_dropped(self, column: RawColumn, once: NDArray[np.intp], member: Mask) -> str:
        """Return why a column is no feature by its values, or an empty text."""
        if column.name in self.named["drop"]:
            return "named by --drop"
        reason = useless(column, self.table.n_rows)
        if column.name in self.named["keep"]:
            return reason if reason in NO_STATES else ""
        if column.name in self.naming:
            return "names people, or what else several rows share"
        if not reason and is_copy(column.rows[once], self.raw[self.sensitive].rows[once], member[once]):
            reason = f"goes with the sensitive column {self.sensitive!r} in nearly every row, as a copy does"
            self.notes.append(f"{column.name} is left out: it {reason}.")
        return reason

    def _told(
        self, column: RawColumn, coarse: NDArray[np.int16], y: Mask, member: Mask
    ) -> tuple[str, list[str]]:
        """Return whether a column gives the label away, and what it tells of the label and of the group."""
        fine, reasons = finely(column), list[str]()
        strength = max(told_by(codes, y) for codes in (coarse, fine))
        if strength >= _HINT and column.name not in self.named["keep"]:
            reason = f"alone it holds {share(strength)} of the label's information"
            if strength >= _LEAK:
                reason = f"suspected leak: {reason}. If it is known before, write --keep {column.name}"
                self.notes.append(f"{column.name} is left out, a {reason}.")
                return reason, []
            reasons.append(reason)
        # Of numbers nearly all different, as weights, no model sees which rows share one.
        values = column.rows if len(column.values) * 5 <= len(column.rows) else fine
        if (v := max(cramers_v(codes, member) for codes in (coarse, values))) >= PROXY:
            reasons.append(f"proxy of {self.sensitive}: Cramér's V {number(v, 2)}")
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

    def _coded(self, column: RawColumn, entry: dict[str, Any]) -> dict[str, Any]:
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


def _about_numbers(unclear: Mapping[str, Unclear]) -> Iterator[Question]:
    """Yield the question whether a mark in some columns separates thousands."""
    texts = [f"{name!r} has {both.example!r}, which may be {both.readings}" for name, both in unclear.items()]
    if texts:
        names = in_list(list(unclear))
        text = f"The column {'; '.join(texts)}. If it stands before decimals, write --decimals {names}"
        yield text, {"thousands": names}


def _without_missing(columns: Mapping[str, RawColumn], file_options: FileOptions) -> dict[str, RawColumn]:
    """Return the columns with the values that a user calls missing; a DataError says that there is none.

    Of the label and the groups, only these and empty values are missing: ``NA`` or ``?`` may be a value.
    """
    roles = file_options.label, file_options.sensitive
    missing: dict[str, set[str]] = {name: set() for name in columns}

    def meant(part: str) -> dict[str, list[str]]:
        """Return the values that a part of the option means, by column."""
        named = [name for name in (*columns, REST) if part.startswith(f"{name}=")]
        name = max(named, key=len, default="")
        value = part[len(name) + 1 :].strip() if named else part
        names = roles if not named else [name] if name != REST else columns
        found = {name: same_values(columns[name], value) for name in names}
        return {name: values for name, values in found.items() if values}

    for part in values_in_list(file_options.missing, lambda part: bool(meant(part)), "missing"):
        if not (found := meant(part)):
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
