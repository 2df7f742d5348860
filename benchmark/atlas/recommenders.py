"""Recommenders: rules that choose a technique for data that they have not seen.

From their regrets over clusters, a rule decides which of their advice may be printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.features import FEATURES
from benchmark.atlas.file import Rules
from benchmark.atlas.scenarios import SCENARIO, Scenarios
from benchmark.columns import RESTORE, UNTREATED
from benchmark.statistics.cells import Array
from benchmark.statistics.recommendation import EQUAL

NOTHING, DROP, AVERAGE, KIND, WRONG_KIND = "nothing", "drop", "average", "kind_and_dose", "wrong_kind"
DATA, RANDOM, ORACLE = "data", "random", "oracle"

LETTERS = {
    NOTHING: "(a) do nothing",
    DROP: "(b) leave the group out",
    AVERAGE: "(c) the best on average elsewhere",
    KIND: "(d) the best elsewhere for this kind and dose",
    WRONG_KIND: "(d') the same, told a wrong kind",
    DATA: "(e) predicted from features of the data",
    RANDOM: "(h) at random",
    ORACLE: "(i) the oracle",
}
"""Recommenders by name, in words. They choose among techniques that know nothing of the bias.

Others have the name of a state of knowledge. They choose the best technique on average elsewhere that is told
just that.
"""

DROP_TECHNIQUE = "drop_sensitive"
PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)
"""Penalties of the ridge regression, of which the other clusters choose one."""


def at(
    scenarios: Scenarios, learner: str | None = None, bias: str | None = None, dose: float | None = None
) -> NDArray[np.bool_]:
    """Return which scenarios have a learner, a kind of bias and a dose, as far as they are given."""
    of = np.ones(len(scenarios.frame), dtype=bool)
    for name, value in {"classifier": learner, "bias": bias, "level": dose}.items():
        if value is not None:
            of &= (scenarios.frame[name] == value).to_numpy()
    return of


def cluster_means(frame: pd.DataFrame, values: Array) -> pd.DataFrame:
    """Return means over scenarios, then over datasets, for each cluster; a row each, sorted by name.

    ``values`` have shape (n_scenarios,) or (n_scenarios, n_columns); NaN is left out.
    """
    columns = pd.DataFrame(np.asarray(values, dtype=float))
    of_datasets = columns.groupby([frame["cluster"].to_numpy(), frame["dataset"].to_numpy()]).mean()
    return of_datasets.groupby(level=0).mean()


def best_elsewhere(
    scenarios: Scenarios, of: NDArray[np.bool_], candidates: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], str]:
    """Return the best candidate for each scenario from other clusters, and the best over all clusters.

    It has the largest mean gain in the scenarios ``of``, in which clusters count equally. Only candidates
    count that were tried in all of these clusters, and in the scenario.
    """
    run = scenarios.run & candidates
    of = of & run.any(axis=1)
    gains = cluster_means(scenarios.frame[of], scenarios.gain[of])
    clusters: NDArray[np.object_] = scenarios.frame["cluster"].to_numpy()
    chosen = np.zeros(len(clusters), dtype=np.intp)
    for cluster in np.unique(clusters):
        others = gains[gains.index != cluster].to_numpy()
        if len(others):
            here = clusters == cluster
            chosen[here] = highest(np.broadcast_to(others.mean(axis=0), run[here].shape), run[here])
    if not of.any():
        return chosen, UNTREATED
    [best] = highest(gains.to_numpy().mean(axis=0)[None], np.atleast_2d(run[of].all(axis=0)))
    return chosen, scenarios.techniques[best]


def highest(gain: Array, run: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the technique of the highest gain in each row; doing nothing gains 0 and wins ties."""
    gain = np.where(run & np.isfinite(gain), gain, -np.inf)
    gain[:, 0] = 0.0
    return np.asarray((gain >= gain.max(axis=1, keepdims=True) - EQUAL).argmax(axis=1))


def _design(frame: pd.DataFrame, features: pd.DataFrame, names_of: pd.DataFrame | None = None) -> Array:
    """Return what gains are predicted from, shape (n_scenarios, n_features): see :data:`FEATURES`.

    Rates are logits, numbers of rows and columns logarithms. Dose, kind and learner follow, the last two as
    columns of 0 and 1, by the names in ``names_of``.
    """
    names_of = frame if names_of is None else names_of
    where = [name for name in SCENARIO if name != "classifier"]
    features = features[[*where, *FEATURES]]
    table = frame[list(SCENARIO)].merge(features, on=where, how="left", validate="many_to_one")

    def logit(share: pd.Series) -> Array:
        clipped = share.clip(0.001, 0.999).to_numpy(dtype=float)
        return np.asarray(np.log(clipped / (1 - clipped)))

    columns = [
        logit(table["rate_deprived"]),
        logit(table["rate_favored"]),
        table["rate_favored"] - table["rate_deprived"],
        logit(table["share_deprived"]),
        table["group_auc"],
        table["label_auc"],
        table["strongest_proxy"],
        np.log(table["rows"]),
        np.log(table["columns"]),
        table["level"],
        *(table["bias"] == bias for bias in sorted({*names_of["bias"]})),
        *(table["classifier"] == name for name in sorted({*names_of["classifier"]})),
    ]
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


