"""Plugins, forgotten again."""

import contextlib
import sys
from collections.abc import Iterator

from benchmark import registry


@contextlib.contextmanager
def forgetting() -> Iterator[None]:
    """Forget on leaving the plugins that were loaded inside, and what they registered."""
    before, path = set(registry._PLUGINS), list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path  # modules beside a plugin are found while it is known
        for file in registry._PLUGINS.keys() - before:
            names = registry._PLUGINS.pop(file)
            for known in registry._REGISTRIES:
                for name in names.get(known.kind, ()):
                    known._items.pop(name, None)
