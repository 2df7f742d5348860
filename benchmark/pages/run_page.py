"""The page of a run: one document with its own style, scripts and facts."""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchmark.columns import BLIND
from benchmark.facts import Facts
from benchmark.facts.model import Answers, Level, Scenario
from benchmark.pages.html import boxed, in_script, render, scripts
from benchmark.text.words import LEVEL_SIGNS
from benchmark.text.writing import write_atomically
from benchmark.wording import PARTS, as_html, macro, reason_text, standing_texts, vocabulary
from benchmark.wording import render as render_text
from benchmark.wording.overview import Case

PAGE_NAME = "report.html"
"""Name of the page in a run's folder."""

READING_NAME = "reading.md"
"""Name of the account of how a file without a card was read, in the folder of its first look."""

KNOWN_NAME = "known.md"
"""Name of what is known of the bias in a first look's labels, which its page begins with."""

_SCRIPTS = ("elements.js", "view.js", "tables.js", "picture.js")


def write_page(facts: Facts, folder: Path) -> Path:
    """Write a run's interactive page, ``report.html``, to a folder, and return its path.

    The page has about 5 megabytes, nearly all of it the plotting library. It loads nothing: it works from a
    disk, from an attachment and without a network. Its folder's :data:`READING_NAME` is among the data. The
    same facts in the same folder give the same bytes.
    """
    path = folder / PAGE_NAME
    programs = [scripts(_SCRIPTS), _plotly()]
    reading = folder / READING_NAME
    more = {"data": [reading.read_text(encoding="utf-8")]} if reading.is_file() else {}
    known = folder / KNOWN_NAME
    parts = {name: _part(facts, questions, more.get(name, [])) for name, questions in PARTS.items()}
    page = render(
        "run.html",
        title=facts.run.title,
        run=facts.run,
        embedded=[dataset.title for dataset in facts.datasets if dataset.embedded],
        known=boxed(known.read_text(encoding="utf-8")) if known.is_file() else "",
        level_sign=LEVEL_SIGNS[facts.run.level_name],
        frontier=any(scenario.frontier for scenario in facts.scenarios),
        vocabulary=vocabulary(),
        told=any(technique.knows != BLIND for technique in facts.techniques),
        parts={name: html for name, html in parts.items() if html},
        facts=in_script(facts.model_dump_json()),
        words=in_script(json.dumps(_words(facts), ensure_ascii=False, separators=(",", ":"))),
        scripts=[*map(Markup, programs)],
        digests=[b64encode(sha256(program.encode()).digest()).decode() for program in programs],
    )
    return write_atomically(path, page)


def _part(facts: Facts, questions: Sequence[str], more: Sequence[str]) -> Markup:
    texts = [text for question in questions if (text := render_text(question, facts)).strip()]
    return boxed("\n\n".join([*more, *texts]))


def _words(facts: Facts) -> dict[str, Any]:
    """Return all words of the scripts: the table of words, and what is said of each scenario and level."""
    table = vocabulary()
    titles = {technique.name: technique.full_title for technique in facts.techniques}
    sentence, told_line = (macro("headline", name, facts) for name in ("answer", "told_line"))
    scenario_notes, level_notes = (macro("level", name, facts) for name in ("scenario_notes", "level_notes"))

    def said(scenario: Scenario, answers: Answers, level: Level) -> dict[str, Any]:
        case = Case(scenario, answers, level)
        told = f"\n\n**{table['told']['heading']}:**\n\n{told_line(case.goal, [case])}" if case.told else ""
        return {
            "sentence": as_html(sentence(case) + told),
            "notes": as_html(level_notes(level)),
            "reason": reason_text(level.reason) if level.reason else "",
            "texts": [
                standing_texts(standing, answers.goal, titles.__getitem__) for standing in level.techniques
            ],
        }

    return {
        **{kind: table[kind] for kind in ("verdict", "role", "goal", "shown", "constant")},
        "level": LEVEL_SIGNS[facts.run.level_name],
        "titles": titles,
        "notes": [as_html(scenario_notes(scenario)) for scenario in facts.scenarios],
        "said": [
            [[said(scenario, answers, level) for level in answers.levels] for answers in scenario.answers]
            for scenario in facts.scenarios
        ],
    }


def _plotly() -> str:
    """Return the plotting library, without the import of its package, which takes a second."""
    path = distribution("plotly").locate_file("plotly/package_data/plotly.min.js")
    library = Path(str(path)).read_text(encoding="utf-8")
    # Brackets save a quarter of the library's start: browsers do not skim a function in brackets before they
    # call it. A version with another wrapper stays as it is.
    library = re.sub(r"\A(.{,999}?this, )(\(\) => \{.*\})\)\);\s*\Z", r"\1(\2)));", library, flags=re.DOTALL)
    # No version so far has these. They would end the element or change its meaning.
    return library.replace("</script", "<\\/script").replace("<!--", "<\\!--")
