"""The facts of each question: answers, values, decisions, gaps, frontiers, ranks, regrets, hidden bias.

The answers are the techniques at each level of bias, for each goal: what is left, what it costs, whom they
accept.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import BLIND, GOAL_METRICS, GOALS, KNOWS, ORIGINAL, RESTORE
from benchmark.facts import model
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario, records
from benchmark.runs.verdicts import repeated_levels
from benchmark.statistics import hidden_bias
from benchmark.statistics import recommendation as rule
from benchmark.statistics.answers import (
    ACCURACY,
    DISCRIMINATION,
    NEARLY_ALL,
    is_constant,
    unranked,
    with_useful,
)
from benchmark.statistics.cells import SCENARIO, WHERE, Resampling
from benchmark.statistics.intervals import level_changes
from benchmark.statistics.unprocessing import INSIDE, curves_of

_SHOWN = 5e-4  # half of the last digit that readers see


def scenario_answers(
    scenario: Scenario,
    baseline: str,
    answers: pd.DataFrame,
    knows: Sequence[str],
    results: pd.DataFrame,
    criteria: rule.Criteria,
    resampling: Resampling | None,
) -> tuple[model.Answers, ...]:
    """Return the answers of a scenario, goal by goal.

    ``answers`` are :func:`~benchmark.statistics.answers.answer_table` with a column ``knows``. ``knows`` has
    the order of its words, and ``results`` are all values of the run.
    """
    rows, planted = scenario.rows(answers), scenario.dataset.planted(scenario.bias)
    results = scenario.rows(results[results["metric"] == DISCRIMINATION])
    changes = records(level_changes(results, baseline, resampling)) if baseline else ()
    effects = {row.level: model.Estimate.of(row, "change") for row in changes}
    goals: tuple[Any, ...] = GOALS
    found = []
    for goal in goals:
        at = {level: records(part) for level, part in rows[rows["goal"] == goal].groupby("level")}
        if telling := scenario.telling_levels(sorted(at)):
            levels = tuple(
                _level(
                    at[level],
                    baseline,
                    knows,
                    criteria,
                    level=level,
                    beta=getattr(planted.dose(level), "beta", None),
                    bias_effect=effects.get(level),
                )
                for level in telling
            )
            metric, highest = GOAL_METRICS[goal], planted.highest(telling)
            found.append(model.Answers(goal=goal, metric=metric, highest=highest, levels=levels))
    return tuple(found)


def why_unanswered(run: Manifest, scenario: Scenario, answers: pd.DataFrame) -> model.Reason | None:
    """Return why a scenario has no answer for the goal to restore; None if it has one."""
    if (scenario.rows(answers)["goal"] == RESTORE).any():
        return None
    if not run.experiment.paired_betas:
        return model.Reason(code="levels_not_paired")
    if scenario.test != ORIGINAL:
        return model.Reason(code="no_clean_model_on_test")
    if run.metric(GOAL_METRICS[RESTORE]) is None:
        return model.Reason(code="distance_not_measured")
    return model.Reason(code="nothing_planted")


def _level(
    rows: list[Any], baseline: str, knows: Sequence[str], criteria: rule.Criteria, **known: Any
) -> model.Level:
    def own(row: Any) -> bool:  # compared with a learner of its own
        return bool(row.baseline != baseline)

    def order(row: Any) -> tuple[object, ...]:
        """Sort the baseline first, then by what is told, verdict and distance to the goal; NaN is last."""
        told = 1 + knows.index(row.knows) if row.knows != BLIND else 0
        verdict = rule.VERDICTS.index(row.verdict) if row.verdict else -1
        distance = round(row.distance, 6)
        return (
            row.technique != baseline,
            told,
            row.role != rule.BASELINE,
            verdict,
            distance != distance,
            distance,
        )

    rows = sorted(rows, key=order)
    techniques = [row for row in rows if row.role == "technique"]
    halves = [(row.simultaneous_high - row.simultaneous_low) / 2 for row in techniques if row.tested]
    reasons = {row.level_reason for row in techniques}
    reason = reasons.pop() if len(reasons) == 1 else ""
    constants = [(row.constant_accuracy, row.constant_accepts) for row in rows]
    constants = [own for own in constants if not math.isnan(own[0])]
    several = sum(row.role == rule.BASELINE for row in rows) > 1
    # The nearest technique of each choice among those that know as much, where each learner has one.
    taken: dict[tuple[str, str], Any] = {}
    for row in rows:
        for choice in row.choice.split():
            taken.setdefault((choice, row.knows), row)
    return model.Level(
        **known,
        reason=model.Reason(code=reason) if reason else None,
        detectable=criteria.margin + float(np.median(halves)) if halves else None,
        constant=model.Constant(accuracy=constants[0][0], accepts=constants[0][1]) if constants else None,
        floor=techniques[0].accuracy_floor if techniques else None,
        techniques=tuple(
            model.Standing.from_record(
                row,
                baseline=row.baseline if several and row.role != rule.BASELINE else None,
                verdict=row.verdict or None,
                reason=_reason(row, of_level=reason),
                remarks=tuple(_remarks(row)),
                gain=model.Estimate(
                    mean=row.improvement, low=row.simultaneous_low, high=row.simultaneous_high
                ),
                accepted=model.Shares(
                    all=row.accepted, deprived=row.accepted_deprived, favored=row.accepted_favored
                ),
                repetitions=row.n,
                dominated_by=row.dominated_by or None,
                best=[choice for (choice, _), best in taken.items() if best is row],
                tied=[choice for choice in row.tied.split() if own(taken[choice, row.knows]) == own(row)],
            )
            for row in rows
        ),
    )


def _reason(row: Any, of_level: str) -> model.Reason | None:
    """Return the reason of a verdict, with the numbers that decided it, if it is not the level's reason."""
    if not row.reason:
        # Techniques with a learner of their own may have an answer where the others have none.
        differs = row.role == "technique" and row.level_reason not in ("", of_level)
        return model.Reason(code=row.level_reason) if differs else None
    args: dict[str, object] = {}
    match row.reason:
        case "constant":
            args = _constant(row)
        case "below_constant":
            args = {"accuracy": row.accuracy, "floor": row.accuracy_floor}
        case "one_group":
            args = _one_group(row)
        case "too_few_accepted":
            args = _limit(row)
        case "incomplete":
            args = {"samples": min(row.n, row.pairs), "of": row.n + row.missing}
        case "few_repetitions":
            args = {"samples": int(row.splits)}
        case "not_recorded":
            args = {"shares": math.isnan(row.accepted)}
    return model.Reason(code=row.reason, args=args)


