"""Metrics of every group of an attribute, of the worst group, and the largest gap between groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

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
from benchmark.metrics.inputs import Group, GroupCounts

RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "precision", "accuracy_rate")
"""Rates by group in every run that has several attributes."""

WORST, GAP = "worst group", "largest gap"
"""Values in place of a group's name."""


def metrics_by_group(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return :data:`RATES` and, of some metrics and families, the metrics that have a value by group.

    These are computed from counts. Shares accepted are left out: they are selection rates by role.
    """
    items = map(get_metric, dict.fromkeys((*RATES, *metric_names(metrics))))
    by_group = ("each_group", "one_against_rest")
    return tuple(
        item.name
        for item in items
        if item.from_counts and item.compare in by_group and item.family != "acceptance"
    )


def measure_by_group(
    counts: GroupCounts, metrics: Sequence[str], *, smallest: int = 1
) -> Iterator[Measurement]:
    """Yield the value of each metric for each group that has rows, then of the worst group and the gap.

    A metric that compares takes the group against all others. A group of fewer than ``smallest`` rows has no
    value but a reason, and so has a share of fewer people with a label or a prediction. The worst group has
    the value farthest from the metric's ideal or, without an ideal, the smallest. The largest gap is the
    difference of two groups' rates. The ``reason`` names the worst group, and the gap's lower and higher
    group. Names of metrics are those of :func:`metrics_by_group`.
    """
    pairs = []
    for code in np.flatnonzero(counts.rows.any(axis=(1, 2))).tolist():
        group = Group.of(counts, [code], f"the group {counts.names[code]!r}", smallest=smallest)
        pairs.append((group, rest(counts, group)))
    for item in map(get_metric, metrics):
        n_arguments = 1 if item.compare == "each_group" else 2
        large = [(item, pair[:n_arguments]) for pair in pairs if pair[0].n_rows >= smallest]
        results = values_or_reasons(large, COUNTED, tolerant=True)
        measured = []
        for group, _ in pairs:
            small = math.nan, f"fewer than {smallest} rows"
            result = next(results) if group.n_rows >= smallest else small
            name = counts.names[group.codes[0]]
            measured.append(Measurement(item.name, name, "", *result, group.n_rows))
        yield from measured
        defined = [m for m in measured if not math.isnan(m.value)]
        if len(defined) > 1:
            yield from _between(item, defined)


def _between(item: Metric, defined: Sequence[Measurement]) -> Iterator[Measurement]:
    lowest, highest = (choose(defined, key=lambda m: m.value) for choose in (min, max))
    worst = lowest
    if (ideal := item.ideal) is not None:
        worst = max(defined, key=lambda m: abs(m.value - ideal))
    yield Measurement(item.name, WORST, "", worst.value, worst.group, worst.n_rows)
    if item.compare == "each_group":
        n_rows = lowest.n_rows + (highest.n_rows if highest is not lowest else 0)
        pair = f"{lowest.group} to {highest.group}"
        yield Measurement(item.name, GAP, "", highest.value - lowest.value, pair, n_rows)
