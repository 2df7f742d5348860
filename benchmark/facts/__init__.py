"""Facts of a finished run: what pages, Markdown, the terminal and other programs show.

To add a question, write a template of :mod:`benchmark.wording`. If no fact answers it, write a part of
:mod:`benchmark.facts.model` as well, and a function of :mod:`benchmark.facts.questions` that fills it.
"""

from benchmark.facts.all import facts_of, first_facts
from benchmark.facts.model import Facts

__all__ = ["Facts", "facts_of", "first_facts"]
