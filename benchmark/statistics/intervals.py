"""Intervals of means over repetitions, of changes between levels of bias, and of means over sources."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from benchmark.errors import StatisticsError
from benchmark.statistics.cells import (
    CELL_KEY,
    Array,
    Cells,
    Resampling,
    all_equal,
    first_true,
    of_rows,
    row_means,
    to_cells,
)

CONFIDENCE = 0.95
"""Coverage of intervals by default."""

NO_FOLDS = "no_folds"
"""Reason for a missing interval of a mean over splits within repetitions."""


def require_level(name: str, level: float, *, usual: float) -> None:
    """Raise a StatisticsError if a level of confidence or significance is not between 0 and 1."""
    if not 0 < level < 1:
        raise StatisticsError(
            f"The {name} is impossible",
            expected="a number between 0 and 1",
            got=f"{level:g}",
            remedy=f"{usual:g} is the usual one",
        )


def standard_errors(values: Array, overlap: Array | float = 0.0) -> Array:
    r"""Return the standard error :math:`s / \sqrt n` of each row's mean; NaN below two values.

    Values of repeated splits of the same rows are not independent. ``overlap`` is added to :math:`1 / n`
    then: the number of tested rows over the number of all others. Nadeau and Bengio (2003), Inference for the
    generalization error; Bouckaert and Frank (2004), for repeated cross-validation.
    """
    std = of_rows(values, lambda block: block.std(axis=1, ddof=1), least=2)
    return np.asarray(std * np.sqrt(1 / np.maximum(np.isfinite(values).sum(axis=1), 1) + overlap))


def student_intervals(
    values: Array,
    confidence: float = CONFIDENCE,
    overlap: Array | float = 0.0,
    estimate: Array | None = None,
) -> tuple[Array, Array]:
    r"""Return the low and the high end of Student's interval of each row's mean.

    The ends are :math:`t_{n-1}` times :func:`standard_errors` from it. ``values`` have shape
    (n_rows, n_repetitions), NaN where a value is missing. The coverage is exact for normal values. The ends,
    shape (n_rows,), are NaN for fewer than two values. If an ``estimate`` is given, the intervals lie around
    it. The mean over repetitions is not quite the mean over all splits where a repetition lacks some. A
    StatisticsError says that the confidence is not between 0 and 1. Student (1908), The probable error of a
    mean.
    """
    require_level("confidence of intervals", confidence, usual=CONFIDENCE)
    n = np.isfinite(values).sum(axis=1)
    half = stdtrit(np.maximum(n - 1.0, 1.0), (1 + confidence) / 2) * standard_errors(values, overlap)
    mean = row_means(values) if estimate is None else estimate
    return mean - half, mean + half


def cell_intervals(results: pd.DataFrame | Cells) -> pd.DataFrame:
    """Return a summary of each metric of each cell over the repetitions.

    The columns are the keys of :class:`~benchmark.statistics.cells.Cells`, and ``n``, ``missing``, ``mean``,
    ``median``, ``ci_low``, ``ci_high`` and ``reason`` as in ``intervals.csv``. ``reason`` says why there is
    no interval (:func:`student_intervals`), or that it is a point.
    """
    cells = to_cells(results)
    mean = row_means(cells.values)
    low, high = student_intervals(cells.singles, overlap=cells.overlaps, estimate=mean)
    return cells.keys.assign(
        n=cells.n,
        missing=cells.n_expected - cells.n,
        mean=mean,
        median=of_rows(cells.values, lambda block: np.median(block, axis=1)),
        ci_low=low,
        ci_high=high,
        reason=first_true(
            {
                "few_values": np.maximum(cells.n, np.isfinite(cells.singles).sum(axis=1)) < 2,
                NO_FOLDS: np.isnan(low),
                "all_equal": all_equal(cells.singles),
            }
        ),
    )


def level_changes(
    results: pd.DataFrame, technique: str, resampling: Resampling | None = None
) -> pd.DataFrame:
    """Return by how much each metric of a technique differs from its value at β = 0, in the same repetitions.

    Repetitions have the same random numbers at all levels (``paired_betas``). ``resampling`` says whether
    they are repeated splits of the same rows. The result has the keys of
    :class:`~benchmark.statistics.cells.Cells`, ``n``, ``change``, ``change_low`` and ``change_high``, and a
    row for each metric at each level above 0. ``change`` is the mean over ``n`` repetitions. The result is
    empty where β = 0 was not run.
    """

    def changes(values: pd.DataFrame) -> pd.DataFrame:
        """Return the technique's values in each split minus its values at β = 0."""
        values = values[values["technique"] == technique]
        splits = {*CELL_KEY, "repetition", "fold"} - {"level"}
        keys = [name for name in values.columns if name in splits]
        clean = values[values["level"] == 0].set_index(keys)["value"].rename("clean")
        others = values[values["level"] > 0].join(clean, on=keys, how="inner")
        return others.assign(value=others["value"] - others["clean"]).drop(columns="clean")

    changed = changes(results)
    if changed.empty:
        return pd.DataFrame()
    table = cell_intervals(to_cells(changed, resampling and resampling.changed(changes)))
    return table.rename(columns={"mean": "change", "ci_low": "change_low", "ci_high": "change_high"})


def prediction_intervals(means: Array, single: Array | None = None) -> tuple[Array, Array]:
    r"""Return the ends of each row's prediction interval, of 95 %, of the mean that a new source will have.

    ``means`` have shape (n_rows, k): a contrast in each row, a source in each column. The interval is for the
    measured mean, chance included: :math:`\bar y \pm t_{k-1} \sqrt{s_1^2 + s^2 / k}`. Here :math:`s^2` is the
    variance of the k means, and :math:`s_1^2` is the variance of the ``single`` new mean. It is :math:`s^2`
    by default, as for a source of the same sizes. NaN below two sources. Higgins, Thompson and Spiegelhalter
    (2009), A re-evaluation of random-effects meta-analysis; IntHout, Ioannidis, Rovers and Goeman (2016),
    Plea for routinely presenting prediction intervals in meta-analysis.
    """
    k = means.shape[1]
    if k < 2:
        return np.full(len(means), np.nan), np.full(len(means), np.nan)
    spread, center = means.var(axis=1, ddof=1), means.mean(axis=1)
    variance = (spread if single is None else single) + spread / k
    half = stdtrit(k - 1.0, (1 + CONFIDENCE) / 2) * np.sqrt(variance)
    return center - half, center + half
