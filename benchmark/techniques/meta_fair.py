"""Classification under a bound on the ratio of the groups' rates (Celis et al. 2019)."""

from dataclasses import dataclass
from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Interval, Predictor, Technique, Tools
from benchmark.techniques.registry import register

Constraint: TypeAlias = Literal["statistical_rate", "false_discovery_rate"]

_DIGITS = 9  # of estimates; beyond them, equal rows of two batches may differ by rounding
_ROUNDING = 1e-12  # an interval that misses a rate by less contains it
_GRID = 1001  # tried lower bounds, besides those at which a threshold moves


@register
class MetaFair(Technique):
    r"""Most accurate classifier for which the groups' rates have a ratio of at least tau.

    Idea: a ratio of at least tau of two groups' rates q means that both lie in an interval [a, a / tau]. For
    a given a the bounds are linear in the classifier. By Lagrangian duality the best classifier predicts the
    favorable outcome where :math:`P(y^+ \mid x)` passes a threshold of the row's group. A search over a finds
    the best of these. The rate q is the rate of favorable predictions (``statistical_rate``, as in disparate
    impact) or the share of unfavorable labels among them (``false_discovery_rate``).

    This is the plug-in form for two groups that are known at prediction. The classifier, trained on all
    features, estimates :math:`P(y^+ \mid x)`. Isotonic regression calibrates the estimates in each group on
    the training rows. Accuracy and false discoveries are expectations under these estimates. Both thresholds
    for a given a are then exact. A lottery decides rows exactly on a threshold, so that rates can also meet
    an interval of one point. Tried are 1,001 values of a and all values at which a threshold moves from one
    estimate to the next. For ``statistical_rate`` the optimum is among them.

    Changes: predictions of a classifier trained as usual. Limits: as good as the estimates. A group without
    favorable predictions has no false discovery rate, and counts with the rate of its most promising rows.
    Rules that favor the least promising rows, to bound this rate from below, are left out. Where no other
    rules meet the bounds, the fit fails.
    """

    name = "meta_fair"
    stage = "in"
    reference = (
        "Celis, Huang, Keswani and Vishnoi (2019), Classification with fairness constraints: A meta- "
        "algorithm with provable guarantees, FAT*"
    )
    summary = "Optimal thresholds per group under a bound on the ratio of the groups' rates"
    version = "2"
    intersections = True
    needs_two_groups = "there is no other to compare"
    randomised = True
    needs_scores = True
    produces_scores = False

    constraint: Constraint = "statistical_rate"  # the rate q
    tau: Annotated[float, Interval(0, 1)] = 0.8  # least ratio of the smaller to the larger rate

    search_space = (Search("tau", 0.3, 1.0),)

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        from sklearn.isotonic import IsotonicRegression

        scores = tools.scorer(train, self.name)
        raw, members = scores(train), (~train.deprived, train.deprived)
        calibrations = [
            IsotonicRegression(out_of_bounds="clip").fit(raw[rows], train.y[rows]) for rows in members
        ]

        def estimate(table: Table) -> Array:
            favored, deprived = (calibration.predict(scores(table)) for calibration in calibrations)
            return np.asarray(np.where(table.deprived, deprived, favored).round(_DIGITS))

        probability = estimate(train)
        groups = [Levels.of(probability[rows]) for rows in members]
        shares = best_shares(groups, self.constraint, self.tau)
        rules = [group.rule(share) for group, share in zip(groups, shares, strict=True)]
        seed = int(tools.rng.integers(2**63))

        def predict(test: Table) -> NDArray[np.bool_]:
            probability, lot = estimate(test), np.random.default_rng(seed).random(len(test))
            threshold, share = np.array(rules)[test.deprived.astype(np.intp)].T
            return np.asarray((probability > threshold) | ((probability == threshold) & (lot < share)))

        return Predictor(predict)


