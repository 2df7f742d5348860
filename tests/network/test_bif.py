from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data import Column, Schema, Table
from benchmark.errors import NetworkError
from benchmark.network.bif import read_bif, state_tokens, write_bif
from benchmark.network.model import Network, fit_network
from tests.helpers.networks import random_network


def assert_same(one: Network, other: Network, atol: float = 0.0) -> None:
    assert one.parents == other.parents
    for a, b in zip(one.cpts, other.cpts, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)


@pytest.mark.parametrize("seed", range(5))
def test_reading_what_was_written_gives_the_same_numbers(tmp_path: Path, seed: int) -> None:
    network = random_network(seed)
    path = tmp_path / "n.bif"
    write_bif(network, path)
    first = path.read_bytes()
    assert_same(read_bif(path, network.schema), network)
    write_bif(read_bif(path, network.schema), path)
    assert path.read_bytes() == first


def test_pgmpy_reads_ours_and_we_read_pgmpys(tmp_path: Path) -> None:
    from pgmpy.readwrite import BIFReader, BIFWriter

    network = random_network(4)
    ours, theirs = tmp_path / "ours.bif", tmp_path / "theirs.bif"
    write_bif(network, ours)
    model = BIFReader(str(ours)).get_model()
    assert model.check_model()
    assert sorted(model.edges()) == sorted(network.edges)
    for i, column in enumerate(network.schema.columns):
        cpd = model.get_cpds(column.name)
        values = cpd.get_values().T
        if cpd.variables[1:] == [network.schema.names[p] for p in network.parents[i]]:
            np.testing.assert_allclose(values, network.cpts[i], atol=1e-12)
    BIFWriter(model).write(str(theirs))
    assert_same(read_bif(theirs, network.schema), network, atol=1e-12)


@pytest.mark.oracle
@pytest.mark.parametrize("table", ["adult", "compas", "dutch"])
def test_bnlearns_files_are_read_and_agree_with_our_fit(oracle_dir: Path, table: str) -> None:
    frame = pd.read_csv(oracle_dir / f"tables/{table}.csv.gz", dtype=str, keep_default_na=False)
    columns = tuple(Column(name, tuple(sorted(frame[name].unique()))) for name in frame)
    label, sensitive = columns[-1], next(c for c in columns if c.name in ("sex", "race"))
    schema = Schema(columns, label.name, label.states[0], sensitive.name, sensitive.states[0])
    theirs = read_bif(oracle_dir / f"networks/bnlearn_{table}_tabu_bic.bif", schema)
    # bnlearn leaves unseen configurations uniform too, and prints about eight digits.
    assert_same(fit_network(Table.from_frame(frame, schema), theirs.parents), theirs, atol=1e-6)


def test_tokens_are_plain_and_distinct() -> None:
    column = Column("x", ("<=50K", ">50K", "17-24", "17 24", "Trinadad&Tobago", "?", "_"))
    tokens = state_tokens(column)
    assert len(set(tokens)) == len(tokens)
    assert all(token.isidentifier() for token in tokens)
    assert tokens[:3] == ("le_50K", "gt_50K", "v17_24")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace("s1", "t1"), "states of"),
        (lambda text: text[: len(text) // 2], "missing|incomplete"),
        (lambda text: text.replace("variable x0", "variable z0"), "variable"),
        (lambda _: "", "missing"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, damage, message: str) -> None:
    network = random_network(0)
    path = tmp_path / "n.bif"
    write_bif(network, path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(NetworkError, match=message):
        read_bif(path, network.schema)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    schema = Schema((Column("s", ("a", "b")), Column("y", ("-", "+"))), "y", "+", "s", "a")
    with pytest.raises(NetworkError, match="Cannot read"):
        read_bif(tmp_path / "none.bif", schema)
