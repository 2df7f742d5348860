"""What the run ``legast2025`` says of the numbers of Legast, Calders and Fouss (2025).

``python -m studies legast2025`` writes ``results/legast2025/FINDINGS.md`` anew from the committed
values; ``betabench compare`` writes the comparison that it rests on.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.metrics import list_metrics
from benchmark.runs.finished import read_frames
from benchmark.statistics.cells import to_cells
from benchmark.text.markdown import table
from benchmark.text.writing import plain_or_packed
from studies.estimates import student_estimate
from studies.pages import Files, finding

FOLDER = Path(__file__).resolve().parents[2] / "results" / "legast2025"
FINDINGS = FOLDER / "FINDINGS.md"
KINDS = {"label": "label bias", "selection": "malicious selection"}
TECHNIQUES = {
    "reweighing": "reweighing",
    "massaging": "massaging",
    "drop_sensitive": "unawareness",
}
METRICS = ("accuracy", "discrimination", "equalized_odds_difference", "generalized_entropy")
PUBLISHED = ("accuracy", "statistical_parity_difference")
NEAR, VERY_NEAR = 0.05, 0.02


@cache
def results() -> pd.DataFrame:
    """Return all committed values."""
    return pd.read_csv(plain_or_packed(FOLDER / "results.csv"))


@cache
def comparison() -> pd.DataFrame:
    """Return the published numbers beside ours."""
    return pd.read_csv(FOLDER / "comparison.csv")


def errors(differences: pd.Series) -> tuple[float, float, float]:
    """Return the shares of differences within .05 and within .02, and their mean size."""
    sizes = differences.abs()
    return float((sizes <= NEAR).mean()), float((sizes <= VERY_NEAR).mean()), float(sizes.mean())


def agreement() -> dict[str, tuple[int, float, float, float]]:
    """Return how many numbers are compared and their errors, for all and for parts."""
    every = comparison()
    of_odds = every["metric"] == "equalized_odds_difference"
    parts = {"all": every}
    parts |= {words: every[every["dataset"] == f"student_{kind}"] for kind, words in KINDS.items()}
    parts |= {
        f"{kind}, equalized odds": every[of_odds & (every["dataset"] == f"student_{kind}")] for kind in KINDS
    }
    counted = {name: (len(part), *errors(part["difference"])) for name, part in parts.items()}
    clean = results()[(results()["test"] == "original") & results()["metric"].isin(METRICS)]
    wide = clean.pivot_table("value", ["dataset", "level", "technique", "metric"], "repetition")
    pairs = [errors(wide[i] - wide[j]) for i in wide.columns for j in range(i)]
    near, very_near, mean = np.mean(pairs, axis=0)
    counted["two of our own seeds"] = (len(wide), float(near), float(very_near), float(mean))
    return counted


def agreement_rows() -> list[list[str]]:
    """Return the rows of the table of agreement."""
    return [
        [name, str(n), f"{100 * near:.1f} %", f"{100 * very_near:.1f} %", f"{mean:.3f}"]
        for name, (n, near, very_near, mean) in agreement().items()
    ]


def strongest_rows() -> list[list[str]]:
    """Return published numbers and ours at β = 0.9, a row for each technique."""
    columns = ["dataset", "level", "technique", "test", "metric"]
    summary = pd.read_csv(FOLDER / "summary.csv").set_index(columns)
    published = comparison().set_index(["dataset", "beta", "technique", "metric"])["published"]
    rows = []
    for technique in ("none", *TECHNIQUES):
        cells = []
        for kind in KINDS:
            place = (f"student_{kind}", 0.9, technique)
            cells.append(", ".join(f"{published[(*place, metric)]:.2f}" for metric in PUBLISHED))
            for test, metric in (("original", METRICS[0]), ("original", METRICS[1]), ("biased", METRICS[0])):
                row = summary.loc[(*place, test, metric)]
                mean = -row["mean"] if metric == METRICS[1] else row["mean"]
                cells.append(f"{mean:.3f} ± {(row['ci_high'] - row['ci_low']) / 2:.3f}")
        rows.append([f"`{technique}`", *cells])
    return rows


@cache
def high_bias(metric: str, test: str, kind: str) -> tuple[pd.DataFrame, float]:
    """Return means over β from 0.5 on of single folds, a column for each technique, and their overlap.

    Of discrimination, the sizes; a fold's sign is that of its repetition's mean.
    """
    rows = results()
    rows = rows[(rows["level"] >= 0.5) & (rows["metric"] == metric) & (rows["test"] == test)]
    cells = to_cells(rows[rows["dataset"] == f"student_{kind}"], read_frames(FOLDER).resampling)
    values = cells.distances(list_metrics(), of_splits=True) if metric == "discrimination" else cells.singles
    return pd.DataFrame(values).groupby(cells.keys["technique"]).mean().T, float(cells.overlaps[0])


def with_half(change: pd.Series, overlap: float) -> str:
    """Return a mean change of single folds with half of its interval."""
    mean, _, high = student_estimate(change.to_numpy(), overlap=overlap)
    return f"{mean:+.3f} ± {high - mean:.3f}"


def costs(kind: str, test: str) -> str:
    """Return by technique what it changes in accuracy."""
    accuracy, overlap = high_bias("accuracy", test, kind)
    return ", ".join(
        f"{word} {with_half(accuracy[name] - accuracy['none'], overlap)}" for name, word in TECHNIQUES.items()
    )


def margin(kind: str) -> str:
    """Return by how much the technique that is nearest to parity is nearer than the next one."""
    gaps, overlap = high_bias("discrimination", "original", kind)
    first, second = gaps.mean().sort_values().index[:2]
    return with_half(gaps[second] - gaps[first], overlap).removeprefix("+")


def claims() -> list[list[str]]:
    """Return the claims with our numbers and verdicts."""
    return [
        [
            "label bias: on the biased test mitigation seems to cost accuracy",
            costs("label", "biased"),
            "holds",
        ],
        [
            "label bias: on the clean test it costs none",
            costs("label", "original"),
            "no cost is shown: holds for massaging and unawareness, cannot be told for reweighing",
        ],
        [
            "selection: on the clean test it costs none",
            costs("selection", "original"),
            "holds but for massaging",
        ],
        [
            "the best technique depends on the kind of bias",
            f"nearest to parity: massaging under label bias, by {margin('label')}; reweighing under "
            f"selection, by {margin('selection')} before massaging; neither is shown to be nearer than "
            "unawareness. Most accurate on the clean test: unawareness under both",
            "cannot be told for parity (under label bias reweighing is shown to be last, under selection no "
            "difference is shown); does not hold for accuracy",
        ],
        [
            "OULAD: massaging over-corrects (+.39)",
            "needs click logs that are not here",
            "cannot be told",
        ],
    ]


def findings() -> str:
    """Return the page of findings; ``studies/legast2025/test_legast.py`` holds its other words."""
    n, near, very_near, mean = agreement()["all"]
    answer = (
        f"**Of {n} published numbers, {100 * near:.1f} % come out within ±0.05, which meets the tolerances "
        f"set before the run.** Within ±0.02 are {100 * very_near:.1f} %; the mean error is {mean:.3f}. A "
        "prototype set the tolerances: 90 %, 74 % and 0.020."
    )
    lines = [
        "**How to read it.** Four metrics of a random forest on Student, with three techniques and none, at "
        "ten levels of each bias, tested on clean labels. Ours: the same 649 rows, ten repetitions with "
        "their own split, noise and forest. Second table, β = 0.9: accuracy and statistical parity "
        "difference (deprived minus favored), with intervals that hold for other pupils. Third table: "
        "technique minus none, mean over β = 0.5 to 0.9. All intervals are over single folds, corrected for "
        "their overlap.",
        "**The floor is the first table's last row:** pairs of our own repetitions, which share no random "
        "number. Most of the rest is equalized odds: a fold has five or ten men who failed and as many "
        "women. From 0.6 on, published differences of reweighing under label bias are larger than ours; why "
        "is not known.",
        "**Readings** of open points were tried on a prototype; [the "
        "file](../../experiments/legast2025.toml) has their errors.",
        "**What would change our mind.** Their seeds, or the click logs of OULAD.",
    ]
    beside = ["published", "accuracy", "difference", "on the biased test"]
    head = ["", f"label: {beside[0]}", *beside[1:], f"selection: {beside[0]}", *beside[1:]]
    tables = [
        table(
            ["published numbers", "compared", "within ±0.05", "within ±0.02", "mean error"], agreement_rows()
        ),
        table(head, strongest_rows()),
        table(["claim", "ours", "verdict"], claims()),
    ]
    title = "Can the numbers of Legast, Calders and Fouss (2025) be repeated?"
    picture = "![Differences between our numbers and the published ones](comparison/differences.png)"
    return finding(title, answer, picture, tables, lines)


FILES: Files = {FINDINGS: findings}
