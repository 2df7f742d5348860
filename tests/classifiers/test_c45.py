"""The C4.5 classifier: against J48, against a plain reference implementation, and by hand."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
import sklearn
from packaging.version import Version
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmark.classifiers._c45_kernels import LEAF, Limit, _estimated_errors
from benchmark.classifiers.c45 import C45Classifier, C45InputError
from benchmark.errors import ClassifierError

# --- scikit-learn's own checks ----------------------------------------------------------------------------

CONTINUOUS = "the check trains on continuous features even where an estimator's tags ask for categories"


def expected_failures(_estimator: object) -> dict[str, str]:
    faulty = Version(sklearn.__version__) < Version("1.7.2")
    return {
        **(
            {"check_positive_only_tag_during_fit": "it takes a fraction from whole numbers"} if faulty else {}
        ),
        "check_sample_weight_equivalence_on_dense_data": f"{CONTINUOUS}; see test_weights_are_repeats",
        "check_classifiers_one_label_sample_weights": f"{CONTINUOUS}; see test_single_class_after_weighting",
    }


@parametrize_with_checks([C45Classifier()], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- J48's answers ----------------------------------------------------------------------------------------


def j48_runs() -> list[pd.Series | None]:
    """Return the rows of the oracle's summary, or a placeholder whose test skips with a reason."""
    if "BETABENCH_ORACLES" in os.environ:
        folder = Path(os.environ["BETABENCH_ORACLES"])
    else:
        folder = Path(os.environ.get("BETABENCH_DATA", "")).parent / "oracles"
    summary = folder / "j48" / "summary.csv"
    return [row for _, row in pd.read_csv(summary).iterrows()] if summary.is_file() else [None]


def answer_name(run: pd.Series) -> str:
    options = "_".join(run["options"].replace("-", "").replace("C ", "C").replace("M ", "M").split())
    return f"{run['table']}_{run['train']}_{options}"


