"""The guide leads whoever answers its questions to metrics that exist, and says why."""

from __future__ import annotations

import doctest
from collections.abc import Iterator

import pytest

from benchmark.audit import PARITIES, TREE, Question, guide, walk
from benchmark.errors import UnknownNameError
from benchmark.metrics import get_metric


def paths(step: Question | tuple[str, ...] = TREE) -> Iterator[dict[str, str]]:
    """Yield the answers of every way through the tree."""
    if not isinstance(step, Question):
        yield {}
        return
    for answer in step.answers:
        for rest in paths(answer.then):
            assert step.name not in rest, "a question is asked twice"
            yield {step.name: answer.name, **rest}


@pytest.mark.parametrize("answers", list(paths()), ids=lambda answers: "-".join(answers.values()))
def test_every_way_ends_at_metrics_with_a_reason_for_each_answer(answers: dict[str, str]) -> None:
    end = walk(answers)
    assert end.question is None
    assert len(end.reasons) == len(answers)
    assert all(end.reasons)
    assert end.metrics
    for metric, parity in zip(end.metrics, end.parities, strict=True):
        assert get_metric(f"{metric}_disparity").compare == "against_reference"
        assert PARITIES[parity] == (metric,)
        if answers["labels"] == "no":
            assert "y_true" not in get_metric(metric).needs


@pytest.mark.parametrize("answers", list(paths()), ids=lambda answers: "-".join(answers.values()))
def test_questions_come_one_at_a_time(answers: dict[str, str]) -> None:
    given: dict[str, str] = {}
    for name, answer in answers.items():
        step = walk(given)
        assert step.metrics == step.parities == ()
        assert len(step.reasons) == len(given)
        assert step.question is not None
        assert step.question.name == name
        assert answer in {known.name for known in step.question.answers}
        given[name] = answer
    assert walk(given) == walk(answers)


ERRORS = {"labels": "yes", "concern": "errors"}


@pytest.mark.parametrize(
    ("answers", "parities"),
    [
        # Saleiro et al. (2018), section 4.1: help for 150 of 400,000 people.
        ({"intervention": "assistive", "reach": "few"}, {"FOR Parity"}),
        # Section 4.2: help for all whom a clinic is likely to lose.
        ({"intervention": "assistive", "reach": "most"}, {"FOR Parity", "FNR Parity"}),
        # Section 4.3: training or supervision for 150 police officers.
        ({"intervention": "both", "reach": "few"}, {"FDR Parity", "FOR Parity"}),
        # Appendix A: detention before trial.
        ({"intervention": "punitive", "reach": "most"}, {"FDR Parity", "FPR Parity"}),
    ],
)
def test_the_published_case_studies(answers: dict[str, str], parities: set[str]) -> None:
    assert set(walk(ERRORS | answers).parities) == parities


def test_equal_numbers_and_equal_rates_are_not_the_same() -> None:
    for start in ({"labels": "no"}, {"labels": "yes", "concern": "representation"}):
        assert walk({**start, "share": "equal"}).metrics == ("predicted_positive_share",)
        assert walk({**start, "share": "proportional"}).metrics == ("selection_rate",)


def test_answers_that_are_not_asked_for_have_no_effect() -> None:
    answers = {"labels": "no", "share": "equal"}
    assert walk({**answers, "reach": "few", "weather": "fine"}) == walk(answers)


def test_an_unknown_answer_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'punitive'"):
        walk({**ERRORS, "intervention": "punative"})


def test_the_examples_run() -> None:
    results = doctest.testmod(guide)
    assert (results.attempted, results.failed) == (2, 0)
