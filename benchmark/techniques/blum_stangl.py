"""Re-weighting to base rates that are told (Blum and Stangl 2020)."""

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, Tools
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer


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
