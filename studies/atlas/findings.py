"""What the atlas says of advice: findings and figure, from its committed tables.

``python -m studies atlas`` writes ``FINDINGS.md``, ``NUMBERS.md`` and the figure anew, and
``studies/atlas/test_atlas.py`` holds them. ``experiments/atlas.toml`` has the question, rules and claims.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from math import isnan
from pathlib import Path

import pandas as pd

from benchmark.atlas.adviser import Adviser
from benchmark.atlas.recommenders import (
    AVERAGE,
    DATA,
    DOSE,
    DROP,
    LETTERS,
    NAMED,
    NOTHING,
    ORACLE,
    RANDOM,
    WRONG_KIND,
    at,
    cluster_means,
    rows_of,
)
from benchmark.columns import EQUALIZE, GOALS, RESTORE
from benchmark.figures import style
from benchmark.figures.page import Page, RowLabels
from benchmark.statistics.hypothesis_tests import sign_flip_p_values
from benchmark.statistics.restoration import NO_REFERENCE, NOTHING_TO_UNDO
from benchmark.text.markdown import table
from benchmark.text.words import p_value
from benchmark.text.writing import PACKED, write_json
from studies.atlas.comparison import CHOICES
from studies.atlas.description import tables_digest
from studies.atlas.regrets import PRIMARY
from studies.estimates import draw_estimate, three, told
from studies.pages import Files, finding, listed, points, sections

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "atlas"
FROZEN = FOLDER / "frozen.json"
"""Digests of released tables, by version: a test holds the tables of a version that was released."""

FINDINGS, NUMBERS, FIGURE = FOLDER / "FINDINGS.md", FOLDER / "NUMBERS.md", FOLDER / "figures" / "regret.png"
TITLE = "What must you know to undo a bias, on data that advice has not seen?"
_SHARES = ("half", "three quarters")
_SHORT = re.compile(r"\b0(?=\.\d)")  # numbers stand without a 0 before the point, as in the table


@cache
def adviser() -> Adviser:
    """Return the advice of the committed tables."""
    return Adviser.of(FOLDER)


def findings() -> str:
    """Return the page of findings."""
    shown: dict[str, list[str]] = {}
    for (goal, dose), verdict in adviser().verdicts.items():
        if verdict.advice in verdict.by:
            shown.setdefault(goal, []).append(f"{dose:g}")
    n_clusters = [
        f"{rows_of(adviser().recommenders, RESTORE, dose).loc[NOTHING, 'n_clusters']:.0f}"
        for dose in adviser().doses
    ]
    places = " and ".join(f"to {goal} at dose {listed(doses)}" for goal, doses in shown.items())
    worth = f"By distance, advice beats simple rules on unseen data: {places}"
    if not shown:
        worth = (
            "Without knowledge of the bias, advice by kind, dose or features is not shown to beat simple "
            "rules on data that it has not seen, for both goals and each dose"
        )
    fates = adviser().claims["fate"].value_counts()
    reading = [
        "**How to read it.** Regret to restore: how much farther from the clean model a choice is than the "
        "best technique that knows nothing, chosen on other splits. Below 0 it is nearer. Percent: agreement "
        f"with the clean model. Brackets: 95 % intervals, not corrected. {_learners()}",
        _by_learner(),
        f"**Told.** {_named_in_words()}",
        f"**Power of the rule.** {_power_in_words()}",
        _nothing_to_restore(),
        "**Claims written before the run**: "
        + ", ".join(f"{n} {fate}" for fate, n in fates.items())
        + " ([each](NUMBERS.md#claims-written-before-the-run)).",
        *_to_run(),
        "**What would change our mind.** More groups of datasets: advice that wins by less is not seen here.",
    ]
    picture = "![Regret of each recommender, with a dot for each group of datasets](figures/regret.png)"
    answer = (
        f"**{worth}.** {_primary()} It was checked on {listed(n_clusters)} groups of datasets. "
        "All goals and choices: [numbers](NUMBERS.md)."
    )
    names = [*(name for name in LETTERS if name not in (WRONG_KIND, RANDOM, ORACLE)), *adviser().states]
    return finding(TITLE, answer, picture, [_table(RESTORE, names)], reading)


def _learners() -> str:
    """Return the learners that are averaged, and those of some doses alone."""
    frame = adviser().scenarios[RESTORE].frame
    of_doses = frame.groupby("classifier")["level"].unique()
    n = frame["level"].nunique()
    always = listed([f"`{name}`" for name, own in of_doses.items() if len(own) == n])
    some = [f"at {own[0]:g} over `{name}` too" for name, own in of_doses.items() if len(own) < n]
    return (
        f"Means are over {', '.join([always, *some])}. A state of knowledge has the learners that were told "
        "it. A cell says so where these are fewer; it cannot be compared with others."
    )


def _of_learners(name: str, dose: float) -> str:
    """Return with which learners of a dose a state of knowledge was run, if not with all."""
    scenarios = adviser().scenarios[RESTORE]
    if name not in scenarios.knows:
        return ""
    here = at(scenarios, dose=dose)
    run = (scenarios.run & scenarios.knowing(name)).any(axis=1)
    of, own = ({*scenarios.frame["classifier"][rows]} for rows in (here, here & run))
    if own == of:
        return ""
    return f"{listed(sorted(own))} alone" if len(own) == 1 else f"without {listed(sorted(of - own))}"


def _by_learner() -> str:
    """Return the primary question with each learner alone: less regret, and p of both measures."""
    choices = _choices()
    choices = choices[(choices["goal"] == RESTORE) & choices["recommender"].isin([DATA, DROP, AVERAGE])]
    shown, texts = [], []
    for learner, own in choices.groupby("classifier"):
        means = {
            name: cluster_means(of, of[["regret", "agreed"]].to_numpy())
            for name, of in ((name, of.reset_index(drop=True)) for name, of in own.groupby("recommender"))
        }
        less = [(means[other] - means[DATA]).to_numpy().T * [[1], [-1]] for _, other in PRIMARY]
        p = [float(sign_flip_p_values(values).max()) for values in less]
        wins = all(values.mean(axis=1).min() > 0 for values in less)
        if wins and max(p) <= adviser().atlas.rules.alpha:
            shown.append(f"`{learner}`")
        numbers = " and ".join(
            f"{three(values[0].mean())} (p {p_value(one, adviser().atlas.rules.alpha)})"
            for values, one in zip(less, p, strict=True)
        )
        texts.append(f"`{learner}`: {numbers}.")
    alone = listed(shown) if shown else "no learner"
    return (
        f"**By learner**, which was not planned. At dose {DOSE:g}, {alone} alone shows that advice from "
        "features beats both simple rules. Less regret than by leaving the group out, and than by the best "
        f"on average: {' '.join(texts)}"
    )


def _primary() -> str:
    """Return the answer to the primary question, by the larger p-value of distance's and agreement's."""
    alpha, shown, missed, nothing, agreement = adviser().atlas.rules.alpha, [], [], [], []
    for dose in adviser().doses:
        rows = [_contrast(name, other, dose) for name, other in PRIMARY]
        p = max(float(row["p_corrected"]) for row in rows if row is not None)
        (shown if p <= alpha else missed).append(f"{dose:g} (p {p_value(p, alpha)})")
        over = _contrast(DATA, NOTHING, dose)
        if over is not None:
            less, agrees = (
                told(tuple(float(over[f"{name}{end}"]) for end in ends), three)
                for name, ends in (
                    ("", ("difference", "difference_low", "difference_high")),
                    ("agreement_", ("difference", "low", "high")),
                )
            )
            nothing.append(f"{less} at {dose:g}")
            agreement.append(agrees)
    beat = "to beat both simple rules, in agreement too"
    text = f"To restore, advice from features is {'' if shown else 'not '}shown {beat}"
    text += f", at dose {listed(shown)}." if shown else "."
    if shown and missed:
        text += f" That is not shown at {listed(missed)}."
    return (
        f"{text} Over doing nothing, its regret is less by {listed(nothing)}. Agreement changes "
        f"by {listed(agreement)}."
    )


def numbers() -> str:
    """Return the page of all numbers behind the findings."""
    claims = [
        f"{claim['text']} **{claim['fate'].capitalize()}**: {_SHORT.sub('', claim['evidence'])}."
        for claim in adviser().claims.to_dict("records")
    ]
    parts = {
        "Numbers of advice on data that it has not seen": points(_NOTES),
        "To restore": _table(RESTORE, [*LETTERS, *adviser().tellings]),
        "Named contrasts to restore": _named(),
        "To equalize": _table(EQUALIZE, [*LETTERS]),
        "How often such atlases would print advice": _power(),
        "Claims written before the run": points(claims),
    }
    return sections(parts)


_NOTES = (
    "Written by `python -m studies atlas`. [The findings](FINDINGS.md) say what follows, "
    "[the experiment](../../experiments/atlas.toml) has the rules, written before the run.",
    "Regret: how much farther from the goal a choice is than the best technique that knows nothing, chosen "
    "on other splits. Percent: agreement with the clean model. Brackets: 95 % intervals, not corrected.",
    "Named contrasts are corrected together by Holm's method. They are shown if regret is less and agreement "
    "is more.",
    "A state of knowledge has the scenarios of learners that were told it. Where these are fewer than those "
    "of the dose, its cell says so, and it cannot be compared with other rows.",
    f"Claims are told at dose {DOSE:g}. The power is the lower one of advice by kind and by features.",
)


def _table(goal: str, names: Sequence[str]) -> str:
    """Return the table of some recommenders for a goal, by dose: what they know comes first."""
    frames = [rows_of(adviser().recommenders, goal, dose) for dose in adviser().doses]
    lines = []
    for name in names:
        if name != ORACLE and any(name in frame.index for frame in frames):  # its regret is 0 by definition
            words = (
                ["nothing", LETTERS[name]] if name in LETTERS else [adviser().title(name), "best elsewhere"]
            )
            values = [_regret(frame.loc[name], goal) if name in frame.index else "" for frame in frames]
            if goal == RESTORE:
                few = [_of_learners(name, dose) for dose in adviser().doses]
                values = [", ".join(filter(None, pair)) for pair in zip(values, few, strict=True)]
            lines.append([*words, *values])
    return table(["knows", f"to {goal}", *_headings()], lines)


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
    lines = []
    for name, other in NAMED:
        rows = {dose: _contrast(name, other, dose) for dose in adviser().doses}
        if any(row is not None for row in rows.values()):
            title = f"{adviser().title(name)}, against {adviser().title(other)}"
            lines.append([title, *("" if row is None else _lessened(row) for row in rows.values())])
    return table(["named contrast", *_headings()], lines)


def _contrast(name: str, other: str, dose: float) -> pd.Series | None:
    """Return the row of a contrast to restore, if there is one."""
    rows = rows_of(adviser().recommenders, RESTORE, dose, against=other)
    return rows.loc[name] if name in rows.index else None


def _named_in_words() -> str:
    """Return the named contrasts of what is told, at the dose of claims."""
    texts = []
    for name, other in NAMED[1:]:
        row = _contrast(name, other, DOSE)
        if row is not None:
            texts.append(f"{adviser().title(name).capitalize()}: {_lessened(row)}.")
    head = f"Less regret at dose {DOSE:g} than the best on average elsewhere, with p by Holm's method. "
    return head + " ".join(texts) if texts else "Nothing is told in these tables."


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
    lines = [
        [
            f"{goal}, if it takes {share} of what the simple rule leaves",
            *(_printed(goal, i, d) for d in adviser().doses),
        ]
        for goal in GOALS
        for i, share in enumerate(_SHARES)
    ]
    return table(["to", *_headings()], lines)


def _power_in_words() -> str:
    """Return the power of the rule at the dose of claims."""
    texts = [f"{_printed(goal, 0, DOSE)} to {goal}" for goal in GOALS]
    return (
        f"Take advice that saves {_SHARES[0]} of what the simple rule leaves, at dose {DOSE:g}. So many such "
        f"atlases would print it: {' and '.join(texts)}."
    )


def _printed(goal: str, share: int, dose: float) -> str:
    """Return how often advice would be printed that takes a share of what the simple rule leaves."""
    by = adviser().verdicts[goal, dose].by.values()
    powers = [evidence.power[share] for evidence in by if not isnan(evidence.power[share])]
    return f"{100 * min(powers):.0f} %" if powers else "nothing is left"


def _nothing_to_restore() -> str:
    """Return a sentence on scenarios with nothing to restore."""
    reasons = adviser().undo_reasons
    counts = {reason: int((reasons == reason).sum()) for reason in (NOTHING_TO_UNDO, NO_REFERENCE)}
    return (
        f"**Nothing to restore.** In {counts[NO_REFERENCE]} of {len(reasons):,} scenarios the clean model "
        f"answers nearly all alike. In {counts[NOTHING_TO_UNDO]} others the bias moves little."
    )


@cache
def _choices() -> pd.DataFrame:
    """Return the choices at the dose of claims, with their regret."""
    choices = pd.read_csv(FOLDER / f"{CHOICES}{PACKED}")
    return choices[choices["level"] == DOSE].assign(regret=choices["score"] - choices["oracle"])


def draw() -> bytes:
    """Draw the regret of each recommender for both goals, a dot for each group of datasets."""
    choices = _choices()
    of = dict(list(choices.groupby(["goal", "recommender"])))
    names = [name for name in [*LETTERS, *adviser().states] if name != ORACLE and (RESTORE, name) in of]
    few = {name: _of_learners(name, DOSE) for name in names}
    labels = RowLabels([adviser().title(name) + f" ({few[name]})" * bool(few[name]) for name in names])
    with style.styled():
        page = Page(
            2,
            2,
            panel=(3.0, 0.3 * len(names)),
            title=TITLE,
            subtitle=f"Dose {DOSE:g}. A dot for each group of datasets; black: means with 95 % intervals.",
            notes=["Regret: distance to the goal, less that of the best technique that knows nothing."],
            panel_titles=list(GOALS),
        )
        for number, (axes, goal) in enumerate(zip(page.panels, GOALS, strict=True)):
            axes.axvline(0, **style.RULE)
            for row, name in enumerate(names):
                if (goal, name) not in of:
                    continue
                here = of[goal, name].reset_index(drop=True)
                dots = cluster_means(here, here["regret"].to_numpy())[0].to_numpy()
                axes.scatter(dots, [row] * len(dots), s=12, color=style.BLUE, alpha=0.6, lw=0, zorder=2)
                line = rows_of(adviser().recommenders, goal).loc[name]
                estimate = (float(line["regret"]), float(line["regret_low"]), float(line["regret_high"]))
                draw_estimate(axes, row, estimate, "black")
            labels.write(axes, named=number == 0)
    return style.render(page.fit(), "png")


FILES: Files = {FINDINGS: findings, NUMBERS: numbers, FIGURE: draw}


def frozen() -> dict[str, str]:
    """Return the digests of released tables, by the atlas's version."""
    return dict(json.loads(FROZEN.read_bytes())) if FROZEN.is_file() else {}


if __name__ == "__main__":  # a release stays
    write_json(FROZEN, {adviser().atlas.version: tables_digest(FOLDER), **frozen()})
