"""States of data-frame columns, learned from training rows and applied to other rows."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ValidationError

from benchmark.data.card_parts import MISSING_MARKS, CategoricalColumn, NumericColumn
from benchmark.data.load import Coder
from benchmark.data.number_form import PLAIN, forms_of
from benchmark.data.raw import MOST_LEVELS, RawColumn
from benchmark.data.states import MISSING, RARE_STATES, CardEntry, category, feature
from benchmark.data.table import CODE_DTYPE, Column
from benchmark.errors import DataError
from benchmark.text.words import as_number, few, figure, is_one_of

_LARGEST_WHOLE = 2**53  # floats up to here are exact whole numbers
_NUMBER_OF = {"true": 1.0, "false": 0.0, "inf": math.inf, "-inf": -math.inf}


class RowsError(DataError, ValueError):
    """Rows that an estimator cannot take; also a ValueError, which scikit-learn's tools expect."""


@dataclass(frozen=True)
class LearnedColumn:
    """A column with a state for each value."""

    column: Column  # its name and states
    spec: CategoricalColumn | NumericColumn  # the state of each number
    known: Mapping[str, int]  # code of each value of the training rows that is no number of a bin
    missing: int  # code of missing values, or -1 if no training row lacks a value
    # Code of all other values: of rare ones, else of missing ones, else ``usual``; -1 if they are errors.
    rest: int
    usual: int  # code of the most frequent state
    # The smallest and the largest number of the training rows.
    span: tuple[float, float] = (-math.inf, math.inf)

    def codes(self, values: pd.Series[Any]) -> NDArray[np.int16]:
        """Return the state of each row, shape (n_rows,).

        A value that training rows did not show gets the state ``rest``, and a warning counts such rows. Rows
        without a known group are a :class:`RowsError`, and so are several values of which none is known. A
        warning says that most numbers are beyond those of the training rows.
        """
        raw = raw_column(self.column.name, values)
        beyond = raw.counts[(raw.numbers < self.span[0]) | (raw.numbers > self.span[1])].sum()
        if 2 * beyond > len(raw.rows):
            low, high = map(figure, self.span)
            warnings.warn(
                f"Column {self.column.name!r}: the numbers of {beyond:,} of {len(raw.rows):,} rows are "
                f"outside the training rows' range, {low} to {high}. Are the units the same?",
                stacklevel=4,  # the caller of predict
            )
        codes = np.fromiter(self._codes(raw.values), dtype=CODE_DTYPE, count=len(raw.values))
        unknown = codes < 0
        if unknown.any():
            shown = [repr(text) if text else "no value" for text in np.array(raw.values)[unknown].tolist()]
            self._tell(int(raw.counts[unknown].sum()), len(raw.rows), shown, all_values=bool(unknown.all()))
        codes[unknown] = self.rest
        return codes[raw.rows]

    def numbers(self, values: pd.Series[Any]) -> NDArray[np.float64]:
        """Return the number of each row, shape (n_rows,), NaN for none.

        Infinity counts as the nearest number of the training rows.
        """
        raw = raw_column(self.column.name, values)
        numbers = np.array([_number(text) for text in raw.values], dtype=np.float64)  # None becomes NaN
        numbers[raw.missing] = np.nan
        return np.where(np.isinf(numbers), np.clip(numbers, *self.span), numbers)[raw.rows]

    def _codes(self, texts: Iterable[str]) -> Iterator[int]:
        """Yield the code of each value, or -1 if it is not known."""
        coder, by_number = Coder(self.spec), dict[float, int]()
        for text, code in self.known.items():
            if (number := _number(text)) is not None:
                by_number[number] = code if by_number.get(number, code) == code else -1
        for text in texts:
            code = self.known.get(text, -1)
            number = _number(text)
            if code < 0 and number is not None:
                numeric = isinstance(self.spec, NumericColumn)
                code = coder[repr(number)] if numeric else by_number.get(number, -1)
            yield self.missing if code < 0 and text in MISSING_MARKS else code

    def _tell(self, n: int, n_rows: int, shown: Sequence[str], *, all_values: bool) -> None:
        """Warn of rows with unknown values, or raise an error."""
        name, states = self.column.name, self.column.states
        if self.rest < 0:
            raise RowsError(
                f"{n} row{'s have' if n > 1 else ' has'} no known group",
                expected=f"in the sensitive column {name!r} one of " + few(list(map(repr, states)), 8),
                got=few(shown, 8),
                remedy="leave these rows out, or train on rows that have the value"
                + "".join(
                    f"; if they are of the group {state!r}, keep it as text: pandas.read_csv(FILE, "
                    "keep_default_na=False)"
                    for state in states
                    if state in MISSING_MARKS and "no value" in shown
                ),
            )
        # In an identifier or a date nearly all values are rare, and new values are the rule.
        if (
            all_values
            and len(shown) > 1
            and not (self.rest == self.usual and states[self.rest] in RARE_STATES)
        ):
            raise RowsError(
                f"The model knows no value of the column {name!r}",
                expected="values as in the training rows: "
                + ("numbers" if isinstance(self.spec, NumericColumn) else few(list(map(repr, states)), 8)),
                got=few(shown, 8),
                remedy="bring the column into the form of the training rows: spelling, units, decimal marks; "
                "if the model learned a card's states, load_dataset(CARD).states(X) has those of new rows",
            )
        warnings.warn(
            f"Column {name!r}: {n:,} of {n_rows:,} rows hold values that no training row "
            f"holds: {few(shown, 4)}. Such values are read as {states[self.rest]!r}.",
            stacklevel=5,  # the caller of predict
        )


