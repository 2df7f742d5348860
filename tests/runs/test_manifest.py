"""A run is described once: what is written to its manifest is what is read from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.data.source import Sources
from benchmark.errors import ReportError
from benchmark.experiment.expand import expand
from benchmark.experiment.plan import Experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Outcome
from benchmark.runs.describe import describe_run
from benchmark.runs.finished import read_run
from benchmark.runs.manifest import Manifest, metric_description

RESULTS = Path(__file__).resolve().parents[2] / "results"
COMMITTED = sorted(path for path in RESULTS.glob("*/manifest.json") if path.parent.name != "alternation")
OUTCOME = Outcome([], computed=0, seconds=1.25, engine="2 processes", processors=({"cpu": "x"},))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedExperiment:
    nothing = {"attribute": "race", "group": "African-American", "if_not_parent": "ignore"}
    half = {"technique": "repair", "name": "half", "parameters": {"level": 0.5}}
    experiment = Experiment(
        name="described",
        repetitions=2,
        betas=[0, 0.5],
        train_rows=300,
        datasets=[
            {"card": "compas_leaky", "name": "mine", "bias": [{"edits": [nothing]}, {"kind": "label"}]},
            {"card": "dutch", "baseline": "massaging"},
        ],
        techniques=["none", "massaging", half],
        metrics=["discrimination", "auc"],
    )
    return prepare_experiment(expand(experiment), Sources(offline=True))


def test_what_is_read_is_what_was_written(prepared: PreparedExperiment, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    written = describe_run(prepared, OUTCOME)
    path.write_text(written.text, encoding="utf-8")
    read = Manifest.read(path)
    assert read == written
    assert read.text == written.text


def test_a_description_has_all_that_a_report_asks_for(prepared: PreparedExperiment) -> None:
    description = describe_run(prepared)
    assert description.titles == {"none": "No technique", "massaging": "Massaging", "half": "Half"}
    assert [t.technique for t in description.techniques] == ["none", "massaging", "repair"]
    assert description.stages == dict.fromkeys(description.titles, "pre")
    mine, dutch = description.datasets
    assert (mine.name, mine.entry.name, mine.baseline) == ("mine:embedded", "mine", "none")
    assert [bias.name for bias in mine.bias] == ["cpt", "label"]
    assert (mine.network.edited_edges, mine.bias[0].inert) == ((), True)
    assert [bias.name for bias in mine.bias if bias.inert] == ["cpt"]
    assert dutch.network.edited_edges == (("sex", "occupation"),)
    assert not any(bias.inert for bias in dutch.bias)
    assert {node for edge in mine.network.edges for node in edge} <= set(mine.columns)
    assert dutch.test_groups is not None
    assert dutch.group_rows[dutch.deprived_group] == dutch.test_groups.deprived
    assert sum(dutch.group_rows.values()) == dutch.test_rows
    each = [m.name for m in description.metrics if m.name.startswith("auc[")]
    assert f"auc[{dutch.deprived_group}]" in each
    assert all(metric_description(m.name) == m for m in description.metrics)
    assert [metric.name for metric in description.shown.metrics] == ["discrimination"]


def test_on_real_rows_an_edit_turns_labels_whatever_the_parents_of_the_label() -> None:
    experiment = Experiment(
        **{"betas": [0, 0.5], "repetitions": 1, "train": "data", "holdout": 0.3, "train_rows": 500},
        datasets=[{"card": "compas", "bias": [{"edits": [{"attribute": "sex", "group": "Female"}]}]}],
        techniques=["none"],
    )
    (described,) = describe_run(prepare_experiment(expand(experiment), Sources(offline=True))).datasets
    (bias,) = described.bias
    edit = "P(y+ | sex = Female) × (1 - β)"
    assert bias.description == f"labels turned with probability β: {edit}"
    assert (bias.acting, bias.inert, described.network.edited_edges) == ((edit,), False, ())


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_committed_manifests_describe_their_runs(path: Path) -> None:
    manifest = Manifest.read(path)
    assert Manifest.model_validate_json(manifest.text) == manifest
    for dataset in manifest.datasets:
        assert dataset.title
        assert dataset.label in dataset.columns
        assert dataset.network.edges
        assert all(bias.network_discrimination_by_beta for bias in dataset.bias)
    assert manifest.cells["planned"] > 0


def test_the_metrics_of_a_run_that_is_read_are_those_of_its_summary() -> None:
    run = read_run(RESULTS / "auc_gap")
    assert [metric.name for metric in run.manifest.metrics] == list(run.summary["metric"].unique())
    assert run.manifest.metric("auc_gap") == metric_description("auc_gap")
    assert run.manifest.name == "auc_gap"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: "{", "is not the manifest of a run"),
        (lambda facts: facts.update(experiment=[]), "experiment: "),
        (
            lambda facts: facts["datasets"]["dutch:embedded"].pop("title"),
            r"datasets\.1\.title: Field required",
        ),
        (lambda facts: facts["datasets"].pop("mine:embedded"), "other datasets than its experiment names"),
    ],
)
def test_what_is_no_manifest_is_refused(
    change: Callable[[Any], object], said: str, prepared: PreparedExperiment, tmp_path: Path
) -> None:
    facts = json.loads(describe_run(prepared, OUTCOME).text)
    changed = change(facts)
    path = tmp_path / "manifest.json"
    path.write_text("{" if changed == "{" else json.dumps(facts), encoding="utf-8")
    with pytest.raises(ReportError, match=said):
        Manifest.read(path)
    with pytest.raises(ReportError, match="cannot be read"):
        Manifest.read(tmp_path / "nothing.json")