def _constant(row: Any) -> dict[str, object]:
    """Return how decisions are degenerate, and in how many of the samples whose shares are known."""
    return {"kind": row.degenerate, "samples": row.n_degenerate, "of": row.n_recorded}


def _one_group(row: Any) -> dict[str, object]:
    """Return the group that gets nearly always the same answer, and its share accepted."""
    for group, accepted in (("deprived", row.accepted_deprived), ("favored", row.accepted_favored)):
        if is_constant(accepted):
            return {"group": group, "accepts": accepted > NEARLY_ALL}
    return {}


def _limit(row: Any) -> dict[str, object]:
    """Return the first limit of acceptance that a technique misses, its share, and the reference's."""
    limit = row.too_few.split()[0]
    if limit == "fewer_deprived":
        shares = {"share": row.accepted_deprived, "reference": row.baseline_accepted_deprived}
        return {"verb": "accepts", "group": "deprived", "of": "baseline", **shares}
    verb, group = limit.split("_")
    share, reference = {
        "deprived": (row.accepted_deprived, row.reference_deprived),
        "favored": (row.accepted_favored, row.reference_favored),
        "all": (row.accepted, row.reference_accepted),
    }[group]
    if verb == "refuses":
        share, reference = 1 - share, 1 - reference
    of = "clean_model" if row.reference == rule.OF_BASELINE else "labels"
    return {"verb": verb, "group": group, "of": of, "share": share, "reference": reference}


