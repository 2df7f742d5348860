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

from benchmark.columns import BALANCED, ORIGINAL
from benchmark.statistics.across import ALPHA, repetitions_needed, smallest_p_value
from benchmark.statistics.bayes import ROPE
from benchmark.statistics.frames import SCENARIO, WHERE, Baselines, Resampling, first_true, to_cells
from benchmark.statistics.hypothesis_tests import CORRECTED
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.paired import FAMILY

ACCURACY = "accuracy"
"""Metric that the others are traded off against."""

DISCRIMINATION = "discrimination"
"""Metric that a choice between techniques is to improve; 0 is ideal."""

ACCEPTANCE = ("accepted", "accepted_deprived", "accepted_favored")
"""Metrics that say who is predicted the favorable outcome."""

NEARLY_ALL = 0.99
"""A classifier that gives more than this share of the rows the same answer counts as constant."""

EQUAL = 1e-6
"""Means of shares that differ by no more are held equal: by rounding, or by one row of a million."""

EITHER_CONSTANT = "refusing or accepting everybody"
"""What the best constant answer does where both are as good."""

_ROUNDING = 1e-9  # by which a mean of equal accuracies may miss them

STANDING_COLUMNS = (
    *WHERE,
    *("constant_accuracy", "constant_answer"),
    *("n_degenerate", "degenerate", "mostly_constant", "below_constant", "one_group"),
)
"""Columns of :func:`standings`."""

VERDICTS = (
    *("recommended", "candidate", "outdone", "baseline", "no_less", "worse", "not_compared", "unknown"),
    *("one_group", "below_constant", "incomplete", "missing", "degenerate"),
)
"""What :func:`answer_table` concludes of a technique at one level of bias, in the order of tables."""

LEAST, CHEAP = "least", "cheap"
"""Choices between recommended techniques: the least discrimination, and the least at next to no cost."""

ANSWER_COLUMNS = (
    *(*WHERE, "baseline", "n", "missing", "pairs", "metric"),
    *("value", "value_low", "value_high", "distance", "change", "change_low", "change_high"),
    *("tested", "better", "worse", "accuracy", "accuracy_low", "accuracy_high"),
    *("accuracy_change", "accuracy_change_low", "accuracy_change_high", "less_accurate"),
    *(*ACCEPTANCE, *STANDING_COLUMNS[len(WHERE) :], "baseline_degenerate"),
    *("verdict", "outdone_by", "choice", "levels_down"),
)
"""Columns of :func:`answer_table`."""


@dataclass(frozen=True)
class ConstantAnswer:
    """The more accurate of the two classifiers that answer everybody the same, by the labels of test rows.

    ``favorable`` and ``unfavorable`` are numbers of rows, or shares of them. Where each repetition has test
    rows of its own, ``scored`` are their shares of favorable labels, by level of bias and repetition.
    """

    favorable: float
    unfavorable: float
    scored: Mapping[float, Sequence[float]] = field(default_factory=dict, compare=False)

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


def constant_on(answer: ConstantAnswer | None, test: str) -> ConstantAnswer | None:
    """Return the best constant answer on a test, given that on the original test rows; None if unknown.

    On balanced rows either is right about half of the weight. Labels with planted bias are other ones in each
    repetition, so that nothing is known of a constant there.
    """
    if test == BALANCED:
        return ConstantAnswer(favorable=1, unfavorable=1)
    return answer if test == ORIGINAL else None


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
    places = zip(found["dataset"], found["test"], shares, strict=True)
    known = [
        constant_on(constants.get(dataset), test) if np.isnan(share) else ConstantAnswer(share, 1 - share)
        for dataset, test, share in places
    ]
    found["constant_accuracy"] = [answer.accuracy if answer else math.nan for answer in known]
    found["constant_answer"] = [answer.words if answer else "" for answer in known]
    found["below_constant"] = found["accuracy_mean"] < found["constant_accuracy"] - _ROUNDING
    return found[list(STANDING_COLUMNS)]


