"""Student's interval of a mean over repetitions, which is the interval of every estimate that has one."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmark.errors import StatisticsError
from benchmark.statistics.cells import (
    Array,
    Cells,
    all_equal,
    first_true,
    of_rows,
    row_means,
    to_cells,
)

CONFIDENCE = 0.95
"""Coverage of intervals, unless another is asked for."""


NO_FOLDS = "the values of single folds are not recorded"
"""Why there is no interval of a mean over folds."""


def require_level(name: str, level: float, *, usual: float) -> None:
    """Raise a StatisticsError if a level of confidence or significance is not between 0 and 1."""
    if not 0 < level < 1:
        raise StatisticsError(
            f"The {name} is impossible",
            expected="a number between 0 and 1",
            got=f"{level:g}",
            remedy=f"{usual:g} is what is usually asked for",
        )


def half_widths(
    std: Array, n: NDArray[np.int64], confidence: float = CONFIDENCE, overlap: Array | float = 0.0
) -> Array:
    r"""Return half of the width of Student's intervals: :math:`t_{n-1}\, s / \sqrt n`.

    Values of repeated splits of the same rows are not independent. ``overlap``, the number of tested rows
    over that of all others, corrects for it: :math:`1 / n` becomes :math:`1 / n` plus it (Nadeau and Bengio,
    2003, Inference for the generalization error; Bouckaert and Frank, 2004, for repeated folds).

    In the unit of ``std``, the sample standard deviations (:math:`n - 1` in the denominator); 0 where all
    values are equal, NaN where there are fewer than two. A StatisticsError says that the confidence does not
    lie between 0 and 1. Student (1908), The probable error of a mean.
    """
    require_level("confidence of intervals", confidence, usual=CONFIDENCE)
    several = n > 1
    found = np.full(len(n), np.nan)
    quantile = stdtrit(n[several] - 1, (1 + confidence) / 2)
    found[several] = quantile * _standard_errors(std, n, overlap)[several]
    return found


def _standard_errors(std: Array, n: NDArray[np.int64], overlap: Array | float) -> Array:
    return np.asarray(std * np.sqrt(1 / np.maximum(n, 1) + overlap))


def standard_errors(values: Array, overlap: Array | float = 0.0) -> Array:
    """Return the standard error of each row's mean, as :func:`half_widths` has it; NaN below two values."""
    return _standard_errors(_deviations(values), np.isfinite(values).sum(axis=1), overlap)


def _deviations(values: Array) -> Array:
    return of_rows(values, lambda block: block.std(axis=1, ddof=1), least=2)


def student_intervals(
    values: Array,
    confidence: float = CONFIDENCE,
    overlap: Array | float = 0.0,
    estimate: Array | None = None,
) -> tuple[Array, Array]:
    """Return the low and the high end of the interval of each row's mean.

    ``values`` have shape (n_rows, n_repetitions), NaN where there is none. The coverage is exact for normal
    values. The ends, shape (n_rows,), are NaN where there are fewer than two values. ``overlap`` is as for
    :func:`half_widths`. The intervals lie around an ``estimate`` where one is given: repetitions in which a
    fold has no value are means of fewer, so that their mean is not quite that of all folds.
    """
    half = half_widths(_deviations(values), np.isfinite(values).sum(axis=1), confidence, overlap)
    mean = row_means(values) if estimate is None else estimate
    return mean - half, mean + half


def cell_intervals(results: pd.DataFrame | Cells, *, confidence: float = CONFIDENCE) -> pd.DataFrame:
    """Summarise each metric of each cell over the repetitions.

    The keys of :class:`~benchmark.statistics.cells.Cells`, in its order; ``n`` counts the finite values,
    ``missing`` the repetitions of the scenario without one; ``mean`` and ``median``; ``ci_low`` and
    ``ci_high``, the ends of the mean's interval (:func:`student_intervals`); ``reason`` why there is none, or
    that it is a point.
    """
    cells = to_cells(results)
    mean = row_means(cells.values)
    low, high = student_intervals(cells.singles, confidence, cells.overlaps, mean)
    return cells.keys.assign(
        n=cells.n,
        missing=cells.n_expected - cells.n,
        mean=mean,
        median=of_rows(cells.values, lambda block: np.median(block, axis=1)),
        ci_low=low,
        ci_high=high,
        reason=first_true(
            {
                "fewer than two values": np.maximum(cells.n, np.isfinite(cells.singles).sum(axis=1)) < 2,
                NO_FOLDS: np.isnan(low),
                "all values are equal": all_equal(cells.singles),
            }
        ),
    )
