"""Runs of few cells whose report was refused, or ended in an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benchmark
from benchmark.errors import ReportError
from benchmark.experiment import engine
from tests.helpers.engines import InProcess

ADULT = {"card": "adult", "bias": [{"kind": "label"}]}
COMPAS = {"card": "compas", "bias": [{"kind": "label"}]}


def run(tmp_path: Path, **fields: Any) -> benchmark.Run:
    given = {"name": "small", "title": "Few cells", "seed": 3, "betas": [0.5], "classifiers": ["naive_bayes"]}
    made = benchmark.Experiment.model_validate({**given, **fields})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LocalEngine", InProcess)
        return benchmark.run(made, output=tmp_path / "out", offline=True, progress=False)


@pytest.fixture(scope="module")
def folds(tmp_path_factory: pytest.TempPathFactory) -> benchmark.Run:
    return run(
        tmp_path_factory.mktemp("folds"),
        **{"datasets": [COMPAS], "techniques": ["none", "reweighing"], "repetitions": 1},
        **{"train": "data", "folds": 5, "train_rows": 500, "betas": [0, 0.5]},
    )


@pytest.mark.nightly
def test_settings_chosen_on_rows_that_nobody_has_have_no_gaps_between_groups(tmp_path: Path) -> None:
    made = run(
        tmp_path,
        datasets=[{**ADULT, "sensitive": ["sex", "race"]}],
        techniques=["none", "exponentiated_gradient"],
        repetitions=2,
        train_rows=300,
        tune={"trials": 2},
    )
    page = made.report()  # ended in KeyError: 'exponentiated_gradient_oracle'
    found = made.statistics()
    assert set(found.groups["technique"]) == set(found.answers["technique"])
    assert "exponentiated_gradient_tuned" in set(found.groups["technique"])
    assert "exponentiated_gradient_oracle" in page.with_name("groups.csv").read_text(encoding="utf-8")


def test_one_repetition_of_folds_is_reported(folds: benchmark.Run) -> None:
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


def test_one_repetition_without_folds_is_refused(tmp_path: Path) -> None:
    made = run(tmp_path, datasets=[COMPAS], techniques=["none", "reweighing"], repetitions=1, train_rows=200)
    with pytest.raises(ReportError, match="one repetition"):
        made.report()


def test_statistics_at_a_prompt_are_one_line(folds: benchmark.Run) -> None:
    text = repr(folds.statistics())
    assert "\n" not in text
    assert "comparisons" in text
    assert len(text) < 300
