"""Tests and effect sizes on arrays: one row per test, one column per pair or block."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, stdtr

from benchmark.seeding import generator
from benchmark.statistics.cells import ROUNDING, Array, all_equal, row_means
from benchmark.statistics.intervals import standard_errors

N_FLIPS = 9999
"""Number of random sign flips, by default."""

_ROWS_AT_ONCE = 64
_MOST_ENUMERATED = 13  # differences; scipy tries all signs of as many if there are zeros or ties


@dataclass(frozen=True)
class Friedman:
    """Friedman's and Iman and Davenport's statistics with their p-values, from :func:`friedman`.

    The first is chi-squared distributed with ``df`` degrees of freedom, :math:`k - 1`. The second has an F
    distribution with ``df`` and ``df_error``, :math:`(k - 1)(N - 1)`.
    """

    chi2: float
    p_chi2: float
    df: int
    f: float
    p_f: float
    df_error: int


def friedman(values: Array) -> Friedman:
    r"""Return a test of whether k treatments have the same ranks within N blocks.

    With the ranks :math:`r_{ij}` of treatment j within block i, ties sharing the average, and their means
    :math:`R_j` over the blocks,

    .. math::

        \chi^2 = \frac{(k - 1) N \sum_j (R_j - \frac{k + 1}{2})^2}
                       {\frac{1}{N} \sum_{ij} (r_{ij} - \frac{k + 1}{2})^2}, \qquad
        F = \frac{(N - 1) \chi^2}{N (k - 1) - \chi^2}.

    Without ties this is Friedman's statistic as usually written; with ties its denominator is smaller.

    ``values`` have shape (N, k), with at least two blocks and two treatments. The result is NaN where all
    treatments tie in every block. With few blocks, the p-value of chi-squared is too large; F has a better
    one.

    Friedman (1937); Iman and Davenport (1980); Conover (1999), Practical nonparametric statistics, section
    5.8; Demsar (2006), Statistical comparisons of classifiers over multiple data sets, section 3.2.2.
    """
    n, k = values.shape
    from scipy.stats import rankdata  # loads for half a second

    centered = rankdata(values, axis=1) - (k + 1) / 2
    df, df_error = k - 1, (k - 1) * (n - 1)
    if not centered.any():
        return Friedman(math.nan, math.nan, df, math.nan, math.nan, df_error)
    chi2 = df * n**2 * float((centered.mean(axis=0) ** 2).sum() / (centered**2).sum())
    rest = n * df - chi2
    f = (n - 1) * chi2 / rest if rest > ROUNDING * n * df else math.inf
    # Where all blocks agree, F is infinite and has no p-value: few blocks cannot give a p-value of 0.
    p_f = float(fdtrc(df, df_error, f)) if math.isfinite(f) else math.nan
    return Friedman(chi2, float(chdtrc(df, chi2)), df, f, p_f, df_error)


def wilcoxon_p_values(differences: Array, zeros: Literal["wilcox", "zsplit"] = "wilcox") -> Array:
    """Return two-sided p-values of Wilcoxon's signed-rank test, shape (n_rows,).

    Each row of ``differences`` is a test, of at least one column. Differences of zero are left out
    (``"wilcox"``), or their ranks are split between both signs (``"zsplit"``; Demsar 2006, section 3.1.3).
    As in :func:`scipy.stats.wilcoxon`, tests are exact up to 50 differences without zeros and ties, and up to
    13 with them. NaN where all differences are zero. Wilcoxon (1945), Individual comparisons by ranking
    methods.
    """
    from scipy.stats import wilcoxon

    sizes = np.sort(np.abs(differences), axis=1)
    clean = (sizes[:, 0] > 0) & (np.diff(sizes, axis=1) > 0).all(axis=1)
    p = np.full(len(differences), np.nan)
    if clean.any():
        p[clean] = wilcoxon(differences[clean], axis=1).pvalue
    # scipy would give no row the exact distribution if any had ties.
    tied = ~clean & (sizes[:, -1] > 0)
    if differences.shape[1] <= _MOST_ENUMERATED:
        p[tied] = _exact_with_ties(differences[tied], zeros)
    elif tied.any():
        p[tied] = wilcoxon(differences[tied], zero_method=zeros, axis=1).pvalue
    return p


def _exact_with_ties(differences: Array, zeros: Literal["wilcox", "zsplit"]) -> Array:
    """Return the two-sided p-value of each row, over all signs of its differences that are not zero.

    scipy takes seconds to try all signs. Here they are counted by rank sum, once for all rows with the same
    ranks.
    """
    from scipy.stats import rankdata

    # Shared ranks end in one half at most: twice a rank is a whole number. Zeros have the lowest.
    ranks = np.rint(2 * rankdata(np.abs(differences), axis=1)).astype(np.int64)
    if zeros == "wilcox":
        ranks -= 2 * (differences == 0).sum(axis=1, keepdims=True)
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


def sign_flip_p_values(differences: Array, n_flips: int = N_FLIPS, seed: int = 0) -> Array:
    r"""Return two-sided p-values of the hypothesis that differences are symmetric about 0.

    The statistic is the absolute sum. All :math:`2^n` sign patterns of the n differences are tried if they
    are at most ``n_flips``. Then p is the share with at least the observed statistic. Otherwise ``n_flips``
    patterns are drawn, and p is the share among these and the observed one: :math:`(1 + b) / (1 + B)`, which
    is never 0.

    Each row of ``differences``, shape (n_rows, n), is a test; they share the signs, which ``seed`` decides.
    A row of zeros has p = 1.

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
        drawn = generator(seed, purpose="sign flips", n=n).integers(0, 2, size=(n_flips, n))
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


def cohens_d_z(differences: Array) -> Array:
    """Return each row's mean difference over its standard deviation (n - 1); NaN where all are equal.

    Cohen (1988), Statistical power analysis for the behavioral sciences, section 2.3.5.
    """
    equal = all_equal(differences)
    deviation = np.where(equal, 1, differences.std(axis=1, ddof=1))
    return np.where(equal, np.nan, differences.mean(axis=1) / deviation)


def rank_biserial(differences: Array) -> Array:
    r"""Return matched-pairs rank-biserial correlations, from -1 (all negative) to 1 (all positive).

    It is :math:`(R^+ - R^-) / (R^+ + R^-)`, with the sums of ranks, by absolute value, of each row's positive
    and negative differences. Zeros are left out, and a row of zeros has NaN.

    Kerby (2014), The simple difference formula; King, Rosopa and Minium (2011), Statistical reasoning in the
    behavioral sciences.
    """
    from scipy.stats import rankdata

    # Zeros rank below all others and raise every other rank by their number, which is subtracted.
    n_zeros = (differences == 0).sum(axis=1, keepdims=True)
    ranks = np.where(differences == 0, 0, rankdata(np.abs(differences), axis=1) - n_zeros)
    total = ranks.sum(axis=1)
    in_favor = (ranks * np.sign(differences)).sum(axis=1)
    return np.where(total > 0, in_favor / np.maximum(total, 1), np.nan)


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
