"""The registry of techniques."""

import inspect
import typing
from pathlib import Path
from typing import TypeVar

from benchmark.errors import BetabenchError, TechniqueError
from benchmark.registry import Registry, class_flaws
from benchmark.registry import load_plugin as load_any_plugin
from benchmark.techniques.base import Stage, Technique, parameter_rules
from benchmark.techniques.knowledge import FACTS

T = TypeVar("T", bound=type[Technique])


def declaration_flaws(technique: type[Technique]) -> list[str]:
    """Return the reasons why a class cannot be registered as a technique, one sentence each."""
    flaws = class_flaws(technique, Technique, "reference", "summary", "version")
    if not (isinstance(technique, type) and issubclass(technique, Technique)):
        return flaws
    if not isinstance(technique.may_lose_to_constant, str):
        flaws.append("its class attribute 'may_lose_to_constant' is no reason in words")
    if not isinstance(technique.knows, tuple) or not {*technique.knows} <= {*FACTS}:
        flaws.append(f"its class attribute 'knows' is no tuple of facts about the bias: {', '.join(FACTS)}")
    elif len(several := [fact for fact in technique.knows if fact not in ("direction", "kind")]) > 1:
        rule = "a technique is told one, besides direction and kind, so that its like know as much"
        flaws.append(f"its class attribute 'knows' has several facts, {', '.join(several)}: {rule}")
    if getattr(technique, "stage", None) not in typing.get_args(Stage):
        flaws.append(f"its stage is none of {', '.join(typing.get_args(Stage))}")
    flaws += [
        f"{name!r} has no annotation, so it is no parameter"
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

    Raises :class:`TechniqueError` if the class is abstract, its declaration is incomplete, or its name is
    taken.
    """
    # Not an inherited name: a subclass that forgot to name itself would claim its parent's.
    _REGISTRY.add(vars(technique).get("name"), technique)
    return technique


def list_techniques() -> dict[str, type[Technique]]:
    """Return all registered technique classes by name, sorted by name."""
    return _REGISTRY.items()


def load_plugin(path: str | Path) -> tuple[str, ...]:
    """Return the sorted names of the techniques that a Python file registers, after importing it.

    The file may register metrics, classifiers and kinds of bias as well. For errors see
    :func:`benchmark.registry.load_plugin`.
    """
    return load_any_plugin(path).get("technique", ())
