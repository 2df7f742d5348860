"""Tables of predictions, read and made ready for metrics.

The meaning of a column is never guessed. If the favorable value, a group or the selected people are not
certain, an error says how to name them.
"""

import hashlib
import math
import shlex
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.audit.outcomes import (
    MOST_NUMBERS,
    OUTCOMES,
    favorable_values,
    listed,
    quantities,
    reversed_question,
    said_of_sides,
)
from benchmark.audit.remarks import remarks_on_columns
from benchmark.columns import CROSSED
from benchmark.data.draft import about_numbers
from benchmark.data.files import read_frame, refuse_repeated
from benchmark.data.reading import DoubtError
from benchmark.errors import DataError, ExperimentError, UnknownNameError
from benchmark.file_options import FileOptions
from benchmark.metrics import Predictions
from benchmark.text.words import as_number, as_text

MISSING = "(missing)"
"""Group of rows without a sensitive attribute."""
REMARKS = "betabench_remarks"
"""Key in a frame's ``attrs`` of sentences on how its file was read, which the audit repeats."""

_ROLES = (*OUTCOMES, "score", "weight", "strata")
_NUMBERS = ("score", "weight", "feature")


def read_predictions(
    path: Path | str,
    *,
    named: Set[str] = frozenset(),
    known: Mapping[str, Set[str]] | None = None,
    **reading: Any,
) -> pd.DataFrame:
    """Return a table of predictions, one row per person, from a file of CSV, Parquet, ARFF or Excel.

    :func:`benchmark.data.files.read_frame` reads it: Parquet keeps its types, and other values are text,
    without blanks around them. ``named`` are columns that are known to be in the header, ``known`` values by
    column that are not missing, such as NA. The others are :class:`~benchmark.file_options.FileOptions`:
    ``thousands``, ``decimals``, ``max_mb``, ``encoding`` and ``without_lines``.
    Remarks for readers are in ``frame.attrs``. A DataError means that the file cannot be read, has no rows,
    or has a named column twice.
    """
    frame = read_frame(Path(path), FileOptions.of(**reading), named, known)
    for name in known or ():
        if name not in frame:
            raise UnknownNameError("column", name, map(str, frame.columns))
    _refuse_repeated(frame)
    if frame.empty:
        raise DataError(
            f"{Path(path).name} has no rows", expected="one row per person", remedy="add its rows"
        )
    return frame


def _refuse_repeated(frame: pd.DataFrame) -> None:
    names = frame.columns.map(str)
    refuse_repeated({*names[names.duplicated()]})


