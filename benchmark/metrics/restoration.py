"""Metrics of restoration: a technique's decisions beside decisions without planted bias.

The *clean model* is the technique's baseline, an untreated learner, trained without planted bias on the same
rows. The *biased baseline* is the same learner at the level of bias in question. All decide about the same
people.
"""

import functools
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.metrics import Metric, MetricResults, OneValueEach, metric, name_of
from benchmark.metrics.inputs import Group, GroupCounts, UndefinedMetricError

People: TypeAlias = NDArray[Any]
"""Numbers of people."""

FAMILY = "restoration"
"""Name of the family of these metrics."""

_declared = functools.partial(
    metric,
    range=(0.0, 1.0),
    source="betabench: the decisions of the same people without planted bias",
    needs=("decisions",),
    family=FAMILY,
)


def _decisions(group: Group) -> NDArray[np.int64]:
    """Return people by [favorable label][clean model accepts][baseline accepts][technique accepts]."""
    if group.decisions is None:
        raise UndefinedMetricError("the decisions of the clean model are not known")
    return group.decisions


SHARES = {
    "given_back": ((1, 0), 1, "whom the clean model accepts and the biased baseline refuses"),
    "paid": ((1, 1), 0, "whom the clean model and the biased baseline accept"),
    "in_their_place": ((0,), 1, "whom the clean model refuses"),
}
"""Shares of people by name: what clean model and baseline decide, what the technique does, who they are."""


def share_counts(name: str, people: People) -> tuple[People, People]:
    """Return the numbers of people with the property of a share, and of those among whom they are counted.

    ``people`` have shape (..., 2, 2, 2), by acceptance: clean model, baseline, technique. The results have
    shape (...).
    """
    (clean, *baseline), technique, _ = SHARES[name]
    among = people[..., clean, baseline or [0, 1], :].sum(axis=-2)
    return among[..., technique], among.sum(axis=-1)


def rates_apart(people: People) -> tuple[People, People]:
    """Return the difference of the numbers that technique and clean model accept, as a size, and all people.

    ``people`` have shape (..., 2, 2, 2), by acceptance; the results have shape (...).
    """
    accepted = people[..., 1].sum(axis=(-2, -1)), people[..., 1, :, :].sum(axis=(-2, -1))
    return np.abs(accepted[0] - accepted[1]), people.sum(axis=(-3, -2, -1))


def agreement_counts(people: People) -> tuple[People, People]:
    """Return the number of people whom technique and clean model decide alike, and of all people."""
    same = people[..., 0, :, 0].sum(axis=-1) + people[..., 1, :, 1].sum(axis=-1)
    return same, people.sum(axis=(-3, -2, -1))


@_declared(
    "Distance to the clean model",
    "mean of |P(ŷ+ | y, g) - P(c+ | y, g)| over both labels y and both groups g",
    ideal=0.0,
    compare="one_against_rest",
    needs=("decisions", "y_true"),
    note="c is the decision of the clean model.",
)
def restoration_distance(deprived: Group, favored: Group) -> float:
    """Return the mean absolute difference of both groups' rates from the clean model's."""
    apart = []
    for group in (deprived, favored):
        differing, labeled = rates_apart(_decisions(group))
        for name, part, whole in zip(("unfavorable", "favorable"), differing, labeled, strict=True):
            apart.append(group.share(float(part), float(whole), f"with the {name} label"))
    return float(np.mean(apart))


@_declared("Agreement with the clean model", "P(ŷ = c)", ideal=1.0, compare="overall")
def agreement(everybody: Group) -> float:
    """Return the share of people whom technique and clean model decide alike."""
    same, people = agreement_counts(_decisions(everybody))
    return everybody.share(float(same.sum()), float(people.sum()))


def _shares(title: str, formula: str) -> Iterator[Metric]:
    """Declare a share of everybody, of the deprived group and of the favored group."""
    name = name_of(title)

    def share(group: Group) -> float:
        people, of = share_counts(name, _decisions(group).sum(axis=0))
        return group.share(float(people), float(of), SHARES[name][-1])

    declared = functools.partial(_declared, ideal=None, note="Over repetitions, a ratio of sums.")
    yield declared(title, formula, compare="overall", name=name)(share)
    for role, symbol in (("deprived", "g"), ("favored", "ḡ")):
        one = (lambda g, _f: share(g)) if role == "deprived" else (lambda _g, f: share(f))
        of_group = formula.replace(")", f", {symbol})")
        yield declared(f"{title}, {role} group", of_group, compare="one_against_rest", name=f"{name}_{role}")(
            one
        )


given_back, given_back_deprived, given_back_favored = _shares("Given back", "P(ŷ+ | c+, b-)")
paid, paid_deprived, paid_favored = _shares("Paid", "P(ŷ- | c+, b+)")
in_their_place, in_their_place_deprived, in_their_place_favored = _shares("In their place", "P(ŷ+ | c-)")

RESTORATION = (
    *("restoration_distance", "agreement"),
    *("given_back", "given_back_deprived", "given_back_favored"),
    *("paid", "paid_deprived", "paid_favored"),
    *("in_their_place", "in_their_place_deprived", "in_their_place_favored"),
)
"""Names of all metrics of restoration, in the order in which they are shown."""

OF_REPETITIONS = RESTORATION[:2]
"""Metrics that have a value in each repetition; the others are ratios of sums over all repetitions."""


@functools.cache
def _evaluator(names: tuple[str, ...]) -> OneValueEach:
    return OneValueEach(("deprived", "favored"), 0, names)


def restoration(counts: NDArray[np.int64], names: tuple[str, ...] = RESTORATION) -> MetricResults:
    """Return a value or a reason for each of some metrics of restoration.

    ``counts`` have shape (32,): numbers of people as :data:`benchmark.columns.DECISION_COUNTS` names them.
    """
    shaped = np.asarray(counts, dtype=np.int64).reshape(2, 2, 2, 2, 2)
    return _evaluator(names)(GroupCounts.of_decisions(("deprived", "favored"), shaped), tolerant=True)
