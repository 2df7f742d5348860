"""What the models of declared files share."""

import re
from typing import Annotated

from pydantic import AfterValidator, ConfigDict

STRICT = ConfigDict(extra="forbid", frozen=True)
"""A field that the model does not know is an error, and nothing changes once it is read."""

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
