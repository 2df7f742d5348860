"""The contract of every kind of planted bias."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from benchmark.data.row_facts import Judged, Score
from benchmark.data.table import Schema, Table
from benchmark.declarations import broken_rules
from benchmark.errors import BiasError
from benchmark.models import STRICT
from benchmark.network.model import Network
from benchmark.registry import Registry, class_flaws

Array: TypeAlias = NDArray[np.float64]
AKPINAR = (
    "Akpinar, Nagireddy, Stapleton, Cheng, Zhu, Wu and Heidari (2022), A sandbox tool to bias(stress)-test "
    "fairness algorithms, arXiv:2204.10233"
)
LEGAST = "Legast, Calders and Fouss (2025), Controlled bias, EWAF"


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows between two steps of a bias."""

    table: Table  # the recorded values so far
    before: Table  # all rows before anything was planted, including rows left out since
    positions: NDArray[np.intp]  # shape (n_rows,): positions of the rows in ``before``
    score: Score | None = None  # the number behind the label, where there is one
    # shape (n_rows,): nearness to the decision boundary, from 0 to 1, where a kind needs it:
    # :func:`benchmark.bias.borderline.nearness_to_boundary`.
    boundary: Array | None = None
    judged: Judged | None = None  # labels as people judged the rows, where the dataset's card names them

    @classmethod
    def of(
        cls,
        table: Table,
        score: Score | None = None,
        boundary: Array | None = None,
        judged: Judged | None = None,
    ) -> Rows:
        """Return rows whose recorded values are all true."""
        return cls(table, table, np.arange(len(table)), score, boundary, judged)

    @cached_property
    def deprived(self) -> NDArray[np.bool_]:
        """Membership in the true deprived group, whatever group is recorded, shape (n_rows,)."""
        return self.before.deprived[self.positions]

    @property
    def truth(self) -> Table:
        """The same rows with their true features and groups, and their recorded labels."""
        schema, label = self.table.schema, self.table.codes[:, self.table.schema.label_index]
        return self.before.take(self.positions).with_column(schema.label, label)

    @property
    def discrimination(self) -> float:
        """P(y+ | favored) - P(y+ | deprived) by the true groups; NaN if one of them has no rows."""
        favored, deprived = self.table.y[~self.deprived], self.table.y[self.deprived]
        return float(favored.mean() - deprived.mean()) if len(favored) and len(deprived) else math.nan

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Rows:
        """Return the rows of a mask, or of positions (repeats allowed)."""
        score = None if self.score is None else self.score.take(chosen)
        boundary = None if self.boundary is None else self.boundary[chosen]
        judged = None if self.judged is None else self.judged.take(chosen)
        return Rows(self.table.take(chosen), self.before, self.positions[chosen], score, boundary, judged)

    def in_groups(self, groups: NDArray[np.int16]) -> Rows:
        """Return the same rows as if they had always belonged to other groups.

        ``groups`` have shape (n_rows, n_sensitive_features), as codes.
        """
        table = self.table
        for name, codes in zip(table.schema.sensitive_features, groups.T, strict=True):
            table = table.with_column(name, codes)
        return Rows.of(table, self.score, self.boundary, self.judged)

    def apart(self, positions: NDArray[np.integer[Any]]) -> Rows:
        """Return the rows at some positions as they are now, as if no other rows existed."""
        rows = self.take(positions)
        return replace(rows, before=rows.table, positions=np.arange(len(rows.table)))


@dataclass(frozen=True)
class BiasEdit:
    """One edit of the label's conditional probabilities."""

    attribute: str  # a parent of the label: the sensitive feature itself or a proxy of it
    group: str  # the attribute's state to act on
    # ``deprive`` scales P(y+ | attribute = group) by (1 - beta), which is equation 4; ``favor`` scales P(y- |
    # attribute = group) by (1 - beta).
    direction: Literal["deprive", "favor"] = "deprive"
    # Behavior if the learned network has no edge from the attribute to the label: an error, or no bias (the
    # reason why the paper's COMPAS rows do not move with beta).
    if_not_parent: Literal["error", "ignore"] = "error"

    def __str__(self) -> str:
        sign = "y+" if self.direction == "deprive" else "y-"
        return f"P({sign} | {self.attribute} = {self.group}) × (1 - β)"


@dataclass(frozen=True, eq=False)
class Chances:
    """Probabilities that a step turns a row's label, and that it leaves the row out, by the row's label."""

    # turned, left_out: shape (n_rows, 2): the first column is for unfavorable labels, the second for
    # favorable ones. None means probability 0.
    turned: Array | None = None
    left_out: Array | None = None


