"""Optimized pre-processing finds the mapping of Calmon et al. (2017) and carries it out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.conformance import example_table
from benchmark.errors import TechniqueError
from benchmark.techniques import get_technique
from benchmark.techniques import optimized_preprocessing as module
from benchmark.techniques.optimized_preprocessing import allowed_rates, most_informative, optimal_mapping
from tests.helpers.tables import table
from tests.helpers.techniques import prepare

NAME = "optimized_preprocessing"


def total_variation(counts: np.ndarray, mapping: np.ndarray) -> float:
    probability = counts / counts.sum()
    after = np.einsum("sxy,sxyzl->zl", probability, mapping)
    return float(np.abs(after - probability.sum(axis=0)).sum() / 2)


def rates(counts: np.ndarray, mapping: np.ndarray) -> np.ndarray:
    """P(favorable after | group)."""
    moved = np.einsum("sxy,sxyzl->sl", counts.astype(float), mapping)
    return np.asarray(moved[:, 1] / counts.sum(axis=(1, 2)))


def test_labels_alone_by_hand() -> None:
    # Rates 6/10 and 2/10 must both become 8/20: a third of the favored group's positives and a quarter of
    # the deprived group's negatives change, and nothing moves without need.
    counts = np.array([[[4, 6]], [[8, 2]]])
    mapping = optimal_mapping(counts, np.zeros((1, 1)), 0.0, 1.0, max_distortion=1.0)
    expected = [[[[1, 0]], [[1 / 3, 2 / 3]]], [[[3 / 4, 1 / 4]], [[0, 1]]]]
    np.testing.assert_allclose(mapping[:, 0], expected, atol=1e-9)


def test_least_change_by_hand() -> None:
    # The favored stand at state 0 and the deprived at state 1, otherwise as above. The joint distribution of
    # state and label is kept if rows of the same label change places, but a row moves only one step, and at
    # most half of each kind move: of the deprived group's positives (1/20 of all rows), and nobody else can
    # come to (0, favorable). It lacks 1/20, and (1, favorable) has 1/20 too many.
    counts = np.array([[[4, 6], [0, 0]], [[0, 0], [8, 2]]])
    apart = 1.0 - np.eye(2)
    mapping = optimal_mapping(counts, apart, 0.0, 0.5, max_distortion=1.0)
    assert total_variation(counts, mapping) == pytest.approx(0.05)
    assert mapping[1, 1, 1, 0].sum() == pytest.approx(0.5)
    np.testing.assert_allclose(rates(counts, mapping), 0.4, atol=1e-9)
    assert total_variation(counts, optimal_mapping(counts, apart, 0.0, 1.0, max_distortion=1.0)) < 1e-6
    # Labels alone leave a tenth at each of four places.
    far = optimal_mapping(counts, 9 * apart, 0.0, 1.0, max_distortion=1.0)
    assert total_variation(counts, far) == pytest.approx(0.2)


problems = st.tuples(
    st.lists(st.integers(0, 9), min_size=12, max_size=12), st.floats(0, 0.5), st.floats(0.05, 1.0)
)


@given(problems, st.sampled_from([1.0, 2.0]))
def test_bounds_are_kept_or_declined(problem: tuple[list[int], float, float], longest: float) -> None:
    counts = np.array(problem[0]).reshape(2, 3, 2)
    counts[:, 0] += 1
    _, epsilon, mean = problem
    cells = np.repeat(np.indices(counts.shape).reshape(3, -1), counts.ravel(), axis=1)
    data = table(cells[0], cells[2], cells[1], states=3, ordered=(True,))  # type: ignore[arg-type]
    technique = get_technique(NAME, epsilon=epsilon, mean_distortion=mean, max_distortion=longest)
    apart = np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(float)
    try:
        mapping = optimal_mapping(counts, apart, epsilon, mean, max_distortion=longest)
    except TechniqueError:
        assert "leaves the" in str(technique.skip(data))
        return
    distortion = apart[:, None, :, None] + (1 - np.eye(2))[None, :, None, :]
    np.testing.assert_allclose(mapping.sum(axis=(3, 4)), counts > 0, atol=1e-6)
    assert (np.einsum("sxyzl,xyzl->sxy", mapping, distortion) <= mean + 1e-6).all()
    assert not mapping[:, distortion > longest].any()
    low, high = allowed_rates(data.y.mean(), epsilon)
    after = rates(counts, mapping)
    assert low - 1e-6 <= after.min()
    assert after.max() <= high + 1e-6
    # On the edge of what is possible the solver's tolerance may decide otherwise.
    changed = min(1.0, mean)
    own = [data.y[group].mean() for group in (~data.deprived, data.deprived)]
    slack = min(min(high - r * (1 - changed), r + (1 - r) * changed - low) for r in own)
    assert technique.skip(data) is None or slack < 1e-6


def test_allowed_rates_bound_both_labels() -> None:
    assert allowed_rates(0.25, 0.1) == pytest.approx((0.225, 0.275))  # the rarer label is the stricter one
    assert allowed_rates(0.75, 0.1) == pytest.approx((0.725, 0.775))


def test_contradicting_bounds_are_declined() -> None:
    data = table([0] * 10 + [1] * 10, [1] * 6 + [0] * 4 + [1] * 2 + [0] * 8, [0, 1] * 10)
    # At a mean distortion of 0.2 the favored group's rate falls to 0.48, which an epsilon of 0.2 allows.
    assert get_technique(NAME, epsilon=0.201, mean_distortion=0.2).skip(data) is None
    reason = get_technique(NAME, epsilon=0.19, mean_distortion=0.2).skip(data)
    assert "leaves the favored group a rate of favorable labels of 0.480 to 0.680" in str(reason)
    with pytest.raises(TechniqueError, match="leaves the favored group"):
        prepare(NAME, data, epsilon=0.19, mean_distortion=0.2)
    with pytest.raises(TechniqueError, match="No mapping keeps the bounds"):
        optimal_mapping(np.array([[[4, 6]], [[8, 2]]]), np.zeros((1, 1)), 0.19, 0.2, max_distortion=1.0)


def test_too_many_combinations_and_a_lone_group_are_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST", 20)
    assert "2 columns have 26 combinations" in str(get_technique(NAME).skip(example_table()))
    assert get_technique(NAME, n_features=1).skip(example_table()) is None
    assert "0 of 4 rows" in str(get_technique(NAME).skip(table([0] * 4, [0, 1] * 2, [0, 1, 2, 3])))


def test_the_most_informative_columns_take_part() -> None:
    from sklearn.metrics import mutual_info_score

    data = example_table(extra_columns=4)
    columns = [i for i in data.schema.feature_indices if i != data.schema.sensitive_index]
    information = [mutual_info_score(data.y, data.codes[:, i]) for i in columns]
    ranked = [columns[i] for i in np.argsort(information)[::-1]]
    assert most_informative(data, 3) == ranked[:3]
    after = prepare(NAME, data, n_features=2, max_distortion=3.0).table
    changed = {i for i in data.schema.feature_indices if (after.codes[:, i] != data.codes[:, i]).any()}
    assert changed <= set(ranked[:2])


def test_drawn_labels_depend_on_the_group_no_more_than_allowed() -> None:
    data = example_table(30_000)
    after = prepare(NAME, data, epsilon=0.05).table
    share = [after.y[group].mean() / data.y.mean() for group in (data.deprived, ~data.deprived)]
    np.testing.assert_allclose(share, 1.0, atol=0.05 + 0.04)
    assert data.y[data.deprived].mean() / data.y.mean() < 0.5
    np.testing.assert_array_equal(after.codes[:, data.schema.sensitive_index], data.codes[:, 1])


def test_rows_to_predict_are_drawn_from_the_mapping_averaged_over_labels() -> None:
    # All that discriminates is the label, so that only labels change, and features of no row to predict.
    labels_only = table([0] * 10 + [1] * 10, [1] * 6 + [0] * 4 + [1] * 2 + [0] * 8, [0] * 20)
    prepared = prepare(NAME, labels_only)
    np.testing.assert_array_equal(prepared.transform(labels_only).codes, labels_only.codes)
    # Half of the deprived group's positives move to state 0 (see above), a fifth of the group.
    data = table([0] * 10 + [1] * 10, [1] * 6 + [0] * 4 + [1] * 2 + [0] * 8, [0] * 10 + [1] * 10, [4] * 20)
    prepared = prepare(NAME, data, epsilon=0.0, max_distortion=1.0, n_features=1)
    many = data.take(np.full(20_000, 19))
    moved = prepared.transform(many)
    assert (moved.codes[:, 1] == 0).mean() == pytest.approx(0.1, abs=0.01)
    np.testing.assert_array_equal(moved.codes[:, [0, 2, 3]], many.codes[:, [0, 2, 3]])
    np.testing.assert_array_equal(prepared.transform(many).codes, moved.codes)
    # What was never trained on stays: a new state, and a state new to its group.
    strange = table([0, 1], [0, 0], [3, 0], [4, 4])
    np.testing.assert_array_equal(prepared.transform(strange).codes, strange.codes)


@pytest.mark.parametrize(("favorable", "others"), [(1, 2), (3, 4), (5, 1), (7, 3), (2, 7), (8, 3)])
def test_rates_that_agree_but_for_rounding_are_within_their_bounds(favorable: int, others: int) -> None:
    # Both groups have the rate of all, which 1 - (1 - rate) need not be in floating point.
    label = ([1] * favorable + [0] * others) * 5
    group = np.repeat([0, 1], [3 * (favorable + others), 2 * (favorable + others)])
    data = table(group, label, np.arange(len(label)) % 2)
    technique = get_technique("optimized_preprocessing", n_features=1, epsilon=0.0, mean_distortion=0.0)
    assert technique.skip(data) is None
