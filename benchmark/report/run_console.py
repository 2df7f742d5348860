"""The result of a run in the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmark.render.console import print_section
from benchmark.runs.descriptions import MetricDescription
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import STATUSES, Scenario
from benchmark.runs.verdicts import results_answers, what_to_undo
from benchmark.sections.answers import constant_title, in_short
from benchmark.sections.reasons import answer_words
from benchmark.sections.signs import INERT_NUMBERS, below_constant_words, mark
from benchmark.statistics.answer_record import Answer, answer_records
from benchmark.statistics.answers import ConstantAnswer
from benchmark.statistics.recommendation import Criteria
from benchmark.statistics.unprocessing import best_frontiers, frontier_gaps, with_frontier
from benchmark.text.words import LevelName, level_text, share, short

SHOWN = ("discrimination", "accuracy")
"""Metrics of the console table; the files hold all."""

_LONGEST_TITLE = 20
_GAP = 2


def print_report(
    console: Console, run: RunFrames, output_dir: Path | None = None, written: Sequence[Path] = ()
) -> None:
    """Print the means of every technique at every level of bias, choices, failures and files.

    Levels of bias that do not fit the width of the console come in further tables below.
    """
    answers = _answers(run)
    run = run.of_techniques
    manifest, shown = run.manifest, run.manifest.shown
    pair = [metric for name in SHOWN if (metric := shown.metric(name)) is not None]
    pair = pair if len(pair) == len(SHOWN) else list(shown.metrics[:2])
    for scenario in run.scenarios:
        _print_heading(console, scenario, pair, manifest)
        records = answer_records(scenario.rows(answers))
        useless = [row for row in records if mark(row)]
        marks = {(row.technique, row.beta): mark(row) for row in useless}
        entries = _entries(scenario.rows(run.summary), scenario, pair, marks, manifest)
        _print_means(console, entries, manifest.levels, manifest.level_name)
        for sign, reason in _useless_words(useless):
            console.print(f"{sign} {reason}", highlight=False)
        if scenario.inert and len(manifest.levels) > 1:
            console.print(f"{INERT_NUMBERS}.", highlight=False)
        console.print()
    folder = output_dir or "FOLDER"
    whole_rule = f"'betabench report {folder}' writes the whole rule to {folder}/statistics/README.md."
    print_section(
        console, in_short(run.scenarios, answers, manifest, criteria=Criteria(), whole_rule=whole_rule)
    )
    _print_failures(console, run.shown.failures, manifest.level_text(0))
    if output_dir is not None:
        _print_files(console, output_dir, written)


def _answers(run: RunFrames) -> pd.DataFrame:
    undo = what_to_undo(run)
    run = run.of_choices
    answers = results_answers(
        run.results,
        run.manifest.baselines(run.results),
        run.standing,
        resampling=run.resampling,
        paired_levels=run.manifest.protocol.paired_betas,
        undo=undo,
    )
    if run.frontier is None or run.frontier.empty or answers.empty:
        return answers
    best, constants = best_frontiers(run.frontier), run.manifest.constant_answers
    return with_frontier(answers, frontier_gaps(run.results, best, constants, run.resampling))


def _print_heading(
    console: Console, scenario: Scenario, metrics: Sequence[MetricDescription], manifest: Manifest
) -> None:
    dataset = scenario.dataset
    names = [metric.in_sentence for metric in metrics]
    names += ["share accepted in %"] if _with_shares(metrics, manifest) else []
    line = f"[bold]{escape(scenario.heading)}[/bold]: {escape('/'.join(names))}, mean of "
    style = "bold red" if dataset.embedded else "dim"
    console.print(line + manifest.repetitions_text, highlight=False)
    console.print(escape(dataset.provenance), style=style, highlight=False)
    if dataset.warning:
        console.print(f"Warning: {escape(dataset.warning)}", style="yellow", highlight=False)
    for note in dataset.notes:
        console.print(f"Note: {escape(note)}", style="yellow", highlight=False)


def _useless_words(rows: Iterable[Answer]) -> list[tuple[str, str]]:
    """Return each mark of some row, with its reason."""
    reasons: dict[tuple[str, str], None] = {}
    for row in rows:
        if row.n_degenerate > 0:
            reason = "the same answer for nearly everybody, or for each group, in some sample"
        elif row.below_constant:
            reason = below_constant_words(row)
        else:
            reason = "the same answer for nearly everybody in one group"
        reasons[mark(row), reason] = None
    return sorted(reasons)


def _with_shares(metrics: Sequence[MetricDescription], manifest: Manifest) -> bool:
    """Return whether the share accepted stands beside the metrics: wherever accuracy is one of them."""
    return manifest.metric("accepted") is not None and any(m.name == "accuracy" for m in metrics)


def _entries(
    summary: pd.DataFrame,
    scenario: Scenario,
    metrics: Sequence[MetricDescription],
    marks: Mapping[tuple[str, float], str],
    manifest: Manifest,
) -> list[tuple[str, list[str]]]:
    """Return the title of each technique, and of the best constant answer, with a text for each beta."""
    columns = summary[["technique", "beta", "metric", "mean"]].itertuples(index=False)
    means = {(technique, beta, metric): mean for technique, beta, metric, mean in columns}
    shares = _with_shares(metrics, manifest)

    def entry(technique: str, beta: float) -> str:
        parts = [short(means.get((technique, beta, m.name))) for m in metrics]
        if shares:
            parts.append(share(means.get((technique, beta, "accepted"), math.nan)).removesuffix(" %"))
        return "/".join(parts) + marks.get((technique, beta), "")

    tried = set(summary["technique"])
    entries = [
        (technique.title, [entry(technique.name, beta) for beta in manifest.levels])
        for technique in manifest.techniques
        if technique.name in tried
    ]
    constants = [scenario.constant_at(beta) for beta in manifest.levels]
    if any(constants) and [metric.name for metric in metrics] == list(SHOWN):
        words = {answer_words(constant) for constant in constants if constant}
        title = constant_title(words.pop()) if len(words) == 1 else "Best constant"
        entries.append((title, [_constant_entry(constant, shares) for constant in constants]))
    return entries


def _constant_entry(constant: ConstantAnswer | None, shares: bool) -> str:
    if constant is None:
        return short(None)
    parts = [short(0.0), short(constant.accuracy), *([f"{100 * constant.accepted:.0f}"] * shares)]
    return "/".join(parts)


def _print_means(
    console: Console, rows: Sequence[tuple[str, list[str]]], betas: Sequence[float], level: LevelName
) -> None:
    """Print a table, or several that fit the width of the console."""
    entry_width = max((len(entry) for _, entries in rows for entry in entries), default=0) + _GAP
    title_width = min(_LONGEST_TITLE, max((len(title) for title, _ in rows), default=0))
    fitting = max(1, (console.width - title_width) // entry_width)
    # As many levels in each table, as far as that goes.
    per_table = math.ceil(len(betas) / math.ceil(len(betas) / fitting))
    for start in range(0, len(betas), per_table):
        part = slice(start, start + per_table)
        table = Table(box=None, padding=(0, 0, 0, _GAP), pad_edge=False, header_style="bold")
        table.add_column("", width=title_width, overflow="fold")
        for beta in betas[part]:
            table.add_column(level_text(level, beta).replace(" = ", "="), justify="right", no_wrap=True)
        for title, entries in rows:
            table.add_row(escape(title), *entries[part])
        console.print(table)


def _print_failures(console: Console, failures: pd.DataFrame, level_0: str) -> None:
    if failures.empty:
        return
    counts = failures["status"].value_counts()
    parts = ", ".join(f"{int(counts[status])} {status}" for status in STATUSES if status in counts.index)
    if untaken := int((failures["metric"].str.startswith("given_back") & (failures["beta"] == 0)).sum()):
        parts += f"; {untaken} of these are of given back at {level_0}, where the bias takes nothing"
    console.print(f"Without a value: {parts} (reasons in failures.csv)", style="yellow", highlight=False)


def _print_files(console: Console, output_dir: Path, written: Sequence[Path]) -> None:
    """Print files by folder: the names of a few, the counts of many by ending."""
    console.print(f"Written to {escape(str(output_dir))}:", highlight=False, soft_wrap=True)
    for folder in dict.fromkeys(path.parent for path in written):
        files = [path for path in written if path.parent == folder]
        endings = Counter(path.suffix.removeprefix(".") for path in files)
        counts = [f"{count} {ending}" for ending, count in endings.items()]
        text = ", ".join(counts if len(files) > 3 else [path.name for path in files])
        relative = folder.relative_to(output_dir).as_posix()
        prefix = "" if relative == "." else f"{relative}/  "
        console.print(f"  {escape(prefix + text)}", highlight=False, soft_wrap=True)
