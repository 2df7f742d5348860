"""At this level of bias, which technique, at what cost: the answers in the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmark.runs.descriptions import RunDescription
from benchmark.runs.frames import Scenario
from benchmark.statistics.answers import CHEAP, LEAST, NEARLY_ALL
from benchmark.tables.answers import (
    accepts,
    answer_counts,
    changes_sign,
    choice_title,
    choices,
    less_words,
    mark_notes,
    scenario_notes,
    signed_title,
    spots,
)
from benchmark.text.words import number

_WIDTHS = (8, 6, 17, 11)  # kind, discrimination, accuracy, accepts; with a blank after each
_HEADINGS = ("", "disc.", "accuracy (change)", "accepts %", "technique")


def print_all_answers(
    console: Console,
    scenarios: Sequence[Scenario],
    answers: pd.DataFrame,
    run: RunDescription,
    *,
    rope: float,
) -> None:
    """Print what to choose in each scenario, and below how that is to be read.

    Parameters
    ----------
    console : Console
        Where to; fits 80 columns.
    scenarios : sequence of Scenario
        In the order in which they are printed.
    answers : DataFrame
        From :func:`~benchmark.statistics.answers.answer_table`.
    run : RunDescription
        What the answers are of.
    rope : float
        Difference up to which two techniques are practically equivalent.
    """
    for scenario in scenarios:
        if len(own := scenario.rows(answers)):
            _print_answers(console, scenario, own, run.titles)
            console.print()
    if len(answers):
        _print_reading(console, answers, run, rope=rope)
        console.print()


def _print_answers(
    console: Console, scenario: Scenario, answers: pd.DataFrame, titles: Mapping[str, str]
) -> None:
    notes = escape("; ".join(scenario_notes(scenario)))
    console.print(
        f"[bold]What to choose: {escape(scenario.heading)}[/bold]" + (f" ({notes})" if notes else ""),
        highlight=False,
    )
    if scenario.dataset.warning:
        console.print(f"Warning: {escape(scenario.dataset.warning)}", style="yellow", highlight=False)
    _print_row(console, *(f"[dim]{heading}[/dim]" for heading in _HEADINGS))
    shown = scenario.telling_levels(sorted(answers["beta"].unique()))
    for _, beta, rows in spots(answers[answers["beta"].isin(shown)]):
        found: list[Any] = list(rows.itertuples(index=False))
        console.print(f"[bold]β = {beta:g}[/bold]: {answer_counts(rows)}", highlight=False)
        for row in (row for row in found if row.verdict == "baseline"):
            _print_row(console, "baseline", *_numbers(row), escape(signed_title(row, titles)))
        picked = choices(found)
        several = rows["baseline"].nunique() > 1
        for row in dict.fromkeys(picked.values()):
            kinds = [name for name, own in picked.items() if own is row]
            kind = kinds[0] if len(kinds) == 1 else "both"
            only = "candidate: " if row.verdict == "candidate" else ""
            against = f" (against {titles[row.baseline]})" if several else ""
            _print_row(console, kind, *_numbers(row), escape(f"{only}{signed_title(row, titles)}{against}"))


def _print_row(console: Console, *cells: str) -> None:
    """Print a line of a table whose columns stand below each other across headings and levels of bias."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    for i, width in enumerate(_WIDTHS):
        grid.add_column(width=width, justify="left" if i in (0, 2) else "right", no_wrap=True)
    grid.add_column(width=max(10, console.width - sum(_WIDTHS) - len(_WIDTHS)), overflow="fold")
    grid.add_row(*cells)
    console.print(grid)


def _print_reading(console: Console, answers: pd.DataFrame, run: RunDescription, *, rope: float) -> None:
    """Print how the answers are to be read: which way is good, what is recommended, what signs mean."""
    compared = answers[answers["technique"] != answers["baseline"]]
    tested, several = bool(compared["tested"].any()), bool(answers["value_low"].notna().any())
    rows: list[Any] = list(answers.itertuples(index=False))
    named = "Recommended" if several else "Candidates, none of them recommended"
    less = less_words(rows, rope)[0]
    if tested and not compared["tested"].all():
        untested = less_words([row for row in rows if not row.tested], rope)[0]
        less += f", or {untested}"
    constant = answers["constant_answer"].ne("").any()
    hidden = any(map(changes_sign, rows))
    where = "on the test data named above" if run.tests_note else "on test rows without planted bias"
    lines = [
        f"β: level of planted bias; 25 % bias is β = 0.25. least: {choice_title(LEAST, rope).lower()}, the "
        f"nearest to 0. {choice_title(CHEAP, rope).replace('Cheap', 'cheap')}. both: least and cheap. "
        "Limits go by unrounded numbers.",
        "disc.: discrimination, share accepted of the favored minus that of the deprived group; below 0 the "
        f"deprived group is ahead. accuracy: {where}; in brackets the change to the baseline"
        + (", ± its interval of 95 %" if several else "")
        + ". accepts: all/deprived/favored.",
        *([run.tests_note] if run.tests_note else []),
        f"{named}: {less} than the baseline, "
        + ("as accurate as the best constant answer or more, " if constant else "")
        + f"a value in every repetition, never the same answer to more than {100 * NEARLY_ALL:.0f} % of all "
        "or of a group. Outdone: a recommended one is no farther from 0 and as accurate or more.",
        *(["|.050|: of either sign in different samples, .050 from 0 on average."] if hidden else []),
        *mark_notes(answers),
    ]
    for line in lines:
        console.print(escape(line), style="dim", highlight=False)


def _numbers(row: Any) -> tuple[str, str, str]:
    left = f"|{short(row.distance)}|" if changes_sign(row) else short(row.value)
    cost = (
        ""
        if row.verdict == "baseline"
        else _change(row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high)
    )
    return left, f"{short(row.accuracy)}{cost}", accepts(row).replace(" %", "").replace(" / ", "/")


def _change(change: float, low: float, high: float) -> str:
    if math.isnan(change):
        return ""
    sign = "+" if float(f"{change:.3f}") > 0 else ""
    # Wide enough for either side, should the interval not be symmetric.
    spread = "" if math.isnan(low) else f"±{short(max(high - change, change - low))}"
    return f" ({sign}{short(change)}{spread})"


def short(value: float | None) -> str:
    """Return three decimals without the zero before the point: five betas have to fit 80 columns."""
    text = "–" if value is None else number(value)
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text
