"""Whether classifiers agree on the techniques."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable

READING = (
    "Kendall's τ of techniques' mean distances to the ideal between two classifiers on the same rows: mean "
    "over datasets and levels of bias, and in brackets, for comparison, τ of one classifier between halves "
    "of its own repetitions, which noise alone keeps below 1.",
    "A change is shown where its 95 % interval lies off 0, corrected for nothing: how many are shown with "
    "the first classifier, with the second, with both, and with both to be the opposite. agreement.csv has "
    "each.",
)


def section(statistics: RunStatistics) -> Section | None:
    """Return how far classifiers agree in each metric, where there are several."""
    if statistics.agreement.empty:
        return None
    return Section(
        "agreement",
        "Whether classifiers agree",
        READING,
        list(_blocks(statistics)),
        files={
            "agreement": "whether techniques rank alike with two classifiers, and what is shown with both"
        },
    )


def _blocks(statistics: RunStatistics) -> Iterator[Block]:
    for (metric, test), table in statistics.agreement.groupby(["metric", "test"], sort=False):
        rows = []
        for (first, second), pairs in table.groupby(["first", "second"], sort=False):
            both, opposite, one, other = (
                int(pairs[name].sum()) for name in ("both", "opposite", "only_first", "only_second")
            )
            tau = f"{pairs['tau'].mean():.2f} ({pairs['halves'].mean():.2f})"
            counts = (both + opposite + one, both + opposite + other, both, opposite)
            rows.append([f"{first}, {second}", tau, *map(str, counts)])
        headings = ["classifiers", "τ", "first", "second", "both", "opposite"]
        yield Block(statistics.title(str(metric), str(test)), table=TextTable(headings, rows))
