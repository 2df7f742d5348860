"""The estimator decides as a cell of the benchmark does, and is one of scikit-learn's."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import benchmark
from benchmark import FairClassifier
from benchmark.columns import ORIGINAL
from benchmark.data.source import Sources
from benchmark.errors import BetabenchError
from benchmark.estimator.column_states import RowsError
from benchmark.experiment.draws import draw_folds
from benchmark.experiment.evaluate import Evaluator, named
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.scoring import unpack
from benchmark.seeding import generator
from tests.helpers.people import people

EXPERIMENT = """
name = "applied"
title = "Applied"
seed = 3
repetitions = 1
betas = [0.5]
train_rows = 400
metrics = ["discrimination", "auc_gap"]  # the second keeps predictions of rows
classifiers = ["c45", "logistic_regression"]
techniques = [
    "none", "reweighing", "massaging", "repair[level=0.5]", "exponentiated_gradient", "reject_option",
    "equalized_odds",
]
[[datasets]]
card = "compas"
[[datasets.bias]]
edits = [{ attribute = "race", group = "African-American" }]
"""


def test_it_decides_as_a_cell_of_the_benchmark(tmp_path: Path) -> None:
    path = tmp_path / "applied.toml"
    path.write_text(EXPERIMENT)
    prepared = prepare_experiment(load_for_run(path), Sources(offline=True))
    evaluator, compared = Evaluator(prepared), set()
    for block, cells in planned_cells(prepared):
        data = prepared.datasets[block.dataset]
        (fold,) = draw_folds(data, block, prepared.experiment)
        label, seen = fold.train.schema.label, fold.tests[ORIGINAL].seen
        train, test = fold.train.to_frame(), seen.to_frame().drop(columns=label)
        for cell, found in zip(cells, evaluator(block, cells), strict=True):
            assert found.status == "ok", found.reason
            assert found.rows is not None
            (answers,) = unpack(found.rows, {(0, ORIGINAL): len(seen)}).values()
            technique = evaluator.techniques[block.dataset, cell.technique]
            axes = {"technique": named(technique), "purpose": "technique", **fold.axes}
            model = FairClassifier(
                technique.name,
                parameters=technique.parameters,
                sensitive="race",
                deprived="African-American",
                favorable="no",
                classifier=cell.classifier,
                random_state=generator(prepared.experiment.seed, **axes),
            )
            model.fit(train.drop(columns=label), train[label].astype(str))
            np.testing.assert_array_equal(model.predict(test) == "no", answers.predicted, cell.technique)
            if answers.score is not None:
                np.testing.assert_array_equal(model.predict_proba(test)[:, 0], answers.score)
            compared.add((technique.stage, cell.classifier))
    assert compared == {
        (stage, own) for stage in ("pre", "in", "post") for own in ("c45", "logistic_regression")
    }


def fitted(technique: str = "reweighing", frame: pd.DataFrame | None = None, **more: Any) -> FairClassifier:
    frame = people() if frame is None else frame
    given = {"sensitive": "sex", "deprived": "f", "favorable": "yes", **more}
    return FairClassifier(technique, **given).fit(frame.drop(columns="hired"), frame["hired"])


def test_columns_are_learned_from_training_rows_alone() -> None:
    model = fitted()
    columns = {column.name: column for column in model.schema_.columns}
    assert columns["sex"].states == ("f", "m")
    assert columns["children"].states == ("0", "1", "2", "3")
    assert columns["skill"].ordered
    assert 3 < columns["skill"].cardinality < 8
    assert columns["city"].states == ("Bonn", "Kiel", "Ulm", "missing")
    assert (model.schema_.sensitive_feature, model.schema_.deprived_group) == ("sex", "f")
    assert list(model.classes_) == ["no", "yes"]
    assert model.favorable_ == "yes"
    assert set(model.predict(people(50, 9).drop(columns="hired"))) == {"no", "yes"}


def test_values_that_training_rows_did_not_show_have_a_defined_state() -> None:
    model, row = fitted(), people().drop(columns="hired").iloc[[0]]

    def proba(**changes: object) -> float:
        return float(model.predict_proba(row.assign(**changes))[0, 1])

    usual = model.schema_.column("city").states[model._columns[4].usual]
    assert usual == "Ulm"
    assert proba(city="Rome") == proba(city="Ulm")  # the most frequent one, as there is no state of rare ones
    assert proba(city=None) == proba(city=np.nan) == proba(city="")
    assert proba(skill=99.0) == proba(skill=7.5)  # in the last bin
    assert proba(children="2") == proba(children=2.0) == proba(children=2)
    for gap in (None, "x"):
        with pytest.raises(RowsError, match="1 row has no known group") as error:
            model.predict(row.assign(sex=gap))
        assert isinstance(error.value, ValueError)


def test_categories_of_pandas_are_states_in_their_order() -> None:
    frame = people()
    frame["city"] = pd.Categorical(frame["city"], ["Bonn", "Ulm", "Kiel", "Rare", "None"], ordered=True)
    column = fitted(frame=frame).schema_.column("city")
    assert column.states == ("Bonn", "Ulm", "Kiel", "Rare", "None", "missing")
    assert column.ordered


def test_several_values_are_one_deprived_group() -> None:
    frame = people()
    frame["sex"] = np.where(np.arange(len(frame)) % 7 == 0, "d", frame["sex"])
    model = fitted(frame=frame, deprived=["f", "d"])
    assert model.schema_.groups == ("f or d", "m")
    frame["sex"] = frame["sex"].astype("category")
    model = fitted(frame=frame, deprived=["f", "d"])
    assert model.schema_.groups == ("d", "f", "m")
    assert model.schema_.deprived_codes == (0, 1)


def test_nobody_need_say_who_is_deprived() -> None:
    frame = people()
    frame["sex"] = np.where(np.arange(len(frame)) < 10, "few", frame["sex"])
    frame.loc[:9, "hired"] = "no"
    model = FairClassifier("reweighing", sensitive="sex").fit(frame.drop(columns="hired"), frame["hired"])
    assert model.schema_.deprived_group == "f"  # and not the handful that nobody hired


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        ({}, {"sensitive": "gender"}, "There is no sensitive column 'gender'"),
        ({}, {"deprived": "female"}, "No training row has 'female' in the sensitive column 'sex'"),
        ({}, {"deprived": ["f", "m"]}, "All groups of the sensitive column 'sex' are deprived"),
        ({}, {"favorable": "maybe"}, "one class is missing"),
        ({"hired": "yes"}, {}, "one class is missing"),
        ({"sex": None}, {}, "600 rows have no value in the sensitive column 'sex'"),
        ({"sex": "f"}, {"deprived": None}, "The sensitive column has one group"),
        ({}, {"technique": "reweigh"}, "did you mean 'reweighing'"),
        ({}, {"parameters": {"rat": "common"}}, "has no parameter 'rat'"),
        ({}, {"classifier": "c4.5"}, "cannot be imported"),
        ({}, {"classifier": {"name": "c45"}}, "This is no classifier"),
        ({}, {"classifier": 3}, "This is no classifier"),
        ({}, {"technique": "reject_option", "classifier": "linear_svm"}, "needs the classifier's scores"),
        ({"hired": None}, {}, "some rows have no label"),
    ],
)
def test_an_error_says_what_to_do_and_is_a_value_error(
    change: dict[str, object], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said) as error:
        fitted(frame=people().assign(**change), **{"technique": "reweighing", **more})
    assert isinstance(error.value, BetabenchError)


STAGES = ("preferential_sampling", "exponentiated_gradient", "reject_option")


@pytest.mark.parametrize("technique", ["none", *STAGES])
@pytest.mark.parametrize("classifier", ["c45", LogisticRegression(C=0.5)], ids=["c45", "instance"])
def test_a_pickled_model_and_a_clone_decide_the_same(technique: str, classifier: Any) -> None:
    model, rows = fitted(technique, classifier=classifier), people(200, 5).drop(columns="hired")
    expected = model.predict(rows)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(rows), expected)
    frame = people()
    again = clone(model).fit(frame.drop(columns="hired"), frame["hired"])
    np.testing.assert_array_equal(again.predict(rows), expected)


@pytest.mark.parametrize(
    ("state", "same"), [(4, True), (np.random.default_rng(4), True), (np.random.RandomState(4), False)]
)
def test_lots_come_from_the_random_state_alone(state: Any, same: bool) -> None:
    rows = people(300, 5).drop(columns="hired")

    def decisions(state: Any) -> Any:
        return fitted("reject_option", classifier="logistic_regression", random_state=state).predict(rows)

    one = decisions(state)
    assert np.array_equal(one, decisions(state)) == same
    assert not np.array_equal(one, decisions(5))


def test_scores_are_there_only_where_a_technique_has_them() -> None:
    assert not hasattr(fitted("reject_option"), "predict_proba")
    assert not hasattr(FairClassifier("reject_option", sensitive="sex"), "predict_proba")
    assert not hasattr(fitted(classifier="linear_svm"), "predict_proba")
    found = fitted().predict_proba(people(20, 5).drop(columns="hired"))
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_parameters_are_searched_and_validated_as_scikit_learn_does() -> None:
    frame = people()
    X, y = frame.drop(columns="hired"), frame["hired"]
    model = FairClassifier("repair", sensitive="sex", deprived="f", favorable="yes", classifier="naive_bayes")
    search = GridSearchCV(model, {"parameters": [{"level": 0.0}, {"level": 1.0}]}, cv=3, n_jobs=1).fit(X, y)
    assert search.best_estimator_.technique_.parameters["level"] == search.best_params_["parameters"]["level"]
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    assert cross_val_score(model, X, y, cv=3).mean() > 0.6
    assert model.get_params()["classifier"] == "naive_bayes"


def test_an_entry_of_experiment_files_is_a_classifier() -> None:
    entry = {"classifier": "logistic_regression", "parameters": {"C": 0.5}}
    rows = people(200, 5).drop(columns="hired")
    np.testing.assert_array_equal(
        fitted(classifier=entry).predict(rows), fitted(classifier=LogisticRegression(C=0.5)).predict(rows)
    )


def test_weights_fit_the_rows_of_the_frame() -> None:
    frame = people()
    X, y = frame.drop(columns="hired"), frame["hired"]
    rows, labels, weights = fitted().prepare(X, y)
    assert len(rows) == len(X)
    assert (labels == y).all()
    woman, hired = X["sex"] == "f", y == "yes"
    rates = [np.average(hired[own], weights=weights[own]) for own in (woman, ~woman)]
    assert rates[0] == pytest.approx(rates[1])
    assert hired[woman].mean() < hired[~woman].mean() - 0.1


def test_what_is_prepared_trains_the_same_model() -> None:
    frame = people()
    X, y = frame.drop(columns="hired"), frame["hired"]
    new = people(200, 5).drop(columns="hired")
    for technique in ("drop_sensitive", "massaging", "repair", "correlation_remover"):
        model = fitted(technique, classifier="logistic_regression")
        rows, labels, _ = model.prepare(X, y)
        ready = model.prepare_new(new)
        assert list(ready.columns) == list(rows.columns)
        encoded = pd.get_dummies(rows.astype(object).astype(str))
        own = LogisticRegression().fit(encoded, labels)
        asked = pd.get_dummies(ready.astype(object).astype(str)).reindex(
            columns=encoded.columns, fill_value=0
        )
        assert (own.predict(asked) == model.predict(new)).mean() > 0.98, technique
    assert not hasattr(fitted("reject_option"), "prepare")


# scikit-learn's own checks, and why some do not apply.
UNKNOWN_GROUPS = "makes values missing in the first column, here the sensitive one, which is an error"
ONE_GROUP = "has two or three different rows, and so one group of enough rows"
FEW_ROWS = "has too few rows of a class for a share of them to be held out"
NOT_ACCURATE = "asks for accuracy, which the technique gives up: the first feature tells the label"
EXPECTED = {
    "none": {
        "check_estimators_pickle": UNKNOWN_GROUPS,
        "check_classifier_data_not_an_array": ONE_GROUP,
        "check_classifiers_classes": ONE_GROUP,
    },
}
EXPECTED["reweighing"] = EXPECTED["none"]
EXPECTED["exponentiated_gradient"] = EXPECTED["none"] | {
    "check_classifiers_train": NOT_ACCURATE,
    "check_fit2d_1feature": "has the sensitive column alone, which the technique hides",
}
EXPECTED["reject_option"] = EXPECTED["none"] | {
    "check_classifiers_train": NOT_ACCURATE,
    **dict.fromkeys(
        (
            *("check_fit_score_takes_y", "check_dont_overwrite_parameters", "check_supervised_y_2d"),
            *("check_methods_sample_order_invariance", "check_methods_subset_invariance"),
            *("check_dict_unchanged", "check_fit2d_predict1d"),
        ),
        FEW_ROWS,
    ),
}


def with_checks(*techniques: str) -> Any:
    return parametrize_with_checks(
        [FairClassifier(name, sensitive=0, classifier="logistic_regression") for name in techniques],
        expected_failed_checks=lambda estimator: EXPECTED[estimator.technique],
    )


@with_checks("reweighing")
@pytest.mark.filterwarnings("ignore")
def test_it_is_an_estimator_of_scikit_learn(estimator: FairClassifier, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.nightly
@with_checks("none", "exponentiated_gradient", "reject_option")
@pytest.mark.filterwarnings("ignore")
def test_so_it_is_with_other_techniques(estimator: FairClassifier, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_the_package_offers_it() -> None:
    assert benchmark.FairClassifier is FairClassifier


def test_lots_belong_to_places_in_a_table_as_docs_say() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"sex": np.repeat(["f", "m"], 300), "score": rng.integers(0, 6, 600)})
    labels = rng.random(600) < np.where(rows["sex"] == "f", 0.1, 0.4) + rows["score"] / 10
    model = FairClassifier(
        "equalized_odds", sensitive="sex", deprived="f", classifier="logistic_regression"
    ).fit(rows, labels)
    kinds = rows.drop_duplicates()
    tables = [kinds.iloc[[i] * 200] for i in range(len(kinds))]
    same = next(table for table in tables if 0 < model.predict(table).mean() < 1)
    together = model.predict(same)
    np.testing.assert_array_equal(model.predict(same.iloc[:50]), together[:50])
    assert {model.predict(same.iloc[[i]])[0] for i in range(200)} == {together[0]}
    written = Path(benchmark.__file__).parents[1] / "docs" / "use.md"
    for text in (FairClassifier.__doc__ or "", written.read_text(encoding="utf-8")):
        assert "the first row of every call has the same lot" in " ".join(text.split())


def test_spellings_of_the_deprived_group_are_not_favored_in_silence() -> None:
    frame = people()
    y = frame.pop("hired") == "yes"
    frame.loc[frame["sex"].eq("f") & frame.index.isin(range(200)), "sex"] = "Female"
    model = FairClassifier("reweighing", sensitive="sex", deprived="f")
    with pytest.raises(RowsError, match="'Female', which seems to mean the same, is not"):
        model.fit(frame, y)
    model.set_params(deprived=["f", "Female"]).fit(frame, y)


def test_a_category_without_rows_is_no_deprived_group() -> None:
    frame = people()
    y = frame.pop("hired") == "yes"
    frame["sex"] = pd.Categorical(frame["sex"], ["f", "m", "x"])
    with pytest.raises(RowsError, match="No training row has 'x'"):
        FairClassifier("reweighing", sensitive="sex", deprived="x").fit(frame, y)
    FairClassifier("reweighing", sensitive="sex", deprived="f").fit(frame, y)
