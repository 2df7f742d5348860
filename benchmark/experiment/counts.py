"""Shares of favorable labels in test rows, from the counts of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from benchmark.columns import BIASED, ORIGINAL, TRUTH, TUNED, Test
from benchmark.experiment.scoring import DECISIONS, JOINT, counts_by_fold
from benchmark.experiment.store import CellResult

BlockName: TypeAlias = tuple[str, str, float, int]  # dataset, bias, level of bias and repetition


class FavorableShares:
    """Shares of favorable labels in the test rows of each block, as means over folds."""

    def __init__(self) -> None:
        self.biased: dict[BlockName, float] = {}  # in the test rows with planted bias
        self.hidden: dict[BlockName, dict[Test, float]] = {}  # in the rows of each test, if bias is hidden

    def taken_from(self, cells: Iterable[CellResult]) -> Iterator[CellResult]:
        """Yield cells without the counts that shares are taken from; other contents of ``counts`` stay."""
        for cell in cells:
            by_fold_test = counts_by_fold(cell.counts)
            block = (cell.dataset, cell.bias, cell.beta, cell.repetition)
            planted = [counts for (_, test), counts in by_fold_test.items() if test == BIASED]
            if planted and block not in self.biased:
                self.biased[block] = _favorable(planted)
            true = [counts for (_, test), counts in by_fold_test.items() if test == TRUTH]
            if true and block not in self.hidden:
                original = [counts for (_, test), counts in by_fold_test.items() if test == ORIGINAL]
                self.hidden[block] = {ORIGINAL: _favorable(original), TRUTH: _favorable(true)}
            whole = cell.counts if isinstance(cell.counts, Mapping) else {}
            other = {key: whole[key] for key in (JOINT, TUNED, *DECISIONS.values()) if key in whole}
            yield replace(cell, counts=other or ())


def _favorable(folds: Iterable[Any]) -> float:
    """Return the share of favorable labels in the counts of folds, as a mean over folds."""
    counted = [np.asarray(counts) for counts in folds]
    return float(np.mean([counts[:, 1].sum() / counts.sum() for counts in counted]))
