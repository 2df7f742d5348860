"""Local scores against hand-made, textbook and other programs' values."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.data.card_parts import ScoreName
from benchmark.network import structure_scores as scores_module
from benchmark.network.structure_scores import SetScores, collapse, members
from tests.helpers.structures import (
    TABLES,
    oracle_parents,
    oracle_score,
    oracle_table,
    random_codes,
    structure_score,
    textbook_score,
)

BOTH: tuple[ScoreName, ...] = ("bic", "bdeu")


def test_bic_and_bdeu_of_two_columns_by_hand() -> None:
    codes = np.array([[0, 0], [0, 0], [0, 1], [1, 1]], dtype=np.int16)
    root = 3 * math.log(3 / 4) + math.log(1 / 4) - math.log(4) / 2
    leaf = 2 * math.log(2 / 3) + math.log(1 / 3) - math.log(4) / 2 * 2
    assert structure_score(codes, [2, 2], [(), (0,)]) == pytest.approx(root + leaf, abs=1e-12)
    # Sequential prediction: (count + a) / (rows + r a) with a = 1/2 for the root, 1/4 below it.
    root = math.log(0.5 / 1 * 1.5 / 2 * 2.5 / 3 * 0.5 / 4)
    leaf = math.log(0.25 / 0.5 * 1.25 / 1.5 * 0.25 / 2.5 * 0.25 / 0.5)
    bdeu = structure_score(codes, [2, 2], [(), (0,)], score="bdeu")
    assert bdeu == pytest.approx(root + leaf, abs=1e-12)


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 900),
    cardinalities=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    score=st.sampled_from(BOTH),
    ess=st.floats(0.01, 100),
    data=st.data(),
)
def test_every_family_has_the_textbook_score(
    seed: int, n_rows: int, cardinalities: list[int], score: ScoreName, ess: float, data: st.DataObject
) -> None:
    codes = random_codes(seed, n_rows, cardinalities)
    child = data.draw(st.integers(0, len(cardinalities) - 1))
    parents = data.draw(st.integers(0, 2 ** len(cardinalities) - 1)) & ~(1 << child)
    expected = textbook_score(codes, cardinalities, child, list(members(parents)), score, ess)
    ours = SetScores(collapse(codes, cardinalities), score, ess).family(child, parents)
    assert ours == pytest.approx(expected, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("score", BOTH)
def test_tables_and_grouping_count_alike(score: ScoreName, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = random_codes(1, 2_000, [7, 40, 3, 90])
    masks = range(1, 16)
    tables = SetScores(collapse(codes, [7, 40, 3, 90]), score)
    tables._dense = 2**31 - 1
    monkeypatch.setattr(scores_module, "_DENSE", 0)
    monkeypatch.setattr(scores_module, "_LEAST_DENSE", 0)
    grouped = SetScores(collapse(codes, [7, 40, 3, 90]), score)
    assert [grouped.of(mask) for mask in masks] == [tables.of(mask) for mask in masks]


@pytest.mark.parametrize("score", BOTH)
def test_equivalent_structures_tie_exactly(score: ScoreName) -> None:
    codes = random_codes(5, 3000, [3, 4, 2, 5])
    chains = [
        [(), (0,), (1,), (2,)],
        [(1,), (), (1,), (2,)],
        [(1,), (2,), (), (2,)],
        [(1,), (2,), (3,), ()],
    ]
    assert len({structure_score(codes, [3, 4, 2, 5], chain, score=score) for chain in chains}) == 1
    complete = [[(), (0,), (0, 1)], [(1, 2), (2,), ()], [(2,), (0, 2), ()]]
    assert len({structure_score(codes[:, :3], [3, 4, 2], dag, score=score) for dag in complete}) == 1


@pytest.mark.parametrize("score", BOTH)
def test_the_order_of_rows_changes_no_bit(score: ScoreName) -> None:
    cardinalities = [3, 50, 4]
    codes = random_codes(3, 50_000, cardinalities)
    other = np.random.default_rng(0).permutation(codes)
    first, second = (SetScores(collapse(c, cardinalities), score) for c in (codes, other))
    assert [first.of(mask) for mask in range(8)] == [second.of(mask) for mask in range(8)]


def test_toggles_are_differences_of_families() -> None:
    cardinalities = [3, 4, 2, 5, 2]
    ours = SetScores(collapse(random_codes(4, 500, cardinalities), cardinalities))
    fresh = SetScores(collapse(random_codes(4, 500, cardinalities), cardinalities))
    changes = ours.toggles(2, 0b01001)
    assert changes[2] == -math.inf
    for column in (0, 1, 3, 4):
        change = fresh.family(2, 0b01001 ^ 1 << column) - fresh.family(2, 0b01001)
        assert changes[column] == change


@pytest.mark.parametrize(("n_columns", "cardinality"), [(3, 2), (16, 16), (17, 16), (60, 9), (9, 30_000)])
def test_collapsing_gives_the_distinct_rows(n_columns: int, cardinality: int) -> None:
    rng = np.random.default_rng(n_columns)
    some = rng.integers(0, cardinality, (200, n_columns)).astype(np.int16)
    codes = np.asfortranarray(some[rng.integers(0, 200, 3000)])
    codes.flags.writeable = False
    rows = collapse(codes, [cardinality] * n_columns)
    expected, counts = np.unique(codes, axis=0, return_counts=True)
    order = np.lexsort(rows.codes[::-1])
    np.testing.assert_array_equal(rows.codes.T[order], expected)
    np.testing.assert_array_equal(rows.weights[order], counts)


@pytest.mark.oracle
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("algorithm", ["hc", "tabu"])
@pytest.mark.parametrize("score", ["bic", "bde"])
def test_structures_of_bnlearn_have_its_scores(
    oracle_dir: Path, table: str, algorithm: str, score: str
) -> None:
    codes, cardinalities, names = oracle_table(oracle_dir, table)
    parents = oracle_parents(oracle_dir, f"bnlearn_{table}_{algorithm}_{score}", names)
    row = oracle_score(oracle_dir, table, "bnlearn", algorithm, score)
    ours: ScoreName = "bic" if score == "bic" else "bdeu"
    assert structure_score(codes, cardinalities, parents, score=ours) == pytest.approx(row["value"], abs=1e-6)
    assert structure_score(codes, cardinalities, parents) == pytest.approx(row["bic"], abs=1e-6)
