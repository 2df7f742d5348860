"""Kinds of planted bias: how much, and nothing else."""

import pickle

import numpy as np
import pytest

from benchmark.bias import Bias, BiasKind, Planted, list_bias_kinds, make_bias
from benchmark.bias.base import BiasEdit, register
from benchmark.bias.cpt import CptBias, check_edits
from benchmark.data.card import load_card
from benchmark.data.table import Table
from benchmark.errors import BiasError, UnknownNameError
from benchmark.experiment.prepare import embedded_network_path
from benchmark.network.bif import read_bif
from benchmark.network.model import Network, group_rates
from tests.helpers.protocol import made

KINDS = ["cpt", "label", "proxy", "selection"]
EDITS = (BiasEdit("sex", "2"),)


@pytest.fixture(scope="module")
def network() -> Network:
    card = load_card("dutch")
    path = embedded_network_path(card)
    return read_bif(path, card.schema())


def kind(name: str) -> Bias:
    return make_bias(CptBias(edits=EDITS) if name == "cpt" else name)


def drawn(network: Network, name: str, beta: float, rows: int = 40_000, seed: int = 1) -> Table:
    return kind(name).plant(network, beta).draw(rows, np.random.default_rng(seed))


def rates(table: Table) -> tuple[float, float]:
    return table.y[~table.deprived].mean(), table.y[table.deprived].mean()


def test_what_is_built_in() -> None:
    assert set(KINDS) < set(list_bias_kinds())
    assert len(list_bias_kinds()) >= 14
    with pytest.raises(UnknownNameError, match="did you mean 'label'"):
        make_bias("labels")


def test_label_bias_changes_labels_of_the_deprived_and_nothing_else(network: Network) -> None:
    true, biased = drawn(network, "label", 0.0), drawn(network, "label", 0.5)
    label = network.schema.label_index
    np.testing.assert_array_equal(
        np.delete(true.codes, label, axis=1), np.delete(biased.codes, label, axis=1)
    )
    changed = true.y != biased.y
    assert changed.any()
    assert true.y[changed].all()
    assert true.deprived[changed].all()
    share = changed.sum() / (true.deprived & true.y).sum()
    assert share == pytest.approx(0.5, abs=0.02)


def test_selection_leaves_true_rows_only(network: Network) -> None:
    """Within each group and label, what is kept looks like what there was; the group shrinks."""
    favored, deprived = group_rates(network)
    true, biased = drawn(network, "selection", 0.0), drawn(network, "selection", 0.8)
    share = true.deprived.mean()
    kept = 1 - 0.8 * share * deprived
    assert biased.deprived.mean() == pytest.approx(share * (1 - 0.8 * deprived) / kept, abs=0.01)
    assert rates(biased)[0] == pytest.approx(favored, abs=0.01)
    for table in (true, biased):
        cell = table.deprived & table.y
        age = np.bincount(table.codes[cell, 1], minlength=12) / cell.sum()
        np.testing.assert_allclose(
            age,
            np.bincount(true.codes[true.deprived & true.y, 1], minlength=12) / (true.deprived & true.y).sum(),
            atol=0.03,
        )


def test_a_proxy_tells_the_label_of_the_deprived_and_nothing_else(network: Network) -> None:
    true, biased = drawn(network, "cpt", 0.0), drawn(network, "proxy", 0.8)
    np.testing.assert_array_equal(biased.codes[:, :-1], true.codes)
    assert biased.schema.names == (*true.schema.names, "proxy")
    proxy = biased.codes[:, -1] == 1
    for told, rows in ((0.9, biased.deprived), (0.5, ~biased.deprived)):
        for label in (True, False):
            cell = rows & (biased.y == label)
            assert (proxy[cell] == label).mean() == pytest.approx(told, abs=0.02)


def test_rows_to_test_on_get_the_proxy_as_well(network: Network) -> None:
    bias, test = kind("proxy"), drawn(network, "cpt", 0.0, 5000, seed=2)
    assert bias.records_anew
    observed = bias.observe(test, 1.0, np.random.default_rng(7))
    np.testing.assert_array_equal(observed.codes[:, :-1], test.codes)
    assert (observed.codes[observed.deprived, -1] == observed.y[observed.deprived]).all()


@pytest.mark.parametrize("beta", [-0.1, 1.1, float("nan")])
def test_levels_out_of_range_are_refused(network: Network, beta: float) -> None:
    with pytest.raises(BiasError, match=r"out of range.*What to do: correct 'betas'"):
        kind("label").plant(network, beta)


def test_an_edit_of_the_label_itself_is_refused(network: Network) -> None:
    schema = network.schema
    edit = BiasEdit(schema.label, schema.favorable_label)
    with pytest.raises(
        BiasError, match=r"acts on the label itself.*What to do: name one of the label's parents"
    ):
        check_edits(schema, [edit])


def test_an_incomplete_kind_is_not_registered() -> None:
    class Half(BiasKind):
        name = "half"
        summary = "half"
        reference = ""
        version = "1"

    with pytest.raises(
        BiasError, match=r"implements none of edited, chances and recorded; .*'reference' is not a text"
    ):
        register(Half)


def test_an_experiment_names_kinds() -> None:
    edited, missing = (
        {"edits": [{"attribute": "sex", "group": "2"}]},
        {"kind": "selection", "name": "missing"},
    )
    bias = [edited, "label", missing, "proxy"]
    datasets = [{"card": "dutch", "bias": bias}]
    made_up = made(datasets=datasets, techniques=["none"], betas=[0.0, 0.5], repetitions=1, train_rows=500)
    assert [bias.name for bias in made_up.experiment.datasets[0].bias] == ["cpt", "label", "missing", "proxy"]
    data = made_up.datasets["dutch"]
    assert {name: own.steps[0].name for name, own in data.biases.items()} == {
        "cpt": "cpt",
        "label": "label",
        "missing": "selection",
        "proxy": "proxy",
    }
    planted = data.planted("label", 0.5)
    assert isinstance(planted, Planted)
    again = pickle.loads(pickle.dumps(data))  # as workers get it
    rows = again.planted("label", 0.5).draw(100, np.random.default_rng(0))
    np.testing.assert_array_equal(rows.codes, planted.draw(100, np.random.default_rng(0)).codes)
