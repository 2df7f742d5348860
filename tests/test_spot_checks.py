"""Ten cells or more of committed runs, computed again: the present code gives the committed numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from benchmark.cli import main
from benchmark.text.writing import plain_or_packed

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
