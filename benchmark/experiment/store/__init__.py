"""The store: one SQLite file that holds every finished cell.

Transactions write whole cells, so that a kill at any moment leaves a valid file. Each cell has a checksum, so
that a damaged cell is never taken for a result. :mod:`benchmark.experiment.keys` makes the cells' keys.
"""

from benchmark.experiment.store.cell import CellResult, MetricValue, Status, Stored
from benchmark.experiment.store.store import LastRun, Store, read_last_run

__all__ = ["CellResult", "LastRun", "MetricValue", "Status", "Store", "Stored", "read_last_run"]
