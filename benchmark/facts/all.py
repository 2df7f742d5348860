"""All facts of a run, or those that need no statistics: questions, and what manifest and cards describe."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from benchmark.columns import KNOWS
from benchmark.data.card import Card
from benchmark.declarations import list_declarations
from benchmark.errors import BetabenchError
from benchmark.estimator.snippet import card_snippet
from benchmark.experiment.entries import TechniqueEntry
from benchmark.experiment.plan import load_experiment
from benchmark.facts import model, questions
from benchmark.metrics import Metric
from benchmark.runs.analysis import RunStatistics, Undeclared
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import DatasetDescription, Manifest, without_result
from benchmark.runs.report_frames import OWN_LEARNERS, Scenario, described_scenarios, names_together, renamed
from benchmark.runs.verdicts import run_answers
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answers import NEARLY_ALL
from benchmark.statistics.cells import Baselines, Resampling, known_of
from benchmark.statistics.recommendation import Criteria
from benchmark.techniques import find_technique, get_technique

_FRAMES = (
    *("answers", "comparisons", "everything", "failures", "groups", "intervals", "restoration"),
    *("standing", "effects", "frontier_gaps"),
)


def facts_of(statistics: RunStatistics) -> model.Facts:
    """Return all facts of a run with statistics."""
    ranked = questions.ranks(_together(statistics, OWN_LEARNERS))
    statistics = _together(statistics)
    run, answers = statistics.run, statistics.answers
    given = run, answers, statistics.everything, statistics.criteria, statistics.resampling
    scenarios = [
        _scenario(
            scenario,
            statistics.baseline_of(scenario),
            *given,
            values=questions.values(statistics, scenario),
            frontier=questions.frontiers(statistics, scenario),
            decisions=questions.decisions(statistics, scenario),
        )
        for scenario in statistics.scenarios
    ]
    return model.Facts(
        run=described_run(run, statistics.criteria, statistics.alpha),
        techniques=techniques(run),
        metrics=metrics(statistics.metrics),
        datasets=datasets(run),
        scenarios=tuple(scenarios),
        ranks=ranked,
        missing=questions.missing(statistics.failures),
        use=use(run, scenarios),
        **questions.of_run(statistics),
    )


def first_facts(frames: RunFrames) -> model.Facts:
    """Return the facts of a run that need no statistics: the answers, and what is missing.

    ``frames`` may have one repetition.
    """
    criteria = Criteria()
    chosen = frames.of_choices
    run, renaming = _learners(chosen.manifest, chosen.results)
    answers, results, failures = map(renaming, (run_answers(frames), chosen.results, chosen.failures))
    given = run, answers, results, criteria, chosen.resampling
    return model.Facts(
        run=described_run(run, criteria),
        techniques=techniques(run),
        metrics=metrics({}),
        datasets=datasets(run),
        scenarios=tuple(_scenario(one, one.baseline, *given) for one in described_scenarios(results, run)),
        missing=questions.missing(failures),
    )


def _scenario(
    scenario: Scenario,
    baseline: str,
    run: Manifest,
    answers: pd.DataFrame,
    results: pd.DataFrame,
    criteria: Criteria,
    resampling: Resampling | None,
    **parts: object,
) -> model.Scenario:
    answers = answers.assign(**{KNOWS: known_of(answers, run.knowledge)})
    return model.Scenario.from_record(
        scenario,
        dataset=scenario.dataset.name,
        file=scenario.file_name,
        baseline=baseline,
        techniques=questions.tried(run, scenario.rows(results)),
        levels=tuple(scenario.telling_levels(run.levels)),
        answers=questions.scenario_answers(
            scenario, baseline, answers, [*run.knowledge.values()], results, criteria, resampling
        ),
        unanswered=questions.why_unanswered(run, scenario, answers),
        **parts,
    )


def _together(statistics: RunStatistics, classifier: str = "") -> RunStatistics:
    """Return statistics in which all techniques with learners of their own have one scenario.

    The other techniques stand there too if they train a single classifier, unless a ``classifier`` is given.
    """
    run, renaming = _learners(statistics.run, statistics.everything, classifier)
    by = dict.fromkeys(((dataset, OWN_LEARNERS) for dataset, _ in statistics.baselines.by), "")
    frames: dict[str, Any] = {name: renaming(getattr(statistics, name)) for name in _FRAMES}
    return replace(statistics, run=run, baselines=Baselines(by | {**statistics.baselines.by}), **frames)


def _learners(
    run: Manifest, results: pd.DataFrame, classifier: str = ""
) -> tuple[Manifest, Callable[[pd.DataFrame], pd.DataFrame]]:
    """Return the manifest with titles of names that tell learners apart, and a function that renames rows."""
    names = names_together(run, results)
    shared = set(results["classifier"]) - run.learners
    classifier = classifier or (shared.pop() if len(shared) == 1 else OWN_LEARNERS)
    titles = {entry.name: entry.title for entry in run.techniques}
    learner_of = {c.name: c.learner_of for c in run.experiment.classifiers}
    more = [
        TechniqueEntry.model_construct(  # such names are no identifiers
            technique=name,
            name=other,
            title=f"{titles.get(name, name)} ({learner_of[learner] or learner})",
            told=getattr(run.technique(name), "told", None),
        )
        for learner, others in names.items()
        for name, other in others.items()
    ]
    experiment = run.experiment.model_copy(update={"techniques": (*run.techniques, *more)})
    described = run.model_copy(update={"experiment": experiment})
    return described, partial(renamed, names=names, classifier=classifier)


def use(run: Manifest, scenarios: Sequence[model.Scenario]) -> model.Use | None:
    """Return the first technique that helps and is to take; the goal to restore comes first."""
    for i, scenario in enumerate(scenarios):
        for answers in scenario.answers:
            taken = answers.at_highest.best()
            if taken is not None and taken.verdict == "helps":
                return model.Use(
                    scenario=i,
                    goal=answers.goal,
                    level=answers.highest,
                    technique=taken.technique,
                    **_lines(run, scenario, taken.technique),
                )
    return None


def _lines(run: Manifest, scenario: model.Scenario, technique: str) -> dict[str, Any]:
    """Return the lines that apply a scenario's technique, or the reason why there are none."""
    entry = run.dataset(scenario.dataset).entry
    card = entry.find_card()
    if card is None:
        return {"reason": model.Reason(code="card_missing")}
    if entry.columns:
        return {"reason": model.Reason(code="columns_differ")}
    method = run.technique(technique)
    assert method is not None
    own = method.unconstrained is not None or scenario.classifier == OWN_LEARNERS
    classifier = "" if own else _classifier(run.experiment.settings, scenario.classifier)
    if classifier is None:
        return {"reason": model.Reason(code="classifier_of_numbers")}
    configured = run.code.techniques.get(f"{technique} on {entry.name}", {})
    parameters = _changed(method.technique, configured.get("parameters", method.parameters))
    settings = {"parameters": parameters, "classifier": classifier}
    plugins = run.code.plugins if find_technique(method.technique) is None else ()
    lines = card_snippet(card, entry.card, method.technique, plugins=plugins, **settings)
    return {"code": lines} if lines else {"reason": model.Reason(code="intersection")}


