"""The label that people judged, in experiments: it reaches training rows alone; splits keep people apart."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.bias import Rows, make_bias, make_step
from benchmark.conformance import example_table
from benchmark.data import Table
from benchmark.data.row_facts import Judged
from benchmark.errors import BetabenchError, BiasError, ExperimentError
from benchmark.experiment.draws import Split, split_rows, split_sizes
from benchmark.experiment.prepared import PreparedDataset, PreparedExperiment
from benchmark.runs.describe import describe_run
from tests.helpers.cards import card_of
from tests.helpers.protocol import computed, folds, keys, made

JUDGED = """[judged]
judge = "teacher"
person = "pupil"
label = { kind = "numeric", source = "guess", bins = [0, 10, 20], states = ["no", "yes"] }"""
GRADE = '{ kind = "numeric", source = "grade", bins = [0, 10, 20], states = ["no", "yes"] }'
COLUMNS = {"pages": "few some many", "town": "north south", "sex": "m f", "passed": GRADE}
CARD = card_of("essays", "passed=yes", "sex=m", COLUMNS, JUDGED)
PLANS: dict[str, dict[str, Any]] = {"holdout": {"holdout": 0.3}, "folds": {"folds": 4}}
every_plan = pytest.mark.parametrize("plan", PLANS)


@pytest.fixture(scope="module", params=["crossed", "nested"])
def card(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 600 judgements of 150 pupils by 25 teachers who all judge anybody, or each their own pupils."""
    folder, rng = tmp_path_factory.mktemp(request.param), np.random.default_rng(0)
    lines = ["pages,town,sex,grade,guess,teacher,pupil"]
    people = [
        (rng.choice(["few", "some", "many"]), rng.choice(["north", "south"]), rng.choice(["m", "f"]))
        for _ in range(150)
    ]
    for row in range(600):
        pupil = row % 150
        pages, town, sex = people[pupil]
        grade = 6 + 5 * (pages == "many") + pupil % 7
        guess = grade - 4 * (sex == "m") + int(rng.integers(0, 3))
        teacher = pupil % 25 if request.param == "nested" else int(rng.integers(25))
        lines.append(f"{pages},{town},{sex},{grade},{guess},t{teacher},p{pupil}")
    (folder / "essays.csv").write_text("\n".join(lines) + "\n")
    path = folder / "essays.toml"
    path.write_text(CARD)
    return path


def prepared(card: Path, **fields: Any) -> PreparedExperiment:
    given: dict[str, Any] = {
        "datasets": [{"card": str(card), "bias": ["judged", "label"]}],
        "techniques": ["none", "reweighing"],
        "betas": [0, 1],
        "paired_betas": True,
        "repetitions": 2,
        "seed": 3,
        "train": "data",
        "tests": ["original", "biased"],
        **fields,
    }
    return made(**given)


def dataset_of(of: PreparedExperiment) -> tuple[PreparedDataset, Judged]:
    data = of.datasets["essays"]
    return data, data.judged


def folds_of(of: PreparedExperiment, data: PreparedDataset, beta: float, bias: str = "judged") -> list[Split]:
    return folds(replace(of, datasets={"essays": data}), beta, bias=bias)


def flipped(table: Table) -> Table:
    """Return the table with every label turned."""
    labels = table.codes[:, table.schema.label_index]
    return table.with_column(table.schema.label, 1 - labels)


@every_plan
def test_no_judge_and_no_person_is_on_both_sides(card: Path, plan: str) -> None:
    of = prepared(card, **PLANS[plan])
    data, judged = dataset_of(of)
    n_left = []
    for seed in range(100):
        data = replace(data, experiment=of.experiment.model_copy(update={"seed": seed}))
        parts = list(split_rows(data, 0.0, 0))
        for train, test in parts:
            assert (np.diff(train) > 0).all()
            assert (np.diff(test) > 0).all()
            assert not {*judged.persons[train]} & {*judged.persons[test]}
            assert not {*judged.judges[train]} & {*judged.judges[test]}
            assert len({*judged.persons[test]}) == len(test)
            # Whoever is neither tested nor left out for a judge is trained on.
            left = ~np.isin(judged.persons, judged.persons[test])
            if plan == "holdout":
                held_out = round(0.3 * 25)
                assert len({*judged.judges} - {*judged.judges[train]}) == held_out
                left &= np.isin(judged.judges, judged.judges[train])
                assert left.sum() == len(train)
            n_left.append(len(train))
        if plan == "folds":  # every person is tested once
            tested = np.concatenate([judged.persons[test] for _, test in parts])
            assert sorted(tested) == list(range(150))
        assert split_sizes(data)[: len(parts)] == [tuple(map(len, part)) for part in parts]
    everybody = 600 * (0.7 if plan == "holdout" else 0.75)
    if "nested" in str(card):  # nothing crosses
        assert np.mean(n_left) == pytest.approx(everybody, rel=0.05)
    else:
        assert max(n_left) < everybody


