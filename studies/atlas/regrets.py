"""Recommenders that are compared, and their regrets over clusters that they have not seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.file import Atlas, Rules
from benchmark.atlas.recommenders import (
    ALL,
    AVERAGE,
    DATA,
    DROP,
    DROP_TECHNIQUE,
    KIND,
    LETTERS,
    NAMED,
    NOTHING,
    ORACLE,
    RANDOM,
    REGRET_COLUMNS,
    WRONG_KIND,
    at,
    best_elsewhere,
    cluster_means,
    highest,
    predictions,
)
from benchmark.atlas.scenarios import Scenarios
from benchmark.columns import BLIND, RESTORE
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


@dataclass(frozen=True, eq=False)
class Choices:
    """What a recommender scores in each scenario: the means over both halves of the splits.

    NaN where no technique was run that it may choose.
    """

    score: Array  # (n_scenarios,)
    agreed: Array  # (n_scenarios,): share of people with the clean model's decision
    chosen: tuple[str, ...]  # names of techniques; several names are separated by blanks

    def take(self, rows: NDArray[np.bool_]) -> Choices:
        """Return the choices in some of the scenarios."""
        chosen = tuple(np.array(self.chosen, dtype=object)[rows])
        return Choices(self.score[rows], self.agreed[rows], chosen)


def recommended(scenarios: Scenarios, features: pd.DataFrame, *, told: bool = True) -> dict[str, Choices]:
    """Return the choices of all recommenders by name, the oracle among them.

    ``features`` has the columns SCENARIO without the classifier, and :data:`FEATURES`. Whatever is fitted for
    a scenario is fitted without the scenarios of its cluster. With ``told``, there is a recommender for each
    state of knowledge, in the scenarios with a technique that has it.
    """
    n, blind = len(scenarios.frame), scenarios.knowing()
    others = scenarios.run & blind & (np.arange(len(blind)) > 0)
    at_random, agreed = (
        np.nanmean(np.where(others, values, np.nan), axis=2).mean(axis=0)
        for values in (scenarios.score, scenarios.agreed)
    )
    n_kinds = scenarios.frame["bias"].nunique()
    wrong = [_always(scenarios, _elsewhere(scenarios, blind, other_kind=i)) for i in range(1, n_kinds)]
    oracle = scenarios.choice_of_oracle
    names = (" ".join(scenarios.techniques[i] for i in dict.fromkeys(pair)) for pair in oracle.T)
    best = [scenarios.by_other_half(values) for values in (scenarios.score, scenarios.agreed)]
    states = [state for state in dict.fromkeys(scenarios.knows) if state != BLIND] if told else []
    return {
        NOTHING: _always(scenarios, np.zeros(n, dtype=np.intp)),
        DROP: _always(scenarios, np.full(n, scenarios.techniques.index(DROP_TECHNIQUE))),
        AVERAGE: _always(scenarios, _elsewhere(scenarios, blind)),
        KIND: _always(scenarios, _elsewhere(scenarios, blind, other_kind=0)),
        **({WRONG_KIND: _mean(wrong)} if wrong else {}),
        DATA: _always(scenarios, highest(predictions(scenarios, features), scenarios.run & blind)),
        RANDOM: Choices(at_random, agreed, ("",) * n),
        ORACLE: Choices(best[0], best[1], tuple(names)),
        **{state: _told(scenarios, scenarios.knowing(state)) for state in states},
    }


def _told(scenarios: Scenarios, candidates: NDArray[np.bool_]) -> Choices:
    """Return the choices among techniques that are told something, in scenarios where one of them was run."""
    own = _always(scenarios, _elsewhere(scenarios, candidates))
    run = (scenarios.run & candidates).any(axis=1)
    score, agreed = (np.where(run, values, np.nan) for values in (own.score, own.agreed))
    return Choices(score, agreed, own.chosen)


def _always(scenarios: Scenarios, technique: NDArray[np.intp]) -> Choices:
    """Return the scores of one technique for each scenario."""
    rows, names = np.arange(len(technique)), tuple(scenarios.techniques[i] for i in technique)
    score, agreed = (
        values[:, rows, technique].mean(axis=0) for values in (scenarios.score, scenarios.agreed)
    )
    return Choices(score, agreed, names)


def _mean(choices: Sequence[Choices]) -> Choices:
    """Return the mean scores of several choices for each scenario."""
    score, agreed = (np.mean([getattr(c, name) for c in choices], axis=0) for name in ("score", "agreed"))
    chosen = zip(*(choice.chosen for choice in choices), strict=True)
    return Choices(score, agreed, tuple(" ".join(dict.fromkeys(names)) for names in chosen))


def _elsewhere(
    scenarios: Scenarios, candidates: NDArray[np.bool_], *, other_kind: int | None = None
) -> NDArray[np.intp]:
    """Return for each scenario the candidate of the largest mean gain in other clusters.

    Their scenarios have the same learner; and the same dose and kind, or a kind so many places further on, if
    a number is given.
    """
    frame, chosen = scenarios.frame, np.zeros(len(scenarios.frame), dtype=np.intp)
    kinds = sorted(frame["bias"].unique())
    if other_kind is None:
        asked = [(learner, None, None) for learner in frame["classifier"].unique()]
    else:
        asked = [*dict.fromkeys(frame[["classifier", "bias", "level"]].itertuples(index=False, name=None))]
    for learner, kind, dose in asked:
        here = at(scenarios, learner, kind, dose)
        other = None if other_kind is None else kinds[(kinds.index(kind) + other_kind) % len(kinds)]
        chosen[here] = best_elsewhere(scenarios, at(scenarios, learner, other, dose), candidates)[0][here]
    return chosen


def each(choices: Mapping[str, Choices]) -> Iterator[tuple[str, Choices]]:
    """Yield recommenders in the order of their letters, then those with knowledge."""
    names = [*(name for name in LETTERS if name in choices), *sorted(choices.keys() - LETTERS.keys())]
    yield from ((name, choices[name]) for name in names)


NEAR = 1e-4
"""Distance at which ends of intervals are found, of the range of values: below the digits of files."""


_RESAMPLES = 4000


AGAINST = (NOTHING, DROP, AVERAGE)
"""Recommenders that all others are compared with."""


PRIMARY = ((DATA, DROP), (DATA, AVERAGE))
"""The contrasts of the primary question, which are not corrected for restoring."""


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
    alpha, oracle, nothing = rules.alpha, choices[ORACLE].score, choices[NOTHING].score
    own = dict(each(choices))

    def over_clusters(of: NDArray[np.bool_], *values: NDArray[Any]) -> Array:
        return cluster_means(scenarios.frame[of], np.column_stack(values)[of]).to_numpy().T.copy()

    scored = {name: np.isfinite(choice.score) for name, choice in own.items()}
    for name, of in scored.items():
        score = own[name].score
        regret, agreed, worse, gain, possible = over_clusters(
            of, score - oracle, own[name].agreed, score > nothing + EQUAL, nothing - score, nothing - oracle
        )
        low, high = sign_flip_interval(regret, alpha, NEAR)
        share, share_low, share_high = _share(gain, possible, alpha)
        yield {
            **{"recommender": name, "n_clusters": len(regret), "n_scenarios": of.sum(), "against": ""},
            **{"regret": regret.mean(), "regret_low": low, "regret_high": high},
            **{"share_of_gain": share, "share_low": share_low, "share_high": share_high},
            **{"agreement": agreed.mean(), "worse_than_nothing": worse.mean()},
        }
    for name, other in ((name, other) for name in own for other in AGAINST):
        if name in (other, NOTHING, ORACLE):
            continue
        of = scored[name]
        regret, less, agreed, before = over_clusters(
            of, own[other].score - oracle, own[name].score - oracle, own[name].agreed, own[other].agreed
        )
        both = np.array([regret - less, agreed - before])
        measures = both if goal == RESTORE else both[:1]
        tested = (name, other) in NAMED or (goal == RESTORE and (name, other) in PRIMARY)
        (low, high), (agreement_low, agreement_high) = (
            sign_flip_interval(more, alpha, NEAR) for more in both
        )
        half, three_quarters = (power_of_rule(regret, both[0], share, rules) for share in (0.5, 0.75))
        yield {
            **{"recommender": name, "n_clusters": len(regret), "n_scenarios": of.sum(), "against": other},
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
