"""Made-up tables of an atlas in worlds whose truth is known."""

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.atlas.features import FEATURE_COLUMNS
from benchmark.atlas.file import Atlas
from benchmark.atlas.means import MEAN_COLUMNS
from benchmark.atlas.tables import FEATURES, MANIFEST, MEANS
from benchmark.text.writing import csv_text

TOLD = "gap_weights"
"""The technique that is told the gap."""

TECHNIQUES = ("none", "drop_sensitive", "massaging", "reweighing", "threshold_optimizer", TOLD)
KINDS, DOSES, HALVES = ("label", "selection"), (0.05, 0.1), ("odd", "even")

ATLAS = Atlas.model_validate(
    {
        "kind": "atlas",
        "name": "made_up",
        "title": "A made-up atlas",
        "version": "1",
        "shared": {"datasets": ["compas"], "techniques": list(TECHNIQUES), "paired_betas": True},
        "parts": {"core": {"bias": list(KINDS), "doses": list(DOSES)}},
    }
)

Gain = Callable[[str, str, float], float]
"""Gain of a technique over doing nothing, by technique, kind and the dataset's rate of favorable labels."""


def by_kind(technique: str, kind: str, rate: float) -> float:
    """In this world the kind of bias decides which technique helps."""
    return 0.06 if technique == {"label": "massaging", "selection": "reweighing"}[kind] else 0.0


def by_rate(technique: str, kind: str, rate: float) -> float:
    """In this world the rate of favorable labels decides which technique helps."""
    return 0.06 if technique == ("massaging" if rate > 0.5 else "reweighing") else 0.0


def alike(technique: str, kind: str, rate: float) -> float:
    """In this world leaving the group out helps a little, and no technique that knows nothing helps more."""
    return {"none": 0.0, TOLD: 0.05}.get(technique, 0.02)


def write_atlas(folder: Path, gain: Gain, *, n_clusters: int = 9, doses: Sequence[float] = DOSES) -> Path:
    """Write the tables of a world to a folder, and return it."""
    rng = np.random.default_rng(1)
    means, features = [], []
    for number in range(n_clusters):
        dataset, rate, odd = f"data{number}", 0.2 + 0.6 * number / max(n_clusters - 1, 1), number % 2
        for kind, dose in itertools.product(KINDS, doses):
            place = {
                "version": "1",
                "part": "core",
                "dataset": dataset,
                "card": dataset,
                "cluster": dataset,
                "bias": kind,
            }
            place |= {"level": dose, "unit": "dose"}
            features.append(
                place
                | {"rows": 10_000 if odd else 100, "columns": 8, "share_deprived": 0.7 if odd else 0.1}
                | {"rate_deprived": max(rate - dose - 0.1 * odd, 0.01), "rate_favored": rate}
                | {"group_auc": 1.0 if odd else 0.4, "label_auc": 1.0 if odd else 0.4, "strongest_proxy": 0.2}
            )
            for half, technique in itertools.product(HALVES, TECHNIQUES):
                value = 0.1 - gain(technique, kind, rate) + rng.normal(0, 0.002)
                means.append(
                    place
                    | {"beta": 0.3, "pooled": 1, "classifier": "c45", "technique": technique}
                    | {"knows": "gap" if technique == TOLD else "nothing", "half": half, "n": 5, "missing": 0}
                    | {"restoration_distance": value, "distance": value, "agreement": 0.95 - value / 2}
                    | {"accuracy": 0.8 + rng.normal(0, 0.002), "accepted": 0.5, "accepted_deprived": 0.4}
                    | {"accepted_favored": 0.6, "reason_restore": "", "reason_equalize": ""}
                )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MEANS).write_text(csv_text(pd.DataFrame(means)[list(MEAN_COLUMNS)]))
    (folder / FEATURES).write_text(csv_text(pd.DataFrame(features)[list(FEATURE_COLUMNS)]))
    entries = {name: {"technique": name} for name in TECHNIQUES}
    entries[TOLD]["told"] = {"fact": "gap"}
    manifest = {"atlas": json.loads(ATLAS.model_dump_json()), "parts": {"core": {"entries": entries}}}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return folder
