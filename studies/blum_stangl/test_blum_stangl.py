"""The made-up worlds of experiments/blum_stangl.toml, and what theory predicts in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmark.data.card import load_card
from benchmark.network.learn import learn_network
from studies.blum_stangl.findings import (
    ANSWERS,
    FOLDER,
    NOISE,
    ROOT,
    SCENARIOS,
    WORLDS,
    accuracy,
    biased,
    cells,
    masses,
    of,
    population,
    recovered,
)
from tests.helpers.recomputed import check_again


@pytest.mark.parametrize("world", WORLDS)
def test_the_worlds_are_what_the_theorems_assume(world: str) -> None:
    share = masses(population(world))
    groups = share.sum(axis=(1, 2))
    assert share[:, :, 1].sum(axis=1) / groups == pytest.approx([0.38, 0.38])
    favorable = share[:, :, 1] / share.sum(axis=2)
    assert np.minimum(favorable, 1 - favorable) == pytest.approx(np.full((2, 12), NOISE))
    qualified = (share.sum(axis=2) * (favorable > 0.5)).sum(axis=1) / groups
    assert qualified == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize("world", WORLDS)
def test_what_is_learned_of_a_world_is_the_world(world: str) -> None:
    card = load_card(ROOT / "experiments" / "equal_rates" / f"{world}.toml")
    table = population(world)
    network = learn_network(table, card.network, required_edges=card.required_edges)
    rows, counts = np.unique(table.codes, axis=0, return_counts=True)
    learned = np.ones(len(rows))
    for child, parents in enumerate(network.parents):
        sizes = [table.schema.cardinalities[parent] for parent in parents]
        configuration = np.ravel_multi_index(tuple(rows[:, list(parents)].T), sizes) if parents else 0
        learned *= network.cpts[child][configuration, rows[:, child]]
    assert learned == pytest.approx(counts / len(table))


@pytest.mark.parametrize(("world", "bias", "beta"), SCENARIOS)
def test_equal_opportunity_is_predicted_to_recover_where_the_theorem_says(
    world: str, bias: str, beta: float
) -> None:
    keep_favorable, keep_unfavorable, turned = {
        "under_representation": (1 - beta, 1.0, 0.0),
        "label": (1.0, 1.0, beta),
        "both": (1 - 0.2 * beta, 1 - 0.8 * beta, 0.8 * beta),
    }[bias]
    deprived = float(population(world).deprived.mean())
    clear, favorable = 1 - 2 * NOISE, keep_favorable * (1 - 2 * turned)
    conditions = (
        (1 - deprived) * clear + deprived * ((1 - NOISE) * favorable - NOISE * keep_unfavorable),
        (1 - deprived) * clear + deprived * ((1 - NOISE) * keep_unfavorable - NOISE * favorable),
    )
    best = accuracy(world, ANSWERS["eg_tpr"](biased(world, bias, beta)))
    recovers = best == pytest.approx(1 - NOISE)
    assert recovers == (min(conditions) > 0)


def test_words_of_the_findings_hold() -> None:
    left_out = {place for place in SCENARIOS if not cells(*place)}
    assert left_out == {(world, "under_representation", 0.6) for world in WORLDS}
    lost = of("reweighing_favored", biases=("both",), recovers=False)
    assert {cell.beta for cell in lost} == {0.9}
    assert all(cell.verdict == "holds" for cell in of("reweighing_favored", biases=("both",)))
    assert all(cell.verdict == "holds" for cell in of("eg_odds", biases=("under_representation",)))
    [harmed] = of("eg_tpr", biases=("label",), recovers=False)
    assert (harmed.beta, harmed.high < 0) == (0.9, True)
    assert recovered("apart", "label", 0.9, "eg_tpr") < 0
    ends = [
        cell.high for cell in of("eg_tpr", biases=("under_representation", "label", "both"), recovers=True)
    ]
    assert max(ends) < 1
    alone = of("reweighing", biases=("label",))
    assert any(cell.prediction < 0.9 for cell in alone)
    assert all(cell.verdict != "fails" for cell in alone)


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.nightly
def test_computing_again_gives_the_committed_numbers(tmp_path: Path) -> None:
    words = ["--experiment", "blum_stangl", "--datasets", "apart", "--betas", "0.9"]
    words += ["--techniques", "none", "reweighing_favored", "eg_tpr"]
    assert check_again(words, tmp_path, FOLDER) >= 3 * 3 * 7
