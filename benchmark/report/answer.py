"""The answer of a run as Markdown for the terminal."""

from __future__ import annotations

from benchmark.facts.model import Facts
from benchmark.text.terminal import WIDTH, as_text
from benchmark.wording import render

LINES = 28
"""Lines of an answer, if its warnings leave that many."""

_MOST_ROWS, _LEAST_ROWS = 12, 3  # techniques in the table


def answer_text(
    facts: Facts, template: str = "terminal", *, width: int = WIDTH, full: bool = False, **more: object
) -> str:
    """Return the answer as Markdown for a number of columns.

    Its table has as many techniques as :data:`LINES` allow. With ``full``, all levels of bias follow.
    ``more`` are values of the template besides the facts: the ``folder`` of the run, the ``page`` with all
    numbers, and how a file was ``read``.
    """
    values = {"folder": "", "page": "", "read": None, "wide": width >= WIDTH, **more}
    for rows in range(_MOST_ROWS, _LEAST_ROWS - 1, -1):
        text = render(template, facts, **values, most_rows=rows, full=False)
        if len(as_text(text, width).splitlines()) <= LINES:
            break
    return render(template, facts, **values, most_rows=rows, full=True) if full else text
