"""The JSON schema of ``facts.json``, and the tables of codes in ``docs/facts.md``.

``python -m tools.facts_page`` writes them anew; ``tests/tools/test_facts_page.py`` holds them.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmark.facts.model import Facts
from benchmark.text import markdown
from benchmark.wording import vocabulary
from studies.pages import with_part

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "docs" / "facts.schema.json"
PAGE = ROOT / "docs" / "facts.md"

_BEGIN, _END = "<!-- codes: python -m tools.facts_page -->", "<!-- codes end -->"


def schema() -> str:
    """Return the JSON schema of the facts of a run."""
    return json.dumps(Facts.model_json_schema(), indent=1, ensure_ascii=False) + "\n"


def codes() -> str:
    """Return the tables of verdicts and reasons, with their meanings."""
    tables = []
    for kind in ("verdict", "reason"):
        rows = [[f"`{code}`", markdown.plain(text["meaning"])] for code, text in vocabulary()[kind].items()]
        tables.append(markdown.table([kind, "meaning"], rows))
    return "\n\n".join(tables)


def with_codes(page: str) -> str:
    """Return the page with the present tables."""
    return with_part(page, _BEGIN, f"\n{codes()}\n", _END)


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
    PAGE.write_text(with_codes(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
