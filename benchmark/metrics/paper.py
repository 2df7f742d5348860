"""The main paper's four metrics.

*Discrimination* is also called the demographic (statistical) parity difference, *over-* and *underestimation*
are the two sides of disparate mistreatment (Zafar et al. 2017). A positive value means that the deprived
group is worse off.
"""

import functools

from benchmark.metrics.declaration import in_aif360, in_clarify, metric
from benchmark.metrics.inputs import Group, difference, require_rows
from benchmark.metrics.rates import (
    accuracy_rate,
    false_negative_rate,
    false_positive_rate,
    selection_rate,
    true_negative_rate,
    true_positive_rate,
)

_of_paper = functools.partial(
    metric,
    range=(-1.0, 1.0),
    ideal=0.0,
    needs=("y_true", "y_pred"),
    compare="one_against_rest",
    family="paper",
)


@_of_paper(
    "Discrimination",
    "P(ŷ+ | ḡ) - P(ŷ+ | g)",
    source="Main paper, equation 1, applied to predictions; Kamiran and Calders (2012)",
    needs=("y_pred",),
    equivalents=(
        in_clarify("DPPL"),
        in_aif360("statistical_parity_difference", relation="negated"),
        in_aif360("mean_difference", relation="negated"),
    ),
)
def discrimination(deprived: Group, favored: Group) -> float:
    """Return the favored group's selection rate minus the deprived group's."""
    require_rows(deprived, favored)
    return difference(selection_rate(favored), selection_rate(deprived))


@_of_paper("Accuracy", "P(ŷ = y)", range=(0.0, 1.0), ideal=1.0, source="Standard", compare="overall")
def accuracy(everybody: Group) -> float:
    """Return the share of correct predictions."""
    return accuracy_rate(everybody)


@_of_paper(
    "Overestimation",
    "P(ŷ+ | ḡ, y-) - P(ŷ+ | g, y-)",
    source="Main paper, equation 2; Zafar et al. (2017), false positive rates",
    equivalents=(
        in_clarify("SD", note="its published example prints the other sign"),
        in_aif360("false_positive_rate_difference", relation="negated"),
    ),
)
def overestimation(deprived: Group, favored: Group) -> float:
    """Return the favored group's false positive rate minus the deprived group's."""
    require_rows(deprived, favored)
    if deprived.conventions == "clarify":  # 0 / 0 is 0 for either rate, so that the differences disagree
        return difference(true_negative_rate(deprived), true_negative_rate(favored))
    return difference(false_positive_rate(favored), false_positive_rate(deprived))


@_of_paper(
    "Underestimation",
    "P(ŷ- | g, y+) - P(ŷ- | ḡ, y+)",
    source="Main paper, equation 3; Zafar et al. (2017), false negative rates",
    equivalents=(
        in_clarify("RD"),
        in_aif360("false_negative_rate_difference"),
        in_aif360("true_positive_rate_difference", relation="negated"),
        in_aif360("equal_opportunity_difference", relation="negated"),
    ),
)
def underestimation(deprived: Group, favored: Group) -> float:
    """Return the deprived group's false negative rate minus the favored group's."""
    require_rows(deprived, favored)
    if deprived.conventions == "clarify":
        return difference(true_positive_rate(favored), true_positive_rate(deprived))
    return difference(false_negative_rate(deprived), false_negative_rate(favored))
