"""All figures can be read: no text overlaps, is cut or is small, on a page of any width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from benchmark.errors import UnknownNameError
from benchmark.figures import WIDTHS, Choice
from benchmark.figures.heat import draw_heat
from benchmark.figures.network import draw_network
from benchmark.figures.over_beta import draw_over_beta
from benchmark.figures.page import Page
from benchmark.figures.rows import AUC_METRICS, draw_auc, draw_forest, draw_ranks, draw_restoration
from benchmark.figures.style import render
from benchmark.figures.tradeoff import draw_pareto, draw_tradeoff
from benchmark.metrics import Predictions, measure
from benchmark.runs.finished import RunFrames
from tests.helpers.figure_checks import flaws, legends_of, panels, texts_of
from tests.helpers.made_up_restoration import with_restoration
from tests.helpers.made_up_runs import ADULT, DUTCH, hostile_techniques, many_techniques, sample_run
from tests.helpers.made_up_statistics import statistics

RACES = ("Amer Indian Aleut or Eskimo", "Asian or Pacific Islander", "Black", "Other", "White")


@cache
def run(n_techniques: int = 6) -> RunFrames:
    """Return a run with gaps; of more than nine techniques with hostile names."""
    techniques = {"techniques": many_techniques(n_techniques)}
    techniques = techniques if n_techniques <= 9 else hostile_techniques(n_techniques)
    return sample_run(datasets=(DUTCH,), repetitions=3, **techniques).frames  # type: ignore[arg-type]


def people(n_models: int = 3) -> pd.DataFrame:
    """Return the AUC of models by race, of which the first has none of a group."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, len(RACES), 3000)
    y_true = rng.random(3000) < 0.4
    frame = pd.DataFrame(
        {"model": f"Technique with a rather long name {i}", **asdict(own)}
        for i in range(n_models)
        for own in measure(
            Predictions(codes, RACES, y_true, y_score=rng.normal(y_true * (1 + 0.1 * codes))), AUC_METRICS
        )
    )
    return frame.assign(value=frame["value"].mask((frame.index < len(RACES)) & (frame["group"] == "Other")))


def of_statistics(n: int) -> dict[str, Callable[[Choice], Page]]:
    return {
        "heat": lambda choice: draw_heat(statistics(n), "discrimination", "original", choice),
        "forest": lambda choice: draw_forest(statistics(n), statistics(n).scenarios[0], "accuracy", choice),
        "pareto": lambda choice: draw_pareto(statistics(n), statistics(n).scenarios[0], choice),
        "ranks": lambda choice: draw_ranks(statistics(n), statistics(n).ranks, choice),
        "restoration": lambda choice: draw_restoration(
            with_restoration(statistics(n), "nothing_to_undo"), statistics(n).scenarios[0], choice
        ),
    }


def of_run(n: int = 6) -> dict[str, Callable[[Choice], Page]]:
    return {
        "over_beta": lambda choice: draw_over_beta(run(n), run(n).scenarios[0], choice),
        "tradeoff": lambda choice: draw_tradeoff(run(n), run(n).scenarios[0], choice=choice),
    }


FIGURES: dict[str, Callable[[Choice], Page]] = {
    **of_run(),
    **of_statistics(9),
    "network": lambda choice: draw_network(ADULT, choice),
    "auc": lambda choice: draw_auc(people(), "Made-up data by race", choice),
}
OTHERS: dict[str, Callable[[Choice], Page]] = {
    **{f"{name} of 39 techniques": draw for name, draw in (of_run(39) | of_statistics(39)).items()},
    **{f"{name} of 2 techniques": draw for name, draw in of_statistics(2).items()},
    "auc of twelve": lambda choice: draw_auc(people(12), "Made-up data by race", choice),
}
NIGHTLY = [pytest.param(name, None, marks=pytest.mark.nightly) for name in OTHERS]
NIGHTLY += [pytest.param(name, WIDTHS["page"], marks=pytest.mark.nightly) for name in FIGURES]
SLOW = [pytest.param(name, WIDTHS["column"], marks=pytest.mark.slow) for name in FIGURES]


@pytest.mark.parametrize(("name", "width"), [*((name, None) for name in FIGURES), *SLOW, *NIGHTLY])
def test_no_text_overlaps_is_cut_or_small(name: str, width: float | None) -> None:
    page = {**FIGURES, **OTHERS}[name](Choice(width=width, caption=width is None))
    assert flaws(page) == []
    assert width in (None, page.get_figwidth())
    shown = (text for text in page.findobj(Text) if text.get_visible() and text.get_text().strip())
    assert min(text.get_size() for text in shown) >= 8


def test_that_check_can_fail() -> None:
    page = FIGURES["network"](Choice())
    page.text(0.02, 0.97, "across the title", va="top")
    page.text(0.98, 0.5, "beyond the edge")
    found = flaws(page)
    assert "'beyond the edge' is cut off" in found
    assert any("overlaps 'across the title'" in flaw for flaw in found)


def test_what_is_chosen_is_shown_in_that_order() -> None:
    manifest = run().manifest
    for metrics, techniques in (
        (["underestimation", "accuracy"], None),
        (None, ["reweighing", "massaging", "none"]),
    ):
        page = FIGURES["over_beta"](Choice(metrics, techniques))
        titles = {metric.name: metric.title for metric in manifest.metrics}
        assert [axes.get_title("left") for axes in panels(page)] == [titles[n] for n in metrics or titles]
        named = [text.get_text() for text in legends_of(page)[0].get_texts()]
        assert named == [manifest.titles[name] for name in techniques or manifest.titles]


@pytest.mark.parametrize(
    ("name", "choice", "said"),
    [
        ("over_beta", Choice(metrics=["acuracy"]), "did you mean 'accuracy'"),
        ("pareto", Choice(techniques=["technique_33"]), "did you mean 'technique_3'"),
        ("network", Choice(metrics=["accuracy"]), "metric of this figure"),
    ],
)
def test_another_name_is_an_error(name: str, choice: Choice, said: str) -> None:
    with pytest.raises(UnknownNameError, match=said):
        FIGURES[name](choice)


def test_the_caption_is_beside_the_figure_and_not_in_it() -> None:
    full, bare, again = (FIGURES["network"](Choice(caption=caption)) for caption in (True, False, False))
    title = full.caption.partition(".")[0]
    assert full.caption == bare.caption
    assert title in texts_of(full)
    assert title not in texts_of(bare)
    assert bare.get_figheight() < full.get_figheight()
    assert render(bare, "png") == render(again, "png")
    assert b"<image" not in render(bare, "svg")
    assert b"<text" not in render(bare, "svg"), "letters are outlines, which need no font"
