"""At this level of bias, which technique, at what cost: the answers in the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from benchmark.runs.descriptions import RunDescription
from benchmark.runs.frames import Scenario
from benchmark.statistics.answers import NEARLY_ALL
from benchmark.statistics.choices import CHEAP, COMPARED_WITH, LEAST, RESTORES
from benchmark.statistics.frames import ScenarioKey
from benchmark.tables.answers import (
    accepts,
    answer_counts,
    choices,
    is_chosen,
    mark_notes,
    scenario_notes,
    signed_title,
    spots,
)
from benchmark.tables.choice_words import (
    better_in_both,
    changes_sign,
    choice_title,
    fall_words,
    few_sentences,
    less_words,
    recommended_as_well,
    restored_sentences,
    tie_sentences,
)
from benchmark.text.words import number

_WIDTHS = (8, 6, 17, 11)  # kind, discrimination, accuracy, accepts; with a blank after each
_BOTH = "both"
_MOST_IN_FULL = 6  # scenarios; of more, those that name the same techniques are printed together
_HEADINGS = ("", "disc.", "accuracy (change)", "accepts %", "technique")


def print_all_answers(
    console: Console,
    scenarios: Sequence[Scenario],
    answers: pd.DataFrame,
    run: RunDescription,
    *,
    rope: float,
    marked: bool = False,
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
    marked : bool
        Whether a table above has signs at all techniques.
    """
    there = [scenario for scenario in scenarios if len(scenario.rows(answers))]
    alike = _alike(there, answers) if len(there) > _MOST_IN_FULL else {}
    summarized = {key for group in alike.values() for key in group}
    for scenario in there:
        own = scenario.rows(answers)
        if scenario.key not in summarized:
            _print_answers(console, scenario, own, run.titles, rope)
            console.print()
        elif scenario.key in alike:
            _print_summary(console, [one for one in there if one.key in alike[scenario.key]], answers, run)
            console.print()
    if len(answers):
        _print_reading(console, answers, run, rope=rope, marked=marked)
        console.print()


def _print_answers(
    console: Console, scenario: Scenario, answers: pd.DataFrame, titles: Mapping[str, str], rope: float
) -> None:
    notes = escape("; ".join(scenario_notes(scenario, titles)))
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
        for verdict, kind in (("untreated", "nothing"), ("baseline", "baseline")):
            for row in (row for row in found if row.verdict == verdict):
                _print_row(console, kind, *_numbers(row), escape(signed_title(row, titles)))
        picked = choices(found)
        several = rows["baseline"].nunique() > 1
        for row in dict.fromkeys(picked.values()):
            kinds = [name for name, own in picked.items() if own is row]
            only = "candidate: " if row.verdict == "candidate" else ""
            against = f" (against {titles[row.baseline]})" if several else ""
            title = f"{only}{signed_title(row, titles)}{against}"
            # One line for each: "least", "cheap" and "restores" need not be read together.
            for kind in [_BOTH] if kinds[:2] == [LEAST, CHEAP] else kinds[:1]:
                _print_row(console, kind, *_numbers(row), escape(title))
            if RESTORES in kinds[1:]:
                _print_row(console, RESTORES, "the same", "", "", escape(titles[row.technique]))
            if words := fall_words(row):
                _print_note(console, f"{titles[row.technique]} {words}.")
        of_recommended = {name: row for name, row in picked.items() if name != RESTORES}
        for sentence in (
            *tie_sentences(of_recommended, found, titles, rope),
            *recommended_as_well(of_recommended, found, titles),
            *better_in_both(of_recommended, found, titles),
            *restored_sentences(found, titles, list(of_recommended.values()), rope),
        ):
            _print_note(console, sentence)


def _alike(scenarios: Sequence[Scenario], answers: pd.DataFrame) -> dict[ScenarioKey, list[ScenarioKey]]:
    """Return groups of scenarios of one dataset and bias that name the same techniques at all levels.

    The groups, of two scenarios or more, are by the key of their first.
    """
    found: dict[tuple[object, ...], list[ScenarioKey]] = {}
    for scenario in scenarios:
        own = scenario.rows(answers)
        named = own.loc[own["choice"] != "", ["beta", "technique", "choice"]].sort_values(
            ["beta", "technique"]
        )
        said = tuple(named.itertuples(index=False, name=None))
        found.setdefault((*scenario.key[:2], said), []).append(scenario.key)
    return {keys[0]: keys for keys in found.values() if len(keys) > 1}


def _print_summary(
    console: Console, scenarios: Sequence[Scenario], answers: pd.DataFrame, run: RunDescription
) -> None:
    """Print what is the same in several scenarios of one dataset and bias: which techniques are named."""
    first = scenarios[0]
    notes = escape("; ".join(scenario_notes(first, run.titles)))
    title = f"What to choose, the same in {len(scenarios)} cases of {first.dataset.heading}"
    console.print(f"[bold]{escape(title)}[/bold]" + (f" ({notes})" if notes else ""), highlight=False)
    if first.dataset.warning:
        console.print(f"Warning: {escape(first.dataset.warning)}", style="yellow", highlight=False)
    _print_note(console, "; ".join(scenario.heading for scenario in scenarios))
    rows = pd.concat([scenario.rows(answers) for scenario in scenarios])
    for beta, own in rows.groupby("beta"):
        named = own[own["choice"] != ""].groupby(["choice", "technique"], sort=False)
        parts = [
            f"{choice}: {run.titles[str(technique)]} (disc. {short(found['value'].min())} to "
            f"{short(found['value'].max())}, accuracy {short(found['accuracy'].min())} to "
            f"{short(found['accuracy'].max())})"
            for (choice, technique), found in named
        ]
        text = "; ".join(parts) or "no technique is recommended"
        console.print(f"[bold]β = {float(str(beta)):g}[/bold]: {escape(text)}", highlight=False)


