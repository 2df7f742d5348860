"""What techniques are told stands on every surface, and only those that know as much are compared."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from benchmark.columns import BLIND, KNOWS, RESULT_COLUMNS
from benchmark.experiment.telling import Telling
from benchmark.facts import facts_of, first_facts
from benchmark.facts.model import Facts
from benchmark.runs.analysis import RunStatistics, run_statistics
from benchmark.runs.finished import RunFrames, read_frame
from benchmark.tables.techniques import Numbers, techniques_table
from benchmark.text.terminal import as_text
from benchmark.text.writing import csv_text
from benchmark.wording import answer_text
from tests.helpers.answers import outcomes
from tests.helpers.two_goals import told_run

GAP, REFUSALS = Telling(fact="gap"), Telling(fact="refusals")
TOLD = {"undoes": GAP, "evens": REFUSALS}
HEADING = "Told about the planted bias:"


@pytest.fixture(scope="module")
def run() -> RunFrames:
    return told_run(TOLD)


@pytest.fixture(scope="module")
def statistics(run: RunFrames) -> RunStatistics:
    return run_statistics(run)


@pytest.fixture(scope="module")
def facts(statistics: RunStatistics) -> Facts:
    return facts_of(statistics)


def test_facts_say_what_each_technique_knows(facts: Facts) -> None:
    known = {technique.name: technique.knows for technique in facts.techniques}
    assert {name: words for name, words in known.items() if words != BLIND} == {
        "undoes": "the gap",
        "evens": "50 refusals",
    }
    (scenario,) = facts.scenarios
    for answers in scenario.answers:
        rows = answers.at_highest.techniques
        assert [row.knows for row in rows] == [BLIND] * 4 + ["the gap", "50 refusals"]
        assert {row.technique: row.knows for row in rows} == known


def test_ranks_are_among_techniques_that_know_as_much(statistics: RunStatistics) -> None:
    ranks = statistics.ranks.query("level == 0.5")
    sets = ranks.groupby([KNOWS, "metric"], sort=False)["technique"].agg(set)
    blind = {"none", "refuses", "trifle", "levels"}
    expected = {BLIND: blind, "the gap": {"none", "undoes"}, "50 refusals": {"none", "evens"}}
    assert all(found == expected[knows] for (knows, _), found in sets.items())
    # As if the others had not been run.
    for knows in (BLIND, "the gap"):
        names = expected[knows]
        alone = run_statistics(
            told_run({}, [name for name in ("none", *TOLD, *blind - {"none"}) if name in names])
        )
        own = ranks[ranks[KNOWS] == knows].reset_index(drop=True).drop(columns=KNOWS)
        other = alone.ranks.query("level == 0.5").reset_index(drop=True).drop(columns=KNOWS)
        order = ["metric", "technique"]
        pd.testing.assert_frame_equal(*(f.sort_values(order, ignore_index=True) for f in (own, other)))


def test_a_told_technique_beats_those_that_know_as_much_alone(statistics: RunStatistics) -> None:
    rows = statistics.answers.query("goal == 'restore' and level == 0.5")
    found = dict(zip(rows["technique"], outcomes(rows), strict=True))
    assert (found["undoes"], found["evens"]) == ("helps", "helps"), "dominated where they know the same"
    assert rows.set_index("technique")["choice"].replace("", None).dropna().index.tolist() == [
        "undoes",
        "evens",
    ]
    assert rows.set_index("technique").loc["evens", "dominated_by"] == ""
    same = run_statistics(told_run({"undoes": GAP, "evens": GAP})).answers
    same = same.query("goal == 'restore' and level == 0.5").set_index("technique")
    assert same.loc["evens", "dominated_by"] == "undoes"


def test_no_told_technique_is_the_answer(run: RunFrames, facts: Facts) -> None:
    assert facts.use is None
    for found in (facts, first_facts(run)):
        text = as_text(answer_text(found))
        answer, block = text.split(HEADING)
        assert "Undoes" not in answer
        assert "Evens" not in answer
        assert answer.count("none of the 3 techniques that are told nothing is shown to") == 2
        lines = " ".join(block.split())
        assert "- To restore decisions (distance .20): the gap: Undoes .02; 50 refusals: Evens .14." in lines
        assert (
            "- To equalize acceptance (discrimination .38): the gap: Undoes .16; 50 refusals: Evens .01."
            in lines
        )
        table = {" ".join(line.split()[:2]): line for line in block.splitlines()}
        assert "  the gap  " in table["Undoes the"]


@pytest.mark.parametrize("blind", [["none"], ["none", "trifle"]])
def test_a_run_may_have_told_techniques_alone(blind: list[str]) -> None:
    statistics = run_statistics(told_run(TOLD, [*blind, *TOLD]))
    facts = facts_of(statistics)
    text = as_text(answer_text(facts))
    alone = len(blind) == 1
    assert text.startswith("No answer: no technique that is told nothing") == alone
    assert HEADING in text
    assert facts.use is None
    assert {ranks.knows for ranks in facts.ranks} == {"the gap", "50 refusals", *[BLIND] * (not alone)}


def test_files_have_a_column_behind_the_technique(
    run: RunFrames, statistics: RunStatistics, tmp_path: Path
) -> None:
    for name, frame in statistics.frames.items():
        if "technique" in frame.columns:
            assert frame.columns[list(frame.columns).index("technique") + 1] == KNOWS, name
    answers = statistics.frames["answers"].drop_duplicates("technique").set_index("technique")[KNOWS]
    assert answers.to_dict() == run.manifest.knowledge
    path = tmp_path / "results.csv"
    path.write_text(csv_text(run.manifest.in_files(run.results)), encoding="utf-8")
    assert KNOWS in path.read_text(encoding="utf-8").splitlines()[0]
    pd.testing.assert_frame_equal(read_frame(path, RESULT_COLUMNS, ""), run.results, check_dtype=False)


def test_the_table_for_print_has_a_column_and_a_best_value_for_those_that_know_as_much() -> None:
    statistics = run_statistics(told_run({"undoes": GAP, "evens": GAP}, ["none", "trifle", *TOLD]))
    table = techniques_table(Numbers.of_statistics(statistics), ["discrimination"])
    assert table.row_names == ("Technique", "Told")
    rows = table.blocks["Adult, β = 0.5"]
    told = {row.names[2:]: row.cells[0].best for row in rows[:-1]}
    assert told == {
        ("Nothing", ""): False,
        ("Trifle", ""): True,
        ("Undoes", "the gap"): False,
        ("Evens", "the gap"): True,
    }
    assert "Only techniques that are told as much are compared with each other." in table.note
