"""Names of the two goals, and sentences on goals without an answer or with different winners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from benchmark.columns import EQUALISE, GOAL_METRICS, GOALS, ORIGINAL, OWN, RESTORE, UNTREATED
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answer_record import Answer, by_level
from benchmark.statistics.cells import ScenarioKey
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.recommendation import LEAST
from benchmark.statistics.restoration import NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO


@dataclass(frozen=True)
class GoalWords:
    """Words for one goal, as sentences and headings need them."""

    title: str  # heading
    purpose: str  # ``"to restore decisions"``
    measure: str  # a technique leaves some of it
    less: str  # a better technique leaves it
    away: str  # stands behind the measure's value
    nearer: str  # a better technique is
    gain: str  # a better technique is shown to
    short: str  # heading of a narrow column
    least: str  # the choice nearest to the goal

    @property
    def column(self) -> str:
        """The measure as a heading."""
        return _capital(self.measure)


_MOST_SAID = 8

NO_CHOICE = "no recommendation"
"""Stands for a technique where none is named."""

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
        gain="come nearer",
        short="dist.",
        least="nearest to the clean model",
    ),
    EQUALISE: GoalWords(
        title="Goal: equalize acceptance",
        purpose="to equalize acceptance",
        measure="discrimination",
        less="less discrimination",
        away="from 0",
        nearer="nearer to 0",
        gain="leave less",
        short="disc.",
        least="least discrimination",
    ),
}

DISTANCE = (
    "The distance to it is the mean absolute difference of true and false positive rates in both groups."
)


def clean_words(answers: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Return a sentence on the clean model of some answers, which need not be of the baseline."""
    others = answers.loc[answers["clean_model"] != answers["baseline"], "clean_model"].unique()
    model = " or ".join(titles[name] for name in others) if len(others) else "the baseline"
    return f"The clean model is {model}, trained without planted bias."


WHY_NOT = {
    NO_REFERENCE: "{title} is no reference. Without planted bias it has no results, or is less accurate than "
    "a constant, or is degenerate in some sample.",
    NOTHING_TO_UNDO: "There is too little to undo for {title}. On average the bias moves its discrimination "
    "by less than 0.02.",
    NO_EFFECT_SHOWN: "The bias is not shown to move the decisions of {title} farther than training again on "
    "clean rows does. More or larger splits may show it.",
    HIDDEN_BIAS: "No answer is given to restore decisions. By the outside rates, labels hide so much bias "
    "that ranks under planted bias are not shown to agree with the truth.",
}
"""Reasons why no technique is ranked by its distance to the clean model."""

WHY_NOT_IN_SHORT = {
    NO_REFERENCE: "no reference",
    NOTHING_TO_UNDO: "too little to undo",
    NO_EFFECT_SHOWN: "no effect on decisions shown beyond retraining",
    HIDDEN_BIAS: "withheld",
}
"""The same in a cell of a table."""


def words_of(rows: Sequence[Answer]) -> GoalWords:
    """Return the words for the goal that some answers share."""
    return WORDS[rows[0].goal]


def by_goal(answers: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each goal that has answers, and its answers."""
    for goal in GOALS:
        if len(rows := answers[answers["goal"] == goal]):
            yield goal, rows


def unanswered(answers: pd.DataFrame, run: Manifest, scenario: Scenario | None = None) -> str:
    """Return why a run or scenario has no answer for the goal to restore; nothing if it has one."""
    rows = answers if scenario is None else scenario.rows(answers)
    if (rows["goal"] == RESTORE).any():
        return ""
    if not run.protocol.paired_betas:
        reason = "this run's levels are not paired"
    elif scenario is not None and scenario.test != ORIGINAL:
        reason = "the clean model decides on original test data only"
    elif treated := _treated_baseline(run, scenario):
        name = run.titles.get(treated, treated)
        reason = f"the baseline {name} is a technique, so there is no clean model"
    elif run.metric(GOAL_METRICS[RESTORE]) is None:
        reason = "the distance to the clean model was not measured; run it again"
    else:
        reason = "there is no level of planted bias to undo"
    return f"The goal to restore decisions has no answer: {reason}."


def _treated_baseline(run: Manifest, scenario: Scenario | None) -> str:
    """Return the name of a baseline that is a technique, and so has no clean model; empty if none is."""
    datasets = run.datasets if scenario is None else [scenario.dataset]
    techniques = {entry.name: entry.technique or entry.name for entry in run.experiment.techniques}
    baselines = (dataset.baseline for dataset in datasets if dataset.baseline != OWN)
    return next((name for name in baselines if techniques.get(name, UNTREATED) != UNTREATED), "")


Winners = Mapping[tuple[ScenarioKey, float], Mapping[str, Answer | None]]
"""By scenario and level of bias, and by reachable goal: the technique nearest to it."""


def winners(answers: pd.DataFrame) -> Winners:
    """Return the technique that is named for each reachable goal at each level of bias."""
    named: dict[tuple[ScenarioKey, float], dict[str, Answer | None]] = {}
    for goal, of_goal in by_goal(answers):
        for key, beta, rows in by_level(of_goal):
            if any(row.outcome not in WHY_NOT for row in rows if not row.is_compared_with):
                winner = next((row for row in rows if LEAST in row.choices), None)
                named.setdefault((key, beta), {})[goal] = winner
    return named


def differences(
    scenarios: Sequence[Scenario],
    answers: pd.DataFrame,
    run: Manifest,
) -> list[str]:
    """Return sentences on different winners of the goals, the highest levels of bias first, up to a limit."""
    named = winners(answers)
    sentences = [
        f"{scenario.heading} at {run.level_text(beta)}. {words}"
        for scenario in scenarios
        for (key, beta), of_goals in reversed(list(named.items()))
        if key == scenario.key and (words := difference(of_goals, run.titles))
    ]
    more = len(sentences) - _MOST_SAID
    return [*sentences[:_MOST_SAID], *([f"Winners differ in {more} more cases."] if more > 0 else [])]


def difference(named: Mapping[str, Answer | None], titles: Mapping[str, str]) -> str:
    """Return the winner of each goal in words; nothing if both goals have the same one."""
    names = [row.technique if row else "" for row in named.values()]
    if len(names) < len(GOALS) or len(set(names)) < len(GOALS):
        return ""
    return " ".join(f"{_capital(WORDS[goal].purpose)}: {_named(row, titles)}." for goal, row in named.items())


def _named(row: Answer | None, titles: Mapping[str, str]) -> str:
    if row is None:
        return NO_CHOICE
    return titles[row.technique] + (" (candidate)" if row.outcome == "promising" else "")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
