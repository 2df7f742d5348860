"""Drafts of cards of unknown files: how each column is read, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.association import PROXY, finely, giving_away, is_copy, proxy_strength, right_by, told_by
from benchmark.data.card_parts import EQUAL_ROWS, REST, CategoricalColumn, NumericColumn
from benchmark.data.doubts import (
    Answer,
    DoubtError,
    Question,
    doubts_of_sides,
    marks_in_doubt,
    question_of_odd_rows,
    quoted,
    standing_apart,
)
from benchmark.data.load import Coder
from benchmark.data.number_form import PLAIN
from benchmark.data.proposals import missing_roles, require_column
from benchmark.data.raw import RawColumn
from benchmark.data.reading import FEW_ROWS, Part, Reading, Remark, left_out
from benchmark.data.repeats import (
    INDEPENDENT,
    copies,
    equal_rows,
    first_rows,
    naming_people,
    person_of,
    question_of_people,
    warning_of_copies,
)
from benchmark.data.sides import Side, counted, least_favored, shown, side
from benchmark.data.sniff import RawTable, frame_table, sniff
from benchmark.data.states import (
    MISSING,
    MOST_LEVELS,
    MOST_STATES,
    NO_STATES,
    OTHER,
    CardEntry,
    Mask,
    category,
    content,
    cut,
    feature,
    figure,
    like_weight,
    merged,
    name_of_rest,
    useless,
    words_among_numbers,
)
from benchmark.errors import DataError
from benchmark.file_options import MIN_COUNT, FileOptions, Named
from benchmark.text.words import as_number, few, in_list, number, share, values_in_list

if TYPE_CHECKING:
    import pandas as pd

# Shares of the label's information from which a column is left out, or named.
LEAK, HINT = 0.5, 0.25

_KNOWN_BEFORE = "Check that it is known before the label."
_MOST_LISTED = 200  # raw values that a card's filter may list
NAMED, _COPY = "named by --drop", "as a copy does"  # in reasons to leave a column out
_MUCH = 0.05  # share of rows in the state of rare values that is said
_OPPOSITE = {"unfavorable": "favorable", "favored": "deprived"}


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
    warnings: list[Remark] = field(default_factory=list)  # for readers who do not open the card
    reading: Reading | None = None  # how labels, groups and numbers were read
    person: str | None = None  # as in the card
    persons: NDArray[np.intp] | None = None  # the person of each row, if rows are not independent
    copies: Remark | None = None  # the warning that rows are copies of others
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


def draft(data: Path | pd.DataFrame, file_options: FileOptions, folder: Path) -> Draft:
    """Return the draft of the card of a file, or of a frame that becomes a file ``data.csv``.

    The card is to lie in a folder. Raises a DataError if something cannot be read or found, a DoubtError if
    it can be read in several ways.
    """
    names = {name: getattr(file_options, name).strip() for name in ("label", "sensitive")}
    file_options = replace(file_options, **names)
    if isinstance(data, Path):
        table = sniff(
            data,
            folder,
            thousands=file_options.thousands,
            decimals=file_options.decimals,
            most_mb=file_options.max_mb,
            named={*filter(None, names.values())},
        )
    else:
        table = frame_table(data, "data.csv")
    if not all(names.values()):
        roles = {name: getattr(file_options, name) for name in ("label", "favorable", "sensitive")}
        raise missing_roles(table, roles)
    for option in ("thousands", "decimals", "drop", "keep"):
        for name in _columns(table, file_options, option):
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
    (file,) = table.source.files
    return _Drafting(table, file_options, file_options.favorable, Path(str(file.path)).name).run()


def _columns(table: RawTable, file_options: FileOptions, option: str) -> list[str]:
    """Return the columns that an option names."""
    return values_in_list(getattr(file_options, option), table.columns.__contains__, option)


class _Drafting:
    """The steps to a draft: :meth:`run` calls them in an order that counts, as each adds to ``draft``."""

    def __init__(self, table: RawTable, file_options: FileOptions, favorable: Named, file: str) -> None:
        self.file_options, self.least, self.file = file_options, file_options.min_count, file
        # Columns with all rows of the file, until :meth:`run` leaves out rows without a label or a group.
        self.raw = _without_codes(table.columns, file_options)
        roles = file_options.label, file_options.sensitive
        self.draft = Draft(table, {}, person=person_of(file_options.person, self.raw, roles))
        self.naming = naming_people(self.raw, *roles, self.draft.person)
        self.rows_out: list[tuple[Mask, str]] = []  # rows that are left out, and why
        self.favorable = self._side(file_options.label, favorable, "favorable")
        self.unfavorable = self._opposite(
            file_options.label, self.favorable, file_options.unfavorable, "unfavorable"
        )
        given = file_options.deprived
        self.deprived = None if given is None else self._side(file_options.sensitive, given, "deprived")
        self.favored = self._opposite(file_options.sensitive, self.deprived, file_options.favored, "favored")
        # The label and the groups: the column, the side that is named first, and its opposite if named.
        self.pairs = (
            (file_options.label, self.favorable, self.unfavorable),
            (file_options.sensitive, self.deprived, self.favored),
        )
        self.drop, self.keep = (set(_columns(table, file_options, option)) for option in ("drop", "keep"))
        for name in (*roles, *self.keep, self.draft.person):
            if name in self.drop:
                problem = f"The column {name!r} is named by --drop, and is needed"
                raise DataError(problem, remedy="take it out of --drop, or name it nowhere else")

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
        self._features(label, sensitive, member)
        self._look(y, member, self._repeated_rows())
        draft.persons = self._persons()
        assert draft.reading is not None
        left = [
            Remark(f"{name} is left out: it {why}.") for name, why in draft.dropped.items() if _COPY in why
        ]
        about = (*filter(None, [draft.copies]), *draft.warnings, *left)
        draft.reading = replace(draft.reading, unseen=draft.table.unseen, about_columns=about)
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

    def _side(self, name: str, given: Named, option: str) -> Side:
        """Return the side that an option names: values, or COLUMN=VALUES."""
        column = self.raw[name]
        if isinstance(given, str) and given not in column.values:
            given = re.sub(rf"^{re.escape(name)}\s*=\s*", "", given)
        named = side(column, given, option)
        self.raw[name] = replace(column, marks=column.marks - named.values)
        return named

    def _opposite(self, name: str, first: Side | None, given: Named | None, option: str) -> Side | None:
        """Return the opposite side, if it is named; a DataError says that a value is on both."""
        if given is None:
            return None
        first_option = _OPPOSITE[option]
        if first is None:
            raise DataError(
                f"--{option} is named, and --{first_option} is not", remedy=f"name --{first_option} as well"
            )
        opposite = self._side(name, given, option)
        if both := sorted(first.values & opposite.values):
            raise DataError(
                f"{few(list(map(repr, both)))} of {name!r} cannot be {first_option} as well as {option}",
                remedy=f"name each value once, in --{first_option} or in --{option}",
            )
        return opposite

    def _doubts(self) -> Iterator[Question]:
        table = self.draft.table
        yield from marks_in_doubt({n: both for n, both in table.unclear.items() if n not in self.drop})
        label, sensitive = self.raw[self.file_options.label], self.raw[self.file_options.sensitive]
        if self.unfavorable is None:
            options = ("favorable", "unfavorable")
            yield from doubts_of_sides(label, self.favorable, options, options)
        if self.favored is None:
            words = ("in the deprived group", "in the favored group")
            # In a file of text, NA may be missing or a name, as of North America.
            na = replace(sensitive, marks=sensitive.marks - {"NA"})
            yield from doubts_of_sides(na, self.deprived, ("deprived", "favored"), words)
        if self.unfavorable is None and self.favored is None:
            yield from question_of_odd_rows(label, sensitive, self.favorable, self.deprived)
        if self.file_options.person is None:
            yield from question_of_people(self.naming, self.raw)

    def _rows_read(self) -> Mask:
        """Return which rows have a label and a group; the draft gets the values to keep, or to leave out."""
        read = np.ones(self.draft.table.n_rows, dtype=bool)
        for name, first, second in self.pairs:
            column = self.raw[name]
            missing: Mask = column.missing
            why = f"no {name!r}"
            if codes := [value for value, out in zip(column.values, missing, strict=True) if value and out]:
                count = "counts" if len(codes) == 1 else "count"
                why += f" ({few(list(map(repr, codes)))} {count} as missing)"
            neither = np.zeros_like(missing)
            if first is not None and second is not None:
                neither = ~missing & ~first.of(column) & ~second.of(column)
            for rows, reason in ((missing, why), (neither, f"a {name!r} other than those named")):
                if column.counts[rows].sum():
                    self.rows_out.append((rows[column.rows], reason))
            if not (excluded := missing | neither).any():
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
                f"--unfavorable {quoted(in_list(rest[:1]))}"
            )
        self.draft.problems += map(str, groups_out)
        self.draft.reading = Reading(
            self.file, table.n_rows, len(y), parts, tuple(groups_out), table.numbers, merged_label
        )
        turning = [rows for rows in groups_out if rows.may_turn]
        if turning and self.deprived is None:
            groups = [group for group, _ in counted(sensitive)][:MOST_STATES]
            answers = tuple(Answer(f"{group} is deprived", {"deprived": (group,)}) for group in groups)
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
            numbers = not np.isnan(column.numbers[~column.missing]).any()
            bins = numbers and len(column.values) > MOST_LEVELS
            sensitive = self._coded(column, feature(column, self.least) if bins else category(column, 1))
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
        return self._coded(column, category(column, 1, (deprived.name, chosen)))

    def _require_both(self, column: RawColumn, chosen: Mask, words: tuple[str, str], remedy: str) -> None:
        for rows, word in zip((chosen, ~chosen), words, strict=True):
            if (n := int(column.counts[rows].sum())) < (least := min(self.least, MIN_COUNT)):
                raise DataError(
                    f"{n} row{'s are' if n != 1 else ' is'} {word}, by the column {column.name!r}",
                    expected=f"{least} or more",
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
            draft.warnings.append(Remark(f"The deprived group was not named: it is {which}."))
        else:
            code = states.index(self.deprived.name)
        others = float(y[sensitive.codes != code].mean())
        if round(rates[code] - others, 3) > 0:
            better = f"{share(rates[code])} of it have the favorable label, {share(others)} of the others"
            small = f"It has {counts[code]:,} rows, so this may be chance." * int(counts[code] < FEW_ROWS)
            what = f"{sensitive.name} = {states[code]!r} is better off in these data: {better}."
            draft.warnings.append(Remark(what, small))
        for state, n in zip(states, counts.tolist(), strict=True):
            if n < max(50, 0.01 * len(y)):
                draft.problems.append(
                    f"The group {sensitive.name} = {state!r} has {n} row{'s' * (n != 1)}: too few to tell."
                )
        for rate, who in ((rates[code], "the deprived group"), (others, "the other groups")):
            if rate in (0, 1):
                answer = "Everybody" if rate else "Nobody"
                draft.problems.append(f"{answer} in {who} has the favorable label.")
        if (rare := min(y.mean(), 1 - y.mean())) < 0.1:
            draft.problems.append(f"The rarer label has {share(float(rare))} of the rows.")
        return str(states[code]), picked

    def _features(self, label: DraftColumn, sensitive: DraftColumn, member: Mask) -> None:
        draft, first = self.draft, dict[object, str]()
        # Of people with several rows, or of copies, each fine number would seem to tell the group.
        once = first_rows(self.raw, draft.person)
        incomplete, rest, apart, weights = [], [], dict[str, list[str]](), []
        words_in: list[str] = []
        for name, column in self.raw.items():
            if name in (label.name, sensitive.name):
                draft.columns[name] = label if name == label.name else sensitive
                continue
            if name == draft.person:
                continue
            reason = self._left_out(column, first, once, member)
            if not reason and len((entry := feature(column, self.least))[0]["states"]) < 2:
                reason = "has nearly the same value in every row"
            if reason and name in self.keep:
                raise DataError(
                    f"The column {name!r} cannot be kept: it {reason}, or no value has {self.least} rows",
                    remedy="take it out of --keep, or lower --min-count",
                )
            if reason:
                draft.dropped[name] = reason
                continue
            draft.columns[name] = made = self._coded(column, entry)
            lacking = float(column.counts[column.missing].sum()) / len(column.rows)
            marks = [value for value in np.array(column.values)[column.missing].tolist() if value.isalpha()]
            words = f", {few(list(map(repr, marks)))}" if marks else ""
            incomplete += [(-lacking, f"{name} ({share(lacking)}{words})")] * (lacking >= 0.01 or bool(marks))
            words_in += words_among_numbers(column) if made.entry["kind"] == "categorical" else []
            if (rest_name := name_of_rest(column)) in made.entry["states"]:
                other = float((made.codes == made.entry["states"].index(rest_name)).mean())
                rest += [(-other, f"{name} ({share(other)} of the rows)")] * (other >= _MUCH)
            numbers = column.numbers[~column.missing]
            if np.isnan(numbers).mean() < 0.1 and (codes := standing_apart(column)):
                apart[name] = codes
            if (
                like_weight(name, self.raw)
                and name not in self.keep
                and (column.numbers[~column.missing] >= 0).all()
            ):
                weights.append(name)
        if incomplete:
            columns = few([text for _, text in sorted(incomplete)], 8)
            draft.problems.append(f"Values are missing: {columns}. A missing value is a state of its own.")
        if rest:
            columns = few([text for _, text in sorted(rest)], 8)
            draft.problems.append(f"Rarer values of these columns are one state: {columns}.")
        if words_in:
            draft.problems.append(
                "Columns with words among many numbers are read as categories. If the words mean missing, "
                f"write --missing {quoted(in_list(words_in))}."
            )
        if apart:
            columns = few([f"{name} ({few(codes)})" for name, codes in apart.items()], 8)
            draft.problems.append(
                f"Numbers far from all others in their column are read as numbers: {columns}. "
                f"If they mean missing, write --missing {quoted(in_list(_codes_in(apart)))}."
            )
        if weights:
            names = quoted(in_list(weights))
            what = (
                f"Columns named like weights are read as features, and each row counts once: {few(weights)}."
            )
            advice = f"If they are weights, write --drop {names}. If not, write --keep {names}."
            draft.warnings.append(Remark(what, advice))

    def _left_out(
        self, column: RawColumn, first: dict[object, str], once: NDArray[np.intp], member: Mask
    ) -> str:
        """Return why a column is no feature, or an empty text; ``first`` has the first column by content."""
        name, sensitive = column.name, self.raw[self.file_options.sensitive]
        if name in self.drop:
            return NAMED
        reason = useless(column, self.draft.table.n_rows)
        if name in self.keep:
            return reason if reason in NO_STATES else ""
        if name in self.naming:
            return "names people, or what else several rows share"
        if not reason and (same := first.setdefault(content(column), name)) != name:
            return f"tells the same as {same!r}, value by value"
        if not reason and is_copy(column.rows, sensitive.rows, member):
            codes, groups = column.rows[once], member[once]
            if proxy_strength(codes, groups) < PROXY and not is_copy(codes, sensitive.rows[once], groups):
                return ""
            return f"goes with the sensitive column {sensitive.name!r} in nearly every row, {_COPY}"
        return reason

    def _coded(self, column: RawColumn, reading: CardEntry) -> DraftColumn:
        """Return a column with the codes that the loader gives it."""
        entry, comments = reading
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
            if strength >= LEAK and name not in self.keep:
                column.leak = f"suspected leak: {reason}. {_KNOWN_BEFORE}"
                warning = f"{name} is left out, a suspected leak: {reason}."
                more = f"{_KNOWN_BEFORE} The card says how to keep it."
                self.draft.warnings.append(Remark(warning, more))
                continue
            state = giving_away(coarse, column.entry["states"], y)
            if state or strength >= HINT:
                reason = f"nearly all rows with {state!r} have one label" if state else reason
                column.comments.append(f"A strong feature: {reason}. {_KNOWN_BEFORE}")
                hints.append(name)
            raw = self.raw[name]
            # Of numbers nearly all different, as weights, no model sees which rows share one.
            values = raw.rows[once] if len(raw.values) * 5 <= len(raw.rows) else fine
            v = max(proxy_strength(codes, member) for codes in (coarse, values))
            if v >= PROXY:
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
        person = None if draft.person == EQUAL_ROWS else self._persons()
        repeated, copied = copies(rows, person)
        each = np.arange(draft.n_rows)
        together = person if person is not None else equal_rows(rows) if copied else each
        once = np.isin(each, np.unique(together, return_index=True)[1])
        if copied and self.file_options.person not in (EQUAL_ROWS, INDEPENDENT):
            draft.copies = warning_of_copies(repeated, draft.n_rows)
        elif repeated:
            words = "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
            draft.problems.append(f"{words} another row in all columns that are read.")
        return once

    def _persons(self) -> NDArray[np.intp] | None:
        """Return the person of each row, as the card's loader does; None if all rows are independent."""
        if (person := self.draft.person) is None:
            return None
        if person == EQUAL_ROWS:
            features = [name for name in self.draft.columns_read if name != self.file_options.label]
            return equal_rows([self.raw[name].rows for name in features])
        column = self.raw[person]
        unnamed = column.missing[column.rows]
        return np.where(unnamed, len(column.values) + np.cumsum(unnamed), column.rows)


