"""Keys, seeds and scores of single cells, without worker processes."""

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from benchmark.classifiers import make_classifier
from benchmark.columns import CONVERGENCE_COLUMNS
from benchmark.data import Table
from benchmark.data.source import Sources
from benchmark.errors import BiasError, CardError, DeclinedError, ExperimentError, UnknownNameError
from benchmark.experiment.draws import draw_folds
from benchmark.experiment.evaluate import (
    Evaluator,
    classifier_mismatch,
    configured_techniques,
    describe_technique,
)
from benchmark.experiment.expand import load_for_run, narrow
from benchmark.experiment.export import convergence_frame
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Experiment, plan_blocks
from benchmark.experiment.prepare import PreparedExperiment, prepare_experiment
from benchmark.experiment.run import Outcome, compute
from benchmark.experiment.store import CellResult, Store
from benchmark.metrics import declaration as metric_base
from benchmark.metrics import evaluate, get_metric
from benchmark.techniques import Predictor, Technique, Tools, get_technique
from tests.helpers.engines import InProcess

TEXT = """
name = "small"
title = "Small"
seed = 3
repetitions = 2
betas = [0.0, 0.5]
train_rows = 1500
[[datasets]]
card = "compas"
[[datasets.bias]]
edits = [{ attribute = "race", group = "African-American" }]
[[techniques]]
technique = "none"
[[techniques]]
technique = "massaging"
[[techniques]]
technique = "repair"
parameters = { level = 0.5 }
"""


def prepared(tmp_path: Path, text: str = TEXT) -> PreparedExperiment:
    path = tmp_path / "small.toml"
    path.write_text(text)
    return prepare_experiment(load_for_run(path), Sources(offline=True))


def keys(found: PreparedExperiment) -> dict[tuple[object, ...], str]:
    return {
        (b.dataset, b.level, b.repetition, c.technique, c.classifier): c.key
        for b, cells in planned_cells(found)
        for c in cells
    }


def results(found: PreparedExperiment) -> dict[tuple[object, ...], CellResult]:
    evaluator = Evaluator(found)
    return {
        (b.level, b.repetition, r.technique): r
        for b, cells in planned_cells(found)
        for r in evaluator(b, cells)
    }


def changed(experiment: Experiment, **fields: object) -> Experiment:
    return experiment.model_copy(update=fields)


def test_every_cell_has_a_key_of_its_own(tmp_path: Path) -> None:
    found = keys(prepared(tmp_path))
    assert len(set(found.values())) == len(found) == 12


@pytest.mark.parametrize(
    ("old", "new", "affected"),
    [
        ("seed = 3", "seed = 4", "all"),
        ("train_rows = 1500", "train_rows = 1600", "all"),
        ('card = "compas"', 'card = "compas"\ntrain_rows = 1600', "all"),
        ('card = "compas"', 'card = "compas"\ntrain_rows = 1500', "none at all"),
        ('technique = "none"', 'technique = "drop_sensitive"\nname = "none"', "none"),
        ("{ level = 0.5 }", "{ level = 0.6 }", "repair"),
        ("{ level = 0.5 }", "{ level = 0.5, repair_label = true }", "repair"),
        ("[[techniques]]\ntechnique = \"none\"", "[[classifiers]]\nclassifier = \"naive_bayes\"\n"
         "name = \"c45\"\n[[techniques]]\ntechnique = \"none\"", "all"),
        ("[[techniques]]\ntechnique = \"none\"", "[[classifiers]]\nclassifier = \"c45\"\n"
         "parameters = { confidence = 0.1 }\n[[techniques]]\ntechnique = \"none\"", "all"),
        ('card = "compas"', 'card = "compas"\nparameters.repair = { treatment = "categorical" }', "repair"),
        ('group = "African-American"', 'group = "Caucasian"', "biased"),
        ("time_limit = 1", "", "none at all"),
        ('title = "Small"', 'title = "Tiny"', "none at all"),
        ("repetitions = 2", "repetitions = 3", "none at all"),
        ("betas = [0.0, 0.5]", "betas = [0.0, 0.5, 1.0]", "none at all"),
    ],
)  # fmt: skip
def test_a_key_changes_exactly_with_what_can_change_the_numbers(
    tmp_path: Path, old: str, new: str, affected: str
) -> None:
    base = TEXT + "" if "time_limit" not in old else TEXT.replace("seed = 3", "seed = 3\ntime_limit = 1")
    before, after = keys(prepared(tmp_path, base)), keys(prepared(tmp_path, base.replace(old, new, 1)))
    for where in before.keys() & after.keys():
        _, beta, _, technique, _ = where
        expected = affected == "all" or technique == affected or (affected == "biased" and beta > 0)
        assert (before[where] != after[where]) == expected, where


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
    plugin.write_text(QUIET)
    text = TEXT.replace("seed = 3", f'seed = 3\nplugins = ["{plugin}"]').replace(
        'edits = [{ attribute = "race", group = "African-American" }]', 'kind = "quiet"'
    )
    before = keys(prepared(tmp_path, text))
    plugin.write_text(QUIET.replace("SHIFT = 0", "SHIFT = 1"))
    after = keys(prepared(tmp_path, text))
    assert not set(before.values()) & set(after.values())


