"""Tables of an atlas hold the means of its runs, and parts of different days are joined."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.api import run_atlas
from benchmark.atlas.description import TABLES
from benchmark.atlas.file import load_atlas
from benchmark.atlas.means import part_means
from benchmark.atlas.tables import read_table, read_tables
from benchmark.errors import ReportError
from benchmark.runs.finished import read_frames
from benchmark.text.writing import PACKED, plain_or_packed

pytestmark = pytest.mark.slow

TOML = """
kind = "atlas"
name = "tiny"
title = "Tiny"
version = "1"

[shared]
seed = 3
repetitions = 2
paired_betas = true
train = "data"
holdout = 0.3
train_rows = 300
doses = [0.05]
bias = "label"
datasets = ["compas", "german"]
techniques = ["none", "drop_sensitive"]

[parts.trees]
classifiers = ["c45"]

[parts.lines]
classifiers = ["logistic_regression"]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a tiny atlas on embedded networks, and return the folder of its file and results."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(TOML)
    run_atlas(folder / "tiny.toml", output=folder / "whole", offline=True, workers=1, progress=False)
    return folder


def test_means_are_those_of_the_results(whole: Path) -> None:
    means = read_tables(whole / "whole").means
    results = read_frames(whole / "whole" / "trees").results
    where = {"dataset": "compas:embedded", "technique": "drop_sensitive", "test": "original"}
    for half, repetition in (("odd", 0), ("even", 1)):
        rows = results[(results["level"] == 0.05) & (results["repetition"] == repetition)]
        for name, value in where.items():
            rows = rows[rows[name] == value]
        values = rows.set_index("metric")["value"]
        row = means[(means["part"] == "trees") & (means["level"] == 0.05) & (means["half"] == half)]
        for name, value in where.items():
            row = row[row[name] == value]
        [record] = row.to_dict("records")
        for column in ("restoration_distance", "accuracy", "discrimination", "accepted_deprived"):
            assert record[column] == pytest.approx(values[column], rel=1e-5)
        assert record["distance"] == pytest.approx(abs(values["discrimination"]), rel=1e-5)
        assert (record["n"], record["missing"]) == (1, 0)


def test_shares_are_those_of_the_counted_decisions(whole: Path) -> None:
    frames = read_frames(whole / "whole" / "trees")
    means = part_means(frames, "trees", load_atlas(whole / "tiny.toml"))
    assert frames.decisions is not None
    rows = frames.decisions
    of = (rows["dataset"] == "german:embedded") & (rows["technique"] == "drop_sensitive")
    counts = rows[of & (rows["level"] == 0.05) & (rows["repetition"] == 0)]
    upper = sum(counts[f"{g}_{y}101"].sum() for g in ("deprived", "favored") for y in (0, 1))
    lower = upper + sum(counts[f"{g}_{y}100"].sum() for g in ("deprived", "favored") for y in (0, 1))
    row = means[(means["dataset"] == "german:embedded") & (means["technique"] == "drop_sensitive")]
    [value] = row[(row["level"] == 0.05) & (row["half"] == "odd")]["given_back"]
    assert np.isclose(value, upper / lower) if lower else np.isnan(value)


def test_parts_that_are_run_one_by_one_give_the_same_tables(whole: Path) -> None:
    parted = whole / "parted"
    for part in ("lines", "trees"):
        run_atlas(whole / "tiny.toml", parts=[part], output=parted, offline=True, workers=2, progress=False)
    for path in sorted((whole / "whole").glob("*.csv*")):
        assert path.read_bytes() == (parted / path.name).read_bytes(), path.name


def test_tables_with_the_former_spelling_of_a_goal_are_read_alike(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole / "whole", tmp_path, dirs_exist_ok=True)
    for name, columns in TABLES.items():
        path = plain_or_packed(tmp_path / name)
        table = read_table(path, columns)
        content = path.read_bytes()
        packed = path.suffix == PACKED
        old = (lzma.decompress(content) if packed else content).replace(b"equalize", b"equalise")
        path.write_bytes(lzma.compress(old) if packed else old)
        pd.testing.assert_frame_equal(read_table(path, columns), table)


