"""One sentence, one place: nothing that the package says in six words or more stands in two of its files."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "benchmark"
FEWEST_WORDS = 6
WHOLE_FILES = ("bias", "metrics", "techniques")
"""Folders where a file is a whole by itself, as somebody's plugin is, with its reference and its reasons."""

_SENTENCES = re.compile(r"(?<=[.:;?!])\s")
_QUERY = re.compile(r"\b(SELECT|INSERT|DELETE)\b")
_SCRIPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`""", re.DOTALL
)
_MARKUP = re.compile(
    r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<script\b.*?</script>|<style\b.*?</style>|<[^>]*>", re.DOTALL
)


def python_texts(source: str) -> Iterator[str]:
    """Yield the strings of a module that are no docstrings, and the constant parts of its f-strings."""
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def script_texts(source: str) -> Iterator[str]:
    """Yield the strings of a script, and the constant parts of its templates."""
    for match in _SCRIPT.finditer(source):
        for text in filter(None, match.groups()):
            yield from re.split(r"\$\{[^}]*\}", text)


READERS = {".py": python_texts, ".js": script_texts, ".html": _MARKUP.split}


def said_twice(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the sentences of several files, each with the names of these.

    It is one of a file where it stands by itself, or as part of a longer sentence.
    """
    said: dict[str, set[str]] = {}
    holding: dict[tuple[str, ...], set[tuple[str, str]]] = defaultdict(set)
    for name, source in sources.items():
        texts = [" ".join(text.split()) for text in READERS[Path(name).suffix](source)]
        said[name] = {own for text in texts for own in _SENTENCES.split(text) if not _QUERY.search(own)}
        for sentence in said[name]:
            words = sentence.split()
            for start in range(len(words) - FEWEST_WORDS + 1):
                holding[tuple(words[start : start + FEWEST_WORDS])].add((name, sentence))
    found: dict[str, set[str]] = {}
    for name, sentences in said.items():
        for sentence in sentences:
            words = tuple(sentence.split()[:FEWEST_WORDS])
            if others := {file for file, own in holding.get(words, ()) if file != name and sentence in own}:
                found[sentence] = found.get(sentence, set()) | others | {name}
    return found


def test_no_sentence_stands_in_two_files() -> None:
    sources = {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in READERS and path.relative_to(PACKAGE).parts[0] not in WHOLE_FILES
    }
    assert {Path(name).suffix for name in sources} == set(READERS)
    found = {sentence: sorted(files) for sentence, files in said_twice(sources).items()}
    assert not found, "write it once, as a constant or a function of the module that it is about"


def test_sentences_are_found_in_all_kinds_of_files() -> None:
    first = (
        '"""One two three four five six."""\ndef f(x): return f"{x} one two " "three four five six. {x}"\n'
    )
    found = said_twice(
        {
            "a.py": first,
            "b.js": "// one two three four five six.\nsay(`${x} so one two three four five six.`);",
            "c.html": "<p>{{ x }} One <b>is</b> one\n two three four five six. Seven</p>",
            "d.py": "x = 'one two three four five'",
        }
    )
    assert found == {"one two three four five six.": {"a.py", "b.js", "c.html"}}
