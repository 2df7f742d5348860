"""A made-up world in which the goals have different winners: every surface names each, and no useless one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from benchmark.columns import EQUALIZE, RESTORE
from benchmark.facts import facts_of, first_facts
from benchmark.facts.model import Reason
from benchmark.runs.analysis import RunStatistics, run_statistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import DatasetInExperiment, PlantedBias
from benchmark.statistics.restoration import EFFECT_COLUMNS, NO_EFFECT_SHOWN
from benchmark.text.terminal import as_text
from benchmark.wording import answer_text
from tests.helpers.answers import outcomes
from tests.helpers.facts import report_text
from tests.helpers.made_up_runs import changed
from tests.helpers.two_goals import (
    CLEAN,
    DISTANCE,
    METRICS,
    run_of,
)


@pytest.fixture(scope="module")
def statistics() -> RunStatistics:
    return run_statistics(run_of())


def named(statistics: RunStatistics, goal: str) -> dict[str, str]:
    """Return the outcome of each technique with planted bias."""
    rows = statistics.answers.query("goal == @goal and level == 0.5")
    return dict(zip(rows["technique"], outcomes(rows), strict=True))


def test_pages_and_the_terminal_name_what_serves_each_goal(statistics: RunStatistics) -> None:
    _, first, second, *_ = filter(None, report_text(statistics).splitlines())
    assert first.startswith("**At β = 0.5, Undoes lowers the distance to the model without the bias")
    assert second.startswith("**At β = 0.5, Evens lowers discrimination")
    for facts in (facts_of(statistics), first_facts(run_of())):
        text = as_text(answer_text(facts))
        assert text.startswith("At β = 0.5, Undoes lowers the distance to the model without the bias from ")
        assert "\nAt β = 0.5, Evens lowers discrimination from " in text
        table = {line.split("  ")[0]: line for line in text.splitlines()}
        assert "▽ dominated to restore; ▲ helps" in table["Evens"]
        assert "▲ helps" in table["Undoes"]
        assert all("✗ accepts too few" in table[name] for name in ("Refuses", "Levels"))


def test_ranks_to_restore_are_of_planted_bias_alone(statistics: RunStatistics) -> None:
    ranks = statistics.ranks[statistics.ranks["metric"] == DISTANCE]
    assert set(ranks["level"].dropna()) == {0.5}
    assert ranks["mean_rank"].notna().all()
    of_comparisons = statistics.comparisons.query("metric == @DISTANCE")
    assert set(of_comparisons["level"]) == {0.0, 0.5}, "comparisons are complete"
    fronts = statistics.pareto[statistics.pareto["first"] == DISTANCE]
    assert not fronts.loc[fronts["level"] == 0, "on_front"].any()


def test_where_nothing_is_to_undo_nothing_is_ranked_to_restore() -> None:
    run = run_of()
    still = run.results["metric"].eq("discrimination") & run.results["technique"].eq("none")
    values = run.results["value"].mask(still & (run.results["level"] > 0), CLEAN[0] + 0.01)
    found = run_statistics(RunFrames.of(run.manifest, run.results.assign(value=values), run.failures))
    assert set(named(found, RESTORE).values()) == {"baseline", "nothing_to_undo"}
    assert not (found.ranks["metric"] == DISTANCE).any()
    facts = facts_of(found)
    (level,) = facts.scenarios[0].answers[0].levels
    assert level.reason == Reason(code="nothing_to_undo")
    assert facts.use is not None
    assert facts.use.goal == EQUALIZE


def test_a_bias_without_effect_has_the_same_levels_on_every_surface() -> None:
    run = run_of()
    (dataset,) = run.manifest.datasets
    inert = replace(dataset, bias=(PlantedBias("label", kind="cpt", edits=("P",)),))
    manifest = changed(run.manifest, datasets=(inert,))
    statistics = run_statistics(RunFrames.of(manifest, run.results, run.failures))
    (scenario,) = facts_of(statistics).scenarios
    levels = {own.goal: [level.level for level in own.levels] for own in scenario.answers}
    assert levels == {RESTORE: [0.5], EQUALIZE: [0.0]}


def test_a_row_of_ranks_names_what_is_ranked_and_calls_nobody_useless_for_another_level() -> None:
    run = run_of()
    (own,) = run.manifest.datasets
    entry = DatasetInExperiment(name="other", baseline="none")
    other = replace(own, name="other", title="Other", entry=entry)
    results = run.results
    copy = results.assign(dataset="other")
    # Nothing is to undo on the other dataset, and there "undoes" is below the constant.
    still = copy["metric"].eq("discrimination") & copy["technique"].eq("none") & copy["level"].gt(0)
    low = copy["metric"].eq("accuracy") & copy["technique"].eq("undoes")
    copy["value"] = copy["value"].mask(still, CLEAN[0] + 0.01).mask(low, 0.6)
    manifest = changed(run.manifest, datasets=(own, other))
    found = run_statistics(RunFrames.of(manifest, pd.concat([results, copy]), run.failures))
    facts = facts_of(found)
    (restore,) = (ranks for ranks in facts.ranks if ranks.metric == DISTANCE)
    assert (restore.datasets, restore.asked) == (("adult",), 2)
    usable = {row.technique: row.usable for row in restore.techniques}
    assert usable["undoes"], "it is ranked on the first dataset alone"
    (equalize,) = (ranks for ranks in facts.ranks if ranks.metric == "discrimination")
    useless = {row.technique for row in equalize.techniques if not row.usable}
    assert useless >= {"undoes", "refuses"}


@pytest.mark.parametrize(
    ("changes", "without", "code"),
    [
        ({"paired_betas": False}, (), "levels_not_paired"),
        ({}, (DISTANCE,), "distance_not_measured"),
    ],
)
def test_a_run_that_cannot_restore_says_why(
    changes: dict[str, Any], without: tuple[str, ...], code: str
) -> None:
    run = run_of(**changes)
    kept = ~run.results["metric"].isin(without)
    manifest = run.manifest.with_metrics([name for name in (*METRICS, DISTANCE) if name not in without])
    run = RunFrames.of(manifest, run.results[kept], run.failures)
    found = run_statistics(run)
    assert {*found.answers["goal"]} == {EQUALIZE}
    assert facts_of(found).scenarios[0].unanswered == Reason(code=code)


def test_against_a_technique_the_clean_model_is_the_untreated_learner_s(
    statistics: RunStatistics, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "evens"
    own, against = statistics, run_statistics(run_of(), baseline=other)
    assert set(own.answers["clean_model"]) == set(against.answers["clean_model"]) == {"none"}
    assert set(against.answers["baseline"]) == {other}
    where = ["goal", "level", "technique"]
    limits = ["reference", "reference_deprived", "reference_favored", "accuracy_floor"]
    pd.testing.assert_frame_equal(*(found.answers.set_index(where)[limits] for found in (own, against)))
    spot = ("adult", "label", "c45", "original", 0.5, "none", "", NO_EFFECT_SHOWN)
    effects = pd.DataFrame([spot], columns=list(EFFECT_COLUMNS))
    monkeypatch.setattr("benchmark.runs.verdicts.effects_of_bias", lambda _run: effects)
    withheld = run_statistics(run_of(), baseline=other)
    (answers,) = (own for own in facts_of(withheld).scenarios[0].answers if own.goal == RESTORE)
    assert answers.levels[-1].reason == Reason(code=NO_EFFECT_SHOWN)
