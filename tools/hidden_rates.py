"""Hidden rates of label bias, by distance to the clean model's discrimination, as an earlier review measured.

``python -m tools.hidden_rates --measure`` computes the values (about ten minutes on two cores; it needs the
real data), and without ``--measure`` the page is written anew from the committed ones;
``tests/tools/test_hidden_rates.py`` holds it.

The review hid a *rate* of label bias in all rows, the same on every dataset, planted more on top, and ranked
techniques by how near their discrimination comes to that of the model before: |T - D_clean|. It says what it
found and not how: :data:`PLANTED`, :data:`DATASETS` and what is deployed in truth are our reading.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.bias.doses import Dose
from benchmark.columns import ORIGINAL, TRUTH, hidden_name, parted_name
from benchmark.experiment.engine import LocalEngine
from benchmark.experiment.expand import expand
from benchmark.experiment.export import metrics_frame
from benchmark.experiment.plan import Experiment, load_experiment
from benchmark.experiment.prepare import Scene, World, build_world
from benchmark.experiment.run import compute
from benchmark.experiment.store import Store
from benchmark.text.files import write_atomically
from tools.nested import FOLDER, NOTHING

VALUES, PAGE = FOLDER / "rates.csv", FOLDER / "RATES.md"
HIDDEN = (0.0, 0.2, 0.4)
PLANTED = (0.2, 0.4)
SPLITS = 6
LEFT_OUT = ("compas_violent", "student_mat", "attrition")
"""Datasets of the suite that are not among the twelve: they share rows with others, or are made up."""

RESAMPLES = 10_000
_METRICS = ("discrimination", "accuracy", "restoration_distance")
_CELL = ["dataset", "hidden", "planted", "technique"]

Array = NDArray[np.float64]


def world() -> World:
    """Return the suite's datasets and techniques, with rates in place of solved label gaps."""
    suite = load_experiment("suite")
    names = [entry.name for entry in suite.datasets if entry.name not in LEFT_OUT]
    asked = Experiment(
        name="hidden_rates",
        seed=suite.seed,
        repetitions=SPLITS,
        doses=PLANTED,
        hidden=HIDDEN,
        paired_betas=True,
        train="data",
        holdout=suite.holdout,
        bias="label",
        datasets=names,
        techniques=[entry.name for entry in suite.techniques],
    )
    made = build_world(expand(asked), require_real_data=True)
    return replace(made, scenes={name: _with_rates(scene) for name, scene in made.scenes.items()})


def _with_rates(scene: Scene) -> Scene:
    """Return a scene in which each label gap is taken for the level of bias of that number."""
    levels = tuple(Dose(rate, rate, float("nan")) for rate in (0.0, *PLANTED))
    hidden = {hidden_name("label", rate): Dose(rate, rate, float("nan")) for rate in HIDDEN if rate}
    return replace(scene, hidden=hidden, doses=dict.fromkeys(scene.biases, levels))


def measured() -> pd.DataFrame:
    """Return the means over splits of each cell: what is apparent, and in truth.

    ``distance`` is |T - D_clean|, with the discriminations of technique and clean model, which is C4.5 on
    rows with hidden bias alone, in truth on rows without any; ``parity`` is |T|.
    """
    made = world()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
        cells = compute(made, store, engine=LocalEngine(os.cpu_count() or 1)).cells
    frame = metrics_frame(cells, _METRICS, (ORIGINAL, TRUTH))
    refits = {entry.name for entry in made.experiment.techniques if entry.refit}
    frame = frame[~frame["technique"].isin(refits)]
    frame["hidden"] = [parted_name(bias)[1] for bias in frame["bias"]]
    frame = frame.rename(columns={"beta": "planted"})
    wide = frame.pivot(index=[*_CELL, "repetition"], columns=["test", "metric"], values="value")
    apparent, true = wide[ORIGINAL], wide[TRUTH]
    signed, places = apparent["discrimination"], wide.index.to_frame(index=False)

    def of_clean_model(**hidden: float) -> Array:
        clean = places.assign(planted=0.0, technique=NOTHING, **hidden)
        return signed.reindex(pd.MultiIndex.from_frame(clean)).to_numpy()

    told = pd.DataFrame(
        {
            "distance": (signed - of_clean_model()).abs(),
            "true_distance": (signed - of_clean_model(hidden=0.0)).abs(),
            "parity": signed.abs(),
            "accuracy": apparent["accuracy"],
            "true_accuracy": true["accuracy"],
            "restoration": apparent["restoration_distance"],
            "true_restoration": true["restoration_distance"],
        }
    )
    return told.groupby(level=_CELL, sort=False).mean().reset_index()


def main() -> None:
    """Write the page, and the values before if they are to be measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="compute the values anew")
    if parser.parse_args().measure:
        write_atomically(VALUES, measured().round(6).to_csv(index=False).encode())


if __name__ == "__main__":
    main()
