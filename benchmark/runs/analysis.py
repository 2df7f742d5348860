"""The statistics of a finished run, as tidy frames."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.columns import ORIGINAL, RESULT_COLUMNS, TEST_TITLES
from benchmark.errors import ReportError
from benchmark.experiment.tuning_rule import Rule
from benchmark.metrics import GAP, Metric, list_metrics
from benchmark.runs import verdicts
from benchmark.runs.finished import RunFrames, read_frames
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import (
    Scenario,
    described_scenarios,
    joined_in_order,
    names_together,
    renamed,
)
from benchmark.statistics.across import ALPHA, PARETO_COLUMNS, pareto_fronts
from benchmark.statistics.answers import (
    ACCEPTANCE,
    ACCURACY,
    ANSWER_COLUMNS,
    incomparable,
    judged,
    unranked,
    without_degenerate,
)
from benchmark.statistics.cells import CELL_KEY, LEAST, Baselines, Resampling, distance, row_means, to_cells
from benchmark.statistics.intervals import cell_intervals, require_level
from benchmark.statistics.paired import COMPARED_COLUMNS, PAIRED_COLUMNS
from benchmark.statistics.recommendation import Criteria
from benchmark.statistics.restoration import RESTORATION_COLUMNS, SHARES, restoration_table
from benchmark.statistics.tuning import REGRET_COLUMNS, regrets
from benchmark.statistics.unprocessing import best_frontiers, mean_frontiers
from benchmark.text.words import distinct_file_names, file_name

GAP_COLUMNS = (
    *(*CELL_KEY[:-1], "attribute", "metric", "baseline", "n"),
    *("gap", "baseline_gap", "difference", "difference_low", "difference_high"),
    *("p_value", "p_value_holm", "wider", "reason"),
)
"""Columns of :func:`gap_changes`."""


@dataclass(frozen=True)
class Undeclared:
    """Stand-in for a metric of a plugin that is not loaded: its good values are unknown."""

    name: str
    title: str
    range: tuple[float, float] = (-np.inf, np.inf)
    ideal: float | None = None
    direction: str = "none"


@dataclass(frozen=True, eq=False)
class RunStatistics:
    """Statistics of a run; ``results/README.md`` explains the columns of frames in files."""

    run: Manifest
    failures: pd.DataFrame  # reasons for missing values
    metrics: Mapping[str, Metric | Undeclared]  # each metric's name in the results, and its declaration
    baselines: Baselines  # of all techniques
    alpha: float  # level of significance
    criteria: Criteria  # requirements for a recommendation
    # How repetitions overlap, where they are repeated splits of the same rows.
    resampling: Resampling | None
    # All results, also of metrics that compare nothing, such as the shares accepted.
    everything: pd.DataFrame
    # Which techniques are degenerate, or less accurate than a constant answer: columns
    # :data:`~benchmark.statistics.answers.STANDING_COLUMNS`.
    standing: pd.DataFrame
    # One file each, from answers to frontier_gaps. Degenerate techniques have no ranks, and are on no front.
    # Techniques below the best constant answer are marked by :data:`~benchmark.runs.verdicts.BELOW_COLUMNS`.
    # Comparisons have more columns than their file: those of
    # :func:`~benchmark.statistics.answers.judged`. They are left out where the baseline is mostly constant
    # (:func:`~benchmark.statistics.answers.incomparable`).
    answers: pd.DataFrame
    intervals: pd.DataFrame
    comparisons: pd.DataFrame
    ranks: pd.DataFrame
    pareto: pd.DataFrame
    restoration: pd.DataFrame  # :func:`restoration_table`, if decisions were compared
    groups: pd.DataFrame  # if a run told those of several attributes apart
    regret: pd.DataFrame  # the cost of choosing settings, of tuned techniques
    # Comparisons with the unprocessing frontiers (:func:`~benchmark.statistics.unprocessing.frontier_gaps`),
    # and these (:func:`~benchmark.statistics.unprocessing.mean_frontiers`); empty if the run recorded none.
    # Else the answers have the column ``frontier``. Frontiers are made from the ``unconstrained`` techniques.
    frontier_gaps: pd.DataFrame
    frontier: pd.DataFrame
    unconstrained: tuple[str, ...]
    effects: pd.DataFrame  # :func:`~benchmark.runs.verdicts.effects_of_bias`

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {len(frame):,}" for name, frame in self.frames.items())
        return f"<Statistics of {self.run.name}; data frames in .frames, and their rows: {rows}>"

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The frames by the names of their files, with the same columns."""
        always = ("answers", "intervals", "comparisons", "ranks", "pareto")
        columns = {"answers": list(ANSWER_COLUMNS), "comparisons": list(PAIRED_COLUMNS)}
        frames = {
            name: getattr(self, name)
            for name in (*always, "restoration", "groups", "regret", "frontier_gaps")
            if name in always or len(getattr(self, name))
        }
        return {
            name: self.run.in_files(frame[columns.get(name, frame.columns)]) for name, frame in frames.items()
        }

    @property
    def rope(self) -> float:
        """Difference up to which two techniques are practically equivalent."""
        return self.criteria.margin

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios of the run, in its order."""
        return described_scenarios(self.intervals, self.run)

    @cached_property
    def compared_metrics(self) -> list[tuple[Scenario, str]]:
        """Each scenario with each of its metrics that has better and worse values."""
        return [
            (scenario, name)
            for scenario in self.scenarios
            for name in scenario.rows(self.intervals)["metric"].unique()
            if self.metrics[name].direction != "none"
        ]

    def baseline_of(self, scenario: Scenario) -> str:
        """Return the baseline of a scenario's techniques."""
        return self.baselines.by[scenario.dataset.name, scenario.classifier]

    def ranked_on(self, datasets: str, **where: str) -> str:
        """Return the headings of datasets that are ranked together, and names that tell such ranks apart.

        ``where`` has the names of bias, classifier and test in a row of ranks.
        """
        several = {column for column in where if self.ranks[column].nunique() > 1}
        if self.names_tests:
            several.add("test")
        names = [TEST_TITLES.get(name, name) for column, name in where.items() if column in several]
        headings = [self.run.dataset(name).heading for name in datasets.split()]
        return ", ".join([*headings, *names])

    @cached_property
    def names_tests(self) -> bool:
        """Whether tables and figures have to name their test."""
        return bool((self.intervals["test"] != ORIGINAL).any())

    def title(self, metric: str, test: str = "") -> str:
        """Return a metric's name for readers, with its group, and with a test if tests have to be named."""
        declared = self.metrics[metric]
        where = f" on {TEST_TITLES[test]}" if test and self.names_tests else ""
        return declared.title + metric.removeprefix(declared.name) + where

    def file_name(self, metric: str, test: str = "") -> str:
        """Return the file name of a metric, distinct among all metrics, on a test if tests are named."""
        where = f"__{file_name(test)}" if test and self.names_tests else ""
        return distinct_file_names(self.metrics)[metric] + where

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The comparisons; without differences where a baseline cannot be compared with."""
        gone = incomparable(self.comparisons, self.standing)
        table = self.comparisons.copy()
        numbers = ("difference", "improvement", "p_paired")
        columns = [name for name in table.columns if name.startswith(numbers)]
        table[columns] = table[columns].mask(gone)
        for flag in ("better", "candidate", "worse"):
            table[flag] &= ~gone
        return table


def folder_statistics(
    folder: Path,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] = (),
    alpha: float = ALPHA,
    criteria: Criteria = Criteria(),  # noqa: B008
    say: Callable[[str], None] = lambda _step: None,
) -> RunStatistics:
    """Return the statistics of the run in a folder; parameters and errors as in :func:`run_statistics`.

    A ReportError says as well that the folder holds no finished run, or that no cell has a result.
    """
    say(f"reading {folder}")
    run = read_frames(folder, metrics)
    if run.results["value"].isna().all():
        statuses = run.failures.groupby("status", sort=False).size()
        raise ReportError(
            f"The run in {folder} has no result to report",
            expected="cells with results",
            got=", ".join(f"{count:,} {status}" for status, count in statuses.items()),
            remedy=f"the reasons are in {folder / 'failures.csv'}; correct them, and start the run again",
        )
    return run_statistics(run, metrics, baseline=baseline, alpha=alpha, criteria=criteria, say=say)


def run_statistics(
    run: RunFrames,
    metrics: Sequence[str] = (),
    *,
    baseline: str | None = None,
    alpha: float = ALPHA,
    criteria: Criteria = Criteria(),  # noqa: B008
    say: Callable[[str], None] = lambda _step: None,
) -> RunStatistics:
    """Return all statistics of a run, which is from :func:`~benchmark.runs.finished.read_frames`.

    Techniques that cannot be chosen in practice are in no frame but the comparison of settings.
    Techniques are compared by ``metrics``, by default all of the results but the shares accepted, and with
    ``baseline``, by default each dataset's. ``alpha`` is the level of significance, above 0 and below 1.
    ``say`` is called with the name of each step before it starts.

    A ReportError says that there is only one repetition without folds, or that a dataset's baseline was not
    run; a StatisticsError that a setting is impossible; an UnknownNameError that the baseline is unknown.
    """
    _require_testable(run, alpha)
    effects = verdicts.effects_of_bias(run)
    whole, run = run, run.of_choices
    manifest, results, standing, resampling = run.manifest, run.results, run.standing, run.resampling
    # Shares of people are ratios of sums: the frame of restoration has them.
    compared = list(metrics) or [m for m in results["metric"].unique() if m not in (*ACCEPTANCE, *SHARES)]
    declared = {name: _declared(name) for name in compared}
    goals = {metric.name: metric for metric in map(_declared, results["metric"].unique())}
    baselines = verdicts.baselines_of(manifest, results, baseline)
    of_metrics = results[results["metric"].isin(compared)].reset_index(drop=True)
    cells = to_cells(of_metrics, resampling)
    useful = to_cells(without_degenerate(of_metrics, standing), resampling)
    without_rank = unranked(useful.keys, baselines, effects)
    traded = replace(useful, values=np.where(without_rank[:, None], np.nan, useful.values))
    # Techniques with learners of their own are ranked, and their regrets averaged, with each other: one of
    # them is chosen.
    names = names_together(manifest, results)
    useful = useful.take(~without_rank)
    useful = replace(useful, keys=renamed(useful.keys, names))
    gaps = None if run.groups is None else gap_changes(run.groups, baselines, resampling)
    restoration, regret = [], pd.DataFrame(columns=list(REGRET_COLUMNS))
    if whole.decisions is not None:  # with the reference rows
        unchoosable = whole.manifest.unchoosable - whole.manifest.refits
        decisions = whole.decisions[~whole.decisions["technique"].isin(unchoosable)]
        clean, refits = baselines.of_clean_models, whole.manifest.refits_of
        restoration = [restoration_table(decisions, clean, resampling, refits)]
    if run.tuning is not None:
        greatest = Rule.parse(manifest.tuned_by).greatest
        regret = regrets(renamed(run.tuning, names), resampling, greatest=greatest, apart=manifest.apart)
    say(f"comparing with the baseline: {len(cells.keys):,} cells and metrics")
    comparisons = joined_in_order(
        [verdicts.compare_with(cells, baselines, goals, alpha)], manifest, COMPARED_COLUMNS
    )
    comparisons = judged(comparisons, alpha=alpha, rope=criteria.margin)
    say("ranking techniques")
    told = manifest.knowledge
    told |= {new: told[old] for own in names.values() for old, new in own.items() if old in told}
    ranks = verdicts.ranks_of(useful, goals, manifest, told, alpha=alpha)
    in_ranks = renamed(standing.assign(repeated=verdicts.repeated_levels(manifest, standing)), names)
    say("weighing each metric against accuracy")
    fronts = [pareto_fronts(traded, pair, goals, baselines.learners, told) for pair in _trade_offs(declared)]
    pareto = joined_in_order(fronts, manifest, PARETO_COLUMNS)
    return RunStatistics(
        run=manifest,
        failures=run.failures,
        metrics=declared,
        baselines=baselines,
        alpha=alpha,
        criteria=criteria,
        resampling=resampling,
        everything=results,
        standing=standing,
        answers=verdicts.run_answers(whole, baseline, alpha, criteria, effects),
        intervals=cell_intervals(cells),
        comparisons=comparisons,
        ranks=verdicts.with_below(verdicts.with_degenerate(ranks, in_ranks), in_ranks),
        pareto=verdicts.with_below(verdicts.with_degenerate(pareto, standing), standing),
        restoration=joined_in_order(restoration, manifest, RESTORATION_COLUMNS),
        groups=pd.DataFrame(columns=list(GAP_COLUMNS)) if gaps is None else gaps,
        regret=regret,
        frontier_gaps=run.frontier_gaps,
        frontier=pd.DataFrame() if run.frontier is None else mean_frontiers(best_frontiers(run.frontier)),
        unconstrained=() if run.frontier is None else tuple(run.frontier["technique"].unique()),
        effects=effects,
    )


def gap_changes(
    groups: pd.DataFrame, baselines: Baselines, resampling: Resampling | None = None
) -> pd.DataFrame:
    """Return the largest gaps between groups, compared with the baseline's on the same samples.

    ``groups`` have the columns :data:`~benchmark.columns.GROUP_COLUMNS`. ``resampling`` says how repetitions
    overlap. A repetition counts as a whole here; if it has several splits there are no intervals, since their
    values are not kept.

    The result has the columns :data:`GAP_COLUMNS`, which ``results/README.md`` explains at ``groups.csv``,
    and a row for each cell, attribute (or intersection) and rate. The baseline has rows, too. There are none
    where the baseline has no gaps.
    """
    gaps = groups[groups["group"] == GAP]
    if not (gaps["technique"] == baselines.column(gaps)).any():
        return pd.DataFrame(columns=list(GAP_COLUMNS))
    goals = dict.fromkeys(gaps["metric"].unique(), LEAST)
    gaps = gaps.assign(metric=gaps["metric"] + "[" + gaps["attribute"] + "]")[list(RESULT_COLUMNS)]
    unfolded = None if resampling is None else Resampling(resampling.overlaps, resampling.n_folds)
    cells = to_cells(gaps, unfolded)
    cells = cells.take(cells.find(technique=baselines.column(cells.keys)) >= 0)
    means = cells.keys.assign(gap=row_means(cells.values), n=cells.n, baseline=baselines.column(cells.keys))
    partner = cells.find(technique=means["baseline"])
    means["baseline_gap"] = means["gap"].to_numpy()[partner]
    differences = cells.values - cells.values[partner]
    # NaN where there is no pair.
    means["wider"] = row_means(1.0 * (differences > 0) + 0.0 * differences)
    comparisons = verdicts.compare_with(cells, baselines, goals, ALPHA).drop(columns=["baseline", "n"])
    table = means.merge(comparisons, on=list(CELL_KEY), how="left")
    names = table["metric"].str.removesuffix("]").str.split("[", n=1, expand=True)
    table = table.assign(metric=names[0], attribute=names[1], reason=table["reason"].fillna(""))
    table = table.rename(columns={"p_paired": "p_value", "p_paired_holm": "p_value_holm"})
    return table[list(GAP_COLUMNS)]


def _require_testable(run: RunFrames, alpha: float) -> None:
    require_level("level of significance", alpha, usual=ALPHA)
    resampling = run.resampling
    folds = None if resampling is None or resampling.n_folds is None else resampling.folds
    if run.results["repetition"].nunique() < 2 and (folds is None or folds.empty):
        raise ReportError(
            f"The run {run.manifest.name!r} has one repetition",
            expected="at least two, or the folds of one, so that intervals and tests can be computed",
            got="1",
            remedy="run the experiment with more --repetitions; 30 are a good number",
        )


def _declared(name: str) -> Metric | Undeclared:
    base = name.partition("[")[0]
    return list_metrics().get(base) or Undeclared(base, base)


def _trade_offs(metrics: Mapping[str, Metric | Undeclared]) -> list[tuple[str, str]]:
    """Return each metric that has a greatest distance to its ideal, paired with accuracy."""
    return [
        (name, ACCURACY)
        for name, metric in metrics.items()
        if name != ACCURACY
        and ACCURACY in metrics
        and np.isfinite(distance(np.array(metric.range, dtype=float), metric).max())
    ]
