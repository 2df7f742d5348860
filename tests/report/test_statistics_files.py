"""The statistics of a finished run: files, tables, page and console, from folders that are made up here."""

from __future__ import annotations

import json
import lzma
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from benchmark import open_run
from benchmark.errors import BetabenchError, ReportError, StatisticsError, UnknownNameError
from benchmark.facts import facts_of
from benchmark.figures import lists
from benchmark.report.statistics_files import write_statistics
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.finished import read_results, read_run
from benchmark.runs.verdicts import BELOW_COLUMNS, with_below
from benchmark.tables.layout import Table
from benchmark.tables.techniques import Numbers, techniques_table
from benchmark.text.writing import csv_text
from benchmark.wording import render
from tests.helpers.facts import report_text
from tests.helpers.latex import rows_of
from tests.helpers.made_up_runs import changed, made_up_facts
from tests.helpers.statistics_folder import BETAS, TITLES, write_folder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def statistics(folder: Path) -> RunStatistics:
    return folder_statistics(folder)


@pytest.fixture(scope="module")
def narrow(folder: Path) -> RunStatistics:
    return folder_statistics(folder, baseline="massaging", metrics=["accuracy"])


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    """Three datasets, one of them with two techniques, of a version that did not count the test rows."""
    names = ("one", "two", "three")
    facts = {name: made_up_facts(name) for name in names}
    tried = {"two": ("none", "massaging")}
    path = tmp_path_factory.mktemp("uneven")
    write_folder(path, names=names, tried=tried, repetitions=3, shares=False, datasets=facts)
    return folder_statistics(path, baseline="reweighing")


@pytest.fixture(scope="module")
def table(statistics: RunStatistics) -> Table:
    return table_of(statistics)


def table_of(statistics: RunStatistics, *columns: str) -> Table:
    return techniques_table(Numbers.of_statistics(statistics), columns)


def marks(table: Table, block: int, column: int) -> dict[str, str]:
    return {row.names[2]: row.cells[column].mark for row in rows_of(table, block)}


def only(frame: pd.DataFrame, **names: object) -> pd.Series:
    for column, name in names.items():
        frame = frame[frame[column] == name]
    assert len(frame) == 1
    return frame.iloc[0]


# ------------------------------------------------------------------------------------------ the frames


def test_who_survives_which_bias_is_what_was_planted(statistics: RunStatistics) -> None:
    one = next(scenario for scenario in facts_of(statistics).scenarios if scenario.dataset == "one")
    values = next(values for values in one.values if values.metric == "discrimination")
    shown = dict(zip(one.techniques, map("".join, zip(*values.shown, strict=True)), strict=True))
    # Repair is better at all levels, but has no value in two samples at the smallest one.
    assert shown == {"none": "...", "massaging": "bb.", "reweighing": "wbb", "repair_0.5": "rbb"}


def useless_baseline(folder: Path, accepted: dict[str, float], share: float) -> RunStatistics:
    """Return the statistics of a run whose baseline accepts such shares in some of its samples at β = 1."""
    path = write_folder(folder, names=("one",), repetitions=10)
    table = pd.read_csv(path / "results.csv")
    own = (table["technique"] == "none") & (table["level"] == 1) & (table["repetition"] < 10 * share)
    changed = table["metric"].map(accepted).where(own)
    (path / "results.csv").write_text(csv_text(table.assign(value=changed.fillna(table["value"]))))
    return folder_statistics(path)


def test_what_the_rule_refuses_is_not_shown_as_useful(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "run", names=("one", "two"))
    table = pd.read_csv(path / "results.csv")
    own = (table["technique"] == "massaging") & (table["level"] == 0.5) & (table["dataset"] == "one")
    # Few are accepted, in both groups, by a classifier that decides nevertheless.
    few = {"accepted": 0.03, "accepted_deprived": 0.02, "accepted_favored": 0.04}
    changed = table["metric"].map(few).where(own)
    (path / "results.csv").write_text(csv_text(table.assign(value=changed.fillna(table["value"]))))
    found = folder_statistics(path)
    key = {"dataset": "one", "technique": "massaging"}
    refused = only(found.answers, **key, level=0.5)
    assert (refused["verdict"], refused["reason"], refused["better"]) == (
        "not_usable",
        "too_few_accepted",
        True,
    )
    scenario = facts_of(found).scenarios[0]
    values = next(values for values in scenario.values if values.metric == "discrimination")
    assert values.shown[1][scenario.techniques.index("massaging")] == "r", "better, but not usable"


