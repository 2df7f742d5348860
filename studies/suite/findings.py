"""What the run ``suite`` says of techniques over datasets, for both goals: its numbers and figure.

``python -m studies suite`` writes ``results/suite/NUMBERS.md``, ``FINDINGS.md``, the figures and the
claims of ``docs/claims.md`` that rest on them anew from the committed values;
``studies/suite/test_suite.py`` holds them.

The unit is the dataset: each counts once, by its value over all splits. Degenerate models count as
measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd

from benchmark.columns import DECISION_COUNTS, EQUALIZE, GOAL_METRICS, GOALS, RESTORE
from benchmark.figures import style
from benchmark.figures.page import Page, RowLabels
from benchmark.runs.analysis import folder_statistics
from benchmark.runs.finished import read_frames
from benchmark.runs.verdicts import baselines_of
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answers import ACCURACY
from benchmark.statistics.cells import Array
from benchmark.statistics.hypothesis_tests import corrected_t_p_values, holm, smallest_difference
from benchmark.statistics.intervals import prediction_intervals, standard_errors
from benchmark.statistics.recommendation import LEAST
from benchmark.statistics.restoration import (
    AGREEMENT,
    LEAST_PEOPLE,
    NO_EFFECT_SHOWN,
    NO_REFERENCE,
    NOTHING_TO_UNDO,
    SHARES,
    effect_table,
    restoration_table,
    share_counts,
)
from benchmark.text.markdown import table
from studies.estimates import Estimate, resampled, student_estimate, three, two
from studies.pages import CLAIMS, WORDS, Files, finding, named, points, with_claims
from studies.random_effects import heterogeneity, variance_of_next
from studies.sources_figure import draw_sources
from tools.sources import first_of_sources

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "suite"
FINDINGS, NUMBERS = FOLDER / "FINDINGS.md", FOLDER / "NUMBERS.md"
FIGURE, SOURCES = (FOLDER / "figures" / name for name in ("goals.png", "sources.png"))
LEFT_OUT = ("attrition", "ricci")
"""A file made up by its publisher, and a formula on 118 rows."""

LEVEL = 0.4
REASONS = (NOTHING_TO_UNDO, NO_EFFECT_SHOWN, NO_REFERENCE)
_PLACE = ["dataset", "level", "technique"]
_INTRODUCTION = (
    "Written by `python -m studies suite` from the committed values; [the findings](FINDINGS.md) say what "
    "the columns are and what follows. Each dataset counts once, by its value over ten splits; degenerate "
    "models count as measured. Distance, given back and paid are of datasets with something to undo. *Nearer "
    "than `refit_biased`*: without what chance gives; that refit's own gain over doing nothing stands in its "
    "row. The prejudice remover has another learner and other datasets with something to undo, so that it "
    "stands apart. Intervals of differences are Student's over datasets, of 95 % for one technique alone. "
    f"\\*: shown to differ, with p of at most {two(ALPHA)} after Holm's correction over eleven techniques; "
    "given back: from `refit_biased`. Shares removed are ratios of sums over datasets, with 95 % intervals "
    "from all resamples of eleven datasets, and from 100,000 of fifteen. A negative share adds to the "
    "difference. In brackets: of the deprived / of the favored group, over the datasets with at least "
    f"{LEAST_PEOPLE} such people, which can be fewer. *Degenerate on*: nearly everybody, or each group, is "
    "answered alike in more than half of the splits."
)
_WHERE = (
    "Gains over doing nothing on independent datasets; to restore, on those with something to undo. "
    "*Between*: standard deviation of true gains between datasets, by random effects. *Chance*: that of a "
    "measured gain on one dataset, corrected for splits that overlap. *On a new source*: the interval that "
    "holds the gain which is measured on a new source in 95 of 100 cases, if it is drawn as these were "
    "([formula](../../docs/statistics.md#where-it-holds)). Here each interval has 95 % by itself."
)


run = cache(partial(read_frames, FOLDER))
"""Return the committed run, which is read once."""


def by_learner(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame in which doing nothing with a technique's own learner has the name of the learner."""
    learner = frame["classifier"].where(frame["classifier"].isin(run().manifest.learners))
    renamed = frame.copy()
    for column in frame.columns.intersection(["technique", "baseline"]):
        refit = learner.notna() & frame[column].isin(run().manifest.refits)
        renamed[column] = frame[column].mask(refit, learner + "_" + frame[column])
        renamed[column] = renamed[column].mask(learner.notna() & (frame[column] == "none"), learner)
    return renamed


@cache
def baselines() -> pd.Series:
    """Return the baseline of each technique that is no reference row; a baseline is its own."""
    cells = run().of_techniques.results.drop_duplicates(["technique", "classifier"])
    against = baselines_of(run().manifest, run().results, None).column(cells)
    return by_learner(cells.assign(baseline=against)).set_index("technique")["baseline"]


@cache
def techniques() -> list[str]:
    """Return the techniques to choose from, in the order of the experiment."""
    return [name for name, baseline in baselines().items() if name != baseline]


@cache
def restoration() -> pd.DataFrame:
    """Return the values of the table of restoration, by metric, dataset, level and technique."""
    frames = run()
    assert frames.decisions is not None
    against = baselines_of(frames.manifest, frames.results, None)
    refits = frames.manifest.refits_of
    told = restoration_table(frames.decisions, against, frames.resampling, refits)
    return by_learner(told).set_index(["metric", *_PLACE])


