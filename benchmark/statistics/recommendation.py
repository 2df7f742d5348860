"""The rule of recommendation: each technique's verdict, the choice among them, and whom it must not harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import EQUALIZE, TRUTH, UNTREATED, parted_name
from benchmark.errors import StatisticsError
from benchmark.statistics.cells import SCENARIO
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.restoration import BY_CHANCE, NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO

ROPE = 0.01
"""Differences up to which two techniques are practically equivalent, in the metric's unit."""

FEW_REPETITIONS = 5
"""Splits below which hardly any difference can be shown."""

EQUAL = 1e-6
"""Means of shares that differ by less are equal: the difference is rounding, or one row of a million."""

LEAST, CHEAP = "least", "cheap"
"""Choices between techniques: the one nearest to the goal, and the nearest one at next to no cost."""

TECHNIQUE, BASELINE, REFERENCE = "technique", "baseline", "reference"
"""Roles: a technique has a verdict; others are compared with the baseline; the reference is doing nothing,
where the baseline is something else."""

HELPS, PROMISING, DOMINATED = "helps", "promising", "dominated"
NOT_SHOWN, HARMS, NOT_USABLE = "not_shown", "harms", "not_usable"

RECOMMENDED = (HELPS, PROMISING)
"""Verdicts on techniques to choose from."""

WITHIN_LIMITS = (*RECOMMENDED, DOMINATED)
"""Verdicts on techniques that are nearer to the goal than the baseline, and keep all its limits."""

VERDICTS = (*WITHIN_LIMITS, NOT_SHOWN, HARMS, NOT_USABLE)
"""Verdicts on a technique at one level of bias."""

REASONS = {
    PROMISING: ("few_repetitions", "one_sample"),
    NOT_SHOWN: ("", "not_compared", "not_recorded", BY_CHANCE),
    NOT_USABLE: ("too_few_accepted", "one_group", "below_constant", "incomplete", "missing", "constant"),
}
"""Reasons of verdicts that have several."""

NOT_RESTORED = (HIDDEN_BIAS, NO_EFFECT_SHOWN, NOTHING_TO_UNDO, NO_REFERENCE)
"""Reasons of a level of bias at which no technique is ranked by its distance to the clean model."""

BASELINE_CONSTANT = "baseline_constant"
"""Reason of a level of bias at which nothing is compared with a baseline that is mostly constant."""

OF_BASELINE, OF_LABELS = "baseline", "labels"
"""Sources of a reference for acceptance: the clean model, or the test rows' labels."""

REFERENCE_COLUMNS = (
    *("reference", "reference_accepted", "reference_deprived", "reference_favored"),
    *("accuracy_floor", "too_few", "baseline_accepted_deprived", "baseline_accepted_favored"),
)
"""Columns of :func:`references`."""

TRUE_CLEAN = "true_clean_"
"""Prefix of columns of the model that was trained without any bias."""

FEWER = "fewer_deprived"
"""Limit for a technique that accepts fewer of the deprived group than the baseline does."""

LIMITS = (
    *("accepts_deprived", "refuses_deprived", "accepts_favored", "refuses_favored"),
    *("accepts_all", FEWER),
)
"""Limits of acceptance that a technique can miss, in the order of sentences."""


@dataclass(frozen=True)
class Criteria:
    """Requirements for recommending a technique."""

    # A technique is better if its whole simultaneous interval is above this improvement on its baseline. Two
    # techniques are tied up to this difference, and a cheap one may lose this much accuracy.
    margin: float = ROPE
    # The share of the reference's acceptance, and of its refusal, to reach in each group.
    least_group_share: float = 0.5
    # The share of the reference's overall acceptance that a technique has to reach to equalize.
    least_overall_share: float = 0.8
    # How much less accurate it may be than the best constant answer, or than the baseline without planted
    # bias if that is less accurate.
    accuracy_slack: float = 0.01
    least_splits: int = FEW_REPETITIONS  # with fewer, there are candidates only

    def __post_init__(self) -> None:
        if self.margin < 0:
            raise StatisticsError(
                "The difference up to which techniques are practically equivalent is impossible",
                expected="a rope of at least 0",
                got=f"{self.margin:g}",
                remedy=f"{ROPE:g} is the usual one",
            )


