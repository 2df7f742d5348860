"""Score bias: the number behind the label is wrong, and the label with it."""

import numpy as np

from benchmark.bias.base import BiasKind, Chances, Rows, lacking, register
from benchmark.bias.parameters import DEPRIVED, Group, Level
from benchmark.data.table import Schema


@register
class ScoreBias(BiasKind):
    """Lower the number behind the label for a group, blur it for everybody, and cut it anew.

    No technique sees the number. Unlike with ``label``, rows near the threshold are the first whose label
    changes. It comes once, before other steps that turn labels: it sets every label anew by its own number,
    whatever earlier steps did.
    """

    name = "score"
    summary = (
        "the number behind the label lowered by β halves of its range for the deprived group, and cut anew"
    )
    reference = "Legast, Calders and Fouss (2025), Controlled bias, EWAF: label bias"
    version = "1"

    shift: Level = Level("beta")  # decrease of the number, in halves of its range
    noise: Level = Level(0)  # standard deviation of normal noise, of all rows, in halves of the range
    group: Group = DEPRIVED  # the people whose number is lowered

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless there is a number behind the label."""
        super().check(schema, has_score=has_score)
        if not has_score:
            raise lacking(self.name, "score")

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return the probability that the changed number lies on the other side of the threshold."""
        from scipy.special import ndtr

        score = rows.score
        assert score is not None
        shift, noise = self.shift.at(beta) * score.half_range, abs(self.noise.at(beta)) * score.half_range
        above = score.values - shift * self.group.members(rows.table) - score.threshold
        favorable = ndtr(above / noise) if noise else (above >= 0).astype(np.float64)
        return Chances(turned=np.column_stack([favorable, 1 - favorable]))

    def looks_at(self, schema: Schema) -> None:
        """Return None: the chances depend on the number, not on columns."""
        return
