"""The techniques that others in a run are compared with."""

from __future__ import annotations

import pandas as pd

from benchmark.columns import UNTREATED
from benchmark.errors import ReportError
from benchmark.runs.manifest import Manifest
from benchmark.statistics.cells import Baselines, require_known


def baselines_of(run: Manifest, results: pd.DataFrame, baseline: str | None) -> Baselines:
    """Return the baselines of techniques, on each dataset that has results or failures.

    ``run`` declares each dataset's baseline, and ``results`` are its values. ``baseline`` takes the place of
    the declared one wherever it was run. Then clean models are still those of doing nothing,
    or of the declared baseline if that was not run. An UnknownNameError says that the results have no
    technique of that name; a ReportError that a dataset's declared baseline was not run.
    """
    if baseline is not None:
        require_known("technique", [baseline], results["technique"])
    declared_by_run = run.baselines(results).by
    used: dict[tuple[str, str], str] = {}
    untreated: dict[tuple[str, str], str] = {}
    for key, rows in results.groupby(["dataset", "classifier"], sort=False):
        dataset, classifier = map(str, key)
        techniques, declared = rows["technique"].unique(), declared_by_run[dataset, classifier]
        name = baseline if baseline is not None and baseline in techniques else declared
        if name not in techniques:
            raise ReportError(
                f"The baseline {name!r} of {dataset} was not run with {classifier}",
                expected="one of " + ", ".join(techniques),
                got=repr(name),
                remedy="name one of these with --baseline, or run the experiment with the baseline as well",
            )
        used[dataset, classifier] = name
        clean = name
        if name not in (declared, UNTREATED):
            clean = UNTREATED if UNTREATED in techniques else declared
        untreated[dataset, classifier] = clean
    return Baselines(used, untreated, run.learners)
