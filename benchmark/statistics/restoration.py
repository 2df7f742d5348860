"""How near techniques come to the model without planted bias.

:mod:`benchmark.statistics.decisions` defines the shares of people.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import EQUALISE, GOAL_METRICS, ORIGINAL
from benchmark.statistics.cells import (
    CELL_KEY,
    ROUNDING,
    SCENARIO,
    WHERE,
    Array,
    Baselines,
    Cells,
    Resampling,
    first_true,
    positions_in,
    row_means,
    to_cells,
)
from benchmark.statistics.decisions import (
    DECISION_CELL,
    RESTORATION_DISTANCE,
    SHARES,
    Measure,
    measures_of_decisions,
    taken,
)
from benchmark.statistics.intervals import student_intervals

HARDLY_MOVED = 0.02
"""Change in a model's discrimination below which there is nothing to undo."""

RESTORATION_COLUMNS = (
    *(*SCENARIO, "level", "technique", "baseline", "metric", "n", "value", "value_low", "value_high"),
    *("refit_clean", "refit_biased", "beyond_refit", "beyond_refit_low", "beyond_refit_high", "reason"),
)
"""Columns of :func:`restoration_table`."""

UNDO_COLUMNS = (*SCENARIO, "level", "baseline", "technique", "undo")
"""Columns of :func:`undo_table`."""

NO_REFERENCE, NOTHING_TO_UNDO, NO_EFFECT_SHOWN = "no_reference", "nothing_to_undo", "no_effect_shown"
"""Reasons for not ranking techniques by how near they come to the clean model.

The clean model is useless. The bias hardly moves the baseline. Or it is not shown to move the baseline's
decisions farther than training again on clean rows does.
"""

BY_CHANCE = "by_chance"
"""Reason for not naming a technique: it is not shown to come nearer than a refit of the biased rows."""


def pooled_shares(decisions: pd.DataFrame, resampling: Resampling | None) -> pd.DataFrame:
    """Return the shares of people of each cell, summed over its folds and repetitions.

    ``decisions`` have the columns :data:`~benchmark.columns.DECISION_COLUMNS`. ``resampling`` says how splits
    overlap; if it has folds, they are the splits, else repetitions are. The result has the columns
    :data:`DECISION_CELL`, ``metric``, ``n``, ``value``, ``value_low``, ``value_high`` and ``reason``, and a
    row for each cell and each of :data:`SHARES`. ``value`` is NaN below
    :data:`~benchmark.statistics.decisions.LEAST_PEOPLE` people, and ``reason`` explains a missing value or
    interval.
    """
    cells, measures = measures_of_decisions(decisions, resampling)
    rows = np.arange(len(cells))
    return _by_metric({name: _values(measures[name], cells, rows) for name in SHARES})


def restoration_table(
    decisions: pd.DataFrame,
    baselines: Baselines,
    resampling: Resampling | None,
    refits: Mapping[str, tuple[str, str]],
) -> pd.DataFrame:
    """Return how near each technique comes to the clean model.

    ``decisions`` have the columns :data:`~benchmark.columns.DECISION_COLUMNS`, with refits; levels are
    paired. ``resampling`` says how splits overlap; if it has folds, they are the splits, else repetitions
    are. ``refits`` are, by name of a baseline, its refits on a bootstrap of the clean and of the biased
    training rows. A baseline may have none.

    The result has the columns :data:`RESTORATION_COLUMNS`, which ``results/README.md`` explains at
    ``restoration.csv``. For each test with decisions at levels above 0, each metric of each technique has a
    row, baselines included and refits not. :data:`SHARES` are ratios of sums (:func:`pooled_shares`).
    ``restoration_distance`` and ``agreement`` are means over repetitions, each of which sums its folds first,
    with Student's interval of single splits.
    """
    cells, measures = measures_of_decisions(decisions[decisions["level"] > 0], resampling)
    refit_of = {refit: baseline for baseline, pair in refits.items() for refit in pair}
    is_refit = cells["technique"].isin(list(refit_of)).to_numpy()
    names = cells["technique"].map(refit_of).where(is_refit, baselines.column(cells))
    cells = cells.assign(baseline=names)
    rows = np.flatnonzero(~is_refit)
    pairs = [refits.get(name, ("", "")) for name in names[rows]]
    clean, biased = (
        positions_in(cells, cells.iloc[rows].assign(technique=[pair[i] for pair in pairs]), DECISION_CELL)
        for i in (0, 1)
    )
    tables = {}
    for name, measure in measures.items():
        value, _, _ = measure.interval(np.arange(len(cells)))
        beyond, low, high = measure.interval(rows, biased)
        tables[name] = _values(measure, cells, rows).assign(
            refit_clean=taken(value, clean),
            refit_biased=taken(value, biased),
            beyond_refit=beyond,
            beyond_refit_low=low,
            beyond_refit_high=high,
        )
    return _by_metric(tables)[list(RESTORATION_COLUMNS)]


