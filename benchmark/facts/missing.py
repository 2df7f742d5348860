"""Results and values without a number, by reason."""

from __future__ import annotations

import re

import pandas as pd

from benchmark.facts.model import Missing

# Reasons that differ only in these are one reason.
_NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def missing(failures: pd.DataFrame) -> tuple[Missing, ...]:
    """Return each status and reason with its number of results or values, the most frequent first."""
    alike = failures["reason"].map(lambda reason: _NUMBERS.sub("#", reason))
    groups = [
        Missing(
            status=str(status),
            reason=rows["reason"].iloc[0],
            count=len(rows),
            techniques=tuple(rows["technique"].unique()),
            datasets=tuple(rows["dataset"].unique()),
            levels=tuple(sorted(map(float, rows["beta"].unique()))),
            metrics=tuple(name for name in rows["metric"].unique() if name),
        )
        for (status, _), rows in failures.groupby(["status", alike], sort=False)
    ]
    return tuple(sorted(groups, key=lambda group: -group.count))