def _favorable_where_scored(accuracy: pd.Series, constants: Mapping[str, ConstantAnswer]) -> pd.Series:
    """Return the mean share of favorable labels in the original test rows of repetitions with an accuracy.

    One for each technique at each level of bias; NaN where all repetitions have the same rows.
    """
    known = {
        (dataset, beta, repetition, ORIGINAL): share
        for dataset, answer in constants.items()
        for beta, shares in answer.scored.items()
        for repetition, share in enumerate(shares)
    }
    levels = (accuracy.index.get_level_values(name) for name in ("dataset", "beta", "repetition", "test"))
    shares = [known.get(own, math.nan) for own in zip(*levels, strict=True)]
    own = pd.Series(shares, index=accuracy.index, dtype=float).mask(accuracy.isna())
    return own.groupby(level=list(WHERE), sort=False).mean()


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


def underpowered_families(comparisons: pd.DataFrame, alpha: float = ALPHA) -> pd.DataFrame:
    """Return the families of tests of which none can be significant, whatever the results.

    The columns are :data:`~benchmark.statistics.paired.FAMILY`; ``n``, the largest number of pairs;
    ``n_tests``; ``smallest``, the smallest p-value that Holm's correction leaves possible; and ``needed``,
    how many repetitions would be enough.
    """
    # A t-test has no smallest p-value.
    flipped = comparisons["permutation"] != CORRECTED
    tested = comparisons[comparisons["p_permutation"].notna() & flipped]
    families = tested.groupby(list(FAMILY), sort=False)["n"].agg(n="max", n_tests="size").reset_index()
    families["smallest"] = np.minimum(1, families["n"].map(smallest_p_value) * families["n_tests"])
    families["needed"] = families["n_tests"].map(lambda tests: repetitions_needed(tests, alpha))
    return families[families["n"] < families["needed"]].reset_index(drop=True)


def judged(comparisons: pd.DataFrame, *, alpha: float = ALPHA, rope: float = ROPE) -> pd.DataFrame:
    """Say in :func:`~benchmark.statistics.paired.paired_comparisons` which techniques differ.

    The new columns are ``tested``, ``better``, ``candidate`` and ``worse``. Better and worse are significant
    where that is tested. In families of tests of which none can be significant, worse is a mean that is worse
    by more than the region of practical equivalence, so that no cost is hidden; better is one that is better
    by more than that and whose intervals, of difference and improvement, both leave out 0. A single pair has
    no interval: it is a candidate at most.
    """
    out_of_reach = pd.MultiIndex.from_frame(underpowered_families(comparisons, alpha)[list(FAMILY)])
    # One repetition of folds has several splits.
    repeated = comparisons.groupby(list(FAMILY), sort=False)["df"].transform("max") > 0
    tested = repeated & ~pd.MultiIndex.from_frame(comparisons[list(FAMILY)]).isin(out_of_reach)
    significant = tested & (comparisons["p_permutation_holm"] <= alpha)
    improvement = comparisons["improvement"]
    gains = ~tested & (improvement > rope + EQUAL)
    apart = (comparisons["improvement_low"] > 0) & (
        (comparisons["difference_low"] > 0) | (comparisons["difference_high"] < 0)
    )
    return comparisons.assign(
        tested=tested,
        better=(significant & (improvement > 0)) | (gains & apart),
        candidate=gains & (comparisons["n"] == 1) & (comparisons["df"] == 0),
        worse=(significant & (improvement < 0)) | (~tested & (improvement < -rope - EQUAL)),
    )


