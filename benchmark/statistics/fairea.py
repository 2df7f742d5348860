"""Fairea: trade-offs against what overwriting predictions at random would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from benchmark.errors import StatisticsError, UnknownNameError
from benchmark.metrics import GroupCounts, one_value_each
from benchmark.statistics.frames import Cells, first_true, require_known, to_cells

Region = Literal["win_win", "good", "bad", "inverted", "lose_lose", "unchanged"]

REGIONS: tuple[Region, ...] = ("win_win", "good", "bad", "inverted", "lose_lose", "unchanged")
"""Where a technique can end; see :func:`regions`."""

FAIREA_COLUMNS = (
    *("dataset", "bias", "beta", "technique", "classifier", "original", "accuracy", "metric"),
    *("n", "missing", *REGIONS, "reason"),
)
"""Columns of :func:`fairea_regions`."""

SHARES = tuple(float(share) for share in np.linspace(0, 1, 11))
"""Shares of predictions that are overwritten, by default."""


def constant_accuracy(counts: ArrayLike) -> float:
    """Return the accuracy of predicting everybody the class that is more common among the labels.

    Parameters
    ----------
    counts : array_like, shape (n_groups, 2, 2)
        Test rows by [group][favorable label][favorable prediction], as the store has them.

    Returns
    -------
    float
    """
    by_label = _checked(counts).sum(axis=(0, 2))
    return float(by_label.max() / by_label.sum())


def mutation_baseline(
    counts: ArrayLike,
    deprived: int,
    metrics: Sequence[str] = ("accuracy", "discrimination", "overestimation", "underestimation"),
    *,
    shares: Sequence[float] = SHARES,
) -> pd.DataFrame:
    r"""Return what metrics are expected to be when predictions are overwritten at random.

    Of all predictions, a share s chosen at random is replaced by the constant class that is the more
    accurate, the unfavorable one where both are alike. With :math:`n_{gy\hat y}` the counts of the original
    predictions, those of the mutated ones are on average :math:`(1 - s) n_{gy\hat y}` for the other class,
    and what is missing for the constant one. No model is asked again.

    Accuracy, and every difference between two groups' shares of rows with given labels, is linear in the
    counts, so that its expected value is exactly what is returned. It lies on a straight line:
    :math:`(1 - s) a + s a_c` for the accuracies :math:`a` and :math:`a_c` of the original and the constant
    predictions, and :math:`(1 - s) d` for a difference :math:`d`. Of other metrics, this is their value at
    the expected counts.

    Parameters
    ----------
    counts : array_like, shape (n_groups, 2, 2)
        Test rows by [group][favorable label][favorable prediction], as the store has them.
    deprived : int
        Position of the deprived group; all others together are the favored one.
    metrics : sequence of str
        Names of metrics that need nothing but counts; by default those of the main paper.
    shares : sequence of float, default 0 to 1 by 0.1
        Shares of the predictions that are overwritten.

    Returns
    -------
    DataFrame
        Columns ``share`` and the metrics' names; NaN where a metric is undefined.

    Raises
    ------
    StatisticsError
        If the counts or a share make no sense.
    UnknownNameError
        If a metric is unknown.

    References
    ----------
    Hort, Zhang, Sarro and Harman (2021), Fairea: a model behaviour mutation approach to benchmarking bias
    mitigation methods, ESEC/FSE. There, predictions are overwritten at random, many times.
    """
    table = _checked(counts)
    if not 0 <= deprived < len(table):
        raise StatisticsError(
            "The deprived group is not among the counts",
            expected=f"a position from 0 to {len(table) - 1}",
            got=f"{deprived}",
            remedy="give the position of the group on the first axis of the counts",
        )
    if not all(0 <= share <= 1 for share in shares):
        raise StatisticsError(
            "A share of predictions cannot be overwritten",
            expected="numbers from 0 to 1",
            got=f"{shares}",
            remedy="give shares, not percentages",
        )
    names = tuple("deprived" if code == deprived else f"other {code}" for code in range(len(table)))
    by_label = table.sum(axis=(0, 2))
    constant = int(by_label[1] > by_label[0])
    rows = []
    for share in shares:
        mutated = (1 - share) * table
        mutated[:, :, constant] += share * table.sum(axis=2)
        found = one_value_each(GroupCounts(names, mutated, table.astype(np.int64)), deprived, metrics)
        rows.append({"share": share, **found.values})
    return pd.DataFrame(rows)


def regions(
    accuracy: NDArray[np.float64],
    bias: NDArray[np.float64],
    original_accuracy: NDArray[np.float64],
    original_bias: NDArray[np.float64],
    constant: NDArray[np.float64] | float,
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

    The baseline is the straight line of :func:`mutation_baseline`, from the original accuracy :math:`a` and
    bias :math:`b` to the accuracy :math:`a_c` of a constant prediction, which has no bias: at bias
    :math:`x` it is at :math:`a_c + (a - a_c) x / b`.

    ``bias`` is the absolute difference between the groups, ``constant`` the accuracy of the constant
    prediction. Each is one of :data:`REGIONS`; empty where a number is NaN.

    References
    ----------
    Hort, Zhang, Sarro and Harman (2021), Fairea, section 3; what lies on a border, they leave open.
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
    original: str,
    constant_accuracies: Mapping[str, float],
    metrics: Sequence[str] = ("discrimination", "overestimation", "underestimation"),
    *,
    accuracy: str = "accuracy",
) -> pd.DataFrame:
    """Count in which share of the repetitions each technique ends in which of Fairea's regions.

    Parameters
    ----------
    results : DataFrame or Cells
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`.
    original : str
        Technique whose predictions are the original ones, on the same repetition.
    constant_accuracies : mapping of str to float
        :func:`constant_accuracy` of each dataset.
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

    Raises
    ------
    StatisticsError
        If the results are malformed.
    UnknownNameError
        If the original, a metric or a dataset is unknown.

    References
    ----------
    Hort, Zhang, Sarro and Harman (2021), Fairea.
    """
    cells = to_cells(results)
    require_known("technique", [original], cells.keys["technique"])
    require_known("metric", [accuracy, *metrics], cells.keys["metric"])
    for dataset in cells.keys["dataset"].unique():
        if dataset not in constant_accuracies:
            raise UnknownNameError("dataset", dataset, constant_accuracies)
    own = np.flatnonzero(cells.keys["metric"].isin(metrics) & (cells.keys["technique"] != original))

    def values(**replaced: str | float) -> NDArray[np.float64]:
        rows = cells.find(**replaced)[own]
        return np.where((rows >= 0)[:, None], cells.values[rows], np.nan)

    keys = cells.keys.iloc[own].reset_index(drop=True)
    constants = np.array([[constant_accuracies[dataset]] for dataset in keys["dataset"]])
    found = regions(
        values(metric=accuracy),
        np.abs(values()),
        values(metric=accuracy, technique=original),
        np.abs(values(technique=original)),
        constants,
    )
    n = (found != "").sum(axis=1)
    table = keys.assign(original=original, accuracy=accuracy, n=n, missing=cells.n_expected[own] - n)
    for region in REGIONS:
        table[region] = np.where(n > 0, (found == region).sum(axis=1) / np.maximum(n, 1), np.nan)
    table["reason"] = np.where(n > 0, "", "no repetition has all values of technique and original")
    return table[list(FAIREA_COLUMNS)]


def _checked(counts: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(counts, dtype=float)
    if table.ndim != 3 or table.shape[1:] != (2, 2) or not (table >= 0).all() or not table.sum() > 0:
        raise StatisticsError(
            "The counts of predictions cannot be used",
            expected="numbers of rows, shape (n_groups, 2, 2), not all 0",
            got=f"shape {table.shape}",
            remedy="pass the counts of a cell whose status is ok",
        )
    return table
