"""No mitigation: what everything else is compared with."""

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, PreProcessing, Tools
from benchmark.techniques.registry import register


@register
class NoMitigation(PreProcessing):
    """Train on the table as it is, the sensitive feature visible.

    Idea: the classifier alone, as the reference of every comparison. Changes: nothing. Limits: it reproduces
    whatever discrimination the training data holds.
    """

    name = "none"
    reference = "No mitigation"
    summary = "Train on the biased data as they are; the sensitive feature is visible"
    version = "1"
    intersections = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train)
