"""Techniques with learners of their own in one scenario, each beside doing nothing with its learner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import TechniqueDescription
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.own_learners import OWN_LEARNERS, Names, names_together, renamed
from benchmark.statistics.cells import Baselines

_FRAMES = (
    *("answers", "comparisons", "everything", "failures", "groups", "intervals", "judged", "restoration"),
    *("results", "standing", "undo", "frontier_gaps"),
)


def together(statistics: RunStatistics, classifier: str = "") -> RunStatistics:
    """Return statistics in which all techniques with learners of their own have one scenario.

    It is that of the other techniques if these train a single classifier, unless a ``classifier`` is given.
    What the techniques are compared with has the name of the learner.
    """
    if not (names := names_together(statistics.run, statistics.everything)):
        return statistics
    classifier = classifier or _shared(statistics.run, statistics.everything)
    frames: dict[str, Any] = {name: renamed(getattr(statistics, name), names, classifier) for name in _FRAMES}
    by = dict.fromkeys(((dataset, OWN_LEARNERS) for dataset, _ in statistics.baselines.by), "")
    by |= statistics.baselines.by
    run = _described(statistics.run, names)
    return replace(statistics, run=run, baselines=Baselines(by), **frames)


def frames_together(frames: RunFrames, answers: pd.DataFrame) -> tuple[RunFrames, pd.DataFrame]:
    """Return the same of a run without statistics, and of its answers."""
    if not (names := names_together(frames.manifest, frames.results)):
        return frames, answers
    classifier = _shared(frames.manifest, frames.results)
    parts: dict[str, Any] = {
        name: renamed(getattr(frames, name), names, classifier) for name in ("results", "failures", "summary")
    }
    run = replace(frames, manifest=_described(frames.manifest, names), **parts)
    return run, renamed(answers, names, classifier)


def _shared(run: Manifest, results: pd.DataFrame) -> str:
    """Return the classifier that all other techniques train, or a name for these if there are several."""
    shared = set(results["classifier"]) - run.learners
    return shared.pop() if len(shared) == 1 else OWN_LEARNERS


def _described(run: Manifest, names: Names) -> Manifest:
    """Return the manifest with the techniques that have other names in the facts."""
    titles, learner_of = run.titles, {c.name: c.learner_of for c in run.experiment.classifiers}
    more = [
        TechniqueDescription(
            other, f"{titles.get(name, name)} ({learner_of[learner] or learner})", technique=name
        )
        for learner, others in names.items()
        for name, other in others.items()
    ]
    techniques = (*run.techniques, *more)
    return run.model_copy(update={"experiment": run.experiment.model_copy(update={"techniques": techniques})})
