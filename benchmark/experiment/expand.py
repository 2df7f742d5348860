"""From an experiment file to the experiment as it is run: read, narrowed, checked, and expanded once."""

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from benchmark.bias.base import lacking
from benchmark.columns import BLIND, ORIGINAL, UNTREATED
from benchmark.data import Schema
from benchmark.declarations import broken_rules, count_of, find_declaration
from benchmark.errors import BetabenchError, BiasError, ExperimentError, UnknownNameError
from benchmark.experiment.entries import (
    ClassifierEntry,
    DatasetEntry,
    TechniqueEntry,
    TrainRows,
    TunedOn,
    levels_of,
    listed_techniques,
)
from benchmark.experiment.evaluate import configured_techniques, describe_classifier
from benchmark.experiment.plan import ExpandedExperiment, Experiment, load_experiment, load_plugins, with_bias
from benchmark.experiment.telling import Telling
from benchmark.experiment.versions import NOT_INSTALLED, versions_of
from benchmark.metrics import metric_names
from benchmark.models import entry_name
from benchmark.statistics.recommendation import FEW_REPETITIONS
from benchmark.techniques import find_technique, get_technique, list_techniques, load_plugin
from benchmark.techniques._search import search_space
from benchmark.techniques.knowledge import last_fact
from benchmark.text.words import OF_NETWORKS

_LITE_ROWS, _LITE_REPETITIONS, _LITE_FOLDS = 1000, 2, 2

_BY_PLUGINS = ("technique", "metric", "classifier", "bias kind")  # kinds of names that plugins register
_PLUGIN_HINT = "registered by a plugin? name its file with plugins = [...] in the experiment file or --plugin"

_EXTRAS = {"torch": "'betabench[adversarial]'"}  # packages of extras, by name: pyproject.toml

# Suffixes of the name and of the title of a tuned entry, by the rows that it is chosen on.
_TUNED_ON: Mapping[TunedOn, tuple[str, str]] = {
    "biased": ("tuned", "tuned"),
    "clean": ("tuned_clean", "tuned on clean rows"),
    "oracle": ("oracle", "oracle"),
}

_Problem: TypeAlias = tuple[str, BetabenchError]
"""The location of a wrong name or value in an experiment, and its error."""


def load_for_run(
    experiment: str | Path | Experiment,
    plugins: Iterable[str] = (),
    change: Callable[[Experiment], Experiment] = lambda whole: whole,
) -> ExpandedExperiment:
    """Return an experiment as it is run, after loading its plugins and further ``plugins``.

    ``change`` takes part of the experiment before it is checked: :func:`narrow`, :func:`lite`. Raises the
    errors of :func:`expand` and of :func:`~benchmark.experiment.plan.load_experiment`. A PluginError says
    that a plugin cannot be loaded.
    """
    whole = experiment if isinstance(experiment, Experiment) else load_experiment(experiment)
    files = load_plugins(whole, plugins)
    with naming_file(experiment):
        return expand(change(whole), files)


def expand(experiment: Experiment, plugins: tuple[str, ...] = ()) -> ExpandedExperiment:
    """Return an experiment as it is run, with further entries, and its techniques.

    Techniques that are told something have an entry for each telling. There are entries for tuned
    techniques, named after them: ``lfr_tuned``, ``lfr_tuned_clean``,
    ``lfr_oracle``. Techniques' own learners have entries among the classifiers. Refits of doing nothing have
    entries where decisions are compared with the clean model's. An expanded experiment stays as it is.

    ``plugins`` are the loaded files. Raises the errors of :func:`check_experiment`, and an ExperimentError if
    an entry has the name of a further one.
    """
    check_experiment(experiment)
    whole = _with_refits(_with_learners(_with_tuned(_with_told(experiment))))
    names = [*(entry.name for entry in whole.techniques), *(entry.name for entry in whole.classifiers)]
    if taken := [name for name in names if names.count(name) > 1]:
        raise ExperimentError(
            f"The name {taken[0]!r} belongs to an entry that betabench adds",
            expected="another name than those of tellings, tuned techniques, own learners and refits",
            got="an entry with this name",
            remedy="rename it",
        )
    _require_baselines(whole)
    return ExpandedExperiment(whole, configured_techniques(whole), plugins)


