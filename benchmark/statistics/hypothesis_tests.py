"""Tests on arrays: one row per test, one column per pair or block."""

import math

import numpy as np
from scipy.special import fdtrc, nctdtrinc, stdtr, stdtrit

from benchmark.errors import StatisticsError
from benchmark.seeding import generator
from benchmark.statistics.cells import ROUNDING, Array, row_means
from benchmark.statistics.intervals import standard_errors

N_FLIPS = 9999
"""Number of random sign flips of a family of tests, at least."""

MOST_TRIED = 20
"""Most differences of which all sign patterns are tried; of more, they are counted on a grid."""

MOST_COUNTED = 1000
"""Most differences that are counted: a number of patterns is a float, at most about 2 to the 1,023."""

AGREED = 1e-4
"""Most by which the bounds of a decided p-value differ."""

POWER = 0.8
"""Chance with which :func:`smallest_difference` is shown."""

_SUMS_AT_ONCE = 2**20
_GRIDS = 2**18, 2**21, 2**24  # cells, coarse first: an array of eight bytes a cell is added to itself n times
_NEAR = 1e-5  # of the range of values, the distance at which the end of an interval is found
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
    from scipy.stats import rankdata, wilcoxon

    sizes = np.sort(np.abs(differences), axis=1)
    clean = (sizes[:, 0] > 0) & (np.diff(sizes, axis=1) > 0).all(axis=1)
    some = sizes[:, -1] > 0
    exact = some & (differences.shape[1] <= np.where(clean, *_MOST_EXACT))
    p = np.full(len(differences), np.nan)
    # The test is that of sign flips of signed ranks: halves at most, which a grid holds exactly.
    ranks = np.sign(differences) * rankdata(np.abs(differences), axis=1)
    p[exact] = [_bounds_on(row[row != 0], _GRIDS[0])[1] for row in ranks[exact]]
    if (rest := some & ~exact).any():
        p[rest] = wilcoxon(differences[rest], zero_method="zsplit", axis=1).pvalue
    return p


