"""``betabench check``: whether techniques, kinds of bias and metrics keep the rules, and what a fit costs."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_FAILED, EXIT_OK, command
from benchmark.errors import TechniqueError


def add(commands: Any) -> None:
    """Add the command."""
    option = command(
        commands,
        "check",
        _check,
        "check that techniques, kinds of bias and metrics keep the rules of the benchmark, and measure a fit",
        "betabench check my_technique.py",
    )
    option(
        "targets FILE|NAME",
        "Python file that registers techniques, kinds of bias or metrics, or a registered name",
        nargs="*",
    )
    option("--all", "all techniques and kinds of bias that are registered")
    option(
        "--parameters KEY=VALUE",
        "parameters of the techniques; those left out take their defaults",
        nargs="+",
        default=[],
    )
    option("--classifier NAME|PATH", "what they train; default: c45", default="c45")
    option(
        "--time-limit SECONDS",
        "for the checks of one technique, and for the fit; default: 300",
        type=float,
        default=300.0,
    )
    option(
        "--memory-limit MIB",
        "of the process that does it (Linux only); default: 4096",
        type=float,
        default=4096.0,
    )
    option("--json", "machine-readable")


def _check(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.bias import list_bias_kinds
    from benchmark.classifiers import make_classifier
    from benchmark.experiment.examine import VERDICTS, Examiner, examine, registered_in
    from benchmark.experiment.pool import Limits
    from benchmark.metrics import list_metrics
    from benchmark.registry import load_plugin
    from benchmark.report.examination import named, print_examination
    from benchmark.techniques import get_technique, list_techniques
    from benchmark.text.terminal import say

    files = tuple(str(Path(target).resolve()) for target in options.targets if target.endswith(".py"))
    names = [target for target in options.targets if not target.endswith(".py")]
    with contextlib.redirect_stdout(sys.stderr):  # what a file prints is no part of the report
        for file in files:
            # A file of the package is registered already, and loaded again it would claim its names twice.
            loaded = () if registered_in(Path(file)) else load_plugin(file)
            names += registered_in(Path(file)) or [
                name for kind in ("technique", "bias kind", "metric") for name in dict(loaded).get(kind, ())
            ]
    plugins = tuple(file for file in files if not registered_in(Path(file)))
    kinds, metrics = list_bias_kinds(), list_metrics()
    if options.all:
        names += [*list_techniques(), *kinds]
    if not names:
        raise TechniqueError(
            "There is nothing to check",
            expected="a Python file that registers techniques, kinds of bias or metrics, a name, or --all",
            got=f"{', '.join(files)}, without any" if files else "no target before the options",
            remedy="'betabench list techniques' shows the registered names; files and names come first",
        )
    for limit in ("time_limit", "memory_limit"):
        if not getattr(options, limit) > 0:  # NaN included
            raise TechniqueError(
                f"The {limit.replace('_', ' ')} is out of range",
                expected="a number above 0",
                got=str(getattr(options, limit)),
            )
    parameters = dict(map(_parameter, options.parameters))
    make_classifier(options.classifier)
    # A technique may be called as a kind of bias or a metric is; then all are meant.
    names = list(dict.fromkeys(names))
    wanted = [name for name in names if not (name in kinds or name in metrics) or name in list_techniques()]
    for name in wanted:
        get_technique(name, **parameters)
    examiner = Examiner(options.classifier, parameters, plugins)
    limits = Limits(options.time_limit, options.memory_limit)
    console, reports = Console(emoji=False), []
    examined = [
        *(("technique", name) for name in wanted),
        *(("bias kind", name) for name in names if name in kinds),
        *(("metric", name) for name in names if name in metrics),
    ]
    for kind, name in examined:
        reports.append(examine(kind, name, examiner, limits))
        if not options.json:
            print_examination(console, reports[-1])
    if options.json:
        print(json.dumps(reports, indent=2, ensure_ascii=False))
    else:
        for verdict in VERDICTS.values():
            names = [named(report) for report in reports if report["verdict"] == verdict]
            if names:
                say(console, f"{verdict}: {', '.join(names)}", "bold")
    # A technique that declines everything has shown nothing.
    return EXIT_OK if all(r["verdict"] == VERDICTS["passed"] for r in reports) else EXIT_FAILED


def _parameter(text: str) -> tuple[str, bool | int | float | str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise TechniqueError("A parameter is not understood", expected="KEY=VALUE", got=text)
    if value.lower() in ("true", "false"):
        return key, value.lower() == "true"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return key, kind(value)
    return key, value
