"""What the run ``tuning`` says: what it costs to choose settings on biased validation rows, for both goals.

``python -m studies tuning`` writes ``results/tuning/NUMBERS.md``, ``FINDINGS.md`` and the figure
anew from the committed values; ``studies/tuning/test_tuning.py`` holds them.

A fit is a technique on a dataset. Doses that take nearly all there is on a dataset are in no mean over
datasets.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd

from benchmark.columns import EQUALIZE, GOAL_METRICS, RESTORE
from benchmark.experiment.tuning_rule import Rule
from benchmark.figures import style
from benchmark.figures.page import Page
from benchmark.figures.style import line_style
from benchmark.runs.finished import read_frames
from benchmark.runs.verdicts import baselines_of
from benchmark.statistics.tuning import CHOSEN_ON, regrets
from benchmark.text.markdown import table
from studies.estimates import Estimate, student_estimate, three, told
from studies.pages import Files, finding

FOLDER = Path(__file__).resolve().parents[2] / "results" / "tuning"
FINDINGS, NUMBERS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "NUMBERS.md", FOLDER / "figures" / "choices.png"
OWN = "own"
"""All learners of techniques' own together."""
LEARNERS = {"c45": "C4.5", OWN: "their own"}
NOTHING = "nothing"
"""What a technique is compared with: its learner without mitigation."""

MEASURES = {"accuracy": "accuracy", EQUALIZE: "abs. discrimination", RESTORE: "distance to the clean model"}
_METRICS = {"accuracy": "accuracy", **GOAL_METRICS}
_FIT = ["dataset", "classifier", "of"]


run = cache(partial(read_frames, FOLDER))
"""Return the committed run, which is read once."""


