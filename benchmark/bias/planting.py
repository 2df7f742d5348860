"""Biases: ordered steps, and the biased rows that they make of a network's samples or of real rows."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from benchmark.bias.base import Array, BiasEdit, BiasKind, Chances, Rows, check_beta, make_step, overrides
from benchmark.bias.parameters import Level
from benchmark.data.table import CODE_DTYPE, Schema, Table
from benchmark.errors import BetabenchError, BiasError, UnknownNameError
from benchmark.network.model import Network, joint_distribution, sample

_MOST_CELLS = 1_000_000  # of a joint distribution that is computed exactly
_SIMULATED = 400_000  # rows of a simulation where it is not
_LEAST_KEPT = 1e-3  # share of drawn rows; with fewer, drawing a sample would take forever


@dataclass(frozen=True)
class Expected:
    """Expected properties of biased rows, by true groups."""

    discrimination: float  # P(y+ | favored) - P(y+ | deprived)
    deprived: float  # share of the rows that are of the deprived group
    kept: float  # share of the rows that are not left out
    favorable: float  # share of the rows that have the favorable label
    # Standard error of the discrimination, where it was simulated; 0 if the numbers are exact.
    error: float = 0.0

    @property
    def rates(self) -> tuple[float, float]:
        """Rates of the favorable label: P(y+ | deprived) and P(y+ | favored)."""
        deprived = self.favorable - (1 - self.deprived) * self.discrimination
        return deprived, deprived + self.discrimination


@dataclass(frozen=True, eq=False)
class Planted:
    """A network with bias of one level planted."""

    network: Network  # source of the rows; the learned network itself if no step edits it
    steps: tuple[BiasKind, ...]  # the steps that act on the drawn rows
    beta: float

    @cached_property
    def expected(self) -> Expected:
        """The expected properties of samples."""
        return _expected_of(self.network, self.steps, self.beta)

    def draw_rows(self, n_rows: int, rng: np.random.Generator) -> Rows:
        """Return a biased sample of ``n_rows`` rows, with the same rows before steps acted on them."""
        # New draws replace the rows that were left out.
        parts: list[Rows] = []
        missing = n_rows
        while missing or not parts:
            parts.append(_applied(self.steps, Rows.of(sample(self.network, missing, rng)), self.beta, rng))
            missing -= len(parts[-1].table)
        return parts[0] if len(parts) == 1 else _joined(parts)

    def draw(self, n_rows: int, rng: np.random.Generator) -> Table:
        """Return a biased sample of ``n_rows`` rows."""
        return self.draw_rows(n_rows, rng).table

    @property
    def discrimination(self) -> float:
        """The expected discrimination of the samples' labels."""
        return self.expected.discrimination


