"""Experiment files, and the blocks of cells that they plan."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from benchmark.bias import Bias, make_bias
from benchmark.bias.base import BiasEdit
from benchmark.bias.cpt import deprived_edits
from benchmark.columns import ORIGINAL, TEST_TITLES, TRUTH, UNTREATED, Test, hidden_name
from benchmark.data.card import Card, load_card
from benchmark.declarations import (
    checked,
    load_experiment_file,
    read_toml,
    title_of,
)
from benchmark.errors import ExperimentError
from benchmark.experiment.entries import (
    Beta,
    BiasEntry,
    ClassifierEntry,
    DatasetEntry,
    FigureKind,
    Folds,
    TechniqueEntry,
    TrainRows,
    listed_datasets,
    listed_techniques,
)
from benchmark.experiment.telling import Telling
from benchmark.experiment.tuning_rule import TuneEntry
from benchmark.metrics import get_metric, metric_names
from benchmark.metrics.restoration import OF_REPETITIONS
from benchmark.models import Derived, Free, Identifier, Identifying, Keyed, Option, Planned
from benchmark.registry import load_plugin
from benchmark.techniques import Technique, get_technique
from benchmark.techniques._search import Search, space_of
from benchmark.text.words import LevelUnit

# The entries that a name in a list stands for, by field.
_STAND_FOR: Mapping[str, Callable[[str], list[dict[str, Any]]]] = {
    "datasets": listed_datasets,
    "techniques": listed_techniques,
    "classifiers": lambda name: [{"classifier": name}],
}

_BIAS_EXAMPLE = "docs/adding/bias.md has an example"

Train = Literal["network", "data"]

PAPER_METRICS = ("discrimination", "accuracy", "overestimation", "underestimation")
"""The paper's four metrics, in its order."""

ALWAYS_MEASURED = ("discrimination", "accuracy", "accepted", "accepted_deprived", "accepted_favored")
"""Metrics of every cell: they show whether a classifier that looks fair gives nearly all rows one answer."""


