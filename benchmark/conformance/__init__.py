"""The conformance suite: what every technique must do, checked on a small made-up table."""

from benchmark.conformance._example import example_table
from benchmark.conformance.checks import CHECKS, CheckResult, NonconformityError, check_technique, described

__all__ = ["CHECKS", "CheckResult", "NonconformityError", "check_technique", "described", "example_table"]
