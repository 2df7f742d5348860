"""The metrics that matter: questions about an intervention, and recommendations that follow from answers.

The tree, in ``guide.toml``, follows the fairness tree of Saleiro et al. (2018), figure 3, and their sections
3.2.4, 3.3 and 4. To ask step by step, call :func:`walk` with the answers so far until it returns no question.
*Positives* are people selected for the intervention, as in :mod:`benchmark.audit.disparity`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmark.audit.disparity import PARITIES
from benchmark.declarations import package_toml
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

    # Metrics whose disparities matter, the most important first; empty at a question.
    metrics: tuple[str, ...]
    reasons: tuple[str, ...]  # a reason for each answer
    question: Question | None  # the next question

    @property
    def parities(self) -> tuple[str, ...]:
        """The verdicts on these metrics, of :data:`~benchmark.audit.disparity.PARITIES`."""
        return tuple(name for metric in self.metrics for name, of in PARITIES.items() if of == (metric,))


_QUESTIONS = package_toml(__package__, "guide.toml")


def _question(key: str) -> Question:
    entry = _QUESTIONS[key]
    answers = (
        Answer(
            name,
            answer["text"],
            answer["reason"],
            _question(answer["then"]) if "then" in answer else tuple(answer["metrics"]),
        )
        for name, answer in entry["answers"].items()
    )
    return Question(entry["name"], entry["text"], tuple(answers))


TREE = _question("labels")
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
