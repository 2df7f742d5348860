"""The numbers of a run as cells of tables, and the notes on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from benchmark.columns import ORIGINAL
from benchmark.metrics import list_metrics
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest, metric_description
from benchmark.runs.report_frames import Scenario, joined
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY, DISCRIMINATION, NEARLY_ALL
from benchmark.statistics.cells import WHERE, Baselines, row_means, to_cells
from benchmark.tables.layout import Cell
from benchmark.text.embedded import extent
from benchmark.text.words import sentence, share
from benchmark.wording import vocabulary
from benchmark.wording.described import all_planted, provenance, repetitions

ACCEPTED = "accepted"
"""The column of the shares accepted: of all, of the deprived and of the favored group."""

CONSTANT = "Best constant answer"
"""The row of the more accurate of the two classifiers that answer everybody the same."""

HEADINGS = {
    "discrimination": "Disc.",
    "accuracy": "Acc.",
    "overestimation": "Over.",
    "underestimation": "Under.",
    "restoration_distance": "Dist.",
    ACCEPTED: "Accepted",
}
"""Column headings, most of them the paper's; other metrics are headed by their title."""

BETTER, WORSE, FEWER = "+", "-", "*"
DEGENERATE, BELOW_CONSTANT, ONE_GROUP = "‡", "†", "¶"

MEANINGS = {
    DEGENERATE: f"the same answer for more than {share(NEARLY_ALL)} of all, or of each group, in a sample",
    BELOW_CONSTANT: vocabulary()["reason"]["below_constant"]["label"],
    ONE_GROUP: f"the same answer for more than {share(NEARLY_ALL)} of one group",
}
"""Signs of techniques of little use; of several, the first stands for all."""

SIGNS = (
    f"{BETTER} {WORSE}: shown to be better or worse than the baseline; the intervals of all techniques of a "
    "level hold together.",
    *(f"{sign}: {meaning}." for sign, meaning in MEANINGS.items()),
    f"{FEWER}: fewer repetitions have a value; failures.csv says why.",
    "Accepted: share of the test rows with the favorable prediction: all / deprived / favored.",
)

_PACKAGES = ("betabench", "python", "numpy", "scikit-learn")  # whose versions are named
_KEY = (*WHERE, "metric")
Where = tuple[str, str, str, str, float, str]
"""Values of the columns :data:`~benchmark.statistics.cells.WHERE`."""


