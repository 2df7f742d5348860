"""Recommenders compared on an atlas's tables: their regrets and choices, claims, and shares of variance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.claims import Compared, Comparison, claim_table
from benchmark.atlas.recommenders import (
    DROP,
    NOTHING,
    ORACLE,
    Choices,
    each,
    recommended,
    recommended_with_planting,
)
from benchmark.atlas.regret import ALL, HIDDEN, TO_UNDO, regret_table
from benchmark.atlas.scenarios import (
    SCENARIO,
    hidden_scenarios_of,
    names_of,
    scenarios_of,
    undo_reasons,
)
from benchmark.atlas.tables import Tables, read_tables, write_table
from benchmark.atlas.variance import VARIANCE_COLUMNS, shares_without_each, variance_shares
from benchmark.columns import GOALS, RESTORE
from benchmark.text.writing import PACKED

RECOMMENDERS, CHOICES, VARIANCE, CLAIMS = "recommenders.csv", "choices.csv", "variance.csv", "claims.csv"
"""Files of advice."""

_BESIDE = (NOTHING, DROP, ORACLE)
"""Recommenders whose scores stand beside each choice."""

CHOICE_COLUMNS = (
    *("version", "goal", "scenarios", "recommender", "cluster", *SCENARIO, "chosen", "score"),
    *_BESIDE,
)


def compared(tables: Tables, kinds: Collection[str] = (ALL, TO_UNDO, HIDDEN)) -> Iterator[Compared]:
    """Yield the recommenders for each goal, on scenarios with planted bias and on those with hidden bias.

    To restore, the first are scored a second time where there is something to restore, if not everywhere.
    """
    atlas, planted, hidden = tables.atlas, tables.dose_rows, tables.hidden_rows
    for goal in GOALS:
        scenarios = scenarios_of(planted, atlas, goal)
        if scenarios.frame["left_out"].nunique() < 2:
            continue
        if ALL in kinds:
            of_all = Compared(goal, ALL, scenarios, recommended(scenarios, tables.dose_features))
            yield of_all
            rows = undo_reasons(scenarios, planted, tables.clean_rows) == ""
            if TO_UNDO in kinds and goal == RESTORE and rows.any() and not rows.all():
                yield _taken(of_all, TO_UNDO, rows)
        if HIDDEN not in kinds or not len(hidden):
            continue
        techniques = names_of(planted, hidden)
        elsewhere = scenarios_of(planted, atlas, goal, techniques)
        truth, apparent = hidden_scenarios_of(hidden, atlas, goal, techniques)
        choices = recommended_with_planting(
            truth, apparent, elsewhere, tables.hidden_features, tables.dose_features
        )
        yield Compared(goal, HIDDEN, truth, choices)


def _taken(part: Compared, kind: str, rows: NDArray[np.bool_]) -> Compared:
    """Return the same choices, scored on some of the scenarios."""
    choices = {
        name: Choices(choice.score[rows], tuple(np.array(choice.chosen, dtype=object)[rows]))
        for name, choice in part.choices.items()
    }
    return Compared(part.goal, kind, part.scenarios.take(rows), choices)


def without_comparison(tables: Tables) -> str:
    """Return why recommenders cannot be compared on some tables; empty if they can."""
    rows = tables.dose_rows
    if rows.empty:
        return "no part that advice is fitted on has doses"
    if rows["half"].nunique() < 2:
        return (
            "each part has one repetition, but the oracle is chosen on odd splits and scored on even ones; "
            "give repetitions = 2 or more"
        )
    scenarios = scenarios_of(rows, tables.atlas, RESTORE)
    if scenarios.frame["left_out"].nunique() < 2:
        return "scenarios with a value have one independent source of data, so that none can be left out"
    return ""


def write_comparison(folder: Path, say: Callable[[str], None] = lambda _: None) -> tuple[Path, ...]:
    """Write the tables of recommenders, choices, variance and claims from the other tables; return the files.

    There are none where :func:`without_comparison` has a reason; it is said.
    """
    tables = read_tables(folder)
    regrets, choices, variances = [], [], []
    parts = list(compared(tables))
    if not parts:
        for name in (RECOMMENDERS, f"{CHOICES}{PACKED}", VARIANCE, CLAIMS):
            (folder / name).unlink(missing_ok=True)  # of an earlier run
        say(f"No comparison of recommenders is written: {without_comparison(tables)}.")
        return ()
    for part in parts:
        tabled = partial(
            regret_table, part.scenarios, part.choices, tables.atlas, goal=part.goal, kind=part.kind
        )
        regrets += [tabled(clusters=clusters) for clusters in ("main", "finer")]
        if part.kind != TO_UNDO:  # these are choices in all scenarios
            choices.append(_choice_rows(part, tables.atlas.version))
        if part.kind == ALL:
            shares = variance_shares(part.scenarios).assign(version=tables.atlas.version, goal=part.goal)
            variances.append(shares[list(VARIANCE_COLUMNS)])
    of_choices, regret, variance = (
        pd.concat(frames, ignore_index=True) for frames in (choices, regrets, variances)
    )
    by_set = {(part.goal, part.kind): part for part in parts}
    without = shares_without_each(by_set[RESTORE, ALL].scenarios) if (RESTORE, ALL) in by_set else []
    claims = claim_table(Comparison(tables.atlas, by_set, regret, variance, without))
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
