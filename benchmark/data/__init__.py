"""From a dataset card to a verified, coded table with roles.

Tables are here; cards are in :mod:`benchmark.data.card` and files in :mod:`benchmark.data.load`, because who
needs a table only, as every technique does, need not wait for what checks a card.
"""

from benchmark.data.table import Column, FeatureSchema, Schema, Table

__all__ = ["Column", "FeatureSchema", "Schema", "Table"]
