"""What a report has to know about a run beyond its numbers.

The results say *what came out*; these descriptions say *of what*: which data stood behind a name, in which
order things are to be shown, and under which conditions the numbers hold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pandas as pd

from benchmark.columns import BALANCED, BIASED, ORIGINAL, OWN, TEST_TITLES, UNTREATED
from benchmark.data import Table
from benchmark.errors import ReportError
from benchmark.experiment.entries import NOBODY_HAS, PublishedEntry
from benchmark.statistics.answers import ConstantAnswer
from benchmark.statistics.frames import Baseline, Baselines, Resampling, baseline_names
from benchmark.text.embedded import NOT_REAL_LOUD, SAMPLED, titled
from benchmark.text.words import file_name

STAGES = {"pre": "Pre-processing", "in": "In-processing", "post": "Post-processing", "": "Techniques"}
"""Titles of the stages at which techniques act, in the order of training, and of an unknown one."""

_TESTS: dict[str, str] = {
    ORIGINAL: "test rows without planted bias",
    BIASED: "test rows with the planted bias of their β",
    BALANCED: "the original test rows, weighted so that each outcome of each group has the same total weight",
}

SHOWN_PACKAGES = ("betabench", "python", "numpy", "scikit-learn")
"""Packages whose versions tables name."""


@dataclass(frozen=True)
class TechniqueDescription:
    """A technique as it appears in a run: ``"repair_0.25"`` in the results, ``"Repair 0.25"`` for readers.

    ``method`` is the registered technique that ``name`` is a parametrization of, by default ``name`` itself;
    it decides which of the paper's tables show the technique. ``stage`` is a key of :data:`STAGES`: figures
    show the techniques of a stage together. ``tuned`` says what its setting was chosen on, and ``sweep``
    names the list of values that it is one of; both are empty of most.
    """

    name: str
    title: str
    method: str = ""
    stage: str = ""
    tuned: str = ""
    sweep: str = ""

    def __post_init__(self) -> None:
        if not self.method:
            object.__setattr__(self, "method", self.name)


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
    """A way in which bias is planted in a dataset; what the manifest does not say is empty.

    ``description`` says what is planted in the dataset's network, in the words of its kind. ``edits`` are
    those of probabilities, ``acting`` those of them that have an effect. ``discrimination`` are levels of
    bias, each with the discrimination between the labels that training rows are drawn with.
    """

    name: str
    description: str = ""
    kind: str = ""
    edits: tuple[str, ...] = ()
    acting: tuple[str, ...] = ()
    discrimination: tuple[tuple[float, float], ...] = ()

    @property
    def sentence(self) -> str:
        """See :func:`bias_sentence`."""
        return bias_sentence(self.name, self.description)

    @property
    def inert(self) -> bool:
        """Whether it does nothing but edit probabilities, and none that the label depends on."""
        return bool(self.edits and not self.acting) and "," not in self.kind


@dataclass(frozen=True, kw_only=True)
class DatasetDescription:
    """A dataset as it appears in a run; what a manifest of an earlier version does not say is empty.

    ``name`` is that in the results, ``title`` for readers, ``entry`` that in the experiment. The name of an
    embedded one, whose shipped network stood in for real data, says so (``"adult:embedded"``), because the
    CSV files carry nothing but the name. ``warning`` is a sentence: what readers must know before they trust
    a number. ``baseline`` is the technique whose rows are the paper's "no technique" (Tables 2 and 5), or
    :data:`~benchmark.columns.OWN`, ``own_baselines`` has then that of each technique with its own learner;
    ``baseline_reason`` says why it is not doing nothing, if the experiment does.
    ``test_data`` is ``"real data"`` or ``"sample of the learned network"``, ``digest`` its SHA-256.
    ``n_train`` and ``n_test`` are rows of each training sample and of the test data, ``folds`` the number of
    its folds where that is not the experiment's, ``group_sizes`` and
    ``group_rows`` those of the latter by group and outcome, and by state of the sensitive feature;
    ``scored_favorable`` are shares of favorable labels in the test rows of each repetition, by level of bias,
    where these are splits, and ``biased_favorable`` those in test rows with planted bias, by name of the bias
    and level. The roles are those of :class:`benchmark.data.table.Schema`. ``edges`` are the
    learned network's, parent first, ``edited_edges`` those of them that the planted bias acts on. ``notes``
    are what was noticed in the data, as sentences.

    An embedded dataset's name that hides that, an edge that names no column, and an edited edge that is no
    edge are ReportErrors.
    """

    name: str
    title: str
    embedded: bool
    warning: str | None
    baseline: str
    baseline_reason: str = ""
    own_baselines: Mapping[str, str] = field(default_factory=dict, hash=False)
    entry: str = ""
    test_data: str = ""
    digest: str = ""
    n_train: int = 0
    n_test: int = 0
    folds: int | None = None
    group_sizes: GroupSizes | None = None
    group_rows: tuple[tuple[str, int], ...] = ()
    scored_favorable: Mapping[float, tuple[float, ...]] = field(default_factory=dict, hash=False)
    biased_favorable: Mapping[tuple[str, float], tuple[float, ...]] = field(default_factory=dict, hash=False)
    sensitive_feature: str = ""
    deprived_group: str = ""
    label: str = ""
    favorable_label: str = ""
    columns: tuple[str, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    edited_edges: tuple[tuple[str, str], ...] = ()
    biases: tuple[PlantedBias, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.embedded and "embedded" not in self.name:
            raise ReportError(
                "The name of an embedded dataset does not say that it is one",
                expected="a name that contains 'embedded', such as 'adult:embedded'",
                got=repr(self.name),
                remedy="give it such a name in the manifest and in the results",
            )
        named = dict.fromkeys(node for edge in self.edges for node in edge)
        if strangers := [node for node in named if node not in self.columns]:
            raise ReportError(
                f"The network of {self.name!r} has nodes that are not columns",
                expected="edges between " + ", ".join(self.columns),
                got=", ".join(strangers),
                remedy="run the experiment again: the network and the columns are not of one run",
            )
        if absent := [edge for edge in self.edited_edges if edge not in self.edges]:
            raise ReportError(
                f"The planted bias of {self.name!r} acts on edges that its network does not have",
                expected="some of " + ", ".join(map(" -> ".join, self.edges)),
                got=", ".join(map(" -> ".join, absent)),
                remedy="run the experiment again: the network and the bias are not of one run",
            )

    def baseline_with(self, classifier: str) -> Baseline:
        """Return what techniques are compared with that were run with a classifier, or with their own."""
        if self.baseline != OWN:
            return self.baseline
        return self.own_baselines if classifier == OWN else UNTREATED

    @property
    def heading(self) -> str:
        """As every table, figure and page of the run calls it: ``"Adult (embedded)"``."""
        return titled(self.title, self.embedded) if self.title else self.name

    @property
    def provenance(self) -> str:
        """What the numbers were measured on, in the words that every table and figure shows."""
        if self.embedded:
            return f"{NOT_REAL_LOUD}: tested on a {SAMPLED}"
        return f"tested on {'a ' if self.test_data.startswith('sample') else ''}{self.test_data}"

    @property
    def bias_description(self) -> str:
        """The planted biases, as one sentence."""
        return "; ".join(bias.sentence for bias in self.biases if bias.description)

    @property
    def figure_notes(self) -> list[str]:
        """What figures say of it: the planted bias, and what readers must know."""
        return [self.bias_description, *([f"Warning: {self.warning}"] if self.warning else [])]

    @property
    def best_constant(self) -> ConstantAnswer | None:
        """The best classifier that answers everybody the same, where the test rows are counted."""
        if self.group_sizes is None:
            return None
        answer = self.group_sizes.best_constant
        return replace(answer, scored=self.scored_favorable, biased=self.biased_favorable)

    @property
    def roles(self) -> str:
        """Who is deprived and which outcome is favorable, in words; empty where the manifest does not say."""
        if not (self.sensitive_feature and self.label):
            return ""
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
            for bias in self.biases
            if bias.inert
        }


@dataclass(frozen=True)
class Protocol:
    """How training and test rows were had; see :class:`benchmark.experiment.plan.Experiment`."""

    train: str = "network"
    holdout: float | None = None
    folds: int | None = None
    paired_betas: bool = False

    @property
    def overlaps(self) -> bool:
        """Whether training and test rows of all repetitions are splits of the same rows."""
        return self.train == "data" and self.splits

    @property
    def splits(self) -> bool:
        """Whether each repetition has test rows of its own."""
        return self.holdout is not None or self.folds is not None

    @property
    def variation_text(self) -> str:
        """What intervals and p-values hold, as a sentence."""
        if self.overlaps:
            splits = "single folds" if self.folds is not None else "repetitions"
            return (
                f"Intervals and p-values are of the corrected resampled t-test over {splits}, because "
                "repeated splits of the same rows overlap."
            )
        if self.splits:
            return (
                "Intervals and p-values reflect variation between splits and training samples of these data; "
                "the splits overlap, so that they are too narrow for other data."
            )
        return (
            "Intervals (95 %, Student's) and p-values reflect variation between training samples only; the "
            "test set and the learned network are fixed."
        )

    @property
    def scope_text(self) -> str:
        """What intervals and tests speak of, as a sentence."""
        if self.overlaps:
            return "Intervals and tests speak of other training and test rows: they know that splits overlap."
        if self.splits:
            return (
                "Intervals and tests speak of other splits and training samples of these data, not of other "
                "data: the splits overlap."
            )
        return (
            "Intervals and tests speak of other training samples, not of other test rows or another network."
        )

    @property
    def test_text(self) -> str:
        """Which test compares techniques."""
        if self.overlaps:
            return "corrected resampled t-test"
        return "sign-flip permutation test"

    @property
    def levels_text(self) -> str:
        """What curves over β are made of, as a sentence."""
        if self.paired_betas:
            return "A repetition has the same random numbers at all β: curves over β are paired."
        return "Samples of different β are independent, also those of one repetition."


@dataclass(frozen=True, kw_only=True)
class RunDescription:
    """A run: what was done, in which order it is shown, and with what it was computed.

    ``repetitions`` are the planned samples per dataset and level of bias; ``betas`` ascend. Techniques,
    metrics, which are all that were computed, and datasets are in the order in which they are shown.
    ``classifiers`` are names in the results. ``headline`` names the metrics that tables and figures show; all
    if empty. Only with ``published``, the numbers that the experiment repeats, tables have the paper's names.
    ``tests`` are what fitted models were scored on, keys of :data:`~benchmark.columns.TEST_TITLES`.
    Names that repeat are a ReportError, and so are those of datasets and techniques that are so alike that
    their files would overwrite each other. A metric's may end with a state of the data, which nobody chose.
    """

    name: str
    title: str
    seed: int
    repetitions: int
    betas: tuple[float, ...]
    techniques: tuple[TechniqueDescription, ...]
    classifiers: tuple[str, ...]
    metrics: tuple[MetricDescription, ...]
    datasets: tuple[DatasetDescription, ...]
    versions: Mapping[str, str]
    headline: tuple[str, ...] = ()
    published: PublishedEntry | None = None
    tests: tuple[str, ...] = (ORIGINAL,)
    protocol: Protocol = Protocol()

    def __post_init__(self) -> None:
        for kind in ("datasets", "techniques"):
            # Some file systems ignore case: names must still differ there.
            files = (file_name(described.name).casefold() for described in getattr(self, kind))
            _require_distinct(kind, files, "repeat, or differ only in case or punctuation")
        _require_distinct("metrics", (metric.name for metric in self.metrics), "repeat")

    @property
    def titles(self) -> dict[str, str]:
        """Names of the techniques, each with its title."""
        return {technique.name: technique.title for technique in self.techniques}

    @property
    def unchoosable(self) -> frozenset[str]:
        """Names of the techniques whose setting was chosen on rows that nobody has."""
        return frozenset(technique.name for technique in self.techniques if technique.tuned in NOBODY_HAS)

    def choosable(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a frame that are of techniques between which one can choose."""
        return frame[~frame["technique"].isin(self.unchoosable)] if self.unchoosable else frame

    @property
    def constant_answers(self) -> dict[str, ConstantAnswer]:
        """The best constant answer on the original test rows of each dataset where these are counted."""
        return {d.name: d.best_constant for d in self.datasets if d.best_constant is not None}

    def baselines(self, results: pd.DataFrame) -> Baselines:
        """Return what is compared with what where a frame, with dataset and classifier, has rows."""
        places = results[["dataset", "classifier"]].drop_duplicates().itertuples(index=False, name=None)
        return Baselines({own: self.dataset(own[0]).baseline_with(own[1]) for own in places})

    def baseline_text(self, baseline: Baseline) -> str:
        """Say what is compared with, and where that differs, for which techniques."""
        if isinstance(baseline, str):
            return self.titles.get(baseline, baseline)
        compared = {
            name: [title for t, title in self.titles.items() if t != name and baseline.get(t) == name]
            for name in baseline_names(baseline)
        }
        return ", ".join(
            f"{self.titles.get(name, name)} for {' and '.join(own)}" for name, own in compared.items() if own
        )

    def made_with(self, packages: Sequence[str] = SHOWN_PACKAGES) -> str:
        """Return the experiment, its seed and the versions of some packages, as a sentence."""
        versions = ", ".join(f"{name} {self.versions[name]}" for name in packages if name in self.versions)
        return f"Experiment {self.name} ({self.title}), seed {self.seed}; {versions}."

    def dataset(self, name: str) -> DatasetDescription:
        """Return the dataset of that name in the results."""
        return next(dataset for dataset in self.datasets if dataset.name == name)

    def headings(self, names: str) -> str:
        """Return the headings of datasets, named as in frames of ranks: with spaces between them."""
        return ", ".join(self.dataset(name).heading for name in names.split())

    def technique(self, name: str) -> TechniqueDescription | None:
        """Return the technique of that name, or None if the run has none."""
        return next((technique for technique in self.techniques if technique.name == name), None)

    def metric(self, name: str) -> MetricDescription | None:
        """Return the metric of that name, or None if the run has none."""
        return next((metric for metric in self.metrics if metric.name == name), None)

    @property
    def shown(self) -> RunDescription:
        """The same run with nothing but its headline metrics."""
        if not self.headline:
            return self
        kept = tuple(metric for name in self.headline if (metric := self.metric(name)) is not None)
        return replace(self, metrics=kept, headline=())

    def resampling(self, folds: pd.DataFrame | None) -> Resampling | None:
        """Return how repetitions overlap, or None where they do not, with the values of single folds."""
        own = self.protocol
        if not own.overlaps:
            return None
        overlaps, n_folds = {}, {}
        for dataset in self.datasets:
            if own.folds is not None:
                n_folds[dataset.name] = dataset.folds or own.folds
            share = 1 / n_folds[dataset.name] if n_folds else own.holdout or 0.0
            n_train = (1 - share) * dataset.n_test
            # A training sample may be limited to fewer rows.
            overlaps[dataset.name] = (
                share * dataset.n_test / max(1.0, min(n_train, dataset.n_train or n_train))
            )
        return Resampling(overlaps, n_folds or None, folds)

    @property
    def tests_note(self) -> str:
        """What the tests are, as sentences; empty where nothing but the original test rows was tested on."""
        if self.tests == (ORIGINAL,):
            return ""
        return " ".join(f"{TEST_TITLES[test].capitalize()}: {_TESTS[test]}." for test in self.tests)

    @property
    def repetitions_text(self) -> str:
        """``"30 repetitions"``, or ``"1 repetition"``."""
        return f"{self.repetitions} repetition{'' if self.repetitions == 1 else 's'}"


def in_sentence(title: str) -> str:
    """Return a metric's title as it stands in a sentence: ``"accuracy"``, but ``"AUC gap"``."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def listed_betas(betas: Sequence[float]) -> str:
    """Return levels of bias as they stand in a sentence."""
    return ", ".join(f"{beta:g}" for beta in betas)


def bias_sentence(bias: str, description: str) -> str:
    """Say which bias is planted; ``description`` is that of its kind, in the dataset's network."""
    return f"Bias {bias!r}: {description}"


def _require_distinct(kind: str, names: Iterable[str], fault: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ReportError(
            f"Names of {kind} {fault}",
            expected="names that still differ as names of files",
            got=", ".join(repeated),
            remedy="rename one of each in the experiment file",
        )
