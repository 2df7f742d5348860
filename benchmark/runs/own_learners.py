"""Names of techniques with learners of their own, where all of them stand together."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from benchmark.columns import UNTREATED
from benchmark.runs.manifest import Manifest

OWN_LEARNERS = "own learners"
"""The classifier of these techniques where they stand together."""

Names = Mapping[str, Mapping[str, str]]
"""For each learner, the techniques with other names there."""


def names_together(run: Manifest, results: pd.DataFrame) -> Names:
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


def renamed(frame: pd.DataFrame, names: Names, classifier: str = OWN_LEARNERS) -> pd.DataFrame:
    """Return a frame in which these techniques have one classifier."""
    if "classifier" not in frame.columns or not (own := frame["classifier"].isin(list(names))).any():
        return frame
    frame = frame.copy()
    for column in frame.columns.intersection(["technique", "baseline", "clean_model"]):
        pairs = zip(frame.loc[own, "classifier"], frame.loc[own, column], strict=True)
        frame.loc[own, column] = [names[learner].get(name, name) for learner, name in pairs]
    frame.loc[own, "classifier"] = classifier
    return frame
