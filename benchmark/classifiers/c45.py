"""C4.5 decision trees for categorical features, as Weka's J48 builds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from benchmark.classifiers._c45_kernels import LEAF, Limit, Nodes, Rows, collapse, grow, prune, walk
from benchmark.data.table import CODE_DTYPE, distinct
from benchmark.errors import ClassifierError

_MAX_CARDINALITY = int(np.iinfo(CODE_DTYPE).max)
_UNKNOWN = -1
_TOLERANCE = 1e-6  # probabilities closer than this are equal: sums of weights carry rounding errors


class C45InputError(ClassifierError, ValueError):
    """A parameter or an input is invalid; also a ``ValueError``, which scikit-learn's tools expect."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A trained tree, as parallel arrays over its nodes.

    The root is node 0. The children of a node stand side by side, one for each declared category of its
    feature, and come after it.
    """

    feature: NDArray[np.int32]  # the feature of a node's split; -1 at a leaf; shape (n_nodes,)
    first_child: NDArray[np.int32]  # the child for code v is first_child + v; -1 at a leaf; shape (n_nodes,)
    class_weights: NDArray[np.float64]  # of a node's training rows, shape (n_nodes, n_classes)
    probabilities: NDArray[np.float64]  # class frequencies; its parent's if a node has no training rows

    @property
    def majority(self) -> NDArray[np.intp]:
        """Position of each node's most frequent class, the first in a tie, shape (n_nodes,)."""
        highest = self.probabilities.max(axis=1, keepdims=True)
        return np.asarray((self.probabilities >= highest - _TOLERANCE).argmax(axis=1))

    @classmethod
    def from_nodes(cls, nodes: Nodes, cardinality: NDArray[np.int64]) -> Tree:
        """Return the living part of a tree of the kernels, renumbered without gaps."""
        alive = nodes.alive
        feature = nodes.feature[alive]
        inner = feature != LEAF
        number = np.cumsum(alive, dtype=np.int32) - 1
        first_child = np.full(feature.shape, LEAF, dtype=np.int32)
        first_child[inner] = number[nodes.first_child[alive][inner]]

        # The blocks of children, in the order of their numbers, cover all nodes but the root.
        parents = np.flatnonzero(inner)
        parents = parents[np.argsort(first_child[parents])]
        parent = np.concatenate([[0], np.repeat(parents, cardinality[feature[parents]])])
        weights = nodes.counts[alive]
        giver = np.where(weights.any(axis=1), np.arange(feature.size), parent)
        probabilities = weights[giver] / weights[giver].sum(axis=1, keepdims=True)
        return cls(feature, first_child, weights, probabilities)


