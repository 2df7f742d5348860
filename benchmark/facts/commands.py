"""The commands that give the same numbers and files again."""

from __future__ import annotations

import shlex
from pathlib import PurePath

from benchmark.declarations import list_declarations
from benchmark.experiment.plan import load_experiment
from benchmark.runs.manifest import Manifest


def commands(run: Manifest) -> tuple[str, str]:
    """Return the command that computes the run again, and the command of its report."""
    plugins = [part for plugin in run.code.plugins for part in ("--plugin", PurePath(plugin).name)]
    shipped = run.name in list_declarations("experiments", variants=True)
    # In a folder of their own, the numbers meet no others.
    folder = f"{run.name}_again"
    computing = ["betabench", "run", "--experiment", run.name if shipped else f"{run.name}.toml"]
    if shipped:
        computing += _changed(run)
    embedded = [dataset.embedded for dataset in run.datasets]
    data = ["--offline"] if all(embedded) else [] if any(embedded) else ["--require-real-data"]
    return (
        shlex.join([*computing, *plugins, *data, "--output", folder]),
        shlex.join(["betabench", "report", folder, *plugins]),
    )


def _changed(run: Manifest) -> list[str]:
    """Return the options with which a run differs from the shipped experiment of its name."""
    shipped = load_experiment(run.name)
    techniques = [entry.name for entry in shipped.techniques]
    # The run itself adds tuned entries and the learners of techniques.
    kept = [name for name in run.titles if name in techniques]
    of_shipped = {entry.technique for entry in shipped.techniques}
    added = [t.technique for t in run.techniques if t.technique not in of_shipped]
    # Techniques of a plugin join the shipped ones by themselves.
    if kept != techniques or not run.code.plugins:
        kept += added
    chosen = {
        "--datasets": ([dataset.entry.name for dataset in run.datasets], [e.name for e in shipped.datasets]),
        "--techniques": (kept, techniques),
        "--betas": tuple([f"{beta:g}" for beta in one.betas] for one in (run.experiment, shipped)),
        "--doses": tuple([f"{dose:g}" for dose in one.doses] for one in (run.experiment, shipped)),
        "--repetitions": ([f"{run.repetitions}"], [f"{shipped.repetitions}"]),
        "--seed": ([f"{run.experiment.seed}"], [f"{shipped.seed}"]),
    }
    return [
        part
        for option, (values, defaults) in chosen.items()
        if values and values != defaults
        for part in (option, *values)
    ]
