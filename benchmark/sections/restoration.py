"""People who get back what the bias took, people who pay, and the removed part of each difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchmark.columns import RESTORE
from benchmark.metrics.restoration import RESTORATION, SHARES
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections.choices import named_choices
from benchmark.sections.goals import WHY_NOT
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.answer_record import Answer, by_level
from benchmark.statistics.answers import undo_of
from benchmark.statistics.cells import ScenarioKey
from benchmark.statistics.recommendation import LEAST, WITHIN_LIMITS
from benchmark.statistics.restoration import REVERSED
from benchmark.text.words import number, share

TITLE = "Who gets back what the bias took, and who pays"

_AMONG = {name: among for name, (_, among) in SHARES.items()}

GOAL = "Goal: restore decisions. People should get the answer that the same learner gives without the bias."

OF_CLEAN_MODEL = "Clean model: the technique's untreated learner, trained without planted bias."
READING = (
    f"{OF_CLEAN_MODEL} Biased baseline: the same untreated learner, trained with it. Both decide about "
    "the same test people as the technique.",
    f"Given back: of the people {_AMONG['given_back']}, the share that the technique accepts.",
    f"Paid: of the people {_AMONG['paid']}, the share that the technique refuses.",
    f"In their place: of the people {_AMONG['in_their_place']}, the share that the technique accepts.",
    "Refit: the untreated learner on a random draw of the clean or of the biased rows, with replacement. A "
    "refit of biased rows gives back by chance; only more than that counts. A refit of clean rows shows how "
    "much a model without the bias gives back.",
    "Brackets: intervals of 95 %. Those of decisions are cut at 0 and 100 %.",
)
OF_NETWORK = "Training rows with and without bias are samples of a network with the same random numbers."
OF_DIFFERENCES = (
    "Planted: the part of the biased baseline's difference that the bias added. Original: the part from "
    "before. Above 100 %, a technique removes more than the whole part. A minus adds to the difference. But "
    "if the original difference favors the deprived group, its removal has a minus. Reversed: the mean has "
    "the other sign. That is shown only if the interval lies above 100 %."
)

_NONE_SHOWN = (
    "No technique is shown to restore decisions: to be nearer to the clean model, useful, and to give back "
    "more than a refit."
)
_NAMED = (
    "Named: of the techniques shown to restore decisions, the nearest to the clean model. They are "
    "recommended to restore, or dominated, and give back more than a refit."
)
_ELSEWHERE = "restoration.csv has every technique at every level of bias."
_MOST_OPEN = 4  # scenarios whose tables stand open
_MOST_PEOPLE = 4  # scenarios of which the terminal says whom a technique serves
_PEOPLE = {
    "Distance to clean model": ("restoration_distance",),
    "Same decision": ("agreement",),
    "Given back": ("given_back",),
    "to deprived / favored": ("given_back_deprived", "given_back_favored"),
    "Paid": ("paid",),
    "by deprived / favored": ("paid_deprived", "paid_favored"),
    "In their place": ("in_their_place",),
}
_DIFFERENCES = {
    "Planted, removed": ("planted_removed",),
    "Original, removed": ("original_removed",),
    "Share of planted": ("planted_share",),
    "Share of original": ("original_share",),
}
_POINTS = ("planted_removed", "original_removed")


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


def section(statistics: RunStatistics) -> Section | None:
    """Return the shares that each technique gives back at each level of bias; None if none are compared."""
    if statistics.restoration.empty:
        return None
    words = [*READING, *([] if statistics.run.protocol.overlaps else [OF_NETWORK])]
    answer, *details = _blocks(statistics)
    return Section(
        "restoration",
        TITLE,
        [GOAL],
        [answer, Block("What the words mean", words), *details],
        files={
            "restoration": "shares that each technique gives back, by group, and the removed parts of the "
            "planted and of the original difference, beside two refits of its learner"
        },
        figures={"restoration": "What techniques give back, and what that costs"},
    )


def _blocks(statistics: RunStatistics) -> Iterator[Block]:
    levels = {
        scenario: sorted(set(map(float, rows["beta"])), reverse=True)
        for scenario in statistics.scenarios
        if len(rows := scenario.rows(statistics.restoration))
    }
    if len(levels) > 1:
        table = _overview(statistics, {scenario: betas[0] for scenario, betas in levels.items()})
        notes = [_NAMED, *([_ELSEWHERE] if len(levels) > _MOST_OPEN else [])]
        yield Block("At the highest level of bias", notes, table=table)
    for scenario, betas in levels.items():
        for i, beta in enumerate(betas):
            restored = restored_at(scenario.rows(statistics.restoration), beta)
            fold = f"{scenario.heading}: lower levels of bias" if i else ""
            if len(levels) > _MOST_OPEN:
                fold = f"{scenario.heading}: every technique at every level of bias"
            heading = f"{scenario.heading}, {statistics.run.level_text(beta)}"
            yield Block(heading, remarks=list(sentences(statistics, scenario, beta)), fold=fold)
            yield Block("Decisions about people", table=_table(restored, statistics, _PEOPLE), fold=fold)
            yield Block(
                "Difference in acceptance between the groups, in percentage points",
                [OF_DIFFERENCES],
                table=_table(restored, statistics, _DIFFERENCES),
                fold=fold,
            )


def _overview(statistics: RunStatistics, levels: Mapping[Scenario, float]) -> TextTable:
    """Return a row for each scenario, at one level of bias, on the nearest restoring technique."""
    headings = ["Where", "Nearest technique that restores", "Distance (baseline)", "Given back (refit)"]
    headings += ["Paid (refit)", "In their place (baseline)"]
    rows = []
    for scenario, beta in levels.items():
        where = f"{scenario.heading}, {statistics.run.level_text(beta)}"
        if not (restoring := _restoring(statistics, scenario, beta)):
            reasons = set(_undo_at(statistics, scenario, beta).values())
            why = "none shown" if "" in reasons else ", ".join(sorted(reasons)).replace("_", " ")
            rows.append([where, f"– ({why})", "–", "–", "–", "–"])
            continue
        technique, metrics, baseline = restoring[0]
        given, paid, in_place = (metrics[name] for name in SHARES)
        distances = (number(values["restoration_distance"].value) for values in (metrics, baseline))
        cells = [
            "{} ({})".format(*distances),
            f"{share(given.value)} ({share(given.refit_biased)})",
            f"{share(paid.value)} ({share(paid.refit_biased)})",
            f"{share(in_place.value)} ({share(baseline['in_their_place'].value)})",
        ]
        rows.append([where, statistics.run.titles[technique], *cells])
    return TextTable(headings, rows)


def restored_at(rows: pd.DataFrame, beta: float) -> dict[str, dict[str, dict[str, Restored]]]:
    """Return the values at one level of bias of a scenario, by baseline, technique and metric."""
    restored: dict[str, dict[str, dict[str, Restored]]] = {}
    for row in rows[rows["beta"] == beta].to_dict("records"):
        values = Restored(**{name: row[name] for name in Restored._fields})
        techniques = restored.setdefault(row["baseline"], {})
        techniques.setdefault(row["technique"], {})[row["metric"]] = values
    return restored


def nearest_first(rows: pd.DataFrame) -> list[str]:
    """Return the techniques of one level of bias of a scenario, the nearest to the clean model first."""
    distances = rows[rows["metric"] == RESTORATION[0]].sort_values("value", kind="stable")
    return list(dict.fromkeys([*distances["technique"], *rows["technique"]]))


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


def _table(
    restored: Mapping[str, Mapping[str, Metrics]],
    statistics: RunStatistics,
    columns: Mapping[str, Sequence[str]],
) -> TextTable:
    """Return a row for each technique, the nearest to the clean model first, and for the refits."""
    rows: list[list[str]] = []
    titles = statistics.run.titles
    for baseline, techniques in restored.items():
        learner = f" of {titles[baseline]}" if len(restored) > 1 else ""
        order = sorted(techniques, key=lambda name: (name != baseline, _distance(techniques[name])))
        for name in order:
            label = f"Biased baseline{learner}" if name == baseline else titles[name]
            rows.append([label, *(_text(metrics, techniques[name]) for metrics in columns.values())])
        untreated = techniques.get(baseline, {})
        for kind in ("clean", "biased"):
            values = {metric: getattr(value, f"refit_{kind}") for metric, value in untreated.items()}
            cells = [
                " / ".join(_number(metric, values.get(metric)) for metric in metrics)
                for metrics in columns.values()
            ]
            rows.append([f"Refit{learner} on {kind} rows", *cells])
    return TextTable(["Technique", *columns], rows)


def _distance(metrics: Metrics) -> tuple[bool, float]:
    distance = metrics.get("restoration_distance")
    return (True, 0.0) if distance is None or math.isnan(distance.value) else (False, distance.value)


def _text(metrics: Sequence[str], values: Metrics) -> str:
    """Return a cell: one metric with its interval, or several without."""
    text = " / ".join(_number(m, values[m].value if m in values else None) for m in metrics)
    if len(metrics) > 1 or metrics[0] not in values:
        return text
    (metric,) = metrics
    restored = values[metric]
    low, high = restored.value_low, restored.value_high
    if metric in RESTORATION:
        low, high = (min(max(end, 0.0), 1.0) for end in (low, high))
    if low < high:
        text += f" [{', '.join(_number(metric, end).removesuffix(' %') for end in (low, high))}]"
    # The reason holds for the mean. It is shown only if the whole interval lies above 100 %.
    return f"{text} ({REVERSED})" if restored.reason == REVERSED and low > 1 else text


def _number(metric: str, value: Any) -> str:
    if value is None or math.isnan(value):
        return "–"
    if metric in _POINTS:
        return f"{100 * value:+.1f}"
    return number(value) if metric == "restoration_distance" else f"{100 * value:.0f} %"