def undo_table(
    results: pd.DataFrame,
    baselines: Baselines,
    standing: pd.DataFrame,
    resampling: Resampling | None,
    refits: Mapping[str, tuple[str, str]],
) -> pd.DataFrame:
    r"""Return where the planted bias has changed anything to undo, and which techniques undo it by chance.

    ``results`` have the columns :data:`~benchmark.columns.RESULT_COLUMNS`, with refits, and ``standing`` is
    from :func:`~benchmark.statistics.answers.standings`. The other parameters are those of
    :func:`restoration_table`.

    The result has the columns :data:`UNDO_COLUMNS`. Where ``technique`` is empty, a row is for a scenario of
    the original test, a level above 0 and a baseline; ``undo`` is

    - :data:`NO_REFERENCE` if the clean model has no results, is degenerate in some repetition, or is less
      accurate than the best constant;
    - :data:`NOTHING_TO_UNDO` if :math:`|\bar D_\beta - \bar D_0|` of the baseline's discriminations is below
      :data:`HARDLY_MOVED`;
    - :data:`NO_EFFECT_SHOWN` if the baseline's ``restoration_distance`` does not exceed that for the refit of
      clean rows, by the interval of the paired difference;
    - else empty.

    Without such a refit, the first two decide alone. The other rows are techniques with :data:`BY_CHANCE`.
    Training again on a bootstrap of the biased rows comes nearer to the clean model as well, by regression to
    the mean. Nothing is known of techniques whose baseline has no such refit. One repetition without folds
    has no interval: there the difference itself counts.
    """
    metrics = [GOAL_METRICS[EQUALISE], RESTORATION_DISTANCE]
    cells = to_cells(results[(results["test"] == ORIGINAL) & results["metric"].isin(metrics)], resampling)
    techniques = cells.keys.loc[cells.keys["level"] > 0, list(WHERE)].drop_duplicates()
    techniques = techniques.assign(baseline=baselines.column(techniques))
    techniques = techniques[techniques["baseline"] != ""].reset_index(drop=True)

    table = techniques.drop(columns="technique").drop_duplicates(ignore_index=True)
    biased = table.rename(columns={"baseline": "technique"})
    clean = biased.assign(level=0.0)
    refit = biased.assign(technique=[refits.get(name, ("", ""))[0] for name in table["baseline"]])
    moved, _ = _difference(cells, metrics[0], biased, clean)
    useless = standing[(standing["n_degenerate"] > 0) | standing["below_constant"]]
    of_clean = taken(cells.values, positions_in(cells.keys, clean.assign(metric=metrics[0]), CELL_KEY))
    reasons = {
        NO_REFERENCE: np.isnan(row_means(of_clean)) | (positions_in(useless, clean, WHERE) >= 0),
        NOTHING_TO_UNDO: np.abs(moved) < HARDLY_MOVED * (1 - ROUNDING),
        NO_EFFECT_SHOWN: _not_farther(cells, biased, refit),
    }
    names_of_refits = [name for pair in refits.values() for name in pair]
    compared = ~techniques["technique"].isin(names_of_refits)
    compared &= techniques["technique"] != techniques["baseline"]
    refit = techniques.assign(technique=[refits.get(name, ("", ""))[1] for name in techniques["baseline"]])
    by_chance = techniques[compared & _not_farther(cells, refit, techniques)].assign(undo=BY_CHANCE)
    table = table.assign(technique="", undo=first_true(reasons))
    return pd.concat([table, by_chance], ignore_index=True)[list(UNDO_COLUMNS)]


def _not_farther(cells: Cells, one: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which cells are not shown to be farther from the clean model than others."""
    farther, low = _difference(cells, RESTORATION_DISTANCE, one, other)
    # NaN without one of both.
    return np.asarray(np.where(np.isnan(low), farther, low) <= ROUNDING)


def _difference(cells: Cells, metric: str, one: pd.DataFrame, other: pd.DataFrame) -> tuple[Array, Array]:
    """Return the mean paired difference of a metric between two sets of cells, and its interval's low end."""
    first, second = (
        positions_in(cells.keys, frame.assign(metric=metric), CELL_KEY) for frame in (one, other)
    )
    values, parts = (taken(rows, first) - taken(rows, second) for rows in (cells.values, cells.singles))
    mean = row_means(values)
    low, _ = student_intervals(parts, overlap=taken(cells.overlaps, first), estimate=mean)
    return mean, low


def _values(measure: Measure, cells: pd.DataFrame, rows: NDArray[np.intp]) -> pd.DataFrame:
    """Return the given cells with the values of a measure, indexed by cell."""
    value, low, high = measure.interval(rows)
    return cells.iloc[rows].assign(
        n=measure.n[rows], value=value, value_low=low, value_high=high, reason=measure.reasons(rows)
    )


def _by_metric(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of several metrics as one, sorted by cell."""
    together = pd.concat([table.assign(metric=name) for name, table in tables.items()])
    return together.sort_index(kind="stable").reset_index(drop=True)
