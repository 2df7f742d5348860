"""Recovery: the share of a planted bias that a technique takes back."""

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
"""Reason for a missing recovery: its denominator may be 0."""

_NO_END = "the interval has no end: what the bias changes for the baseline is hardly sure"
_LEAST = 1e-12  # smallest planted change; less is rounding


def recoveries(
    results: pd.DataFrame | Cells,
    baseline: Baseline,
    *,
    paired_levels: bool = False,
    confidence: float = CONFIDENCE,
) -> pd.DataFrame:
    r"""Return how far each technique brings each metric back to its value without the planted bias.

    With the means :math:`b_\beta` of the baseline and :math:`t_\beta` of a technique at a level of bias, the
    bias *planted* :math:`b_\beta - b_0`. The *recovery* is the share of it that the technique takes back:

    .. math:: \frac{b_\beta - t_\beta}{b_\beta - b_0}

    1 is the metric as it was before the bias was planted, 0 is the baseline's. Above 1 the technique
    over-corrects, below 0 it harms.

    ``baseline`` is the name of a technique in the results, or a baseline for each technique, by name.
    ``paired_levels`` says whether a repetition has the same random numbers at all levels of bias; else its
    samples at two levels are independent.

    The result has the columns :data:`RECOVERY_COLUMNS`, which ``results/README.md`` explains at
    ``recovery.csv``. Each metric and cell of the other techniques at levels above 0 has a row. ``n`` and
    ``missing`` count the repetitions with and without the values that are compared. ``planted`` has Student's
    interval (Welch's where levels are independent), ``recovery`` the interval of :meth:`Ratio.interval`. Both
    differences have the same :math:`b_\beta` and the same samples, and the interval takes this into account.
    ``docs/statistics.md`` says how often it holds the truth, and how often intervals of the bootstrap do.
    """
    cells = to_cells(results).by_split
    names = known_baselines(cells, baseline)
    rows = np.flatnonzero(((cells.keys["technique"] != names) & (cells.keys["beta"] > 0)).to_numpy())
    partner = cells.find(technique=names)[rows]
    origin = cells.find(technique=names, beta=0.0)[rows]
    biased, clean = (np.where((at >= 0)[:, None], cells.values[at], np.nan) for at in (partner, origin))
    removed = biased - cells.values[rows]
    overlap = cells.overlaps[rows]
    if paired_levels:
        ratio = Ratio.of(removed, biased - clean, overlap=overlap)
    else:
        ratio = Ratio.of(removed, biased, clean, overlap)
    low, high = ratio.interval(confidence)
    planted_low, planted_high = ratio.lower_interval(confidence)
    table = cells.keys.iloc[rows].reset_index(drop=True)
    table = table.assign(
        baseline=names.to_numpy()[rows],
        n=ratio.n,
        missing=cells.n_expected[rows] - ratio.n,
        planted=ratio.lower,
        planted_low=planted_low,
        planted_high=planted_high,
    )
    nothing = ~((planted_low > _LEAST) | (planted_high < -_LEAST))
    table["reason"] = first_true(
        {
            NO_BASELINE: partner < 0,
            "no level of bias is 0": origin < 0,
            "fewer than two repetitions have values of technique and baseline": ratio.n < 2,
            "the baseline has fewer than two values at beta 0": ratio.n_other < 2,
            NOTHING_PLANTED: nothing,
            _NO_END: np.isnan(low),
        }
    )
    defined = (table["reason"] == "").to_numpy()
    for name, values in (("recovery", ratio.value), ("recovery_low", low), ("recovery_high", high)):
        table[name] = np.where(defined, values, np.nan)
    return table[list(RECOVERY_COLUMNS)]


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio of two means in each row, with the squares of their standard errors; arrays of shape (n_rows,).

    The upper and the lower mean are over the same ``n`` repetitions, and correlated. The mean of ``n_other``
    further, independent repetitions may be subtracted from the lower one, which adds ``other_variance``.
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
        """Return the ratio for values of shape (n_rows, n_repetitions), over repetitions that have both.

        The mean of the values ``other``, where present, is subtracted from the lower mean. ``overlap`` is as
        in :func:`~benchmark.statistics.intervals.half_widths`.
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

        The interval holds each ratio :math:`\rho` for which the upper mean minus :math:`\rho` times the lower
        mean does not differ significantly from 0. The degrees of freedom are taken at the estimated ratio.
        Fieller (1954), Some problems in interval estimation.
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
        """Return Student's quantile for the sum of two independent variances, by Welch and Satterthwaite."""
        with np.errstate(divide="ignore", invalid="ignore"):
            df = (paired + other) ** 2 / (paired**2 / (self.n - 1.0) + other**2 / (self.n_other - 1.0))
        # Where nothing varies, the interval is a point, or the lower mean's variance alone decides.
        df = np.where(paired + other > 0, df, np.maximum(self.n - 1.0, 1.0))
        return np.asarray(stdtrit(df, (1 + confidence) / 2))


def _moments(
    first: Array, second: Array, overlap: Array | float
) -> tuple[NDArray[np.int64], list[Array], list[Array]]:
    """Return the number of repetitions with both values, both means, and their variances and covariance."""
    present = np.isfinite(first) & np.isfinite(second)
    n = present.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = [np.where(present, values, 0.0).sum(axis=1) / n for values in (first, second)]
        off = [
            np.where(present, values - mean[:, None], 0.0)
            for values, mean in zip((first, second), means, strict=True)
        ]
        spread = [
            (off[i] * off[j]).sum(axis=1) / (n - 1.0) * (1 / n + overlap) for i, j in ((0, 0), (0, 1), (1, 1))
        ]
    # One repetition has no spread, but 0 / 0 may give a number.
    return n, means, [np.where(n > 1, values, np.nan) for values in spread]
