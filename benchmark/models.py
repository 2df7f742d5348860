"""What the models of declared files share."""

import enum
import functools
import re
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic_core import to_jsonable_python

STRICT = ConfigDict(extra="forbid", frozen=True)
"""A field that the model does not know is an error, and nothing changes once it is read."""


class Identity(enum.Enum):
    """What a field of an experiment file is to the identity of a cell, by which stored results are found."""

    KEYED = "its value is in the cell's key"
    OPTION = "its value is in the cell's key unless it is the default, so that older keys stay as they are"
    DERIVED = "what follows from it is in the cell's key: rows, splits, networks, parameters"
    PLANNED = "it says which run this is, and which cells there are"
    FREE = "no cell's answers depend on it: it says what is measured and shown, and how long a cell may take"


T = TypeVar("T")
Keyed = Annotated[T, Identity.KEYED]
Option = Annotated[T, Identity.OPTION]
Derived = Annotated[T, Identity.DERIVED]
Planned = Annotated[T, Identity.PLANNED]
Free = Annotated[T, Identity.FREE]


class Identifying(BaseModel):
    """A table of an experiment file, each field of which declares its :class:`Identity`.

    A TypeError says that a field of a subclass declares none.
    """

    model_config = STRICT

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        declared = {name for kind in Identity for name in cls.fields_of(kind)}
        if forgotten := [name for name in cls.model_fields if name not in declared]:
            kinds = "".join(f"\n  {kind.name.capitalize()}[...]: {kind.value}" for kind in Identity)
            raise TypeError(f"{cls.__name__}.{forgotten[0]} does not declare what it is to a cell:{kinds}")

    @classmethod
    @functools.cache
    def fields_of(cls, kind: Identity) -> tuple[str, ...]:
        """Return the names of the fields of one kind."""
        return tuple(name for name, field in cls.model_fields.items() if kind in field.metadata)

    def in_keys(self) -> dict[str, Any]:
        """Return what keys of cells have of it by itself: values that JSON can hold, by field."""
        fields = type(self).model_fields
        changed = [n for n in self.fields_of(Identity.OPTION) if getattr(self, n) != fields[n].default]
        return {n: to_jsonable_python(getattr(self, n)) for n in (*self.fields_of(Identity.KEYED), *changed)}


_NAME = "[A-Za-z0-9][A-Za-z0-9_.+-]*"


def _name(pattern: str, besides: str = "") -> AfterValidator:
    def matching(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            what = "is no name; expected a letter or digit, and then letters, digits, '_', '.', '+' or '-'"
            raise ValueError(what + besides)
        return text

    return AfterValidator(matching)


Identifier = Annotated[str, _name(_NAME)]
"""A name in results: also that of a file or folder."""

# Which libraries there are, and that something has to follow, is said where the technique is looked up.
TechniqueName = Annotated[
    str, _name(f"[A-Za-z0-9]+:({_NAME})?|{_NAME}", "; of another library, 'aif360:Reweighing'")
]
"""A registered technique's name, or that of another library's: ``aif360:Reweighing``."""


def entry_name(technique: str) -> str:
    """Return what an entry without a name is called: ``aif360_Reweighing``, a path by its last part."""
    library, colon, name = technique.rpartition(":")
    return f"{library}_{name.rpartition('.')[2] if library == 'sklearn' else name}" if colon else technique
