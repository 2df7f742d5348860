"""Figures of an alternation test: what they show, and that all of it can be read."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from benchmark.audit.alternation import ALTERNATION_COLUMNS, AlternationExperiment, AlternationOutcome
from benchmark.figures.alternation import alternation_figures, draw_divergences, draw_means
from tests.helpers.figure_checks import cut_off, legend_overlaps_panels, overlapping, panels, texts_of

RACES = ("Amer Indian Aleut or Eskimo", "Asian or Pacific Islander", "Black", "Other", "White")


def results(values: tuple[str, ...], attribute: str = "race", n_folds: int = 10) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = [
        (attribute, *pair, "predict", fold, group, 9, *rng.uniform(300, 1500, 2), *rng.uniform(0.1, 2, 2), "")
        for pair in itertools.combinations(values, 2)
        for fold in range(n_folds)
        for group in pair
    ]
    return pd.DataFrame(rows, columns=list(ALTERNATION_COLUMNS))


def lines(figure: Figure, panel: int) -> list[list[float]]:
    return [list(map(float, line.get_ydata())) for line in panels(figure)[panel].lines]


@pytest.mark.parametrize(
    ("draw", "values", "n_folds", "smallest"),
    [
        pytest.param(draw_means, ("Female", "Male"), 25, 0.1, marks=pytest.mark.nightly),
        pytest.param(draw_means, RACES, 10, 0.1, marks=pytest.mark.slow),  # twenty panels
        (draw_divergences, RACES[1:4], 2, 0.1),
        pytest.param(draw_divergences, RACES, 25, 1e-6, marks=pytest.mark.slow),  # a logarithmic axis
    ],
)
def test_no_text_overlaps_or_is_cut(
    draw: Callable[..., Figure], values: tuple[str, ...], n_folds: int, smallest: float
) -> None:
    frame = results(values, n_folds=n_folds)
    frame.loc[0, "kl"] = smallest
    figure = draw(frame, "race exchanged: what is shown (cents)", "All rows. " * 12)
    assert overlapping(figure) == []
    assert cut_off(figure) == []
    assert not legend_overlaps_panels(figure)


def test_means_are_drawn_for_each_value_and_new_value() -> None:
    frame = results(("a", "b", "c"), n_folds=3)
    frame.loc[(frame["group"] == "b") & (frame["fold"] == 1), ["mean", "mean_alternated"]] = np.nan
    figure = draw_means(frame, "title", "subtitle")
    titles = [axes.get_title(loc="left") for axes in panels(figure)]
    assert titles == ["a → b", "b → a", "a → c", "c → a", "b → c", "c → b"]
    for i, (group, other) in enumerate(title.split(" → ") for title in titles):
        pair = sorted((group, other))
        own = frame[(frame["group"] == group) & (frame["first"] == pair[0]) & (frame["second"] == pair[1])]
        assert len(own) == 3
        np.testing.assert_array_equal(lines(figure, i), own[["mean", "mean_alternated"]].to_numpy().T)
    limits = {axes.get_ylim() for axes in panels(figure)}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low < frame[["mean", "mean_alternated"]].min().min()
    assert high > frame[["mean", "mean_alternated"]].max().max()
    assert "own value exchanged" in texts_of(figure)


def test_divergences_are_drawn_for_each_pair_and_group() -> None:
    frame = results(("a", "b", "c"), n_folds=4)
    figure = draw_divergences(frame, "title", "subtitle")
    for i, pair in enumerate(("ab", "ac", "bc")):
        own = frame[(frame["first"] == pair[0]) & (frame["second"] == pair[1])]
        expected = [own.loc[own["group"] == group, "kl"].tolist() for group in pair]
        assert lines(figure, i) == expected
    assert panels(figure)[0].get_yscale() == "linear"
    assert "not drawn" not in texts_of(figure)


def test_what_cannot_be_drawn_is_told() -> None:
    frame = results(("a", "b"), n_folds=4)
    frame.loc[:3, "kl"] = [np.nan, np.inf, 0.0, 1.0]
    linear = draw_divergences(frame, "title", "subtitle")
    assert "2 of 8 values are not drawn" in texts_of(linear)
    assert lines(linear, 0)[0][1] == 0
    frame.loc[4, "kl"] = 1e-5
    logarithmic = draw_divergences(frame, "title", "subtitle")
    assert panels(logarithmic)[0].get_yscale() == "log"
    assert "3 of 8 values are not drawn" in texts_of(logarithmic)
    assert np.isnan(lines(logarithmic, 0)[0][:2]).all()


def test_no_divergence_at_all_is_a_flat_line() -> None:
    frame = results(("a", "b"), n_folds=4).assign(kl=0.0)
    figure = draw_divergences(frame, "title", "subtitle")
    assert lines(figure, 0) == [[0.0] * 4] * 2
    assert panels(figure)[0].get_ylim()[0] < 0


def test_figures_show_the_first_variant_of_the_first_case() -> None:
    experiment = AlternationExperiment.model_validate(
        {
            **{"kind": "alternation", "name": "x", "title": "X", "card": "adult", "target": "pay"},
            **{"unit": "cents", "attributes": ["sex", "race"], "seed": 1, "folds": 3},
            "cases": [
                {"name": "second", "title": "Second", "features": ["sex", "race"], "variants": ["train"]},
                {"name": "first", "title": "First", "features": ["sex", "race"]},
            ],
        }
    )
    both = pd.concat([results(("f", "m"), "sex", 3), results(("a", "b"), "race", 3)])
    shown = both.assign(case="second", variant="train")
    frame = pd.concat([both.assign(case="first", mean=-1.0), shown, both.assign(case="second", mean=-1.0)])
    outcome = AlternationOutcome(frame, pd.DataFrame(), {"first": 7, "second": 1234}, "")
    figures = {name: draw() for name, draw in alternation_figures(experiment, outcome)}
    assert list(figures) == ["means_sex", "kl_sex", "means_race", "kl_race"]
    own = shown[(shown["attribute"] == "sex") & (shown["group"] == "f")]
    assert lines(figures["means_sex"], 0)[0] == own["mean"].tolist()
    text = texts_of(figures["means_race"])
    assert "race exchanged: mean predicted pay (cents)" in text
    assert "Second: 1,234 rows in 3 folds. Models of unchanged rows, and of exchanged rows" in text
