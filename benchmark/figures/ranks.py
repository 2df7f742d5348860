"""Figure of mean ranks of techniques, with bars along techniques that are not shown to differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import Look, beta_look
from benchmark.runs.analysis import RunStatistics
from benchmark.statistics.across import repetitions_needed
from benchmark.statistics.cells import SCENARIO
from benchmark.tables.numbers import BELOW_CONSTANT
from benchmark.wording.described import level_axis, ranked_over

_WIDTH = 2.6
_LANE = 0.09  # inches from one bar of a group to the next
_BAR: Look = {"color": "black", "lw": 2.4, "solid_capstyle": "butt", "clip_on": False, "gid": "group"}
_POOLED, _SINGLE = "dataset beta", "dataset"


@style.styled()
def draw_ranks(statistics: RunStatistics, ranks: pd.DataFrame, choice: Choice = EVERYTHING) -> Page:
    """Draw mean ranks, best on top, and bars along techniques that do not differ.

    ``ranks`` are rows of ``statistics.ranks`` for one set of datasets, bias, classifier and test. Each metric
    has a panel. Large marks are mean ranks over datasets and levels of bias, small ones over the datasets at
    each level. Bars at the right join neighbors in rank without a significant difference (Wilcoxon, Holm),
    as in the diagram of Demšar (2006). Of chosen techniques, ranks are still those among all.
    """
    run = statistics.run
    metrics = choice.of_metrics(ranks["metric"].unique())
    titles = marks.titles_of(ranks, run, choice)
    ranks = ranks[ranks["technique"].isin(titles) & ranks["metric"].isin(metrics)]
    pooled = ranks[(ranks["over"] == _POOLED) & ranks["mean_rank"].notna()]
    pooled = pooled.sort_values("mean_rank", kind="stable")
    tables = [pooled[pooled["metric"] == metric].reset_index(drop=True) for metric in metrics]
    datasets, *kind = ranks.iloc[0][["datasets", *SCENARIO[1:]]]
    standing = statistics.standing[statistics.standing["dataset"].isin(str(datasets).split())]
    standing = standing[(standing[[*SCENARIO[1:]]] == kind).all(axis=1)]
    below = {name for name, _ in marks.signs_of(standing, titles, [BELOW_CONSTANT])}
    titles |= {name: f"{titles[name]} {BELOW_CONSTANT}" for name in below}
    labels = [RowLabels([titles[name] for name in table["technique"]], choice.width) for table in tables]
    n_rows = max(map(len, tables))
    page = Page(
        len(metrics),
        min(2, len(metrics)),
        panel=(_WIDTH, max(0.5, n_rows * max(own.row for own in labels))),
        title=f"Mean ranks on {statistics.ranked_on(**ranks.iloc[0][['datasets', *SCENARIO[1:]]])}",
        subtitle=f"1 is best. Large: over {ranked_over(run)}; small: over the datasets at each "
        f"{run.level_sign}, on the same scale. Bars at the right join techniques that are not shown "
        "to differ (Wilcoxon, Holm).",
        notes=[*_notes(statistics, ranks), *marks.notes(signs=[BELOW_CONSTANT] * bool(below))],
        panel_titles=[statistics.title(metric) for metric in metrics],
        choice=choice,
        left=max(own.width for own in labels),
    )
    for axes, table, own, metric in zip(page.panels, tables, labels, metrics, strict=True):
        if table.empty:
            style.say_empty(axes, "no technique has a rank over all")
            axes.set(yticks=[])
            continue
        each = ranks[(ranks["metric"] == metric) & (ranks["over"] == _SINGLE)]
        _draw_panel(axes, table, each, run.level_limit)
        own.write(axes, n_rows)
        for first, last, lane in _lanes(table["groups"].tolist()):
            x, ends = 1 + (0.1 + _LANE * lane) / _WIDTH, [first - 0.32, last + 0.32]
            axes.plot([x, x], ends, transform=axes.get_yaxis_transform(), **_BAR)
    shown = sorted(ranks["beta"].dropna().unique())
    page.add_beta_colorbar(shown, limit=run.level_limit, label=level_axis(run))
    return page.fit()


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


def _notes(statistics: RunStatistics, ranks: pd.DataFrame) -> list[str]:
    """Return notes on too few datasets or blocks for a test, and on techniques without ranks."""
    run = statistics.run
    pooled = ranks[ranks["over"] == _POOLED]
    gone = pooled.loc[pooled["mean_rank"].isna(), "technique"].unique()
    few = ranks[ranks["n_datasets"] < ranks["datasets_needed"]]
    notes = [
        f"Warning: {row.n_datasets} datasets are too few for a claim beyond them; it takes "
        f"{row.datasets_needed}."
        for row in few.head(1).itertuples()
    ]
    ranked = pooled[pooled["mean_rank"].notna() & (pooled["n_techniques"] > 1)].drop_duplicates("metric")
    for _, rows in ranked.groupby(["n_techniques", "n_blocks"]):
        n, n_blocks = rows[["n_techniques", "n_blocks"]].iloc[0].astype(int)
        n_pairs = n * (n - 1) // 2
        if n_blocks < (needed := repetitions_needed(n_pairs, statistics.alpha)):
            notes.append(
                f"{', '.join(map(statistics.title, rows['metric']))}: no test can find a difference. "
                f"{n_pairs:,} pairs of techniques take at least {needed} blocks; there are {n_blocks}."
            )
    if len(gone):
        titles = ", ".join(run.titles[name] for name in gone)
        notes.append(f"Without a rank over {ranked_over(run)}, as degenerate or without values: {titles}.")
    return notes
