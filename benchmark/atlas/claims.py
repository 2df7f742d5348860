"""Claims that were written before the run: each is decided by a function, from the compared recommenders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmark.atlas.file import Atlas
from benchmark.atlas.recommenders import (
    AVERAGE,
    DATA,
    DROP,
    DROP_TECHNIQUE,
    ORACLE,
    PLANTING,
    Choices,
    cluster_means,
)
from benchmark.atlas.regret import ALL, PLANTED, sign_flip_interval
from benchmark.atlas.scenarios import Array, Scenarios
from benchmark.columns import EQUALISE, RESTORE
from benchmark.statistics.recommendation import EQUAL

CLAIM_COLUMNS = ("version", "claim", "text", "fate", "evidence")

HELD, REFUTED = "held", "refuted"
NOT_SHOWN = "held by the mean, but not shown"
"""Fates. A claim on a difference is not shown to hold if the interval of the difference includes 0."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Recommenders on one set of scenarios for one goal."""

    goal: str
    kind: str  # of the scenarios: :data:`~benchmark.atlas.regret.ALL` or PLANTED
    scenarios: Scenarios
    choices: Mapping[str, Choices]


@dataclass(frozen=True, eq=False)
class Comparison:
    """What claims are decided by."""

    atlas: Atlas
    parts: Mapping[tuple[str, str], Compared]  # by goal and set of scenarios
    regrets: pd.DataFrame  # ``recommenders.csv``
    variance: pd.DataFrame  # ``variance.csv``

    def contrast(self, recommender: str, against: str) -> Mapping[str, float]:
        """Return the row of a contrast to restore, over all scenarios and main clusters."""
        frame = self.regrets
        of = (frame["goal"] == RESTORE) & (frame["scenarios"] == ALL) & (frame["clusters"] == "main")
        of &= (frame["recommender"] == recommender) & (frame["against"] == against)
        return dict(frame[of].iloc[0])

    def regret_of(self, goal: str) -> pd.DataFrame:
        """Return the regret of always taking one technique, by cluster and technique."""
        part = self.parts[goal, ALL]
        scenarios = part.scenarios
        score = np.where(scenarios.run, scenarios.score.mean(axis=0), np.nan)
        regret = cluster_means(scenarios.frame, score - part.choices[ORACLE].score[:, None])
        return regret.set_axis(list(scenarios.techniques), axis=1)

    def share(self, effect: str) -> float:
        """Return the share of an effect in the variance of gains to restore."""
        frame = self.variance
        return float(frame[(frame["goal"] == RESTORE) & (frame["effect"] == effect)]["share"].iloc[0])


Decision = tuple[str, str]
"""A fate, and the evidence in words."""


def _difference(more: Array) -> Decision:
    """Decide whether a difference is above 0 on average, from its values in clusters."""
    mean, (low, high) = float(np.nanmean(more)), sign_flip_interval(more[np.isfinite(more)])
    fate = REFUTED if mean <= 0 else HELD if low > 0 else NOT_SHOWN
    return fate, f"by {mean:.3f} ({low:.3f} to {high:.3f})"


def other_winner(of: Comparison) -> Decision:
    """Decide whether the goals have different best techniques."""
    regrets = {goal: of.regret_of(goal) for goal in (RESTORE, EQUALISE)}
    best = {goal: str(regret.mean().idxmin()) for goal, regret in regrets.items()}
    clusters = regrets[RESTORE].index
    without = [
        regrets[RESTORE].drop(cluster).mean().idxmin() != regrets[EQUALISE].drop(cluster).mean().idxmin()
        for cluster in clusters
    ]
    evidence = f"`{best[RESTORE]}` to restore, `{best[EQUALISE]}` to equalize; "
    evidence += f"without one group of datasets, in {sum(without)} of {len(clusters)} cases"
    return HELD if best[RESTORE] != best[EQUALISE] else REFUTED, evidence


