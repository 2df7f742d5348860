"""Cells of the committed atlas, computed again: the present code gives the committed values."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.api import run
from benchmark.atlas.adviser import shipped_folder
from benchmark.atlas.tables import read_table, read_tables
from benchmark.experiment.expand import load_for_run
from benchmark.runs.finished import read_frames
from studies.atlas.tables import CELL_METRICS, CELL_TABLE, CELLS

FIRST = 2
"""Repetitions that are computed again: of later ones, all before would be as well."""


@pytest.mark.slow
@pytest.mark.real_data
def test_computing_again_gives_the_committed_cells(
    data_dir: Path, tmp_path: Path, in_this_process: None
) -> None:
    folder, compared = shipped_folder(), 0
    tables, cells = read_tables(folder), read_table(folder / CELLS, CELL_TABLE)
    cells = cells[(cells["repetition"] < FIRST) & (cells["dataset"] != "kdd_census")]
    for cell in cells.iloc[::8].to_dict("records"):
        experiment = load_for_run(tables.atlas.experiments[cell["part"]]).experiment  # with what is told
        levels = {"doses" if experiment.doses else "betas": [0.0, cell["beta"]]}
        if experiment.doses and not cell["beta"]:
            levels = {}
        made = run(
            experiment,
            datasets=[cell["dataset"]],
            techniques=list(dict.fromkeys(["none", cell["technique"]])),
            classifiers=[cell["classifier"]],
            repetitions=int(cell["repetition"]) + 1,
            output=tmp_path / f"{compared}",
            data_dir=data_dir,
            offline=True,
            workers=1,
            progress=False,
            **levels,
        )
        again = read_frames(made.folder).results.rename(columns={"level": "beta"})  # as the atlas has it
        for name in ("dataset", "bias", "beta", "technique", "classifier", "repetition"):
            again = again[again[name] == cell[name]]
        values = again[again["test"] == "original"].set_index("metric")["value"]
        for metric in CELL_METRICS:
            assert values[metric] == pytest.approx(cell[metric], rel=1e-9, nan_ok=True), (cell, metric)
        compared += 1
    assert compared >= 2
