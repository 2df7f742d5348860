"""The exact search against brute force and against published optima."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.data.card_parts import ScoreName
from benchmark.errors import NetworkError
from benchmark.network import search as search_module
from benchmark.network.search import optimal_parents
from benchmark.network.structure_scores import Constraints, SetScores, collapse, find_cycle, members
from tests.helpers.structures import (
    TABLES,
    learn,
    oracle_score,
    oracle_table,
    random_codes,
    textbook_score,
)

PAIRS = [(i, j) for i in range(4) for j in range(4) if i != j]
DAGS = [
    masks
    for masks in itertools.product(*([m for m in range(16) if not m >> child & 1] for child in range(4)))
    if not find_cycle(masks)
]


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 400),
    cardinalities=st.lists(st.integers(1, 4), min_size=4, max_size=4),
    score=st.sampled_from(["bic", "bdeu"]),
    required=st.lists(st.sampled_from(PAIRS), max_size=2),
    forbidden=st.lists(st.sampled_from(PAIRS), max_size=4),
    max_indegree=st.sampled_from([None, None, 1, 2]),
)
def test_brute_force_over_all_graphs_of_four_columns(
    seed: int,
    n_rows: int,
    cardinalities: list[int],
    score: ScoreName,
    required: list[tuple[int, int]],
    forbidden: list[tuple[int, int]],
    max_indegree: int | None,
) -> None:
    codes = random_codes(seed, n_rows, cardinalities)
    limit = 3 if max_indegree is None else max_indegree

    def legal(masks: tuple[int, ...]) -> bool:
        return (
            all(masks[child] >> parent & 1 for parent, child in required)
            and not any(masks[child] >> parent & 1 for parent, child in forbidden)
            and all(mask.bit_count() <= limit for mask in masks)
        )

    families = {
        (child, mask): textbook_score(codes, cardinalities, child, list(members(mask)), score, 1.0)
        for child in range(4)
        for mask in range(16)
        if not mask >> child & 1
    }
    scores = [sum(families[c, m] for c, m in enumerate(masks)) for masks in DAGS if legal(masks)]
    constraints: dict[str, Any] = {
        "required_edges": required,
        "forbidden_edges": forbidden,
        "max_indegree": max_indegree,
    }
    if not scores:
        with pytest.raises(NetworkError):
            learn(codes, cardinalities, algorithm="exact", score=score, **constraints)
        return
    found = learn(codes, cardinalities, algorithm="exact", score=score, **constraints)
    masks = tuple(sum(1 << p for p in parents) for parents in found.parents)
    assert masks in DAGS
    assert legal(masks)
    assert found.score == pytest.approx(max(scores), rel=1e-10, abs=1e-8)
    assert sum(families[c, m] for c, m in enumerate(masks)) == pytest.approx(max(scores), rel=1e-10, abs=1e-8)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_pruning_skips_sets_and_changes_nothing(score: ScoreName, monkeypatch: pytest.MonkeyPatch) -> None:
    # The wide column tells almost all rows apart, so that it is too large a parent; the last says nothing.
    rng = np.random.default_rng(0)
    cardinalities = [300, 3, 2, 2, 2]
    codes = rng.integers(0, cardinalities, (400, 5)).astype(np.int16)
    codes[:, 1] = codes[:, 2] + codes[:, 3]
    codes[:, 4] = 0
    pruned_scores = SetScores(collapse(codes, cardinalities), score)
    useful = search_module._useful(pruned_scores, Constraints.from_edges(5))
    assert not useful[4, 0b00001]
    assert useful[1, 0b01100]
    pruned = optimal_parents(pruned_scores, Constraints.from_edges(5))

    legal = np.array([[not mask >> child & 1 for mask in range(2**5)] for child in range(5)])
    monkeypatch.setattr(search_module, "_useful", lambda *_: legal)
    full_scores = SetScores(collapse(codes, cardinalities), score)
    full = optimal_parents(full_scores, Constraints.from_edges(5))
    assert len(full_scores._known) == 2**5
    if score == "bic":
        assert len(pruned_scores._known) < 2**5
    assert pruned == full
    assert pruned_scores.structure(pruned) == full_scores.structure(full)


def test_equal_structures_are_chosen_by_column_number() -> None:
    codes = np.repeat(np.array([[0, 0, 0], [1, 1, 1]], dtype=np.int16), 50, axis=0)
    assert learn(codes, [2, 2, 2], algorithm="exact").parents == ((1,), (2,), ())
    independent = np.array(list(itertools.product(range(2), repeat=3)), dtype=np.int16)
    assert learn(independent, [2, 2, 2], algorithm="exact").parents == ((), (), ())


def test_a_single_column_and_twelve_columns() -> None:
    codes = random_codes(1, 60, [2] * 12)
    assert learn(codes[:, :1], [2], algorithm="exact").parents == ((),)
    best = learn(codes, [2] * 12, algorithm="exact", max_indegree=2)
    assert best.score >= learn(codes, [2] * 12, max_indegree=2).score
    assert max(map(len, best.parents)) <= 2


def test_more_columns_are_refused_with_advice() -> None:
    with pytest.raises(NetworkError, match=r"at most 16 columns.*Got: 17.*tabu.*restarts"):
        learn(np.zeros((5, 17), dtype=np.int16), [2] * 17, algorithm="exact")


@pytest.mark.oracle
@pytest.mark.parametrize("table", TABLES)
def test_the_published_optima_are_reached(oracle_dir: Path, table: str) -> None:
    codes, cardinalities, _ = oracle_table(oracle_dir, table)
    expected = oracle_score(oracle_dir, table, "exact", "dynamic programming", "bic")["value"]
    found = learn(codes, cardinalities, algorithm="exact")
    assert found.score == pytest.approx(expected, abs=1e-6)
