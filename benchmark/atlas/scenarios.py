"""Scenarios of an atlas as arrays: what each technique is worth in each, on either half of the splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.file import Atlas
from benchmark.atlas.means import ALLOWED, EVEN, ODD, VALUES
from benchmark.columns import ORIGINAL, TRUTH, UNTREATED

HALVES = (ODD, EVEN)

SCENARIO = ("dataset", "bias", "level", "classifier")
"""Columns that name a scenario. In rows with hidden bias, the hidden gap is the level."""

Array = NDArray[np.float64]


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
    run: NDArray[np.bool_]  # (n_scenarios, n_techniques), whether the technique was tried there

    @cached_property
    def score(self) -> Array:
        """The values of choices: of doing nothing where a technique is not allowed or failed."""
        useful = self.allowed & np.isfinite(self.value)
        return np.where(useful, self.value, self.value[:, :, :1])

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
        score = np.where(self.run, self.score[half], np.inf)
        least = score <= score.min(axis=1, keepdims=True) + _EQUAL
        accuracy = np.nan_to_num(self.accuracy[half], nan=-1.0)
        return np.asarray(np.where(least, accuracy, -np.inf).argmax(axis=1))

    def like(self, other: Scenarios) -> Scenarios:
        """Return the scenarios with the techniques of another set, in its order."""
        names = {name: i for i, name in enumerate(self.techniques)}
        position = [names.get(name, 0) for name in other.techniques]
        present = np.array([name in names for name in other.techniques])
        return Scenarios(
            self.frame,
            other.techniques,
            np.where(present, self.value[..., position], np.nan),
            self.allowed[..., position] & present,
            np.where(present, self.accuracy[..., position], np.nan),
            self.run[..., position] & present,
        )

    def take(self, rows: NDArray[np.bool_]) -> Scenarios:
        """Return some of the scenarios."""
        return Scenarios(
            self.frame[rows].reset_index(drop=True),
            self.techniques,
            self.value[:, rows],
            self.allowed[:, rows],
            self.accuracy[:, rows],
            self.run[rows],
        )


_EQUAL = 1e-9


def scenarios_of(means: pd.DataFrame, atlas: Atlas, goal: str) -> Scenarios:
    """Return the scenarios with planted doses, on the original test; scenarios without a value are left out.

    ``means`` has the rows of the parts to take. Levels that are not pooled are left out.
    """
    rows = means[
        (means["unit"] == "dose")
        & (means["level"] > 0)
        & (means["pooled"] == 1)
        & (means["test"] == ORIGINAL)
        & (means["hidden"] == 0)
    ]
    return _arrays(rows, atlas, goal, _names(means))


def hidden_scenarios_of(means: pd.DataFrame, atlas: Atlas, goal: str) -> tuple[Scenarios, Scenarios]:
    """Return scenarios with hidden bias, in truth and as their owner sees them after planting doses on top.

    ``means`` has the rows of the parts with hidden bias. In truth, techniques are trained on the rows with
    hidden bias alone. The apparent values are means over the doses that were planted on top.
    """
    names = _names(means)
    hidden = means[(means["hidden"] > 0) & (means["pooled"] == 1)]
    truth = hidden[(hidden["test"] == TRUTH) & (hidden["level"] == 0)]
    apparent = hidden[(hidden["test"] == ORIGINAL) & (hidden["level"] > 0)]
    columns = ["dataset", "card", "bias", "hidden", "classifier", "technique", "half"]
    numbers = [VALUES[goal], "accuracy", ALLOWED[goal]]
    averaged = apparent.groupby(columns, sort=False)[numbers].agg(
        {VALUES[goal]: "mean", "accuracy": "mean", ALLOWED[goal]: "min"}
    )
    in_truth, as_seen = (
        _arrays(rows.assign(level=rows["hidden"]), atlas, goal, names)
        for rows in (truth, averaged.reset_index())
    )
    true_keys, seen_keys = (
        pd.MultiIndex.from_frame(part.frame[list(SCENARIO)]) for part in (in_truth, as_seen)
    )
    return in_truth.take(true_keys.isin(seen_keys)), as_seen.take(seen_keys.isin(true_keys))


def _names(means: pd.DataFrame) -> tuple[str, ...]:
    names = list(dict.fromkeys(means["technique"]))
    return (UNTREATED, *sorted(name for name in names if name != UNTREATED))


def _arrays(rows: pd.DataFrame, atlas: Atlas, goal: str, techniques: Sequence[str]) -> Scenarios:
    keys = list(SCENARIO)
    frame = rows[[*keys, "card"]].drop_duplicates(keys).sort_values(keys, ignore_index=True)
    index = pd.MultiIndex.from_frame(frame[keys])

    def array(column: str, half: str) -> Array:
        part = rows[rows["half"] == half].set_index([*keys, "technique"])[column].astype(float)
        return part.unstack("technique").reindex(index=index, columns=list(techniques)).to_numpy()

    value, allowed, accuracy = (
        np.array([array(column, half) for half in HALVES])
        for column in (VALUES[goal], ALLOWED[goal], "accuracy")
    )
    frame["cluster"] = frame["card"].map(atlas.cluster_of)
    frame["finer"] = [atlas.cluster_of(card, finer=True) for card in frame["card"]]
    joined = {card for cards in atlas.finer.join.values() for card in cards}
    frame["left_out"] = frame["finer"].where(frame["card"].isin(joined), frame["cluster"])
    run = np.isfinite(allowed).any(axis=0)
    whole = Scenarios(frame, tuple(techniques), value, allowed == 1, accuracy, run)
    return whole.take(np.isfinite(value[:, :, 0]).all(axis=0))
