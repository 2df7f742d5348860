"""Where cells are computed in tests."""

from collections.abc import Callable, Iterator, Sequence
from typing import Self

from benchmark.experiment.pool import Finished, Handler, Limits, Task


class InProcess:
    """An engine without processes, for what does not depend on them."""

    name, processors = "this process", ()

    def __init__(self, n_workers: int) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(
        self,
        tasks: Sequence[Task],
        make_handler: Callable[[], Handler],
        limits: Limits,
    ) -> Iterator[list[Finished]]:
        handler = make_handler()
        for task in tasks:
            results = handler(task.block, task.cells)
            yield [
                Finished(task.block, cell, result) for cell, result in zip(task.cells, results, strict=True)
            ]
