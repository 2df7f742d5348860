"""Who gets back what the bias took: of techniques that are shown to restore, and by more than chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.facts import facts_of
from benchmark.facts.model import Decisions
from benchmark.facts.questions import decisions
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.wording import render
from tests.helpers.made_up_restoration import answered, with_restoration
from tests.helpers.made_up_statistics import statistics as made_up
from tests.helpers.planted_folder import write_planted_folder


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    return with_restoration(folder_statistics(write_planted_folder(tmp_path_factory.mktemp("run") / "run")))


def restoring(statistics: RunStatistics) -> list[Decisions]:
    """Return the techniques that restore at the highest level of bias, the nearest first."""
    found = decisions(statistics, statistics.scenarios[0])
    return [entry for entry in found if entry.level == found[0].level and entry.restores]


def test_the_nearest_useful_technique_that_exceeds_the_refit_is_named_with_who_pays(
    planted: RunStatistics,
) -> None:
    # The first technique is nearest, but its interval holds what the refit gives back.
    first = restoring(planted)[0]
    assert first.technique == "costly"
    values = {name: first.values[name].mean for name in ("given_back", "paid", "in_their_place")}
    assert values == {"given_back": 0.7, "paid": 0.2, "in_their_place": 0.2}
    assert first.refit_biased["given_back"] == 0.6
    text = render("decisions", facts_of(planted))
    assert "| | Useful, at a cost | " in text
    assert " | 70 % | 70 % / 70 % | 20 % | 20 % |" in text


def test_where_nothing_is_shown_no_technique_is_named(planted: RunStatistics) -> None:
    none = replace(planted, restoration=planted.restoration.assign(beyond_refit_low=-0.1))
    assert restoring(none) == []
    assert "| | none shown |" in render("decisions", facts_of(none))
    unanswered = replace(planted, answers=planted.answers.assign(verdict="not_shown", reason="by_chance"))
    assert restoring(unanswered) == []


def test_who_accepts_everybody_is_not_named_for_giving_back_most(planted: RunStatistics) -> None:
    table = planted.restoration.copy()
    generous = table["technique"] == "useful"
    table.loc[generous & (table["metric"] == "given_back"), ["value", "beyond_refit_low"]] = 1.0, 0.4
    table.loc[generous & (table["metric"] == "restoration_distance"), "value"] = 0.4
    found = restoring(answered(replace(planted, restoration=table)))
    assert "useful" not in [entry.technique for entry in found]


def test_a_run_without_decisions_has_none() -> None:
    statistics = made_up(2)
    assert decisions(statistics, statistics.scenarios[0]) == ()
