"""What a run finds in its folder: why the results there are others, and whether its own would lose some."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.experiment.expand import expand
from benchmark.experiment.plan import Experiment
from benchmark.runs.comparison import earlier_results
from benchmark.runs.manifest import settings_of

DECLARED: dict[str, Any] = {
    "name": "mine",
    "datasets": [{"card": "compas", "bias": "label"}, {"card": "adult", "bias": "label"}],
    "techniques": ["none", "massaging", "zafar_2015"],
    "classifiers": ["c45", "naive_bayes"],
    "doses": [0.05, 0.1],
    "paired_betas": True,
    "train": "data",
    "holdout": 0.3,
    "repetitions": 3,
    "metrics": ["paper", "restoration"],
}
MIXED = {"mixed_learners": True}
NOTHING = {"techniques": ["none", "massaging", "zafar_2015", {"technique": "none", "name": "nothing"}]}
OTHER = {**NOTHING, "datasets": [{**dataset, "baseline": "nothing"} for dataset in DECLARED["datasets"]]}
RATES = {"deprived": 0.4, "favored": 0.5}
KNOWN = {"datasets": [{**dataset, "true_rates": RATES} for dataset in DECLARED["datasets"]]}
MOVED = {"datasets": [{**DECLARED["datasets"][0], "bias": "selection"}, DECLARED["datasets"][1]]}
PLAIN, SET = (
    {"techniques": ["none", {"technique": "repair", "parameters": parameters}]}
    for parameters in ({}, {"level": 0.3})
)
STRONG = {"classifiers": ["c45", {"classifier": "naive_bayes", "parameters": {"alpha": 2.0}}]}


def expanded(**changes: Any) -> Experiment:
    return expand(Experiment(**{**DECLARED, **changes})).experiment


@pytest.mark.parametrize(
    ("before", "now", "differing", "lost"),
    [
        ({}, {}, (), False),
        ({}, {"title": "Other", "time_limit": 5.0}, (), False),
        ({}, KNOWN, (), False),
        (NOTHING, OTHER, ("another baseline",), False),
        (OTHER, NOTHING, ("another baseline",), False),
        ({}, MIXED, ("other mixed_learners",), True),
        ({}, {"repetitions": 4}, ("other repetitions",), False),
        ({"repetitions": 4}, {}, ("other repetitions",), True),
        ({}, {"doses": [0.1]}, ("other doses",), True),
        ({"doses": [0.1]}, {}, ("other doses",), False),
        ({}, {"hidden": [0.0, 0.05]}, ("other hidden gaps",), False),
        ({"hidden": [0.0, 0.05]}, {}, ("other hidden gaps",), True),
        ({}, {"techniques": ["none", "massaging"]}, ("other techniques",), True),
        ({"techniques": ["none", "massaging"]}, {}, ("other techniques",), False),
        ({}, {"datasets": DECLARED["datasets"][:1]}, ("other datasets",), True),
        ({"datasets": DECLARED["datasets"][:1]}, {}, ("other datasets",), False),
        ({}, {"classifiers": ["c45"]}, ("other classifiers",), True),
        (PLAIN, SET, ("other parameters",), True),
        (SET, PLAIN, ("other parameters",), True),
        ({}, STRONG, ("other parameters",), True),
        ({}, {"metrics": ["paper"]}, ("other metrics",), True),
        ({}, {"seed": 3}, ("another seed",), True),
        ({}, {"train_rows": 300}, ("other train_rows",), True),
        ({}, MOVED, ("other kinds of bias",), True),
        ({}, {"datasets": [{**DECLARED["datasets"][0], "techniques": ["none"]}, DECLARED["datasets"][1]]},
         ("other techniques",), True),
    ],
)  # fmt: skip
def test_what_differs_is_what_is_named(
    before: dict[str, Any], now: dict[str, Any], differing: tuple[str, ...], lost: bool, tmp_path: Path
) -> None:
    written = settings_of(expanded(**before))
    (tmp_path / "manifest.json").write_text(json.dumps({"experiment": written}))
    earlier = earlier_results(tmp_path, expanded(**now), {})
    assert earlier is not None
    assert (earlier.differing, earlier.lost) == (differing, lost)


@pytest.mark.parametrize(("before", "now", "lost"), [(True, False, True), (False, True, False)])
def test_networks_do_not_replace_real_data(before: bool, now: bool, lost: bool, tmp_path: Path) -> None:
    manifest = {"experiment": settings_of(expanded()), "real_data": {"adult": before}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    earlier = earlier_results(tmp_path, expanded(), {"adult": now, "compas": False})
    assert earlier is not None
    assert earlier.lost == lost
    assert ("embedded networks" in earlier.which) == lost


@pytest.mark.parametrize("name", ["alternation", "mine"])
def test_results_of_another_kind_are_others(name: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"experiment": {"name": name, "doses": [0.1]}}))
    earlier = earlier_results(tmp_path, expanded(), {})
    assert earlier is not None
    assert (earlier.which, earlier.lost) == (repr(name), True)
