"""Techniques of other libraries by name: ``aif360:...``, ``fairlearn:...``, ``sklearn:dotted.path``."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType

from benchmark.errors import DeclinedError, TechniqueError, UnknownNameError
from benchmark.techniques._foreign import BASES, Description, Foreign
from benchmark.techniques.registry import list_techniques

_DESCRIBED = ("aif360", "fairlearn")
_TRANSFORMERS = "sklearn"
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
    if library not in _DESCRIBED:
        raise UnknownNameError("library of techniques", library, (*_DESCRIBED, _TRANSFORMERS))
    module = _module(library)
    if rest in module.UNREACHABLE:
        raise DeclinedError(f"{name!r} cannot be run as a technique: {module.UNREACHABLE[rest]}")
    if rest not in module.DESCRIPTIONS:
        raise UnknownNameError(f"technique of {library}", rest, module.DESCRIPTIONS)
    return _class_of(name, module.DESCRIPTIONS[rest], module.__name__)


def list_foreign() -> dict[str, type[Foreign]]:
    """Return the techniques of other libraries by name: aif360's and fairlearn's."""
    names = (f"{library}:{name}" for library in _DESCRIBED for name in _module(library).DESCRIPTIONS)
    return {name: foreign_technique(name) for name in names}


def unreachable() -> dict[str, str]:
    """Return the other names of aif360 and fairlearn, and the reasons why they cannot be techniques here."""
    return {
        f"{library}:{name}": reason
        for library in _DESCRIBED
        for name, reason in _module(library).UNREACHABLE.items()
    }


def _module(library: str) -> ModuleType:
    return importlib.import_module(f"benchmark.techniques._foreign_{library}")


def _class_of(name: str, description: Description, module: str) -> type[Foreign]:
    library, _, rest = name.partition(":")
    ours = list_techniques()[description.ours]
    rules = description.parameters
    return type(
        rest.rpartition(".")[2],
        (BASES[description.stage],),
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
            "run": description.run,
        },
    )
