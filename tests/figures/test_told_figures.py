"""Figures of a run that tells some techniques about the bias: these stand together, and a note says so."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from benchmark.experiment.telling import Telling
from benchmark.figures.heat import draw_heat
from benchmark.figures.marks import TOLD
from benchmark.figures.over_beta import draw_over_beta
from benchmark.figures.page import Page
from benchmark.figures.rows import draw_ranks
from benchmark.figures.style import BLUE, ORANGE
from benchmark.figures.tradeoff import draw_pareto, draw_tradeoff
from benchmark.runs.analysis import RunStatistics, run_statistics
from benchmark.runs.finished import RunFrames
from tests.helpers.figure_checks import legends_of
from tests.helpers.two_goals import told_run

NOTE = "told about the planted bias."
GAP = Telling(fact="gap")


@pytest.fixture(scope="module")
def run() -> RunFrames:
    return told_run({"undoes": GAP, "levels": GAP, "evens": Telling(fact="refusals")})


@pytest.fixture(scope="module")
def statistics(run: RunFrames) -> RunStatistics:
    return run_statistics(run)


def tinted(page: Page) -> list[bool]:
    return [to_hex(axes.get_facecolor()) == TOLD.lower() for axes in page.panels]


def test_panels_of_told_techniques_are_tinted(run: RunFrames) -> None:
    page = draw_tradeoff(run, run.scenarios[0])
    assert tinted(page) == [False] * 3 + [True] * 3
    assert f"Tinted: {NOTE}" in page.caption
    page = draw_over_beta(run, run.scenarios[0])
    assert tinted(page) == [False] * 3 + [True] * 3, "three metrics of both groups"
    titles = [legend.get_title().get_text() for legend in legends_of(page)]
    assert titles == ["", "Told about the bias"]
    names = [text.get_text() for text in legends_of(page)[1].get_texts()]
    assert names[:4] == [
        "Nothing",
        "Undoes (told the gap)",
        "Levels (told the gap)",
        "Evens (told 50 refusals)",
    ]


def test_lines_part_the_rows_of_what_is_told(statistics: RunStatistics) -> None:
    page = draw_heat(statistics, "discrimination", "original")
    (axes,) = page.panels
    parts = [line.get_ydata()[0] for line in axes.lines if line.get_gid() == "part"]  # type: ignore[index]
    assert parts == [2.5, 4.5]
    assert f"Below a line: {NOTE}" in page.caption


def test_each_state_of_knowledge_has_a_front(statistics: RunStatistics) -> None:
    page = draw_pareto(statistics, statistics.scenarios[0])
    colors = [line.get_color() for line in page.panels[1].lines if line.get_gid() == "front"]
    assert colors == [BLUE, ORANGE, ORANGE]
    assert f"Orange: {NOTE}" in page.caption


def test_ranks_have_a_panel_for_each_state_with_several_techniques(statistics: RunStatistics) -> None:
    page = draw_ranks(statistics, statistics.ranks)
    titles = [axes.get_title(loc="left") for axes in page.panels]
    assert titles[:2] == ["Discrimination", "Discrimination, told the gap"]
    assert not any("50 refusals" in title for title in titles)
    names = [text.get_text() for text in page.panels[1].get_yticklabels()]
    assert sorted(names) == ["Levels", "Nothing", "Undoes"]
    assert tinted(page) == [False, True] * (len(titles) // 2)


def test_a_run_that_tells_nothing_has_no_note() -> None:
    run = told_run({})
    page = draw_tradeoff(run, run.scenarios[0])
    assert "told" not in page.caption
    assert not any(tinted(page))
