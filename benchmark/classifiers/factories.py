"""Classifiers by name, and the ranker.

A classifier has a short name (``c45``), or is named by the dotted path of a scikit-learn compatible class
(``sklearn.linear_model.LogisticRegression``). It takes integer codes. Classes that read codes as categories
get codes; all others get them one-hot encoded over all states, or as numbers. Some also take the numbers
behind binned columns.
"""

import importlib
import inspect
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.classifiers.built_in import BUILT_IN, ClassifierDeclaration
from benchmark.data.table import Table
from benchmark.errors import ClassifierError, unknown_parameter
from benchmark.registry import Registry

Encoding: TypeAlias = Literal["one_hot", "ordinal", "numbers"]
"""Encoding of codes for classes that take numbers. ``"one_hot"`` has a column for each state. ``"ordinal"``
has the code as a number, for trees, which cut ordered states where it is best. ``"numbers"`` has the numbers
behind bins, where there are any."""

_Features: TypeAlias = NDArray[np.int16] | NDArray[np.float64]

# Parameters, of a class or of its fit, that mark columns as categories.
_CATEGORICAL = ("categorical_features", "categorical_feature")

_REGISTRY: Registry[ClassifierDeclaration] = Registry(
    "classifier", ClassifierError, entry_points="betabench.classifiers"
)
for _entry in BUILT_IN:
    _REGISTRY.add(_entry.name, _entry)


def list_classifiers() -> dict[str, ClassifierDeclaration]:
    """Return all classifiers that have a short name, sorted by it."""
    return _REGISTRY.items()


class OneHotClassifier:
    """A scikit-learn classifier behind a one-hot encoding of codes, for features of the given cardinalities.

    The encoding has a column for every state, even if no training row has it. So the model has the same shape
    for every sample, and every test row can be encoded.
    """

    def __init__(self, estimator: Any, cardinalities: NDArray[np.int64]) -> None:
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.utils import get_tags

        self.estimator = estimator
        self._encoder = OneHotEncoder(
            categories=[np.arange(k) for k in cardinalities],
            sparse_output=bool(get_tags(estimator).input_tags.sparse),
        )
        self._fit_arguments: dict[str, Any] = {}

    def fit(
        self, X: _Features, y: NDArray[np.int64], sample_weight: NDArray[np.float64] | None = None
    ) -> Self:
        """Train on codes; raises :class:`ClassifierError` if the estimator cannot use weights."""
        encoded = self._encoder.fit_transform(X)
        if sample_weight is None:
            self.estimator.fit(encoded, y, **self._fit_arguments)
        elif _takes_weights(self.estimator):
            self.estimator.fit(encoded, y, sample_weight=sample_weight, **self._fit_arguments)
        else:
            raise ClassifierError(
                f"{type(self.estimator).__name__} cannot train on weighted rows",
                expected="a classifier whose fit accepts sample_weight",
                remedy="choose another classifier for techniques that weight rows",
            )
        return self

    def predict(self, X: _Features) -> NDArray[np.int64]:
        """Return the predicted class of each row, shape (n_rows,)."""
        return np.asarray(self.estimator.predict(self._encoder.transform(X)))

    @property
    def predict_proba(self) -> Any:
        """Class probabilities, shape (n_rows, 2); the attribute is absent if the estimator has none."""
        probabilities = self.estimator.predict_proba  # an AttributeError makes hasattr false
        return lambda X: probabilities(self._encoder.transform(X))


