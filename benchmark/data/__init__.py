"""From a dataset card to a verified, coded table with roles."""

from benchmark.data.table import Column, Schema, Table

__all__ = ["Column", "Schema", "Table"]
