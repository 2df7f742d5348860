"""The experiment ``real_bias`` on the real data: its rates are solved, its labels and people stay apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.data.source import Sources
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.plan import load_experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
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
