"""An experiment with its data: test rows and learned networks, ready to be sampled and tested on."""

from __future__ import annotations

import hashlib
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
from benchmark.data import Table
from benchmark.data.card import Card, load_card
from benchmark.data.card_parts import Edges, NetworkSettings, NumericColumn
from benchmark.data.judged import Judged
from benchmark.data.load import Dataset, group_notes, load_dataset
from benchmark.data.raw_numbers import Numbers
from benchmark.data.source import ANYWHERE, DataNotFoundError, Sources
from benchmark.declarations import declaration_dir, list_declarations
from benchmark.errors import BetabenchError, ExperimentError
from benchmark.experiment.draws import draw_folds, n_held_out, split_sizes
from benchmark.experiment.entries import DatasetEntry
from benchmark.experiment.main_script import leave_if_imported_by_a_worker
from benchmark.experiment.plan import Block, ExpandedExperiment, Experiment, Train
from benchmark.experiment.versions import source_digest
from benchmark.network.bif import read_bif
from benchmark.network.learn import learn_network, merge_settings
from benchmark.network.model import Network
from benchmark.network.sampling import sample
from benchmark.registry import load_plugin
from benchmark.seeding import generator
from benchmark.techniques import get_technique
from benchmark.text.embedded import REAL, SAMPLED, SUFFIX
from benchmark.text.words import few

_LEAST_VALIDATED = 30
"""Validation rows below which a group with a label is likely to be missing, or to be a person or two."""

_MOST_REMEMBERED = 16  # networks of training rows: those of the folds that several biases share


@dataclass(frozen=True)
class Learning:
    """How a dataset's network is learned."""

    settings: NetworkSettings
    required: Edges
    forbidden: Edges

    def of(self, table: Table) -> Network:
        """Return the network of a table; errors as of :func:`benchmark.network.learn.learn_network`."""
        return learn_network(
            table, self.settings, required_edges=self.required, forbidden_edges=self.forbidden
        )


