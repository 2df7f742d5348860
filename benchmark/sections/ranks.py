"""Mean ranks of techniques over datasets and levels of bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from benchmark.columns import GOAL_METRICS, GOALS
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.ranks import MOST_PAIRED, N_POSTERIOR, repeated_levels
from benchmark.sections.goals import WORDS
from benchmark.sections.reasons import few_datasets, few_datasets_words
from benchmark.sections.section import Block, Section, TextTable
from benchmark.sections.signs import SAME_ANSWER
from benchmark.statistics.answers import unranked
from benchmark.statistics.cells import SCENARIO, WHERE
from benchmark.text.words import level_text, p_value

_MOST_RANKED = 3
# Reasons against techniques that are better than the baseline.
_REFUSED = {"too_few_accepted": "too few accepted or refused", "one_group": "one answer for a group"}
_TITLES = {GOAL_METRICS[goal]: f"Ranks. {WORDS[goal].title}" for goal in GOALS}  # by metric


def section(statistics: RunStatistics) -> Section:
    """Return the best mean ranks over each set of datasets, by goal."""
    by_title: dict[str, list[list[str]]] = {}
    for name, row in _rows(statistics):
        by_title.setdefault(_TITLES.get(name.partition("[")[0], "Other metrics, of no goal"), []).append(row)
    titles = [title for title in (*_TITLES.values(), *by_title) if title in by_title]
    headings = ["Datasets", "Metric", "Techniques", "Degenerate", "Best mean ranks", "p"]
    return Section(
        "ranks",
        "How techniques rank over datasets",
        [*_reading(statistics.run), *_pair_notes(statistics), *_warnings(statistics)],
        [Block(title, table=TextTable(headings, by_title[title])) for title in dict.fromkeys(titles)],
        files={
            "ranks": f"average ranks over datasets, with and without {statistics.run.level_sign}; Friedman's "
            "test; groups of techniques that are not shown to differ",
            "pairs": "each pair of techniques over datasets: Wilcoxon's test with Holm's correction; "
            f"Bayesian signed-rank test with a region of practical equivalence ({N_POSTERIOR:,} samples, "
            "error of probabilities up to 0.005)",
        },
        figures={"ranks": "Mean ranks"},
    )


def _reading(run: Manifest) -> Iterator[str]:
    """Yield notes on the ranks."""
    level, levels = run.level_sign, run.levels_sign
    yield (
        f"Ranks are over several {run.ranked_over}, where all techniques have values. A dataset on "
        f"which the bias has no effect counts at one {level}. p is the p-value of Friedman's test (Iman and "
        "Davenport's F)."
        + f" A dataset at several {levels} is no independent evidence, so p is too small."
        * (len(run.pooled_levels) > 1)
    )
    yield (
        "To restore, techniques are ranked by their distance to the clean model, above "
        f"{run.level_text(0)} and where there is something to undo. To equalize, they are ranked by "
        "discrimination. Each row names the datasets with something to rank by."
    )
    yield (
        "The best mean ranks are of techniques that are useful wherever they are ranked. Others stand last, "
        f"with the {levels} at which they are not useful, and the reason. Techniques below a constant answer "
        "are recommended only within the slack of accuracy."
    )
    yield (
        f"Degenerate: techniques without a rank. They answer {SAME_ANSWER} at some {level} on some of these "
        "datasets."
    )


def _pair_notes(statistics: RunStatistics) -> list[str]:
    """Return notes on datasets with too many techniques to compare all pairs."""
    return [
        f"Pairs of techniques are left out on {statistics.run.headings(datasets)}: {n} techniques have "
        f"{n * (n - 1) // 2:,} pairs. All pairs are compared up to {MOST_PAIRED} techniques."
        for datasets, n in statistics.unpaired.items()
    ]


def _warnings(statistics: RunStatistics) -> Iterator[str]:
    """Yield warnings on ranks over too few datasets: of all that are named, or of fewer with one metric."""
    of_all = replace(statistics, ranks=statistics.ranks[_ranks_all(statistics.ranks)])
    yield from dataset_warnings(of_all)
    ranks = few_datasets(statistics.ranks[statistics.ranks["over"] == "dataset"])
    fewer = ranks[~_ranks_all(ranks) & (ranks["n_datasets"] > 0)].sort_values("n_datasets", kind="stable")
    for row in fewer.drop_duplicates(["datasets", "metric"]).itertuples(index=False):
        where = f"{statistics.title(str(row.metric))} at {statistics.run.level_text(float(str(row.beta)))}"
        yield (
            f"Warning, {where}, ranked on {row.n_datasets} of {len(str(row.datasets).split())} datasets: "
            f"{few_datasets_words(row, statistics.alpha)}"
        )


def dataset_warnings(statistics: RunStatistics) -> Iterator[str]:
    """Yield warnings on claims that too few datasets cannot carry, one for each set of datasets."""
    ranks = few_datasets(statistics.ranks[statistics.ranks["over"] == "dataset"])
    # Of the numbers of pairs to test, the most are the whole.
    fullest = ranks.sort_values("n_techniques", ascending=False, kind="stable")
    rows = {row.datasets: row for row in fullest[::-1].itertuples(index=False)}
    for datasets in ranks["datasets"].unique():
        words = few_datasets_words(rows[datasets], statistics.alpha)
        yield f"Warning, {statistics.run.headings(datasets)}: {words}"


def _ranks_all(ranks: pd.DataFrame) -> pd.Series[bool]:
    """Return for each rank whether it is over all datasets that it names."""
    return ranks["n_datasets"] == ranks["datasets"].map(lambda names: len(names.split()))


def _ranked_cells(statistics: RunStatistics) -> pd.DataFrame:
    """Return the ranked cells: a row for each metric of a technique at a scenario's level of bias."""
    keys = statistics.intervals[[*WHERE, "metric"]]
    keys = keys[~unranked(keys, statistics.baselines, statistics.undo)]
    telling: pd.DataFrame = keys[~repeated_levels(statistics.run, keys)]
    return telling


