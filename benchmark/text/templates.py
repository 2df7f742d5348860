"""Environments of templates: one set of rules for pages and for words."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(package: str, **settings: Any) -> Environment:
    """Return an environment for the templates of a package, in which a missing value is an error."""
    return Environment(
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **settings,
    )
