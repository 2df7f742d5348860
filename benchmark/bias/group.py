"""The people whom a step of a bias acts on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import core_schema

from benchmark.data.table import Schema, Table

_NAMES = ("deprived", "favored", "all")


class Group:
    """The deprived group, the favored group, all people, or people with certain states in some columns.

    ``who`` is "deprived", "favored", "all", or a mapping of each column to one state or a list of states.
    People of an intersection have one of them in every column: ``{"sex": "Female", "race": ["Black",
    "Other"]}``. Anything else is a ValueError.
    """

    def __init__(self, who: str | Mapping[str, str | list[str]] | Group) -> None:
        if isinstance(who, Group):
            self._who: str | tuple[tuple[str, tuple[str, ...]], ...] = who._who
        elif isinstance(who, str) and who in _NAMES:
            self._who = who
        elif isinstance(who, Mapping) and who:
            chosen = {name: (value,) if isinstance(value, str) else value for name, value in who.items()}
            for name, states in chosen.items():
                if not (isinstance(name, str) and isinstance(states, list | tuple) and states) or not all(
                    isinstance(state, str) for state in states
                ):
                    raise ValueError(f"must name a state, or a list of states, of the column {name!r}")
            # Sorted, because the same group can be written in several orders.
            self._who = tuple((name, tuple(sorted({*states}))) for name, states in sorted(chosen.items()))
        else:
            raise ValueError("must be 'deprived', 'favored', 'all', or a table such as { sex = \"Female\" }")

    def columns(self, schema: Schema) -> tuple[str, ...]:
        """Return the columns that define the group."""
        if isinstance(self._who, str):
            return () if self._who == "all" else schema.sensitive_features
        return tuple(name for name, _ in self._who)

    def check(self, schema: Schema) -> None:
        """Raise an UnknownNameError unless all its columns and states exist."""
        if not isinstance(self._who, str):
            for name, states in self._who:
                for state in states:
                    schema.column(name).code(state)

    def members(self, table: Table) -> NDArray[np.bool_]:
        """Return membership by the recorded values, shape (n_rows,)."""
        if self._who == "deprived":
            return table.deprived
        if self._who == "favored":
            return ~table.deprived
        belongs = np.ones(len(table), dtype=np.bool_)
        if not isinstance(self._who, str):
            for name, states in self._who:
                codes = [table.schema.column(name).code(state) for state in states]
                belongs &= np.isin(table.codes[:, table.schema.index(name)], codes)
        return belongs

    def drawn(self, table: Table, chance: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return members drawn with a probability each, shape (n_rows,): one random number per row."""
        return self.members(table) & (rng.random(len(table)) < chance)

    def __str__(self) -> str:
        if isinstance(self._who, str):
            return "everybody" if self._who == "all" else f"the {self._who} group"
        return " and ".join(f"{name} = {' or '.join(states)}" for name, states in self._who)

    def __repr__(self) -> str:
        return repr(self.written)

    @property
    def written(self) -> str | dict[str, list[str]]:
        """The group as an experiment file writes it."""
        if isinstance(self._who, str):
            return self._who
        return {name: list(states) for name, states in self._who}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and other._who == self._who

    def __hash__(self) -> int:
        return hash(self._who)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(lambda group: group.written)
        return core_schema.no_info_plain_validator_function(cls, serialization=written)


DEPRIVED, ALL = Group("deprived"), Group("all")
