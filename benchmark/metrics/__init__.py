"""Metrics: one file per family, each metric declared once."""

from benchmark.metrics.base import (
    GroupCounts,
    Metric,
    MetricResults,
    UndefinedMetricError,
    evaluate,
    get_metric,
    list_metrics,
    metric,
    share,
)

__all__ = [
    "GroupCounts",
    "Metric",
    "MetricResults",
    "UndefinedMetricError",
    "evaluate",
    "get_metric",
    "list_metrics",
    "metric",
    "share",
]
