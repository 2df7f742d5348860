"""Shares of factors in the variance of gains."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from benchmark.atlas.scenarios import Array, Scenarios

VARIANCE_COLUMNS = ("version", "goal", "effect", "share", "n_levels", "n_cells")

FACTORS = ("technique", "bias", "level", "cluster", "classifier")
"""Factors of the analysis of variance."""

_FACTOR_WORDS = {"bias": "kind", "level": "dose", "classifier": "learner"}

_POOLED_DOSES = (0.05, 0.10)


def variance_shares(scenarios: Scenarios) -> pd.DataFrame:
    r"""Return the shares of factors, and of pairs of factors, in the variance of gains.

    By the method of moments for crossed random effects: the mean square of each effect over cell means, minus
    the mean squares expected from noise and higher interactions. The cells are techniques, kinds, levels of
    .05 and .10, clusters and learners, averaged over datasets of a cluster. Only complete combinations count:
    techniques that were tried everywhere, and clusters that have the most combinations of kind, dose and
    learner. Negative components are 0.
    Searle, Casella and McCulloch (1992), Variance components, chapter 4.
    """
    table = _balanced(scenarios)
    return (
        pd.DataFrame(columns=["effect", "share", "n_levels", "n_cells"]) if table is None else _shares(table)
    )


def shares_without_each(scenarios: Scenarios) -> list[pd.DataFrame]:
    """Return :func:`variance_shares` of the same combinations without each cluster in turn."""
    table = _balanced(scenarios)
    if table is None:
        return []
    clusters = table.index.get_level_values("cluster")
    return [_shares(table[clusters != name]) for name in clusters.unique()]


def _shares(table: pd.Series) -> pd.DataFrame:
    """Return the shares of factors, and of pairs of factors, in complete combinations of FACTORS."""
    levels = [table.index.get_level_values(name).unique() for name in FACTORS]
    cube = table.to_numpy().reshape([len(level) for level in levels])
    effects = components_of(cube)
    total = sum(effects.values())
    rows = []
    for effect, component in effects.items():
        names = " × ".join(_FACTOR_WORDS.get(FACTORS[i], FACTORS[i]) for i in effect)
        rows.append(
            {
                "effect": names or "rest",
                "share": component / total if total > 0 else np.nan,
                "n_levels": int(np.prod([cube.shape[i] for i in effect])) if effect else cube.size,
                "n_cells": cube.size,
            }
        )
    return pd.DataFrame(rows)


def _balanced(scenarios: Scenarios) -> pd.Series | None:
    """Return gains by FACTORS over complete combinations, sorted; None if there are too few."""
    frame = scenarios.frame
    pooled = frame["level"].isin(_POOLED_DOSES).to_numpy()
    gains = pd.DataFrame(scenarios.gain[pooled][:, 1:], columns=list(scenarios.techniques[1:]))
    wide = pd.concat([frame[pooled].reset_index(drop=True), gains], axis=1)
    keys = ["cluster", "bias", "level", "classifier"]
    wide = wide.groupby([*keys, "dataset"])[list(gains.columns)].mean().groupby(level=keys).mean()
    wide = wide.dropna(axis=1)  # techniques that were tried everywhere
    # Clusters with the most combinations of kind, dose and learner.
    counts = wide.groupby(level="cluster").size()
    complete = counts[counts == counts.max()].index
    wide = wide[wide.index.get_level_values("cluster").isin(complete)]
    n_combinations = len(wide.reset_index()[keys[1:]].drop_duplicates())
    if len(complete) < 2 or len(wide) != len(complete) * n_combinations or wide.empty:
        return None
    shape = [wide.index.get_level_values(name).nunique() for name in keys[1:]]
    if n_combinations != int(np.prod(shape)):
        return None
    long = wide.rename_axis("technique", axis=1).reset_index().melt(keys, value_name="gain")
    return long.set_index(list(FACTORS))["gain"].sort_index()


def components_of(cube: Array) -> dict[tuple[int, ...], float]:
    """Return variance components of the factors, of all pairs of them, and of the rest."""
    n_axes = cube.ndim
    effects = [*((i,) for i in range(n_axes)), *itertools.combinations(range(n_axes), 2)]
    grand = cube.mean()
    means: dict[tuple[int, ...], Array] = {}
    squares: dict[tuple[int, ...], float] = {}
    df: dict[tuple[int, ...], int] = {}
    residual = cube - grand
    for effect in effects:
        others = tuple(i for i in range(n_axes) if i not in effect)
        deviation = cube.mean(axis=others, keepdims=True) - grand
        if len(effect) == 2:
            for i in effect:
                deviation = deviation - means[(i,)]
        means[effect] = deviation
        residual = residual - deviation
        df[effect] = int(np.prod([cube.shape[i] - 1 for i in effect]))
        repeats = cube.size / np.prod([cube.shape[i] for i in effect])
        squares[effect] = repeats * float((deviation**2).sum()) / max(df[effect], 1)
    df_rest = max(cube.size - 1 - sum(df.values()), 1)
    rest = float((residual**2).sum()) / df_rest
    components: dict[tuple[int, ...], float] = {}
    for effect in sorted(effects, key=len, reverse=True):
        repeats = cube.size / np.prod([cube.shape[i] for i in effect])
        expected = rest
        if len(effect) == 1:  # its pairs are in the mean square of a factor
            for pair in (pair for pair in effects if len(pair) == 2 and effect[0] in pair):
                inner = cube.size / np.prod([cube.shape[i] for i in pair])
                expected += inner * components[pair]
        components[effect] = max(0.0, (squares[effect] - expected) / repeats)
    ordered = {effect: components[effect] for effect in effects}
    return {**ordered, (): rest}
