"""The result of an audit as one page that needs nothing else: no network, no scripts, no other file."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from benchmark.audit.table_audit import AuditResult
from benchmark.metrics import COMPARISONS, get_metric
from benchmark.report.audit_text import MARKS, RATES, few, mark, number, printable, reference, undefined

__all__ = ["audit_page"]

_COUNTS = {
    "n": "rows",
    "labelled_positives": "label +",
    "predicted_positives": "predicted +",
    "tp": "TP",
    "fp": "FP",
    "fn": "FN",
    "tn": "TN",
}
_WIDEST = 4.0
"""Disparities beyond this ratio, or its inverse, end at the edge of their bar."""

# Okabe & Ito (2008): vermilion and bluish green differ for all kinds of colour vision; darker on white.
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #5a5a5a; --paper: #fff; --line: #d8d8d8;
  --band: #e6eef4; --good: #00664b; --bad: #b04a00; --head: #f4f4f4; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --soft: #ababab; --paper: #161616;
  --line: #3b3b3b; --band: #24333f; --good: #4cc9a3; --bad: #ff9a52; --head: #222; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
h1, h2, h3, p, li, dd, dt { overflow-wrap: anywhere; }
p, ul, dl { max-width: 48rem; } .soft, caption, figcaption { color: var(--soft); }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; }
a { color: inherit; }
.box { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap;
  vertical-align: top; }
thead th { background: var(--head); vertical-align: bottom; }
th[scope=row], th:first-child, .text { text-align: left; } th[scope=row] { font-weight: 600; }
th[scope=row], .wrap { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; max-width: 26rem; }
tbody th[scope=rowgroup] { text-align: left; background: var(--head); }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
svg { display: block; width: 9rem; height: 1.1rem; }
.band { fill: var(--band); } .one { stroke: var(--soft); } .inside { fill: var(--good); }
.outside { fill: var(--bad); }
dt { font-weight: 600; margin-top: .8rem; } dd { margin: 0; } code { font-size: .9em; }
@page { size: landscape; margin: 12mm; }
@media print { body { max-width: none; font-size: 9pt; } table { font-size: 7pt; } nav { display: none; }
  .box { overflow: visible; } h2, caption { break-after: avoid; } tr { break-inside: avoid; } }
"""


def audit_page(result: AuditResult, name: str = "a table of predictions") -> str:
    """Return a page in HTML about an audit.

    Parameters
    ----------
    result : AuditResult
        From :func:`benchmark.audit.audit_predictions`.
    name : str
        What was audited, for the title.

    Returns
    -------
    str
        A whole document. It loads nothing, runs nothing, and follows the reader's preference for light or
        dark; names from the data are text, whatever characters they hold.
    """
    attributes = list(dict.fromkeys(result.groups["attribute"]))
    title = f"Audit of {_text(name)}"
    sections = [("Verdicts", _verdicts(result, attributes)), ("Input", _input(result))]
    sections += [(str(attribute), _attribute(result, str(attribute))) for attribute in attributes]
    sections += [("Without a value", _undefined(result)), ("Metrics", _glossary(result))]
    shown = [(f"s{i}", heading, body) for i, (heading, body) in enumerate(sections) if body]
    links = "".join(f'<li><a href="#{key}">{_text(heading)}</a></li>' for key, heading, _ in shown)
    blocks = "".join(
        f'<section id="{key}"><h2>{_text(heading)}</h2>{body}</section>\n' for key, heading, body in shown
    )
    versions = ", ".join(f"{what} {version}" for what, version in result.facts["versions"].items())
    digest = f"SHA-256 of the audited columns: <code>{result.facts['digest']}</code>"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # Should a name ever get past the escaping, the browser still loads and runs nothing.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<h1>{title}</h1>\n<nav aria-label="Contents"><ul>{links}</ul></nav>\n<main>\n{blocks}</main>\n'
        f'<footer class="soft"><p>{_text(versions)}. {digest}.</p></footer>\n</body>\n</html>\n'
    )


def _text(value: object) -> str:
    return html.escape(printable(value))


def _cell(content: str, kind: str = "") -> str:
    return f'<td class="{kind}">{content}</td>' if kind else f"<td>{content}</td>"


def _head(content: object, scope: str = "row") -> str:
    return f'<th scope="{scope}">{_text(content)}</th>'


def _table(caption: str, headings: Sequence[str], rows: Iterable[str], words: Collection[str] = ()) -> str:
    """Return a table that scrolls in a box of its own.

    ``rows`` are HTML, all else is text; ``words`` are the headings of columns without numbers.
    """
    head = "".join(
        f'<th scope="col"{" class=text" if heading in words else ""}>{_text(heading)}</th>'
        for heading in headings
    )
    body = "".join(row if row.startswith("<tbody") else f"<tr>{row}</tr>\n" for row in rows)
    if not body.startswith("<tbody"):
        body = f"<tbody>{body}</tbody>"
    # A box that scrolls can be reached and moved by keyboard.
    return (
        f'<div class="box" tabindex="0" role="region" aria-label="{_text(caption)}"><table>'
        f"<caption>{_text(caption)}</caption><thead><tr>{head}</tr></thead>{body}</table></div>\n"
    )


