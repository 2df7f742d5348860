"""The exchange of two values of an attribute, in any frame and for any model."""

import copy
import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from benchmark.errors import ClassifierError, DataError, ExperimentError, UnknownNameError
from benchmark.metrics.alternation import gaussian_kl
from benchmark.seeding import generator

Variant = Literal["predict", "train", "retrain"]
Encoding = Literal["one_hot", "ordinal"]
Array = NDArray[np.float64]

VARIANTS: tuple[Variant, ...] = ("predict", "train", "retrain")
"""Rows that are alternated: the held-out rows, the training rows, or both."""

ALTERNATION_COLUMNS = (
    *("attribute", "first", "second", "variant", "fold", "group"),
    *("n", "mean", "mean_alternated", "kl", "kl_reverse", "reason"),
)
"""Columns of :func:`alternation_test`'s result."""


class Regressor(Protocol):
    """A model in scikit-learn's manner."""

    def fit(self, X: Any, y: Any) -> Any:
        """Train on a data frame, shape (n, m), and numbers, shape (n,)."""

    def predict(self, X: Any) -> Any:
        """Return a number for each row, shape (n,)."""


def alternate(frame: pd.DataFrame, attribute: str, first: object, second: object) -> pd.DataFrame:
    """Return a copy of a data frame in which two values of a column are exchanged (the paper's Definition 3).

    Rows with other values keep them. An UnknownNameError means that there is no such column, a DataError that
    it lacks one of the values, or that both are the same.
    """
    if attribute not in frame:
        raise UnknownNameError("column", attribute, map(str, frame.columns))
    column = frame[attribute]
    is_first, is_second = column == first, column == second
    for value, rows in ((first, is_first), (second, is_second)):
        if not rows.any():
            raise DataError(
                f"No row has {attribute} = {value!r}",
                expected="one of " + ", ".join(map(repr, column.drop_duplicates().tolist())),
                got=repr(value),
                remedy="exchange values that occur",
            )
    if first == second:
        raise DataError(
            f"A value of {attribute!r} cannot be exchanged with itself",
            expected="two different values",
            got=f"{first!r} twice",
            remedy="name another value",
        )
    return frame.assign(**{attribute: column.mask(is_first, second).mask(is_second, first)})


