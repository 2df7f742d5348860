"""What the run ``suite`` says of techniques over datasets, for both goals: its numbers and figure.

``python -m tools.suite`` writes ``results/suite/NUMBERS.md``, the computed parts of ``FINDINGS.md`` and the
figure anew from the committed values; ``tests/tools/test_suite.py`` holds them.

The unit is the dataset: each counts once, by its value over all splits. Degenerate models count as measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmark.columns import DECISION_COUNTS, EQUALISE, GOAL_METRICS, GOALS, RESTORE
from benchmark.figures import style
from benchmark.figures.style import Page, RowLabels
from benchmark.runs.baselines import baselines_of
from benchmark.runs.finished import RunFrames, read_frames
from benchmark.statistics.decisions import AGREEMENT, SHARES, share_counts
from benchmark.statistics.intervals import CONFIDENCE, student_intervals
from benchmark.statistics.restoration import NO_REFERENCE, NOTHING_TO_UNDO, restoration_table, undo_table
from benchmark.text.files import write_atomically
from benchmark.text.markdown import table

FOLDER = Path(__file__).resolve().parents[1] / "results" / "suite"
FINDINGS, NUMBERS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "NUMBERS.md", FOLDER / "figures" / "goals.png"
DEPENDENT = ("compas_violent", "student_mat", "attrition", "ricci")
"""A part of compas, pupils of student_por, a file made up by its publisher, a formula on 118 rows."""

LEVEL = 0.4
POWER = 0.8
RESAMPLES = 10_000
REASONS = (NOTHING_TO_UNDO, NO_REFERENCE)
WORDS = {3: "three", 6: "six", 8: "eight", 9: "nine", 10: "ten", 11: "eleven"}
_PLACE = ["dataset", "beta", "technique"]
_INTRODUCTION = (
    "Written by `python -m tools.suite` from the committed values; [the findings](FINDINGS.md) say what "
    "the columns are and what follows. Each dataset counts once, by its value over ten splits; degenerate "
    "models count as measured. Distance, given back and paid are of datasets with something to undo. "
    "Intervals of differences are Student's over datasets, and hold for eleven techniques at once "
    "(Bonferroni). Shares removed are ratios of sums over datasets, with 95 % intervals from 10,000 "
    "resamples of datasets. A negative share adds to the difference. \\*: given back beyond `refit_biased` "
    "by such an interval. In brackets: of the deprived / of the favored group, over the datasets with at "
    "least 10 such people. *Degenerate on*: nearly everybody, or each group, is answered alike in more than "
    "half of the splits."
)

Array = NDArray[np.float64]


@cache
def run() -> RunFrames:
    """Return the committed run."""
    return read_frames(FOLDER)


@cache
def baselines() -> pd.Series:
    """Return the baseline of each technique that is no reference row; a baseline is its own."""
    cells = run().of_techniques.results.drop_duplicates("technique")
    names = baselines_of(run().manifest, run().results, None).column(cells)
    names.index = cells["technique"]
    return names.where(names != "", names.index.to_series())


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
    told = restoration_table(frames.decisions, frames.results, against, frames.resampling, refits)
    return told.set_index(["metric", *_PLACE])


@cache
def undo() -> pd.Series:
    """Return why there is nothing to undo, by dataset, level and baseline; empty where there is something."""
    frames = run()
    against = baselines_of(frames.manifest, frames.results, None)
    refits = frames.manifest.refits_of
    told = undo_table(frames.results, against, frames.standing, frames.resampling, refits)
    return told.set_index(["dataset", "beta", "baseline"])["undo"]


@cache
def means(metric: str, *, distance: bool = False) -> pd.Series:
    """Return means over splits, of values or of their distances to 0, by dataset, level and technique."""
    results = run().results
    results = results[results["metric"] == metric]
    values = results["value"].abs() if distance else results["value"]
    return values.groupby([results[name] for name in _PLACE], sort=False).mean()


@cache
def independent() -> list[str]:
    """Return the datasets without :data:`DEPENDENT`."""
    return [name for name in run().results["dataset"].unique() if name not in DEPENDENT]


def to_restore(datasets: Sequence[str], beta: float, baseline: str) -> list[str]:
    """Return the datasets on which the level has done something to a baseline that could be undone."""
    return [name for name in datasets if undo()[name, beta, baseline] == ""]


def ratio_of_sums(upper: Array, lower: Array) -> tuple[float, float, float]:
    """Return a ratio of sums over datasets with its interval of 95 %, from resampled datasets."""
    drawn = np.random.default_rng(0).integers(len(upper), size=(RESAMPLES, len(upper)))
    low, high = np.quantile(upper[drawn].sum(axis=1) / lower[drawn].sum(axis=1), [0.025, 0.975])
    return float(upper.sum() / lower.sum()), float(low), float(high)


def smallest_difference(sd: float, n: int, comparisons: int = 1) -> float:
    """Return the mean difference that n datasets show with 80 % power, by paired tests at 5 % together."""
    quantile = student.ppf(1 - 0.025 / comparisons, n - 1)
    return float((quantile + student.ppf(POWER, n - 1)) * sd / np.sqrt(n))


def gains(goal: str, technique: str, beta: float, datasets: Sequence[str]) -> Array:
    """Return by how much a technique is nearer to a goal than its baseline on each dataset."""
    values = means(GOAL_METRICS[goal], distance=goal == EQUALISE)
    baseline = baselines()[technique]
    return np.array([values[name, beta, baseline] - values[name, beta, technique] for name in datasets])


def differences(technique: str, beta: float, datasets: Sequence[str]) -> tuple[Array, Array, Array, Array]:
    """Return planted and original differences of the baseline, and what a technique removes of them."""
    signed, baseline = means(GOAL_METRICS[EQUALISE]), baselines()[technique]
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
    doing nothing, in the metric's unit, are Student's over datasets and hold for all techniques at once
    (Bonferroni). Those of shares are of 95 %, by :func:`ratio_of_sums`. ``degenerate`` counts datasets on
    which a technique answers nearly everybody, or each group, alike in more than half of the splits.
    """
    datasets = tuple(independent()) if datasets is None else datasets
    standing, n_splits = run().standing, run().results["repetition"].nunique()
    mostly = standing[(standing["beta"] == beta) & (2 * standing["n_degenerate"] > n_splits)]
    mostly = mostly[mostly["dataset"].isin(datasets)]
    confidence = 1 - (1 - CONFIDENCE) / len(techniques())
    rows = {}
    for technique, baseline in baselines().items():
        some = to_restore(datasets, beta, baseline)
        row: dict[str, float] = {"n": len(some), "degenerate": (mostly["technique"] == technique).sum()}
        for goal, among in zip(GOALS, (some, datasets), strict=True):
            values = means(GOAL_METRICS[goal], distance=goal == EQUALISE)
            row[goal] = float(np.mean([values[name, beta, technique] for name in among]))
            gained = gains(goal, technique, beta, among)
            ends = student_intervals(gained[None, :], confidence)
            row[f"{goal}_gain"] = gained.mean()
            row[f"{goal}_low"], row[f"{goal}_high"] = (float(end[0]) for end in ends)
        for metric in (GOAL_METRICS[RESTORE], *SHARES):
            told = restoration().loc[metric].loc[[(name, beta, technique) for name in some]]
            for column in ("value", "refit_clean", "refit_biased"):
                row[f"{metric}_{column}"] = told[column].mean()
            beyond = (told["value"] - told["refit_biased"]).to_numpy()
            low, _ = student_intervals(beyond[None, :], confidence)
            row[f"{metric}_beyond_low"] = low[0]
        planted, original, planted_gone, original_gone = differences(technique, beta, datasets)
        parts = {"planted": (planted_gone, planted), "original": (original_gone, original)}
        if technique != baseline:
            parts["per_point"] = original_gone, planted_gone
        for name, sums in parts.items():
            row[name], row[f"{name}_low"], row[f"{name}_high"] = ratio_of_sums(*sums)
        rows[technique] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def more_agreement(technique: str) -> tuple[float, float]:
    """Return the interval of the gain in agreement with the clean model, for all techniques at once."""
    values, baseline = means(AGREEMENT), baselines()[technique]
    some = to_restore(independent(), LEVEL, baseline)
    gained = np.array([values[name, LEVEL, technique] - values[name, LEVEL, baseline] for name in some])
    low, high = student_intervals(gained[None, :], 1 - (1 - CONFIDENCE) / len(techniques()))
    return float(low[0]), float(high[0])


