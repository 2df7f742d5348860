import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.errors import ExperimentError, PluginError
from benchmark.experiment import run as run_module
from benchmark.experiment.dask_engine import Cluster, load_cluster
from benchmark.experiment.engine import LocalEngine, open_engine
from benchmark.experiment.plan import Block, Shard, load_experiment, plan_blocks
from benchmark.experiment.pool import Limits, Task
from benchmark.experiment.store import Store
from benchmark.experiment.versions import software
from tests.helpers.pool import by_block
from tests.helpers.protocol import computed, prepared

CLUSTERS = Path(__file__).parents[2] / "docs" / "cluster.md"
SLURM = CLUSTERS.read_text(encoding="utf-8").split("```toml\n", 1)[1].split("```", 1)[0]
"""The documented example."""


class Doubling:
    def __call__(self, block: int, cells: tuple[int, ...]) -> Iterator[int]:
        yield from (2 * cell for cell in cells)


class Refusing:
    def __init__(self) -> None:
        raise PluginError("It is no plugin", remedy="write one")

    def __call__(self, block: int, cells: tuple[int, ...]) -> Iterator[int]:
        raise AssertionError


def test_the_local_engine_runs_tasks_in_processes() -> None:
    tasks = [Task(0, (1, 2)), Task(1, (3,))]
    with open_engine(workers=2) as engine:
        assert isinstance(engine, LocalEngine)
        assert engine.name == "2 worker(s)"
        assert by_block(engine.run(tasks, Doubling, limits=Limits(30))) == {0: [2, 4], 1: [6]}
    with pytest.raises(ExperimentError, match="--workers 1 or more"):
        LocalEngine(0)


def test_a_handler_that_says_why_it_cannot_start_is_heard() -> None:
    with pytest.raises(PluginError, match="It is no plugin"):
        list(LocalEngine(1).run([Task(0, (1,))], Refusing, limits=Limits(30)))


def test_a_worker_with_other_software_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins: tuple[str, ...] = ()
    monkeypatch.setattr(run_module, "software", lambda *_: {**software(plugins, ()), "numpy": "0.1"})
    with pytest.raises(ExperimentError, match=r"Expected: numpy 0\.1\. Got: numpy [1-9]"):
        computed(prepared(betas=[0.5]), tmp_path / "s.sqlite", engine=LocalEngine(1))
    with Store(tmp_path / "s.sqlite") as store:
        assert len(store) == 0


def test_software_is_the_code_that_makes_numbers_and_what_it_imports(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.py"
    plugin.write_text("1")
    found = software([str(plugin)], ["torch"])
    names = {"python", "numpy", "numba", "torch", "plugin.py", "benchmark/techniques/kamiran_calders.py"}
    assert names | {"benchmark/experiment/scoring.py", "benchmark/network/model.py"} <= found.keys()
    assert not {"matplotlib", "benchmark/experiment/store.py"} & found.keys()
    plugin.write_text("2")
    again = software([str(plugin)], ["torch"])
    assert {name for name in found if found[name] != again[name]} == {"plugin.py"}


# ----------------------------------------------------------------------------------------------------- shards


@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 18])
def test_shards_are_a_partition_that_is_balanced_over_datasets_and_levels(count: int) -> None:
    blocks = list(plan_blocks(load_experiment("smoke")))
    shards = [Shard(number, count).of(blocks) for number in range(1, count + 1)]
    assert sorted((b for shard in shards for b in shard), key=blocks.index) == blocks
    for part in ("dataset", "level"):
        for value in {getattr(b, part) for b in blocks}:
            # A dataset's blocks stand together; those of a level do in each of the three datasets.
            sizes = [sum(getattr(b, part) == value for b in shard) for shard in shards]
            assert max(sizes) - min(sizes) <= (1 if part == "dataset" else 3)


@pytest.mark.parametrize(
    "text", ["0/3", "4/3", "1/0", "-1/3", "1.5/3", "1", "1/", "/3", "a/b", "1/3/5", "²/3", ""]
)
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ExperimentError, match="such as 3/10"):
        Shard.parse(text)


def test_more_shards_than_blocks_are_refused() -> None:
    blocks = [Block("d", "cpt", 0.0, repetition, ()) for repetition in range(3)]
    assert Shard.parse("3/3").of(blocks) == blocks[2:]
    with pytest.raises(ExperimentError, match="at most 3 shards"):
        Shard.parse("1/4").of(blocks)


# --------------------------------------------------------------------------------------------------- clusters


def test_a_cluster_file_says_what_to_start(tmp_path: Path) -> None:
    file = tmp_path / "slurm.toml"
    file.write_text(SLURM)
    found = load_cluster(file)
    assert (found.cluster, found.module, found.scale) == ("SLURMCluster", "dask_jobqueue", {"jobs": 20})
    assert found.arguments["job_script_prologue"] == ["source ~/betabench/bin/activate"]
    local = Cluster(cluster="LocalCluster", jobs=2)
    assert (local.module, local.scale) == ("distributed", {"n": 2})


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('"SLURMCluster"', '"os.system"', "cluster"),
        ("jobs = 20", "jobs = 0", "jobs"),
        ("jobs = 20", 'jobs = "20"', "jobs"),
        ("jobs = 20", "", "jobs"),
        ("jobs = 20", "jobs = 20\nnodes = 3", "nodes"),
        ("cores = 4", "cores = 2024-01-01", "arguments"),
        ("cores = 4", "cores = [[1]]", "arguments"),
    ],
)
def test_a_cluster_file_that_breaks_a_rule_is_refused(old: str, new: str, field: str, tmp_path: Path) -> None:
    file = tmp_path / "slurm.toml"
    file.write_text(SLURM.replace(old, new))
    with pytest.raises(ExperimentError, match=f"(?s)breaks .*rules?:.*{field}.*docs/cluster.md"):
        load_cluster(file)


@pytest.mark.parametrize("content", [None, b"cluster =", b"\xff"])
def test_a_cluster_file_that_cannot_be_read_is_refused(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "slurm.toml"
    if content is not None:
        file.write_bytes(content)
    with (
        pytest.raises(ExperimentError, match=r"The cluster file .*(cannot be read|is not valid TOML)"),
        open_engine(workers=1, cluster=file),
    ):
        pass


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "benchmark.experiment.dask_engine", raising=False)
    with (
        pytest.raises(ExperimentError, match=r"pip install 'betabench\[cluster\]'"),
        open_engine(workers=1, scheduler="tcp://127.0.0.1:1"),
    ):
        pass
