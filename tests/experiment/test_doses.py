"""An experiment of doses, from its file to its folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchmark
from benchmark.columns import DOSE_COLUMNS
from benchmark.errors import BetabenchError
from benchmark.experiment import engine
from benchmark.experiment.expand import lite, narrow
from benchmark.experiment.plan import Experiment
from benchmark.report.statistics_files import write_statistics
from benchmark.runs.analysis import folder_statistics
from benchmark.runs.finished import read_frames
from benchmark.runs.manifest import Manifest
from tests.helpers.engines import InProcess
from tests.helpers.protocol import keys, made

GIVEN: dict[str, Any] = {
    "name": "dosed",
    "seed": 3,
    "repetitions": 3,
    "paired_betas": True,
    "train": "data",
    "holdout": 0.3,
    "bias": "label",
    "datasets": ["german", "ricci"],
    "techniques": ["none", "drop_sensitive"],
}
DOSED = {**GIVEN, "doses": [0.05, 0.1, 0.4]}  # of Ricci's deprived group .3 have the favorable label


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    output = tmp_path_factory.mktemp("dosed")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(output)
        patch.setattr(engine, "LocalEngine", InProcess)
        run = benchmark.run(Experiment(**DOSED), output=output, figures=False, progress=False)
        write_statistics(output / "statistics", folder_statistics(output), figures=False)
        yield run.folder


def test_files_have_the_dose_and_its_beta(folder: Path) -> None:
    results = pd.read_csv(folder / "results.csv")
    assert list(results.columns[:4]) == ["dataset", "bias", "level", "beta"]
    levels = results[["dataset", "level", "beta"]].drop_duplicates()
    assert sorted(levels.loc[levels["dataset"].str.startswith("ricci"), "level"]) == [0, 0.05, 0.1]
    assert sorted(levels.loc[levels["dataset"].str.startswith("german"), "level"]) == [0, 0.05, 0.1, 0.4]
    assert not levels.duplicated(["dataset", "beta"]).any()
    assert (levels.loc[levels["level"] == 0, "beta"] == 0).all()
    for name in ("summary", "failures", "decisions"):
        assert list(pd.read_csv(folder / f"{name}.csv").columns[2:4]) == ["level", "beta"], name


def test_each_dose_has_its_line_and_what_it_added_to_each_sample(folder: Path) -> None:
    doses = pd.read_csv(folder / "doses.csv")
    assert tuple(doses.columns) == DOSE_COLUMNS
    reached = doses[doses["beta"].notna()]
    assert np.allclose(reached["gap"], reached["level"], atol=1e-6)
    assert (reached.groupby(["dataset", "level"])["added"].count() == 3).all()
    means = reached.groupby(["dataset", "level"])["added"].mean()
    assert np.allclose(means, means.index.get_level_values("level"), atol=0.08)
    far = doses[doses["beta"].isna()]
    assert far["dataset"].str.startswith("ricci").all()
    assert far["level"].tolist() == [0.4]
    assert far["reason"].str.contains("adds more than").all()
    assert (far["gap"] < 0.4).all()


def test_what_is_read_back_is_by_dose(folder: Path) -> None:
    run = read_frames(folder)
    assert run.manifest.levels == (0.0, 0.05, 0.1, 0.4)
    assert run.manifest.level_text(0.05) == "dose 0.05"
    assert set(run.results["level"]) == {0.0, 0.05, 0.1, 0.4}
    answers = pd.read_csv(folder / "statistics" / "answers.csv")
    assert "level" in answers.columns


def test_cells_are_those_of_the_same_betas() -> None:
    """A dose is the β that was solved for it: what is stored of the one is found by the other."""
    dosed = made(**{**GIVEN, "datasets": ["german"], "doses": [0.05]})
    beta = dosed.datasets["german"].beta_of("label", 0.05)
    levels = made(**{**GIVEN, "datasets": ["german"], "betas": [0.0, beta]})
    assert list(keys(dosed).values()) == list(keys(levels).values())


def test_a_network_has_doses_as_well() -> None:
    asked = {**GIVEN, "train": "network", "holdout": None, "datasets": ["german"], "doses": [0.1]}
    data = made(**asked).datasets["german"]
    beta = data.beta_of("label", 0.1)
    added = data.expected("label", beta).discrimination - data.expected("label", 0.0).discrimination
    assert added == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"bias": "random_selection", "datasets": ["german"]}, r"'random_selection'.*adds no label gap"),
        ({"bias": "judged", "datasets": ["school_performance"]}, "For judged labels, no β can be solved"),
        (
            {"bias": "score", "datasets": ["ricci"], "train": "network", "holdout": None},
            "needs the number behind the label",
        ),
    ],
)
def test_a_bias_without_doses_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(BetabenchError, match=words):
        made(**{**GIVEN, "doses": [0.1], **fields})


def test_ranks_pool_the_doses_that_a_level_adds_and_across_doses_two_of_them(folder: Path) -> None:
    ranks = pd.read_csv(folder / "statistics" / "ranks.csv")
    one = ranks[(ranks["over"] == "dataset") & (ranks["metric"] == "discrimination")]
    n_datasets = one.groupby("level")["n_datasets"].max()
    assert n_datasets.to_dict() == {0.0: 2, 0.05: 2, 0.1: 2, 0.4: 1}  # which Ricci does not reach
    across = ranks[(ranks["over"] == "dataset level") & (ranks["metric"] == "discrimination")]
    assert set(across["n_blocks"]) == {4}  # .05 and .10 on both datasets


def test_a_trial_has_the_greatest_dose_and_levels_on_the_command_line_take_their_place() -> None:
    whole = Experiment(**DOSED)
    assert lite(whole).levels == (0.0, 0.4)
    assert narrow(whole, betas=[0, 0.5]).levels == (0.0, 0.5)
    assert narrow(whole, doses=[0.1]).levels == (0.0, 0.1)
    of_betas = Experiment(**GIVEN, betas=[0.0, 0.5])
    for experiment, betas in ((whole, [0.0]), (of_betas, None)):
        with pytest.raises(BetabenchError, match="Doses cannot be chosen here"):
            narrow(experiment, betas=betas, doses=[0.1])


def test_a_manifest_without_doses_is_as_it_was(folder: Path) -> None:
    manifest = Manifest.read(folder / "manifest.json", "again")
    assert manifest.unit == "dose"
    plain = manifest.model_copy(update={"experiment": manifest.experiment.model_copy(update={"doses": ()})})
    frame = pd.DataFrame({"dataset": ["german"], "bias": ["label"], "level": [0.5]})
    assert plain.in_files(frame) is frame
