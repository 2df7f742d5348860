"""The numbers of a run as one table of all techniques, and as the paper's tables, with notes on them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np
import pandas as pd

from benchmark.columns import BLIND, GOAL_METRICS, ORIGINAL
from benchmark.errors import UnknownNameError
from benchmark.metrics import list_metrics
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest, metric_description
from benchmark.runs.report_frames import Scenario, by_rows, joined
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY, DISCRIMINATION, NEARLY_ALL
from benchmark.statistics.cells import WHERE, Baselines, row_means, to_cells
from benchmark.tables.layout import Cell, Row, Table
from benchmark.text.words import repetitions, sentence, share
from benchmark.wording import all_planted, provenance, vocabulary

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
    "Accepted: selection rate, the share with the favorable prediction: all / deprived / favored.",
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
        return {(*key[:4], key[5]) for key in self._rows}

    @cached_property
    def _rows(self) -> dict[tuple[object, ...], Any]:
        """The rows of means by their key, with signs, changes, and mean distances of values to the ideal."""
        signs = self.standing[[*WHERE]].assign(sign=standing_signs(self.standing))
        rows = self.means.merge(signs, "left", on=[*WHERE]).fillna({"sign": ""})
        if self.compared is not None:
            changes = ["difference", "difference_low", "difference_high", "better", "worse"]
            rows = rows.merge(self.compared[[*_KEY, *changes]], "left", on=[*_KEY])
        known = list_metrics()  # without those of a plugin that is not loaded
        goals = {name.partition("[")[0] for name in self.metrics} & known.keys()
        measured = self.results[self.results["metric"].str.partition("[")[0].isin(goals)]
        rows["distance"] = math.nan
        if len(measured):
            cells = to_cells(measured)
            distances = row_means(cells.distances({name: known[name] for name in goals}))
            of_key = pd.Series(distances, pd.MultiIndex.from_frame(cells.keys[[*_KEY]]))
            rows["distance"] = of_key.reindex(pd.MultiIndex.from_frame(rows[[*_KEY]])).to_numpy()
        keys = rows[[*_KEY]].itertuples(index=False, name=None)
        return dict(zip(keys, rows.itertuples(), strict=True))

    def value(self, where: Where, metric: str) -> Cell:
        """Return the mean of a technique with its interval and signs; empty if it was not tried there."""
        if metric == ACCEPTED:
            rows = [self._rows.get((*where, name)) for name in ACCEPTANCE]
            return self.shares([math.nan if row is None else row.mean for row in rows])
        if (row := self._rows.get((*where, metric))) is None:
            return Cell(text="")
        few = FEWER if row.n < self.run.repetitions else ""
        marks = filter(None, [row.sign if row.n else "", few])
        return Cell(row.mean, row.ci_high - row.mean, mark=",".join(marks))

    def change(self, where: Where, metric: str) -> Cell:
        """Return the change from the baseline, with its interval, and a sign if better or worse is shown."""
        row = self._rows.get((*where, metric))
        if row is None or pd.isna(row.better):  # not tried there, or not compared
            return Cell(text="")
        mark = BETTER if row.better else WORSE if row.worse else ""
        return Cell(row.difference, (row.difference_high - row.difference_low) / 2, mark=mark)

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

    def nearest(self, cells: Sequence[Where], metric: str) -> set[Where]:
        """Return those that are nearest to the ideal, to three decimals, among the useful."""
        rows = {where: self._rows.get((*where, metric)) for where in cells}
        gaps = {
            where: round(row.distance, 3)
            for where, row in rows.items()
            if row is not None and row.sign not in (DEGENERATE, BELOW_CONSTANT)
        }
        least = min((gap for gap in gaps.values() if math.isfinite(gap)), default=math.nan)
        return {where for where, gap in gaps.items() if gap == least}

    def title(self, metric: str) -> str:
        """Return the heading of a column."""
        return HEADINGS.get(metric) or (self.run.metric(metric) or metric_description(metric)).title

    @property
    def extent(self) -> str:
        """The ending of captions that says how many datasets are embedded ones; empty if none is."""
        flags = [scenario.dataset.embedded for scenario in self.scenarios]
        return f" ({'' if all(flags) else 'partly '}embedded networks, not real data)" if any(flags) else ""

    @property
    def spread(self) -> str:
        """The start of notes: what numbers are means of, and their intervals."""
        interval = vocabulary()["interval"]["overlaps" if self.run.experiment.overlaps else "samples"]
        half = f", ± half of {interval}" if self.means["ci_high"].notna().any() else ""
        return f"Mean of {repetitions(self.run.repetitions)}{half}."

    @property
    def notes(self) -> str:
        """The text on all tables of the run: signs, data and versions."""
        return "".join(f"{' '.join(note.split())}\n" for note in self._notes())

    def _notes(self) -> Iterator[str]:
        run = self.run
        yield self.spread
        if run.experiment.tests != (ORIGINAL,):
            tests = vocabulary()["test"]
            yield from (
                f"{tests[test]['label'].capitalize()}: {tests[test]['clause']}."
                for test in run.experiment.tests
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


_MOST_DEFAULT = 4

_PREPROCESSING = ("massaging", "reweighing", "uniform_sampling", "preferential_sampling")
_SHAPES = {"baseline": (), "preprocessing": _PREPROCESSING, "repair": ("repair",)}
"""The paper's Tables 2 to 4, and 5 to 7: a name, and the methods in order; without methods, the baselines."""

