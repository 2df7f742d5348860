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

# Elsewhere "statistical parity" means equal rates, as in docs/glossary.md.
_TITLES = {"Statistical Parity": "equal numbers selected (Aequitas: Statistical Parity)"}


def title(parity: str) -> str:
    """Return the title of a verdict: Aequitas' name, unless it means another thing elsewhere."""
    return _TITLES.get(parity, parity)


def verdicts(result: AuditResult) -> dict[str, dict[str, list[str] | None]]:
    """Return by parity and attribute the groups that fail, or None without a verdict."""
    failed = result.verdicts[result.verdicts["verdict"].eq(False).fillna(False)]
    groups = failed.groupby(["parity", "attribute"])["group"].agg(list).to_dict()
    found: dict[str, dict[str, list[str] | None]] = {}
    for row in result.parity.to_dict("records"):
        key = row["parity"], row["attribute"]
        found.setdefault(key[0], {})[key[1]] = None if pd.isna(row["verdict"]) else groups.get(key, [])
    return found


def mark(disparity: Mapping[Any, Any] | None) -> str:
    """Return the mark of a row of ``AuditResult.disparities``: ✓, ✗, = (the reference) or ? (no verdict)."""
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
    """Return in words the reference group of an attribute and the reason for choosing it."""
    chosen = str(result.facts["reference"][attribute])
    known = " whose value is known" if attribute in result.facts["unknown"] else ""
    if chosen == "minimum":
        return f"the group{known} in which a rate is smallest"
    rows = result.disparities.loc[result.disparities["attribute"] == attribute]
    named = rows["reference"].iloc[0]
    if rows["group"].nunique() == 1:
        return f"{named}, the only group"
    return f"{named}, the largest group{known}" if chosen == "majority" else chosen