def sign_flip_p_values(differences: Array, n_flips: int | None = None) -> Array:
    r"""Return two-sided p-values of the hypothesis that differences are symmetric about 0.

    The statistic is the absolute sum, and p is the share of the :math:`2^n` sign patterns of the n
    differences with at least the observed statistic. Up to :data:`MOST_TRIED` differences, all are tried. Of
    more, p is the upper one of :func:`sign_flip_bounds`, and NaN, *undecided*, where these differ by more
    than :data:`AGREED`.

    If ``n_flips`` is given, so many patterns are drawn instead, and p is the share among these and the
    observed one: :math:`(1 + b) / (1 + B)`, which is never 0.

    Each row of ``differences``, shape (n_rows, n), is a test; random signs are shared. A row of zeros has
    p = 1, and one with a number that is not finite has NaN.

    Fisher (1935), The design of experiments, section 21; Phipson and Smyth (2010), Permutation p-values
    should never be zero.
    """
    n = differences.shape[1]
    if not (finite := np.isfinite(differences).all(axis=1)).all():
        p = np.full(len(differences), np.nan)
        p[finite] = sign_flip_p_values(differences[finite], n_flips)
        return p
    if n_flips is None and n > MOST_TRIED:
        bounds = np.array([sign_flip_bounds(row) for row in differences]).reshape(-1, 2)
        return np.where(bounds[:, 1] - bounds[:, 0] <= AGREED, bounds[:, 1], np.nan)
    signs = 1.0 - 2.0 * generator(0, purpose="sign flips", n=n).integers(0, 2, size=(n_flips or 0, n))
    p = np.empty(len(differences))
    at_once = max(1, _SUMS_AT_ONCE // (n_flips or 2**n))
    for start in range(0, len(differences), at_once):
        rows = slice(start, start + at_once)
        block = differences[rows]
        observed = block.sum(axis=1, keepdims=True)
        least = np.abs(observed) - ROUNDING * np.abs(block).sum(axis=1, keepdims=True)
        sums = block @ signs.T if n_flips else observed - 2 * _subset_sums(block)
        reached = np.abs(sums) >= least
        p[rows] = (1 + reached.sum(axis=1)) / (1 + n_flips) if n_flips else reached.mean(axis=1)
    return p


def _subset_sums(rows: Array) -> Array:
    """Return the sums of all subsets of each row, shape (n_rows, 2**n); the first is of none."""
    sums = np.zeros((len(rows), 1))
    for column in rows.T:
        sums = np.hstack([sums, sums + column[:, None]])
    return sums


def sign_flip_bounds(differences: Array, alpha: float | None = None) -> tuple[float, float]:
    """Return a lower and an upper bound of the p-value of one test of :func:`sign_flip_p_values`.

    Sums are counted on a grid (Pagano and Tritchler 1983, On obtaining permutation distributions in
    polynomial time, JASA 78). Each bound is as if rounding had moved all sums to one side, as far as it can.
    The grid becomes finer until the bounds differ by at most :data:`AGREED`, or, if ``alpha`` is given, are
    on one side of it. They are equal where the differences are multiples of one number. They can stay apart
    where many sums are nearly, but not quite, the observed one. At most :data:`MOST_COUNTED` differences
    are not 0.
    """
    differences = differences[differences != 0]
    if differences.size <= MOST_TRIED:
        p = float(sign_flip_p_values(differences[None, :])[0])
        return p, p
    if (n := differences.size) > MOST_COUNTED:
        raise StatisticsError(
            "An exact sign-flip test has too many differences",
            expected=f"at most {MOST_COUNTED:,}",
            got=f"{n:,}",
            remedy="draw random sign flips (n_flips), or average differences of the same source",
        )
    for cells in _GRIDS:
        low, high = _bounds_on(differences, cells)
        if high - low <= AGREED if alpha is None else not low <= alpha < high:
            break
    return low, high


def _bounds_on(differences: Array, cells: int) -> tuple[float, float]:
    """Return the bounds of a p-value, by a grid of some cells from 0 to the sum of absolute differences."""
    sizes = np.sort(np.abs(differences))
    total = float(sizes.sum())
    scaled = sizes / _common_step(sizes, total, cells)
    rounded = np.rint(scaled)
    off = scaled - rounded
    # A pattern is as extreme as the observed one if its differences of one sign, the fewer ones, sum to this.
    most = (1 + ROUNDING - abs(float(differences.sum())) / total) / 2 * scaled.sum()
    certain, possible = (math.floor(most - off[to].sum()) for to in (off > 0, off < 0))
    ways = np.zeros(possible + 1)
    ways[0] = 1.0
    filled = 1
    for size in rounded[rounded > 0].astype(np.int64):
        filled = min(filled + size, len(ways))
        ways[size:filled] += ways[: max(filled - size, 0)].copy()
    numbers = (float(ways[: max(end + 1, 0)].sum()) for end in (certain, possible))
    low, high = (min(1.0, math.ldexp(number, 1 - int((rounded > 0).sum()))) for number in numbers)
    return low, high


def _common_step(sizes: Array, total: float, cells: int) -> float:
    """Return the number of which all sizes are multiples, by Euclid; at least their sum over ``cells``."""
    step = 0.0
    for rest in map(float, sizes):
        while rest > ROUNDING * total:
            step, rest = rest, abs(step - rest * round(step / rest))
            if step * cells < total:
                return total / cells
    return total / round(total / step)


def sign_flip_interval(values: Array, alpha: float = 0.05, near: float = _NEAR) -> tuple[float, float]:
    """Return the interval of centers that an exact sign-flip test of ``values`` does not reject at ``alpha``.

    Its ends are means of subsets of the values: Hartigan (1969), Using subsample values as typical values,
    JASA 64. Of more than :data:`MOST_TRIED` values, :func:`sign_flip_bounds` enclose these ends from outside,
    by about ``near`` of the values' range. With too few values for the level the ends are infinite. They are
    NaN where a value is not finite.
    """
    n = len(values)
    if not np.isfinite(values).all():
        return np.nan, np.nan
    if alpha / 2 < 2.0**-n:
        return -np.inf, np.inf
    if n > MOST_TRIED:
        return _lower_end(values, alpha, near), -_lower_end(-values, alpha, near)
    k = int(alpha / 2 * 2**n)
    sums, counts = _subset_sums(np.stack([values, np.ones(n)]))[:, 1:]
    means = np.sort(sums / counts)
    return float(means[k - 1]), float(means[len(means) - k])


def _lower_end(values: Array, alpha: float, near: float) -> float:
    """Return a center that is rejected, as all smaller ones are, near to the least that may not be."""
    rejected, accepted = float(values.min()), float(values.mean())
    while accepted - rejected > near * np.ptp(values) + ROUNDING * np.abs(values).max():
        center = (rejected + accepted) / 2
        _, high = sign_flip_bounds(values - center, alpha)
        rejected, accepted = (center, accepted) if high <= alpha else (rejected, center)
    return rejected


def flips_needed(n_tests: int, alpha: float) -> int:
    """Return the number of random sign flips with which Holm's correction of n_tests can reach alpha."""
    return max(N_FLIPS, math.ceil(n_tests / alpha))


def holm(p_values: Array, *, undecided: bool = False) -> Array:
    r"""Return p-values corrected for their number, which bounds the chance of any false finding.

    With the m defined p-values in ascending order, the i-th becomes
    :math:`\max_{j \le i} \min(1, (m - j + 1) p_j)`. NaN stays NaN. It does not count as a test, or
    counts as p = 1 if it is ``undecided``. Holm (1979), A simple sequentially rejective multiple test
    procedure.
    """
    if undecided:
        return np.where(np.isnan(p_values), np.nan, holm(np.nan_to_num(p_values, nan=1.0)))
    corrected = np.full(len(p_values), np.nan)
    defined = np.flatnonzero(~np.isnan(p_values))
    order = defined[np.argsort(p_values[defined], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.maximum.accumulate(np.minimum(1, factors * p_values[order]))
    return corrected


def smallest_difference(differences: Array, alpha: float = 0.05, n_tests: int = 1) -> float:
    """Return the mean that a two-sided t-test of as many such differences shows with a power of 80 %.

    "Such" is of their standard deviation. Of ``n_tests``, it is the first step of Holm's correction that
    shows it. NaN below two differences. Power is by the noncentral t distribution: Cohen (1988), Statistical
    power analysis for the behavioral sciences, chapter 2.
    """
    n = len(differences)
    if n < 2:
        return math.nan
    quantile = stdtrit(n - 1, 1 - alpha / 2 / n_tests)
    return float(nctdtrinc(n - 1, 1 - POWER, quantile) * differences.std(ddof=1) / math.sqrt(n))


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
