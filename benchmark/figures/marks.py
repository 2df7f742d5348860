"""Marks of figures with their words: signs of useless techniques, lines of reference, missing values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from benchmark.figures import Choice
from benchmark.figures.style import Look
from benchmark.runs.descriptions import DatasetDescription
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION, ConstantAnswer, random_accuracy
from benchmark.tables.numbers import DEGENERATE, MEANINGS, standing_signs
from benchmark.wording import vocabulary
from benchmark.wording.described import all_planted, provenance, repetitions

WITHOUT_VALUE = "Without a value (failures.csv says why)"
"""Stands before the names of techniques."""

CONSTANT_LINE: Look = {"color": "#A02020", "lw": 1.0, "ls": (0, (7, 2, 1.5, 2)), "zorder": 1.4}
"""Look of the line at the accuracy of the best constant answer."""

_RANDOM_MARK: dict[str, Any] = {
    "color": "#A02020",
    "marker": "+",
    "ms": 6,
    "mew": 1.2,
    "zorder": 2.8,
    "gid": "random",
}
_FRONTIER_LINE: dict[str, Any] = {"lw": 0.9, "ls": (0, (3, 2)), "zorder": 1.45, "gid": "frontier"}
_REACH = 0.5


def titles_of(rows: pd.DataFrame, run: Manifest, choice: Choice) -> dict[str, str]:
    """Return the titles of the chosen techniques among those in some rows by name."""
    tried = set(rows["technique"])
    names = choice.of_techniques(name for name in run.titles if name in tried)
    return {name: run.titles[name] for name in names}


def signs_of(
    standing: pd.DataFrame, signs: Collection[str] = tuple(MEANINGS)
) -> dict[tuple[str, float], str]:
    """Return the sign of each technique and level of bias in a scenario's standings that has one of some."""
    cells = zip(standing["technique"], standing["beta"], standing_signs(standing), strict=True)
    return {(technique, beta): own for technique, beta, own in cells if own in signs}


def meanings(signs: Iterable[str], look: str = "") -> list[str]:
    """Return a note on the meaning of some signs; ``look`` is how degenerate techniques are drawn."""
    used, drawn = set(signs), {DEGENERATE: f" ({look})"} if look else {}
    words = [f"{own}{drawn.get(own, '')} {text}" for own, text in MEANINGS.items() if own in used]
    return [f"{'; '.join(words)}."] if words else []


def tested(dataset: DatasetDescription, run: Manifest) -> str:
    """Return test data and number of repetitions, for a subtitle."""
    source = provenance(dataset)
    return f"{source[0].upper()}{source[1:]}; {repetitions(run)}"


def subtitle(scenario: Scenario, run: Manifest, explanation: str) -> str:
    """Return a figure's subtitle: test data, repetitions, learner, and an explanation of the figure."""
    return f"{tested(scenario.dataset, run)}; classifier {scenario.classifier}. {explanation}".strip()


def notes_on(*datasets: DatasetDescription) -> list[str]:
    """Return notes on planted bias and warnings, with the dataset's heading where they are several."""
    known = {dataset.name: dataset for dataset in datasets}.values()
    return [
        f"{dataset.heading}: {note}" if len(known) > 1 else note
        for dataset in known
        for note in (all_planted(dataset), dataset.warning and f"Warning: {dataset.warning}")
        if note
    ]


def missing_note(lacking: Mapping[str, Iterable[float]], run: Manifest) -> list[str]:
    """Return a note on techniques, by title, that lack values at some levels of bias."""
    texts = [f"{title} at {run.level_text(*levels)}" for title, levels in lacking.items() if list(levels)]
    return [f"{WITHOUT_VALUE}: {'; '.join(texts)}."] if texts else []


def is_near(level: float, values: ArrayLike) -> bool:
    """Return whether a level is at most half the values' span away, so that an axis can show both."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return False
    reach = _REACH * float(np.ptp(finite))
    return bool(finite.min() - reach <= level <= finite.max() + reach)


def constant_text(answer: ConstantAnswer | None, *, drawn: bool) -> str:
    """Return a sentence on the line of the best constant answer, or on one beyond the axis."""
    if answer is None:
        return ""
    where = "Red, dash-dotted" if drawn else "Beyond the axis"
    return f"{where}: accuracy of the best constant answer ({answer.accuracy:.3f})."


def frontier_text(answer: ConstantAnswer | None, one_each: str = "") -> str:
    """Return sentences on what :func:`draw_frontiers` draws."""
    lot = "" if answer is None else f" Red cross: accepting by lot ({random_accuracy(answer.accuracy):.3f})."
    return (
        f"Dashed{one_each}: the unprocessing frontier, thresholds by group on the scores of the most "
        f"accurate classifier without mitigation.{lot}"
    )


def draw_frontiers(axes: Axes, curves: pd.DataFrame, constant: float, colors: Mapping[float, Any]) -> None:
    """Draw unprocessing frontiers in the color of their level of bias, and the answer by lot."""
    for beta, color in colors.items():
        curve = curves[curves["beta"] == beta]
        axes.plot(curve[DISCRIMINATION], curve[ACCURACY], color=color, **_FRONTIER_LINE)
    axes.plot(0, random_accuracy(constant), **_RANDOM_MARK)


def not_weighed(undo: Iterable[str]) -> list[str]:
    """Return the labels of the reasons why comparisons with a clean model are not weighed."""
    return [str(vocabulary()["reason"][code]["label"]) for code in dict.fromkeys(undo) if code]
