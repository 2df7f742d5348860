"""Wrong labels: turned in a group, turned whichever they are, or cut anew from a wrong number behind them."""

import numpy as np

from benchmark.bias.base import AKPINAR, LEGAST, BiasKind, Chances, Rows, by_label, lacking, register
from benchmark.bias.parameters import ALL, DEPRIVED, Group, Level, Rate
from benchmark.data.table import Schema


@register
class LabelBias(BiasKind):
    """Turn labels of a group, favorable and unfavorable ones each with a probability of its own.

    All features stay as they were, including features that depend on the outcome. Here the label alone is
    wrong; with ``cpt`` those features follow the changed outcome.
    """

    name = "label"
    summary = "favorable labels of the deprived group turned unfavorable with probability β"
    reference = f"{AKPINAR}; Blum and Stangl (2020), Recovering from biased data, FORC: labeling bias"
    version = "1"

    rate: Rate = Rate("beta")  # probability that a favorable label becomes unfavorable
    rate_unfavorable: Rate = Rate(0)  # probability that an unfavorable label becomes favorable
    group: Group = DEPRIVED  # the people whose labels are turned

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return both rates for the group's rows."""
        members = self.group.members(rows.table)
        turned = by_label(members, favorable=self.rate.at(beta), unfavorable=self.rate_unfavorable.at(beta))
        return Chances(turned=turned)


@register
class LabelNoise(BiasKind):
    """Turn labels with the same probability, whichever they are."""

    name = "label_noise"
    summary = "labels turned with probability β/2, whichever they are"
    reference = AKPINAR
    version = "1"

    # Probability that a label is turned; at one half labels carry no information.
    rate: Rate = Rate("0.5 * beta")
    group: Group = ALL  # the people whose labels are turned

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return one rate for both labels of the group's rows."""
        rate = self.rate.at(beta)
        return Chances(turned=by_label(self.group.members(rows.table), favorable=rate, unfavorable=rate))


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
    reference = f"{LEGAST}: label bias"
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
