"""Comparisons of a run's techniques with their baselines, and verdicts on the techniques."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from benchmark.columns import GOAL_METRICS, RESTORE, UNTREATED
from benchmark.errors import ReportError
from benchmark.metrics import list_metrics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import joined, joined_in_order
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answers import (
    ACCURACY,
    ANSWER_COLUMNS,
    DISCRIMINATION,
    answer_table,
    judged,
)
from benchmark.statistics.cells import Baselines, Cells, Goal, Resampling, require_known, to_cells
from benchmark.statistics.hidden_bias import HIDDEN_BIAS, HIDDEN_KIND, hidden_bias_table, withheld
from benchmark.statistics.paired import COMPARED_COLUMNS, paired_comparisons
from benchmark.statistics.recommendation import Criteria
from benchmark.statistics.restoration import UNDO_COLUMNS, undo_table
from benchmark.statistics.unprocessing import (
    FRONTIER_GAP_COLUMNS,
    best_frontiers,
    frontier_gaps,
    with_frontier,
)


def baselines_of(run: Manifest, results: pd.DataFrame, baseline: str | None) -> Baselines:
    """Return the baselines of techniques, on each dataset that has results or failures.

    ``run`` declares each dataset's baseline, and ``results`` are its values. ``baseline`` takes the place of
    the declared one wherever it was run. Then clean models are still those of doing nothing,
    or of the declared baseline if that was not run. An UnknownNameError says that the results have no
    technique of that name; a ReportError that a dataset's declared baseline was not run.
    """
    if baseline is not None:
        require_known("technique", [baseline], results["technique"])
    declared_by_run = run.baselines(results).by
    used: dict[tuple[str, str], str] = {}
    untreated: dict[tuple[str, str], str] = {}
    for key, rows in results.groupby(["dataset", "classifier"], sort=False):
        dataset, classifier = map(str, key)
        techniques, declared = rows["technique"].unique(), declared_by_run[dataset, classifier]
        name = baseline if baseline is not None and baseline in techniques else declared
        if name not in techniques:
            raise ReportError(
                f"The baseline {name!r} of {dataset} was not run with {classifier}",
                expected="one of " + ", ".join(techniques),
                got=repr(name),
                remedy="name one of these with --baseline, or run the experiment with the baseline as well",
            )
        used[dataset, classifier] = name
        clean = name
        if name not in (declared, UNTREATED):
            clean = UNTREATED if UNTREATED in techniques else declared
        untreated[dataset, classifier] = clean
    return Baselines(used, untreated, run.learners)


def what_to_undo(run: RunFrames) -> pd.DataFrame:
    """Return where the planted bias changed anything, and which techniques undo no more than chance does.

    The frame is empty if a run has no clean model. If outside rates say that labels hide much bias, ranks may
    disagree with the truth, and the frame says so. ``run`` has its reference rows; techniques are compared
    with the baselines that it declares.
    """
    manifest, results = run.manifest, run.results
    measured = (results["metric"] == GOAL_METRICS[RESTORE]).any()
    if not (manifest.experiment.paired_betas and measured):
        return pd.DataFrame(columns=list(UNDO_COLUMNS))
    baselines = manifest.baselines(results)
    undo = undo_table(results, baselines, run.standing, run.resampling, manifest.refits_of)
    rows = undo[["dataset", "bias", "beta", "undo"]].itertuples(index=False, name=None)
    undo = undo.assign(
        undo=[reason or (HIDDEN_BIAS if _hides(manifest, *names) else "") for *names, reason in rows]
    )
    return joined_in_order([undo], manifest, UNDO_COLUMNS)


def _hides(run: Manifest, dataset: str, bias: str, level: float) -> bool:
    """Return whether a dataset hides so much bias, by outside rates, that ranks to restore are unreliable."""
    record = run.dataset(dataset)
    if (hidden := record.hidden_dose) is None:
        return False
    if (planted := record.planted(bias)).kind != HIDDEN_KIND:
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
    decided: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return :func:`~benchmark.statistics.answers.answer_table` of results, of one repetition or of several.

    ``decided`` are comparisons by :func:`~benchmark.statistics.answers.judged`. If they lack accuracy or a
    measured goal, they are made here; then the table is empty without discrimination. ``results`` have the
    columns :data:`~benchmark.columns.RESULT_COLUMNS`, and ``standing`` is from
    :func:`~benchmark.statistics.answers.standings`. Nothing is compared with a baseline that has no results.
    ``alpha`` is the level of significance; the other parameters are those of ``answer_table``.
    """
    of_goals = results[results["metric"].isin((ACCURACY, *GOAL_METRICS.values()))]
    if decided is None or not {ACCURACY, *of_goals["metric"]} <= {*decided["metric"]}:
        if not (of_goals["metric"] == DISCRIMINATION).any():
            return pd.DataFrame(columns=list(ANSWER_COLUMNS))
        comparisons = compare_with(to_cells(of_goals, resampling), baselines, list_metrics(), alpha)
        decided = judged(comparisons, alpha=alpha, rope=criteria.margin)
    return answer_table(
        results, decided, standing, baselines, criteria, resampling, paired_levels=paired_levels, undo=undo
    )


def run_answers(run: RunFrames, baseline: str | None = None) -> pd.DataFrame:
    """Return :func:`results_answers` of a run, whose frames have reference rows, with :func:`with_frontier`.

    ``baseline`` takes the place of the one that the run declares, as in :func:`baselines_of`.
    """
    undo, chosen = what_to_undo(run), run.of_choices
    answers = results_answers(
        chosen.results,
        baselines_of(chosen.manifest, run.results, baseline),
        chosen.standing,
        resampling=chosen.resampling,
        paired_levels=chosen.manifest.experiment.paired_betas,
        undo=undo,
    )
    return with_frontier(answers, gaps_of_frontier(chosen))


def gaps_of_frontier(run: RunFrames) -> pd.DataFrame:
    """Return the comparisons of techniques with the unprocessing frontiers; empty if the run has none."""
    if run.frontier is None or run.frontier.empty:
        return pd.DataFrame(columns=list(FRONTIER_GAP_COLUMNS))
    constants = run.manifest.constant_answers
    return frontier_gaps(run.results, best_frontiers(run.frontier), constants, run.resampling)


def compare_with(cells: Cells, baselines: Baselines, goals: Mapping[str, Goal], alpha: float) -> pd.DataFrame:
    """Return comparisons of the techniques of each dataset with their baseline, where it has results."""
    compared = [
        paired_comparisons(cells.take(rows), baseline, goals, learners=baselines.learners, alpha=alpha)
        for rows, baseline in baselines.parts(cells.keys)
        if (cells.keys["technique"] == baseline)[rows].any()
    ]
    return joined(compared, COMPARED_COLUMNS)