EVERYBODY = {"accepted": 1.0, "accepted_deprived": 1.0, "accepted_favored": 1.0}
ONE_GROUP = {"accepted": 0.5, "accepted_deprived": 0.0, "accepted_favored": 1.0}


@pytest.mark.parametrize(("accepted", "share"), [(EVERYBODY, 0.5), (ONE_GROUP, 1.0)])
def test_a_baseline_that_is_seldom_constant_is_compared_with(
    tmp_path: Path, accepted: dict[str, float], share: float
) -> None:
    found = useless_baseline(tmp_path / "run", accepted, share)
    assert not found.answers["baseline_degenerate"].any()
    better = found.compared[found.compared["better"]]
    assert ("reweighing", 1.0) in set(better[["technique", "level"]].itertuples(index=False, name=None))
    of_baseline = facts_of(found).scenarios[0].answers[0].levels[-1].techniques[0]
    assert of_baseline.role == "baseline"
    assert [remark.code for remark in of_baseline.remarks] == ["constant"]
    assert marks(table_of(found, "discrimination"), 2, 1)["Reweighing"] == "+"


def test_nothing_is_compared_with_a_mostly_constant_baseline(tmp_path: Path) -> None:
    found = useless_baseline(tmp_path / "run", EVERYBODY, 0.6)
    at_one = found.answers["level"] == 1
    assert (found.answers["baseline_degenerate"] == at_one).all()
    level = facts_of(found).scenarios[0].answers[0].levels[-1]
    assert level.reason is not None
    assert level.reason.code == "baseline_constant"
    signs = [marks(table_of(found, "discrimination"), level, 1)["Reweighing"] for level in (1, 2)]
    assert signs == ["+", ""]


def test_levels_without_effect_count_once_and_say_nothing_of_ranks(tmp_path: Path) -> None:
    path = write_folder(
        tmp_path / "run", tried=dict.fromkeys(("one", "two"), ("none", "massaging", "reweighing"))
    )
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["datasets"]["one"]["bias"] = {"cpt": {"kind": "cpt", "edits": ["an edit"], "acting": []}}
    (path / "manifest.json").write_text(json.dumps(manifest))
    table = pd.read_csv(path / "results.csv")
    # Degenerate at a level that stands for no other than the first.
    gone = (table["dataset"] == "one") & (table["level"] > 0) & (table["technique"] == "massaging")
    table.loc[gone & table["metric"].str.startswith("accepted"), "value"] = 0.0
    (path / "results.csv").write_text(csv_text(table))
    found = folder_statistics(path)
    pooled = found.ranks[
        (found.ranks["over"] == "dataset level") & (found.ranks["metric"] == "discrimination")
    ]
    assert set(pooled["n_blocks"]) == {1 + len(BETAS)}
    assert pooled["mean_rank"].notna().all()
    assert set(pooled["reason"]) == {""}
    facts = facts_of(found)
    assert not any(row.constant for row in facts.ranks[0].techniques)
    (answers,) = facts.scenarios[0].answers
    assert [level.level for level in answers.levels] == [0]
    assert "| Discrimination | every β |" in report_text(found)


