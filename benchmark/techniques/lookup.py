"""Techniques by name: registered ones, and those of other libraries."""

from dataclasses import fields

from benchmark.errors import BetabenchError, TechniqueError, UnknownNameError, unknown_parameter
from benchmark.techniques.base import Technique, Value
from benchmark.techniques.registry import list_techniques


def get_technique(name: str, **parameters: Value) -> Technique:
    """Return a technique with given parameters; others take their defaults.

    ``name`` is a registered name, or another library's technique, such as ``"aif360:Reweighing"``. Raises
    :class:`UnknownNameError` for an unknown name. An unknown parameter, a value outside its range, or a
    technique that cannot run here is a :class:`TechniqueError`.
    """
    technique = _found(name)
    accepted = sorted(field.name for field in fields(technique) if field.init)  # type: ignore[arg-type]
    for parameter, value in parameters.items():
        if parameter not in accepted:
            message = f"The technique {name!r} has no parameter {parameter!r}"
            raise unknown_parameter(TechniqueError, message, parameter, value, accepted)
    return technique(**parameters)


def find_technique(name: str) -> type[Technique] | None:
    """Return the class of a technique, registered or another library's, or None if there is none."""
    try:
        return _found(name)
    except BetabenchError:
        return None


def _found(name: str) -> type[Technique]:
    if ":" in name:
        from benchmark.techniques._foreign_libraries import foreign_technique  # it imports many techniques

        return foreign_technique(name)
    registered = list_techniques()
    if name not in registered:
        raise UnknownNameError("technique", name, registered)
    return registered[name]
