"""The metrics that matter: questions about an intervention, and recommendations that follow from answers.

To ask step by step, call :func:`walk` with the answers so far until it returns no question. *Positives* are
people selected for the intervention, as in :mod:`benchmark.audit.rates`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.audit.rates import PARITIES
from benchmark.declarations import package_toml
from benchmark.errors import UnknownNameError

QUESTIONS: Mapping[str, Mapping[str, Any]] = package_toml(__package__, "guide.toml")
"""The questions of ``guide.toml``, the first one first.

They follow the fairness tree of Saleiro et al. (2018), figure 3, and their sections 3.2.4, 3.3 and 4. A
question has a ``name`` (the key of its answer), a ``text``, and ``answers`` by name. An answer has a
``text``, the ``reason`` why it leads to the next step, and ``then``, the next question, or ``metrics``, the
most important first.
"""


@dataclass(frozen=True)
class Recommendation:
    """The metrics that follow from some answers, or the next question."""

    # Metrics whose disparities matter, the most important first; empty at a question.
    metrics: tuple[str, ...]
    reasons: tuple[str, ...]  # a reason for each answer
    question: Mapping[str, Any] | None  # the next question

    @property
    def parities(self) -> tuple[str, ...]:
        """The verdicts on these metrics, of :data:`~benchmark.audit.rates.PARITIES`."""
        return tuple(name for metric in self.metrics for name, of in PARITIES.items() if of == (metric,))


def walk(answers: Mapping[str, str]) -> Recommendation:
    """Return the recommendation of answers by the names of questions, or the first open question.

    Answers to questions that are not reached have no effect. An UnknownNameError means that a question has no
    such answer.

    Examples
    --------
    >>> walk({}).question["name"]
    'labels'
    >>> walk({"labels": "no", "share": "proportional"}).metrics
    ('selection_rate',)
    """
    step: Mapping[str, Any] = {"then": next(iter(QUESTIONS))}
    reasons: list[str] = []
    while "then" in step:
        question = QUESTIONS[step["then"]]
        if (name := answers.get(question["name"])) is None:
            return Recommendation((), tuple(reasons), question)
        if name not in question["answers"]:
            raise UnknownNameError(f"answer to {question['text']!r}", name, question["answers"])
        step = question["answers"][name]
        reasons.append(step["reason"])
    return Recommendation(tuple(step["metrics"]), tuple(reasons), None)