class NumbersClassifier(OneHotClassifier):
    """A scikit-learn classifier for codes beside numbers, which are the features of 0 states.

    A class with a parameter for categories gets all columns as they are; a column of more states than it
    distinguishes counts as a number. For other classes codes are one-hot encoded. Numbers stay as they are if
    the class takes NaN, as trees do. Otherwise each is scaled to mean 0 and variance 1 over the training
    rows. Missing numbers become the mean, and a further column marks them.
    """

    def __init__(self, estimator: Any, cardinalities: NDArray[np.int64]) -> None:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, StandardScaler
        from sklearn.utils import get_tags

        states, numbers = np.flatnonzero(cardinalities), np.flatnonzero(cardinalities == 0)
        super().__init__(estimator, cardinalities[states])
        of_class = [name for name in _CATEGORICAL if name in inspect.signature(type(estimator)).parameters]
        of_fit = [name for name in _CATEGORICAL if name in inspect.signature(estimator.fit).parameters]
        if of_class or of_fit:
            few = cardinalities[states] <= getattr(estimator, "max_bins", np.inf)
            marks = {name: states[few].tolist() for name in (*of_class, *of_fit)}
            self._encoder = FunctionTransformer()
            if of_class:
                estimator.set_params(**marks)
            else:
                self._fit_arguments = marks
            return
        tags = get_tags(estimator).input_tags
        imputer = SimpleImputer(add_indicator=True, keep_empty_features=True)
        scaled = "passthrough" if tags.allow_nan else make_pipeline(imputer, StandardScaler())
        self._encoder = ColumnTransformer(
            [("states", self._encoder, states), ("numbers", scaled, numbers)],
            # Trees take NaN in dense features only.
            sparse_threshold=float(tags.sparse and not tags.allow_nan),
        )


@dataclass(frozen=True)
class ClassifierFactory:
    """A declared classifier: builds fresh estimators and describes itself."""

    entry: ClassifierDeclaration
    parameters: dict[str, Any] = field(default_factory=dict)  # other than defaults, sorted by name
    encoding: Encoding = "one_hot"  # of codes, unless the class reads them as categories

    @cached_property
    def estimator_class(self) -> type[Any]:
        """The class of the built estimators."""
        return _import_class(self.entry.path)

    @cached_property
    def takes_weights(self) -> bool:
        """Whether built estimators train on weighted rows."""
        return _takes_weights(self.estimator_class)

    @cached_property
    def gives_scores(self) -> bool:
        """Whether built estimators give probabilities; it builds one, which may fail."""
        return hasattr(self.build(np.array([2]), 0), "predict_proba")

    def build(self, cardinalities: NDArray[np.int64], seed: int) -> Any:
        """Return an untrained estimator for features of given numbers of states, shape (n_features,).

        It has ``fit(X, y, sample_weight=None)`` and ``predict(X)``, and ``predict_proba(X)`` if the
        classifier has it. ``X`` holds codes; with the encoding ``"numbers"`` also numbers, as features of 0
        states. ``y`` holds 0 and 1. A randomized estimator gets the seed, 0 or more, modulo 2**32.
        """
        arguments = dict(self.parameters)
        if "random_state" in _defaults(self.estimator_class):
            arguments["random_state"] = seed % 2**32
        if self.entry.cardinality_parameter is not None:
            arguments[self.entry.cardinality_parameter] = np.asarray(cardinalities)
        estimator = self.estimator_class(**arguments)
        if self.entry.cardinality_parameter is not None or self.encoding == "ordinal":
            return estimator
        wrapper = NumbersClassifier if self.encoding == "numbers" else OneHotClassifier
        return wrapper(estimator, cardinalities)

    def describe(self) -> dict[str, Any]:
        """Return the classifier's identity in a store: class, version and parameters, as plain values.

        A short name and its path have the same identity, and so have a parameter's default and its absence.
        """
        encoding = {} if self.encoding == "one_hot" else {"encoding": self.encoding}
        return {
            "class": self.entry.path,
            "version": self.version,
            "parameters": dict(self.parameters),
            **encoding,
        }

    @property
    def version(self) -> str:
        """The class attribute ``version``, or the version of the class's package."""
        version = getattr(self.estimator_class, "version", None)
        if isinstance(version, str):
            return version
        package = importlib.import_module(self.entry.path.partition(".")[0])
        return str(getattr(package, "__version__", "unknown"))


