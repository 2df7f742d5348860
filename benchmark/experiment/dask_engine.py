"""Tasks on a Dask cluster, with the processes and limits that they have on one machine.

Each thread of a Dask worker keeps a :class:`benchmark.experiment.pool.Pool` of one process, which lives
until the run ends. There a technique that hangs, crashes or eats memory costs its own cell, and the Dask
worker does not notice. If a Dask worker itself is lost, Dask gives its tasks to others. Dask gives a task up
after more losses than ``distributed.scheduler.allowed-failures`` allows (3 by default).
"""

import contextlib
import functools
import importlib
import multiprocessing
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import dask
from distributed import Client, KilledWorker, WorkerPlugin, as_completed, get_worker
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from benchmark.declarations import checked, read_toml
from benchmark.errors import BetabenchError, ExperimentError
from benchmark.experiment.pool import Failure, Finished, Handler, Limits, Pool, Task
from benchmark.experiment.versions import processor
from benchmark.models import STRICT

_BATCH = 1000  # tasks that the scheduler gets in one message


class DaskEngine:
    """A Dask cluster; its scheduler and workers need the same software as this process."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.name = f"Dask at {client.scheduler.address}"
        self.processors: list[Mapping[str, Any]] = []  # of the workers that have finished a task

    def run(
        self, tasks: Sequence[Task], make_handler: Callable[[], Handler], limits: Limits
    ) -> Iterator[list[Finished]]:
        """Yield the finished cells of each task, from all workers, also those that join.

        Dask gives a task up after several workers were lost with it. But tasks beside a culprit are lost as
        well. So the tasks given up are computed again at the end, cell by cell with nothing beside them. A
        cell that takes the workers down even then is a :class:`Failure`.
        """
        submit = self._client.submit
        given_up: list[Task] = []
        running: dict[Any, Task] = {}
        try:
            self._client.register_plugin(_SameSoftware())
            content = pickle.dumps((make_handler, limits))
            # Dask warns of arguments beyond 10 MB, which the coded tables of large files are.
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
                pools = submit(_Pools, content, pure=False)
            futures = self._client.map(_compute, tasks, pools=pools, pure=False, batch_size=_BATCH)
            running.update(zip(futures, tasks, strict=True))
            del futures  # so that Dask can forget each one that is over
            for batch in as_completed(list(running), loop=self._client.loop).batches():
                finished: list[Finished] = []
                while batch:
                    future = batch.pop()
                    task = running.pop(future)
                    try:
                        finished += self._finished(task, future.result())
                    except KilledWorker:
                        given_up.append(task)
                if finished:
                    yield finished
            for task in given_up:
                for cell in task.cells:
                    single = replace(task, cells=(cell,))
                    future = submit(_compute, single, pools=pools, pure=False)
                    try:
                        yield self._finished(single, future.result())
                    except KilledWorker as killed:
                        number = killed.allowed_failures + 1
                        reason = f"{number} Dask workers were lost while they computed it and nothing else"
                        yield [Finished(task.block, cell, Failure("crashed", reason, 0.0))]
        except BetabenchError:
            raise
        except Exception as error:
            raise ExperimentError(
                "The Dask cluster failed",
                expected="scheduler and workers with the same version of betabench as here",
                got=f"{type(error).__name__}: {error}",
                remedy="install it there (docs/cluster.md), or see the logs of the cluster. The same command "
                "continues where this run ended",
            ) from error
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel(list(running), force=True)

    def _finished(self, task: Task, computed: tuple[Mapping[str, Any], list[Any]]) -> list[Finished]:
        kind, results = computed
        if kind not in self.processors:
            self.processors.append(kind)
        return [Finished(task.block, *pair) for pair in zip(task.cells, results, strict=True)]


class _Pools:
    """A Dask worker's processes between tasks; they end as their pipes close, when Dask forgets the run."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.idle: list[Pool] = []

    def __reduce__(self) -> Any:  # on its way to another worker
        return _Pools, (self._content,)

    @functools.cached_property
    def content(self) -> tuple[Callable[[], Handler], Limits]:
        """What makes the handler, and the limits; Dask tells the run why a worker cannot load it."""
        make_handler, limits = pickle.loads(self._content)
        return make_handler, limits


