"""The label's table before and after bias, and the fidelity of samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from benchmark.bias.edits import BiasEdit, apply_bias
from benchmark.data.source import Sources
from benchmark.data.table import Column, Schema, Table
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.plan import Block
from benchmark.experiment.prepare import PreparedExperiment, prepare_experiment
from benchmark.figures.fidelity import draw_fidelity, mutual_information, shares
from benchmark.figures.label_table import draw_label_table, label_table
from benchmark.figures.lists import dataset_figures
from benchmark.network.model import Network
from benchmark.network.sampling import sample
from benchmark.runs.describe import describe_run
from tests.helpers.figure_checks import flaws, panels, texts_of

BETAS = (0.0, 0.5, 1.0)
LONG = "a_name_of_sixty_characters_that_no_column_of_a_page_can_hold"
WORDS = {"heading": "Made up", "provenance": "Made-up data.", "bias": "Bias 'cpt': made up"}

EXPERIMENT = """
name = "small"
title = "Small"
seed = 1
repetitions = 1
betas = [0.0, 1.0]
train_rows = 500

[[datasets]]
card = "dutch"
baseline = "none"

[[datasets.bias]]
name = "cpt"
edits = [{ attribute = "sex", group = "2", direction = "deprive" }]

[[datasets.bias]]
name = "noise"
kind = "label"

[[techniques]]
technique = "none"

