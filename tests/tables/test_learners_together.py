"""Techniques with several learners: one table, one figure, changes from the own baseline."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.report_frames import by_rows
from benchmark.tables.layout import Row, Table
from benchmark.tables.techniques import Numbers, techniques_table
from tests.helpers.statistics_folder import write_folder


@pytest.fixture(scope="module")
def statistics(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    """Return those of a run whose second learner is fairer and more accurate, and tried fewer techniques."""
    folder = write_folder(tmp_path_factory.mktemp("run"))
    results = pd.read_csv(folder / "results.csv")
    other = results[results["technique"].isin(["none", "reweighing"])].assign(classifier="forest")
    other.loc[other["metric"] == "discrimination", "value"] -= 0.2
    other.loc[other["metric"] == "accuracy", "value"] += 0.05
    pd.concat([results, other]).to_csv(folder / "results.csv", index=False)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["experiment"]["classifiers"].append({"classifier": "forest", "name": "forest"})
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder_statistics(folder)


@pytest.fixture(scope="module")
def table(statistics: RunStatistics) -> Table:
    return techniques_table(Numbers.of_statistics(statistics))


def rows_of(table: Table, *names: str) -> dict[tuple[str, ...], Row]:
    rows = [row for rows in table.blocks.values() for row in rows]
    return {row.names[2:]: row for row in rows if row.names[:2] == names}


def test_all_learners_of_a_dataset_stand_in_one_block(statistics: RunStatistics, table: Table) -> None:
    assert [heading for heading, _ in by_rows(statistics.scenarios)] == ["one", "two"]
    assert table.row_names == ("Technique", "Learner")
    assert [rows[0].names[:2] for rows in table.blocks.values()] == [
        (d, beta) for d in ("one", "two") for beta in ("0", "0.5", "1")
    ]
    assert list(rows_of(table, "one", "0.5")) == [
        *((title, "c45") for title in ("None", "Massaging", "Reweighing", "Repair 0.5")),
        *((title, "forest") for title in ("None", "Reweighing")),
        ("Best constant answer", ""),
    ]


def test_each_change_is_from_the_baseline_of_its_own_learner(table: Table) -> None:
    rows = rows_of(table, "one", "0.5")
    # Both learners gain the same from reweighing, at different values.
    weighed = [rows["Reweighing", learner].cells for learner in ("c45", "forest")]
    assert weighed[1][0].mean == pytest.approx(weighed[0][0].mean - 0.2)
    assert [cells[1].mean for cells in weighed] == pytest.approx([-0.05, -0.05], abs=2e-4)
    assert [cells[1].mark for cells in weighed] == ["+", "+"]
    assert {rows["None", learner].cells[1].text for learner in ("c45", "forest")} == {""}


def test_the_best_is_the_best_of_all_learners(table: Table) -> None:
    for level in ("0", "0.5", "1"):
        rows = rows_of(table, "two", level)
        for column in (0, 2):
            best = [names for names, row in rows.items() if row.cells[column].best]
            assert {learner for _, learner in best} == {"forest"}, (level, column)
