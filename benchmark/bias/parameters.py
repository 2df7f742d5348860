"""Parameters that depend on the level of bias: numbers, or small arithmetic expressions of beta."""

from __future__ import annotations

import ast
import math
import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic_core import core_schema

from benchmark.data.table import Schema, Table
from benchmark.errors import BiasError

_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_LONGEST = 200  # characters


class Parameter:
    """A parameter of a step, which is equal to another one that an experiment file writes in the same way."""

    written: Any  # what the file has

    def __repr__(self) -> str:
        return repr(self.written)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.written == self.written

    def __hash__(self) -> int:
        return hash(repr(self))

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(lambda value: value.written)
        return core_schema.no_info_plain_validator_function(cls, serialization=written)


class Level(Parameter):
    """A number, or an expression of beta such as ``"0.5 * beta"`` or ``"(1 - beta) ** 2"``.

    It is parsed and computed here, and never run as code: it may hold numbers, ``beta``, the signs
    ``+ - * / **`` and parentheses. Anything else is a ValueError.
    """

    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf

    def __init__(self, value: float | str | Level) -> None:
        text = str(value) if isinstance(value, Level) else value
        wrong = isinstance(text, bool) or not isinstance(text, int | float | str)
        if wrong or (not isinstance(text, str) and not abs(text) <= sys.float_info.max):
            raise ValueError("must be a finite number or an expression of beta, such as '0.5 * beta'")
        self._text = text if isinstance(text, str) else f"{text:.15g}"
        if len(self._text) > _LONGEST:
            raise ValueError(f"must have at most {_LONGEST} characters")
        try:
            self._tree = ast.parse(self._text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError("is no expression: write numbers, beta, + - * / ** and parentheses") from None
        for node in ast.walk(self._tree):
            if not _is_allowed(node):
                part = ast.unparse(node) or type(node).__name__  # signs have no text of their own
                raise ValueError(
                    f"holds {part!r}: only numbers, beta, + - * / ** and parentheses are allowed"
                )

    def at(self, beta: float) -> float:
        """Return the value at a level of bias; a BiasError means that it is outside the parameter's range."""
        try:
            value = float(_computed(self._tree, beta))
        except (ArithmeticError, TypeError) as error:  # TypeError: a root of a negative number
            value, reason = math.nan, f"{type(error).__name__}: {error}"
        else:
            reason = f"{value:g}"
        if math.isfinite(value) and self.low <= value <= self.high:
            return value
        raise BiasError(
            f"The parameter {self._text!r} of a bias has no valid value at beta = {beta:g}",
            expected=f"a number from {self.low:g} to {self.high:g}"
            if math.isfinite(self.low)
            else "a finite number",
            got=reason,
            remedy="correct the expression in the experiment file, or leave that level out of 'betas'",
        )

    def __str__(self) -> str:
        return self._text

    @property
    def written(self) -> str:
        """The expression."""
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._text,)


class Rate(Level):
    """A probability: a level from 0 to 1."""

    low, high = 0.0, 1.0


def _is_allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.Name):
        return node.id == "beta"
    return isinstance(node, ast.BinOp | ast.UnaryOp | ast.Load) or type(node) in _OPERATORS


def _computed(node: ast.AST, beta: float) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name():
            return beta
        case ast.UnaryOp(op=sign, operand=operand):
            return _OPERATORS[type(sign)](_computed(operand, beta))
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATORS[type(sign)](_computed(left, beta), _computed(right, beta))
    raise TypeError(type(node).__name__)  # not reached: _is_allowed has refused all other nodes


_NAMES = ("deprived", "favored", "all")


class Group(Parameter):
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

    @property
    def written(self) -> str | dict[str, list[str]]:
        """The group as an experiment file writes it."""
        if isinstance(self._who, str):
            return self._who
        return {name: list(states) for name, states in self._who}


DEPRIVED, ALL = Group("deprived"), Group("all")
