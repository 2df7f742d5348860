"""An experiment file, and the cells that it asks for."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from benchmark.bias import Bias, make_bias
from benchmark.bias.edits import BiasEdit, deprived_edits
from benchmark.columns import ORIGINAL, OWN, TEST_TITLES, TRUTH, UNTREATED, Test
from benchmark.data.card import Card, load_card
from benchmark.declarations import (
    broken_rules,
    count_of,
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
    Parameters,
    PublishedEntry,
    TechniqueEntry,
    TrainRows,
    listed_techniques,
)
from benchmark.experiment.rule import TuneEntry
from benchmark.metrics import get_metric, metric_names
from benchmark.metrics.restoration import OF_REPETITIONS
from benchmark.models import Derived, Free, Identifier, Identifying, Keyed, Option, Planned
from benchmark.registry import load_plugin
from benchmark.techniques import Technique

# The entries that a name stands for, by the field with the list that it is in.
_STAND_FOR: Mapping[str, Callable[[str], list[dict[str, Any]]]] = {
    "datasets": lambda name: [{"card": name}],
    "techniques": listed_techniques,
    "classifiers": lambda name: [{"classifier": name}],
}

_BIAS_EXAMPLE = "docs/adding/bias.md has an example"

Train = Literal["network", "data"]

PAPER_METRICS = ("discrimination", "accuracy", "overestimation", "underestimation")
"""The paper's four metrics, in its order."""

ALWAYS_MEASURED = ("discrimination", "accuracy", "accepted", "accepted_deprived", "accepted_favored")
"""Metrics of every cell, whatever the experiment names: they show whether a classifier that looks
fair gives nearly all rows the same answer."""


