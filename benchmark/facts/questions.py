"""The facts besides the answers: values, decisions, gaps, frontiers, ranks, regrets, hidden bias."""

import math
import re

import numpy as np
import pandas as pd

from benchmark.columns import GOAL_METRICS, GOALS, KNOWS, RESTORE
from benchmark.facts.model import (
    Decisions,
    Estimate,
    Frontier,
    Gap,
    Hidden,
    HiddenRow,
    Missing,
    Rank,
    Ranks,
    Reason,
    Regret,
    Values,
)
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.ranks import repeated_levels
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION, unranked, with_useful
from benchmark.statistics.cells import SCENARIO, WHERE
from benchmark.statistics.hidden_bias import (
    HIDDEN_CLASSIFIER,
    HIDDEN_KIND,
    greatest_hidden,
    hidden_bias_table,
    row_at,
)
from benchmark.statistics.recommendation import WITHIN_LIMITS
from benchmark.statistics.unprocessing import INSIDE, curves_of

_AXES = ("level", "technique")
# Reasons that differ only in these are one reason.
_NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_REFUSED = ("too_few_accepted", "one_group")  # reasons against a technique that is better than the baseline
_EXAMPLES = (0.0, 0.05, 0.1)  # gaps that are shown where the hidden one is unknown
_BELOW_ZERO = -5e-4  # as shown


