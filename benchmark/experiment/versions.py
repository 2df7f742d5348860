"""What computed a number: versions and digests of code, for the store's keys and the manifest.

Versions tell releases apart. In a checkout, code changes between them, so keys have digests of the package's
code as well. Plugins are always digested, with helpers and data files. A digest is taken of the parsed
program without docstrings: new words and layout keep stored results, and any change of the program computes
them again.
"""

import ast
import functools
import hashlib
import json
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent
CHECKOUT = (PACKAGE.parent / "pyproject.toml").is_file()
"""Whether the package's files can change without its version."""

_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()
_SECOND_NAME = re.compile(r"^betabench(?=\.|$)")  # betabench.py
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
_PLUGGED_IN = (
    "bias",
    "classifiers",
    "techniques",
    "metrics",
    "experiment/scoring.py",
    "experiment/telling.py",
)

# Packages whose versions can change any cell's numbers. Techniques name further packages.
_COMPUTING = ("numpy", "scipy", "scikit-learn", "numba")

NOT_INSTALLED = "not installed"  # text in place of a version
_MANIFEST = ("betabench", *_COMPUTING, "fairlearn", "pandas", "matplotlib", "networkx", "pgmpy", "pydantic")


def _parsed(path: Path) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the digest of a program, the names of all its imports, and its texts that may name files.

    Names of relative imports begin with their dots.
    """
    return _parsed_text(path.read_text(encoding="utf-8"))  # a file can change while a notebook is open


@functools.cache
def _parsed_text(program: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    tree = ast.parse(program)
    imported, texts = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            dots, module = "." * node.level, node.module or ""
            names = {module, *(f"{module}.{alias.name}".lstrip(".") for alias in node.names)}
            imported |= {dots + name for name in names - {""}}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME_OF_FILE(node.value):
            texts.add(node.value)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(imported), tuple(texts)


def source_digest(item: type) -> str:
    """Return the digest of the code of a technique, a classifier or a kind of bias, built in or a user's.

    It covers the files of the class and its bases, and their imports among techniques, classifiers, kinds of
    bias and metrics. Of a user's class it also covers imports from any other folder, and modules and files
    whose names its program has as texts. Installed packages count by their version alone.
    """
    return closure_digest(_files_of_modules(base.__module__ for base in item.__mro__))


def closure_digest(files: Iterable[Path]) -> str:
    """Return the digest of the code of files, and of what they import, as of :func:`source_digest`."""
    found, pending = set[Path](), [*files]
    while pending:
        file = pending.pop()
        if file not in found and (_is_users(file) or _is_plugged_in(file)):
            found.add(file)
            if file.suffix == ".py":
                pending += (*_imported_files(file), *(_named_files(file) if _is_users(file) else ()))
    return code_digest(found)


def code_digest(files: Iterable[Path]) -> str:
    """Return the digest of the code of some files, in any order; the package's own count in a checkout."""
    digests = (  # with names, as two helpers or data files can change places
        f"{f.name} {_parsed(f)[0] if f.suffix == '.py' else hashlib.sha256(f.read_bytes()).hexdigest()}"
        for f in files
        if CHECKOUT or not f.is_relative_to(PACKAGE)
    )
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


@functools.cache
def _is_users(file: Path) -> bool:
    """Return whether a file belongs neither to this package nor to an installed one."""
    installed = {"site-packages", "dist-packages"} & {*file.parts}
    return not installed and not any(file.is_relative_to(folder) for folder in (PACKAGE, _STANDARD_LIBRARY))


@functools.cache
def _is_plugged_in(file: Path) -> bool:
    # The names in a registry, or in a package's __init__, change no number.
    named = any(file.is_relative_to(PACKAGE / part) for part in _PLUGGED_IN)
    return named and file.name not in ("__init__.py", "registry.py")


def _imported_files(file: Path) -> Iterable[Path]:
    # Files of this package, beside the file, and where Python looks, are found without being loaded, so that
    # imports inside functions count before their first call.
    names = _parsed(file)[1]
    if not _is_users(file):
        return _files_of_package(names)
    names = tuple(_SECOND_NAME.sub(PACKAGE.name, name) for name in names)
    found = set[Path]()
    for name in {*names}.union(*map(_packages_of, names)):
        own = name.lstrip(".")
        if own != name:
            found |= _files_beside((own,), (file.parents[len(name) - len(own) - 1],))
        else:
            folders = (PACKAGE.parent, file.parent, *map(Path, sys.path))
            found |= _files_beside((own,), folders) | _files_of_modules((own,))
    return found


@functools.cache
def _files_of_package(names: tuple[str, ...]) -> frozenset[Path]:
    """Return the files of this package among imported modules; they do not change while it runs."""
    own = (name for name in names if name.startswith(f"{PACKAGE.name}."))
    return frozenset(_files_beside(own, (PACKAGE.parent,)))


def _packages_of(module: str) -> list[str]:
    """Return the names of the packages that hold a module; Python runs their files before its own."""
    return [module[: dot.start()] for dot in re.finditer(r"(?<=\w)\.", module)]


def _named_files(file: Path) -> set[Path]:
    """Return the modules and other files whose names a program has as texts.

    Names of files are relative to the program's folder or the working folder, or to a folder there whose
    name it has as well.
    """
    texts, own = _parsed(file)[2], (file.parent, Path.cwd())
    inner = (path for folder in own for text in texts if _exists(Path.is_dir, path := folder / text))
    folders = (*own, *inner)
    beside = (folder / text for folder in folders for text in texts)
    files = {path.resolve() for path in beside if _exists(Path.is_file, path)}
    return files | _files_beside(texts, folders) | _files_of_modules(texts)


def _files_beside(modules: Iterable[str], folders: Iterable[Path]) -> set[Path]:
    names = [f"{name.replace('.', '/')}{end}" for name in modules for end in (".py", "/__init__.py")]
    paths = (folder / name for folder in folders for name in names)
    return {path.resolve() for path in paths if _exists(Path.is_file, path)}


def _exists(is_kind: Callable[[Path], bool], path: Path) -> bool:
    try:
        return is_kind(path)
    except OSError:  # a text that no file can have as its name, or a folder of somebody else
        return False


def _files_of_modules(names: Iterable[str]) -> set[Path]:
    loaded = (getattr(sys.modules.get(name), "__file__", None) for name in names)
    return {Path(path).resolve() for path in loaded if path}


@functools.cache
def harness_digest() -> str:
    """Return the digest of the code, and of the packages, that every number depends on."""
    facts = [code_digest(_files_of_parts(HARNESS)), versions_of(("betabench", *_COMPUTING))]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _files_of_parts(parts: Iterable[str]) -> list[Path]:
    """Return the files of parts of the package; a folder gives its modules, sorted by name."""
    paths = [PACKAGE / part for part in parts]
    return [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]


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