def _sign(disparity: Mapping[Any, Any] | None) -> str:
    sign = mark(disparity)
    kind = {"✓": "good", "✗": "bad"}.get(sign, "soft")
    return f' <span class="{kind}" title="{MARKS[sign]}">{sign}</span>' if sign else ""


# ------------------------------------------------------------------------------------------- sections


def _verdicts(result: AuditResult, attributes: Sequence[str]) -> str:
    tau = result.facts["tau"]
    found = {(row["attribute"], row["parity"]): row for row in result.parity.to_dict("records")}
    rows = []
    for name in dict.fromkeys(result.parity["parity"]):
        cells = [_head(name)]
        for attribute in attributes:
            row = found[attribute, name]
            if pd.isna(row["verdict"]):
                cells.append(_cell("? no verdict", "text soft"))
            elif row["verdict"]:
                cells.append(_cell("✓ all groups", "text good"))
            else:
                cells.append(
                    _cell(f'<span class="bad">✗</span> {_text(few(row["failed"].split(", ")))}', "text wrap")
                )
        rows.append("".join(cells))
    return (
        f"<p>A group has parity in a rate if that is from {tau:g} to {1 / tau:.4g} times the rate of the "
        "reference group. An attribute has it if all of its groups do; else some that do not are named. "
        "Statistical parity asks for equal numbers of selected people, impact parity for equal shares. "
        "A verdict is a finding about these rows, not about the reason.</p>"
        f"<p>{'; '.join(f'{sign} {meaning}' for sign, meaning in MARKS.items())}.</p>"
        + _table("Parity by attribute", ["parity", *attributes], rows, attributes)
    )


def _input(result: AuditResult) -> str:
    facts = result.facts
    columns = {
        what: ", ".join(name) if isinstance(name, list) else name for what, name in facts["columns"].items()
    }
    favorable = {f"favorable {role}": few(values) or "none" for role, values in facts["favorable"].items()}
    entries = {
        "rows": f"{facts['rows_audited']:,} of {facts['rows']:,}",
        **columns,
        **favorable,
        "zero denominators": f"as {facts['conventions']}",
    }
    items = "".join(f"<li>{_text(what)}: {_text(value)}</li>" for what, value in entries.items())
    notes = "".join(f"<li>{_text(note)}</li>" for note in result.notes)
    rows = [
        _head(row["column"])
        + _cell(_text(row["role"]), "text")
        + _cell(f"{row['missing']:,}")
        + _cell(f"{100 * row['share']:.1f} %")
        + _cell(_text(row["treatment"]), "text")
        for row in result.missing.to_dict("records")
    ]
    return (
        f"<ul>{items}</ul>"
        + (f"<h3>To be known</h3><ul>{notes}</ul>" if notes else "")
        + _table(
            "Missing values", ["column", "role", "missing", "share", "treatment"], rows, ("role", "treatment")
        )
    )


def _attribute(result: AuditResult, attribute: str) -> str:
    groups = result.groups[result.groups["attribute"] == attribute]
    disparities = result.disparities[result.disparities["attribute"] == attribute].to_dict("records")
    metrics = result.metrics[result.metrics["attribute"] == attribute]
    return (
        f"<p>Compared with {_text(reference(result, attribute))}.</p>"
        + _groups(groups, {(row["group"], row["metric"]): row for row in disparities})
        + _bars(disparities, result.facts["tau"])
        + _single_values(metrics[metrics["group"] == ""])
        + _matrix(metrics, [*groups["group"]], {row["metric"] for row in disparities}, set(groups.columns))
    )


def _groups(groups: pd.DataFrame, judged: Mapping[tuple[Any, Any], Mapping[Any, Any]]) -> str:
    counts = [count for count in _COUNTS if groups[count].notna().any()]
    rates = [rate for rate in RATES if rate in groups and groups[rate].notna().any()]
    rows = []
    for row in groups.to_dict("records"):
        small = ' <span class="soft">(small)</span>' if row["small"] else ""
        rows.append(
            f'<th scope="row">{_text(row["group"])}{small}</th>'
            + "".join(_cell(_count(row[count])) for count in counts)
            + "".join(_cell(number(row[r]) + _sign(judged.get((row["group"], r)))) for r in rates)
        )
    headings = ["group", *(_COUNTS[c] for c in counts), *(RATES[r] for r in rates)]
    return _table("Groups: counts and rates", headings, rows)


