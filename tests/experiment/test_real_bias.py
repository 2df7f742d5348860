"""The experiment ``real_bias`` on the real data: its rates are solved, its labels and people stay apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmark.columns import ORIGINAL
from benchmark.data.source import Sources
from benchmark.experiment.draws import draw_folds, split
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.plan import Block, load_experiment
from benchmark.experiment.prepare import PreparedDataset, PreparedExperiment, prepare_experiment
from studies.real_bias import findings as real_bias

# By how much people widen the gap between the groups; below 0 they narrow it.
DOSES = {
    "school_10": 0.1145,
    "school_12": 0.1051,
    "recidivism_50": -0.1314,
    "recidivism_40": -0.1337,
    "recidivism_60": -0.1344,
    "ru_audit": 0.0815,
    "resume_audit": 0.0320,
}
JUDGED = [name for name in DOSES if "audit" not in name]


@pytest.fixture(scope="module")
def prepared(data_dir: Path) -> PreparedExperiment:
    experiment = narrow(load_experiment("real_bias"), techniques=["none"])
    return prepare_experiment(expand(experiment), Sources(data_dir, offline=True), require_real_data=True)


@pytest.mark.real_data
def test_the_doses_are_those_of_people(prepared: PreparedExperiment) -> None:
    for name, data in prepared.datasets.items():
        assert round(real_bias.measured_dose(data), 4) == DOSES[name]
        people = real_bias.biases()[name][0]
        added = data.expected(people, 1.0).discrimination - data.expected(people, 0.0).discrimination
        assert added == pytest.approx(real_bias.measured_dose(data), abs=1e-12)


@pytest.mark.real_data
def test_the_rates_of_planted_kinds_are_those_that_add_as_much(prepared: PreparedExperiment) -> None:
    written = {
        (dataset.name, bias.name): bias.steps[0].parameters["rate"]
        for dataset in load_experiment("real_bias").datasets
        for bias in dataset.bias
        if "rate" in bias.steps[0].parameters
    }
    found = {(dataset, kind): f"{rate:.12g} * beta" for dataset, kind, rate in real_bias.rates(prepared)}
    assert found == written
    assert len(found) == 12
    for name, kind in found:
        data = prepared.datasets[name]
        added = data.expected(kind, 1.0).discrimination - data.expected(kind, 0.0).discrimination
        assert added == pytest.approx(real_bias.measured_dose(data), abs=1e-6)
        assert float(written[name, kind].split()[0]) < 0.95


@pytest.mark.real_data
def test_flips_change_the_gap_as_people_do(prepared: PreparedExperiment) -> None:
    for name in JUDGED:
        data = prepared.datasets[name]
        flipped, judged = (data.expected(bias, 1.0).discrimination for bias in ("flips", "judged"))
        assert flipped == pytest.approx(judged, abs=1e-9)
        assert data.judged is not None
        assert (data.judged.shares(data.test) > 0.1).all()  # people err about both groups and both labels


@pytest.mark.real_data
@pytest.mark.parametrize("name", JUDGED)
def test_judges_and_persons_are_never_on_both_sides(prepared: PreparedExperiment, name: str) -> None:
    data = prepared.datasets[name]
    judged = data.judged
    assert judged is not None
    for repetition in range(prepared.experiment.repetitions):
        tested = []
        for train, test in split(data, 0.0, repetition):
            assert not {*judged.judges[train]} & {*judged.judges[test]}
            assert not {*judged.persons[train]} & {*judged.persons[test]}
            tested += [*judged.persons[test]]
        assert sorted(tested) == sorted({*judged.persons})


def blocks(
    prepared: PreparedExperiment, data: PreparedDataset, bias: str, beta: float
) -> Iterator[tuple[np.ndarray, ...]]:
    for fold in draw_folds(data, Block(data.entry.name, bias, beta, 0)):
        truth = fold.tests[ORIGINAL].truth
        yield fold.train.codes, fold.train.y, truth.y, fold.tests[ORIGINAL].seen.codes


@pytest.mark.real_data
@pytest.mark.parametrize("name", JUDGED)
def test_no_judged_label_is_tested_and_no_true_one_is_trained_on(
    prepared: PreparedExperiment, name: str
) -> None:
    data = prepared.datasets[name]
    judged, label = data.judged, data.test.schema.label
    assert judged is not None
    labels = data.test.codes[:, data.test.schema.label_index]
    other_judgement = replace(data, judged=replace(judged, favorable=~judged.favorable))
    other_truth = replace(data, test=data.test.with_column(label, 1 - labels))
    for own, judgement, truth in zip(
        *(blocks(prepared, made, "judged", 1.0) for made in (data, other_judgement, other_truth)),
        strict=True,
    ):
        np.testing.assert_array_equal(own[0], truth[0])
        np.testing.assert_array_equal(own[1], ~judgement[1])
        np.testing.assert_array_equal(own[2], judgement[2])
        np.testing.assert_array_equal(own[2], ~truth[2])
        np.testing.assert_array_equal(own[3], judgement[3])
        np.testing.assert_array_equal(own[3], truth[3])
    # No planted bias knows what people judged.
    for bias in real_bias.biases()[name][2:]:
        for own, judgement in zip(
            *(blocks(prepared, made, bias, 1.0) for made in (data, other_judgement)), strict=True
        ):
            np.testing.assert_array_equal(own[0], judgement[0])


def test_where_people_draw_the_line_is_as_was_said_before_the_run() -> None:
    cuts = {entry.name: entry.find_card() for entry in load_experiment("real_bias").datasets}
    found = {}
    for name in JUDGED:
        card = cuts[name]
        assert card.judged is not None
        found[name] = card.judged.label.bins[1], getattr(card.columns[card.label], "bins", (None, None))[1]  # type: ignore[union-attr]
    assert found == {
        "school_10": (10, 10),
        "school_12": (12, 12),
        "recidivism_50": (50, None),
        "recidivism_40": (40, None),
        "recidivism_60": (60, None),
    }
