"""The run, its datasets, techniques and metrics, as its manifest and the cards describe them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmark.data.card import Card
from benchmark.facts.commands import commands
from benchmark.facts.model import (
    Bias,
    Criteria,
    Dataset,
    Dose,
    GroupRows,
    Metric,
    Protocol,
    Run,
    Technique,
)
from benchmark.metrics import Metric as Declared
from benchmark.runs.analysis import Undeclared
from benchmark.runs.descriptions import DatasetDescription, PlantedBias
from benchmark.runs.manifest import Manifest
from benchmark.statistics import recommendation
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answers import NEARLY_ALL
from benchmark.techniques import find_technique

_NO_RESULT = ("planned", "computed_in_this_run")


def described_run(run: Manifest, criteria: recommendation.Criteria, alpha: float = ALPHA) -> Run:
    """Return what the manifest says about the run as a whole."""
    protocol = run.protocol
    return Run(
        name=run.name,
        title=run.title,
        level_name=run.level_name,
        levels=run.levels,
        protocol=Protocol(
            train=protocol.train,
            holdout=protocol.holdout,
            folds=protocol.folds,
            repetitions=run.repetitions,
            seed=run.experiment.seed,
            overlaps=protocol.overlaps,
            paired_levels=protocol.paired_betas,
            tests=run.tests,
        ),
        criteria=Criteria(
            margin=criteria.margin,
            least_group_share=criteria.least_group_share,
            least_overall_share=criteria.least_overall_share,
            accuracy_slack=criteria.accuracy_slack,
            least_repetitions=criteria.least_splits,
            nearly_all=NEARLY_ALL,
            alpha=alpha,
        ),
        cells=run.cells.get("planned", 0),
        cells_missing=sum(n for status, n in run.cells.items() if status not in _NO_RESULT),
        tuned_by=run.tuned_by,
        versions=run.versions,
        finished=run.finished,
        commands=commands(run),
    )


def techniques(run: Manifest) -> tuple[Technique, ...]:
    """Return the techniques in the order in which they are shown."""
    return tuple(
        Technique(
            name=entry.name,
            title=entry.title or entry.name,
            stage=entry.stage,
            method=entry.technique,
            parameters=entry.parameters,
            tuned=entry.tuned,
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
            least=metric.range[0],
            greatest=metric.range[1],
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
    groups = {}
    if sizes := dataset.test_groups:
        groups = {
            "deprived": GroupRows(rows=sizes.deprived, favorable=sizes.deprived_favorable),
            "favored": GroupRows(rows=sizes.favored, favorable=sizes.favored_favorable),
        }
    return Dataset(
        name=dataset.name,
        title=dataset.heading,
        embedded=dataset.embedded,
        rows=dataset.test_rows,
        train_rows=dataset.train_rows,
        sensitive=dataset.sensitive_feature,
        deprived_group=dataset.deprived_group,
        label=dataset.label,
        favorable_label=dataset.favorable_label,
        **groups,
        warning=dataset.warning or "",
        notes=dataset.notes,
        true_rates=dataset.entry.true_rates or {},
        accept=dataset.entry.accept,
        bias=tuple(map(_bias, dataset.bias)),
        edges=dataset.network.edges,
        columns=dataset.columns,
        card={} if card is None else dict(_of_card(card, dataset)),
        known_problems=() if card is None else tuple(card.known_problems),
    )


def _of_card(card: Card, dataset: DatasetDescription) -> Iterator[tuple[str, str]]:
    texts = {
        "description": card.description,
        "license": card.licence,
        "homepage": card.homepage,
        "citation": card.citation,
        "bibtex": card.bibtex,
    }
    yield from ((name, text.strip()) for name, text in texts.items() if text)
    if card.digest != dataset.card_digest:
        yield "changed", "since this run"


def _bias(bias: PlantedBias) -> Bias:
    return Bias(
        name=bias.name,
        kind=bias.kind,
        description=bias.description,
        edits=bias.acting,
        inert=bias.inert,
        doses=tuple(
            Dose(dose=dose.dose, beta=dose.beta, gap=dose.gap, comparable=dose.pooled) for dose in bias.doses
        ),
        label_gaps=dict(bias.network_discrimination_by_beta),
    )
