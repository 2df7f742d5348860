"""A real Dask cluster of two worker processes on this machine."""

import functools
import math
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.cli import main
from benchmark.data.source import Sources
from benchmark.errors import ExperimentError, PluginError
from benchmark.experiment.engine import open_engine
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.pool import Failure, Limits, Task
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Outcome, compute
from benchmark.experiment.store import Store
from benchmark.report.folder import write_run_folder
from benchmark.techniques import load_plugin
from tests.helpers.engines import InProcess
from tests.helpers.pool import Handler, by_block  # a module that loads quickly
from tests.helpers.protocol import file_of

dask = pytest.importorskip("dask", reason="needs the extra betabench[cluster]")
distributed = pytest.importorskip("distributed", reason="needs the extra betabench[cluster]")

from benchmark.experiment.dask_engine import DaskEngine, connected  # noqa: E402

pytestmark = pytest.mark.slow

EXPERIMENT = file_of(
    seed=11,
    repetitions=6,
    betas=[0.0, 0.5],
    paired_betas=True,
    train_rows=2000,
    metrics=["paper", "auc_gap", "restoration"],
    datasets=["compas"],
    techniques=["none", "uniform_sampling", "reject_option"],
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.comm.timeouts.connect": "2s",
        # A worker that is missing at the wrong moment, while its nanny starts it again, would be given up.
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def no_waiting_for_ever() -> Iterator[None]:
    """End a test in which a cluster says nothing any more."""

    def give_up(*_: object) -> None:
        raise TimeoutError("the cluster has said nothing for three minutes")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(180)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def client(cluster: Any) -> Any:
    """Return the client of the cluster, of which no worker is missing."""
    cluster.wait_for_workers(2, timeout=60)
    return cluster


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedExperiment:
    folder = tmp_path_factory.mktemp("spread")
    (folder / "spread.toml").write_text(EXPERIMENT)
    return prepare_experiment(load_for_run(folder / "spread.toml"), Sources(offline=True))


@pytest.fixture(scope="module")
def local(prepared: PreparedExperiment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a run on this machine."""
    folder = tmp_path_factory.mktemp("local")
    with Store(folder / "s.sqlite") as store:
        return files(folder, prepared, compute(prepared, store, engine=InProcess(1)))


def files(folder: Path, prepared: PreparedExperiment, outcome: Outcome) -> dict[str, bytes]:
    written = write_run_folder(folder, prepared, outcome, figures=False).written
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in written if p.name != "manifest.json"}


def run(client: Any, tasks: list[Task], *, time_limit: float = 30, memory_limit: float = math.inf) -> Any:
    """Return the results by block, those of parts together."""
    found: dict[object, dict[object, object]] = {task.block: {} for task in tasks}
    engine = DaskEngine(client)
    for batch in engine.run(tasks, Handler, limits=Limits(time_limit, memory_limit)):
        for block, cell, result in batch:
            assert cell not in found[block], "each comes once"
            found[block][cell] = result
    return {
        task.block: [found[task.block][cell] for cell in task.cells]
        for task in tasks
        if len(found[task.block]) == len(task.cells)
    }


def test_a_cluster_gives_the_same_bytes_as_this_machine(
    client: Any,
    local: dict[str, bytes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "spread.toml").write_text(EXPERIMENT)
    words = ["run", "--experiment", str(tmp_path / "spread.toml"), "--offline", "--no-figures"]
    words += ["--output", str(tmp_path / "out"), "--scheduler", client.scheduler.address]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "60 cells, 60 of them computed now" in told
    assert f"on Dask at {client.scheduler.address}" in told
    assert {"results.csv", "summary.csv", "failures.csv", "decisions.csv"} <= local.keys()
    assert {name: (tmp_path / "out" / name).read_bytes() for name in local} == local
    assert main(words) == 0
    assert "60 cells, 0 of them computed now" in capsys.readouterr().out


@pytest.mark.nightly
def test_a_worker_that_is_killed_costs_nothing(
    client: Any,
    prepared: PreparedExperiment,
    local: dict[str, bytes],
    tmp_path: Path,
) -> None:
    killed = []

    def kill(done: int, planned: int, _seconds: float) -> None:
        if 0 < done < planned and not killed:
            victim = min(client.run(os.getpid).values())
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    with Store(tmp_path / "s.sqlite") as store:
        outcome = compute(prepared, store, engine=DaskEngine(client), progress=kill)
        assert len(store) == outcome.computed == 60
    assert killed
    assert files(tmp_path, prepared, outcome) == local


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["left", "lost"])
def test_a_run_that_is_over_leaves_no_process_and_ends_blocks_after_the_running_cell(
    client: Any, tmp_path: Path, how: str
) -> None:
    notes = tmp_path / "notes"
    cells = tuple(("note", str(notes), number) for number in range(100))
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        running = DaskEngine(other).run([Task(0, ("process",)), Task(1, cells)], Handler, limits=Limits(600))
        ((_, _, pid),) = next(running)
        if how == "left":
            running.close()
    del running
    wait_until(
        lambda: (
            not alive(pid) and not any(client.run(lambda: len(multiprocessing.active_children())).values())
        )
    )
    assert len(notes.read_text().split()) < 50
    assert run(client, [Task(0, (1,))]) == {0: [(0, 1)]}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_what_goes_wrong_in_a_cell_costs_that_cell_only(client: Any) -> None:
    before = set(client.run(os.getpid).values())
    tasks = [
        Task(0, (1, "hang", 2)),
        Task(1, ("die", 3, "exit")),
        Task(2, (4, "raise", "hoard", 5)),
        Task(3, (6,)),
    ]
    found = run(client, tasks, time_limit=3, memory_limit=400)
    failures = {
        (block, cell): result
        for block, cells in ((task.block, task.cells) for task in tasks)
        for cell, result in zip(cells, found[block], strict=True)
        if isinstance(result, Failure)
    }
    assert {where: failure.status for where, failure in failures.items()} == {
        (0, "hang"): "timeout",
        (1, "die"): "crashed",
        (1, "exit"): "crashed",
        (2, "raise"): "crashed",
        (2, "hoard"): "crashed",
    }
    assert "time limit of 3 seconds" in failures[0, "hang"].reason
    assert "SIGKILL" in failures[1, "die"].reason
    assert "exit code 3" in failures[1, "exit"].reason
    assert "memory than its limit of 400 MiB" in failures[2, "hoard"].reason
    assert [found[0][0], found[0][2], found[1][1]] == [(0, 1), (0, 2), (1, 3)]
    assert [found[2][0], found[2][3], found[3]] == [(2, 4), (2, 5), [(3, 6)]]
    assert set(client.run(os.getpid).values()) == before, "the Dask workers did not notice"


@pytest.mark.nightly
def test_a_cell_that_takes_dask_workers_down_is_given_up_and_no_other(client: Any) -> None:
    tasks = [Task(0, (1, "kill the parent")), *(Task(block, (block,)) for block in range(1, 9))]
    found = run(client, tasks)
    reason = "2 Dask workers were lost while they computed it and nothing else"
    one, failure = found.pop(0)
    assert one == (0, 1)
    assert (failure.status, failure.reason) == ("crashed", reason)
    assert found == {block: [(block, block)] for block in range(1, 9)}


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


@pytest.mark.nightly
def test_what_keeps_a_process_from_starting_is_told_here(client: Any, tmp_path: Path) -> None:
    make_handler = functools.partial(load_plugin, str(tmp_path / "nowhere.py"))
    with pytest.raises(PluginError, match=r"nowhere\.py.*no such file"):
        list(DaskEngine(client).run([Task(0, (1,))], make_handler, limits=Limits(5)))


@pytest.mark.nightly
def test_where_there_is_no_scheduler_it_is_said(client: Any) -> None:
    with (
        pytest.raises(ExperimentError, match="There is no Dask scheduler at"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass


# ---------------------------------------------------------------------------------------------- cluster files


@pytest.mark.nightly
def test_a_cluster_of_a_file_is_started_and_ended(tmp_path: Path) -> None:
    file = tmp_path / "local.toml"
    file.write_text(
        'cluster = "LocalCluster"\njobs = 1\n[arguments]\nn_workers = 0\nthreads_per_worker = 1\n'
        'dashboard_address = ":0"\nsilence_logs = "CRITICAL"\n'
    )
    with open_engine(workers=1, cluster=file) as engine:
        found = by_block(engine.run([Task(0, (1, 2))], Handler, limits=Limits(30)))
        host, port = engine.name.removeprefix("Dask at tcp://").split(":")
    assert found == {0: [(0, 1), (0, 2)]}
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, int(port)), timeout=5).close()
    file.write_text('cluster = "LocalCluster"\njobs = 1\narguments.nodes = 4\n')
    with (
        pytest.raises(ExperimentError, match=r"LocalCluster cannot be started.*nodes"),
        open_engine(workers=1, cluster=file),
    ):
        pass
