"""Biases: steps in their order, and what comes of them in samples of a network or in real rows."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from benchmark.bias.base import Array, BiasKind, Chances, Rows, overrides
from benchmark.bias.edits import BiasEdit, check_beta
from benchmark.bias.level import Level
from benchmark.data.table import CODE_DTYPE, Schema, Table
from benchmark.errors import BetabenchError, BiasError
from benchmark.network.inference import joint_distribution
from benchmark.network.model import Network
from benchmark.network.sampling import sample

_MOST_CELLS = 1_000_000  # of a joint distribution that is computed exactly
_SIMULATED = 400_000  # rows of a simulation where it is not
_LEAST_KEPT = 1e-3  # share of drawn rows; fewer would make samples endless


@dataclass(frozen=True)
class Expected:
    """What is expected of biased rows, by the group to which people belong in truth."""

    discrimination: float  # P(y+ | favored) - P(y+ | deprived)
    deprived: float  # share of the rows that are of the deprived group
    kept: float  # share of the rows that are not left out
    favorable: float  # share of the rows that have the favorable label
    # Standard error of the discrimination, where it was simulated; 0 if the numbers are exact.
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Planted:
    """A network with bias of one level planted."""

    network: Network  # what rows are drawn from; the learned one itself where bias acts on the drawn rows
    steps: tuple[BiasKind, ...]  # those that act on the drawn rows
    beta: float

    @cached_property
    def expected(self) -> Expected:
        """What samples have, in expectation."""
        return _expected_of(self.network, self.steps, self.beta)

    def draw_rows(self, n_rows: int, rng: np.random.Generator) -> Rows:
        """Draw a biased sample of ``n_rows`` rows, and what they were before steps acted on them."""
        # As many rows are drawn anew as were left out.
        parts: list[Rows] = []
        missing = n_rows
        while missing or not parts:
            parts.append(_applied(self.steps, Rows.of(sample(self.network, missing, rng)), self.beta, rng))
            missing -= len(parts[-1].table)
        return parts[0] if len(parts) == 1 else _joined(parts)

    def draw(self, n_rows: int, rng: np.random.Generator) -> Table:
        """Draw a biased sample of ``n_rows`` rows."""
        return self.draw_rows(n_rows, rng).table

    @property
    def discrimination(self) -> float:
        """That of the samples' labels, in expectation."""
        return self.expected.discrimination


