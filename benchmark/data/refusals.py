"""Refusals that people look at again: a sheet with rows drawn from a file, and verdicts in it."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.data.draft import Draft
from benchmark.data.files import read_table
from benchmark.data.raw import Mask, RawColumn
from benchmark.data.reading import DoubtError
from benchmark.errors import DataError
from benchmark.file_options import FileOptions
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
    if path.suffix.lower() != ".csv":  # a spreadsheet program would not open it
        remedy = f"--output {path.with_suffix('.csv')}"
        raise DataError("The sheet is written as CSV", expected="*.csv", got=str(path), remedy=remedy)
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
    try:
        columns, file = read_table(path, Path(), FileOptions(), {ROW, VERDICT}).columns, drafted.reading.file
    except DoubtError as error:  # whose options are those of the data's file
        raise DataError(error.what, remedy="correct the sheet: it has a line for each row") from error
    if lacking := [name for name in (ROW, VERDICT) if name not in columns]:
        remedy = f"name it so, or {_NEW}"
        raise DataError(f"{path} has no column {lacking[0]!r}", got=few(list(columns)), remedy=remedy)
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
    unjudged: list[str] = []
    filled = np.any([column.cells != "" for column in columns.values()], axis=0)  # no empty line of a sheet
    for i in np.flatnonzero(filled).tolist():
        number, verdict = columns[ROW].cells[i], columns[VERDICT].cells[i]
        # A program that met a blank line writes 243.0 for 243.
        whole, at = re.fullmatch(r"(\d+)([.,]0{0,2})?", number), f"{path}: row {number}"
        row = int(whole[1]) - 1 if whole else -1
        if not 0 <= row < drafted.table.n_rows:
            expected, got = f"a whole number from 1 to {drafted.table.n_rows}", number or "nothing"
            again = f"write the number as it was drawn, without marks, or {_NEW}"
            problem = f"{path}: line {i + 1} below the header names no row of {file}"
            raise DataError(problem, expected=expected, got=got, remedy=again)
        if row not in known:
            group = f"{deprived.column} = {few([value for value, _ in deprived.values])}"
            remedy = f"take it out if it was not drawn, or {_NEW}"
            raise DataError(f"{at} of {file} is no refusal of {group}", remedy=remedy)
        if row in found:
            raise DataError(f"{at} stands there twice", remedy="take one of the two out")
        for name, forms in theirs.items():
            meant, read = _meaning(ours[name], row), [_meaning(own, i) for own in forms]
            if meant not in read:
                problem = f"{at} is another one in {file}: the file or the sheet has changed since"
                remedy = f"put the sheet's value back if a program changed it, or {_NEW}"
                raise DataError(problem, expected=f"{name} = {meant!r}", got=repr(read[0]), remedy=remedy)
        same = [word for word in words if is_one_of(verdict, [word]) or verdict.casefold() == word]
        if verdict and not same:
            remedy = "write wrong if this person should have the favorable label, else right"
            expected = few([*words])
            raise DataError(f"{at} has an unknown verdict", expected=expected, got=verdict, remedy=remedy)
        unjudged += [] if same else [number]
        found[row] = bool(same) and words[same[0]]
    if unjudged or not found:
        raise DataError(
            f"{path} has verdicts on {len(found) - len(unjudged)} of {len(found)} rows",
            expected=few([*words]),
            got=f"no verdict in row {few(unjudged, 3)}" if unjudged else "no row",
            remedy="judge all; where nobody can decide, write right, and the estimate is rather too small",
        )
    return np.array([*found.values()], dtype=bool)


def _shown(drafted: Draft) -> list[str]:
    label, _, sensitive, _ = drafted.roles.values()
    return [name for name in drafted.columns if name not in (label, sensitive)]


def _meaning(column: RawColumn, row: int) -> float | str:
    """Return the value of a row such that other programs that saved it leave it equal."""
    meaning = column.meanings[column.rows[row]]
    return float(f"{meaning:.9g}") if isinstance(meaning, float) else from_cell(meaning).casefold()
