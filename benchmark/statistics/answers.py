"""Which technique to take at a level of bias: the discrimination that it leaves, its cost, whom it accepts.

A classifier that answers nearly everybody the same has next to no discrimination. One that is less accurate
than a constant answer is of no use, however fair it is. This module finds both, for every table, figure and
sentence.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from benchmark import columns
from benchmark.statistics import recommendation as rule
from benchmark.statistics.across import ALPHA
from benchmark.statistics.cells import (
    PLANTED,
    SCENARIO,
    WHERE,
    Baselines,
    Resampling,
    first_true,
    known_of,
    positions_in,
    row_means,
    to_cells,
)
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.paired import TESTED_TOGETHER
from benchmark.statistics.restoration import (
    AGREEMENT,
    BY_CHANCE,
    EFFECT_COLUMNS,
    RESTORATION_DISTANCE,
    clean_model_shares,
)

ACCURACY = "accuracy"
"""Metric that is traded off against the others."""

DISCRIMINATION = columns.GOAL_METRICS[columns.EQUALIZE]
"""Metric that a technique improves when it equalizes; 0 is ideal."""

OF_CLEAN_MODEL = (RESTORATION_DISTANCE, AGREEMENT)
"""Metrics of agreement with the clean model, which is itself the baseline at level 0."""

ACCEPTANCE = ("accepted", "accepted_deprived", "accepted_favored")
"""Metrics of acceptance: shares that are predicted the favorable outcome."""

NEARLY_ALL = 0.99
"""A classifier that gives more than this share of the rows the same answer counts as constant."""

REFUSES_ALL, ACCEPTS_ALL, BY_GROUP, SEVERAL = "refuses_all", "accepts_all", "by_group", "several"
"""Kinds of degenerate decisions: the same for nearly everybody, or for each group; or in several ways."""

ANSWER_COLUMNS = (
    *(*WHERE, "goal", "baseline", "clean_model", "n", "missing", "pairs", "metric"),
    *("value", "value_low", "value_high", "distance", "change", "change_low", "change_high"),
    *("improvement", "simultaneous_low", "simultaneous_high", "splits", "tested", "better", "worse"),
    *("accuracy", "accuracy_low", "accuracy_high"),
    *("accuracy_change", "accuracy_change_low", "accuracy_change_high"),
    *(*ACCEPTANCE, "constant_accuracy", "constant_accepts", "n_recorded", "n_degenerate", "degenerate"),
    *("mostly_constant", "below_constant", "one_group", "favorable_deprived", "favorable_favored"),
    *(*rule.REFERENCE_COLUMNS[:-1], "baseline_degenerate"),
    *("role", "verdict", "reason", "level_reason", "dominated_by", "choice", "tied", "levels_down"),
)
"""Columns of :func:`answer_table`."""

_ROUNDING = 1e-9  # a mean of equal accuracies may differ from them by less

STANDING_COLUMNS = (
    *WHERE,
    *("constant_accuracy", "constant_accepts", "n_recorded", "n_degenerate", "degenerate"),
    *("mostly_constant", "below_constant", "one_group"),
    *("favorable", "favorable_deprived", "favorable_favored"),
    *(f"{rule.TRUE_CLEAN}{name}" for name in (*ACCEPTANCE, ACCURACY)),
)
"""Columns of :func:`standings`."""


_Shares: TypeAlias = Sequence[float | None]


@dataclass(frozen=True)
class ConstantAnswer:
    """The more accurate of the two classifiers that answer everybody the same, by the labels of test rows.

    Numbers are shares of favorable labels, where they are known. Sequences have one for each repetition, None
    where it is unknown.
    """

    favorable: float
    # Original test rows that differ between repetitions, by level of bias.
    scored: Mapping[float, Sequence[float]] = field(default_factory=dict, compare=False)
    # Test rows with planted bias, by name of the bias and level.
    biased: Mapping[str, Mapping[float, _Shares]] = field(default_factory=dict, compare=False)
    # Test rows with hidden bias, by name of the bias and test.
    hidden: Mapping[str, Mapping[str, _Shares]] = field(default_factory=dict, compare=False)
    # The deprived and the favored group.
    groups: tuple[float, float] | None = field(default=None, compare=False)
    # The share that every technique accepts, if it is given: then it is accepted by lot.
    accept: float | None = None

    @property
    def accuracy(self) -> float:
        """Share of the test rows that it answers correctly."""
        if self.accept is not None:
            return self.accept * self.favorable + (1 - self.accept) * (1 - self.favorable)
        return max(self.favorable, 1 - self.favorable)

    @property
    def accepted(self) -> float:
        """Share of people whom it accepts, in each group."""
        return float(self.favorable > 0.5) if self.accept is None else self.accept


def random_accuracy(constant: float) -> float:
    """Return the expected accuracy of accepting by lot at the rate of favorable labels.

    ``constant`` is the accuracy of the best constant answer: the greater of this rate and its complement.
    """
    return constant**2 + (1 - constant) ** 2


def constant_on(
    answer: ConstantAnswer | None,
    test: str,
    bias: str = "",
    beta: float | None = None,
    repetitions: Collection[int] | None = None,
) -> ConstantAnswer | None:
    """Return the best constant answer on the rows that a test scored; None if unknown.

    ``answer`` is the best constant answer on the original test rows of the dataset. Without ``beta``, the
    result is for all levels of bias together; tests with planted bias have none. Where nothing is planted, a
    biased test is the original one. On balanced rows, either constant is right about half of the weight. If
    ``repetitions`` are given, only their rows count, where they are told apart.
    """
    if test == columns.BALANCED:
        return ConstantAnswer(0.5, groups=(0.5, 0.5))
    if answer is None:
        return None
    scored = _scored_shares(answer, test, bias, beta)
    own = [scored[i] for i in repetitions or () if i < len(scored)]
    if shares := _known(own) or _known(scored):
        # Groups were counted with true labels.
        groups = None if test != columns.TRUTH and test in answer.hidden.get(bias, ()) else answer.groups
        return ConstantAnswer(math.fsum(shares) / len(shares), groups=groups, accept=answer.accept)
    return (
        answer
        if test in (columns.ORIGINAL, columns.TRUTH) or (test == columns.BIASED and beta == 0)
        else None
    )


def _scored_shares(answer: ConstantAnswer, test: str, bias: str, beta: float | None) -> _Shares:
    """Return the shares of favorable labels in the rows that were scored in each repetition, if recorded."""
    if test in (of_tests := answer.hidden.get(bias, {})):
        return of_tests[test]
    if test == columns.BIASED and beta in (of_levels := answer.biased.get(bias, {})):
        return of_levels[beta]  # type: ignore[index]
    if test == columns.BIASED and beta != 0:
        return ()
    if beta is None:
        return [share for shares in answer.scored.values() for share in shares]
    return answer.scored.get(beta, ())


def _known(shares: _Shares) -> list[float]:
    return [share for share in shares if share is not None and not math.isnan(share)]


def standings(
    results: pd.DataFrame, constants: Mapping[str, ConstantAnswer], decisions: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return which techniques answer nearly everybody the same, or worse than a constant would.

    A repetition is *degenerate* if the classifier gives more than :data:`NEARLY_ALL` of the test rows the
    same answer, or more than :data:`NEARLY_ALL` of each group. Accepting one group and refusing the other is
    no decision about people either. A technique counts as degenerate at a level of bias if any repetition is,
    because a mean over useful classifiers and others describes neither.

    ``constants`` have, by name of the dataset, the best constant answer on the original test rows; it is
    unknown for other datasets. ``decisions`` are the run's, with the columns
    :data:`~benchmark.columns.DECISION_COLUMNS`, if it counted any.

    The result has the columns :data:`STANDING_COLUMNS`, which ``results/README.md`` explains at
    ``answers.csv``, and one row for each technique at each level of bias. ``favorable`` is the share of
    favorable labels in the original test rows. Columns that begin with ``true_clean_`` are of the model
    without hidden bias, in rows with hidden bias that are tested in truth; elsewhere, and where this model is
    degenerate, they are NaN.
    """
    cells = results.pivot(index=[*WHERE, "repetition"], columns="metric", values="value")
    cells = cells.reindex(columns=[ACCURACY, *ACCEPTANCE])
    kinds = _kinds(cells)
    # NaN where a repetition has no value.
    constant = is_constant(cells[ACCEPTANCE[0]]).astype(float).mask(cells[ACCEPTANCE[0]].isna())
    where = list(WHERE)
    means = cells.groupby(level=where, sort=False).mean()
    is_degenerate = kinds.fillna("") != ""
    of_kinds = kinds[is_degenerate].groupby(level=where, sort=False).agg(["first", "nunique"])
    standing = pd.DataFrame(
        {
            "n_recorded": kinds.groupby(level=where, sort=False).count(),
            "n_degenerate": is_degenerate.groupby(level=where, sort=False).sum(),
            "mostly_constant": constant.groupby(level=where, sort=False).mean() > 0.5,
            "one_group": is_constant(means[list(ACCEPTANCE[1:])]).any(axis=1),
        }
    )
    one_kind = of_kinds["first"].where(of_kinds["nunique"] == 1, SEVERAL)
    standing["degenerate"] = one_kind.reindex(standing.index).fillna("")
    rows = []
    scored = cells[ACCURACY].notna().reset_index("repetition")
    repetitions = scored["repetition"].where(scored[ACCURACY], -1).groupby(level=where, sort=False).agg(list)
    of_cells = repetitions.reset_index().itertuples(index=False, name=None)
    for dataset, bias, _, test, beta, _, own in of_cells:
        known = constants.get(dataset)
        answer = constant_on(known, test, bias, beta, [i for i in own if i >= 0])
        labels = constant_on(known, test, bias if test in (columns.ORIGINAL, columns.TRUTH) else "", beta=0)
        groups = (labels and labels.groups) or (math.nan, math.nan)
        numbers = (answer.accuracy, answer.accepted) if answer else (math.nan, math.nan)
        rows.append((*numbers, labels.favorable if labels else math.nan, *groups))
    headings = ["constant_accuracy", "constant_accepts"]
    headings += ["favorable", "favorable_deprived", "favorable_favored"]
    standing[headings] = np.array(rows, dtype=float).reshape(-1, len(headings))
    standing["below_constant"] = means[ACCURACY] < standing["constant_accuracy"] - _ROUNDING
    return standing.join(_true_clean_models(decisions)).reset_index()[list(STANDING_COLUMNS)]


