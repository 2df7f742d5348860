"""``betabench check``: whether techniques keep the rules, and what a fit costs."""

from __future__ import annotations

import argparse
import contextlib
import functools
import inspect
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.cli.common import EXIT_FAILED, EXIT_OK, command
from benchmark.errors import TechniqueError

if TYPE_CHECKING:
    from rich.console import Console

    from benchmark.conformance import CheckResult
    from benchmark.experiment.pool import Limits
    from benchmark.techniques import Tools

__all__ = ["add"]

_ROWS, _COLUMNS = 50_000, 12

# What is said of a technique, by the weightiest status that one of its checks has.
_VERDICTS = {"failed": "breaks rules", "passed": "keeps the rules", "not applicable": "could not be checked"}


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "check",
        _check,
        "check that techniques keep the rules of the benchmark, and measure a fit",
        "betabench check my_technique.py",
    )
    option = parser.add_argument
    option(
        "targets",
        nargs="*",
        metavar="FILE|NAME",
        help="Python file that registers techniques, or a registered name",
    )
    option("--all", action="store_true", help="everything that is registered")
    option(
        "--parameters",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="parameters of the techniques; those left out take their defaults",
    )
    option("--classifier", default="c45", metavar="NAME|PATH", help="what they train; default: c45")
    option(
        "--time-limit",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="for the checks of one technique, and for the fit; default: 300",
    )
    option(
        "--memory-limit",
        type=float,
        default=4096.0,
        metavar="MIB",
        help="of the process that does it (Linux only); default: 4096",
    )
    option("--json", action="store_true", help="machine-readable")


@dataclass(frozen=True)
class _Fit:
    """How a fit on a made-up table of usual size went.

    ``memory`` is what the process held at its peak beyond what it held before, in MiB; None where the system
    does not say.
    """

    status: str
    detail: str = ""
    seconds: float | None = None
    memory: float | None = None


@dataclass(frozen=True)
class _Examiner:
    """Runs in a process of its own, which a technique may take down; see :func:`run_tasks`."""

    parameters: dict[str, Any]
    classifier: str
    plugins: tuple[str, ...]

    def __call__(self, block: str, cells: tuple[str, ...]) -> Iterator[list[CheckResult] | _Fit]:
        import numpy as np

        from benchmark.classifiers import make_classifier, naive_bayes_ranker
        from benchmark.conformance import check_technique
        from benchmark.techniques import Tools, get_technique, load_plugin

        for plugin in self.plugins:
            load_plugin(plugin)
        technique, factory = get_technique(block, **self.parameters), make_classifier(self.classifier)

        def build(cardinalities: Any) -> Any:
            return factory.build(cardinalities, 0)

        for cell in cells:
            if cell == "checks":
                yield check_technique(technique, classifier=build, ranker=naive_bayes_ranker)
            else:
                yield _measured(technique, Tools(build, naive_bayes_ranker, np.random.default_rng(0)))


