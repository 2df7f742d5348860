"""Keys, seeds and scores of single cells, without worker processes."""

import dataclasses
import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from benchmark import metrics as metric_base
from benchmark.classifiers import make_classifier
from benchmark.columns import CONVERGENCE_COLUMNS
from benchmark.data import Table
from benchmark.data.source import Sources
from benchmark.errors import BiasError, CardError, DeclinedError, ExperimentError, UnknownNameError
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.evaluate import (
    Evaluator,
    classifier_mismatch,
)
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.export import convergence_frame
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Outcome
from benchmark.experiment.store import CellResult, Store
from benchmark.metrics import evaluate, get_metric
from benchmark.techniques import Predictor, Technique, Tools, get_technique
from tests.helpers.protocol import cells as cells_of
from tests.helpers.protocol import computed
from tests.helpers.protocol import keys as keys_of
from tests.helpers.protocol import prepared as small

EDITED = {"edits": [{"attribute": "race", "group": "African-American"}]}
REPAIR = {"technique": "repair", "parameters": {"level": 0.5}}
GIVEN: dict[str, Any] = {"repetitions": 2, "train_rows": 1500}


def compas(**fields: Any) -> list[dict[str, Any]]:
    return [{"card": "compas", "bias": [EDITED], **fields}]


def prepared(*more: Any, **fields: Any) -> PreparedExperiment:
    """Return doing nothing, massaging, repair, and ``more`` techniques on two samples at two levels."""
    techniques = fields.pop("techniques", ["none", "massaging", REPAIR])
    return small(**{**GIVEN, "datasets": compas(), "techniques": [*techniques, *more], **fields})


def keys(found: PreparedExperiment) -> dict[tuple[object, ...], str]:
    return {(b.level, b.repetition, *names): key for (b, *names), key in keys_of(found).items()}


def results(found: PreparedExperiment) -> dict[tuple[object, ...], CellResult]:
    return {(cell.level, cell.repetition, cell.technique): cell for cell in cells_of(found)}


QUIET = """
from benchmark.bias import BiasKind, register

SHIFT = 0


@register
class Quiet(BiasKind):
    name, summary, reference, version = "quiet", "Plants nothing", "none", "1"

    def chances(self, rows, beta):
        return None
"""


def test_a_key_changes_with_the_code_of_a_plugins_kind_of_bias(tmp_path: Path) -> None:
    plugin = tmp_path / "quiet.py"
    quiet = {"plugins": [str(plugin)], "datasets": compas(bias=["quiet"])}
    plugin.write_text(QUIET)
    before = keys(prepared(**quiet))
    plugin.write_text(QUIET.replace("SHIFT = 0", "SHIFT = 1"))
    after = keys(prepared(**quiet))
    assert not set(before.values()) & set(after.values())


def test_a_store_of_a_version_with_other_keys_is_computed_again_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = prepared()
    path = tmp_path / "s.sqlite"
    with monkeypatch.context() as former:
        former.setattr("benchmark.experiment.keys.harness_digest", lambda: "of a former version")
        before = computed(found, path)
    after = computed(found, path)
    assert (before.computed, after.computed) == (12, 12)
    assert [cell.metrics for cell in after.cells] == [cell.metrics for cell in before.cells]
    assert computed(found, path).computed == 0
    with Store(path) as store:
        assert len(store) == 24


def test_a_fit_that_optimises_says_how_it_converged() -> None:
    found = results(prepared("zafar_2015", "zafar_2017", betas=[0.5], repetitions=1))
    for (_, _, technique), cell in found.items():
        assert (cell.convergence is not None) == (technique != "repair" and cell.classifier != "c45")
        if cell.convergence is not None:
            assert cell.convergence.steps > 0
            assert 0 <= cell.convergence.residual <= cell.convergence.tolerance
    frame = convergence_frame(found.values())
    assert tuple(frame.columns) == CONVERGENCE_COLUMNS
    assert sorted(frame["technique"].unique()) == ["none", "zafar_2015", "zafar_2017"]
    assert len(frame) == 3


