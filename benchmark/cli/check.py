"""``betabench check``: the rules that techniques, kinds of bias and metrics keep, and the costs of a fit."""

import argparse
import contextlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_FAILED, EXIT_OK, Options
from benchmark.declarations import value_of
from benchmark.errors import TechniqueError

HELP = "check that techniques, kinds of bias and metrics keep the benchmark's rules, and measure a fit"
EXAMPLE = "betabench check my_technique.py"


def add_options(option: Options) -> None:
    targets = "Python file that registers techniques, kinds of bias or metrics, or a registered name"
    option("targets FILE|NAME", targets, nargs="*")
    option("--all", "all registered techniques and kinds of bias")
    parameters = "parameters of the techniques; all others have their defaults"
    option("--parameters KEY=VALUE", parameters, nargs="+", default=[])
    option("--classifier NAME|PATH", "classifier that techniques train; default: c45", default="c45")
    time_limit = "limit for the checks of one technique, and for the fit; default: 300"
    option("--time-limit SECONDS", time_limit, type=float, default=300.0)
    memory_limit = "memory limit of the checking process (Linux only); default: 4096"
    option("--memory-limit MIB", memory_limit, type=float, default=4096.0)
    option("--json", "machine-readable")


def execute(options: argparse.Namespace) -> int:
    from benchmark.bias import list_bias_kinds
    from benchmark.classifiers import make_classifier
    from benchmark.conformance.examine import VERDICTS, Examiner, examine, registered_in
    from benchmark.experiment.pool import Limits
    from benchmark.metrics import list_metrics
    from benchmark.registry import load_plugin
    from benchmark.techniques import get_technique, list_techniques
    from benchmark.text.terminal import output_console, print_markdown, say
    from benchmark.wording import render_values

    files = tuple(str(Path(target).resolve()) for target in options.targets if target.endswith(".py"))
    names = [target for target in options.targets if not target.endswith(".py")]
    # The package's own files are registered already; loaded again, they would claim their names twice.
    plugins = tuple(file for file in files if not registered_in(Path(file)))
    with contextlib.redirect_stdout(sys.stderr):  # the report does not include what a plugin prints
        for file in files:
            if file in plugins:
                loaded = load_plugin(file)
                names += [n for kind in ("technique", "bias kind", "metric") for n in loaded.get(kind, ())]
            else:
                names += registered_in(Path(file))
    kinds, metrics, techniques = list_bias_kinds(), list_metrics(), list_techniques()
    if options.all:
        names += [*techniques, *kinds]
    if not names:
        raise TechniqueError(
            "There is nothing to check",
            expected="a name, --all, or a Python file that registers techniques, kinds of bias or metrics",
            got=f"{', '.join(files)}, which registers none" if files else "no target before the options",
            remedy="'betabench list techniques' shows registered names; targets come before the options",
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
    # A name can stand for a technique, a kind of bias and a metric: then all of them are checked.
    names = list(dict.fromkeys(names))
    targets = [("technique", name) for name in names if name in techniques or name not in {*kinds, *metrics}]
    for _, name in targets:
        get_technique(name, **parameters)
    targets += [("bias kind", name) for name in names if name in kinds]
    targets += [("metric", name) for name in names if name in metrics]
    examiner = Examiner(options.classifier, parameters, plugins)
    limits = Limits(options.time_limit, options.memory_limit)
    console, reports = output_console(), []
    for kind, name in targets:
        reports.append(examine(kind, name, examiner, limits))
        if not options.json:
            print_markdown(console, render_values("check", report=reports[-1], name=_named(reports[-1])))
    if options.json:
        print(json.dumps(reports, indent=2, ensure_ascii=False))
    else:
        for verdict in VERDICTS.values():
            if names := [_named(report) for report in reports if report["verdict"] == verdict]:
                say(console, f"{verdict}: {', '.join(names)}", "bold")
    # A technique that declines every table has not passed.
    return EXIT_OK if all(r["verdict"] == VERDICTS["passed"] for r in reports) else EXIT_FAILED


def _named(report: Mapping[str, Any]) -> str:
    """Return the name of the examined technique, kind of bias or metric."""
    if "technique" in report:
        return str(report["technique"])
    return f"metric {report['metric']}" if "metric" in report else f"bias kind {report['bias_kind']}"


def _parameter(text: str) -> tuple[str, bool | int | float | str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise TechniqueError("A parameter is not understood", expected="KEY=VALUE", got=text)
    return key, value_of(value)
