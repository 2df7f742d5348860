"""Marks of figures with their words: signs of techniques of no use, lines of reference, missing values."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from benchmark.columns import BLIND
from benchmark.figures import EVERYTHING, Choice
from benchmark.figures.style import Look, padded
from benchmark.runs.manifest import DatasetDescription, Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION, ConstantAnswer, random_accuracy
from benchmark.tables.techniques import DEGENERATE, MEANINGS, standing_signs
from benchmark.text.words import repetitions
from benchmark.wording import planted, provenance, vocabulary

CONSTANT_LINE: Look = {"color": "#A02020", "lw": 1.0, "ls": (0, (7, 2, 1.5, 2)), "zorder": 1.4}
"""Look of the line at the accuracy of the best constant answer."""

TOLD = "#FBF1E2"
"""Background of panels with techniques that are told something about the bias."""

ESTIMATE: Look = {"mew": 1.1, "ms": 4.6}
"""Look of the mark of an estimate in a row."""

_RANDOM_MARK: Look = {"color": "#A02020", "marker": "+", "ms": 6, "mew": 1.2, "zorder": 2.8, "gid": "random"}
_FRONTIER_LINE: Look = {"lw": 0.9, "ls": (0, (3, 2)), "zorder": 1.45, "gid": "frontier"}


def titles_of(rows: pd.DataFrame, run: Manifest, choice: Choice = EVERYTHING) -> dict[str, str]:
    """Return the titles of the chosen techniques among those in some rows by name."""
    tried = set(rows["technique"])
    names = choice.of_techniques(name for name in run.titles if name in tried)
    return {name: run.titles[name] for name in names}


def parts_of(names: Sequence[str], run: Manifest) -> list[int]:
    """Return the positions at which techniques are told something else than those before."""
    knowledge = [run.knowledge[name] for name in names]
    return [i for i in range(1, len(knowledge)) if knowledge[i] != knowledge[i - 1]]


def told_notes(names: Iterable[str], run: Manifest, look: str = "Below a line") -> list[str]:
    """Return the note on techniques that are told something, and how they look; none without any."""
    words, told = vocabulary()["told"], any(run.knowledge[name] != BLIND for name in names)
    return [f"{look}: {words['heading'].lower()}. {words['choice']}"] * told


def signs_of(
    standing: pd.DataFrame, techniques: Iterable[str] | None = None, signs: Collection[str] = (*MEANINGS,)
) -> dict[tuple[str, float], str]:
    """Return the sign of each technique, or of some, at each level of bias in a scenario's standings.

    Others than the given signs, and none, are left out.
    """
    cells = zip(standing["technique"], standing["level"], standing_signs(standing), strict=True)
    known = set(standing["technique"] if techniques is None else techniques)
    return {(name, beta): own for name, beta, own in cells if own in signs and name in known}


def subtitle(scenario: Scenario, run: Manifest, explanation: str) -> str:
    """Return a figure's subtitle: test data, repetitions, learner, and an explanation of the figure."""
    source, samples = provenance(scenario.dataset), repetitions(run.repetitions)
    own = f"{source[0].upper()}{source[1:]}; {samples}; classifier {scenario.classifier}. {explanation}"
    return own.strip()


def notes(
    *shown: Scenario | DatasetDescription,
    signs: Iterable[str] = (),
    look: str = "",
    missing: Iterable[str] = (),
) -> list[str]:
    """Return the notes below a figure: signs, what has no value, planted bias, and warnings.

    A scenario has one bias, a dataset all of its own. ``look`` is how degenerate techniques are drawn.
    Several datasets are named, but not where all share a note.
    """
    used, drawn = set(signs), {DEGENERATE: f" ({look})"} if look else {}
    words = [f"{own}{drawn.get(own, '')} {text}" for own, text in MEANINGS.items() if own in used]
    owners: dict[str, dict[str, None]] = {}
    headings = set()
    for one in shown:
        dataset = one.dataset if isinstance(one, Scenario) else one
        kinds = (one.dataset.planted(one.bias),) if isinstance(one, Scenario) else one.bias
        headings.add(dataset.heading)
        biases = [planted(bias) for bias in kinds if bias.description]
        for note in (*biases, dataset.warning and f"Warning: {dataset.warning}"):
            if note:
                owners.setdefault(note, {})[dataset.heading] = None
    told = [
        note if len(own) == len(headings) else f"{'; '.join(own)}: {note}" for note, own in owners.items()
    ]
    heads = {"": words, "Without a value (failures.csv says why): ": list(missing)}
    return [*(f"{head}{'; '.join(parts)}." for head, parts in heads.items() if parts), *told]


def lacking(summary: pd.DataFrame, titles: Mapping[str, str], run: Manifest) -> list[str]:
    """Return the techniques with the levels of bias at which a scenario's summary lacks values."""
    empty = summary[summary["n"] == 0].groupby("technique")["level"].unique()
    gone = {name: run.level_text(*sorted(betas)) for name, betas in empty.items()}
    return [f"{title} at {gone[name]}" for name, title in titles.items() if name in gone]


def is_near(level: float, values: pd.Series | NDArray[np.float64]) -> bool:
    """Return whether a level is at most half the values' span away, so that an axis can show both."""
    low, high = padded(values, 0.5, 0.0)
    return len(values) > 0 and low <= level <= high


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
        f"Dashed{one_each}: the post-processing frontier, thresholds by group on the scores of the most "
        f"accurate classifier without mitigation.{lot}"
    )


def draw_frontiers(axes: Axes, curves: pd.DataFrame, constant: float, colors: Mapping[float, Any]) -> None:
    """Draw unprocessing frontiers in the color of their level of bias, and the answer by lot."""
    for beta, color in colors.items():
        curve = curves[curves["level"] == beta]
        axes.plot(curve[DISCRIMINATION], curve[ACCURACY], color=color, **_FRONTIER_LINE)
    axes.plot(0, random_accuracy(constant), **_RANDOM_MARK)


def not_weighed(effects: Iterable[str]) -> list[str]:
    """Return the labels of the reasons why comparisons with a clean model are not weighed."""
    return [str(vocabulary()["reason"][code]["label"]) for code in dict.fromkeys(effects) if code]


def draw_estimate(
    axes: Axes, y: float, estimate: Sequence[float], look: tuple[str, str], *, filled: bool, gid: str
) -> None:
    """Draw a value with the ends of its interval in a row, given marker and color."""
    (value, low, high), (marker, color) = estimate, look
    axes.hlines(y, low, high, color=color, lw=1.2, zorder=2, capstyle="projecting")
    axes.plot(value, y, marker, mfc=color if filled else "white", mec=color, zorder=3, gid=gid, **ESTIMATE)
