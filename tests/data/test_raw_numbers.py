"""Raw numbers beside bins: how they are read, carried along and drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ks_2samp

from benchmark.conformance import example_table
from benchmark.data.card import Card, load_card
from benchmark.data.load import load_dataset
from benchmark.data.row_facts import with_numbers
from benchmark.data.table import Numbers, Table
from benchmark.errors import DataError

CARD = """
name = "jobs"
title = "Jobs"
label = "paid"
favorable_label = "well"
sensitive_feature = "age"
deprived_group = "old"
missing = "unknown"
[source]
format = "csv"
decimal = ","
delimiter = ";"
files = [{ path = "jobs.csv" }]
[columns.age]
kind = "numeric"
numbers = true
bins = [0, 40, 99]
states = ["young", "old"]
[columns.income]
kind = "numeric"
numbers = true
bins = [0, 10, inf]
states = ["low", "high"]
values = { "99" = "unknown" }
[columns.hours]
kind = "numeric"
bins = [0, 40, 80]
states = ["part", "full"]
[columns.paid]
kind = "numeric"
numbers = true
bins = [0, 5, 10]
states = ["badly", "well"]
"""
ROWS = "age;income;hours;paid\n20;1,5;10;1\n30;?;20;7\n50;99;40;2\n60;inf;80;9\n"


@pytest.fixture
def card(tmp_path: Path) -> Card:
    (tmp_path / "jobs.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "jobs.toml").write_text(CARD, encoding="utf-8")
    return load_card(tmp_path / "jobs.toml")


def test_numbers_are_read_beside_their_bins_where_the_card_says_so(card: Card) -> None:
    found = load_dataset(card, numbers=True)
    # Neither the label's nor the sensitive feature's; what is missing, no number or infinite has none.
    assert found.numbers.columns == ("income",)
    np.testing.assert_array_equal(found.numbers.values[:, 0], [1.5, np.nan, np.nan, np.nan])
    assert found.table.numbers is None
    plain = card.with_columns({"income": {"numbers": False}})
    assert load_dataset(plain, numbers=True).numbers is None
    assert load_dataset(card).numbers is None
    assert (plain.digest, plain.rows_digest) == (card.digest, card.rows_digest)
    assert load_dataset(plain).digest == found.digest


def test_numbers_stay_with_rows_and_leave_with_their_codes() -> None:
    plain = example_table(50)
    values = np.random.default_rng(0).normal(size=(50, 2))
    table = replace(plain, numbers=Numbers(("skill", "noise"), values))
    assert table.digest == plain.digest
    rows = np.array([3, 3, 7])
    taken = table.take(rows)
    np.testing.assert_array_equal(taken.numbers.values, values[rows])
    hidden = table.hide_label()
    assert hidden.numbers.columns == ("skill", "noise")
    changed = table.with_column("skill", table.codes[:, 0])
    np.testing.assert_array_equal(changed.numbers.of("noise"), values[:, 1])
    assert changed.with_column("noise", table.codes[:, 4]).numbers is None
    assert changed.numbers.columns == ("noise",)
    assert Table(table.schema, table.codes).numbers is None
    assert table.twin().numbers is None
    assert table.twin(numbers=True).numbers is table.numbers
    with pytest.raises(ValueError, match="read-only"):
        table.numbers.values[0, 0] = 1.0  # type: ignore[union-attr]


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="do not fit the codes"):
        replace(example_table(50), numbers=Numbers(("skill",), np.zeros((3, 1))))


@pytest.fixture(scope="module")
def data() -> tuple[Table, Numbers]:
    """Rows with a number within each of the seven bins of a column, skewed and with ties."""
    table = example_table(4000)
    within = np.random.default_rng(1).beta(0.5, 2.0, len(table)).round(2)
    numbers = (table.codes[:, table.schema.index("skill")] + within)[:, None]
    return table, Numbers(("skill",), numbers)


def lots(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_drawn_numbers_are_those_of_the_bin_as_often_as_the_data_have_them(
    data: tuple[Table, Numbers],
) -> None:
    table, numbers = data
    other = example_table(6000, seed=9)
    drawn = with_numbers(other, table, numbers, None, None, lambda column: lots(0)).numbers
    skill, theirs = (rows.codes[:, rows.schema.index("skill")] for rows in (other, table))
    for code in np.unique(skill):
        found, known = drawn.of("skill")[skill == code], numbers.of("skill")[theirs == code]
        assert set(found) <= set(known)
        assert ks_2samp(found, known).pvalue > 1e-4
    # Shuffled data are the same data, and another seed draws others.
    order = np.random.default_rng(2).permutation(len(table))
    shuffled = table.take(order), numbers.take(order)
    again = with_numbers(other, *shuffled, None, None, lambda column: lots(0)).numbers
    assert again.digest == drawn.digest
    more = with_numbers(other, table, numbers, None, None, lambda column: lots(1)).numbers
    assert more.digest != drawn.digest


def test_rows_of_the_data_keep_their_numbers_unless_they_are_in_another_bin(
    data: tuple[Table, Numbers],
) -> None:
    table, numbers = data
    own = np.arange(0, 4000, 2)
    skill = table.codes[own, table.schema.index("skill")]
    moved = np.where(skill == 6, 0, skill)
    rows = table.take(own).with_column("skill", moved)
    known = np.arange(100)
    found = with_numbers(rows, table, numbers, known, own, lambda column: lots(0)).numbers
    same = skill < 6
    np.testing.assert_array_equal(found.of("skill")[same], numbers.of("skill")[own][same])
    assert 0 < (~same).sum() < len(own)
    first = numbers.of("skill")[known][table.codes[known, table.schema.index("skill")] == 0]
    assert set(found.of("skill")[~same]) <= set(first)


def test_a_state_in_which_the_data_have_no_number_has_none(data: tuple[Table, Numbers]) -> None:
    table, numbers = data
    few = np.flatnonzero(table.codes[:, table.schema.index("skill")] > 2)
    found = with_numbers(table, table, numbers, few, None, lambda column: lots(0)).numbers
    np.testing.assert_array_equal(
        np.isnan(found.of("skill")), table.codes[:, table.schema.index("skill")] <= 2
    )
    # Columns that a table has lost have no numbers there.
    schema = table.schema
    kept = [i for i, name in enumerate(schema.names) if name != "skill"]
    narrow = Table(replace(schema, columns=tuple(schema.columns[i] for i in kept)), table.codes[:, kept])
    assert with_numbers(narrow, table, numbers, None, None, lambda column: lots(0)).numbers is None
