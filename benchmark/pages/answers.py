"""What the page says of techniques for each baseline that its reader can choose.

All of it is decided by :mod:`benchmark.statistics.answers` and worded by :mod:`benchmark.sections`, as for
the terminal, the files and their text: the page's scripts filter, sort and draw.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import EACH_OWN, EQUALISE, OWN, RESTORE
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections.answers import Line, answer_lines, choice_row
from benchmark.sections.choices import answer_sentences, less_words, one_group_words
from benchmark.sections.goals import Winners, by_goal, difference, unanswered, winners
from benchmark.sections.holds_up import held, rule_text
from benchmark.sections.moved import moved, shows_moved
from benchmark.sections.signs import below_constant_words, mark, sign_notes
from benchmark.statistics.answer_record import ANSWER_COLUMNS, Answer, answer_records, by_level
from benchmark.statistics.cells import Baseline
from benchmark.text.spreadsheet import SIX_DIGITS, csv_text

MARKS = {"b": ("▲", "better"), "r": ("", "better"), "w": ("▼", "worse")}
"""Letters that the page's scripts read of comparisons, with sign and word; ``"."`` is neither.

What is better, but of no use (:func:`~benchmark.sections.holds_up.passes`), has the word alone.
"""

NOTHING_PLANTED = "At {level} nothing is planted, and there is nothing to undo."
"""Said where the goal is to restore."""

_LAST = ("missing", "degenerate")  # verdicts on techniques that come last in any order


def baseline_key(baseline: Baseline) -> str:
    """Return what a baseline is called in links and by the page's scripts."""
    return baseline if isinstance(baseline, str) else OWN


def against(
    statistics: RunStatistics, scenario: Scenario, holding: tuple[pd.DataFrame, pd.DataFrame]
) -> dict[str, Any]:
    """Return what the page shows of a scenario where its techniques are compared with one baseline.

    ``holding`` are the :func:`~benchmark.sections.holds_up.survivors` of the statistics.
    """
    baseline = statistics.baseline_of(scenario)
    title = statistics.run.titles[baseline] if isinstance(baseline, str) else EACH_OWN
    table = scenario.rows(statistics.answers)
    named = winners(table)
    return {
        "title": title,
        "goals": {
            goal: _of_goal(statistics, scenario, goal, own.reset_index(drop=True), named)
            for goal, own in by_goal(table)
        },
        "told": unanswered(table, statistics.run, scenario),
        "holding": {
            metric: {
                "rule": rule_text(statistics, scenario, metric, title),
                "techniques": [
                    {**_known(asdict(own)), "technique": list(statistics.run.titles).index(own.technique)}
                    for own in rows
                ],
            }
            for metric, rows in held(statistics, scenario, holding).items()
        },
        "notes": sign_notes(row._replace(levels_down=False) for row in answer_records(table)),
    }


def _of_goal(
    statistics: RunStatistics, scenario: Scenario, goal: str, table: pd.DataFrame, named: Winners
) -> dict[str, Any]:
    """Return what the page shows of the answers for one goal of a scenario."""
    places: dict[float, dict[str, int]] = {}
    for i, (beta, technique) in enumerate(zip(table["beta"], table["technique"], strict=True)):
        places.setdefault(beta, {})[technique] = i
    levels = {beta: rows for _, beta, rows in by_level(table)}
    titles = statistics.run.titles
    moves = moved(statistics, scenario)
    return {
        "fields": _fields(table),
        "levels": [
            _level(
                statistics,
                scenario,
                beta,
                levels.get(beta, ()),
                places.get(beta, {}),
                difference(named.get((scenario.key, beta), {}), titles),
                moves.get(beta, "") if shows_moved(statistics.run) else None,
            )
            if beta > 0 or goal != RESTORE
            else {
                "told": [NOTHING_PLANTED.format(level=statistics.run.level_text(0))],
                "choices": [],
                "notes": [],
                "rows": [],
            }
            for beta in scenario.telling_levels(statistics.run.levels)
        ],
    }


