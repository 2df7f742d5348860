"""The table of means: each technique in each scenario of an atlas, over the odd and over the even splits."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchmark.atlas.file import Atlas
from benchmark.columns import BLIND, EQUALIZE, GOAL_METRICS, GOALS, ORIGINAL, RESTORE, UNTREATED
from benchmark.data.card import load_card
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY, standings
from benchmark.statistics.cells import PLANTED, SCENARIO, WHERE, first_true
from benchmark.statistics.recommendation import EQUAL, Criteria, references
from benchmark.statistics.restoration import AGREEMENT, RESTORATION_DISTANCE

ODD, EVEN = "odd", "even"
"""Halves of the splits, which are numbered from 1."""

DISTANCE = "distance"
"""Mean absolute discrimination."""

VALUES = {RESTORE: RESTORATION_DISTANCE, EQUALIZE: DISTANCE}
"""Columns that measure the goals; 0 is ideal."""

REASON = {goal: f"reason_{goal}" for goal in GOALS}
"""Columns that name the limit of the rule that a technique misses; empty if it meets all."""

REFIT = "refit_clean"
"""The untreated learner, trained again on other rows without bias: how far a learner is from itself."""

SCENARIO_COLUMNS = (
    *("part", "dataset", "card", "cluster", "bias", "level", "unit", "beta", "pooled", "classifier"),
)
MEAN_COLUMNS = (
    *("version", *SCENARIO_COLUMNS, "technique", "knows", "half", "n", "missing"),
    *(RESTORATION_DISTANCE, AGREEMENT, DISTANCE, ACCURACY, *ACCEPTANCE, *REASON.values()),
)
"""Columns of the table; ``docs/atlas.md`` explains them."""

_ORDER = MEAN_COLUMNS[: MEAN_COLUMNS.index("half") + 1]


def part_means(run: RunFrames, part: str, atlas: Atlas) -> pd.DataFrame:
    """Return the means of a run of a part on the original test, columns :data:`MEAN_COLUMNS`.

    Reference rows but :data:`REFIT`, and settings that nobody can choose in practice, are left out. The
    baseline is the technique that does nothing, with the same classifier.
    """
    manifest = run.manifest
    left_out = manifest.unchoosable - {REFIT}
    results = run.results[(run.results["test"] == ORIGINAL) & ~run.results["technique"].isin(left_out)]
    halves = []
    for i, half in enumerate((ODD, EVEN)):
        some = results[results["repetition"] % 2 == i]  # which are numbered from 0
        if len(some):
            halves.append(_half_means(some, manifest).assign(half=half))
    means = pd.concat(halves, ignore_index=True)
    described = pd.DataFrame(list(_scenarios(manifest, atlas))).set_index([*PLANTED])
    means = means.join(described, on=[*PLANTED])
    knows = {entry.name: entry.told.state if entry.told else BLIND for entry in manifest.techniques}
    means = means.assign(knows=means["technique"].map(knows), part=part, version=atlas.version)
    return means[list(MEAN_COLUMNS)].sort_values([*_ORDER], ignore_index=True)


def _half_means(results: pd.DataFrame, manifest: Manifest) -> pd.DataFrame:
    """Return means and limits over the repetitions of one half, a row for each technique and level."""
    names = [GOAL_METRICS[EQUALIZE], ACCURACY, *ACCEPTANCE, RESTORATION_DISTANCE, AGREEMENT]
    cells = results.pivot(index=[*WHERE, "repetition"], columns="metric", values="value")
    cells = cells.reindex(columns=names)
    cells[DISTANCE] = cells[GOAL_METRICS[EQUALIZE]].abs()
    of_level = cells.groupby(level=list(WHERE), sort=False)
    means = of_level.mean()
    n = of_level.count()
    means["n"], means["planned"] = n[ACCURACY], of_level.size()
    means["missing"] = means["planned"] - means["n"]
    standing = standings(results, manifest.constant_answers)
    table = means.join(standing.set_index(list(WHERE))).reset_index()
    table["baseline"] = table["clean_model"] = UNTREATED
    for goal in GOALS:
        limits = references(table, goal, Criteria())
        lacking = table["planned"] - n[VALUES[goal]].to_numpy()
        table[REASON[goal]] = _reasons(table, goal, limits, lacking)
    return table


def _reasons(table: pd.DataFrame, goal: str, limits: pd.DataFrame, lacking: Any) -> Any:
    """Return why a technique is not allowed, by the conditions of the rule; else nothing.

    To restore, nothing has to differ from the clean model: a constant answer is no fault where that model
    gives one, and whom it accepts of each group is the only limit of acceptance.
    """
    restores, clean = goal == RESTORE, table[(table["technique"] == UNTREATED) & (table["level"] == 0)]
    constant = clean.set_index(list(SCENARIO))["n_degenerate"] > 0
    of_clean = pd.MultiIndex.from_frame(table[list(SCENARIO)]).isin(constant.index[constant])
    reasons = first_true(
        {
            "": table["technique"] == UNTREATED,
            "degenerate": (table["n_degenerate"] > 0) & ~(of_clean & restores),
            "incomplete": lacking > 0,
            "unknown": table[["accepted", ACCURACY, "constant_accuracy"]].isna().any(axis=1),
            "below_constant": table[ACCURACY] < limits["accuracy_floor"] - EQUAL,
            "one_group": table["one_group"] & (not restores),
            "too_few": limits["too_few"] != "",
        }
    )
    return np.asarray(reasons, dtype=object)


def _scenarios(manifest: Manifest, atlas: Atlas) -> Iterator[Mapping[str, Any]]:
    """Yield card, cluster, solved β and whether it is pooled, for each dataset, bias and level."""
    for dataset in manifest.datasets:
        card = load_card(dataset.entry.card).name
        for bias in dataset.bias:
            for level in manifest.levels:
                dose = bias.dose(level)
                yield {
                    **{"dataset": dataset.name, "bias": bias.name, "level": level, "unit": manifest.unit},
                    **{"card": card, "cluster": atlas.cluster_of(card)},
                    "beta": level if dose is None else dose.beta,
                    "pooled": int(bias.pooled(level)),
                }
