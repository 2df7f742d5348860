"""Each question has a template that words its facts; words are escaped, complete and said once."""

from __future__ import annotations

from importlib.resources import files

import pytest

from benchmark import wording
from benchmark.facts.model import Estimate, Facts, Reason, Technique
from benchmark.statistics import recommendation
from benchmark.wording import QUESTIONS, as_html, reason_text, render, vocabulary
from tests.helpers.facts import answers, small_facts, standing, whole_facts

TEMPLATES = sorted(
    path.name.removesuffix(".md.j2") for path in files(wording).joinpath("templates").iterdir()
)


def page(template: str, facts: Facts) -> str:
    """Return the text of a template that is a page or part of one."""
    return render(template, facts, pictures=[])


def test_every_question_is_a_template() -> None:
    assert {*QUESTIONS, "answers", "readme", "details"} <= {*TEMPLATES}


@pytest.mark.parametrize("template", QUESTIONS)
def test_a_question_with_facts_has_a_heading_and_text(template: str) -> None:
    text = page(template, whole_facts())
    assert text.startswith("## ")
    assert len(text.splitlines()) > 1
    assert as_html(text).startswith("<h2>")


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


def test_the_first_page_has_sign_value_size_and_limit_of_each_technique() -> None:
    text = page("readme", small_facts())
    assert "| No technique, baseline | .300 |" in text
    assert "| First one | ▲ **.050** |" in text
    assert "| Second one | ✗ .010 one answer |" in text
    assert "| Smallest gain that shows | .060 |" in text
    assert "| Bias moves the baseline by | +.200 |" in text
    for verdict in vocabulary()["verdict"].values():
        assert text.count(verdict["meaning"]) == 1
    assert text.count(vocabulary()["reason"]["constant"]["meaning"]) == 1, "it stands beside a number"


def test_the_legend_does_not_say_which_technique_is_the_baseline() -> None:
    rows = standing("one", 0.3, role="baseline"), standing("none", 0.3, role="reference")
    scenario = small_facts().scenarios[0].model_copy(update={"baseline": "one"})
    scenario = scenario.model_copy(update={"answers": (answers(techniques=rows),)})
    text = page("readme", small_facts(scenarios=(scenario,)))
    assert "Techniques are compared with the baseline." in text
    assert "mostly" not in text


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
    facts = small_facts(scenarios=(small_facts().scenarios[0].model_copy(update={"answers": (at,)}),))
    protocol = facts.run.protocol.model_copy(update={"holdout": None, "folds": folds, "overlaps": overlaps})
    facts = facts.model_copy(update={"run": facts.run.model_copy(update={"protocol": protocol})})
    # Where splits do not overlap, folds are not needed: one repetition alone has no interval.
    is_missing = folds is not None and overlaps
    assert ("single folds" in render("warnings", facts, read=None)) == is_missing
    # One interval says that folds are there.
    scenario = facts.scenarios[0].model_copy(update={"answers": (at, answers())})
    several = facts.model_copy(update={"scenarios": (scenario,)})
    assert "single folds" not in render("warnings", several, read=None)


def test_a_reason_of_a_level_is_said_once() -> None:
    techniques = (standing("none", 0.3, role="baseline"), standing("one", 0.2, verdict="not_shown"))
    of_level = answers(reason=Reason(code="no_effect_shown"), techniques=techniques)
    scenario = small_facts().scenarios[0].model_copy(update={"answers": (of_level,)})
    text = page("answers", small_facts(scenarios=(scenario,)))
    assert text.count("no effect of the bias shown") == 1
    assert "| First one | .200 |" in text, "what is not compared is not 'not shown'"


def test_text_from_outside_is_escaped() -> None:
    titles = {"none": "a|b", "one": "*bold* <script>", "two": "$x$ `code`"}
    techniques = tuple(Technique(name=name, title=title, method=name) for name, title in titles.items())
    text = page("answers", small_facts(techniques=techniques))
    assert "| a\\|b, baseline |" in text
    assert "\\*bold\\* &lt;script>" in text
    assert "\\$x\\$ \\`code\\`" in text
    assert "<script" not in as_html(text)


def test_code_is_fenced_whatever_it_holds() -> None:
    use = whole_facts().use
    assert use is not None
    text = page("use", small_facts(use=use.model_copy(update={"code": "text = '```'\n"})))
    assert "````python\ntext = '```'\n````" in text


@pytest.mark.parametrize("hidden", [None, 0.04])
def test_hidden_bias_is_told_with_its_size(hidden: float | None) -> None:
    facts = whole_facts()
    assert facts.hidden is not None
    if hidden is None:
        unknown = facts.hidden.model_copy(
            update={"reason": Reason(code="hidden_unknown"), "true_gap": None, "recorded_gap": None}
        )
        text = page("hidden", small_facts(hidden=unknown))
        assert "They hide an unknown amount of bias." in text
        assert "--true-rate" in text
    else:
        text = page("hidden", facts)
        assert "the labels hide a dose of .040" in text
        assert "The label gap is .100 in the file and .060 by the true rates." in text
    assert ".600 [.590, .610]" in text


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
