"""Weights of rows by what is told of the bias: a gap, rates, their bounds, or rows looked at again."""

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques.base import Array, Predictor, Prepared, Tools, with_labels
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer, examined_mean, recorded_rates

_NATARAJAN = (
    "Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with noisy labels, NeurIPS, section 3.2"
)
_ANGELOPOULOS = (
    "Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered inference, Science 382"
)
_NEXT_TO_NOTHING = 1e-6  # weight of a row that lets learners give one answer to everybody


@register
class GapWeights(Restorer):
    r"""Weight the deprived group's favorable rows so that the bias no longer moves the boundary.

    Idea: let p be the true and p' the recorded probability of a favorable label in the deprived group. Let r
    be its recorded rate and g the told gap, so that t = r + g is the true rate. A model should accept where
    p >= 1/2.

    Wrong labels: a share b = g / t of the favorable labels was turned, whoever has them, so p' = (1 - b) p.
    The boundary p = 1/2 is recorded as p' = (1 - b) / 2. A weight w on favorable rows makes a model accept
    where w p' >= 1 - p', which is this boundary if

    .. math:: w = \frac{1 + b}{1 - b}.

    These are the label-dependent costs of Natarajan and others for noise of one side. Missing rows: a share
    of the favorable rows is left out, whoever they are, so recorded odds are true odds times a constant, and
    w is the ratio of odds of t and of r. If a share b is left out, that is 1 / (1 - b), the inverse selection
    weight of Zadrozny: favorable rows count as many as there were.

    Changes: weights, of mean 1. If g is below 0, the unfavorable rows get the weight of the reverse case.
    Limits: right where the chance of losing the label is the same for all of the group. Where it is greater
    near the boundary, the weight falls short there. Where rows of either label are missing alike, no weight
    is needed for the boundary, and the group's share of all rows is not restored.
    """

    name = "gap_weights"
    reference = (
        f"{_NATARAJAN}; "
        "Zadrozny (2004), Learning and evaluating classifiers under sample selection bias, ICML"
    )
    summary = "Weight the deprived group's favorable rows by a label gap that is told"
    version = "1"
    knows = ("kind", "gap")

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return self.by_gap(train, tools, tools.known.gap, tools.known.kind)


@register
class RateWeights(Restorer):
    r"""Weight one label of each group so that both boundaries move as the groups' true rates ask.

    Idea: labels of a group are wrong in one direction. With a recorded rate r below the true rate t, a share
    b = (t - r) / t of the favorable labels was turned, and favorable rows get the weight (1 + b) / (1 - b)
    of :class:`GapWeights`. With r above t, a share b = (r - t) / (1 - t) of the unfavorable labels was
    turned, and unfavorable rows get this weight.

    Changes: weights, of mean 1. Limits: as of weights by a gap. Labels that are wrong in both directions
    cancel out in a rate, and no weight takes this noise away.
    """

    name = "rate_weights"
    reference = f"{_NATARAJAN}, in each group"
    summary = "Weight labels of both groups by true rates that are told"
    version = "1"
    knows = ("rates",)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return self.by_rates(train, tools, "label", *tools.known.rates)


@register
class BlumStangl(Restorer):
    r"""Weight one label of each group so that its weighted rate is its true base rate.

    Idea: favorable rows of a group are missing, whoever they are. Recorded odds of a favorable label are then
    true odds times a constant, at every x. With the recorded rate r and the told rate t of the group,
    favorable rows get the ratio of odds

    .. math:: w = \frac{t}{1 - t} \cdot \frac{1 - r}{r},

    so that the weighted rate is t, and the boundary p = 1/2 is back where it was. If r is above t,
    unfavorable rows get 1 / w. Blum and Stangl assume that both groups have the same true rate, and that the
    favored group shows it: ``reweighing`` with ``rate = "favored"`` is this case, which knows nothing.

    Changes: weights, of mean 1. Limits: exact for missing rows. Where labels were turned, odds at the
    boundary fall by more than odds of the whole group if the rate is above 1/2, and by less if it is below.
    """

    name = "blum_stangl"
    reference = (
        "Blum and Stangl (2020), Recovering from biased data: can fairness constraints improve accuracy?, "
        "FORC, section 5: re-weighting"
    )
    summary = "Weight labels of both groups until their weighted rates are those that are told"
    version = "1"
    knows = ("rates",)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return self.by_rates(train, tools, "selection", *tools.known.rates)


