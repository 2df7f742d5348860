"""Each question has a template that words its facts; words are escaped, complete and said once.

``templates.txt`` has the Markdown of each. ``python -m tests.wording.test_templates`` writes it anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from benchmark import wording
from benchmark.facts.model import Answers, Estimate, Facts, Reason, Technique
from benchmark.statistics import recommendation
from benchmark.wording import PARTS, QUESTIONS, as_html, reason_text, render, vocabulary
from tests.helpers.facts import answers, small_facts, standing, whole_facts
from tests.helpers.snapshots import read_texts, write_texts

TEMPLATES = sorted(
    path.name.removesuffix(".md.j2") for path in files(wording).joinpath("templates").iterdir()
)
SNAPSHOT = Path(__file__).with_name("templates.txt")


def page(template: str, facts: Facts) -> str:
    """Return the text of a template that is a page or part of one."""
    return render(template, facts, pictures=[])


def with_answers(given: Answers, **changes: Any) -> Facts:
    """Return small facts with other answers, and other fields of the scenario."""
    (scenario,) = small_facts().scenarios
    return small_facts(scenarios=(scenario.model_copy(update={"answers": (given,), **changes}),))


def another_baseline() -> Facts:
    rows = standing("one", 0.3, role="baseline"), standing("none", 0.3, role="reference")
    return with_answers(answers(techniques=rows), baseline="one")


def not_compared() -> Facts:
    rows = standing("none", 0.3, role="baseline"), standing("one", 0.2, verdict="not_shown")
    return with_answers(answers(reason=Reason(code="no_effect_shown"), techniques=rows))


def hostile() -> Facts:
    titles = {"none": "a|b", "one": "*bold* <script>", "two": "$x$ `code`"}
    return small_facts(techniques=tuple(Technique(name=n, title=t, method=n) for n, t in titles.items()))


def unknown_bias() -> Facts:
    hidden = whole_facts().hidden
    assert hidden is not None
    unknown = {"reason": Reason(code="hidden_unknown"), "true_gap": None, "recorded_gap": None}
    return small_facts(hidden=hidden.model_copy(update=unknown))


def fenced() -> Facts:
    use = whole_facts().use
    assert use is not None
    return small_facts(use=use.model_copy(update={"code": "text = '```'\n"}))


TEXTS: dict[str, Callable[[], str]] = {
    **{name: lambda name=name: page(name, whole_facts()) for name in QUESTIONS},  # type: ignore[misc]
    "the first page": lambda: page("readme", small_facts()),
    "the first page with another baseline": lambda: page("readme", another_baseline()),
    "a level without an answer": lambda: page("answers", not_compared()),
    "text from outside": lambda: page("answers", hostile()),
    "code with fences": lambda: page("use", fenced()),
    "an unknown amount of hidden bias": lambda: page("hidden", unknown_bias()),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_markdown_is_in_the_file(name: str) -> None:
    assert TEXTS[name]().rstrip().splitlines() == read_texts(SNAPSHOT)[name].splitlines()


def test_every_question_is_a_template() -> None:
    assert {*QUESTIONS, "answers", "readme", "details"} <= {*TEMPLATES}
    assert [*read_texts(SNAPSHOT)] == [*TEXTS]
    assert sorted(itertools.chain(*PARTS.values())) == sorted(QUESTIONS), "each is in one tab of the page"


@pytest.mark.parametrize("template", ["decisions", "gaps", "ranks", "tuning", "frontier", "hidden"])
def test_a_question_without_facts_says_nothing(template: str) -> None:
    assert page(template, small_facts()).strip() == ""


@pytest.mark.parametrize("template", ["readme", "details", *QUESTIONS])
def test_tables_have_as_many_cells_in_each_row(template: str) -> None:
    width = 0
    for line in page(template, whole_facts()).splitlines():
        cells = line.replace("\\|", "").count("|") if line.startswith("|") else 0
        assert not (width and cells) or cells == width, line
        width = cells


def test_words_are_said_once_on_the_first_page() -> None:
    text = page("readme", small_facts())
    for verdict in vocabulary()["verdict"].values():
        assert text.count(verdict["meaning"]) == 1
    assert text.count(vocabulary()["reason"]["constant"]["meaning"]) == 1, "it stands beside a number"
    assert "<script" not in as_html(page("answers", hostile()))


def test_a_reason_does_not_say_that_the_baseline_is_doing_nothing() -> None:
    # It may be any technique: an experiment declares it, and a report takes another one.
    said = [text for reason in vocabulary()["reason"].values() for text in reason.values()]
    assert not [text for text in said if "doing nothing" in text]


@pytest.mark.parametrize(("folds", "overlaps"), [(None, True), (3, True), (3, False)])
def test_runs_whose_single_folds_are_missing_say_that_nothing_can_be_shown(
    folds: int | None, overlaps: bool
) -> None:
    unknown = standing("one", 0.05, gain=Estimate(mean=0.25), verdict="not_shown")
    at = answers(techniques=(standing("none", 0.3, role="baseline"), unknown), detectable=None)
    facts = with_answers(at)
    protocol = facts.run.protocol.model_copy(update={"holdout": None, "folds": folds, "overlaps": overlaps})
    facts = facts.model_copy(update={"run": facts.run.model_copy(update={"protocol": protocol})})
    # Where splits do not overlap, folds are not needed: one repetition alone has no interval.
    is_missing = folds is not None and overlaps
    assert ("single folds" in render("warnings", facts, read=None)) == is_missing
    # One interval says that folds are there.
    scenario = facts.scenarios[0].model_copy(update={"answers": (at, answers())})
    several = facts.model_copy(update={"scenarios": (scenario,)})
    assert "single folds" not in render("warnings", several, read=None)


ARGS = {"kind": "refuses_all", "samples": 2, "of": 10, "shares": True, "accepts": True, "group": "all"}
ARGS |= {"verb": "accepts", "share": 0.2, "reference": 0.5, "distance": 0.1, "before": 0.3}
ARGS |= {"hidden": 0.1, "most": 0.2, "accuracy": 0.7, "floor": 0.8}


@pytest.mark.parametrize("code", vocabulary()["reason"])
def test_every_reason_has_a_label_a_clause_and_a_meaning(code: str) -> None:
    args = ARGS | ({"of": "labels"} if code == "too_few_accepted" else {})
    for form in ("label", "clause"):
        assert reason_text(Reason(code=code, args=args), form)
    assert vocabulary()["reason"][code]["meaning"].endswith(".")


def test_every_code_of_the_statistics_has_words() -> None:
    codes = {code for reasons in recommendation.REASONS.values() for code in reasons}
    codes |= {*recommendation.NOT_RESTORED, recommendation.BASELINE_CONSTANT}
    assert codes - {""} <= {*vocabulary()["reason"]}
    assert {*recommendation.VERDICTS} == {*vocabulary()["verdict"]}
    for forms in vocabulary()["verdict"].values():
        assert {"label", "clause", "meaning"} <= {*forms}


if __name__ == "__main__":
    write_texts(SNAPSHOT, TEXTS)