@dataclass(frozen=True, eq=False)
class PreparedDataset:
    """One dataset of an experiment, ready to be sampled and tested on."""

    name: str  # in results: the entry's, marked where the embedded network stands in for real data
    entry: DatasetEntry
    card: Card
    embedded: bool  # whether the test data are a sample of the embedded network
    network: Network  # learned from all rows, nothing planted
    test: Table  # all rows, of which techniques are scored on all or, with splits, on those held out
    n_train: int  # rows of each training sample, at most
    biases: Mapping[str, Bias]  # by name
    learning: Learning
    train: Train = "network"  # what training samples are drawn from
    score: Score | None = None  # the number behind the label, where the card names one
    boundary: NDArray[np.float64] | None = None  # how near rows are to it, where a bias asks
    judged: Judged | None = None  # what people judged of the rows, where these are split
    numbers: Numbers | None = (
        None  # those that the test rows' bins were cut from, where a classifier takes them
    )
    folds: int | None = None  # number of parts that are tested on in turn, where rows are split so
    strata: str | None = None  # column to stratify by, for metrics that need one
    attributes: tuple[str, ...] = ()  # columns by whose groups results are told apart
    notes: tuple[str, ...] = ()  # what readers should know of the test data, as sentences
    doses: Mapping[str, tuple[Dose, ...]] = field(
        default_factory=dict
    )  # of each bias, where levels are doses
    hidden: Mapping[str, Dose] = field(default_factory=dict)  # of each bias that is also hidden, its gap
    _planted: dict[tuple[str, float], tuple[Planted, str]] = field(default_factory=dict, repr=False)
    _expected: dict[tuple[str, float], Expected] = field(default_factory=dict, repr=False)
    _learned: dict[bytes, Network] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """What the dataset is called for readers, its provenance apart."""
        return self.card.title_as(self.name.removesuffix(SUFFIX))

    @property
    def test_data(self) -> str:
        """What the test data are, in the words that tables and the manifest use."""
        return SAMPLED if self.embedded else REAL

    @cached_property
    def described_biases(self) -> dict[tuple[str, bool], list[dict[str, Any]]]:
        """What identifies each bias in cells' keys, by its name, and whether any is planted."""
        described = {}
        for name, bias in self.biases.items():
            steps = described[name, True] = describe_bias(bias)
            # Where no bias is planted, parameters do not act, except on columns that are added.
            described[name, False] = [
                own if step.widens else {**own, "parameters": {}}
                for own, step in zip(steps, bias.steps, strict=True)
            ]
        return described

    def beta_of(self, bias: str, level: float) -> float:
        """Return the β that is planted at a level of bias: the level itself, unless it is a dose."""
        solved = self.doses.get(bias)
        if solved is None:
            return level
        beta = next(dose.beta for dose in solved if dose.dose == level)
        assert beta is not None  # no block is planned that cannot be reached
        return beta

    def hidden_beta(self, bias: str) -> float:
        """Return the β at which a bias is hidden in all rows before any level of it; 0 if it is not."""
        beta = self.hidden[bias].beta if bias in self.hidden else 0.0
        assert beta is not None  # no block is planned that cannot be reached
        return beta

    def reaches(self, bias: str, level: float) -> bool:
        """Return whether a bias can be planted at a level."""
        return all(dose.beta is not None for dose in self.doses.get(bias, ()) if dose.dose == level)

    def planted(self, bias: str, beta: float) -> tuple[Planted, str]:
        """Return the network with bias planted, and the digest of what rows are drawn from; made once."""
        if (bias, beta) not in self._planted:
            planted = self.biases[bias].plant(self.network, beta)
            self._planted[bias, beta] = planted, network_digest(planted.network)
        return self._planted[bias, beta]

    @cached_property
    def rows(self) -> Rows:
        """All rows before bias, with what is known of them beside their table."""
        return Rows.of(self.test, self.score, self.boundary, self.judged)

    @cached_property
    def recorded_groups(self) -> NDArray[np.int16]:
        """Codes of the sensitive features of each group that occurs, shape (n_groups, n_features)."""
        return np.unique(self.test.codes[:, self.test.schema.sensitive_indices], axis=0)

    @cached_property
    def as_favored(self) -> Table:
        """All rows as if everybody were of the favored group, or of the largest of several."""
        codes = self.test.codes[:, self.test.schema.sensitive_indices]
        groups, n_rows = np.unique(codes[~self.test.deprived], axis=0, return_counts=True)
        favored = np.where(self.test.deprived[:, None], groups[np.argmax(n_rows)], codes)
        return self.rows.in_groups(favored).table

    @cached_property
    def favored_rows(self) -> Rows:
        """The favored group's rows, once in each group: what is expected where groups are drawn anew."""
        favored, groups = np.flatnonzero(~self.test.deprived), self.recorded_groups
        repeated = self.rows.apart(np.tile(favored, len(groups)))
        return repeated.in_groups(np.repeat(groups, len(favored), axis=0))

    def expected(self, bias: str, beta: float) -> Expected:
        """Return what is expected of training samples, where all rows are trained on or learned from.

        Where chance decided who belongs to which group, the clean model's rows are expected to be those that
        both groups would have if both were treated as the favored one.
        """
        if self.train == "network":
            return self.planted(bias, beta)[0].expected
        if (bias, beta) not in self._expected:
            recorded = beta > 0 and self.biases[bias].of_audit
            rows = self.favored_rows if self.entry.audit and not recorded else self.rows
            hidden = self.hidden_beta(bias)
            self._expected[bias, beta] = self.biases[bias].expected_in_rows(rows, beta, hidden=hidden)
        return self._expected[bias, beta]

    def expectations(self, bias: str, *, hidden: float = 0.0) -> Callable[[float], Expected]:
        """Return what says what :meth:`expected` does at any level, to rounding: for the solver of doses.

        Bias of level ``hidden`` was planted before.
        """
        if self.train == "network":
            return cache(lambda beta: self.biases[bias].plant(self.network, beta).expected)
        rows = self.favored_rows if self.entry.audit else self.rows
        return self.biases[bias].expectations_in_rows(rows, hidden=hidden)

    def description(self, bias: str) -> str:
        """Say in words what is planted."""
        planted = self.biases[bias].description(self.network if self.train == "network" else None)
        if bias not in self.hidden:
            return planted
        gap = self.hidden[bias].dose
        return f"{planted}; first as much of it as adds a label gap of {gap:g}, taken for the original"

    def network_of(self, rows: NDArray[np.intp]) -> Network:
        """Return the network that is learned from some of the rows; that of the last ones is remembered."""
        key = rows.tobytes()
        if key not in self._learned:
            learned = self.learning.of(self.test.take(rows))
            while len(self._learned) >= _MOST_REMEMBERED:
                del self._learned[next(iter(self._learned))]
            self._learned[key] = learned
        return self._learned[key]

    def __getstate__(self) -> dict[str, Any]:
        made = ("rows", "as_favored", "favored_rows")
        return {**{name: value for name, value in vars(self).items() if name not in made}, "_learned": {}}


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedExperiment(ExpandedExperiment):
    """An expanded experiment with its data: all that a worker needs."""

    datasets: Mapping[str, PreparedDataset]  # by the dataset's name in the experiment

    def reaches(self, dataset: str, bias: str, level: float) -> bool:
        """Return whether a bias can be planted in a dataset at a level."""
        return self.datasets[dataset].reaches(bias, level)

    @property
    def embedded(self) -> bool:
        """Whether an embedded network stands in for any dataset's real data."""
        return any(data.embedded for data in self.datasets.values())

    def training_sample(self, block: Block) -> Table:
        """Return the rows that a block's techniques are trained on, at first if there are several folds."""
        return next(draw_folds(self.datasets[block.dataset], block, self.experiment)).train

    def __getstate__(self) -> dict[str, Any]:
        # Plugins first, because scenes may hold kinds of bias that these declare. Classes of other libraries'
        # techniques are made when they are asked for, so that techniques travel by name.
        techniques = {place: (own.name, own.parameters) for place, own in self.techniques.items()}
        state = {"plugins": _Plugins(self.plugins), "techniques": techniques}
        return {**state, **{name: value for name, value in vars(self).items() if name not in state}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        techniques = {
            place: get_technique(name, **given) for place, (name, given) in state["techniques"].items()
        }
        vars(self).update({**state, "techniques": techniques})


class _Plugins(tuple[str, ...]):
    """Files of plugins, which are loaded where a pickle of their names is."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (tuple(self),)


def _loaded(plugins: tuple[str, ...]) -> tuple[str, ...]:
    for plugin in plugins:
        load_plugin(plugin)
    return plugins


def embedded_network_path(card: Card) -> Path | None:
    """Return the file of the shipped network of a card, or None if there is none.

    A card that shares a shipped one's name but not its rows has none.
    """
    path = declaration_dir("datasets") / "networks" / f"{card.name}.bif"
    shipped = card.name in list_declarations("datasets") and path.is_file()
    return path if shipped and load_card(card.name).rows_digest == card.rows_digest else None


def prepare_experiment(
    plan: ExpandedExperiment,
    sources: Sources = ANYWHERE,
    *,
    require_real_data: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> PreparedExperiment:
    """Load or embed every dataset of an experiment, learn its network, and check its bias edits.

    Where real data are not required, the embedded network stands in if they cannot be had. ``say`` gets each
    line of what is going on, downloads included.

    Raises
    ------
    DataError, CardError, NetworkError, BiasError, ExperimentError
        If data are damaged, an edit fits no network, or real data are required and not to be had.
    """
    leave_if_imported_by_a_worker()
    sources = replace(sources, progress=_announce(say))
    datasets = {
        entry.name: _prepare_dataset(plan.experiment, entry, sources, require_real_data, say)
        for entry in plan.experiment.datasets
    }
    return PreparedExperiment(**vars(plan), datasets=datasets)


def _announce(say: Callable[[str], None]) -> Callable[[str, int, int | None], None]:
    """Return a download progress that names each file once, when its first bytes have come."""
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
) -> PreparedDataset:
    card = entry.find_card()
    of_card = Learning(card.network, card.required_edges, card.forbidden_edges)
    changes = entry.network.changes
    required = changes.pop("required_edges", card.required_edges)
    forbidden = changes.pop("forbidden_edges", card.forbidden_edges)
    learning = Learning(merge_settings(card.network, changes), required, forbidden)
    rng = generator(experiment.seed, purpose="test", dataset=entry.name)
    found = find_rows(card, sources, rng, require_real_data, numbers=experiment.takes_numbers)
    test, network = found.table, found.network
    if network is None:
        network = learning.of(test)
        say(f"{entry.name}: {len(test):,} real rows from {found.source}")
    elif learning != of_card:
        raise ExperimentError(
            f"The experiment changes how the network of {card.name!r} is learned, and without real data it "
            "cannot be learned again",
            expected="the source files",
            got=found.missing,
            remedy="get the data (--data-dir), or leave the network settings to the card",
        )
    else:
        say(f"{entry.name}: no real data found, using the embedded network. {found.missing}.")
    for note in found.notes:
        say(f"Note, {entry.name}: {note}")
    if experiment.takes_numbers and card.numbered and found.network is not None:
        raise ExperimentError(
            f"A classifier is to have the numbers of {card.name!r}, and an embedded network has none",
            expected="the source files",
            got=found.missing,
            remedy='get the data (--data-dir), or leave out encoding = "numbers"',
        )
    roles = (card.label, *found.table.schema.sensitive_features)  # which are read as states all the same
    binned = [name for name, own in card.columns.items() if isinstance(own, NumericColumn)]
    binned = [f"[columns.{name}]" for name in binned if name not in roles]
    if experiment.takes_numbers and found.numbers is None and binned:
        say(
            f"Note, {entry.name}: the card keeps no numbers beside its bins, so all classifiers see bins; "
            f"'numbers = true' in {entry.card} under {few(binned, 4)} keeps them."
        )
    n_train = _train_rows(experiment, entry, len(test), found.judged is not None or entry.audit)
    if any(technique.tuned for technique in experiment.techniques):
        _require_validation_rows(experiment, entry, n_train)
    biases = {bias.name: bias.to_bias() for bias in entry.bias}
    boundary = None
    if experiment.train == "data" and any(bias.needs_boundary for bias in biases.values()):
        lots = generator(experiment.seed, purpose="borderline", dataset=entry.name)
        boundary = np.zeros(len(test))
        # Others are not trained on where the group was drawn at random, unless as they are recorded.
        known = ~test.deprived if entry.audit else np.ones(len(test), dtype=np.bool_)
        boundary[known] = nearness_to_boundary(test.take(known), lots)
    data = PreparedDataset(
        name=entry.name + (SUFFIX if found.network else ""),
        entry=entry,
        card=card,
        embedded=found.network is not None,
        network=network,
        test=test,
        n_train=n_train,
        biases=biases,
        learning=learning,
        train=experiment.train,
        score=found.score if experiment.train == "data" else None,
        boundary=boundary,
        judged=found.judged if experiment.splits else None,
        numbers=found.numbers,
        folds=entry.folds or experiment.folds,
        strata=entry.strata,
        attributes=card.attributes,
        notes=group_notes(test),
    )
    if entry.audit:
        data = replace(data, notes=(*data.notes, _audit_note(test)))
    if data.judged is not None:
        data = replace(
            data,
            notes=(
                *data.notes,
                *_judged_notes(experiment, data, data.judged),
            ),
        )
        for note in data.notes[-2:]:
            say(f"Note, {entry.name}: {note}")
    doses: dict[str, tuple[Dose, ...]] = {}
    hidden: dict[str, Dose] = {}
    for bias in entry.bias:
        name = bias.name
        try:  # so that what cannot be planted is known before anything is computed
            if bias.hidden:
                (hidden[name],) = solve_doses(data.expectations(name), [bias.hidden])
            if experiment.doses:
                doses[name] = _solved(data, name, experiment.levels, hidden.get(name))
                for dose in (own for own in doses[name] if own.beta is None):
                    most = f"adds a label gap of {dose.gap:.3f} at most, not {dose.dose:g}"
                    if name in hidden and (gap := hidden[name]).beta is None:
                        most = f"hides a label gap of {gap.gap:.3f} at most, not {gap.dose:g}"
                    say(f"Note, {entry.name}: the bias {name!r} {most}.")
            for beta in experiment.betas:
                data.expected(name, beta)
        except BetabenchError as error:
            error.what = f"dataset {entry.name!r}, bias {name!r}: {error.what}"
            raise
    return replace(data, doses=doses, hidden=hidden)


def _solved(
    data: PreparedDataset, bias: str, levels: Sequence[float], hidden: Dose | None
) -> tuple[Dose, ...]:
    """Return the doses of a bias on top of a hidden one; none can be reached if that cannot."""
    if hidden is None:
        return solve_doses(data.expectations(bias), levels)
    if hidden.beta is None:
        return tuple(Dose(level, None, 0.0) for level in levels)
    return solve_doses(data.expectations(bias, hidden=hidden.beta), levels)


def _audit_note(table: Table) -> str:
    """Return what is said of rows whose group was drawn at random."""
    favored, deprived = (table.y[own].mean() for own in (~table.deprived, table.deprived))
    return (
        "chance decided who belongs to which group, so that the label gap of "
        f"{favored - deprived:+.3f} is how people treated them; nobody has a true label, and metrics that "
        "need one have no value. The clean model learns from the favored group's rows alone."
    )


def _judged_notes(experiment: Experiment, data: PreparedDataset, judged: Judged) -> tuple[str, str]:
    """Return what is said of rows that people judged; an ExperimentError says that they cannot be split."""
    if any(technique.tuned for technique in experiment.techniques):
        raise ExperimentError(
            f"Techniques cannot be tuned on {data.entry.name!r}, whose rows people judged",
            expected="techniques with settings of their own",
            got="validation rows of the same judges and persons as the rows that are trained on",
            remedy="leave [tune] out, or this dataset",
        )
    sizes = split_sizes(data, experiment)
    if not all(map(min, sizes)):
        raise ExperimentError(
            f"The dataset {data.entry.name!r} has too few judges or persons to be split",
            expected="rows to train on and to test on in every split",
            got=f"{np.unique(judged.judges).size} judges, {np.unique(judged.persons).size} persons",
            remedy="ask for fewer folds or another holdout",
        )
    trained, tested = zip(*sizes, strict=True)
    dose, gap = judged.dose(data.test), judged.gap(data.test)
    return (
        f"people judged these rows; their label makes the gap between the groups {gap:.3f} in place of "
        f"{gap - dose:.3f}, a dose of {dose:+.3f}.",
        f"of {len(data.test):,} judgements, {_least_to_most(trained)} are left to train on in a split, and "
        f"{_least_to_most(tested)} persons to test on, each once with the true label: no judge and no person "
        "is on both sides, and rows that cross are left out.",
    )


def _least_to_most(counts: Sequence[int]) -> str:
    return " to ".join(f"{count:,}" for count in dict.fromkeys((min(counts), max(counts))))


def _train_rows(experiment: Experiment, entry: DatasetEntry, n_rows: int, varying: bool) -> int:
    """Return how many rows a training sample has; an ExperimentError says that rows cannot be split so.

    Where it is ``varying``, some rows are left out in each split, it is the most that there may be.
    """
    n_others = n_rows
    folds = entry.folds or experiment.folds
    if varying and experiment.train == "data":
        pass
    elif folds is not None:
        n_others = n_rows - n_rows // folds
    elif experiment.holdout is not None:
        n_others = n_rows - n_held_out(n_rows, experiment.holdout)
    if n_rows < (folds or 2):
        raise ExperimentError(
            f"The dataset {entry.name!r} has too few rows to be split",
            expected=f"at least {folds or 2} rows",
            got=f"{n_rows}",
            remedy="correct 'folds' in the experiment file",
        )
    asked = entry.train_rows or experiment.train_rows
    if asked == "data":
        return n_others
    return min(asked, n_others) if experiment.train == "data" else asked


def _require_validation_rows(experiment: Experiment, entry: DatasetEntry, n_train: int) -> None:
    """Raise an ExperimentError where settings would be chosen by a handful of rows."""
    assert experiment.tune is not None
    on = experiment.tune.on
    if (n := n_held_out(n_train, on)) < _LEAST_VALIDATED:
        raise ExperimentError(
            f"The dataset {entry.name!r} leaves too few rows to choose settings by",
            expected=f"at least {_LEAST_VALIDATED} validation rows: both groups, with both labels",
            got=f"{n}, which are on = {on:g} of {n_train:,} training rows",
            remedy="raise 'on' under [tune], or 'train_rows'",
        )


@dataclass(frozen=True, eq=False)
class FoundRows(Dataset):
    """A dataset with its real rows, or with a sample of its embedded network in their place."""

    network: Network | None = None  # the embedded one that stands in for real data
    missing: str = ""  # why there are no real data; else empty


def find_rows(
    card: Card,
    sources: Sources,
    rng: np.random.Generator,
    require_real_data: bool = False,
    *,
    numbers: bool = False,
) -> FoundRows:
    """Return a dataset's real rows or, where they cannot be had, as many of its embedded network.

    A DataNotFoundError says that real data are required and cannot be had, an ExperimentError that there is
    no embedded network either.
    """
    try:
        return FoundRows(**vars(load_dataset(card, sources, numbers=numbers)))
    except DataNotFoundError as missing:
        if require_real_data:
            raise
        path = embedded_network_path(card)
        if path is None or card.rows is None:
            what = f"There is neither real data nor an embedded network for {card.name!r}"
            raise ExperimentError(what, got=missing.what, remedy=missing.remedy) from missing
        network = read_bif(path, card.schema())
        table = sample(network, card.rows, rng)
        source = f"a sample of the embedded network {path.name}"
        return FoundRows(card, table, source, network=network, missing=missing.what)


def learned_network(card: Card, sources: Sources = ANYWHERE) -> tuple[Network, int | None, str]:
    """Return a card's network, the number of rows that it was learned from, and where it comes from.

    A shipped network is taken as it is, because learning it again gives the same; for a card without one the
    data are loaded and the network is learned. DataError and NetworkError say that there is no shipped
    network and the data cannot be had, or that the file is damaged.
    """
    path = embedded_network_path(card)
    if path is not None:
        return read_bif(path, card.schema()), card.rows, f"embedded network {path.name}"
    dataset = load_dataset(card, sources)
    network = Learning(card.network, card.required_edges, card.forbidden_edges).of(dataset.table)
    return network, len(dataset.table), f"learned from {dataset.source}"


def network_digest(network: Network) -> str:
    """Return the SHA-256 of a network's schema, graph and probabilities."""
    h = hashlib.sha256(repr((network.schema, network.parents)).encode())
    for cpt in network.cpts:
        h.update(np.ascontiguousarray(cpt, dtype="<f8").tobytes())
    return h.hexdigest()


def describe_bias(bias: Bias) -> list[dict[str, Any]]:
    """Return what identifies a bias: the kind and parameters of each step."""
    return [
        {
            "name": step.name,
            "version": step.version,
            "source": source_digest(type(step)),
            "parameters": step.model_dump(mode="json"),
        }
        for step in bias.steps
    ]
