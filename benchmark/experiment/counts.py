"""Counts of test rows, summed over the repetitions of a cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.columns import BIASED, ORIGINAL, TRUTH, TUNED, Test
from benchmark.experiment.scoring import DECISIONS, JOINT, counts_by_fold
from benchmark.experiment.store import CellResult

CellName: TypeAlias = tuple[str, str, float, str, str]  # dataset, bias, level of bias, technique, classifier
BlockName: TypeAlias = tuple[str, str, float, int]  # dataset, bias, level of bias and repetition


class CountsOfCells:
    """Mean counts of original test rows, by group, label and prediction, over each cell's repetitions.

    All folds of a repetition count together. ``biased`` and ``hidden`` have a block's shares of favorable
    labels, as means over folds.
    """

    def __init__(self) -> None:
        self.biased: dict[BlockName, float] = {}  # in the test rows with planted bias
        self.hidden: dict[BlockName, dict[Test, float]] = {}  # in the rows of each test, if bias is hidden
        self._sums: dict[CellName, NDArray[np.float64]] = {}
        self._n: defaultdict[CellName, int] = defaultdict(int)

    def taken_from(self, cells: Iterable[CellResult]) -> Iterator[CellResult]:
        """Yield cells without their counts, which are added here; other contents of ``counts`` stay."""
        for cell in cells:
            by_fold_test = counts_by_fold(cell.counts)
            original = [counts for (_, test), counts in by_fold_test.items() if test == ORIGINAL]
            block = (cell.dataset, cell.bias, cell.beta, cell.repetition)
            planted = [counts for (_, test), counts in by_fold_test.items() if test == BIASED]
            if planted and block not in self.biased:
                self.biased[block] = _favorable(planted)
            true = [counts for (_, test), counts in by_fold_test.items() if test == TRUTH]
            if true and block not in self.hidden:
                self.hidden[block] = {ORIGINAL: _favorable(original), TRUTH: _favorable(true)}
            if cell.status == "ok" and original and len(original[0]):
                name = (cell.dataset, cell.bias, cell.beta, cell.technique, cell.classifier)
                total = np.sum([np.asarray(counts, dtype=float) for counts in original], axis=0)
                self._sums[name] = self._sums.get(name, np.zeros_like(total)) + total
                self._n[name] += 1
            whole = cell.counts if isinstance(cell.counts, Mapping) else {}
            other = {key: whole[key] for key in (JOINT, TUNED, *DECISIONS.values()) if key in whole}
            yield replace(cell, counts=other or ())

    @property
    def means(self) -> Mapping[CellName, NDArray[np.float64]]:
        """Mean counts of each cell."""
        return {name: total / self._n[name] for name, total in self._sums.items()}


def _favorable(folds: Iterable[Any]) -> float:
    """Return the share of favorable labels in the counts of folds, as a mean over folds."""
    counted = [np.asarray(counts) for counts in folds]
    return float(np.mean([counts[:, 1].sum() / counts.sum() for counts in counted]))