class Experiment(Identifying):
    """The content of an experiment file, or an experiment made in Python.

    A new option of the protocol is a field here, declared as ``Option[...]``, and the place that uses it.

    Names stand for entries without parameters, and ``bias`` and ``baseline`` are shared by the datasets that
    have none of their own: by default the network's probabilities of the label are edited for the card's
    deprived group, or as the paper does it, and techniques are compared with ``"none"``.

    >>> made = Experiment(datasets=["compas"], techniques=["none", "massaging"], betas=[0, 0.5])
    >>> made.datasets[0].bias[0].to_bias().edits[0].group
    'African-American'

    Attributes
    ----------
    name, title : str
        Short name (the folder of its results) and one line for headings.
    seed : int
        Root of all random numbers; an experiment file has to give it.
    repetitions : int
        Training samples per dataset, bias and beta; an experiment file has to give them.
    betas : tuple of float
        Levels of planted bias, each in [0, 1], ascending.
    doses : tuple of float
        Label gaps between the groups that the bias adds, ascending, in place of ``betas``: of each dataset
        and bias the level is solved that adds as much (:mod:`benchmark.bias.doses`). Level 0 comes with them.
    hidden : tuple of float
        Label gaps, ascending, that the same bias adds first, to all real rows: each of these worlds is taken
        for the original one, and doses come on top. The same people are also tested on with their true
        labels. 0 is the experiment without hidden bias.
    train_rows : int or "data"
        Size of each training sample; ``"data"`` means as many rows as there are to train on or to learn the
        network from. Of real rows, which are drawn once each, there are at most as many.
    train : {"network", "data"}
        Whether training samples are drawn from the learned network, or are real rows; bias is planted in
        either.
    holdout, folds : float or int, optional
        Which rows are kept for testing, in a random split of each repetition: a share of them, or each of so
        many parts in turn; a repetition's value is the mean over the parts then. Neither network nor training
        sample has seen them. With neither of the two, the network is learned from the rows that are tested
        on, as in the paper; real rows to train on need one.
    tests : tuple of str
        What the same fitted models are scored on: always the ``"original"`` test rows, also ``"biased"``
        ones, with the bias planted in them, and ``"balanced"`` ones, the original rows with the same total
        weight for each group and outcome; with hidden bias also the original rows in ``"truth"``.
    paired_betas : bool
        Whether the samples of a repetition share their random numbers at all levels of bias.
    time_limit : float
        Seconds that one technique with one classifier may take on one sample.
    memory_limit : float
        MiB that a worker process may hold meanwhile; ``inf`` for no limit. The default is several times what
        the shipped techniques need on the shipped datasets, and little enough that one that eats memory
        meets it before the machine runs out. See :class:`benchmark.experiment.pool.Pool` for what counts.
    smallest_group : int
        Rows that a group, or an intersection of groups, has to have for its values to be in ``groups.csv``.
    datasets, techniques, classifiers : tuple
        What is crossed.
    metrics : tuple of str
        What every cell is scored by, besides :data:`ALWAYS_MEASURED`: names of metrics and of families
        (``betabench list metrics``); the paper's four unless given.
    headline : tuple of str
        Which of them tables and figures show; the paper's four unless given, or all where none of these is
        computed. All others are in ``metrics.csv`` and in the summary.
    figures : tuple of str
        Kinds of figures that a run draws, named as the folders that they are in; all unless given.
    plugins : tuple of str
        Python files that register techniques, metrics, classifiers or kinds of bias; relative to the
        experiment file.
    published : PublishedEntry or None
        Published numbers that the experiment repeats.
    tune : TuneEntry or None
        How techniques are tuned, each beside its default setting; see :mod:`benchmark.experiment.tune`.
    """

    name: Planned[Identifier] = "experiment"
    title: Free[str] = ""
    description: Free[str] = ""
    seed: Keyed[StrictInt] = Field(default=0, ge=0)
    repetitions: Planned[StrictInt] = Field(default=10, ge=1)
    betas: Planned[tuple[Beta, ...]] = ()
    doses: Planned[tuple[Beta, ...]] = ()
    hidden: Planned[tuple[Beta, ...]] = ()
    train_rows: Derived[TrainRows] = "data"
    train: Derived[Train] = "network"
    holdout: Derived[Annotated[float, Field(gt=0, lt=1)] | None] = None
    folds: Derived[Folds | None] = None
    tests: Derived[tuple[Test, ...]] = (ORIGINAL,)
    paired_betas: Option[StrictBool] = False
    time_limit: Free[float] = Field(default=300.0, gt=0, allow_inf_nan=False)
    memory_limit: Free[float] = Field(default=4096.0, gt=0)
    smallest_group: Free[StrictInt] = Field(default=30, ge=1)
    datasets: Derived[tuple[DatasetEntry, ...]] = Field(min_length=1)
    techniques: Derived[tuple[TechniqueEntry, ...]] = Field(min_length=1)
    metrics: Free[tuple[str, ...]] = Field(default=PAPER_METRICS, min_length=1)
    headline: Free[tuple[str, ...]] = ()
    classifiers: Derived[tuple[ClassifierEntry, ...]] = Field(
        default=(ClassifierEntry(classifier="c45"),), min_length=1
    )
    figures: Free[tuple[FigureKind, ...]] = ()
    plugins: Free[tuple[str, ...]] = ()
    published: Free[PublishedEntry | None] = None
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
    def _tests_in_order(cls, tests: tuple[Test, ...]) -> tuple[Test, ...]:
        if ORIGINAL not in tests or len(set(tests)) < len(tests):
            raise ValueError("must name 'original', and each test once")
        return tuple(sorted(tests, key=list(TEST_TITLES).index))

    @model_validator(mode="after")
    def _fields_fit(self) -> Experiment:
        rules = [
            *self._wrong_levels(),
            *self._wrong_hidden(),
            *self._repeated_names(),
            *self._absent_names(),
            *self._wrong_splits(),
        ]
        if rules:
            raise PydanticCustomError("names", "{first}", {"first": rules[0], "rules": rules})
        return self

    def _wrong_levels(self) -> Iterator[str]:
        if self.betas and self.doses:
            yield "betas, doses: give one of the two; a dose is the label gap that a level of bias adds"
        if not self.betas and not self.doses:
            yield "betas: give the levels of bias, such as betas = [0, 0.2, 0.4], or doses = [0.05, 0.1]"
        if self.doses and not self.paired_betas:
            yield 'doses: every dataset has other levels of bias; give "paired_betas = true" beside them'

    def _wrong_hidden(self) -> Iterator[str]:
        if not self.hidden:
            if TRUTH in self.tests:
                yield f'tests: {TRUTH!r} is the original test unless bias is hidden; give "hidden" as well'
            if any(bias.hidden for dataset in self.datasets for bias in dataset.bias):
                yield 'bias: bias is hidden in an entry; give "hidden", the label gaps of all of them'
            return
        if not self.doses:
            yield 'hidden: hidden label gaps need label gaps on top of them; give "doses" in place of "betas"'
        if self.train != "data":
            yield (
                "hidden: only real rows have a truth beside what is taken for the original; give "
                'train = "data", and "holdout" or "folds"'
            )
        if self.tune:
            yield "hidden, tune: settings are not chosen on rows with hidden bias; give only one of them"

    def _repeated_names(self) -> Iterator[str]:
        for what, names in (
            ("datasets", [d.name for d in self.datasets]),
            ("techniques", [t.name for t in self.techniques]),
            ("classifiers", [c.name for c in self.classifiers]),
            ("metrics", list(self.metrics)),
            ("headline", list(self.headline)),
            *((f"bias of {d.card}", [b.name for b in d.bias]) for d in self.datasets),
        ):
            for name in sorted({name for name in names if names.count(name) > 1}):
                yield f"{what}: the name {name!r} is used twice; give each its own name"

    def _absent_names(self) -> Iterator[str]:
        names = [t.name for t in self.techniques]
        for entry in self.techniques:
            if entry.refit is not None and entry.refit_of not in names:
                yield f"techniques: {entry.name!r} is a refit of {entry.refit_of!r}, which is not among them"
        for dataset in self.datasets:
            for name in dataset.techniques:
                if name not in names:
                    absent = f"{dataset.name!r} asks for {name!r}, which is not among the techniques"
                    yield f"datasets: {absent}: {', '.join(names)}"
            own = dataset.techniques or names
            if dataset.baseline == OWN:
                yield from self._not_own(dataset, own)
            elif dataset.baseline not in own:
                absent = f"the baseline {dataset.baseline!r} of {dataset.name!r} is not among the techniques"
                yield f"datasets: {absent}: {', '.join(own)}"

    def _not_own(self, dataset: DatasetEntry, techniques: Sequence[str]) -> Iterator[str]:
        asked = f"{dataset.name!r} compares each technique with its own learner (baseline = {OWN!r})"
        if UNTREATED not in techniques:
            yield (
                f"datasets: {asked}, and those that take a classifier with {UNTREATED!r}, which is not among "
                f"the techniques: {', '.join(techniques)}"
            )
        classifiers = [classifier.name for classifier in self.classifiers]
        for what, names in (("techniques", techniques), ("classifiers", classifiers)):
            if OWN in names:
                yield f"{what}: {asked}, so that nothing else may have the name {OWN!r}; give it another one"

    def _wrong_splits(self) -> Iterator[str]:
        if self.tune and (self.folds or any(dataset.folds for dataset in self.datasets)):
            yield "tune, folds: a setting is chosen once in a repetition; give a holdout in place of folds"
        if self.tune is None and any(entry.tuned for entry in self.techniques):
            yield "techniques: 'tuned' says what a setting is chosen on; give the table 'tune' that says how"
        if self.holdout and self.folds:
            yield "holdout, folds: give one of the two; folds test every row once, a holdout some of them"
        if self.train == "data" and not self.splits:
            yield (
                'train: real rows to train on need others to test on; give "holdout = 0.3", or "folds = 10", '
                'beside train = "data"'
            )
        for dataset in self.datasets:
            if dataset.folds and not self.folds:
                yield f"folds: {dataset.name!r} has its own; give those of the other datasets beside them"

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels of bias, ascending: ``betas``, or 0 and the ``doses``."""
        return self.betas or tuple(sorted({0.0, *self.doses}))

    @property
    def splits(self) -> bool:
        """Whether rows are kept for testing."""
        return self.holdout is not None or self.folds is not None

    @property
    def takes_numbers(self) -> bool:
        """Whether a classifier is to have the numbers behind bins."""
        return any(classifier.encoding == "numbers" for classifier in self.classifiers)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of all metrics and families that cells are scored by: its own and those that always are."""
        ruled = self.tune.parsed.metrics if self.tune else ()
        return tuple(dict.fromkeys((*self.metrics, *self.always_measured, *ruled)))

    @property
    def always_measured(self) -> tuple[str, ...]:
        """Names of the metrics of every cell, whatever the experiment names."""
        return (*ALWAYS_MEASURED, *(OF_REPETITIONS if self.restores else ()))

    @property
    def restores(self) -> bool:
        """Whether decisions are compared with those of the model without planted bias.

        They are where real rows are trained on and nothing speaks against it, and where it is asked for.
        """
        return not self.no_clean_model and (self.train == "data" or self.asks_to_restore)

    @property
    def asks_to_restore(self) -> bool:
        """Whether it names a metric that needs the decisions of the model without planted bias."""
        return any(get_metric(name).of_run for name in metric_names(self.metrics))

    @property
    def no_clean_model(self) -> str:
        """Why no decision can be compared with that of the model without planted bias; empty if one can."""
        if not self.paired_betas:
            return (
                "its levels of bias are not paired; 'paired_betas = true' gives them the same random numbers"
            )
        if self.levels[0] > 0:
            return "0 is not among its betas, so that no model is trained without planted bias"
        if len(self.levels) < 2:
            return "0 is its only level of bias, so that there is nothing to undo"
        for dataset in self.datasets:
            compared_with = UNTREATED if dataset.baseline == OWN else dataset.baseline
            entries = [entry for entry in self.techniques if entry.name == compared_with]
            if compared_with not in (dataset.techniques or [entry.name for entry in entries]):
                return f"the baseline {compared_with!r} of {dataset.name!r} is not run"
            if entries[0].technique != UNTREATED:
                return (
                    f"the baseline {compared_with!r} of {dataset.name!r} is a technique, no untreated model"
                )
        return ""

    def technique_parameters(self, dataset: DatasetEntry, technique: TechniqueEntry) -> Parameters:
        """Return a technique's parameters on a dataset."""
        parameters = {**technique.parameters, **dataset.parameters.get(technique.technique, {})}
        # What techniques are compared with stays without mitigation whatever a dataset asks of these.
        untreated = technique.is_own_learner or technique.refit is not None
        free = dataset.baseline == OWN and untreated
        return {**parameters, **(technique.unconstrained or {})} if free else parameters

    def cells_on(self, dataset: DatasetEntry) -> tuple[tuple[str, str], ...]:
        """Return names of technique and classifier of each cell of a block, in the experiment's order.

        Techniques with a learner of their own have one cell where they are compared with that.
        """
        classifiers = [classifier.name for classifier in self.classifiers]
        compared_with_own = dataset.baseline == OWN
        return tuple(
            (entry.name, classifier)
            for entry in self.techniques
            if not dataset.techniques or entry.name in dataset.techniques
            for classifier in (
                [OWN] if compared_with_own and entry.unconstrained is not None else classifiers
            )
        )


