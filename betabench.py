"""``import betabench`` is ``import benchmark``: each module is loaded once, and has both names."""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _SameModules(MetaPathFinder, Loader):
    """Finds ``betabench.NAME`` as ``benchmark.NAME``: a second copy would have registries of its own."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return a specification of this loader for modules below this name."""
        return ModuleSpec(fullname, self) if fullname.startswith(f"{__name__}.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of the package."""
        module = import_module(f"benchmark{spec.name.removeprefix(__name__)}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing, and give the module its own specification back, which the import has replaced."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.insert(0, _SameModules())
sys.modules[__name__] = import_module("benchmark")
