"""Results and values without a number, by reason."""

from __future__ import annotations

import pandas as pd

from benchmark.facts.model import Missing


def missing(failures: pd.DataFrame) -> tuple[Missing, ...]:
    """Return each status and reason with its number of results or values, the most frequent first."""
    groups = [
        Missing(
            status=str(status),
            reason=str(reason),
            count=len(rows),
            techniques=tuple(rows["technique"].unique()),
            datasets=tuple(rows["dataset"].unique()),
            levels=tuple(sorted(map(float, rows["beta"].unique()))),
            metrics=tuple(name for name in rows["metric"].unique() if name),
        )
        for (status, reason), rows in failures.groupby(["status", "reason"], sort=False)
    ]
    return tuple(sorted(groups, key=lambda group: -group.count))