class Experiment(Identifying):
    """The content of an experiment file, or an experiment made in Python.

    Names stand for entries without parameters. Datasets without ``bias`` or ``baseline`` share those of the
    experiment. By default the bias edits the network's probabilities of the label, for the card's deprived
    group or as in the paper. Techniques are compared with ``"none"``. docs/adding/experiment_fields.md
    explains the fields.

    >>> experiment = Experiment(datasets=["compas"], techniques=["none", "massaging"], betas=[0, 0.5])
    >>> experiment.datasets[0].bias[0].to_bias().edits[0].group
    'African-American'
    """

    only_if_set = ("knows",)

    name: Planned[Identifier] = "experiment"  # short name, also of the folder of results
    title: Free[str] = ""  # one line for headings
    description: Free[str] = ""
    seed: Keyed[StrictInt] = Field(default=0, ge=0)  # root of all random numbers; files must give it
    # Training samples per dataset, bias and level; files must give the number.
    repetitions: Planned[StrictInt] = Field(default=10, ge=1)
    betas: Planned[tuple[Beta, ...]] = ()  # levels of planted bias, each in [0, 1], ascending
    # Label gaps that the bias adds, ascending, in place of ``betas`` (:mod:`benchmark.bias.doses`).
    doses: Planned[tuple[Beta, ...]] = ()
    # Label gaps, ascending, that the same bias first adds to all real rows, which then count as the original
    # ones; doses come on top.
    hidden: Planned[tuple[Beta, ...]] = ()
    # Rows of each training sample, real ones at most once each; ``"data"`` means as many as there are.
    train_rows: Derived[TrainRows] = "data"
    # Whether training samples are drawn from the learned network, or are real rows; bias is planted in both.
    train: Derived[Train] = "network"
    # holdout, folds: Rows for testing, in a random split of each repetition: a share of the rows, or each of
    # so many parts in turn. Without both, the network is learned from the test rows, as in the paper.
    holdout: Derived[Annotated[float, Field(gt=0, lt=1)] | None] = None
    folds: Derived[Folds | None] = None
    # Tests of the same fitted models: the ``"original"`` test rows, always; ``"biased"`` ones, with planted
    # bias; ``"balanced"`` ones, with equal weight for each group and label; and with hidden bias ``"truth"``.
    tests: Derived[tuple[Test, ...]] = Field(default=(ORIGINAL,), validate_default=True)
    paired_betas: Option[StrictBool] = False  # whether all levels of a repetition share their random numbers
    # Whether techniques with learners of their own stand beside those that train a classifier, under its
    # name, and are compared with what it does.
    mixed_learners: Planned[StrictBool] = False
    # Seconds that a technique with a classifier may take on one sample.
    time_limit: Free[float] = Field(default=300.0, gt=0, allow_inf_nan=False)
    # MiB that a worker process may hold; ``inf`` for no limit (:class:`benchmark.experiment.pool.Pool`). The
    # default is several times the need of the shipped techniques. A technique that eats memory meets it
    # before the machine runs out.
    memory_limit: Free[float] = Field(default=4096.0, gt=0)
    # Fewest rows of a group, or of an intersection, whose values are in ``groups.csv``.
    smallest_group: Free[StrictInt] = Field(default=30, ge=1)
    datasets: Derived[tuple[DatasetEntry, ...]] = Field(min_length=1)
    techniques: Derived[tuple[TechniqueEntry, ...]] = Field(min_length=1)
    # Metrics and families of every cell, besides :data:`ALWAYS_MEASURED` (``betabench list metrics``).
    metrics: Free[tuple[str, ...]] = Field(default=PAPER_METRICS, min_length=1)
    # Metrics in tables and figures: the paper's four unless given, or all if none of these is computed. All
    # others are in ``metrics.csv`` and in the summary.
    headline: Free[tuple[str, ...]] = ()
    classifiers: Derived[tuple[ClassifierEntry, ...]] = Field(
        default=(ClassifierEntry(classifier="c45"),), min_length=1
    )
    figures: Free[tuple[FigureKind, ...]] = ()  # kinds that a run draws by default, named as their folders
    # Python files, relative to the experiment file, that register techniques, metrics, classifiers or kinds
    # of bias.
    plugins: Free[tuple[str, ...]] = ()
    # Published numbers that the experiment repeats, for ``betabench compare``, which checks them.
    published: Free[dict[str, Any] | None] = None
    # What techniques that declare knowledge are told about the bias, each in turn. A technique that no
    # telling is for is told its fact as it is.
    knows: Derived[tuple[Telling, ...]] = ()
    # How techniques are tuned, each beside its default setting (:mod:`benchmark.experiment.tune`).
    tune: Derived[TuneEntry | None] = None

    @model_validator(mode="before")
    @classmethod
    def _names_stand_for_entries(cls, data: Any) -> Any:
        return entries_for_names(data) if isinstance(data, dict) else data

    @field_validator("betas", "doses", "hidden")
    @classmethod
    def _levels_ascend(cls, levels: tuple[float, ...]) -> tuple[float, ...]:
        if list(levels) != sorted(set(levels)):
            raise ValueError("must be ascending and distinct")
        return tuple(level + 0.0 for level in levels)  # -0.0 is 0.0, but would seed other samples

    @field_validator("tests")
    @classmethod
    def _tests_in_order(cls, tests: tuple[Test, ...], info: ValidationInfo) -> tuple[Test, ...]:
        if ORIGINAL not in tests or len(set(tests)) < len(tests):
            raise ValueError("must name 'original', and each test once")
        in_truth = {TRUTH} if info.data.get("hidden") else set()
        return tuple(sorted({*tests, *in_truth}, key=list(TEST_TITLES).index))

    @model_validator(mode="after")
    def _fields_fit(self) -> Experiment:
        if rules := [*self._wrong_protocol(), *self._wrong_names()]:
            raise PydanticCustomError("names", "{first}", {"first": rules[0], "rules": rules})
        return self

    def _wrong_protocol(self) -> Iterator[str]:
        if self.betas and self.doses:
            yield "betas, doses: give one of the two; a dose is the label gap that a level of bias adds"
        if not self.betas and not self.doses:
            yield "betas: give the levels of bias, such as betas = [0, 0.2, 0.4], or doses = [0.05, 0.1]"
        if self.doses and not self.paired_betas:
            yield 'doses: datasets differ in their levels of bias; give "paired_betas = true" as well'
        if TRUTH in self.tests and not self.hidden:
            yield f'tests: {TRUTH!r} is the original test unless bias is hidden; give "hidden" as well'
        if self.hidden and not self.doses:
            yield 'hidden: hidden label gaps need label gaps on top of them; give "doses" in place of "betas"'
        if self.hidden and self.train != "data":
            yield 'hidden: bias is hidden in real rows; give train = "data", and "holdout" or "folds"'
        if self.hidden and self.tune:
            yield "hidden, tune: settings are not chosen on rows with hidden bias; give only one of the two"
        if self.tune and (self.folds or any(dataset.folds for dataset in self.datasets)):
            yield "tune, folds: a setting is chosen once in a repetition; give a holdout in place of folds"
        if self.tune is None and any(entry.tuned for entry in self.techniques):
            yield "techniques: 'tuned' names the rows that a setting is chosen on; give 'tune' as well"
        if self.holdout and self.folds:
            yield "holdout, folds: give one of the two; folds test every row once, a holdout some rows"
        if self.train == "data" and not self.splits:
            yield 'train: real rows to train on need others to test on; give "holdout = 0.3" or "folds = 10"'
        for dataset in self.datasets:
            if dataset.folds and not self.folds:
                yield f"folds: {dataset.name!r} has folds of its own; give the others' as well"

    def _wrong_names(self) -> Iterator[str]:
        for entry_type, names in (
            ("datasets", [d.name for d in self.datasets]),
            ("techniques", [t.name for t in self.techniques]),
            ("classifiers", [c.name for c in self.classifiers]),
            ("metrics", list(self.metrics)),
            ("knows", [f"{t.fact} {t.name} {own}".strip() for t in self.knows for own in t.only or ("",)]),
            ("headline", list(self.headline)),
            *((f"bias of {d.card}", [b.name for b in d.bias]) for d in self.datasets),
        ):
            for name in sorted({name for name in names if names.count(name) > 1}):
                yield f"{entry_type}: the name {name!r} is used twice; give each its own name"
        names = [t.name for t in self.techniques]
        for entry in self.techniques:
            if entry.refit is not None and entry.refit_of not in names:
                yield f"techniques: {entry.name!r} is a refit of {entry.refit_of!r}, which is not among them"
        # An expanded experiment names its entries after their tellings.
        for telling in () if any(entry.told for entry in self.techniques) else self.knows:
            for name in telling.only:
                if name not in names:
                    absent = f"{telling.fact!r} is told to {name!r}, which is not among the techniques"
                    yield f"knows: {absent}: {', '.join(names)}"
        for dataset in self.datasets:
            for name in dataset.techniques:
                if name not in names:
                    absent = f"{dataset.name!r} asks for {name!r}, which is not among the techniques"
                    yield f"datasets: {absent}: {', '.join(names)}"
            tried = dataset.techniques or names
            if dataset.baseline not in tried:
                absent = f"the baseline {dataset.baseline!r} of {dataset.name!r} is not among the techniques"
                yield f"datasets: {absent}: {', '.join(tried)}"

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels of bias, ascending: ``betas``, or 0 and the ``doses``."""
        return self.betas or tuple(sorted({0.0, *self.doses}))

    @property
    def ends(self) -> dict[str, tuple[float, ...]]:
        """The fields of levels, with the lowest and the highest alone; of doses, the highest."""
        betas, hidden = (tuple(sorted({*own[:1], *own[-1:]})) for own in (self.betas, self.hidden))
        return {"betas": betas, "doses": self.doses[-1:], "hidden": hidden}

    def in_betas(self, betas: tuple[float, ...]) -> dict[str, Any]:
        """Return the fields of levels for these β, whatever the levels were."""
        tests = tuple(test for test in self.tests if test != TRUTH)
        return {"betas": betas, "doses": (), "hidden": (), "tests": tests}

    @property
    def unit(self) -> LevelUnit:
        """The unit of levels of bias."""
        return "dose" if self.doses else "beta"

    @property
    def hidden_gaps(self) -> tuple[float, ...]:
        """Label gaps of hidden bias; each is a scenario, so nothing pools, pairs or ranks across them."""
        return self.hidden or (0.0,)

    @property
    def splits(self) -> bool:
        """Whether rows are held out for testing."""
        return self.holdout is not None or self.folds is not None

    def n_folds(self, dataset: DatasetEntry) -> int | None:
        """Return the number of parts of a dataset that are tested on in turn; None without folds."""
        return dataset.folds or self.folds

    @property
    def takes_numbers(self) -> bool:
        """Whether a classifier takes the numbers behind bins."""
        return any(classifier.encoding == "numbers" for classifier in self.classifiers)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of all metrics and families of cells, the always measured ones included."""
        ruled = self.tune.parsed.metrics if self.tune else ()
        return tuple(dict.fromkeys((*self.metrics, *self.always_measured, *ruled)))

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """The metrics that tables and figures show.

        An UnknownNameError says that a metric is unknown, an ExperimentError that a headline metric is not
        computed, or has one value for each group.
        """
        computed = metric_names(self.metrics)
        for name in metric_names(self.headline):
            if name not in computed:
                got, remedy = "it is not among 'metrics'", "add it to 'metrics', or take it out of 'headline'"
            elif get_metric(name).compare == "each_group":
                got = "it has one value for each group"
                remedy = "take it out of 'headline'; metrics.csv and 'betabench report' have its values"
            else:
                continue
            raise ExperimentError(
                f"The metric {name!r} cannot be shown in tables and figures",
                expected="metrics of the experiment with one value for each cell",
                got=got,
                remedy=remedy,
            )
        single = tuple(name for name in computed if get_metric(name).compare != "each_group")
        paper = tuple(name for name in PAPER_METRICS if name in computed)
        restoring = tuple(name for name in single if get_metric(name).of_run)
        return metric_names(self.headline) or (*paper, *restoring) or single

    @property
    def always_measured(self) -> tuple[str, ...]:
        """Names of the metrics of every cell, whatever ``metrics`` names."""
        return (*ALWAYS_MEASURED, *(OF_REPETITIONS if self.restores else ()))

    @property
    def restores(self) -> bool:
        """Whether decisions are compared with the decisions of the clean model, trained without planted bias.

        They are, if there is such a model, and real rows are trained on or ``metrics`` asks for it.
        """
        return not self.no_clean_model and (self.train == "data" or self.asks_to_restore)

    @property
    def asks_to_restore(self) -> bool:
        """Whether a metric needs the decisions of the clean model."""
        return any(get_metric(name).of_run for name in metric_names(self.metrics))

    @property
    def no_clean_model(self) -> str:
        """Why there is no clean model to compare decisions with; empty if there is one."""
        if not self.paired_betas:
            return (
                "its levels of bias are not paired; 'paired_betas = true' gives them the same random numbers"
            )
        if self.levels[0] > 0:
            return "0 is not among its betas, so no model is trained without planted bias"
        if len(self.levels) < 2:
            return "0 is its only level of bias, so there is nothing to undo"
        for dataset in self.datasets:
            compared_with = dataset.baseline
            entries = [entry for entry in self.techniques if entry.name == compared_with]
            if compared_with not in (dataset.techniques or [entry.name for entry in entries]):
                return f"the baseline {compared_with!r} of {dataset.name!r} is not run"
            if entries[0].technique != UNTREATED:
                return (
                    f"the baseline {compared_with!r} of {dataset.name!r} is a technique, no untreated model"
                )
        return ""

    def search_space(self, entry: TechniqueEntry) -> tuple[Search, ...]:
        """Return the search space of an entry, without parameters that the experiment gives."""
        fixed = (dataset.parameters.get(entry.technique, {}) for dataset in self.datasets)
        technique = get_technique(entry.technique, **entry.parameters)
        return space_of(technique, {*entry.parameters, *itertools.chain.from_iterable(fixed)})

    def with_techniques(
        self, entries: Iterable[TechniqueEntry], tried_on: Callable[[DatasetEntry], tuple[str, ...]]
    ) -> Experiment:
        """Return the experiment with other techniques, and with the names of those tried on each dataset."""
        datasets = tuple(d.model_copy(update={"techniques": tried_on(d)}) for d in self.datasets)
        return self.model_copy(update={"techniques": tuple(entries), "datasets": datasets})

    def cells_on(self, dataset: DatasetEntry) -> tuple[tuple[str, str], ...]:
        """Return names of technique and classifier of each cell of a block, in the experiment's order.

        A technique with a learner of its own has a single cell, and doing nothing one for each such learner.
        """
        entries = [e for e in self.techniques if not dataset.techniques or e.name in dataset.techniques]
        trained = {e.name: None if self.mixed_learners else e.learner for e in entries}
        learners = {classifier.name: classifier.learner for classifier in self.classifiers}
        return tuple(
            (entry.name, classifier)
            for entry in entries
            for classifier, learner in learners.items()
            if trained[entry.name] == learner
            or (entry.technique == UNTREATED and learner in trained.values())
        )


