"""betabench: which fairness technique survives which amount of planted bias.

In Python::

    import benchmark

    made = benchmark.run("smoke", workers=2)
    made.compare()

The names below are all that a notebook or a plugin needs. CONTRIBUTING.md says which folder holds what.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from benchmark.api import Run, open_run, run, sample
    from benchmark.data import Table
    from benchmark.data.load import load_dataset
    from benchmark.experiment.plan import Experiment, load_experiment
    from benchmark.techniques import (
        PostProcessing,
        Predictor,
        Prepared,
        PreProcessing,
        Technique,
        Tools,
        list_techniques,
        register,
    )

# A name is imported when it is first used, so that the command line and plugins load no more than they need.
_HOMES = {
    "benchmark.api": ("Run", "open_run", "run", "sample"),
    "benchmark.data": ("Table",),
    "benchmark.data.load": ("load_dataset",),
    "benchmark.experiment.plan": ("Experiment", "load_experiment"),
    "benchmark.techniques": (
        *("PostProcessing", "PreProcessing", "Predictor", "Prepared", "Technique", "Tools"),
        *("list_techniques", "register"),
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Experiment",
    "PostProcessing",
    "PreProcessing",
    "Predictor",
    "Prepared",
    "Run",
    "Table",
    "Technique",
    "Tools",
    "list_techniques",
    "load_dataset",
    "load_experiment",
    "open_run",
    "register",
    "run",
    "sample",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
