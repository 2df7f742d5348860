"""A drafted card as TOML, with a comment at every choice."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmark.data.card import Card
from benchmark.data.draft import NAMED, Draft
from benchmark.declarations import broken_rules
from benchmark.errors import CardError
from benchmark.text.words import few, toml, toml_key

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
    roles = draft.roles
    stem = file.name.removesuffix(".gz").rpartition(".")[0] or file.name
    yield from _comment(
        f"A draft of a card for {file.name}, by betabench. It runs as it is. Each choice has a comment: read "
        "them, correct errors, and add the facts that only you know. docs/adding/dataset.md explains the "
        f"fields. Every state of a feature stands for at least {min_count} rows. States, and groups of any "
        "size, are named here: share the card only if they may be public. Results of a run count decisions "
        "by group and label, and a count may be one person. Nothing is anonymized in a stricter sense. If a "
        "category's states have an order, list them in order and set 'ordered' to true."
    )
    yield f"name = {toml(name or slug(stem))}"
    yield f"title = {toml(' '.join(stem.replace('_', ' ').split()) or 'Table')}"
    task = f"{len(draft.columns_read)} columns of {file.name}. The task is to predict {roles['label']}."
    yield f"description = {toml(task)}"
    yield 'licence = ""  # under which terms the data may be used'
    if draft.copies:
        yield f"warning = {toml(str(draft.copies))}"
    yield from _comment("The file shows these problems. Who is missing from it, and how was it recorded?")
    problems = "".join(f"  {toml(str(problem))},\n" for problem in (*draft.warnings, *draft.problems))
    yield f"known_problems = [\n{problems}]" if problems else "known_problems = []"
    yield ""
    for role, value in roles.items():
        if role in draft.role_comments:
            yield from _comment(draft.role_comments[role])
        yield f"{role} = {toml(value)}"
    yield from _comment(
        "Bias is planted on this edge. Without it the network may not link group and label, and the bias "
        "would have nothing to act on."
    )
    yield f"required_edges = [[{toml(roles['sensitive_feature'])}, {toml(roles['label'])}]]"
    if draft.person is not None:
        yield from _comment(
            "All rows of a person stand on one side of every split. This column is no feature."
        )
        yield f"person = {toml(draft.person)}"
    if draft.filter:
        yield from _comment("Only rows with these values are read: the others have no label or no group.")
        yield f"filter = {toml(draft.filter)}"
    if draft.exclude:
        yield from _comment("Rows with these values are left out: they have no label or no group.")
        yield f"exclude = {toml(draft.exclude)}"
    advice = "To use it, delete this entry and uncomment its table below."
    leaks = {name: f"{column.leak} {advice}" for name, column in draft.columns.items() if column.leak}
    for reason, names in _by_reason({**draft.dropped, **leaks}):
        yield from ("", "[[dropped]]", f"columns = {toml(names)}", f"reason = {toml(reason)}")
    yield from ("", "[source]")
    yield from _comment(" ".join(draft.table.remarks))
    yield from _source(draft)
    for name, column in draft.columns.items():
        table = [f"[columns.{toml_key(name)}]", *_entry(column.entry)]
        if "bins" in column.entry and name not in (roles["label"], roles["sensitive_feature"]):
            table.append(_NUMBERS)
        comments = [line for comment in column.comments for line in _comment(comment)]
        yield ""
        if column.leak:
            yield from _comment(f"SUSPECTED LEAK, left out: {column.leak.partition(': ')[2]}")
            yield from (f"# {line}" for line in table)
        else:
            yield from (*comments, *table)
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


def _source(draft: Draft) -> Iterator[str]:
    source = draft.table.source
    yield f"format = {toml(source.format)}"
    for field, default in (("delimiter", ","), ("decimal", "."), ("encoding", "utf-8-sig")):
        if (value := getattr(source, field)) != default:
            yield f"{field} = {toml(value)}"
    if source.column_names:
        yield f"column_names = {toml(source.column_names)}"
    (file,) = source.files
    skipped = f", skip_lines = {file.skip_lines}" if file.skip_lines else ""
    size = f", size = {file.size}" if file.size else ""
    yield f"files = [{{ path = {toml(str(file.path))}{skipped}{size} }}]"


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


def summary_lines(draft: Draft) -> Iterator[str]:
    """Yield a few lines on a draft besides its warnings, first on how labels and groups were read."""
    assert draft.reading is not None
    yield from draft.reading.lines()
    names = list(draft.columns_read)
    yield f"{len(names)} columns are read, in {draft.n_rows:,} rows: {few(names, 20, 'others')}."
    for reason, dropped in _by_reason(draft.dropped):
        yield f"Left out: {few(dropped, 8)}: {reason}."
    if {*draft.dropped.values()} - {NAMED}:
        yield "To keep such a column nevertheless, name it with --keep."
    shown = set(map(str, draft.reading.left_out))
    yield from (f"Note: {problem}" for problem in draft.problems if problem not in shown)


def _by_reason(reasons: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    for reason in dict.fromkeys(reasons.values()):
        yield reason, [name for name, given in reasons.items() if given == reason]
