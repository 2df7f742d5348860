"""Other libraries as techniques: tables become numbers for a library, its numbers states.

Any scikit-learn transformer, installed or your own, is a step before the classifier. No library is imported
before a technique runs.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import io
import logging
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError, TechniqueError
from benchmark.techniques import base
from benchmark.techniques.encoding import (
    Encoding,
    Treatment,
    equal_frequency_edges,
    new_features,
    with_features,
)

States: TypeAlias = Annotated[int, base.Interval(2, 1000)]
"""Largest number of states of a feature that a library makes."""

_OF_ADAPTERS = {"states", "treatment", "use_sensitive"}  # parameters of ours, which no library gets


class Foreign(base.Technique):
    """A technique that another library computes."""

    version = "1"
    intersections = True
    needs: ClassVar[tuple[str, ...]] = ()  # packages beyond the library, which have modules of their names

    @property
    def options(self) -> dict[str, Any]:
        """The parameters that the library's constructor takes."""
        return {name: value for name, value in self.parameters.items() if name not in _OF_ADAPTERS}

    def skip(self, train: Table) -> str | None:
        """Decline where a package is missing, or the stage's demands are not met."""
        missing = [package for package in self.needs if find_spec(package) is None]
        if missing:
            return f"{' and '.join(missing)} is not installed: pip install {' '.join(missing)}"
        return super().skip(train)


@contextlib.contextmanager
def enclosed(seed: int = 0) -> Iterator[None]:
    """Let a library use global generators and print without a trace.

    The global generators of NumPy and Python start from the seed, 0 to 2**32 - 1, and are restored in the
    end.
    """
    numpys = np.random.get_state()  # noqa: NPY002
    pythons, level = random.getstate(), logging.root.manager.disable
    try:
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        logging.disable(logging.WARNING)
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


def new_seed(tools: base.Tools) -> int:
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
) -> base.Prepared:
    """Return training data whose features are numbers that a library makes of rows.

    Each number is a state if a column has at most ``states`` different ones among the training rows. Other
    columns are cut into that many pieces of about equal frequency. A number between two states belongs to the
    nearer one. Constant columns are left out. ``y`` are the labels, if the library changes them. Raises
    :class:`TechniqueError` if ``values`` returns anything but a finite number for each row and column.
    """

    def numbers(table: Table, width: int | None = None) -> base.Array:
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

    def cut(table: Table, matrix: base.Array) -> Table:
        codes = [np.searchsorted(cuts, matrix[:, j]) for j, cuts in edges.items()]
        return with_features(table, changed, codes)

    table = cut(train, matrix)
    if y is not None:
        table = base.with_labels(table, y)
    features = changed.names[1 + len(train.schema.sensitive_indices) :]
    return base.Prepared(
        table, features=features, transform=lambda test: cut(test, numbers(test, matrix.shape[1]))
    )


# Ordered columns are numbers by default, as users of scikit-learn expect.
_ADAPTERS: Mapping[str, tuple[Any, Any]] = {
    "treatment": (Treatment, "schema"),
    "use_sensitive": (bool, True),
    "states": (States, 20),
}
_PLAIN = (bool, int, float, str, type(None))


class Transformer(Foreign, base.PreProcessing):
    """Let a scikit-learn transformer make the features that the classifier sees.

    Its ``fit`` gets the features of training rows as numbers (see ``treatment``) and their labels. If it has
    a parameter ``sensitive_features``, it also gets whether each row is of the deprived group. Its
    ``transform`` makes the features of all rows.

    Three parameters are the adapter's. ``treatment`` is as of other techniques, by default ``"schema"``.
    ``use_sensitive`` says whether ``fit`` gets the sensitive feature. ``states`` is the number of pieces of
    about equal frequency into which a feature with more different numbers is cut.
    """

    transformer: ClassVar[type[Any]]
    given: ClassVar[dict[str, inspect.Parameter]] = {}

    def __post_init__(self) -> None:
        for name, (rule, _) in _ADAPTERS.items():
            if name not in self.given:
                object.__setattr__(self, name, base.checked_value(self, name, rule))
        for name, parameter in self.given.items():
            object.__setattr__(self, name, _checked(self.transformer, parameter, getattr(self, name)))
        self._check_together()

    @property
    def parameters(self) -> dict[str, Any]:
        """Values of all parameters, sorted by name; None for the transformer's own default."""
        return {name: getattr(self, name) for name in sorted({*self.given, *_ADAPTERS})}

    def _built(self, seed: int = 0) -> Any:
        arguments = {name: getattr(self, name) for name in self.given}
        if "random_state" in inspect.signature(self.transformer).parameters:
            arguments["random_state"] = seed
        with enclosed(seed):
            return self.transformer(**arguments)

    def _check_together(self) -> None:
        try:
            transformer = self._built()
            if hasattr(transformer, "_validate_params"):  # scikit-learn's own rules, in its own words
                transformer._validate_params()
        except Exception as problem:
            raise TechniqueError(
                f"The transformer of {self.name!r} cannot be made",
                got=f"{type(problem).__name__}: {problem}",
                remedy="correct its parameters",
            ) from problem

    def _of_adapter(self, name: str) -> Any:
        """Return a parameter of the adapter; its default if the transformer has a parameter of this name."""
        return _ADAPTERS[name][1] if name in self.given else getattr(self, name)

    def _prepare(self, train: Table, tools: base.Tools) -> base.Prepared:
        seed, use_sensitive = new_seed(tools), self._of_adapter("use_sensitive")
        encoding = encoded(train, self._of_adapter("treatment"), use_sensitive=use_sensitive)
        transformer = self._built(seed)
        group = {}
        if "sensitive_features" in inspect.signature(transformer.fit).parameters:
            group["sensitive_features"] = train.deprived.astype(np.int64)
        with enclosed(seed):
            transformer.fit(encoding.features(train), train.y.astype(np.int64), **group)

        def transformed(table: Table) -> Any:
            with enclosed(seed):
                return transformer.transform(encoding.features(table))

        return recoded(train, transformed, self._of_adapter("states"))


