"""Refusals that people look at again: a sheet with rows drawn from a file, and verdicts in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.data.draft import Draft
from benchmark.data.files import read_table
from benchmark.data.raw import Mask, RawColumn
from benchmark.data.reading import Part
from benchmark.errors import DataError
from benchmark.seeding import generator
from benchmark.text.words import few, is_one_of
from benchmark.text.writing import csv_text, from_cell, write_atomically

ROW, VERDICT = "row", "verdict"
"""Columns of the sheet: the number of a row of the file, from 1 below its header, and the verdict on it."""

WRONG, RIGHT = "wrong", "right"
"""Verdicts on a refusal, besides the label's own values."""

NEXT = "betabench sample-refusals FILE --label COLUMN --favorable VALUE --sensitive COLUMN draws a new sheet"


def refused(drafted: Draft) -> Mask:
    """Return which of the rows that are read are refusals of the deprived group."""
    return np.asarray(drafted.rows.deprived & ~drafted.rows.y)


def write_sheet(path: Path, drafted: Draft, m: int, seed: int) -> int:
    """Write a sheet with refusals of the deprived group, and return their number: ``m``, or all if fewer.

    They are drawn without replacement, and stand in the order of their draw. The sheet has the columns that
    are read, without the label and the group. A file that is there, with other content, is a DataError.
    """
    found = np.flatnonzero(drafted.read)[refused(drafted)]
    if m < 1 or not len(found):
        raise DataError(
            "There is nobody to look at again",
            expected="at least one refusal of the deprived group, and -m of at least 1",
            got=f"{len(found)} refusals, -m {m}",
            remedy="correct -m, or look at the label and the group that are named",
        )
    drawn = generator(seed, purpose="refusals").permutation(found)[:m]
    shown = _shown(drafted)
    if taken := {ROW, VERDICT} & {*shown}:
        raise DataError(
            f"The file has a column {min(taken)!r}, which the sheet needs for itself",
            remedy=f"give it another name in the file, or add --drop {min(taken)}",
        )
    cells = {name: drafted.table.columns[name].cells[drawn] for name in shown}
    text = csv_text(pd.DataFrame({ROW: drawn + 1, **cells, VERDICT: ""}))
    if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
        raise DataError(
            f"{path} exists already, with other content: verdicts may be in it",
            remedy="choose another --output, or take the file away yourself",
        )
    write_atomically(path, text)
    return len(drawn)


def read_verdicts(path: Path, drafted: Draft) -> tuple[NDArray[np.intp], Mask]:
    """Return the rows of a sheet, as positions among the rows that are read, and which refusals are wrong.

    A DataError says that the sheet is not of this file as it is now, or that a verdict is missing or unknown.
    """
    table = read_table(path, Path(), named={ROW, VERDICT})
    if lacking := [name for name in (ROW, VERDICT) if name not in table.columns]:
        raise DataError(
            f"{path} has no column {lacking[0]!r}",
            expected="a sheet of betabench sample-refusals, with verdicts",
            got=few(list(table.columns)),
            remedy=NEXT,
        )
    columns, file = table.columns, drafted.reading.file
    numbers, verdicts = columns[ROW].cells.tolist(), columns[VERDICT].cells.tolist()
    place = np.full(drafted.table.n_rows, -1)
    place[drafted.read] = np.where(refused(drafted), np.arange(len(drafted.rows)), -1)
    favorable, unfavorable, deprived, _ = drafted.reading.parts
    compared = [name for name in _shown(drafted) if name in columns]
    found: dict[int, bool] = {}

    def error(
        what: str, expected: str | None = None, got: str | None = None, remedy: str = NEXT
    ) -> DataError:
        return DataError(f"{path}: row {number} {what}", expected=expected, got=got, remedy=remedy)

    for i, (number, verdict) in enumerate(zip(numbers, verdicts, strict=True)):
        row = int(number) - 1 if number.isdecimal() else -1
        if not 0 <= row < len(place):
            raise error(f"is not in {file}", f"a number from 1 to {len(place):,}", number or "nothing")
        if place[row] < 0:
            whose = few([repr(value) for value, _ in deprived.values])
            raise error(f"of {file} is no refusal", f"an unfavorable label, and {deprived.column} = {whose}")
        if int(place[row]) in found:
            raise error("stands there twice", remedy="take one of the two out")
        for name in compared:
            ours, theirs = _meaning(drafted.table.columns[name], row), _meaning(columns[name], i)
            if ours != theirs:
                what = f"is another one in {file}: the file has changed since"
                raise error(what, f"{name} = {ours!r}", repr(theirs))
        if (wrong := _verdict(verdict, favorable, unfavorable)) is None:
            raise error(
                "has an unknown verdict" if verdict else "has no verdict",
                f"{WRONG} or {RIGHT}, or a value of {favorable.column!r} as in the file",
                verdict or "nothing",
                f"judge it. Where nobody can decide, write {RIGHT}: the estimate is then rather too small",
            )
        found[int(place[row])] = wrong
    return np.array([*found], dtype=np.intp), np.array([*found.values()], dtype=bool)


def _shown(drafted: Draft) -> list[str]:
    label, _, sensitive, _ = drafted.roles.values()
    return [name for name in drafted.columns if name not in (label, sensitive)]


def _meaning(column: RawColumn, row: int) -> float | str:
    """Return the value of a row such that other programs that saved it leave it equal."""
    meaning = column.meanings[column.rows[row]]
    return float(f"{meaning:.9g}") if isinstance(meaning, float) else from_cell(meaning).casefold()


def _verdict(text: str, favorable: Part, unfavorable: Part) -> bool | None:
    """Return whether a verdict says that the refusal was wrong; None if it says neither."""
    for own, wrong in ((favorable, True), (unfavorable, False)):
        if is_one_of(text, [value for value, _ in own.values]):
            return wrong
    return {WRONG: True, RIGHT: False}.get(text.casefold())
