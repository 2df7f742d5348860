"""All facts of a run, or those that need no statistics."""

from __future__ import annotations

import pandas as pd

from benchmark.facts.answers import scenario_answers, why_unanswered
from benchmark.facts.decisions import decisions
from benchmark.facts.described import datasets, described_run, metrics, techniques
from benchmark.facts.frames import frontiers, gaps, missing, regrets
from benchmark.facts.hidden import hidden
from benchmark.facts.learners import frames_together, together
from benchmark.facts.model import Constant, Facts, Scenario
from benchmark.facts.ranks import ranks
from benchmark.facts.use import use
from benchmark.facts.values import tried, values
from benchmark.runs import report_frames
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.own_learners import OWN_LEARNERS
from benchmark.runs.verdicts import run_answers_with_frontier
from benchmark.statistics.answers import ConstantAnswer
from benchmark.statistics.cells import Resampling
from benchmark.statistics.recommendation import Criteria


def facts_of(statistics: RunStatistics) -> Facts:
    """Return all facts of a run with statistics."""
    ranked = ranks(together(statistics, OWN_LEARNERS))
    statistics = together(statistics)
    run, answers = statistics.run, statistics.answers
    given = run, answers, statistics.everything, statistics.criteria, statistics.resampling
    scenarios = [
        _scenario(
            scenario,
            statistics.baseline_of(scenario),
            *given,
            values=values(statistics, scenario),
            frontier=frontiers(statistics, scenario),
            decisions=decisions(statistics, scenario),
        )
        for scenario in statistics.scenarios
    ]
    return Facts(
        run=described_run(run, statistics.criteria, statistics.alpha),
        techniques=techniques(run),
        metrics=metrics(statistics.metrics),
        datasets=datasets(run),
        scenarios=tuple(scenarios),
        ranks=ranked,
        gaps=gaps(statistics),
        regrets=regrets(statistics),
        missing=missing(statistics.failures),
        hidden=hidden(statistics),
        use=use(run, scenarios),
    )


def first_facts(frames: RunFrames) -> Facts:
    """Return the facts of a run that need no statistics: the answers, and what is missing.

    ``frames`` may have one repetition.
    """
    criteria = Criteria()
    chosen, answers = frames_together(frames.of_choices, run_answers_with_frontier(frames))
    run = chosen.manifest
    given = run, answers, chosen.results, criteria, chosen.resampling
    return Facts(
        run=described_run(run, criteria),
        techniques=techniques(run),
        metrics=metrics({}),
        datasets=datasets(run),
        scenarios=tuple(_scenario(one, one.baseline, *given) for one in chosen.scenarios),
        missing=missing(chosen.failures),
    )


def _scenario(
    scenario: report_frames.Scenario,
    baseline: str,
    run: Manifest,
    answers: pd.DataFrame,
    results: pd.DataFrame,
    criteria: Criteria,
    resampling: Resampling | None,
    **parts: object,
) -> Scenario:
    return Scenario.from_record(
        scenario,
        dataset=scenario.dataset.name,
        file=scenario.file_name,
        baseline=baseline,
        techniques=tried(run, scenario.rows(results)),
        levels=tuple(scenario.telling_levels(run.levels)),
        constant=_constant(scenario.best_constant),
        answers=scenario_answers(scenario, baseline, answers, results, criteria, resampling),
        unanswered=why_unanswered(run, scenario, answers),
        **parts,
    )


def _constant(answer: ConstantAnswer | None) -> Constant | None:
    """Return a constant answer as a fact."""
    return None if answer is None else Constant(accuracy=answer.accuracy, accepts=answer.accepted)
