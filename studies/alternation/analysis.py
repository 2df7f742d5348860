r"""Alternation (Alelyani 2021): the influence of an attribute's value on a model's predictions.

``python -m studies.alternation.analysis`` computes ``results/alternation`` anew from the real data,
by the rules in ``cases.toml``.

Each row gets another identity, female for male and male for female, and a second prediction. The change of
each group's predictions, as a difference of means and as a Kullback-Leibler divergence, is the influence of
the attribute itself, with all other columns equal. Proxies stay as they are.
"""

import copy
import hashlib
import itertools
import math
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.data.card import load_card
from benchmark.data.load import read_card
from benchmark.data.source import ANYWHERE, Sources, read_sources
from benchmark.experiment.versions import package_versions
from benchmark.metrics.alternation import gaussian_kl
from benchmark.seeding import generator
from benchmark.statistics.cells import Array
from benchmark.text.writing import csv_text, write_atomically, write_json

FOLDER = Path(__file__).resolve().parents[2] / "results" / "alternation"
RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
VARIANTS = ("predict", "train", "retrain")
"""Rows that are alternated: the held-out rows, the training rows, or both."""

COLUMNS = (
    *("attribute", "first", "second", "variant", "fold", "group"),
    *("n", "mean", "mean_alternated", "kl", "kl_reverse", "reason"),
)
"""Columns of :func:`alternation_test`'s result."""

DECIMALS = 6
"""Decimals of all results: further digits are rounding errors of the fit, which differ between machines."""


