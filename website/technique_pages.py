"""One Markdown page for each technique, from its declaration, docstring and comments, and an index of them.

A page says nothing that the code does not say: what is wrong with it is corrected in the technique's file.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from benchmark.declarations import title_of
from benchmark.errors import ReportError
from benchmark.estimator.snippet import snippet
from benchmark.techniques import Technique, list_techniques
from benchmark.techniques.base import Stage, parameter_rules
from benchmark.text.markdown import code, plain, table
from website.comments import field_comments
from website.links import link_to

__all__ = ["Figures", "documentation_flaws", "technique_page", "technique_pages"]

Figures = Sequence[tuple[str, str]]
"""File, beside the page, and text of each figure of a technique."""

_ROOT = Path(__file__).resolve().parent.parent
"""The source tree."""

_INDEX = "README.md"  # no technique's name has capitals
_STAGES: dict[Stage, tuple[str, str]] = {
    "pre": ("Pre-processing", "changes the training data"),
    "in": ("In-processing", "changes the training"),
    "post": ("Post-processing", "changes the predictions"),
}
_DEMANDED = ("Idea", "Changes", "Limits")


def documentation_flaws(technique: type[Technique]) -> list[str]:
    """Say what a technique's docstring lacks to become a page, one sentence each."""
    parts = _parts(technique)
    flaws = [f"it has no {part!r}" for part in _DEMANDED if not parts.get(part)]
    flaws += [
        f"it does not describe the parameter {name!r}"
        for name in parameter_rules(technique)
        if not _meaning(technique, name)
    ]
    return flaws


def technique_pages(
    folder: Path, root: Path = _ROOT, figures: Mapping[str, Figures] = MappingProxyType({})
) -> dict[str, str]:
    """Return the pages of all techniques of this package, and the index, by file name.

    Parameters
    ----------
    folder : Path
        Where they are to lie: links to source files start there, if it lies below ``root``.
    root : Path, optional
        Source tree.
    figures : mapping of str to Figures, optional
        By name of the technique, what its page shows.

    Raises
    ------
    ReportError
        If a technique's docstring lacks what a page must say.
    """
    package = Technique.__module__.rpartition(".")[0] + "."
    # Techniques of other packages and files have pages of their own authors.
    ours = [t for t in list_techniques().values() if t.__module__.startswith(package)]
    pages = {f"{t.name}.md": technique_page(t, folder, root, figures.get(t.name, ())) for t in ours}
    return {_INDEX: _index_page(ours), **pages}


def technique_page(
    technique: type[Technique], folder: Path, root: Path = _ROOT, figures: Figures = ()
) -> str:
    """Return the page of one technique as Markdown; parameters and errors as for :func:`technique_pages`."""
    flaws = documentation_flaws(technique)
    if flaws:
        raise ReportError(
            f"The docstring of {technique.__name__} is no page yet",
            expected=", ".join(map(repr, _DEMANDED)) + " and a comment on each parameter",
            got="; ".join(flaws),
            remedy=f"complete it in {inspect.getfile(technique)}",
        )
    parts = _parts(technique)
    references = parts.pop("References", "")
    stage, changes = _STAGES[technique.stage]
    lines = [
        f"# {_title(technique)}",
        _inline(parts.pop("")),
        f"{code(technique.name)}: {stage.lower()} ({changes}), version {plain(technique.version)}, "
        f"{_source(technique, folder, root)}",
        *([_told(technique, folder, root)] if technique.knows else []),
        *_section("Idea", parts.pop("Idea")),
        *_section("What it changes", parts.pop("Changes")),
        *_section("Known limits", parts.pop("Limits")),
        *(block for title, text in parts.items() for block in _section(title, text)),
        "## Parameters",
        *_parameters(technique),
        "## Capabilities",
        table(("name", "value", "meaning"), _capabilities(technique)),
        *_figures(figures),
        "## Citation",
        _paragraph(plain(technique.reference)),
        *(_section("References", references) if references else ()),
        *_use(technique, folder, root),
        f"[All techniques]({_INDEX})",
    ]
    return "\n\n".join(lines) + "\n"


