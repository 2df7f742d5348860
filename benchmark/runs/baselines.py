"""What the techniques of a run are compared with."""

from __future__ import annotations

import pandas as pd

from benchmark.errors import ReportError, UnknownNameError
from benchmark.runs.manifest import Manifest
from benchmark.statistics.cells import Baseline, Baselines, baseline_of


def baselines_of(run: Manifest, results: pd.DataFrame, baseline: str | None) -> Baselines:
    """Return what techniques are compared with on each dataset that has results or failures.

    Parameters
    ----------
    run : Manifest
        Which technique it declares to be each dataset's baseline.
    results : DataFrame
        Its values.
    baseline : str or None
        Technique to use instead, for all datasets on which it was run.

    Raises
    ------
    UnknownNameError
        If the results have no technique of that name.
    ReportError
        If a dataset's declared baseline was not run.
    """
    if baseline is not None:
        known = results["technique"].unique()
        if baseline not in known:
            raise UnknownNameError("technique", baseline, known)
    declared = run.baselines(results)
    found: dict[tuple[str, str], Baseline] = {}
    # Of one dataset, techniques and baseline differ only where some bring learners of their own.
    for rows, own in declared.parts(results):
        for dataset, part in results[rows].groupby("dataset", sort=False):
            techniques = part["technique"].unique()
            used = baseline if baseline is not None and baseline in techniques else own
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
            found |= {(str(dataset), classifier): used for classifier in part["classifier"].unique()}
    return Baselines({place: found[place] for place in declared.by})
