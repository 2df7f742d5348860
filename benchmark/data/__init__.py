"""From a dataset card to a verified, coded table with roles."""

from benchmark.data.card import Card, list_cards, load_card
from benchmark.data.load import Dataset, load_dataset
from benchmark.data.source import DataNotFoundError
from benchmark.data.table import Column, Schema, Table

__all__ = [
    "Card",
    "Column",
    "DataNotFoundError",
    "Dataset",
    "Schema",
    "Table",
    "list_cards",
    "load_card",
    "load_dataset",
]
