"""Which techniques thresholds by group on the best unconstrained scores outdo."""

from __future__ import annotations

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.unprocessing import inside_shares

READING = (
    "How many techniques are inside the unprocessing frontier: at no more discrimination, thresholds by "
    "group on the scores of the most accurate classifier without mitigation, chosen on the training "
    "sample, are more accurate there, and the 95 % interval of the difference on the same samples lies "
    "below 0. Intervals do not allow for how many techniques there are."
)


def section(statistics: RunStatistics) -> Section | None:
    """Return how many techniques are inside the frontier at each level of bias, where one is recorded."""
    if statistics.frontier_gaps.empty:
        return None
    shares = inside_shares(statistics.frontier_gaps, statistics.unconstrained)
    betas = statistics.run.levels
    rows = []
    for scenario in statistics.scenarios:
        counts = scenario.rows(shares).set_index("beta")[["n_inside", "n_techniques"]]
        cells = ["{} of {}".format(*counts.loc[beta]) if beta in counts.index else "–" for beta in betas]
        rows.append([scenario.heading, *cells])
    unscored = f"No scores, and so no frontier: {', '.join(statistics.unscored)}."
    return Section(
        "frontier",
        "Which techniques thresholds outdo",
        (READING, *([unscored] if statistics.unscored else [])),
        [Block(table=TextTable(["", *map(statistics.run.level_text, betas)], rows))],
        files={
            "frontier_gaps": "which techniques thresholds by group on the best unconstrained scores outdo"
        },
    )
