"""Files of texts that are held as they are, case by case."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

Texts = Mapping[str, Callable[[], str]]


def read_texts(path: Path) -> dict[str, str]:
    """Return the texts of a file by the names of their cases."""
    _, *parts = re.split(r"^=== (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def write_texts(path: Path, texts: Texts) -> None:
    """Write the file anew."""
    parts = (f"=== {name}\n{text().rstrip()}\n" for name, text in texts.items())
    path.write_text("".join(parts), encoding="utf-8")
