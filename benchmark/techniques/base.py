"""The contract of every fairness technique.

The public methods check input and output. A technique implements one private method and cannot skip the
checks. It never sees a test label, never runs itself and never stores anything.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError, TechniqueError
from benchmark.techniques._checks import Array as Array
from benchmark.techniques._checks import Interval as Interval
from benchmark.techniques._checks import (
    Value,
    checked_value,
    decider_of,
    flaw_of,
    guarded,
    in_one_thread,
    parameter_rules,
    scorer_of,
    shortage_of,
)
from benchmark.techniques.knowledge import NOTHING, Fact, Knowledge

Stage = Literal["pre", "in", "post"]

Ranker: TypeAlias = Literal["naive_bayes", "naive_bayes_blind", "classifier"]
"""Rankers of rows: naive Bayes on all columns, or on all but the sensitive ones, and the classifier."""

Features: TypeAlias = NDArray[np.int16] | NDArray[np.float64]
"""Features of a classifier: codes, or codes beside numbers."""


class Estimator(Protocol):
    """A classifier as techniques see it: scikit-learn's interface on codes.

    ``X`` has shape (n_rows, n_features), type int16, or float64 where numbers are among the features. ``y``
    has shape (n_rows,) and holds 1 for the favorable label, else 0.
    """

    def fit(self, X: Features, y: NDArray[np.int64], sample_weight: Any = None) -> object:
        """Train on codes."""

    def predict(self, X: Features) -> NDArray[np.int64]:
        """Return 0 or 1 for each row."""


@dataclass(frozen=True)
class Tools:
    """The tools of a technique: classifier, ranker, random numbers, and what it is told about the bias."""

    # Builds a fresh classifier for features of the given numbers of states, shape (n_features,); a number
    # has 0 states. :meth:`learner` calls it and makes the features as well.
    classifier: Callable[[NDArray[np.int64]], Estimator]
    # Estimates P(y+ | x) for the rows of a table from a model trained on that table, shape (n_rows,).
    ranker: Callable[[Table], NDArray[np.float64]]
    rng: np.random.Generator  # the only source of randomness that a technique may use
    # How many rows each training row stands for, shape (n_rows,); one if left out. Only techniques with
    # ``takes_weights`` get it. The caller multiplies the weights that they return by it.
    weights: NDArray[np.float64] | None = None
    known: Knowledge = NOTHING  # the facts about the bias that the technique declares in ``knows``, no others

    def learner(
        self, train: Table, columns: list[int] | None = None
    ) -> tuple[Estimator, Callable[[Table], Features]]:
        """Return a fresh classifier, and a function from rows to its features, shape (n_rows, n_columns).

        The features are the training table's ``columns``, by position, or all but the label. Columns for
        which the training table has numbers enter as numbers, others as codes. Rows to predict without
        these numbers are a :class:`TechniqueError`.
        """
        columns = list(train.schema.feature_indices) if columns is None else columns
        cardinalities = train.schema.cardinalities[columns]
        numbered = train.numbers.columns if train.numbers else ()
        names = [train.schema.names[i] for i in columns]
        numeric = {position: name for position, name in enumerate(names) if name in numbered}
        if not numeric:
            return self.classifier(cardinalities), lambda table: features_of(table, columns)
        cardinalities[list(numeric)] = 0

        def features(table: Table) -> Features:
            X = np.empty((len(table), len(columns)), order="F")
            X[:] = features_of(table, columns)
            for position, name in numeric.items():
                if table.numbers is None or name not in table.numbers.columns:
                    raise TechniqueError(
                        f"Rows to predict have no numbers of {name!r}, but training rows had",
                        expected="the numbers beside the codes, as in the training table",
                        got="codes alone",
                        remedy="change the column in training rows as well, or keep test rows as they are",
                    )
                X[:, position] = table.numbers.of(name)
            return X

        return self.classifier(cardinalities), features

    def ranked(self, train: Table, ranker: Ranker) -> NDArray[np.float64]:
        """Return a ranker's estimate of P(y+ | x) for each training row, shape (n_rows,).

        Raises :class:`DeclinedError` if the classifier estimates no probabilities.
        """
        if ranker == "classifier":
            return self.scorer(train, "the ranker")(train)
        if ranker == "naive_bayes_blind":
            # A column with one value everywhere says nothing about any row.
            for name in train.schema.sensitive_features:
                train = train.with_column(name, np.zeros(len(train), dtype=np.int16))
        return self.ranker(train)

    def scorer(self, train: Table, technique: str) -> Callable[[Table], NDArray[np.float64]]:
        """Return a function from rows to P(y+ | x), shape (n_rows,), by the classifier trained on ``train``.

        Raises :class:`DeclinedError` in the technique's name if the classifier estimates no probabilities.
        """
        classifier, features = self.learner(train)
        classifier.fit(features(train), train.y.astype(np.int64))
        score = scorer_of(classifier, technique)
        return lambda table: score(features(table))


@dataclass(frozen=True)
class Convergence:
    """End of an optimization that converged; one that did not raises ``NotConvergedError``."""

    steps: int  # number of steps
    residual: float  # value of the stopping criterion, which the technique defines
    tolerance: float  # largest residual that counts as converged


@dataclass(frozen=True)
class Predictor:
    """A fitted technique."""

    # Whether each row gets the favorable outcome, shape (n_rows,).
    predict: Callable[[Table], NDArray[np.bool_]]
    # Finite estimate of P(y+ | x), shape (n_rows,), if the technique has one.
    predict_score: Callable[[Table], NDArray[np.float64]] | None = None
    convergence: Convergence | None = None  # how the fit converged, if it optimized something


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Technique(ABC):
    """A fairness technique with its declaration and parameters.

    A subclass becomes a frozen dataclass by itself. Its annotated fields are its keyword-only parameters. The
    annotation declares valid values: ``bool``, a ``Literal`` of the choices, or
    ``Annotated[float, Interval(0, 1)]`` (``int`` likewise). Every parameter has a default. A value outside
    its declared range is a :class:`TechniqueError`. Comments above or behind fields document them.
    """

    name: ClassVar[str]  # name in the registry, in experiment files and in results
    stage: ClassVar[Stage]  # whether it changes the training data, the training, or the predictions
    reference: ClassVar[str]  # citation of the publication
    summary: ClassVar[str]  # one line for lists
    version: ClassVar[str]  # changed whenever the same input and seed would give another result
    # Whether results depend on ``Tools.rng``; if not, they must not depend on the order of rows either.
    randomised: ClassVar[bool] = False
    # Facts about the bias that it must be told, in ``Tools.known``; empty if it knows nothing.
    knows: ClassVar[tuple[Fact, ...]] = ()
    # Whether it distinguishes more than two groups; if not, all rows outside of the deprived group are one.
    multi_group: ClassVar[bool] = False
    # Whether it takes a deprived group that several columns define, all of ``schema.sensitive_features``; if
    # not, it declines the table. Several states of one column are no intersection.
    intersections: ClassVar[bool] = False
    needs_weights: ClassVar[bool] = False  # whether the classifier has to take sample weights
    # Whether training rows may have weights: it keeps all rows and labels, and counts by ``Tools.weights``.
    takes_weights: ClassVar[bool] = False
    needs_scores: ClassVar[bool] = False  # whether the classifier has to estimate probabilities
    # Whether predictions may depend on the sensitive feature of the rows to predict.
    needs_sensitive: ClassVar[bool] = True
    produces_scores: ClassVar[bool] = True  # whether it estimates P(y+ | x), given a classifier that does
    # Why it declines rows of one group, in small letters: "there are no groups to compare"; empty if it takes
    # them.
    needs_two_groups: ClassVar[str] = ""
    # Why it may be no more accurate than the better constant answer even where one feature tells the label;
    # empty if it may not.
    may_lose_to_constant: ClassVar[str] = ""
    # Parameters that switch mitigation off, for a technique that trains a learner of its own and never calls
    # ``Tools.classifier``. Parameters that make no difference then are among them, at their defaults. The
    # technique is compared with doing nothing with this learner.
    unconstrained: ClassVar[Mapping[str, Value] | None] = None
    # Packages that it needs besides NumPy, SciPy, scikit-learn and numba. Their versions, or their absence,
    # are part of the identity of its results.
    packages: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for name, rule in parameter_rules(type(self)).items():
            object.__setattr__(self, name, checked_value(self, name, rule))

    @property
    def parameters(self) -> dict[str, Value]:
        """Values of all parameters, defaults included, sorted by name."""
        return {name: getattr(self, name) for name in sorted(parameter_rules(type(self)))}

    def skip(self, train: Table) -> str | None:
        """Return the reason why the technique cannot run on a training table, or None if it can."""
        members = int(np.count_nonzero(train.deprived))
        if not self.needs_two_groups or 0 < members < len(train):
            return None
        return f"{members} of {len(train)} rows are of the deprived group: {self.needs_two_groups}"

    @in_one_thread
    def fit(self, train: Table, tools: Tools) -> Predictor:
        """Return the predictor trained on rows with their labels, in one thread of linear algebra.

        The predictor hides the label of every table before the technique sees it. Raises
        :class:`DeclinedError` if the technique declines the table. Malformed predictions will raise
        :class:`TechniqueError`.
        """
        self._check_train(train, tools)
        predictor = self._fit(train, tools)
        self._demand_type(predictor, Predictor, "_fit")
        return guarded(self, predictor, train.schema)

    @abstractmethod
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        """Train; the input is already checked, the output will be."""

    def _demand_type(self, result: object, kind: type, method: str) -> None:
        if not isinstance(result, kind):
            raise TechniqueError(
                f"{self.name} returned no {kind.__name__}",
                expected=f"{kind.__name__}({next(iter(kind.__annotations__))}, ...)",
                got=type(result).__name__,
                remedy=f"correct {type(self).__name__}.{method}",
            )

    def _check_train(self, train: Table, tools: Tools) -> None:
        off = self.unconstrained
        if self.knows and (off is None or any(getattr(self, name) != value for name, value in off.items())):
            tools.known.require(self.name, self.knows)
        reason = unfit(self, train) or self.skip(train)
        if reason is not None:
            raise DeclinedError(f"{self.name} declines this table", got=reason)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training data that a pre-processing technique prepared."""

    # Rows to train on. A schema other than the original one has the same label and sensitive feature, and
    # ``transform`` brings test rows into it.
    table: Table
    # Weight of each row, shape (n_rows,); all equal if left out.
    sample_weight: NDArray[np.float64] | None = None
    # Columns that the classifier sees; all but the label if left out (the sensitive feature included).
    features: tuple[str, ...] | None = None
    # Changes test rows before prediction; they stay if left out.
    transform: Callable[[Table], Table] | None = None
    convergence: Convergence | None = None  # how the preparation converged, if it optimized something
    feature_indices: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        schema = self.table.schema
        if self.features is None:
            object.__setattr__(self, "features", tuple(schema.names[i] for i in schema.feature_indices))
        assert self.features is not None
        object.__setattr__(self, "feature_indices", tuple(schema.index(name) for name in self.features))
        if self.sample_weight is not None:
            object.__setattr__(self, "sample_weight", np.asarray(self.sample_weight))


