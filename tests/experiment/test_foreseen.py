"""What a run says before it starts."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from benchmark.experiment import versions
from benchmark.experiment.expand import expand, load_for_run, narrow
from benchmark.experiment.plan import ExpandedExperiment, Experiment, load_experiment
from benchmark.experiment.validate import foreseen, mismatches, missing_packages, too_few_repetitions

ROOT = Path(__file__).resolve().parents[2]

HEAD = """
name = "foreseen"
title = "What is known before"
seed = 1
repetitions = {repetitions}
betas = {betas}
"""
DATASET = """
[[datasets]]
card = "{card}"
bias = [{{ kind = "label" }}]
{more}
"""


def notes(
    folder: Path, repetitions: int, betas: list[float], *datasets: str, techniques: int = 9
) -> list[str]:
    text = HEAD.format(repetitions=repetitions, betas=betas) + "".join(datasets)
    names = ["none", *(f"repair_{i}" for i in range(1, techniques))]
    entries = ("".join(f'[[techniques]]\ntechnique = "none"\nname = "{name}"\n' for name in names),)
    (folder / "e.toml").write_text(text + "".join(entries))
    return list(too_few_repetitions(expand(load_experiment(folder / "e.toml"))))


def test_repetitions_that_hardly_show_anything_and_how_many_would_do(tmp_path: Path) -> None:
    adult = DATASET.format(card="adult", more="")
    betas = [0.0, 0.25, 0.5, 0.75, 1.0]
    (note,) = notes(tmp_path, 3, betas, adult)  # 8 techniques against the baseline
    assert note == (
        "with 3 repetitions hardly any difference can be shown: only one that is 7 times its standard "
        "deviation over repetitions. It takes at least 12 repetitions to show one as large as its "
        "standard deviation."
    )
    assert len(notes(tmp_path, 4, betas, adult)) == 1
    assert notes(tmp_path, 5, betas, adult) == []
    (note,) = notes(tmp_path, 1, betas, adult)
    assert note.startswith("one repetition shows no difference: there are candidates at most.")
    assert notes(tmp_path, 1, betas, adult, techniques=1) == [], "there is nothing to compare"


def test_datasets_with_fewer_techniques_need_fewer_repetitions(tmp_path: Path) -> None:
    few = DATASET.format(card="compas", more='techniques = ["none", "repair_1"]')
    (adult, compas) = notes(tmp_path, 2, [0.5], DATASET.format(card="adult", more=""), few)
    assert adult.startswith("adult: with 2 repetitions")
    assert "It takes at least 12 repetitions" in adult
    assert compas.startswith("compas: ")
    assert "It takes at least 7 repetitions" in compas


def test_a_technique_and_a_classifier_that_do_not_fit(tmp_path: Path) -> None:
    text = HEAD.format(repetitions=2, betas=[0.5])
    text += DATASET.format(card="adult", more="") + DATASET.format(card="dutch", more='techniques = ["none"]')
    for name in ("none", "reweighing", "massaging"):
        text += f'[[techniques]]\ntechnique = "{name}"\n'
    for classifier in ("c45", "sklearn.neighbors.KNeighborsClassifier"):
        text += f'[[classifiers]]\nclassifier = "{classifier}"\n'
    (tmp_path / "e.toml").write_text(text)
    (note,) = mismatches(expand(load_experiment(tmp_path / "e.toml")))
    assert note.startswith("reweighing with KNeighborsClassifier will be skipped: ")
    assert "sample_weight" in note


@pytest.mark.parametrize("name", ["paper", "techniques"])
def test_the_shipped_experiments_have_enough(name: str) -> None:
    plan = load_for_run(name)
    assert list(too_few_repetitions(plan)) == list(mismatches(plan)) == []
    assert len(list(too_few_repetitions(expand(narrow(plan.experiment, repetitions=2))))) >= 1


def small(*techniques: str, **changes: object) -> ExpandedExperiment:
    given = {"datasets": [{"card": "compas"}], "betas": [0.5], "classifiers": ["c45"], **changes}
    return expand(Experiment(techniques=techniques, **given))  # type: ignore[arg-type]


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


def test_nothing_to_tune() -> None:
    notes = [note for note in foreseen(small("none", "reweighing", tune={})) if "tuned" in note]
    assert len(notes) == 1
    assert notes[0].startswith("nothing will be tuned: each technique")
    assert "repair, " in notes[0]
    assert not any("tuned," in note for note in foreseen(small("none", "repair", tune={})))