def alternation_test(
    features: pd.DataFrame,
    target: ArrayLike,
    model: Regressor,
    attributes: Sequence[str],
    *,
    variants: Sequence[Variant] = ("predict",),
    n_folds: int = 10,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Return the predictions for held-out rows before and after an exchange of two values of an attribute.

    The rows are shuffled and divided into folds. For each fold, attribute and pair of its values, the model
    is trained on the other folds and predicts the fold's rows; then again with the two values exchanged,
    :math:`\varphi(D)`. Rows with other values keep them: they are trained on, but not compared.

    ======== ============= =========================
    variant  trained on    predicts
    ======== ============= =========================
    predict  D             :math:`\varphi(D)`
    train    :math:`\varphi(D)` D
    retrain  :math:`\varphi(D)` :math:`\varphi(D)`
    ======== ============= =========================

    The model takes ``features``, shape (n, m), which include the attributes, and predicts the ``target``,
    shape (n,). It is untrained; a deep copy is trained each time. Attributes are columns of categories; each
    pair of their values is exchanged. The sizes of folds differ by at most 1; the seed assigns rows to folds.

    The result has the columns :data:`ALTERNATION_COLUMNS`, and a row for each attribute, pair of values
    (``first`` before ``second`` in sorted order), variant, fold (from 0) and ``group``, one of the pair. A
    group is the ``n`` held-out rows with this value before the exchange. ``kl`` is D(before || after), as in
    the paper, and ``kl_reverse`` is D(after || before); see :func:`gaussian_kl`. A mean of no row and a
    divergence of fewer than two rows are NaN with a ``reason``. ``results/README.md`` explains all columns.

    Raises
    ------
    UnknownNameError
        If there is no such column or variant.
    DataError
        If values are missing, lengths differ, the target is not finite, or an attribute has only one value.
    ExperimentError
        If the number of folds is out of range.
    ClassifierError
        If the model does not predict a finite number for each row.

    Notes
    -----
    The paper describes two different methods. Section 5 trains on the alternated data and predicts the
    alternated data (steps 3 to 5): ``retrain``. Sections 4.2 and 6.2 train once and predict the same rows
    twice: ``predict``. Names of categories mean nothing to most models: after an exchange of two names in the
    training rows, the model is the old one with these names exchanged. So
    :math:`f_\varphi(\varphi(x)) = f(x)` with :math:`f_\varphi` trained on :math:`\varphi(D)`, and
    ``retrain`` returns a divergence of 0 for any data. Likewise :math:`f_\varphi(x) = f(\varphi(x))`:
    ``train`` returns the same as ``predict``. Only a model that reads categories as numbers, in an arbitrary
    order, can differ, and then ``retrain`` measures that order. Hence the default ``predict``.

    References
    ----------
    Alelyani (2021), Detection and evaluation of machine learning bias, Applied Sciences 11(14), 6271.
    """
    y = np.asarray(target, dtype=np.float64)
    _check(features, y, attributes, variants, n_folds)
    order = generator(seed, purpose="alternation folds").permutation(len(features))
    folds = np.array_split(order, n_folds)
    training = [np.sort(np.setdiff1d(order, fold)) for fold in folds]

    def train(frame: pd.DataFrame, rows: NDArray[np.int64]) -> Regressor:
        trained = copy.deepcopy(model)
        trained.fit(frame.iloc[rows], y[rows])
        return trained

    models = [train(features, rows) for rows in training]
    before = [_predict(trained, features.iloc[fold]) for trained, fold in zip(models, folds, strict=True)]
    compared: list[tuple[object, ...]] = []
    for attribute in attributes:
        values = np.array(features[attribute], dtype=object)
        for pair in itertools.combinations(sorted(features[attribute].unique()), 2):
            swapped = alternate(features, attribute, *pair)
            retrained = [train(swapped, rows) for rows in training] if {*variants} - {"predict"} else models
            for variant in variants:
                chosen = models if variant == "predict" else retrained
                frame = features if variant == "train" else swapped
                for i, (trained, fold) in enumerate(zip(chosen, folds, strict=True)):
                    after = _predict(trained, frame.iloc[fold])
                    for group in pair:
                        rows = values[fold] == group
                        figures = _compare(before[i][rows], after[rows])
                        compared.append((attribute, *pair, variant, i, group, *figures))
    return pd.DataFrame(compared, columns=list(ALTERNATION_COLUMNS))


def summarise_alternation(results: pd.DataFrame) -> pd.DataFrame:
    """Return a summary of the folds of alternation tests.

    Columns of the results before ``attribute`` tell several tests apart. A row for each test, attribute,
    pair, variant and group, in their order. Means are unweighted means over the folds; ``results/README.md``
    explains all columns.
    """
    further = list(results.columns[: results.columns.get_loc("attribute")])
    key = [*further, "attribute", "first", "second", "variant", "group"]
    change = results["mean_alternated"] - results["mean"]
    rows = results.assign(change=change, up=change > 0, down=change < 0)
    summary = rows.groupby(key, sort=False).agg(
        n=("n", "sum"),
        folds=("mean", "count"),
        mean=("mean", "mean"),
        mean_alternated=("mean_alternated", "mean"),
        change=("change", "mean"),
        folds_up=("up", "sum"),
        folds_down=("down", "sum"),
        kl_folds=("kl", "count"),
        kl=("kl", "mean"),
        kl_min=("kl", "min"),
        kl_max=("kl", "max"),
        kl_reverse=("kl_reverse", "mean"),
    )
    return summary.reset_index()


def polynomial_regression(
    numeric: Sequence[str],
    categorical: Sequence[str],
    *,
    degree: int = 2,
    penalty: float = 1.0,
    encoding: Encoding = "one_hot",
) -> Regressor:
    r"""Return an untrained polynomial regression on columns of a data frame.

    Numbers are standardized; categories become columns of 0 and 1 or, as ``"ordinal"``, their standardized
    position in alphabetical order. The coefficients of all monomials up to the degree minimize
    :math:`\lVert y - b - \Phi w \rVert^2 + \lambda \lVert w \rVert^2`.

    Other columns are not used. The columns of 0 and 1 of a category sum to 1, so that plain least squares,
    :math:`\lambda = 0`, would have no unique solution: the penalty :math:`\lambda` is positive. A category
    that the training rows lack is all zeros, or -1. The result is a pipeline of scikit-learn.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler

    if encoding == "one_hot":
        categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    else:
        positions = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        categories = make_pipeline(positions, StandardScaler())
    columns = [("numeric", StandardScaler(), list(numeric)), ("categorical", categories, list(categorical))]
    regression: Regressor = make_pipeline(
        ColumnTransformer(columns),
        PolynomialFeatures(degree, include_bias=False),
        Ridge(alpha=penalty, solver="cholesky"),
    )
    return regression


def _check(
    features: pd.DataFrame, y: Array, attributes: Sequence[str], variants: Sequence[Variant], n_folds: int
) -> None:
    if y.shape != (len(features),) or not np.isfinite(y).all():
        raise DataError(
            "The target does not fit the features",
            expected=f"{len(features):,} finite numbers",
            got=f"an array of shape {y.shape}, {int(np.isfinite(y).sum()):,} of its numbers finite",
            remedy="give a number for each row of the features",
        )
    if missing := [str(name) for name in features if features[name].isna().any()]:
        raise DataError(
            "Values are missing in " + ", ".join(missing),
            expected="a value in each row",
            remedy="drop these rows, or give missing values a name of their own",
        )
    for variant in variants:
        if variant not in VARIANTS:
            raise UnknownNameError("variant", variant, VARIANTS)
    if not 2 <= n_folds <= len(features):
        raise ExperimentError(
            "The rows cannot be divided into folds",
            expected=f"from 2 to {len(features):,} folds, as many as there are rows",
            got=str(n_folds),
            remedy="choose another number of folds",
        )
    for attribute in attributes:
        if attribute not in features:
            raise UnknownNameError("column", attribute, map(str, features.columns))
        if features[attribute].nunique() < 2:
            raise DataError(
                f"The values of {attribute!r} cannot be exchanged",
                expected="two or more different values",
                got=f"{features[attribute].iloc[0]!r} in all rows",
                remedy="leave this attribute out",
            )


def _predict(model: Regressor, rows: pd.DataFrame) -> Array:
    predictions = np.asarray(model.predict(rows), dtype=np.float64)
    if predictions.shape != (len(rows),) or not np.isfinite(predictions).all():
        raise ClassifierError(
            "The model's predictions cannot be compared",
            expected=f"a finite number for each of {len(rows):,} rows",
            got=f"an array of shape {predictions.shape}, "
            f"{int(np.isfinite(predictions).sum()):,} of its numbers finite",
            remedy="use a model that predicts one finite number for each row",
        )
    return predictions


def _compare(before: Array, after: Array) -> tuple[int, float, float, float, float, str]:
    """Return the number of rows, both means, both divergences, and the reason if they are missing."""
    n = len(before)
    means = (float(before.mean()), float(after.mean())) if n else (math.nan, math.nan)
    if n < 2:
        return n, *means, math.nan, math.nan, "no row" if n == 0 else "one row: no variance"
    return n, *means, gaussian_kl(before, after), gaussian_kl(after, before), ""