@dataclass(frozen=True)
class Bias:
    """Steps that plant bias one after another.

    Raises
    ------
    BiasError
        If there is no step.
    """

    # At least one. Those that edit the network come first, because rows are drawn from it.
    steps: tuple[BiasKind, ...]

    def __post_init__(self) -> None:
        if not self.steps:
            raise BiasError("A bias has no steps", expected="at least one", remedy="name a kind")

    @property
    def edits(self) -> tuple[BiasEdit, ...]:
        """Edits of the network's probabilities, of all steps."""
        return tuple(edit for step in self.steps for edit in getattr(step, "edits", ()))

    @property
    def edits_network(self) -> bool:
        """Whether a step edits the network."""
        return any(step.edits_network for step in self.steps)

    @property
    def needs_boundary(self) -> bool:
        """Whether a step asks how near rows are to the decision boundary."""
        return any(step.needs_boundary for step in self.steps)

    @property
    def of_audit(self) -> bool:
        """Whether a step is what an audit recorded."""
        return any(step.of_audit for step in self.steps)

    @property
    def records_anew(self) -> bool:
        """Whether a step acts on what is known of people, of those that techniques are tested on as well."""
        return any(overrides(step, "recorded") for step in self.steps)

    def observe(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return what becomes of the rows that techniques are tested on.

        They are the same rows with the same labels, in the schema of the training rows: as they were where
        nothing acts on what is known of people.
        """
        for step in _acting(self.steps, beta):
            table = step.recorded(table, beta, rng)
        return table

    def acting_edits(self, network: Network) -> tuple[BiasEdit, ...]:
        """Return the edits that act on a network."""
        return tuple(edit for step in self.steps for edit in step.acting_edits(network))

    def description(self, network: Network | None) -> str:
        """Say in words what is planted in a network, or in real rows."""
        return "; then ".join(step.description(network) for step in self.steps)

    def check(self, schema: Schema, betas: Iterable[float] = (), *, has_score: bool = False) -> None:
        """Raise an error unless every step can act on such rows, at every level."""
        levels = [beta for beta in betas if beta > 0]  # at 0 parameters do not act
        for number, step in enumerate(self.steps, 1):
            with _naming(self, number):
                step.check(schema, has_score=has_score)
                if step.of_audit:
                    _require_all_or_nothing(step, levels)
                for name, value in step.parameters.items():
                    for beta in levels if isinstance(value, Level) else ():
                        _valid(name, value, beta)
                if overrides(step, "recorded") and (levels or step.widens):
                    # Later steps find the columns and states that this one leaves.
                    one = Table(schema, np.zeros((1, len(schema.columns)), CODE_DTYPE))
                    beta = max(levels, default=0.0)
                    schema = step.recorded(one, beta, np.random.default_rng(0)).schema

    def plant(self, network: Network, beta: float) -> Planted:
        """Plant bias of level ``beta``, from 0 (none) to 1, in a network.

        Raises
        ------
        BiasError
            If beta is out of range, a step cannot act on the network, a group or one of the labels would have
            no rows, or nearly all rows would be left out.
        """
        planted = self.plant_unchecked(network, beta)
        self._require_something(planted.expected)
        return planted

    def plant_unchecked(self, network: Network, beta: float) -> Planted:
        """Plant bias as :meth:`plant` does, without asking whether samples will have rows of all sorts."""
        beta = check_beta(beta)
        self._require_edits_first()
        self.check(network.schema, [beta])
        biased = network
        for number, step in enumerate(self.steps, 1):
            with _naming(self, number):
                edited = step.edited(biased, beta) if step.edits_network else biased
                biased = edited if beta > 0 else biased
        return Planted(biased, tuple(step for step in self.steps if not step.edits_network), beta)

    def plant_in_rows(self, rows: Rows, beta: float, rng: np.random.Generator) -> Rows:
        """Return biased rows of real ones: changed, and without those that are left out.

        Raises
        ------
        BiasError
            If beta is out of range, or a step cannot act on the rows.
        """
        beta = check_beta(beta)
        self.check(rows.table.schema, [beta], has_score=rows.score is not None)
        return _applied(self.steps, rows, beta, rng)

    def check_hidden(self) -> None:
        """Raise a BiasError if it cannot be planted in rows that are then taken for the original ones."""
        if self.records_anew:
            raise BiasError(
                f"The bias {', then '.join(step.name for step in self.steps)} cannot be hidden",
                expected="steps that turn labels or leave rows out",
                got="a step that changes what is recorded of people's features",
                remedy="leave 'hidden' out, or use another bias",
            )

    def expected_in_rows(self, rows: Rows, beta: float, *, hidden: float = 0.0) -> Expected:
        """Return what :meth:`plant_in_rows` makes of rows, in expectation.

        Exact unless a step's chances depend on what an earlier one has recorded anew; then it is simulated.
        Given ``hidden``, bias of that level was planted in the same way before.
        """
        beta = check_beta(beta)
        self.check(rows.table.schema, [hidden, beta], has_score=rows.score is not None)
        weights = np.full(len(rows.table), 1 / len(rows.table))
        expected = _expected_in(rows, weights, self.steps, beta, hidden)
        self._require_something(expected)
        return expected

    def expectations_in_rows(self, rows: Rows, *, hidden: float = 0.0) -> Callable[[float], Expected]:
        """Return what says what :meth:`expected_in_rows` does, to rounding, and is quick to ask often.

        Rows that the steps cannot tell apart are counted together.
        """
        schema = rows.table.schema
        self.check(schema, has_score=rows.score is not None)
        rows, weights = _distinct(self.steps, rows)

        @functools.cache
        def expected(beta: float) -> Expected:
            self.check(schema, [check_beta(beta)], has_score=rows.score is not None)
            found = _expected_in(rows, weights, self.steps, beta, hidden)
            self._require_something(found)
            return found

        return expected

    def _require_edits_first(self) -> None:
        editing = [step.edits_network for step in self.steps]
        if editing != sorted(editing, reverse=True):
            raise BiasError(
                "A bias edits the network after a step that acts on drawn rows",
                expected="steps that edit the network first",
                got=", then ".join(step.name for step in self.steps),
                remedy="change the order of the steps, or train on real rows",
            )

    def _require_something(self, expected: Expected) -> None:
        what, got = "", ""
        if expected.kept < _LEAST_KEPT:
            what, got = "leaves out nearly all rows", f"a share of {expected.kept:g} that is left"
        elif not 0 < expected.deprived < 1 or math.isnan(expected.discrimination):
            group = "deprived" if expected.deprived == 0 else "favored"
            what, got = f"leaves no rows of the {group} group", "a group without rows"
        elif not 0 < expected.favorable < 1:
            what, got = "leaves only one label", f"a share of {expected.favorable:g} of favorable labels"
        if what:
            raise BiasError(
                f"The bias {', then '.join(step.name for step in self.steps)} {what}",
                expected="rows of both groups, and of both labels",
                got=got,
                remedy="plant less, or keep a share of each group and label",
            )


@contextlib.contextmanager
def _naming(bias: Bias, number: int) -> Iterator[None]:
    """Let an error say which step of a bias it is about, where there are several."""
    try:
        yield
    except BetabenchError as error:
        if len(bias.steps) > 1:
            error.what = f"Step {number} ({bias.steps[number - 1].name}): {error.what}"
        raise


def _require_all_or_nothing(step: BiasKind, levels: Iterable[float]) -> None:
    """Raise an error if a level of a real bias lies between none of it and all of it."""
    between = [beta for beta in levels if beta < 1]
    if between:
        raise BiasError(
            f"The bias {step.name!r} has no level between 0 and 1",
            expected="0, the favored group's rows alone, or 1, the rows of both groups",
            got=", ".join(f"{beta:g}" for beta in between),
            remedy="correct 'betas'; other kinds can plant less, as rate = \"0.2 * beta\" does",
        )


def _valid(name: str, value: Level, beta: float) -> None:
    """Let the error of a value that is out of range name the parameter."""
    try:
        value.at(beta)
    except BiasError as error:
        error.what = f"{name}: {error.what}"
        raise


def _acting(steps: Sequence[BiasKind], beta: float) -> list[BiasKind]:
    """Return the steps that do something at a level of bias: at 0, those that add columns."""
    return [step for step in steps if beta > 0 or step.widens]


def _expected_of(network: Network, steps: Sequence[BiasKind], beta: float) -> Expected:
    schema = network.schema
    steps = steps if beta > 0 else ()
    seen = [step.looks_at(schema) for step in steps if overrides(step, "chances")]
    if _is_exact(steps) and all(names is not None for names in seen):
        looked_at = {*schema.sensitive_features, schema.label, *(n for names in seen for n in names or ())}
        names = [name for name in schema.names if name in looked_at]
        cells = math.prod(schema.column(name).cardinality for name in names)
        if cells <= _MOST_CELLS:
            rows, weights = _all_combinations(network, names)
            return _propagated(steps, rows, weights, beta)
    rng = np.random.default_rng(0)
    return _simulated(Rows.of(sample(network, _SIMULATED, rng)), steps, beta, rng)


def _expected_in(
    rows: Rows, weights: Array, steps: Sequence[BiasKind], beta: float, hidden: float = 0.0
) -> Expected:
    """Return what is expected of rows with weights that sum to 1; simulated rows have equal ones."""
    if hidden or beta == 0 or _is_exact(steps):  # what records anew is never hidden
        return _propagated(steps, rows, weights, hidden, beta)
    return _simulated(_repeated(rows, _SIMULATED), steps, beta, np.random.default_rng(0))


def _distinct(steps: Sequence[BiasKind], rows: Rows) -> tuple[Rows, Array]:
    """Return each combination of what exact steps look at once, and its share of the rows; else all rows."""
    schema, n = rows.table.schema, len(rows.table)
    seen = [step.looks_at(schema) for step in steps if overrides(step, "chances")]
    if not _is_exact(steps) or any(names is None for names in seen):
        return rows, np.full(n, 1 / n)
    looked_at = {*schema.sensitive_features, schema.label, *(n for names in seen for n in names or ())}
    names = [name for name in schema.names if name in looked_at]
    codes, counts = np.unique(
        rows.table.codes[:, [schema.index(name) for name in names]], axis=0, return_counts=True
    )
    columns = tuple(schema.column(name) for name in names)
    return Rows.of(Table(replace(schema, columns=columns), codes.astype(CODE_DTYPE))), counts / n


def _is_exact(steps: Sequence[BiasKind]) -> bool:
    """Whether no step's chances can depend on what an earlier step has recorded anew."""
    recorded = [overrides(step, "recorded") for step in steps]
    chances = [overrides(step, "chances") for step in steps]
    return not any(any(recorded[:i]) for i, own in enumerate(chances) if own)


def _joined(parts: Sequence[Rows]) -> Rows:
    """Return rows that were drawn one part after another as one; parts of a network have no score."""
    starts = np.cumsum([0, *(len(part.before) for part in parts[:-1])])
    kept = np.concatenate([part.kept + start for part, start in zip(parts, starts, strict=True)])
    table, before = (
        Table(tables[0].schema, np.concatenate([table.codes for table in tables]))
        for tables in ([part.table for part in parts], [part.before for part in parts])
    )
    return Rows(table, before, kept)


def _applied(steps: Sequence[BiasKind], rows: Rows, beta: float, rng: np.random.Generator) -> Rows:
    for step in _acting(steps, beta):
        # Labels and rows first: what is recorded of people comes after what has happened to them.
        chances = step.chances(rows, beta)
        if chances is not None:
            rows = _drawn(rows, chances, rng)
        table = step.recorded(rows.table, beta, rng)
        rows = rows if table is rows.table else replace(rows, table=table)
    return rows


def _drawn(rows: Rows, chances: Chances, rng: np.random.Generator) -> Rows:
    """Turn labels and leave rows out, each with one random number per row for either."""
    table, every = rows.table, np.arange(len(rows.table))
    if chances.turned is not None:
        turned = rng.random(len(table)) < chances.turned[every, table.y.astype(np.intp)]
        labels = table.codes[:, table.schema.label_index]
        rows = replace(
            rows, table=table.with_column(table.schema.label, np.where(turned, 1 - labels, labels))
        )
    if chances.left_out is not None:
        rows = rows.take(rng.random(len(table)) >= chances.left_out[every, rows.table.y.astype(np.intp)])
    return rows


def _propagated(steps: Sequence[BiasKind], rows: Rows, weights: Array, *betas: float) -> Expected:
    """Follow the probability of each row with each label through the steps, at one level after another.

    Weights sum to 1 and have shape (n_rows,).
    """
    mass = np.zeros((len(weights), 2))
    mass[np.arange(len(weights)), rows.table.y.astype(np.intp)] = weights
    # By then a row may have either label, and a step's group may be one of labels.
    schema = rows.table.schema
    codes = (1 - schema.favorable_code, schema.favorable_code)
    either = [
        replace(rows, table=rows.table.with_column(schema.label, np.full(len(weights), c, CODE_DTYPE)))
        for c in codes
    ]
    for beta, step in ((beta, step) for beta in betas if beta > 0 for step in steps):
        found = np.zeros_like(mass)
        for label, labelled in enumerate(either):
            own, chances = np.zeros_like(mass), step.chances(labelled, beta) or Chances()
            own[:, label] = mass[:, label]
            if chances.turned is not None:
                moved = mass[:, label] * chances.turned[:, label]
                own[:, label] -= moved
                own[:, 1 - label] = moved
            found += own if chances.left_out is None else own * (1 - chances.left_out)
        mass = found
    favored, deprived = mass[~rows.deprived].sum(axis=0), mass[rows.deprived].sum(axis=0)
    return _of_counts(favored, deprived, 1.0)


def _of_counts(favored: Array, deprived: Array, drawn: float) -> Expected:
    """Return what is expected where so many rows of each group have either label, both shape (2,)."""
    n_favored, n_deprived = float(favored.sum()), float(deprived.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = np.divide(favored[1], n_favored) - np.divide(deprived[1], n_deprived)
        share = np.divide(n_deprived, n_favored + n_deprived)
        favorable = np.divide(favored[1] + deprived[1], n_favored + n_deprived)
    return Expected(float(difference), float(share), (n_favored + n_deprived) / drawn, float(favorable))


def _simulated(before: Rows, steps: Sequence[BiasKind], beta: float, rng: np.random.Generator) -> Expected:
    rows = _applied(steps, before, beta, rng)
    y, deprived = rows.table.y, rows.deprived
    counts = [np.bincount(y[own], minlength=2).astype(float) for own in (~deprived, deprived)]
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = sum(np.prod(own / own.sum()) / own.sum() for own in counts)
    expected = _of_counts(counts[0], counts[1], len(before.table))
    return replace(expected, error=float(np.sqrt(variance)))


def _all_combinations(network: Network, names: Sequence[str]) -> tuple[Rows, Array]:
    """Return a row for each combination of some columns' states, and how probable each is."""
    schema = network.schema
    joint = joint_distribution(network, names)
    codes = np.stack(np.unravel_index(np.arange(joint.size), joint.shape), axis=1).astype(CODE_DTYPE)
    own = replace(schema, columns=tuple(schema.column(name) for name in names))
    possible = joint.ravel() > 0
    return Rows.of(Table(own, codes[possible])), joint.ravel()[possible]


def _repeated(rows: Rows, least: int) -> Rows:
    """Return rows so often that they are as many as a simulation wants."""
    every = np.tile(np.arange(len(rows.table)), -(-least // len(rows.table)))
    return rows.take(every)
