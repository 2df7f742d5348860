"""Missing rows, by their group and label, or by how low a number is."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from benchmark.bias import base
from benchmark.bias.parameters import DEPRIVED, Group, Rate
from benchmark.data.table import Schema


@base.register
class SelectionBias(base.BiasKind):
    """Leave out each favorable row of a group with probability beta.

    A network replaces the rows that are left out by new draws, so that samples keep their size. Every
    remaining row is true; only the selection of rows is wrong.
    """

    name = "selection"
    summary = "favorable rows of the deprived group left out with probability β"
    reference = base.AKPINAR
    version = "1"

    rate: Rate = Rate("beta")  # probability that a favorable row is left out
    group: Group = DEPRIVED  # the people whose rows are left out

    def chances(self, rows: base.Rows, beta: float) -> base.Chances:
        """Return the rate for favorable rows of the group."""
        return base.Chances(
            left_out=base.by_label(self.group.members(rows.table), favorable=self.rate.at(beta))
        )


@base.register
class UnderRepresentation(base.BiasKind):
    """Keep rows of a group with one probability for favorable and another for unfavorable ones."""

    name = "under_representation"
    summary = "rows of the deprived group kept with probability 1 - β if favorable, always if not"
    reference = (
        "Blum and Stangl (2020), Recovering from biased data, FORC, section 2: under-representation bias"
    )
    version = "1"

    keep_favorable: Rate = Rate("1 - beta")  # probability that a favorable row is kept
    keep_unfavorable: Rate = Rate(1)  # probability that an unfavorable row is kept
    group: Group = DEPRIVED  # the group whose rows may be left out

    def chances(self, rows: base.Rows, beta: float) -> base.Chances:
        """Return the probability that a row of the group is not kept, by its label."""
        left_out = base.by_label(
            self.group.members(rows.table),
            favorable=1 - self.keep_favorable.at(beta),
            unfavorable=1 - self.keep_unfavorable.at(beta),
        )
        return base.Chances(left_out=left_out)


@base.register
class RandomSelection(base.BiasKind):
    """Leave out rows of a group at random: the group is small, and no row of it is wrong."""

    name = "random_selection"
    summary = "rows of the deprived group left out with probability 0.95 β, whatever their label"
    reference = (
        f"{base.LEGAST}; Bias on Demand (Baumann, Castelnovo, Crupi, Inverardi and Regoli 2023), FAccT: "
        "representation bias"
    )
    version = "1"

    rate: Rate = Rate("0.95 * beta")  # probability that a row is left out
    group: Group = DEPRIVED  # the people whose rows are left out

    def chances(self, rows: base.Rows, beta: float) -> base.Chances:
        """Return one rate for both labels of the group's rows."""
        rate = self.rate.at(beta)
        return base.Chances(
            left_out=base.by_label(self.group.members(rows.table), favorable=rate, unfavorable=rate)
        )


@base.register
class MaliciousSelection(base.BiasKind):
    """Leave out favorable rows of a group and, with the same probability, unfavorable rows of all others."""

    name = "malicious_selection"
    summary = "favorable rows of the deprived group and unfavorable ones of all others left out, each with β"
    reference = f"{base.LEGAST}: malicious selection"
    version = "1"
    acts_beyond_group = True

    rate: Rate = Rate("beta")  # probability that such a row is left out
    group: Group = DEPRIVED  # the people whose favorable rows are left out

    def chances(self, rows: base.Rows, beta: float) -> base.Chances:
        """Return one rate, for favorable rows of the group and unfavorable ones of the others."""
        members, rate = self.group.members(rows.table), self.rate.at(beta)
        return base.Chances(
            left_out=base.by_label(members, favorable=rate) + base.by_label(~members, unfavorable=rate)
        )


@base.register
class SelfSelection(base.BiasKind):
    """Leave out rows of a group, with a probability that rises as a number falls (or rises).

    A row is left out with the probability rate × wᵖ. The weight w goes from 0 at one end of the number's
    range to 1 at the other.
    """

    name = "self_selection"
    summary = (
        "rows of the deprived group left out with probability β w², by a number w that says how low they are"
    )
    reference = f"{base.LEGAST}: removal weighted by the score"
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
            base.require_order(schema, self.column)
        if not self.column and not has_score:
            raise base.lacking(self.name, "score")

    def chances(self, rows: base.Rows, beta: float) -> base.Chances:
        """Return the same chance for both labels of a row."""
        position = self._position(rows)
        weight = (1 - position if self.missing == "low" else position) ** self.power
        chance = self.rate.at(beta) * weight * self.group.members(rows.table)
        return base.Chances(left_out=np.column_stack([chance, chance]))

    def looks_at(self, schema: Schema) -> tuple[str, ...] | None:
        """Return the column and the group's columns; None if the chances depend on the score."""
        return (*self.group.columns(schema), self.column) if self.column else None

    def _position(self, rows: base.Rows) -> base.Array:
        """Return the position of each row's number in its range, from 0 to 1, shape (n_rows,)."""
        if self.column:
            last = rows.table.schema.column(self.column).cardinality - 1
            return np.asarray(rows.table.codes[:, rows.table.schema.index(self.column)] / max(last, 1))
        assert rows.score is not None
        values, width = rows.score.values, 2 * rows.score.half_range
        position = (values - rows.score.lowest) / width if width else np.zeros(len(values))
        return np.asarray(np.clip(position, 0, 1))
