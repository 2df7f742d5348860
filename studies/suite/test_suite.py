"""The findings of ``suite``: what they say is what the committed values give."""

from __future__ import annotations

import re

import pandas as pd
import pytest
import scipy.stats

from benchmark.columns import CELL_COLUMNS, EQUALIZE, RESTORE
from benchmark.experiment.plan import load_experiment
from benchmark.text.writing import plain_or_packed
from studies.suite import findings as suite

# The table of restoration of a large run takes some seconds.
pytestmark = pytest.mark.slow


def text() -> str:
    return re.sub(r"\s+", " ", suite.FINDINGS.read_text(encoding="utf-8"))


def test_every_dataset_counts_once() -> None:
    assert len(suite.run().results.drop_duplicates(list(CELL_COLUMNS))) == 7_650
    assert len(suite.run().failures) == 6
    assert len(suite.techniques()) == len(suite.independent()) == 11
    names = {dataset.name for dataset in load_experiment("suite").datasets}
    assert names - {*suite.independent()} == {"compas_violent", "student_mat", *suite.LEFT_OUT}


def test_what_is_said_of_both_goals_holds() -> None:
    told = suite.pooled().loc[suite.techniques()]
    assert set(suite.shown(suite.pooled(), f"{EQUALIZE}_gain")) == {*told.index} - {"repair"}
    assert told.loc["repair", f"{EQUALIZE}_gain"] < 0
    assert set(told["n"]) == {8}
    assert "Over datasets, none is shown to come nearer;" in text()
    assert "None is shown to be nearer than `refit_biased`." in suite.findings()[1].replace("\n ", "")
    for p in (told[f"{RESTORE}_gain_p"], told["restoration_distance_beyond_p"], suite.agreement_p()):
        assert p.min() > 0.1
    low, high = (suite.pooled().loc["none", f"restoration_distance_beyond_{end}"] for end in ("low", "high"))
    assert low < 0 < high


def test_p_values_are_of_students_test_and_holms_correction_of_eleven() -> None:
    told = suite.pooled()
    raw = {
        name: scipy.stats.ttest_1samp(suite.gains(RESTORE, name, suite.LEVEL, some), 0).pvalue
        for name in suite.techniques()
        for some in [suite.to_restore(suite.independent(), suite.LEVEL, suite.baselines()[name])]
    }
    first, second = sorted(raw, key=lambda name: raw[name])[:2]
    assert told.loc[first, "restore_gain_p"] == pytest.approx(11 * raw[first])
    assert told.loc[second, "restore_gain_p"] == pytest.approx(max(11 * raw[first], 10 * raw[second]))


def test_gains_differ_between_datasets_by_more_than_chance() -> None:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in suite.where_it_holds().split("\n")[2:]
    ]
    less = {technique for _, technique, _, _, between, chance, _ in rows if float(between) <= float(chance)}
    assert less == {"`repair`"}


def test_what_is_said_of_those_who_are_accepted_holds() -> None:
    told = suite.pooled().loc[suite.techniques()]
    assert set(suite.shown(suite.pooled(), "given_back_beyond")) == {
        *("prejudice_remover", "reweighing", "uniform_sampling", "preferential_sampling", "massaging"),
        *("reject_option", "threshold_optimizer"),
    }
    assert "seven of eleven techniques are shown to give back more" in text()
    assert told["given_back_value"].idxmax() == told[RESTORE].idxmax() == "reject_option"
    assert (told["given_back_value"] > told["given_back_refit_biased"]).drop("repair").all()


def test_the_deprived_lose_and_the_favored_pay() -> None:
    losers = suite.deprived_among_losers()
    assert list(losers.index[losers < 0.8]) == ["adult"]
    told = suite.pooled().loc[suite.techniques()].drop("repair")
    assert (told["given_back_deprived_value"] > told["given_back_favored_value"].fillna(0)).all()
    assert (told["paid_deprived_value"] < told["paid_favored_value"]).all()
    more = set(suite.shown(suite.pooled(), "paid_favored_beyond"))
    assert more == {"massaging", "preferential_sampling", "prejudice_remover"}


def test_closed_gaps_do_not_bring_accuracy_back() -> None:
    every = suite.pairs(suite.moved(), own_baseline=False)
    near = suite.closed(every)
    assert (len(suite.moved()), len(near)) == (9, 42)
    assert "repair" not in set(near["technique"])


def test_reweighing_closes_the_gap_on_compas_and_does_not_bring_accuracy_back() -> None:
    results = pd.read_csv(plain_or_packed(suite.FOLDER.parent / "techniques" / "results.csv"))
    results = results[(results["dataset"] == "compas") & (results["classifier"] == "c45")]
    means = results.groupby(["metric", "technique", "level"])["value"].mean()
    gap, accuracy = means["discrimination"], means["accuracy"]
    clean, biased, treated = (("none", 0.0), ("none", 0.1), ("reweighing", 0.1))
    assert (gap[biased] - gap[treated]) / (gap[biased] - gap[clean]) == pytest.approx(1.38, abs=0.005)
    back = (accuracy[treated] - accuracy[biased]) / (accuracy[clean] - accuracy[biased])
    assert back == pytest.approx(0.20, abs=0.005)
