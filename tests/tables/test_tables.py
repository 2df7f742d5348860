"""Tables: the paper's layout, one table of all techniques, and markup that holds together."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace

import pandas as pd
import pytest

from benchmark.errors import UnknownNameError
from benchmark.runs.manifest import MetricDescription
from benchmark.tables.layout import Table
from benchmark.tables.techniques import Numbers, techniques_table
from tests.helpers.latex import check_latex, rows_of, tables_of
from tests.helpers.made_up_runs import (
    ADULT,
    BETAS,
    DUTCH,
    METRICS,
    SHARES,
    TECHNIQUES,
    Run,
    changed,
    made_up_technique,
    many_techniques,
    sample_run,
)

FORMS = (Table.to_csv, Table.to_markdown, Table.to_latex)


@pytest.fixture(scope="module")
def run() -> Run:
    return sample_run(shares=True)


@pytest.fixture(scope="module")
def tables(run: Run) -> dict[str, Table]:
    return tables_of(run)


def notes_of(run: Run) -> str:
    return Numbers.of_run(run.frames).notes


def test_all_of_the_papers_tables_are_there(tables: dict[str, Table]) -> None:
    assert list(tables) == [
        "techniques",
        "table2_baseline",
        "table3_preprocessing",
        "table4_repair",
        "table5_baseline",
        "table6_preprocessing",
        "table7_repair",
    ]


def test_tables_in_the_papers_shape_belong_to_its_experiment(run: Run) -> None:
    assert [*tables_of(replace(run, description=changed(run.description, published=None)))] == ["techniques"]


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ({}, "± half of the 95 % Student-t interval."),
        ({"holdout": 0.3}, "± half of the 95 % Student-t interval."),  # samples of a network
        ({"train": "data", "holdout": 0.3}, "± half of the 95 % interval of Nadeau and Bengio, which allows"),
        ({"train": "data", "holdout": 0.5}, "± half of the 95 % interval of Nadeau and Bengio, which allows"),
    ],
)
def test_notes_name_the_interval_that_was_computed(protocol: dict[str, object], words: str) -> None:
    run = sample_run(datasets=(DUTCH,), betas=(0.0, 1.0), repetitions=3, techniques=TECHNIQUES[:2])
    run = replace(run, description=changed(run.description, **protocol))
    for table in tables_of(run).values():
        assert words in table.note, table.name
    assert words in notes_of(run)
    once = sample_run(datasets=(DUTCH,), betas=(0.0, 1.0), repetitions=1, techniques=TECHNIQUES[:2])
    assert "±" not in "".join(table.note for table in tables_of(once).values())


def test_tables_2_and_5_have_a_row_per_beta_and_a_group_per_dataset(tables: dict[str, Table]) -> None:
    betas = ["0.00", "0.25", "0.50", "0.75", "1.00"]
    for name, columns, rows in (
        ("table2_baseline", ("Disc.", "Acc.", "Accepted"), [*betas, "Best constant answer"]),
        ("table5_baseline", ("Over.", "Under."), betas),
    ):
        table = tables[name]
        groups = ("Adult", "COMPAS (leaky)", "Dutch (embedded)")
        assert table.columns == tuple((group, column) for group in groups for column in columns)
        assert [row.names[-1] for row in rows_of(table, 0)] == rows
        assert {len(row.cells) for row in rows_of(table, 0)} == {3 * len(columns)}


def test_the_baseline_is_each_datasets_own(run: Run, tables: dict[str, Table]) -> None:
    cells = rows_of(tables["table2_baseline"], 0)[2].cells
    baselines = (("adult", "drop_sensitive"), ("compas_leaky", "drop_sensitive"), ("dutch:embedded", "none"))
    means = run.results.groupby(["dataset", "technique", "level", "metric"])["value"].mean()
    expected = [means[dataset, technique, 0.5, "discrimination"] for dataset, technique in baselines]
    assert [cell.mean for cell in cells[::3]] == pytest.approx(expected)
    assert "Baseline, Adult with c45: Sensitive feature dropped." in notes_of(run)


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("table3_preprocessing", ("Massaging", "Reweighing", "Uniform sampling", "Preferential sampling")),
        ("table7_repair", ("Repair 0.25", "Repair 0.50", "Repair 0.75")),
    ],
)
def test_technique_tables_have_a_block_of_betas_per_dataset(
    tables: dict[str, Table], name: str, groups: tuple[str, ...]
) -> None:
    table = tables[name]
    assert (table.block_names, table.row_names) == (("Dataset",), ("β",))
    assert tuple(dict.fromkeys(group for group, _ in table.columns)) == groups
    assert [*table.blocks] == ["Adult", "COMPAS (leaky)", "Dutch (embedded)"]
    with_accuracy = name == "table3_preprocessing"
    assert all(len(rows) == len(BETAS) + with_accuracy for rows in table.blocks.values())
    for row in (row for rows in table.blocks.values() for row in rows):
        assert len(row.cells) == (3 if with_accuracy else 2) * len(groups)


def test_missing_techniques_leave_their_columns_out() -> None:
    tables = tables_of(sample_run(techniques=(TECHNIQUES[0], TECHNIQUES[3]), repetitions=2))
    assert {group for group, _ in tables["table3_preprocessing"].columns} == {"Reweighing"}
    assert "table4_repair" not in tables
    assert {group for group, _ in tables["table2_baseline"].columns} == {"Dutch (embedded)"}


def test_a_run_of_one_metric_of_a_pair_shows_that_one() -> None:
    tables = tables_of(sample_run(metrics=METRICS[:1], repetitions=2))
    assert {heading for _, heading in tables["table2_baseline"].columns} == {"Disc."}
    assert "table5_baseline" not in tables


# ---------------------------------------------------------------------------------- all techniques, one table


def test_the_table_of_techniques_has_all_of_them_at_each_level(run: Run, tables: dict[str, Table]) -> None:
    table = tables["techniques"]
    assert table.columns == (("", "Disc."), ("", "Acc."), ("", "Accepted"))
    assert [rows[0].names[:2] for rows in [*table.blocks.values()][:6]] == [
        *(("Adult", f"{beta:g}") for beta in BETAS),
        ("COMPAS (leaky)", "0"),
    ]
    assert [*table.blocks][1] == "Adult, β = 0.25"
    for rows in table.blocks.values():
        titles = [technique.title for technique in TECHNIQUES]
        assert [row.names[2:] for row in rows] == [*((t,) for t in titles), ("Best constant answer",)]
    first = rows_of(table, 0)[0].cells
    own = run.results.query("dataset == 'adult' and technique == 'none' and level == 0")
    means = own.groupby("metric")["value"].mean()
    assert [cell.mean for cell in first[:2]] == pytest.approx([means["discrimination"], means["accuracy"]])
    names = ("accepted", "accepted_deprived", "accepted_favored")
    assert first[2].text == " / ".join(f"{100 * means[name]:.0f} %" for name in names)


def test_the_constant_answer_is_the_more_frequent_outcome(run: Run, tables: dict[str, Table]) -> None:
    rows = [rows[-1] for rows in [*tables["techniques"].blocks.values()][:: len(BETAS)]]
    constants = [row.cells[1].mean for row in rows]
    assert constants == pytest.approx([37155 / 48842, 3283 / 6150, 31657 / 60420])
    assert [row.cells[2].text[:5] for row in rows] == ["0 % /", "100 %", "0 % /"]


def test_without_counts_of_the_test_rows_nothing_is_said_of_constant_answers(run: Run) -> None:
    datasets = tuple(replace(dataset, test_groups=None) for dataset in run.description.datasets)
    unknown = replace(run, description=changed(run.description, datasets=datasets))
    tables = tables_of(unknown)
    assert rows_of(tables["techniques"], 0)[-1].names[2:] == (TECHNIQUES[-1].title,)
    assert {c.text for c in rows_of(tables["table2_baseline"], 0)[-1].cells} == {""}


def test_the_best_of_a_column_is_bold_by_its_distance_to_the_ideal(run: Run) -> None:
    near = run.results["technique"].eq("repair_0.25") & run.results["metric"].eq("discrimination")
    # Fair on average, and in no single sample.
    either = (-1.0) ** run.results["repetition"] * 0.6
    for values, best in ((1e-4, True), (either, False)):
        own = replace(run, results=run.results.assign(value=run.results["value"].mask(near, values)))
        table = tables_of(own)["techniques"]
        cells = {row.names[-1]: row.cells for row in rows_of(table, 2)}
        assert abs(cells["Repair 0.25"][0].mean) < 1e-3
        assert cells["Repair 0.25"][0].best is best
        assert any(row[0].best for row in cells.values())
    assert "**0.000**" in table.to_markdown() or r"\mathbf" in table.to_latex()


def test_what_is_of_no_use_is_marked_and_never_the_best(run: Run, tables: dict[str, Table]) -> None:
    marks = {row.names[-1]: row.cells[1].mark for row in rows_of(tables["techniques"], len(BETAS) - 1)}
    assert marks["No technique"] == "†", "an accuracy of .717 at β = 1"
    assert marks["Uniform sampling"] == ""
    refusing = run.results["technique"].eq("massaging") & run.results["metric"].isin(
        ["discrimination", *(metric.name for metric in SHARES)]
    )
    refused = replace(run, results=run.results.assign(value=run.results["value"].mask(refusing, 0)))
    table = tables_of(refused)["techniques"]
    for cell in rows_of(table, 0)[2].cells[:2]:
        assert (cell.mark, cell.best) == ("‡", False)
    assert r"\ddag{}" in table.to_latex()
    for sign in "‡†¶+*":
        assert re.search(rf"(?m)^{re.escape(sign)}[ :]", notes_of(refused))


def test_columns_and_techniques_can_be_chosen(run: Run) -> None:
    numbers = Numbers.of_run(run.frames)
    table = techniques_table(numbers, ["accepted", "underestimation"], ["massaging", "none"])
    assert [heading for _, heading in table.columns] == ["Accepted", "Under."]
    assert [row.names[-1] for row in rows_of(table, 0)] == ["Massaging", "No technique"]
    for columns, techniques, wrong in ((["acuracy"], [], "accuracy"), ([], ["masaging"], "massaging")):
        with pytest.raises(UnknownNameError, match=f"did you mean '{wrong}'"):
            techniques_table(numbers, columns, techniques)


def test_a_run_without_the_metrics_of_goals_shows_its_first_ones() -> None:
    more = tuple(MetricDescription(f"m{i}", f"Metric {i}") for i in range(6))
    run = sample_run(techniques=TECHNIQUES[:1], repetitions=2)
    copies = [run.results[run.results["metric"] == "accuracy"].assign(metric=f"m{i}") for i in range(6)]
    own = Run(pd.concat(copies), run.failures, changed(run.description, metrics=more, headline=()))
    assert [heading for _, heading in tables_of(own)["techniques"].columns] == [
        f"Metric {i}" for i in range(4)
    ]


def test_cells_without_a_value_say_so(tables: dict[str, Table], run: Run) -> None:
    markdown = tables["table3_preprocessing"].to_markdown()
    assert markdown.count("–<sup>\\*</sup>") == 4
    assert r"--\textsuperscript{{*}}" in tables["table3_preprocessing"].to_latex()
    cell = rows_of(tables["table6_preprocessing"], 2)[0].cells[0]
    assert math.isfinite(cell.mean)
    assert cell.mark == "*"
    assert rows_of(tables["table3_preprocessing"], 2)[0].cells[0].mark == ""
    some = run.results.query("not (technique == 'reweighing' and level == 0.5 and dataset == 'adult')")
    rows = rows_of(tables_of(replace(run, results=some))["table3_preprocessing"], 0)
    assert rows[2].cells[3].text == ""


def test_a_single_repetition_has_no_interval() -> None:
    table = tables_of(sample_run(repetitions=1))["table2_baseline"]
    assert "±" not in table.to_markdown()
    assert r"\pm" not in table.to_latex()


def test_csv_holds_six_digits_and_nothing_for_gaps(tables: dict[str, Table]) -> None:
    table = tables["table3_preprocessing"]
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows[0][:4] == ["Dataset", "β", "Massaging Disc.", "Massaging Disc. ±"]
    assert len(rows) == 1 + 3 * 6
    assert float(rows[1][2]) == pytest.approx(rows_of(table, 0)[0].cells[0].mean, rel=1e-5)
    assert rows[-2][:2] == ["Dutch (embedded)", "1.00"]
    assert rows[-2][-5:] == [""] * 5


def test_minus_zero_is_zero() -> None:
    run = sample_run(techniques=TECHNIQUES[:1], datasets=(DUTCH,), betas=(0.0,), repetitions=2)
    table = tables_of(replace(run, results=run.results.assign(value=-1e-9)))["table2_baseline"]
    assert "-0.000" not in table.to_markdown() + table.to_latex()


def test_notes_name_data_seed_and_versions(run: Run) -> None:
    better = replace(ADULT, notes=("the deprived group is better off by 0.100.",))
    described = changed(run.description, datasets=(better, *run.description.datasets[1:]))
    for part in (
        "Mean of 30 repetitions",
        "Adult: tested on real data",
        "5d0c5d0c5d0c",
        "EMBEDDED NETWORK, NOT REAL DATA",
        "Note, Adult: the deprived group is better off by 0.100.",
        "Warning, COMPAS (leaky): the column event follows from the outcome",
        "seed 42",
        "numpy 2.4.6",
    ):
        assert part in notes_of(replace(run, description=described))


def test_every_table_of_embedded_data_says_so_in_every_form(tables: dict[str, Table]) -> None:
    for table in tables.values():
        assert "not real data" in table.caption
        for form in FORMS:
            assert "Dutch (embedded)" in form(table)


def test_tables_of_real_data_do_not_speak_of_embedding() -> None:
    for table in tables_of(sample_run(datasets=(ADULT,), repetitions=2)).values():
        assert not any("embedded" in form(table).lower() for form in FORMS)


def test_markdown_rows_have_one_entry_per_column(tables: dict[str, Table]) -> None:
    for table in tables.values():
        rows = [line for line in table.to_markdown().splitlines() if line.startswith("|")]
        widths = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert widths == {1 + len(table.row_names) + len(table.columns)}


NASTY = r"[R&D]_100%#{x}~^\$<a|b>*β…漢"


def nasty_run() -> Run:
    nasty = made_up_technique("massaging", NASTY)
    dataset = replace(DUTCH, title=NASTY, entry=replace(DUTCH.entry, baseline="massaging"), warning=NASTY)
    run = sample_run(techniques=(nasty, *TECHNIQUES[3:5]), datasets=(dataset, ADULT), repetitions=2)
    return replace(run, failures=run.failures.assign(reason=NASTY))


@pytest.mark.parametrize("make", [sample_run, nasty_run, lambda: sample_run(techniques=many_techniques(25))])
def test_latex_holds_together(make: object) -> None:
    for table in tables_of(make()).values():  # type: ignore[operator]
        check_latex(table.to_latex())


def test_nasty_names_survive_markdown() -> None:
    table = tables_of(nasty_run())["table3_preprocessing"]
    rows = [line for line in table.to_markdown().splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert "&lt;a" in rows[0]


def test_tall_tables_become_a_float_per_block() -> None:
    latex = tables_of(sample_run(techniques=many_techniques(25)))["techniques"].to_latex()
    assert latex.count(r"\begin{table}") == 3 * len(BETAS)
    assert r"not real data): Dutch (embedded), $\beta$ = 0.5}" in latex
