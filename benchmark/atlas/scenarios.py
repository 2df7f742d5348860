"""Scenarios of an atlas as arrays: what each technique is worth in each, on either half of the splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.file import Atlas
from benchmark.atlas.means import ALLOWED, BY_CHANCE, EVEN, ODD, VALUES
from benchmark.columns import EQUALISE, GOAL_METRICS, ORIGINAL, TRUTH, UNTREATED
from benchmark.statistics.answers import is_constant
from benchmark.statistics.cells import ROUNDING, Array, first_true
from benchmark.statistics.recommendation import EQUAL
from benchmark.statistics.restoration import HARDLY_MOVED, NO_REFERENCE, NOTHING_TO_UNDO

HALVES = (ODD, EVEN)

SCENARIO = ("dataset", "bias", "level", "classifier")
"""Columns that name a scenario. In rows with hidden bias, the hidden gap is the level."""

PEOPLE = ("given_back", BY_CHANCE, "in_their_place")
"""Shares of people that stand beside the values."""


@dataclass(frozen=True, eq=False)
class Scenarios:
    """Scenarios with the values of techniques for one goal; 0 is ideal.

    Arrays have shape (2, n_scenarios, n_techniques): the odd half of the splits, then the even half.
    """

    frame: pd.DataFrame  # a row each: SCENARIO, ``card``, ``cluster``, ``finer`` and ``left_out``
    techniques: tuple[str, ...]  # doing nothing comes first
    value: Array  # NaN where a technique was not run or failed
    allowed: NDArray[np.bool_]
    accuracy: Array
    people: Mapping[str, Array]  # shares of people, by columns of the table of means: :data:`PEOPLE`
    run: NDArray[np.bool_]  # (n_scenarios, n_techniques), whether the technique was tried there

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """Where a technique is allowed and has a value; elsewhere the value of doing nothing counts."""
        return self.allowed & np.isfinite(self.value)

    @cached_property
    def score(self) -> Array:
        """The values of choices: of doing nothing where a technique is not allowed or failed."""
        return np.where(self.counts, self.value, self.value[:, :, :1])

    @cached_property
    def gain(self) -> Array:
        """The mean improvement over doing nothing in both halves, shape (n_scenarios, n_techniques).

        NaN where a technique was not tried.
        """
        gain = (self.value[:, :, :1] - self.score).mean(axis=0)
        return np.where(self.run, gain, np.nan)

    def best(self, half: int) -> NDArray[np.intp]:
        """Return the technique of least value among the allowed ones in a half, shape (n_scenarios,).

        Of equal ones the most accurate is taken, and then the first.
        """
        score = np.where(self.run & self.counts[half], self.score[half], np.inf)
        least = score <= score.min(axis=1, keepdims=True) + EQUAL
        accuracy = np.nan_to_num(self.accuracy[half], nan=-1.0)
        return np.asarray(np.where(least, accuracy, -np.inf).argmax(axis=1))

    def by_other_half(self, chosen: NDArray[np.intp]) -> Array:
        """Return the scores of what each half chose, in the other half; shape (n_scenarios,), means of both.

        ``chosen`` has shape (2, n_scenarios).
        """
        rows = np.arange(chosen.shape[1])
        scores = [self.score[1 - half, rows, chosen[half]] for half in (0, 1)]
        return np.asarray(np.mean(scores, axis=0), dtype=float)

    @cached_property
    def choice_of_oracle(self) -> NDArray[np.intp]:
        """The best technique of each half, shape (2, n_scenarios)."""
        return np.array([self.best(half) for half in (0, 1)])

    def take(self, rows: NDArray[np.bool_]) -> Scenarios:
        """Return some of the scenarios."""
        return Scenarios(
            self.frame[rows].reset_index(drop=True),
            self.techniques,
            self.value[:, rows],
            self.allowed[:, rows],
            self.accuracy[:, rows],
            {name: share[:, rows] for name, share in self.people.items()},
            self.run[rows],
        )


def names_of(*tables: pd.DataFrame) -> tuple[str, ...]:
    """Return the techniques of some tables of means, doing nothing first."""
    names = {name for table in tables for name in table["technique"]}
    return (UNTREATED, *sorted(names - {UNTREATED}))


def scenarios_of(
    rows: pd.DataFrame, atlas: Atlas, goal: str, techniques: Sequence[str] | None = None
) -> Scenarios:
    """Return the scenarios of rows with planted bias; scenarios without a value are left out.

    ``rows`` are :attr:`~benchmark.atlas.tables.Tables.dose_rows`. ``techniques`` are those of the rows unless
    given.
    """
    techniques = names_of(rows) if techniques is None else techniques
    keys = list(SCENARIO)
    frame = rows[[*keys, "card"]].drop_duplicates(keys).sort_values(keys, ignore_index=True)
    index = pd.MultiIndex.from_frame(frame[keys])

    def array(column: str, half: str) -> Array:
        part = rows[rows["half"] == half].set_index([*keys, "technique"])[column].astype(float)
        return part.unstack("technique").reindex(index=index, columns=list(techniques)).to_numpy()

    value, allowed, accuracy, *people = (
        np.array([array(column, half) for half in HALVES])
        for column in (VALUES[goal], ALLOWED[goal], "accuracy", *PEOPLE)
    )
    frame["cluster"] = frame["card"].map(atlas.cluster_of)
    frame["finer"] = [atlas.cluster_of(card, finer=True) for card in frame["card"]]
    joined = {card for cards in atlas.finer.join.values() for card in cards}
    frame["left_out"] = frame["finer"].where(frame["card"].isin(joined), frame["cluster"])
    run = np.isfinite(allowed).any(axis=0)
    whole = Scenarios(
        frame, tuple(techniques), value, allowed == 1, accuracy, dict(zip(PEOPLE, people, strict=True)), run
    )
    return whole.take(np.isfinite(value[:, :, 0]).all(axis=0))


def hidden_scenarios_of(
    rows: pd.DataFrame, atlas: Atlas, goal: str, techniques: Sequence[str]
) -> tuple[Scenarios, Scenarios]:
    """Return scenarios with hidden bias, in truth and as their owner sees them after planting more on top.

    ``rows`` are :attr:`~benchmark.atlas.tables.Tables.hidden_rows`. In truth, techniques are trained on the
    rows with hidden bias alone. The apparent values are means over levels that were planted on top.
    """
    truth = rows[(rows["test"] == TRUTH) & (rows["level"] == 0)]
    apparent = rows[(rows["test"] == ORIGINAL) & (rows["level"] > 0)]
    columns = ["dataset", "card", "bias", "hidden", "classifier", "technique", "half"]
    means = dict.fromkeys([VALUES[goal], "accuracy", *PEOPLE], "mean")
    averaged = apparent.groupby(columns, sort=False).agg({**means, ALLOWED[goal]: "min"})
    in_truth, as_seen = (
        scenarios_of(part.assign(level=part["hidden"]), atlas, goal, techniques)
        for part in (truth, averaged.reset_index())
    )
    true_keys, seen_keys = (
        pd.MultiIndex.from_frame(part.frame[list(SCENARIO)]) for part in (in_truth, as_seen)
    )
    return in_truth.take(true_keys.isin(seen_keys)), as_seen.take(seen_keys.isin(true_keys))


def undo_reasons(scenarios: Scenarios, planted: pd.DataFrame, clean: pd.DataFrame) -> NDArray[np.object_]:
    """Return why there is nothing to restore in each scenario, as far as means tell; empty if there is.

    ``planted`` and ``clean`` are means with planted bias and without. Without bias, the untreated learner
    gives nearly everybody the same answer on average. Or the bias hardly moves its discrimination.
    """
    keys = [name for name in SCENARIO if name != "level"]
    columns = [GOAL_METRICS[EQUALISE], "accepted"]

    def untreated(rows: pd.DataFrame, where: list[str]) -> pd.DataFrame:
        rows = rows[rows["technique"] == UNTREATED]
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
