"""What the run ``learners`` says: which conclusions about techniques survive a change of the learner.

``python -m studies learners`` writes ``results/learners/NUMBERS.md``, ``FINDINGS.md`` and the figure
anew from the committed values; ``studies/learners/test_learners.py`` holds them.

Doses that take nearly all there is on a dataset count nowhere but in the table of each pair.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pandas as pd

from benchmark.bias.doses import ACROSS
from benchmark.columns import EQUALIZE, GOAL_METRICS, RESTORE, UNTREATED
from benchmark.figures import style
from benchmark.figures.page import Page, RowLabels
from benchmark.metrics import list_metrics
from benchmark.runs.finished import read_frames
from benchmark.runs.verdicts import baselines_of, effects_of_bias
from benchmark.statistics.answers import unranked, without_degenerate
from benchmark.statistics.cells import to_cells
from benchmark.statistics.intervals import student_intervals
from benchmark.statistics.paired import paired_comparisons
from benchmark.text.markdown import table
from studies.agreement import classifier_agreement

__all__ = ["FOLDER", "agreement", "changes", "findings", "numbers", "shown_on", "tau_over_datasets"]
from studies.estimates import draw_estimate, signed, two
from studies.pages import Files, finding, named

FOLDER = Path(__file__).resolve().parents[2] / "results" / "learners"
FINDINGS, NUMBERS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "NUMBERS.md", FOLDER / "figures" / "tau.png"
LESS, NEARER = GOAL_METRICS[EQUALIZE], GOAL_METRICS[RESTORE]
METRICS = (LESS, NEARER, "accuracy", "overestimation", "underestimation")
SHORT = {
    "c45": "C4.5",
    "logistic_regression": "logistic",
    "naive_bayes": "Bayes",
    "random_forest": "forest",
    "gradient_boosting": "boosting",
}
FOUR = [name for name in SHORT if name != "naive_bayes"]
_INTRODUCTION = (
    "Written by `python -m studies learners` from the committed values; [the findings](FINDINGS.md) say what "
    "follows. Techniques that are degenerate in a sample, or lack a value, with one of both learners are "
    "left out of a pair. Distances to the clean model are ranked where there is something to undo. Tau: "
    "Kendall's tau-b of mean distances to the ideal, interval by drawing repetitions. Halves: the greater of "
    "both learners' tau between halves of their own repetitions. The other columns count techniques by "
    "whether the 95 % interval of their change against no technique, with the same learner, lies off 0: with "
    "both learners on the same side, on opposite sides, with one of them only, with neither."
)


run = cache(partial(read_frames, FOLDER))
"""Return the committed run, which is read once."""


def levels(metric: str) -> tuple[float, ...]:
    """Return the doses at which a metric is compared: nothing is restored at 0."""
    return tuple(dose for dose in run().manifest.levels if dose or metric != NEARER)


def _pooled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at doses that are pooled over datasets."""
    apart = [(dataset, dose) for dataset, _, dose in run().manifest.apart]
    return frame[~pd.MultiIndex.from_frame(frame[["dataset", "level"]]).isin(apart)]


