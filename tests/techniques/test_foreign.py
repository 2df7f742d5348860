"""Techniques of aif360, fairlearn and scikit-learn by name."""

import ast
import csv
import importlib
import importlib.util
import logging
import random
import sys
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from packaging.version import Version

from benchmark.conformance import check_technique, example_table
from benchmark.data.table import Table
from benchmark.errors import BetabenchError, DeclinedError, TechniqueError, UnknownNameError
from benchmark.experiment.entries import TechniqueEntry
from benchmark.experiment.evaluate import describe_technique
from benchmark.experiment.expand import narrow
from benchmark.experiment.plan import Experiment
from benchmark.techniques import _foreign as shared
from benchmark.techniques import find_technique, get_technique, list_techniques
from benchmark.techniques._foreign_libraries import FOREIGN, UNREACHABLE
from benchmark.techniques.registry import declaration_flaws
from tests.helpers.techniques import fitted as technique_fitted
from tests.helpers.techniques import prepare
from tools.side_by_side import DATASETS, METRICS, PAIRS, VALUES, compared, split

# Cheaper than their defaults: what is checked does not hang on how long they search.
SMALL: dict[str, dict[str, Any]] = {
    "aif360:LFR": {"Az": 0.1, "maxiter": 30, "maxfun": 1000},
    "fairlearn:PrototypeRepresentationLearner": {"max_iter": 5},
}
QUICK = [
    "aif360:Reweighing",
    "fairlearn:CorrelationRemover",
    "sklearn:sklearn.preprocessing.KBinsDiscretizer",
    "sklearn:sklearn.decomposition.PCA",
]
# With a learner of their own, of which no parameter takes the mitigation away.
ALWAYS_MITIGATE = {"aif360:MetaFairClassifier", "fairlearn:AdversarialFairnessClassifier"}
SLOW = [name for name in FOREIGN if name not in QUICK]
NOT_INSTALLED = {
    name for name, kind in FOREIGN.items() if get_technique(name).skip(example_table()) is not None
}


def fitted(name: str, train: Table, test: Table, **parameters: Any) -> NDArray[np.bool_]:
    return technique_fitted(name, train, "naive_bayes", 5, **parameters).predict(test)


@pytest.fixture(scope="module")
def tables() -> tuple[Table, Table]:
    return example_table(), example_table(300, seed=8)


def public_classes() -> dict[str, set[str]]:
    """Return what the two libraries show in the packages of their techniques, by the names used here."""
    prefixes = {
        "aif360": {"algorithms/{}": "aif360:", "sklearn/{}": "aif360:sklearn."},
        "fairlearn": {"{}": "fairlearn:"},
    }
    stages = ("preprocessing", "inprocessing", "postprocessing", "reductions", "adversarial")
    found: dict[str, set[str]] = {library: set() for library in prefixes}
    for library, folders in prefixes.items():
        spec = importlib.util.find_spec(library)  # read, not imported: that takes seconds
        for folder, prefix in folders.items():
            for stage in stages:
                file = Path(spec.origin).parent / folder.format(stage) / "__init__.py"
                tree = ast.parse(file.read_text(encoding="utf-8")) if file.exists() else ast.Module([], [])
                for node in tree.body:
                    if isinstance(node, ast.ImportFrom) and (node.level or library in str(node.module)):
                        names = [alias.name for alias in node.names]
                    else:
                        names = [node.name] if isinstance(node, ast.ClassDef) else []
                    found[library] |= {prefix + name for name in names if name[:1].isupper()}
    assert all(len(names) > 5 for names in found.values())
    return found


def test_every_technique_of_both_libraries_is_reachable_or_in_the_table_of_reasons() -> None:
    for library, classes in public_classes().items():
        reachable = {name for name in FOREIGN if name.startswith(library)}
        left_out = {name for name in UNREACHABLE if name.startswith(library)}
        assert not classes - reachable - left_out
        if Version(metadata.version("fairlearn")) >= Version("0.15"):  # earlier ones have less
            assert not (reachable | left_out) - classes
        assert not reachable & left_out
    assert all(len(reason) > 10 for reason in UNREACHABLE.values())


def test_each_is_declared_as_a_technique_of_ours_is() -> None:
    for name, kind in FOREIGN.items():
        assert declaration_flaws(kind) == []
        assert get_technique(name).name == name
        assert kind.reference == list_techniques()[PAIRS[name].ours].reference
        assert name.partition(":")[0] in kind.packages
        assert find_technique(name) is kind


