"""From a dataset card to a verified, coded table with roles.

Tables are imported here. Cards are in :mod:`benchmark.data.card` and files in :mod:`benchmark.data.load`, so
that techniques, which need tables only, do not wait for the checks of cards.
"""

from benchmark.data.table import Column, FeatureSchema, Schema, Table

__all__ = ["Column", "FeatureSchema", "Schema", "Table"]
