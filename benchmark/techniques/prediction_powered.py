"""Weights by true rates that few audited rows and all others tell (Angelopoulos and others 2023)."""

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, Tools
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer, examined_mean, recorded_rates


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
    reference = (
        "Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered inference, Science 382: "
        "the estimator of a mean, in each group"
    )
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
