"""The answers on the page.

:mod:`benchmark.statistics.answers` decides them and :mod:`benchmark.sections` words them, as for the terminal
and the files. The page's scripts only filter, sort and draw.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import EACH_OWN, EQUALISE, RESTORE
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections.answers import Line, answer_lines, choice_row, dominated_note, frontier_note
from benchmark.sections.choices import answer_sentences, one_group_words
from benchmark.sections.goals import Winners, by_goal, difference, unanswered, winners
from benchmark.sections.holds_up import held, rule_text
from benchmark.sections.moved import moved, shows_moved
from benchmark.sections.signs import below_constant_words, mark, mark_notes
from benchmark.statistics.answer_record import ANSWER_COLUMNS, Answer, answer_records, by_level
from benchmark.text.spreadsheet import SIX_DIGITS, csv_text

MARKS = {"b": ("▲", "better"), "r": ("", "better"), "w": ("▼", "worse")}
"""Letters for the scripts: the sign and word of a comparison. ``"."`` is neither better nor worse.

A comparison that is better but does not pass (:func:`~benchmark.sections.holds_up.passes`) has the word
alone.
"""

NOTHING_PLANTED = "At {level} nothing is planted, and there is nothing to undo."
"""Stands where the goal is to restore."""

_LAST = ("missing", "constant")  # techniques of these outcomes come last in any order


def against(
    statistics: RunStatistics, scenario: Scenario, holding: tuple[pd.DataFrame, pd.DataFrame]
) -> dict[str, Any]:
    """Return a scenario's answers against its baseline, ready for JSON.

    ``holding`` has the :func:`~benchmark.sections.holds_up.survivors` of the statistics.
    """
    baseline = statistics.baseline_of(scenario)
    title = statistics.run.titles[baseline] if isinstance(baseline, str) else EACH_OWN
    table = scenario.rows(statistics.answers)
    named = winners(table)
    return {
        "title": title,
        "goals": {
            goal: _of_goal(statistics, scenario, goal, answers.reset_index(drop=True), named)
            for goal, answers in by_goal(table)
        },
        "told": unanswered(table, statistics.run, scenario),
        "holding": {
            metric: {
                "rule": rule_text(statistics, scenario, metric, title),
                "techniques": [
                    {**_nonempty(asdict(row)), "technique": list(statistics.run.titles).index(row.technique)}
                    for row in rows
                ],
            }
            for metric, rows in held(statistics, scenario, holding).items()
        },
        "notes": mark_notes(answer_records(table)),
    }


def _of_goal(
    statistics: RunStatistics, scenario: Scenario, goal: str, table: pd.DataFrame, named: Winners
) -> dict[str, Any]:
    """Return a scenario's answers for one goal, ready for JSON."""
    positions: dict[float, dict[str, int]] = {}
    for i, (beta, technique) in enumerate(zip(table["beta"], table["technique"], strict=True)):
        positions.setdefault(beta, {})[technique] = i
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
                positions.get(beta, {}),
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


def marks(compared: pd.DataFrame) -> str:
    """Return a letter of :data:`MARKS` for each comparison, given with ``passes``."""
    better, worse, passed = (compared[name].eq(True) for name in ("better", "worse", "passes"))
    return "".join(np.select([better & passed, better, worse], list(MARKS), "."))


def signs(statistics: RunStatistics, scenario: Scenario, techniques: Sequence[str]) -> dict[str, list[str]]:
    """Return the sign of each useless technique and its meaning, by positions of level and technique."""
    betas = statistics.run.levels
    return {
        f"{betas.index(row.beta)},{techniques.index(row.technique)}": [mark(row), _why(row)]
        for row in answer_records(scenario.rows(statistics.for_goal(EQUALISE).answers))
        if mark(row)
    }


def _why(row: Answer) -> str:
    """Return the reason why a technique is useless; nothing if it is useful."""
    if row.n_degenerate > 0:
        return row.degenerate
    return below_constant_words(row.constant_answer) if row.below_constant else one_group_words(row)


def _level(
    statistics: RunStatistics,
    scenario: Scenario,
    beta: float,
    rows: Sequence[Answer],
    positions: Mapping[str, int],
    winners_sentence: str,
    moves: str | None,
) -> dict[str, Any] | None:
    """Return the sentences, choices and lines of one level of bias.

    ``positions`` are those of techniques in the fields. ``winners_sentence`` says that the goals have
    different winners. ``moves`` is the effect of a dose on the baseline.
    """
    if not rows:
        solved = [bias.solved for bias in scenario.dataset.bias if bias.name == scenario.bias and bias.solved]
        return {"told": solved, "choices": [], "notes": [], "rows": []} if solved else None
    titles, criteria = statistics.run.titles, statistics.criteria
    sentences = answer_sentences(rows, titles, criteria=criteria)
    lines = enumerate(answer_lines(rows, titles))
    return {
        "told": [*([winners_sentence] if winners_sentence else []), *sentences],
        "choices": choice_row(beta, rows, titles, moves)[1:],
        "notes": [note for note in (dominated_note(rows), frontier_note(rows)) if note],
        "rows": [_line(line, list(titles), positions, i) for i, line in lines],
    }


def _line(line: Line, techniques: Sequence[str], positions: Mapping[str, int], i: int) -> dict[str, Any]:
    """Return a line of answers as text, with what sorts and colors it."""
    shares = line.shares or ("", "", "")
    cells = [line.title, line.value, line.change, line.accuracy, line.cost, *shares, line.remarks]
    if (row := line.answer) is None:
        return {"cells": cells}
    flags = {
        "recommended": row.outcome == "helps",
        "useless": row.n_degenerate > 0,
        "last": row.outcome in _LAST,
    }
    return {
        "at": positions[row.technique],
        "technique": techniques.index(row.technique),
        "place": i,
        "cells": cells,
        **_nonempty(flags),
    }


def _nonempty(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are neither empty nor false."""
    return {name: value for name, value in fields.items() if value}


def _fields(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of ``answers.csv`` with their cells; a column of one value alone has just that."""
    lines = csv_text(rows[list(ANSWER_COLUMNS)], SIX_DIGITS)
    head, *cells = csv.reader(io.StringIO(lines, newline=""))
    columns = zip(head, zip(*cells, strict=True), strict=True) if cells else ()
    return {name: texts[0] if len(set(texts)) == 1 else list(texts) for name, texts in columns}
