"""Tuning in an experiment: its table ``tune``, the rule of choice, and the space of settings."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field, StrictInt, field_validator

from benchmark.errors import ExperimentError
from benchmark.metrics import get_metric
from benchmark.models import STRICT

Values: TypeAlias = Mapping[str, float]
"""Metrics of one setting on some rows, by name."""

_Validation: TypeAlias = tuple[Literal["biased", "clean"], ...]
_NUMBER = r"[0-9]*\.?[0-9]+"
_RULE = re.compile(
    rf"(max|min) +(\|?)([a-z_][a-z0-9_]*)\2(?: +subject +to +(\|?)([a-z_][a-z0-9_]*)\4 *(<=|>=) *"
    rf"(?:(default)(?: *([+-]) *({_NUMBER}))?|(-?{_NUMBER})))? *"
)
_EXAMPLE = '"max accuracy subject to |discrimination| <= 0.05"'


@dataclass(frozen=True)
class Rule:
    """The rule that chooses one of several settings.

    It chooses the greatest, or least, objective among settings that meet the constraint; if none does, the
    setting that is nearest to it. The first of equal settings is chosen.
    """

    text: str
    greatest: bool
    objective: tuple[str, bool]  # name of a metric, and whether its absolute value counts
    constraint: tuple[str, bool] | None = None  # likewise
    at_most: bool = True
    bound: float = math.nan
    relative: bool = False  # whether the default setting's value is added to the bound

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Return the rule of a text; a ValueError says that it is none."""
        if (match := _RULE.fullmatch(" ".join(text.split()))) is None:
            raise ValueError(
                f'is no rule; rules are as {_EXAMPLE}, "min |discrimination| subject to accuracy >= 0.8" or '
                '"min |discrimination| subject to accuracy >= default - 0.02"'
            )
        goal, bars, name, constraint_bars, constraint, sense, default, sign, distance, number = match.groups()
        rule = cls(text, goal == "max", (name, bool(bars)))
        if constraint is None:
            return rule
        bound = float(number or distance or 0) * (-1 if sign == "-" else 1)
        bounded = (constraint, bool(constraint_bars))
        return replace(rule, constraint=bounded, at_most=sense == "<=", bound=bound, relative=bool(default))

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics in the rule."""
        named = (self.objective, *([self.constraint] if self.constraint else []))
        return tuple(dict.fromkeys(name for name, _ in named))

    def check(self) -> None:
        """Raise an UnknownNameError or ExperimentError unless its metrics are known, with one value each."""
        for name in self.metrics:
            if get_metric(name).of_run:
                flaw, expected = "needs the model without planted bias", "metrics of predictions and labels"
                remedy = "name another metric; biased rows alone do not give that model"
            elif get_metric(name).compare == "each_group":
                flaw, expected = "has a value for each group", "metrics with one value"
                remedy = "name a difference, ratio or gap; 'betabench list metrics' shows them"
            else:
                continue
            problem = f"The rule of choice uses {name!r}, which {flaw}"
            raise ExperimentError(problem, expected=expected, got=self.text, remedy=remedy)
        if self.constraint is None or self.relative:
            return
        name, absolute = self.constraint
        low, high = get_metric(name).range
        if absolute:
            low, high = max(low, -high, 0.0), max(abs(low), abs(high))
        if not low <= self.bound <= high:
            raise ExperimentError(
                f"The bound of the rule of choice is no value of {name}",
                expected=f"a number from {low:g} to {high:g}",
                got=self.text,
                remedy="correct the bound, or leave out 'subject to ...'",
            )

    def goal(self, values: Values) -> float:
        """Return the objective of a setting."""
        return _read(values, self.objective)

    def excess(self, values: Values, default: Values | None) -> float:
        """Return the distance from a setting to the constraint; 0 if it is met, NaN if it is unknown."""
        if self.constraint is None:
            return 0.0
        bound = self.bound
        if self.relative:
            bound += math.nan if default is None else _read(default, self.constraint)
        value = _read(values, self.constraint)
        beyond = value - bound if self.at_most else bound - value
        return beyond if math.isnan(beyond) else max(beyond, 0.0)

    def choose(self, tried: Sequence[Values | None]) -> int | None:
        """Return the position of the chosen setting; the first is the default. None if none has values."""
        scored = []
        for i, values in enumerate(tried):
            if values is not None:
                goal, excess = self.goal(values), self.excess(values, tried[0])
                if not (math.isnan(goal) or math.isnan(excess)):
                    scored.append((excess, -goal if self.greatest else goal, i))
        return min(scored)[2] if scored else None


def _read(values: Values, named: tuple[str, bool]) -> float:
    value = values[named[0]]
    return abs(value) if named[1] else value


class TuneEntry(BaseModel):
    """How techniques are tuned; docs/adding/experiment_fields.md explains the fields."""

    model_config = STRICT

    trials: StrictInt = Field(default=25, ge=2)  # settings of each technique, the default one among them
    rule: str = "max accuracy subject to |discrimination| <= 0.05"
    validation: _Validation = Field(default=("biased",), min_length=1)
    on: Annotated[float, Field(gt=0, lt=1)] = 0.25  # share of the training sample that validates settings

    @field_validator("validation", mode="before")
    @classmethod
    def _one_or_both(cls, named: Any) -> Any:
        return [named] if isinstance(named, str) else named

    @field_validator("validation")
    @classmethod
    def _in_order(cls, named: _Validation) -> _Validation:
        if len(set(named)) < len(named):
            raise ValueError("must name each kind of rows once")
        return tuple(sorted(named))

    @field_validator("rule")
    @classmethod
    def _is_a_rule(cls, text: str) -> str:
        Rule.parse(text)
        return text

    @property
    def parsed(self) -> Rule:
        """The rule of choice."""
        return Rule.parse(self.rule)
