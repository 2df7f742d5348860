"""Subgroup fairness by fictitious play (Kearns et al. 2018)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import NotConvergedError
from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Convergence, Interval, Predictor, Technique, Tools
from benchmark.techniques.constrained_logistic import Design
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.registry import register

_GAP = 0.005  # largest gain, in errors per row, that either player may miss
_TIE = 1e-10  # values that differ by less count as equal: rounding must not decide the moves


@register
class GerryFair(Technique):
    r"""Lottery of linear classifiers whose rates an auditor cannot tell apart between subgroups.

    Idea: a game. The learner answers the auditor's average complaint with a classifier of least cost. The
    auditor answers the lottery of all classifiers so far with the subgroup g of the largest disparity

    .. math:: \alpha(g)\,|\mathrm{rate}(g) - \mathrm{rate}|,

    with :math:`\alpha(g)` the share of all rows that belong to g and count toward the rate. Up to ``gamma``
    the auditor accepts it. Beyond, its complaint of weight C makes favorable predictions dearer where the
    rate is too high, and cheaper elsewhere. The learner's oracle regresses the cost difference of the two
    predictions on indicators of all states, the sensitive feature included. It may miss the best linear
    classifier, so the learner plays the best of this answer and all earlier ones.

    The subgroups are all unions of the distinguished groups. The worst of them is the union of all groups
    whose rate is above the rate of all, so the auditor needs no oracle.

    The game ends when the auditor accepts the lottery, and no earlier move gains either player more than
    0.005 of the Lagrangian, errors plus complaints. No other lottery of the same classifiers that the auditor
    accepts has an error rate lower by more. Convergence is reported in rounds and that gap.
    Changes: training only. Limits: a small subgroup's rate may differ much, because its size counts. A small
    C may leave more than ``gamma``, and a large C takes many rounds.
    """

    name = "gerry_fair"
    stage = "in"
    reference = (
        "Kearns, Neel, Roth and Wu (2018), Preventing fairness gerrymandering: Auditing and learning for "
        "subgroup fairness, ICML"
    )
    summary = "Lottery of linear classifiers from a game against an auditor of subgroups"
    version = "2"
    intersections = True
    needs_two_groups = "there is no other to compare"
    randomised = True
    multi_group = True
    produces_scores = False
    # No disparity exceeds 1, so the auditor never complains, and the learner plays only its first answer.
    unconstrained: ClassVar = {
        **{"fairness_def": "FP", "gamma": 1.0, "C": 10.0},
        **{"max_iterations": 3000, "subgroups": "deprived"},
    }

    # The rate: false positives, false negatives, or (statistical parity) favorable predictions.
    fairness_def: Literal["FP", "FN", "SP"] = "FP"
    gamma: Annotated[float, Interval(1e-4, 1)] = 0.01  # largest disparity that the auditor accepts
    C: Annotated[float, Interval(0.01, 100)] = 10.0  # largest weight of the auditor's complaint
    max_iterations: Annotated[int, Interval(1)] = 3000  # rounds of the game
    # Groups to distinguish: the deprived and everyone else; or all states of the sensitive feature, if it
    # alone says who is deprived.
    subgroups: Literal["deprived", "states"] = "deprived"

    search_space = (Search("gamma", 1e-3, 0.3, log=True),)

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        schema = train.schema
        encoding = Encoding.of(train, use_sensitive=True, treatment="categorical")
        design = Design.of(train, encoding, train.y)
        group = design.codes[encoding.columns.index(schema.sensitive_index)]
        if self.subgroups == "deprived" or len(schema.sensitive_indices) > 1:
            deprived = schema.deprived_among(lambda i: design.codes[encoding.columns.index(i)])
            group = deprived.astype(np.intp)
        game = Game(design, group, self.fairness_def, self.gamma, self.C)
        answers, drawn, convergence = game.play(self.max_iterations)
        seed = int(tools.rng.integers(2**63))

        def predict(test: Table) -> NDArray[np.bool_]:
            codes = encoding.codes(test)
            favorable = np.zeros(len(test))
            for theta, share in zip(answers, drawn, strict=True):
                favorable += share * (encoding.scores(codes, theta) < -_TIE)
            return np.asarray(np.random.default_rng(seed).random(len(test)) < favorable)

        return Predictor(predict, convergence=convergence)


@dataclass(frozen=True, eq=False)
class Game:
    """The game of learner and auditor on the distinct rows of a training table."""

    design: Design
    group: NDArray[np.intp]  # of each row of the design, shape (n_distinct,)
    fairness_def: str  # the rate: FP, FN or SP
    gamma: float  # largest disparity that the auditor accepts
    C: float  # weight of its complaint

    @cached_property
    def _classes(self) -> Array:
        """Share of the rows by class, shape (n_distinct, 2)."""
        return np.asarray(self.design.weight.sum(axis=1))

    @cached_property
    def _counted(self) -> Array:
        """Share of the rows that count toward the rate, shape (n_distinct,)."""
        classes = self._classes
        counted = {"FP": classes[:, 0], "FN": classes[:, 1], "SP": classes.sum(axis=1)}
        return np.asarray(counted[self.fairness_def])

    @cached_property
    def _inverse_gram(self) -> Array:
        gram = self.design.gram(self._classes.sum(axis=1))
        return np.asarray(np.linalg.pinv(gram, rcond=1e-10, hermitian=True))

    def answer(self, penalty: Array) -> Array:
        """Return the oracle's answer, shape (n_features,), to penalties by group, shape (n_groups,).

        The answer regresses the cost of a favorable prediction, less the cost of an unfavorable one.
        """
        dearer = self._classes @ [1.0, -1.0] + self._counted * penalty[self.group]
        return np.asarray(self._inverse_gram @ self.design.moments(dearer))

    def favorable(self, theta: Array) -> Array:
        """Return an answer's prediction for each row, 1.0 if favorable, else 0.0, shape (n_distinct,)."""
        return (self.design.scores(theta) < -_TIE).astype(np.float64)

    def audit(self, favorable: Array) -> tuple[float, NDArray[np.bool_]]:
        """Return the largest disparity of a subgroup, and its groups as a mask, shape (n_groups,)."""
        rate = self._counted @ favorable / self._counted.sum()
        excess = np.bincount(self.group, self._counted * (favorable - rate))
        return float(excess.clip(0).sum()), excess > _TIE

    def error(self, favorable: Array) -> float:
        """Return the expected error rate of predictions that are favorable with given probabilities."""
        return float(self._classes[:, 1].sum() + favorable @ (self._classes @ [1.0, -1.0]))

    def play(self, rounds: int) -> tuple[list[Array], Array, Convergence]:
        """Return the lottery that solves the game within a number of rounds, and its convergence.

        The lottery is the learner's answers, each of shape (n_features,), and the share of rounds in which
        each was played, shape (n_answers,). The residual is the most that either player could gain.
        """
        size = np.bincount(self.group, self._counted) / self._counted.sum()
        penalty, complaint = np.zeros(len(size)), 0.0  # averages over the auditor's moves
        lottery, upper, disparity = np.zeros(len(self.group)), np.inf, np.inf
        answers: list[Array] = []
        costs = np.empty((rounds + 1, 1 + len(size)))  # each answer's error, and its penalized rate by group
        played = np.zeros(rounds + 1, dtype=np.intp)
        for taken in range(rounds + 1):
            # The learner's best answer to the average complaint.
            answers.append(self.answer(penalty))
            predicted = self.favorable(answers[-1])
            costs[taken] = self.error(predicted), *np.bincount(self.group, self._counted * predicted)
            # The regression may miss the best answer, so an older answer may be better.
            totals = costs[: taken + 1] @ np.append(1.0, penalty)
            best = int((totals <= totals.min() + _TIE).argmax())
            gap = float(upper - (totals[best] - self.gamma * complaint))
            if gap <= _GAP and disparity <= self.gamma + _TIE:
                chosen = np.flatnonzero(played)
                drawn = [answers[i] for i in chosen]
                return drawn, played[chosen] / taken, Convergence(taken, max(gap, 0.0), _GAP)
            played[best] += 1
            if best < taken:
                predicted = self.favorable(answers[best])
            lottery += (predicted - lottery) / (taken + 1)
            # The auditor's answer to the lottery of all classifiers so far.
            disparity, subgroup = self.audit(lottery)
            weight = self.C if disparity > self.gamma + _TIE else 0.0
            upper = self.error(lottery) + weight * (disparity - self.gamma)
            penalty += (weight * (subgroup - size[subgroup].sum()) - penalty) / (taken + 1)
            complaint += (weight - complaint) / (taken + 1)
        if gap > _GAP:
            raise NotConvergedError("game of learner and auditor", rounds, gap, _GAP)
        raise NotConvergedError("auditor's disparity, at this C,", rounds, disparity, self.gamma)
