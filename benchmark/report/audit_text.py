"""The result of an audit in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmark.audit.table_audit import AuditResult
from benchmark.audit.wording import (
    RATES,
    any_verdict,
    mark,
    reference,
    title,
    undefined,
    verdicts,
    without_verdict,
)
from benchmark.metrics import get_metric
from benchmark.text.terminal import say
from benchmark.text.words import few, number, printable, short

_MOST_GROUPS = 20
_MOST_NAMES = 2
_LONGEST_NAME = 24


def print_audit(console: Console, result: AuditResult) -> None:
    """Print each attribute's groups and disparities, the verdicts, and missing values, in 80 columns.

    Of many groups, the largest are shown.
    """
    _say(console, _headline(result))
    for note in result.notes:
        _say(console, f"Note: {note}", "yellow")
    for row in result.missing[result.missing["missing"] > 0].to_dict("records"):
        _say(console, f"Missing: {row['missing']:,} values of {row['column']}; {row['treatment']}", "yellow")
    marks = {
        (row["attribute"], row["group"], row["metric"]): row for row in result.disparities.to_dict("records")
    }
    for attribute, groups in result.groups.groupby("attribute", sort=False):
        shown = groups.nlargest(_MOST_GROUPS, "n").sort_index()
        valued = shown[list(RATES.keys() & shown)].notna().any(axis=1)
        empty, shown = shown[~valued], shown[valued]
        console.print()
        _say(console, f"{attribute} (reference: {reference(result, str(attribute))})", "bold")
        if len(shown):
            console.print(_rates(shown, marks))
            _say(console, "as a multiple of the reference's rate", "dim")
            console.print(_disparities(shown, marks))
        if len(empty):
            _say(console, f"No rate has a value: {few(empty['group'].tolist(), _MOST_GROUPS)}", "dim")
        if hidden := len(groups) - len(shown) - len(empty):
            _say(console, f"{hidden:,} smaller groups are in the files only", "dim")
    tau = result.facts["tau"]
    console.print()
    _say(
        console,
        f"✓ from {tau:g} to {1 / tau:.4g} times the reference, ✗ not, = the reference, ? no verdict; "
        "* a difference that chance hardly makes (adjusted p ≤ 0.05); ~ a small group",
        "dim",
    )
    console.print()
    if (parities := _parity(result)).row_count:
        console.print(parities)
    if lacking := without_verdict(result):
        _say(console, f"No verdict: {', '.join(lacking)}", "dim")
    if result.facts["metrics"]:
        console.print()
        console.print(_metrics(result.metrics))
    if reasons := undefined(result.metrics):
        console.print()
        _say(console, "Without a value:", "bold")
        for reason, (attributes, names) in reasons.items():
            _say(console, f"  {few(attributes)}: {reason}: {few(names)}")


def _say(console: Console, text: str, style: str = "") -> None:
    say(console, printable(text), style)


def _headline(result: AuditResult) -> str:
    facts = result.facts
    columns = ", ".join(f"{role} {name}" for role, name in facts["columns"].items() if isinstance(name, str))
    favorable = ", ".join(f"{role} {few(values) or 'none'}" for role, values in facts["favorable"].items())
    text = f"{facts['rows_audited']:,} of {facts['rows']:,} rows: {columns}"
    return f"{text}; favorable: {favorable}" if favorable else text


def _grid(*headings: str, names: int = 1) -> Table:
    """Return an empty table with columns for names, then columns for numbers."""
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for i, heading in enumerate(headings):
        if i < names:
            width = _LONGEST_NAME if i == 0 else None
            grid.add_column(_name(heading), max_width=width, overflow="fold")
        else:
            grid.add_column(heading, justify="right", no_wrap=True)
    return grid


def _rates(groups: pd.DataFrame, marks: Mapping[tuple[Any, ...], Mapping[Any, Any]]) -> Table:
    columns = {m: heading for m, heading in RATES.items() if m in groups and groups[m].notna().any()}
    grid = _grid("group", "n", *columns.values())
    for row in groups.to_dict("records"):
        signs = [mark(marks.get((row["attribute"], row["group"], metric))) for metric in columns]
        cells = [_signed(short(row[metric]), sign) for metric, sign in zip(columns, signs, strict=True)]
        grid.add_row(_name(row["group"]), f"{'~' if row['small'] else ''}{row['n']:,}", *cells)
    return grid


def _disparities(groups: pd.DataFrame, marks: Mapping[tuple[Any, ...], Mapping[Any, Any]]) -> Table:
    shown = [row for row in marks.values() if row["attribute"] in set(groups["attribute"])]
    valued = {row["metric"] for row in shown if not pd.isna(row["disparity"])}
    judged = {metric: heading for metric, heading in RATES.items() if metric in valued}
    grid = _grid("group", *judged.values())
    for row in groups.to_dict("records"):
        cells = []
        for metric in judged:
            entry = marks[row["attribute"], row["group"], metric]
            star = "*" if entry["significant"] else " "
            cells.append(_signed(number(entry["disparity"], 2), mark(entry)) + star)
        grid.add_row(_name(row["group"]), *cells)
    return grid


def _name(text: str) -> str:
    return escape(printable(text))


def _signed(text: str, sign: str) -> str:
    return f"[red]{text}{sign}[/red]" if sign == "✗" else f"{text}{sign}"


def _parity(result: AuditResult) -> Table:
    attributes = list(dict.fromkeys(result.parity["attribute"]))
    grid = _grid("parity", *attributes, names=1 + len(attributes))
    grid.columns[0].max_width = None
    for name, cells in verdicts(result).items():
        if any_verdict(cells):
            grid.add_row(title(name), *(_verdict(cells[attribute]) for attribute in attributes))
    return grid


def _verdict(failed: list[str] | None) -> str:
    if failed is None:
        return "?"
    return f"[red]✗[/red] {_name(few(failed, _MOST_NAMES))}" if failed else "✓"


def _metrics(metrics: pd.DataFrame) -> Table:
    grid = _grid("metric", "attribute", "group", "value", "ideal", names=3)
    for row in metrics[metrics["value"].notna()].to_dict("records"):
        ideal = get_metric(row["metric"]).ideal
        names = (row["metric"], _name(row["attribute"]), _name(row["group"]))
        grid.add_row(*names, number(row["value"], 4), "" if ideal is None else f"{ideal:g}")
    return grid
