"""Random effects: a contrast that was measured on several sources, and on the next one.

``means`` have shape (n_rows, k): a contrast in each row, a source in each column. ``variances`` are those of
the means by chance, squares of :func:`~benchmark.statistics.intervals.standard_errors` with the sources'
overlap. The mean over sources has :func:`~benchmark.statistics.intervals.student_intervals`.
"""

import numpy as np
from scipy.special import stdtrit

from benchmark.statistics.cells import Array
from benchmark.statistics.intervals import CONFIDENCE

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


def prediction_intervals(
    means: Array, variances: Array | None = None, noise: Array | float | None = None
) -> tuple[Array, Array]:
    r"""Return the ends of each row's prediction interval, of 95 %, of the mean that a new source will have.

    It is for the measured mean, chance included: :math:`\bar y \pm t_{k-1} \sqrt{\tau^2 + v + s^2 / k}`. Here
    :math:`s^2` is the variance of the k means, :math:`\tau^2` their :func:`heterogeneity`, and v the variance
    of the new mean by chance: ``noise``, or the mean of ``variances``. Without ``variances``, :math:`s^2`
    stands for :math:`\tau^2 + v`; the new source is then one of the same sizes. NaN below two sources.
    Higgins, Thompson and Spiegelhalter (2009), A re-evaluation of random-effects meta-analysis; IntHout,
    Ioannidis, Rovers and Goeman (2016), Plea for routinely presenting prediction intervals in meta-analysis.
    """
    k = means.shape[1]
    if k < 2:
        return np.full(len(means), np.nan), np.full(len(means), np.nan)
    spread = means.var(axis=1, ddof=1)
    single = spread if variances is None else heterogeneity(means, variances)
    if variances is not None:
        single = single + (variances.mean(axis=1) if noise is None else noise)
    half = stdtrit(k - 1.0, (1 + CONFIDENCE) / 2) * np.sqrt(single + spread / k)
    center = means.mean(axis=1)
    return center - half, center + half
