"""What bias that the labels hide makes of an answer: lines of the shipped table."""

from __future__ import annotations

from benchmark.columns import GOALS
from benchmark.facts.model import Estimate, Hidden, HiddenRow, Reason
from benchmark.runs.analysis import RunStatistics
from benchmark.statistics.hidden_bias import (
    HIDDEN_CLASSIFIER,
    HIDDEN_KIND,
    greatest_hidden,
    hidden_bias_table,
    row_at,
)

_EXAMPLES = (0.0, 0.05, 0.1)  # doses that are shown where the hidden dose is unknown
_BELOW_ZERO = -5e-4  # as shown


def hidden(statistics: RunStatistics) -> Hidden | None:
    """Return the effect of hidden bias on the answers of a run in doses with one dataset and one bias.

    For other kinds of bias than the measured one it is not known. Other runs have none.
    """
    run = statistics.run
    levels = [level for level in statistics.answers["beta"].unique() if level > 0]
    if run.level_name != "dose" or len(run.datasets) != 1 or len(run.datasets[0].bias) != 1 or not levels:
        return None
    (dataset,) = run.datasets
    (bias,) = dataset.bias
    if bias.kind != HIDDEN_KIND:
        return Hidden(reason=Reason(code="hidden_kind_not_measured", args={"kind": bias.kind}))
    if not run.protocol.overlaps:
        return None
    table, dose = hidden_bias_table(), bias.added(bias.highest(levels))
    if (found := dataset.hidden_dose) is None:
        rows = [row for goal in GOALS for at in _EXAMPLES if (row := row_at(table, goal, at, dose))]
        code, args = "hidden_unknown", {}
    else:
        args = {"hidden": found}
        if found < _BELOW_ZERO:
            rows, code = [], "hidden_below_zero"
        elif found > (most := greatest_hidden(table)):
            rows, code, args = [], "hidden_not_measured", {**args, "most": most}
        else:
            rows, code = [row for goal in GOALS if (row := row_at(table, goal, found, dose))], "hidden_known"
    rates = dataset.entry.true_rates
    return Hidden(
        reason=Reason(code=code, args=args),
        recorded_gap=dataset.recorded_gap,
        true_gap=None if rates is None else rates["favored"] - rates["deprived"],
        classifier=HIDDEN_CLASSIFIER,
        others=tuple(name for name in run.classifiers if name != HIDDEN_CLASSIFIER),
        rows=tuple(
            HiddenRow.from_record(row, agreement=Estimate.of(row, "tau"), by_chance=row.ceiling)
            for row in rows
        ),
    )
