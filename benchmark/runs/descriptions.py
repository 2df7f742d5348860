"""What a run's manifest records of datasets, techniques and metrics, and what readers are told of it.

The results say *what came out*; these records say *of what*: which data stood behind a name, and under which
conditions the numbers hold. Their fields are those of ``manifest.json``; all else is a property.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, WrapSerializer

from benchmark.bias.doses import Dose
from benchmark.columns import OWN, UNTREATED
from benchmark.data import Table
from benchmark.data.card import Card, load_card
from benchmark.declarations import declaration_dir
from benchmark.errors import CardError, ReportError, UnknownNameError
from benchmark.statistics.answers import ConstantAnswer
from benchmark.statistics.cells import Baseline
from benchmark.text.embedded import NOT_REAL_LOUD, SAMPLED, titled

STAGES = {"pre": "Pre-processing", "in": "In-processing", "post": "Post-processing", "": "Techniques"}
"""Titles of the stages at which techniques act, in the order of training, and of an unknown one."""

_ARROW = " -> "


def with_names(records: Any) -> Any:
    """Return records that a file has by name as a list of records with names."""
    return [{"name": n, **record} for n, record in records.items()] if isinstance(records, dict) else records


def by_name(records: Sequence[Any], written: Callable[[Sequence[Any]], list[Any]]) -> dict[str, Any]:
    """Return records as a file has them: by name."""
    return dict(zip((record.name for record in records), written(records), strict=True))


def _as_edge(edge: Any) -> Any:
    return tuple(edge.split(_ARROW)) if isinstance(edge, str) else edge


NotWritten = Field(exclude=True)
"""Marks what a record has from elsewhere in the manifest."""

Edge = Annotated[tuple[str, str], BeforeValidator(_as_edge), PlainSerializer(_ARROW.join)]
"""Parent and child; in a file ``"parent -> child"``."""


@dataclass(frozen=True)
class TechniqueDescription:
    """A technique as it appears in a run: ``"repair_0.25"`` in the results, ``"Repair 0.25"`` for readers.

    ``technique`` is the registered one that ``name`` is a parametrization of, by default ``name`` itself; it
    decides which of the paper's tables show the technique. ``tuned`` says what its setting was chosen on, and
    ``sweep`` names the list of values that it is one of. ``refit`` says that it is a reference row, the
    untreated learner ``refit_of`` on a bootstrap of its clean or of its biased rows. All are empty of most.
    ``stage`` is a key of :data:`STAGES`: figures show the techniques of a stage together.
    """

    name: str
    title: str = ""
    technique: str = ""
    stage: str = ""
    tuned: str = ""
    sweep: str = ""
    refit: str = ""
    refit_of: str = ""
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.technique:
            object.__setattr__(self, "technique", self.name)


@dataclass(frozen=True)
class MetricDescription:
    """A metric as it appears in a run: ``"discrimination"`` in the results, ``"Discrimination"`` for readers.

    ``ideal`` is the best possible value, if there is one.
    """

    name: str
    title: str
    ideal: float | None = None

    @property
    def in_sentence(self) -> str:
        """See :func:`in_sentence`."""
        return in_sentence(self.title)


@dataclass(frozen=True)
class GroupSizes:
    """Number of test rows of the deprived and of the favored group with the favorable and the other label."""

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
    def best_constant(self) -> ConstantAnswer:
        """The best classifier that answers everybody the same."""
        return ConstantAnswer(
            favorable=self.deprived_favorable + self.favored_favorable,
            unfavorable=self.deprived_unfavorable + self.favored_unfavorable,
            groups=(
                self.deprived_favorable / self.deprived if self.deprived else math.nan,
                self.favored_favorable / self.favored if self.favored else math.nan,
            ),
        )


@dataclass(frozen=True)
class PlantedBias:
    """A way in which bias is planted in a dataset.

    ``description`` says what is planted in the dataset's network, in the words of its kind. ``edits`` are
    those of probabilities, ``acting`` those of them that have an effect. The discrimination is that between
    the labels that training rows are drawn with. ``hidden`` is what is planted first and then taken for the
    original.
    """

    name: Annotated[str, NotWritten]
    kind: str = ""
    description: str = ""
    edits: tuple[str, ...] = ()
    acting: tuple[str, ...] = ()
    network_discrimination_by_beta: dict[float, float] = field(default_factory=dict, hash=False)
    doses: tuple[Dose, ...] = ()
    hidden: Dose | None = None

    @property
    def sentence(self) -> str:
        """See :func:`bias_sentence`."""
        text = bias_sentence(self.name, self.description)
        return f"{text}; {self.solved}" if self.solved else text

    def highest(self, levels: Iterable[float]) -> float:
        """Return the highest of some levels; one that takes nearly all there is comes after lower ones."""
        levels = [*levels]
        extreme = {dose.dose for dose in self.doses if not dose.pooled}
        return max((level for level in levels if level > 0 and level not in extreme), default=max(levels))

    @property
    def betas(self) -> dict[float, float]:
        """The β of each dose that is reached."""
        return {dose.dose: dose.beta for dose in self.doses if dose.beta is not None}

    @property
    def solved(self) -> str:
        """The β of each dose, or how much is added at most; empty where levels of bias are β."""
        return "; ".join(
            f"dose {dose.dose:g} is β = {dose.beta:.3g}"
            if dose.beta is not None
            else f"dose {dose.dose:g} is out of reach, at most {dose.gap:.3f} is added"
            for dose in self.doses
            if dose.dose > 0
        )

    def added(self, level: float) -> float:
        """Return by how much a level of bias widens the label gap, in expectation; NaN if unknown."""
        of_doses = {dose.dose: dose.gap for dose in self.doses if dose.beta is not None}
        by_beta = self.network_discrimination_by_beta
        clean = by_beta.get(0.0, math.nan)
        return of_doses.get(level, math.nan) if self.doses else by_beta.get(level, math.nan) - clean

    @property
    def inert(self) -> bool:
        """Whether it does nothing but edit probabilities, and none that the label depends on."""
        return bool(self.edits and not self.acting) and "," not in self.kind


@dataclass(frozen=True)
class LearnedNetwork:
    """A dataset's learned network: its digest and edges, and those of them that the planted bias acts on."""

    digest: str = ""
    edges: tuple[Edge, ...] = ()
    free_parameters: int = 0
    edited_edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DatasetInExperiment:
    """What later steps read of a dataset's entry in the experiment.

    ``baseline`` is the technique whose rows are the paper's "no technique" (Tables 2 and 5), or
    :data:`~benchmark.columns.OWN`; ``baseline_reason`` says why it is not doing nothing, if the experiment
    does. ``folds`` are those of the dataset where they are not the experiment's.
    """

    card: str = ""
    name: str = ""
    baseline: str = UNTREATED
    baseline_reason: str = ""
    folds: int | None = None
    columns: dict[str, dict[str, Any]] = field(default_factory=dict, hash=False)
    sensitive: tuple[str, ...] = ()
    mitigate: str | None = None
    deprived_group: Any = field(default=None, hash=False)
    true_rates: dict[str, float] | None = field(default=None, hash=False)

    def find_card(self) -> Card | None:
        """Return the card with its columns as the experiment reads them, or None if it is not at hand."""
        shipped = declaration_dir("experiments") / self.card
        try:
            card = load_card(shipped if shipped.suffix == ".toml" and shipped.is_file() else self.card)
        except (UnknownNameError, CardError):
            return None  # a user's own card, which need not be where it was
        try:
            card = card.with_columns(self.columns)
            return card.with_groups(self.sensitive, self.mitigate, self.deprived_group)
        except (UnknownNameError, CardError):
            return card  # it has changed since, or columns with infinite bins, which JSON does not have


