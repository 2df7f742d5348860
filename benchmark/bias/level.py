"""Parameters that depend on the level of bias: numbers, or small arithmetic expressions of beta."""

from __future__ import annotations

import ast
import math
import operator
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from pydantic_core import core_schema

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


class Level:
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

    def __repr__(self) -> str:
        return repr(self._text)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and str(other) == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._text,)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )


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
