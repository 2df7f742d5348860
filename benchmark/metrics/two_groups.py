"""Metrics of one group's predictions against another group's, the main paper's four among them.

The paper's *discrimination* is also called the demographic (statistical) parity difference, *over-* and
*underestimation* are the two sides of disparate mistreatment (Zafar et al. 2017). A positive value means that
the deprived group is worse off.

Most others are post-training metrics of Amazon SageMaker Clarify. The group in question is its facet d, all
others together are its facet a; any group can be in question. Signs are those of Clarify's open-source
package, which subtracts d from a in some metrics and a from d in others.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

from benchmark.metrics import Metric, metric, name_of
from benchmark.metrics.inputs import Group, UndefinedMetricError, difference, require_rows
from benchmark.metrics.labels import DAS, demographic_disparity, of_clarify
from benchmark.metrics.rates import (
    AEQUITAS,
    DISPARITIES,
    EMPTY,
    accuracy_rate,
    false_negative_rate,
    false_positive_rate,
    negative_predictive_value,
    precision,
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
)
def underestimation(deprived: Group, favored: Group) -> float:
    """Return the deprived group's false negative rate minus the favored group's."""
    require_rows(deprived, favored)
    if deprived.conventions == "clarify":
        return difference(true_positive_rate(favored), true_positive_rate(deprived))
    return difference(false_negative_rate(deprived), false_negative_rate(favored))


_of_clarify = functools.partial(of_clarify, needs=("y_true", "y_pred"), family="clarify")


def _of_two_groups(
    title: str, formula: str, size: float, *, minus: str = "deprived", **others: Any
) -> Callable[[Callable[[Group], float]], Metric]:
    """Return a decorator that declares a difference: one group's number less the ``minus`` group's.

    The difference lies between ``-size`` and ``size``.
    """

    def declare(number: Callable[[Group], float]) -> Metric:
        def compute(deprived: Group, favored: Group) -> float:
            require_rows(deprived, favored)
            first, second = (favored, deprived) if minus == "deprived" else (deprived, favored)
            return difference(number(first), number(second))

        declared = {"name": name_of(title), "range": (-size, size), **others}
        return _of_clarify(title, formula, **declared)(compute)

    return declare


@_of_clarify(
    "Disparate impact",
    "P(ŷ+ | g) / P(ŷ+ | ḡ)",
    range=(0.0, math.inf),
    ideal=1.0,
    source="Feldman et al. (2015), definition 1.1; " + DAS,
    needs=("y_pred",),
    note="Below 1: the group in question is selected less often. Below 0.8, the four-fifths rule presumes "
    "discrimination.",
)
def disparate_impact(deprived: Group, favored: Group) -> float:
    """Return the deprived group's selection rate as a multiple of the favored group's."""
    require_rows(deprived, favored)
    rate, other = selection_rate(deprived), selection_rate(favored)
    return deprived.ratio(rate, other, f"the selection rate of {favored.name}")


conditional_acceptance_difference = _of_two_groups(
    "Conditional acceptance, difference",
    "n(ḡ, y+) / n(ḡ, ŷ+) - n(g, y+) / n(g, ŷ+)",
    math.inf,
    note="Positive: with as many favorable labels, g gets more favorable predictions.",
)(lambda group: group.share(group.positives, group.predicted_positives, "that is predicted favorable"))

conditional_rejection_difference = _of_two_groups(
    "Conditional rejection, difference",
    "n(g, y-) / n(g, ŷ-) - n(ḡ, y-) / n(ḡ, ŷ-)",
    math.inf,
    minus="favored",
    note="Positive: with as many unfavorable labels, g gets fewer unfavorable predictions.",
)(lambda group: group.share(group.negatives, group.predicted_negatives, "that is predicted unfavorable"))

acceptance_rate_difference = _of_two_groups(
    "Acceptance rate, difference",
    "P(y+ | ḡ, ŷ+) - P(y+ | g, ŷ+)",
    1.0,
    note="Positive: a favorable prediction is less often right in the group in question.",
)(lambda group: precision(group))

rejection_rate_difference = _of_two_groups(
    "Rejection rate, difference",
    "P(y- | g, ŷ-) - P(y- | ḡ, ŷ-)",
    1.0,
    minus="favored",
    note="Positive: an unfavorable prediction is more often right in the group in question.",
)(lambda group: negative_predictive_value(group))

accuracy_difference = _of_two_groups(
    "Accuracy, difference",
    "P(ŷ = y | ḡ) - P(ŷ = y | g)",
    1.0,
    note="Positive: the group in question is more often predicted wrongly.",
)(lambda group: accuracy_rate(group))

treatment_equality = _of_two_groups(
    "Treatment equality",
    "n(g, y+, ŷ-) / n(g, y-, ŷ+) - n(ḡ, y+, ŷ-) / n(ḡ, y-, ŷ+)",
    math.inf,
    source="Berk et al. (2021), treatment equality; " + DAS,
    minus="favored",
    note="Positive: errors in the group in question are more often to its disadvantage.",
)(lambda group: group.share(group.fn, group.fp, "that is wrongly predicted favorable"))


@_of_clarify(
    "Conditional disparity of predictions",
    "Σ_s n_s / n (P(g | ŷ-, s) - P(g | ŷ+, s))",
    range=(-1.0, 1.0),
    source="Wachter, Mittelstadt and Russell (2021), conditional demographic disparity; " + DAS,
    needs=("y_pred", "strata"),
    note="Positive: within strata s, g is over-represented among unfavorable predictions. "
    "Undefined if a stratum lacks one of the two predictions.",
)
def conditional_disparity(deprived: Group, favored: Group) -> float:
    """Return the deprived group's share of unfavorable minus favorable predictions, as a mean over strata."""
    return demographic_disparity(deprived, favored, "y_pred")


