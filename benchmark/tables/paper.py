"""Tables in the shape of the paper's Tables 2 to 7, and one of everything per pair of metrics.

This module decides what a table shows; :mod:`benchmark.tables.markup` writes it down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from benchmark.runs.descriptions import DatasetDescription, MetricDescription, RunDescription
from benchmark.runs.frames import Scenario, scenarios, with_failed_cells
from benchmark.runs.reasons import explain
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY, ConstantAnswer, standings
from benchmark.tables.answers import accepts_text, mark, mark_notes
from benchmark.text.embedded import extent

PREPROCESSING = ("massaging", "reweighing", "uniform_sampling", "preferential_sampling")
"""Methods of the paper's Tables 3 and 6, in the paper's order."""

REPAIR = ("repair",)
"""Method of the paper's Tables 4 and 7."""

HEADINGS = {
    "discrimination": "Disc.",
    "accuracy": "Acc.",
    "overestimation": "Over.",
    "underestimation": "Under.",
}
"""The paper's column headings; other metrics are headed by their title."""

ACCEPTED = "Accepted"
"""Heading of the column beside accuracy: whom a technique accepts."""

ACCEPTED_NOTE = (
    f"{ACCEPTED}: share of the test rows that is predicted the favorable outcome: all / deprived / favored."
)

CONSTANT = "Best constant answer"
"""Heading of the row below: the best classifier that answers everybody the same."""

PAPER_PAIRS = (("discrimination", "accuracy"), ("overestimation", "underestimation"))
"""Metrics of the paper's Tables 2 to 4, and of its Tables 5 to 7."""


@dataclass(frozen=True)
class Cell:
    """One entry of a table.

    Parameters
    ----------
    mean : float
        NaN if there is no value.
    half_width : float
        Half of the 95 % interval; NaN if there is none.
    remark : str or None
        Why repetitions are missing, if any are.
    best : bool, default False
        Whether it is the best of those that it is compared with.
    mark : str, default ""
        A sign beside the number, explained in the notes.
    text : str, default ""
        Stands in place of the number.
    """

    mean: float
    half_width: float
    remark: str | None
    best: bool = False
    mark: str = ""
    text: str = ""


