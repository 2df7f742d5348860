"""At this level of bias, which technique: how much discrimination it leaves, at what cost, whom it accepts.

A classifier that answers nearly everybody the same has next to no discrimination, and one that is less
accurate than a constant answer is of no use, however fair it is. Both are found here, once for every table,
figure and sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmark.statistics.across import ALPHA, repetitions_needed, smallest_p_value
from benchmark.statistics.bayes import ROPE
from benchmark.statistics.frames import SCENARIO
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.paired import FAMILY

ACCURACY = "accuracy"
"""Metric that the others are traded off against."""

ACCEPTANCE = ("accepted", "accepted_deprived", "accepted_favored")
"""Metrics that say who is predicted the favorable outcome."""

NEARLY_ALL = 0.99
"""A classifier that gives more than this share of the rows the same answer counts as constant."""

_ROUNDING = 1e-9  # by which a mean of equal accuracies may miss them

_WHERE = (*SCENARIO, "beta", "technique")

STANDING_COLUMNS = (
    *_WHERE,
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
    *(*_WHERE, "baseline", "n", "missing", "pairs", "metric"),
    *("value", "value_low", "value_high", "distance", "change", "change_low", "change_high"),
    *("tested", "better", "worse", "accuracy", "accuracy_low", "accuracy_high"),
    *("accuracy_change", "accuracy_change_low", "accuracy_change_high", "less_accurate"),
    *(*ACCEPTANCE, *STANDING_COLUMNS[len(_WHERE) :], "baseline_degenerate"),
    *("verdict", "outdone_by", "choice", "levels_down"),
)
"""Columns of :func:`answer_table`."""


@dataclass(frozen=True)
class ConstantAnswer:
    """The more accurate of the two classifiers that answer everybody the same.

    Parameters
    ----------
    favorable, unfavorable : int
        Test rows with either label.
    """

    favorable: int
    unfavorable: int

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
        """What it does: ``"refusing everybody"`` or ``"accepting everybody"``."""
        return "accepting everybody" if self.accepts else "refusing everybody"


def standings(results: pd.DataFrame, constants: Mapping[str, ConstantAnswer]) -> pd.DataFrame:
    """Find the techniques that answer nearly everybody the same, or worse than a constant would.

    A repetition is *degenerate* if the classifier gives more than :data:`NEARLY_ALL` of the test rows the
    same answer, or more than that of each of the two groups: accepting one group and refusing the other is no
    decision about people either. A technique counts as degenerate at a level of bias if it is so in any
    repetition, because a mean over useful and useless classifiers describes neither.

    Parameters
    ----------
    results : DataFrame
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`; of the metrics, accuracy and
        :data:`ACCEPTANCE` are looked at.
    constants : mapping of str to ConstantAnswer
        By name of the dataset; those of other datasets are unknown.

    Returns
    -------
    DataFrame
        Columns :data:`STANDING_COLUMNS`, one row for each technique at each level of bias. ``n_degenerate``
        counts the degenerate repetitions, and ``degenerate`` says what the classifiers do there; empty where
        there are none. ``mostly_constant`` is whether they give more than :data:`NEARLY_ALL` of all rows the
        same answer in more than half of the repetitions in which that is known: nothing can be compared with
        such a baseline (:func:`incomparable`). ``below_constant`` is whether the mean accuracy is below that
        of the best constant answer, of which ``constant_accuracy`` and ``constant_answer`` speak; NaN and
        empty if unknown. ``one_group`` is whether nearly all or nearly none of one of the two groups are
        accepted, in the mean.
    """
    cells = results.pivot(index=[*_WHERE, "repetition"], columns="metric", values="value")
    cells = cells.reindex(columns=[ACCURACY, *ACCEPTANCE])
    kinds = _kinds(cells)
    groups = cells.groupby(level=list(_WHERE), sort=False)
    found = groups[ACCURACY].mean().rename("accuracy_mean").to_frame()
    found["n_degenerate"] = (kinds.notna() & (kinds != "")).groupby(level=list(_WHERE), sort=False).sum()
    found["degenerate"] = kinds.groupby(level=list(_WHERE), sort=False).agg(_in_words)
    # Not known where a repetition has no value: NaN is neither below nor above.
    constant = is_constant(cells[ACCEPTANCE[0]]).astype(float).mask(cells[ACCEPTANCE[0]].isna())
    found["mostly_constant"] = constant.groupby(level=list(_WHERE), sort=False).mean() > 0.5
    shares = cells[list(ACCEPTANCE[1:])].groupby(level=list(_WHERE), sort=False).mean()
    found["one_group"] = is_constant(shares).any(axis=1)
    found = found.reset_index()
    known = found["dataset"].map(constants)
    found["constant_accuracy"] = [c.accuracy if isinstance(c, ConstantAnswer) else math.nan for c in known]
    found["constant_answer"] = [c.words if isinstance(c, ConstantAnswer) else "" for c in known]
    found["below_constant"] = found["accuracy_mean"] < found["constant_accuracy"] - _ROUNDING
    return found[list(STANDING_COLUMNS)]


def of_use(standing: pd.DataFrame) -> pd.DataFrame:
    """Return standings with ``of_use``: never degenerate, no worse than a constant, for both groups."""
    useless = (standing["n_degenerate"] > 0) | standing["below_constant"] | standing["one_group"]
    return standing.assign(of_use=~useless)


def _kinds(cells: pd.DataFrame) -> pd.Series:
    """Say of each cell how it is degenerate; empty where it is not, NaN where the shares are unknown."""
    everybody, deprived, favored = (cells[name] for name in ACCEPTANCE)
    low, high = 1 - NEARLY_ALL, NEARLY_ALL
    kinds = np.select(
        [
            everybody < low,
            everybody > high,
            is_constant(deprived) & is_constant(favored),
        ],
        [
            f"refuses more than {100 * NEARLY_ALL:.0f} % of everybody",
            f"accepts more than {100 * NEARLY_ALL:.0f} % of everybody",
            "decides by group alone",
        ],
        "",
    )
    return pd.Series(kinds, index=cells.index, dtype=object).mask(everybody.isna())


def is_constant(share: Any) -> Any:
    """Return whether a share accepted, or each of some, is nearly none or nearly all."""
    return (share < 1 - NEARLY_ALL) | (share > NEARLY_ALL)


def _in_words(kinds: pd.Series) -> str:
    """Say how many of a technique's repetitions are degenerate in which way."""
    known = kinds.dropna()
    counts = known[known != ""].value_counts(sort=False)
    return "; ".join(f"{kind} in {n} of {len(known)} samples" for kind, n in counts.items())


def incomparable(frame: pd.DataFrame, standing: pd.DataFrame) -> pd.Series[bool]:
    """Return of each row whether nothing is compared with its baseline: that is mostly constant there.

    A baseline that is degenerate in fewer samples, or that decides by group alone, is compared with like any
    other, and marked.

    Parameters
    ----------
    frame : DataFrame
        Has dataset, bias, classifier, level of bias and ``baseline``.
    standing : DataFrame
        From :func:`standings`.
    """
    useless = pd.MultiIndex.from_frame(standing.loc[standing["mostly_constant"], list(_WHERE)])
    keys = frame[[*SCENARIO, "beta", "baseline"]].rename(columns={"baseline": "technique"})
    return pd.Series(pd.MultiIndex.from_frame(keys).isin(useless), index=frame.index)


def without_degenerate(
    results: pd.DataFrame, standing: pd.DataFrame, baselines: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return results in which a technique has no values at the levels of bias at which it is degenerate.

    Parameters
    ----------
    results : DataFrame
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`.
    standing : DataFrame
        From :func:`standings`.
    baselines : mapping of str to str, optional
        The technique that those of each dataset are compared with: it keeps its values unless it is mostly
        constant.
    """
    gone = standing["n_degenerate"] > 0
    if baselines is not None:
        is_baseline = standing["technique"] == standing["dataset"].map(dict(baselines))
        gone &= ~is_baseline | standing["mostly_constant"]
    left_out = pd.MultiIndex.from_frame(standing.loc[gone, list(_WHERE)])
    keys = pd.MultiIndex.from_frame(results[list(_WHERE)])
    return results.assign(value=results["value"].mask(keys.isin(left_out)))


def underpowered_families(comparisons: pd.DataFrame, alpha: float = ALPHA) -> pd.DataFrame:
    """Return the families of tests of which none can be significant, whatever the results.

    Parameters
    ----------
    comparisons : DataFrame
        From :func:`~benchmark.statistics.paired.paired_comparisons`.
    alpha : float, default 0.05
        Level of significance.

    Returns
    -------
    DataFrame
        The columns :data:`~benchmark.statistics.paired.FAMILY`; ``n``, the largest number of pairs,
        ``n_tests``, ``smallest``, the smallest p-value that Holm's correction leaves possible, and
        ``needed``, how many repetitions would be enough.
    """
    tested = comparisons[comparisons["p_permutation"].notna()]
    families = tested.groupby(list(FAMILY), sort=False)["n"].agg(n="max", n_tests="size").reset_index()
    families["smallest"] = np.minimum(1, families["n"].map(smallest_p_value) * families["n_tests"])
    families["needed"] = families["n_tests"].map(lambda tests: repetitions_needed(tests, alpha))
    return families[families["n"] < families["needed"]].reset_index(drop=True)


def judged(comparisons: pd.DataFrame, *, alpha: float = ALPHA, rope: float = ROPE) -> pd.DataFrame:
    """Say which techniques differ from the baseline.

    Parameters
    ----------
    comparisons : DataFrame
        From :func:`~benchmark.statistics.paired.paired_comparisons`.
    alpha : float, default 0.05
        Level of significance.
    rope : float, default 0.01
        Difference up to which two techniques are practically equivalent.

    Returns
    -------
    DataFrame
        The comparisons with ``better``, ``candidate`` and ``worse``. Better and worse are significant where
        that is ``tested``. In families of tests of which none can be significant, worse is a mean that is
        worse by more than the region of practical equivalence, so that no cost is hidden; better is one that
        is better by more than that and whose intervals, of difference and improvement, both leave out 0. A
        single pair has no interval: it is a candidate at most.
    """
    out_of_reach = pd.MultiIndex.from_frame(underpowered_families(comparisons, alpha)[list(FAMILY)])
    repeated = comparisons.groupby(list(FAMILY), sort=False)["n"].transform("max") > 1
    tested = repeated & ~pd.MultiIndex.from_frame(comparisons[list(FAMILY)]).isin(out_of_reach)
    significant = tested & (comparisons["p_permutation_holm"] <= alpha)
    improvement = comparisons["improvement"]
    gains = ~tested & (improvement > rope)
    apart = (comparisons["improvement_low"] > 0) & (
        (comparisons["difference_low"] > 0) | (comparisons["difference_high"] < 0)
    )
    return comparisons.assign(
        tested=tested,
        better=(significant & (improvement > 0)) | (gains & apart),
        candidate=gains & (comparisons["n"] == 1),
        worse=(significant & (improvement < 0)) | (~tested & (improvement < -rope)),
    )


def answer_table(
    results: pd.DataFrame,
    comparisons: pd.DataFrame,
    standing: pd.DataFrame,
    baselines: Mapping[str, str],
    metric: str = "discrimination",
    rope: float = ROPE,
) -> pd.DataFrame:
    """Put together what a choice between techniques at one level of bias needs.

    Parameters
    ----------
    results : DataFrame
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`.
    comparisons : DataFrame
        From :func:`judged`.
    standing : DataFrame
        From :func:`standings`.
    baselines : mapping of str to str
        The technique that those of each dataset are compared with.
    metric : str, default "discrimination"
        Metric that is to be improved.
    rope : float, default 0.01
        Accuracy that the choice at next to no cost may lose.

    Returns
    -------
    DataFrame
        Columns :data:`ANSWER_COLUMNS`, one row for each technique at each level of bias in its scenario, the
        baseline included.

        ``value``, ``accuracy``, ``accepted``, ``accepted_deprived``, ``accepted_favored``
            Means over the ``n`` repetitions with a value of the metric; ``pairs`` of them are compared with
            the baseline, which has none in the others.
        ``distance``
            Mean absolute value of the metric, of which 0 is ideal: more than that of ``value`` where its sign
            differs from repetition to repetition.
        ``change``, ``accuracy_change``
            Mean differences to the baseline on the same samples; 0 for the baseline itself.
        ``better``, ``worse``, ``less_accurate``
            Whether the metric is better or worse than the baseline's, and the accuracy worse, by
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
            than this one, in the means to three decimals. Of two equal ones the later is outdone.
        ``levels_down``
            Whether a recommended technique, candidate or outdone one accepts no greater share of the deprived
            group, in whole percent: then the favored group has lost, and the deprived one gained nothing.
        ``choice``
            ``least`` for the recommended technique or candidate that leaves the least; ``cheap`` for the one
            that leaves the least among those whose mean accuracy is at most ``rope`` below the baseline's;
            ``least cheap`` for one that is both; else empty.

        Every ``_low`` and ``_high`` are the ends of an interval of 95 %.
    """
    where = list(_WHERE)
    shown = results[results["metric"].isin((metric, ACCURACY, *ACCEPTANCE))]
    intervals = cell_intervals(shown)

    def of(frame: pd.DataFrame, name: str, columns: Mapping[str, str]) -> pd.DataFrame:
        own = frame.loc[frame["metric"] == name, [*where, *columns]]
        return own.rename(columns=dict(columns)).set_index(where)

    ends = ("_low", "_high")
    table = of(
        intervals,
        metric,
        {"n": "n", "missing": "missing", "mean": "value", **{f"ci{end}": f"value{end}" for end in ends}},
    )
    own = results[results["metric"] == metric]
    parts = [
        own.assign(distance=own["value"].abs()).groupby(where, sort=False)[["distance"]].mean(),
        of(intervals, ACCURACY, {"mean": "accuracy", **{f"ci{end}": f"accuracy{end}" for end in ends}}),
        *(of(intervals, name, {"mean": name}) for name in ACCEPTANCE),
        of(
            comparisons,
            metric,
            {
                "n": "pairs",
                "difference": "change",
                **{f"difference{end}": f"change{end}" for end in ends},
                "tested": "tested",
                "better": "better",
                "candidate": "candidate",
                "worse": "worse",
            },
        ),
        of(
            comparisons,
            ACCURACY,
            {
                "difference": "accuracy_change",
                **{f"difference{end}": f"accuracy_change{end}" for end in ends},
                "worse": "less_accurate",
            },
        ),
        standing.set_index(where),
    ]
    for part in parts:
        table = table.join(part, how="left")
    table = table.reset_index().assign(metric=metric)
    flags = ["tested", "better", "candidate", "worse", "less_accurate"]
    flags += ["mostly_constant", "below_constant", "one_group"]
    table[flags] = table[flags].eq(True)
    table["n_degenerate"] = table["n_degenerate"].fillna(0).astype(int)
    table[["degenerate", "constant_answer"]] = table[["degenerate", "constant_answer"]].fillna("")
    table["baseline"] = table["dataset"].map(dict(baselines))
    is_baseline = table["technique"] == table["baseline"]
    table["pairs"] = table["pairs"].mask(is_baseline, table["n"]).fillna(0).astype(int)
    for name, change in (("value", "change"), ("accuracy", "accuracy_change")):
        table[change] = table[change].mask(is_baseline & table[name].notna(), 0.0)
    table["baseline_degenerate"] = incomparable(table, standing)
    judgements = ["better", "candidate", "worse", "less_accurate"]
    table[judgements] = table[judgements].mul(~table["baseline_degenerate"], axis=0)
    table["verdict"] = _verdicts(table)
    table[["outdone_by", "choice"]] = ""
    chosen = table[table["verdict"].isin(("recommended", "candidate"))]
    for _, rows in chosen.groupby([*SCENARIO, "beta"], sort=False):
        for name, found in _choices(rows, rope).items():
            table.loc[rows.index, name] = found
    table["verdict"] = table["verdict"].mask(table["outdone_by"] != "", "outdone")
    spot = [*SCENARIO, "beta"]
    of_baseline = table[is_baseline].set_index(spot)[ACCEPTANCE[1]].rename("before")
    before = table[spot].join(of_baseline, on=spot)["before"]
    gains = table[ACCEPTANCE[1]].round(2) > before.round(2)
    of_use = table["verdict"].isin(("recommended", "candidate", "outdone"))
    table["levels_down"] = of_use & before.notna() & ~gains
    return table[list(ANSWER_COLUMNS)]


def _verdicts(table: pd.DataFrame) -> Any:
    """Return the verdict on each row: the first of these conditions that is true."""
    conditions = {
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
    }
    return np.select(list(conditions.values()), list(conditions), "no_less")


def _choices(rows: pd.DataFrame, rope: float) -> dict[str, list[str]]:
    """Return of the recommended techniques at one level of bias who outdoes them, and which are choices."""
    means = rows[["distance", "accuracy"]].round(3)
    # The least first, of equal ones the most accurate: whoever outdoes a technique stands before it.
    order = (
        means.assign(accuracy=-means["accuracy"]).sort_values(["distance", "accuracy"], kind="stable").index
    )
    outdone, best = dict.fromkeys(order, ""), order[0]
    for i in order[1:]:
        if means["accuracy"][best] >= means["accuracy"][i]:
            outdone[i] = rows["technique"][best]
        else:
            best = i
    cheap = next((i for i in order if round(rows["accuracy_change"][i], 3) >= -rope), None)
    choice = {order[0]: LEAST, cheap: CHEAP} if cheap != order[0] else {cheap: f"{LEAST} {CHEAP}"}
    return {
        "outdone_by": [outdone[i] for i in rows.index],
        "choice": [choice.get(i, "") for i in rows.index],
    }