def make_classifier(
    name: str, parameters: dict[str, Any] | None = None, encoding: Encoding = "one_hot"
) -> ClassifierFactory:
    """Return a factory for a classifier, by its short name or the dotted path of a scikit-learn class.

    Raises :class:`UnknownNameError` if a name without dots is unknown. Raises :class:`ClassifierError` if the
    path names no classifier, the class lacks a parameter, or the class reads codes as categories and an
    ``encoding`` is given.
    """
    by_path = {entry.path: entry for entry in list_classifiers().values()}
    if "." in name:
        entry = by_path.get(name) or ClassifierDeclaration(name.rpartition(".")[2].lower(), name, "")
    else:
        entry = _REGISTRY.get(name)
    defaults = _defaults(_import_class(entry.path, entry.extra))
    ours = {"random_state", entry.cardinality_parameter}
    accepted = sorted(set(defaults) - ours)
    given = dict(entry.settings) | (parameters or {})
    for parameter in parameters or {}:
        if parameter not in accepted:
            message = f"The classifier {name!r} has no parameter {parameter!r}"
            if parameter in ours:
                message = f"The benchmark itself sets the parameter {parameter!r} of {name!r}"
            raise unknown_parameter(ClassifierError, message, parameter, given[parameter], accepted)
    if encoding != "one_hot" and entry.cardinality_parameter is not None:
        raise ClassifierError(
            f"The classifier {name!r} reads states as categories, not as numbers",
            expected="no 'encoding'",
            got=f"encoding = {encoding!r}",
            remedy="leave it out, or choose a classifier of numbers, such as 'random_forest'",
        )
    changed = {p: given[p] for p in sorted(given) if p not in defaults or not _same(given[p], defaults[p])}
    return ClassifierFactory(entry, changed, encoding)


def naive_bayes_ranker(table: Table) -> NDArray[np.float64]:
    """Return P(y+ | x) of each row, shape (n_rows,), by naive Bayes trained on the same table.

    All columns but the label count, the sensitive feature included. The probabilities, with Laplace smoothing
    (one pseudo-count for each state and class), equal scikit-learn's ``CategoricalNB``. The logistic of sums
    from its log-probability tables is ten times faster than its ``predict_proba``.
    """
    from sklearn.naive_bayes import CategoricalNB

    model = CategoricalNB(min_categories=table.feature_schema.cardinalities)
    model.fit(table.features, table.y)
    if len(model.classes_) < 2:
        raise ClassifierError(
            "The ranker cannot learn from rows of one class",
            expected=f"both states of the label {table.schema.label!r}",
            got="only one",
        )
    log_odds = np.full(len(table), model.class_log_prior_[1] - model.class_log_prior_[0])
    for codes, (unfavorable, favorable) in zip(table.features.T, model.feature_log_prob_, strict=True):
        log_odds += (favorable - unfavorable)[codes]
    with np.errstate(over="ignore"):  # an infinite exp rightly gives the probability 0
        return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


def _import_class(path: str, extra: str = "") -> type[Any]:
    module, _, attribute = path.rpartition(".")
    try:
        classifier = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as problem:
        raise ClassifierError(
            f"The classifier {path!r} cannot be imported",
            expected="the dotted path of a class, such as sklearn.linear_model.LogisticRegression",
            got=f"{type(problem).__name__}: {problem}",
            remedy=f"pip install 'betabench[{extra}]'"
            if extra
            else "correct the path, or install the package",
        ) from problem
    from sklearn.base import ClassifierMixin

    if not (isinstance(classifier, type) and issubclass(classifier, ClassifierMixin)):
        raise ClassifierError(
            f"{path!r} names no classifier",
            expected="a class that derives from sklearn.base.ClassifierMixin",
            got=repr(classifier),
        )
    return classifier


def _takes_weights(estimator: Any) -> bool:
    return "sample_weight" in inspect.signature(estimator.fit).parameters


def _defaults(classifier: type[Any]) -> dict[str, Any]:
    """Return a class's parameters with their defaults."""
    parameters = inspect.signature(classifier).parameters.values()
    return {p.name: p.default for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _same(value: object, default: object) -> bool:
    # True equals 1 in Python, but not as a parameter.
    return value == default and isinstance(value, bool) == isinstance(default, bool)
