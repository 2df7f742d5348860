"""Tables: the paper's layout, footnotes, and markup that holds together."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace

import pandas as pd
import pytest

from benchmark.render.tables import MARKUPS, to_csv, to_latex, to_markdown
from benchmark.runs.descriptions import MetricDescription, TechniqueDescription
from benchmark.sections.report_table import ReportTable
from tests.helpers.latex import check_latex, tables_of
from tests.helpers.made_up_runs import (
    ADULT,
    BETAS,
    DUTCH,
    METRICS,
    SHARES,
    TECHNIQUES,
    Run,
    changed,
    many_techniques,
    sample_run,
)


@pytest.fixture(scope="module")
def run() -> Run:
    return sample_run(shares=True)


@pytest.fixture(scope="module")
def tables(run: Run) -> dict[str, ReportTable]:
    return tables_of(run)


def test_all_of_the_papers_tables_are_there(tables: dict[str, ReportTable]) -> None:
    assert list(tables) == [
        "table2_baseline",
        "table3_preprocessing",
        "table4_repair",
        "table5_baseline",
        "table6_preprocessing",
        "table7_repair",
        "all_discrimination_accuracy",
        "all_overestimation_underestimation",
    ]


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ({}, "± half of the 95 % Student-t interval."),
        ({"holdout": 0.3}, "± half of the 95 % Student-t interval."),  # samples of a network
        ({"train": "data", "holdout": 0.3}, "± half of the 95 % interval of Nadeau and Bengio, which allows"),
        ({"train": "data", "holdout": 0.5}, "± half of the 95 % interval of Nadeau and Bengio, which allows"),
    ],
)
def test_footnotes_name_the_interval_that_was_computed(protocol: dict[str, object], words: str) -> None:
    run = sample_run(datasets=(DUTCH,), betas=(0.0, 1.0), repetitions=3, techniques=TECHNIQUES[:2])
    run = replace(run, description=changed(run.description, **protocol))
    for table in tables_of(run).values():
        assert words in table.notes[0], table.name
    once = sample_run(datasets=(DUTCH,), betas=(0.0, 1.0), repetitions=1, techniques=TECHNIQUES[:2])
    assert "±" not in "".join(note for table in tables_of(once).values() for note in table.notes)


def test_tables_2_and_5_have_a_row_per_beta_and_a_group_per_dataset(tables: dict[str, ReportTable]) -> None:
    betas = ["0.00", "0.25", "0.50", "0.75", "1.00"]
    for name, columns, rows in (
        ("table2_baseline", ("Disc.", "Acc.", "Accepted"), [*betas, "Best constant answer"]),
        ("table5_baseline", ("Over.", "Under."), betas),
    ):
        table = tables[name]
        assert table.groups == ("Adult", "COMPAS (leaky)", "Dutch (embedded)")
        assert table.columns == columns
        assert [row.heading for row in table.blocks[0].rows] == rows
        assert {len(row.cells) for row in table.blocks[0].rows} == {3 * len(columns)}


def test_the_baseline_is_each_datasets_own(run: Run, tables: dict[str, ReportTable]) -> None:
    cells = tables["table2_baseline"].blocks[0].rows[2].cells
    baselines = (("adult", "drop_sensitive"), ("compas_leaky", "drop_sensitive"), ("dutch:embedded", "none"))
    means = run.results.groupby(["dataset", "technique", "beta", "metric"])["value"].mean()
    expected = [means[dataset, technique, 0.5, "discrimination"] for dataset, technique in baselines]
    assert [cell.mean for cell in cells[::3]] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("table3_preprocessing", ("Massaging", "Reweighing", "Uniform sampling", "Preferential sampling")),
        ("table7_repair", ("Repair 0.25", "Repair 0.50", "Repair 0.75")),
    ],
)
def test_technique_tables_have_a_block_of_betas_per_dataset(
    tables: dict[str, ReportTable], name: str, groups: tuple[str, ...]
) -> None:
    table = tables[name]
    assert table.row_headings == ("Dataset", "β")
    assert table.groups == groups
    assert [block.heading for block in table.blocks] == ["Adult", "COMPAS (leaky)", "Dutch (embedded)"]
    with_accuracy = name == "table3_preprocessing"
    assert all(len(block.rows) == len(BETAS) + with_accuracy for block in table.blocks)
    for row in (row for block in table.blocks for row in block.rows):
        assert len(row.cells) == (3 if with_accuracy else 2) * len(groups)


def test_who_is_accepted_stands_beside_accuracy_and_the_constant_answer_below(
    run: Run, tables: dict[str, ReportTable]
) -> None:
    table = tables["all_discrimination_accuracy"]
    assert table.columns == ("Disc.", "Acc.", "Accepted")
    first = table.blocks[0].rows[0].cells
    own = run.results.query("dataset == 'adult' and technique == 'none' and beta == 0")
    means = own.groupby("metric")["value"].mean()
    names = ("accepted", "accepted_deprived", "accepted_favored")
    assert first[2].text == " / ".join(f"{100 * means[name]:.0f} %" for name in names)
    constants = [block.rows[-1].cells[1].mean for block in table.blocks]
    # The more frequent outcome of each dataset's test rows.
    assert constants == pytest.approx([37155 / 48842, 3283 / 6150, 31657 / 60420])
    assert [block.rows[-1].cells[2].text[:5] for block in table.blocks] == ["0 % /", "100 %", "0 % /"]
    assert "COMPAS (leaky): accepting everybody" in to_markdown(table)


def test_without_counts_of_the_test_rows_nothing_is_said_of_constant_answers(run: Run) -> None:
    datasets = tuple(replace(dataset, test_groups=None) for dataset in run.description.datasets)
    tables = tables_of(replace(run, description=changed(run.description, datasets=datasets)))
    table = tables["all_discrimination_accuracy"]
    assert {row.cells[1].text for block in table.blocks for row in block.rows[-1:]} == {""}
    assert not any(note.startswith("Best constant answer") for note in table.notes)


def test_what_is_of_no_use_is_marked_and_explained(run: Run, tables: dict[str, ReportTable]) -> None:
    name = "all_discrimination_accuracy"
    marks = {row.heading: row.cells[-3].mark for row in tables[name].blocks[0].rows}
    assert marks["No technique"] == "†", "an accuracy of .717 at β = 1"
    assert marks["Uniform sampling"] == ""
    assert "† less accurate than refusing everybody" in to_markdown(tables[name])
    assert "‡" not in to_markdown(tables[name])
    refusing = run.results["technique"].eq("massaging") & run.results["metric"].isin(
        [metric.name for metric in SHARES]
    )
    table = tables_of(replace(run, results=run.results.assign(value=run.results["value"].mask(refusing, 0))))
    for cell in table[name].blocks[0].rows[2].cells[:2]:
        assert cell.mark == "‡"
    assert "‡ answers nearly everybody, or each group, the same" in to_markdown(table[name])
    assert r"\ddag{}" in to_latex(table[name])


def test_tables_have_the_papers_names_in_its_experiment_only(run: Run) -> None:
    own = tables_of(replace(run, description=changed(run.description, published=None)))
    assert [name for name in own if "table" in name] == []
    assert "preprocessing_discrimination_accuracy" in own


def test_a_deprived_group_that_is_better_off_is_said() -> None:
    better = replace(ADULT, notes=("the deprived group is better off by 0.100.",))
    table = tables_of(sample_run(datasets=(better,), repetitions=2))["table2_baseline"]
    assert "Note: the deprived group is better off by 0.100." in to_markdown(table)


def test_the_large_tables_have_every_technique(tables: dict[str, ReportTable]) -> None:
    for block in tables["all_discrimination_accuracy"].blocks:
        titles = [technique.title for technique in TECHNIQUES]
        assert [row.heading for row in block.rows] == [*titles, "Best constant answer"]


def test_missing_techniques_leave_their_columns_out() -> None:
    tables = tables_of(sample_run(techniques=(TECHNIQUES[0], TECHNIQUES[3]), repetitions=2))
    assert tables["table3_preprocessing"].groups == ("Reweighing",)
    assert "table4_repair" not in tables
    assert tables["table2_baseline"].groups == ("Dutch (embedded)",)


def test_further_metrics_come_in_further_pairs() -> None:
    more = (*METRICS, *(MetricDescription(f"m{i}", f"Metric {i}") for i in range(3)))
    run = sample_run(techniques=TECHNIQUES[:1], repetitions=2)
    copies = [run.results[run.results["metric"] == "accuracy"].assign(metric=f"m{i}") for i in range(3)]
    more_run = Run(
        pd.concat([run.results, *copies]), run.failures, changed(run.description, metrics=more, headline=())
    )
    assert [name for name in tables_of(more_run) if name.startswith("all_m")] == ["all_m0_m1", "all_m2"]


def test_a_run_of_one_metric_of_a_pair_shows_that_one() -> None:
    tables = tables_of(sample_run(metrics=METRICS[:1], repetitions=2))
    assert tables["table2_baseline"].columns == ("Disc.",)
    assert "table5_baseline" not in tables


def test_cells_without_a_value_say_why(tables: dict[str, ReportTable]) -> None:
    markdown = to_markdown(tables["table3_preprocessing"])
    assert markdown.count("–<sup>a</sup>") == 4
    assert markdown.count(" – ") == 2, "nor is it known who would be accepted"
    note = "<sup>a</sup> 0 of 30 values; 30 failed: no deprived row has the favorable label"
    assert note in markdown
    assert r"--\textsuperscript{a}" in to_latex(tables["table3_preprocessing"])


def test_cells_that_lack_repetitions_say_so(tables: dict[str, ReportTable]) -> None:
    cell = tables["table6_preprocessing"].blocks[2].rows[0].cells[0]
    assert math.isfinite(cell.mean)
    assert cell.remark == "29 of 30 values; 1 undefined: no favored row is predicted favorable."
    whole = tables["table3_preprocessing"].blocks[2].rows[0].cells[0]
    assert whole.remark is None


def test_gaps_without_a_record_are_told_apart(run: Run) -> None:
    no_reweighing = run.results.query(
        "not (technique == 'reweighing' and beta == 0.5 and dataset == 'adult')"
    )
    some = no_reweighing.drop(no_reweighing.query("technique == 'massaging' and repetition == 7").index)
    block = tables_of(replace(run, results=some))["table3_preprocessing"].blocks[0]
    assert block.rows[2].cells[3].remark == "0 of 30 values; not part of this run."
    assert block.rows[0].cells[0].remark == "29 of 30 values; no other result is recorded."


def test_a_single_repetition_has_no_interval() -> None:
    table = tables_of(sample_run(repetitions=1))["table2_baseline"]
    assert "±" not in to_markdown(table)
    assert r"\pm" not in to_latex(table)


def test_csv_holds_full_precision_and_nothing_for_gaps(tables: dict[str, ReportTable]) -> None:
    table = tables["table3_preprocessing"]
    rows = list(csv.reader(io.StringIO(to_csv(table))))
    assert rows[0][:3] == ["Dataset", "β", "Massaging Disc."]
    assert len(rows) == 1 + 3 * 6
    assert float(rows[1][2]) == table.blocks[0].rows[0].cells[0].mean
    assert rows[-2][:2] == ["Dutch (embedded)", "1.00"]
    assert rows[-2][-6:] == [""] * 6


def test_minus_zero_is_zero() -> None:
    run = sample_run(techniques=TECHNIQUES[:1], datasets=(DUTCH,), betas=(0.0,), repetitions=2)
    tables = tables_of(replace(run, results=run.results.assign(value=-1e-9)))
    assert "-0.000" not in to_markdown(tables["table2_baseline"]) + to_latex(tables["table2_baseline"])


def test_notes_name_data_seed_and_versions(tables: dict[str, ReportTable]) -> None:
    for markup in (to_markdown, to_latex):
        text = markup(tables["table3_preprocessing"])
        for part in (
            "Mean of 30 repetitions",
            "Adult: tested on real data",
            "1,769 of 16,192 deprived",
            "5d0c5d0c5d0c",
            "EMBEDDED NETWORK, NOT REAL DATA",
            "Warning, COMPAS (leaky): the column event follows from the outcome",
            "seed 42",
            "numpy 2.4.6",
        ):
            assert part in text


def test_every_table_of_embedded_data_says_so_in_every_form(tables: dict[str, ReportTable]) -> None:
    for table in tables.values():
        assert "not real data" in table.caption
        for markup in MARKUPS.values():
            assert "Dutch (embedded)" in markup(table)


def test_tables_of_real_data_do_not_speak_of_embedding() -> None:
    for table in tables_of(sample_run(datasets=(ADULT,), repetitions=2)).values():
        assert not any("embedded" in markup(table).lower() for markup in MARKUPS.values())


def test_markdown_rows_have_one_entry_per_column(tables: dict[str, ReportTable]) -> None:
    for table in tables.values():
        rows = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
        widths = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert widths == {1 + len(table.row_headings) + len(table.groups) * len(table.columns)}


NASTY = r"[R&D]_100%#{x}~^\$<a|b>*β…漢"


def nasty_run() -> Run:
    nasty = TechniqueDescription("massaging", NASTY)
    dataset = replace(DUTCH, title=NASTY, entry=replace(DUTCH.entry, baseline="massaging"), warning=NASTY)
    run = sample_run(techniques=(nasty, *TECHNIQUES[3:5]), datasets=(dataset, ADULT), repetitions=2)
    return replace(run, failures=run.failures.assign(reason=NASTY))


@pytest.mark.parametrize("make", [sample_run, nasty_run, lambda: sample_run(techniques=many_techniques(25))])
def test_latex_holds_together(make: object) -> None:
    for table in tables_of(make()).values():  # type: ignore[operator]
        check_latex(to_latex(table))


def test_nasty_names_survive_markdown() -> None:
    table = tables_of(nasty_run())["table3_preprocessing"]
    rows = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert "&lt;a" in rows[0]


def test_tall_tables_become_a_float_per_dataset() -> None:
    latex = to_latex(tables_of(sample_run(techniques=many_techniques(25)))["all_discrimination_accuracy"])
    assert latex.count(r"\begin{table}") == 3
    assert r"not real data): Dutch (embedded)}" in latex
