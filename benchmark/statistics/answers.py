"""At this level of bias, which technique: how much discrimination it leaves, at what cost, whom it accepts.

A classifier that answers nearly everybody the same has next to no discrimination, and one that is less
accurate than a constant answer is of no use, however fair it is. Both are found here, once for every table,
figure and sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from benchmark.columns import (
    BALANCED,
    BIASED,
    EQUALISE,
    GOAL_METRICS,
    GOALS,
    ORIGINAL,
    RESTORE,
    TRUTH,
    UNTREATED,
)
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answer_record import ANSWER_COLUMNS
from benchmark.statistics.bayes import ROPE
from benchmark.statistics.cells import SCENARIO, WHERE, Baselines, Resampling, first_true, to_cells
from benchmark.statistics.choices import EQUAL, Criteria, choose, references
from benchmark.statistics.decisions import AGREEMENT, RESTORATION_DISTANCE
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.paired import FAMILY
from benchmark.statistics.restoration import BY_CHANCE, NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO

ACCURACY = "accuracy"
"""Metric that the others are traded off against."""

DISCRIMINATION = GOAL_METRICS[EQUALISE]
"""Metric that a choice between techniques that equalise is to improve; 0 is ideal."""

OF_CLEAN_MODEL = (RESTORATION_DISTANCE, AGREEMENT)
"""Metrics that compare decisions with those of the clean model, which is itself the baseline at level 0."""

ACCEPTANCE = ("accepted", "accepted_deprived", "accepted_favored")
"""Metrics that say who is predicted the favorable outcome."""

NEARLY_ALL = 0.99
"""A classifier that gives more than this share of the rows the same answer counts as constant."""

EITHER_CONSTANT = "refusing or accepting everybody"
"""What the best constant answer does where both are as good."""

_ROUNDING = 1e-9  # by which a mean of equal accuracies may miss them

STANDING_COLUMNS = (
    *WHERE,
    *("constant_accuracy", "constant_answer"),
    *("n_degenerate", "degenerate", "mostly_constant", "below_constant", "one_group"),
    *("favorable", "favorable_deprived", "favorable_favored"),
)
"""Columns of :func:`standings`."""


@dataclass(frozen=True)
class ConstantAnswer:
    """The more accurate of the two classifiers that answer everybody the same, by the labels of test rows.

    ``favorable`` and ``unfavorable`` are numbers of rows, or shares of them. Where each repetition has test
    rows of its own, ``scored`` are their shares of favorable labels, by level of bias and repetition;
    ``biased`` are those of test rows with planted bias, by name of the bias and level, NaN where unknown;
    ``hidden`` those of rows with hidden bias, by name of the bias and test.
    ``groups`` are the shares of favorable labels in the deprived and in the favored group.
    """

    favorable: float
    unfavorable: float
    scored: Mapping[float, Sequence[float]] = field(default_factory=dict, compare=False)
    biased: Mapping[tuple[str, float], Sequence[float]] = field(default_factory=dict, compare=False)
    hidden: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict, compare=False)
    groups: tuple[float, float] | None = field(default=None, compare=False)

    @property
    def accuracy(self) -> float:
        """Share of the test rows that it is right about."""
        return max(self.favorable, self.unfavorable) / (self.favorable + self.unfavorable)

    @property
    def accepts(self) -> bool:
        """Whether it predicts the favorable outcome."""
        return self.favorable > self.unfavorable

    @property
    def words(self) -> str:
        """What it does: ``"refusing everybody"``, ``"accepting everybody"``, or either of both alike."""
        if self.favorable == self.unfavorable:
            return EITHER_CONSTANT
        return "accepting everybody" if self.accepts else "refusing everybody"


def random_accuracy(constant: float) -> float:
    """Return the accuracy that accepting by lot at the rate of favorable labels has in the mean.

    ``constant`` is that of the best constant answer: the greater of this rate and its complement.
    """
    return constant**2 + (1 - constant) ** 2


def constant_on(
    answer: ConstantAnswer | None, test: str, bias: str = "", beta: float | None = None
) -> ConstantAnswer | None:
    """Return the best constant answer on the rows that a test scored; None if nothing is known of it.

    ``answer`` is that on the original test rows of the dataset. Without a level of bias it is that of all
    levels, which tests with planted bias have none for. Where nothing is planted, a biased test is the
    original one; on balanced rows either answer is right about half of the weight.
    """
    if test == BALANCED:
        return ConstantAnswer(favorable=1, unfavorable=1, groups=(0.5, 0.5))
    if answer is None:
        return None
    known = [share for share in _scored_shares(answer, test, bias, beta) if not math.isnan(share)]
    if known:
        share = math.fsum(known) / len(known)
        # Groups were counted with true labels.
        groups = None if test != TRUTH and (bias, test) in answer.hidden else answer.groups
        return ConstantAnswer(share, 1 - share, groups=groups)
    return answer if test in (ORIGINAL, TRUTH) or (test == BIASED and beta == 0) else None


def _scored_shares(answer: ConstantAnswer, test: str, bias: str, beta: float | None) -> Sequence[float]:
    """Return the shares of favorable labels in the rows that were scored in each repetition, if recorded."""
    if (bias, test) in answer.hidden:
        return answer.hidden[bias, test]
    if test == BIASED and beta is not None and (bias, beta) in answer.biased:
        return answer.biased[bias, beta]
    if test == BIASED and beta != 0:
        return ()
    if beta is None:
        return [share for shares in answer.scored.values() for share in shares]
    return answer.scored.get(beta, ())


def constant_in(answer: ConstantAnswer | None, test: str, bias: str, beta: float, repetition: int) -> float:
    """Return the accuracy of the best constant answer on the test rows of one repetition; NaN if unknown."""
    shares = () if answer is None or test == BALANCED else _scored_shares(answer, test, bias, beta)
    if repetition < len(shares):
        return max(shares[repetition], 1 - shares[repetition])
    whole = constant_on(answer, test, bias, beta)
    return math.nan if whole is None else whole.accuracy


def standings(results: pd.DataFrame, constants: Mapping[str, ConstantAnswer]) -> pd.DataFrame:
    """Find the techniques that answer nearly everybody the same, or worse than a constant would.

    A repetition is *degenerate* if the classifier gives more than :data:`NEARLY_ALL` of the test rows the
    same answer, or more than that of each of the two groups: accepting one group and refusing the other is no
    decision about people either. A technique counts as degenerate at a level of bias if it is so in any
    repetition, because a mean over useful and useless classifiers describes neither.

    Of the metrics, accuracy and :data:`ACCEPTANCE` are looked at. ``constants`` are by name of the dataset,
    on the original test rows (:func:`constant_on`); those of other datasets are unknown.

    Columns :data:`STANDING_COLUMNS`, one row for each technique at each level of bias. ``n_degenerate``
    counts the degenerate repetitions, and ``degenerate`` says what the classifiers do there; empty where
    there are none. ``mostly_constant`` is whether they give more than :data:`NEARLY_ALL` of all rows the same
    answer in more than half of the repetitions in which that is known: nothing can be compared with such a
    baseline (:func:`incomparable`). ``below_constant`` is whether the mean accuracy is below that of the best
    constant answer on the rows that were scored; ``constant_accuracy`` and ``constant_answer`` speak of that,
    NaN and empty if unknown.
    ``one_group`` is whether nearly all or nearly none of one of the two groups are accepted, in the mean.
    """
    cells = results.pivot(index=[*WHERE, "repetition"], columns="metric", values="value")
    cells = cells.reindex(columns=[ACCURACY, *ACCEPTANCE])
    kinds = _kinds(cells)
    # Not known where a repetition has no value: NaN is neither below nor above.
    constant = is_constant(cells[ACCEPTANCE[0]]).astype(float).mask(cells[ACCEPTANCE[0]].isna())
    where = list(WHERE)
    means = cells.groupby(level=where, sort=False).mean()
    found = pd.DataFrame(
        {
            "n_degenerate": (kinds.notna() & (kinds != "")).groupby(level=where, sort=False).sum(),
            "degenerate": kinds.groupby(level=where, sort=False).agg(_in_words),
            "mostly_constant": constant.groupby(level=where, sort=False).mean() > 0.5,
            "one_group": is_constant(means[list(ACCEPTANCE[1:])]).any(axis=1),
            "accuracy_mean": means[ACCURACY],
        }
    ).reset_index()
    shares = _favorable_where_scored(cells[ACCURACY], constants)
    places = zip(*(found[name] for name in ("dataset", "test", "bias", "beta")), shares, strict=True)
    known = [
        constant_on(constants.get(dataset), *where) if np.isnan(share) else ConstantAnswer(share, 1 - share)
        for dataset, *where, share in places
    ]
    found["constant_accuracy"] = [answer.accuracy if answer else math.nan for answer in known]
    found["constant_answer"] = [answer.words if answer else "" for answer in known]
    labels = [
        constant_on(constants.get(d), t, bias if t in (ORIGINAL, TRUTH) else "", beta=0)
        for d, t, bias in zip(found["dataset"], found["test"], found["bias"], strict=True)
    ]
    found["favorable"] = [
        answer.favorable / (answer.favorable + answer.unfavorable) if answer else math.nan
        for answer in labels
    ]
    for i, name in enumerate(("favorable_deprived", "favorable_favored")):
        found[name] = [answer.groups[i] if answer and answer.groups else math.nan for answer in labels]
    found["below_constant"] = found["accuracy_mean"] < found["constant_accuracy"] - _ROUNDING
    return found[list(STANDING_COLUMNS)]


def _favorable_where_scored(accuracy: pd.Series, constants: Mapping[str, ConstantAnswer]) -> pd.Series:
    """Return the mean share of favorable labels in the test rows of the repetitions with an accuracy.

    One for each technique at each level of bias; NaN where all repetitions have the same rows, or unknown
    ones.
    """
    names = ["dataset", "test", "bias", "beta"]
    places = accuracy.index.to_frame(index=False)[[*names, "repetition"]]
    known: dict[tuple[Any, ...], Sequence[float]] = {}
    for dataset, *where in places[names].drop_duplicates().itertuples(index=False, name=None):
        answer = constants.get(dataset)
        on_rows = answer is not None and where[0] != BALANCED
        known[dataset, *where] = _scored_shares(answer, *where) if answer and on_rows else ()
    shares = [
        own[repetition] if repetition < len(own := known[tuple(where)]) else math.nan
        for *where, repetition in places.itertuples(index=False, name=None)
    ]
    of_cells = pd.Series(shares, index=accuracy.index, dtype=float).mask(accuracy.isna())
    return of_cells.groupby(level=list(WHERE), sort=False).mean()


def of_use(standing: pd.DataFrame) -> pd.DataFrame:
    """Return standings with ``of_use``: never degenerate, no worse than a constant, for both groups."""
    useless = (standing["n_degenerate"] > 0) | standing["below_constant"] | standing["one_group"]
    return standing.assign(of_use=~useless)


def _kinds(cells: pd.DataFrame) -> pd.Series:
    """Say of each cell how it is degenerate; empty where it is not, NaN where the shares are unknown."""
    everybody, deprived, favored = (cells[name] for name in ACCEPTANCE)
    most = f"{100 * NEARLY_ALL:.0f} % of everybody"
    kinds = first_true(
        {
            f"refuses more than {most}": is_constant(everybody) & (everybody < 0.5),
            f"accepts more than {most}": is_constant(everybody),
            "decides by group alone": is_constant(deprived) & is_constant(favored),
        }
    )
    return pd.Series(kinds, index=cells.index, dtype=object).mask(everybody.isna())


def is_constant(share: Any) -> Any:
    """Return whether a share accepted, or each of some, is nearly none or nearly all."""
    return (share < 1 - NEARLY_ALL - EQUAL) | (share > NEARLY_ALL + EQUAL)


def _in_words(kinds: pd.Series) -> str:
    """Say how many of a technique's repetitions are degenerate in which way."""
    known = kinds.dropna()
    counts = known[known != ""].value_counts(sort=False)
    return "; ".join(f"{kind} in {n} of {len(known)} samples" for kind, n in counts.items())


