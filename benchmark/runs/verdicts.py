"""The techniques of a run compared with their baselines, and what is concluded of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from benchmark.columns import EQUALISE, GOAL_METRICS, RESTORE
from benchmark.metrics import list_metrics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import joined, joined_in_order
from benchmark.statistics import Goal, chance_table, paired_comparisons, undo_table
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answer_record import ANSWER_COLUMNS
from benchmark.statistics.answers import (
    ACCURACY,
    DISCRIMINATION,
    answer_table,
    judged,
)
from benchmark.statistics.cells import Baselines, Cells, Resampling, baseline_of, to_cells
from benchmark.statistics.choices import Criteria
from benchmark.statistics.hidden_bias import HIDDEN_BIAS, HIDDEN_KIND, hidden_bias_table, withheld
from benchmark.statistics.paired import COMPARED_COLUMNS
from benchmark.statistics.restoration import UNDO_COLUMNS
from benchmark.statistics.unprocessing import with_frontier


class Verdicts(NamedTuple):
    """What comparisons with baselines give: the frames of that name of a run's statistics."""

    comparisons: pd.DataFrame
    judged: pd.DataFrame
    answers: pd.DataFrame


def verdicts(
    run: Manifest,
    results: pd.DataFrame,
    cells: Cells,
    baselines: Baselines,
    *,
    goals: Mapping[str, Goal],
    standing: pd.DataFrame,
    frontier_gaps: pd.DataFrame,
    alpha: float,
    criteria: Criteria,
    resampling: Resampling | None,
    undo: pd.DataFrame | None,
) -> Verdicts:
    """Compare the techniques of a run with baselines, and conclude which of them to choose.

    Parameters
    ----------
    run : Manifest
        What the results are of.
    results : DataFrame
        All values.
    cells : Cells
        Those of the metrics that techniques are compared by.
    baselines : Baselines
        What they are compared with.
    goals : mapping of str to Goal
        Which values of each metric are good.
    standing : DataFrame
        From :func:`~benchmark.statistics.answers.standings`.
    frontier_gaps : DataFrame
        From :func:`~benchmark.statistics.unprocessing.frontier_gaps`; empty where no frontier is known.
    alpha, criteria, resampling, undo
        As for :func:`results_answers`.
    """
    comparisons = joined_in_order([compare_with(cells, baselines, goals, alpha)], run, COMPARED_COLUMNS)
    decided = judged(comparisons, alpha=alpha, rope=criteria.margin)
    compared = set(cells.keys["metric"])
    needed = {ACCURACY, *(name for name in GOAL_METRICS.values() if name in set(results["metric"]))}
    paired = run.protocol.paired_betas
    if needed <= compared:
        answers = answer_table(
            results, decided, standing, baselines, criteria, resampling, paired_levels=paired, undo=undo
        )
    else:
        answers = results_answers(
            results, baselines, standing, alpha, criteria, resampling, paired_levels=paired, undo=undo
        )
    answers = with_frontier(joined_in_order([answers], run, ANSWER_COLUMNS), frontier_gaps)
    if "frontier" in answers:  # it is one of discrimination
        answers["frontier"] = answers["frontier"].astype(object).where(answers["goal"] == EQUALISE, None)
    return Verdicts(comparisons, decided, answers)


def what_to_undo(run: RunFrames) -> pd.DataFrame:
    """Return where the planted bias changed anything, and which techniques undo no more than chance does.

    It is empty where a run has no clean model.

    Where labels hide so much bias, by outside rates, that ranks are not shown to agree with the truth, this
    run can say nothing of undoing it.

    The run has its reference rows, and techniques are compared with what it declares.
    """
    manifest, results = run.manifest, run.results
    measured = (results["metric"] == GOAL_METRICS[RESTORE]).any()
    if not (manifest.protocol.paired_betas and measured):
        return pd.DataFrame(columns=list(UNDO_COLUMNS))
    baselines = manifest.baselines(results)
    refits = manifest.refits_of
    by_chance = chance_table(results, baselines, run.resampling, refits)
    found = undo_table(results, baselines, run.standing, run.resampling, refits)
    places = found[["dataset", "bias", "beta", "undo"]].itertuples(index=False, name=None)
    found = found.assign(
        undo=[own or (HIDDEN_BIAS if _hides(manifest, *place) else "") for *place, own in places]
    )
    return joined_in_order([found, by_chance], manifest, UNDO_COLUMNS)


def _hides(run: Manifest, dataset: str, bias: str, level: float) -> bool:
    """Whether a dataset hides so much bias, by outside rates, that ranks to restore tell nothing."""
    own = run.dataset(dataset)
    if (hidden := own.hidden_dose) is None:
        return False
    planted = next(one for one in own.bias if one.name == bias)
    if planted.kind != HIDDEN_KIND:
        return False
    return withheld(hidden_bias_table(), hidden, planted.added(level), RESTORE)


def results_answers(
    results: pd.DataFrame,
    baselines: Baselines,
    standing: pd.DataFrame,
    alpha: float = ALPHA,
    criteria: Criteria = Criteria(),  # noqa: B008
    resampling: Resampling | None = None,
    *,
    paired_levels: bool,
    undo: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return :func:`~benchmark.statistics.answers.answer_table` of results, of one repetition or of several.

    It is empty where discrimination was not measured.

    Parameters
    ----------
    results : DataFrame
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`.
    baselines : Baselines
        What techniques are compared with; nothing is where it has no results.
    standing : DataFrame
        From :func:`~benchmark.statistics.answers.standings`.
    alpha : float
        As for :func:`~benchmark.runs.analysis.run_statistics`.
    criteria, resampling, paired_levels, undo
        As for :func:`~benchmark.statistics.answers.answer_table`.
    """
    own = results[results["metric"].isin((ACCURACY, *GOAL_METRICS.values()))]
    if not (own["metric"] == DISCRIMINATION).any():
        return pd.DataFrame(columns=list(ANSWER_COLUMNS))
    comparisons = compare_with(to_cells(own, resampling), baselines, list_metrics(), alpha)
    decided = judged(comparisons, alpha=alpha, rope=criteria.margin)
    return answer_table(
        results,
        decided,
        standing,
        baselines,
        criteria,
        resampling,
        paired_levels=paired_levels,
        undo=undo,
    )


def compare_with(cells: Cells, baselines: Baselines, goals: Mapping[str, Goal], alpha: float) -> pd.DataFrame:
    """Compare the techniques of each dataset with its baseline, where that has results."""
    compared = [
        paired_comparisons(cells.take(rows), baseline, goals, alpha=alpha)
        for rows, baseline in baselines.parts(cells.keys)
        if (cells.keys["technique"] == baseline_of(baseline, cells.keys["technique"]))[rows].any()
    ]
    return joined(compared, COMPARED_COLUMNS)
