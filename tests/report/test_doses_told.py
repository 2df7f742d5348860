"""A run with doses: every surface calls its levels doses, and what hidden bias makes of it is said."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from rich.console import Console

from benchmark.bias.doses import Dose
from benchmark.columns import EQUALISE, GOAL_METRICS, RESTORE
from benchmark.facts.model import Reason
from benchmark.figures.pareto import draw_pareto
from benchmark.figures.statistics import statistics_figures
from benchmark.render.console import print_section, section_lines
from benchmark.runs.analysis import RunStatistics, run_statistics
from benchmark.runs.descriptions import DatasetInExperiment, GroupSizes, PlantedBias
from benchmark.runs.finished import RunFrames
from benchmark.sections import Surface, hidden, sections_of
from benchmark.sections.goals import WHY_NOT
from benchmark.sections.moved import MOVED
from benchmark.statistics import hidden_bias
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.restoration import NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO, UNDO_COLUMNS
from benchmark.wording import reason_text
from tests.helpers.facts import report_text
from tests.helpers.figure_checks import flaws, texts_of
from tests.helpers.hidden import made_up_table, write_made_up_table
from tests.helpers.two_goals import EQUALISED, FIRST, RESTORED, run_of

FAR = 0.9  # a dose out of reach
SIZES = GroupSizes(260, 740, 410, 590)  # a label gap of 0.15


@pytest.fixture(autouse=True)
def _table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_bias, "HIDDEN_BIAS_FILE", write_made_up_table(tmp_path))


@cache
def prepared(rates: tuple[float, float] | None = None, kind: str = "label") -> RunStatistics:
    """Return the statistics of the made-up world with doses 0, 0.1 and one out of reach."""
    own = run_of(betas=(), doses=(0.1, FAR), train="data", holdout=0.3)
    (dataset,) = own.manifest.datasets
    doses = (Dose(0.0, 0.0, 0.0), Dose(0.1, 0.385, 0.1), Dose(FAR, None, 0.26))
    known = None if rates is None else {"deprived": rates[0], "favored": rates[1]}
    dataset = replace(
        dataset,
        entry=DatasetInExperiment(name="adult", baseline="none", true_rates=known),
        bias=(PlantedBias("label", kind=kind, description="labels are turned", doses=doses),),
        test_groups=SIZES,
        embedded=False,
    )
    manifest = own.manifest.model_copy(update={"datasets": (dataset,)})
    results = own.results.assign(beta=own.results["beta"].replace(0.5, 0.1))
    return run_statistics(RunFrames.of(manifest, results, own.failures))


def quick_text(statistics: RunStatistics) -> str:
    return " ".join(line for own in sections_of(statistics, Surface.QUICK) for line in section_lines(own))


def console_text(statistics: RunStatistics) -> str:
    file = io.StringIO()
    for own in sections_of(statistics, Surface.CONSOLE):
        print_section(Console(file=file, width=200, emoji=False), own)
    return " ".join(file.getvalue().split())


SURFACES: dict[str, Callable[[RunStatistics], str]] = {
    "quick": quick_text,
    "console": console_text,
    "markdown": report_text,
}


@pytest.mark.parametrize("surface", SURFACES)
def test_levels_are_called_doses_everywhere(surface: str) -> None:
    text = SURFACES[surface](prepared())
    assert "dose 0.1" in text
    for wrong in ("β = 0.1", "β = 0 ", "over β", "all β", "some β", "a β", "level of planted bias"):
        assert wrong not in text, wrong
    if surface == "markdown":
        assert "| Bias moves the baseline by | – | +.233 |" in text
    elif surface != "quick":
        assert MOVED in text
        assert "+0.23" in text  # of the baseline's discrimination, from .15 to .383
    if surface not in ("console", "markdown"):
        assert "0.26" in text  # what can be reached at most


def test_quick_says_what_a_dose_is_in_words_and_what_it_does() -> None:
    text = quick_text(prepared())
    assert f"At dose 0.1. {FIRST}" in text
    assert "dose 0: nothing is planted, the labels are the file's, with a label gap of 0.150." in text
    assert "dose 0.1: of the favorable labels of the deprived group 38 % are wrongly turned" in text
    assert "So the label gap grows by 0.1, from 0.150 to 0.250." in text
    assert "The bias changed it by +0.23" in text
    assert "dose 0.9 is out of reach in this file: the bias widens the label gap by 0.260 at most." in text
    assert "What techniques change at dose 0.1" in text


def test_a_dose_that_takes_nearly_all_is_told_after_lower_ones() -> None:
    doses = (Dose(0.0, 0.0, 0.0), Dose(0.05, 0.4, 0.05), Dose(0.1, 0.97, 0.1), Dose(FAR, None, 0.11))
    bias = PlantedBias("label", doses=doses)
    assert bias.highest([0.0, 0.05, 0.1]) == 0.05
    assert bias.highest([0.0, 0.1]) == 0.1
    assert bias.highest([0.0]) == 0.0
    assert PlantedBias("label").highest([0.0, 0.5, 1.0]) == 1.0
    assert bias.solved == (
        "dose 0.05 is β = 0.4; dose 0.1 is β = 0.97; dose 0.9 is out of reach, at most 0.110 is added"
    )


def test_files_and_figures_go_by_dose() -> None:
    statistics = prepared()
    for name, frame in statistics.frames.items():
        assert ("dose" in frame.columns) or ("beta" not in frame.columns), name
    names = [name for name, _ in statistics_figures(statistics)]
    assert names
    assert not [name for name in names if "beta" in name]
    assert statistics.run.level_limit == 0.1


@pytest.mark.parametrize(
    ("classifiers", "told"),
    [
        (("c45",), ""),
        (("logistic_regression",), "This run used logistic_regression, for which it is not known."),
        (
            ("c45", "naive_bayes", "lightgbm"),
            "This run used naive_bayes and lightgbm, for which it is not known.",
        ),
    ],
)
@pytest.mark.parametrize("rates", [None, (0.40, 0.45)])
def test_the_effect_of_hidden_bias_names_its_classifier(
    classifiers: tuple[str, ...], told: str, rates: tuple[float, float] | None
) -> None:
    own = prepared(rates)
    named = [SimpleNamespace(name=name) for name in classifiers]
    experiment = own.run.experiment.model_copy(update={"classifiers": named})
    section = hidden.section(replace(own, run=own.run.model_copy(update={"experiment": experiment})))
    assert section is not None
    (note,) = section.notes
    assert "It was measured with the classifier c45." in note
    assert note.endswith(told or "c45.")


UNKNOWN = "which hide an unknown amount of bias"


def test_two_simple_rules_stand_beside_the_choice_whichever_is_best() -> None:
    table = made_up_table()
    for column, rule in (
        ("drop_regret", "dropping the sensitive feature"),
        ("nothing_regret", "doing nothing"),
    ):
        other = table.assign(**{column: 0.0})
        remarks = hidden.section(prepared(), other).blocks[0].remarks
        assert sum(remark.endswith(f"On average {rule} is best of the three.") for remark in remarks) == 2
    tied = table.assign(drop_regret=0.0, nothing_regret=0.0)
    remarks = hidden.section(prepared(), tied).blocks[0].remarks
    assert (
        sum(remark.endswith("the nearest of the three are tied, at least once.") for remark in remarks) == 2
    )
    mixed = table.assign(nothing_regret=table["hidden"].map({0.0: 0.0, 0.05: 0.5, 0.1: 0.5}))
    remarks = hidden.section(prepared(), mixed).blocks[0].remarks
    assert sum(remark.endswith("On average none of the three is always best.") for remark in remarks) == 2


def test_without_rates_the_table_is_told_at_three_hidden_doses() -> None:
    text = quick_text(prepared())
    assert UNKNOWN in text
    assert "On 8 to 9 datasets of this program, some bias was hidden first" in text
    assert (
        "To restore decisions: τ 0.80 [0.70, 0.90] with nothing hidden; 0.50 [0.30, 0.70] with 0.05 hidden"
        in text
    )
    assert "0.10 [-0.20, 0.40] with 0.1 hidden" in text
    assert (
        "are the choice, dropping the sensitive feature, doing nothing: 0.010, 0.021, 0.111 with nothing "
        "hidden; 0.060, 0.071, 0.161 with 0.05 hidden; 0.110, 0.121, 0.211 with 0.1 hidden. On average the "
        "choice is best of the three." in text
    )
    assert "--true-rate" in text
    assert RESTORED in text


@pytest.mark.parametrize(
    ("rates", "said", "line", "kept"),
    [
        # recorded: 0.26 and 0.41
        ((0.30, 0.41), "the labels hide a dose of 0.040. Measured at a hidden dose of 0.05", True, True),
        ((0.35, 0.41), "the labels hide a dose of 0.090. Measured at a hidden dose of 0.1", True, False),
        ((0.26, 0.41), "the labels hide a dose of 0.000. Measured at a hidden dose of 0,", True, True),
        ((0.41, 0.41), "is not known: at most 0.1 was measured", False, False),
        ((0.20, 0.41), "Below 0, labels are kinder to the deprived group", False, True),
    ],
)
def test_with_rates_the_line_at_or_above_is_told_and_decides(
    rates: tuple[float, float], said: str, line: bool, kept: bool
) -> None:
    statistics = prepared(rates)
    text = quick_text(statistics)
    assert said in text
    assert ("dropping the sensitive feature by" in text) == line
    assert UNKNOWN not in text
    withheld = WHY_NOT[HIDDEN_BIAS]
    assert (withheld in text) != kept
    reasons = {
        goal: set(own["level_reason"])
        for goal, own in statistics.answers.groupby("goal")
        if (own["beta"] > 0).any()
    }
    assert (HIDDEN_BIAS in reasons[RESTORE]) != kept
    assert HIDDEN_BIAS not in reasons[EQUALISE]
    assert EQUALISED in text
    for surface, show in SURFACES.items():
        shown = show(statistics)
        assert ("recommended to restore" in shown) <= kept
        if not kept and surface == "markdown":
            assert reason_text(Reason(code="hidden_bias"), "clause") in shown
        elif not kept and surface != "console":
            assert withheld in shown
    ranked = statistics.ranks[statistics.ranks["metric"] == "restoration_distance"]
    assert (len(ranked) > 0) == kept


def test_the_table_is_of_label_bias_alone() -> None:
    text = quick_text(prepared((0.35, 0.41), kind="selection"))
    assert "This is not known for the kind of bias 'selection'" in text
    assert WHY_NOT[HIDDEN_BIAS] not in text
    assert RESTORED in text


def test_a_table_may_be_given() -> None:
    table = made_up_table()
    table.loc[table["goal"] == RESTORE, ["tau", "tau_low", "tau_high"]] = (0.99, 0.98, 1.0)
    section = hidden.section(prepared((0.35, 0.41)), table)
    assert section is not None
    assert any("τ 0.99 [0.98, 1.00]" in remark for remark in section.blocks[0].remarks)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (NOTHING_TO_UNDO, "too little to undo"),
        (NO_EFFECT_SHOWN, "no effect on decisions shown beyond retraining"),
        (NO_REFERENCE, "no reference"),
    ],
)
def test_pareto_panels_say_why_values_are_withheld_and_their_words_do_not_meet(
    reason: str, words: str
) -> None:
    own = prepared()
    undo = pd.DataFrame(
        [("adult", "label", "c45", "original", 0.1, "none", "", reason)], columns=list(UNDO_COLUMNS)
    )
    of_clean_model = own.pareto["first"] == GOAL_METRICS[RESTORE]
    pareto = own.pareto.assign(first_distance=own.pareto["first_distance"].mask(of_clean_model))
    figure = draw_pareto(replace(own, undo=undo, pareto=pareto), own.scenarios[0])
    assert flaws(figure) == []
    text = texts_of(figure)
    assert f"{words} distance to the clean model: distance to 0" in text
    assert "nothing is planted distance to the clean model: distance to 0" in text
    assert "no value" not in text
