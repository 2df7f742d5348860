"""Uniform sampling (Kamiran and Calders 2012)."""

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, PreProcessing, Tools
from benchmark.techniques.independence import KAMIRAN_CALDERS, missing_members, resample
from benchmark.techniques.registry import register


@register
class UniformSampling(PreProcessing):
    """Copy and leave out rows at random until label and group are independent.

    Idea: reweighing in whole rows. Each cell of group s and label y gets P(s) P(y) n rows. A cell that is too
    small is copied whole as often as fits; a random draw without replacement fills the rest. A cell that is
    too large keeps a random draw. Changes: how often each row is there; the sizes of groups and classes stay.
    Limits: declines a table with an empty cell, which leaves no row to copy.
    """

    name = "uniform_sampling"
    reference = f"{KAMIRAN_CALDERS}, section 5.3"
    summary = "Copy and leave out random rows until label and group are independent"
    version = "1"
    intersections = True
    randomised = True

    def skip(self, train: Table) -> str | None:
        """Decline a table in which a cell that must grow is empty."""
        return missing_members(train)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        def pick(rows: NDArray[np.intp], size: int, _grows: bool) -> NDArray[np.intp]:
            return tools.rng.choice(rows, size, replace=False, shuffle=False)

        return Prepared(resample(train, pick))