def check_experiment(experiment: Experiment) -> None:
    """Raise an error unless everything that an experiment names exists and can be built as declared.

    Several errors are listed in one ExperimentError. Data are not read. Errors that they alone can tell, such
    as a column that is no parent of the label, come later.
    """
    problems = list(_problems(experiment))
    if len(problems) > 1:
        lines = [f"{location}: {error}".replace("\n", "\n  ") for location, error in problems]
        raise ExperimentError(
            f"The experiment {experiment.name!r} breaks {count_of(lines)}:\n  " + "\n  ".join(lines),
            remedy=_PLUGIN_HINT if any(_may_be_of_a_plugin(error) for _, error in problems) else None,
        )
    for location, error in problems:
        error.what = f"{location}: {error.what}"
        if _may_be_of_a_plugin(error):
            error.remedy = "; ".join(filter(None, (error.remedy, _PLUGIN_HINT)))
        raise error


def _may_be_of_a_plugin(error: BetabenchError) -> bool:
    return isinstance(error, UnknownNameError) and error.kind in _BY_PLUGINS


def _problems(experiment: Experiment) -> Iterator[_Problem]:
    for technique in experiment.techniques:
        built = functools.partial(get_technique, technique.technique, **technique.parameters)
        yield from _tried(f"technique {technique.name!r}", built)
    for classifier in experiment.classifiers:
        yield from _tried(f"classifier {classifier.name!r}", describe_classifier, classifier)
    if experiment.tune is not None:
        yield from _tried("tune", experiment.tune.parsed.check)
    for telling in experiment.knows:
        yield from _of_telling(telling, experiment.techniques)
    unknown = [p for name in experiment.metrics for p in _tried("metrics", metric_names, [name])]
    yield from unknown or _tried("headline", lambda: experiment.shown_metrics)
    if not unknown and experiment.asks_to_restore and (reason := experiment.no_clean_model):
        error = ExperimentError(
            "The experiment asks for metrics of restoration, but trains no model without planted bias",
            expected="paired_betas = true, 0 among several betas, and a baseline without mitigation",
            got=reason,
            remedy="correct the experiment, or leave out the metrics of the family 'restoration'",
        )
        yield "metrics", error
    for dataset in experiment.datasets:
        yield from _of_dataset(dataset, experiment)


def _of_dataset(dataset: DatasetEntry, experiment: Experiment) -> Iterator[_Problem]:
    location = f"dataset {dataset.name!r}"
    for technique, parameters in dataset.parameters.items():
        built = functools.partial(get_technique, technique, **parameters)
        yield from _tried(f"{location}, parameters", built)
    schema: Schema | None = None
    has_score = has_judged = False
    try:
        card = dataset.find_card()
        schema, has_score = card.schema(), experiment.train == "data" and card.score is not None
        has_judged = experiment.train == "data" and card.judged is not None
    except BetabenchError as error:
        yield location, error
    for bias in dataset.bias:
        planted = f"{location}, bias {bias.name!r}"
        unknown = [p for step in bias.steps for p in _tried(planted, step.to_kind)]
        yield from unknown
        if schema is None or unknown:
            continue
        built_bias, wrong = bias.to_bias(), list[_Problem]()
        for step in built_bias.steps:
            if step.needs_judged and experiment.unit == "dose":
                measured = BiasError(
                    "For judged labels, no β can be solved for a dose: the data fix the dose",
                    expected="betas, such as betas = [0, 1]",
                    got="doses",
                    remedy="give levels of bias, 'betas', in place of 'doses'; a note of the run gives the "
                    "dose at β = 1",
                )
                wrong.append((planted, measured))
            if step.of_audit and not dataset.audit:
                wrong.append((planted, lacking(step.name, "audit")))
        if experiment.hidden_gaps != (0.0,):
            wrong += _tried(planted, built_bias.check_hidden)
        betas = experiment.levels if experiment.unit == "beta" else (1.0,)
        checked = functools.partial(built_bias.check, schema, betas, has_score=has_score)
        yield from wrong or _tried(planted, checked)
    yield from _of_audit(location, dataset, experiment, has_judged) if dataset.audit else ()
    if schema is not None and dataset.strata is not None and dataset.strata not in schema.names:
        yield f"{location}, strata", UnknownNameError("column", dataset.strata, schema.names)