@every_plan
def test_every_row_of_a_person_can_be_the_one_tested(card: Path, plan: str) -> None:
    of = prepared(card, **PLANS[plan])
    data, _ = dataset_of(of)
    counts = np.zeros(600)
    for seed in range(400):
        data = replace(data, experiment=of.experiment.model_copy(update={"seed": seed}))
        for _, test in split_rows(data, 0.0, 0):
            counts[test] += 1
    expected = 400 / 4 * (0.32 if plan == "holdout" else 1)  # 8 of 25 judges
    assert counts.mean() == pytest.approx(expected, rel=0.05)
    assert counts.min() > 0.4 * expected


@every_plan
def test_the_judged_label_never_reaches_the_test(card: Path, plan: str) -> None:
    of = prepared(card, **PLANS[plan])
    data, judged = dataset_of(of)
    poisoned = replace(data, judged=replace(judged, favorable=~judged.favorable))
    for beta in (0.0, 0.5, 1.0):
        for one, other in zip(folds_of(of, data, beta), folds_of(of, poisoned, beta), strict=True):
            assert one.tests["original"].seen.digest == other.tests["original"].seen.digest
            assert one.tests["original"].truth.digest == other.tests["original"].truth.digest
            assert one.tests["biased"].seen.digest == other.tests["biased"].seen.digest
            assert (one.train.digest == other.train.digest) == (beta == 0)
            # What is trained on are the same people, with other labels.
            assert flipped(one.train).digest == other.train.digest or beta < 1


@every_plan
def test_at_beta_1_the_true_label_never_reaches_the_training_rows(card: Path, plan: str) -> None:
    of = prepared(card, **PLANS[plan])
    data, judged = dataset_of(of)
    poisoned = replace(data, test=flipped(data.test))
    for one, other in zip(folds_of(of, data, 1.0), folds_of(of, poisoned, 1.0), strict=True):
        assert one.train.digest == other.train.digest
        np.testing.assert_array_equal(one.train.y, judged.favorable[one.after_bias])
        assert (one.tests["original"].truth.y != other.tests["original"].truth.y).all()
        # The biased test has the labels of judges whom no training row knows.
        assert one.tests["biased"].truth.digest == other.tests["biased"].truth.digest


def test_no_feature_is_a_judgement(card: Path) -> None:
    of = prepared(card, **PLANS["holdout"])
    for fold in folds_of(of, of.datasets["essays"], 1.0):
        for table in (fold.train, fold.tests["original"].seen, fold.tests["biased"].seen):
            assert table.schema.names == ("pages", "town", "sex", "passed")


def test_a_share_of_labels_is_turned_and_the_rest_is_true() -> None:
    codes = np.zeros((20_000, 2), dtype=np.int16)
    codes[:, 0], codes[::2, 1] = np.arange(20_000) % 3 == 0, 1
    table = flat_table(codes)
    judged = Judged(np.arange(20_000) % 4 < 2, np.arange(20_000) % 9, np.arange(20_000))
    differs = judged.favorable != table.y
    bias, rows = make_bias("judged"), Rows.of(table, judged=judged)
    after = bias.plant_in_rows(rows, 0.3, np.random.default_rng(1)).table
    turned = after.y != table.y
    assert not turned[~differs].any()
    assert turned[differs].mean() == pytest.approx(0.3, abs=0.02)
    for beta in (0.0, 0.5, 1.0):
        expected = bias.expected_in_rows(rows, beta).discrimination
        true = float(table.y[~table.deprived].mean() - table.y[table.deprived].mean())
        assert expected == pytest.approx(true + beta * judged.dose(table), abs=1e-12)


def test_at_random_as_many_labels_of_each_group_are_turned_of_other_people(card: Path) -> None:
    data, judged = dataset_of(prepared(card, **PLANS["holdout"]))
    table = data.test
    real, random = make_bias("judged"), make_bias(make_step("judged", {"at_random": True}))
    shares = judged.shares(table)
    for deprived, favorable in itertools.product((0, 1), (0, 1)):
        own = (table.deprived == deprived) & (table.y == favorable)
        assert shares[deprived, favorable] == pytest.approx((judged.favorable != table.y)[own].mean())
    for beta in (0.0, 0.3, 1.0):
        expected = [bias.expected_in_rows(data.rows, beta) for bias in (real, random)]
        assert expected[0].discrimination == pytest.approx(expected[1].discrimination, abs=1e-12)
        assert expected[0].favorable == pytest.approx(expected[1].favorable, abs=1e-12)
    many = data.rows.take(np.tile(np.arange(600), 50))
    turned = random.plant_in_rows(many, 1.0, np.random.default_rng(0)).table.y != many.table.y
    wrong = np.tile(judged.favorable != table.y, 50)
    for deprived, favorable in itertools.product((0, 1), (0, 1)):
        own = (many.table.deprived == deprived) & (many.table.y == favorable)
        share = shares[deprived, favorable]
        assert turned[own & wrong].mean() == pytest.approx(share, abs=0.05) if share else True
        assert turned[own & ~wrong].mean() == pytest.approx(share, abs=0.05)


