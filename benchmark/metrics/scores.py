"""Metrics of scores: ranking of the people of each group, and calibration.

Ranking takes any scores; calibration, loss and generalized rates take scores in [0, 1].
"""

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmark.metrics import Metric, metric, name_of
from benchmark.metrics.inputs import Group, UndefinedMetricError
from benchmark.metrics.rates import BAD, FAIRLEARN, GOOD, UNSIGNED, apart

Floats = NDArray[np.float64]

_N_BINS = 10
_ROUNDING = 1e-12  # by which a sum of probabilities may miss 0 or 1
_GUIDE = "AUC Gap guide (Measuring and Mitigating Model Bias)"


def _columns(group: Group) -> tuple[Floats, Floats, Floats]:
    """Return labels as 0 and 1, scores and weights of a group's rows."""
    rows = group.rows
    if rows.y_true is None or rows.y_score is None:
        raise UndefinedMetricError("it needs labels and scores, not given")
    return rows.y_true.astype(np.float64), rows.y_score, rows.weights


def _probabilities(group: Group) -> tuple[Floats, Floats, Floats]:
    """Return labels, scores and weights of a group's rows, if the scores of all groups are in [0, 1]."""
    label, score, weight = _columns(group)
    everybody = group.source.y_score if group.source is not None else None
    if everybody is None:
        everybody = score
    # All scores are checked: one group's scores may lie in [0, 1] by chance without being probabilities.
    low, high = np.min(everybody, initial=0.0), np.max(everybody, initial=1.0)
    if low < -_ROUNDING or high > 1 + _ROUNDING:
        beyond = low if low < -_ROUNDING else high
        raise UndefinedMetricError(f"it needs scores in [0, 1], not {beyond:g}")
    return label, score.clip(0.0, 1.0), weight


def _ranked(group: Group) -> tuple[Floats, Floats]:
    """Return the weights of rows above each threshold, by label unfavorable and favorable, from 0 to all."""
    label, score, weight = _columns(group)
    order = np.argsort(-score, kind="stable")
    # Tied scores share a threshold: the last of them.
    threshold = np.diff(score[order], append=np.nan) != 0
    above = []
    for kind, who in ((1 - label, BAD), (label, GOOD)):
        total = (weight * kind)[order].cumsum()
        if not len(total) or not total[-1]:
            raise UndefinedMetricError(f"there is no row of {group.name} {who}")
        above.append(np.append(0.0, total[threshold]))
    return above[0], above[1]


def _roc(group: Group) -> tuple[Floats, Floats]:
    """Return false and true positive rate at each threshold, from (0, 0) to (1, 1)."""
    bad, good = _ranked(group)
    return bad / bad[-1], good / good[-1]


def _area(group: Group) -> float:
    """Return the area under a group's ROC curve; ties count half."""
    # Pairs are counted before the division: exactly, without weights.
    bad, good = _ranked(group)
    return float((np.diff(bad) * (good[1:] + good[:-1])).sum() / (2 * bad[-1] * good[-1]))


_of_scores = functools.partial(
    metric, range=(0.0, 1.0), ideal=0.0, needs=("y_true", "y_score"), family="scores"
)


auc = _of_scores(
    "AUC of a group",
    "P(s > s' | g, y+, y'-) + ½ P(s = s' | g, y+, y'-)",
    name="auc",
    ideal=1.0,
    source=f"Standard; {_GUIDE}",
    compare="each_group",
    note="How often a member of the group with a favorable label has a higher score s than one without. 0.5 "
    "is chance.",
)(_area)

auc_overall = _of_scores(
    "AUC",
    "P(s > s' | y+, y'-) + ½ P(s = s' | y+, y'-)",
    name="auc_overall",
    ideal=1.0,
    source="Standard",
    note="0.5 is chance. It may be above or below the AUC of every group.",
)(_area)

auc_gap = _of_scores(
    "AUC gap",
    "max - min of the AUC over the groups",
    source=_GUIDE,
    compare="all_groups",
    note=UNSIGNED,
)(lambda groups: apart(auc, groups))

auc_group_min = _of_scores(
    "AUC, worst group",
    "min of the AUC over the groups",
    ideal=1.0,
    source=FAIRLEARN,
    compare="all_groups",
    name="auc_group_min",
)(lambda groups: min(map(auc, groups)))


@_of_scores(
    "ABROCA",
    "∫ |ROC(x | g) - ROC(x | ḡ)| dx over false positive rates x",
    source="Gardner, Brooks and Baker (2019)",
    compare="one_against_rest",
    note="Never below the difference of the two AUCs, and above it where the curves cross.",
)
def abroca(deprived: Group, favored: Group) -> float:
    """Return the area between the ROC curves of the two groups, exactly."""
    curves = [_roc(deprived), _roc(favored)]
    x = np.unique(np.concatenate([false_positive for false_positive, _ in curves]))
    # Both curves are straight between neighboring x. At an x a curve may jump, so each side has its value.
    (left, right), (other_left, other_right) = (_ends(*curve, x) for curve in curves)
    left, right = left - other_left, right - other_right
    size = np.abs(left) + np.abs(right)
    crossing = left * right < 0
    mean = np.divide(left**2 + right**2, 2 * size, out=size / 2, where=crossing)
    return float((np.diff(x) * mean).sum())


