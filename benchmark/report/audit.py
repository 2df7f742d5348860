"""An audit of predictions as Markdown, and as a page without scripts, network or other files."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchmark.audit.table_audit import AuditResult
from benchmark.metrics import COMPARISONS, get_metric
from benchmark.pages.html import document
from benchmark.text.words import few, number
from benchmark.wording import render_values

_MOST_GROUPS = 20  # in the terminal
_COUNTS = {
    "n": "n",
    "labelled_positives": "label +",
    "predicted_positives": "predicted +",
    **{cell: cell.upper() for cell in ("tp", "fp", "fn", "tn")},
}


def audit_page(result: AuditResult, name: str = "a table of predictions") -> str:
    """Return an HTML page about an audit; ``name`` is the audited table, for the title.

    The page loads and runs nothing, and follows the reader's preference for light or dark. Names from the
    data are text, whatever characters they hold.
    """
    return document(audit_text(result, name))


def audit_text(result: AuditResult, name: str = "") -> str:
    """Return an audit as Markdown: verdicts, then each attribute's groups and disparities, missing values.

    With a ``name`` it is the text of a page. Without it is for the terminal: of many groups, the largest.
    """
    metrics = result.metrics[result.metrics["value"].notna()]  # the others have their reasons
    attributes = result.groups["attribute"].unique()
    found = verdicts(result)
    judged = {parity: cells for parity, cells in found.items() if any(f is not None for f in cells.values())}
    return render_values(
        "audit",
        whole=bool(name),
        name=name,
        facts=result.facts,
        notes=result.notes,
        missing=result.missing.to_dict("records"),
        verdicts=judged,
        without_verdict=[parity for parity in found if parity not in judged],
        attributes=[_attribute(result, attribute, whole=bool(name)) for attribute in attributes],
        metrics=metrics.to_dict("records"),
        described=map(get_metric, sorted(set(result.metrics["metric"]))),
        undefined=undefined(result.metrics),
        about=get_metric,
        comparisons=COMPARISONS,
        few=few,
        limit=lambda value: number(value).removesuffix(".000"),
        mark=mark,
    )


def _attribute(result: AuditResult, attribute: str, *, whole: bool) -> dict[str, Any]:
    """Return the groups of an attribute, and columns that have any value."""
    groups, disparities, metrics = (
        frame[frame["attribute"] == attribute]
        for frame in (result.groups, result.disparities, result.metrics)
    )
    shown = groups if whole else groups.nlargest(_MOST_GROUPS, "n").sort_index()
    has_rate = shown[list(RATES.keys() & shown)].notna().any(axis=1) | whole
    empty, shown = shown[~has_rate], shown[has_rate]
    valued = {*shown.columns[shown.notna().any()]}
    # Each group also has the metrics that no other table shows.
    judged = {*disparities["metric"]}
    elsewhere = judged | {f"{metric}_disparity" for metric in judged} | {*groups.columns}
    metrics = metrics[metrics["value"].notna()]
    more = metrics[(metrics["group"] != "") & ~metrics["metric"].isin(elsewhere)]
    with_ratio = {*disparities["metric"][disparities["disparity"].notna()]}
    return {
        "name": attribute,
        "reference": reference(result, attribute),
        "shown": shown.to_dict("records"),
        "empty": empty["group"].tolist(),
        "n_hidden": len(groups) - len(shown) - len(empty),
        "counts": {name: _COUNTS[name] for name in _COUNTS if name == "n" or (whole and name in valued)},
        "rates": {name: RATES[name] for name in RATES if name in valued},
        "ratios": {name: RATES[name] for name in RATES if name in with_ratio},
        # A rate without a value is left out; "Without a value" has the reason.
        "disparities": disparities[disparities["value"].notna()]
        .sort_values("metric", key=lambda metric: pd.factorize(metric)[0], kind="stable")
        .to_dict("records"),
        "judged": {(row["group"], row["metric"]): row for row in disparities.to_dict("records")},
        "single": metrics[metrics["group"] == ""].to_dict("records"),
        "more": {
            metric: dict(zip(rows["group"], rows["value"], strict=True))
            for metric, rows in more.groupby("metric", sort=False)
        },
    }


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
    """Return by parity's title and attribute the groups that fail, or None without a verdict."""
    found: dict[str, dict[str, list[str] | None]] = {}
    for (parity, attribute), rows in result.verdicts.groupby(["parity", "attribute"], sort=False):
        failed = rows.loc[rows["verdict"].eq(False).fillna(False), "group"].tolist()
        known = failed or rows["verdict"].notna().all()
        found.setdefault(title(str(parity)), {})[str(attribute)] = failed if known else None
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
