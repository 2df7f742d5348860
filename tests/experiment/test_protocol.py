"""What is trained on and tested on: real rows, holdouts, folds, several tests, paired levels."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.columns import FOLD_COLUMNS
from benchmark.data import Table
from benchmark.errors import ExperimentError
from benchmark.experiment import evaluate as module
from benchmark.experiment.draws import axes, draw_splits, split_rows
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import lite
from benchmark.experiment.export import failures_frame, folds_frame, metrics_frame
from benchmark.experiment.keys import planned_cells, sample_identity
from benchmark.experiment.plan import Block
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.scoring import Scorer, _mean
from benchmark.experiment.store import MetricValue, Store
from benchmark.metrics import evaluate
from benchmark.runs.describe import describe_run
from benchmark.runs.manifest import Manifest
from benchmark.seeding import axis_seed
from benchmark.statistics.answers import constant_on
from benchmark.techniques import Technique
from tests.helpers.protocol import cells, computed, folds, prepared, values

KINDS = ["label", "malicious_selection", "proxy", "sensitive_noise", "under_representation"]


def rows_of(tables: Sequence[Table]) -> np.ndarray:
    codes = np.concatenate([table.codes for table in tables])
    return codes[np.lexsort(codes.T)]


def test_folds_test_every_row_once_and_train_on_the_others() -> None:
    made = prepared(train="data", folds=4)
    (data,) = made.datasets.values()
    found = folds(made, level=0.0)
    assert len(found) == 4
    np.testing.assert_array_equal(rows_of([f.tests["original"].truth for f in found]), rows_of([data.test]))
    for fold in found:
        both = rows_of([fold.train, fold.tests["original"].truth])
        np.testing.assert_array_equal(both, rows_of([data.test]))
    other = folds(made, level=0.0, repetition=1)
    assert other[0].tests["original"].truth.digest != found[0].tests["original"].truth.digest


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("split_by", [{"holdout": 0.02}, {"folds": 7}])
def test_the_best_constant_answer_is_that_of_the_rows_that_were_scored(split_by: Any, paired: bool) -> None:
    made = prepared(train="data", repetitions=3, paired_betas=paired, **split_by)
    (dataset,) = describe_run(made).datasets
    own = dataset.best_constant.scored
    for beta in made.experiment.betas:
        # What accepting everybody scores: the mean over the folds of each repetition.
        accuracy = [
            np.mean([fold.tests["original"].truth.y.mean() for fold in folds(made, beta, repetition)])
            for repetition in range(3)
        ]
        assert own[beta] == pytest.approx(accuracy, abs=1e-15)
    assert (own[0.0] == own[0.5]) == paired
    (dataset,) = describe_run(prepared()).datasets
    assert not dataset.best_constant.scored


@pytest.mark.parametrize("split_by", [{}, {"holdout": 0.3}, {"folds": 3}])
def test_the_best_constant_answer_to_biased_tests_is_counted(split_by: Any, tmp_path: Path) -> None:
    train = {"train": "data"} if split_by else {"train_rows": 800}
    made = prepared(repetitions=2, tests=["original", "biased"], paired_betas=True, **train, **split_by)
    outcome = computed(made)
    (dataset,) = describe_run(made, outcome).datasets
    own = dataset.best_constant.biased["label"]
    assert set(own) == {0.0, 0.5}
    for beta, shares in own.items():
        labels = [
            np.mean([fold.tests["biased"].truth.y.mean() for fold in folds(made, beta, repetition)])
            for repetition in range(2)
        ]
        assert shares == pytest.approx(labels, abs=1e-15)
    assert np.mean(own[0.5]) < np.mean(own[0.0]) - 0.05
    # Where nothing is planted, the rows are the original ones.
    original = constant_on(dataset.best_constant, "original", "label", 0.0)
    biased = constant_on(dataset.best_constant, "biased", "label", 0.0)
    assert biased.accuracy == pytest.approx(original.accuracy, abs=1e-15)
    written = describe_run(made, outcome).text
    (tmp_path / "manifest.json").write_text(written, encoding="utf-8")
    assert Manifest.read(tmp_path / "manifest.json").datasets == describe_run(made, outcome).datasets
    (before,) = describe_run(made).datasets
    assert constant_on(before.best_constant, "biased", "label", 0.5) is None


def test_a_holdout_has_the_share_that_was_asked_for() -> None:
    made = prepared(train="data", holdout=0.3)
    (data,) = made.datasets.values()
    (fold,) = folds(made, level=0.0)
    assert len(fold.tests["original"].truth) == round(0.3 * len(data.test))
    assert len(fold.train) == data.n_train == len(data.test) - round(0.3 * len(data.test))
    few = prepared(train="data", holdout=0.3, train_rows=500)
    assert len(folds(few, level=0.0)[0].train) == 500
    assert len(folds(prepared(holdout=0.3, train_rows=9000))[0].train) == 9000


@pytest.mark.parametrize("train", ["network", "data"])
def test_neither_network_nor_training_rows_have_seen_the_rows_tested_on(train: str) -> None:
    made = prepared(train=train, holdout=0.3, tests=["original", "biased"])
    (data,) = made.datasets.values()
    rng, poisoned = np.random.default_rng(0), data.test.codes.copy()
    block = Block("compas", "label", 0.5, 0)
    ((kept, tested),) = split_rows(data, block.level, block.repetition)
    # Other features and labels, in the very rows that are held out.
    poisoned[tested] = rng.integers(0, 2, size=(len(tested), poisoned.shape[1]))
    other = replace(data, test=Table(data.test.schema, poisoned), _learned={})
    again = next(draw_splits(other, block))
    assert again.train.digest == folds(made)[0].train.digest
    assert again.tests["original"].truth.digest != folds(made)[0].tests["original"].truth.digest
    poisoned[kept] = rng.integers(0, 2, size=(len(kept), poisoned.shape[1]))  # rows trained on do matter
    other = replace(data, test=Table(data.test.schema, poisoned), _learned={})
    assert next(draw_splits(other, block)).train.digest != again.train.digest


@pytest.mark.parametrize("kind", KINDS)
def test_without_bias_the_biased_test_is_the_original_one(kind: str) -> None:
    made = prepared(train="data", folds=3, tests=["original", "biased"], bias=kind, betas=[0.0])
    (cell,) = cells(made)
    assert values(cell)
    assert values(cell) == values(cell, "biased")
    for fold in range(3):
        assert values(cell, fold=fold) == values(cell, "biased", fold)


def test_labels_are_turned_in_the_biased_test_alone() -> None:
    made = prepared(train="data", holdout=0.5, tests=["original", "biased"], betas=[0, 1])
    (fold,) = folds(made, level=1.0)
    original, biased = fold.tests["original"].truth, fold.tests["biased"].truth
    assert original.y[original.deprived].any()
    assert not biased.y[biased.deprived].any()
    np.testing.assert_array_equal(original.y[~original.deprived], biased.y[~biased.deprived])
    assert not fold.train.y[fold.train.deprived].any()
    for rows in fold.tests.values():
        assert not rows.seen.codes[:, rows.seen.schema.label_index].any()


def test_groups_are_the_true_ones_whatever_is_recorded() -> None:
    made = prepared(
        train="data", holdout=0.5, tests=["original", "biased"], bias="sensitive_noise", betas=[0, 1]
    )
    (fold,) = folds(made, level=1.0)
    for rows in fold.tests.values():
        np.testing.assert_array_equal(rows.truth.deprived, fold.tests["original"].truth.deprived)
        assert (rows.seen.deprived != rows.truth.deprived).mean() > 0.4


def test_groups_are_exchanged_as_they_are_recorded() -> None:
    # The model goes by the recorded group alone, so that exchanging it turns every answer.
    made = prepared(
        train="data", holdout=0.5, bias="sensitive_noise", betas=[1], metrics=["paper", "alternation"]
    )
    (fold,) = folds(made, level=1.0)
    seen, scorer = fold.tests["original"].seen, Scorer(fold.tests["original"].truth, ["alternation"])
    answers = scorer.ask(seen, seen.deprived, None, lambda table: table.deprived)
    np.testing.assert_array_equal(answers.alternated, ~seen.deprived)


@pytest.mark.parametrize(
    "kind", ["label", "malicious_selection", {"kind": "measurement", "column": "priors_count"}]
)
def test_answers_that_are_taken_over_are_those_that_would_be_given(
    kind: str | dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = prepared(
        train="data",
        holdout=0.4,
        tests=["original", "biased"],
        bias=kind,
        techniques=["none", "reject_option", "massaging"],
        metrics=["paper", "scores"],
    )
    assert all(fold.tests["biased"].among is not None for fold in folds(made))
    taken = cells(made)

    def asking(*arguments: Any) -> Any:
        for fold in draw_splits(*arguments):
            tests = {name: replace(rows, among=None) for name, rows in fold.tests.items()}
            yield replace(fold, tests=tests)

    monkeypatch.setattr(module, "draw_splits", asking)
    asked = cells(made)
    assert [cell.metrics for cell in taken] == [cell.metrics for cell in asked]
    assert [cell.counts for cell in taken] == [cell.counts for cell in asked]


def test_an_edited_network_has_other_people_in_its_biased_test() -> None:
    edits = {"edits": [{"attribute": "race", "group": "African-American"}]}
    made = prepared(tests=["original", "biased"], bias=edits, betas=[0, 1])
    (fold,) = folds(made, level=1.0)
    biased = fold.tests["biased"]
    assert biased.among is None
    assert len(biased.truth) == len(fold.tests["original"].truth)
    assert not biased.truth.y[biased.truth.deprived].any()
    real = prepared(train="data", holdout=0.5, tests=["original", "biased"], bias=edits, betas=[0, 1])
    (fold,) = folds(real, level=1.0)
    assert fold.tests["biased"].among is not None
    assert not fold.train.y[fold.train.deprived].any()


@pytest.mark.parametrize("metrics", [["paper"], ["paper", "scores"]])
def test_a_balanced_test_weighs_each_label_of_each_group_alike(metrics: list[str]) -> None:
    made = prepared(tests=["original", "balanced"], metrics=metrics, betas=[0.5])
    (cell,) = cells(made)
    (data,) = made.datasets.values()
    counts = np.array(cell.counts["original"][0], dtype=float)  # the counts of both tests are those of one
    weighted = counts / counts.sum(axis=2, keepdims=True)
    y = np.array([0, 0, 1, 1] * len(counts), dtype=bool)
    predicted = np.array([0, 1] * 2 * len(counts), dtype=bool)
    deprived = np.repeat(np.arange(len(counts)) == data.test.schema.deprived_code, 4)
    expected = evaluate(y, predicted, deprived, sample_weight=weighted.ravel()).values
    found = values(cell, "balanced")
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12)
    assert found["accuracy"] != pytest.approx(values(cell)["accuracy"])
    one = np.float64(values(cell)["overestimation"] or math.nan)
    assert found["overestimation"] == pytest.approx(one)  # rates given the label do not see weights of labels


def test_means_are_those_of_the_folds_that_have_a_value(tmp_path: Path) -> None:
    made = prepared(train="data", folds=3, tests=["original", "biased"])
    outcome = computed(made, tmp_path / "a.sqlite")
    with Store(tmp_path / "a.sqlite") as store:
        read = [*store.read([cell.key for cell in outcome.cells])]
    assert [cell.metrics for cell in read] == [cell.metrics for cell in outcome.cells]
    for cell in outcome.cells:
        for test in ("original", "biased"):
            parts = [values(cell, test, fold) for fold in range(3)]
            for name, mean in values(cell, test).items():
                known = [value for part in parts if (value := part[name]) is not None]
                assert mean == math.fsum(known) / len(known)
    metrics, tests = ["accuracy", "discrimination"], ("original", "biased")
    results, single = (frame(outcome.cells, metrics, tests) for frame in (metrics_frame, folds_frame))
    assert tuple(single.columns) == FOLD_COLUMNS
    assert len(single) == 3 * len(results)
    key = ["level", "test", "metric"]
    means = single.groupby(key)["value"].mean()
    np.testing.assert_allclose(means[results.set_index(key).index], results["value"])


def test_a_metric_that_a_fold_lacks_is_the_mean_of_the_others() -> None:
    known, unknown = MetricValue("a", 0.5), MetricValue("a", None, "there is no row of the deprived group")
    assert _mean([known, unknown, known._replace(value=0.25)]) == MetricValue("a", 0.375)
    assert _mean([unknown, unknown]) == unknown
    broken = MetricValue("a", None, "the metric 'a' fails")
    assert _mean([known, broken]) == broken


def test_a_fold_that_gives_no_result_is_named_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    made = prepared(train="data", folds=3, techniques=["none", "massaging", "reweighing"], betas=[0.5])
    evaluator = Evaluator(made)
    third = folds(made)[2].train

    def skip(self: Technique, train: Table) -> str | None:
        return "there is nothing to do" if np.array_equal(train.codes, third.codes) else None

    def fail(self: Technique, *_: object) -> None:
        raise ValueError("it breaks")

    monkeypatch.setattr(type(evaluator.techniques["compas", "none"]), "skip", skip)
    monkeypatch.setattr(type(evaluator.techniques["compas", "massaging"]), "_prepare", fail)
    (block, own), *_ = planned_cells(made)
    failures = failures_frame(evaluator(block, own), made.experiment.measured)
    said = failures.set_index("technique")[["status", "at_fold", "reason"]]
    assert said.loc["none"].tolist() == ["skipped", 2, "there is nothing to do"]
    assert said.loc["massaging", ["status", "at_fold"]].tolist() == ["failed", 0]
    assert said.loc["massaging", "reason"].startswith("ValueError: it breaks")
    assert list(said.index) == ["none", "massaging"]
    monkeypatch.setattr(type(made.datasets["compas"].biases["label"]), "plant_in_rows", fail)
    (broken, *_) = evaluator(block, own)
    assert broken.reason.startswith("fold 1 of 3: the rows to train and test on could not be drawn: ")


@pytest.mark.parametrize("paired", [True, False])
def test_blocks_share_no_random_numbers(paired: bool) -> None:
    made = prepared(paired_betas=paired)
    (data,) = made.datasets.values()
    blocks = [
        (replace(data, name=name), Block(name, "label", level, repetition))
        for name, level, repetition in itertools.product(("one", "two"), (0.0, 0.5), (0, 1))
    ]
    seeds = {axis_seed(3, **axes(own, block.level, block.repetition)) for own, block in blocks}
    assert len(seeds) == (4 if paired else 8)  # paired levels share theirs


@pytest.mark.parametrize("train", ["network", "data"])
def test_paired_levels_turn_the_same_people_first(train: str) -> None:
    def turned(made: PreparedExperiment, beta: float) -> np.ndarray:
        before, after = (folds(made, level)[0].train for level in (0.0, beta))
        if len(before) != len(after) or not np.array_equal(before.features, after.features):
            return np.array([])
        return np.flatnonzero(before.y != after.y)

    split = {"holdout": 0.3} if train == "data" else {}
    paired = prepared(train=train, paired_betas=True, betas=[0, 0.25, 0.75], **split)
    few, many = turned(paired, 0.25), turned(paired, 0.75)
    assert 0 < len(few) < len(many)
    assert set(few) < set(many)
    alone = prepared(train=train, betas=[0, 0.25, 0.75], **split)
    assert len(turned(alone, 0.25)) == 0  # other people altogether


def test_what_is_stored_is_not_computed_again(tmp_path: Path) -> None:
    def n_computed(**fields: Any) -> int:
        made = prepared(train="data", folds=2, **fields)
        outcome = computed(made, tmp_path / "a.sqlite")
        found = {m.test for cell in outcome.cells for m in cell.metrics}
        assert found >= set(made.experiment.tests)
        return outcome.computed

    assert n_computed() == 2
    # The frontier on the rows of another test is not stored, and both cells have one.
    assert n_computed(tests=["original", "balanced"]) == 2
    assert n_computed(metrics=["accuracy", "f1_score_difference"]) == 0
    assert n_computed(tests=["original", "biased"]) == 2
    assert n_computed(tests=["original", "biased"], metrics=["paper", "f1_score_difference"]) == 0
    # Two levels of one technique, and of two refits of it.
    assert n_computed(paired_betas=True) == 6
    assert n_computed() == 0


def test_a_dataset_may_have_its_own_folds() -> None:
    entries = [
        {"card": "compas", "bias": ["label"]},
        {"card": "compas", "name": "compas_three", "bias": ["label"], "folds": 3},
    ]
    made = prepared(train="data", folds=4, datasets=entries)
    numbers = {
        name: len(list(draw_splits(data, Block(name, "label", 0.5, 0))))
        for name, data in made.datasets.items()
    }
    assert numbers == {"compas": 4, "compas_three": 3}
    assert made.datasets["compas_three"].n_train == 4100  # of 6150 rows
    assert [entry.folds for entry in lite(made.experiment).datasets] == [None, 2]
    block = Block("compas", "label", 0.5, 0)
    three, four = (sample_identity(prepared(train="data", folds=n), block) for n in (3, 4))
    same = prepared(train="data", folds=4, datasets=[{**entries[0], "folds": 3}])
    assert sample_identity(same, block) == three != four


def test_rows_that_are_too_few_to_be_split_are_refused() -> None:
    with pytest.raises(ExperimentError, match=r"too few rows to be split.*at least 99999 rows"):
        prepared(train="data", folds=99_999)


def test_trying_out_has_few_folds_and_the_same_tests() -> None:
    tried = lite(prepared(train="data", folds=10, tests=["original", "balanced"]).experiment)
    assert tried.folds == 2
    assert tried.tests == ("original", "balanced")