def test_two_entries_may_be_the_same_technique_and_a_renamed_one_shows_its_new_name(tmp_path: Path) -> None:
    again, other = ({"technique": "none", "name": name} for name in ("nothing", "nil"))
    outcome = computed(prepared(again), tmp_path / "s.sqlite")
    by_name = {(c.technique, c.beta, c.repetition): c.metrics for c in outcome.cells}
    assert by_name["none", 0.5, 1] == by_name["nothing", 0.5, 1] != ()
    renamed = computed(prepared(other), tmp_path / "s.sqlite")
    assert {c.technique for c in renamed.cells} == {"none", "massaging", "repair", "nil"}
    assert renamed.computed == 4


def test_cells_of_a_block_can_be_computed_alone() -> None:
    found = prepared()
    together = results(found)
    evaluator = Evaluator(found)
    for block, cells in planned_cells(found):
        for cell in reversed(cells):
            (alone,) = evaluator(block, (cell,))
            expected = together[block.level, block.repetition, cell.technique]
            assert dataclasses.replace(alone, seconds=0) == dataclasses.replace(expected, seconds=0)


def test_the_stored_counts_give_the_stored_metrics() -> None:
    for cell in results(prepared()).values():
        counts = np.array(cell.counts["original"][0])
        assert counts.sum() == 6150
        g, y, p = (a.ravel().astype(bool) for a in np.indices((2, 2, 2)))
        again = evaluate(
            # the deprived group is the first state of the sensitive feature
            *(np.repeat(axis, counts.ravel()) for axis in (y, p, ~g)),
            metrics=[m.metric for m in cell.metrics],
        )
        assert {m.metric: m.value for m in cell.metrics} == pytest.approx(dict(again.values))


def test_the_sample_is_the_same_for_all_techniques_and_differs_between_repetitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[tuple[float, int], set[str]] = {}
    found = {}
    evaluator = Evaluator(prepared())

    def watch(technique: Technique) -> None:
        fit = type(technique).fit

        def watched(self: Technique, train: Table, tools: Tools) -> Predictor:
            seen[where].add(train.digest)
            return fit(self, train, tools)

        monkeypatch.setattr(type(technique), "fit", watched)

    for technique in evaluator.techniques.values():
        watch(technique)
    for block, cells in planned_cells(evaluator.prepared):
        where = (block.level, block.repetition)
        seen[where] = set()
        found.update({(*where, r.technique): r for r in evaluator(block, cells)})
        of = evaluator.prepared
        (fold,) = draw_splits(of.datasets[block.dataset], block)
        assert seen[where] == {fold.train.digest}
    assert all(len(digests) == 1 for digests in seen.values())
    assert len(set.union(*seen.values())) == 4
    assert found[0.0, 0, "none"].metrics != found[0.0, 1, "none"].metrics
    assert found[0.0, 0, "none"].metrics != found[0.5, 0, "none"].metrics


def test_learning_settings_cannot_be_changed_without_real_data() -> None:
    with pytest.raises(ExperimentError, match="needs real data"):
        prepared(datasets=compas(network={"score": "bdeu"}))
    assert prepared(datasets=compas(network={"score": "bic"})).datasets["compas"].embedded


def test_other_columns_count_as_ordered_without_real_data() -> None:
    own = compas(columns={"age_cat": {"ordered": False}})
    plain, changed = (prepared(datasets=given).datasets["compas"] for given in (compas(), own))
    assert changed.embedded
    assert not changed.test.schema.column("age_cat").ordered
    assert (changed.test.codes == plain.test.codes).all()


