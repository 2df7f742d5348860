"""What the run ``wick`` says of the trade-off between fairness and accuracy.

``python -m studies wick`` writes ``results/wick/FINDINGS.md`` and its figure anew from the committed
values. The rules stand at the top of ``experiments/wick.toml``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.figures import style
from benchmark.figures.page import Page, RowLabels
from benchmark.text.markdown import table
from benchmark.text.writing import plain_or_packed
from studies.estimates import Estimate, draw_estimate, ratio_intervals, student_estimate, told
from studies.pages import Files, finding

FOLDER = Path(__file__).resolve().parents[2] / "results" / "wick"
FINDINGS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "figures" / "slopes.png"
DATASETS = ("alike", "compas")
STRENGTHS = ["pr_0", "pr_1", "pr_3", "pr_10", "pr_30", "pr_100"]
SELECTED = ["none", "reweighing", "pr_100", "massaging", "threshold_optimizer"]
TESTS = {"biased": "biased test", "original": "original test", "balanced": "balanced test"}
OVERLAP = 3 / 7  # test rows over training rows: repeated splits of the same rows are not independent
WHERE = ["dataset", "bias", "level", "test"]
TENSION, ACCORD, OPEN = "tension", "accord", "cannot be told"


@cache
def measured(metric: str) -> pd.DataFrame:
    """Return a metric's values, a column for each technique and a row for each scenario and repetition."""
    results = pd.read_csv(plain_or_packed(FOLDER / "results.csv"))
    chosen = results[results["metric"] == metric]
    return chosen.pivot(index=[*WHERE, "repetition"], columns="technique", values="value")


@cache
def slopes() -> pd.DataFrame:
    """Return accuracy over |discrimination| along the strengths, with Fieller's interval, by scenario."""
    x, y = (measured(metric)[STRENGTHS] for metric in ("discrimination", "accuracy"))
    x, y = (frame.sub(frame.mean(axis=1), axis=0) for frame in (x.abs(), y))
    upper, lower = ((x * values).sum(axis=1).unstack("repetition") for values in (y, x))
    slope, low, high = ratio_intervals(upper.to_numpy(), lower.to_numpy(), OVERLAP)
    return pd.DataFrame({"slope": slope, "low": low, "high": high}, index=upper.index)


def verdict(low: float, high: float) -> str:
    """Return what an interval of a slope says, by the rules of the experiment's file; NaN: cannot be told."""
    if low > 0:
        return TENSION
    if high < 0:
        return ACCORD
    return "neither" if low > -0.05 and high < 0.05 else OPEN


def shown(value: float, low: float, high: float) -> str:
    """Return a number with its interval."""
    return told((value, low, high), "{:+.3f}".format)


def scenarios() -> list[tuple[str, str, float]]:
    """Return dataset, bias and level of scenarios that have an interval on some test."""
    table_of = slopes()
    places = table_of.index.droplevel("test").unique()
    # Without bias, selection is the same as label.
    some = [(dataset, bias, beta) for dataset, bias, beta in places if bias == "label" or beta]
    return [place for place in some if table_of.loc[place, "low"].notna().any()]


def slope_rows() -> list[list[str]]:
    """Return a row of the table for each scenario."""
    rows = []
    for dataset, bias, beta in scenarios():
        cells = []
        for test in TESTS:
            slope, low, high = slopes().loc[(dataset, bias, beta, test)]
            cells.append("-" if np.isnan(low) else f"{shown(slope, low, high)} {verdict(low, high)}")
        rows.append([f"`{dataset}`", bias, f"{beta:g}", *cells])
    return rows


def gains() -> Iterator[tuple[str, bool]]:
    """Yield the gains in accuracy under label bias by dataset and technique, and whether they grow."""
    accuracy = measured("accuracy")
    for dataset in DATASETS:
        for technique in ("pr_100", "reweighing"):
            gain = accuracy[technique] - accuracy["none"]
            low, high = (gain.loc[dataset, "label", beta, "balanced"].to_numpy() for beta in (0.1, 0.4))
            more = student_estimate(high - low, overlap=OVERLAP)
            words = f"`{dataset}`, `{technique}`: {low.mean():+.3f} to {high.mean():+.3f}, by {shown(*more)}"
            yield words, more[1] > 0


def leftover(dataset: str, technique: str) -> Estimate:
    """Return discrimination under the strongest selection bias on the balanced test."""
    values = measured("discrimination").loc[dataset, "selection", 0.4, "balanced"][technique]
    return student_estimate(values.to_numpy(), overlap=OVERLAP)


def leftover_words(dataset: str) -> str:
    """Return the discrimination of all selected techniques on a dataset."""
    return f"`{dataset}`: {', '.join(f'`{name}` {shown(*leftover(dataset, name))}' for name in SELECTED)}."


def over_compensates(*names: str) -> int:
    """Count the cases in which a technique's discrimination is shown to be below 0."""
    return sum(leftover(dataset, name)[2] < 0 for dataset in DATASETS for name in names)


def on_balanced(bias: str) -> list[str]:
    """Return the verdicts on the balanced test at the three levels of a bias on both datasets."""
    found = []
    for dataset in DATASETS:
        for beta in (0.1, 0.25, 0.4):
            _, low, high = slopes().loc[(dataset, bias, beta, "balanced")]
            found.append(verdict(low, high))
    return found


