"""The environment of the templates: whatever comes from outside is text, never markup."""

from __future__ import annotations

import functools
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from benchmark.text.words import number, printable

__all__ = ["render"]


def render(template: str, **values: object) -> str:
    """Return a page.

    Parameters
    ----------
    template : str
        Name of a file in ``benchmark/pages/templates``.
    **values : object
        What it shows. All of it is escaped, and characters that are not printable are replaced, except in
        :class:`markupsafe.Markup`. A name that the template uses and that is missing is an error.
    """
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("benchmark.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(count=_count, general=_general, number=number, percent=_percent)
    return environment


def _finalize(value: Any) -> Any:
    return value if isinstance(value, Markup) else printable(value)


def _count(value: float) -> str:
    """Return a count, or a sum of weights: ``"1,200"``, ``"1,200.5"``."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _general(value: float, digits: int = 6) -> str:
    """Return a number without zeros at its end: ``"0.8"``."""
    return f"{value:.{digits}g}"


def _percent(share: float) -> str:
    """Return a share in percent: ``"12.5 %"``."""
    return f"{100 * share:.1f} %"
