"""Keys of cells in the store, made of everything that can change a cell's predictions."""

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmark.columns import BIASED, HIDDEN, TRUTH
from benchmark.experiment.evaluate import Cell, describe_classifier, describe_technique
from benchmark.experiment.plan import WHOLE, Block, Shard, plan_blocks
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.tune import describe_tuning
from benchmark.experiment.unprocessing import describe_frontier, has_frontier
from benchmark.experiment.versions import PACKAGE, code_digest, harness_digest

_TELLING = PACKAGE / "experiment" / "telling.py"


def planned_cells(prepared: PreparedExperiment, shard: Shard = WHOLE) -> list[tuple[Block, tuple[Cell, ...]]]:
    """Return the blocks of a plan in their order, each with its cells and their keys."""
    experiment = prepared.experiment
    entries = {entry.name: entry for entry in experiment.techniques}
    # Names of entries are in the store, so they are in the key, though no number depends on them.
    code = {key: describe_technique(technique) for key, technique in prepared.techniques.items()}

    def technique(dataset: str, name: str, classifier: str) -> dict[str, Any]:
        return {"entry": name, **entries[name].in_keys(), **code[prepared.trained(dataset, name, classifier)]}

    classifiers = {
        entry.name: {"entry": entry.name, **entry.in_keys(), **describe_classifier(entry)}
        for entry in experiment.classifiers
    }
    restores = experiment.restores

    def cells(block: Block) -> Iterator[Cell]:
        sample = sample_identity(prepared, block)
        clean = sample_identity(prepared, block.clean) if restores else sample
        compared = [clean, sample]
        if restores and block.has_truth:
            compared.append(sample_identity(prepared, block.true))

        @functools.cache
        def reference(untreated: str, classifier: str) -> str:
            """Return the key of the untreated models: without planted bias, with it, and in truth."""
            described = technique(block.dataset, untreated, classifier), classifiers[classifier]
            keys = [cell_key(rows, *described) for rows in compared]
            return hashlib.sha256("".join(keys).encode()).hexdigest()

        for name, classifier in block.cells:
            described, entry = technique(block.dataset, name, classifier), entries[name]
            trained = prepared.techniques[prepared.trained(block.dataset, name, classifier)]
            if entry.told is not None:
                told = entry.told.key(trained, prepared.datasets[block.dataset].told(block))
                described = {**described, "told": [told, code_digest([_TELLING])]}
            if entry.tuned is not None:
                described = {**described, "tuned": describe_tuning(prepared, block, entry)}
            if entry.refit is not None:
                described = {**described, "refit": [entry.refit, clean if entry.refit == "clean" else {}]}
            if has_frontier(trained) and entry.refit is None:
                tests = [test for test in experiment.tests if test != TRUTH or block.has_truth]
                described["frontier"] = describe_frontier(tests)
            key = cell_key(sample, described, classifiers[classifier])
            untreated = prepared.datasets[block.dataset].entry.baseline
            yield Cell(name, classifier, key, reference(untreated, classifier) if restores else "")

    return [(block, tuple(cells(block))) for block in shard.of(plan_blocks(experiment, prepared.reaches))]


def cell_key(sample: Mapping[str, Any], technique: Mapping[str, Any], classifier: Mapping[str, Any]) -> str:
    """Return the key of a cell in the store: the SHA-256 of everything that can change its predictions.

    ``sample`` is the block's :func:`sample_identity`; ``technique`` and ``classifier`` are canonical
    descriptions: name, parameters, digest of the code.
    """
    identity = _identity(sample, technique, classifier)
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _identity(
    sample: Mapping[str, Any], technique: Mapping[str, Any], classifier: Mapping[str, Any]
) -> dict[str, Any]:
    """Return everything that can change a cell's predictions, by name: tests/experiment/test_keys.py."""
    takes_numbers = classifier.get("encoding") == "numbers"
    seen = {name: value for name, value in sample.items() if name != "numbers" or takes_numbers}
    return {**seen, "technique": technique, "classifier": classifier}


def sample_identity(prepared: PreparedExperiment, block: Block) -> dict[str, Any]:
    """Return the part of a block that can change predictions: the protocol, and the drawn rows."""
    experiment, data = prepared.experiment, prepared.datasets[block.dataset]
    beta = data.beta(block)
    identity: dict[str, Any] = {
        "code": harness_digest(),
        **experiment.in_keys(),
        **data.entry.in_keys(),
        "dataset": data.name,
        "bias": block.bias,
        "beta": beta,
        "repetition": block.repetition,
        "test": data.test.digest,
        "train_rows": data.n_train,
        "steps": data.described_biases[block.bias, block.level > 0],
    }
    if experiment.splits:
        identity["split"] = {"train": experiment.train, "holdout": experiment.holdout, "folds": data.n_folds}
    if not experiment.splits or experiment.train == "network":
        identity["network"] = data.planted(block.bias, beta).network.digest
    if experiment.splits and experiment.train == "network":
        identity["learning"] = [repr(data.learning), code_digest((PACKAGE / "network").glob("*.py"))]
    persons = data.persons if experiment.splits else None
    parts = {"score": data.score, "judged": data.judged, "persons": persons, "numbers": data.numbers}
    identity |= {name: part.digest for name, part in parts.items() if part is not None}
    if block.has_truth:
        identity[HIDDEN] = [data.hidden_beta(block), data.described_biases[block.bias, True]]
    if BIASED in experiment.tests:
        identity["tests"] = [BIASED]  # balanced tests need no other answers
    return identity
