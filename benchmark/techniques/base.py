"""The contract of every fairness technique.

The public methods here validate what goes in and what comes out; a technique implements one private method
and cannot skip the checks. It never sees a test label, never runs itself and never stores anything.
"""

from __future__ import annotations

import functools
import inspect
import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Schema, Table
from benchmark.errors import BetabenchError, DeclinedError, TechniqueError

__all__ = [
    "Convergence",
    "Estimator",
    "Interval",
    "PreProcessing",
    "Predictor",
    "Prepared",
    "Stage",
    "Technique",
    "Tools",
]

Stage = Literal["pre", "in", "post"]
Value: TypeAlias = bool | int | float | str

_ROUNDING = 1e-9  # by how much a probability may lie outside of [0, 1]


class Estimator(Protocol):
    """What a technique may expect of a classifier: scikit-learn's interface on codes.

    ``X`` has shape (n_rows, n_features), type int16; ``y`` has shape (n_rows,) and holds 0 and 1, where 1 is
    the favorable label.
    """

    def fit(self, X: NDArray[np.int16], y: NDArray[np.int64], sample_weight: Any = None) -> object:
        """Train on codes."""

    def predict(self, X: NDArray[np.int16]) -> NDArray[np.int64]:
        """Return 0 or 1 for each row."""


@dataclass(frozen=True)
class Tools:
    """What a technique is handed to work with.

    Parameters
    ----------
    classifier : callable(cardinalities) -> Estimator
        Builds a fresh classifier for features of the given numbers of states, shape (n_features,).
    ranker : callable(Table) -> ndarray of float, shape (n_rows,)
        Estimates P(y+ | x) for the rows of a table from a model trained on that table.
    rng : numpy.random.Generator
        The only source of randomness that a technique may use.
    """

    classifier: Callable[[NDArray[np.int64]], Estimator]
    ranker: Callable[[Table], NDArray[np.float64]]
    rng: np.random.Generator


@dataclass(frozen=True)
class Convergence:
    """How an optimisation ended that did converge; one that did not raises ``NotConvergedError``.

    Parameters
    ----------
    steps : int
        How many steps it took.
    residual, tolerance : float
        What decided that it had converged, in the technique's own terms, and how large it might have been.
    """

    steps: int
    residual: float
    tolerance: float


@dataclass(frozen=True)
class Predictor:
    """A fitted technique.

    Parameters
    ----------
    predict : callable(Table) -> ndarray of bool, shape (n_rows,)
        Whether the favorable outcome is predicted for each row.
    predict_score : callable(Table) -> ndarray of float, shape (n_rows,), optional
        Estimate of P(y+ | x), finite, if the technique has one.
    convergence : Convergence, optional
        How the fit converged, if it optimised something.
    """

    predict: Callable[[Table], NDArray[np.bool_]]
    predict_score: Callable[[Table], NDArray[np.float64]] | None = None
    convergence: Convergence | None = None


