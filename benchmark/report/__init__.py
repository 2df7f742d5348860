"""What commands write and print: the folder of a run, its statistics, and the console."""

from benchmark.report.console import print_report
from benchmark.report.writer import write_report

__all__ = ["print_report", "write_report"]
