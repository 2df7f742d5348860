"""Edits of probabilities where real rows are trained on: labels are turned, and no network is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import benchmark
from benchmark.report.statistics_files import write_statistics

EDIT = {"attribute": "sex", "group": "Female"}
WORDS = "labels turned with probability β: P(y+ | sex = Female) × (1 - β)"


@pytest.fixture
def made(here: Path) -> benchmark.Run:
    """Return a run on rows of COMPAS, of which sex is no parent of the label in the network."""
    experiment = benchmark.Experiment.model_validate(
        {
            "datasets": [{"card": "compas", "bias": [{"edits": [EDIT]}]}],
            "techniques": ["none", "reweighing"],
            **{"betas": [0, 0.5], "repetitions": 2, "train": "data", "holdout": 0.3, "train_rows": 500},
        }
    )
    return benchmark.run(experiment, output=here / "out", offline=True, progress=False)


def test_an_edit_of_no_parent_of_the_label_turns_labels_and_is_described_so(made: benchmark.Run) -> None:
    manifest = json.loads((made.folder / "manifest.json").read_text())
    (dataset,) = manifest["datasets"].values()
    assert dataset["bias"]["cpt"]["description"] == WORDS
    assert dataset["bias"]["cpt"]["acting"] == ["P(y+ | sex = Female) × (1 - β)"]
    assert dataset["network"]["edited_edges"] == []
    (described,) = made.finished.manifest.datasets
    assert not any(bias.inert for bias in described.bias)
    assert set(made.results["level"]) == {0.0, 0.5}


def test_statistics_say_that_labels_were_turned(made: benchmark.Run) -> None:
    write_statistics(made.folder / "statistics", made.statistics(), figures=False)
    said = (made.folder / "statistics" / "details.md").read_text().replace(r"\|", "|")
    assert f": {WORDS}. Gap of the training labels: " in said
    assert "conditional probabilities scaled" not in said
