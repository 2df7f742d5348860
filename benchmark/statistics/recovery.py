"""How much of a planted bias a technique takes back: the ideal is known, because the bias was planted."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmark.statistics.cells import (
    CELL_KEY,
    NO_BASELINE,
    Array,
    Baseline,
    Cells,
    first_true,
    known_baselines,
    to_cells,
)
from benchmark.statistics.intervals import CONFIDENCE

RECOVERY_COLUMNS = (
    *(*CELL_KEY, "baseline", "n", "missing", "planted", "planted_low", "planted_high"),
    *("recovery", "recovery_low", "recovery_high", "reason"),
)
"""Columns of :func:`recoveries`."""

NOTHING_PLANTED = "the interval of what the bias changes for the baseline holds 0: nothing sure to recover"
"""Reason of a recovery without a denominator."""

_NO_END = "the interval has no end: what the bias changes for the baseline is hardly sure"
_LEAST = 1e-12  # of what is planted: less is rounding


def recoveries(
    results: pd.DataFrame | Cells,
    baseline: Baseline,
    *,
    paired_levels: bool = False,
    confidence: float = CONFIDENCE,
) -> pd.DataFrame:
    r"""Measure how far each technique brings each metric back to what it was without the planted bias.

    With the means :math:`b_\beta` of the baseline and :math:`t_\beta` of a technique at a level of bias, the
    bias *planted* :math:`b_\beta - b_0`, and the *recovery* is the share of it that the technique takes back:

    .. math:: \frac{b_\beta - t_\beta}{b_\beta - b_0}

    1 is the metric as it was before the bias was planted, 0 is what the baseline does. Above 1 the technique
    over-corrects, below 0 it harms.

    Parameters
    ----------
    baseline : str, or mapping of str to str
        Name of a technique in the results; or that of each technique's own, by its name.
    paired_levels : bool, default False
        Whether a repetition has the same random numbers at all levels of bias; else its samples at two levels
        are independent.

    Returns
    -------
    DataFrame
        Columns :data:`RECOVERY_COLUMNS`, one row for each metric of each cell of the other techniques at
        levels above 0. ``n`` and ``missing`` count the repetitions with and without the values that are
        compared, ``planted`` is in the metric's unit, with Student's interval (Welch's where levels are
        independent), and ``recovery`` has the interval of :meth:`Ratio.interval`. ``reason`` says why there
        is no recovery.

    Notes
    -----
    Technique and baseline met the same samples, and so did the two differences the same :math:`b_\beta`: both
    are taken into account. ``docs/statistics.md`` says how often the interval holds the truth, and how often
    those of the bootstrap do.
    """
    cells = to_cells(results).by_split
    names = known_baselines(cells, baseline)
    own = np.flatnonzero(((cells.keys["technique"] != names) & (cells.keys["beta"] > 0)).to_numpy())
    partner = cells.find(technique=names)[own]
    origin = cells.find(technique=names, beta=0.0)[own]
    biased, clean = (np.where((rows >= 0)[:, None], cells.values[rows], np.nan) for rows in (partner, origin))
    removed = biased - cells.values[own]
    overlap = cells.overlaps[own]
    found = (
        Ratio.of(removed, biased - clean, overlap=overlap)
        if paired_levels
        else Ratio.of(removed, biased, clean, overlap)
    )
    low, high = found.interval(confidence)
    planted_low, planted_high = found.lower_interval(confidence)
    table = cells.keys.iloc[own].reset_index(drop=True)
    table = table.assign(
        baseline=names.to_numpy()[own],
        n=found.n,
        missing=cells.n_expected[own] - found.n,
        planted=found.lower,
        planted_low=planted_low,
        planted_high=planted_high,
    )
    nothing = ~((planted_low > _LEAST) | (planted_high < -_LEAST))
    table["reason"] = first_true(
        {
            NO_BASELINE: partner < 0,
            "no level of bias is 0": origin < 0,
            "fewer than two repetitions have values of technique and baseline": found.n < 2,
            "the baseline has fewer than two values at beta 0": found.n_other < 2,
            NOTHING_PLANTED: nothing,
            _NO_END: np.isnan(low),
        }
    )
    defined = (table["reason"] == "").to_numpy()
    for name, values in (("recovery", found.value), ("recovery_low", low), ("recovery_high", high)):
        table[name] = np.where(defined, values, np.nan)
    return table[list(RECOVERY_COLUMNS)]


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio of two means in each row, with the squares of their standard errors; arrays of shape (n_rows,).

    The upper and the lower mean are over the same ``n`` repetitions, and correlated. From the lower one the
    mean of ``n_other`` further, independent repetitions may be subtracted, which adds ``other_variance``.
    """

    n: NDArray[np.int64]
    n_other: NDArray[np.int64]
    upper: Array
    lower: Array
    upper_variance: Array
    covariance: Array
    lower_variance: Array  # of the n repetitions alone
    other_variance: Array

    @classmethod
    def of(cls, upper: Array, lower: Array, other: Array | None = None, overlap: Array | float = 0.0) -> Self:
        """Return that of values of shape (n_rows, n_repetitions), over repetitions that have both.

        ``other`` are values whose mean, over those that there are, is subtracted from the lower mean;
        ``overlap`` is as for :func:`~benchmark.statistics.intervals.half_widths`.
        """
        n, (up, down), (vary_up, covary, vary_down) = _moments(upper, lower, overlap)
        if other is None:
            return cls(n, n, up, down, vary_up, covary, vary_down, np.zeros(len(n)))
        n_other, (_, mean), (_, _, varied) = _moments(other, other, overlap)
        return cls(n, n_other, up, down - mean, vary_up, covary, vary_down, varied)

    @property
    def value(self) -> Array:
        """The ratio of the means."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.upper / self.lower

    def lower_interval(self, confidence: float = CONFIDENCE) -> tuple[Array, Array]:
        """Return the ends of the lower mean's interval: Student's, or with further repetitions Welch's."""
        quantile = self._quantile(self.lower_variance, self.other_variance, confidence)
        half = quantile * np.sqrt(self.lower_variance + self.other_variance)
        return self.lower - half, self.lower + half

    def interval(self, confidence: float = CONFIDENCE) -> tuple[Array, Array]:
        r"""Return the ends of Fieller's interval; NaN where it has none, because the lower mean may be 0.

        It holds the ratios :math:`\rho` for which the difference of the upper mean and :math:`\rho` times the
        lower one, itself a mean, does not differ significantly from 0. The degrees of freedom are those of
        that difference at the estimated ratio. Fieller (1954), Some problems in interval estimation.
        """
        ratio = self.value
        with np.errstate(divide="ignore", invalid="ignore"):
            paired = self.upper_variance - 2 * ratio * self.covariance + ratio**2 * self.lower_variance
            square = self._quantile(np.maximum(paired, 0), ratio**2 * self.other_variance, confidence) ** 2
            a = self.lower**2 - square * (self.lower_variance + self.other_variance)
            b = self.upper * self.lower - square * self.covariance
            c = self.upper**2 - square * self.upper_variance
            root = np.sqrt(np.maximum(b**2 - a * c, 0))
            low, high = (np.where(a > 0, (b + sign * root) / a, np.nan) for sign in (-1, 1))
        return low, high

    def _quantile(self, paired: Array, other: Array, confidence: float) -> Array:
        """Return Student's quantile for a variance of two independent parts: Welch and Satterthwaite's."""
        with np.errstate(divide="ignore", invalid="ignore"):
            df = (paired + other) ** 2 / (paired**2 / (self.n - 1.0) + other**2 / (self.n_other - 1.0))
        # Where nothing varies, the interval is a point, or the lower mean's variance alone decides.
        df = np.where(paired + other > 0, df, np.maximum(self.n - 1.0, 1.0))
        return np.asarray(stdtrit(df, (1 + confidence) / 2))


def _moments(
    first: Array, second: Array, overlap: Array | float
) -> tuple[NDArray[np.int64], list[Array], list[Array]]:
    """Return the number of repetitions with both, both means, and the variances and covariance of these."""
    present = np.isfinite(first) & np.isfinite(second)
    n = present.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = [np.where(present, own, 0.0).sum(axis=1) / n for own in (first, second)]
        off = [
            np.where(present, own - mean[:, None], 0.0)
            for own, mean in zip((first, second), means, strict=True)
        ]
        spread = [
            (off[i] * off[j]).sum(axis=1) / (n - 1.0) * (1 / n + overlap) for i, j in ((0, 0), (0, 1), (1, 1))
        ]
    # One repetition has no spread, whatever 0 / 0 gives.
    return n, means, [np.where(n > 1, own, np.nan) for own in spread]
