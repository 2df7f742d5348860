"""Agreement of classifiers on the techniques."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable

READING = (
    "τ is Kendall's, of techniques' mean distances to the ideal with two classifiers on the same rows. It is "
    "a mean over datasets and levels of bias. In brackets is τ of one classifier between halves of its "
    "repetitions; noise alone keeps it below 1.",
    "A change is shown if its 95 % interval, without any correction, excludes 0. The columns count the "
    "changes shown with the first classifier, the second, both, and both in opposite directions. "
    "agreement.csv has each change.",
)


def section(statistics: RunStatistics) -> Section | None:
    """Return the agreement of classifiers in each metric, if there are several."""
    if statistics.agreement.empty:
        return None
    return Section(
        "agreement",
        "Whether classifiers agree",
        READING,
        list(_blocks(statistics)),
        files={"agreement": "ranks of techniques with two classifiers, and changes shown with both"},
    )


def _blocks(statistics: RunStatistics) -> Iterator[Block]:
    for (metric, test), table in statistics.agreement.groupby(["metric", "test"], sort=False):
        rows = []
        for (first, second), pairs in table.groupby(["first", "second"], sort=False):
            both, opposite, only_first, only_second = (
                int(pairs[name].sum()) for name in ("both", "opposite", "only_first", "only_second")
            )
            tau = f"{pairs['tau'].mean():.2f} ({pairs['halves'].mean():.2f})"
            counts = (both + opposite + only_first, both + opposite + only_second, both, opposite)
            rows.append([f"{first}, {second}", tau, *map(str, counts)])
        headings = ["classifiers", "τ", "first", "second", "both", "opposite"]
        yield Block(statistics.title(str(metric), str(test)), table=TextTable(headings, rows))
