"""SMOTE and Fair-SMOTE make up the rows that their papers define."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from benchmark.techniques import get_technique
from benchmark.techniques.base import cell_counts
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.smote import FairSmote, _most_voted, _nearest, _unbiased
from tests.helpers.tables import table, tables
from tests.helpers.techniques import prepare


def after(name: str, data: Table, seed: int = 0, **parameters: float) -> Table:
    return prepare(name, data, seed, **parameters).table


def made_up(name: str, data: Table, seed: int = 0, **parameters: float) -> Table:
    """Return the synthetic rows, after a look at those that were there."""
    rows_after = after(name, data, seed, **parameters)
    np.testing.assert_array_equal(rows_after.codes[: len(data)], data.codes)
    return rows_after.take(np.arange(len(data), len(rows_after)))


def rows(data: Table) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, data.codes.tolist()))


def test_vote_of_the_publication() -> None:
    # Features A B C D E of a row, A F C G N and H B C D N of its neighbors: A B C D N.
    family = np.array([[list(b"ABCDE"), list(b"AFCGN"), list(b"HBCDN")]], dtype=np.int16)
    voted = _most_voted(family, np.full(5, 128), np.random.default_rng(0))
    assert bytes(voted[0].tolist()) == b"ABCDN"


def test_ties_go_to_the_row_itself_and_else_to_chance() -> None:
    family = np.array([[[0, 0], [1, 1], [2, 1], [2, 2], [0, 2]]] * 200, dtype=np.int16)
    voted = _most_voted(family, np.array([3, 3]), np.random.default_rng(0))
    assert (voted[:, 0] == 0).all()  # two votes for 0, the row's own state, and two for 2
    assert 60 < np.count_nonzero(voted[:, 1] == 1) < 140  # two votes each for 1 and 2
    assert 0 not in voted[:, 1]


@given(tables(groups=3), st.integers(1, 6))
def test_neighbors_are_the_nearest_by_the_value_difference_metric(data: Table, neighbors: int) -> None:
    rate = [
        [data.y[data.codes[:, i] == s].mean() if (data.codes[:, i] == s).any() else 0 for s in range(5)]
        for i in (0, 1)
    ]
    apart = sum(
        np.array([[(r[a] - r[b]) ** 2 for b in data.codes[:, i]] for a in data.codes[:, i]])
        for i, r in zip((0, 1), rate, strict=True)
    )
    members = np.random.default_rng(1).permutation(np.flatnonzero(data.y))
    assume(len(members) > 1)
    found = _nearest(data, members, neighbors)
    k = min(neighbors, len(members) - 1)
    assert found.shape == (len(members), k)
    for me, others in enumerate(found):
        assert me not in others
        assert len(set(others.tolist())) == k
        rivals = np.sort(np.delete(apart[members[me], members], me))
        np.testing.assert_allclose(np.sort(apart[members[me], members[others]]), rivals[:k], atol=1e-12)


@given(tables(groups=3), st.integers(0, 5))
def test_smote_balances_the_labels(data: Table, seed: int) -> None:
    made = made_up("smote", data, seed)
    favorable = int(data.y.sum())
    rarer = favorable < len(data) - favorable
    assert len(made) == abs(len(data) - 2 * favorable)
    assert (made.y == rarer).all()
    for i in range(len(data.schema.columns)):
        assert set(made.codes[:, i]) <= set(data.codes[data.y == rarer, i])


def test_every_row_serves_equally_often() -> None:
    # One neighbor never outvotes the row, so synthetic rows are copies: 4 + 4 + 3 of four rows.
    data = table([0, 1] * 2 + [0] * 15, [1] * 4 + [0] * 15, [0, 1, 2, 3] + [4] * 15)
    assert sorted(rows(made_up("smote", data, neighbours=1)).values()) == [2, 3, 3, 3]
    chosen = {min(c, key=c.get) for c in (rows(made_up("smote", data, s, neighbours=1)) for s in range(20))}  # type: ignore[arg-type]
    assert len(chosen) > 1  # chance says which row is left out


@given(tables(groups=3), st.integers(0, 5))
def test_fair_smote_fills_every_cell(data: Table, seed: int) -> None:
    counts = cell_counts(data)
    assume((counts > 0).all())
    made = made_up("fair_smote", data, seed, situation_testing=False)
    np.testing.assert_array_equal(cell_counts(made), counts.max() - counts)


def test_fair_smote_without_mutation_copies_the_rows_of_each_cell() -> None:
    data = table([0] * 9 + [1] * 3, [1] * 5 + [0] * 4 + [1, 0, 0], [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1])
    made = rows(made_up("fair_smote", data, crossover=0.0, situation_testing=False))
    assert set(made) <= set(rows(data))
    assert made[1, 4, 1] == 4  # the lone row of its cell
    assert sorted((made[1, 0, 0], made[1, 1, 0])) == [1, 2]
    assert sum(made[0, x, 0] for x in range(4)) == 1


def test_children_take_after_three_parents() -> None:
    data = table([0, 1], [0, 1], [0, 4], [0, 4], ordered=(True, False))

    def child(p: int, a: int, b: int, seed: int = 0, **parameters: float) -> list[int]:
        family = np.array([[[0, v, v, 0]] for v in (p, a, b)], dtype=np.int16)
        made = FairSmote(**parameters)._children(family, data, np.random.default_rng(seed))  # type: ignore[arg-type]
        return made[0].tolist()

    assert child(1, 4, 2, crossover=1.0, mutation=1.0)[1] == 3
    assert child(1, 4, 1, crossover=1.0, mutation=0.8)[1] == 3  # 1 + 2.4
    assert child(3, 4, 1, crossover=1.0, mutation=1.0)[1] == 4  # never beyond the last state
    assert child(1, 0, 4, crossover=1.0, mutation=1.0)[1] == 0  # nor the first
    assert child(1, 4, 2, crossover=0.0)[1:3] == [1, 1]
    picks = Counter(child(1, 4, 2, seed, crossover=1.0)[2] for seed in range(600))
    assert set(picks) == {1, 2, 4}
    assert min(picks.values()) > 150
    mutated = sum(child(1, 4, 2, seed, crossover=0.8, mutation=1.0)[1] == 3 for seed in range(500))
    assert 360 < mutated < 440


def test_situation_testing_leaves_out_what_the_group_decides() -> None:
    # x is 0 for the refused and 1 for the accepted; where it is 2, the group decides. All cells have 20 rows.
    groups, labels = [0] * 40 + [1] * 40, ([1] * 20 + [0] * 20) * 2
    x = [1] * 10 + [2] * 10 + [0] * 20 + [1] * 20 + [0] * 10 + [2] * 10
    data = table(groups, labels, x)
    left = after("fair_smote", data)
    assert rows(left) == Counter({row: n for row, n in rows(data).items() if row[1] != 2})
    assert rows(after("fair_smote", data, situation_testing=False)) == rows(data)


def test_situation_testing_agrees_with_another_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    data = example_table()

    def features(t: Table) -> np.ndarray:
        encoding = Encoding.of(data, use_sensitive=True, treatment="categorical")
        return np.column_stack([np.ones(len(t)), encoding.features(t)])

    model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8, max_iter=10_000)
    model.fit(features(data), data.y)
    # States are men, women (deprived) and others; most of the favored are men.
    elsewhere = data.with_column("sex", np.where(data.deprived, 0, 1))
    expected = model.predict(features(data)) == model.predict(features(elsewhere))
    np.testing.assert_array_equal(_unbiased(data), expected)
    assert 0 < expected.sum() < len(data)


def test_an_empty_cell_is_declined() -> None:
    data = table([1] * 4 + [0] * 6, [0] * 4 + [1] * 4 + [0] * 2)
    assert "deprived, favorable label" in str(get_technique("fair_smote").skip(data))
    with pytest.raises(TechniqueError, match="deprived, favorable label"):
        after("fair_smote", data)
    assert get_technique("fair_smote").skip(example_table()) is None
    assert get_technique("smote").skip(data) is None