def test_ranks_and_fronts_say_who_is_below_the_constant_answer_and_where(statistics: RunStatistics) -> None:
    # The best constant answer scores .65, and the baseline .8 - .1 β + noise.
    assert not statistics.ranks["below_constant"].any()
    constants = statistics.standing.assign(
        below_constant=(statistics.standing["technique"] == "massaging")
        & (statistics.standing["dataset"] == "two")
        & (statistics.standing["level"] > 0)
    )
    ranks = with_below(statistics.ranks.drop(columns=list(BELOW_COLUMNS)), constants)
    own = ranks[(ranks["technique"] == "massaging") & ranks["datasets"].str.contains("two")]
    assert set(own.loc[own["over"] == "dataset level", "below_constant_levels"]) == {"0.5 1"}
    single = own[own["over"] == "dataset"]
    assert set(single.loc[single["level"] == 0.5, "below_constant_levels"]) == {"0.5"}
    assert not single.loc[single["level"] == 0, "below_constant"].any()
    assert not ranks.loc[ranks["technique"] != "massaging", "below_constant"].any()
    fronts = with_below(statistics.pareto.drop(columns=list(BELOW_COLUMNS)), constants)
    marked = fronts[fronts["below_constant"]]
    assert set(marked["dataset"]) == {"two"}
    assert set(marked["technique"]) == {"massaging"}
    assert (marked["below_constant_levels"] == marked["level"].map("{:g}".format)).all()
    facts = facts_of(replace(statistics, ranks=ranks, standing=constants))
    assert [row.technique for row in facts.ranks[0].techniques if not row.usable] == ["massaging"]


def test_ranks_are_over_datasets_with_and_without_beta(statistics: RunStatistics) -> None:
    own = statistics.ranks[statistics.ranks["metric"] == "discrimination"]
    at_half = own[(own["over"] == "dataset") & (own["level"] == 0.5)]
    assert dict(zip(at_half["technique"], at_half["mean_rank"], strict=True)) == pytest.approx(
        {"massaging": 1, "reweighing": 2, "none": 3, "repair_0.5": np.nan}, nan_ok=True
    )
    gone = only(at_half, technique="repair_0.5")
    assert gone[["reason", "reason_dataset", "reason_level"]].tolist() == ["no_value", "two", 0.5]
    pooled = own[own["over"] == "dataset level"]
    assert pooled["level"].isna().all()
    # Massaging is 1st, 1st, and at 1 beside none; reweighing 3rd, 2nd, 1st.
    assert only(pooled, technique="reweighing")["mean_rank"] == pytest.approx(2)
    assert only(pooled, technique="reweighing")["n_blocks"] == 6
    assert at_half["groups"].tolist()[:3] == ["1", "1", "1"], "two datasets cannot tell techniques apart"


def test_techniques_are_ranked_where_all_of_them_were_tried(uneven: RunStatistics) -> None:
    found = uneven.ranks.groupby("datasets", sort=False)["technique"].unique()
    assert {datasets: set(names) for datasets, names in found.items()} == {
        "one three": set(TITLES),
        "one two three": {"none", "massaging"},
    }


def test_trade_offs_are_with_accuracy(statistics: RunStatistics) -> None:
    # Massaging has the least discrimination, repair the highest accuracy.
    front = statistics.pareto[(statistics.pareto["dataset"] == "one") & (statistics.pareto["level"] == 0)]
    assert set(zip(front["first"], front["second"], strict=True)) == {("discrimination", "accuracy")}
    assert set(front.loc[front["on_front"], "technique"]) == {"massaging", "repair_0.5"}


def test_another_baseline_and_one_metric(narrow: RunStatistics, uneven: RunStatistics) -> None:
    assert set(narrow.comparisons["baseline"]) == {"massaging"}
    assert set(narrow.comparisons["technique"]) == {"none", "reweighing", "repair_0.5"}
    assert set(narrow.intervals["metric"]) == {"accuracy"}
    assert narrow.pareto.empty
    # A dataset on which the named baseline was not run keeps its own.
    assert uneven.baselines.by["one", "c45"] != uneven.baselines.by["two", "c45"] == "none"