def _across(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the doses that are pooled with each other, of datasets that reach all of them."""
    apart = {dataset for dataset, _, _ in run().manifest.apart}
    return frame[frame["level"].isin(ACROSS) & ~frame["dataset"].isin(apart)]


def learners() -> list[str]:
    """Return the learners that techniques take, in the run's order."""
    return [name for name in run().manifest.classifiers if name not in run().manifest.learners]


@cache
def _frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the agreement of learners two by two, and each technique's changes against its baseline."""
    effects, frames = effects_of_bias(run()), run().of_techniques
    results, standing, resampling = frames.results, frames.standing, frames.resampling
    baselines = baselines_of(frames.manifest, results, None)
    own = results[results["metric"].isin(METRICS)]
    own = own[(own["level"] > 0) | (own["metric"] != NEARER)].reset_index(drop=True)
    # A baseline is compared with unless it is mostly constant.
    spared = (standing["technique"] == baselines.column(standing)) & ~standing["mostly_constant"]
    cells = to_cells(without_degenerate(own, standing[~spared]), resampling)
    parts = [
        paired_comparisons(cells.take(rows), name, list_metrics(), learners=baselines.learners)
        for rows, name in baselines.parts(cells.keys)
    ]
    compared = pd.concat(parts, ignore_index=True)
    compared = compared[~unranked(compared, baselines, effects)]
    useful = to_cells(without_degenerate(own, standing), resampling)
    useful = useful.take(~unranked(useful.keys, baselines, effects))
    taking = useful.where(classifier=learners())
    distances = replace(taking, values=taking.distances(list_metrics()))
    found = classifier_agreement(distances, compared, learners())
    return found, compared


def agreement() -> pd.DataFrame:
    """Return :func:`~studies.agreement.classifier_agreement` of the run's learners."""
    return _frames()[0]


def changes() -> pd.DataFrame:
    """Return what each technique changes against its baseline, with the same learner or its own."""
    return _frames()[1]


def tau_over_datasets(metric: str, first: str, second: str, beta: float | None = None) -> tuple[float, ...]:
    """Return mean tau over the datasets with its interval, the mean of halves, and the number of datasets.

    Of one dose, or of those that are pooled with each other.
    """
    own = agreement()
    own = own[(own["metric"] == metric) & (own["first"] == first) & (own["second"] == second)]
    own = _across(own) if beta is None else _pooled(own[own["level"] == beta])
    means = own.groupby("dataset", sort=False)[["tau", "halves"]].mean().dropna()
    (low,), (high,) = student_intervals(means["tau"].to_numpy(dtype=float)[None, :])
    return float(means["tau"].mean()), float(low), float(high), float(means["halves"].mean()), len(means)


def shown_on(metric: str, beta: float, technique: str, classifiers: Collection[str]) -> tuple[int, int, int]:
    """Return on how many datasets a technique is better, worse, and compared at all, by its intervals."""
    own = _pooled(changes())
    own = own[(own["metric"] == metric) & (own["level"] == beta)]
    own = own[(own["technique"] == technique) & own["classifier"].isin(classifiers)]
    known = own["improvement_low"].notna()
    return int((own["improvement_low"] > 0).sum()), int((own["improvement_high"] < 0).sum()), int(known.sum())


def survivors(metric: str) -> pd.DataFrame:
    """Count, for each learner, what it shows, and how much of that each other one shows too.

    Columns ``first``, ``second``, ``shown``, ``same``, ``opposite``: over datasets, levels and techniques.
    """
    own = _pooled(agreement())
    own = own[own["metric"] == metric]
    turned = own.rename(
        columns={
            "first": "second",
            "second": "first",
            "only_first": "only_second",
            "only_second": "only_first",
        }
    )
    both = pd.concat([own, turned], ignore_index=True)
    sums = (
        both.groupby(["first", "second"], sort=False)[["both", "opposite", "only_first"]].sum().reset_index()
    )
    shown = sums["both"] + sums["opposite"] + sums["only_first"]
    return sums.assign(shown=shown, same=sums["both"])[["first", "second", "shown", "same", "opposite"]]


# As pages have it


def tau_text(found: tuple[float, ...]) -> str:
    """Return tau with its interval, cut at -1 and 1, and halves."""
    tau, low, high, halves, _ = found
    return f"{two(tau)} [{two(max(low, -1))}, {two(min(high, 1))}] (halves {two(halves)})"


def pairs() -> list[tuple[str, str]]:
    """Return the pairs of learners."""
    names = learners()
    return [(first, second) for i, first in enumerate(names) for second in names[i + 1 :]]


def tau_table(metric: str) -> str:
    """Return tau between learners over the datasets, at the doses that are pooled and at each."""
    betas = levels(metric)
    rows = []
    for first, second in pairs():
        each = [tau_over_datasets(metric, first, second, beta) for beta in (None, *betas)]
        rows.append([f"{first}, {second}", *map(tau_text, each)])
    across = " and ".join(f"{dose:g}" for dose in ACROSS)
    return table(["learners", f"doses {across}", *(f"dose {beta:g}" for beta in betas)], rows)


def goals_table() -> str:
    """Return tau between learners for both goals, and what is shown with both of them."""
    rows = []
    for first, second in pairs():
        cells = [f"{SHORT[first]}, {SHORT[second]}"]
        for metric in (LESS, NEARER):
            cells.append(tau_text(tau_over_datasets(metric, first, second)))
            own = _pooled(agreement())
            own = own[(own["metric"] == metric) & (own["first"] == first) & (own["second"] == second)]
            counts = own[["both", "opposite", "only_first", "only_second"]].sum()
            cells.append(f"{counts['both']} / {counts['opposite']} / {counts.iloc[2:].sum()}")
        rows.append(cells)
    counted = "changes shown: with both / opposite / with one"
    return table(
        ["learners", "less discrimination: τ", counted, "nearer to the clean model: τ", counted], rows
    )


def survivor_table(metric: str) -> str:
    """Return what each learner shows and the others show too, in percent."""
    own = survivors(metric)
    names = learners()
    rows = []
    for first in names:
        part = own[own["first"] == first].set_index("second")
        cells = [
            "–"
            if second == first
            else "–"
            if not part.loc[second, "shown"]
            else f"{100 * part.loc[second, 'same'] / part.loc[second, 'shown']:.0f} % "
            f"({100 * part.loc[second, 'opposite'] / part.loc[second, 'shown']:.0f} %)"
            for second in names
        ]
        rows.append([first, *cells])
    return table(["shown with", *(f"and with {name}" for name in names)], rows)


def technique_table(metric: str, beta: float) -> str:
    """Return on how many datasets each technique is shown to be better and worse, by learner."""
    own = changes()
    n_datasets = len(run().manifest.datasets)
    rows = []
    for described in run().manifest.techniques:
        name = described.name
        part = own[(own["technique"] == name) & (own["metric"] == metric)]
        if part.empty or name == UNTREATED:
            continue
        cells = []
        for classifiers in (*({learner} for learner in learners()), run().manifest.learners):
            better, worse, known = shown_on(metric, beta, name, classifiers)
            of = "" if known == n_datasets else f" of {known}"
            cells.append(f"{better} / {worse}{of}" if part["classifier"].isin(classifiers).any() else "")
        if any(cells):
            rows.append([name, *cells])
    return table(["technique", *learners(), "its own"], rows)


def numbers() -> str:
    """Return all tables as a page."""
    blocks = ["# Agreement of learners about techniques", _INTRODUCTION]
    for metric in METRICS:
        blocks += [f"## {metric.capitalize()}: ranks", tau_table(metric)]
        blocks += [
            f"## {metric.capitalize()}: what is shown with one learner and with another",
            "Of the changes that are shown with the learner of a row, the share that is shown with that of "
            "a column as well, and in brackets the share of which the opposite is shown.",
            survivor_table(metric),
        ]
        for beta in levels(metric):
            blocks += [
                f"## {metric.capitalize()}: datasets on which a technique is better / worse, dose {beta:g}",
                technique_table(metric, beta),
            ]
    head = ["dataset", "dose", "metric", "learners", "techniques", "τ, 95 %", "halves"]
    counts = ["both", "opposite", "only_first", "only_second", "neither"]
    rows = [
        [
            *(row["dataset"], f"{row['level']:g}", row["metric"], f"{row['first']}, {row['second']}"),
            *(str(row["n_techniques"]), f"{row['tau']:.2f} [{row['tau_low']:.2f}, {row['tau_high']:.2f}]"),
            *(f"{row['halves']:.2f}", *(str(row[name]) for name in counts)),
        ]
        for _, row in agreement().iterrows()
    ]
    words = [name.replace("_", " ") for name in counts]
    return "\n\n".join([*blocks, "## Each pair", table([*head, *words], rows)]) + "\n"


def everywhere(metric: str, beta: float) -> list[str]:
    """Return the techniques that are shown to be better with all learners on all datasets compared."""
    found = []
    for described in run().manifest.techniques:
        told = [shown_on(metric, beta, described.name, {learner}) for learner in learners()]
        if all(better == known > 0 for better, _, known in told):
            found.append(described.name)
    return found


def of_any_learner() -> list[str]:
    """Return the techniques that take any learner."""
    own = changes()
    names = dict.fromkeys(own.loc[own["classifier"].isin(learners()), "technique"])
    return [name for name in names if name != UNTREATED]


def reversed_among(metric: str, names: Collection[str]) -> int:
    """Return how many changes one of these learners shows and another of them shows reversed."""
    kept = survivors(metric)
    return int(kept[kept["first"].isin(names) & kept["second"].isin(names)]["opposite"].sum()) // 2


def nowhere(metric: str) -> list[str]:
    """Return the techniques that take any learner and are shown to be better with none, at no dose."""
    return [
        name
        for name in of_any_learner()
        if not any(
            shown_on(metric, beta, name, {learner})[0] for beta in levels(metric) for learner in learners()
        )
    ]


def part_of_learner(technique: str, metric: str, beta: float) -> tuple[float, float]:
    """Return by how much a technique differs from C4.5 and from its own learner, mean over datasets."""
    own = run().results
    own = _pooled(own[(own["metric"] == metric) & (own["level"] == beta)])
    means = own.groupby(["technique", "classifier"])["value"].mean()
    learner = f"{technique}_learner"
    value = means[technique, learner]
    return value - means[UNTREATED, "c45"], value - means[UNTREATED, learner]


def moves(metric: str) -> tuple[int, int, int]:
    """Return how many changes are shown to be better, and to be worse, and how many there are."""
    own = _pooled(changes())
    own = own[(own["metric"] == metric) & own["improvement_low"].notna() & (own["technique"] != UNTREATED)]
    return int((own["improvement_low"] > 0).sum()), int((own["improvement_high"] < 0).sum()), len(own)


def findings() -> str:
    """Return the page of findings; ``studies/learners/test_learners.py`` holds what its words say."""
    top = run().manifest.levels[-1]
    taus = {metric: [tau_over_datasets(metric, *pair) for pair in pairs()] for metric in (LESS, NEARER)}
    ends = {metric: [two(found[0]) for found in sorted(values)] for metric, values in taus.items()}
    parts = {
        name: [signed(value) for metric in (LESS, "accuracy") for value in part_of_learner(name, metric, top)]
        for name in ("zafar_2015", "prejudice_remover")
    }
    n_zero = [shown_on(LESS, 0.0, "drop_sensitive", {learner})[0] for learner in learners()]
    reached = ", ".join(
        f"{run().manifest.dataset(name).heading} at {dose:g}" for name, _, dose in run().manifest.apart
    )
    less, any_learner = everywhere(LESS, top), of_any_learner()
    rest = [name for name in any_learner if name not in less]
    reversed_by_bayes = int(survivors(LESS).query("first == 'naive_bayes'")["opposite"].sum())
    nearer, farther, n_changes = moves(NEARER)
    answer = (
        "**No change of discrimination that is shown with C4.5, logistic regression, a random forest or "
        f"boosting is shown reversed with another of these four.** With naive Bayes, {reversed_by_bayes} "
        f"are. To restore decisions there is little to survive. Of {n_changes:,} changes where there is "
        f"something to undo, {nearer} are shown to be nearer to the clean model, {farther} farther."
    )
    words = [
        "**What was asked.** 25 techniques on Adult, COMPAS, the Dutch census and Bank: real rows, a holdout "
        "of 30 %, samples of 5,000 rows, five splits. Label bias has dose .05 and .10. Five are compared "
        "with their own learner. *Shown*: the 95 % interval of the change against doing nothing lies off 0. "
        "It is corrected for the overlap of splits, not for the number of changes. *Distance*: mean absolute "
        "difference to the true and false positive rates of the learner without planted bias.",
        "**How to read τ.** Kendall's τ between ranks with two learners, mean over the datasets that reach "
        "both doses. Halves: τ of one learner between halves of its splits, below 1 by noise alone.",
        f"**To equalize**, τ between learners is {ends[LESS][0]} to {ends[LESS][-1]}. At dose {top:g}, "
        f"{len(less)} of {len(any_learner)} techniques are shown to lower discrimination with all five "
        f"learners on each dataset. The others are {named(rest)}. With no learner, at no dose, on no "
        f"dataset is it shown for {named(nowhere(LESS))}: not shown is not none.",
        f"**To restore**, τ is {ends[NEARER][0]} to {ends[NEARER][-1]}, but most of its intervals hold 0: "
        f"two or three datasets have something to undo. Shown nearer at dose {top:g} with all five: "
        f"{named(everywhere(NEARER, top))}. Shown nearer with one of the four learners and farther with "
        f"another: {reversed_among(NEARER, FOUR)} changes.",
        "**What does not survive.** Without planted bias, hiding the sensitive feature is shown to lower "
        f"discrimination on {', '.join(map(str, n_zero))} datasets with "
        f"{', '.join(SHORT[n] for n in learners())}.",
        f"**Gains of techniques with a learner of their own depend on the comparison.** At dose {top:g} "
        f"Zafar 2015 changes discrimination by {parts['zafar_2015'][0]} against C4.5 and by "
        f"{parts['zafar_2015'][1]} against its own learner, accuracy by {parts['zafar_2015'][2]} and "
        f"{parts['zafar_2015'][3]}. The prejudice remover changes them by {parts['prejudice_remover'][0]} "
        f"and {parts['prejudice_remover'][1]}, and by {parts['prejudice_remover'][2]} and "
        f"{parts['prejudice_remover'][3]}.",
        f"**What would change our mind.** Opposite changes that are shown, on further datasets. {reached} "
        "counts nowhere: it takes nearly all there is. Four datasets, one setting of each learner and "
        "technique ([all numbers](NUMBERS.md)).",
    ]
    title = "Which conclusions about techniques survive a change of the learner?"
    picture = "![Agreement of ranks between learners, for both goals](figures/tau.png)"
    return finding(title, answer, picture, [goals_table()], words)


def draw() -> bytes:
    """Draw tau between learners for both goals, beside the tau of halves."""
    labels = RowLabels([f"{SHORT[first]}, {SHORT[second]}" for first, second in pairs()])
    with style.styled():
        page = Page(
            2,
            2,
            panel=(2.6, 0.22 * len(pairs())),
            title="Do techniques rank alike with two learners?",
            subtitle="Kendall's τ of ranks at doses .05 and .10, means over datasets with 95 % intervals.",
            notes=[
                "Hollow: τ of one learner between halves of its own splits, the greater of both learners."
            ],
            panel_titles=["less discrimination", "nearer to the clean model"],
        )
        for axes, metric in zip(page.panels, (LESS, NEARER), strict=True):
            for row, pair in enumerate(pairs()):
                tau, low, high, halves, _ = tau_over_datasets(metric, *pair)
                draw_estimate(axes, row, (tau, low, high), style.BLUE)
                axes.scatter([halves], [row], s=22, facecolors="none", edgecolors="black", lw=0.8, zorder=3)
            axes.axvline(0, **style.RULE)
            axes.set_xlim(-1.02, 1.02)
            labels.write(axes, named=metric == LESS)
    return style.render(page.fit(), "png")


FILES: Files = {NUMBERS: numbers, FINDINGS: findings, FIGURE: draw}
