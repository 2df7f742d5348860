"""Docstrings for the reference: their reStructuredText becomes the site's Markdown."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

from website.comments import comment_at

__all__ = ["CommentsOfFields", "InMarkdown", "in_markdown"]

_MATH = re.compile(
    r"(?m)^(?P<indent>[ \t]*)\.\. math::[ \t]*\n(?P<formula>(?:[ \t]*\n|(?P=indent)[ \t]+.*\n?)+)"
)
# Where two brackets in a row are no link: neither an example nor code.
_PROSE = re.compile(r"(?m)^(?![ \t]*(?:>>>|\.\.\.))[^`\n]*$")
_ROLE = re.compile(r":(?P<role>[a-z:]+):`~?(?P<name>[^`]+)`")


def in_markdown(docstring: str) -> str:
    """Return a docstring whose formulas, roles and literals are Markdown; its sections stay numpydoc's."""

    def displayed(found: re.Match[str]) -> str:
        formula = " ".join(textwrap.dedent(found["formula"]).split())
        return f"{found['indent']}$${formula}$$\n\n"

    def inline(found: re.Match[str]) -> str:
        return f"${found['name']}$" if found["role"] == "math" else f"`{found['name']}`"

    text = _ROLE.sub(inline, _MATH.sub(displayed, docstring)).replace("``", "`")
    return _PROSE.sub(lambda line: line[0].replace("][", "]\\["), text)


class InMarkdown(griffe.Extension):  # type: ignore[misc]  # not followed, see pyproject.toml
    """Rewrites every docstring that the reference shows."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring:
            obj.docstring.value = in_markdown(obj.docstring.value)


class CommentsOfFields(griffe.Extension):  # type: ignore[misc]
    """Takes the comment of a class's field, behind it or above it, for its docstring."""

    def on_attribute(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Give one field a docstring."""
        if attr.docstring or attr.lineno is None or not attr.parent.is_class:
            return
        if comment := comment_at(attr.lines_collection[attr.filepath], attr.lineno, attr.endlineno):
            attr.docstring = griffe.Docstring(in_markdown(comment), parent=attr)
