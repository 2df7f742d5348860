"""Reports end with the lines that apply what they recommend; these run as they are printed."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import benchmark
from benchmark.columns import EQUALIZE, RESTORE
from benchmark.experiment import engine
from benchmark.facts import facts_of
from benchmark.facts.all import use
from benchmark.facts.model import Scenario, Use
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import OWN_LEARNERS
from tests.helpers.engines import InProcess
from tests.helpers.facts import answers, report_text, standing, write_page
from tests.helpers.made_up_runs import changed, made_up_technique
from tests.helpers.people import people, write_people
from tests.helpers.snippets import drafted, run

EXPERIMENT = """
name = "people"
title = "People"
seed = 1
repetitions = 12
betas = [0.0, 0.6]
train = "data"
holdout = 0.3
techniques = ["none", "reweighing[rate=favored]"]
classifiers = [{ classifier = "naive_bayes", parameters = { alpha = 2.0 } }]
[[datasets]]
card = "card.toml"
bias = "label"
"""
BASELINE = standing("none", 0.3, role="baseline")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with people.csv and its card."""
    path = tmp_path_factory.mktemp("people")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        write_people(path, 900)
        drafted(path, "yes", "f")
    return path


@pytest.fixture(scope="module")
def statistics(folder: Path) -> RunStatistics:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(engine, "LocalEngine", InProcess)
        Path("people.toml").write_text(EXPERIMENT)
        return benchmark.run("people.toml", output="out", offline=True, progress=False).statistics()


@pytest.fixture(autouse=True)
def _inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def recommending(statistics: RunStatistics, technique: str, **changes: Any) -> Scenario:
    """Return the run's scenario in which a technique helps."""
    helps = standing(technique, 0.1, verdict="helps", best=("least",))
    (scenario,) = facts_of(statistics).scenarios
    return scenario.model_copy(update={"answers": (answers(techniques=(BASELINE, helps)),), **changes})


def test_a_report_ends_with_lines_that_apply_what_it_recommends(
    statistics: RunStatistics, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = facts_of(statistics).use
    assert found is not None
    assert found.reason is None
    (printed,) = re.findall(r"```python\n(.*?)```", report_text(statistics), re.DOTALL)
    assert printed == found.code
    assert html.escape(printed, quote=True) in write_page(tmp_path, statistics).read_text()
    made_of = run(printed, folder, monkeypatch)
    model = made_of["model"]
    assert model.technique_.name == "reweighing"
    assert model.technique_.parameters["rate"] == "favored"
    assert model.classifier == {"classifier": "naive_bayes", "parameters": {"alpha": 2.0}}
    assert (model.schema_.sensitive_feature, model.schema_.deprived_group) == ("sex", "f")
    assert made_of["y"].tolist() == (people(900)["hired"] == "yes").tolist()
    assert list(made_of["X"].columns) == ["sex", "skill", "children", "city"]  # not the identifier


@pytest.mark.parametrize("classifier", ["naive_bayes", OWN_LEARNERS])
def test_a_technique_with_a_learner_of_its_own_takes_no_classifier(
    classifier: str, statistics: RunStatistics
) -> None:
    own = (*statistics.run.techniques, made_up_technique("zafar_2015"))
    manifest = changed(statistics.run, techniques=own, classifiers=("naive_bayes",))
    found = use(manifest, [recommending(statistics, "zafar_2015", classifier=classifier)])
    assert found is not None
    assert 'FairClassifier("zafar_2015", sensitive="sex", deprived="f")\n' in found.code


def test_where_nothing_is_recommended_a_sentence_says_so(statistics: RunStatistics) -> None:
    answered = statistics.answers.assign(verdict="not_shown", reason="", choice="")
    nothing = replace(statistics, answers=answered)
    assert facts_of(nothing).use is None
    assert "so there are no lines" in report_text(nothing)


def test_what_restores_is_named_before_what_equalizes(statistics: RunStatistics) -> None:
    scenario = recommending(statistics, statistics.run.techniques[-1].name)
    (helping,), none = scenario.answers, answers(techniques=(BASELINE,))

    def found(*of_goals: Any) -> Use | None:
        return use(statistics.run, [scenario.model_copy(update={"answers": of_goals})])

    both = found(helping.model_copy(update={"goal": RESTORE}), helping)
    second = found(none.model_copy(update={"goal": RESTORE}), helping)
    assert both is not None
    assert second is not None
    assert (both.goal, second.goal, found(none)) == (RESTORE, EQUALIZE, None)


def test_a_card_that_is_not_at_hand_is_named(statistics: RunStatistics, folder: Path) -> None:
    scenario = recommending(statistics, statistics.run.techniques[-1].name)
    (dataset,) = statistics.run.datasets
    other = replace(dataset.entry, columns={"city": {"ordered": True}})
    differing = changed(statistics.run, datasets=(replace(dataset, entry=other),))
    found = [use(differing, [scenario])]
    (folder / "card.toml").unlink()  # the last test of this folder
    found.append(use(statistics.run, [scenario]))
    codes = [own.reason.code for own in found if own and own.reason and not own.code]
    assert codes == ["columns_differ", "card_missing"]
