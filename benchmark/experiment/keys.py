"""What identifies a cell: the keys of the store, made of all that can change a cell's predictions."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from benchmark.columns import BIASED, OWN
from benchmark.experiment import unprocessing
from benchmark.experiment.evaluate import Cell, describe_classifier, describe_technique
from benchmark.experiment.plan import WHOLE, Block, Experiment, Shard, plan_blocks
from benchmark.experiment.prepare import Scene, World
from benchmark.experiment.tune import describe_tuning
from benchmark.experiment.versions import PACKAGE, code_digest, harness_digest


def planned_cells(world: World, shard: Shard = WHOLE) -> list[tuple[Block, tuple[Cell, ...]]]:
    """Return the blocks of a plan in their order, each with its cells and their keys."""
    experiment = world.experiment
    entries = {entry.name: entry for entry in experiment.techniques}
    # The entries' names are part of what is stored, though no number depends on them.
    techniques = {
        (dataset, name): {
            **{"entry": name, **entries[name].in_keys()},
            **describe_technique(technique),
            **unprocessing.described(technique),
        }
        for (dataset, name), technique in world.techniques.items()
    }
    classifiers = {
        entry.name: {"entry": entry.name, **entry.in_keys(), **describe_classifier(entry)}
        for entry in experiment.classifiers
    }
    classifiers.setdefault(OWN, {"entry": OWN})
    restores = experiment.restores

    def cells(block: Block) -> Iterator[Cell]:
        sample = sample_identity(world, block)
        clean = sample_identity(world, replace(block, level=0.0)) if restores else sample
        compared = [clean, sample]
        if restores and block.bias in world.scenes[block.dataset].hidden:
            compared.append(sample_identity(world, replace(block, level=0.0), in_truth=True))
        references: dict[tuple[str, str], str] = {}

        def reference(name: str, classifier: str) -> str:
            """Return what identifies the untreated models: without planted bias, with it, and in truth."""
            place = world.untreated(block.dataset, name, classifier), classifier
            if place not in references:
                described = techniques[block.dataset, place[0]], classifiers[classifier]
                keys = [cell_key(rows, *described) for rows in compared]
                references[place] = hashlib.sha256("".join(keys).encode()).hexdigest()
            return references[place]

        for name, classifier in block.cells:
            described, entry = techniques[block.dataset, name], entries[name]
            if entry.tuned is not None:
                described = {**described, "tuned": describe_tuning(world, block, entry)}
            if entry.refit is not None:
                described = {**described, "refit": [entry.refit, clean if entry.refit == "clean" else {}]}
            key = cell_key(sample, described, classifiers[classifier])
            yield Cell(name, classifier, key, reference(name, classifier) if restores else "")

    return [(block, tuple(cells(block))) for block in shard.of(plan_blocks(experiment, world.reaches))]


def cell_key(sample: Mapping[str, Any], technique: Mapping[str, Any], classifier: Mapping[str, Any]) -> str:
    """Return the identity of a cell in the store: the SHA-256 of all that can change its predictions.

    ``sample`` is the :func:`sample_identity` of its block; ``technique`` and ``classifier`` are canonical
    descriptions: name, parameters, digest of the code.
    """
    identity = _identity(sample, technique, classifier)
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _identity(
    sample: Mapping[str, Any], technique: Mapping[str, Any], classifier: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all that can change a cell's predictions, by name; tests/experiment/test_keys.py holds it."""
    takes_numbers = classifier.get("encoding") == "numbers"
    seen = {name: value for name, value in sample.items() if name != "numbers" or takes_numbers}
    return {**seen, "technique": technique, "classifier": classifier}


def sample_identity(world: World, block: Block, *, in_truth: bool = False) -> dict[str, Any]:
    """Return what of a block can change its cells' predictions: the protocol, and the rows that are drawn.

    Asked for it ``in_truth``, no bias is hidden in the rows.
    """
    experiment, scene = world.experiment, world.scenes[block.dataset]
    beta = scene.beta_of(block.bias, block.level)
    identity = {
        "code": harness_digest(),
        **experiment.in_keys(),
        **scene.entry.in_keys(),
        **{"dataset": scene.name, "bias": block.bias, "beta": beta, "repetition": block.repetition},
        "test": scene.test.digest,
        "train_rows": scene.n_train,
        "steps": _steps(experiment, scene, block),
    }
    if experiment.splits:
        split = {"train": experiment.train, "holdout": experiment.holdout, "folds": scene.folds}
        identity["split"] = split
    if not experiment.splits or experiment.train == "network":
        identity["network"] = scene.planted(block.bias, beta)[1]
    if experiment.splits and experiment.train == "network":
        identity["learning"] = [repr(scene.learning), _learning_digest()]
    if scene.score is not None:
        identity["score"] = scene.score.digest
    if scene.judged is not None:
        identity["judged"] = scene.judged.digest
    if scene.numbers is not None:
        identity["numbers"] = scene.numbers.digest
    if block.bias in scene.hidden and not in_truth:
        identity["hidden"] = [scene.hidden_beta(block.bias), scene.described_biases[block.bias, True]]
    if BIASED in experiment.tests:
        identity["tests"] = [BIASED]  # balanced tests need no other answers
    return identity


def _steps(experiment: Experiment, scene: Scene, block: Block) -> list[dict[str, Any]]:
    """Return what identifies a block's bias in its cells' keys."""
    steps = scene.described_biases[block.bias, block.level > 0]
    if experiment.splits:
        return steps
    # All rows are drawn from one network, and its digest is in the key: edits count by what they changed in
    # it. With splits they act on real rows, or on the network of each split, and no digest knows of that.
    edits = [step.edits_network for step in scene.biases[block.bias].steps]
    return [
        {**own, "parameters": {k: v for k, v in own["parameters"].items() if k != "edits"}} if edited else own
        for own, edited in zip(steps, edits, strict=True)
    ]


@functools.cache
def _learning_digest() -> str:
    return code_digest((PACKAGE / "network").glob("*.py"))
