"""The conformance checks of techniques, kinds of bias and metrics, and the cost of a fit."""

import contextlib
import functools
import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark import conformance
from benchmark.bias import list_bias_kinds
from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.experiment.pool import Failure, Limits, Pool, Task
from benchmark.metrics import get_metric, list_metrics
from benchmark.registry import load_plugin
from benchmark.techniques import Estimator, Technique, Tools, get_technique, list_techniques

VERDICTS = {"failed": "breaks rules", "passed": "keeps the rules", "not applicable": "could not be checked"}
"""Verdicts, by the worst status of the checks."""

_ROWS, _COLUMNS = 50_000, 12


@dataclass(frozen=True)
class Fit:
    """The outcome of a fit on a made-up table of usual size."""

    status: str
    detail: str = ""
    seconds: float | None = None
    memory: float | None = None  # MiB beyond the process's earlier peak, if the system tells


@dataclass(frozen=True)
class Examiner:
    """A task of a pool that checks a technique and fits it, or checks a bias kind or a metric."""

    classifier: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()

    def __call__(self, block: str, cells: tuple[str, ...]) -> Iterator[list[conformance.CheckResult] | Fit]:
        """Yield the checks of the item named ``block``, and the fit; ``cells`` has its kind, and the fit."""
        for plugin in self.plugins:
            load_plugin(plugin)
        if "bias kind" in cells:
            yield conformance.check_bias(conformance.example_of(list_bias_kinds()[block]))
        elif "metric" in cells:
            yield conformance.check_metric(get_metric(block))
        else:
            technique, factory = get_technique(block, **self.parameters), make_classifier(self.classifier)
            build = functools.partial(factory.build, seed=0)
            for cell in cells:
                if cell == "technique":
                    yield conformance.check_technique(technique, classifier=build)
                else:
                    yield _measured(technique, build)


def registered_in(file: Path) -> list[str]:
    """Return the names of techniques, kinds of bias and metrics that a file of this package registers."""
    registered = {
        **{name: inspect.unwrap(metric.compute) for name, metric in list_metrics().items()},
        **list_techniques(),
        **list_bias_kinds(),
    }
    return [
        name
        for name, item in registered.items()
        if item.__module__.partition(".")[0] == "benchmark" and Path(inspect.getfile(item)) == file
    ]


def examine(kind: str, name: str, examiner: Examiner, limits: Limits) -> dict[str, Any]:
    """Return the report of a technique, bias kind or metric that is checked in a new process.

    It has the name, by kind, ``verdict`` (of :data:`VERDICTS`) and ``checks`` as plain values; for techniques
    also ``parameters``, ``classifier`` and ``fit``. The limits hold for the checks, and again for the fit.
    """
    fitted = kind == "technique"
    task = Task(name, (kind, "fit") if fitted else (kind,))
    with Pool(1) as pool:
        batches = pool.run([task], functools.partial(replace, examiner), limits)
        checks, *fits = (finished.result for batch in batches for finished in batch)
    if isinstance(checks, Failure):
        checks = [conformance.CheckResult("the checks come to an end", "failed", checks.reason)]
    fits = [Fit("failed", fit.reason) if isinstance(fit, Failure) else fit for fit in fits]
    statuses = {result.status for result in (*checks, *fits)}
    report: dict[str, Any] = {
        kind.replace(" ", "_"): name,
        "verdict": next(verdict for status, verdict in VERDICTS.items() if status in statuses),
        "checks": [asdict(result) for result in checks],
    }
    if fitted:
        report["parameters"] = get_technique(name, **examiner.parameters).parameters
        report["classifier"] = examiner.classifier
        report["fit"] = {"rows": _ROWS, "columns": _COLUMNS, **asdict(fits[0])}
    return report


def _measured(technique: Technique, build: Callable[[NDArray[np.int64]], Estimator]) -> Fit:
    table = conformance.example_table(_ROWS, extra_columns=_COLUMNS - 5)
    known = conformance.facts_of(table).only(technique.knows)
    tools = Tools(build, naive_bayes_ranker, np.random.default_rng(0), known=known)
    try:
        if (reason := technique.skip(table)) is not None:
            return Fit("not applicable", f"it declines: {reason}")
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak begins anew
        before, started = _peak_memory(), time.perf_counter()
        technique.fit(table, tools)
        seconds, after = time.perf_counter() - started, _peak_memory()
    except BaseException as error:  # a technique under test may do anything
        return Fit("failed", conformance.described(error))
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