def answer_table(
    results: pd.DataFrame,
    comparisons: pd.DataFrame,
    standing: pd.DataFrame,
    baselines: Baselines,
    rope: float = ROPE,
    resampling: Resampling | None = None,
) -> pd.DataFrame:
    """Put together what a choice between techniques at one level of bias needs.

    Comparisons are :func:`judged`, ``standing`` comes from :func:`standings`, and ``rope`` is the accuracy
    that the choice at next to no cost may lose; ``resampling`` says whether repetitions are
    repeated splits of the same rows.

    Returns
    -------
    DataFrame
        Columns :data:`ANSWER_COLUMNS`, one row for each technique at each level of bias in its scenario, the
        baseline included.

        ``value``, ``accuracy``, ``accepted``, ``accepted_deprived``, ``accepted_favored``
            Means over the ``n`` repetitions with a value of discrimination; ``pairs`` of them are compared
            with the baseline, which has none in the others.
        ``distance``
            Mean absolute value of discrimination, of which 0 is ideal: more than that of ``value`` where its
            sign differs from repetition to repetition.
        ``change``, ``accuracy_change``
            Mean differences to the baseline on the same samples; 0 for the baseline itself.
        ``better``, ``worse``, ``less_accurate``
            Whether discrimination is better or worse than the baseline's, and the accuracy worse, by
            :func:`judged`; none of it where nothing is compared.
        ``baseline_degenerate``
            Whether nothing is compared with the baseline there (:func:`incomparable`).
        ``verdict``
            One of :data:`VERDICTS`, the first that is true: ``baseline``; ``degenerate``; ``missing`` without
            a value, ``incomplete`` without one, of the technique or of the baseline, in every repetition;
            ``below_constant``, less accurate than the best constant answer; ``unknown`` where the shares
            accepted are not recorded; ``not_compared`` where the baseline is mostly constant or without a
            value; ``one_group``, better than the baseline, but one group is given nearly always the same
            answer; ``outdone``, better than the baseline, but see ``outdone_by``; ``recommended``, better
            than the baseline; ``candidate``, better in the one sample that there is; ``worse`` than the
            baseline; ``no_less``, neither.
        ``outdone_by``
            A recommended technique or candidate that is no farther from 0 (``distance``) and no less accurate
            than this one, in the means. Of two equal ones the later is outdone.
        ``levels_down``
            Whether a recommended technique, candidate or outdone one accepts no greater share of the deprived
            group than the baseline, and a smaller one of the favored group: the favored group has lost, and
            the deprived one gained nothing.
        ``choice``
            ``least`` for the recommended technique or candidate that leaves the least; ``cheap`` for the one
            that leaves the least among those whose mean accuracy is at most ``rope`` below the baseline's;
            ``least cheap`` for one that is both; else empty.

        Every ``_low`` and ``_high`` are the ends of an interval of 95 %.
    """
    table = _joined(results, comparisons, standing, resampling)
    table["baseline"] = baselines.column(table)
    is_baseline = table["technique"] == table["baseline"]
    table["pairs"] = table["pairs"].mask(is_baseline, table["n"]).fillna(0).astype(int)
    for name, change in (("value", "change"), ("accuracy", "accuracy_change")):
        table[change] = table[change].mask(is_baseline & table[name].notna(), 0.0)
    table["baseline_degenerate"] = incomparable(table, standing)
    for judgement in ("better", "candidate", "worse", "less_accurate"):
        table[judgement] &= ~table["baseline_degenerate"]
    table["verdict"] = _verdicts(table)
    table[["outdone_by", "choice"]] = ""
    chosen = table[table["verdict"].isin(("recommended", "candidate"))]
    for _, rows in chosen.groupby([*SCENARIO, "beta"], sort=False):
        for name, found in _choices(rows, rope).items():
            table.loc[rows.index, name] = found
    table["verdict"] = table["verdict"].mask(table["outdone_by"] != "", "outdone")
    table["levels_down"] = _levels_down(table, is_baseline)
    return table[list(ANSWER_COLUMNS)]