@dataclass(frozen=True)
class Interval:
    """Valid range of a numeric parameter, both ends included.

    Parameters
    ----------
    low, high : float
        Ends of the range.
    """

    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"


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
        Whether it tells more than two groups apart; if not, everybody outside of the deprived group is one.
    needs_weights : bool, default False
        Whether the classifier has to take sample weights.
    needs_scores : bool, default False
        Whether the classifier has to estimate probabilities.
    needs_sensitive : bool, default True
        Whether predictions may depend on the sensitive feature of the rows to predict.
    produces_scores : bool, default True
        Whether it estimates P(y+ | x), given a classifier that does.
    may_lose_to_constant : str, default ""
        Why it may be right no more often than the better one of the two constant answers even where one
        feature tells the label; empty if it may not.
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
    needs_weights: ClassVar[bool] = False
    needs_scores: ClassVar[bool] = False
    needs_sensitive: ClassVar[bool] = True
    produces_scores: ClassVar[bool] = True
    may_lose_to_constant: ClassVar[str] = ""
    packages: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for name, rule in parameter_rules(type(self)).items():
            # Normalised, so that level=1 and level=1.0 are one configuration in the store.
            object.__setattr__(self, name, _checked_value(self, name, rule))

    @property
    def parameters(self) -> dict[str, Value]:
        """Values of all parameters by name, defaults included, sorted by name."""
        return {name: getattr(self, name) for name in sorted(parameter_rules(type(self)))}

    def skip(self, train: Table) -> str | None:
        """Return why the technique cannot run on a training table, or None if it can."""
        return None

    def fit(self, train: Table, tools: Tools) -> Predictor:
        """Train on a table.

        Parameters
        ----------
        train : Table
            Training rows with their labels.
        tools : Tools
            Classifier, ranker and random generator.

        Returns
        -------
        Predictor
            Its methods hide the label of every table that they are given before the technique sees it.

        Raises
        ------
        DeclinedError
            If the technique declines the table.
        TechniqueError
            If its predictions are malformed.
        """
        self._check_train(train)
        predictor = self._fit(train, tools)
        if not isinstance(predictor, Predictor):
            raise TechniqueError(
                f"{self.name} trained something else than a predictor",
                expected="Predictor(predict, ...)",
                got=type(predictor).__name__,
                remedy=f"correct {type(self).__name__}._fit",
            )
        return _guarded(self, predictor, train.schema)

    @abstractmethod
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        """Train; the input is already checked, the output will be."""

    def _check_train(self, train: Table) -> None:
        reason = one_class(train)
        if reason is None:
            reason = self.skip(train)
        if reason is not None:
            raise DeclinedError(f"{self.name} declines this table", got=reason)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training data as a pre-processing technique leaves it.

    Parameters
    ----------
    table : Table
        Rows to train on. Their schema is that of the original table, or another one with the same label and
        sensitive feature, into which ``transform`` then brings test rows.
    sample_weight : ndarray of float, shape (n_rows,), optional
        Weight of each row; all equal if left out.
    features : tuple of str, optional
        Columns that the classifier sees; all but the label if left out (the sensitive feature included).
    transform : callable(Table) -> Table, optional
        What is done to test rows before prediction; nothing if left out.
    convergence : Convergence, optional
        How the preparation converged, if it optimised something.
    """

    table: Table
    sample_weight: NDArray[np.float64] | None = None
    features: tuple[str, ...] | None = None
    transform: Callable[[Table], Table] | None = None
    convergence: Convergence | None = None
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

    def prepare(self, train: Table, tools: Tools) -> Prepared:
        """Return the changed training data.

        Parameters
        ----------
        train : Table
            Training rows with their labels; never changed.
        tools : Tools
            Classifier, ranker and random generator.

        Raises
        ------
        DeclinedError
            If the technique declines the table, or leaves no features or a single class of it.
        TechniqueError
            If what it prepares is malformed.
        """
        self._check_train(train)
        prepared = self._prepare(train, tools)
        if not isinstance(prepared, Prepared):
            raise TechniqueError(
                f"{self.name} prepared something else than training data",
                expected="Prepared(table, ...)",
                got=type(prepared).__name__,
                remedy=f"correct {type(self).__name__}._prepare",
            )
        flaw = _flaw(prepared, train)
        if flaw is not None:
            raise TechniqueError(
                f"{self.name} prepared data that cannot be trained on",
                got=flaw,
                remedy=f"correct {type(self).__name__}._prepare",
            )
        shortage = _shortage(prepared)
        if shortage is not None:
            raise DeclinedError(
                f"{self.name} leaves nothing to learn from",
                expected="features, and rows of both classes",
                got=shortage,
                remedy="draw a larger sample, or change the technique's parameters",
            )
        return prepared

    def learn(self, prepared: Prepared, tools: Tools) -> Predictor:
        """Train the classifier on prepared data: the second half of :meth:`fit`, apart so as to be timed."""
        schema = prepared.table.schema
        columns = list(prepared.feature_indices)
        classifier = tools.classifier(schema.cardinalities[columns])
        X, y = features_of(prepared.table, columns), prepared.table.y.astype(np.int64)
        if prepared.sample_weight is None:
            classifier.fit(X, y)  # so that estimators without weights serve techniques without weights
        else:
            classifier.fit(X, y, sample_weight=prepared.sample_weight)

        def features(test: Table) -> NDArray[np.int16]:
            return features_of(self._transformed(prepared, test), columns)

        decide, scored = decider_of(classifier, self.name), None
        if self.produces_scores and hasattr(classifier, "predict_proba"):
            score = scorer_of(classifier, self.name)

            def scored(test: Table) -> NDArray[np.float64]:
                return score(features(test))

        # Where the features are new ones, only the transform knows what it takes.
        predictor = Predictor(lambda test: decide(features(test)), scored, prepared.convergence)
        return _guarded(self, predictor, None if prepared.transform else schema)

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return self.learn(self.prepare(train, tools), tools)

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


@functools.cache
def parameter_rules(technique: type[Technique]) -> dict[str, Any]:
    """Return the declared type of each parameter of a technique, ``Annotated`` and ``Literal`` kept.

    Raises
    ------
    TechniqueError
        If a parameter has no default or no declared range.
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
            )
        if inspect.signature(technique).parameters[name].default is inspect.Parameter.empty:
            raise TechniqueError(f"The {name!r} parameter of {technique.__name__} has no default")
    return rules


