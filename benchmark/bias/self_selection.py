"""Self-selection: people with a low score, or a low state of a feature, are missing."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from benchmark.bias.base import Array, BiasKind, Chances, Rows, lacking, register, require_order
from benchmark.bias.parameters import DEPRIVED, Group, Rate
from benchmark.data.table import Schema


@register
class SelfSelection(BiasKind):
    """Leave out rows of a group, with a probability that rises as a number falls (or rises).

    A row is left out with the probability rate × wᵖ. The weight w goes from 0 at one end of the number's
    range to 1 at the other.
    """

    name = "self_selection"
    summary = (
        "rows of the deprived group left out with probability β w², by a number w that says how low they are"
    )
    reference = "Legast, Calders and Fouss (2025), Controlled bias, EWAF: removal weighted by the score"
    version = "1"

    # An ordered column, whose states count as 0, 1, 2 ...; if empty, the number behind the label counts.
    column: str = ""
    missing: Literal["low", "high"] = "low"  # the end of the range that is left out: "low" or "high"
    power: Annotated[float, Field(gt=0, le=100)] = 2.0  # the exponent p, above 0
    rate: Rate = Rate("beta")  # probability at the end of the range
    group: Group = DEPRIVED  # the people whose rows are left out

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the column is an ordered one, or there is a score."""
        super().check(schema, has_score=has_score)
        if self.column:
            require_order(schema, self.column)
        if not self.column and not has_score:
            raise lacking(self.name, "score")

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return the same chance for both labels of a row."""
        position = self._position(rows)
        weight = (1 - position if self.missing == "low" else position) ** self.power
        chance = self.rate.at(beta) * weight * self.group.members(rows.table)
        return Chances(left_out=np.column_stack([chance, chance]))

    def looks_at(self, schema: Schema) -> tuple[str, ...] | None:
        """Return the column and the group's columns; None if the chances depend on the score."""
        return (*self.group.columns(schema), self.column) if self.column else None

    def _position(self, rows: Rows) -> Array:
        """Return the position of each row's number in its range, from 0 to 1, shape (n_rows,)."""
        if self.column:
            last = rows.table.schema.column(self.column).cardinality - 1
            return np.asarray(rows.table.codes[:, rows.table.schema.index(self.column)] / max(last, 1))
        assert rows.score is not None
        values, width = rows.score.values, 2 * rows.score.half_range
        position = (values - rows.score.lowest) / width if width else np.zeros(len(values))
        return np.asarray(np.clip(position, 0, 1))