def alternation_test(
    features: pd.DataFrame,
    target: Array,
    model: Any,
    attributes: Sequence[str],
    *,
    variants: Sequence[str] = VARIANTS[:1],
    n_folds: int = 10,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Return the predictions for held-out rows before and after an exchange of two values of an attribute.

    For each fold of shuffled rows, attribute and pair of its values, the model is trained on the other folds
    and predicts the fold's rows; then again with the two values exchanged, :math:`\varphi(D)`: ``predict``
    trains on D and predicts :math:`\varphi(D)` (the paper's sections 4.2 and 6.2), ``train`` the reverse,
    ``retrain`` trains on and predicts :math:`\varphi(D)` (section 5). Rows with other values keep them.

    The result has the columns :data:`COLUMNS`, a row for each attribute, pair of values, variant, fold and
    ``group``, one of the pair: the ``n`` held-out rows with this value before the exchange. ``kl`` is
    D(before || after), as in the paper, and ``kl_reverse`` the other direction.
    """
    order = generator(seed, purpose="alternation folds").permutation(len(features))
    folds = np.array_split(order, n_folds)
    training = [np.setdiff1d(order, fold) for fold in folds]

    def train(frame: pd.DataFrame, rows: NDArray[np.int64]) -> Any:
        trained = copy.deepcopy(model)
        trained.fit(frame.iloc[rows], target[rows])
        return trained

    models = [train(features, rows) for rows in training]
    before = [trained.predict(features.iloc[fold]) for trained, fold in zip(models, folds, strict=True)]
    compared: list[tuple[object, ...]] = []
    for attribute in attributes:
        values = np.array(features[attribute], dtype=object)
        for first, second in itertools.combinations(sorted(features[attribute].unique()), 2):
            exchange = {first: second, second: first}
            swapped = features.assign(**{attribute: features[attribute].replace(exchange)})
            retrained = [train(swapped, rows) for rows in training] if {*variants} - {"predict"} else models
            for variant, (i, fold) in itertools.product(variants, enumerate(folds)):
                frame = features if variant == "train" else swapped
                after = (models if variant == "predict" else retrained)[i].predict(frame.iloc[fold])
                for group in (first, second):
                    rows = values[fold] == group
                    figures = _compare(before[i][rows], after[rows])
                    compared.append((attribute, first, second, variant, i, group, *figures))
    return pd.DataFrame(compared, columns=list(COLUMNS))


def _compare(before: Array, after: Array) -> tuple[int, float, float, float, float, str]:
    """Return the number of rows, both means, both divergences, and the reason if they are missing."""
    n = len(before)
    means = (float(before.mean()), float(after.mean())) if n else (math.nan, math.nan)
    if n < 2:
        return n, *means, math.nan, math.nan, "no row" if n == 0 else "one row: no variance"
    return n, *means, gaussian_kl(before, after), gaussian_kl(after, before), ""


def summarize(results: pd.DataFrame) -> pd.DataFrame:
    """Return unweighted means over the folds, a row for each case, attribute, pair, variant and group."""
    key = ["case", *(name for name in COLUMNS[:6] if name != "fold")]
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
    return summary.reset_index().round(DECIMALS)


def polynomial_regression(
    features: Sequence[str], *, encoding: str = "one_hot", degree: int = 2, penalty: float = 1.0
) -> Any:
    r"""Return an untrained ridge regression on all monomials of columns of a data frame.

    Numbers are standardized; categories become columns of 0 and 1 or, as ``"ordinal"``, their standardized
    position in alphabetical order. The coefficients minimize
    :math:`\lVert y - b - \Phi w \rVert^2 + \lambda \lVert w \rVert^2`. The columns of 0 and 1 of a category
    sum to 1, so that plain least squares would have no unique solution.
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
    numeric, categorical = (
        [name for name in features if (name in RULES["numeric"]) == wanted] for wanted in (True, False)
    )
    columns = [("numeric", StandardScaler(), numeric), ("categorical", categories, categorical)]
    return make_pipeline(
        ColumnTransformer(columns),
        PolynomialFeatures(degree, include_bias=False),
        Ridge(alpha=penalty, solver="cholesky"),
    )


def read_rows(sources: Sources = ANYWHERE) -> pd.DataFrame:
    """Return the columns that the cases use, of the rows to keep, in the order of the dataset's files."""
    card = load_card(RULES["card"])
    columns = read_card(card, read_sources(card, sources)).columns
    used = [
        *dict.fromkeys([RULES["target"], *(name for case in RULES["cases"] for name in case["features"])])
    ]
    places = {name: card.columns[name].source or name for name in (*used, *RULES["keep"])}
    frame = pd.DataFrame({name: columns[place].cells for name, place in places.items()})
    for name, values in RULES["keep"].items():
        frame = frame[frame[name].isin(values)]
    numbers = [name for name in used if name in (RULES["target"], *RULES["numeric"])]
    return frame[used].reset_index(drop=True).astype(dict.fromkeys(numbers, np.float64))


def rows_of(case: dict[str, Any], rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a case: without some word, only those with a positive target."""
    return rows[rows[RULES["target"]] > 0] if case.get("positive_target", True) else rows


def results_of(
    case: dict[str, Any], rows: pd.DataFrame, attributes: Sequence[str] = RULES["attributes"]
) -> pd.DataFrame:
    """Return the results of a case, columns ``case`` and :data:`COLUMNS`."""
    used = rows_of(case, rows)
    results = alternation_test(
        used[case["features"]].reset_index(drop=True),
        used[RULES["target"]].to_numpy(),
        polynomial_regression(case["features"], encoding=case.get("encoding", "one_hot")),
        attributes,
        variants=case.get("variants", VARIANTS),
        n_folds=RULES["folds"],
        seed=RULES["seed"],
    )
    results.insert(0, "case", case["name"])
    return results.round(DECIMALS)


def write(sources: Sources = ANYWHERE) -> Iterator[Path]:
    """Write the results of all cases."""
    rows = read_rows(sources)
    results = pd.concat([results_of(case, rows) for case in RULES["cases"]], ignore_index=True)
    yield write_atomically(FOLDER / "results.csv", csv_text(results))
    yield write_atomically(FOLDER / "summary.csv", csv_text(summarize(results)))
    facts = {
        "experiment": RULES,
        "data_sha256": hashlib.sha256(rows.to_csv(index=False, lineterminator="\n").encode()).hexdigest(),
        "rows": {case["name"]: len(rows_of(case, rows)) for case in RULES["cases"]},
        "versions": package_versions(),
    }
    yield write_json(FOLDER / "manifest.json", facts)


if __name__ == "__main__":
    print(*write())