def by_label(members: NDArray[np.bool_], *, unfavorable: float = 0.0, favorable: float = 0.0) -> Array:
    """Return probabilities for a group's members by their label, 0 for all others: shape (n_rows, 2)."""
    return np.outer(members, [unfavorable, favorable])


class BiasKind(BaseModel, ABC):
    """A way of planting a known amount of bias: one step of a :class:`~benchmark.bias.planting.Bias`.

    Annotated fields are its parameters, each with a default. A parameter that depends on the level of bias
    is a :class:`~benchmark.bias.parameters.Rate` or :class:`~benchmark.bias.parameters.Level`.

    A kind implements at least one of three methods: ``edited`` changes the network, ``chances`` makes labels
    wrong and rows missing, ``recorded`` changes features. The chances give both the samples and their exact
    discrimination.

    At beta = 0 nothing is planted, whatever the parameters say.
    """

    model_config = STRICT

    name: ClassVar[str]  # in the registry and in experiment files
    summary: ClassVar[str]  # one line for lists
    reference: ClassVar[str]  # the publication that it comes from
    version: ClassVar[str]  # changed whenever the same input and seed would give other samples
    edits_network: ClassVar[bool] = False  # whether it edits a network; on real rows its chances act
    widens: ClassVar[bool] = False  # whether it adds columns: also at beta = 0, without information
    acts_beyond_group: ClassVar[bool] = False  # whether it also acts on people outside its ``group``
    needs_boundary: ClassVar[bool] = False  # whether it needs ``Rows.boundary``, which only real rows have
    needs_judged: ClassVar[bool] = False  # whether it needs ``Rows.judged``, which some real rows have
    # Whether it is the bias that an audit recorded. It has no levels between 0 and 1, and needs rows whose
    # group was drawn at random.
    of_audit: ClassVar[bool] = False
    # Whether, with its default levels, a greater beta turns and leaves out as many rows or more.
    monotone: ClassVar[bool] = True

    @classmethod
    def example(cls, schema: Schema) -> Self:
        """Return a step for checks, with the parameters that have no usable default: an empty ``column``."""
        column = cls.model_fields.get("column")
        return cls(**({"column": some_feature(schema)} if column and column.default == "" else {}))

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error if it cannot act on rows of this schema: BiasError or UnknownNameError."""
        for value in self.parameters.values():
            if hasattr(value, "check"):  # groups
                value.check(schema)
        for name in self.looks_at(schema) or ():
            schema.column(name)

    def edited(self, network: Network, beta: float) -> Network:
        """Return the network that rows are drawn from."""
        return network

    def chances(self, rows: Rows, beta: float) -> Chances | None:
        """Return the chances of each row, or None if labels and number of rows stay as they are."""
        return None

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows as they are recorded, for training and test rows alike.

        Rows, their order, labels and the roles of columns stay as they are.
        """
        return table

    def looks_at(self, schema: Schema) -> tuple[str, ...] | None:
        """Return the columns besides the label on which the chances depend; None if on more than columns."""
        if self.needs_boundary or self.needs_judged:
            return None
        groups = [value.columns(schema) for value in self.parameters.values() if hasattr(value, "columns")]
        return tuple(name for names in groups for name in names)

    def acting_edits(self, network: Network) -> tuple[BiasEdit, ...]:
        """Return the edits that have an effect in a network."""
        return ()

    def description(self, network: Network | None) -> str:
        """Return in words what it does to rows of a network, or to real rows, with its parameters."""
        given = [f"{name} = {value}" for name, value in self.parameters.items() if name in self.given]
        return self.summary + (f" ({', '.join(given)})" if given else "")

    @property
    def parameters(self) -> dict[str, Any]:
        """Values of all parameters by name, defaults included."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    @property
    def given(self) -> frozenset[str]:
        """Names of the parameters that differ from their defaults."""
        fields = type(self).model_fields
        return frozenset(name for name, value in self.parameters.items() if value != fields[name].default)


def check_beta(beta: float) -> float:
    """Return ``beta`` as a float; raise :class:`BiasError` unless it lies in [0, 1]."""
    value = float(beta)
    if not 0.0 <= value <= 1.0:  # also refuses NaN
        raise BiasError(
            "The level of bias is out of range",
            expected="a beta from 0 (nothing planted) to 1 (probability scaled to zero)",
            got=repr(beta),
            remedy="correct 'betas' in the experiment file, or the value given to the command or function",
        )
    return value


def require_order(schema: Schema, column: str) -> None:
    """Raise an error unless a column's states have an order: BiasError or UnknownNameError."""
    if not schema.column(column).ordered:
        raise BiasError(
            f"The column {column!r} has no order, so that none of its states is low",
            expected="an ordered column: "
            + (", ".join(c.name for c in schema.columns if c.ordered) or "this dataset has none"),
            got=", ".join(schema.column(column).states),
            remedy="name another column",
        )


