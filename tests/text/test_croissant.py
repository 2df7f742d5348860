"""A sample's Croissant description is valid, and programs read the sample by it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from benchmark.cli import main
from benchmark.data.card import load_card
from benchmark.release import RELEASED


def sample(path: Path) -> Path:
    words = [
        "--dataset",
        "compas",
        "--beta",
        "0.5",
        "--rows",
        "50",
        "--seed",
        "1",
        "--out",
        str(path),
        "--offline",
    ]
    assert main(["sample", *words]) == 0
    return path.with_name(path.name + ".croissant.json")


def test_a_sample_says_what_was_planted_and_what_its_columns_mean(tmp_path: Path) -> None:
    described = json.loads(sample(tmp_path / "biased.csv").read_text())
    assert described["datePublished"] == RELEASED
    assert described["distribution"][0]["contentUrl"] == "biased.csv"
    assert described["rai:dataBiases"][0].startswith("Planted on purpose, at level 0.5: ")
    [records] = described["recordSet"]
    assert [field["name"] for field in records["field"]] == list(load_card("compas").columns)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a library behind mlcroissant
def test_the_description_is_valid_and_leads_to_the_rows(tmp_path: Path) -> None:
    croissant = pytest.importorskip("mlcroissant")
    for name in ("biased.csv", "biased.parquet"):
        dataset = croissant.Dataset(jsonld=str(sample(tmp_path / name)))
        rows = [
            {key.removeprefix("rows/"): value.decode() for key, value in row.items()}
            for row in dataset.records("rows")
        ]
        frame = pd.read_csv(tmp_path / name, dtype=str) if name.endswith("csv") else None
        if frame is not None:
            assert rows == frame.to_dict("records")
        assert len(rows) == 50
