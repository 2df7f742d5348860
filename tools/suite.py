"""What the run ``suite`` says of techniques over fifteen datasets: its tables and figure.

``python -m tools.suite`` writes ``results/suite/RANKS.md``, the table of ``FINDINGS.md`` and the figure anew
from the committed values; ``tests/tools/test_suite.py`` holds them.

Each dataset counts once, at one level of bias. The program's own ranks leave a technique out that is
degenerate in any sample of any dataset. Over fifteen datasets few techniques would remain, so here it takes
the last place on a dataset where it is degenerate in more than half of the samples.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.figures import style
from benchmark.figures.style import BETA_LOOK, Page, RowLabels
from benchmark.metrics import list_metrics
from benchmark.runs.finished import read_frames, read_run
from benchmark.statistics.across import (
    Rankings,
    average_ranks,
    bayesian_comparisons,
    friedman_tests,
    pairwise_tests,
    rank_groups,
    rankings,
)
from benchmark.statistics.frames import LEAST, row_means, to_cells
from benchmark.statistics.intervals import student_intervals
from benchmark.text.files import write_atomically
from benchmark.text.markdown import table
from tools.pages import with_part

__all__ = ["DEPENDENT", "against_none", "distances", "draw", "over_datasets", "page", "with_table"]

FOLDER = Path(__file__).resolve().parents[1] / "results" / "suite"
FINDINGS, RANKS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "RANKS.md", FOLDER / "figures" / "ranks.png"
METRICS = ("discrimination", "accuracy", "overestimation", "underestimation")
DEPENDENT = ("compas_violent", "student_mat")
"""A part of compas, and pupils of student_por: left out where datasets have to be independent."""

BASELINE = "none"
_BEGIN, _END = "<!-- table: python -m tools.suite -->", "<!-- table ends -->"
_INTRODUCTION = (
    "Written by `python -m tools.suite` from the committed values; [the findings](FINDINGS.md) say what "
    "follows. Each dataset counts once, by the mean over its ten splits. 1 is the best rank. Improvement is "
    "in mean distance to the metric's ideal. A technique that answers nearly everybody, or each group, the "
    "same in more than half of a dataset's samples takes the last place there, beside the worst technique; "
    "two or more share it. In improvements and tests as well it has the greatest distance of any technique, "
    "which may be its own. P-values are Wilcoxon's, with Holm's correction for all pairs of "
    f"techniques at one metric and level. Of 13 datasets: without {' and '.join(DEPENDENT)}, which share "
    "rows with others. Better, same and worse are posterior probabilities of the Bayesian signed-rank test "
    "with a region of practical equivalence of one point."
)
_PLACE = ["dataset", "beta", "technique"]


@cache
def distances() -> pd.DataFrame:
    """Return the mean distance to the ideal of each technique by dataset, level and metric.

    ``last`` says where the technique was given the last place, and ``value`` has what it was given.
    """
    run = read_frames(FOLDER)
    results, standing = run.results, run.standing
    cells = to_cells(results[results["metric"].isin(METRICS)].reset_index(drop=True))
    found = cells.keys.assign(value=row_means(cells.distances(list_metrics())))
    mostly = standing[2 * standing["n_degenerate"] > results["repetition"].nunique()]
    last = pd.MultiIndex.from_frame(found[_PLACE]).isin(pd.MultiIndex.from_frame(mostly[_PLACE]))
    worst = found.groupby(["dataset", "beta", "metric"], sort=False)["value"].transform("max")
    return found.assign(value=found["value"].mask(last, worst), last=last)


@cache
def over_datasets(independent: bool = False) -> Rankings:
    """Return the distances as blocks of one dataset each, all or those that are independent."""
    own = distances().assign(repetition=0)
    if independent:
        own = own[~own["dataset"].isin(DEPENDENT)]
    own = own.drop(columns="last").reset_index(drop=True)
    return rankings(own, dict.fromkeys(METRICS, LEAST))


@cache
def compared(independent: bool = False) -> pd.DataFrame:
    """Return the tests of all pairs of techniques, with Bayesian probabilities."""
    ranked = over_datasets(independent)
    bayes = bayesian_comparisons(ranked)
    return pairwise_tests(ranked).join(bayes[["p_first", "p_rope", "p_second"]])


@cache
def against_none(metric: str, beta: float, independent: bool = False) -> pd.DataFrame:
    """Compare each technique with none: means over datasets with interval, tests and probabilities.

    Columns ``technique``; ``improvement``, ``low`` and ``high`` in points; ``holm``, Wilcoxon's p-value with
    Holm's correction for all pairs of techniques; ``p_better``, ``p_rope`` and ``p_worse``.
    """
    tests = compared(independent)
    tests = tests[(tests["metric"] == metric) & (tests["beta"] == beta) & (tests["first"] == BASELINE)]
    own = distances()
    own = own[(own["metric"] == metric) & (own["beta"] == beta)]
    wide = own.pivot(index="dataset", columns="technique", values="value")
    if independent:
        wide = wide.drop(index=list(DEPENDENT))
    gains = np.array([wide[BASELINE] - wide[name] for name in tests["second"]])
    low, high = student_intervals(gains)
    return pd.DataFrame(
        {
            "technique": tests["second"].to_numpy(),
            "improvement": 100 * gains.mean(axis=1),
            "low": 100 * low,
            "high": 100 * high,
            "holm": tests["p_wilcoxon_holm"].to_numpy(),
            "p_better": tests["p_second"].to_numpy(),
            "p_rope": tests["p_rope"].to_numpy(),
            "p_worse": tests["p_first"].to_numpy(),
        }
    )


def rank_table(independent: bool = False) -> str:
    """Return mean ranks by metric and level, the best mean over levels of discrimination first."""
    ranks = average_ranks(over_datasets(independent))
    wide = ranks.pivot(index="technique", columns=["metric", "beta"], values="mean_rank")
    wide = wide.loc[wide["discrimination"].mean(axis=1).sort_values(kind="stable").index]
    columns = [(metric, beta) for metric in METRICS for beta in sorted(ranks["beta"].unique())]
    head = ("technique", *(f"{metric}, {beta:g}" for metric, beta in columns))
    rows = [(name, *(f"{wide.loc[name, column]:.1f}" for column in columns)) for name in wide.index]
    return table(head, rows)


def friedman_table() -> str:
    """Return Friedman's tests, over all datasets and over the independent ones."""
    both = [friedman_tests(over_datasets(independent)) for independent in (False, True)]
    pairs = [compared(independent) for independent in (False, True)]
    rows = []
    for i, own in both[0].iterrows():
        at = {name: own[name] for name in ("metric", "beta")}
        row = [f"{at['metric']}, {at['beta']:g}"]
        for tests, tried in zip(both, pairs, strict=True):
            test = tests.loc[i]
            of_pairs = tried[(tried["metric"] == at["metric"]) & (tried["beta"] == at["beta"])]
            row += [f"{test['f']:.1f}", p_text(test["p_f"])]
            row.append(f"{int((of_pairs['p_wilcoxon_holm'] <= 0.05).sum())} of {len(of_pairs)}")
        rows.append(row)
    sizes = [f"{own['n_datasets'].iloc[0]} datasets" for own in both]
    head = ["metric, β", *(f"{what} ({size})" for size in sizes for what in ("F", "p", "pairs that differ"))]
    return table(head, rows)