def _of_telling(telling: Telling, entries: Sequence[TechniqueEntry]) -> Iterator[_Problem]:
    """Yield the error of entries that a telling names, but whose techniques do not need its fact."""
    found = {entry.name: find_technique(entry.technique) for entry in entries if not entry.told}
    needing = {name: own is None or telling.tells(own) for name, own in found.items()}
    if foreign := [name for name in telling.only if not needing.get(name, True)]:
        error = ExperimentError(
            f"{foreign[0]!r} is told {telling.fact!r}, which is not what it needs to know",
            expected=", ".join(name for name, needs in needing.items() if needs),
            got=foreign[0],
            remedy="correct 'only'",
        )
        yield "knows", error


def _of_audit(
    location: str, dataset: DatasetEntry, experiment: Experiment, has_judged: bool
) -> Iterator[_Problem]:
    """Yield the error of options that do not fit a dataset with a random group and no true labels."""
    wanted = {
        'train = "data", by holdout or by folds': experiment.train == "data",
        "paired_betas = true": experiment.paired_betas,
        "betas in place of doses": experiment.unit == "beta",
        "the original test alone": experiment.tests == (ORIGINAL,),
        "techniques with settings of their own, no [tune]": experiment.tune is None,
        "no column under 'sensitive'": not dataset.sensitive,
        "a card without a judged label": not has_judged,
    }
    if missing := [words for words, given in wanted.items() if not given]:
        error = ExperimentError(
            "The experiment does not fit a dataset with audit = true",
            expected="; ".join(missing),
            remedy="correct the file, or leave 'audit' out",
        )
        yield f"{location}, audit", error


def _tried(location: str, attempt: Callable[..., object], *arguments: Any) -> Iterator[_Problem]:
    try:
        attempt(*arguments)
    except BetabenchError as error:
        yield location, error


def foreseen(plan: ExpandedExperiment) -> Iterator[str]:
    """Yield sentences on what a run of an experiment cannot tell, whatever the data."""
    experiment = plan.experiment
    yield from missing_packages(experiment)
    if experiment.tune is not None and not any(entry.tuned for entry in experiment.techniques):
        names = [name for name, technique in list_techniques().items() if search_space(technique)]
        yield (
            "nothing will be tuned: each technique has no tunable parameter, or the file fixes all of them. "
            f"Techniques with tunable parameters: {', '.join(names)}."
        )
    heard = {entry.told.fact for entry in experiment.techniques if entry.told}
    if unheard := [own for own in experiment.knows if own.fact not in heard]:
        facts = ", ".join(dict.fromkeys(own.fact for own in unheard))
        needing = [name for name, own in list_techniques().items() if any(t.tells(own) for t in unheard)]
        yield f"no technique here needs to be told {facts} ('knows'). These would: {', '.join(needing)}."
    if experiment.train == "network":
        yield OF_NETWORKS
    least = min(experiment.n_folds(dataset) or 1 for dataset in experiment.datasets)
    if (splits := experiment.repetitions * least) < FEW_REPETITIONS:
        yield (
            f"{splits} samples of each kind show no technique to help, only candidates: that takes at least "
            f"{FEW_REPETITIONS}; 'repetitions' or --repetitions asks for more."
        )


