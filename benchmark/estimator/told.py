"""What a user tells a technique about the bias in the rows of a frame, in the words of these rows."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from benchmark.estimator.column_states import RowsError
from benchmark.techniques import Examined, Fact, Kind, Knowledge, Technique
from benchmark.text.words import is_one_of


class UseError(RowsError, TechniqueError):
    """A technique cannot be trained on rows; also a ValueError, which scikit-learn's tools expect."""


_FORMS: Mapping[Fact, str] = {
    "direction": "True if the bias takes favorable labels from the deprived group, False if it adds some",
    "kind": f"one of {', '.join(map(repr, get_args(Kind)))}",
    "gap": "a number from -1 to 1: the true rate of the deprived group minus its recorded rate",
    "rates": "the true rate of favorable labels of each group, as in {'F': 0.40, 'M': 0.42}",
    "bounds": "the least and the greatest true rate of the deprived group, as in (0.35, 0.45)",
    "refusals": "(rows, labels): refused rows of the deprived group by their index, and their true labels",
    "clean_rows": "(rows, labels): rows of all groups by their index, and their true labels",
}


@dataclass(frozen=True)
class Told:
    """Training rows, in whose words facts are given."""

    train: Table
    index: pd.Index | None  # names of the rows; an array has none
    groups: Sequence[str]  # the group of each row, as text
    favorable: Callable[[Any], NDArray[np.bool_]]  # reads labels; a ValueError says that one is unknown
    weights: NDArray[np.float64] | None = None  # how often each row counts

    def knowledge(self, told: Mapping[Fact, Any] | None, technique: Technique) -> Knowledge:
        """Return those of the told facts that a technique declares; a UseError says what is wrong."""
        told = {} if told is None else told
        needed = ", ".join(f"{fact!r}: ..." for fact in technique.knows)
        if unknown := [fact for fact in told if fact not in _FORMS]:
            raise UseError(
                f"{unknown[0]!r} is no fact about a bias",
                expected=", ".join(_FORMS),
                got=repr(unknown[0]),
                remedy="correct 'told'",
            )
        if missing := [fact for fact in technique.knows if fact not in told]:
            raise UseError(
                f"The technique {technique.name!r} has to be told the {missing[0]} of the bias",
                expected=f"told={{{needed}}}, where {missing[0]!r} is {_FORMS[missing[0]]}",
                got=", ".join(map(repr, told)) or "nothing",
                remedy="give it, or choose a technique that needs what you know",
            )
        if told and not technique.knows:
            raise UseError(
                f"The technique {technique.name!r} makes nothing of what it is told",
                expected="a technique that declares what it knows, such as 'gap_weights' or 'rate_weights'",
                got=", ".join(map(repr, told)),
                remedy="leave 'told' out, or choose another technique",
            )
        return Knowledge(**{fact: self._fact(fact, told[fact]) for fact in technique.knows})

    def _fact(self, fact: Fact, given: Any) -> Any:
        if fact == "rates" and isinstance(given, Mapping):
            return self._rates(given)
        if fact in ("refusals", "clean_rows") and _is_pair(given):
            return self._examined(fact, *given)
        valid = {
            "direction": isinstance(given, bool | np.bool_),
            "kind": given in get_args(Kind) if isinstance(given, str) else False,
            "gap": _is_number(given) and -1 <= given <= 1,
            "bounds": _is_pair(given) and all(map(_is_number, given)) and 0 <= given[0] <= given[1] <= 1,
        }
        if not valid.get(fact, False):
            shown = repr(given)
            raise _wrong(fact, shown if len(shown) < 60 else f"a {type(given).__name__}")
        return tuple(map(float, given)) if fact == "bounds" else given

    def _rates(self, given: Mapping[Any, Any]) -> tuple[float, float]:
        """Return the rates of the deprived group and of all other rows, from those of all groups."""
        names = {str(name).strip(): rate for name, rate in given.items()}
        rate_of: dict[str, float] = {}
        for group in sorted({*self.groups}):
            rates = [rate for name, rate in names.items() if is_one_of(group, [name])]
            if len(rates) != 1 or not (_is_number(rates[0]) and 0 <= rates[0] <= 1):
                got = f"{rates[0]!r} for {group!r}" if rates else f"none for {group!r}"
                raise _wrong("rates", got, "a rate from 0 to 1 for each group of the training rows")
            rate_of[group] = float(rates[0])
        if foreign := [name for name in names if not any(is_one_of(group, [name]) for group in rate_of)]:
            raise _wrong("rates", f"a rate of {foreign[0]!r}", f"groups: {', '.join(map(repr, rate_of))}")
        weights = np.ones(len(self.train)) if self.weights is None else self.weights
        rate, member = np.array([rate_of[group] for group in self.groups]), self.train.deprived
        sides = [(rate[own], weights[own]) for own in (member, ~member)]
        deprived, favored = (float(own @ counts / (counts.sum() or 1.0)) for own, counts in sides)
        return deprived, favored

    def _examined(self, fact: Fact, rows: Any, labels: Any) -> Examined:
        if self.index is None:  # a part of an array, as in cross-validation, would be other rows
            raise _wrong(fact, "X as an array, whose rows have no names", "X as a data frame")
        named, unique = np.asarray(rows).ravel(), self.index.is_unique
        positions = self.index.get_indexer(pd.Index(named)) if unique else np.full(len(named), -1)
        if (positions < 0).any() or len(np.unique(positions)) < len(positions):
            got = "rows that are not in X, or are named twice" if unique else "an index that names rows twice"
            raise _wrong(fact, got, "rows by the index of X")
        favorable = self.favorable(labels)
        if len(favorable) != len(positions):
            raise _wrong(fact, f"{len(favorable)} labels for {len(positions)} rows", "a label for each row")
        if fact == "refusals" and (self.train.y | ~self.train.deprived)[positions].any():
            raise _wrong(fact, "rows that were not refused, or of other groups")
        return Examined(positions, favorable)


def _wrong(fact: Fact, got: str, expected: str = "") -> UseError:
    return UseError(
        f"What is told as {fact!r} cannot be",
        expected=expected or _FORMS[fact],
        got=got,
        remedy=f"correct told={{{fact!r}: ...}}",
    )


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2
