"""Statistics of a run with other baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.columns import UNTREATED
from benchmark.errors import ReportError
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.baselines import baselines_of
from benchmark.runs.verdicts import verdicts
from benchmark.statistics.cells import Baselines, require_known, to_cells

MOST_NAMED = 5
"""How many baselines can be named besides those of every run."""


def with_each_baseline(statistics: RunStatistics, named: Sequence[str] = ()) -> list[RunStatistics]:
    """Return the statistics with each baseline that a reader of the page can choose.

    The given statistics come first. Then, as far as they differ, come those with the baselines that the run
    declares, with doing nothing, and with each technique of ``named``. Errors are those of
    :func:`require_choosable`.
    """
    require_choosable(statistics, named)
    run, everything = statistics.run, statistics.everything
    untreated = [UNTREATED] if (everything["technique"] == UNTREATED).any() else []
    several = [statistics]
    for name in (None, *untreated, *named):
        baselines = baselines_of(run, everything, name)
        if all(baselines.by != other.baselines.by for other in several):
            several.append(with_baselines(statistics, baselines))
    return several


def require_choosable(statistics: RunStatistics, named: Sequence[str]) -> None:
    """Raise an error unless a reader can choose the named baselines.

    More than :data:`MOST_NAMED` are a ReportError, and techniques that the run lacks an UnknownNameError.
    """
    if len(set(named)) > MOST_NAMED:
        raise ReportError(
            "The page would carry too many baselines",
            expected=f"at most {MOST_NAMED} besides those of the run and doing nothing",
            got=f"{len(set(named))}: {', '.join(dict.fromkeys(named))}",
            remedy="name fewer with --page-baselines, or make another report with --baseline",
        )
    require_known("technique", named, statistics.everything["technique"])


def with_baselines(statistics: RunStatistics, baselines: Baselines) -> RunStatistics:
    """Return statistics with the comparisons and answers for other baselines; all else stays."""
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
