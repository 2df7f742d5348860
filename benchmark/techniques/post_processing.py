"""The contract of techniques that change predictions."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques._checks import scorer_of
from benchmark.techniques.base import Interval, Predictor, Technique, Tools


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows with the classifier's scores."""

    # The rows; the labels of held-out training rows are there, those of rows to predict are hidden.
    table: Table
    score: NDArray[np.float64]  # shape (n_rows,): the classifier's estimate of P(y+ | x), in [0, 1]


Adjustment: TypeAlias = Callable[[Scored], NDArray[np.bool_]]
"""From scored rows to whether the favorable outcome is predicted, shape (n_rows,)."""


class PostProcessing(Technique):
    """A technique that changes predictions and leaves data and classifier alone.

    The classifier trains on part of the training rows, sensitive feature included. What is to be changed is
    learned from its scores on the rest, whose scores are as honest as those of rows to predict.

    Parameters
    ----------
    holdout : float in [0.05, 0.95], default 0.3
        Share of the training rows that is held out, drawn at random.
    """

    stage = "post"
    needs_two_groups = "there are no groups to compare"
    randomised = True
    needs_scores = True
    produces_scores = False

    holdout: Annotated[float, Interval(0.05, 0.95)] = 0.3

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        order = tools.rng.permutation(len(train))
        n_held = round(self.holdout * len(train))
        held, kept = (train.take(rows) for rows in np.split(order, [n_held]))
        for name, rows in (("held out", held), ("to train on", kept)):
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
        classifier, features = tools.learner(kept)
        classifier.fit(features(kept), kept.y.astype(np.int64))
        score = scorer_of(classifier, self.name)

        def scored(table: Table) -> Scored:
            return Scored(table, score(features(table)))

        adjust = self._adjust(scored(held), tools)
        return Predictor(lambda test: adjust(scored(test)))

    @abstractmethod
    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        """Learn what to change from held-out rows.

        A technique that draws lots when it predicts takes a seed from ``tools.rng`` here and begins a new
        generator with it in each prediction, so that the same rows get the same answer again.
        """


class GroupPostProcessing(PostProcessing):
    """Post-processing that compares the groups."""


class ErrorRatePostProcessing(PostProcessing):
    """Post-processing that compares the groups' error rates."""

    def skip(self, train: Table) -> str | None:
        """Decline a table in which a group lacks a label: one of its error rates is undefined."""
        for group, members in (("favored", ~train.deprived), ("deprived", train.deprived)):
            for label, rows in (("favorable", train.y), ("unfavorable", ~train.y)):
                if not (members & rows).any():
                    return f"no row of the {group} group has the {label} label: an error rate is undefined"
        return None
