"""Validation of experiments: all wrong names and values in one error, and notes on what a run cannot tell."""

from __future__ import annotations

import contextlib
import copy
import functools
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError, model_validator

from benchmark.bias.base import no_audit, no_boundary, no_judged
from benchmark.bias.edits import check_edits
from benchmark.columns import ORIGINAL
from benchmark.data import Schema
from benchmark.declarations import count_of, indented
from benchmark.errors import BetabenchError, BiasError, ExperimentError, UnknownNameError
from benchmark.experiment.entries import NOBODY_HAS, ClassifierEntry, DatasetEntry
from benchmark.experiment.evaluate import classifier_mismatch, describe_classifier
from benchmark.experiment.plan import ExpandedExperiment, Experiment, entries_for_names, load_plugins
from benchmark.experiment.run import headline_metrics
from benchmark.experiment.tuning_rule import Rule
from benchmark.experiment.versions import NOT_INSTALLED, versions_of
from benchmark.metrics import get_metric, metric_names
from benchmark.statistics.recommendation import FEW_REPETITIONS, few_words
from benchmark.techniques import find_technique, get_technique, list_techniques
from benchmark.techniques._search import search_space
from benchmark.text.embedded import OF_NETWORKS

_PLUGIN_HINT = "registered by a plugin? name its file with plugins = [...] in the experiment file or --plugin"

_EXTRAS = {"torch": "'betabench[adversarial]'"}  # packages of extras, by name: pyproject.toml
# Values in place of required fields that break a rule; they cause no error.
_STAND_IN = {"betas": [0.0], "datasets": [{"card": "adult", "bias": ["label"]}], "techniques": ["none"]}


@dataclass(frozen=True)
class _Problem:
    """The error of a name or a value, and its location."""

    location: str
    error: BetabenchError
    of_plugins: bool = False  # whether plugins can register names of this kind

    @property
    def may_be_of_a_plugin(self) -> bool:
        return self.of_plugins and isinstance(self.error, UnknownNameError)

    def __str__(self) -> str:
        return f"{self.location}: {indented(str(self.error))}"


@contextlib.contextmanager
def naming_plugins() -> Iterator[None]:
    """Add the advice to name a plugin to the error of an unknown name."""
    try:
        yield
    except UnknownNameError as error:
        error.remedy = "; ".join(filter(None, (error.remedy, _PLUGIN_HINT)))
        raise


def check_experiment(experiment: Experiment) -> None:
    """Raise an error unless everything that an experiment names exists and can be built as declared.

    Several errors are listed in one ExperimentError. Data are not read. Errors that they alone can tell, such
    as a column that is no parent of the label, come later.
    """
    problems = list(_problems(experiment))
    if len(problems) > 1:
        lines = list(map(str, problems))
        raise ExperimentError(
            f"The experiment {experiment.name!r} breaks {count_of(lines)}:\n  " + "\n  ".join(lines),
            remedy=_PLUGIN_HINT if any(p.may_be_of_a_plugin for p in problems) else None,
        )
    for problem in problems:
        if not problem.of_plugins:  # only the errors of unknown names tell the location
            problem.error.what = f"{problem.location}: {problem.error.what}"
        if problem.may_be_of_a_plugin:
            with naming_plugins():
                raise problem.error
        raise problem.error


def broken_names(content: dict[str, Any], plugins: tuple[str, ...]) -> list[str]:
    """Return the errors of names in a file whose fields break rules, a line each.

    The ``plugins``, and those that the file names, are loaded first.
    """
    experiment = _sound_part(content)
    try:
        load_plugins(experiment, plugins)
    except BetabenchError as error:
        # Without the plugin, names of kinds that it may register cannot be checked.
        problems = [_Problem("plugins", error), *(p for p in _problems(experiment) if not p.of_plugins)]
    else:
        problems = list(_problems(experiment))
    return list(map(str, problems))


class _PartOfExperiment(Experiment):
    """An experiment whose names need not fit each other, because some were left out."""

    @model_validator(mode="after")
    def _fields_fit(self) -> _PartOfExperiment:
        return self


def _sound_part(content: Mapping[str, Any]) -> Experiment:
    """Return an experiment of a file's content without the parts that break rules."""
    try:
        entries = entries_for_names(copy.deepcopy(content))
    except ValueError:  # of a technique's list of values
        entries = entries_for_names({**copy.deepcopy(content), "techniques": []})
    while True:
        try:
            return _PartOfExperiment.model_validate({**_STAND_IN, **entries})
        except ValidationError as error:
            paths = {_reached(entries, detail["loc"]) for detail in error.errors()}
            for *path, last in sorted(paths, reverse=True):  # from the end, so that positions in lists hold
                del functools.reduce(operator.getitem, path, entries)[last]
            for dataset in entries.get("datasets", ()):
                dataset.setdefault("bias", ["label"])  # a bias without errors