def _remarks(row: Any) -> Iterator[model.Reason]:
    """Yield what the numbers of a technique hide, besides the reason of its verdict."""
    if row.n_degenerate and row.reason != "constant":
        yield model.Reason(code="constant", args=_constant(row))
    elif row.below_constant and row.reason != "below_constant":
        yield model.Reason(
            code="below_constant", args={"accuracy": row.accuracy, "floor": row.constant_accuracy}
        )
    elif row.one_group and row.reason != "one_group":
        yield model.Reason(code="one_group", args=_one_group(row))
    if row.missing and row.reason != "incomplete":
        yield model.Reason(code="incomplete", args={"samples": row.n, "of": row.n + row.missing})
    if abs(row.distance - abs(row.value)) > _SHOWN:
        yield model.Reason(code="either_sign", args={"distance": row.distance})
    if _falls(row):
        code = "levels_down" if row.levels_down else "accepts_fewer"
        args = {"share": row.accepted_deprived, "before": row.baseline_accepted_deprived}
        yield model.Reason(code=code, args=args)
    if getattr(row, "frontier", None) == INSIDE:  # where the run recorded one
        yield model.Reason(code="inside_frontier")


def _falls(row: Any) -> bool:
    """Return whether fewer of the deprived group are accepted than by the baseline, as far as readers see."""
    if row.role != "technique" or math.isnan(row.baseline_accepted_deprived):
        return False
    chosen = row.verdict in rule.RECOMMENDED
    return row.levels_down or (chosen and row.accepted_deprived < row.baseline_accepted_deprived - 5e-3)


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


