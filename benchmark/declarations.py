"""Where the shipped TOML declarations and learned networks are, from any working directory."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from benchmark.errors import UnknownNameError

__all__ = ["declaration_dir", "find_declaration", "list_declarations"]

Kind = Literal["datasets", "experiments"]


def declaration_dir(kind: Kind) -> Path:
    """Return the folder of the shipped declarations of one kind.

    In an installed wheel they lie inside the package; in a source tree they are top-level folders, where
    people look for them.
    """
    package = Path(__file__).resolve().parent
    shipped = package / "_declarations" / kind
    return shipped if shipped.is_dir() else package.parent / kind


def list_declarations(kind: Kind) -> dict[str, Path]:
    """Return the shipped TOML files of one kind by name, sorted by name."""
    return {path.stem: path for path in sorted(declaration_dir(kind).glob("*.toml"))}


def find_declaration(kind: Kind, name_or_path: str) -> Path:
    """Return the TOML file that a name or a path means.

    Parameters
    ----------
    kind : {"datasets", "experiments"}
        What is looked for.
    name_or_path : str
        A shipped name (``adult``), or a path to a file of the user's own (ends in ``.toml``).

    Raises
    ------
    UnknownNameError
        If it is neither.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix == ".toml" and path.is_file():
        return path
    known = list_declarations(kind)
    if name_or_path in known:
        return known[name_or_path]
    error = UnknownNameError(kind.removesuffix("s"), name_or_path, known)
    if path.suffix or len(path.parts) > 1:
        error.what = f"There is no {kind.removesuffix('s')} file {name_or_path!r}"
        error.expected = "an existing file whose name ends in .toml, or one of " + ", ".join(known)
    raise error
