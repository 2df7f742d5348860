"""The correlation remover subtracts what fairlearn's does."""

from dataclasses import replace

import fairlearn
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from benchmark.conformance import example_table
from benchmark.data.table import Column, Table
from benchmark.errors import DeclinedError
from benchmark.techniques import Prepared
from benchmark.techniques.correlation_remover import residuals
from benchmark.techniques.encoding import between_extremes, equal_frequency_edges, new_features
from tests.helpers.tables import table
from tests.helpers.techniques import prepare as prepared_by


def prepare(data: Table, seed: int = 0, **parameters: float | str) -> Prepared:
    return prepared_by(
        "correlation_remover", data, seed, **{"discretisation": "equal_frequency", **parameters}
    )


def group_counts(data: Table, i: int) -> np.ndarray:
    counts = np.zeros(data.schema.cardinalities[[data.schema.sensitive_index, i]], dtype=np.int64)
    np.add.at(counts, (data.codes[:, data.schema.sensitive_index], data.codes[:, i]), 1)
    return counts


def test_residuals_of_an_ordered_column() -> None:
    # Group 0 has states 0 and 1 (mean 1/2), group 1 twice state 1; the mean of all is 3/4.
    counts = np.array([[1, 1], [0, 2]])
    np.testing.assert_allclose(residuals(counts, True, 1.0)[:, :, 0], [[0.25, 1.25], [-0.25, 0.75]])
    np.testing.assert_allclose(residuals(counts, True, 0.5)[:, :, 0], [[0.125, 1.125], [-0.125, 0.875]])
    np.testing.assert_allclose(residuals(counts, True, 0.0)[:, :, 0], [[0, 1], [0, 1]])


def test_residuals_of_an_unordered_column() -> None:
    # Two states: the indicator of the rarer one. Three: from the most frequent to the rarest.
    np.testing.assert_allclose(residuals(np.array([[1, 1], [0, 2]]), False, 0.0)[0, :, 0], [1, 0])
    features = residuals(np.array([[1, 2, 3], [1, 2, 0]]), False, 0.0)
    np.testing.assert_allclose(features[0], [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


@pytest.mark.skipif(
    Version(fairlearn.__version__) < Version("0.15"),
    reason="fairlearn subtracted one mean from all sensitive columns before 0.15",
)
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_agrees_with_fairlearn_on_rows_trained_on_and_on_others(alpha: float) -> None:
    from fairlearn.preprocessing import CorrelationRemover

    train, test = example_table(extra_columns=3), example_table(200, seed=8, extra_columns=3)
    schema, sensitive = train.schema, train.schema.sensitive_index
    columns = [i for i in schema.feature_indices if i != sensitive]

    def encoded(rows: Table, level: float) -> np.ndarray:
        group = rows.codes[:, sensitive]
        values = [residuals(group_counts(train, i), schema.columns[i].ordered, level) for i in columns]
        made = [v[group, rows.codes[:, i]] for v, i in zip(values, columns, strict=True)]
        return np.column_stack(made)

    def theirs(rows: Table) -> np.ndarray:
        return np.column_stack([np.eye(3)[rows.codes[:, sensitive]], encoded(rows, 0.0)])

    remover = CorrelationRemover(sensitive_feature_ids=[0, 1, 2], alpha=alpha).fit(theirs(train))
    for rows in (train, test):
        np.testing.assert_allclose(encoded(rows, alpha), remover.transform(theirs(rows)), atol=1e-10)
    if alpha == 1.0:
        indicators = np.eye(3)[train.codes[:, sensitive]]
        centred = encoded(train, alpha) - encoded(train, alpha).mean(axis=0)
        np.testing.assert_allclose(indicators.T @ centred, 0.0, atol=1e-9)


def test_edges_by_hand() -> None:
    values = np.arange(4.0)
    np.testing.assert_allclose(equal_frequency_edges(values, np.ones(4), 2), [1.5])
    np.testing.assert_allclose(equal_frequency_edges(values, np.ones(4), 10), [0.5, 1.5, 2.5])
    # 3, 1, 1 and 1 rows in halves: the middle of the first value is at 1/4, that of the second at 7/12.
    np.testing.assert_allclose(equal_frequency_edges(values, np.array([3, 1, 1, 1]), 2), [0.5])
    np.testing.assert_allclose(equal_frequency_edges(values, np.array([1, 0, 0, 1]), 2), [1.5])
    assert len(equal_frequency_edges(values, np.array([0, 5, 0, 0]), 10)) == 0
    # Equal but for the last digits.
    assert len(equal_frequency_edges(np.array([0.1 + 0.2, 0.3]), np.ones(2), 10)) == 0


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 50)), min_size=1), st.integers(2, 20))
def test_pieces_are_few_and_none_is_empty(pairs: list[tuple[int, int]], bins: int) -> None:
    values, weight = np.array(pairs, dtype=float).T
    edges = equal_frequency_edges(values, weight, bins)
    piece = np.searchsorted(edges, values)
    assert len(edges) < bins
    np.testing.assert_array_equal(np.unique(piece), np.arange(len(edges) + 1))
    # A piece of several values holds no more than its share and half of the values at its ends.
    for p in range(len(edges) + 1):
        inside = np.unique(values[piece == p])
        if len(inside) > 1:
            ends = weight[np.isin(values, inside[[0, -1]])].sum() / 2
            assert weight[piece == p].sum() - ends <= weight.sum() / bins + 1e-9


