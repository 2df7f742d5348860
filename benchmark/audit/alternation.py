"""Alternation (Alelyani 2021): the influence of an attribute's value on a model's predictions.

Each row gets another identity, female for male and male for female, and a second prediction. The change of
each group's predictions, as a difference of means and as a Kullback-Leibler divergence, is the influence of
the attribute itself, with all other columns equal. Proxies stay as they are, so an attribute that other
columns reveal can matter more than its alternation shows; :mod:`benchmark.audit.influence` measures those.

An experiment file declares the dataset, the model and the attributes; ``betabench alternation`` runs it.
"""

import copy
import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, Field, StrictInt, model_validator

from benchmark.data.card import load_card
from benchmark.data.load import read_card
from benchmark.data.source import ANYWHERE, DataNotFoundError, Sources, read_sources
from benchmark.declarations import load_experiment_file
from benchmark.errors import DataError, ExperimentError, UnknownNameError
from benchmark.metrics.alternation import gaussian_kl
from benchmark.models import STRICT, Identifier
from benchmark.seeding import generator
from benchmark.techniques.base import one_thread

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


def alternation_test(
    features: pd.DataFrame,
    target: ArrayLike,
    model: Any,
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

    The model, in scikit-learn's manner, takes ``features``, shape (n, m), which include the attributes, and
    predicts the ``target``, shape (n,). It is untrained; a deep copy is trained each time. Attributes are
    columns of categories; each pair of their values is exchanged. The sizes of folds differ by at most 1; the
    seed assigns rows to folds.

    The result has the columns :data:`ALTERNATION_COLUMNS`, and a row for each attribute, pair of values
    (``first`` before ``second`` in sorted order), variant, fold (from 0) and ``group``, one of the pair. A
    group is the ``n`` held-out rows with this value before the exchange. ``kl`` is D(before || after), as in
    the paper, and ``kl_reverse`` is D(after || before); see :func:`gaussian_kl`. A mean of no row and a
    divergence of fewer than two rows are NaN with a ``reason``. ``results/README.md`` explains all columns.

    A DataError means that an attribute has only one value, an ExperimentError that there are more folds than
    rows.

    Section 5 of the paper describes ``retrain``, sections 4.2 and 6.2 ``predict``. ``results/alternation``
    says why ``train`` returns the same as ``predict``, and ``retrain`` a divergence of 0, unless the model
    reads categories as numbers. Hence the default.

    References
    ----------
    Alelyani (2021), Detection and evaluation of machine learning bias, Applied Sciences 11(14), 6271.
    """
    if n_folds > len(features):
        raise ExperimentError(
            "The rows cannot be divided into folds",
            expected=f"at most {len(features):,} folds, as many as there are rows",
            got=str(n_folds),
            remedy="choose another number of folds",
        )
    for attribute in attributes:
        if features[attribute].nunique() < 2:
            raise DataError(
                f"The values of {attribute!r} cannot be exchanged",
                expected="two or more different values",
                got=f"{features[attribute].iloc[0]!r} in all rows",
                remedy="leave this attribute out",
            )
    y = np.asarray(target, dtype=np.float64)
    order = generator(seed, purpose="alternation folds").permutation(len(features))
    folds = np.array_split(order, n_folds)
    training = [np.setdiff1d(order, fold) for fold in folds]

    def train(frame: pd.DataFrame, rows: NDArray[np.int64]) -> Any:
        trained = copy.deepcopy(model)
        trained.fit(frame.iloc[rows], y[rows])
        return trained

    models = [train(features, rows) for rows in training]
    before = [trained.predict(features.iloc[fold]) for trained, fold in zip(models, folds, strict=True)]
    compared: list[tuple[object, ...]] = []
    for attribute in attributes:
        values = np.array(features[attribute], dtype=object)
        for pair in itertools.combinations(sorted(features[attribute].unique()), 2):
            first, second = pair
            exchange = {first: second, second: first}
            swapped = features.assign(**{attribute: features[attribute].replace(exchange)})
            retrained = [train(swapped, rows) for rows in training] if {*variants} - {"predict"} else models
            for variant in variants:
                chosen = models if variant == "predict" else retrained
                frame = features if variant == "train" else swapped
                for i, (trained, fold) in enumerate(zip(chosen, folds, strict=True)):
                    after = trained.predict(frame.iloc[fold])
                    for group in pair:
                        rows = values[fold] == group
                        figures = _compare(before[i][rows], after[rows])
                        compared.append((attribute, *pair, variant, i, group, *figures))
    return pd.DataFrame(compared, columns=list(ALTERNATION_COLUMNS))


def summarize_alternation(results: pd.DataFrame) -> pd.DataFrame:
    """Return a summary of the folds of alternation tests.

    Columns of the results before ``attribute`` tell several tests apart. A row for each test, attribute,
    pair, variant and group, in their order. Means are unweighted means over the folds; ``results/README.md``
    explains all columns.
    """
    key = [name for name in results.columns[: results.columns.get_loc("n")] if name != "fold"]
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
) -> Any:
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
    return make_pipeline(
        ColumnTransformer(columns),
        PolynomialFeatures(degree, include_bias=False),
        Ridge(alpha=penalty, solver="cholesky"),
    )


def _compare(before: Array, after: Array) -> tuple[int, float, float, float, float, str]:
    """Return the number of rows, both means, both divergences, and the reason if they are missing."""
    n = len(before)
    means = (float(before.mean()), float(after.mean())) if n else (math.nan, math.nan)
    if n < 2:
        return n, *means, math.nan, math.nan, "no row" if n == 0 else "one row: no variance"
    return n, *means, gaussian_kl(before, after), gaussian_kl(after, before), ""


Names = Annotated[tuple[str, ...], Field(min_length=1)]

KIND = "alternation"
"""Value of ``kind`` in a file of this kind."""

DECIMALS = 6
"""Decimals of all results: further digits are rounding errors of the fit, which differ between machines."""


class AlternationCase(BaseModel):
    """One model: a polynomial regression on some features, trained on some rows."""

    model_config = STRICT

    name: Identifier
    title: str
    positive_target: bool = True  # whether only rows with a positive target count
    features: Names
    degree: StrictInt = Field(default=2, ge=1)
    encoding: Encoding = "one_hot"
    variants: tuple[Variant, ...] = Field(default=VARIANTS, min_length=1)


class AlternationExperiment(BaseModel):
    """The content of an experiment file of kind "alternation"."""

    model_config = STRICT

    kind: Literal["alternation"]
    name: Identifier  # name of the folder of results
    title: str  # a line for headings
    description: str = ""
    card: str  # a shipped card's name, or a path relative to the file
    target: str  # column of numbers that is predicted
    unit: str = ""  # unit of the target
    numeric: tuple[str, ...] = ()  # features that are numbers; all others are categories
    attributes: Names  # features whose values are exchanged
    keep: dict[str, Names] = {}  # raw values of the rows to use, by column of the card
    folds: StrictInt = Field(default=10, ge=2)
    seed: StrictInt = Field(ge=0)  # decides which row is in which fold
    penalty: float = Field(default=1.0, gt=0, allow_inf_nan=False)  # of squared coefficients
    cases: tuple[AlternationCase, ...] = Field(min_length=1)  # figures show the first variant of the first

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        names = [case.name for case in self.cases]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"cases: the name {repeated[0]!r} is used twice; give each its own name")
        if numbers := sorted({*self.attributes} & {*self.numeric}):
            raise ValueError(f"attributes: {numbers[0]!r} is numeric, and only categories can be exchanged")
        for case in self.cases:
            if missing := [name for name in self.attributes if name not in case.features]:
                raise ValueError(f"cases: {case.name!r} lacks the attribute {missing[0]!r} in its features")
            if self.target in case.features:
                raise ValueError(f"cases: {case.name!r} has the target {self.target!r} among its features")
        return self


@dataclass(frozen=True)
class AlternationOutcome:
    """Results of an alternation experiment."""

    # ``case``, then the columns of :func:`alternation_test`
    results: pd.DataFrame
    summary: pd.DataFrame  # of :func:`summarize_alternation`
    rows: dict[str, int]  # number of rows by case
    digest: str  # SHA-256 of the used rows and columns, equal for equal data


def load_alternation(name_or_path: str | Path) -> AlternationExperiment:
    """Return the content of a file of kind "alternation"; name and errors as `load_experiment_file`."""
    return load_experiment_file(AlternationExperiment, name_or_path, KIND)


def run_alternation(experiment: AlternationExperiment, sources: Sources = ANYWHERE) -> AlternationOutcome:
    """Return the results of an alternation experiment on the raw values of its dataset's files.

    A DataNotFoundError means that the files are missing and cannot be fetched: a learned network cannot stand
    in for them. An UnknownNameError means that the card lacks a column, a DataError that no row is left or
    that values are not numbers.
    """
    frame = _rows(experiment, sources)
    results, rows = {}, {}
    with one_thread():
        for case in experiment.cases:
            used = frame[frame[experiment.target] > 0] if case.positive_target else frame
            model = polynomial_regression(
                [name for name in case.features if name in experiment.numeric],
                [name for name in case.features if name not in experiment.numeric],
                degree=case.degree,
                penalty=experiment.penalty,
                encoding=case.encoding,
            )
            results[case.name] = alternation_test(
                used[list(case.features)].reset_index(drop=True),
                used[experiment.target].to_numpy(),
                model,
                experiment.attributes,
                variants=case.variants,
                n_folds=experiment.folds,
                seed=experiment.seed,
            )
            rows[case.name] = len(used)
    tidy = pd.concat(results, names=["case"]).reset_index(0).reset_index(drop=True).round(DECIMALS)
    summary = summarize_alternation(tidy).round(DECIMALS)
    digest = hashlib.sha256(frame.to_csv(index=False, lineterminator="\n").encode()).hexdigest()
    return AlternationOutcome(tidy, summary, rows, digest)


def _rows(experiment: AlternationExperiment, sources: Sources) -> pd.DataFrame:
    """Return the columns that the cases use, of the rows to keep, in the order of the files."""
    card = load_card(experiment.card)
    features = dict.fromkeys(name for case in experiment.cases for name in case.features)
    numeric = [experiment.target, *(name for name in features if name in experiment.numeric)]
    used = [experiment.target, *features]
    for name in (*used, *experiment.numeric, *experiment.keep):
        if name not in card.columns:
            raise UnknownNameError(f"column of the dataset {card.name!r}", name, card.columns)
    try:
        files = read_sources(card, sources)
    except DataNotFoundError as error:
        states = f"it has states of {experiment.target!r}, not numbers"
        error.what += f", and its embedded network cannot replace them: {states}"
        raise
    columns = read_card(card, files).columns
    frame = pd.DataFrame(
        {name: columns[card.columns[name].source or name].cells for name in (*used, *experiment.keep)}
    )
    n_rows = len(frame)
    for name, values in experiment.keep.items():
        frame = frame[frame[name].isin(values)]
    frame = frame[used].reset_index(drop=True)
    if frame.empty:
        raise DataError(
            f"No row of the dataset {card.name!r} is left",
            expected="rows with the values of 'keep'",
            got=f"none among {n_rows:,} rows",
            remedy="write these values as the file has them",
        )
    try:
        numbers: pd.DataFrame = frame.astype(dict.fromkeys(numeric, np.float64))
    except ValueError as error:
        raise DataError(
            f"A numeric column of the dataset {card.name!r} holds other values",
            expected="numbers in " + ", ".join(numeric),
            got=str(error),
            remedy="leave these rows out by 'keep', or the column out of 'numeric'",
        ) from error
    return numbers
