"""A list of words and sentences that pages and the package leave out: ``python -m tools.plain_english``.

``tools/plain_english.toml`` holds the list, and how often files may still break it. A count can only fall:
``--lower`` writes the counts of today where they are less.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["LIST", "Breach", "breaches", "check", "excess", "sentences"]

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
PAGES = (
    "*.md",
    "docs/**/*.md",
    "results/README.md",
    "results/paper/[AR]*.md",
    "results/*/FINDINGS.md",
)
PACKAGE = "benchmark"
LONGEST = 25
"""Words of the longest sentence on a page."""

_LONG = f"more than {LONGEST} words"
_CODE = re.compile(r"(?ms)^ *(```|\$\$).*?^ *\1 *$|<!--.*?-->|<[^>\n]+>")
_LINK = re.compile(r"!?\[((?:[^\[\]]|\\.)*)\]\([^()\s]*\)|<https?:[^>]*>")
_INLINE = re.compile(r"``.*?``|`[^`]*`|\$[^$\n]+\$|:\w+:`[^`]*`", re.DOTALL)
_JINJA_TEXT = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}\n?", re.DOTALL)
_STRING = re.compile(r"""'([^']* [^']*)'|"([^"]* [^"]*)\"""")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s|^#+\s")
_END = re.compile(r"(?<=[.!?])[)\"”’]*\s+(?=\W*[A-Z\d§†‡¶↓βχτ])")
_WORD = re.compile(r"\w[\w.,'’-]*")
_QUOTED = "CODE"
"""What stands in place of a name in code: one word."""


class Breach(NamedTuple):
    """A place that breaks the list: the rule, the text, and where a rule names one, a better word."""

    rule: str
    text: str
    better: str = ""


def _plain(text: str) -> str:
    """Return Markdown without code, addresses and emphasis."""
    text = _LINK.sub(lambda found: found[1] or "", _INLINE.sub(_QUOTED, text))
    return re.sub(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}", "", text)


def _paragraphs(page: str) -> Iterator[tuple[str, bool]]:
    """Yield the paragraphs, headings, list items and rows of tables, and whether it is a row."""
    held: list[str] = []
    for line in [*_CODE.sub("\n", page).splitlines(), ""]:
        row = line.lstrip().startswith("|")
        if (not line.strip() or row or _ITEM.match(line)) and held:
            yield _plain(" ".join(held)), False
            held = []
        if row:
            yield _plain(line), True
        elif line.strip():
            held.append(_ITEM.sub("", line).strip())


def sentences(page: str) -> Iterator[str]:
    """Yield the sentences of a page, without code and tables."""
    for text, row in _paragraphs(page):
        if not row:
            yield from _END.split(text)


def _words(text: str, rules: dict[str, re.Pattern[str]], better: dict[str, str]) -> Iterator[Breach]:
    for name, pattern in rules.items():
        for found in pattern.finditer(text):
            around = text[max(0, found.start() - 40) : found.end() + 40]
            yield Breach(name, " ".join(around.split()), better[name])


