"""What techniques of other libraries share: how tables reach a library, and how numbers come back as states.

Nothing here imports a library before a technique is run.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import CODE_DTYPE, Table
from benchmark.errors import DeclinedError, TechniqueError
from benchmark.techniques._checks import Value
from benchmark.techniques.base import (
    Array,
    Interval,
    Predictor,
    Prepared,
    PreProcessing,
    Stage,
    Technique,
    Tools,
)
from benchmark.techniques.correlation_remover import equal_frequency_edges, new_features
from benchmark.techniques.encoding import Encoding, Treatment
from benchmark.techniques.exponentiated_gradient import Weighted
from benchmark.techniques.post_processing import Adjustment, ErrorRatePostProcessing, Scored

Rules: TypeAlias = Mapping[str, tuple[Any, Value]]
"""Of each parameter what is valid, as a technique's annotation says it, and its default."""

SHARE = Annotated[float, Interval(0, 1)]
WEIGHT = Annotated[float, Interval(0)]
COUNT = Annotated[int, Interval(1, 100_000)]
PARITIES = Literal[
    "DemographicParity",
    "EqualizedOdds",
    "TruePositiveRateParity",
    "FalsePositiveRateParity",
    "ErrorRateParity",
]
# Parameters and declarations that techniques of several libraries have.
STATES: Rules = {"states": (Annotated[int, Interval(2, 1000)], 20)}
TREATMENT: Rules = {"treatment": (Treatment, "categorical")}
ORDINAL: Rules = {"treatment": (Treatment, "ordinal")}
CONSTRAINTS: Rules = {"constraints": (PARITIES, "DemographicParity")}
GRADIENT: Rules = {
    "eps": (Annotated[float, Interval(0.001, 1)], 0.01),
    "max_iter": (COUNT, 50),
    "eta0": (WEIGHT, 2.0),
    "run_linprog_step": (bool, True),
}
GRID: Rules = {
    "constraint_weight": (SHARE, 0.5),
    "grid_size": (COUNT, 10),
    "grid_limit": (WEIGHT, 2.0),
}
REDUCED = {"randomised": True, "needs_weights": True, "produces_scores": False}
TWO_GROUPS = {"needs_two_groups": "there are no groups to compare"}

# Parameters of the adapters, which no library is handed.
_OWN = {"states", "treatment", "holdout", "use_sensitive"}
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Description:
    """How a technique of another library is run."""

    # The technique of this package that does the same: its publication and its summary are theirs, too.
    ours: str
    # Calls the library with the technique, a Table or Scored, and Tools; gives what the stage makes.
    run: Callable[[Any, Any, Tools], Any]
    stage: Stage  # at which stage it acts here
    # Of the library's constructor, under its names, and of the adapter.
    parameters: Rules = field(default_factory=dict)
    # Modules beyond the library, and the packages that bring them.
    needs: Mapping[str, str] = field(default_factory=dict)
    # What the technique declares besides: attributes of :class:`Technique`.
    declares: Mapping[str, Any] = field(default_factory=dict)


class Foreign(Technique):
    """A technique whose work a library does."""

    ours: ClassVar[str] = ""  # the technique of this package that does the same
    needs: ClassVar[Mapping[str, str]] = {}
    run: ClassVar[Callable[[Any, Any, Tools], Any]]

    @property
    def options(self) -> dict[str, Any]:
        """The parameters that the library's constructor takes."""
        return {name: value for name, value in self.parameters.items() if name not in _OWN}

    def skip(self, train: Table) -> str | None:
        """Decline where a package is missing, or what the stage demands."""
        missing = [package for module, package in self.needs.items() if find_spec(module) is None]
        if missing:
            return f"{' and '.join(missing)} is not installed: pip install {' '.join(missing)}"
        return super().skip(train)


class ForeignPre(Foreign, PreProcessing):
    """Pre-processing by a library."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        prepared: Prepared = self.run(train, tools)
        return prepared


class ForeignIn(Foreign):
    """A model of a library, or the experiment's classifier trained by one."""

    stage = "in"

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        predictor: Predictor = self.run(train, tools)
        return predictor


class ForeignPost(Foreign, ErrorRatePostProcessing):
    """Post-processing by a library, of held-out training rows that the classifier has not seen."""

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        adjustment: Adjustment = self.run(held_out, tools)
        return adjustment


BASES: Mapping[Stage, type[Foreign]] = {"pre": ForeignPre, "in": ForeignIn, "post": ForeignPost}


