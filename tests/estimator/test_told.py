"""What a user tells a technique about the bias in a frame, and numbers that a classifier trains on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from benchmark import FairClassifier
from benchmark.errors import BetabenchError
from benchmark.techniques import Knowledge


def applicants(
    n: int = 4000, seed: int = 0, women: float = 0.4, lost: float = 0.35
) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Return applicants, who was hired, and who should have been: some good women were refused."""
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < women, "F", "M")
    score, years = rng.normal(0, 1, n), rng.integers(0, 20, n)
    good = rng.random(n) < 1 / (1 + np.exp(-1.2 * score - 0.1 * (years - 9)))
    hired = good & ~((group == "F") & (rng.random(n) < lost))
    frame = pd.DataFrame({"group": group, "score": score.round(2), "years": years})
    return frame, *(pd.Series(np.where(own, "yes", "no")) for own in (hired, good))


X, Y, TRUTH = applicants()
FEMALE = X["group"] == "F"


def true_rates(rows: pd.DataFrame, truth: pd.Series) -> dict[str, float]:
    return {group: float((truth[rows["group"] == group] == "yes").mean()) for group in ("F", "M")}


RATES = true_rates(X, TRUTH)
GAP = RATES["F"] - float((Y[FEMALE] == "yes").mean())


def model(technique: str, told: Any = None, **more: Any) -> FairClassifier:
    given: dict[str, Any] = {"classifier": "logistic_regression", "deprived": "F", **more}
    return FairClassifier(technique, sensitive="group", told=told, **given)


def known(technique: str, told: Any, rows: pd.DataFrame = X, y: pd.Series = Y, **more: Any) -> Knowledge:
    """Return what reaches a technique of the facts that a user tells."""
    return model(technique, told, **more)._learn(rows, y)[2].known


REFUSED = X.index[FEMALE & (Y == "no")][:50]


def test_a_technique_hears_the_facts_that_it_declares_alone() -> None:
    told = {"gap": 0.1, "kind": "selection", "rates": RATES, "bounds": [0.3, 0.5], "direction": True}
    told |= {"refusals": (REFUSED, TRUTH[REFUSED]), "clean_rows": ([0, 3], ["yes", "no"])}
    assert vars(known("gap_weights", told)) == {"gap": 0.1, "kind": "selection"}
    assert vars(known("rate_weights", told)) == {"rates": pytest.approx((RATES["F"], RATES["M"]))}
    assert vars(known("rate_bounds", told)) == {"kind": "selection", "bounds": (0.3, 0.5)}
    assert vars(known("positive_unlabeled", told)) == {"direction": True, "kind": "selection"}
    refusals = known("refusal_weights", told).refusals
    assert list(refusals.rows) == list(REFUSED)
    assert (refusals.favorable == (TRUTH[REFUSED] == "yes")).all()
    clean = known("audited_rows", told).clean_rows
    assert (list(clean.rows), list(clean.favorable)) == ([0, 3], [True, False])


def test_rows_are_named_by_the_index_and_arrays_have_none() -> None:
    named = X.set_axis([f"p{i}" for i in range(len(X))])
    told = {"refusals": ([f"p{i}" for i in REFUSED], TRUTH[REFUSED])}
    assert list(known("refusal_weights", told, named).refusals.rows) == list(REFUSED)
    shuffled = X.sample(frac=1, random_state=1)
    rows = known("refusal_weights", {"refusals": (REFUSED, TRUTH[REFUSED])}, shuffled, Y[shuffled.index])
    assert list(shuffled.index[rows.refusals.rows]) == list(REFUSED)
    # In a part of an array, as in cross-validation, these positions are other people.
    told = {"clean_rows": ([0, 3], ["yes", "no"])}
    array = FairClassifier("audited_rows", sensitive=0, deprived="F", told=told)
    with pytest.raises(ValueError, match="Expected: X as a data frame"):
        array.fit(X.to_numpy(dtype=object)[1000:], Y[1000:])


def test_rates_of_several_groups_are_means_over_people() -> None:
    three = X.assign(group=np.where(FEMALE & (X["years"] > 10), "X", X["group"]))
    n = three["group"].value_counts()
    rates = {"F": 0.5, "X": 0.2, "M": 0.6}
    deprived, favored = known("rate_weights", {"rates": rates}, three, deprived=["F", "X"]).rates
    assert deprived == pytest.approx((0.5 * n["F"] + 0.2 * n["X"]) / (n["F"] + n["X"]))
    assert favored == pytest.approx(0.6)
    weights = 1.0 + (three["group"] == "F")
    own = model("rate_weights", {"rates": rates}, deprived=["F", "X"])._learn(three, Y, weights)[2].known
    assert own.rates[0] == pytest.approx((0.5 * 2 * n["F"] + 0.2 * n["X"]) / (2 * n["F"] + n["X"]))
    deprived, favored = known("rate_weights", {"rates": rates}, three).rates
    assert favored == pytest.approx((0.6 * n["M"] + 0.2 * n["X"]) / (n["M"] + n["X"]))
    numbers = X.assign(group=FEMALE.astype(int))
    assert known("rate_weights", {"rates": {1: 0.5, 0: 0.6}}, numbers, deprived=1).rates == pytest.approx(
        (0.5, 0.6)
    )


