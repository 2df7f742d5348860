"""Rates of a group, and comparisons of groups by their rates.

Each rate is declared once. Its comparisons follow, under the names of the field: the largest difference
between two groups, the smallest ratio, the worst group, and the ratio to a reference group.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from benchmark.metrics import (
    Metric,
    metric,
    name_of,
)
from benchmark.metrics.inputs import Group

AEQUITAS = "Saleiro et al. (2018), Aequitas, sections 3.2.2 and 3.2.3"
DISPARITIES = "Saleiro et al. (2018), Aequitas, equations 1 and 2"
FAIRLEARN = "Bird et al. (2020), Fairlearn"
UNSIGNED = "It does not say which group is worse off."
EMPTY = "No value where a group has no rows."
GOOD, BAD = "with a favorable label", "with an unfavorable label"
_SELECTED, _REJECTED = "that is predicted favorable", "that is predicted unfavorable"

# Comparisons for which the field has a special name.
_NAMES = {
    "selection_rate_difference": "demographic_parity_difference",
    "selection_rate_ratio": "demographic_parity_ratio",
    "true_positive_rate_difference": "equal_opportunity_difference",
    "true_positive_rate_ratio": "equal_opportunity_ratio",
}


_of_each_group = functools.partial(
    metric,
    range=(0.0, 1.0),
    ideal=None,  # a rate without an ideal describes and does not judge
    source=AEQUITAS,
    needs=("y_true", "y_pred"),
    compare="each_group",
    family="rates",
)


def _rate(title: str, formula: str, **declaration: Any) -> Callable[[Callable[[Group], float]], Metric]:
    """Return a decorator that declares a rate and its comparisons of groups; keywords as of a metric.

    The name follows from the title, unless given.
    """
    name = declaration.pop("name", name_of(title))

    def declare(value: Callable[[Group], float]) -> Metric:
        rate = _of_each_group(title, formula, name=name, **declaration)(value)
        _between_groups(rate)
        _to_a_reference(rate)
        return rate

    return declare


def apart(rate: Metric, groups: Sequence[Group]) -> float:
    """Return the largest difference of a rate between two groups."""
    values = [rate(group) for group in groups]
    return max(values) - min(values)


def nearest(rate: Metric, groups: Sequence[Group]) -> float:
    """Return the smallest ratio of a rate between two groups."""
    values = [rate(group) for group in groups]
    return groups[0].ratio(min(values), max(values), f"the {rate.title.lower()} of every group")


def _between_groups(rate: Metric) -> None:
    """Declare the comparisons of a rate that take any number of groups, in any order."""
    declared: list[tuple[str, str, str, float, str, Callable[..., float]]] = [
        ("difference", "largest difference", "max - min", 0.0, "Never negative.", lambda g: apart(rate, g)),
        ("ratio", "smallest ratio", "min / max", 1.0, "Never above 1.", lambda g: nearest(rate, g)),
    ]
    if rate.ideal is not None:
        worst = min if rate.ideal else max
        name = worst.__name__
        declared.append((f"group_{name}", "worst group", name, rate.ideal, "", lambda g: worst(map(rate, g))))
    for suffix, title, formula, ideal, note, compute in declared:
        plain = f"{rate.name}_{suffix}"
        metric(
            f"{rate.title}, {title}",
            f"{formula} of {rate.formula} over the groups",
            name=_NAMES.get(plain, plain),
            range=(0.0, 1.0),
            ideal=ideal,
            source=FAIRLEARN,
            needs=rate.needs,
            compare="all_groups",
            family="fairlearn",
            note=note and f"{note} {UNSIGNED}",
        )(compute)


def _bracketed(formula: str) -> str:
    return formula if formula.startswith("P(") else f"({formula})"


def _to_a_reference(rate: Metric) -> None:
    @metric(
        f"{rate.title}, disparity",
        f"{_bracketed(rate.formula)} / {_bracketed(rate.formula.replace('g', 'ḡ'))}",
        name=f"{rate.name}_disparity",
        range=(0.0, math.inf),
        ideal=1.0,
        source=DISPARITIES,
        needs=rate.needs,
        compare="against_reference",
        family="disparities",
        note="g is the group in question, ḡ the reference group.",
    )
    def disparity(group: Group, reference: Group) -> float:
        value, other = rate(group), rate(reference)
        return group.ratio(value, other, f"the {rate.title.lower()} of {reference.name}")


selection_rate = _rate("Selection rate", "P(ŷ+ | g)", needs=("y_pred",))(
    lambda g: g.share(g.predicted_positives, g.size)
)
prevalence = _rate("Prevalence", "P(y+ | g)", needs=("y_true",))(lambda g: g.share(g.positives, g.size))
true_positive_rate = _rate("True positive rate", "P(ŷ+ | g, y+)", ideal=1.0)(
    lambda g: g.share(g.tp, g.positives, GOOD)
)
true_negative_rate = _rate("True negative rate", "P(ŷ- | g, y-)", ideal=1.0)(
    lambda g: g.share(g.tn, g.negatives, BAD)
)
false_positive_rate = _rate("False positive rate", "P(ŷ+ | g, y-)", ideal=0.0)(
    lambda g: g.share(g.fp, g.negatives, BAD)
)
false_negative_rate = _rate("False negative rate", "P(ŷ- | g, y+)", ideal=0.0)(
    lambda g: g.share(g.fn, g.positives, GOOD)
)
precision = _rate("Precision", "P(y+ | g, ŷ+)", ideal=1.0)(
    lambda g: g.share(g.tp, g.predicted_positives, _SELECTED)
)
negative_predictive_value = _rate("Negative predictive value", "P(y- | g, ŷ-)", ideal=1.0)(
    lambda g: g.share(g.tn, g.predicted_negatives, _REJECTED)
)
false_discovery_rate = _rate("False discovery rate", "P(y- | g, ŷ+)", ideal=0.0)(
    lambda g: g.share(g.fp, g.predicted_positives, _SELECTED)
)
false_omission_rate = _rate("False omission rate", "P(y+ | g, ŷ-)", ideal=0.0)(
    lambda g: g.share(g.fn, g.predicted_negatives, _REJECTED)
)
accuracy_rate = _rate("Accuracy of a group", "P(ŷ = y | g)", ideal=1.0, name="accuracy_rate")(
    lambda g: g.share(g.tp + g.tn, g.size)
)
error_rate = _rate("Error rate", "P(ŷ ≠ y | g)", ideal=0.0)(lambda g: g.share(g.fp + g.fn, g.size))
balanced_accuracy = _rate(
    "Balanced accuracy", "½ (P(ŷ+ | g, y+) + P(ŷ- | g, y-))", ideal=1.0, source="Standard"
)(lambda g: (true_positive_rate(g) + true_negative_rate(g)) / 2)
f1_score = _rate("F1 score", "2 TP(g) / (2 TP(g) + FP(g) + FN(g))", ideal=1.0, source="Standard")(
    lambda g: g.share(2 * g.tp, 2 * g.tp + g.fp + g.fn, "with a favorable label or prediction")
)
