"""Techniques that thresholds by group on untreated scores dominate."""

from __future__ import annotations

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.unprocessing import inside_shares

READING = (
    "The table counts the techniques inside the unprocessing frontier. Thresholds by group dominate them: "
    "they are more accurate at no more discrimination, by the 95 % interval of the difference. They use "
    "the scores of the most accurate untreated classifier and are chosen on the training sample. The "
    "intervals do not allow for the number of techniques."
)


def section(statistics: RunStatistics) -> Section | None:
    """Return the number of techniques inside the frontier at each level of bias, if one was recorded."""
    if statistics.frontier_gaps.empty:
        return None
    shares = inside_shares(statistics.frontier_gaps, statistics.unconstrained)
    betas = statistics.run.levels
    rows = []
    for scenario in statistics.scenarios:
        counts = scenario.rows(shares).set_index("beta")[["n_inside", "n_techniques"]]
        cells = ["{} of {}".format(*counts.loc[beta]) if beta in counts.index else "–" for beta in betas]
        rows.append([scenario.heading, *cells])
    unscored = f"Without scores, and so without a frontier: {', '.join(statistics.unscored)}."
    return Section(
        "frontier",
        "Which techniques thresholds dominate",
        (READING, *([unscored] if statistics.unscored else [])),
        [Block(table=TextTable(["", *map(statistics.run.level_text, betas)], rows))],
        files={"frontier_gaps": "techniques that thresholds by group on untreated scores dominate"},
    )
