"""Metrics of alternation: changes for a group once it takes the other group's place (Alelyani 2021)."""

import functools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmark.errors import DataError
from benchmark.metrics import metric
from benchmark.metrics.inputs import Group, UndefinedMetricError


def gaussian_kl(p: ArrayLike, q: ArrayLike, weights: NDArray[np.float64] | None = None) -> float:
    r"""Return the Kullback-Leibler divergence between the normal distributions of two samples.

    .. math:: D(p \| q) = \log\frac{\sigma_q}{\sigma_p}
              + \frac{\sigma_p^2 + (\mu_p - \mu_q)^2}{2 \sigma_q^2} - \frac{1}{2}

    It is in nats, 0 or more. Mean and variance are maximum likelihood estimates from samples of two or more
    numbers each: the variance has n in its denominator. Weights, if given, belong to the rows of both
    samples. If all numbers of a sample are the same, the limit of the formula counts: 0 if both samples are
    the same point, else infinity. A DataError means that a sample has fewer than two numbers, or one that is
    not finite. Alelyani (2021), Detection and evaluation of machine learning bias, Applied Sciences 11(14),
    6271: Equation 3.
    """
    (mean_p, var_p), (mean_q, var_q) = _moments(p, "first", weights), _moments(q, "second", weights)
    if var_p == 0 or var_q == 0:
        return 0.0 if var_p == var_q and mean_p == mean_q else math.inf
    # Unequal variances add (x - log(1 + x)) / 2. This form keeps precision for nearly equal variances.
    x = (var_p - var_q) / var_q
    return max(0.0, (x - math.log1p(x)) / 2) + (mean_p - mean_q) ** 2 / (2 * var_q)


def _moments(sample: ArrayLike, which: str, weights: NDArray[np.float64] | None) -> tuple[float, float]:
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise DataError(
            f"The {which} sample has no normal distribution",
            expected="two or more finite numbers",
            got=f"an array of shape {values.shape}, {int(np.isfinite(values).sum())} of its numbers finite",
        )
    if np.ptp(values) == 0:  # the mean of equal numbers is rounded, so that their variance need not be 0
        return float(values[0]), 0.0
    if weights is None:
        return float(values.mean()), float(values.var())
    mean = np.average(values, weights=weights)
    return float(mean), float(np.average((values - mean) ** 2, weights=weights))


_of_exchange = functools.partial(metric, needs=("y_pred", "alternated"), ideal=0.0, family="alternation")


@_of_exchange(
    "Divergence once the groups change places",
    "D(N(ŷ | g) || N(ŷ' | g)), ŷ' predicted after the exchange",
    range=(0.0, math.inf),
    source="Alelyani (2021), Equation 3",
    compare="each_group",
    note="Of scores if given, else of predictions as 0 and 1. It has no direction.",
)
def alternation_divergence(group: Group) -> float:
    """Return the divergence of a group's predictions before and after, as normal distributions, in nats."""
    rows = group.rows
    if rows.sample_weight is not None:
        rows = rows.take(rows.sample_weight > 0)  # rows of weight 0 do not count
    if len(rows) < 2:
        raise UndefinedMetricError(f"there are fewer than two rows of {group.name}")
    before = rows.y_pred if rows.y_score is None else rows.y_score
    assert before is not None
    assert rows.alternated is not None
    return gaussian_kl(before, rows.alternated, rows.sample_weight)


@_of_exchange(
    "Difference of divergences once the groups change places",
    "D(N(ŷ | g) || N(ŷ' | g)) - D(N(ŷ | ḡ) || N(ŷ' | ḡ))",
    range=(-math.inf, math.inf),
    source="Alelyani (2021), section 5, step 7",
    compare="one_against_rest",
    note="Positive where the deprived group's predictions depend more on the attribute.",
)
def alternation_gap(deprived: Group, favored: Group) -> float:
    """Return the deprived group's divergence minus the favored group's."""
    first, second = alternation_divergence(deprived), alternation_divergence(favored)
    if math.isinf(first) and math.isinf(second):
        raise UndefinedMetricError("the predictions of both groups move infinitely far: each group gets one")
    return first - second
