"""Advice in words, the most important sentence first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchmark.atlas.features import SHAPE
from benchmark.atlas.recommenders import DROP_TECHNIQUE
from benchmark.atlas.regret import ALL, HIDDEN, TO_UNDO
from benchmark.columns import EQUALISE, RESTORE, UNTREATED
from benchmark.declarations import title_of
from benchmark.experiment.quick_defaults import TECHNIQUES as TRIED_BY_QUICK
from benchmark.text.words import few

if TYPE_CHECKING:
    from benchmark.atlas.adviser import Advice, Adviser, FalseAlarm, Question, Record

GOAL_WORDS = {RESTORE: "restore", EQUALISE: "equalize"}
"""Names of the goals for readers."""

STAGES = {"pre": "the data", "in": "the training", "post": "the predictions"}
"""What may be changed, by the stage of a technique."""

BIASES = {
    "label": "favorable labels of a group were wrongly turned",
    "borderline": "favorable labels of a group were wrongly turned, mostly of borderline people",
    "selection": "people of a group with the favorable label are missing",
    "under_representation_label": "people of a group are missing, and favorable labels were wrongly turned",
}
"""Biases that a user may fear, in words."""

NOT_KNOWN, SIMPLE, CHECKED = "not known", "simple rule", "checked advice"
"""Grades of evidence: too few clusters; a rule that needs no data; advice that beats the simple rules."""

EVIDENCE = {
    NOT_KNOWN: "Evidence: not known.",
    SIMPLE: "Evidence: simple rule, the same for all kinds of bias and all data.",
    CHECKED: "Evidence: checked advice, better than simple rules on data that it had not seen.",
}
"""Grades in words."""

AIMS = {
    RESTORE: "the distance to the acceptance rates of a model without the bias",
    EQUALISE: "the gap in acceptance between the groups",
}
"""What each goal lessens."""

REGRET_HEADINGS = {
    ALL: "Regret of each rule on unseen data: how much farther from the goal than the best choice",
    TO_UNDO: "The same where there was something to restore",
    HIDDEN: "The same where a part of the bias was hidden, and could only be judged by planting more",
}
"""Headings of comparisons of rules, by the set of scenarios."""

_TECHNIQUES = {
    DROP_TECHNIQUE: "leaving the group out",
    "drop_proxies": "leaving out the group and its proxies",
    "reweighing_favored": "reweighing to the favored group's rate",
}
_MOST_NAMED = 4


def name_of(technique: str) -> str:
    """Return a technique's name in words, with its name in files."""
    return f"{_TECHNIQUES.get(technique, title_of(technique).lower())} ({technique})"


def sentences_of(
    advice: Advice, question: Question, adviser: Adviser, dose: float | None = None
) -> tuple[str, ...]:
    """Return the advice in words; ``dose`` is the dose that was asked for, before the nearest was taken."""
    condition = condition_of(question)
    limits = [f"that changes {STAGES[question.stage]}"] if question.stage else []
    limits += [] if question.group_known else ["that works without the group of new people"]
    which = " ".join(["technique", " and ".join(limits)]).rstrip()
    candidates = adviser.techniques(question.stage, group_known=question.group_known)
    tried = adviser.records(question.goal, question.learner)
    if not tried.keys() & set(candidates):
        return (f"{condition}: nothing is known. No {which} was tried with this learner.",)
    if advice.ahead is not None or advice.outside:
        return (f"{condition}: what to try is not known for data like yours.", *_unlike_sentences(advice))
    if advice.grade == NOT_KNOWN:
        asked = "with this kind, dose and learner" if question.bias or question.dose else "with this learner"
        return (
            f"{condition}: what to try is not known.",
            f"Only {advice.n_clusters} independent sources of data were run {asked}.",
        )
    if advice.technique == UNTREATED:
        return (f"{condition}: no {which} lessens {AIMS[advice.goal]} on average elsewhere. Do nothing.",)
    name = name_of(advice.technique)
    if advice.shown:
        sentences = [f"{condition}: try {name}."]
    else:
        sentences = [
            f"{condition}: no {which} is shown to help here.",
            f"The best on average elsewhere is {name}.",
        ]
    sentences += _gain_sentences(advice)
    if advice.record is not None:
        sentences += _record_sentences(advice.goal, advice.record)
    if advice.goal == EQUALISE:
        sentences += _away_sentences(advice, question, adviser)
    elif advice.false_alarm is not None:
        sentences.append(_false_alarm_sentence(advice.false_alarm))
    sentences += _rule_sentences(advice, question, adviser)
    if dose != question.dose:
        sentences.append(f"No dose of {dose:g} was run: the numbers are of the nearest, {question.dose:g}.")
    if advice.technique not in TRIED_BY_QUICK:
        sentences.append(
            f"`betabench quick` tries it on your rows only with --techniques {advice.technique}."
        )
    return (*sentences, f"In Python: {advice.usage}.")


