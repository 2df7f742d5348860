"""The conformance suite: checks of techniques, kinds of bias and metrics on made-up rows."""

from benchmark.conformance.bias_checks import BIAS_CHECKS, check_bias, example_of
from benchmark.conformance.metric_checks import METRIC_CHECKS, check_metric
from benchmark.conformance.results import CheckResult, NonconformityError, described
from benchmark.conformance.specimen import example_table, facts_of
from benchmark.conformance.technique_checks import CHECKS, check_technique

__all__ = [
    "BIAS_CHECKS",
    "CHECKS",
    "METRIC_CHECKS",
    "CheckResult",
    "NonconformityError",
    "check_bias",
    "check_metric",
    "check_technique",
    "described",
    "example_of",
    "example_table",
    "facts_of",
]