def incomparable(frame: pd.DataFrame, standing: pd.DataFrame) -> pd.Series[bool]:
    """Return of each row whether nothing is compared with its baseline: that is mostly constant there.

    A baseline that is degenerate in fewer samples, or that decides by group alone, is compared with like any
    other, and marked. The frame has scenario, level of bias and ``baseline``.
    """
    useless = pd.MultiIndex.from_frame(standing.loc[standing["mostly_constant"], list(WHERE)])
    keys = frame[[*SCENARIO, "beta", "baseline"]].rename(columns={"baseline": "technique"})
    return pd.Series(pd.MultiIndex.from_frame(keys).isin(useless), index=frame.index)


def without_degenerate(
    results: pd.DataFrame, standing: pd.DataFrame, baselines: Baselines | None = None
) -> pd.DataFrame:
    """Return results in which a technique has no values at the levels of bias at which it is degenerate.

    Given ``baselines``, what is compared with keeps its values unless it is mostly constant.
    """
    gone = standing["n_degenerate"] > 0
    if baselines is not None:
        is_baseline = standing["technique"] == baselines.column(standing)
        gone &= ~is_baseline | standing["mostly_constant"]
    left_out = pd.MultiIndex.from_frame(standing.loc[gone, list(WHERE)])
    keys = pd.MultiIndex.from_frame(results[list(WHERE)])
    return results.assign(value=results["value"].mask(keys.isin(left_out)))


