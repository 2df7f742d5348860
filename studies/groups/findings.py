"""What the run ``groups`` says of mitigation for one attribute and the gap of another.

``python -m studies groups`` writes ``results/groups/FINDINGS.md`` anew from the committed values.
The rules stand at the top of ``experiments/groups.toml``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.columns import MANIFEST_NAME
from benchmark.metrics import GAP
from benchmark.runs.finished import read_optional
from benchmark.runs.manifest import Manifest
from benchmark.statistics.intervals import student_intervals
from benchmark.text.writing import plain_or_packed
from studies.estimates import Estimate, student_estimate, three, told
from studies.pages import Files, finding

FOLDER = Path(__file__).resolve().parents[2] / "results" / "groups"
FINDINGS = FOLDER / "FINDINGS.md"
CASE = ["dataset", "level", "metric", "technique"]
RATES = {"selection_rate", "true_positive_rate", "false_positive_rate"}
ROUNDING = 1e-12  # smaller changes are rounding
OVERLAP = 3 / 7  # test rows over all others: repeated splits of the same rows overlap
ALIKE = 0.01  # share of people with another answer, below which everybody has the same


@cache
def changes() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return changes of the gap of A, of B, and of both crossed, by case and split."""
    groups = read_optional(FOLDER, "groups")
    assert groups is not None
    assert set(groups["group"]) == {GAP}
    assert set(groups["metric"]) == RATES
    datasets_of_run = Manifest.read(FOLDER / MANIFEST_NAME).datasets
    mitigated = {dataset.name: dataset.sensitive_feature for dataset in datasets_of_run}
    crossed = groups["attribute"].str.contains("×")
    of_a = groups["attribute"] == groups["dataset"].map(mitigated)
    frames = []
    for rows in (groups[of_a], groups[~of_a & ~crossed], groups[crossed]):
        gaps = rows.set_index([*CASE, "repetition"])["value"].unstack("repetition")
        baseline = gaps.xs("none", level="technique")
        techniques = gaps.drop("none", level="technique")
        frames.append(techniques - baseline.reindex(techniques.index.droplevel("technique")).to_numpy())
    assert all(frame.index.equals(frames[0].index) for frame in frames)
    assert not any(frame.isna().any(axis=None) for frame in frames)
    return frames[0], frames[1], frames[2]


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{digits}f} %"


def worse() -> pd.Series:
    """Return whether B is worse in the mean over splits, by case."""
    return changes()[1].mean(axis=1) > ROUNDING


def single_splits(chosen: np.ndarray) -> Estimate:
    """Return the mean share over splits of chosen cases in which B is worse, with its interval."""
    shares = (changes()[1][chosen] > ROUNDING).mean().to_numpy()
    mean, low, high = student_estimate(shares, overlap=OVERLAP)
    return mean, max(low, 0.0), min(high, 1.0)


def row(name: str, **where: object) -> str:
    """Return a row of the table: cases, those with B worse, single splits, and those with A better."""
    of_a, of_b, _ = changes()
    chosen = np.ones(len(of_a), dtype=bool)
    for level, value in where.items():
        chosen &= of_a.index.get_level_values(level) == value
    b_worse, better = worse()[chosen], of_a[chosen].mean(axis=1) < -ROUNDING
    cells = [percent(b_worse.mean()), told(single_splits(chosen), percent), percent(better.mean())]
    return f"| {name} | {len(of_b[chosen])} | {' | '.join(cells)} | {percent(b_worse[better].mean())} |"


def datasets() -> list[str]:
    """Return the names of datasets with their A, in the run's order."""
    return list(changes()[1].index.get_level_values("dataset").unique())


def rows() -> str:
    """Return the table of all cases, by level of bias and by dataset."""
    return "\n".join(
        [
            "| | cases | B worse | in single splits | A better | B worse where A is better |",
            "|---|---:|---:|---|---:|---:|",
            row("all"),
            *(row(f"β = {beta:g}", level=beta) for beta in (0.0, 0.3)),
            *(row(f"`{name}`", dataset=name) for name in datasets()),
        ]
    )


