"""Facts are the numbers of the frames, and codes that have words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import median

import pandas as pd
import pytest

from benchmark.columns import EQUALIZE, RESTORE
from benchmark.facts import Facts, facts_of, first_facts
from benchmark.facts.model import Level, Reason, Standing
from benchmark.runs.analysis import folder_statistics, run_statistics
from benchmark.runs.manifest import GroupSizes
from benchmark.statistics.recommendation import VERDICTS
from tests.helpers import two_goals
from tests.helpers.statistics_folder import write_folder


@pytest.fixture(scope="module")
def facts() -> Facts:
    return facts_of(run_statistics(two_goals.run_of()))


def level(facts: Facts, goal: str) -> Level:
    (scenario,) = facts.scenarios
    (answers,) = (answers for answers in scenario.answers if answers.goal == goal)
    (found,) = (level for level in answers.levels if level.level == answers.highest)
    return found


def row_of(facts: Facts, technique: str) -> Standing:
    (row,) = (row for row in level(facts, EQUALIZE).techniques if row.technique == technique)
    return row


def test_verdicts_and_numbers_are_those_of_the_answers(facts: Facts) -> None:
    statistics = run_statistics(two_goals.run_of())
    for goal in (RESTORE, EQUALIZE):
        rows = statistics.answers
        rows = rows[(rows["goal"] == goal) & (rows["level"] == 0.5)].set_index("technique")
        found = {row.technique: row for row in level(facts, goal).techniques}
        assert set(found) == set(rows.index)
        for name, row in rows.iterrows():
            standing = found[str(name)]
            assert (standing.verdict or "", standing.role) == (row["verdict"], row["role"])
            assert standing.value.mean == pytest.approx(row["value"], rel=1e-5)
            assert standing.accuracy_change.mean == pytest.approx(row["accuracy_change"], rel=1e-5)
            assert standing.best == tuple(row["choice"].split())


def test_the_baseline_stands_first_and_then_what_helps(facts: Facts) -> None:
    order = [row.technique for row in level(facts, EQUALIZE).techniques]
    assert order[:2] == ["none", "evens"]
    verdicts = [row.verdict for row in level(facts, EQUALIZE).techniques[1:]]
    assert verdicts == sorted(verdicts, key=lambda verdict: VERDICTS.index(verdict or ""))


def test_a_difference_below_the_detectable_one_is_not_shown(facts: Facts) -> None:
    for goal in (RESTORE, EQUALIZE):
        at = level(facts, goal)
        assert at.detectable is not None
        assert at.detectable > 0.01
        small = [row for row in at.techniques if row.gain.mean is not None and row.gain.mean < 0.01]
        assert small
        assert all(row.verdict != "helps" for row in small)


def test_the_detectable_difference_is_of_techniques_alone() -> None:
    """Of the median technique, whatever doing nothing would show beside another baseline."""
    asked = facts_of(run_statistics(two_goals.run_of(), baseline="evens"))
    rows = level(asked, EQUALIZE).techniques
    assert {row.role for row in rows} == {"baseline", "reference", "technique"}
    halves = [
        (row.gain.high - row.gain.low) / 2
        for row in rows
        if row.role == "technique" and row.gain.high is not None and row.gain.low is not None
    ]
    assert level(asked, EQUALIZE).detectable == pytest.approx(0.01 + median(halves), rel=1e-4)


def test_a_missed_limit_comes_with_its_numbers(facts: Facts) -> None:
    refuses = row_of(facts, "refuses")
    assert refuses.reason is not None
    assert refuses.reason.code == "too_few_accepted"
    assert refuses.reason.args["share"] < 0.5 * refuses.reason.args["reference"]


@pytest.mark.parametrize(
    ("sizes", "accept", "accepts"),
    [((260, 740, 410, 590), None, 0.0), ((740, 260, 590, 410), None, 1.0), ((260, 740, 410, 590), 0.3, 0.3)],
)
def test_whom_the_best_constant_answer_accepts(
    sizes: tuple[int, int, int, int], accept: float | None, accepts: float
) -> None:
    run = two_goals.run_of()
    (dataset,) = run.manifest.datasets
    entry = replace(dataset.entry, accept=accept)
    run.manifest.datasets = (replace(dataset, entry=entry, test_groups=GroupSizes(*sizes)),)
    (scenario,) = first_facts(run).scenarios
    (constant,) = {level.constant for answers in scenario.answers for level in answers.levels}
    assert constant is not None
    assert constant.accepts == accepts


def test_degenerate_samples_are_counted_among_those_with_shares() -> None:
    run = two_goals.run_of()
    unknown = (run.results["technique"] == "refuses") & (run.results["repetition"] == 3)
    unknown &= run.results["metric"].str.startswith("accepted")
    refused = (run.results["technique"] == "refuses") & (run.results["metric"] == "accepted")
    results = run.results.assign(value=run.results["value"].mask(refused, 0.0).mask(unknown))
    refuses = row_of(first_facts(replace(run, results=results)), "refuses")
    assert refuses.reason == Reason(code="constant", args={"kind": "refuses_all", "samples": 9, "of": 9})
    assert refuses.repetitions == 10


def test_facts_are_read_back_from_json(facts: Facts) -> None:
    text = facts.model_dump_json()
    assert "NaN" not in text
    read = Facts.model_validate_json(text)
    assert read.model_dump_json() == text


def test_a_run_without_statistics_has_the_same_answers(facts: Facts) -> None:
    first = first_facts(two_goals.run_of())
    assert [scenario.answers for scenario in first.scenarios] == [
        scenario.answers for scenario in facts.scenarios
    ]


def test_a_second_way_of_doing_nothing_is_told_apart_by_its_learner(tmp_path: Path) -> None:
    names = {"none": "none", "massaging": "nothing", "reweighing": "reweighing"}
    folder = write_folder(tmp_path / "run", names=("one",), tried={"one": tuple(names)})
    results = pd.read_csv(folder / "results.csv").replace({"technique": names})
    own = results[results["technique"] != "reweighing"].assign(classifier="zafar_2015_learner")
    pd.concat([results, own]).to_csv(folder / "results.csv", index=False)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["experiment"]["techniques"][1] |= {"technique": "none", "name": "nothing"}
    learner = {"classifier": "zafar_2015_learner", "learner_of": "zafar_2015"}
    manifest["experiment"]["classifiers"].append(learner)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (scenario,) = facts_of(folder_statistics(folder)).scenarios
    others = {"zafar_2015_learner", "nothing with zafar_2015_learner"}
    assert {row.technique for row in scenario.answers[0].at_highest.techniques} == {*names.values(), *others}