def only_differing(found: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what is shown against each baseline; of the fields only those that differ from the first's."""
    first = next(iter(found.values()))["goals"]

    def differing(goal: str, own: dict[str, Any]) -> dict[str, Any]:
        if goal not in first or own is first[goal]:
            return own
        usual = first[goal]["fields"]
        return {**own, "fields": {k: v for k, v in own["fields"].items() if v != usual[k]}}

    return {
        key: {**own, "goals": {goal: differing(goal, part) for goal, part in own["goals"].items()}}
        for key, own in found.items()
    }


def marks(compared: pd.DataFrame) -> str:
    """Return a letter for each comparison, given with ``passes``."""
    better, worse, passed = (compared[name].eq(True) for name in ("better", "worse", "passes"))
    return "".join(np.select([better & passed, better, worse], list(MARKS), "."))


def signs(statistics: RunStatistics, scenario: Scenario, techniques: Sequence[str]) -> dict[str, list[str]]:
    """Return the sign of each technique of no use, and what it means, by positions of level and technique."""
    betas = statistics.run.levels
    return {
        f"{betas.index(row.beta)},{techniques.index(row.technique)}": [mark(row), _why(row)]
        for row in answer_records(scenario.rows(statistics.for_goal(EQUALISE).answers))
        if mark(row)
    }


def _why(row: Answer) -> str:
    """Say why a technique is of no use; nothing if it is."""
    if row.n_degenerate > 0:
        return row.degenerate
    return below_constant_words(row.constant_answer) if row.below_constant else one_group_words(row)


def _level(
    statistics: RunStatistics,
    scenario: Scenario,
    beta: float,
    rows: Sequence[Answer],
    places: Mapping[str, int],
    first: str,
    moves: str | None,
) -> dict[str, Any] | None:
    """Return the sentences, choices and lines of one level of bias; ``places`` are those of the fields.

    ``first`` is what is said first: that the goals have different winners; ``moves`` is by how much a dose
    moves the baseline.
    """
    if not rows:
        solved = [bias.solved for bias in scenario.dataset.bias if bias.name == scenario.bias and bias.solved]
        return {"told": solved, "choices": [], "notes": [], "rows": []} if solved else None
    titles, criteria = statistics.run.titles, statistics.criteria
    less = f"✔ {less_words(rows, criteria.margin)}; and useful."
    recommended = any(row.verdict == "recommended" for row in rows)
    return {
        "told": [*([first] if first else []), *answer_sentences(rows, titles, criteria=criteria)],
        "choices": choice_row(beta, rows, titles, moves)[1:],
        "notes": [*([less] if recommended else []), *sign_notes(rows)],
        "rows": [_line(line, list(titles), places, i) for i, line in enumerate(answer_lines(rows, titles))],
    }


def _line(line: Line, techniques: Sequence[str], places: Mapping[str, int], i: int) -> dict[str, Any]:
    """Return a line of answers as text, and what the page does with it."""
    shares = line.shares or ("", "", "")
    cells = [line.title, line.value, line.change, line.accuracy, line.cost, *shares]
    if (row := line.answer) is None:
        return {"cells": [*cells, line.remarks]}
    recommended = row.verdict == "recommended"
    # The first sign, if it makes the technique one of no use, with what it means.
    why = [_why(row), *[""] * len(line.signs)]
    found = {
        "signs": [(sign, words) for sign, words in zip(line.signs, why, strict=False)],
        "recommended": recommended,
        "useless": row.n_degenerate > 0,
        "last": row.verdict in _LAST,
    }
    remark = f"✔ {line.remarks or 'recommended'}" if recommended else line.remarks
    return {
        "at": places[row.technique],
        "technique": techniques.index(row.technique),
        "place": i,
        "cells": [*cells, remark],
        **_known(found),
    }


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what is neither empty nor false."""
    return {name: value for name, value in fields.items() if value}


def _fields(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of ``answers.csv`` with their cells; a column of one value alone has just that."""
    lines = csv_text(rows[list(ANSWER_COLUMNS)], SIX_DIGITS)
    head, *cells = csv.reader(io.StringIO(lines, newline=""))
    columns = zip(head, zip(*cells, strict=True), strict=True) if cells else ()
    return {name: own[0] if len(set(own)) == 1 else list(own) for name, own in columns}
