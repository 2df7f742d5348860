"""What a report has to know about a run, taken from the run itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from benchmark.data import Table
from benchmark.experiment.plan import DatasetEntry
from benchmark.experiment.run import group_sizes, headline_metrics
from benchmark.experiment.versions import package_versions
from benchmark.experiment.world import Scene, World
from benchmark.metrics import get_metric, metric_names
from benchmark.runs.descriptions import (
    DatasetDescription,
    GroupSizes,
    MetricDescription,
    RunDescription,
    TechniqueDescription,
    bias_sentence,
)
from benchmark.techniques import list_techniques

__all__ = ["describe_run"]


def describe_run(world: World) -> RunDescription:
    """Return the description of an experiment and its data for the report."""
    experiment = world.experiment
    return RunDescription(
        name=experiment.name,
        title=experiment.title,
        seed=experiment.seed,
        repetitions=experiment.repetitions,
        betas=experiment.betas,
        techniques=tuple(
            TechniqueDescription(t.name, t.title, t.technique, list_techniques()[t.technique].stage)
            for t in experiment.techniques
        ),
        metrics=tuple(_describe_metrics(world)),
        datasets=tuple(_describe_scene(entry, world.scenes[entry.name]) for entry in experiment.datasets),
        versions=_shown_versions(package_versions()),
        headline=headline_metrics(experiment),
        published=experiment.published is not None,
    )


def _describe_metrics(world: World) -> Iterator[MetricDescription]:
    schemas = [scene.test.schema for scene in world.scenes.values()]
    groups = dict.fromkeys(g for s in schemas for g in s.columns[s.sensitive_index].states)
    for metric in map(get_metric, metric_names(world.experiment.measured)):
        each = [f"[{group}]" for group in groups] if metric.compare == "each_group" else [""]
        for suffix in each:
            yield MetricDescription(metric.name + suffix, metric.title + suffix, metric.ideal)


def _describe_scene(entry: DatasetEntry, scene: Scene) -> DatasetDescription:
    schema, test, card = scene.test.schema, scene.test, scene.card
    acting = [edit for kind in scene.biases.values() for edit in kind.acting_edits(scene.network)]
    return DatasetDescription(
        name=scene.name,
        title=scene.title,
        test_data=scene.test_data,
        embedded=scene.embedded,
        digest=test.digest,
        n_train=scene.n_train,
        n_test=len(test),
        group_sizes=GroupSizes(**group_sizes(test)),
        warning=card.warning,
        sensitive_feature=schema.sensitive_feature,
        deprived_group=schema.deprived_group,
        label=schema.label,
        favorable_label=schema.favorable_label,
        baseline=entry.baseline,
        columns=schema.names,
        edges=scene.network.edges,
        edited_edges=tuple(dict.fromkeys((edit.attribute, schema.label) for edit in acting)),
        bias_description="; ".join(
            bias_sentence(bias, kind.description(scene.network)) for bias, kind in scene.biases.items()
        ),
        group_rows=_group_rows(test),
    )


def _group_rows(test: Table) -> tuple[tuple[str, int], ...]:
    column = test.schema.columns[test.schema.sensitive_index]
    sizes = np.bincount(test.codes[:, test.schema.sensitive_index], minlength=column.cardinality)
    return tuple(zip(column.states, sizes.tolist(), strict=True))


def _shown_versions(versions: Mapping[str, str]) -> dict[str, str]:
    return {name: versions[name] for name in ("betabench", "python", "numpy", "scikit-learn")}
