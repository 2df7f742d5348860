"""Damaged input by coverage: atheris looks for texts that take a reader along new ways through our code.

``python -m tools.faults.guided "BIF file" 120`` looks for two minutes, from a valid text; it ends with an
error and the text where anything but a refusal in our words escapes. Needs ``pip install atheris`` (Linux),
which is no dependency: the random damage of :mod:`tools.faults.fuzz` needs nothing.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["benchmark"]):
    from benchmark.errors import BetabenchError
    from tools.faults.fuzz import TARGETS, offline


def main(name: str, seconds: int) -> None:
    """Give a target's reader what atheris makes, for some seconds."""
    texts, target = TARGETS[name]
    with tempfile.TemporaryDirectory() as corpus, tempfile.TemporaryDirectory() as folder, offline():
        for number, text in enumerate(texts()):
            (Path(corpus) / str(number)).write_text(text, encoding="utf-8")

        def read(data: bytes) -> None:
            with contextlib.suppress(BetabenchError):
                target(data.decode("utf-8", "replace"), Path(folder))

        options = [f"-max_total_time={seconds}", "-max_len=20000", "-timeout=60", "-rss_limit_mb=8192"]
        atheris.Setup([sys.argv[0], corpus, *options, "-print_final_stats=1"], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