def test_rows_of_another_experiment_are_refused(whole: Path) -> None:
    changed = whole / "changed.toml"
    seed, clusters = "[parts.trees]\nseed = 4", '[clusters]\nboth = ["compas", "german"]\n[parts.trees]'
    for parts in (seed, clusters):
        changed.write_text(TOML.replace("[parts.trees]", parts))
        with pytest.raises(ReportError, match="has rows of another atlas"):
            run_atlas(
                changed, parts=["lines"], output=whole / "whole", offline=True, workers=1, progress=False
            )


def test_parts_on_other_rows_are_refused(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole / "whole", tmp_path / "whole")
    path = tmp_path / "whole" / "atlas.json"
    manifest = json.loads(path.read_text())
    manifest["parts"]["trees"]["data"]["german:embedded"]["rows_digest"] = "0" * 64
    path.write_text(json.dumps(manifest))
    before = (tmp_path / "whole" / "means.csv.xz").read_bytes()
    parameters = {"output": tmp_path / "whole", "offline": True, "workers": 1, "progress": False}
    with pytest.raises(ReportError, match="other rows of german:embedded than the part trees") as refused:
        run_atlas(whole / "tiny.toml", parts=["lines"], **parameters)
    assert "--part lines trees" in str(refused.value)
    assert (tmp_path / "whole" / "means.csv.xz").read_bytes() == before
    # Parts that are run again replace the other rows.
    run_atlas(whole / "tiny.toml", **parameters)
    digests = json.loads(path.read_text())["parts"]["trees"]["data"]["german:embedded"]["rows_digest"]
    assert (
        digests
        == json.loads((whole / "whole" / "atlas.json").read_text())["parts"]["trees"]["data"][
            "german:embedded"
        ]["rows_digest"]
    )


def test_the_manifest_names_versions_data_and_cells(whole: Path) -> None:
    manifest = json.loads((whole / "whole" / "atlas.json").read_text())
    assert list(manifest["parts"]) == ["trees", "lines"]
    facts = manifest["parts"]["trees"]
    assert facts["cells"]["planned"] == 2 * 2 * 2 * 4
    assert "betabench" in facts["versions"]
    assert {data["real"] for data in facts["data"].values()} == {False}
    cells = pd.read_csv(whole / "whole" / "cells.csv")
    assert 0 < len(cells) <= 50


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a library behind mlcroissant
def test_programs_read_the_tables_by_their_description(whole: Path) -> None:
    croissant = pytest.importorskip("mlcroissant")
    path = whole / "whole" / "tiny.croissant.json"
    described = croissant.Dataset(jsonld=str(path))
    files = {file["name"] for file in json.loads(path.read_text())["distribution"]}
    assert files == {path.name for path in (whole / "whole").glob("*.csv*")}
    for name in ("recommenders", "features", "cells", "variance"):
        table = pd.read_csv(whole / "whole" / f"{name}.csv")
        rows = [
            {key.removeprefix(f"{name}/"): value for key, value in row.items()}
            for row in described.records(name)
        ]
        assert len(rows) == len(table)
        assert {*table.columns} == {column for row in rows for column in row}


def test_a_part_without_doses_has_tables_and_no_comparison(tmp_path: Path) -> None:
    text = TOML.replace('version = "1"', 'version = "1"\nadvice = ["trees"]')
    text = text.replace("doses = [0.05]\n", "").replace("[parts.trees]", "[parts.trees]\ndoses = [0.05]")
    text = text.replace("[parts.lines]", "[parts.lines]\nbetas = [0.0, 0.5]")
    (tmp_path / "tiny.toml").write_text(text)
    finished = run_atlas(
        tmp_path / "tiny.toml",
        parts=["lines"],
        output=tmp_path / "out",
        offline=True,
        workers=1,
        progress=False,
    )
    names = {path.name for path in finished.written}
    assert names == {"means.csv.xz", "features.csv", "cells.csv", "atlas.json", "tiny.croissant.json"}
    assert {*read_tables(tmp_path / "out").means["unit"]} == {"beta"}