def claims() -> list[list[str]]:
    """Return the claims with their verdicts."""
    label, selection = on_balanced("label"), on_balanced("selection")
    grown = list(gains())
    return [
        [
            "1. Label bias: tension on the biased test",
            "**holds** on COMPAS at each level, the more the higher. On `alike` it **cannot be told**. Up "
            "to β = .375 there is none: most labels of the qualified, and of the others, are still right. "
            "So the fair classifier is the best one on biased labels as well",
        ],
        [
            "2. Label bias: accord on the balanced test",
            f"**holds** in {label.count(ACCORD)} of {len(label)}, {label.count(OPEN)} cannot be told",
        ],
        [
            "3. COMPAS as it is: tension at 0, accord at .4",
            "at 0 it **cannot be told**, with 100 repetitions neither (+.008 [-.035, +.053]): its test rows "
            "are too few; at .4 it **holds**",
        ],
        [
            "4. Label bias: the gain in accuracy over no technique on the balanced test is greater at .4 "
            "than at .1",
            f"**holds** in {sum(more for _, more in grown)} of {len(grown)}. "
            + "; ".join(words for words, _ in grown),
        ],
        [
            "5. Selection bias: accord on the balanced test",
            f"**holds** in {selection.count(ACCORD)} of {len(selection)}",
        ],
        [
            "6. Selection bias: doing nothing leaves discrimination, a technique that trusts training rows "
            "over-compensates (below 0; balanced test, β = .4)",
            f"the first part **holds** on both. {' '.join(map(leftover_words, DATASETS))} The second was "
            "registered for reweighing and the strongest prejudice remover, which show it in "
            f"{over_compensates('reweighing', 'pr_100')} of 4: **not confirmed**. They make weights and "
            "probabilities equal, which leaves decisions near 0. `threshold_optimizer` and `massaging`, "
            "added afterwards, make decisions and labels equal: over-compensation **holds** in "
            f"{over_compensates('threshold_optimizer', 'massaging')} of 4",
        ],
    ]


def findings() -> str:
    """Return the page of findings; ``studies/wick/test_wick.py`` holds its other words."""
    answer = (
        "**With planted bias from .25 on, the test decides on COMPAS: fairer models lose accuracy by biased "
        "labels, and gain by clean ones.** The models are the same, of one learner. With no bias, or label "
        "bias of .1, the original test cannot tell."
    )
    lines = [
        "**How to read it.** Slope of accuracy over |discrimination| along six strengths of the prejudice "
        "remover. +.1: one point of accuracy lost for ten of discrimination less (*tension*). Below 0 both "
        "get better (*accord*). Intervals of 95 % know that splits of the same rows overlap. The rule as "
        "first written did not; it makes them three times as wide. `-`: strengths differ too little for an "
        "interval, as on every test of `alike` with label bias of 0 and 0.1.",
        "**Design.** As Wick, Panda and Tristan (2019): real rows of COMPAS, and a made-up world whose "
        "label does not depend on the group (`alike`). On the balanced test, groups are equal. A holdout of "
        "30 %, 20 repetitions. The [file](../../experiments/wick.toml) has biases, claims and rules, "
        "written before the first run, and the differences to the paper.",
        "**What would change our mind.** Another learner, or further real data, whose slopes have the same "
        "sign on both tests.",
    ]
    head = ["data", "bias", "β", *TESTS.values()]
    title = "Is there a trade-off of fairness and accuracy?"
    picture = "![Slopes of accuracy over discrimination on three tests](figures/slopes.png)"
    tables = [table(head, slope_rows()), table(["claim", "verdict"], claims())]
    return finding(title, answer, picture, tables, lines)


def draw() -> bytes:
    """Draw the slope of each scenario on the three tests, with its interval."""
    rows = scenarios()
    labels = RowLabels([f"{dataset}, {bias} {beta:g}" for dataset, bias, beta in rows])
    colors = {TENSION: style.ORANGE, ACCORD: style.BLUE}
    with style.styled():
        page = Page(
            3,
            3,
            panel=(1.9, 0.19 * len(rows)),
            title="Is there a trade-off of fairness and accuracy?",
            subtitle="Slope of accuracy over |discrimination| along six strengths of the prejudice remover, "
            "with 95 % intervals. Orange: tension; blue: accord; gray: cannot be told.",
            notes=["No mark: strengths differ too little for an interval. Ends beyond the axes are cut."],
            panel_titles=list(TESTS.values()),
        )
        for axes, test in zip(page.panels, TESTS, strict=True):
            axes.axvline(0, **style.RULE)
            for y, place in enumerate(rows):
                slope, low, high = slopes().loc[(*place, test)]
                if np.isfinite(low):
                    color = colors.get(verdict(low, high), style.GREY)
                    draw_estimate(axes, y, (slope, low, high), color)
            axes.set_xlim(-0.5, 0.25)
            labels.write(axes, named=test == "biased")
    return style.render(page.fit(), "png")


FILES: Files = {FINDINGS: findings, FIGURE: draw}
