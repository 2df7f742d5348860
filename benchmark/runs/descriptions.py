"""Records of datasets and metrics in a run: fields of ``manifest.json``, and words for readers.

The results say *what came out*. These records say which data stood behind a name, and under which conditions
the numbers hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Annotated, Any, TypeAlias, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, WrapSerializer

from benchmark.bias.doses import Dose
from benchmark.columns import UNTREATED
from benchmark.data import Table
from benchmark.data.card import Card, load_card
from benchmark.declarations import declaration_dir
from benchmark.errors import CardError, UnknownNameError
from benchmark.statistics.answers import ConstantAnswer

STAGES = {"pre": "Pre-processing", "in": "In-processing", "post": "Post-processing", "": "Techniques"}
"""Titles of the stages at which techniques act, in the order of training, and of an unknown stage."""

_ARROW = " -> "
_At = TypeVar("_At")


def _with_names(records: Any) -> Any:
    return [{"name": n, **record} for n, record in records.items()] if isinstance(records, dict) else records


def _by_name(records: Sequence[Any], written: Callable[[Sequence[Any]], list[Any]]) -> dict[str, Any]:
    return dict(zip((record.name for record in records), written(records), strict=True))


def _as_edge(edge: Any) -> Any:
    return tuple(edge.split(_ARROW)) if isinstance(edge, str) else edge


_Record = TypeVar("_Record")
ByName: TypeAlias = Annotated[tuple[_Record, ...], BeforeValidator(_with_names), WrapSerializer(_by_name)]
"""Records with names; in a file by name."""

_NotWritten = Field(exclude=True)  # of a field that comes from elsewhere in the manifest

Edge = Annotated[tuple[str, str], BeforeValidator(_as_edge), PlainSerializer(_ARROW.join)]
"""Parent and child; in a file ``"parent -> child"``."""


@dataclass(frozen=True)
class MetricDescription:
    """A metric in a run: ``"discrimination"`` in the results, ``"Discrimination"`` for readers."""

    name: str
    title: str
    ideal: float | None = None  # the best possible value, if there is one


@dataclass(frozen=True)
class GroupSizes:
    """Number of test rows of each group with the favorable and with the other label."""

    deprived_favorable: int
    deprived_unfavorable: int
    favored_favorable: int
    favored_unfavorable: int

    @classmethod
    def of(cls, test: Table) -> GroupSizes:
        """Count the rows of test data."""
        groups, outcomes = (test.deprived, ~test.deprived), (test.y, ~test.y)
        return cls(*(int(np.sum(group & outcome)) for group, outcome in product(groups, outcomes)))

    @property
    def deprived(self) -> int:
        """Size of the deprived group, in rows."""
        return self.deprived_favorable + self.deprived_unfavorable

    @property
    def favored(self) -> int:
        """Size of the favored group, in rows."""
        return self.favored_favorable + self.favored_unfavorable

    @property
    def favorable_shares(self) -> tuple[float, float]:
        """Shares of favorable labels in the deprived and in the favored group; NaN for an empty group."""
        return (
            self.deprived_favorable / self.deprived if self.deprived else math.nan,
            self.favored_favorable / self.favored if self.favored else math.nan,
        )


@dataclass(frozen=True)
class PlantedBias:
    """A way in which bias is planted in a dataset."""

    name: Annotated[str, _NotWritten]
    kind: str = ""
    description: str = ""  # of the planted bias in the dataset's network, in words
    edits: tuple[str, ...] = ()  # edits of probabilities
    acting: tuple[str, ...] = ()  # those edits that have an effect
    # Between the labels that training rows are drawn with.
    network_discrimination_by_beta: dict[float, float] = field(default_factory=dict, hash=False)
    doses: tuple[Dose, ...] = ()
    hidden: Dose | None = None  # planted first, and then taken for the original

    def dose(self, level: float) -> Dose | None:
        """Return the planted dose at a level of bias; None if levels are β."""
        return next((dose for dose in self.doses if dose.dose == level), None)

    def pooled(self, level: float) -> bool:
        """Return whether results at a level are pooled with other datasets', with the gap that is hidden."""
        return all(gap is None or gap.pooled for gap in (self.dose(level), self.hidden))

    def highest(self, levels: Iterable[float]) -> float:
        """Return the highest of some levels; a dose that takes nearly all there is comes last."""
        levels = [*levels]
        planted = [(level, self.dose(level)) for level in levels if level > 0]
        return max((level for level, dose in planted if dose is None or dose.pooled), default=max(levels))

    def added(self, level: float) -> float:
        """Return the label gap that a level of bias adds, in expectation; NaN if unknown."""
        if self.doses:
            dose = self.dose(level)
            return math.nan if dose is None or dose.beta is None else dose.gap
        by_beta = self.network_discrimination_by_beta
        return by_beta.get(level, math.nan) - by_beta.get(0.0, math.nan)

    @property
    def inert(self) -> bool:
        """Whether it only edits probabilities, and none that the label depends on."""
        return bool(self.edits and not self.acting) and "," not in self.kind


@dataclass(frozen=True)
class LearnedNetwork:
    """A dataset's learned network; without a digest if none was learned, because real rows are trained on."""

    digest: str = ""
    edges: tuple[Edge, ...] = ()
    edited_edges: tuple[Edge, ...] = ()  # edges that the planted bias acts on