def none_table(metric: str, beta: float, *, short: bool = False) -> str:
    """Return the comparisons with no technique, the greatest improvement first."""
    every, free = (against_none(metric, beta, independent) for independent in (False, True))
    order = every["improvement"].sort_values(ascending=False, kind="stable").index
    rows = []
    for i in order:
        a, b = every.loc[i], free.loc[i]
        row = [a["technique"], f"{a['improvement']:+.1f} [{a['low']:+.1f}, {a['high']:+.1f}]"]
        row += [p_text(a["holm"]), p_text(b["holm"])]
        chances = [f"{p:.2f}" for p in (a["p_better"], a["p_rope"], a["p_worse"])]
        rows.append([*row, " / ".join(chances)] if short else [*row, *chances])
    head = ["technique", "improvement in points, 95 %", "p, 15", "p, 13"]
    return table([*head, "better / same / worse"] if short else [*head, "better", "same", "worse"], rows)


def p_text(p: float) -> str:
    """Return a p-value with two digits, or that it is smaller than any that matters."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def page() -> str:
    """Return all tables as a page."""
    own = distances()
    betas = sorted(own["beta"].unique())
    last = own[own["last"] & (own["metric"] == "accuracy")]
    counts = last.groupby(["technique", "beta"], sort=False)["dataset"].agg(" ".join).reset_index()
    blocks = [
        "# Ranks over fifteen datasets",
        _INTRODUCTION,
        "## Mean ranks, 15 datasets",
        rank_table(),
        "## Mean ranks, 13 independent datasets",
        rank_table(independent=True),
        "## Friedman's test",
        friedman_table(),
        "## Last places",
        table(
            ("technique", "β", "degenerate on"),
            [(r["technique"], f"{r['beta']:g}", r["dataset"]) for _, r in counts.iterrows()],
        ),
    ]
    for metric in METRICS:
        for beta in betas:
            blocks += [
                f"## {metric.capitalize()} against no technique, β = {beta:g}",
                none_table(metric, beta),
            ]
    return "\n\n".join(blocks) + "\n"


def with_table(text: str) -> str:
    """Return the findings with their table made anew; all else stays as it is."""
    return with_part(text, _BEGIN, f"\n\n{none_table('discrimination', 0.4, short=True)}\n\n", _END)


def draw() -> bytes:
    """Draw mean ranks over the datasets, a panel for each metric and level, with bars along equals."""
    ranked = over_datasets()
    ranks, groups = average_ranks(ranked), rank_groups(ranked)
    betas = sorted(ranks["beta"].unique())
    titles = {t.name: t.title for t in read_run(FOLDER).manifest.techniques}
    places = [(metric, beta) for metric in METRICS[:2] for beta in betas]
    tables = [ranks[(ranks["metric"] == m) & (ranks["beta"] == b)].reset_index(drop=True) for m, b in places]
    labels = [RowLabels([[titles[name]] for name in own["technique"]]) for own in tables]
    room = max(own.width for own in labels) + 0.2
    with style.styled():
        page = Page(
            len(places),
            len(betas),
            panel=(1.5, 0.17 * len(titles)),
            title="Mean ranks of twelve techniques over fifteen datasets",
            subtitle="1 is best. Each dataset counts once, at one level of label bias. Bars at the right "
            "join techniques that are not shown to differ (Wilcoxon over datasets, Holm).",
            notes=[
                "A technique that answers nearly everybody the same on a dataset has the last place there."
            ],
            left=room,
            right=0.6,
            gap=(room + 0.5, 0.42),
            panel_titles=[f"{metric}, β = {beta:g}" for metric, beta in places],
        )
        for axes, own, names, (metric, beta) in zip(page.axes, tables, labels, places, strict=True):
            look = {"s": 22, "lw": 0.6, "ec": "black", **BETA_LOOK}
            axes.scatter(own["mean_rank"], range(len(own)), c=[beta] * len(own), **look)
            names.write(axes)
            axes.set_xlim(0.5, len(own) + 0.5)
            joined = groups[(groups["metric"] == metric) & (groups["beta"] == beta)]
            for lane, (_, group) in enumerate(joined.groupby("group", sort=False)):
                rows = [list(own["technique"]).index(name) for name in group["technique"]]
                x = 1.04 + 0.045 * lane
                ends = [min(rows) - 0.32, max(rows) + 0.32]
                line = {"color": "black", "lw": 2.0, "clip_on": False}
                axes.plot([x, x], ends, transform=axes.get_yaxis_transform(), **line)
    return style.render(page.figure, "png")


def main() -> None:
    """Write the page of ranks, the table of the findings and the figure."""
    write_atomically(RANKS, page().encode())
    if FINDINGS.exists():
        write_atomically(FINDINGS, with_table(FINDINGS.read_text(encoding="utf-8")).encode())
    FIGURE.parent.mkdir(exist_ok=True)
    write_atomically(FIGURE, draw())


if __name__ == "__main__":
    main()
