import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.bias import make_bias
from benchmark.bias.base import BiasEdit
from benchmark.bias.cpt import CptBias, apply_bias
from benchmark.errors import BiasError, UnknownNameError
from benchmark.network.model import Network, discrimination, joint_distribution
from tests.helpers.networks import random_network

BETAS = st.floats(0, 1, allow_nan=False)


def conditional(network: Network) -> np.ndarray:
    """Return P(label | sensitive feature), shape (groups, 2), by exact inference."""
    joint = joint_distribution(network, ["x0", "x1"])
    return joint / joint.sum(axis=1, keepdims=True)


def test_the_papers_toy_table(toy: Network) -> None:
    assert discrimination(toy) == pytest.approx(0.17)
    biased = apply_bias(toy, [BiasEdit("s", "deprived")], 0.5)
    np.testing.assert_allclose(biased.cpts[1], [[0.63, 0.37], [0.90, 0.10]])
    assert discrimination(biased) == pytest.approx(0.27)
    planted = make_bias(CptBias(edits=(BiasEdit("s", "deprived"),))).plant(toy, 0.5)
    np.testing.assert_array_equal(planted.network.cpts[1], biased.cpts[1])


@given(seed=st.integers(0, 1000), beta=BETAS)
def test_several_edits_act_together_and_rows_stay_distributions(seed: int, beta: float) -> None:
    network = random_network(seed)
    edits = [BiasEdit("x0", "s0"), BiasEdit("x0", "s1", "favor")]
    before, after = conditional(network), conditional(apply_bias(network, edits, beta))
    assert after[0, 1] == pytest.approx((1 - beta) * before[0, 1], abs=1e-12)
    assert after[1, 0] == pytest.approx((1 - beta) * before[1, 0], abs=1e-12)
    np.testing.assert_allclose(apply_bias(network, edits, beta).cpts[1].sum(axis=1), 1.0, atol=1e-12)


def test_beta_zero_changes_nothing_at_all() -> None:
    network = random_network(1)
    biased = apply_bias(network, [BiasEdit("x0", "s0")], 0.0)
    for ours, theirs in zip(biased.cpts, network.cpts, strict=True):
        assert np.array_equal(ours, theirs)


def test_only_the_labels_table_changes_and_the_learned_network_is_kept() -> None:
    network = random_network(2)
    copy = [cpt.copy() for cpt in network.cpts]
    biased = apply_bias(network, [BiasEdit("x0", "s0")], 0.7)
    assert all(np.array_equal(a, b) for a, b in zip(network.cpts, copy, strict=True))
    changed = [i for i, (a, b) in enumerate(zip(biased.cpts, copy, strict=True)) if not np.array_equal(a, b)]
    assert changed == [1]


@pytest.mark.parametrize("beta", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_beta_out_of_range_is_refused(toy: Network, beta: float) -> None:
    with pytest.raises(BiasError, match="out of range"):
        apply_bias(toy, [BiasEdit("s", "deprived")], beta)


def test_an_attribute_that_is_no_parent_is_refused_with_the_way_out() -> None:
    network = random_network(0)
    stranger = next(
        name for i, name in enumerate(network.schema.names) if i != 1 and i not in network.parents[1]
    )
    with pytest.raises(BiasError, match="required_edges") as caught:
        apply_bias(network, [BiasEdit(stranger, "s0")], 0.5)
    assert stranger in str(caught.value)
    ignored = apply_bias(network, [BiasEdit(stranger, "s0", if_not_parent="ignore")], 0.5)
    assert np.array_equal(ignored.cpts[1], network.cpts[1])


def test_unknown_groups_attributes_and_the_label_itself_are_refused(toy: Network) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'deprived'"):
        apply_bias(toy, [BiasEdit("s", "depraved")], 0.5)
    with pytest.raises(UnknownNameError, match="no column"):
        apply_bias(toy, [BiasEdit("sex", "deprived")], 0.5)
    with pytest.raises(BiasError, match="label itself"):
        apply_bias(toy, [BiasEdit("y", "+")], 0.5)
