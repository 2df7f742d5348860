"""The code that made a number: digests for the store's keys, versions for the manifest.

A digest is taken of the parsed program without docstrings. New words and layout keep stored results, and any
change of the program computes them again.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeGuard

PACKAGE = Path(__file__).resolve().parent.parent
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()
_NAME_OF_FILE = re.compile(r"[^\n\0]{1,200}").fullmatch

# Code that every cell's predictions depend on. Learning and loading are left out, because keys hold digests
# of the biased network and of the test table. Kinds of bias, classifiers and techniques count by their own
# code, so that a new one changes no other keys. Metrics are left out, because they are computed from stored
# predictions, and the store names their code.
HARNESS = (
    "seeding.py",
    "compiling.py",
    "bias/planting.py",
    "data/row_facts.py",
    "data/table.py",
    "network/model.py",
    "classifiers/factories.py",
    "experiment/draws.py",
    "experiment/evaluate.py",
)

# Code that some cells' numbers depend on; their keys, or the store, name it.
_PLUGGED_IN = ("bias", "classifiers", "techniques", "metrics", "experiment/scoring.py")

# Packages whose versions can change any cell's numbers. Techniques name further packages.
_COMPUTING = ("numpy", "scipy", "scikit-learn", "numba")

NOT_INSTALLED = "not installed"  # text in place of a version
_MANIFEST = ("betabench", *_COMPUTING, "fairlearn", "pandas", "matplotlib", "networkx", "pgmpy", "pydantic")


@functools.cache
def _parsed(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file's program, and the names of all its imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
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
    """Yield a program and its statements at every depth, without expressions, which are numerous."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            pending += getattr(node, field, ())


