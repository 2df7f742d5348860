"""The differences of two runs, in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmark.runs.comparison import RunsComparison
from benchmark.text.terminal import say
from benchmark.text.words import few

_MOST_SHOWN = 5


def print_runs(console: Console, comparison: RunsComparison) -> None:
    """Print the differences of two runs: a row for each technique, a column for each metric."""
    say(console, comparison.verdict)
    differences = comparison.differences
    differing = differences[differences["identical"] < differences["values"]]
    if len(differing):
        say(
            console,
            "Largest differences (empty: all values are identical; +: one run lacks some values):",
        )
        table = Table(box=None, padding=(0, 2), pad_edge=False)
        metrics = list(differing["metric"].unique())
        for title in ("", *metrics):
            table.add_column(title, justify="right" if title else "left", overflow="fold")
        for technique, rows in differing.groupby("technique", sort=False):
            entries = {
                row.metric: f"{row.largest:.2g}" + "+" * bool(row.one_sided) for row in rows.itertuples()
            }
            table.add_row(str(technique), *(entries.get(metric, "") for metric in metrics))
        console.print(table)
        same = [t for t in differences["technique"].unique() if t not in set(differing["technique"])]
        if same:
            say(console, f"Identical in all: {', '.join(same)}")
    for folder, cells in zip(comparison.folders, comparison.alone, strict=True):
        if len(cells):
            counts = cells.value_counts(["dataset", "technique"], sort=False).reset_index()
            most = [f"{row.dataset} {row.technique} {row.count:,}" for row in counts.itertuples(name="Row")]
            say(console, f"Only in {folder}: {len(cells):,} cells ({few(most, _MOST_SHOWN)})")
    for name, (ours, theirs) in comparison.made_with.items():
        say(console, f"Made with {name} {ours}, and {theirs}")