def raw_column(name: str, values: pd.Series[Any]) -> RawColumn:
    """Return a column as in a CSV file: text, and "" for a missing value."""
    if str(values.dtype).lower() in ("float16", "float32"):
        values = values.astype(str).astype(float)  # of 32 bits, 0.7 would be less than 0.7 of 64 bits
    try:
        codes, distinct = pd.factorize(values)
    except TypeError:
        raise RowsError(
            f"The column {name!r} holds values that are neither text nor numbers",
            expected="an argument must be a string or a number in each row",
            got=type(values.iloc[0]).__name__,
            remedy="convert them to text or numbers, or leave the column out",
        ) from None
    texts = [*map(text_of, distinct), *[""] * bool((codes < 0).any())]  # the code of a missing value is -1
    return RawColumn.from_written(name, texts, codes)


def learn_feature(name: str, values: pd.Series[Any], min_count: int) -> LearnedColumn:
    """Return a feature with its states: its categories, or the states of a ``betabench quick`` draft."""
    if (declared := _categories(name, values)) is not None:
        return declared
    raw = raw_column(name, values)
    numeric = len(raw.values) > 0 and bool((~np.isnan(raw.numbers) & ~raw.missing).any())
    if numeric:
        return _learned(raw, feature(raw, min_count))
    if "" in raw.values:  # beside values that are missing for pandas, a text such as "NA" is a value
        raw = replace(raw, marks=frozenset({""}))
    if len(raw.values) > MOST_LEVELS and forms_of(raw.values) != (PLAIN,):
        example = max(raw.values, key=lambda text: sum(map(str.isdigit, text)))
        warnings.warn(
            f"Column {name!r} holds numbers that Python does not read, such as {example!r}. Each is a "
            "category here: convert the column to numbers.",
            stacklevel=5,
        )
    return _learned(raw, category(raw, min_count))


def learn_groups(
    name: str, values: pd.Series[Any], deprived: object
) -> tuple[LearnedColumn, tuple[str, ...]]:
    """Return the sensitive column with its groups, and the states of the deprived group.

    ``deprived`` is a value or a list of values; None leaves the deprived group open. A rare value is a group
    of its own. Rows without a group are a :class:`RowsError`.
    """
    named = [] if deprived is None else [*map(text_of, _listed(deprived))]
    learned = _categories(name, values)
    marks = MISSING_MARKS.difference(named) if learned is None else frozenset({""})
    raw = replace(raw_column(name, values), marks=marks)
    if lacking := int(raw.counts[raw.missing].sum()):
        shown = few([repr(text) for text in np.array(raw.values)[raw.missing].tolist() if text])
        raise RowsError(
            f"{lacking} row{'s have' if lacking > 1 else ' has'} no value in the sensitive column {name!r}",
            expected="a group for each training row",
            got=shown or None,
            remedy="leave these rows out"
            + f"; if {shown} is a group, make the column categorical: astype('category')" * bool(shown),
        )
    members: tuple[str, ...] = ()
    if learned is not None:
        # Declared categories may have no rows.
        present = values.cat.remove_unused_categories().cat.categories
        _require_present(name, named, list(map(text_of, present)))
        members = tuple(state for state in learned.column.states if is_one_of(state, named))
        return replace(learned, missing=-1, rest=-1), members
    _require_present(name, named, raw.values)
    if named:
        chosen = np.array([is_one_of(text, named) for text in raw.values], dtype=bool)
        _require_apart(raw, named, chosen)
        members = (" or ".join(named),)
        draft = category(raw, 1, (members[0], chosen))
    else:
        draft = (feature if len(raw.values) > MOST_LEVELS else category)(raw, 1)
    return replace(_learned(raw, draft), missing=-1, rest=-1), members


