"""The AUC figure: what it shows, and that all of it can be read."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from benchmark.figures.lists import run_figures
from benchmark.figures.rows import AUC_METRICS, auc_rows, draw_auc
from benchmark.metrics import Predictions, measure
from benchmark.report.folder import write_summary_and_figures
from benchmark.runs.manifest import metric_description
from tests.helpers.figure_checks import cut_off, overlapping, texts_of
from tests.helpers.made_up_runs import COMPAS, TECHNIQUES, sample_run
from tests.helpers.marks import nightly_but

TITLE = "Made-up data by sex and race"
SEXES = ("Female", "Male", "Other", "Unspecified")
RACES = ("African-American", "Asian", "Caucasian", "Native American")


def measured(n_models: int, groups: tuple[str, ...], *, useless: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, len(groups), 3000)
    y_true = rng.random(3000) < 0.4
    return pd.DataFrame(
        {"model": f"Technique with a rather long name {number}", **asdict(measurement)}
        for number in range(n_models)
        for measurement in measure(
            Predictions(
                codes, groups, y_true, y_score=rng.normal(y_true * (0.0 if useless else 1 + 0.1 * codes))
            ),
            AUC_METRICS,
        )
    )


def without(frame: pd.DataFrame, group: str, reason: str) -> pd.DataFrame:
    """Return a frame in which the first model has no AUC of a group, and so no gap."""
    first = frame["model"] == frame["model"][0]
    gone = first & ((frame["group"] == group) | (frame["metric"] == "auc_gap"))
    return frame.assign(value=frame["value"].mask(gone), reason=frame["reason"].mask(gone, reason))


CROSSED = tuple(f"race={race}, sex={sex}" for race in RACES for sex in SEXES[:2])
VARIANTS = {
    "two models": lambda: measured(2, SEXES),
    "one model, two groups": lambda: measured(1, ("a", "b")),
    "five models, eight groups": lambda: measured(5, CROSSED),
    "twelve models": lambda: measured(12, SEXES[:2]),
    "twenty groups": lambda: measured(2, tuple(f"a group of many {number}" for number in range(20))),
    "no better than chance": lambda: measured(3, SEXES, useless=True),
    "missing values": lambda: without(measured(3, SEXES), "Other", "there is nobody"),
    "no value at all": lambda: measured(2, SEXES).assign(value=np.nan, reason="there is nobody"),
}


def markers(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each kind of marker."""
    lines = [line for line in axes.lines if line.get_marker() not in ("None", None)]
    return {
        str(line.get_marker()): [(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)]
        for line in lines
    }


def with_dashes(figure: Figure) -> list[bool]:
    return [any(line.is_dashed() for line in axes.lines) for axes in figure.axes]


@pytest.mark.parametrize("variant", nightly_but("missing values", VARIANTS))
def test_no_text_overlaps_or_is_cut(variant: str) -> None:
    figure = draw_auc(VARIANTS[variant](), TITLE)
    assert overlapping(figure) == []
    assert cut_off(figure) == []


def test_every_value_has_its_marker() -> None:
    frame = measured(3, SEXES)
    overall, by_group, gap = draw_auc(frame, TITLE).axes
    models = list(frame["model"].unique())
    shapes = list(markers(overall))
    assert len(set(shapes)) == len(models)  # to be told apart in grey
    for axes, metric in ((overall, "auc_overall"), (by_group, "auc"), (gap, "auc_gap")):
        shown = markers(axes)
        assert list(shown) == shapes
        for model, points in zip(models, shown.values(), strict=True):
            values = frame.loc[(frame["model"] == model) & (frame["metric"] == metric), "value"]
            assert [x for x, _ in points] == pytest.approx(values.to_list())
    assert [[round(y) for _, y in points] for points in markers(by_group).values()] == [[0, 1, 2, 3]] * 3
    assert [points[0][1] for points in markers(gap).values()] == [0, 1, 2]
    stems = [line for c in gap.collections if isinstance(c, LineCollection) for line in c.get_segments()]
    assert [stem[0][0] for stem in stems] == [0, 0, 0]


def test_markers_of_a_group_do_not_touch() -> None:
    """Even where all models have the same AUC."""
    frame = measured(9, SEXES)
    frame["value"] = 0.7
    figure = draw_auc(frame, TITLE)
    by_group = figure.axes[1]
    height = by_group.get_position().height * figure.get_figheight() / len(SEXES)
    rows = np.sort([y for points in markers(by_group).values() for _, y in points])
    marker = max(line.get_markersize() for line in by_group.lines) / 72
    assert np.diff(rows).min() * height > 0.8 * marker  # triangles and squares fill less than their box


def test_overall_and_groups_share_their_scale() -> None:
    overall, by_group, gap = draw_auc(measured(2, SEXES), TITLE).axes
    assert overall.get_xlim() == by_group.get_xlim() != gap.get_xlim()
    for axes in (overall, by_group, gap):
        low, high = axes.get_xlim()
        assert sum(low <= tick <= high for tick in axes.get_xticks()) >= 2


def test_chance_is_shown_where_values_come_near_it() -> None:
    near, far = draw_auc(measured(3, SEXES, useless=True), TITLE), draw_auc(measured(3, SEXES), TITLE)
    assert with_dashes(near) == [True, True, False]
    assert with_dashes(far) == [False, False, False]
    assert "Dashed: chance." in texts_of(near)
    assert "Dashed" not in texts_of(far)


def test_sizes_and_missing_values_are_said() -> None:
    frame = without(measured(2, SEXES), "Other", "there is nobody")
    figure = draw_auc(frame, TITLE)
    text = texts_of(figure)
    sizes = frame[(frame["metric"] == "auc") & (frame["group"] == "Male")]["n_rows"]
    assert f"Male (n = {sizes.iloc[0]:,})" in text
    assert "Without a value (failures.csv says why): Technique with a rather long name 0." in text
    assert TITLE in text


def test_a_run_that_measured_auc_draws_it(tmp_path: Path) -> None:
    names = ("auc_overall", "auc[African-American]", "auc[Caucasian]", "auc_gap")
    made = sample_run(
        **{"datasets": (COMPAS,), "techniques": TECHNIQUES[:3], "betas": (0.0, 0.8), "repetitions": 2},
        metrics=[metric_description(name) for name in names],
    )
    without_scores = made.results["technique"] == "massaging"
    results = made.results.assign(value=made.results["value"].mask(without_scores))
    run = replace(made, results=results).frames
    (scenario,) = run.scenarios
    rows = auc_rows(run.summary, scenario, 0.8, run.manifest)
    own = rows[rows["model"] == "No technique"].set_index(["metric", "group"])
    measured = results.query("level == 0.8 and technique == 'none'").groupby("metric")["value"].mean()
    for race in ("African-American", "Caucasian"):
        assert own.loc[("auc", race), "value"] == pytest.approx(measured[f"auc[{race}]"])
    assert own.loc[("auc_gap", ""), "value"] == pytest.approx(measured["auc_gap"])
    assert own["n_rows"].tolist() == [6150, 3696, 2454, 6150]
    assert rows.loc[rows["model"] == "Massaging", "value"].isna().all()
    written = write_summary_and_figures(tmp_path / "out", run, list(run_figures(run)))
    drawn = sorted(p.name for p in written if p.parent.name == "auc" and p.suffix == ".png")
    assert drawn == [f"{scenario.file_name}__beta_{beta}.png" for beta in ("0.8", "0")]