@lru_cache(maxsize=2)
def read_tables(folder: Path, table: str, train: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training and full table; Weka was given the values of both, in alphabetical order."""
    suffix = {"boot": "boot42", "rbn": "rbn"}[train]
    names = (f"{table}_{suffix}", table)
    frames = [pd.read_csv(folder / "tables" / f"{n}.csv.gz", dtype=str, keep_default_na=False) for n in names]
    for column in frames[0].columns:
        dtype = pd.CategoricalDtype(sorted(set(frames[0][column]) | set(frames[1][column])))
        for frame in frames:
            frame[column] = frame[column].astype(dtype)
    return frames[0], frames[1]


def codes_of(frame: pd.DataFrame) -> np.ndarray:
    return np.column_stack([column.cat.codes for _, column in frame.items()]).astype(np.int16)


@pytest.mark.oracle
@pytest.mark.parametrize("run", j48_runs(), ids=lambda run: "unset" if run is None else answer_name(run))
def test_same_tree_as_j48(oracle_dir, run):
    train, full = read_tables(oracle_dir, run["table"], run["train"])
    categories = [dtype.categories.size for dtype in train.dtypes[:-1]]
    options = run["options"].split()
    weights = None
    if "W" in options:
        weights = np.loadtxt(oracle_dir / "tables" / f"{run['table']}_boot42.weights.txt.gz")
    classifier = C45Classifier(
        min_cases=float(options[options.index("-M") + 1]),
        confidence=float(options[options.index("-C") + 1]) if "-C" in options else 0.25,
        prune="-U" not in options,
        subtree_raising="-S" not in options,
        categories=categories,
    )
    X, y = codes_of(train.iloc[:, :-1]), train.iloc[:, -1]
    classifier.fit(X, y, weights)
    assert (classifier.n_leaves_, classifier.tree_size_) == (run["leaves"], run["tree_size"])

    answers = pd.read_csv(oracle_dir / "j48" / f"{answer_name(run)}.csv.gz", dtype={"pred": str})
    X, y = codes_of(full.iloc[:, :-1]), full.iloc[:, -1]
    predicted = classifier.predict(X)
    np.testing.assert_array_equal(predicted, answers["pred"])
    # Weka's answers carry ten decimals.
    np.testing.assert_allclose(classifier.predict_proba(X)[:, 0], answers["p0"], rtol=0, atol=1e-9)
    assert 100 * np.mean(predicted == y) == pytest.approx(run["accuracy_percent"], abs=1e-4)


# --- a plain reference implementation ---------------------------------------------------------------------


@dataclass
class Reference:
    """C4.5 as the textbook tells it: recursion, lists of rows, no thought of speed."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    cardinality: list[int]
    min_cases: float = 2.0
    confidence: float = 0.25
    prune: bool = True
    subtree_raising: bool = True
    root: Node = field(init=False)

    def __post_init__(self):
        self.n_classes = int(self.y.max()) + 1
        self.z = NormalDist().inv_cdf(1 - self.confidence)
        self.root = self.grown(np.arange(len(self.y)))
        self.collapse(self.root)
        if self.prune:
            self.root = self.pruned(self.root)

    def counts(self, rows):
        return np.bincount(self.y[rows], self.weights[rows], minlength=self.n_classes)

    def split(self, rows, feature):
        return [rows[self.X[rows, feature] == v] for v in range(self.cardinality[feature])]

    def grown(self, rows):
        counts = self.counts(rows)
        total = counts.sum()
        if total < 2 * self.min_cases - 1e-6 or total - counts.max() < 1e-6:
            return Node(rows)
        scores = {}
        for feature in range(self.X.shape[1]):
            branches = [self.counts(part) for part in self.split(rows, feature)]
            sizes = np.array([b.sum() for b in branches])
            if (sizes > self.min_cases - 1e-6).sum() >= 2:
                after = sum(entropy(b) * b.sum() / total for b in branches)
                gain = entropy(counts) - after
                scores[feature] = gain, gain / entropy(sizes)
        few = [f for f in scores if self.cardinality[f] < 0.3 * self.weights.sum()]
        if not any(c < 0.3 * self.weights.sum() for c in self.cardinality):
            few = list(scores)
        if not few:
            return Node(rows)
        average = sum(scores[f][0] for f in few) / len(few)
        best, best_ratio = None, 1e-6
        for feature, (gain, ratio) in scores.items():
            if gain >= average - 1e-3 and ratio > best_ratio:
                best, best_ratio = feature, ratio + 1e-6
        if best is None:
            return Node(rows)
        return Node(rows, best, [self.grown(part) for part in self.split(rows, best)])

    def errors(self, node):
        if node.feature is not None:
            return sum(self.errors(child) for child in node.children)
        counts = self.counts(node.rows)
        return counts.sum() - counts.max()

    def collapse(self, node):
        if node.feature is None:
            return
        if self.errors(node) >= self.errors(Node(node.rows)) - 1e-3:
            node.feature, node.children = None, []
        for child in node.children:
            self.collapse(child)

    def added(self, cases, errors):
        if errors < 1:
            none = cases * (1 - self.confidence ** (1 / cases))
            return none + errors * (self.added(cases, 1.0) - none) if errors > 1e-6 else none
        if errors + 0.5 >= cases:
            return max(cases - errors, 0.0)
        f, z, n = (errors + 0.5) / cases, self.z, cases
        upper = f + z**2 / (2 * n) + z * math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))
        return upper / (1 + z**2 / n) * n - errors

    def estimate(self, node):
        if node.feature is not None:
            return sum(self.estimate(child) for child in node.children)
        counts = self.counts(node.rows)
        if counts.sum() == 0:
            return 0.0
        errors = counts.sum() - counts.max()
        return errors + self.added(counts.sum(), errors)

    def with_rows(self, node, rows):
        if node.feature is None:
            return Node(rows)
        parts = self.split(rows, node.feature)
        children = [self.with_rows(c, part) for c, part in zip(node.children, parts, strict=True)]
        return Node(rows, node.feature, children)

    def pruned(self, node):
        if node.feature is None:
            return node
        node = Node(node.rows, node.feature, [self.pruned(child) for child in node.children])
        as_leaf = self.estimate(Node(node.rows))
        as_tree = self.estimate(node)
        raised, as_branch = None, math.inf
        if self.subtree_raising:
            sizes = [self.counts(child.rows).sum() for child in node.children]
            largest = max(i for i, size in enumerate(sizes) if size > max(sizes) - 1e-6)
            raised = self.with_rows(node.children[largest], node.rows)
            as_branch = self.estimate(raised)
        slack = 0.1 + 1e-6
        if as_leaf <= as_tree + slack and as_leaf <= as_branch + slack:
            return Node(node.rows)
        if as_branch <= as_tree + slack:
            return self.pruned(raised)
        return node

    def nested(self, node=None):
        """Return the tree as nested lists: feature and children, or the class weights of a leaf."""
        node = self.root if node is None else node
        if node.feature is None:
            return [round(float(c), 6) for c in self.counts(node.rows)]
        return [node.feature, [self.nested(child) for child in node.children]]