def _checked_value(technique: Technique, name: str, rule: Any) -> Value:
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


def features_of(table: Table, columns: list[int]) -> NDArray[np.int16]:
    """Return the codes of some columns as a classifier takes them, shape (n_rows, n_columns)."""
    # Through the transpose, because picking rows of a C-ordered matrix keeps the table's column-major order.
    return table.codes.T[columns].T


def one_group(train: Table, consequence: str) -> str | None:
    """Return why a technique that compares the groups declines a table in which there is only one, or None.

    Parameters
    ----------
    train : Table
        Training rows.
    consequence : str
        What cannot be done, in small letters: ``"there is nobody to compare with"``.
    """
    members = int(np.count_nonzero(train.deprived))
    if 0 < members < len(train):
        return None
    return f"{members} of {len(train)} rows are of the deprived group: {consequence}"


def one_class(train: Table) -> str | None:
    """Return why nothing can be learned from a training table whose rows have one label, or None."""
    favorable = int(np.count_nonzero(train.y))
    if 0 < favorable < len(train):
        return None
    return f"nothing can be learned from rows of one class: {favorable} of {len(train)} are favorable"


def decider_of(classifier: Estimator, technique: str) -> Callable[[NDArray[np.int16]], NDArray[np.bool_]]:
    """Return what says for which features a trained classifier predicts the favorable label, shape (n_rows,).

    What it returns raises :class:`TechniqueError` in a technique's name where the classifier predicts
    anything but 0 and 1.
    """

    def decide(X: NDArray[np.int16]) -> NDArray[np.bool_]:
        label = np.asarray(classifier.predict(X))
        if label.shape == (len(X),):
            favorable = np.asarray(label == 1, dtype=np.bool_)
            wrong = np.flatnonzero(~(favorable | np.asarray(label == 0, dtype=np.bool_)))
            if not len(wrong):
                return favorable
            got = f"{len(wrong)} others among {len(X)}, the first of them {label[wrong[0]]!r}"
        else:
            got = f"an array of shape {label.shape}"
        raise TechniqueError(
            f"{technique} was given predictions that are no labels by {_class_of(classifier)}",
            expected=f"0 or 1 for each of {len(X)} rows",
            got=got,
            remedy="correct the classifier's predict, or choose another classifier",
        )

    return decide


def scorer_of(classifier: Estimator, technique: str) -> Callable[[NDArray[np.int16]], NDArray[np.float64]]:
    """Return what estimates P(y+ | x) from features as a trained classifier takes them, shape (n_rows,).

    Raises :class:`DeclinedError` in a technique's name if the classifier estimates no probabilities; what it
    returns raises :class:`TechniqueError` where the estimates are none.
    """
    if not hasattr(classifier, "predict_proba"):
        raise DeclinedError(
            f"{technique} needs the classifier's scores",
            expected="a classifier with predict_proba",
            got=_class_of(classifier),
            remedy="choose a classifier that estimates probabilities",
        )
    predict_proba = classifier.predict_proba

    def score(X: NDArray[np.int16]) -> NDArray[np.float64]:
        estimate = np.asarray(predict_proba(X), dtype=np.float64)
        if estimate.shape == (len(X), 2):
            favorable = np.ascontiguousarray(estimate[:, 1])
            # A comparison with NaN is false: no decision may come from one.
            wrong = np.flatnonzero(~((favorable >= -_ROUNDING) & (favorable <= 1 + _ROUNDING)))
            if not len(wrong):
                return favorable
            got = f"{len(wrong)} others among {len(X)}, the first of them {favorable[wrong[0]]:g}"
        else:
            got = f"an array of shape {estimate.shape}"
        raise TechniqueError(
            f"{technique} was given scores that are no probabilities by {_class_of(classifier)}",
            expected=f"two numbers from 0 to 1 for each of {len(X)} rows",
            got=got,
            remedy="correct the classifier's predict_proba, or choose another classifier",
        )

    return score


