"""Classifiers by name, and the ranker.

A classifier is named by a short name (``c45``) or by the dotted path of any scikit-learn compatible class
(``sklearn.linear_model.LogisticRegression``). Either way it takes integer codes: classes that read codes
as categories get them as they are, all others get them one-hot encoded over the known states, or as numbers.
Some take the numbers that bins were cut from beside them.
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
"""How classes of numbers get codes: a column for each state, the code itself as the one number, or, where
there are any, the numbers from which bins were cut."""

_Features: TypeAlias = NDArray[np.int16] | NDArray[np.float64]

# By which parameter, of the class or of its fit, a class is told which columns are categories.
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

    The encoding has a column for every known state, whether or not it occurs in the training rows: the model
    has the same shape for every sample, and no test row is a surprise.
    """

    def __init__(self, estimator: Any, cardinalities: NDArray[np.int64]) -> None:
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.utils import get_tags

        self.estimator = estimator
        self._encoder = OneHotEncoder(
            categories=[np.arange(k) for k in cardinalities],
            sparse_output=bool(get_tags(estimator).input_tags.sparse),
        )
        self._more: dict[str, Any] = {}  # for the estimator's fit

    def fit(
        self, X: _Features, y: NDArray[np.int64], sample_weight: NDArray[np.float64] | None = None
    ) -> Self:
        """Train on codes; raises :class:`ClassifierError` if the estimator cannot use weights."""
        encoded = self._encoder.fit_transform(X)
        if sample_weight is None:
            self.estimator.fit(encoded, y, **self._more)
        elif _takes_weights(self.estimator):
            self.estimator.fit(encoded, y, sample_weight=sample_weight, **self._more)
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
        probabilities = self.estimator.predict_proba  # AttributeError is the answer to hasattr
        return lambda X: probabilities(self._encoder.transform(X))


class NumbersClassifier(OneHotClassifier):
    """A scikit-learn classifier for codes beside numbers, which are the features of 0 states.

    A class that can be told which columns are categories gets all columns as they are; one of more states
    than it can tell apart counts as a number. For others codes are one-hot encoded, and numbers passed on as
    they are where the class takes NaN, as trees do. Where it does not, each is scaled to mean 0 and variance
    1 over the training rows, and of a column that lacks values there another column says where; their number
    is the mean.
    """

    def __init__(self, estimator: Any, cardinalities: NDArray[np.int64]) -> None:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, StandardScaler
        from sklearn.utils import get_tags

        states, numbers = np.flatnonzero(cardinalities), np.flatnonzero(cardinalities == 0)
        super().__init__(estimator, cardinalities[states])
        own = [name for name in _CATEGORICAL if name in inspect.signature(type(estimator)).parameters]
        of_fit = [name for name in _CATEGORICAL if name in inspect.signature(estimator.fit).parameters]
        if own or of_fit:
            few = cardinalities[states] <= getattr(estimator, "max_bins", np.inf)
            told = {name: states[few].tolist() for name in (*own, *of_fit)}
            self._encoder = FunctionTransformer()
            if own:
                estimator.set_params(**told)
            else:
                self._more = told
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

    entry: ClassifierDeclaration  # what is built
    # Its parameters that differ from their defaults, sorted by name.
    parameters: dict[str, Any] = field(default_factory=dict)
    encoding: Encoding = "one_hot"  # how it gets codes, unless it reads them as categories

    @cached_property
    def estimator_class(self) -> type[Any]:
        """The class that is built."""
        return _import_class(self.entry.path)

    @cached_property
    def _randomised(self) -> bool:
        return "random_state" in _defaults(self.estimator_class)

    @cached_property
    def takes_weights(self) -> bool:
        """Whether what is built can be trained on weighted rows."""
        return _takes_weights(self.estimator_class)

    @cached_property
    def gives_scores(self) -> bool:
        """Whether what is built estimates probabilities; raises what building it raises."""
        return hasattr(self.build(np.array([2]), 0), "predict_proba")

    def build(self, cardinalities: NDArray[np.int64], seed: int) -> Any:
        """Return an untrained estimator for features of these numbers of states, shape (n_features,).

        It has ``fit(X, y, sample_weight=None)`` and ``predict(X)``, and ``predict_proba(X)`` where the
        classifier has it; ``X`` holds codes, with the encoding ``"numbers"`` also numbers, which have 0
        states; ``y`` holds 0 and 1. The seed, 0 or more, is used modulo 2**32 where the estimator is
        randomised.
        """
        given = dict(self.parameters)
        if self._randomised:
            given["random_state"] = seed % 2**32
        if self.entry.cardinality_parameter is not None:
            given[self.entry.cardinality_parameter] = np.asarray(cardinalities)
            return self.estimator_class(**given)
        if self.encoding == "ordinal":
            return self.estimator_class(**given)
        wrapper = NumbersClassifier if self.encoding == "numbers" else OneHotClassifier
        return wrapper(self.estimator_class(**given), cardinalities)

    def describe(self) -> dict[str, Any]:
        """Return what identifies the classifier in a store: class, version and parameters, as plain values.

        A short name and the path that it stands for give the same answer, and so do a parameter's default
        and its absence.
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
        """The class's own ``version``, or that of the package it comes from."""
        own = getattr(self.estimator_class, "version", None)
        if isinstance(own, str):
            return own
        package = importlib.import_module(self.entry.path.partition(".")[0])
        return str(getattr(package, "__version__", "unknown"))


