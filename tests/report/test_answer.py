"""What commands print at their end: the answer first, few lines, and no warning lost.

``answers.txt`` has all that is printed in each case; ``python -m tests.report.test_answer`` writes it anew.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup
from rich.console import Console

from benchmark.data.reading import Part, Reading
from benchmark.facts.model import (
    Answers,
    Bias,
    Constant,
    Dose,
    Estimate,
    Facts,
    GroupRows,
    Level,
    Reason,
    Standing,
    Technique,
)
from benchmark.text.terminal import as_text, print_markdown
from benchmark.wording import LINES, answer_text, render
from benchmark.wording.overview import overview
from tests.helpers.facts import answers, estimate, small_facts, standing, whole_facts
from tests.helpers.snapshots import read_texts, write_texts

SNAPSHOT = Path(__file__).with_name("answers.txt")
BASELINE = standing("none", 0.3, role="baseline")
BEST: dict[str, Any] = {"verdict": "helps", "best": ("least",)}


def printed(facts: Facts, width: int = 100, **more: Any) -> str:
    return as_text(answer_text(facts, width=width, **more), width)


def with_answers(*given: Answers, of: Facts | None = None) -> Facts:
    """Return facts whose only scenario has other answers."""
    facts = of or small_facts()
    scenario = facts.scenarios[0].model_copy(update={"answers": given})
    return facts.model_copy(update={"scenarios": (scenario,)})


def with_level(*techniques: Standing, **level: Any) -> Facts:
    """Return facts whose only scenario has a changed level of bias."""
    return with_answers(answers(**{**({"techniques": techniques} if techniques else {}), **level}))


def with_dataset(**changes: Any) -> Facts:
    facts = small_facts()
    return facts.model_copy(update={"datasets": (facts.datasets[0].model_copy(update=changes),)})


def with_bias(*biases: tuple[str, Any]) -> Facts:
    """Return facts of a dataset with biases of one dose each."""
    made = (Bias(name=name, kind="b", description="", doses=(Dose(**dose),)) for name, dose in biases)
    return with_dataset(bias=tuple(made))


def with_techniques(facts: Facts, **titles: str) -> Facts:
    more = tuple(Technique(name=name, title=title, method=name) for name, title in titles.items())
    kept = tuple(own for own in facts.techniques if own.name not in titles)
    return facts.model_copy(update={"techniques": (*kept, *more)})


def with_folds(repetitions: int, folds: int | None) -> Facts:
    run = small_facts().run
    protocol = run.protocol.model_copy(update={"repetitions": repetitions, "folds": folds})
    return small_facts(run=run.model_copy(update={"protocol": protocol}))


def helping(value: float = 0.05, **more: Any) -> Standing:
    return standing("one", value, **{**BEST, **more})


def nothing_shown(**reason: Any) -> tuple[Standing, ...]:
    return BASELINE, *(standing(name, 0.25, verdict="not_shown", **reason) for name in ("one", "two"))


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


def of(*techniques: Standing) -> dict[str, Any]:
    return {"techniques": techniques}


def at_levels(*levels: tuple[float, tuple[Standing, ...] | None]) -> Facts:
    """Return facts with techniques by level of bias, the highest last; None are those of the small run."""
    (small,) = answers().levels
    made = [small.model_copy(update={"level": at, **({} if own is None else of(*own))}) for at, own in levels]
    highest = levels[-1][0]
    of_levels = Answers(goal="equalize", metric="discrimination", highest=highest, levels=tuple(made))
    return with_answers(of_levels)


def two_goals() -> Facts:
    few = Reason(code="too_few_accepted", args={"verb": "accepts"})
    restore = BASELINE, standing("one", 0.1, verdict="dominated"), standing("two", 0.2, verdict="not_shown")
    equalize = BASELINE, standing("one", 0.1, verdict="not_usable", reason=few)
    equalize = *equalize, standing("two", 0.2, verdict="harms")
    return with_answers(
        answers(techniques=restore).model_copy(update={"goal": "restore"}), answers(techniques=equalize)
    )


NONE = {"techniques": nothing_shown()}
CLOSED = {**NONE, "reason": Reason(code="hidden_bias")}
EITHER = Reason(code="either_sign", args={"distance": 0.08})
SIGNS = BASELINE, helping(0.0, distance=0.08, remarks=(EITHER,))
REFERENCE = standing("none", 0.4, role="reference", accuracy=estimate(0.5))
OTHER = standing("two", 0.3, role="baseline")
USE = whole_facts().use
assert USE is not None
LEARNER = Technique(name="one_learner", title="No technique (one)", method="none")
OWN = helping(change=estimate(-0.65), baseline="two")
FOURTH = standing("four", 0.25, verdict="not_shown", baseline="none")
DROP = OTHER.model_copy(update={"value": estimate(0.2)})
NOTHING = standing("none", 0.3, role="reference")
DECLARED = of(DROP, NOTHING, standing("one", 0.2, verdict="not_shown"))
UNDECLARED = of(BASELINE, standing("two", 0.2, verdict="not_shown"))
DOMINATING = of(BASELINE, helping(), standing("two", 0.1, verdict="dominated", dominated_by="one"))
ALONE = of(BASELINE, standing("two", 0.1, **BEST), standing("one", 0.5, verdict="harms"))
HELPED = of(BASELINE, helping())
ELSEWHERE = [HELPED] * 4 + [of(standing("one", 0.3, role="baseline"), BASELINE)]
AS_OFTEN = [of(BASELINE, standing("two", 0.05, **BEST))] * 4
AS_OFTEN += [of(BASELINE, standing("two", 0.3, verdict="harms"))]
NEARLY = {"rows": 500, "favorable": 10}

FACTS: dict[str, Callable[[], Facts]] = {
    "a cost": lambda: with_level(BASELINE, helping(accuracy_change=Estimate(mean=-0.03))),
    "a gain of accuracy": lambda: with_level(BASELINE, helping(accuracy_change=Estimate(mean=0.03))),
    "the same accuracy": lambda: with_level(BASELINE, helping(accuracy_change=Estimate(mean=-0.004))),
    "an unknown cost": lambda: with_level(BASELINE, helping(accuracy_change=Estimate())),
    "a technique at no cost beside the best": lambda: with_level(
        BASELINE, helping(), standing("two", 0.1, verdict="helps", best=("cheap",))
    ),
    "a baseline below 0 comes nearer to 0": lambda: with_level(
        standing("none", -0.3, role="baseline"), helping(-0.05, best=("least", "cheap"))
    ),
    "of many warnings the first": lambda: with_dataset(notes=tuple(f"note {i}" for i in range(7))),
    "lower levels without the technique to take": lambda: at_levels(
        *((level, nothing_shown()) for level in (0.0, 0.25)),
        (0.3, (BASELINE, standing("two", 0.2, **BEST))),
        (0.5, None),
    ),
    "one technique is not shown": lambda: with_level(*nothing_shown()[:2]),
    "all in one sample": lambda: with_level(*nothing_shown(reason=Reason(code="one_sample"))),
    "nothing was compared": lambda: with_level(BASELINE),
    "nothing to undo": lambda: with_level(*nothing_shown(), reason=Reason(code="nothing_to_undo")),
    "a promising technique is not called more": lambda: with_level(
        BASELINE,
        helping(verdict="promising", reason=Reason(code="few_repetitions", args={"samples": 3})),
    ),
    "an embedded network": lambda: with_dataset(embedded=True),
    "a leak": lambda: with_dataset(warning="the column event gives the label away"),
    "a note on the data": lambda: with_dataset(notes=("persons have several rows",)),
    "few deprived rows": lambda: with_dataset(
        deprived=GroupRows(rows=12, favorable=5), favored=GroupRows(rows=88, favorable=50)
    ),
    "a rare label": lambda: with_dataset(
        deprived=GroupRows(**NEARLY), favored=GroupRows(rows=500, favorable=20)
    ),
    "a dose out of reach": lambda: with_bias(("b", {"dose": 0.4, "gap": 0.3})),
    "a dose out of reach behind hidden bias": lambda: with_bias(
        ("b", {"dose": 0.4, "gap": 0.3, "beta": 0.9}), ("b+hidden_0.05", {"dose": 0.4, "gap": 0.3})
    ),
    "a dose that touches nearly every label": lambda: with_bias(
        ("b", {"dose": 0.4, "gap": 0.4, "beta": 0.96, "pooled": False})
    ),
    "a dose that adds another gap": lambda: with_bias(
        ("b", {"dose": 0.4, "gap": 0.45, "beta": 0.3, "pooled": False})
    ),
    "a model that is too good": lambda: model(accuracy=estimate(0.995)),
    "a model no better than refusing all": lambda: model(Constant(accuracy=0.8, accepts=0.0)),
    "a model no better than a lot": lambda: model(Constant(accuracy=0.797, accepts=0.4)),
    "a model better than a constant": lambda: model(Constant(accuracy=0.797, accepts=0.0)),
    "a model that refuses a group": lambda: model(
        remarks=(Reason(code="one_group", args={"group": "deprived", "accepts": False}),)
    ),
    "another baseline than doing nothing": lambda: with_level(
        OTHER, REFERENCE, helping(), constant=Constant(accuracy=0.6, accepts=0.0)
    ),
    "another baseline, and nothing is shown": lambda: with_level(
        *(OTHER, REFERENCE, standing("one", 0.05, verdict="not_shown")),
        constant=Constant(accuracy=0.6, accepts=0.0),
    ),
    "each learner is its own baseline": lambda: with_level(
        OTHER, BASELINE, standing("one", 0.25, verdict="not_shown", baseline="none")
    ),
    "the own learner of a technique": lambda: with_level(
        BASELINE, standing("one_learner", 0.4, role="baseline"), helping(baseline="one_learner")
    ).model_copy(update={"techniques": (*small_facts().techniques, LEARNER)}),
    "a technique with its own learner": lambda: with_techniques(
        with_level(BASELINE, standing("two", 0.7, role="baseline"), OWN, FOURTH), four="Fourth one"
    ),
    "a technique with one of several learners": lambda: with_techniques(
        with_level(
            BASELINE, *(standing(name, 0.7, role="baseline") for name in ("two", "three")), OWN, FOURTH
        ),
        three="Third one",
        four="Fourth one",
    ),
    "brackets name another baseline": lambda: with_level(OTHER, standing("one", 0.25, verdict="not_shown")),
    "a sign that differs": lambda: with_level(*SIGNS),
    "a sign that differs in several": lambda: several(of(*SIGNS), of(*SIGNS)),
    "nothing shows at a level without an answer": lambda: with_level(
        *nothing_shown(), reason=Reason(code="baseline_constant")
    ),
    "a baseline without results": lambda: with_level(
        standing("one", 0.05, verdict="not_shown", reason=Reason(code="not_compared")),
        constant=Constant(accuracy=0.9, accepts=0.0),
    ),
    "verdicts of two goals that differ": two_goals,
    "two scenarios without an answer": lambda: several(CLOSED, CLOSED),
    "one of two without an answer": lambda: several(CLOSED, NONE),
    "six scenarios without an answer": lambda: several(*[CLOSED] * 6),
    "five of six without an answer": lambda: several(*[CLOSED] * 5, NONE),
    "promising techniques of many scenarios": lambda: several(
        *[of(BASELINE, helping(verdict="promising"))] * 5, NONE
    ),
    "a dominated technique helps in counts": lambda: several(*[DOMINATING] * 2, *[ALONE] * 4),
    "the first row of counts helps most often": lambda: several(*[DOMINATING] * 4, *[ALONE] * 2),
    "a baseline elsewhere is counted where it is none": lambda: several(*ELSEWHERE),
    "as often, among more cases": lambda: several(*ELSEWHERE, *AS_OFTEN),
    "counts are of cases with an answer": lambda: several(*[{}] * 4, *[CLOSED] * 2),
    "a baseline of some datasets": lambda: several(DECLARED, DECLARED, UNDECLARED),
    "a baseline of all datasets": lambda: several(DECLARED, DECLARED),
    "many scenarios are counted": lambda: many(9, ("equalize",), 4),
    "a table of several datasets": lambda: many(4),
    "each goal has a line of its own": lambda: without(many(3), 3, keep=1),
    "several without a technique are one line": lambda: without(many(4, ("equalize",)), 3),
    "none of several has a technique": lambda: without(many(3, ("equalize",)), 3),
    "the highest levels differ": lambda: highest_differ(),
}
"""Facts whose answer is printed, by what is to be seen in it."""


def model(constant: Constant | None = None, **changes: Any) -> Facts:
    """Return facts of a baseline that says little."""
    rows = standing("none", 0.3, role="baseline", **changes), *nothing_shown()[1:]
    return with_level(*rows, constant=constant)


def many(n_datasets: int, goals: tuple[str, ...] = ("restore", "equalize"), n_techniques: int = 20) -> Facts:
    """Return facts of several datasets, in which half of the techniques help and have long names."""
    titles = {f"technique_{i}": f"Technique of number {i}" for i in range(n_techniques)}
    one_answer = Reason(code="constant", args={"kind": "refuses_all", "samples": 2, "of": 10})

    def level(best: int) -> Level:
        tried = (
            standing(name, 0.01 * i, verdict="helps", best=("least", "cheap") if i == best else ())
            if i % 2 == best % 2
            else standing(name, 0.3, verdict="not_usable", reason=one_answer)
            for i, name in enumerate(titles)
        )
        return Level(level=0.5, detectable=0.05, techniques=(BASELINE, *tried))

    facts, datasets, scenarios = small_facts(), [], []
    for i in range(n_datasets):
        heading = f"Dataset {i} (five features)"
        about = {
            "name": f"d{i}",
            "title": heading,
            "warning": "" if i else "a column gives the label away",
        }
        datasets.append(facts.datasets[0].model_copy(update=about))
        given = tuple(Answers(goal=goal, metric="m", highest=0.5, levels=(level(i),)) for goal in goals)
        changes = {"dataset": f"d{i}", "file": f"d{i}", "heading": heading, "answers": given}
        scenarios.append(facts.scenarios[0].model_copy(update=changes))
    run = facts.run.model_copy(update={"cells_missing": 3})
    changed = {"datasets": tuple(datasets), "scenarios": tuple(scenarios), "run": run}
    return with_techniques(facts.model_copy(update=changed), **titles)


def without(facts: Facts, n: int, keep: int = 0) -> Facts:
    """Return facts in which the first goal of the first scenarios has no technique to take."""
    (level,) = answers(**NONE).levels
    scenarios = [
        scenario.model_copy(
            update={
                "answers": (
                    scenario.answers[0].model_copy(update={"levels": (level,)}),
                    *scenario.answers[1 : 1 + keep],
                )
            }
        )
        for scenario in facts.scenarios[:n]
    ]
    return facts.model_copy(update={"scenarios": (*scenarios, *facts.scenarios[n:])})


def highest_differ() -> Facts:
    facts = many(2, ("equalize",))
    lower = answers(level=0.25, **NONE).model_copy(update={"highest": 0.25})
    scenarios = facts.scenarios[0], facts.scenarios[1].model_copy(update={"answers": (lower,)})
    return facts.model_copy(update={"scenarios": scenarios})


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


def three_levels() -> Facts:
    facts = small_facts()
    return facts.model_copy(update={"run": facts.run.model_copy(update={"levels": (0.0, 0.25, 0.5)})})


CONSTANT = {"reason": Reason(code="baseline_constant")}
TEXTS: dict[str, Callable[[], str]] = {
    "a small run": lambda: printed(whole_facts(), page="out/report.html"),
    **{name: lambda facts=facts: printed(facts()) for name, facts in FACTS.items()},  # type: ignore[misc]
    "a lower level where a technique helps, in full": lambda: printed(
        at_levels((0.25, None), (0.5, nothing_shown())), full=True
    ),
    "all of many warnings": lambda: printed(FACTS["of many warnings the first"](), full=True),
    "one repetition of folds, in full": lambda: printed(with_folds(1, 5), full=True),
    "two repetitions of folds, in full": lambda: printed(with_folds(2, 5), full=True),
    "one repetition, in full": lambda: printed(with_folds(1, None), full=True),
    "a command that can be copied": lambda: printed(small_facts(), folder="a*b_c*"),
    "the scenario of the technique to use": lambda: printed(
        several({}, {}).model_copy(update={"use": USE.model_copy(update={"scenario": 1})}), page="report.html"
    ),
    "a first look in which nothing is shown": lambda: first_look(with_level(**NONE)),
    "a first look without an effect": lambda: first_look(
        with_level(**NONE, reason=Reason(code="no_effect_shown"))
    ),
    "a first look at a label that few have": lambda: first_look(with_level(**NONE, **CONSTANT), 8),
    "a first look at a label that most have": lambda: first_look(with_level(**NONE, **CONSTANT), 92),
    "a first look at a label that nearly nobody has": lambda: first_look(with_level(**NONE), 2),
    "a first look at several levels": lambda: first_look(three_levels()),
    "a first look at several levels, in full": lambda: first_look(three_levels(), full=True),
    "answers with a sign that differs": lambda: render("answers", with_level(*SIGNS)),
    "answers at a level without any": lambda: render("answers", with_level(*nothing_shown(), **CONSTANT)),
    "answers without a baseline": lambda: render("answers", FACTS["a baseline without results"]()),
    "answers without an interval": lambda: render("answers", several({**NONE, "detectable": None})),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_printed_is_in_the_file(name: str) -> None:
    assert TEXTS[name]().splitlines() == read_texts(SNAPSHOT)[name].splitlines()


def test_the_file_has_no_other_texts() -> None:
    assert [*read_texts(SNAPSHOT)] == [*TEXTS]


def test_what_harms_for_one_goal_is_counted_so() -> None:
    told = overview(two_goals())  # though for the other goal nothing is shown
    assert told.others(told.techniques) == {"dominated": 1, "harms": 1}


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


def test_names_of_rows_have_no_word_on_embedded_data() -> None:
    scenarios = [
        one.model_copy(update={"heading": f"{one.heading} (embedded)"})
        for one in several(DECLARED, UNDECLARED).scenarios
    ]
    embedded = several(DECLARED, UNDECLARED).model_copy(update={"scenarios": tuple(scenarios)})
    assert re.search(r"\(baseline of [^()]*\) ", printed(embedded))


def test_text_from_outside_is_shown_as_it_is() -> None:
    titles = {"none": "a", "one": "*bold* <b> [red]x[/red] a_b|c", "two": "$x$ `code` :smile:"}
    text = printed(with_techniques(small_facts(), **titles))
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
    without_lines = USE.model_copy(update={"reason": Reason(code="card_missing")})
    assert link not in render("readme", facts.model_copy(update={"use": without_lines}), pictures=())


if __name__ == "__main__":
    write_texts(SNAPSHOT, TEXTS)