def _print_row(console: Console, *cells: str) -> None:
    """Print a line of a table whose columns stand below each other across headings and levels of bias."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    for i, width in enumerate(_WIDTHS):
        grid.add_column(width=width, justify="left" if i in (0, 2) else "right", no_wrap=True)
    grid.add_column(width=max(10, console.width - sum(_WIDTHS) - len(_WIDTHS)), overflow="fold")
    grid.add_row(*cells)
    console.print(grid)


def _print_note(console: Console, sentence: str) -> None:
    console.print(Padding(escape(sentence), (0, 0, 0, 2)), highlight=False)


def _print_reading(
    console: Console, answers: pd.DataFrame, run: RunDescription, *, rope: float, marked: bool
) -> None:
    """Print how the answers are to be read: which way is good, what is recommended, what signs mean."""
    several = bool(answers["value_low"].notna().any())
    rows: list[Any] = list(answers.itertuples(index=False))
    shown = [*(row for row in rows if row.choice), *(row for row in rows if row.verdict == "baseline")]
    chosen = {name for row in rows for name in row.choice.split()}
    tie = f"within {rope:g} of it, the most accurate"
    kinds = [
        *([f"least: of the recommended, the nearest to 0; {tie}"] if LEAST in chosen else []),
        *([f"cheap: the same at a cost of at most {rope:g} of accuracy"] if CHEAP in chosen else []),
        *(["both: least and cheap"] if any(_is_both(row) for row in rows) else []),
        *([f"restores: {choice_title(RESTORES, rope).lower()}"] if RESTORES in chosen else []),
        *(["nothing: doing nothing"] if any(row.verdict == "untreated" for row in rows) else []),
    ]
    where = "on the test data named above" if run.tests_note else "on test rows without planted bias"
    recommended = any(map(is_chosen, rows))
    lines = [
        ". ".join(["β: level of planted bias; 25 % bias is β = 0.25", *kinds]) + ". "
        "Limits go by unrounded numbers.",
        "disc.: discrimination, share accepted of the favored minus that of the deprived group; below 0 the "
        f"deprived group is ahead. accuracy: {where}; in brackets the change to the baseline"
        + (", ± its interval of 95 %" if several else "")
        + ". accepts: all/deprived/favored.",
        *([run.tests_note] if run.tests_note else []),
        *([_recommended_line(rows, rope)] if recommended else []),
        *_fewest(answers),
        *(
            ["|.050|: of either sign in different samples, .050 from 0 on average."]
            if any(map(changes_sign, shown))
            else []
        ),
        *mark_notes(_only_shown(answers, marked)),
    ]
    for line in lines:
        console.print(escape(line), style="dim", highlight=False)


def _fewest(answers: pd.DataFrame) -> list[str]:
    """Say how little so few repetitions show, where most techniques are compared at a level of bias."""
    levels = [list(rows.itertuples(index=False)) for _, _, rows in spots(answers)]
    most = max(levels, key=lambda rows: sum(bool(row.tested) for row in rows))
    return list(few_sentences(most))


def _recommended_line(rows: Sequence[Any], rope: float) -> str:
    several = any(row.n > 1 or row.tested for row in rows)
    named = "Recommended" if several else "Candidates, none of them recommended"
    outdone = any(row.verdict == "outdone" for row in rows)
    return (
        f"{named}: {less_words(rows, rope)[0]}; as accurate as the best constant answer or more; a value in "
        f"every repetition; never the same answer to more than {100 * NEARLY_ALL:.0f} % of all or of a "
        "group; in each group at least half as many accepted, and refused, as by the baseline at β = 0, or "
        "as labels say where that is not known."
        + (
            " Outdone: in the mean a recommended one is better in discrimination or accuracy, and no worse "
            "in the other."
            if outdone
            else ""
        )
    )


def _is_both(row: Any) -> bool:
    return bool(row.choice.split()[:2] == [LEAST, CHEAP])


def _only_shown(answers: pd.DataFrame, marked: bool) -> pd.DataFrame:
    """Return answers with the signs that stand above: what is chosen and compared with has all of its own.

    What is degenerate or below the constant answer is counted by its sign, and so has that one; with
    ``marked`` a table above has the signs of all techniques.
    """
    shown = answers["choice"].ne("") | answers["verdict"].isin(COMPARED_WITH)
    own = answers.assign(
        levels_down=answers["levels_down"] & shown, one_group=answers["one_group"] & (shown | marked)
    )
    return own.assign(frontier=own["frontier"].where(shown, "")) if "frontier" in own.columns else own


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
