"""Tests on arrays: one row per test, one column per pair or block."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr

from benchmark.seeding import generator
from benchmark.statistics.cells import ROUNDING, Array, row_means
from benchmark.statistics.intervals import standard_errors

N_FLIPS = 9999
"""Number of random sign flips, by default."""

_ROWS_AT_ONCE = 64
_MOST_EXACT = 50, 13  # differences without zeros and ties, and with them


def friedman(values: Array) -> tuple[float, float]:
    r"""Return a test of whether k treatments have the same ranks within N blocks: F, and its p-value.

    With the ranks :math:`r_{ij}` of treatment j within block i, ties sharing the average, and their means
    :math:`R_j` over the blocks,

    .. math::

        \chi^2 = \frac{(k - 1) N \sum_j (R_j - \frac{k + 1}{2})^2}
                       {\frac{1}{N} \sum_{ij} (r_{ij} - \frac{k + 1}{2})^2}, \qquad
        F = \frac{(N - 1) \chi^2}{N (k - 1) - \chi^2}.

    Without ties, :math:`\chi^2` is Friedman's statistic as usually written; with ties its denominator is
    smaller. F has :math:`k - 1` and :math:`(k - 1)(N - 1)` degrees of freedom.

    ``values`` have shape (N, k), with at least two blocks and two treatments. The result is NaN where all
    treatments tie in every block.

    Friedman (1937); Iman and Davenport (1980); Conover (1999), Practical nonparametric statistics, section
    5.8; Demsar (2006), Statistical comparisons of classifiers over multiple data sets, section 3.2.2.
    """
    n, k = values.shape
    from scipy.stats import rankdata  # loads for half a second

    centered = rankdata(values, axis=1) - (k + 1) / 2
    df = k - 1
    if not centered.any():
        return math.nan, math.nan
    chi2 = df * n**2 * float((centered.mean(axis=0) ** 2).sum() / (centered**2).sum())
    rest = n * df - chi2
    if rest <= ROUNDING * n * df:
        # All blocks agree. F has no p-value then: few blocks cannot give a p-value of 0.
        return math.inf, math.nan
    f = (n - 1) * chi2 / rest
    return f, float(fdtrc(df, df * (n - 1), f))


def wilcoxon_p_values(differences: Array) -> Array:
    """Return two-sided p-values of Wilcoxon's signed-rank test, shape (n_rows,).

    Each row of ``differences`` is a test, of at least one column. The ranks of zeros are split between both
    signs (Demsar 2006, section 3.1.3). As in :func:`scipy.stats.wilcoxon`, tests are exact up to 50
    differences without zeros and ties, and up to 13 with them. NaN where all differences are zero. Wilcoxon
    (1945), Individual comparisons by ranking methods.
    """
    from scipy.stats import wilcoxon

    sizes = np.sort(np.abs(differences), axis=1)
    clean = (sizes[:, 0] > 0) & (np.diff(sizes, axis=1) > 0).all(axis=1)
    some = sizes[:, -1] > 0
    exact = some & (differences.shape[1] <= np.where(clean, *_MOST_EXACT))
    p = np.full(len(differences), np.nan)
    p[exact] = _exact_wilcoxon(differences[exact])
    if (rest := some & ~exact).any():
        p[rest] = wilcoxon(differences[rest], zero_method="zsplit", axis=1).pvalue
    return p


def _exact_wilcoxon(differences: Array) -> Array:
    """Return the two-sided p-value of each row, over all signs of its differences that are not zero.

    scipy takes seconds to try all signs where there are ties. Here they are counted by rank sum, once for all
    rows with the same ranks.
    """
    from scipy.stats import rankdata

    # Shared ranks end in one half at most: twice a rank is a whole number.
    ranks = np.rint(2 * rankdata(np.abs(differences), axis=1)).astype(np.int64)
    ranks[differences == 0] = 0
    observed = np.where(differences > 0, ranks, 0).sum(axis=1)
    p = np.empty(len(differences))
    patterns, pattern = np.unique(np.sort(ranks, axis=1), axis=0, return_inverse=True)
    for number, signed in enumerate(patterns):
        ways = np.zeros(int(signed.sum()) + 1)
        ways[0] = 1
        for rank in signed[signed > 0]:
            ways[rank:] += ways[:-rank].copy()
        rows = pattern.ravel() == number
        fewer, more = np.cumsum(ways)[observed[rows]], np.cumsum(ways[::-1])[::-1][observed[rows]]
        p[rows] = np.minimum(1.0, 2 * np.minimum(fewer, more) / 2.0 ** np.count_nonzero(signed))
    return p


def sign_flip_p_values(differences: Array, n_flips: int = N_FLIPS) -> Array:
    r"""Return two-sided p-values of the hypothesis that differences are symmetric about 0.

    The statistic is the absolute sum. All :math:`2^n` sign patterns of the n differences are tried if they
    are at most ``n_flips``. Then p is the share with at least the observed statistic. Otherwise ``n_flips``
    patterns are drawn, and p is the share among these and the observed one: :math:`(1 + b) / (1 + B)`, which
    is never 0.

    Each row of ``differences``, shape (n_rows, n), is a test; they share the signs. A row of zeros has p = 1.

    Fisher (1935), The design of experiments, section 21; Phipson and Smyth (2010), Permutation p-values
    should never be zero.
    """
    n = differences.shape[1]
    exact = bool(is_exact(np.array(n), n_flips))
    if exact:
        # Opposite signs give the same statistic, so the first difference keeps its sign.
        patterns = np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1) & 1
        signs = np.hstack([np.ones((len(patterns), 1)), 1.0 - 2.0 * patterns])
    else:
        drawn = generator(0, purpose="sign flips", n=n).integers(0, 2, size=(n_flips, n))
        signs = 1.0 - 2.0 * drawn
    p = np.empty(len(differences))
    for start in range(0, len(differences), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        block = differences[rows]
        least = np.abs(block.sum(axis=1)) - ROUNDING * np.abs(block).sum(axis=1)
        reached = np.abs(block @ signs.T) >= least[:, None]
        p[rows] = reached.mean(axis=1) if exact else (1 + reached.sum(axis=1)) / (1 + n_flips)
    return p


def flips_needed(n_tests: int, alpha: float) -> int:
    """Return the number of random sign flips with which Holm's correction of n_tests can reach alpha."""
    return max(N_FLIPS, math.ceil(n_tests / alpha))


