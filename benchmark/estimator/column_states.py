"""States of data-frame columns, learned from training rows and applied to other rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ValidationError

from benchmark.data.card_parts import CategoricalColumn, NumericColumn
from benchmark.data.doubts import mean_the_same
from benchmark.data.load import Coder
from benchmark.data.sniff import RawColumn
from benchmark.data.states import MISSING, MOST_LEVELS, CardEntry, category, feature
from benchmark.data.table import CODE_DTYPE, Column
from benchmark.errors import DataError
from benchmark.text.words import as_number, few

_LARGEST_WHOLE = 2**53  # floats up to here are exact whole numbers


class RowsError(DataError, ValueError):
    """Rows that an estimator cannot take; also a ValueError, which scikit-learn's tools expect."""


@dataclass(frozen=True)
class LearnedColumn:
    """A column with a state for each value."""

    column: Column  # its name and states
    spec: CategoricalColumn | NumericColumn  # the state of each value
    usual: int  # code of the most frequent state, or -1 if a value without a state is an error

    def codes(self, values: pd.Series[Any]) -> NDArray[np.int16]:
        """Return the state of each row, shape (n_rows,).

        A value that no training row has gets the state of rare or missing values, or else the most frequent
        state.
        """
        raw, coder = raw_column(self.column.name, values), Coder(self.spec)
        codes = np.array([coder[text] for text in raw.values], dtype=CODE_DTYPE)
        unknown = codes < 0
        if self.usual < 0 and unknown.any():
            n = int(raw.counts[unknown].sum())
            shown = [repr(text) if text else "no value" for text in np.array(raw.values)[unknown].tolist()]
            raise RowsError(
                f"{n} row{'s have' if n > 1 else ' has'} no known group",
                expected=f"in the sensitive column {self.column.name!r} one of "
                + few(list(map(repr, self.column.states)), 8),
                got=few(shown, 8),
                remedy="leave these rows out, or train on rows that have the value",
            )
        codes[unknown] = self.usual
        return codes[raw.rows]


def raw_column(name: str, values: pd.Series[Any]) -> RawColumn:
    """Return a column as in a CSV file: text, and "" for a missing value."""
    try:
        codes, distinct = pd.factorize(values)
    except TypeError:
        raise RowsError(
            f"The column {name!r} holds values that are neither text nor numbers",
            expected="an argument must be a string or a number in each row",
            got=type(values.iloc[0]).__name__,
            remedy="convert them to text or numbers, or leave the column out",
        ) from None
    texts = [*map(_text, distinct), ""]
    ordered = sorted({texts[code] for code in np.unique(codes).tolist()})
    positions = {text: i for i, text in enumerate(ordered)}
    of_code = np.array([positions.get(text, 0) for text in texts], dtype=np.intp)
    return RawColumn(name, tuple(ordered), of_code[codes])  # a missing value, code -1, takes the last entry


def learn_feature(name: str, values: pd.Series[Any], min_count: int) -> LearnedColumn:
    """Return a feature with its states: its categories, or the states of a ``betabench quick`` draft."""
    if (declared := _categories(name, values)) is not None:
        return declared
    raw = raw_column(name, values)
    numeric = len(raw.values) > 0 and bool((~np.isnan(raw.numbers) & ~raw.missing).any())
    return _learned(raw, feature(raw, min_count) if numeric else category(raw, min_count))


def learn_groups(
    name: str, values: pd.Series[Any], deprived: object, min_count: int
) -> tuple[LearnedColumn, tuple[str, ...]]:
    """Return the sensitive column with its groups, and the states of the deprived group.

    ``deprived`` is a value or a list of values; None leaves the deprived group open. Rows without a group are
    a :class:`RowsError`.
    """
    raw = raw_column(name, values)
    if lacking := int(raw.counts[raw.missing].sum()):
        raise RowsError(
            f"{lacking} row{'s have' if lacking > 1 else ' has'} no value in the sensitive column {name!r}",
            expected="a group for each training row",
            remedy="leave these rows out",
        )
    named = [] if deprived is None else [*map(_text, _listed(deprived))]
    learned = _categories(name, values)
    members: tuple[str, ...] = ()
    if learned is not None:
        # Declared categories may have no rows.
        present = values.cat.remove_unused_categories().cat.categories
        _require_present(name, named, list(map(_text, present)))
        members = tuple(state for state in learned.column.states if _is_one_of(state, named))
        return replace(learned, usual=-1), members
    _require_present(name, named, raw.values)
    if named:
        chosen = np.array([_is_one_of(text, named) for text in raw.values], dtype=bool)
        _require_apart(raw, named, chosen)
        members = (" or ".join(named),)
        draft = category(raw, min_count, (members[0], chosen))
    else:
        draft = (feature if len(raw.values) > MOST_LEVELS else category)(raw, min_count)
    return replace(_learned(raw, draft), usual=-1), members


