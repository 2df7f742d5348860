"""Tables of an atlas hold the means of its runs, and parts of different days are joined."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.atlas.tables import read_table, read_tables
from benchmark.entrants import enter
from benchmark.errors import ReportError, UnknownNameError
from benchmark.experiment import engine
from benchmark.runs.finished import read_frames
from benchmark.text.writing import PACKED, plain_or_packed
from studies.atlas.description import TABLES
from studies.atlas.making import run_atlas
from tests.helpers.engines import InProcess

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_this_process")]

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
techniques = ["none", "drop_sensitive", "gap_weights"]
knows = ["gap", { fact = "gap", name = "half", factor = 0.5 }]

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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LocalEngine", InProcess)
        run_atlas(folder / "tiny.toml", output=folder / "whole", offline=True, workers=1, progress=False)
    return folder


def test_means_are_those_of_the_results(whole: Path) -> None:
    means = read_tables(whole / "whole").means
    results = read_frames(whole / "whole" / "trees" / "compas").results
    where = {"dataset": "compas:embedded", "technique": "drop_sensitive"}
    for half, repetition in (("odd", 0), ("even", 1)):
        rows = results[(results["level"] == 0.05) & (results["repetition"] == repetition)]
        for name, value in where.items():
            rows = rows[rows[name] == value]
        values = rows.set_index("metric")["value"]
        row = means[(means["part"] == "trees") & (means["level"] == 0.05) & (means["half"] == half)]
        for name, value in where.items():
            row = row[row[name] == value]
        [record] = row.to_dict("records")
        for column in ("restoration_distance", "agreement", "accuracy", "accepted_deprived"):
            assert record[column] == pytest.approx(values[column], abs=5e-6)
        assert record["distance"] == pytest.approx(abs(values["discrimination"]), abs=5e-6)
        assert (record["n"], record["missing"]) == (1, 0)


def test_knowledge_refit_and_level_0_are_in_the_means(whole: Path) -> None:
    means = read_tables(whole / "whole").means
    assert dict(zip(means["technique"], means["knows"], strict=True)) == {
        "none": "nothing",
        "drop_sensitive": "nothing",
        "gap_weights": "gap",
        "gap_weights_half": "half_gap",
        "refit_clean": "nothing",
    }
    clean = means[means["level"] == 0].set_index("technique")
    assert (clean.loc["none", "agreement"] == 1).all()
    assert (clean.loc["refit_clean", "agreement"] < 1).all()


def test_pieces_in_any_order_give_the_same_tables(whole: Path) -> None:
    parted = whole / "parted"
    for part, dataset in (("lines", "german"), ("trees", "german"), ("lines", "compas"), ("trees", "compas")):
        only = {"parts": [part], "datasets": [dataset]}
        run_atlas(whole / "tiny.toml", **only, output=parted, offline=True, workers=2, progress=False)
    for path in sorted((whole / "whole").glob("*.csv*")):
        assert path.read_bytes() == (parted / path.name).read_bytes(), path.name


def test_what_is_finished_is_not_computed_again(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a finished dataset is run again")

    monkeypatch.setattr("studies.atlas.making.run", refused)
    before = (whole / "whole" / "means.csv.xz").read_bytes()
    (whole / "whole" / "trees" / "german" / "atlas.json").unlink()  # its run is whole, its tables are not
    parameters = {"output": whole / "whole", "offline": True, "progress": False}
    run_atlas(whole / "tiny.toml", **parameters)
    assert (whole / "whole" / "means.csv.xz").read_bytes() == before
    monkeypatch.setattr("studies.atlas.making.read_frames", refused)
    run_atlas(whole / "tiny.toml", **parameters)
    with pytest.raises(AssertionError, match="run again"):
        run_atlas(whole / "tiny.toml", repetitions=3, **parameters)


def test_tables_without_the_folders_of_their_parts_are_not_replaced(whole: Path, tmp_path: Path) -> None:
    """As in a clone, which has the tables alone."""
    (tmp_path / "atlas.json").write_text((whole / "whole" / "atlas.json").read_text())
    shutil.copytree(whole / "whole" / "trees", tmp_path / "trees")
    with pytest.raises(ReportError, match="rows that are not computed in it"):
        run_atlas(whole / "tiny.toml", parts=["trees"], output=tmp_path, offline=True, progress=False)


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


MINE = """
from benchmark.techniques import register
from benchmark.techniques.told_weights import GapWeights

@register
class Mine(GapWeights):
    name = "mine"
"""


def test_the_row_of_a_plugin_stands_beside_those_that_know_as_much(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    found = enter(
        tmp_path / "mine.py",
        atlas=whole / "whole",
        doses=[0.05],
        output=tmp_path / "out",
        workers=1,
        progress=False,
    )
    assert {*found.rows["knows"]} == {"gap", "half_gap"}
    with pytest.raises(UnknownNameError, match=r"no dose called '0.3'.*one of 0.05"):
        enter(tmp_path / "mine.py", atlas=whole / "whole", doses=[0.3])
    pairs = found.rows.pivot(index="knows", columns="yours", values=["gain", "agreement_gain", "rank"])
    np.testing.assert_allclose(pairs["gain"][True], pairs["gain"][False], atol=1e-5)
    np.testing.assert_allclose(pairs["agreement_gain"][True], pairs["agreement_gain"][False], atol=1e-5)
    assert "**mine_half**" in str(found)
    assert "inf" not in str(found), "two sources have no interval"
    assert "embedded networks stand in for them" in str(found)


def test_rows_of_another_experiment_are_refused(whole: Path) -> None:
    changed = whole / "changed.toml"
    changed.write_text(TOML.replace("[parts.trees]", "[parts.trees]\nseed = 4"))
    parameters = {"output": whole / "whole", "offline": True, "workers": 1, "progress": False}
    with pytest.raises(ReportError, match="has rows of another atlas"):
        run_atlas(changed, parts=["lines"], **parameters)


def test_parts_on_other_rows_are_refused(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole / "whole", tmp_path / "whole")
    path = tmp_path / "whole" / "trees" / "german" / "atlas.json"
    facts = json.loads(path.read_text())
    facts["data"]["german:embedded"]["rows_digest"] = "0" * 64
    path.write_text(json.dumps(facts))
    parameters = {"output": tmp_path / "whole", "offline": True, "workers": 1, "progress": False}
    with pytest.raises(ReportError, match="other rows of german:embedded than the part trees") as refused:
        run_atlas(whole / "tiny.toml", parts=["lines"], **parameters)
    assert "--part lines trees --datasets german --fresh" in str(refused.value)


def test_the_manifest_names_versions_data_and_cells(whole: Path) -> None:
    manifest = json.loads((whole / "whole" / "atlas.json").read_text())
    assert list(manifest["parts"]) == ["trees", "lines"]
    facts = manifest["parts"]["trees"]
    assert facts["cells"]["planned"] == 2 * 2 * 2 * 6
    assert "betabench" in facts["versions"]
    assert {data["real"] for data in facts["data"].values()} == {False}
    cells = pd.read_csv(whole / "whole" / "cells.csv")
    assert 0 < len(cells) <= 50


@pytest.mark.nightly
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
