"""Where the TOML declarations are, from any working directory, and how experiment files are read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from benchmark.errors import ExperimentError, UnknownNameError

if TYPE_CHECKING:  # so that finding a file does not wait for it
    from pydantic import BaseModel

__all__ = [
    "Kind",
    "check_experiment_file",
    "declaration_dir",
    "find_declaration",
    "list_declarations",
    "read_experiment_file",
    "title_of",
]

M = TypeVar("M", bound="BaseModel")

Kind = Literal["datasets", "experiments"]

_ACRONYMS = frozenset({"fnr", "fpr", "lfr", "pfr", "smote", "tpr"})


def title_of(name: str) -> str:
    """Return a technique's name as a title: ``"Fair SMOTE"`` for ``"fair_smote"``."""
    words = name.replace("_", " ").capitalize().split(" ")
    return " ".join(word.upper() if word.lower() in _ACRONYMS else word for word in words)


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


def read_experiment_file(path: Path) -> dict[str, Any]:
    """Return the content of an experiment file; raises :class:`ExperimentError` if it is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExperimentError(f"The experiment file {path} is not valid TOML", got=str(error)) from error


def check_experiment_file(model: type[M], content: dict[str, Any], path: Path, example: str) -> M:
    """Return an experiment file's content as its model.

    Parameters
    ----------
    model : type of pydantic.BaseModel
        What the content is to be.
    content : dict
        What the file says.
    path : Path
        The file.
    example : str
        A file to learn from, for the remedy.

    Raises
    ------
    ExperimentError
        If a rule is broken; the message names file, field, rule and value.
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(content)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']} (got {e['input']!r:.80})"
            for e in error.errors()
        )
        raise ExperimentError(
            f"The experiment file {path} breaks {error.error_count()} rule(s)",
            got=problems,
            remedy=f"correct the named fields; {example}",
        ) from error
