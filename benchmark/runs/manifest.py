"""The manifest of a run: everything needed to judge, show and repeat it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationError,
    WrapSerializer,
    computed_field,
    model_serializer,
    model_validator,
)

from benchmark.bias.doses import ACROSS, Dose
from benchmark.columns import BLIND, DECISION_COUNTS, HIDDEN, KNOWS, ORIGINAL, UNTREATED, parted_name
from benchmark.data import Table
from benchmark.data.card import Card, load_card
from benchmark.declarations import declaration_dir
from benchmark.errors import CardError, ReportError, UnknownNameError
from benchmark.experiment.entries import NOBODY_HAS, ClassifierEntry, TechniqueEntry
from benchmark.experiment.plan import Experiment
from benchmark.metrics import list_metrics
from benchmark.statistics.answers import ConstantAnswer
from benchmark.statistics.cells import PLANTED, Baselines, Resampling, known_of
from benchmark.text.words import LEVEL_SIGNS, LevelUnit, file_name, level_text

STAGES = {"pre": "Pre-processing", "in": "In-processing", "post": "Post-processing", "": "Techniques"}
"""Titles of the stages at which techniques act, in the order of training, and of an unknown stage."""

_ARROW = " -> "


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
            biased=self.biased_favorable,
            hidden=self.hidden_favorable,
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


class ExperimentInRun(BaseModel):
    """A run's experiment, as far as later steps read it; ``settings`` has all of it, as it was given.

    Only these fields are checked, so that narrowed experiments, and those of missing plugins, can be read.
    :class:`benchmark.experiment.plan.Experiment` explains them.
    """

    name: str
    title: str
    seed: int
    repetitions: int
    betas: tuple[float, ...] = ()
    doses: tuple[float, ...] = ()
    hidden: tuple[float, ...] = ()
    train: str = "network"
    holdout: float | None = None
    folds: int | None = None
    tests: tuple[str, ...] = (ORIGINAL,)
    paired_betas: bool = False
    datasets: tuple[DatasetInExperiment, ...]
    techniques: tuple[TechniqueEntry, ...]
    classifiers: tuple[ClassifierEntry, ...]
    published: dict[str, Any] | None = None
    settings: dict[str, Any]

    @property
    def overlaps(self) -> bool:
        """Whether training and test rows of all repetitions are splits of the same rows."""
        return self.train == "data" and (self.holdout is not None or self.folds is not None)

    @model_validator(mode="before")
    @classmethod
    def _keep_settings(cls, settings: Any) -> Any:
        return {**settings, "settings": settings} if isinstance(settings, Mapping) else settings

    @model_serializer
    def _written(self) -> dict[str, Any]:
        return self.settings


def settings_of(experiment: Experiment) -> dict[str, Any]:
    """Return an experiment as manifests hold it: without folders of this machine."""
    settings: dict[str, Any] = json.loads(experiment.model_dump_json())
    settings["plugins"] = [Path(plugin).name for plugin in experiment.plugins]
    # Cards of shipped experiments lie in the same folder.
    shipped = declaration_dir("experiments")
    for entry in settings["datasets"]:
        if (card := Path(entry["card"])).is_relative_to(shipped):
            entry["card"] = card.relative_to(shipped).as_posix()
    return settings


class CodeInRun(BaseModel):
    """Digests and settings of the code that computed a run."""

    harness: str = ""
    techniques: dict[str, Any] = {}
    classifiers: dict[str, Any] = {}
    plugins: tuple[str, ...] = ()


class Manifest(BaseModel):
    """Everything needed to judge, show and repeat a run.

    Names of datasets or techniques so alike that their files would overwrite each other are a ReportError.
    """

    experiment: ExperimentInRun
    code: CodeInRun = CodeInRun()
    real_data: dict[str, bool] = {}  # in the experiment's order, like datasets
    datasets: ByName[DatasetDescription]
    stages: dict[str, str] = {}  # the stage at which each technique acts
    metrics: tuple[MetricDescription, ...] = ()  # as shown; a name may end with a state: ``auc[Female]``
    headline: tuple[str, ...] = ()  # metrics that tables and figures show; all if empty
    cells: dict[str, int] = {}  # numbers of planned and computed cells, and by status those without a result
    durations_in_seconds: dict[str, float] = {}  # of this run, and of all cells one after the other
    plan: str = ""  # digest of the cells' keys
    engine: str = ""  # name of the engine that computed the cells
    shard: str = ""  # the part of the cells that this run computed
    versions: dict[str, str]
    platform: dict[str, Any] = {}
    processors: tuple[dict[str, Any], ...] = ()
    finished: str = ""
    files: tuple[str, ...] = ()  # all others that the run wrote to its folder

    @model_validator(mode="after")
    def _connect_parts(self) -> Self:
        """Give datasets their entries in the experiment."""
        experiment = self.experiment
        if len(experiment.datasets) != len(self.datasets):
            entries = ", ".join(entry.name for entry in experiment.datasets)
            raise ValueError(f"it describes other datasets than its experiment names, which are {entries}")
        pairs = zip(self.datasets, experiment.datasets, strict=True)
        self.datasets = tuple(replace(dataset, entry=entry) for dataset, entry in pairs)
        # Some file systems ignore case: names must still differ there.
        for kind, named in (("datasets", self.datasets), ("techniques", experiment.techniques)):
            files = Counter(file_name(record.name).casefold() for record in named)
            if repeated := [name for name, count in files.items() if count > 1]:
                raise ReportError(
                    f"Names of {kind} repeat, or differ only in case or punctuation",
                    expected="names that still differ as names of files",
                    got=", ".join(repeated),
                    remedy="rename one of each in the experiment file",
                )
        return self

    @classmethod
    def read(cls, path: Path, remedy: str = "") -> Self:
        """Return the manifest that a run wrote.

        A file that is missing, or is not the manifest of a run, is a ReportError with the given remedy.
        """
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise ReportError(f"{path} cannot be read", got=error.strerror, remedy=remedy) from error
        except ValidationError as error:
            first = error.errors()[0]
            got = f"{'.'.join(map(str, first['loc'])) or 'file'}: {first['msg']}"
            raise ReportError(f"{path} is not the manifest of a run", got=got, remedy=remedy) from error

    @property
    def text(self) -> str:
        """Content of the file."""
        return json.dumps(self.model_dump(mode="json"), indent=2) + "\n"

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self.experiment.name

    @property
    def title(self) -> str:
        """Title of the experiment."""
        return self.experiment.title

    @property
    def repetitions(self) -> int:
        """Number of planned samples per dataset and level of bias."""
        return self.experiment.repetitions

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels of bias, ascending: β, or doses."""
        return self.experiment.betas or tuple(sorted({0.0, *self.experiment.doses}))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def unit(self) -> LevelUnit:
        """The unit of levels of bias: β, or doses that β was solved for."""
        return "dose" if self.experiment.doses else "beta"

    @property
    def doses(self) -> dict[tuple[str, str, float], Dose]:
        """The doses that are planted, by dataset, bias and level."""
        return {
            (dataset.name, bias.name, dose.dose): dose
            for dataset in self.datasets
            for bias in dataset.bias
            for dose in bias.doses
        }

    @property
    def pooled_levels(self) -> tuple[float, ...]:
        """Levels of bias that are ranked together: all β; :data:`ACROSS`; all doses without one of these."""
        if self.unit == "beta":
            return self.levels
        if {*ACROSS} <= {*self.levels}:
            return ACROSS
        reached = {dose.dose for dose in self.doses.values() if dose.pooled and dose.dose > 0}
        return tuple(level for level in self.levels if level in reached)

    @property
    def level_limit(self) -> float:
        """The level with the last color of figures: the greatest possible β, or the run's greatest dose."""
        if self.unit == "beta":
            return 1.0
        reached = {dose.dose for dose in self.doses.values() if dose.beta is not None}
        return max(reached & set(self.levels), default=0.0) or 1.0

    @property
    def level_sign(self) -> str:
        """The sign of a level of bias in headings: ``"β"`` or ``"dose"``."""
        return LEVEL_SIGNS[self.unit]

    def level_text(self, *levels: float) -> str:
        """Return levels of bias as written in a sentence or heading: ``"β = 0.4"``, ``"dose 0.05"``."""
        return level_text(self.unit, *levels)

    def in_files(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of the run as its files have it.

        The solved β stands behind a dose, hidden bias behind the planted one, and what a technique is told
        behind its name, if any is told something. If no bias is hidden, decisions do not name their test.
        """
        columns, knowledge = {*frame.columns}, self.knowledge
        if {*knowledge.values()} <= {BLIND}:
            frame = frame.drop(columns=KNOWS) if KNOWS in columns else frame
        elif "technique" in columns and KNOWS not in columns:
            frame = frame.copy()
            frame.insert(list(frame.columns).index("technique") + 1, KNOWS, known_of(frame, knowledge))
        if not self.experiment.hidden and DECISION_COUNTS[0] in columns:
            frame = frame.drop(columns="test")
        if self.unit == "dose" and {*PLANTED} <= columns and "beta" not in columns:
            betas = {key: dose.beta for key, dose in self.doses.items()}
            keys = frame[list(PLANTED)].itertuples(index=False, name=None)
            solved = [betas.get(key, math.nan) for key in keys]
            frame = frame.copy()
            frame.insert(list(frame.columns).index("level") + 1, "beta", solved)
        if self.experiment.hidden and "bias" in columns and HIDDEN not in columns:
            parted = list(map(parted_name, frame["bias"]))
            frame = frame.assign(bias=[bias for bias, _ in parted])
            frame.insert(list(frame.columns).index("bias") + 1, HIDDEN, [gap for _, gap in parted])
        return frame

    @property
    def techniques(self) -> tuple[TechniqueEntry, ...]:
        """The techniques, in the order in which they are shown."""
        return self.experiment.techniques

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers in the results."""
        return tuple(classifier.name for classifier in self.experiment.classifiers)

    @property
    def learners(self) -> frozenset[str]:
        """Names of the classifiers that are learners of techniques' own."""
        return frozenset(entry.name for entry in self.experiment.classifiers if entry.learner_of)

    @property
    def titles(self) -> dict[str, str]:
        """The title of each technique, with what it is told, by name."""
        return {technique.name: technique.full_title for technique in self.techniques}

    @property
    def knowledge(self) -> dict[str, str]:
        """What each technique is told about the bias, in words, by name."""
        return {technique.name: technique.knowledge for technique in self.techniques}

    @property
    def tuned_by(self) -> str:
        """The rule that chose settings; empty if no technique was tuned."""
        return str((self.experiment.settings.get("tune") or {}).get("rule", ""))

    @property
    def refits(self) -> frozenset[str]:
        """Names of the reference rows, which are no techniques."""
        return frozenset(t.name for t in self.techniques if t.refit)

    @property
    def refits_of(self) -> dict[str, tuple[str, str]]:
        """The refits of each untreated learner, on clean and on biased rows, by the learner's name."""
        by_learner: dict[str, dict[str, str]] = {}
        for technique in self.techniques:
            if technique.refit:
                by_learner.setdefault(technique.refit_of, {})[technique.refit] = technique.name
        return {name: (of["clean"], of["biased"]) for name, of in by_learner.items() if len(of) == 2}

    @property
    def apart(self) -> list[tuple[str, str, float]]:
        """Doses that are never pooled over datasets: dataset, bias and dose."""
        return [key for key, dose in self.doses.items() if not dose.pooled]

    @property
    def unchoosable(self) -> frozenset[str]:
        """Techniques that cannot be chosen in practice: reference rows, and settings chosen on ideal rows."""
        return self.refits | {t.name for t in self.techniques if t.tuned in NOBODY_HAS}

    @property
    def constant_answers(self) -> dict[str, ConstantAnswer]:
        """The best constant answer on each dataset's original test rows, where these are counted."""
        return {d.name: d.best_constant for d in self.datasets if d.best_constant is not None}

    def baselines(self, results: pd.DataFrame) -> Baselines:
        """Return the baselines for each dataset and classifier that occur in a frame.

        A learner of a technique's own does not train every baseline. Then doing nothing is the baseline.
        """
        tried: dict[Any, set[str]] = (
            results.groupby(["dataset", "classifier"], sort=False)["technique"].agg(set).to_dict()
        )
        of_dataset = results.groupby("dataset", sort=False)["technique"].agg(set)
        baselines: dict[tuple[str, str], str] = {}
        for (dataset, classifier), names in tried.items():
            declared = self.dataset(dataset).baseline
            elsewhere = declared not in names and declared in of_dataset[dataset]
            baselines[dataset, classifier] = UNTREATED if elsewhere and UNTREATED in names else declared
        return Baselines(baselines)

    def dataset(self, name: str) -> DatasetDescription:
        """Return the dataset of that name in the results."""
        return next(dataset for dataset in self.datasets if dataset.name == name)

    def technique(self, name: str) -> TechniqueEntry | None:
        """Return the technique of that name, or None if the run has none."""
        return next((technique for technique in self.techniques if technique.name == name), None)

    def metric(self, name: str) -> MetricDescription | None:
        """Return the metric of that name, or None if the run has none."""
        return next((metric for metric in self.metrics if metric.name == name), None)

    def with_metrics(self, names: Iterable[str]) -> Self:
        """Return the same run with these metrics only; missing ones are described as registered."""
        metrics = tuple(self.metric(name) or metric_description(name) for name in names)
        return self.model_copy(update={"metrics": metrics})

    @property
    def shown(self) -> Self:
        """The same run with its headline metrics only."""
        names = [name for name in self.headline if self.metric(name) is not None]
        return self.with_metrics(names) if self.headline else self

    def resampling(self, folds: pd.DataFrame | None) -> Resampling | None:
        """Return how repetitions overlap, with the values of single folds; None if they do not overlap."""
        of_all = self.experiment
        if not of_all.overlaps:
            return None
        n_folds = {d.name: d.entry.folds or of_all.folds for d in self.datasets} if of_all.folds else None
        shares = {d.name: 1 / n_folds[d.name] if n_folds else of_all.holdout or 0.0 for d in self.datasets}
        # A smaller training sample does not enlarge the overlap: splits then share fewer training rows.
        return Resampling({name: share / (1 - share) for name, share in shares.items()}, n_folds, folds)


def without_result(cells: Mapping[str, int]) -> dict[str, int]:
    """Return the number of cells without a result, by status, from a manifest's ``cells``."""
    return {status: n for status, n in cells.items() if status not in ("planned", "computed_in_this_run")}


def metric_description(name: str) -> MetricDescription:
    """Return a metric's description as registered; without its plugin, the name stands for the title."""
    base = name.partition("[")[0]
    if (metric := list_metrics().get(base)) is None:
        return MetricDescription(name, name)
    return MetricDescription(name, metric.title + name.removeprefix(base), metric.ideal)
