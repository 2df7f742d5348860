"""An audit of predictions as Markdown, and as a page without scripts, network or other files."""

from __future__ import annotations

from typing import Any

from benchmark.audit.table_audit import AuditResult
from benchmark.audit.wording import (
    RATES,
    mark,
    reference,
    title,
    undefined,
    verdicts,
)
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
    judged = {
        title(parity): cells for parity, cells in found.items() if any(f is not None for f in cells.values())
    }
    return render_values(
        "audit",
        whole=bool(name),
        name=name,
        facts=result.facts,
        notes=result.notes,
        missing=result.missing.to_dict("records"),
        verdicts=judged,
        without_verdict=[title(parity) for parity in found if title(parity) not in judged],
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
        "disparities": [
            row
            for _, rows in disparities[disparities["value"].notna()].groupby("metric", sort=False)
            for row in rows.to_dict("records")
        ],
        "judged": {(row["group"], row["metric"]): row for row in disparities.to_dict("records")},
        "single": metrics[metrics["group"] == ""].to_dict("records"),
        "more": {
            metric: dict(zip(rows["group"], rows["value"], strict=True))
            for metric, rows in more.groupby("metric", sort=False)
        },
    }
