"""Fairness through unawareness: the paper's baseline."""

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, PreProcessing, Tools
from benchmark.techniques.registry import register


@register
class DropSensitive(PreProcessing):
    """Hide the sensitive feature from the classifier.

    Idea: a classifier cannot use what it does not see. Changes: the visible columns; rows, labels and
    weights stay. Limits: other columns may stand in for the hidden column (redlining); then discrimination
    stays or even grows.
    """

    name = "drop_sensitive"
    reference = (
        "Pedreschi, Ruggieri and Turini (2008), Discrimination-aware data mining, KDD: on why it fails"
    )
    summary = "Hide the sensitive feature from the classifier"
    version = "1"
    intersections = True
    needs_sensitive = False
    takes_weights = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        schema = train.schema
        return Prepared(train, features=tuple(schema.names[i] for i in schema.insensitive_indices))
