"""A run of one repetition whose folds have intervals is reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import benchmark


def test_one_repetition_of_folds_is_reported(here: Path) -> None:
    experiment = benchmark.Experiment.model_validate(
        {
            "datasets": [{"card": "compas", "bias": [{"kind": "label"}]}],
            **{"name": "small", "techniques": ["none", "reweighing"], "classifiers": ["naive_bayes"]},
            **{
                "betas": [0, 0.5],
                "repetitions": 1,
                "train": "data",
                "folds": 5,
                "train_rows": 500,
                "seed": 3,
            },
        }
    )
    folds = benchmark.run(experiment, output=here / "out", offline=True, progress=False)
    assert folds.report().exists()  # was refused: "has one repetition"
    found = folds.statistics()
    comparisons = found.comparisons[found.comparisons["reason"] == ""]
    assert (comparisons["n"] == 1).all()
    assert (comparisons["df"] == 4).all()
    own = comparisons[comparisons["metric"] == "discrimination"]
    assert own[["improvement_low", "improvement_high", "p_paired"]].notna().all(axis=None)
    middle = own[["improvement_low", "improvement_high"]].mean(axis=1)
    np.testing.assert_allclose(middle, own["improvement"], atol=1e-12)
    # What the terminal and the file of answers say is of the same judgement.
    answers = found.answers.set_index(["level", "technique"])
    assert answers["tested"].any()
    assert "promising" not in set(answers["verdict"])
    again = folds.compare().set_index(["level", "technique"])
    assert again["verdict"].to_dict() == answers["verdict"].to_dict()