class C45Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """C4.5 decision tree for categorical features.

    Builds the tree that Weka's J48 builds from nominal attributes. A node splits on the feature of highest
    gain ratio, among features of at least average information gain. The split has one branch for each
    declared category. Subtrees that classify their training rows no better than a leaf are collapsed. Then
    the tree is pruned bottom up by pessimistic error estimates.

    Parameters
    ----------
    min_cases : float, default 2
        Weight of training rows that at least two branches of every split must hold; at least 1
        (J48's ``-M``).
    confidence : float, default 0.25
        Confidence level of the error estimates, above 0 and at most 0.5. The lower, the more is pruned
        (J48's ``-C``).
    prune : bool, default True
        Whether to prune; if False the tree is only collapsed (J48's ``-U``).
    subtree_raising : bool, default True
        Whether pruning may replace a node by its largest branch (False: J48's ``-S``). Ignored if ``prune``
        is False.
    categories : sequence of int, optional
        Number of categories of each feature; by default the highest code in ``X`` plus 1. A category without
        training rows still becomes a leaf, which predicts like its parent and counts in ``n_leaves_`` and
        ``tree_size_``.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        Class labels, sorted.
    cardinality_ : ndarray of int64, shape (n_features,)
        Number of categories of each feature.
    n_leaves_, tree_size_ : int
        Number of leaves, and of all nodes.
    tree_ : Tree
        The tree itself.

    Notes
    -----
    Ties are fixed. The first of equal features splits, the last of equal branches is the largest, and the
    first of equally frequent classes in ``classes_`` is predicted. The tree does not depend on the order of
    the rows (but for rounding in sums of fractional weights).

    Weights count as cases: ``min_cases`` and the error estimates are in weight, so weights should average
    about 1. Rows of weight 0 are ignored.

    ``X`` must be complete in training. In prediction a code that is negative or not below the feature's
    cardinality is unknown. The row then stops at the node that splits on this feature, and gets that node's
    class frequencies.

    References
    ----------
    J. R. Quinlan, *C4.5: Programs for Machine Learning*, Morgan Kaufmann, 1993: section 2.2 (gain and
    gain ratio), chapter 4 (pruning).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]] * 3)
    >>> y = np.array(["no", "no", "no", "yes", "yes", "yes"] * 3)
    >>> classifier = C45Classifier().fit(X, y)
    >>> classifier.predict([[1, 1], [1, 0]])
    array(['yes', 'no'], dtype='<U3')
    """

    version = "1"
    """Changed whenever the same input would give another tree."""

    def __init__(
        self,
        *,
        min_cases: float = 2,
        confidence: float = 0.25,
        prune: bool = True,
        subtree_raising: bool = True,
        categories: Sequence[int] | NDArray[np.integer] | None = None,
    ) -> None:
        self.min_cases = min_cases
        self.confidence = confidence
        self.prune = prune
        self.subtree_raising = subtree_raising
        self.categories = categories

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that features are non-negative codes."""
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return the classifier with its tree.

        ``X``, shape (n_rows, n_features), has codes from 0. ``y`` has class labels, shape (n_rows,).
        ``sample_weight``, shape (n_rows,), has finite weights of at least 0, in cases; 1 by default. Raises
        :class:`C45InputError` if a parameter is out of range, a code negative, fractional or too high, a
        weight negative, or all weights zero. Raises :class:`ValueError` if the shapes do not fit each other,
        or a value is missing or not a number.
        """
        self._check_parameters()
        coded, labels = validate_data(self, X, y, dtype="numeric")
        if labels.dtype.kind not in "biu":  # whole numbers always are classes
            check_classification_targets(labels)
        codes = _checked_codes(coded)
        weights = _checked_weights(sample_weight, codes)
        if not weights.all():
            counted = weights > 0
            codes, labels, weights = codes[counted], labels[counted], weights[counted]
        self.cardinality_ = self._checked_cardinality(codes)
        self.classes_, classes = np.unique(labels, return_inverse=True)

        codes, numbers = np.array(codes, order="C"), classes.astype(np.int32)  # copies, writable for kernels
        if sample_weight is None:
            # Equal rows become one row: sums of ones have no rounding, so the tree is the same.
            cardinalities = (*self.cardinality_.tolist(), self.classes_.size)
            first, row = distinct(np.vstack([codes.T, numbers]), cardinalities)
            codes, numbers, weights = codes[first], numbers[first], np.bincount(row).astype(np.float64)
        rows = Rows(
            order=np.arange(len(codes), dtype=np.int32),
            scratch=np.empty(len(codes), dtype=np.int32),
            codes=codes,
            y=numbers,
            weights=weights,
            cardinality=self.cardinality_,
        )
        nodes = grow(rows, self.classes_.size, float(self.min_cases))
        collapse(nodes, self.cardinality_)
        if self.prune:
            limit = Limit(float(self.confidence), NormalDist().inv_cdf(1.0 - self.confidence))
            prune(nodes, rows, limit, bool(self.subtree_raising))
        self.tree_ = Tree.from_nodes(nodes, self.cardinality_)
        self.n_leaves_ = int(np.count_nonzero(self.tree_.feature == LEAF))
        self.tree_size_ = int(self.tree_.feature.size)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most frequent class at each row's node, the first in a tie, shape (n_rows,).

        ``X`` is as in training, but codes may be unknown. Raises :class:`ValueError` if the number or the
        names of features differ from training, or a value is no whole number.
        """
        nodes = self._walk(X)
        return np.asarray(self.classes_[self.tree_.majority][nodes])

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the class frequencies at each row's node, shape (n_rows, n_classes); ``X`` as for predict.

        They are shares of the node's training weight, without smoothing, in the order of ``classes_``.
        """
        nodes = self._walk(X)
        return np.asarray(self.tree_.probabilities[nodes])

    def _check_parameters(self) -> None:
        if not (_is_number(self.min_cases) and 1 <= self.min_cases < np.inf):
            raise _invalid("min_cases", "a finite number of at least 1", self.min_cases)
        if not (_is_number(self.confidence) and 0 < self.confidence <= 0.5):
            raise _invalid("confidence", "a number above 0 and at most 0.5", self.confidence)
        for name in ("prune", "subtree_raising"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise _invalid(name, "True or False", getattr(self, name))

    def _checked_cardinality(self, codes: NDArray[np.int16]) -> NDArray[np.int64]:
        """Return the number of categories of each feature, shape (n_features,)."""
        needed: NDArray[np.int64] = codes.max(axis=0).astype(np.int64) + 1
        if self.categories is None:
            return needed
        given = np.asarray(self.categories)
        fits = given.shape == needed.shape and given.dtype.kind in "iu"
        if not (fits and ((given >= 1) & (given <= _MAX_CARDINALITY)).all()):
            expected = f"{needed.size} whole numbers from 1 to {_MAX_CARDINALITY}, one for each feature"
            raise _invalid("categories", expected, self.categories)
        cardinality = given.astype(np.int64)
        for i in np.flatnonzero(needed > cardinality):
            raise C45InputError(
                f"Feature {i} holds a code outside its declared categories",
                expected=f"codes from 0 to {cardinality[i] - 1}",
                got=str(needed[i] - 1),
                remedy="declare the category in the parameter 'categories', or correct the codes",
            )
        return cardinality

    def _walk(self, X: Any) -> NDArray[np.int32]:
        """Return the last node of each row's path, shape (n_rows,)."""
        check_is_fitted(self)
        codes = _as_codes(validate_data(self, X, dtype="numeric", reset=False))
        codes = np.array(codes, order="F")  # a copy: kernels take writable arrays only
        return np.asarray(walk(codes, self.tree_.feature, self.tree_.first_child, self.cardinality_))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _invalid(name: str, expected: str, got: object) -> C45InputError:
    return C45InputError(
        f"The parameter {name!r} of C45Classifier is invalid", expected=expected, got=repr(got)
    )


def _as_codes(X: NDArray[Any]) -> NDArray[np.int16]:
    """Return ``X`` as int16, with -1 for numbers that are no codes; refuse fractions."""
    if X.dtype == CODE_DTYPE:
        return X
    if X.dtype.kind == "f":
        fractional = np.floor(X) != X
        if fractional.any():
            raise C45InputError(
                "The features are not codes",
                expected="whole numbers, each the position of a category",
                got=f"the fraction {X[fractional][0]}",
                remedy="bin numeric features into categories first",
            )
    codes: NDArray[np.int16] = np.full_like(X, _UNKNOWN, dtype=CODE_DTYPE)
    np.copyto(codes, X, where=(X >= 0) & (X < _MAX_CARDINALITY), casting="unsafe")
    return codes


def _checked_codes(X: NDArray[Any]) -> NDArray[np.int16]:
    """Return training codes as int16; refuse numbers that are no codes."""
    codes = _as_codes(X)
    if codes.min() < 0:
        row, feature = np.argwhere(codes < 0)[0]
        got = X[row, feature]
        raise C45InputError(
            "Negative values in data passed to C45Classifier" if got < 0 else "A code is too high",
            expected=f"codes from 0 to {_MAX_CARDINALITY - 1}",
            got=f"{got} in row {row} of feature {feature}",
            remedy="make a missing value a category of its own, or drop its row",
        )
    return codes


def _checked_weights(sample_weight: ArrayLike | None, codes: NDArray[np.int16]) -> NDArray[np.float64]:
    """Return a writable copy of the weights, shape (n_rows,)."""
    rules: dict[str, Any] = {"dtype": np.float64, "copy": True, "ensure_non_negative": True}
    weights: NDArray[np.float64] = _check_sample_weight(sample_weight, codes, **rules)
    if not weights.any():  # as scikit-learn 1.8 says as well
        raise C45InputError("All sample weights are zero", expected="at least one row that counts")
    return weights
