"""Metrics of labels before training: differences between two groups in the data themselves.

These are the pre-training metrics of Amazon SageMaker Clarify. The group in question is its facet d, all
others together are its facet a; any group can be in question.
"""

import functools
import math
from typing import Literal

import numpy as np

from benchmark.metrics import metric
from benchmark.metrics.inputs import Group, UndefinedMetricError, difference, require_rows
from benchmark.metrics.rates import EMPTY, prevalence

DAS = "Das et al. (2021), Fairness measures for machine learning in finance"


of_clarify = functools.partial(metric, ideal=0.0, source=DAS, compare="one_against_rest")
_of_labels = functools.partial(of_clarify, needs=("y_true",), family="labels")


def _label_shares(deprived: Group, favored: Group) -> list[tuple[float, float]]:
    """Return the share of each label in the favored and in the deprived group."""
    require_rows(deprived, favored)
    shares = [
        (favored.negatives / favored.size, deprived.negatives / deprived.size),
        (favored.positives / favored.size, deprived.positives / deprived.size),
    ]
    if deprived.conventions == "clarify":
        shares = [(p, q) for p, q in shares if p and q]
        if not shares:
            raise UndefinedMetricError("the groups have no label in common")
    return shares


def _divergence(p: float, q: float) -> float:
    """Return one label value's part of the divergence of shares ``p`` from shares ``q``."""
    if not p:
        return 0.0
    return p * math.log(p / q) if q else math.inf


@_of_labels(
    "Class imbalance",
    "(n(ḡ) - n(g)) / n",
    range=(-1.0, 1.0),
    needs=(),
    note="Positive: the group in question is the smaller one. It looks at sizes alone. " + EMPTY,
)
def class_imbalance(deprived: Group, favored: Group) -> float:
    """Return the difference of the groups' sizes, favored minus deprived, as a share of all."""
    require_rows(deprived, favored)
    return (favored.size - deprived.size) / (favored.size + deprived.size)


@_of_labels(
    "Discrimination of labels",
    "P(y+ | ḡ) - P(y+ | g)",
    range=(-1.0, 1.0),
    source="Main paper, equation 1; " + DAS,
)
def label_discrimination(deprived: Group, favored: Group) -> float:
    """Return the difference of the groups' shares of favorable labels, favored minus deprived."""
    require_rows(deprived, favored)
    return difference(prevalence(favored), prevalence(deprived))


@_of_labels(
    "Label Kullback-Leibler divergence",
    "Σ_y P(y | ḡ) ln(P(y | ḡ) / P(y | g))",
    range=(0.0, math.inf),
    source="Kullback and Leibler (1951); " + DAS,
    note="Natural logarithm; infinite where only the favored group has a label.",
)
def label_kl_divergence(deprived: Group, favored: Group) -> float:
    """Return the Kullback-Leibler divergence of the favored group's labels from the deprived group's."""
    return sum(_divergence(p, q) for p, q in _label_shares(deprived, favored))


@_of_labels(
    "Label Jensen-Shannon divergence",
    "½ Σ_y P(y | ḡ) ln(P(y | ḡ) / M(y)) + ½ Σ_y P(y | g) ln(P(y | g) / M(y)), M = ½ (P(· | ḡ) + P(· | g))",
    range=(0.0, math.log(2)),
    source="Lin (1991); " + DAS,
    note="Natural logarithm, no square root.",
)
def label_js_divergence(deprived: Group, favored: Group) -> float:
    """Return the mean divergence of the two groups' labels from an even mixture of both."""
    return sum(
        (_divergence(p, (p + q) / 2) + _divergence(q, (p + q) / 2)) / 2
        for p, q in _label_shares(deprived, favored)
    )


@_of_labels(
    "Label L2 norm",
    "√(Σ_y (P(y | ḡ) - P(y | g))²)",
    range=(0.0, math.sqrt(2)),
    note="With two labels, √2 times the size of the labels' discrimination.",
)
def label_lp_norm(deprived: Group, favored: Group) -> float:
    """Return the Euclidean distance of the two groups' label shares."""
    return math.sqrt(sum((p - q) ** 2 for p, q in _label_shares(deprived, favored)))


@_of_labels(
    "Label total variation distance",
    "½ Σ_y |P(y | ḡ) - P(y | g)|",
    range=(0.0, 1.0),
    note="With two labels, the size of the labels' discrimination.",
)
def label_total_variation(deprived: Group, favored: Group) -> float:
    """Return half the sum of absolute differences of the two groups' label shares."""
    return sum(abs(p - q) for p, q in _label_shares(deprived, favored)) / 2


@_of_labels(
    "Label Kolmogorov-Smirnov distance",
    "max_y |P(y | ḡ) - P(y | g)|",
    range=(0.0, 1.0),
    note="Of shares, not of cumulated shares. With two labels, the size of the labels' discrimination.",
)
def label_kolmogorov_smirnov(deprived: Group, favored: Group) -> float:
    """Return the largest absolute difference of the two groups' label shares."""
    return max(abs(p - q) for p, q in _label_shares(deprived, favored))


@_of_labels(
    "Conditional disparity of labels",
    "Σ_s n_s / n (P(g | y-, s) - P(g | y+, s))",
    range=(-1.0, 1.0),
    source="Wachter, Mittelstadt and Russell (2021), conditional demographic disparity; " + DAS,
    needs=("y_true", "strata"),
    note="Positive: within strata s, g is over-represented among unfavorable labels. "
    "Undefined if a stratum lacks one of the labels.",
)
def label_conditional_disparity(deprived: Group, favored: Group) -> float:
    """Return the deprived group's share of unfavorable minus favorable labels, as a mean over strata."""
    return demographic_disparity(deprived, favored, "y_true")


def demographic_disparity(deprived: Group, favored: Group, outcome: Literal["y_true", "y_pred"]) -> float:
    """Return the conditional demographic disparity of labels or of predictions, from -1 to 1.

    It is the mean over the strata, weighted by their sizes, of the deprived group's share of the unfavorable
    outcomes minus its share of the favorable ones. It is undefined if a group, or one of the outcomes in a
    stratum, has no rows; under Clarify's conventions, if all outcomes are the same.
    """
    clarify = deprived.conventions == "clarify"
    if not clarify:
        require_rows(deprived, favored)
    groups = [group.rows for group in (deprived, favored)]
    strata, outcomes = (
        np.concatenate([getattr(rows, name) for rows in groups]) for name in ("strata", outcome)
    )
    side = np.repeat([0, 1], [len(rows) for rows in groups])
    cells = 4 * strata.astype(np.int64) + 2 * outcomes + side
    weights = np.concatenate([rows.weights for rows in groups])
    n_strata = int(cells.max(initial=-1)) // 4 + 1
    # Axes: stratum, unfavorable and favorable outcome, deprived and favored group.
    table = np.bincount(cells, weights, minlength=4 * n_strata).reshape(n_strata, 2, 2)
    table = table[table.sum(axis=(1, 2)) > 0]
    sizes = table.sum(axis=2)
    noun = "label" if outcome == "y_true" else "prediction"
    for kind, people in zip(("an unfavorable", "a favorable"), sizes.T, strict=True):
        lacking = int((people == 0).sum())
        if lacking == len(people) or (lacking and not clarify):
            strata_lacking = "" if lacking == len(people) else f" in {lacking} of {len(people)} strata"
            raise UndefinedMetricError(f"there is no row with {kind} {noun}{strata_lacking}")
    shares = np.divide(table[:, :, 0], sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return float(np.average(shares[:, 0] - shares[:, 1], weights=sizes.sum(axis=1)))
