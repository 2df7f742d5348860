"""Metrics, each declared once; the metrics of a file have the same inputs.

A metric is a function of one or several :class:`~benchmark.metrics.inputs.Group`. Its declaration names the
groups that it compares (:data:`Compares`) and the data that it needs. Most metrics need only counts, which
one pass over the rows gives for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from benchmark.declarations import package_toml
from benchmark.errors import BetabenchError, DataError, UnknownNameError, where
from benchmark.metrics.inputs import (
    Conventions,
    Group,
    GroupCounts,
    Need,
    Predictions,
    UndefinedMetricError,
    as_array,
    difference,
    require_one_index,
)
from benchmark.registry import Registry

__all__ = [
    "COMPARISONS",
    "FAILING",
    "GAP",
    "RATES",
    "WORST",
    "Conventions",
    "Equivalent",
    "Group",
    "GroupCounts",
    "Measurement",
    "Metric",
    "MetricError",
    "MetricResults",
    "OneValueEach",
    "Predictions",
    "UndefinedMetricError",
    "difference",
    "evaluate",
    "get_metric",
    "list_families",
    "list_metrics",
    "measure",
    "measure_by_group",
    "metric",
    "metric_names",
    "metrics_by_group",
]

Direction = Literal["higher", "lower", "closer_to_ideal", "none"]

Compares = Literal["overall", "each_group", "one_against_rest", "against_reference", "all_groups"]
"""The groups that a metric compares, which decide how many values it has for more than two groups."""

COMPARISONS: Mapping[Compares, str] = {
    "overall": "looks at all rows at once; there are no groups",
    "each_group": "one value for each group",
    "one_against_rest": "one value for each group, compared with all others together",
    "against_reference": "one value for each group, compared with a reference group",
    "all_groups": "one value for any number of groups",
}
"""The same in words."""

_NEEDED: Mapping[Need, str] = {
    "y_true": "labels",
    "y_pred": "predictions",
    "y_score": "scores",
    "strata": "a column to stratify by",
    "features": "numeric features",
    "alternated": "a model to ask again",
    "decisions": "the decisions of the model without planted bias",
}
FAILING = "the metric"
"""First words of the reason why a metric that failed has no value."""

_SINGLE = math.nan, "there is only one group"
_ROUNDING = 1e-9
COUNTED: frozenset[Need] = frozenset({"y_true", "y_pred"})
"""Needs that counts of labels and predictions by group meet."""
_RUN: Need = "decisions"
"""The need that only a run meets, because it planted the bias."""


class MetricError(BetabenchError):
    """A metric raises an error, or returns no number."""


@dataclass(frozen=True)
class Equivalent:
    """The name of one of our metrics in another program or publication."""

    source: str  # such as ``"Clarify"``, ``"fairlearn"`` or ``"AIF360"``
    name: str  # its name there
    test: str  # the test that both are equal: ``"tests/metrics/test_clarify.py::test_random_data"``
    relation: Literal["same", "negated"] = "same"  # relation of their value to ours
    note: str = ""  # remaining differences: zero denominators, more than two groups


_EQUIVALENTS = {
    name: tuple(Equivalent(**equivalent) for equivalent in listed)
    for name, listed in package_toml(__package__, "equivalents.toml").items()
}


@dataclass(frozen=True)
class Metric:
    """A metric, declared once for evaluation, tables, figures and documentation."""

    name: str  # name in results
    title: str  # name in tables and figures
    # Definition in the notation of the paper: y+ favorable label, ŷ prediction, g deprived group (or the
    # group in question), ḡ favored group (or the groups compared with).
    formula: str
    range: tuple[float, float]  # lowest and highest possible value
    ideal: float | None  # value that means no error, or equal groups; None for a description
    direction: Direction  # which of two values is better
    source: str  # publication and equation
    needs: tuple[Need, ...]  # the data that it is computed from
    # Returns the value, or raises :class:`~benchmark.metrics.inputs.UndefinedMetricError` with the reason why
    # there is none. Takes one group, two (the group in question first), or for ``all_groups`` a sequence.
    compute: Callable[..., float]
    compare: Compares = "overall"  # the groups that it is given
    family: str = "other"  # name that stands for all metrics of a kind in experiments
    equivalents: tuple[Equivalent, ...] = ()  # its names elsewhere
    note: str = ""  # sign convention, or other remarks for readers

    def __call__(self, *groups: Any) -> float:
        """Return the value for groups: metrics are built from metrics."""
        return self.compute(*groups)

    @property
    def from_counts(self) -> bool:
        """Whether counts of labels and predictions by group are enough."""
        return COUNTED.issuperset(self.needs)

    @property
    def of_run(self) -> bool:
        """Whether it needs the decisions of the model without planted bias, which only a run has."""
        return _RUN in self.needs


@dataclass(frozen=True)
class Measurement:
    """A value of a metric."""

    metric: str
    group: str  # the group in question; empty if the metric looks at all groups
    reference: str  # the group that it is compared with, or empty
    value: float  # NaN where there is none
    reason: str  # why the value is NaN; else empty
    n_rows: int  # rows of the group in question, or of all groups


@dataclass(frozen=True)
class MetricResults:
    """Values of metrics on one set of predictions."""

    # Value or NaN, by the metric's name. With one value for each group, the group's name follows in brackets:
    # ``"precision[Female]"``.
    values: Mapping[str, float]
    reasons: Mapping[str, str]  # why a value is NaN, by name
    counts: GroupCounts  # source of the values; its sizes belong beside every value that is shown


def _metric_flaws(item: Metric) -> list[str]:
    low, high = item.range
    flaws = []
    if item.ideal is not None and not low <= item.ideal <= high:
        flaws.append(f"its ideal {item.ideal} lies outside its range")
    flaws += [f"its {f!r} is empty" for f in ("title", "formula", "source") if not getattr(item, f)]
    flaws += [
        f"it needs {n!r}, which is none of {', '.join(_NEEDED)}" for n in item.needs if n not in _NEEDED
    ]
    if item.compare not in get_args(Compares):
        flaws.append(f"its 'compare' is none of {', '.join(COMPARISONS)}")
    metrics = _REGISTRY.known()
    if item.name in {m.family for m in metrics} or item.family in {m.name for m in metrics}:
        flaws.append("a metric and a family would have the same name")
    return flaws


_REGISTRY: Registry[Metric] = Registry(
    "metric", DataError, package="benchmark.metrics", entry_points="betabench.metrics", flaws=_metric_flaws
)


def metric(title: str, formula: str, **declaration: Any) -> Callable[[Callable[..., float]], Metric]:
    """Return a decorator that declares a function as a metric of its name; keywords as in :class:`Metric`.

    A lambda takes its name from the title, unless ``name`` is given. The direction follows from the ideal and
    the range, and names elsewhere are those of ``equivalents.toml``, unless given.
    """

    def declare(compute: Callable[..., float]) -> Metric:
        name = name_of(title) if compute.__name__ == "<lambda>" else compute.__name__
        named: dict[str, Any] = {"name": name, "title": title, "formula": formula, "compute": compute}
        named["equivalents"] = _EQUIVALENTS.get(declaration.get("name", name), ())
        declared = Metric(**{"direction": _direction(**declaration), **named, **declaration})
        _REGISTRY.add(declared.name, declared)
        return declared

    return declare


def name_of(title: str) -> str:
    """Return a title as a name: ``"auc_gap"`` for ``"AUC gap"``."""
    return title.lower().replace(",", "").replace(" ", "_")


def _direction(*, range: tuple[float, float], ideal: float | None, **_: Any) -> Direction:
    if ideal is None:
        return "none"
    return "lower" if ideal == range[0] else "higher" if ideal == range[1] else "closer_to_ideal"


def get_metric(name: str) -> Metric:
    """Return a metric by name; raise :class:`UnknownNameError` if there is none."""
    return _REGISTRY.get(name)


def list_metrics() -> dict[str, Metric]:
    """Return all metrics by name, sorted by name."""
    return _REGISTRY.items()


def list_families() -> dict[str, tuple[str, ...]]:
    """Return the names of the metrics of each family, sorted."""
    families: dict[str, list[str]] = {}
    for name, item in list_metrics().items():
        families.setdefault(item.family, []).append(name)
    return {family: tuple(families[family]) for family in sorted(families)}


def metric_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of metrics, each once, with each family replaced by its metrics.

    An UnknownNameError means that neither a metric nor a family has a name.
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    metrics = list_metrics()
    # Every cell of a run passes names of metrics alone.
    families = {} if metrics.keys() >= set(names) else list_families()
    resolved: dict[str, None] = {}
    for name in names:
        if name not in metrics and name not in families:
            raise UnknownNameError("metric", name, {**metrics, **families})
        resolved |= dict.fromkeys((name,) if name in metrics else families[name])
    return tuple(resolved)


def measure(
    predictions: Predictions,
    metrics: Iterable[str] | None = None,
    *,
    reference: str | Callable[[Metric], str | None] | None = None,
    conventions: Conventions = "betabench",
) -> list[Measurement]:
    """Return the values of metrics for all groups, in the order of the metrics, then of the groups.

    ``metrics`` are names of metrics and families; by default all metrics that do not need a run. The
    reference is the name of the group that others are compared with, or a function that returns it for a
    metric. An UnknownNameError means that a metric or the reference is unknown, a MetricError that a metric
    fails.
    """
    names = predictions.names
    everybody, groups = _groups(predictions.counts, predictions, conventions)
    arguments: dict[Compares, Sequence[tuple[Any, ...]]] = {
        "overall": [(everybody,)],
        "all_groups": [(tuple(groups),)],
        "each_group": [(group,) for group in groups],
        "one_against_rest": [(group, rest(predictions.counts, group)) for group in groups],
    }
    measured = []
    if metrics is None:
        metrics = [m.name for m in list_metrics().values() if not m.of_run]
    for item in map(get_metric, metric_names(metrics)):
        compared_with, single = "rest" if item.compare == "one_against_rest" else "", False
        if item.compare == "against_reference":
            compared_with = (reference(item) if callable(reference) else reference) or ""
            if compared_with and compared_with not in names:
                raise UnknownNameError("group", compared_with, names)
            reference_group = [groups[names.index(compared_with)]] if compared_with else []
            arguments["against_reference"] = [(group, *reference_group) for group in groups]
            single = len(names) < 2 and conventions == "betabench"  # a group always equals itself
        for group_arguments in arguments[item.compare]:
            value, reason = _SINGLE if single else value_or_reason(item, group_arguments, predictions.given)
            group = everybody if item.compare in ("overall", "all_groups") else group_arguments[0]
            name = "" if group is everybody else names[group.codes[0]]
            measured.append(Measurement(item.name, name, compared_with, value, reason, group.n_rows))
    return measured


def _groups(
    counts: GroupCounts, rows: Predictions | None, conventions: Conventions = "betabench"
) -> tuple[Group, list[Group]]:
    """Return all rows as one group, and each group by itself."""
    everybody = Group.of(counts, range(len(counts.names)), "everybody", rows, conventions)
    return everybody, [
        Group.of(counts, [code], f"the group {name!r}", rows, conventions)
        for code, name in enumerate(counts.names)
    ]


def rest(counts: GroupCounts, group: Group, name: str = "") -> Group:
    """Return all groups outside of a group, which may have several codes, as one group."""
    codes = [code for code in range(len(counts.names)) if code not in group.codes]
    name = name or f"the groups other than {counts.names[group.codes[0]]!r}"
    return Group.of(counts, codes, name, group.source, group.conventions, group.smallest)


def value_or_reason(
    item: Metric, arguments: tuple[Any, ...], given: Set[Need], *, tolerant: bool = False
) -> tuple[float, str]:
    """Return the value of a metric for its groups, or NaN and the reason.

    ``given`` are the needs that are met. A MetricError means that the metric fails. With ``tolerant``, the
    failure is its reason instead, and no other value is lost.
    """
    if not given >= set(item.needs):
        missing = [_NEEDED[need] for need in item.needs if need not in given]
        return math.nan, f"it needs {' and '.join(missing)}, not given"
    compare = item.compare
    if compare == "against_reference" and len(arguments) < 2:
        return math.nan, "no reference group is chosen"
    if compare == "all_groups" and len(arguments[0]) < 2:
        return _SINGLE
    low, high = item.range
    group = arguments[0][0] if compare == "all_groups" else arguments[0]
    cause: Exception | None = None
    try:
        value = float(item.compute(*arguments))
    except UndefinedMetricError as undefined:
        return math.nan, undefined.what
    except Exception as problem:  # a user's metric may raise anything
        location, cause = where(problem), problem
        got = f"{type(problem).__name__}: {problem}" + (f" ({location})" if location else "")
    else:
        inside = low - _ROUNDING <= value <= high + _ROUNDING  # False for NaN
        if inside or not (math.isnan(value) or group.conventions == "betabench"):
            return value, ""
        got = str(value)
    failure = MetricError(
        f"{FAILING} {item.name!r} fails",
        expected=f"a number from {low:g} to {high:g}",
        got=got,
        remedy="correct the metric, or raise UndefinedMetricError where it has no value",
    )
    if tolerant:
        return math.nan, str(failure)
    raise failure from cause


class OneValueEach:
    """Computes metrics of a deprived group against all others together, the favored group.

    ``groups`` are the groups' names, ``deprived`` is one group's number or the numbers of several, and
    ``metrics`` names metrics and families. Everything that does not depend on counts is looked up here, once.
    An UnknownNameError means that a metric is unknown.
    """

    def __init__(self, groups: Sequence[str], deprived: int | Sequence[int], metrics: Iterable[str]) -> None:
        self._deprived = (deprived,) if isinstance(deprived, int) else tuple(deprived)
        # Name of each value, its metric, and its arguments: a comparison, or the number of a group.
        self._values: list[tuple[str, Metric, Compares | int]] = []
        for item in map(get_metric, metric_names(metrics)):
            if item.compare == "each_group":
                self._values += [(f"{item.name}[{name}]", item, code) for code, name in enumerate(groups)]
            else:
                self._values.append((item.name, item, item.compare))

    def __call__(
        self, counts: GroupCounts, *, rows: Predictions | None = None, tolerant: bool = False
    ) -> MetricResults:
        """Return a value or a reason for each metric, or for each group if the metric has one value each.

        ``rows`` are the rows behind the counts, for metrics that need rows. See :func:`value_or_reason`
        for ``tolerant``.
        """
        everybody, groups = _groups(counts, rows)
        deprived = Group.of(counts, self._deprived, "the deprived group", rows)
        favored = rest(counts, deprived, "the favored group")
        # If there are two groups, reasons call them by their roles.
        all_groups = sorted((deprived, favored), key=lambda g: g.codes) if len(groups) == 2 else groups
        arguments: dict[Compares | int, tuple[Any, ...]] = {
            "overall": (everybody,),
            "one_against_rest": (deprived, favored),
            "against_reference": (deprived, favored),
            "all_groups": (tuple(all_groups),),
            **{code: (group,) for code, group in enumerate(groups)},
        }
        given = rows.given if rows is not None else COUNTED
        if rows is None and counts.decisions is not None:
            given = COUNTED | {_RUN}
        values, reasons = dict[str, float](), dict[str, str]()
        for name, item, which in self._values:
            values[name], reason = value_or_reason(item, arguments[which], given, tolerant=tolerant)
            if reason:
                reasons[name] = reason
        return MetricResults(values, reasons, counts)


def evaluate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    deprived: ArrayLike,
    *,
    metrics: Iterable[str] = ("paper",),
    y_score: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> MetricResults:
    """Return a value or a reason for each metric of predictions for a favored and a deprived group.

    Arrays, lists or pandas Series have shape (n_rows,): ``y_true`` and ``y_pred`` are True for favorable,
    ``deprived`` for members of the deprived group. Scores are higher for rows more likely to have the
    favorable label. ``metrics`` are names of metrics and families, in the order of the results. A DataError
    means that the arrays do not fit each other, an UnknownNameError that a metric is unknown, a MetricError
    that one fails.
    """
    given = {"y_true": y_true, "y_pred": y_pred, "deprived": deprived}
    optional = {"y_score": y_score, "sample_weight": sample_weight}
    given |= {name: values for name, values in optional.items() if values is not None}
    require_one_index(given)
    arrays = {name: as_array(name, values) for name, values in given.items()}
    member = arrays.pop("deprived")
    shape = (arrays["y_true"].size,)
    if member.dtype != np.bool_ or member.shape != shape:
        raise DataError(
            "deprived cannot be evaluated",
            expected=f"a bool array of shape {shape}, True for members of the deprived group",
            got=f"{member.dtype} of shape {member.shape}",
        )
    rows = Predictions(member.view(np.uint8), ("favored", "deprived"), **arrays)
    return OneValueEach(rows.names, (1,), metrics)(rows.counts, rows=rows)


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
        measured = []
        for group, others in pairs:
            result = math.nan, f"fewer than {smallest} rows"
            if group.n_rows >= smallest:
                arguments = (group, others)[:n_arguments]
                result = value_or_reason(item, arguments, COUNTED, tolerant=True)
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
