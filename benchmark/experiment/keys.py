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
from benchmark.experiment.prepare import PreparedDataset, PreparedExperiment
from benchmark.experiment.tune import describe_tuning
from benchmark.experiment.versions import PACKAGE, code_digest, harness_digest


def planned_cells(prepared: PreparedExperiment, shard: Shard = WHOLE) -> list[tuple[Block, tuple[Cell, ...]]]:
    """Return the blocks of a plan in their order, each with its cells and their keys."""
    experiment = prepared.experiment
    entries = {entry.name: entry for entry in experiment.techniques}
    # The entries' names are part of what is stored, though no number depends on them.
    techniques = {
        (dataset, name): {
            **{"entry": name, **entries[name].in_keys()},
            **describe_technique(technique),
            **unprocessing.described(technique),
        }
        for (dataset, name), technique in prepared.techniques.items()
    }
    classifiers = {
        entry.name: {"entry": entry.name, **entry.in_keys(), **describe_classifier(entry)}
        for entry in experiment.classifiers
    }
    classifiers.setdefault(OWN, {"entry": OWN})
    restores = experiment.restores

    def cells(block: Block) -> Iterator[Cell]:
        sample = sample_identity(prepared, block)
        clean = sample_identity(prepared, replace(block, level=0.0)) if restores else sample
        compared = [clean, sample]
        if restores and block.bias in prepared.datasets[block.dataset].hidden:
            compared.append(sample_identity(prepared, replace(block, level=0.0), in_truth=True))
        references: dict[tuple[str, str], str] = {}

        def reference(name: str, classifier: str) -> str:
            """Return what identifies the untreated models: without planted bias, with it, and in truth."""
            place = prepared.untreated(block.dataset, name, classifier), classifier
            if place not in references:
                described = techniques[block.dataset, place[0]], classifiers[classifier]
                keys = [cell_key(rows, *described) for rows in compared]
                references[place] = hashlib.sha256("".join(keys).encode()).hexdigest()
            return references[place]

        for name, classifier in block.cells:
            described, entry = techniques[block.dataset, name], entries[name]
            if entry.tuned is not None:
                described = {**described, "tuned": describe_tuning(prepared, block, entry)}
            if entry.refit is not None:
                described = {**described, "refit": [entry.refit, clean if entry.refit == "clean" else {}]}
            key = cell_key(sample, described, classifiers[classifier])
            yield Cell(name, classifier, key, reference(name, classifier) if restores else "")

    return [(block, tuple(cells(block))) for block in shard.of(plan_blocks(experiment, prepared.reaches))]


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


def sample_identity(prepared: PreparedExperiment, block: Block, *, in_truth: bool = False) -> dict[str, Any]:
    """Return what of a block can change its cells' predictions: the protocol, and the rows that are drawn.

    Asked for it ``in_truth``, no bias is hidden in the rows.
    """
    experiment, data = prepared.experiment, prepared.datasets[block.dataset]
    beta = data.beta_of(block.bias, block.level)
    identity = {
        "code": harness_digest(),
        **experiment.in_keys(),
        **data.entry.in_keys(),
        **{
            "dataset": data.name,
            "bias": block.bias,
            "beta": beta,
            "repetition": block.repetition,
        },
        "test": data.test.digest,
        "train_rows": data.n_train,
        "steps": _steps(experiment, data, block),
    }
    if experiment.splits:
        split = {"train": experiment.train, "holdout": experiment.holdout, "folds": data.folds}
        identity["split"] = split
    if not experiment.splits or experiment.train == "network":
        identity["network"] = data.planted(block.bias, beta)[1]
    if experiment.splits and experiment.train == "network":
        identity["learning"] = [repr(data.learning), _learning_digest()]
    if data.score is not None:
        identity["score"] = data.score.digest
    if data.judged is not None:
        identity["judged"] = data.judged.digest
    if data.numbers is not None:
        identity["numbers"] = data.numbers.digest
    if block.bias in data.hidden and not in_truth:
        identity["hidden"] = [
            data.hidden_beta(block.bias),
            data.described_biases[block.bias, True],
        ]
    if BIASED in experiment.tests:
        identity["tests"] = [BIASED]  # balanced tests need no other answers
    return identity


def _steps(experiment: Experiment, data: PreparedDataset, block: Block) -> list[dict[str, Any]]:
    """Return what identifies a block's bias in its cells' keys."""
    steps = data.described_biases[block.bias, block.level > 0]
    if experiment.splits:
        return steps
    # All rows are drawn from one network, and its digest is in the key: edits count by what they changed in
    # it. With splits they act on real rows, or on the network of each split, and no digest knows of that.
    edits = [step.edits_network for step in data.biases[block.bias].steps]
    return [
        {**own, "parameters": {k: v for k, v in own["parameters"].items() if k != "edits"}} if edited else own
        for own, edited in zip(steps, edits, strict=True)
    ]


@functools.cache
def _learning_digest() -> str:
    return code_digest((PACKAGE / "network").glob("*.py"))