def rows_where(frame: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Return the rows of a table that have a value, named as ``COLUMN=VALUE``, and a remark on that.

    An UnknownNameError means that there is no such column or value, a DataError that several are meant.
    """
    named = [name for name in frame.columns if condition.startswith(f"{name}=")]
    if not named:
        raise UnknownNameError("column", condition.partition("=")[0], map(str, frame.columns))
    texts = {name: _as_text(frame[name]) for name in named}
    meant = [(name, condition.removeprefix(f"{name}=")) for name in named]
    found = [(name, value) for name, value in meant if texts[name].eq(value).any()]
    if not found:
        name, value = meant[0]
        raise UnknownNameError(f"value of {name!s}", value, texts[name].dropna().unique())
    if len(found) > 1:
        raise DataError(
            f"{condition!r} can mean several columns",
            expected="one column",
            got=", ".join(repr(str(name)) for name, _ in found),
            remedy="rename one of them",
        )
    [(name, value)] = found
    kept = frame[texts[name].eq(value).to_numpy()]
    kept.attrs[REMARKS] = (*frame.attrs.get(REMARKS, ()), f"only rows with {name} = {value!r} are audited")
    return kept


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
    # The groups of each attribute whose rows lack a value of it; they are no reference unless named.
    unknown: Mapping[str, frozenset[str]]
    crossed: Mapping[tuple[str, ...], str]  # name of each crossed group, by its groups of all attributes


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns:
    """The columns of a table of predictions, by role, and rules for reading them.

    A column is named as in the frame: by text, a number or a tuple, or by any of these as text.
    """

    # Columns whose values are the groups, one or several; numbers of at most 20 values.
    sensitive: Sequence[Hashable] | Hashable
    # Column with two values, or with more if ``favorable`` names the favorable one; all others are then
    # unfavorable. Values may be numbers, text, bools or categories. Without a label, only selection can be
    # compared.
    label: Hashable = None
    prediction: Hashable = None  # column like ``label``
    score: Hashable = None  # column of numbers, higher for rows more likely to have the favorable label
    weight: Hashable = None  # column of non-negative weights
    strata: Hashable = None  # column to stratify by
    features: Sequence[Hashable] | Hashable = ()  # columns of numbers, for metrics that look for similar rows
    # The favorable value of label and prediction, compared as text. Not needed if values are 0 and 1, false
    # and true, or no and yes. If both columns are written in such pairs, it names that side of both: "0" is
    # the side of "false".
    favorable: object = None
    favorable_prediction: object = None  # the favorable prediction, if its values are not the label's
    # threshold, k, percent: Rule of selection by score, if there is no prediction: the lowest selected score,
    # the number of selected rows, or their share in percent, rounded down to whole rows.
    threshold: float | None = None
    k: int | None = None
    percent: float | None = None
    intersections: bool = False  # whether the cross of all sensitive columns is an attribute, too

    def attributes(self, known: Collection[str]) -> list[str]:
        """Return the sensitive columns as text, each once; ``known`` are the columns of the table."""
        return list(dict.fromkeys(_names(self.sensitive, known)))

    def roles(self, known: Collection[str]) -> list[tuple[str, str]]:
        """Return role and name, as text, of every other column that is used."""
        single = [(role, getattr(self, role)) for role in _ROLES]
        features = [("feature", name) for name in _names(self.features, known)]
        return [(role, str(name)) for role, name in single if name is not None] + features

    @property
    def selection(self) -> dict[str, float]:
        """The rules of selection by score that are given."""
        rules = {"threshold": self.threshold, "k": self.k, "percent": self.percent}
        return {name: value for name, value in rules.items() if value is not None}


def _names(columns: Sequence[Hashable] | Hashable, known: Collection[str]) -> list[str]:
    """Return one or several names of columns as text; a tuple is one if a column has it for a name."""
    if isinstance(columns, str) or str(columns) in known or not isinstance(columns, Iterable):
        return [str(columns)]
    return [*map(str, columns)]


def prepare(frame: pd.DataFrame, columns: Columns) -> ReadyTable:
    """Return a table of predictions that is ready for metrics.

    Rows whose label, prediction, score, weight, stratum or feature is missing are left out. Rows without a
    sensitive attribute form a separate group, :data:`MISSING`. For errors see
    :func:`~benchmark.audit.audit_predictions`.
    """
    _refuse_repeated(frame)
    remarks, unclear = frame.attrs.get(REMARKS, ()), frame.attrs.get("betabench_unclear", {})
    frame = frame.set_axis([*map(str, frame.columns)], axis=1)
    used, attributes = columns.roles(frame.columns), columns.attributes(frame.columns)
    _check_selection(columns)
    _check_roles(frame, used, attributes)

    read = pd.DataFrame({i: _read(frame[name], role) for i, (role, name) in enumerate(used)})
    complete = read.notna().all(axis=1).to_numpy()
    if not complete.any():
        raise DataError(
            "No row can be audited",
            expected="rows that have " + ", ".join(f"a {role} ({name})" for role, name in used),
            got=f"{len(frame)} rows, each of which lacks one" if len(frame) else "a table without rows",
            remedy="fill these columns, or name others",
        )
    numbers = {name for role, name in used if role in _NUMBERS}
    if questions := [*about_numbers({name: unclear[name] for name in unclear if name in numbers})]:
        raise DoubtError(questions)
    classed = {*attributes, *(name for role, name in used if role in OUTCOMES)}
    notes = [
        *remarks,
        *(
            f"NA counts as missing in {name}: if it is a name there, type --known {shlex.quote(f'{name}=NA')}"
            for name in frame.attrs.get("betabench_na", ())
            if name in classed
        ),
    ]
    if n_lost := int((~complete).sum()):
        notes.append(f"{n_lost:,} of {len(frame):,} rows are left out: a value is missing")
    given = {role: read.loc[complete, i] for i, (role, _) in enumerate(used)}
    outcomes = {role: given[role] for role in OUTCOMES if role in given}
    classes = {role: set(texts) for role, texts in outcomes.items()}
    named = (
        None if value is None else _outcome_name(value)
        for value in (columns.favorable, columns.favorable_prediction)
    )
    counted = favorable_values(classes, dict(used), *named)
    notes += said_of_sides(classes, counted)
    truth = {role: outcomes[role].isin(good).to_numpy(dtype=np.bool_) for role, good in counted.items()}
    rows: dict[str, Any] = {
        key: given[role].to_numpy()
        for role, key in (("score", "y_score"), ("weight", "sample_weight"))
        if role in given
    }
    if "strata" in given:
        rows["strata"] = pd.factorize(given["strata"])[0]
    if features := [i for i, (role, _) in enumerate(used) if role == "feature"]:
        rows["features"] = read.loc[complete, features].to_numpy()
    scores, selection = rows.get("y_score"), ""
    if columns.prediction is None and scores is not None:
        truth["prediction"], threshold, more = select(scores, columns.selection)
        selection = f"{columns.score} ≥ {threshold:g}: {truth['prediction'].sum():,} rows"
        notes.append(f"selected are rows with {selection}")
        shares = np.min(scores) >= 0  # unlike log odds
        if columns.threshold is not None and 0 < columns.threshold < 1 < np.max(scores) and shares:
            notes.append(f"scores go up to {np.max(scores):g}: is {columns.threshold:g} meant as a share?")
        if more:
            notes.append(f"{more:,} more rows than asked for are selected: they tie at the last score")
    if scores is not None and len(scores) > 1 and np.ptp(scores) == 0:
        notes.append(f"every row has the same score, {scores[0]:g}: it ranks nobody")
    for role, sides in truth.items():
        if sides.all() or not sides.any():
            same = f"has the same {role}, {listed(classes[role])}" if role in classes else "is selected"
            if role not in classes and not sides.any():
                same = "is left out by the selection"
            notes.append(f"every row {same}: rates that need rows of the other kind have no value")
    known = pd.DataFrame({name: _groups(frame[name], name) for name in attributes})
    groups, lacking = known.fillna(MISSING)[complete], known.isna()
    notes += remarks_on_columns(frame, used, attributes)
    unknown = {name: frozenset([MISSING] if lacking[name].any() else []) for name in attributes}
    crossed: dict[tuple[str, ...], str] = {}
    if columns.intersections:
        cells = _crossed(groups)
        crossed = dict(zip(groups.itertuples(index=False, name=None), cells, strict=True))
        unknown[str(cells.name)] = frozenset(cells[lacking.any(axis=1)[complete]])
        groups = groups.assign(**{str(cells.name): cells})
    if len(counted) == 2 and all(sides.any() and not sides.all() for sides in truth.values()):
        notes += reversed_question(truth, groups, classes, counted)
    ready = {}
    for attribute in map(str, groups):
        codes, names = pd.factorize(groups[attribute].to_numpy(dtype=object), sort=True)
        ready[attribute] = Predictions(
            codes, tuple(names), y_true=truth.get("label"), y_pred=truth["prediction"], **rows
        )
    facts = {
        "rows": len(frame),
        "rows_audited": int(complete.sum()),
        "columns": {
            **{role: name for role, name in used if role != "feature"},
            **({"features": [used[i][1] for i in features]} if features else {}),
            "sensitive": attributes,
        },
        "favorable": {role: sorted(good) for role, good in counted.items()},
        "selection": selection,
        "digest": _digest(frame[[*dict.fromkeys([*(name for _, name in used), *attributes])]]),
    }
    left_out, of_its_own = "rows are left out", f"a group of its own, {MISSING}"
    missing = [(name, role, read[i].isna(), left_out) for i, (role, name) in enumerate(used)]
    missing += [(name, "sensitive", lacking[name], of_its_own) for name in attributes]
    table = pd.DataFrame(
        [(name, role, int(rows.sum()), rows.mean(), treatment) for name, role, rows, treatment in missing],
        columns=["column", "role", "missing", "share", "treatment"],
    )
    return ReadyTable(ready, table, tuple(notes), facts, unknown, crossed)


def select(score: NDArray[np.float64], rules: Mapping[str, float]) -> tuple[NDArray[np.bool_], float, int]:
    r"""Return whether each row is selected, the lowest score of these, and how many more than asked for tie.

    A row is selected if its score is at least a threshold: a given one, or the score of the k-th highest
    row, :math:`\hat y = 1` if :math:`s \ge s_k` (Saleiro et al. 2018, section 3.2). Rows that tie with the
    k-th row are all selected, in any order of the rows. The rules are those of :class:`Columns`. An
    ExperimentError means that there are several, or that one selects an impossible number of rows.
    """
    if len(rules) > 1:
        raise ExperimentError(
            "It is not clear whom to select",
            expected="exactly one of threshold, k and percent",
            got=" and ".join(rules),
            remedy="name one of them",
        )
    [(rule, wanted)] = rules.items()
    n, most = len(score), 0
    if math.isnan(wanted) and rule == "threshold":
        raise ExperimentError("The threshold is not a number", expected="a score", got="NaN")
    if rule == "k" and float(wanted).is_integer():
        most = int(wanted)
    elif rule == "percent" and 0 < wanted <= 100:
        # The small number corrects whole percentages that rounding made a little less.
        most = math.floor(wanted * n / 100 + 1e-9)
    if rule != "threshold" and not 1 <= most <= n:
        raise ExperimentError(
            "That many rows cannot be selected",
            expected=f"from 1 to {n} rows",
            got=f"{rule} = {wanted:g}",
            remedy="choose a number in this range",
        )
    threshold = wanted if rule == "threshold" else float(np.partition(score, n - most)[n - most])
    selected = score >= threshold
    return selected, threshold, int(selected.sum()) - most if most else 0


def _crossed(groups: pd.DataFrame) -> pd.Series:
    """Return attributes crossed into one: values such as ``"Female × Black"``, the name ``"sex × race"``."""
    first, *others = attributes = [*map(str, groups)]
    if not others:
        raise ExperimentError("There is nothing to cross", expected="two or more columns", got=first)
    crossed: pd.Series = groups[first].str.cat(groups[others], sep=CROSSED)
    # "a" and "b × c" must not become one group with "a × b" and "c".
    if crossed.nunique() < len(groups.drop_duplicates()):
        doubtful = (repr(v) for name in attributes for v in groups[name].unique() if CROSSED in v)
        raise DataError(
            "Crossed groups would have the same name",
            expected=f"values without {CROSSED!r}",
            got=", ".join(doubtful)[:200],
            remedy="rename these values",
        )
    if (name := CROSSED.join(attributes)) in attributes:
        raise DataError(
            f"The column {name!r} has the name of an intersection",
            expected="another name",
            got=repr(name),
            remedy="rename the column",
        )
    return crossed.rename(name)


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
    if by_score and columns.favorable_prediction is not None:
        raise ExperimentError(
            "There is no prediction, and so no favorable one",
            expected="a favorable prediction (--favorable-prediction) beside a column of predictions",
            got=f"the rule {rules[0]} of selection by score",
            remedy="leave the favorable prediction out, or name the column",
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
    alone = [(role, name) for role, name in used if role in (*OUTCOMES, "score")]
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
    if role in OUTCOMES:
        return _as_text(values, _outcome_name)
    return _as_text(values) if role == "strata" else _numbers(values, role)


def group_name(value: Any) -> str:
    """Return the name of the group of a value; None and NaN are the group of missing values."""
    return MISSING if pd.isna(value) else _name(value) or MISSING


def _name(value: object) -> str | None:
    """Return a value as text, None if that is empty."""
    return as_text(value) or None


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


def _groups(values: pd.Series, name: str) -> pd.Series:
    """Return the group of each row, None where it is missing."""
    texts = _as_text(values)
    distinct = texts.dropna().unique()
    dates = pd.api.types.is_datetime64_any_dtype(values)
    if len(distinct) > MOST_NUMBERS and (dates or quantities(distinct) is not None):
        kind = "dates" if dates else "numbers"
        raise DataError(
            f"The sensitive column {name!r} is a quantity",
            expected=f"groups: text, or at most {MOST_NUMBERS} different {kind}",
            got=f"{len(distinct):,} different {kind}",
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


def _digest(frame: pd.DataFrame) -> str:
    """Return the SHA-256 of columns as text, equal for equal values in any format."""
    texts = pd.DataFrame({name: _as_text(frame[name]).fillna("") for name in frame})
    return hashlib.sha256(pd.util.hash_pandas_object(texts, index=False).to_numpy().tobytes()).hexdigest()
