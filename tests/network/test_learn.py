import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.data.card import Card, list_cards
from benchmark.data.card_parts import NetworkSettings
from benchmark.data.load import load_dataset
from benchmark.data.source import Sources
from benchmark.errors import NetworkError, UnknownNameError
from benchmark.experiment.prepare import embedded_network_path
from benchmark.network.bif import read_bif, write_bif
from benchmark.network.learn import learn_network, merge_settings
from benchmark.network.model import discrimination, sample
from tests.helpers.networks import random_network
from tests.helpers.pooling import cell_counts, slowly_pooled

CARDS = list_cards()


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_every_card_has_its_embedded_network(card: Card) -> None:
    path = embedded_network_path(card)
    assert path is not None
    network = read_bif(path, card.schema())
    assert set(card.required_edges) <= set(network.edges)
    assert not set(card.forbidden_edges) & set(network.edges)
    # In two tasks of a survey the groups hardly differ, or the deprived group is better off.
    assert abs(discrimination(network)) > 0.01


MOST_VALUES = 60_000  # of a table whose network is learned again by day
every_card = pytest.mark.parametrize(
    "card",
    [
        pytest.param(
            card,
            id=card.name,
            marks=[pytest.mark.nightly] * ((card.rows or 0) * len(card.columns) > MOST_VALUES),
        )
        for card in CARDS
    ],
)


@pytest.mark.real_data
@every_card
def test_learning_again_from_the_real_data_gives_the_embedded_bytes(
    card: Card, data_dir: Path, tmp_path: Path
) -> None:
    table = load_dataset(card, Sources(data_dir, offline=True)).table
    edges = {"required_edges": card.required_edges, "forbidden_edges": card.forbidden_edges}
    network = learn_network(table, card.network, **edges)
    write_bif(network, tmp_path / "again.bif", name=card.name)
    path = embedded_network_path(card)
    assert path is not None
    assert (tmp_path / "again.bif").read_bytes() == path.read_bytes()
    # How few rows its probabilities rest on.
    if (m := card.network.min_count) > 1:
        assert m >= 5
        slow = slowly_pooled(table, network.parents, m, card.network.pseudo_count)
        for own, theirs in zip(network.cpts, slow, strict=True):
            np.testing.assert_allclose(own, theirs, rtol=1e-12)
        return
    counts = [n for i, own in enumerate(network.parents) for _, n in cell_counts(table, [*own, i]) if n < 5]
    how = f"{counts.count(1)} of them on one" if 1 in counts else "on two to four"
    said = (
        f"Of the learned network's probabilities {len(counts)} rest on fewer than five rows, {how}. It stays"
    )
    assert any(problem.startswith(said) for problem in card.known_problems), said


def test_the_label_has_the_parents_that_the_planted_bias_needs() -> None:
    networks = {card.name: read_bif(embedded_network_path(card) or "", card.schema()) for card in CARDS}

    def label_parents(name: str) -> set[str]:
        network = networks[name]
        return {network.schema.names[p] for p in network.parents[network.schema.label_index]}

    assert label_parents("adult") == {"education", "relationship"}  # the paper's Table 9
    assert label_parents("dutch") == {"sex"}
    assert "race" in label_parents("compas")
    assert "race" not in label_parents("compas_leaky")
    assert "race" not in label_parents("compas_zafar")
    assert "sex" in label_parents("kdd_census")
    assert label_parents("student_por") == {"school", "sex"}
    for card in CARDS:
        assert card.network.min_count == 1 or card.sensitive_feature in label_parents(card.name)


@pytest.mark.parametrize("algorithm", ["hill_climbing", "tabu", "exact"])
def test_a_learned_network_imitates_the_one_it_was_sampled_from(algorithm: str) -> None:
    truth = random_network(11)
    table = sample(truth, 50_000, np.random.default_rng(0))
    settings = NetworkSettings(algorithm=algorithm)  # type: ignore[arg-type]
    learned = learn_network(table, settings, required_edges=[("x0", "x1")])
    assert ("x0", "x1") in learned.edges
    assert discrimination(learned) == pytest.approx(discrimination(truth), abs=0.02)


def test_an_edge_between_unknown_columns_is_refused() -> None:
    table = sample(random_network(1), 100, np.random.default_rng(0))
    with pytest.raises(UnknownNameError, match="no column"):
        learn_network(table, NetworkSettings(), required_edges=[("x0", "nowhere")])


def test_settings_are_merged_and_checked() -> None:
    merged = merge_settings(NetworkSettings(), {"algorithm": "exact", "score": None, "restarts": 3})
    assert (merged.algorithm, merged.score, merged.restarts) == ("exact", "bic", 3)
    with pytest.raises(NetworkError, match=r"max_indegree.*not 0"):
        merge_settings(NetworkSettings(), {"max_indegree": 0})


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "hillclimb"},
        {"score": "bde"},
        {"tabu_length": 0},
        {"restarts": -1},
        *({"equivalent_sample_size": size} for size in (0.0, -1.0, math.nan, math.inf)),
    ],
)
def test_impossible_settings_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(NetworkError, match=f"{next(iter(change))}.*not "):
        merge_settings(NetworkSettings(), change)
