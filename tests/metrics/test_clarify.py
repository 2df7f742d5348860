"""The metrics of Amazon SageMaker Clarify: its open-source package, its formulas, its published example."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import rel_entr

from benchmark.metrics import Group, Predictions, get_metric, list_metrics, measure
from benchmark.metrics.inputs import Conventions

# All that the package reports, in its own abbreviations.
ALL = (
    "CI", "DPL", "KL", "JS", "LP", "TVD", "KS", "CDDL", "DPPL", "DI", "DCA", "DCR", "RD", "SD", "DAR", "DRR",
    "AD", "CDDPL", "TE", "FT", "GE",
)  # fmt: skip
OURS = {e.name: m.name for m in list_metrics().values() for e in m.equivalents if e.source == "Clarify"}


def test_every_metric_of_the_package_is_one_of_ours() -> None:
    assert set(OURS) == set(ALL)
    named = [e for m in list_metrics().values() for e in m.equivalents if e.source == "Clarify"]
    assert len(named) == len(ALL)
    assert {(e.test, e.relation) for e in named} == {("tests/metrics/test_clarify.py::test_package", "same")}


# ---- the package


@functools.cache
def package_rows(folder: Path, facet: str) -> Predictions:
    table = pd.read_csv(folder / "metrics" / "clarify_input.csv.gz")
    codes, names = pd.factorize(table[facet], sort=True)
    return Predictions(
        codes,
        tuple(map(str, names)),
        table["label"].to_numpy() == 1,
        table["prediction"].to_numpy() == 1,
        strata=pd.factorize(table["stratum"])[0],
        features=table[[f"f{i}" for i in range(1, 7)]].to_numpy(float),
    )


@pytest.mark.oracle
@pytest.mark.parametrize("name", ALL)
def test_package(name: str, oracle_dir: Path) -> None:
    expected = pd.read_csv(oracle_dir / "metrics" / "clarify_metrics.csv")
    expected = expected[expected["metric"] == name]
    assert len(expected) == 6  # two sexes, four races
    for facet, numbers in expected.groupby("facet"):
        found = measure(package_rows(oracle_dir, str(facet)), [OURS[name]], conventions="clarify")
        values = {m.group: m.value for m in found}
        for value, number in zip(numbers["facet_value"], numbers["number"], strict=True):
            assert values.get(value, values.get("")) == pytest.approx(number, abs=1e-9)


@functools.cache
def edge_cases(folder: Path) -> dict[str, Predictions]:
    """Expand the small tables; group 0 is the package's facet a, group 1 its facet d."""
    counts = pd.read_csv(folder / "clarify_edge_input.csv")
    found = {}
    for case, table in counts.groupby("case"):
        each = table.loc[table.index.repeat(table["count"])]
        found[str(case)] = Predictions(
            (each["side"] == "d").to_numpy().astype(int),
            ("a", "d"),
            each["label"].to_numpy() == 1,
            each["prediction"].to_numpy() == 1,
            strata=pd.factorize(each["stratum"])[0],
        )
    for case, table in pd.read_csv(folder / "clarify_edge_flip_input.csv").groupby("case"):
        found[str(case)] = Predictions(
            (table["side"] == "d").to_numpy().astype(int),
            ("a", "d"),
            y_pred=table["prediction"].to_numpy() == 1,
            features=table[["x1", "x2"]].to_numpy(float),
        )
    return found


def of_side_d(rows: Predictions, name: str, conventions: Conventions) -> tuple[float, str]:
    measured = {m.group: (m.value, m.reason) for m in measure(rows, [name], conventions=conventions)}
    return measured["d" if "d" in measured else ""]


# Where the package leaves out a label that one of the groups lacks.
DISTANCES = {"KL", "JS", "LP", "TVD", "KS"}


