"""What the models of declared files share."""

from typing import Annotated

from pydantic import ConfigDict, Field

STRICT = ConfigDict(extra="forbid", frozen=True)
"""A field that the model does not know is an error, and nothing changes once it is read."""

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
"""A name in results: also that of a file or folder."""