def values(statistics: RunStatistics, scenario: Scenario) -> tuple[model.Values, ...]:
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
            passed = verdicts["verdict"].reindex(cells).isin(rule.WITHIN_LIMITS)
        letters = np.select([better & passed, better, worse], ["b", "r", "w"], ".")
        found.append(
            model.Values(
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


def decisions(statistics: RunStatistics, scenario: Scenario) -> tuple[model.Decisions, ...]:
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
        helps = answer is not None and answer.verdict in rule.WITHIN_LIMITS
        found.append(
            model.Decisions(
                level=float(str(level)),
                technique=str(name),
                role=answer.role if answer else "technique",
                restores=helps and given is not None and given.beyond_refit_low > 0,
                values={metric: model.Estimate.of(row, "value") for metric, row in of_metric.items()},
                refit_biased={metric: row.refit_biased for metric, row in of_metric.items()},
            )
        )

    def order(entry: model.Decisions) -> tuple[float, bool, float]:
        distance = entry.values.get("restoration_distance", model.Estimate()).mean
        return -entry.level, entry.role != "baseline", math.inf if distance is None else distance

    return tuple(sorted(found, key=order))


def gaps(statistics: RunStatistics) -> tuple[model.Gap, ...]:
    """Return the gaps in each rate; none if the run told groups of one attribute apart."""
    return tuple(
        model.Gap.from_record(row, scenario=i, change=model.Estimate.of(row, "difference"))
        for i, scenario in enumerate(statistics.scenarios)
        for row in records(scenario.rows(statistics.groups))
    )


def frontiers(statistics: RunStatistics, scenario: Scenario) -> tuple[model.Frontier, ...]:
    """Return the frontier at each level of bias of a scenario; none if the run recorded none."""
    curves = curves_of(statistics.frontier, scenario.key)
    if curves.empty:
        return ()
    gaps = scenario.rows(statistics.frontier_gaps)
    untreated = {*statistics.unconstrained, *statistics.run.learners}  # with the names of facts
    inside = gaps[(gaps["standing"] == INSIDE) & ~gaps["technique"].isin(untreated)]
    return tuple(
        model.Frontier(
            level=float(str(level)),
            discrimination=tuple(points[DISCRIMINATION]),
            accuracy=tuple(points[ACCURACY]),
            inside=tuple(inside.loc[inside["level"] == level, "technique"]),
        )
        for level, points in curves.groupby("level")
    )


def regrets(statistics: RunStatistics) -> tuple[model.Regret, ...]:
    """Return the mean regrets over techniques and datasets; none if no settings were tuned."""
    table = statistics.regret
    return tuple(
        model.Regret.from_record(row, beyond=row.breaks, beyond_oracle=row.breaks_oracle)
        for row in records(table[(table["technique"] == "") & (table["dataset"] == "")])
    )


def missing(failures: pd.DataFrame) -> tuple[model.Missing, ...]:
    """Return each status and reason with its number of results or values, the most frequent first."""
    alike = failures["reason"].map(lambda reason: _NUMBERS.sub("#", reason))
    groups = [
        model.Missing(
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


def ranks(statistics: RunStatistics) -> tuple[model.Ranks, ...]:
    """Return the ranks in each metric, of techniques that know as much, over all datasets that had them."""
    pooled = statistics.ranks[statistics.ranks["over"] == "dataset level"]
    cells, where = statistics.intervals[[*WHERE, "metric"]], list(SCENARIO[1:])
    cells = cells[~unranked(cells, statistics.baselines, statistics.effects)]
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
        unusable = {*refused["technique"], *standing.loc[standing["below_constant"], "technique"]}
        datasets = tuple(name for name in asked if name in set(keys["dataset"]))
        needed = int(table["datasets_needed"].iloc[0]) if table["mean_rank"].count() > 1 else 0
        found.append(
            model.Ranks(
                metric=metric,
                knows=knows,
                datasets=datasets,
                asked=len(asked),
                **dict(zip(where, scenario, strict=True)),
                p=float(table["p_f"].iloc[0]),
                needed=needed if needed > len(datasets) else 0,
                techniques=tuple(
                    model.Rank.from_record(
                        row,
                        constant=row.reason == "constant",
                        usable=row.technique not in unusable,
                    )
                    for row in records(table)
                ),
            )
        )
    return tuple(found)


def hidden(statistics: RunStatistics) -> model.Hidden | None:
    """Return the effect of hidden bias on the answers of a run with one dataset and one bias.

    For other kinds of bias than the measured one it is not known. Other runs have none.
    """
    run = statistics.run
    levels = [level for level in statistics.answers["level"].unique() if level > 0]
    if run.unit != "dose" or len(run.datasets) != 1 or len(run.datasets[0].bias) != 1 or not levels:
        return None
    (dataset,) = run.datasets
    (bias,) = dataset.bias
    if bias.kind != hidden_bias.HIDDEN_KIND:
        return model.Hidden(reason=model.Reason(code="hidden_kind_not_measured", args={"kind": bias.kind}))
    if not run.experiment.overlaps:
        return None
    table, dose, found = (
        hidden_bias.hidden_bias_table(),
        bias.added(bias.highest(levels)),
        dataset.hidden_dose,
    )
    shown: tuple[float, ...] = ()
    if found is None:
        reason, shown = model.Reason(code="hidden_unknown"), _EXAMPLES
    elif found < _BELOW_ZERO:
        reason = model.Reason(code="hidden_below_zero", args={"hidden": found})
    elif found > (most := hidden_bias.greatest_hidden(table)):
        reason = model.Reason(code="hidden_not_measured", args={"hidden": found, "most": most})
    else:
        reason, shown = model.Reason(code="hidden_known", args={"hidden": found}), (found,)
    rates = dataset.entry.true_rates
    return model.Hidden(
        reason=reason,
        recorded_gap=dataset.recorded_gap,
        true_gap=None if rates is None else rates["favored"] - rates["deprived"],
        classifier=hidden_bias.HIDDEN_CLASSIFIER,
        others=tuple(name for name in run.classifiers if name != hidden_bias.HIDDEN_CLASSIFIER),
        rows=tuple(
            model.HiddenRow.from_record(row, agreement=model.Estimate.of(row, "tau"), by_chance=row.ceiling)
            for goal in GOALS
            for at in shown
            if (row := hidden_bias.row_at(table, goal, at, dose))
        ),
    )


_OF_RUN = (gaps, regrets, hidden)


def of_run(statistics: RunStatistics) -> dict[str, Any]:
    """Return the parts of the facts that need a run's statistics alone, each by the name of its function."""
    return {part.__name__: part(statistics) for part in _OF_RUN}
