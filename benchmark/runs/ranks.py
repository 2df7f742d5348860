"""Ranks of a run's techniques and comparisons of pairs, over its datasets and levels of bias.

Degenerate techniques have no value where ranks and fronts are computed. Here they get the reason for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import joined
from benchmark.statistics import (
    Goal,
    average_ranks,
    bayesian_comparisons,
    friedman_tests,
    pairwise_tests,
    rank_groups,
    rankings,
)
from benchmark.statistics.across import Rankings
from benchmark.statistics.cells import Cells

N_POSTERIOR = 10_000
"""Samples of each posterior: its probabilities have a standard error of at most 0.005."""

MOST_PAIRED = 50
"""Most techniques of which all pairs are compared: 1,225 pairs, for each metric and level of bias."""


BELOW_COLUMNS = ("below_constant", "below_constant_betas")
"""Columns of ranks and Pareto fronts: whether a technique is less accurate than the best constant answer on
any dataset of the row, and at which levels of bias."""


def ranks_and_pairs(
    cells: Cells, goals: Mapping[str, Goal], run: Manifest, *, alpha: float, rope: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the ranks of techniques and comparisons of pairs; ``results/README.md`` explains the columns."""
    # A mean over some of the repetitions is not ranked beside means over all of them.
    whole = (cells.n == cells.n_expected)[:, None]
    panels = [
        (panel, over, rankings(panel, goals, over=over))
        for over, panel in _panels(replace(cells, values=np.where(whole, cells.values, np.nan)), run)
    ]
    ranks = pd.concat([_ranks(*panel, alpha) for panel in panels], ignore_index=True)
    pairs = [_pairs(*panel, rope) for panel in panels]
    return ranks, joined(pairs, pairs[0].columns)


def repeated_levels(run: Manifest, frame: pd.DataFrame) -> pd.Series[bool]:
    """Return for each row whether its bias has no effect and its level is not the least."""
    repeated: pd.Series[bool] = frame["beta"].gt(frame["beta"].min()) & run.is_inert(frame)
    return repeated


def _pooled(cells: Cells, run: Manifest) -> Cells:
    """Return the cells at levels of bias that are pooled over datasets: all levels of β, not every dose."""
    levels = pd.MultiIndex.from_frame(cells.keys[["dataset", "bias", "beta"]])
    return cells.take(~levels.isin(run.apart)) if run.apart else cells


def _pooled_across(cells: Cells, run: Manifest) -> Cells:
    """Return the cells at levels that are pooled with each other; a dataset must reach all such doses."""
    if run.level_name == "beta":
        return cells
    reachable = cells.take(cells.keys["beta"].isin(run.pooled_levels).to_numpy())
    n_reached = reachable.keys.groupby(["dataset", "bias"], sort=False)["beta"].transform("nunique")
    return reachable.take((n_reached == len(run.pooled_levels)).to_numpy())


def _panels(cells: Cells, run: Manifest) -> Iterator[tuple[tuple[str, ...], Cells]]:
    """Yield the cells of each set of techniques that was tried somewhere, wherever all of the set were tried.

    An experiment may give some datasets fewer techniques, and learners of techniques' own train few. Each set
    comes twice, with the axes that it is ranked over: datasets, then datasets and levels of bias. In the
    latter, a dataset on which the bias has no effect counts once, by its least level. Doses are pooled where
    :attr:`benchmark.bias.doses.Dose.pooled` allows it;
    :attr:`~benchmark.runs.manifest.Manifest.pooled_levels` are pooled with each other.
    """
    cells = _pooled(cells, run)
    place = ["dataset", "classifier"]
    tried = cells.keys.groupby(place, sort=False)["technique"].agg(frozenset)
    at = pd.MultiIndex.from_frame(cells.keys[place])
    for techniques in dict.fromkeys(tried):
        places = tried.index[[techniques <= names for names in tried]]
        within = cells.take(at.isin(places)).where(technique=list(techniques))
        yield ("dataset",), within
        across = _pooled_across(within, run)
        yield ("dataset", "beta"), across.take(~repeated_levels(run, across.keys).to_numpy())


