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
"""Which rows are alternated: the held-out ones, the training ones, or both."""

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

    Rows with other values keep them.

    Raises
    ------
    UnknownNameError
        If there is no such column.
    DataError
        If it lacks one of the values, or both are the same.
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
    r"""Measure how predictions of held-out rows move when two values of an attribute are exchanged.

    The rows are shuffled and cut into folds. For each fold, attribute and pair of its values, the model is
    trained on the other folds and predicts the fold's rows; then once more with the two values exchanged,
    :math:`\varphi(D)`. Rows of other values keep them and are trained on, but not compared.

    ======== ============= =========================
    variant  trained on    predicts
    ======== ============= =========================
    predict  D             :math:`\varphi(D)`
    train    :math:`\varphi(D)` D
    retrain  :math:`\varphi(D)` :math:`\varphi(D)`
    ======== ============= =========================

    Parameters
    ----------
    features, target : DataFrame of shape (n, m), array-like of float of shape (n,)
        What the model sees, the attributes included, and what it is trained to predict.
    model : Regressor
        Untrained; a deep copy is trained each time.
    attributes, variants : sequence of str
        Columns of categories, each pair of whose values is exchanged, and where.
    n_folds, seed : int, default 10, default 0
        Number of parts, whose sizes differ by at most 1, and what decides which row is in which.

    Returns
    -------
    DataFrame
        Columns :data:`ALTERNATION_COLUMNS`. A row for each attribute, pair of values (``first`` before
        ``second`` in sorted order), variant, fold (from 0) and ``group``, which is one of the pair: the
        ``n`` held-out rows that have this value before the exchange, the ``mean`` of their predictions, the
        ``mean_alternated`` after it, and the divergences ``kl`` = D(before || after), the paper's, and
        ``kl_reverse`` = D(after || before); see :func:`gaussian_kl`. A mean of no row and a divergence of
        fewer than two rows are NaN, and ``reason`` says so; else it is empty.

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
    The paper gives its method twice. Section 5 trains on the alternated data and predicts the alternated
    data (steps 3 to 5): ``retrain``. Sections 4.2 and 6.2 train once and predict the same rows twice:
    ``predict``. They are not the same. To most models the names of categories mean nothing: exchange two
    names in the training rows, and the model that comes out is the old one with these names exchanged. So
    :math:`f_\varphi(\varphi(x)) = f(x)` with :math:`f_\varphi` trained on :math:`\varphi(D)`, and
    ``retrain`` gives a divergence of 0 whatever the data hold. For the same reason
    :math:`f_\varphi(x) = f(\varphi(x))`: ``train`` gives what ``predict`` gives. Only a model that takes
    categories for numbers, in an arbitrary order, can give anything else, and then ``retrain`` measures that
    order. Hence ``predict`` by default.

    References
    ----------
    Alelyani (2021), Detection and evaluation of machine learning bias, Applied Sciences 11(14), 6271.
    """
    y = np.asarray(target, dtype=np.float64)
    _check(features, y, attributes, variants, n_folds)
    order = generator(seed, purpose="alternation folds").permutation(len(features))
    folds = np.array_split(order, n_folds)
    rest = [np.sort(np.setdiff1d(order, fold)) for fold in folds]

    def train(frame: pd.DataFrame, rows: NDArray[np.int64]) -> Regressor:
        trained = copy.deepcopy(model)
        trained.fit(frame.iloc[rows], y[rows])
        return trained

    models = [train(features, rows) for rows in rest]
    before = [_predict(one, features.iloc[fold]) for one, fold in zip(models, folds, strict=True)]
    found: list[tuple[object, ...]] = []
    for attribute in attributes:
        values = np.array(features[attribute], dtype=object)
        for pair in itertools.combinations(sorted(features[attribute].unique()), 2):
            swapped = alternate(features, attribute, *pair)
            retrained = [train(swapped, rows) for rows in rest] if {*variants} - {"predict"} else models
            for variant in variants:
                chosen = models if variant == "predict" else retrained
                frame = features if variant == "train" else swapped
                for i, (one, fold) in enumerate(zip(chosen, folds, strict=True)):
                    after = _predict(one, frame.iloc[fold])
                    for group in pair:
                        rows = values[fold] == group
                        figures = _compare(before[i][rows], after[rows])
                        found.append((attribute, *pair, variant, i, group, *figures))
    return pd.DataFrame(found, columns=list(ALTERNATION_COLUMNS))


def summarise_alternation(results: pd.DataFrame) -> pd.DataFrame:
    """Summarize the folds of an alternation test.

    Columns of the results before ``attribute`` tell several tests apart. A row for each test, attribute,
    pair, variant and group, in their order: ``n``, the rows in all folds; ``folds``, those with a mean;
    ``mean``, ``mean_alternated`` and ``change``, unweighted means over the folds; ``folds_up`` and
    ``folds_down``, those in which the mean rises and falls; ``kl_folds``, those with a divergence; ``kl`` and
    ``kl_reverse``, its means, and ``kl_min`` and ``kl_max``.
    """
    further = list(results.columns[: results.columns.get_loc("attribute")])
    key = [*further, "attribute", "first", "second", "variant", "group"]
    change = results["mean_alternated"] - results["mean"]
    rows = results.assign(change=change, up=change > 0, down=change < 0)
    summary: pd.DataFrame = (
        rows.groupby(key, sort=False)
        .agg(
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
        .reset_index()
    )
    return summary


def polynomial_regression(
    numeric: Sequence[str],
    categorical: Sequence[str],
    *,
    degree: int = 2,
    penalty: float = 1.0,
    encoding: Encoding = "one_hot",
) -> Regressor:
    r"""Return an untrained polynomial regression on columns of a data frame.

    Numbers are standardised; categories become columns of 0 and 1, or, as ``"ordinal"``, their place in
    alphabetical order, standardised. The coefficients of all monomials up to the degree minimise
    :math:`\lVert y - b - \Phi w \rVert^2 + \lambda \lVert w \rVert^2`.

    Other columns are not used. The columns of 0 and 1 of a category sum to 1, so that plain least squares,
    :math:`\lambda = 0`, would have no unique solution: the penalty :math:`\lambda` is positive. A category
    that the training rows lack is all zeros, or -1. The degree 2 has squares and products of two. The result
    is a pipeline of scikit-learn.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler

    if encoding == "one_hot":
        categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    else:
        places = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        categories = make_pipeline(places, StandardScaler())
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
            remedy="hand over a number for each row of the features",
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
            "The rows cannot be cut into folds",
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
    """Return rows, both means, both divergences, and why there are none."""
    n = len(before)
    means = (float(before.mean()), float(after.mean())) if n else (math.nan, math.nan)
    if n < 2:
        return n, *means, math.nan, math.nan, "no row" if n == 0 else "one row: no variance"
    return n, *means, gaussian_kl(before, after), gaussian_kl(after, before), ""
