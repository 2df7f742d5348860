"""The estimator decides as a cell of the benchmark does, and is one of scikit-learn's."""

from __future__ import annotations

import pickle
import sys
import warnings
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

from benchmark import FairClassifier
from benchmark.columns import ORIGINAL
from benchmark.data.source import Sources
from benchmark.errors import BetabenchError
from benchmark.estimator.column_states import RowsError
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.evaluate import Evaluator, named
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.scoring import unpack
from benchmark.seeding import generator
from benchmark.techniques import load_plugin
from tests.helpers.people import people
from tests.helpers.plugins import forgetting

EXPERIMENT = """
name = "applied"
title = "Applied"
seed = 3
repetitions = 1
betas = [0.5]
train_rows = 200
metrics = ["discrimination", "auc_gap"]  # the second keeps predictions of rows
classifiers = ["c45", "logistic_regression"]
techniques = ["none", "reweighing", "repair[level=0.5]", "exponentiated_gradient", "equalized_odds"]
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
        (fold,) = draw_splits(data, block)
        label, seen = fold.train.schema.label, fold.tests[ORIGINAL].seen
        train, test = fold.train.to_frame(), seen.to_frame().drop(columns=label)
        for cell, found in zip(cells, evaluator(block, cells), strict=True):
            assert found.status == "ok", found.reason
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

    with pytest.warns(
        UserWarning, match="'city': 1 of 1 rows hold values that no training row holds: 'Rome'"
    ):
        rome = proba(city="Rome")
    assert rome == proba(city=None) == proba(city=np.nan) == proba(city="") == proba(city="?")
    with pytest.warns(UserWarning, match="'skill': the numbers of 1 of 1 rows are outside .* units"):
        assert proba(skill=99.0) == proba(skill=7.5)  # in the last bin
    assert proba(children="2") == proba(children=2.0) == proba(children=2)
    for gap in (None, "x"):
        with pytest.raises(RowsError, match="1 row has no known group") as error:
            model.predict(row.assign(sex=gap))
        assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("change", [1000, 0.001, -1, 2.2])
def test_numbers_in_another_unit_are_warned_of(change: float) -> None:
    frame = people().drop(columns="hired").assign(skill=lambda f: 50 + f["skill"])
    model = FairClassifier("none", sensitive="sex", deprived="f").fit(frame, people()["hired"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
        model.predict(frame.assign(skill=frame["skill"].where(frame.index % 3 > 0, 900)))  # a few are new
    with pytest.warns(UserWarning, match=f"'skill': the numbers of {len(frame)} of {len(frame)} rows"):
        model.predict(frame.assign(skill=change * frame["skill"]))


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


def test_a_category_without_rows_may_stand_beside_the_groups() -> None:
    frame = people()
    frame["sex"] = pd.Categorical(frame["sex"], ["f", "m", "x"])
    assert fitted(frame=frame).schema_.deprived_group == "f"


def test_nobody_need_say_who_is_deprived() -> None:
    frame = people()
    frame["sex"] = np.where(np.arange(len(frame)) < 10, "few", frame["sex"])
    frame.loc[:9, "hired"] = "no"
    model = FairClassifier("reweighing", sensitive="sex").fit(frame.drop(columns="hired"), frame["hired"])
    assert model.schema_.deprived_group == "f"  # and not the handful that nobody hired


# Values of a training column, values to predict, and the state of each of them.
READ = {
    "a number below the first": ([1, 2, 3, 4], [0, -5.5, 1, 4, 2], "11142"),
    "also among numbers of text": (["0", "1", "2", "3"], [-1, "-1", "01", "3.0"], "0013"),
    "infinity": ([0.5, 1.5, 2.5], [-np.inf, np.inf, "0.5"], ["0.5", "2.5", "0.5"]),
    "floats of 32 bits": ([0.1, 0.3, 0.7], np.array([0.3, 0.7], "float32"), ["0.3", "0.7"]),
    "True as 1": ([True, False], [1, 0, 1.0, "1", "true", "FALSE", "False"], list("TFTTTFF")),
    "1 as True": ([0, 1], [True, False, "TRUE", "false", True], "10101"),
    "nullable booleans": (pd.array([True, False], "boolean"), ["True", 0], list("TF")),
    "missing as a mark": (["a", "b", "?"], [None, np.nan, "", "NA", "?", "a"], ["missing"] * 5 + ["a"]),
    "missing as NaN": (["a", "b", None], ["?", "NA", "NULL", None, "b"], ["missing"] * 4 + ["b"]),
    "missing beside numbers": (
        [1.0, 2.0, None],
        ["?", "N/A", "2", 2, "nan"],
        ["missing"] * 2 + ["2", "2", "missing"],
    ),
    "a mark beside NaN is a value": (["a", "NA", None], ["NA", None, "a"], ["NA", "missing", "a"]),
    "categories of numbers": (pd.Categorical([1, 2, 3]), [1.0, "1", "1.0", 3], "1113"),
    "categories in another order": (pd.Categorical(["a", "b"]), pd.Categorical(["b", "a"], ["b", "a"]), "ba"),
    "a category named missing": (pd.Categorical(["a", "missing"]), [None, "?", "a"], ["missing"] * 2 + ["a"]),
}


def learned(values: Any, rows: int = 60) -> tuple[FairClassifier, Callable[[Any], list[str]]]:
    """Return a model trained on such a column beside the group, and a function from values to states."""
    column = pd.Series(values).iloc[np.arange(rows) % len(values)].reset_index(drop=True)
    frame = pd.DataFrame({"sex": np.where(np.arange(rows) % 4 < 2, "f", "m"), "x": column})
    model = FairClassifier("none", sensitive="sex", deprived="f").fit(frame, np.arange(rows) % 5 < 2)
    states = model.schema_.column("x").states

    def read(new: Any) -> list[str]:
        model.predict(pd.DataFrame({"sex": "f", "x": pd.Series(new)}))
        return [states[code] for code in model._columns[1].codes(pd.Series(new))]

    return model, read


@pytest.mark.parametrize("case", READ)
def test_a_value_is_read_alike_in_every_spelling(case: str) -> None:
    values, new, expected = READ[case]
    _, read = learned(values)
    whole = {"T": "True", "F": "False"}
    assert read(new) == [whole.get(state, state) for state in expected]


@pytest.mark.parametrize(
    ("values", "new", "states", "told"),
    [
        (
            ["a", "b", "b"],
            ["a", "c", "d", "c"],
            "abbb",
            "3 of 4 rows .* 'c', 'd'. Such values are read as 'b'",
        ),
        (["a", "b", "b"], ["a", None], "ab", "1 of 2 rows .* no value"),
        ([1, 2, 2], [1, "2 y", 2, "3,5"], "1222", "2 of 4 rows .* '2 y', '3,5'"),
        (["a", "b", "b", None], ["A", "a"], ["missing", "a"], "1 of 2 rows .* 'A'"),
        ([f"id {i}" for i in range(60)], ["id 1", "new"], ["other"] * 2, "1 of 2 rows .* 'new'"),
        (
            ["other"] * 9 + [f"id {i}" for i in range(60)],
            ["other", "new"],
            ["other", "other values"],
            "1 of 2 rows .* 'new'",
        ),
        ([True, False, False], [True, "yes"], ["True", "False"], "1 of 2 rows .* 'yes'"),
        (["+", "-", "-"], ["+", "?"], "+-", "1 of 2 rows .* '[?]'"),
    ],
)
def test_a_warning_counts_what_is_not_known(values: Any, new: Any, states: Any, told: str) -> None:
    _, read = learned(values)
    with pytest.warns(UserWarning, match=f"Column 'x': {told}"):
        assert read(new) == list(states)


@pytest.mark.parametrize(
    ("values", "new"),
    [
        ([1.5, 2.5, 3.5], ["1,5", "2,5"]),
        (["a", "b"], ["A", "B"]),
        (["a", "b"], [1, 2]),
        ([1, 2, None], ["1 y", "2 y"]),
    ],
)
def test_a_column_of_nothing_but_unknown_values_is_refused(values: Any, new: Any) -> None:
    _, read = learned(values)
    with pytest.raises(RowsError, match="The model knows no value of the column 'x'"):
        read(new)


@pytest.mark.parametrize("names", [[0, 1, 2], ["2", 1, 7.0], [10, 20, 30]])
def test_columns_named_by_numbers_go_by_name(names: list[Any]) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 9, (300, 3))).assign(sex=rng.integers(0, 2, 300))
    frame.columns = pd.Index([*names, 99], dtype=object)
    frame, y = frame if "2" not in names else frame.rename(columns={"2": 2}), rng.random(300) < 0.5
    model = FairClassifier("none", sensitive=99, deprived=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.copy()))
    shuffled = frame.iloc[:, [1, 0, 2, 3]]
    with pytest.raises(RowsError, match="in their order"), pytest.warns(UserWarning, match="feature names"):
        model.predict(shuffled.rename(columns=str))
    for other in (shuffled, frame.set_axis([5, *frame.columns[1:]], axis=1)):
        with pytest.raises(RowsError, match="not those of the training rows, in their order"):
            model.predict(other)
    array = FairClassifier("none", sensitive=3, deprived=0).fit(frame.to_numpy(), y)
    with pytest.raises(RowsError, match="not those of the training rows"):
        array.predict(frame.set_axis([1, 0, 2, 3], axis=1))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (pd.Series([True, False], dtype=object), bool),
        (pd.Series([True, False], dtype="boolean"), bool),
        (pd.Series([2, 1], dtype="Int64"), int),
        (pd.Series(["yes", "no"], dtype="category"), str),
        (pd.Categorical([1, 0]), int),
        ([True, False], bool),
    ],
)
def test_predictions_have_the_type_of_the_labels(labels: Any, kind: type) -> None:
    frame = people(200).drop(columns=["id", "hired"])
    best, worst = list(labels)
    y = (
        labels.take(np.arange(200) % 3 // 2)
        if hasattr(labels, "take")
        else [best, best, worst] * 66 + [worst] * 2
    )
    model = FairClassifier("none", sensitive="sex", deprived="f").fit(frame, y)
    assert set(model.predict(frame).tolist()) <= set(model.classes_.tolist()) == {best, worst}
    assert {type(label) for label in model.classes_.tolist()} == {kind}
    assert model.favorable_ == best


@pytest.mark.parametrize(("group", "deprived"), [("x", "f"), ("y", "m"), (3, ["f"])])
def test_a_rare_group_stays_itself(group: object, deprived: Any) -> None:
    frame = people(300).drop(columns="id").astype({"sex": object})
    frame.loc[:3, "sex"] = group
    X, y = frame.drop(columns="hired"), frame["hired"] == "yes"
    model = FairClassifier("reweighing", sensitive="sex", deprived=deprived)
    rows, _, weights = model.prepare(X, y)
    assert rows["sex"].astype(str).tolist() == X["sex"].astype(str).tolist()
    member = X["sex"].isin([*deprived])
    for side in (member, ~member):
        for label in (y, ~y):
            cell = side & label
            expected = side.mean() * label.mean() / cell.mean()
            np.testing.assert_allclose(weights[cell], expected)
    model.fit(X, y).predict(X)
    with pytest.raises(RowsError, match="1 row has no known group"):
        model.predict(X[:1].assign(sex="other"))


@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_a_group_may_be_called_na(dtype: str) -> None:
    frame = people(300).drop(columns="id").replace({"sex": {"f": "NA"}}).astype({"sex": dtype})
    X, y = frame.drop(columns="hired"), frame["hired"] == "yes"
    model = FairClassifier("reweighing", sensitive="sex", deprived="NA").fit(X, y)
    assert (model.schema_.groups, model.schema_.deprived_group) == (("NA", "m"), "NA")
    model.predict(X)
    for value, as_text in ((None, True), ("LATAM", False)):
        with pytest.raises(RowsError, match="1 row has no known group") as error:
            model.predict(X[:1].astype({"sex": object}).assign(sex=[value]))
        assert ("of the group 'NA', keep it as text" in str(error.value)) == as_text
    other = FairClassifier("reweighing", sensitive="sex", deprived="m")
    if dtype == "category":
        assert other.fit(X, y).schema_.groups == ("NA", "m")
    else:
        with pytest.raises(RowsError, match="if 'NA' is a group, make the column categorical"):
            other.fit(X, y)


@pytest.mark.parametrize("technique", ["none", "drop_sensitive", "reweighing", "reweighing favored"])
@pytest.mark.parametrize("classifier", ["logistic_regression", "c45"])
def test_a_weight_counts_as_that_many_rows(technique: str, classifier: str) -> None:
    name, *rate = technique.split()
    frame = people(300).drop(columns=["id", "skill", "city"]).astype({"children": "category"})
    X, y = frame.drop(columns="hired"), frame["hired"]
    times = np.random.default_rng(0).integers(1, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), times)
    parameters = {"rate": rate[0]} if rate else None
    model = FairClassifier(name, sensitive="sex", deprived="f", classifier=classifier, parameters=parameters)
    weighted = model.fit(X, y, sample_weight=times).predict_proba(X)
    expected = clone(model).fit(X.iloc[repeated], y.iloc[repeated]).predict_proba(X)
    np.testing.assert_allclose(weighted, expected, atol=1e-6)
    *_, own = model.prepare(X, y, sample_weight=times)
    *_, of_repeated = model.prepare(X.iloc[repeated], y.iloc[repeated])
    np.testing.assert_allclose(own[np.arange(len(X))] / times, of_repeated[np.cumsum(times) - 1])


@pytest.mark.parametrize(
    ("technique", "weights", "said"),
    [
        ("massaging", [1] * 300, "Expected: one of .*drop_sensitive, .*none, .*reweighing"),
        ("none", [0] * 300, "zero in all rows of a class"),
        ("none", [-1, *[1] * 299], "weights in sample_weight are negative"),
        ("none", [np.nan, *[1] * 299], "weights in sample_weight are negative, not finite"),
        ("none", [1] * 299, "inconsistent numbers of samples"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(technique: str, weights: Any, said: str) -> None:
    frame = people(300)
    model = FairClassifier(technique, sensitive="sex", deprived="f")
    with pytest.raises(ValueError, match=said):
        model.fit(frame.drop(columns="hired"), frame["hired"], sample_weight=weights)


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        ({}, {"sensitive": "gender"}, "There is no sensitive column 'gender'"),
        ({}, {"deprived": "female"}, "No training row has 'female' in the sensitive column 'sex'"),
        ({}, {"deprived": ["f", "m"]}, "All groups of the sensitive column 'sex' are deprived"),
        ({}, {"favorable": "maybe"}, "one class is missing"),
        ({"sex": None}, {}, "600 rows have no value in the sensitive column 'sex'"),
        ({"sex": "f"}, {"deprived": None}, "The sensitive column has one group"),
        ({}, {"parameters": {"rat": "common"}}, "has no parameter 'rat'"),
        ({}, {"classifier": {"name": "c45"}}, "This is no classifier"),
        ({}, {"technique": "reject_option", "classifier": "linear_svm"}, "needs the classifier's scores"),
        ({"hired": None}, {}, "some rows have no label"),
        ({"hired": [1, "0"] * 300}, {"favorable": 1}, r"The labels have several types.*int, str"),
        ({"sex": ["Female", "f", "m"] * 200}, {}, "'Female', which seems to mean the same, is not"),
        (
            {"sex": pd.Categorical(["f", "m"] * 300, ["f", "m", "x"])},
            {"deprived": "x"},
            "No training row has 'x'",
        ),
    ],
)
def test_an_error_says_what_to_do_and_is_a_value_error(
    change: dict[str, object], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said) as error:
        fitted(frame=people().assign(**change), **{"technique": "reweighing", **more})
    assert isinstance(error.value, BetabenchError)


@pytest.mark.parametrize(
    ("technique", "classifier"),
    [
        ("none", LogisticRegression(C=0.5)),
        ("preferential_sampling", "c45"),
        ("exponentiated_gradient", "naive_bayes"),
        ("reject_option", LogisticRegression(C=0.5)),
    ],
)
def test_a_pickled_model_and_a_clone_decide_the_same(technique: str, classifier: Any) -> None:
    model, rows = fitted(technique, classifier=classifier), people(200, 5).drop(columns="hired")
    expected = model.predict(rows)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(rows), expected)
    frame = people()
    again = clone(model).fit(frame.drop(columns="hired"), frame["hired"])
    np.testing.assert_array_equal(again.predict(rows), expected)


PLUGIN = """
import numpy as np
from typing import Annotated
from benchmark.techniques import Interval, Technique, Predictor, register

