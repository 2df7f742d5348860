"""What commands print at their end: the answer first, few lines, and no warning lost."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from markupsafe import Markup
from rich.console import Console

from benchmark.data.reading import Part, Reading
from benchmark.facts.model import (
    Answers,
    Bias,
    Constant,
    Dataset,
    Dose,
    Estimate,
    Facts,
    GroupRows,
    Level,
    Reason,
    Scenario,
    Standing,
    Technique,
)
from benchmark.text.terminal import as_text, print_markdown
from benchmark.wording import LINES, answer_text, macro, render
from benchmark.wording.overview import overview
from tests.helpers.facts import answers, estimate, small_facts, standing, whole_facts


def printed(facts: Facts, width: int = 100, **more: Any) -> str:
    return as_text(answer_text(facts, width=width, **more), width)


def with_level(of: Facts | None = None, **level: Any) -> Facts:
    """Return facts whose only scenario has a changed level of bias."""
    facts = of or small_facts()
    (scenario,) = facts.scenarios
    return facts.model_copy(
        update={"scenarios": (scenario.model_copy(update={"answers": (answers(**level),)}),)}
    )


def with_dataset(**changes: Any) -> Facts:
    facts = small_facts()
    return facts.model_copy(update={"datasets": (facts.datasets[0].model_copy(update=changes),)})


def test_the_answer_of_a_small_run_word_for_word() -> None:
    assert printed(whole_facts(), page="out/report.html") == (
        "By the true rates the labels hide a dose of .040.\n"
        "At β = 0.5, First one lowers discrimination from .30 to .05 (change -.25, 95 % interval -.26 to\n"
        "-.24) and costs .02 of accuracy.\n"
        "\n"
        "β = 0.5       discrimination      accuracy   accepted  verdict\n"
        "No technique            .300          .800  35 / 45 %\n"
        "First one       .050 (-.250)  .800 (-.020)  35 / 45 %  ▲ helps\n"
        "Second one      .010 (-.290)  .800 (-.020)  35 / 45 %  ✗ one answer\n"
        "\n"
        "In brackets: change from No technique (doing nothing). ✗ not usable, it breaks a limit. β: planted\n"
        "bias, from 0 (none) to 1. Discrimination: share of the others accepted minus the share of the\n"
        "deprived. Accepted: deprived / others.\n"
        "Changes below .06 in discrimination mostly do not show (50 deprived rows, 10 repetitions).\n"
        "Figures, all numbers, tests, and lines of Python to use First one: out/report.html\n"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (-0.03, "and costs .03 of accuracy."),
        (0.03, "and gains .03 of accuracy."),
        (-0.004, "at the same accuracy."),
        (None, "at an unknown cost of accuracy."),
    ],
)
def test_the_cost_is_named(change: float | None, words: str) -> None:
    rows = (
        standing("none", 0.3, role="baseline"),
        standing("one", 0.05, verdict="helps", best=("least",), accuracy_change=Estimate(mean=change)),
    )
    assert words in " ".join(printed(with_level(techniques=rows)).split())


def test_a_technique_at_no_cost_stands_beside_the_best() -> None:
    rows = (
        standing("none", 0.3, role="baseline"),
        standing("one", 0.05, verdict="helps", best=("least",)),
        standing("two", 0.1, verdict="helps", best=("cheap",)),
    )
    assert "At no cost: Second one, to .10." in " ".join(printed(with_level(techniques=rows)).split())


def test_a_baseline_below_0_comes_nearer_to_0() -> None:
    rows = (
        standing("none", -0.3, role="baseline"),
        standing("one", -0.05, verdict="helps", best=("least", "cheap")),
    )
    assert "brings discrimination nearer to 0, from -.30 to -.05" in printed(with_level(techniques=rows))


def nothing_shown(**reason: Any) -> tuple[Standing, ...]:
    tried = (standing(name, 0.25, verdict="not_shown", **reason) for name in ("one", "two"))
    return (standing("none", 0.3, role="baseline"), *tried)


def test_where_none_is_shown_a_lower_level_with_one_is_named() -> None:
    (lower,) = answers(level=0.25).levels
    highest = lower.model_copy(update={"level": 0.5, "techniques": nothing_shown()})
    facts = small_facts()
    both = Answers(goal="equalize", metric="discrimination", highest=0.5, levels=(lower, highest))
    scenario = facts.scenarios[0].model_copy(update={"answers": (both,)})
    text = " ".join(printed(facts.model_copy(update={"scenarios": (scenario,)}), full=True).split())
    assert text.startswith(
        "At β = 0.5, none of the 2 techniques is shown to lower discrimination. At β = 0.25, First one is "
        "shown to help: discrimination .30 to .05."
    )
    assert "Data, β = 0.25" in text


def test_of_many_warnings_the_first_are_printed_and_all_with_an_option() -> None:
    facts = small_facts()
    notes = tuple(f"note {i}" for i in range(7))
    facts = facts.model_copy(update={"datasets": (facts.datasets[0].model_copy(update={"notes": notes}),)})
    text = printed(facts)
    assert [note in text for note in notes] == [True] * 4 + [False] * 3
    assert "\nAnd 3 more such warnings; --full prints all.\n" in text
    whole = printed(facts, full=True)
    assert all(note in whole for note in notes)
    assert "such warnings" not in whole


def test_lower_levels_without_the_technique_to_take_are_named() -> None:
    (highest,) = answers(level=0.5).levels
    lower = [
        highest.model_copy(update={"level": level, "techniques": nothing_shown()}) for level in (0.0, 0.25)
    ]
    other = highest.techniques[0], standing("two", 0.2, verdict="helps", best=("least",))
    between = highest.model_copy(update={"level": 0.3, "techniques": other})
    levels = (*lower, between, highest)
    several = Answers(goal="equalize", metric="discrimination", highest=0.5, levels=levels)
    facts = small_facts()
    scenario = facts.scenarios[0].model_copy(update={"answers": (several,)})
    text = " ".join(printed(facts.model_copy(update={"scenarios": (scenario,)})).split())
    assert "and costs .02 of accuracy. Not shown at β = 0, 0.25. At β = 0.3, Second one is shown" in text


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ({"techniques": nothing_shown()[:2]}, "At β = 0.5, First one is not shown to lower discrimination."),
        (
            {"techniques": nothing_shown(reason=Reason(code="one_sample"))},
            "shown to lower discrimination (all in one sample, without an interval).",
        ),
        ({"techniques": nothing_shown()[:1]}, "No answer: no technique was compared with doing nothing"),
        (
            {"techniques": nothing_shown(), "reason": Reason(code="nothing_to_undo")},
            "No answer to equalize acceptance at β = 0.5: the bias moves discrimination by less than .02",
        ),
    ],
)
def test_why_there_is_no_answer(level: dict[str, Any], words: str) -> None:
    assert words in " ".join(printed(with_level(**level)).split())


def test_a_promising_technique_is_not_called_more() -> None:
    few = Reason(code="few_repetitions", args={"samples": 3})
    rows = (
        standing("none", 0.3, role="baseline"),
        standing("one", 0.05, verdict="promising", best=("least",), reason=few),
    )
    text = " ".join(printed(with_level(techniques=rows)).split())
    assert "First one is promising: it lowers discrimination from .30 to .05" in text
    assert "△ promising: 3 repetitions only" in text
    assert "First one lowers" not in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"embedded": True}, "NOT REAL DATA: embedded networks stand in for Data."),
        ({"warning": "the column event gives the label away"}, "Data: the column event gives"),
        ({"notes": ("persons have several rows",)}, "Data: persons have several rows"),
        (
            {"deprived": GroupRows(rows=12, favorable=5), "favored": GroupRows(rows=88, favorable=50)},
            "Data: the deprived group has 12 test rows. Its numbers are mostly chance",
        ),
        (
            {"deprived": GroupRows(rows=500, favorable=10), "favored": GroupRows(rows=500, favorable=20)},
            "Data: 3 % of the rows have the rarer label, so models refuse nearly everybody.",
        ),
        (
            {"bias": (Bias(name="b", kind="b", description="", doses=(Dose(dose=0.4, gap=0.3),)),)},
            "Data: dose 0.4 is out of reach, the bias adds a label gap of .300 at most.",
        ),
        (
            {
                "bias": tuple(
                    Bias(name=name, kind="b", description="", doses=(Dose(dose=0.4, gap=0.3, beta=beta),))
                    for name, beta in (("b", 0.9), ("b+hidden_0.05", None))
                )
            },
            "Data, b+hidden_0.05: dose 0.4 is out of reach, the bias adds a label gap of .300 at most.",
        ),
        *(
            (
                {"bias": (Bias(name="b", kind="b", description="", doses=(Dose(**dose, pooled=False),)),)},
                words,
            )
            for dose, words in (
                (
                    {"dose": 0.4, "gap": 0.4, "beta": 0.96},
                    "Data: dose 0.4 touches nearly every label that it",
                ),
                (
                    {"dose": 0.4, "gap": 0.45, "beta": 0.3},
                    "Data: dose 0.4 adds a label gap of .450. Do not",
                ),
            )
        ),
    ],
)
def test_what_changes_the_meaning_stands_first(changes: dict[str, Any], words: str) -> None:
    text = printed(with_dataset(**changes))
    assert text.startswith(words)
    assert "At β = 0.5, First one lowers" in text
    assert not printed(small_facts()).startswith(words.split(":")[0])


@pytest.mark.parametrize(
    ("model", "constant", "words"),
    [
        ({"accuracy": estimate(0.995)}, None, "Data: an accuracy above .99 is rare."),
        ({}, Constant(accuracy=0.8, accepts=0.0), "no more accurate than a constant answer (.800)"),
        ({}, Constant(accuracy=0.797, accepts=0.4), "no more accurate than a constant answer (.797)"),
        ({}, Constant(accuracy=0.797, accepts=0.0), ""),
        (
            {"remarks": (Reason(code="one_group", args={"group": "deprived", "accepts": False}),)},
            None,
            "of little use (refuses nearly all of the deprived group)",
        ),
    ],
)
def test_a_model_that_says_little_is_warned_of(
    model: dict[str, Any], constant: Constant | None, words: str
) -> None:
    rows = (standing("none", 0.3, role="baseline", **model), *nothing_shown()[1:])
    text = " ".join(printed(with_level(techniques=rows, constant=constant)).split())
    assert text.startswith("Data: ") == bool(words)
    assert words in text


def test_another_baseline_than_doing_nothing_is_named() -> None:
    model = {"accuracy": estimate(0.5)}
    nothing = standing("none", 0.4, role="reference", **model)
    level = {"constant": Constant(accuracy=0.6, accepts=0.0)}
    for verdict, words in (("helps", "and costs .02 of accuracy, compared"), ("not_shown", "lower")):
        best = ("least",) if verdict == "helps" else ()
        rows = (
            standing("two", 0.3, role="baseline"),
            nothing,
            standing("one", 0.05, verdict=verdict, best=best),
        )
        text = " ".join(printed(with_level(techniques=rows, **level)).split())
        assert words in text
        assert ", compared with Second one." in text
        assert "the model without mitigation is no more accurate than a constant answer (.600)" in text
    learners = (standing("two", 0.3, role="baseline"), standing("none", 0.3, role="baseline"))
    rows = (*learners, standing("one", 0.25, verdict="not_shown", baseline="none"))
    assert "compared with" not in printed(with_level(techniques=rows))  # each has its own


def test_the_own_learner_of_a_technique_is_named_as_that() -> None:
    techniques = (
        Technique(name="none", title="No technique", method="none"),
        Technique(name="one", title="First one", method="one"),
        Technique(name="one_learner", title="No technique (one)", method="none"),
    )
    learners = (standing("none", 0.3, role="baseline"), standing("one_learner", 0.4, role="baseline"))
    best = standing("one", 0.05, verdict="helps", best=("least",), baseline="one_learner")
    facts = with_level(techniques=(*learners, best)).model_copy(update={"techniques": techniques})
    text = " ".join(printed(facts).split())
    assert "lowers discrimination from .40 to .05" in text
    assert "of accuracy, compared with doing nothing with its own learner." in text


@pytest.mark.parametrize("baselines", [("two",), ("two", "three")])
def test_a_technique_with_its_own_learner_is_compared_with_that(baselines: tuple[str, ...]) -> None:
    nothing = standing("none", 0.3, role="baseline")
    helping = standing("one", 0.05, verdict="helps", best=("least",), change=estimate(-0.65), baseline="two")
    own = (*(standing(name, 0.7, role="baseline") for name in baselines), helping)
    facts = with_level(
        techniques=(nothing, *own, standing("four", 0.25, verdict="not_shown", baseline="none"))
    )
    more = {"three": "Third one", "four": "Fourth one"}
    known = (Technique(name=name, title=title, method=name) for name, title in more.items())
    text = " ".join(printed(facts.model_copy(update={"techniques": (*facts.techniques, *known)})).split())
    assert "First one lowers discrimination from .70 to .05 (change -.65" in text
    assert "of accuracy, compared with Second one." in text
    assert "from No technique (doing nothing); of First one, from doing nothing with its own learner." in text


def test_brackets_name_another_baseline() -> None:
    rows = (standing("two", 0.3, role="baseline"), standing("one", 0.25, verdict="not_shown"))
    assert "In brackets: change from Second one." in printed(with_level(techniques=rows))
    assert "In brackets: change from No technique (doing nothing)." in " ".join(
        printed(small_facts()).split()
    )


def test_a_headline_tells_that_a_sign_differs() -> None:
    either = Reason(code="either_sign", args={"distance": 0.08})
    row = standing("one", 0.0, verdict="helps", best=("least",), distance=0.08, remarks=(either,))
    rows = (standing("none", 0.3, role="baseline"), row)
    words = "+ or - by sample, .080 from 0 on average"
    assert f"Its discrimination is {words}." in " ".join(printed(with_level(techniques=rows)).split())
    assert words in " ".join(printed(several(*[{"techniques": rows}] * 2)).split())
    assert f"- At β = 0.5, First one: {words}." in render("answers", with_level(techniques=rows))


@pytest.mark.parametrize(("repetitions", "n_folds"), [(1, 5), (2, 5), (1, None)])
def test_folds_are_samples(repetitions: int, n_folds: int | None) -> None:
    facts = small_facts()
    protocol = facts.run.protocol.model_copy(update={"repetitions": repetitions, "folds": n_folds})
    text = printed(small_facts(run=facts.run.model_copy(update={"protocol": protocol})), full=True)
    assert ("do not show with one repetition." in text) == (n_folds is None)
    more = "No technique helps before 5 repetitions: set --repetitions to 10 or more."
    assert (more in " ".join(text.split())) == (n_folds is None)
    assert (f"({repetitions} repetition" in text) == (n_folds is not None)
    assert (
        f"- {repetitions} repetition{'s' if repetitions > 1 else ''}{' of 5 folds' if n_folds else ''}: "
        in text
    )


def test_verdicts_of_two_goals_that_differ_have_their_goals() -> None:
    def level(verdict: Any, two: Any, **more: Any) -> tuple[Standing, ...]:
        tried = (standing("one", 0.1, verdict=verdict, **more), standing("two", 0.2, verdict=two))
        return (standing("none", 0.3, role="baseline"), *tried)

    few = Reason(code="too_few_accepted", args={"verb": "accepts"})
    of_goals = {
        "restore": level("dominated", "not_shown"),
        "equalize": level("not_usable", "harms", reason=few),
    }
    facts = small_facts()
    both = tuple(
        answers(techniques=rows).model_copy(update={"goal": goal}) for goal, rows in of_goals.items()
    )
    scenario = facts.scenarios[0].model_copy(update={"answers": both})
    facts = facts.model_copy(update={"scenarios": (scenario,)})
    text = " ".join(printed(facts, 140).split())
    assert "▽ dominated to restore; ✗ accepts too few to equalize" in text
    assert "▼ harms to equalize" in text
    # What harms is counted so, though for the other goal nothing is shown.
    told = overview(facts)
    assert told.others(told.techniques) == {"dominated": 1, "harms": 1}


def test_nothing_shows_at_a_level_without_an_answer() -> None:
    facts = with_level(techniques=nothing_shown(), reason=Reason(code="baseline_constant"))
    assert "mostly do not show" not in printed(facts)
    assert "| Smallest gain that shows | – |" in render("answers", facts)


def test_a_baseline_without_results_is_no_error() -> None:
    rows = (standing("one", 0.05, verdict="not_shown", reason=Reason(code="not_compared")),)
    facts = with_level(techniques=rows, constant=Constant(accuracy=0.9, accepts=0.0))
    assert "First one is not shown to lower discrimination" in printed(facts)
    assert "the model without mitigation" not in printed(facts)  # nothing is known of it
    assert "| Accuracy, before → after | – |" in render("answers", facts)


# ------------------------------------------------------------------------------------------- few lines


def many(n_datasets: int, goals: tuple[str, ...] = ("restore", "equalize"), n_techniques: int = 20) -> Facts:
    """Return facts of several datasets, in which half of the techniques help and have long names."""
    names = [f"technique_{i}" for i in range(n_techniques)]
    titles = {name: f"Technique of number {name.removeprefix('technique_')}" for name in names}
    one_answer = Reason(code="constant", args={"kind": "refuses_all", "samples": 2, "of": 10})

    def level(best: int) -> Level:
        tried = (
            standing(name, 0.01 * i, verdict="helps", best=("least", "cheap") if i == best else ())
            if i % 2 == best % 2
            else standing(name, 0.3, verdict="not_usable", reason=one_answer)
            for i, name in enumerate(names)
        )
        return Level(level=0.5, detectable=0.05, techniques=(standing("none", 0.3, role="baseline"), *tried))

    facts = small_facts()
    datasets, scenarios = list[Dataset](), list[Scenario]()
    for i in range(n_datasets):
        heading = f"Dataset {i} (five features)"
        datasets.append(
            facts.datasets[0].model_copy(
                update={
                    "name": f"d{i}",
                    "title": heading,
                    "warning": "" if i else "a column gives the label away",
                }
            )
        )
        given = tuple(Answers(goal=goal, metric="m", highest=0.5, levels=(level(i),)) for goal in goals)
        changes = {"dataset": f"d{i}", "file": f"d{i}", "heading": heading, "answers": given}
        scenarios.append(facts.scenarios[0].model_copy(update=changes))
    known = [Technique(name=name, title=title, method=name) for name, title in titles.items()]
    return facts.model_copy(
        update={
            "datasets": tuple(datasets),
            "scenarios": tuple(scenarios),
            "techniques": (*facts.techniques, *known),
            "run": facts.run.model_copy(update={"cells_missing": 3}),
        }
    )


@pytest.mark.parametrize("goals", [("equalize",), ("restore", "equalize")])
@pytest.mark.parametrize("n_datasets", [1, 2, 4, 9])
def test_an_answer_has_few_lines(n_datasets: int, goals: tuple[str, ...]) -> None:
    facts = many(n_datasets, goals)
    lines = printed(facts, folder="out").splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 100
    if n_datasets == 4:
        assert all(f"Dataset {i} (five features), β = 0.5: Technique" in "\n".join(lines) for i in range(4))
        assert sum("▲" in line for line in lines) >= 4
    assert any(line.startswith("And ") for line in lines)


def test_nothing_is_broken_within_80_columns() -> None:
    for facts in (many(1), many(4)):
        lines = printed(facts, 80, folder="out").splitlines()
        assert max(map(len, lines)) <= 80
        assert not any("(+" in line and line.count("(") > 4 for line in lines)


def several(*levels: dict[str, Any]) -> Facts:
    """Return facts of several scenarios, each with a changed level of bias."""
    facts = small_facts()
    scenarios = (
        facts.scenarios[0].model_copy(
            update={"file": f"d{i}", "heading": f"Data {i}", "answers": (answers(**level),)}
        )
        for i, level in enumerate(levels)
    )
    return facts.model_copy(update={"scenarios": tuple(scenarios)})


@pytest.mark.parametrize("n", [2, 6])
def test_scenarios_without_an_answer_are_not_scenarios_in_which_nothing_helps(n: int) -> None:
    closed = {"techniques": nothing_shown(), "reason": Reason(code="hidden_bias")}
    no_answer = "No answer to equalize acceptance: withheld (%d of %d cases)."
    text = printed(several(*[closed] * n))
    assert text.startswith(no_answer % (n, n))
    assert "shown to help" not in text
    text = printed(several(*[closed] * (n - 1), {"techniques": nothing_shown()}))
    assert "no technique is shown to help in 1 case. " + no_answer % (n - 1, n) in " ".join(text.split())


def test_promising_techniques_of_many_scenarios_are_named() -> None:
    promising = standing("one", 0.05, verdict="promising", best=("least",))
    level = {"techniques": (standing("none", 0.3, role="baseline"), promising)}
    text = " ".join(printed(several(*[level] * 5, {"techniques": nothing_shown()})).split())
    assert "in any of the 6 cases. First one is promising most often: in 5 of 6." in text


def often_dominated(dominated: int, alone: int) -> str:
    """Return what is printed if a technique is dominated in some cases, and is alone to help in others."""
    nothing = standing("none", 0.3, role="baseline")
    best = standing("one", 0.05, verdict="helps", best=("least",))
    second = standing("two", 0.1, verdict="dominated", dominated_by="one")
    first = standing("two", 0.1, verdict="helps", best=("least",))
    levels = [{"techniques": (nothing, best, second)}] * dominated
    levels += [{"techniques": (nothing, first, standing("one", 0.5, verdict="harms"))}] * alone
    return printed(several(*levels))


def test_a_dominated_technique_helps_in_counts() -> None:
    text = often_dominated(2, 4)
    assert "Second one helps most often: in 6 of 6 cases" in text
    rows = {line[:10]: line.split()[-4:] for line in text.splitlines() if line.endswith(" 6")}
    assert rows == {"First one ": ["2", "4", "0", "6"], "Second one": ["6", "0", "0", "6"]}


def test_a_technique_that_is_a_baseline_elsewhere_is_counted_where_it_is_none() -> None:
    nothing, best = standing("none", 0.3, role="baseline"), ("least",)
    one = standing("one", 0.05, verdict="helps", best=best)
    rows = [(nothing, one)] * 4 + [(standing("one", 0.3, role="baseline"), nothing)]
    text = printed(several(*({"techniques": techniques} for techniques in rows)))
    assert "First one helps most often: in 4 of 4 cases" in text
    assert [line for line in text.splitlines() if line.split()[-4:] == ["4", "0", "0", "4"]]
    # As often, among more cases.
    two = standing("two", 0.05, verdict="helps", best=best)
    rows += [(nothing, two)] * 4 + [(nothing, standing("two", 0.3, verdict="harms"))]
    text = " ".join(printed(several(*({"techniques": techniques} for techniques in rows))).split())
    assert "First one, Second one help most often: in 4 cases." in text


def test_the_first_row_of_counts_is_the_technique_that_helps_most_often() -> None:
    text = often_dominated(4, 2)
    assert "Second one helps most often: in 6 of 6 cases" in text
    assert [line.split()[-4] for line in text.splitlines() if line.endswith(" 6")] == ["6", "4"]


def test_counts_are_of_cases_with_an_answer() -> None:
    closed = {"techniques": nothing_shown(), "reason": Reason(code="hidden_bias")}
    text = printed(several(*[{}] * 4, *[closed] * 2))
    rows = {line[:10]: line.split()[-4:] for line in text.splitlines() if line.endswith(" 4")}
    assert rows["First one "] == ["4", "0", "0", "4"]


def test_a_level_without_any_interval_says_that_nothing_could_be_shown() -> None:
    facts = several({"techniques": nothing_shown(), "detectable": None})
    assert "| Smallest gain that shows | no interval |" in render("answers", facts)
    (level,) = facts.scenarios[0].answers[0].levels
    assert "No change shows here" in macro("level", "level_notes", facts)(level)


def test_a_baseline_of_some_datasets_is_named_as_that() -> None:
    nothing, drop = standing("none", 0.3, role="reference"), standing("two", 0.2, role="baseline")
    declared = {"techniques": (drop, nothing, standing("one", 0.2, verdict="not_shown"))}
    own = {"techniques": (standing("none", 0.3, role="baseline"), standing("two", 0.2, verdict="not_shown"))}
    text = printed(several(declared, declared, own))
    assert "No technique (baseline of Data 2) " in text
    assert "Second one (baseline of the others) " in text
    assert "Second one (baseline) " in printed(several(declared, declared))
    # That data are embedded stands above; names of rows would take further lines with it.
    scenarios = [
        one.model_copy(update={"heading": f"{one.heading} (embedded)"})
        for one in several(declared, own).scenarios
    ]
    embedded = several(declared, own).model_copy(update={"scenarios": tuple(scenarios)})
    assert re.search(r"\(baseline of [^()]*\) ", printed(embedded))


def test_each_goal_has_a_line_of_its_own() -> None:
    facts = many(3, ("restore", "equalize"))
    scenarios = [
        scenario.model_copy(
            update={
                "answers": (
                    scenario.answers[0].model_copy(
                        update={"levels": answers(techniques=nothing_shown()).levels}
                    ),
                    scenario.answers[1],
                )
            }
        )
        for scenario in facts.scenarios
    ]
    text = printed(facts.model_copy(update={"scenarios": tuple(scenarios)}))
    assert "\nTo restore decisions, no technique is shown to help in any of the 3 cases.\nTo equalize" in (
        f"\n{text}"
    )


def test_several_without_a_technique_are_one_line() -> None:
    facts = many(4, ("equalize",))
    without = [
        scenario.model_copy(update={"answers": (answers(techniques=nothing_shown()),)})
        for scenario in facts.scenarios[:3]
    ]
    facts = facts.model_copy(update={"scenarios": (*without, facts.scenarios[3])})
    text = " ".join(printed(facts).split())
    assert (
        "- No technique is shown to help: Dataset 0 (five features), Dataset 1 (five features), Dataset 2"
        in text
    )
    none = facts.model_copy(update={"scenarios": tuple(without)})
    assert "To equalize acceptance, no technique is shown to help in any of the 3 cases." in printed(none)


def test_many_scenarios_are_counted() -> None:
    text = printed(many(9, ("equalize",), 4))
    words = "Technique of number 0, Technique of number 2 help most often: in 5 of 9 cases"
    assert f"To equalize acceptance, {words}" in " ".join(text.split())
    row = next(line for line in text.splitlines() if line.startswith("Technique of number 1"))
    assert row.split()[-4:] == ["4", "0", "5", "9"]


def test_a_table_of_several_datasets_names_its_level_of_bias() -> None:
    assert "\nβ = 0.5  " in printed(many(4))
    facts = many(2, ("equalize",))
    lower = answers(level=0.25, techniques=nothing_shown()).model_copy(update={"highest": 0.25})
    scenarios = (facts.scenarios[0], facts.scenarios[1].model_copy(update={"answers": (lower,)}))
    assert "\nhighest β" in printed(facts.model_copy(update={"scenarios": scenarios}))


@pytest.mark.parametrize("folder", ["out", "results/first_run", "a*b_c*"])
def test_a_command_can_be_copied(folder: str) -> None:
    assert f"Next: betabench report {folder} writes" in printed(small_facts(), folder=folder)


# ------------------------------------------------------------------------------------------- a first look


def first_look(facts: Facts, favorable: int = 40, *, full: bool = False) -> str:
    """Return what `quick` prints of facts; each group has 100 rows, of which so many are favorable."""
    group = Part("deprived", "group", (("g", 100),), 100, favorable)
    read = Reading("a.csv", 210, 200, (group,) * 4, ())
    bias = Bias(name="label", kind="label", description="labels turned")
    data = facts.datasets[0].model_copy(update={"bias": (bias,)})
    facts = facts.model_copy(update={"datasets": (data,)})
    more = {"better": None, "more_repetitions": 30, "with_rows": False, "account": "", "full": full}
    more |= {"known": "", "again": Markup("Look again.")}
    return as_text(answer_text(facts, "quick", read=read, page="r.html", **more))


@pytest.mark.parametrize(
    ("favorable", "reason", "words"),
    [
        (40, None, "Next: --repetitions 30"),
        (40, "no_effect_shown", "Next: --repetitions 30"),
        (8, "baseline_constant", "Next: --accept 0.1 --classifier logistic_regression"),
        (92, "baseline_constant", "Next: --accept 0.9 --classifier logistic_regression"),
        (2, None, "Next: --accept 0.1 --classifier logistic_regression"),
    ],
)
def test_what_to_do_where_nothing_is_shown(favorable: int, reason: str | None, words: str) -> None:
    level = {"techniques": nothing_shown(), "reason": reason and Reason(code=reason)}
    text = first_look(with_level(**level), favorable)
    assert words in text
    assert "Planted: labels turned, at β = 0.5." in text
    assert ("mostly do not show" in " ".join(text.split())) == (reason is None)


@pytest.mark.parametrize("full", [False, True])
def test_a_first_look_says_how_to_see_all_levels_unless_it_shows_them(full: bool) -> None:
    facts = small_facts()
    facts = facts.model_copy(update={"run": facts.run.model_copy(update={"levels": (0.0, 0.25, 0.5)})})
    assert ("--full prints all." in " ".join(first_look(facts, full=full).split())) == (not full)


# ------------------------------------------------------------------------------------------- markdown


def test_text_from_outside_is_shown_as_it_is() -> None:
    titles = {"none": "a", "one": "*bold* <b> [red]x[/red] a_b|c", "two": "$x$ `code` :smile:"}
    techniques = tuple(Technique(name=name, title=title, method=name) for name, title in titles.items())
    text = printed(small_facts(techniques=techniques))
    assert titles["one"] in " ".join(text.split())
    assert titles["two"] in text


def test_only_what_the_template_quotes_is_a_warning() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=100)
    print_markdown(console, "> Mind this.\n\nWarning: not so.\n\nNote: **bold**\n")
    quoted, plain, bold = out.getvalue().splitlines()
    assert "\x1b[33m" in quoted
    assert plain.strip() == "Warning: not so."
    assert "\x1b[1mbold" in bold


def test_markdown_in_the_terminal() -> None:
    text = as_text(
        "# Title\n\nFirst\nline.\n\n- one `a_b`\n  - two\n\n3. three\n\n```python\nx = 1\n```\n\n"
        "| name | long heading |\n|:--|--:|\n| a\\|b | 1.5 |\n\nEnd.\n",
        40,
    )
    assert text == (
        "Title\nFirst line.\n- one a_b\n  - two\n3. three\n    x = 1\n\n"
        "        long\nname heading\na|b      1.5\n\nEnd.\n"
    )


def test_lines_of_python_are_promised_where_there_are_some() -> None:
    link = "have [lines of Python to use](details.md#use-the-technique-to-take)"
    facts = whole_facts()
    assert link in render("readme", facts, pictures=())
    assert link not in render("readme", small_facts(), pictures=())
    assert facts.use is not None
    without = facts.use.model_copy(update={"reason": Reason(code="card_missing")})
    assert link not in render("readme", facts.model_copy(update={"use": without}), pictures=())


def test_the_technique_to_use_has_its_scenario_where_there_are_several() -> None:
    facts, use = several({}, {}), whole_facts().use
    assert use is not None
    facts = facts.model_copy(update={"use": use.model_copy(update={"scenario": 1})})
    told = "Figures, all numbers, tests, and lines of Python to use First one on Data 1: report.html"
    assert told in printed(facts, page="report.html")
    assert "Figures, all numbers and tests: report.html" in printed(small_facts(), page="report.html")
