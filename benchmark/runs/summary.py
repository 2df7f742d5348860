"""Mean, spread and interval of every metric over the repetitions of a cell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import MEAN_COLUMNS, in_described_order
from benchmark.statistics.cells import to_cells
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.restoration import pooled_shares

SUMMARY_COLUMNS = (*MEAN_COLUMNS, "metric", "mean", "std", "ci_low", "ci_high", "n")
"""Columns of the summary."""

_KEY = [*MEAN_COLUMNS, "metric"]


def summarise(
    results: pd.DataFrame,
    manifest: Manifest,
    folds: pd.DataFrame | None = None,
    decisions: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return a summary of each metric of each cell over the repetitions, in described order.

    Columns :data:`SUMMARY_COLUMNS`. A cell without any finite value is a row with ``n = 0``. ``std`` and the
    interval of :func:`cell_intervals` are NaN where ``n < 2``. The results have a row for each expected
    value; ``folds`` are the values of single folds, if any. Shares of ``decisions`` are ratios of sums over
    all repetitions (:func:`pooled_shares`), not means of ratios.
    """
    finite = results["value"].where(np.isfinite(results["value"]))
    rows = finite.groupby([results[column] for column in _KEY], sort=False).agg(["mean", "std", "count"])
    summary = rows.reset_index().rename(columns={"count": "n"})
    resampling = manifest.resampling(folds)
    if len(summary):
        ends = cell_intervals(to_cells(results, resampling)).set_index(_KEY)[["ci_low", "ci_high"]]
        summary = summary.join(ends, on=_KEY)
    summary = summary.reindex(columns=list(SUMMARY_COLUMNS))
    if decisions is not None and len(summary):
        shares = (
            pooled_shares(decisions, resampling)
            .set_index(_KEY)
            .reindex(pd.MultiIndex.from_frame(summary[_KEY]))
        )
        pooled = shares["n"].notna().to_numpy()
        for name, column in (("mean", "value"), ("ci_low", "value_low"), ("ci_high", "value_high")):
            summary[name] = summary[name].mask(pooled, shares[column].to_numpy())
    return in_described_order(summary, manifest)
