"""Features of data that advice may be predicted from: rates, group sizes, associations with the group."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.data.association import group_associations
from benchmark.data.table import Table

_FOLDS = 5


@dataclass(frozen=True)
class DataFeatures:
    """Features of training rows, as they were recorded."""

    rows: float
    columns: float  # features, the sensitive one included
    share_deprived: float
    rate_deprived: float  # share of favorable labels in the deprived group
    rate_favored: float
    group_auc: float  # how well the other features tell the group: naive Bayes, cross-fitted
    label_auc: float  # how well the features tell the label
    strongest_proxy: float  # largest association (Cramér's V) of a feature with the group


FEATURES = tuple(field.name for field in fields(DataFeatures))

SHAPE = ("rows", "share_deprived", "base_rate", "gap", "group_auc", "label_auc")
"""What data are compared by with the data of an atlas."""


def shapes(features: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers that data are compared by, columns :data:`SHAPE`; ``features`` has FEATURES."""
    rates = features[["share_deprived", "rate_deprived", "rate_favored"]].to_numpy(dtype=float).T
    share, deprived, favored = rates
    base_rate = share * deprived + (1 - share) * favored
    return features.assign(base_rate=base_rate, gap=favored - deprived)[[*SHAPE]]


def is_ahead(gap: Any) -> Any:
    """Return whether the deprived group has the favorable label more often, by half a permille or more."""
    return np.round(gap, 3) < 0


LEVEL = ("dataset", "bias", "level", "unit")
"""Columns that name a level of bias in a dataset."""

FEATURE_COLUMNS = ("version", "part", "card", "cluster", *LEVEL, *FEATURES)
"""Columns of the table of features; ``docs/atlas.md`` explains them."""


def data_features(table: Table, persons: NDArray[np.intp] | None = None) -> DataFeatures:
    """Return the features of labeled rows; NaN where a group or a label is missing.

    ``persons``, shape (n_rows,), are the persons of the rows: an AUC is of other persons than its model's.
    """
    schema, y, deprived = table.schema, table.y, table.deprived
    columns = list(schema.insensitive_indices)
    cardinalities = schema.cardinalities
    everything = list(schema.feature_indices)

    def rate(rows: NDArray[np.bool_]) -> float:
        return float(y[rows].mean()) if rows.any() else np.nan

    return DataFeatures(
        rows=float(len(table)),
        columns=float(len(everything)),
        share_deprived=float(deprived.mean()),
        rate_deprived=rate(deprived),
        rate_favored=rate(~deprived),
        group_auc=_auc(table.codes[:, columns], cardinalities[columns], deprived, persons),
        label_auc=_auc(table.codes[:, everything], cardinalities[everything], y, persons),
        strongest_proxy=max(group_associations(table).values(), default=0.0),
    )


def _auc(
    codes: NDArray[np.int16],
    cardinalities: NDArray[np.int64],
    target: NDArray[np.bool_],
    persons: NDArray[np.intp] | None,
) -> float:
    """Return the AUC of cross-fitted naive Bayes; NaN with too few rows, or persons, of one side."""
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import CategoricalNB

    units = np.arange(len(target)) if persons is None else persons
    if min(len(np.unique(units[target == side])) for side in (False, True)) < _FOLDS or not codes.shape[1]:
        return np.nan
    kind = StratifiedKFold if persons is None else StratifiedGroupKFold
    parts = kind(_FOLDS, shuffle=True, random_state=0)
    model = CategoricalNB(min_categories=cardinalities)
    scores = cross_val_predict(model, codes, target, groups=persons, cv=parts, method="predict_proba")[:, 1]
    return float(roc_auc_score(target, scores))
