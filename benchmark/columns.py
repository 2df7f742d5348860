"""Names in the folder of a run: its files, and the columns of its tidy tables."""

from __future__ import annotations

MANIFEST_NAME = "manifest.json"

RESULT_COLUMNS = ("dataset", "bias", "beta", "technique", "classifier", "repetition", "metric", "value")
"""Columns of ``results.csv``; ``results/README.md`` says what each holds."""

FAILURE_COLUMNS = (*RESULT_COLUMNS[:-1], "status", "reason")
"""Columns of ``failures.csv``."""

METRIC_COLUMNS = (*RESULT_COLUMNS, "reason")
"""Columns of ``metrics.csv``."""

CONVERGENCE_COLUMNS = (*RESULT_COLUMNS[:6], "steps", "residual", "tolerance")
"""Columns of ``convergence.csv``."""
