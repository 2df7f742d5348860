"""Loading of datasets: from the card to a coded table with roles."""

from __future__ import annotations

import itertools
import math
import warnings
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card import JUDGED, Card, load_card
from benchmark.data.card_parts import (
    EQUAL_ROWS,
    MISSING_MARKS,
    MISSING_VALUES,
    REST,
    CategoricalColumn,
    NumericColumn,
    ScoreColumn,
    SourceFile,
    condition_of,
)
from benchmark.data.files import distinct_names, read_rows
from benchmark.data.number_form import PLAIN, NumberForm
from benchmark.data.raw import RawColumn, RawRows, counted
from benchmark.data.row_facts import Judged, Persons, Score, numbered
from benchmark.data.source import ANYWHERE, SourceBytes, Sources, read_sources
from benchmark.data.table import CODE_DTYPE, Numbers, Table
from benchmark.errors import DataError, nearest
from benchmark.text.words import as_number, few, share, toml

if TYPE_CHECKING:
    import pandas as pd

_MOST_SHOWN, _MOST_NAMED = 5, 20
_MOST_CONTRARY = 0.1  # share of rows that contradict the number, above which it cannot be behind the label
_CHANCE = 1e-6  # probability that all new rows are in a bin by chance, below which that is said
_TRUTH = {"0": 0, "0.0": 0, "false": 0, "no": 0, "1": 1, "1.0": 1, "true": 1, "yes": 1}  # of indicators
Specs = Mapping[str, CategoricalColumn | NumericColumn]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A loaded dataset."""

    card: Card
    table: Table  # all rows, in the order of the files
    source: str  # origin of the rows, for readers: kinds of places, and paths or URLs
    unused: tuple[str, ...] = ()  # columns of the files that the card does not mention
    score: Score | None = None  # the number behind the label, if the card names one
    # Numbers behind bins, if they were asked for: ``replace(table, numbers=numbers)`` has them.
    numbers: Numbers | None = None
    judged: Judged | None = None  # the judged labels, if the card names them
    persons: Persons | None = None  # the persons of the rows, if the card names them

    def __repr__(self) -> str:
        shape = f"{len(self.table):,} rows, {len(self.table.schema.columns)} columns"
        return f"<Dataset {self.card.name}: {shape}; label {self.card.label!r}; .card, .table, .to_frame()>"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of these data needs."""
        return (*_unused_note(self.unused), *group_notes(self.table), *self._contrary_note())

    def states(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return new rows of the file as states, for a model that was trained on :meth:`to_frame`.

        ``rows`` has the columns of the file, the label excepted, with text as in the file or with numbers. A
        value for which the card has no state stays text: the model warns of it. Where all rows are in one end
        bin, which chance would not do, a warning asks for the unit. Raises a DataError if a column is
        missing.
        """
        import pandas as pd

        specs = {name: spec for name, spec in self.card.columns.items() if name != self.card.label}
        sources = itertools.chain(*map(self.card.read_from, specs))
        if lacking := [name for name in sources if name not in rows]:
            raise DataError(
                f"New rows of {self.card.name!r} lack columns",
                expected=few(list(map(repr, lacking)), _MOST_NAMED),
                got="only " + few(list(map(repr, rows.columns)), _MOST_NAMED),
                remedy="give the columns the names that they have in the file",
            )
        columns = {}
        indicators = {}
        for name in itertools.chain(*(getattr(spec, "indicators", None) or () for spec in specs.values())):
            codes, values = pd.factorize(rows[name].astype(object))
            texts = [*(_spellings_of(value)[0] for value in values), ""]  # a missing value, code -1
            indicators[name] = RawColumn.from_written(name, texts, codes)
        indicated = _indicated(specs, indicators, lambda row: f"row {rows.index[row]!r}")
        rows = rows.assign(**{name: column.cells for name, column in indicated})
        for name, spec in specs.items():
            codes, values = pd.factorize(rows[spec.source or name].astype(object))
            text, number = Coder(spec, self.card.source.decimal), Coder(spec)
            number.form = PLAIN  # numbers of Python have no decimal comma and no unit
            known = {*spec.values, *spec.states}
            states = []
            for value in (*values, ""):  # a missing value, code -1, takes the last entry
                spellings = _spellings_of(value)
                found = next((one for one in spellings if one in known), spellings[0])
                code = (text if isinstance(value, str) else number)[found]
                states.append(spec.states[code] if code >= 0 else found or None)
            columns[name] = np.array(states, dtype=object)[codes]
            if isinstance(spec, NumericColumn) and len(values) > 1 and (codes >= 0).all():
                self._ask_for_unit(name, spec, {*states[:-1]}, len(rows))
        return pd.DataFrame(columns, index=rows.index)

    def _ask_for_unit(self, name: str, spec: NumericColumn, found: set[str | None], n_rows: int) -> None:
        """Warn that all of several rows are in the first or last bin of a column, if few of the data are."""
        for state in (spec.bin_names[0], spec.bin_names[-1]):
            code = spec.states.index(state)
            part = float((self.table.codes[:, self.table.schema.index(name)] == code).mean())
            if found == {state} and part**n_rows < _CHANCE:
                warnings.warn(
                    f"Column {name!r}: all {n_rows:,} rows are in {state!r}, as {share(part)} of "
                    "the rows of the data are. Have they the unit of the file?",
                    stacklevel=3,  # the caller of states
                )

    def _contrary_note(self) -> Iterator[str]:
        declared, score = self.card.score, self.score
        if declared and score and (contrary := _contrary_labels(self.table, score.values, declared)):
            part = share(contrary / len(self.table))
            favorable = f"{self.card.label} = {self.card.favorable_label!r}"
            yield (
                f"the label of {contrary:,} of {len(self.table):,} rows ({part}) contradicts the number "
                f"behind it: {favorable} where {declared.column!r} is {declared.threshold:g} or more. "
                "If this is wrong, correct 'threshold' under [score] in the card."
            )

    @property
    def digest(self) -> str:
        """SHA-256 of schema and rows; it does not depend on where the files were found."""
        return self.table.digest

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame of categoricals; its ``attrs`` hold the four roles."""
        frame = self.table.to_frame()
        frame.attrs.update(self.card.roles)
        return frame


def _spellings_of(value: object) -> list[str]:
    """Return the texts that a file may have for a value, the most usual first."""
    if isinstance(value, bool | np.bool_):
        return [str(value), str(value).lower(), str(value).upper(), str(int(value))]
    text = str(value).strip()
    if isinstance(value, str) or (number := as_number(text)) is None:
        return [text]
    return [f"{number:.0f}", f"{number:.1f}", text] if number.is_integer() else [text]


def load_dataset(card: Card | str | Path, sources: Sources = ANYWHERE, *, numbers: bool = False) -> Dataset:
    """Return a dataset, with its files found, verified, read and coded.

    ``card`` is a card, a shipped one's name, or a TOML file's path. ``numbers`` asks for the numbers behind
    bins, as far as the card keeps them. Raises the errors of :func:`~benchmark.data.card.load_card` and
    :func:`~benchmark.data.source.read_sources`. A DataError says that a file's content is wrong: columns,
    values, number of rows, an empty group or class.
    """
    if not isinstance(card, Card):
        card = load_card(card)
    files = read_sources(card, sources)
    rows = read_card(card, files)
    codes = _codes(card, rows)
    table = Table(card.schema(), codes[:, : len(card.columns)])  # without the judged label
    _check_rows(card, table)
    groups = itertools.groupby(files, key=lambda file: file.kind)
    places = (f"{kind}: {', '.join(file.location for file in group)}" for kind, group in groups)
    return Dataset(
        card,
        table,
        "; ".join(places),
        _unused(card, rows.header),
        _score(card, rows, table),
        _numbers(card, rows) if numbers and card.numbered else None,
        _judged(card, rows, codes[:, -1]),
        _persons(card, rows),
    )


def _unused(card: Card, header: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a file that a card does not mention."""
    mentioned = {*card.columns_of_file, *card.filter, *card.exclude, *card.conditions, card.first_of}
    mentioned.update(*(group.columns for group in card.dropped))
    return () if REST in mentioned else tuple(name for name in header if name not in mentioned)


def group_notes(table: Table) -> tuple[str, ...]:
    """Return a sentence if the deprived group is better off in a table; else nothing."""
    schema = table.schema
    if table.deprived.all() or not table.deprived.any():
        return ()
    deprived, favored = (float(table.y[member].mean()) for member in (table.deprived, ~table.deprived))
    if round(deprived - favored, 3) <= 0:
        return ()
    return (
        f"the deprived group {schema.sensitive_feature} = {schema.deprived_group!r} is better off by "
        f"{deprived - favored:.3f} in these data: {deprived:.3f} of it have {schema.label} = "
        f"{schema.favorable_label!r}, {favored:.3f} of the others. If this is not intended, correct "
        "'deprived_group' or 'favorable_label' in the card.",
    )


def _unused_note(unused: Sequence[str]) -> Iterator[str]:
    if unused:
        columns = "1 column of the file is" if len(unused) == 1 else f"{len(unused)} columns of the file are"
        yield (
            f"{columns} not used: {few(unused, _MOST_NAMED, 'others')}. Name them under [columns], or under "
            "[[dropped]] with a reason."
        )


def _check_rows(card: Card, table: Table) -> None:
    if card.rows is not None and len(table) != card.rows:
        raise DataError(
            f"The dataset {card.name!r} has the wrong number of rows",
            expected=f"{card.rows:,}",
            got=f"{len(table):,}",
            remedy="get the complete files, or correct 'rows' and 'filter' in the card",
        )
    feature, group = card.sensitive_feature, repr(card.roles["deprived_group"])
    label, favorable = card.label, repr(card.favorable_label)
    for member, who in (
        (table.deprived, f"in the deprived group {feature} = {group}"),
        (~table.deprived, f"in the favored group {feature} other than {group}"),
        (table.y, f"with the favorable label {label} = {favorable}"),
        (~table.y, f"with the unfavorable label {label} other than {favorable}"),
    ):
        if not member.any():
            raise DataError(
                f"The dataset {card.name!r} has no row {who}",
                expected="rows of both groups and of both labels",
                got=f"none among {len(table):,} rows",
                remedy="check the roles and 'filter' in the card, and the files",
            )


def _codes(card: Card, rows: RawRows) -> NDArray[np.int16]:
    """Return the code of each row's state; a DataError lists the values that have none."""
    codes = np.empty((len(rows.lines), len(card.coded)), dtype=CODE_DTYPE, order="F")
    unknown = {}
    for i, (name, spec) in enumerate(card.coded.items()):
        column, coder = rows.columns[spec.source or name], Coder(spec, card.source.decimal)
        code_of = np.array([coder[value] for value in column.values], dtype=CODE_DTYPE)
        codes[:, i] = code_of[column.rows]
        if (bad := codes[:, i] < 0).any():
            unknown[name] = column.of(bad), rows.place(int(bad.argmax()))
    if unknown:
        raise _unknown_values(card, unknown)
    return codes


def _numbers(card: Card, rows: RawRows) -> Numbers:
    """Return the numbers of the columns that keep them."""
    numbers = np.empty((len(rows.lines), len(card.numbered)), order="F")
    for i, (name, spec) in enumerate(card.numbered.items()):
        coder, column = Coder(spec, card.source.decimal), rows.columns[spec.source or name]
        numbers[:, i] = np.array([coder.number(value) for value in column.values])[column.rows]
    numbers[np.isinf(numbers)] = np.nan  # no learner takes them
    return Numbers(tuple(card.numbered), numbers)


def _score(card: Card, rows: RawRows, table: Table) -> Score | None:
    """Return the number behind the label of all rows, or None if the card names none.

    A DataError says that a value is no number, or outside the card's range, that the numbers cannot decide
    the label, or that all rows have the same one.
    """
    if (declared := card.score) is None:
        return None
    column = replace(rows.columns[declared.column], form=NumberForm(card.source.decimal))
    values = column.numbers[column.rows]
    low = -math.inf if declared.minimum is None else declared.minimum
    high = math.inf if declared.maximum is None else declared.maximum
    if (bad := ~((low <= values) & (values <= high))).any():  # NaN, too
        first = int(bad.argmax())
        problem = "is none" if np.isnan(values[first]) else "is out of its range"
        raise DataError(
            f"The number behind the label {problem} in {rows.place(first)}, column {declared.column!r}",
            expected="a number" + (f" from {low:g} to {high:g}" if math.isfinite(high - low) else ""),
            got=repr(column.cells[first]),
            remedy="leave rows without a number out by [filter], or correct 'column', 'minimum' and "
            "'maximum' under [score] in the card",
        )
    contrary = _contrary_labels(table, values, declared)
    if contrary > _MOST_CONTRARY * len(table):
        raise DataError(
            f"The column {declared.column!r} is not the number behind the label of {card.name!r}",
            expected=f"{card.label} = {card.favorable_label!r} where it is {declared.threshold:g} or more, "
            "and nowhere else",
            got=f"another label in {contrary:,} of {len(table):,} rows ({share(contrary / len(table))})",
            remedy="correct 'column' and 'threshold' under [score] in the card, or 'favorable_label'",
        )
    low = float(values.min()) if declared.minimum is None else declared.minimum
    high = float(values.max()) if declared.maximum is None else declared.maximum
    if low == high:
        raise DataError(
            f"The number behind the label of {card.name!r} is the same in all rows",
            expected="numbers on both sides of the threshold",
            got=f"{low:g} in column {declared.column!r}",
            remedy="correct 'column' under [score] in the card",
        )
    return Score(values, declared.threshold, (high - low) / 2, low)


def _contrary_labels(table: Table, values: NDArray[np.float64], declared: ScoreColumn) -> int:
    """Return the number of rows whose label contradicts the number behind it."""
    return int(((values >= declared.threshold) != table.y).sum())


def _judged(card: Card, rows: RawRows, codes: NDArray[np.int16]) -> Judged | None:
    """Return the judgments of all rows from the codes of the judged label; None if the card has none.

    A DataError says that a row lacks judge or person.
    """
    if card.judged is None:
        return None
    names = (card.judged.judge, card.judged.person)
    judges, persons = (rows.columns[name].cells for name in names)
    for name, cells in zip(names, (judges, persons), strict=True):
        if (lacking := cells == "").any():
            raise DataError(
                f"Nobody is named in {rows.place(int(lacking.argmax()))}, column {name!r}",
                expected="who judged, and who was judged, in each row",
                got="''",
                remedy="leave such rows out by [exclude], or correct 'judge' and 'person' under [judged]",
            )
    favorable = codes == card.judged.label.states.index(card.favorable_label)
    return Judged(favorable, numbered(judges), numbered(persons))


def _persons(card: Card, rows: RawRows) -> Persons | None:
    """Return the persons of the rows; None if the card names none."""
    if card.person is None:
        return None
    if card.person == EQUAL_ROWS:
        # Without the label: of rows with the same features, a model would train on the wrong labels alone.
        features = [spec.source or name for name, spec in card.columns.items() if name != card.label]
        return Persons(numbered(zip(*(rows.columns[name].cells for name in features), strict=True)))
    cells = rows.columns[card.person].cells
    return Persons(numbered(i if name in MISSING_MARKS else name for i, name in enumerate(cells)))


class Coder:
    """Codes by raw value; -1 if the column has no state for it."""

    def __init__(self, spec: CategoricalColumn | NumericColumn, decimal: str = ".") -> None:
        self.spec = spec
        self.form = PLAIN
        if isinstance(spec, NumericColumn):
            self.form = NumberForm(spec.decimal or decimal, spec.thousands, spec.unit)
        self.code_of = {state: code for code, state in enumerate(spec.states)}

    def __getitem__(self, raw: str) -> int:
        value = raw.strip()
        spec = self.spec
        if value in spec.values:
            return self.code_of[spec.values[value]]
        unlisted = -1 if spec.others is None else self.code_of[spec.others]
        if isinstance(spec, CategoricalColumn):
            return self.code_of.get(value, unlisted)
        number = self.number(value)
        if not spec.bins[0] <= number <= spec.bins[-1]:  # false for nan, too
            return unlisted
        return self.code_of[spec.bin_names[min(bisect_right(spec.bins, number), len(spec.bins) - 1) - 1]]

    def number(self, value: str) -> float:
        """Return a value as a number; NaN if it is no number, or the card gives it a state."""
        try:
            return math.nan if value in self.spec.values else float(self.form.plain(value))
        except ValueError:
            return math.nan


def _unknown_values(card: Card, unknown: Mapping[str, tuple[RawColumn, str]]) -> DataError:
    """Return an error that lists the unknown values of all columns, with advice.

    ``unknown`` are by column its values without a state, and line and file of the first one.
    """
    lines, numeric = [f"The card {card.name!r} does not know values of its columns:"], []
    for name, (column, place) in unknown.items():
        rows = [f"{value!r} ({n} row{'s' * (n != 1)})" for value, n in counted(column, column.counts > 0)]
        spec, known, binned = card.coded[name], [], tuple[str, ...]()
        if isinstance(spec, NumericColumn):
            numeric.append(name)
            known, binned = [f"a number from {spec.bins[0]:g} to {spec.bins[-1]:g}"], spec.bin_names
        known += map(repr, (*(state for state in spec.states if state not in binned), *spec.values))
        shown, expected = few(rows, _MOST_SHOWN, "other values"), few(known, _MOST_SHOWN, "others")
        lines.append(f"{name!r} from {place}: {shown}; expected {expected}")
    other = "if numbers of {} are written in another form, set 'decimal', 'thousands' or 'unit' there; "
    hints = [other.format(few(list(map(repr, numeric)), _MOST_SHOWN))] * bool(numeric)
    lacking = dict.fromkeys(n for n, (column, _) in unknown.items() if {*column.values} & {*MISSING_VALUES})
    if card.label in lacking:
        hints.append(f"rows without {card.label!r} can be left out by [filter]; ")
        del lacking[card.label]
    if lacking and card.missing is not None:
        hints.append(f"name {toml([*lacking])[1:-1]} in 'columns' of 'missing', too; ")
    elif lacking:
        named = f'{{ state = "unknown", columns = {toml([*lacking])} }}'
        hints.append(f"missing = {named} at the top of the card makes missing values a state; ")
    where = "judged.label" if JUDGED in unknown else "columns.NAME"
    return DataError(
        "\n  ".join(lines),
        remedy="".join(hints) + f"correct the file, or declare the values in the card ({where}.states or "
        ".values)",
    )


# ------------------------------------------------------------------------------- the rows of a card's files


def read_card(card: Card, sources: Sequence[SourceBytes]) -> RawRows:
    """Return the rows of all files of a card, in their order, from the contents of all files."""
    joined = None if card.source.join is None else _joined(card, sources[-1])
    pairs = zip(card.source.files, sources, strict=False)  # a joined file adds no rows
    parts = [read_records(card, file, source, joined) for file, source in pairs]
    columns = {}
    for name, first in parts[0].columns.items() if len(parts) > 1 else ():
        several = [part.columns[name] for part in parts]
        starts = np.cumsum([0, *(len(column.values) for column in several)])
        codes = [column.rows + start for column, start in zip(several, starts, strict=False)]
        values = itertools.chain.from_iterable(column.values for column in several)
        columns[name] = RawColumn.from_written(first.name, values, np.concatenate(codes))
    return RawRows(
        tuple(dict.fromkeys(itertools.chain.from_iterable(part.header for part in parts))),
        columns or parts[0].columns,
        np.concatenate([part.lines for part in parts]),
        np.concatenate([part.files for part in parts]),
    )


def read_records(card: Card, file: SourceFile, source: SourceBytes, joined: RawRows | None = None) -> RawRows:
    """Return the rows of one file that a card keeps, and the columns that it uses.

    ``file`` is the card's entry for the file, ``source`` its content. A DataError says that the file lacks
    columns, or is one of :func:`read_rows`.
    """
    used = card.columns_of_file
    named = {*used, *card.filter, *card.exclude, *card.conditions, *filter(None, [card.first_of])}
    join = card.source.join
    key = () if join is None else (join.column,)
    rows = read_rows(source.content, card.source, file, source.location, {*named, *key})
    _require(key, rows, source)
    if join is not None and joined is not None:
        rows = _with_joined(rows, rows.columns[join.column], joined)
    _require(named, rows, source)
    read = np.ones(len(rows.lines), dtype=bool)
    if card.first_of is not None:
        column = rows.columns[card.first_of]
        read = _where(column, MISSING_MARKS.__contains__)
        read[np.unique(column.rows, return_index=True)[1]] = True
    for name, values in card.filter.items():
        read &= _where(rows.columns[name], frozenset(values).__contains__)
    for name, values in card.exclude.items():
        read &= ~_where(rows.columns[name], frozenset(values).__contains__)
    for name, texts in card.conditions.items():
        for text in texts:
            read &= _where(rows.columns[name], condition_of(text))
    columns = {name: rows.columns[name].of(read) for name in used}
    rows = replace(rows, columns=columns, lines=rows.lines[read], files=rows.files[read])
    return replace(rows, columns={**columns, **dict(_indicated(card.columns, columns, rows.place))})


def _indicated(
    specs: Specs, columns: Mapping[str, RawColumn], place: Callable[[int], str]
) -> Iterator[tuple[str, RawColumn]]:
    """Yield the columns that indicators tell: the state of each row, or a value that has a state.

    ``columns`` are those of the file. A DataError names the ``place`` of a row that has no state.
    """
    for name, spec in specs.items():
        if not isinstance(spec, CategoricalColumn) or spec.indicators is None:
            continue
        told = [columns[source] for source in spec.indicators]
        truth = [np.array([_TRUTH.get(v.lower(), -1) for v in one.values], int)[one.rows] for one in told]
        n_true = np.sum([one == 1 for one in truth], axis=0)
        texts = np.full(len(n_true), spec.others, dtype=object)
        wrong = n_true > 1
        for column, state, true in zip(told, spec.indicators.values(), truth, strict=True):
            texts[true == 1] = state
            unclear = true < 0
            wrong |= unclear & ~_where(column, spec.values.__contains__)
            unclear &= n_true == 0
            texts[unclear] = column.cells[unclear]
        if (wrong := wrong | (texts == None)).any():  # noqa: E711  # of each element
            row = int(wrong.argmax())
            raise DataError(
                f"The indicators of {name!r} tell no state in {place(row)}",
                expected=f"1, true or yes in {'at most' if spec.others else 'exactly'} one of them, and 0, "
                "false or no in the others",
                got=", ".join(f"{column.name} = {column.cells[row]!r}" for column in told),
                remedy="correct the file, or 'indicators' in the card; there 'others' gives a state to rows "
                "without a true one, and 'missing' or 'values' to other values",
            )
        values, codes = np.unique(texts.astype(str), return_inverse=True)
        yield name, RawColumn(name, tuple(values.tolist()), codes)


def _where(column: RawColumn, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Return which rows have a value that fulfills a condition."""
    return np.array([holds(value) for value in column.values], dtype=bool)[column.rows]


def _joined(card: Card, source: SourceBytes) -> RawRows:
    """Return the rows of the joined file; a DataError also says that a key repeats."""
    join = card.source.join
    assert join is not None
    rows = read_rows(source.content, card.source, join.file, source.location)
    _require([join.key], rows, source)
    key = rows.columns[join.key]
    repeats = np.setdiff1d(np.arange(len(key.rows)), np.unique(key.rows, return_index=True)[1])
    if len(repeats):
        raise DataError(
            f"Line {rows.lines[repeats[0]]} of {source.location} cannot be joined to other rows",
            expected=f"another value of {join.key!r} than in all other lines",
            got=f"{key.cells[repeats[0]]!r} for the second time",
            remedy="correct the file, or 'key' under [source.join] in the card",
        )
    return replace(rows, columns={join.key: key, **rows.columns})  # the key first


def _with_joined(rows: RawRows, column: RawColumn, joined: RawRows) -> RawRows:
    """Return the rows that have a partner, with its columns: if both have a column ``a``, its is ``a.1``."""
    key = next(iter(joined.columns.values()))
    partner = dict(zip(key.values, np.argsort(key.rows).tolist(), strict=True))
    found = np.array([partner.get(value, -1) for value in column.values])[column.rows]
    read = found >= 0
    header = distinct_names([*rows.header, *joined.header])
    columns = {name: own.of(read) for name, own in rows.columns.items()}
    for name, given in zip(header[len(rows.header) :], joined.header, strict=True):
        own = joined.columns[given]
        columns[name] = replace(own, name=name, rows=own.rows[found[read]])
    return replace(rows, header=header, columns=columns, lines=rows.lines[read], files=rows.files[read])


def _require(names: Collection[str], rows: RawRows, source: SourceBytes) -> None:
    """Raise a DataError unless a file has columns that its card names."""
    if not (missing := [name for name in names if name not in rows.header]):
        return
    close = nearest(missing[0], rows.header)
    raise DataError(
        f"The source file {source.location} lacks columns",
        expected=", ".join(map(repr, missing)),
        got="only " + ", ".join(map(repr, rows.header)),
        remedy=(f"did you mean {close[0]!r}? " if close else "")
        + "write names in the card as in the file, correct 'delimiter' and 'skip_lines' under [source], or "
        "give names by 'column_names' there if the first line is a row and no header",
    )