@dataclass(frozen=True, kw_only=True)
class DatasetDescription:
    """A dataset as it appears in a run.

    ``name`` is that in the results, ``title`` for readers, ``entry`` what the experiment says of it. The name
    of an embedded one, whose shipped network stood in for real data, says so (``"adult:embedded"``), because
    the CSV files carry nothing but the name. ``own_baselines`` says which entry each technique with a learner
    of its own is compared with, where the dataset's baseline is that learner. ``test_data`` is ``"real
    data"`` or ``"sample of the learned network"``. ``train_rows`` and ``test_rows`` are rows of each training
    sample and of the test data, ``test_groups`` and ``group_rows`` those of the latter by group and outcome,
    and by state of the sensitive feature. ``scored_favorable`` are shares of favorable labels in the test
    rows of each repetition, by level of bias, where these are splits, and ``biased_favorable`` those in test
    rows with planted bias, by name of the bias and level; None where they are unknown. ``hidden_favorable``
    are those of each test, by name of a bias that is also hidden. ``warning`` is a
    sentence: what readers must know before they trust a number. ``notes`` are what was noticed in the data,
    as sentences. The roles are those of :class:`benchmark.data.table.Schema`.

    An embedded dataset's name that hides that, an edge that names no column, and an edited edge that is no
    edge are ReportErrors.
    """

    name: Annotated[str, NotWritten]
    entry: Annotated[DatasetInExperiment, NotWritten] = DatasetInExperiment()
    own_baselines: Annotated[dict[str, str], NotWritten] = field(default_factory=dict, hash=False)
    title: str
    card: str = ""
    card_digest: str = ""
    test_data: str = ""
    embedded: bool
    test_digest: str = ""
    test_rows: int = 0
    test_groups: GroupSizes | None = None
    scored_favorable: dict[float, tuple[float, ...]] = field(default_factory=dict, hash=False)
    biased_favorable: dict[str, dict[float, tuple[float | None, ...]]] = field(
        default_factory=dict, hash=False
    )
    hidden_favorable: dict[str, dict[str, tuple[float | None, ...]]] = field(default_factory=dict, hash=False)
    train_rows: int = 0
    warning: str | None
    notes: tuple[str, ...] = ()
    network: LearnedNetwork = LearnedNetwork()
    bias: Annotated[tuple[PlantedBias, ...], BeforeValidator(with_names), WrapSerializer(by_name)] = ()
    sensitive_feature: str
    deprived_group: str
    label: str
    favorable_label: str
    columns: tuple[str, ...]
    group_rows: dict[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.embedded and "embedded" not in self.name:
            raise ReportError(
                "The name of an embedded dataset does not say that it is one",
                expected="a name that contains 'embedded', such as 'adult:embedded'",
                got=repr(self.name),
                remedy="give it such a name in the manifest and in the results",
            )
        edges, edited = self.network.edges, self.network.edited_edges
        nodes = dict.fromkeys(node for edge in edges for node in edge)
        if strangers := [node for node in nodes if node not in self.columns]:
            raise ReportError(
                f"The network of {self.name!r} has nodes that are not columns",
                expected="edges between " + ", ".join(self.columns),
                got=", ".join(strangers),
                remedy="run the experiment again: the network and the columns are not of one run",
            )
        if absent := [edge for edge in edited if edge not in edges]:
            raise ReportError(
                f"The planted bias of {self.name!r} acts on edges that its network does not have",
                expected="some of " + ", ".join(map(_ARROW.join, edges)),
                got=", ".join(map(_ARROW.join, absent)),
                remedy="run the experiment again: the network and the bias are not of one run",
            )

    def planted(self, bias: str) -> PlantedBias:
        """Return a bias by its name."""
        return next((own for own in self.bias if own.name == bias), PlantedBias(bias))

    @property
    def baseline(self) -> str:
        """What the experiment compares techniques with: an entry's name, or ``"own"``."""
        return self.entry.baseline

    def baseline_with(self, classifier: str) -> Baseline:
        """Return what techniques are compared with that were run with a classifier, or with their own."""
        if self.baseline != OWN:
            return self.baseline
        return self.own_baselines if classifier == OWN else UNTREATED

    @property
    def heading(self) -> str:
        """As every table, figure and page of the run calls it: ``"Adult (embedded)"``."""
        return titled(self.title, self.embedded)

    @property
    def provenance(self) -> str:
        """What the numbers were measured on, in the words that every table and figure shows."""
        if self.embedded:
            return f"{NOT_REAL_LOUD}: tested on a {SAMPLED}"
        return f"tested on {'a ' if self.test_data.startswith('sample') else ''}{self.test_data}"

    @property
    def bias_description(self) -> str:
        """The planted biases, as one sentence."""
        return "; ".join(bias.sentence for bias in self.bias if bias.description)

    @property
    def figure_notes(self) -> list[str]:
        """What figures say of it: the planted bias, and what readers must know."""
        return [self.bias_description, *([f"Warning: {self.warning}"] if self.warning else [])]

    @property
    def best_constant(self) -> ConstantAnswer | None:
        """The best classifier that answers everybody the same, where the test rows are counted."""
        if self.test_groups is None:
            return None
        biased = {
            (bias, beta): tuple(math.nan if share is None else share for share in shares)
            for bias, levels in self.biased_favorable.items()
            for beta, shares in levels.items()
        }
        hidden = {
            (bias, test): tuple(math.nan if share is None else share for share in shares)
            for bias, tests in self.hidden_favorable.items()
            for test, shares in tests.items()
        }
        return replace(
            self.test_groups.best_constant, scored=self.scored_favorable, biased=biased, hidden=hidden
        )

    @property
    def recorded_gap(self) -> float:
        """Share of favorable labels among the favored minus that of the deprived group, in all test rows."""
        if self.test_groups is None:
            return math.nan
        sizes = self.test_groups
        if not (sizes.deprived and sizes.favored):
            return math.nan
        return sizes.favored_favorable / sizes.favored - sizes.deprived_favorable / sizes.deprived

    @property
    def hidden_dose(self) -> float | None:
        """What the recorded label gap has more than the rates from outside; None where these are unknown."""
        rates = self.entry.true_rates
        if rates is None or self.embedded or math.isnan(self.recorded_gap):
            return None
        return self.recorded_gap - (rates["favored"] - rates["deprived"])

    @property
    def roles(self) -> str:
        """Who is deprived and which outcome is favorable, in words."""
        return (
            f"deprived: {self.sensitive_feature} = {self.deprived_group}; "
            f"favorable: {self.label} = {self.favorable_label}"
        )

    @property
    def inert_warnings(self) -> dict[str, str]:
        """By name of each bias without effect, the sentence that says so."""
        return {
            bias.name: f"bias {bias.name!r} edits nothing that the label depends on in the network, so β "
            "changes nothing there."
            for bias in self.bias
            if bias.inert
        }


def in_sentence(title: str) -> str:
    """Return a metric's title as it stands in a sentence: ``"accuracy"``, but ``"AUC gap"``."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def listed_betas(betas: Sequence[float]) -> str:
    """Return levels of bias as they stand in a sentence."""
    return ", ".join(f"{beta:g}" for beta in betas)


def bias_sentence(bias: str, description: str) -> str:
    """Say which bias is planted; ``description`` is that of its kind, in the dataset's network."""
    return f"Bias {bias!r}: {description}"
