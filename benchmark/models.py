"""What the models of declared files share."""

from typing import Annotated

from pydantic import ConfigDict, Field

STRICT = ConfigDict(extra="forbid", frozen=True)
"""A field that the model does not know is an error, and nothing changes once it is read."""

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
"""A name in results: also that of a file or folder."""

TechniqueName = Annotated[str, Field(pattern=r"^([a-z0-9]+:)?[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
"""A registered technique's name, or that of another library's: ``aif360:Reweighing``."""


def entry_name(technique: str) -> str:
    """Return what an entry without a name is called: ``aif360_Reweighing``, a path by its last part."""
    library, colon, name = technique.rpartition(":")
    return f"{library}_{name.rpartition('.')[2] if library == 'sklearn' else name}" if colon else technique
