"""Experiments with their data: test rows and learned networks, ready for samples and tests."""

import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.bias import Bias, Expected, Planted, Rows, Score
from benchmark.bias.borderline import nearness_to_boundary
from benchmark.bias.doses import Dose, solve_doses
from benchmark.columns import hidden_name
from benchmark.data import Table
from benchmark.data.card import Card, load_card
from benchmark.data.card_parts import EQUAL_ROWS, Edges, NetworkSettings, NumericColumn
from benchmark.data.load import Dataset, group_notes, load_dataset
from benchmark.data.row_facts import Judged, Numbers, Persons
from benchmark.data.source import ANYWHERE, DataNotFoundError, Sources
from benchmark.declarations import declaration_dir, list_declarations
from benchmark.errors import BetabenchError, ExperimentError
from benchmark.experiment.draws import n_held_out, split_sizes
from benchmark.experiment.entries import DatasetEntry
from benchmark.experiment.plan import Block, ExpandedExperiment, Experiment
from benchmark.experiment.telling import BiasEffect
from benchmark.experiment.versions import source_digest
from benchmark.network.bif import read_bif
from benchmark.network.learn import announcement, learn_network, merge_settings
from benchmark.network.model import Network, sample
from benchmark.registry import load_plugin
from benchmark.seeding import generator
from benchmark.techniques import Kind, get_technique
from benchmark.text.words import EMBEDDED, REAL, SAMPLED, few

_LEAST_VALIDATED = 30  # rows; with fewer, a group with a label may have no more than a person or two
_MOST_REMEMBERED = 16  # networks of training rows, which several biases share


@dataclass(frozen=True)
class Learning:
    """Settings and edges for learning a dataset's network."""

    settings: NetworkSettings
    required: Edges
    forbidden: Edges

    def of(self, table: Table) -> Network:
        """Return a table's network; raises the errors of :func:`benchmark.network.learn.learn_network`."""
        return learn_network(
            table, self.settings, required_edges=self.required, forbidden_edges=self.forbidden
        )


