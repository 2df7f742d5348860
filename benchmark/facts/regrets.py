"""What it costs to choose settings of techniques on biased or on clean rows."""

from __future__ import annotations

from benchmark.facts.model import Estimate, Regret
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import records


def regrets(statistics: RunStatistics) -> tuple[Regret, ...]:
    """Return the mean regrets over techniques, against the oracle's settings; none if none were tuned."""
    table = statistics.regret
    table = table[(table["technique"] == "") & (table["against"] == "oracle")]
    table = table.sort_values("dataset", key=lambda names: names != "", kind="stable")
    return tuple(
        Regret(
            dataset=row.dataset,
            bias=row.bias,
            classifier=row.classifier,
            level=row.beta,
            chosen_on=row.chosen_on,
            regret=Estimate(mean=row.regret, low=row.regret_low, high=row.regret_high),
            beyond=row.breaks,
            beyond_oracle=row.breaks_against,
            fits=int(row.n_techniques),
        )
        for row in records(table)
    )
