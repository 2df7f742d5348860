"""A person's rows stand on one side of every split, are drawn together, and are in the key."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from benchmark.bias import make_bias
from benchmark.classifiers import make_classifier
from benchmark.data.card import load_card
from benchmark.data.row_facts import Persons
from benchmark.data.source import Sources
from benchmark.errors import ExperimentError
from benchmark.experiment.draws import split_rows, split_sizes
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.plan import Block
from benchmark.experiment.prepared import PreparedDataset, PreparedExperiment
from benchmark.experiment.sample_files import SampleSource, draw_sample
from benchmark.experiment.tune import validation_rows
from benchmark.runs.describe import describe_run
from tests.helpers.protocol import computed, folds, keys, made, values
from tests.helpers.visits import write_card

PLANS: dict[str, dict[str, Any]] = {
    "holdout": {"holdout": 0.3},
    "folds": {"folds": 4},
    "few rows": {"holdout": 0.3, "train_rows": 300},
    "network": {"holdout": 0.3, "train": "network"},
}
every_plan = pytest.mark.parametrize("plan", PLANS)


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return write_card(tmp_path)


def prepared(card: Path, **fields: Any) -> PreparedExperiment:
    given: dict[str, Any] = {
        "datasets": [{"card": str(card), "bias": ["label"], "name": "visits"}],
        "techniques": ["none"],
        "betas": [0, 0.5],
        "paired_betas": True,
        "repetitions": 2,
        "seed": 3,
        "train": "data",
        **fields,
    }
    if given["train"] == "network":
        given["datasets"][0]["bias"] = [{"kind": "cpt", "edits": [{"attribute": "sex", "group": "F"}]}]
    return made(**given)


def dataset_of(of: PreparedExperiment) -> tuple[PreparedDataset, Persons]:
    data = of.datasets["visits"]
    return data, data.persons


@every_plan
def test_no_person_is_on_both_sides(card: Path, plan: str) -> None:
    of = prepared(card, **PLANS[plan])
    data, persons = dataset_of(of)
    for seed in range(50):
        seeded = replace(data, experiment=of.experiment.model_copy(update={"seed": seed}))
        parts = list(split_rows(seeded, 0.0, 0))
        for train, test in parts:
            assert not {*persons.numbers[train]} & {*persons.numbers[test]}
            assert len(train) + len(test) == len(data.test)
            if plan != "folds":
                assert len({*persons.numbers[test]}) == round(0.3 * 200)
        if plan == "folds":
            assert sorted(np.concatenate([test for _, test in parts])) == list(range(len(data.test)))
    for fold in folds(of):
        trained = fold.before_bias if fold.after_bias is None else fold.after_bias
        assert not {*persons.numbers[trained]} & {*persons.numbers[fold.test_rows]}
        assert "patient_nbr" not in fold.train.schema.names
    (note,) = (note for note in data.notes if "persons" in note)
    assert f"200 persons in {len(data.test):,} rows" in note
    sizes = split_sizes(data)
    if plan == "holdout":
        assert describe_run(of).datasets[0].train_rows == min(trained for trained, _ in sizes)


def test_a_person_is_not_recognized(card: Path, tmp_path: Path) -> None:
    """The features tell the person and not the label, so the accuracy is that of the group alone."""
    found = {}
    for person in ('person = "patient_nbr"', 'person = "rows"', ""):
        of = prepared(write_card(tmp_path, person), folds=3, techniques=["none"])
        clean = [cell for cell in computed(of).cells if cell.beta == 0]
        found[person] = np.mean([float(values(cell)["accuracy"] or 0) for cell in clean])
        data = of.datasets["visits"]
    kept, rows, apart = found.values()
    assert kept == pytest.approx(rows, abs=0.05)
    assert apart > kept + 0.2
    table = data.test
    X, y = np.delete(table.codes, table.schema.label_index, axis=1), table.y.astype(int)
    states = np.delete([len(column.states) for column in table.schema.columns], table.schema.label_index)
    groups = pd.read_csv(tmp_path / "visits.csv")["patient_nbr"]
    right = np.zeros(len(y))
    for train, test in GroupKFold(3).split(X, y, groups):
        model = make_classifier("c45").build(states, 0)
        model.fit(X[train], y[train])
        right[test] = np.asarray(model.predict(X[test])) == y[test]
    assert kept == pytest.approx(right.mean(), abs=0.05)


def test_a_bootstrap_draws_persons(card: Path) -> None:
    of = prepared(card, holdout=0.3)
    (_, persons), block = dataset_of(of), Block("visits", "label", 0.0, 0)
    (fold,) = folds(of, 0.0)
    (refit,) = Evaluator(of)._refitted(block, [fold], "clean")
    found: dict[bytes, set[int]] = {}
    for row, person in zip(fold.train.codes, persons.numbers[fold.after_bias], strict=True):
        found.setdefault(row.tobytes(), set()).add(int(person))
    drawn = Counter(row.tobytes() for row in refit.train.codes)
    alone = {row: person for row, (person, *others) in found.items() if not others}
    times = [drawn[row] / np.sum(persons.numbers == person) for row, person in alone.items()]
    assert len(times) > 80
    assert {*times} <= {0, 1, 2, 3, 4, 5, 6}
    assert np.mean(np.array(times) > 0) == pytest.approx(0.63, abs=0.12)


def test_settings_are_chosen_on_other_persons(card: Path) -> None:
    of = prepared(
        card,
        holdout=0.3,
        techniques=["none", "reject_option"],
        classifiers=["naive_bayes"],
        tune={"trials": 2, "validation": ["clean", "biased"]},
    )
    data, persons = dataset_of(of)
    for level in (0.0, 0.5):
        (fold,) = folds(of, level)
        held_out, clean = validation_rows(data, Block("visits", "label", level, 0), fold)
        validated, trained = (persons.numbers[fold.after_bias[rows]] for rows in (held_out, ~held_out))
        assert len(validated)
        assert not {*validated} & {*trained}
        assert len(clean.truth) >= len(validated)


def test_a_sample_has_whole_persons(card: Path) -> None:
    origin = SampleSource.find(load_card(card), Sources(offline=True), real=True)
    bias = make_bias("label")

    def sampled(rows: int | None) -> int:
        drawn = draw_sample(load_card(card), origin, bias=bias, beta=0.0, rows=rows, seed=1)
        return len(drawn[0].table)

    assert sampled(None) == origin.n_rows
    sizes = np.bincount(origin.persons.numbers)
    assert 300 - sizes.max() < sampled(300) <= 300
    with pytest.raises(ExperimentError, match="One person has more rows"):
        sampled(2)


def test_keys_follow_the_persons(card: Path, tmp_path: Path) -> None:
    found = {}
    for person in ('person = "patient_nbr"', 'person = "rows"', ""):
        for fields in ({"holdout": 0.3}, {"train": "network"}):
            of = prepared(write_card(tmp_path, person), **fields)
            found[person, *fields] = {*keys(of).values()}
    assert not found['person = "patient_nbr"', "holdout"] & found["", "holdout"]
    # Rows with the same features are the same persons here.
    assert found['person = "patient_nbr"', "holdout"] == found['person = "rows"', "holdout"]
    assert found['person = "patient_nbr"', "train"] == found["", "train"]
    # Of the same rows, others may be a person's.
    of = prepared(write_card(tmp_path), holdout=0.3)
    data, persons = dataset_of(of)
    others = replace(data, persons=replace(persons, numbers=persons.numbers[::-1]))
    assert not {*keys(of).values()} & {*keys(replace(of, datasets={"visits": others})).values()}


def test_too_few_persons_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="too few persons to be split"):
        prepared(write_card(tmp_path, people=3), folds=5)
