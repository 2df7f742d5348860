"""Who gets back what the bias took from them, who pays, and what of each difference is removed."""

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
from benchmark.statistics.choices import LEAST, TO_CHOOSE
from benchmark.statistics.restoration import REVERSED
from benchmark.text.words import number, share

TITLE = "Who gets back what the bias took, and who pays"

_AMONG = {name: among for name, (_, among) in SHARES.items()}

GOAL = (
    "Goal: restore decisions, so that people are answered as the same learner answers them without the bias."
)

OF_CLEAN_MODEL = "Clean model: the technique's baseline, trained without planted bias."
READING = (
    f"{OF_CLEAN_MODEL} Biased baseline: the same learner, trained with it. Both decide about the same test "
    "people as the technique.",
    f"Given back: of the people {_AMONG['given_back']}, the share that the technique accepts.",
    f"Paid: of the people {_AMONG['paid']}, the share that the technique refuses.",
    f"In their place: of the people {_AMONG['in_their_place']}, the share that the technique accepts.",
    "Refit: the untreated learner on a random draw of the clean or of the biased rows, with replacement. "
    "What a refit of biased rows gives back is chance; only what exceeds it counts. A refit of clean rows "
    "shows how much even a model without the bias gives back.",
    "Brackets: intervals of 95 %. Those of decisions are cut at 0 and 100 %.",
)
OF_NETWORK = "Training rows with and without bias are samples of a network with the same random numbers."
OF_DIFFERENCES = (
    "Planted: what the bias added to the difference for the biased baseline. Original: what was there "
    "before. Above 100 %, a technique removes more than there is. A minus adds to the difference; but where "
    "the original one favors the deprived group, removing it has a minus. Reversed: its mean has the other "
    "sign; that is shown only where the interval lies above 100 %."
)

