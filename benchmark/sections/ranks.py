"""How techniques rank over datasets and levels of bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from benchmark.columns import GOAL_METRICS, GOALS
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.ranks import MOST_PAIRED, N_POSTERIOR, repeated_levels
from benchmark.sections.goals import WORDS
from benchmark.sections.section import Block, Section, TextTable
from benchmark.sections.signs import BELOW_CONSTANT, BELOW_WORDS, SAME_ANSWER
from benchmark.statistics.answers import unranked
from benchmark.statistics.cells import SCENARIO, WHERE
from benchmark.text.words import level_text

_MOST_RANKED = 3
_REFUSED = {"too_few": "too few", "one_group": "one group"}  # verdicts on what is better, and no choice
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
        [*notes, *_pair_notes(statistics), *_warnings(statistics)],
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
        "discrimination. A row names the datasets on which there is something to rank by."
    )
    yield (
        "The best mean ranks are of techniques that are of use wherever they are ranked. Others stand last, "
        f"with the {levels} at which they are not: too few are accepted or refused, or one group gets nearly "
        "always the same answer."
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
            "Such techniques have a rank. They are recommended only within the floor of accuracy."
        )


def _pair_notes(statistics: RunStatistics) -> list[str]:
    """Say where there are too many techniques to compare all pairs of them."""
    return [
        f"Pairs of techniques are left out on {statistics.run.headings(datasets)}: {n} techniques have "
        f"{n * (n - 1) // 2:,} pairs, and all are compared up to {MOST_PAIRED} techniques."
        for datasets, n in statistics.unpaired.items()
    ]


def _warnings(statistics: RunStatistics) -> Iterator[str]:
    """Say which ranks are over too few datasets: of all that are named, or of fewer with one metric."""
    yield from (f"Warning, {warning}" for warning in _of_all(statistics).warnings)
    ranks = statistics.ranks[(statistics.ranks["over"] == "dataset") & (statistics.ranks["warning"] != "")]
    fewer = ranks[~_ranks_all(ranks) & (ranks["n_datasets"] > 0)].sort_values("n_datasets", kind="stable")
    first = fewer.drop_duplicates(["datasets", "metric"])
    for datasets, metric, beta, n, warning in first[
        ["datasets", "metric", "beta", "n_datasets", "warning"]
    ].itertuples(index=False, name=None):
        yield (
            f"Warning, {statistics.title(metric)} at {statistics.run.level_text(beta)}, ranked on {n} of "
            f"{len(str(datasets).split())} datasets: {warning}"
        )


def _ranks_all(ranks: pd.DataFrame) -> pd.Series[bool]:
    """Return of each rank whether it is over all datasets that it names."""
    return ranks["n_datasets"] == ranks["datasets"].map(lambda names: len(names.split()))


def _of_all(statistics: RunStatistics) -> RunStatistics:
    return replace(statistics, ranks=statistics.ranks[_ranks_all(statistics.ranks)])


def _ranked_places(statistics: RunStatistics) -> pd.DataFrame:
    """Return the values that are ranked by, one row for each technique on a dataset at a level and metric."""
    keys = statistics.intervals[[*WHERE, "metric"]]
    keys = keys[~unranked(keys, statistics.baselines, statistics.undo)]
    telling: pd.DataFrame = keys[~repeated_levels(statistics.run, keys)]
    return telling


def _no_use(answers: pd.DataFrame, standing: pd.DataFrame, metric: str) -> dict[str, dict[str, list[float]]]:
    """Return at which levels techniques are of no use where they are ranked: by technique, and why."""
    refused = answers[(answers["metric"] == metric) & answers["verdict"].isin(_REFUSED)]
    below = standing[standing["below_constant"]].assign(verdict="below_constant")
    columns = ["technique", "verdict", "beta"]
    found: dict[str, dict[str, list[float]]] = {}
    in_order = (own[columns].drop_duplicates().sort_values("beta", kind="stable") for own in (below, refused))
    rows = pd.concat(list(in_order))
    for technique, verdict, beta in rows.itertuples(index=False, name=None):
        found.setdefault(technique, {}).setdefault(verdict, []).append(beta)
    return found


def _rows(statistics: RunStatistics) -> Iterator[tuple[str, list[str]]]:
    """Yield each metric that is ranked by on some datasets, and the row that says so."""
    pooled = statistics.ranks[statistics.ranks["over"] == "dataset beta"]
    run, places = statistics.run, _ranked_places(statistics)
    where, at = list(SCENARIO[1:]), list(WHERE)
    for (datasets, *place, name), ranks in pooled.groupby(["datasets", *where, "metric"], sort=False):
        named = str(datasets).split()
        own = places[(places["metric"] == name) & places["dataset"].isin(named)]
        own = own.loc[(own[where] == place).all(axis=1), at]
        standing, answers = (own.merge(frame, on=at) for frame in (statistics.standing, statistics.answers))
        degenerate = standing.loc[standing["n_degenerate"] > 0, "technique"]
        left_out = ranks["technique"].isin(degenerate).sum()
        p = ranks["p_f"].iloc[0]
        ranked = [dataset for dataset in named if dataset in set(own["dataset"])]
        on = statistics.ranked_on(" ".join(ranked), **dict(zip(where, map(str, place), strict=True)))
        row = [
            on if len(ranked) == len(named) else f"{len(ranked)} of {len(named)}: {on}",
            statistics.title(str(name)),
            f"{ranks['mean_rank'].count()} of {len(ranks)}",
            str(left_out) if left_out else "none",
            _best(ranks.dropna(subset="mean_rank"), run, _no_use(answers, standing, str(name))),
            "–" if pd.isna(p) else f"{p:.2g}",
        ]
        yield str(name), row


def _best(ranked: pd.DataFrame, run: Manifest, no_use: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Name the best of one ranking; then those of no use somewhere that would be among them."""
    if len(ranked) < 2:  # one technique alone has no rank
        return "–"
    flag = ranked["technique"].isin(no_use)
    useful = ranked[~flag].nsmallest(_MOST_RANKED, "mean_rank")
    last = useful["mean_rank"].max()  # NaN where none is of use
    others = ranked[flag & ~(ranked["mean_rank"] > last)].nsmallest(_MOST_RANKED, "mean_rank")
    columns = ["technique", "mean_rank"]
    named = [
        f"{run.titles[name]} {rank:.2f}" for name, rank in useful[columns].itertuples(index=False, name=None)
    ]
    marked = [
        _marked(run, name, rank, no_use[name])
        for name, rank in others[columns].itertuples(index=False, name=None)
    ]
    text = "; ".join(named) or "none of use"
    return text + (f". Among them would rank: {'; '.join(marked)}" if marked else "")


def _marked(run: Manifest, name: str, rank: float, no_use: Mapping[str, Sequence[float]]) -> str:
    """Name a technique that is of no use somewhere, with its rank, and where that is why."""
    sign = f" {BELOW_CONSTANT}" if "below_constant" in no_use else ""
    where = [
        f"{words} at {at}" if words else at
        for verdict, betas in no_use.items()
        for words, at in [(_REFUSED.get(verdict, ""), level_text(run.level_name, *betas))]
    ]
    return f"{run.titles[name]}{sign} {rank:.2f} ({'; '.join(where)})"
