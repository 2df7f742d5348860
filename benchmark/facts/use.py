"""The technique to take at the highest level of bias, and the lines of Python that apply it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.errors import BetabenchError
from benchmark.estimator.snippet import card_snippet
from benchmark.facts.model import Reason, Scenario, Use
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import OWN_LEARNERS
from benchmark.techniques import find_technique, get_technique


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