def _ranks(panel: Cells, over: Sequence[str], ranked: Rankings, alpha: float) -> pd.DataFrame:
    ranks, tests = average_ranks(ranked), friedman_tests(ranked, alpha=alpha)
    where = ranked.fixed
    of_groups = rank_groups(ranked, alpha=alpha).astype({"group": str})
    numbers = of_groups.groupby([*where, "technique"], sort=False)["group"].agg(" ".join)
    table = ranks.join(numbers.rename("groups"), on=[*where, "technique"])
    # Techniques that are not ranked over several blocks are in no group.
    table["groups"] = table["groups"].astype(object).fillna("")
    if "reason_beta" not in table.columns:  # each level is ranked by itself
        table["reason_beta"] = table["beta"].where(table["reason"] != "")
    table = table.rename(columns={"reason_beta": "reason_level"})
    table["reason_dataset"] = table["reason_dataset"].astype(object).fillna("")
    tests = tests.rename(columns={"reason": "test_reason"}).drop(columns=["n_blocks", "n_datasets"])
    return _labelled(table.merge(tests, how="left", on=where), panel, over)


def _pairs(panel: Cells, over: Sequence[str], ranked: Rankings, rope: float) -> pd.DataFrame:
    if panel.keys["technique"].nunique() > MOST_PAIRED:
        panel, ranked = panel.where(technique=[]), replace(ranked, each=[])
    tests = pairwise_tests(ranked)
    bayesian = bayesian_comparisons(ranked, rope=rope, n_samples=N_POSTERIOR)
    table = tests.join(bayesian[["p_first", "p_rope", "p_second"]])
    return _labelled(table, panel, over)


def _labelled(table: pd.DataFrame, panel: Cells, over: Sequence[str]) -> pd.DataFrame:
    """Return a table with columns for its datasets, the axes ranked over, and its level of bias."""
    betas = table["beta"] if "beta" in table.columns else np.nan
    labels = {"datasets": " ".join(panel.keys["dataset"].unique()), "over": " ".join(over), "beta": betas}
    rest = table.drop(columns="beta", errors="ignore")
    return pd.DataFrame(labels, index=table.index).join(rest)


def _standing_of_rows(table: pd.DataFrame, standing: pd.DataFrame) -> Iterator[list[Any]]:
    """Yield for each row of a table the rows of standings that it covers: of its beta, or of all betas."""
    keys = ["bias", "classifier", "test", "technique"]
    by_key = {key: list(part.itertuples(index=False)) for key, part in standing.groupby(keys, sort=False)}
    rows: list[Any] = list(table.itertuples(index=False))
    for row in rows:
        datasets = str(row.datasets if hasattr(row, "datasets") else row.dataset).split()
        beta = getattr(row, "beta", np.nan)
        yield [
            status
            for status in by_key.get((row.bias, row.classifier, row.test, row.technique), [])
            if status.dataset in datasets
            and (status.beta == beta or (pd.isna(beta) and not getattr(status, "repeated", False)))
        ]


def with_degenerate(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return ranks or Pareto fronts with the reason ``constant`` where a technique is left out for that.

    Ranks also have the first dataset and level at which it is degenerate.
    """
    standing = standing[standing["n_degenerate"] > 0]
    first = [next(iter(rows), None) for rows in _standing_of_rows(table, standing)]
    found = np.array([row is not None for row in first], dtype=bool) & (table["reason"] != "").to_numpy()
    marked = table.assign(reason=table["reason"].mask(found, "constant"))
    for column, field in (("reason_dataset", "dataset"), ("reason_level", "beta")):
        if column in table.columns:
            values = zip(table[column], first, found, strict=True)
            marked[column] = [getattr(row, field) if is_one else value for value, row, is_one in values]
    return marked


def with_below(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return a table with :data:`BELOW_COLUMNS`; it has ``dataset`` or ``datasets``, and perhaps ``beta``."""
    below = _standing_of_rows(table, standing[standing["below_constant"]])
    betas = [" ".join(f"{beta:g}" for beta in sorted({row.beta for row in rows})) for rows in below]
    return table.assign(below_constant=list(map(bool, betas)), below_constant_betas=betas)
