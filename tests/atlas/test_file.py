"""The file of an atlas: its parts are experiments, and its clusters hold each card once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.atlas.file import Atlas, load_atlas
from benchmark.atlas.recommenders import cluster_means
from benchmark.data.association import group_associations
from benchmark.data.load import load_dataset
from benchmark.data.source import Sources
from benchmark.errors import ExperimentError, UnknownNameError

SMALL: dict[str, Any] = {
    "kind": "atlas",
    "name": "small",
    "title": "Small",
    "version": "1",
    "shared": {"datasets": ["compas"], "techniques": ["none"], "bias": "label", "betas": [0.0]},
    "parts": {"one": {"seed": 1}, "two": {"seed": 2}},
}


def test_a_cluster_counts_its_files_equally_and_leaves_out_what_is_missing() -> None:
    frame = pd.DataFrame({"cluster": ["a", "a", "a", "b"], "dataset": ["one", "one", "two", "three"]})
    means = cluster_means(frame, np.array([0.0, 0.2, 0.5, np.nan]))[0]
    assert means["a"] == pytest.approx((0.1 + 0.5) / 2)
    assert np.isnan(means["b"])


def test_the_shipped_atlas_has_parts_that_advice_names() -> None:
    atlas = load_atlas("atlas")
    parts = atlas.chosen()
    assert {*atlas.advice} <= {*parts}
    assert "lite" not in parts
    assert list(atlas.chosen(lite=True)) == ["lite"]
    assert list(atlas.chosen(("people", "trees"))) == ["trees", "people"]
    for part in parts.values():
        assert part.paired_betas
        assert part.train == "data"
        assert part.techniques[0].name == "none"


def test_clusters_join_files_that_share_persons() -> None:
    atlas = load_atlas("atlas")
    assert atlas.cluster_of("compas_violent") == atlas.cluster_of("human_recidivism") == "compas"
    assert atlas.cluster_of("adult") != atlas.cluster_of("kdd_census")


def test_fields_of_a_part_replace_the_shared_ones() -> None:
    atlas = Atlas.model_validate(SMALL)
    assert [part.seed for part in atlas.experiments.values()] == [1, 2]
    assert [part.name for part in atlas.experiments.values()] == ["one", "two"]


def test_broken_parts_are_named_together() -> None:
    broken = {**SMALL, "parts": {"one": {"betas": [2.0]}, "two": {"techniques": 3}}}
    with pytest.raises(ExperimentError, match=r"break 2 rules(.|\n)*one: (.|\n)*two: "):
        Atlas.model_validate(broken).chosen()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clusters": {"a": ["x"], "b": ["x"]}}, "is in two clusters"),
        ({"advice": ["three"]}, "there is no part"),
    ],
)
def test_what_does_not_fit_is_said(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Atlas.model_validate({**SMALL, **changes})


def test_a_part_that_is_not_there_is_said() -> None:
    with pytest.raises(UnknownNameError, match="three"):
        Atlas.model_validate(SMALL).chosen(("three",))
    with pytest.raises(ExperimentError, match="has no part to try"):
        Atlas.model_validate(SMALL).chosen(lite=True)


@pytest.mark.nightly  # it protects the choice of the file's columns, which no longer changes
@pytest.mark.real_data
def test_measurement_acts_on_the_strongest_proxy_of_each_dataset(data_dir: Path) -> None:
    for entry in load_atlas("atlas").experiments["measurement"].datasets:
        table = load_dataset(entry.find_card(), Sources(data_dir)).table
        association = group_associations(table)
        [bias] = entry.bias
        assert bias.steps[0].parameters["column"] == max(association, key=lambda name: association[name])
