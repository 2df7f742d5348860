"""The untreated models that decisions are compared with: the clean model and refits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.columns import ORIGINAL
from benchmark.data.row_facts import rows_of_units, units_of
from benchmark.experiment.draws import Fold, draw_folds, sealed_fold
from benchmark.experiment.entries import Refit
from benchmark.experiment.plan import Block
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.seeding import generator

_MOST_REMEMBERED = 256  # decisions of models that several blocks share, on a fold's test rows

Decides: TypeAlias = Callable[[str, str, str, Fold], NDArray[np.bool_]]
"""Takes dataset, entry, classifier and fold; trains, and returns a mask of the accepted test rows."""


class References:
    """The folds without planted bias, and the decisions of untreated models, each trained once.

    Models are identified by their training and test rows, so that levels and kinds of bias share the clean
    models.
    """

    def __init__(self, prepared: PreparedExperiment, decides: Decides) -> None:
        self._prepared = prepared
        self._decides = decides
        self._drawn: dict[bool, tuple[Block, list[Fold]]] = {}  # by whether bias is hidden
        self._accepted: dict[object, NDArray[np.bool_]] = {}

    def clean(self, block: Block, folds: Sequence[Fold]) -> Sequence[Fold]:
        """Return the folds of a block without planted bias; ``folds`` are the block's own."""
        return folds if block.level == 0 else self._at_0(block)

    def true(self, block: Block) -> Sequence[Fold]:
        """Return the folds of a block without any bias."""
        return self._at_0(replace(block, hidden=0.0))

    def _at_0(self, block: Block) -> Sequence[Fold]:
        at_0 = replace(block, level=0.0, cells=())
        remembered = self._drawn.get(block.hidden > 0)
        if remembered is None or remembered[0] != at_0:
            data = self._prepared.datasets[block.dataset]
            drawn = draw_folds(data, at_0, self._prepared.experiment)
            remembered = self._drawn[block.hidden > 0] = at_0, list(map(sealed_fold, drawn))
        return remembered[1]

    def refit(self, block: Block, folds: Sequence[Fold], refit_on: Refit) -> list[Fold]:
        """Return the folds of a reference row: bootstraps of clean, or of biased, training rows.

        The clean ones are tested on original test rows without planted bias.
        """
        refits, persons = [], self._prepared.datasets[block.dataset].persons
        seed = self._prepared.experiment.seed
        for fold, source in zip(
            folds, self.clean(block, folds) if refit_on == "clean" else folds, strict=True
        ):
            # A person's rows are drawn together.
            real = source.after_bias
            units = np.arange(len(source.train)) if real is None else units_of(persons, real)
            n = int(units.max()) + 1
            chosen = rows_of_units(units, generator(seed, purpose="refit", **fold.axes).integers(n, size=n))
            tests = {name: replace(test_rows, among=None) for name, test_rows in fold.tests.items()}
            tests[ORIGINAL] = source.tests[ORIGINAL]
            refits.append(replace(fold, train=source.train.take(chosen).sealed, tests=tests))
        return refits

    def accepted(self, dataset: str, entry: str, classifier: str, fold: Fold) -> NDArray[np.bool_]:
        """Return which original test rows of a fold an untreated model accepts, shape (n_rows,)."""
        model = _model_key(dataset, entry, classifier, fold)
        if model not in self._accepted:
            self._remember(model, self._decides(dataset, entry, classifier, fold))
        return self._accepted[model]

    def accepted_in_truth(
        self, dataset: str, entry: str, classifier: str, true: Fold, fold: Fold
    ) -> NDArray[np.bool_]:
        """Return which test rows of a fold an untreated model accepts that is trained on a true fold."""
        assert true.test_rows is not None
        assert fold.test_rows is not None
        return self.accepted(dataset, entry, classifier, true)[
            np.searchsorted(true.test_rows, fold.test_rows)
        ]

    def add(self, dataset: str, entry: str, classifier: str, fold: Fold, accepted: NDArray[np.bool_]) -> None:
        """Remember the decisions of an untreated model that was trained for its own cell."""
        self._remember(_model_key(dataset, entry, classifier, fold), accepted)

    def _remember(self, model: object, accepted: NDArray[np.bool_]) -> None:
        while len(self._accepted) >= _MOST_REMEMBERED:
            del self._accepted[next(iter(self._accepted))]
        self._accepted[model] = accepted


def _model_key(dataset: str, entry: str, classifier: str, fold: Fold) -> object:
    """Return a key of a model's decisions, apart from the entry's parameters."""
    seen = fold.tests[ORIGINAL].seen
    numbers = (None if table.numbers is None else table.numbers.digest for table in (fold.train, seen))
    return dataset, entry, classifier, *fold.axes.items(), fold.train.digest, seen.digest, *numbers
