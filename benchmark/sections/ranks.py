"""How techniques rank over datasets and levels of bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from benchmark.columns import GOAL_METRICS, GOALS
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.left_out import BELOW_COLUMNS
from benchmark.runs.manifest import Manifest
from benchmark.runs.ranks import MOST_PAIRED, N_POSTERIOR, repeated_levels
from benchmark.sections.goals import WORDS
from benchmark.sections.section import Block, Section, TextTable
from benchmark.sections.signs import BELOW_CONSTANT, BELOW_WORDS, SAME_ANSWER
from benchmark.statistics.frames import SCENARIO
from benchmark.text.words import LevelName, level_text

_MOST_RANKED = 3
_TITLES = {GOAL_METRICS[goal]: f"Ranks. {WORDS[goal].title}" for goal in GOALS}  # by metric


def section(statistics: RunStatistics) -> Section:
    """Return the best mean ranks of each set of datasets, and where pairs are not compared."""
    rows = list(_rows(statistics))
    by_title: dict[str, list[list[str]]] = {}
    for name, row in rows:
        by_title.setdefault(_TITLES.get(name.partition("[")[0], "Other metrics, of no goal"), []).append(row)
    titles = [title for title in (*_TITLES.values(), *by_title) if title in by_title]
    headings = ["Datasets", "Metric", "Techniques", "Degenerate", "Best mean ranks", "p"]
    notes = list(_reading(statistics.run, below=any(BELOW_CONSTANT in row[4] for _, row in rows)))
    return Section(
        "ranks",
        "How techniques rank over datasets",
        [*notes, *_pair_notes(statistics), *(f"Warning, {warning}" for warning in statistics.warnings)],
        [Block(title, table=TextTable(headings, by_title[title])) for title in dict.fromkeys(titles)],
        files={
            "ranks": f"average ranks over datasets, with and without {statistics.run.level_sign}; Friedman's "
            "test; groups that do not differ",
            "pairs": "each pair of techniques over datasets: Wilcoxon's test with Holm's correction, and the "
            f"Bayesian signed-rank test with its region of practical equivalence, from {N_POSTERIOR:,} "
            "samples: its probabilities have an error of up to 0.005",
        },
        figures={"ranks": "Mean ranks"},
    )


def _reading(run: Manifest, *, below: bool) -> Iterator[str]:
    """Say how ranks are to be read, and with ``below`` what is less accurate than a constant."""
    level, levels = run.level_sign, run.levels_sign
    yield (
        f"Over several datasets and all {levels}, techniques are ranked where all of them have values; best "
        "mean ranks, and the p-value of Friedman's test (Iman and Davenport's F). A dataset on which the "
        "bias "
        f"has no effect counts at one {level}. A dataset at several {levels} is no independent evidence, and "
        "p-values are too small for it."
    )
    yield (
        "Techniques are ranked to restore by their distance to the clean model, above "
        f"{run.level_text(0)} and where there is something to undo. They are ranked to equalise by "
        "discrimination."
    )
    yield (
        f"Degenerate: techniques without a rank, because they answer {SAME_ANSWER} at some {level} on some "
        "of "
        "these datasets."
    )
    if below:
        yield (
            f"{BELOW_CONSTANT}: {BELOW_WORDS} at the {levels} in brackets, on at least one of these "
            "datasets. "
            "Such techniques have a rank, and are no choice there."
        )


def _pair_notes(statistics: RunStatistics) -> list[str]:
    """Say where there are too many techniques to compare all pairs of them."""
    return [
        f"Pairs of techniques are left out on {statistics.run.headings(datasets)}: {n} techniques have "
        f"{n * (n - 1) // 2:,} pairs, and all are compared up to {MOST_PAIRED} techniques."
        for datasets, n in statistics.unpaired.items()
    ]


def _rows(statistics: RunStatistics) -> Iterator[tuple[str, list[str]]]:
    """Yield each metric that is ranked by on some datasets, and the row that says so."""
    pooled = statistics.ranks[statistics.ranks["over"] == "dataset beta"]
    run, standing = statistics.run, statistics.standing
    degenerate = standing[(standing["n_degenerate"] > 0) & ~repeated_levels(run, standing)]
    where = list(SCENARIO[1:])
    for (datasets, *place, name), ranks in pooled.groupby(["datasets", *where, "metric"], sort=False):
        there = degenerate[
            degenerate["dataset"].isin(str(datasets).split()) & (degenerate[where] == place).all(axis=1)
        ]
        left_out = ranks["technique"].isin(there["technique"]).sum()
        p = ranks["p_f"].iloc[0]
        row = [
            statistics.ranked_on(str(datasets), **dict(zip(where, map(str, place), strict=True))),
            statistics.title(str(name)),
            f"{ranks['mean_rank'].count()} of {len(ranks)}",
            str(left_out) if left_out else "none",
            _best(ranks.dropna(subset="mean_rank"), run.titles, run.level_name),
            "–" if pd.isna(p) else f"{p:.2g}",
        ]
        yield str(name), row


def _best(ranked: pd.DataFrame, titles: Mapping[str, str], level: LevelName) -> str:
    """Name the best of one ranking; then those less accurate than a constant that would be among them."""
    if len(ranked) < 2:  # one technique alone has no rank
        return "–"
    flag, at = BELOW_COLUMNS
    of_use = ranked[~ranked[flag]].nsmallest(_MOST_RANKED, "mean_rank")
    last = of_use["mean_rank"].max()  # NaN where none is of use
    others = ranked[ranked[flag] & ~(ranked["mean_rank"] > last)].nsmallest(_MOST_RANKED, "mean_rank")
    columns = ["technique", "mean_rank", at]
    named = [
        f"{titles[name]} {rank:.2f}" for name, rank, _ in of_use[columns].itertuples(index=False, name=None)
    ]
    marked = [
        f"{titles[name]} {BELOW_CONSTANT} {rank:.2f} ({level_text(level, *map(float, betas.split()))})"
        for name, rank, betas in others[columns].itertuples(index=False, name=None)
    ]
    if not named:
        return "; ".join(marked)
    return "; ".join(named) + (f". Among them would rank: {'; '.join(marked)}" if marked else "")
