"""What the run ``auc_gap`` says of mitigation and the AUC gap.

``python -m studies auc_gap`` writes ``results/auc_gap/FINDINGS.md`` anew from the committed values.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

from benchmark.runs.finished import read_run
from benchmark.text.markdown import table
from studies.estimates import three, two
from studies.pages import Files, finding

FOLDER = Path(__file__).resolve().parents[2] / "results" / "auc_gap"
FINDINGS = FOLDER / "FINDINGS.md"
GROUPS = {"adult": ("Female", "Male"), "compas": ("African-American", "Caucasian"), "dutch": ("2", "1")}
"""The group with the proxy, and the other one, by dataset."""

TECHNIQUES = ("none", "eg_tpr", "eg_odds", "eg_free")
BETA = 0.8


@cache
def summary() -> pd.DataFrame:
    """Return means and intervals by dataset, level, technique and metric."""
    return read_run(FOLDER).summary.set_index(["dataset", "level", "technique", "metric"]).sort_index()


def mean(dataset: str, technique: str, metric: str, beta: float = BETA) -> float:
    """Return a mean over the repetitions."""
    return float(summary().loc[(dataset, beta, technique, metric), "mean"])


def cell(dataset: str, technique: str, metric: str, beta: float) -> str:
    """Return a mean with half of its interval."""
    row = summary().loc[(dataset, beta, technique, metric)]
    return f"{row['mean']:.3f} ± {(row['ci_high'] - row['ci_low']) / 2:.3f}"


def rows() -> list[list[str]]:
    """Return the rows of the table: without the proxy, and with it."""
    every = []
    for dataset, groups in GROUPS.items():
        metrics = ("auc_overall", *(f"auc[{group}]" for group in groups), "auc_gap")
        for technique in TECHNIQUES:
            at_zero = cell(dataset, technique, "auc_gap", 0.0)
            cells = (cell(dataset, technique, metric, BETA) for metric in metrics)
            every.append([f"`{dataset}`", f"`{technique}`", at_zero, *cells])
    return every


def high(dataset: str, technique: str) -> float:
    """Return the upper end of the interval of a gap with the proxy."""
    return float(summary().loc[(dataset, BETA, technique, "auc_gap"), "ci_high"])


def findings() -> str:
    """Return the page of findings; ``studies/auc_gap/test_auc_gap.py`` holds its other words."""
    gap = {(d, t): mean(d, t, "auc_gap") for d in GROUPS for t in TECHNIQUES}
    lost = {t: mean("adult", "none", "auc_overall") - mean("adult", t, "auc_overall") for t in TECHNIQUES}
    answer = (
        "**Under equalized odds the AUC gap nearly closes on COMPAS and the Dutch census, and under no "
        f"constraint on Adult.** It falls to {three(gap['compas', 'eg_odds'])} and "
        f"{three(gap['dutch', 'eg_odds'])}; both intervals lie above 0. A control without constraint loses "
        "AUC, too."
    )
    lines = [
        "**How to read it.** Means over ten repetitions of 10,000 training rows, tested on real data, ± "
        "half of the 95 % interval. The proxy is the deprived group's label with probability β, else the "
        "toss of a coin. `none`: logistic regression. `eg_tpr`, `eg_odds`: exponentiated gradient reduction "
        "under parity of true positive rates, equalized odds. `eg_free`, the control: a bound that "
        "constrains nothing. A lottery's score is its chance of the favorable answer.",
        "**The AUC-gap guide** (*Measuring and Mitigating Model Bias*) uses answers of students. Its gap "
        "goes from .164 to .052 (true positive rates) and .003 (equalized odds), its AUC from .702 to .587 "
        "and .537. It concludes that mitigation closes the gap and costs accuracy. Its row *Other* repeats "
        "*Unspecified*; the gap follows from the .617 of its text.",
        "**A proxy for one group opens the gap** on every dataset. The group with the proxy is ranked "
        "better, the other one worse, most of all on COMPAS "
        f"({three(mean('compas', 'none', 'auc[Caucasian]', 0.0))} to "
        f"{three(mean('compas', 'none', 'auc[Caucasian]'))}). `eg_tpr` closes about half on COMPAS and "
        "Dutch.",
        f"**On Adult no constraint closes the gap.** It is {three(gap['adult', 'eg_tpr'])} and "
        f"{three(gap['adult', 'eg_odds'])}, with intervals up to {three(high('adult', 'eg_tpr'))} and "
        f"{three(high('adult', 'eg_odds'))}, against {three(gap['adult', 'none'])} unmitigated. Adult has a "
        "gap without any proxy, and no constraint on rates acts on that.",
        "**The loss is not the price of fairness, or only part of it.** The control's AUC falls as far as "
        "both constraints' on Adult and Dutch. On COMPAS it falls as far as with `eg_tpr`, and two fifths as "
        "far as with `eg_odds`. A lottery of a few classifiers gives few numbers, which rank worse than "
        f"scores. On Adult accuracy stays within .01, while `eg_odds` loses {two(lost['eg_odds'])} of AUC. "
        "Whether the guide's fall is of this kind cannot be told. A gap of nearly binary answers is another "
        "quantity: the control's is less than half of the unmitigated one on Adult, and larger on Dutch.",
        "**What would change our mind.** A constraint that closes the gap without a loss of AUC, or on "
        "Adult beyond the control. [All levels](tables/techniques.csv), [values](results.csv).",
    ]
    head = [
        "dataset",
        "technique",
        "AUC gap, β = 0",
        f"AUC, β = {BETA:g}",
        "with the proxy",
        "other group",
        "AUC gap",
    ]
    picture = (
        f"![AUC overall, by group, and gap: COMPAS, β = {BETA:g}](figures/auc/compas__beta_{BETA:g}.png)"
    )
    return finding("Does mitigation close the AUC gap?", answer, picture, [table(head, rows())], lines)


FILES: Files = {FINDINGS: findings}
