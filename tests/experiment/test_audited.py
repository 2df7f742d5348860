"""Audits, in which chance decided who belongs to which group, in experiments."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.bias import make_bias
from benchmark.bias.doses import solve_doses
from benchmark.columns import ORIGINAL
from benchmark.data.card import load_card
from benchmark.data.source import Sources
from benchmark.errors import BetabenchError, BiasError
from benchmark.experiment.draws import Split, split_sizes
from benchmark.experiment.expand import check_experiment
from benchmark.experiment.plan import Experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Outcome
from benchmark.experiment.sample_files import SampleSource, write_sample
from benchmark.experiment.scoring import NO_TRUE_LABEL
from benchmark.metrics import get_metric
from benchmark.runs.describe import describe_run
from tests.helpers.cards import card_of
from tests.helpers.protocol import computed, folds, made, values

COLUMNS = {"skill": "little some much", "town": "north south", "name": "foreign native", "answered": "no yes"}
CARD = card_of("letters", "answered=yes", "name=foreign", COLUMNS)
PLANTED = ("label", "selection", "borderline")


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 800 letters, of which those with foreign names are answered less often."""
    folder, rng = tmp_path_factory.mktemp("letters"), np.random.default_rng(0)
    lines = ["skill,town,name,answered"]
    for _ in range(800):
        skill, town, foreign = rng.integers(3), rng.integers(2), rng.integers(2)
        answered = rng.random() < 0.15 + 0.3 * skill + 0.1 * town - 0.2 * foreign
        lines.append(
            f"{('little', 'some', 'much')[skill]},{('north', 'south')[town]},"
            f"{('native', 'foreign')[foreign]},{('no', 'yes')[int(answered)]}"
        )
    (folder / "letters.csv").write_text("\n".join(lines) + "\n")
    (folder / "letters.toml").write_text(CARD)
    return folder / "letters.toml"


def given(
    card: Path, *, audit: bool = True, bias: tuple[str, ...] = ("audited", *PLANTED), **fields: Any
) -> dict[str, Any]:
    return {
        "datasets": [{"card": str(card), "bias": list(bias), "audit": audit}],
        "techniques": ["none", "reweighing"],
        "betas": [0, 1],
        "paired_betas": True,
        "repetitions": 2,
        "seed": 3,
        "train": "data",
        "folds": 3,
        "metrics": ["paper", "restoration"],
        **fields,
    }


def check(card: Path, **fields: Any) -> None:
    check_experiment(Experiment(**given(card, **fields)))


@pytest.fixture(scope="module")
def prepared(card: Path) -> PreparedExperiment:
    return made(**given(card))


@pytest.fixture(scope="module")
def compared(card: Path) -> tuple[PreparedExperiment, Outcome]:
    """Return an experiment with the audit's bias and a planted one, and its results."""
    of = made(**given(card, bias=("audited", "label")))
    return of, computed(of)


def folds_of(prepared: PreparedExperiment, bias: str, beta: float) -> list[Split]:
    return folds(prepared, beta, bias=bias)


