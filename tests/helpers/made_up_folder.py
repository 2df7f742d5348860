"""A made-up folder of a finished run, with names that would break a careless page."""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import FAILURE_COLUMNS
from benchmark.data.card import load_card
from benchmark.runs.analysis import folder_statistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest, metric_description
from benchmark.statistics.answers import ACCEPTANCE
from benchmark.text.writing import csv_text
from tests.helpers.facts import write_page
from tests.helpers.made_up_runs import Cells, facts_of_run, frames_of

SCRIPT = "<script>document.title='run'</script>"
CLOSING = "</script><img src=x onerror=document.title='run'>"
TECHNIQUES = {
    "none": "No technique",
    "plain": "Plain, with a comma",
    "hostile": SCRIPT,
    "gone": '=1+1 "quoted" & <b>bold</b>',
}
BETAS = (0.0, 0.5, 1.0)
METRICS = ("discrimination", "accuracy", "from_elsewhere")
REPETITIONS = 6
REASON = f"no row is left {CLOSING}"


def made_up_frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return results and failures of both datasets; the technique ``gone`` has no values at all."""
    rng = np.random.default_rng(1)

    def cells() -> Cells:
        where = ("adult", "dutch:embedded"), ("cpt",), BETAS, TECHNIQUES, range(REPETITIONS)
        for cell in itertools.product(*where):
            dataset, _, beta, technique, repetition = cell
            if technique == "gone":
                yield cell, REASON
                continue
            gain = 0.3 * beta + {"none": 0.0, "plain": -0.2, "hostile": 0.1}[technique]
            values: dict[str, Any] = {
                metric: 0.5 + gain * (1 if metric == "discrimination" else -1) + 0.02 * rng.normal()
                for metric in METRICS
            }
            if (technique, beta, repetition) == ("plain", 1.0, 0):
                values["accuracy"] = f"only {int(dataset != 'adult')} rows"
            # the shares accepted by useful classifiers
            yield cell, values | {"accepted": 0.4, "accepted_deprived": 0.3, "accepted_favored": 0.5}

    return frames_of(cells())


def made_up_manifest(techniques: Mapping[str, str] = MappingProxyType(TECHNIQUES)) -> dict[str, Any]:
    def dataset(card: str, baseline: str, attribute: str) -> dict[str, Any]:
        edit = {"attribute": attribute, "group": "x", "direction": "deprive"}
        return {
            "card": card,
            "name": card,
            "baseline": baseline,
            "columns": {},
            "bias": [{"name": "cpt", "steps": [{"kind": "cpt", "parameters": {"edits": [edit]}}]}],
        }

    def facts(name: str, edges: list[str], embedded: bool) -> dict[str, Any]:
        card = load_card(name)
        acting = [edge for edge in edges if edge == f"relationship -> {card.label}"]
        return {
            **card.roles,
            "title": card.title if name == card.name else f"{card.title} ({name})",
            "columns": list(card.columns),
            "card": name,
            "card_digest": "c" * 64,
            "test_data": "sample of the learned network" if embedded else "real data",
            "embedded": embedded,
            "test_digest": "d" * 64,
            "test_rows": 4000,
            "train_rows": 2000,
            "warning": f"beware {CLOSING}" if embedded else None,
            "network": {
                "digest": "e" * 64,
                "edges": edges,
                "edited_edges": acting,
            },
            "bias": {
                "cpt": {
                    "kind": "cpt",
                    "description": "no edit acts" if embedded else f"P(y+ | {SCRIPT})",
                    "edits": [f"P(y+ | {SCRIPT})"],
                    "acting": [] if embedded else [f"P(y+ | {SCRIPT})"],
                    "network_discrimination_by_beta": {str(beta): 0.1 + beta / 8 for beta in BETAS},
                }
            },
        }

    experiment = {
        "title": f"Made up {SCRIPT}",
        "seed": 7,
        "repetitions": REPETITIONS,
        "betas": BETAS,
        "datasets": [dataset("adult", "plain", "relationship"), dataset("dutch", "none", "sex")],
        "techniques": [
            {"technique": name, "name": name, "title": title, "parameters": {"level": SCRIPT}}
            for name, title in techniques.items()
        ],
    }
    return facts_of_run(
        {
            "adult": facts("adult", ["age -> relationship", "relationship -> income"], False),
            "dutch:embedded": facts("dutch", ["sex -> age"], True),
        },
        techniques,
        experiment=experiment,
        code={"harness": "a" * 64, "plugins": ["mine.py"]},
        stages=dict.fromkeys(techniques, "pre"),
        metrics=[vars(metric_description(name)) for name in (*METRICS, *ACCEPTANCE)],
        headline=list(METRICS[:2]),
        cells={"planned": 72, "computed_in_this_run": 72, "skipped": 36},
        durations_in_seconds={"this_run": 30.0, "all_cells": 90.0},
        versions={"python": "3.11.7", "betabench": "0.1.0"},
        platform={"system": "Linux", "cores": 2},
        finished="2026-01-02T03:04:05+00:00",
    )


def write_made_up_folder(folder: Path, manifest: dict[str, Any] | None = None) -> Path:
    """Write the files of a run that the page is made from, and return the folder."""
    return write_run_folder(folder, manifest or made_up_manifest(), *made_up_frames())


def write_run_folder(
    folder: Path, manifest: dict[str, Any], results: pd.DataFrame, failures: pd.DataFrame | None = None
) -> Path:
    """Write manifest, results, failures and summary of a run to a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    failures = pd.DataFrame(columns=list(FAILURE_COLUMNS)) if failures is None else failures
    run = RunFrames.of(Manifest.read(folder / "manifest.json"), results, failures)
    for name, frame in (("results", results), ("failures", failures), ("summary", run.summary)):
        (folder / f"{name}.csv").write_text(csv_text(frame))
    return folder


def write_made_up_page(folder: Path) -> Path:
    """Write the page of a run's folder, and return it."""
    return write_page(folder, folder_statistics(folder))