def tried(run: Manifest, rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the techniques of a scenario's rows, in the run's order: the columns of its values."""
    names = set(rows["technique"])
    return tuple(name for name in run.titles if name in names)


def values(statistics: RunStatistics, scenario: Scenario) -> tuple[Values, ...]:
    """Return every metric of a scenario, by level of bias and technique."""
    techniques = tried(statistics.run, scenario.rows(statistics.everything))
    levels = list(scenario.telling_levels(statistics.run.levels))
    cells = pd.MultiIndex.from_product([levels, techniques], names=_AXES)
    shown, compared, answers = map(
        scenario.rows, (statistics.intervals, statistics.compared, statistics.answers)
    )
    useful = with_useful(scenario.rows(statistics.standing)).set_index(list(_AXES))["useful"]
    useful = useful.reindex(cells).eq(True)

    def grid(column: pd.Series) -> tuple[tuple[float, ...], ...]:
        numbers = column.to_numpy(dtype=float).reshape(len(levels), len(techniques))
        return tuple(map(tuple, numbers.tolist()))

    found = []
    for metric in statistics.metrics:
        of = shown[shown["metric"] == metric].set_index(list(_AXES)).reindex(cells)
        change = compared[compared["metric"] == metric].set_index(list(_AXES)).reindex(cells)
        better, worse, passed = change["better"].eq(True), change["worse"].eq(True), useful
        if metric in GOAL_METRICS.values():  # the verdicts on that goal decide
            verdicts = answers.loc[answers["metric"] == metric, [*_AXES, "verdict"]].set_index(list(_AXES))
            passed = verdicts["verdict"].reindex(cells).isin(WITHIN_LIMITS)
        letters = np.select([better & passed, better, worse], ["b", "r", "w"], ".")
        found.append(
            Values(
                metric=metric,
                mean=grid(of["mean"]),
                low=grid(of["ci_low"]),
                high=grid(of["ci_high"]),
                change=grid(change["difference"]),
                change_low=grid(change["difference_low"]),
                change_high=grid(change["difference_high"]),
                p=grid(change["p_paired_holm"]),
                shown=tuple("".join(row) for row in letters.reshape(len(levels), -1)),
            )
        )
    return tuple(found)


def decisions(statistics: RunStatistics, scenario: Scenario) -> tuple[Decisions, ...]:
    """Return the decisions of each technique at each level of bias, the nearest to the clean model first."""
    restored = scenario.rows(statistics.restoration)
    if restored.empty:
        return ()
    answers = scenario.rows(statistics.answers)
    known = {(row.level, row.technique): row for row in records(answers[answers["goal"] == RESTORE])}
    found = []
    for (level, name), rows in restored.groupby(["level", "technique"], sort=False):
        of_metric = {row.metric: row for row in records(rows)}
        answer, given = known.get((level, name)), of_metric.get("given_back")
        helps = answer is not None and answer.verdict in WITHIN_LIMITS
        found.append(
            Decisions(
                level=float(str(level)),
                technique=str(name),
                role=answer.role if answer else "technique",
                restores=helps and given is not None and given.beyond_refit_low > 0,
                values={metric: Estimate.of(row, "value") for metric, row in of_metric.items()},
                refit_biased={metric: row.refit_biased for metric, row in of_metric.items()},
            )
        )

    def order(entry: Decisions) -> tuple[float, bool, float]:
        distance = entry.values.get("restoration_distance", Estimate()).mean
        return -entry.level, entry.role != "baseline", math.inf if distance is None else distance

    return tuple(sorted(found, key=order))


def gaps(statistics: RunStatistics) -> tuple[Gap, ...]:
    """Return the gaps in each rate; none if the run told groups of one attribute apart."""
    return tuple(
        Gap.from_record(row, scenario=i, change=Estimate.of(row, "difference"))
        for i, scenario in enumerate(statistics.scenarios)
        for row in records(scenario.rows(statistics.groups))
    )


def frontiers(statistics: RunStatistics, scenario: Scenario) -> tuple[Frontier, ...]:
    """Return the frontier at each level of bias of a scenario; none if the run recorded none."""
    curves = curves_of(statistics.frontier, scenario.key)
    if curves.empty:
        return ()
    gaps = scenario.rows(statistics.frontier_gaps)
    untreated = {*statistics.unconstrained, *statistics.run.learners}  # with the names of facts
    inside = gaps[(gaps["standing"] == INSIDE) & ~gaps["technique"].isin(untreated)]
    return tuple(
        Frontier(
            level=float(str(level)),
            discrimination=tuple(points[DISCRIMINATION]),
            accuracy=tuple(points[ACCURACY]),
            inside=tuple(inside.loc[inside["level"] == level, "technique"]),
        )
        for level, points in curves.groupby("level")
    )


def regrets(statistics: RunStatistics) -> tuple[Regret, ...]:
    """Return the mean regrets over techniques and datasets; none if no settings were tuned."""
    table = statistics.regret
    return tuple(
        Regret.from_record(row, beyond=row.breaks, beyond_oracle=row.breaks_oracle)
        for row in records(table[(table["technique"] == "") & (table["dataset"] == "")])
    )


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
            levels=tuple(sorted(map(float, rows["level"].unique()))),
            metrics=tuple(name for name in rows["metric"].unique() if name),
        )
        for (status, _), rows in failures.groupby(["status", alike], sort=False)
    ]
    return tuple(sorted(groups, key=lambda group: -group.count))


def ranks(statistics: RunStatistics) -> tuple[Ranks, ...]:
    """Return the ranks in each metric, of techniques that know as much, over all datasets that had them."""
    pooled = statistics.ranks[statistics.ranks["over"] == "dataset level"]
    cells, where = statistics.intervals[[*WHERE, "metric"]], list(SCENARIO[1:])
    cells = cells[~unranked(cells, statistics.baselines, statistics.undo)]
    cells = cells[~repeated_levels(statistics.run, cells)]
    found = []
    for key, table in pooled.groupby(["datasets", *where, "metric", KNOWS], sort=False):
        names, *scenario, metric, knows = map(str, key)
        asked = names.split()
        keys = cells[(cells["metric"] == metric) & cells["dataset"].isin(asked)]
        keys = keys.loc[(keys[where] == scenario).all(axis=1), list(WHERE)]
        standing, answers = (
            keys.merge(frame, on=list(WHERE)) for frame in (statistics.standing, statistics.answers)
        )
        refused = answers[(answers["metric"] == metric) & answers["reason"].isin(_REFUSED)]
        useless = {*refused["technique"], *standing.loc[standing["below_constant"], "technique"]}
        datasets = tuple(name for name in asked if name in set(keys["dataset"]))
        needed = int(table["datasets_needed"].iloc[0]) if table["mean_rank"].count() > 1 else 0
        found.append(
            Ranks(
                metric=metric,
                knows=knows,
                datasets=datasets,
                asked=len(asked),
                **dict(zip(where, scenario, strict=True)),
                p=float(table["p_f"].iloc[0]),
                needed=needed if needed > len(datasets) else 0,
                techniques=tuple(
                    Rank.from_record(
                        row,
                        constant=row.reason == "constant",
                        usable=row.technique not in useless,
                    )
                    for row in records(table)
                ),
            )
        )
    return tuple(found)


def hidden(statistics: RunStatistics) -> Hidden | None:
    """Return the effect of hidden bias on the answers of a run with one dataset and one bias.

    For other kinds of bias than the measured one it is not known. Other runs have none.
    """
    run = statistics.run
    levels = [level for level in statistics.answers["level"].unique() if level > 0]
    if run.unit != "dose" or len(run.datasets) != 1 or len(run.datasets[0].bias) != 1 or not levels:
        return None
    (dataset,) = run.datasets
    (bias,) = dataset.bias
    if bias.kind != HIDDEN_KIND:
        return Hidden(reason=Reason(code="hidden_kind_not_measured", args={"kind": bias.kind}))
    if not run.experiment.overlaps:
        return None
    table, dose, found = hidden_bias_table(), bias.added(bias.highest(levels)), dataset.hidden_dose
    shown: tuple[float, ...] = ()
    if found is None:
        reason, shown = Reason(code="hidden_unknown"), _EXAMPLES
    elif found < _BELOW_ZERO:
        reason = Reason(code="hidden_below_zero", args={"hidden": found})
    elif found > (most := greatest_hidden(table)):
        reason = Reason(code="hidden_not_measured", args={"hidden": found, "most": most})
    else:
        reason, shown = Reason(code="hidden_known", args={"hidden": found}), (found,)
    rates = dataset.entry.true_rates
    return Hidden(
        reason=reason,
        recorded_gap=dataset.recorded_gap,
        true_gap=None if rates is None else rates["favored"] - rates["deprived"],
        classifier=HIDDEN_CLASSIFIER,
        others=tuple(name for name in run.classifiers if name != HIDDEN_CLASSIFIER),
        rows=tuple(
            HiddenRow.from_record(row, agreement=Estimate.of(row, "tau"), by_chance=row.ceiling)
            for goal in GOALS
            for at in shown
            if (row := row_at(table, goal, at, dose))
        ),
    )