@cache
def effects() -> pd.Series:
    """Return why there is nothing to undo, by dataset, level and baseline; empty where there is something."""
    frames = run()
    against = baselines_of(frames.manifest, frames.results, None)
    refits = frames.manifest.refits_of
    told = effect_table(frames.results, against, frames.standing, frames.resampling, refits)
    told = told[told["technique"] == ""]
    return by_learner(told).set_index(["dataset", "level", "baseline"])["reason"]


@cache
def splits(metric: str, *, distance: bool = False) -> pd.Series:
    """Return values, or their distances to 0, by dataset, level, technique and split."""
    results = run().results
    results = by_learner(results[results["metric"] == metric]).set_index([*_PLACE, "repetition"])
    return results["value"].abs() if distance else results["value"]


@cache
def means(metric: str, *, distance: bool = False) -> pd.Series:
    """Return means over splits, of values or of their distances to 0, by dataset, level and technique."""
    return splits(metric, distance=distance).groupby(level=_PLACE, sort=False).mean()


@cache
def independent() -> list[str]:
    """Return one dataset of each source, without :data:`LEFT_OUT`."""
    return [name for name in one_of_each() if name not in LEFT_OUT]


@cache
def one_of_each() -> list[str]:
    """Return the first dataset of each source."""
    return first_of_sources(run().results["dataset"].unique().tolist())


def to_restore(datasets: Sequence[str], beta: float, baseline: str) -> list[str]:
    """Return the datasets on which the level has done something to a baseline that could be undone."""
    return [name for name in datasets if effects()[name, beta, baseline] == ""]


def ratio_of_sums(upper: Array, lower: Array) -> Estimate:
    """Return a ratio of sums over datasets with its interval of 95 %, from resampled datasets."""
    ends = resampled(np.stack([upper, lower]), lambda sums: sums[0] / sums[1])
    return float(upper.sum() / lower.sum()), *ends


def gains(goal: str, technique: str, beta: float, datasets: Sequence[str]) -> Array:
    """Return by how much a technique is nearer to a goal than its baseline on each dataset."""
    values = means(GOAL_METRICS[goal], distance=goal == EQUALIZE)
    baseline = baselines()[technique]
    return np.array([values[name, beta, baseline] - values[name, beta, technique] for name in datasets])


def gains_of_splits(goal: str, technique: str) -> pd.DataFrame:
    """Return gains at :data:`LEVEL` of the datasets that count for a goal, a row each, by split."""
    values = splits(GOAL_METRICS[goal], distance=goal == EQUALIZE).xs(LEVEL, level="level")
    baseline = baselines()[technique]
    nearer = values.xs(baseline, level="technique") - values.xs(technique, level="technique")
    among = to_restore(independent(), LEVEL, baseline) if goal == RESTORE else independent()
    return nearer.unstack("repetition").loc[list(among)]


def errors_of(gained: pd.DataFrame) -> Array:
    """Return the standard error of each dataset's mean over splits, corrected for their overlap."""
    overlap = np.array([run().resampling.overlaps[name] for name in gained.index])
    return standard_errors(gained.to_numpy(), overlap)


def where_it_holds() -> str:
    """Return a table of what differs between datasets, and of the gain on a new one."""
    rows = []
    for goal in GOALS:
        for technique in techniques():
            values = gains_of_splits(goal, technique)
            centers, variances = values.to_numpy().mean(axis=1)[None], errors_of(values)[None] ** 2
            between, chance = np.sqrt(heterogeneity(centers, variances)[0]), np.sqrt(variances.mean())
            single = variance_of_next(centers, variances)
            new = [three(float(end)) for [end] in prediction_intervals(centers, single)]
            mean, low, high = map(three, student_estimate(centers[0]))
            cells = [f"{mean} [{low}, {high}]", *map(three, (between, chance)), " to ".join(new)]
            rows.append([goal, f"`{technique}`", str(len(values)), *cells])
    return table(["goal", "technique", "datasets", "gain", "between", "chance", "on a new source"], rows)


def draw_where_it_holds() -> bytes:
    """Draw the gain of the technique nearest to the clean model, a dot for each dataset."""
    values = gains_of_splits(RESTORE, "drop_sensitive")
    page = draw_sources(
        list(values.index),
        values.to_numpy().mean(axis=1),
        errors_of(values),
        values.shape[1],
        title="Where does dropping the group restore decisions?",
        gain=f"nearer to the clean model than doing nothing, β = {LEVEL:g}",
    )
    return style.render(page, "png")


def beyond_refit(metric: str, technique: str, beta: float, datasets: Sequence[str]) -> Array:
    """Return by how much a value exceeds that of ``refit_biased`` of the same learner on each dataset."""
    told = restoration().loc[metric].loc[[(name, beta, technique) for name in datasets]]
    return (told["value"] - told["refit_biased"]).to_numpy()