def _classifier(settings: Mapping[str, Any], name: str) -> str | dict[str, Any] | None:
    """Return a classifier in the form that the estimator takes; None if it does not take it."""
    entries = [entry for entry in settings.get("classifiers", ()) if entry["name"] == name]
    entry = entries[0] if entries else {"classifier": name}
    if entry.get("encoding") == "numbers":
        return None
    more = {
        key: entry[key] for key in ("parameters", "encoding") if entry.get(key, "") not in ({}, "one_hot", "")
    }
    return {"classifier": entry["classifier"], **more} if more else str(entry["classifier"])


def _changed(technique: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    try:
        defaults: dict[str, Any] = dict(get_technique(technique).parameters)
    except BetabenchError:  # of a plugin, or of a package that is not here
        defaults = {}
    return {
        name: value for name, value in parameters.items() if name not in defaults or defaults[name] != value
    }


def described_run(run: Manifest, criteria: Criteria, alpha: float = ALPHA) -> model.Run:
    """Return what the manifest says about the run as a whole."""
    return model.Run.from_record(
        run,
        level_name=run.unit,
        protocol=model.Protocol.from_record(run.experiment),
        criteria=model.Criteria.from_record(
            criteria, least_repetitions=criteria.least_splits, nearly_all=NEARLY_ALL, alpha=alpha
        ),
        cells=run.cells.get("planned", 0),
        cells_missing=sum(without_result(run.cells).values()),
        commands=commands(run),
    )


def techniques(run: Manifest) -> tuple[model.Technique, ...]:
    """Return the techniques in the order in which they are shown."""
    return tuple(
        model.Technique.from_record(
            entry,
            title=entry.title or entry.name,
            stage=run.stages.get(entry.name, ""),
            tuned=entry.tuned or "",
            method=entry.technique,
            **{KNOWS: entry.knowledge},
            source=getattr(find_technique(entry.technique), "reference", ""),
        )
        for entry in run.techniques
        if not entry.refit
    )


def metrics(declared: Mapping[str, Metric | Undeclared]) -> tuple[model.Metric, ...]:
    """Return the metrics that techniques are compared by."""
    return tuple(
        model.Metric(
            name=name,
            title=metric.title + name.removeprefix(metric.name),
            formula=". ".join(filter(None, [getattr(metric, "formula", ""), getattr(metric, "note", "")])),
            ideal=metric.ideal,
            better=metric.direction,
            source=getattr(metric, "source", ""),
        )
        for name, metric in declared.items()
    )


def datasets(run: Manifest) -> tuple[model.Dataset, ...]:
    """Return the datasets in the order of the experiment, with what their cards say."""
    return tuple(_dataset(dataset, dataset.entry.find_card()) for dataset in run.datasets)


def _dataset(dataset: DatasetDescription, card: Card | None) -> model.Dataset:
    groups, of_card = {}, {}
    if card is not None:
        of_card = {name: getattr(card, name) for name in ("description", "bibtex", "known_problems")}
        of_card["card_changed"] = card.digest != dataset.card_digest
    if sizes := dataset.test_groups:
        groups = {
            "deprived": model.GroupRows(rows=sizes.deprived, favorable=sizes.deprived_favorable),
            "favored": model.GroupRows(rows=sizes.favored, favorable=sizes.favored_favorable),
        }
    return model.Dataset.from_record(
        dataset,
        title=dataset.heading,
        rows=dataset.test_rows,
        sensitive=dataset.sensitive_feature,
        **groups,
        warning=dataset.warning or "",
        accept=dataset.entry.accept,
        **of_card,
    )


def commands(run: Manifest) -> tuple[str, str]:
    """Return the command that computes the run again, and the command of its report."""
    plugins = [part for plugin in run.code.plugins for part in ("--plugin", PurePath(plugin).name)]
    shipped = run.name in list_declarations("experiments", variants=True)
    # In a folder of their own, the numbers meet no others.
    folder = f"{run.name}_again"
    computing = ["betabench", "run", "--experiment", run.name if shipped else _experiment_file(run)]
    if shipped:
        computing += _differing(run)
    embedded = [dataset.embedded for dataset in run.datasets]
    data = ["--offline"] if all(embedded) else [] if any(embedded) else ["--require-real-data"]
    return (
        shlex.join([*computing, *plugins, *data, "--output", folder]),
        shlex.join(["betabench", "report", folder, *plugins]),
    )


def _experiment_file(run: Manifest) -> str:
    """Return the path of a user's experiment: beside its card, where `quick` writes it, else by its name."""
    card = run.datasets[0].entry.card  # where it is empty, a file in the current folder is another's
    beside = Path(card).parent / "experiment.toml"
    if card and beside.is_file() and f'name = "{run.name}"' in beside.read_text(encoding="utf-8"):
        return beside.as_posix()
    return f"{run.name}.toml"


def _differing(run: Manifest) -> list[str]:
    """Return the options with which a run differs from the shipped experiment of its name."""
    shipped = load_experiment(run.name)
    techniques = [entry.name for entry in shipped.techniques]
    # The run itself adds tuned entries and the learners of techniques.
    kept = [name for name in run.titles if name in techniques]
    of_shipped = {entry.technique for entry in shipped.techniques}
    added = [t.technique for t in run.techniques if t.technique not in of_shipped]
    # Techniques of a plugin join the shipped ones by themselves.
    if kept != techniques or not run.code.plugins:
        kept += added
    chosen = {
        "--datasets": ([dataset.entry.name for dataset in run.datasets], [e.name for e in shipped.datasets]),
        "--techniques": (kept, techniques),
        "--betas": tuple([f"{beta:g}" for beta in one.betas] for one in (run.experiment, shipped)),
        "--doses": tuple([f"{dose:g}" for dose in one.doses] for one in (run.experiment, shipped)),
        "--repetitions": ([f"{run.repetitions}"], [f"{shipped.repetitions}"]),
        "--seed": ([f"{run.experiment.seed}"], [f"{shipped.seed}"]),
    }
    return [
        part
        for option, (values, defaults) in chosen.items()
        if values and values != defaults
        for part in (option, *values)
    ]
