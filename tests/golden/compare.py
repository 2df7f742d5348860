"""Compare the values of two runs' folders: ``python -m tests.golden.compare REFERENCE FOLDER``.

Rows of each CSV file are joined on their key columns, and every value of the reference has to be in the
other folder; the command prints what differs, and ends with 1 if anything does. The order of rows and
columns is free, and so are columns and files that the reference lacks, and all columns of words. Tables for
readers (``tables/``, ``comparison/``) and pages are not compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

__all__ = ["differences", "read_values", "value_files"]

KEYS = (
    *("scope", "table", "datasets", "dataset", "over", "bias", "level", "beta", "technique", "classifier"),
    *("repetition", "test", "fold", "attribute", "group", "column", "case", "variant", "relaxation"),
    *("of", "chosen_on", "against", "goal", "metric", "first", "second", "parity"),
)
"""Columns that say what a row is about."""

WORDS = (
    *("reason", "test_reason", "warning", "note", "degenerate"),
    "treatment",
)
"""Columns for readers: they are neither kept nor compared."""

RETIRED = ("fairea.csv", "hypervolume.csv", "pairs.csv")
"""Files of earlier versions that are no longer written."""

_FOR_READERS = ("tables", "comparison", "figures")
_MOST_SHOWN = 10  # differences of a file


def value_files(folder: Path) -> dict[str, Path]:
    """Return the files of values in a folder by their names there; compressed ones by the name within."""
    return {
        path.relative_to(folder).as_posix().removesuffix(".xz"): path
        for path in sorted(folder.rglob("*.csv*"))
        if path.name.endswith((".csv", ".csv.xz"))
        and path.name.removesuffix(".xz") not in RETIRED
        and not any(part in _FOR_READERS for part in path.relative_to(folder).parts)
    }


def read_values(path: Path, only: Mapping[str, str] = MappingProxyType({})) -> pd.DataFrame:
    """Return a file's rows as text, or those with some values, without columns of :data:`WORDS`."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    for column, value in only.items():
        frame = frame[frame[column] == value]
    return frame.drop(columns=frame.columns.intersection(list(WORDS)))


def differences(
    reference: Path,
    folder: Path,
    *,
    tolerance: float = 0.0,
    only: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Return what of a reference folder's values is not the same in another folder, a line for each.

    Parameters
    ----------
    reference, folder : Path
        Folders of runs, or of golden values.
    tolerance : float, default 0.0
        Relative difference up to which two numbers are the same.
    only : mapping of str to str, optional
        Values of columns: rows with others are passed over.

    Raises
    ------
    FileNotFoundError
        If the reference holds no values.
    """
    expected, found = value_files(reference), value_files(folder)
    if not expected:
        raise FileNotFoundError(f"{reference} holds no CSV file of values")
    lines = []
    for name, path in expected.items():
        if name not in found:
            lines.append(f"{name}: is not there")
            continue
        told = list(_differences(read_values(path, only), read_values(found[name], only), tolerance))
        lines += [f"{name}: {line}" for line in told[:_MOST_SHOWN]]
        lines += [f"{name}: {len(told) - _MOST_SHOWN:,} more differences"] * (len(told) > _MOST_SHOWN)
    return lines


def _differences(expected: pd.DataFrame, found: pd.DataFrame, tolerance: float) -> Iterator[str]:
    lost = expected.columns.difference(found.columns, sort=False)
    if len(lost):
        yield f"lacks the columns {', '.join(lost)}"
    key = [name for name in KEYS if name in expected.columns and name in found.columns]
    expected, found = (frame.set_index(_index(frame, key)) for frame in (expected, found))
    for frame, whose in ((expected, "reference"), (found, "folder")):
        repeated = frame.index[frame.index.duplicated()]
        if len(repeated):
            yield f"{_named(key, repeated[0])}: several rows of this key in the {whose}"
            return
    yield from (
        f"{_named(key, row)}: is missing" for row in expected.index.difference(found.index, sort=False)
    )
    yield from (f"{_named(key, row)}: is new" for row in found.index.difference(expected.index, sort=False))
    rows = expected.index.intersection(found.index, sort=False)
    columns = [name for name in expected.columns if name in found.columns and name not in key]
    expected, found = expected.loc[rows, columns], found.loc[rows, columns]
    for column in columns:
        then, now = expected[column], found[column]
        for row in rows[~_same(then, now, tolerance)]:
            yield f"{_named(key, row)}: {column} was {then[row] or 'empty'}, is {now[row] or 'empty'}"


def _index(frame: pd.DataFrame, key: Sequence[str]) -> pd.MultiIndex:
    """Return key columns as an index, those of numbers as numbers: 0 and 0.0 are the same level of bias."""

    def numeric(column: pd.Series) -> pd.Series:
        numbers = pd.to_numeric(column, errors="coerce")
        return column.where(numbers.isna(), numbers.map("{:.12g}".format))

    return pd.MultiIndex.from_frame(frame[list(key)].apply(numeric))


def _same(then: pd.Series, now: pd.Series, tolerance: float) -> np.ndarray:
    first, second = (pd.to_numeric(column, errors="coerce").to_numpy(float) for column in (then, now))
    near: np.ndarray = np.isclose(first, second, rtol=tolerance, atol=tolerance / 1000)
    return near | (then == now).to_numpy()


def _named(key: Sequence[str], row: tuple[str, ...]) -> str:
    return ", ".join(f"{column}={value}" for column, value in zip(key, row, strict=True) if value != "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how a folder's values differ from a reference's; return 1 if any do."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reference", type=Path, help="folder whose values have to be in the other")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tolerance", type=float, default=0.0, help="relative, of numbers; by default none")
    chosen = parser.parse_args(arguments)
    lines = differences(chosen.reference, chosen.folder, tolerance=chosen.tolerance)
    print("\n".join(lines) or f"{len(value_files(chosen.reference))} files of values: no difference")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