@dataclass
class Node:
    rows: np.ndarray
    feature: int | None = None
    children: list[Node] = field(default_factory=list)


def entropy(weights):
    shares = weights[weights > 0] / weights.sum()
    return float(-(shares * np.log2(shares)).sum())


def nested(classifier, node=0):
    """Return the trained tree in the form of :meth:`Reference.nested`."""
    tree = classifier.tree_
    feature = int(tree.feature[node])
    if feature == LEAF:
        return [round(float(c), 6) for c in tree.class_weights[node]]
    first = int(tree.first_child[node])
    return [feature, [nested(classifier, first + v) for v in range(classifier.cardinality_[feature])]]


def random_problem(seed):
    """Return codes, classes, weights and cardinalities with some signal, much noise and empty categories."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(20, 700))
    cardinality = rng.integers(2, 7, size=rng.integers(2, 8))
    n_classes = int(rng.integers(2, 5))
    # Uneven categories: a dominant branch is what subtree raising needs.
    X = np.stack([rng.choice(c, n_rows, p=rng.dirichlet(np.full(c, 0.4))) for c in cardinality], axis=1)
    signal = (X[:, 0] + X[:, -1] * X[:, 1]) % n_classes
    y = np.where(rng.random(n_rows) < rng.uniform(0.1, 0.8), signal, rng.integers(0, n_classes, n_rows))
    y[:n_classes] = np.arange(n_classes)
    weights = [np.ones(n_rows), rng.integers(1, 4, n_rows) * 1.0, rng.uniform(0.2, 2.5, n_rows)][seed % 3]
    return X.astype(np.int16), y, weights, [int(c) for c in cardinality]


# In the last two, the choice between equally large branches decides about raising.
@pytest.mark.parametrize("seed", [*range(20), 820, 873])
def test_same_tree_as_the_reference(seed):
    X, y, weights, cardinality = random_problem(seed)
    rng = np.random.default_rng(1000 + seed)
    choices = [{}]
    for steps in ({}, {"subtree_raising": False}, {"prune": False}):
        min_cases = float(rng.choice([1.0, 2.0, 3.5, 10.0]))
        confidence = float(rng.choice([0.01, 0.1, 0.25, 0.5]))
        choices.append({"min_cases": min_cases, "confidence": confidence, **steps})
    for options in choices:
        ours = C45Classifier(**options, categories=cardinality).fit(X, y, weights)
        assert nested(ours) == Reference(X, y, weights, cardinality, **options).nested(), options


# --- by hand ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "expected", "within"),
    [
        # Exact, 1 - 0.25 ** (1 / n); the shares are those printed in Quinlan (1993), section 4.2.
        ([6.0, 0.0], 6 * 0.206, 0.005),
        ([0.0, 9.0], 9 * 0.143, 0.005),
        ([1.0, 0.0], 0.750, 1e-12),
        # The exact limit printed there; the estimate is its normal approximation.
        ([15.0, 1.0], 16 * 0.157, 0.05),
        # Hardly a case is right: all are wrong.
        ([0.25] * 5, 1.25, 1e-12),
        ([0.0, 0.0], 0.0, 0.0),
    ],
)
def test_estimated_errors(counts, expected, within):
    limit = Limit(0.25, NormalDist().inv_cdf(0.75))
    assert _estimated_errors(np.array(counts), limit) == pytest.approx(expected, abs=within)


def test_ties_go_to_the_first_feature_and_class():
    X = np.array([[0, 0], [1, 1]] * 4)
    classifier = C45Classifier().fit(X, [0, 1] * 4)
    assert classifier.tree_.feature[0] == 0
    assert C45Classifier().fit([[0]] * 4, ["b", "a"] * 2).predict([[0]]) == ["a"]
    # A tie up to rounding is a tie: 0.1 + 0.2 exceeds 0.3 in binary.
    tied = C45Classifier().fit([[0]] * 3, ["b", "b", "a"], [0.1, 0.2, 0.3])
    assert tied.predict([[0]]) == ["a"]


def test_empty_categories_are_leaves_that_answer_as_their_parent():
    X = np.array([[0], [2]] * 10)
    y = np.array([0, 1] * 8 + [1, 1] * 2)
    classifier = C45Classifier(categories=[4], prune=False).fit(X, y)
    assert (classifier.n_leaves_, classifier.tree_size_) == (4, 5)
    np.testing.assert_allclose(classifier.predict_proba([[1], [3]]), [[0.4, 0.6], [0.4, 0.6]])
    np.testing.assert_allclose(classifier.predict_proba([[0], [2]]), [[0.8, 0.2], [0.0, 1.0]])


@pytest.mark.parametrize("unknown", [-1, 3, 32767, 10**9, -(10**9)])
def test_unknown_codes_stop_at_their_node(unknown):
    X = np.array([[0], [1], [2]] * 6)
    classifier = C45Classifier().fit(X, X[:, 0])
    np.testing.assert_allclose(classifier.predict_proba([[unknown]]), [[1 / 3] * 3])
    assert classifier.predict([[unknown]]) == [0]


def test_many_valued_features_stay_out_of_the_average():
    # Feature 0 names pairs of rows: the only one of above-average gain, if its own gain were averaged.
    y = np.repeat([0, 1], 20)
    rng = np.random.default_rng(2)
    noisy = [np.where(rng.random(40) < agreement, y, 1 - y) for agreement in (0.6, 0.7, 0.8)]
    X = np.stack([np.repeat(np.arange(20), 2), *noisy], axis=1)
    ours = C45Classifier(prune=False).fit(X, y)
    assert ours.tree_.feature[0] == 3
    assert nested(ours) == Reference(X, y, np.ones(40), [20, 2, 2, 2], prune=False).nested()
    # If all features are such, all are averaged.
    assert C45Classifier(prune=False).fit(X[:, :1], y).n_leaves_ == 20


# --- weights, containers, errors --------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"prune": False}, {"subtree_raising": False}])
def test_weights_are_repeats(options):
    X, y, _, cardinality = random_problem(5)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = C45Classifier(**options, categories=cardinality).fit(X, y, weights)
    repeated = C45Classifier(**options, categories=cardinality).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert weighted.tree_size_ > 1
    assert nested(weighted) == nested(repeated)


def test_single_class_after_weighting():
    X, y, _, _ = random_problem(1)
    classifier = C45Classifier().fit(X, y, (y == 1) * 1.0)
    np.testing.assert_array_equal(classifier.classes_, [1])
    np.testing.assert_array_equal(classifier.predict(X), np.ones(len(y)))


def test_inputs_are_left_alone_and_may_come_in_any_form():
    X, y, weights, cardinality = random_problem(8)
    expected = nested(C45Classifier(categories=cardinality).fit(X, y, weights))
    for order in "CF":
        for dtype in (np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float32, np.float64, object):
            given = np.array(X, dtype=dtype, order=order)
            given.flags.writeable = False
            own_weights = weights.copy()
            own_weights.flags.writeable = False
            classifier = C45Classifier(categories=cardinality).fit(given, y, own_weights)
            assert nested(classifier) == expected
            np.testing.assert_array_equal(classifier.predict(given), classifier.predict(X))
    wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    assert nested(C45Classifier(categories=cardinality).fit(wide, y, weights)) == expected


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"min_cases": 0.5}, "min_cases"),
        ({"min_cases": math.inf}, "min_cases"),
        ({"min_cases": True}, "min_cases"),
        ({"confidence": 0.0}, "confidence"),
        ({"confidence": 0.51}, "confidence"),
        ({"prune": 1}, "prune"),
        ({"subtree_raising": "yes"}, "subtree_raising"),
        ({"categories": [2, 0]}, "categories"),
        ({"categories": [2, 2.0]}, "categories"),
        ({"categories": [2, 40000]}, "categories"),
    ],
)
def test_invalid_parameters(parameters, named):
    with pytest.raises(ClassifierError, match=f"'{named}' of C45Classifier is invalid") as caught:
        C45Classifier(**parameters).fit([[0, 0], [1, 1]], [0, 1])
    assert isinstance(caught.value, ValueError)
    assert "Expected" in str(caught.value)
    assert "Got" in str(caught.value)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0], [-1]], "Negative values.*-1 in row 1 of feature 0"),
        ([[0], [40000]], "too high.*40000 in row 1"),
        ([[0], [0.5]], "not codes.*0.5"),
    ],
)
def test_invalid_features(X, message):
    with pytest.raises(C45InputError, match=message):
        C45Classifier().fit(X, [0, 1])
    with pytest.raises(C45InputError, match="fraction"):
        C45Classifier().fit([[0], [1]], [0, 1]).predict([[0.5]])


def test_code_outside_its_declared_categories():
    with pytest.raises(C45InputError, match=r"Feature 1 holds a code outside.*from 0 to 1.*Got: 2"):
        C45Classifier(categories=[2, 2]).fit([[0, 2], [1, 0]], [0, 1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -1.0], "Negative values"),
        ([0.0, 0.0], "weights are zero|one non-zero"),
        ([[1.0], [1.0]], "1D"),
        ([1.0], "sample_weight.shape"),
        ([1.0, math.nan], "NaN"),
    ],
)
def test_invalid_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        C45Classifier().fit([[0], [1]], [0, 1], weights)


@pytest.mark.parametrize("n_rows", [1, 30, 5000])
@pytest.mark.parametrize("cardinality", [2, 40])
def test_equal_rows_that_count_as_one_give_the_tree_of_all_rows(n_rows: int, cardinality: int) -> None:
    rng = np.random.default_rng(n_rows)
    X = rng.integers(0, cardinality, size=(n_rows, 3)).astype(np.int16)
    y = (X.sum(axis=1) + rng.integers(0, 2, n_rows)) % 3
    once = C45Classifier(categories=[cardinality] * 3).fit(X, y)
    each = C45Classifier(categories=[cardinality] * 3).fit(
        X.tolist(), y.tolist(), sample_weight=np.ones(n_rows)
    )
    np.testing.assert_array_equal(once.tree_.feature, each.tree_.feature)
    np.testing.assert_array_equal(once.tree_.class_weights, each.tree_.class_weights)
    np.testing.assert_array_equal(once.predict(X), each.predict(X.tolist()))


def test_names_of_an_earlier_training_do_not_stay() -> None:
    X, y = np.array([[0], [1]] * 4, dtype=np.int16), np.array([0, 1] * 4)
    classifier = C45Classifier().fit(pd.DataFrame({"a": X[:, 0]}), y)
    assert not hasattr(classifier.fit(X, y), "feature_names_in_")
    with pytest.raises(ValueError, match="2 features"):
        classifier.predict(np.zeros((3, 2), dtype=np.int16))
