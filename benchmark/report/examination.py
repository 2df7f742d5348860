"""The results of an examination of a technique, a kind of bias or a metric, in the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from benchmark.text.terminal import say

_LABELS = {
    "failed": ("FAILED", "bold red"),
    "warning": ("warning", "yellow"),
    "not applicable": ("not applicable", "dim"),
}


def print_examination(console: Console, report: Mapping[str, Any]) -> None:
    """Print the results of :mod:`benchmark.experiment.examine`."""
    given = ", ".join(f"{name}={value}" for name, value in report.get("parameters", {}).items())
    say(console, f"{named(report)} ({given})" if given else named(report), "bold")
    for result in report["checks"]:
        _print_result(console, result["check"], result["status"], result["detail"])
    fit = report.get("fit")
    if fit is None:
        return
    title = f"fit on {fit['rows']:,} rows × {fit['columns']} columns"
    if fit["seconds"] is not None:
        title += f": {fit['seconds']:.2f} s"
        if fit["memory"] is not None:
            title += f", at its peak {fit['memory']:.0f} MiB of resident memory more than before"
    _print_result(console, title, fit["status"], fit["detail"])


def named(report: Mapping[str, Any]) -> str:
    """Return the name of the examined technique, kind or metric."""
    if "technique" in report:
        return str(report["technique"])
    return f"metric {report['metric']}" if "metric" in report else f"bias kind {report['bias_kind']}"


def _print_result(console: Console, title: str, status: str, detail: str) -> None:
    label, style = _LABELS.get(status, ("passed", ""))
    say(console, f"  {label:<16}{f'{title}: {detail}' if status == 'not applicable' else title}", style)
    if status in ("failed", "warning"):
        for line in re.split(r" (?=Expected: |Got: |What to do: )|\n", detail):
            say(console, " " * 18 + line)
