"""The findings of ``tuning``: what they say is what the committed values give."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from benchmark.columns import EQUALIZE, RESTORE
from benchmark.experiment.expand import expand
from benchmark.experiment.plan import load_experiment, plan_blocks
from studies.tuning import findings as tuning
from studies.tuning.findings import MEASURES, NOTHING, OWN, change, choices, fits, pooled, same_setting, shown

pytestmark = pytest.mark.slow


def text() -> str:
    return re.sub(r"\s+", " ", tuning.FINDINGS.read_text(encoding="utf-8"))


def test_every_cell_has_a_value_or_a_reason() -> None:
    blocks = plan_blocks(expand(load_experiment("tuning")).experiment)
    results = tuning.run().results
    cells = results[results["metric"] == "accuracy"]
    planned = sum(len(block.cells) for block in blocks)
    assert len(cells) == cells["value"].notna().sum() + len(tuning.run().failures)
    # Refits of each learner are cells of the experiment besides those that are planned.
    assert len(cells) >= planned
    assert set(tuning.run().failures["technique"].str.removesuffix("_oracle")) == {
        *("optimized_preprocessing", "optimized_preprocessing_tuned", "optimized_preprocessing_tuned_clean")
    }


def test_what_is_said_of_biased_and_clean_rows_holds() -> None:
    for measure in MEASURES:
        assert shown(measure, "biased", "clean") == []
    assert "is not shown to cost accuracy, to leave more discrimination, or to decide less" in text()
    # At dose 0 both are the same rows with the same labels.
    assert pooled(same_setting(), "c45", 0.0).all()
    assert pooled(same_setting(), OWN, 0.0).all()


def test_what_is_said_of_the_default_setting_holds() -> None:
    helped = shown(EQUALIZE, "biased", "default")
    assert set(helped) == {*((OWN, dose) for dose in (0, 0.05, 0.1)), ("c45", 0), ("c45", 0.1)}
    assert all(change(EQUALIZE, "biased", "default", *where)[2] < 0 for where in helped)
    assert "shown to help with learners of their own** at every dose" in text()
    assert "With C4.5 that is shown at 0 and 0.1." in text()
    worse = shown(RESTORE, "biased", "default")
    assert set(worse) == {(OWN, 0.05), (OWN, 0.1)}
    assert all(change(RESTORE, "biased", "default", *where)[1] > 0 for where in worse)
    assert len(shown(RESTORE, "biased", NOTHING)) == 4
    for learner in tuning.LEARNERS:
        for dose in (0.05, 0.1):
            assert change(RESTORE, "biased", NOTHING, learner, dose)[0] > 0


def test_a_dose_that_takes_nearly_all_there_is_is_in_no_mean() -> None:
    assert tuning.run().manifest.apart == [("bank", "label", 0.1)]
    for learner, n in (("c45", (23, 18)), (OWN, (16, 12))):
        assert (fits(learner, 0.05), fits(learner, 0.1)) == n
    pooled_rows = tuning.regret()
    pooled_rows = pooled_rows[(pooled_rows["dataset"] == "") & (pooled_rows["level"] == 0.1)]
    assert set(pooled_rows["n_techniques"]) == {18, 12}


def test_a_change_is_a_mean_over_repetitions_of_means_over_fits() -> None:
    """By hand from the files, with the correction for 30 % of the rows held out."""
    own = pd.read_csv(tuning.FOLDER / "tuning.csv.xz")
    own = own[(own["level"] == 0.1) & (own["classifier"] != "c45") & (own["dataset"] != "bank")]
    wide = own.pivot(index=["dataset", "of", "repetition"], columns="chosen_on", values="discrimination")
    means = (wide["biased"].abs() - wide["default"].abs()).groupby("repetition").mean()
    value, low, high = change(EQUALIZE, "biased", "default", OWN, 0.1)
    assert value == pytest.approx(means.mean())
    half = 2.7764451 * means.std() * (1 / 5 + 3 / 7) ** 0.5
    assert (high - low) / 2 == pytest.approx(half, rel=1e-6)
    assert len(choices().columns) == len(MEASURES) * 5
