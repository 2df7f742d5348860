"""Tables of predictions, read and made ready for metrics.

The meaning of a column is never guessed. If the favorable value, a group or the selected people are not
certain, an error says how to name them.
"""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.audit.disparity import by_group, intersect, select
from benchmark.errors import DataError, ExperimentError, UnknownNameError
from benchmark.metrics import Predictions
from benchmark.text.words import as_number, few

MISSING = "(missing)"
"""Group of rows without a sensitive attribute."""

_ENDINGS = (".csv", ".csv.gz", ".parquet")
# "None" is not among them: it is a common answer ("disability: None").
_NOT_GIVEN = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "<NA>")
# A column of more different numbers than these is a quantity, not a class or a group.
_MOST_NUMBERS = 20
# Unfavorable and favorable values that are recognized, in upper or lower case.
_CLEAR = (("0", "1"), ("false", "true"), ("no", "yes"))
_OUTCOMES = ("label", "prediction")
_ROLES = (*_OUTCOMES, "score", "weight", "strata")


def read_predictions(path: Path | str) -> pd.DataFrame:
    """Return a table of predictions, one row per person, from a file.

    The file is CSV (UTF-8, commas, names in the first line; ``.csv`` or ``.csv.gz``) or Parquet
    (``.parquet``). Values of CSV stay text, without blanks around them; empty values and NA, N/A, NaN, nan,
    null, NULL and <NA> are missing. A DataError means that the file cannot be read, has no rows, or has two
    columns of the same name.
    """
    path = Path(path)
    if not path.name.lower().endswith(_ENDINGS):
        raise DataError(
            "The format of the predictions is unknown",
            expected=" or ".join(_ENDINGS),
            got=path.name,
            remedy="save the table as CSV",
        )
    if not path.is_file():
        raise DataError(
            f"There is no file {path}", expected="a table of predictions", remedy="correct the path"
        )
    frame = _read_parquet(path) if path.name.lower().endswith(".parquet") else _read_csv(path)
    _check_names(frame, path.name)
    if frame.empty:
        raise DataError(f"{path.name} has no rows", expected="one row per person", remedy="add its rows")
    return frame


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        # Without a header, a line longer than the first is an error and never shifts a column.
        cells = pd.read_csv(
            path,
            header=None,
            dtype=str,
            encoding="utf-8-sig",
            skipinitialspace=True,
            keep_default_na=False,
            na_values=list(_NOT_GIVEN),
        )
    except UnicodeDecodeError as problem:
        raise DataError(
            f"{path.name} is not encoded in UTF-8",
            expected="UTF-8",
            got=f"{problem.reason} at byte {problem.start}",
            remedy="save the file again as UTF-8",
        ) from problem
    except pd.errors.EmptyDataError as problem:
        raise DataError(
            f"{path.name} is empty",
            expected="names of columns, then rows",
            got="no text",
            remedy="write the table of predictions to it, or name another file",
        ) from problem
    except (pd.errors.ParserError, gzip.BadGzipFile, zlib.error, EOFError) as problem:
        raise _unreadable(path, "a table separated by commas", problem) from problem
    names = cells.iloc[0]
    if len(names) == 1 and pd.notna(names[0]) and any(separator in names[0] for separator in ";\t|"):
        raise DataError(
            f"{path.name} has one column",
            expected="columns separated by commas",
            got=f"the first line {names[0]!r}",
            remedy="save the file again with commas between the columns",
        )
    if names.isna().any():
        number = int(np.flatnonzero(names.isna())[0]) + 1
        raise DataError(
            f"A column of {path.name} has no name",
            expected="a name for each column",
            got=f"none for no. {number}",
            remedy="name it in the first line",
        )
    rows = cells.iloc[1:].reset_index(drop=True)
    stripped: pd.DataFrame = rows.apply(lambda column: column.str.strip())
    return stripped.set_axis(names.str.strip().tolist(), axis=1)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError as problem:
        raise DataError(
            "Parquet files need the package pyarrow, which is not installed",
            remedy="pip install 'betabench[parquet]', or use .csv",
        ) from problem
    except (ValueError, OSError) as problem:  # pyarrow's own errors are among these
        raise _unreadable(path, "a Parquet file", problem) from problem