def standing_signs(standing: pd.DataFrame) -> list[str]:
    """Return the sign of each row of standings, or an empty string."""
    columns = ("n_degenerate", "below_constant", "one_group")
    return [str(own) for own in np.select([standing[c] > 0 for c in columns], [*MEANINGS], "")]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Means of a run and, with its statistics, changes from the baseline."""

    run: Manifest
    scenarios: tuple[Scenario, ...]
    means: pd.DataFrame  # WHERE, metric, mean, ci_high, n
    results: pd.DataFrame
    standing: pd.DataFrame
    baselines: Baselines
    compared: pd.DataFrame | None = None

    @classmethod
    def of_run(cls, run: RunFrames) -> Self:
        """Return the numbers of a run without its statistics; reference rows are left out."""
        run = run.of_techniques
        baselines = run.manifest.baselines(run.results)
        return cls(run.manifest, run.scenarios, run.summary, run.results, run.standing, baselines)

    @classmethod
    def of_statistics(cls, own: RunStatistics) -> Self:
        """Return the numbers of a run's statistics."""
        whole = own.everything
        shares = whole[whole["metric"].isin(ACCEPTANCE)].groupby([*_KEY], sort=False)["value"]
        accepted = shares.agg(["mean", "count"]).rename(columns={"count": "n"}).reset_index()
        means = joined([own.intervals, accepted.assign(ci_high=math.nan)], own.intervals.columns)
        return cls(own.run, own.scenarios, means, whole, own.standing, own.baselines, own.compared)

    @cached_property
    def metrics(self) -> list[str]:
        """Names of the metrics, without the shares accepted."""
        return [str(name) for name in self.means["metric"].unique() if name not in ACCEPTANCE]

    @cached_property
    def columns(self) -> list[str]:
        """Names of the metrics, and of the shares accepted if they were measured."""
        return [*self.metrics, *([ACCEPTED] if self.means["metric"].eq(ACCEPTANCE[0]).any() else [])]

    @cached_property
    def tried(self) -> set[tuple[object, ...]]:
        """Each scenario's key with each of its techniques."""
        return {(*key[:4], key[5]) for key in self._means}

    @cached_property
    def _means(self) -> dict[tuple[object, ...], tuple[Any, ...]]:
        return _by_key(self.means, _KEY, "mean", "ci_high", "n")

    @cached_property
    def _changes(self) -> dict[tuple[object, ...], tuple[Any, ...]]:
        columns = ("difference", "difference_low", "difference_high", "better", "worse")
        return {} if self.compared is None else _by_key(self.compared, _KEY, *columns)

    @cached_property
    def _signs(self) -> dict[tuple[object, ...], tuple[Any, ...]]:
        return _by_key(self.standing.assign(sign=standing_signs(self.standing)), WHERE, "sign")

    @cached_property
    def _distances(self) -> dict[tuple[object, ...], tuple[Any, ...]]:
        """The mean distance of each value to the ideal of its metric, unless no plugin declares it."""
        known = list_metrics()
        goals = {name.partition("[")[0] for name in self.metrics} & known.keys()
        measured = self.results["metric"].str.partition("[")[0].isin(goals)
        if not measured.any():
            return {}
        cells = to_cells(self.results[measured])
        distances = row_means(cells.distances({name: known[name] for name in goals}))
        return _by_key(cells.keys.assign(distance=distances), _KEY, "distance")

    def value(self, where: Where, metric: str) -> Cell:
        """Return the mean of a technique with its interval and signs; empty if it was not tried there."""
        if metric == ACCEPTED:
            return self.shares([self._means.get((*where, name), (math.nan,))[0] for name in ACCEPTANCE])
        if (numbers := self._means.get((*where, metric))) is None:
            return Cell(text="")
        mean, high, n = numbers
        few = FEWER if n < self.run.repetitions else ""
        return Cell(mean, high - mean, mark=",".join(filter(None, [self.sign(where) if n else "", few])))

    def change(self, where: Where, metric: str) -> Cell:
        """Return the change from the baseline, with its interval, and a sign if better or worse is shown."""
        if (numbers := self._changes.get((*where, metric))) is None:
            return Cell(text="")
        mean, low, high, better, worse = numbers
        return Cell(mean, (high - low) / 2, mark=BETTER if better else WORSE if worse else "")

    def constant(self, scenario: Scenario, metric: str) -> Cell:
        """Return the number of the best constant answer, which has accuracy and discrimination alone."""
        if (answer := scenario.best_constant) is None:
            return Cell(text="")
        if metric == ACCEPTED:
            return self.shares([answer.accepted] * 3)
        values = {ACCURACY: answer.accuracy, DISCRIMINATION: 0.0}
        return Cell(values[metric]) if metric in values else Cell(text="")

    def shares(self, shares: Sequence[float]) -> Cell:
        """Return the cell of the shares accepted."""
        return Cell(text="" if all(map(math.isnan, shares)) else " / ".join(map(share, shares)))

    def sign(self, where: Where) -> str:
        """Return the sign of a useless technique, or ""."""
        return str(*self._signs.get(where, ()))

    def nearest(self, cells: Sequence[Where], metric: str) -> set[Where]:
        """Return those that are nearest to the ideal, to three decimals, among the useful."""
        useful = [where for where in cells if not {*self.sign(where)} & {DEGENERATE, BELOW_CONSTANT}]
        gaps = {where: round(self._distances.get((*where, metric), (math.nan,))[0], 3) for where in useful}
        least = min((gap for gap in gaps.values() if math.isfinite(gap)), default=math.nan)
        return {where for where, gap in gaps.items() if gap == least}

    def title(self, metric: str) -> str:
        """Return the heading of a column."""
        return HEADINGS.get(metric) or (self.run.metric(metric) or metric_description(metric)).title

    @property
    def extent(self) -> str:
        """The ending of captions that says whether datasets are embedded ones."""
        return extent(scenario.dataset.embedded for scenario in self.scenarios)

    @property
    def spread(self) -> str:
        """The start of notes: what numbers are means of, and their intervals."""
        interval = vocabulary()["interval"]["overlaps" if self.run.protocol.overlaps else "samples"]
        half = f", ± half of {interval}" if self.means["ci_high"].notna().any() else ""
        return f"Mean of {repetitions(self.run)}{half}."

    @property
    def notes(self) -> str:
        """The text on all tables of the run: signs, data and versions."""
        return "".join(f"{' '.join(note.split())}\n" for note in self._notes())

    def _notes(self) -> Iterator[str]:
        run = self.run
        yield self.spread
        if run.tests != (ORIGINAL,):
            tests = vocabulary()["test"]
            yield from (
                f"{tests[test]['label'].capitalize()}: {tests[test]['clause']}." for test in run.tests
            )
        for (name, classifier), baseline in self.baselines.by.items():
            words = run.titles.get(baseline, baseline)
            yield f"Baseline, {run.dataset(name).heading} with {classifier}: {words}."
        yield from SIGNS
        for dataset in dict.fromkeys(scenario.dataset for scenario in self.scenarios):
            yield (
                f"{dataset.heading}: {provenance(dataset)} ({dataset.test_rows:,} rows, data "
                f"{dataset.test_digest[:12]}). {sentence(all_planted(dataset))}"
            )
            yield from (f"Note, {dataset.heading}: {sentence(note)}" for note in dataset.notes)
            if dataset.warning:
                yield f"Warning, {dataset.heading}: {sentence(dataset.warning)}"
        versions = ", ".join(f"{name} {run.versions[name]}" for name in _PACKAGES if name in run.versions)
        yield f"Experiment {run.name} ({run.title}), seed {run.experiment.seed}; {versions}."


def _by_key(
    frame: pd.DataFrame, key: Sequence[str], *columns: str
) -> dict[tuple[object, ...], tuple[Any, ...]]:
    """Return some columns of each row by its key, as plain numbers."""
    rows = frame[[*key, *columns]].itertuples(index=False, name=None)
    return {row[: len(key)]: row[len(key) :] for row in rows}