_NONE_SHOWN = (
    "No technique is shown to restore decisions: to be nearer to the clean model, of use, and to give back "
    "more than a refit."
)
_NAMED = (
    "Named: the technique nearest to the clean model of those shown to restore decisions. They are "
    "recommended to restore, or would be but for another one, and give back more than a refit."
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


class Told(NamedTuple):
    """A technique's value of a metric beside those of the refits of its learner."""

    value: float
    value_low: float
    value_high: float
    refit_clean: float
    refit_biased: float
    beyond_refit_low: float
    reason: str


Metrics = Mapping[str, Told]
"""What is told of a technique, by metric."""


def section(statistics: RunStatistics) -> Section | None:
    """Return what each technique gives back at each level of bias; None where no decisions are compared."""
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
            "restoration": "what each technique gives back, to whom, and what it removes of the planted and "
            "of the original difference, beside two refits of its learner"
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
            told = told_at(scenario.rows(statistics.restoration), beta)
            fold = f"{scenario.heading}: lower levels of bias" if i else ""
            if len(levels) > _MOST_OPEN:
                fold = f"{scenario.heading}: every technique at every level of bias"
            heading = f"{scenario.heading}, {statistics.run.level_text(beta)}"
            yield Block(heading, remarks=list(sentences(statistics, scenario, beta)), fold=fold)
            yield Block("Decisions about people", table=_table(told, statistics, _PEOPLE), fold=fold)
            yield Block(
                "Difference in acceptance between the groups, in percentage points",
                [OF_DIFFERENCES],
                table=_table(told, statistics, _DIFFERENCES),
                fold=fold,
            )


def _overview(statistics: RunStatistics, levels: Mapping[Scenario, float]) -> TextTable:
    """Return a row for each scenario, at one level of bias: what restores decisions, and who pays."""
    headings = [
        *(
            "Where",
            "Nearest of those that restore",
            "Distance (baseline)",
            "Given back (refit)",
            "Paid (refit)",
        ),
        "In their place (baseline)",
    ]
    rows = []
    for scenario, beta in levels.items():
        where = f"{scenario.heading}, {statistics.run.level_text(beta)}"
        if not (restoring := _restoring(statistics, scenario, beta)):
            reasons = set(_undo_at(statistics, scenario, beta).values())
            why = "none shown" if "" in reasons else ", ".join(sorted(reasons)).replace("_", " ")
            rows.append([where, f"– ({why})", "–", "–", "–", "–"])
            continue
        name, metrics, baseline = restoring[0]
        given, paid, there = (metrics[share] for share in SHARES)
        distances = (number(values["restoration_distance"].value) for values in (metrics, baseline))
        pairs = (
            (given.value, given.refit_biased),
            (paid.value, paid.refit_biased),
            (there.value, baseline["in_their_place"].value),
        )
        cells = [
            "{} ({})".format(*distances),
            *(f"{share(value)} ({share(other)})" for value, other in pairs),
        ]
        rows.append([where, statistics.run.titles[name], *cells])
    return TextTable(headings, rows)


def told_at(rows: pd.DataFrame, beta: float) -> dict[str, dict[str, dict[str, Told]]]:
    """Return what is told at one level of bias of a scenario: by baseline, technique and metric."""
    told: dict[str, dict[str, dict[str, Told]]] = {}
    for row in rows[rows["beta"] == beta].to_dict("records"):
        values = Told(**{name: row[name] for name in Told._fields})
        techniques = told.setdefault(row["baseline"], {})
        techniques.setdefault(row["technique"], {})[row["metric"]] = values
    return told


def nearest_first(rows: pd.DataFrame) -> list[str]:
    """Return the techniques of one level of bias of a scenario, the nearest to the clean model first."""
    distances = rows[rows["metric"] == RESTORATION[0]].sort_values("value", kind="stable")
    return list(dict.fromkeys([*distances["technique"], *rows["technique"]]))


def _undo_at(statistics: RunStatistics, scenario: Scenario, beta: float) -> dict[str, str]:
    """Return by baseline why there is nothing to restore at one level of bias; empty where there is."""
    rows = scenario.rows(statistics.restoration)
    baselines = rows[rows["beta"] == beta].drop_duplicates("baseline")
    return dict(zip(baselines["baseline"], undo_of(baselines, statistics.undo), strict=True))


def why_not(statistics: RunStatistics, scenario: Scenario, beta: float) -> Iterator[str]:
    """Say for which learners there is no reference, or nothing to undo, at one level of bias."""
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
    """Return techniques that restore decisions, the nearest to the clean model first, with their baselines.

    The rule recommends them to restore, or would but for another technique, and they surely give back more
    than a refit of the biased rows.
    """
    answers = scenario.rows(statistics.answers)
    answers = answers[(answers["goal"] == RESTORE) & (answers["beta"] == beta)]
    restores = set(answers.loc[answers["verdict"].isin((*TO_CHOOSE, "outdone")), "technique"])
    restoring = [
        (name, metrics, techniques[baseline])
        for baseline, techniques in told_at(scenario.rows(statistics.restoration), beta).items()
        if baseline in techniques
        for name, metrics in techniques.items()
        if name in restores and metrics["given_back"].beyond_refit_low > 0
    ]
    return sorted(restoring, key=lambda one: _distance(one[1]))


def sentences(statistics: RunStatistics, scenario: Scenario, beta: float) -> Iterator[str]:
    """Say what restores decisions at one level of bias, and who pays; or why nobody can say."""
    titles = statistics.run.titles
    if restoring := _restoring(statistics, scenario, beta):
        name, metrics, baseline = restoring[0]
        yield (
            f"Of the techniques shown to restore decisions, {titles[name]} comes nearest to the clean model."
        )
        yield from _people(titles[name], metrics, baseline)
        most, of_most, _ = max(restoring, key=lambda one: round(one[1]["given_back"].value, 6))
        if most != name:
            yield (
                f"{titles[most]} gives back more, {share(of_most['given_back'].value)}. It refuses "
                f"{share(of_most['paid'].value)} of those {_AMONG['paid']}, and accepts "
                f"{share(of_most['in_their_place'].value)} of those {_AMONG['in_their_place']}."
            )
    elif "" in _undo_at(statistics, scenario, beta).values():
        yield _NONE_SHOWN
    yield from why_not(statistics, scenario, beta)


def people(statistics: RunStatistics, scenario: Scenario, beta: float, technique: str) -> Iterator[str]:
    """Say what a technique gives back at one level of bias, and who pays; nothing where that is unknown."""
    for baseline, techniques in told_at(scenario.rows(statistics.restoration), beta).items():
        if technique in techniques and baseline in techniques:
            yield from _people(statistics.run.titles[technique], techniques[technique], techniques[baseline])


def people_of(
    statistics: RunStatistics, scenario: Scenario, beta: float, rows: Sequence[Answer]
) -> list[str]:
    """Say whom the technique that is named to restore decisions gives back what they lost, and who pays."""
    named = named_choices(rows).get(LEAST)
    return [] if named is None else list(people(statistics, scenario, beta, named.technique))


def people_blocks(statistics: RunStatistics) -> list[Block]:
    """Say whom the technique named to restore decisions serves, at the highest level where one is named."""
    answers = statistics.answers[statistics.answers["goal"] == RESTORE]
    blocks: dict[ScenarioKey, Block] = {}
    scenarios = {scenario.key: scenario for scenario in statistics.scenarios}
    for key, beta, rows in reversed([*by_level(answers)]):
        if key not in blocks and key in scenarios:
            scenario = scenarios[key]
            if said := people_of(statistics, scenario, beta, rows):
                heading = f"{scenario.heading} at {statistics.run.level_text(beta)}. {TITLE}"
                blocks[key] = Block(heading, remarks=said)
    return [blocks[key] for key in scenarios if key in blocks][:_MOST_PEOPLE]


def _people(title: str, metrics: Metrics, baseline: Metrics) -> Iterator[str]:
    given, paid, there = (metrics[share] for share in SHARES)
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
        f"Of those {_AMONG['in_their_place']} it accepts {share(there.value)}. The biased baseline "
        f"accepts {share(baseline['in_their_place'].value)}."
    )


