"""By how much a group's recorded rate is below its true one: estimates, and what the study says of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta, binom, hypergeom

from benchmark.statistics.hidden_bias import read_once
from benchmark.statistics.intervals import CONFIDENCE

TOLD_FILE = Path(__file__).with_name("told.csv")
"""What knowledge of a bias is worth: the study's table, without rows before the study was run."""


class Estimate(NamedTuple):
    """A value, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class TrueGap:
    """What is known of a group's true rate of favorable labels."""

    recorded: float  # its recorded rate
    true: Estimate  # its true rate
    gap: Estimate  # true minus recorded rate

    @property
    def lost(self) -> Estimate:
        """The share of the true favorable labels that were turned; 0 where none were."""
        pairs = zip(self.gap, self.true, strict=True)
        return Estimate(*(max(gap, 0.0) / max(true, 1e-9) for gap, true in pairs))


def gap_from_refusals(rows: int, favorable: int, examined: int, wrong: int, errs: float = 0.0) -> TrueGap:
    """Return the gap of a group by refusals that were looked at again, drawn at random without replacement.

    The group has ``rows`` rows, ``favorable`` of them with the favorable label. Of the others, ``examined``
    were looked at again, and ``wrong`` found to be wrong. People err about a share ``errs`` of those, below
    one half, in both directions. Wrong acceptances and missing people are not seen.

    The interval inverts the exact distribution of ``wrong``: a hypergeometric number of wrong refusals, and
    binomial errors. So it holds the true gap of these rows with at least 95 %, and ends at 0 and at all
    refusals.
    """
    refused, found = rows - favorable, np.arange(examined + 1)
    # Chances of so many verdicts of "wrong", by the number of refusals that are wrong.
    right, mistaken = (np.asarray(binom.pmf(found, found[:, None], p)) for p in (1 - errs, errs))
    pairs = zip(right, mistaken[::-1], strict=True)
    verdicts = np.array([np.convolve(*pair)[: examined + 1] for pair in pairs])
    tail = (1 - CONFIDENCE) / 2

    def likely(chances: Any, all_wrong: int) -> bool:
        return bool(hypergeom.pmf(found, refused, all_wrong, examined) @ chances > tail)

    low = _first(0, refused, lambda n: likely(verdicts[:, wrong:].sum(axis=1), n))
    above = _first(low, refused + 1, lambda n: not likely(verdicts[:, : wrong + 1].sum(axis=1), n))
    high = max(above - 1, low)
    value = refused * (wrong / examined - errs) / (1 - 2 * errs)
    gap = Estimate(*(float(n) / rows for n in (np.clip(value, low, high), low, high)))
    return TrueGap(favorable / rows, Estimate(*(favorable / rows + own for own in gap)), gap)


def _first(low: int, high: int, holds: Any) -> int:
    """Return the first whole number from which on something holds; ``high`` if there is none."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def gap_from_rate(rows: int, favorable: int, true: float, people: int | None = None) -> TrueGap:
    """Return the gap of a group whose true rate is told, and whose ``rows`` are a sample of its people.

    The interval is Clopper and Pearson's of the recorded rate, as of so many ``people`` if some have several
    rows, whose labels may be the same.
    """
    tail, recorded, n = (1 - CONFIDENCE) / 2, favorable / rows, people or rows
    low = beta.ppf(tail, recorded * n, n - recorded * n + 1) if favorable else 0.0
    high = beta.ppf(1 - tail, recorded * n + 1, n - recorded * n) if favorable < rows else 1.0
    gap = Estimate(true - recorded, true - float(high), true - float(low))
    return TrueGap(recorded, Estimate(true, true, true), gap)


def study_of(fact: str, learner: str, gap: float, m: int = 0) -> Any:
    """Return what the study found where such a fact was told, a record of its table; None without a row.

    Of the measured gaps and numbers of people it has those nearest to ``gap`` and ``m``. Columns are as
    ``studies/told/findings.py`` declares them.
    """
    table = read_once(TOLD_FILE)
    rows = table[(table["learner"] == learner) & (table["fact"] == fact) & (table["dose"] > 0)]
    rows = rows[rows["factor"].isna() | (rows["factor"] == 1)]
    for column, value in (("dose", gap), ("m", m)):
        away = (rows[column].fillna(0) - value).abs()
        rows = rows[away == away.min()]
    return next(rows.itertuples(index=False), None)
