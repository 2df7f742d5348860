"""Experiments with their data: test rows and learned networks, ready for samples and tests."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmark.bias.borderline import nearness_to_boundary
from benchmark.bias.doses import Dose, solve_doses
from benchmark.columns import hidden_name
from benchmark.data import Table
from benchmark.data.card import Card, load_card
from benchmark.data.card_parts import EQUAL_ROWS, NumericColumn
from benchmark.data.load import Dataset, group_notes, load_dataset
from benchmark.data.row_facts import Judged, Persons
from benchmark.data.source import ANYWHERE, DataNotFoundError, Sources
from benchmark.declarations import declaration_dir, list_declarations
from benchmark.errors import BetabenchError, ExperimentError
from benchmark.experiment.draws import n_held_out, split_sizes
from benchmark.experiment.entries import DatasetEntry
from benchmark.experiment.plan import ExpandedExperiment, Experiment
from benchmark.experiment.prepared import Learning, PreparedDataset, PreparedExperiment, SolvedDoses
from benchmark.network.bif import read_bif
from benchmark.network.learn import announcement, merge_settings
from benchmark.network.model import Network, sample
from benchmark.seeding import generator
from benchmark.text.words import EMBEDDED, few

_LEAST_VALIDATED = 30  # rows; with fewer, a group with a label may have no more than a person or two


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
    solved: dict[tuple[str, float], SolvedDoses] = {}
    for name, gap in itertools.product(biases, experiment.hidden_gaps):
        try:  # so that a bias that cannot be planted is reported before anything is computed
            if experiment.unit == "beta":
                for beta in experiment.levels:
                    data.expected(name, beta)
                continue
            solved[name, gap] = _solved(data, name, gap, note)
        except BetabenchError as error:
            error.what = f"dataset {entry.name!r}, bias {name!r}: {error.what}"
            raise
    return replace(data, notes=tuple(notes), solved=solved)


def _solved(data: PreparedDataset, bias: str, gap: float, note: Callable[[str], None]) -> SolvedDoses:
    """Return the doses of a bias on top of a label gap; those out of reach are noted."""
    levels = data.experiment.levels
    before = solve_doses(data.expectations(bias), [gap])[0] if gap else None
    if before is not None and before.beta is None:
        most = f"hides a label gap of {before.gap:.3f} at most, not {gap:g}"
        note(f"{data.entry.name}: the bias {bias!r} {most}.")
        return SolvedDoses(tuple(Dose(level, None, 0.0) for level in levels), before)
    expectations = data.expectations(bias, 0.0 if before is None or before.beta is None else before.beta)
    solved = SolvedDoses(solve_doses(expectations, levels), before)
    for dose in (dose for dose in solved.doses if dose.beta is None):
        most = f"adds a label gap of {dose.gap:.3f} at most, not {dose.dose:g}"
        note(f"{data.entry.name}: the bias {hidden_name(bias, gap)!r} {most}.")
    return solved


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
    sizes = split_sizes(data)
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
        f"people judged these rows; with their label the gap between the groups is {gap:.3f} in place of "
        f"{gap - dose:.3f}, a dose of {dose:+.3f}.",
        f"a split trains on {_least_to_most(trained)} of {len(data.test):,} judgments, and tests on "
        f"{_least_to_most(tested)} persons, each once with the true label. No judge and no person is on both "
        "sides; other rows are left out.",
    )


def _persons_note(data: PreparedDataset, persons: Persons) -> str:
    """Return the note on persons with several rows."""
    trained, tested = zip(*split_sizes(data), strict=True)
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
    n_folds = experiment.n_folds(entry)
    if varying and experiment.train == "data":
        pass
    elif n_folds is not None:
        n_others = n_rows - n_rows // n_folds
    elif experiment.holdout is not None:
        n_others = n_rows - n_held_out(n_rows, experiment.holdout)
    if n_units < (n_folds or 2):
        raise ExperimentError(
            f"The dataset {entry.name!r} has too few {unit} to be split",
            expected=f"at least {n_folds or 2} {unit}",
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
