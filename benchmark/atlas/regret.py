"""Regret of recommenders over clusters, and the rule that decides which advice may be printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmark.atlas.file import Atlas, Rules
from benchmark.atlas.recommenders import (
    AVERAGE,
    DATA,
    DROP,
    KIND,
    NOTHING,
    ORACLE,
    Choices,
    at,
    cluster_means,
    each,
)
from benchmark.atlas.scenarios import Scenarios
from benchmark.columns import RESTORE
from benchmark.seeding import generator
from benchmark.statistics.cells import Array
from benchmark.statistics.hypothesis_tests import (
    holm,
    sign_flip_interval,
    sign_flip_p_values,
    smallest_difference,
)
from benchmark.statistics.intervals import student_intervals
from benchmark.statistics.recommendation import EQUAL

DOSE = 0.10
"""The dose of claims and of the primary question; other doses stand beside it."""

NEAR = 1e-4
"""Distance at which ends of intervals are found, of the range of values: below the digits of files."""

GAP, REFUSALS = "gap", "refusals_50"
"""States of knowledge of the named contrasts: the gap is told, or 50 refusals are looked at again."""

_RESAMPLES = 4000

REGRET_COLUMNS = (
    *("version", "goal", "scenarios", "level", "recommender", "n_clusters", "n_scenarios"),
    *("regret", "regret_low", "regret_high", "share_of_gain", "share_low", "share_high"),
    *("agreement", "worse_than_nothing", "against", "difference", "difference_low", "difference_high"),
    *("agreement_difference", "agreement_low", "agreement_high", "p", "p_corrected", "detectable"),
    *("power_half", "power_three_quarters"),
)
"""Columns of ``recommenders.csv``; ``docs/atlas.md`` explains them."""

AGAINST = (NOTHING, DROP, AVERAGE)
"""Recommenders that all others are compared with."""

ALL, TO_UNDO = "all", "to_undo"
"""Sets of scenarios: with planted bias; and those of them with something to restore."""

PRIMARY = ((DATA, DROP), (DATA, AVERAGE))
"""The contrasts of the primary question, which are not corrected for restoring."""

NAMED = ((AVERAGE, NOTHING), (GAP, AVERAGE), (REFUSALS, AVERAGE))
"""The contrasts at each dose that Holm's method corrects together. All others are described."""


def regret_table(
    scenarios: Scenarios, choices: Mapping[str, Choices], atlas: Atlas, *, goal: str, kind: str = ALL
) -> pd.DataFrame:
    """Return regrets of all recommenders by dose, and their differences, columns :data:`REGRET_COLUMNS`.

    ``kind`` names the set of scenarios, such as :data:`ALL`. A row with ``against`` is a contrast: the
    other's regret minus the recommender's. To restore, its p-value is the larger one of regret's and
    agreement's.
    """
    rows: list[dict[str, object]] = []
    for dose in sorted(scenarios.frame["level"].unique()):
        of = at(scenarios, dose=dose)
        here = {name: choice.take(of) for name, choice in choices.items()}
        common = {"version": atlas.version, "goal": goal, "scenarios": kind, "level": dose}
        rows += [{**common, **row} for row in _at_dose(scenarios.take(of), here, atlas.rules, goal)]
    table = pd.DataFrame(rows).reindex(columns=list(REGRET_COLUMNS))
    pairs = pd.MultiIndex.from_frame(table[["recommender", "against"]])
    named = pairs.isin(NAMED)
    table.loc[named, "p_corrected"] = holm(table.loc[named, "p"].to_numpy(dtype=float), undecided=True)
    if goal == RESTORE:
        primary = pairs.isin(PRIMARY)
        table.loc[primary, "p_corrected"] = table.loc[primary, "p"]
    return table


def _at_dose(
    scenarios: Scenarios, choices: Mapping[str, Choices], rules: Rules, goal: str
) -> Iterator[dict[str, object]]:
    """Yield the rows of one dose."""
    frame, alpha = scenarios.frame, rules.alpha
    oracle, nothing = choices[ORACLE].score, choices[NOTHING].score

    def over_clusters(values: Array) -> Array:
        return cluster_means(frame, values)[0].to_numpy()

    regrets = {name: over_clusters(choice.score - oracle) for name, choice in each(choices)}
    agreed = {name: over_clusters(choice.agreed) for name, choice in each(choices)}
    possible, n = over_clusters(nothing - oracle), len(frame)
    for name, regret in regrets.items():
        low, high = sign_flip_interval(regret, alpha, NEAR)
        worse = over_clusters((choices[name].score > nothing + EQUAL).astype(float))
        share, share_low, share_high = _share(over_clusters(nothing - choices[name].score), possible, alpha)
        yield {
            **{"recommender": name, "n_clusters": len(regret), "n_scenarios": n, "against": ""},
            **{"regret": regret.mean(), "regret_low": low, "regret_high": high},
            **{"share_of_gain": share, "share_low": share_low, "share_high": share_high},
            **{"agreement": agreed[name].mean(), "worse_than_nothing": worse.mean()},
        }
    for name, other in ((name, other) for name in regrets for other in AGAINST):
        if name in (other, NOTHING, ORACLE):
            continue
        both = np.array([regrets[other] - regrets[name], agreed[name] - agreed[other]])
        measures = both if goal == RESTORE else both[:1]
        tested = (name, other) in NAMED or (goal == RESTORE and (name, other) in PRIMARY)
        (low, high), (agreement_low, agreement_high) = (
            sign_flip_interval(more, alpha, NEAR) for more in both
        )
        half, three_quarters = (power_of_rule(regrets[other], both[0], share, rules) for share in (0.5, 0.75))
        yield {
            **{"recommender": name, "n_clusters": both.shape[1], "n_scenarios": n, "against": other},
            **{"difference": both[0].mean(), "difference_low": low, "difference_high": high},
            "agreement_difference": both[1].mean(),
            **{"agreement_low": agreement_low, "agreement_high": agreement_high},
            "p": sign_flip_p_values(measures).max() if tested else np.nan,
            "detectable": smallest_difference(both[0], alpha),
            **{"power_half": half, "power_three_quarters": three_quarters},
        }


