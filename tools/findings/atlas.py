"""What the atlas says of advice: findings and figure, from its committed tables.

``python -m tools.findings.atlas`` writes ``FINDINGS.md`` and the figure anew, and
``tests/findings/test_atlas.py`` holds them. ``experiments/atlas.toml`` has the question, rules and claims.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import cache
from math import isnan
from pathlib import Path

import pandas as pd

from benchmark.atlas.adviser import Adviser
from benchmark.atlas.comparison import Compared, compared
from benchmark.atlas.description import tables_digest
from benchmark.atlas.recommenders import LETTERS, NOTHING, ORACLE, cluster_means
from benchmark.atlas.regret import ALL, DOSE, NAMED, rows_of
from benchmark.columns import EQUALISE, GOALS, RESTORE
from benchmark.figures import style
from benchmark.figures.page import Page, RowLabels
from benchmark.statistics.restoration import NO_REFERENCE, NOTHING_TO_UNDO
from benchmark.text.markdown import table
from benchmark.text.words import p_value
from benchmark.text.writing import write_json
from tools.estimates import draw_estimate, three, told
from tools.pages import finding, write_all

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "atlas"
FROZEN = FOLDER / "frozen.json"
"""Digests of released tables, by version: a test holds the tables of a version that was released."""

FINDINGS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "figures" / "regret.png"
_SHORT = re.compile(r"\b0(?=\.\d)")  # numbers stand without a 0 before the point, as in the table


@cache
def adviser() -> Adviser:
    """Return the advice of the committed tables."""
    return Adviser.of(FOLDER)


@cache
def sets() -> dict[tuple[str, str], Compared]:
    """Return the compared recommenders by goal and kind of scenarios."""
    return {(part.goal, part.kind): part.at_dose() for part in compared(adviser().tables)}


def findings() -> str:
    """Return the page of findings."""
    verdicts, doses = adviser().verdicts, adviser().doses
    shown = [(goal, dose) for (goal, dose), verdict in verdicts.items() if verdict.advice in verdict.by]
    n_clusters = int(rows_of(adviser().recommenders, RESTORE).loc[NOTHING, "n_clusters"])
    worth = "Advice beats simple rules on data that it has not seen to " + " and to ".join(
        f"{goal} at dose {dose:g}" for goal, dose in shown
    )
    if not shown:
        worth = (
            "Without knowledge of the bias, advice by kind, dose or features is not shown to beat simple "
            "rules on data that it has not seen. This holds for both goals and each dose"
        )
    reading = [
        "**How to read it.** Regret: how much farther from the goal a choice is than the best technique that "
        "knows nothing, chosen on other splits. Below 0 it is nearer. Percent: agreement with the clean "
        f"model. Brackets: 95 % intervals, not corrected. Claims are told at dose {DOSE:g}.",
        "**Named contrasts** are corrected together by Holm's method. They are shown if regret is less and "
        "agreement is more.",
        "**Power of the rule**: the lower one of advice by kind and by features.",
        *_nothing_to_restore(),
        *(
            f"{claim['text']} **{claim['fate'].capitalize()}**: {_SHORT.sub('', claim['evidence'])}."
            for claim in adviser().claims.to_dict("records")
        ),
        *_to_run(),
        "**What would change our mind.** More groups of datasets: advice that wins by less is not seen here.",
    ]
    picture = "![Regret of each recommender, with a dot for each group of datasets](figures/regret.png)"
    title = "What must you know to undo a bias, on data that advice has not seen?"
    tables = [_table(RESTORE, doses), _named(), _table(EQUALISE, doses), _power()]
    return finding(title, f"**{worth}, over {n_clusters} groups of datasets.**", picture, tables, reading)


def _table(goal: str, doses: Sequence[float]) -> str:
    """Return the table of recommenders for a goal, by dose: what they know comes first."""
    frames = [rows_of(adviser().recommenders, goal, dose) for dose in doses]
    names = [*LETTERS, *adviser().tellings] if goal == RESTORE else [*LETTERS]
    lines = []
    for name in names:
        if name != ORACLE and any(name in frame.index for frame in frames):  # its regret is 0 by definition
            words = (
                ["nothing", LETTERS[name]] if name in LETTERS else [adviser().title(name), "best elsewhere"]
            )
            values = [_regret(frame.loc[name], goal) if name in frame.index else "" for frame in frames]
            lines.append([*words, *values])
    return table(["knows", f"to {goal}", *(f"dose {dose:g}" for dose in doses)], lines)


def _regret(row: pd.Series, goal: str) -> str:
    ends = (row["regret"], row["regret_low"], row["regret_high"])
    agreement = f", {100 * row['agreement']:.1f} %" if goal == RESTORE else ""
    return f"{told(ends, three)}{agreement}"


def _to_run() -> list[str]:
    """Return a point on the parts of the file that are not yet run, if there are any."""
    parts = adviser().parts_to_run
    return [f"**Not yet run**: {', '.join(f'`{part}`' for part in parts)}."] if parts else []


def _named() -> str:
    """Return the table of named contrasts to restore, by dose."""
    frames = {
        (dose, other): rows_of(adviser().recommenders, RESTORE, dose, against=other)
        for dose in adviser().doses
        for _, other in NAMED
    }
    lines = []
    for name, other in NAMED:
        rows = [frames[dose, other] for dose in adviser().doses]
        if any(name in frame.index for frame in rows):
            title = f"{adviser().title(name)}, against {adviser().title(other)}"
            lines.append([title, *(_lessened(f.loc[name]) if name in f.index else "" for f in rows)])
    return table(["named contrast to restore", *_headings()], lines)


def _headings() -> list[str]:
    return [f"dose {dose:g}" for dose in adviser().doses]


def _lessened(row: pd.Series) -> str:
    """Return by how much a recommender has less regret than another, and whether that is shown."""
    alpha, p = adviser().atlas.rules.alpha, float(row["p_corrected"])
    low, high = float(row["difference_low"]), float(row["difference_high"])
    agrees = f"agreement {100 * row['agreement_difference']:+.1f} points"
    both = row["difference"] > 0 and row["agreement_difference"] > 0
    shown = f"p {p_value(p, alpha)}, {'shown' if p <= alpha and both else 'not shown'}"
    less = told((float(row["difference"]), low, high), three)
    return f"{less}; {agrees}; {'undecided' if isnan(p) else shown}"


def _power() -> str:
    """Return the table of the power of the rule that lets advice be printed."""
    lines = []
    for goal in GOALS:
        for i, share in enumerate(("half", "three quarters")):
            powers = [
                [e.power[i] for e in adviser().verdicts[goal, dose].by.values() if not isnan(e.power[i])]
                for dose in adviser().doses
            ]
            texts = [f"{100 * min(some):.0f} %" if some else "nothing is left" for some in powers]
            lines.append([f"{goal}, {share} of what the simple rule leaves", *texts])
    return table(["such atlases would print advice that takes, to", *_headings()], lines)


def _nothing_to_restore() -> list[str]:
    """Return a point on scenarios with nothing to restore."""
    reasons = adviser().undo_reasons
    counts = {reason: int((reasons == reason).sum()) for reason in (NOTHING_TO_UNDO, NO_REFERENCE)}
    return [
        f"**Nothing to restore.** In {counts[NO_REFERENCE]} of {len(reasons):,} scenarios the clean model "
        f"answers nearly all alike. In {counts[NOTHING_TO_UNDO]} others the bias moves little."
    ]


def draw() -> bytes:
    """Draw the regret of each recommender for both goals, a dot for each group of datasets."""
    choices = sets()[RESTORE, ALL].choices
    names = [name for name in [*LETTERS, *adviser().tellings] if name in choices and name != ORACLE]
    labels = RowLabels([adviser().title(name) for name in names])
    with style.styled():
        page = Page(
            2,
            2,
            panel=(3.0, 0.3 * len(names)),
            title="What must you know to undo a bias, on data that advice has not seen?",
            subtitle=f"Dose {DOSE:g}. A dot for each group of datasets; black: means with 95 % intervals.",
            notes=["Regret: distance to the goal, less that of the best technique that knows nothing."],
            panel_titles=list(GOALS),
        )
        for number, (axes, goal) in enumerate(zip(page.panels, GOALS, strict=True)):
            part = sets()[goal, ALL]
            axes.axvline(0, **style.RULE)
            for row, name in enumerate(names):
                if name not in part.choices:
                    continue
                regret = part.choices[name].score - part.choices[ORACLE].score
                dots = cluster_means(part.scenarios.frame, regret)[0].to_numpy()
                axes.scatter(dots, [row] * len(dots), s=12, color=style.BLUE, alpha=0.6, lw=0, zorder=2)
                line = rows_of(adviser().recommenders, goal).loc[name]
                estimate = (float(line["regret"]), float(line["regret_low"]), float(line["regret_high"]))
                draw_estimate(axes, row, estimate, "black")
            labels.write(axes, named=number == 0)
    return style.render(page.fit(), "png")


def pages() -> dict[Path, bytes]:
    """Return the findings by their file."""
    return {FINDINGS: findings().encode()}


def frozen() -> dict[str, str]:
    """Return the digests of released tables, by the atlas's version."""
    return dict(json.loads(FROZEN.read_bytes())) if FROZEN.is_file() else {}


def main() -> None:
    """Write the page and the figure; with ``freeze`` record the tables' digest at a release."""
    if sys.argv[1:] == ["freeze"]:
        write_json(FROZEN, {adviser().atlas.version: tables_digest(FOLDER), **frozen()})  # a release stays
    write_all({**pages(), FIGURE: draw()})


if __name__ == "__main__":
    main()
