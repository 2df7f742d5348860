"""The unprocessing frontier: the results of thresholds by group on the scores of an unconstrained technique.

A classifier trained without regard to fairness may reach any technique's results by thresholds alone: Cruz
and Hardt (2024), Unprocessing seven years of algorithmic fairness, ICLR. Thresholds are chosen on the
training sample, as techniques are, and applied to the test rows, whose labels only score the outcome.

A threshold may split rows of equal scores and accept a random share of them. Accuracy and discrimination are
linear in this share, so their expected values are computed, without random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import BALANCED, ORIGINAL, TRUTH, UNTREATED, Test
from benchmark.data.table import Table
from benchmark.experiment.scoring import tested_as
from benchmark.experiment.store import CellResult, MetricValue
from benchmark.experiment.versions import PACKAGE, code_digest

if TYPE_CHECKING:
    from benchmark.experiment.draws import TestRows
    from benchmark.experiment.scoring import Answers
    from benchmark.techniques import Technique

Array = NDArray[np.float64]

RELAXATIONS = tuple(round(1 - 0.1 * i, 1) for i in range(14))
"""Remaining shares of the gap between the groups' selection rates: from 1, the model's gap, to 0, parity, and
beyond, because parity on training rows leaves some gap on test rows."""

ACCURACY, DISCRIMINATION = "unprocessing_accuracy", "unprocessing_discrimination"
"""Names of a point's coordinates in the store; its relaxation follows in brackets."""

_DECIMALS = 12  # of scores: scores of equal rows may differ by rounding
_EQUAL = 1e-9  # of rows: outcomes that differ by less are equally accurate


def has_frontier(technique: Technique) -> bool:
    """Return whether a technique's scores give a frontier."""
    free = technique.unconstrained  # its own learner, if it has one, is the technique without mitigation
    is_own_learner = free is not None and technique.parameters == {**technique.parameters, **free}
    return technique.name == UNTREATED or is_own_learner


def describe_frontier(tests: Sequence[Test]) -> list[str]:
    """Return the part of a frontier in its cell's key: the code, and the tests with points.

    Points are made from scores of training rows, which no store has, so a further test needs other cells.
    """
    return [code_digest([PACKAGE / "experiment" / "unprocessing.py"]), *tests]


def _counted(score: Array, places: NDArray[np.int64], n_places: int) -> tuple[Array, NDArray[np.int64]]:
    """Return the distinct scores, rounded and negated, ascending, and counts of rows with each of them.

    Counts are by place, shape (n_scores, n_places). Only distinct scores are sorted, because a tree has few.
    """
    codes, distinct = pd.factorize(-np.round(score, _DECIMALS))
    counts = np.bincount(codes * n_places + places, minlength=len(distinct) * n_places)
    order = np.argsort(distinct)
    return distinct[order], counts.reshape(-1, n_places)[order]


UnconstrainedSplit: TypeAlias = "tuple[Table, Array, Mapping[Test, TestRows], Mapping[Test, Answers]]"
"""Training rows and their scores, test rows and the model's answers for each test with rows of its own."""


