"""Tasks on a Dask cluster, with the processes and limits that they have on one machine.

A worker plugin brings the handler to each Dask worker once, also to workers that join later. Each thread of
a Dask worker keeps a :class:`benchmark.experiment.pool.Pool` of one process, which lives until the run ends.
There a technique that hangs, crashes or eats memory costs its own cell, and the Dask worker does not notice.
If a Dask worker itself is lost, Dask gives its task to another one. Dask gives the task up after more losses
than ``distributed.scheduler.allowed-failures`` allows (3 by default).

Results do not wait for the end of their task, which may be hours away. Workers hand them in to a plugin of
the scheduler, and this process collects them there. A worker that takes over the task of a lost one
continues behind the results that were handed in.
"""

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
from benchmark.experiment.engine import Cluster, missing_extra
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
        """The processors of the workers that have begun a task."""
        return list(map(json.loads, self._processors))

    @property
    def name(self) -> str:
        """Address of the scheduler."""
        return f"Dask at {self._client.scheduler.address}"

    def run(
        self, tasks: Sequence[Task], make_handler: Callable[[], Handler], limits: Limits
    ) -> Iterator[list[Finished]]:
        """Yield finished cells of tasks as :class:`.Engine` does, from all workers, also those that join.

        Dask gives a task up after several workers were lost with it. But tasks beside a culprit are lost as
        well. So the tasks given up are computed again at the end, cell by cell with nothing beside them. A
        cell that takes the workers down even then is a :class:`Failure`.
        """
        if not tasks:
            return
        name = f"betabench-{uuid.uuid4().hex}"
        numbers = itertools.count()
        try:
            self._register(_ResultsPlugin(name, self._client.id))
            self._register(_Pools(name, make_handler, limits))
            given_up = yield from self._finished(name, dict(zip(numbers, tasks, strict=False)))
            for task, _ in given_up:
                for cell in task.cells:
                    single = {next(numbers): replace(task, cells=(cell,))}
                    for _, killed in (yield from self._finished(name, single)):
                        number = killed.allowed_failures + 1
                        reason = f"{number} Dask workers were lost while they computed it and nothing else"
                        yield [Finished(task.block, cell, Failure("crashed", reason, 0.0))]
        finally:
            with contextlib.suppress(Exception):  # a lost scheduler needs no clean-up
                self._client.sync(getattr(self._client.scheduler, f"{name}-end"))

    def _finished(
        self, name: str, tasks: dict[int, Task]
    ) -> Generator[list[Finished], None, list[tuple[Task, KilledWorker]]]:
        """Run tasks by number and yield finished cells; return the tasks that Dask has given up, and why."""
        futures = self._client.map(
            functools.partial(_compute, name), *zip(*tasks.items(), strict=True),
            pure=False, batch_size=_BATCH, key=name,
        )  # fmt: skip
        running = dict(zip(futures, tasks, strict=True))
        del futures  # so that Dask can forget each one that is over
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
                    # A worker that only seemed lost may still compute a task that Dask has given up.
                    if (task := tasks.get(number)) is not None:
                        cell, *remaining = task.cells
                        finished.append(Finished(task.block, cell, pickle.loads(result)))
                        tasks[number] = replace(task, cells=tuple(remaining))
                if finished:
                    yield finished
                for future in ended:
                    task = tasks.pop(running.pop(future))
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
        """Return the scheduler's answer to :meth:`_ResultsPlugin.collect`."""
        try:
            answer = self._client.sync(getattr(self._client.scheduler, f"{name}-collect"))
        except OSError as error:
            raise _failed(error) from error
        if answer is None:
            raise _failed(ConnectionError("the connection was lost, and so the scheduler has ended the run"))
        results, processors = answer
        return results, processors