def test_shares_of_people_who_are_not_there_are_unknown() -> None:
    table = flat_table(np.array([[0, 1], [0, 1], [1, 0]], dtype=np.int16))
    judged = Judged(np.array([True, False, not table.y[2]]), np.zeros(3, np.intp), np.arange(3))
    shares = judged.shares(table)
    assert np.isnan(shares).sum() == 2
    assert sorted(shares[~np.isnan(shares)]) == [0.5, 1.0]


def test_a_part_of_rows_takes_its_judgements_along(card: Path) -> None:
    data, judged = dataset_of(prepared(card, **PLANS["holdout"]))
    some = np.array([3, 7, 500])
    for part in (
        data.rows.take(some),
        data.rows.apart(some),
        data.rows.take(np.arange(600) == 7),
    ):
        assert len(part.judged.favorable) == len(part.table)
    assert data.rows.apart(some).judged.digest == judged.take(some).digest


def test_its_digest_is_in_the_keys(card: Path) -> None:
    of = prepared(card, **PLANS["holdout"])
    data, judged = dataset_of(of)

    def changed(**fields: Any) -> set[str]:
        other = replace(data, judged=replace(judged, **fields))
        return {*keys(replace(of, datasets={"essays": other})).values()}

    own = changed()
    for fields in (
        {"favorable": ~judged.favorable},
        {"judges": judged.judges[::-1]},
        {"persons": judged.persons[::-1]},
    ):
        assert not own & changed(**fields)


def test_a_run_says_what_is_left(card: Path) -> None:
    of = prepared(card, **PLANS["holdout"], techniques=["none"])
    data, judged = dataset_of(of)
    outcome = computed(of)
    assert {cell.status for cell in outcome.cells} == {"ok"}
    (dataset,) = describe_run(of, outcome).datasets
    assert dataset.notes == data.notes
    dose, left = dataset.notes[-2:]
    assert f"a dose of {judged.dose(data.test):+.3f}." in dose
    trained, tested = zip(*split_sizes(data), strict=True)
    several = f"trains on {min(trained):,} to {max(trained):,} of" in left
    assert several or f"trains on {min(trained):,} of" in left
    assert dataset.train_rows == min(trained)
    assert str(max(tested)) in left
    ((_, test),) = split_rows(data, 0.0, 0)
    assert dataset.scored_favorable[0.0][0] == pytest.approx(data.test.y[test].mean())


def test_where_nobody_judged_it_is_an_error(card: Path) -> None:
    with pytest.raises(BiasError, match=r"(?s)'judged' needs a second label.*\[judged\]"):
        make_bias("judged").plant_in_rows(Rows.of(flat(card)), 0.5, np.random.default_rng(0))
    # A sample of a shipped network has no judges.
    for dataset, train in (("compas", "data"), (str(card), "network"), ("school_performance", "data")):
        with pytest.raises(BetabenchError, match="needs a second label"):
            prepared(
                card,
                datasets=[{"card": dataset, "bias": ["judged"]}],
                techniques=["none"],
                train=train,
                holdout=0.3,
                tests=["original"],
            )


def flat_table(codes: np.ndarray) -> Table:
    """Return a table of a group and a label."""
    schema = example_table(2).schema
    return Table(replace(schema, columns=(schema.column("sex"), schema.column("label"))), codes)


def flat(card: Path) -> Table:
    return prepared(card, **PLANS["holdout"]).datasets["essays"].test


def test_too_few_judges_and_tuning_are_told(card: Path) -> None:
    with pytest.raises(ExperimentError, match="too few judges") as error:
        prepared(card, folds=30)
    assert error.value.got == "25 judges, 150 persons"
    with pytest.raises(ExperimentError, match="cannot be tuned on the judged rows of 'essays'"):
        prepared(
            card,
            **PLANS["holdout"],
            techniques=["none", "repair"],
            tune={"trials": 3, "validation": ["biased"], "on": 0.3},
        )


def test_other_bias_on_the_same_splits(card: Path) -> None:
    of = prepared(card, **PLANS["folds"])
    data = of.datasets["essays"]
    real, planted = (folds_of(of, data, 1.0, bias) for bias in ("judged", "label"))
    for one, other in zip(real, planted, strict=True):
        np.testing.assert_array_equal(one.before_bias, other.before_bias)
        assert one.tests["original"].truth.digest == other.tests["original"].truth.digest
