"""Metrics: one file per family, each metric declared once."""

from benchmark.metrics.base import (
    COMPARISONS,
    Equivalent,
    Measurement,
    Metric,
    MetricError,
    MetricResults,
    evaluate,
    get_metric,
    list_families,
    list_metrics,
    measure,
    metric,
    metric_names,
    one_value_each,
)
from benchmark.metrics.groups import (
    Conventions,
    Group,
    GroupCounts,
    Predictions,
    UndefinedMetricError,
    difference,
)

__all__ = [
    "COMPARISONS",
    "Conventions",
    "Equivalent",
    "Group",
    "GroupCounts",
    "Measurement",
    "Metric",
    "MetricError",
    "MetricResults",
    "Predictions",
    "UndefinedMetricError",
    "difference",
    "evaluate",
    "get_metric",
    "list_families",
    "list_metrics",
    "measure",
    "metric",
    "metric_names",
    "one_value_each",
]
