"""No mitigation: the reference of all comparisons."""

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, PreProcessing, Tools
from benchmark.techniques.registry import register


@register
class NoMitigation(PreProcessing):
    """Train on the table as it is, the sensitive feature visible.

    Idea: the classifier alone, as the reference of every comparison. Changes: nothing. Limits: it reproduces
    any discrimination in the training data.
    """

    name = "none"
    reference = "No mitigation"
    summary = "Train on the biased data as they are; the sensitive feature is visible"
    version = "1"
    intersections = True
    takes_weights = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train)