@dataclass(frozen=True)
class Row:
    """A row: its own heading and its cells."""

    heading: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Block:
    """Rows that belong together; ``heading`` is empty if the table has no blocks."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class ReportTable:
    """A table, before any markup.

    Parameters
    ----------
    name : str
        For the file's name.
    caption : str
        What the table shows, in one line.
    row_headings : tuple of str
        Headings of the columns that name the rows: of blocks (if the table has them), and of rows.
    groups : tuple of str
        Headings of the groups of columns.
    columns : tuple of str
        Headings of the columns within each group; all groups have the same.
    blocks : tuple of Block
        Each row has ``len(groups) * len(columns)`` cells.
    notes : tuple of str
        What has to be known besides: data, warnings, seed, versions.
    """

    name: str
    caption: str
    row_headings: tuple[str, ...]
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...]


def build_tables(
    summary: pd.DataFrame, results: pd.DataFrame, failures: pd.DataFrame, description: RunDescription
) -> list[ReportTable]:
    """Build every table of the headline metrics that the run has something for.

    Parameters
    ----------
    summary : DataFrame
        As :func:`benchmark.runs.summary.summarise` returns it.
    results, failures : DataFrame
        As :func:`benchmark.runs.frames.check_results` and ``check_failures`` return them.
    description : RunDescription
        Gives order, titles and notes.

    Returns
    -------
    list of ReportTable
        Tables 2 to 7 of the paper as far as the run has their techniques and metrics, then one table of all
        techniques for each pair of metrics. Where accuracy is shown, the shares accepted are beside it and
        the best constant answer is a row.
    """
    shown = description.shown
    builder = _Builder(summary, results, failures, description)
    tables: list[ReportTable | None] = []
    for first, metrics in zip((2, 5), _present(PAPER_PAIRS, shown), strict=True):
        baseline, preprocessing, repair = (
            paper_name(
                description.published is not None, number, subject, [metric.name for metric in metrics]
            )
            for number, subject in enumerate(("baseline", "preprocessing", "repair"), start=first)
        )
        tables += [
            builder.baseline(baseline, metrics),
            builder.by_technique(preprocessing, "pre-processing techniques", PREPROCESSING, metrics),
            builder.by_technique(repair, "repair", REPAIR, metrics),
        ]
    tables += [builder.everything(metrics) for metrics in _all_pairs(shown)]
    return [table for table in tables if table is not None]


def paper_name(published: bool, number: int, subject: str, metrics: Sequence[str]) -> str:
    """Return the name of a table in the paper's shape: the paper's number only where a run repeats the paper.

    Parameters
    ----------
    published : bool
        Whether the experiment names published numbers that it repeats.
    number : int
        The paper's.
    subject : str
        Such as ``"repair"``.
    metrics : sequence of str
        Those of the table, by name.
    """
    return f"table{number}_{subject}" if published else "_".join([subject, *metrics])


class _Builder:
    """Looks cells up and puts them into the three shapes."""

    def __init__(
        self,
        summary: pd.DataFrame,
        results: pd.DataFrame,
        failures: pd.DataFrame,
        description: RunDescription,
    ) -> None:
        self.failures = failures
        self.description = description
        self.scenarios = scenarios(results, failures, description)
        whole = with_failed_cells(results, failures, [m.name for m in description.metrics])
        self.standing = standings(whole, description.constant_answers)
        self.marks: dict[tuple[object, ...], str] = {
            (row.dataset, row.bias, row.classifier, row.beta, row.technique): mark(row)
            for row in self.standing.itertuples(index=False)
        }
        keys = ["dataset", "bias", "classifier", "beta", "technique", "metric"]
        self.rows = {
            key: (float(mean), float(high - mean), int(n))
            for *key_list, mean, high, n in summary[[*keys, "mean", "ci_high", "n"]].itertuples(index=False)
            for key in [tuple(key_list)]
        }
        self.run = {(*key[:3], key[4]) for key in self.rows}

    def baseline(self, name: str, metrics: Sequence[MetricDescription]) -> ReportTable | None:
        """Rows beta, columns dataset by metric: the shape of Tables 2 and 5."""
        shown = [s for s in self.scenarios if self.has(s, s.dataset.baseline)]
        if not metrics or not shown:
            return None
        rows = tuple(
            Row(_beta(beta), self.cells([(s, s.dataset.baseline, beta) for s in shown], metrics))
            for beta in self.description.betas
        )
        return ReportTable(
            name=name,
            caption=self.caption(metrics, "when no technique is applied", shown),
            row_headings=("β",),
            groups=tuple(s.heading for s in shown),
            columns=self.headings(metrics),
            blocks=(Block("", (*rows, *self.constant_row(shown, metrics))),),
            notes=self.notes(
                shown,
                metrics,
                [s.dataset.baseline for s in shown],
                [self.baseline_note(shown), *self.absent_baselines()],
            ),
        )

    def absent_baselines(self) -> list[str]:
        """Say which datasets a baseline table lacks, because their baseline was not run."""
        absent = [s for s in self.scenarios if not self.has(s, s.dataset.baseline)]
        return [
            f"Not shown, because its baseline {s.dataset.baseline} was not run: {s.heading}." for s in absent
        ]

    def by_technique(
        self, name: str, subject: str, methods: Sequence[str], metrics: Sequence[MetricDescription]
    ) -> ReportTable | None:
        """Rows dataset by beta, columns technique by metric: the shape of Tables 3, 4, 6 and 7."""
        of_methods = [t for method in methods for t in self.description.techniques if t.method == method]
        techniques = [t for t in of_methods if any(self.has(s, t.name) for s in self.scenarios)]
        shown = [s for s in self.scenarios if any(self.has(s, t.name) for t in techniques)]
        if not metrics or not techniques:
            return None
        return ReportTable(
            name=name,
            caption=self.caption(metrics, f"for {subject}", shown),
            row_headings=("Dataset", "β"),
            groups=tuple(t.title for t in techniques),
            columns=self.headings(metrics),
            blocks=tuple(
                Block(
                    s.heading,
                    (
                        *(
                            Row(_beta(beta), self.cells([(s, t.name, beta) for t in techniques], metrics))
                            for beta in self.description.betas
                        ),
                        *self.constant_row([s] * len(techniques), metrics),
                    ),
                )
                for s in shown
            ),
            notes=self.notes(shown, metrics, [t.name for t in techniques]),
        )

    def everything(self, metrics: Sequence[MetricDescription]) -> ReportTable | None:
        """Rows dataset by technique, columns beta by metric: grows downwards with the techniques."""
        betas = self.description.betas
        blocks = tuple(
            Block(
                s.heading,
                (
                    *(
                        Row(t.title, self.cells([(s, t.name, beta) for beta in betas], metrics))
                        for t in self.description.techniques
                        if self.has(s, t.name)
                    ),
                    *self.constant_row([s] * len(betas), metrics),
                ),
            )
            for s in self.scenarios
        )
        if not blocks:
            return None
        return ReportTable(
            name="all_" + "_".join(metric.name for metric in metrics),
            caption=self.caption(metrics, "for all techniques", self.scenarios),
            row_headings=("Dataset", "Technique"),
            groups=tuple(f"β = {_beta(beta)}" for beta in betas),
            columns=self.headings(metrics),
            blocks=blocks,
            notes=self.notes(self.scenarios, metrics, [t.name for t in self.description.techniques]),
        )

    def headings(self, metrics: Sequence[MetricDescription]) -> tuple[str, ...]:
        """Return a heading for each metric, and for the shares accepted beside accuracy."""
        found = [HEADINGS.get(metric.name, metric.title) for metric in metrics]
        return (*found, ACCEPTED) if self.with_shares(metrics) else tuple(found)

    def with_shares(self, metrics: Sequence[MetricDescription]) -> bool:
        """Whether a table of these metrics shows the shares accepted."""
        return any(m.name == ACCURACY for m in metrics) and self.description.metric(ACCEPTANCE[0]) is not None

    def cells(
        self, where: Iterable[tuple[Scenario, str, float]], metrics: Sequence[MetricDescription]
    ) -> tuple[Cell, ...]:
        """Return the cells of a row: for each scenario, technique and level of bias, all metrics."""
        found = []
        for scenario, technique, beta in where:
            found += [self.cell(scenario, technique, beta, metric) for metric in metrics]
            if self.with_shares(metrics):
                keys = [(*scenario.key, beta, technique, name) for name in ACCEPTANCE]
                shares = [self.rows[key][0] if key in self.rows else float("nan") for key in keys]
                found.append(shares_cell(shares))
        return tuple(found)

    def constant_row(self, shown: Sequence[Scenario], metrics: Sequence[MetricDescription]) -> list[Row]:
        """Return the row of the best constant answer, if there is accuracy to compare it by."""
        if not any(metric.name == ACCURACY for metric in metrics):
            return []
        cells: list[Cell] = []
        for scenario in shown:
            answer = scenario.dataset.best_constant
            cells += [constant_cell(answer, metric.name) for metric in metrics]
            cells += [constant_shares(answer)] if self.with_shares(metrics) else []
        return [Row(CONSTANT, tuple(cells))]

    def has(self, scenario: Scenario, technique: str) -> bool:
        """Whether the run tried a technique there, with or without success."""
        return (*scenario.key, technique) in self.run

    def cell(self, scenario: Scenario, technique: str, beta: float, metric: MetricDescription) -> Cell:
        key = (*scenario.key, beta, technique, metric.name)
        mean, half_width, n = self.rows.get(key, (float("nan"), float("nan"), 0))
        planned = self.description.repetitions
        sign = self.marks.get(key[:-1], "") if n else ""
        if n >= planned:
            return Cell(mean, half_width, None, mark=sign)
        reason = explain(self.failures, scenario, technique, beta=beta, metric=metric.name)
        reason = reason or "no other result is recorded"
        if key not in self.rows:
            reason = "not part of this run"
        return Cell(mean, half_width, f"{n} of {planned} values; {reason}.", mark=sign)

    def caption(self, metrics: Sequence[MetricDescription], of: str, shown: Iterable[Scenario]) -> str:
        titles = " and ".join(m.title if i == 0 else m.in_sentence for i, m in enumerate(metrics))
        return f"{titles} {of}{extent(s.dataset.embedded for s in shown)}"

    def notes(
        self,
        shown: Sequence[Scenario],
        metrics: Sequence[MetricDescription],
        techniques: Sequence[str],
        more: Sequence[str] = (),
    ) -> tuple[str, ...]:
        run = self.description
        constants = {s.dataset.heading: a.words for s in shown if (a := s.dataset.best_constant)}
        named = self.standing[self.standing["technique"].isin(techniques)]
        marked = pd.concat([named.iloc[:0], *(s.rows(named) for s in dict.fromkeys(shown))])
        spread = ", ± half of the 95 % Student-t interval" if run.repetitions > 1 else ""
        datasets = list(dict.fromkeys(s.dataset for s in shown))
        warnings = [f"Warning, {d.heading}: {_sentence(d.warning)}" for d in datasets if d.warning]
        classifiers = ", ".join(dict.fromkeys(s.classifier for s in shown))
        return (
            f"Mean of {run.repetitions_text}{spread}. Classifier: {classifiers}.",
            *more,
            *([ACCEPTED_NOTE] if self.with_shares(metrics) else []),
            *([constant_note(constants)] if any(m.name == ACCURACY for m in metrics) else []),
            *mark_notes(marked),
            *(_data_note(dataset) for dataset in datasets),
            *warnings,
            run.made_with(),
        )

    def baseline_note(self, shown: Sequence[Scenario]) -> str:
        baselines = {}
        for s in shown:
            technique = self.description.technique(s.dataset.baseline)
            baselines[s.dataset.heading] = technique.title if technique else s.dataset.baseline
        return "Baseline: " + "; ".join(f"{heading}: {title}" for heading, title in baselines.items()) + "."


def shares_cell(shares: Sequence[float]) -> Cell:
    """Return the cell of the shares accepted, of all, of the deprived and of the favored group."""
    known = any(share == share for share in shares)
    return Cell(float("nan"), float("nan"), None, text=accepts_text(shares) if known else "")


def constant_cell(answer: ConstantAnswer | None, metric: str) -> Cell:
    """Return what the best constant answer has of a metric: nothing but of accuracy and discrimination."""
    known = {ACCURACY: answer.accuracy, "discrimination": 0.0} if answer else {}
    return Cell(known.get(metric, float("nan")), float("nan"), None)


def constant_shares(answer: ConstantAnswer | None) -> Cell:
    """Return the cell of the shares that the best constant answer accepts: all or none of each group."""
    return shares_cell([float(answer.accepts) if answer else float("nan")] * 3)


def constant_note(words: Mapping[str, str]) -> str:
    """Say what the best constant answer is on each dataset."""
    return f"{CONSTANT}: " + "; ".join(f"{name}: {answer}" for name, answer in words.items()) + "."


def _data_note(dataset: DatasetDescription) -> str:
    counted = ""
    if (groups := dataset.group_sizes) is not None:
        counted = (
            f"; favorable are {groups.deprived_favorable:,} of {groups.deprived:,} deprived and "
            f"{groups.favored_favorable:,} of {groups.favored:,} favored"
        )
    return (
        f"{dataset.heading}: {dataset.provenance} ({dataset.n_test:,} rows{counted}), "
        f"{dataset.n_train:,} training rows, data {dataset.digest[:12]}. "
        f"{_sentence(dataset.bias_description)}" + (f" Note: {note}" if (note := dataset.group_note) else "")
    )


def _sentence(text: str) -> str:
    return text.strip().rstrip(".") + "."


def _beta(beta: float) -> str:
    # Two places as in the paper, more only where needed.
    return f"{beta:.2f}" if round(beta, 2) == beta else f"{beta:g}"


def _present(pairs: Iterable[Sequence[str]], description: RunDescription) -> list[list[MetricDescription]]:
    return [[m for name in pair if (m := description.metric(name)) is not None] for pair in pairs]


def _all_pairs(description: RunDescription) -> list[list[MetricDescription]]:
    """Return the paper's pairs, then all other metrics two by two in described order."""
    in_paper = [name for pair in PAPER_PAIRS for name in pair]
    others = [m for m in description.metrics if m.name not in in_paper]
    pairs = _present(PAPER_PAIRS, description) + [others[i : i + 2] for i in range(0, len(others), 2)]
    return [pair for pair in pairs if pair]
