"""Hill climbing, tabu search and restarts: quality, constraints, determinism, errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.data.card_parts import AlgorithmName, ScoreName
from benchmark.errors import NetworkError
from benchmark.network import search as search_module
from benchmark.network.structure_scores import find_cycle, members
from tests.helpers.structures import (
    TABLES,
    edges_of,
    learn,
    oracle_score,
    oracle_table,
    random_codes,
    structure_score,
)

CARDINALITIES = [2, 3, 4, 2, 3, 5, 2, 3]


@contextmanager
def recorded() -> Iterator[list[tuple[int, ...]]]:
    """Record every structure that searches go to, as parent masks."""
    structures: list[tuple[int, ...]] = []
    move = search_module._Graph.move

    def spy(graph: search_module._Graph, parents: tuple[int, ...]) -> None:
        structures.append(parents)
        move(graph, parents)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module._Graph, "move", spy)
        yield structures


@pytest.mark.oracle
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("algorithm", "theirs"), [("hill_climbing", "hc"), ("tabu", "tabu")])
@pytest.mark.parametrize(("score", "their_score"), [("bic", "bic"), ("bdeu", "bde")])
def test_scores_are_at_least_those_of_bnlearn(
    oracle_dir: Path, table: str, algorithm: AlgorithmName, theirs: str, score: ScoreName, their_score: str
) -> None:
    codes, cardinalities, _ = oracle_table(oracle_dir, table)
    found = learn(codes, cardinalities, algorithm=algorithm, score=score)
    assert found.score >= oracle_score(oracle_dir, table, "bnlearn", theirs, their_score)["value"] - 1e-6
    again = structure_score(codes, cardinalities, found.parents, score=score)
    assert again == pytest.approx(found.score, rel=1e-13)


@pytest.mark.oracle
@pytest.mark.parametrize("table", TABLES)
def test_tabu_search_with_restarts_reaches_the_optimum(oracle_dir: Path, table: str) -> None:
    codes, cardinalities, _ = oracle_table(oracle_dir, table)
    found = learn(codes, cardinalities, restarts=300, rng=np.random.default_rng(1))
    expected = oracle_score(oracle_dir, table, "exact", "dynamic programming", "bic")["value"]
    assert found.score == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_hill_climbing_ends_where_no_step_gains(seed: int, score: ScoreName) -> None:
    codes = random_codes(seed, 600, CARDINALITIES[:6])
    found = learn(codes, CARDINALITIES[:6], algorithm="hill_climbing", score=score)
    edges = set(edges_of(found))
    assert edges
    neighbors = [edges ^ {(i, j)} for i in range(6) for j in range(6) if i != j]
    neighbors += [edges - {(i, j)} | {(j, i)} for i, j in edges]
    compared = 0
    for neighbor in neighbors:
        parents = [[i for i, j in sorted(neighbor) if j == child] for child in range(6)]
        if not find_cycle([sum(1 << p for p in chosen) for chosen in parents]):
            assert structure_score(codes, CARDINALITIES[:6], parents, score=score) <= found.score
            compared += 1
    assert compared > 10


def test_steps_of_equal_gain_go_to_the_lowest_parent_then_child() -> None:
    codes = np.repeat(np.array([[0, 0, 0], [1, 1, 1]], dtype=np.int16), 50, axis=0)
    # All pairs gain alike: 0 → 1 comes first, then 0 → 2.
    assert edges_of(learn(codes, [2, 2, 2], algorithm="hill_climbing")) == ((0, 1), (0, 2))
    forbidden = [(0, 1)]
    found = learn(codes, [2, 2, 2], algorithm="hill_climbing", forbidden_edges=forbidden)
    assert edges_of(found) == ((0, 2), (1, 0))


def test_tabu_search_passes_a_local_optimum_and_returns_the_best_structure_seen() -> None:
    a, b = np.random.default_rng(0).integers(0, 2, (2, 500))
    codes = np.stack([a, b, a ^ b], axis=1).astype(np.int16)
    # No single edge gains, although any column is a function of the other two.
    assert edges_of(learn(codes, [2, 2, 2], algorithm="hill_climbing")) == ()
    found = learn(codes, [2, 2, 2], algorithm="tabu")
    assert found.score == learn(codes, [2, 2, 2], algorithm="exact").score
    assert len(edges_of(found)) == 2


def test_tabu_search_does_not_return_soon_and_stops_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "_PATIENCE", 25)
    codes = random_codes(0, 300, CARDINALITIES)
    start = (0,) * len(CARDINALITIES)
    with recorded() as visited:
        found = learn(codes, CARDINALITIES, tabu_length=7)
    path = [start, *visited]
    for step, structure in enumerate(path):
        assert structure not in path[max(0, step - 7) : step]
    best = tuple(sum(1 << p for p in parents) for parents in found.parents)
    assert len(path) - 1 - path.index(best) == 25


@given(
    seed=st.integers(0, 10**6),
    algorithm=st.sampled_from(["hill_climbing", "tabu", "exact"]),
    order=st.permutations(range(8)),
    picks=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=4),
    bans=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20),
    max_indegree=st.sampled_from([None, 1, 2]),
)
def test_every_visited_structure_obeys_the_constraints(
    seed: int,
    algorithm: AlgorithmName,
    order: list[int],
    picks: list[tuple[int, int]],
    bans: list[tuple[int, int]],
    max_indegree: int | None,
) -> None:
    limit = 7 if max_indegree is None else max_indegree
    required: list[tuple[int, int]] = []
    for a, b in picks:  # along an order, so that they cannot form a cycle
        edge = (order[min(a, b)], order[max(a, b)])
        if a != b and sum(child == edge[1] for _, child in required) < limit and edge not in required:
            required.append(edge)
    forbidden = [(a, b) for a, b in bans if a != b and (a, b) not in required]
    codes = random_codes(seed, 200, CARDINALITIES)
    with recorded() as structures:
        found = learn(
            codes,
            CARDINALITIES,
            algorithm=algorithm,
            restarts=4,
            rng=np.random.default_rng(0),
            required_edges=required,
            forbidden_edges=forbidden,
            max_indegree=max_indegree,
        )
    structures.append(tuple(sum(1 << p for p in parents) for parents in found.parents))
    for masks in structures:
        edges = {(parent, child) for child, mask in enumerate(masks) for parent in members(mask)}
        assert edges >= set(required)
        assert edges.isdisjoint(forbidden)
        assert all(mask.bit_count() <= limit for mask in masks)
        assert not find_cycle(masks)


def test_restarts_use_the_given_generator_and_no_other() -> None:
    codes = random_codes(1, 200, CARDINALITIES)
    before = str(np.random.get_state())  # noqa: NPY002
    results = []
    for seed in (1, 1, 2):
        with recorded() as visited:
            results.append(
                (learn(codes, CARDINALITIES, restarts=5, rng=np.random.default_rng(seed)), visited)
            )
    assert str(np.random.get_state()) == before  # noqa: NPY002
    assert results[0] == results[1]
    assert results[0][1] != results[2][1]  # another seed goes other ways
    used, unused = np.random.default_rng(1), np.random.default_rng(1)
    learn(codes, CARDINALITIES, rng=used)
    assert used.bit_generator.state == unused.bit_generator.state


def test_sixty_columns() -> None:
    rng = np.random.default_rng(0)
    cardinalities = rng.integers(2, 7, 60)
    codes = random_codes(0, 500, cardinalities.tolist())
    found = learn(codes, cardinalities, algorithm="hill_climbing")
    assert {tuple(sorted(edge)) for edge in edges_of(found)} >= {(i, i + 1) for i in range(0, 59, 7)}
    assert not find_cycle([sum(1 << p for p in parents) for parents in found.parents])


def test_a_single_column_has_no_parents() -> None:
    codes = np.zeros((4, 1), dtype=np.int16)
    found = learn(codes, [2], restarts=2, rng=np.random.default_rng(0))
    assert (found.parents, edges_of(found)) == (((),), ())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"required_edges": [(0, 1), (1, 2), (2, 0)]},
            r"form a cycle.*column 0 \('a'\) → column 1 \('b'\) → column 2 \('c'\)",
        ),
        (
            {"required_edges": [(0, 1)], "forbidden_edges": [(0, 1)]},
            r"both required and forbidden.*0 \('a'\)",
        ),
        ({"required_edges": [(0, 2), (1, 2)], "max_indegree": 1}, r"largest in-degree at column 2 \('c'\)"),
        ({"required_edges": [(1, 1)]}, r"form a cycle.*column 1 \('b'\) → column 1 \('b'\)"),
    ],
)
@pytest.mark.parametrize("algorithm", ["hill_climbing", "tabu", "exact"])
def test_contradictions_name_their_columns(
    settings: dict[str, Any], message: str, algorithm: AlgorithmName
) -> None:
    codes = np.zeros((5, 3), dtype=np.int16)
    with pytest.raises(NetworkError, match=message):
        learn(codes, [2, 2, 2], algorithm=algorithm, **{"names": "abc", **settings})
