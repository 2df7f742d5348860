"""Discrimination against accuracy of each technique, drawn from committed results while the site is built."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmark.columns import TEST_TITLES
from benchmark.figures.marks import signs_of
from benchmark.figures.page import Page
from benchmark.figures.style import GREY, render, styled
from benchmark.figures.tradeoff import TRADEOFF, Limits, draw_tradeoff_panel, points_of, tradeoff_limits
from benchmark.runs.finished import RunFrames, read_frames
from benchmark.runs.manifest import DatasetDescription
from benchmark.statistics.answers import constant_on
from benchmark.statistics.cells import SCENARIO
from benchmark.tables.techniques import DEGENERATE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENTS", "ShownRun", "draw_technique", "shown_runs", "technique_figures"]

EXPERIMENTS = ("paper", "techniques")
"""Experiments with committed results that pages of techniques show."""

_HOW = (
    "Discrimination against accuracy. Dots: single repetitions; outlined: the mean of each β, hollow where "
    "the classifier answers nearly everybody, or each group, the same. Gray line: the baseline. Red, "
    "dash-dotted: accuracy of the best constant answer, where it is near."
)


@dataclass(frozen=True)
class _Place:
    """A dataset under one bias and one classifier: a column of panels."""

    heading: str
    baseline: str
    points: pd.DataFrame
    limits: Limits
    constant: float
    hollow: frozenset[tuple[str, float]]


@dataclass(frozen=True)
class ShownRun:
    """A finished run, and what is drawn of it.

    Parameters
    ----------
    run : RunFrames
        The run.
    """

    run: RunFrames

    @property
    def methods(self) -> dict[str, list[str]]:
        """By registered technique, the names under which the run has it."""
        found: dict[str, list[str]] = {}
        for technique in self.run.manifest.techniques:
            found.setdefault(technique.technique, []).append(technique.name)
        return found

    @cached_property
    def places(self) -> tuple[_Place, ...]:
        """The columns of panels, in the run's order."""
        return tuple(
            self._place(dataset, heading, key)
            for dataset in self.run.manifest.datasets
            for heading, key in _keys(self.run.results, dataset)
        )

    def _place(self, dataset: DatasetDescription, heading: str, key: tuple[str, ...]) -> _Place:
        def own(frame: pd.DataFrame) -> pd.DataFrame:
            columns = zip(SCENARIO, (dataset.name, *key), strict=True)
            return frame.loc[pd.concat([frame[c].eq(v) for c, v in columns], axis=1).all(axis=1)]

        points = points_of(own(self.run.results))
        constant = constant_on(dataset.best_constant, key[-1], key[0])
        return _Place(
            heading=heading,
            baseline=dataset.baseline,
            points=points,
            limits=tradeoff_limits(points, constant.accuracy if constant else math.nan),
            constant=constant.accuracy if constant else math.nan,
            hollow=frozenset(signs_of(own(self.run.standing), signs=[DEGENERATE])),
        )


def _keys(results: pd.DataFrame, dataset: DatasetDescription) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield a heading, and names of bias, classifier and test, for each scenario of a dataset."""
    own = results.loc[results["dataset"] == dataset.name, list(SCENARIO[1:])].drop_duplicates()
    for key in own.itertuples(index=False, name=None):
        # Naming the only bias, classifier or test would be noise.
        named = [name for name, column in zip(key, own, strict=True) if own[column].nunique() > 1]
        yield ", ".join([dataset.name, *(TEST_TITLES.get(name, name) for name in named)]), key


def shown_runs(root: Path) -> tuple[ShownRun, ...]:
    """Read the runs of :data:`EXPERIMENTS` whose results a source tree has."""
    folders = [root / "results" / name for name in EXPERIMENTS]
    found = [folder for folder in folders if (folder / "manifest.json").is_file()]
    return tuple(ShownRun(read_frames(folder, TRADEOFF)) for folder in found)


def technique_figures(runs: Sequence[ShownRun], technique: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield file name, text and content in PNG of each figure of a technique.

    Parameters
    ----------
    runs : sequence of ShownRun
        From :func:`shown_runs`; one in which the technique was not tried gives no figure.
    technique : str
        Its registered name.
    """
    for run in runs:
        if technique in run.methods and (figure := draw_technique(run, technique)):
            text = f"{technique}: discrimination against accuracy, {run.run.manifest.name}"
            yield f"{technique}_{run.run.manifest.name}.png", text, render(figure, "png")


def draw_technique(run: ShownRun, technique: str) -> Figure | None:
    """Draw a technique on each dataset on which it has values: a row for each of the run's parametrisations.

    Returns
    -------
    Figure or None
        None if the technique has no value.
    """
    names = run.methods[technique]
    places = [place for place in run.places if place.points["technique"].isin(names).any()]
    tried = pd.concat([place.points["technique"] for place in places]) if places else ()
    names = [name for name in names if name in set(tried)]
    if not names:
        return None
    titles = [f"{run.run.manifest.titles[name]}, {place.heading}" for name in names for place in places]
    with styled():
        page = Page(
            len(titles),
            len(places),
            panel=(2.1, 1.6),
            title=run.run.manifest.title,
            subtitle=_HOW,
            panel_titles=titles,
        )
        panels = [(name, place) for name in names for place in places]
        for axes, (name, place) in zip(page.panels, panels, strict=True):
            own = place.points[place.points["technique"] == name]
            if own.empty:
                axes.text(0.5, 0.5, "no value", transform=axes.transAxes, ha="center", color=GREY)
            baseline = place.points[(place.points["technique"] == place.baseline) & (name != place.baseline)]
            draw_tradeoff_panel(axes, own, baseline, place.limits, place.constant, place.hollow)
        page.name_axes(*TRADEOFF, y_alike=False)  # limits differ between datasets
        page.add_beta_colorbar(run.run.manifest.levels)
    return page.fit()
