"""What the page says of techniques for each baseline that its reader can choose.

All of it is decided and worded by :mod:`benchmark.statistics.answers` and :mod:`benchmark.tables.answers`, as
for the terminal, the files and their text: the page's scripts filter, sort and draw.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import EACH_OWN, OWN
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.frames import Scenario
from benchmark.runs.standing_marks import below_constant_words
from benchmark.statistics.answers import ANSWER_COLUMNS
from benchmark.statistics.frames import Baseline
from benchmark.tables.answers import (
    answer_lines,
    answer_sentences,
    choice_row,
    in_order,
    mark_notes,
    signed_title,
)
from benchmark.tables.choice_words import less_words, one_group_words
from benchmark.tables.survivors import held, rule_text
from benchmark.text.spreadsheet import SIX_DIGITS, csv_text

MARKS = {"b": ("▲", "better"), "w": ("▼", "worse")}
"""Letters that the page's scripts read of comparisons, with sign and word; ``"."`` is neither."""

_LAST = ("missing", "degenerate")  # verdicts on techniques that come last in any order


def baseline_key(baseline: Baseline) -> str:
    """Return what a baseline is called in links and by the page's scripts."""
    return baseline if isinstance(baseline, str) else OWN


def against(
    statistics: RunStatistics, scenario: Scenario, holding: tuple[pd.DataFrame, pd.DataFrame]
) -> dict[str, Any]:
    """Return what the page shows of a scenario where its techniques are compared with one baseline.

    ``holding`` are the :func:`~benchmark.tables.survivors.survivors` of the statistics.
    """
    baseline = statistics.baseline_of(scenario)
    title = statistics.run.titles[baseline] if isinstance(baseline, str) else EACH_OWN
    answers = scenario.rows(statistics.answers)
    return {
        "title": title,
        "fields": _fields(answers),
        "levels": [
            _level(statistics, beta, in_order(answers[answers["beta"] == beta]), answers.index)
            for beta in scenario.telling_levels(statistics.run.betas)
        ],
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
        "notes": mark_notes(answers.drop(columns="levels_down")),
    }


def restores_shown(statistics: RunStatistics) -> bool:
    """Whether it can be said anywhere which technique brings a model back to where it was without bias."""
    return bool(statistics.answers["clean_distance"].notna().any())


def only_differing(found: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what is shown against each baseline; of the fields only those that differ from the first's."""
    first = next(iter(found.values()))["fields"]
    return {
        key: {
            **own,
            "fields": {k: v for k, v in own["fields"].items() if own["fields"] is first or v != first[k]},
        }
        for key, own in found.items()
    }


def marks(compared: pd.DataFrame) -> str:
    """Return a letter for each comparison."""
    better, worse = (compared[name].eq(True) for name in ("better", "worse"))
    return "".join(np.select([better, worse], list(MARKS), "."))


def signs(statistics: RunStatistics, scenario: Scenario, techniques: Sequence[str]) -> dict[str, list[str]]:
    """Return the sign of each technique of no use, and what it means, by positions of level and technique."""
    betas = statistics.run.betas
    rows: list[Any] = list(scenario.rows(statistics.answers).itertuples(index=False))
    return {
        f"{betas.index(row.beta)},{techniques.index(row.technique)}": [sign, why]
        for row in rows
        for sign, why in _signs(row, {row.technique: ""})
        if why
    }


def _signs(row: Any, titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the signs beside a technique; the first with what it means, if it makes it of no use."""
    found = signed_title(row, titles).removeprefix(titles[row.technique]).split()
    why = str(row.degenerate) if row.n_degenerate > 0 else one_group_words(row)
    if row.below_constant and not row.n_degenerate:
        why = below_constant_words(row.constant_answer)
    return [(sign, why if i == 0 else "") for i, sign in enumerate(found)]


def _level(
    statistics: RunStatistics, beta: float, rows: pd.DataFrame, places: pd.Index
) -> dict[str, Any] | None:
    """Return the sentences, choices and lines of one level of bias; ``places`` are those of the fields."""
    if rows.empty:
        return None
    titles, rope = statistics.run.titles, statistics.rope
    found: list[Any] = list(rows.itertuples(index=False))
    at = dict(zip(rows["technique"], places.get_indexer(rows.index).tolist(), strict=True))
    less = [f"✔ {less_words(found, rope)[0]}; and useful."]
    restores = restores_shown(statistics)
    return {
        "told": answer_sentences(rows, titles, rope=rope),
        "choices": choice_row(beta, rows, titles, restores=restores)[1:],
        "notes": [*(less if rows["verdict"].eq("recommended").any() else []), *mark_notes(rows)],
        "rows": [
            {"cells": _cells(cells)}
            if row is None
            else {"at": at[row.technique], **_line(row, cells, titles, i)}
            for i, (row, cells) in enumerate(answer_lines(rows, titles))
        ],
    }


def _line(row: Any, cells: list[str], titles: Mapping[str, str], place: int) -> dict[str, Any]:
    """Return a line of answers as text, and what the page does with it."""
    *numbers, remark = _cells(cells)
    recommended = row.verdict == "recommended"
    found = {
        "signs": _signs(row, titles),
        "recommended": recommended,
        "useless": row.n_degenerate > 0,
        "last": row.verdict in _LAST,
    }
    return {
        "technique": list(titles).index(row.technique),
        "place": place,
        "cells": [
            titles[row.technique],
            *numbers[1:],
            f"✔ {remark or 'recommended'}" if recommended else remark,
        ],
        **_known(found),
    }


def _cells(cells: list[str]) -> list[str]:
    """Return the cells of a line of answers, the shares accepted each in its own."""
    *numbers, shares, remark = cells
    return [*numbers, *(shares.split(" / ") if shares else ["", "", ""]), remark]


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what is neither empty nor false."""
    return {name: value for name, value in fields.items() if value}


def _fields(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of ``answers.csv`` with their cells; a column of one value alone has just that."""
    lines = csv_text(rows[list(ANSWER_COLUMNS)], SIX_DIGITS)
    head, *cells = csv.reader(io.StringIO(lines, newline=""))
    columns = zip(head, zip(*cells, strict=True), strict=True) if cells else ()
    return {name: own[0] if len(set(own)) == 1 else list(own) for name, own in columns}
