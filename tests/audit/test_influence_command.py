"""The command that ranks features says what it measured, on which rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.cli import main
from benchmark.data.table import Table

CARD = """
name = "shop"
title = "Sales of a [shop]"
label = "bought"
favorable_label = "yes"
sensitive_feature = "who"
deprived_group = "f"
warning = "made up"

[source]
format = "csv"
files = [{ path = "shop.csv" }]

[columns.who]
kind = "categorical"
states = ["f", "m"]

[columns."[red] street"]
kind = "categorical"
states = ["n", "s"]

[columns.bought]
kind = "categorical"
states = ["no", "yes"]
"""


def influence(*words: str | Path) -> int:
    return main(["influence", "--offline", "--classifier", "naive_bayes", *map(str, words)])


def test_without_real_data_the_embedded_network_stands_in_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert influence("--dataset", "compas", "--out", tmp_path, "--levels", "0", "1") == 0
    shown = capsys.readouterr().out
    assert "EMBEDDED NETWORK, NOT REAL DATA" in shown
    path = tmp_path / "influence_compas_embedded_naive_bayes_none.csv"
    assert str(path) in shown.replace("\n", "")
    audit = pd.read_csv(path)
    assert audit["level"].tolist() == [0.0, 1.0] * audit["feature"].nunique()
    first = path.read_bytes()
    assert influence("--dataset", "compas", "--out", tmp_path, "--levels", "0", "1") == 0
    assert path.read_bytes() == first
    assert influence("--dataset", "compas", "--out", tmp_path, "--levels", "0", "1", "--seed", "1") == 0
    assert path.read_bytes() != first


def test_a_card_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    who = rng.integers(0, 2, 300)
    street = np.where(rng.random(300) < 0.9, who, 1 - who)
    bought = np.where(rng.random(300) < 0.9, street, 1 - street)
    rows = ["who,[red] street,bought"]
    rows += [f"{'fm'[w]},{'ns'[s]},{('no', 'yes')[b]}" for w, s, b in zip(who, street, bought, strict=True)]
    (tmp_path / "shop.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "shop.toml").write_text(CARD)
    assert influence("--dataset", tmp_path / "shop.toml", "--technique", "drop_sensitive") == 0
    shown = capsys.readouterr().out
    assert "Sales of a [shop]: real data from" in shown
    assert "Warning: made up" in shown
    assert "200 rows to train naive_bayes after drop_sensitive, 100 to measure it on" in shown
    assert "at level 1:" in shown
    ranked = [line for line in shown.splitlines() if line.startswith(("who ", "[red] street "))]
    assert [line.rsplit(maxsplit=8)[0].strip() for line in ranked] == ["[red] street", "who"]
    assert all(float(line.split()[-8]) < -0.2 for line in ranked)
    assert all(0.05 < float(line.split()[i]) < 0.25 for line in ranked for i in (-6, -2))
    assert "±: 95 % over the test rows" in shown
    assert not list(tmp_path.glob("*_shop_*.csv"))


@pytest.mark.parametrize(
    "words",
    [("--levels", "2"), ("--classifier", "nothing"), ("--technique", "nothing"), ("--dataset", "nothing")],
)
def test_errors_are_ours(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert influence("--dataset", "compas", *words) == 2
    assert capsys.readouterr().err.startswith("betabench: ")


def test_no_person_is_on_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [f"p{i:02}" for i in range(30)]
    rows = [f"{'fm'[i % 2]},{p},{'yes' if i % 3 else 'no'}" for i, p in enumerate(people * 4)]
    (tmp_path / "shop.csv").write_text("\n".join(["who,id,bought", *rows]))
    street = 'columns."[red] street"]\nkind = "categorical"\nstates = ["n", "s"]'
    home = f'columns.home]\nsource = "id"\nkind = "categorical"\nstates = {people}'.replace("'", '"')
    card = tmp_path / "shop.toml"
    card.write_text(CARD.replace(street, home).replace('title = "Sales', 'person = "rows"\ntitle = "Sales'))
    sides = []

    def seen(train: Table, test: Table, *_: object, **__: object) -> None:
        sides.extend({*table.codes[:, table.schema.index("home")].tolist()} for table in (train, test))
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmark.audit.audit_features", seen)
    assert influence("--dataset", card) == 130
    assert (len(sides[0]), len(sides[1]), sides[0] & sides[1]) == (20, 10, set())
