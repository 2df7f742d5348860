"""From an experiment file to the experiment as it is run: read, narrowed, checked, and expanded once."""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmark.columns import TRUTH, UNTREATED
from benchmark.declarations import broken_rules, find_declaration, list_declarations
from benchmark.errors import BiasError, ExperimentError, UnknownNameError
from benchmark.experiment.entries import (
    ClassifierEntry,
    DatasetEntry,
    TechniqueEntry,
    TrainRows,
    levels_of,
    listed_techniques,
)
from benchmark.experiment.evaluate import configured_techniques
from benchmark.experiment.plan import ExpandedExperiment, Experiment, load_experiment, load_plugins, with_bias
from benchmark.experiment.tuning_rule import with_tuned
from benchmark.experiment.validate import broken_names, check_experiment, naming_plugins
from benchmark.models import entry_name
from benchmark.techniques import list_techniques, load_plugin

_LITE_ROWS, _LITE_REPETITIONS, _LITE_FOLDS = 1000, 2, 2


def load_for_run(
    experiment: str | Path | Experiment,
    plugins: Iterable[str] = (),
    change: Callable[[Experiment], Experiment] = lambda whole: whole,
) -> ExpandedExperiment:
    """Return an experiment as it is run, after loading its plugins and further ``plugins``.

    ``change`` takes part of the experiment before it is checked: :func:`narrow`, :func:`lite`. Raises the
    errors of :func:`expand` and of :func:`~benchmark.experiment.plan.load_experiment`, which list broken
    rules together with unknown names and wrong parameters. A PluginError says that a plugin cannot be loaded.
    """
    plugins = tuple(plugins)
    if isinstance(experiment, Experiment):
        whole = experiment
    else:
        whole = load_experiment(experiment, more=functools.partial(broken_names, plugins=plugins))
    files = load_plugins(whole, plugins)
    chosen = change(whole)
    with naming_file(experiment):
        return expand(chosen, files)


def expand(experiment: Experiment, plugins: tuple[str, ...] = ()) -> ExpandedExperiment:
    """Return an experiment as it is run, with further entries, and its techniques.

    There are entries for tuned techniques (:func:`~benchmark.experiment.tuning_rule.with_tuned`). Techniques'
    own learners have entries among the classifiers. Refits of doing nothing have entries where decisions are
    compared with the clean model's.

    An expanded experiment stays as it is. ``plugins`` are the loaded files. Raises the errors of
    :func:`~benchmark.experiment.validate.check_experiment`, and an ExperimentError if an entry has the name
    of a further one.
    """
    check_experiment(experiment)
    whole = _with_refits(_with_learners(with_tuned(experiment)))
    return ExpandedExperiment(whole, configured_techniques(whole), plugins)


def _with_learners(experiment: Experiment) -> Experiment:
    """Return an experiment with a classifier for each learner that its techniques bring.

    Techniques that differ only in their mitigation share a learner. An ExperimentError says that its name
    belongs to another entry, or that there is nothing to compare its techniques with.
    """
    if experiment.mixed_learners:
        return experiment
    classifiers = list(experiment.classifiers)
    known = {classifier.learner for classifier in classifiers}
    names = {*(entry.name for entry in experiment.techniques), *(entry.name for entry in classifiers)}
    for entry in experiment.techniques:
        if (learner := entry.learner) in known or learner is None:
            continue
        known.add(learner)
        short = f"{entry_name(entry.technique)}_learner"
        name = f"{entry.name}_learner" if short in names else short
        if name in names:
            problem = f"The name {name!r} belongs to the learner of {entry.name!r}"
            raise ExperimentError(problem, got="an entry with this name", remedy="rename it")
        names.add(name)
        parameters = {**entry.parameters, **(entry.unconstrained or {})}
        classifiers.append(
            ClassifierEntry(classifier=name, parameters=parameters, learner_of=entry.technique)
        )
    whole = experiment.model_copy(update={"classifiers": tuple(classifiers)})
    for dataset in experiment.datasets:
        for classifier in whole.classifiers:
            tried = [name for name, other in whole.cells_on(dataset) if other == classifier.name]
            # A run of some techniques alone, without a baseline, is one to join with others.
            if classifier.learner_of and tried and not {dataset.baseline, UNTREATED} & {*tried}:
                raise ExperimentError(
                    f"On {dataset.name!r} the baseline {dataset.baseline!r} is not run with the learner "
                    f"{classifier.name!r}",
                    expected=f"that baseline, or {UNTREATED!r}, which is run with every learner",
                    got=", ".join(tried),
                    remedy=f"add {UNTREATED!r} to the techniques, or compare them with those of another "
                    "learner: write 'mixed_learners = true'",
                )
    return whole


