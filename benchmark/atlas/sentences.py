"""Advice in words, the most important sentence first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchmark.columns import RESTORE
from benchmark.declarations import title_of
from benchmark.experiment.quick_defaults import TECHNIQUES as TRIED_BY_QUICK
from benchmark.text.words import few
from benchmark.wording import render_plain, vocabulary

if TYPE_CHECKING:
    from benchmark.atlas.adviser import Advice, Adviser, Question

WORDS: Mapping[str, Any] = vocabulary()["advice"]
"""Words of goals, stages, kinds of bias, grades of evidence, techniques and comparisons, by their names."""

NOT_KNOWN, SIMPLE, CHECKED = WORDS["grade"]
"""Grades of evidence: too few clusters; a rule that needs no data; advice that beats the simple rules."""


def name_of(technique: str) -> str:
    """Return a technique's name in words, with its name in files where that differs."""
    title = WORDS["technique"].get(technique, title_of(technique).lower())
    return title if title == technique else f"{title} ({technique})"


def sentences_of(
    advice: Advice, question: Question, adviser: Adviser, dose: float | None = None
) -> tuple[str, ...]:
    """Return the advice in words; ``dose`` is the dose that was asked for, before the nearest was taken."""
    candidates = adviser.techniques(question.stage, group_known=question.group_known)
    restoring = adviser.records(RESTORE, question.learner, question.bias, question.dose)
    text = render_plain(
        "advice",
        advice=advice,
        question=question,
        dose=dose,
        by=adviser.verdicts[advice.goal].by,
        tried=adviser.records(question.goal, question.learner).keys() & {*candidates},
        restoring=restoring.get(advice.technique),
        condition=condition_of(question),
        tried_by_quick=TRIED_BY_QUICK,
        words=WORDS,
        digits=few_digits,
        few=few,
        name_of=name_of,
        inf=math.inf,
    )
    return tuple(filter(None, text.splitlines()))


def condition_of(question: Question) -> str:
    """Return what somebody fears, as a condition."""
    return f"If {WORDS['bias'][question.bias]}" if question.bias else "If you fear a bias of an unknown kind"


def few_digits(value: float) -> str:
    """Return a number of rows or a share as text."""
    if math.isnan(value):
        return "not measurable"
    return f"{value:,.0f}" if value > 1 else f"{value:.3f}"
