"""A run's manifest: what is needed to judge, to describe and to repeat it, written and read by one class."""

from __future__ import annotations

import datetime
import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pydantic import BaseModel, ValidationError, model_serializer, model_validator

from benchmark.bias import list_bias_kinds
from benchmark.bias.cpt import NOTHING_ACTS
from benchmark.columns import ORIGINAL, OWN, TEST_TITLES
from benchmark.data.card import Card, load_card
from benchmark.declarations import declaration_dir
from benchmark.errors import CardError, ReportError, UnknownNameError
from benchmark.experiment.entries import PublishedEntry
from benchmark.experiment.plan import PAPER_METRICS, Block, Experiment
from benchmark.metrics import get_metric, list_metrics, metric_names
from benchmark.runs.descriptions import (
    DatasetDescription,
    GroupSizes,
    MetricDescription,
    PlantedBias,
    Protocol,
    RunDescription,
    TechniqueDescription,
)
from benchmark.techniques import list_techniques

# What computes a run takes half a second to load, and readers of manifests need none of it.
if TYPE_CHECKING:
    from benchmark.experiment.counts import BlockName
    from benchmark.experiment.prepare import Scene, World
    from benchmark.experiment.run import Outcome

_ARROW = " -> "
_OF_PAPER = "the baseline of the paper"


def describe_run(world: World, outcome: Outcome | None = None) -> RunDescription:
    """Return the description of an experiment and its data, as the run's manifest will give it.

    Only what was computed tells which labels the test rows with planted bias have.
    """
    return Manifest.of(world, outcome).description


def metric_description(name: str) -> MetricDescription:
    """Describe a metric by what is registered: a plugin that is not loaded leaves its name alone."""
    base = name.partition("[")[0]
    if (metric := list_metrics().get(base)) is None:
        return MetricDescription(name, name)
    return MetricDescription(name, metric.title + name.removeprefix(base), metric.ideal)


# The experiment. Only what is needed of it is checked, so that folders of earlier versions and of narrowed
# experiments, which need not be valid experiment files, can be read as well.


class _Named(BaseModel):
    name: str


class _Technique(_Named):
    title: str = ""
    technique: str = ""
    parameters: dict[str, Any] = {}
    tuned: str = ""
    sweep: str = ""


class _Edit(BaseModel):
    attribute: str


class _Bias(_Named):
    edits: tuple[_Edit, ...] = ()  # of runs of earlier versions, and of the steps

    @model_validator(mode="before")
    @classmethod
    def _of_steps(cls, data: Any) -> Any:
        steps = data.get("steps", ()) if isinstance(data, dict) else ()
        edits = [edit for step in steps for edit in step.get("parameters", {}).get("edits", ())]
        return {**data, "edits": edits} if edits else data


class _Entry(BaseModel):
    card: str
    name: str = ""
    baseline: str
    baseline_reason: str = ""
    columns: dict[str, dict[str, Any]] = {}
    sensitive: tuple[str, ...] = ()
    mitigate: str | None = None
    deprived_group: Any = None
    bias: tuple[_Bias, ...]
    folds: int | None = None

    def find_card(self) -> Card | None:
        """Return the card with its columns as the experiment reads them, or None if it is not at hand."""
        shipped = declaration_dir("experiments") / self.card
        try:
            card = load_card(shipped if shipped.suffix == ".toml" and shipped.is_file() else self.card)
        except (UnknownNameError, CardError):
            return None  # a user's own card, which need not be where it was
        try:
            card = card.with_columns(self.columns)
            return card.with_groups(self.sensitive, self.mitigate, self.deprived_group)
        except (UnknownNameError, CardError):
            return card  # it has changed since, or columns with infinite bins, which JSON does not have