def _useless_levels(
    answers: pd.DataFrame, standing: pd.DataFrame, metric: str
) -> dict[str, dict[str, list[float]]]:
    """Return the levels at which ranked techniques are useless: by technique and reason."""
    refused = answers[(answers["metric"] == metric) & answers["reason"].isin(_REFUSED)]
    below = standing[standing["below_constant"]].assign(reason="below_constant")
    columns = ["technique", "reason", "beta"]
    parts = [rows[columns].drop_duplicates().sort_values("beta", kind="stable") for rows in (below, refused)]
    levels: dict[str, dict[str, list[float]]] = {}
    for technique, reason, beta in pd.concat(parts).itertuples(index=False, name=None):
        levels.setdefault(technique, {}).setdefault(reason, []).append(beta)
    return levels


def _rows(statistics: RunStatistics) -> Iterator[tuple[str, list[str]]]:
    """Yield each ranked metric on a set of datasets, and its row."""
    pooled = statistics.ranks[statistics.ranks["over"] == "dataset beta"]
    run, cells = statistics.run, _ranked_cells(statistics)
    where, at = list(SCENARIO[1:]), list(WHERE)
    for (datasets, *scenario, name), ranks in pooled.groupby(["datasets", *where, "metric"], sort=False):
        named = str(datasets).split()
        keys = cells[(cells["metric"] == name) & cells["dataset"].isin(named)]
        keys = keys.loc[(keys[where] == scenario).all(axis=1), at]
        standing, answers = (keys.merge(frame, on=at) for frame in (statistics.standing, statistics.answers))
        degenerate = standing.loc[standing["n_degenerate"] > 0, "technique"]
        without_rank = ranks["technique"].isin(degenerate).sum()
        p = ranks["p_f"].iloc[0]
        ranked = [dataset for dataset in named if dataset in set(keys["dataset"])]
        on = statistics.ranked_on(" ".join(ranked), **dict(zip(where, map(str, scenario), strict=True)))
        row = [
            on if len(ranked) == len(named) else f"{len(ranked)} of {len(named)}: {on}",
            statistics.title(str(name)),
            f"{ranks['mean_rank'].count()} of {len(ranks)}",
            str(without_rank) if without_rank else "none",
            _best(ranks.dropna(subset="mean_rank"), run, _useless_levels(answers, standing, str(name))),
            p_value(p, statistics.alpha),
        ]
        yield str(name), row


def _best(ranked: pd.DataFrame, run: Manifest, useless: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Return the best of one ranking, then the somewhere useless techniques that would be among them."""
    if len(ranked) < 2:  # one technique alone has no rank
        return "–"
    flag = ranked["technique"].isin(useless)
    useful = ranked[~flag].nsmallest(_MOST_RANKED, "mean_rank")
    last = useful["mean_rank"].max()  # NaN if none is useful
    others = ranked[flag & ~(ranked["mean_rank"] > last)].nsmallest(_MOST_RANKED, "mean_rank")
    columns = ["technique", "mean_rank"]
    best, rest = (
        [
            f"{run.titles[name]} {rank:.2f}{_reasons(run, useless.get(name, {}))}"
            for name, rank in rows[columns].itertuples(index=False, name=None)
        ]
        for rows in (useful, others)
    )
    text = "; ".join(best) or "none useful"
    return text + (f". Among them would rank: {'; '.join(rest)}" if rest else "")


def _reasons(run: Manifest, levels: Mapping[str, Sequence[float]]) -> str:
    """Return in brackets why and at which levels a technique is useless; nothing if it is useful."""
    reasons = [
        f"{_REFUSED.get(reason, 'below a constant')} at {level_text(run.level_name, *betas)}"
        for reason, betas in levels.items()
    ]
    return f" ({'; '.join(reasons)})" if reasons else ""
