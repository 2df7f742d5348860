"""People who get back what the bias took, people who pay, and the removed part of each difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from benchmark.columns import RESTORE
from benchmark.metrics.restoration import SHARES
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections.choices import named_choices
from benchmark.sections.goals import WHY_NOT
from benchmark.sections.section import Block
from benchmark.statistics.answer_record import Answer, by_level
from benchmark.statistics.answers import undo_of
from benchmark.statistics.cells import ScenarioKey
from benchmark.statistics.recommendation import LEAST, WITHIN_LIMITS
from benchmark.text.words import share

TITLE = "Who gets back what the bias took, and who pays"

_AMONG = {name: among for name, (_, among) in SHARES.items()}


_NONE_SHOWN = (
    "No technique is shown to restore decisions: to be nearer to the clean model, useful, and to give back "
    "more than a refit."
)
_MOST_PEOPLE = 4  # scenarios of which the terminal says whom a technique serves


class Restored(NamedTuple):
    """A technique's value of a metric, with the values of the refits of its learner."""

    value: float
    value_low: float
    value_high: float
    refit_clean: float
    refit_biased: float
    beyond_refit_low: float
    reason: str


Metrics = Mapping[str, Restored]
"""A technique's values, by metric."""


def restored_at(rows: pd.DataFrame, beta: float) -> dict[str, dict[str, dict[str, Restored]]]:
    """Return the values at one level of bias of a scenario, by baseline, technique and metric."""
    restored: dict[str, dict[str, dict[str, Restored]]] = {}
    for row in rows[rows["beta"] == beta].to_dict("records"):
        values = Restored(**{name: row[name] for name in Restored._fields})
        techniques = restored.setdefault(row["baseline"], {})
        techniques.setdefault(row["technique"], {})[row["metric"]] = values
    return restored


def _undo_at(statistics: RunStatistics, scenario: Scenario, beta: float) -> dict[str, str]:
    """Return by baseline the reason why there is nothing to restore at one level of bias, or nothing."""
    rows = scenario.rows(statistics.restoration)
    baselines = rows[rows["beta"] == beta].drop_duplicates("baseline")
    return dict(zip(baselines["baseline"], undo_of(baselines, statistics.undo), strict=True))


def why_not(statistics: RunStatistics, scenario: Scenario, beta: float) -> Iterator[str]:
    """Yield a sentence for each learner without a reference, or with nothing to undo, at a level of bias."""
    for name, reason in _undo_at(statistics, scenario, beta).items():
        if reason:
            learner = (
                statistics.run.titles[name] if scenario.own_learners else f"classifier {scenario.classifier}"
            )
            words = WHY_NOT[reason].format(title=learner)
            yield words[0].upper() + words[1:]


def _restoring(
    statistics: RunStatistics, scenario: Scenario, beta: float
) -> list[tuple[str, Metrics, Metrics]]:
    """Return the names and values of restoring techniques, nearest first, with their baselines' values.

    They are recommended to restore, or dominated, and are shown to give back more than a refit of the biased
    rows.
    """
    answers = scenario.rows(statistics.answers)
    answers = answers[(answers["goal"] == RESTORE) & (answers["beta"] == beta)]
    restores = set(answers.loc[answers["verdict"].isin(WITHIN_LIMITS), "technique"])
    restoring = [
        (name, metrics, techniques[baseline])
        for baseline, techniques in restored_at(scenario.rows(statistics.restoration), beta).items()
        if baseline in techniques
        for name, metrics in techniques.items()
        if name in restores and metrics["given_back"].beyond_refit_low > 0
    ]
    return sorted(restoring, key=lambda entry: _distance(entry[1]))


def sentences(statistics: RunStatistics, scenario: Scenario, beta: float) -> Iterator[str]:
    """Yield sentences on restored decisions at one level of bias, and on who pays, or the reason for none."""
    titles = statistics.run.titles
    if restoring := _restoring(statistics, scenario, beta):
        name, metrics, baseline = restoring[0]
        yield (
            f"Of the techniques shown to restore decisions, {titles[name]} comes nearest to the clean model."
        )
        yield from _people(titles[name], metrics, baseline)
        most, of_most, _ = max(restoring, key=lambda entry: round(entry[1]["given_back"].value, 6))
        if most != name:
            yield (
                f"{titles[most]} gives back more, {share(of_most['given_back'].value)}. It refuses "
                f"{share(of_most['paid'].value)} of those {_AMONG['paid']}, and accepts "
                f"{share(of_most['in_their_place'].value)} of those {_AMONG['in_their_place']}."
            )
    elif "" in _undo_at(statistics, scenario, beta).values():
        yield _NONE_SHOWN
    yield from why_not(statistics, scenario, beta)


def people_of(
    statistics: RunStatistics, scenario: Scenario, beta: float, rows: Sequence[Answer]
) -> list[str]:
    """Return sentences on the people whom the technique named to restore decisions serves, and who pay."""
    if (named := named_choices(rows).get(LEAST)) is None:
        return []
    title = statistics.run.titles[named.technique]
    return [
        sentence
        for baseline, techniques in restored_at(scenario.rows(statistics.restoration), beta).items()
        if named.technique in techniques and baseline in techniques
        for sentence in _people(title, techniques[named.technique], techniques[baseline])
    ]


def people_blocks(statistics: RunStatistics) -> list[Block]:
    """Return :func:`people_of` for each scenario, at the highest level of bias with a named technique."""
    answers = statistics.answers[statistics.answers["goal"] == RESTORE]
    blocks: dict[ScenarioKey, Block] = {}
    scenarios = {scenario.key: scenario for scenario in statistics.scenarios}
    for key, beta, rows in reversed([*by_level(answers)]):
        if key not in blocks and key in scenarios:
            scenario = scenarios[key]
            if sentences := people_of(statistics, scenario, beta, rows):
                heading = f"{scenario.heading} at {statistics.run.level_text(beta)}. {TITLE}"
                blocks[key] = Block(heading, remarks=sentences)
    return [blocks[key] for key in scenarios if key in blocks][:_MOST_PEOPLE]


def _people(title: str, metrics: Metrics, baseline: Metrics) -> Iterator[str]:
    given, paid, in_place = (metrics[name] for name in SHARES)
    if math.isnan(given.value):
        return
    yield (
        f"{title} gives back {share(given.value)} of those whom the bias cost acceptance. A refit of the "
        f"biased rows gives back {share(given.refit_biased)}."
    )
    groups = [metrics[f"given_back_{group}"].value for group in ("deprived", "favored")]
    if not any(map(math.isnan, groups)):
        deprived, favored = map(share, groups)
        yield f"To the deprived group it gives back {deprived}, to the favored group {favored}."
    yield (
        f"Who pays: it refuses {share(paid.value)} of those {_AMONG['paid']}. A refit of the biased rows "
        f"refuses {share(paid.refit_biased)}."
    )
    yield (
        f"Of those {_AMONG['in_their_place']} it accepts {share(in_place.value)}. The biased baseline "
        f"accepts {share(baseline['in_their_place'].value)}."
    )


def _distance(metrics: Metrics) -> tuple[bool, float]:
    distance = metrics.get("restoration_distance")
    return (True, 0.0) if distance is None or math.isnan(distance.value) else (False, distance.value)
