"""Regret of recommenders over clusters, and the rule that decides which advice may be printed."""

from __future__ import annotations

from collections.abc import Mapping
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
from benchmark.statistics.recommendation import EQUAL

_RESAMPLES = 4000

REGRET_COLUMNS = (
    *("version", "goal", "scenarios", "clusters", "recommender", "n_clusters", "n_scenarios"),
    *("regret", "regret_low", "regret_high", "share_of_gain", "share_low", "share_high"),
    "worse_than_nothing",
    *("against", "difference", "difference_low", "difference_high", "p", "p_corrected", "detectable"),
)
"""Columns of ``recommenders.csv``; ``docs/atlas.md`` explains them."""

AGAINST = (NOTHING, DROP, AVERAGE)
"""Recommenders that all others are compared with."""

ALL, TO_UNDO, HIDDEN = "all", "to_undo", "planted"
"""Sets of scenarios: with planted bias alone; those of them with something to restore; and others."""

PRIMARY = ((DATA, DROP), (DATA, AVERAGE))
"""The contrasts of the primary question, which are not corrected for restoring."""


def regret_table(
    scenarios: Scenarios,
    choices: Mapping[str, Choices],
    atlas: Atlas,
    *,
    goal: str,
    kind: str,
    clusters: str = "main",
) -> pd.DataFrame:
    """Return regrets of all recommenders, and their differences from others, columns :data:`REGRET_COLUMNS`.

    ``kind`` names the set of scenarios, such as :data:`ALL`. ``clusters`` is "main", or "finer" for
    the second line. A row with ``against`` is a contrast: the other's regret minus the recommender's.
    """
    by = "cluster" if clusters == "main" else "finer"
    frame, alpha = scenarios.frame, atlas.rules.alpha
    oracle, nothing = choices[ORACLE].score, choices[NOTHING].score

    def over_clusters(values: Array) -> Array:
        return cluster_means(frame, values, by)[0].to_numpy()

    regrets = {name: over_clusters(choice.score - oracle) for name, choice in each(choices)}
    # With a single kind of bias, for one, nobody can be told a wrong kind.
    regrets = {name: regret for name, regret in regrets.items() if np.isfinite(regret).any()}
    possible = over_clusters(nothing - oracle)
    common = {
        **{"version": atlas.version, "goal": goal, "scenarios": kind, "clusters": clusters},
        "n_scenarios": len(frame),
    }
    rows: list[dict[str, object]] = []
    for name, regret in regrets.items():
        low, high = sign_flip_interval(regret[np.isfinite(regret)], alpha)
        worse = over_clusters((choices[name].score > nothing + EQUAL).astype(float))
        share, share_low, share_high = _share(over_clusters(nothing - choices[name].score), possible, alpha)
        rows.append(
            {
                **common,
                **{"recommender": name, "n_clusters": int(np.isfinite(regret).sum()), "against": ""},
                **{"regret": np.nanmean(regret), "regret_low": low, "regret_high": high},
                **{"share_of_gain": share, "share_low": share_low, "share_high": share_high},
                "worse_than_nothing": worse.mean(),
            }
        )
    pairs = [(name, other) for name in regrets for other in AGAINST if name not in (other, NOTHING, ORACLE)]
    # The primary contrasts stand by themselves; all others are corrected for their number.
    primary = PRIMARY if (goal, kind, clusters) == (RESTORE, ALL, "main") else ()
    every = {(name, other): regrets[other] - regrets[name] for name, other in pairs}
    differences = {pair: values[np.isfinite(values)] for pair, values in every.items()}
    p = {pair: float(sign_flip_p_values(values[None, :])[0]) for pair, values in differences.items()}
    p_corrected = p | corrected({pair: p[pair] for pair in pairs if pair not in primary})
    for (name, other), difference in differences.items():
        low, high = sign_flip_interval(difference, alpha)
        rows.append(
            {
                **common,
                **{"recommender": name, "n_clusters": len(difference), "against": other},
                **{"difference": difference.mean(), "difference_low": low, "difference_high": high},
                **{"p": p[name, other], "p_corrected": p_corrected[name, other]},
                "detectable": smallest_difference(difference, alpha),
            }
        )
    return pd.DataFrame(rows).reindex(columns=list(REGRET_COLUMNS))


def corrected(p: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Return p-values of named contrasts with Holm's correction; undecided ones count as 1, and stay NaN."""
    return dict(zip(p, holm(np.array([*p.values()]), undecided=True).tolist(), strict=True))


def p_of_contrasts(table: pd.DataFrame, goal: str) -> dict[tuple[str, str], float]:
    """Return p-values of the contrasts that are corrected for each other, of all scenarios and main clusters.

    ``table`` is ``recommenders.csv``; keys are a recommender and the one that it is compared with.
    """
    return {
        (str(name), other): float(p)
        for other in AGAINST
        for name, p in rows_of(table, goal, against=other)["p"].items()
        if goal != RESTORE or (name, other) not in PRIMARY
    }


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
    table: pd.DataFrame, goal: str, *, kind: str = ALL, clusters: str = "main", against: str = ""
) -> pd.DataFrame:
    """Return the rows of ``recommenders.csv`` on a goal, by recommender: regrets, or contrasts with one."""
    of = (table["goal"] == goal) & (table["scenarios"] == kind) & (table["clusters"] == clusters)
    return table[of & (table["against"] == against)].set_index("recommender")


@dataclass(frozen=True)
class Verdict:
    """What may be printed for one goal: a simple rule, and whether other advice beats it."""

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


def verdict(table: pd.DataFrame, goal: str, rules: Rules) -> Verdict:
    """Return what the rule lets the page, the command and the findings say for a goal.

    ``table`` is ``recommenders.csv``: its rows of all scenarios and main clusters count.
    """
    alone = rows_of(table, goal)
    regrets = alone["regret"].astype(float)
    simple = AVERAGE if regrets[AVERAGE] < regrets[DROP] - rules.tie else DROP
    needed = max(rules.least_gain, rules.least_share * regrets[simple])
    known = int(alone["n_clusters"][simple]) >= rules.fewest_clusters
    against = rows_of(table, goal, against=simple)
    by = {}
    for name in (KIND, DATA):
        difference, low, high = (float(against[f"difference{end}"][name]) for end in ("", "_low", "_high"))
        shown = known and difference > rules.least_gain and difference >= needed and low > 0
        by[name] = Evidence(difference, low, high, shown)
    return Verdict(simple, by)
