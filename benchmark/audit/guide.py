"""Which metrics matter: questions to those who decide on an intervention, and what follows from answers.

The tree follows the fairness tree of Saleiro et al. (2018), figure 3, and what their sections 3.2.4, 3.3 and
4 say about it. It is data: to ask step by step, call :func:`walk` with the answers so far until there is no
further question. *Positives* are those selected for the intervention, as in
:mod:`benchmark.audit.disparity`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmark.audit.disparity import PARITIES
from benchmark.errors import UnknownNameError


@dataclass(frozen=True)
class Answer:
    """An answer, what that means, and why it leads where it does.

    ``then`` is the next question, or the names of the metrics that matter, the most telling first.
    """

    name: str
    text: str
    reason: str
    then: Question | tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A question about the intervention, and all possible answers; ``name`` is the key of the answer."""

    name: str
    text: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Recommendation:
    """Where some answers lead."""

    # Names of the metrics whose disparities matter, the most telling first; none while a question is open.
    metrics: tuple[str, ...]
    reasons: tuple[str, ...]  # why, one for each answer
    question: Question | None  # what to answer next

    @property
    def parities(self) -> tuple[str, ...]:
        """What these metrics are judged by, of :data:`~benchmark.audit.disparity.PARITIES`."""
        return tuple(name for metric in self.metrics for name, of in PARITIES.items() if of == (metric,))


_SHARE = Question(
    "share",
    "What should each group get?",
    (
        Answer(
            "equal",
            "as many places as every other group, however large it is",
            "Equal numbers mean that each group is the same share of all who are selected. Small groups "
            "reach that only if their members are selected more often than others.",
            ("predicted_positive_share",),
        ),
        Answer(
            "proportional",
            "places in proportion to its size",
            "In proportion to size means that a member of each group is selected equally often.",
            ("selection_rate",),
        ),
    ),
)


def _reach(few: str, of_few: tuple[str, ...], most: str, of_most: tuple[str, ...]) -> Question:
    """Return the question for the reach of an intervention: reason and metrics if it reaches few, or most."""
    return Question(
        "reach",
        "How many of those whom the intervention is meant for can it reach?",
        (
            Answer("few", "only a small share: there are far fewer places", few, of_few),
            Answer("most", "most of them", most, of_most),
        ),
    )


_PUNITIVE = _reach(
    "With few places hardly anybody without cause is selected, so that false positive rates are close to "
    "0 in every group and their ratios say little. How many of those selected are selected wrongly still "
    "tells the groups apart.",
    ("false_discovery_rate",),
    "Both views of a wrong selection count: how often it meets those who gave no cause, and how often those "
    "selected are the wrong ones.",
    ("false_positive_rate", "false_discovery_rate"),
)
_ASSISTIVE = _reach(
    "With few places almost everybody in need is left out, so that false negative rates are close to 1 in "
    "every group whatever the model does. How many of those left out are in need still tells the groups "
    "apart.",
    ("false_omission_rate",),
    "Both views of a missed person count: how often those in need are left out, and how often those left out "
    "are in need.",
    ("false_negative_rate", "false_omission_rate"),
)
_MIXED = _reach(
    "With few places, rates among those who should or should not be selected are close to 1 or 0 in "
    "every group. What tells the groups apart is how many are wrong among those selected, and among "
    "those left out.",
    ("false_discovery_rate", "false_omission_rate"),
    "Wrong selections and missed people both count, each among those whom they happen to and among those who "
    "are treated alike.",
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
            "Who is selected is what matters, whatever the labels say.",
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
    "Is it known, and to be trusted, who ought to have been selected?",
    (
        Answer(
            "no",
            "there are no labels, or they are biased themselves",
            "Without trustworthy labels errors cannot be told; what can be compared is who is selected.",
            _SHARE,
        ),
        Answer(
            "yes",
            "labels tell it, for people of every group alike",
            "With labels, both who is selected and who is selected wrongly can be compared.",
            _CONCERN,
        ),
    ),
)
"""The first question; answers lead to the others."""


def walk(answers: Mapping[str, str]) -> Recommendation:
    """Follow answers through the tree (Saleiro et al. 2018, figure 3), to its end or the first open question.

    Parameters
    ----------
    answers : mapping of str to str
        Name of the answer by name of the question. Answers to questions that are not met on the way have no
        effect.

    Raises
    ------
    UnknownNameError
        If a question that is met has no such answer.

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
        known = {answer.name: answer for answer in step.answers}
        name = answers[step.name]
        if name not in known:
            raise UnknownNameError(f"answer to {step.text!r}", name, known)
        reasons.append(known[name].reason)
        step = known[name].then
    return Recommendation(step, tuple(reasons), None)
