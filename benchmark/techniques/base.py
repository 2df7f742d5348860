"""The contract of every fairness technique.

The public methods here validate what goes in and what comes out; a technique implements one private method
and cannot skip the checks. It never sees a test label, never runs itself and never stores anything.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError, TechniqueError
from benchmark.techniques._checks import (
    Array,
    Interval,
    Once,
    Value,
    checked_value,
    decider_of,
    flaw_of,
    guarded,
    one_thread,
    parameter_rules,
    scorer_of,
    shortage_of,
)

__all__ = [
    "Array",
    "Convergence",
    "Estimator",
    "Features",
    "Interval",
    "PreProcessing",
    "Predictor",
    "Prepared",
    "Stage",
    "Technique",
    "Tools",
]

Stage = Literal["pre", "in", "post"]

Features: TypeAlias = NDArray[np.int16] | NDArray[np.float64]
"""What classifiers take: codes, or codes beside numbers."""


class Estimator(Protocol):
    """What a technique may expect of a classifier: scikit-learn's interface on codes.

    ``X`` has shape (n_rows, n_features), type int16, or float64 where numbers are among the features; ``y``
    has shape (n_rows,) and holds 0 and 1, where 1 is the favorable label.
    """

    def fit(self, X: Features, y: NDArray[np.int64], sample_weight: Any = None) -> object:
        """Train on codes."""

    def predict(self, X: Features) -> NDArray[np.int64]:
        """Return 0 or 1 for each row."""


@dataclass(frozen=True)
class Tools:
    """What a technique is handed to work with."""

    # Builds a fresh classifier for features of the given numbers of states, shape (n_features,); 0 is that of
    # a number. :meth:`learner` asks it and makes the features as well.
    classifier: Callable[[NDArray[np.int64]], Estimator]
    # shape (n_rows,): estimates P(y+ | x) for the rows of a table from a model trained on that table.
    ranker: Callable[[Table], NDArray[np.float64]]
    rng: np.random.Generator  # the only source of randomness that a technique may use

    def learner(
        self, train: Table, columns: list[int] | None = None
    ) -> tuple[Estimator, Callable[[Table], Features]]:
        """Return a fresh classifier, and what makes of rows the features that it takes, shape (n_rows, n).

        The features are ``columns`` of the training table, by position, or all but the label: as codes, and
        as numbers those of which the training table has them. A :class:`TechniqueError` says that rows to
        predict have none then.
        """
        columns = list(train.schema.feature_indices) if columns is None else columns
        cardinalities, kept = train.schema.cardinalities[columns], train.numbers and train.numbers.columns
        names = [train.schema.names[i] for i in columns]
        numeric = {place: name for place, name in enumerate(names) if kept and name in kept}
        if not numeric:
            classifier = self.classifier(cardinalities)
            # What asks for both copies what it takes; others get codes of their own, which they can write to.
            codes_of = shared_features_of if hasattr(classifier, "predict_both") else features_of
            return classifier, lambda table: codes_of(table, columns)
        cardinalities[list(numeric)] = 0

        def features(table: Table) -> Features:
            X = np.empty((len(table), len(columns)), order="F")
            X[:] = features_of(table, columns)
            for place, name in numeric.items():
                if table.numbers is None or name not in table.numbers.columns:
                    raise TechniqueError(
                        f"Rows to predict have no numbers of {name!r}, which was trained on as numbers",
                        expected="the numbers beside the codes, as in the training table",
                        got="codes alone",
                        remedy="change the column in training rows as well, or keep test rows as they are",
                    )
                X[:, place] = table.numbers.of(name)
            return X

        return self.classifier(cardinalities), features


@dataclass(frozen=True)
class Convergence:
    """How an optimization ended that did converge; one that did not raises ``NotConvergedError``."""

    steps: int  # how many steps it took
    # residual, tolerance: What decided that it had converged, in the technique's own terms, and how large it
    # might have been.
    residual: float
    tolerance: float


@dataclass(frozen=True)
class Predictor:
    """A fitted technique."""

    # shape (n_rows,): whether the favorable outcome is predicted for each row.
    predict: Callable[[Table], NDArray[np.bool_]]
    # shape (n_rows,): estimate of P(y+ | x), finite, if the technique has one.
    predict_score: Callable[[Table], NDArray[np.float64]] | None = None
    convergence: Convergence | None = None  # how the fit converged, if it optimized something


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Technique(ABC):
    """A fairness technique with its declaration and parameters.

    A subclass is a frozen dataclass without saying so. Its annotated fields are its keyword-only parameters;
    the annotation declares what is valid: ``bool``, a ``Literal`` of the choices, or
    ``Annotated[float, Interval(0, 1)]`` (``int`` likewise). Every parameter has a default.

    Attributes
    ----------
    name : str
        Name in the registry, in experiment files and in results.
    stage : {"pre", "in", "post"}
        Whether it changes the training data, the training, or the predictions.
    reference : str
        Citation of the publication that it implements.
    summary : str
        One line for lists.
    version : str
        Changed whenever the same input and seed would give another result.
    randomised : bool, default False
        Whether results depend on ``Tools.rng``; if not, they must not depend on the order of rows either.
    multi_group : bool, default False
        Whether it distinguishes more than two groups; if not, all rows outside of the deprived group are one.
    intersections : bool, default False
        Whether it takes a deprived group that several columns define, all of ``schema.sensitive_features``;
        if not, it declines it. Several states of one column are no intersection.
    needs_weights : bool, default False
        Whether the classifier has to take sample weights.
    needs_scores : bool, default False
        Whether the classifier has to estimate probabilities.
    needs_sensitive : bool, default True
        Whether predictions may depend on the sensitive feature of the rows to predict.
    produces_scores : bool, default True
        Whether it estimates P(y+ | x), given a classifier that does.
    needs_two_groups : str, default ""
        What it cannot do with rows of one group, in small letters, so that it declines them: "there are no
        groups to compare"; empty if it can do without.
    may_lose_to_constant : str, default ""
        Why it may be right no more often than the better one of the two constant answers even where one
        feature tells the label; empty if it may not.
    unconstrained : mapping of str to parameter value, optional
        Of a technique that trains a learner of its own and never asks for ``Tools.classifier``: parameters at
        which it is that learner without mitigation, those that make no difference then at their defaults
        among them. With ``baseline = "own"`` it is compared with that, and not with a classifier.
    packages : tuple of str, default ()
        Packages that it computes with besides NumPy, SciPy, scikit-learn and numba. Their versions, or their
        absence, are part of what identifies its results.

    Raises
    ------
    TechniqueError
        If a parameter lies outside its declared range.
    """

    name: ClassVar[str]
    stage: ClassVar[Stage]
    reference: ClassVar[str]
    summary: ClassVar[str]
    version: ClassVar[str]
    randomised: ClassVar[bool] = False
    multi_group: ClassVar[bool] = False
    intersections: ClassVar[bool] = False
    needs_weights: ClassVar[bool] = False
    needs_scores: ClassVar[bool] = False
    needs_sensitive: ClassVar[bool] = True
    produces_scores: ClassVar[bool] = True
    needs_two_groups: ClassVar[str] = ""
    may_lose_to_constant: ClassVar[str] = ""
    unconstrained: ClassVar[Mapping[str, Value] | None] = None
    packages: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for name, rule in parameter_rules(type(self)).items():
            object.__setattr__(self, name, checked_value(self, name, rule))

    @property
    def parameters(self) -> dict[str, Value]:
        """Values of all parameters by name, defaults included, sorted by name."""
        return {name: getattr(self, name) for name in sorted(parameter_rules(type(self)))}

    def skip(self, train: Table) -> str | None:
        """Return why the technique cannot run on a training table, or None if it can."""
        members = int(np.count_nonzero(train.deprived))
        if not self.needs_two_groups or 0 < members < len(train):
            return None
        return f"{members} of {len(train)} rows are of the deprived group: {self.needs_two_groups}"

    @one_thread()
    def fit(self, train: Table, tools: Tools) -> Predictor:
        """Train on rows with their labels, in one thread of linear algebra.

        The predictor hides the label of every table that it is given before the technique sees it. Raises
        :class:`DeclinedError` if the technique declines the table; malformed predictions will raise
        :class:`TechniqueError`.
        """
        self._check_train(train)
        predictor = self._fit(train, tools)
        self._demand_type(predictor, Predictor, "trained something else than a predictor", "_fit")
        return guarded(self, predictor, train.schema)

    @abstractmethod
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        """Train; the input is already checked, the output will be."""

    def _demand_type(self, made: object, kind: type, what: str, method: str) -> None:
        if not isinstance(made, kind):
            raise TechniqueError(
                f"{self.name} {what}",
                expected=f"{kind.__name__}({next(iter(kind.__annotations__))}, ...)",
                got=type(made).__name__,
                remedy=f"correct {type(self).__name__}.{method}",
            )

    def _check_train(self, train: Table) -> None:
        reason = unfit(self, train)
        if reason is None:
            reason = self.skip(train)
        if reason is not None:
            raise DeclinedError(f"{self.name} declines this table", got=reason)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training data as a pre-processing technique leaves it."""

    # Rows to train on. Their schema is that of the original table, or another one with the same label and
    # sensitive feature, into which ``transform`` then brings test rows.
    table: Table
    # shape (n_rows,): weight of each row; all equal if left out.
    sample_weight: NDArray[np.float64] | None = None
    # Columns that the classifier sees; all but the label if left out (the sensitive feature included).
    features: tuple[str, ...] | None = None
    # What is done to test rows before prediction; nothing if left out.
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

    @one_thread()
    def prepare(self, train: Table, tools: Tools) -> Prepared:
        """Return the changed training data; the rows given, with their labels, stay as they are.

        Raises :class:`DeclinedError` if the technique declines the table, or leaves no features or a single
        class of it, and :class:`TechniqueError` if what it prepares is malformed.
        """
        self._check_train(train)
        return self._prepared(train, tools)

    def _prepared(self, train: Table, tools: Tools) -> Prepared:
        """Change checked training data, and check what comes of it."""
        prepared = self._prepare(train, tools)
        self._demand_type(prepared, Prepared, "prepared something else than training data", "_prepare")
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

    @one_thread()
    def learn(self, prepared: Prepared, tools: Tools) -> Predictor:
        """Train the classifier on prepared data: the second half of :meth:`fit`, apart so as to be timed."""
        # Where the features are new ones, only the transform knows what it takes.
        schema = None if prepared.transform else prepared.table.schema
        return guarded(self, self._learned(prepared, tools), schema)

    def _learned(self, prepared: Prepared, tools: Tools) -> Predictor:
        """Train the classifier; what comes back is guarded by whoever hands it on."""
        classifier, features_of_rows = tools.learner(prepared.table, list(prepared.feature_indices))
        X, y = features_of_rows(prepared.table), prepared.table.y.astype(np.int64)
        if prepared.sample_weight is None:
            classifier.fit(X, y)  # so that estimators without weights serve techniques without weights
        else:
            classifier.fit(X, y, sample_weight=prepared.sample_weight)

        asked: tuple[Any, Any] = (None, None)

        def features(test: Table) -> Features:
            # The same object for the same rows, whose codes never change: predictions and scores are both
            # asked for.
            nonlocal asked
            if prepared.transform is not None:
                return features_of_rows(self._transformed(prepared, test))
            if asked[0] is not test.codes:
                asked = test.codes, features_of_rows(test)
            known: Features = asked[1]
            return known

        trained: Any = Once(classifier) if hasattr(classifier, "predict_both") else classifier
        decide, scored = decider_of(trained, self.name), None
        if self.produces_scores and hasattr(trained, "predict_proba"):
            score = scorer_of(trained, self.name)

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
    # Through the transpose, because picking rows of a C-ordered matrix keeps the table's column-major order.
    return table.codes.T[columns].T


def shared_features_of(table: Table, columns: list[int]) -> NDArray[np.int16]:
    """Return the same as `features_of`; where the columns are adjacent, the table's own codes, read-only."""
    first, last = columns[0], columns[-1]
    if columns == list(range(first, last + 1)):
        return table.codes[:, first : last + 1]
    return features_of(table, columns)


def unfit(technique: Technique, train: Table) -> str | None:
    """Return why a technique is not even asked about a training table, or None if it is.

    Nothing can be learned from rows of one label, and it may not take intersections.
    """
    if len(train.schema.sensitive_features) > 1 and not technique.intersections:
        crossed = " and ".join(train.schema.sensitive_features)
        return f"it takes groups of one column, and the deprived group is an intersection of {crossed}"
    favorable = int(np.count_nonzero(train.y))
    if 0 < favorable < len(train):
        return None
    return f"nothing can be learned from rows of one class: {favorable} of {len(train)} are favorable"
