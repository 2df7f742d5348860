"""Words for facts: one table of words, and one template for each question, which gives Markdown.

``words.toml`` has a label, a clause and a meaning for each verdict and reason. Templates take facts only. The
page shows their Markdown as HTML (:func:`as_html`), the terminal by rich. Text from outside, such as the name
of a technique or a dataset, is escaped wherever a template shows it.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from benchmark.facts.model import Dataset, Estimate, Facts, Reason, Scenario
from benchmark.text import markdown, words


@functools.cache
def vocabulary() -> Mapping[str, Any]:
    """Return the table of words: goals, roles, verdicts and reasons, each by its code."""
    return tomllib.loads(files(__name__).joinpath("words.toml").read_text(encoding="utf-8"))


def render(template: str, facts: Facts, **more: object) -> str:
    """Return the Markdown of a template in ``benchmark/wording/templates``, given facts and other values.

    A missing value is an error.
    """
    return _environment().get_template(f"{template}.md.j2").render(_Words(facts).values, **more)


def as_html(text: str) -> str:
    """Return Markdown as HTML; HTML in it is shown, not used."""
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def reason_text(reason: Reason, form: str = "label") -> str:
    """Return a reason as a label or a clause, with its arguments."""
    return str(_phrase(vocabulary()["reason"][reason.code][form]).render(reason.args))


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("benchmark.wording"),
        autoescape=True,  # so that macros return markup, which is not escaped again
        undefined=StrictUndefined,
        finalize=_escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {name: _safe(shown) for name, shown in _FILTERS.items()}
    return environment


@functools.cache
def _phrase(text: str) -> Any:
    # Phrases stand in a template, which escapes them.
    phrases = Environment(undefined=StrictUndefined)
    phrases.filters |= _FILTERS
    return phrases.from_string(text)


def _escaped(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return Markup(markdown.plain(value))


def _safe(shown: Callable[..., str]) -> Callable[..., Markup]:
    return lambda *arguments, **settings: Markup(shown(*arguments, **settings))


def _number(value: float | None, digits: int = 3) -> str:
    """Return a number without the zero before its point: ``".037"``."""
    return words.short(value, digits)


def _share(value: float | None) -> str:
    return words.share(math.nan if value is None else value)


def _signed(value: float | None, digits: int = 3) -> str:
    """Return a change with its sign: ``"+.037"``, ``"-.037"``."""
    text = words.short(value, digits)
    return text if value is None or text.startswith("-") or float(text) == 0 else f"+{text}"


def _interval(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a mean with its interval in brackets, if it has one."""
    shown = _signed if signed else _number
    if estimate.mean is None or estimate.low is None:
        return shown(estimate.mean)
    return f"{shown(estimate.mean)} [{shown(estimate.low)}, {shown(estimate.high)}]"


def _listed(names: list[str], most: int = 6) -> str:
    return words.few(list(names), most)


def _code(text: object) -> str:
    return markdown.code(text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_FILTERS: Mapping[str, Callable[..., str]] = {
    "code": _code,
    "interval": _interval,
    "number": _number,
    "p": lambda value: words.p_value(math.nan if value is None else value),
    "share": _share,
    "signed": _signed,
}


class _Words:
    """The values and functions that every template has, for some facts."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._titles = {technique.name: technique.title for technique in facts.techniques}
        self._datasets = {dataset.name: dataset for dataset in facts.datasets}
        several = "β" if facts.run.level_name == "beta" else "doses"
        self.values: dict[str, Any] = {
            "facts": facts,
            "run": facts.run,
            **{f"{kind}s": meanings for kind, meanings in vocabulary().items()},
            "title": self._titles.__getitem__,
            "level": self._level,
            "level_sign": words.LEVEL_SIGNS[facts.run.level_name],
            "levels_sign": several,
            "label": reason_text,
            "clause": functools.partial(reason_text, form="clause"),
            "dataset": self._dataset,
            "capital": _capital,
            "few": _listed,
        }

    def _level(self, *levels: float) -> str:
        return words.level_text(self._facts.run.level_name, *levels)

    def _dataset(self, scenario: Scenario) -> Dataset:
        return self._datasets[scenario.dataset]
