"""The largest label gap that each kind of bias adds to each dataset: the table in ``docs/adding/bias.md``.

``python -m tools.doses`` writes it anew from the real data; ``tests/tools/test_doses.py`` holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmark.bias import Rows, make_bias
from benchmark.bias.borderline import nearness_to_boundary
from benchmark.bias.doses import Dose, solve_doses
from benchmark.data.card import Card, load_card
from benchmark.data.load import load_dataset
from benchmark.declarations import list_declarations
from benchmark.errors import BiasError
from benchmark.seeding import generator
from benchmark.text import markdown
from studies.pages import with_part

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "adding" / "bias.md"

KINDS = ("label", "selection", "malicious_selection", "borderline", "score")
"""Kinds whose defaults add to the label gap; ``under_representation`` adds what ``selection`` does."""

DOSES = (0.05, 0.10, 0.20)
OUT_OF_REACH = 1.0  # no bias adds as much: what is solved says the most that it adds

_BEGIN, _END = "<!-- doses: python -m tools.doses -->", "<!-- doses end -->"


def solved(card: Card) -> Iterator[tuple[str, tuple[Dose, ...]]]:
    """Yield each kind that can be dosed in a dataset's real rows, and its solved doses.

    They are those of :data:`DOSES`, and :data:`OUT_OF_REACH`.
    """
    found = load_dataset(card)
    lots = generator(0, purpose="borderline", dataset=card.name)
    rows = Rows.of(found.table, found.score, nearness_to_boundary(found.table, lots), found.judged)
    for kind in KINDS:
        try:
            yield kind, solve_doses(make_bias(kind).expectations_in_rows(rows), (*DOSES, OUT_OF_REACH))
        except BiasError:
            if kind != "score" or card.score is not None:
                raise


def table() -> dict[str, dict[str, tuple[Dose, ...]]]:
    """Return the solved doses of each shipped dataset, by dataset and by kind of bias."""
    return {name: dict(solved(load_card(name))) for name in list_declarations("datasets")}


def most_added(doses: tuple[Dose, ...]) -> str:
    """Return the most that a bias adds, as the page writes it: rounded down, so that it can be reached."""
    return f"{int(doses[-1].gap * 1000 + 1e-6) / 1000:.3f}"


def as_markdown(found: dict[str, dict[str, tuple[Dose, ...]]]) -> str:
    """Return the table of the page."""
    rows = [
        [f"`{name}`", *(most_added(kinds[kind]) if kind in kinds else "–" for kind in KINDS)]
        for name, kinds in found.items()
    ]
    return markdown.table(["dataset", *(f"`{kind}`" for kind in KINDS)], rows)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(text, _BEGIN, f"\n{as_markdown(table())}\n", _END), encoding="utf-8")