def test_the_code_of_a_kind_of_bias_is_read_once_and_not_for_each_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[type] = []
    monkeypatch.setattr(
        "benchmark.experiment.prepare.source_digest", lambda kind: asked.append(kind) or "code"
    )
    assert len(keys(prepared(tmp_path))) == 12
    assert len(asked) == 1


def test_a_store_of_a_version_with_other_keys_is_computed_again_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = prepared(tmp_path)
    with Store(tmp_path / "s.sqlite") as store:
        with monkeypatch.context() as former:
            former.setattr("benchmark.experiment.keys.harness_digest", lambda: "of a former version")
            before = compute(found, store, engine=InProcess(1))
        after = compute(found, store, engine=InProcess(1))
        assert (before.computed, after.computed) == (12, 12)
        assert [cell.metrics for cell in after.cells] == [cell.metrics for cell in before.cells]
        assert len(store.statuses()) == 24
        assert compute(found, store, engine=InProcess(1)).computed == 0


def test_a_fit_that_optimises_says_how_it_converged(tmp_path: Path) -> None:
    more = '[[techniques]]\ntechnique = "zafar_2015"\n[[techniques]]\ntechnique = "zafar_2017"\n'
    found = results(prepared(tmp_path, TEXT + more))
    for (_, _, technique), cell in found.items():
        assert (cell.convergence is not None) == (technique != "repair" and cell.classifier != "c45")
        if cell.convergence is not None:
            assert cell.convergence.steps > 0
            assert 0 <= cell.convergence.residual <= cell.convergence.tolerance
    frame = convergence_frame(found.values())
    assert tuple(frame.columns) == CONVERGENCE_COLUMNS
    assert sorted(frame["technique"].unique()) == ["none", "zafar_2015", "zafar_2017"]
    assert len(frame) == 3 * 4


def test_renaming_an_entry_keeps_its_numbers(tmp_path: Path) -> None:
    before = results(prepared(tmp_path))
    renamed = TEXT.replace('technique = "repair"', 'technique = "repair"\nname = "mine"')
    after = results(prepared(tmp_path, renamed))
    assert before[0.5, 1, "repair"].metrics == after[0.5, 1, "mine"].metrics


def test_two_entries_may_be_the_same_technique_and_a_renamed_one_shows_its_new_name(tmp_path: Path) -> None:
    twice = TEXT + '[[techniques]]\ntechnique = "none"\nname = "nothing"\n'
    with Store(tmp_path / "s.sqlite") as store:
        outcome = compute(prepared(tmp_path, twice), store, engine=InProcess(1))
        by_name = {(c.technique, c.beta, c.repetition): c.metrics for c in outcome.cells}
        assert by_name["none", 0.5, 1] == by_name["nothing", 0.5, 1] != ()
        renamed = compute(prepared(tmp_path, twice.replace('"nothing"', '"nil"')), store, engine=InProcess(1))
        assert {c.technique for c in renamed.cells} == {"none", "massaging", "repair", "nil"}
        assert renamed.computed == 4


def test_adding_levels_repetitions_or_techniques_keeps_the_other_numbers(tmp_path: Path) -> None:
    before = results(prepared(tmp_path))
    more = TEXT.replace("betas = [0.0, 0.5]", "betas = [0.0, 0.3, 0.5]").replace(
        "repetitions = 2", "repetitions = 3"
    )
    after = results(prepared(tmp_path, more + '[[techniques]]\ntechnique = "reweighing"\n'))
    for where, cell in before.items():
        assert after[where].metrics == cell.metrics


def test_cells_of_a_block_can_be_computed_alone(tmp_path: Path) -> None:
    found = prepared(tmp_path)
    together = results(found)
    evaluator = Evaluator(found)
    for block, cells in planned_cells(found):
        for cell in reversed(cells):
            (alone,) = evaluator(block, (cell,))
            expected = together[block.level, block.repetition, cell.technique]
            assert dataclasses.replace(alone, seconds=0) == dataclasses.replace(expected, seconds=0)


