"""Verdicts follow from the 20 verdicts of an earlier version, which ``verdicts/`` keeps."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from benchmark.runs.analysis import folder_statistics
from tests.golden import runs

RESULTS = runs.GOLDEN.parents[1] / "results"
KEY = ["dataset", "bias", "classifier", "test", "level", "technique", "goal"]

MAP = {
    "baseline": ("baseline", "", ""),
    "untreated": ("reference", "", ""),
    "recommended": ("technique", "helps", ""),
    "outdone": ("technique", "dominated", ""),
    "no_less": ("technique", "not_shown", ""),
    "by_chance": ("technique", "not_shown", "by_chance"),
    "unknown": ("technique", "not_shown", "not_recorded"),
    "not_compared": ("technique", "not_shown", "not_compared"),
    "worse": ("technique", "harms", ""),
    "degenerate": ("technique", "not_usable", "constant"),
    "one_group": ("technique", "not_usable", "one_group"),
    "too_few": ("technique", "not_usable", "too_few_accepted"),
    "below_constant": ("technique", "not_usable", "below_constant"),
    "incomplete": ("technique", "not_usable", "incomplete"),
    "missing": ("technique", "not_usable", "missing"),
}
"""Role, verdict and reason, by the earlier verdict; a candidate's reason is whether it was tested."""

OF_LEVEL = ("no_reference", "nothing_to_undo", "no_effect_shown", "hidden_bias")
"""Earlier verdicts that are reasons of the level now."""


def expected(earlier: str, tested: bool, level_reason: str) -> tuple[str, str, str, str]:
    if earlier == "candidate":
        return "technique", "promising", "few_repetitions" if tested else "one_sample", level_reason
    if earlier in OF_LEVEL:
        return "technique", "not_shown", "", earlier
    return *MAP[earlier], level_reason


def same_verdicts(answers: pd.DataFrame, file: str) -> None:
    earlier = pd.read_csv(runs.GOLDEN / "verdicts" / file, keep_default_na=False)
    both = earlier.merge(answers, on=KEY, how="outer", suffixes=("_earlier", ""), indicator=True)
    assert len(both)
    assert (both["_merge"] == "both").all()
    columns = ["role", "verdict", "reason", "level_reason"]
    now = both[columns].itertuples(index=False, name=None)
    given = both[["verdict_earlier", "tested", "level_reason"]].itertuples(index=False, name=None)
    for row, then in zip(now, given, strict=True):
        assert row == expected(*then)


def test_verdicts_of_a_new_run_follow_from_the_earlier_ones(tmp_path: Path) -> None:
    answers = pd.read_csv(runs.smoke(tmp_path) / "statistics" / "answers.csv", keep_default_na=False)
    same_verdicts(answers, "smoke.csv")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper", "tuning", "legast2025"])
def test_verdicts_of_committed_runs_follow_from_the_earlier_ones(name: str) -> None:
    same_verdicts(folder_statistics(RESULTS / name).answers, f"{name}.csv.xz")
