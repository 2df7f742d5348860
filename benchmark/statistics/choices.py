"""Which of the techniques at one level of bias is chosen for what, and whom a choice must not harm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmark.statistics.frames import SCENARIO, WHERE, Baselines

EQUAL = 1e-6
"""Means of shares that differ by no more are held equal: by rounding, or by one row of a million."""

LEAST, CHEAP, RESTORES = "least", "cheap", "restores"
"""Choices between techniques: the least discrimination of the recommended ones, the least of those at next to
no cost, and the technique nearest to the model without planted bias."""

TO_CHOOSE = ("recommended", "candidate")
"""Verdicts on techniques to choose from."""

COMPARED_WITH = ("baseline", "untreated")
"""Verdicts on what the others are compared with."""

CHOICES = (LEAST, CHEAP, RESTORES)
"""What a technique can be chosen for, in the order of sentences."""

HARDLY_MOVED = 0.02
"""How far bias moves a model at least so that there is something to bring back."""

OF_BASELINE, OF_LABELS = "baseline", "labels"
"""Where a reference for acceptance is from: the baseline without planted bias, or the test rows' labels."""

REFERENCE_COLUMNS = ("reference", "reference_deprived", "reference_favored", "too_few")
"""Columns of :func:`references`."""

_LEAST_SHARE = 0.5  # of the reference's acceptance, and of its refusal, in each group


def falls_short(share: Any, reference: Any) -> Any:
    """Return whether a share, or each of some, is less than half of its reference."""
    return share < _LEAST_SHARE * reference - EQUAL


def references(table: pd.DataFrame) -> pd.DataFrame:
    """Return what share of each group is accepted without planted bias, and who stays far below it.

    Parameters
    ----------
    table : DataFrame
        Techniques at levels of bias, with ``baseline``, ``n_degenerate``, the shares accepted, and
        ``favorable_deprived`` and ``favorable_favored``, the shares of favorable labels by group.

    Returns
    -------
    DataFrame
        Columns :data:`REFERENCE_COLUMNS`, with the table's index. The reference is the technique's baseline
        at level 0 of its scenario where that was run and is not degenerate, else the favorable share of the
        group in the test rows. ``too_few`` is whether in either group less than half of the reference's
        share is accepted, or less than half of its share refused.
    """
    groups = ("deprived", "favored")
    clean = table[
        (table["beta"] == 0) & (table["technique"] == table["baseline"]) & (table["n_degenerate"] == 0)
    ].set_index([*SCENARIO, "technique"])
    keys = pd.MultiIndex.from_frame(table[[*SCENARIO, "baseline"]])
    found = pd.DataFrame(index=table.index)
    for group in groups:
        of_baseline = clean[f"accepted_{group}"].reindex(keys).to_numpy(dtype=float)
        found[f"reference_{group}"] = of_baseline
    known = found.notna().all(axis=1)
    few = np.zeros(len(table), dtype=bool)
    for group in groups:
        shares = found[f"reference_{group}"].where(known, table[f"favorable_{group}"].astype(float))
        found[f"reference_{group}"] = shares
        accepted = table[f"accepted_{group}"]
        few |= (falls_short(accepted, shares) | falls_short(1 - accepted, 1 - shares)).to_numpy()
    of_labels = ~known & found["reference_deprived"].notna() & found["reference_favored"].notna()
    found["reference"] = np.select([known, of_labels], [OF_BASELINE, OF_LABELS], "")
    return found.assign(too_few=few)[list(REFERENCE_COLUMNS)]


def clean_distances(results: pd.DataFrame, baselines: Baselines, metrics: Sequence[str]) -> pd.Series:
    """Return how far each technique is from its baseline without planted bias, in the mean.

    It is the mean over ``metrics`` and repetitions of the absolute difference between the technique's value
    and the baseline's at level 0 of the same repetition, so that levels have to be paired. Indexed by
    :data:`~benchmark.statistics.frames.WHERE`, for levels above 0; NaN where a metric has no such pair.
    """
    own = results[results["metric"].isin(metrics)]
    own = own.assign(baseline=baselines.column(own))
    keys = [*SCENARIO, "repetition", "metric"]
    clean = own[(own["beta"] == 0) & (own["technique"] == own["baseline"])]
    pairs = own[own["beta"] > 0].merge(
        clean[[*keys, "baseline", "value"]], how="left", on=[*keys, "baseline"], suffixes=("", "_clean")
    )
    pairs["apart"] = (pairs["value"] - pairs["value_clean"]).abs()
    by_metric = pairs.groupby([*WHERE, "metric"], sort=False)["apart"].mean().unstack("metric")
    return by_metric.reindex(columns=list(metrics)).mean(axis=1, skipna=False)


