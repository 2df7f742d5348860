"""The figure of restoration: who gets back what the bias took, on any number of techniques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmark.figures.lists import statistics_figures
from benchmark.figures.rows import draw_restoration
from benchmark.figures.style import render
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.statistics.restoration import NO_REFERENCE, NOTHING_TO_UNDO
from tests.helpers.figure_checks import flaws, panels, texts_of
from tests.helpers.made_up_restoration import BETA, with_restoration
from tests.helpers.made_up_statistics import statistics
from tests.helpers.marks import nightly_but
from tests.helpers.planted_folder import PLANTED, write_planted_folder


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    return with_restoration(folder_statistics(write_planted_folder(tmp_path_factory.mktemp("run") / "run")))


def marks(axes: Axes) -> dict[int, Line2D]:
    """Return the marks of a panel by their row."""
    return {int(line.get_ydata()[0]): line for line in axes.lines if line.get_gid() == "share"}  # type: ignore[index]


def lines(axes: Axes, name: str) -> Sequence[float]:
    """Return where the reference lines of a panel stand, by row."""
    (found,) = (drawn for drawn in axes.collections if drawn.get_gid() == name)
    return [float(segment[0, 0]) for segment in found.get_segments()]  # type: ignore[attr-defined]


def first(own: RunStatistics) -> Figure:
    return draw_restoration(own, own.scenarios[0])


@pytest.mark.parametrize("n_techniques", nightly_but(9, (2, 9, 25, 39)))
def test_no_text_overlaps_or_is_cut(n_techniques: int) -> None:
    assert flaws(first(with_restoration(statistics(n_techniques), NOTHING_TO_UNDO))) == []


def test_each_scenario_has_a_figure_and_a_run_without_decisions_none(planted: RunStatistics) -> None:
    names = [name for name, _ in statistics_figures(planted) if name.startswith("restoration_")]
    assert names == [f"restoration_{scenario.file_name}" for scenario in planted.scenarios]
    assert not [name for name, _ in statistics_figures(statistics(2)) if name.startswith("restoration_")]


def test_a_panel_without_any_value_says_why(planted: RunStatistics) -> None:
    there = planted.restoration["metric"] == "in_their_place"
    empty = planted.restoration.assign(value=planted.restoration["value"].mask(there))
    own = replace(planted, restoration=empty)
    drawn = draw_restoration(own, own.scenarios[0]).panels
    said = [[text.get_text().replace("\n", " ") for text in axes.texts] for axes in drawn]
    assert said == [[], [], ["fewer than 10 people to count"]]


def test_rows_are_techniques_the_nearest_to_the_clean_model_first(planted: RunStatistics) -> None:
    given, paid, there = panels(first(planted))
    names = [label.get_text().replace("\n", " ").split(" †")[0] for label in given.get_yticklabels()]
    assert [name.rstrip(" ‡¶") for name in names] == list(PLANTED.values())[1:]
    assert not any(label.get_text() for axes in (paid, there) for label in axes.get_yticklabels())
    shares = {row: float(mark.get_xdata()[0]) for row, mark in marks(given).items()}  # type: ignore[index]
    assert shares[0] == pytest.approx(75)
    assert shares[5] == pytest.approx(50)
    assert np.isnan(shares[6]), "fewer than ten people"


def test_what_is_no_better_than_a_refit_is_grey_and_what_is_of_no_use_is_hollow(
    planted: RunStatistics,
) -> None:
    given, paid, _ = panels(first(planted))
    of_given, of_paid = marks(given), marks(paid)
    colors = [of_given[0].get_mec(), of_given[1].get_mec(), of_paid[4].get_mec()]
    assert len(set(colors)) == 3, "not shown, better, worse"
    rows = dict(zip(list(PLANTED)[1:], range(len(PLANTED) - 1), strict=True))
    hollow = {name for name, row in rows.items() if of_given[row].get_mfc() == "white"}
    assert hollow == {"constant", "nearly", "by_group", "poor"}


def test_refits_are_lines_and_the_biased_baseline_is_one_where_it_accepts_others(
    planted: RunStatistics,
) -> None:
    given, paid, there = panels(first(planted))
    for axes in (given, paid, there):
        assert lines(axes, "refit_clean") == pytest.approx([70] * 7)
        assert lines(axes, "refit_biased") == pytest.approx([60] * 7)
    assert lines(there, "biased_baseline") == pytest.approx([30] * 7)
    assert not [drawn for drawn in paid.collections if drawn.get_gid() == "biased_baseline"]


@pytest.mark.parametrize(
    ("undo", "said"),
    [(NO_REFERENCE, "Not weighed: no reference"), (NOTHING_TO_UNDO, "Not weighed: too little to undo")],
)
def test_a_note_says_where_nothing_is_to_be_restored(undo: str, said: str) -> None:
    assert said in texts_of(first(with_restoration(statistics(9), undo)))
    assert said not in texts_of(first(with_restoration(statistics(9))))


def test_the_title_says_the_goal_and_the_level(planted: RunStatistics) -> None:
    figure = first(planted)
    said = texts_of(figure)
    assert "Goal: restore decisions" in said
    assert f"β = {BETA:g}" in said
    assert render(figure, "png") == render(first(planted), "png")
