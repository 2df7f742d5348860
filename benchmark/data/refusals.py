"""Refusals that people look at again: a sheet with rows drawn from a file, and verdicts in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.data.draft import Draft
from benchmark.data.files import read_table
from benchmark.data.raw import Mask, RawColumn
from benchmark.errors import DataError
from benchmark.seeding import generator
from benchmark.text.words import few, is_one_of
from benchmark.text.writing import csv_text, from_cell, write_atomically

ROW, VERDICT = "row", "verdict"
"""Columns of the sheet: the number of a row of the file, from 1 below its header, and the verdict on it."""

_NEW = "draw a sheet of this file as it is now: betabench sample-refusals --help"


def refusals(drafted: Draft) -> NDArray[np.intp]:
    """Return the refusals of the deprived group, as positions of rows of the file."""
    rows = drafted.rows
    return np.flatnonzero(drafted.read)[rows.deprived & ~rows.y]


def write_sheet(path: Path, drafted: Draft, m: int, seed: int) -> int:
    """Write a sheet with refusals of the deprived group, and return their number: ``m``, or all if fewer.

    They are drawn without replacement, and stand in the order of their draw. The sheet has the columns that
    are read, without the label and the group. A file that is there, with other content, is a DataError.
    """
    found, shown = refusals(drafted), _shown(drafted)
    if m < 1 or not len(found):
        got = f"{len(found)} refusals of the deprived group, -m {m}"
        raise DataError("Nobody can be drawn", expected="1 or more", got=got, remedy="correct the options")
    if taken := {ROW, VERDICT} & {*shown}:
        remedy = f"rename it in the file, or add --drop {min(taken)}"
        raise DataError(f"The sheet needs the column name {min(taken)!r} for itself", remedy=remedy)
    drawn = generator(seed, purpose="refusals").permutation(found)[:m]
    cells = {name: drafted.table.columns[name].cells[drawn] for name in shown}
    text = csv_text(pd.DataFrame({ROW: drawn + 1, **cells, VERDICT: ""}))
    if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
        problem = f"{path} exists already, with other content: verdicts may be in it"
        raise DataError(problem, remedy="choose another --output, or take the file away yourself")
    write_atomically(path, text)
    return len(drawn)


def read_verdicts(path: Path, drafted: Draft) -> Mask:
    """Return which of the refusals in a sheet are wrong.

    A DataError says that the sheet is not of this file as it is now, or that a verdict is missing or unknown.
    """
    columns, file = read_table(path, Path(), named={ROW, VERDICT}).columns, drafted.reading.file
    if lacking := [name for name in (ROW, VERDICT) if name not in columns]:
        raise DataError(f"{path} has no column {lacking[0]!r}", got=few(list(columns)), remedy=_NEW)
    favorable, unfavorable, deprived, _ = drafted.reading.parts
    words = {"wrong": True, "right": False}
    # Labels, which may be "right" and "wrong" themselves, come after the sheet's own words.
    words |= {v: p is favorable for p in (unfavorable, favorable) for v, _ in p.values if v not in words}
    known, ours = {*refusals(drafted).tolist()}, drafted.table.columns
    # In our form as well: few numbers, or an apostrophe before a sign, do not tell in which they are written.
    theirs = {
        own.name: (own, replace(own, values=(*map(from_cell, own.values),), form=ours[own.name].form))
        for own in columns.values()
        if own.name in _shown(drafted)
    }
    found: dict[int, bool] = {}
    for i, (number, verdict) in enumerate(zip(columns[ROW].cells, columns[VERDICT].cells, strict=True)):
        row, at = int(number) - 1 if number.isdecimal() else -1, f"{path}: row {number}"
        if not 0 <= row < drafted.table.n_rows:
            raise DataError(f"{at} is not in {file}, of {drafted.table.n_rows:,} rows", remedy=_NEW)
        if row not in known:
            group = f"{deprived.column} = {few([value for value, _ in deprived.values])}"
            raise DataError(f"{at} of {file} is no refusal of {group}", remedy=_NEW)
        if row in found:
            raise DataError(f"{at} stands there twice", remedy="take one of the two out")
        for name, forms in theirs.items():
            meant, read = _meaning(ours[name], row), [_meaning(own, i) for own in forms]
            if meant not in read:
                problem = f"{at} is another one in {file}: the file has changed since"
                raise DataError(problem, expected=f"{name} = {meant!r}", got=repr(read[0]), remedy=_NEW)
        same = [word for word in words if is_one_of(verdict, [word]) or verdict.casefold() == word]
        if not same:
            raise DataError(
                f"{at} has an unknown verdict" if verdict else f"{at} has no verdict",
                expected=few([*words]),
                got=verdict or "nothing",
                remedy="judge it; where nobody can decide, write right, and the estimate is rather too small",
            )
        found[row] = words[same[0]]
    return np.array([*found.values()], dtype=bool)


def _shown(drafted: Draft) -> list[str]:
    label, _, sensitive, _ = drafted.roles.values()
    return [name for name in drafted.columns if name not in (label, sensitive)]


def _meaning(column: RawColumn, row: int) -> float | str:
    """Return the value of a row such that other programs that saved it leave it equal."""
    meaning = column.meanings[column.rows[row]]
    return float(f"{meaning:.9g}") if isinstance(meaning, float) else from_cell(meaning).casefold()
