"""Names in the folder of a run: its files, and the columns of its tidy tables."""

from typing import Literal, get_args

MANIFEST_NAME = "manifest.json"

# Columns of results.csv, failures.csv, metrics.csv and convergence.csv; results/README.md explains them.
RESULT_COLUMNS = ("dataset", "bias", "beta", "technique", "classifier", "repetition", "metric", "value")
FAILURE_COLUMNS = (*RESULT_COLUMNS[:-1], "status", "reason")
METRIC_COLUMNS = (*RESULT_COLUMNS, "reason")
CONVERGENCE_COLUMNS = (*RESULT_COLUMNS[:6], "steps", "residual", "tolerance")

Test = Literal["original", "biased", "balanced"]
"""What fitted models are scored on; see :class:`benchmark.experiment.plan.Experiment`."""

TESTS: tuple[Test, ...] = get_args(Test)
