"""The known techniques by name."""

import importlib
import inspect
import typing
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

from benchmark.errors import BetabenchError, TechniqueError, unknown_parameter
from benchmark.registry import Registry, class_flaws
from benchmark.registry import load_plugin as load_any_plugin
from benchmark.techniques._checks import Value, parameter_rules
from benchmark.techniques.base import Stage, Technique

T = TypeVar("T", bound=type[Technique])


def declaration_flaws(technique: type[Technique]) -> list[str]:
    """Say what a class lacks to be registered as a technique, one sentence each."""
    flaws = class_flaws(technique, Technique, "reference", "summary", "version")
    if not (isinstance(technique, type) and issubclass(technique, Technique)):
        return flaws
    if not isinstance(technique.may_lose_to_constant, str):
        flaws.append("its class attribute 'may_lose_to_constant' is not the reason in words")
    if getattr(technique, "stage", None) not in typing.get_args(Stage):
        flaws.append(f"its stage is none of {', '.join(typing.get_args(Stage))}")
    flaws += [
        f"{name!r} has no annotation, so that it is no parameter"
        for name, value in vars(technique).items()
        if isinstance(value, bool | int | float)
        and not hasattr(Technique, name)
        and not name.startswith("_")
        and name not in vars(technique).get("__annotations__", {})
    ]
    try:
        parameter_rules(technique)
        if not inspect.isabstract(technique):
            technique()
    except BetabenchError as error:
        flaws.append(f"with its defaults it cannot be made: {error.what}")
    except NameError as error:
        flaws.append(f"a parameter's annotation cannot be resolved: {error}")
    return flaws


_REGISTRY: Registry[type[Technique]] = Registry(
    "technique",
    TechniqueError,
    package="benchmark.techniques",
    entry_points="betabench.techniques",
    flaws=declaration_flaws,
)


def register(technique: T) -> T:
    """Register a technique class under its ``name``: the decorator of every technique.

    Raises
    ------
    TechniqueError
        If the class is abstract, its declaration is incomplete, or its name is taken.
    """
    # Its own name only: a subclass that forgot to name itself would claim its parent's.
    _REGISTRY.add(vars(technique).get("name"), technique)
    return technique


def get_technique(name: str, **parameters: Value) -> Technique:
    """Return a configured technique.

    Parameters
    ----------
    name : str
        Registered name, or that of another library's technique, such as ``"aif360:Reweighing"``.
    **parameters
        The technique's own parameters; those left out take their defaults.

    Raises
    ------
    UnknownNameError
        If no technique has the name.
    TechniqueError
        If a parameter is unknown to the technique or outside its valid range, or another library's technique
        cannot be run.
    """
    technique = _foreign(name) if ":" in name else _REGISTRY.get(name)
    known = sorted(field.name for field in fields(technique) if field.init)  # type: ignore[arg-type]
    for parameter in parameters:
        if parameter not in known:
            what = f"The technique {name!r} has no parameter {parameter!r}"
            raise unknown_parameter(TechniqueError, what, parameter, parameters[parameter], known)
    return technique(**parameters)


def find_technique(name: str) -> type[Technique] | None:
    """Return the class of a technique, registered or another library's, or None if there is none."""
    if ":" not in name:
        return list_techniques().get(name)
    try:
        return _foreign(name)
    except BetabenchError:
        return None


def list_techniques() -> dict[str, type[Technique]]:
    """Return all registered technique classes by name, sorted by name."""
    return _REGISTRY.items()


def _foreign(name: str) -> type[Technique]:
    # By name: what is imported here would count as code of every technique.
    found: type[Technique] = importlib.import_module("benchmark.techniques.foreign").foreign_technique(name)
    return found


def load_plugin(path: str | Path) -> tuple[str, ...]:
    """Import a Python file and return the names of the techniques that it registers, sorted.

    It may register metrics, classifiers and kinds of bias as well, or instead; see
    :func:`benchmark.registry.load_plugin`, also for errors.
    """
    return load_any_plugin(path).get("technique", ())
