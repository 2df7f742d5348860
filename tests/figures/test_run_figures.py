"""Figures of a run's numbers: metrics over levels, the trade-off, and AUC."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from benchmark.figures import Choice
from benchmark.figures.lists import run_figures
from benchmark.figures.over_beta import draw_over_beta
from benchmark.figures.rows import auc_rows, draw_auc
from benchmark.figures.style import line_style
from benchmark.figures.tradeoff import draw_tradeoff
from benchmark.runs.manifest import DatasetDescription, GroupSizes, metric_description
from tests.helpers.figure_checks import colorbars, flaws, legends_of, panels, texts_of
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


def tradeoff(run: Run) -> Figure:
    return draw_tradeoff(run.frames, run.frames.scenarios[0])


def over_beta(run: Run) -> Figure:
    metrics = [own.name for own in run.description.metrics if not own.name.startswith("accepted")]
    frames = replace(run, description=changed(run.description, headline=metrics)).frames
    return draw_over_beta(frames, frames.scenarios[0])


@cache
def run_of(dataset: DatasetDescription, n_techniques: int, **more: object) -> Run:
    techniques = many_techniques(n_techniques)
    return sample_run(**{"datasets": (dataset,), "techniques": techniques, "repetitions": 3, **more})  # type: ignore[arg-type]


@cache
def hostile_run(n_techniques: int) -> Run:
    """Return a run of which the second technique is the baseline."""
    dataset = replace(DUTCH, title="<b>$Dutch_1$</b>", entry=replace(DUTCH.entry, baseline="technique_1"))
    made = {"datasets": (dataset,), "betas": (0.0, 0.5, 1.0), "repetitions": 2}
    return sample_run(**made, **hostile_techniques(n_techniques))  # type: ignore[arg-type]


# -------------------------------------------------------------------------------- over the levels of bias


def test_values_stand_at_their_level_in_every_panel() -> None:
    betas, gone = (0.0, 0.03, 0.06, 0.1), [0.0, 0.03]
    frames = run_of(ADULT, 3, betas=betas).frames
    summary = frames.summary.copy()
    lacking = (summary["metric"] == "overestimation") & summary["level"].isin(gone)
    summary.loc[lacking, ["mean", "std", "ci_low", "ci_high"]] = np.nan
    summary.loc[lacking, "n"] = 0
    shown = panels(draw_over_beta(replace(frames, summary=summary), frames.scenarios[0]))
    assert len({axes.get_xlim() for axes in shown}) == 1
    low, high = shown[0].get_xlim()
    assert low < betas[0] < betas[-1] < high
    for axes in shown:
        assert list(axes.get_xticks()) == list(betas)
        drawn = [x for line in axes.lines for x in line.get_xdata() if len(line.get_xdata()) == len(betas)]
        assert {*drawn} == {*betas}


def test_lines_and_bands_are_means_and_intervals_of_each_technique() -> None:
    run = run_of(ADULT, 9)
    page = over_beta(run)
    assert [axes.get_title("left") for axes in panels(page)] == [metric.title for metric in METRICS]
    summaries = run.frames.summary.groupby("metric", sort=False)
    for axes, (_, summary) in zip(panels(page), summaries, strict=True):
        for i, technique in enumerate(TECHNIQUES):
            own = summary[summary["technique"] == technique.name]
            np.testing.assert_array_equal(axes.lines[i].get_ydata(), own["mean"])
            band = axes.collections[i].get_paths()[0].get_extents()
            low, high = np.clip([own["ci_low"].min(), own["ci_high"].max()], -1, 1)
            assert (band.y0, band.y1) == pytest.approx((low, high))
    labels = [text.get_text() for text in legends_of(page)[0].get_texts()]
    assert labels == [technique.title for technique in TECHNIQUES]
    bands = panels(over_beta(run_of(ADULT, 1, repetitions=2)))[0].collections
    assert not [path for band in bands for path in band.get_paths() if len(path.vertices)]


def test_it_is_said_whether_levels_are_paired_and_what_the_data_are() -> None:
    run = run_of(DUTCH, 6)
    frames = replace(run, description=changed(run.description, paired_betas=True)).frames
    paired = texts_of(draw_over_beta(frames, frames.scenarios[0], Choice(["accuracy"])))
    said = texts_of(over_beta(run))
    for told, words in ((paired, "curves over β are paired"), (said, "Each β has its own samples")):
        assert [words in text for text in (paired, said)] == [text is told for text in (paired, said)]
    assert "Dutch (embedded)" in said
    assert "EMBEDDED NETWORK, NOT REAL DATA: tested on a sample of the learned network; 3 repetitions" in said
    assert "Without a value (failures.csv says why): Uniform sampling at β = 1" in said
    real = texts_of(tradeoff(run_of(COMPAS, 2, repetitions=1)))
    assert "Tested on real data; 1 repetition;" in real
    assert "EMBEDDED" not in real
    assert "Warning: the column event follows from the outcome" in real


def test_a_technique_looks_the_same_wherever_others_are_missing() -> None:
    run = run_of(ADULT, 5)
    fewer = replace(run, results=run.results[run.results["technique"] != "none"])
    colors = [line.get_color() for line in panels(over_beta(fewer))[0].lines[:4]]
    assert colors == [line_style(position)["color"] for position in (1, 2, 3, 4)]
    large, looks = hostile_run(12), []
    for own in (large, replace(large, results=large.results[large.results["technique"] != "technique_0"])):
        page = draw_over_beta(own.frames, own.frames.scenarios[0], Choice(["accuracy"]))
        line = [line for line in panels(page)[0].lines if line.get_marker() != "None"][-1]
        looks.append((line.get_color(), line.get_marker()))
    assert looks[0] == looks[1]
    styles = [line_style(i) for i in range(25)]
    assert len({(style["marker"], str(style["linestyle"])) for style in styles}) == 25


def test_many_techniques_stand_in_the_rows_of_their_stages() -> None:
    metrics, own = ["discrimination", "accuracy"], hostile_run(27).frames
    page = draw_over_beta(own, own.scenarios[0], Choice(metrics))
    headings = [legend.get_title().get_text() for legend in legends_of(page)]
    assert headings == [
        f"{stage}-processing ({part} of 2)" for stage in ("Pre", "In", "Post") for part in (1, 2)
    ]
    assert len(panels(page)) == 6 * len(metrics)
    assert len({legend.get_texts()[0].get_text() for legend in legends_of(page)}) == 1, "the baseline"
    limits = [axes.get_ylim() for axes in panels(page)]
    assert len(set(limits[:: len(metrics)])) == 1
    assert limits[0] != limits[1]
    drawn = []
    for axes in panels(page)[:: len(metrics)]:
        colored = [line for line in axes.lines if line.get_marker() != "None"]
        assert [line.get_color() for line in colored].count("#000000") == 1
        (others,) = [line for line in axes.lines if line.get_gid() == "others"]
        assert len(colored) + np.isnan(np.asarray(others.get_xdata())).sum() == 27
        drawn.append(len(colored) - 1)
    assert sum(drawn) == 26
    assert max(drawn) <= 8


def test_panels_name_their_techniques_where_no_legend_stands_beside_them() -> None:
    own = hostile_run(12).frames
    for width, names in ((6.9, True), (None, False)):
        page = draw_over_beta(own, own.scenarios[0], Choice(["accuracy"], width=width))
        titles = [" ".join(axes.get_title("left").split()) for axes in panels(page)]
        assert titles[-1].endswith("post-processing") is names


def shares_of(run: Run, technique: str, beta: float, share: float) -> Run:
    """Return a run in which a technique accepts such a share of everybody at one level of bias."""
    results = run.results
    own = results["metric"].str.startswith("accepted")
    own &= (results["technique"] == technique) & (results["level"] == beta)
    return replace(run, results=results.assign(value=results["value"].mask(own, share)))


@pytest.mark.parametrize(
    ("draw", "betas", "n_lines", "n_hollow"),
    [(tradeoff, (0.0, 1.0), 3, 1), (over_beta, (0.0, 1.0), 1, 4)],
)
def test_the_best_constant_answer_is_a_line_and_what_is_degenerate_is_hollow(
    draw: object, betas: tuple[float, ...], n_lines: int, n_hollow: int
) -> None:
    run = shares_of(run_of(ADULT, 3, betas=betas, shares=True), "massaging", 1.0, 0.005)
    page = draw(run)  # type: ignore[operator]
    assert flaws(page) == []
    drawn = [artist for axes in panels(page) for artist in (*axes.lines, *axes.collections)]
    lines = [line for line in drawn if line.get_gid() == "constant"]
    assert len(lines) == n_lines
    constant = ADULT.best_constant.accuracy  # type: ignore[union-attr]
    assert {line.get_ydata()[0] for line in lines} == {constant}
    assert len([artist for artist in drawn if artist.get_gid() == "degenerate"]) == n_hollow
    said = texts_of(page)
    assert "‡ (hollow)" in said
    assert f"accuracy of the best constant answer ({constant:.3f})" in said
    assert "hollow" not in texts_of(draw(run_of(COMPAS, 3)))  # type: ignore[operator]


def test_a_constant_answer_far_from_all_points_is_told_and_not_drawn() -> None:
    dataset = replace(ADULT, test_groups=GroupSizes(0, 100, 1, 99))
    for draw in (tradeoff, over_beta):
        page = draw(run_of(dataset, 3, betas=(0.0, 0.25)))
        assert not [own for axes in panels(page) for own in axes.lines if own.get_gid() == "constant"]
        assert "Beyond the axis: accuracy of the best constant answer (0.995)." in texts_of(page)


def test_a_run_without_any_value_is_drawn() -> None:
    run = run_of(ADULT, 2)
    failures = run.results.drop(columns="value").assign(
        metric="", status="timeout", at_fold=float("nan"), reason="over 60 s"
    )
    empty = Run(run.results.head(0), failures.drop_duplicates(), run.description)
    for page in (tradeoff(empty), over_beta(empty)):
        assert "Without a value" in texts_of(page)


# ----------------------------------------------------------------------------------------- the trade-off


def test_the_tradeoff_has_a_dot_for_each_repetition_with_both_values_and_means_on_common_axes() -> None:
    run = run_of(ADULT, 4)
    missing = run.results.query("metric == 'accuracy' and repetition == 0 and technique == 'massaging'").index
    run = replace(run, results=run.results.drop(missing))
    page = tradeoff(run)
    shown = panels(page)
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in shown}) == 1
    wide = run.results.pivot(
        index=["technique", "level", "repetition"], columns="metric", values="value"
    )[["discrimination", "accuracy"]]  # fmt: skip
    for axes, technique in zip(shown, TECHNIQUES, strict=False):
        own = wide.loc[technique.name].dropna()
        dots, means = [c for c in axes.collections if isinstance(c, PathCollection)]
        np.testing.assert_allclose(np.asarray(dots.get_offsets()), own.to_numpy())
        np.testing.assert_allclose(np.asarray(means.get_offsets()), own.groupby("level").mean().to_numpy())
        np.testing.assert_array_equal(np.asarray(means.get_array()), BETAS)
        assert axes.get_xlim()[0] < min(0, own["discrimination"].min())
        assert axes.get_ylim()[1] > own["accuracy"].max()
    behind = [[line for line in axes.lines if line.get_gid() == "baseline"] for axes in shown]
    assert [len(lines) for lines in behind] == [1, 0, 1, 1], "the second is the baseline"
    means = wide.loc["drop_sensitive", "accuracy"].groupby("level").mean()
    np.testing.assert_allclose(behind[0][0].get_ydata(), means)
    (bar,) = colorbars(page)
    assert (bar.get_ylabel(), bar.get_ylim(), list(bar.get_yticks())) == ("planted bias β", (0, 1), [*BETAS])
    only = Choice(techniques=["massaging"])
    (alone,) = panels(draw_tradeoff(run.frames, run.frames.scenarios[0], choice=only))
    assert (alone.get_xlim(), alone.get_ylim()) == (shown[0].get_xlim(), shown[0].get_ylim())


def test_a_technique_without_any_value_has_its_panel() -> None:
    run = run_of(DUTCH, 6, betas=(1.0,))
    assert [text.get_text() for text in panels(tradeoff(run))[4].texts] == ["no value, see below"]


# -------------------------------------------------------------------------------------------------- AUC


def test_a_run_that_measured_auc_draws_every_value() -> None:
    names = ("auc_overall", "auc[African-American]", "auc[Caucasian]", "auc_gap")
    made = run_of(COMPAS, 3, betas=(0.0, 0.8), metrics=tuple(map(metric_description, names)))
    without = made.results["technique"] == "massaging"
    frames = replace(made, results=made.results.assign(value=made.results["value"].mask(without))).frames
    (scenario,) = frames.scenarios
    drawn = [name for name, _ in run_figures(frames) if name.startswith("auc/")]
    assert drawn == [f"auc/{scenario.file_name}__beta_{beta}" for beta in ("0", "0.8")]
    rows = auc_rows(frames.summary, scenario, 0.8, frames.manifest)
    means = made.results.query("level == 0.8").groupby(["technique", "metric"])["value"].mean()
    assert rows["n_rows"].tolist()[:4] == [6150, 3696, 2454, 6150]
    page = draw_auc(rows, "title")
    for axes, groups in zip(page.axes, (("",), ("African-American", "Caucasian"), ("",)), strict=True):
        found = {line.get_marker(): line.get_xdata() for line in axes.lines if line.get_marker() != "None"}
        assert len(found) == 3, "a marker for each model"
        metric = {0: "auc_overall", 1: "auc", 2: "auc_gap"}[page.axes.index(axes)]
        expected = [means["none", f"{metric}[{group}]" if group else metric] for group in groups]
        assert list(next(iter(found.values()))) == pytest.approx(expected)
    overall, by_group, _ = page.axes
    assert overall.get_xlim() == by_group.get_xlim()
    said = texts_of(page)
    assert "Caucasian (n = 2,454)" in said
    assert "Without a value (failures.csv says why): Massaging." in said


@pytest.mark.parametrize(("auc", "near"), [(0.49, True), (0.9, False)])
def test_chance_is_shown_where_values_come_near_it(auc: float, near: bool) -> None:
    values = {"auc_overall": auc, "auc": auc + 0.02, "auc_gap": 0.0}
    rows = pd.DataFrame({"metric": [*values], "value": [*values.values()]})
    page = draw_auc(rows.assign(model="a", group="", n_rows=9), "title")
    assert [any(line.is_dashed() for line in axes.lines) for axes in page.axes] == [near, near, False]
    assert ("Dashed: chance." in texts_of(page)) == near