@pytest.mark.parametrize(
    ("name", "parameters", "error", "says"),
    [
        ("aif360:Rewieghing", {}, UnknownNameError, "did you mean 'Reweighing'"),
        ("aif3600:Reweighing", {}, UnknownNameError, "did you mean 'aif360'"),
        ("AIF360:Reweighing", {}, UnknownNameError, "did you mean 'aif360'"),
        ("aif360:", {}, TechniqueError, "but no technique.* such as aif360:Reweighing"),
        ("sklearn:", {}, TechniqueError, "but no technique"),
        ("aif360:ARTClassifier", {}, DeclinedError, "as a technique: .* Adversarial Robustness Toolbox"),
        ("aif360:sklearn.Reweighing", {}, DeclinedError, "the method of aif360:Reweighing once more"),
        ("fairlearn:ThresholdOptimizer", {}, DeclinedError, "the code that 'threshold_optimizer' of this"),
        ("aif360:LFR", {"K": 3}, TechniqueError, "no parameter 'K'"),
        ("aif360:LFR", {"k": "three"}, TechniqueError, "must be an integer in .* Got 'three'"),
        ("sklearn:sklearn.decomposition.PCAA", {}, TechniqueError, "cannot be imported"),
        ("sklearn:sklearn.linear_model.Lasso", {}, TechniqueError, "names no transformer"),
        ("sklearn:nowhere.at.all", {}, TechniqueError, "cannot be imported"),
        (
            "sklearn:sklearn.decomposition.PCA",
            {"random_state": 1},
            TechniqueError,
            "no parameter 'random_state'",
        ),
        ("sklearn:sklearn.decomposition.PCA", {"n_components": "many"}, TechniqueError, "Got 'many' instead"),
        ("sklearn:sklearn.decomposition.PCA", {"states": 1}, TechniqueError, "'states' parameter .* integer"),
    ],
)
def test_a_wrong_name_or_parameter_is_one_clear_sentence(
    name: str, parameters: dict[str, Any], error: type[BetabenchError], says: str
) -> None:
    with pytest.raises(error, match=says):
        get_technique(name, **parameters)


def test_what_an_older_version_has_not_is_a_reason(tables: tuple[Table, Table]) -> None:
    with pytest.raises(DeclinedError, match="The installed fairlearn does not bring Nothing"):
        shared.library("fairlearn.preprocessing.Nothing")


def test_a_missing_package_is_a_reason_to_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "find_spec", lambda name: None)
    reason = get_technique("aif360:DisparateImpactRemover").skip(example_table())
    assert reason == "BlackBoxAuditing is not installed: pip install BlackBoxAuditing"


@pytest.mark.parametrize("name", QUICK)
def test_it_conforms(name: str) -> None:
    conforms(name)


DAILY = ("aif360:LFR", "fairlearn:PrototypeRepresentationLearner")  # one of each library


@pytest.mark.slow
@pytest.mark.parametrize("name", DAILY)
def test_slow_ones_conform(name: str) -> None:
    conforms(name)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [n for n in SLOW if n not in DAILY])
def test_all_others_conform(name: str) -> None:
    conforms(name)


def conforms(name: str) -> None:
    if name in NOT_INSTALLED:
        pytest.skip("a package is not installed")
    results = check_technique(get_technique(name, **SMALL.get(name, {})))
    if name in ALWAYS_MITIGATE:
        results = [r for r in results if not r.detail.startswith("It never calls tools.classifier")]
    assert [r for r in results if r.status in ("failed", "warning")] == []
    assert results[0].status == "passed"


def test_their_weights_are_ours(tables: tuple[Table, Table]) -> None:
    theirs, ours = (prepare(name, tables[0]).sample_weight for name in ("aif360:Reweighing", "reweighing"))
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9)


def test_disparate_impact_is_removed_as_the_library_does() -> None:
    repairer = pytest.importorskip("BlackBoxAuditing.repairers.GeneralRepairer")
    table = example_table(300)
    prepared = prepare("aif360:DisparateImpactRemover", table, treatment="ordinal", repair_level=0.7)
    columns = list(table.schema.insensitive_indices)
    rows = [
        [*map(float, row), float(not d)]
        for row, d in zip(table.codes[:, columns], table.deprived, strict=True)
    ]
    repaired = np.array(repairer.Repairer(rows, len(columns), 0.7, False).repair(rows), dtype=float)
    made = prepared.table.codes[:, list(prepared.feature_indices)]
    for j in range(len(columns)):  # states are the different values, in their order
        assert np.array_equal(made[:, j], np.unique(repaired[:, j], return_inverse=True)[1])


def test_libraries_leave_no_trace() -> None:
    np.random.seed(3)  # noqa: NPY002
    random.seed(3)
    before = np.random.get_state()[1].copy(), random.getstate(), [*warnings.filters]  # type: ignore[index,union-attr]  # noqa: NPY002
    with shared.enclosed(7):
        first = np.random.random(), random.random()  # noqa: NPY002
        logging.warning("not shown")
    with shared.enclosed(7):
        assert (np.random.random(), random.random()) == first  # noqa: NPY002
    assert np.array_equal(np.random.get_state()[1], before[0])  # type: ignore[index]  # noqa: NPY002
    assert (random.getstate(), [*warnings.filters]) == before[1:]
    assert logging.root.manager.disable == 0


def test_versions_are_in_the_keys_of_these_cells_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    described = describe_technique(get_technique("aif360:Reweighing"))
    assert set(described["packages"]) == {"aif360"}
    remover = describe_technique(get_technique("fairlearn:CorrelationRemover"))
    assert set(remover["packages"]) == {"fairlearn"}
    pca = describe_technique(get_technique("sklearn:sklearn.decomposition.PCA"))
    assert set(pca["packages"]) == {"scikit-learn"}
    assert pca["source"] != described["source"]


