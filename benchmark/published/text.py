"""A comparison in Markdown: both numbers of each published table, and a summary."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from benchmark.metrics import list_metrics
from benchmark.published.pairing import TOLERANCES, Comparison
from benchmark.tables.numbers import HEADINGS
from benchmark.text import markdown
from benchmark.text.words import number
from benchmark.wording.described import repetitions

FAR = 0.03
"""Mean absolute error above which a dataset's technique is listed among the worst."""

NOTHING = "–"
_HEADS = (*(f"Within ±{tolerance:g}" for tolerance in TOLERANCES), "Mean absolute error")


def technique_title(name: str, comparison: Comparison) -> str:
    """Return a published technique's name for readers: the title of our entry that repeats it, if any."""
    ours = comparison.entry.techniques.get(name, name)
    return comparison.run.titles.get(ours) or name.replace("_", " ").capitalize()


def metric_title(name: str) -> str:
    """Return a metric's name for readers."""
    metrics = list_metrics()
    return metrics[name].title if name in metrics else name.replace("_", " ").capitalize()


def share_text(share: float) -> str:
    """Return a share as ``"91.5 %"``."""
    return NOTHING if math.isnan(share) else f"{100 * share:.1f} %"


def heading(row: pd.Series, comparison: Comparison) -> str:
    """Return the heading of a row of the agreement, for readers."""
    technique = row["technique"] and technique_title(row["technique"], comparison)
    match row["scope"]:
        case "overall":
            return "All"
        case "table":
            return f"Table {row['table']}"
        case "tables":
            return str(row["table"])
        case _:
            return ", ".join(part for part in (row["dataset"], technique) if part)


def worst_blocks(agreement: pd.DataFrame) -> pd.DataFrame:
    """Return the datasets' techniques whose mean absolute error is above :data:`FAR`, worst first."""
    blocks = agreement[
        (agreement["scope"] == "dataset and technique") & (agreement["mean_absolute_error"] > FAR)
    ]
    return blocks.sort_values("mean_absolute_error", ascending=False, kind="stable")


def read_otherwise(comparison: Comparison) -> pd.DataFrame:
    """Return the rows of the agreement that a reading of the published numbers changes."""
    rows = comparison.agreement
    printed, changed = rows["mean_absolute_error"], pd.Series(False, index=rows.index)
    for reading in comparison.readings:
        changed |= printed.notna() & (rows[f"mean_absolute_error{reading.suffix}"] != printed)
    return rows[changed]


