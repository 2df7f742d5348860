"""The statistics of a run where its techniques are compared with another baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.columns import UNTREATED
from benchmark.errors import ReportError, UnknownNameError
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.baselines import baselines_of
from benchmark.runs.verdicts import verdicts
from benchmark.statistics.cells import Baselines, to_cells

MOST_NAMED = 5
"""How many baselines can be named besides those that every run offers."""


def with_each_baseline(statistics: RunStatistics, named: Sequence[str] = ()) -> list[RunStatistics]:
    """Return the statistics with each baseline that a reader of the page can choose.

    First come those given, then, as far as they differ from these, those with the baselines that the run
    declares, with doing nothing, and with each technique of ``named``.

    Errors are those of :func:`require_choosable`.
    """
    require_choosable(statistics, named)
    run, everything = statistics.run, statistics.everything
    untreated = [UNTREATED] if (everything["technique"] == UNTREATED).any() else []
    found = [statistics]
    for name in (None, *untreated, *named):
        baselines = baselines_of(run, everything, name)
        if all(baselines.by != own.baselines.by for own in found):
            found.append(with_baselines(statistics, baselines))
    return found


def require_choosable(statistics: RunStatistics, named: Sequence[str]) -> None:
    """Check the baselines that are named for a reader to choose.

    Raises
    ------
    ReportError
        If more than :data:`MOST_NAMED` are named.
    UnknownNameError
        If the run has no technique of a name.
    """
    if len(set(named)) > MOST_NAMED:
        raise ReportError(
            "The page would carry too many baselines",
            expected=f"at most {MOST_NAMED} besides those of the run and doing nothing",
            got=f"{len(set(named))}: {', '.join(dict.fromkeys(named))}",
            remedy="name fewer with --page-baselines, or make another report with --baseline",
        )
    known = statistics.everything["technique"].unique()
    for name in named:
        if name not in known:
            raise UnknownNameError("technique", name, known)


def with_baselines(statistics: RunStatistics, baselines: Baselines) -> RunStatistics:
    """Return statistics whose comparisons and answers are those with other baselines; all else stays."""
    concluded = verdicts(
        statistics.run,
        statistics.everything,
        to_cells(statistics.results, statistics.resampling),
        baselines,
        goals=statistics.goals,
        standing=statistics.standing,
        frontier_gaps=statistics.frontier_gaps,
        alpha=statistics.alpha,
        criteria=statistics.criteria,
        resampling=statistics.resampling,
        undo=statistics.undo,
    )
    return replace(statistics, baselines=baselines, **concluded._asdict())
