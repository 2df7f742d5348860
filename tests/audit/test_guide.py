"""The guide leads whoever answers its questions to metrics that exist, and says why."""

from __future__ import annotations

import doctest
from collections.abc import Iterator

import pytest

from benchmark.audit import PARITIES, QUESTIONS, guide, walk
from benchmark.errors import UnknownNameError
from benchmark.metrics import get_metric


def paths(key: str = "labels") -> Iterator[dict[str, str]]:
    """Yield the answers of every way through the questions."""
    for name, answer in QUESTIONS[key]["answers"].items():
        for rest in paths(answer["then"]) if "then" in answer else [{}]:
            assert QUESTIONS[key]["name"] not in rest, "a question is asked twice"
            yield {QUESTIONS[key]["name"]: name, **rest}


@pytest.mark.parametrize("answers", list(paths()), ids=lambda answers: "-".join(answers.values()))
def test_every_way_asks_one_by_one_and_ends_at_metrics_with_a_reason_for_each_answer(
    answers: dict[str, str],
) -> None:
    given: dict[str, str] = {}
    for name, answer in answers.items():
        step = walk(given)
        assert step.metrics == step.parities == ()
        assert len(step.reasons) == len(given)
        assert step.question is not None
        assert step.question["name"] == name
        assert answer in step.question["answers"]
        given[name] = answer
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
    assert walk({**answers, "weather": "fine"}) == end


ERRORS = {"labels": "yes", "concern": "errors"}


@pytest.mark.parametrize(
    ("answers", "parities"),
    [
        # Saleiro et al. (2018), section 4.1: help for 150 of 400,000 people.
        ({**ERRORS, "intervention": "assistive", "reach": "few"}, {"FOR Parity"}),
        # Section 4.2: help for all whom a clinic is likely to lose.
        ({**ERRORS, "intervention": "assistive", "reach": "most"}, {"FOR Parity", "FNR Parity"}),
        # Section 4.3: training or supervision for 150 police officers.
        ({**ERRORS, "intervention": "both", "reach": "few"}, {"FDR Parity", "FOR Parity"}),
        # Appendix A: detention before trial.
        ({**ERRORS, "intervention": "punitive", "reach": "most"}, {"FDR Parity", "FPR Parity"}),
        # Equal numbers and equal rates are not the same; "reach" is not asked here.
        ({"labels": "no", "share": "equal", "reach": "few"}, {"Statistical Parity"}),
        ({"labels": "no", "share": "proportional"}, {"Impact Parity"}),
        ({"labels": "yes", "concern": "representation", "share": "equal"}, {"Statistical Parity"}),
    ],
)
def test_the_published_case_studies(answers: dict[str, str], parities: set[str]) -> None:
    assert set(walk(answers).parities) == parities


def test_an_unknown_answer_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'punitive'"):
        walk({**ERRORS, "intervention": "punative"})


def test_the_examples_run() -> None:
    results = doctest.testmod(guide)
    assert (results.attempted, results.failed) == (2, 0)
