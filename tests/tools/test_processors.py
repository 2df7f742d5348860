"""An experiment gives the same results on the oldest processor that this one can act as."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, TypeAlias

import pytest

from tools.processors import processors

pytestmark = pytest.mark.nightly

Answers: TypeAlias = dict[str, tuple[str, str, dict[str, list[Any]]]]

# Metrics of the probabilities themselves; all others are of predictions and of the order of scores. Where an
# optimizer stops, probabilities differ between processors in about the twelfth digit.
OF_PROBABILITIES = ("calibration", "log_loss", "generalized")

# Every technique whose numbers pass through linear algebra, exponentials or compiled sums, on a small sample.
# A linear classifier is the harder case: a tree's answers do not hang on a last digit.
EXPERIMENT = """
import json
from benchmark.data.source import Sources
from benchmark.experiment.evaluate import Cell, Evaluator
from benchmark.experiment.entries import ClassifierEntry
from benchmark.experiment.plan import load_experiment, plan_blocks
from benchmark.experiment.expand import narrow
from benchmark.experiment.expand import expand
from benchmark.experiment.prepare import prepare_experiment

techniques = [
    "drop_sensitive", "reweighing", "smote", "fair_smote", "lfr", "pfr", "correlation_remover",
    "optimized_preprocessing", "zafar_fairness", "zafar_accuracy", "zafar_misclassification", "zafar_fpr",
    "zafar_fnr", "zafar_fpr_fnr", "prejudice_remover", "eg_eo", "gs_eo", "meta_fair_sr",
    "gerry_fair", "equalized_odds", "calibrated_equalized_odds", "reject_option", "to_eo",
    "randomized_threshold_optimizer",
]
experiment = narrow(
    load_experiment("techniques"), datasets=["compas"], techniques=techniques, betas=[0.5], repetitions=1
).model_copy(update={
    "train_rows": 1000, "metrics": ("paper", "rates", "scores"),
    "classifiers": (ClassifierEntry(classifier="logistic_regression"),),
})
world = prepare_experiment(expand(experiment), Sources(offline=True))
evaluator = Evaluator(world)
for block in plan_blocks(world.experiment):
    cells = tuple(Cell(technique, classifier, "") for technique, classifier in block.cells)
    for result in evaluator(block, cells):
        values = {metric.metric: (metric.value, metric.reason) for metric in result.metrics}
        name = f"{result.technique} with {result.classifier}"
        print(json.dumps([name, result.status, result.reason, values]))
"""


def answers(variables: dict[str, str]) -> Answers:
    """Return status, reason and metrics of each technique, computed in a process of its own."""
    inherited = {key: value for key, value in os.environ.items() if key != "BETABENCH_DATA"}
    done = subprocess.run(
        [sys.executable, "-c", EXPERIMENT],
        env={**inherited, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {technique: (status, reason, values) for technique, status, reason, values in rows}


@pytest.fixture(scope="module")
def here() -> Answers:
    """Compute the experiment with what the libraries choose themselves."""
    return answers({})


def test_results_are_the_same_on_the_oldest_processor(here: Answers) -> None:
    there = answers(processors()["oldest"])
    assert len(here) == 24 + 5  # techniques, and doing nothing with each learner
    assert there.keys() == here.keys()
    for technique, (status, reason, values) in here.items():
        assert status == "ok", (technique, reason)
        found_status, found_reason, found = there[technique]
        assert (found_status, found_reason, found.keys()) == (status, reason, values.keys())
        for metric, expected in values.items():
            if metric.startswith(OF_PROBABILITIES) and expected[0] is not None:
                # A sum of votes may be 0 or just above. The logarithms of both are large, and differ a bit.
                rel = 0.01 if metric.startswith("log_loss") else 0
                assert found[metric][0] == pytest.approx(expected[0], rel=rel, abs=1e-10), (technique, metric)
            else:
                assert found[metric] == expected, (technique, metric)