def _unreadable(path: Path, expected: str, problem: Exception) -> DataError:
    got, remedy = str(problem).strip(), "save the file again"
    return DataError(f"{path.name} cannot be read", expected=expected, got=got, remedy=remedy)


def _check_names(frame: pd.DataFrame, table: str) -> None:
    repeated = sorted({str(name) for name in frame.columns[frame.columns.astype(str).duplicated()]})
    if repeated:
        raise DataError(
            f"{table} has columns of the same name",
            expected="a different name for each column",
            got=", ".join(map(repr, repeated)) + " more than once",
            remedy="rename or drop columns",
        )


@dataclass(frozen=True, eq=False)
class ReadyTable:
    """A table of predictions, ready for metrics."""

    predictions: Mapping[str, Predictions]  # labels, predictions and groups, by attribute
    # A row for each used column: ``column``, ``role``, ``missing`` (rows), ``share`` and ``treatment``.
    missing: pd.DataFrame
    notes: tuple[str, ...]  # remarks for readers on the reading of the table
    # ``rows``, ``rows_audited``, ``columns`` (by role), ``favorable`` (values by role), ``selection`` (the
    # rule that turned scores into predictions, or empty) and ``digest`` (SHA-256 of the used columns).
    facts: Mapping[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns:
    """The columns of a table of predictions, by role, and rules for reading them."""

    sensitive: Sequence[str] | str  # columns whose values are the groups; numbers of at most 20 values
    # Column with two values, or with more if ``favorable`` names the favorable one; all others are then
    # unfavorable. Values may be numbers, text, bools or categories. Without a label, only selection can be
    # compared.
    label: str | None = None
    prediction: str | None = None  # column like ``label``
    score: str | None = None  # column of numbers, higher for rows more likely to have the favorable label
    weight: str | None = None  # column of non-negative weights
    strata: str | None = None  # column to stratify by
    features: Sequence[str] | str = ()  # columns of numbers, for metrics that look for similar rows
    # The favorable value, compared as text. Not needed if values are 0 and 1, false and true, or no and yes.
    # A column without this value is read by these pairs, unless all its values occur in the other column.
    favorable: object = None
    # threshold, k, percent: Rule of selection by score, if there is no prediction: one of them, as in
    # :func:`benchmark.audit.select`.
    threshold: float | None = None
    k: int | None = None
    percent: float | None = None
    intersections: bool = False  # whether the cross of all sensitive columns is an attribute, too

    @property
    def attributes(self) -> list[str]:
        """The sensitive columns, each once."""
        return list(dict.fromkeys(_names(self.sensitive)))

    @property
    def roles(self) -> list[tuple[str, str]]:
        """Role and name of every other column that is used."""
        single = [(role, getattr(self, role)) for role in _ROLES]
        features = [("feature", name) for name in _names(self.features)]
        return [(role, name) for role, name in single if name is not None] + features

    @property
    def selection(self) -> dict[str, float]:
        """The rules of selection by score that are given."""
        rules = {"threshold": self.threshold, "k": self.k, "percent": self.percent}
        return {name: value for name, value in rules.items() if value is not None}


def _names(columns: Sequence[str] | str) -> Sequence[str]:
    return [columns] if isinstance(columns, str) else columns


def prepare(frame: pd.DataFrame, columns: Columns) -> ReadyTable:
    """Return a table of predictions that is ready for metrics.

    Rows whose label, prediction, score, weight, stratum or feature is missing are left out. Rows without a
    sensitive attribute form a separate group, :data:`MISSING`. For errors see
    :func:`~benchmark.audit.audit_predictions`.
    """
    _check_names(frame, "The table")
    frame = frame.set_axis(frame.columns.astype(str), axis=1)
    used, attributes, favorable = columns.roles, columns.attributes, columns.favorable
    _check_selection(columns)
    _check_roles(frame, used, attributes)

    read = [_read(frame[name], role) for role, name in used]
    lacking = [column.isna().to_numpy() for column in read]
    complete = ~np.any(lacking, axis=0)
    if not complete.any():
        raise DataError(
            "No row can be audited",
            expected="rows that have " + ", ".join(f"a {role} ({name})" for role, name in used),
            got=f"{len(frame)} rows, each of which lacks one" if len(frame) else "a table without rows",
            remedy="fill these columns, or name others",
        )
    notes = []
    if n_lost := int((~complete).sum()):
        notes.append(f"{n_lost:,} of {len(frame):,} rows are left out: a value is missing")
    given = {role: column[complete] for (role, _), column in zip(used, read, strict=True)}
    features = {
        name: column[complete] for (role, name), column in zip(used, read, strict=True) if role == "feature"
    }
    outcomes = {role: given[role] for role in _OUTCOMES if role in given}
    counted = _favorable_values(outcomes, dict(used), None if favorable is None else _outcome_name(favorable))
    for role, good in counted.items():
        others = set(outcomes[role]) - good
        if len(others) > 1:
            unfavorable = f"{len(others)} other values are not: {_listed(others)}"
            notes.append(f"{role}: {_listed(good)} is favorable, {unfavorable}")
    truth = {role: outcomes[role].isin(good).to_numpy(dtype=np.bool_) for role, good in counted.items()}
    scores = given["score"].to_numpy() if "score" in given else None
    selection = ""
    if columns.prediction is None and scores is not None:
        chosen = select(scores, threshold=columns.threshold, k=columns.k, percent=columns.percent)
        truth["prediction"] = chosen.selected
        selection = f"{columns.score} ≥ {chosen.threshold:g}: {chosen.n_selected:,} rows"
        notes.append(f"selected are rows with {selection}")

    all_groups = {name: _groups(frame[name], name) for name in attributes}
    groups = {name: texts.fillna(MISSING)[complete] for name, texts in all_groups.items()}
    if columns.intersections:
        crossed = intersect(pd.DataFrame(groups), attributes)
        groups[str(crossed.name)] = crossed
    weights = given["weight"].to_numpy() if "weight" in given else None
    strata = pd.factorize(given["strata"])[0] if "strata" in given else None
    feature_matrix = np.column_stack(list(features.values())) if features else None
    ready = {
        attribute: by_group(
            values,
            y_true=truth.get("label"),
            y_pred=truth["prediction"],
            y_score=scores,
            sample_weight=weights,
            strata=strata,
            features=feature_matrix,
        )
        for attribute, values in groups.items()
    }
    facts = {
        "rows": len(frame),
        "rows_audited": int(complete.sum()),
        "columns": {
            **{role: name for role, name in used if role != "feature"},
            **({"features": list(features)} if features else {}),
            "sensitive": attributes,
        },
        "favorable": {role: sorted(good) for role, good in counted.items()},
        "selection": selection,
        "digest": _digest(frame[[*dict.fromkeys([*(name for _, name in used), *attributes])]]),
    }
    return ReadyTable(ready, _missing(used, lacking, all_groups), tuple(notes), facts)


def _missing(
    used: Sequence[tuple[str, str]], lacking: Sequence[NDArray[np.bool_]], groups: Mapping[str, pd.Series]
) -> pd.DataFrame:
    """Return the missing values of each column, as in :class:`ReadyTable`."""
    parts = [
        (name, role, rows, "rows are left out") for (role, name), rows in zip(used, lacking, strict=True)
    ]
    treatment = f"a group of its own, {MISSING}"
    parts += [(name, "sensitive", texts.isna().to_numpy(), treatment) for name, texts in groups.items()]
    return pd.DataFrame(
        [(name, role, int(rows.sum()), rows.mean(), treatment) for name, role, rows, treatment in parts],
        columns=["column", "role", "missing", "share", "treatment"],
    )


def _check_selection(columns: Columns) -> None:
    rules = list(columns.selection)
    by_score = columns.prediction is None
    if bool(rules) != by_score or (by_score and columns.score is None):
        role, name = ("score", columns.score) if by_score else ("prediction", columns.prediction)
        raise ExperimentError(
            "It is not clear who is selected",
            expected="a prediction, or a score with threshold, k (--top-k) or percent (--top-percent)",
            got=" and ".join([*([f"the {role} {name!r}"] if name is not None else []), *rules]) or "neither",
            remedy="name one or the other",
        )


def _check_roles(frame: pd.DataFrame, used: Sequence[tuple[str, str]], attributes: Sequence[str]) -> None:
    if not attributes:
        raise ExperimentError(
            "There are no groups to compare", expected="one or more sensitive columns", remedy="name one"
        )
    for name in (*(name for _, name in used), *attributes):
        if name not in frame:
            raise UnknownNameError("column", name, frame.columns)
    taken: dict[str, str] = {}
    alone = [(role, name) for role, name in used if role in (*_OUTCOMES, "score")]
    for role, name in (*alone, *(("sensitive", name) for name in attributes)):
        if name in taken:
            raise ExperimentError(
                f"The column {name!r} has two roles",
                expected="different columns for label, prediction, score and groups",
                got=f"{taken[name]} and {role}",
                remedy="name another column for one of them",
            )
        taken[name] = role


# --------------------------------------------------------------------------------------------- values


def _read(values: pd.Series, role: str) -> pd.Series:
    """Return a column as text or numbers, by its role, with empty values missing."""
    if role in _OUTCOMES:
        return _as_text(values, _outcome_name)
    return _as_text(values) if role == "strata" else _numbers(values, role)


def _name(value: object) -> str | None:
    """Return a value as text, None if that is empty."""
    # Whole numbers beside missing ones are stored as floats.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() or None


def _outcome_name(value: object) -> str | None:
    """Return a class as text: 1 and "1.0" are the same."""
    text = _name(value)
    number = as_number(text or "")
    return text if number is None else _name(number)


def _as_text(values: pd.Series, name: Callable[[object], str | None] = _name) -> pd.Series:
    """Return a column as text, None where it is missing or empty."""
    try:
        codes, distinct = pd.factorize(values.astype(object))
    except TypeError as problem:
        raise DataError(
            f"The column {values.name!r} cannot be used",
            expected="single values",
            got=str(problem),
            remedy="write its values as text or numbers",
        ) from problem
    texts = np.array([*map(name, distinct), None], dtype=object)
    return pd.Series(texts[codes], name=values.name, dtype=object)


def _quantities(values: Collection[str]) -> list[float] | None:
    """Return values as numbers, or None unless all are numbers."""
    numbers = [number for value in values if (number := as_number(value)) is not None]
    return numbers if len(numbers) == len(values) else None


def _groups(values: pd.Series, name: str) -> pd.Series:
    """Return the group of each row, None where it is missing."""
    texts = _as_text(values)
    distinct = texts.dropna().unique()
    if len(distinct) > _MOST_NUMBERS and _quantities(distinct) is not None:
        raise DataError(
            f"The sensitive column {name!r} is a quantity",
            expected=f"groups: text, or at most {_MOST_NUMBERS} different numbers",
            got=f"{len(distinct):,} different numbers",
            remedy=f"bin it, for example with pandas.cut(frame[{name!r}], [0, 25, 45, 120])",
        )
    if texts.isna().any() and MISSING in distinct:
        raise DataError(
            f"The sensitive column {name!r} has a group that is called {MISSING!r}, and missing values",
            expected="another name, because missing values are a group of that name",
            got=f"{(texts == MISSING).sum():,} rows of that group, {texts.isna().sum():,} missing values",
            remedy="rename the group, or make these values missing",
        )
    return texts


def _numbers(values: pd.Series, role: str) -> pd.Series:
    """Return a column as numbers, NaN where it is missing."""

    def refuse(expected: str, got: str) -> NoReturn:
        raise DataError(
            f"The {role} {values.name!r} cannot be used",
            expected=expected,
            got=got,
            remedy="correct these values, or make them missing",
        )

    plain = values if pd.api.types.is_numeric_dtype(values) else values.astype(object)
    array = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    odd = values[np.isnan(array)].dropna()
    odd = odd[odd.astype(str).str.strip().ne("")]
    if len(odd):
        refuse("numbers", f"{odd.iloc[0]!r} among {len(odd):,} of {len(values):,} rows")
    if np.isinf(array).any():
        refuse("finite numbers", f"infinity in {int(np.isinf(array).sum()):,} of {len(values):,} rows")
    if role == "weight" and (array < 0).any():
        refuse("weights that are not negative", f"{np.nanmin(array):g}")
    return pd.Series(array, name=values.name)


def _favorable_values(
    outcomes: Mapping[str, pd.Series], names: Mapping[str, str], favorable: str | None
) -> dict[str, set[str]]:
    """Return the favorable values of label and prediction."""
    classes = {role: set(texts) for role, texts in outcomes.items()}
    for role, values in classes.items():
        _check_classes(role, names[role], values)
    everything = set().union(*classes.values())
    if favorable is not None and classes and favorable not in everything:
        raise UnknownNameError("favorable value", favorable, everything)
    chosen = {}
    for role, values in classes.items():
        others = set().union(*(other for name, other in classes.items() if name != role))
        clear = next((good for bad, good in _CLEAR if {v.lower() for v in values} <= {bad, good}), None)
        if favorable is not None and (favorable in values or values <= others):
            chosen[role] = values & {favorable}
        elif clear is not None:
            chosen[role] = {value for value in values if value.lower() == clear}
        else:
            _refuse_classes(role, names[role], values, favorable)
    return chosen


def _check_classes(role: str, name: str, values: set[str]) -> None:
    numbers = _quantities(values)
    if numbers is None:
        return
    fractions = len(numbers) > 2 and any(not n.is_integer() for n in numbers)
    if len(numbers) > _MOST_NUMBERS or fractions:
        raise DataError(
            f"The {role} {name!r} is a quantity, and rates need classes",
            expected="two values, or a few with the favorable one named",
            got=f"{len(numbers):,} different numbers from {min(numbers):g} to {max(numbers):g}",
            remedy="divide it into two classes first"
            if role == "label"
            else "name it as the score (--score), and select rows with --threshold, --top-k or --top-percent",
        )


def _refuse_classes(role: str, name: str, values: set[str], favorable: str | None) -> NoReturn:
    if favorable is not None:
        raise DataError(
            f"The {role} {name!r} has other values than the other column",
            expected=f"the favorable value {favorable!r} among them, or 0 and 1",
            got=_listed(values),
            remedy="write both columns with the same values",
        )
    problem = "the favorable value is not clear" if len(values) <= 2 else "rates need two"
    raise DataError(
        f"The {role} {name!r} has {len(values)} value{'s' * (len(values) > 1)}, and {problem}",
        expected="0 and 1, false and true, no and yes, or a favorable value",
        got=_listed(values),
        remedy="name the favorable value (--favorable VALUE); all others then count as unfavorable",
    )


def _listed(values: Iterable[str]) -> str:
    return few([*map(repr, sorted(values))], 8) or "none"


def _digest(frame: pd.DataFrame) -> str:
    """Return the SHA-256 of columns as text, equal for equal values in any format."""
    texts = pd.DataFrame({name: _as_text(frame[name]).fillna("") for name in frame})
    return hashlib.sha256(pd.util.hash_pandas_object(texts, index=False).to_numpy().tobytes()).hexdigest()