class _ExperimentFile(Experiment):
    """An experiment file: it must give name, title, seed and repetitions, so that readers see them."""

    name: Planned[Identifier]
    title: Free[str]
    seed: Keyed[StrictInt] = Field(ge=0)
    repetitions: Planned[StrictInt] = Field(ge=1)


@dataclass(frozen=True, eq=False)
class ExpandedExperiment:
    """An experiment as it is run; only :func:`benchmark.experiment.expand.expand` makes it."""

    experiment: Experiment  # with entries for tuned techniques, and classifiers for their own learners
    # With their parameters, by dataset and entry; learners of techniques' own by dataset and classifier.
    techniques: Mapping[tuple[str, str], Technique]
    plugins: tuple[str, ...] = ()  # absolute paths of the loaded files

    def trained(self, dataset: str, technique: str, classifier: str) -> tuple[str, str]:
        """Return the key, in ``techniques``, of what a cell trains.

        It is the classifier's, if nothing is done with the learner of a technique.
        """
        learners = [entry.name for entry in self.experiment.classifiers if entry.learner_of]
        untreated = self.techniques[dataset, technique].name == UNTREATED
        return dataset, classifier if untreated and classifier in learners else technique


def entries_for_names(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of an experiment file with entries in place of names."""
    data = {"title": title_of(str(content.get("name", "experiment"))), **content}
    shared, baseline = data.pop("bias", None), data.pop("baseline", None)
    for field, entries_of in _STAND_FOR.items():
        if isinstance(listed := data.get(field), list | tuple):
            entries = (entries_of(named) if isinstance(named, str) else [named] for named in listed)
            data[field] = list(itertools.chain.from_iterable(entries))
    if isinstance(data.get("datasets"), list):
        general = {} if baseline is None else {"baseline": baseline}
        data["datasets"] = [
            {**general, **with_bias(entry, shared)} if isinstance(entry, dict) else entry
            for entry in data["datasets"]
        ]
    return data


def with_bias(entry: dict[str, Any], shared: Any = None) -> dict[str, Any]:
    """Return a dataset's entry with its bias: its own, else the shared one, else the default."""
    if "bias" in entry or (shared is None and not isinstance(entry.get("card"), str)):
        return entry
    if shared is None:
        # The paper's edits hold however columns are read, unless the entry names the deprived group.
        columns = {} if entry.get("deprived_group") is None else {"columns": entry.get("columns", {})}
        try:
            typed = DatasetEntry.model_validate({**entry, "columns": {}, **columns, "bias": "label"})
        except ValidationError:
            return {**entry, "bias": "label"}  # the experiment's validation reports the error
        shared = [{"edits": [asdict(edit) for edit in default_edits(typed.find_card())]}]
    return {**entry, "bias": shared}


def default_edits(card: Card, experiment: str | None = None) -> tuple[BiasEdit, ...]:
    """Return the edits of a dataset's first bias in an experiment.

    Without a name, this is the paper's experiment, and equation 4 on the sensitive feature for other
    datasets. An ExperimentError says that the named experiment lacks the dataset.
    """
    digest = card.model_copy(update={"sensitive": ()}).digest  # ``sensitive`` does not change what is planted
    for entry in load_experiment(experiment or "paper").datasets:
        if load_card(entry.card).digest == digest:
            for bias in entry.bias:
                if edits := bias.to_bias().edits:
                    return edits
    if experiment is not None:
        raise ExperimentError(
            f"The experiment {experiment!r} edits no probabilities of the dataset {card.name!r}",
            expected="the dataset, with a bias of the kind 'cpt'",
            remedy="name the bias edits with --edit, a bias with --bias, or another experiment",
        )
    return deprived_edits(card.schema())


def load_bias(kind_or_path: str) -> Bias:
    """Return the bias of a kind's name, or of a TOML file with its steps.

    Raises an UnknownNameError for an unknown kind, and a BiasError for a wrong parameter. An ExperimentError
    says that the file cannot be read or is no bias.
    """
    if not kind_or_path.endswith(".toml"):
        return make_bias(kind_or_path)
    path = Path(kind_or_path).expanduser()
    content = read_toml(path, "bias file", ExperimentError, _BIAS_EXAMPLE)
    return checked(BiasEntry, content, f"The bias file {path}", _BIAS_EXAMPLE).to_bias()


@dataclass(frozen=True)
class Block:
    """The cells that share one training sample."""

    dataset: str  # dataset and bias: their names in the experiment
    bias: str
    level: float  # of bias: β, or the dose if the experiment has doses
    repetition: int  # number of the sample, from 0
    cells: tuple[tuple[str, str], ...] = ()  # names of technique and classifier, in the experiment's order
    hidden: float = 0.0  # label gap that the bias adds first, to rows that then count as the original ones

    @property
    def shown_bias(self) -> str:
        """The name of its bias in results, with the gap that is hidden."""
        return hidden_name(self.bias, self.hidden)

    @property
    def has_truth(self) -> bool:
        """Whether the test in truth has other labels than the original test, because bias is hidden."""
        return self.hidden > 0

    @property
    def clean(self) -> Block:
        """The block without planted bias, whose models decisions are compared with."""
        return replace(self, level=0.0, cells=())

    @property
    def true(self) -> Block:
        """The block without planted and without hidden bias, with which decisions in truth are compared."""
        return replace(self.clean, hidden=0.0)


@dataclass(frozen=True)
class Shard:
    """A part of an experiment, for machines that know nothing of each other.

    It has every ``count``-th block of the plan, beginning with block ``number``, which is from 1 to
    ``count``. So each dataset and level of bias is shared evenly: shards differ by at most one block. An
    ExperimentError says that there is no such part.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise ExperimentError(
                "There is no such shard",
                expected="NUMBER/COUNT with a number from 1 to the count, such as 3/10",
                got=str(self),
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard of a text such as "3/10"; an ExperimentError says that it names none."""
        if (match := re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)) is None:
            raise ExperimentError(
                "This is not a shard", expected="NUMBER/COUNT, such as 3/10", got=repr(text)
            )
        return cls(int(match[1]), int(match[2]))

    def of(self, blocks: Iterable[Block]) -> list[Block]:
        """Return the shard's blocks, in order; an ExperimentError says that there are too few blocks."""
        blocks = list(blocks)
        if len(blocks) < self.count:
            raise ExperimentError(
                "The experiment has too few blocks for that many shards",
                expected=f"at most {len(blocks)} shards: one sample of one dataset is one block",
                got=str(self),
                remedy="use fewer shards",
            )
        return blocks[self.number - 1 :: self.count]


