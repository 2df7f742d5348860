"""From the numbers of a run to tables and figures."""

from benchmark.report.console import print_report
from benchmark.report.describe import (
    DatasetDescription,
    GroupSizes,
    MetricDescription,
    RunDescription,
    TechniqueDescription,
)
from benchmark.report.writer import write_report

__all__ = [
    "DatasetDescription",
    "GroupSizes",
    "MetricDescription",
    "RunDescription",
    "TechniqueDescription",
    "print_report",
    "write_report",
]
