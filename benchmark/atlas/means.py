"""The table of means: each technique in each scenario of an atlas, over the odd and over the even splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.file import Atlas
from benchmark.columns import (
    DECISION_COUNTS,
    EQUALISE,
    GOAL_METRICS,
    GOALS,
    ORIGINAL,
    RESTORE,
    TRUTH,
    UNTREATED,
    parted_name,
)
from benchmark.data.card import load_card
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY, standings
from benchmark.statistics.cells import PLANTED, WHERE, first_true
from benchmark.statistics.decisions import AGREEMENT, RESTORATION_DISTANCE, share_counts
from benchmark.statistics.recommendation import EQUAL, Criteria, is_hidden_truth, references
from benchmark.statistics.restoration import NO_REFERENCE

ODD, EVEN = "odd", "even"
"""Halves of the splits, which are numbered from 1."""

DISTANCE = "distance"
"""Mean absolute discrimination."""

VALUES = {RESTORE: RESTORATION_DISTANCE, EQUALISE: DISTANCE}
"""Columns that measure the goals; 0 is ideal."""

ALLOWED = {goal: f"allowed_{goal}" for goal in GOALS}
"""Columns that say whether a technique meets the limits of the rule."""

_MEANS = (RESTORATION_DISTANCE, DISTANCE, GOAL_METRICS[EQUALISE], ACCURACY, *ACCEPTANCE, AGREEMENT)
_SHARES = ("given_back", "paid", "in_their_place")
BY_CHANCE = "given_back_by_chance"
"""What a refit of the untreated learner on other rows with the same bias gives back."""

SCENARIO_COLUMNS = (
    *("part", "dataset", "card", "cluster", "bias", "hidden", "level", "unit", "beta", "pooled"),
    *("classifier", "test"),
)
MEAN_COLUMNS = (
    *("version", *SCENARIO_COLUMNS, "technique", "half", "n", "missing"),
    *_MEANS,
    *(*_SHARES, BY_CHANCE),
    *(column for goal in GOALS for column in (ALLOWED[goal], f"reason_{goal}")),
)
"""Columns of the table; ``docs/atlas.md`` explains them."""

_HALF = [*WHERE, "half"]


def part_means(run: RunFrames, part: str, atlas: Atlas) -> pd.DataFrame:
    """Return the means of a part's run, columns :data:`MEAN_COLUMNS`.

    Reference rows and settings that nobody can choose in practice are left out. The baseline is the
    technique that does nothing, with the same classifier.
    """
    choosable = run.of_techniques.of_choices
    halves = []
    for half in (ODD, EVEN):
        results = choosable.results[half_of(choosable.results["repetition"]) == half]
        if len(results):
            halves.append(_half_means(results, run.decisions, choosable.manifest).assign(half=half))
    means = pd.concat(halves, ignore_index=True)
    means = means.join(_shares(run), on=_HALF)
    described = pd.DataFrame(list(_scenarios(run.manifest, atlas))).set_index([*PLANTED])
    means = means.join(described, on=[*PLANTED])
    means = means.assign(bias=means["bias_name"], part=part, version=atlas.version)
    for goal in GOALS:
        means[ALLOWED[goal]] = (means[f"reason_{goal}"] == "").astype(int)
    return means[list(MEAN_COLUMNS)].sort_values([*MEAN_COLUMNS[:16]], ignore_index=True)


def half_of(repetition: pd.Series) -> NDArray[np.object_]:
    """Return the half of each repetition; repetitions are numbered from 0."""
    return np.where(repetition % 2 == 0, ODD, EVEN)


def _half_means(results: pd.DataFrame, decisions: pd.DataFrame | None, manifest: Manifest) -> pd.DataFrame:
    """Return means and limits over the repetitions of one half, a row for each technique and level.

    ``decisions`` are of all repetitions.
    """
    names = [GOAL_METRICS[EQUALISE], ACCURACY, *ACCEPTANCE, RESTORATION_DISTANCE, AGREEMENT]
    cells = results.pivot(index=[*WHERE, "repetition"], columns="metric", values="value")
    cells = cells.reindex(columns=names)
    cells[DISTANCE] = cells[GOAL_METRICS[EQUALISE]].abs()
    of_level = cells.groupby(level=list(WHERE), sort=False)
    means = of_level.mean()
    n = of_level.count()
    means["n"], means["planned"] = n[ACCURACY], of_level.size()
    means["missing"] = means["planned"] - means["n"]
    if decisions is not None:
        decisions = decisions[decisions["repetition"].isin(results["repetition"].unique())]
    standing = standings(results, manifest.constant_answers, decisions)
    table = means.join(standing.set_index(list(WHERE))).reset_index()
    table["baseline"] = table["clean_model"] = UNTREATED
    for goal in GOALS:
        limits = references(table, goal, Criteria())
        lacking = table["planned"] - n[VALUES[goal]].to_numpy()
        # Nothing is planted at level 0, and a test may have no clean model: there is nothing to restore.
        table[f"reason_{goal}"] = _reasons(table, limits, lacking)
    at_zero = (table["level"] == 0) | ~table["test"].isin((ORIGINAL, TRUTH))
    hidden = is_hidden_truth(table)
    table.loc[at_zero & ~hidden, [RESTORATION_DISTANCE, AGREEMENT]] = np.nan
    table.loc[at_zero & ~hidden, f"reason_{RESTORE}"] = NO_REFERENCE
    return table


def _reasons(table: pd.DataFrame, limits: pd.DataFrame, lacking: Any) -> Any:
    """Return why a technique is not allowed, by the conditions of the rule; else nothing."""
    reasons = first_true(
        {
            "": table["technique"] == UNTREATED,
            "degenerate": table["n_degenerate"] > 0,
            "incomplete": lacking > 0,
            "unknown": table[["accepted", ACCURACY, "constant_accuracy"]].isna().any(axis=1),
            "below_constant": table[ACCURACY] < limits["accuracy_floor"] - EQUAL,
            "one_group": table["one_group"],
            "too_few": limits["too_few"] != "",
        }
    )
    return np.asarray(reasons, dtype=object)


def _shares(run: RunFrames) -> pd.DataFrame:
    """Return shares of people, ratios of sums over the splits of a half, by scenario and technique."""
    names = [*_SHARES, BY_CHANCE]
    if run.decisions is None:
        return pd.DataFrame(columns=names, index=pd.MultiIndex.from_tuples([], names=_HALF))
    decisions = run.decisions
    if "test" not in decisions.columns:
        decisions = decisions.assign(test=ORIGINAL)
    decisions = decisions.assign(half=half_of(decisions["repetition"]))
    counts = decisions.groupby(_HALF, sort=False)[list(DECISION_COUNTS)].sum()
    shares = {}
    for name, (upper, lower) in share_counts(counts.to_numpy()).items():
        if name in _SHARES:
            shares[name] = np.divide(upper, lower, out=np.full(len(counts), np.nan), where=lower > 0)
    table = pd.DataFrame(shares, index=counts.index)
    chance = {pair[1] for name, pair in run.manifest.refits_of.items() if name == UNTREATED}
    refits = table[table.index.get_level_values("technique").isin(chance)]
    refit = refits["given_back"].droplevel("technique").rename(BY_CHANCE)
    others = [name for name in _HALF if name != "technique"]
    return table.join(refit, on=others)[names]


def _scenarios(manifest: Manifest, atlas: Atlas) -> Iterator[Mapping[str, Any]]:
    """Yield cluster, hidden gap, solved β and whether it is pooled, for each dataset, bias and level."""
    unit = manifest.unit
    for dataset in manifest.datasets:
        card = load_card(dataset.entry.card).name
        for bias in dataset.bias:
            name, hidden = parted_name(bias.name)
            for level in manifest.levels:
                dose = bias.dose(level)
                yield {
                    **{"dataset": dataset.name, "bias": bias.name, "level": level},
                    **{"bias_name": name, "hidden": hidden, "unit": unit, "card": card},
                    "cluster": atlas.cluster_of(card),
                    "beta": level if dose is None else dose.beta,
                    "pooled": int(bias.pooled(level)),
                }
