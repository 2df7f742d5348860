"""Tasks on a Dask cluster, with the processes and limits that they have on one machine.

The handler travels once to each Dask worker, as a plugin of it, and later to those that join. Each thread of
a Dask worker keeps a :class:`benchmark.experiment.pool.Pool` of one process, which lives until the run ends:
there a technique that hangs, crashes or eats memory costs its own cell, and the Dask worker does not notice.
Whatever takes a Dask worker itself down is Dask's to repair: it gives the task to another one, and gives up
when that has happened more often than ``distributed.scheduler.allowed-failures`` says (3, unless changed).

Results do not wait for the end of their task, which may be hours away: workers hand them in to the scheduler,
through a plugin of it, and this process collects them there. A worker that takes over the task of a lost one
goes on behind what was handed in.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import json
import multiprocessing
import pickle
import queue
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from distributed import Client, Future, KilledWorker, SchedulerPlugin, WorkerPlugin, get_worker
from distributed.utils import sync

from benchmark.errors import BetabenchError, ExperimentError
from benchmark.experiment.cluster import Cluster
from benchmark.experiment.engine import missing_extra
from benchmark.experiment.fork_server import CAN_FORK, ForkServer
from benchmark.experiment.pool import DELIVERY, Failure, Finished, Handler, Limits, Pool, Task, work
from benchmark.experiment.versions import processor

_BATCH = 1000  # tasks that the scheduler gets in one message


class DaskEngine:
    """A Dask cluster; its scheduler and workers need the same software as this process."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._processors: list[str] = []

    @property
    def processors(self) -> Sequence[Mapping[str, Any]]:
        """Those of the workers that have begun a task."""
        return list(map(json.loads, self._processors))

    @property
    def name(self) -> str:
        """Address of the scheduler."""
        return f"Dask at {self._client.scheduler.address}"

    def run(
        self, tasks: Sequence[Task], make_handler: Callable[[], Handler], limits: Limits
    ) -> Iterator[list[Finished]]:
        """Run tasks on the workers that there are and that join, as :class:`.Engine` says.

        A task is suspected when Dask has given it up because worker after worker was lost with it. What waits
        or runs beside a culprit is lost as well, so at the end the suspects are computed again, cell by cell
        with nothing beside them: only a cell that takes the workers down then is a :class:`Failure`.
        """
        if not tasks:
            return
        name = f"betabench-{uuid.uuid4().hex}"
        numbers = itertools.count()
        try:
            self._register(_Desk(name, self._client.id))
            self._register(_Pools(name, make_handler, limits))
            suspects = yield from self._finished(name, dict(zip(numbers, tasks, strict=False)))
            for task, _ in suspects:
                for cell in task.cells:
                    alone = {next(numbers): replace(task, cells=(cell,))}
                    for _, killed in (yield from self._finished(name, alone)):
                        number = killed.allowed_failures + 1
                        reason = f"{number} Dask workers were lost while they computed it and nothing else"
                        yield [Finished(task.block, cell, Failure("crashed", reason, 0.0))]
        finally:
            with contextlib.suppress(Exception):  # a scheduler that is lost has nothing to tidy up
                self._client.sync(getattr(self._client.scheduler, f"{name}-end"))

    def _finished(
        self, name: str, left: dict[int, Task]
    ) -> Generator[list[Finished], None, list[tuple[Task, KilledWorker]]]:
        """Run tasks, by their numbers, and yield what is finished; return what Dask has given up, and why."""
        futures = self._client.map(
            functools.partial(_compute, name), *zip(*left.items(), strict=True),
            pure=False, batch_size=_BATCH, key=name,
        )  # fmt: skip
        running = dict(zip(futures, left, strict=True))
        del futures  # what is over is not to be kept
        over: queue.SimpleQueue[Future] = queue.SimpleQueue()
        for future in running:
            future.add_done_callback(over.put)
        given_up = []
        try:
            while running:
                ended = _take(over, len(running))
                finished = []
                results, processors = self._collect(name)
                self._processors = list(dict.fromkeys((*self._processors, *processors)))
                for number, result in results:
                    # A worker that only seemed lost may go on with what has been given up.
                    if (task := left.get(number)) is not None:
                        cell, *others = task.cells
                        finished.append(Finished(task.block, cell, pickle.loads(result)))
                        left[number] = replace(task, cells=tuple(others))
                if finished:
                    yield finished
                for future in ended:
                    task = left.pop(running.pop(future))
                    if task.cells:
                        given_up.append((task, _killed(future)))
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel(list(running), force=True)
        return given_up

    def _register(self, plugin: SchedulerPlugin | WorkerPlugin) -> None:
        try:
            self._client.register_plugin(plugin, name=plugin.name)
        except Exception as error:
            raise ExperimentError(
                "The Dask workers cannot take the experiment",
                expected="workers with the same version of betabench as here",
                got=f"{type(error).__name__}: {error}",
                remedy="install it in the environment of scheduler and workers; docs/cluster.md says how",
            ) from error

    def _collect(self, name: str) -> tuple[list[tuple[int, bytes]], list[str]]:
        """Ask the scheduler for what was handed in; see :meth:`_Desk.collect`."""
        try:
            answer = self._client.sync(getattr(self._client.scheduler, f"{name}-collect"))
        except OSError as error:
            raise _failed(error) from error
        if answer is None:
            raise _failed(ConnectionError("the connection was lost, and so the scheduler has ended the run"))
        results, processors = answer
        return results, processors


