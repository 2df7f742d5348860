"""Sections on a finished run for the terminal: an older form of the texts of :mod:`benchmark.wording`."""

from __future__ import annotations

from collections.abc import Callable
from enum import Flag, auto

from benchmark.runs.analysis import RunStatistics
from benchmark.sections import answers, first_look, use
from benchmark.sections.section import Section

__all__ = ["SECTIONS", "Section", "Surface", "sections_of"]


class Surface(Flag):
    """A place where sections are shown."""

    CONSOLE = auto()  # betabench report
    QUICK = auto()  # betabench quick


SECTIONS: tuple[tuple[Callable[[RunStatistics], Section | None], Surface], ...] = (
    (first_look.section, Surface.QUICK),
    (answers.short_section, Surface.CONSOLE),
    (use.section, Surface.QUICK),
)
"""Every section in order, with its surfaces."""


def sections_of(statistics: RunStatistics, surface: Surface) -> list[Section]:
    """Return the sections of a run that a surface shows."""
    sections = (make(statistics) for make, surfaces in SECTIONS if surface in surfaces)
    return [section for section in sections if section is not None]
