"""The store: one SQLite file that holds every finished cell.

It is written in one transaction per block, so that a kill at any moment leaves a valid file without half a
block in it. Each cell has a checksum: what a failing disk has changed is never taken for a result. What a
cell's key covers is decided in :mod:`benchmark.experiment.world`.
"""

from __future__ import annotations

from benchmark.experiment.store.cell import CellResult, MetricValue, Status, Stored
from benchmark.experiment.store.store import Store

__all__ = ["CellResult", "MetricValue", "Status", "Store", "Stored"]