def _index_page(techniques: Sequence[type[Technique]]) -> str:
    blocks = ["# Techniques"]
    for stage, (title, changes) in _STAGES.items():
        rows = [
            (f"[{_title(t)}]({t.name}.md)", code(t.name), plain(t.summary), plain(t.reference))
            for t in techniques
            if t.stage == stage
        ]
        if rows:
            blocks += [f"## {title}", f"Each {changes}."]
            blocks.append(table(("technique", "name", "what it does", "published in"), rows))
    return "\n\n".join(blocks) + "\n"


def _title(technique: type[Technique]) -> str:
    return plain(title_of(technique.name))


def _parameters(technique: type[Technique]) -> Iterator[str]:
    rules = parameter_rules(technique)
    if not rules:
        yield "None."
        return
    rows = [
        (
            code(name),
            _valid(rule),
            code(inspect.signature(technique).parameters[name].default),
            _sentence(_meaning(technique, name)),
        )
        for name, rule in rules.items()
    ]
    yield table(("name", "valid values", "default", "meaning"), rows)


def _valid(rule: Any) -> str:
    if rule is bool:
        return f"{code(True)} or {code(False)}"
    if typing.get_origin(rule) is typing.Literal:
        return ", ".join(map(code, typing.get_args(rule)))
    kind, interval = typing.get_args(rule)
    name = "integer" if kind is int else "number"
    return plain(f"{name} in {interval}".replace("inf]", "∞)").replace("[-inf", "(-∞"))


def _capabilities(technique: type[Technique]) -> Iterator[tuple[str, ...]]:
    for name, meaning in field_comments(Technique).items():
        value = getattr(technique, name, None)
        if isinstance(value, bool):
            yield code(name), "yes" if value else "no", _sentence(meaning)


def _source(technique: type[Technique], folder: Path, root: Path) -> str:
    path = Path(inspect.getfile(technique)).resolve()
    if not path.is_relative_to(root):
        return code(path.name)
    text = code(path.relative_to(root).as_posix())
    link = link_to(path, folder, root)
    return f"[{text}]({link})" if link else text


def _told(technique: type[Technique], folder: Path, root: Path) -> str:
    link = link_to(root / "docs" / "adding" / "technique.md", folder, root)
    facts = f"[facts about the bias]({link})" if link else "facts"
    return f"It must be told {facts}: {', '.join(map(code, technique.knows))}."


def _use(technique: type[Technique], folder: Path, root: Path) -> Iterator[str]:
    """Yield the lines of Python that apply a technique to a made-up file."""
    link = link_to(root / "docs" / "use.md", folder, root)
    more = f" [Use a technique]({link}) says how columns are read." if link else ""
    yield "## Use it"
    yield f"To decide on rows of your own, here of a file {code('people.csv')} that says who was hired.{more}"
    roles: dict[str, Any] = {"label": "hired", "favorable": "yes", "sensitive": "sex", "deprived": "f"}
    classifier = "" if technique.unconstrained else "c45"  # a technique with a learner of its own takes none
    lines = snippet(technique.name, "people.csv", classifier=classifier, **roles)
    yield f"```python\n{lines}```"


def _figures(figures: Figures) -> Iterator[str]:
    if figures:
        yield "## Discrimination against accuracy"
        for file, text in figures:
            yield f"![{plain(text)}]({quote(file)})"


# ------------------------------------------------------------------------------------------ docstrings


def _sections(owner: type) -> dict[str, str]:
    """Return the sections of a class's own docstring in numpydoc's form; the first has no title."""
    pieces = re.split(r"(?m)^([A-Z][\w ]*)\n-{3,}\n", inspect.cleandoc(vars(owner).get("__doc__") or ""))
    return {"": pieces[0], **dict(zip(pieces[1::2], pieces[2::2], strict=True))}


def _parts(technique: type[Technique]) -> dict[str, str]:
    """Return the summary under "", and Idea, Changes, Limits and all sections.

    Idea runs on to the next of them, Changes and Limits to the end of their paragraphs; what is left over is
    among the Details.
    """
    sections = _sections(technique)
    summary, _, rest = sections.pop("").partition("\n\n")
    pieces = re.split(r"(?:^|(?<=\s))(Idea|Changes|Limits):\s+", rest)
    parts: dict[str, list[str]] = {"Idea": [], "Changes": [], "Limits": [], "Details": [pieces[0]]}
    for title, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        text, _, after = (piece, "", "") if title == "Idea" else piece.partition("\n\n")
        parts[title].append(text[:1].upper() + text[1:])
        parts["Details"].append(after)
    joined = {title: "\n\n".join(filter(None, map(str.strip, texts))) for title, texts in parts.items()}
    return {"": summary, **{title: text for title, text in (joined | sections).items() if text.strip()}}


