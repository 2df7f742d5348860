"""Comparisons of a run's techniques with their baselines, and verdicts on the techniques."""

from collections.abc import Mapping

import pandas as pd

from benchmark.columns import GOAL_METRICS, RESTORE, UNTREATED
from benchmark.errors import ReportError
from benchmark.metrics import list_metrics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import joined, joined_in_order
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answers import ACCURACY, ANSWER_COLUMNS, DISCRIMINATION, answer_table, judged
from benchmark.statistics.cells import PLANTED, Baselines, Cells, Goal, require_known, to_cells
from benchmark.statistics.hidden_bias import HIDDEN_BIAS, HIDDEN_KIND, hidden_bias_table, withheld
from benchmark.statistics.paired import COMPARED_COLUMNS, paired_comparisons
from benchmark.statistics.recommendation import Criteria
from benchmark.statistics.restoration import UNDO_COLUMNS, undo_table
from benchmark.statistics.unprocessing import with_frontier


def baselines_of(run: Manifest, results: pd.DataFrame, baseline: str | None) -> Baselines:
    """Return the baselines of techniques, on each dataset that has results or failures.

    ``run`` declares each dataset's baseline, and ``results`` are its values. ``baseline`` takes the place of
    the declared one wherever it was run. Then clean models are still those of doing nothing,
    or of the declared baseline if that was not run. An UnknownNameError says that the results have no
    technique of that name; a ReportError that a dataset's declared baseline was not run.
    """
    if baseline is not None:
        require_known("technique", [baseline], results["technique"])
    used, untreated = dict(run.baselines(results).by), {}
    tried = results.groupby(["dataset", "classifier"], sort=False)["technique"].agg(set)
    for (dataset, classifier), declared in used.items():
        techniques = tried[dataset, classifier]
        name = baseline if baseline is not None and baseline in techniques else declared
        if name not in techniques:
            raise ReportError(
                f"The baseline {name!r} of {dataset} was not run with {classifier}",
                expected="one of " + ", ".join(sorted(techniques)),
                got=repr(name),
                remedy="name one of these with --baseline, or run the experiment with the baseline as well",
            )
        clean = UNTREATED if UNTREATED in techniques else declared
        untreated[dataset, classifier] = name if name in (declared, UNTREATED) else clean
        used[dataset, classifier] = name
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
    rows = undo[[*PLANTED, "undo"]].itertuples(index=False, name=None)
    undo = undo.assign(
        undo=[reason or (HIDDEN_BIAS if _hides(manifest, *names) else "") for *names, reason in rows]
    )
    return joined_in_order([undo], manifest, UNDO_COLUMNS)


def _hides(run: Manifest, dataset: str, bias: str, level: float) -> bool:
    """Return whether a dataset hides so much bias, by outside rates, that ranks to restore are unreliable."""
    record = run.dataset(dataset)
    hidden, planted = record.hidden_dose, record.planted(bias)
    if hidden is None or planted.kind != HIDDEN_KIND:
        return False
    return withheld(hidden_bias_table(), hidden, planted.added(level), RESTORE)


def run_answers(
    run: RunFrames,
    baseline: str | None = None,
    alpha: float = ALPHA,
    criteria: Criteria = Criteria(),  # noqa: B008
    undo: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return :func:`~benchmark.statistics.answers.answer_table` of a run, with the standing by its frontier.

    The run has its reference rows; it may have a single repetition. ``baseline`` takes the place of the one
    that it declares, as in :func:`baselines_of`. Nothing is compared with a baseline that has no results.
    ``alpha`` is the level of significance. ``undo`` is from :func:`what_to_undo`, and computed unless given.
    The table is empty without discrimination, and has no standing without a frontier.
    """
    chosen = run.of_choices
    results, resampling = chosen.results, chosen.resampling
    baselines = baselines_of(chosen.manifest, results, baseline)
    of_goals = results[results["metric"].isin((ACCURACY, *GOAL_METRICS.values()))]
    if not (of_goals["metric"] == DISCRIMINATION).any():
        return pd.DataFrame(columns=list(ANSWER_COLUMNS))
    comparisons = compare_with(to_cells(of_goals, resampling), baselines, list_metrics(), alpha)
    answers = answer_table(
        results,
        judged(comparisons, alpha=alpha, rope=criteria.margin),
        chosen.standing,
        baselines,
        criteria,
        resampling,
        paired_levels=chosen.manifest.experiment.paired_betas,
        undo=what_to_undo(run) if undo is None else undo,
        knows=chosen.manifest.knows,
    )
    answers = joined_in_order([answers], chosen.manifest, ANSWER_COLUMNS)
    return with_frontier(answers, chosen.frontier_gaps)


def compare_with(cells: Cells, baselines: Baselines, goals: Mapping[str, Goal], alpha: float) -> pd.DataFrame:
    """Return comparisons of the techniques of each dataset with their baseline, where it has results."""
    compared = [
        paired_comparisons(cells.take(rows), baseline, goals, learners=baselines.learners, alpha=alpha)
        for rows, baseline in baselines.parts(cells.keys)
        if (cells.keys["technique"] == baseline)[rows].any()
    ]
    return joined(compared, COMPARED_COLUMNS)