def _takes_from_the_package(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE.name


def _taken_from_the_package(tree: ast.Module) -> Iterable[tuple[str, str]]:
    """Remove the imports of this package's modules from a program; yield their names and original names.

    The file of a name, and the order of imports, change no number: a file that is moved must change no key.
    """
    others: list[ast.stmt] = []
    for node in tree.body:
        if _takes_from_the_package(node):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        else:
            others.append(node)
    tree.body = others


def source_digest(item: type) -> str:
    """Return the digest of the code of a technique, a classifier or a kind of bias, built in or a user's.

    It covers the files of the class and its bases, and their imports from the class's folder or from the
    bases' folders in this package. Of a user's class it also covers imports from any other folder, and
    modules and files whose names its program has as texts. Other packages count by their version alone.
    """
    files = _files_of_modules(base.__module__ for base in item.__mro__)
    defined_in = Path(inspect.getfile(item)).resolve()
    folders = {defined_in.parent, *(file.parent for file in files if file.is_relative_to(PACKAGE))}
    # The names in a registry, or in a package's __init__, change no number.
    shipped = [folder for folder in folders if folder.is_relative_to(PACKAGE)]
    indices = {folder / name for folder in shipped for name in ("__init__.py", "registry.py")}
    return code_digest(_imported(files, tuple(folders)) - indices)


def closure_digest(always: Iterable[Path], *files: Path) -> str:
    """Return the digest of the code of files, of their imports from their own folders, and of ``always``."""
    folders = tuple({file.parent for file in files})
    return code_digest({*always, *_imported(files, folders)})


def _imported(files: Iterable[Path], folders: tuple[Path, ...]) -> set[Path]:
    files_found: set[Path] = set()
    pending = [file for file in files if _counts(file, folders)]
    users = any(_is_users(file) for file in pending)
    while pending:
        file = pending.pop()
        if file not in files_found:
            files_found.add(file)
            if file.suffix == ".py":
                named = _named_files(file) if users and _is_users(file) else ()
                reached = (*_imported_files(file), *named)
                pending += [p for p in reached if _counts(p, folders) or (users and _is_users(p))]
    return files_found


def _is_users(file: Path) -> bool:
    """Return whether a file belongs neither to this package nor to an installed one."""
    installed = {"site-packages", "dist-packages"} & {*file.parts}
    return not installed and not any(file.is_relative_to(folder) for folder in (PACKAGE, _STANDARD_LIBRARY))


@functools.cache
def _named_files(file: Path) -> tuple[Path, ...]:
    """Return the modules and other files whose names a program has as texts.

    Names of files are relative to the program's folder or the working folder, or to a folder there whose
    name it has as well.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME_OF_FILE(node.value)
    }
    folders = {file.parent, Path.cwd()}
    folders |= {path for folder in folders for text in texts if _exists(Path.is_dir, path := folder / text)}
    modules = (f"{text.replace('.', '/')}{ending}" for text in texts for ending in (".py", "/__init__.py"))
    beside = (folder / name for folder in folders for name in (*texts, *modules))
    # Two ways to one file are one; modules from elsewhere are known once they are loaded.
    found = {path.resolve() for path in beside if _exists(Path.is_file, path)} | {*_files_of_modules(texts)}
    return tuple(sorted(found))


def _exists(is_kind: Callable[[Path], bool], path: Path) -> bool:
    try:
        return is_kind(path)
    except OSError:  # a text that no file can have as its name, or a folder of somebody else
        return False


def code_digest(files: Iterable[Path]) -> str:
    """Return the digest of the code of some files, in any order."""
    digests = (
        _parsed(f)[0] if f.suffix == ".py" else hashlib.sha256(f.read_bytes()).hexdigest() for f in files
    )
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


def _counts(file: Path, folders: tuple[Path, ...]) -> bool:
    return file.suffix == ".py" and any(file.is_relative_to(folder) for folder in folders)


def _imported_files(file: Path) -> list[Path]:
    # Files of this package, and beside the file, are found without being loaded, so that imports inside
    # functions count before their first call.
    return [*_files_of_modules(_parsed(file)[1]), *_imported_files_beside(file)]


@functools.cache
def _imported_files_beside(file: Path) -> tuple[Path, ...]:
    names = _parsed(file)[1]
    paths = [folder.joinpath(*name.split(".")) for name in names for folder in (PACKAGE.parent, file.parent)]
    return tuple(p for path in paths for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file())


def _files_of_modules(names: Iterable[str]) -> list[Path]:
    return [_resolved(path) for name in names if (path := getattr(sys.modules.get(name), "__file__", None))]


@functools.cache
def _resolved(path: str) -> Path:
    return Path(path).resolve()


@functools.cache
def harness_digest() -> str:
    """Return the digest of the code, and of the packages, that every number depends on."""
    h = hashlib.sha256(code_digest(_files_of_parts(HARNESS)).encode())
    for name in _COMPUTING:
        h.update(f"{name} {_version(name)}\n".encode())
    return h.hexdigest()


def _files_of_parts(parts: Iterable[str]) -> list[Path]:
    """Return the files of parts of the package; a folder gives its modules, sorted by name."""
    return [
        file
        for path in (PACKAGE / part for part in parts)
        for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])
    ]


def software(plugins: Iterable[str], packages: Iterable[str]) -> dict[str, str]:
    """Return everything that the machines of a run must have in common for the same numbers, by name.

    These are versions of packages and digests of files, plugins included, with their words and layout.
    """
    computing = _files_of_parts((*HARNESS, *_PLUGGED_IN))
    files = {file.relative_to(PACKAGE.parent).as_posix(): file for file in computing}
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
    """Return the features of the processor, and their use by libraries, that can change last digits.

    ``machine`` is the architecture, ``cpu`` LLVM's name of the processor, and ``numba`` the processor that
    loops are compiled for. ``numpy`` has the instruction sets of its loops. ``blas`` lists libraries of
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
    """Return the versions of packages, or :data:`NOT_INSTALLED`."""
    return {name: _version(name) for name in packages}


def _version(package: str) -> str:
    if package == "betabench":  # metadata of an editable install may name an older version
        return str(sys.modules[PACKAGE.name].__version__)
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_INSTALLED