WHOLE = Shard(1, 1)
"""The whole experiment."""


def load_experiment(name_or_path: str | Path) -> Experiment:
    """Return the checked experiment of a shipped name, such as ``smoke``, or of a TOML file's path.

    An UnknownNameError says that there is no such experiment. An ExperimentError says that the file is not
    TOML or of another kind, or names field, rule and value of each broken rule.
    """
    return load_experiment_file(_ExperimentFile, name_or_path)


def load_plugins(experiment: Experiment, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Load an experiment's plugins, and more; return their absolute paths, or raise a PluginError."""
    paths = (str(Path(plugin).expanduser().resolve()) for plugin in (*experiment.plugins, *more))
    plugins = tuple(dict.fromkeys(paths))
    for plugin in plugins:
        load_plugin(plugin)
    return plugins


def plan_blocks(
    experiment: Experiment, reached: Callable[[str, str, float, float], bool] = lambda *_: True
) -> Iterator[Block]:
    """Yield the experiment's blocks in the order of its result table.

    ``reached`` tells whether a dataset's bias can be planted at a level, on top of a hidden label gap.
    """
    for dataset in experiment.datasets:
        cells = experiment.cells_on(dataset)
        for bias, hidden, level in itertools.product(dataset.bias, experiment.hidden_gaps, experiment.levels):
            if reached(dataset.name, bias.name, level, hidden):
                for repetition in range(experiment.repetitions):
                    yield Block(dataset.name, bias.name, level, repetition, cells, hidden)