@_of_clarify(
    "Share of favorable predictions",
    "P(g | ŷ+)",
    range=(0.0, 1.0),
    ideal=None,
    source=AEQUITAS,
    needs=("y_pred",),
    family="rates",
    note="Grows with the size of the group. " + EMPTY,
)
def predicted_positive_share(group: Group, others: Group) -> float:
    """Return the group's share of all favorable predictions."""
    require_rows(group, others)
    everyone = group.predicted_positives + others.predicted_positives
    if not everyone:
        raise UndefinedMetricError("no row is predicted the favorable outcome")
    return group.predicted_positives / everyone


@_of_clarify(
    "Share of favorable predictions, disparity",
    "P(g | ŷ+) / P(ḡ | ŷ+)",
    range=(0.0, math.inf),
    ideal=1.0,
    source=DISPARITIES,
    needs=("y_pred",),
    compare="against_reference",
    family="disparities",
    note="g is the group in question, ḡ the reference group. Smaller groups get a smaller value.",
)
def predicted_positive_share_disparity(group: Group, reference: Group) -> float:
    """Return the group's number of favorable predictions as a multiple of the reference group's."""
    require_rows(group, reference)
    return group.ratio(
        group.predicted_positives,
        reference.predicted_positives,
        f"the number of favorable predictions of {reference.name}",
    )


_accepted = functools.partial(
    metric,
    range=(0.0, 1.0),
    ideal=None,
    source="Standard: the selection rate of fairlearn, AIF360 and Aequitas",
    needs=("y_pred",),
    family="acceptance",
)

accepted = _accepted("Share accepted", "P(ŷ+)", compare="overall", name="accepted")(
    lambda everybody: selection_rate(everybody)
)
accepted_deprived = _accepted(
    "Share accepted, deprived group", "P(ŷ+ | g)", compare="one_against_rest", name="accepted_deprived"
)(lambda deprived, _favored: selection_rate(deprived))
accepted_favored = _accepted(
    "Share accepted, favored group", "P(ŷ+ | ḡ)", compare="one_against_rest", name="accepted_favored"
)(lambda _deprived, favored: selection_rate(favored))
