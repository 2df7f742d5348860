"""Engines that compute tasks: processes of this machine, or a Dask cluster that a file declares."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmark.errors import ExperimentError
from benchmark.experiment.pool import ONE_THREAD, PRELOADED, Finished, Handler, Limits, Pool, Task, is_alone
from benchmark.experiment.versions import processor


class Engine(Protocol):
    """Computes tasks somewhere; results do not depend on where."""

    @property
    def name(self) -> str:
        """Where it computes, for the console and the manifest."""

    @property
    def processors(self) -> Sequence[Mapping[str, Any]]:
        """The distinct answers of :func:`benchmark.experiment.versions.processor` where it computes."""

    def run(
        self, tasks: Sequence[Task], make_handler: Callable[[], Handler], limits: Limits
    ) -> Iterator[list[Finished]]:
        """Run tasks and yield each finished cell once, in any order, soon after its end.

        A kill costs the cells that were not yielded. ``make_handler`` is as in
        :class:`benchmark.experiment.pool.Pool`. A BetabenchError says that the engine cannot compute at all.
        """


_FORKED: list[Pool] = []  # for the next engine


def fork_workers(workers: int | None) -> None:
    """Fork the processes of the next :class:`LocalEngine` off this one, for a command that has not begun.

    So command and workers import once, and workers share no data with it. This process, too, has one thread
    of linear algebra.
    """
    if sys.platform == "linux" and "numpy" not in sys.modules:
        os.environ.update(ONE_THREAD)
        for name in ("benchmark.api", *PRELOADED):
            importlib.import_module(name)
        _load_late()
        if is_alone():
            _FORKED.append(Pool(workers or os.cpu_count() or 1))
            _FORKED[-1].fork()


def _load_late() -> None:
    """Load what the first task would load in each worker: registered items, and compiled loops."""
    import numpy as np

    from benchmark.classifiers import make_classifier
    from benchmark.metrics import list_metrics
    from benchmark.techniques import list_techniques

    list_techniques()
    list_metrics()
    tree = make_classifier("c45").build(np.array([2]), 0)
    tree.fit(np.array([[0], [1]] * 4, dtype=np.int16), np.array([0, 1] * 4), sample_weight=None)


class LocalEngine:
    """Processes of this machine; an ExperimentError says that fewer than one are wanted."""

    def __init__(self, n_workers: int) -> None:
        if n_workers < 1:
            raise ExperimentError("Too few workers", expected="--workers 1 or more", got=str(n_workers))
        self._pool = _FORKED.pop() if _FORKED else Pool(n_workers)
        self.name = f"{n_workers} worker(s)"

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    @property
    def processors(self) -> Sequence[Mapping[str, Any]]:
        """The processor of this machine."""
        return [processor()]

    def run(
        self, tasks: Sequence[Task], make_handler: Callable[[], Handler], limits: Limits
    ) -> Iterator[list[Finished]]:
        """Run tasks in processes that end with the last one; see :class:`Engine`."""
        with self._pool:
            yield from self._pool.run(tasks, make_handler, limits)


@contextlib.contextmanager
def open_engine(
    *, workers: int, scheduler: str | None = None, cluster: Path | None = None
) -> Iterator[Engine]:
    """Open the engine that the command line names; whatever it starts ends with the context.

    The engine is ``workers`` processes of this machine, unless there is the address of a Dask scheduler or a
    file that declares a :class:`~benchmark.experiment.dask_engine.Cluster`. An ExperimentError says that the
    number of workers, the address or the file is wrong, or that the extra ``cluster`` is missing.
    """
    if scheduler is None and cluster is None:
        with LocalEngine(workers) as local:
            yield local
        return
    with contextlib.ExitStack() as stack:
        try:
            from benchmark.experiment.dask_engine import connected, started

            engine = stack.enter_context(connected(scheduler) if cluster is None else started(cluster))
        except ModuleNotFoundError as error:
            raise ExperimentError(
                "A Dask cluster needs packages that are not installed",
                expected="the extra betabench[cluster]",
                got=f"no module {error.name}",
                remedy="pip install 'betabench[cluster]', here and wherever scheduler and workers run",
            ) from error
        yield engine
