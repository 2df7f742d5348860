"""Which code made a number: digests for the store's keys, versions for the manifest.

A digest is taken of the parsed program without its docstrings, so that new words and layout keep what was
computed, and any change of what the code does computes it again.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["harness_digest", "package_versions", "source_digest"]

# What a cell's numbers pass through, apart from the technique's own file. Data and networks are not among
# it: the keys hold digests of the table and the network themselves.
_HARNESS = (
    "seeding.py",
    "network/sample.py",
    "classifiers",
    "metrics",
    "techniques/base.py",
    "experiment/evaluate.py",
)

# Packages whose versions can change a cell's numbers.
_COMPUTING = ("numpy", "scipy", "scikit-learn", "numba", "fairlearn", "aif360")

_MANIFEST = (
    "betabench",
    *_COMPUTING,
    "pandas",
    "matplotlib",
    "networkx",
    "pgmpy",
    "pydantic",
)


@functools.cache
def _file_digest(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:] or [ast.Pass()]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def source_digest(item: type) -> str:
    """Return the digest of the file that defines a class: that of a technique, built in or a plugin."""
    return _file_digest(Path(inspect.getfile(item)))


@functools.cache
def harness_digest() -> str:
    """Return the digest of the shared code that every number passes through, and of its packages."""
    package = Path(__file__).resolve().parent.parent
    h = hashlib.sha256()
    for part in _HARNESS:
        path = package / part
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            h.update(f"{file.relative_to(package).as_posix()} {_file_digest(file)}\n".encode())
    for name in _COMPUTING:
        h.update(f"{name} {_version(name)}\n".encode())
    return h.hexdigest()


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _MANIFEST}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
