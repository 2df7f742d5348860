"""Whether all that an experiment names exists and fits: everything that does not, in one error."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from benchmark.bias.edits import check_edits
from benchmark.data import Schema
from benchmark.declarations import count_of, indented
from benchmark.errors import BetabenchError, ExperimentError, UnknownNameError
from benchmark.experiment.entries import BiasEntry, ClassifierEntry, DatasetEntry, TechniqueEntry
from benchmark.experiment.evaluate import configured_techniques, describe_classifier
from benchmark.experiment.plan import PLUGIN_HINT, Experiment, load_experiment, naming_plugins
from benchmark.experiment.rule import Rule, TuneEntry
from benchmark.experiment.run import headline_metrics
from benchmark.experiment.world import load_plugins
from benchmark.metrics import get_metric, metric_names
from benchmark.techniques import get_technique

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class _Problem:
    """What is wrong with a name or a value, and where it stands."""

    place: str
    error: BetabenchError
    of_plugins: bool = False  # whether plugins register names of this kind

    @property
    def may_be_of_a_plugin(self) -> bool:
        return self.of_plugins and isinstance(self.error, UnknownNameError)

    def __str__(self) -> str:
        return f"{self.place}: {indented(str(self.error))}"


def load_for_run(name_or_path: str | Path, plugins: Iterable[str] = ()) -> tuple[Experiment, tuple[str, ...]]:
    """Read an experiment file that is to be run, and load its plugins and others.

    Returns what the file says, and the absolute paths of all plugins. Errors are those of
    :func:`~benchmark.experiment.plan.load_experiment`, where fields of the file break rules together with
    unknown names and wrong parameters in the others; a PluginError says that a plugin cannot be loaded.
    """
    plugins = tuple(plugins)
    experiment = load_experiment(name_or_path, more=functools.partial(_broken_names, plugins=plugins))
    return experiment, load_plugins(experiment, plugins)


def check_experiment(experiment: Experiment) -> None:
    """Raise an error unless all that an experiment names exists and can be built as declared.

    It is the error of what is wrong; if it is several things, an ExperimentError that lists them all. Data
    are not read: what they alone can tell, such as whether a column is a parent of the label, is found when
    the world is built.
    """
    problems = list(_problems(experiment))
    if len(problems) > 1:
        lines = list(map(str, problems))
        raise ExperimentError(
            f"The experiment {experiment.name!r} breaks {count_of(lines)}:\n  " + "\n  ".join(lines),
            remedy=PLUGIN_HINT if any(p.may_be_of_a_plugin for p in problems) else None,
        )
    for problem in problems:
        if not problem.of_plugins:  # what is no unknown name says what is wrong, but not where
            problem.error.what = f"{problem.place}: {problem.error.what}"
        if problem.may_be_of_a_plugin:
            with naming_plugins():
                raise problem.error
        raise problem.error
    configured_techniques(experiment)  # parameters of a technique and of a dataset, together


def _broken_names(content: dict[str, Any], plugins: tuple[str, ...]) -> list[str]:
    """Return what is wrong with the names in a file of which some fields break rules, a line each."""
    experiment = _sound_part(content)
    try:
        load_plugins(experiment, plugins)
    except BetabenchError as error:
        # What it would have registered is not known, so nothing can be said of names of such kinds.
        problems = [_Problem("plugins", error), *(p for p in _problems(experiment) if not p.of_plugins)]
    else:
        problems = list(_problems(experiment))
    return list(map(str, problems))


def _sound_part(content: Mapping[str, Any]) -> Experiment:
    """Return an experiment of what is sound in a file's content; fields that are not are left out."""

    def entries(owner: Mapping[str, Any], field: str) -> list[Any]:
        listed = owner.get(field)
        return listed if isinstance(listed, list) else []

    def texts(field: str) -> tuple[str, ...]:
        return tuple(own for own in entries(content, field) if isinstance(own, str))

    datasets = []
    for entry in entries(content, "datasets"):
        if isinstance(entry, dict):
            own = entry.get("bias")
            listed = [own] if isinstance(own, dict | str) else entries(entry, "bias")
            biases = [_whole(BiasEntry, bias) for bias in listed]
            # One that is planted without edits stands in where none is sound: nothing is said of it.
            sound = [bias for bias in biases if bias is not None] or [BiasEntry.model_validate("label")]
            datasets.append(_sound(DatasetEntry, {**entry, "bias": sound}))
    return Experiment.model_construct(
        datasets=tuple(own for own in datasets if own is not None),
        techniques=_all_sound(TechniqueEntry, entries(content, "techniques")),
        classifiers=_all_sound(ClassifierEntry, entries(content, "classifiers")),
        betas=(),
        metrics=texts("metrics") or Experiment.model_fields["metrics"].default,
        tune=_whole(TuneEntry, content.get("tune")),
        headline=texts("headline"),
        plugins=texts("plugins"),
    )