@cache
def degenerate(beta: float = LEVEL) -> set[tuple[str, str]]:
    """Return datasets and techniques that answer alike in more than half of the splits.

    That is, nearly everybody alike, or each group.
    """
    standing, n_splits = by_learner(run().standing), run().results["repetition"].nunique()
    mostly = standing[(standing["level"] == beta) & (2 * standing["n_degenerate"] > n_splits)]
    return set(zip(mostly["dataset"], mostly["technique"], strict=True))


def without_degenerate(technique: str, datasets: Sequence[str], beta: float = LEVEL) -> list[str]:
    """Return the datasets on which a technique is not degenerate."""
    return [name for name in datasets if (name, technique) not in degenerate(beta)]


def corrected(values: Mapping[str, Array]) -> pd.Series:
    """Return p-values of each technique's mean over datasets being 0, with Holm's correction for all of them.

    Tests are Student's.
    """
    p = [corrected_t_p_values(values[name][None, :], np.zeros(1))[0] for name in techniques()]
    return pd.Series(holm(np.array(p)), index=techniques())


def differences(technique: str, beta: float, datasets: Sequence[str]) -> tuple[Array, Array, Array, Array]:
    """Return planted and original differences of the baseline, and what a technique removes of them."""
    signed, baseline = means(GOAL_METRICS[EQUALIZE]), baselines()[technique]
    before, after, left, left_after = (
        np.array([signed[name, level, who] for name in datasets])
        for who in (baseline, technique)
        for level in (0.0, beta)
    )
    planted = after - before
    return planted, before, planted - (left_after - left), before - left


@cache
def pooled(beta: float = LEVEL, datasets: tuple[str, ...] | None = None) -> pd.DataFrame:
    """Return what each technique does over datasets, by default over the independent ones.

    Of the goal to restore are only datasets with something to undo, ``n`` of them. Intervals of gains over
    doing nothing, in the metric's unit, are Student's over datasets; those of ``_beyond`` are beyond
    ``refit_biased``, more than it gives back, or nearer than it is. Their p-values, ``_p``, are
    :func:`corrected`. Those of shares are by :func:`ratio_of_sums`. All intervals are of 95 %.
    ``degenerate`` counts datasets (:func:`degenerate`).
    """
    datasets = tuple(independent()) if datasets is None else datasets
    rows, tested = {}, defaultdict[str, dict[str, Array]](dict)
    for technique, baseline in baselines().items():
        some = to_restore(datasets, beta, baseline)
        fine = without_degenerate(technique, datasets, beta)
        row: dict[str, float] = {"n": len(some), "degenerate": len(datasets) - len(fine)}
        for goal, among in zip(GOALS, (some, datasets), strict=True):
            values = means(GOAL_METRICS[goal], distance=goal == EQUALIZE)
            row[goal] = float(np.mean([values[name, beta, technique] for name in among]))
            tested[f"{goal}_gain"][technique] = gains(goal, technique, beta, among)
        for metric in (GOAL_METRICS[RESTORE], *SHARES):
            told = restoration().loc[metric].loc[[(name, beta, technique) for name in some]]
            for column in ("value", "refit_clean", "refit_biased"):
                row[f"{metric}_{column}"] = told[column].mean()
            sign = -1 if metric == GOAL_METRICS[RESTORE] else 1  # nearer is better
            tested[f"{metric}_beyond"][technique] = sign * beyond_refit(metric, technique, beta, some)
        planted, original, planted_gone, original_gone = differences(technique, beta, datasets)
        parts = {"planted": (planted_gone, planted), "original": (original_gone, original)}
        if technique != baseline:
            parts["per_point"] = original_gone, planted_gone
        for name, sums in parts.items():
            row[name], row[f"{name}_low"], row[f"{name}_high"] = ratio_of_sums(*sums)
        rows[technique] = row
    told = pd.DataFrame.from_dict(rows, orient="index")
    for name, values in tested.items():
        ends = [student_estimate(values[technique]) for technique in told.index]
        told[[name, f"{name}_low", f"{name}_high"]] = ends
        told[f"{name}_p"] = corrected(values)
    return told


def shown(told: pd.DataFrame, name: str) -> list[str]:
    """Return the techniques of which a number of :func:`pooled` is shown to be above 0."""
    return [
        one for one in nearest_first(told) if told.loc[one, name] > 0 and told.loc[one, f"{name}_p"] <= ALPHA
    ]


def agreement_p() -> pd.Series:
    """Return the corrected p-values of gains in agreement with the clean model."""
    values, gained = means(AGREEMENT), {}
    for name, baseline in baselines().items():
        some = to_restore(independent(), LEVEL, baseline)
        gained[name] = np.array([values[of, LEVEL, name] - values[of, LEVEL, baseline] for of in some])
    return corrected(gained)


def evened_out_anyway() -> list[str]:
    """Return the techniques that are shown to lower discrimination where they are not degenerate."""
    fall = {
        name: gains(EQUALIZE, name, LEVEL, without_degenerate(name, independent())) for name in techniques()
    }
    p = corrected(fall)
    return [name for name, values in fall.items() if values.mean() > 0 and p[name] <= ALPHA]


@cache
def named_singly() -> pd.DataFrame:
    """Return what the run's report names to restore decisions on single independent datasets.

    Rows of its answers, at :data:`LEVEL`: the technique that comes nearest, by dataset and learner.
    """
    answers = folder_statistics(FOLDER, metrics=[*GOAL_METRICS.values(), ACCURACY]).answers
    own = (answers["goal"] == RESTORE) & (answers["level"] == LEVEL) & answers["dataset"].isin(independent())
    nearest = answers["choice"].str.split().map(lambda words: LEAST in words)
    return answers[own & nearest & (answers["verdict"] == "helps")]


