"""The common part of other libraries' techniques: tables become numbers for a library, its numbers states.

No library is imported before a technique runs.
"""

from __future__ import annotations

import contextlib
import functools
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
from types import ModuleType
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import CODE_DTYPE, Table
from benchmark.declarations import package_toml
from benchmark.errors import DeclinedError, TechniqueError, UnknownNameError
from benchmark.techniques._checks import Value
from benchmark.techniques.base import (
    Array,
    Interval,
    Prepared,
    PreProcessing,
    Stage,
    Technique,
    Tools,
    with_labels,
)
from benchmark.techniques.correlation_remover import equal_frequency_edges, new_features, with_features
from benchmark.techniques.encoding import Encoding, Treatment
from benchmark.techniques.post_processing import ErrorRatePostProcessing
from benchmark.techniques.reductions import Weighted
from benchmark.techniques.registry import list_techniques

Rules: TypeAlias = Mapping[str, tuple[Any, Value]]
"""By parameter, its valid values in the form of a technique's annotation, and its default."""

STATES: Rules = {"states": (Annotated[int, Interval(2, 1000)], 20)}

# Parameters of the adapters, which no library gets.
_OF_ADAPTERS = {"states", "treatment", "holdout", "use_sensitive"}
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Description:
    """Declaration of another library's technique."""

    ours: str  # technique of this package with the same method, and so the same publication and summary
    # Calls the library with the technique, a Table or Scored, and Tools; returns Prepared, Predictor or
    # Adjustment.
    run: Callable[[Any, Any, Tools], Any]
    stage: Stage
    # Parameters of the library's constructor, under its names, and of the adapter.
    parameters: Rules = field(default_factory=dict)
    # Modules beyond the library, and the packages that bring them.
    needs: Mapping[str, str] = field(default_factory=dict)
    declares: Mapping[str, Any] = field(default_factory=dict)  # further attributes of :class:`Technique`


class Foreign(Technique):
    """A technique that another library computes."""

    ours: ClassVar[str] = ""  # technique of this package with the same method
    needs: ClassVar[Mapping[str, str]] = {}

    @property
    def options(self) -> dict[str, Any]:
        """The parameters that the library's constructor takes."""
        return {name: value for name, value in self.parameters.items() if name not in _OF_ADAPTERS}

    def skip(self, train: Table) -> str | None:
        """Decline where a package is missing, or the stage's demands are not met."""
        missing = [package for module, package in self.needs.items() if find_spec(module) is None]
        if missing:
            return f"{' and '.join(missing)} is not installed: pip install {' '.join(missing)}"
        return super().skip(train)


# By stage, the base and its method that calls the library.
_STAGES: Mapping[Stage, tuple[type[Technique], str]] = {
    "pre": (PreProcessing, "_prepare"),
    "in": (Technique, "_fit"),
    "post": (ErrorRatePostProcessing, "_adjust"),
}


@contextlib.contextmanager
def enclosed(seed: int = 0) -> Iterator[None]:
    """Let a library use global generators, print and start processes without a trace.

    The global generators of NumPy and Python start from the seed, 0 to 2**32 - 1, and are restored in the
    end. Processes find this Python as ``python``, and use one thread.
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
    """Return an object of a library by its dotted path, imported in silence.

    Raises :class:`DeclinedError` if the installed version lacks it, or a package that it needs is missing.
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
    """Return a seed below 2**32, the limit of libraries."""
    return int(tools.rng.integers(2**32))


def encoded(train: Table, treatment: Treatment, *, use_sensitive: bool = False) -> Encoding:
    """Return the encoding of the columns that a library sees.

    The indicators of a column go from the most frequent state to the rarest. A column of two states has one
    indicator, of the rarer state. So results do not depend on the states' codes.
    """
    encoding = Encoding.of(train, use_sensitive=use_sensitive, treatment=treatment)
    matrix = encoding.matrix.copy()
    for i, block, span in zip(encoding.columns, encoding.blocks, encoding.spans, strict=True):
        column = train.schema.columns[i]
        if treatment == "categorical" or (treatment == "schema" and not column.ordered):
            k = column.cardinality
            falling = np.argsort(-np.bincount(train.codes[:, i], minlength=k), kind="stable")
            matrix[block, span.start + 1 : span.stop + 1] = np.eye(k)[:, falling[k == 2 :]]
    return replace(encoding, matrix=matrix)


