"""The page of a run and ``betabench report --baseline`` agree on every baseline that a reader can choose."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.columns import OWN
from benchmark.pages.payload import page_numbers
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.other_baselines import with_each_baseline
from benchmark.statistics.hypothesis_tests import N_FLIPS
from benchmark.text.spreadsheet import csv_text
from tests.helpers.statistics_folder import write_folder

REPETITIONS = 15
OWN_LEARNERS = {"zafar": "reweighing", "zafar_free": "none"}
"""Techniques with a learner of their own, and whose values with C4.5 they have."""
NAMED = ("massaging", "reweighing", "repair_0.5", "zafar", "zafar_free")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run: on one dataset a technique is the baseline, on the other each one's own learner."""
    folder = write_folder(tmp_path_factory.mktemp("run"), repetitions=REPETITIONS)
    results = pd.read_csv(folder / "results.csv")
    second = results[results["dataset"] == "two"]
    own = [
        second[second["technique"] == like].assign(technique=name, classifier=OWN)
        for name, like in OWN_LEARNERS.items()
    ]
    (folder / "results.csv").write_text(csv_text(pd.concat([results, *own])))
    manifest = json.loads((folder / "manifest.json").read_text())
    experiment = manifest["experiment"]
    experiment["datasets"][0]["baseline"] = "massaging"
    experiment["datasets"][1]["baseline"] = OWN
    experiment["techniques"] += [{"technique": name, "name": name, "title": name} for name in OWN_LEARNERS]
    manifest["own_baselines"] = dict.fromkeys(OWN_LEARNERS, "zafar_free")
    manifest["cells"]["planned"] += len(pd.concat(own)) // second["metric"].nunique()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def carried(folder: Path) -> list[dict[str, Any]]:
    """Return the scenarios of the page that carries all baselines that it can."""
    shown: list[dict[str, Any]] = page_numbers(with_each_baseline(folder_statistics(folder), NAMED))[
        "scenarios"
    ]
    return shown


def p_values(scenario: dict[str, Any], baseline: str) -> np.ndarray:
    found = np.frombuffer(base64.b64decode(scenario["compared"][baseline]["p"]), dtype="<f8")
    return np.sort(found[np.isfinite(found)])


def test_the_page_carries_what_is_declared_doing_nothing_and_what_is_named(
    carried: list[dict[str, Any]],
) -> None:
    offered = {(own["dataset"], own["classifier"]): list(own["against"]) for own in carried}
    assert offered == {
        ("one", "c45"): ["massaging", "none", "reweighing", "repair_0.5"],
        ("two", "c45"): ["none", "massaging", "reweighing", "repair_0.5"],
        ("two", OWN): [OWN, "zafar", "zafar_free"],
    }


@pytest.mark.parametrize("baseline", [None, "none", *NAMED])
def test_page_and_report_agree(folder: Path, carried: list[dict[str, Any]], baseline: str | None) -> None:
    report: RunStatistics = folder_statistics(folder, baseline=baseline)
    assert 2**REPETITIONS > N_FLIPS, "signs are drawn at random"
    assert "sampled" in set(report.comparisons["p_method"])
    alone = page_numbers([report])["scenarios"]
    for there, here, scenario in zip(alone, carried, report.scenarios, strict=True):
        ((key, expected),) = there["against"].items()
        assert here["compared"][key] == there["compared"][key]
        first = next(iter(here["against"].values()))["goals"]
        shown = here["against"][key]
        goals = {
            goal: {**own, "fields": first[goal]["fields"] | own["fields"]}
            for goal, own in shown["goals"].items()
        }
        assert {**shown, "goals": goals} == expected
        rows = scenario.rows(report.comparisons)
        np.testing.assert_array_equal(p_values(here, key), np.sort(rows["p_paired_holm"].dropna()))