def deprived_among_losers() -> pd.Series:
    """Return which share the deprived group has of those whom the bias cost acceptance, by dataset."""
    decisions = run().decisions
    assert decisions is not None
    some = to_restore(independent(), LEVEL, "none")
    here = (decisions["beta"] == LEVEL) & (decisions["technique"] == "none") & decisions["dataset"].isin(some)
    people = decisions[here].groupby("dataset", sort=False)[list(DECISION_COUNTS)].sum()
    counts = share_counts(people.to_numpy())
    return pd.Series(counts["given_back_deprived"][1] / counts["given_back"][1], index=people.index)


@cache
def rates() -> pd.DataFrame:
    """Return true positive rates of each group by dataset, level and technique, means over splits.

    Columns ``deprived`` and ``favored`` of the technique, ``clean_deprived`` and ``clean_favored``.
    """
    decisions = run().decisions
    assert decisions is not None
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
    metrics = GOAL_METRICS[EQUALISE], "accuracy", GOAL_METRICS[RESTORE]
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


def closed(table_of_pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that close .8 to 1.2 of the gap that the bias has opened."""
    return table_of_pairs[table_of_pairs["gap"].between(0.8, 1.2)]


def three(value: float) -> str:
    """Return a number below 1 without the 0 before the point."""
    return f"{value:.3f}".replace("0.", ".", 1)


def two(value: float) -> str:
    """Return a share with two digits."""
    return f"{value:.2f}".replace("0.", ".", 1)


def of_groups(row: pd.Series, share: str, kind: str = "value", star: str = "") -> str:
    """Return a share of everybody, of the deprived and of the favored group."""
    groups = (row[f"{share}_{group}_{kind}"] for group in ("deprived", "favored"))
    told = " / ".join("–" if np.isnan(value) else two(value) for value in groups)
    return f"{two(row[f'{share}_{kind}'])}{star} ({told})"


def with_ends(row: pd.Series, name: str, prefix: str, write: Callable[[float], str]) -> str:
    """Return a number of a row with its interval."""
    return f"{write(row[name])} [{write(row[f'{prefix}_low'])}, {write(row[f'{prefix}_high'])}]"


def row_of(technique: str, row: pd.Series, n: int, *, long: bool) -> list[str]:
    """Return a technique's row of the table of both goals."""
    means_of = [three(row[goal]) for goal in GOALS]
    if technique not in techniques():
        learner = f", prejudice remover's learner (its own {row['n']:.0f} datasets)"
        name = "doing nothing" + (learner if technique != "none" else "")
        return [name, means_of[0], "", "", "", means_of[1], *[""] * (4 if long else 3)]
    gain = [with_ends(row, f"{goal}_gain", goal, three) for goal in GOALS]
    gone = [with_ends(row, name, name, two) for name in ("planted", "original")]
    star = " \\*" if row["given_back_beyond_low"] > 0 else ""
    people = [of_groups(row, "given_back", star=star), of_groups(row, "paid")]
    degenerate = f"{row['degenerate']:.0f} of {n}"
    cells = [f"`{technique}`", means_of[0], gain[0], *people, means_of[1]]
    return [*cells, *gain[1 : 1 + long], *gone, degenerate]


def goals_table(beta: float, datasets: tuple[str, ...] | None = None, *, long: bool = False) -> str:
    """Return the table of both goals, what comes nearest to the clean model first."""
    told, nothing = pooled(beta, datasets), pooled(beta, datasets).loc["none"]
    head = ["", "distance", "nearer than doing nothing", "given back", "paid", "mean abs. discrimination"]
    head += ["less than doing nothing"] if long else []
    head += ["planted part removed", "original part removed", "degenerate on"]
    empty = [""] * (5 if long else 4)
    refits = []
    for kind in ("refit_clean", "refit_biased"):
        shares = [of_groups(nothing, share, kind) for share in ("given_back", "paid")]
        refits.append([f"`{kind}`", three(nothing[f"{GOAL_METRICS[RESTORE]}_{kind}"]), "", *shares, *empty])
    order = [*(name for name in told.index if name not in techniques()), *nearest_first(told)]
    n = len(independent() if datasets is None else datasets)
    return table(head, [*refits, *(row_of(name, told.loc[name], n, long=long) for name in order)])


def nearest_first(told: pd.DataFrame) -> list[str]:
    """Return the techniques by their mean distance to the clean model."""
    return list(told.loc[techniques(), RESTORE].sort_values(kind="stable").index)


def undo_rows() -> str:
    """Return of each dataset and level whether there is something to undo, and the distances that say so."""
    head = ["dataset", "β", "baseline", "to undo", "doing nothing", "`refit_clean`", "`refit_biased`"]
    head += ["discrimination at 0", "planted", "given back by `refit_clean`", "by `refit_biased`"]
    signed, rows = means(GOAL_METRICS[EQUALISE]), []
    for (dataset, beta, baseline), reason in undo().items():
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


def named(names: Sequence[str]) -> str:
    """Return names as code, with commas and an "and"."""
    told = [f"`{name}`" for name in names]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def findings() -> str:
    """Return the page of findings; ``tests/tools/test_suite.py`` holds what its words say."""
    told, datasets = pooled(), independent()
    some = to_restore(datasets, LEVEL, "none")
    order = nearest_first(told)
    sd = [median_sd(among) for among in (some, datasets)]
    least = [
        three(smallest_difference(spread, len(among), len(order)))
        for spread, among in zip(sd, (some, datasets), strict=True)
    ]
    planted, before, _, _ = differences("drop_sensitive", LEVEL, datasets)
    every = pairs(some)
    near = closed(every)
    less = told.loc[order, "equalise_gain"][told.loc[order, "equalise_low"] > 0]
    absent = {why: [name for name in datasets if undo()[name, LEVEL, "none"] == why] for why in REASONS}
    some_rows = told.loc[["drop_sensitive", "threshold_optimizer"]]
    point = [with_ends(row, "per_point", "per_point", two) for _, row in some_rows.iterrows()]
    given = [name for name in order if told.loc[name, "given_back_beyond_low"] > 0]
    costly = [name for name in order if told.loc[name, "paid_favored_beyond_low"] > 0]
    losers = deprived_among_losers()

    def percent(technique: str, name: str) -> str:
        return f"{100 * told.loc[technique, name]:.0f} %"

    introduction = (
        f"**At β = {LEVEL:g}, {WORDS[len(given)]} of eleven techniques are shown to give back more of what "
        "the bias took than chance does. None is shown to decide more as the clean model does, in rates or "
        f"person by person. {WORDS[len(less)].capitalize()} are shown to make acceptance more equal.**"
    )
    people = [
        f"**Who gets it back?** {100 * losers.mean():.0f} % of those whom the bias cost acceptance are "
        f"deprived (on `adult` {100 * losers['adult']:.0f} %). Of these, reweighing accepts "
        f"{percent('reweighing', 'given_back_deprived_value')}. Training again on resampled biased rows "
        f"(`refit_biased`) accepts {percent('none', 'given_back_deprived_refit_biased')} by chance, "
        f"on clean rows {percent('none', 'given_back_deprived_refit_clean')}.",
        "**Who pays?** The favored, mostly: of those accepted with and without bias, reweighing refuses "
        f"{percent('reweighing', 'paid_favored_value')}, `refit_biased` "
        f"{percent('none', 'paid_favored_refit_biased')}. {named(costly)} are shown to refuse more.",
        "**Who else?** Of those whom the clean model refuses doing nothing accepts "
        f"{percent('none', 'in_their_place_value')}, reject option "
        f"{percent('reject_option', 'in_their_place_value')}, equalized odds "
        f"{percent('equalized_odds', 'in_their_place_value')}.",
    ]
    reading = [
        f"**How to read it.** Label bias in real rows, C4.5, ten splits, {WORDS[len(datasets)]} independent "
        "datasets ([all](NUMBERS.md)). *Clean model*: the same learner without planted bias. *Distance*: "
        "mean absolute difference to its true and false positive rates. *Given back*: accepted of those whom "
        "the bias cost acceptance; \\*: shown to exceed its learner's `refit_biased`. *Paid*: refused of "
        "those accepted with and without bias. Brackets: deprived / favored. These columns leave out "
        f"{named(absent[NOTHING_TO_UNDO])} (nothing to undo) and {named(absent[NO_REFERENCE])} (no "
        f"useful clean model). *Planted part*: of the {100 * planted.mean():.1f} points that bias adds to "
        f"the difference; *original*: of {100 * before.mean():.1f} before. Minus: added. *Degenerate*: "
        "nearly all, or each group, answered alike.",
        "**Not shown is not none.** To be shown with 80 % power, a gain in distance must be "
        f"{least[0]} ({len(some)} datasets) or {least[1]} ({len(datasets)}).",
        f"**What else goes.** Original points per planted one: `drop_sensitive` {point[0]}, "
        f"`threshold_optimizer` {point[1]}.",
        f"**A closed gap is not a restored decision.** {len(near)} of {len(every)} pairs of dataset and "
        "technique close .8 to 1.2 of the planted gap. They bring back "
        f"{two(near['accuracy'].min())} (a loss) to {two(near['accuracy'].max())} of the lost accuracy.",
    ]
    above, below = (
        "\n".join(fill(f"- {line}", 125, subsequent_indent="  ") for line in lines)
        for lines in (people, reading)
    )
    title = "# Who gets back what a bias took, and who pays? Eleven techniques on fifteen datasets"
    picture = "![Gains over doing nothing, dataset by dataset](figures/goals.png)"
    blocks = [title, fill(introduction, 125), above, goals_table(LEVEL), f"{below}\n  {picture}"]
    return "\n\n".join(blocks) + "\n"


def median_sd(datasets: Sequence[str]) -> float:
    """Return the standard deviation over datasets of gains in distance, the median over techniques."""
    return float(np.median([gains(RESTORE, name, LEVEL, datasets).std(ddof=1) for name in techniques()]))


def numbers() -> str:
    """Return all tables as a page."""
    everything = tuple(run().results["dataset"].unique())
    every = closed(pairs(moved(), own_baseline=False))
    brought = every["accuracy"].quantile([0.25, 0.5, 0.75])
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
        "## Is there something to undo?",
        undo_rows(),
        f"## Distance to the clean model, β = {LEVEL:g}",
    ]
    distances = means(GOAL_METRICS[RESTORE]).xs(LEVEL, level="beta").unstack("technique")
    names = [*techniques(), *(name for name in baselines().index if name not in techniques())]
    rows = [[dataset, *(three(row[name]) for name in names)] for dataset, row in distances.iterrows()]
    blocks += [table(["dataset", *names], rows), "## Closed gaps and lost accuracy"]
    blocks.append(
        fill(
            f"At β = {LEVEL:g} label bias moves the discrimination of C4.5 by more than .1 on "
            f"{len(moved())} datasets, besides two that share rows with others. With ten techniques (repair "
            f"closes no gap) there are {10 * len(moved())} pairs. {len(every)} of them close .8 to 1.2 of "
            "the planted gap. Of the accuracy that the bias took they bring back "
            f"{two(every['accuracy'].min())} to {two(every['accuracy'].max())}, with the quartiles "
            f"{', '.join(two(quartile) for quartile in brought)}. The true positive rate of the deprived "
            f"group is up to {100 * every['deprived'].max():.0f} points below the clean model's. Here all "
            "techniques are compared with C4.5 without one.",
            125,
        )
    )
    return "\n\n".join(blocks) + "\n"