class _ExperimentFacts(BaseModel):
    name: str
    title: str
    seed: int
    repetitions: int
    betas: tuple[float, ...]
    techniques: tuple[_Technique, ...]
    classifiers: tuple[_Named, ...]
    headline: tuple[str, ...] = ()
    tests: tuple[str, ...] = (ORIGINAL,)
    train: str = "network"
    holdout: float | None = None
    folds: int | None = None
    paired_betas: bool = False
    datasets: tuple[_Entry, ...]
    published: PublishedEntry | None = None
    settings: dict[str, Any]

    @model_validator(mode="before")
    @classmethod
    def _keep_settings(cls, settings: Any) -> Any:
        return {**settings, "settings": settings} if isinstance(settings, Mapping) else settings

    @model_serializer
    def _written(self) -> dict[str, Any]:
        return self.settings

    @classmethod
    def of(cls, experiment: Experiment) -> Self:
        settings = json.loads(experiment.model_dump_json())
        # Where a plugin lies is this machine's affair, as with those of the command line.
        settings["plugins"] = [Path(plugin).name for plugin in experiment.plugins]
        # And so is where the shipped experiments lie, whose own cards are beside them.
        here = declaration_dir("experiments")
        for entry in settings["datasets"]:
            if (card := Path(entry["card"])).is_relative_to(here):
                entry["card"] = card.relative_to(here).as_posix()
        return cls.model_validate(settings)


class _CodeFacts(BaseModel):
    harness: str = ""
    techniques: dict[str, Any] = {}
    classifiers: dict[str, Any] = {}
    plugins: tuple[str, ...] = ()


class _NetworkFacts(BaseModel):
    digest: str = ""
    edges: tuple[str, ...] = ()
    free_parameters: int = 0
    edited_edges: tuple[str, ...] | None = None


class _BiasFacts(BaseModel):
    kind: str = ""
    description: str = ""
    edits: tuple[str, ...] = ()
    acting: tuple[str, ...] = ()
    network_discrimination_by_beta: dict[str, float] = {}

    def planted(self, name: str) -> PlantedBias:
        levels = ((float(beta), value) for beta, value in self.network_discrimination_by_beta.items())
        return PlantedBias(name, self._words(), self.kind, self.edits, self.acting, tuple(levels))

    def _words(self) -> str:
        """Return what the kind says of the bias; runs of earlier versions did not record it."""
        if self.description:
            return self.description
        if self.edits:
            return ", ".join(self.acting) or NOTHING_ACTS
        kinds = list_bias_kinds()
        return kinds[self.kind].summary if self.kind in kinds else self.kind