@contextlib.contextmanager
def enclosed(seed: int = 0) -> Iterator[None]:
    """Let a library use global generators, print and start processes, and leave no trace of it.

    The global generators of NumPy and Python begin with the seed, 0 to 2**32 - 1, and afterwards are as they
    were. Processes find this Python as ``python``, and use one thread.
    """
    numpys = np.random.get_state()  # noqa: NPY002
    pythons, level = random.getstate(), logging.root.manager.disable
    variables = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))}
    variables |= dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONWARNINGS": "ignore"}
    before = {name: os.environ.get(name) for name in variables}
    try:
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        logging.disable(logging.WARNING)
        os.environ |= variables
        with (
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(numpys)  # noqa: NPY002
        random.setstate(pythons)
        logging.disable(level)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def library(path: str) -> Any:
    """Return what a dotted path of a library names; what it says while it is imported is not shown.

    Raises :class:`DeclinedError` if the installed version has it not, or needs what is not installed.
    """
    module, _, name = path.rpartition(".")
    try:
        with enclosed():
            return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as problem:
        root = path.partition(".")[0]
        raise DeclinedError(
            f"The installed {root} does not bring {name}",
            got=f"{type(problem).__name__}: {problem}",
            remedy=f"install a newer {root}",
        ) from problem


def new_seed(tools: Tools) -> int:
    """Return a seed as libraries take it."""
    return int(tools.rng.integers(2**32))


def visible(train: Table, technique: Any, *, use_sensitive: bool = False) -> Encoding:
    """Return the encoding of the columns that a library is shown.

    Indicators of a column stand from the most frequent state to the rarest, as a column of two states has one
    of the rarer: what comes of them does not depend on the states' codes.
    """
    return encoded(train, technique.treatment, use_sensitive=use_sensitive)


def encoded(train: Table, treatment: Treatment, *, use_sensitive: bool) -> Encoding:
    """Return the same for a treatment."""
    encoding = Encoding.of(train, use_sensitive=use_sensitive, treatment=treatment)
    matrix = encoding.matrix.copy()
    for i, block, span in zip(encoding.columns, encoding.blocks, encoding.spans, strict=True):
        column = train.schema.columns[i]
        if treatment == "categorical" or (treatment == "schema" and not column.ordered):
            k = column.cardinality
            falling = np.argsort(-np.bincount(train.codes[:, i], minlength=k), kind="stable")
            matrix[block, span.start + 1 : span.stop + 1] = np.eye(k)[:, falling[k == 2 :]]
    return replace(encoding, matrix=matrix)


def hidden_sensitive(table: Table) -> list[int]:
    """Return the positions of all features but the sensitive ones."""
    return [i for i in table.schema.feature_indices if i not in table.schema.sensitive_indices]


def recoded(
    train: Table,
    values: Callable[[Table], Any],
    states: int,
    y: NDArray[np.bool_] | None = None,
) -> Prepared:
    """Return training data whose features are numbers that a library makes of rows.

    Of a column with at most so many different numbers among the training rows each is a state; others are cut
    into so many pieces of about equal frequency. A number between belongs to the state next to it. Constant
    columns are left out. ``y`` are the labels, if the library changes them. Raises :class:`TechniqueError` if
    ``values`` returns anything but a finite number for each row and column.
    """

    def numbers(table: Table, width: int | None = None) -> Array:
        made = values(table)
        made = np.asarray(made.toarray() if hasattr(made, "toarray") else made)
        expected = f"finite numbers of shape ({len(table)}, {'n_features' if width is None else width})"
        if made.ndim != 2 or len(made) != len(table) or width not in (None, made.shape[1]):
            got = f"shape {made.shape}"
        elif made.dtype.kind not in "buif" or not np.isfinite(made).all():
            got = f"{made.dtype}, not all finite" if made.dtype.kind in "buif" else str(made.dtype)
        else:
            # Rounded, so that numbers that are equal but for the last digits are one state.
            return np.asarray(made.astype(np.float64).round(9)) + 0.0
        raise TechniqueError(
            "A transformer returned something else than features", expected=expected, got=got
        )

    made = numbers(train)
    edges = {}
    for j, column in enumerate(made.T):
        distinct = np.unique(column)
        few = len(distinct) <= states
        cuts = (
            (distinct[1:] + distinct[:-1]) / 2
            if few
            else equal_frequency_edges(column, np.ones(len(train)), states)
        )
        if len(cuts):
            edges[j] = cuts
    schema = train.schema
    changed = new_features(schema, [(f"feature {j}", len(cuts) + 1) for j, cuts in edges.items()])

    def cut(table: Table, made: Array) -> Table:
        codes = [np.searchsorted(cuts, made[:, j]) for j, cuts in edges.items()]
        kept = table.codes[:, [schema.label_index, *schema.sensitive_indices]]
        return Table(changed, np.column_stack([kept, *codes]).astype(CODE_DTYPE))

    table = cut(train, made)
    if y is not None:
        table = with_labels(table, y)
    features = changed.names[1 + len(schema.sensitive_indices) :]
    return Prepared(table, features=features, transform=lambda test: cut(test, numbers(test, made.shape[1])))


def with_labels(table: Table, y: NDArray[np.bool_]) -> Table:
    """Return a table with other labels, favorable where ``y`` says so, shape (n_rows,)."""
    code = table.schema.favorable_code
    return table.with_column(table.schema.label, np.where(y, code, 1 - code))


class Codes(Weighted):
    """The experiment's classifier as libraries take estimators: one that they may copy and hand floats."""

    def __sklearn_clone__(self) -> Codes:
        return Codes(self.build, self.technique)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Codes:
        """Train on codes in whatever form; weights are scaled to a mean of 1."""
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        super().fit(_as_codes(X), np.ravel(y), weight)
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 0 or 1 for each row, shape (n_rows,)."""
        return super().predict(_as_codes(X))


def _as_codes(X: Any) -> NDArray[np.int16]:
    return np.asfortranarray(np.asarray(X), dtype=CODE_DTYPE)