@dataclass(frozen=True, eq=False)
class _Curve:
    """The best thresholds of one group for each number of accepted rows, on training rows.

    They are the vertices of the concave hull of correct answers over accepted rows, from accepting nobody to
    accepting all. Between two vertices, rows are accepted at random.
    """

    thresholds: Array  # (n_vertices,), falling from inf to -inf: higher scores are accepted
    rates: Array  # (n_vertices,), accepted share of the group, from 0 to 1
    gains: Array  # (n_vertices,), correct answers in excess of accepting nobody

    @classmethod
    def of(cls, values: Array, counts: NDArray[np.int64]) -> _Curve:
        """Return the curve of scores of :func:`_counted`, counted by label: shape (n_scores, 2)."""
        from scipy.optimize import isotonic_regression

        occur = counts.any(axis=1)
        values, counts = values[occur], counts[occur]
        rows = counts.sum(axis=1).astype(np.float64)
        gains = 2 * counts[:, 1] - rows
        # Slopes of a concave hull fall: they are the isotonic regression of slopes between single thresholds.
        ends = isotonic_regression(gains / rows, weights=rows, increasing=False).blocks[1:]
        between = np.append(-(values[:-1] + values[1:]) / 2, -np.inf)
        accepted, gained = (np.append(0.0, np.cumsum(steps)[ends - 1]) for steps in (rows, gains))
        return cls(np.append(np.inf, between[ends - 1]), accepted / counts.sum(), gained)

    def gain(self, rate: Array) -> Array:
        return np.interp(rate, self.rates, self.gains)

    def accepted(self, rate: Array, values: Array, counts: NDArray[np.int64]) -> Array:
        """Return expected numbers of accepted rows, by selection rate, and by group and label.

        Scores are as :func:`_counted` returns them, counted by group and label: shape (n_scores, n_cells).
        """
        above = np.searchsorted(values, -self.thresholds, side="left")
        counts = np.vstack([np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)])[above]
        upper = np.clip(np.searchsorted(self.rates, rate, side="left"), 1, len(self.rates) - 1)
        share = (rate - self.rates[upper - 1]) / (self.rates[upper] - self.rates[upper - 1])
        return np.asarray((1 - share)[:, None] * counts[upper - 1] + share[:, None] * counts[upper])


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The rules of a frontier, without its first point, which are the model's own predictions."""

    curves: tuple[_Curve, _Curve]  # of the deprived and of the favored group, as are the rates
    rates: Array  # selection rates on the training rows, shape (2, n_relaxations - 1)

    @classmethod
    def chosen(cls, train: Table, score: Array) -> Thresholds | None:
        """Return the most accurate rule for each gap on a training sample; None if it has one group only.

        The model accepts scores above 1/2. Its gap is relaxed. Among equally accurate rules, the rates
        nearest to the model's are chosen.
        """
        values, counts = _counted(score, 2 * ~train.deprived + train.y, 4)
        groups = [counts[:, :2], counts[:, 2:]]
        n_rows = [int(group.sum()) for group in groups]
        if not all(n_rows):
            return None
        curves = [_Curve.of(values, group) for group in groups]
        model_rates = [float(group[values < -0.5].sum() / n) for group, n in zip(groups, n_rows, strict=True)]
        gaps = np.array(RELAXATIONS[1:])[:, None] * (model_rates[1] - model_rates[0])
        # The sum of two concave broken lines has its maximum at a vertex, or at an end.
        at = [model_rates[0], *curves[0].rates]
        shifted = np.append(model_rates[1], curves[1].rates) - gaps
        deprived = np.hstack([np.broadcast_to(at, (len(gaps), len(at))), shifted])
        deprived = np.clip(deprived, np.maximum(0, -gaps), np.minimum(1, 1 - gaps))
        favored = np.clip(deprived + gaps, 0, 1)
        gains = curves[0].gain(deprived) + curves[1].gain(favored)
        moved = n_rows[0] * abs(deprived - model_rates[0]) + n_rows[1] * abs(favored - model_rates[1])
        best = gains >= gains.max(axis=1, keepdims=True) - _EQUAL
        chosen = np.arange(len(gaps)), np.where(best, np.round(moved, 6), np.inf).argmin(axis=1)
        return cls((curves[0], curves[1]), np.array([deprived[chosen], favored[chosen]]))

    def points(self, rows: TestRows, answers: Answers, *, balanced: bool = False) -> tuple[Array, Array]:
        """Return expected accuracy and discrimination on test rows, by relaxation; NaN without both groups.

        ``balanced`` gives each group with each label the same total weight.
        """
        truth, schema, score = rows.truth, rows.truth.schema, answers.score
        assert score is not None  # every frontier needs scores
        n_cells = 2 * len(schema.groups)
        labeled = 2 * truth.groups.astype(np.int64) + truth.y
        values, scored = _counted(score, labeled + n_cells * ~rows.seen.deprived, 2 * n_cells)
        accepted = np.zeros((len(RELAXATIONS), n_cells))
        accepted[0] = np.bincount(labeled[answers.predicted], minlength=n_cells)
        for curve, rate, scores in zip(self.curves, self.rates, np.hsplit(scored, 2), strict=True):
            accepted[1:] += curve.accepted(rate, values, scores)
        cells = np.bincount(labeled, minlength=n_cells).astype(np.float64)
        weights = np.ones(n_cells)
        if balanced:
            weights = np.divide(1, cells, out=np.zeros(n_cells), where=cells > 0)
        total = (weights * cells).reshape(-1, 2)
        counts = (weights * accepted).reshape(-1, len(total), 2)
        correct = counts[:, :, 1].sum(axis=1) + (total[:, 0] - counts[:, :, 0]).sum(axis=1)
        deprived = np.isin(np.arange(len(total)), schema.deprived_codes)
        with np.errstate(invalid="ignore"):
            rates = [
                counts[:, members].sum(axis=(1, 2)) / total[members].sum()
                for members in (deprived, ~deprived)
            ]
            return correct / total.sum(), rates[1] - rates[0]


def frontier_values(splits: Sequence[UnconstrainedSplit], tests: Sequence[Test]) -> tuple[MetricValue, ...]:
    """Return the frontier of a cell as it is stored, as a mean over splits.

    It is empty without splits, and if a split's training rows have one group only. The test in truth may have
    points of its own.
    """
    rules = [Thresholds.chosen(train, score) for train, score, _, _ in splits]
    frontier: list[MetricValue] = []
    for test in tests if rules and None not in rules else ():
        base_test: Test = ORIGINAL if test == BALANCED else test
        if base_test == TRUTH and TRUTH not in splits[0][2]:
            continue
        points = [
            rule.points(rows[base_test], answers[base_test], balanced=test == BALANCED)
            for rule, (_, _, rows, answers) in zip(rules, splits, strict=True)
            if rule is not None
        ]
        for name, values in zip((ACCURACY, DISCRIMINATION), zip(*points, strict=True), strict=True):
            for relaxation, single in zip(RELAXATIONS, zip(*values, strict=True), strict=True):
                finite = [float(value) for value in single if math.isfinite(value)]
                mean = math.fsum(finite) / len(finite) if finite else None
                frontier.append(MetricValue(_named(name, relaxation), mean, "", test))
    return tuple(frontier)


def frontier_points(cell: CellResult, test: Test) -> Iterator[tuple[float, float | None, float | None]]:
    """Yield relaxation, accuracy and discrimination of a cell's stored points on a test."""
    base_test = tested_as(test, {value.test for value in cell.frontier})
    stored = {value.metric: value.value for value in cell.frontier if value.test == base_test}
    for relaxation in RELAXATIONS:
        names = [_named(name, relaxation) for name in (ACCURACY, DISCRIMINATION)]
        if names[0] in stored:
            yield relaxation, stored[names[0]], stored[names[1]]


def _named(name: str, relaxation: float) -> str:
    return f"{name}[{relaxation:g}]"
