"""The figure of a gain over sources: its dots, its bands, and that all of it can be read."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.figures import Choice
from benchmark.statistics.intervals import prediction_intervals, standard_errors, student_intervals
from studies.random_effects import variance_of_next
from studies.sources_figure import draw_sources
from tests.helpers.figure_checks import cut_off, legend_overlaps_panels, overlapping, panels

OVERLAP = 3 / 7


def gains(k: int) -> np.ndarray:
    rng = np.random.default_rng(k)
    return rng.normal(0.05, 0.1, (k, 1)) + rng.normal(0, 0.05, (k, 10))


@pytest.mark.parametrize("choice", [Choice(), Choice(width=3.3)], ids=["page", "column"])
@pytest.mark.parametrize("k", [11, 44])
def test_no_text_overlaps_or_is_cut(k: int, choice: Choice) -> None:
    names = [f"source_of_people_{i}" for i in range(k)]
    means, errors = gains(k).mean(axis=1), standard_errors(gains(k), OVERLAP)
    figure = draw_sources(names, means, errors, 10, title="Where it holds", choice=choice)
    assert overlapping(figure) == []
    assert cut_off(figure) == []
    assert not legend_overlaps_panels(figure)


def test_dots_are_sorted_and_bands_are_the_intervals() -> None:
    values = gains(11)
    means = values.mean(axis=1)
    errors = standard_errors(values, OVERLAP)
    figure = draw_sources([*"abcdefghijk"], means, errors, 10, title="Where it holds", gain="agreement")
    [axes] = panels(figure)
    drawn = {line.get_gid(): line for line in axes.lines if line.get_gid()}
    order = sorted(drawn, key=lambda name: float(drawn[name].get_ydata()[0]))
    assert order == [f"source {'abcdefghijk'[i]}" for i in np.argsort(-means)]
    bands = {
        patch.get_gid(): patch.get_extents().transformed(axes.transData.inverted()) for patch in axes.patches
    }
    single = variance_of_next(means[None], standard_errors(values, OVERLAP)[None] ** 2)
    new = prediction_intervals(means[None], single)
    for name, ends in {"mean": student_intervals(means[None]), "new source": new}.items():
        assert (bands[name].x0, bands[name].x1) == pytest.approx(np.ravel(ends), abs=1e-6)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("agreement", "source")
