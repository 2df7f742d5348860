"""Any scikit-learn transformer, installed or your own, as a step before the classifier."""

from __future__ import annotations

import importlib
import inspect
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from benchmark.techniques._checks import checked_value
from benchmark.techniques._foreign import STATES, Foreign, enclosed, encoded, new_seed, recoded
from benchmark.techniques.base import Prepared, PreProcessing, Tools
from benchmark.techniques.encoding import Treatment

# Ordered columns are numbers by default, as users of scikit-learn expect.
_ADAPTERS = {"treatment": (Treatment, "schema"), "use_sensitive": (bool, True), **STATES}
_PLAIN = (bool, int, float, str, type(None))


class Transformer(Foreign, PreProcessing):
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
                object.__setattr__(self, name, checked_value(self, name, rule))
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

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
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