class PreProcessing(Technique):
    """A technique that changes the training data and leaves the classifier alone."""

    stage = "pre"

    @in_one_thread
    def prepare(self, train: Table, tools: Tools) -> Prepared:
        """Return the changed training data; ``train`` itself stays as it is.

        Raises :class:`DeclinedError` if the technique declines the table, or leaves no features or a single
        class, and :class:`TechniqueError` if the prepared data are malformed.
        """
        self._check_train(train, tools)
        return self._prepared(train, tools)

    def _prepared(self, train: Table, tools: Tools) -> Prepared:
        prepared = self._prepare(train, tools)
        self._demand_type(prepared, Prepared, "_prepare")
        flaw = flaw_of(prepared, train)
        if flaw is not None:
            raise TechniqueError(
                f"{self.name} prepared data that cannot be trained on",
                got=flaw,
                remedy=f"correct {type(self).__name__}._prepare",
            )
        shortage = shortage_of(prepared)
        if shortage is not None:
            raise DeclinedError(
                f"{self.name} leaves nothing to learn from",
                expected="features, and rows of both classes",
                got=shortage,
                remedy="draw a larger sample, or change the technique's parameters",
            )
        return prepared

    @in_one_thread
    def learn(self, prepared: Prepared, tools: Tools) -> Predictor:
        """Return the classifier trained on prepared data: the second half of :meth:`fit`, timed by itself."""
        # Where features are new, only the transform knows which schema it takes.
        schema = None if prepared.transform else prepared.table.schema
        return guarded(self, self._learned(prepared, tools), schema)

    def _learned(self, prepared: Prepared, tools: Tools) -> Predictor:
        """Return the trained classifier, which the caller still has to guard."""
        classifier, features_of_rows = tools.learner(prepared.table, list(prepared.feature_indices))
        X, y = features_of_rows(prepared.table), prepared.table.y.astype(np.int64)
        if prepared.sample_weight is None:
            classifier.fit(X, y)  # so that estimators without weights serve techniques without weights
        else:
            classifier.fit(X, y, sample_weight=prepared.sample_weight)

        def features(test: Table) -> Features:
            return features_of_rows(self._transformed(prepared, test))

        decide, scored = decider_of(classifier, self.name), None
        if self.produces_scores and hasattr(classifier, "predict_proba"):
            score = scorer_of(classifier, self.name)

            def scored(test: Table) -> Array:
                return score(features(test))

        return Predictor(lambda test: decide(features(test)), scored, prepared.convergence)

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return self._learned(self._prepared(train, tools), tools)

    @abstractmethod
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        """Change the training data; the input is already checked, the output will be."""

    def _transformed(self, prepared: Prepared, test: Table) -> Table:
        if prepared.transform is None:
            return test
        changed = prepared.transform(test)
        if changed.schema != prepared.table.schema or len(changed) != len(test):
            got = f"{len(changed)} rows for {len(test)}, or another schema"
        elif not np.array_equal(
            changed.codes[:, changed.schema.label_index], test.codes[:, test.schema.label_index]
        ):
            got = "a changed label column"
        else:
            return changed
        raise TechniqueError(
            f"{self.name} transformed test rows wrongly",
            expected="the same rows in the schema of the training rows, the label column untouched",
            got=got,
        )


