"""A run with doses: every surface calls its levels doses, and what hidden bias makes of it is said."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from benchmark.bias.doses import Dose
from benchmark.columns import EQUALIZE, GOAL_METRICS, RESTORE
from benchmark.facts import facts_of
from benchmark.facts.model import Reason
from benchmark.facts.questions import hidden
from benchmark.figures.lists import statistics_figures
from benchmark.figures.tradeoff import draw_pareto
from benchmark.runs.analysis import RunStatistics, run_statistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import DatasetInExperiment, GroupSizes, PlantedBias
from benchmark.statistics import hidden_bias
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.restoration import EFFECT_COLUMNS, NO_EFFECT_SHOWN
from benchmark.text.terminal import as_text
from benchmark.wording import answer_text, planted, reason_text
from tests.helpers.facts import report_text
from tests.helpers.figure_checks import flaws, texts_of
from tests.helpers.hidden import write_made_up_table
from tests.helpers.two_goals import run_of

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
    results = own.results.assign(level=own.results["level"].replace(0.5, 0.1))
    return run_statistics(RunFrames.of(manifest, results, own.failures))


def test_levels_are_called_doses() -> None:
    terminal = as_text(answer_text(facts_of(prepared()), full=True))
    assert "dose 0.9 is out of reach, the bias adds a label gap of .260 at most." in terminal
    text = report_text(prepared()) + terminal
    assert "dose 0.1" in text
    for wrong in ("β = 0.1", "β = 0 ", "over β", "all β", "some β", "a β", "level of planted bias"):
        assert wrong not in text, wrong
    # Of the baseline's discrimination, from .15 to .383.
    assert "| Bias moves the baseline by | – | +.233 |" in text


def test_a_dose_that_takes_nearly_all_is_told_after_lower_ones() -> None:
    doses = (Dose(0.0, 0.0, 0.0), Dose(0.05, 0.4, 0.05), Dose(0.1, 0.97, 0.1), Dose(FAR, None, 0.11))
    bias = PlantedBias("label", doses=doses)
    assert bias.highest([0.0, 0.05, 0.1]) == 0.05
    assert bias.highest([0.0, 0.1]) == 0.1
    assert bias.highest([0.0]) == 0.0
    assert PlantedBias("label").highest([0.0, 0.5, 1.0]) == 1.0
    assert planted(bias) == (
        "Bias 'label': ; dose 0.05 is β = 0.4; dose 0.1 is β = 0.97; "
        "dose 0.9 is out of reach, at most 0.110 is added"
    )


def test_files_and_figures_go_by_dose() -> None:
    statistics = prepared()
    for name, frame in statistics.frames.items():
        assert ("beta" in frame.columns) == ({"dataset", "bias", "level"} <= {*frame.columns}), name
    names = [name for name, _ in statistics_figures(statistics)]
    assert names
    assert not [name for name in names if "beta" in name]
    assert statistics.run.level_limit == 0.1


def test_without_rates_the_table_is_told_at_three_hidden_doses() -> None:
    found = hidden(prepared())
    assert found is not None
    assert found.reason.code == "hidden_unknown"
    rows = [
        (row.hidden, row.agreement.mean, row.agreement.low, row.regret.mean, row.drop_regret)
        for row in found.rows
        if row.goal == RESTORE
    ]
    assert rows == [
        (0.0, 0.8, 0.7, 0.01, 0.021),
        (0.05, 0.5, 0.3, 0.06, 0.071),
        (0.1, 0.1, -0.2, 0.11, 0.121),
    ]
    assert {row.datasets for row in found.rows} == {8, 9}
    assert "--true-rate" in report_text(prepared())


@pytest.mark.parametrize(
    ("rates", "code", "line", "kept"),
    [
        # recorded: 0.26 and 0.41
        ((0.30, 0.41), "hidden_known", 0.05, True),
        ((0.35, 0.41), "hidden_known", 0.1, False),
        ((0.41, 0.41), "hidden_not_measured", None, False),
        ((0.20, 0.41), "hidden_below_zero", None, True),
    ],
)
def test_with_rates_the_line_at_or_above_is_told_and_decides(
    rates: tuple[float, float], code: str, line: float | None, kept: bool
) -> None:
    statistics = prepared(rates)
    found = hidden(statistics)
    assert found is not None
    assert found.reason.code == code
    assert found.reason.args["hidden"] == pytest.approx(rates[0] - 0.26)
    assert {row.hidden for row in found.rows} == (set() if line is None else {line})
    reasons = {
        goal: set(own["level_reason"])
        for goal, own in statistics.answers.groupby("goal")
        if (own["level"] > 0).any()
    }
    assert (HIDDEN_BIAS in reasons[RESTORE]) != kept
    assert HIDDEN_BIAS not in reasons[EQUALIZE]
    text = report_text(statistics)
    assert ("At dose 0.1, Undoes lowers the distance" in text) == kept
    assert "At dose 0.1, Evens lowers discrimination" in text
    terminal = as_text(answer_text(facts_of(statistics)))
    assert any(words in terminal.partition("At dose")[0] for words in ("hide a dose", "are kinder to"))
    assert ("No answer to restore decisions at dose 0.1" in terminal) != kept
    assert (reason_text(Reason(code="hidden_bias"), "clause") in text) != kept
    ranked = statistics.ranks[statistics.ranks["metric"] == "restoration_distance"]
    assert (len(ranked) > 0) == kept


def test_the_table_is_of_label_bias_alone() -> None:
    found = hidden(prepared((0.35, 0.41), kind="selection"))
    assert found is not None
    assert found.reason == Reason(code="hidden_kind_not_measured", args={"kind": "selection"})
    assert found.rows == ()


def test_pareto_panels_say_why_values_are_withheld_and_their_words_do_not_meet() -> None:
    own, words = prepared(), "no effect of the bias shown"
    effects = pd.DataFrame(
        [("adult", "label", "c45", "original", 0.1, "none", "", NO_EFFECT_SHOWN)],
        columns=list(EFFECT_COLUMNS),
    )
    of_clean_model = own.pareto["first"] == GOAL_METRICS[RESTORE]
    pareto = own.pareto.assign(first_distance=own.pareto["first_distance"].mask(of_clean_model))
    figure = draw_pareto(replace(own, effects=effects, pareto=pareto), own.scenarios[0])
    assert flaws(figure) == []
    text = texts_of(figure)
    assert f"{words} distance to the clean model: distance to 0" in text
    assert "nothing is planted distance to the clean model: distance to 0" in text
    assert "no value" not in text