def _all_sound(model: type[M], listed: Iterable[Any]) -> tuple[M, ...]:
    return tuple(own for own in (_sound(model, entry) for entry in listed) if own is not None)


def _whole(model: type[M], content: Any) -> M | None:
    """Return an entry, or None if it breaks a rule."""
    try:
        return model.model_validate(content)
    except ValidationError:
        return None


def _sound(model: type[M], content: Any) -> M | None:
    """Return an entry without those of its fields that break rules; None if nothing is left of it."""
    if not isinstance(content, dict):
        return None
    content = {name: value for name, value in content.items() if name in model.model_fields}
    while True:
        try:
            return model.model_validate(content)
        except ValidationError as error:
            wrong = {detail["loc"][0] for detail in error.errors() if detail["loc"]}
            if not wrong & content.keys():
                return None
            content = {name: value for name, value in content.items() if name not in wrong}


def _problems(experiment: Experiment) -> Iterator[_Problem]:
    for technique in experiment.techniques:
        place = f"technique {technique.name!r}"
        yield from _of_parameters(place, get_technique, technique.technique, technique.parameters)
    for classifier in experiment.classifiers:
        place = f"classifier {classifier.name!r}"
        described = functools.partial(_described, classifier)
        yield from _of_parameters(place, described, classifier.classifier, classifier.parameters)
    if experiment.tune is not None:
        rule = experiment.tune.parsed
        yield from list(_tried("tune", rule.check)) or _tried("tune", _require_a_bound, rule)
    unknown = [p for name in experiment.metrics for p in _tried("metrics", metric_names, [name])]
    yield from unknown
    for name in experiment.headline if not unknown else ():
        yield from _tried("headline", headline_metrics, experiment.model_copy(update={"headline": (name,)}))
    for dataset in experiment.datasets:
        yield from _of_dataset(dataset, experiment)


def _of_dataset(dataset: DatasetEntry, experiment: Experiment) -> Iterator[_Problem]:
    place = f"dataset {dataset.name!r}"
    for technique, parameters in dataset.parameters.items():
        yield from _of_parameters(f"{place}, parameters", get_technique, technique, parameters)
    schema: Schema | None = None
    has_score = False
    try:
        card = dataset.find_card()
        schema, has_score = card.schema(), experiment.train == "data" and card.score is not None
    except BetabenchError as error:
        yield _Problem(place, error)
    for bias in dataset.bias:
        planted = f"{place}, bias {bias.name!r}"
        unknown = [p for step in bias.steps for p in _tried(planted, step.to_kind)]
        yield from unknown
        if schema is not None and not unknown:
            made = bias.to_bias()
            wrong = [p for edit in made.edits for p in _tried(planted, check_edits, schema, [edit])]
            checked = functools.partial(made.check, schema, experiment.betas, has_score=has_score)
            yield from wrong or _tried(planted, checked, of_plugins=False)
    if schema is not None and dataset.strata is not None and dataset.strata not in schema.names:
        yield _Problem(f"{place}, strata", UnknownNameError("column", dataset.strata, schema.names))


def _require_a_bound(rule: Rule) -> None:
    """Raise an ExperimentError if all values of a rule's metric keep its constraint, or none does."""
    if rule.constraint is None or rule.relative:
        return
    name, absolute = rule.constraint
    low, high = get_metric(name).range
    if absolute:
        low, high = max(low, -high, 0.0), max(abs(low), abs(high))
    if low <= rule.bound < high if rule.at_most else low < rule.bound <= high:
        return
    kept = "every" if (rule.bound >= high) == rule.at_most else "no"
    raise ExperimentError(
        f"The rule of choice bounds nothing: {kept} value of {name} keeps it",
        expected=f"a bound within {'|' * absolute}{name}{'|' * absolute}, {low:g} to {high:g}",
        got=rule.text,
        remedy="correct the bound, or leave out 'subject to ...'",
    )


def _described(entry: ClassifierEntry, _name: str, **parameters: Any) -> object:
    return describe_classifier(entry.model_copy(update={"parameters": parameters}))


def _of_parameters(
    place: str, build: Callable[..., object], name: str, parameters: Mapping[str, Any]
) -> Iterator[_Problem]:
    """Yield what is wrong with each parameter by itself, or else with all of them together."""
    alone: list[_Problem] = []
    if not list(_tried(place, build, name)):
        alone = [
            problem
            for parameter, value in parameters.items()
            for problem in _tried(place, functools.partial(build, name, **{parameter: value}))
        ]
    of_plugins = ":" not in name  # other libraries' techniques are not registered
    yield from alone or _tried(place, functools.partial(build, name, **parameters), of_plugins=of_plugins)


def _tried(
    place: str, attempt: Callable[..., object], *arguments: Any, of_plugins: bool = True
) -> Iterator[_Problem]:
    try:
        attempt(*arguments)
    except BetabenchError as error:
        yield _Problem(place, error, of_plugins)
