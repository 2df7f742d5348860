"""The table of all techniques: its numbers and marks, and markup that holds together."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest

from benchmark.errors import UnknownNameError
from benchmark.runs.analysis import folder_statistics
from benchmark.runs.manifest import MetricDescription
from benchmark.runs.report_frames import by_rows
from benchmark.tables.layout import Row, Table
from benchmark.tables.techniques import Numbers, paper_tables, techniques_table
from tests.helpers.latex import check_latex, rows_of, table_of
from tests.helpers.made_up_runs import (
    ADULT,
    BETAS,
    DUTCH,
    SHARES,
    TECHNIQUES,
    Run,
    changed,
    made_up_technique,
    many_techniques,
    sample_run,
)
from tests.helpers.statistics_folder import write_folder

FORMS = (Table.to_csv, Table.to_markdown, Table.to_latex)


@pytest.fixture(scope="module")
def run() -> Run:
    return sample_run(shares=True, repetitions=8)


@pytest.fixture(scope="module")
def table(run: Run) -> Table:
    return table_of(run)


def notes_of(run: Run) -> str:
    return Numbers.of_run(run.frames).notes


def test_all_techniques_stand_at_each_level_above_the_best_constant_answer(run: Run, table: Table) -> None:
    assert table.columns == (("", "Disc."), ("", "Acc."), ("", "Accepted"))
    assert [rows[0].names[:2] for rows in [*table.blocks.values()][:6]] == [
        *(("Adult", f"{beta:g}") for beta in BETAS),
        ("COMPAS (leaky)", "0"),
    ]
    assert [*table.blocks][1] == "Adult, β = 0.25"
    titles = [technique.title for technique in TECHNIQUES]
    for rows in table.blocks.values():
        assert [row.names[2:] for row in rows] == [*((t,) for t in titles), ("Best constant answer",)]
    first = rows_of(table, 0)[0].cells
    own = run.results.query("dataset == 'adult' and technique == 'none' and level == 0")
    means = own.groupby("metric")["value"].mean()
    assert [cell.mean for cell in first[:2]] == pytest.approx([means["discrimination"], means["accuracy"]])
    names = ("accepted", "accepted_deprived", "accepted_favored")
    assert first[2].text == " / ".join(f"{100 * means[name]:.0f} %" for name in names)
    constants = [rows[-1].cells[1].mean for rows in [*table.blocks.values()][:: len(BETAS)]]
    assert constants == pytest.approx([37155 / 48842, 3283 / 6150, 31657 / 60420])


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ({"holdout": 0.3}, "± half of the 95 % Student-t interval."),  # samples of a network
        ({"train": "data", "holdout": 0.3}, "± half of the 95 % interval of Nadeau and Bengio, which allows"),
    ],
)
def test_notes_name_the_interval_that_was_computed(protocol: dict[str, object], words: str) -> None:
    run = sample_run(datasets=(DUTCH,), betas=(0.0, 1.0), repetitions=3, techniques=TECHNIQUES[:2])
    run = replace(run, description=changed(run.description, **protocol))
    assert words in table_of(run).note
    assert words in notes_of(run)
    once = table_of(sample_run(datasets=(DUTCH,), betas=(0.0,), repetitions=1, techniques=TECHNIQUES[:2]))
    assert "±" not in once.note + once.to_markdown()


def test_the_best_of_a_column_is_bold_by_its_distance_to_the_ideal_and_minus_zero_is_zero(run: Run) -> None:
    near = run.results["technique"].eq("repair_0.25") & run.results["metric"].eq("discrimination")
    # Fair on average, and in no single sample.
    either = (-1.0) ** run.results["repetition"] * 0.6
    for values, best in ((-1e-4, True), (either, False)):
        own = replace(run, results=run.results.assign(value=run.results["value"].mask(near, values)))
        table = table_of(own)
        cells = {row.names[-1]: row.cells for row in rows_of(table, 2)}
        assert abs(cells["Repair 0.25"][0].mean) < 1e-3
        assert cells["Repair 0.25"][0].best is best
        assert any(row[0].best for row in cells.values())
        assert "-0.000" not in table.to_markdown() + table.to_latex()
        assert ("**0.000**" in table.to_markdown()) == best


def test_what_is_of_no_use_is_marked_and_never_the_best(run: Run, table: Table) -> None:
    marks = {row.names[-1]: row.cells[1].mark for row in rows_of(table, len(BETAS) - 1)}
    assert marks["No technique"] == "†", "an accuracy of .717 at β = 1"
    assert marks["Uniform sampling"] == ""
    refusing = run.results["technique"].eq("massaging") & run.results["metric"].isin(
        ["discrimination", *(metric.name for metric in SHARES)]
    )
    refused = replace(run, results=run.results.assign(value=run.results["value"].mask(refusing, 0)))
    refusal = table_of(refused)
    for cell in rows_of(refusal, 0)[2].cells[:2]:
        assert (cell.mark, cell.best) == ("‡", False)
    assert r"\ddag{}" in refusal.to_latex()
    for sign in "‡†¶+*":
        assert re.search(rf"(?m)^{re.escape(sign)}[ :]", notes_of(refused))


def test_cells_without_a_value_say_so_and_csv_has_six_digits(run: Run, table: Table) -> None:
    at_one = rows_of(table, 3 * len(BETAS) - 1)  # of Dutch, where sampling failed
    gone = {row.names[-1]: row.cells[0] for row in at_one}["Uniform sampling"]
    assert (gone.mark, gone.text) == ("*", None)
    assert "–<sup>\\*</sup>" in table.to_markdown()
    assert r"--\textsuperscript{{*}}" in table.to_latex()
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows[0][:5] == ["Dataset", "β", "Technique", "Disc.", "Disc. ±"]
    assert float(rows[1][3]) == pytest.approx(rows_of(table, 0)[0].cells[0].mean, rel=1e-5)
    assert [row[3] for row in rows if row[:3] == ["Dutch (embedded)", "1", "Uniform sampling"]] == [""]


def test_columns_and_techniques_can_be_chosen(run: Run) -> None:
    numbers = Numbers.of_run(run.frames)
    table = techniques_table(numbers, ["accepted", "underestimation"], ["massaging", "none"])
    assert [heading for _, heading in table.columns] == ["Accepted", "Under."]
    assert [row.names[-1] for row in rows_of(table, 0)[:2]] == ["Massaging", "No technique"]
    for columns, techniques, wrong in ((["acuracy"], [], "accuracy"), ([], ["masaging"], "massaging")):
        with pytest.raises(UnknownNameError, match=f"did you mean '{wrong}'"):
            techniques_table(numbers, columns, techniques)
    more = tuple(MetricDescription(f"m{i}", f"Metric {i}") for i in range(6))
    copies = [run.results[run.results["metric"] == "accuracy"].assign(metric=f"m{i}") for i in range(6)]
    own = Run(pd.concat(copies), run.failures, changed(run.description, metrics=more, headline=()))
    assert [heading for _, heading in table_of(own).columns] == [f"Metric {i}" for i in range(4)]


def test_notes_name_data_seed_baselines_and_versions(run: Run) -> None:
    better = replace(ADULT, notes=("the deprived group is better off by 0.100.",))
    described = changed(run.description, datasets=(better, *run.description.datasets[1:]))
    notes = notes_of(replace(run, description=described))
    for part in (
        "Mean of 8 repetitions",
        "Adult: tested on real data",
        "Baseline, Adult with c45: Sensitive feature dropped.",
        "5d0c5d0c5d0c",
        "EMBEDDED NETWORK, NOT REAL DATA",
        "Note, Adult: the deprived group is better off by 0.100.",
        "Warning, COMPAS (leaky): the column event follows from the outcome",
        "seed 42",
        "numpy 2.4.6",
    ):
        assert part in notes


@pytest.mark.parametrize("form", FORMS)
def test_embedded_data_are_called_so_in_every_form_and_real_data_are_not(
    form: Callable[[Table], str], table: Table
) -> None:
    assert "not real data" in table.caption
    assert "Dutch (embedded)" in form(table)
    real = sample_run(datasets=(ADULT,), betas=(0.0,), repetitions=2)
    assert "embedded" not in form(table_of(real)).lower()


def test_a_run_that_repeats_the_paper_has_its_tables(run: Run) -> None:
    numbers = Numbers.of_run(run.frames)
    tables = {own.name: own for own in paper_tables(numbers)}
    names = [f"{kind}" for kind in ("baseline", "preprocessing", "repair")]
    assert [*tables] == [f"table{i}_{name}" for i, name in enumerate([*names, *names], 2)]
    second, third = tables["table2_baseline"], tables["table3_preprocessing"]
    # Each dataset has the baseline of its own.
    baselines = (("adult", "drop_sensitive"), ("compas_leaky", "drop_sensitive"), ("dutch:embedded", "none"))
    means = run.results.groupby(["dataset", "technique", "level", "metric"])["value"].mean()
    expected = [means[dataset, technique, 0.5, "discrimination"] for dataset, technique in baselines]
    rows = rows_of(second, 0)
    assert [cell.mean for cell in rows[2].cells[::3]] == pytest.approx(expected)
    betas = ["0.00", "0.25", "0.50", "0.75", "1.00"]
    assert [row.names[-1] for row in rows] == [*betas, "Best constant answer"]
    assert [row.names[-1] for row in rows_of(tables["table5_baseline"], 0)] == betas
    groups = ("Adult", "COMPAS (leaky)", "Dutch (embedded)")
    assert second.columns == tuple((own, head) for own in groups for head in ("Disc.", "Acc.", "Accepted"))
    assert [*third.blocks] == [*groups]
    assert rows_of(third, 1)[2].cells[3].mean == means["compas_leaky", "reweighing", 0.5, "discrimination"]
    for own in tables.values():
        check_latex(own.to_latex())
    others = replace(run, description=changed(run.description, published=None))
    assert not [*paper_tables(Numbers.of_run(others.frames))]


NASTY = r"[R&D]_100%#{x}~^\$<a|b>*β…漢"


def nasty_run() -> Run:
    nasty = made_up_technique("massaging", NASTY)
    dataset = replace(DUTCH, title=NASTY, entry=replace(DUTCH.entry, baseline="massaging"), warning=NASTY)
    return sample_run(techniques=(nasty, *TECHNIQUES[3:5]), datasets=(dataset, ADULT), repetitions=2)


@pytest.mark.parametrize(
    "make", [nasty_run, lambda: sample_run(techniques=many_techniques(25), repetitions=2)]
)
def test_markup_holds_together(make: Callable[[], Run]) -> None:
    table = table_of(make())
    latex = table.to_latex()
    check_latex(latex)
    lines = [line for line in table.to_markdown().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {
        1 + len(table.row_names) + len(table.columns)
    }
    assert "<a" not in table.to_markdown()
    if len(table.blocks) == 3 * len(BETAS):  # tall tables become a float for each block
        assert latex.count(r"\begin{table}") == len(table.blocks)
        assert r"not real data): Dutch (embedded), $\beta$ = 0.5}" in latex


# ----------------------------------------------------------------------------------- several learners


def test_techniques_of_several_learners_stand_in_one_block_each_beside_its_own_baseline(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The second learner is fairer and more accurate, and tried fewer techniques."""
    folder = write_folder(tmp_path_factory.mktemp("run"))
    results = pd.read_csv(folder / "results.csv")
    other = results[results["technique"].isin(["none", "reweighing"])].assign(classifier="forest")
    other.loc[other["metric"] == "discrimination", "value"] -= 0.2
    other.loc[other["metric"] == "accuracy", "value"] += 0.05
    pd.concat([results, other]).to_csv(folder / "results.csv", index=False)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["experiment"]["classifiers"].append({"classifier": "forest", "name": "forest"})
    (folder / "manifest.json").write_text(json.dumps(manifest))
    statistics = folder_statistics(folder)
    table = techniques_table(Numbers.of_statistics(statistics))
    assert [heading for heading, _ in by_rows(statistics.scenarios)] == ["one", "two"]
    assert table.row_names == ("Technique", "Learner")

    def of_block(*names: str) -> dict[tuple[str, ...], Row]:
        rows = [row for rows in table.blocks.values() for row in rows]
        return {row.names[2:]: row for row in rows if row.names[:2] == names}

    rows = of_block("one", "0.5")
    assert list(rows) == [
        *((title, "c45") for title in ("None", "Massaging", "Reweighing", "Repair 0.5")),
        *((title, "forest") for title in ("None", "Reweighing")),
        ("Best constant answer", ""),
    ]
    # Both learners gain the same from reweighing, at different values.
    weighed = [rows["Reweighing", learner].cells for learner in ("c45", "forest")]
    assert weighed[1][0].mean == pytest.approx(weighed[0][0].mean - 0.2)
    assert [cells[1].mean for cells in weighed] == pytest.approx([-0.05, -0.05], abs=2e-4)
    assert [cells[1].mark for cells in weighed] == ["+", "+"]
    assert {rows["None", learner].cells[1].text for learner in ("c45", "forest")} == {""}
    best = [
        names for column in (0, 2) for names, row in of_block("two", "1").items() if row.cells[column].best
    ]
    assert {learner for _, learner in best} == {"forest"}
