"""TOML declarations: their files, found from any working directory, and their checks with readable errors."""

from __future__ import annotations

import contextlib
import itertools
import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from benchmark.errors import BetabenchError, CardError, ExperimentError, UnknownNameError, nearest

if TYPE_CHECKING:  # finding a file must not wait for the import of pydantic
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound="BaseModel")

Kind = Literal["datasets", "experiments"]

_READ_AS: dict[Kind, tuple[str, type[BetabenchError]]] = {
    "datasets": ("dataset card", CardError),
    "experiments": ("experiment file", ExperimentError),
}

_COMMANDS = {
    None: "betabench run --experiment",
    "alternation": "betabench alternation",
    "atlas": "betabench run --experiment",
}
"""Commands that run an experiment file, by its kind."""

# Names of fields in other programs.
_SYNONYMS = {"sep": "delimiter", "separator": "delimiter", "header": "column_names", "na_values": "missing"}

_ACRONYMS = frozenset({"aif360", "fnr", "fpr", "lfr", "pfr", "smote", "tpr"})


def title_of(name: str) -> str:
    """Return a technique's name as a title: ``"Fair SMOTE"`` for ``"fair_smote"``; capitals stay."""
    if name == "none":
        return "No technique"
    words = (name[:1].upper() + name[1:]).replace("_", " ").split(" ")
    return " ".join(word.upper() if word.lower() in _ACRONYMS else word for word in words)


def declaration_dir(kind: Kind) -> Path:
    """Return the folder of the shipped declarations of one kind."""
    # In an installed wheel the folder is inside the package, in a source tree at the top.
    package = Path(__file__).resolve().parent
    shipped = package / "_declarations" / kind
    return shipped if shipped.is_dir() else package.parent / kind


_LISTED = re.compile(r"(.+?)\[(.*)\]")
_ASSIGNED = re.compile(r" *([A-Za-z_][A-Za-z0-9_]*) *= *([^=\[\]]*[^=\[\], ]) *")


def listed_values(name: str, example: str) -> tuple[str, list[dict[str, str]]]:
    """Return the name before the brackets, and the values of parameters that the brackets list.

    ``"repair[level=0.25,0.5]"`` lists two; lists of several parameters, separated by semicolons, are crossed.
    Without brackets nothing is listed. A ValueError, which shows the ``example``, says that the values are
    malformed.
    """
    expected = f"expected a list such as {example}"
    if (match := _LISTED.fullmatch(name.strip())) is None:
        if "[" in name and "=" in name:
            raise ValueError(f"has malformed values; {expected}")
        return name, []
    values: dict[str, list[str]] = {}
    for part in match[2].split(";"):
        assigned = _ASSIGNED.fullmatch(part)
        if assigned is None or assigned[1] in values:
            raise ValueError(f"has malformed values, {part.strip()!r}; {expected}")
        values[assigned[1]] = texts = [text.strip() for text in assigned[2].split(",")]
        if len(set(texts)) < len(texts) or "" in texts:
            raise ValueError(f"has a value of {assigned[1]!r} that is empty or repeats; {expected}")
    crossed = itertools.product(*values.values())
    return match[1], [dict(zip(values, chosen, strict=True)) for chosen in crossed]


def value_of(text: str) -> bool | int | float | str:
    """Return the value of a parameter that is written in a name or on the command line."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def list_declarations(kind: Kind, *, variants: bool = False) -> dict[str, Path]:
    """Return the shipped TOML files of one kind by name, sorted by name.

    ``variants`` adds the files in the folder ``variants``, which can be named but are not listed to users.
    Other folders hold files of other kinds, such as cards among the experiments.
    """
    folder = declaration_dir(kind)
    files = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if variants:
        files = {path.stem: path for path in sorted(folder.glob("variants/*.toml"))} | files
    return files


def find_declaration(kind: Kind, name_or_path: str) -> Path:
    """Return the TOML file of a shipped name (``adult``) or a path (``own.toml``).

    Raises :class:`UnknownNameError` if there is none.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix == ".toml" and _is_file(path):
        return path
    if shipped_path := list_declarations(kind, variants=True).get(name_or_path):
        return shipped_path
    shipped = list_declarations(kind)
    error = UnknownNameError(kind.removesuffix("s"), name_or_path, shipped)
    if path.suffix or len(path.parts) > 1:
        error.what = error.what.replace(" called ", " file ")
        error.expected = "an existing file whose name ends in .toml, or one of " + ", ".join(shipped)
    raise error


