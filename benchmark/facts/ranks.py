"""Mean ranks of techniques over datasets and levels of bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchmark.columns import GOAL_METRICS
from benchmark.facts.model import Rank, Ranks
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.ranks import repeated_levels
from benchmark.runs.report_frames import records
from benchmark.statistics.answers import unranked
from benchmark.statistics.cells import SCENARIO, WHERE

_GOALS: Mapping[str, Any] = {metric: goal for goal, metric in GOAL_METRICS.items()}
_REFUSED = ("too_few_accepted", "one_group")  # reasons against a technique that is better than the baseline


def ranks(statistics: RunStatistics) -> tuple[Ranks, ...]:
    """Return the ranks in each metric, for each set of techniques over all datasets that had it."""
    pooled = statistics.ranks[statistics.ranks["over"] == "dataset beta"]
    cells, where = _ranked_cells(statistics), list(SCENARIO[1:])
    found = []
    for key, table in pooled.groupby(["datasets", *where, "metric"], sort=False):
        names, *scenario, metric = map(str, key)
        asked = names.split()
        keys = cells[(cells["metric"] == metric) & cells["dataset"].isin(asked)]
        keys = keys.loc[(keys[where] == scenario).all(axis=1), list(WHERE)]
        standing, answers = (
            keys.merge(frame, on=list(WHERE)) for frame in (statistics.standing, statistics.answers)
        )
        useless = _useless_levels(answers[answers["metric"] == metric], standing)
        datasets = tuple(name for name in asked if name in set(keys["dataset"]))
        needed = int(table["datasets_needed"].iloc[0]) if table["mean_rank"].count() > 1 else 0
        found.append(
            Ranks(
                metric=metric,
                goal=_GOALS.get(metric),
                datasets=datasets,
                asked=len(asked),
                **dict(zip(where, scenario, strict=True)),
                p=float(table["p_f"].iloc[0]),
                needed=needed if needed > len(datasets) else 0,
                techniques=tuple(
                    Rank.from_record(
                        row,
                        rank=row.mean_rank,
                        constant=row.reason == "constant",
                        not_useful=useless.get(row.technique, {}),
                    )
                    for row in records(table)
                ),
            )
        )
    return tuple(found)


def _ranked_cells(statistics: RunStatistics) -> pd.DataFrame:
    """Return the ranked cells: a row for each metric of a technique at a scenario's level of bias."""
    keys = statistics.intervals[[*WHERE, "metric"]]
    keys = keys[~unranked(keys, statistics.baselines, statistics.undo)]
    telling: pd.DataFrame = keys[~repeated_levels(statistics.run, keys)]
    return telling


def _useless_levels(answers: pd.DataFrame, standing: pd.DataFrame) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return the levels at which ranked techniques are of no use: by technique and reason."""
    refused = answers[answers["reason"].isin(_REFUSED)]
    below = standing[standing["below_constant"]].assign(reason="below_constant")
    columns = ["technique", "reason", "beta"]
    parts = [rows[columns].drop_duplicates().sort_values("beta", kind="stable") for rows in (below, refused)]
    levels: dict[str, dict[str, tuple[float, ...]]] = {}
    for technique, reason, beta in pd.concat(parts).itertuples(index=False, name=None):
        of_technique = levels.setdefault(technique, {})
        of_technique[reason] = (*of_technique.get(reason, ()), beta)
    return levels