def deprived_among_losers() -> pd.Series:
    """Return which share the deprived group has of those whom the bias cost acceptance, by dataset."""
    assert run().decisions is not None
    decisions = by_learner(run().decisions)
    some = to_restore(independent(), LEVEL, "none")
    here = (
        (decisions["level"] == LEVEL) & (decisions["technique"] == "none") & decisions["dataset"].isin(some)
    )
    people = decisions[here].groupby("dataset", sort=False)[list(DECISION_COUNTS)].sum()
    counts = share_counts(people.to_numpy())
    return pd.Series(counts["given_back_deprived"][1] / counts["given_back"][1], index=people.index)


@cache
def rates() -> pd.DataFrame:
    """Return true positive rates of each group by dataset, level and technique, means over splits.

    Columns ``deprived`` and ``favored`` of the technique, ``clean_deprived`` and ``clean_favored``.
    """
    assert run().decisions is not None
    decisions = by_learner(run().decisions)
    columns = {}
    for group in ("deprived", "favored"):
        qualified = decisions.filter(regex=f"^{group}_1...$")
        everybody = qualified.sum(axis=1)
        columns[group] = qualified.filter(regex="1$").sum(axis=1) / everybody
        columns[f"clean_{group}"] = qualified.filter(regex="_11..$").sum(axis=1) / everybody
    return pd.DataFrame(columns).groupby([decisions[name] for name in _PLACE], sort=False).mean()


def pairs(datasets: Sequence[str], beta: float = LEVEL, *, own_baseline: bool = True) -> pd.DataFrame:
    """Return what each technique brings back on each dataset of what the bias changed, as measured.

    Columns ``dataset``, ``technique``; ``gap`` and ``accuracy``, shares of the changes of the baseline's
    signed discrimination and accuracy; ``distance``, that to the clean model, and ``nothing``, the
    baseline's; ``deprived`` and ``favored``, how far the true positive rate is below the clean model's. The
    baseline is that of the technique, or no technique with C4.5.
    """
    metrics = GOAL_METRICS[EQUALIZE], "accuracy", GOAL_METRICS[RESTORE]
    signed, accuracy, distances = (means(metric) for metric in metrics)
    rows = []
    for dataset in datasets:
        for technique in techniques():
            baseline = baselines()[technique] if own_baseline else "none"
            here, before, after = (
                (dataset, beta, technique),
                (dataset, 0.0, baseline),
                (dataset, beta, baseline),
            )
            shares = [(of[after] - of[here]) / (of[after] - of[before]) for of in (signed, accuracy)]
            rate = rates().loc[here]
            below = [rate[f"clean_{group}"] - rate[group] for group in ("deprived", "favored")]
            rows.append((dataset, technique, *shares, distances[here], distances[after], *below))
    names = ("dataset", "technique", "gap", "accuracy", "distance", "nothing", "deprived", "favored")
    return pd.DataFrame(rows, columns=names)


def comparable_pairs() -> pd.DataFrame:
    """Return the pairs with something to undo in which the technique is not degenerate."""
    every = pairs(independent())
    kept = [
        effects()[dataset, LEVEL, baselines()[technique]] == "" and (dataset, technique) not in degenerate()
        for dataset, technique in zip(every["dataset"], every["technique"], strict=True)
    ]
    return every[kept]


