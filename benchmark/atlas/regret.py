"""The rule that decides which advice may be printed, from the regrets of recommenders over clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from benchmark.atlas.file import Rules
from benchmark.atlas.recommenders import (
    AVERAGE,
    DATA,
    DROP,
    KIND,
    NOTHING,
)
from benchmark.columns import RESTORE

DOSE = 0.10
"""The dose of claims and of the primary question; other doses stand beside it."""


GAP, REFUSALS = "gap", "refusals_50"
"""States of knowledge of the named contrasts: the gap is told, or 50 refusals are looked at again."""


REGRET_COLUMNS = (
    *("version", "goal", "scenarios", "level", "recommender", "n_clusters", "n_scenarios"),
    *("regret", "regret_low", "regret_high", "share_of_gain", "share_low", "share_high"),
    *("agreement", "worse_than_nothing", "against", "difference", "difference_low", "difference_high"),
    *("agreement_difference", "agreement_low", "agreement_high", "p", "p_corrected", "detectable"),
    *("power_half", "power_three_quarters"),
)
"""Columns of ``recommenders.csv``; ``docs/atlas.md`` explains them."""


ALL, TO_UNDO = "all", "to_undo"
"""Sets of scenarios: with planted bias; and those of them with something to restore."""


NAMED = ((AVERAGE, NOTHING), (GAP, AVERAGE), (REFUSALS, AVERAGE))
"""The contrasts at each dose that Holm's method corrects together. All others are described."""


def p_of_contrasts(table: pd.DataFrame, goal: str) -> dict[tuple[str, str, float], float]:
    """Return p-values of the contrasts that are corrected for each other, of all scenarios.

    ``table`` is ``recommenders.csv``; keys are a recommender, the one that it is compared with, and a dose.
    """
    rows = table[(table["goal"] == goal) & (table["scenarios"] == ALL)]
    columns = rows[["recommender", "against", "level", "p"]].itertuples(index=False, name=None)
    return {(name, other, dose): p for name, other, dose, p in columns if (name, other) in NAMED}


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