def _class_of(classifier: Estimator) -> str:
    """Return the name of a classifier's class, or of the one behind an encoding of codes."""
    return type(getattr(classifier, "estimator", classifier)).__name__


def _roles(schema: Schema) -> tuple[object, ...]:
    label, sensitive = schema.columns[schema.label_index], schema.columns[schema.sensitive_index]
    return label, sensitive, schema.favorable_label, schema.deprived_group


def _flaw(prepared: Prepared, train: Table) -> str | None:
    """Say what is wrong with prepared data, or None."""
    table, weight = prepared.table, prepared.sample_weight
    if table.schema != train.schema:
        if prepared.transform is None:
            return "another schema than the training table's, and no transform that brings test rows into it"
        if _roles(table.schema) != _roles(train.schema):
            return "another label or sensitive feature than the training table's"
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


def _shortage(prepared: Prepared) -> str | None:
    """Say what a classifier lacks in prepared data without flaws, or None."""
    if not prepared.feature_indices:
        return "no features"
    counted, weight = prepared.table.y, prepared.sample_weight
    if weight is not None:
        counted = counted[weight > 0]
    if not counted.any() or counted.all():
        return f"rows of one class only ({np.count_nonzero(counted)} favorable of {len(counted)})"
    return None


def _guarded(technique: Technique, predictor: Predictor, schema: Schema | None) -> Predictor:
    """Wrap a predictor so that it never sees labels and never returns anything malformed."""

    def visible(test: Table) -> Table:
        if schema is not None and test.schema != schema:
            raise TechniqueError(
                f"{technique.name} was given test rows of another schema than it was trained on",
                expected=", ".join(schema.names),
                got=", ".join(test.schema.names),
            )
        return test.hide_label()

    def predict(test: Table) -> NDArray[np.bool_]:
        predicted = np.asarray(predictor.predict(visible(test)))
        _check_output(technique, predicted, len(test), predicted.dtype == np.bool_, "bool")
        return predicted

    def predict_score(test: Table) -> NDArray[np.float64]:
        assert predictor.predict_score is not None
        score = np.asarray(predictor.predict_score(visible(test)))
        valid = score.dtype.kind == "f" and bool(np.isfinite(score).all())
        _check_output(technique, score, len(test), valid, "finite float")
        return score

    scored = predict_score if predictor.predict_score is not None else None
    return Predictor(predict, scored, predictor.convergence)


def _check_output(technique: Technique, output: NDArray[Any], rows: int, valid: bool, kind: str) -> None:
    if output.shape != (rows,) or not valid:
        raise TechniqueError(
            f"{technique.name} predicted something malformed",
            expected=f"{kind} array of shape ({rows},)",
            got=f"{output.dtype} array of shape {output.shape}",
        )


def declaration_flaws(technique: type[Technique]) -> list[str]:
    """Say what a class lacks to be registered as a technique, one sentence each."""
    if not (isinstance(technique, type) and issubclass(technique, Technique)):
        return ["it is not a subclass of Technique"]
    flaws = []
    missing = sorted(getattr(technique, "__abstractmethods__", ()))
    if missing:
        flaws.append(f"it is abstract: {', '.join(missing)} not implemented")
    for attribute in ("reference", "summary", "version"):
        value = getattr(technique, attribute, None)
        if not isinstance(value, str) or not value.strip():
            flaws.append(f"its class attribute {attribute!r} is not a text")
    if not isinstance(technique.may_lose_to_constant, str):
        flaws.append("its class attribute 'may_lose_to_constant' is not the reason in words")
    if getattr(technique, "stage", None) not in typing.get_args(Stage):
        flaws.append(f"its stage is none of {', '.join(typing.get_args(Stage))}")
    flaws += [
        f"{name!r} has no annotation, so that it is no parameter"
        for name, value in vars(technique).items()
        if isinstance(value, bool | int | float)
        and not hasattr(Technique, name)
        and not name.startswith("_")
        and name not in vars(technique).get("__annotations__", {})
    ]
    try:
        parameter_rules(technique)
        if not missing:
            technique()
    except BetabenchError as error:
        flaws.append(f"with its defaults it cannot be made: {error.what}")
    except NameError as error:
        flaws.append(f"a parameter's annotation cannot be resolved: {error}")
    return flaws