def recoded(
    train: Table,
    values: Callable[[Table], Any],
    states: int,
    y: NDArray[np.bool_] | None = None,
) -> Prepared:
    """Return training data whose features are numbers that a library makes of rows.

    Each number is a state if a column has at most ``states`` different ones among the training rows. Other
    columns are cut into that many pieces of about equal frequency. A number between two states belongs to the
    nearer one. Constant columns are left out. ``y`` are the labels, if the library changes them. Raises
    :class:`TechniqueError` if ``values`` returns anything but a finite number for each row and column.
    """

    def numbers(table: Table, width: int | None = None) -> Array:
        matrix = values(table)
        matrix = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
        expected = f"finite numbers of shape ({len(table)}, {'n_features' if width is None else width})"
        if matrix.ndim != 2 or len(matrix) != len(table) or width not in (None, matrix.shape[1]):
            got = f"shape {matrix.shape}"
        elif matrix.dtype.kind not in "buif" or not np.isfinite(matrix).all():
            got = f"{matrix.dtype}, not all finite" if matrix.dtype.kind in "buif" else str(matrix.dtype)
        else:
            # Rounded, so that numbers that are equal but for the last digits are one state.
            return np.asarray(matrix.astype(np.float64).round(9)) + 0.0
        raise TechniqueError("A transformer returned no features", expected=expected, got=got)

    matrix = numbers(train)
    edges = {}
    for j, column in enumerate(matrix.T):
        distinct = np.unique(column)
        cuts = (distinct[1:] + distinct[:-1]) / 2
        if len(distinct) > states:
            cuts = equal_frequency_edges(column, np.ones(len(train)), states)
        if len(cuts):
            edges[j] = cuts
    changed = new_features(train.schema, [(f"feature {j}", len(cuts) + 1) for j, cuts in edges.items()])

    def cut(table: Table, matrix: Array) -> Table:
        codes = [np.searchsorted(cuts, matrix[:, j]) for j, cuts in edges.items()]
        return with_features(table, changed, codes)

    table = cut(train, matrix)
    if y is not None:
        table = with_labels(table, y)
    features = changed.names[1 + len(train.schema.sensitive_indices) :]
    return Prepared(
        table, features=features, transform=lambda test: cut(test, numbers(test, matrix.shape[1]))
    )


class Codes(Weighted):
    """The experiment's classifier for libraries, which copy it and pass codes as floats."""

    def __sklearn_clone__(self) -> Codes:
        return Codes(self.build, self.technique)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Codes:
        """Train on codes of any type; weights are scaled to a mean of 1."""
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        super().fit(_as_codes(X), np.ravel(y), weight)
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 0 or 1 for each row, shape (n_rows,)."""
        return super().predict(_as_codes(X))


def _as_codes(X: Any) -> NDArray[np.int16]:
    return np.asfortranarray(np.asarray(X), dtype=CODE_DTYPE)


_TRANSFORMERS = "sklearn"
UNREACHABLE = {
    f"{library}:{name}": reason
    for library, reasons in package_toml(__package__, "unreachable.toml").items()
    for name, reason in reasons.items()
}
"""The other names of aif360 and fairlearn, and the reasons why they cannot be techniques here."""

_EXAMPLES = {"aif360": "Reweighing", "fairlearn": "GridSearch", "sklearn": "sklearn.decomposition.PCA"}


@functools.cache
def foreign_technique(name: str) -> type[Foreign]:
    """Return the technique of another library by a name such as ``"aif360:Reweighing"``.

    Raises :class:`UnknownNameError` for an unknown library or technique, and :class:`DeclinedError` for a
    technique that cannot run here. A path after ``sklearn:`` to no transformer is a :class:`TechniqueError`.
    """
    library, _, rest = name.partition(":")
    if not rest and library in _EXAMPLES:
        raise TechniqueError(
            f"{name!r} names a library, but no technique",
            expected=f"a name after the colon, such as {library}:{_EXAMPLES[library]}",
            remedy="'betabench list techniques' shows them",
        )
    if library == _TRANSFORMERS:
        return _module(library).technique_of(name, rest)  # type: ignore[no-any-return]
    module = _module("libraries")
    if library not in module.DESCRIPTIONS:
        raise UnknownNameError("library of techniques", library, (*module.DESCRIPTIONS, _TRANSFORMERS))
    if name in UNREACHABLE:
        raise DeclinedError(f"{name!r} cannot be run as a technique: {UNREACHABLE[name]}")
    if rest not in module.DESCRIPTIONS[library]:
        raise UnknownNameError(f"technique of {library}", rest, module.DESCRIPTIONS[library])
    return _class_of(name, module.DESCRIPTIONS[library][rest], module.__name__)


def list_foreign() -> dict[str, type[Foreign]]:
    """Return the techniques of other libraries by name: aif360's and fairlearn's."""
    libraries = _module("libraries").DESCRIPTIONS.items()
    names = [f"{library}:{name}" for library, techniques in libraries for name in techniques]
    return {name: foreign_technique(name) for name in names}


def _module(part: str) -> ModuleType:
    return importlib.import_module(f"benchmark.techniques._foreign_{part}")


def _class_of(name: str, description: Description, module: str) -> type[Foreign]:
    library, _, rest = name.partition(":")
    ours = list_techniques()[description.ours]
    rules, (base, method) = description.parameters, _STAGES[description.stage]
    return type(
        rest.rpartition(".")[2],
        (Foreign, base),
        {
            **{parameter: default for parameter, (_, default) in rules.items()},
            "__annotations__": {parameter: rule for parameter, (rule, _) in rules.items()},
            "__module__": module,
            "__doc__": f"{ours.summary}, by {library}'s own code.",
            "name": name,
            "reference": ours.reference,
            "summary": f"{ours.summary}, by {library}'s own code",
            "version": "1",
            "intersections": True,
            "packages": tuple(sorted({library, *description.needs.values()})),
            **description.declares,
            "ours": description.ours,
            "needs": description.needs,
            "stage": description.stage,
            method: description.run,
        },
    )