def _with_refits(experiment: Experiment) -> Experiment:
    """Return an experiment with two refits of each untreated entry, on clean and on biased rows.

    They tell how far a learner differs from itself on other rows of the same kind. An experiment that has
    refits, or compares nothing with the clean model, stays as it is.
    """
    if not experiment.restores or any(entry.refit for entry in experiment.techniques):
        return experiment
    given = [entry.name for entry in experiment.techniques]
    baselines = {dataset.baseline for dataset in experiment.datasets}
    added: list[TechniqueEntry] = []
    refits: dict[str, list[str]] = {}
    for entry in experiment.techniques:
        for rows in ("clean", "biased") if entry.name in baselines else ():
            name = f"refit_{rows}" if entry.name == UNTREATED else f"{entry.name}_refit_{rows}"
            title = f"{entry.title}, refit on {rows} rows"
            update = {"name": name, "title": title, "refit": rows, "refit_of": entry.name}
            added.append(entry.model_copy(update=update))
            refits.setdefault(entry.name, []).append(name)
    if taken := [entry.name for entry in added if entry.name in given]:
        problem = f"The name {taken[0]!r} belongs to a reference row"
        raise ExperimentError(problem, got="an entry with this name", remedy="rename it")

    def techniques_on(dataset: DatasetEntry) -> tuple[str, ...]:
        names = dataset.techniques or given
        of_baseline = refits[dataset.baseline]
        return (*names, *of_baseline) if dataset.techniques or len(of_baseline) < len(added) else ()

    return experiment.with_techniques((*experiment.techniques, *added), techniques_on)


@contextlib.contextmanager
def naming_file(experiment: object) -> Iterator[None]:
    """Let errors of an experiment file begin with its name."""
    try:
        yield
    except (BiasError, ExperimentError) as error:
        if str(experiment).endswith(".toml"):
            error.what = f"{experiment}, {error.what}"
        raise


def narrow(
    experiment: Experiment,
    *,
    datasets: Sequence[str] | None = None,
    techniques: Sequence[str] | None = None,
    without: Sequence[str] | None = None,
    classifiers: Sequence[str] | None = None,
    betas: Sequence[float] | None = None,
    doses: Sequence[float] | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    plugins: Iterable[str | Path] = (),
) -> Experiment:
    """Return the experiment with parts chosen on the command line, in the experiment's order.

    A dataset may be the path of a card, which gets the default bias. Techniques that the file does not list
    are added with default parameters: registered ones, and other libraries' by name. So are classifiers, by
    name or by the path of their class. Unless ``techniques`` are chosen, those of the loaded ``plugins`` are
    added to the experiment's. Beside a chosen technique with a learner of its own, doing nothing is added.
    Techniques ``without`` are left out.

    An UnknownNameError says that a dataset or a technique to leave out is not in the experiment, or a
    technique unknown. An ExperimentError says that a level or number is out of range, that doses do not fit,
    that no technique is left, or that two datasets have one name.
    """
    changes: dict[str, Any] = {}
    chosen = experiment.datasets
    if datasets is not None:
        listed = [d.name for d in experiment.datasets]
        cards = _own_datasets([name for name in datasets if name not in listed], experiment)
        chosen = (*(d for d in experiment.datasets if d.name in datasets), *cards)
    listed = [t.name for t in experiment.techniques]
    kept, named = experiment.techniques, _techniques_of(plugins, experiment)
    if techniques is not None:
        registered = list_techniques()
        named = [entry for name in techniques for entry in _named_techniques(name)]
        for entry in named:
            if entry.name not in listed and ":" not in entry.technique and entry.technique not in registered:
                with naming_plugins():
                    raise UnknownNameError("technique", entry.technique, {*listed, *registered})
        named = [*_missing_baseline(named, experiment), *named]
        names = [entry.name for entry in named]
        kept = tuple(t for t in experiment.techniques if t.name in names)
    added = {entry.name: entry for entry in named if entry.name not in listed}
    changes["techniques"] = entries = (*kept, *added.values())
    # An added technique runs on every dataset.
    chosen = tuple(
        d.model_copy(update={"techniques": (*d.techniques, *added)}) if d.techniques else d for d in chosen
    )
    if without is not None:
        names = [entry.name for entry in entries]
        for name in without:
            if name not in names:
                raise UnknownNameError("technique in this run", name, names)
        changes["techniques"] = tuple(entry for entry in entries if entry.name not in without)
        if not changes["techniques"]:
            raise ExperimentError("No technique is left", got=f"all {len(names)} with --without")
    if classifiers is not None:
        listed = [c.name for c in experiment.classifiers]
        changes["classifiers"] = (
            *(c for c in experiment.classifiers if c.name in classifiers),
            *(ClassifierEntry(classifier=n) for n in dict.fromkeys(classifiers) if n not in listed),
        )
    if betas is not None:
        tests = tuple(test for test in experiment.tests if test != TRUTH)
        changes |= {"betas": levels_of(betas), "doses": (), "hidden": (), "tests": tests}
    if doses is not None:
        if betas is not None or not experiment.doses:
            raise ExperimentError(
                "Doses cannot be chosen here",
                expected="--doses alone, for an experiment with 'doses'",
                got="levels of β as well" if betas is not None else f"betas in {experiment.name!r}",
                remedy="choose levels of β with --betas, or write 'doses' in the experiment file",
            )
        changes["doses"] = levels_of(doses)
    if repetitions is not None:
        if repetitions < 1:
            raise ExperimentError("Too few repetitions", expected="1 or more", got=str(repetitions))
        changes["repetitions"] = repetitions
    if seed is not None:
        if seed < 0:
            raise ExperimentError("The seed is out of range", expected="0 or more", got=str(seed))
        changes["seed"] = seed
    return experiment.model_copy(update={**changes, "datasets": chosen})