def _take(over: queue.SimpleQueue[Future], number: int) -> list[Future]:
    """Return the futures that end within one delivery period; stop early after the given number."""
    ended: list[Future] = []
    deadline = time.monotonic() + DELIVERY
    while len(ended) < number and (patience := deadline - time.monotonic()) > 0:
        with contextlib.suppress(queue.Empty):
            ended.append(over.get(timeout=patience))
    return ended


def _killed(future: Future) -> KilledWorker:
    """Return why Dask has given a task up; raise any other error that ended it too early."""
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
        remedy="see its logs, and start the same command again: it continues where this run ended",
    )


class _ResultsPlugin(SchedulerPlugin):  # type: ignore[misc]
    """The scheduler's part of a run: it takes results from workers and gives them to the run's process.

    It ends the run on all workers if the run's process is lost, because their results would not be used.
    """

    def __init__(self, name: str, client: str) -> None:
        self.name = name
        self._client = client
        self._results: list[tuple[int, bytes]] = []
        self._handed_in: Counter[int] = Counter()
        self._processors: set[str] = set()

    async def start(self, scheduler: Any) -> None:
        """Add the handlers that workers and the client call."""
        self._scheduler = scheduler
        self._handlers = {
            f"{self.name}-{method.__name__}": method
            for method in (self.begin, self.hand_in, self.collect, self.end)
        }
        scheduler.handlers.update(self._handlers)

    def begin(self, task: int, processor: str) -> int:
        """Return the number of results that were handed in, which belong to the task's first cells."""
        self._processors.add(processor)
        return self._handed_in[task]

    def hand_in(self, task: int, first: int, results: list[bytes]) -> bool:
        """Take results of a task from its cell number ``first`` on; True says that they were taken."""
        # A worker that only seemed lost computes beside its replacement: the first result counts.
        new = results[self._handed_in[task] - first :]
        self._handed_in[task] += len(new)
        self._results += [(task, result) for result in new]
        return True

    def collect(self) -> tuple[list[tuple[int, bytes]], list[str]]:
        """Return the results since the last call, and the processors of all workers so far."""
        results, self._results = self._results, []
        return results, sorted(self._processors)

    async def end(self) -> None:
        """End the run's processes on all workers, and leave the scheduler."""
        for name in self._handlers:
            self._scheduler.handlers.pop(name, None)
        with contextlib.suppress(ValueError):  # the run's process, or its loss, has ended it before
            self._scheduler.remove_plugin(self.name)
        with contextlib.suppress(ValueError):
            await self._scheduler.unregister_worker_plugin(None, self.name)

    def remove_client(self, scheduler: Any, client: str) -> None:
        """End the run when its client has left, or was killed."""
        if client == self._client:
            scheduler.loop.add_callback(self.end)


class _Pools(WorkerPlugin):  # type: ignore[misc]
    """A Dask worker's part of a run: for each of its threads a pool of one process."""

    def __init__(self, name: str, make_handler: Callable[[], Handler], limits: Limits) -> None:
        self.name = name
        self._make_handler, self._limits = make_handler, limits

    def setup(self, worker: Any) -> None:  # noqa: ARG002
        """Prepare a worker that has just got the plugin."""
        # A nanny starts workers as daemons, which may not start processes that could outlive them. Processes
        # of a pool end with the worker.
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
    """Run on a Dask worker: compute the remaining cells of a task, and hand in their results."""
    worker = get_worker()
    pools: _Pools = worker.plugins[name]

    def ask(action: str, **content: Any) -> Any:
        answer = sync(worker.loop, getattr(worker.scheduler, f"{name}-{action}"), task=number, **content)
        if answer is None:  # the scheduler has no such handler any more
            raise RuntimeError("the run is over")
        return answer

    first = ask("begin", processor=json.dumps(processor()))
    for finished in pools.compute(replace(task, cells=task.cells[first:])):
        ask("hand_in", first=first, results=[pickle.dumps(cell.result) for cell in finished])
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
    """Start a cluster; it and its jobs end with the context."""
    try:
        make = getattr(importlib.import_module(declared.module), declared.cluster)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
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
