"""What commands write to the folder of a run and print in the terminal."""

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