def test_the_classifier_sees_new_columns_only() -> None:
    data = example_table()
    prepared = prepare(data)
    schema = prepared.table.schema
    # skill, the 4 states of proxy, and the 3 states of noise that occur
    assert schema.names == ("label", "sex", *(prepared.features or ()))
    assert len(prepared.features or ()) == 1 + 4 + 3
    assert all(column.ordered for column in schema.columns[2:])
    np.testing.assert_array_equal(prepared.table.y, data.y)
    np.testing.assert_array_equal(prepared.table.deprived, data.deprived)
    np.testing.assert_array_equal(prepared.transform(data).codes, prepared.table.codes)
    np.testing.assert_array_equal(prepare(data, seed=1).table.codes, prepared.table.codes)


def test_codes_of_a_small_table() -> None:
    # The residuals are 0.25 and 1.25 in group 0, and -0.25 and 0.75 in group 1 (the state 0 is for testing).
    data = table([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1], states=2, ordered=(True,))
    prepared = prepare(data)
    assert prepared.table.codes[:, 2].tolist() == [0, 2, 1, 1]
    assert prepared.transform(table([1, 0], [0, 0], [0, 0], states=2, ordered=(True,))).codes[
        :, 2
    ].tolist() == [0, 0]
    # Two pieces: the middles of the three values are at 1/8, 1/2 and 7/8.
    assert prepare(data, bins=2).table.codes[:, 2].tolist() == [0, 1, 1, 1]


def test_rounding_at_random_hides_the_group_from_each_column() -> None:
    def apart(rows: Table) -> np.ndarray:
        group = rows.codes[:, rows.schema.sensitive_index]
        assert set(np.unique(rows.codes[:, 2:])) == {0, 1}
        mean = np.array([rows.codes[group == g, 2:].mean(axis=0) for g in range(3)])
        return np.asarray(mean - mean[0])

    data, few = example_table(40_000), example_table(2_000)
    prepared = prepare(data, discretisation="random_rounding")
    assert np.abs(apart(prepared.table)).max() < 0.03
    assert np.corrcoef(prepared.table.y, prepared.table.codes[:, 2])[0, 1] > 0.1  # the skill still shows
    # Rows that are equal share their lots: in the example they are few, and over many seeds they even out.
    drawn = []
    for seed in range(200):
        transform = prepare(few, seed, discretisation="random_rounding").transform
        drawn.append(apart(transform(few)))
    assert np.abs(np.mean(drawn, axis=0)).max() < 0.03


def test_persons_are_rounded_by_themselves() -> None:
    data = example_table(2_000, extra_columns=3)
    prepared = prepare(data, discretisation="random_rounding")
    codes = prepared.transform(data).codes
    order = np.random.default_rng(0).permutation(len(data))
    for rows in (order, order[:700], np.flatnonzero(data.deprived), order[:1]):
        np.testing.assert_array_equal(prepared.transform(data.take(rows)).codes, codes[rows])
    np.testing.assert_array_equal(prepared.transform(data.hide_label()).codes[:, 1:], codes[:, 1:])
    assert not np.array_equal(codes, prepared.table.codes)
    other = prepare(data, seed=1, discretisation="random_rounding").transform
    assert not np.array_equal(other(data).codes, codes)


def test_rounding_keeps_expectations_by_hand() -> None:
    # Least -0.25 and largest 1.25 of the residuals above; state 0 does not occur in group 1.
    counts = np.array([[1, 1], [0, 2]])
    share = between_extremes(residuals(counts, True, 1.0)[:, :, 0], counts)
    np.testing.assert_allclose(share, [[0, 1], [0, 0.5]])  # what is below the least counts as the least
    assert (counts * share).sum(axis=1).tolist() == [1, 1]  # alike in both groups of two rows
    assert not between_extremes(np.array([0.3, 0.1 + 0.2, 5.0]), np.array([1, 1, 0])).any()


def test_alpha_0_keeps_the_states() -> None:
    data = table([0, 1] * 20, [0, 1, 1, 0] * 10, [0, 1, 2, 3] * 10, ordered=(True,))
    np.testing.assert_array_equal(prepare(data, alpha=0.0).table.codes[:, 2], data.codes[:, 1])


def test_constant_columns_are_left_out() -> None:
    data = table([0, 1] * 4, [0, 1, 1, 0] * 2, [3] * 8, [0, 1, 2, 3] * 2, ordered=(True, True))
    assert len(prepare(data).features or ()) == 1
    with pytest.raises(DeclinedError, match=r"leaves nothing to learn from.*no features"):
        prepare(table([0, 1] * 4, [0, 1, 1, 0] * 2, [3] * 8, ordered=(True,)))


def test_new_names_meet_no_old_one() -> None:
    schema = table([0, 1], [0, 1], [0, 1]).schema
    columns = (schema.columns[0], schema.columns[1], Column("group: x0 0", ("no", "yes")))
    named = replace(schema, columns=columns, label="group: x0 0")
    assert len(set(new_features(named, [("x0 0", 3), ("x0 1", 2)]).names)) == 4
