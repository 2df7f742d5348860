"""Reasons for missing numbers."""

from __future__ import annotations

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable


def section(statistics: RunStatistics) -> Section:
    """Return every reason for missing results or values, the most frequent first."""
    run = statistics.run
    failures = statistics.failures
    title = "Missing results"
    if failures.empty:
        return Section("failures", title, ("Every cell has a result, and every metric a value.",))
    groups = [rows for _, rows in failures.groupby(["status", "reason"], sort=False)]
    kinds = {"metric": "metrics", **({"test": "tests"} if run.tests_note else {})}
    rows = [
        [
            rows["reason"].iloc[0],
            rows["status"].iloc[0].replace("_", " "),
            f"{len(rows):,}",
            # Titles have commas.
            "; ".join(run.titles.get(name) or name for name in rows["technique"].unique()),
            ", ".join(rows["dataset"].unique()),
            ", ".join(f"{beta:g}" for beta in sorted(rows["beta"].unique())),
            *(", ".join(name or "all" for name in rows[kind].unique()) for kind in kinds),
        ]
        for rows in sorted(groups, key=len, reverse=True)
    ]
    note = f"{len(failures):,} results or values are missing. None of them counts in a mean."
    headings = ["reason", "status", "count", "techniques", "datasets", run.level_sign, *kinds.values()]
    return Section("failures", title, (note,), [Block(table=TextTable(headings, rows))])