def ways_of_reading(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the title of each way to read the published numbers, and the suffix of its columns."""
    return [("as printed", ""), *((reading.title, reading.suffix) for reading in comparison.readings)]


def table_markdown(comparison: Comparison, table: int) -> str:
    """Return one published table with both numbers in each cell, as Markdown.

    A row per dataset and beta, a column per technique and metric.
    """
    rows = comparison.rows[comparison.rows["table"] == table]
    metrics, techniques = list(rows["metric"].unique()), list(rows["technique"].unique())
    columns = [(technique, metric) for technique in techniques for metric in metrics]
    cells = {
        (row["dataset"], row["beta"], row["technique"], row["metric"]): _cell(row)
        for row in rows.to_dict("records")
    }
    titles = {t: technique_title(t, comparison) for t in techniques}
    named = " and ".join(metric_title(metric).lower() for metric in metrics)
    body = [
        [markdown.plain(dataset), f"{beta:.2f}", *(cells.get((dataset, beta, *c), "") for c in columns)]
        for dataset in rows["dataset"].unique()
        for beta in sorted(rows["beta"].unique())
    ]
    heads = [f"{markdown.plain(titles[t])} {HEADINGS.get(m, metric_title(m))}" for t, m in columns]
    lines = [
        f"**Table {table} of {markdown.plain(comparison.entry.title)}: {named}, published → ours**",
        "",
        *_warning(comparison),
        markdown.table(["Dataset", "β", *heads], body, named=2),
        "",
        f"- **Bold**: they differ by more than {TOLERANCES[-1]:g}. Empty: nothing was published.",
        *(f"- {NOTHING} ({n} numbers): {markdown.plain(reason)}." for reason, n in _reasons(rows)),
        *(f"- {line}" for line in _sources(rows, comparison)),
        *(
            f"- Not shown above, {reading.title}: {markdown.plain(change.sentence)}"
            for reading in comparison.readings
            for change in reading.changes
            if table in change.tables
        ),
        f"- {_run_line(comparison)}",
    ]
    return "\n".join(lines) + "\n"


def summary_markdown(comparison: Comparison, *, tables: Sequence[str], figure: str | None) -> str:
    """Return the summary of a comparison as Markdown; tables and figure are files relative to it."""
    title = markdown.plain(comparison.entry.title)
    shown = comparison.agreement[comparison.agreement["scope"] != "dataset and technique"]
    shares = ["Shares are of the numbers that were compared.", "", _agreement_grid(shown, comparison)]
    sections = [
        ["# Ours beside the published numbers", "", *_warning(comparison)],
        ["## Agreement", "", *shares],
        *([_readings_section(comparison)] if len(read_otherwise(comparison)) else []),
        ["## Where they differ most", "", *_worst_section(comparison)],
        ["## Ranks of the techniques", "", *_ranks_section(comparison)],
        ["## Without a counterpart", "", *_missing_section(comparison)],
        ["## Number by number", "", *_files_section(tables, figure)],
    ]
    sections[0] += [f"Published: {title}. Ours: {_run_line(comparison)}", ""]
    sections[0] += [f"- {line}" for line in _sources(comparison.rows, comparison)]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _readings_section(comparison: Comparison) -> list[str]:
    ways = ways_of_reading(comparison)
    lines = [
        "## Other readings of the published numbers",
        "",
        "All else on this page takes the published numbers as printed. They may mean something else:",
        "",
    ]
    for reading in comparison.readings:
        lines.append(f"- **{markdown.plain(reading.title)}**: {markdown.plain(reading.description)}.")
        lines += [f"    - {markdown.plain(change.sentence)}" for change in reading.changes]
    columns = (*(f"±{tolerance:g}" for tolerance in TOLERANCES), "mean error")
    heads = [f"{column}, {markdown.plain(way)}" for way, _ in ways for column in columns]
    suffixes = [suffix for _, suffix in ways]
    return [*lines, "", _agreement_grid(read_otherwise(comparison), comparison, heads, suffixes)]


def errors(row: pd.Series, suffix: str = "") -> list[str]:
    """Return the shares within each tolerance and the mean absolute error, in one way of reading."""
    shares = [share_text(row[f"within_{tolerance}{suffix}"]) for tolerance in TOLERANCES]
    return [*shares, number(row[f"mean_absolute_error{suffix}"])]


def _worst_section(comparison: Comparison) -> list[str]:
    worst = worst_blocks(comparison.agreement)
    if worst.empty:
        return [f"No technique on any dataset has a mean absolute error above {FAR:g}."]
    lead = f"Techniques with a mean absolute error above {FAR:g} on a dataset, worst first."
    return [lead, "", _agreement_grid(worst, comparison)]


def _agreement_grid(
    rows: pd.DataFrame,
    comparison: Comparison,
    heads: Sequence[str] = _HEADS,
    suffixes: Sequence[str] = ("",),
) -> str:
    body = [
        [
            markdown.plain(heading(row, comparison)),
            f"{row['compared']} of {row['published']}",
            *(cell for suffix in suffixes for cell in errors(row, suffix)),
        ]
        for _, row in rows.iterrows()
    ]
    return markdown.table(["", "Compared", *heads], body, named=1)


def _ranks_section(comparison: Comparison) -> list[str]:
    ranks = comparison.ranks
    betas = sorted(ranks["beta"].unique())
    taus = {(row.dataset, row.metric, row.beta): row.tau_b for row in ranks.itertuples()}
    body = []
    for dataset, metric in itertools.product(ranks["dataset"].unique(), ranks["metric"].unique()):
        row = pd.Series([taus.get((dataset, metric, beta), math.nan) for beta in betas])
        names = markdown.plain(dataset), markdown.plain(metric_title(metric))
        body.append([*names, *map(_tau, row), _tau(row.mean())])
    defined = int(ranks["tau_b"].notna().sum())
    return [
        "Kendall's τ-b of the techniques between print and ours, by dataset, metric and β: 1 means the same "
        f"order. Mean of the {defined} that are defined: {_tau(ranks['tau_b'].mean())}.",
        "",
        markdown.table(["Dataset", "Metric", *(f"β = {beta:g}" for beta in betas), "Mean"], body, named=2),
    ]


def _missing_section(comparison: Comparison) -> list[str]:
    body = [[markdown.plain(reason), str(n)] for reason, n in _reasons(comparison.rows)]
    if not body:
        return ["Every published number has one."]
    return [markdown.table(["Reason", "Published numbers"], body, named=1)]


def _files_section(tables: Sequence[str], figure: str | None) -> list[str]:
    titles = {file: PurePath(file).stem.replace("table", "Table ") for file in tables}
    lines = [
        "- Every number: [comparison.csv](comparison.csv)",
        "- Agreement, with each technique on each dataset: [comparison_summary.csv](comparison_summary.csv)",
        "- Ranks: [comparison_ranks.csv](comparison_ranks.csv)",
        "- Tables with both numbers: " + ", ".join(f"[{title}]({file})" for file, title in titles.items()),
    ]
    if figure:
        lines += ["", f"![Differences between ours and the published numbers]({figure})"]
    return lines


def _warning(comparison: Comparison) -> list[str]:
    return [f"> **{markdown.plain(comparison.warning)}.**", ""] if comparison.warning else []


def _run_line(comparison: Comparison) -> str:
    run, n = comparison.run, comparison.run.repetitions
    partial = int(((comparison.rows["n"] > 0) & (comparison.rows["n"] < n)).sum())
    fewer = f" (fewer for {partial} of the numbers, see column n of comparison.csv)" if partial else ""
    packages = ("betabench", "python", "numpy")
    versions = [f"{name} {run.versions[name]}" for name in packages if name in run.versions]
    return (
        f"Experiment {run.name} ({markdown.plain(run.title)}), mean of {repetitions(run)}{fewer}, "
        f"seed {run.experiment.seed}; {', '.join(versions)}."
    )


def _sources(rows: pd.DataFrame, comparison: Comparison) -> list[str]:
    """Return, for each published dataset, the run's entries that its numbers are compared with."""
    lines = []
    metrics = {name: comparison.entry.metric(name) for name in rows["metric"].unique()}
    if renamed_metrics := [
        f"{name} is {ours.metric}" + (" with the other sign" if ours.negated else "")
        for name, ours in metrics.items()
        if name != ours.metric or ours.negated
    ]:
        lines.append(markdown.plain("; ".join(renamed_metrics) + "."))
    compared = rows[rows["ours"].notna()].groupby(["dataset", "our_dataset", "test_data"], sort=False)
    for (dataset, ours, test_data), part in compared:
        names = part.loc[part["technique"] != part["our_technique"], ["technique", "our_technique"]]
        renamed = names.drop_duplicates().itertuples(index=False, name=None)
        how = [f"bias {_listed(part['our_bias'])}, classifier {_listed(part['our_classifier'])}"]
        if others := ", ".join(f"{name} is {our_name}" for name, our_name in renamed):
            how.append(others)
        warning = next((d.warning for d in comparison.datasets if d.name == ours), None)
        caution = f" Warning: {warning.strip().rstrip('.')}." if warning else ""
        text = f"{dataset}: ours is {ours} ({'; '.join(how)}), tested on {test_data}.{caution}"
        lines.append(markdown.plain(text))
    return lines


def _listed(names: pd.Series) -> str:
    return " and ".join(names.unique())


def _reasons(rows: pd.DataFrame) -> Iterable[tuple[str, int]]:
    counts = rows.loc[rows["ours"].isna(), "reason"].value_counts(sort=False)
    return [(str(reason), int(n)) for reason, n in counts.items()]


def _cell(row: Mapping[Hashable, Any]) -> str:
    text = f"{number(row['published'])} → {number(row['ours'])}"
    return f"**{text}**" if abs(row["difference"]) > TOLERANCES[-1] else text


def _tau(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:.2f}"