def judged(comparisons: pd.DataFrame, *, alpha: float = ALPHA, rope: float = ROPE) -> pd.DataFrame:
    r"""Say in :func:`~benchmark.statistics.paired.paired_comparisons` which techniques differ.

    There is one rule for any number of repetitions: better is an improvement of more than the margin,
    ``rope``, in the whole of its simultaneous interval, and worse one of less than minus the margin. The
    intervals of all m techniques that are compared at one level of bias of a scenario miss something with a
    chance of ``alpha`` at most: each is Student's with a confidence of :math:`1 - \alpha / m` (Bonferroni).

    The new columns are ``simultaneous_low`` and ``simultaneous_high``, the ends of the interval; ``splits``,
    how many repetitions, or folds of them, it comes from; ``tested``,
    whether there is one; ``better``, ``candidate`` and ``worse``. A single repetition without an interval
    shows a candidate at most; there worse is what is worse by more than the margin, so that no cost is
    hidden.
    """
    improvement, error, df = (
        comparisons[name].to_numpy(dtype=float) for name in ("improvement", "improvement_se", "df")
    )
    known = np.isfinite(error) & (df > 0)
    family = [comparisons[name] for name in (*FAMILY, "beta")]
    together = pd.Series(known, index=comparisons.index).groupby(family, sort=False).transform("sum")
    quantile = stdtrit(np.maximum(df, 1), 1 - alpha / (2 * np.maximum(together.to_numpy(dtype=float), 1)))
    half = np.where(known, quantile * error, np.nan)
    low, high = improvement - half, improvement + half
    single = ~known & (comparisons["n"] == 1).to_numpy()
    return comparisons.assign(
        simultaneous_low=low,
        simultaneous_high=high,
        splits=df + 1,
        tested=known,
        better=low > rope + EQUAL,
        candidate=single & (improvement > rope + EQUAL),
        worse=(high < -rope - EQUAL) | (single & (improvement < -rope - EQUAL)),
    )


