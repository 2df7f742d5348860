"""A run is described once: what is written to its manifest is what is read from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmark.data.source import Sources
from benchmark.errors import ReportError
from benchmark.experiment.expand import expand
from benchmark.experiment.plan import Experiment
from benchmark.experiment.prepare import World, build_world
from benchmark.experiment.run import Outcome
from benchmark.runs.descriptions import RunDescription
from benchmark.runs.finished import read_run
from benchmark.runs.manifest import Manifest, describe_run, metric_description

RESULTS = Path(__file__).resolve().parents[2] / "results"
OUTCOME = Outcome([], computed=0, seconds=1.25, engine="2 processes", processors=({"cpu": "x"},))
ADDED = {"title", "notes", "test_groups", "group_rows", "columns", "label", "favorable_label"}
ADDED |= {"sensitive_feature", "deprived_group"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
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
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BETABENCH_DATA", raising=False)
        patch.setenv("BETABENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return build_world(expand(experiment), Sources(offline=True))


def test_what_is_read_is_what_was_written(world: World, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    written = Manifest.of(world, OUTCOME, ["results.csv"])
    path.write_text(written.text, encoding="utf-8")
    read = Manifest.read(path)
    assert read == written
    assert read.text == written.text
    assert read.description == describe_run(world)


def test_a_description_has_all_that_a_report_asks_for(world: World) -> None:
    description = describe_run(world)
    assert description.titles == {"none": "None", "massaging": "Massaging", "half": "Half"}
    assert [t.method for t in description.techniques] == ["none", "massaging", "repair"]
    assert {t.stage for t in description.techniques} == {"pre"}
    mine, dutch = description.datasets
    assert (mine.name, mine.entry, mine.baseline) == ("mine:embedded", "mine", "none")
    assert [bias.name for bias in mine.biases] == ["cpt", "label"]
    assert (mine.edited_edges, mine.biases[0].inert) == ((), True)
    assert list(mine.inert_warnings) == ["cpt"]
    assert (dutch.edited_edges, dutch.inert_warnings) == ((("sex", "occupation"),), {})
    assert {node for edge in mine.edges for node in edge} <= set(mine.columns)
    assert dutch.group_sizes is not None
    assert dict(dutch.group_rows)[dutch.deprived_group] == dutch.group_sizes.deprived
    assert sum(rows for _, rows in dutch.group_rows) == dutch.n_test
    each = [m.name for m in description.metrics if m.name.startswith("auc[")]
    assert f"auc[{dutch.deprived_group}]" in each
    assert all(metric_description(m.name) == m for m in description.metrics)
    assert [metric.name for metric in description.shown.metrics] == ["discrimination"]


def test_a_manifest_of_an_earlier_version_is_described_by_cards_and_what_is_registered(
    world: World, tmp_path: Path
) -> None:
    facts = json.loads(Manifest.of(world, OUTCOME).text)
    for name in ("stages", "metrics", "headline", "processors"):
        del facts[name]
    for dataset in facts["datasets"].values():
        del dataset["network"]["edited_edges"]
        for name in ADDED:
            del dataset[name]
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(facts), encoding="utf-8")
    now, then = describe_run(world), Manifest.read(path).description
    assert then.techniques == now.techniques
    for new, old in zip(now.datasets, then.datasets, strict=True):
        assert (old.group_sizes, old.notes, old.best_constant) == (None, (), None)
        for name in ("heading", "label", "sensitive_feature", "deprived_group", "columns", "edited_edges"):
            assert getattr(old, name) == getattr(new, name), name
        assert old.biases == new.biases


@pytest.mark.parametrize("name", ["variants_adult", "variants_training", "auc_gap", "paper"])
def test_committed_manifests_of_all_versions_describe_their_runs(name: str) -> None:
    manifest = Manifest.read(RESULTS / name / "manifest.json")
    for dataset in manifest.description.datasets:
        assert dataset.title
        assert dataset.label in dataset.columns
        assert dataset.edges
        assert all(bias.discrimination for bias in dataset.biases)
    assert manifest.cells["planned"] > 0


def test_a_finished_run_is_a_description_with_the_metrics_of_its_summary() -> None:
    run = read_run(RESULTS / "auc_gap")
    assert isinstance(run, RunDescription)
    assert [metric.name for metric in run.metrics] == list(run.summary["metric"].unique())
    assert run.metric("auc_gap") == metric_description("auc_gap")
    assert run.name == run.facts.experiment.name == "auc_gap"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not the manifest of a run"),
        ('{"experiment": [], "datasets": {}, "versions": {}}', "experiment: "),
    ],
)
def test_what_is_no_manifest_is_refused(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ReportError, match=said):
        Manifest.read(path)
    with pytest.raises(ReportError, match="cannot be read"):
        Manifest.read(tmp_path / "nothing.json")


def test_other_datasets_than_those_of_the_experiment_are_refused(world: World, tmp_path: Path) -> None:
    facts = json.loads(Manifest.of(world).text)
    del facts["datasets"]["mine:embedded"]
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(ReportError, match="other datasets than its experiment names"):
        Manifest.read(path)
