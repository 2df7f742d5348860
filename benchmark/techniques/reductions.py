"""Fair classification by cost-sensitive classification, a lottery or a grid (Agarwal et al. 2018)."""

import warnings
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import NotConvergedError
from benchmark.techniques import base
from benchmark.techniques._search import Search
from benchmark.techniques.registry import register

Constraint: TypeAlias = Literal[
    "demographic_parity", "equalized_odds", "true_positive_rate_parity", "false_positive_rate_parity"
]
_AGARWAL = (
    "Agarwal, Beygelzimer, Dudik, Langford and Wallach (2018), A reductions approach to fair "
    "classification, ICML"
)
_CANCELLED = 1e-12  # costs of about 1 that cancel may leave this much rounding
_LABELS = {"equalized_odds": [0, 1], "true_positive_rate_parity": [1], "false_positive_rate_parity": [0]}


class Reduction(base.Technique):
    """A reduction of fair classification to fits of the classifier on relabeled and weighted rows."""

    stage = "in"
    needs_weights = True
    produces_scores = False
    packages = ("fairlearn",)

    # The groups shall have equal rates of positive predictions: ``demographic_parity`` among all rows,
    # ``true_positive_rate_parity`` among rows of favorable label, ``false_positive_rate_parity`` among rows
    # of unfavorable label. ``equalized_odds`` is both of the latter.
    constraint: Constraint = "demographic_parity"
    # Whether the classifier sees the sensitive feature; the constraint always does, in training.
    use_sensitive: bool = False

    def skip(self, train: Table) -> str | None:
        """Decline a table without features, or with a group that lacks the rows to compare."""
        if not self._columns(train):
            return "the sensitive feature is the only one, and left out"
        counts = np.bincount(train.deprived * 2 + train.y, minlength=4).reshape(2, 2)
        labels = _LABELS.get(self.constraint)
        compared = counts.sum(axis=1, keepdims=True) if labels is None else counts[:, labels]
        if (compared == 0).any():
            favored, deprived = counts.tolist()
            return (
                f"{self.constraint} has nothing to compare: the deprived group has {deprived} rows of "
                f"unfavorable and favorable label, everyone else {favored}"
            )
        return None

    def _reduce(
        self, train: Table, tools: base.Tools, build: Callable[[Any, Any], Any]
    ) -> tuple[Any, Callable[[Table], base.Features]]:
        """Return a fitted mitigator of fairlearn, which ``build`` makes, and a function to its features."""
        from fairlearn import reductions

        # "equalized_odds" is EqualizedOdds there.
        moment = getattr(reductions, self.constraint.title().replace("_", ""))
        # Sorted rows, because the first row's group decides on the library's grid.
        numbers = () if train.numbers is None else train.numbers.values.T
        train = train.take(np.lexsort((*numbers, *train.codes.T, train.deprived)))
        errors = np.where(train.y, 1.0, -1.0)

        class Costs(moment):  # type: ignore[misc,valid-type]
            def signed_weights(self, lambda_vec: Any) -> Any:
                weights = super().signed_weights(lambda_vec)
                # Where costs cancel in every row, all predictions are equally good; prefer accurate ones.
                cancelling = np.abs(weights + errors).max() < _CANCELLED
                return weights * (1 - 1e-9) if cancelling else weights

        columns = self._columns(train)
        features = tools.learner(train, columns)[1]
        mitigator = build(Weighted(lambda: tools.learner(train, columns)[0], self.name), Costs)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=DeprecationWarning, module="fairlearn")
            y, group = train.y.astype(np.int64), train.deprived.astype(np.int64)
            mitigator.fit(features(train), y, sensitive_features=group)
        return mitigator, features

    def _checked(self, X: base.Features, classifiers: Iterable[Any]) -> base.Features:
        """Return the features of rows to predict, after a check that all classifiers' scores are valid."""
        for classifier in classifiers:
            if isinstance(classifier, Weighted) and hasattr(classifier.fitted, "predict_proba"):
                base.scorer_of(classifier.fitted, self.name)(X)
        return X

    def _columns(self, table: Table) -> list[int]:
        schema = table.schema
        return list(schema.feature_indices if self.use_sensitive else schema.insensitive_indices)


class Weighted:
    """The given classifier for fairlearn, which copies it before each fit and passes costs as weights."""

    def __init__(self, build: Callable[[], base.Estimator], technique: str) -> None:
        self.build, self.technique = build, technique

    def fit(self, X: base.Features, y: Any, sample_weight: Any) -> Self:
        """Train; weights are scaled to a mean of 1, because classifiers count them as cases."""
        weight = np.asarray(sample_weight, dtype=np.float64)
        self.fitted = self.build()
        self.fitted.fit(X, np.asarray(y, dtype=np.int64), sample_weight=weight / weight.mean())
        return self

    def predict(self, X: base.Features) -> NDArray[np.int64]:
        """Return 0 or 1 for each row, shape (n_rows,)."""
        return base.decider_of(self.fitted, self.technique)(X).astype(np.int64)


