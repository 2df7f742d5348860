"""What is said of a finished run: one module for each question, and where its section is shown.

A module has a function that turns the statistics of a run into a :class:`Section`, or into None where there
is nothing to say. Adding a section takes such a module and a line in :data:`SECTIONS`:
:mod:`benchmark.render` and the template ``run/section.html`` of :mod:`benchmark.pages` show any section.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Flag, auto

from benchmark.runs.analysis import RunStatistics
from benchmark.sections import recovery
from benchmark.sections.section import Section

__all__ = ["SECTIONS", "Section", "Surface", "sections_of"]


class Surface(Flag):
    """Where sections are shown."""

    PAGE = auto()
    MARKDOWN = auto()


SECTIONS: tuple[tuple[Callable[[RunStatistics], Section | None], Surface], ...] = (
    (recovery.section, Surface.PAGE | Surface.MARKDOWN),
)
"""Every section in order, and where it is shown."""


def sections_of(statistics: RunStatistics, surface: Surface) -> list[Section]:
    """Return the sections of a run that a surface shows."""
    made = (make(statistics) for make, surfaces in SECTIONS if surface in surfaces)
    return [section for section in made if section is not None]
