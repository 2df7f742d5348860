"""The lines of Python that apply a recommended technique."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchmark.columns import EQUALISE, OWN
from benchmark.errors import BetabenchError
from benchmark.estimator.snippet import card_snippet
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections.choices import change_text, named_choices
from benchmark.sections.goals import WORDS, by_goal
from benchmark.sections.section import Block, Section
from benchmark.statistics.answer_record import Answer, by_level, by_scenario
from benchmark.statistics.recommendation import LEAST
from benchmark.techniques import find_technique, get_technique
from benchmark.text.words import share

NO_LINES = (
    "betabench recommends none of the techniques at the highest level of bias, so no lines of Python apply "
    "one."
)
"""Stands where there are no lines."""

CHECK = "Check the decisions on rows that the model has not seen."

TITLE = "Use a recommended technique"

_MOST_NAMED = 12  # scenarios


def section(statistics: RunStatistics) -> Section:
    """Return the recommended techniques at the highest level of bias, and the lines that apply the first."""
    sentences, lines = winner(statistics)
    blocks = [Block("Lines of Python", code=lines, remarks=(CHECK,))] if lines else []
    return Section("use", TITLE, sentences, blocks)


def winner(statistics: RunStatistics) -> tuple[list[str], str]:
    """Return a sentence for each goal and scenario at the highest level of bias, and the lines of Python.

    The named technique is recommended and nearest to the goal. The lines apply the first; the goal to restore
    decisions comes first. The last sentence is about the lines, or gives the reason why they are empty. Where
    no technique is recommended at all, it is the only one.
    """
    sentences, about_lines, lines = [], NO_LINES, ""
    named = list(_named(statistics))
    if all(row is None for *_, row in named):
        return [NO_LINES], ""
    for scenario, beta, goal, row in named:
        level = "" if scenario.inert else f" at {statistics.run.level_text(beta)}"
        where, purpose = f"{scenario.heading}{level}", WORDS[goal].purpose
        if row is None:
            sentences.append(f"{where}: betabench recommends none of the techniques {purpose}.")
            continue
        title = statistics.run.titles[row.technique]
        sentences.append(f"{where}: {title} is recommended {purpose}.")
        if not lines:
            lines, about_lines = _lines(statistics, scenario, row.technique)
            if lines:
                applied = f"{title} to {scenario.dataset.heading}, {purpose}"
                effect = _effect_without_bias(statistics, scenario, row.technique)
                about_lines = f"These lines apply {applied}.{about_lines}{effect}"
    if len(sentences) > _MOST_NAMED:
        sentences = [*sentences[:_MOST_NAMED], f"{len(sentences) - _MOST_NAMED} more are not listed here."]
    return [*sentences, about_lines], lines


def _named(statistics: RunStatistics) -> Iterator[tuple[Scenario, float, str, Answer | None]]:
    """Yield each scenario, its highest level of bias, a goal, and the named answer or None."""
    goals = {goal: by_scenario(answers) for goal, answers in by_goal(statistics.answers)}
    for scenario in statistics.scenarios:
        for goal, scenarios in goals.items():
            if scenario.key in scenarios:
                levels = scenarios[scenario.key]
                beta = scenario.dataset.planted(scenario.bias).highest(
                    scenario.telling_levels(sorted(levels))
                )
                named = named_choices(levels[beta]).get(LEAST)
                recommended = named if named and named.outcome == "helps" else None
                yield scenario, beta, goal, recommended


def _effect_without_bias(statistics: RunStatistics, scenario: Scenario, technique: str) -> str:
    """Return sentences on a technique's effect without planted bias; nothing if it was not measured."""
    rows = scenario.rows(statistics.answers)
    rows = rows[(rows["goal"] == EQUALISE) & (rows["beta"] == 0)]
    by_name = {row.technique: row for _, _, answers in by_level(rows) for row in answers}
    row = by_name.get(technique)
    if row is None or row.baseline not in by_name or math.isnan(row.accuracy_change):
        return ""
    before, name = by_name[row.baseline], statistics.run.titles[row.baseline]
    cost = change_text(row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high)
    text = (
        f" Where nothing is planted, it changes accuracy by {cost}. It accepts "
        f"{share(row.accepted_deprived)} of the deprived group ({name}: {share(before.accepted_deprived)}) "
        f"and {share(row.accepted_favored)} of the favored ({name}: {share(before.accepted_favored)})."
    )
    if rates := scenario.dataset.entry.true_rates:
        text += f" The outside rates are {share(rates['deprived'])} and {share(rates['favored'])}."
    return text


def _lines(statistics: RunStatistics, scenario: Scenario, technique: str) -> tuple[str, str]:
    """Return the lines that apply a scenario's technique, and a remark; or no lines, and the reason."""
    run, entry = statistics.run, scenario.dataset.entry
    card = entry.find_card()
    if card is None:
        return "", "No lines of Python are shown: the dataset's card is missing."
    if entry.columns:
        return "", "No lines of Python are shown: the experiment reads columns otherwise than the card."
    method = next(entry for entry in run.techniques if entry.name == technique)
    classifier = _classifier(run.experiment.settings, scenario.classifier)
    if classifier is None:
        return "", "No lines of Python are shown: the classifier takes numbers, and FairClassifier states."
    configured = run.code.techniques.get(f"{technique} on {entry.name}", {})
    named = method.technique
    parameters = _changed(named, configured.get("parameters", method.parameters))
    lines = card_snippet(card, entry.card, named, parameters=parameters, classifier=classifier)
    if not lines:
        return "", "No lines of Python are shown: FairClassifier takes no intersections of columns."
    if find_technique(named) is None:
        loads = "".join(f"load_plugin({plugin!r})\n" for plugin in run.code.plugins)
        lines = f"from benchmark.techniques import load_plugin\n{lines}".replace(
            "\ndataset", f"\n{loads}dataset", 1
        )
    remark = ""
    if method.tuned:
        remark = " Its parameters were tuned in each sample. These lines have the values before tuning."
    if entry.accept is not None:
        remark += (
            f" The run accepts {share(entry.accept)} of the people, and predict cuts scores at one half. "
            "Accept as many by predict_proba."
        )
    return lines, remark


def _classifier(settings: dict[str, Any], name: str) -> str | dict[str, Any] | None:
    """Return a classifier in the form that the estimator takes; None if it does not take it."""
    if name == OWN:
        return ""
    entries = [entry for entry in settings.get("classifiers", ()) if entry["name"] == name]
    entry = entries[0] if entries else {"classifier": name}
    if entry.get("encoding") == "numbers":
        return None
    more = {
        key: entry[key] for key in ("parameters", "encoding") if entry.get(key, "") not in ({}, "one_hot", "")
    }
    return {"classifier": entry["classifier"], **more} if more else str(entry["classifier"])


def _changed(technique: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    try:
        defaults: dict[str, Any] = dict(get_technique(technique).parameters)
    except BetabenchError:  # of a plugin, or of a package that is not here
        defaults = {}
    return {
        name: value for name, value in parameters.items() if name not in defaults or defaults[name] != value
    }
