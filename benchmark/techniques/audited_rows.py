"""Training on rows alone that somebody has looked at again."""

from typing import ClassVar

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques.base import Prepared, Tools, with_labels
from benchmark.techniques.knowledge import Fact
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer


@register
class AuditedRows(Restorer):
    """Train on the rows that were looked at again, with the labels found, and on no others.

    Idea: these m rows are drawn at random and their labels are right, so no boundary has moved. A model of
    them is without bias where the bias turns labels, and knows as much as m rows can tell.

    Changes: rows and labels. Limits: a model of few rows is far from one of many, whatever the bias. Rows
    that are missing stay missing.
    """

    name = "audited_rows"
    reference = (
        "The baseline of Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered "
        "inference, Science 382: labeled rows alone"
    )
    summary = "Train on the few rows alone that were looked at again"
    version = "1"
    knows: ClassVar[tuple[Fact, ...]] = ("clean_rows",)
    needs_weights = False
    takes_weights = False

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        audited = tools.known.clean_rows
        if not 0 < int(audited.favorable.sum()) < len(audited):
            raise DeclinedError(
                "A model of the rows that were looked at again needs both labels among them",
                expected="a favorable and an unfavorable label",
                got=f"{int(audited.favorable.sum())} favorable of {len(audited)}",
                remedy="look at more rows again, or use prediction_powered, which takes all rows as well",
            )
        return Prepared(with_labels(train.take(audited.rows), audited.favorable), features=self.seen(train))