class _SameSoftware(WorkerPlugin):  # type: ignore[misc]
    """Keeps out workers that cannot import this module: tasks would end them, as if a cell were at fault."""

    name = "betabench"


def _compute(task: Task, pools: _Pools) -> tuple[Mapping[str, Any], list[Any]]:
    """Run on a Dask worker: return its processor, and the results of a task."""
    # A nanny starts workers as daemons, which may not start processes that could outlive them. Processes of a
    # pool end with the worker.
    multiprocessing.current_process().daemon = False
    worker = get_worker()
    state = worker.state.tasks[worker.get_current_task()]
    try:
        pool = pools.idle.pop()
    except IndexError:
        pool = Pool(1)
    results: list[Any] = []
    for finished in pool.run([task], *pools.content):
        results += [one.result for one in finished]
        if state.state == "cancelled":  # nobody waits for the task any more
            pool.close()
            raise RuntimeError("the run is over")
    pools.idle.append(pool)
    return processor(), results


@contextlib.contextmanager
def connected(scheduler: Any) -> Iterator[DaskEngine]:
    """Connect to a running scheduler by its address, such as ``tcp://host:8786``, or by its cluster."""
    try:
        client = Client(scheduler, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise ExperimentError(
            f"There is no Dask scheduler at {scheduler}",
            expected="the address that 'dask scheduler' shows, such as tcp://host:8786",
            got=f"{type(error).__name__}: {error}",
            remedy="start it, or correct --scheduler",
        ) from error
    with client:
        yield DaskEngine(client)


Scalar: TypeAlias = StrictBool | StrictInt | StrictFloat | StrictStr


class Cluster(BaseModel):
    """The content of a cluster file."""

    model_config = STRICT

    # A class of dask-jobqueue, one for each batch scheduler, or Dask's ``LocalCluster`` for a trial.
    cluster: Literal["SLURMCluster", "PBSCluster", "SGECluster", "LSFCluster", "LocalCluster"]
    jobs: StrictInt = Field(ge=1)  # number of jobs to submit; for ``LocalCluster``, of workers to start
    # The class's own arguments.
    arguments: dict[str, Scalar | list[Scalar] | dict[str, Scalar]] = {}

    @property
    def module(self) -> str:
        """The package of the class."""
        return "distributed" if self.cluster == "LocalCluster" else "dask_jobqueue"

    @property
    def scale(self) -> dict[str, int]:
        """The arguments of the cluster's method ``scale``."""
        return {"n" if self.cluster == "LocalCluster" else "jobs": self.jobs}


def load_cluster(path: Path) -> Cluster:
    """Return the checked content of a cluster file in TOML; an ExperimentError says what is wrong with it."""
    content = read_toml(path, "cluster file", ExperimentError, "docs/cluster.md has an example")
    remedy = "correct the named fields; docs/cluster.md has an example"
    return checked(Cluster, content, f"The cluster file {path}", remedy)


@contextlib.contextmanager
def started(file: Path) -> Iterator[DaskEngine]:
    """Start the cluster that a file declares; it and its jobs end with the context."""
    declared = load_cluster(file)
    make = getattr(importlib.import_module(declared.module), declared.cluster)
    try:
        cluster = make(**declared.arguments)
    except Exception as error:  # each class refuses wrong arguments in its own way
        raise ExperimentError(
            f"The {declared.cluster} cannot be started",
            expected="arguments as its documentation says",
            got=f"{type(error).__name__}: {error}",
            remedy="correct [arguments] in the cluster file",
        ) from error
    with cluster:
        cluster.scale(**declared.scale)
        with connected(cluster) as engine:
            yield engine