def _ends(false_positive: Floats, true_positive: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return a ROC curve just right of each ``x`` but the last, and just left of each but the first."""
    knots, first, number = np.unique(false_positive, return_index=True, return_counts=True)
    lowest, highest = true_positive[first], true_positive[first + number - 1]
    segment = np.searchsorted(knots, x[:-1], side="right") - 1
    start, rise = highest[segment], lowest[segment + 1] - highest[segment]
    slope = rise / (knots[segment + 1] - knots[segment])
    return start + slope * (x[:-1] - knots[segment]), start + slope * (x[1:] - knots[segment])


@_of_scores(
    "Calibration error of a group",
    "sum over bins b of P(b | g) |E(s | g, b) - P(y+ | g, b)|",
    source="Naeini, Cooper and Hauskrecht (2015), expected calibration error",
    compare="each_group",
    note="10 equally wide bins of scores s in [0, 1], each with its lower edge, the last with both. Small "
    "groups have a larger error by chance.",
)
def calibration_error(group: Group) -> float:
    """Return the mean distance, over bins, between mean score and share of favorable labels."""
    label, score, weight = _probabilities(group)
    bins = np.minimum((score * _N_BINS).astype(np.int64), _N_BINS - 1)
    apart = np.abs(np.bincount(bins, weight * (score - label), minlength=_N_BINS)).sum()
    return group.share(float(apart), group.size)


calibration_gap = _of_scores(
    "Calibration gap",
    "max over the groups of sum over bins b of P(b | g) |E(s | g, b) - P(y+ | g, b)|",
    source="Kleinberg, Mullainathan and Raghavan (2017), calibration within groups",
    compare="all_groups",
    note="The gap between scores and labels in the worst calibrated group, not between groups: 0 means that "
    "every group is calibrated. Same bins as calibration_error.",
)(lambda groups: max(map(calibration_error, groups)))


@_of_scores(
    "Log loss of a group",
    "- E(ln s | g, y+) P(y+ | g) - E(ln(1 - s) | g, y-) P(y- | g)",
    range=(0.0, math.inf),
    source="Standard",
    compare="each_group",
    note="Scores of 0 and 1 are moved inwards by 2.2e-16, so that a row's loss is at most 36.",
)
def log_loss(group: Group) -> float:
    """Return the mean negative log-likelihood of the labels, with the scores as their probabilities."""
    label, score, weight = _probabilities(group)
    tiny = np.finfo(np.float64).eps
    likelihood = np.clip(np.where(label == 1, score, 1 - score), tiny, 1 - tiny)
    return group.share(-float((weight * np.log(likelihood)).sum()), group.size)


log_loss_group_max = _of_scores(
    "Log loss, worst group",
    "max of the log loss over the groups",
    range=(0.0, math.inf),
    source=FAIRLEARN,
    compare="all_groups",
    name="log_loss_group_max",
)(lambda groups: max(map(log_loss, groups)))


def _generalized(title: str, formula: str, ideal: float) -> Metric:
    """Declare a rate in which each row counts by its score instead of its prediction."""
    name, favorable, predicted = name_of(title), "y+" in formula, "(s" in formula

    @_of_scores(
        title,
        formula,
        name=name,
        ideal=ideal,
        source="Pleiss et al. (2017)",
        compare="each_group",
        note="The rate of predictions that are drawn with the scores s as probabilities.",
    )
    def rate(group: Group) -> float:
        label, score, weight = _probabilities(group)
        part = (weight * (label if favorable else 1 - label) * (score if predicted else 1 - score)).sum()
        whole, who = (group.positives, GOOD) if favorable else (group.negatives, BAD)
        return group.share(float(part), whole, who)

    return rate


generalized_true_positive_rate = _generalized("Generalized true positive rate", "E(s | g, y+)", 1.0)
generalized_false_positive_rate = _generalized("Generalized false positive rate", "E(s | g, y-)", 0.0)
generalized_true_negative_rate = _generalized("Generalized true negative rate", "E(1 - s | g, y-)", 1.0)
generalized_false_negative_rate = _generalized("Generalized false negative rate", "E(1 - s | g, y+)", 0.0)


@_of_scores(
    "Generalized equalized odds difference",
    "max of (max - min of E(s | g, y+), max - min of E(s | g, y-)) over the groups",
    source="Pleiss et al. (2017); Bellamy et al. (2019), AI Fairness 360",
    compare="all_groups",
    note=UNSIGNED,
)
def generalized_equalized_odds_difference(groups: Sequence[Group]) -> float:
    """Return the larger of the largest differences of the two generalized positive rates."""
    return max(
        apart(rate, groups) for rate in (generalized_true_positive_rate, generalized_false_positive_rate)
    )
