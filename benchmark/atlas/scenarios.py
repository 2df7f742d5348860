"""Scenarios of an atlas as arrays: what each technique is worth in each, on either half of the splits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.means import EVEN, ODD, REASON, VALUES
from benchmark.columns import BLIND, UNTREATED
from benchmark.statistics.answers import is_constant
from benchmark.statistics.cells import ROUNDING, Array, first_true
from benchmark.statistics.recommendation import EQUAL
from benchmark.statistics.restoration import AGREEMENT, HARDLY_MOVED, NO_REFERENCE, NOTHING_TO_UNDO

HALVES = (ODD, EVEN)

SCENARIO = ("dataset", "bias", "level", "classifier")
"""Columns that name a scenario."""


@dataclass(frozen=True, eq=False)
class Scenarios:
    """Scenarios with the values of techniques for one goal; 0 is ideal.

    Arrays have shape (2, n_scenarios, n_techniques): the odd half of the splits, then the even half.
    """

    frame: pd.DataFrame  # a row each: SCENARIO, ``card`` and ``cluster``
    techniques: tuple[str, ...]  # doing nothing comes first
    knows: tuple[str, ...]  # the state of knowledge of each technique
    value: Array  # NaN where a technique was not run or failed
    allowed: NDArray[np.bool_]
    accuracy: Array
    agreement: Array  # share of people with the clean model's decision
    run: NDArray[np.bool_]  # (n_scenarios, n_techniques), whether the technique was tried there

    def knowing(self, state: str = BLIND) -> NDArray[np.bool_]:
        """Return which techniques have a state of knowledge, shape (n_techniques,)."""
        return np.array([own == state for own in self.knows], dtype=bool)

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """Where a technique is allowed and has a value; elsewhere the value of doing nothing counts."""
        return self.allowed & np.isfinite(self.value)

    @cached_property
    def score(self) -> Array:
        """The values of choices: of doing nothing where a technique is not allowed or failed."""
        return np.where(self.counts, self.value, self.value[:, :, :1])

    @cached_property
    def agreed(self) -> Array:
        """The agreement of choices: of doing nothing where a technique is not allowed or failed."""
        return np.where(self.counts, self.agreement, self.agreement[:, :, :1])

    @cached_property
    def gain(self) -> Array:
        """The mean improvement over doing nothing in both halves, shape (n_scenarios, n_techniques).

        NaN where a technique was not tried.
        """
        gain = (self.value[:, :, :1] - self.score).mean(axis=0)
        return np.where(self.run, gain, np.nan)

    def best(self, half: int) -> NDArray[np.intp]:
        """Return the technique of least value in a half, shape (n_scenarios,).

        It is one of those that are allowed and know nothing. Of equal ones the most accurate is taken, and
        then the first.
        """
        score = np.where(self.run & self.counts[half] & self.knowing(), self.score[half], np.inf)
        least = score <= score.min(axis=1, keepdims=True) + EQUAL
        accuracy = np.nan_to_num(self.accuracy[half], nan=-1.0)
        return np.asarray(np.where(least, accuracy, -np.inf).argmax(axis=1))

    def by_other_half(self, scores: Array) -> Array:
        """Return :attr:`score` or :attr:`agreed` of what each half chose, in the other; means of both."""
        rows, chosen = np.arange(len(self.frame)), self.choice_of_oracle
        return np.asarray(np.mean([scores[1 - half, rows, chosen[half]] for half in (0, 1)], axis=0))

    @cached_property
    def choice_of_oracle(self) -> NDArray[np.intp]:
        """The best technique of each half, shape (2, n_scenarios)."""
        return np.array([self.best(half) for half in (0, 1)])

    def take(self, rows: NDArray[np.bool_]) -> Scenarios:
        """Return some of the scenarios."""
        arrays = {
            name: getattr(self, name)[:, rows] for name in ("value", "allowed", "accuracy", "agreement")
        }
        return replace(self, frame=self.frame[rows].reset_index(drop=True), run=self.run[rows], **arrays)


def scenarios_of(rows: pd.DataFrame, goal: str) -> Scenarios:
    """Return the scenarios of rows with planted bias; scenarios without a value are left out.

    ``rows`` are :attr:`~benchmark.atlas.tables.Tables.dose_rows`.
    """
    knows = {UNTREATED: BLIND, **dict(zip(rows["technique"], rows["knows"], strict=True))}
    techniques = (UNTREATED, *sorted(knows.keys() - {UNTREATED}))
    keys = list(SCENARIO)
    frame = rows[[*keys, "card", "cluster"]].drop_duplicates(keys).sort_values(keys, ignore_index=True)
    index = pd.MultiIndex.from_frame(frame[keys])
    rows = rows.assign(allowed=rows[REASON[goal]] == "")

    def array(column: str, half: str) -> Array:
        part = rows[rows["half"] == half].set_index([*keys, "technique"])[column].astype(float)
        return part.unstack("technique").reindex(index=index, columns=list(techniques)).to_numpy()

    value, allowed, accuracy, agreement = (
        np.array([array(column, half) for half in HALVES])
        for column in (VALUES[goal], "allowed", "accuracy", AGREEMENT)
    )
    run, states = np.isfinite(allowed).any(axis=0), tuple(knows[name] for name in techniques)
    whole = Scenarios(frame, techniques, states, value, allowed == 1, accuracy, agreement, run)
    return whole.take(np.isfinite(value[:, :, 0]).all(axis=0))


def undo_reasons(scenarios: Scenarios, planted: pd.DataFrame, clean: pd.DataFrame) -> NDArray[np.object_]:
    """Return why there is nothing to restore in each scenario, as far as means tell; empty if there is.

    ``planted`` and ``clean`` are means with planted bias and without. Without bias, the untreated learner
    gives nearly everybody the same answer on average. Or the bias hardly moves its discrimination.
    """
    keys = [name for name in SCENARIO if name != "level"]
    columns = ["gap", "accepted"]

    def untreated(rows: pd.DataFrame, where: list[str]) -> pd.DataFrame:
        rows = rows[rows["technique"] == UNTREATED]
        rows = rows.assign(gap=rows["accepted_favored"] - rows["accepted_deprived"])
        sums = (
            rows[columns].mul(rows["n"], axis=0).assign(n=rows["n"]).groupby([rows[k] for k in where]).sum()
        )
        return sums[columns].div(sums["n"], axis=0).reindex(pd.MultiIndex.from_frame(scenarios.frame[where]))

    biased, before = untreated(planted, list(SCENARIO)), untreated(clean, keys)
    moved = np.abs(biased[columns[0]].to_numpy() - before[columns[0]].to_numpy())
    reasons = {
        NO_REFERENCE: is_constant(before["accepted"].to_numpy()),
        NOTHING_TO_UNDO: moved < HARDLY_MOVED * (1 - ROUNDING),
    }
    return np.asarray(first_true(reasons), dtype=object)
