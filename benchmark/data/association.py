"""Association of columns with the label and with the group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from benchmark.data.raw import RawColumn
    from benchmark.data.table import Table

PROXY = 0.3
"""Least Cramér's V of a column with the group that makes it a proxy."""

_COPY = 0.98  # least association of a copy of the sensitive column
_ENOUGH = 10.0  # rows that would differ by chance, at least, before a column counts as a copy


@dataclass(frozen=True)
class Told:
    """What a column tells of the label and of the group."""

    is_copy: bool  # whether it tells the group, or the sensitive column tells it, in nearly all rows
    label: float  # share of the label's information, less the share expected by chance
    group: float  # Cramér's V with the deprived group, less the value expected by chance


def told_by(
    column: RawColumn,
    states: NDArray[np.int16],
    y: NDArray[np.bool_],
    sensitive: NDArray[np.intp],
    member: NDArray[np.bool_],
) -> Told:
    """Return what a column's states or values, whichever tell more, tell of each row's label and group."""
    fine = _finely(column)
    # Of numbers nearly all different, as weights, no model sees which rows share one.
    values = column.rows if len(column.values) * 5 <= len(column.rows) else fine
    return Told(
        _tells(column.rows, member.astype(np.intp)) or _tells(sensitive, column.rows),
        max(_share_of_information(codes, y) for codes in (states, fine)),
        max(cramers_v(codes, member) for codes in (states, values)),
    )


def _finely(column: RawColumn) -> NDArray[np.intp]:
    """Return finer codes of a column than its states: up to 50 bins of numbers, or the values."""
    numbers = column.numbers[column.rows]
    if np.isnan(numbers).mean() > 0.5:
        return column.rows
    n_bins = min(50, max(2, len(numbers) // 50))
    edges = np.unique(np.nanquantile(numbers, np.linspace(0, 1, n_bins + 1)[1:-1]))
    return np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers, side="right"))


def _share_of_information(codes: NDArray[Any], y: NDArray[np.bool_]) -> float:
    """Return the share of the label's information that codes hold, less the share expected by chance."""
    from scipy.stats import entropy  # imported here, as lists of techniques need neither
    from sklearn.metrics import mutual_info_score

    by_chance = (len(np.unique(codes)) - 1) / (2 * len(codes))
    return float((mutual_info_score(codes, y) - by_chance) / entropy(np.bincount(y)))


def cramers_v(codes: NDArray[Any], member: NDArray[np.bool_]) -> float:
    """Return Cramér's V of a column and a group, less the value expected by chance."""
    from scipy.stats import chi2_contingency

    values, inverse = np.unique(codes, return_inverse=True)
    table = [np.bincount(inverse[side], minlength=len(values)) for side in (member, ~member)]
    chi = chi2_contingency(table, correction=False).statistic
    return math.sqrt(max(0.0, float(chi - (len(values) - 1)) / len(codes)))


def _tells(codes: NDArray[np.intp], other: NDArray[np.intp]) -> bool:
    pairs, counts = np.unique(codes * (other.max() + 1) + other, return_counts=True)
    largest = np.zeros(codes.max() + 1)
    np.maximum.at(largest, pairs // (other.max() + 1), counts)
    # The first row of each value tells nothing.
    n, wrong = len(codes) - np.count_nonzero(largest), len(codes) - largest.sum()
    by_chance = n * (1 - np.bincount(other).max() / len(other))
    return bool(by_chance >= _ENOUGH and wrong <= (1 - _COPY) * by_chance)


def group_associations(table: Table) -> dict[str, float]:
    """Return Cramér's V with the deprived group of each column but the label and the sensitive features."""
    schema = table.schema
    roles = (schema.label, *schema.sensitive_features)
    return {
        name: cramers_v(table.codes[:, i], table.deprived)
        for i, name in enumerate(schema.names)
        if name not in roles
    }