def require_feature(schema: Schema, column: str, kind: str) -> None:
    """Raise an error unless a column is a feature: BiasError or UnknownNameError."""
    roles = dict.fromkeys(schema.sensitive_features, "the sensitive feature")
    roles |= {schema.label: "the label", "": "no column"}
    if column in roles:
        raise BiasError(
            f"The bias kind {kind!r} acts on a feature",
            expected="one of " + ", ".join(name for name in schema.names if name not in roles),
            got=f"{column!r}, {roles[column]}",
            remedy="correct 'column' of the step",
        )
    schema.column(column)


def some_feature(schema: Schema) -> str:
    """Return the name of a feature: the first ordered one, else the first."""
    names = [c.name for c in schema.columns if c.name not in (schema.label, *schema.sensitive_features)]
    return next((name for name in names if schema.column(name).ordered), names[0])


def overrides(kind: BiasKind, method: str) -> bool:
    """Return whether a kind implements a method of the contract."""
    return getattr(type(kind), method) is not getattr(BiasKind, method)


def declaration_flaws(kind: type[BiasKind]) -> list[str]:
    """Return why a class cannot be registered as a kind of bias, one sentence for each flaw."""
    flaws = class_flaws(kind, BiasKind, "summary", "reference", "version")
    if flaws and not issubclass(kind, BiasKind):
        return flaws
    if not any(getattr(kind, m) is not getattr(BiasKind, m) for m in ("edited", "chances", "recorded")):
        flaws.insert(0, "it implements none of edited, chances and recorded")
    required = [name for name, field in kind.model_fields.items() if field.is_required()]
    return [*flaws, *(f"its parameter {name!r} has no default" for name in required)]


_LACKING = {
    "score": (
        "the number behind the label",
        "real rows of a dataset whose card names it",
        "rows without one, such as rows drawn from a network",
        "name its column with [score] in the dataset card and train on real rows, train = 'data' in the "
        "experiment file, or use another kind",
    ),
    "boundary": (
        "the rows' nearness to the decision boundary",
        "real rows: train = 'data' in an experiment file, --train data of 'betabench sample'",
        "rows without it, such as rows drawn from a network",
        "train on real rows, or use another kind; in Python, "
        "Rows.of(table, boundary=nearness_to_boundary(table, rng))",
    ),
    "judged": (
        "a second label, as people judged it",
        "real rows of a dataset whose card names it, as school_performance does",
        "rows without one, such as rows drawn from a network",
        "name its columns with [judged] in the dataset card and train on real rows, train = 'data' in the "
        "experiment file, or use another kind",
    ),
    "audit": (
        "rows whose group was drawn at random",
        "a dataset with audit = true in the experiment file, as ru_audit can have",
        "a dataset without it",
        "set audit = true if chance decided who belongs to which group, or use another kind",
    ),
}


def lacking(kind: str, need: Literal["score", "boundary", "judged", "audit"]) -> BiasError:
    """Return the error that rows lack what a kind of bias needs."""
    needed, expected, got, remedy = _LACKING[need]
    return BiasError(f"The bias kind {kind!r} needs {needed}", expected=expected, got=got, remedy=remedy)


K = TypeVar("K", bound=type[BiasKind])

_REGISTRY: Registry[type[BiasKind]] = Registry(
    "bias kind",
    BiasError,
    package="benchmark.bias",
    entry_points="betabench.bias_kinds",
    flaws=declaration_flaws,
)


def register(kind: K) -> K:
    """Register a kind of bias under its ``name``: the decorator of every kind.

    A BiasError means that the class is abstract, that its declaration is incomplete, or that its name is
    taken.
    """
    _REGISTRY.add(vars(kind).get("name"), kind)
    return kind


def make_step(name: str, parameters: Mapping[str, Any] | None = None) -> BiasKind:
    """Return a kind of bias by name, with parameters; all others take their defaults.

    An UnknownNameError means that no kind has the name, a BiasError that a parameter does not exist or has no
    valid value.
    """
    kind = _REGISTRY.get(name)
    try:
        return kind.model_validate(dict(parameters or {}))
    except ValidationError as error:
        rules = broken_rules(error, kind, parameters)
        raise BiasError(
            f"The bias kind {name!r} is given wrong parameters: " + "; ".join(rules),
            expected=", ".join(kind.model_fields) or "no parameters",
            remedy="correct the step; 'betabench list bias-kinds' shows parameters and defaults",
        ) from None


def list_bias_kinds() -> dict[str, type[BiasKind]]:
    """Return all kinds of bias by name, sorted by name."""
    return _REGISTRY.items()
