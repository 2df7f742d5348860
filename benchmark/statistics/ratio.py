"""The ratio of two means, with Fieller's interval."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmark.statistics.cells import Array
from benchmark.statistics.intervals import CONFIDENCE


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio of two means in each row, with the squares of their standard errors; arrays of shape (n_rows,).

    Both means are over the same ``n`` repetitions, and correlated.
    """

    n: NDArray[np.int64]
    upper: Array
    lower: Array
    upper_variance: Array
    covariance: Array
    lower_variance: Array

    @classmethod
    def of(cls, upper: Array, lower: Array, overlap: Array | float = 0.0) -> Self:
        """Return the ratio for values of shape (n_rows, n_repetitions), over repetitions that have both.

        ``overlap`` is as in :func:`~benchmark.statistics.intervals.half_widths`.
        """
        present = np.isfinite(upper) & np.isfinite(lower)
        n = present.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = [np.where(present, values, 0.0).sum(axis=1) / n for values in (upper, lower)]
            off = [
                np.where(present, values - mean[:, None], 0.0)
                for values, mean in zip((upper, lower), means, strict=True)
            ]
            # One repetition has no spread, but 0 / 0 may give a number.
            moments = [
                np.where(n > 1, (off[i] * off[j]).sum(axis=1) / (n - 1.0) * (1 / n + overlap), np.nan)
                for i, j in ((0, 0), (0, 1), (1, 1))
            ]
        return cls(n, *means, *moments)

    @property
    def value(self) -> Array:
        """The ratio of the means."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.upper / self.lower

    def lower_interval(self, confidence: float = CONFIDENCE) -> tuple[Array, Array]:
        """Return the ends of Student's interval of the lower mean."""
        half = self._quantile(confidence) * np.sqrt(self.lower_variance)
        return self.lower - half, self.lower + half

    def interval(self, confidence: float = CONFIDENCE) -> tuple[Array, Array]:
        r"""Return the ends of Fieller's interval; NaN where it has none, because the lower mean may be 0.

        The interval holds each ratio :math:`\rho` for which the upper mean minus :math:`\rho` times the lower
        mean does not differ significantly from 0. Fieller (1954), Some problems in interval estimation.
        """
        square = self._quantile(confidence) ** 2
        a = self.lower**2 - square * self.lower_variance
        b = self.upper * self.lower - square * self.covariance
        c = self.upper**2 - square * self.upper_variance
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(b**2 - a * c, 0))
            low, high = (np.where(a > 0, (b + sign * root) / a, np.nan) for sign in (-1, 1))
        return low, high

    def _quantile(self, confidence: float) -> Array:
        return np.asarray(stdtrit(np.maximum(self.n - 1.0, 1.0), (1 + confidence) / 2))