def without_group(fold: Split) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the test as they are seen, and in truth, without their group."""
    test = fold.tests[ORIGINAL]
    return tuple(np.delete(own.codes, own.schema.sensitive_index, axis=1) for own in (test.seen, test.truth))


def test_the_clean_model_learns_from_the_favored_group_alone(prepared: PreparedExperiment) -> None:
    data = prepared.datasets["letters"]
    favored = ~data.test.deprived
    everybody = []
    for fold in folds_of(prepared, "audited", 0.0):
        assert favored[fold.before_bias].all()
        assert not fold.train.deprived.any()
        np.testing.assert_array_equal(fold.train.codes, data.test.codes[fold.before_bias])
        # It answers as if everybody belonged to the group that it knows.
        assert not fold.tests[ORIGINAL].seen.deprived.any()
        everybody.append(fold.tests[ORIGINAL].truth)
    assert sum(map(len, everybody)) == len(data.test)  # rows of both groups are tested
    assert sum(int(own.deprived.sum()) for own in everybody) == int(data.test.deprived.sum())


def test_the_audits_bias_brings_the_rows_of_both_groups_as_they_are(prepared: PreparedExperiment) -> None:
    data = prepared.datasets["letters"]
    for clean, fold in zip(
        folds_of(prepared, "audited", 0.0), folds_of(prepared, "audited", 1.0), strict=True
    ):
        np.testing.assert_array_equal(fold.train.codes, data.test.codes[fold.before_bias])
        np.testing.assert_array_equal(
            clean.before_bias, fold.before_bias[~data.test.deprived[fold.before_bias]]
        )
        assert fold.train.deprived.any()
        seen, truth = fold.tests[ORIGINAL].seen, fold.tests[ORIGINAL].truth
        np.testing.assert_array_equal(seen.deprived, truth.deprived)
        assert truth.digest == clean.tests[ORIGINAL].truth.digest


@pytest.mark.parametrize("bias", PLANTED)
def test_a_planted_bias_has_the_same_clean_model(prepared: PreparedExperiment, bias: str) -> None:
    for real, planted in zip(folds_of(prepared, "audited", 0.0), folds_of(prepared, bias, 0.0), strict=True):
        assert real.train.digest == planted.train.digest
        assert real.tests[ORIGINAL].seen.digest == planted.tests[ORIGINAL].seen.digest


@pytest.mark.parametrize("bias", PLANTED)
def test_a_planted_bias_hits_a_group_that_is_drawn_anew(prepared: PreparedExperiment, bias: str) -> None:
    data = prepared.datasets["letters"]
    drawn = []
    for clean, fold in zip(folds_of(prepared, bias, 0.0), folds_of(prepared, bias, 1.0), strict=True):
        assert not data.test.deprived[fold.after_bias].any()  # no row of those whom people treated worse
        assert 0.3 < fold.train.deprived.mean() < 0.7 or bias == "selection"
        for one, other in zip(without_group(clean), without_group(fold), strict=True):
            np.testing.assert_array_equal(one, other)
        # Whoever is tested has one group at all levels of bias.
        truth, before = fold.tests[ORIGINAL].truth, clean.tests[ORIGINAL].truth
        np.testing.assert_array_equal(truth.deprived, before.deprived)
        np.testing.assert_array_equal(fold.tests[ORIGINAL].seen.deprived, truth.deprived)
        labels = data.test.y[fold.after_bias]
        assert (fold.train.y[~fold.train.deprived] == labels[~fold.train.deprived]).all()
        assert not fold.train.y[fold.train.deprived].any() or bias == "borderline"  # at β = 1
        drawn.append(truth.deprived)
    assert abs(np.concatenate(drawn).mean() - 0.5) < 0.06
    assert folds(prepared, 1.0, 1, bias)[0].train.digest != folds_of(prepared, bias, 1.0)[0].train.digest


def test_labels_of_the_deprived_group_reach_no_planted_bias_and_no_clean_model(
    prepared: PreparedExperiment,
) -> None:
    data = prepared.datasets["letters"]
    labels = data.test.codes[:, data.test.schema.label_index]
    test = data.test.with_column("answered", np.where(data.test.deprived, 1 - labels, labels))
    poisoned = replace(prepared, datasets={"letters": replace(data, test=test)})
    for bias, beta in (("audited", 0.0), *((bias, beta) for bias in PLANTED for beta in (0.0, 1.0))):
        for one, other in zip(folds_of(prepared, bias, beta), folds_of(poisoned, bias, beta), strict=True):
            assert one.train.digest == other.train.digest
            assert one.tests[ORIGINAL].seen.digest == other.tests[ORIGINAL].seen.digest
    for one, other in zip(*(folds_of(own, "audited", 1.0) for own in (prepared, poisoned)), strict=True):
        assert one.train.digest != other.train.digest


def test_what_is_expected_is_that_of_both_groups_treated_as_the_favored_one(
    prepared: PreparedExperiment,
) -> None:
    data = prepared.datasets["letters"]
    y, deprived = data.test.y, data.test.deprived
    assert data.expected("audited", 0.0).discrimination == pytest.approx(0, abs=1e-12)
    assert data.expected("audited", 0.0).favorable == pytest.approx(y[~deprived].mean())
    real = y[~deprived].mean() - y[deprived].mean()
    assert data.expected("audited", 1.0).discrimination == pytest.approx(real)
    (dose,) = solve_doses(data.expectations("label"), [0.1])
    assert dose.beta * y[~deprived].mean() == pytest.approx(0.1, abs=1e-6)


def test_metrics_that_need_a_label_have_no_value_and_others_have(
    compared: tuple[PreparedExperiment, Outcome],
) -> None:
    of, outcome = compared
    assert {cell.status for cell in outcome.cells} == {"ok"}
    undefined = set()
    for value in (value for cell in outcome.cells for value in cell.metrics):
        if "y_true" in get_metric(value.metric).needs:
            assert (value.value, value.reason) == (None, NO_TRUE_LABEL), value.metric
            undefined.add(value.metric)
        elif value.metric in ("agreement", "discrimination", "accepted"):
            assert value.value is not None, value.metric
    assert undefined == {"accuracy", "overestimation", "underestimation", "restoration_distance"}
    clean = [cell for cell in outcome.cells if cell.beta == 0 and cell.technique == "none"]
    assert {values(cell)["agreement"] for cell in clean} == {1.0}
    (dataset,) = describe_run(of, outcome).datasets
    assert dataset.test_groups is None  # no share of right answers of a constant
    assert "No row has a true label" in dataset.notes[-1]
    assert dataset.train_rows == min(trained for trained, _ in split_sizes(of.datasets["letters"]))
    assert dataset.train_rows < 350  # the favored group's share of two thirds of 800 rows


def test_both_kinds_of_bias_are_compared_with_the_same_clean_decisions(
    compared: tuple[PreparedExperiment, Outcome],
) -> None:
    accepted: dict[str, list[int]] = {"audited": [], "label": []}
    for cell in compared[1].cells:
        if cell.technique == "none" and cell.beta == 1:
            people = np.array(cell.counts["decisions"][1]).sum(axis=0).reshape(2, 2, 2, 2, 2)
            accepted[cell.bias].append(int(people[:, :, 1].sum()))
    assert accepted["audited"] == accepted["label"]
    assert min(accepted["label"]) > 0


@pytest.mark.parametrize("betas", [[0, 0.5, 1], [0, 0.25]])
def test_there_is_no_level_between(card: Path, betas: list[float]) -> None:
    with pytest.raises(BiasError, match="'audited' has no level between 0 and 1"):
        check(card, bias=("audited",), betas=betas)
    check(card, bias=("label",), betas=betas)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"train": "network"}, 'train = "data"'),
        ({"paired_betas": False, "metrics": ["paper"]}, "paired_betas = true"),
        ({"tests": ["original", "biased"]}, "the original test alone"),
        ({"betas": [], "doses": [0.1]}, "betas in place of doses"),
        (
            {"folds": None, "holdout": 0.3, "tune": {"trials": 3, "validation": ["biased"], "on": 0.3}},
            "settings of their own",
        ),
    ],
)
def test_what_does_not_fit_is_told(card: Path, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(BetabenchError, match="does not fit a dataset with audit = true") as error:
        check(card, bias=("label",), **fields)
    assert words in str(error.value)


def test_it_needs_a_group_drawn_at_random(card: Path) -> None:
    with pytest.raises(BiasError, match="'audited' needs rows whose group was drawn at random"):
        check(card, audit=False, bias=("audited",))
    with pytest.raises(BetabenchError, match="a card without a judged label"):
        check(Path("school_performance"), bias=("label",))


def test_a_sample_of_it_is_refused(card: Path, tmp_path: Path) -> None:
    origin = SampleSource.find(load_card(card), Sources(offline=True), real=True)
    with pytest.raises(BiasError, match="'audited' needs rows whose group was drawn at random"):
        write_sample(
            tmp_path / "out.csv",
            load_card(card),
            origin,
            bias=make_bias("audited"),
            beta=1.0,
            rows=None,
            seed=1,
        )
    assert not (tmp_path / "out.csv").exists()
