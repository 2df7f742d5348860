"""The untreated models that decisions are compared with: the clean model, without planted bias, and refits.

All numbers pass through here, so it is part of :data:`benchmark.experiment.versions.HARNESS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.columns import ORIGINAL
from benchmark.experiment.draws import Fold, draw_folds, sealed_fold
from benchmark.experiment.entries import Refit
from benchmark.experiment.plan import Block
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.seeding import generator

_MOST_REMEMBERED = 256  # decisions on the test rows of a fold, by models that several blocks share

Decides: TypeAlias = Callable[[str, str, str, Fold], NDArray[np.bool_]]
"""Trains the entry of a dataset with a classifier on a fold, and returns whom of its test rows it accepts."""


class References:
    """The folds without planted bias, and what untreated models decide, each trained once.

    Models are found again by what they are trained and tested on, so that levels of bias, and kinds of it,
    share those without planted bias.
    """

    def __init__(self, prepared: PreparedExperiment, decides: Decides) -> None:
        self._prepared = prepared
        self._decides = decides
        self._drawn: dict[bool, tuple[Block, list[Fold]]] = {}  # by whether without hidden bias
        self._accepted: dict[object, NDArray[np.bool_]] = {}

    def clean(self, block: Block, folds: Sequence[Fold]) -> Sequence[Fold]:
        """Return the folds of a block as they are without planted bias; ``folds`` are those with it."""
        return folds if block.level == 0 else self._at_0(block)

    def true(self, block: Block) -> Sequence[Fold]:
        """Return the folds of a block as they are without planted and without hidden bias."""
        return self._at_0(block, in_truth=True)

    def _at_0(self, block: Block, *, in_truth: bool = False) -> Sequence[Fold]:
        at_0 = replace(block, level=0.0, cells=())
        known = self._drawn.get(in_truth)
        if known is None or known[0] != at_0:
            data, experiment = (
                self._prepared.datasets[block.dataset],
                self._prepared.experiment,
            )
            drawn = draw_folds(data, at_0, experiment, in_truth=in_truth)
            known = self._drawn[in_truth] = at_0, list(map(sealed_fold, drawn))
        return known[1]

    def refit(self, block: Block, folds: Sequence[Fold], rows: Refit) -> list[Fold]:
        """Return the folds of a reference row: bootstraps of training rows without planted bias, or with it.

        The clean ones are tested on original test rows as they are without planted bias.
        """
        found = []
        for fold, source in zip(folds, self.clean(block, folds) if rows == "clean" else folds, strict=True):
            n = len(source.train)
            chosen = generator(self._prepared.experiment.seed, purpose="refit", **fold.axes).integers(
                n, size=n
            )
            tests = {name: replace(own, among=None) for name, own in fold.tests.items()}
            tests[ORIGINAL] = source.tests[ORIGINAL]
            found.append(replace(fold, train=source.train.take(chosen).sealed, tests=tests))
        return found

    def accepted(self, dataset: str, entry: str, classifier: str, fold: Fold) -> NDArray[np.bool_]:
        """Return whom of the original test rows of a fold an untreated model accepts, shape (n_rows,)."""
        place = _place(dataset, entry, classifier, fold)
        if place not in self._accepted:
            self._remember(place, self._decides(dataset, entry, classifier, fold))
        return self._accepted[place]

    def accepted_in_truth(
        self, dataset: str, entry: str, classifier: str, true: Fold, fold: Fold
    ) -> NDArray[np.bool_]:
        """Return whom of a fold's test rows an untreated model accepts that is trained on a true fold."""
        assert true.tested is not None
        assert fold.tested is not None
        return self.accepted(dataset, entry, classifier, true)[np.searchsorted(true.tested, fold.tested)]

    def add(self, dataset: str, entry: str, classifier: str, fold: Fold, accepted: NDArray[np.bool_]) -> None:
        """Remember what an untreated model decided that was trained for its own sake."""
        self._remember(_place(dataset, entry, classifier, fold), accepted)

    def _remember(self, place: object, accepted: NDArray[np.bool_]) -> None:
        while len(self._accepted) >= _MOST_REMEMBERED:
            del self._accepted[next(iter(self._accepted))]
        self._accepted[place] = accepted


def _place(dataset: str, entry: str, classifier: str, fold: Fold) -> object:
    """Return what decides whom a model accepts, beside what the worker knows of the entry."""
    seen = fold.tests[ORIGINAL].seen
    numbers = (None if own.numbers is None else own.numbers.digest for own in (fold.train, seen))
    return dataset, entry, classifier, *fold.axes.items(), fold.train.digest, seen.digest, *numbers
