"""Techniques as one would write them down with pandas: simple, correct, and nothing done for speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmark.data.table import Schema

__all__ = [
    "Roles",
    "massaging",
    "preferential_sampling",
    "repair",
    "reweighing",
    "scores",
    "uniform_sampling",
]


@dataclass(frozen=True)
class Roles:
    """Which column of a frame is what."""

    label: str
    favorable: str
    unfavorable: str
    sensitive: str
    deprived: str

    @classmethod
    def of(cls, schema: Schema) -> Roles:
        """Return the roles of a schema."""
        states = schema.column(schema.label).states
        other = states[1 - schema.favorable_code]
        return cls(
            schema.label, schema.favorable_label, other, schema.sensitive_feature, schema.deprived_group
        )

    def masks(self, frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
        """Return which rows are of the deprived group, and which have the favorable label."""
        return frame[self.sensitive] == self.deprived, frame[self.label] == self.favorable


def scores(frame: pd.DataFrame, roles: Roles) -> np.ndarray:
    """Return P(y+ | x) of each row by naive Bayes trained on the same rows."""
    from sklearn.naive_bayes import CategoricalNB

    columns = frame.columns.drop(roles.label)
    X = frame[columns].apply(lambda column: column.cat.codes)
    sizes = [len(frame[name].cat.categories) for name in columns]
    _, favorable = roles.masks(frame)
    return CategoricalNB(min_categories=sizes).fit(X, favorable).predict_proba(X)[:, 1]


def reweighing(frame: pd.DataFrame, roles: Roles) -> pd.Series:
    """Return each row's weight: expected size of its cell of group and label over the observed size."""
    deprived, favorable = roles.masks(frame)
    by_group = favorable.groupby(deprived).transform("size")
    by_label = favorable.groupby(favorable).transform("size")
    by_cell = favorable.groupby([deprived, favorable]).transform("size")
    return by_group * by_label / len(frame) / by_cell


def massaging(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Promote the most promising deprived rows, demote as many of the least promising favored ones."""
    deprived, favorable = roles.masks(frame)
    score = pd.Series(scores(frame, roles), frame.index)
    wanted = deprived.sum() * favorable.sum() / len(frame)
    swaps = round(wanted - (deprived & favorable).sum())
    gains = deprived if swaps > 0 else ~deprived
    promoted = score[gains & ~favorable].sort_values(ascending=False, kind="stable").index[: abs(swaps)]
    demoted = score[~gains & favorable].sort_values(kind="stable").index[: abs(swaps)]
    changed = frame.copy()
    changed.loc[promoted, roles.label] = roles.favorable
    changed.loc[demoted, roles.label] = roles.unfavorable
    return changed


def uniform_sampling(frame: pd.DataFrame, roles: Roles, seed: int) -> pd.DataFrame:
    """Copy and leave out random rows until label and group are independent."""
    return _resampled(frame, roles, lambda cell, size, _: cell.sample(size, random_state=seed))


def preferential_sampling(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Copy and leave out the rows nearest to the boundary until label and group are independent."""
    score = pd.Series(scores(frame, roles), frame.index)

    def pick(cell: pd.DataFrame, size: int, grows: bool) -> pd.DataFrame:
        ascending = cell[roles.label].iloc[0] == roles.favorable  # nearest to the boundary first
        own = score[cell.index]
        order = (own if ascending else -own).sort_values(kind="stable").index
        return cell.loc[order[:size] if grows else order[len(order) - size :]]

    return _resampled(frame, roles, pick)


def _resampled(
    frame: pd.DataFrame, roles: Roles, pick: Callable[[pd.DataFrame, int, bool], pd.DataFrame]
) -> pd.DataFrame:
    deprived, favorable = roles.masks(frame)
    parts = []
    for _, cell in frame.groupby([deprived, favorable]):
        d, y = (mask[cell.index[0]] for mask in (deprived, favorable))
        wanted = round((deprived == d).sum() * (favorable == y).sum() / len(frame))
        copies, rest = divmod(wanted, len(cell))
        parts += [cell] * copies + [pick(cell, rest, copies > 0)]
    return pd.concat(parts).sort_index()


def repair(frame: pd.DataFrame, roles: Roles, level: float, seed: int) -> pd.DataFrame:
    """Bring the groups' shares of every category toward their median; what is too much is redrawn."""
    rng = np.random.default_rng(seed)
    repaired = frame.copy()
    for column in frame:
        shares = pd.crosstab(frame[roles.sensitive], frame[column], normalize="index")
        median = shares.median() / shares.median().sum()
        for group, own in shares.iterrows():
            members = frame.index[frame[roles.sensitive] == group]
            wanted = (((1 - level) * own + level * median) * len(members)).astype(int)
            kept = frame.loc[members].groupby(column, observed=False).cumcount() >= frame.loc[
                members, column
            ].map(wanted).astype(int)
            leaving = members[kept]
            lacking = (wanted - frame.loc[members, column].value_counts()).fillna(0).clip(lower=0)
            if len(leaving) and lacking.sum():
                drawn: Any = rng.choice(lacking.index, len(leaving), p=lacking / lacking.sum())
                repaired.loc[leaving, column] = drawn
    return repaired