class _DatasetFacts(BaseModel):
    title: str = ""
    card: str = ""
    card_digest: str = ""
    test_data: str = ""
    embedded: bool
    test_digest: str = ""
    test_rows: int = 0
    test_groups: GroupSizes | None = None
    scored_favorable: dict[str, tuple[float, ...]] = {}
    biased_favorable: dict[str, dict[str, tuple[float | None, ...]]] = {}
    train_rows: int = 0
    warning: str | None
    notes: tuple[str, ...] = ()
    network: _NetworkFacts = _NetworkFacts()
    bias: dict[str, _BiasFacts] = {}
    sensitive_feature: str = ""
    deprived_group: str = ""
    label: str = ""
    favorable_label: str = ""
    columns: tuple[str, ...] = ()
    group_rows: dict[str, int] = {}

    @classmethod
    def of(cls, world: World, scene: Scene, biased: Mapping[BlockName, float]) -> Self:
        from benchmark.experiment.prepare import network_digest

        test, schema, network = scene.test, scene.test.schema, scene.network
        rows = np.bincount(test.groups, minlength=len(schema.groups))
        if scene.train == "data":  # all act on the labels of rows, none on an edge
            edits, edited = {bias: own.edits for bias, own in scene.biases.items()}, []
        else:
            edits = {bias: own.acting_edits(network) for bias, own in scene.biases.items()}
            edited = [_ARROW.join((edit.attribute, schema.label)) for own in edits.values() for edit in own]
        biases = {
            bias: _BiasFacts(
                kind=", ".join(step.name for step in own.steps),
                description=scene.description(bias),
                edits=tuple(map(str, own.edits)),
                acting=tuple(map(str, edits[bias])),
                network_discrimination_by_beta={
                    str(beta): scene.expected(bias, beta).discrimination for beta in world.experiment.betas
                },
            )
            for bias, own in scene.biases.items()
        }
        return cls(
            title=scene.title,
            card=scene.card.name,
            card_digest=scene.card.digest,
            test_data=scene.test_data,
            embedded=scene.embedded,
            test_digest=test.digest,
            test_rows=len(test),
            test_groups=GroupSizes.of(test),
            scored_favorable=_scored_favorable(world.experiment, scene),
            biased_favorable=_biased_favorable(world.experiment, scene, biased),
            train_rows=scene.n_train,
            warning=scene.card.warning,
            notes=scene.notes,
            network=_NetworkFacts(
                digest=network_digest(network),
                edges=tuple(map(_ARROW.join, network.edges)),
                free_parameters=network.n_parameters,
                edited_edges=tuple(dict.fromkeys(edited)),
            ),
            bias=biases,
            columns=schema.names,
            group_rows=dict(zip(schema.groups, rows.tolist(), strict=True)),
            **{role: getattr(schema, role) for role in _ROLES},
        )

    def description(
        self, name: str, entry: _Entry, own: Mapping[str, str], published: PublishedEntry | None = None
    ) -> DatasetDescription:
        # Runs of earlier versions left title, roles and columns to the card.
        card = None if self.label and self.title else entry.find_card()
        roles = {role: getattr(self, role) for role in _ROLES}
        if card is not None:
            roles = {role: roles[role] or of_card for role, of_card in card.roles.items()}
        edges = tuple(map(_edge, self.network.edges))
        nodes = [node for edge in edges for node in edge]
        if self.network.edited_edges is None:
            attributes = {edit.attribute for bias in entry.bias for edit in bias.edits}
            acting = [edge for edge in edges if edge[0] in attributes and edge[1] == roles["label"]]
        else:
            acting = list(map(_edge, self.network.edited_edges))
        return DatasetDescription(
            name=name,
            title=self.title or (card.title_as(entry.name or entry.card) if card else ""),
            embedded=self.embedded,
            warning=self.warning,
            baseline=entry.baseline,
            baseline_reason=entry.baseline_reason or _OF_PAPER * bool(published and published.baseline),
            own_baselines=own if entry.baseline == OWN else {},
            entry=entry.name or entry.card,
            test_data=self.test_data,
            digest=self.test_digest,
            folds=entry.folds,
            n_train=self.train_rows,
            n_test=self.test_rows,
            group_sizes=self.test_groups,
            group_rows=tuple(self.group_rows.items()),
            scored_favorable={float(beta): own for beta, own in self.scored_favorable.items()},
            biased_favorable={
                (bias, float(beta)): tuple(math.nan if share is None else share for share in own)
                for bias, levels in self.biased_favorable.items()
                for beta, own in levels.items()
            },
            columns=self.columns or tuple(dict.fromkeys([*(card.columns if card else ()), *nodes])),
            edges=edges,
            edited_edges=tuple(acting),
            biases=tuple(
                self.bias[bias.name].planted(bias.name) if bias.name in self.bias else PlantedBias(bias.name)
                for bias in entry.bias
            ),
            notes=self.notes,
            **roles,
        )


