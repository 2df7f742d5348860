"""Steps of a command, progress of its cells and the remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmark.text.terminal import say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_LINE = 600  # seconds between two lines of progress at most, where lines stay
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


class Steps:
    """The steps of a command: in a terminal or a notebook a line that vanishes, elsewhere a few short lines.

    As a context, it removes the line at its end. If ``brief``, notes are left out, and lines that stay are on
    the progress of cells alone.
    """

    def __init__(self, console: Console, *, brief: bool = False) -> None:
        self._console, self._brief = console, brief
        self._line: Status | None = None
        self._half, self._due = -1, 0.0
        self.pace = Pace(self._show_pace)

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

    def _show_pace(self, pace: Pace) -> None:
        text = ", ".join(filter(None, (f"{pace.done:,} of {pace.planned:,} cells", pace.text)))
        if self._console.is_terminal:
            self._show(text)
            return
        half, now = 2 * pace.done // pace.planned, time.monotonic()
        if (half == self._half and now < self._due) or (pace.done and pace.done == pace.planned):
            return
        self._half, self._due = half, now + _LINE
        say(self._console, text)