def _meaning(technique: type[Technique], name: str) -> str:
    """Return the comment of a parameter, where the technique or the first parent declares it."""
    return next((comments[name] for t in technique.__mro__ if name in (comments := field_comments(t))), "")


# -------------------------------------------------------------------------------------------- Markdown


def _section(title: str, text: str) -> list[str]:
    return [f"## {plain(title)}", *_blocks(text)]


_ITEM = re.compile(r"(?ms)^([-*]|\d+\.) +(.*?)(?=^(?:[-*]|\d+\.) |\Z)")


def _blocks(text: str) -> Iterator[str]:
    """Turn paragraphs, lists and displayed formulas of reStructuredText into Markdown."""
    blocks = re.split(r"\n[ \t]*\n", text.strip("\n"))
    while blocks:
        block = blocks.pop(0)
        if block.startswith(".. math::"):
            formula = block.removeprefix(".. math::")
            while blocks and blocks[0][:1].isspace():
                formula += "\n" + blocks.pop(0)
            yield f"$${_tex(formula)}$$"
        elif _ITEM.match(block):
            yield "\n".join(f"{mark} {_inline(text)}" for mark, text in _ITEM.findall(block))
        else:
            yield _paragraph(_inline(block))


def _paragraph(line: str) -> str:
    """Escape what would begin a heading, a quotation or a list, because it is not meant to."""
    return re.sub(r"^(\d+)(?=[.)] )|^(?=[#>+-])", r"\1\\", line)


_TOKEN = re.compile(
    r":math:`(?P<math>[^`]+)`"
    r"|:[\w:]+:`(?P<role>[^`]+)`"
    r"|``(?P<code>.+?)``"
    r"|(?<!\w)(?P<emphasis>\*\*[^*\s][^*]*\*\*|\*[^*\s][^*]*\*)(?!\w)",
    re.DOTALL,
)


def _inline(text: str) -> str:
    """Turn one paragraph of reStructuredText into one line of Markdown."""
    text = " ".join(text.split())
    parts, end = [], 0
    for found in _TOKEN.finditer(text):
        parts += [plain(text[end : found.start()]), _token(found)]
        end = found.end()
    return "".join([*parts, plain(text[end:])])


def _sentence(comment: str) -> str:
    """Return a comment as a sentence in Markdown."""
    return _inline(f"{comment[:1].upper()}{comment[1:].removesuffix('.')}.")


def _token(found: re.Match[str]) -> str:
    if found["math"]:
        return f"${_tex(found['math'])}$"
    if found["emphasis"]:
        stars = "**" if found["emphasis"].startswith("**") else "*"
        return stars + plain(found["emphasis"].strip("*")) + stars
    if found["role"]:  # a leading tilde asks for the last part of the name alone
        role = found["role"]
        return code(role.rpartition(".")[2] if role.startswith("~") else role)
    return code(found["code"])


_TEX = {
    r"\,": r"\thinspace ",
    r"\:": r"\thinspace ",
    r"\;": r"\thinspace ",
    r"\!": r"\negthinspace ",
    r"\{": r"\lbrace ",
    r"\}": r"\rbrace ",
    r"\|": r"\Vert ",
    r"\\": r"\cr ",
    "|": r"\vert ",
    "*": r"\ast ",
    "<": r"\lt ",
    ">": r"\gt ",
}


def _tex(formula: str) -> str:
    """Write a formula on one line, so that no renderer of Markdown takes part of it for its own.

    Many drop a backslash before punctuation, and begin emphasis with an underscore after it.
    """
    spelled = re.sub(r"\\[^A-Za-z\s]|[|*<>]", lambda found: _TEX.get(found[0], found[0]), formula)
    return " ".join(re.sub(r"(?<![0-9A-Za-z])_", "_ ", spelled).split())
