"""Where the TOML declarations are, from any working directory, and how they are read and checked."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from benchmark.errors import BetabenchError, CardError, ExperimentError, UnknownNameError

if TYPE_CHECKING:  # so that finding a file does not wait for it
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound="BaseModel")

Kind = Literal["datasets", "experiments"]

_READ_AS: dict[Kind, tuple[str, type[BetabenchError]]] = {
    "datasets": ("dataset card", CardError),
    "experiments": ("experiment file", ExperimentError),
}

_COMMANDS = {None: "betabench run --experiment", "alternation": "betabench alternation"}
"""What runs an experiment file, by its kind."""

# What other programs call a field.
_SYNONYMS = {"sep": "delimiter", "separator": "delimiter", "header": "column_names", "na_values": "missing"}

# What fields are, where neither their names nor the rules that they break tell.
_MEANINGS = {
    "tune.trials": "the number of settings tried of each technique, the default one among them",
    "tune.on": "the share of the training sample that settings are chosen by",
}

_MUST = "must be "
# The types of values, in the words of people who write TOML.
_TYPES = {
    "string_type": "a text in quotation marks",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "dataclass_type": "a table",
}

_ACRONYMS = frozenset({"aif360", "fnr", "fpr", "lfr", "pfr", "smote", "tpr"})


def title_of(name: str) -> str:
    """Return a technique's name as a title: ``"Fair SMOTE"`` for ``"fair_smote"``; its capitals stay."""
    words = (name[:1].upper() + name[1:]).replace("_", " ").split(" ")
    return " ".join(word.upper() if word.lower() in _ACRONYMS else word for word in words)


def declaration_dir(kind: Kind) -> Path:
    """Return the folder of the shipped declarations of one kind.

    In an installed wheel they lie inside the package; in a source tree they are top-level folders, where
    people look for them.
    """
    package = Path(__file__).resolve().parent
    shipped = package / "_declarations" / kind
    return shipped if shipped.is_dir() else package.parent / kind


def list_declarations(kind: Kind, *, nested: bool = False) -> dict[str, Path]:
    """Return the shipped TOML files of one kind by name, sorted by name.

    Files in folders within, such as ``experiments/variants``, can be named but are not listed to users:
    ``nested`` adds them.
    """
    files = {path.stem: path for path in sorted(declaration_dir(kind).glob("*.toml"))}
    if nested:
        files = {path.stem: path for path in sorted(declaration_dir(kind).glob("*/*.toml"))} | files
    return files


