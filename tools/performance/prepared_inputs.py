"""What the parts are measured on: the datasets, networks and planted bias of the paper's experiment."""

from __future__ import annotations

import functools

from benchmark.data.source import Sources
from benchmark.data.table import Table
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.plan import Experiment, load_experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedDataset, PreparedExperiment
from benchmark.network.model import sample
from benchmark.seeding import generator

__all__ = ["DATASETS", "TECHNIQUES", "biased_sample", "datasets", "experiment", "prepared"]

DATASETS = ("adult", "compas_leaky", "dutch")
TECHNIQUES = (
    "none",
    "drop_sensitive",
    "massaging",
    "reweighing",
    "uniform_sampling",
    "preferential_sampling",
    "repair_0.25",
    "repair_0.50",
    "repair_0.75",
)
"""All of the paper's but Zafar's classifiers, whose optimiser takes most of its experiment's time."""

_QUICK_ROWS = 1000
_SEED = 2019


def experiment(quick: bool) -> Experiment:
    """Return the paper's experiment without Zafar's techniques: 4,050 cells; or its smallest dataset only."""
    datasets = DATASETS[1:2] if quick else DATASETS
    paper = narrow(load_experiment("paper"), datasets=datasets, techniques=TECHNIQUES)
    return paper.model_copy(update={"train_rows": _QUICK_ROWS}) if quick else paper


@functools.cache
def prepared(quick: bool) -> PreparedExperiment:
    """Return data and networks; the embedded networks' samples stand in where real data are not at hand."""
    return prepare_experiment(expand(experiment(quick)), Sources(offline=True))


def datasets(quick: bool) -> dict[str, PreparedDataset]:
    """Return the datasets by name."""
    return dict(prepared(quick).datasets)


@functools.cache
def biased_sample(name: str, quick: bool) -> Table:
    """Return a training sample with half of the bias planted, which every part measures on."""
    data = prepared(quick).datasets[name]
    (bias,) = data.biases
    network = data.planted(bias, 0.5).network
    return sample(network, data.n_train, generator(_SEED, purpose="speed", dataset=name))
