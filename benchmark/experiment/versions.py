"""Which code made a number: digests for the store's keys, versions for the manifest.

A digest is taken of the parsed program without its docstrings, so that new words and layout keep what was
computed, and any change of what the code does computes it again.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeGuard

PACKAGE = Path(__file__).resolve().parent.parent

# What every cell's predictions pass through. Learning and loading are not among it: the keys hold digests of
# the biased network and of the test table themselves. Kinds of bias, classifiers, techniques count by their
# own code: a new one leaves the keys of all others as they are. Nor are metrics among it: they are computed
# from what is stored of the predictions, and the store says by which code.
HARNESS = (
    "seeding.py",
    "compiling.py",
    "bias/planting.py",
    "data/table.py",
    "data/raw_numbers.py",
    "network/model.py",
    "network/sampling.py",
    "classifiers/factories.py",
    "experiment/draws.py",
    "experiment/evaluate.py",
    "experiment/references.py",
)

# What else makes the numbers of some cells; their keys, or the store, name it.
_PLUGGED_IN = ("bias", "classifiers", "techniques", "metrics", "experiment/scoring.py")

# Packages whose versions can change any cell's numbers. Techniques name those that they alone need.
_COMPUTING = ("numpy", "scipy", "scikit-learn", "numba")

NOT_INSTALLED = "not installed"
"""In place of a version."""

_MANIFEST = ("betabench", *_COMPUTING, "fairlearn", "pandas", "matplotlib", "networkx", "pgmpy", "pydantic")


def _file_digest(path: Path) -> str:
    return _parsed(path)[0]


@functools.cache
def _parsed(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file's program, and the names of all that it imports anywhere."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:] or [ast.Pass()]
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.module:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            if _takes_from_the_package(node):
                node.module = PACKAGE.name
    names = sorted(_taken_from_the_package(tree))
    digest = hashlib.sha256(f"{names} {ast.dump(tree)}".encode()).hexdigest()
    return digest, tuple(sorted(imported))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield a program and its statements at every depth, without expressions, which are most of it."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            pending += getattr(node, field, ())


def _takes_from_the_package(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE.name


def _taken_from_the_package(tree: ast.Module) -> Iterable[tuple[str, str]]:
    """Take the imports of this package's modules out of a program; yield what they bind: name, original name.

    Which file of the package has a name, and in which order names are imported, changes no number, and a file
    that is moved or renamed must change no key.
    """
    kept: list[ast.stmt] = []
    for node in tree.body:
        if _takes_from_the_package(node):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        else:
            kept.append(node)
    tree.body = kept


def source_digest(item: type) -> str:
    """Return the digest of the code of a technique, a classifier or a kind of bias, built in or a user's own.

    It covers the files of the class and its bases and, from there, every imported file of the folders that
    the class's own file and those of its bases in this package lie in, so that a helper module counts as
    well. Other packages count by their version alone.
    """
    files = _files_of_modules(base.__module__ for base in item.__mro__)
    own = Path(inspect.getfile(item)).resolve()
    folders = {own.parent, *(file.parent for file in files if file.is_relative_to(PACKAGE))}
    # Which names a registry knows, and what a package shows of its modules, makes no number.
    shipped = [folder for folder in folders if folder.is_relative_to(PACKAGE)]
    indices = {folder / name for folder in shipped for name in ("__init__.py", "registry.py")}
    return code_digest(_imported(files, tuple(folders)) - indices)


def closure_digest(always: Iterable[Path], *files: Path) -> str:
    """Return the digest of the code of files and of what they import from their own folders.

    ``always`` are files that count whatever imports them.
    """
    folders = tuple({file.parent for file in files})
    return code_digest({*always, *_imported(files, folders)})


def _imported(files: Iterable[Path], folders: tuple[Path, ...]) -> set[Path]:
    found: set[Path] = set()
    pending = [file for file in files if _counts(file, folders)]
    while pending:
        file = pending.pop()
        if file not in found:
            found.add(file)
            pending += [path for path in _imported_files(file) if _counts(path, folders)]
    return found


def code_digest(files: Iterable[Path]) -> str:
    """Return the digest of the code of some files, in whatever order they are named."""
    return hashlib.sha256("\n".join(sorted(map(_file_digest, files))).encode()).hexdigest()


def _counts(file: Path, folders: tuple[Path, ...]) -> bool:
    return file.suffix == ".py" and any(file.is_relative_to(folder) for folder in folders)


def _imported_files(file: Path) -> list[Path]:
    """Return the files of the modules that a file imports.

    Those of this package and those beside the file are found without being loaded: what a function imports
    when it is called counts before the call as well as after it.
    """
    return [*_files_of_modules(_parsed(file)[1]), *_imported_files_beside(file)]


@functools.cache
def _imported_files_beside(file: Path) -> tuple[Path, ...]:
    names = _parsed(file)[1]
    paths = [folder.joinpath(*name.split(".")) for name in names for folder in (PACKAGE.parent, file.parent)]
    return tuple(p for path in paths for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file())


def _files_of_modules(names: Iterable[str]) -> list[Path]:
    found = [getattr(sys.modules.get(name), "__file__", None) for name in names]
    return [_resolved(path) for path in found if path]


@functools.cache
def _resolved(path: str) -> Path:
    return Path(path).resolve()


@functools.cache
def harness_digest() -> str:
    """Return the digest of the shared code that every number passes through, and of its packages."""
    h = hashlib.sha256(code_digest(_files_of_parts(HARNESS)).encode())
    for name in _COMPUTING:
        h.update(f"{name} {_version(name)}\n".encode())
    return h.hexdigest()


def _files_of_parts(parts: Iterable[str]) -> list[Path]:
    """Return the files of parts of the package: of a folder, its modules by name."""
    return [
        file
        for path in (PACKAGE / part for part in parts)
        for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])
    ]


def software(plugins: Iterable[str], packages: Iterable[str]) -> dict[str, str]:
    """Return all that the machines of a run must have in common for the same numbers, by name.

    These are digests of files, the user's plugins among them, and versions of packages. Files count as they
    are, words and layout included: that is quickly known, and they should be the same.
    """
    own = _files_of_parts((*HARNESS, *_PLUGGED_IN))
    files = {file.relative_to(PACKAGE.parent).as_posix(): file for file in own}
    files |= {Path(plugin).name: Path(plugin) for plugin in plugins}
    return {
        "python": platform.python_version(),
        **versions_of((*_COMPUTING, *packages)),
        **{name: hashlib.sha256(file.read_bytes()).hexdigest()[:16] for name, file in files.items()},
    }


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    return {"python": platform.python_version(), **versions_of(_MANIFEST)}


@functools.cache
def processor() -> Mapping[str, Any]:
    """Return by what of a processor, and by which libraries' use of it, last digits of numbers can differ.

    ``machine`` and ``cpu`` are the architecture and LLVM's name of the processor; ``numba`` the processor
    that loops are compiled for; ``numpy`` the instruction sets that its loops use; ``blas`` the libraries of
    linear algebra with the kind of processor that each has chosen its code for.
    """
    import llvmlite.binding
    import numpy
    import scipy.linalg  # noqa: F401  # brings a library of its own
    from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

    cpu = llvmlite.binding.get_host_cpu_name()
    simd = numpy.show_config(mode="dicts")["SIMD Extensions"]
    blas = {
        f"{library['internal_api']} {library['version']} for {library.get('architecture', 'any')}"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return {
        "machine": platform.machine(),
        "cpu": cpu,
        "numba": os.environ.get("NUMBA_CPU_NAME") or cpu,
        "numpy": [*simd["baseline"], *simd.get("found", ())],
        "blas": sorted(blas),
    }


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of packages, where they are installed."""
    return {name: _version(name) for name in packages}


def _version(package: str) -> str:
    if package == "betabench":  # what is installed for editing may have been another version then
        return str(sys.modules[PACKAGE.name].__version__)
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_INSTALLED
