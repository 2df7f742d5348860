"""The table of all sources is that of the cards and of the committed counts."""

from __future__ import annotations

from benchmark.data.card import list_cards
from tools.sources import PAGE, counted, page


def test_the_page_is_made_from_cards_and_counts() -> None:
    """``python -m tools.sources`` writes it; it needs no data."""
    assert PAGE.read_text(encoding="utf-8") == page(counted())


def test_cards_of_the_same_people_are_one_source() -> None:
    found: dict[str, list[str]] = {}
    for card in list_cards():
        found.setdefault(card.cluster, []).append(card.name)
    assert {name: cards for name, cards in found.items() if len(cards) > 1} == {
        "acs": [
            f"acs_{task}" for task in ("employment", "income", "mobility", "public_coverage", "travel_time")
        ],
        "compas": ["compas", "compas_leaky", "compas_violent", "compas_zafar", "human_recidivism"],
        "students": ["school_performance", "student_mat", "student_por"],
    }