LABEL = {"kind": "label"}
NOT_REFUSED = ([*REFUSED, X.index[~FEMALE][0]], ["no"] * 51)
WRONG: dict[str, tuple[str, Any, str]] = {
    "nothing": ("gap_weights", None, "'gap_weights' has to be told the kind of the bias. Expected: told="),
    "another fact": ("rate_weights", {"gap": 0.1}, "has to be told the rates of the bias.* Got: 'gap'"),
    "no need": ("reweighing", {"gap": 0.1}, "'reweighing' makes nothing of what it is told"),
    "no fact": ("gap_weights", {"gapp": 0.1}, "'gapp' is no fact about a bias. Expected: direction, kind,"),
    "percent": ("gap_weights", {"gap": 10, **LABEL}, "as 'gap' cannot be. Expected: a number from -1 to 1"),
    "kind": ("gap_weights", {"gap": 0.1, "kind": "labels"}, "as 'kind' cannot be. Expected: one of 'label'"),
    "a group lacks": ("rate_weights", {"rates": {"F": 0.4}}, "a rate from 0 to 1 for each.*none for 'M'"),
    "no group": ("rate_weights", {"rates": {**RATES, "D": 0.1}}, "groups: 'F', 'M'. Got: a rate of 'D'"),
    "no rate": ("rate_weights", {"rates": {"F": 40, "M": 0.5}}, "Got: 40 for 'F'"),
    "bounds": ("rate_bounds", {"bounds": (0.5, 0.3), **LABEL}, "told as 'bounds' cannot be"),
    "not refused": ("refusal_weights", {"refusals": NOT_REFUSED}, "not refused, or of other groups"),
    "no row": ("refusal_weights", {"refusals": ([-1], ["no"])}, "rows that are not in X, or are named twice"),
    "twice": ("refusal_weights", {"refusals": ([*REFUSED[:1]] * 2, ["no"] * 2)}, "are named twice"),
    "labels": ("refusal_weights", {"refusals": (REFUSED, ["no"])}, "1 labels for 50 rows"),
    "no label": ("refusal_weights", {"refusals": (REFUSED, [True] * 50)}, "no class of y. Expected: 'no' or"),
    "much": ("refusal_weights", {"refusals": pd.Series(range(60))}, "Got: a Series. What to do"),
    "form": ("refusal_weights", {"refusals": 50}, "told as 'refusals' cannot be. Expected: .rows, labels"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_told_is_an_error(case: str) -> None:
    technique, told, said = WRONG[case]
    with pytest.raises(ValueError, match=said) as error:
        model(technique, told).fit(X, Y)
    assert isinstance(error.value, BetabenchError)


TOLD: dict[str, Any] = {
    "rate_weights": {"rates": RATES},
    "gap_weights": {"gap": GAP, "kind": "label"},
    "refusal_weights": {"refusals": (REFUSED, TRUTH[REFUSED])},
}


@pytest.mark.parametrize("classifier", ["logistic_regression", "c45"])
def test_who_is_told_agrees_more_with_the_true_labels(classifier: str) -> None:
    new, _, truth = applicants(seed=1)
    nothing = (model("none", classifier=classifier).fit(X, Y).predict(new) == truth).mean()
    for technique, told in TOLD.items():
        own = clone(model(technique, told, classifier=classifier)).fit(X, Y)
        assert (own.predict(new) == truth).mean() > nothing + 0.01, technique
    _, labels, weights = model("gap_weights", TOLD["gap_weights"]).prepare(X, Y)
    assert (labels == Y).all()
    assert weights[FEMALE & (Y == "yes")].min() > weights[~FEMALE].max()


# ------------------------------------------------------------------------------------------------ numbers


def test_a_classifier_of_numbers_trains_on_the_numbers() -> None:
    new = applicants(500, seed=2)[0]
    for classifier in ("logistic_regression", {"classifier": "logistic_regression"}, LogisticRegression()):
        own = model("none", classifier=classifier).fit(X, Y)
        same = own.predict_proba(new.assign(score=new["score"]))[:, 1]
        moved = own.predict_proba(new.assign(score=new["score"] + 1e-6))[:, 1]
        assert ((moved - same) > 0).all(), "any other number is another probability"
        table = own._rows(new)
        np.testing.assert_array_equal(table.numbers.of("score"), new["score"])
    bins: list[Any] = [{"classifier": "logistic_regression", "encoding": e} for e in ("one_hot", "ordinal")]
    for classifier in ("c45", "naive_bayes", *bins):
        assert model("none", classifier=classifier).fit(X, Y)._rows(new).numbers is None


def test_numbers_that_are_missing_or_infinite_are_read() -> None:
    rows = X.copy()
    rows.loc[::7, "score"] = np.nan
    own = model("none").fit(rows, Y)
    new = applicants(40, seed=2)[0]
    largest = own.predict_proba(new.assign(score=rows["score"].max()))
    np.testing.assert_array_equal(own.predict_proba(new.assign(score=np.inf)), largest)
    assert np.isfinite(own.predict_proba(new.assign(score=np.nan))).all()
