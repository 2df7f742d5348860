"""Ten cells or more of committed runs, computed again: the present code gives the committed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.api import run
from benchmark.cli import main
from benchmark.experiment.plan import load_experiment
from benchmark.runs.finished import read_frames
from benchmark.text.writing import plain_or_packed
from studies.source_means import DRAWN, committed, experiment

RESULTS = Path(__file__).resolve().parent.parent / "results"
KEYS = ["dataset", "bias", "level", "technique", "classifier", "repetition", "test", "metric"]
RELABELLED = ("massaging", "reweighing", "uniform_sampling", "preferential_sampling")
UNTREATED = ("none", "drop_sensitive")


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("run", "betas", "techniques", "more"),
    [
        ("learners", (), (*UNTREATED, *RELABELLED, "zafar_2015"), ("c45", "naive_bayes")),
        ("tuning", (), ("none", "massaging", "repair", "randomized_threshold_optimizer"), ()),
        ("suite", (0.2, 0.4), (*UNTREATED, *RELABELLED), ()),
        ("techniques", (), (*UNTREATED, *RELABELLED), ("c45",)),
    ],
    ids=lambda own: own if isinstance(own, str) else "",
)
def test_computing_again_gives_the_committed_numbers(
    run: str,
    betas: Sequence[float],
    techniques: Sequence[str],
    more: Sequence[str],
    data_dir: Path,
    tmp_path: Path,
    in_this_process: None,
) -> None:
    words = ["run", "--experiment", run, "--datasets", "compas", "--repetitions", "1", "--offline"]
    words += ["--techniques", *techniques, "--no-figures", "--workers", "1"]
    words += ["--betas", *map(str, betas)] if betas else []
    words += ["--classifiers", *more] if more else []
    main([*words, "--data-dir", str(data_dir), "--output", str(tmp_path)])
    committed = pd.read_csv(plain_or_packed(RESULTS / run / "results.csv")).set_index(KEYS)["value"]
    again = pd.read_csv(tmp_path / "results.csv").set_index(KEYS)["value"]
    assert len(again.groupby(["level", "technique", "classifier"])) >= 10
    pd.testing.assert_series_equal(again, committed.loc[again.index], rtol=1e-9)


@pytest.mark.nightly
@pytest.mark.real_data
@pytest.mark.parametrize("source", [entry.name for entry in load_experiment("sources").datasets])
def test_drawn_cells_of_a_source_are_computed_again(
    source: str, data_dir: Path, tmp_path: Path, in_this_process: None
) -> None:
    drawn = committed("drawn")
    assert drawn is not None
    drawn = drawn[drawn["dataset"] == source].set_index(KEYS)["value"]
    assert len(drawn.groupby(["bias", "level", "technique", "classifier"])) == DRAWN
    techniques = {*drawn.index.get_level_values("technique")} - {"refit_clean", "refit_biased"}
    run(
        experiment("doses", [source]),
        techniques=sorted({*techniques, "none", "prejudice_remover"}),
        repetitions=1,
        data_dir=data_dir,
        offline=True,
        output=tmp_path,
        workers=1,
        progress=False,
    )
    again = read_frames(tmp_path).results.set_index(KEYS)["value"]
    np.testing.assert_allclose(again.loc[drawn.index], drawn, rtol=1e-6, atol=1e-9)
