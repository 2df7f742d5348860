"""Tasks on a Dask cluster, with the processes and limits that they have on one machine.

The handler travels once to each Dask worker, as a plugin of it, and later to those that join. Each thread of
a Dask worker keeps a :class:`benchmark.experiment.pool.Pool` of one process, which lives until the run ends:
there a technique that hangs, crashes or eats memory costs its own cell, and the Dask worker does not notice.
Whatever takes a Dask worker itself down is Dask's to repair: it gives the task to another one, and gives up
when that has happened more often than ``distributed.scheduler.allowed-failures`` says (3, unless changed).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
import multiprocessing
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from distributed import Client, Future, KilledWorker, WorkerPlugin, as_completed, get_worker

from benchmark.errors import BetabenchError, ExperimentError
from benchmark.experiment.cluster import Cluster
from benchmark.experiment.engine import missing_extra
from benchmark.experiment.pool import Failure, Handler, Pool, Task

__all__ = ["DaskEngine", "connected", "started"]

# Tasks that the scheduler is told of in one message.
_BATCH = 1000


class DaskEngine:
    """A Dask cluster.

    Parameters
    ----------
    client : Client
        Connected to its scheduler. Scheduler and workers need the same software as this process.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def name(self) -> str:
        """Address of the scheduler."""
        return f"Dask at {self._client.scheduler.address}"

    def run(
        self,
        tasks: Sequence[Task],
        make_handler: Callable[[], Handler],
        *,
        time_limit: float,
        memory_limit: float = math.inf,
    ) -> Iterator[tuple[Task, list[Any]]]:
        """Run tasks on the workers that there are and that join.

        See :class:`benchmark.experiment.engine.Engine` for what goes in and comes out.

        A task is suspected when Dask has given it up because worker after worker was lost with it. What waits
        or runs beside a culprit is lost as well, so at the end the suspects are computed again, cell by cell
        with nothing beside them: only a cell that takes the workers down then is a :class:`Failure`.
        """
        if not tasks:
            return
        name = f"betabench-{uuid.uuid4().hex}"
        self._register(_Pools(name, make_handler, time_limit, memory_limit))
        waiting: dict[Future, Task] = {}

        def submit(some: Sequence[Task]) -> list[Future]:
            futures = self._client.map(
                functools.partial(_compute, name), some, pure=False, batch_size=_BATCH, key=name
            )
            waiting.update(zip(futures, some, strict=True))
            return list(futures)

        def finished(futures: list[Future]) -> Any:
            return as_completed(futures, loop=self._client.loop, with_results=True, raise_errors=False)

        try:
            suspects = []
            for future, answer in finished(submit(tasks)):
                task = waiting.pop(future)
                if _killed(answer):
                    suspects.append(task)
                else:
                    yield task, answer
            for part in (replace(task, cells=(cell,)) for task in suspects for cell in task.cells):
                ((future, answer),) = finished(submit([part]))
                del waiting[future]
                if killed := _killed(answer):
                    number = killed.allowed_failures + 1
                    reason = f"{number} Dask workers were lost while they computed it and nothing else"
                    answer = [Failure("crashed", reason, 0.0)]
                yield part, answer
        finally:
            with contextlib.suppress(Exception):  # a scheduler that is lost has nothing to tidy up
                self._client.cancel(list(waiting), force=True)
                self._client.unregister_worker_plugin(name)

    def _register(self, pools: _Pools) -> None:
        try:
            self._client.register_plugin(pools, name=pools.name)
        except Exception as error:
            raise ExperimentError(
                "The Dask workers cannot take the experiment",
                expected="workers with the same version of betabench as here",
                got=f"{type(error).__name__}: {error}",
                remedy="install it in the environment of scheduler and workers; docs/cluster.md says how",
            ) from error


def _killed(answer: Any) -> KilledWorker | None:
    """Return why Dask has given a task up, or None if its answer is results; raise all other errors."""
    if isinstance(answer, list):
        return None
    # Dask tells of an error by its type, itself and its traceback, of a cancelled task by an exception alone.
    error = answer[1] if isinstance(answer, tuple) else answer
    if isinstance(error, KilledWorker):
        return error
    if isinstance(error, BetabenchError):
        raise error
    raise ExperimentError(
        "The Dask cluster failed",
        got=f"{type(error).__name__}: {error}",
        remedy="see its logs, and start the same command again: it goes on where this run was",
    ) from error


class _Pools(WorkerPlugin):  # type: ignore[misc]
    """What a Dask worker holds for a run: one pool of one process for each of its threads."""

    def __init__(
        self, name: str, make_handler: Callable[[], Handler], time_limit: float, memory_limit: float
    ) -> None:
        self.name = name
        self._new_pool = functools.partial(
            Pool, make_handler, n_workers=1, time_limit=time_limit, memory_limit=memory_limit
        )

    def setup(self, worker: Any) -> None:  # noqa: ARG002
        """Prepare a worker that has just got the plugin."""
        # A worker that a nanny has started is a daemon, which may not start processes; those of a pool end
        # with the worker, so that the reason for the ban is not given.
        multiprocessing.current_process().daemon = False
        self._lock = threading.Lock()
        self._idle: list[Pool] = []
        self._busy: list[Pool] = []
        self._ended = False

    def teardown(self, worker: Any) -> None:  # noqa: ARG002
        """End all processes: the run is over, or the worker is."""
        with self._lock:
            self._ended = True
            for pool in self._busy:
                pool.stop()
            while self._idle:
                self._idle.pop().close()

    def compute(self, task: Task) -> list[Any]:
        """Return the results of a task's cells."""
        with self._lock:
            pool = self._idle.pop() if self._idle else self._new_pool()
            self._busy.append(pool)
        try:
            ((_, results),) = pool.run([task])
            return results
        finally:
            with self._lock:
                self._busy.remove(pool)
                if self._ended:
                    pool.close()
                else:
                    self._idle.append(pool)


def _compute(name: str, task: Task) -> list[Any]:
    """Run on a Dask worker."""
    pools: _Pools = get_worker().plugins[name]
    return pools.compute(task)


@contextlib.contextmanager
def connected(scheduler: Any) -> Iterator[DaskEngine]:
    """Connect to a scheduler that is running.

    Parameters
    ----------
    scheduler : str or cluster object
        Its address, such as ``tcp://host:8786``, or a Dask cluster of this process.

    Raises
    ------
    ExperimentError
        If there is none.
    """
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


@contextlib.contextmanager
def started(declared: Cluster) -> Iterator[DaskEngine]:
    """Start a cluster, and end it and its jobs with the context.

    Parameters
    ----------
    declared : Cluster
        Content of a cluster file.

    Raises
    ------
    ExperimentError
        If the class does not take its arguments, or its jobs cannot be submitted.
    """
    try:
        make = getattr(importlib.import_module(declared.module), declared.cluster)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    try:
        cluster = make(**declared.arguments)
    except Exception as error:  # whatever a class thinks of arguments that are not its own
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
