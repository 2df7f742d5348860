"""Figures: functions from a run's numbers to a matplotlib figure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from benchmark.errors import UnknownNameError

if TYPE_CHECKING:
    from benchmark.figures.page import Page


@dataclass(frozen=True)
class Choice:
    """What a figure shows, and its width; by default everything, below its title and above its notes."""

    metrics: Sequence[str] | None = None  # in the figure's order; all if None
    techniques: Sequence[str] | None = None  # likewise
    width: float | None = None  # inches; as wide as its panels if None
    caption: bool = True  # whether title, subtitle and notes are drawn

    def of_metrics(self, names: Iterable[str] = ()) -> list[str]:
        """Return the chosen of a figure's metrics; another name is an UnknownNameError."""
        return _chosen("metric", self.metrics, list(names))

    def of_techniques(self, names: Iterable[str] = ()) -> list[str]:
        """Return the chosen of a figure's techniques; another name is an UnknownNameError."""
        return _chosen("technique", self.techniques, list(names))


EVERYTHING = Choice()
WIDTHS = {"column": 3.3, "page": 6.9}
"""Widths on paper in inches."""

Drawing: TypeAlias = "tuple[str, Callable[..., Page]]"
"""The name of a figure's files without their ending, and the function that draws it, given ``choice=``."""


def _chosen(kind: str, chosen: Sequence[str] | None, names: list[str]) -> list[str]:
    if chosen is None:
        return names
    for name in chosen:
        if name not in names:
            raise UnknownNameError(f"{kind} of this figure", name, names)
    return list(dict.fromkeys(chosen))
