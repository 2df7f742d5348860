"""Random effects: a contrast that was measured on several sources, and on the next one.

``means`` have shape (n_rows, k): a contrast in each row, a source in each column. ``variances`` are those of
the means by chance, squares of :func:`~benchmark.statistics.intervals.standard_errors` with the sources'
overlap.
"""

import numpy as np

from benchmark.statistics.cells import Array

_HALVINGS = 60


def heterogeneity(means: Array, variances: Array) -> Array:
    r"""Return the variance :math:`\tau^2` of true values between sources by row, shape (n_rows,).

    It solves :math:`\sum_i w_i (y_i - \bar y_w)^2 = k - 1`, where :math:`w_i = 1 / (\tau^2 + v_i)` weigh the
    means :math:`y_i`. It is 0 where the means differ no more than by chance. It is NaN below two sources, and
    where a number is missing. Paule and Mandel (1982), Consensus values and weighting factors; DerSimonian
    and Kacker (2007), Random-effects model for meta-analysis of clinical trials: an update.
    """
    if means.shape[1] < 2:
        return np.full(len(means), np.nan)
    low, high = np.zeros(len(means)), means.var(axis=1, ddof=1)  # no tau^2 is above this variance
    known = np.isfinite(high) & np.isfinite(variances).all(axis=1)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = 1 / (middle[:, None] + variances)
            center = (weights * means).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
            more = (weights * (means - center) ** 2).sum(axis=1) > means.shape[1] - 1
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.where(known, low, np.nan)


def variance_of_next(means: Array, variances: Array, noise: Array | float | None = None) -> Array:
    r"""Return the variance :math:`\tau^2 + v` of the mean that the next source will have, shape (n_rows,).

    :math:`\tau^2` is :func:`heterogeneity`, and v the variance of the new mean by chance: ``noise``, or the
    mean of ``variances``.
    """
    return heterogeneity(means, variances) + (variances.mean(axis=1) if noise is None else noise)