def predictions(scenarios: Scenarios, features: pd.DataFrame) -> Array:
    """Return gains that are predicted without a scenario's cluster, shape (n_scenarios, n_techniques).

    They are a ridge regression for each technique, fitted on the scenarios of other clusters. Clusters count
    equally, and datasets within them. The penalty is the one with the least error in clusters that are left
    out of these in turn.
    """
    design = _design(scenarios.frame, features)
    predicted = np.full((len(design), len(scenarios.techniques)), np.nan)
    weights = _weights(scenarios.frame)  # those of a cluster do not depend on other clusters
    clusters = scenarios.frame["cluster"].to_numpy()
    for cluster in np.unique(clusters):
        here, others = clusters == cluster, clusters != cluster
        predicted[here] = _ridge(scenarios.take(others), design[others], weights[others], design[here])
    return predicted


def predicted_elsewhere(
    source: Scenarios, features: pd.DataFrame, frame: pd.DataFrame, own_features: pd.DataFrame
) -> Array:
    """Return predicted gains in data that are none of the atlas's, shape (n_rows, n_techniques).

    ``frame`` has the columns SCENARIO, and ``own_features`` as many rows as it has datasets, biases and
    levels, with the columns of ``features``.
    """
    design, own_design = _design(source.frame, features), _design(frame, own_features, source.frame)
    return _ridge(source, design, _weights(source.frame), own_design)


def _ridge(source: Scenarios, design: Array, weights: Array, target: Array) -> Array:
    clusters, gain = source.frame["cluster"].to_numpy(), source.gain
    if len(np.unique(clusters)) < 2:  # there is no other cluster to choose the penalty by
        return np.full((len(target), gain.shape[1]), np.nan)
    errors = np.zeros(len(PENALTIES))
    for cluster in np.unique(clusters):
        inside = clusters == cluster
        fitted = _fit(design[~inside], gain[~inside], weights[~inside], design[inside])
        missed = (fitted - gain[inside]) ** 2
        errors += np.nansum(missed * weights[inside][None, :, None], axis=(1, 2))
    penalty = int(np.argmin(errors))
    return np.asarray(_fit(design, gain, weights, target)[penalty])


def _weights(frame: pd.DataFrame) -> Array:
    """Return weights of scenarios by which clusters, and datasets within them, count equally."""
    in_dataset = frame.groupby(["cluster", "dataset"])["bias"].transform("size")
    n_datasets = frame.groupby("cluster")["dataset"].transform("nunique")
    return np.asarray(1.0 / (in_dataset * n_datasets), dtype=float)


def _fit(design: Array, gain: Array, weights: Array, target: Array) -> Array:
    """Return predictions with each penalty, shape (n_penalties, n_targets, n_techniques).

    A penalty stands beside the weighted mean of squared errors.
    """
    from sklearn.linear_model import Ridge

    share = weights / weights.sum()
    center = share @ design
    spread = np.sqrt(share @ (design - center) ** 2)
    spread[spread < EQUAL] = 1.0
    # A feature that is missing in the target counts as average.
    X, Z = (design - center) / spread, np.nan_to_num((target - center) / spread)
    fitted = np.full((len(PENALTIES), len(target), gain.shape[1]), np.nan)
    present = np.isfinite(gain)
    _, first, pattern = np.unique(
        np.packbits(present, axis=0), axis=1, return_index=True, return_inverse=True
    )
    for number, rows in enumerate(present.T[first]):  # techniques that were tried in the same scenarios
        if rows.sum() < 2:
            continue
        columns = np.flatnonzero(pattern.ravel() == number)
        w, y = weights[rows] / weights[rows].sum(), gain[np.ix_(rows, columns)]
        # One fit for all penalties: each has a copy of the targets.
        ridge = Ridge(np.repeat(PENALTIES, len(columns)), solver="svd")
        ridge.fit(X[rows], np.tile(y, len(PENALTIES)), sample_weight=w)
        fitted[:, :, columns] = ridge.predict(Z).reshape(len(Z), len(PENALTIES), -1).swapaxes(0, 1)
    return fitted


DOSE = 0.10
"""The dose of claims and of the primary question; others stand beside it."""

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