def _require_apart(raw: RawColumn, named: Sequence[str], deprived: NDArray[np.bool_]) -> None:
    """Refuse a deprived group if another group seems to be the same in another spelling."""
    for i, j in itertools.product(np.flatnonzero(deprived), np.flatnonzero(~deprived)):
        member, double = raw.values[i], raw.values[j]
        short, long = sorted((member.casefold(), double.casefold()), key=len)
        if long.startswith(short) and long.isalpha():  # f, F and Female
            raise RowsError(
                f"In the sensitive column {raw.name!r} {member!r} is deprived, but {double!r}, which seems "
                "to mean the same, is not",
                expected="all spellings of the deprived group, or one spelling in the column",
                got=f"deprived={few(list(map(repr, named)), 8)}",
                remedy=f"name {double!r} in 'deprived' as well, or replace it in the column",
            )


def _learned(raw: RawColumn, draft: CardEntry) -> LearnedColumn:
    entry, known, missing = draft[0], {}, -1
    numeric = entry["kind"] == "numeric"
    if numeric:  # a number below those of the training rows is in the first bin
        entry["bins"][0] = -math.inf
    spec = NumericColumn(**entry) if numeric else CategoricalColumn(**entry)
    coder = Coder(spec)
    codes = np.array([coder[text] for text in raw.values], dtype=np.intp)
    for text, code, lacks in zip(raw.values, codes.tolist(), raw.missing.tolist(), strict=True):
        if lacks or not numeric or math.isnan(coder.number(text)):
            known[text] = code
        missing = code if lacks else missing
    usual = int(np.bincount(codes, weights=raw.counts).argmax())
    learned = _with_rest(Column(raw.name, spec.states, spec.ordered), spec, known, missing, usual)
    if not numeric:
        return learned
    return replace(learned, span=(float(np.nanmin(raw.numbers)), float(np.nanmax(raw.numbers))))


def _with_rest(
    column: Column,
    spec: CategoricalColumn | NumericColumn,
    known: Mapping[str, int],
    missing: int,
    usual: int,
) -> LearnedColumn:
    rest = [column.code(state) for state in RARE_STATES if state in column.states]
    return LearnedColumn(column, spec, known, missing, (*rest, missing if missing >= 0 else usual)[0], usual)


def _categories(name: str, values: pd.Series[Any]) -> LearnedColumn | None:
    """Return a categorical column with its categories as states, and a state for missing values; or None."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return None
    states, codes = [text_of(label) for label in values.cat.categories], np.asarray(values.cat.codes)
    lacking = bool((codes < 0).any()) or not states
    if lacking and MISSING not in states:
        states.append(MISSING)
    try:
        spec = CategoricalColumn(kind="categorical", states=tuple(states), ordered=bool(values.cat.ordered))
    except ValidationError:
        raise RowsError(
            f"The categories of the column {name!r} are not distinct as text",
            expected="categories that differ, none of them empty",
            got=few(list(map(repr, states)), 8),
            remedy="rename them",
        ) from None
    known = {state: code for code, state in enumerate(states)}
    named = [code for state, code in known.items() if state.lower() in (MISSING, "unknown", "?")]
    missing = known.get(MISSING, named[0] if named else -1)
    usual = int(np.bincount(np.where(codes < 0, missing, codes), minlength=len(states)).argmax())
    return _with_rest(Column(name, spec.states, spec.ordered), spec, known, missing, usual)


def text_of(value: object) -> str:
    """Return a value as text; a whole number has the same text as integer and as float."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < _LARGEST_WHOLE else repr(number)
    return str(value).strip()


def _number(text: str) -> float | None:
    """Return a value as a number, infinity included; true is 1 and false 0."""
    return _NUMBER_OF.get(text.lower(), as_number(text))


def _listed(value: object) -> Iterable[object]:
    several = isinstance(value, list | tuple | set | frozenset | np.ndarray)
    return value if several else [value]  # type: ignore[return-value]


def _require_present(name: str, named: Sequence[str], present: Sequence[str]) -> None:
    for value in named:
        if not any(is_one_of(text, [value]) for text in present):
            raise RowsError(
                f"No training row has {value!r} in the sensitive column {name!r}",
                expected="values of that column: " + few(list(map(repr, present)), 8),
                got=repr(value),
                remedy="correct 'deprived'",
            )
    if named and all(is_one_of(text, named) for text in present):
        raise RowsError(
            f"All groups of the sensitive column {name!r} are deprived",
            expected="at least one favored group",
            got=few(list(map(repr, named)), 8),
            remedy="correct 'deprived'",
        )