def test_metrics_beyond_the_headline_come_from_their_own_file(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    rows = pd.read_csv(folder / "results.csv").query("metric == 'accuracy'").assign(metric="consistency")
    rows = rows.assign(metric="recall", reason="")
    (tmp_path / "run" / "metrics.csv").write_text(csv_text(rows))
    run = read_run(tmp_path / "run")
    both = read_results(tmp_path / "run", run, ["recall", "accuracy"])
    always = ["discrimination", "accepted", "accepted_deprived", "accepted_favored"]
    assert list(both["metric"].unique()) == ["recall", "accuracy", *always], "these are always kept"
    values = {name: own["value"].to_numpy() for name, own in both.groupby("metric")}
    np.testing.assert_array_equal(values["recall"], values["accuracy"])
    assert set(read_results(tmp_path / "run", run)["metric"]) == {"accuracy", *always}
    assert set(folder_statistics(tmp_path / "run", metrics=["recall"]).comparisons["metric"]) == {"recall"}


# -------------------------------------------------------------------------------------------- the tables


def test_changes_stand_beside_values_with_interval_and_sign(statistics: RunStatistics, table: Table) -> None:
    assert table.columns == (
        *(("Disc.", "value"), ("Disc.", "change"), ("Acc.", "value"), ("Acc.", "change")),
        ("", "Accepted"),
    )
    assert [*table.blocks][:3] == ["one, β = 0", "one, β = 0.5", "one, β = 1"]
    assert rows_of(table, 1)[0].names[:2] == ("one", "0.5")
    assert {title: [marks(table, level, 1)[title] for level in range(3)] for title in marks(table, 0, 1)} == {
        "None": ["", "", ""],
        "Massaging": ["+", "+", ""],
        "Reweighing": ["-", "+", "+"],
        "Repair 0.5": ["+", "+", "+"],
        "Best constant answer": ["", "", ""],
    }
    best = {row.names[2]: row.cells[0].best for row in rows_of(table, 1)}
    assert [name for name, is_best in best.items() if is_best] == ["Massaging"]
    change = {row.names[2]: row.cells[1] for row in rows_of(table, 1)}["Massaging"]
    row = only(
        statistics.comparisons, dataset="one", technique="massaging", level=0.5, metric="discrimination"
    )
    assert change.mean == row["difference"]
    ends = (change.mean - change.half_width, change.mean + change.half_width)
    assert ends == pytest.approx((row["difference_low"], row["difference_high"]))
    number = f"{change.mean:.3f} ± {change.half_width:.3f}"
    assert f"{number}<sup>+</sup>" in table.to_markdown()
    assert rf"${change.mean:.3f}$ $\pm$ {change.half_width:.3f}\textsuperscript{{+}}" in table.to_latex()
    assert re.fullmatch(r"50 % / \d+ % / \d+ %", rows_of(table, 2)[0].cells[-1].text or "")
    assert rows_of(table, 0)[-1].cells[-1].text == "0 % / 0 % / 0 %"


def test_the_table_of_a_run_in_python_is_that_of_the_report(folder: Path, table: Table) -> None:
    run = open_run(folder)
    assert run.table().to_csv() == table.to_csv()
    chosen = run.table(["accuracy"], ["massaging", "none"], baseline="reweighing")
    assert chosen.columns == (("Acc.", "value"), ("Acc.", "change"))
    frame = chosen.to_frame()
    assert [*frame["Technique"][:3]] == ["Massaging", "None", "Best constant answer"]
    assert frame["Acc. change"].dtype == frame["Acc. change ±"].dtype == float


# ------------------------------------------------------------------------------------ files and console


@pytest.mark.nightly
def test_the_same_folder_gives_the_same_bytes(
    folder: Path, statistics: RunStatistics, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    written = write_statistics(first, statistics, figures=True)
    again = write_statistics(second, folder_statistics(folder), figures=False)
    page = (first / "README.md").read_text(encoding="utf-8")
    assert "![Trade-offs and Pareto fronts](figures/pareto_one.png)" in page
    assert {path.suffix for path in (first / "figures").iterdir()} == {".png"}
    assert {path.relative_to(first) for path in first.rglob("*.*")} == {p.relative_to(first) for p in written}
    for path in again:
        if path.name != "README.md":
            assert path.read_bytes() == (first / path.relative_to(second)).read_bytes()


def test_figures_stay_while_the_numbers_do_and_go_with_them(
    statistics: RunStatistics, narrow: RunStatistics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "statistics_figures", lambda _: [("heat_precision", Figure)])
    page = write_statistics(tmp_path, statistics, figures=True)[-1]
    (tmp_path / "figures" / "mine.svg").write_text("mine")
    (tmp_path / "frontier_gaps.csv").write_text("of an earlier report")
    (tmp_path / "notes.txt").write_text("mine")
    with_figures = page.read_text(encoding="utf-8")
    assert "](figures/heat_precision.png)" in with_figures
    write_statistics(tmp_path, statistics, figures=False)
    assert page.read_text(encoding="utf-8") == with_figures
    assert not (tmp_path / "frontier_gaps.csv").exists()
    write_statistics(tmp_path, narrow, figures=False)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"mine.svg"}
    assert "](figures/" not in page.read_text(encoding="utf-8")
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert names == {"techniques.csv", "techniques.tex", "notes.txt"}
    assert (tmp_path / "notes.txt").exists()


def test_every_file_is_named_on_the_page_and_no_other(statistics: RunStatistics, tmp_path: Path) -> None:
    written = write_statistics(tmp_path, statistics)
    files = {path.relative_to(tmp_path).as_posix() for path in written if path.suffix in (".csv", ".json")}
    text = render("files", facts_of(statistics))
    named = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    assert named == files


def test_every_column_is_explained(statistics: RunStatistics) -> None:
    explained = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    columns = {column for frame in statistics.frames.values() for column in frame.columns}
    assert [column for column in sorted(columns) if f"`{column}`" not in explained] == []
    assert [name for name in statistics.frames if f"`{name}.csv`" not in explained] == []


def test_a_folder_may_hold_its_results_compressed(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(folder, run)
    expected = read_results(run, read_run(run))
    for name in ("results.csv", "failures.csv"):
        (run / f"{name}.xz").write_bytes(lzma.compress((run / name).read_bytes()))
        (run / name).unlink()
    pd.testing.assert_frame_equal(read_results(run, read_run(run)), expected)
    (run / "results.csv.xz").write_bytes((run / "results.csv.xz").read_bytes()[:-40])
    with pytest.raises(ReportError, match=r"results.csv.xz is malformed"):
        read_results(run, read_run(run))
    (run / "results.csv.xz").write_bytes(b"no archive")
    with pytest.raises(ReportError, match=r"results.csv.xz is malformed"):
        read_results(run, read_run(run))


# ------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"baseline": "masaging"}, UnknownNameError, "did you mean 'massaging'"),
        ({"metrics": ["acuracy"]}, UnknownNameError, "did you mean 'accuracy'"),
        ({"alpha": 1.5}, StatisticsError, "level of significance"),
    ],
)
def test_impossible_settings_are_errors(
    folder: Path, settings: dict[str, Any], error: type[BetabenchError], says: str
) -> None:
    with pytest.raises(error, match=says):
        folder_statistics(folder, **settings)