@dataclass(frozen=True, eq=False)
class Levels:
    """A group's distinct estimates of P(y+ | x), and what a cut after each of them makes of its rows."""

    probability: Array  # the distinct estimates, highest first, shape (n_levels,)
    # Of the rows before each cut, shape (n_levels + 1,):
    share: Array  # their share of the group, from 0 to 1
    gain: Array  # how many more right than wrong predictions are expected if they are predicted favorable
    false: Array  # expected share of the group's rows that are then predicted favorable and are not

    @classmethod
    def of(cls, probability: Array) -> Self:
        """Sort the estimates, shape (n_rows,), of a group."""
        negated, count = np.unique(-probability, return_counts=True)
        distinct, n = -negated, len(probability)

        def summed(term: Array) -> Array:
            return np.append(0.0, np.cumsum(count * term))

        share, false = summed(np.ones(len(count))) / n, summed(1 - distinct) / n
        return cls(distinct, share, summed(2 * distinct - 1), false)

    @property
    def most_accurate(self) -> float:
        """Share of the rows whose estimate exceeds one half."""
        return float(self.share[np.count_nonzero(self.probability > 0.5)])

    def rates(self, constraint: Constraint) -> Array:
        """Return the rate q at each cut but the first, shape (n_levels,); it never falls."""
        if constraint == "statistical_rate":
            return self.share[1:]
        return np.maximum.accumulate(self.false[1:] / self.share[1:])

    def bounds(self, low: Array, high: Array, constraint: Constraint) -> tuple[Array, Array]:
        """Return the least and the largest share whose rate lies in each interval, NaN where none does."""
        if constraint == "statistical_rate":
            return low, high
        rates = self.rates(constraint)
        low = np.where((low > rates[-1]) & (low <= rates[-1] + _ROUNDING), rates[-1], low)
        high = np.where((high < rates[0]) & (high >= rates[0] - _ROUNDING), rates[0], high)
        least = self._share_at(low, np.searchsorted(rates, low, side="left"))
        most = self._share_at(high, np.searchsorted(rates, high, side="right"))
        empty = (low > rates[-1]) | (high < rates[0])
        return np.where(empty, np.nan, least), np.where(empty, np.nan, most)

    def _share_at(self, rate: Array, cut: NDArray[np.intp]) -> Array:
        """Return the shares, between a cut and the next, that have given false discovery rates."""
        following = np.minimum(cut + 1, len(self.share) - 1)
        rows, false = self.share[following] - self.share[cut], self.false[following] - self.false[cut]
        excess, missing = false - rate * rows, rate * self.share[cut] - self.false[cut]
        return self.share[cut] + rows * np.divide(missing, excess, where=excess > 0, out=np.zeros_like(rate))

    def rule(self, share: float) -> tuple[float, float]:
        """Return the threshold that a share of the rows pass, and the share to draw from those on it."""
        level = int(np.searchsorted(self.share[1:-1], share, side="right"))
        before, after = self.share[level : level + 2]
        return float(self.probability[level]), float((share - before) / (after - before))


def best_shares(groups: list[Levels], constraint: Constraint, tau: float) -> list[float]:
    """Return the share of each group to predict favorable: the most accurate with a ratio of at least tau.

    ``constraint`` says which rates are compared, and ``tau``, from 0 to 1, is the least ratio of the smallest
    to the largest. Raises :class:`DeclinedError` if no shares have such rates.
    """
    cuts = np.concatenate([group.rates(constraint) for group in groups])
    low = np.unique(np.concatenate([np.linspace(0, 1, _GRID), cuts, tau * cuts]).clip(0, 1))
    high = np.minimum(1.0, low / tau) if tau > 0 else np.ones_like(low)
    # Accuracy falls on either side of its optimum, so that the nearest allowed share is the best.
    shares = [np.clip(group.most_accurate, *group.bounds(low, high, constraint)) for group in groups]
    gain = sum(np.interp(share, group.share, group.gain) for group, share in zip(groups, shares, strict=True))
    if np.isnan(gain).all():
        ranges = (f"{r[0]:.3g} to {r[-1]:.3g}" for r in (group.rates(constraint) for group in groups))
        raise DeclinedError(
            "No thresholds bring the groups' false discovery rates together",
            expected=f"a ratio of at least {tau:g}",
            got=f"rates of {', '.join(ranges)}",
            remedy="lower tau",
        )
    best = int(np.nanargmax(gain))
    return [float(share[best]) for share in shares]
