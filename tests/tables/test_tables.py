"""The table of all techniques, and markup that holds together."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pandas as pd
import pytest

from benchmark.errors import UnknownNameError
from benchmark.runs.descriptions import MetricDescription
from benchmark.tables.layout import Table
from benchmark.tables.numbers import Numbers
from benchmark.tables.techniques import techniques_table
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

FORMS = (Table.to_csv, Table.to_markdown, Table.to_latex)


@pytest.fixture(scope="module")
def run() -> Run:
    return sample_run(shares=True)


@pytest.fixture(scope="module")
def table(run: Run) -> Table:
    return table_of(run)


def notes_of(run: Run) -> str:
    return Numbers.of_run(run.frames).notes


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
    assert words in table_of(run).note
    assert words in notes_of(run)
    once = sample_run(datasets=(DUTCH,), betas=(0.0, 1.0), repetitions=1, techniques=TECHNIQUES[:2])
    assert "±" not in table_of(once).note


def test_the_table_of_techniques_has_all_of_them_at_each_level(run: Run, table: Table) -> None:
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


def test_the_constant_answer_is_the_more_frequent_outcome(run: Run, table: Table) -> None:
    rows = [rows[-1] for rows in [*table.blocks.values()][:: len(BETAS)]]
    constants = [row.cells[1].mean for row in rows]
    assert constants == pytest.approx([37155 / 48842, 3283 / 6150, 31657 / 60420])
    assert [row.cells[2].text[:5] for row in rows] == ["0 % /", "100 %", "0 % /"]


def test_without_counts_of_the_test_rows_nothing_is_said_of_constant_answers(run: Run) -> None:
    datasets = tuple(replace(dataset, test_groups=None) for dataset in run.description.datasets)
    unknown = replace(run, description=changed(run.description, datasets=datasets))
    table = table_of(unknown)
    assert rows_of(table, 0)[-1].names[2:] == (TECHNIQUES[-1].title,)


def test_the_best_of_a_column_is_bold_by_its_distance_to_the_ideal(run: Run) -> None:
    near = run.results["technique"].eq("repair_0.25") & run.results["metric"].eq("discrimination")
    # Fair on average, and in no single sample.
    either = (-1.0) ** run.results["repetition"] * 0.6
    for values, best in ((1e-4, True), (either, False)):
        own = replace(run, results=run.results.assign(value=run.results["value"].mask(near, values)))
        table = table_of(own)
        cells = {row.names[-1]: row.cells for row in rows_of(table, 2)}
        assert abs(cells["Repair 0.25"][0].mean) < 1e-3
        assert cells["Repair 0.25"][0].best is best
        assert any(row[0].best for row in cells.values())
    assert "**0.000**" in table.to_markdown() or r"\mathbf" in table.to_latex()


def test_what_is_of_no_use_is_marked_and_never_the_best(run: Run, table: Table) -> None:
    marks = {row.names[-1]: row.cells[1].mark for row in rows_of(table, len(BETAS) - 1)}
    assert marks["No technique"] == "†", "an accuracy of .717 at β = 1"
    assert marks["Uniform sampling"] == ""
    refusing = run.results["technique"].eq("massaging") & run.results["metric"].isin(
        ["discrimination", *(metric.name for metric in SHARES)]
    )
    refused = replace(run, results=run.results.assign(value=run.results["value"].mask(refusing, 0)))
    table = table_of(refused)
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
    assert [heading for _, heading in table_of(own).columns] == [f"Metric {i}" for i in range(4)]


def test_cells_without_a_value_say_so(table: Table, run: Run) -> None:
    assert "–<sup>\\*</sup>" in table.to_markdown()
    assert r"--\textsuperscript{{*}}" in table.to_latex()
    some = run.results.query("not (technique == 'reweighing' and level == 0.5 and dataset == 'adult')")
    rows = rows_of(table_of(replace(run, results=some)), 2)
    assert [row.cells[0].text for row in rows if row.names[-1] == "Reweighing"] == [""]


def test_a_single_repetition_has_no_interval() -> None:
    table = table_of(sample_run(repetitions=1))
    assert "±" not in table.to_markdown()
    assert r"\pm" not in table.to_latex()


def test_csv_holds_six_digits_and_nothing_for_gaps(table: Table) -> None:
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows[0][:5] == ["Dataset", "β", "Technique", "Disc.", "Disc. ±"]
    assert float(rows[1][3]) == pytest.approx(rows_of(table, 0)[0].cells[0].mean, rel=1e-5)
    assert rows[-1][:3] == ["Dutch (embedded)", "1", "Best constant answer"]
    assert rows[-1][4] == ""


def test_minus_zero_is_zero() -> None:
    run = sample_run(techniques=TECHNIQUES[:1], datasets=(DUTCH,), betas=(0.0,), repetitions=2)
    table = table_of(replace(run, results=run.results.assign(value=-1e-9)))
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


def test_every_table_of_embedded_data_says_so_in_every_form(table: Table) -> None:
    assert "not real data" in table.caption
    for form in FORMS:
        assert "Dutch (embedded)" in form(table)


def test_tables_of_real_data_do_not_speak_of_embedding() -> None:
    table = table_of(sample_run(datasets=(ADULT,), repetitions=2))
    assert not any("embedded" in form(table).lower() for form in FORMS)


def test_markdown_rows_have_one_entry_per_column(table: Table) -> None:
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
    check_latex(table_of(make()).to_latex())  # type: ignore[operator]


def test_nasty_names_survive_markdown() -> None:
    table = table_of(nasty_run())
    rows = [line for line in table.to_markdown().splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert "&lt;a" in table.to_markdown()


def test_tall_tables_become_a_float_per_block() -> None:
    latex = table_of(sample_run(techniques=many_techniques(25))).to_latex()
    assert latex.count(r"\begin{table}") == 3 * len(BETAS)
    assert r"not real data): Dutch (embedded), $\beta$ = 0.5}" in latex