def _take(over: queue.SimpleQueue[Future], number: int) -> list[Future]:
    """Return the futures that end within a period of delivery, or so many as soon as they have."""
    ended: list[Future] = []
    deadline = time.monotonic() + DELIVERY
    while len(ended) < number and (patience := deadline - time.monotonic()) > 0:
        with contextlib.suppress(queue.Empty):
            ended.append(over.get(timeout=patience))
    return ended


def _killed(future: Future) -> KilledWorker:
    """Return why Dask has given a task up; raise all other reasons for which it has ended too early."""
    error = future.exception() if future.status == "error" else RuntimeError(f"a task was {future.status}")
    if isinstance(error, KilledWorker):
        return error
    if isinstance(error, BetabenchError):
        raise error
    raise _failed(error) from error


def _failed(error: BaseException) -> ExperimentError:
    return ExperimentError(
        "The Dask cluster failed",
        got=f"{type(error).__name__}: {error}",
        remedy="see its logs, and start the same command again: it goes on where this run was",
    )


class _Desk(SchedulerPlugin):  # type: ignore[misc]
    """Where the scheduler takes the results of a run, and hands them out.

    It ends the run on all workers if the process that collects is lost: what they compute would not be used.
    """

    def __init__(self, name: str, client: str) -> None:
        self.name = name
        self._client = client
        self._results: list[tuple[int, bytes]] = []
        self._handed_in: Counter[int] = Counter()
        self._processors: set[str] = set()

    async def start(self, scheduler: Any) -> None:
        """Answer to workers and to the client from now on."""
        self._scheduler = scheduler
        self._handlers = {
            f"{self.name}-{method.__name__}": method
            for method in (self.begin, self.hand_in, self.collect, self.end)
        }
        scheduler.handlers.update(self._handlers)

    def begin(self, task: int, processor: str) -> int:
        """Return how many results of a task were handed in, which are those of its first cells."""
        self._processors.add(processor)
        return self._handed_in[task]

    def hand_in(self, task: int, first: int, results: list[bytes]) -> bool:
        """Take results of a task, the first of them of the cell at a place; return that they were taken."""
        # A worker that only seemed lost computes beside the one that has taken over: what came first counts.
        new = results[self._handed_in[task] - first :]
        self._handed_in[task] += len(new)
        self._results += [(task, result) for result in new]
        return True

    def collect(self) -> tuple[list[tuple[int, bytes]], list[str]]:
        """Hand out what was handed in since the last time, and all that workers have said of themselves."""
        results, self._results = self._results, []
        return results, sorted(self._processors)

    async def end(self) -> None:
        """End the run's processes on all workers, and leave the scheduler."""
        for name in self._handlers:
            self._scheduler.handlers.pop(name, None)
        with contextlib.suppress(ValueError):  # the other has ended it
            self._scheduler.remove_plugin(self.name)
        with contextlib.suppress(ValueError):
            await self._scheduler.unregister_worker_plugin(None, self.name)

    def remove_client(self, scheduler: Any, client: str) -> None:
        """Notice that a client has left, or was killed."""
        if client == self._client:
            scheduler.loop.add_callback(self.end)


class _Pools(WorkerPlugin):  # type: ignore[misc]
    """What a Dask worker holds for a run: one pool of one process for each of its threads."""

    def __init__(self, name: str, make_handler: Callable[[], Handler], limits: Limits) -> None:
        self.name = name
        self._make_handler, self._limits = make_handler, limits

    def setup(self, worker: Any) -> None:  # noqa: ARG002
        """Prepare a worker that has just got the plugin."""
        # A worker that a nanny has started is a daemon, which may not start processes; those of a pool end
        # with the worker, so that the reason for the ban is not given.
        multiprocessing.current_process().daemon = False
        self._lock = threading.Lock()
        self._idle: list[Pool] = []
        self._busy: list[Pool] = []
        self._ended = False
        self._server = ForkServer(work) if CAN_FORK else None

    def teardown(self, worker: Any) -> None:  # noqa: ARG002
        """End all processes: the run is over, or the worker is."""
        with self._lock:
            self._ended = True
            for pool in self._busy:
                pool.stop()
            while self._idle:
                self._idle.pop().close()
        if self._server is not None:
            self._server.close()

    def _new_pool(self) -> Pool:
        return Pool(self._make_handler, n_workers=1, limits=self._limits, server=self._server)

    def compute(self, task: Task) -> Iterator[list[Finished]]:
        """Run a task; see :meth:`~benchmark.experiment.pool.Pool.run`."""
        with self._lock:
            pool = self._idle.pop() if self._idle else self._new_pool()
            self._busy.append(pool)
        try:
            yield from pool.run([task])
        finally:
            with self._lock:
                self._busy.remove(pool)
                if self._ended:
                    pool.close()
                else:
                    self._idle.append(pool)


def _compute(name: str, number: int, task: Task) -> None:
    """Run on a Dask worker: hand in what is left of a task."""
    worker = get_worker()
    pools: _Pools = worker.plugins[name]

    def ask(what: str, **content: Any) -> Any:
        answer = sync(worker.loop, getattr(worker.scheduler, f"{name}-{what}"), task=number, **content)
        if answer is None:  # the scheduler has no such handler any more
            raise RuntimeError("the run is over")
        return answer

    first = ask("begin", processor=json.dumps(processor()))
    for finished in pools.compute(replace(task, cells=task.cells[first:])):
        ask("hand_in", first=first, results=[pickle.dumps(one.result) for one in finished])
        first += len(finished)


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


@contextlib.contextmanager
def started(declared: Cluster) -> Iterator[DaskEngine]:
    """Start a cluster, and end it and its jobs with the context."""
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