def make_classifier(
    name: str, parameters: dict[str, Any] | None = None, encoding: Encoding = "one_hot"
) -> ClassifierFactory:
    """Return a factory for a classifier.

    Parameters
    ----------
    name : str
        A short name, or the dotted path of a scikit-learn compatible class.
    parameters : dict, optional
        Parameters of the class.
    encoding : {"one_hot", "ordinal", "numbers"}, default "one_hot"
        Whether a class of numbers gets a column for each state; the code of the state as a number: for
        trees, which cut ordered states where it is best; or numbers as :class:`NumbersClassifier` says.

    Raises
    ------
    UnknownNameError
        If a name without dots is unknown.
    ClassifierError
        If the path names no classifier, the class does not have a parameter, or it reads codes as categories
        and is to have them as numbers.
    """
    by_path = {entry.path: entry for entry in list_classifiers().values()}
    if "." in name:
        entry = by_path.get(name) or ClassifierDeclaration(name.rpartition(".")[2].lower(), name, "")
    else:
        entry = _REGISTRY.get(name)
    defaults = _defaults(_import_class(entry.path, entry.extra))
    ours = {"random_state", entry.cardinality_parameter}
    known = sorted(set(defaults) - ours)
    given = dict(entry.settings) | (parameters or {})
    for parameter in parameters or {}:
        if parameter not in known:
            what = f"The classifier {name!r} has no parameter {parameter!r}"
            if parameter in ours:
                what = f"The parameter {parameter!r} of {name!r} is set by the benchmark"
            raise unknown_parameter(ClassifierError, what, parameter, given[parameter], known)
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
    """Estimate P(y+ | x) of each row by naive Bayes trained on the same table.

    All columns but the label are used, the sensitive feature included. The probabilities, shape (n_rows,),
    with Laplace smoothing (one pseudo-count for each state and class), are those of scikit-learn's
    ``CategoricalNB``, read from its log-probability tables as the logistic of a sum of log-odds, which is ten
    times faster than ``predict_proba``.
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
    with np.errstate(over="ignore"):  # exp of a large number is infinite, and its reciprocal rightly 0
        return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


def _import_class(path: str, extra: str = "") -> type[Any]:
    module, _, attribute = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
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

    if not (isinstance(found, type) and issubclass(found, ClassifierMixin)):
        raise ClassifierError(
            f"{path!r} names no classifier",
            expected="a class that derives from sklearn.base.ClassifierMixin",
            got=repr(found),
        )
    return found


def _takes_weights(estimator: Any) -> bool:
    return "sample_weight" in inspect.signature(estimator.fit).parameters


def _defaults(found: type[Any]) -> dict[str, Any]:
    """Return the class's parameters with their defaults."""
    parameters = inspect.signature(found).parameters.values()
    return {p.name: p.default for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _same(value: object, default: object) -> bool:
    # True equals 1 in Python, but not as a parameter.
    return value == default and isinstance(value, bool) == isinstance(default, bool)
