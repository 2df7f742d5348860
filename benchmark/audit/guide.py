"""The metrics that matter: questions about an intervention, and recommendations that follow from answers.

The tree follows the fairness tree of Saleiro et al. (2018), figure 3, and their sections 3.2.4, 3.3 and 4. It
is data: to ask step by step, call :func:`walk` with the answers so far until it returns no question.
*Positives* are people selected for the intervention, as in :mod:`benchmark.audit.disparity`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmark.audit.disparity import PARITIES
from benchmark.errors import UnknownNameError


@dataclass(frozen=True)
class Answer:
    """A possible answer to a question."""

    name: str
    text: str
    reason: str  # why it leads to the next step
    then: Question | tuple[str, ...]  # the next question, or names of metrics, the most important first


@dataclass(frozen=True)
class Question:
    """A question about the intervention, and all possible answers."""

    name: str  # the key of its answer
    text: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Recommendation:
    """The metrics that follow from some answers, or the next question."""

    metrics: tuple[
        str, ...
    ]  # metrics whose disparities matter, the most important first; empty at a question
    reasons: tuple[str, ...]  # a reason for each answer
    question: Question | None  # the next question

    @property
    def parities(self) -> tuple[str, ...]:
        """The verdicts on these metrics, of :data:`~benchmark.audit.disparity.PARITIES`."""
        return tuple(name for metric in self.metrics for name, of in PARITIES.items() if of == (metric,))


_SHARE = Question(
    "share",
    "What should each group get?",
    (
        Answer(
            "equal",
            "as many places as every other group, however large it is",
            "With equal numbers, each group is the same share of all selected people. Small groups reach "
            "that only if their members are selected more often than others.",
            ("predicted_positive_share",),
        ),
        Answer(
            "proportional",
            "places in proportion to its size",
            "With places in proportion to size, members of all groups are selected equally often.",
            ("selection_rate",),
        ),
    ),
)


def _reach(few: str, few_metrics: tuple[str, ...], most: str, most_metrics: tuple[str, ...]) -> Question:
    """Return the question for an intervention's reach: reasons and metrics if it reaches few, or most."""
    return Question(
        "reach",
        "How many of the people that the intervention is meant for can it reach?",
        (
            Answer("few", "only a small share: there are far fewer places", few, few_metrics),
            Answer("most", "most of them", most, most_metrics),
        ),
    )


_PUNITIVE = _reach(
    "With few places hardly anybody is selected without cause. False positive rates are close to 0 in every "
    "group, and their ratios say little. The share of wrong selections still differs between groups.",
    ("false_discovery_rate",),
    "Two rates of wrong selections count: among people without cause, and among the selected.",
    ("false_positive_rate", "false_discovery_rate"),
)
_ASSISTIVE = _reach(
    "With few places almost everybody in need is left out. False negative rates are close to 1 in every "
    "group, whatever the model does. The share of people in need among those left out still differs.",
    ("false_omission_rate",),
    "Two rates of missed people count: among people in need, and among people left out.",
    ("false_negative_rate", "false_omission_rate"),
)
_MIXED = _reach(
    "With few places, rates among people who should or should not be selected are close to 1 or 0 in every "
    "group. The shares of errors among the selected, and among people left out, still differ.",
    ("false_discovery_rate", "false_omission_rate"),
    "Wrong selections and missed people both count, each in two rates: among the people whom the error can "
    "happen to, and among the people with the same decision.",
    ("false_positive_rate", "false_discovery_rate", "false_negative_rate", "false_omission_rate"),
)
_INTERVENTION = Question(
    "intervention",
    "What does being selected do to a person?",
    (
        Answer(
            "punitive",
            "it hurts, or costs them something",
            "Being selected wrongly does harm, being left out does not: false positives count.",
            _PUNITIVE,
        ),
        Answer(
            "assistive",
            "it helps them",
            "Being left out in need does harm, being helped without need does not: false negatives count.",
            _ASSISTIVE,
        ),
        Answer(
            "both",
            "it can help or hurt",
            "Being selected wrongly does harm, and so does being left out: both kinds of error count.",
            _MIXED,
        ),
    ),
)

_CONCERN = Question(
    "concern",
    "What should not depend on the group?",
    (
        Answer(
            "representation",
            "who is selected, rightly or not",
            "The selection itself matters, whatever the labels say.",
            _SHARE,
        ),
        Answer(
            "errors",
            "who is selected or left out wrongly",
            "Groups may differ in how many are selected, but not in how often that is wrong.",
            _INTERVENTION,
        ),
    ),
)

TREE = Question(
    "labels",
    "Is it known reliably who ought to have been selected?",
    (
        Answer(
            "no",
            "there are no labels, or they are biased themselves",
            "Without trustworthy labels errors are unknown; only selection rates can be compared.",
            _SHARE,
        ),
        Answer(
            "yes",
            "there are reliable labels, for people of every group",
            "With labels, both selections and errors can be compared.",
            _CONCERN,
        ),
    ),
)
"""The first question; answers lead to the others."""


def walk(answers: Mapping[str, str]) -> Recommendation:
    """Return the recommendation of answers by the names of questions, or the first open question.

    Answers to questions that are not reached have no effect. An UnknownNameError means that a question has no
    such answer.

    Examples
    --------
    >>> walk({}).question.name
    'labels'
    >>> walk({"labels": "no", "share": "proportional"}).metrics
    ('selection_rate',)
    """
    step: Question | tuple[str, ...] = TREE
    reasons: list[str] = []
    while isinstance(step, Question):
        if step.name not in answers:
            return Recommendation((), tuple(reasons), step)
        options = {answer.name: answer for answer in step.answers}
        name = answers[step.name]
        if name not in options:
            raise UnknownNameError(f"answer to {step.text!r}", name, options)
        reasons.append(options[name].reason)
        step = options[name].then
    return Recommendation(step, tuple(reasons), None)