def condition_of(question: Question) -> str:
    """Return what somebody fears, as a condition."""
    return f"If {BIASES[question.bias]}" if question.bias else "If you fear a bias of an unknown kind"


def _unlike_sentences(advice: Advice) -> list[str]:
    """Return how a user's data differ from all sources, and what is known of such data."""
    elsewhere = f"On other data, the best on average is {name_of(advice.elsewhere)}."
    if (ahead := advice.ahead) is None:
        numbers = [
            f"Your {SHAPE[out.name]}: {few_digits(out.value)}; the sources have {few_digits(out.low)} to "
            f"{few_digits(out.high)}."
            for out in advice.outside
        ]
        return [*numbers, "No source of the atlas is like that.", elsewhere]
    sentences = ["In your data, the deprived group has the favorable label more often than the others."]
    if not ahead.scenarios:
        return [*sentences, "No source of the atlas is like that.", elsewhere]
    files = "file" if ahead.datasets == 1 else "files"
    source = "source" if ahead.clusters == 1 else "sources"
    return [
        *sentences,
        f"That holds in {ahead.scenarios} scenarios of the atlas: {ahead.datasets} {files} of "
        f"{ahead.clusters} independent {source} of data.",
        f"There, {name_of(advice.elsewhere)} was farther from the goal than doing nothing in "
        f"{100 * ahead.farther:.0f} % of the scenarios.",
        f"It changed {AIMS[advice.goal]} from {ahead.nothing:.3f} to {ahead.value:.3f} on average.",
        "On other data, it is the best on average.",
    ]


def few_digits(value: float) -> str:
    """Return a number of rows or a share as text."""
    if math.isnan(value):
        return "not measurable"
    return f"{value:,.0f}" if value > 1 else f"{value:.3f}"


def _gain_sentences(advice: Advice) -> list[str]:
    """Return sentences on the gain in data that the choice had not seen."""
    changed = "lessened" if advice.gain > 0 else "widened"
    sentences = [
        f"Each of {advice.n_clusters} independent sources of data got the choice that the others suggest.",
        f"That {changed} {AIMS[advice.goal]}: from {advice.nothing:.3f} to "
        f"{advice.nothing - advice.gain:.3f} on average.",
        f"The gain is {_with_ends(advice.gain, advice.low, advice.high, advice.n_corrected)}.",
    ]
    if advice.nothing_to_undo:
        sentences += [
            f"In {advice.nothing_to_undo} of {advice.n_scenarios} scenarios there was nothing to restore, by "
            "the rule of reports.",
            f"Without them, the gain is {_with_ends(*advice.gain_to_undo, advice.n_corrected)}.",
        ]
    if len(advice.by_dose) > 1:
        gains = ", ".join(
            f"{gain:.3f} at {dose:g}" + (f" ({n} sources)" if n < advice.n_clusters else "")
            for dose, (gain, n) in advice.by_dose.items()
        )
        sentences.append(f"It depends on how much the bias widened the label gap: {gains}.")
    return sentences


