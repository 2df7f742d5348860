"""Search spaces of techniques: the values that tuning tries.

A technique declares them as ``search_space``, besides its parameters. This module is apart from the contract,
so that a space changes the identity of no other technique's numbers.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from benchmark.techniques.base import Interval, Value, parameter_rules

if TYPE_CHECKING:
    from benchmark.techniques.base import Technique

_DIGITS = 4  # of a tried number: enough for any strength, and the same on every processor


@dataclass(frozen=True)
class Search:
    """The search space of one parameter."""

    parameter: str  # its name
    low: float = math.nan  # least number
    high: float = math.nan  # greatest number
    log: bool = False  # whether each order of magnitude is tried equally often
    choices: tuple[Value, ...] = ()  # values in place of numbers
    # Another parameter and its value; with another value, this one does nothing and is not tuned.
    where: tuple[str, Value] | None = None

    def value(self, share: float, whole: bool) -> Value:
        """Return the value at a share, from 0 to 1, of the space; a whole number if ``whole``."""
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        low, high = (math.log(end) if self.log else end for end in (self.low, self.high))
        number = low + share * (high - low)
        number = float(f"{math.exp(number) if self.log else number:.{_DIGITS}g}")
        number = min(max(number, self.low), self.high)
        return round(number) if whole else number

    @property
    def ends(self) -> tuple[Value, ...]:
        """The two ends of the space, or all choices."""
        return self.choices or (self.low, self.high)


def search_space(technique: type[Technique]) -> tuple[Search, ...]:
    """Return the declared search space of a technique, which may be empty."""
    return tuple(getattr(technique, "search_space", ()))


def is_whole(technique: type[Technique], parameter: str) -> bool:
    """Return whether a parameter is a whole number."""
    return typing.get_args(parameter_rules(technique)[parameter])[:1] == (int,)


def space_of(technique: Technique, fixed: Collection[str] = ()) -> tuple[Search, ...]:
    """Return the search space of a configured technique, without the fixed parameters."""
    return tuple(
        search
        for search in search_space(type(technique))
        if search.parameter not in fixed
        and (search.where is None or technique.parameters[search.where[0]] == search.where[1])
    )


def space_flaws(technique: type[Technique]) -> Iterator[str]:
    """Yield the flaws of a declared space, one sentence each."""
    rules, space = parameter_rules(technique), search_space(technique)
    for search in space:
        if not isinstance(search, Search):
            yield f"it holds {search!r}, which is no Search"
        elif search.parameter not in rules:
            yield f"{search.parameter!r} is no parameter; these are: {', '.join(sorted(rules))}"
        elif search.where is not None and search.where[0] not in rules:
            yield f"{search.parameter!r} depends on {search.where[0]!r}, which is no parameter"
        else:
            yield from _flaws_of(search, rules[search.parameter])
    names = [search.parameter for search in space if isinstance(search, Search) and search.where is None]
    yield from (f"{name!r} is in it twice" for name in sorted({n for n in names if names.count(n) > 1}))


def _flaws_of(search: Search, rule: Any) -> Iterator[str]:
    name = repr(search.parameter)
    if rule is bool or typing.get_origin(rule) is Literal:
        valid = (True, False) if rule is bool else typing.get_args(rule)
        if len(search.choices) < 2 or any(choice not in valid for choice in search.choices):
            yield f"for {name} it has to try two or more of {', '.join(map(repr, valid))}"
        return
    interval = next(part for part in typing.get_args(rule) if isinstance(part, Interval))
    ends = typing.cast(tuple[float, ...], search.ends)
    if not all(interval.low <= end <= interval.high for end in ends):
        yield f"for {name} it tries {ends[0]:g} to {ends[-1]:g}, but valid values lie in {interval}"
    elif not search.choices and not (search.low < search.high < math.inf):
        yield f"for {name} the least number, {search.low:g}, has to be below the greatest, {search.high:g}"
    elif search.log and search.low <= 0:
        yield f"for {name} orders of magnitude begin above 0, not at {search.low:g}"
