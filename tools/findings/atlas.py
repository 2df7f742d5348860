"""What the atlas says of advice: findings and figure, from its committed tables.

``python -m tools.findings.atlas`` writes ``FINDINGS.md`` and the figure anew, and
``tests/findings/test_atlas.py`` holds them. ``experiments/atlas.toml`` has the question, rules and claims.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from math import isnan
from pathlib import Path

import pandas as pd

from benchmark.atlas.adviser import Adviser
from benchmark.atlas.comparison import Compared, compared
from benchmark.atlas.description import tables_digest
from benchmark.atlas.recommenders import (
    AVERAGE,
    DROP,
    KIND,
    LETTERS,
    NOTHING,
    ORACLE,
    cluster_means,
)
from benchmark.atlas.regret import ALL, HIDDEN, TO_UNDO, rows_of
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
    return {(part.goal, part.kind): part for part in compared(adviser().tables, (ALL,))}


def contrasts(goal: str) -> pd.DataFrame:
    """Return the contrasts with the simple rule, by recommender."""
    return rows_of(adviser().recommenders, goal, against=adviser().verdicts[goal].simple)


def findings() -> str:
    """Return the page of findings."""
    verdicts = adviser().verdicts
    shown = [goal for goal in GOALS if verdicts[goal].advice in verdicts[goal].by]
    n_clusters = int(rows_of(adviser().recommenders, RESTORE).loc[NOTHING, "n_clusters"])
    worth = f"Advice beats simple rules on data that it has not seen to {' and to '.join(shown)}."
    if not shown:
        worth = (
            "Advice by kind of bias, dose or features is not shown to beat simple rules on data that it has "
            f"not seen. This holds for both goals, over {n_clusters} groups of datasets."
        )
    simple = {goal: LETTERS[verdicts[goal].simple].split(") ")[1] for goal in GOALS}
    rules = f"The simple rule to restore is: {simple[RESTORE]}. To equalize, it is: {simple[EQUALISE]}."
    if len({*simple.values()}) == 1:
        rules = f"The simple rule for both goals is: {simple[RESTORE]}."
    detectable = {goal: three(float(contrasts(goal)["detectable"][KIND])) for goal in GOALS}
    reading = [
        "**How to read it.** Regret: how much farther from the goal a choice is than the best technique, "
        "chosen on other splits. Percent: share of that technique's gain over doing nothing. Brackets: 95 % "
        "intervals, not corrected.",
        *_average_in_doubt(),
        *_nothing_to_restore(),
        *(
            f"{claim['text']} **{claim['fate'].capitalize()}**: {_SHORT.sub('', claim['evidence'])}."
            for claim in adviser().claims.to_dict("records")
        ),
        "**Smallest difference** shown in four of five cases, (d) against the simple rule: "
        f"{detectable[RESTORE]} to restore, {detectable[EQUALISE]} to equalize.",
        *_to_run(),
        "**What would change our mind.** More groups of datasets: advice that wins by less is not seen here.",
    ]
    picture = "![Regret of each recommender, with a dot for each group of datasets](figures/regret.png)"
    title = "Is advice on techniques worth anything on data that it has not seen?"
    return finding(title, f"**{worth}** {rules}", picture, [_table()], reading)


def _table() -> str:
    """Return the table of recommenders, by goal and set of scenarios."""
    sets = [(goal, kind) for kind in (ALL, TO_UNDO, HIDDEN) for goal in GOALS]
    sets = [(goal, kind) for goal, kind in sets if len(rows_of(adviser().recommenders, goal, kind=kind))]
    among = {ALL: "", TO_UNDO: ", something to restore", HIDDEN: ", hidden bias"}
    names = [goal + among[kind] for goal, kind in sets]
    frames = [rows_of(adviser().recommenders, goal, kind=kind) for goal, kind in sets]
    lines = []
    for name, words in LETTERS.items():
        if name == ORACLE:  # 0 by definition
            continue
        cells = [_regret(frame.loc[name]) if name in frame.index else "" for frame in frames]
        lines.append([words, *cells])
    return table(["recommender", *names], lines)


def _regret(row: pd.Series) -> str:
    ends = (row["regret"], row["regret_low"], row["regret_high"])
    return f"{told(ends, three)}, {100 * row['share_of_gain']:.0f} %"


def _to_run() -> list[str]:
    """Return a point on the parts of the file that are not yet run, if there are any."""
    parts = adviser().parts_to_run
    return [f"**Not yet run**: {', '.join(f'`{part}`' for part in parts)}."] if parts else []


def _average_in_doubt() -> list[str]:
    """Return a point on the best on average to restore, against the simpler rules."""
    drop, nothing = (_lessened(ALL, other) for other in (DROP, NOTHING))
    advice = adviser().advise(RESTORE)
    to_try = "shown to help" if advice.shown else "not shown to help"
    return [
        f"**To restore**, the regret of (c) is below (b)'s by {drop}. It is below (a)'s by {nothing}. For "
        f"C4.5 (c) is `{advice.elsewhere}`, {to_try}."
    ]


def _lessened(kind: str, other: str) -> str:
    """Return by how much the best on average has less regret to restore, and whether that is shown."""
    row = rows_of(adviser().recommenders, RESTORE, kind=kind, against=other).loc[AVERAGE]
    alpha, p = adviser().atlas.rules.alpha, float(row["p_corrected"])
    ends = tuple(float(row[f"difference{end}"]) for end in ("", "_low", "_high"))
    shown = f"{p_value(p, alpha)}: {'shown' if p <= alpha else 'not shown'}"
    corrected = "undecided" if isnan(p) else shown
    return f"{told((ends[0], ends[1], ends[2]), three)} (corrected p {corrected})"


def _nothing_to_restore() -> list[str]:
    """Return a point on scenarios with nothing to restore, without which the numbers are other ones."""
    rows = rows_of(adviser().recommenders, RESTORE, kind=TO_UNDO)
    if rows.empty:
        return []
    reasons = adviser().undo_reasons
    counts = {reason: int((reasons == reason).sum()) for reason in (NOTHING_TO_UNDO, NO_REFERENCE)}
    return [
        f"**Nothing to restore.** In {counts[NO_REFERENCE]} of {len(reasons):,} scenarios the clean model "
        f"answers nearly all alike. In {counts[NOTHING_TO_UNDO]} others the bias moves little. "
        "Without them (third column), the regret of (c) is below (a)'s by "
        f"{_lessened(TO_UNDO, NOTHING)}."
    ]


def draw() -> bytes:
    """Draw the regret of each recommender for both goals, a dot for each group of datasets."""
    names = [name for name in LETTERS if name in sets()[RESTORE, ALL].choices and name != ORACLE]
    labels = RowLabels([LETTERS[name] for name in names])
    with style.styled():
        page = Page(
            2,
            2,
            panel=(3.0, 0.3 * len(names)),
            title="Is advice on techniques worth anything on data that it has not seen?",
            subtitle="A dot for each group of datasets; black: means with 95 % intervals.",
            notes=["Regret: distance to the goal of the chosen technique minus the best one's; 0 is ideal."],
            panel_titles=list(GOALS),
        )
        for number, (axes, goal) in enumerate(zip(page.panels, GOALS, strict=True)):
            part = sets()[goal, ALL]
            axes.axvline(0, **style.RULE)
            for row, name in enumerate(names):
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