def _scored_favorable(experiment: Experiment, scene: Scene) -> dict[str, tuple[float, ...]]:
    """Return the share of favorable labels in the test rows of each repetition, by level of bias.

    With folds it is the mean over them, as accuracy is. Empty where all repetitions have the same test rows.
    """
    from benchmark.experiment.draws import axes, split

    if not experiment.splits:
        return {}
    labels = scene.test.y

    @cache
    def share(beta: float, repetition: int) -> float:
        own = axes(scene, Block(scene.name, "", beta, repetition), experiment)
        return float(np.mean([labels[tested].mean() for _, tested in split(scene, experiment, own)]))

    # Paired levels have the same splits.
    first = experiment.betas[0] if experiment.paired_betas else None
    return {
        str(beta): tuple(share(beta if first is None else first, r) for r in range(experiment.repetitions))
        for beta in experiment.betas
    }


def _biased_favorable(
    experiment: Experiment, scene: Scene, shares: Mapping[BlockName, float]
) -> dict[str, dict[str, tuple[float | None, ...]]]:
    """Return the share of favorable labels in the biased test rows of each repetition, by bias and level.

    None where no cell of a repetition came to an end; empty where no such rows were tested on.
    """
    repetitions = range(experiment.repetitions)
    return {
        bias: {
            str(beta): tuple(shares.get((scene.name, bias, beta, r)) for r in repetitions)
            for beta in experiment.betas
        }
        for bias in scene.biases
        if any(where[:2] == (scene.name, bias) for where in shares)
    }


_ROLES = ("sensitive_feature", "deprived_group", "label", "favorable_label")


def _edge(text: str) -> tuple[str, str]:
    parent, _, child = text.partition(_ARROW)
    return parent, child


class _MetricFacts(BaseModel):
    name: str
    title: str
    ideal: float | None = None