def _true_clean_models(decisions: pd.DataFrame | None) -> pd.DataFrame:
    """Return whom the models without hidden bias accept, and their accuracy, by the rows' :data:`WHERE`."""
    headings = [*ACCEPTANCE, ACCURACY]
    if decisions is None or not (in_truth := rule.is_hidden_truth(decisions)).any():
        none = pd.MultiIndex.from_tuples([], names=WHERE)
        return pd.DataFrame(columns=headings, index=none, dtype=float).add_prefix(rule.TRUE_CLEAN)
    rows = decisions[in_truth]
    splits = [*WHERE, "repetition"]
    shares = pd.DataFrame(
        clean_model_shares(rows[list(columns.DECISION_COUNTS)].to_numpy()), index=rows.index
    )
    cells = pd.concat([rows[splits], shares], axis=1).groupby(splits, sort=False)[headings].mean()
    of_level = cells.groupby(level=list(WHERE), sort=False)
    degenerate = (_kinds(cells) != "").groupby(level=list(WHERE), sort=False).any()
    return of_level.mean().mask(degenerate).add_prefix(rule.TRUE_CLEAN)


def with_useful(standing: pd.DataFrame) -> pd.DataFrame:
    """Return standings with ``useful``: never degenerate, no worse than a constant, for both groups."""
    degenerate = standing["n_degenerate"] > 0
    return standing.assign(useful=~(degenerate | standing["below_constant"] | standing["one_group"]))