def power_of_rule(regret: Array, difference: Array, share: float, rules: Rules) -> float:
    """Return how often the rule would print advice that takes a share of a simple rule's mean regret.

    ``regret`` is the simple rule's in clusters, and ``difference`` how much less the advice has. Clusters are
    drawn again with their deviations from the mean difference, around the true gain. Student's interval
    stands for the exact one. NaN where nothing is left to gain.
    """
    n, left = len(regret), float(regret.mean())
    if n < 2 or left <= 0:
        return math.nan
    drawn = generator(0, purpose="power", n=n).integers(0, n, (_RESAMPLES, n))
    around = (difference - difference.mean() + share * left)[drawn]
    mean, low = around.mean(axis=1), student_intervals(around, 1 - rules.alpha)[0]
    printed = (mean >= rules.least_share * regret[drawn].mean(axis=1)) & (low > 0)
    return float(printed.mean()) if n >= rules.fewest_clusters else 0.0


def p_of_contrasts(table: pd.DataFrame, goal: str) -> dict[tuple[str, str, float], float]:
    """Return p-values of the contrasts that are corrected for each other, of all scenarios.

    ``table`` is ``recommenders.csv``; keys are a recommender, the one that it is compared with, and a dose.
    """
    rows = table[(table["goal"] == goal) & (table["scenarios"] == ALL)]
    columns = rows[["recommender", "against", "level", "p"]].itertuples(index=False, name=None)
    return {(name, other, dose): p for name, other, dose, p in columns if (name, other) in NAMED}


def _share(gain: Array, possible: Array, alpha: float) -> tuple[float, float, float]:
    """Return the share of the possible gain, a ratio of sums over clusters, with percentiles of resamples."""
    whole = possible.sum()
    if not whole > 0:
        return np.nan, np.nan, np.nan
    drawn = generator(0, purpose="clusters", n=len(gain)).integers(0, len(gain), (_RESAMPLES, len(gain)))
    sums = possible[drawn].sum(axis=1)
    ratios = gain[drawn].sum(axis=1)[sums > 0] / sums[sums > 0]
    low, high = np.quantile(ratios, [alpha / 2, 1 - alpha / 2])
    return float(gain.sum() / whole), float(low), float(high)


def rows_of(
    table: pd.DataFrame, goal: str, dose: float = DOSE, *, kind: str = ALL, against: str = ""
) -> pd.DataFrame:
    """Return the rows of ``recommenders.csv`` on a goal and dose, by recommender: regrets, or contrasts."""
    of = (table["goal"] == goal) & (table["scenarios"] == kind) & (table["level"] == dose)
    return table[of & (table["against"] == against)].set_index("recommender")


@dataclass(frozen=True)
class Verdict:
    """What may be printed for one goal and dose: a simple rule, and whether other advice beats it."""

    simple: str  # the better of leaving the group out and the best on average
    by: Mapping[str, Evidence]  # by recommender: advice by kind and dose, and by features of the data

    @property
    def advice(self) -> str:
        """The recommender whose advice is printed: the best that the rule lets, or the simple rule."""
        shown = {name: evidence for name, evidence in self.by.items() if evidence.shown}
        return max(shown, key=lambda name: shown[name].difference) if shown else self.simple


@dataclass(frozen=True)
class Evidence:
    """How much other advice beats the simple rule."""

    difference: float  # of regrets
    low: float
    high: float
    shown: bool  # whether the rule lets it be printed
    # How often the rule would print advice that takes a half, or three quarters, of the simple rule's regret.
    power: tuple[float, float]


def verdict(table: pd.DataFrame, goal: str, rules: Rules, dose: float = DOSE) -> Verdict:
    """Return what the rule lets the page, the command and the findings say for a goal and a dose.

    ``table`` is ``recommenders.csv``: its rows of all scenarios count.
    """
    alone = rows_of(table, goal, dose)
    regrets = alone["regret"].astype(float)
    simple = AVERAGE if regrets[AVERAGE] < regrets[DROP] - rules.tie else DROP
    needed = rules.least_share * regrets[simple]
    known = int(alone["n_clusters"][simple]) >= rules.fewest_clusters
    against = rows_of(table, goal, dose, against=simple)
    by = {}
    for name in (KIND, DATA):
        difference, low, high = (float(against[f"difference{end}"][name]) for end in ("", "_low", "_high"))
        agrees = goal != RESTORE or not float(against["agreement_high"][name]) < 0
        half, more = (float(against[f"power_{share}"][name]) for share in ("half", "three_quarters"))
        shown = known and difference >= needed and low > 0 and agrees
        by[name] = Evidence(difference, low, high, shown, (half, more))
    return Verdict(simple, by)