class _ExperimentFile(Experiment):
    """An experiment file, which names itself and its seed, so that its reader need not know the defaults."""

    name: Planned[Identifier]
    title: Free[str]
    seed: Keyed[StrictInt] = Field(ge=0)
    repetitions: Planned[StrictInt] = Field(ge=1)


@dataclass(frozen=True, eq=False)
class ExpandedExperiment:
    """An experiment as it is run; only :func:`benchmark.experiment.expand.expand` makes it."""

    experiment: Experiment  # with an entry for each tuned technique, and for each learner to compare with
    techniques: Mapping[tuple[str, str], Technique]  # with their parameters, by dataset and entry
    own_baselines: Mapping[str, str]  # by entry, what is compared with its own learner; both are entries
    plugins: tuple[str, ...] = ()  # absolute paths of the files that have been loaded for it

    def untreated(self, dataset: str, technique: str, classifier: str) -> str:
        """Return the entry of the untreated learner that a technique is compared with on a dataset."""
        entry = next(entry for entry in self.experiment.datasets if entry.name == dataset)
        if entry.baseline != OWN:
            return entry.baseline
        return self.own_baselines[technique] if classifier == OWN else UNTREATED


def entries_for_names(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of an experiment file with an entry for each that a name stands for."""
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
    """Return a dataset's entry with the bias that datasets share, or the default one, if it has none."""
    if "bias" in entry or not isinstance(entry.get("card"), str):
        return entry
    if shared is None:
        # However columns are read, the paper's edits hold, unless the entry says who is deprived.
        columns = {} if entry.get("deprived_group") is None else {"columns": entry.get("columns", {})}
        try:
            typed = DatasetEntry.model_validate({**entry, "columns": {}, **columns, "bias": "label"})
        except ValidationError:
            return {**entry, "bias": "label"}  # what is wrong is said where the experiment is validated
        shared = [{"edits": [asdict(edit) for edit in default_edits(typed.find_card())]}]
    return {**entry, "bias": shared}


def default_edits(card: Card, experiment: str | None = None) -> tuple[BiasEdit, ...]:
    """Return the edits of a dataset's first bias in an experiment.

    Without an experiment they are those of the paper's, or else equation 4 on the sensitive feature. An
    ExperimentError says that an experiment is named and does not have the dataset.
    """
    digest = card.model_copy(update={"sensitive": ()}).digest  # whose groups are told apart plants nothing
    for entry in load_experiment(experiment or "paper").datasets:
        if load_card(entry.card).digest == digest:
            for bias in entry.bias:
                if edits := bias.to_bias().edits:
                    return edits
    if experiment is not None:
        remedy = "name the bias edits with --edit, a bias with --bias, or another experiment"
        raise ExperimentError(
            f"The experiment {experiment!r} edits no probabilities of the dataset {card.name!r}",
            expected="the dataset, with a bias of the kind 'cpt'",
            remedy=remedy,
        )
    return deprived_edits(card.schema())


def load_bias(kind_or_path: str) -> Bias:
    """Return the bias that a kind's name or a TOML file with its steps means.

    Raises
    ------
    UnknownNameError, BiasError
        If there is no such kind, or a parameter is wrong.
    ExperimentError
        If the file cannot be read, or is no bias.
    """
    if not kind_or_path.endswith(".toml"):
        return make_bias(kind_or_path)
    path = Path(kind_or_path).expanduser()
    content = read_toml(path, "bias file", ExperimentError, _BIAS_EXAMPLE)
    try:
        return BiasEntry.model_validate(content).to_bias()
    except ValidationError as error:
        rules = broken_rules(error, BiasEntry, "a bias")
        raise ExperimentError(
            f"The bias file {path} breaks {count_of(rules)}:\n  " + "\n  ".join(rules), remedy=_BIAS_EXAMPLE
        ) from None


@dataclass(frozen=True)
class Block:
    """Everything that is scored on one training sample."""

    dataset: str  # its name, and that of the bias, in the experiment
    bias: str
    level: float  # of bias: β, or the dose where the experiment has doses
    repetition: int  # number of the sample, from 0
    cells: tuple[tuple[str, str], ...] = ()  # names of technique and classifier, in the experiment's order


@dataclass(frozen=True)
class Shard:
    """One of several parts of an experiment, for machines that know nothing of each other.

    It has every ``count``-th block of the plan, beginning with block ``number``, from 1 to ``count``. A
    dataset's blocks stand together there, and so do those of a level of bias: of each, shards of the same
    count differ by one block at most. An ExperimentError says that there is no such part.
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
        """Return what a text such as "3/10" names; an ExperimentError says so if it names none."""
        match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if match is None:
            raise ExperimentError(
                "This is not a shard", expected="NUMBER/COUNT, such as 3/10", got=repr(text)
            )
        return cls(int(match[1]), int(match[2]))

    def of(self, blocks: Iterable[Block]) -> list[Block]:
        """Return the shard's blocks, in order; an ExperimentError says so if there are fewer than shards."""
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
"""All of an experiment."""


def load_experiment(
    name_or_path: str | Path, *, more: Callable[[dict[str, Any]], list[str]] = lambda _: []
) -> Experiment:
    """Read and check an experiment file.

    Parameters
    ----------
    name_or_path : str or Path
        A shipped experiment's name (``smoke``), or the path of a TOML file.
    more : callable(dict) -> list of str, optional
        Asked for what else is wrong with the content of a file that breaks a rule, a line each.

    Raises
    ------
    UnknownNameError
        If it is neither.
    ExperimentError
        If the file is not TOML, is of another kind, or breaks a rule; the message names file, field, rule and
        value.
    """
    return load_experiment_file(_ExperimentFile, name_or_path, more=more)


def load_plugins(experiment: Experiment, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Load the plugins that an experiment names, and more; return their absolute paths, each once.

    A PluginError says that a file is missing, fails on import or registers nothing.
    """
    paths = (str(Path(plugin).expanduser().resolve()) for plugin in (*experiment.plugins, *more))
    plugins = tuple(dict.fromkeys(paths))
    with contextlib.chdir(Path.cwd()):  # other paths are relative to here, wherever a plugin goes
        for plugin in plugins:
            load_plugin(plugin)
    return plugins


def plan_blocks(
    experiment: Experiment, reached: Callable[[str, str, float], bool] = lambda *_: True
) -> Iterator[Block]:
    """Yield the experiment's blocks in the order of its result table.

    ``reached`` says whether a dataset's bias can be planted at a level: not every dose can.
    """
    for dataset in experiment.datasets:
        cells = experiment.cells_on(dataset)
        for bias in dataset.bias:
            for level in experiment.levels:
                if not reached(dataset.name, bias.name, level):
                    continue
                for repetition in range(experiment.repetitions):
                    yield Block(dataset.name, bias.name, level, repetition, cells)