def moved() -> list[str]:
    """Return the datasets moved by more than .1 in discrimination, without two that share rows."""
    signed = means(GOAL_METRICS[EQUALISE])
    names = [name for name in run().results["dataset"].unique() if name not in DEPENDENT[:2]]
    return [name for name in names if signed[name, LEVEL, "none"] - signed[name, 0.0, "none"] > 0.1]


def draw() -> bytes:
    """Draw what each technique gains over doing nothing for both goals, a dot for each dataset."""
    told, datasets = pooled(), independent()
    order = nearest_first(told)
    titles = {t.name: t.title for t in run().manifest.techniques}
    labels = RowLabels([[titles[name]] for name in order])
    with style.styled():
        page = Page(
            2,
            2,
            panel=(2.4, 0.19 * len(order)),
            title="Decisions restored, or acceptance evened out?",
            subtitle=f"Gain over doing nothing at β = {LEVEL:g}, a dot for each dataset. Bars: means with "
            "95 % intervals over datasets that hold for all eleven techniques.",
            notes=[
                "Left: datasets with something to undo. Right: eleven independent datasets, degenerate too."
            ],
            left=labels.width + 0.3,
            below=0.36,
            panel_titles=["nearer to the clean model's rates", "less mean absolute discrimination"],
        )
        for axes, goal in zip(page.axes, GOALS, strict=True):
            axes.axvline(0, **style.RULE)
            for row, name in enumerate(order):
                some = datasets if goal == EQUALISE else to_restore(datasets, LEVEL, baselines()[name])
                gained = gains(goal, name, LEVEL, some)
                axes.scatter(gained, [row] * len(gained), s=12, color=style.BLUE, alpha=0.6, lw=0, zorder=2)
                ends = [told.loc[name, f"{goal}_{end}"] for end in ("low", "high")]
                axes.plot(ends, [row, row], color="black", lw=1.2, zorder=3)
                axes.scatter(
                    [told.loc[name, f"{goal}_gain"]], [row], s=26, color="black", marker="|", zorder=4
                )
            labels.write(axes, named=goal == RESTORE)
    return style.render(page.figure, "png")


def main() -> None:
    """Write both pages and the figure."""
    write_atomically(NUMBERS, numbers().encode())
    write_atomically(FINDINGS, findings().encode())
    FIGURE.parent.mkdir(exist_ok=True)
    write_atomically(FIGURE, draw())


if __name__ == "__main__":
    main()