_PAIRS = ((DISCRIMINATION, ACCURACY, ACCEPTED), ("overestimation", "underestimation"))
"""Metrics of the paper's Tables 2 to 4, with the shares accepted, and of its Tables 5 to 7."""

_CHANGE = "Change: from the baseline with the same learner, on the same samples, ± half of its 95 % interval."
_TOLD = "{column}: about the bias. {choice}".format_map(vocabulary()["told"])
_NOTES = "Baselines, signs, data and versions: notes.txt."


def techniques_table(numbers: Numbers, columns: Sequence[str] = (), techniques: Sequence[str] = ()) -> Table:
    """Return the table ``techniques``: a block for each dataset and level of bias, a row for each technique.

    ``columns`` are metrics, and ``"accepted"`` for the shares accepted, by default :func:`default_columns`.
    With statistics, the change from the baseline of the same learner stands beside each value. ``techniques``
    are all unless given. The best value of a block and column is bold; where techniques are told something,
    a column says what, and the best of those that know as much is bold. An UnknownNameError says that the
    run has no such metric or technique.
    """
    run = numbers.run
    columns, names = columns or default_columns(numbers), list(run.titles)
    for kind, given, known in (
        ("column", columns, numbers.columns),
        ("technique in this run", techniques, names),
    ):
        if unknown := [name for name in given if name not in known]:
            raise UnknownNameError(kind, unknown[0], known)
    names = list(techniques) or names
    changes = numbers.compared is not None
    # A metric, and whether its change is shown.
    parts = [part for part in product(columns, (False, True)[: 1 + changes]) if part != (ACCEPTED, True)]
    several = len({scenario.classifier for scenario in numbers.scenarios}) > 1
    knowledge, short = run.knowledge, {entry.name: entry.title for entry in run.techniques}
    told = any(knowledge[name] != BLIND for name in names)
    blocks: dict[str, list[Row]] = {}
    for heading, scenarios in by_rows(numbers.scenarios):
        for level in scenarios[0].telling_levels(run.levels):
            tried: list[Where] = [
                (*s.key, level, name)
                for s, name in product(scenarios, names)
                if (*s.key, name) in numbers.tried
            ]
            states = {
                own: [where for where in tried if knowledge[where[-1]] == own] for own in knowledge.values()
            }
            best = {
                metric: {
                    where
                    for own, state in states.items()
                    if own == BLIND or len(state) > 1
                    for where in numbers.nearest(state, metric)
                }
                for metric in columns
            }
            block = (heading, f"{level:g}")
            rows = []
            for where in tried:
                cells = [
                    numbers.change(where, metric)
                    if change
                    else replace(numbers.value(where, metric), best=where in best[metric])
                    for metric, change in parts
                ]
                what = knowledge[where[-1]] if knowledge[where[-1]] != BLIND else ""
                rows.append(
                    Row((*block, short[where[-1]], *[what] * told, *[where[2]] * several), tuple(cells))
                )
            if {ACCURACY, DISCRIMINATION} & {*columns} and scenarios[0].best_constant:
                cells = [Cell(text="") if c else numbers.constant(scenarios[0], m) for m, c in parts]
                rows.append(Row((*block, CONSTANT, *[""] * (told + several)), tuple(cells)))
            blocks[f"{heading}, {run.level_text(level)}"] = rows
    return Table(
        name="techniques",
        caption=f"All techniques{numbers.extent}",
        block_names=("Dataset", run.level_sign),
        row_names=("Technique", *[vocabulary()["told"]["column"]] * told, *["Learner"] * several),
        columns=tuple(
            (numbers.title(metric), "change" if change else "value")
            if changes and metric != ACCEPTED
            else ("", numbers.title(metric))
            for metric, change in parts
        ),
        blocks=blocks,
        note=" ".join(
            [numbers.spread, *[_CHANGE] * changes, "Bold: nearest to the ideal.", *[_TOLD] * told, _NOTES]
        ),
    )