def closed(table_of_pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that close .8 to 1.2 of the gap that the bias has opened."""
    return table_of_pairs[table_of_pairs["gap"].between(0.8, 1.2)]


def of_groups(row: pd.Series, share: str, kind: str = "value", star: str = "") -> str:
    """Return a share of everybody, of the deprived and of the favored group."""
    groups = (row[f"{share}_{group}_{kind}"] for group in ("deprived", "favored"))
    told = " / ".join("–" if np.isnan(value) else two(value) for value in groups)
    return f"{two(row[f'{share}_{kind}'])}{star} ({told})"


def with_ends(row: pd.Series, name: str, write: Callable[[float], str]) -> str:
    """Return a number of a row with its interval."""
    return f"{write(row[name])} [{write(row[f'{name}_low'])}, {write(row[f'{name}_high'])}]"


def star(row: pd.Series, name: str) -> str:
    """Return the mark of a number that is shown to differ from 0."""
    return " \\*" if row[f"{name}_p"] <= ALPHA else ""


def row_of(technique: str, row: pd.Series, n: int, *, long: bool) -> list[str]:
    """Return a technique's row of the table of both goals."""
    means_of = [three(row[goal]) for goal in GOALS]
    if technique not in techniques():
        learner = f", prejudice remover's learner (its own {row['n']:.0f} datasets)"
        name = "doing nothing" + (learner if technique != "none" else "")
        return [name, means_of[0], "", "", "", "", means_of[1], *[""] * (4 if long else 3)]
    names = ("restore_gain", f"{GOAL_METRICS[RESTORE]}_beyond", "equalize_gain")
    nearer, beyond, less = (with_ends(row, name, three) + star(row, name) for name in names)
    gone = [with_ends(row, name, two) for name in ("planted", "original")]
    given_back = of_groups(row, "given_back", star=star(row, "given_back_beyond"))
    cells = [f"`{technique}`", means_of[0], nearer, beyond, given_back, of_groups(row, "paid"), means_of[1]]
    return [*cells, *([less] if long else []), *gone, f"{row['degenerate']:.0f} of {n}"]


def goals_table(beta: float, datasets: tuple[str, ...] | None = None, *, long: bool = False) -> str:
    """Return the table of both goals, what comes nearest to the clean model first of each learner."""
    told, nothing = pooled(beta, datasets), pooled(beta, datasets).loc["none"]
    head = ["", "distance", "nearer than doing nothing", "nearer than `refit_biased`"]
    head += ["given back (deprived / favored)", "paid (deprived / favored)"]
    head += ["mean abs. discrimination", *(["less than doing nothing"] if long else [])]
    head += ["planted part removed", "original part removed", "degenerate on"]
    empty = [""] * (5 if long else 4)
    refits = []
    for kind in ("refit_clean", "refit_biased"):
        shares = [of_groups(nothing, share, kind) for share in ("given_back", "paid")]
        gain = refit_gain(nothing) if kind == "refit_biased" else ""
        distance = three(nothing[f"{GOAL_METRICS[RESTORE]}_{kind}"])
        refits.append([f"`{kind}`", distance, gain, "", *shares, *empty])
    n = len(independent() if datasets is None else datasets)
    rows = [row_of(name, told.loc[name], n, long=long) for name in nearest_first(told, with_baselines=True)]
    return table(head, [*refits, *rows])


def refit_gain(nothing: pd.Series) -> str:
    """Return how much nearer ``refit_biased`` is than doing nothing, of which a row of :func:`pooled` is."""
    value, high, low = (-nothing[f"{GOAL_METRICS[RESTORE]}_beyond{end}"] for end in ("", "_low", "_high"))
    return f"{three(value)} [{three(low)}, {three(high)}]"


def nearest_first(told: pd.DataFrame, *, with_baselines: bool = False) -> list[str]:
    """Return the techniques by their mean distance to the clean model, those with C4.5 first.

    Those of another learner have other datasets with something to undo, which no order should mix. Each
    learner's techniques can stand behind their baseline.
    """
    order = told[RESTORE].sort_values(kind="stable").index
    learners = [name for name in told.index if name not in techniques()]
    return [
        name
        for baseline in sorted(learners, key=lambda name: name != "none")
        for name in [
            *([baseline] if with_baselines else []),
            *(one for one in order if one != baseline and baselines()[one] == baseline),
        ]
    ]


def undo_rows() -> str:
    """Return of each dataset and level whether there is something to undo, and the distances that say so."""
    head = ["dataset", "β", "baseline", "to undo", "doing nothing", "`refit_clean`", "`refit_biased`"]
    head += ["discrimination at 0", "planted", "given back by `refit_clean`", "by `refit_biased`"]
    signed, rows = means(GOAL_METRICS[EQUALIZE]), []
    for (dataset, beta, baseline), reason in effects().items():
        told, people = (
            restoration().loc[(m, dataset, beta, baseline)] for m in (GOAL_METRICS[RESTORE], "given_back")
        )
        before = signed[dataset, 0.0, baseline]
        distances = [three(told[name]) for name in ("value", "refit_clean", "refit_biased")]
        moved = [three(before), three(signed[dataset, beta, baseline] - before)]
        shares = [two(people[name]) for name in ("refit_clean", "refit_biased")]
        words = reason.replace("_", " ") or "yes"
        rows.append([dataset, f"{beta:g}", f"`{baseline}`", words, *distances, *moved, *shares])
    return table(head, rows)


@cache
def findings() -> tuple[str, str]:
    """Return the page of findings, and what NUMBERS.md says besides.

    ``studies/suite/test_suite.py`` holds what the words say.
    """
    told, datasets = pooled(), independent()
    some = to_restore(datasets, LEVEL, "none")
    given, less = shown(told, "given_back_beyond"), shown(told, "equalize_gain")
    no_nearer = [name for name in given if told.loc[name, "restore_gain"] <= 0]
    costly = shown(told, "paid_favored_beyond")
    alike = len(some) - len(without_degenerate("equalized_odds", some))
    near, every = closed(comparable_pairs()), comparable_pairs()
    losers, singly = deprived_among_losers(), named_singly()
    places = {
        name: named([*singly.loc[singly["technique"] == name, "dataset"]])
        for name in singly.sort_values("improvement", ascending=False)["technique"].unique()
    }
    best = singly.loc[singly["improvement"].idxmax()]
    cases = sum(len(to_restore(datasets, LEVEL, name)) for name in set(baselines()))

    def percent(technique: str, name: str) -> str:
        return f"{100 * told.loc[technique, name]:.0f} %"

    introduction = (
        f"**Over {WORDS[len(some)]} datasets at β = {LEVEL:g}, {WORDS[len(given)]} of eleven techniques are "
        f"shown to give back more than chance does.** {WORDS[len(no_nearer)].capitalize()} of these, "
        f"{named(no_nearer)}, end on average no nearer to the clean model than doing nothing. Over datasets, "
        f"none is shown to come nearer; on single ones some are, such as `{best['technique']}` on "
        f"`{best['dataset']}`. {WORDS[len(less)].capitalize()} are shown to even out acceptance, "
        "`equalized_odds` by answering nearly everybody alike on "
        f"{told.loc['equalized_odds', 'degenerate']:.0f} of {len(datasets)} datasets."
    )
    people = [
        f"**Who gets it back?** Of those whom the bias cost acceptance, {100 * losers.mean():.0f} % are "
        "deprived, on average. Reweighing accepts "
        f"{percent('reweighing', 'given_back_deprived_value')} of these, a refit of biased rows "
        f"(`refit_biased`) {percent('none', 'given_back_deprived_refit_biased')} by chance, a refit of clean "
        f"rows {percent('none', 'given_back_deprived_refit_clean')}.",
        "**Who pays?** The favored, mostly. Of those accepted with and without bias, reweighing refuses "
        f"{percent('reweighing', 'paid_favored_value')}, `refit_biased` "
        f"{percent('none', 'paid_favored_refit_biased')}. {named(costly)} are shown to refuse more.",
    ]
    more = [
        "**Who else?** Of those whom the clean model refuses, doing nothing accepts "
        f"{percent('none', 'in_their_place_value')}, reject option "
        f"{percent('reject_option', 'in_their_place_value')}. Equalized odds accepts "
        f"{percent('equalized_odds', 'in_their_place_value')}, because it answers nearly everybody alike on "
        f"{WORDS[alike]} of the {WORDS[len(some)]} datasets.",
        f"**On single datasets** the report names a technique to restore decisions in {len(singly)} of "
        f"{cases} cases of dataset and learner: "
        f"{'; '.join(f'`{name}` on {where}' for name, where in places.items())}.",
    ]
    how, which = reading(told)
    not_shown, aside = limits(told, near, every)
    title = "Who gets back what a bias took, and who pays? Eleven techniques on fifteen datasets"
    picture = "![What techniques give back, cost and gain, dataset by dataset](figures/goals.png)"
    page = finding(title, introduction, picture, [goals_table(LEVEL)], [*people, how, *not_shown])
    return page, points([*more, which, *aside])


def reading(told: pd.DataFrame) -> list[str]:
    """Return how the table is read."""
    datasets = independent()
    planted, before, _, _ = differences("drop_sensitive", LEVEL, datasets)
    absent = {why: [name for name in datasets if effects()[name, LEVEL, "none"] == why] for why in REASONS}
    own, other = (set(to_restore(datasets, LEVEL, name)) for name in ("prejudice_remover_learner", "none"))
    return [
        f"**How to read it.** Label bias, real rows, C4.5, ten splits, {WORDS[len(datasets)]} independent "
        "datasets ([all](NUMBERS.md)). *Clean model*: the learner without planted bias. *Distance*: "
        "mean absolute difference to its error rates. *Given back*: accepted of those whom "
        "the bias cost acceptance. *Paid*: refused of those accepted with and without it. *Planted part*: of "
        f"the {100 * planted.mean():.1f} points that bias adds to the difference; *original*: of "
        f"{100 * before.mean():.1f} before. *Degenerate*: nearly all, or each group, answered alike. "
        "Intervals: each alone. \\*: shown to differ (given back: from `refit_biased`), Holm's p ≤ "
        f"{two(ALPHA)} over eleven.",
        f"**Which datasets.** Distance, given back and paid leave out {named(absent[NOTHING_TO_UNDO])} "
        f"(nothing to undo), {named(absent[NO_EFFECT_SHOWN])} (no effect shown) and "
        f"{named(absent[NO_REFERENCE])} (no useful clean model). `prejudice_remover` stands apart: its "
        f"learner has {named(sorted(own - other))} in place of {named(sorted(other - own))}. With fewer than "
        f"{LEAST_PEOPLE} such people, given back of the favored leaves out "
        f"{named(without_people('given_back_favored'))}, paid of the deprived "
        f"{named(without_people('paid_deprived'))}.",
    ]


def without_people(share: str) -> list[str]:
    """Return the datasets of C4.5 with something to undo on which a share is of too few people."""
    some = to_restore(independent(), LEVEL, "none")
    told = restoration().loc[share].loc[[(name, LEVEL, "drop_sensitive") for name in some], "value"]
    return [name for name, value in zip(some, told, strict=True) if np.isnan(value)]


def limits(told: pd.DataFrame, near: pd.DataFrame, every: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return what the findings do not show, on their page and besides."""
    nothing, distance = told.loc["none"], GOAL_METRICS[RESTORE]
    least = smallest_gains()
    some_rows = told.loc[["drop_sensitive", "threshold_optimizer"]]
    point = [with_ends(row, "per_point", two) for _, row in some_rows.iterrows()]
    left = len(without_degenerate("equalized_odds", independent()))
    harmed = int((near["accuracy"] < 0).sum())
    not_shown = [
        f"**Not shown is not none.** A gain of {two(least.min())} (`{least.idxmin()}`), "
        f"{two(least.median())} (median) or {two(least.max())} (`{least.idxmax()}`) is found with "
        "80 % power.",
        f"**A closed gap is not a restored decision.** Of {len(every)} pairs of dataset and technique, "
        f"without degenerate ones, {len(near)} close .8 to 1.2 of the planted gap. Half of these bring back "
        f"less than {two(near['accuracy'].median())} of the lost accuracy; {WORDS[harmed]} loses still more.",
        "**What would change our mind.** A gain in distance that is shown with more datasets, learners or "
        "kinds of bias.",
    ]
    aside = [
        f"**The largest gain in distance** is {largest_gain(told)}.",
        f"**Chance comes nearer, too.** `refit_biased` ({three(nothing[f'{distance}_refit_biased'])}) is "
        f"nearer than doing nothing ({three(nothing[RESTORE])}) by {refit_gain(nothing)}, which is not "
        "shown. None is shown to be nearer than `refit_biased`.",
        f"**Evened out.** Where they are not degenerate, {WORDS[len(evened_out_anyway())]} are still shown "
        f"to even out acceptance. `equalized_odds` is left with {WORDS[left]} datasets, too few to tell.",
        f"**What else goes.** Original points per planted one: `drop_sensitive` {point[0]}, "
        f"`threshold_optimizer` {point[1]}.",
    ]
    return not_shown, aside


def largest_gain(told: pd.DataFrame) -> str:
    """Return the largest gain in distance over doing nothing, its technique and its corrected p-value."""
    name = told.loc[techniques(), "restore_gain"].idxmax()
    row = told.loc[name]
    return f"{with_ends(row, 'restore_gain', three)}, of `{name}` (corrected p {two(row['restore_gain_p'])})"


def smallest_gains() -> pd.Series:
    """Return the mean gain in distance that each technique's datasets show with 80 % power, all at once."""
    least = {}
    for name in techniques():
        gained = gains(RESTORE, name, LEVEL, to_restore(independent(), LEVEL, baselines()[name]))
        least[name] = smallest_difference(gained, n_tests=len(techniques()))
    return pd.Series(least)


def claims() -> str:
    """Return the page of claims, with those that rest on this run."""
    told = pooled()
    given, less = shown(told, "given_back_beyond"), shown(told, "equalize_gain")
    near, every = closed(comparable_pairs()), comparable_pairs()
    lowest, highest = (three(told.loc[less, "equalize_gain"].agg(kind)) for kind in ("min", "max"))
    widths = {
        goal: (told[f"{goal}_gain_high"] - told[f"{goal}_gain_low"]).loc[techniques()] / 2 for goal in GOALS
    }

    def smallest(goal: str, names: Sequence[str]) -> tuple[str, str]:
        """Return the least and the largest half of an interval, and these intervals."""
        ends = [getattr(widths[goal].loc[list(names)], which)() for which in ("idxmin", "idxmax")]
        halves = " to ".join(two(widths[goal][name]) for name in ends)
        told_of = [f"{with_ends(told.loc[name], f'{goal}_gain', three)} of `{name}`" for name in ends]
        return halves, " and ".join(told_of)

    evened, nearer = smallest(EQUALIZE, less), smallest(RESTORE, techniques())
    harmed, least = WORDS[int((near["accuracy"] < 0).sum())], smallest_gains()
    told_claims = {
        "Most techniques even out acceptance under strong label bias": {
            "Claim": f"At β = {LEVEL:g}, {WORDS[len(less)]} of eleven lower discrimination, by {lowest} to "
            f"{highest} ([suite](../results/suite/FINDINGS.md), [numbers](../results/suite/NUMBERS.md)). One "
            "of these, `equalized_odds`, does so by answering nearly everybody alike on "
            f"{told.loc['equalized_odds', 'degenerate']:.0f} of {len(independent())} datasets.",
            "Estimand": "The mean fall in absolute discrimination against doing nothing, over eleven "
            "independent datasets.",
            "Design": "Label bias in real rows, C4.5, ten splits, original test labels. Intervals are for "
            f"one technique alone; shown is p of at most {two(ALPHA)} with "
            "[Holm's correction](statistics.md#several-comparisons-at-once) over eleven.",
            "Smallest difference": f"{evened[0]}: falls of {evened[1]}.",
            "What would change our mind": "Falls that are not shown on further independent datasets, or "
            "with another learner.",
        },
        "Some give back what the bias took; over datasets none is shown to restore decisions": {
            "Claim": f"At β = {LEVEL:g}, {WORDS[len(given)]} give back more of what the bias took than "
            "chance does. Over datasets, none is shown to come nearer to the clean model; on single datasets "
            f"some are ([suite](../results/suite/FINDINGS.md)). A closed gap is no proof. Of {len(every)} "
            f"pairs that are not degenerate, {len(near)} close .8 to 1.2 of the planted gap. Half of these "
            f"bring back less than {two(near['accuracy'].median())} of the lost accuracy; {harmed} loses "
            "still more.",
            "Estimands": "The share given back beyond a refit, and the gain in "
            "[distance](statistics.md#restored-or-only-evened-out).",
            "Design": "As above, on the eight datasets with something to undo and a useful clean model: "
            "the same learner without bias.",
            "Smallest difference": f"{nearer[0]}: gains in distance of {nearer[1]}. The largest gain is "
            f"{largest_gain(told)}. With 80 % power, gains of {two(least.min())} to {two(least.max())} are "
            "shown in spite of the correction.",
            "What would change our mind": "A gain that is shown with more datasets, learners or kinds of "
            "bias.",
        },
    }
    return with_claims("suite", told_claims)


def numbers() -> str:
    """Return all tables as a page."""
    everything = tuple(run().results["dataset"].unique())
    every = closed(pairs(moved(), own_baseline=False))
    brought = every["accuracy"].quantile([0.25, 0.5, 0.75])
    alike = degenerate() & set(zip(every["dataset"], every["technique"], strict=True))
    blocks = ["# Both goals over fifteen datasets", fill(_INTRODUCTION, 125)]
    for datasets in (None, everything):
        for beta in (0.2, LEVEL):
            n = len(independent() if datasets is None else datasets)
            told = pooled(beta, datasets)
            some, other = (told.loc[name, "n"] for name in ("none", "prejudice_remover"))
            blocks.append(f"## β = {beta:g}, {n} datasets")
            blocks.append(
                f"Distance, given back and paid: of {some:.0f} datasets, and of {other:.0f} for the "
                "prejudice remover."
            )
            blocks.append(goals_table(beta, datasets, long=True))
    blocks += [
        f"## Besides the findings, β = {LEVEL:g}",
        findings()[1],
        f"## Where it holds, β = {LEVEL:g}",
        fill(_WHERE, 125),
        "![Gain of dropping the group, dataset by dataset](figures/sources.png)",
        where_it_holds(),
        "## Is there something to undo?",
        undo_rows(),
        f"## Distance to the clean model, β = {LEVEL:g}",
    ]
    distances = means(GOAL_METRICS[RESTORE]).xs(LEVEL, level="level").unstack("technique")
    names = [*techniques(), *(name for name in baselines().index if name not in techniques())]
    rows = [[dataset, *(three(row[name]) for name in names)] for dataset, row in distances.iterrows()]
    blocks += [table(["dataset", *names], rows), "## Closed gaps and lost accuracy"]
    blocks.append(
        fill(
            f"At β = {LEVEL:g} label bias moves the discrimination of C4.5 by more than .1 on {len(moved())} "
            "datasets, besides two that share rows with others. With ten techniques (repair closes no gap) "
            f"there are {10 * len(moved())} pairs. {len(every)} of them close .8 to 1.2 of the planted gap, "
            f"{len(alike)} of these degenerate ones. Of the accuracy that the bias took they bring back "
            f"{two(every['accuracy'].min())} to {two(every['accuracy'].max())}, with the quartiles "
            f"{', '.join(two(quartile) for quartile in brought)}. The true positive rate of the deprived "
            f"group is up to {100 * every['deprived'].max():.0f} points below the clean model's. Here all "
            "techniques are compared with C4.5 without one.",
            125,
        )
    )
    return "\n\n".join(blocks) + "\n"


def moved() -> list[str]:
    """Return the datasets moved by more than .1 in discrimination, one of each source."""
    signed = means(GOAL_METRICS[EQUALIZE])
    return [name for name in one_of_each() if signed[name, LEVEL, "none"] - signed[name, 0.0, "none"] > 0.1]


def draw() -> bytes:
    """Draw what each technique gives back, takes and gains, a dot for each dataset."""
    told, datasets = pooled(), independent()
    order = nearest_first(told)
    titles = {t.name: t.title for t in run().manifest.techniques}
    labels = RowLabels([titles[name] for name in order])
    beyond = {
        "given back": lambda name, some: beyond_refit("given_back", name, LEVEL, some),
        "paid by the favored": lambda name, some: beyond_refit("paid_favored", name, LEVEL, some),
    }
    gained = {goal: lambda name, some, goal=goal: gains(goal, name, LEVEL, some) for goal in GOALS}
    with style.styled():
        page = Page(
            4,
            4,
            panel=(1.6, 0.19 * len(order)),
            title="Who gets back what a bias took, and who pays?",
            subtitle=f"Differences at β = {LEVEL:g}, a dot for each dataset: the first two to a refit of "
            "biased rows, which is chance, the others to doing nothing. Bars: means with 95 % intervals over "
            "datasets, for each technique alone.",
            notes=[
                "The first three: datasets with something to undo, which are others for the prejudice "
                "remover. The last: eleven independent datasets, degenerate too."
            ],
            panel_titles=[*beyond, "nearer to clean model", "less discrimination"],
        )
        for axes, (panel, of) in zip(page.panels, {**beyond, **gained}.items(), strict=True):
            axes.axvline(0, **style.RULE)
            for row, name in enumerate(order):
                some = datasets if panel == EQUALIZE else to_restore(datasets, LEVEL, baselines()[name])
                values = of(name, some)
                mean, *ends = student_estimate(values)
                axes.scatter(values, [row] * len(values), s=12, color=style.BLUE, alpha=0.6, lw=0, zorder=2)
                axes.plot(ends, [row, row], color="black", lw=1.2, zorder=3)
                axes.scatter([mean], [row], s=26, color="black", marker="|", zorder=4)
            labels.write(axes, named=axes is page.panels[0])
    return style.render(page.fit(), "png")


FILES: Files = {
    NUMBERS: numbers,
    FINDINGS: lambda: findings()[0],
    CLAIMS: claims,
    FIGURE: draw,
    SOURCES: draw_where_it_holds,
}
