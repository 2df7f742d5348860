"""Editions: one card for several files of the same form, such as a survey's states and years."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.declarations import listed_values, read_toml
from benchmark.errors import CardError, UnknownNameError

_EXAMPLE = '"acs_income[state=HI]"'


def named_edition(name: str) -> tuple[str, dict[str, str]]:
    """Return the name of a card, and the values of parameters that choose its edition.

    A CardError says that several editions are named, or that the values are malformed.
    """
    try:
        card, editions = listed_values(name, _EXAMPLE)
    except ValueError as error:
        raise CardError(f"The name {name!r} {error}", remedy="correct the brackets") from None
    if len(editions) > 1:
        raise CardError(
            f"The name {name!r} stands for several datasets",
            expected=f"one edition, such as {_EXAMPLE}",
            got=f"{len(editions)}",
            remedy="name one value of each parameter; lists are for the datasets of an experiment",
        )
    return card, editions[0] if editions else {}


def with_edition(content: dict[str, Any], path: Path, chosen: Mapping[str, str]) -> dict[str, Any]:
    """Return a card's content with the source file of one edition, by default the first.

    ``path`` is the card's file. The file of editions names the parameters by their ``defaults``; each of its
    ``editions`` has a value for all of them, and is otherwise a source file with its ``folder``. Only the
    default edition keeps the card's number of rows. An UnknownNameError says that there is no such edition.
    """
    source: Any = content.get("source")
    source = source if isinstance(source, dict) else {}
    if not isinstance(name := source.get("editions"), str):
        if chosen:
            raise CardError(
                f"The dataset card {path} has no editions",
                expected="its name alone",
                got=_text(chosen),
                remedy="leave the brackets out",
            )
        return content
    listed = read_toml(path.parent / name, "file of editions", CardError, "correct 'editions' in the card")
    defaults: dict[str, str] = listed["defaults"]
    for parameter in chosen:
        if parameter not in defaults:
            raise UnknownNameError("parameter", parameter, defaults)
    wanted = {**defaults, **chosen}
    for edition in listed["editions"]:
        if all(edition[parameter].lower() == wanted[parameter].lower() for parameter in defaults):
            break
    else:
        raise UnknownNameError("edition", _text(wanted), [_text(e, defaults) for e in listed["editions"]])
    file = {key: value for key, value in edition.items() if key not in (*defaults, "folder")}
    kept = {key: value for key, value in source.items() if key != "editions"}
    content = {
        **content,
        "source": {**kept, "files": [file], "folder": edition["folder"]},
        "edition": {parameter: edition[parameter] for parameter in defaults},
    }
    if any(edition[parameter] != value for parameter, value in defaults.items()):
        content.pop("rows", None)
        content["title"] = f"{content.get('title', '')}, {_text(edition, chosen)}"
    return content


def _text(values: Mapping[str, str], names: Mapping[str, str] | None = None) -> str:
    return "; ".join(f"{name}={values[name]}" for name in (names or values))