@functools.cache
def technique_of(name: str, path: str) -> type[Foreign]:
    """Return the technique of a transformer's dotted path.

    Its parameters are the adapter's, and the transformer's with plain values as defaults. Its identity is the
    source of your own class, or the version of an installed package. Raises :class:`TechniqueError` if the
    path names no transformer.
    """
    transformer = _imported(path)
    given = {
        p.name: p
        for p in inspect.signature(transformer).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        and p.name != "random_state"
        and (p.default is p.empty or isinstance(p.default, _PLAIN))
    }
    defaults: dict[str, Any] = {name: default for name, (_, default) in _ADAPTERS.items()}
    defaults |= {name: None if p.default is p.empty else p.default for name, p in given.items()}
    package, module = _source(transformer)
    summary = (inspect.getdoc(transformer) or path).partition("\n")[0].rstrip(".")
    return type(
        transformer.__name__,
        (Transformer,),
        {
            **defaults,
            "__annotations__": {name: rule for name, (rule, _) in _ADAPTERS.items()}
            | dict.fromkeys(given, Any),
            "__module__": module,
            "__doc__": f"Features made by {path}.",
            "__qualname__": transformer.__name__,
            "name": name,
            "reference": f"{path}, of {package or 'a file of its own'}",
            "summary": summary,
            "version": "1",
            "randomised": "random_state" in inspect.signature(transformer).parameters,
            "intersections": True,
            "multi_group": True,  # it may distinguish any groups
            "packages": (package,) if package else (),
            "transformer": transformer,
            "given": given,
        },
    )


def _imported(path: str) -> type[Any]:
    module, _, attribute = path.rpartition(".")
    try:
        with enclosed():
            transformer = getattr(importlib.import_module(module), attribute)
    except Exception as problem:  # a module of the user's own may fail in any way
        raise TechniqueError(
            f"The transformer {path!r} cannot be imported",
            expected="the dotted path of a class, such as sklearn.decomposition.PCA",
            got=f"{type(problem).__name__}: {problem}",
            remedy="correct the path; a module of your own must lie on Python's path (PYTHONPATH)",
        ) from problem
    if not (
        isinstance(transformer, type) and hasattr(transformer, "fit") and hasattr(transformer, "transform")
    ):
        raise TechniqueError(
            f"{path!r} names no transformer",
            expected="a class with fit and transform, as scikit-learn's transformers have",
            got=repr(transformer),
        )
    return transformer


def _source(transformer: type[Any]) -> tuple[str, str]:
    """Return the installed package of a class, or "", and the module whose code identifies it."""
    root = transformer.__module__.partition(".")[0]
    file = getattr(inspect.getmodule(transformer), "__file__", None)
    if file is not None and not {"site-packages", "dist-packages"} & {*Path(file).parts}:
        return "", transformer.__module__
    package = "scikit-learn" if root == "sklearn" else metadata.packages_distributions().get(root, [root])[0]
    return package, __name__


def _checked(transformer: type[Any], parameter: inspect.Parameter, value: Any) -> Any:
    """Return a parameter's value, normalized; scikit-learn's own rules are checked later."""
    default, name = parameter.default, parameter.name
    if default is parameter.empty and value is None:
        raise TechniqueError(
            f"The {name!r} parameter of {transformer.__name__} has no default",
            expected="a value",
            got="none",
            remedy=f"give it: parameters = {{ {name} = ... }}",
        )
    if isinstance(default, float) and type(value) is int:
        return float(value)
    ruled = hasattr(transformer, "_parameter_constraints")
    free = default is None or default is parameter.empty or ruled
    fits = isinstance(value, _PLAIN) if free else type(value) is type(default)
    if not fits:
        expected = "a plain value" if free else f"a {type(default).__name__}"
        raise TechniqueError(
            f"The {name!r} parameter of {transformer.__name__} must be {expected}. Got {value!r} instead",
            remedy=f"correct it, or leave it out for its default {default!r}",
        )
    return value
