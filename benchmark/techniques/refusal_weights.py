"""Weights by refusals that somebody has looked at again."""

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques.base import Prepared, Tools
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer, examined_mean, recorded_rates


@register
class RefusalWeights(Restorer):
    r"""Weight the deprived group's favorable rows by the wrong refusals among some that were looked at again.

    Idea: let r be the recorded rate of the deprived group, and q the share of wrong ones among m refusals of
    the group, drawn at random and looked at again. The estimate of the true rate is r + (1 - r) q, and the
    weight is the one of :class:`~benchmark.techniques.gap_weights.GapWeights` for wrong labels.

    Changes: weights, of mean 1. Limits: only wrong refusals of the deprived group are seen. People who are
    missing from the rows, wrong acceptances and the other group are taken to be as they should be.
    """

    name = "refusal_weights"
    reference = (
        "Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with noisy labels, NeurIPS, section 3.2, "
        "with an estimated rate of noise"
    )
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
