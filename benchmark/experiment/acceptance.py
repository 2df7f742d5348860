"""Acceptance of a given share of the test rows, in place of a cut of scores at one half."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques import Predictor, Technique
from benchmark.techniques._checks import checked_decision, checked_score


@dataclass(frozen=True)
class Acceptance:
    """Which rows a technique accepts: those that it predicts, or a share of them by its own scores."""

    share: float | None  # None to accept whom the technique predicts to be favorable
    seed: int  # of the lots that decide between equal scores, the same for all techniques

    def require_scores(self, technique: Technique, predictor: Predictor | None = None) -> None:
        """Raise a DeclinedError if a share is asked for and there are no scores to rank rows by."""
        lacking = not technique.produces_scores if predictor is None else predictor.predict_score is None
        if self.share is not None and lacking:
            raise DeclinedError(
                f"{technique.name} gives no scores, by which a share of the rows could be accepted"
            )

    def decider(self, technique: Technique, predictor: Predictor) -> Callable[[Table], NDArray[np.bool_]]:
        """Return a function from rows to a mask of those accepted, shape (n_rows,)."""
        self.require_scores(technique, predictor)
        if self.share is None:
            return lambda table: checked_decision(technique, predictor.predict(table), len(table))

        def best(table: Table) -> NDArray[np.bool_]:
            assert predictor.predict_score is not None
            assert self.share is not None
            score = checked_score(technique, predictor.predict_score(table), len(table))
            # Not by the order of rows, because a file may be sorted by group.
            lots = np.random.default_rng(self.seed).permutation(len(score))
            accepted = np.zeros(len(score), dtype=np.bool_)
            accepted[np.lexsort((lots, -score))[: round(self.share * len(score))]] = True
            return accepted

        return best
