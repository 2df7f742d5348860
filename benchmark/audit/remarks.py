"""Remarks on tables of predictions: what a reader should know or check before using the numbers."""

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.data.states import like_weight
from benchmark.text.words import as_text, few

SMALL = 30
"""Groups of fewer rows are flagged."""

_HALF = 0.5  # AUC of a score that ranks at random, and accuracy from which the reverse is no better
_MODEL = re.compile(
    r"(.*[_ .-])?(model|classifier|learner|algorithm|estimator|method|technique|system|variant|version"
    r"|run|experiment|iteration|repetition|replicate|seed|trial)s?([_ .-]?(id|name|no|nr|number))?",
    re.IGNORECASE,
)
_MOST_NAMED = 4
_NEARLY_ALL = 0.95  # share of the rows that differ, from which the values of a column tell them apart


def remarks_on_columns(
    frame: pd.DataFrame, used: Sequence[tuple[str, str]], attributes: Sequence[str]
) -> Iterator[str]:
    """Yield remarks on a table; ``used`` are role and name of columns, ``attributes`` the sensitive ones."""
    own = [name for role, name in used if role not in ("prediction", "score")] + [*attributes]
    free = [name for name in frame.columns if name not in {*attributes, *(name for _, name in used)}]
    for name in free:
        if values := _models(frame, name, own, free, [n for role, n in used if n not in own]):
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
            if like_weight(name, frame.columns) and pd.to_numeric(frame[name], errors="coerce").notna().all():
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


def _models(
    frame: pd.DataFrame, name: str, own: Sequence[str], free: Sequence[str], outputs: Sequence[str]
) -> list[str]:
    """Return the values of a column if each of them has the same people.

    ``own`` columns describe people, ``outputs`` are a model's, ``free`` ones are not used.
    """
    values = frame[name]
    try:
        sizes = values.value_counts(sort=False)
    except TypeError:  # lists and the like
        return []
    n_rows, n = len(frame), len(sizes)
    if not 2 <= n <= n_rows / 2 or values.isna().any() or sizes.nunique() > 1:
        return []
    each = n_rows // n
    order = values.factorize()[0].argsort(kind="stable")
    people = frame.groupby([*own], dropna=False, sort=False, observed=True).ngroup().to_numpy()
    blocks = people[order].reshape(n, each)
    if (np.sort(blocks) != np.sort(blocks[0])).any():
        return []
    # The same numbers of people alike may be chance, unless a name, an order or an identifier says more.
    in_order = each >= SMALL and np.ptp(blocks[0]) > 0 and (blocks == blocks[0]).all()
    answers = frame.groupby([*outputs], dropna=False, observed=True).ngroup().to_numpy()[order]
    in_order &= (answers.reshape(n, each) != answers[:each]).any()
    if in_order or _MODEL.fullmatch(name) or any(_identifies(frame, other, name, each) for other in free):
        return [*map(as_text, sizes.index)]
    return []


def _identifies(frame: pd.DataFrame, other: str, name: str, each: int) -> bool:
    """Return whether each value of a column has each value of another one once."""
    if other == name:
        return False
    ids = frame[other].astype(str)
    return each >= SMALL and ids.nunique() == each and not frame[[name]].assign(ids=ids).duplicated().any()


def wrong_everywhere(right: NDArray[np.bool_], groups: Iterable[pd.Series]) -> bool:
    """Return whether predictions are clearly more often wrong than right in every group.

    ``groups`` has for each attribute the group of each row. Small groups count only where all are small.
    """
    if right.mean() >= _HALF - 3 * _HALF / math.sqrt(len(right)):  # three standard errors: not by chance
        return False
    for attribute in groups:
        each = pd.Series(right).groupby(attribute.to_numpy()).agg(["mean", "size"])
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
