"""The gaps between the groups of every attribute, and how techniques change them."""

from __future__ import annotations

from benchmark.facts.model import Estimate, Gap
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import records


def gaps(statistics: RunStatistics) -> tuple[Gap, ...]:
    """Return the gaps in each rate; none if the run told groups of one attribute apart."""
    return tuple(
        Gap(
            scenario=i,
            level=row.beta,
            metric=row.metric,
            attribute=row.attribute,
            technique=row.technique,
            gap=row.gap,
            change=Estimate(mean=row.difference, low=row.difference_low, high=row.difference_high),
            wider=row.wider,
        )
        for i, scenario in enumerate(statistics.scenarios)
        for row in records(scenario.rows(statistics.groups))
    )