def outdone_by(rows: pd.DataFrame, margin: float) -> dict[int, int]:
    """Return which of some techniques at one level of bias another one outdoes, by their index.

    Another one outdoes it that is no farther from 0 and no less accurate, and by more than ``margin`` better
    in one of both. Rows have ``distance`` and ``accuracy``.
    """
    means = rows[["distance", "accuracy"]].round(6)  # as close as EQUAL
    # The least first, of equal ones the most accurate: what outdoes a technique stands before it.
    order = list(means.sort_values(["distance", "accuracy"], ascending=[True, False], kind="stable").index)
    found: dict[int, int] = {}
    for place, i in enumerate(order):
        for better in order[:place]:
            nearer = means["distance"][i] - means["distance"][better]
            more = means["accuracy"][better] - means["accuracy"][i]
            if more >= 0 and max(nearer, more) > margin + EQUAL and better not in found:
                found[i] = better
                break
    return found


def tied(rows: pd.DataFrame, column: str, margin: float) -> tuple[int, list[int]]:
    """Return the most accurate of the rows that are within a margin of the least, and all of these.

    Both are given by their index, and the latter the most accurate first; of equally accurate ones the one
    with the least comes first.
    """
    return _first_within(rows, column, margin, ["accuracy", column])


def nearest(rows: pd.DataFrame, column: str, margin: float) -> tuple[int, list[int]]:
    """Return the row with the least, of equal ones the most accurate, and all within a margin of it.

    Which row this is hangs less on chance than which one :func:`tied` names: there a row that comes in or
    drops out at the margin changes the answer.
    """
    return _first_within(rows, column, margin, [column, "accuracy"])


def _first_within(rows: pd.DataFrame, column: str, margin: float, by: Sequence[str]) -> tuple[int, list[int]]:
    """Return the first of the rows within a margin of the least, and all of these, sorted."""
    means = rows[[column, "accuracy"]].round(6)
    near = means[means[column] <= means[column].min() + margin + EQUAL]
    ascending = [name != "accuracy" for name in by]
    order = list(near.sort_values([*by], ascending=ascending, kind="stable").index)
    return order[0], order


def choose(rows: pd.DataFrame, margin: float) -> pd.DataFrame:
    """Return what each technique at one level of bias is chosen for, and what it is tied for.

    Parameters
    ----------
    rows : DataFrame
        Of one scenario and level of bias, with ``verdict``, ``technique``, ``distance``, ``accuracy``,
        ``accuracy_change``, ``clean_distance`` and ``of_use``.
    margin : float
        Difference up to which two techniques are tied, and accuracy that a cheap one may lose.

    Returns
    -------
    DataFrame
        Columns ``outdone_by``, ``choice`` and ``tied``, with the index of the rows.
    """
    outdone: dict[int, str] = {}
    named: dict[str, tuple[int, list[int]]] = {}
    margin = max(margin, 0.0)
    good = rows[rows["verdict"].isin(TO_CHOOSE)]
    if len(good):
        outdone = {i: str(rows["technique"][better]) for i, better in outdone_by(good, margin).items()}
        kept = good[~good.index.isin(list(outdone))]
        named[LEAST] = tied(kept, "distance", margin)
        cheap = kept[kept["accuracy_change"] >= -margin - EQUAL]
        if len(cheap):
            named[CHEAP] = tied(cheap, "distance", margin)
    near = rows[rows["of_use"] & rows["clean_distance"].notna() & rows["accuracy"].notna()]
    if len(near):
        best, equals = nearest(near, "clean_distance", margin)
        if not is_near_already(rows, best, margin):
            named[RESTORES] = best, equals
    choice, ties = (
        {i: [name for name in CHOICES if name in named and i in of(*named[name])] for i in rows.index}
        for of in (_only_the_best, _all_if_several)
    )
    return pd.DataFrame(
        {
            "outdone_by": [outdone.get(i, "") for i in rows.index],
            "choice": [" ".join(choice[i]) for i in rows.index],
            "tied": [" ".join(ties[i]) for i in rows.index],
        },
        index=rows.index,
    )


def _only_the_best(best: int, _equals: list[int]) -> list[int]:
    return [best]


def _all_if_several(_best: int, equals: list[int]) -> list[int]:
    return equals if len(equals) > 1 else []


def is_near_already(rows: pd.DataFrame, best: int, margin: float) -> bool:
    """Whether the baseline of a technique is itself as near to what it is without planted bias."""
    distances = rows["clean_distance"].to_dict()
    baseline = rows.index[rows["technique"] == rows["baseline"].to_dict()[best]]
    before = float(distances[baseline[0]]) if len(baseline) else math.nan
    return not before > float(distances[best]) + margin + EQUAL
