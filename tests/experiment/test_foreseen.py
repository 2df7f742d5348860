"""What a run says before it starts."""

import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from benchmark.experiment import versions
from benchmark.experiment.expand import expand, foreseen, missing_packages, narrow
from benchmark.experiment.plan import ExpandedExperiment, Experiment, load_experiment

ROOT = Path(__file__).resolve().parents[2]


def test_repetitions_that_show_no_technique_to_help() -> None:
    smoke = load_experiment("smoke")
    (note,) = (note for note in foreseen(expand(smoke)) if "samples of each kind" in note)
    assert note.startswith(
        "2 samples of each kind show no technique to help, only candidates: that takes at least 5"
    )
    enough = foreseen(expand(narrow(smoke, repetitions=5)))
    assert not any("samples of each kind" in note for note in enough)
    by_folds = smoke.model_copy(update={"train": "data", "repetitions": 1, "folds": 5})
    assert list(foreseen(expand(by_folds))) == []


def small(*techniques: str, **changes: object) -> ExpandedExperiment:
    given = {"datasets": [{"card": "compas"}], "betas": [0.5], "classifiers": ["c45"], **changes}
    return expand(Experiment(techniques=techniques, **given))


def test_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = small("none", "adversarial", "aif360:DisparateImpactRemover", tune={})
    monkeypatch.setattr(versions, "version", lambda _: "1")
    assert list(missing_packages(asked.experiment)) == []

    def version(package: str) -> str:
        if package in ("torch", "BlackBoxAuditing"):
            raise PackageNotFoundError(package)
        return "1"

    monkeypatch.setattr(versions, "version", version)
    assert list(missing_packages(asked.experiment)) == [
        "adversarial, adversarial_tuned, adversarial_oracle cannot run: torch is not installed; "
        "pip install 'betabench[adversarial]'.",
        "aif360_DisparateImpactRemover cannot run: BlackBoxAuditing is not installed; "
        "pip install BlackBoxAuditing.",
    ]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(own.startswith("torch>") for own in extras["adversarial"])


def test_what_no_technique_needs_to_be_told() -> None:
    knows: list[object] = ["gap", {"fact": "rates", "name": "less", "deprived": -0.1}, "rates"]
    (note,) = (n for n in foreseen(small("none", "gap_weights", knows=knows)) if "told" in n)
    assert note.startswith("no technique here needs to be told rates ('knows'). These would: ")
    assert "rate_weights" in note
    assert "gap_weights" not in note
    assert not any("told" in n for n in foreseen(small("none", "gap_weights", "rate_weights", knows=knows)))


def test_nothing_to_tune() -> None:
    notes = [note for note in foreseen(small("none", "reweighing", tune={})) if "tuned" in note]
    assert len(notes) == 1
    assert notes[0].startswith("nothing will be tuned: each technique")
    assert "repair, " in notes[0]
    assert not any("tuned," in note for note in foreseen(small("none", "repair", tune={})))
