"""Figures of the numbers: what they show, and that all of it can be read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from figure_checks import (
    colorbars,
    cut_off,
    grey_levels,
    legend_overlaps_panels,
    overlapping,
    panels,
    texts_of,
)
from made_up_runs import ADULT, BETAS, COMPAS, DUTCH, METRICS, TECHNIQUES, Run, many_techniques, sample_run
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from benchmark.report.describe import DatasetDescription
from benchmark.report.figures import draw_over_beta, draw_tradeoff, tradeoff_limits, tradeoff_points
from benchmark.report.frames import check_failures, check_results, scenarios
from benchmark.report.style import BETA_COLORS, line_style, wrap
from benchmark.report.summary import summarise


def tradeoff(run: Run, *, only: int | None = None) -> Figure:
    results, failures = (
        check_results(run.results, run.description),
        check_failures(run.failures, run.description),
    )
    scenario = scenarios(results, failures, run.description)[0]
    points = tradeoff_points(results, scenario)
    techniques = run.description.techniques if only is None else run.description.techniques[only : only + 1]
    return draw_tradeoff(points, tradeoff_limits(points), techniques, failures, scenario, run.description)


def over_beta(run: Run) -> Figure:
    results, failures = (
        check_results(run.results, run.description),
        check_failures(run.failures, run.description),
    )
    summary = summarise(results, failures, run.description)
    return draw_over_beta(
        summary, failures, scenarios(results, failures, run.description)[0], run.description
    )


def run_of(dataset: DatasetDescription, n_techniques: int, **more: object) -> Run:
    return sample_run(datasets=(dataset,), techniques=many_techniques(n_techniques), **more)  # type: ignore[arg-type]


VARIANTS = {
    "1 technique": lambda: run_of(DUTCH, 1, repetitions=5),
    "3 techniques": lambda: run_of(COMPAS, 3, repetitions=5),
    "5 techniques with gaps": lambda: run_of(DUTCH, 5, repetitions=5),
    "9 techniques with gaps": lambda: run_of(DUTCH, 9, repetitions=5),
    "25 techniques": lambda: run_of(DUTCH, 25, repetitions=3),
    "one beta": lambda: run_of(DUTCH, 9, betas=(1.0,), repetitions=5),
    "one beta, 25 techniques": lambda: run_of(DUTCH, 25, betas=(1.0,), repetitions=2),
    "one repetition": lambda: run_of(ADULT, 9, repetitions=1),
    "eleven betas": lambda: run_of(ADULT, 3, betas=tuple(i / 10 for i in range(11)), repetitions=2),
    "one metric pair": lambda: run_of(ADULT, 3, metrics=METRICS[:2], repetitions=2),
}


@pytest.mark.parametrize("draw", [tradeoff, over_beta, lambda run: tradeoff(run, only=0)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_no_text_overlaps_or_is_cut(variant: str, draw: object) -> None:
    figure = draw(VARIANTS[variant]())  # type: ignore[operator]
    assert overlapping(figure) == []
    assert cut_off(figure) == []
    assert not legend_overlaps_panels(figure)


def test_the_overlap_check_can_fail() -> None:
    figure = tradeoff(VARIANTS["3 techniques"]())
    figure.text(0.02, 0.97, "across the title", va="top")
    figure.text(0.98, 0.5, "beyond the edge")
    assert overlapping(figure)
    assert cut_off(figure) == ["beyond the edge"]


def test_tradeoff_has_a_panel_per_technique_on_common_axes() -> None:
    figure = tradeoff(run_of(ADULT, 9))
    assert len(panels(figure)) == 9
    assert len({axes.get_xlim() for axes in panels(figure)}) == 1
    assert len({axes.get_ylim() for axes in panels(figure)}) == 1
    single = panels(tradeoff(run_of(ADULT, 9), only=4))[0]
    assert single.get_xlim() == panels(figure)[0].get_xlim()
    assert single.get_ylim() == panels(figure)[0].get_ylim()


def test_tradeoff_has_a_dot_per_repetition_and_the_mean_of_each_beta() -> None:
    run = run_of(ADULT, 3)
    dots, means = [c for c in panels(tradeoff(run))[1].collections if isinstance(c, PathCollection)]
    wide = run.results[run.results["technique"] == "drop_sensitive"].pivot(
        index=["beta", "repetition"], columns="metric", values="value"
    )[["discrimination", "accuracy"]]
    np.testing.assert_allclose(np.asarray(dots.get_offsets()), wide.to_numpy())
    np.testing.assert_allclose(np.asarray(means.get_offsets()), wide.groupby("beta").mean().to_numpy())
    np.testing.assert_array_equal(np.asarray(means.get_array()), BETAS)


def test_limits_hold_every_point_and_zero() -> None:
    run = run_of(DUTCH, 9)
    axes = panels(tradeoff(run))[0]
    for metric, (low, high) in (("discrimination", axes.get_xlim()), ("accuracy", axes.get_ylim())):
        values = run.results.loc[run.results["metric"] == metric, "value"]
        assert low < values.min()
        assert values.max() < high
    assert axes.get_xlim()[0] < 0


def test_the_colourbar_always_spans_all_of_beta() -> None:
    for betas in (BETAS, (0.5,)):
        (bar,) = colorbars(tradeoff(run_of(ADULT, 2, betas=betas, repetitions=2)))
        assert bar.get_ylabel() == "planted bias β"
        assert bar.get_ylim() == (0, 1)
        assert list(bar.get_yticks()) == list(betas)


def test_beta_colours_get_lighter_evenly() -> None:
    grey = grey_levels(BETA_COLORS(np.linspace(0, 1, 20)))
    assert (np.diff(grey) > 0).all()
    assert grey[-1] < 0.8


def test_titles_say_dataset_data_and_repetitions() -> None:
    for draw in (tradeoff, over_beta):
        text = texts_of(draw(run_of(DUTCH, 2, repetitions=7)))
        assert "Dutch (embedded)" in text
        assert "EMBEDDED NETWORK, NOT REAL DATA: tested on a sample of the learned network" in text
        assert "7 repetitions" in text
        text = texts_of(draw(run_of(COMPAS, 2, repetitions=1)))
        assert "Tested on real data; 1 repetition;" in text
        assert "EMBEDDED" not in text
        assert "Warning: the column event follows from the outcome" in text


def test_gaps_are_explained() -> None:
    run = run_of(DUTCH, 6)
    for figure in (tradeoff(run), tradeoff(run, only=4), over_beta(run)):
        assert "Uniform sampling: no value at β = 1 (30 failed: no deprived row" in texts_of(figure)
    assert panels(tradeoff(run))[4].get_title("left") == "Uniform sampling (none at β = 1)"


def test_a_technique_without_any_value_has_its_panel() -> None:
    run = run_of(DUTCH, 6, betas=(1.0,), repetitions=3)
    figure = tradeoff(run)
    assert [text.get_text() for text in panels(figure)[4].texts] == ["no value, see below"]
    assert "30 failed" not in texts_of(figure)
    assert "3 failed: no deprived row" in texts_of(figure)


def test_nan_values_leave_no_point() -> None:
    run = run_of(ADULT, 1, repetitions=4)
    values = run.results["value"].where(run.results["repetition"] != 2)
    dots = panels(tradeoff(replace(run, results=run.results.assign(value=values))))[0].collections[0]
    assert len(np.asarray(dots.get_offsets())) == 3 * len(BETAS)


def test_a_run_without_any_value_is_drawn() -> None:
    run = run_of(ADULT, 2, repetitions=2)
    failures = run.results.drop(columns="value").assign(metric="", status="timeout", reason="over 60 s")
    empty = Run(run.results.head(0), failures.drop_duplicates(), run.description)
    for figure in (tradeoff(empty), over_beta(empty)):
        assert "timeout: over 60 s" in texts_of(figure)


def test_over_beta_has_a_panel_per_metric_and_a_line_per_technique() -> None:
    run = run_of(ADULT, 9)
    figure = over_beta(run)
    assert [axes.get_title("left") for axes in panels(figure)] == [metric.title for metric in METRICS]
    for axes in panels(figure):
        assert len([line for line in axes.lines if len(line.get_xdata()) == len(BETAS)]) == 9
        assert len(axes.collections) == 9
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [technique.title for technique in TECHNIQUES]


def test_lines_and_bands_are_means_and_intervals() -> None:
    run = run_of(ADULT, 2)
    description = run.description
    results, failures = check_results(run.results, description), check_failures(run.failures, description)
    summary = summarise(results, failures, description).query("technique == 'none' and metric == 'accuracy'")
    axes = panels(over_beta(run))[1]
    np.testing.assert_array_equal(np.asarray(axes.lines[0].get_ydata()), summary["mean"])
    band = axes.collections[0].get_paths()[0].get_extents()
    assert band.y0 == pytest.approx(summary["ci_low"].min())
    assert band.y1 == pytest.approx(summary["ci_high"].max())


def test_a_technique_looks_the_same_wherever_others_are_missing() -> None:
    run = run_of(ADULT, 5, repetitions=2)
    fewer = replace(run, results=run.results[run.results["technique"] != "none"])
    colors = [line.get_color() for line in panels(over_beta(fewer))[0].lines[:4]]
    assert colors == [line_style(position)["color"] for position in (1, 2, 3, 4)]


def test_one_beta_gives_a_row_per_technique() -> None:
    run = run_of(ADULT, 4, betas=(0.5,))
    axes = panels(over_beta(run))[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [t.title for t in TECHNIQUES[:4]]
    means = run.results.query("metric == 'discrimination'").groupby("technique")["value"].mean()
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in ("o", "s", "^", "D")]
    assert drawn == pytest.approx([means[t.name] for t in TECHNIQUES[:4]])


def test_styles_differ_in_grey_too() -> None:
    styles = [line_style(i) for i in range(25)]
    assert len({(style["marker"], str(style["linestyle"])) for style in styles}) == 25
    assert len({style["color"] for style in styles[:9]}) == 9


def test_dollar_signs_are_no_mathematics() -> None:
    run = run_of(replace(ADULT, title="Wages in $ and $"), 2, repetitions=2)
    assert "Wages in $ and $" in texts_of(over_beta(run))
    assert cut_off(tradeoff(run)) == []


@pytest.mark.parametrize(
    "text", ["", "word", "several words of text", "averyveryverylongwordwithoutanybreak x"]
)
def test_wrapping_loses_nothing(text: str) -> None:
    assert "".join("".join(wrap(text, 1.0, 9)).split()) == "".join(text.split())


def test_points_need_both_values() -> None:
    run = run_of(ADULT, 1, repetitions=2)
    results = run.results.drop(run.results.query("metric == 'accuracy' and repetition == 0").index)
    scenario = scenarios(results, run.failures, run.description)[0]
    points = tradeoff_points(results, scenario)
    assert list(points["repetition"].unique()) == [1]
    assert isinstance(points, pd.DataFrame)
