"""Progress of a run and the remaining time: a bar in a terminal or a notebook, lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_LINE = 60  # seconds between two lines of progress at most
_SETTLED = 2  # seconds of computing after which the rate is shown


class Pace:
    """Progress of a run's computing, its rate so far, and the remaining time at that rate.

    ``show`` is called after every change.
    """

    def __init__(self, show: Callable[[Pace], None]) -> None:
        self.done = self.planned = 0
        self._before = -1  # cells stored before, which do not count for this run's rate
        self._seconds = 0.0
        self._show = show

    def update(self, done: int, planned: int, seconds: float) -> None:
        """Take the numbers of finished and planned cells, and the seconds of computing."""
        if self._before < 0:
            self._before = done
        self.done, self.planned, self._seconds = done, planned, seconds
        self._show(self)

    @property
    def text(self) -> str:
        """Mean rate, and remaining time at that rate; empty during the first seconds."""
        if self._seconds < _SETTLED:
            return ""
        rate = (self.done - self._before) / self._seconds
        if self.done == self.planned:
            return _rate_text(rate)
        minutes, seconds = divmod(round((self.planned - self.done) / rate), 60)
        hours, minutes = divmod(minutes, 60)
        remaining = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        return f"{_rate_text(rate)}, about {remaining} left"


def _rate_text(rate: float) -> str:
    """Return cells per second, minute or hour: the first unit with at least one cell, or hours."""
    for unit, seconds in (("s", 1), ("min", 60)):
        if rate * seconds >= 1:
            return f"{rate * seconds:.1f}/{unit}"
    return f"{rate * 3600:.1f}/h"


@contextlib.contextmanager
def show_progress(console: Console) -> Iterator[Pace]:
    """Show a bar with rate and remaining time in a terminal, and a line from time to time elsewhere."""
    if not console.is_terminal:
        yield Pace(_Lines(console))
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=console) as bar:

        def show(pace: Pace) -> None:
            if not bar.tasks:
                bar.add_task("cells", pace="")
            bar.update(bar.tasks[0].id, completed=pace.done, total=pace.planned, pace=pace.text)

        yield Pace(show)


class _Lines:
    """Printer of a line for each tenth of the cells, and at least once a minute while there are new ones."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tenth, self._due = -1, 0.0

    def __call__(self, pace: Pace) -> None:
        tenth, now = 10 * pace.done // pace.planned, time.monotonic()
        if tenth == self._tenth and now < self._due:
            return
        self._tenth, self._due = tenth, now + _LINE
        text = ", ".join(filter(None, (f"{pace.done:,} of {pace.planned:,} cells", pace.text)))
        self._console.print(text, highlight=False, soft_wrap=True)