def holm(p_values: Array) -> Array:
    r"""Return p-values corrected for their number, which bounds the chance of any false finding.

    With the m defined p-values in ascending order, the i-th becomes
    :math:`\max_{j \le i} \min(1, (m - j + 1) p_j)`. NaN stays NaN and does not count as a test. Holm (1979),
    A simple sequentially rejective multiple test procedure.
    """
    corrected = np.full(len(p_values), np.nan)
    defined = np.flatnonzero(~np.isnan(p_values))
    order = defined[np.argsort(p_values[defined], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.maximum.accumulate(np.minimum(1, factors * p_values[order]))
    return corrected


def is_exact(n: NDArray[np.int64], n_flips: int) -> NDArray[np.bool_]:
    """Return whether :func:`sign_flip_p_values` of n differences tries all signs."""
    return n <= math.log2(n_flips)


CORRECTED = "corrected t"
"""Name of the test in :func:`corrected_t_p_values`."""


def corrected_t_p_values(values: Array, overlap: Array, estimate: Array | None = None) -> Array:
    r"""Return the two-sided p-value of each row's mean being 0, by the corrected resampled t-test.

    The values are from repeated splits of the same rows. The test is Student's with the standard error
    :math:`s \sqrt{1 / n + \mathrm{overlap}}`. ``overlap`` is the number of tested rows over the number of all
    other rows; ``estimate`` takes the place of the mean. NaN where there are fewer than two values; 1 where
    all are 0. Nadeau and Bengio (2003), Inference for the generalization error; Bouckaert and Frank (2004),
    Evaluating the replicability of significance tests for comparing learning algorithms.
    """
    n = np.isfinite(values).sum(axis=1)
    mean = np.where(n > 1, row_means(values) if estimate is None else estimate, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(mean) / standard_errors(values, overlap)
    p = 2 * stdtr(np.maximum(n - 1.0, 1.0), -t)
    return np.asarray(np.where(mean == 0, 1.0, p))