def find_declaration(kind: Kind, name_or_path: str) -> Path:
    """Return the TOML file that a shipped name (``adult``) or the path of one's own (``own.toml``) means.

    Raises :class:`UnknownNameError` if it is neither.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix == ".toml" and path.is_file():
        return path
    if shipped := list_declarations(kind, nested=True).get(name_or_path):
        return shipped
    known = list_declarations(kind)
    error = UnknownNameError(kind.removesuffix("s"), name_or_path, known)
    if path.suffix or len(path.parts) > 1:
        error.what = error.what.replace(" called ", " file ")
        error.expected = "an existing file whose name ends in .toml, or one of " + ", ".join(known)
    raise error


def read_toml(path: Path, what: str, error: type[BetabenchError], remedy: str) -> dict[str, Any]:
    """Return the content of a TOML file; an error of that class says that it cannot be read or is none."""
    try:
        return tomllib.loads(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as found:
        readable = not isinstance(found, OSError)
        raise error(
            f"The {what} {path} " + ("is not valid TOML" if readable else "cannot be read"),
            expected="a UTF-8 text in TOML, see https://toml.io",
            got=str(found),
            remedy=remedy,
        ) from None


def read_declaration(kind: Kind, path: Path) -> dict[str, Any]:
    """Return the content of a declaration; a CardError or an ExperimentError says that it is not TOML."""
    what, error = _READ_AS[kind]
    return read_toml(path, what, error, "correct the path or the file")


def load_experiment_file(
    model: type[M],
    name_or_path: str | Path,
    kind: str | None = None,
    more: Callable[[dict[str, Any]], list[str]] = lambda _: [],
) -> M:
    """Read and check an experiment file; cards and plugins that lie beside it are found from anywhere.

    ``model`` is what its content is to be, and ``kind`` its field ``kind``; None for experiments of planted
    bias, which have none. ``more`` is asked for what else is wrong with a content that breaks a rule, a line
    each. An UnknownNameError says that there is no such file; an ExperimentError, that it is not TOML, is of
    another kind, or breaks a rule: it names file, field, rule and value.
    """
    from pydantic import ValidationError

    path = find_declaration("experiments", str(name_or_path))
    content = read_declaration("experiments", path)
    found = content.get("kind")
    if found != kind and found in tuple(_COMMANDS):
        raise ExperimentError(
            f"The experiment file {path} is of another kind",
            expected=f"kind = {kind!r}" if kind else "an experiment of planted bias, without a field 'kind'",
            got=f"kind = {found!r}" if found else "no field 'kind'",
            remedy=f"{_COMMANDS[found]} {name_or_path}",
        )
    datasets, plugins = content.get("datasets"), content.get("plugins")
    if isinstance(datasets, list):  # a name stands for an entry
        datasets[:] = [{"card": entry} if isinstance(entry, str) else entry for entry in datasets]
    for entry in (content, *(datasets if isinstance(datasets, list) else ())):
        card = entry.get("card") if isinstance(entry, dict) else None
        if isinstance(card, str) and (path.parent / card).is_file():
            entry["card"] = str(path.parent / card)
    if isinstance(plugins, list):
        content["plugins"] = [
            str(path.parent / Path(file).expanduser()) if isinstance(file, str) else file for file in plugins
        ]
    try:
        return model.model_validate(content)
    except ValidationError as error:
        rules = [*broken_rules(error, model, "an experiment"), *more(content)]
        raise ExperimentError(
            f"The experiment file {path} breaks {count_of(rules)}:\n  " + "\n  ".join(rules),
            remedy="correct these fields; docs/adding/experiment_fields.md explains each, and "
            f"{list_declarations('experiments')[kind or 'smoke']} is an example",
        ) from None


def count_of(rules: list[str]) -> str:
    """Return how many rules there are: ``"a rule"``, ``"2 rules"``."""
    return "a rule" if len(rules) == 1 else f"{len(rules)} rules"


def indented(text: str) -> str:
    """Return a text as an item of a list: its further lines stand further to the right."""
    return text.replace("\n", "\n  ")


def broken_rules(error: ValidationError, model: type[BaseModel], what: str) -> list[str]:
    """Return what is wrong with a declaration, one line for each field: its place, the rule, the value.

    ``model`` is what the declaration was to be, and ``what`` its name with an article: ``"a card"``.
    """
    lines: dict[tuple[object, ...], list[str]] = {}
    values: dict[tuple[object, ...], str] = {}
    details = error.errors(include_url=False)
    for number, detail in enumerate(details):
        inside = (d for d in details if d is not detail and d["loc"][: len(detail["loc"])] == detail["loc"])
        if detail["type"] == "too_short" and any(inside):
            continue  # only because what is in it breaks a rule
        if several := detail.get("ctx", {}).get("rules"):
            lines |= {(number, n): [rule] for n, rule in enumerate(several)}
            continue
        place, owner, of_several = _locate(model, detail["loc"])
        # A value that may be of several types breaks a rule of each: together they are one.
        key = (place,) if of_several else (place, number)
        rule = _rule(detail, what)
        if place in _MEANINGS and rule.startswith(_MUST):
            rule += f", {_MEANINGS[place]}"
        rules = lines.setdefault(key, [])
        if rule.removeprefix(_MUST) not in (own.removeprefix(_MUST) for own in rules):
            rules.append(rule if not rules else rule.removeprefix(_MUST))
        values[key] = _value(detail["input"]) if detail["type"] != "missing" else ""
        if detail["type"] == "extra_forbidden" and (meant := _meant(str(detail["loc"][-1]), owner, model)):
            values[key] += f" (did you mean {meant}?)"
    return [
        (f"{key[0]}: " if key[0] and key in values else "") + " or ".join(rules) + values.get(key, "")
        for key, rules in lines.items()
    ]


def _rule(detail: ErrorDetails, what: str) -> str:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return "is required, but absent"
        case "extra_forbidden":
            return f"is not a field of {what}"
        case "union_tag_invalid":
            return f"its 'kind' must be one of {context['expected_tags']}; got {context['tag']!r}"
        case "union_tag_not_found":
            return "its 'kind' is required, but absent"
        case "too_short":
            return detail["msg"].partition(" after validation")[0].replace("Tuple", "List")
        case known if known in _TYPES:
            return _MUST + _TYPES[known]
        case _:
            return detail["msg"].removeprefix("Value error, ").replace("Input should be ", _MUST, 1)


def _value(found: object) -> str:
    """Return what was found in a field; not of tables, which are too long to repeat."""
    if isinstance(found, dict) or (isinstance(found, list) and any(isinstance(own, dict) for own in found)):
        return ""
    value = repr(found)
    return f"; got {value if len(value) <= 80 else value[:77] + '...'}"


def _locate(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[str, type[BaseModel], bool]:
    """Return where in a declaration a location of pydantic's is, the model there, and if types are several.

    Pydantic also names the type that it tried, which is no part of the declaration.
    """
    place, owner, of_several = "", model, False
    annotation: Any = model
    for step in location:
        annotation = _bare(annotation)
        arguments = get_args(annotation)
        if _is_model(annotation):
            owner = annotation
            known = owner.model_fields.get(str(step))
            annotation = known.annotation if known else None
        elif is_dataclass(annotation):
            annotation = next((own.type for own in fields(annotation) if own.name == step), None)
        elif get_origin(annotation) is dict:
            annotation = arguments[1]
        elif get_origin(annotation) is tuple:
            annotation = arguments[0]
        elif get_origin(annotation) in (Union, UnionType):
            kinds = {k: own for own in arguments if _is_model(own) for k in _kinds(own)}
            annotation = kinds.get(step)
            of_several = annotation is None
            continue
        else:
            break
        place += f"[{step}]" if isinstance(step, int) else f".{step}"
    return place.removeprefix("."), owner, of_several


def _kinds(model: type[BaseModel]) -> tuple[Any, ...]:
    """Return the values of a model's field 'kind', which tells it from others in its place."""
    return get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()