@dataclass(frozen=True, eq=False)
class PreparedDataset:
    """A dataset of an experiment, ready for samples and tests."""

    experiment: Experiment
    name: str  # in results: the entry's, marked if the embedded network stands in for real data
    entry: DatasetEntry
    card: Card
    embedded: bool  # whether the test data are a sample of the embedded network
    # Learned from all rows, without planted bias; None if real rows are trained on and no network stands in
    # for them.
    network_of_all: Network | None
    test: Table  # all rows; techniques are scored on all, or with splits on the held-out ones
    n_train: int  # most rows of a training sample
    biases: Mapping[str, Bias]  # by name
    learning: Learning
    score: Score | None = None  # the number behind the label, if the card names one
    boundary: NDArray[np.float64] | None = None  # nearness of rows to the boundary, if a bias needs it
    judged: Judged | None = None  # judged labels of the rows, if rows are split
    persons: Persons | None = None  # persons of the rows, if the card names them and the rows are real
    numbers: Numbers | None = None  # the numbers behind the test rows' bins, if a classifier takes them
    notes: tuple[str, ...] = ()  # sentences that readers of the test data need
    # By bias and hidden label gap: the doses on top of it, if levels are doses; and the gap, if there is one.
    solved: Mapping[tuple[str, float], tuple[Dose, ...]] = field(default_factory=dict)
    hidden: Mapping[tuple[str, float], Dose] = field(default_factory=dict)
    _planted: dict[tuple[str, float], Planted] = field(default_factory=dict, repr=False)
    _expected: dict[tuple[str, float, float], Expected] = field(default_factory=dict, repr=False)
    _learned: dict[bytes, Network] = field(default_factory=dict, repr=False)

    @property
    def network(self) -> Network:
        """The network of all rows, without planted bias, of an experiment that draws from one."""
        assert self.network_of_all is not None
        return self.network_of_all

    @property
    def folds(self) -> int | None:
        """The number of parts that are tested on in turn, if there are folds."""
        return self.entry.folds or self.experiment.folds

    @cached_property
    def split_sizes(self) -> Sequence[tuple[int, int]]:
        """Training and test rows of each split, where these vary."""
        vary = self.entry.audit or self.persons is not None or self.judged is not None
        return split_sizes(self) if vary and self.experiment.splits else ()

    @property
    def title(self) -> str:
        """The dataset's title for readers, without its provenance."""
        entry, card = self.name.removesuffix(EMBEDDED), self.card
        return card.title if entry == card.name else f"{card.title} ({entry})"

    @property
    def test_data(self) -> str:
        """The kind of the test data, in the words of tables and the manifest."""
        return SAMPLED if self.embedded else REAL

    @cached_property
    def described_biases(self) -> dict[tuple[str, bool], list[dict[str, Any]]]:
        """Descriptions of biases in cells' keys, by name, and by whether bias is planted."""
        described = {}
        for name, bias in self.biases.items():
            steps = described[name, True] = describe_bias(bias)
            # Without planted bias, parameters have no effect, except on added columns.
            described[name, False] = [
                described_step if step.widens else {**described_step, "parameters": {}}
                for described_step, step in zip(steps, bias.steps, strict=True)
            ]
        return described

    def beta_of(self, bias: str, level: float, hidden: float = 0.0) -> float:
        """Return the β of a level of bias: the level itself, unless it is a dose."""
        solved = self.solved.get((bias, hidden))
        if solved is None:
            return level
        beta = next(dose.beta for dose in solved if dose.dose == level)
        assert beta is not None  # all planned blocks can be reached
        return beta

    def hidden_beta(self, bias: str, hidden: float) -> float:
        """Return the β at which a bias hides a label gap in all rows before any level is planted."""
        beta = self.hidden[bias, hidden].beta if hidden else 0.0
        assert beta is not None  # all planned blocks can be reached
        return beta

    def reaches(self, bias: str, level: float, hidden: float = 0.0) -> bool:
        """Return whether a bias can be planted at a level, on top of a hidden label gap."""
        doses = self.solved.get((bias, hidden), ())
        return all(dose.beta is not None for dose in doses if dose.dose == level)

    def planted(self, bias: str, beta: float) -> Planted:
        """Return the network with planted bias; computed once."""
        if (bias, beta) not in self._planted:
            self._planted[bias, beta] = self.biases[bias].plant(self.network, beta)
        return self._planted[bias, beta]

    @cached_property
    def rows(self) -> Rows:
        """All rows before bias, with score, boundary and judged labels."""
        return Rows.of(self.test, self.score, self.boundary, self.judged)

    @cached_property
    def recorded_groups(self) -> NDArray[np.int16]:
        """Codes of the sensitive features in each group that occurs, shape (n_groups, n_features)."""
        return np.unique(self.test.codes[:, self.test.schema.sensitive_indices], axis=0)

    @cached_property
    def as_favored(self) -> Table:
        """All rows as if everybody belonged to the favored group, or to the largest of several."""
        codes = self.test.codes[:, self.test.schema.sensitive_indices]
        groups, n_rows = np.unique(codes[~self.test.deprived], axis=0, return_counts=True)
        favored = np.where(self.test.deprived[:, None], groups[np.argmax(n_rows)], codes)
        return self.rows.in_groups(favored).table

    @cached_property
    def favored_rows(self) -> Rows:
        """The favored group's rows, once in each group: the expected rows if groups are drawn anew."""
        favored, groups = np.flatnonzero(~self.test.deprived), self.recorded_groups
        repeated = self.rows.apart(np.tile(favored, len(groups)))
        return repeated.in_groups(np.repeat(groups, len(favored), axis=0))

    def expected(self, bias: str, beta: float, hidden: float = 0.0) -> Expected:
        """Return the expectations of training samples from all rows, or from a network of all rows.

        If groups were drawn at random, the clean model's expected rows are the favored group's, in both
        groups.
        """
        if self.experiment.train == "network":
            return self.planted(bias, beta).expected
        if (bias, beta, hidden) not in self._expected:
            recorded = beta > 0 and self.biases[bias].of_audit
            rows = self.favored_rows if self.entry.audit and not recorded else self.rows
            self._expected[bias, beta, hidden] = self.biases[bias].expected_in_rows(
                rows, beta, hidden=self.hidden_beta(bias, hidden)
            )
        return self._expected[bias, beta, hidden]

    def expectations(self, bias: str, *, hidden: float = 0.0) -> Callable[[float], Expected]:
        """Return :meth:`expected` as a function of β, up to rounding, for the solver of doses.

        Bias of β ``hidden`` was planted before.
        """
        if self.experiment.train == "network":
            return cache(lambda beta: self.biases[bias].plant(self.network, beta).expected)
        rows = self.favored_rows if self.entry.audit else self.rows
        return self.biases[bias].expectations_in_rows(rows, hidden=hidden)

    def told(self, block: Block) -> BiasEffect:
        """Return what techniques may be told about the bias of a block."""
        beta = self.beta_of(block.bias, block.level, block.hidden)
        recorded = self.expected(block.bias, beta, block.hidden).rates
        return BiasEffect(self._kinds[block.bias], recorded, self.expected(block.bias, 0.0).rates)

    @cached_property
    def _kinds(self) -> dict[str, Kind | None]:
        """What biases do to rows, by name."""
        return {name: self._kind_of(bias) for name, bias in self.biases.items()}

    def _kind_of(self, bias: Bias) -> Kind | None:
        """Return what the steps of a bias do to rows; turned labels count before rows left out."""
        effects = set[Kind]()
        for step in bias.steps:
            chances = None
            for beta in (1.0, 0.5, 0.1):  # some parameters are out of range at greater levels
                with contextlib.suppress(BetabenchError):
                    chances = step.chances(self.rows, beta)
                    break
            if chances is not None and chances.turned is not None and chances.turned.any():
                effects.add("label")
            elif chances is not None and chances.left_out is not None and chances.left_out.any():
                effects.add("selection")
        return "label" if "label" in effects else "selection" if effects else None

    def description(self, bias: str, hidden: float) -> str:
        """Return a description of a bias in words."""
        planted = self.biases[bias].description(self.network if self.experiment.train == "network" else None)
        before = f"; first it adds a label gap of {hidden:g}, and these rows count as the original ones"
        return planted + before if hidden else planted

    def network_of(self, rows: NDArray[np.intp]) -> Network:
        """Return the network that is learned from some of the rows; the last networks are remembered."""
        key = rows.tobytes()
        if key not in self._learned:
            learned = self.learning.of(self.test.take(rows))
            while len(self._learned) >= _MOST_REMEMBERED:
                del self._learned[next(iter(self._learned))]
            self._learned[key] = learned
        return self._learned[key]

    def __getstate__(self) -> dict[str, Any]:
        derived = ("rows", "as_favored", "favored_rows")
        return {**{name: value for name, value in vars(self).items() if name not in derived}, "_learned": {}}


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedExperiment(ExpandedExperiment):
    """An expanded experiment with its data: everything that a worker needs."""

    datasets: Mapping[str, PreparedDataset]  # by the dataset's name in the experiment

    def reaches(self, dataset: str, bias: str, level: float, hidden: float) -> bool:
        """Return whether a bias can be planted in a dataset at a level, on top of a hidden label gap."""
        return self.datasets[dataset].reaches(bias, level, hidden)

    @property
    def embedded(self) -> bool:
        """Whether an embedded network stands in for any dataset's real data."""
        return any(data.embedded for data in self.datasets.values())

    def __getstate__(self) -> dict[str, Any]:
        # Plugins come first, because datasets may hold kinds of bias that they declare. Techniques travel by
        # name, because classes of other libraries' techniques are made on request.
        techniques = {
            key: (technique.name, technique.parameters) for key, technique in self.techniques.items()
        }
        state = {"plugins": _Plugins(self.plugins), "techniques": techniques}
        return {**state, **{name: value for name, value in vars(self).items() if name not in state}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        techniques = {key: get_technique(name, **given) for key, (name, given) in state["techniques"].items()}
        vars(self).update({**state, "techniques": techniques})


class _Plugins(tuple[str, ...]):
    """Files of plugins; unpickling their names loads them."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (tuple(self),)


def _loaded(plugins: tuple[str, ...]) -> tuple[str, ...]:
    for plugin in plugins:
        load_plugin(plugin)
    return plugins


def embedded_network_path(card: Card) -> Path | None:
    """Return the file of a card's shipped network, or None if no shipped card has its name and rows."""
    path = declaration_dir("datasets") / "networks" / f"{card.name}.bif"
    shipped = card.name in list_declarations("datasets") and path.is_file()
    return path if shipped and load_card(card.name).rows_digest == card.rows_digest else None


def prepare_experiment(
    plan: ExpandedExperiment,
    sources: Sources = ANYWHERE,
    *,
    require_real_data: bool = False,
    say: Callable[[str], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> PreparedExperiment:
    """Return an experiment with the rows and networks of its datasets, after checking its bias edits.

    The embedded network stands in for real data that cannot be had, unless they are required. ``say`` gets
    lines on progress, downloads included, and ``note`` what a reader should know. A DataError, CardError,
    NetworkError, BiasError or ExperimentError says that data are damaged, that an edit fits no network, or
    that required data cannot be had.
    """
    sources = replace(sources, progress=_announce(say))
    datasets = {
        entry.name: _prepare_dataset(plan.experiment, entry, sources, require_real_data, say, note)
        for entry in plan.experiment.datasets
    }
    return PreparedExperiment(**vars(plan), datasets=datasets)


def _announce(say: Callable[[str], None]) -> Callable[[str, int, int | None], None]:
    """Return a progress function that names each file once, when its first bytes arrive."""
    announced: set[str] = set()

    def progress(file: str, _done: int, total: int | None) -> None:
        if file not in announced:
            announced.add(file)
            say(f"downloading {file}" + (f" ({total / 1e6:.1f} MB)" if total else ""))

    return progress


def _prepare_dataset(
    experiment: Experiment,
    entry: DatasetEntry,
    sources: Sources,
    require_real_data: bool,
    say: Callable[[str], None],
    note: Callable[[str], None],
) -> PreparedDataset:
    card = entry.find_card()
    of_card = Learning(card.network, card.required_edges, card.forbidden_edges)
    changes = entry.network.changes
    required = changes.pop("required_edges", card.required_edges)
    forbidden = changes.pop("forbidden_edges", card.forbidden_edges)
    learning = Learning(merge_settings(card.network, changes), required, forbidden)
    rng = generator(experiment.seed, purpose="test", dataset=entry.name)
    rows = find_rows(card, sources, rng, require_real_data, numbers=experiment.takes_numbers)
    test, network = rows.table, rows.network
    if network is None:
        say(f"{entry.name}: {len(test):,} real rows from {rows.source}")
        if experiment.train == "network":
            say(f"{entry.name}: {announcement(test)}")
            network = learning.of(test)
    else:
        _require_real_rows(experiment, card, rows.missing, changed=learning != of_card)
        note(f"{entry.name}: no real data found, using the embedded network. {rows.missing}.")
    for text in rows.notes:
        note(f"{entry.name}: {text}")
    roles = (card.label, *rows.table.schema.sensitive_features)  # they never have numbers
    numeric = [name for name, spec in card.columns.items() if isinstance(spec, NumericColumn)]
    binned = [f"[columns.{name}]" for name in numeric if name not in roles]
    if experiment.takes_numbers and rows.numbers is None and binned:
        note(
            f"{entry.name}: the card keeps no numbers beside its bins, so all classifiers see bins; "
            f"'numbers = true' in {entry.card} under {few(binned, 4)} keeps them."
        )
    n_train = _train_rows(experiment, entry, rows)
    if any(technique.tuned for technique in experiment.techniques):
        _require_validation_rows(experiment, entry, n_train)
    biases = {bias.name: bias.to_bias() for bias in entry.bias}
    boundary = None
    if experiment.train == "data" and any(bias.needs_boundary for bias in biases.values()):
        boundary = np.zeros(len(test))
        # If the group was drawn at random, deprived rows are left out, because they are trained on only
        # as recorded.
        trained = ~test.deprived if entry.audit else np.ones(len(test), dtype=np.bool_)
        rng = generator(experiment.seed, purpose="borderline", dataset=entry.name)
        boundary[trained] = nearness_to_boundary(test.take(trained), rng)
    data = PreparedDataset(
        experiment=experiment,
        name=entry.name + (EMBEDDED if rows.network else ""),
        entry=entry,
        card=card,
        embedded=rows.network is not None,
        network_of_all=network,
        test=test,
        n_train=n_train,
        biases=biases,
        learning=learning,
        score=rows.score if experiment.train == "data" else None,
        boundary=boundary,
        judged=rows.judged if experiment.splits else None,
        persons=rows.persons,
        numbers=rows.numbers,
        notes=(*group_notes(test), *([_audit_note(test)] if entry.audit else [])),
    )
    notes = [*data.notes]
    if data.persons is not None and experiment.splits:
        notes.append(_persons_note(data, data.persons))
    if data.judged is not None:
        notes += _judged_notes(data, data.judged)
    solved: dict[tuple[str, float], tuple[Dose, ...]] = {}
    hidden: dict[tuple[str, float], Dose] = {}
    for name, gap in itertools.product(biases, experiment.hidden_gaps):
        try:  # so that a bias that cannot be planted is reported before anything is computed
            if experiment.unit == "beta":
                for beta in experiment.levels:
                    data.expected(name, beta)
                continue
            before = Dose(0.0, 0.0, 0.0)
            if gap:
                (before,) = solve_doses(data.expectations(name), [gap])
                hidden[name, gap] = before
            if before.beta is None:
                solved[name, gap] = tuple(Dose(level, None, 0.0) for level in experiment.levels)
                most = f"hides a label gap of {before.gap:.3f} at most, not {gap:g}"
                note(f"{entry.name}: the bias {name!r} {most}.")
                continue
            solved[name, gap] = solve_doses(data.expectations(name, hidden=before.beta), experiment.levels)
            for dose in (dose for dose in solved[name, gap] if dose.beta is None):
                most = f"adds a label gap of {dose.gap:.3f} at most, not {dose.dose:g}"
                note(f"{entry.name}: the bias {hidden_name(name, gap)!r} {most}.")
        except BetabenchError as error:
            error.what = f"dataset {entry.name!r}, bias {name!r}: {error.what}"
            raise
    return replace(data, notes=tuple(notes), solved=solved, hidden=hidden)


def _require_real_rows(experiment: Experiment, card: Card, missing: str, *, changed: bool) -> None:
    """Raise an ExperimentError if the embedded network cannot stand in for real rows."""
    if changed:
        problem = (
            f"The experiment changes the learning of the network of {card.name!r}, which needs real data"
        )
        remedy = "leave the network settings to the card"
    elif experiment.takes_numbers and card.numbered:
        problem = f"A classifier needs the numbers of {card.name!r}, and an embedded network has none"
        remedy = 'leave out encoding = "numbers"'
    else:
        return
    remedy = f"get the data (--data-dir), or {remedy}"
    raise ExperimentError(problem, expected="the source files", got=missing, remedy=remedy)


def _audit_note(table: Table) -> str:
    """Return the note on rows whose group was drawn at random."""
    favored, deprived = (table.y[members].mean() for members in (~table.deprived, table.deprived))
    return (
        f"groups were drawn at random, so the label gap of {favored - deprived:+.3f} is due to how people "
        "treated them. No row has a true label, and metrics that need true labels have no value. The clean "
        "model learns from the favored group's rows alone."
    )


def _judged_notes(data: PreparedDataset, judged: Judged) -> tuple[str, str]:
    """Return the notes on judged rows; an ExperimentError says that they cannot be split."""
    if any(technique.tuned for technique in data.experiment.techniques):
        raise ExperimentError(
            f"Techniques cannot be tuned on the judged rows of {data.entry.name!r}",
            expected="techniques with settings of their own",
            got="validation rows of the same judges and persons as the training rows",
            remedy="leave out [tune], or this dataset",
        )
    if not all(map(min, data.split_sizes)):
        raise ExperimentError(
            f"The dataset {data.entry.name!r} has too few judges or persons to be split",
            expected="rows to train on and to test on in every split",
            got=f"{np.unique(judged.judges).size} judges, {np.unique(judged.persons).size} persons",
            remedy="ask for fewer folds or another holdout",
        )
    trained, tested = zip(*data.split_sizes, strict=True)
    dose, gap = judged.dose(data.test), judged.gap(data.test)
    return (
        f"people judged these rows; with their label the gap between the groups is {gap:.3f} in place of "
        f"{gap - dose:.3f}, a dose of {dose:+.3f}.",
        f"a split trains on {_least_to_most(trained)} of {len(data.test):,} judgments, and tests on "
        f"{_least_to_most(tested)} persons, each once with the true label. No judge and no person is on both "
        "sides; other rows are left out.",
    )


def _persons_note(data: PreparedDataset, persons: Persons) -> str:
    """Return the note on persons with several rows."""
    trained, tested = zip(*data.split_sizes, strict=True)
    deprived = len(np.unique(persons.numbers[data.test.deprived]))
    named = (
        "rows with the same features are" if data.card.person == EQUAL_ROWS else f"{data.card.person!r} names"
    )
    return (
        f"{named} {len(persons):,} persons in {len(data.test):,} rows, {deprived:,} of them in the deprived "
        "group. No person is on both sides of a split. "
        f"A split trains on {_least_to_most(trained)} rows, and tests on {_least_to_most(tested)}."
    )


def _least_to_most(counts: Sequence[int]) -> str:
    return " to ".join(f"{count:,}" for count in dict.fromkeys((min(counts), max(counts))))


def _train_rows(experiment: Experiment, entry: DatasetEntry, rows: Dataset) -> int:
    """Return the rows of a training sample, or the most if they vary between splits.

    An ExperimentError says that there are too few rows, or persons, for the split.
    """
    n_others = n_rows = len(rows.table)
    n_units, unit = (n_rows, "rows") if rows.persons is None else (len(rows.persons), "persons")
    varying = not (rows.judged is None and rows.persons is None) or entry.audit
    folds = entry.folds or experiment.folds
    if varying and experiment.train == "data":
        pass
    elif folds is not None:
        n_others = n_rows - n_rows // folds
    elif experiment.holdout is not None:
        n_others = n_rows - n_held_out(n_rows, experiment.holdout)
    if n_units < (folds or 2):
        raise ExperimentError(
            f"The dataset {entry.name!r} has too few {unit} to be split",
            expected=f"at least {folds or 2} {unit}",
            got=f"{n_units}",
            remedy="correct 'folds' in the experiment file",
        )
    n_wanted = entry.train_rows or experiment.train_rows
    if n_wanted == "data":
        return n_others
    return min(n_wanted, n_others) if experiment.train == "data" else n_wanted


def _require_validation_rows(experiment: Experiment, entry: DatasetEntry, n_train: int) -> None:
    """Raise an ExperimentError if settings would be chosen on a handful of rows."""
    assert experiment.tune is not None
    on = experiment.tune.on
    if (n := n_held_out(n_train, on)) < _LEAST_VALIDATED:
        raise ExperimentError(
            f"The dataset {entry.name!r} leaves too few rows to choose settings on",
            expected=f"at least {_LEAST_VALIDATED} validation rows: both groups, with both labels",
            got=f"{n}, which are on = {on:g} of {n_train:,} training rows",
            remedy="raise 'on' under [tune], or 'train_rows'",
        )


@dataclass(frozen=True, eq=False)
class FoundRows(Dataset):
    """A dataset with its real rows, or with a sample of its embedded network."""

    network: Network | None = None  # the embedded network, if it stands in for real data
    missing: str = ""  # why there are no real data


def find_rows(
    card: Card,
    sources: Sources,
    rng: np.random.Generator,
    require_real_data: bool = False,
    *,
    numbers: bool = False,
) -> FoundRows:
    """Return a dataset's real rows, or as many rows of its embedded network.

    A DataNotFoundError says that required data cannot be had, an ExperimentError that there is no embedded
    network either.
    """
    try:
        return FoundRows(**vars(load_dataset(card, sources, numbers=numbers)))
    except DataNotFoundError as missing:
        if require_real_data:
            raise
        path = embedded_network_path(card)
        if path is None or card.rows is None:
            problem = f"There are neither real data nor an embedded network for {card.name!r}"
            raise ExperimentError(problem, got=missing.what, remedy=missing.remedy) from missing
        network = read_bif(path, card.schema())
        table = sample(network, card.rows, rng)
        source = f"a sample of the embedded network {path.name}"
        return FoundRows(card, table, source, network=network, missing=missing.what)


def learned_network(card: Card, sources: Sources = ANYWHERE) -> tuple[Network, int | None, str]:
    """Return a card's network, the number of rows that it was learned from, and its origin.

    A shipped network is read, because learning it again gives the same. Otherwise the data are loaded and the
    network is learned. A DataError or NetworkError says that the data cannot be had, or that a file is
    damaged.
    """
    if (path := embedded_network_path(card)) is not None:
        return read_bif(path, card.schema()), card.rows, f"embedded network {path.name}"
    dataset = load_dataset(card, sources)
    network = Learning(card.network, card.required_edges, card.forbidden_edges).of(dataset.table)
    return network, len(dataset.table), f"learned from {dataset.source}"


def describe_bias(bias: Bias) -> list[dict[str, Any]]:
    """Return the identity of a bias: kind, code and parameters of each step."""
    return [
        {
            "name": step.name,
            "version": step.version,
            "source": source_digest(type(step)),
            "parameters": step.model_dump(mode="json"),
        }
        for step in bias.steps
    ]
