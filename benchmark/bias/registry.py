"""The known kinds of bias by name."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from benchmark.bias.base import BiasKind, declaration_flaws
from benchmark.bias.planting import Bias
from benchmark.declarations import broken_rules
from benchmark.errors import BiasError
from benchmark.registry import Registry

K = TypeVar("K", bound=type[BiasKind])

_REGISTRY: Registry[type[BiasKind]] = Registry(
    "bias kind",
    BiasError,
    package="benchmark.bias",
    entry_points="betabench.bias_kinds",
    flaws=declaration_flaws,
)


def register(kind: K) -> K:
    """Register a kind of bias under its ``name``: the decorator of every kind.

    A BiasError means that the class is abstract, that its declaration is incomplete, or that its name is
    taken.
    """
    _REGISTRY.add(vars(kind).get("name"), kind)
    return kind


def make_step(name: str, parameters: Mapping[str, Any] | None = None) -> BiasKind:
    """Return a kind of bias by name, with parameters; all others take their defaults.

    An UnknownNameError means that no kind has the name, a BiasError that a parameter does not exist or has no
    valid value.
    """
    kind = _REGISTRY.get(name)
    try:
        return kind.model_validate(dict(parameters or {}))
    except ValidationError as error:
        rules = broken_rules(error, kind, f"the bias kind {name!r}")
        raise BiasError(
            f"The bias kind {name!r} is given wrong parameters: " + "; ".join(rules),
            expected=", ".join(kind.model_fields) or "no parameters",
            remedy="correct the step; 'betabench list bias-kinds' shows parameters and defaults",
        ) from None


def make_bias(*steps: str | BiasKind) -> Bias:
    """Return a bias of some steps: kinds, or names of kinds that need no parameters."""
    return Bias(tuple(make_step(step) if isinstance(step, str) else step for step in steps))


def list_bias_kinds() -> dict[str, type[BiasKind]]:
    """Return all kinds of bias by name, sorted by name."""
    return _REGISTRY.items()
