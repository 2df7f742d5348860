"""The table of all sources in ``docs/sources.md``.

``python -m tools.sources`` writes it anew from the cards and from the counts in ``tools/sources.csv``,
without data. ``python -m tools.sources NAME...`` counts the rows of these datasets first, from their files.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmark.data.card import Card, list_cards, load_card
from benchmark.data.load import Dataset, load_dataset
from benchmark.text.markdown import code, plain, table
from benchmark.text.writing import write_atomically

__all__ = ["COUNTS", "PAGE", "Counts", "count", "counted", "first_of_sources", "page"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "sources.md"
COUNTS = Path(__file__).with_suffix(".csv")

_HEAD = (
    *("dataset", "field", "country", "years", "rows", "favorable label", "deprived group", "its rate"),
    *("rate of the others", "license", "what it must not be used for"),
)


class Counts(NamedTuple):
    """Rows of a dataset by group and label."""

    deprived_favorable: int
    deprived_unfavorable: int
    favored_favorable: int
    favored_unfavorable: int
    digest: str  # the first 16 hexadecimal digits of the digest of the coded rows

    @property
    def rates(self) -> tuple[float, float]:
        """Share of the favorable label in the deprived and in the favored group."""
        return self[0] / (self[0] + self[1]), self[2] / (self[2] + self[3])


def counted() -> dict[str, Counts]:
    """Return the committed counts by dataset."""
    with COUNTS.open(encoding="utf-8", newline="") as file:
        return {
            name: Counts(*map(int, numbers), digest) for name, *numbers, digest in [*csv.reader(file)][1:]
        }


def first_of_sources(names: Sequence[str]) -> list[str]:
    """Return the first dataset of each source: datasets of one cluster share people."""
    first = {load_card(name).cluster: name for name in reversed(names)}
    return [name for name in names if name in first.values()]


def count(dataset: Dataset) -> Counts:
    """Return the counts of a loaded dataset."""
    data = dataset.table
    groups = (
        (data.deprived, data.y),
        (data.deprived, ~data.y),
        (~data.deprived, data.y),
        (~data.deprived, ~data.y),
    )
    return Counts(*(int((group & label).sum()) for group, label in groups), data.digest[:16])


def page(counts: Mapping[str, Counts]) -> str:
    """Return the page, with a line for each card that has been counted."""
    cards = [card for card in list_cards() if card.name in counts]
    cards.sort(key=lambda card: (card.field, card.cluster, card.name))
    sources = Counter(card.cluster for card in cards)
    better = [code(card.name) for card in cards if counts[card.name].rates[0] > counts[card.name].rates[1]]
    blocks = [
        "<!-- Written by python -m tools.sources -->\n# All sources",
        f"These are {len(cards)} datasets from {len(sources)} sources. Datasets that share people are one "
        "source, which counts once in a test over sources: one cluster.",
        "A gap was one of the reasons to take 33 of these sources. The deprived group is the one with the "
        "lower "
        "rate in these rows. So gaps are positive by construction: their number and size say nothing about "
        f"data at large. Exceptions are datasets of the literature: {', '.join(better)}.",
        "Thresholds that cut a number into a label are ours where the card's known problems say so.",
        table(_HEAD, (_row(card, counts[card.name], sources) for card in cards)),
    ]
    return "\n\n".join(blocks) + "\n"


def _row(card: Card, counts: Counts, sources: Mapping[str, int]) -> tuple[str, ...]:
    shared = f", people of {code(card.cluster)}" if sources[card.cluster] > 1 else ""
    return (
        f"[{plain(card.title)}](../datasets/{card.name}.toml){shared}",
        *map(plain, (card.field, card.country, card.years)),
        f"{sum(counts[:4]):,}",
        code(f"{card.label} = {card.favorable_label}"),
        code(f"{card.sensitive_feature} = {card.roles['deprived_group']}"),
        *(f"{100 * rate:.1f} %" for rate in counts.rates),
        *map(plain, (card.licence, card.not_for)),
    )


if __name__ == "__main__":
    cards = {card.name: card for card in list_cards()}
    known = counted() if COUNTS.exists() else {}
    known |= {name: count(load_dataset(cards[name])) for name in sys.argv[1:]}
    known = {name: known[name] for name in sorted(known.keys() & cards.keys())}
    lines = [("dataset", *Counts._fields), *((name, *map(str, counts)) for name, counts in known.items())]
    write_atomically(COUNTS, "".join(",".join(line) + "\n" for line in lines).encode())
    write_atomically(PAGE, page(known).encode())