def _check(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.classifiers import make_classifier
    from benchmark.experiment.pool import Limits
    from benchmark.techniques import get_technique, list_techniques, load_plugin

    files = tuple(str(Path(target).resolve()) for target in options.targets if target.endswith(".py"))
    names = [target for target in options.targets if not target.endswith(".py")]
    with contextlib.redirect_stdout(sys.stderr):  # what a file prints is no part of the report
        for file in files:
            # A file of the package is registered already, and loaded again it would claim its names twice.
            names += _built_in(Path(file)) or load_plugin(file)
    plugins = tuple(file for file in files if not _built_in(Path(file)))
    if options.all:
        names += list_techniques()
    if not names:
        raise TechniqueError(
            "There is nothing to check",
            expected="a Python file that registers techniques, the name of one, or --all",
            got=f"{', '.join(files)}, without a technique" if files else "no target before the options",
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
    techniques = [get_technique(name, **parameters) for name in dict.fromkeys(names)]
    examine = functools.partial(
        _examine,
        make_examiner=functools.partial(_Examiner, parameters, options.classifier, plugins),
        limits=Limits(options.time_limit, options.memory_limit),
    )
    console, reports = Console(), []
    for technique in techniques:
        checks, fit = examine(technique.name)
        statuses = {result.status for result in checks} | {fit.status}
        reports.append(
            {
                "technique": technique.name,
                "parameters": technique.parameters,
                "classifier": options.classifier,
                "verdict": next(v for status, v in _VERDICTS.items() if status in statuses),
                "checks": [asdict(result) for result in checks],
                "fit": {"rows": _ROWS, "columns": _COLUMNS, **asdict(fit)},
            }
        )
        if not options.json:
            _print(console, reports[-1])
    if options.json:
        print(json.dumps(reports, indent=2, ensure_ascii=False))
    else:
        for verdict in _VERDICTS.values():
            names = [report["technique"] for report in reports if report["verdict"] == verdict]
            if names:
                _say(console, f"{verdict}: {', '.join(names)}", "bold")
    # A technique that declines everything has shown nothing.
    return EXIT_OK if all(r["verdict"] == _VERDICTS["passed"] for r in reports) else EXIT_FAILED


def _built_in(file: Path) -> list[str]:
    """Return the names of the techniques that a file of this package registers; none of another file."""
    from benchmark.techniques import list_techniques

    return [
        name
        for name, technique in list_techniques().items()
        if technique.__module__.partition(".")[0] == "benchmark" and Path(inspect.getfile(technique)) == file
    ]


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


def _examine(
    name: str, *, make_examiner: Callable[[], _Examiner], limits: Limits
) -> tuple[list[CheckResult], _Fit]:
    """Run the checks and the fit in a new process, so that a technique harms nothing but its report."""
    from benchmark.conformance import CheckResult
    from benchmark.experiment.pool import Failure, Task, run_tasks

    batches = run_tasks(
        [Task(name, ("checks", "fit"))],
        make_examiner,
        n_workers=1,
        limits=limits,
    )
    checks, fit = (finished.result for batch in batches for finished in batch)
    if isinstance(checks, Failure):
        checks = [CheckResult("the checks come to an end", "failed", checks.reason)]
    if isinstance(fit, Failure):
        fit = _Fit("failed", fit.reason)
    return checks, fit


def _measured(technique: Any, tools: Tools) -> _Fit:
    from benchmark.conformance import described, example_table

    table = example_table(_ROWS, extra_columns=_COLUMNS - 5)
    try:
        reason = technique.skip(table)
        if reason is not None:
            return _Fit("not applicable", f"it declines: {reason}")
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak begins anew
        before, started = _peak_memory(), time.perf_counter()
        technique.fit(table, tools)
        seconds, after = time.perf_counter() - started, _peak_memory()
    except BaseException as error:  # a technique under test may do anything
        return _Fit("failed", described(error))
    return _Fit("passed", "", seconds, None if before is None or after is None else after - before)


def _peak_memory() -> float | None:
    """Return the largest resident memory of this process so far, in MiB."""
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 2**10
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _print(console: Console, report: dict[str, Any]) -> None:
    given = ", ".join(f"{name}={value}" for name, value in report["parameters"].items())
    _say(console, f"{report['technique']} ({given})" if given else report["technique"], "bold")
    for result in report["checks"]:
        _print_result(console, result["check"], result["status"], result["detail"])
    fit = report["fit"]
    what = f"fit on {fit['rows']:,} rows × {fit['columns']} columns"
    if fit["seconds"] is not None:
        what += f": {fit['seconds']:.2f} s"
        if fit["memory"] is not None:
            what += f", at its peak {fit['memory']:.0f} MiB of resident memory more than before"
    _print_result(console, what, fit["status"], fit["detail"])


def _print_result(console: Console, what: str, status: str, detail: str) -> None:
    if status == "failed":
        _say(console, f"  FAILED          {what}", "bold red")
        _print_lines(console, detail)
    elif status == "warning":
        _say(console, f"  warning         {what}", "yellow")
        _print_lines(console, detail)
    elif status == "not applicable":
        _say(console, f"  not applicable  {what}: {detail}", "dim")
    else:
        _say(console, f"  passed          {what}")


def _print_lines(console: Console, detail: str) -> None:
    for line in re.split(r" (?=Expected: |Got: |What to do: )|\n", detail):
        _say(console, f"                  {line}")


def _say(console: Console, line: str, style: str = "") -> None:
    console.print(line, style=style, highlight=False, markup=False, soft_wrap=True)