def _kinds(cells: pd.DataFrame) -> pd.Series:
    """Return the kind of each degenerate cell; empty for others, NaN where its shares are unknown."""
    everybody, deprived, favored = (cells[name] for name in ACCEPTANCE)
    kinds = first_true(
        {
            REFUSES_ALL: is_constant(everybody) & (everybody < 0.5),
            ACCEPTS_ALL: is_constant(everybody),
            BY_GROUP: is_constant(deprived) & is_constant(favored),
        }
    )
    return pd.Series(kinds, index=cells.index, dtype=object).mask(everybody.isna())


def is_constant(share: Any) -> Any:
    """Return whether a share accepted, or each of some, is nearly none or nearly all."""
    return (share < 1 - NEARLY_ALL - rule.EQUAL) | (share > NEARLY_ALL + rule.EQUAL)


def incomparable(frame: pd.DataFrame, standing: pd.DataFrame) -> pd.Series[bool]:
    """Return for each row whether its baseline is mostly constant there, so that nothing is compared with it.

    A baseline that is degenerate in fewer samples, or that decides by group alone, is compared and marked.
    The frame has scenario, level of bias and ``baseline``.
    """
    of_baselines = frame.assign(technique=frame["baseline"])
    positions = positions_in(standing[standing["mostly_constant"]], of_baselines, WHERE)
    return pd.Series(positions >= 0, index=frame.index)


