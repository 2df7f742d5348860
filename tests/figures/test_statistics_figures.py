"""Figures of a run's statistics show its frames, what is of no use, what is told, and what is restored."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from benchmark.bias.doses import Dose
from benchmark.experiment.telling import Telling
from benchmark.figures import Choice, marks
from benchmark.figures.heat import draw_heat, short_number
from benchmark.figures.lists import statistics_figures
from benchmark.figures.over_beta import draw_over_beta
from benchmark.figures.page import Page
from benchmark.figures.rows import draw_forest, draw_ranks, draw_restoration
from benchmark.figures.style import BLUE, ORANGE
from benchmark.figures.tradeoff import draw_pareto, draw_tradeoff, place_labels
from benchmark.runs.analysis import RunStatistics, folder_statistics, run_statistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import PlantedBias
from benchmark.statistics.restoration import NO_REFERENCE
from tests.helpers.figure_checks import flaws, legends_of, numbers_in, panels, texts_of
from tests.helpers.made_up_restoration import BETA, with_restoration
from tests.helpers.made_up_runs import ADULT, COMPAS, TECHNIQUES, changed, sample_run
from tests.helpers.made_up_statistics import METRICS, WARNING, statistics
from tests.helpers.planted_folder import CONSTANT, PLANTED, USELESS, write_planted_folder
from tests.helpers.two_goals import told_run


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    return folder_statistics(write_planted_folder(tmp_path_factory.mktemp("figures") / "run"))


def test_all_figures_are_drawn_by_their_names() -> None:
    assert [name for name, _ in statistics_figures(statistics(2))] == [
        *("heat_discrimination", "heat_accuracy"),
        *(f"forest_{dataset}__{metric}" for dataset in ("one", "two") for metric in METRICS),
        *("pareto_one", "pareto_two", "ranks_one__two"),
    ]


# ------------------------------------------------------------------------------------------- heat maps


@pytest.mark.parametrize("width", [None, 3.3])
def test_heat_cells_hold_means_signs_the_baseline_and_what_was_not_tried(width: float | None) -> None:
    own = statistics(9, repetitions=12)
    intervals = own.intervals[(own.intervals["technique"] != "technique_4") | (own.intervals["level"] > 0)]
    for tried, told in ((own.intervals, False), (intervals, True)):
        page = draw_heat(
            replace(own, intervals=tried), "discrimination", "original", Choice(width=width)
        )  # fmt: skip
        assert ("Empty: not tried" in page.caption) == told
        assert "– no value" in page.caption
    texts, at = numbers_in(page.axes[0]), "metric == 'discrimination' and technique == 'technique_3'"
    mean = own.intervals.query(f"{at} and dataset == 'one' and level == 0.5")["mean"].iloc[0]
    better = own.comparisons.query(f"{at} and dataset == 'one' and level == 0.5")["better"].iloc[0]
    assert better, "the made-up effect is large"
    assert texts[1, 3] == (short_number(mean) if width is None else "") + "+"
    assert texts[2, 8] == "–"
    assert (4, 0) not in texts or not texts[4, 0].endswith("+")
    frames = [patch for patch in page.axes[0].patches if isinstance(patch, Rectangle)]
    assert [(frame.get_xy(), frame.get_width()) for frame in frames] == [((-0.5, -0.5), 3), ((2.5, -0.5), 3)]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1234, ".123"), (-0.1234, "\N{MINUS SIGN}.123"), (-0.0001, ".000"), (1.0, "1.000"), (12.345, "12.3")],
)
def test_short_numbers(value: float, text: str) -> None:
    assert short_number(value) == text
    assert short_number(0.05, signed=True) == "+.050"


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


# ---------------------------------------------------------------------------------- forests and fronts


def effects(axes: Axes) -> dict[int, tuple[float, Line2D]]:
    """Return the mark of each row: its place, and the line with its look."""
    lines = [line for line in axes.lines if line.get_gid() == "effect"]
    return {int(row): (value, line) for line in lines for value, row in zip(*line.get_data(), strict=True)}


def test_forest_rows_are_the_paired_improvements() -> None:
    own = statistics(9, repetitions=12)
    page = draw_forest(own, own.scenarios[1], "accuracy")
    rows = own.scenarios[1].rows(own.compared).query("metric == 'accuracy' and level == 0.5")
    drawn = effects(panels(page)[1])
    assert [drawn[row][0] for row in range(len(rows))] == list(rows["improvement"])
    for which, name in ((-1, "improvement"), (-2, "simultaneous")):
        bars = [path.vertices.tolist() for path in panels(page)[1].collections[which].get_paths()]
        ends = zip(rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
        assert bars == [[[low, row], [high, row]] for row, (low, high) in enumerate(ends)], name
    filled = [drawn[row][1].get_markerfacecolor() != "white" for row in range(len(rows))]
    assert filled == list(rows["better"] | rows["worse"])
    assert len(set(filled)) == 2, "some are better or worse and some are not"
    assert "Warning: beware" in texts_of(page)


def test_pareto_fronts_are_the_points_that_the_frame_names() -> None:
    own = statistics(9)
    scenario = own.scenarios[0]
    gone = own.pareto["technique"] == "technique_4"
    pareto = own.pareto.assign(
        first_distance=own.pareto["first_distance"].mask(gone), on_front=own.pareto["on_front"] & ~gone
    )
    page = draw_pareto(replace(own, pareto=pareto), scenario)
    axes = panels(page)[0]
    rows = scenario.rows(pareto).query("level == 0 and on_front").sort_values("first_distance")
    (front,) = [line for line in axes.lines if line.get_gid() == "front"]
    np.testing.assert_array_equal(front.get_xdata(), rows["first_distance"])
    np.testing.assert_allclose(front.get_ydata(), 1 - rows["second_distance"])
    keys = {text.get_text() for text in axes.texts if text.get_weight() == "bold"}
    assert keys == {str(int(name.removeprefix("technique_")) + 1) for name in rows["technique"]}
    assert f"{own.run.titles['technique_4']} (no value)" in texts_of(page)


@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_labels_keep_clear_of_each_other_and_of_all_points(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(0.1, 1.9, (n, 2)) * rng.uniform(0.05, 1)
    sizes = np.column_stack([rng.uniform(0.05, 0.3, n), np.full(n, 0.1)])
    places_of = place_labels(points, sizes, (2.0, 2.0))
    found = np.isfinite(places_of[:, 0])
    assert found[0]
    centers, half = places_of[found], sizes[found] / 2
    assert ((centers - half >= 0) & (centers + half <= 2)).all()
    for i, j in itertools.combinations(range(len(centers)), 2):
        assert (np.abs(centers[i] - centers[j]) >= half[i] + half[j]).any()
    assert (np.abs(centers[:, None] - points) >= half[:, None]).any(axis=2).all()


def test_a_label_stands_near_a_lonely_point_and_none_where_there_is_no_room() -> None:
    lonely = place_labels(np.array([[1.0, 1.0]]), np.array([[0.1, 0.1]]), (2.0, 2.0))
    assert np.hypot(*(lonely[0] - 1)) < 0.2
    assert np.isnan(place_labels(np.array([[0.1, 0.1]]), np.array([[3.0, 0.1]]), (2.0, 2.0))).all()


# ------------------------------------------------------------------------------------------------- ranks


def test_a_rank_diagram_of_few_blocks_or_without_ranks_says_so() -> None:
    own = statistics(9)
    # Of 28 tests, the smallest p-value must be 0.05 / 28 at most: 2 / 2^11 is. One technique has no rank.
    page = draw_ranks(own, own.ranks.assign(n_datasets=1))
    assert "28 pairs of techniques take at least 11 blocks; there are 6." in page.caption
    assert "1 dataset is too few for a claim beyond it; it takes" in page.caption
    none = (own.ranks["metric"] == "accuracy") & (own.ranks["over"] == "dataset level")
    page = draw_ranks(own, own.ranks[~none].assign(n_blocks=11, reason=""))
    assert "pairs of techniques" not in page.caption
    assert "no technique has a rank over all" in texts_of(page)


def in_doses(doses: tuple[float, ...], *, out_of_reach: float) -> RunFrames:
    """Return a run of two datasets with doses, of which some may be out of reach."""
    reached = [0.0, *(dose for dose in doses if dose < out_of_reach)]
    planted = tuple(Dose(dose, dose if dose in reached else None, dose) for dose in (0.0, *doses))
    datasets = [replace(own, bias=(PlantedBias("paper", doses=planted),)) for own in (ADULT, COMPAS)]
    run = sample_run(datasets=datasets, betas=reached, repetitions=3, techniques=TECHNIQUES[:3])
    return RunFrames.of(changed(run.description, betas=(), doses=doses), run.results, run.failures)


@pytest.mark.parametrize(
    ("doses", "pooled", "words"),
    [
        ((0.02, 0.05, 0.1), (0.05, 0.1), "datasets and doses 0.05 and 0.1"),
        ((0.05, 0.3), (0.05,), "datasets at dose 0.05"),  # .3 is out of reach
        ((0.3, 0.4), (), ""),
    ],
)
def test_ranks_pool_doses_of_the_run_and_say_which(
    doses: tuple[float, ...], pooled: tuple[float, ...], words: str
) -> None:
    run = in_doses(doses, out_of_reach=0.3)
    assert run.manifest.pooled_levels == pooled
    own = run_statistics(run)
    ranks = own.ranks[own.ranks["over"] == "dataset level"]
    drawings = [draw for name, draw in statistics_figures(own) if name.startswith("ranks")]
    assert len(drawings) == bool(pooled)
    if pooled:
        assert set(ranks["n_blocks"]) == {2 * len(pooled)}
        means = own.ranks[own.ranks["level"].isin(pooled) & (own.ranks["over"] == "dataset")]
        expected = means.groupby(["metric", "technique"])["mean_rank"].mean()
        found = ranks.set_index(["metric", "technique"])["mean_rank"]
        np.testing.assert_allclose(found, expected[found.index])
        assert f"Large: over {words};" in drawings[0]().caption


def test_bars_join_the_groups_and_never_meet_and_ranks_have_one_scale() -> None:
    own = statistics(25)
    place = own.ranks.groupby(["over", "level", "metric"], dropna=False, sort=False).cumcount()
    # Every four neighbors do not differ.
    groups = [" ".join(map(str, range(max(0, i - 3) + 1, min(i, 21) + 2))) for i in place]
    page = draw_ranks(own, own.ranks.assign(groups=groups), Choice(metrics=["discrimination"]))
    (axes,) = panels(page)
    bars = [line for line in axes.lines if line.get_gid() == "group"]
    reach = [(line.get_xdata()[0], *sorted(line.get_ydata())) for line in bars]
    rows = [(round(low + 0.32), round(high - 0.32)) for _, low, high in reach]
    assert rows == [(i, min(i + 3, 23)) for i in range(22)]
    for (x, low, high), (other_x, other_low, other_high) in itertools.combinations(reach, 2):
        assert x != other_x or high < other_low or other_high < low
    assert WARNING in texts_of(page)
    ranks = np.asarray(axes.collections[0].get_offsets())[:, 0]
    assert (ranks.min(), axes.get_xlim()[1] > ranks.max()) == (1, True)


# --------------------------------------------------------------------------------- what is of no use


def test_what_is_degenerate_is_on_no_front_and_the_rest_is_marked(planted: RunStatistics) -> None:
    page = draw_pareto(planted, planted.scenarios[0])
    assert flaws(page) == []
    for axes in panels(page):
        (crosses,) = [line for line in axes.lines if line.get_gid() == "degenerate"]
        assert len(crosses.get_xdata()) == 3
        assert "(1 far off)" in axes.get_title("left"), "the one that decides by group"
        (line,) = [line for line in axes.lines if line.get_gid() == "constant"]
        assert line.get_ydata()[0] == pytest.approx(CONSTANT)
        keys = {text.get_text() for text in axes.texts if text.get_gid() == "key"}
        numbers = {name: str(i) for i, name in enumerate(PLANTED, 1)}
        assert keys == {numbers[name] for name in ("none", "useful", "costly", "same")} | {
            numbers["poor"] + "†"
        }
    assert "Far off: on no front" in page.caption
    assert "accuracy of the best constant answer (0.680)" in page.caption


def test_what_is_degenerate_is_neither_better_nor_worse_and_has_no_rank(planted: RunStatistics) -> None:
    texts = numbers_in(draw_heat(planted, "discrimination", "original").axes[0])
    for name, row in ((name, list(PLANTED).index(name)) for name in (*USELESS, "poor")):
        own = [texts[column, row] for column in range(3)]
        assert all(text.endswith("‡") == (name in USELESS) for text in own)
        assert all("+" not in text for text in own) == (name in USELESS)
        assert all(text.endswith("+†") for text in own) == (name == "poor")
    # On the second dataset the baseline is mostly constant at the last level.
    useful = list(PLANTED).index("useful")
    assert [texts[column, useful].endswith("+") for column in range(6)] == [True] * 5 + [False]
    page = draw_ranks(planted, planted.ranks)
    for axes in panels(page):
        ranked = {label.get_text() for label in axes.get_yticklabels()}
        assert ranked == {"Useful", "Useful, at a cost", "As the baseline", "Worse than a constant †"}
    assert "as degenerate or without values" in page.caption


def test_forests_mark_what_is_degenerate_or_below_a_constant_where_that_is_so(planted: RunStatistics) -> None:
    standing = planted.standing.copy()
    standing["below_constant"] &= standing["level"] == 0.5
    first, second = (
        panels(draw_forest(replace(planted, standing=standing), scenario, "discrimination"))
        for scenario in planted.scenarios
    )
    names = [name for name in PLANTED if name != "none"]
    signs = [[text.xy[1] for text in axes.texts if text.get_gid() == "below"] for axes in first]
    assert signs == [[], [names.index("poor")], []]
    for axes in first:
        looks = {row: line.get_marker() for row, (_, line) in effects(axes).items()}
        assert {names[row] for row, marker in looks.items() if marker == "x"} == set(USELESS)
    assert [len(effects(axes)) for axes in second] == [7, 7, 0]
    assert "nothing is compared" in " ".join(second[2].texts[0].get_text().split())


# ------------------------------------------------------------------------------------- who gets it back


def test_restored_decisions_stand_beside_the_refits(planted: RunStatistics) -> None:
    own = with_restoration(planted, NO_REFERENCE)
    page = draw_restoration(own, own.scenarios[0])
    given, paid, there = panels(page)
    names = [label.get_text().replace("\n", " ").rstrip(" †‡¶") for label in given.get_yticklabels()]
    assert names == list(PLANTED.values())[1:], "the nearest to the clean model first"
    of_given, of_paid = (
        {int(line.get_ydata()[0]): line for line in axes.lines if line.get_gid() == "share"}  # type: ignore[index]
        for axes in (given, paid)
    )
    shares = [float(of_given[row].get_xdata()[0]) for row in range(7)]  # type: ignore[index]
    assert shares == pytest.approx([75, 70, 65, 60, 55, 50, np.nan], nan_ok=True), "fewer than ten people"
    colors = [of_given[0].get_mec(), of_given[1].get_mec(), of_paid[4].get_mec()]
    assert len(set(colors)) == 3, "not shown, better, worse"
    hollow = {name for row, name in enumerate([*PLANTED][1:]) if of_given[row].get_mfc() == "white"}
    assert hollow == {"constant", "nearly", "by_group", "poor"}
    lines = [
        {
            drawn.get_gid(): [float(segment[0, 0]) for segment in drawn.get_segments()]  # type: ignore[attr-defined]
            for drawn in axes.collections
            if str(drawn.get_gid()).startswith(("refit", "biased"))
        }
        for axes in (given, paid, there)
    ]
    assert all(own["refit_clean"] == pytest.approx([70] * 7) for own in lines)
    assert all(own["refit_biased"] == pytest.approx([60] * 7) for own in lines)
    assert [own.get("biased_baseline") for own in lines] == [None, None, pytest.approx([30] * 7)]
    assert f"β = {BETA:g}" in page.caption
    assert "Not weighed: no reference" in page.caption
    figures = [name for name, _ in statistics_figures(own) if name.startswith("restoration_")]
    assert figures == [f"restoration_{scenario.file_name}" for scenario in own.scenarios]
    empty = own.restoration.assign(value=own.restoration["value"].mask(own.restoration["metric"] == "paid"))
    drawn = draw_restoration(replace(own, restoration=empty), own.scenarios[0]).panels
    said = [[text.get_text().replace("\n", " ") for text in axes.texts] for axes in drawn]
    assert said == [[], ["fewer than 10 people to count"], []]


# ------------------------------------------------------------------------------------------ what is told


def tinted(page: Page) -> list[bool]:
    return [to_hex(axes.get_facecolor()) == marks.TOLD.lower() for axes in page.panels]


def test_techniques_that_are_told_something_stand_together_and_a_note_says_so() -> None:
    gap, refusals = Telling(fact="gap"), Telling(fact="refusals")
    run = told_run({"undoes": gap, "levels": gap, "evens": refusals})
    own, note = run_statistics(run), "told about the planted bias."
    (scenario,), only = run.scenarios, Choice(metrics=["discrimination"])
    tradeoff, lines = draw_tradeoff(run, scenario), draw_over_beta(run, scenario, only)
    assert tinted(tradeoff) == [False] * 3 + [True] * 3
    assert tinted(lines) == [False, True]
    assert f"Tinted: {note}" in tradeoff.caption
    assert [legend.get_title().get_text() for legend in legends_of(lines)] == ["", "Told about the bias"]
    heat = draw_heat(own, "discrimination", "original")
    parts = [line.get_ydata()[0] for line in heat.panels[0].lines if line.get_gid() == "part"]  # type: ignore[index]
    assert parts == [2.5, 4.5]
    assert f"Below a line: {note}" in heat.caption
    pareto = draw_pareto(own, scenario, only)
    colors = [line.get_color() for line in pareto.panels[1].lines if line.get_gid() == "front"]
    assert colors == [BLUE, ORANGE, ORANGE]
    assert f"Orange: {note}" in pareto.caption
    ranks = draw_ranks(own, own.ranks, only)
    titles = [axes.get_title(loc="left") for axes in ranks.panels]
    assert titles == ["Discrimination", "Discrimination, told the gap"], "one technique makes no ranking"
    names = [text.get_text() for text in ranks.panels[1].get_yticklabels()]
    assert sorted(names) == ["Levels", "Nothing", "Undoes"]
