"""Rates of a group, and comparisons of groups by their rates.

Each rate is declared once. Its comparisons follow, under the names of the field: the largest difference
between two groups, the smallest ratio, the worst group, and the ratio to a reference group.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from benchmark.metrics.declaration import (
    Equivalent,
    Metric,
    in_aequitas,
    in_aif360,
    in_fairlearn,
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

# Names of rates in Aequitas, fairlearn and AIF360; several are separated by spaces.
_ELSEWHERE = {
    "selection_rate": ("pprev", "selection_rate mean_prediction", "selection_rate"),
    "prevalence": ("prev", "", "base_rate"),
    "true_positive_rate": ("tpr", "true_positive_rate", "true_positive_rate recall sensitivity"),
    "true_negative_rate": ("tnr", "true_negative_rate", "true_negative_rate specificity"),
    "false_positive_rate": ("fpr", "false_positive_rate", "false_positive_rate"),
    "false_negative_rate": ("fnr", "false_negative_rate", "false_negative_rate"),
    "precision": ("precision", "", "positive_predictive_value precision"),
    "negative_predictive_value": ("npv", "", "negative_predictive_value"),
    "false_discovery_rate": ("fdr", "", "false_discovery_rate"),
    "false_omission_rate": ("for", "", "false_omission_rate"),
    "accuracy_rate": ("accuracy", "", "accuracy"),
    "error_rate": ("", "", "error_rate"),
}
# Comparisons for which the field has a special name.
_NAMES = {
    "selection_rate_difference": "demographic_parity_difference",
    "selection_rate_ratio": "demographic_parity_ratio",
    "true_positive_rate_difference": "equal_opportunity_difference",
    "true_positive_rate_ratio": "equal_opportunity_ratio",
}
_IN_FAIRLEARN = {
    "accuracy_rate_difference": ("accuracy_score_difference",),
    "accuracy_rate_ratio": ("accuracy_score_ratio",),
    "accuracy_rate_group_min": ("accuracy_score_group_min",),
    "error_rate_difference": ("zero_one_loss_difference",),
    "error_rate_ratio": ("zero_one_loss_ratio",),
    "error_rate_group_max": (
        "zero_one_loss_group_max",
        "mean_absolute_error_group_max",
        "mean_squared_error_group_max",
    ),
    "precision_group_min": ("precision_score_group_min",),
    "true_positive_rate_group_min": ("recall_score_group_min",),
    "f1_score_group_min": ("f1_score_group_min",),
    "balanced_accuracy_group_min": ("balanced_accuracy_score_group_min",),
    **{
        f"{rate}_{kind}": (f"{rate}_{kind}",)
        for rate in ("false_negative_rate", "false_positive_rate", "true_negative_rate")
        for kind in ("difference", "ratio")
    },
}
_ZERO_IF_EMPTY = {
    "fairlearn": (
        "true_positive_rate", "true_negative_rate", "false_positive_rate", "false_negative_rate",
        "precision", "f1_score",
    ),
    "AIF360": (
        "precision", "negative_predictive_value", "false_discovery_rate", "false_omission_rate",
    ),
}  # fmt: skip
"""Rates that other programs return as 0 if there are no rows to count."""
_NOT_IN_AEQUITAS = ("prev", "accuracy")
"""Rates without a disparity in Aequitas."""
_RATIOS_IN_AIF360 = (
    "error_rate", "false_discovery_rate", "false_negative_rate", "false_omission_rate",
    "false_positive_rate",
)  # fmt: skip


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
        elsewhere = _ELSEWHERE.get(name, ("", "", ""))
        equivalents = tuple(
            Equivalent(program, theirs, f"tests/metrics/test_{program.lower()}.py::test_rates", note=note)
            for program, names in zip(("Aequitas", "fairlearn", "AIF360"), elsewhere, strict=True)
            for note in (_note(program, name),)
            for theirs in names.split()
        )
        rate = _of_each_group(title, formula, name=name, equivalents=equivalents, **declaration)(value)
        _between_groups(rate)
        _to_a_reference(rate, elsewhere[0])
        return rate

    return declare


def _note(program: str, rate: str) -> str:
    return "returns 0 for an empty group; undefined here" if rate in _ZERO_IF_EMPTY.get(program, ()) else ""


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
        name = _NAMES.get(plain, plain)
        in_fairlearn_too = (name, plain) if plain in _NAMES else _IN_FAIRLEARN.get(name, ())
        metric(
            f"{rate.title}, {title}",
            f"{formula} of {rate.formula} over the groups",
            name=name,
            range=(0.0, 1.0),
            ideal=ideal,
            source=FAIRLEARN,
            needs=rate.needs,
            compare="all_groups",
            family="fairlearn",
            equivalents=tuple(
                in_fairlearn(theirs, note=_note("fairlearn", rate.name)) for theirs in in_fairlearn_too
            ),
            note=note and f"{note} {UNSIGNED}",
        )(compute)


def _bracketed(formula: str) -> str:
    return formula if formula.startswith("P(") else f"({formula})"


def _to_a_reference(rate: Metric, aequitas: str) -> None:
    theirs = []
    if aequitas and aequitas not in _NOT_IN_AEQUITAS:
        theirs.append(in_aequitas(f"{aequitas}_disparity"))
    if rate.name in _RATIOS_IN_AIF360:
        theirs.append(in_aif360(f"{rate.name}_ratio"))

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
        equivalents=tuple(theirs),
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