def without_degenerate(results: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return results without a technique's values at the levels of bias at which it is degenerate."""
    degenerate = positions_in(standing[standing["n_degenerate"] > 0], results, WHERE) >= 0
    return results.assign(value=results["value"].mask(degenerate))


def judged(comparisons: pd.DataFrame, *, alpha: float = ALPHA, rope: float = rule.ROPE) -> pd.DataFrame:
    r"""Return :func:`~benchmark.statistics.paired.paired_comparisons` with which techniques differ.

    One rule holds for any number of repetitions. A technique is better if its whole simultaneous interval is
    above the margin ``rope``, and worse if it is below minus the margin. The intervals of all m techniques of
    a family (:data:`~benchmark.statistics.paired.TESTED_TOGETHER`) at one level of bias hold together with a
    chance of at least 1 - ``alpha``. Each is Student's with a confidence of :math:`1 - \alpha / m`
    (Bonferroni).

    New columns are ``simultaneous_low`` and ``simultaneous_high``, the ends of the interval; ``splits``, its
    number of splits; ``tested``, ``better``, ``candidate`` and ``worse``. A single repetition
    without an interval shows a candidate at most. There, a technique is worse if its mean is worse by more
    than the margin, so that no cost goes unseen.
    """
    improvement, error, df = (
        comparisons[name].to_numpy(dtype=float) for name in ("improvement", "improvement_se", "df")
    )
    has_interval = np.isfinite(error) & (df > 0)
    family = [comparisons[name] for name in (*TESTED_TOGETHER, "level")]
    together = pd.Series(has_interval, index=comparisons.index).groupby(family, sort=False).transform("sum")
    quantile = stdtrit(np.maximum(df, 1), 1 - alpha / (2 * np.maximum(together.to_numpy(dtype=float), 1)))
    half = np.where(has_interval, quantile * error, np.nan)
    low, high = improvement - half, improvement + half
    is_single = ~has_interval & (comparisons["n"] == 1).to_numpy()
    return comparisons.assign(
        simultaneous_low=low,
        simultaneous_high=high,
        splits=df + 1,
        tested=has_interval,
        better=low > rope + rule.EQUAL,
        candidate=is_single & (improvement > rope + rule.EQUAL),
        worse=(high < -rope - rule.EQUAL) | (is_single & (improvement < -rope - rule.EQUAL)),
    )


def answer_table(
    results: pd.DataFrame,
    comparisons: pd.DataFrame,
    standing: pd.DataFrame,
    baselines: Baselines,
    criteria: rule.Criteria = rule.Criteria(),  # noqa: B008
    resampling: Resampling | None = None,
    *,
    paired_levels: bool = False,
    effects: pd.DataFrame | None = None,
    knowledge: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return all that a choice between techniques at one level of bias needs, for each goal.

    ``comparisons`` are from :func:`judged`, ``standing`` from :func:`standings`. ``resampling`` says how
    repetitions overlap, if they are repeated splits of the same rows. ``paired_levels`` says whether one
    repetition has the same rows and random numbers at all levels of bias. ``effects``, from
    :func:`~benchmark.statistics.restoration.effect_table`, says where there is something to undo, and which
    techniques undo no more than chance; this is unknown by default. ``knowledge`` has what they are told
    about the bias; a choice is among those that know as much.

    The result has the columns :data:`ANSWER_COLUMNS`, which
    ``results/README.md`` explains at ``answers.csv``. There is one row for each goal and each technique at
    each level of bias in its scenario, the baseline included. The goal to restore has rows where levels are
    paired and the results have ``restoration_distance``, on the original test, above level 0. ``distance`` is
    the mean absolute value of the metric: more than the size of ``value`` where its sign differs between
    repetitions. Every ``_low`` and ``_high`` are the ends of an interval of 95 %.
    """
    measured = set(results["metric"])
    effects = pd.DataFrame(columns=list(EFFECT_COLUMNS)) if effects is None else effects
    tables = []
    for goal in columns.GOALS:
        if columns.GOAL_METRICS[goal] in measured and (goal != columns.RESTORE or paired_levels):
            table = _joined(results, comparisons, standing, resampling, goal)
            tables.append(_answers_for(goal, table, standing, baselines, criteria, effects, knowledge))
    tables = [part for part in tables if len(part)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(ANSWER_COLUMNS))


def _answers_for(
    goal: str,
    table: pd.DataFrame,
    standing: pd.DataFrame,
    baselines: Baselines,
    criteria: rule.Criteria,
    effects: pd.DataFrame,
    knowledge: Mapping[str, str],
) -> pd.DataFrame:
    """Return the answers for one goal, from the table of :func:`_joined`."""
    table["baseline"] = baselines.column(table)
    table["clean_model"] = baselines.of_clean_models.column(table)
    is_baseline = table["technique"] == table["baseline"]
    table["pairs"] = table["pairs"].mask(is_baseline, table["n"]).fillna(0).astype(int)
    for name, change in (("value", "change"), ("accuracy", "accuracy_change")):
        table[change] = table[change].mask(is_baseline & table[name].notna(), 0.0)
    table["baseline_degenerate"] = incomparable(table, standing)
    for judgement in ("better", "candidate", "worse"):
        table[judgement] &= ~table["baseline_degenerate"]
    table = table.join(rule.references(table, goal, criteria))
    if goal == columns.RESTORE:  # references are from level 0
        table = table[(table["test"] == columns.ORIGINAL) & (table["level"] > 0)].reset_index(drop=True)
    of_level = effect_reasons(table, effects) if goal == columns.RESTORE else pd.Series("", index=table.index)
    is_constant_baseline = (of_level == "") & table["baseline_degenerate"]
    table["level_reason"] = of_level.mask(is_constant_baseline, rule.BASELINE_CONSTANT)
    # Not shown to be nearer to the clean model than a refit on biased rows.
    by_chance = positions_in(effects[effects["reason"] == BY_CHANCE], table, WHERE) >= 0
    table["by_chance"] = by_chance & (goal == columns.RESTORE)
    table = table.join(rule.verdicts(table, criteria))
    # Of all techniques with learners of their own, one is chosen: they are not used with each other's.
    family = table["classifier"].mask(table["classifier"].isin(baselines.learners), "")
    spots = table.groupby([*PLANTED, family, "test", known_of(table, knowledge)], sort=False)
    chosen = [rule.choose(rows, criteria.margin) for _, rows in spots]
    table = table.join(pd.concat(chosen)) if chosen else table.assign(dominated_by="", choice="", tied="")
    is_dominated = table["dominated_by"] != ""
    table["verdict"] = table["verdict"].mask(is_dominated, rule.DOMINATED)
    table["reason"] = table["reason"].mask(is_dominated, "")
    before = table["baseline_accepted_deprived"]
    gained = table["accepted_deprived"] > before + rule.EQUAL
    lost = table["accepted_favored"] < table["baseline_accepted_favored"] - rule.EQUAL
    table["levels_down"] = table["verdict"].isin(rule.WITHIN_LIMITS) & before.notna() & ~gained & lost
    return table[list(ANSWER_COLUMNS)]


def effect_reasons(table: pd.DataFrame, effects: pd.DataFrame) -> pd.Series:
    """Return for each row with a baseline why nothing can be restored there; empty if something can.

    A baseline that ``effects`` lacks gets the reason that all others at that level of the scenario share.
    """
    if effects.empty:
        return pd.Series("", index=table.index)
    effects = effects[effects["technique"] == ""]
    spot = [*SCENARIO, "level"]
    by_baseline = effects.set_index([*spot, "baseline"])["reason"]
    agreed = effects.groupby(spot)["reason"].agg(lambda words: words.iloc[0] if words.nunique() == 1 else "")
    of_baseline, of_level = (
        pd.Series(reasons.reindex(pd.MultiIndex.from_frame(table[[*names]])).to_numpy(), index=table.index)
        for reasons, names in ((by_baseline, [*spot, "baseline"]), (agreed, spot))
    )
    return of_baseline.fillna(of_level).fillna("")


def unranked(keys: pd.DataFrame, baselines: Baselines, effects: pd.DataFrame) -> Any:
    """Return which rows compare with a clean model where there is nothing to rank by.

    ``keys`` have scenario, level, technique and metric. At level 0 the baseline is the clean model itself,
    and tests other than the original have no clean model. Elsewhere, :func:`effect_reasons` returns why
    nothing can be restored.
    """
    table = keys.assign(baseline=baselines.column(keys))
    of_metric = table["metric"].isin(OF_CLEAN_MODEL)
    nowhere = (
        (table["level"] == 0) | (table["test"] != columns.ORIGINAL) | (effect_reasons(table, effects) != "")
    )
    return (of_metric & nowhere).to_numpy()


def _joined(
    results: pd.DataFrame,
    comparisons: pd.DataFrame,
    standing: pd.DataFrame,
    resampling: Resampling | None,
    goal: str,
) -> pd.DataFrame:
    """Return one row for each technique at each level of bias, with everything known about it."""
    metric_of_goal = columns.GOAL_METRICS[goal]
    cells = to_cells(results[results["metric"].isin((metric_of_goal, ACCURACY, *ACCEPTANCE))], resampling)
    intervals = cell_intervals(cells).assign(distance=row_means(np.abs(cells.values)))

    def of(frame: pd.DataFrame, metric: str, *names: str, **renamed: str) -> pd.DataFrame:
        rows = frame.loc[frame["metric"] == metric, [*WHERE, *names, *renamed]]
        return rows.rename(columns=renamed).set_index(list(WHERE))

    def ends(one: str, other: str, name: str) -> dict[str, str]:
        return {f"{one}_low": f"{name}_low", f"{one}_high": f"{name}_high"} | {other: name}

    judgements = ("tested", "better", "candidate", "worse")
    gain = ("improvement", "simultaneous_low", "simultaneous_high", "splits")
    changes = {name: ends("difference", "difference", name) for name in ("change", "accuracy_change")}
    table = of(intervals, metric_of_goal, "n", "missing", "distance", **ends("ci", "mean", "value"))
    for part in (
        of(intervals, ACCURACY, **ends("ci", "mean", ACCURACY)),
        *(of(intervals, name, mean=name) for name in ACCEPTANCE),
        of(comparisons, metric_of_goal, *gain, *judgements, n="pairs", **changes["change"]),
        of(comparisons, ACCURACY, **changes["accuracy_change"]),
        standing.set_index(list(WHERE)),
    ):
        table = table.join(part)
    table = table.reset_index().assign(goal=goal, metric=metric_of_goal)
    # A join leaves gaps, and columns of objects where there are no comparisons at all.
    numbers = ["pairs", *gain, *(name for headings in changes.values() for name in headings.values())]
    table[numbers] = table[numbers].astype(float)
    flags = [*judgements, "mostly_constant", "below_constant", "one_group"]
    table[flags] = table[flags].eq(True)
    table["degenerate"] = table["degenerate"].fillna("")
    counts = ["n_recorded", "n_degenerate"]
    table[counts] = table[counts].fillna(0).astype(int)
    return table