def missing_packages(experiment: Experiment) -> Iterator[str]:
    """Yield a sentence for each missing package that techniques need."""
    tried = {name for dataset in experiment.datasets for name, _ in experiment.cells_on(dataset)}
    needed: dict[str, list[str]] = {}
    for entry in experiment.techniques:
        technique = find_technique(entry.technique)
        for package in technique.packages if technique is not None and entry.name in tried else ():
            needed.setdefault(package, []).append(entry.name)
    for package, names in needed.items():
        if versions_of([package])[package] == NOT_INSTALLED:
            yield (
                f"{', '.join(names)} cannot run: {package} is not installed; pip install "
                f"{_EXTRAS.get(package, package)}."
            )


def _with_tuned(experiment: Experiment) -> Experiment:
    """Return an experiment in which tuned entries follow each technique that can be tuned."""
    if experiment.tune is None or any(entry.tuned for entry in experiment.techniques):
        return experiment
    entries: list[TechniqueEntry] = []
    more: dict[str, list[str]] = {}
    chosen_on: tuple[TunedOn, ...] = (*experiment.tune.validation, "oracle")
    for entry in experiment.techniques:
        entries.append(entry)
        for on in chosen_on if not entry.told and experiment.search_space(entry) else ():
            suffix, words = _TUNED_ON[on]
            fields = {"name": f"{entry.name}_{suffix}", "title": f"{entry.title} ({words})", "tuned": on}
            entries.append(entry.model_copy(update=fields))
            more.setdefault(entry.name, []).append(fields["name"])
    return experiment.with_techniques(
        entries, lambda d: tuple(n for name in d.techniques for n in (name, *more.get(name, ())))
    )


def _with_told(experiment: Experiment) -> Experiment:
    """Return an experiment in which a technique that is told something has an entry for each telling."""
    entries: list[TechniqueEntry] = []
    names: dict[str, tuple[str, ...]] = {}
    for entry in experiment.techniques:
        technique = find_technique(entry.technique)
        if technique is None or not technique.knows or entry.told:
            entries.append(entry)
            continue
        plain = Telling(fact=last_fact(technique.knows))
        tellings = [own for own in experiment.knows if own.tells(technique, entry.name)] or [plain]
        for telling in tellings:
            name = f"{entry.name}_{telling.name}" if telling.name else entry.name
            entries.append(entry.model_copy(update={"name": name, "told": telling}))
            names[entry.name] = (*names.get(entry.name, ()), name)
    if not names:
        return experiment
    # Those that know as much stand together, the others first.
    told = (*(telling.words for telling in experiment.knows), *(entry.knowledge for entry in entries))
    states = list(dict.fromkeys((BLIND, *told)))
    entries.sort(key=lambda entry: states.index(entry.knowledge))
    return experiment.with_techniques(
        entries, lambda d: tuple(n for name in d.techniques for n in names.get(name, (name,)))
    )


