"""Each technique against a baseline on the same samples: differences and tests."""

import math
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from benchmark.statistics import hypothesis_tests
from benchmark.statistics.across import ALPHA
from benchmark.statistics.cells import (
    CELL_KEY,
    SCENARIO,
    Array,
    Cells,
    Goal,
    all_equal,
    first_true,
    of_rows,
    require_known,
    row_means,
    to_cells,
)
from benchmark.statistics.intervals import NO_FOLDS, standard_errors, student_intervals

FAMILY = (*SCENARIO, "metric")
"""Columns that the comparisons of a scenario in one metric share."""

TESTED_TOGETHER = ("dataset", "bias", "family", "test", "metric")
"""Columns that a family of tests shares; Holm's correction takes all its techniques and levels together.

The column ``family`` is the classifier. It is empty for all learners of techniques' own: else a technique
that is alone with its learner would be tested as if no other had been tried.
"""

PAIRED_COLUMNS = (
    *(*CELL_KEY, "baseline", "n", "missing"),
    *("difference", "difference_low", "difference_high"),
    *("improvement", "improvement_low", "improvement_high"),
    *("p_method", "p_paired", "p_paired_holm", "reason"),
)
"""Columns of ``comparisons.csv``."""

COMPARED_COLUMNS = (*PAIRED_COLUMNS, "improvement_se", "df", "family")
"""Columns of :func:`paired_comparisons`; the last three give improvements an interval at any confidence."""


def paired_comparisons(
    results: pd.DataFrame | Cells,
    baseline: str,
    goals: Mapping[str, Goal],
    *,
    learners: Collection[str] = (),
    alpha: float = ALPHA,
) -> pd.DataFrame:
    r"""Return comparisons of every technique with a baseline, pair by pair.

    A pair is the value of the technique and of the baseline in one repetition, under the same conditions:
    both saw the same sample. The *difference* is the technique's value minus the
    baseline's. The *improvement* is how much nearer the technique's value is to the metric's ideal
    (:func:`~benchmark.statistics.cells.distance`), so that positive is better for every metric. Tests are
    about improvements.

    ``baseline`` is the name of a technique in the results. ``learners`` are those of the classifiers that
    are techniques' own.
    ``alpha`` is the level that the largest family of tests must be able to reach with Holm's correction.
    No p-value of B flips is below :math:`1 / (B + 1)`. For one among m
    tests to be significant at :math:`\alpha` after the correction, B must be about :math:`m / \alpha`. So B
    is the greater of this and 9,999.

    The result has the columns :data:`COMPARED_COLUMNS`, and one row for each metric and cell of the other
    techniques. ``results/README.md`` explains them at ``comparisons.csv``. Means over the pairs have
    :func:`~benchmark.statistics.intervals.student_intervals`. With several splits in a repetition,
    the interval and the test are from single splits, around the same means
    (:meth:`~benchmark.statistics.cells.Cells.distances`). The test is :func:`sign_flip_p_values`, of B
    random patterns if there are more than B, or :func:`corrected_t_p_values` where splits overlap;
    ``p_method`` says which. ``improvement_se`` and ``df`` are the standard error of the improvement,
    corrected where splits overlap, and its degrees of freedom; NaN and 0 below two pairs.
    """
    cells = to_cells(results)
    require_known("technique", [baseline], cells.keys["technique"])
    rows = np.flatnonzero((cells.keys["technique"] != baseline).to_numpy())
    partner = cells.find(technique=baseline)[rows]

    def minus_baseline(values: Array) -> Array:
        return np.where((partner >= 0)[:, None], values[rows] - values[partner], np.nan)

    difference = minus_baseline(cells.values)
    improvement = -minus_baseline(cells.distances(goals))
    overlap = cells.overlaps[rows]
    # With one split in a repetition, these are the same values; else their means over it are.
    difference_by_split = minus_baseline(cells.singles)
    by_split = -minus_baseline(cells.distances(goals, of_splits=True))
    n, n_splits = (np.isfinite(values).sum(axis=1) for values in (difference, by_split))
    table = cells.keys.iloc[rows].reset_index(drop=True)
    table = table.assign(baseline=baseline, n=n, missing=cells.n_expected[rows] - n)
    for name, values, of_split in (
        ("difference", difference, difference_by_split),
        ("improvement", improvement, by_split),
    ):
        table[name] = mean = row_means(values)
        ends = student_intervals(of_split, overlap=overlap, estimate=mean)
        table[f"{name}_low"], table[f"{name}_high"] = ends
    table["improvement_se"], table["df"] = standard_errors(by_split, overlap), np.maximum(n_splits - 1, 0)
    table["family"] = table["classifier"].mask(table["classifier"].isin(learners), "")
    families = table.groupby(list(TESTED_TOGETHER), sort=False)
    n_flips = hypothesis_tests.flips_needed(max(families.size(), default=0), alpha)
    most_exact = min(
        math.log2(n_flips), hypothesis_tests.MOST_TRIED
    )  # counting thousands of rows on grids would take minutes
    table["p_method"] = np.where(n_splits <= most_exact, "exact", "sampled")

    def flipped(rows: Array) -> Array:
        return hypothesis_tests.sign_flip_p_values(rows, None if rows.shape[1] <= most_exact else n_flips)

    # Sign flips take splits as independent; those that overlap are not.
    overlaps = overlap > 0
    table["p_paired"] = of_rows(np.where(overlaps[:, None], np.nan, by_split), flipped, least=2)
    if overlaps.any():
        corrected = hypothesis_tests.corrected_t_p_values(by_split, overlap, table["improvement"].to_numpy())
        table["p_method"] = np.where(overlaps, hypothesis_tests.CORRECTED, table["p_method"])
        table["p_paired"] = np.where(overlaps, corrected, table["p_paired"])
    of_family = table.groupby(list(TESTED_TOGETHER), sort=False)["p_paired"]
    table["p_paired_holm"] = of_family.transform(lambda p: hypothesis_tests.holm(p.to_numpy()))
    unordered = ~np.isfinite(improvement).any(axis=1)
    table["reason"] = first_true(
        {
            "no_baseline": partner < 0,
            "few_pairs": np.maximum(n, n_splits) < 2,
            "no_better_value": unordered,
            NO_FOLDS: n_splits == 0,
            "all_zero": ~np.nan_to_num(by_split).any(axis=1),
            "all_equal": all_equal(by_split),
        }
    )
    table.loc[table["p_paired"].isna(), "p_method"] = ""
    return table[list(COMPARED_COLUMNS)]
