"""The contract of techniques that change predictions."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques.base import Interval, Predictor, Technique, Tools, cell_counts, empty_cell


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows with the classifier's scores."""

    table: Table  # held-out training rows with their labels, or rows to predict, without labels
    score: NDArray[np.float64]  # shape (n_rows,): the classifier's estimate of P(y+ | x), in [0, 1]


Adjustment: TypeAlias = Callable[[Scored], NDArray[np.bool_]]
"""A function from scored rows to whether each gets the favorable outcome, shape (n_rows,)."""


def lottery(chance: Callable[[Scored], NDArray[np.float64]], tools: Tools) -> Adjustment:
    """Return the adjustment that draws favorable outcomes by their chances, shape (n_rows,)."""
    seed = int(tools.rng.integers(2**63))  # drawn once, so that each call answers alike
    return lambda test: np.random.default_rng(seed).random(len(test.table)) < chance(test)


class PostProcessing(Technique):
    """A technique that changes predictions and leaves data and classifier alone.

    The classifier trains on part of the training rows, sensitive feature included. The technique learns its
    adjustment from the classifier's scores of the other rows, which are as honest as scores of new rows.
    """

    stage = "post"
    needs_two_groups = "there are no groups to compare"
    randomised = True
    needs_scores = True
    produces_scores = False

    # Share of the training rows that is held out, drawn at random.
    holdout: Annotated[float, Interval(0.05, 0.95)] = 0.3

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        order = tools.rng.permutation(len(train))
        n_held = round(self.holdout * len(train))
        held, fitted = (train.take(rows) for rows in np.split(order, [n_held]))
        for name, rows in (("held out", held), ("to train on", fitted)):
            favorable = int(np.count_nonzero(rows.y))
            if favorable in (0, len(rows)):
                raise DeclinedError(
                    f"The rows {name} are of one class",
                    expected="both states of the label",
                    got=f"{favorable} favorable of {len(rows)} rows",
                    remedy="draw a larger sample, or hold out another share",
                )
        reason = self.skip(held)
        if reason is not None:
            raise DeclinedError(
                "The rows held out lack what the technique needs",
                got=reason,
                remedy="draw a larger sample, or hold out another share",
            )
        score = tools.scorer(fitted, self.name)
        adjust = self._adjust(Scored(held, score(held)), tools)
        return Predictor(lambda test: adjust(Scored(test, score(test))))

    @abstractmethod
    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        """Return the adjustment learned from held-out rows.

        If predictions draw random numbers, take a seed from ``tools.rng`` here, and start a new generator
        with it in each prediction. Then the same rows get the same answer again.
        """


class GroupPostProcessing(PostProcessing):
    """Post-processing that compares the groups."""


class ErrorRatePostProcessing(PostProcessing):
    """Post-processing that compares the groups' error rates."""

    def skip(self, train: Table) -> str | None:
        """Decline a table in which a group lacks a label: one of its error rates is undefined."""
        return empty_cell(cell_counts(train), "so an error rate is undefined")