MINE = """
import numpy as np


class Halves:
    '''Whether each number is above its mean, by group.'''

    def __init__(self, factor, shift=0.0):
        self.factor, self.shift = factor, shift

    def fit(self, X, y, sensitive_features):
        self.means = X[sensitive_features == 0].mean(axis=0)
        return self

    def transform(self, X):
        return (X > self.means) * self.factor + self.shift
"""


def test_a_transformer_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: tuple[Table, Table]
) -> None:
    (tmp_path / "halves_of_mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "sklearn:halves_of_mine.Halves"
    with pytest.raises(TechniqueError, match="'factor' parameter of Halves has no default"):
        get_technique(name)
    with pytest.raises(TechniqueError, match="'shift' parameter of Halves must be a float"):
        get_technique(name, factor=1, shift="a lot")
    technique = get_technique(name, factor=2, shift=1)
    assert technique.parameters == {
        "factor": 2, "shift": 1.0, "states": 20, "treatment": "schema", "use_sensitive": True
    }  # fmt: skip
    results = check_technique(technique)
    assert [r for r in results if r.status in ("failed", "warning")] == []
    described = describe_technique(technique)
    assert described["packages"] == {}
    shared.technique_of.cache_clear()
    del sys.modules["halves_of_mine"]
    (tmp_path / "halves_of_mine.py").write_text(MINE.replace("X > self", "X >= self"))
    importlib.invalidate_caches()
    assert describe_technique(get_technique(name, factor=2))["source"] != described["source"]
    shared.technique_of.cache_clear()


def test_a_transformer_that_makes_no_features_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: tuple[Table, Table]
) -> None:
    text = MINE.replace("(X > self.means) * self.factor + self.shift", "X * np.nan")
    (tmp_path / "nan_of_mine.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(TechniqueError, match=r"returned no features.*not all finite"):
        fitted("sklearn:nan_of_mine.Halves", *tables, factor=1)
    shared.technique_of.cache_clear()


def test_entries_have_names_of_their_own() -> None:
    names = {
        "aif360:Reweighing": "aif360_Reweighing",
        "sklearn:my_package.MyTransformer": "sklearn_MyTransformer",
        "massaging": "massaging",
    }
    for technique, name in names.items():
        assert TechniqueEntry.model_validate({"technique": technique}).name == name
    made = Experiment(datasets=["compas"], techniques=["none", "aif360:Reweighing"], betas=[0])  # type: ignore[list-item]
    both = narrow(made, techniques=["none", "aif360_Reweighing", "fairlearn:CorrelationRemover"])
    assert [t.name for t in both.techniques] == ["none", "aif360_Reweighing", "fairlearn_CorrelationRemover"]
    values = narrow(made, techniques=["none", "fairlearn:CorrelationRemover[alpha=0.5,1]"])
    assert [t.name for t in values.techniques][1:] == [
        f"fairlearn_CorrelationRemover_{a}" for a in ("0.5", "1")
    ]
    again = narrow(made, techniques=["none", "aif360:Reweighing"])
    assert again.techniques == made.techniques


def recorded() -> list[dict[str, str]]:
    with VALUES.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_recorded_table_is_complete() -> None:
    rows = recorded()
    for dataset in DATASETS:
        ran = [r["technique"] for r in rows if r["dataset"] == dataset and r["status"] == "ok"]
        assert len([name for name in ran if name.startswith("aif360:")]) >= 4
        assert len([name for name in ran if name.startswith("fairlearn:")]) >= 3
        assert {r["technique"] for r in rows if r["dataset"] == dataset} >= {*PAIRS}
        mine, theirs = (
            next(r for r in rows if r["dataset"] == dataset and r["technique"] == name)
            for name in ("reweighing", "aif360:Reweighing")
        )
        assert [mine[m] for m in METRICS] == [theirs[m] for m in METRICS]


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name", ["aif360:Reweighing", "aif360:DisparateImpactRemover", "fairlearn:CorrelationRemover"]
)
def test_the_recorded_values_come_again(name: str) -> None:
    if name in NOT_INSTALLED:
        pytest.skip("a package is not installed")
    found = compared(*split("compas"), name, dict(PAIRS[name].theirs_with))
    (row,) = (r for r in recorded() if r["dataset"] == "compas" and r["technique"] == name)
    assert {m: float(row[m]) for m in METRICS} == pytest.approx({m: found[m] for m in METRICS}, abs=1e-6)


@pytest.mark.real_data
def test_reweighing_is_equal_in_every_metric() -> None:
    families = ("paper", "rates", "fairlearn", "aif360")
    theirs, ours = (
        compared(*split("compas"), name, {}, families) for name in ("aif360:Reweighing", "reweighing")
    )
    del theirs["cpu_seconds"], ours["cpu_seconds"]
    assert theirs == pytest.approx(ours, abs=1e-9, nan_ok=True)
    assert len(ours) > 50
