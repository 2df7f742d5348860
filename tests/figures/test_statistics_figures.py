"""Figures of a run's statistics: what they show, and that it can be read with any number of techniques."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from benchmark.bias.doses import Dose
from benchmark.figures import Choice, marks
from benchmark.figures.heat import draw_heat, short_number
from benchmark.figures.lists import statistics_figures
from benchmark.figures.rows import draw_forest, draw_ranks
from benchmark.figures.tradeoff import draw_pareto, place_labels
from benchmark.runs.analysis import RunStatistics, folder_statistics, run_statistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import PlantedBias
from tests.helpers.figure_checks import flaws, grey_levels, numbers_in, panels, texts_of
from tests.helpers.made_up_runs import ADULT, COMPAS, TECHNIQUES, changed, sample_run
from tests.helpers.made_up_statistics import METRICS, WARNING, statistics
from tests.helpers.marks import nightly_but
from tests.helpers.planted_folder import CONSTANT, PLANTED, USELESS, write_planted_folder

SIZES = (1, 2, 9, 25, 39)


def figures_of(n_techniques: int) -> dict[str, Figure]:
    own = statistics(n_techniques)
    scenario = own.scenarios[0]
    drawn = {
        "heat": draw_heat(own, "discrimination", "original"),
        "pareto": draw_pareto(own, scenario),
        "ranks": draw_ranks(own, own.ranks),
    }
    if n_techniques == 1:
        return drawn
    return {**drawn, "forest": draw_forest(own, scenario, "accuracy")}


@pytest.mark.slow
@pytest.mark.parametrize("n_techniques", nightly_but(9, SIZES))
def test_no_text_overlaps_or_is_cut(n_techniques: int) -> None:
    for name, figure in figures_of(n_techniques).items():
        assert flaws(figure) == [], name


def test_every_technique_is_named_once_in_each_list() -> None:
    own = statistics(25)
    titles = ["".join(title.split()) for title in own.run.titles.values()]
    for name, figure in figures_of(25).items():
        text = "".join(texts_of(figure).split())
        missing = [title for title in titles if title not in text]
        # The baseline is in its own forest plot only by name in the subtitle.
        assert missing == [], name


def test_all_figures_are_drawn_by_their_names() -> None:
    assert [name for name, _ in statistics_figures(statistics(2))] == [
        *("heat_discrimination", "heat_accuracy"),
        *(f"forest_{dataset}__{metric}" for dataset in ("one", "two") for metric in METRICS),
        *("pareto_one", "pareto_two", "ranks_one__two"),
    ]


# ---------------------------------------------------------------------------------------- what is shown


def test_heat_cells_hold_the_means_and_the_signs() -> None:
    own = statistics(9, repetitions=12)
    (axes, _) = draw_heat(own, "discrimination", "original").axes
    compared = own.comparisons[own.comparisons["metric"] == "discrimination"]
    row = compared[(compared["technique"] == "technique_3") & (compared["dataset"] == "one")].iloc[1]
    mean = own.intervals.query(
        "metric == 'discrimination' and dataset == 'one' and technique == 'technique_3' and level == 0.5"
    )["mean"].iloc[0]
    assert row["p_paired_holm"] <= 0.05, "the made-up effect is large"
    assert row["improvement"] > 0
    texts = numbers_in(axes)
    assert texts[1, 3] == short_number(mean) + "+"
    assert texts[0, 0].lstrip(".").isdigit(), "the baseline has no sign"
    assert texts[2, 8] == "–"


def test_the_baseline_is_framed_once_per_dataset() -> None:
    (axes, _) = draw_heat(statistics(9), "accuracy", "original").axes
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [frame.get_xy() for frame in frames] == [(-0.5, -0.5), (2.5, -0.5)]
    assert {frame.get_width() for frame in frames} == {3}


def test_better_and_worse_have_signs_where_grey_does_not_tell_them_apart() -> None:
    own = statistics(9)
    mesh = draw_heat(own, "discrimination", "original").axes[0].collections[0]
    grey = grey_levels(np.asarray(mesh.get_array()).reshape(-1, 4))
    assert len(np.unique(grey.round(3))) > 1
    assert "+ shown to be better" in texts_of(draw_heat(own, "discrimination", "original"))


@pytest.mark.parametrize("width", [None, 3.3])
def test_a_heat_map_tells_no_value_from_not_tried(width: float | None) -> None:
    own, words = statistics(9), ("– no value", "Empty: not tried")
    tried = own.intervals[(own.intervals["technique"] != "technique_3") | (own.intervals["dataset"] == "one")]
    for intervals, told in ((own.intervals, words[:1]), (tried, words)):
        page = draw_heat(replace(own, intervals=intervals), "accuracy", "original", Choice(width=width))
        assert [text for text in words if text in page.caption] == [*told]
        assert "–" in numbers_in(page.axes[0]).values()


def test_notes_name_the_bias_of_the_figure_and_say_once_what_datasets_share() -> None:
    biases = tuple(PlantedBias(name, description=f"does {name}") for name in ("cpt", "noise"))
    own = statistics(2)
    one, two = (replace(s, dataset=replace(s.dataset, bias=biases, warning="")) for s in own.scenarios)
    assert marks.notes(one, two) == ["Bias 'cpt': does cpt"]
    assert marks.notes(one, replace(two, bias="noise")) == [
        f"{one.heading}: Bias 'cpt': does cpt",
        f"{two.heading}: Bias 'noise': does noise",
    ]
    assert marks.notes(one.dataset) == ["Bias 'cpt': does cpt", "Bias 'noise': does noise"]


@pytest.mark.parametrize(
    ("value", "signed", "text"),
    [
        (0.1234, False, ".123"),
        (-0.1234, False, "\N{MINUS SIGN}.123"),
        (0.05, True, "+.050"),
        (-0.0001, True, ".000"),
        (1.0, False, "1.000"),
        (12.345, False, "12.3"),
        (10.5, True, "+10.5"),
    ],
)
def test_short_numbers(value: float, signed: bool, text: str) -> None:
    assert short_number(value, signed=signed) == text


def effects(axes: Axes) -> dict[int, tuple[float, Line2D]]:
    """Return the mark of each row: its place, and the line with its look."""
    lines = [line for line in axes.lines if line.get_gid() == "effect"]
    return {int(row): (value, line) for line in lines for value, row in zip(*line.get_data(), strict=True)}


def test_forest_rows_are_the_paired_improvements() -> None:
    own = statistics(9, repetitions=12)
    scenario = own.scenarios[1]
    figure = draw_forest(own, scenario, "accuracy")
    rows = scenario.rows(own.compared)
    rows = rows[(rows["metric"] == "accuracy") & (rows["level"] == 0.5)]
    drawn = effects(panels(figure)[1])
    assert [drawn[row][0] for row in range(len(rows))] == list(rows["improvement"])
    for which, name in ((-1, "improvement"), (-2, "simultaneous")):
        bars = [path.vertices.tolist() for path in panels(figure)[1].collections[which].get_paths()]
        ends = zip(rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
        assert bars == [[[low, row], [high, row]] for row, (low, high) in enumerate(ends)], name
    filled = [drawn[row][1].get_markerfacecolor() != "white" for row in range(len(rows))]
    assert filled == list(rows["better"] | rows["worse"])
    assert len(set(filled)) == 2, "some are better or worse and some are not"
    assert "Warning: beware" in texts_of(figure)


def test_pareto_fronts_are_the_points_that_the_frame_names() -> None:
    own = statistics(9)
    scenario = own.scenarios[0]
    axes = panels(draw_pareto(own, scenario))[0]
    rows = scenario.rows(own.pareto).query("level == 0 and on_front").sort_values("first_distance")
    (front,) = [line for line in axes.lines if line.get_gid() == "front"]
    np.testing.assert_array_equal(front.get_xdata(), rows["first_distance"])
    np.testing.assert_allclose(front.get_ydata(), 1 - rows["second_distance"])
    keys = {text.get_text() for text in axes.texts if text.get_weight() == "bold"}
    assert keys == {str(int(name.removeprefix("technique_")) + 1) for name in rows["technique"]}


def test_a_technique_without_values_is_said_to_have_none() -> None:
    own = statistics(9)
    gone = own.pareto["technique"] == "technique_4"
    without = own.pareto.assign(
        first_distance=own.pareto["first_distance"].mask(gone), on_front=own.pareto["on_front"] & ~gone
    )
    changed = replace(own, pareto=without)
    assert f"{own.run.titles['technique_4']} (no value)" in texts_of(draw_pareto(changed, own.scenarios[0]))


def test_a_rank_diagram_of_few_blocks_says_that_no_test_can_find_anything() -> None:
    # Of 28 tests, the smallest p-value must be 0.05 / 28 at most: 2 / 2^11 is. One technique has no rank.
    told = "28 pairs of techniques take at least 11 blocks; there are 6."
    assert told in draw_ranks(statistics(9), statistics(9).ranks).caption
    ranks = statistics(9).ranks.assign(n_blocks=11)
    assert "pairs of techniques" not in draw_ranks(statistics(9), ranks).caption
    alone = draw_ranks(statistics(9), ranks.assign(n_datasets=1)).caption
    assert "1 dataset is too few for a claim beyond it; it takes" in alone


def in_doses(doses: tuple[float, ...], *, out_of_reach: float) -> RunFrames:
    """Return a run of two datasets with doses, of which some may be out of reach."""
    reached = [0.0, *(dose for dose in doses if dose < out_of_reach)]
    planted = tuple(Dose(dose, dose if dose in reached else None, dose) for dose in (0.0, *doses))
    datasets = [replace(own, bias=(PlantedBias("paper", doses=planted),)) for own in (ADULT, COMPAS)]
    run = sample_run(datasets=datasets, betas=reached, repetitions=3, techniques=TECHNIQUES[:4])
    manifest = changed(run.description, betas=(), doses=doses)
    return RunFrames.of(manifest, run.results, run.failures)


@pytest.mark.parametrize(
    ("doses", "pooled", "words"),
    [
        ((0.03, 0.06, 0.1), (0.03, 0.06, 0.1), "datasets and doses 0.03, 0.06 and 0.1"),
        ((0.02, 0.05, 0.1), (0.05, 0.1), "datasets and doses 0.05 and 0.1"),
        ((0.1,), (0.1,), "datasets at dose 0.1"),
        ((0.05, 0.3), (0.05,), "datasets at dose 0.05"),  # .3 is out of reach
    ],
)
def test_ranks_pool_doses_of_the_run_and_say_which(
    doses: tuple[float, ...], pooled: tuple[float, ...], words: str
) -> None:
    run = in_doses(doses, out_of_reach=0.3)
    assert run.manifest.pooled_levels == pooled
    own = run_statistics(run)
    ranks = own.ranks[own.ranks["over"] == "dataset level"]
    assert set(ranks["n_blocks"]) == {2 * len(pooled)}
    means = own.ranks[own.ranks["level"].isin(pooled) & (own.ranks["over"] == "dataset")]
    expected = means.groupby(["metric", "technique"])["mean_rank"].mean()
    found = ranks.set_index(["metric", "technique"])["mean_rank"]
    np.testing.assert_allclose(found, expected[found.index])
    (name,) = (name for name, _ in statistics_figures(own) if name.startswith("ranks"))
    assert f"Large: over {words};" in texts_of(dict(statistics_figures(own))[name]())


def test_a_figure_of_ranks_without_any_rank_over_the_datasets_is_not_drawn() -> None:
    own = run_statistics(in_doses((0.3, 0.4), out_of_reach=0.3))
    assert not [name for name, _ in statistics_figures(own) if name.startswith("ranks")]
    own = statistics(3)
    rest = own.ranks[~((own.ranks["metric"] == "accuracy") & (own.ranks["over"] == "dataset level"))]
    text = texts_of(draw_ranks(own, rest.assign(reason="")))
    assert "no technique has a rank over all" in text


def test_bars_join_the_groups_and_never_meet() -> None:
    own = statistics(25)
    place = own.ranks.groupby(["over", "level", "metric"], dropna=False, sort=False).cumcount()
    # Every four neighbors do not differ.
    groups = [" ".join(map(str, range(max(0, i - 3) + 1, min(i, 21) + 2))) for i in place]
    figure = draw_ranks(own, own.ranks.assign(groups=groups))
    bars = [line for line in panels(figure)[0].lines if line.get_gid() == "group"]
    reach = [(line.get_xdata()[0], *sorted(line.get_ydata())) for line in bars]
    rows = [(round(low + 0.32), round(high - 0.32)) for _, low, high in reach]
    assert rows == [(i, min(i + 3, 23)) for i in range(22)]
    for (x, low, high), (other_x, other_low, other_high) in itertools.combinations(reach, 2):
        assert x != other_x or high < other_low or other_high < low
    assert WARNING in texts_of(figure)


def test_ranks_at_one_beta_stay_on_the_scale_of_all() -> None:
    own = statistics(25)
    axes = panels(draw_ranks(own, own.ranks))[0]
    ranks = np.asarray(axes.collections[0].get_offsets())[:, 0]
    assert axes.get_xlim()[1] > ranks.max()
    assert ranks.min() == 1


# ----------------------------------------------------------------------------------- what is of no use


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    return folder_statistics(write_planted_folder(tmp_path_factory.mktemp("figures") / "run"))


@pytest.mark.nightly
def test_all_figures_say_what_is_of_no_use_and_stay_legible(planted: RunStatistics) -> None:
    drawn = {name: draw() for name, draw in statistics_figures(planted)}
    for name, figure in drawn.items():
        assert flaws(figure) == [], name
        assert "†" in texts_of(figure), name
    assert {name.partition("_")[0] for name in drawn} == {"heat", "forest", "pareto", "ranks"}


def test_what_is_degenerate_is_on_no_front_and_the_rest_is_marked(planted: RunStatistics) -> None:
    scenario = planted.scenarios[0]
    figure = draw_pareto(planted, scenario)
    for axes in panels(figure):
        (crosses,) = [line for line in axes.lines if line.get_gid() == "degenerate"]
        assert len(crosses.get_xdata()) == 3
        assert "(1 far off)" in axes.get_title("left"), "the one that decides by group"
        assert "Far off: on no front" in figure.caption
        (line,) = [line for line in axes.lines if line.get_gid() == "constant"]
        assert line.get_ydata()[0] == pytest.approx(CONSTANT)
        keys = {text.get_text() for text in axes.texts if text.get_gid() == "key"}
        numbers = {name: str(i) for i, name in enumerate(PLANTED, 1)}
        assert keys == {numbers[name] for name in ("none", "useful", "costly", "same")} | {
            numbers["poor"] + "†"
        }
    assert "accuracy of the best constant answer (0.680)" in texts_of(figure)
    assert "no value" not in texts_of(figure)


def test_what_is_degenerate_is_neither_better_nor_worse(planted: RunStatistics) -> None:
    scenario = planted.scenarios[0]
    heat = draw_heat(planted, "discrimination", "original").axes[0]
    texts = numbers_in(heat)
    for name, row in ((name, list(PLANTED).index(name)) for name in (*USELESS, "poor")):
        own = [texts[column, row] for column in range(3)]
        assert all(text.endswith("‡") == (name in USELESS) for text in own)
        assert all("+" not in text for text in own) == (name in USELESS)
        assert all(text.endswith("+†") for text in own) == (name == "poor")
    forest = draw_forest(planted, scenario, "discrimination")
    for axes in panels(forest):
        marks = {row: line.get_marker() for row, (_, line) in effects(axes).items()}
        names = [name for name in PLANTED if name != "none"]
        assert {names[row] for row, marker in marks.items() if marker == "x"} == set(USELESS)


def test_forest_marks_what_a_constant_outdoes_where_that_is_so(planted: RunStatistics) -> None:
    scenario = planted.scenarios[0]
    standing = planted.standing.copy()
    standing["below_constant"] &= standing["level"] == 0.5
    figure = draw_forest(replace(planted, standing=standing), scenario, "discrimination")
    signs = [[text.xy[1] for text in axes.texts if text.get_gid() == "below"] for axes in panels(figure)]
    names = [name for name in PLANTED if name != "none"]
    assert signs == [[], [names.index("poor")], []]
    assert not any("†" in label.get_text() for axes in panels(figure) for label in axes.get_yticklabels())


def test_nothing_is_drawn_against_a_mostly_constant_baseline(planted: RunStatistics) -> None:
    scenario = planted.scenarios[1]
    forest = draw_forest(planted, scenario, "discrimination")
    assert [len(effects(axes)) for axes in panels(forest)] == [7, 7, 0]
    heat = draw_heat(planted, "discrimination", "original")
    texts = numbers_in(heat.axes[0])
    useful = list(PLANTED).index("useful")
    assert [texts[column, useful].endswith("+") for column in range(6)] == [True] * 5 + [False]
    assert "nothing is compared" in texts_of(forest)


def test_what_is_degenerate_has_no_rank(planted: RunStatistics) -> None:
    figure = draw_ranks(planted, planted.ranks)
    for axes in panels(figure):
        ranked = {label.get_text() for label in axes.get_yticklabels()}
        assert ranked == {"Useful", "Useful, at a cost", "As the baseline", "Worse than a constant †"}
    assert "as degenerate or without values" in figure.caption


# ------------------------------------------------------------------------------------------ label places


@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_labels_keep_clear_of_each_other_and_of_all_points(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(0.1, 1.9, (n, 2)) * rng.uniform(0.05, 1)
    sizes = np.column_stack([rng.uniform(0.05, 0.3, n), np.full(n, 0.1)])
    places_of = place_labels(points, sizes, (2.0, 2.0))
    found = np.isfinite(places_of[:, 0])
    assert found[0]
    centres, half = places_of[found], sizes[found] / 2
    assert ((centres - half >= 0) & (centres + half <= 2)).all()
    for i, j in itertools.combinations(range(len(centres)), 2):
        assert (np.abs(centres[i] - centres[j]) >= half[i] + half[j]).any()
    assert (np.abs(centres[:, None] - points) >= half[:, None]).any(axis=2).all()


def test_a_label_stands_near_a_lonely_point_and_none_where_there_is_no_room() -> None:
    lonely = place_labels(np.array([[1.0, 1.0]]), np.array([[0.1, 0.1]]), (2.0, 2.0))
    assert np.hypot(*(lonely[0] - 1)) < 0.2
    assert np.isnan(place_labels(np.array([[0.1, 0.1]]), np.array([[3.0, 0.1]]), (2.0, 2.0))).all()


def test_bias_is_part_of_names_where_a_dataset_has_several() -> None:
    own = statistics(2)
    noise = own.intervals[own.intervals["dataset"] == "two"].assign(bias="noise")
    several = replace(own, intervals=pd.concat([own.intervals, noise]))
    assert [(s.file_name, s.heading) for s in several.scenarios] == [
        ("one", "one"),
        ("two__cpt", "two, cpt"),
        ("two__noise", "two, noise"),
    ]
