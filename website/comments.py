"""Comments of fields: their documentation, behind or above them."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import re
import textwrap
from collections.abc import Sequence

__all__ = ["comment_at", "field_comments"]


def comment_at(lines: Sequence[str], first: int, last: int) -> str:
    """Return the comment behind a field's last line, or above its first line; lines count from 1."""
    if behind := re.search(r"  # (?!noqa|type:)(.+)$", lines[last - 1]):
        return behind[1]
    above = itertools.takewhile(lambda line: line.strip().startswith("# "), lines[first - 2 :: -1])
    return "\n".join([line.strip().removeprefix("# ") for line in above][::-1])


@functools.cache
def field_comments(owner: type) -> dict[str, str]:
    """Return the comments of a class's own fields by name; "" for a field without a comment."""
    try:
        source = textwrap.dedent(inspect.getsource(owner))
    except (OSError, TypeError):  # a class without a file
        return {}
    lines, definition = source.splitlines(), ast.parse(source).body[0]
    return {
        field.target.id: comment_at(lines, field.lineno, field.end_lineno or field.lineno)
        for field in getattr(definition, "body", ())
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }
