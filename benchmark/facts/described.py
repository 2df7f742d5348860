"""The run, its datasets, techniques and metrics, as its manifest and the cards describe them."""

import shlex
from collections.abc import Mapping
from pathlib import Path, PurePath

from benchmark.data.card import Card
from benchmark.declarations import list_declarations
from benchmark.experiment.plan import load_experiment
from benchmark.facts.model import (
    Criteria,
    Dataset,
    GroupRows,
    Metric,
    Protocol,
    Run,
    Technique,
)
from benchmark.metrics import Metric as Declared
from benchmark.runs.analysis import Undeclared
from benchmark.runs.descriptions import DatasetDescription
from benchmark.runs.manifest import Manifest, without_result
from benchmark.statistics import recommendation
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answers import NEARLY_ALL
from benchmark.techniques import find_technique


def described_run(run: Manifest, criteria: recommendation.Criteria, alpha: float = ALPHA) -> Run:
    """Return what the manifest says about the run as a whole."""
    return Run.from_record(
        run,
        level_name=run.unit,
        protocol=Protocol.from_record(run.experiment),
        criteria=Criteria.from_record(
            criteria, least_repetitions=criteria.least_splits, nearly_all=NEARLY_ALL, alpha=alpha
        ),
        cells=run.cells.get("planned", 0),
        cells_missing=sum(without_result(run.cells).values()),
        commands=commands(run),
    )


def techniques(run: Manifest) -> tuple[Technique, ...]:
    """Return the techniques in the order in which they are shown."""
    return tuple(
        Technique.from_record(
            entry,
            title=entry.title or entry.name,
            stage=run.stages.get(entry.name, ""),
            tuned=entry.tuned or "",
            method=entry.technique,
            source=getattr(find_technique(entry.technique), "reference", ""),
        )
        for entry in run.techniques
        if not entry.refit
    )


def metrics(declared: Mapping[str, Declared | Undeclared]) -> tuple[Metric, ...]:
    """Return the metrics that techniques are compared by."""
    return tuple(
        Metric(
            name=name,
            title=metric.title + name.removeprefix(metric.name),
            formula=". ".join(filter(None, [getattr(metric, "formula", ""), getattr(metric, "note", "")])),
            ideal=metric.ideal,
            better=metric.direction,
            source=getattr(metric, "source", ""),
        )
        for name, metric in declared.items()
    )


def datasets(run: Manifest) -> tuple[Dataset, ...]:
    """Return the datasets in the order of the experiment, with what their cards say."""
    return tuple(_dataset(dataset, dataset.entry.find_card()) for dataset in run.datasets)


def _dataset(dataset: DatasetDescription, card: Card | None) -> Dataset:
    groups, of_card = {}, {}
    if card is not None:
        of_card = {name: getattr(card, name) for name in ("description", "bibtex", "known_problems")}
        of_card["card_changed"] = card.digest != dataset.card_digest
    if sizes := dataset.test_groups:
        groups = {
            "deprived": GroupRows(rows=sizes.deprived, favorable=sizes.deprived_favorable),
            "favored": GroupRows(rows=sizes.favored, favorable=sizes.favored_favorable),
        }
    return Dataset.from_record(
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
        computing += _changed(run)
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


def _changed(run: Manifest) -> list[str]:
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
