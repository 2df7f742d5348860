"""Figures for a paper: of the width of a column or a page, with chosen content, and a caption beside."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from benchmark.errors import UnknownNameError
from benchmark.figures import WIDTHS, Choice
from benchmark.figures.heat import draw_heat
from benchmark.figures.network import draw_network
from benchmark.figures.over_beta import draw_over_beta
from benchmark.figures.page import Page
from benchmark.figures.rows import draw_forest, draw_ranks, draw_restoration
from benchmark.figures.style import render
from benchmark.figures.tradeoff import draw_pareto, draw_tradeoff
from tests.helpers.figure_checks import flaws, legends_of, panels, texts_of
from tests.helpers.made_up_restoration import with_restoration
from tests.helpers.made_up_runs import ADULT, many_techniques, sample_run
from tests.helpers.made_up_statistics import statistics

DRAWN: dict[str, Callable[[Choice], Page]] = {
    "over_beta": lambda choice: draw_over_beta(run(), run().scenarios[0], choice),
    "tradeoff": lambda choice: draw_tradeoff(run(), run().scenarios[0], choice=choice),
    "network": lambda choice: draw_network(ADULT, choice),
    "heat": lambda choice: draw_heat(statistics(9), "discrimination", "original", choice),
    "forest": lambda choice: draw_forest(statistics(9), statistics(9).scenarios[0], "accuracy", choice),
    "pareto": lambda choice: draw_pareto(statistics(9), statistics(9).scenarios[0], choice),
    "ranks": lambda choice: draw_ranks(statistics(9), statistics(9).ranks, choice),
    "restoration": lambda choice: draw_restoration(
        with_restoration(statistics(9)), statistics(9).scenarios[0], choice
    ),
}


def run(repetitions: int = 5):  # type: ignore[no-untyped-def]
    return sample_run(datasets=(ADULT,), techniques=many_techniques(9), repetitions=repetitions).frames


def sizes(figure: Figure) -> set[float]:
    """Return the sizes in points of all visible words."""
    return {
        text.get_size() for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("width", WIDTHS.values())
def test_every_figure_fits_a_column_and_a_page_with_words_of_eight_points(name: str, width: float) -> None:
    figure = DRAWN[name](Choice(width=width, caption=False))
    assert figure.get_figwidth() == width
    assert flaws(figure) == []
    assert min(sizes(figure)) >= 8


def test_levels_and_names_of_a_heat_map_with_narrow_columns_stand_upright() -> None:
    assert flaws(DRAWN["heat"](Choice(width=1.9, caption=False))) == []


def test_panels_name_their_techniques_where_no_legend_stands_beside_them() -> None:
    techniques = many_techniques(20)
    stages = {own.name: "pre" if i < 12 else "post" for i, own in enumerate(techniques)}
    own = sample_run(datasets=(ADULT,), techniques=techniques, stages=stages, repetitions=5).frames
    for width, names in ((6.9, True), (None, False)):
        page = draw_over_beta(own, own.scenarios[0], Choice(["accuracy"], width=width))
        titles = [" ".join(axes.get_title("left").split()) for axes in panels(page)]
        assert titles[-1].endswith("post-processing") is names


@pytest.mark.parametrize(
    ("metrics", "techniques"),
    [
        (["accuracy", "discrimination"], None),
        (["underestimation"], ["massaging", "none"]),
        (None, ["reweighing", "massaging", "none"]),
    ],
)
def test_a_figure_over_beta_has_the_chosen_panels_and_lines_in_their_order(
    metrics: list[str] | None, techniques: list[str] | None
) -> None:
    frames = run()
    figure = DRAWN["over_beta"](Choice(metrics, techniques))
    titles = {metric.name: metric.title for metric in frames.manifest.metrics}
    shown = [axes.get_title("left") for axes in panels(figure)]
    assert shown == ([titles[name] for name in metrics] if metrics else shown[:4])
    named = [text.get_text() for text in legends_of(figure)[0].get_texts()]
    assert named == [frames.manifest.titles[name] for name in techniques or frames.manifest.titles]


@pytest.mark.parametrize(
    ("name", "choice", "nearest"),
    [
        ("over_beta", Choice(metrics=["acuracy"]), "accuracy"),
        ("pareto", Choice(techniques=["technique_33"]), "technique_3"),
        ("tradeoff", Choice(techniques=["masaging"]), "massaging"),
    ],
)
def test_another_name_is_an_error_with_the_nearest(name: str, choice: Choice, nearest: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{nearest}'"):
        DRAWN[name](choice)


def test_a_figure_without_metrics_or_techniques_lets_none_be_chosen() -> None:
    with pytest.raises(UnknownNameError, match="metric of this figure"):
        DRAWN["network"](Choice(metrics=["accuracy"]))


@pytest.mark.parametrize("name", ["over_beta", "heat", "network"])
def test_the_caption_is_beside_the_figure_and_not_in_it(name: str) -> None:
    full, bare = (DRAWN[name](Choice(caption=caption)) for caption in (True, False))
    assert full.caption == bare.caption
    title = full.caption.partition(".")[0]
    assert title in texts_of(full)
    assert title not in texts_of(bare)
    assert bare.get_figheight() < full.get_figheight()
    assert render(bare, "png") == render(DRAWN[name](Choice(caption=False)), "png")


def test_intervals_are_cut_at_the_range_of_a_metric_and_of_two_repetitions_not_drawn() -> None:
    for repetitions, n_bands in ((2, 0), (3, 9)):
        frames = run(repetitions)
        for axes in panels(draw_over_beta(frames, frames.scenarios[0])):
            bands = [band.get_paths()[0].vertices for band in axes.collections if band.get_paths()]
            assert len([band for band in bands if len(band)]) == n_bands
            assert all(band[:, 1].min() >= -1 and band[:, 1].max() <= 1 for band in bands if len(band))