def _with_learners(experiment: Experiment) -> Experiment:
    """Return an experiment with a classifier for each learner that its techniques bring.

    Techniques that differ only in their mitigation share a learner.
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
        names.add(name)
        parameters = {**entry.parameters, **(entry.unconstrained or {})}
        classifiers.append(
            ClassifierEntry(classifier=name, parameters=parameters, learner_of=entry.technique)
        )
    return experiment.model_copy(update={"classifiers": tuple(classifiers)})


def _require_baselines(experiment: Experiment) -> None:
    """Raise an ExperimentError if techniques have nothing to be compared with that has their learner."""
    for dataset in experiment.datasets:
        for classifier in experiment.classifiers:
            tried = [name for name, other in experiment.cells_on(dataset) if other == classifier.name]
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


def _with_refits(experiment: Experiment) -> Experiment:
    """Return an experiment with two refits of each untreated entry, on clean and on biased rows.

    They tell how far a learner differs from itself on other rows of the same kind. An experiment that has
    refits, or compares nothing with the clean model, stays as it is.
    """
    if not experiment.restores or any(entry.refit for entry in experiment.techniques):
        return experiment
    baselines = {dataset.baseline for dataset in experiment.datasets}
    refits: dict[str, list[TechniqueEntry]] = {}
    for entry in (entry for entry in experiment.techniques if entry.name in baselines):
        for rows in ("clean", "biased"):
            name = f"refit_{rows}" if entry.name == UNTREATED else f"{entry.name}_refit_{rows}"
            title = f"{entry.title}, refit on {rows} rows"
            update = {"name": name, "title": title, "refit": rows, "refit_of": entry.name}
            refits.setdefault(entry.name, []).append(entry.model_copy(update=update))
    given = [entry.name for entry in experiment.techniques]

    def techniques_on(dataset: DatasetEntry) -> tuple[str, ...]:
        of_baseline = [entry.name for entry in refits[dataset.baseline]]
        return (*(dataset.techniques or given), *of_baseline) if dataset.techniques or len(refits) > 1 else ()

    added = (entry for entries in refits.values() for entry in entries)
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

    An UnknownNameError says that a dataset or a technique to leave out is not in the experiment. An
    ExperimentError says that a level or number is out of range, that doses do not fit, that no technique is
    left, or that two datasets have one name.
    """
    changes: dict[str, Any] = {}
    chosen = experiment.datasets
    if datasets is not None:
        listed = [d.name for d in experiment.datasets]
        cards = _own_datasets([name for name in datasets if name not in listed], experiment)
        chosen = (*(d for d in experiment.datasets if d.name in datasets), *cards)
    listed = [t.name for t in experiment.techniques]
    kept, tried = experiment.techniques, {entry.technique for entry in experiment.techniques}
    theirs = [name for file in plugins for name in load_plugin(file)]
    named = [TechniqueEntry(technique=name) for name in theirs if name not in tried]
    if techniques is not None:
        named = [entry for name in techniques for entry in _named_techniques(name)]
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
        changes |= experiment.in_betas(levels_of(betas))
    if doses is not None:
        if betas is not None or experiment.unit == "beta":
            raise ExperimentError(
                "Doses cannot be chosen here",
                expected="--doses alone, for an experiment with 'doses'",
                got="levels of β as well" if betas is not None else f"betas in {experiment.name!r}",
                remedy="choose levels of β with --betas, or write 'doses' in the experiment file",
            )
        changes["doses"] = levels_of(doses)
    for name, number, least in (("repetitions", repetitions, 1), ("seed", seed, 0)):
        if number is not None:
            if number < least:
                raise ExperimentError(f"{name!r} is too small", expected=f"{least} or more", got=str(number))
            changes[name] = number
    return experiment.model_copy(update={**changes, "datasets": chosen})


def _named_techniques(name: str) -> list[TechniqueEntry]:
    """Return the entries of a name on the command line; an ExperimentError says that it is malformed."""
    try:
        return [TechniqueEntry.model_validate(entry) for entry in listed_techniques(name)]
    except ValidationError as error:  # which is a ValueError as well
        rules = " and ".join(broken_rules(error, TechniqueEntry, {"technique": name}))
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
        **experiment.ends,
        "train_rows": few(experiment.train_rows),
        "folds": experiment.folds and min(experiment.folds, _LITE_FOLDS),
        "datasets": tuple(map(smaller, experiment.datasets)),
    }
    return experiment.model_copy(update=changes)


def _own_datasets(names: Sequence[str], experiment: Experiment) -> tuple[DatasetEntry, ...]:
    """Return an entry for each card that is named by its path."""
    for name in names:
        if not name.endswith(".toml"):
            listed = [dataset.name for dataset in experiment.datasets]
            error = UnknownNameError(f"dataset in the experiment {experiment.name!r}", name, listed)
            error.remedy = (
                "name your own card by the path of its file, which ends in .toml; other datasets need a "
                "[[datasets]] entry in the experiment file"
            )
            raise error
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