def references(table: pd.DataFrame, goal: str, criteria: Criteria) -> pd.DataFrame:
    """Return whom models accept without planted bias, and which techniques stay far below.

    ``table`` has techniques at levels of bias, with ``baseline``, ``clean_model``, ``n_degenerate``,
    ``accuracy``, ``constant_accuracy``, the shares accepted, and ``favorable``, ``favorable_deprived`` and
    ``favorable_favored``, the shares of favorable labels, and the columns of the true clean model, which
    begin with :data:`TRUE_CLEAN`. ``goal`` is one of :data:`~benchmark.columns.GOALS`.

    The result has the columns :data:`REFERENCE_COLUMNS`, which ``results/README.md`` explains at
    ``answers.csv``, and the table's index. The reference is the clean model, at level 0 of the scenario; in
    truth, it is the one that was trained without any bias. If that was not run or is degenerate, it is the
    share of favorable labels in the test rows.
    ``too_few`` names the :data:`LIMITS` that are missed, with spaces between.
    """
    groups = ("deprived", "favored")
    shares = ("accepted", *(f"accepted_{group}" for group in groups))
    baselines = table[table["technique"] == table["baseline"]]
    clean = table[(table["technique"] == table["clean_model"]) & (table["level"] == 0)]
    # In truth, the untreated learner at level 0 is no clean model.
    in_truth, useful = is_hidden_truth(clean), clean["n_degenerate"] == 0
    of_models = {
        name: clean[f"{TRUE_CLEAN}{name}"].where(in_truth, clean[name].where(useful))
        for name in (*shares, "accuracy")
    }
    of_clean = _of_technique("clean_model", clean.assign(**of_models), table, SCENARIO, [*of_models])
    has_clean = of_clean[[*shares[1:]]].notna().all(axis=1)
    labels = table[["favorable", *(f"favorable_{group}" for group in groups)]].astype(float)
    of_labels = ~has_clean & labels.notna().all(axis=1)
    names = ("reference_accepted", *(f"reference_{group}" for group in groups))
    frame = pd.DataFrame(
        {
            name: of_clean[share].where(has_clean, labels[label].where(of_labels))
            for name, share, label in zip(names, shares, labels.columns, strict=True)
        }
    )
    frame["reference"] = np.select([has_clean, of_labels], [OF_BASELINE, OF_LABELS], "")
    constant = table["constant_accuracy"].astype(float)
    least = constant.where(~(of_clean["accuracy"] < constant), of_clean["accuracy"])
    frame["accuracy_floor"] = least - criteria.accuracy_slack
    before = _of_technique("baseline", baselines, table, [*SCENARIO, "level"], [*shares[1:]])
    frame[[f"baseline_{share}" for share in shares[1:]]] = before
    missed = {}
    for group in groups:
        accepted, whole = table[f"accepted_{group}"], frame[f"reference_{group}"]
        missed[f"accepts_{group}"] = accepted < criteria.least_group_share * whole - EQUAL
        missed[f"refuses_{group}"] = 1 - accepted < criteria.least_group_share * (1 - whole) - EQUAL
    if goal == EQUALIZE:
        overall = criteria.least_overall_share * frame["reference_accepted"]
        missed["accepts_all"] = table["accepted"] < overall - EQUAL
        missed[FEWER] = table["accepted_deprived"] < before["accepted_deprived"] - EQUAL
    words = [np.where(missed[limit], f"{limit} ", "") for limit in LIMITS if limit in missed]
    frame["too_few"] = ["".join(limits).rstrip() for limits in zip(*words, strict=True)]
    return frame[list(REFERENCE_COLUMNS)]


