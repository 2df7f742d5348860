"""Statistics of results: pure functions from tidy frames to tidy frames.

Intervals and p-values reflect variation between training samples only; the test set and the learned network
are fixed.

Every function takes ``results`` as a frame of the columns :data:`~benchmark.columns.RESULT_COLUMNS`, or as
:class:`~benchmark.statistics.cells.Cells` made of one. ``goals`` are the ideal and direction of each metric,
as in :func:`benchmark.metrics.list_metrics`. ``confidence`` is the coverage of intervals. A StatisticsError
says that results are malformed or a setting is impossible. An UnknownNameError says that a name has no
results, or a metric no goal.
"""

from benchmark.statistics.across import rank_table
from benchmark.statistics.cells import Goal, distance
from benchmark.statistics.decisions import restoration_values
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.paired import paired_comparisons
from benchmark.statistics.pareto_front import pareto_fronts
from benchmark.statistics.restoration import pooled_shares, restoration_table, undo_table
from benchmark.statistics.unprocessing import best_frontiers, frontier_gaps

__all__ = [
    "Goal",
    "best_frontiers",
    "cell_intervals",
    "distance",
    "frontier_gaps",
    "paired_comparisons",
    "pareto_fronts",
    "pooled_shares",
    "rank_table",
    "restoration_table",
    "restoration_values",
    "undo_table",
]
