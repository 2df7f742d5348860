"""A technique with a classifier, as an estimator of scikit-learn on data frames."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar, cast

import cloudpickle
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils import Tags, check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.classifiers.factories import OneHotClassifier
from benchmark.data.sides import least_favored
from benchmark.data.table import Column, Schema, Table
from benchmark.errors import BetabenchError, TechniqueError
from benchmark.estimator.column_states import LearnedColumn, RowsError, learn_feature, learn_groups
from benchmark.seeding import axis_seed, generator
from benchmark.techniques import Predictor, Prepared, PreProcessing, Technique, Tools, get_technique
from benchmark.text.words import few

T = TypeVar("T")

_LABELS = ("unfavorable", "favorable")
_MADE = ("predictor_", "prepared_")  # attributes that hold functions of a technique


class UseError(RowsError, TechniqueError):
    """A technique cannot be trained on rows; also a ValueError, which scikit-learn's tools expect."""


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Writes functions, also such as begin in a context: a context is made anew by who reads them."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, contextlib._GeneratorContextManager):
            made_by = obj.func
            return _context, (made_by.__module__, made_by.__name__, obj.args, obj.kwds)
        return super().reducer_override(obj)


def _context(module: str, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return getattr(importlib.import_module(module), name)(*args, **keywords)


def _packed(made: object) -> bytes:
    file = io.BytesIO()
    _Pickler(file).dump(made)
    return file.getvalue()


@contextlib.contextmanager
def _as_value_error() -> Iterator[None]:
    """Raise errors of this package as such that are ValueErrors as well."""
    try:
        yield
    except BetabenchError as error:
        if isinstance(error, ValueError):
            raise
        said = {"expected": error.expected, "got": error.got, "remedy": error.remedy}
        raise UseError(error.what, **said) from error


def _only_if(available: Callable[[FairClassifier], bool]) -> Callable[[T], T]:
    """Give a method to those estimators alone for which it is available."""
    return cast(Callable[[T], T], available_if(available))


def _is_preprocessing(estimator: FairClassifier) -> bool:
    return issubclass(type(estimator._configured()), PreProcessing)


def _gives_scores(estimator: FairClassifier) -> bool:
    if hasattr(estimator, "predictor_"):
        return estimator.predictor_.predict_score is not None
    return estimator._configured().produces_scores


class FairClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fairness technique with a classifier, to be trained on a data frame and asked for decisions.

    It decides as the benchmark's cell of the same technique and classifier does, trained on the same rows.
    Techniques work on states, so each column of ``X`` becomes states in :meth:`fit`, from the training rows
    alone: categories of pandas stay as they are, with their order; other columns are read as ``betabench
    quick`` reads a file, numbers in bins and rare values together. A text such as "1,234" or "$5" is no
    number here: convert it first. Every column is a feature: leave out identifiers, and what is known only
    after the outcome.

    In rows to predict, a value that training rows did not show has the state that rare values, or a missing
    value that of missing values, had there; where there is none, the column's most frequent state. A group
    that training rows did not show is an error, and so is a missing one.

    Parameters
    ----------
    technique : str, default "none"
        A registered technique's name, as ``betabench list techniques`` shows it, or that of another library,
        such as ``"aif360:Reweighing"``.
    sensitive : str or int
        The sensitive column of ``X``: its name, or its position where ``X`` is an array.
    deprived : value or list of values, optional
        The deprived group, by values of the sensitive column; everyone else is favored. By default, the group
        that has the favorable label least often, of those that are no handful of rows.
    favorable : value, optional
        The class that is good for people; by default the one that sorts last, such as 1 or True.
    parameters : dict, optional
        The technique's parameters, by name; those left out take their defaults.
    classifier : str, dict or classifier of scikit-learn, default "c45"
        Short name or dotted path; an entry as in experiment files, such as ``{"classifier": "random_forest",
        "parameters": {"n_estimators": 50}}``; or an untrained classifier, of which a clone is trained. It
        gets a column of 0 and 1 for each state, unless it reads states as categories. Techniques that train a
        learner of their own use none.
    random_state : int, Generator, RandomState or None, default 0
        Where lots come from, of techniques that draw any, and of classifiers. The same number, or a generator
        in the same state, which is left as it is, gives the same model; None another one each time.
    min_count : int, default 5
        Values that fewer training rows have are put together.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        The classes, sorted.
    favorable_ : object
        The favorable one.
    schema_ : Schema
        The columns with their states, and the deprived group.
    technique_ : Technique
        The technique with all its parameters.

    Notes
    -----
    A pickled model can hold training rows: some techniques keep them.

    Techniques that decide by lot, such as equalized odds, draw it by a row's place in the table. Ask for all
    rows in one table: the first row of every call has the same lot.

    Examples
    --------
    >>> model = FairClassifier("reweighing", sensitive="sex", deprived="f")
    >>> model.fit(X, y).predict(X_new)  # doctest: +SKIP
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
    ) -> None:
        self.technique = technique
        self.sensitive = sensitive
        self.deprived = deprived
        self.favorable = favorable
        self.parameters = parameters
        self.classifier = classifier
        self.random_state = random_state
        self.min_count = min_count

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on rows with their labels.

        Parameters
        ----------
        X : DataFrame or array, shape (n_rows, n_columns)
            Features, the sensitive column among them.
        y : array, shape (n_rows,)
            Labels of two classes.

        Raises
        ------
        ValueError
            If rows, labels or groups cannot be trained on, or the technique declines them. It is also a
            :class:`~benchmark.errors.BetabenchError`, which says what to do.
        """
        technique, train = self._learn(X, y)
        with _as_value_error():
            self.predictor_: Predictor = technique.fit(train, self._tools())
        self.technique_ = technique
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, shape (n_rows,)."""
        table = self._rows(X)
        with _as_value_error():
            favorable = self.predictor_.predict(table)
        return np.asarray(self.classes_[np.where(favorable, self._place, 1 - self._place)])

    @_only_if(_gives_scores)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class in each row, shape (n_rows, 2); not all techniques have it."""
        table = self._rows(X)
        score = self.predictor_.predict_score
        assert score is not None
        with _as_value_error():
            favorable = score(table)
        found = np.empty((len(table), 2))
        found[:, self._place], found[:, 1 - self._place] = favorable, 1 - favorable
        return found

    @_only_if(_is_preprocessing)
    def prepare(self, X: Any, y: ArrayLike) -> tuple[pd.DataFrame, NDArray[Any], NDArray[np.float64]]:
        """Return training data as a pre-processing technique leaves them: rows, labels and weights.

        The rows are of states, without the columns that the technique hides from the classifier. A technique
        that weights rows or turns labels leaves the rows of ``X`` in their order, so that its labels and
        weights fit ``X`` as well. Parameters and errors are those of :meth:`fit`; no classifier is trained.
        """
        technique, train = self._learn(X, y)
        assert isinstance(technique, PreProcessing)
        with _as_value_error():
            self.prepared_: Prepared = technique.prepare(train, self._tools())
        made = self.prepared_
        labels = self.classes_[np.where(made.table.y, self._place, 1 - self._place)]
        weights = np.ones(len(made.table)) if made.sample_weight is None else made.sample_weight.copy()
        return made.table.to_frame()[list(made.features or ())], labels, weights

    @_only_if(_is_preprocessing)
    def prepare_new(self, X: Any) -> pd.DataFrame:
        """Return rows to predict as a classifier takes them that was trained on what :meth:`prepare` made."""
        check_is_fitted(self, "prepared_")
        table, made = self._rows(X, fitted="prepared_"), self.prepared_
        changed = table if made.transform is None else made.transform(table)
        return changed.to_frame()[list(made.features or ())]

    @property
    def _place(self) -> int:
        """Position of the favorable class."""
        return int(self.classes_[1] == self.favorable_)

    def _learn(self, X: Any, y: ArrayLike) -> tuple[Technique, Table]:
        """Learn the columns of training rows; return the technique, and the rows as a table with roles."""
        technique = self._configured()
        frame = self._frame(X, reset=True)
        favorable = self._learn_classes(y, len(frame))
        place = self._sensitive_place(frame)
        names = _distinct(map(str, frame.columns))
        groups, deprived = learn_groups(names[place], frame.iloc[:, place], self.deprived, self.min_count)
        self._columns = [
            groups if i == place else learn_feature(name, frame.iloc[:, i], self.min_count)
            for i, name in enumerate(names)
        ]
        codes = [own.codes(frame.iloc[:, i]) for i, own in enumerate(self._columns)]
        if not deprived:
            deprived = (_least_favored(groups.column.states, codes[place], favorable),)
        with _as_value_error():
            self.schema_ = _schema(self._columns, place, deprived)
            return technique, Table(self.schema_, np.column_stack([*codes, favorable.astype(np.int16)]))

    def _learn_classes(self, y: ArrayLike, n_rows: int) -> NDArray[np.bool_]:
        """Learn the classes; return whether each label is the favorable one."""
        if y is None:
            raise ValueError(
                "This FairClassifier estimator requires y to be passed, but the target y is None"
            )
        labels = column_or_1d(y, warn=True)
        if pd.isna(labels).any():
            raise RowsError(
                "Input y contains NaN: some rows have no label",
                expected="a label for each training row",
                remedy="leave these rows out",
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
                "Nothing can be learned from these labels: one class is not there",
                expected="two classes" + ("" if self.favorable is None else f", {favorable!r} among them"),
                got=", ".join(map(repr, classes.tolist())),
                remedy="give labels of both classes, and one of them as 'favorable'",
            )
        self.classes_ = classes
        self.favorable_ = classes[int(classes[1] == favorable)]
        return np.asarray(labels == self.favorable_)

    def _rows(self, X: Any, fitted: str = "predictor_") -> Table:
        """Return rows to predict as a table, labels hidden."""
        check_is_fitted(self, fitted)
        frame = self._frame(X, reset=False)
        codes = [own.codes(frame.iloc[:, i]) for i, own in enumerate(self._columns)]
        return Table(self.schema_, np.column_stack([*codes, np.zeros(len(frame), np.int16)]))

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """Return rows as a data frame whose columns are those of the training rows."""
        if not isinstance(X, pd.DataFrame):
            array = check_array(X, dtype=None, ensure_all_finite="allow-nan")
            validate_data(self, array, reset=reset, skip_check_array=True)
            return pd.DataFrame(array)
        if not (len(X) and X.shape[1]):
            check_array(np.empty(X.shape))  # an error in scikit-learn's words
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _sensitive_place(self, frame: pd.DataFrame) -> int:
        """Return the position of the sensitive column."""
        names = list(frame.columns)
        if self.sensitive in names:
            return names.index(self.sensitive)
        raise RowsError(
            f"There is no sensitive column {self.sensitive!r}",
            expected="one of the columns of X: " + few(list(map(repr, names)), 20),
            got=repr(self.sensitive),
            remedy="name it as 'sensitive'; of an array, by its position",
        )

    def _configured(self) -> Technique:
        with _as_value_error():
            return get_technique(self.technique, **(self.parameters or {}))

    def _tools(self) -> Tools:
        """Return what the technique works with: classifiers, the ranker, lots."""
        lots = self.random_state
        if isinstance(lots, np.random.Generator):
            return Tools(self._builder(0), naive_bayes_ranker, copy.deepcopy(lots))
        if not isinstance(lots, int | np.integer):
            lots = int(check_random_state(lots).randint(2**31))
        seed = axis_seed(int(lots), purpose="classifier")
        return Tools(self._builder(seed), naive_bayes_ranker, generator(int(lots), purpose="technique"))

    def _builder(self, seed: int) -> Callable[[NDArray[np.int64]], Any]:
        """Return what builds a classifier for features of so many states each."""
        chosen = self.classifier
        if isinstance(chosen, str | Mapping):
            entry: dict[str, Any] = {"classifier": chosen} if isinstance(chosen, str) else dict(chosen)
            name, encoding = entry.get("classifier"), entry.get("encoding", "one_hot")
            known = entry.keys() <= {"classifier", "parameters", "encoding"}
            if not (known and isinstance(name, str) and encoding in ("one_hot", "ordinal")):
                raise _no_classifier(chosen)
            with _as_value_error():
                factory = make_classifier(name, dict(entry.get("parameters") or {}), encoding)
            return functools.partial(factory.build, seed=seed)
        if not (isinstance(chosen, BaseEstimator) and is_classifier(chosen)):
            raise _no_classifier(chosen)

        def build(cardinalities: NDArray[np.int64]) -> OneHotClassifier:
            fresh = clone(chosen)
            if fresh.get_params().get("random_state", 0) is None:
                fresh.set_params(random_state=seed % 2**32)
            return OneHotClassifier(fresh, cardinalities)

        return build

    def __getstate__(self) -> dict[str, Any]:
        # Functions that a technique made while it trained are nothing that pickle itself can write.
        state = dict(super().__getstate__())
        return state | {name: _packed(state[name]) for name in _MADE if name in state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        made = {name: cloudpickle.loads(state[name]) for name in _MADE if name in state}
        super().__setstate__(state | made)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True  # in all columns but the sensitive one
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _no_classifier(chosen: object) -> UseError:
    return UseError(
        "This is no classifier",
        expected="a name such as 'c45', a classifier of scikit-learn, or a dict with 'classifier' and, where "
        "they are wanted, 'parameters' and 'encoding' ('one_hot' or 'ordinal')",
        got=repr(chosen),
        remedy="'betabench list classifiers' shows the names",
    )


def _distinct(names: Iterable[str]) -> list[str]:
    found = list(names)
    if repeated := sorted({name for name in found if found.count(name) > 1}):
        raise RowsError(
            "Names of columns repeat",
            expected="columns whose names differ as text",
            got=few(list(map(repr, repeated))),
            remedy="rename them",
        )
    return found


def _schema(columns: Sequence[LearnedColumn], place: int, deprived: tuple[str, ...]) -> Schema:
    """Return the columns with their roles; the label comes last, under a name that no feature has."""
    own, label = [learned.column for learned in columns], "label"
    while label in {column.name for column in own}:
        label += "_"
    sensitive = own[place].name
    several = ((sensitive, deprived),) if len(deprived) > 1 else ()
    group = " or ".join(deprived)
    return Schema((*own, Column(label, _LABELS)), label, _LABELS[1], sensitive, group, several)


def _least_favored(states: Sequence[str], codes: NDArray[np.int16], favorable: NDArray[np.bool_]) -> str:
    """Return the group that counts as deprived where nobody named it."""
    if len(np.unique(codes)) < 2:
        raise RowsError(
            "The sensitive column has one group",
            expected="two groups or more among the training rows",
            got=few(list(map(repr, states))),
            remedy="name another 'sensitive'",
        )
    return states[least_favored(codes, favorable, len(states))]
