"""Fairea: trade-offs against what overwriting predictions at random would give."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.errors import UnknownNameError
from benchmark.statistics.frames import (
    Array,
    Baseline,
    Cells,
    first_true,
    known_baselines,
    require_known,
    to_cells,
)

REGIONS = ("win_win", "good", "bad", "inverted", "lose_lose", "unchanged")
"""Where a technique can end; see :func:`regions`."""

FAIREA_COLUMNS = (
    *("dataset", "bias", "beta", "technique", "classifier", "test", "original", "accuracy", "metric"),
    *("n", "missing", *REGIONS, "reason"),
)
"""Columns of :func:`fairea_regions`."""


def regions(
    accuracy: Array,
    bias: Array,
    original_accuracy: Array,
    original_bias: Array,
    constant: Array | float,
) -> NDArray[np.str_]:
    r"""Return the region of each technique's trade-off.

    =============  ================================================================
    ``win_win``    nowhere worse than the original predictions, and somewhere better
    ``lose_lose``  nowhere better than the original, and somewhere worse
    ``inverted``   more accurate and more biased
    ``good``       less accurate and less biased, but above the mutation baseline
    ``bad``        less accurate and less biased, on the mutation baseline or below
    ``unchanged``  as accurate and as biased as the original
    =============  ================================================================

    The mutation baseline is what overwriting predictions at random with the better constant one gives on
    average: accuracy, and every difference between two groups' shares of rows with given labels, is linear in
    the counts of predictions. It is the straight line from the original accuracy :math:`a` and bias :math:`b`
    to the accuracy :math:`a_c` of the constant prediction, which has no bias: at bias :math:`x` it is at
    :math:`a_c + (a - a_c) x / b`.

    ``bias`` is the absolute difference between the groups, ``constant`` the accuracy of the constant
    prediction. Each is one of :data:`REGIONS`; empty where a number is NaN.

    References
    ----------
    Hort, Zhang, Sarro and Harman (2021), Fairea: a model behaviour mutation approach to benchmarking bias
    mitigation methods, ESEC/FSE, section 3. What lies on a border, they leave open.
    """
    less_biased = bias < original_bias
    slope = (original_accuracy - constant) / np.where(less_biased, original_bias, 1)
    baseline = constant + slope * bias
    missing = np.isnan(accuracy + bias + original_accuracy + original_bias + constant)
    return first_true(
        {
            "": missing,
            "unchanged": (accuracy == original_accuracy) & (bias == original_bias),
            "win_win": (accuracy >= original_accuracy) & (bias <= original_bias),
            "lose_lose": (accuracy <= original_accuracy) & (bias >= original_bias),
            "inverted": ~less_biased,
            "good": accuracy > baseline,
        },
        "bad",
    )


def fairea_regions(
    results: pd.DataFrame | Cells,
    original: Baseline,
    constant_accuracies: Mapping[str, float],
    metrics: Sequence[str] = ("discrimination", "overestimation", "underestimation"),
    *,
    accuracy: str = "accuracy",
) -> pd.DataFrame:
    """Count in which share of the repetitions each technique ends in which of Fairea's regions.

    Parameters
    ----------
    original : str, or mapping of str to str
        Technique whose predictions are the original ones, on the same repetition; or that of each technique.
    constant_accuracies : mapping of str to float
        Accuracy of the more accurate constant prediction on the test rows of each dataset.
    metrics : sequence of str
        Names of metrics that measure bias. Each must be a difference between two groups' shares of rows with
        given labels, 0 being ideal: only then is the mutation baseline a straight line.
    accuracy : str, default "accuracy"
        Name of the accuracy.

    Returns
    -------
    DataFrame
        Columns :data:`FAIREA_COLUMNS`, one row for each cell of the other techniques and bias metric: ``n``
        and ``missing`` are the repetitions with and without all four numbers, and each region of
        :data:`REGIONS` has its share of the former; NaN with a reason where there is none.
    """
    cells = to_cells(results)
    names = known_baselines(cells, original)
    require_known("metric", [accuracy, *metrics], cells.keys["metric"])
    for dataset in cells.keys["dataset"].unique():
        if dataset not in constant_accuracies:
            raise UnknownNameError("dataset", dataset, constant_accuracies)
    own = np.flatnonzero(cells.keys["metric"].isin(metrics) & (cells.keys["technique"] != names))

    def values(**replaced: str | pd.Series) -> Array:
        rows = cells.find(**replaced)[own]
        return np.where((rows >= 0)[:, None], cells.values[rows], np.nan)

    keys = cells.keys.iloc[own].reset_index(drop=True)
    constants = np.array([[constant_accuracies[dataset]] for dataset in keys["dataset"]])
    found = regions(
        values(metric=accuracy),
        np.abs(values()),
        values(metric=accuracy, technique=names),
        np.abs(values(technique=names)),
        constants,
    )
    n = (found != "").sum(axis=1)
    table = keys.assign(
        original=names.to_numpy()[own], accuracy=accuracy, n=n, missing=cells.n_expected[own] - n
    )
    for region in REGIONS:
        table[region] = np.where(n > 0, (found == region).sum(axis=1) / np.maximum(n, 1), np.nan)
    table["reason"] = np.where(n > 0, "", "no repetition has all values of technique and original")
    return table[list(FAIREA_COLUMNS)]