def _with_ends(gain: float, low: float, high: float, n_corrected: int) -> str:
    """Return a gain with its interval, which is corrected for a number of comparisons."""
    if math.isnan(gain):
        return "not known"
    if math.isinf(low):
        return f"{gain:.3f}; so few sources have no interval that is corrected for {n_corrected} comparisons"
    interval = f"interval of 95 %, corrected for {n_corrected} comparisons, from {low:.3f} to {high:.3f}"
    return f"{gain:.3f}, with an {interval}" + "; below 0 is farther away" * (low < 0)


def _record_sentences(goal: str, record: Record) -> list[str]:
    points = round(100 * record.accuracy_change, 1)
    accuracy = "stayed the same" if not points else f"{'rose' if points > 0 else 'fell'} by {abs(points):.1f}"
    sentences = [f"Its accuracy {accuracy}{' points' if points else ''}."]
    if goal == RESTORE and np.isfinite(record.given_back):
        sentences.append(
            f"Of 10 people whom the bias cost acceptance, it accepted {10 * record.given_back:.1f}. Training "
            f"again without a technique would accept {10 * record.by_chance:.1f} of them by chance."
        )
        sentences.append(
            f"Of 100 people whom a model without the bias refuses, it accepted "
            f"{100 * record.in_their_place:.0f} in place of {100 * record.in_their_place_nothing:.0f}."
        )
    if share_failed := round(100 * record.not_allowed):
        sentences.append(
            f"On average over the sources, it missed a limit such as accuracy in {share_failed} % of their "
            "scenarios: there, doing nothing counts in these numbers."
        )
    if record.failed:
        n, n_failed = len(record.datasets), len(record.failed)
        others = "other" if n_failed == _MOST_NAMED + 1 else "others"
        sentences.append(
            f"On {n_failed} of {n} datasets it did worse than doing nothing, or missed a limit such as "
            f"accuracy: {few(record.failed, _MOST_NAMED, others)}."
        )
    return sentences


def _away_sentences(advice: Advice, question: Question, adviser: Adviser) -> list[str]:
    """Return what equalizing does to the other goal."""
    restoring = adviser.records(RESTORE, question.learner, question.bias, question.dose)
    record = restoring.get(advice.technique)
    if record is None:
        return []
    moved = "came nearer to" if record.value < record.nothing else "moved away from"
    return [
        f"The acceptance rates {moved} those of a model without the bias: from "
        f"{record.nothing:.3f} to {record.value:.3f}."
    ]


def _false_alarm_sentence(alarm: FalseAlarm) -> str:
    people, points = round(100 * alarm.accepted_deprived), round(100 * alarm.accuracy, 1)
    more = "as many" if not people else f"{abs(people)} {'more' if people > 0 else 'fewer'}"
    change = f"{abs(points):.1f} points {'higher' if points > 0 else 'lower'}" if points else "the same"
    first = f"Where no bias was planted, it accepted {more} of 100 of the deprived group"
    return f"{first}; its accuracy was {change}."


def _rule_sentences(advice: Advice, question: Question, adviser: Adviser) -> list[str]:
    """Return what the rule says of other advice, and what a user's file changed."""
    by = adviser.verdicts[advice.goal].by
    if advice.rule in by:
        evidence = by[advice.rule]
        beaten = f"{evidence.difference:.3f} ({evidence.low:.3f} to {evidence.high:.3f})"
        return [f"Over all kinds and doses, this advice beats the best simple rule by {beaten}."]
    unchanged = ["Your file did not change this advice."] if question.features is not None else []
    if any(evidence.shown for evidence in by.values()):
        return [
            *unchanged,
            "Advice by kind of bias or features of the data is better in general.",
            "It needs the kind or your data, and was not checked under limits on the technique.",
        ]
    return [
        *unchanged,
        "Advice by kind of bias, dose or features of the data is not shown to be better.",
        "No more is known on which technique to try.",
    ]