def gap_is_not_places(of: Comparison) -> Decision:
    """Decide how often the technique that equalizes best comes no nearer to the clean model."""
    equal, restore = (of.parts[goal, ALL].scenarios for goal in (EQUALISE, RESTORE))
    index = np.arange(len(equal.frame))
    of_best = np.mean([restore.score[1 - half, index, equal.best(half)] for half in (0, 1)], axis=0)
    no_nearer = of_best >= restore.value[:, :, 0].mean(axis=0) - EQUAL
    shares = cluster_means(equal.frame, no_nearer.astype(float))[0].to_numpy()
    mean, (low, high) = float(shares.mean()), sign_flip_interval(shares)
    fate = REFUTED if mean < 1 / 3 else HELD if low >= 1 / 3 else NOT_SHOWN
    return fate, f"in {100 * mean:.0f} % of the scenarios ({100 * low:.0f} to {100 * high:.0f} %)"


def cluster_before_kind(of: Comparison) -> Decision:
    """Decide whether technique and cluster have more variance than technique and kind."""
    cluster, kind = (of.share(f"technique × {name}") for name in ("cluster", "kind"))
    evidence = f"{100 * cluster:.0f} % and {100 * kind:.0f} % of the variance, without intervals"
    return HELD if cluster > kind else REFUTED, evidence


def planting_loses(of: Comparison) -> Decision:
    """Decide whether planting has more regret than leaving the group out, where a gap of .10 is hidden."""
    part = of.parts[RESTORE, PLANTED]
    frame, choices = part.scenarios.frame, part.choices
    hidden = np.isclose(frame["level"], 0.1)
    more = (choices[PLANTING].score - choices[DROP].score)[hidden]
    return _difference(cluster_means(frame[hidden], more)[0].to_numpy())


def features_do_not_win(of: Comparison) -> Decision:
    """Decide the primary question."""
    contrasts = [of.contrast(DATA, other) for other in (DROP, AVERAGE)]
    alpha = of.atlas.rules.alpha
    wins = all(row["difference"] > 0 and row["p_corrected"] <= alpha for row in contrasts)
    texts = (
        f"{row['difference']:.3f} ({row['difference_low']:.3f} to {row['difference_high']:.3f})"
        for row in contrasts
    )
    return REFUTED if wins else HELD, "it lessens regret by " + " and ".join(texts)


def noise_correction_loses(of: Comparison) -> Decision:
    """Decide whether confident learning has more regret than leaving the group out."""
    regret = of.regret_of(RESTORE)
    return _difference((regret["confident_learning"] - regret[DROP_TECHNIQUE]).to_numpy())


DECISIONS: Mapping[str, Callable[[Comparison], Decision]] = {
    decide.__name__: decide
    for decide in (
        other_winner,
        gap_is_not_places,
        cluster_before_kind,
        planting_loses,
        features_do_not_win,
        noise_correction_loses,
    )
}
"""Functions that decide the claims of the shipped atlas, by the claim's name."""


def claim_table(comparison: Comparison) -> pd.DataFrame:
    """Return the fates of an atlas's claims, columns :data:`CLAIM_COLUMNS`.

    A claim that no function decides, or whose parts are not run, has no fate.
    """
    rows: list[Sequence[str]] = []
    for claim in comparison.atlas.claims:
        fate, evidence = "", ""
        if claim.name in DECISIONS and not _missing(claim.name, comparison):
            fate, evidence = DECISIONS[claim.name](comparison)
        rows.append((comparison.atlas.version, claim.name, claim.text, fate, evidence))
    return pd.DataFrame(rows, columns=list(CLAIM_COLUMNS))


def _missing(name: str, comparison: Comparison) -> bool:
    """Return whether the scenarios of a claim are missing."""
    needed = [(RESTORE, PLANTED)] if name == planting_loses.__name__ else [(RESTORE, ALL), (EQUALISE, ALL)]
    return not all(key in comparison.parts for key in needed)