@dataclass(frozen=True, kw_only=True)
class DatasetInExperiment:
    """A dataset's entry in the experiment, as far as later steps read it."""

    card: str = ""
    name: str = ""
    # The technique with the rows of the paper's "no technique" (Tables 2 and 5).
    baseline: str = UNTREATED
    folds: int | None = None  # where it differs from the experiment's
    columns: dict[str, dict[str, Any]] = field(default_factory=dict, hash=False)
    sensitive: tuple[str, ...] = ()
    mitigate: str | None = None
    deprived_group: Any = field(default=None, hash=False)
    true_rates: dict[str, float] | None = field(default=None, hash=False)
    accept: float | None = None  # share of test rows that each technique accepts, if it is given

    def find_card(self) -> Card | None:
        """Return the card with its columns as the experiment reads them, or None if it cannot be found."""
        shipped = declaration_dir("experiments") / self.card
        try:
            card = load_card(shipped if shipped.suffix == ".toml" and shipped.is_file() else self.card)
        except (UnknownNameError, CardError):
            return None  # a user's own card, which need not be where it was
        try:
            card = card.with_columns(self.columns)
            return card.with_groups(self.sensitive, self.mitigate, self.deprived_group)
        except (UnknownNameError, CardError):
            # The card has changed since, or columns have infinite bins, which JSON cannot hold.
            return card


@dataclass(frozen=True, kw_only=True)
class DatasetDescription:
    """A dataset in a run.

    If its shipped network stood in for real data, the name says so (``"adult:embedded"``), because the CSV
    files carry nothing but the name. The roles are those of :class:`benchmark.data.table.Schema`.
    """

    name: Annotated[str, _NotWritten]  # in the results
    entry: Annotated[DatasetInExperiment, _NotWritten] = DatasetInExperiment()
    title: str  # for readers
    card: str = ""
    card_digest: str = ""
    test_data: str = ""  # "real data" or "sample of the learned network"
    embedded: bool
    test_digest: str = ""
    test_rows: int = 0
    test_groups: GroupSizes | None = None
    # Shares of favorable labels in the test rows of each repetition; None where they are unknown. The first
    # are by level of bias, where repetitions are splits. The second, with planted bias, are by name of the
    # bias and level. The third are by name of a hidden bias and test.
    scored_favorable: dict[float, tuple[float, ...]] = field(default_factory=dict, hash=False)
    biased_favorable: dict[str, dict[float, tuple[float | None, ...]]] = field(
        default_factory=dict, hash=False
    )
    hidden_favorable: dict[str, dict[str, tuple[float | None, ...]]] = field(default_factory=dict, hash=False)
    train_rows: int = 0  # of each training sample
    warning: str | None  # a sentence that readers must know before they trust a number
    notes: tuple[str, ...] = ()  # sentences on the data
    network: LearnedNetwork = LearnedNetwork()
    bias: ByName[PlantedBias] = ()
    sensitive_feature: str
    deprived_group: str
    label: str
    favorable_label: str
    columns: tuple[str, ...]
    group_rows: dict[str, int] = field(default_factory=dict, hash=False)  # test rows by state

    def planted(self, bias: str) -> PlantedBias:
        """Return the bias of that name."""
        return next((planted for planted in self.bias if planted.name == bias), PlantedBias(bias))

    @property
    def baseline(self) -> str:
        """The entry that the experiment compares techniques with."""
        return self.entry.baseline

    @property
    def heading(self) -> str:
        """The title in every table, figure and page of the run: ``"Adult (embedded)"``."""
        return f"{self.title} (embedded)" if self.embedded else self.title

    @property
    def best_constant(self) -> ConstantAnswer | None:
        """The best constant answer on the original test rows; None if the rows are not counted."""
        if self.test_groups is None:
            return None
        sizes = self.test_groups
        favorable = sizes.deprived_favorable + sizes.favored_favorable
        return ConstantAnswer(
            favorable / (sizes.deprived + sizes.favored),
            scored=self.scored_favorable,
            biased=_by_place(self.biased_favorable),
            hidden=_by_place(self.hidden_favorable),
            groups=sizes.favorable_shares,
            accept=self.entry.accept,
        )

    @property
    def recorded_gap(self) -> float:
        """Share of favorable labels of the favored group minus the deprived group's, in all test rows."""
        if self.test_groups is None:
            return math.nan
        deprived, favored = self.test_groups.favorable_shares
        return favored - deprived

    @property
    def hidden_dose(self) -> float | None:
        """The recorded label gap minus the gap in rates from outside; None where these are unknown."""
        rates = self.entry.true_rates
        if rates is None or self.embedded or math.isnan(self.recorded_gap):
            return None
        return self.recorded_gap - (rates["favored"] - rates["deprived"])


def _by_place(
    shares: Mapping[str, Mapping[_At, Sequence[float | None]]],
) -> dict[tuple[str, _At], tuple[float, ...]]:
    """Return shares by bias, and by level or test, with NaN where they are unknown."""
    return {
        (bias, at): tuple(math.nan if share is None else share for share in each)
        for bias, of_bias in shares.items()
        for at, each in of_bias.items()
    }
