"""The store: one SQLite file that holds every finished cell.

It is written in transactions of whole cells, so that a kill at any moment leaves a valid file. Each cell has
a checksum: what a failing disk has changed is never taken for a result. What a cell's key covers is decided
in :mod:`benchmark.experiment.prepare`.
"""

from __future__ import annotations

from benchmark.experiment.store.cell import CellResult, MetricValue, Status, Stored
from benchmark.experiment.store.last_run import LastRun, read_last_run
from benchmark.experiment.store.store import Store

__all__ = ["CellResult", "LastRun", "MetricValue", "Status", "Store", "Stored", "read_last_run"]
