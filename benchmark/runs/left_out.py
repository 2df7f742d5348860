"""Which techniques are left out of a frame as degenerate, and which are below a constant answer.

What is left out has no value where fronts, ranks and lines are computed. Their reasons then speak of a
missing value; these functions put the true reason in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

BELOW_COLUMNS = ("below_constant", "below_constant_betas")
"""Columns of ranks and Pareto fronts: whether a technique is less accurate than the best constant answer at a
level of bias that the row is about, on any of its datasets, and at which, separated by blanks."""


def _about(table: pd.DataFrame, standing: pd.DataFrame) -> Iterator[list[Any]]:
    """Yield the rows of standings that each row of a table is about: of one beta, or without it of all."""
    keys = ["bias", "classifier", "test", "technique"]
    places = {key: list(own.itertuples(index=False)) for key, own in standing.groupby(keys, sort=False)}
    rows: list[Any] = list(table.itertuples(index=False))
    for row in rows:
        datasets = str(row.datasets if hasattr(row, "datasets") else row.dataset).split()
        beta = getattr(row, "beta", np.nan)
        yield [
            place
            for place in places.get((row.bias, row.classifier, row.test, row.technique), [])
            if place.dataset in datasets
            and (place.beta == beta or (pd.isna(beta) and not getattr(place, "repeated", False)))
        ]


def explained_fronts(fronts: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return Pareto fronts with the true reasons."""
    known = zip(fronts["reason"], _about(fronts, _degenerate(standing)), strict=True)
    return fronts.assign(reason=[own[0].degenerate if own else reason for reason, own in known])


def explained_ranks(ranks: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return ranks with the true reasons."""
    found = []
    for reason, own in zip(ranks["reason"], _about(ranks, _degenerate(standing)), strict=True):
        if reason and own:
            found.append(f"{own[0].degenerate} at dataset {own[0].dataset}, beta {own[0].beta:g}")
        else:
            found.append(reason.replace("no value for", "not every repetition has a value for"))
    return ranks.assign(reason=found)


def explained_lines(lines: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return slopes, areas and stopping points with the true reasons, of the baseline as well."""
    useless = standing[standing["mostly_constant"]]
    own, other = (
        [f"{rows[0].degenerate} at beta {rows[0].beta:g}" if rows else "" for rows in found]
        for found in (
            _about(lines, _degenerate(standing)),
            _about(lines.assign(technique=lines["baseline"]), useless),
        )
    )
    stops = [
        # The baseline itself stops nowhere, and has no reason for it.
        reason if pd.isna(reason) else words or (f"the baseline {of_baseline}" if of_baseline else reason)
        for reason, words, of_baseline in zip(lines["stops_reason"], own, other, strict=True)
    ]
    reasons = [words or reason for words, reason in zip(own, lines["reason"], strict=True)]
    return lines.assign(reason=reasons, stops_reason=stops)


def with_below(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Append :data:`BELOW_COLUMNS` to a table with ``dataset`` or ``datasets``; without a beta, of all."""
    below = _about(table, standing[standing["below_constant"]])
    betas = [" ".join(f"{beta:g}" for beta in sorted({place.beta for place in own})) for own in below]
    return table.assign(below_constant=list(map(bool, betas)), below_constant_betas=betas)


def _degenerate(standing: pd.DataFrame) -> pd.DataFrame:
    return standing[standing["n_degenerate"] > 0]