def _codes_in(apart: Mapping[str, Sequence[str]]) -> list[str]:
    """Return codes of columns as ``--missing`` takes them; negative ones of several columns are for all."""
    columns = Counter(code for codes in apart.values() for code in codes)
    pairs = ((name, code) for name, codes in apart.items() for code in codes)
    everywhere = {code for code, n in columns.items() if n > 1 and (as_number(code) or 0) < 0}
    return list(dict.fromkeys(f"{REST if code in everywhere else name}={code}" for name, code in pairs))


def _without_codes(columns: Mapping[str, RawColumn], file_options: FileOptions) -> dict[str, RawColumn]:
    """Return the columns with the values that a user calls missing; a DataError says that there is none."""
    missing: dict[str, set[str]] = {name: set() for name in columns}

    def meanings(part: str) -> dict[str, set[str]]:
        """Return the values that a part of the option means, by column."""
        named = [name for name in (*columns, REST) if part.startswith(f"{name}=")]
        column_name = max(named, key=len, default=None)
        value = part if column_name is None else part[len(column_name) + 1 :].strip()
        names = [file_options.label, file_options.sensitive] if column_name is None else [column_name]
        return {
            name: {
                one
                for one, n in zip(columns[name].values, columns[name].numbers, strict=True)
                if one == value or (as_number(value) is not None and as_number(value) == n)
            }
            for name in (columns if column_name == REST else names)
        }

    def known(part: str) -> bool:
        return any(meanings(part).values())

    for part in values_in_list(file_options.missing, known, "missing"):
        if not known(part):
            names = list(meanings(part))
            of = f"The columns have no value {part!r}"
            if not part.startswith(f"{REST}="):
                of = f"The column{'s' * (len(names) > 1)} {' and '.join(map(repr, names))} "
                of += f"{'have' if len(names) > 1 else 'has'} no value {part.removeprefix(f'{names[0]}=')!r}"
            raise DataError(
                of,
                expected="; ".join(f"of {name!r} {shown(columns[name])}" for name in names[:2]),
                remedy="correct --missing: values as A,B, those of a column as COLUMN=A,COLUMN=B, those of "
                f"all as {REST}=A",
            )
        for name, values in meanings(part).items():
            missing[name] |= values
    return {name: replace(column, none=frozenset(missing[name])) for name, column in columns.items()}


def _part(role: str, column: RawColumn, chosen: Side | None, rows: Mask, y: Mask) -> Part:
    """Return one side of the label or of the groups."""
    side_column, name, span = column.of(rows), "", ""
    if chosen is not None and chosen.cut is not None:
        places = column.places[np.unique(column.rows[rows])]
        low, high = np.nanmin(places), np.nanmax(places)
        name = f"below {figure(chosen.cut)}" if high < chosen.cut else f"{figure(chosen.cut)} and more"
        span = f"from {figure(low)} to {figure(high)}"
    n, n_favorable = int(rows.sum()), int((rows & y).sum())
    return Part(role, column.name, tuple(counted(side_column)), n, n_favorable, len(rows), name, span)
