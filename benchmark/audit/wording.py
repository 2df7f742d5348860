"""Words and marks that the terminal and the page of an audit share."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchmark.audit.table_audit import AuditResult

RATES = {
    "selection_rate": "selected",
    "true_positive_rate": "TPR",
    "false_positive_rate": "FPR",
    "false_discovery_rate": "FDR",
    "false_omission_rate": "FOR",
    "precision": "precision",
    "accuracy_rate": "accuracy",
    "auc": "AUC",
}
"""Rates that are shown for each group, and their headings."""

MARKS = {
    "✓": "within tau of the reference",
    "✗": "not within tau of the reference",
    "=": "the reference",
    "?": "no verdict",
}
"""Marks beside a rate with a verdict, and their meanings."""


def mark(disparity: Mapping[Any, Any] | None) -> str:
    """Return the mark of a row of ``AuditResult.disparities``, of :data:`MARKS`."""
    if disparity is None:
        return ""
    if pd.isna(disparity["verdict"]):
        return "?"
    if disparity["group"] == disparity["reference"]:
        return "="
    return "✓" if disparity["verdict"] else "✗"


def undefined(metrics: pd.DataFrame) -> dict[str, tuple[list[str], list[str]]]:
    """Return the attributes and the metrics without a value, by reason."""
    lacking = metrics[metrics["value"].isna()]
    return {
        str(reason): (rows["attribute"].unique().tolist(), rows["metric"].unique().tolist())
        for reason, rows in lacking.groupby("reason", sort=False)
    }


def reference(result: AuditResult, attribute: str) -> str:
    """Return in words the reference group of an attribute and the way of choosing it."""
    chosen = str(result.facts["reference"][attribute])
    if chosen == "minimum":
        return "the group in which a rate is smallest"
    named = result.disparities.loc[result.disparities["attribute"] == attribute, "reference"].iloc[0]
    return f"{named}, the largest group" if chosen == "majority" else chosen