@pytest.mark.oracle
@pytest.mark.parametrize("name", ALL)
def test_edge_cases(name: str, oracle_dir: Path) -> None:
    cases = edge_cases(oracle_dir / "metrics")
    expected = pd.read_csv(oracle_dir / "metrics" / "clarify_edge_metrics.csv")
    expected = expected[expected["metric"] == name]
    assert len(expected) == (4 if name == "FT" else 23)
    for case, number in zip(expected["case"], expected["number"], strict=True):
        value, reason = of_side_d(cases[case], OURS[name], "clarify")
        assert value == pytest.approx(number, abs=1e-9, nan_ok=True), case
        assert bool(reason) == math.isnan(number), case

        value, reason = of_side_d(cases[case], OURS[name], "betabench")
        assert bool(reason) == math.isnan(value), case
        assert value == pytest.approx(by_definition(cases[case])[name], abs=1e-9, nan_ok=True), case
        if value != pytest.approx(number, abs=1e-9, nan_ok=True):
            assert math.isnan(value) or name in DISTANCES, case
        assert math.isfinite(value) or bool(reason) or name == "KL", case


# ---- the formulas


def over(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def by_definition(rows: Predictions) -> dict[str, float]:
    """Compute all metrics from the formulas, group 1 in question; NaN where something is divided by 0."""
    d, a = rows.codes == 1, rows.codes != 1
    found: dict[str, float] = {}
    if rows.features is not None:
        found["FT"] = flips(rows)
    if rows.y_true is None:
        return found
    y, p = rows.y_true, rows.y_pred

    def n(*conditions: np.ndarray) -> int:
        return int(np.logical_and.reduce(conditions).sum())

    def gap(part: np.ndarray, whole: np.ndarray) -> float:
        """Share of ``part`` in ``whole``, in a minus in d."""
        return over(n(a, part), n(a, whole)) - over(n(d, part), n(d, whole))

    everyone = np.ones(len(y), bool)
    both = n(a) and n(d)
    found["CI"] = (n(a) - n(d)) / len(y) if both else math.nan
    found["DPL"], found["DPPL"], found["AD"] = (gap(x, everyone) for x in (y, p, y == p))
    found["RD"], found["SD"] = gap(p & y, y), -gap(~p & ~y, ~y)
    found["DAR"], found["DRR"] = gap(p & y, p), -gap(~p & ~y, ~p)
    found["DCA"], found["DCR"], found["TE"] = gap(y, p), -gap(~y, ~p), -gap(y & ~p, p & ~y)
    found["DI"] = over(over(n(d, p), n(d)), over(n(a, p), n(a)))
    shares_a, shares_d = (
        np.array([over(n(side, ~y), n(side)), over(n(side, y), n(side))]) for side in (a, d)
    )
    mixed, apart = (shares_a + shares_d) / 2, shares_a - shares_d
    found["KL"] = rel_entr(shares_a, shares_d).sum()
    found["JS"] = (rel_entr(shares_a, mixed) + rel_entr(shares_d, mixed)).sum() / 2
    found["LP"], found["TVD"], found["KS"] = np.sqrt(apart @ apart), abs(apart).sum() / 2, abs(apart).max()
    for name, good in (("CDDL", y), ("CDDPL", p)):
        strata = [rows.strata == s for s in np.unique(rows.strata)]
        found[name] = math.nan
        if both:
            found[name] = sum(
                n(s) / len(y) * (over(n(s, ~good, d), n(s, ~good)) - over(n(s, good, d), n(s, good)))
                for s in strata
            )
    benefit = p.astype(float) - y + 1
    found["GE"] = ((benefit / benefit.mean()) ** 2 - 1).mean() / 2 if benefit.any() else math.nan
    return found


def flips(rows: Predictions) -> float:
    """Flip test of group 1, row by row; no two distances may be equal."""
    others, found = rows.codes != 1, []
    x, p = rows.features[others], rows.y_pred[others]
    k = 5 if len(x) > 9 else 1
    for one, own in zip(rows.features[~others], rows.y_pred[~others], strict=True):
        nearest = np.argsort(np.sqrt(((x - one) ** 2).sum(axis=1)))[:k]
        found.append(int(own) - int(p[nearest].mean() > 0.5))
    return float(np.mean(found)) if found and len(x) else math.nan


def drawn(seed: int, n: int = 400, groups: int = 2) -> Predictions:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, groups, n)
    y_true = rng.random(n) < 0.3 + 0.3 * (codes == 1)
    y_pred = rng.random(n) < np.where(y_true, 0.7, 0.3) - 0.1 * (codes == 1)
    return Predictions(
        codes,
        tuple("abcd"[:groups]),
        y_true,
        y_pred,
        strata=rng.integers(0, 3, n),
        features=rng.normal(size=(n, 3)) + codes[:, None],
    )


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("seed", "groups"), [(0, 2), (1, 2), (2, 4)])
def test_formulas(name: str, seed: int, groups: int) -> None:
    rows = drawn(seed, groups=groups)
    expected = by_definition(rows)
    assert len(expected) == len(ALL)
    (value,) = (m.value for m in measure(rows, [OURS[name]]) if m.group in ("b", ""))
    assert value == pytest.approx(expected[name], abs=1e-12)
    assert abs(value) > 1e-4  # nothing is compared where all would be 0


