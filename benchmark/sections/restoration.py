"""Who gets back what the bias took from them, who pays, and what of each difference is removed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from benchmark.metrics.restoration import SHARES
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.frames import Scenario
from benchmark.sections.goals import WHY_NOT
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.answers import of_use, undo_of
from benchmark.statistics.restoration import REVERSED
from benchmark.text.words import number, share

_AMONG = {name: among for name, (_, among) in SHARES.items()}

READING = (
    "The clean model is the technique's baseline, trained on the same rows without planted bias. The biased "
    "baseline is the same learner with it. All three decide about the same test people.",
    f"Given back: of the people {_AMONG['given_back']}, the share that the technique accepts. Paid: of those "
    f"{_AMONG['paid']}, the share that it refuses. In their place: of those {_AMONG['in_their_place']}, the "
    "share that it accepts.",
    "A refit is the untreated learner on a random draw of the same rows, with replacement. It mitigates "
    "nothing. What it gives back is chance: only what goes beyond it counts.",
)
OF_NETWORK = "Training rows with and without bias are samples of a network with the same random numbers."

_PEOPLE = {
    "restoration_distance": "Distance to clean model",
    "agreement": "Same decision",
    "given_back": "Given back",
    "given_back_deprived": "deprived",
    "given_back_favored": "favored",
    "paid": "Paid",
    "paid_deprived": "deprived",
    "paid_favored": "favored",
    "in_their_place": "In their place",
}
_DIFFERENCES = {
    "planted_removed": "Planted, removed",
    "original_removed": "Original, removed",
    "planted_share": "Share of planted",
    "original_share": "Share of original",
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


def section(statistics: RunStatistics) -> Section | None:
    """Return what each technique gives back at each level of bias; None where no decisions are compared."""
    if statistics.restoration.empty:
        return None
    notes = [*READING, *([] if statistics.run.protocol.overlaps else [OF_NETWORK])]
    return Section(
        "restoration",
        "Who gets back what the bias took, and who pays",
        notes,
        list(_blocks(statistics)),
        files={
            "restoration": "what each technique gives back, to whom, and what it removes of the planted and "
            "of the original difference, beside two refits of its learner"
        },
        figures={"restoration": "What techniques give back, and what that costs"},
    )


def _blocks(statistics: RunStatistics) -> Iterator[Block]:
    for scenario in statistics.scenarios:
        rows = scenario.rows(statistics.restoration)
        betas = sorted(map(float, rows["beta"].unique()), reverse=True)
        for i, beta in enumerate(betas):
            told = told_at(rows, beta)
            fold = f"{scenario.heading}: lower levels of bias" if i else ""
            heading = f"{scenario.heading}, β = {beta:g}"
            said = list(sentences(statistics, scenario, beta))
            yield Block(heading, remarks=said, fold=fold)
            yield Block(table=_table(told, statistics, _PEOPLE), fold=fold)
            yield Block(
                "Difference in acceptance between the groups, in percentage points",
                table=_table(told, statistics, _DIFFERENCES),
                fold=fold,
            )


def told_at(rows: pd.DataFrame, beta: float) -> dict[str, dict[str, dict[str, Told]]]:
    """Return what is told at one level of bias of a scenario: by baseline, technique and metric."""
    found: dict[str, dict[str, dict[str, Told]]] = {}
    for row in rows[rows["beta"] == beta].to_dict("records"):
        values = Told(**{name: row[name] for name in Told._fields})
        of = found.setdefault(row["baseline"], {}).setdefault(row["technique"], {})
        of[row["metric"]] = values
    return found


def sentences(statistics: RunStatistics, scenario: Scenario, beta: float) -> Iterator[str]:
    """Say who gives most back at one level of bias, and who pays; or why nobody can say."""
    titles = statistics.run.titles
    rows = scenario.rows(statistics.restoration)
    there = rows[rows["beta"] == beta].drop_duplicates("baseline")
    undo = dict(zip(there["baseline"], undo_of(there, statistics.undo), strict=True))
    standing = of_use(scenario.rows(statistics.standing))
    useful = set(standing.loc[standing["of_use"] & (standing["beta"] == beta), "technique"])
    for baseline, techniques in told_at(rows, beta).items():
        if why := WHY_NOT.get(str(undo.get(baseline, ""))):
            yield why.format(title=titles[baseline])
            continue
        shown = {
            name: metrics
            for name, metrics in techniques.items()
            if name != baseline and name in useful and metrics["given_back"].beyond_refit_low > 0
        }
        if not shown:
            yield (
                f"No useful technique on {titles[baseline]} is shown to give back more than a refit of the "
                "biased rows."
            )
            continue
        best = max(shown, key=lambda name: (round(shown[name]["given_back"].value, 6), name))
        given, paid, place = (shown[best][name] for name in ("given_back", "paid", "in_their_place"))
        before = techniques[baseline]["in_their_place"].value
        yield (
            f"{titles[best]} gives most back: {share(given.value)} of those whom the bias cost acceptance. A "
            f"refit of the biased rows gives back {share(given.refit_biased)}."
        )
        yield (
            f"It refuses {share(paid.value)} of those whom both models accept (refit: "
            f"{share(paid.refit_biased)}). Of those whom the clean model refuses it accepts "
            f"{share(place.value)} ({titles[baseline]}: {share(before)})."
        )


def _table(
    told: Mapping[str, Mapping[str, Mapping[str, Told]]],
    statistics: RunStatistics,
    columns: Mapping[str, str],
) -> TextTable:
    """Return a row for each technique, the nearest to the clean model first, and for the refits."""
    rows: list[list[str]] = []
    for baseline, techniques in told.items():
        title = statistics.run.titles[baseline]
        order = sorted(techniques, key=lambda name: (name != baseline, _distance(techniques[name])))
        for name in order:
            label = f"{title}, biased baseline" if name == baseline else statistics.run.titles[name]
            rows.append([label, *(_text(metric, techniques[name].get(metric)) for metric in columns)])
        own = techniques.get(baseline, {})
        for kind, words in (("refit_clean", "clean"), ("refit_biased", "biased")):
            values = [getattr(own.get(metric), kind, math.nan) for metric in columns]
            rows.append([f"{title}, refit on {words} rows", *map(_number, columns, values)])
    return TextTable(["Technique", *columns.values()], rows)


def _distance(metrics: Mapping[str, Told]) -> tuple[bool, float]:
    told = metrics.get("restoration_distance")
    return (True, 0.0) if told is None or math.isnan(told.value) else (False, told.value)


def _text(metric: str, told: Told | None) -> str:
    if told is None:
        return "–"
    text = _number(metric, told.value)
    ends = [_number(metric, end) for end in (told.value_low, told.value_high)]
    if "–" not in ends and told.value_low < told.value_high:
        text += f" [{', '.join(ends)}]"
    return f"{text} ({REVERSED})" if told.reason == REVERSED else text


def _number(metric: str, value: Any) -> str:
    if value is None or math.isnan(value):
        return "–"
    if metric in _POINTS:
        return f"{100 * value:+.1f}"
    return number(value) if metric == "restoration_distance" else f"{100 * value:.0f} %"
