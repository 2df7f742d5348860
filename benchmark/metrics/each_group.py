"""Every group of an attribute by itself: each against its rest, the worst of them, and the largest gap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from benchmark.metrics.declaration import (
    COUNTED,
    Measurement,
    Metric,
    get_metric,
    metric_names,
    rest,
    values_or_reasons,
)
from benchmark.metrics.inputs import Group, GroupCounts, UndefinedMetricError

RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "precision", "accuracy_rate")
"""Rates that tell groups apart in every run that has several attributes."""

WORST, GAP = "worst group", "largest gap"
"""Stand in the place of a group's name."""


def metrics_by_group(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the rates above, and those of some metrics and families that give each group a value by counts.

    Shares accepted are left out: they are selection rates by role.
    """
    wanted = [*RATES, *metric_names(metrics)]
    return tuple(
        dict.fromkeys(
            name
            for name in wanted
            if get_metric(name).from_counts
            and get_metric(name).compare in ("each_group", "one_against_rest")
            and get_metric(name).family != "acceptance"
        )
    )


def measure_by_group(
    counts: GroupCounts, metrics: Sequence[str], *, smallest: int = 1
) -> Iterator[Measurement]:
    """Yield the value of each metric for each group that has rows, then of the worst group and the gap.

    A metric that compares is of the group against all others. What rests on fewer than ``smallest`` rows has
    no value, and the reason says so: a group, and a share of those of a group who have a label or a
    prediction. The worst group is the one whose value is farthest from the metric's ideal or, where it has
    none, the smallest; the ``reason`` names it. The largest gap is that between two groups' rates; the
    ``reason`` names the lower and the higher one. Names of metrics are those of
    :func:`metrics_by_group`.
    """
    pairs = []
    for code in np.flatnonzero(counts.rows.any(axis=(1, 2))).tolist():
        own = Group.of(counts, [code], f"the group {counts.names[code]!r}")
        pairs.append((code, _Counted.over(own, smallest), _Counted.over(rest(counts, own), smallest)))
    for item in map(get_metric, metrics):
        n_arguments = 1 if item.compare == "each_group" else 2
        asked = [(item, (own, others)[:n_arguments]) for _, own, others in pairs if own.n_rows >= smallest]
        answers = values_or_reasons(asked, COUNTED, tolerant=True)
        found = []
        for code, own, _ in pairs:
            few = math.nan, f"fewer than {smallest} rows"
            answer = next(answers) if own.n_rows >= smallest else few
            found.append(Measurement(item.name, counts.names[code], "", *answer, own.n_rows))
        yield from found
        known = [one for one in found if not math.isnan(one.value)]
        if len(known) > 1:
            yield from _between(item, known)


@dataclass(frozen=True, eq=False)
class _Counted(Group):
    """A group whose shares of few people are undefined: each of these would change them too much."""

    smallest: int = 1

    @classmethod
    def over(cls, group: Group, smallest: int) -> Self:
        return cls(**{field.name: getattr(group, field.name) for field in fields(group)}, smallest=smallest)

    def share(self, part: float, whole: float, who: str = "") -> float:
        if 0 < whole < self.smallest:
            several = who.replace("that is", "that are")  # elsewhere it is said of one row
            raise UndefinedMetricError(f"fewer than {self.smallest} rows{several and ' ' + several}")
        return super().share(part, whole, who)


def _between(item: Metric, known: Sequence[Measurement]) -> Iterator[Measurement]:
    lowest, highest = (choose(known, key=lambda one: one.value) for choose in (min, max))
    worst = lowest
    if (ideal := item.ideal) is not None:
        worst = max(known, key=lambda one: abs(one.value - ideal))
    yield Measurement(item.name, WORST, "", worst.value, worst.group, worst.n_rows)
    if item.compare == "each_group":
        n_rows = lowest.n_rows + (highest.n_rows if highest is not lowest else 0)
        pair = f"{lowest.group} to {highest.group}"
        yield Measurement(item.name, GAP, "", highest.value - lowest.value, pair, n_rows)