class Manifest(BaseModel):
    """What is needed to judge, to describe and to repeat a run; what earlier versions did not write is empty.

    ``experiment`` has what later steps read of the experiment, and in ``experiment.settings`` all of it, as
    it was given. ``code`` has digests and settings of what computed. ``real_data`` and ``datasets`` have the
    names in the results, in the experiment's order. ``stages`` says at which stage each technique acts,
    ``headline`` which of the metrics tables and figures show; ``own_baselines``, there only where a dataset's
    baseline is ``"own"``, says which entry each technique with a learner of its own is compared with.
    ``cells`` counts those ``planned`` and ``computed_in_this_run``, and by status those without a result;
    ``durations_in_seconds`` are that of ``this_run``, and of ``all_cells`` one after the other. ``plan`` is
    the digest of the cells' keys, ``engine`` what computed them, ``shard`` which part of them they are.
    ``files`` are all others that the
    run wrote to its folder.
    """

    experiment: _ExperimentFacts
    code: _CodeFacts = _CodeFacts()
    real_data: dict[str, bool] = {}
    datasets: dict[str, _DatasetFacts]
    stages: dict[str, str] = {}
    metrics: tuple[_MetricFacts, ...] = ()
    headline: tuple[str, ...] | None = None
    own_baselines: dict[str, str] = {}
    cells: dict[str, int] = {}
    durations_in_seconds: dict[str, float] = {}
    plan: str = ""
    engine: str = ""
    shard: str = ""
    versions: dict[str, str]
    platform: dict[str, Any] = {}
    processors: tuple[dict[str, Any], ...] = ()
    finished: str = ""
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, world: World, outcome: Outcome | None = None, files: Iterable[str] = ()) -> Self:
        """Return the manifest of a run; without what computing gave, it says nothing of cells."""
        from benchmark.experiment import evaluate, run, versions

        experiment = world.experiment
        computed: dict[str, Any] = {}
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
                },
                "plan": outcome.plan,
                "engine": outcome.engine,
                "shard": str(outcome.shard),
                "processors": tuple(map(dict, outcome.processors)),
            }
        return cls(
            experiment=_ExperimentFacts.of(experiment),
            code=_CodeFacts(
                harness=versions.harness_digest(),
                techniques={
                    f"{technique} on {dataset}": evaluate.describe_technique(configured)
                    for (dataset, technique), configured in world.techniques.items()
                },
                classifiers={c.name: evaluate.describe_classifier(c) for c in experiment.classifiers},
                plugins=tuple(Path(plugin).name for plugin in world.plugins),
            ),
            real_data={scene.name: not scene.embedded for scene in world.scenes.values()},
            datasets={
                scene.name: _DatasetFacts.of(world, scene, {} if outcome is None else outcome.biased)
                for scene in world.scenes.values()
            },
            stages={name: configured.stage for (_, name), configured in world.techniques.items()},
            metrics=tuple(_metrics(world)),
            headline=run.headline_metrics(experiment),
            own_baselines=dict(world.own_baselines),
            versions=versions.package_versions(),
            platform={
                "system": platform.platform(),
                "cores": os.cpu_count(),
                "python": platform.python_implementation(),
            },
            finished=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            files=tuple(files),
            **computed,
        )

    @classmethod
    def read(cls, path: Path, remedy: str = "") -> Self:
        """Read the manifest that a run of this version or an earlier one wrote.

        A file that is missing, or is not the manifest of a run, is a ReportError with the given remedy.
        """
        try:
            manifest = cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise ReportError(f"{path} cannot be read", got=error.strerror, remedy=remedy) from error
        except ValidationError as error:
            first = error.errors()[0]
            got = f"{'.'.join(map(str, first['loc'])) or 'file'}: {first['msg']}"
            raise ReportError(f"{path} is not the manifest of a run", got=got, remedy=remedy) from error
        entries = manifest.experiment.datasets
        if len(entries) != len(manifest.datasets):
            raise ReportError(
                f"{path} describes other datasets than its experiment names",
                expected=", ".join(entry.name or entry.card for entry in entries),
                got=", ".join(manifest.datasets),
                remedy=remedy,
            )
        return manifest

    @property
    def text(self) -> str:
        """Content of the file."""
        without = set() if self.own_baselines else {"own_baselines"}
        return json.dumps(self.model_dump(mode="json", exclude=without), indent=2) + "\n"

    @property
    def description(self) -> RunDescription:
        """What a report has to know about the run beyond its numbers."""
        experiment = self.experiment
        registered = {name: technique.stage for name, technique in list_techniques().items()}
        return RunDescription(
            name=experiment.name,
            title=experiment.title,
            seed=experiment.seed,
            repetitions=experiment.repetitions,
            betas=experiment.betas,
            techniques=tuple(
                TechniqueDescription(
                    *(t.name, t.title, t.technique, self.stages.get(t.name, registered.get(t.technique, ""))),
                    tuned=t.tuned,
                    sweep=t.sweep,
                )
                for t in experiment.techniques
            ),
            classifiers=(*(c.name for c in experiment.classifiers), *([OWN] if self.own_baselines else [])),
            metrics=tuple(MetricDescription(m.name, m.title, m.ideal) for m in self.metrics),
            # A manifest lists the datasets in the experiment's order.
            datasets=tuple(
                facts.description(name, entry, self.own_baselines, experiment.published)
                for entry, (name, facts) in zip(experiment.datasets, self.datasets.items(), strict=True)
            ),
            versions=self.versions,
            headline=(experiment.headline or PAPER_METRICS) if self.headline is None else self.headline,
            published=experiment.published,
            protocol=Protocol(
                experiment.train, experiment.holdout, experiment.folds, experiment.paired_betas
            ),
            tests=tuple(test for test in TEST_TITLES if test in experiment.tests),
        )


def _metrics(world: World) -> Iterable[_MetricFacts]:
    schemas = [scene.test.schema for scene in world.scenes.values()]
    groups = dict.fromkeys(group for schema in schemas for group in schema.groups)
    for metric in map(get_metric, metric_names(world.experiment.measured)):
        each = [f"[{group}]" for group in groups] if metric.compare == "each_group" else [""]
        for suffix in each:
            name = metric.name + suffix
            yield _MetricFacts(name=name, title=metric.title + suffix, ideal=metric.ideal)
