"""How to use what a run recommends: the lines of Python that apply it."""

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
from benchmark.statistics.answer_record import Answer, by_level
from benchmark.statistics.cells import ScenarioKey
from benchmark.statistics.choices import LEAST
from benchmark.techniques import find_technique, get_technique
from benchmark.text.words import share

NO_LINES = (
    "No technique is recommended at the highest level of bias: no lines of Python are shown that apply one."
)
"""Said where there are none."""

CHECK = "Check the decisions on rows that the model has not seen."

TITLE = "Use a recommended technique"

_MOST_NAMED = 12  # scenarios for which a technique is named


def section(statistics: RunStatistics) -> Section:
    """Return what is recommended at the highest level of bias, and the lines that apply it."""
    (*places, said), lines = winner(statistics)
    blocks = [Block("Lines of Python", code=lines, remarks=(CHECK,))] if lines else []
    return Section("use", TITLE, (*places, said), blocks)


def winner(statistics: RunStatistics) -> tuple[list[str], str]:
    """Name a technique for each goal at the highest level of bias of each scenario, and apply the first.

    It is the one that is recommended because it comes nearest to the goal; to restore decisions comes first.

    Returns
    -------
    list of str
        Sentences: one for each scenario, and what the lines apply, or why there are none.
    str
        Lines of Python; empty if no technique is named, or the run does not say enough.
    """
    places, said, lines = [], NO_LINES, ""
    for scenario, beta, goal, row in _named(statistics):
        where, purpose = f"{scenario.heading} at {statistics.run.level_text(beta)}", WORDS[goal].purpose
        if row is None:
            places.append(f"{where}: no technique is recommended {purpose}.")
            continue
        title = statistics.run.titles[row.technique]
        places.append(f"{where}: {title} is recommended {purpose}.")
        if not lines:
            lines, remark = _lines(statistics, scenario, row.technique)
            said = remark
            if lines:
                done = _as_it_is(statistics, scenario, row.technique)
                said = f"These lines apply {title} to {scenario.dataset.heading}, {purpose}.{remark}{done}"
    if len(places) > _MOST_NAMED:
        places = [*places[:_MOST_NAMED], f"{len(places) - _MOST_NAMED} more are not listed here."]
    return [*places, said], lines


def _named(statistics: RunStatistics) -> Iterator[tuple[Scenario, float, str, Answer | None]]:
    """Yield each scenario, its highest level of bias, a goal, and the answer that is named, or None."""
    told: dict[str, dict[ScenarioKey, dict[float, list[Answer]]]] = {}
    for goal, answers in by_goal(statistics.answers):
        for key, beta, rows in by_level(answers):
            told.setdefault(goal, {}).setdefault(key, {})[beta] = rows
    for scenario in statistics.scenarios:
        for goal, scenarios in told.items():
            if scenario.key in scenarios:
                levels = scenarios[scenario.key]
                beta = scenario.dataset.planted(scenario.bias).highest(levels)
                named = named_choices(levels[beta]).get(LEAST)
                recommended = named if named and named.verdict == "recommended" else None
                yield scenario, beta, goal, recommended


def _as_it_is(statistics: RunStatistics, scenario: Scenario, technique: str) -> str:
    """Say what a technique does where nothing is planted, as the lines apply it; nothing if not measured."""
    rows = scenario.rows(statistics.answers)
    rows = rows[(rows["goal"] == EQUALISE) & (rows["beta"] == 0)]
    found = {row.technique: row for _, _, answers in by_level(rows) for row in answers}
    row = found.get(technique)
    if row is None or row.baseline not in found or math.isnan(row.accuracy_change):
        return ""
    before, name = found[row.baseline], statistics.run.titles[row.baseline]
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
    """Return the lines that apply a technique as a scenario has it, and a remark; or nothing, and why."""
    run, entry = statistics.run, scenario.dataset.entry
    card = entry.find_card()
    if card is None:
        return "", "No lines of Python are shown: the dataset's card is not at hand."
    method = next(own for own in run.techniques if own.name == technique)
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
            "\nframe", f"\n{loads}frame", 1
        )
    tuned = " Its parameters were tuned in each sample; these lines leave them at what is tuned from."
    return lines, tuned if method.tuned else ""


def _classifier(settings: dict[str, Any], name: str) -> str | dict[str, Any] | None:
    """Return a classifier as the estimator takes it; None if it does not take it."""
    if name == OWN:
        return ""
    entries = [own for own in settings.get("classifiers", ()) if own["name"] == name]
    entry = entries[0] if entries else {"classifier": name}
    if entry.get("encoding") == "numbers":
        return None
    more = {
        key: entry[key] for key in ("parameters", "encoding") if entry.get(key, "") not in ({}, "one_hot", "")
    }
    return {"classifier": entry["classifier"], **more} if more else str(entry["classifier"])


def _changed(technique: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that are not left at their defaults."""
    try:
        defaults: dict[str, Any] = dict(get_technique(technique).parameters)
    except BetabenchError:  # of a plugin, or of a package that is not here
        defaults = {}
    return {name: own for name, own in parameters.items() if name not in defaults or defaults[name] != own}
