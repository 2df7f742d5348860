"""From the numbers of a run to tables and figures."""

from benchmark.report.console import print_report
from benchmark.report.writer import write_report
from benchmark.runs.descriptions import (
    DatasetDescription,
    GroupSizes,
    MetricDescription,
    RunDescription,
    TechniqueDescription,
)

__all__ = [
    "DatasetDescription",
    "GroupSizes",
    "MetricDescription",
    "RunDescription",
    "TechniqueDescription",
    "print_report",
    "write_report",
]
