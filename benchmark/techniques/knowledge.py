"""What a technique may be told about the bias in its training rows: a contract of its own.

A technique declares the facts that it needs in ``knows``. Whoever fits it hands it these facts in
``tools.known``, and no others. Groups, labels and which group counts as deprived are known to all techniques.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DeclinedError, TechniqueError

Fact: TypeAlias = Literal["direction", "kind", "gap", "rates", "bounds", "refusals", "clean_rows"]
"""Name of something that can be known about a bias."""

FACTS: tuple[Fact, ...] = get_args(Fact)
"""All facts; whoever knows a later one knows more, or has to look at more people."""


def last_fact(facts: Iterable[Fact]) -> Fact:
    """Return the fact, of some, that says most or takes most people to find out."""
    return max(facts, key=FACTS.index)


Kind: TypeAlias = Literal["label", "selection"]
"""What a bias does: it makes recorded labels wrong, or it leaves rows out."""


@dataclass(frozen=True, eq=False)
class Examined:
    """Training rows that somebody has looked at again, drawn at random without replacement."""

    rows: NDArray[np.intp]  # positions in the training table, shape (m,)
    favorable: NDArray[np.bool_]  # whether the label should be favorable, by these people, shape (m,)

    def __len__(self) -> int:
        return len(self.rows)


class Knowledge:
    """Facts about a bias, as attributes; one that was not told is no attribute."""

    direction: bool  # whether the bias takes favorable labels from the deprived group, or adds some
    kind: Kind  # what the bias does
    # By how much the deprived group's recorded rate of favorable labels is below its true rate, in [-1, 1].
    gap: float
    rates: tuple[float, float]  # true rates of favorable labels: of the deprived group, and of all other rows
    bounds: tuple[float, float]  # the least and the greatest true rate that the deprived group may have
    refusals: Examined  # looked at again: unfavorable rows of the deprived group
    clean_rows: Examined  # looked at again: rows of both groups with either label

    def __init__(self, **facts: Any) -> None:
        if unknown := [name for name in facts if name not in FACTS]:
            raise TechniqueError(
                f"{unknown[0]!r} is no fact about a bias", expected=", ".join(FACTS), got=unknown[0]
            )
        vars(self).update(facts)

    def __getattr__(self, name: str) -> Any:
        if name not in FACTS:
            raise AttributeError(name)
        raise TechniqueError(
            f"A technique reads the {name!r} of the bias, which it was not told",
            expected=f"{name!r} among the facts that it declares in 'knows'",
            got=", ".join(self.told) or "nothing",
            remedy="declare the fact, or do without it",
        )

    @property
    def told(self) -> tuple[Fact, ...]:
        """Names of the facts that were told."""
        return tuple(name for name in FACTS if name in vars(self))

    def only(self, facts: Iterable[Fact]) -> Knowledge:
        """Return the knowledge of some facts alone; those that were not told stay unknown."""
        return Knowledge(**{name: vars(self)[name] for name in facts if name in vars(self)})

    def require(self, technique: str, facts: Iterable[Fact]) -> None:
        """Raise a :class:`DeclinedError` in a technique's name unless all these facts were told."""
        if missing := [name for name in facts if name not in vars(self)]:
            raise DeclinedError(
                f"{technique} has to be told something about the bias",
                expected=", ".join(facts),
                got=f"no {missing[0]}",
                remedy="name what it may know: 'knows' in an experiment file, told=... in Python",
            )


NOTHING = Knowledge()
"""What most techniques are told."""