@register
class ExponentiatedGradient(Reduction):
    r"""Best lottery of classifiers under a bound on the difference of the groups' rates.

    Idea: a game. The classifier answers the constraints' multipliers :math:`\lambda` by minimizing error plus
    :math:`\lambda` times violation. This is an ordinary fit on rows with changed labels and weights. The
    multipliers answer by growing, exponentially in the violation, where constraints are broken. The mixture
    of answers approaches the best lottery that keeps each group's rate within ``bound`` of the rate of all.
    Every prediction draws a random classifier of the mixture.

    Changes: training only. Runs fairlearn's ``ExponentiatedGradient``. The score of a row is its probability
    of a favorable prediction in the lottery. Convergence is reported in rounds and the duality gap. The gap's
    tolerance is half the standard error of the first classifier's error rate; if it makes no error, as if it
    made one. Limits: the bound holds on training rows, on average over the lottery, and as far as the
    classifier minimizes weighted error. The difference of two groups' rates may be twice the bound.
    """

    name = "exponentiated_gradient"
    reference = f"{_AGARWAL}, algorithm 1"
    summary = "Lottery of classifiers trained on costs, with bounded differences of the groups' rates"
    version = "2"
    intersections = True
    randomised = True
    produces_scores = True

    # Largest distance of a group's rate from the rate of all; its inverse bounds the multipliers' sum.
    bound: Annotated[float, base.Interval(0.001, 1)] = 0.01
    max_iterations: Annotated[int, base.Interval(1)] = 50  # rounds of the game

    search_space = (Search("bound", 0.001, 0.2, log=True),)

    def _fit(self, train: Table, tools: base.Tools) -> base.Predictor:
        def build(estimator: Any, moment: Any) -> Any:
            moment = moment(difference_bound=self.bound)
            return _tolerant(len(train))(estimator, moment, eps=self.bound, max_iter=self.max_iterations)

        fitted, features = self._reduce(train, tools, build)
        rounds, gap, tolerance = fitted.last_iter_ + 1, float(fitted.best_gap_), float(fitted.nu)
        if not gap <= tolerance:  # NaN is no convergence
            raise NotConvergedError("exponentiated gradient", rounds, gap, tolerance)
        seed = int(tools.rng.integers(2**32))
        drawn = zip(fitted.weights_, fitted.predictors_, strict=True)
        lottery = [(weight, classifier) for weight, classifier in drawn if weight > 0]

        def predict(test: Table) -> NDArray[np.bool_]:
            X = self._checked(features(test), (classifier for _, classifier in lottery))
            return np.asarray(fitted.predict(X, random_state=seed) == 1, dtype=np.bool_)

        def predict_score(test: Table) -> NDArray[np.float64]:
            X, score = features(test), np.zeros(len(test))
            for weight, classifier in lottery:
                score += weight * (classifier.predict(X) == 1)
            return np.minimum(score, 1.0)  # the weights sum to 1 but for rounding

        return base.Predictor(predict, predict_score, base.Convergence(rounds, gap, tolerance))


def _tolerant(n_rows: int) -> type[Any]:
    """Return fairlearn's class with a tolerance as of at least one error in ``n_rows``.

    This tolerance, half the standard error of the error rate, is 1/2 n. The library's tolerance is 0, which
    no gap reaches, if the first classifier makes no error; else it is not lower.
    """
    from fairlearn.reductions import ExponentiatedGradient as Plain

    class Tolerant(Plain):  # type: ignore[misc]
        @property
        def nu(self) -> float | None:
            return self._nu

        @nu.setter
        def nu(self, value: float | None) -> None:
            self._nu = None if value is None else max(float(value), 0.5 / n_rows)

    return Tolerant


@register
class GridSearch(Reduction):
    r"""Best single classifier on a grid of trade-offs between error and the groups' difference.

    Idea: for each vector of multipliers :math:`\lambda` on a grid, the classifier is trained to minimize
    error plus :math:`\lambda` times the constraints' violation. This is an ordinary fit on rows with changed
    labels and weights. The best classifier has the least sum, on the training rows, of 1 - w times its error
    rate and w times its difference. That is the largest distance of a group's rate from the rate of all.

    Changes: training only. Runs fairlearn's ``GridSearch``. Limits: no bound is promised. A single classifier
    may lose more accuracy than a lottery. Two multipliers, as of ``equalized_odds``, leave few values for
    each.
    """

    name = "grid_search"
    reference = f"{_AGARWAL}, section 3.4"
    summary = "Best classifier trained on costs on a grid of trade-offs between error and difference"
    version = "1"
    intersections = True

    constraint_weight: Annotated[float, base.Interval(0, 1)] = 0.5  # the weight w
    grid_size: Annotated[int, base.Interval(5)] = 41  # number of fits
    # Largest sum of the multipliers' absolute values.
    grid_limit: Annotated[float, base.Interval(0.01, 100)] = 2.0

    search_space = (
        Search("constraint_weight", 0.0, 1.0),
        Search("grid_limit", 0.2, 10.0, log=True),
    )

    def _fit(self, train: Table, tools: base.Tools) -> base.Predictor:
        from fairlearn import reductions

        fitted, features = self._reduce(
            train,
            tools,
            lambda estimator, moment: reductions.GridSearch(
                estimator,
                moment(),
                constraint_weight=self.constraint_weight,
                grid_size=self.grid_size,
                grid_limit=self.grid_limit,
            ),
        )

        best = fitted.predictors_[fitted.best_idx_]
        return base.Predictor(
            lambda test: np.asarray(best.predict(self._checked(features(test), [best])) == 1)
        )
