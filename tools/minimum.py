"""The oldest versions that pyproject.toml allows; ``python -m tools.minimum`` writes them to a file."""

from __future__ import annotations

import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

__all__ = ["FILE", "oldest", "text"]

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "constraints-minimum.txt"

_HEAD = """\
# The oldest versions that pyproject.toml allows, which `nox -s minimum` tests (Python 3.11).
# `python -m tools.minimum` writes this file.
"""


def oldest() -> dict[str, str]:
    """Return the lower bound of each dependency, those of all extras included, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    bounds: dict[str, str] = {}
    for requirement in map(Requirement, declared):
        if requirement.name == project["name"]:  # an extra that includes another
            continue
        (bound,) = (s.version for s in requirement.specifier if s.operator in {">=", "=="})
        if bounds.setdefault(requirement.name, bound) != bound:
            raise ValueError(
                f"{requirement.name} has two lower bounds: {bounds[requirement.name]} and {bound}"
            )
    return dict(sorted(bounds.items()))


def text() -> str:
    """Return what the file should say."""
    return _HEAD + "".join(f"{name}=={bound}\n" for name, bound in oldest().items())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
