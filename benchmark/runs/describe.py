"""The manifest of a run, from an experiment with its data and the outcome of its cells."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.columns import ORIGINAL, TRUTH, Test
from benchmark.experiment import evaluate, versions
from benchmark.experiment.counts import BlockName, FavorableShares
from benchmark.experiment.draws import axes, split, split_sizes
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepare import PreparedDataset, PreparedExperiment, network_digest
from benchmark.experiment.run import Outcome, headline_metrics
from benchmark.metrics import get_metric, metric_names
from benchmark.runs.descriptions import (
    DatasetDescription,
    GroupSizes,
    LearnedNetwork,
    MetricDescription,
    PlantedBias,
)
from benchmark.runs.manifest import CodeInRun, ExperimentInRun, Manifest


def describe_run(prepared: PreparedExperiment, outcome: Outcome | None = None) -> Manifest:
    """Return the manifest of a run; without an outcome, it has no facts about cells."""
    experiment = prepared.experiment
    computed: dict[str, Any] = {}
    refits = {entry.name for entry in experiment.techniques if entry.refit}
    if outcome is not None:
        computed = {
            "cells": {
                "planned": len(outcome.cells),
                "computed_in_this_run": outcome.computed,
                **dict(sorted(outcome.failures.items())),
            },
            "durations_in_seconds": {
                "this_run": round(outcome.seconds, 3),
                "all_cells": round(sum(cell.seconds for cell in outcome.cells), 3),
                **({"refits": _seconds(outcome, refits)} if refits else {}),
            },
            "plan": outcome.plan,
            "engine": outcome.engine,
            "shard": str(outcome.shard),
            "processors": tuple(map(dict, outcome.processors)),
        }
    favorable = FavorableShares() if outcome is None else outcome.favorable
    return Manifest(
        experiment=ExperimentInRun.of(experiment),
        code=CodeInRun(
            harness=versions.harness_digest(),
            techniques={
                f"{technique} on {dataset}": evaluate.describe_technique(configured)
                for (dataset, technique), configured in prepared.techniques.items()
            },
            classifiers={c.name: evaluate.describe_classifier(c) for c in experiment.classifiers},
            plugins=tuple(Path(plugin).name for plugin in prepared.plugins),
        ),
        real_data={data.name: not data.embedded for data in prepared.datasets.values()},
        datasets=tuple(_dataset(prepared, data, favorable) for data in prepared.datasets.values()),
        stages={name: configured.stage for (_, name), configured in prepared.techniques.items()},
        metrics=tuple(_metrics(prepared)),
        headline=headline_metrics(experiment),
        versions=versions.package_versions(),
        platform={
            "system": platform.platform(),
            "cores": os.cpu_count(),
            "python": platform.python_implementation(),
        },
        finished=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **computed,
    )


def _seconds(outcome: Outcome, techniques: Collection[str]) -> float:
    """Return the seconds that the cells of some techniques took, one after the other."""
    return round(sum(cell.seconds for cell in outcome.cells if cell.technique in techniques), 3)


def _dataset(
    prepared: PreparedExperiment, data: PreparedDataset, favorable: FavorableShares
) -> DatasetDescription:
    test, schema = data.test, data.test.schema
    network = LearnedNetwork()
    rows = np.bincount(test.groups, minlength=len(schema.groups))
    if data.train == "data":  # edits act on the labels of rows, not on edges
        acting, edited = {name: bias.edits for name, bias in data.biases.items()}, []
    else:
        acting = {name: bias.acting_edits(data.network) for name, bias in data.biases.items()}
        edited = [(edit.attribute, schema.label) for edits in acting.values() for edit in edits]
    if data.network_of_all is not None:
        network = LearnedNetwork(
            digest=network_digest(data.network),
            edges=data.network.edges,
            free_parameters=data.network.n_parameters,
            edited_edges=tuple(dict.fromkeys(edited)),
        )
    return DatasetDescription(
        name=data.name,
        title=data.title,
        card=data.card.name,
        card_digest=data.card.digest,
        test_data=data.test_data,
        embedded=data.embedded,
        test_digest=test.digest,
        test_rows=len(test),
        # Labels of an audit are people's decisions; they do not say which answer is right.
        test_groups=None if data.entry.audit else GroupSizes.of(test),
        scored_favorable={} if data.entry.audit else _scored_favorable(prepared.experiment, data),
        biased_favorable=_biased_favorable(prepared.experiment, data, favorable.biased),
        hidden_favorable=_hidden_favorable(prepared.experiment, data, favorable.hidden),
        train_rows=_train_rows(prepared.experiment, data),
        warning=data.card.warning,
        notes=data.notes,
        network=network,
        bias=tuple(
            PlantedBias(
                name=name,
                kind=", ".join(step.name for step in bias.steps),
                description=data.description(name),
                edits=tuple(map(str, bias.edits)),
                acting=tuple(map(str, acting[name])),
                network_discrimination_by_beta={
                    level: data.expected(name, data.beta_of(name, level)).discrimination
                    for level in prepared.experiment.levels
                    if data.reaches(name, level)
                },
                doses=data.doses.get(name, ()),
                hidden=data.hidden.get(name),
            )
            for name, bias in data.biases.items()
        ),
        sensitive_feature=schema.sensitive_feature,
        deprived_group=schema.deprived_group,
        label=schema.label,
        favorable_label=schema.favorable_label,
        columns=schema.names,
        group_rows=dict(zip(schema.groups, rows.tolist(), strict=True)),
    )


def _train_rows(experiment: Experiment, data: PreparedDataset) -> int:
    """Return the number of rows of a training sample; where it varies, the fewest of all splits."""
    varying = data.entry.audit or not (data.judged is None and data.persons is None)
    if not varying or data.train == "network":
        return data.n_train
    return min(data.n_train, *(trained for trained, _ in split_sizes(data, experiment)))


def _scored_favorable(experiment: Experiment, data: PreparedDataset) -> dict[float, tuple[float, ...]]:
    """Return the share of favorable labels in the test rows of each repetition, by level of bias.

    Folds are averaged, as for accuracy. The result is empty if all repetitions have the same test rows.
    """
    if not experiment.splits:
        return {}
    labels = data.test.y

    @cache
    def share(beta: float, repetition: int) -> float:
        axes_of_block = axes(data, Block(data.name, "", beta, repetition), experiment)
        return float(np.mean([labels[tested].mean() for _, tested in split(data, experiment, axes_of_block)]))

    # Paired levels have the same splits.
    first = experiment.levels[0] if experiment.paired_betas else None
    return {
        beta: tuple(share(beta if first is None else first, r) for r in range(experiment.repetitions))
        for beta in experiment.levels
    }


def _biased_favorable(
    experiment: Experiment, data: PreparedDataset, shares: Mapping[BlockName, float]
) -> dict[str, dict[float, tuple[float | None, ...]]]:
    """Return the share of favorable labels in the biased test rows of each repetition, by bias and level.

    A share is None if the repetition has no result; the dictionary is empty if no such rows were tested on.
    """
    repetitions = range(experiment.repetitions)
    return {
        bias: {
            beta: tuple(shares.get((data.name, bias, beta, r)) for r in repetitions)
            for beta in experiment.levels
        }
        for bias in data.biases
        if any(block[:2] == (data.name, bias) for block in shares)
    }


def _hidden_favorable(
    experiment: Experiment,
    data: PreparedDataset,
    shares: Mapping[BlockName, Mapping[Test, float]],
) -> dict[str, dict[str, tuple[float | None, ...]]]:
    """Return the shares of favorable labels in each test's rows, by hidden bias and by repetition.

    They are the same at all levels. A share is None if the repetition has no result.
    """
    by_test = {block[1::2]: tests for block, tests in shares.items() if block[0] == data.name}
    return {
        bias: {
            test: tuple(by_test.get((bias, r), {}).get(test) for r in range(experiment.repetitions))
            for test in (ORIGINAL, TRUTH)
        }
        for bias in data.hidden
    }


def _metrics(prepared: PreparedExperiment) -> Iterable[MetricDescription]:
    schemas = [data.test.schema for data in prepared.datasets.values()]
    groups = dict.fromkeys(group for schema in schemas for group in schema.groups)
    for metric in map(get_metric, metric_names(prepared.experiment.measured)):
        each = [f"[{group}]" for group in groups] if metric.compare == "each_group" else [""]
        for suffix in each:
            name = metric.name + suffix
            yield MetricDescription(name, metric.title + suffix, metric.ideal)
