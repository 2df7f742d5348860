"""The ranks of a run's techniques, and comparisons of pairs of them, over its datasets and levels of bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmark.bias.doses import ACROSS
from benchmark.columns import OWN
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
"""Techniques of which all pairs are compared: 1,225 pairs, for each metric and level of bias."""


def ranks_and_pairs(
    cells: Cells, goals: Mapping[str, Goal], run: Manifest, *, alpha: float, rope: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the ranks of techniques and the comparisons of pairs; ``results/README.md`` says the columns."""
    # A mean over some of the repetitions is not ranked beside means over all of them.
    whole = (cells.n == cells.n_expected)[:, None]
    panels = [
        (panel, over, rankings(panel, goals, over=over))
        for over, panel in _panels(replace(cells, values=np.where(whole, cells.values, np.nan)), run)
    ]
    ranks = pd.concat([_ranks(*panel, alpha) for panel in panels], ignore_index=True)
    pairs = [_pairs(*panel, alpha, rope) for panel in panels]
    return ranks, joined(pairs, pairs[0].columns)


def repeated_levels(run: Manifest, frame: pd.DataFrame) -> pd.Series[bool]:
    """Return of each row whether it is of a bias without effect, at a level that is not the least."""
    inert = [(dataset.name, bias) for dataset in run.datasets for bias in dataset.inert_warnings]
    of_inert = pd.MultiIndex.from_frame(frame[["dataset", "bias"]]).isin(inert)
    repeated: pd.Series[bool] = pd.Series(of_inert, index=frame.index) & frame["beta"].gt(frame["beta"].min())
    return repeated


def _pooled(cells: Cells, run: Manifest) -> Cells:
    """Return the cells at levels of bias that are pooled over datasets: all levels of β, not every dose."""
    levels = pd.MultiIndex.from_frame(cells.keys[["dataset", "bias", "beta"]])
    return cells.take(~levels.isin(run.apart)) if run.apart else cells


def _pooled_across(cells: Cells, run: Manifest) -> Cells:
    """Return the cells at levels that are pooled with each other: of doses, those that datasets reach all."""
    if run.level_name == "beta":
        return cells
    across = [dose for dose in ACROSS if dose in run.levels]
    own = cells.take(cells.keys["beta"].isin(across).to_numpy())
    reached = own.keys.groupby(["dataset", "bias"], sort=False)["beta"].transform("nunique")
    return own.take((reached == len(across)).to_numpy())


def _panels(cells: Cells, run: Manifest) -> Iterator[tuple[tuple[str, ...], Cells]]:
    """Yield the cells of each set of techniques that a dataset was given, on all datasets that had them.

    Techniques can only be ranked where all of them were tried, and an experiment may give some datasets
    fewer than others. Each comes with what it is ranked over: first datasets, then datasets and levels of
    bias; there a dataset on which the bias has no effect counts once, by its least level. Doses are pooled
    where :attr:`benchmark.bias.doses.Dose.pooled` allows it, with each other only .05 and .10.
    """
    cells = _pooled(cells, run)
    # With learners of their own, others were tried than with classifiers.
    tried: dict[tuple[str, bool], frozenset[str]] = {}
    for (dataset, learner), own in cells.keys.groupby(["dataset", "classifier"], sort=False)["technique"]:
        place = str(dataset), run.dataset(str(dataset)).baseline == OWN == learner
        tried[place] = tried.get(place, frozenset()) | {*own}
    for techniques in dict.fromkeys(tried.values()):
        datasets = [dataset for (dataset, _), own in tried.items() if techniques <= own]
        within = {"dataset": datasets, "technique": list(techniques)}
        yield ("dataset",), cells.where(**within)
        across = _pooled_across(cells.where(**within), run)
        yield ("dataset", "beta"), across.take(~repeated_levels(run, across.keys).to_numpy())


def _ranks(panel: Cells, over: Sequence[str], ranked: Rankings, alpha: float) -> pd.DataFrame:
    ranks, tests = average_ranks(ranked), friedman_tests(ranked, alpha=alpha)
    where = ranked.fixed
    of_groups = rank_groups(ranked, alpha=alpha).astype({"group": str})
    numbers = of_groups.groupby([*where, "technique"], sort=False)["group"].agg(" ".join)
    table = ranks.join(numbers.rename("groups"), on=[*where, "technique"])
    # Where the techniques are not ranked over several blocks, no two of them are in a group.
    table["groups"] = table["groups"].astype(object).fillna("")
    tests = tests.rename(columns={"reason": "test_reason"}).drop(columns=["n_blocks", "n_datasets"])
    return _labelled(table.merge(tests, how="left", on=where), panel, over)


def _pairs(panel: Cells, over: Sequence[str], ranked: Rankings, alpha: float, rope: float) -> pd.DataFrame:
    if panel.keys["technique"].nunique() > MOST_PAIRED:
        panel, ranked = panel.where(technique=[]), replace(ranked, each=[])
    tests = pairwise_tests(ranked, alpha=alpha)
    found = bayesian_comparisons(ranked, rope=rope, n_samples=N_POSTERIOR)
    # The warnings are those of ranks.csv: thousands of pairs need not repeat them.
    table = tests.drop(columns="warning").join(found[["p_first", "p_rope", "p_second"]])
    return _labelled(table, panel, over)


def _labelled(table: pd.DataFrame, panel: Cells, over: Sequence[str]) -> pd.DataFrame:
    """Return a table that says which datasets and levels of bias it is about."""
    betas = table["beta"] if "beta" in table.columns else np.nan
    labels = {"datasets": " ".join(panel.keys["dataset"].unique()), "over": " ".join(over), "beta": betas}
    rest = table.drop(columns="beta", errors="ignore")
    return pd.DataFrame(labels, index=table.index).join(rest)