[[classifiers]]
classifier = "c45"
"""


def network(names: tuple[str, str, str] = ("sex", "job", "label"), *, n_jobs: int = 3) -> Network:
    """Return sex -> label <- job: a quarter are deprived, and P(yes | sex, job) counts up."""
    jobs = tuple(f"$j_{i}$" for i in range(n_jobs))
    schema = Schema(
        columns=(Column(names[0], ("f", "m")), Column(names[1], jobs), Column(names[2], ("no", "yes"))),
        label=names[2],
        favorable_label="yes",
        sensitive_feature=names[0],
        deprived_group="f",
    )
    share = np.arange(1, n_jobs + 1) / np.arange(1, n_jobs + 1).sum()
    yes = np.linspace(0.1, 0.9, 2 * n_jobs)
    return Network(
        schema,
        ((), (), (0, 1)),
        (np.array([[0.25, 0.75]]), share[None, :], np.column_stack([1 - yes, yes])),
    )


def levels(own: Network) -> list[Network]:
    edit = BiasEdit(own.schema.sensitive_feature, "f", "deprive")
    return [apply_bias(own, [edit], beta) for beta in BETAS]


def test_the_table_of_the_deprived_group_is_scaled_and_that_of_the_other_is_not() -> None:
    own = levels(network())
    deprived, favored = label_table(own, deprived=True), label_table(own, deprived=False)
    assert (deprived.group, favored.group) == ("sex = f", "sex = m")
    assert deprived.names == favored.names == ("job = $j_2$", "job = $j_1$", "job = $j_0$")
    np.testing.assert_allclose(deprived.mass, [3 / 6, 2 / 6, 1 / 6])
    first = np.linspace(0.1, 0.9, 6)[[2, 1, 0]]
    np.testing.assert_allclose(deprived.probability, [first, first / 2, 0 * first])
    np.testing.assert_allclose(favored.probability, [np.linspace(0.1, 0.9, 6)[[5, 4, 3]]] * 3)


def test_masses_are_those_of_a_large_sample_where_sex_is_no_parent() -> None:
    base = network()
    yes = np.array([0.2, 0.5, 0.7])
    jobs = np.array([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
    own = Network(base.schema, ((), (0,), (1,)), (base.cpts[0], jobs, np.column_stack([1 - yes, yes])))
    rows = label_table([own], deprived=True)
    assert rows.names == ("job = $j_0$", "job = $j_1$", "job = $j_2$")
    np.testing.assert_allclose(rows.mass, jobs[0])
    drawn = sample(own, 200_000, np.random.default_rng(1))
    counts = np.bincount(drawn.codes[drawn.deprived, 1], minlength=3)
    np.testing.assert_allclose(rows.mass, counts / counts.sum(), atol=0.01)


def test_a_label_without_parents_has_one_row() -> None:
    base = network()
    alone = Network(base.schema, ((), (), ()), (*base.cpts[:2], np.array([[0.3, 0.7]])))
    rows = label_table([alone], deprived=False)
    assert (rows.names, rows.mass.tolist(), rows.probability.tolist()) == (("all",), [1.0], [[0.7]])


@pytest.mark.parametrize("n_jobs", [1, 3, 40])
def test_no_text_of_the_label_table_overlaps_or_is_cut(n_jobs: int) -> None:
    own = network((f"<script>{LONG}", f"$x_1$ {LONG}", "label"), n_jobs=n_jobs)
    figure = draw_label_table(levels(own), BETAS, **WORDS)
    assert flaws(figure) == []


def test_the_label_table_says_how_much_it_shows_and_what_changes() -> None:
    figure = draw_label_table(levels(network(n_jobs=40)), BETAS, **WORDS)
    shown = 100 * np.arange(27, 41).sum() / np.arange(1, 41).sum()
    assert f"sex = f: the 14 most probable of 40 configurations, {shown:.1f} % of the group" in texts_of(
        figure
    )
    deprived, favored, _ = figure.axes
    assert all(text.get_text().endswith("→ 0.000") for text in deprived.texts)
    assert all(text.get_text().endswith("unchanged") for text in favored.texts)


# ---------------------------------------------------------------------------------------------- fidelity


def tables() -> tuple[Table, Table]:
    own = network()
    rng = np.random.default_rng(3)
    return sample(own, 4000, rng), sample(apply_bias(own, [BiasEdit("sex", "f", "deprive")], 1.0), 4000, rng)


def test_marginals_and_mutual_information_agree_with_numpy_and_sklearn() -> None:
    table, _ = tables()
    names = table.schema.names
    own = shares(table, names)
    assert own["job = $j_1$"] == pytest.approx((table.codes[:, 1] == 1).mean())
    assert sum(own.values()) == pytest.approx(3)
    found = mutual_information(table, names)
    assert list(found) == ["sex × job", "sex × label", "job × label"]
    assert found["sex × label"] == pytest.approx(mutual_info_score(table.codes[:, 0], table.codes[:, 2]))


def test_equal_tables_lie_on_the_diagonal_and_nothing_is_named() -> None:
    table, _ = tables()
    figure = draw_fidelity(table, [(0.0, table)], **WORDS)
    for axes in panels(figure):
        points = np.asarray(axes.collections[0].get_offsets())
        np.testing.assert_array_equal(points[:, 0], points[:, 1])
        assert not axes.texts


def test_the_farthest_points_are_named_in_order() -> None:
    real, biased = tables()
    figure = draw_fidelity(real, [(0.0, real), (1.0, biased)], **WORDS)
    expected, found = shares(real, real.schema.names), shares(biased, real.schema.names)
    worst = max(expected, key=lambda name: abs(expected[name] - found[name]))
    assert f"a {worst}: {expected[worst]:.3f}, sampled {found[worst]:.3f}" in texts_of(figure)
    assert [len(axes.texts) > 0 for axes in panels(figure)] == [False, True, False, True]


def test_no_text_of_the_fidelity_overlaps_or_is_cut() -> None:
    rng = np.random.default_rng(1)
    own = network((f"<script>{LONG}", f"$x_1$ {LONG} {LONG}", "label"), n_jobs=12)
    drawn = [sample(own, 300, rng) for _ in range(3)]
    for samples in ([(0.0, drawn[1])], [(0.0, drawn[1]), (1.0, drawn[2])]):
        figure = draw_fidelity(drawn[0], samples, **WORDS)
        assert flaws(figure) == []


# ----------------------------------------------------------------------------------------------- of a run


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedExperiment:
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.toml").write_text(EXPERIMENT)
    return prepare_experiment(load_for_run(folder / "small.toml"), Sources(offline=True))


def test_a_run_draws_the_table_where_the_network_is_edited_and_fidelity_for_each_bias(
    prepared: PreparedExperiment,
) -> None:
    figures = dict(dataset_figures(prepared, describe_run(prepared)))
    assert list(figures) == [
        "label/dutch_embedded__cpt",
        "fidelity/dutch_embedded__cpt",
        "fidelity/dutch_embedded__noise",
    ]
    for draw in figures.values():
        figure = draw()
        assert "EMBEDDED NETWORK" in texts_of(figure)
        assert flaws(figure) == []


def test_the_sample_is_the_one_that_techniques_met(prepared: PreparedExperiment, tmp_path: Path) -> None:
    # What techniques meet is this very table: tests/experiment/test_evaluate.py
    table = prepared.training_sample(Block("dutch", "cpt", 1.0, repetition=0))
    expected = shares(table, prepared.datasets["dutch"].test.schema.names)
    figure = dict(dataset_figures(prepared, describe_run(prepared)))["fidelity/dutch_embedded__cpt"]()
    drawn = np.asarray(panels(figure)[1].collections[0].get_offsets())[:, 1]
    np.testing.assert_allclose(sorted(drawn), sorted(expected.values()))