def side(name: str, **counts: float) -> Group:
    return Group(name, **counts, n_rows=int(sum(counts.values())))


def test_labels_that_only_one_group_has() -> None:
    """Half of the favored group and nobody of the deprived one has the favorable label."""
    deprived, favored = side("d", tp=0, fp=0, fn=0, tn=4), side("a", tp=3, fp=0, fn=0, tn=3)
    counted = [
        metric for metric in list_metrics().values() if metric.family == "labels" and metric.from_counts
    ]
    values = {metric.name: metric(deprived, favored) for metric in counted}
    assert values == pytest.approx(
        {
            "class_imbalance": 0.2,
            "label_discrimination": 0.5,
            "label_kl_divergence": math.inf,
            "label_js_divergence": (0.5 * math.log(2 / 3) + 0.5 * math.log(2) + math.log(4 / 3)) / 2,
            "label_lp_norm": math.sqrt(0.5),
            "label_total_variation": 0.5,
            "label_kolmogorov_smirnov": 0.5,
        }
    )
    # The other way round, the favored group has no label that the deprived group lacks.
    assert get_metric("label_kl_divergence")(favored, deprived) == pytest.approx(math.log(2))


def test_reasons() -> None:
    rows = {"codes": np.array([0, 0, 1, 1]), "names": ("a", "b"), "y_pred": np.array([1, 0, 0, 0], bool)}
    strata = Predictions(**rows, strata=np.array([0, 0, 0, 1]))
    names = ["conditional_disparity", "disparate_impact", "predicted_positive_share"]
    reasons = {(m.metric, m.group): m.reason for m in measure(strata, names)}
    assert reasons == {
        ("conditional_disparity", "a"): "there is no row with a favorable prediction in 1 of 2 strata",
        ("conditional_disparity", "b"): "there is no row with a favorable prediction in 1 of 2 strata",
        ("disparate_impact", "a"): "the selection rate of the groups other than 'a' is 0",
        ("disparate_impact", "b"): "",
        ("predicted_positive_share", "a"): "",
        ("predicted_positive_share", "b"): "",
    }
    nobody = Predictions(**(rows | {"y_pred": np.zeros(4, bool)}), strata=np.zeros(4, int))
    reasons = {m.metric: m.reason for m in measure(nobody, names, conventions="clarify") if m.group == "b"}
    assert reasons == {
        "conditional_disparity": "there is no row with a favorable prediction",
        "disparate_impact": "",
        "predicted_positive_share": "no row is predicted the favorable outcome",
    }


def test_shares_of_favorable_predictions() -> None:
    """Of 6 favorable predictions, 3, 2 and 1 go to groups of any size."""
    codes = np.repeat([0, 1, 2], [9, 4, 2])
    y_pred = np.concatenate([np.arange(n) < k for n, k in ((9, 3), (4, 2), (2, 1))])
    rows = Predictions(codes, ("a", "b", "c"), y_pred=y_pred)
    shares = [m.value for m in measure(rows, ["predicted_positive_share"])]
    assert shares == pytest.approx([1 / 2, 1 / 3, 1 / 6])
    disparities = [m.value for m in measure(rows, ["predicted_positive_share_disparity"], reference="b")]
    assert disparities == pytest.approx([3 / 2, 1, 1 / 2])


# ---- the published example
