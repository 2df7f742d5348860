"""Files of a run without what differs between machines and days, and how two of them are compared."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import platform
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from benchmark.experiment.versions import package_versions

__all__ = ["alike", "differences", "digest", "normal_files"]

# What of a manifest is about this machine, this day or this program's text rather than about numbers.
_MASKED = {
    "code",
    "durations_in_seconds",
    "finished",
    "plan",
    "platform",
    "processors",
    "versions",
}
_LEFT_OUT = {"results.sqlite", "results.sqlite.lock"}
_NUMBER = re.compile(r"[-−+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?")


def normal_files(folder: Path) -> dict[str, str]:
    """Return every file of a folder by its name there, normalised; pages as the text that they show."""
    manifest = folder / "manifest.json"
    facts = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else {}
    # Pages show digests of the code as well.
    code = set(re.findall(r"\b[0-9a-f]{64}\b", json.dumps(facts.get("code"))))
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _LEFT_OUT:
            text = _normal(path)
            for known in code:
                text = text.replace(known, "<code>")
            found[path.relative_to(folder).as_posix()] = text
    return found


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _normal(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        text = json.dumps(_masked(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
    elif path.suffix == ".html":
        text = _shown(text)
    for name, version in package_versions().items():
        # "python 3.13.2", "python: 3.13.2", and the two in neighbouring cells of a page's table
        text = re.sub(rf"\b({re.escape(name)}\W{{1,3}}){re.escape(version)}(?![\w.])", r"\1<version>", text)
    text = re.sub(re.escape(platform.platform()) + r", \d+ cores?", "<system>", text)
    text = re.sub(r"\b[\d.,]+ s\b", "<seconds>", text)
    text = re.sub(r"\b[\d.,]+ minutes(?=, one after the other)", "<minutes>", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)?", "<time>", text)


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: "<masked>" if name in _MASKED else _masked(item) for name, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value


class _Text(HTMLParser):
    """Collects the words of a page, a line for each stretch between tags."""

    _HIDDEN = ("script", "style", "svg")

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside += tag in self._HIDDEN

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in self._HIDDEN

    def handle_data(self, data: str) -> None:
        words = " ".join(data.split())
        if words and not self._inside:
            self.lines.append(words)


def _shown(page: str) -> str:
    parser = _Text()
    parser.feed(page)
    parser.close()
    return "\n".join(parser.lines) + "\n"


def alike(found: str, golden: str, *, exact: bool) -> bool:
    """Return whether two texts are the same; where not ``exact``, numbers may differ in their last digits."""
    if exact or found == golden:
        return found == golden
    if _NUMBER.split(found) != _NUMBER.split(golden):
        return False
    pairs = zip(_NUMBER.findall(found), _NUMBER.findall(golden), strict=True)
    return all(
        math.isclose(*(float(text.replace("−", "-")) for text in pair), rel_tol=1e-6, abs_tol=1e-9)
        for pair in pairs
    )


def differences(found: Mapping[str, str], golden: Mapping[str, str], *, exact: bool) -> str:
    """Return how texts differ from golden ones of the same names, as a readable diff, or ``""``."""
    said = []
    for name in sorted(found.keys() | golden.keys()):
        ours, theirs = found.get(name), golden.get(name)
        if ours is None or theirs is None:
            said.append(f"{name}: " + ("is no longer written" if ours is None else "is new"))
        elif not alike(ours, theirs, exact=exact):
            lines = difflib.unified_diff(
                theirs.splitlines(), ours.splitlines(), f"golden/{name}", f"now/{name}", "", "", 1, ""
            )
            said += list(lines)[:40]
    return "\n".join(said)
