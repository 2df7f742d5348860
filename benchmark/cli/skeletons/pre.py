"""my_technique (author and year)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from benchmark.data import Table
from benchmark.techniques import Interval, Prepared, PreProcessing, Tools, register


@register
class MyTechnique(PreProcessing):
    r"""Describe in one line the change of the training data.

    Idea: why it should work, with the formula. Here a row of the deprived group with the favorable label
    weighs :math:`1 + strength`, and every other row 1. Changes: the changed and the unchanged parts of the
    training data. Limits: where it fails, and when it declines a table.
    """

    name = "my_technique"
    reference = "Author (year), Title, journal or conference, section or equation"
    summary = "Describe its effect in one line for lists"
    version = "1"  # change it whenever the same input and seed would give another result
    # For further declarations, such as randomised = True, see benchmark.techniques.Technique. What it must be
    # told about the bias, such as knows = ("gap",), is then in tools.known: tools.known.gap.
    needs_weights = True

    # Its effect, and the meaning of its ends. Here 0 changes nothing. The annotation declares valid values:
    # bool, Literal["a", "b"], or Annotated[int, Interval(1, 9)].
    strength: Annotated[float, Interval(0, 1)] = 1.0

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        # train.features: codes without the label; train.y: whether the label is favorable; train.deprived.
        # Never rely on names of columns or states; draw random numbers only from tools.rng.
        weight = np.where(train.deprived & train.y, 1.0 + self.strength, 1.0)
        # Other rows: Prepared(train.take(rows)). Other labels: train.with_column(train.schema.label, codes).
        return Prepared(train, sample_weight=weight)
