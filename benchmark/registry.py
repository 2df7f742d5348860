"""Registries of named items: techniques, metrics, classifiers, kinds of bias.

No list of names is kept by hand. A registry imports every module of its package, then the entry points of
other installed packages, then the files that a user loads.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import pkgutil
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from benchmark.errors import BetabenchError, PluginError, UnknownNameError

T = TypeVar("T")

_NAME = re.compile(r"[a-z][a-z0-9_]*")

# Packages of the registries. A plugin may register items of any kind, so it runs after their import.
_HOMES = ("benchmark.bias", "benchmark.classifiers", "benchmark.metrics", "benchmark.techniques")
_PLUGINS: dict[Path, dict[str, tuple[str, ...]]] = {}
_MODULE = "betabench_plugin_"  # begins the names of plugins' modules


@dataclass(eq=False)
class Registry(Generic[T]):
    """Named items of one kind.

    An item that cannot be registered raises ``error``. The modules of ``package`` register the built-in
    items; the first look-up imports them. In the group ``entry_points`` of other installed packages each
    entry point names an item. ``flaws`` returns the flaws of an item, one sentence each; an item with an
    empty list is accepted.
    """

    kind: str  # of the items, in the singular: "technique"
    error: type[BetabenchError]
    package: str | None = None
    entry_points: str | None = None
    flaws: Callable[[T], list[str]] = lambda _: []
    _items: dict[str, T] = field(default_factory=dict, init=False)
    _complete: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        _REGISTRIES.append(self)

    def add(self, name: object, item: T) -> None:
        """Register an item; registering the same item again changes nothing.

        The registry's ``error`` says that the name is malformed or taken, or that the item has flaws.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise self.error(
                f"{_describe(item)} has no usable name",
                expected="a class attribute 'name' of lower-case letters, digits and underscores",
                got=repr(name),
                remedy=f"name the {self.kind} like 'my_{self.kind}'",
            )
        taken = self._items.get(name)
        if taken is item:
            return
        if taken is not None:
            raise self.error(
                f"Two {self.kind}s want the name {name!r}",
                expected=f"one {self.kind} for each name",
                got=f"{_describe(taken)} and {_describe(item)}",
                remedy="rename one of them",
            )
        if flaws := self.flaws(item):
            raise self.error(
                f"{_describe(item)} cannot be registered as the {self.kind} {name!r}",
                got="; ".join(flaws),
                remedy="complete it, or do not register it",
            )
        self._items[name] = item

    def get(self, name: str) -> T:
        """Return an item by name; raises :class:`UnknownNameError` if there is none."""
        self._discover()
        try:
            return self._items[name]
        except KeyError:
            raise UnknownNameError(self.kind, name, self._items) from None

    def items(self) -> dict[str, T]:
        """Return all items by name, sorted by name."""
        self._discover()
        return dict(sorted(self._items.items()))

    def known(self) -> list[T]:
        """Return the items registered so far, without importing more."""
        return list(self._items.values())

    def _discover(self) -> None:
        if self._complete:
            return
        self._complete = True  # before the imports below, because imported modules may look up names
        try:
            if self.package is not None:
                package = importlib.import_module(self.package)
                for module in pkgutil.iter_modules(package.__path__):
                    if not module.name.startswith("_"):  # helpers register nothing, and may be slow to import
                        importlib.import_module(f"{self.package}.{module.name}")
            if self.entry_points is not None:
                for point in sorted(metadata.entry_points(group=self.entry_points), key=lambda p: p.name):
                    self._load_entry_point(point)
        except BaseException:
            self._complete = False
            raise

    def _load_entry_point(self, point: metadata.EntryPoint) -> None:
        try:
            item = point.load()
            self.add(getattr(item, "name", None), item)
        except Exception as problem:
            # A broken package of another author must not stop this program.
            owner = point.dist.name if point.dist else "an installed package"
            warnings.warn(
                f"The {self.kind} {point.name!r} of {owner} is left out: {type(problem).__name__}: {problem}",
                RuntimeWarning,
                stacklevel=2,
            )


_REGISTRIES: list[Registry[Any]] = []


def load_plugin(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the sorted names, by kind, of the items that a Python file registers.

    A file runs once, and later calls return the same names. A PluginError says that the file is missing,
    fails on import or registers nothing. The error of a registry says that it refuses an item.
    """
    file = Path(path).expanduser().resolve()
    if file in _PLUGINS:
        return _PLUGINS[file]
    if file.suffix != ".py" or not file.is_file():
        raise PluginError(
            f"The plugin {str(path)!r} cannot be loaded",
            expected="an existing Python file",
            got="another kind of file" if file.is_file() else "no such file",
            remedy="correct the path; in an experiment file it is relative to that file",
        )
    for home in _HOMES:
        importlib.import_module(home)
    for registry in _REGISTRIES:
        registry._discover()  # built-in names first, so that the plugin is to blame for a name taken twice
    before = [dict(registry._items) for registry in _REGISTRIES]
    try:
        with contextlib.chdir(Path.cwd()):  # it may change the folder that other paths are relative to
            _run_file(file)
    except (Exception, SystemExit) as problem:
        for registry, items in zip(_REGISTRIES, before, strict=True):
            registry._items = items
        if isinstance(problem, BetabenchError):
            raise
        raise PluginError(
            f"The plugin {str(path)!r} fails on import",
            got=f"{type(problem).__name__}: {problem}",
            remedy=f"make 'python {file.name}' run without an error",
        ) from problem
    names = {
        registry.kind: added
        for registry, items in zip(_REGISTRIES, before, strict=True)
        if (added := tuple(sorted(registry._items.keys() - items.keys())))
    }
    if not names:
        raise PluginError(
            f"The plugin {str(path)!r} registers nothing",
            expected="a technique, metric, classifier or kind of bias with a decorator that registers it",
            got="none",
            remedy="put @register above each class, and @metric(...) above each metric",
        )
    _PLUGINS[file] = names
    return names


def plugin_modules() -> list[ModuleType]:
    """Return the modules of the files that were loaded."""
    return [module for name, module in sys.modules.items() if name.startswith(_MODULE)]


def class_flaws(item: type, base: type, *texts: str) -> list[str]:
    """Return a class's flaws, one sentence each: a wrong base, missing methods, attributes without text."""
    if not (isinstance(item, type) and issubclass(item, base)):
        return [f"it is not a subclass of {base.__name__}"]
    missing = sorted(getattr(item, "__abstractmethods__", ()))
    flaws = [f"it is abstract: {', '.join(missing)} not implemented"] if missing else []
    for name in texts:
        text = getattr(item, name, None)
        if not isinstance(text, str) or not text.strip():
            flaws.append(f"its class attribute {name!r} is not a text")
    return flaws


def _run_file(file: Path) -> None:
    # The hash of the path distinguishes two files with one name, and is the same in every worker.
    digest = hashlib.sha256(str(file).encode()).hexdigest()[:8]
    module_name = f"{_MODULE}{file.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # annotations are resolved through it
    # Modules beside the file are found, as 'python FILE' finds them, but never in place of an installed one.
    beside = str(file.parent)
    if is_new := beside not in sys.path:
        sys.path.append(beside)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        if is_new:
            sys.path.remove(beside)
        raise


def _describe(item: object) -> str:
    named = item if isinstance(item, type) else type(item)
    return f"{named.__module__}.{named.__qualname__}"
