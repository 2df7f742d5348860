"""Remarks on tables of predictions: what a reader should know or check before using the numbers."""

import math
import shlex
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.audit.rates import SMALL
from benchmark.data.raw import like_weight
from benchmark.text.words import as_text, few

_HALF = 0.5  # AUC of a score that ranks at random, and accuracy from which the reverse is no better
_MOST_NAMED = 4
_NEARLY_ALL = 0.95  # share of the rows that differ, from which the values of a column tell them apart


def remarks_on_columns(
    frame: pd.DataFrame, used: Sequence[tuple[str, str]], attributes: Sequence[str]
) -> Iterator[str]:
    """Yield remarks on a table; ``used`` are role and name of columns, ``attributes`` the sensitive ones."""
    own = [*(name for role, name in used if role not in ("prediction", "score")), *attributes]
    free = [name for name in frame.columns if name not in {*attributes, *(name for _, name in used)}]
    people = frame.groupby(own, dropna=False, sort=False, observed=True).ngroup().to_numpy()
    for name in free:
        if values := _models(frame[name], people):
            shown = few([*map(repr, values)], _MOST_NAMED)
            typed = shlex.quote(f"{name}={values[0]}")
            yield (
                f"{name} has {len(values)} values ({shown}), each with the same people: are these rows "
                f"predictions of several models or runs? If so, audit each by itself: type --where {typed}"
            )
            break
    if copies := _copies(frame):
        which = f"{copies:,} of {len(frame):,} rows"
        yield f"{which} repeat another row in every column: do some people count twice?"
    if "weight" not in dict(used):
        for name in free:
            if like_weight(name) and pd.to_numeric(frame[name], errors="coerce").notna().all():
                typed = f"--weight {shlex.quote(name)}"
                yield f"does {name} say how much each row counts? If so, type {typed}; now rows count alike"
    for name in attributes:
        texts = frame[name].dropna().astype(str).str.strip().unique().tolist()
        alike = pd.Series(texts, dtype=object).groupby([text.casefold() for text in texts]).unique()
        for several in alike[alike.map(len) > 1]:
            listed = ", ".join(map(repr, sorted(several)))
            yield f"{name}: {listed} differ by case alone, and each is a group: one spelling would join them"


def _copies(frame: pd.DataFrame) -> int:
    """Return how many rows repeat another one, 0 unless some column tells nearly all other rows apart."""
    try:
        copies, different = int(frame.duplicated().sum()), int(frame.nunique().max())
    except TypeError:  # lists and the like
        return 0
    return copies if different >= max(SMALL, _NEARLY_ALL * (len(frame) - copies)) else 0


def _models(values: pd.Series, people: NDArray[np.integer]) -> list[str]:
    """Return the values of a column if each of them has the same people, and more than a few."""
    try:
        sizes = values.value_counts(sort=False, dropna=False)
    except TypeError:  # lists and the like
        return []
    if len(sizes) < 2 or sizes.nunique() > 1 or sizes.iloc[0] < SMALL or values.isna().any():
        return []
    blocks = np.sort(people[values.factorize()[0].argsort(kind="stable")].reshape(len(sizes), -1))
    return [*map(as_text, sizes.index)] if (blocks == blocks[0]).all() else []


def wrong_everywhere(right: NDArray[np.bool_], groups: pd.DataFrame) -> bool:
    """Return whether predictions are clearly more often wrong than right in every group.

    ``groups`` has for each attribute the group of each row. Small groups count only where all are small.
    """
    if right.mean() >= _HALF - 3 * _HALF / math.sqrt(len(right)):  # three standard errors: not by chance
        return False
    for attribute in groups:
        each = pd.Series(right).groupby(groups[attribute].to_numpy()).agg(["mean", "size"])
        large = each["size"] >= SMALL
        if (each.loc[large if large.any() else ~large, "mean"] >= _HALF).any():
            return False
    return True


def _ranks_reversed(table: pd.DataFrame) -> bool:
    """Return whether every group's AUC is below 0.5, and one of them is so by more than chance."""
    favorable = table["labelled_positives"] / (table["labelled_positives"] + table["labelled_negatives"])
    by_chance = (12 * table["n"] * favorable * (1 - favorable)) ** -0.5  # standard error of random scores
    return bool((table["auc"] < _HALF).all() and (table["auc"] < _HALF - 3 * by_chance).any())


def remarks_on_groups(table: pd.DataFrame, attribute: str) -> Iterator[str]:
    """Yield remarks on an attribute's groups."""
    if len(table) == 1:
        yield f"{attribute}: there is one group, and nothing to compare it with"
    if "auc" in table and _ranks_reversed(table):
        yield (
            f"{attribute}: in every group the AUC is below 0.5: a high score stands for an unfavorable "
            "label; name the other value as favorable, or reverse the score"
        )
    if n_small := int(table["small"].sum()):
        which = f"{n_small} of {len(table)} groups"
        yield f"{attribute}: {which} have fewer than {SMALL} rows, too few to be sure"
