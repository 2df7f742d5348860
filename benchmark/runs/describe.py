"""The manifest of a run, from an experiment with its data and the outcome of its cells."""

import datetime
import os
import platform
from collections.abc import Iterable
from functools import cache
from itertools import product, starmap
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.columns import BIASED, ORIGINAL, TRUTH, hidden_name
from benchmark.experiment import evaluate, versions
from benchmark.experiment.draws import split_rows, split_sizes
from benchmark.experiment.prepared import PreparedDataset, PreparedExperiment, SolvedDoses
from benchmark.experiment.run import Outcome
from benchmark.metrics import get_metric, metric_names
from benchmark.runs import manifest as described

_NOTHING = Outcome([], computed=0, seconds=0.0, engine="")


def describe_run(prepared: PreparedExperiment, outcome: Outcome = _NOTHING) -> described.Manifest:
    """Return the manifest of a run, by default of one that has computed no cell."""
    experiment, cells = prepared.experiment, outcome.cells
    refits = {entry.name for entry in experiment.techniques if entry.refit}
    durations = {"this_run": outcome.seconds, "all_cells": sum(cell.seconds for cell in cells)}
    if refits:
        durations["refits"] = sum(cell.seconds for cell in cells if cell.technique in refits)
    return described.Manifest(
        experiment=described.ExperimentInRun.model_validate(described.settings_of(experiment)),
        code=described.CodeInRun(
            harness=versions.harness_digest(),
            techniques={
                f"{technique} on {dataset}": evaluate.describe_technique(configured)
                for (dataset, technique), configured in prepared.techniques.items()
            },
            classifiers={c.name: evaluate.describe_classifier(c) for c in experiment.classifiers},
            plugins=tuple(Path(plugin).name for plugin in prepared.plugins),
        ),
        real_data={data.name: not data.embedded for data in prepared.datasets.values()},
        datasets=tuple(_dataset(data, outcome) for data in prepared.datasets.values()),
        stages={name: configured.stage for (_, name), configured in prepared.techniques.items()},
        metrics=tuple(_metrics(prepared)),
        headline=experiment.shown_metrics,
        cells={
            "planned": len(cells),
            "computed_in_this_run": outcome.computed,
            **dict(sorted(outcome.failures.items())),
        },
        durations_in_seconds={name: round(seconds, 3) for name, seconds in durations.items()},
        plan=outcome.plan,
        engine=outcome.engine,
        shard=str(outcome.shard),
        versions=versions.package_versions(),
        platform={
            "system": platform.platform(),
            "cores": os.cpu_count(),
            "python": platform.python_implementation(),
        },
        processors=tuple(map(dict, outcome.processors)),
        finished=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def _dataset(data: PreparedDataset, outcome: Outcome) -> described.DatasetDescription:
    test, schema, experiment = data.test, data.test.schema, data.experiment
    network = described.LearnedNetwork()
    sizes = [] if experiment.train == "network" else split_sizes(data)
    rows = np.bincount(test.groups, minlength=len(schema.groups))
    if experiment.train == "data":  # edits act on the labels of rows, not on edges
        acting, edited = {name: bias.edits for name, bias in data.biases.items()}, []
    else:
        acting = {name: bias.acting_edits(data.network) for name, bias in data.biases.items()}
        edited = [(edit.attribute, schema.label) for edits in acting.values() for edit in edits]
    if data.network_of_all is not None:
        network = described.LearnedNetwork(
            digest=data.network.digest,
            edges=data.network.edges,
            edited_edges=tuple(dict.fromkeys(edited)),
        )
    roles = ("sensitive_feature", "deprived_group", "label", "favorable_label")
    return described.DatasetDescription(
        **{name: getattr(data, name) for name in ("name", "title", "test_data", "embedded", "notes")},
        **{role: getattr(schema, role) for role in roles},
        card=data.card.name,
        card_digest=data.card.digest,
        test_digest=test.digest,
        test_rows=len(test),
        # Labels of an audit are people's decisions; they do not say which answer is right.
        test_groups=None if data.entry.audit else described.GroupSizes.of(test),
        **_favorable(data, outcome),
        # Where it varies, the fewest of all splits.
        train_rows=min([data.n_train, *(trained for trained, _ in sizes)]),
        warning=data.card.warning,
        network=network,
        bias=tuple(
            described.PlantedBias(
                name=hidden_name(name, gap),
                kind=", ".join(step.name for step in bias.steps),
                description=data.description(name, gap),
                edits=tuple(map(str, bias.edits)),
                acting=tuple(map(str, acting[name])),
                network_discrimination_by_beta={
                    level: data.expected(name, data.beta_of(name, level, gap), gap).discrimination
                    for level in experiment.levels
                    if data.reaches(name, level, gap)
                },
                **vars(data.solved.get((name, gap), SolvedDoses())),
            )
            for (name, bias), gap in product(data.biases.items(), experiment.hidden_gaps)
        ),
        columns=schema.names,
        group_rows=dict(zip(schema.groups, rows.tolist(), strict=True)),
    )


def _favorable(data: PreparedDataset, outcome: Outcome) -> dict[str, Any]:
    """Return the shares of favorable labels in the rows of tests, by repetition.

    Shares in original rows are means, as accuracy is. There are none for an audit, or if all
    repetitions have the same rows. Shares in rows of the test in truth are the same at all levels. A share is
    None if the repetition has no result.
    """
    experiment, shares = data.experiment, outcome.favorable
    levels, repetitions = experiment.levels, range(experiment.repetitions)

    @cache
    def scored(level: float, repetition: int) -> float:
        tests = [data.test.y[tested].mean() for _, tested in split_rows(data, level, repetition)]
        return float(np.mean(tests))

    splits = levels if experiment.splits and not data.entry.audit else ()
    tested = {bias for dataset, bias, _, _, test in shares if (dataset, test) == (data.name, BIASED)}
    by_test = {
        (bias, r, test): share for (name, bias, _, r, test), share in shares.items() if name == data.name
    }
    return {
        # Paired levels have the same splits.
        "scored_favorable": {
            level: tuple(scored(levels[0] if experiment.paired_betas else level, r) for r in repetitions)
            for level in splits
        },
        "biased_favorable": {
            bias: {
                level: tuple(shares.get((data.name, bias, level, r, BIASED)) for r in repetitions)
                for level in levels
            }
            for bias in starmap(hidden_name, product(data.biases, experiment.hidden_gaps))
            if bias in tested
        },
        "hidden_favorable": {
            bias: {
                test: tuple(by_test.get((bias, r, test)) for r in repetitions) for test in (ORIGINAL, TRUTH)
            }
            for bias in starmap(hidden_name, product(data.biases, filter(None, experiment.hidden_gaps)))
        },
    }


def _metrics(prepared: PreparedExperiment) -> Iterable[described.MetricDescription]:
    schemas = [data.test.schema for data in prepared.datasets.values()]
    groups = dict.fromkeys(group for schema in schemas for group in schema.groups)
    for metric in map(get_metric, metric_names(prepared.experiment.measured)):
        for suffix in [f"[{group}]" for group in groups] if metric.compare == "each_group" else [""]:
            yield described.metric_description(metric.name + suffix)
