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
from benchmark.facts import facts_of
from benchmark.facts.all import use
from benchmark.facts.model import Answers
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import OWN_LEARNERS
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
techniques = ["none", "{technique}"]
classifiers = [{{ classifier = "naive_bayes", parameters = {{ alpha = 2.0 }} }}]
[[datasets]]
card = "card.toml"
bias = "label"
"""


@pytest.fixture(autouse=True)
def _people(here: Path) -> None:
    """Work in a folder with people.csv and its card."""
    write_people(here, 900)
    drafted(here, "yes", "f")


def made(technique: str) -> benchmark.Run:
    Path("people.toml").write_text(EXPERIMENT.format(technique=technique))
    return benchmark.run("people.toml", output="out", offline=True, progress=False)


@pytest.mark.parametrize(
    ("entry", "name", "parameters"),
    [
        ("reweighing[rate=favored]", "reweighing", {"rate": "favored"}),
        ("reject_option", "reject_option", None),
    ],
)
def test_a_report_ends_with_lines_that_apply_what_it_recommends(
    entry: str, name: str, parameters: dict[str, Any] | None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statistics = made(entry).statistics()
    found = facts_of(statistics).use
    assert found is not None
    assert found.reason is None
    (printed,) = re.findall(r"```python\n(.*?)```", report_text(statistics), re.DOTALL)
    assert printed == found.code
    made_of = run(printed, here, monkeypatch)
    model = made_of["model"]
    assert model.technique_.name == name
    assert {**model.technique_.parameters} == {**model.technique_.parameters, **(parameters or {})}
    assert model.classifier == {"classifier": "naive_bayes", "parameters": {"alpha": 2.0}}
    assert (model.schema_.sensitive_feature, model.schema_.deprived_group) == ("sex", "f")
    assert made_of["y"].tolist() == (people(900)["hired"] == "yes").tolist()
    assert list(made_of["X"].columns) == ["sex", "skill", "children", "city"]  # not the identifier
    assert html.escape(printed, quote=True) in write_page(here, statistics).read_text()


def test_where_nothing_is_recommended_a_sentence_says_so(here: Path) -> None:
    statistics = made("uniform_sampling").statistics()
    nothing = replace(
        statistics, answers=statistics.answers.assign(verdict="not_shown", reason="", choice="")
    )
    assert facts_of(nothing).use is None
    assert "so there are no lines" in report_text(nothing)


def test_a_card_that_is_not_at_hand_is_named(here: Path) -> None:
    statistics = made("reweighing[rate=favored]").statistics()
    (dataset,) = {scenario.dataset for scenario in statistics.scenarios}
    object.__setattr__(dataset.entry, "columns", {"city": {"ordered": True}})
    assert reason(statistics) == "columns_differ"
    (here / "card.toml").unlink()
    assert reason(statistics) == "card_missing"


def reason(statistics: RunStatistics) -> str | None:
    """Return the code of the reason why there are no lines."""
    found = facts_of(statistics).use
    assert found is not None
    assert found.code == ""
    return found.reason and found.reason.code


def test_what_restores_is_named_before_what_equalises(here: Path) -> None:
    statistics = made("reweighing").statistics()
    (scenario,) = facts_of(statistics).scenarios
    baseline = standing("none", 0.3, role="baseline")
    helps = standing("reweighing", 0.1, verdict="helps", best=("least",))
    helping, none = answers(techniques=(baseline, helps)), answers(techniques=(baseline,))

    def goal(restored: Answers, equalised: Answers) -> str:
        of_goals = (restored.model_copy(update={"goal": RESTORE}), equalised)
        found = use(statistics.run, [scenario.model_copy(update={"answers": of_goals})])
        assert found is not None
        return found.goal

    assert goal(helping, helping) == RESTORE
    assert goal(none, helping) == EQUALIZE
    assert use(statistics.run, [scenario.model_copy(update={"answers": (none,)})]) is None


@pytest.mark.parametrize("classifier", ["naive_bayes", OWN_LEARNERS])
def test_a_technique_with_a_learner_of_its_own_takes_no_classifier(classifier: str, here: Path) -> None:
    statistics = made("reweighing").statistics()
    (scenario,) = facts_of(statistics).scenarios
    own = (*statistics.run.techniques, made_up_technique("zafar_2015"))
    run = changed(statistics.run, techniques=own, classifiers=("naive_bayes",))
    helps = standing("zafar_2015", 0.1, verdict="helps", best=("least",))
    told = answers(techniques=(standing("none", 0.3, role="baseline"), helps))
    found = use(run, [scenario.model_copy(update={"classifier": classifier, "answers": (told,)})])
    assert found is not None
    assert 'FairClassifier("zafar_2015", sensitive="sex", deprived="f")\n' in found.code
