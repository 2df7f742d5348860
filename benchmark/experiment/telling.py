"""What techniques are told about a planted bias, with stated errors: the axis ``knows`` of an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, StrictInt, model_serializer, model_validator

from benchmark.models import STRICT, Identifier
from benchmark.techniques import Technique
from benchmark.techniques.knowledge import Fact, Kind, Knowledge, last_fact

EXAMINED: tuple[Fact, ...] = ("refusals", "clean_rows")
"""Facts about rows of a training sample that are looked at again."""
_DRAWS = 20  # of examined rows, in each training sample

# Fields besides the fact that say something of it.
_OF: Mapping[Fact, tuple[str, ...]] = {
    "gap": ("factor", "feared"),
    "rates": ("deprived", "favored"),
    "bounds": ("deprived", "width"),
    "refusals": ("m", "wrong", "draws"),
    "clean_rows": ("m", "wrong", "draws"),
}

Rate = Annotated[float, Field(ge=-1, le=1)]


class Telling(BaseModel):
    """One state of knowledge: a fact about the planted bias, exact or with a stated error.

    Direction and kind are told with every other fact. Techniques that declare the fact, and none that comes
    after it in :data:`~benchmark.techniques.knowledge.FACTS`, are run with this telling.
    """

    model_config = STRICT

    fact: Fact
    name: Identifier | Literal[""] = ""  # added to a technique's name
    title: str = ""  # what is told, in place of the words for it
    # Names of the entries that it is for; all that need the fact unless given.
    only: tuple[Identifier, ...] = ()
    # Whether the kind is told rightly, or the other one; a bias that does neither counts as one of labels.
    kind: Literal["right", "wrong"] = "right"
    factor: float = Field(default=1.0, ge=0)  # the told gap, as a multiple of the planted one
    feared: Rate | None = None  # a gap that is told whatever was planted
    deprived: Rate = 0.0  # added to the told rate, or to the middle of bounds, of the deprived group
    favored: Rate = 0.0  # the same of all other rows
    width: float = Field(default=0.05, gt=0, le=1)  # half the distance between the bounds
    m: StrictInt = Field(default=50, ge=1)  # number of rows that are looked at again, or all if fewer
    wrong: float = Field(default=0.0, ge=0, lt=0.5)  # share of these rows about which people err
    draws: StrictInt = Field(default=_DRAWS, ge=1)  # of the rows to look at; results are means over draws

    @model_validator(mode="before")
    @classmethod
    def _of_a_name(cls, data: Any) -> Any:
        return {"fact": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _fields_fit(self) -> Telling:
        fitting = {"fact", "name", "title", "only", "kind", *_OF.get(self.fact, ())}
        if foreign := sorted(self._changed.keys() - fitting):
            raise ValueError(f"{foreign[0]!r} says nothing of the fact {self.fact!r}")
        if self.feared is not None and self.factor != 1:
            raise ValueError("'factor' and 'feared' both say which gap is told; give one of the two")
        return self

    @property
    def _changed(self) -> dict[str, Any]:
        fields = type(self).model_fields
        return {name: value for name, value in self if value != fields[name].default}

    @model_serializer
    def _written(self) -> dict[str, Any]:
        return self._changed

    @property
    def n_draws(self) -> int:
        """How many times a technique is fitted to a training sample."""
        return self.draws if self.fact in EXAMINED else 1

    @property
    def words(self) -> str:
        """What is told, in words that follow "told". Techniques with the same words know as much."""
        errors = f"{self.deprived:+g} and {self.favored:+g}"
        times = {0.5: "half ", 1.0: "", 2.0: "twice "}.get(self.factor, f"{self.factor:g} times ")
        said = {
            "direction": "the direction",
            "kind": "the kind",
            "gap": f"{times}the gap" if self.feared is None else f"a gap of {self.feared:g}",
            "rates": "the rates" + (f", {errors}" if self.deprived or self.favored else ""),
            "bounds": f"the rate{f' {self.deprived:+g}' if self.deprived else ''} ±{self.width:g}",
            "refusals": f"{self.m} refusals",
            "clean_rows": f"{self.m} clean rows",
        }[self.fact]
        said += f", {100 * self.wrong:g} % wrong" if self.wrong else ""
        return self.title or said + (", wrong kind" if self.kind == "wrong" else "")

    def numbers(self, technique: Technique, planted: BiasEffect) -> Knowledge:
        """Return what a technique is told that does not depend on rows."""
        kind = planted.kind or "label"
        other: Kind = "selection" if kind == "label" else "label"
        gap = self.factor * planted.gap if self.feared is None else self.feared
        errors = self.deprived, self.favored
        rates = tuple(float(np.clip(rate + e, 0, 1)) for rate, e in zip(planted.true, errors, strict=True))
        bounds = tuple(float(np.clip(rates[0] + e, 0, 1)) for e in (-self.width, self.width))
        return Knowledge(
            direction=gap >= 0,
            kind=kind if self.kind == "right" else other,
            gap=gap,
            rates=rates,
            bounds=bounds,
        ).only(technique.knows)

    def key(self, technique: Technique, planted: BiasEffect) -> dict[str, Any]:
        """Return all that can change what a technique is told of a bias, besides the training rows."""
        drawn = ("m", "wrong", "draws") if self.fact in EXAMINED else ()
        return {**vars(self.numbers(technique, planted)), **{name: getattr(self, name) for name in drawn}}

    @property
    def exact(self) -> bool:
        """Whether the fact is told without an error."""
        return not self._changed.keys() & {"kind", "factor", "feared", "deprived", "favored", "wrong"}

    @property
    def state(self) -> str:
        """The state of knowledge as a short name, by its content alone: gap, half_gap, refusals_50."""
        share = {0.5: "half_", 1.0: "", 2.0: "twice_"}.get(self.factor, f"{self.factor:g}_times_")
        name = share + self.fact if self.feared is None else f"feared_{self.feared:g}"
        name += f"_{self.m}" if self.fact in EXAMINED else ""
        name += f"_wrong_{self.wrong:g}" if self.wrong else ""
        name += f"_{self.deprived:+g}_{self.favored:+g}" if self.deprived or self.favored else ""
        name += f"_{self.width:g}" if self.fact == "bounds" else ""
        return name + ("_wrong_kind" if self.kind == "wrong" else "")

    def tells(self, technique: type[Technique] | Technique, entry: str | None = None) -> bool:
        """Return whether a technique is run with this telling, in an entry if its name is given."""
        needed = bool(technique.knows) and last_fact(technique.knows) == self.fact
        return needed and (entry is None or not self.only or entry in self.only)


@dataclass(frozen=True)
class BiasEffect:
    """What a bias did, in expectation over all rows: the facts that techniques may be told."""

    kind: Kind | None  # None if it makes no label wrong and leaves out no row
    recorded: tuple[float, float]  # rates of the favorable label in both groups, the deprived one's first
    true: tuple[float, float]

    @property
    def gap(self) -> float:
        """By how much the deprived group's recorded rate is below its true one."""
        return self.true[0] - self.recorded[0]
