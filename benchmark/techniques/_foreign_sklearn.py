"""Any scikit-learn transformer, installed or of one's own, as a step before the classifier."""

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
from benchmark.techniques._foreign import STATES, Foreign, ForeignPre, enclosed, encoded, new_seed, recoded
from benchmark.techniques.base import Prepared, Tools
from benchmark.techniques.encoding import Treatment

# Numbers as numbers, as users of scikit-learn have them.
_ADAPTERS = {"treatment": (Treatment, "schema"), "use_sensitive": (bool, True), **STATES}
_PLAIN = (bool, int, float, str, type(None))


class Transformer(ForeignPre):
    """Let a scikit-learn transformer make the features that the classifier sees.

    It is handed the features as numbers (see ``treatment``) and the labels, of training rows only, and makes
    those of every row by ``transform``. ``fit`` gets ``sensitive_features`` as well if it has such a
    parameter: whether a row is of the deprived group. What it makes becomes states: see ``states``.

    Parameters
    ----------
    treatment : {"categorical", "schema", "ordinal"}, default "schema"
        Which columns enter as one number, the position of the state, scaled to variance 1: none, those that
        the schema calls ordered, or all. The others enter by indicators of their states.
    use_sensitive : bool, default True
        Whether the sensitive feature is among what it is handed.
    states : int in [2, 1000], default 20
        Of a column with more different numbers, into how many pieces of about equal frequency it is cut.
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
        """Values of all parameters by name, sorted by name; None where the transformer's own default is."""
        return {name: getattr(self, name) for name in sorted({*self.given, *_ADAPTERS})}

    def made(self, seed: int = 0) -> Any:
        """Return the transformer, not yet fitted; the seed, 0 to 2**32 - 1, is its ``random_state``."""
        own = {name: getattr(self, name) for name in self.given}
        if "random_state" in inspect.signature(self.transformer).parameters:
            own["random_state"] = seed
        with enclosed(seed):
            return self.transformer(**own)

    def _check_together(self) -> None:
        try:
            made = self.made()
            if hasattr(made, "_validate_params"):  # scikit-learn's own rules, in its own words
                made._validate_params()
        except Exception as problem:
            raise TechniqueError(
                f"The transformer of {self.name!r} cannot be made",
                got=f"{type(problem).__name__}: {problem}",
                remedy="correct its parameters",
            ) from problem

    def _own(self, name: str) -> Any:
        """Return a parameter of the adapter, or its default where the transformer has one of that name."""
        return _ADAPTERS[name][1] if name in self.given else getattr(self, name)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        seed = new_seed(tools)
        encoding = encoded(train, self._own("treatment"), use_sensitive=self._own("use_sensitive"))
        made = self.made(seed)
        group = {}
        if "sensitive_features" in inspect.signature(made.fit).parameters:
            group["sensitive_features"] = train.deprived.astype(np.int64)
        with enclosed(seed):
            made.fit(encoding.features(train), train.y.astype(np.int64), **group)

        def transformed(table: Table) -> Any:
            with enclosed(seed):
                return made.transform(encoding.features(table))

        return recoded(train, transformed, self._own("states"))


def technique_of(name: str, path: str) -> type[Foreign]:
    """Return the technique that a transformer's dotted path stands for.

    Its parameters are those of the transformer whose defaults are plain values, and those of the adapter. A
    class of one's own counts by its source, one of an installed package by the package's version. Raises
    :class:`TechniqueError` if the path names no transformer.
    """
    found = _imported(path)
    own = {
        p.name: p
        for p in inspect.signature(found).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        and p.name != "random_state"
        and (p.default is p.empty or isinstance(p.default, _PLAIN))
    }
    defaults: dict[str, Any] = {name: default for name, (_, default) in _ADAPTERS.items()}
    defaults |= {name: None if p.default is p.empty else p.default for name, p in own.items()}
    package, module = _source(found)
    summary = (inspect.getdoc(found) or path).partition("\n")[0].rstrip(".")
    return type(
        found.__name__,
        (Transformer,),
        {
            **defaults,
            "__annotations__": {name: rule for name, (rule, _) in _ADAPTERS.items()}
            | dict.fromkeys(own, Any),
            "__module__": module,
            "__doc__": f"Features made by {path}.",
            "__qualname__": found.__name__,
            "name": name,
            "reference": f"{path}, of {package or 'a file of its own'}",
            "summary": summary,
            "version": "1",
            "randomised": "random_state" in inspect.signature(found).parameters,
            "intersections": True,
            "multi_group": True,  # nothing says which groups it tells apart
            "packages": (package,) if package else (),
            "transformer": found,
            "given": own,
        },
    )


def _imported(path: str) -> type[Any]:
    module, _, attribute = path.rpartition(".")
    try:
        with enclosed():
            found = getattr(importlib.import_module(module), attribute)
    except Exception as problem:  # a module of the user's own may fail in any way
        raise TechniqueError(
            f"The transformer {path!r} cannot be imported",
            expected="the dotted path of a class, such as sklearn.decomposition.PCA",
            got=f"{type(problem).__name__}: {problem}",
            remedy="correct the path; a module of your own must lie on Python's path (PYTHONPATH)",
        ) from problem
    if not (isinstance(found, type) and hasattr(found, "fit") and hasattr(found, "transform")):
        raise TechniqueError(
            f"{path!r} names no transformer",
            expected="a class with fit and transform, as scikit-learn's transformers have",
            got=repr(found),
        )
    return found


def _source(found: type[Any]) -> tuple[str, str]:
    """Return the installed package that a class comes from, or "", and the module whose code it counts as."""
    root = found.__module__.partition(".")[0]
    file = getattr(inspect.getmodule(found), "__file__", None)
    if file is not None and not {"site-packages", "dist-packages"} & {*Path(file).parts}:
        return "", found.__module__
    package = "scikit-learn" if root == "sklearn" else metadata.packages_distributions().get(root, [root])[0]
    return package, __name__


def _checked(transformer: type[Any], parameter: inspect.Parameter, value: Any) -> Any:
    """Return a parameter's value, normalized; where scikit-learn's rules hold, they are asked afterwards."""
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