SHARE = 0.7

@register
class Above(Technique):
    name, reference, summary, version, stage = "above", "none", "Scores above a share", "1", "post"
    needs_scores = True
    share: Annotated[float, Interval(0, 1)] = 0.6

    def _fit(self, train, tools):
        classifier = tools.classifier(train.feature_schema.cardinalities)
        classifier.fit(train.features, train.y.astype(int))
        score = lambda table: classifier.predict_proba(table.features)[:, 1]
        least = np.quantile(score(train), min(self.share, SHARE))
        return Predictor(lambda test: score(test) > least, score)
"""


def test_a_plugins_pickled_model_needs_no_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN, encoding="utf-8")
    rows = people(200, 5).drop(columns="hired")
    with forgetting():
        load_plugin(path)
        model = fitted("above")
        expected, pickled = model.predict(rows), pickle.dumps(model)
        module = type(model.technique_).__module__
    path.unlink()
    monkeypatch.delitem(sys.modules, module)  # as in another process
    np.testing.assert_array_equal(pickle.loads(pickled).predict(rows), expected)
    assert module not in sys.modules


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
    frame = people().drop(columns="id")
    frame = frame[frame["city"] != "Rare"]
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


def test_what_is_prepared_trains_the_same_model() -> None:
    frame = people()
    X, y = frame.drop(columns="hired"), frame["hired"]
    new = people(200, 5).drop(columns="hired")
    for technique in ("drop_sensitive", "massaging", "repair", "correlation_remover"):
        model = fitted(technique, classifier={"classifier": "logistic_regression", "encoding": "one_hot"})
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
STATES = "repeats rows in place of weights, and states of columns are learned from rows without weights"
EXPECTED = {
    "check_estimators_pickle": UNKNOWN_GROUPS,
    "check_sample_weight_equivalence_on_dense_data": STATES,
}


@parametrize_with_checks(
    [FairClassifier("reweighing", sensitive=0, classifier="logistic_regression")],
    expected_failed_checks=lambda estimator: EXPECTED,
)
@pytest.mark.filterwarnings("ignore")
def test_it_is_an_estimator_of_scikit_learn(estimator: FairClassifier, check: Callable[[Any], None]) -> None:
    check(estimator)


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
