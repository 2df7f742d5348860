"""Statistics of results: pure functions from tidy frames to tidy frames.

Intervals and p-values reflect variation between training samples only; the test set and the learned network
are fixed.

Every function takes ``results`` as a frame of the columns :data:`~benchmark.columns.RESULT_COLUMNS`, or as
:class:`~benchmark.statistics.cells.Cells` made of one. ``goals`` are the ideal and direction of each metric,
as in :func:`benchmark.metrics.list_metrics`. A StatisticsError says that results are malformed or a setting
is impossible. An UnknownNameError says that a name has no results, or a metric no goal.
"""