def _meant(name: str, owner: type[BaseModel], whole: type[BaseModel]) -> str:
    """Return the field that an unknown one probably stands for, with where it belongs."""
    name = _SYNONYMS.get(name, name)
    if close := difflib.get_close_matches(name, owner.model_fields, n=1, cutoff=0.8):
        return repr(close[0])
    if name in whole.model_fields:
        return f"{name!r} at the top of the file, above the first [table]"
    if places := [path for path in _paths(whole) if path.rpartition(".")[2] == name]:
        return repr(places[0])
    close = difflib.get_close_matches(name, owner.model_fields, n=1)
    return repr(close[0]) if close else ""


def _paths(annotation: Any, path: str = "") -> Iterator[str]:
    """Yield the places of all fields below an annotation: ``"source.delimiter"``."""
    annotation = _bare(annotation)
    if _is_model(annotation):
        for name, field in annotation.model_fields.items():
            own = f"{path}.{name}".removeprefix(".")
            yield own
            yield from _paths(field.annotation, own)
    elif arguments := get_args(annotation):
        named = get_origin(annotation) is dict
        for argument in arguments:
            yield from _paths(argument, f"{path}.NAME" if named else path)


def _bare(annotation: Any) -> Any:
    """Return a type without its annotations, and without the None that it may be instead."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        others = [own for own in get_args(annotation) if own is not NoneType]
        return _bare(others[0]) if len(others) == 1 else annotation
    return annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and hasattr(annotation, "model_fields")
