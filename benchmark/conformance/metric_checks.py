"""Checks of metrics, on made-up predictions."""

import dataclasses
import functools
import math
from collections.abc import Callable

import numpy as np

from benchmark.conformance.results import (
    CautionError,
    CheckResult,
    NotApplicableError,
    demand,
    results_of,
)
from benchmark.metrics import Metric, Predictions, measure

_SEEDS = range(12)
_TOLERANCE = 1e-9


def check_metric(metric: Metric) -> list[CheckResult]:
    """Return the results of all checks on a registered metric; no other applies if it fails on examples."""
    return results_of(METRIC_CHECKS, metric, "it fails on the examples")


@functools.cache
def _examples() -> tuple[Predictions, ...]:
    """Return predictions for two or three groups; small groups often lack a label or a prediction."""
    examples = []
    for seed in _SEEDS:
        rng = np.random.default_rng(seed)
        n_groups, n = 2 + seed % 2, (6, 40, 400)[seed % 3]
        rates = rng.choice([0.1, 0.5, 0.9], 2) if seed % 4 else [0.0, 1.0]
        arrays = {
            "codes": rng.integers(0, n_groups, n),
            "y_true": rng.random(n) < rates[0],
            "y_pred": rng.random(n) < rates[1],
            "y_score": rng.integers(0, 9, n) / 8,
            "strata": rng.integers(0, 2, n),
            "features": rng.integers(0, 3, (n, 2)).astype(float),
            "alternated": rng.integers(0, 9, n) / 8,
            "decisions": rng.random((n, 2)) < rates[1],
        }
        for array in arrays.values():
            array.flags.writeable = False
        examples.append(Predictions(names=("a", "b", "c")[:n_groups], **arrays))
    return tuple(examples)


def _values(metric: Metric, rows: Predictions) -> dict[tuple[str, str], float]:
    """Return the metric's values by group and reference; MetricError if it fails."""
    return {
        (measured.group, measured.reference): measured.value
        for reference in rows.names
        for measured in measure(rows, [metric.name], reference=reference)
    }


