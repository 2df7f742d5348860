"""Every metric of every technique, the change from the baseline, and up to where it is better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmark.columns import GOAL_METRICS
from benchmark.facts.model import Holding, Values
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.ranks import repeated_levels
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.answers import ACCURACY, with_useful
from benchmark.statistics.cells import WHERE
from benchmark.statistics.paired import FAMILY
from benchmark.statistics.recommendation import WITHIN_LIMITS

_AXES = ("beta", "technique")


@dataclass(frozen=True)
class Holdings:
    """The techniques that hold up in each metric of each scenario, up to a level of bias."""

    # Columns FAMILY, technique, up_to, not_at, keeps_accuracy.
    holding: pd.DataFrame
    incomplete: pd.DataFrame  # FAMILY, technique: better at a further level, but values are missing
    compared: pd.DataFrame  # comparisons with ``passes``

    @classmethod
    def of(cls, statistics: RunStatistics) -> Holdings:
        """Return the techniques that are better than the baseline and useful, by level of bias."""
        table = statistics.compared
        table = table.assign(passes=passes(statistics, table))
        where = list(WHERE)
        costly = table.loc[(table["metric"] == ACCURACY) & table["worse"], where]
        less_accurate = set(costly.itertuples(index=False, name=None))
        telling = table[~repeated_levels(statistics.run, table)]
        telling = telling.assign(better=telling["better"] & telling["passes"])
        # Plain lists: for thousands of groups they are many times as fast as frames of a few rows.
        comparisons: dict[tuple[str, ...], list[tuple[float, int, bool]]] = {}
        fields = telling[[*FAMILY, "technique", "beta", "missing", "better"]]
        for *key, beta, missing, better in fields.itertuples(index=False, name=None):
            comparisons.setdefault(tuple(key), []).append((beta, missing, better))
        rows, incomplete = [], []
        for names, at_levels in comparisons.items():
            first_gap = min((beta for beta, missing, _ in at_levels if missing > 0), default=math.inf)
            whole = [(beta, better) for beta, _, better in at_levels if beta < first_gap]
            levels = [beta for beta, better in whole if better]
            if sum(better for *_, better in at_levels) > len(levels):
                incomplete.append(names)
            if levels:
                *scenario, _metric, technique = names
                not_at = tuple(beta for beta, _ in whole if beta < max(levels) and beta not in levels)
                keeps = not any((*scenario, beta, technique) in less_accurate for beta in levels)
                rows.append((*names, max(levels), not_at, keeps))
        columns = (*FAMILY, "technique", "up_to", "not_at", "keeps_accuracy")
        holding = pd.DataFrame(rows, columns=list(columns))
        return cls(
            holding.sort_values("up_to", ascending=False, kind="stable", ignore_index=True),
            pd.DataFrame(incomplete, columns=[*FAMILY, "technique"]),
            table,
        )


def passes(statistics: RunStatistics, table: pd.DataFrame) -> pd.Series[bool]:
    """Return for each comparison whether the technique is useful there, by the goal of its metric if any."""
    where, keys = list(WHERE), [*WHERE, "metric"]
    standing = with_useful(statistics.standing).set_index(where)["useful"]
    useful = table[where].join(standing, on=where)["useful"].eq(True)
    answers = table[keys].join(statistics.answers.set_index(keys)[["verdict", "reason"]], on=keys)
    # An incomplete technique does not hold up, but may be better at more levels.
    passed = answers["verdict"].isin(WITHIN_LIMITS) | ((answers["reason"] == "incomplete") & useful)
    return useful.where(~table["metric"].isin(GOAL_METRICS.values()), passed)


def tried(run: Manifest, rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the techniques of a scenario's rows, in the run's order: the columns of its values."""
    names = set(rows["technique"])
    return tuple(name for name in run.titles if name in names)


def values(statistics: RunStatistics, scenario: Scenario, holdings: Holdings) -> tuple[Values, ...]:
    """Return every metric of a scenario, by level of bias and technique."""
    techniques = tried(statistics.run, scenario.rows(statistics.everything))
    levels = list(scenario.telling_levels(statistics.run.levels))
    cells = pd.MultiIndex.from_product([levels, techniques], names=_AXES)
    shown, compared = scenario.rows(statistics.intervals), scenario.rows(holdings.compared)

    def grid(column: pd.Series) -> tuple[tuple[float, ...], ...]:
        numbers = column.to_numpy(dtype=float).reshape(len(levels), len(techniques))
        return tuple(map(tuple, numbers.tolist()))

    found = []
    for metric in statistics.metrics:
        of = shown[shown["metric"] == metric].set_index(list(_AXES)).reindex(cells)
        change = compared[compared["metric"] == metric].set_index(list(_AXES)).reindex(cells)
        better, worse, passed = (change[name].eq(True) for name in ("better", "worse", "passes"))
        letters = np.select([better & passed, better, worse], ["b", "r", "w"], ".")
        found.append(
            Values(
                metric=metric,
                mean=grid(of["mean"]),
                low=grid(of["ci_low"]),
                high=grid(of["ci_high"]),
                change=grid(change["difference"]),
                change_low=grid(change["difference_low"]),
                change_high=grid(change["difference_high"]),
                p=grid(change["p_paired_holm"]),
                shown=tuple("".join(row) for row in letters.reshape(len(levels), -1)),
                holding=tuple(_holding(scenario, holdings, metric, techniques, compared)),
            )
        )
    return tuple(found)


def _holding(
    scenario: Scenario, holdings: Holdings, metric: str, techniques: Sequence[str], compared: pd.DataFrame
) -> Iterator[Holding]:
    """Yield the level up to which each technique holds up in a metric, with the largest cost in accuracy."""
    holding, incomplete = (scenario.rows(frame) for frame in (holdings.holding, holdings.incomplete))
    of_metric = records(holding[holding["metric"] == metric])
    rows = {row.technique: row for row in of_metric}
    gaps = set(incomplete.loc[incomplete["metric"] == metric, "technique"])
    accuracy = compared[compared["metric"] == ACCURACY]
    costs = accuracy.set_index(["technique", "beta"])["difference"]
    for name in techniques:
        if (row := rows.get(name)) is None:
            yield Holding(technique=name, incomplete=name in gaps)
            continue
        better = costs.get(name, pd.Series(dtype=float)).dropna()
        better = better[(better.index <= row.up_to) & ~better.index.isin(row.not_at)]
        traded = metric != ACCURACY and len(better) > 0
        yield Holding(
            technique=name,
            up_to=row.up_to,
            not_at=row.not_at,
            incomplete=name in gaps,
            less_accurate=metric != ACCURACY and not row.keeps_accuracy,
            cost=better.min() if traded else None,
            cost_at=better.idxmin() if traded else None,
        )
