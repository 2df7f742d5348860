"""betabench: which fairness technique survives which amount of planted bias.

In Python::

    import benchmark

    run = benchmark.run("smoke", workers=2)
    run.compare()

A notebook or a plugin needs only the names below. CONTRIBUTING.md describes the folders.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmark.api import Run as Run
    from benchmark.api import open_run as open_run
    from benchmark.api import run as run
    from benchmark.api import sample as sample
    from benchmark.data import Table as Table
    from benchmark.data.load import load_dataset as load_dataset
    from benchmark.estimator.fair_classifier import FairClassifier as FairClassifier
    from benchmark.experiment.plan import Experiment as Experiment
    from benchmark.experiment.plan import load_experiment as load_experiment
    from benchmark.first_look import quick as quick
    from benchmark.recommending import recommend as recommend
    from benchmark.techniques import PostProcessing as PostProcessing
    from benchmark.techniques import Predictor as Predictor
    from benchmark.techniques import Prepared as Prepared
    from benchmark.techniques import PreProcessing as PreProcessing
    from benchmark.techniques import Technique as Technique
    from benchmark.techniques import Tools as Tools
    from benchmark.techniques import list_techniques as list_techniques
    from benchmark.techniques import register as register

    __version__: str

# Names are imported at their first use, so that the command line and plugins load no more than they need.
_HOMES = {
    "benchmark.api": ("Run", "open_run", "run", "sample"),
    "benchmark.data": ("Table",),
    "benchmark.data.load": ("load_dataset",),
    "benchmark.estimator.fair_classifier": ("FairClassifier",),
    "benchmark.experiment.plan": ("Experiment", "load_experiment"),
    "benchmark.first_look": ("quick",),
    "benchmark.recommending": ("recommend",),
    "benchmark.techniques": (
        *("PostProcessing", "PreProcessing", "Predictor", "Prepared", "Technique", "Tools"),
        *("list_techniques", "register"),
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("benchmark.release").VERSION
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
