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

CellName: TypeAlias = tuple[str, str, float, str, str]
"""Dataset, bias, level of bias, technique and classifier."""

BlockName: TypeAlias = tuple[str, str, float, int]
"""Dataset, bias, level of bias and repetition."""


class CountsOfCells:
    """Mean counts of the original test rows over the repetitions of each cell.

    They are by group, label and prediction; with folds, all folds of a repetition together. ``biased`` are
    the shares of favorable labels in the test rows with planted bias, which all cells of a block share; with
    folds, the means over these. ``hidden`` are those in the rows of each test where bias is hidden.
    """

    def __init__(self) -> None:
        self.biased: dict[BlockName, float] = {}
        self.hidden: dict[BlockName, dict[Test, float]] = {}
        self._sums: dict[CellName, NDArray[np.float64]] = {}
        self._n: defaultdict[CellName, int] = defaultdict(int)

    def taken_from(self, cells: Iterable[CellResult]) -> Iterator[CellResult]:
        """Yield cells without their counts, which are added here, but with what else stands beside them."""
        for cell in cells:
            places = counts_by_fold(cell.counts)
            own = [counts for (_, test), counts in places.items() if test == ORIGINAL]
            block = (cell.dataset, cell.bias, cell.beta, cell.repetition)
            planted = [counts for (_, test), counts in places.items() if test == BIASED]
            if planted and block not in self.biased:
                self.biased[block] = _favorable(planted)
            true = [counts for (_, test), counts in places.items() if test == TRUTH]
            if true and block not in self.hidden:
                self.hidden[block] = {ORIGINAL: _favorable(own), TRUTH: _favorable(true)}
            if cell.status == "ok" and own and len(own[0]):
                where = (cell.dataset, cell.bias, cell.beta, cell.technique, cell.classifier)
                total = np.sum([np.asarray(counts, dtype=float) for counts in own], axis=0)
                self._sums[where] = self._sums.get(where, np.zeros_like(total)) + total
                self._n[where] += 1
            whole = cell.counts if isinstance(cell.counts, Mapping) else {}
            yield replace(
                cell,
                counts={key: whole[key] for key in (JOINT, TUNED, *DECISIONS.values()) if key in whole} or (),
            )

    @property
    def means(self) -> Mapping[CellName, NDArray[np.float64]]:
        """Mean counts of each cell."""
        return {where: total / self._n[where] for where, total in self._sums.items()}


def _favorable(folds: Iterable[Any]) -> float:
    """Return the share of favorable labels in counts of each fold, the mean over them."""
    counted = [np.asarray(counts) for counts in folds]
    return float(np.mean([counts[:, 1].sum() / counts.sum() for counts in counted]))
