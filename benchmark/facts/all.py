"""All facts of a run, or those that need no statistics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from benchmark.errors import BetabenchError
from benchmark.estimator.snippet import card_snippet
from benchmark.experiment.entries import TechniqueEntry
from benchmark.facts.answers import scenario_answers, why_unanswered
from benchmark.facts.described import datasets, described_run, metrics, techniques
from benchmark.facts.model import Facts, Reason, Scenario, Use
from benchmark.facts.questions import (
    decisions,
    frontiers,
    gaps,
    hidden,
    missing,
    ranks,
    regrets,
    tried,
    values,
)
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import OWN_LEARNERS, described_scenarios, names_together, renamed
from benchmark.runs.report_frames import Scenario as RunScenario
from benchmark.runs.verdicts import run_answers
from benchmark.statistics.cells import Baselines, Resampling, known_of
from benchmark.statistics.recommendation import Criteria
from benchmark.techniques import find_technique, get_technique

_FRAMES = (
    *("answers", "comparisons", "everything", "failures", "groups", "intervals", "restoration"),
    *("standing", "undo", "frontier_gaps"),
)


def facts_of(statistics: RunStatistics) -> Facts:
    """Return all facts of a run with statistics."""
    ranked = ranks(_together(statistics, OWN_LEARNERS))
    statistics = _together(statistics)
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
    chosen = frames.of_choices
    run, renaming = _learners(chosen.manifest, chosen.results)
    answers, results, failures = map(renaming, (run_answers(frames), chosen.results, chosen.failures))
    given = run, answers, results, criteria, chosen.resampling
    return Facts(
        run=described_run(run, criteria),
        techniques=techniques(run),
        metrics=metrics({}),
        datasets=datasets(run),
        scenarios=tuple(_scenario(one, one.baseline, *given) for one in described_scenarios(results, run)),
        missing=missing(failures),
    )


def _scenario(
    scenario: RunScenario,
    baseline: str,
    run: Manifest,
    answers: pd.DataFrame,
    results: pd.DataFrame,
    criteria: Criteria,
    resampling: Resampling | None,
    **parts: object,
) -> Scenario:
    answers = answers.assign(knows=known_of(answers, run.knows))
    return Scenario.from_record(
        scenario,
        dataset=scenario.dataset.name,
        file=scenario.file_name,
        baseline=baseline,
        techniques=tried(run, scenario.rows(results)),
        levels=tuple(scenario.telling_levels(run.levels)),
        answers=scenario_answers(
            scenario, baseline, answers, [*run.knows.values()], results, criteria, resampling
        ),
        unanswered=why_unanswered(run, scenario, answers),
        **parts,
    )


def _together(statistics: RunStatistics, classifier: str = "") -> RunStatistics:
    """Return statistics in which all techniques with learners of their own have one scenario.

    The other techniques stand there too if they train a single classifier, unless a ``classifier`` is given.
    """
    run, renaming = _learners(statistics.run, statistics.everything, classifier)
    by = dict.fromkeys(((dataset, OWN_LEARNERS) for dataset, _ in statistics.baselines.by), "")
    frames: dict[str, Any] = {name: renaming(getattr(statistics, name)) for name in _FRAMES}
    return replace(statistics, run=run, baselines=Baselines(by | {**statistics.baselines.by}), **frames)


def _learners(
    run: Manifest, results: pd.DataFrame, classifier: str = ""
) -> tuple[Manifest, Callable[[pd.DataFrame], pd.DataFrame]]:
    """Return the manifest with titles of names that tell learners apart, and a function that renames rows."""
    names = names_together(run, results)
    shared = set(results["classifier"]) - run.learners
    classifier = classifier or (shared.pop() if len(shared) == 1 else OWN_LEARNERS)
    titles = {entry.name: entry.title for entry in run.techniques}
    learner_of = {c.name: c.learner_of for c in run.experiment.classifiers}
    more = [
        TechniqueEntry.model_construct(  # such names are no identifiers
            technique=name,
            name=other,
            title=f"{titles.get(name, name)} ({learner_of[learner] or learner})",
            told=getattr(run.technique(name), "told", None),
        )
        for learner, others in names.items()
        for name, other in others.items()
    ]
    experiment = run.experiment.model_copy(update={"techniques": (*run.techniques, *more)})
    described = run.model_copy(update={"experiment": experiment})
    return described, partial(renamed, names=names, classifier=classifier)


def use(run: Manifest, scenarios: Sequence[Scenario]) -> Use | None:
    """Return the first technique that helps and is to take; the goal to restore comes first."""
    for i, scenario in enumerate(scenarios):
        for answers in scenario.answers:
            taken = answers.at_highest.best()
            if taken is not None and taken.verdict == "helps":
                return Use(
                    scenario=i,
                    goal=answers.goal,
                    level=answers.highest,
                    technique=taken.technique,
                    **_lines(run, scenario, taken.technique),
                )
    return None


def _lines(run: Manifest, scenario: Scenario, technique: str) -> dict[str, Any]:
    """Return the lines that apply a scenario's technique, or the reason why there are none."""
    entry = run.dataset(scenario.dataset).entry
    card = entry.find_card()
    if card is None:
        return {"reason": Reason(code="card_missing")}
    if entry.columns:
        return {"reason": Reason(code="columns_differ")}
    method = run.technique(technique)
    assert method is not None
    own = method.unconstrained is not None or scenario.classifier == OWN_LEARNERS
    classifier = "" if own else _classifier(run.experiment.settings, scenario.classifier)
    if classifier is None:
        return {"reason": Reason(code="classifier_of_numbers")}
    configured = run.code.techniques.get(f"{technique} on {entry.name}", {})
    parameters = _changed(method.technique, configured.get("parameters", method.parameters))
    settings = {"parameters": parameters, "classifier": classifier}
    plugins = run.code.plugins if find_technique(method.technique) is None else ()
    lines = card_snippet(card, entry.card, method.technique, plugins=plugins, **settings)
    return {"code": lines} if lines else {"reason": Reason(code="intersection")}


def _classifier(settings: Mapping[str, Any], name: str) -> str | dict[str, Any] | None:
    """Return a classifier in the form that the estimator takes; None if it does not take it."""
    entries = [entry for entry in settings.get("classifiers", ()) if entry["name"] == name]
    entry = entries[0] if entries else {"classifier": name}
    if entry.get("encoding") == "numbers":
        return None
    more = {
        key: entry[key] for key in ("parameters", "encoding") if entry.get(key, "") not in ({}, "one_hot", "")
    }
    return {"classifier": entry["classifier"], **more} if more else str(entry["classifier"])


def _changed(technique: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    try:
        defaults: dict[str, Any] = dict(get_technique(technique).parameters)
    except BetabenchError:  # of a plugin, or of a package that is not here
        defaults = {}
    return {
        name: value for name, value in parameters.items() if name not in defaults or defaults[name] != value
    }
