"""The store: one SQLite file that holds every finished cell.

Transactions write whole cells, so that a kill at any moment leaves a valid file. Each cell has a checksum, so
that a damaged cell is never taken for a result. :mod:`benchmark.experiment.keys` makes the cells' keys.
"""

from benchmark.experiment.store.cell import CellResult, MetricValue, Status, Stored
from benchmark.experiment.store.last_run import LastRun, read_last_run
from benchmark.experiment.store.store import Store

__all__ = ["CellResult", "LastRun", "MetricValue", "Status", "Store", "Stored", "read_last_run"]