@register
class RateBounds(Restorer):
    """Decide by both ends of told bounds of the deprived group's true rate, else by their middle.

    Idea: each end of the bounds gives weights as of ``gap_weights``, and these a model. If the true rate is
    within the bounds, the boundary is between the two models' boundaries. Where both agree, the answer
    does not depend on the rate. Where they differ, Chow would rather not decide.

    Changes: weights of three models, of mean 1. A benchmark needs an answer for every row, so a model with
    the weights for the middle of the bounds decides where the ends differ; scores are the median of three.
    Limits: as of weights by a gap, at each end. A learner whose answers jump may agree with itself by chance.
    """

    name = "rate_bounds"
    reference = (
        f"{_NATARAJAN}, at both bounds; Chow (1970), On optimum recognition error and reject tradeoff, IEEE "
        "Transactions on Information Theory 16"
    )
    summary = "Decide by both ends of bounds of the true rate, and by their middle where these differ"
    version = "1"
    knows = ("kind", "bounds")
    takes_weights = False

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return self.by_rates(train, tools, tools.known.kind, sum(tools.known.bounds) / 2)

    def _learned(self, prepared: Prepared, tools: Tools) -> Predictor:
        train = prepared.table
        ends = [self.by_rates(train, tools, tools.known.kind, rate) for rate in tools.known.bounds]
        low, middle, high = (super(RateBounds, self)._learned(p, tools) for p in (ends[0], prepared, ends[1]))
        three = [low, middle, high]

        def predict(test: Table) -> NDArray[np.bool_]:
            of_low = low.predict(test)
            return np.where(of_low == high.predict(test), of_low, middle.predict(test))

        def score(test: Table) -> Array:
            return np.median([m.predict_score(test) for m in three if m.predict_score is not None], axis=0)

        return Predictor(predict, score if middle.predict_score else None)


@register
class RefusalWeights(Restorer):
    r"""Weight the deprived group's favorable rows by the wrong refusals among some that were looked at again.

    Idea: let r be the recorded rate of the deprived group, and q the share of wrong ones among m refusals of
    the group, drawn at random and looked at again. The estimate of the true rate is r + (1 - r) q, and the
    weight is the one of :class:`GapWeights` for wrong labels.

    Changes: weights, of mean 1. Limits: only wrong refusals of the deprived group are seen. People who are
    missing from the rows, wrong acceptances and the other group are taken to be as they should be.
    """

    name = "refusal_weights"
    reference = f"{_NATARAJAN}, with an estimated rate of noise"
    summary = "Weight the deprived group's favorable rows by refusals that were looked at again"
    version = "1"
    knows = ("refusals",)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        refusals, recorded = tools.known.refusals, recorded_rates(train, tools)[1]
        wrong = examined_mean(refusals.favorable.astype(float), refusals.rows, tools)
        if wrong is None or recorded is None:
            raise DeclinedError(
                "No refusal of the deprived group was looked at again",
                expected="unfavorable rows of the group, with the labels that they should have",
                got=f"{len(refusals)} rows",
                remedy="look at some of them again, or use a technique that knows less",
            )
        return self.by_gap(train, tools, (1 - recorded) * wrong, "label")


@register
class PredictionPowered(Restorer):
    r"""Weight labels of both groups by true rates, estimated from few audited rows and all biased ones.

    Idea: recorded labels are predictions of true ones. In each group the true rate is estimated by the
    recorded rate of all rows, plus the mean correction of the audited rows:

    .. math:: \hat t = \frac{1}{n} \sum_{i=1}^{n} y'_i + \frac{1}{m} \sum_{j=1}^{m} (y_j - y'_j).

    It is unbiased, and varies only as much as corrections do: much less than the rate of audited rows alone.
    The weights are those of ``rate_weights``. A loss of all rows with the same correction would be unbiased
    as well. There each wrong row would weigh n / m, once with a negative sign, which few learners take, and
    the model would follow the few wrong rows that were found.

    Changes: weights, of mean 1. Limits: as of ``rate_weights``. A group without audited rows stays as it is.
    """

    name = "prediction_powered"
    reference = f"{_ANGELOPOULOS}: the estimator of a mean, in each group"
    summary = "Weight labels of both groups by rates that audited rows and all rows tell together"
    version = "1"
    knows = ("clean_rows",)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        audited = tools.known.clean_rows
        correction = audited.favorable.astype(float) - train.y[audited.rows]
        rates: list[float | None] = []
        for group, recorded in enumerate(recorded_rates(train, tools)):
            members = train.deprived[audited.rows] == group
            mean = examined_mean(correction[members], audited.rows[members], tools)
            rates.append(None if recorded is None or mean is None else recorded + mean)
        return self.by_rates(train, tools, "label", deprived=rates[1], favored=rates[0])


@register
class AuditedRows(Restorer):
    """Train on the rows that were looked at again, with the labels found, and on no others.

    Idea: these m rows are drawn at random and their labels are right, so no boundary has moved. A model of
    them is without bias where the bias turns labels, and knows as much as m rows can tell.

    Changes: rows and labels. If all m rows have one label, that is the model's answer for everybody: a
    row with the other label, of next to no weight, lets learners give it. Limits: a model of few rows is far
    from one of many, whatever the bias. Rows that are missing stay missing.
    """

    name = "audited_rows"
    reference = f"{_ANGELOPOULOS}: the classical approach, labeled rows alone"
    summary = "Train on the few rows alone that were looked at again"
    version = "1"
    knows = ("clean_rows",)
    takes_weights = False

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        audited = tools.known.clean_rows
        if not len(audited):
            raise DeclinedError(
                "No row was looked at again, so there is none to train on",
                expected="rows of both groups, with the labels that they should have",
                got="no row",
                remedy="look at some rows again, or use a technique that knows less",
            )
        rows = with_labels(train.take(audited.rows), audited.favorable)
        if rows.y.any() and not rows.y.all():
            return Prepared(rows, features=self.seen(train))
        return self.relabeled(rows, np.array([0]), np.array([_NEXT_TO_NOTHING]))
