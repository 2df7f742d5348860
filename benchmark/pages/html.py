"""Pages in HTML: text from outside is never markup."""

import functools
import re
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from benchmark.text.markdown import environment
from benchmark.text.words import printable
from benchmark.wording import as_html


def render(template: str, **values: object) -> str:
    """Return a page from a template in ``benchmark/pages/templates`` and its values.

    All values are escaped, and characters that are not printable are replaced, except in
    :class:`markupsafe.Markup`. A missing value is an error.
    """
    return _environment().get_template(template).render(values)


def document(text: str) -> str:
    """Return Markdown as a page that loads and runs nothing: titled by its first heading, with its parts."""
    html = str(boxed(text))
    title, *parts = (_bare(heading) for heading in re.findall(r"<h[12]>(.*?)</h[12]>", html))
    for i in range(len(parts)):
        html = html.replace("<h2>", f'<h2 id="part{i}">', 1)
    return render("document.html", title=title, parts=parts, html=Markup(html))


def boxed(text: str) -> Markup:
    """Return Markdown as HTML whose tables are in boxes, named by their headings, with a name in each row.

    Boxes and code scroll by keyboard.
    """
    heading, labels = Markup("Table"), Counter[str]()

    def replaced(match: re.Match[str]) -> str:
        nonlocal heading
        if match["heading"] is not None:
            heading = _bare(match["heading"])
            return match[0]
        if match[0] != "<table>":
            return {"<pre>": '<pre tabindex="0">'}.get(match[0], "</table></div>")
        labels[heading] += 1
        label = heading if labels[heading] == 1 else f"{heading}, {labels[heading]}"
        return f'<div class="box" tabindex="0" role="region" aria-label="{label}"><table>'

    html = re.sub(r"<h\d>(?P<heading>.*?)</h\d>|<pre>|</?table>", replaced, as_html(text))
    return Markup(re.sub(r"(<tr>\s*)<td(.*?)</td>", r'\1<th scope="row"\2</th>', html))


def scripts(names: Iterable[str]) -> str:
    """Return the scripts of some names in ``benchmark/pages/static``, one after the other."""
    static = files(__package__).joinpath("static")
    return "".join((static / name).read_text(encoding="utf-8") for name in names)


def in_script(content: str) -> Markup:
    """Return JSON for a script element: nothing in it can end the element or open a comment."""
    return Markup(content.replace("<", "\\u003c"))


def _bare(html: str) -> Markup:
    return Markup(re.sub(r"<[^>]*>", "", html))


@functools.cache
def _environment() -> Environment:
    return environment(
        "benchmark.pages",
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
        keep_trailing_newline=True,
    )
