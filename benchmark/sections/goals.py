"""What the two goals are called: restore the decisions of the clean model, and equalise acceptance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from benchmark.columns import EQUALISE, GOAL_METRICS, GOALS, ORIGINAL, OWN, RESTORE, UNTREATED
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answer_record import Answer, by_level
from benchmark.statistics.cells import ScenarioKey
from benchmark.statistics.choices import LEAST
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.restoration import NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO


@dataclass(frozen=True)
class GoalWords:
    """Words for one goal, as sentences and headings need them."""

    title: str  # heading
    purpose: str  # what a technique is chosen for: ``"to restore decisions"``
    measure: str  # what a technique leaves
    less: str  # what a better technique leaves
    away: str  # stands behind the number that a technique leaves
    nearer: str  # what a better technique is
    short: str  # heading of a narrow column
    least: str  # what the technique that comes nearest to the goal is called

    @property
    def column(self) -> str:
        """The measure as a heading."""
        return self.measure[0].upper() + self.measure[1:]


_MOST_SAID = 8

TWO_WINNERS = "The answer depends on the goal"
"""Heading of the sentences that name a winner for each goal."""

WORDS: Mapping[str, GoalWords] = {
    RESTORE: GoalWords(
        title="Goal: restore the decisions of the model without planted bias",
        purpose="to restore decisions",
        measure="distance to the clean model",
        less="a smaller distance to the clean model",
        away="from the clean model",
        nearer="nearer to the clean model",
        short="dist.",
        least="nearest to the clean model",
    ),
    EQUALISE: GoalWords(
        title="Goal: equalise acceptance",
        purpose="to equalise acceptance",
        measure="discrimination",
        less="less discrimination",
        away="from 0",
        nearer="nearer to 0",
        short="disc.",
        least="least discrimination",
    ),
}

CLEAN_MODEL = (
    "The clean model is the baseline trained without planted bias. The distance to it is the mean absolute "
    "difference of true and false positive rates in both groups."
)
"""Explains what decisions are compared with."""


WHY_NOT = {
    NO_REFERENCE: "{title} is no reference. Without planted bias it has no results, or is less accurate than "
    "a constant, or answers nearly everybody or each group alike in some sample.",
    NOTHING_TO_UNDO: "There is too little to undo for {title}. On average the bias moves its discrimination "
    "by less than 0.02.",
    NO_EFFECT_SHOWN: "The bias is not shown to move the decisions of {title} farther than training again on "
    "clean rows does. More or larger splits may show it.",
    HIDDEN_BIAS: "No answer is given to restore decisions. By the outside rates, labels hide so much bias "
    "that ranks under planted bias are not shown to agree with the truth.",
}
"""Why techniques are not ranked by how near they come to the clean model."""

WHY_NOT_IN_SHORT = {
    NO_REFERENCE: "no reference",
    NOTHING_TO_UNDO: "too little to undo",
    NO_EFFECT_SHOWN: "no effect of the bias shown",
    HIDDEN_BIAS: "withheld",
}
"""The same in a cell of a table."""


def words_of(rows: Sequence[Answer]) -> GoalWords:
    """Return the words for the goal of some answers, which all have the same."""
    return WORDS[rows[0].goal]


def by_goal(answers: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each goal that has answers, and these."""
    for goal in GOALS:
        if len(own := answers[answers["goal"] == goal]):
            yield goal, own


def unanswered(answers: pd.DataFrame, run: Manifest, scenario: Scenario | None = None) -> str:
    """Say why there is no answer for the goal to restore, of a run or of a scenario; nothing if there is."""
    own = answers if scenario is None else scenario.rows(answers)
    if (own["goal"] == RESTORE).any():
        return ""
    if not run.protocol.paired_betas:
        reason = "this run's levels are not paired"
    elif scenario is not None and scenario.test != ORIGINAL:
        reason = "the clean model decides on original test data only"
    elif treated := _treated_baseline(run, scenario):
        name = run.titles.get(treated, treated)
        reason = f"the baseline {name} is a technique, so that there is no clean model"
    elif run.metric(GOAL_METRICS[RESTORE]) is None:
        reason = "the distance to the clean model was not measured; run it again"
    else:
        reason = "there is no level of planted bias to undo"
    return f"Restore is not answered: {reason}."


def _treated_baseline(run: Manifest, scenario: Scenario | None) -> str:
    """Return the name of a baseline that is a technique, and so has no clean model; empty if none is."""
    datasets = run.datasets if scenario is None else [scenario.dataset]
    kinds = {entry.name: entry.technique or entry.name for entry in run.experiment.techniques}
    treated = (own.baseline for own in datasets if own.baseline != OWN)
    return next((name for name in treated if kinds.get(name, UNTREATED) != UNTREATED), "")


Winners = Mapping[tuple[ScenarioKey, float], Mapping[str, Answer | None]]
"""By scenario and level of bias, and by goal that can be reached: the technique that comes nearest."""


def winners(answers: pd.DataFrame) -> Winners:
    """Return which technique is named for each goal that can be reached at a level of bias."""
    found: dict[tuple[ScenarioKey, float], dict[str, Answer | None]] = {}
    for goal, own in by_goal(answers):
        for key, beta, rows in by_level(own):
            if any(row.verdict not in WHY_NOT for row in rows if not row.is_compared_with):
                named = next((row for row in rows if LEAST in row.choices), None)
                found.setdefault((key, beta), {})[goal] = named
    return found


def differences(
    scenarios: Sequence[Scenario],
    answers: pd.DataFrame,
    run: Manifest,
) -> list[str]:
    """Say where the goals have different winners: the highest levels of bias first, at most some of them."""
    named = winners(answers)
    said = [
        f"{scenario.heading} at {run.level_text(beta)}. {words}"
        for scenario in scenarios
        for (key, beta), of_goals in reversed(list(named.items()))
        if key == scenario.key and (words := difference(of_goals, run.titles))
    ]
    more = len(said) - _MOST_SAID
    return [*said[:_MOST_SAID], *([f"Winners differ in {more} more cases."] if more > 0 else [])]


def difference(named: Mapping[str, Answer | None], titles: Mapping[str, str]) -> str:
    """Say which technique is named for which goal where that is not the same one for both."""
    names = [row.technique if row else "" for row in named.values()]
    if len(names) < len(GOALS) or len(set(names)) < len(GOALS):
        return ""
    return " ".join(f"{_capital(WORDS[goal].purpose)}: {_named(row, titles)}." for goal, row in named.items())


def _named(row: Answer | None, titles: Mapping[str, str]) -> str:
    if row is None:
        return "no technique"
    return titles[row.technique] + (" (candidate)" if row.verdict == "candidate" else "")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