def is_hidden_truth(frame: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows, with ``bias`` and ``test``, are tested in truth that their labels hide."""
    hides = {name: parted_name(name)[1] > 0 for name in frame["bias"].unique()}
    return (frame["test"] == TRUTH) & frame["bias"].map(hides).astype(bool)


def verdicts(table: pd.DataFrame, criteria: Criteria) -> pd.DataFrame:
    """Return role, verdict and reason of each row of :func:`~benchmark.statistics.answers.answer_table`.

    This is the rule of ``docs/statistics.md``: the first condition that is true decides.
    """
    good = table["better"] | table["candidate"]
    rule: dict[tuple[str, str, str], Any] = {
        (BASELINE, "", ""): table["technique"] == table["baseline"],
        (REFERENCE, "", ""): table["technique"] == UNTREATED,
        (TECHNIQUE, NOT_SHOWN, ""): table["level_reason"].isin(NOT_RESTORED),
        (TECHNIQUE, NOT_USABLE, "constant"): table["n_degenerate"] > 0,
        (TECHNIQUE, NOT_USABLE, "missing"): table["value"].isna(),
        (TECHNIQUE, NOT_USABLE, "incomplete"): (table["missing"] > 0)
        | ((table["pairs"] > 0) & (table["pairs"] < table["n"])),
        (TECHNIQUE, NOT_USABLE, "below_constant"): table["accuracy"] < table["accuracy_floor"] - EQUAL,
        (TECHNIQUE, NOT_SHOWN, "not_recorded"): table["accepted"].isna()
        | table["accuracy"].isna()
        | table["constant_accuracy"].isna(),
        (TECHNIQUE, NOT_SHOWN, "not_compared"): table["baseline_degenerate"] | table["change"].isna(),
        (TECHNIQUE, NOT_USABLE, "one_group"): good & table["one_group"],
        (TECHNIQUE, NOT_USABLE, "too_few_accepted"): good & (table["too_few"] != ""),
        (TECHNIQUE, NOT_SHOWN, BY_CHANCE): good & table["by_chance"],
        (TECHNIQUE, HELPS, ""): table["better"] & (table["splits"] >= criteria.least_splits),
        (TECHNIQUE, PROMISING, "few_repetitions"): good & table["tested"],
        (TECHNIQUE, PROMISING, "one_sample"): good,
        (TECHNIQUE, HARMS, ""): table["worse"],
    }
    first = np.select(list(rule.values()), range(len(rule)), len(rule))
    outcomes = [*rule, (TECHNIQUE, NOT_SHOWN, "")]
    columns = ["role", "verdict", "reason"]
    return pd.DataFrame([outcomes[i] for i in first], columns=columns, index=table.index)


def _of_technique(
    named: str, rows: pd.DataFrame, table: pd.DataFrame, where: Any, columns: list[str]
) -> pd.DataFrame:
    """Return columns of the technique that each row names, where ``where`` is equal."""
    keys = pd.MultiIndex.from_frame(table[[*where, named]])
    of_named = rows.set_index([*where, "technique"])[columns].astype(float)
    return of_named.reindex(keys).set_axis(table.index)


def dominated_by(rows: pd.DataFrame, margin: float) -> dict[int, int]:
    """Return which techniques at one level of bias are dominated, and by which other one, both by index.

    A technique dominates another if it is no farther from 0, no less accurate, and by more than ``margin``
    better in distance or accuracy. Rows have ``distance`` and ``accuracy``.
    """
    means = rows[["distance", "accuracy"]].round(6)  # as close as EQUAL
    # The least distance first, then the most accurate: whatever dominates a technique stands before it.
    order = list(means.sort_values(["distance", "accuracy"], ascending=[True, False], kind="stable").index)
    better_of: dict[int, int] = {}
    for position, i in enumerate(order):
        for better in order[:position]:
            nearer = means["distance"][i] - means["distance"][better]
            more = means["accuracy"][better] - means["accuracy"][i]
            if more >= 0 and max(nearer, more) > margin + EQUAL and better not in better_of:
                better_of[i] = better
                break
    return better_of


def tied(rows: pd.DataFrame, margin: float) -> tuple[int, list[int]]:
    """Return the index of the best technique, and the indices of all that are tied with it.

    Techniques are tied if their distance is within a margin of the least. The best is the most accurate of
    them, and then the one with the least distance; this is also their order.
    """
    means = rows[["distance", "accuracy"]].round(6)  # as close as EQUAL
    near = means[means["distance"] <= means["distance"].min() + margin + EQUAL]
    order = list(near.sort_values(["accuracy", "distance"], ascending=[False, True], kind="stable").index)
    return order[0], order


def choose(rows: pd.DataFrame, margin: float) -> pd.DataFrame:
    """Return the techniques that are named for a choice at one level of bias, and those that are tied.

    ``rows`` are of one goal, scenario and level of bias, with ``verdict``, ``technique``, ``distance``,
    ``accuracy`` and ``accuracy_change``. Two techniques are tied up to a difference of ``margin``, and a
    cheap technique loses at most ``margin`` of accuracy. The result has the columns ``dominated_by``,
    ``choice`` and ``tied``, and the index of the rows.
    """
    dominated: dict[int, str] = {}
    chosen: dict[str, tuple[int, list[int]]] = {}
    good = rows[rows["verdict"].isin(RECOMMENDED)]
    if len(good):
        dominating = dominated_by(good, margin)
        dominated = {i: str(rows["technique"][better]) for i, better in dominating.items()}
        remaining = good[~good.index.isin(list(dominated))]
        chosen[LEAST] = tied(remaining, margin)
        cheap = remaining[remaining["accuracy_change"] >= -margin - EQUAL]
        if len(cheap):
            chosen[CHEAP] = tied(cheap, margin)
    return pd.DataFrame(
        {
            "dominated_by": [dominated.get(i, "") for i in rows.index],
            "choice": [" ".join(c for c, (best, _) in chosen.items() if i == best) for i in rows.index],
            "tied": [
                " ".join(c for c, (_, near) in chosen.items() if i in near and len(near) > 1)
                for i in rows.index
            ],
        },
        index=rows.index,
    )
