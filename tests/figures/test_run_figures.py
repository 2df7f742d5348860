"""Figures of the numbers: what they show, and that all of it can be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from benchmark.figures import Choice
from benchmark.figures.over_beta import draw_over_beta
from benchmark.figures.style import BETA_COLORS, line_style, render, wrap
from benchmark.figures.tradeoff import draw_tradeoff, points_of
from benchmark.runs.manifest import DatasetDescription, GroupSizes
from benchmark.runs.report_frames import described_scenarios
from tests.helpers.figure_checks import (
    colorbars,
    cut_off,
    flaws,
    grey_levels,
    legends_of,
    overlapping,
    panels,
    texts_of,
)
from tests.helpers.made_up_runs import (
    ADULT,
    BETAS,
    COMPAS,
    DUTCH,
    METRICS,
    TECHNIQUES,
    Run,
    changed,
    hostile_techniques,
    many_techniques,
    sample_run,
)
from tests.helpers.marks import nightly_but


def tradeoff(run: Run, *, only: int | None = None) -> Figure:
    frames = run.frames
    names = None if only is None else [run.description.techniques[only].name]
    return draw_tradeoff(frames, frames.scenarios[0], choice=Choice(techniques=names))


def over_beta(run: Run) -> Figure:
    metrics = [own.name for own in run.description.metrics if not own.name.startswith("accepted")]
    frames = replace(run, description=changed(run.description, headline=metrics)).frames
    return draw_over_beta(frames, frames.scenarios[0])


@pytest.mark.parametrize(
    ("betas", "gone"),
    [((0.0, 0.03, 0.06, 0.1), [0.0]), ((0.0, 0.5, 1.0), [1.0]), ((0.0, 0.2, 0.4, 0.8), [0.0, 0.2])],
)
def test_values_stand_at_their_level_in_every_panel(betas: tuple[float, ...], gone: list[float]) -> None:
    run = run_of(ADULT, 3, betas=betas, repetitions=2)
    frames = run.frames
    summary = frames.summary.copy()
    lacking = (summary["metric"] == "overestimation") & summary["level"].isin(gone)
    summary.loc[lacking, ["mean", "std", "ci_low", "ci_high"]] = np.nan
    summary.loc[lacking, "n"] = 0
    figure = draw_over_beta(replace(frames, summary=summary), frames.scenarios[0])
    shown = panels(figure)
    assert len({axes.get_xlim() for axes in shown}) == 1
    low, high = shown[0].get_xlim()
    assert low < betas[0] < betas[-1] < high
    for axes in shown:
        assert list(axes.get_xticks()) == list(betas)
        drawn = [x for line in axes.lines for x in line.get_xdata() if len(line.get_xdata()) == len(betas)]
        assert {*drawn} == {*betas}


def run_of(dataset: DatasetDescription, n_techniques: int, **more: object) -> Run:
    return sample_run(datasets=(dataset,), techniques=many_techniques(n_techniques), **more)  # type: ignore[arg-type]


def hostile_run(n_techniques: int, **more: object) -> Run:
    """Return a run of which the second technique is the baseline."""
    dataset = replace(DUTCH, title="<b>$Dutch_1$</b>", entry=replace(DUTCH.entry, baseline="technique_1"))
    return sample_run(
        datasets=(dataset,),
        **hostile_techniques(n_techniques),
        betas=(0.0, 0.5, 1.0),
        repetitions=2,
        **more,  # type: ignore[arg-type]
    )


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
    "2 hostile techniques": lambda: hostile_run(2),
    "39 hostile techniques": lambda: hostile_run(39),
    "one metric pair": lambda: run_of(ADULT, 3, metrics=METRICS[:2], repetitions=2),
}


@pytest.mark.slow
@pytest.mark.parametrize("draw", [tradeoff, over_beta, lambda run: tradeoff(run, only=0)])
@pytest.mark.parametrize("variant", nightly_but("9 techniques with gaps", VARIANTS))
def test_no_text_overlaps_or_is_cut(variant: str, draw: object) -> None:
    assert flaws(draw(VARIANTS[variant]())) == []  # type: ignore[operator]


@pytest.mark.parametrize("paired", [False, True])
def test_figures_over_beta_say_whether_levels_are_paired(paired: bool) -> None:
    run = run_of(ADULT, 3, repetitions=2)
    figure = over_beta(replace(run, description=changed(run.description, paired_betas=paired)))
    told = " ".join(" ".join(text.get_text().split()) for text in figure.texts)
    assert ("curves over β are paired" in told) == paired
    assert ("Each β has its own samples" in told) == (not paired)


def test_the_overlap_check_can_fail() -> None:
    figure = tradeoff(VARIANTS["3 techniques"]())
    figure.text(0.02, 0.97, "across the title", va="top")
    figure.text(0.98, 0.5, "beyond the edge")
    assert overlapping(figure)
    assert cut_off(figure) == ["beyond the edge"]
    assert "'beyond the edge' is cut off" in flaws(figure)
    assert any("overlaps 'across the title'" in flaw for flaw in flaws(figure))


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
        index=["level", "repetition"], columns="metric", values="value"
    )[["discrimination", "accuracy"]]
    np.testing.assert_allclose(np.asarray(dots.get_offsets()), wide.to_numpy())
    np.testing.assert_allclose(np.asarray(means.get_offsets()), wide.groupby("level").mean().to_numpy())
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


def shares_of(run: Run, technique: str, beta: float, share: float) -> Run:
    """Return a run in which a technique accepts such a share of everybody at one level of bias."""
    results = run.results
    own = results["metric"].str.startswith("accepted")
    own &= (results["technique"] == technique) & (results["level"] == beta)
    return replace(run, results=results.assign(value=results["value"].mask(own, share)))


@pytest.mark.parametrize("draw", [tradeoff, over_beta])
def test_the_best_constant_answer_is_a_line_and_what_is_degenerate_is_hollow(
    draw: Callable[[Run], Figure],
) -> None:
    run = shares_of(run_of(ADULT, 3, repetitions=5, shares=True), "massaging", 1.0, 0.005)
    figure = draw(run)
    assert flaws(figure) == []
    lines = [line for axes in panels(figure) for line in axes.lines if line.get_gid() == "constant"]
    assert len(lines) == (3 if draw is tradeoff else 1)
    assert {line.get_ydata()[0] for line in lines} == {ADULT.best_constant.accuracy}
    hollow = [
        artist
        for axes in panels(figure)
        for artist in (*axes.lines, *axes.collections)
        if artist.get_gid() == "degenerate"
    ]
    assert len(hollow) == (1 if draw is tradeoff else 4)
    said = texts_of(figure)
    assert "‡ (hollow)" in said
    assert "best constant answer" in said
    plain = texts_of(draw(run_of(COMPAS, 3, repetitions=5)))
    assert "hollow" not in plain


def test_one_beta_has_hollow_marks_and_a_line_as_well() -> None:
    run = shares_of(run_of(ADULT, 3, repetitions=5, betas=(1.0,), shares=True), "massaging", 1.0, 0.995)
    figure = over_beta(run)
    assert flaws(figure) == []
    gids = [[line.get_gid() for line in axes.lines] for axes in panels(figure)]
    assert [own.count("degenerate") for own in gids] == [1] * 4
    assert [own.count("constant") for own in gids] == [0, 1, 0, 0]
    said = texts_of(figure)
    assert "Red, dash-dotted: accuracy of the best constant answer (0.761)." in said
    assert "‡ (hollow)" in said


def test_a_constant_answer_far_from_all_points_is_told_and_not_drawn() -> None:
    dataset = replace(ADULT, test_groups=GroupSizes(0, 100, 1, 99))
    for draw in (tradeoff, over_beta):
        figure = draw(sample_run(datasets=(dataset,), techniques=many_techniques(3), betas=(0.0, 0.25)))
        assert not [own for axes in panels(figure) for own in axes.lines if own.get_gid() == "constant"]
        assert "Beyond the axis: accuracy of the best constant answer (0.995)." in texts_of(figure)


def test_gaps_are_said() -> None:
    run = run_of(DUTCH, 6)
    for figure in (tradeoff(run), tradeoff(run, only=4), over_beta(run)):
        assert "Without a value (failures.csv says why): Uniform sampling at β = 1" in texts_of(figure)


def test_a_technique_without_any_value_has_its_panel() -> None:
    run = run_of(DUTCH, 6, betas=(1.0,), repetitions=3)
    assert [text.get_text() for text in panels(tradeoff(run))[4].texts] == ["no value, see below"]


def test_nan_values_leave_no_point() -> None:
    run = run_of(ADULT, 1, repetitions=4)
    values = run.results["value"].where(run.results["repetition"] != 2)
    dots = panels(tradeoff(replace(run, results=run.results.assign(value=values))))[0].collections[0]
    assert len(np.asarray(dots.get_offsets())) == 3 * len(BETAS)


def test_a_run_without_any_value_is_drawn() -> None:
    run = run_of(ADULT, 2, repetitions=2)
    failures = run.results.drop(columns="value").assign(
        metric="", status="timeout", at_fold=float("nan"), reason="over 60 s"
    )
    empty = Run(run.results.head(0), failures.drop_duplicates(), run.description)
    for figure in (tradeoff(empty), over_beta(empty)):
        assert "Without a value" in texts_of(figure)


def test_over_beta_has_a_panel_per_metric_and_a_line_per_technique() -> None:
    run = run_of(ADULT, 9)
    figure = over_beta(run)
    assert [axes.get_title("left") for axes in panels(figure)] == [metric.title for metric in METRICS]
    for axes in panels(figure):
        assert len([line for line in axes.lines if len(line.get_xdata()) == len(BETAS)]) == 9
        assert len(axes.collections) == 9
    labels = [text.get_text() for text in legends_of(figure)[0].get_texts()]
    assert labels == [technique.title for technique in TECHNIQUES]


def test_lines_and_bands_are_means_and_intervals() -> None:
    run = run_of(ADULT, 2)
    summary = run.frames.summary.query("technique == 'none' and metric == 'accuracy'")
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


def test_many_techniques_stand_in_the_rows_of_their_stages() -> None:
    run = hostile_run(39)
    figure = over_beta(run)
    headings = [legend.get_title().get_text() for legend in legends_of(figure)]
    assert headings == [
        f"{stage}-processing ({part} of 2)" for stage in ("Pre", "In", "Post") for part in (1, 2)
    ]
    assert len(panels(figure)) == 6 * len(METRICS)
    named = [legend.get_texts()[0].get_text() for legend in legends_of(figure)]
    assert len(set(named)) == 1, "the baseline heads each"
    drawn = []
    for axes in panels(figure)[:: len(METRICS)]:
        coloured = [line for line in axes.lines if line.get_marker() != "None"]
        assert [line.get_color() for line in coloured].count("#000000") == 1
        (others,) = [line for line in axes.lines if line.get_gid() == "others"]
        behind = np.isnan(np.asarray(others.get_xdata())).sum()
        assert len(coloured) + behind == 39
        drawn.append(len(coloured) - 1)
    assert sum(drawn) == 38
    assert max(drawn) <= 8


def test_a_metric_has_the_same_limits_in_all_rows() -> None:
    limits = [axes.get_ylim() for axes in panels(over_beta(hostile_run(39)))]
    assert len(set(limits[:: len(METRICS)])) == 1
    assert limits[0] != limits[1]


def test_a_technique_looks_the_same_on_all_datasets_of_a_large_run() -> None:
    run = hostile_run(20)
    fewer = replace(run, results=run.results[run.results["technique"] != "technique_0"])
    looks = []
    for own in (run, fewer):
        line = [line for line in panels(over_beta(own))[0].lines if line.get_marker() != "None"][-1]
        looks.append((line.get_color(), line.get_marker()))
    assert looks[0] == looks[1]


def test_more_metrics_than_a_row_holds_are_wrapped() -> None:
    more = tuple(replace(METRICS[i % 4], name=f"m{i}", title=f"Metric {i}") for i in range(6))
    run = hostile_run(12)
    copies = [
        run.results[run.results["metric"] == METRICS[i % 4].name].assign(metric=f"m{i}") for i in range(6)
    ]
    wide = Run(pd.concat(copies), run.failures.head(0), changed(run.description, metrics=more))
    figure = over_beta(wide)
    n_groups = len(legends_of(figure))
    assert len(panels(figure)) == n_groups * 6
    assert flaws(figure) == []


def test_the_baseline_stands_behind_every_other_technique() -> None:
    run = run_of(ADULT, 4)
    behind = [[line for line in axes.lines if line.get_gid() == "baseline"] for axes in panels(tradeoff(run))]
    assert [len(lines) for lines in behind] == [1, 0, 1, 1], "the second is the baseline"
    means = run.results.query("technique == 'drop_sensitive' and metric == 'accuracy'")
    np.testing.assert_allclose(behind[0][0].get_ydata(), means.groupby("level")["value"].mean())
    assert "Gray line: the baseline (Sensitive feature dropped)" in texts_of(tradeoff(run))


@pytest.mark.nightly
def test_clouds_of_many_dots_are_pixels_and_all_else_is_not() -> None:
    small, large = (tradeoff(run_of(ADULT, 9, repetitions=n)) for n in (2, 30))
    images = [render(figure, "svg").count(b"<image") for figure in (small, large)]
    assert images == [1, 10], "that of the colourbar, and one for each panel"
    assert max(len(render(large, file_format)) for file_format in ("svg", "pdf", "png")) < 300_000


def test_png_files_are_white_paper_with_few_colours() -> None:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(render(tradeoff(run_of(ADULT, 3)), "png"))) as image:
        assert image.mode == "P"
        exact = np.asarray(image.convert("RGB"))
        assert min(exact[0, 0]) >= 254
        assert image.size == tuple(int(160 * side) for side in tradeoff(run_of(ADULT, 3)).get_size_inches())


def test_svg_files_need_no_font_and_run_no_script() -> None:
    svg = render(tradeoff(hostile_run(2)), "svg")
    assert b"<text" not in svg
    assert b"font-family" not in svg
    assert b"<script" not in svg


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


def test_a_number_and_its_percent_sign_stay_on_one_line() -> None:
    for width in np.linspace(0.5, 4, 30):
        assert not any(
            line.startswith("%") for line in wrap("Thick: 95 % intervals of 10 % of all", width, 9)
        )


def test_points_need_both_values() -> None:
    run = run_of(ADULT, 1, repetitions=2)
    results = run.results.drop(run.results.query("metric == 'accuracy' and repetition == 0").index)
    scenario = described_scenarios(results, run.description)[0]
    points = points_of(scenario.rows(results))
    assert list(points["repetition"].unique()) == [1]
    assert isinstance(points, pd.DataFrame)
