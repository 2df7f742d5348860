"""Techniques with learners of their own, together: each beside doing nothing with its learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from benchmark.columns import UNTREATED
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import TechniqueDescription
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.statistics.cells import Baselines

OWN_LEARNERS = "own learners"
"""The classifier of these techniques in the facts."""

_FRAMES = (
    *("answers", "comparisons", "everything", "failures", "groups", "intervals", "judged", "restoration"),
    *("results", "standing", "undo", "frontier_gaps"),
)


def together(statistics: RunStatistics) -> RunStatistics:
    """Return statistics in which all techniques with learners of their own have one scenario.

    There, what they are compared with has the name of the learner.
    """
    if not (names := _names(statistics.run, statistics.everything)):
        return statistics
    frames: dict[str, Any] = {name: _renamed(getattr(statistics, name), names) for name in _FRAMES}
    by = {**statistics.baselines.by}
    by |= {(dataset, OWN_LEARNERS): "" for dataset, classifier in by if classifier in statistics.run.learners}
    run = _described(statistics.run, names)
    return replace(statistics, run=run, baselines=Baselines(by), **frames)


def frames_together(frames: RunFrames, answers: pd.DataFrame) -> tuple[RunFrames, pd.DataFrame]:
    """Return the same of a run without statistics, and of its answers."""
    if not (names := _names(frames.manifest, frames.results)):
        return frames, answers
    renamed: dict[str, Any] = {
        name: _renamed(getattr(frames, name), names) for name in ("results", "failures", "summary")
    }
    run = replace(frames, manifest=_described(frames.manifest, names), **renamed)
    return run, _renamed(answers, names)


Names = Mapping[str, Mapping[str, str]]
"""For each learner, the techniques with other names in the facts."""


def _names(run: Manifest, results: pd.DataFrame) -> Names:
    """Return names that tell apart what is trained with several learners; doing nothing has the learner's."""
    tried = results.loc[results["classifier"].isin(run.learners), ["classifier", "technique"]]
    tried = tried.drop_duplicates()
    several = set(tried.loc[tried["technique"].duplicated(), "technique"]) - {UNTREATED}
    return {
        str(learner): {
            UNTREATED: str(learner),
            **{name: f"{name} with {learner}" for name in techniques if name in several},
        }
        for learner, techniques in tried.groupby("classifier", sort=False)["technique"]
    }


def _renamed(frame: pd.DataFrame, names: Names) -> pd.DataFrame:
    if "classifier" not in frame.columns or not (own := frame["classifier"].isin(list(names))).any():
        return frame
    frame = frame.copy()
    for column in frame.columns.intersection(["technique", "baseline", "clean_model"]):
        pairs = zip(frame.loc[own, "classifier"], frame.loc[own, column], strict=True)
        frame.loc[own, column] = [names[learner].get(name, name) for learner, name in pairs]
    frame.loc[own, "classifier"] = OWN_LEARNERS
    return frame


def _described(run: Manifest, names: Names) -> Manifest:
    """Return the manifest with the techniques that have other names in the facts."""
    titles, learner_of = run.titles, {c.name: c.learner_of for c in run.experiment.classifiers}
    more = [
        TechniqueDescription(
            other, f"{titles.get(name, name)} ({learner_of[learner] or learner})", technique=name
        )
        for learner, renamed in names.items()
        for name, other in renamed.items()
    ]
    techniques = (*run.techniques, *more)
    return run.model_copy(update={"experiment": run.experiment.model_copy(update={"techniques": techniques})})