def test_the_stored_counts_give_the_stored_metrics(tmp_path: Path) -> None:
    for cell in results(prepared(tmp_path)).values():
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[tuple[float, int], set[str]] = {}
    found = {}
    evaluator = Evaluator(prepared(tmp_path))

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
        (fold,) = draw_folds(of.datasets[block.dataset], block)
        assert seen[where] == {fold.train.digest}
    assert all(len(digests) == 1 for digests in seen.values())
    assert len(set.union(*seen.values())) == 4
    assert found[0.0, 0, "none"].metrics != found[0.0, 1, "none"].metrics
    assert found[0.0, 0, "none"].metrics != found[0.5, 0, "none"].metrics


def test_a_scene_says_that_it_is_embedded(tmp_path: Path) -> None:
    (data,) = prepared(tmp_path).datasets.values()
    assert data.embedded
    assert data.name == "compas:embedded"
    assert len(data.test) == 6150


def test_learning_settings_cannot_be_changed_without_real_data(tmp_path: Path) -> None:
    text = TEXT.replace('card = "compas"', 'card = "compas"\nnetwork.score = "bdeu"')
    with pytest.raises(ExperimentError, match="needs real data"):
        prepared(tmp_path, text)
    same = TEXT.replace('card = "compas"', 'card = "compas"\nnetwork.score = "bic"')
    assert prepared(tmp_path, same).datasets["compas"].embedded


def test_other_columns_count_as_ordered_without_real_data(tmp_path: Path) -> None:
    own = TEXT.replace('card = "compas"', 'card = "compas"\ncolumns.age_cat.ordered = false')
    plain, changed = (prepared(tmp_path, text).datasets["compas"] for text in (TEXT, own))
    assert changed.embedded
    assert not changed.test.schema.column("age_cat").ordered
    assert (changed.test.codes == plain.test.codes).all()


