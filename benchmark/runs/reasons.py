"""Reasons for a missing number, in one line."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark.runs.report_frames import Scenario

_MOST_REASONS = 2
_LONGEST_REASON = 160


def explain(
    failures: pd.DataFrame,
    scenario: Scenario,
    technique: str,
    *,
    beta: float | None = None,
    metric: str | None = None,
) -> str | None:
    """Return reasons for a technique's missing values, the most frequent first; None if none is recorded.

    An example is ``"30 skipped: the favored group has no unfavorable row"``, counted in repetitions. A level
    of bias or a metric restricts the values. A cell that failed as a whole concerns every metric.
    """
    rows = scenario.rows(failures)
    rows = rows[rows["technique"] == technique]
    if beta is not None:
        rows = rows[rows["beta"] == beta]
    if metric is not None:
        rows = rows[rows["metric"].isin(["", metric])]
    # One reason in several folds counts as one.
    rows = rows.assign(reason=np.where(rows["at_fold"].notna(), "in one fold, ", "") + rows["reason"])
    # One repetition may lack several metrics for one reason: it counts once.
    once = rows.drop_duplicates(["beta", "repetition", "status", "reason"])
    counts = once.groupby(["status", "reason"]).size().reset_index(name="n")
    counts = counts.sort_values(["n", "status", "reason"], ascending=[False, True, True])
    texts = [
        f"{n} {status}" + (f": {_shorten(reason)}" if reason else "")
        for status, reason, n in counts.head(_MOST_REASONS).itertuples(index=False)
    ]
    if len(counts) > _MOST_REASONS:
        texts.append(f"{int(counts['n'].iloc[_MOST_REASONS:].sum())} for other reasons (see failures.csv)")
    return "; ".join(texts) or None


def _shorten(reason: str) -> str:
    line = " ".join(reason.split()).rstrip(".")
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 1].rstrip() + "…"