def _same(first: float, second: float) -> bool:
    both_nan = math.isnan(first) and math.isnan(second)
    return both_nan or math.isclose(first, second, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


_Change = Callable[[Predictions], Predictions]


def _difference(
    metric: Metric, first: _Change, second: _Change, renamed: Callable[[str], str] = str
) -> str | None:
    """Return the first two values that differ between two changes of the examples, or None.

    The second change gives groups the names that ``renamed`` returns.
    """
    for rows in _examples():
        values, others = _values(metric, first(rows)), _values(metric, second(rows))
        for (group, reference), value in values.items():
            other = others[renamed(group), renamed(reference)]
            if not _same(value, other):
                return f"{value:g} and {other:g}" + (f" of {group!r}" if group else "")
    return None


def _demand_same(
    metric: Metric, change: _Change, message: str, expected: str, renamed: Callable[[str], str] = str
) -> None:
    difference = _difference(metric, lambda rows: rows, change, renamed)
    demand(difference is None, message, expected=expected, got=difference)


def _gives_values(metric: Metric) -> None:
    """Demand a number in the declared range, or a reason, for every example, and a number for some."""
    values = [value for rows in _examples() for value in _values(metric, rows).values()]
    demand(
        not all(map(math.isnan, values)),
        f"{metric.name!r} has no value on any example",
        expected="a number where all groups have rows of both labels and both predictions",
        got="a reason everywhere",
    )


def _repeatable(metric: Metric) -> None:
    _demand_same(metric, lambda rows: rows, "The same predictions give other values", "no chance, no memory")


def _order_irrelevant(metric: Metric) -> None:
    def turned(rows: Predictions) -> Predictions:
        return _taken(rows, np.arange(len(rows))[::-1])

    _demand_same(metric, turned, "Rows in another order give other values", "values that ignore the order")


def _taken(rows: Predictions, index: np.ndarray) -> Predictions:
    arrays = {
        field.name: getattr(rows, field.name)[index]
        for field in dataclasses.fields(rows)
        if isinstance(getattr(rows, field.name), np.ndarray)
    }
    return dataclasses.replace(rows, **arrays)


def _groups_by_name(metric: Metric) -> None:
    def reversed_codes(rows: Predictions) -> Predictions:
        last = len(rows.names) - 1
        return dataclasses.replace(rows, codes=last - rows.codes, names=rows.names[::-1])

    message = "Groups that are listed in another order have other values"
    _demand_same(metric, reversed_codes, message, "values that belong to groups, not to their order")


def _names_irrelevant(metric: Metric) -> None:
    def renamed(name: str) -> str:
        return f"group {name}" if name in ("a", "b", "c") else name

    def change(rows: Predictions) -> Predictions:
        return dataclasses.replace(rows, names=tuple(map(renamed, rows.names)))

    message = "Groups of other names have other values"
    _demand_same(metric, change, message, "values that ignore names", renamed)


def _weights_count(metric: Metric) -> None:
    if not metric.from_counts:
        raise NotApplicableError("it needs more than counts of labels and predictions")

    def weighted(rows: Predictions) -> Predictions:
        return dataclasses.replace(rows, sample_weight=(np.arange(len(rows)) % 3).astype(float))

    def repeated(rows: Predictions) -> Predictions:
        return _taken(rows, np.repeat(np.arange(len(rows)), np.arange(len(rows)) % 3))

    difference = _difference(metric, weighted, repeated)
    if difference is not None:
        raise CautionError(
            "A row of weight 2 does not count as two rows",
            expected="group.tp, group.size and the like, which sum weights",
            got=difference,
        )


def _symmetric(metric: Metric) -> None:
    low, high = metric.range
    if metric.compare not in ("one_against_rest", "against_reference") or low != -high:
        raise NotApplicableError("it is no difference of two groups")
    mirrored = [("a", "rest"), ("b", "rest")]
    if metric.compare == "against_reference":
        mirrored = [("a", "b"), ("b", "a")]
    for rows in (rows for rows in _examples() if len(rows.names) == 2):
        values = _values(metric, rows)
        first, second = (values[key] for key in mirrored)
        if not _same(first, -second) and not (math.isnan(first) or math.isnan(second)):
            raise CautionError(
                "Two groups that change places do not change the sign",
                expected=f"{-second:g}: its range, from {low:g} to {high:g}, is the range of a difference",
                got=f"{first:g}",
                remedy="unless this is intended, correct the metric or its range",
            )


def _ideal_if_perfect(metric: Metric) -> None:
    needs = set(metric.needs)
    if metric.ideal is None or "y_true" not in needs or not needs & {"y_pred", "y_score"}:
        raise NotApplicableError("it does not measure the distance of predictions from labels")
    for rows in _examples():
        assert rows.y_true is not None
        perfect = dataclasses.replace(rows, y_pred=rows.y_true, y_score=rows.y_true.astype(float))
        for value in _values(metric, perfect).values():
            if not (math.isnan(value) or _same(value, metric.ideal)):
                raise CautionError(
                    "Perfect predictions do not have the ideal value",
                    expected=f"{metric.ideal:g}",
                    got=f"{value:g}",
                    remedy="unless this is intended, correct the metric or its ideal",
                )


METRIC_CHECKS: dict[str, Callable[[Metric], None]] = {
    "gives numbers in its range, or reasons": _gives_values,
    "same predictions, same values": _repeatable,
    "row order irrelevant": _order_irrelevant,
    "order of groups irrelevant": _groups_by_name,
    "names of groups irrelevant": _names_irrelevant,
    "a weight counts as rows": _weights_count,
    "groups that change places change the sign": _symmetric,
    "perfect predictions are ideal": _ideal_if_perfect,
}
"""All checks by name, in the order in which they run."""