def _is_file(path: Path) -> bool:
    """Return whether there is such a file; a name that no file can have, as one too long, names none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_toml(path: Path, file_kind: str, error: type[BetabenchError], remedy: str) -> dict[str, Any]:
    """Return the content of a TOML file; an error of the given class says why it cannot be read."""
    try:
        return tomllib.loads(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        readable = not isinstance(problem, OSError)
        raise error(
            f"The {file_kind} {path} " + ("is not valid TOML" if readable else "cannot be read"),
            expected="a UTF-8 text in TOML, see https://toml.io",
            got=str(problem),
            remedy=remedy,
        ) from None


def package_toml(package: str | None, name: str) -> dict[str, Any]:
    """Return the content of a TOML file that lies in a package."""
    assert package is not None
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


def read_declaration(kind: Kind, path: Path) -> dict[str, Any]:
    """Return the content of a declaration; a CardError or an ExperimentError says that it is not TOML."""
    return read_toml(path, *_READ_AS[kind], "correct the path or the file")


def kind_of(name_or_path: str) -> str | None:
    """Return the kind of an experiment file; None for an experiment of planted bias.

    Errors are an UnknownNameError and an ExperimentError, as of :func:`load_experiment_file`.
    """
    declared = read_declaration("experiments", find_declaration("experiments", name_or_path)).get("kind")
    return declared if isinstance(declared, str) else None


def load_experiment_file(
    model: type[M],
    name_or_path: str | Path,
    kind: str | None = None,
) -> M:
    """Return the checked content of an experiment file; paths of cards and plugins start at its folder.

    The content must fit ``model``, and its field ``kind`` must be ``kind``, or be absent for None: that is an
    experiment of planted bias. An UnknownNameError says that there is no such file. An ExperimentError says
    that it is not TOML, is of another kind, or breaks rules, and names file, fields, rules and values.
    """
    path = find_declaration("experiments", str(name_or_path))
    content = read_declaration("experiments", path)
    declared_kind = content.get("kind")
    if declared_kind != kind and declared_kind in tuple(_COMMANDS):
        raise ExperimentError(
            f"The experiment file {path} is of another kind",
            expected=f"kind = {kind!r}" if kind else "an experiment of planted bias, without a field 'kind'",
            got=f"kind = {declared_kind!r}" if declared_kind else "no field 'kind'",
            remedy=f"{_COMMANDS[declared_kind]} {name_or_path}",
        )
    remedy = (
        "correct these fields; docs/adding/experiment_fields.md explains each, and "
        f"{list_declarations('experiments')[kind or 'smoke']} is an example"
    )
    return checked(model, with_paths(content, path.parent), f"The experiment file {path}", remedy)


def checked(
    model: type[M],
    content: dict[str, Any],
    file: str,
    remedy: str,
    error_class: type[BetabenchError] = ExperimentError,
) -> M:
    """Return the content of a file as its model; an error names fields, rules and values."""
    from pydantic import ValidationError

    try:
        return model.model_validate(content)
    except ValidationError as error:
        rules = broken_rules(error, model, content)
        text = "\n  ".join([f"{file} breaks {count_of(rules)}:", *rules])
        raise error_class(text, remedy=remedy) from None


def count_of(rules: list[str]) -> str:
    """Return the number of rules in words: ``"a rule"``, ``"2 rules"``."""
    return "a rule" if len(rules) == 1 else f"{len(rules)} rules"


def with_paths(content: dict[str, Any], folder: Path | None) -> dict[str, Any]:
    """Return an experiment's content with a folder, unless it is None, before paths of cards and plugins."""
    if folder is None:
        return content

    def with_path(entry: Any) -> Any:
        if isinstance(entry, str) and _is_file(folder / entry):
            return str(folder / entry)
        if isinstance(entry, dict) and "card" in entry:
            return {**entry, "card": with_path(entry["card"])}
        return entry

    content = with_path(content)
    if isinstance(datasets := content.get("datasets"), list):
        content = {**content, "datasets": [with_path(entry) for entry in datasets]}
    if isinstance(plugins := content.get("plugins"), list):
        paths = (folder / Path(file).expanduser() if isinstance(file, str) else file for file in plugins)
        content = {**content, "plugins": [str(file) if isinstance(file, Path) else file for file in paths]}
    return content


