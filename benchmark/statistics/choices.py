"""Which of the techniques at one level of bias is chosen for what, and whom a choice must not harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import EQUALISE
from benchmark.statistics.bayes import ROPE
from benchmark.statistics.cells import SCENARIO
from benchmark.statistics.few import FEW

EQUAL = 1e-6
"""Means of shares that differ by no more are held equal: by rounding, or by one row of a million."""

LEAST, CHEAP = "least", "cheap"
"""Choices between techniques: the one that comes nearest to the goal, and the one that does so at next to no
cost."""

TO_CHOOSE = ("recommended", "candidate")
"""Verdicts on techniques to choose from."""

COMPARED_WITH = ("baseline", "untreated")
"""Verdicts on what the others are compared with."""

CHOICES = (LEAST, CHEAP)
"""What a technique can be chosen for, in the order of sentences."""

HARDLY_MOVED = 0.02
"""How far bias moves a model at least so that there is something to undo."""

OF_BASELINE, OF_LABELS = "baseline", "labels"
"""Where a reference for acceptance is from: the baseline without planted bias, or the test rows' labels."""

REFERENCE_COLUMNS = (
    *("reference", "reference_accepted", "reference_deprived", "reference_favored"),
    *("accuracy_floor", "baseline_accepted_deprived", "too_few"),
)
"""Columns of :func:`references`."""

FEWER = "fewer_deprived"
"""Limit that a technique misses that accepts fewer of the deprived group than the baseline does."""

LIMITS = (
    *("accepts_deprived", "refuses_deprived", "accepts_favored", "refuses_favored"),
    *("accepts_all", FEWER),
)
"""Limits of acceptance that a technique can miss, in the order of sentences."""


@dataclass(frozen=True)
class Criteria:
    """What a technique has to reach so that it is recommended."""

    # By how much it has to be better than its baseline, in the whole of its simultaneous interval. Up to this
    # difference two techniques are tied, and so much accuracy may be lost at next to no cost.
    margin: float = ROPE
    # Which share of the reference's acceptance it has to reach in each group, and of its refusal.
    least_group_share: float = 0.5
    # Which share of the reference's overall acceptance it has to reach to equalise.
    least_overall_share: float = 0.8
    # By how much it may be less accurate than the best constant answer, or than the baseline without planted
    # bias if that is less accurate.
    accuracy_slack: float = 0.01
    least_splits: int = FEW  # repetitions, or folds of them, below which there are candidates only


def references(table: pd.DataFrame, goal: str, criteria: Criteria) -> pd.DataFrame:
    """Return whom models accept without planted bias, and which techniques stay far below that.

    Parameters
    ----------
    table : DataFrame
        Techniques at levels of bias, with ``baseline``, ``n_degenerate``, ``accuracy``,
        ``constant_accuracy``, the shares accepted, and ``favorable``, ``favorable_deprived`` and
        ``favorable_favored``, the shares of favorable labels.
    goal : str
        One of :data:`~benchmark.columns.GOALS`.
    criteria : Criteria
        Limits.

    Returns
    -------
    DataFrame
        Columns :data:`REFERENCE_COLUMNS`, with the table's index. The reference is the technique's baseline
        at level 0 of its scenario where that was run and is not degenerate, else the share of favorable
        labels in the test rows. ``accuracy_floor`` is the accuracy of the best constant answer or of that
        baseline, whichever is less, minus the slack. ``baseline_accepted_deprived`` is whom the baseline
        accepts at the same level. ``too_few`` names the :data:`LIMITS` that are missed, with blanks between:
        each group's, and to equalise overall acceptance and the baseline's of the deprived group.
    """
    groups = ("deprived", "favored")
    shares = ("accepted", *(f"accepted_{group}" for group in groups))
    baselines = table[table["technique"] == table["baseline"]]
    clean = baselines[(baselines["beta"] == 0) & (baselines["n_degenerate"] == 0)]
    of_clean = _of_baseline(clean, table, SCENARIO, [*shares, "accuracy"])
    known = of_clean[[*shares[1:]]].notna().all(axis=1)
    labels = table[["favorable", *(f"favorable_{group}" for group in groups)]].astype(float)
    of_labels = ~known & labels.notna().all(axis=1)
    names = ("reference_accepted", *(f"reference_{group}" for group in groups))
    found = pd.DataFrame(
        {
            name: of_clean[own].where(known, labels[label].where(of_labels))
            for name, own, label in zip(names, shares, labels.columns, strict=True)
        }
    )
    found["reference"] = np.select([known, of_labels], [OF_BASELINE, OF_LABELS], "")
    constant = table["constant_accuracy"].astype(float)
    least = constant.where(~(of_clean["accuracy"] < constant), of_clean["accuracy"])
    found["accuracy_floor"] = least - criteria.accuracy_slack
    before = _of_baseline(baselines, table, [*SCENARIO, "beta"], ["accepted_deprived"])["accepted_deprived"]
    found["baseline_accepted_deprived"] = before
    missed = {}
    for group in groups:
        own, whole = table[f"accepted_{group}"], found[f"reference_{group}"]
        missed[f"accepts_{group}"] = own < criteria.least_group_share * whole - EQUAL
        missed[f"refuses_{group}"] = 1 - own < criteria.least_group_share * (1 - whole) - EQUAL
    if goal == EQUALISE:
        overall = criteria.least_overall_share * found["reference_accepted"]
        missed["accepts_all"] = table["accepted"] < overall - EQUAL
        missed[FEWER] = table["accepted_deprived"] < before - EQUAL
    words = [np.where(missed[limit], f"{limit} ", "") for limit in LIMITS if limit in missed]
    found["too_few"] = ["".join(own).rstrip() for own in zip(*words, strict=True)]
    return found[list(REFERENCE_COLUMNS)]


def _of_baseline(
    baselines: pd.DataFrame, table: pd.DataFrame, where: Any, columns: list[str]
) -> pd.DataFrame:
    """Return columns of the baseline of each row of a table that has the same entries in some columns."""
    keys = pd.MultiIndex.from_frame(table[[*where, "baseline"]])
    own = baselines.set_index([*where, "technique"])[columns].astype(float)
    return own.reindex(keys).set_axis(table.index)


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


def tied(rows: pd.DataFrame, margin: float) -> tuple[int, list[int]]:
    """Return the most accurate of the rows that are within a margin of the least distance, and all of these.

    Both are given by their index, and the latter the most accurate first; of equally accurate ones the one
    with the least distance comes first.
    """
    means = rows[["distance", "accuracy"]].round(6)  # as close as EQUAL
    near = means[means["distance"] <= means["distance"].min() + margin + EQUAL]
    order = list(near.sort_values(["accuracy", "distance"], ascending=[False, True], kind="stable").index)
    return order[0], order


def choose(rows: pd.DataFrame, margin: float) -> pd.DataFrame:
    """Return what each technique at one level of bias is chosen for, and what it is tied for.

    Parameters
    ----------
    rows : DataFrame
        Of one goal, scenario and level of bias, with ``verdict``, ``technique``, ``distance``, ``accuracy``
        and ``accuracy_change``.
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
        named[LEAST] = tied(kept, margin)
        cheap = kept[kept["accuracy_change"] >= -margin - EQUAL]
        if len(cheap):
            named[CHEAP] = tied(cheap, margin)
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
