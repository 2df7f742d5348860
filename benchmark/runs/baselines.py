"""The techniques that others in a run are compared with."""

from __future__ import annotations

import pandas as pd

from benchmark.columns import UNTREATED
from benchmark.errors import ReportError
from benchmark.runs.manifest import Manifest
from benchmark.statistics.cells import Baseline, Baselines, baseline_of, require_known


def baselines_of(run: Manifest, results: pd.DataFrame, baseline: str | None) -> Baselines:
    """Return the baselines of techniques, on each dataset that has results or failures.

    ``run`` declares each dataset's baseline, and ``results`` are its values. ``baseline`` takes the place of
    the declared one on all datasets on which it was run. Then clean models are still those of doing nothing,
    or of the declared baseline if that was not run. An UnknownNameError says that the results have no
    technique of that name; a ReportError that a dataset's declared baseline was not run.
    """
    if baseline is not None:
        require_known("technique", [baseline], results["technique"])
    declared = run.baselines(results)
    by_dataset_and_classifier: dict[tuple[str, str], Baseline] = {}
    untreated: dict[tuple[str, str], Baseline] = {}
    # Baselines of one dataset differ between techniques only if some bring learners of their own.
    for rows, declared_baseline in declared.parts(results):
        for dataset, part in results[rows].groupby("dataset", sort=False):
            techniques = part["technique"].unique()
            used = baseline if baseline is not None and baseline in techniques else declared_baseline
            names = [used] if isinstance(used, str) else baseline_of(used, pd.Series(techniques)).unique()
            for name in names:
                if name not in techniques:
                    raise ReportError(
                        f"The baseline {name!r} of {dataset} was not run",
                        expected="one of " + ", ".join(techniques),
                        got=repr(name),
                        remedy="name one of these with --baseline, or run the experiment with the baseline "
                        "as well",
                    )
            clean = used
            if used not in (declared_baseline, UNTREATED):  # asked for
                has_untreated = isinstance(declared_baseline, str) and UNTREATED in techniques
                clean = UNTREATED if has_untreated else declared_baseline
            for classifier in part["classifier"].unique():
                by_dataset_and_classifier[str(dataset), classifier] = used
                untreated[str(dataset), classifier] = clean
    return Baselines(
        *({key: by[key] for key in declared.by} for by in (by_dataset_and_classifier, untreated))
    )
