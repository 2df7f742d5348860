"""Cards of sources that were prepared apart from this program: row by row, they say the same."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data.card import list_cards
from benchmark.data.load import load_dataset, read_card
from benchmark.data.source import Sources, read_sources

pytestmark = [pytest.mark.real_data, pytest.mark.nightly]  # by day, digests of the rows are compared

NO_CARD: dict[str, str] = {}
"""Why a prepared source has no card."""

SPELLED = {"Nacionality": "nationality"}
"""Columns that the card spells otherwise."""

SORTED = {"diabetes130": "encounter_id"}
"""Tables that are sorted by a column of the file, which the file is not."""

IDENTIFIERS = {"nhefs": ["id"]}
"""Columns that only number persons, and that a prepared table kept."""

CARDS = {card.name: card for card in list_cards()}


@cache
def manifest(people: Path) -> pd.DataFrame:
    return pd.read_csv(people / "manifest.csv", index_col="name", dtype=str, keep_default_na=False)


@pytest.fixture
def people(data_dir: Path) -> Path:
    if not (data_dir / "people").is_dir():
        pytest.skip("BETABENCH_DATA has no folder people")
    return data_dir / "people"


def one_to_one(ours: pd.Series, theirs: pd.Series, rare: int = 1) -> bool:
    """Return whether each value of the other table has one state of its own; rare ones may share a state."""
    pairs = pd.DataFrame({"ours": ours.to_numpy(), "theirs": theirs.to_numpy()}).value_counts().reset_index()
    own = pairs[pairs["count"] >= rare]
    return bool(pairs["theirs"].is_unique and own["ours"].is_unique)


def cut(numbers: pd.Series, edges: list[float]) -> Iterator[pd.Series]:
    """Yield the bins of numbers by upper edges, -1 if a number is missing.

    Edges have three digits, and files single precision: an edge stands for itself, or for what rounds to it.
    """
    rounded = numbers.map(lambda number: float(f"{number:.3g}"))
    for read in (numbers, numbers.astype(np.float32), rounded):
        bins = np.searchsorted(np.array(edges, dtype=read.dtype), read)
        yield pd.Series(np.where(numbers.isna(), -1, bins))


def test_every_source_has_a_card_or_a_reason(people: Path) -> None:
    assert {*manifest(people).index} - CARDS.keys() == NO_CARD.keys()


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_the_same_as_the_prepared_table(name: str, people: Path) -> None:
    if name not in manifest(people).index:
        pytest.skip("no prepared table")
    card, facts = CARDS[name], manifest(people).loc[name]
    dataset = load_dataset(card, Sources(people.parent, offline=True))
    theirs = pd.read_csv(
        people / name / "prepared.csv.gz", dtype=str, keep_default_na=False, na_values=["", "NA"]
    )
    ours = dataset.to_frame().astype(str)
    theirs = theirs.drop(columns=IDENTIFIERS.get(name, []))
    if key := SORTED.get(name):
        (source,) = files = read_sources(card, Sources(people.parent, offline=True))
        read = read_card(card, files).lines - 2  # below the header
        keys = pd.read_csv(io.BytesIO(source.content), usecols=[key])[key].iloc[read]
        theirs = theirs.iloc[np.argsort(np.argsort(keys))].reset_index(drop=True)
    names = dict(zip(theirs, ours, strict=True))
    assert names.pop("label") == card.label
    for column, mine in names.items():  # a name that cannot stand in formulas has another one
        assert mine.lower() == SPELLED.get(column, column.lower()) or not column.isidentifier()
    assert len(ours) == len(theirs) == int(facts["rows"])
    # Labels and groups.
    table = dataset.table
    labels, favorable = (
        theirs["label"].str.replace(",", ""),
        facts["favorable"].replace(",", ""),
    )  # as in a state
    assert card.favorable_label == favorable
    assert set(ours[card.label]) == {favorable, facts["unfavorable"]}
    assert (ours[card.label] == labels).all()
    attributes = [facts[f"sensitive_{i}"] for i in (1, 2) if facts[f"sensitive_{i}"]]
    assert card.sensitive_feature == names[attributes[0]]
    assert [*card.sensitive] == ([names[name] for name in attributes] if len(attributes) > 1 else [])
    deprived = theirs[attributes[0]].isin(facts["deprived_1"].split("|"))
    assert (table.deprived == deprived).all()
    assert int(deprived.sum()) == int(facts["rows_deprived_1"])
    for rows, rate in ((table.deprived, "deprived"), (~table.deprived, "others")):
        assert round(table.y[rows].mean(), 4) == float(facts[f"favorable_rate_{rate}_1"])
    # Columns: no feature is what the other table dropped, such as an identifier.
    features = {
        source for column in card.columns if column != card.label for source in card.read_from(column)
    }
    assert not features & {word.strip() for word in re.split("[,;()]", facts["dropped"])}
    columns = json.loads((people / "cards.json").read_text())[name]["columns"]
    for column, mine in names.items():
        states, cells = ours[mine], theirs[column]
        if (edges := columns[column].get("bins (upper edges, value <= edge)")) is None:
            assert one_to_one(states, cells.fillna(""), card.network.min_count), column
        else:
            numbers = cells.astype(float)
            assert any(
                one_to_one(states, binned, card.network.min_count) for binned in cut(numbers, edges)
            ), column