def _joined(
    results: pd.DataFrame, comparisons: pd.DataFrame, standing: pd.DataFrame, resampling: Resampling | None
) -> pd.DataFrame:
    """Put what is known of each technique at each level of bias into one row."""
    own = results[results["metric"].isin((DISCRIMINATION, ACCURACY, *ACCEPTANCE))]
    intervals = cell_intervals(to_cells(own, resampling))

    def of(frame: pd.DataFrame, metric: str, columns: dict[str, str]) -> pd.DataFrame:
        own = frame.loc[frame["metric"] == metric, [*WHERE, *columns]]
        return own.rename(columns=columns).set_index(list(WHERE))

    def mean(name: str) -> dict[str, str]:
        return {"mean": name, "ci_low": f"{name}_low", "ci_high": f"{name}_high"}

    def change(name: str) -> dict[str, str]:
        return {f"difference{end}": f"{name}{end}" for end in ("", "_low", "_high")}

    judgements = {name: name for name in ("tested", "better", "candidate", "worse")}
    table = of(intervals, DISCRIMINATION, {"n": "n", "missing": "missing", **mean("value")})
    own = results[results["metric"] == DISCRIMINATION]
    for part in (
        own.assign(distance=own["value"].abs()).groupby(list(WHERE), sort=False)[["distance"]].mean(),
        of(intervals, ACCURACY, mean("accuracy")),
        *(of(intervals, name, {"mean": name}) for name in ACCEPTANCE),
        of(comparisons, DISCRIMINATION, {"n": "pairs", **change("change"), **judgements}),
        of(comparisons, ACCURACY, {**change("accuracy_change"), "worse": "less_accurate"}),
        standing.set_index(list(WHERE)),
    ):
        table = table.join(part)
    table = table.reset_index().assign(metric=DISCRIMINATION)
    # Joining leaves gaps, and columns of objects where there are no comparisons at all.
    numbers = ["pairs", *change("change").values(), *change("accuracy_change").values()]
    table[numbers] = table[numbers].astype(float)
    flags = [*judgements, "less_accurate", "mostly_constant", "below_constant", "one_group"]
    table[flags] = table[flags].eq(True)
    texts = ["degenerate", "constant_answer"]
    table[texts] = table[texts].fillna("")
    table["n_degenerate"] = table["n_degenerate"].fillna(0).astype(int)
    return table


def _verdicts(table: pd.DataFrame) -> Any:
    """Return the verdict on each row."""
    return first_true(
        {
            "baseline": table["technique"] == table["baseline"],
            "degenerate": table["n_degenerate"] > 0,
            "missing": table["value"].isna(),
            "incomplete": (table["missing"] > 0) | ((table["pairs"] > 0) & (table["pairs"] < table["n"])),
            "below_constant": table["below_constant"],
            "unknown": table["accepted"].isna() | table["accuracy"].isna(),
            "not_compared": table["baseline_degenerate"] | table["change"].isna(),
            "one_group": (table["better"] | table["candidate"]) & table["one_group"],
            "recommended": table["better"],
            "candidate": table["candidate"],
            "worse": table["worse"],
        },
        "no_less",
    )


def _levels_down(table: pd.DataFrame, is_baseline: pd.Series[bool]) -> pd.Series[bool]:
    spot = [*SCENARIO, "beta"]
    shares = list(ACCEPTANCE[1:])
    known = table[is_baseline].set_index([*spot, "technique"])[shares]
    before = table[[*spot, "baseline"]].join(known, on=[*spot, "baseline"])
    deprived, favored = (table[name] - before[name] for name in shares)
    good = table["verdict"].isin(("recommended", "candidate", "outdone"))
    return good & (deprived <= EQUAL) & (favored < -EQUAL)


def _choices(rows: pd.DataFrame, rope: float) -> dict[str, list[str]]:
    """Return of the recommended techniques at one level of bias what outdoes them, and which are choices."""
    means = rows[["distance", "accuracy"]].round(6)  # as close as EQUAL
    # The least first, of equal ones the most accurate: what outdoes a technique stands before it.
    order = means.sort_values(["distance", "accuracy"], ascending=[True, False], kind="stable").index
    outdone, best = dict.fromkeys(order, ""), order[0]
    for i in order[1:]:
        if means["accuracy"][best] >= means["accuracy"][i]:
            outdone[i] = rows["technique"][best]
        else:
            best = i
    kept = [i for i in order if not outdone[i] and rows["accuracy_change"][i] >= -rope - EQUAL]
    cheap = kept[0] if kept else None
    choice = {order[0]: LEAST, cheap: CHEAP} if cheap != order[0] else {cheap: f"{LEAST} {CHEAP}"}
    found = {"outdone_by": outdone, "choice": choice}
    return {name: [own.get(i, "") for i in rows.index] for name, own in found.items()}
