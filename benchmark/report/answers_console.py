"""At this level of bias, which technique, at what cost: the answers in the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmark.runs.frames import Scenario
from benchmark.statistics.answers import CHEAP, LEAST, NEARLY_ALL
from benchmark.tables.answers import (
    INERT,
    accepts,
    answer_counts,
    changes_sign,
    choice_title,
    choices,
    constant_title,
    less_words,
    mark_notes,
    marked_title,
    spots,
)
from benchmark.text.words import number

_WIDTHS = (20, 20, 13)  # with two blanks before each


def print_all_answers(
    console: Console,
    scenarios: Sequence[Scenario],
    answers: pd.DataFrame,
    titles: Mapping[str, str],
    *,
    rope: float,
) -> None:
    """Print how answers are to be read, and those of each scenario, as :func:`print_answers` does."""
    if answers.empty:
        return
    _print_reading(console, answers, rope=rope)
    for scenario in scenarios:
        if len(own := scenario.rows(answers)):
            console.print()
            print_answers(console, scenario, own, titles)
    console.print()


def print_answers(
    console: Console, scenario: Scenario, answers: pd.DataFrame, titles: Mapping[str, str]
) -> None:
    """Print what to choose at each level of bias of one dataset, bias and classifier, in 80 columns.

    The answers are its rows of :func:`~benchmark.statistics.answers.answer_table`.
    """
    headings = (escape(scenario.heading), "discrimination", "accuracy", "accepts %")
    _print_row(console, *(f"[bold]{heading}[/bold]" for heading in headings))
    if scenario.dataset.roles:
        console.print(escape(scenario.dataset.roles), style="dim", highlight=False)
    if scenario.dataset.warning:
        console.print(f"Warning: {escape(scenario.dataset.warning)}", style="yellow", highlight=False)
    if scenario.inert:
        console.print(f"Note: {INERT}", style="yellow", highlight=False)
    shown = scenario.telling_levels(sorted(answers["beta"].unique()))
    for _, beta, rows in spots(answers[answers["beta"].isin(shown)]):
        found: list[Any] = list(rows.itertuples(index=False))
        console.print(f"[bold]β = {beta:g}[/bold]: {answer_counts(rows)}", highlight=False)
        for row in (row for row in found if row.verdict == "baseline"):
            _print_row(console, escape(f"baseline: {marked_title(row, titles)}"), *_numbers(row))
        picked = choices(found)
        for row in dict.fromkeys(picked.values()):
            names = " and ".join(name for name, own in picked.items() if own is row)
            kind = "candidate, " if row.verdict == "candidate" else ""
            _print_row(console, escape(f"{kind}{names}: {titles[row.technique]}"), *_numbers(row))
    if constant := scenario.dataset.best_constant:
        accepted = "/".join(["100" if constant.accepts else "0"] * 3)
        numbers = (short(0.0), short(constant.accuracy), accepted)
        _print_row(console, constant_title(constant.words), *numbers)


def _print_row(console: Console, name: str, *numbers: str) -> None:
    """Print a line of a table whose columns stand below each other across headings and levels of bias."""
    grid = Table.grid(padding=(0, 0, 0, 2))
    grid.add_column(width=max(10, console.width - sum(_WIDTHS)), overflow="fold")
    for width in _WIDTHS:
        grid.add_column(width=width, justify="right", overflow="fold")
    grid.add_row(name, *numbers)
    console.print(grid)


def _print_reading(console: Console, answers: pd.DataFrame, *, rope: float) -> None:
    """Print how the answers are to be read: which way is good, what is recommended, what signs mean."""
    compared = answers[answers["technique"] != answers["baseline"]]
    tested, several = bool(compared["tested"].any()), bool((answers["n"] > 1).any())
    rows: list[Any] = list(answers.itertuples(index=False))
    named = "Recommended" if several else "Candidates, none of them recommended"
    less = less_words(rows, rope)[0]
    if tested and not compared["tested"].all():
        untested = less_words([row for row in rows if not row.tested], rope)[0]
        less += f", or {untested}"
    constant = answers["constant_answer"].ne("").any()
    either = ["±.050 alone: of either sign in different samples, on average .050 from 0."]
    lines = [
        "What to choose. β: the level of planted bias; 25 % bias is β = 0.25. "
        f"Least: {choice_title(LEAST, rope).lower()}. {choice_title(CHEAP, rope)}.",
        "Discrimination: 0 is ideal, negative where the deprived group is better off. Accuracy: 1 is ideal. "
        "In brackets: change to the baseline"
        + (", ± holds the interval of 95 %. " if several else ". ")
        + "Accepts: share predicted the favorable outcome, in % of all, of the deprived, of the favored.",
        f"{named}: {less} than the baseline, "
        + ("as accurate as the best constant answer or more, " if constant else "")
        + "a value in every repetition, and never the same answer to more than "
        f"{100 * NEARLY_ALL:.0f} % of all or of a group.",
        *(either if any(map(changes_sign, rows)) else []),
        *mark_notes(answers),
    ]
    for line in lines:
        console.print(escape(line), style="dim", highlight=False)


def _numbers(row: Any) -> tuple[str, str, str]:
    left = f"±{short(row.distance)}" if changes_sign(row) else short(row.value)
    discrimination = _change(row.change, row.change_low, row.change_high)
    accuracy = _change(row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high)
    if row.verdict == "baseline":
        discrimination = accuracy = ""
    accepted = accepts(row).replace(" %", "").replace(" / ", "/")
    return f"{left}{discrimination}", f"{short(row.accuracy)}{accuracy}", accepted


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