def _table(
    told: Mapping[str, Mapping[str, Metrics]],
    statistics: RunStatistics,
    columns: Mapping[str, Sequence[str]],
) -> TextTable:
    """Return a row for each technique, the nearest to the clean model first, and for the refits."""
    rows: list[list[str]] = []
    titles = statistics.run.titles
    for baseline, techniques in told.items():
        learner = f" of {titles[baseline]}" if len(told) > 1 else ""
        order = sorted(techniques, key=lambda name: (name != baseline, _distance(techniques[name])))
        for name in order:
            label = f"Biased baseline{learner}" if name == baseline else titles[name]
            rows.append([label, *(_text(metrics, techniques[name]) for metrics in columns.values())])
        untreated = techniques.get(baseline, {})
        for rows_of in ("clean", "biased"):
            values = {metric: getattr(one, f"refit_{rows_of}") for metric, one in untreated.items()}
            cells = [
                " / ".join(_number(metric, values.get(metric)) for metric in metrics)
                for metrics in columns.values()
            ]
            rows.append([f"Refit{learner} on {rows_of} rows", *cells])
    return TextTable(["Technique", *columns], rows)


def _distance(metrics: Metrics) -> tuple[bool, float]:
    told = metrics.get("restoration_distance")
    return (True, 0.0) if told is None or math.isnan(told.value) else (False, told.value)


def _text(metrics: Sequence[str], values: Metrics) -> str:
    """Return a cell: one metric with its interval, or several without."""
    text = " / ".join(_number(m, values[m].value if m in values else None) for m in metrics)
    if len(metrics) > 1 or metrics[0] not in values:
        return text
    (metric,) = metrics
    told = values[metric]
    low, high = told.value_low, told.value_high
    if metric in RESTORATION:
        low, high = (min(max(end, 0.0), 1.0) for end in (low, high))
    if low < high:
        text += f" [{', '.join(_number(metric, end).removesuffix(' %') for end in (low, high))}]"
    # The reason is that of the mean: it is shown only where the whole interval lies above 100 %.
    return f"{text} ({REVERSED})" if told.reason == REVERSED and low > 1 else text


def _number(metric: str, value: Any) -> str:
    if value is None or math.isnan(value):
        return "–"
    if metric in _POINTS:
        return f"{100 * value:+.1f}"
    return number(value) if metric == "restoration_distance" else f"{100 * value:.0f} %"
