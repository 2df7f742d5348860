"""Checks of the contract: parameters, answers of classifiers and techniques; and the limit to one thread."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Schema, Table
from benchmark.errors import DeclinedError, TechniqueError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    from benchmark.techniques.base import Estimator, Features, Predictor, Prepared, Technique

Array: TypeAlias = NDArray[np.float64]
Value: TypeAlias = bool | int | float | str
F = TypeVar("F", bound=Callable[..., Any])

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