def _techniques_of(plugins: Iterable[str | Path], experiment: Experiment) -> list[TechniqueEntry]:
    """Return an entry for each technique of the plugins that no entry of the experiment runs."""
    theirs = [name for file in plugins for name in load_plugin(file)]
    tried = {entry.technique for entry in experiment.techniques}
    return [TechniqueEntry(technique=name) for name in theirs if name not in tried]


def _named_techniques(name: str) -> list[TechniqueEntry]:
    """Return the entries of a name on the command line; an ExperimentError says that it is malformed."""
    try:
        return [TechniqueEntry.model_validate(entry) for entry in listed_techniques(name)]
    except ValidationError as error:  # which is a ValueError as well
        rules = " and ".join(broken_rules(error, TechniqueEntry, "a technique"))
        raise ExperimentError(f"The name of the technique {name!r} is wrong: {rules}") from None
    except ValueError as error:
        raise ExperimentError(f"The technique {name!r} {error}") from None


def _missing_baseline(named: Sequence[TechniqueEntry], experiment: Experiment) -> list[TechniqueEntry]:
    """Return doing nothing, if it is not named beside a technique with a learner of its own."""
    listed = {entry.name: entry for entry in experiment.techniques}
    chosen = [listed.get(entry.name, entry) for entry in named]
    with_own = any(entry.unconstrained is not None for entry in chosen) and not experiment.mixed_learners
    if not with_own or any(entry.technique == UNTREATED for entry in chosen):
        return []
    untreated = (entry for entry in experiment.techniques if entry.technique == UNTREATED and not entry.refit)
    return [next(untreated, TechniqueEntry(technique=UNTREATED))]


def lite(experiment: Experiment) -> Experiment:
    """Return an experiment on few small samples, for a try, with a name of its own.

    It keeps the lowest and the highest level of bias, and all datasets, techniques, classifiers and metrics,
    so that its files have the same columns.
    """

    def few(rows: TrainRows) -> int:
        return _LITE_ROWS if rows == "data" else min(rows, _LITE_ROWS)

    def smaller(entry: DatasetEntry) -> DatasetEntry:
        folds, rows = entry.folds, entry.train_rows
        update = {"train_rows": rows and few(rows), "folds": folds and min(folds, _LITE_FOLDS)}
        return entry.model_copy(update=update)

    changes = {
        "name": f"{experiment.name}_lite",
        "title": f"{experiment.title} (tried on small samples)",
        "repetitions": min(_LITE_REPETITIONS, experiment.repetitions),
        "betas": tuple(sorted({*experiment.betas[:1], *experiment.betas[-1:]})),
        "doses": experiment.doses[-1:],
        "hidden": tuple(sorted({*experiment.hidden[:1], *experiment.hidden[-1:]})),
        "train_rows": few(experiment.train_rows),
        "folds": experiment.folds and min(experiment.folds, _LITE_FOLDS),
        "datasets": tuple(map(smaller, experiment.datasets)),
    }
    return experiment.model_copy(update=changes)


def _own_datasets(names: Sequence[str], experiment: Experiment) -> tuple[DatasetEntry, ...]:
    """Return an entry for each card that is named by its path."""
    for name in names:
        if not name.endswith(".toml"):
            raise _not_in_experiment(name, experiment)
        find_declaration("datasets", name)
    cards = dict.fromkeys(str(Path(name).expanduser()) for name in names)
    entries = tuple(DatasetEntry.model_validate(with_bias({"card": card})) for card in cards)
    taken = Counter(entry.name for entry in (*entries, *experiment.datasets))
    if repeated := [entry.card for entry in entries if taken[entry.name] > 1]:
        raise ExperimentError(
            f"Two datasets of the experiment {experiment.name!r} would have one name",
            expected="cards with file names that differ from each other and from its datasets",
            got=", ".join(repeated),
            remedy="rename the file of the card",
        )
    return entries


def _not_in_experiment(name: str, experiment: Experiment) -> UnknownNameError:
    kind, remedy = "dataset", "name your own card by the path of its file, which ends in .toml"
    if name in list_declarations("datasets"):
        kind = f"dataset in the experiment {experiment.name!r}"
        remedy = "add a [[datasets]] entry with its bias edits to the experiment file"
    error = UnknownNameError(kind, name, [dataset.name for dataset in experiment.datasets])
    error.remedy = remedy
    return error
