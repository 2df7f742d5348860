"""Which technique holds up at which level of bias, in words: one page, and the table that it begins with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from benchmark.report import markdown
from benchmark.report.statistics_numbers import ACCURACY, N_POSTERIOR, RunStatistics
from benchmark.report.statistics_tables import compared_metrics, data_notes, method_notes, pair_notes
from benchmark.statistics.paired import FAMILY

__all__ = ["FILES", "SURVIVOR_COLUMNS", "statistics_page", "survivor_text", "survivors"]

SURVIVOR_COLUMNS = (*FAMILY, "technique", "up_to", "not_at", "tested", "keeps_accuracy")
"""Columns of :func:`survivors`."""

FILES = {
    "intervals": "mean, median and interval of each metric of each cell; missing repetitions",
    "comparisons": "each technique minus the baseline on the same samples: intervals, p-values, effect sizes",
    "ranks": "average ranks over datasets, with and without β; Friedman's test; groups that do not differ",
    "pairs": "each pair of techniques over datasets: Wilcoxon's test with Holm's correction, and the "
    "Bayesian signed-rank test with its region of practical equivalence",
    "pareto": "which techniques no other beats in a metric without losing accuracy",
    "hypervolume": "how much of that trade-off the techniques together achieve",
    "fairea": "in which of Fairea's regions the techniques end",
    "robustness": "slope and area of each metric over β, and the β at which a technique stops beating the "
    "baseline",
}
"""What each CSV file holds."""

_FIGURES = {
    "heat": "Means and improvements over the baseline",
    "pareto": "Trade-offs and Pareto fronts",
    "forest": "Improvements over the baseline, with intervals",
    "ranks": "Mean ranks",
}
_MOST_RANKED = 3


def survivors(statistics: RunStatistics) -> pd.DataFrame:
    """Find the techniques that beat the baseline, and up to which level of bias.

    Parameters
    ----------
    statistics : RunStatistics
        From :func:`~benchmark.report.statistics_numbers.run_statistics`.

    Returns
    -------
    DataFrame
        Columns :data:`SURVIVOR_COLUMNS`, one row for each dataset, bias, classifier, metric and technique
        that is better than the baseline at some level: significantly (``tested``), or, in families of tests
        of which none can be significant, by more than the region of practical equivalence. ``up_to`` is the
        greatest such level, ``not_at`` lists the smaller ones at which it is not better, and
        ``keeps_accuracy`` says that by the same measure it is less accurate at none of those at which it is.
        The farthest first; metrics in the run's order.
    """
    table = statistics.comparisons
    reach = pd.MultiIndex.from_frame(statistics.out_of_reach()[list(FAMILY)])
    table = table.assign(tested=~pd.MultiIndex.from_frame(table[list(FAMILY)]).isin(reach))
    significant = table["tested"] & (table["p_permutation_holm"] <= statistics.alpha)
    practical = ~table["tested"] & (table["improvement"].abs() > statistics.rope)
    differs = significant | practical
    table = table.assign(
        better=differs & (table["improvement"] > 0), worse=differs & (table["improvement"] < 0)
    )
    cell = ["dataset", "bias", "classifier", "technique", "beta"]
    less_accurate = set(
        table.loc[(table["metric"] == ACCURACY) & table["worse"], cell].itertuples(index=False, name=None)
    )
    rows = []
    for names, own in table.groupby([*FAMILY, "technique"], sort=False):
        levels = own.loc[own["better"], "beta"].tolist()
        if levels:
            *family, technique = names
            where = (*family[:3], technique)
            missed = [beta for beta in own["beta"] if beta < max(levels) and beta not in levels]
            keeps = not any((*where, beta) in less_accurate for beta in levels)
            not_at = " ".join(f"{beta:g}" for beta in missed)
            rows.append((*family, technique, max(levels), not_at, bool(own["tested"].iloc[0]), keeps))
    found = pd.DataFrame(rows, columns=list(SURVIVOR_COLUMNS))
    return found.sort_values("up_to", ascending=False, kind="stable", ignore_index=True)


def survivor_text(title: str, not_at: str) -> str:
    """Return a technique's title with the levels of bias that it does not survive."""
    return title + (f" (not at {', '.join(not_at.split())})" if not_at else "")


def statistics_page(statistics: RunStatistics, tables: Sequence[str], figures: Sequence[str] = ()) -> str:
    """Return the page that answers which technique holds up, how sure that is, and where the numbers are.

    Parameters
    ----------
    statistics : RunStatistics
        From :func:`~benchmark.report.statistics_numbers.run_statistics`.
    tables : sequence of str
        Files of the tables in Markdown, relative to the page.
    figures : sequence of str, default ()
        Files of the figures in PNG, relative to the page.

    Returns
    -------
    str
        Markdown.
    """
    run = statistics.run
    sections = [
        [f"# Statistics of {markdown.plain(run.name)}", "", markdown.plain(run.title) + "."],
        ["## Which technique holds up at which level of bias", "", *_survivors_section(statistics)],
        ["## How sure that is", "", *_certainty_section(statistics)],
        *([["## Figures", "", *_figures_section(figures)]] if figures else []),
        ["## Where the numbers are", "", *_files_section(tables)],
    ]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _survivors_section(statistics: RunStatistics) -> Iterator[str]:
    found = survivors(statistics)
    untested = statistics.out_of_reach()
    if len(untested) < len(statistics.comparisons[list(FAMILY)].drop_duplicates()):
        yield (
            "Techniques that are significantly better than the baseline, by the greatest β at which they "
            "are. In brackets: smaller β at which they are not."
        )
    if len(untested):
        yield (
            f"Rows with ~: no test can be significant there (see below), so they list techniques that are "
            f"better on average by more than {statistics.rope:g}."
        )
    if ACCURACY in statistics.metrics:
        yield "**Bold**: by the same measure, less accurate than the baseline at none of these β."
    yield ""
    yield markdown.table(["Dataset", "Metric", "Up to β", "Techniques"], _survivor_rows(statistics, found))


def _survivor_rows(statistics: RunStatistics, found: pd.DataFrame) -> Iterator[list[str]]:
    titles, shown = statistics.run.techniques, ["technique", "not_at", "keeps_accuracy"]
    for place, metric in compared_metrics(statistics):
        own = place.rows(found[found["metric"] == metric])
        traded = ACCURACY in statistics.metrics and metric != ACCURACY
        head = [markdown.plain(place.heading), markdown.plain(statistics.title(metric))]
        if own.empty:
            yield [*head, "–", "none"]
        for level, rows in own.groupby("up_to", sort=False):
            names = [
                _bold(survivor_text(titles[technique], not_at), traded and keeps_accuracy)
                for technique, not_at, keeps_accuracy in rows[shown].itertuples(index=False, name=None)
            ]
            yield [*head, f"{level:g}" + ("" if own["tested"].iloc[0] else " ~"), "; ".join(names)]
            head = ["", ""]


def _bold(text: str, wanted: bool) -> str:
    return f"**{markdown.plain(text)}**" if wanted else markdown.plain(text)


def _certainty_section(statistics: RunStatistics) -> Iterator[str]:
    run = statistics.run
    for note in method_notes(statistics):
        yield f"- {markdown.plain(note)}"
    for note in pair_notes(statistics):
        yield f"- {markdown.plain(note)}"
    for warning in statistics.warnings:
        yield f"- Warning, {markdown.plain(warning)}"
    for note in data_notes(run):
        yield f"- {markdown.plain(note)}"
    cell = ["technique", "dataset", "bias", "classifier", "beta"]
    gaps = (
        statistics.intervals.groupby(cell, sort=False)["missing"].max().groupby("technique", sort=False).sum()
    )
    if (gaps > 0).any():
        listed = ", ".join(f"{run.techniques[str(name)]} {n}" for name, n in gaps[gaps > 0].items())
        yield f"- Repetitions without a value (the run's failures.csv says why): {markdown.plain(listed)}."
    yield ""
    yield (
        "Over several datasets and all β, techniques are ranked where all of them have values; best mean "
        "ranks, and the p-value of Friedman's test (Iman and Davenport's F). A dataset at several β is no "
        "independent evidence, and p-values are too small for it."
    )
    yield ""
    yield markdown.table(["Datasets", "Metric", "Techniques", "Best mean ranks", "p"], _rank_rows(statistics))


def _rank_rows(statistics: RunStatistics) -> Iterator[list[str]]:
    pooled = statistics.ranks[statistics.ranks["over"] == "dataset beta"]
    for names, own in pooled.groupby(["datasets", "bias", "classifier", "metric"], sort=False):
        datasets, *_, name = map(str, names)
        best = own.nsmallest(_MOST_RANKED, "mean_rank", keep="first")
        ranked = zip(best["technique"], best["mean_rank"], strict=True)
        p = own["p_f"].iloc[0]
        yield [
            markdown.plain(", ".join(datasets.split())),
            markdown.plain(statistics.title(name)),
            f"{own['mean_rank'].count()} of {len(own)}",
            "; ".join(f"{markdown.plain(statistics.run.techniques[t])} {rank:.2f}" for t, rank in ranked),
            "–" if pd.isna(p) else f"{p:.2g}",
        ]


def _figures_section(figures: Sequence[str]) -> Iterator[str]:
    yield "Each is there as PNG, PDF and SVG. The first of each kind is shown."
    for kind, text in _FIGURES.items():
        own = [path for path in figures if path.startswith(f"figures/{kind}_")]
        if own:
            yield ""
            yield f"**{text}**: " + ", ".join(f"[{_stem(path, kind)}]({path})" for path in own)
            yield ""
            yield f"![{text}]({own[0]})"


def _stem(path: str, kind: str) -> str:
    name = path.removeprefix(f"figures/{kind}_").removesuffix(".png")
    return markdown.plain(name.replace("__", ", "))


def _files_section(tables: Sequence[str]) -> Iterator[str]:
    yield "`results/README.md` explains every column; numbers have six significant digits."
    yield f"Bayesian probabilities come from {N_POSTERIOR:,} samples and have an error of up to 0.005."
    yield ""
    for name, text in FILES.items():
        yield f"- [{name}.csv]({name}.csv): {text}"
    for path in tables:
        yield f"- [{path}]({path})"
    yield ""
    yield "Each table is there as Markdown, CSV, and LaTeX for `\\input` (packages booktabs and adjustbox)."
