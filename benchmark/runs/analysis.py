"""The statistics of a finished run, as tidy frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.columns import GOALS, ORIGINAL, OWN, OWN_TITLE, TEST_TITLES
from benchmark.errors import ReportError
from benchmark.experiment.rule import Rule
from benchmark.metrics import Metric, list_metrics
from benchmark.runs.baselines import baselines_of
from benchmark.runs.finished import RunFrames, read_frames
from benchmark.runs.gaps import GAP_COLUMNS, gap_changes
from benchmark.runs.left_out import explained_fronts, explained_lines, explained_ranks, with_below
from benchmark.runs.manifest import Manifest, Protocol
from benchmark.runs.ranks import MOST_PAIRED, ranks_and_pairs, repeated_levels
from benchmark.runs.recovery import RECOVERY_FILE_COLUMNS, recovery_table
from benchmark.runs.report_frames import Scenario, described_scenarios, joined, joined_in_order
from benchmark.runs.verdicts import verdicts, what_to_undo
from benchmark.statistics import (
    Goal,
    cell_intervals,
    classifier_agreement,
    distance,
    pareto_fronts,
    slopes_and_areas,
    stopping_points,
)
from benchmark.statistics.across import ALPHA
from benchmark.statistics.agreement import AGREEMENT_COLUMNS
from benchmark.statistics.answer_record import ANSWER_COLUMNS
from benchmark.statistics.answers import (
    ACCEPTANCE,
    ACCURACY,
    incomparable,
    unranked,
    without_degenerate,
)
from benchmark.statistics.cells import (
    Baseline,
    Baselines,
    Cells,
    Resampling,
    baseline_names,
    to_cells,
)
from benchmark.statistics.choices import Criteria
from benchmark.statistics.decisions import SHARES
from benchmark.statistics.hypothesis_tests import flips_needed
from benchmark.statistics.intervals import require_level
from benchmark.statistics.paired import FAMILY, PAIRED_COLUMNS
from benchmark.statistics.pareto_front import PARETO_COLUMNS
from benchmark.statistics.restoration import (
    RESTORATION_COLUMNS,
    UNDO_COLUMNS,
    restoration_table,
)
from benchmark.statistics.robustness import LINE
from benchmark.statistics.row_sampling import with_test_rows
from benchmark.statistics.tuning import REGRET_COLUMNS, regrets
from benchmark.statistics.unprocessing import (
    FRONTIER_GAP_COLUMNS,
    best_frontiers,
    frontier_gaps,
    mean_frontiers,
)
from benchmark.text.words import distinct_file_names, file_name


@dataclass(frozen=True)
class Undeclared:
    """Stands for a metric of a plugin that is not loaded: which of its values are good is unknown."""

    name: str
    title: str
    range: tuple[float, float] = (-np.inf, np.inf)
    ideal: float | None = None
    direction: str = "none"


@dataclass(frozen=True, eq=False)
class RunStatistics:
    """Statistics of a run; ``results/README.md`` says what the columns hold."""

    run: Manifest  # what they are of
    failures: pd.DataFrame  # why values are missing
    results: pd.DataFrame  # the values that they are of
    metrics: Mapping[str, Metric | Undeclared]  # each metric's name in the results, and its declaration
    baselines: Baselines  # what techniques are compared with
    alpha: float  # of significance
    criteria: Criteria  # what a technique has to reach so that it is recommended
    # Which techniques are degenerate, or less accurate than a constant answer: columns
    # :data:`~benchmark.statistics.answers.STANDING_COLUMNS`.
    standing: pd.DataFrame
    # The comparisons with what follows from them: :func:`~benchmark.statistics.answers.judged`.
    judged: pd.DataFrame
    # One file each, up to agreement: of groups where a run told several attributes' apart, of regret where
    # techniques were tuned, of agreement where there are several classifiers. Degenerate techniques have no
    # ranks, are on no front and in no line over β; those less accurate than the best constant answer have,
    # and are marked by :data:`~benchmark.runs.left_out.BELOW_COLUMNS`. Comparisons are left out where the
    # baseline is mostly constant (:func:`~benchmark.statistics.answers.incomparable`).
    answers: pd.DataFrame
    intervals: pd.DataFrame
    comparisons: pd.DataFrame
    recovery: pd.DataFrame
    ranks: pd.DataFrame
    pairs: pd.DataFrame
    pareto: pd.DataFrame
    robustness: pd.DataFrame
    groups: pd.DataFrame
    # These values, and those of metrics by which nothing is compared, such as the shares accepted.
    everything: pd.DataFrame = field(default_factory=pd.DataFrame)
    # frontier, frontier_gaps: The unprocessing frontiers that techniques are compared with, and the
    # comparisons: of :func:`~benchmark.statistics.unprocessing.mean_frontiers` and
    # :func:`~benchmark.statistics.unprocessing.frontier_gaps`; empty where the run recorded none. Where it
    # did, the answers have the column ``frontier``, ``unconstrained`` are the techniques that they are made
    # from, and ``unscored`` the classifiers without one.
    frontier: pd.DataFrame = field(default_factory=pd.DataFrame)
    frontier_gaps: pd.DataFrame = field(
        default_factory=partial(pd.DataFrame, columns=list(FRONTIER_GAP_COLUMNS))
    )
    regret: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=list(REGRET_COLUMNS)))
    tuning: pd.DataFrame | None = None
    agreement: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=list(AGREEMENT_COLUMNS)))
    unconstrained: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    # How repetitions overlap, where they are repeated splits of the same rows.
    resampling: Resampling | None = None
    # restoration, undo: What techniques give back and to whom, and where there is nothing to undo: of
    # :func:`~benchmark.statistics.restoration_table` and of what the run declares techniques to be compared
    # with :func:`~benchmark.statistics.undo_table`; empty where the run compared no decisions.
    restoration: pd.DataFrame = field(
        default_factory=partial(pd.DataFrame, columns=list(RESTORATION_COLUMNS))
    )
    undo: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=list(UNDO_COLUMNS)))
    # Techniques that are named for a reader of the page to choose as baseline.
    page_baselines: tuple[str, ...] = ()

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {len(frame):,}" for name, frame in self.frames.items())
        return f"<Statistics of {self.run.name}; data frames in .frames, and their rows: {rows}>"

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The frames by the names of their files."""
        names = ("answers", "intervals", "comparisons", "recovery", "ranks", "pairs", "pareto", "robustness")
        some = [
            n
            for n in ("restoration", "groups", "regret", "frontier_gaps", "agreement")
            if len(getattr(self, n))
        ]
        found = {name: getattr(self, name) for name in (*names, *some)}
        written = {"answers": ANSWER_COLUMNS, "comparisons": PAIRED_COLUMNS}
        return found | {name: found[name][list(columns)] for name, columns in written.items()}

    @property
    def rope(self) -> float:
        """Difference up to which two techniques are practically equivalent."""
        return self.criteria.margin

    @cached_property
    def answered(self) -> tuple[str, ...]:
        """The goals for which there are answers, in the order in which they are shown."""
        return tuple(goal for goal in GOALS if (self.answers["goal"] == goal).any())

    def for_goal(self, goal: str) -> RunStatistics:
        """Return the same statistics with the answers for one goal alone."""
        own = self.answers["goal"] == goal
        return self if own.all() else replace(self, answers=self.answers[own].reset_index(drop=True))

    @cached_property
    def warnings(self) -> list[str]:
        """Sentences on what too few datasets cannot carry, one for each set of datasets."""
        ranked = self.ranks[(self.ranks["over"] == "dataset") & (self.ranks["warning"] != "")]
        # A set of datasets has as many warnings as numbers of pairs to test: the most pairs are the whole.
        fullest = ranked.sort_values("n_techniques", ascending=False, kind="stable")
        warned = dict(zip(fullest["datasets"][::-1], fullest["warning"][::-1], strict=True))
        return [
            f"{self.run.headings(datasets)}: {warned[datasets]}" for datasets in ranked["datasets"].unique()
        ]

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """What was tried, in the run's order."""
        return described_scenarios(self.intervals, self.run)

    @cached_property
    def compared_metrics(self) -> list[tuple[Scenario, str]]:
        """Each scenario with each metric that it has and of which some values are better than others."""
        directed = [name for name, declared in self.metrics.items() if declared.direction != "none"]
        tried = {scenario: set(scenario.rows(self.intervals)["metric"]) for scenario in self.scenarios}
        return [
            (scenario, name) for scenario in self.scenarios for name in directed if name in tried[scenario]
        ]

    def baseline_of(self, scenario: Scenario) -> Baseline:
        """Return what the techniques of a scenario are compared with."""
        return self.baselines.by[scenario.dataset.name, scenario.classifier]

    def baseline_titles(self, baseline: Baseline) -> dict[str, str]:
        """Return the names of what is compared with, each with its title."""
        return {name: self.run.titles[name] for name in baseline_names(baseline)}

    def ranked_on(self, datasets: str, **where: str) -> str:
        """Return the headings of datasets that are ranked together, and under what where ranks differ in it.

        ``where`` has the names of bias, classifier and test in a row of ranks.
        """
        several = {column for column in where if self.ranks[column].nunique() > 1}
        if self.names_tests:
            several.add("test")
        titles = {**TEST_TITLES, **({OWN: OWN_TITLE} if OWN in self.run.classifiers else {})}
        names = [titles.get(name, name) for column, name in where.items() if column in several]
        return ", ".join([self.run.headings(datasets), *names])

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """What was tested on, in the order in which it is shown."""
        return tuple(test for test in TEST_TITLES if (self.intervals["test"] == test).any())

    @property
    def names_tests(self) -> bool:
        """Whether it has to be said which test a table or figure is of."""
        return self.tests != (ORIGINAL,)

    def title(self, metric: str, test: str = "") -> str:
        """Return a metric's name for readers, with the group that it is of, and a test, if any has to be."""
        declared = self.metrics[metric]
        where = f" on {TEST_TITLES[test]}" if test and self.names_tests else ""
        return declared.title + metric.removeprefix(declared.name) + where

    def file_name(self, metric: str, test: str) -> str:
        """Return what a file about a metric on a test is named by."""
        return self.metric_files[metric] + (f"__{file_name(test)}" if self.names_tests else "")

    @cached_property
    def metric_files(self) -> dict[str, str]:
        """What a file about each metric is named by, distinct among all metrics."""
        return distinct_file_names(self.metrics)

    @cached_property
    def goals(self) -> dict[str, Metric | Undeclared]:
        """The declaration of each metric by its own name, without a group's."""
        return {metric.name: metric for metric in self.metrics.values()}

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The judged comparisons with baselines that can be compared with; no differences to the others."""
        gone = incomparable(self.judged, self.standing)
        table = self.judged.copy()
        numbers = ("difference", "improvement", "p_permutation")
        columns = [name for name in table.columns if name.startswith(numbers)]
        table[columns] = table[columns].mask(gone)
        for flag in ("better", "candidate", "worse"):
            table[flag] &= ~gone
        return table

    @cached_property
    def unpaired(self) -> dict[str, int]:
        """Sets of datasets with so many techniques that pairs are left out, and the number of these."""
        tried = self.ranks.groupby("datasets", sort=False)["technique"].nunique()
        return {str(datasets): int(n) for datasets, n in tried.items() if n > MOST_PAIRED}

    @cached_property
    def n_flips(self) -> int:
        """Number of sign flips that a test draws where it does not try all of them."""
        return flips_needed(max(self.comparisons.groupby(list(FAMILY)).size(), default=0), self.alpha)


def folder_statistics(
    folder: Path,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] = (),
    alpha: float = ALPHA,
    criteria: Criteria = Criteria(),  # noqa: B008
    say: Callable[[str], None] = lambda _step: None,
) -> RunStatistics:
    """Compute the statistics of the run in a folder; parameters and errors as for :func:`run_statistics`.

    Raises
    ------
    ReportError
        If the folder holds no finished run, or one in which no cell has a result.
    """
    say(f"reading {folder}")
    run = read_frames(folder, metrics)
    if run.results["value"].isna().all():
        statuses = run.failures.groupby("status", sort=False).size()
        raise ReportError(
            f"The run in {folder} has no result that could be reported",
            expected="cells that came to an end",
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
    """Compute all statistics of a run.

    Techniques that were tuned on rows that nobody has, the test rows or rows without planted bias, are in
    nothing but the comparison of settings.

    Parameters
    ----------
    run : RunFrames
        From :func:`~benchmark.runs.finished.read_frames`.
    metrics : sequence of str, default ()
        Names of the metrics to compare by; by default all of the results but the shares accepted.
    baseline : str, optional
        Technique that all others are compared with; by default each dataset's own, as the run declares it.
    alpha : float, default 0.05
        Level of significance, above 0 and below 1.
    criteria : Criteria
        What a technique has to reach so that it is recommended. Its margin is the difference up to which two
        techniques are practically equivalent, in the metric's unit, at least 0.
    say : callable(str), optional
        Called with the name of each step before it is taken.

    Raises
    ------
    ReportError
        If there is only one repetition without folds, or a dataset's baseline was not run.
    StatisticsError
        If a setting is impossible.
    UnknownNameError
        If the baseline is unknown.
    """
    _require_testable(run, alpha)
    undo = what_to_undo(run)
    whole, run = run, run.of_choices
    manifest, results, standing, resampling = run.manifest, run.results, run.standing, run.resampling
    groups, tuning, frontier = run.groups, run.tuning, run.frontier
    # Shares of people are ratios of sums: the frame of restoration has them.
    compared = list(metrics) or [m for m in results["metric"].unique() if m not in (*ACCEPTANCE, *SHARES)]
    declared = {name: _declared(name) for name in compared}
    goals = {own.name: own for own in map(_declared, results["metric"].unique())}
    baselines = baselines_of(manifest, results, baseline)
    everything, results = results, results[results["metric"].isin(compared)].reset_index(drop=True)
    cells, useful, against = (
        to_cells(own, resampling)
        for own in (
            results,
            without_degenerate(results, standing),
            without_degenerate(results, standing, baselines),
        )
    )
    restoration = _restoration(whole, baselines)
    pointless = unranked(useful.keys, baselines, undo)
    traded = replace(useful, values=np.where(pointless[:, None], np.nan, useful.values))
    useful = useful.take(~pointless)
    parts = [(against.take(rows), name) for rows, name in baselines.parts(against.keys)]
    told = [] if groups is None else [(groups[rows], name) for rows, name in baselines.parts(groups)]
    gaps = [gap_changes(part, name, resampling) for part, name in told]
    regret = (
        []
        if tuning is None
        else [
            regrets(
                tuning,
                resampling,
                greatest=Rule.parse(manifest.tuned_by).greatest,
                apart=manifest.apart,
            )
        ]
    )
    curves, inside = pd.DataFrame(), pd.DataFrame(columns=list(FRONTIER_GAP_COLUMNS))
    unconstrained: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    if frontier is not None:
        unconstrained = tuple(frontier["technique"].unique())
        unscored = tuple(c for c in manifest.classifiers if c not in {*frontier["classifier"], OWN})
        best = best_frontiers(frontier)
        curves = mean_frontiers(best)
        inside = frontier_gaps(everything, best, manifest.constant_answers, resampling)
    say(f"comparing with the baseline: {len(cells.keys):,} cells and metrics")
    concluded = verdicts(
        manifest,
        everything,
        cells,
        baselines,
        goals=goals,
        standing=standing,
        frontier_gaps=inside,
        alpha=alpha,
        criteria=criteria,
        resampling=resampling,
        undo=undo,
    )
    say("ranking techniques and comparing pairs of them")
    ranks, pairs = ranks_and_pairs(useful, goals, manifest, alpha=alpha, rope=criteria.margin)
    say("weighing each metric against accuracy")
    fronts = joined_in_order(
        [pareto_fronts(traded, pair, goals) for pair in _trade_offs(declared)], manifest, PARETO_COLUMNS
    )
    in_ranks = standing.assign(repeated=repeated_levels(manifest, standing))
    ranked = [(part.take(~unranked(part.keys, baselines, undo)), name) for part, name in parts]
    stops = pd.concat([stopping_points(part, name, goals) for part, name in ranked], ignore_index=True)
    return RunStatistics(
        run=manifest,
        failures=run.failures,
        resampling=resampling,
        results=results,
        everything=everything,
        metrics=declared,
        baselines=baselines,
        alpha=alpha,
        criteria=criteria,
        undo=undo,
        standing=standing,
        judged=concluded.judged,
        answers=concluded.answers,
        intervals=_with_test_rows(cell_intervals(cells), run.row_noise, manifest.protocol),
        comparisons=concluded.comparisons,
        recovery=manifest.with_level_words(
            joined_in_order(
                [recovery_table(parts, concluded.comparisons, standing, manifest)],
                manifest,
                RECOVERY_FILE_COLUMNS,
            )
        ),
        ranks=manifest.with_level_words(with_below(explained_ranks(ranks, in_ranks), in_ranks)),
        pairs=pairs,
        pareto=with_below(explained_fronts(fronts, standing), standing),
        robustness=manifest.with_level_words(
            explained_lines(_robustness(slopes_and_areas(useful), stops), standing)
        ),
        groups=joined_in_order(gaps, manifest, GAP_COLUMNS),
        agreement=_agreement(useful, concluded.comparisons, goals, manifest),
        regret=joined(regret, REGRET_COLUMNS),
        tuning=tuning,
        frontier=curves,
        unconstrained=unconstrained,
        unscored=unscored,
        frontier_gaps=joined_in_order([inside], manifest, FRONTIER_GAP_COLUMNS),
        restoration=restoration,
    )


def _restoration(run: RunFrames, baselines: Baselines) -> pd.DataFrame:
    """Return the frame ``restoration`` of what can be chosen; the run is given with its reference rows."""
    found: list[pd.DataFrame] = []
    if run.decisions is not None:
        refits, nobodys = run.manifest.refits_of, run.manifest.unchoosable - run.manifest.refits
        decisions = run.decisions[~run.decisions["technique"].isin(nobodys)]
        found = [restoration_table(decisions, run.results, baselines, run.resampling, refits)]
    return joined_in_order(found, run.manifest, RESTORATION_COLUMNS)


def _with_test_rows(
    intervals: pd.DataFrame, row_noise: pd.DataFrame | None, protocol: Protocol
) -> pd.DataFrame:
    table = with_test_rows(intervals, None if protocol.splits else row_noise)
    if not protocol.overlaps:
        return table
    # Splits have other test rows each: the corrected interval holds the variation of both.
    return table.assign(both_low=table["ci_low"], both_high=table["ci_high"])


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


def _agreement(
    cells: Cells, comparisons: pd.DataFrame, goals: Mapping[str, Goal], run: Manifest
) -> pd.DataFrame:
    """Compare what several classifiers say of techniques; those of techniques' own train no others."""
    classifiers = [name for name in run.classifiers if name != OWN]
    if len(classifiers) < 2:
        return pd.DataFrame(columns=list(AGREEMENT_COLUMNS))
    taken = cells.where(classifier=classifiers)
    folds = None if taken.of_folds is None else taken.split_distances(goals)
    distances = replace(taken, values=taken.distances(goals), of_folds=folds)
    return classifier_agreement(distances, comparisons, classifiers)


def _declared(name: str) -> Metric | Undeclared:
    base = name.partition("[")[0]
    return list_metrics().get(base) or Undeclared(base, base)


def _trade_offs(metrics: Mapping[str, Metric | Undeclared]) -> list[tuple[str, str]]:
    """Pair accuracy with each metric that has a greatest distance to its ideal."""
    return [
        (name, ACCURACY)
        for name, metric in metrics.items()
        if name != ACCURACY
        and ACCURACY in metrics
        and np.isfinite(distance(np.array(metric.range, dtype=float), metric).max())
    ]


def _robustness(lines: pd.DataFrame, stops: pd.DataFrame) -> pd.DataFrame:
    own = stops.drop(columns="n_betas").rename(columns={"reason": "stops_reason"})
    return lines.merge(own, how="left", on=list(LINE))
