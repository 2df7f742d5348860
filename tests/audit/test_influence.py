"""A feature's influence is what a model loses when nothing tells the feature any more."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmark.audit import LEVELS, audit_features, rank_features
from benchmark.classifiers import make_classifier
from benchmark.conformance import example_table
from benchmark.data.table import Column, Table
from benchmark.errors import DataError, ExperimentError
from benchmark.techniques import get_technique
from tests.helpers.marks import nightly_but
from tests.helpers.tables import table


class Reader:
    """A model that somebody else has trained: it looks at one feature and at nothing else."""

    def __init__(self, rule: Callable[[np.ndarray], np.ndarray]) -> None:
        self.rule = rule
        self.seen: list[np.ndarray] = []

    def __call__(self, cardinalities: np.ndarray) -> Reader:
        return self

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: object = None) -> Reader:
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        self.seen.append(X)
        return self.rule(X).astype(int)


def naive_bayes(cardinalities: np.ndarray) -> object:
    return make_classifier("naive_bayes").build(cardinalities, 0)


def changes(audit: pd.DataFrame, feature: str, metric: str) -> list[float]:
    return audit.loc[audit["feature"] == feature, f"{metric}_change"].tolist()


def crossed(*columns: int, repeats: int) -> np.ndarray:
    """Every combination of states equally often, shape (n_columns, n_rows)."""
    return np.repeat(np.array(list(itertools.product(*map(range, columns)))), repeats, axis=0).T


def test_a_feature_acts_through_its_proxy_although_the_model_never_sees_it() -> None:
    group, feature = crossed(2, 2, repeats=40)
    data = table(group, feature, feature, feature)  # x1 is a copy of x0, and the label another
    audit = audit_features(data, data, Reader(lambda X: X[:, 2] == 1))
    assert audit["accuracy"].iloc[0] == 1
    # Of the rows of each state of x0 the share level / 2 gets the other state of x1: all of these are wrong.
    expected = [-level / 2 for level in LEVELS]
    np.testing.assert_allclose(changes(audit, "x0", "accuracy"), expected, atol=1e-12)
    np.testing.assert_allclose(changes(audit, "x1", "accuracy"), expected, atol=1e-12)
    assert changes(audit, "group", "accuracy") == [0] * 5


def test_the_sensitive_feature_discriminates_through_its_proxy() -> None:
    group, label = crossed(2, 2, repeats=40)
    data = table(group, label, group)
    audit = audit_features(data, data, Reader(lambda X: X[:, 1] == 0))
    # The share level / 2 of each group gets the other group's state, and with it its prediction.
    np.testing.assert_allclose(
        audit.loc[audit["feature"] == "group", "discrimination"], [1 - level for level in LEVELS], atol=1e-12
    )
    np.testing.assert_allclose(changes(audit, "group", "discrimination"), [-v for v in LEVELS], atol=1e-12)


def test_an_ordered_proxy_by_hand() -> None:
    # Of the states of x0 one has x1 at 0 0 2 4, the other at 2 2 4 4; they meet at 1 1 3 4.
    group = [0, 1, 0, 0, 1, 1, 1, 0]
    x1 = [0, 0, 2, 4, 2, 2, 4, 4]
    label = [int(x >= 2) for x in x1]
    data = table(group, label, [0] * 4 + [1] * 4, x1, ordered=(False, True))
    audit = audit_features(data, data, Reader(lambda X: X[:, 2] >= 2), levels=(1,))
    last = audit.set_index("feature").loc["x0"]
    # The two rows that fall from 2 to 1 are deprived: of three positive predictions each, 3 and 1 stay.
    assert (last["accuracy"], last["accuracy_change"]) == (0.75, -0.25)
    assert (last["discrimination"], last["discrimination_change"]) == (0.5, 0.5)


@pytest.mark.parametrize("classifier", nightly_but("naive_bayes", ["naive_bayes", "c45"]))
def test_noise_has_no_influence(classifier: str) -> None:
    group, feature, noise = crossed(2, 2, 3, repeats=20)
    label = np.where(np.arange(len(group)) % 20 < 15, feature, 1 - feature)
    factory = make_classifier(classifier)
    data = table(group, label, feature, noise, feature)
    audit = audit_features(data, data, lambda c: factory.build(c, 0))
    assert changes(audit, "x1", "accuracy") == [0] * 5
    assert changes(audit, "x1", "discrimination") == [0] * 5
    assert changes(audit, "x0", "accuracy")[-1] < -0.1


@pytest.mark.parametrize("feature", ["skill", "sex", "proxy", "noise"])
def test_at_level_1_no_column_tells_the_feature(feature: str) -> None:
    data = example_table()
    model = Reader(lambda X: X[:, 0] > 3)
    audit_features(data, data, model, levels=(1,))
    names = [name for name in data.schema.names if name != "label"]
    obscured = model.seen[1 + names.index(feature)]  # the first rows are the original ones
    states = data.codes[:, data.schema.index(feature)]
    present = np.unique(states)
    for column in range(len(names)):
        shares = np.array(
            [np.bincount(obscured[states == s, column], minlength=7) / (states == s).sum() for s in present]
        )
        row = np.array([1 / (states == s).sum() for s in present])
        distance = np.abs(shares[:, None] - shares).max(axis=2)
        assert (distance <= row[:, None] + row + 1e-12).all()  # equal to within one row


def test_a_hidden_sensitive_feature_still_has_an_influence_on_what_a_technique_trains() -> None:
    train, test = example_table(4000), example_table(4000, seed=8)
    audit = audit_features(train, test, naive_bayes, technique=get_technique("drop_sensitive"))
    sex = audit[audit["feature"] == "sex"]
    assert sex["discrimination"].iloc[0] > 0.2
    assert sex["discrimination"].iloc[-1] < 0.05
    assert sex["discrimination"].is_monotonic_decreasing
    assert rank_features(audit).set_index("feature").loc["noise", "discrimination_rank"] == 4
    plain = audit_features(train, test, naive_bayes, levels=(0,))["discrimination"].iloc[0]
    assert sex["discrimination"].iloc[0] < plain - 0.1


def test_a_row_for_each_feature_and_level_nothing_at_level_0_and_the_same_by_the_same_seed() -> None:
    train, test = example_table(), example_table(seed=8)
    before, state = test.codes.copy(), np.random.get_state()[1].copy()  # noqa: NPY002
    audit, again, other = (
        audit_features(train, test, naive_bayes, levels=(0.5, 0), seed=seed) for seed in (1, 1, 2)
    )
    assert audit["feature"].tolist() == np.repeat(["skill", "sex", "proxy", "noise"], 2).tolist()
    assert audit["level"].tolist() == [0.5, 0.0] * 4
    original = audit[audit["level"] == 0]
    assert not original[["accuracy_change", "discrimination_change"]].any(axis=None)
    assert original["accuracy"].nunique() == 1
    for metric in ("accuracy", "discrimination"):
        np.testing.assert_allclose(audit[metric] - audit[f"{metric}_change"], original[metric].iloc[0])
    pd.testing.assert_frame_equal(audit, again)
    assert not audit.equals(other)
    np.testing.assert_array_equal(test.codes, before)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_a_feature_of_one_state_has_no_influence() -> None:
    plain = example_table()
    schema = replace(plain.schema, columns=(*plain.schema.columns, Column("country", ("here",))))
    data = Table(schema, np.column_stack([plain.codes, np.zeros(len(plain), dtype=np.int16)]))
    audit = audit_features(data, data, naive_bayes)
    assert changes(audit, "country", "accuracy") == [0] * 5


def test_what_is_refused() -> None:
    data = example_table()
    for levels in ((), (0.5, 1.1), (-0.1,), (float("nan"),)):
        with pytest.raises(ExperimentError, match="from 0 to 1"):
            audit_features(data, data, naive_bayes, levels=levels)
    for what, keep in (("group", data.deprived), ("group", ~data.deprived), ("label", data.y)):
        with pytest.raises(DataError, match=f"of one {what}"):
            audit_features(data, data.take(keep), naive_bayes)


def test_ranking_by_hand() -> None:
    audit = pd.DataFrame(
        [
            ("a", 0.0, 0.0, 0.0),
            ("a", 1.0, -0.1, 0.2),
            ("b", 0.0, 0.0, 0.0),
            ("b", 1.0, -0.3, -0.5),
            ("c", 0.0, -0.9, 0.9),
            ("c", 1.0, -0.1 - 1e-16, 0.0),
            ("d", 1.0, 0.05, 0.2),
        ],
        columns=["feature", "level", "accuracy_change", "discrimination_change"],
    ).assign(accuracy_change_error=0.1, discrimination_change_error=0.2)
    ranking = rank_features(audit)
    assert ranking["feature"].tolist() == ["b", "a", "c", "d"]
    assert ranking["accuracy_rank"].tolist() == [1, 2, 2, 4]
    assert ranking["discrimination_rank"].tolist() == [1, 2, 4, 2]
    assert ranking["discrimination_change"].tolist() == [-0.5, 0.2, 0.0, 0.2]
    assert ranking["discrimination_change_error"].tolist() == [0.2] * 4


def test_errors_by_hand() -> None:
    group, feature = crossed(2, 2, repeats=40)
    data = table(group, feature, feature)
    audit = audit_features(data, data, Reader(lambda X: X[:, 1] == 1), levels=(1,)).set_index("feature")
    # Half of the 160 rows become wrong and none right; with half a row more of each, of 162.
    lost, gained = 80.5 / 162, 0.5 / 162
    error = 1.959964 * np.sqrt((lost + gained - (lost - gained) ** 2) / 162)
    assert audit.loc["x0", "accuracy_change_error"] == pytest.approx(error, rel=1e-6)
    # Of the 80 rows of each group, about 20 are no longer predicted favorable, and about 20 are now.
    share = 20.5 / 82
    error = 1.959964 * np.sqrt(2 * 2 * share / 82)
    assert audit.loc["x0", "discrimination_change_error"] == pytest.approx(error, rel=0.01)
    # No prediction changes, and yet those of other rows might: at most about 2 of 160.
    assert audit.loc["group", "accuracy_change"] == 0
    assert audit.loc["group", "accuracy_change_error"] == pytest.approx(1.96 / 162, rel=1e-3)
