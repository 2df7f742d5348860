"""Training on rows alone that somebody has looked at again."""

import numpy as np

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques.base import Prepared, Tools, with_labels
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer

_NEXT_TO_NOTHING = 1e-6


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
    reference = (
        "Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered inference, Science 382: "
        "the classical approach, labeled rows alone"
    )
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
