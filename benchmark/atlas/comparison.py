"""Recommenders compared on an atlas's tables: their regrets and choices, claims, and shares of variance."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

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
from benchmark.atlas.regret import ALL, HIDDEN, regret_table
from benchmark.atlas.scenarios import (
    SCENARIO,
    hidden_scenarios_of,
    names_of,
    scenarios_of,
)
from benchmark.atlas.tables import Tables, read_tables, write_table
from benchmark.atlas.variance import VARIANCE_COLUMNS, variance_shares
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


def compared(tables: Tables, kinds: Collection[str] = (ALL, HIDDEN)) -> Iterator[Compared]:
    """Yield the recommenders for each goal, on scenarios with planted doses and on those with hidden bias."""
    atlas, doses, hidden = tables.atlas, tables.dose_rows, tables.hidden_rows
    for goal in GOALS:
        scenarios = scenarios_of(doses, atlas, goal)
        if scenarios.frame["left_out"].nunique() < 2:
            continue
        if ALL in kinds:
            yield Compared(goal, ALL, scenarios, recommended(scenarios, tables.dose_features))
        if HIDDEN not in kinds or not len(hidden):
            continue
        techniques = names_of(doses, hidden)
        elsewhere = scenarios_of(doses, atlas, goal, techniques)
        truth, apparent = hidden_scenarios_of(hidden, atlas, goal, techniques)
        choices = recommended_with_planting(
            truth, apparent, elsewhere, tables.hidden_features, tables.dose_features
        )
        yield Compared(goal, HIDDEN, truth, choices)


def write_comparison(folder: Path) -> tuple[Path, ...]:
    """Write the tables of recommenders, choices, variance and claims from the other tables; return the files.

    There are none without doses in at least two clusters: then nothing can be left out.
    """
    tables = read_tables(folder)
    regrets, choices, variances = [], [], []
    parts = list(compared(tables))
    if not parts:
        for name in (RECOMMENDERS, f"{CHOICES}{PACKED}", VARIANCE, CLAIMS):
            (folder / name).unlink(missing_ok=True)  # of an earlier run
        return ()
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
