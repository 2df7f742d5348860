"""Facts of a finished run: what pages, Markdown, the terminal and other programs show.

To add a question, write a part of :mod:`benchmark.facts.model`, a function that fills it, and a template of
:mod:`benchmark.wording` that words it.
"""

from benchmark.facts.all import facts_of, first_facts
from benchmark.facts.model import Facts

__all__ = ["Facts", "facts_of", "first_facts"]
