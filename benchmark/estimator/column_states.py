"""From the columns of a data frame to states, learned from training rows and applied to others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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

_LARGEST_WHOLE = 2**53  # up to here a float says which whole number it is


class RowsError(DataError, ValueError):
    """Rows that an estimator cannot take; also a ValueError, which scikit-learn's tools expect."""


@dataclass(frozen=True)
class LearnedColumn:
    """How the values of a column are read."""

    column: Column  # its name and states
    spec: CategoricalColumn | NumericColumn  # which values have which state
    usual: int  # code of the state that most training rows have, or -1 if a value without a state is an error

    def codes(self, values: pd.Series[Any]) -> NDArray[np.int16]:
        """Return the state of each row, shape (n_rows,).

        What training rows did not show has the state that rare or missing values had there, or else the most
        frequent one.
        """
        raw, coder = raw_column(self.column.name, values), Coder(self.spec)
        found = np.array([coder[text] for text in raw.values], dtype=CODE_DTYPE)
        unknown = found < 0
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
        found[unknown] = self.usual
        return found[raw.rows]


def raw_column(name: str, values: pd.Series[Any]) -> RawColumn:
    """Return a column as a CSV file would have it: as text, "" where a value is missing."""
    try:
        codes, found = pd.factorize(values)
    except TypeError:
        raise RowsError(
            f"The column {name!r} holds values that are neither text nor numbers",
            expected="an argument must be a string or a number in each row",
            got=type(values.iloc[0]).__name__,
            remedy="make text or numbers of them, or leave the column out",
        ) from None
    texts = [*map(_text, found), ""]
    distinct = sorted({texts[code] for code in np.unique(codes).tolist()})
    place = {text: i for i, text in enumerate(distinct)}
    of_code = np.array([place.get(text, 0) for text in texts], dtype=np.intp)
    return RawColumn(name, tuple(distinct), of_code[codes])  # of -1, the last one


def learn_feature(name: str, values: pd.Series[Any], min_count: int) -> LearnedColumn:
    """Learn the states of a feature: its categories, or those that ``betabench quick`` would draft."""
    if (own := _categories(name, values)) is not None:
        return own
    raw = raw_column(name, values)
    numeric = len(raw.values) > 0 and bool((~np.isnan(raw.numbers) & ~raw.missing).any())
    return _learned(raw, feature(raw, min_count) if numeric else category(raw, min_count))


def learn_groups(
    name: str, values: pd.Series[Any], deprived: object, min_count: int
) -> tuple[LearnedColumn, tuple[str, ...]]:
    """Learn the groups of the sensitive column, and which states of it are the deprived group.

    ``deprived`` is a value or a list of values; of None no state is deprived yet. Rows without a group are a
    :class:`RowsError`.
    """
    raw = raw_column(name, values)
    if lacking := int(raw.counts[raw.missing].sum()):
        raise RowsError(
            f"{lacking} row{'s have' if lacking > 1 else ' has'} no value in the sensitive column {name!r}",
            expected="a group for each training row",
            remedy="leave these rows out",
        )
    asked = [] if deprived is None else [*map(_text, _listed(deprived))]
    known = _categories(name, values)
    if known is not None:
        members = [state for state in known.column.states if _is_one_of(state, asked)]
        # A category may be declared of which no row is.
        _require_known(
            name, asked, [_text(own) for own in values.cat.remove_unused_categories().cat.categories]
        )
        return LearnedColumn(known.column, known.spec, -1), tuple(members)
    _require_known(name, asked, raw.values)
    if not asked:
        many = len(raw.values) > MOST_LEVELS
        learned = _learned(raw, feature(raw, min_count) if many else category(raw, min_count))
        return LearnedColumn(learned.column, learned.spec, -1), ()
    chosen = np.array([_is_one_of(text, asked) for text in raw.values], dtype=bool)
    _require_apart(raw, asked, chosen)
    group = " or ".join(asked)
    learned = _learned(raw, category(raw, min_count, (group, chosen)))
    return LearnedColumn(learned.column, learned.spec, -1), (group,)


def _require_apart(raw: RawColumn, asked: Sequence[str], deprived: NDArray[np.bool_]) -> None:
    """Refuse groups of which one is deprived, and another that seems to mean the same is not."""
    for i, j in itertools.product(np.flatnonzero(deprived), np.flatnonzero(~deprived)):
        if mean_the_same(raw, int(i), int(j)):
            one, other = raw.values[i], raw.values[j]
            raise RowsError(
                f"In the sensitive column {raw.name!r} {one!r} is deprived, and {other!r}, which seems to "
                "mean the same, is not",
                expected="all spellings of the deprived group, or values that are spelled alike",
                got=f"deprived={few(list(map(repr, asked)), 8)}",
                remedy=f"name {other!r} in 'deprived' as well, or replace it in the column",
            )


def _learned(raw: RawColumn, found: CardEntry) -> LearnedColumn:
    entry = found[0]
    spec = NumericColumn(**entry) if entry["kind"] == "numeric" else CategoricalColumn(**entry)
    coder = Coder(spec)
    codes = np.array([coder[text] for text in raw.values], dtype=np.intp)
    usual = int(np.bincount(codes, weights=raw.counts).argmax())
    return LearnedColumn(Column(raw.name, spec.states, spec.ordered), spec, usual)


def _categories(name: str, values: pd.Series[Any]) -> LearnedColumn | None:
    """Return a column whose states a frame declares: its categories, and one for what is missing."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return None
    states, codes = [_text(own) for own in values.cat.categories], np.asarray(values.cat.codes)
    missing = {"": MISSING} if (codes < 0).any() or not states else {}
    if missing and MISSING not in states:
        states.append(MISSING)
    try:
        spec = CategoricalColumn(
            kind="categorical", states=tuple(states), ordered=bool(values.cat.ordered), values=missing
        )
    except ValidationError:
        raise RowsError(
            f"The categories of the column {name!r} cannot be told apart as text",
            expected="categories that differ, none of them empty",
            got=few(list(map(repr, states)), 8),
            remedy="rename them",
        ) from None
    codes = np.where(codes < 0, states.index(MISSING) if missing else 0, codes)
    usual = int(np.bincount(codes, minlength=len(states)).argmax())
    return LearnedColumn(Column(name, spec.states, spec.ordered), spec, usual)


def _text(value: object) -> str:
    """Return a value as text; a whole number is the same, whether it is an integer or a float."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < _LARGEST_WHOLE else repr(number)
    return str(value).strip()


def _listed(value: object) -> Iterable[object]:
    several = isinstance(value, list | tuple | set | frozenset | np.ndarray)
    return value if several else [value]  # type: ignore[return-value]


def _is_one_of(text: str, asked: Sequence[str]) -> bool:
    number = as_number(text)
    return any(text == own or (number is not None and number == as_number(own)) for own in asked)


def _require_known(name: str, asked: Sequence[str], known: Sequence[str]) -> None:
    for own in asked:
        if not any(_is_one_of(text, [own]) for text in known):
            raise RowsError(
                f"No training row has {own!r} in the sensitive column {name!r}",
                expected="values of that column: " + few(list(map(repr, known)), 8),
                got=repr(own),
                remedy="correct 'deprived'",
            )
    if asked and all(_is_one_of(text, asked) for text in known):
        raise RowsError(
            f"All groups of the sensitive column {name!r} are deprived",
            expected="at least one group that is not",
            got=few(list(map(repr, asked)), 8),
            remedy="correct 'deprived'",
        )