def features_of(table: Table, columns: list[int]) -> NDArray[np.int16]:
    """Return the codes of some columns, shape (n_rows, n_columns)."""
    # Rows of the transpose, so that the result keeps the table's column-major order.
    return table.codes.T[columns].T


def with_labels(table: Table, y: NDArray[np.bool_]) -> Table:
    """Return a table with other labels, favorable where ``y`` says so, shape (n_rows,)."""
    code = table.schema.favorable_code
    return table.with_column(table.schema.label, np.where(y, code, 1 - code))


def unfit(technique: Technique, train: Table) -> str | None:
    """Return the reason why a technique cannot take the groups or labels of a training table, or None."""
    if len(train.schema.sensitive_features) > 1 and not technique.intersections:
        crossed = " and ".join(train.schema.sensitive_features)
        return f"it takes groups of one column, and the deprived group is an intersection of {crossed}"
    favorable = int(np.count_nonzero(train.y))
    if 0 < favorable < len(train):
        return None
    return f"nothing can be learned from rows of one class: {favorable} of {len(train)} are favorable"


_CELLS = (
    ("favored, unfavorable label", "favored, favorable label"),
    ("deprived, unfavorable label", "deprived, favorable label"),
)


def cell_counts(table: Table, weights: NDArray[np.float64] | None = None) -> NDArray[Any]:
    """Return the number of rows by group (deprived last) and label (favorable last), shape (2, 2).

    With ``weights``, shape (n_rows,), it is their sum.
    """
    cells = table.deprived.view(np.uint8) * 2 + table.y.view(np.uint8)
    return np.bincount(cells, weights, minlength=4).reshape(2, 2)


def empty_cell(counts: NDArray[np.int64], lack: str, needed: NDArray[np.bool_] | bool = True) -> str | None:
    """Return the name of the first empty cell that is needed, with the lack that it means; or None."""
    empty = np.argwhere((counts == 0) & needed)
    return next((f"no training row is ({_CELLS[d][y]}), {lack}" for d, y in empty), None)