def over_datasets() -> tuple[float, float]:
    """Return the interval of the share with B worse over the rows by dataset."""
    shares = worse().groupby("dataset").mean().to_numpy()
    _, low, high = student_estimate(shares)
    return low, high


def alike_splits(technique: str = "equalized_odds") -> pd.Series:
    """Return in how many splits a technique answers more than 99 % of all people the same, by setting."""
    results = pd.read_csv(plain_or_packed(FOLDER / "results.csv"))
    accepted = results[(results["metric"] == "accepted") & (results["technique"] == technique)]
    alike = accepted.assign(alike=(accepted["value"] < ALIKE) | (accepted["value"] > 1 - ALIKE))
    return alike.groupby(["dataset", "level"])["alike"].sum()


def findings() -> str:
    """Return the page of findings."""
    _, of_b, crossed = (frame.mean(axis=1) for frame in changes())
    low, high = student_intervals(changes()[1].to_numpy(), overlap=OVERLAP)
    everything = told(single_splits(np.ones(len(of_b), dtype=bool)), percent)
    by_technique = worse().groupby("technique").mean().sort_values(kind="stable")
    alike = alike_splits()
    some = alike[alike > 2]
    without = worse()[worse().index.get_level_values("technique") != "equalized_odds"].mean()
    ends = over_datasets()
    answer = (
        f"**In {percent(worse().mean())} of the cases the gap of the attribute that is not mitigated gets "
        f"wider on average.** In single splits it does in {everything}, less than the half that noise alone "
        "would give. Chen, Zhang, Sarro and Harman (2024) report 57.5 % for other techniques and data."
    )
    lines = [
        "**How to read it.** Attribute A is mitigated, B is not. A case is a dataset with its A, a level of "
        "bias, a technique, and the gap in one rate. Rates are selection, true positives and false "
        "positives. B is worse where its gap is wider than without a technique on the same splits. *In "
        "single splits*: the mean share over splits, with a 95 % interval that accounts for their overlap.",
        "**Design.** Eleven techniques on Adult, COMPAS and Law School, with sex and race, two groups each. "
        "Real rows, logistic regression, a holdout of 30 %, ten repetitions. Nothing is planted, or 30 % of "
        "the favorable labels of A's deprived group are turned. The [file](../../experiments/groups.toml) "
        "has the rules, written before the first run, and the differences to the paper.",
        "**It is mostly small.** Where B gets worse, the median is "
        f"{three(of_b[of_b > ROUNDING].median())}. It gets worse by more than .02 in "
        f"{percent((of_b > 0.02).mean())} of all cases. The interval of the change of B is above 0 "
        f"in {percent((low > 0).mean())} and below 0 in {percent((high < 0).mean())}.",
        "**By technique.** B is worse: "
        + ", ".join(f"`{name}` {percent(share)}" for name, share in by_technique.items())
        + ".",
        f"**`equalized_odds` is first for a reason.** In {len(some)} of its {len(alike)} settings it gives "
        f"more than 99 % of everybody the same answer in {some.min()} to {some.max()} of 10 splits. That "
        f"closes every gap. Without it, the {percent(worse().mean())} become {percent(without)}.",
        "**Intersections.** The gap between the four groups of sex and race gets worse in "
        f"{percent((crossed > ROUNDING).mean())} of the cases, less often than the gap of B.",
        "**What would change our mind.** More datasets and attributes: three datasets with two attributes "
        f"do not generalize. The interval over the six rows by dataset, {percent(ends[0], 0)} to "
        f"{percent(ends[1], 0)}, includes 50 %. All other intervals account only for the choice of splits.",
    ]
    picture = (
        "![Change of the largest gap in the selection rate by technique, dataset and attribute]"
        "(figures/groups_selection_rate.png)"
    )
    title = "Mitigate for one attribute: what happens to another?"
    return finding(title, answer, picture, [rows()], lines)


FILES: Files = {FINDINGS: findings}