def default_columns(numbers: Numbers) -> list[str]:
    """Return the metrics of both goals and accuracy, and the shares accepted.

    Where discrimination is no headline metric of the run, its first headline metrics stand for the former.
    """
    goals = [name for name in (*GOAL_METRICS.values(), ACCURACY) if name in numbers.metrics]
    headline = [m.name for m in numbers.run.shown.metrics if m.name in numbers.metrics] or numbers.metrics
    chosen = goals if DISCRIMINATION in headline and len(goals) > 1 else headline[:_MOST_DEFAULT]
    return [*chosen, *(name for name in numbers.columns if name == ACCEPTED)]


def paper_tables(numbers: Numbers) -> Iterator[Table]:
    """Yield the paper's Tables 2 to 7, as far as a run that repeats the paper has techniques and metrics.

    Rows are levels of bias. Columns are the datasets' baselines, or techniques, with a block for each
    dataset. Where accuracy is shown, the best constant answer is a row.
    """
    run, scenarios = numbers.run, numbers.scenarios
    if run.experiment.published is None:
        return
    for number, (pair, (name, methods)) in enumerate(product(_PAIRS, _SHAPES.items()), start=2):
        metrics = [metric for metric in pair if metric in numbers.columns]
        # The columns of each block: the heading of a group, and whose numbers it has.
        if methods:
            entries = [t for method in methods for t in run.techniques if t.technique == method]
            shown = [t for t in entries if any((*s.key, t.name) in numbers.tried for s in scenarios)]
            groups = {
                s.heading: [(t.title, s, t.name) for t in shown]
                for s in scenarios
                if any((*s.key, t.name) in numbers.tried for t in shown)
            }
        else:
            groups = {
                "": [(s.heading, s, s.baseline) for s in scenarios if (*s.key, s.baseline) in numbers.tried]
            }
        blocks: dict[str, list[Row]] = {}
        for heading, columns in groups.items():
            parts, block = list(product(columns, metrics)), [heading] if heading else []
            rows = [
                Row(
                    (*block, f"{level:.2f}"),
                    tuple(numbers.value((*s.key, level, own), metric) for (_, s, own), metric in parts),
                )
                for level in run.levels
            ]
            if ACCURACY in metrics:
                constant = (numbers.constant(s, metric) for (_, s, _), metric in parts)
                rows.append(Row((*block, CONSTANT), tuple(constant)))
            if parts:
                blocks[heading] = rows
        if blocks:
            titles = [numbers.title(metric) for metric in metrics]
            yield Table(
                name=f"table{number}_{name}",
                caption=f"{', '.join(titles)}, as in the paper's Table {number}{numbers.extent}",
                block_names=("Dataset",) if methods else (),
                row_names=(run.level_sign,),
                columns=tuple(product([title for title, *_ in next(iter(groups.values()))], titles)),
                blocks=blocks,
                note=f"{numbers.spread} {_NOTES}",
            )
