"""Several error rates at once: equalized odds, predictive values, and differential fairness."""

import functools
import math
from collections.abc import Sequence

from benchmark.metrics import Metric, metric
from benchmark.metrics.inputs import Group, difference
from benchmark.metrics.rates import (
    EMPTY,
    FAIRLEARN,
    UNSIGNED,
    apart,
    false_omission_rate,
    false_positive_rate,
    nearest,
    precision,
    prevalence,
    selection_rate,
    true_positive_rate,
)

_SMOOTHING = (
    f"Counts are smoothed as if each group had half a row more of either kind (concentration 1). {EMPTY}"
)
_CONCENTRATION = 1.0


_of_odds = functools.partial(
    metric,
    range=(0.0, 1.0),
    ideal=0.0,
    source="Bellamy et al. (2019), AI Fairness 360",
    needs=("y_true", "y_pred"),
    compare="all_groups",
    family="aif360",
)


equalized_odds_difference = _of_odds(
    "Equalized odds difference",
    "max of (max - min of P(ŷ+ | g, y+), max - min of P(ŷ+ | g, y-)) over the groups",
    source=f"Hardt et al. (2016); {FAIRLEARN}",
    family="fairlearn",
    note=UNSIGNED,
)(lambda groups: max(apart(true_positive_rate, groups), apart(false_positive_rate, groups)))

equalized_odds_ratio = _of_odds(
    "Equalized odds ratio",
    "min of (min / max of P(ŷ+ | g, y+), min / max of P(ŷ+ | g, y-)) over the groups",
    ideal=1.0,
    source=f"Hardt et al. (2016); {FAIRLEARN}",
    family="fairlearn",
    note=UNSIGNED,
)(lambda groups: min(nearest(true_positive_rate, groups), nearest(false_positive_rate, groups)))

average_abs_odds_difference = _of_odds(
    "Average absolute odds difference",
    "½ (max - min of P(ŷ+ | g, y+) + max - min of P(ŷ+ | g, y-)) over the groups",
    note=UNSIGNED,
    name="average_abs_odds_difference",
)(lambda groups: (apart(true_positive_rate, groups) + apart(false_positive_rate, groups)) / 2)


@_of_odds(
    "Average odds difference",
    "½ (P(ŷ+ | g, y-) - P(ŷ+ | ḡ, y-) + P(ŷ+ | g, y+) - P(ŷ+ | ḡ, y+))",
    range=(-1.0, 1.0),
    compare="one_against_rest",
    note="Deprived minus favored: negative where the deprived group is worse off, against the sign of the "
    "paper's metrics. Opposite differences of the two rates cancel out.",
)
def average_odds_difference(deprived: Group, favored: Group) -> float:
    """Return the mean difference of both groups' false and true positive rates, deprived minus favored."""
    return (
        difference(false_positive_rate(deprived), false_positive_rate(favored))
        + difference(true_positive_rate(deprived), true_positive_rate(favored))
    ) / 2


@_of_odds(
    "Average predictive value difference",
    "½ (P(y+ | g, ŷ+) - P(y+ | ḡ, ŷ+) + P(y+ | g, ŷ-) - P(y+ | ḡ, ŷ-))",
    range=(-1.0, 1.0),
    compare="one_against_rest",
    note="Deprived minus favored. Among people with the same prediction, a positive value means more "
    "favorable labels in the deprived group: it has to be better for the same prediction. Opposite "
    "differences of the two rates cancel out.",
)
def average_predictive_value_difference(deprived: Group, favored: Group) -> float:
    """Return the mean difference of precision and of false omission rate, deprived minus favored."""
    return (
        difference(precision(deprived), precision(favored))
        + difference(false_omission_rate(deprived), false_omission_rate(favored))
    ) / 2


def _differential_fairness(rate: Metric, groups: Sequence[Group]) -> float:
    """Return the largest log ratio, between two groups, of a smoothed rate or of its complement."""
    rates = [
        (rate(group) * group.size + _CONCENTRATION / 2) / (group.size + _CONCENTRATION) for group in groups
    ]
    return max(math.log(max(sides) / min(sides)) for sides in (rates, [1 - value for value in rates]))


@_of_odds(
    "Smoothed differential fairness",
    "max over g, g' and ŷ of |ln P(ŷ | g) - ln P(ŷ | g')|",
    range=(0.0, math.inf),
    source="Foulds et al. (2020), An Intersectional Definition of Fairness",
    needs=("y_pred",),
    note=f"{_SMOOTHING} {UNSIGNED}",
)
def smoothed_differential_fairness(groups: Sequence[Group]) -> float:
    """Return the largest log ratio between two groups' probabilities of a prediction."""
    return _differential_fairness(selection_rate, groups)


@_of_odds(
    "Differential fairness, bias amplification",
    "max over g, g' and ŷ of |ln P(ŷ | g) - ln P(ŷ | g')| - the same of the labels y",
    range=(-math.inf, math.inf),
    source="Foulds et al. (2020), An Intersectional Definition of Fairness",
    note=f"Positive where predictions differ more between groups than labels do. {_SMOOTHING}",
)
def differential_fairness_bias_amplification(groups: Sequence[Group]) -> float:
    """Return the differential fairness of the predictions minus the same of the labels."""
    return _differential_fairness(selection_rate, groups) - _differential_fairness(prevalence, groups)