def _require_apart(raw: RawColumn, named: Sequence[str], deprived: NDArray[np.bool_]) -> None:
    """Refuse a deprived group if another group seems to be the same in another spelling."""
    for i, j in itertools.product(np.flatnonzero(deprived), np.flatnonzero(~deprived)):
        if mean_the_same(raw, int(i), int(j)):
            member, double = raw.values[i], raw.values[j]
            raise RowsError(
                f"In the sensitive column {raw.name!r} {member!r} is deprived, but {double!r}, which seems "
                "to mean the same, is not",
                expected="all spellings of the deprived group, or one spelling in the column",
                got=f"deprived={few(list(map(repr, named)), 8)}",
                remedy=f"name {double!r} in 'deprived' as well, or replace it in the column",
            )


def _learned(raw: RawColumn, draft: CardEntry) -> LearnedColumn:
    entry = draft[0]
    spec = NumericColumn(**entry) if entry["kind"] == "numeric" else CategoricalColumn(**entry)
    coder = Coder(spec)
    codes = np.array([coder[text] for text in raw.values], dtype=np.intp)
    usual = int(np.bincount(codes, weights=raw.counts).argmax())
    return LearnedColumn(Column(raw.name, spec.states, spec.ordered), spec, usual)


def _categories(name: str, values: pd.Series[Any]) -> LearnedColumn | None:
    """Return a categorical column with its categories as states, and a state for missing values; or None."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return None
    states, codes = [_text(label) for label in values.cat.categories], np.asarray(values.cat.codes)
    missing = {"": MISSING} if (codes < 0).any() or not states else {}
    if missing and MISSING not in states:
        states.append(MISSING)
    try:
        spec = CategoricalColumn(
            kind="categorical", states=tuple(states), ordered=bool(values.cat.ordered), values=missing
        )
    except ValidationError:
        raise RowsError(
            f"The categories of the column {name!r} are not distinct as text",
            expected="categories that differ, none of them empty",
            got=few(list(map(repr, states)), 8),
            remedy="rename them",
        ) from None
    codes = np.where(codes < 0, states.index(MISSING) if missing else 0, codes)
    usual = int(np.bincount(codes, minlength=len(states)).argmax())
    return LearnedColumn(Column(name, spec.states, spec.ordered), spec, usual)


def _text(value: object) -> str:
    """Return a value as text; a whole number has the same text as integer and as float."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < _LARGEST_WHOLE else repr(number)
    return str(value).strip()


def _listed(value: object) -> Iterable[object]:
    several = isinstance(value, list | tuple | set | frozenset | np.ndarray)
    return value if several else [value]  # type: ignore[return-value]


def _is_one_of(text: str, named: Sequence[str]) -> bool:
    number = as_number(text)
    return any(text == value or (number is not None and number == as_number(value)) for value in named)


def _require_present(name: str, named: Sequence[str], present: Sequence[str]) -> None:
    for value in named:
        if not any(_is_one_of(text, [value]) for text in present):
            raise RowsError(
                f"No training row has {value!r} in the sensitive column {name!r}",
                expected="values of that column: " + few(list(map(repr, present)), 8),
                got=repr(value),
                remedy="correct 'deprived'",
            )
    if named and all(_is_one_of(text, named) for text in present):
        raise RowsError(
            f"All groups of the sensitive column {name!r} are deprived",
            expected="at least one favored group",
            got=few(list(map(repr, named)), 8),
            remedy="correct 'deprived'",
        )
