"""Steps of a command, progress of its cells and the remaining time."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

from benchmark.text.terminal import say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_LINE = 600  # seconds between two lines of progress at most, where lines stay
_SETTLED = 2  # seconds of computing after which the rate is shown


def pace(computed: int, left: int, seconds: float) -> str:
    """Return the mean rate of computing cells, and the remaining time at that rate; empty at first."""
    if seconds < _SETTLED or not computed:
        return ""
    rate = computed / seconds
    # The first unit with at least one cell, or hours.
    units = (("s", 1), ("min", 60), ("h", 3600))
    unit, length = next((own for own in units if rate * own[1] >= 1), units[-1])
    remaining = f", about {timedelta(seconds=round(left / rate))} left" if left else ""
    return f"{rate * length:.1f}/{unit}{remaining}"


class Steps:
    """The steps of a command: in a terminal or a notebook a line that vanishes, elsewhere a few short lines.

    As a context, it removes the line at its end. If ``brief``, notes are left out, and lines that stay are on
    the progress of cells alone.
    """

    def __init__(self, console: Console, *, brief: bool = False) -> None:
        self._console, self._brief = console, brief
        self._line: Status | None = None
        self._half, self._due = -1, 0.0
        self._before: int | None = None  # cells stored before, which do not count for this run's rate
        self.done = self.planned = 0  # cells

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.stop()
            self._line = None

    def step(self, name: str) -> None:
        """Show what begins now."""
        if self._console.is_terminal:
            self._show(f"{name} ...")
        elif not self._brief:
            say(self._console, f"{name} ...", "dim")

    def note(self, text: str) -> None:
        """Print a note, which stays."""
        if not self._brief:
            say(self._console, f"Note: {text}", "yellow")

    def _show(self, text: str) -> None:
        from rich.text import Text

        if self._line is None:
            self._line = self._console.status("")
            self._line.start()
        self._line.update(Text(text))

    def update(self, done: int, planned: int, seconds: float) -> None:
        """Show the numbers of finished and planned cells, given the seconds of computing."""
        self.done, self.planned = done, planned
        self._before = done if self._before is None else self._before
        rate = pace(done - self._before, planned - done, seconds)
        text = ", ".join(filter(None, (f"{done:,} of {planned:,} cells", rate)))
        if self._console.is_terminal:
            self._show(text)
            return
        half, now = 2 * done // planned, time.monotonic()
        if (half == self._half and now < self._due) or (done and done == planned):
            return
        self._half, self._due = half, now + _LINE
        say(self._console, text)
