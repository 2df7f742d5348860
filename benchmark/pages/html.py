"""The environment of the templates: text from outside is never markup."""

from __future__ import annotations

import functools
import os
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from benchmark.text.templates import environment
from benchmark.text.words import number, printable


def render(template: str, **values: object) -> str:
    """Return a page from a template in ``benchmark/pages/templates`` and its values.

    All values are escaped, and characters that are not printable are replaced, except in
    :class:`markupsafe.Markup`. A missing value is an error.
    """
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> Environment:
    templates = environment(
        "benchmark.pages", autoescape=True, finalize=_finalize, keep_trailing_newline=True
    )
    templates.filters.update(
        address=_address,
        count=_count,
        general=_general,
        number=number,
        percent=_percent,
    )
    return templates


def _finalize(value: Any) -> Any:
    return value if isinstance(value, Markup) else printable(value)


def _address(path: str) -> str:
    """Return a path as a link relative to the page."""
    # Without the dot, a name with a colon would be another address.
    return f"./{quote(os.fsencode(path))}"


def _count(value: float) -> str:
    """Return a count, or a sum of weights: ``"1,200"``, ``"1,200.5"``."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _general(value: float, digits: int = 6) -> str:
    """Return a number without zeros at its end: ``"0.8"``."""
    return f"{value:.{digits}g}"


def _percent(share: float) -> str:
    """Return a share in percent: ``"12.5 %"``."""
    return f"{100 * share:.1f} %"
