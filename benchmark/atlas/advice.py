"""Advice from an atlas's tables: regrets of all recommenders, their choices, and variance shares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.atlas.claims import Compared, Comparison, claim_table
from benchmark.atlas.recommenders import (
    DROP,
    NOTHING,
    ORACLE,
    each,
    recommended,
    recommended_with_planting,
)
from benchmark.atlas.regret import ALL, PLANTED, regret_table
from benchmark.atlas.scenarios import (
    SCENARIO,
    Array,
    Scenarios,
    hidden_scenarios_of,
    names_of,
    scenarios_of,
)
from benchmark.atlas.tables import Tables, read_tables, write_table
from benchmark.columns import GOALS
from benchmark.text.writing import PACKED

RECOMMENDERS, CHOICES, VARIANCE, CLAIMS = "recommenders.csv", "choices.csv", "variance.csv", "claims.csv"
"""Files of advice."""

_BESIDE = (NOTHING, DROP, ORACLE)
"""Recommenders whose scores stand beside each choice."""

CHOICE_COLUMNS = (
    *("version", "goal", "scenarios", "recommender", "cluster", *SCENARIO, "chosen", "score"),
    *_BESIDE,
)
VARIANCE_COLUMNS = ("version", "goal", "effect", "share", "n_levels", "n_cells")

FACTORS = ("technique", "bias", "level", "cluster", "classifier")
"""Factors of the analysis of variance."""

_POOLED_DOSES = (0.05, 0.10)


def compared(tables: Tables) -> Iterator[Compared]:
    """Yield the recommenders for each goal, on scenarios with planted doses and on those with hidden bias."""
    atlas, doses, hidden = tables.atlas, tables.dose_rows, tables.hidden_rows
    for goal in GOALS:
        scenarios = scenarios_of(doses, atlas, goal)
        if not len(scenarios.frame):
            continue
        yield Compared(goal, ALL, scenarios, recommended(scenarios, tables.dose_features))
        if not len(hidden):
            continue
        techniques = names_of(doses, hidden)
        elsewhere = scenarios_of(doses, atlas, goal, techniques)
        truth, apparent = hidden_scenarios_of(hidden, atlas, goal, techniques)
        choices = recommended_with_planting(
            truth, apparent, elsewhere, tables.hidden_features, tables.dose_features
        )
        yield Compared(goal, PLANTED, truth, choices)


def write_advice(folder: Path) -> tuple[Path, ...]:
    """Write the tables of recommenders, choices and variance from the other tables; return the files."""
    tables = read_tables(folder)
    regrets, choices, variances = [], [], []
    parts = list(compared(tables))
    for part in parts:
        tabled = partial(
            regret_table, part.scenarios, part.choices, tables.atlas, goal=part.goal, kind=part.kind
        )
        regrets += [tabled(clusters=clusters) for clusters in ("main", "finer")]
        choices.append(_choice_rows(part, tables.atlas.version))
        if part.kind == ALL:
            shares = variance_shares(part.scenarios).assign(version=tables.atlas.version, goal=part.goal)
            variances.append(shares[list(VARIANCE_COLUMNS)])
    of_choices, regret, variance = (
        pd.concat(frames, ignore_index=True) for frames in (choices, regrets, variances)
    )
    claims = claim_table(
        Comparison(tables.atlas, {(part.goal, part.kind): part for part in parts}, regret, variance)
    )
    files = {RECOMMENDERS: regret, f"{CHOICES}{PACKED}": of_choices, VARIANCE: variance, CLAIMS: claims}
    return tuple(write_table(folder / name, frame) for name, frame in files.items())


def _choice_rows(part: Compared, version: str) -> pd.DataFrame:
    frame = part.scenarios.frame
    scores = {name: part.choices[name].score for name in _BESIDE}
    rows = []
    for name, choice in each(part.choices):
        row = frame[["cluster", *SCENARIO]].assign(
            version=version, goal=part.goal, scenarios=part.kind, recommender=name
        )
        rows.append(row.assign(chosen=choice.chosen, score=choice.score, **scores))
    return pd.concat(rows, ignore_index=True)[list(CHOICE_COLUMNS)]


def variance_shares(scenarios: Scenarios) -> pd.DataFrame:
    r"""Return the shares of factors and of technique's interactions in the variance of gains.

    By the method of moments for crossed random effects: the mean square of each effect over cell means, minus
    the mean squares expected from noise and higher interactions. The cells are techniques, kinds, doses of
    .05 and .10, clusters and learners, averaged over datasets of a cluster. Only combinations count that are
    complete: techniques, kinds, doses and learners that all remaining clusters have. Negative shares are 0.
    Searle, Casella and McCulloch (1992), Variance components, chapter 4.
    """
    table, n_cells = _balanced(scenarios)
    if table is None:
        return pd.DataFrame(columns=["effect", "share", "n_levels", "n_cells"])
    levels = [table.index.get_level_values(name).unique() for name in FACTORS]
    cube = table.to_numpy().reshape([len(level) for level in levels])
    effects = _moments(cube)
    total = sum(effects.values())
    rows = []
    for effect, component in effects.items():
        names = " × ".join(FACTORS[i].replace("bias", "kind").replace("level", "dose") for i in effect)
        rows.append(
            {
                "effect": names.replace("classifier", "learner") or "rest",
                "share": component / total if total > 0 else np.nan,
                "n_levels": int(np.prod([cube.shape[i] for i in effect])) if effect else cube.size,
                "n_cells": n_cells,
            }
        )
    return pd.DataFrame(rows)


def _balanced(scenarios: Scenarios) -> tuple[pd.Series | None, int]:
    """Return gains by FACTORS over complete combinations, sorted, and their number."""
    frame = scenarios.frame
    pooled = frame["level"].isin(_POOLED_DOSES).to_numpy()
    gains = pd.DataFrame(scenarios.gain[pooled][:, 1:], columns=list(scenarios.techniques[1:]))
    wide = pd.concat([frame[pooled].reset_index(drop=True), gains], axis=1)
    keys = ["cluster", "bias", "level", "classifier"]
    wide = wide.groupby([*keys, "dataset"])[list(gains.columns)].mean().groupby(level=keys).mean()
    wide = wide.dropna(axis=1)  # techniques that were tried everywhere
    # Clusters with all combinations of kind, dose and learner that most clusters have.
    counts = wide.groupby(level="cluster").size()
    complete = counts[counts == counts.max()].index
    wide = wide[wide.index.get_level_values("cluster").isin(complete)]
    n_combinations = len(wide.reset_index()[keys[1:]].drop_duplicates())
    if len(complete) < 2 or len(wide) != len(complete) * n_combinations or wide.empty:
        return None, 0
    shape = [wide.index.get_level_values(name).nunique() for name in keys[1:]]
    if n_combinations != int(np.prod(shape)):
        return None, 0
    long = wide.rename_axis("technique", axis=1).reset_index().melt(keys, value_name="gain")
    gains_by_factor = long.set_index(list(FACTORS))["gain"].sort_index()
    return gains_by_factor, gains_by_factor.size


def _moments(cube: Array) -> dict[tuple[int, ...], float]:
    """Return variance components of the main effects, of technique's interactions, and of the rest."""
    n_axes = cube.ndim
    effects = [*((i,) for i in range(n_axes)), *((0, i) for i in range(1, n_axes))]
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
        if len(effect) == 1:  # interactions with technique are in the mean square of a main effect
            for pair in (pair for pair in effects if len(pair) == 2 and effect[0] in pair):
                other = pair[0] if pair[1] == effect[0] else pair[1]
                inner = cube.size / np.prod([cube.shape[i] for i in pair])
                if effect == (0,) or other == 0:
                    expected += inner * components[pair]
        components[effect] = max(0.0, (squares[effect] - expected) / repeats)
    ordered = {effect: components[effect] for effect in effects}
    return {**ordered, (): rest}