def test_one_repetition_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="has one repetition"):
        folder_statistics(write_folder(tmp_path, repetitions=1))


def test_a_folder_without_a_finished_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="There is no folder"):
        folder_statistics(tmp_path / "nowhere")
    folder = write_folder(tmp_path)
    lines = (folder / "results.csv").read_text().splitlines(keepends=True)
    (folder / "results.csv").write_text("".join(lines[:-5]))
    with pytest.raises(ReportError, match=r"is not finished.*240 cells.*Got: 239"):
        folder_statistics(folder)
    (folder / "results.csv").unlink()
    with pytest.raises(ReportError, match=r"results.csv cannot be read.*finish it"):
        folder_statistics(folder)


def test_a_baseline_that_was_not_run_is_an_error(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, tried={"two": ("massaging", "reweighing")}, repetitions=3)
    with pytest.raises(ReportError, match=r"The baseline 'none' of two was not run.*--baseline"):
        folder_statistics(folder)


def test_results_that_the_manifest_does_not_name_are_an_error(folder: Path) -> None:
    run = read_run(folder)
    fewer = changed(run.manifest, techniques=run.manifest.techniques[:1])
    with pytest.raises(ReportError, match="name a technique that the run's manifest lacks"):
        read_results(folder, replace(run, manifest=fewer))
    fewer = changed(run.manifest, repetitions=1)
    with pytest.raises(ReportError, match=r"name a repetition that the run's manifest lacks.*one of 0\. Got"):
        read_results(folder, replace(run, manifest=fewer))