@pytest.mark.real_data
def test_columns_can_be_read_in_another_way(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BETABENCH_DATA")
    path = tmp_path / "e.toml"
    entry = 'card = "compas"\ncolumns.priors_count = { bins = [0, 1, inf], states = ["none", "some"] }'
    path.write_text(TEXT.replace('card = "compas"', entry))
    found = prepare_experiment(load_for_run(path), Sources(data_dir, offline=True))
    assert found.datasets["compas"].test.schema.column("priors_count").states == ("none", "some")
    with pytest.raises(ExperimentError, match="embedded network"):
        prepare_experiment(load_for_run(path), Sources(offline=True))
    path.write_text(
        TEXT.replace('card = "compas"', 'card = "compas"\ncolumns.prior_count = { bins = [0, 1] }')
    )
    with pytest.raises(UnknownNameError, match="did you mean 'priors_count'"):
        prepare_experiment(load_for_run(path), Sources(data_dir, offline=True))
    path.write_text(
        TEXT.replace('card = "compas"', 'card = "compas"\ncolumns.priors_count = { bins = [3, 1] }')
    )
    with pytest.raises(CardError, match="increase strictly"):
        prepare_experiment(load_for_run(path), Sources(data_dir, offline=True))


@pytest.mark.real_data
def test_learning_settings_of_the_experiment_are_used(tmp_path: Path, data_dir: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text(TEXT.replace('card = "compas"', 'card = "compas"\nnetwork.max_indegree = 1'))
    found = prepare_experiment(load_for_run(path), Sources(data_dir, offline=True))
    assert max(map(len, found.datasets["compas"].network.parents)) == 1


def test_an_edit_that_fits_no_parent_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(BiasError, match="required_edges"):
        prepared(tmp_path, TEXT.replace('attribute = "race", group = "African-American"',
                                     'attribute = "sex", group = "Male"'))  # fmt: skip


def test_a_technique_that_raises_says_what_and_its_neighbours_are_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = prepared(tmp_path)
    expected = results(found)
    evaluator = Evaluator(found)
    broken = evaluator.techniques["compas", "massaging"]
    monkeypatch.setattr(type(broken), "_prepare", lambda self, train, tools: 1 / 0)
    (block, cells), *_ = planned_cells(found)
    none, massaging, repair = evaluator(block, cells)
    line = inspect.currentframe().f_lineno - 3  # type: ignore[union-attr]
    expected_reason = f"ZeroDivisionError: division by zero (file test_evaluate.py, line {line})"
    assert (massaging.status, massaging.reason) == ("failed", expected_reason)
    assert none.metrics == expected[0.0, 0, "none"].metrics
    assert repair.metrics == expected[0.0, 0, "repair"].metrics


def test_test_rows_are_shared_sealed_and_without_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = prepared(tmp_path)
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


def test_what_a_technique_finds_out_while_it_trains_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = Evaluator(found := prepared(tmp_path))

    def decline(self: Technique, train: Table, tools: Tools) -> None:
        raise DeclinedError("there is nothing to do")

    monkeypatch.setattr(type(evaluator.techniques["compas", "massaging"]), "_prepare", decline)
    (block, cells), *_ = planned_cells(found)
    _, massaging, _ = evaluator(block, cells)
    assert (massaging.status, massaging.reason) == ("skipped", "there is nothing to do.")


class Uncertain(LogisticRegression):  # type: ignore[misc]
    """A classifier that has no score for its last row."""

    def predict_proba(self, X: Any) -> np.ndarray:
        scores = np.asarray(super().predict_proba(X))
        scores[-1] = np.nan
        return scores


STAGES = "".join(
    f'[[techniques]]\ntechnique = "{name}"\n'
    for name in (
        "reweighing",
        "exponentiated_gradient",
        "grid_search",
        "meta_fair",
        "equalized_odds",
        "calibrated_equalized_odds",
        "reject_option",
        "threshold_optimizer",
        "randomized_threshold_optimizer",
    )
)


def test_scores_of_nan_fail_in_every_stage_whether_a_metric_asks_for_them_or_not(tmp_path: Path) -> None:
    text = TEXT.replace("betas = [0.0, 0.5]", "betas = [0.5]").replace("repetitions = 2", "repetitions = 1")
    uncertain = f'[[classifiers]]\nclassifier = "{Uncertain.__module__}.Uncertain"\n'
    for cell in results(prepared(tmp_path, text + STAGES + uncertain)).values():
        assert cell.status == "failed", cell.technique
        assert cell.reason.startswith(f"{cell.technique} got scores that are no probabilities")
        assert "from Uncertain. " in cell.reason
        assert ", the first of them nan. " in cell.reason


def test_a_sample_of_one_class_is_skipped_in_every_stage_with_one_sentence(tmp_path: Path) -> None:
    text = TEXT.replace("train_rows = 1500", "train_rows = 2").replace("seed = 3", "seed = 1") + STAGES
    found = results(prepared(tmp_path, text + '[[techniques]]\ntechnique = "zafar_2015"\n'))
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
    tmp_path: Path, classifier: str, mismatches: dict[str, str]
) -> None:
    factory = make_classifier(classifier)
    names = ("none", "reweighing", "exponentiated_gradient", "grid_search", "meta_fair", "equalized_odds",
             "reject_option", "zafar_2015")  # fmt: skip
    for name in names:
        assert classifier_mismatch(get_technique(name), factory) == mismatches.get(name)
    text = TEXT + STAGES + f'[[classifiers]]\nclassifier = "{classifier}"\n'
    evaluator = Evaluator(found := prepared(tmp_path, text))
    (block, cells), *_ = planned_cells(found)
    chosen = tuple(cell for cell in cells if cell.technique in mismatches)
    for cell in evaluator(block, chosen):
        assert (cell.status, cell.reason) == ("skipped", mismatches[cell.technique])


@pytest.mark.parametrize("value", [lambda counts: 1 / 0, lambda counts: None, lambda counts: 7.0])
def test_a_metric_that_fails_is_named_and_takes_nothing_else_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    broken = dataclasses.replace(get_metric("accuracy"), compute=value)  # type: ignore[arg-type]
    monkeypatch.setitem(metric_base._REGISTRY._items, "accuracy", broken)
    evaluator = Evaluator(found := prepared(tmp_path))
    (block, cells), *_ = planned_cells(found)
    cells_found = list(evaluator(block, cells))
    for cell in cells_found:
        values = {m.metric: m for m in cell.metrics}
        assert cell.status == "ok"
        assert values["accuracy"].value is None
        assert values["accuracy"].reason.startswith("the metric 'accuracy' fails")
        assert values["discrimination"].value is not None
    assert not Outcome(cells_found, len(cells_found), 1.0, 1).ok


def test_descriptions_are_plain_and_complete(tmp_path: Path) -> None:
    experiment = prepared(tmp_path).experiment
    for technique in configured_techniques(experiment).values():
        facts = describe_technique(technique)
        assert set(facts) == {"name", "parameters", "version", "source", "packages"}
        assert len(facts["source"]) == 64
    assert len(list(plan_blocks(narrow(experiment, repetitions=1)))) == 2
