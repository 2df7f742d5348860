"""What identifies a cell: the keys of the store, made of all that can change a cell's predictions."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
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
    # The entries' names are part of what is stored, though no number depends on them.
    techniques = {
        where: {"entry": where[1], **describe_technique(technique), **unprocessing.described(technique)}
        for where, technique in world.techniques.items()
    }
    classifiers = {e.name: {"entry": e.name, **describe_classifier(e)} for e in experiment.classifiers}
    classifiers.setdefault(OWN, {"entry": OWN})

    tuned = {entry.name: entry for entry in experiment.techniques if entry.tuned is not None}

    def cell(block: Block, technique: str, classifier: str) -> Cell:
        described = techniques[block.dataset, technique]
        if technique in tuned:
            described = {**described, "tuned": describe_tuning(world, block, tuned[technique])}
        return Cell(technique, classifier, cell_key(world, block, described, classifiers[classifier]))

    blocks = shard.of(plan_blocks(experiment))
    return [(block, tuple(cell(block, *names) for names in block.cells)) for block in blocks]


def cell_key(world: World, block: Block, technique: Mapping[str, Any], classifier: Mapping[str, Any]) -> str:
    """Return the identity of a cell in the store: the SHA-256 of all that can change its predictions.

    ``block`` says where the training sample stands in the experiment; ``technique`` and ``classifier`` are
    canonical descriptions: name, parameters, digest of the code.
    """
    identity = _identity(world, block, technique, classifier)
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _identity(
    world: World, block: Block, technique: Mapping[str, Any], classifier: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all that can change a cell's predictions, by name; tests/experiment/test_keys.py holds it."""
    scene = world.scenes[block.dataset]
    numbers = scene.numbers if classifier.get("encoding") == "numbers" else None
    return {
        "code": harness_digest(),
        "test": scene.test.digest,
        "steps": _steps(world.experiment, scene, block),
        **_drawn_from(world.experiment, scene, block),
        **({"numbers": numbers.digest} if numbers is not None else {}),
        "train_rows": scene.n_train,
        "seed": world.experiment.seed,
        **{"dataset": scene.name, "bias": block.bias, "beta": block.beta, "repetition": block.repetition},
        "technique": technique,
        "classifier": classifier,
    }


def _steps(experiment: Experiment, scene: Scene, block: Block) -> list[dict[str, Any]]:
    """Return what identifies a block's bias in its cells' keys."""
    steps = scene.described_biases[block.bias, block.beta > 0]
    if experiment.splits:
        return steps
    # All rows are drawn from one network, and its digest is in the key: edits count by what they changed in
    # it. With splits they act on real rows, or on the network of each split, and no digest knows of that.
    edits = [step.edits_network for step in scene.biases[block.bias].steps]
    return [
        {**own, "parameters": {k: v for k, v in own["parameters"].items() if k != "edits"}} if edited else own
        for own, edited in zip(steps, edits, strict=True)
    ]


def _drawn_from(experiment: Experiment, scene: Scene, block: Block) -> dict[str, Any]:
    """Return by what of the protocol, the network or the rows a training sample, and tests, are drawn."""
    drawn: dict[str, Any] = {}
    if not experiment.splits or experiment.train == "network":
        drawn["network"] = scene.planted(block.bias, block.beta)[1]
    if experiment.splits:
        drawn["split"] = {
            "train": experiment.train,
            "holdout": experiment.holdout,
            "folds": scene.folds,
        }
    if experiment.splits and experiment.train == "network":
        drawn["learning"] = [repr(scene.learning), _learning_digest()]
    if scene.score is not None:
        drawn["score"] = scene.score.digest
    if BIASED in experiment.tests:
        drawn["tests"] = [BIASED]  # balanced tests need no other answers
    if experiment.paired_betas:
        drawn["paired_betas"] = True
    return drawn


@functools.cache
def _learning_digest() -> str:
    return code_digest((PACKAGE / "network").glob("*.py"))