def answer_table(
    results: pd.DataFrame,
    comparisons: pd.DataFrame,
    standing: pd.DataFrame,
    baselines: Baselines,
    criteria: Criteria = Criteria(),  # noqa: B008
    resampling: Resampling | None = None,
    *,
    paired_levels: bool = False,
    undo: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Put together what a choice between techniques at one level of bias needs, for each goal.

    Parameters
    ----------
    results : DataFrame
        All values.
    comparisons : DataFrame
        From :func:`judged`.
    standing : DataFrame
        From :func:`standings`.
    baselines : Baselines
        What techniques are compared with.
    criteria : Criteria
        What a technique has to reach so that it is recommended.
    resampling : Resampling, optional
        How repetitions overlap, where they are repeated splits of the same rows.
    paired_levels : bool
        Whether one repetition has the same rows and random numbers at all levels of bias.
    undo : DataFrame, optional
        From :func:`~benchmark.statistics.undo_table` and :func:`~benchmark.statistics.chance_table`: where
        there is something to undo, and which techniques undo no more than chance; by default nothing is known
        of it.

    Returns
    -------
    DataFrame
        Columns :data:`~benchmark.statistics.answer_record.ANSWER_COLUMNS`, one row for each goal and each
        technique at each level of bias in its scenario, the baseline included. There are rows to restore
        where levels are paired and the results have ``restoration_distance``, on the original test,
        above level 0.

        ``goal``, ``metric``
            One of :data:`~benchmark.columns.GOALS`, and its metric.
        ``value``, ``accuracy``, ``accepted``, ``accepted_deprived``, ``accepted_favored``
            Means over the ``n`` repetitions with a value of the metric; ``pairs`` of them are compared with
            the baseline, which has none in the others.
        ``distance``
            Mean absolute value of the metric, of which 0 is ideal: more than that of ``value`` where its sign
            differs from repetition to repetition.
        ``change``, ``accuracy_change``
            Mean differences to the baseline on the same samples; 0 for the baseline itself.
        ``improvement``
            By how much ``distance`` is less than the baseline's, in the mean, with its simultaneous interval:
            all techniques at this level of the scenario are within theirs together. ``splits`` are the
            repetitions, or their folds, that it comes from.
        ``better``, ``worse``, ``less_accurate``
            Whether the metric is better or worse than the baseline's, and the accuracy worse, by
            :func:`judged`; none of it where nothing is compared. ``tested`` is whether there is an interval.
        ``reference``, ``reference_*``, ``accuracy_floor``, ``baseline_accepted_deprived``, ``too_few``
            See :func:`~benchmark.statistics.choices.references`.
        ``baseline_degenerate``
            Whether nothing is compared with the baseline there (:func:`incomparable`).
        ``verdict``
            One of :data:`~benchmark.statistics.answer_record.VERDICTS`, the first that is true: ``baseline``;
            ``untreated``, doing nothing where something else is the baseline; ``no_reference`` and
            ``nothing_to_undo``, nothing can be restored here; ``no_effect_shown``, the bias is not shown to
            move decisions; ``hidden_bias``, labels hide so much bias that ranks to restore decisions are not
            shown to be true; ``degenerate``; ``missing`` without a value,
            ``incomplete`` without one, of the technique or of the baseline, in every repetition;
            ``below_constant``, less accurate than ``accuracy_floor``, and so than the best constant answer;
            ``unknown`` where the shares accepted, or what a constant answer would score, are not recorded;
            ``not_compared`` where the baseline is mostly constant or without a value; ``one_group``, better
            than the baseline, but one group is given nearly always the same answer; ``too_few``, better than
            the baseline, but see there; ``outdone``, better than the baseline, but see ``outdone_by``;
            ``recommended``, better than the baseline; ``candidate``, better in too few repetitions to be
            recommended; ``worse`` than the baseline; ``no_less``, neither is shown.
        ``outdone_by``
            A recommended technique or candidate that is no farther from 0 (``distance``) and no less accurate
            than this one, in the means, and by more than the margin better in one of both.
        ``levels_down``
            Whether a recommended technique, candidate or outdone one accepts no greater share of the deprived
            group than the baseline, and a smaller one of the favored group: the favored group has lost, and
            the deprived one gained nothing.
        ``choice``, ``tied``
            What the technique is named for, and what others and it are tied for, with spaces between:
            ``least`` for the most accurate of the recommended techniques or candidates that are within the
            margin of the least distance; ``cheap`` for the same among those whose mean accuracy is at most
            the margin below the baseline's.

        Every ``_low`` and ``_high`` are the ends of an interval of 95 %.
    """
    measured = set(results["metric"])
    parts = []
    for goal in GOALS:
        if GOAL_METRICS[goal] in measured and (goal != RESTORE or paired_levels):
            table = _joined(results, comparisons, standing, resampling, goal)
            parts.append(_answers_for(goal, table, standing, baselines, criteria, undo))
    found = [part for part in parts if len(part)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(ANSWER_COLUMNS))


def _answers_for(
    goal: str,
    table: pd.DataFrame,
    standing: pd.DataFrame,
    baselines: Baselines,
    criteria: Criteria,
    undo: pd.DataFrame | None,
) -> pd.DataFrame:
    """Return the answers of one goal, given what :func:`_joined` knows of the metric."""
    table["baseline"] = baselines.column(table)
    is_baseline = table["technique"] == table["baseline"]
    table["pairs"] = table["pairs"].mask(is_baseline, table["n"]).fillna(0).astype(int)
    for name, change in (("value", "change"), ("accuracy", "accuracy_change")):
        table[change] = table[change].mask(is_baseline & table[name].notna(), 0.0)
    table["baseline_degenerate"] = incomparable(table, standing)
    for judgement in ("better", "candidate", "worse", "less_accurate"):
        table[judgement] &= ~table["baseline_degenerate"]
    table = table.join(references(table, goal, criteria))
    if goal == RESTORE:  # references are from level 0
        table = table[(table["test"] == ORIGINAL) & (table["beta"] > 0)].reset_index(drop=True)
    table["undo"] = undo_of(table, undo) if goal == RESTORE else ""
    table["by_chance"] = _by_chance(table, undo) if goal == RESTORE else False
    table["verdict"] = _verdicts(table, criteria)
    spots = table.groupby([*SCENARIO, "beta"], sort=False)
    chosen = [choose(rows, criteria.margin) for _, rows in spots]
    table = table.join(pd.concat(chosen)) if chosen else table.assign(outdone_by="", choice="", tied="")
    table["verdict"] = table["verdict"].mask(table["outdone_by"] != "", "outdone")
    return _with_losses(table)[list(ANSWER_COLUMNS)]


def undo_of(table: pd.DataFrame, undo: pd.DataFrame | None) -> pd.Series:
    """Return of each row with a baseline why nothing can be restored there; empty if something can.

    Of a baseline of which nothing is said, the same is true as of all others at that level of the scenario.
    """
    if undo is None or undo.empty:
        return pd.Series("", index=table.index)
    undo = undo[undo["technique"] == ""]
    spot = [*SCENARIO, "beta"]
    by_baseline = undo.set_index([*spot, "baseline"])["undo"]
    agreed = undo.groupby(spot)["undo"].agg(lambda words: words.iloc[0] if words.nunique() == 1 else "")
    of_baseline, of_level = (
        pd.Series(known.reindex(pd.MultiIndex.from_frame(table[[*names]])).to_numpy(), index=table.index)
        for known, names in ((by_baseline, [*spot, "baseline"]), (agreed, spot))
    )
    return of_baseline.fillna(of_level).fillna("")


def _by_chance(table: pd.DataFrame, undo: pd.DataFrame | None) -> Any:
    """Return which techniques are not shown to come nearer to the clean model than chance does."""
    if undo is None:
        return np.zeros(len(table), dtype=bool)
    found = undo.loc[undo["undo"] == BY_CHANCE, list(WHERE)]
    return pd.MultiIndex.from_frame(table[list(WHERE)]).isin(pd.MultiIndex.from_frame(found))


def unranked(keys: pd.DataFrame, baselines: Baselines, undo: pd.DataFrame | None) -> Any:
    """Return which rows compare with a clean model where there is nothing to rank by.

    ``keys`` have scenario, ``beta``, ``technique`` and ``metric``. At level 0 the baseline is the clean model
    itself; other tests than the original have none; and somewhere nothing can be restored (:func:`undo_of`).
    """
    table = keys.assign(baseline=baselines.column(keys))
    of_metric = table["metric"].isin(OF_CLEAN_MODEL)
    nowhere = (table["beta"] == 0) | (table["test"] != ORIGINAL) | (undo_of(table, undo) != "")
    return (of_metric & nowhere).to_numpy()


def _joined(
    results: pd.DataFrame,
    comparisons: pd.DataFrame,
    standing: pd.DataFrame,
    resampling: Resampling | None,
    goal: str,
) -> pd.DataFrame:
    """Put what is known of each technique at each level of bias into one row."""
    metric_of_goal = GOAL_METRICS[goal]
    own = results[results["metric"].isin((metric_of_goal, ACCURACY, *ACCEPTANCE))]
    intervals = cell_intervals(to_cells(own, resampling))

    def of(frame: pd.DataFrame, metric: str, columns: dict[str, str]) -> pd.DataFrame:
        own = frame.loc[frame["metric"] == metric, [*WHERE, *columns]]
        return own.rename(columns=columns).set_index(list(WHERE))

    def mean(name: str) -> dict[str, str]:
        return {"mean": name, "ci_low": f"{name}_low", "ci_high": f"{name}_high"}

    def change(name: str) -> dict[str, str]:
        return {f"difference{end}": f"{name}{end}" for end in ("", "_low", "_high")}

    judgements = {name: name for name in ("tested", "better", "candidate", "worse")}
    gain = {
        "improvement": "improvement",
        "simultaneous_low": "improvement_low",
        "simultaneous_high": "improvement_high",
        "splits": "splits",
    }
    table = of(intervals, metric_of_goal, {"n": "n", "missing": "missing", **mean("value")})
    own = results[results["metric"] == metric_of_goal]
    for part in (
        own.assign(distance=own["value"].abs()).groupby(list(WHERE), sort=False)[["distance"]].mean(),
        of(intervals, ACCURACY, mean("accuracy")),
        *(of(intervals, name, {"mean": name}) for name in ACCEPTANCE),
        of(comparisons, metric_of_goal, {"n": "pairs", **change("change"), **gain, **judgements}),
        of(comparisons, ACCURACY, {**change("accuracy_change"), "worse": "less_accurate"}),
        standing.set_index(list(WHERE)),
    ):
        table = table.join(part)
    table = table.reset_index().assign(goal=goal, metric=metric_of_goal)
    # Joining leaves gaps, and columns of objects where there are no comparisons at all.
    numbers = ["pairs", *change("change").values(), *change("accuracy_change").values(), *gain.values()]
    table[numbers] = table[numbers].astype(float)
    flags = [*judgements, "less_accurate", "mostly_constant", "below_constant", "one_group"]
    table[flags] = table[flags].eq(True)
    texts = ["degenerate", "constant_answer"]
    table[texts] = table[texts].fillna("")
    table["n_degenerate"] = table["n_degenerate"].fillna(0).astype(int)
    return table


def _verdicts(table: pd.DataFrame, criteria: Criteria) -> Any:
    """Return the verdict on each row."""
    good = table["better"] | table["candidate"]
    return first_true(
        {
            "baseline": table["technique"] == table["baseline"],
            "untreated": table["technique"] == UNTREATED,
            NO_REFERENCE: table["undo"] == NO_REFERENCE,
            NOTHING_TO_UNDO: table["undo"] == NOTHING_TO_UNDO,
            NO_EFFECT_SHOWN: table["undo"] == NO_EFFECT_SHOWN,
            HIDDEN_BIAS: table["undo"] == HIDDEN_BIAS,
            "degenerate": table["n_degenerate"] > 0,
            "missing": table["value"].isna(),
            "incomplete": (table["missing"] > 0) | ((table["pairs"] > 0) & (table["pairs"] < table["n"])),
            "below_constant": table["accuracy"] < table["accuracy_floor"] - EQUAL,
            "unknown": table["accepted"].isna()
            | table["accuracy"].isna()
            | table["constant_accuracy"].isna(),
            "not_compared": table["baseline_degenerate"] | table["change"].isna(),
            "one_group": good & table["one_group"],
            "too_few": good & (table["too_few"] != ""),
            BY_CHANCE: good & table["by_chance"],
            "recommended": table["better"] & (table["splits"] >= criteria.least_splits),
            "candidate": good,
            "worse": table["worse"],
        },
        "no_less",
    )


def _with_losses(table: pd.DataFrame) -> pd.DataFrame:
    """Say whether only the favored group has lost."""
    spot = [*SCENARIO, "beta"]
    known = table[table["technique"] == table["baseline"]].set_index([*spot, "technique"])
    keys = pd.MultiIndex.from_frame(table[[*spot, "baseline"]])
    before = known["accepted_favored"].reindex(keys).to_numpy(dtype=float)
    good = table["verdict"].isin(("recommended", "candidate", "outdone"))
    gained = table["accepted_deprived"] > table["baseline_accepted_deprived"] + EQUAL
    lost = table["accepted_favored"] < before - EQUAL
    known_before = table["baseline_accepted_deprived"].notna()
    return table.assign(levels_down=good & known_before & ~gained & lost)
