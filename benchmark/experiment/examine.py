"""The conformance checks of techniques, kinds of bias and metrics, and the cost of a fit."""

from __future__ import annotations

import contextlib
import functools
import inspect
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.bias import list_bias_kinds
from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.conformance import (
    CheckResult,
    check_bias,
    check_metric,
    check_technique,
    described,
    example_of,
    example_table,
)
from benchmark.experiment.pool import Failure, Limits, Task, run_tasks
from benchmark.metrics import get_metric, list_metrics
from benchmark.registry import load_plugin
from benchmark.techniques import Technique, Tools, get_technique, list_techniques

VERDICTS = {"failed": "breaks rules", "passed": "keeps the rules", "not applicable": "could not be checked"}
"""What is said of a technique, by the worst status that one of its checks has."""

_ROWS, _COLUMNS = 50_000, 12
_BIAS_CHECKS, _METRIC_CHECKS = "bias checks", "metric checks"


@dataclass(frozen=True)
class Fit:
    """How a fit on a made-up table of usual size went."""

    status: str
    detail: str = ""
    seconds: float | None = None
    memory: float | None = None  # MiB beyond what the process held before, if the system says so


@dataclass(frozen=True)
class Examiner:
    """Checks a technique and fits it, or a kind of bias, or a metric, in a process of :func:`run_tasks`."""

    classifier: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()

    def __call__(self, block: str, cells: tuple[str, ...]) -> Iterator[list[CheckResult] | Fit]:
        """Yield the checks and the fit of the technique of this name, as the cells ask for them."""
        for plugin in self.plugins:
            load_plugin(plugin)
        if cells == (_BIAS_CHECKS,):
            yield check_bias(example_of(list_bias_kinds()[block]))
            return
        if cells == (_METRIC_CHECKS,):
            yield check_metric(get_metric(block))
            return
        technique, factory = get_technique(block, **self.parameters), make_classifier(self.classifier)

        def build(cardinalities: Any) -> Any:
            return factory.build(cardinalities, 0)

        for cell in cells:
            if cell == "checks":
                yield check_technique(technique, classifier=build, ranker=naive_bayes_ranker)
            else:
                yield _measured(technique, Tools(build, naive_bayes_ranker, np.random.default_rng(0)))


def registered_in(file: Path) -> list[str]:
    """Return the names of techniques, kinds of bias and metrics that a file of this package registers."""
    found = {
        **{name: inspect.unwrap(own.compute) for name, own in list_metrics().items()},
        **list_techniques(),
        **list_bias_kinds(),
    }
    return [
        name
        for name, item in found.items()
        if item.__module__.partition(".")[0] == "benchmark" and Path(inspect.getfile(item)) == file
    ]


def examine(technique: Technique, examiner: Examiner, limits: Limits) -> dict[str, Any]:
    """Check a technique and measure a fit of it in a new process, so that it harms nothing but its report.

    Returns ``technique``, ``parameters``, ``classifier``, ``verdict`` (of :data:`VERDICTS`), ``checks`` and
    ``fit``, as plain values; the limits are those of the checks, and those of the fit.
    """
    task = Task(technique.name, ("checks", "fit"))
    batches = run_tasks([task], functools.partial(replace, examiner), n_workers=1, limits=limits)
    checks, fit = (finished.result for batch in batches for finished in batch)
    if isinstance(checks, Failure):
        checks = [CheckResult("the checks come to an end", "failed", checks.reason)]
    if isinstance(fit, Failure):
        fit = Fit("failed", fit.reason)
    statuses = {result.status for result in checks} | {fit.status}
    return {
        "technique": technique.name,
        "parameters": technique.parameters,
        "classifier": examiner.classifier,
        "verdict": next(verdict for status, verdict in VERDICTS.items() if status in statuses),
        "checks": [asdict(result) for result in checks],
        "fit": {"rows": _ROWS, "columns": _COLUMNS, **asdict(fit)},
    }


def examine_bias_kind(name: str, examiner: Examiner, limits: Limits) -> dict[str, Any]:
    """Check a kind of bias in a new process; return ``bias_kind``, ``verdict`` and ``checks``."""
    return {"bias_kind": name, **_checked(name, _BIAS_CHECKS, examiner, limits)}


def examine_metric(name: str, examiner: Examiner, limits: Limits) -> dict[str, Any]:
    """Check a metric in a new process; return ``metric``, ``verdict`` and ``checks``."""
    return {"metric": name, **_checked(name, _METRIC_CHECKS, examiner, limits)}


def _checked(name: str, which: str, examiner: Examiner, limits: Limits) -> dict[str, Any]:
    batches = run_tasks(
        [Task(name, (which,))], functools.partial(replace, examiner), n_workers=1, limits=limits
    )
    (checks,) = (finished.result for batch in batches for finished in batch)
    if isinstance(checks, Failure):
        checks = [CheckResult("the checks come to an end", "failed", checks.reason)]
    failed = any(result.status == "failed" for result in checks)
    return {
        "verdict": VERDICTS["failed" if failed else "passed"],
        "checks": [asdict(result) for result in checks],
    }


def _measured(technique: Technique, tools: Tools) -> Fit:
    table = example_table(_ROWS, extra_columns=_COLUMNS - 5)
    try:
        reason = technique.skip(table)
        if reason is not None:
            return Fit("not applicable", f"it declines: {reason}")
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak begins anew
        before, started = _peak_memory(), time.perf_counter()
        technique.fit(table, tools)
        seconds, after = time.perf_counter() - started, _peak_memory()
    except BaseException as error:  # a technique under test may do anything
        return Fit("failed", described(error))
    return Fit("passed", "", seconds, None if before is None or after is None else after - before)


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
