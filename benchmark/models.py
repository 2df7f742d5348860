"""Settings, names and field kinds that the models of declared files share."""

import enum
import functools
import re
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import to_jsonable_python

STRICT = ConfigDict(extra="forbid", frozen=True)
"""An unknown field is an error, and values do not change after reading."""


class Identity(enum.Enum):
    """How a field of an experiment file enters a cell's key, by which stored results are found."""

    KEYED = "its value is in the cell's key"
    OPTION = "its value is in the cell's key unless it is the default, so that older keys stay valid"
    DERIVED = "the cell's key has its consequences: rows, splits, networks, parameters"
    PLANNED = "it names the run, or decides which cells there are"
    FREE = "no cell's answers depend on it: it is about measuring, showing, and limits of time and memory"


T = TypeVar("T")
Keyed = Annotated[T, Identity.KEYED]
Option = Annotated[T, Identity.OPTION]
Derived = Annotated[T, Identity.DERIVED]
Planned = Annotated[T, Identity.PLANNED]
Free = Annotated[T, Identity.FREE]


class Identifying(BaseModel):
    """A table of an experiment file, whose fields declare their :class:`Identity`.

    A TypeError says that a field of a subclass declares none.
    """

    model_config = STRICT
    only_if_set: ClassVar[tuple[str, ...]] = ()  # fields that a manifest has only with a value

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = written(self)
        return {name: value for name, value in fields.items() if value or name not in self.only_if_set}

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        declared = {name for kind in Identity for name in cls.fields_of(kind)}
        if forgotten := [name for name in cls.model_fields if name not in declared]:
            kinds = "".join(f"\n  {kind.name.capitalize()}[...]: {kind.value}" for kind in Identity)
            raise TypeError(
                f"{cls.__name__}.{forgotten[0]} does not declare how it enters cells' keys:{kinds}"
            )

    @classmethod
    @functools.cache
    def fields_of(cls, kind: Identity) -> tuple[str, ...]:
        """Return the names of the fields of one kind."""
        return tuple(name for name, field in cls.model_fields.items() if kind in field.metadata)

    def in_keys(self) -> dict[str, Any]:
        """Return the fields in cells' keys that are not derived, with values that JSON can hold."""
        fields = type(self).model_fields
        changed = [n for n in self.fields_of(Identity.OPTION) if getattr(self, n) != fields[n].default]
        return {n: to_jsonable_python(getattr(self, n)) for n in (*self.fields_of(Identity.KEYED), *changed)}


_NAME = "[A-Za-z0-9][A-Za-z0-9_.+-]*"


def _name(pattern: str, besides: str = "") -> AfterValidator:
    def matching(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            rule = "is no name; expected a letter or digit, and then letters, digits, '_', '.', '+' or '-'"
            raise ValueError(rule + besides)
        return text

    return AfterValidator(matching)


Identifier = Annotated[str, _name(_NAME)]
"""A name in results, which may also name a file or folder."""

# An empty or unknown name after the colon is an error of the registry, which lists the libraries.
TechniqueName = Annotated[
    str, _name(f"[A-Za-z0-9]+:({_NAME})?|{_NAME}", "; of another library, 'aif360:Reweighing'")
]
"""The name of a registered technique, or of another library's technique: ``aif360:Reweighing``."""


def entry_name(technique: str) -> str:
    """Return the name of an entry that declares none: ``aif360_Reweighing``, for a path its last part."""
    library, colon, name = technique.rpartition(":")
    return f"{library}_{name.rpartition('.')[2] if library == 'sklearn' else name}" if colon else technique