def broken_rules(error: ValidationError, model: type[BaseModel], content: object) -> list[str]:
    """Return the rules that a declaration breaks, one line for each field with its path, rule and value.

    The ``content`` of the declaration should fit ``model``.
    """
    lines: dict[object, list[str]] = {}
    ends: dict[object, str] = {}
    details = error.errors(include_url=False)
    for number, detail in enumerate(details):
        inside = (d for d in details if d is not detail and d["loc"][: len(detail["loc"])] == detail["loc"])
        if detail["type"] == "too_short" and any(inside):
            continue  # only because its content breaks a rule
        if several := detail.get("ctx", {}).get("rules"):
            lines |= {(number, n): [rule] for n, rule in enumerate(several)}
            continue
        path, of_several = _path(detail, content)
        # A value that may have one of several types breaks a rule of each: one line joins these rules.
        key = path if of_several else (path, number)
        rule = detail["msg"].removeprefix("Value error, ").replace("Input should be ", "must be ", 1)
        ends[key] = "" if detail["type"] == "missing" else _value(detail["input"])
        if detail["type"] == "missing":
            rule = "is required, but absent"
        elif detail["type"] == "extra_forbidden":
            rule = "is not a field of this table"
            if meant := _meant(detail["loc"], model):
                ends[key] += f" (did you mean {meant}?)"
        rules = lines.setdefault(key, [f"{path}: {rule}".removeprefix(": ")])
        if not rules[0].endswith(rule):
            rules.append(rule.removeprefix("must be "))
    return [" or ".join(rules) + ends.get(key, "") for key, rules in lines.items()]


def _path(detail: ErrorDetails, content: Any) -> tuple[str, bool]:
    """Return the path of an error in a content, and whether it is of one of several types of a value.

    Pydantic's location also has the types that it tried, and tables that a short form stands for.
    """
    path, missing, found = "", detail["type"] == "missing", True
    for step in detail["loc"]:
        found = step < len(content) if isinstance(step, int) and isinstance(content, list | tuple) else False
        if found or (isinstance(content, dict) and step in content):
            found, content = True, content[step]
        if found or (missing and step == detail["loc"][-1]):
            path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix("."), not found and not missing


def _value(value: object) -> str:
    """Return the value of a field as the end of a line; empty for tables, which are too long."""
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value)):
        return ""
    text = repr(value)
    return f"; got {text if len(text) <= 80 else text[:77] + '...'}"


def _meant(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    """Return the path of the field that an unknown field probably stands for; empty if none is near."""
    name = _SYNONYMS.get(str(location[-1]), str(location[-1]))
    if name in model.model_fields:
        return f"{name!r} at the top of the file, above the first [table]"
    paths = list(_paths(model))
    for some in ([path for path in paths if path.startswith(f"{location[0]}.")], paths):
        named = {path.rpartition(".")[2]: path for path in reversed(some)}
        if close := nearest(name, named):
            return repr(named[close[0]])
    return ""


def _paths(annotation: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of all fields below a type: ``"source.delimiter"``."""
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        for name, field in annotation.model_fields.items():
            yield (field_path := f"{path}.{name}".removeprefix("."))
            yield from _paths(field.annotation, field_path)
    for argument in get_args(annotation):
        yield from _paths(argument, f"{path}.NAME" if get_origin(annotation) is dict else path)
