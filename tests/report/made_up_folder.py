"""A made-up folder of a finished run, with names that would break a careless page."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import FAILURE_COLUMNS, RESULT_COLUMNS
from benchmark.pages.run import write_page
from benchmark.runs.analysis import folder_statistics
from benchmark.runs.summary import SUMMARY_COLUMNS
from benchmark.text.spreadsheet import csv_text

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


def made_up_results() -> pd.DataFrame:
    """Return values of both datasets; the technique ``gone`` has none at all."""
    rng = np.random.default_rng(1)
    rows = []
    for dataset, beta, technique, repetition, metric in itertools.product(
        ("adult", "dutch:embedded"), BETAS, list(TECHNIQUES)[:3], range(REPETITIONS), METRICS
    ):
        shift = {"none": 0.0, "plain": -0.2, "hostile": 0.1}[technique]
        value = 0.5 + (0.3 * beta + shift) * (1 if metric == "discrimination" else -1)
        where = (dataset, "cpt", beta, technique, "c45", repetition, "original", metric)
        rows.append((*where, value + 0.02 * rng.normal()))
    results = pd.DataFrame(rows, columns=list(RESULT_COLUMNS))
    lost = (results["technique"] == "plain") & (results["beta"] == 1.0) & (results["repetition"] == 0)
    results.loc[lost & (results["metric"] == "accuracy"), "value"] = np.nan
    return results


def made_up_shares() -> pd.DataFrame:
    """Return the shares accepted, in the same cells: those of useful classifiers."""
    cells = made_up_results().query("metric == 'accuracy'")
    shares = {"accepted": 0.4, "accepted_deprived": 0.3, "accepted_favored": 0.5}
    return pd.concat([cells.assign(metric=name, value=value) for name, value in shares.items()])


def made_up_failures() -> pd.DataFrame:
    rows = [
        (dataset, "cpt", beta, "gone", "c45", repetition, "", "", "skipped", REASON)
        for dataset in ("adult", "dutch:embedded")
        for beta in BETAS
        for repetition in range(REPETITIONS)
    ]
    rows += [
        (dataset, "cpt", 1.0, "plain", "c45", 0, "original", "accuracy", "undefined", f"only {n} rows")
        for n, dataset in enumerate(("adult", "dutch:embedded"))
    ]
    return pd.DataFrame(rows, columns=list(FAILURE_COLUMNS))


def made_up_manifest(techniques: Mapping[str, str] = MappingProxyType(TECHNIQUES)) -> dict[str, Any]:
    def dataset(card: str, baseline: str, attribute: str) -> dict[str, Any]:
        edit = {"attribute": attribute, "group": "x", "direction": "deprive"}
        return {
            "card": card,
            "name": card,
            "baseline": baseline,
            "columns": {},
            "bias": [{"kind": "cpt", "name": "cpt", "edits": [edit]}],
        }

    def facts(card: str, edges: list[str], embedded: bool) -> dict[str, Any]:
        return {
            "card": card,
            "card_digest": "c" * 64,
            "test_data": "sample of the learned network" if embedded else "real data",
            "embedded": embedded,
            "test_digest": "d" * 64,
            "test_rows": 4000,
            "train_rows": 2000,
            "warning": f"beware {CLOSING}" if embedded else None,
            "network": {"digest": "e" * 64, "edges": edges, "free_parameters": 3},
            "bias": {
                "cpt": {
                    "kind": "cpt",
                    "edits": [f"P(y+ | {SCRIPT})"],
                    "acting": [] if embedded else [f"P(y+ | {SCRIPT})"],
                    "network_discrimination_by_beta": {str(beta): 0.1 + beta / 8 for beta in BETAS},
                }
            },
        }

    return {
        "experiment": {
            "name": "made_up",
            "title": f"Made up {SCRIPT}",
            "seed": 7,
            "repetitions": REPETITIONS,
            "betas": BETAS,
            "datasets": [dataset("adult", "plain", "relationship"), dataset("dutch", "none", "sex")],
            "techniques": [
                {"technique": name, "name": name, "title": title, "parameters": {"level": SCRIPT}}
                for name, title in techniques.items()
            ],
            "classifiers": [{"classifier": "c45", "name": "c45"}],
        },
        "code": {"harness": "a" * 64, "plugins": ["mine.py"]},
        "datasets": {
            "adult": facts("adult", ["age -> relationship", "relationship -> income"], False),
            "dutch:embedded": facts("dutch", ["sex -> age"], True),
        },
        "cells": {"planned": 72, "computed_in_this_run": 72, "skipped": 36},
        "durations_in_seconds": {"this_run": 30.0, "all_cells": 90.0},
        "versions": {"python": "3.11.7", "betabench": "0.1.0"},
        "platform": {"system": "Linux", "cores": 2},
        "finished": "2026-01-02T03:04:05+00:00",
    }


def write_made_up_folder(folder: Path, manifest: dict[str, Any] | None = None) -> Path:
    """Write the files of a run that the page is made from, and return the folder."""
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest or made_up_manifest()))
    (folder / "results.csv").write_text(csv_text(pd.concat([made_up_results(), made_up_shares()])))
    (folder / "failures.csv").write_text(csv_text(made_up_failures()))
    (folder / "summary.csv").write_text(csv_text(pd.DataFrame(columns=list(SUMMARY_COLUMNS))))
    return folder


def write_made_up_page(folder: Path, baselines: Sequence[str] = ()) -> Path:
    """Write the page of a run's folder, with more baselines to choose, and return it."""
    return write_page(folder, folder_statistics(folder), baselines)
