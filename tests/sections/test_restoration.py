"""What the section on restoration says is what its numbers are."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchmark.columns import RESTORE
from benchmark.render.markdown import section_markdown
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.sections.answers import section as answers
from benchmark.sections.answers import short_section
from benchmark.sections.restoration import GOAL, READING, Restored, _text, people_of, section, sentences
from benchmark.sections.section import Section
from benchmark.statistics.answer_record import answer_records
from benchmark.statistics.recommendation import LEAST
from benchmark.statistics.restoration import NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO, REVERSED
from tests.helpers.made_up_restoration import BETA, answered, with_restoration
from tests.helpers.made_up_statistics import statistics as made_up
from tests.helpers.planted_folder import PLANTED, write_planted_folder


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    return with_restoration(folder_statistics(write_planted_folder(tmp_path_factory.mktemp("run") / "run")))


def said(statistics: RunStatistics) -> list[str]:
    return list(sentences(statistics, statistics.scenarios[0], BETA))


def section_of(statistics: RunStatistics) -> Section:
    found = section(statistics)
    assert found is not None
    return found


def test_the_nearest_useful_technique_that_exceeds_the_refit_is_named_with_who_pays(
    planted: RunStatistics,
) -> None:
    # The first technique is nearest, but its interval holds what the refit gives back.
    assert said(planted) == [
        "Of the techniques shown to restore decisions, Useful, at a cost comes nearest to the clean model.",
        "Useful, at a cost gives back 70 % of those whom the bias cost acceptance. A refit of the biased "
        "rows gives back 60 %.",
        "To the deprived group it gives back 70 %, to the favored group 70 %.",
        "Who pays: it refuses 20 % of those whom the clean model and the biased baseline accept. A refit of "
        "the biased rows refuses 60 %.",
        "Of those whom the clean model refuses it accepts 20 %. The biased baseline accepts 30 %.",
    ]


def test_where_more_is_given_back_at_a_greater_distance_that_is_said(planted: RunStatistics) -> None:
    table = planted.restoration.copy()
    table.loc[(table["technique"] == "costly") & (table["metric"] == "restoration_distance"), "value"] = 0.01
    table.loc[(table["technique"] == "useful"), "beyond_refit_low"] = 0.1
    (*_, last) = said(answered(replace(planted, restoration=table)))
    assert last == (
        "Useful gives back more, 75 %. It refuses 15 % of those whom the clean model and the biased baseline "
        "accept, and accepts 15 % of those whom the clean model refuses."
    )


def test_who_accepts_everybody_is_not_named_for_giving_back_most(planted: RunStatistics) -> None:
    table = planted.restoration.copy()
    generous = table["technique"] == "useful"
    table.loc[generous & (table["metric"] == "given_back"), ["value", "beyond_refit_low"]] = 1.0, 0.4
    table.loc[generous & (table["metric"] == "restoration_distance"), "value"] = 0.4
    assert not any("Useful " in sentence for sentence in said(answered(replace(planted, restoration=table))))


def test_where_nothing_is_shown_or_to_be_undone_no_technique_is_named(planted: RunStatistics) -> None:
    none = replace(planted, restoration=planted.restoration.assign(beyond_refit_low=-0.1))
    assert said(none) == [
        "No technique is shown to restore decisions: to be nearer to the clean model, useful, and to give "
        "back more than a refit."
    ]
    unanswered = replace(planted, answers=planted.answers.assign(verdict="not_shown", reason="by_chance"))
    assert said(unanswered) == said(none)  # what the rule does not recommend is not named
    for reason, begin in (
        (NO_REFERENCE, "Classifier c45 is no reference. "),
        (NOTHING_TO_UNDO, "There is too little to undo for classifier c45. "),
        (NO_EFFECT_SHOWN, "The bias is not shown to move the decisions of classifier c45 farther "),
    ):
        own = with_restoration(planted, reason)
        own = replace(own, answers=own.answers.assign(verdict="not_shown", reason="", level_reason=reason))
        assert said(own)[0].startswith(begin)
        assert len(said(own)) == 1
        overview = section_of(own).blocks[0].table
        assert overview is not None
        assert overview.rows[0][1] == f"– ({reason.replace('_', ' ')})"


def test_the_terminal_and_the_answers_say_whom_the_technique_serves_that_is_named(
    planted: RunStatistics,
) -> None:
    restore = planted.answers[(planted.answers["goal"] == RESTORE) & (planted.answers["beta"] == BETA)]
    scenario = planted.scenarios[0]
    restore = scenario.rows(restore)
    (named,) = restore.loc[restore["choice"].str.contains(LEAST), "technique"]
    expected = people_of(planted, scenario, BETA, answer_records(restore))
    assert expected[0].startswith(f"{planted.run.titles[named]} gives back ")
    assert expected in [list(block.remarks) for block in short_section(planted).blocks]
    in_markdown = [block.notes for block in answers(planted).blocks]
    assert sum(set(expected) <= {*notes} for notes in in_markdown) == 1


def test_tables_have_techniques_and_refits_with_intervals_cut_at_none_and_all(planted: RunStatistics) -> None:
    people, differences = (
        next(
            block.table
            for block in section_of(planted).blocks
            if block.table and block.table.headings[1] == name
        )
        for name in ("Distance to clean model", "Planted, removed")
    )
    rows = {row[0]: row for row in people.rows}
    assert list(rows) == [
        *("Biased baseline", *list(PLANTED.values())[1:]),
        *("Refit on clean rows", "Refit on biased rows"),
    ]
    assert rows["Useful"][3:5] == ["75 % [45, 100]", "75 % / 75 %"]
    assert rows["Useful"][5] == "15 % [0, 45]"
    assert rows["As the baseline"][3] == "–"
    assert rows["Refit on biased rows"][3] == "60 %"
    of_differences = {row[0]: row for row in differences.rows}
    assert of_differences["Useful"][1] == "+15.0 [-15.0, +45.0]"
    assert of_differences["Useful, at a cost"][4] == "20 % [-10, 50]", "reversed in the mean alone"


def test_many_scenarios_are_folded_below_one_table(planted: RunStatistics) -> None:
    some = section_of(planted)
    assert [block.fold for block in some.blocks] == [""] * len(some.blocks)
    scenarios = [
        replace(scenario, heading=f"{scenario.heading} {i}")
        for i in range(3)
        for scenario in planted.scenarios
    ]
    many = replace(planted)
    object.__setattr__(many, "scenarios", tuple(scenarios))
    blocks = section_of(many).blocks
    assert all(block.fold for block in blocks[2:])
    assert blocks[0].table is not None
    assert len(blocks[0].table.rows) == 6


def test_a_run_without_decisions_has_no_section() -> None:
    assert section(made_up(2)) is None


def test_markdown_shows_it_with_its_figure(planted: RunStatistics) -> None:
    image = f"figures/restoration_{planted.scenarios[0].file_name}.png"
    markdown = section_markdown(section_of(planted), [image])
    assert f"({image})" in markdown
    assert markdown.index(GOAL) < markdown.index("| Where |") < markdown.index(READING[1])


def test_sentences_are_short(planted: RunStatistics) -> None:
    blocks = section_of(planted).blocks
    texts = [GOAL, *(text for block in blocks for text in (*block.notes, *block.remarks))]
    for reason in (NO_REFERENCE, NOTHING_TO_UNDO):
        texts += said(with_restoration(planted, reason))
    long = [s for text in texts for s in re.split(r"(?<=[.:;]) ", text) if len(s.split()) > 25]
    assert long == []


@pytest.mark.parametrize(
    ("low", "shown"),
    [(0.48, "114 % [48, 269]"), (1.02, "114 % [102, 269] (reversed)"), (float("nan"), "114 %")],
)
def test_a_difference_is_called_reversed_only_where_the_whole_interval_says_so(
    low: float, shown: str
) -> None:
    told = Restored(1.14, low, 2.69, 0.0, 0.0, 0.0, REVERSED)
    assert _text(["original_share"], {"original_share": told}) == shown
