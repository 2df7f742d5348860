"""How much of the planted bias techniques take back, in words: a section of the page of statistics."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from benchmark.runs.analysis import RunStatistics
from benchmark.statistics.answers import DISCRIMINATION
from benchmark.text import markdown
from benchmark.text.words import number

HOW_TO_READ = (
    "With planted bias the ideal is known: the same learner on samples without it. Recovery is the share of "
    "what the bias changes for the baseline that a technique takes back, on the original test. 1: as if the "
    "bias had never been planted; above, it is over-corrected. 0: what the baseline does; below, it is made "
    "worse. A recovery of 1 does not mean no discrimination, but as much as there was before."
)
"""What a recovery is, and which of its values are good."""

INTERVALS = (
    "Intervals (95 %, Fieller's) reflect variation between training samples only; technique and baseline are "
    "compared on the same samples."
)

_UNDEFINED = "–"


def recovery_section(statistics: RunStatistics) -> Iterator[str]:
    """Yield how to read recoveries, and those of discrimination: a table for each scenario."""
    table = statistics.recovery
    shown = DISCRIMINATION if DISCRIMINATION in statistics.metrics else next(iter(statistics.metrics))
    table = table[table["metric"] == shown]
    if table.empty:
        yield "No level of bias is above 0, or no technique is compared with a baseline."
        return
    yield f"- {HOW_TO_READ}"
    yield f"- {INTERVALS} {levels_text(statistics)}"
    yield (
        f"- Shown is {markdown.plain(statistics.title(shown).lower())}; `recovery.csv` has every metric, and "
        "the change in accuracy beside it."
    )
    for scenario in statistics.scenarios:
        own = scenario.rows(table)
        if own.empty:
            continue
        betas = sorted(own["beta"].unique())
        yield ""
        yield f"**{markdown.plain(scenario.heading)}**"
        yield ""
        if own["recovery"].notna().any():
            rows = [
                [markdown.plain(statistics.run.titles[str(name)]), *_cells(found, betas)]
                for name, found in own.groupby("technique", sort=False)
            ]
            head = [f"β = {beta:g}" for beta in betas]
            yield markdown.table(["Technique", *head], [_planted(own, betas), *rows])
            yield ""
        yield from _reasons(statistics, own)


def levels_text(statistics: RunStatistics) -> str:
    """Say whether repetitions are paired over the levels of bias."""
    return "Samples of different β are independent."


def _planted(own: pd.DataFrame, betas: list[float]) -> list[str]:
    """Return a row with what the bias changes for the baseline, at each level the same for all techniques."""
    most = own.sort_values("n", ascending=False, kind="stable").drop_duplicates("beta").set_index("beta")
    names = ["planted", "planted_low", "planted_high"]
    return ["*changed by the bias*", *(_with_interval(*most.loc[beta, names]) for beta in betas)]


def _cells(own: pd.DataFrame, betas: list[float]) -> Iterator[str]:
    found = own.set_index("beta")[["recovery", "recovery_low", "recovery_high"]]
    yield from (_with_interval(*found.loc[beta]) for beta in betas)


def _with_interval(value: float, low: float, high: float) -> str:
    if math.isnan(value):
        return _UNDEFINED
    if math.isnan(low):
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def _reasons(statistics: RunStatistics, own: pd.DataFrame) -> Iterator[str]:
    titles = statistics.run.titles
    for reason, rows in own[own["reason"] != ""].groupby("reason", sort=False):
        levels = {
            titles[str(name)]: ", ".join(f"{beta:g}" for beta in sorted(found["beta"]))
            for name, found in rows.groupby("technique", sort=False)
        }
        alike = len(set(levels.values())) == 1 and len(levels) == own["technique"].nunique()
        where = "; ".join(f"{title} at β = {betas}" for title, betas in levels.items())
        yield (
            f"- {_UNDEFINED} "
            + markdown.plain(f"{'all at β = ' + next(iter(levels.values())) if alike else where}: {reason}.")
        )
