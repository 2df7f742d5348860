"""The result of an audit as one page without scripts, network or other files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from benchmark.audit.table_audit import AuditResult
from benchmark.audit.wording import (
    MARKS,
    RATES,
    any_verdict,
    mark,
    reference,
    title,
    undefined,
    verdicts,
    without_verdict,
)
from benchmark.metrics import COMPARISONS, get_metric
from benchmark.pages.html import render
from benchmark.text.words import few, number, p_value

_COUNTS = {
    "n": "rows",
    "labelled_positives": "label +",
    "predicted_positives": "predicted +",
    **{cell: cell.upper() for cell in ("tp", "fp", "fn", "tn")},
}
_WIDEST = 4.0  # disparities beyond this ratio, or its inverse, end at the edge of their bar


def audit_page(result: AuditResult, name: str = "a table of predictions") -> str:
    """Return an HTML page about an audit; ``name`` is the audited table, for the title.

    The page loads and runs nothing, and follows the reader's preference for light or dark. Names from the
    data are text, whatever characters they hold.
    """
    attributes = list(dict.fromkeys(result.groups["attribute"]))
    lacking = undefined(result.metrics)
    return render(
        "audit.html",
        name=name,
        headings=["Verdicts", "Input", *attributes, "Without a value" if lacking else "", "Metrics"],
        facts=result.facts,
        verdicts={
            title(name): [cells[attribute] for attribute in attributes]
            for name, cells in verdicts(result).items()
            if any_verdict(cells)
        },
        without_verdict=without_verdict(result),
        input=_input(result.facts),
        notes=result.notes,
        missing=result.missing.to_dict("records"),
        attributes=[_attribute(result, attribute) for attribute in attributes],
        undefined=lacking,
        metrics=sorted(set(result.metrics["metric"])),
        about=get_metric,
        comparisons=COMPARISONS,
        few=few,
        limit=lambda value: number(value).removesuffix(".000"),
        mark=mark,
        marks=MARKS,
        nan=math.nan,
        widest=_WIDEST,
    )


def _input(facts: Mapping[str, Any]) -> dict[str, str]:
    columns = {
        role: ", ".join(name) if isinstance(name, list) else name for role, name in facts["columns"].items()
    }
    favorable = {f"favorable {role}": few(values) or "none" for role, values in facts["favorable"].items()}
    conventions = {"zero denominators": f"as {facts['conventions']}"}
    return {"rows": f"{facts['rows_audited']:,} of {facts['rows']:,}", **columns, **favorable, **conventions}


def _attribute(result: AuditResult, attribute: str) -> dict[str, Any]:
    groups, disparities, metrics = (
        frame[frame["attribute"] == attribute]
        for frame in (result.groups, result.disparities, result.metrics)
    )
    rows = [
        {**row, "bar": _bar(row["disparity"], result.facts["tau"]), "p": p_value(row["p_adjusted"])}
        for row in disparities.to_dict("records")
        if not math.isnan(row["value"])
    ]
    # Each group also has the metrics that no other table shows.
    judged = set(disparities["metric"])
    above = judged | {f"{metric}_disparity" for metric in judged} | set(groups.columns)
    more: dict[str, dict[str, float]] = {}
    metrics = metrics[metrics["value"].notna()]  # the reasons for the others have a table of their own
    for row in metrics[(metrics["group"] != "") & ~metrics["metric"].isin(above)].to_dict("records"):
        more.setdefault(row["metric"], {})[row["group"]] = row["value"]
    return {
        "name": attribute,
        "reference": reference(result, attribute),
        "groups": groups.to_dict("records"),
        "counts": {name: heading for name, heading in _COUNTS.items() if groups[name].notna().any()},
        "rates": {r: heading for r, heading in RATES.items() if r in groups and groups[r].notna().any()},
        "judged": {(row["group"], row["metric"]): row for row in rows},
        # A rate without any value is left out; the table of missing values has the reason.
        "disparities": {
            metric: [row for row in rows if row["metric"] == metric]
            for metric, values in disparities.groupby("metric", sort=False)["value"]
            if values.notna().any()
        },
        "single": metrics[metrics["group"] == ""].to_dict("records"),
        "more": more,
    }


def _bar(ratio: float, tau: float) -> dict[str, object] | None:
    """Return a bar from 1 to a ratio, and the band of parity, in a box of 140 by 16."""
    if math.isnan(ratio):
        return None

    def position(value: float) -> float:
        inside = min(max(value, 1 / _WIDEST), _WIDEST)
        return round(70 * (1 + math.log(inside, _WIDEST)), 1)

    low, high, end = position(tau), position(1 / tau), position(ratio)
    return {
        "low": low,
        "band": f"{high - low:.1f}",
        "kind": "inside" if tau * (1 - 1e-9) <= ratio <= (1 + 1e-9) / tau else "outside",
        "left": min(end, 70),
        "width": f"{max(abs(end - 70), 1.5):.1f}",
    }