def _module_texts(source: str) -> Iterator[str]:
    """Yield docstrings and strings of several words of a module, without code in them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 2:
            yield _INLINE.sub(_QUOTED, node.value)


def _template_text(source: str) -> str:
    """Return the text of a template, with a word in place of each value; texts within values follow it."""
    texts = [
        found[1] or found[2] for value in _JINJA_TEXT.findall(source) for found in _STRING.finditer(value)
    ]
    return "\n\n".join([_JINJA_TEXT.sub(_QUOTED, _JINJA.sub("", source)), *texts])


def _texts_in(table: Any) -> Iterator[str]:
    """Yield the texts in a table of TOML."""
    if isinstance(table, str):
        yield table
    elif isinstance(table, dict):
        for value in table.values():
            yield from _texts_in(value)


def breaches(path: Path, rules: dict[str, dict[str, str]]) -> list[Breach]:
    """Return where a page, a module, a script, a template or a table of words breaks the list."""
    better = {**rules["words"], **rules["spelling"]}
    patterns = {name: re.compile(rf"\b{name}\b", re.IGNORECASE) for name in better}
    # Most texts break nothing: one pattern says so sooner than all of them.
    any_of_them = re.compile(rf"\b(?:{'|'.join(better)})\b", re.IGNORECASE)

    def words(text: str) -> Iterator[Breach]:
        if any_of_them.search(text):
            yield from _words(text, patterns, better)

    source = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        source = "\n\n".join(_texts_in(tomllib.loads(source)))
    if path.suffix in (".j2", ".toml"):
        source = _template_text(source)
    if path.suffix in (".md", ".j2", ".toml"):
        found = [breach for text, _ in _paragraphs(source) for breach in words(text)]
        long = [text for text in sentences(source) if len(_WORD.findall(text)) > LONGEST]
        return found + [Breach(_LONG, text) for text in long]
    texts = _module_texts(source) if path.suffix == ".py" else [source]
    return [breach for text in texts for breach in words(text)]


def place(path: Path, root: Path = ROOT) -> str:
    """Return what exceptions are counted for: a page, or a folder of the package."""
    name = path.relative_to(root)
    parts = name.parts[:2] if len(name.parts) > 2 else name.parts[:1]
    return "/".join(parts) if name.parts[0] == PACKAGE else name.as_posix()


def check(root: Path = ROOT) -> dict[str, list[tuple[Path, Breach]]]:
    """Return all breaches in pages and package by where exceptions are counted."""
    rules = tomllib.loads(LIST.read_text(encoding="utf-8"))
    files = {path for pattern in PAGES for path in root.glob(pattern)}
    files |= {path for path in (root / PACKAGE).rglob("*") if path.suffix in (".py", ".html", ".js", ".j2")}
    files |= set((root / PACKAGE).glob("wording/*.toml"))
    found: dict[str, list[tuple[Path, Breach]]] = {}
    for path in sorted(files):
        for breach in breaches(path, rules):
            found.setdefault(place(path, root), []).append((path, breach))
    return found


def excess(found: dict[str, list[tuple[Path, Breach]]]) -> dict[str, tuple[int, int]]:
    """Return where the count is not the one that the list allows: today's, and the allowed one."""
    allowed: dict[str, int] = tomllib.loads(LIST.read_text(encoding="utf-8"))["exceptions"]
    counts = {name: (len(found.get(name, ())), allowed.get(name, 0)) for name in {*found, *allowed}}
    return {name: pair for name, pair in sorted(counts.items()) if pair[0] != pair[1]}


def _lower(differing: dict[str, tuple[int, int]]) -> None:
    """Write lower counts into the list; leave greater ones."""
    text = LIST.read_text(encoding="utf-8")
    for name, (now, allowed) in differing.items():
        if now < allowed:
            line = f'"{name}" = {now}\n' if now else ""
            text = re.sub(rf'(?m)^"{re.escape(name)}" = {allowed}\n', line, text)
    LIST.write_text(text, encoding="utf-8")


def main() -> int:
    """Print what breaks the list; return 1 where a count is greater, or lower and not yet written."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lower", action="store_true", help="write the counts that have fallen")
    parser.add_argument("--all", action="store_true", help="print the allowed exceptions as well")
    parser.add_argument("names", nargs="*", help="print the breaches of these pages or folders alone")
    options = parser.parse_args()
    found = check()
    differing = excess(found)
    if options.lower:
        _lower(differing)
        differing = {name: pair for name, pair in differing.items() if pair[0] > pair[1]}
    for name in options.names or (found if options.all else differing):
        for path, breach in found.get(name, ()):
            print(
                f"{path.relative_to(ROOT)}: {breach.rule}: {breach.text}",
                f"-> {breach.better}" * bool(breach.better),
            )
    for name, (now, allowed) in differing.items():
        print(f"{name}: {now} in place of {allowed}", "" if now > allowed else "(--lower writes it)")
    rules = Counter(breach.rule for places in found.values() for _, breach in places)
    print(", ".join(f"{name}: {count}" for name, count in rules.most_common()))
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
