"""The known kinds of bias by name."""

from typing import TypeVar

from benchmark.bias.base import BiasKind
from benchmark.bias.edits import BiasEdit
from benchmark.errors import BiasError
from benchmark.registry import Registry, class_flaws

K = TypeVar("K", bound=type[BiasKind])

_REGISTRY: Registry[type[BiasKind]] = Registry(
    "bias kind",
    BiasError,
    package="benchmark.bias",
    entry_points="betabench.bias_kinds",
    flaws=lambda kind: class_flaws(kind, BiasKind, "summary", "reference", "version"),
)


def register(kind: K) -> K:
    """Register a kind of bias under its ``name``: the decorator of every kind.

    Raises
    ------
    BiasError
        If the class is abstract, its declaration is incomplete, or its name is taken.
    """
    _REGISTRY.add(vars(kind).get("name"), kind)
    return kind


def make_bias(name: str, edits: tuple[BiasEdit, ...] = ()) -> BiasKind:
    """Return a kind of bias by name.

    Raises
    ------
    UnknownNameError
        If no kind has the name.
    BiasError
        If edits are missing, or given to a kind that takes none.
    """
    return _REGISTRY.get(name)(edits)


def list_bias_kinds() -> dict[str, type[BiasKind]]:
    """Return all kinds of bias by name, sorted by name."""
    return _REGISTRY.items()