def _count(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"  # sums of weights


def _bars(disparities: Sequence[Mapping[Any, Any]], tau: float) -> str:
    def body(metric: str) -> Iterator[str]:
        title = get_metric(metric).title
        yield f'<tr><th scope="rowgroup" colspan="8">{_text(title)}</th></tr>\n'
        for row in disparities:
            if row["metric"] == metric:
                small = " (few rows)" if row["small"] else ""
                p = row["p_adjusted"]
                yield (
                    f"<tr>{_head(row['group'])}"
                    + _cell(number(row["value"]))
                    + _cell(_text(row["reference"]), "text wrap")
                    + _cell(number(row["reference_value"]))
                    + _cell(number(row["disparity"], 2))
                    + _cell(_bar(row["disparity"], tau))
                    + _cell("" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}")
                    + _cell((_sign(row) or "") + small, "text")
                    + "</tr>\n"
                )

    metrics = dict.fromkeys(row["metric"] for row in disparities)
    # A rate that nobody has tells nothing: the reason is among what has no value.
    told = [m for m in metrics if any(not math.isnan(r["value"]) for r in disparities if r["metric"] == m)]
    scale = f"1/{_WIDEST:g} to {_WIDEST:g}"
    headings = ("group", "rate", "reference", "its rate", "ratio", scale, "p", "")
    return _table(
        f"Disparities: rate / rate of the reference; shaded: from {tau:g} to {1 / tau:.4g}. p: that chance "
        "alone makes such a difference, adjusted for the number of tests (Holm)",
        headings,
        [f"<tbody>{''.join(body(metric))}</tbody>" for metric in told],
        ("reference", scale),
    )


def _bar(ratio: float, tau: float) -> str:
    """Return a bar from 1 to a ratio, on a logarithmic scale; the number beside it says the same."""
    if math.isnan(ratio):
        return ""

    def place(value: float) -> float:
        inside = min(max(value, 1 / _WIDEST), _WIDEST)
        return round(70 * (1 + math.log(inside, _WIDEST)), 1)

    low, high, end = place(tau), place(1 / tau), place(ratio)
    kind = "inside" if tau * (1 - 1e-9) <= ratio <= (1 + 1e-9) / tau else "outside"
    left, width = min(end, 70), max(abs(end - 70), 1.5)
    return (
        '<svg viewBox="0 0 140 16" aria-hidden="true" focusable="false">'
        f'<rect class="band" x="{low}" y="0" width="{high - low:.1f}" height="16"/>'
        f'<rect class="{kind}" x="{left}" y="4" width="{width:.1f}" height="8"/>'
        '<line class="one" x1="70" y1="0" x2="70" y2="16"/></svg>'
    )


def _single_values(metrics: pd.DataFrame) -> str:
    rows = []
    for row in metrics.to_dict("records"):
        item = get_metric(row["metric"])
        rows.append(
            _head(item.title)
            + _cell(f"<code>{_text(item.name)}</code>", "text")
            + _cell(number(row["value"], 4))
            + _cell("" if item.ideal is None else f"{item.ideal:g}")
        )
    return (
        _table("One value for all groups", ["metric", "name", "value", "ideal"], rows, ("name",))
        if rows
        else ""
    )


def _matrix(metrics: pd.DataFrame, groups: Sequence[str], judged: set[str], shown: set[str]) -> str:
    """Return a table of the metrics that have a value for each group and are not shown above."""
    above = shown | judged | {f"{metric}_disparity" for metric in judged}
    own = metrics[(metrics["group"] != "") & ~metrics["metric"].isin(above)]
    values = own.set_index(["metric", "group"])["value"].to_dict()
    rows = [
        _head(get_metric(metric).title)
        + "".join(_cell(number(values.get((metric, group), math.nan))) for group in groups)
        for metric in dict.fromkeys(own["metric"])
    ]
    return _table("More of each group", ["metric", *groups], rows) if rows else ""


def _undefined(result: AuditResult) -> str:
    rows = [
        f'<th scope="row">{_text(reason)}</th>'
        + _cell(_text(", ".join(attributes)), "text wrap")
        + _cell(", ".join(f"<code>{_text(metric)}</code>" for metric in metrics), "text wrap")
        for reason, (attributes, metrics) in undefined(result.metrics).items()
    ]
    return (
        _table(
            "What has no value, and why", ["reason", "attribute", "metrics"], rows, ("attribute", "metrics")
        )
        if rows
        else ""
    )


def _glossary(result: AuditResult) -> str:
    entries = []
    for name in sorted(set(result.metrics["metric"])):
        item = get_metric(name)
        low, high = (number(limit, 3).removesuffix(".000") for limit in item.range)
        ideal = "a description, no ideal" if item.ideal is None else f"ideal {item.ideal:g}"
        note = f" {_text(item.note)}" if item.note else ""
        entries.append(
            f"<dt>{_text(item.title)} <code>{_text(name)}</code></dt>"
            f"<dd>{_text(item.formula)}; from {low} to {high}, {ideal}; {_text(COMPARISONS[item.compare])}."
            f'{note} <span class="soft">{_text(item.source)}.</span></dd>'
        )
    return (
        "<p>y+ is the favorable label, ŷ+ the favorable prediction, s the score, g the group in question, ḡ "
        f"those that it is compared with.</p><dl>{''.join(entries)}</dl>"
    )
