"""A technique with a classifier, as a scikit-learn estimator on data frames."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar, cast, get_args

import cloudpickle
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils import Tags, check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from benchmark import techniques
from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.classifiers.factories import Encoding, NumbersClassifier, OneHotClassifier
from benchmark.data.card_parts import NumericColumn
from benchmark.data.draft import least_favored
from benchmark.data.files import refuse_repeated
from benchmark.data.table import Column, Numbers, Schema, Table
from benchmark.errors import BetabenchError
from benchmark.estimator.column_states import (
    LearnedColumn,
    RowsError,
    learn_feature,
    learn_groups,
    text_of,
)
from benchmark.estimator.told import Told, UseError
from benchmark.registry import plugin_modules
from benchmark.seeding import axis_seed, generator
from benchmark.text.words import few

T = TypeVar("T")

_LABELS = ("unfavorable", "favorable")
_WITH_FUNCTIONS = (
    "technique_",
    "predictor_",
    "prepared_",
)  # attributes with code of a technique


def _packed(value: object) -> bytes:
    # A plugin's classes go with their code: another process cannot import their module.
    plugins = plugin_modules()
    for module in plugins:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(value))
    finally:
        for module in plugins:
            cloudpickle.unregister_pickle_by_value(module)


@contextlib.contextmanager
def _as_value_error() -> Iterator[None]:
    """Raise this package's errors as ValueErrors, too."""
    try:
        yield
    except BetabenchError as error:
        if isinstance(error, ValueError):
            raise
        details = {"expected": error.expected, "got": error.got, "remedy": error.remedy}
        raise UseError(error.what, **details) from error


def _only_if(available: Callable[[FairClassifier], bool]) -> Callable[[T], T]:
    """Return a decorator for methods that only some estimators have."""
    return cast(Callable[[T], T], available_if(available))


def _is_preprocessing(estimator: FairClassifier) -> bool:
    return issubclass(type(estimator._configured()), techniques.PreProcessing)


def _gives_scores(estimator: FairClassifier) -> bool:
    if hasattr(estimator, "predictor_"):
        return estimator.predictor_.predict_score is not None
    return estimator._configured().produces_scores


class FairClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fairness technique with a classifier, which trains on a data frame and decides on rows.

    On a card's states, it decides like the benchmark's cell of the same technique and classifier.
    Techniques work on states, so :meth:`fit` learns states for each column of ``X`` from the training rows.
    Pandas' categories stay, with their order. Other columns are read like a file of ``betabench quick``:
    numbers in bins, and rare values together. A classifier that takes numbers trains on the numbers
    themselves, wherever a technique leaves them as they are. A text such as "1,234" or "$5" is no number
    here: a warning says so. Every column is a feature: leave out identifiers, and columns that are known only
    after the outcome.

    In rows to predict, a number beyond those of the training rows is in the first or last bin; if most are, a
    warning asks for their unit. Any spelling of a missing value gets the state of missing values. A new value
    gets the state of rare values, else of missing values, else the column's most frequent state; a warning
    counts such rows. Several new values and no known one are an error, and so is a new or missing group.

    Parameters
    ----------
    technique : str, default "none"
        The name of a registered technique, as in ``betabench list techniques``, or of another library's
        technique, such as ``"aif360:Reweighing"``.
    sensitive : str or int
        The sensitive column of ``X``: its name, or its position where ``X`` is an array.
    deprived : value or list of values, optional
        The deprived group, by values of the sensitive column; everyone else is favored. By default, the group
        with the lowest rate of favorable labels, very small groups excepted.
    favorable : value, optional
        The class that is good for people; by default the class that sorts last, such as 1 or True.
    parameters : dict, optional
        The technique's parameters, by name; others take their defaults.
    classifier : str, dict or classifier of scikit-learn, default "c45"
        Short name or dotted path; an entry as in experiment files, such as ``{"classifier": "random_forest",
        "parameters": {"n_estimators": 50}}``; or an untrained classifier, which is cloned. It gets numbers,
        and a column of 0 and 1 for each other state, unless it reads states as categories. The ``encoding``
        of an entry says otherwise: ``"one_hot"``, ``"ordinal"`` or ``"numbers"``. Techniques with a learner
        of their own ignore it.
    random_state : int, Generator, RandomState or None, default 0
        Source of random numbers for technique and classifier. The same number, or a generator in the same
        state, gives the same model; None gives another model each time. A generator keeps its state.
    min_count : int, default 5
        Values of fewer training rows are put together; groups are not.
    told : dict, optional
        Facts about the bias in the training rows, of which the technique gets those that it declares to know:
        ``{"gap": 0.1, "kind": "label"}``, ``{"rates": {"F": 0.40, "M": 0.42}}``, or ``{"refusals": (rows,
        labels)}``, where ``rows`` are rows of ``X``, a frame, by its index, and ``labels`` are what ``y``
        should have been. :class:`~benchmark.techniques.knowledge.Knowledge` explains all.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        The classes, sorted.
    favorable_ : object
        The favorable class.
    schema_ : Schema
        The columns with their states, and the deprived group.
    technique_ : Technique
        The technique with all its parameters.

    Notes
    -----
    A pickled model can hold training rows: some techniques keep them.

    Techniques with random decisions, such as equalized odds, draw lots by a row's position in the table.
    Predict all rows in one table: the first row of every call has the same lot.

    Examples
    --------
    >>> model = FairClassifier("reweighing", sensitive="sex", deprived="f")
    >>> model.fit(X, y).predict(X_new)  # doctest: +SKIP
    >>> rates = {"f": 0.40, "m": 0.42}  # of people who should have been accepted
    >>> model = FairClassifier("rate_weights", sensitive="sex", deprived="f", told={"rates": rates})
    """

    def __init__(
        self,
        technique: str = "none",
        *,
        sensitive: str | int,
        deprived: Any = None,
        favorable: Any = None,
        parameters: Mapping[str, Any] | None = None,
        classifier: Any = "c45",
        random_state: Any = 0,
        min_count: int = 5,
        told: Mapping[techniques.Fact, Any] | None = None,
    ) -> None:
        self.technique = technique
        self.sensitive = sensitive
        self.deprived = deprived
        self.favorable = favorable
        self.parameters = parameters
        self.classifier = classifier
        self.random_state = random_state
        self.min_count = min_count
        self.told = told

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows with their labels.

        ``X``, a frame or an array of shape (n_rows, n_columns), holds the sensitive column. ``y``, shape
        (n_rows,), has two classes. ``sample_weight``, shape (n_rows,), says how many rows each row stands
        for. Techniques that draw, change or count rows refuse it; reweighing counts by it, and multiplies its
        own weights by it. Columns learn states and scales from rows without weights.

        Raises :class:`ValueError` if rows, labels, weights or groups are unfit for training, or the technique
        declines them. The error is also a :class:`~benchmark.errors.BetabenchError`, which says what to do.
        """
        technique, train, tools = self._learn(X, y, sample_weight)
        with _as_value_error():
            if tools.weights is None:
                self.predictor_: techniques.Predictor = technique.fit(train, tools)
            else:
                assert isinstance(technique, techniques.PreProcessing)
                self.predictor_ = technique.learn(_prepared(technique, train, tools), tools)
        self.technique_ = technique
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, shape (n_rows,)."""
        table = self._rows(X)
        with _as_value_error():
            favorable = self.predictor_.predict(table)
        return self._classes_of(favorable)

    @_only_if(_gives_scores)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class in each row, shape (n_rows, 2); some techniques have none."""
        table = self._rows(X)
        score = self.predictor_.predict_score
        assert score is not None
        with _as_value_error():
            favorable = score(table)
        columns = (1 - favorable, favorable) if self._favorable_index else (favorable, 1 - favorable)
        return np.column_stack(columns)

    @_only_if(_is_preprocessing)
    def prepare(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[pd.DataFrame, NDArray[Any], NDArray[np.float64]]:
        """Return training data that a pre-processing technique prepared: rows, labels and weights.

        The rows hold states, without the columns that the technique hides from the classifier. If a technique
        weights rows or changes labels, the rows of ``X`` keep their order, so labels and weights fit ``X`` as
        well. Parameters and errors are as of :meth:`fit`; no classifier is trained.
        """
        technique, train, tools = self._learn(X, y, sample_weight)
        assert isinstance(technique, techniques.PreProcessing)
        with _as_value_error():
            self.prepared_: techniques.Prepared = _prepared(technique, train, tools)
        prepared = self.prepared_
        labels, weights = self._classes_of(prepared.table.y), prepared.sample_weight
        weights = np.ones(len(labels)) if weights is None else weights.copy()
        return prepared.table.to_frame()[list(prepared.features or ())], labels, weights

    @_only_if(_is_preprocessing)
    def prepare_new(self, X: Any) -> pd.DataFrame:
        """Return rows to predict for a classifier that was trained on the result of :meth:`prepare`."""
        table, prepared = self._rows(X, fitted="prepared_"), self.prepared_
        changed = table if prepared.transform is None else prepared.transform(table)
        return changed.to_frame()[list(prepared.features or ())]

    @property
    def _favorable_index(self) -> int:
        return int(self.classes_[1] == self.favorable_)

    def _classes_of(self, favorable: NDArray[np.bool_]) -> NDArray[Any]:
        index = self._favorable_index
        return np.asarray(self.classes_[np.where(favorable, index, 1 - index)])

    def _learn(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[techniques.Technique, Table, techniques.Tools]:
        """Return the technique, training rows as a table with roles, and tools; it learns the columns."""
        technique = self._configured()
        frame = self._frame(X, reset=True)
        favorable = self._learn_classes(y, len(frame))
        sensitive = self._sensitive_index(frame)
        names = list(map(str, frame.columns))
        with _as_value_error():
            refuse_repeated({name for name in names if names.count(name) > 1})
        values = frame.iloc[:, sensitive]
        groups, deprived = learn_groups(names[sensitive], values, self.deprived)
        self._columns = [
            groups if i == sensitive else learn_feature(name, frame.iloc[:, i], self.min_count)
            for i, name in enumerate(names)
        ]
        takes_numbers, _ = self._learner()
        numeric = [isinstance(own.spec, NumericColumn) for own in self._columns]
        self._numbered = np.flatnonzero(numeric).tolist() if takes_numbers else []
        codes = [column.codes(frame.iloc[:, i]) for i, column in enumerate(self._columns)]
        if not deprived:
            deprived = (_least_favored(groups.column.states, codes[sensitive], favorable),)
        with _as_value_error():
            self.schema_ = _schema(self._columns, sensitive, deprived)
            table = self._table(frame, [*codes, favorable.astype(np.int16)])
        index, weights = X.index if isinstance(X, pd.DataFrame) else None, self._weights(sample_weight, table)
        told = Told(table, index, [*map(text_of, values)], self._favorable, weights)
        return technique, table, self._tools(weights, told.knowledge(self.told, technique))

    def _learn_classes(self, y: ArrayLike, n_rows: int) -> NDArray[np.bool_]:
        """Learn the classes; return whether each label is the favorable one."""
        if y is None:
            raise ValueError(
                "This FairClassifier estimator requires y to be passed, but the target y is None"
            )
        if not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype):
            y = np.asarray(y, dtype=object)  # of one of pandas' own types
        labels = column_or_1d(y, warn=True)
        if pd.isna(labels).any():
            raise RowsError(
                "Input y contains NaN: some rows have no label",
                expected="a label for each training row",
                remedy="leave these rows out",
            )
        if labels.dtype == object:
            labels = pd.Series(labels).infer_objects().to_numpy()
            if labels.dtype == object and len(types := {type(label).__name__ for label in labels}) > 1:
                raise RowsError(
                    "The labels have several types",
                    expected="all texts, all numbers, or all True and False",
                    got=few(sorted(types)),
                    remedy="convert them, for example y.astype(str)",
                )
        check_classification_targets(labels)
        if len(labels) != n_rows:
            check_consistent_length(np.empty(n_rows), labels)
        classes = np.unique(labels)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(labels)}. Say which labels are favorable: y = y.isin([...])"
            )
        favorable = classes[-1] if self.favorable is None else self.favorable
        if len(classes) < 2 or favorable not in classes:
            raise RowsError(
                "Nothing can be learned from these labels: one class is missing",
                expected="two classes" + ("" if self.favorable is None else f", {favorable!r} among them"),
                got=", ".join(map(repr, classes.tolist())),
                remedy="give labels of both classes, and one of them as 'favorable'",
            )
        self.classes_ = classes
        self.favorable_ = classes[int(classes[1] == favorable)]
        return np.asarray(labels == self.favorable_)

    def _rows(self, X: Any, fitted: str = "predictor_") -> Table:
        """Return rows to predict as a table without labels."""
        check_is_fitted(self, fitted)
        frame = self._frame(X, reset=False)
        # Without a frame of its own, for the warning's place.
        codes = [*map(LearnedColumn.codes, self._columns, [values for _, values in frame.items()])]
        return self._table(frame, [*codes, np.zeros(len(frame), np.int16)])

    def _table(self, frame: pd.DataFrame, codes: list[NDArray[np.int16]]) -> Table:
        """Return rows as a table, with the numbers of some columns if the classifier takes numbers."""
        table = Table(self.schema_, np.column_stack(codes))
        if not self._numbered:
            return table
        numbers = [self._columns[i].numbers(frame.iloc[:, i]) for i in self._numbered]
        names = tuple(self._columns[i].column.name for i in self._numbered)
        return replace(table, numbers=Numbers(names, np.asfortranarray(np.column_stack(numbers))))

    def _favorable(self, labels: Any) -> NDArray[np.bool_]:
        """Return whether each of some labels is the favorable one."""
        given = np.asarray(labels).ravel()
        if unknown := [label for label in given.tolist() if label not in self.classes_.tolist()]:
            raise RowsError(
                "A true label that was told is no class of y",
                expected=" or ".join(map(repr, self.classes_.tolist())),
                got=repr(unknown[0]),
                remedy="correct 'told'",
            )
        return np.asarray(given == self.favorable_, dtype=np.bool_)

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """Return rows as a data frame with the columns of the training rows."""
        if not isinstance(X, pd.DataFrame):
            array = check_array(X, dtype=None, ensure_all_finite="allow-nan")
            validate_data(self, array, reset=reset, skip_check_array=True)
            return pd.DataFrame(array)
        if not (len(X) and X.shape[1]):
            check_array(np.empty(X.shape))  # an error in scikit-learn's words
        validate_data(self, X, reset=reset, skip_check_array=True)
        # scikit-learn compares names that were texts in training. Numbers as names are compared here.
        if not (reset or hasattr(self, "feature_names_in_")):
            found, expected = list(map(str, X.columns)), [learned.column.name for learned in self._columns]
            texts = all(isinstance(name, str) for name in X.columns)  # an array has no names to compare with
            if found != expected and (not texts or {*found} == {*expected}):
                raise RowsError(
                    "The columns of X are not those of the training rows, in their order",
                    expected=few(expected, 20),
                    got=few(found, 20),
                    remedy="name and order them as in the training rows",
                )
        return X

    def _sensitive_index(self, frame: pd.DataFrame) -> int:
        names = list(frame.columns)
        if self.sensitive in names:
            return names.index(self.sensitive)
        raise RowsError(
            f"There is no sensitive column {self.sensitive!r}",
            expected="one of the columns of X: " + few(list(map(repr, names)), 20),
            got=repr(self.sensitive),
            remedy="name it as 'sensitive'; in an array, by its position",
        )

    def _configured(self) -> techniques.Technique:
        with _as_value_error():
            return techniques.get_technique(self.technique, **(self.parameters or {}))

    def _tools(self, weights: NDArray[np.float64] | None, known: techniques.Knowledge) -> techniques.Tools:
        state, seed = self.random_state, 0
        if isinstance(state, np.random.Generator):
            rng = copy.deepcopy(state)
        else:
            if not isinstance(state, int | np.integer):
                state = int(check_random_state(state).randint(2**31))
            seed, rng = (
                axis_seed(int(state), purpose="classifier"),
                generator(int(state), purpose="technique"),
            )
        build = functools.partial(self._learner()[1], seed=seed)
        return techniques.Tools(build, naive_bayes_ranker, rng, weights, known)

    def _weights(self, sample_weight: ArrayLike | None, train: Table) -> NDArray[np.float64] | None:
        """Return the weights of training rows after checks, or None."""
        if sample_weight is None:
            return None
        if not self._configured().takes_weights:
            able = [
                name for name, technique in techniques.list_techniques().items() if technique.takes_weights
            ]
            raise UseError(
                f"The technique {self.technique!r} does not take sample_weight",
                expected=f"one of {', '.join(able)}, which are right for weighted rows",
                remedy="train without sample_weight, or choose another technique",
            )
        weights: NDArray[np.float64] = column_or_1d(sample_weight, dtype=np.float64)
        check_consistent_length(weights, train.codes)
        classes = [weights[train.y == y].sum() for y in (False, True)]
        if not (np.isfinite(weights).all() and (weights >= 0).all() and min(classes) > 0):
            raise RowsError(
                "The weights in sample_weight are negative, not finite, or zero in all rows of a class",
                expected="finite numbers of 0 or more, with a sum above 0 in each class",
                got=f"numbers from {weights.min():g} to {weights.max():g}",
                remedy="correct them, or leave rows without a weight out",
            )
        return weights

    def _learner(self) -> tuple[bool, Callable[..., Any]]:
        """Return whether the classifier takes numbers, and a function that builds it.

        The function takes the features' numbers of states, 0 for a number, and a seed.
        """
        chosen = self.classifier
        if isinstance(chosen, str | Mapping):
            entry: dict[str, Any] = {"classifier": chosen} if isinstance(chosen, str) else dict(chosen)
            name, encoding = entry.get("classifier"), entry.get("encoding")
            valid = entry.keys() <= {"classifier", "parameters", "encoding"}
            if not (valid and isinstance(name, str) and encoding in (None, *get_args(Encoding))):
                raise _no_classifier(chosen)
            with _as_value_error():
                factory = make_classifier(name, dict(entry.get("parameters") or {}), encoding or "one_hot")
            if encoding is not None:
                return encoding == "numbers", factory.build
            of_numbers = replace(factory, encoding="numbers")
            return factory.entry.cardinality_parameter is None, lambda cardinalities, seed: (
                factory if cardinalities.all() else of_numbers
            ).build(cardinalities, seed)
        if not (isinstance(chosen, BaseEstimator) and is_classifier(chosen)):
            raise _no_classifier(chosen)

        def build(cardinalities: NDArray[np.int64], seed: int) -> OneHotClassifier:
            fresh = clone(chosen)
            if fresh.get_params().get("random_state", 0) is None:
                fresh.set_params(random_state=seed % 2**32)
            return (OneHotClassifier if cardinalities.all() else NumbersClassifier)(fresh, cardinalities)

        return True, build

    def __getstate__(self) -> dict[str, Any]:
        # Pickle itself cannot write the functions of a trained technique.
        state = dict(super().__getstate__())
        return state | {name: _packed(state[name]) for name in _WITH_FUNCTIONS if name in state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        unpacked = {name: cloudpickle.loads(state[name]) for name in _WITH_FUNCTIONS if name in state}
        super().__setstate__(state | unpacked)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True  # in all columns but the sensitive one
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _prepared(
    technique: techniques.PreProcessing, train: Table, tools: techniques.Tools
) -> techniques.Prepared:
    """Return the prepared rows, weighted by the technique and the user."""
    prepared = technique.prepare(train, tools)
    if tools.weights is None:
        return prepared
    own = 1.0 if prepared.sample_weight is None else prepared.sample_weight
    return replace(prepared, sample_weight=own * tools.weights)


def _no_classifier(chosen: object) -> UseError:
    return UseError(
        "This is no classifier",
        expected="a name such as 'c45', a classifier of scikit-learn, or a dict with 'classifier' and, "
        "optionally, 'parameters' and 'encoding' ('one_hot', 'ordinal' or 'numbers')",
        got=repr(chosen),
        remedy="'betabench list classifiers' shows the names",
    )


def _schema(learned: Sequence[LearnedColumn], sensitive: int, deprived: tuple[str, ...]) -> Schema:
    """Return the columns with their roles; the label comes last, under a name that no feature has."""
    features, label = [column.column for column in learned], "label"
    while label in {column.name for column in features}:
        label += "_"
    name = features[sensitive].name
    several = ((name, deprived),) if len(deprived) > 1 else ()
    group = " or ".join(deprived)
    return Schema((*features, Column(label, _LABELS)), label, _LABELS[1], name, group, several)


def _least_favored(states: Sequence[str], codes: NDArray[np.int16], favorable: NDArray[np.bool_]) -> str:
    """Return the group that is deprived by default."""
    if len(np.unique(codes)) < 2:
        raise RowsError(
            "The sensitive column has one group",
            expected="two groups or more among the training rows",
            got=few(list(map(repr, states))),
            remedy="name another 'sensitive'",
        )
    return states[least_favored(codes, favorable, len(states))]
