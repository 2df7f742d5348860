"""One sentence, one place: nothing that the package says in six words or more stands in two of its files."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "benchmark"
FEWEST_WORDS = 6
WHOLE_FILES = ("bias", "cli/skeletons", "metrics", "techniques")
"""Folders where a file is a whole by itself, as somebody's plugin is, with its reference and its reasons."""


def sentences(source: str) -> set[str]:
    """Return the sentences in strings of a module that are no docstrings, and in parts of f-strings."""
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and id(n) not in docstrings]
    found = {own for text in texts if isinstance(text, str) for own in re.split(r"(?<=[.:;?!])\s", text)}
    return {
        " ".join(own.split()) for own in found if len(own.split()) >= FEWEST_WORDS and "SELECT" not in own
    }


def test_no_sentence_stands_in_two_files() -> None:
    said = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE)
        for sentence in (
            sentences(path.read_text(encoding="utf-8")) if not name.as_posix().startswith(WHOLE_FILES) else ()
        ):
            said[sentence].add(name.as_posix())
    assert len(said) > 100
    assert {sentence: files for sentence, files in said.items() if len(files) > 1} == {}, (
        "write it once, as a constant or a function of the module that it is about"
    )
