"""The contract of every fairness technique.

The public methods check input and output. A technique implements one private method and cannot skip the
checks. It never sees a test label, never runs itself and never stores anything.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Schema, Table
from benchmark.errors import DeclinedError, TechniqueError
from benchmark.techniques.knowledge import NOTHING, Fact, Knowledge

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Array: TypeAlias = NDArray[np.float64]
Value: TypeAlias = bool | int | float | str
F = TypeVar("F", bound=Callable[..., Any])

Stage = Literal["pre", "in", "post"]

Ranker: TypeAlias = Literal["naive_bayes", "naive_bayes_blind", "classifier"]
"""Rankers of rows: naive Bayes on all columns, or on all but the sensitive ones, and the classifier."""

Features: TypeAlias = NDArray[np.int16] | NDArray[np.float64]
"""Features of a classifier: codes, or codes beside numbers."""

_ROUNDING = 1e-9  # a probability may lie outside of [0, 1] by this much


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread.

    More threads change the last digits of sums, and with them results. On small matrices they only wait for
    each other.
    """
    controller = _controller(len(sys.modules))
    # A look costs a tenth of a limit. Workers, and calls inside of others, have one thread already.
    if all(library.num_threads == 1 for library in controller.lib_controllers if library.user_api == "blas"):
        yield
        return
    with controller.limit(limits=1, user_api="blas"):
        yield


def in_one_thread(function: F) -> F:
    """Return a function that runs in one thread of linear algebra; unlike a context's, it can be pickled."""

    @functools.wraps(function)
    def limited(*arguments: Any, **keywords: Any) -> Any:
        with one_thread():
            return function(*arguments, **keywords)

    return typing.cast(F, limited)


@functools.lru_cache(maxsize=1)
def _controller(_n_modules: int) -> ThreadpoolController:
    """Return a controller of the loaded libraries; a new one after an import."""
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()


class Estimator(Protocol):
    """A classifier as techniques see it: scikit-learn's interface on codes.

    ``X`` has shape (n_rows, n_features), type int16, or float64 where numbers are among the features. ``y``
    has shape (n_rows,) and holds 1 for the favorable label, else 0.
    """

    def fit(self, X: Features, y: NDArray[np.int64], sample_weight: Any = None) -> object:
        """Train on codes."""

    def predict(self, X: Features) -> NDArray[np.int64]:
        """Return 0 or 1 for each row."""


def decider_of(classifier: Estimator, technique: str) -> Callable[[Features], NDArray[np.bool_]]:
    """Return a function that says which rows a trained classifier predicts favorable, shape (n_rows,).

    The function raises :class:`TechniqueError` in a technique's name if the classifier predicts anything but
    0 and 1.
    """

    def decide(X: Features) -> NDArray[np.bool_]:
        label = np.asarray(classifier.predict(X))
        if label.shape == (len(X),):
            favorable, unfavorable = (np.asarray(label == code, dtype=np.bool_) for code in (1, 0))
            if np.count_nonzero(favorable) + np.count_nonzero(unfavorable) == len(X):
                return favorable
            wrong = np.flatnonzero(~(favorable | unfavorable))
            got = f"{len(wrong)} others among {len(X)}, the first of them {label[wrong[0]]!r}"
        else:
            got = f"an array of shape {label.shape}"
        raise TechniqueError(
            f"{technique} got predictions that are no labels from {_class_of(classifier)}",
            expected=f"0 or 1 for each of {len(X)} rows",
            got=got,
            remedy="correct the classifier's predict, or choose another classifier",
        )

    return decide


def scorer_of(classifier: Estimator, technique: str) -> Callable[[Features], NDArray[np.float64]]:
    """Return a function from a trained classifier's features to its estimates of P(y+ | x), shape (n_rows,).

    Raises :class:`DeclinedError` in a technique's name if the classifier estimates no probabilities. The
    function raises :class:`TechniqueError` if the estimates are no probabilities.
    """
    if not hasattr(classifier, "predict_proba"):
        raise DeclinedError(
            f"{technique} needs the classifier's scores",
            expected="a classifier with predict_proba",
            got=_class_of(classifier),
            remedy="choose a classifier that estimates probabilities",
        )
    predict_proba = classifier.predict_proba

    def score(X: Features) -> NDArray[np.float64]:
        estimate = np.asarray(predict_proba(X), dtype=np.float64)
        if estimate.shape == (len(X), 2):
            favorable = np.ascontiguousarray(estimate[:, 1])
            # A comparison with NaN is false: no decision may come from one.
            if not len(X) or (favorable.min() >= -_ROUNDING and favorable.max() <= 1 + _ROUNDING):
                return favorable
            wrong = np.flatnonzero(~((favorable >= -_ROUNDING) & (favorable <= 1 + _ROUNDING)))
            got = f"{len(wrong)} others among {len(X)}, the first of them {favorable[wrong[0]]:g}"
        else:
            got = f"an array of shape {estimate.shape}"
        raise TechniqueError(
            f"{technique} got scores that are no probabilities from {_class_of(classifier)}",
            expected=f"two numbers from 0 to 1 for each of {len(X)} rows",
            got=got,
            remedy="correct the classifier's predict_proba, or choose another classifier",
        )

    return score


def _class_of(classifier: Estimator) -> str:
    """Return the name of a classifier's class; behind an encoding of codes, of the inner classifier."""
    return type(getattr(classifier, "estimator", classifier)).__name__


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


@dataclass(frozen=True)
class Interval:
    """Valid range of a numeric parameter, both ends included."""

    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"


@functools.cache
def parameter_rules(technique: type[Technique]) -> dict[str, Any]:
    """Return the declared type of each parameter of a technique, with ``Annotated`` and ``Literal``.

    Raises :class:`TechniqueError` if a parameter has no default or no declared range.
    """
    hints = typing.get_type_hints(technique, include_extras=True)
    rules = {f.name: hints[f.name] for f in fields(technique) if f.init}  # type: ignore[arg-type]
    for name, rule in rules.items():
        numeric = typing.get_origin(rule) is typing.Annotated and isinstance(rule.__metadata__[0], Interval)
        if not (rule is bool or typing.get_origin(rule) is Literal or numeric):
            raise TechniqueError(
                f"The {name!r} parameter of {technique.__name__} declares no valid range",
                expected="bool, Literal[...], or Annotated[float, Interval(...)] (or int)",
                got=str(rule),
                remedy="annotate it as one of these, or make it a ClassVar if it is no parameter",
            )
        if inspect.signature(technique).parameters[name].default is inspect.Parameter.empty:
            raise TechniqueError(
                f"The {name!r} parameter of {technique.__name__} has no default",
                expected="a valid value for when it is left out",
                remedy=f"declare it as '{name}: ... = value'",
            )
    return rules


def checked_value(technique: Technique, name: str, rule: Any) -> Value:
    """Return a parameter's valid value, normalized: 1 and 1.0 are one configuration in the store."""
    value = getattr(technique, name)
    if rule is bool:
        expected, valid = "True or False", isinstance(value, bool)
    elif typing.get_origin(rule) is Literal:
        choices = typing.get_args(rule)
        expected, valid = "one of " + ", ".join(map(repr, choices)), value in choices
    else:
        kind, interval = typing.get_args(rule)
        expected = f"{'an integer' if kind is int else 'a number'} in {interval}"
        accepted = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
        valid = (
            isinstance(value, accepted)
            and not isinstance(value, bool)
            and interval.low <= value <= interval.high  # False for NaN
        )
        value = kind(value) if valid else value
    if valid:
        return typing.cast(Value, value)
    default = inspect.signature(type(technique)).parameters[name].default
    raise TechniqueError(
        f"The {name!r} parameter of {type(technique).__name__} must be {expected}. Got {value!r} instead",
        remedy=f"correct it, or leave it out for its default {default!r}",
    )


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


def guarded(technique: Technique, predictor: Predictor, schema: Schema | None) -> Predictor:
    """Return a predictor that never sees labels and never returns anything malformed."""

    def visible(test: Table) -> Table:
        if schema is not None and test.schema != schema:
            raise TechniqueError(
                f"{technique.name} got test rows with a different schema from the training rows",
                expected=", ".join(schema.names),
                got=", ".join(test.schema.names),
            )
        return test.hide_label()

    @in_one_thread
    def predict(test: Table) -> NDArray[np.bool_]:
        return checked_decision(technique, predictor.predict(visible(test)), len(test))

    @in_one_thread
    def predict_score(test: Table) -> NDArray[np.float64]:
        assert predictor.predict_score is not None
        return checked_score(technique, predictor.predict_score(visible(test)), len(test))

    scored = predict_score if predictor.predict_score is not None else None
    return replace(predictor, predict=predict, predict_score=scored)


def checked_decision(technique: Technique, output: object, rows: int) -> NDArray[np.bool_]:
    """Return predictions; raises :class:`TechniqueError` unless they are a bool for each row."""
    decision = np.asarray(output)
    _check_output(technique, decision, rows, decision.dtype == np.bool_, "bool")
    return decision


def checked_score(technique: Technique, output: object, rows: int) -> NDArray[np.float64]:
    """Return scores; raises :class:`TechniqueError` unless they are a finite number for each row."""
    score = np.asarray(output)
    valid = score.dtype.kind == "f" and bool(np.isfinite(score).all())
    _check_output(technique, score, rows, valid, "finite float")
    return score


def _check_output(technique: Technique, output: NDArray[Any], rows: int, valid: bool, kind: str) -> None:
    if output.shape != (rows,) or not valid:
        raise TechniqueError(
            f"{technique.name} predicted something malformed",
            expected=f"{kind} array of shape ({rows},)",
            got=f"{output.dtype} array of shape {output.shape}",
        )


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


def _roles(schema: Schema) -> tuple[object, ...]:
    columns = (schema.columns[i] for i in (schema.label_index, *schema.sensitive_indices))
    return *columns, schema.favorable_label, schema.deprived_group


def flaw_of(prepared: Prepared, train: Table) -> str | None:
    """Return a flaw of prepared data in words, or None."""
    table, weight = prepared.table, prepared.sample_weight
    if table.schema != train.schema:
        if prepared.transform is None:
            return (
                "a different schema from the training table's, and no transform that brings test rows into it"
            )
        if _roles(table.schema) != _roles(train.schema):
            return "a different label or sensitive feature from the training table's"
    if len(table) == 0:
        return "no rows"
    if len(set(prepared.feature_indices)) < len(prepared.feature_indices):
        return f"features {prepared.features}, which repeat"
    if table.schema.label_index in prepared.feature_indices:
        return f"the label {table.schema.label!r} among the features"
    if weight is not None:
        if weight.shape != (len(table),):
            return f"weights of shape {weight.shape} for {len(table)} rows"
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            return "weights that are negative or not finite"
    return None


def shortage_of(prepared: Prepared) -> str | None:
    """Return the reason why a classifier cannot learn from prepared data without flaws, or None."""
    if not prepared.feature_indices:
        return "no features"
    counted, weight = prepared.table.y, prepared.sample_weight
    if weight is not None:
        counted = counted[weight > 0]
    if not counted.any() or counted.all():
        return f"rows of one class only ({np.count_nonzero(counted)} favorable of {len(counted)})"
    return None


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