@pytest.mark.real_data
def test_columns_can_be_read_in_another_way(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BETABENCH_DATA")

    def of(sources: Sources, **columns: Any) -> PreparedExperiment:
        asked = Experiment(datasets=compas(columns=columns), techniques=["none"], betas=[0, 0.5], **GIVEN)
        return prepare_experiment(load_for_run(asked), sources)

    real, two = Sources(data_dir, offline=True), {"bins": [0, 1, math.inf], "states": ["none", "some"]}
    schema = of(real, priors_count=two).datasets["compas"].test.schema
    assert schema.column("priors_count").states == ("none", "some")
    with pytest.raises(ExperimentError, match="embedded network"):
        of(Sources(offline=True), priors_count=two)
    with pytest.raises(UnknownNameError, match="did you mean 'priors_count'"):
        of(real, prior_count={"bins": [0, 1]})
    with pytest.raises(CardError, match="increase strictly"):
        of(real, priors_count={"bins": [3, 1]})


@pytest.mark.real_data
def test_learning_settings_of_the_experiment_are_used(data_dir: Path) -> None:
    entry = compas(network={"max_indegree": 1})
    asked = Experiment(datasets=entry, techniques=["none"], betas=[0, 0.5], **GIVEN)
    found = prepare_experiment(load_for_run(asked), Sources(data_dir, offline=True))
    assert max(map(len, found.datasets["compas"].network.parents)) == 1


def test_an_edit_that_fits_no_parent_is_refused_before_anything_runs() -> None:
    with pytest.raises(BiasError, match="required_edges"):
        prepared(datasets=compas(bias=[{"edits": [{"attribute": "sex", "group": "Male"}]}]))


def test_a_technique_that_raises_says_what_and_its_neighbours_are_untouched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = prepared()
    expected = results(found)
    evaluator = Evaluator(found)
    broken = evaluator.techniques["compas", "massaging"]
    monkeypatch.setattr(type(broken), "_prepare", lambda self, train, tools: 1 / 0)
    (block, cells), *_ = planned_cells(found)
    none, massaging, repair = evaluator(block, cells)
    line = inspect.currentframe().f_lineno - 3
    expected_reason = f"ZeroDivisionError: division by zero (file test_evaluate.py, line {line})"
    assert (massaging.status, massaging.reason) == ("failed", expected_reason)
    assert none.metrics == expected[0.0, 0, "none"].metrics
    assert repair.metrics == expected[0.0, 0, "repair"].metrics


def test_test_rows_are_shared_sealed_and_without_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    found = prepared()
    evaluator = Evaluator(found)
    seen: list[Table] = []
    for technique in {type(t) for t in evaluator.techniques.values()}:

        def watched(self: Technique, train: Table, tools: Tools, fit: Any = technique.fit) -> Predictor:
            predictor = fit(self, train, tools)

            def predict(table: Table) -> np.ndarray:
                seen.append(table)
                return predictor.predict(table)

            return dataclasses.replace(predictor, predict=predict)

        monkeypatch.setattr(technique, "fit", watched)
    (block, cells), *_ = planned_cells(found)
    list(evaluator(block, cells))
    assert len(seen) == len(cells)
    for table in seen:
        assert not table.codes[:, table.schema.label_index].any()
        assert table.codes is seen[0].codes  # hidden once per block
        with pytest.raises(ValueError, match="WRITEABLE"):
            table.codes.flags.writeable = True
    assert len({id(table) for table in seen}) == len(cells)  # what is derived from them is each one's own


def test_what_a_technique_finds_out_while_it_trains_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = Evaluator(found := prepared())

    def decline(self: Technique, train: Table, tools: Tools) -> None:
        raise DeclinedError("there is nothing to do")

    monkeypatch.setattr(type(evaluator.techniques["compas", "massaging"]), "_prepare", decline)
    (block, cells), *_ = planned_cells(found)
    _, massaging, _ = evaluator(block, cells)
    assert (massaging.status, massaging.reason) == ("skipped", "there is nothing to do.")


class Uncertain(LogisticRegression):
    """A classifier that has no score for its last row."""

    def predict_proba(self, X: Any) -> np.ndarray:
        scores = np.asarray(super().predict_proba(X))
        scores[-1] = np.nan
        return scores


STAGES = (
    *("reweighing", "exponentiated_gradient", "grid_search", "meta_fair", "equalized_odds"),
    *("calibrated_equalized_odds", "reject_option", "threshold_optimizer", "randomized_threshold_optimizer"),
)


def test_scores_of_nan_fail_in_every_stage_whether_a_metric_asks_for_them_or_not() -> None:
    uncertain = {"classifiers": [f"{Uncertain.__module__}.Uncertain"], "betas": [0.5], "repetitions": 1}
    for cell in cells_of(prepared(*STAGES, **uncertain)):
        assert cell.status == "failed", cell.technique
        assert cell.reason.startswith(f"{cell.technique} got scores that are no probabilities")
        assert "from Uncertain. " in cell.reason
        assert ", the first of them nan. " in cell.reason


def test_a_sample_of_one_class_is_skipped_in_every_stage_with_one_sentence() -> None:
    found = results(prepared(*STAGES, "zafar_2015", train_rows=2, seed=1))
    reasons = {
        f"nothing can be learned from rows of one class: {favorable} of 2 are favorable"
        for favorable in (0, 2)
    }
    alike = [where for where, cell in found.items() if cell.technique == "none" and cell.reason in reasons]
    assert alike
    for beta, repetition, _ in alike:
        cells = [cell for where, cell in found.items() if where[:2] == (beta, repetition)]
        assert {(cell.status, cell.reason in reasons) for cell in cells} == {("skipped", True)}


@pytest.mark.parametrize(
    ("classifier", "mismatches"),
    [
        (
            "sklearn.neighbors.KNeighborsClassifier",
            {
                name: f"{name} weights rows, and the fit of KNeighborsClassifier takes no sample_weight"
                for name in ("reweighing", "exponentiated_gradient", "grid_search")
            },
        ),
        (
            "linear_svm",
            {
                name: f"{name} needs scores, and LinearSVC has no predict_proba"
                for name in ("meta_fair", "equalized_odds", "reject_option")
            },
        ),
        ("c45", {}),
    ],
)
def test_a_technique_and_a_classifier_that_do_not_fit_are_skipped(
    classifier: str, mismatches: dict[str, str]
) -> None:
    factory = make_classifier(classifier)
    names = ("none", "reweighing", "exponentiated_gradient", "grid_search", "meta_fair", "equalized_odds",
             "reject_option", "zafar_2015")  # fmt: skip
    for name in names:
        assert classifier_mismatch(get_technique(name), factory) == mismatches.get(name)
    evaluator = Evaluator(found := prepared(*STAGES, classifiers=[classifier]))
    (block, cells), *_ = planned_cells(found)
    chosen = tuple(cell for cell in cells if cell.technique in mismatches)
    for cell in evaluator(block, chosen):
        assert (cell.status, cell.reason) == ("skipped", mismatches[cell.technique])


@pytest.mark.parametrize("value", [lambda counts: 1 / 0, lambda counts: None, lambda counts: 7.0])
def test_a_metric_that_fails_is_named_and_takes_nothing_else_down(
    monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    broken = dataclasses.replace(get_metric("accuracy"), compute=value)
    monkeypatch.setitem(metric_base._REGISTRY._items, "accuracy", broken)
    evaluator = Evaluator(found := prepared())
    (block, cells), *_ = planned_cells(found)
    cells_found = list(evaluator(block, cells))
    for cell in cells_found:
        values = {m.metric: m for m in cell.metrics}
        assert cell.status == "ok"
        assert values["accuracy"].value is None
        assert values["accuracy"].reason.startswith("the metric 'accuracy' fails")
        assert values["discrimination"].value is not None
    assert not Outcome(cells_found, len(cells_found), 1.0, 1).ok