def _together(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame in which all learners of techniques' own have one name."""
    is_own = frame["classifier"].isin(run().manifest.learners)
    return frame.assign(classifier=frame["classifier"].mask(is_own, OWN))


@cache
def choices() -> pd.DataFrame:
    """Return the measures of each fit in each repetition, by what its setting was chosen on.

    Index ``dataset``, ``classifier``, ``of``, ``level`` (the dose) and ``repetition``; columns are pairs of a
    measure and a choice, :data:`NOTHING` among them. Fits without a value of some choice are left out.
    """
    frames = run()
    assert frames.tuning is not None
    results = frames.results[frames.results["metric"].isin(_METRICS.values())]
    key = ["dataset", "classifier", "level", "technique", "repetition"]
    values = results.pivot_table(index=key, columns="metric", values="value").abs()
    values = values.rename(columns={metric: name for name, metric in _METRICS.items()})
    chosen = frames.tuning[[*key, "of", "chosen_on"]]
    against = baselines_of(frames.manifest, frames.results, None)
    fits = chosen[chosen["chosen_on"] == CHOSEN_ON[0]]
    untreated = fits.assign(technique=against.column(fits).to_numpy(), chosen_on=NOTHING)
    both = pd.concat([chosen, untreated], ignore_index=True).join(values, on=key)
    wide = _together(both).pivot(
        index=[*_FIT, "level", "repetition"], columns="chosen_on", values=list(MEASURES)
    )
    # Nothing is planted at dose 0, so that a distance to the clean model is no measure there.
    whole = wide["accuracy"].notna().all(axis=1).groupby(_FIT).transform("all")
    n = whole.groupby(_FIT).transform("size")
    return wide[whole & (n == n.max())]


@cache
def same_setting(first: str = "biased", second: str = "clean") -> pd.Series:
    """Return of each fit in each repetition whether both choices are of the same setting."""
    tuning = run().tuning
    assert tuning is not None
    index = [*_FIT, "level", "repetition"]
    wide = _together(tuning).pivot(index=index, columns="chosen_on", values="parameters")
    return (wide[first] == wide[second]).loc[choices().index]


def pooled(frame: pd.DataFrame | pd.Series, learner: str, dose: float) -> pd.DataFrame | pd.Series:
    """Return the rows of a learner at a dose, without the datasets on which it takes nearly all there is."""
    index = frame.index.to_frame(index=False)
    apart = {dataset for dataset, _, level in run().manifest.apart if level == dose}
    here = (index["classifier"] == learner) & (index["level"] == dose) & ~index["dataset"].isin(apart)
    return frame[here.to_numpy()]


def fits(learner: str, dose: float) -> int:
    """Return the number of fits in each repetition."""
    return len(pooled(choices(), learner, dose).groupby(_FIT))


def mean_of(measure: str, on: str, learner: str, dose: float) -> float:
    """Return the mean of a measure over fits and repetitions."""
    return float(pooled(choices(), learner, dose)[measure, on].mean())


def change(measure: str, on: str, against: str, learner: str, dose: float) -> Estimate:
    """Return the mean change of a measure from one choice to another, with its interval.

    A repetition is one value, the mean over its fits; the interval is corrected for the overlap of splits by
    the largest ratio of test to training rows of a dataset.
    """
    own = pooled(choices(), learner, dose)
    by_repetition = (own[measure, on] - own[measure, against]).groupby("repetition").mean().to_numpy()
    resampling = run().resampling
    assert resampling is not None
    overlap = max(resampling.overlaps[name] for name in own.index.unique("dataset"))
    return student_estimate(by_repetition, overlap=overlap)


@cache
def regret() -> pd.DataFrame:
    """Return :func:`~benchmark.statistics.tuning.regrets` of the run, with own learners as one."""
    frames = run()
    assert frames.tuning is not None
    greatest = Rule.parse(frames.manifest.tuned_by).greatest
    tuning, apart = _together(frames.tuning), frames.manifest.apart
    return regrets(tuning, frames.resampling, greatest=greatest, apart=apart)


def shown(measure: str, on: str, against: str) -> list[tuple[str, float]]:
    """Return the learners and doses at which a change is shown: its interval lies off 0."""
    found = []
    for learner in LEARNERS:
        for dose in run().manifest.levels:
            if measure == RESTORE and not dose:
                continue
            _, low, high = change(measure, on, against, learner, dose)
            if low > 0 or high < 0:
                found.append((learner, dose))
    return found


def doses_shown(measure: str, learner: str) -> str:
    """Return the doses at which tuning on biased rows is shown to differ from the default."""
    return " and ".join(f"{dose:g}" for one, dose in shown(measure, "biased", "default") if one == learner)


def widening() -> float:
    """Return by what the correction multiplies the width of an interval, where it does so most."""
    resampling, n = run().resampling, run().results["repetition"].nunique()
    assert resampling is not None
    return float(np.sqrt(1 + n * max(resampling.overlaps.values())))


# As pages have it


def with_ends(value: Estimate) -> str:
    """Return a number with its interval."""
    return told(value, three)


def _levels() -> list[tuple[str, float]]:
    return [(learner, dose) for learner in LEARNERS for dose in run().manifest.levels]


def choice_table() -> str:
    """Return what biased rows choose beside what clean rows and the default setting do."""
    head = ["learner", "dose", "fits", "same setting as on clean rows", "accuracy, biased − clean"]
    head += ["discrimination, biased − clean", "distance, biased − clean"]
    rows = []
    # At dose 0 both kinds of rows are the same.
    for learner, dose in _levels():
        if not dose:
            continue
        same = pooled(same_setting(), learner, dose).mean()
        cells = [LEARNERS[learner], f"{dose:g}", str(fits(learner, dose)), f"{100 * same:.0f} %"]
        cells += [with_ends(change(measure, "biased", "clean", learner, dose)) for measure in MEASURES]
        rows.append(cells)
    return table(head, rows)


def default_table() -> str:
    """Return what tuning on biased rows changes against the default setting, by both goals and accuracy."""
    head = ["learner", "dose"]
    for title in MEASURES.values():
        head += [f"{title}: nothing / default / tuned", "tuned − default"]
    rows = []
    for learner, dose in _levels():
        cells = [LEARNERS[learner], f"{dose:g}"]
        for measure in MEASURES:
            if measure == RESTORE and not dose:
                cells += ["", ""]
                continue
            means = [three(mean_of(measure, on, learner, dose)) for on in (NOTHING, "default", "biased")]
            cells += [" / ".join(means), with_ends(change(measure, "biased", "default", learner, dose))]
        rows.append(cells)
    return table(head, rows)


def regret_table(dataset: str) -> str:
    """Return the regrets against the oracle, as means over techniques, and the fits beyond the limit."""
    own = regret()
    own = own[(own["technique"] == "") & (own["dataset"] == dataset)]
    rows = []
    for learner, dose in _levels():
        at = own[(own["classifier"] == learner) & (own["level"] == dose)].set_index("chosen_on")
        numbers = [
            with_ends(tuple(at.loc[on, ["regret", "regret_low", "regret_high"]])) for on in CHOSEN_ON[:3]
        ]
        beyond = [*(at.loc[on, "breaks"] for on in CHOSEN_ON[:3]), at["breaks_oracle"].iloc[0]]
        n = at["n_techniques"].iloc[0]
        rows.append([LEARNERS[learner], f"{dose:g}", str(n), *numbers, *(f"{100 * b:.0f} %" for b in beyond)])
    head = ["learner", "dose", "fits", *(f"regret, {on}" for on in CHOSEN_ON[:3])]
    return table([*head, *(f"beyond, {on}" for on in CHOSEN_ON)], rows)


def fit_table() -> str:
    """Return discrimination, distance and accuracy of each fit with each choice, means over repetitions."""
    means = choices().groupby([*_FIT, "level"], sort=False).mean()
    titles = run().manifest.titles
    order = [NOTHING, *CHOSEN_ON]
    rows = []
    for (dataset, learner, of, dose), row in means.iterrows():
        cells = [" / ".join(three(row[measure, on]) for measure in MEASURES) for on in order]
        rows.append([dataset, LEARNERS[learner], titles[of], f"{dose:g}", *cells])
    return table(["dataset", "learner", "technique", "dose", *order], rows)


def numbers() -> str:
    """Return all tables as a page."""
    known = run().manifest
    blocks = [
        "# What tuning on biased rows costs: all numbers",
        fill(
            "Written by `python -m studies tuning` from the committed values; [the findings](FINDINGS.md) "
            f"say what the words mean. Rule: {known.tuned_by}. Regret: accuracy lost on the original test "
            "against the setting that the test rows would choose; below 0 there is more, as the limit is "
            "broken by more. Beyond: fits beyond the limit there. Intervals of 95 %, over splits, corrected "
            "for their overlap, not for their number.",
            125,
        ),
        "## All datasets",
        regret_table(""),
    ]
    for dataset in known.datasets:
        blocks += [f"## {dataset.heading}", regret_table(dataset.name)]
    blocks += [
        "## Each fit",
        "Accuracy / mean absolute discrimination / distance to the clean model. At dose 0 the distance is "
        "to the same learner without mitigation.",
        fit_table(),
    ]
    return "\n\n".join(blocks) + "\n"


def findings() -> str:
    """Return the page of findings; ``studies/tuning/test_tuning.py`` holds what its words say."""
    known = run().manifest
    top = known.levels[-1]
    same = [100 * pooled(same_setting(), learner, dose).mean() for learner, dose in _levels() if dose]
    costs = {
        learner: max(
            -change("accuracy", "biased", "clean", learner, dose)[1] for dose in known.levels if dose
        )
        for learner in LEARNERS
    }
    own = regret()
    own = own[(own["technique"] == "") & (own["dataset"] == "")]
    beyond = {on: 100 * own[own["chosen_on"] == on]["breaks"] for on in CHOSEN_ON[:3]}
    oracle = 100 * own["breaks_oracle"]
    less = tuple(-value for value in change(EQUALIZE, "biased", "default", OWN, top))
    less = less[0], less[2], less[1]
    farther = [
        change(RESTORE, "biased", NOTHING, learner, dose)
        for learner in (OWN, "c45")
        for dose in known.levels[1:]
    ]
    worse = [change(RESTORE, "biased", "default", OWN, dose) for dose in known.levels[1:]]
    extreme = ", ".join(f"{known.dataset(name).heading} at {dose:g}" for name, _, dose in known.apart)

    def span(values: pd.Series) -> str:
        return f"{values.min():.0f} to {values.max():.0f} %"

    answer = (
        "**Choosing settings on biased rows is not shown to cost accuracy, to leave more discrimination, or "
        "to decide less as the clean model does.** Compared are the same rows without "
        f"planted bias. Both choose the same setting in {min(same):.0f} to {max(same):.0f} % of fits."
    )
    words = [
        "**What was asked.** Ten techniques on Adult, COMPAS, the Dutch census and Bank: real rows, a "
        "holdout of 30 %, samples of 4,000 rows, five splits. Label bias adds .05 and .10 to the label gap "
        f"between the groups. One of 25 settings is chosen by *{known.tuned_by}*, on a quarter of the "
        "training rows. Its labels are biased or original (*clean*). A fit is a technique on a dataset, with "
        "C4.5 or its own learner. *Distance*: mean absolute difference to the "
        "true and false positive rates of the same learner without planted bias.",
        f"**How much could be missed.** With C4.5 a cost of up to {three(costs['c45'])} of accuracy, with "
        f"their own learners up to {three(costs[OWN])}. The correction for overlapping splits widens "
        f"intervals up to {widening():.1f} times ([all numbers](NUMBERS.md)).",
        "**To equalize, tuning on biased rows is shown to help with learners of their own** at every dose. "
        f"At {top:g} it lowers discrimination by {with_ends(less)}. With C4.5 that is shown at "
        f"{doses_shown(EQUALIZE, 'c45')}.",
        "**To restore, it is shown to be worse than the default with their own learners**, by "
        f"{with_ends(worse[0])} and {with_ends(worse[1])}. With C4.5 that is not shown. The rule asks for "
        "the other goal. Tuned settings are farther from the clean model than doing nothing, with their own "
        f"learners by {with_ends(farther[0])} and {with_ends(farther[1])}. With C4.5 it is "
        f"{with_ends(farther[2])} and {with_ends(farther[3])}.",
        "**A limit on validation rows often does not hold on the test.** Of fits tuned on biased rows, "
        f"{span(beyond['biased'])} are beyond it. Of fits that the test rows choose, it is {span(oracle)}; "
        f"of default fits, {span(beyond['default'])}.",
        "**What would change our mind.** An interval of biased − clean off 0, with more splits or rows. One "
        f"rule, one budget, four datasets. {extreme} is in no mean: it takes nearly all there is.",
    ]
    title = "What does it cost to tune on validation rows that are as biased as the training rows?"
    picture = "![What tuning on biased rows changes, over doses](figures/choices.png)"
    return finding(title, answer, picture, [choice_table(), default_table()], words)


def draw() -> bytes:
    """Draw what tuning on biased rows changes against clean rows and against the default setting."""
    looks = [(learner, against) for learner in LEARNERS for against in ("clean", "default")]
    known = run().manifest
    with style.styled():
        page = Page(
            3,
            3,
            panel=(2.4, 2.0),
            title="What it changes to choose settings on biased rows",
            subtitle="Means over techniques and datasets, with 95 % intervals over splits, corrected for "
            "their overlap. Discrimination and distance: below 0 is nearer to the goal.",
            notes=[f"Rule: {known.tuned_by}. Bank's dose of .10 is in no mean."],
            panel_titles=list(MEASURES.values()),
        )
        handles = []
        for axes, measure in zip(page.panels, MEASURES, strict=True):
            axes.axhline(0, **style.RULE)
            doses = [dose for dose in known.levels if dose or measure != RESTORE]
            for position, (learner, against) in enumerate(looks):
                look = line_style(position)
                found = np.array([change(measure, "biased", against, learner, dose) for dose in doses])
                at = np.array(doses) + 0.002 * (position - 1.5)
                axes.vlines(at, found[:, 1], found[:, 2], colors=look["color"], lw=1.0, alpha=0.7)
                label = f"{LEARNERS[learner]}: biased − {against}"
                (line,) = axes.plot(at, found[:, 0], mec="white", mew=0.4, label=label, **look)
                if measure == "accuracy":
                    handles.append(line)
            axes.set_xticks(list(known.levels))
            axes.set_xlim(-0.01, 0.11)
            axes.set_xlabel("dose")
        page.panels[0].set_ylabel("change")
        page.legend_beside(page.panels[2], handles, "Learner, and against")
    return style.render(page.fit(), "png")


FILES: Files = {NUMBERS: numbers, FINDINGS: findings, FIGURE: draw}
