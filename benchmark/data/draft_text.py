"""A drafted card as TOML."""

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmark.data.card import Card
from benchmark.data.draft import Draft
from benchmark.declarations import broken_rules
from benchmark.errors import CardError
from benchmark.text.words import toml, toml_key

_WIDTH = 110
_NUMBERS = '# numbers = true  # keeps them beside the bins, for classifiers with encoding = "numbers"'


def slug(text: str) -> str:
    """Return a card's name that is made from a text."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"data_{name}".rstrip("_")


def card_text(draft: Draft, file: Path, min_count: int, name: str | None = None) -> str:
    """Return the card as TOML, named after the file unless ``name`` is given.

    A CardError says that the file's names do not suit a card.
    """
    text = "\n".join(_lines(draft, file, min_count, name)) + "\n"
    content = tomllib.loads(text)
    try:
        Card.model_validate(content)
    except ValidationError as error:
        rules = "; ".join(broken_rules(error, Card, content))
        raise CardError(
            f"No card can be drafted for {file}", got=rules, remedy="rename the columns named under 'Got'"
        ) from None
    return text


def _lines(draft: Draft, file: Path, min_count: int, name: str | None) -> Iterator[str]:
    roles, reading = draft.roles, draft.reading
    stem = file.name.removesuffix(".gz").rpartition(".")[0] or file.name
    yield from _comment(
        f"A draft of a card for {file.name}, by betabench. It runs as it is. Read the comments, correct "
        "errors, and add the facts that only you know. docs/adding/dataset.md explains the fields. Every "
        f"state of a feature stands for at least {min_count} rows. States, and groups of any size, are named "
        "here: share the card only if they may be public. Results of a run count decisions by group and "
        "label, and a count may be one person. Nothing is anonymized in a stricter sense. If a category's "
        "states have an order, list them in order and set 'ordered' to true."
    )
    yield f"name = {toml(name or slug(stem))}"
    yield f"title = {toml(' '.join(stem.replace('_', ' ').split()) or 'Table')}"
    task = f"{len(draft.columns)} columns of {file.name}. The task is to predict {roles['label']}."
    yield f"description = {toml(task)}"
    yield 'licence = ""  # under which terms the data may be used'
    yield from _comment("The file shows these problems. Who is missing from it, and how was it recorded?")
    problems = dict.fromkeys((*reading.warnings, *map(str, reading.left_out)))
    yield "known_problems = [" + "".join(f"\n  {toml(problem)}," for problem in problems)
    yield "]\n"
    for part in reading.parts:
        yield from _comment(f"{part}")
    yield from (f"{role} = {toml(value)}" for role, value in roles.items())
    yield from _comment(
        "Bias is planted on this edge. Without it the network may not link group and label, and the bias "
        "would have nothing to act on."
    )
    yield f"required_edges = [[{toml(roles['sensitive_feature'])}, {toml(roles['label'])}]]"
    if draft.person is not None:
        yield f"person = {toml(draft.person)}  # whose rows stand on one side of every split"
    if draft.exclude:
        yield f"exclude = {toml(draft.exclude)}  # rows without a label or a group, or on neither side"
    for name, reason in draft.dropped.items():
        yield from ("", "[[dropped]]", f"columns = {toml([name])}", f"reason = {toml(reason)}")
    yield from ("", "[source]")
    yield from _comment(" ".join(draft.reading.forms))
    source = draft.table.source.model_dump(exclude_defaults=True)
    yield from (f"{field} = {toml(value)}" for field, value in source.items())
    for name, column in draft.columns.items():
        yield ""
        yield from _comment(str(column))
        yield from (f"[columns.{toml_key(name)}]", *_entry(column.entry))
        if "bins" in column.entry and name not in (roles["label"], roles["sensitive_feature"]):
            yield _NUMBERS
    yield from ("", "[network]")
    yield from _comment(
        "On Adult and COMPAS, networks learned with this score ranked techniques nearly as real rows do. "
        "Networks of the default, 'bic', have fewer edges, and their ranks agreed less with real rows."
    )
    yield from ('score = "bdeu"', "equivalent_sample_size = 1000.0")
    yield from ("# A handful of rows must not give a probability of 0 or 1.", "pseudo_count = 1.0")
    if min_count > 1:
        yield from ("# No probability rests on fewer rows.", f"min_count = {min_count}")
    yield "# More parents need more rows than most tables have, and a longer search."
    yield "max_indegree = 4"


def _entry(entry: Mapping[str, Any]) -> Iterator[str]:
    for field, value in entry.items():
        written = f"[{', '.join(map(_number, value))}]" if field == "bins" else toml(value)
        yield f"{field} = {written}"


def _number(value: float) -> str:
    return repr(int(value)) if value == value // 1 and abs(value) < 1e15 else repr(float(value))


def _comment(text: str) -> Iterator[str]:
    # A name with a line break or a control character in it must not end the comment.
    plain = "".join(c if c.isprintable() else " " for c in text)
    yield from textwrap.wrap(
        plain, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )
