"""Figure of mean ranks of techniques, with bars along techniques that are not shown to differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchmark.figures import style
from benchmark.figures.style import LINE, Look, Page, RowLabels, add_beta_colorbar, beta_look, styled, wrap
from benchmark.runs.analysis import RunStatistics
from benchmark.sections.reasons import few_datasets, few_datasets_words, rank_words
from benchmark.sections.signs import below_constant_notes, degenerate_notes, marked_titles
from benchmark.statistics.across import repetitions_needed
from benchmark.statistics.cells import SCENARIO

_ROW = 0.19
_WIDTH = 2.6
_NAME_WIDTH = 2.3
_LANE = 0.09  # inches from one bar of a group to the next
_BAR: Look = {"color": "black", "lw": 2.4, "solid_capstyle": "butt", "clip_on": False, "gid": "group"}
_POOLED, _SINGLE = "dataset beta", "dataset"


def draw_ranks(statistics: RunStatistics, ranks: pd.DataFrame) -> Figure:
    """Draw mean ranks, best on top, and bars along techniques that do not differ.

    ``ranks`` are rows of ``statistics.ranks`` for one set of datasets, bias, classifier and test. Each metric
    has a panel. Large marks are mean ranks over datasets and levels of bias, small ones over the datasets at
    each level. Bars at the right join neighbors in rank without a significant difference (Wilcoxon, Holm),
    as in the diagram of Demšar (2006).
    """
    run = statistics.run
    metrics = list(ranks["metric"].unique())
    pooled = ranks[(ranks["over"] == _POOLED) & ranks["mean_rank"].notna()]
    pooled = pooled.sort_values("mean_rank", kind="stable")
    tables = [pooled[pooled["metric"] == metric].reset_index(drop=True) for metric in metrics]
    standing = _standing(statistics, ranks)
    titles = marked_titles(standing, run.titles)
    labels = [RowLabels([wrap(titles[name], _NAME_WIDTH) for name in table["technique"]]) for table in tables]
    lanes = [_lanes(table["groups"].tolist()) for table in tables]
    room = max(names.width for names in labels) + 0.3
    for_bars = 0.14 + _LANE * max((lane for bars in lanes for *_, lane in bars), default=0)
    height = max(_ROW, 0.05 + max(names.tallest for names in labels) * LINE)
    n_rows = max(map(len, tables))
    with styled():
        page = Page(
            len(metrics),
            min(2, len(metrics)),
            panel=(_WIDTH, max(0.5, height * n_rows)),
            title=f"Mean ranks on {statistics.ranked_on(**ranks.iloc[0][['datasets', *SCENARIO[1:]]])}",
            subtitle=f"1 is best. Large: over {run.ranked_over}; small: over the datasets at each "
            f"{run.level_sign}, on the same scale. Bars at the right join techniques that are not shown "
            "to differ (Wilcoxon, Holm).",
            notes=_notes(statistics, ranks, standing),
            left=room,
            right=0.9 + for_bars,
            gap=(room + for_bars, 0.42),
            below=0.5,
            panel_titles=[statistics.title(metric) for metric in metrics],
        )
        for axes, table, names, bars, metric in zip(page.axes, tables, labels, lanes, metrics, strict=True):
            if table.empty:
                style.say_empty(axes, "no rank, see below")
                continue
            each = ranks[(ranks["metric"] == metric) & (ranks["over"] == _SINGLE)]
            _draw_panel(axes, table, each, run.level_limit)
            names.write(axes, n_rows)
            for first, last, lane in bars:
                x, ends = 1 + (0.1 + _LANE * lane) / _WIDTH, [first - 0.32, last + 0.32]
                axes.plot([x, x], ends, transform=axes.get_yaxis_transform(), **_BAR)
        shown = sorted(ranks["beta"].dropna().unique())
        add_beta_colorbar(page, shown, shift=for_bars, limit=run.level_limit, label=run.level_axis)
    return page.figure


def _lanes(groups: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return first row, last row and lane of the bar of each group; bars of one lane do not meet."""
    members: dict[str, list[int]] = {}
    for row, names in enumerate(groups):
        for name in str(names).split():
            members.setdefault(name, []).append(row)
    bars: list[tuple[int, int, int]] = []
    ends: list[int] = []  # of the last bar in each lane
    for rows in sorted(members.values()):
        if len(rows) > 1:
            lane = next((i for i, end in enumerate(ends) if end < rows[0]), len(ends))
            ends[lane : lane + 1] = [rows[-1]]
            bars.append((rows[0], rows[-1], lane))
    return bars


def _draw_panel(axes: Axes, table: pd.DataFrame, each: pd.DataFrame, limit: float) -> None:
    rows = {name: row for row, name in enumerate(table["technique"])}
    each = each[each["technique"].isin(rows) & each["mean_rank"].notna()].sort_values("beta", kind="stable")
    # More techniques may be ranked at one level than over all: ranks are brought to one scale.
    shrunk = (len(table) - 1) / np.maximum(each["n_techniques"] - 1, 1)
    x, y = 1 + (each["mean_rank"] - 1) * shrunk, each["technique"].map(rows)
    axes.scatter(x, y, c=each["beta"], s=11, lw=0, zorder=2, **beta_look(limit))
    axes.plot(table["mean_rank"], range(len(table)), "o", mfc="none", mec="black", mew=1.3, ms=7, zorder=3)
    axes.set_xlim(0.5, max([2, *table["n_techniques"]]) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, steps=(1, 2, 5, 10)))


def _standing(statistics: RunStatistics, ranks: pd.DataFrame) -> pd.DataFrame:
    """Return the standings of the ranked techniques in all scenarios that are ranked together."""
    first, table = ranks.iloc[0], statistics.standing
    table = table[table["dataset"].isin(str(first["datasets"]).split())]
    table = table[table["technique"].isin(ranks["technique"])]
    return table[(table[list(SCENARIO[1:])] == first[list(SCENARIO[1:])]).all(axis=1)]


def _notes(statistics: RunStatistics, ranks: pd.DataFrame, standing: pd.DataFrame) -> list[str]:
    run = statistics.run
    gone = ranks.loc[(ranks["over"] == _POOLED) & ranks["mean_rank"].isna(), "technique"].unique()
    titles = {name: run.titles[name] for name in gone}
    useless = set(standing.loc[standing["n_degenerate"] > 0, "technique"])
    degenerate = {name: title for name, title in titles.items() if name in useless}
    few = few_datasets(ranks).head(1).itertuples(index=False)
    notes = [f"Warning: {few_datasets_words(row, statistics.alpha)}" for row in few]
    notes += _untestable(statistics, ranks)
    notes += _unranked(statistics, ranks)
    if len(run.pooled_levels) > 1:
        levels = run.levels_sign
        notes.append(
            f"A dataset at several {levels} is no independent evidence: differences over few datasets and "
            f"several {levels} are surer for these datasets than for others."
        )
    if left_out := [title for name, title in titles.items() if name not in useless]:
        where = f"Not ranked over {run.ranked_over}, but at a single {run.level_sign} where they have values"
        notes.append(f"{where}: {', '.join(left_out)}.")
    by_dataset = [
        (run.dataset(str(name)).heading, rows) for name, rows in standing.groupby("dataset", sort=False)
    ]
    for heading, rows in by_dataset:
        where = f"Not ranked on {heading}, nor over {run.ranked_over}"
        notes += degenerate_notes(rows, degenerate, where, run.level_name)
    for heading, rows in by_dataset:
        notes += [f"{heading}: {note}" for note in below_constant_notes(rows, run.titles, run.level_name)]
    return notes


def _unranked(statistics: RunStatistics, ranks: pd.DataFrame) -> list[str]:
    """Return notes on metrics without any rank over datasets and levels of bias."""
    notes = []
    for metric, rows in ranks.groupby("metric", sort=False):
        pooled = rows[rows["over"] == _POOLED]
        if pooled["mean_rank"].notna().sum() == 0:
            reasons = (rank_words(row, statistics.run) for row in pooled.itertuples(index=False))
            reason = next(reasons, "no dataset has something to rank by there")
            over = statistics.run.ranked_over
            notes.append(f"{statistics.title(str(metric))}: no technique has a rank over {over} ({reason}).")
    return notes


def _untestable(statistics: RunStatistics, ranks: pd.DataFrame) -> list[str]:
    """Return notes on metrics with too few blocks for any test of two techniques."""
    pooled = ranks[(ranks["over"] == _POOLED) & ranks["mean_rank"].notna()]
    notes = []
    for (n_blocks, n_techniques), rows in pooled.groupby(["n_blocks", "n_techniques"], sort=False):
        k = int(str(n_techniques))
        n_pairs = k * (k - 1) // 2
        needed = repetitions_needed(n_pairs, statistics.alpha) if n_pairs else 0
        if int(str(n_blocks)) < needed:
            titles = ", ".join(statistics.title(str(metric)) for metric in rows["metric"].unique())
            notes.append(
                f"{titles}: no test over {statistics.run.ranked_over} can find a difference "
                f"between two of {k} techniques, whatever the ranks. Their {n_pairs:,} pairs take at least "
                f"{needed} blocks; there are {n_blocks}."
            )
    return notes
