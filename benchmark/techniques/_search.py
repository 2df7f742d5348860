"""Where tuning looks for a technique's parameters.

A technique names them in ``search_space``, beside the parameters themselves. Kept apart from the contract, so
that a space changes the identity of no other technique's numbers.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from benchmark.techniques._checks import Interval, Value, parameter_rules

if TYPE_CHECKING:
    from benchmark.techniques.base import Technique

_DIGITS = 4  # of a number that is tried: enough for any strength, and the same on every processor


@dataclass(frozen=True)
class Search:
    """A parameter that tuning looks for."""

    parameter: str  # its name
    # low, high: Least and greatest number that is tried.
    low: float = math.nan
    high: float = math.nan
    log: bool = False  # whether orders of magnitude are tried alike
    choices: tuple[Value, ...] = ()  # what is tried in place of numbers
    # Another parameter and its value without which this one does nothing; it is not looked for then.
    where: tuple[str, Value] | None = None

    def value(self, share: float, whole: bool) -> Value:
        """Return the value at a share, from 0 to 1, of the space; a whole number if it has to be one."""
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        low, high = (math.log(own) if self.log else own for own in (self.low, self.high))
        found = low + share * (high - low)
        found = float(f"{math.exp(found) if self.log else found:.{_DIGITS}g}")
        found = min(max(found, self.low), self.high)
        return round(found) if whole else found

    @property
    def ends(self) -> tuple[Value, ...]:
        """The two ends of the space, or all choices."""
        return self.choices or (self.low, self.high)


def search_space(technique: type[Technique]) -> tuple[Search, ...]:
    """Return what tuning may look for; empty for a technique without parameters worth it."""
    return tuple(getattr(technique, "search_space", ()))


def is_whole(technique: type[Technique], parameter: str) -> bool:
    """Return whether a parameter is a whole number."""
    return typing.get_args(parameter_rules(technique)[parameter])[:1] == (int,)


def space_of(technique: Technique, fixed: Collection[str] = ()) -> tuple[Search, ...]:
    """Return what tuning looks for in a configured technique; parameters that are fixed stay as they are."""
    return tuple(
        own
        for own in search_space(type(technique))
        if own.parameter not in fixed
        and (own.where is None or technique.parameters[own.where[0]] == own.where[1])
    )


def space_flaws(technique: type[Technique]) -> Iterator[str]:
    """Say what is wrong with the declared space, one sentence each."""
    rules, space = parameter_rules(technique), search_space(technique)
    for own in space:
        if not isinstance(own, Search):
            yield f"it holds {own!r}, which is no Search"
        elif own.parameter not in rules:
            yield f"{own.parameter!r} is no parameter; these are: {', '.join(sorted(rules))}"
        elif own.where is not None and own.where[0] not in rules:
            yield f"{own.parameter!r} depends on {own.where[0]!r}, which is no parameter"
        else:
            yield from _flaws_of(own, rules[own.parameter])
    names = [own.parameter for own in space if isinstance(own, Search) and own.where is None]
    yield from (f"{name!r} is in it twice" for name in sorted({n for n in names if names.count(n) > 1}))


def _flaws_of(own: Search, rule: Any) -> Iterator[str]:
    name = repr(own.parameter)
    if rule is bool or typing.get_origin(rule) is Literal:
        valid = (True, False) if rule is bool else typing.get_args(rule)
        wrong = [choice for choice in own.choices if choice not in valid]
        if wrong or len(own.choices) < 2:
            yield f"of {name} it has to try two or more of {', '.join(map(repr, valid))}"
        return
    interval = next(part for part in typing.get_args(rule) if isinstance(part, Interval))
    ends = typing.cast(tuple[float, ...], own.ends)
    if not all(interval.low <= end <= interval.high for end in ends):
        yield f"of {name} it tries {ends[0]:g} to {ends[-1]:g}, and valid is {interval}"
    elif not own.choices and not (own.low < own.high < math.inf):
        yield f"of {name} the least number, {own.low:g}, has to be below the greatest, {own.high:g}"
    elif own.log and own.low <= 0:
        yield f"of {name} orders of magnitude begin above 0, not at {own.low:g}"
