"""Sections on a finished run: one module for each question, and the surfaces that show it.

A module has a function from the statistics of a run to a :class:`Section`, or to None if it does not apply.
To add a section, write such a module and a line in :data:`SECTIONS`. :mod:`benchmark.render` and the template
``run/section.html`` of :mod:`benchmark.pages` show any section.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Flag, auto

from benchmark.runs.analysis import RunStatistics
from benchmark.sections import (
    answers,
    certainty,
    data,
    failures,
    first_look,
    frontier,
    gaps,
    hidden,
    holds_up,
    methods,
    ranks,
    regenerate,
    restoration,
    tuning,
    use,
)
from benchmark.sections.section import Section

__all__ = ["SECTIONS", "Section", "Surface", "sections_of"]


class Surface(Flag):
    """A place where sections are shown."""

    PAGE = auto()  # the tabs of report.html besides that of results
    MARKDOWN = auto()  # statistics/README.md
    CONSOLE = auto()  # betabench report
    QUICK = auto()  # betabench quick


SECTIONS: tuple[tuple[Callable[[RunStatistics], Section | None], Surface], ...] = (
    (first_look.section, Surface.QUICK),
    (answers.section, Surface.MARKDOWN),
    (answers.short_section, Surface.CONSOLE),
    (hidden.section, Surface.PAGE | Surface.MARKDOWN),
    (holds_up.section, Surface.MARKDOWN),
    (restoration.section, Surface.PAGE | Surface.MARKDOWN),
    (gaps.section, Surface.PAGE | Surface.MARKDOWN),
    (tuning.section, Surface.PAGE | Surface.MARKDOWN),
    (frontier.section, Surface.PAGE | Surface.MARKDOWN),
    (ranks.section, Surface.PAGE | Surface.MARKDOWN),
    (certainty.section, Surface.PAGE | Surface.MARKDOWN),
    (data.section, Surface.PAGE),
    (methods.section, Surface.PAGE),
    (failures.section, Surface.PAGE | Surface.MARKDOWN),
    (regenerate.section, Surface.PAGE),
    (use.section, Surface.PAGE | Surface.MARKDOWN | Surface.QUICK),
)
"""Every section in order, with its surfaces."""


def sections_of(statistics: RunStatistics, surface: Surface) -> list[Section]:
    """Return the sections of a run that a surface shows."""
    sections = (make(statistics) for make, surfaces in SECTIONS if surface in surfaces)
    return [section for section in sections if section is not None]