def _reached(content: Any, location: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the part of pydantic's location that leads into tables and lists; further steps are types."""
    for depth, step in enumerate(location):
        if not (step in content if isinstance(content, dict) else isinstance(content, list)):
            return location[:depth]
        content = content[step]
    return location


def _problems(experiment: Experiment) -> Iterator[_Problem]:
    for technique in experiment.techniques:
        location = f"technique {technique.name!r}"
        yield from _of_parameters(location, get_technique, technique.technique, technique.parameters)
    for classifier in experiment.classifiers:
        location = f"classifier {classifier.name!r}"
        described = functools.partial(_described, classifier)
        yield from _of_parameters(location, described, classifier.classifier, classifier.parameters)
    if experiment.tune is not None:
        rule = experiment.tune.parsed
        yield from list(_tried("tune", rule.check)) or _tried("tune", _require_a_bound, rule)
    unknown = [p for name in experiment.metrics for p in _tried("metrics", metric_names, [name])]
    yield from unknown
    if not unknown and experiment.asks_to_restore and (reason := experiment.no_clean_model):
        error = ExperimentError(
            "The experiment asks for metrics of restoration, but trains no model without planted bias",
            expected="paired_betas = true, 0 among several betas, and a baseline without mitigation",
            got=reason,
            remedy="correct the experiment, or leave out the metrics of the family 'restoration'",
        )
        yield _Problem("metrics", error)
    for name in experiment.headline if not unknown else ():
        yield from _tried("headline", headline_metrics, experiment.model_copy(update={"headline": (name,)}))
    for dataset in experiment.datasets:
        yield from _of_dataset(dataset, experiment)


def _of_dataset(dataset: DatasetEntry, experiment: Experiment) -> Iterator[_Problem]:
    location = f"dataset {dataset.name!r}"
    for technique, parameters in dataset.parameters.items():
        yield from _of_parameters(f"{location}, parameters", get_technique, technique, parameters)
    schema: Schema | None = None
    has_score = has_judged = False
    try:
        card = dataset.find_card()
        schema, has_score = card.schema(), experiment.train == "data" and card.score is not None
        has_judged = experiment.train == "data" and card.judged is not None
    except BetabenchError as error:
        yield _Problem(location, error)
    for bias in dataset.bias:
        planted = f"{location}, bias {bias.name!r}"
        unknown = [p for step in bias.steps for p in _tried(planted, step.to_kind)]
        yield from unknown
        if schema is not None and not unknown:
            built = bias.to_bias()
            wrong = [p for edit in built.edits for p in _tried(planted, check_edits, schema, [edit])]
            if experiment.train == "network":
                wrong += [_Problem(planted, no_boundary(s.name)) for s in built.steps if s.needs_boundary]
            if not has_judged:
                wrong += [_Problem(planted, no_judged(s.name)) for s in built.steps if s.needs_judged]
            if not dataset.audit:
                wrong += [_Problem(planted, no_audit(s.name)) for s in built.steps if s.of_audit]
            if experiment.doses and any(step.needs_judged for step in built.steps):
                wrong.append(_Problem(planted, _measured_dose()))
            if any(experiment.hidden):
                wrong += list(_tried(planted, built.check_hidden, of_plugins=False))
            checked = functools.partial(built.check, schema, experiment.betas or (1.0,), has_score=has_score)
            yield from wrong or _tried(planted, checked, of_plugins=False)
    yield from _of_audit(location, dataset, experiment, has_judged) if dataset.audit else ()
    if schema is not None and dataset.strata is not None and dataset.strata not in schema.names:
        yield _Problem(f"{location}, strata", UnknownNameError("column", dataset.strata, schema.names))


def _measured_dose() -> BiasError:
    return BiasError(
        "For judged labels, no β can be solved for a dose: the data fix the dose",
        expected="betas, such as betas = [0, 1]",
        got="doses",
        remedy="give levels of bias, 'betas', in place of 'doses'; a note of the run gives the dose at β = 1",
    )


def _of_audit(
    location: str, dataset: DatasetEntry, experiment: Experiment, has_judged: bool
) -> Iterator[_Problem]:
    """Yield the error of options that do not fit a dataset with a random group and no true labels."""
    wanted = {
        'train = "data", with holdout or folds': experiment.train == "data",
        "paired_betas = true": experiment.paired_betas,
        "betas in place of doses": not experiment.doses,
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
        yield _Problem(f"{location}, audit", error)


def _require_a_bound(rule: Rule) -> None:
    """Raise an ExperimentError if all values of a rule's metric meet its constraint, or none does."""
    if rule.constraint is None or rule.relative:
        return
    name, absolute = rule.constraint
    low, high = get_metric(name).range
    if absolute:
        low, high = max(low, -high, 0.0), max(abs(low), abs(high))
    if low <= rule.bound < high if rule.at_most else low < rule.bound <= high:
        return
    which = "every" if (rule.bound >= high) == rule.at_most else "no"
    raise ExperimentError(
        f"The constraint of the rule of choice cannot separate settings: {which} value of {name} meets it",
        expected=f"a bound within the range of {'|' * absolute}{name}{'|' * absolute}, {low:g} to {high:g}",
        got=rule.text,
        remedy="correct the bound, or leave out 'subject to ...'",
    )


def _described(entry: ClassifierEntry, _name: str, **parameters: Any) -> object:
    return describe_classifier(entry.model_copy(update={"parameters": parameters}))


def _of_parameters(
    location: str, build: Callable[..., object], name: str, parameters: Mapping[str, Any]
) -> Iterator[_Problem]:
    """Yield the errors of single parameters, or else of all parameters together."""
    alone: list[_Problem] = []
    if not list(_tried(location, build, name)):
        alone = [
            problem
            for parameter, value in parameters.items()
            for problem in _tried(location, functools.partial(build, name, **{parameter: value}))
        ]
    of_plugins = ":" not in name  # other libraries' techniques are not registered
    yield from alone or _tried(location, functools.partial(build, name, **parameters), of_plugins=of_plugins)


def _tried(
    location: str, attempt: Callable[..., object], *arguments: Any, of_plugins: bool = True
) -> Iterator[_Problem]:
    try:
        attempt(*arguments)
    except BetabenchError as error:
        yield _Problem(location, error, of_plugins)


def foreseen(plan: ExpandedExperiment) -> Iterator[str]:
    """Yield sentences on what a run of an experiment cannot tell, whatever the data."""
    experiment = plan.experiment
    yield from missing_packages(experiment)
    yield from mismatches(plan)
    if experiment.tune is not None and not any(entry.tuned for entry in experiment.techniques):
        names = [name for name, technique in list_techniques().items() if search_space(technique)]
        yield (
            "nothing will be tuned: each technique has no tunable parameter, or the file fixes all of them. "
            f"Techniques with tunable parameters: {', '.join(names)}."
        )
    yield from other_learners(experiment)
    if experiment.train == "network":  # the t-test of overlapping splits has no smallest p-value
        yield OF_NETWORKS
        yield from too_few_repetitions(plan)


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


def mismatches(plan: ExpandedExperiment) -> Iterator[str]:
    """Yield a sentence for each technique and classifier that do not fit; their cells are skipped."""
    factories = {entry.name: entry.factory for entry in plan.experiment.classifiers}
    reasons = {
        (name, classifier, classifier_mismatch(plan.techniques[dataset.name, name], factory))
        for dataset in plan.experiment.datasets
        for name, classifier in plan.experiment.cells_on(dataset)
        if (factory := factories[classifier]) is not None
    }
    for name, classifier, reason in sorted(mismatch for mismatch in reasons if mismatch[2] is not None):
        yield f"{name} with {classifier} will be skipped: {reason}."


def other_learners(experiment: Experiment) -> Iterator[str]:
    """Yield a sentence on techniques that are compared with a learner other than their own.

    Differences between learners then count as effects of mitigation. Cruz and Hardt (2024), Unprocessing
    seven years of algorithmic fairness, ICLR, find comparisons of unequal base models misleading.
    """
    if not experiment.mixed_learners:
        return
    tried = {name for dataset in experiment.datasets for name, _ in experiment.cells_on(dataset)}
    compared = tried - {dataset.baseline for dataset in experiment.datasets}
    if names := [t.name for t in experiment.techniques if t.name in compared and t.unconstrained is not None]:
        yield (
            f"{', '.join(names)}: compared with a learner other than the technique's own, so differences "
            "between the learners count as effects of mitigation (Cruz and Hardt 2024). Without "
            "'mixed_learners' each is compared with doing nothing with its own learner."
        )


def too_few_repetitions(plan: ExpandedExperiment) -> Iterator[str]:
    """Yield a sentence for datasets on which hardly any difference from the baseline can be shown.

    Intervals hold jointly for all techniques at a level of bias, on one dataset, with one bias and
    classifier, and for all techniques with learners of their own. Reference rows, and techniques tuned on
    rows that do not exist in practice, are not compared.
    """
    experiment = plan.experiment
    untested = {e.name for e in experiment.techniques if e.tuned in NOBODY_HAS or e.refit is not None}
    families = {entry.name: "" if entry.learner_of else entry.name for entry in experiment.classifiers}
    few: dict[tuple[int, int], list[str]] = {}
    for dataset in experiment.datasets:
        cells = [cell for cell in experiment.cells_on(dataset) if cell[0] not in untested]
        together = Counter(families[classifier] for _, classifier in cells)
        together.subtract(families[classifier] for classifier in {name for _, name in cells})  # baselines
        splits = experiment.repetitions * (dataset.folds or experiment.folds or 1)
        for n_techniques in {n for n in together.values() if n} if splits < FEW_REPETITIONS else ():
            few.setdefault((splits, n_techniques), []).append(dataset.name)
    for (n, n_techniques), datasets in few.items():
        words = few_words(n, n_techniques)
        yield ("" if len(few) == 1 else f"{', '.join(datasets)}: ") + words[0].lower() + words[1:]
