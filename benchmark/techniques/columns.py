"""No mitigation, and hiding the sensitive feature and its proxies from the classifier."""

from typing import Annotated

from benchmark.data.association import PROXY, group_associations
from benchmark.data.table import Table
from benchmark.techniques._search import Search
from benchmark.techniques.base import Interval, Prepared, PreProcessing, Tools
from benchmark.techniques.registry import register

_PEDRESCHI = "Pedreschi, Ruggieri and Turini (2008), Discrimination-aware data mining, KDD"


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


@register
class DropSensitive(PreProcessing):
    """Hide the sensitive feature from the classifier.

    Idea: a classifier cannot use what it does not see. Changes: the visible columns; rows, labels and
    weights stay. Limits: other columns may stand in for the one left out (redlining); then discrimination
    stays or even grows.
    """

    name = "drop_sensitive"
    reference = f"{_PEDRESCHI}: on why it fails"
    summary = "Hide the sensitive feature from the classifier"
    version = "1"
    intersections = True
    needs_sensitive = False
    takes_weights = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        schema = train.schema
        return Prepared(train, features=tuple(schema.names[i] for i in schema.insensitive_indices))


@register
class DropProxies(PreProcessing):
    """Hide the sensitive feature and the columns that tell it from the classifier.

    Idea: a group cannot be read off columns that are not seen. A proxy is a column whose
    association with the deprived group, Cramér's V in the training rows, reaches a threshold. Changes: the
    visible columns; rows, labels and weights stay. Limits: columns that are weak by themselves may tell the
    group together. A proxy may carry what the label rightly depends on.
    """

    name = "drop_proxies"
    reference = f"{_PEDRESCHI}: on indirect discrimination by columns that tell the group"
    summary = "Hide the sensitive feature and columns associated with it from the classifier"
    version = "1"
    intersections = True
    needs_sensitive = False

    # Least association (Cramér's V, less its value by chance) of a column left out with the deprived group.
    threshold: Annotated[float, Interval(0, 1)] = PROXY

    search_space = (Search("threshold", 0.05, 0.6),)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        association = group_associations(train)
        return Prepared(train, features=tuple(name for name, v in association.items() if v < self.threshold))
