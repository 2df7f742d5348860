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


SCHEMA = Schema(
    (Column("y", ("no", "yes")), Column("a", ("+", "-")), Column("b", ("A+", "A-", "0"))),
    "y",
    "yes",
    "a",
    "+",
)
Y = "variable y {\n  type discrete [ 2 ] { no, yes };\n}\n"
A = "variable a {\n  type discrete [ 2 ] { -, + };\n}\n"
B = "variable b {\n  type discrete [ 3 ] { 0, A-, A+ };\n}\n"
P_Y = "probability ( y ) {\n  table 3e-1, 0.7;\n}\n"
P_A = "probability ( a | y ) {\n  (no) 0.1, 0.9;\n  (yes) 0.8, 0.2;\n}\n"
P_B = (
    "probability ( b | a, y ) {\n  (-, no) 0.5, 0.3, 0.2;\n  (+, no) 0.1, 0.2, 0.7;\n"
    "  (-, yes) 0.6, 0.3, 0.1;\n  (+, yes) 0.2, 0.2, 0.6;\n}\n"
)
FILE = f"network u {{\n}}\n{Y}{A}{B}{P_Y}{P_A}{P_B}"
TURNED = FILE.replace("a, y )", "y, a )")
for _a in "+-":
    for _y in ("no", "yes"):
        TURNED = TURNED.replace(f"({_a}, {_y})", f"({_y}, {_a})")


@pytest.mark.parametrize("text", [FILE, f"network u {{\n}}\n{P_B}{P_A}{P_Y}{B}{A}{Y}", TURNED])
def test_states_parents_and_tables_may_come_in_any_order(text: str, tmp_path: Path) -> None:
    (tmp_path / "n.bif").write_text(text, encoding="utf-8")
    found = read_bif(tmp_path / "n.bif", SCHEMA)
    assert found.parents == ((), (0,), (0, 1))
    np.testing.assert_allclose(found.cpts[0], [[0.3, 0.7]])
    np.testing.assert_allclose(found.cpts[1], [[0.9, 0.1], [0.2, 0.8]])  # + and - given no, given yes
    expected = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.3, 0.6]]  # A+, A-, 0
    np.testing.assert_allclose(found.cpts[2], expected)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(no) 0.1, 0.9", "(no) 0.5", "the table of a does not fit"),
        ("(no) 0.1, 0.9", "(maybe) 0.1, 0.9", "the table of a does not fit"),
        ("table 3e-1, 0.7", "table 0.3, 0.6, 0.1", "the table of y does not fit"),
        ("table 3e-1", "table nothing", "the table of y does not fit"),
        ("(yes) 0.8, 0.2;", "", "the table of a is incomplete"),
        ("{ -, + }", "{ minus, plus }", "not the schema's. .*minus, plus"),
        ("variable y", "variable z", "not the schema's. .*z, a, b"),
        (P_Y, P_Y + P_Y, "the table of y is .*there twice"),
        (P_Y, "", "tables are missing"),
        ("probability ( y )", "probability ( z )", "the table of z does not fit"),
        (FILE, FILE[: len(FILE) // 2], "missing"),
        (FILE, "", "not the schema's"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in FILE
    (tmp_path / "n.bif").write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(NetworkError, match=message):
        read_bif(tmp_path / "n.bif", SCHEMA)
    with pytest.raises(NetworkError, match="Cannot read"):
        read_bif(tmp_path / "none.bif", SCHEMA)


@pytest.mark.parametrize(
    ("names", "states"),
    [
        (("性別", "採用", "学歴"), (("女", "男"), ("はい", "いいえ"), ("高校", "中学", "大学"))),
        (("пол", "принят", "1"), (("ж", "м"), ("да", "нет"), ("१", "ख़", "né"))),
        (("a+b", "a-b", "a b"), (("+", "-"), ("A+", "A-"), ("😀", "<=1", "a,b"))),
    ],
)
def test_names_in_any_script_come_back(
    names: tuple[str, ...], states: tuple[tuple[str, ...], ...], tmp_path: Path
) -> None:
    columns = tuple(map(Column, names, states))
    schema = Schema(columns, names[1], states[1][0], names[0], states[0][0])
    rng = np.random.default_rng(0)
    cpts = [rng.dirichlet(np.ones(len(own)), n) for own, n in zip(states, (1, 2, 4), strict=True)]
    network = Network(schema, ((), (0,), (0, 1)), tuple(cpts))
    write_bif(network, tmp_path / "n.bif")
    assert_same(read_bif(tmp_path / "n.bif", schema), network)
    if names[0] == "性別":  # letters and digits are written as they are
        from pgmpy.readwrite import BIFReader

        reader = BIFReader(str(tmp_path / "n.bif"))
        assert list(reader.variable_states)[:2] == list(names[:2])
        assert tuple(reader.variable_states[names[0]]) == states[0]


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
    assert tokens[:4] == ("le_50K", "gt_50K", "v17_hyphen_minus_24", "v17_space_24")
    assert state_tokens(Column("x", ("A+", "A-", "B"))) == ("A_plus_sign", "A_hyphen_minus", "B")
    assert state_tokens(Column("x", ("女", "男", "né", "?"))) == ("女", "男", "né", "_")
