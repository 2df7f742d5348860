"""The command that computes a run again names what differs from the shipped experiment."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from benchmark.experiment.plan import load_experiment
from benchmark.facts.all import commands
from benchmark.runs.manifest import Manifest
from tests.helpers.made_up_folder import made_up_manifest

LISTED = [entry.name for entry in load_experiment("real_rows").techniques]


def command(names: list[str], plugins: list[str]) -> str:
    manifest: dict[str, Any] = made_up_manifest(dict.fromkeys(names, "Title"))
    manifest["experiment"]["name"] = "real_rows"
    manifest["code"]["plugins"] = plugins
    return commands(Manifest.model_validate(manifest))[0]


@pytest.mark.parametrize(
    ("names", "plugins", "chosen"),
    [
        (LISTED, [], None),
        ([*LISTED, "mine"], ["mine.py"], None),  # a plugin's techniques join by themselves
        ([*LISTED, "smote"], [], [*LISTED, "smote"]),
        (["none", "massaging"], [], ["none", "massaging"]),
        (["none", "mine", "yours"], ["mine.py"], ["none", "mine", "yours"]),
    ],
)
def test_techniques_are_named_unless_they_join_by_themselves(
    names: list[str], plugins: list[str], chosen: list[str] | None
) -> None:
    words = command(names, plugins).split()
    assert ("--plugin" in words) is bool(plugins)
    assert ("--techniques" in words) is (chosen is not None)
    if chosen is not None:
        first = words.index("--techniques") + 1
        assert words[first : first + len(chosen)] == chosen
        assert words[first + len(chosen)].startswith("--")


def test_an_experiment_beside_its_card_is_named_by_its_path(tmp_path: Path) -> None:
    manifest: dict[str, Any] = made_up_manifest({"none": "Title"})
    manifest["experiment"]["name"] = "loans"
    for entry in manifest["experiment"]["datasets"]:
        entry["card"] = str(tmp_path / "card.toml")
    run = Manifest.model_validate(manifest)
    assert shlex.split(commands(run)[0])[3] == "loans.toml"
    beside = tmp_path / "experiment.toml"
    beside.write_text('name = "others"\n')
    assert shlex.split(commands(run)[0])[3] == "loans.toml"
    beside.write_text('name = "loans"\n')
    assert shlex.split(commands(run)[0])[3] == beside.as_posix()


def test_a_run_without_a_card_is_named_by_its_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "experiment.toml").write_text('name = "loans"\n')
    manifest: dict[str, Any] = made_up_manifest({"none": "Title"})
    manifest["experiment"]["name"] = "loans"
    for entry in manifest["experiment"]["datasets"]:
        entry["card"] = ""
    assert shlex.split(commands(Manifest.model_validate(manifest))[0])[3] == "loans.toml"