@dataclass(frozen=True)
class Bias:
    """Steps that plant bias one after another; a BiasError means that there is no step."""

    # At least one. Steps that edit the network come first, because rows are drawn from it.
    steps: tuple[BiasKind, ...]

    def __post_init__(self) -> None:
        if not self.steps:
            raise BiasError("A bias has no steps", expected="at least one", remedy="name a kind")

    @property
    def edits(self) -> tuple[BiasEdit, ...]:
        """Edits of the network's probabilities, from all steps."""
        return tuple(edit for step in self.steps for edit in getattr(step, "edits", ()))

    @property
    def edits_network(self) -> bool:
        """Whether a step edits the network."""
        return any(step.edits_network for step in self.steps)

    @property
    def needs_boundary(self) -> bool:
        """Whether a step needs the rows' nearness to the decision boundary."""
        return any(step.needs_boundary for step in self.steps)

    @property
    def of_audit(self) -> bool:
        """Whether a step is the bias that an audit recorded."""
        return any(step.of_audit for step in self.steps)

    @property
    def records_anew(self) -> bool:
        """Whether a step changes the recorded features, of test rows as well."""
        return any(overrides(step, "recorded") for step in self.steps)

    def observe(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return test rows as techniques see them: with the same labels, in the schema of training rows.

        They stay as they were if no step changes recorded features.
        """
        for step in _acting(self.steps, beta):
            table = step.recorded(table, beta, rng)
        return table

    def acting_edits(self, network: Network) -> tuple[BiasEdit, ...]:
        """Return the edits that act on a network."""
        return tuple(edit for step in self.steps for edit in step.acting_edits(network))

    def description(self, network: Network | None) -> str:
        """Return in words what is planted in a network, or in real rows."""
        return "; then ".join(step.description(network) for step in self.steps)

    def check(self, schema: Schema, betas: Iterable[float] = (), *, has_score: bool = False) -> None:
        """Raise an error unless every step can act on such rows, at every level."""
        levels = [beta for beta in betas if beta > 0]  # at 0 parameters do not act
        for name, step in self._named():
            with _naming(name):
                step.check(schema, has_score=has_score)
                if step.of_audit:
                    _require_all_or_nothing(step, levels)
                for parameter, value in step.parameters.items():
                    for beta in levels if isinstance(value, Level) else ():
                        with _naming(parameter):
                            value.at(beta)
                if overrides(step, "recorded") and (levels or step.widens):
                    # Later steps meet the columns and states that this step leaves.
                    row = Table(schema, np.zeros((1, len(schema.columns)), CODE_DTYPE))
                    beta = max(levels, default=0.0)
                    schema = step.recorded(row, beta, np.random.default_rng(0)).schema

    def plant(self, network: Network, beta: float) -> Planted:
        """Return a network with bias of level ``beta`` planted, from 0 (none) to 1.

        A BiasError means that beta is out of range, that a step cannot act on the network, that a group or
        one of the labels would have no rows, or that nearly all rows would be left out.
        """
        planted = self.plant_unchecked(network, beta)
        self._require_something(planted.expected)
        return planted

    def plant_unchecked(self, network: Network, beta: float) -> Planted:
        """Return the same as :meth:`plant`, without a check that samples have rows of all sorts."""
        beta = check_beta(beta)
        self._require_edits_first()
        self.check(network.schema, [beta])
        biased = network
        for name, step in self._named():
            with _naming(name):
                edited = step.edited(biased, beta) if step.edits_network else biased
                biased = edited if beta > 0 else biased
        return Planted(biased, tuple(step for step in self.steps if not step.edits_network), beta)

    def plant_in_rows(self, rows: Rows, beta: float, rng: np.random.Generator) -> Rows:
        """Return real rows with bias planted: with changed values, and without the rows left out.

        A BiasError means that beta is out of range, or that a step cannot act on the rows.
        """
        beta = check_beta(beta)
        self.check(rows.table.schema, [beta], has_score=rows.score is not None)
        return _applied(self.steps, rows, beta, rng)

    def check_hidden(self) -> None:
        """Raise a BiasError if this bias cannot be hidden: planted in rows that then count as original."""
        if self.records_anew:
            raise BiasError(
                f"The bias {', then '.join(step.name for step in self.steps)} cannot be hidden",
                expected="steps that turn labels or leave rows out",
                got="a step that changes the recorded features",
                remedy="leave 'hidden' out, or use another bias",
            )

    def expected_in_rows(self, rows: Rows, beta: float, *, hidden: float = 0.0) -> Expected:
        """Return the expected properties of the rows that :meth:`plant_in_rows` returns.

        Exact unless a step's chances depend on features that an earlier step has changed; then simulated.
        Given ``hidden``, bias of that level was planted in the same way before.
        """
        beta = check_beta(beta)
        self.check(rows.table.schema, [hidden, beta], has_score=rows.score is not None)
        weights = np.full(len(rows.table), 1 / len(rows.table))
        expected = _expected_in(rows, weights, self.steps, beta, hidden)
        self._require_something(expected)
        return expected

    def expectations_in_rows(self, rows: Rows, *, hidden: float = 0.0) -> Callable[[float], Expected]:
        """Return a faster :meth:`expected_in_rows` as a function of beta alone; it agrees up to rounding.

        Rows that the steps cannot tell apart are counted together.
        """
        schema = rows.table.schema
        self.check(schema, has_score=rows.score is not None)
        rows, weights = _distinct(self.steps, rows)

        @functools.cache
        def expected(beta: float) -> Expected:
            self.check(schema, [check_beta(beta)], has_score=rows.score is not None)
            properties = _expected_in(rows, weights, self.steps, beta, hidden)
            self._require_something(properties)
            return properties

        return expected

    def _named(self) -> Iterator[tuple[str, BiasKind]]:
        """Yield each step with a name for errors, which is empty if it is the only one."""
        for number, step in enumerate(self.steps, 1):
            yield f"Step {number} ({step.name})" if len(self.steps) > 1 else "", step

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
        flaw, got = "", ""
        if expected.kept < _LEAST_KEPT:
            flaw, got = "leaves out nearly all rows", f"a share of {expected.kept:g} that is left"
        elif not 0 < expected.deprived < 1 or math.isnan(expected.discrimination):
            group = "deprived" if expected.deprived == 0 else "favored"
            flaw, got = f"leaves no rows of the {group} group", "a group without rows"
        elif not 0 < expected.favorable < 1:
            flaw, got = "leaves only one label", f"a share of {expected.favorable:g} of favorable labels"
        if flaw:
            raise BiasError(
                f"The bias {', then '.join(step.name for step in self.steps)} {flaw}",
                expected="rows of both groups, and of both labels",
                got=got,
                remedy="plant less, or keep a share of each group and label",
            )


def make_bias(*steps: str | BiasKind) -> Bias:
    """Return a bias of some steps: kinds, or names of kinds that need no parameters."""
    return Bias(tuple(make_step(step) if isinstance(step, str) else step for step in steps))


@contextlib.contextmanager
def _naming(subject: str) -> Iterator[None]:
    """Let an error name the step or the parameter that it is about."""
    try:
        yield
    except BetabenchError as error:
        if subject:
            error.what = f"{subject}: {error.what}"
        raise


def _require_all_or_nothing(step: BiasKind, levels: Iterable[float]) -> None:
    """Raise an error if a level of a real bias lies between 0 and 1."""
    between = [beta for beta in levels if beta < 1]
    if between:
        raise BiasError(
            f"The bias {step.name!r} has no level between 0 and 1",
            expected="0, the favored group's rows alone, or 1, the rows of both groups",
            got=", ".join(f"{beta:g}" for beta in between),
            remedy="correct 'betas'; other kinds can plant less, as rate = \"0.2 * beta\" does",
        )


def _acting(steps: Sequence[BiasKind], beta: float) -> list[BiasKind]:
    """Return the steps that do something at a level of bias: at 0, the steps that add columns."""
    return [step for step in steps if beta > 0 or step.widens]


def _expected_of(network: Network, steps: Sequence[BiasKind], beta: float) -> Expected:
    steps = steps if beta > 0 else ()
    names = _exact_columns(steps, network.schema)
    if names is not None and math.prod(network.schema.column(n).cardinality for n in names) <= _MOST_CELLS:
        joint = joint_distribution(network, names)
        codes = np.stack(np.unravel_index(np.arange(joint.size), joint.shape), axis=1)
        possible = joint.ravel() > 0
        rows = _rows_of(network.schema, names, codes[possible])
        return _propagated(steps, rows, joint.ravel()[possible], beta)
    rng = np.random.default_rng(0)
    return _simulated(Rows.of(sample(network, _SIMULATED, rng)), steps, beta, rng)


def _expected_in(
    rows: Rows, weights: Array, steps: Sequence[BiasKind], beta: float, hidden: float = 0.0
) -> Expected:
    """Return the expected properties of rows with weights that sum to 1, equal if rows are simulated."""
    if hidden or beta == 0 or _is_exact(steps):  # a bias that changes recorded features is never hidden
        return _propagated(steps, rows, weights, hidden, beta)
    repeats = -(-_SIMULATED // len(rows.table))
    repeated = rows.take(np.tile(np.arange(len(rows.table)), repeats))
    return _simulated(repeated, steps, beta, np.random.default_rng(0))


def _distinct(steps: Sequence[BiasKind], rows: Rows) -> tuple[Rows, Array]:
    """Return the distinct rows by the columns that exact steps look at, and their shares; else all rows."""
    schema, n = rows.table.schema, len(rows.table)
    names = _exact_columns(steps, schema)
    if names is None:
        return rows, np.full(n, 1 / n)
    codes, counts = np.unique(
        rows.table.codes[:, [schema.index(name) for name in names]], axis=0, return_counts=True
    )
    return _rows_of(schema, names, codes), counts / n


def _exact_columns(steps: Sequence[BiasKind], schema: Schema) -> list[str] | None:
    """Return the columns on which exact expectations depend; None if they need a simulation or a score."""
    seen = [step.looks_at(schema) for step in steps if overrides(step, "chances")]
    if not _is_exact(steps) or any(names is None for names in seen):
        return None
    needed = {*schema.sensitive_features, schema.label, *(name for names in seen for name in names or ())}
    return [name for name in schema.names if name in needed]


def _is_exact(steps: Sequence[BiasKind]) -> bool:
    """Return whether no step's chances can depend on features that an earlier step has changed."""
    recorded = [overrides(step, "recorded") for step in steps]
    return not any(any(recorded[:i]) for i, step in enumerate(steps) if overrides(step, "chances"))


def _rows_of(schema: Schema, names: Sequence[str], codes: np.ndarray) -> Rows:
    """Return rows that have some columns of a schema alone."""
    columns = tuple(schema.column(name) for name in names)
    return Rows.of(Table(replace(schema, columns=columns), codes.astype(CODE_DTYPE)))


def _joined(parts: Sequence[Rows]) -> Rows:
    """Return rows that were drawn one part after another as one; parts of a network have no score."""
    starts = np.cumsum([0, *(len(part.before) for part in parts[:-1])])
    positions = np.concatenate([part.positions + start for part, start in zip(parts, starts, strict=True)])
    table, before = (
        Table(tables[0].schema, np.concatenate([table.codes for table in tables]))
        for tables in ([part.table for part in parts], [part.before for part in parts])
    )
    return Rows(table, before, positions)


def _applied(steps: Sequence[BiasKind], rows: Rows, beta: float, rng: np.random.Generator) -> Rows:
    for step in _acting(steps, beta):
        # Labels and rows first: features are recorded after the outcome.
        chances = step.chances(rows, beta)
        if chances is not None:
            rows = _drawn(rows, chances, rng)
        table = step.recorded(rows.table, beta, rng)
        rows = rows if table is rows.table else replace(rows, table=table)
    return rows


def _drawn(rows: Rows, chances: Chances, rng: np.random.Generator) -> Rows:
    """Return rows with labels turned and rows left out, each with one random number per row."""
    table, positions = rows.table, np.arange(len(rows.table))
    if chances.turned is not None:
        turned = rng.random(len(table)) < chances.turned[positions, table.y.astype(np.intp)]
        labels = table.codes[:, table.schema.label_index]
        rows = replace(
            rows, table=table.with_column(table.schema.label, np.where(turned, 1 - labels, labels))
        )
    if chances.left_out is not None:
        rows = rows.take(rng.random(len(table)) >= chances.left_out[positions, rows.table.y.astype(np.intp)])
    return rows


def _propagated(steps: Sequence[BiasKind], rows: Rows, weights: Array, *betas: float) -> Expected:
    """Return expectations from the probability of each row with each label, through steps at each level.

    Weights sum to 1 and have shape (n_rows,).
    """
    mass = np.zeros((len(weights), 2))
    mass[np.arange(len(weights)), rows.table.y.astype(np.intp)] = weights
    # After some steps a row may have either label, and a step's group may depend on the label.
    schema = rows.table.schema
    codes = (1 - schema.favorable_code, schema.favorable_code)
    with_label = [
        replace(rows, table=rows.table.with_column(schema.label, np.full(len(weights), c, CODE_DTYPE)))
        for c in codes
    ]
    for beta, step in ((beta, step) for beta in betas if beta > 0 for step in steps):
        after = np.zeros_like(mass)
        for label, labeled in enumerate(with_label):
            part, chances = np.zeros_like(mass), _chances_of(step, labeled, beta)
            part[:, label] = mass[:, label]
            if chances.turned is not None:
                moved = mass[:, label] * chances.turned[:, label]
                part[:, label] -= moved
                part[:, 1 - label] = moved
            after += part if chances.left_out is None else part * (1 - chances.left_out)
        mass = after
    favored, deprived = mass[~rows.deprived].sum(axis=0), mass[rows.deprived].sum(axis=0)
    return _of_counts(favored, deprived, 1.0)


def _chances_of(step: BiasKind, rows: Rows, beta: float) -> Chances:
    """Return a step's chances on rows that may have only the columns that it declares."""
    try:
        return step.chances(rows, beta) or Chances()
    except UnknownNameError as error:
        if error.name in (declared := step.looks_at(rows.table.schema) or ()):
            raise
        raise BiasError(
            f"The chances of the bias kind {step.name!r} depend on a column that it does not declare: "
            f"{error.name!r}",
            expected="looks_at(schema), which returns each column besides the label that chances reads",
            got=", ".join(map(repr, declared)) or "no columns",
            remedy="add to the class: def looks_at(self, schema): return (*super().looks_at(schema), "
            f"{error.name!r}); return None if the chances depend on more than columns",
        ) from error


def _of_counts(favored: Array, deprived: Array, drawn: float) -> Expected:
    """Return the expected properties of rows, from each group's rows by label, both shape (2,)."""
    n_favored, n_deprived = float(favored.sum()), float(deprived.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = np.divide(favored[1], n_favored) - np.divide(deprived[1], n_deprived)
        share = np.divide(n_deprived, n_favored + n_deprived)
        favorable = np.divide(favored[1] + deprived[1], n_favored + n_deprived)
    return Expected(float(difference), float(share), (n_favored + n_deprived) / drawn, float(favorable))


def _simulated(before: Rows, steps: Sequence[BiasKind], beta: float, rng: np.random.Generator) -> Expected:
    rows = _applied(steps, before, beta, rng)
    y, deprived = rows.table.y, rows.deprived
    counts = [np.bincount(y[members], minlength=2).astype(float) for members in (~deprived, deprived)]
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = sum(np.prod(by_label / by_label.sum()) / by_label.sum() for by_label in counts)
    expected = _of_counts(counts[0], counts[1], len(before.table))
    return replace(expected, error=float(np.sqrt(variance)))
