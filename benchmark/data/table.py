"""Coded tables, which travel through the program.

A :class:`Table` is a matrix of small integers with a :class:`Schema`, which gives their meaning and the roles
of the columns. Data frames appear only where users meet the library.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError, DeclinedError, UnknownNameError
from benchmark.text.words import few

if TYPE_CHECKING:  # importing it takes half a second, which lists and cards can do without
    import pandas as pd

CODE_DTYPE = np.int16  # type of every code: a single type, so that compiled kernels exist once
States: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Definition of a group: columns, and the states of each that members may have."""


@dataclass(frozen=True)
class Column:
    """A categorical column."""

    name: str
    states: tuple[str, ...]  # possible values; a code is a position in this tuple
    ordered: bool = False  # whether the states have a natural order, as bins have

    @property
    def cardinality(self) -> int:
        """Number of states."""
        return len(self.states)

    def code(self, state: str) -> int:
        """Return the code of a state; raises :class:`UnknownNameError` if the column has no such state."""
        try:
            return self.states.index(state)
        except ValueError:
            raise UnknownNameError(f"state of column {self.name!r}", state, self.states) from None


class _Columns:
    """An ordered set of columns, the sensitive feature among them."""

    columns: tuple[Column, ...]
    sensitive_feature: str
    deprived_group: str
    deprived_states: States

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def cardinalities(self) -> NDArray[np.int64]:
        """Number of states of each column, shape (n_columns,)."""
        return np.array([column.cardinality for column in self.columns], dtype=np.int64)

    @cached_property
    def ordered(self) -> NDArray[np.bool_]:
        """Whether the states of each column have a natural order, shape (n_columns,)."""
        ordered = np.array([column.ordered for column in self.columns], dtype=np.bool_)
        ordered.flags.writeable = False
        return ordered

    def index(self, name: str) -> int:
        """Return the position of a column; raises :class:`UnknownNameError` if there is none."""
        try:
            return self.names.index(name)
        except ValueError:
            raise UnknownNameError("column", name, self.names) from None

    def column(self, name: str) -> Column:
        """Return a column by name."""
        return self.columns[self.index(name)]

    @cached_property
    def sensitive_index(self) -> int:
        """Position of the sensitive feature."""
        return self.index(self.sensitive_feature)

    @cached_property
    def sensitive_features(self) -> tuple[str, ...]:
        """Columns that define the deprived group: the sensitive feature, or those of an intersection."""
        return tuple(name for name, _ in self._deprived_states)

    @cached_property
    def sensitive_indices(self) -> tuple[int, ...]:
        """Positions of the sensitive features."""
        return tuple(map(self.index, self.sensitive_features))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups: the sensitive feature's states, or an intersection and all others."""
        if len(self.sensitive_features) > 1:
            return f"not {self.deprived_group}", self.deprived_group
        return self.columns[self.sensitive_index].states

    @cached_property
    def deprived_codes(self) -> tuple[int, ...]:
        """Positions of the deprived groups among the groups."""
        if len(self.sensitive_features) > 1:
            return (1,)
        return tuple(map(self.columns[self.sensitive_index].code, self._deprived_states[0][1]))

    @cached_property
    def deprived_code(self) -> int:
        """Code of the deprived group; raises a DeclinedError unless it is a single state."""
        if self.deprived_states:
            raise DeclinedError(
                "The deprived group is not a single state",
                expected=f"one state of {self.sensitive_feature!r}",
                got=f"{self.sensitive_feature} = {self.deprived_group}",
                remedy="name one state as 'deprived_group', or tell groups apart by table.deprived",
            )
        return self.columns[self.sensitive_index].code(self.deprived_group)

    def deprived_among(self, codes: Callable[[int], NDArray[np.integer]]) -> NDArray[np.bool_]:
        """Return a mask of the deprived rows; ``codes`` returns the codes of the column at a position."""
        defined = zip(self.sensitive_indices, self._deprived_states, strict=True)
        members = [np.isin(codes(i), [*map(self.columns[i].code, states)]) for i, (_, states) in defined]
        return np.asarray(np.logical_and.reduce(members))

    @cached_property
    def _deprived_states(self) -> States:
        return self.deprived_states or ((self.sensitive_feature, (self.deprived_group,)),)


@dataclass(frozen=True)
class FeatureSchema(_Columns):
    """The columns of ``Table.features``: a :class:`Schema` without the label."""

    columns: tuple[Column, ...]
    sensitive_feature: str
    deprived_group: str
    deprived_states: States = field(default=(), repr=False)


@dataclass(frozen=True)
class Schema(_Columns):
    """Columns and their roles.

    Roles travel with the data: no function of this package takes a label or a sensitive feature beside a
    table.
    """

    columns: tuple[Column, ...]  # all columns, label included, in the order of the code matrix
    label: str  # name of the outcome column, which has two states
    favorable_label: str  # the label's state that is good for people (y+ in the paper)
    sensitive_feature: str  # name of the sensitive column (s)
    # The state of the sensitive column whose members are deprived (g; AIF360: *unprivileged*). All others are
    # the favored group (AIF360: *privileged*).
    deprived_group: str
    # No part of the repr, so that digests of tables with a single deprived state stay the same.
    # The definition of a deprived group that is no single state: several states of the sensitive column, or
    # its intersection with later columns. ``deprived_group`` is then the group's name.
    deprived_states: States = field(default=(), repr=False)

    def __post_init__(self) -> None:
        most = np.iinfo(CODE_DTYPE).max
        label, sensitive = self.column(self.label), self.column(self.sensitive_feature)
        for holds, expected in (
            (len({*self.names}) == len(self.names), "distinct names of columns"),
            (
                (self.cardinalities <= most).all(),
                f"at most {most:,} states: merge some, or cut bins",
            ),
            (label != sensitive, "a label that is not its own sensitive feature"),
            (label.cardinality == 2, f"two states of the label {self.label!r}"),
            (sensitive.cardinality > 1, f"two states or more of {self.sensitive_feature!r}"),
        ):
            if not holds:
                got = ", ".join(f"{column.name} ({column.cardinality} states)" for column in self.columns)
                raise DataError("Columns do not fit their roles", expected=expected, got=got)
        self.column(self.label).code(self.favorable_label)
        if not self.deprived_states:
            self.column(self.sensitive_feature).code(self.deprived_group)
            return
        members = dict(self.deprived_states)
        for name, states in members.items():
            for state in states:
                self.column(name).code(state)
        if (
            next(iter(members)) != self.sensitive_feature
            or self.label in members
            or self.deprived_group in self.column(self.sensitive_feature).states
            or not all(0 < len({*states}) < self.column(name).cardinality for name, states in members.items())
        ):
            raise DataError(
                "The deprived group does not fit its features",
                expected=f"some but not all states of {self.sensitive_feature!r} first, then some but not "
                "all states of other features",
                got=f"{self.deprived_group}: {self.deprived_states}",
                remedy="correct 'deprived_group'",
            )

    @cached_property
    def label_index(self) -> int:
        """Position of the label."""
        return self.index(self.label)

    @cached_property
    def favorable_code(self) -> int:
        """Code of the favorable label."""
        return self.columns[self.label_index].code(self.favorable_label)

    @cached_property
    def feature_indices(self) -> tuple[int, ...]:
        """Positions of all columns but the label."""
        return tuple(i for i in range(len(self.columns)) if i != self.label_index)

    @cached_property
    def insensitive_indices(self) -> tuple[int, ...]:
        """Positions of all features but the sensitive ones."""
        return tuple(i for i in self.feature_indices if i not in self.sensitive_indices)

    @cached_property
    def features(self) -> FeatureSchema:
        """The columns of ``Table.features``: all but the label."""
        columns = tuple(self.columns[i] for i in self.feature_indices)
        return FeatureSchema(columns, self.sensitive_feature, self.deprived_group, self.deprived_states)


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers that some columns of a table were cut from."""

    columns: tuple[str, ...]  # names of the columns
    # Shape (n_rows, n_columns), in the units of the file; NaN if a value is missing or no number.
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Numbers:
        """Return the numbers of some rows, given by positions (repeats allowed) or by a mask."""
        return Numbers(self.columns, np.asfortranarray(self.values[rows]))

    def without(self, column: str) -> Numbers | None:
        """Return the numbers of all other columns, or None if there are none."""
        if column not in self.columns:
            return self
        others = [i for i, name in enumerate(self.columns) if name != column]
        names = tuple(self.columns[i] for i in others)
        return Numbers(names, self.values.T[others].T) if others else None

    def of(self, column: str) -> NDArray[np.float64]:
        """Return the numbers of a column, shape (n_rows,)."""
        return self.values[:, self.columns.index(column)]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of columns and numbers, as 64 hexadecimal digits."""
        facts = repr((self.columns, self.values.shape)).encode()
        return hashlib.sha256(facts + self.values.astype("<f8").tobytes(order="F")).hexdigest()


@dataclass(frozen=True, eq=False)
class Table:
    """A coded table; raises a DataError if codes do not fit the schema."""

    schema: Schema  # meaning and roles of the columns
    # shape (n_rows, n_columns): codes of all columns in the schema's order, the label included. Learners take
    # ``features`` and ``y``. The table has a column-major, read-only view or copy of its own, so that no user
    # of a table can change it for another.
    codes: NDArray[np.int16] = field(repr=False)
    # The numbers behind bins, for classifiers that take them. They follow rows; new codes have none.
    numbers: Numbers | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        expected = len(self.schema.columns)
        if codes.ndim != 2 or codes.shape[1] != expected:
            raise DataError(
                "The code matrix does not fit its schema",
                expected=f"shape (n_rows, {expected})",
                got=f"shape {codes.shape}",
            )
        if codes.size and not _inside(codes, self.schema.cardinalities):
            bad = [
                f"{c.name} ({codes[:, i].min()} to {codes[:, i].max()}, {c.cardinality} states)"
                for i, c in enumerate(self.schema.columns)
                if codes[:, i].min() < 0 or codes[:, i].max() >= c.cardinality
            ]
            raise DataError(
                "Codes lie outside their column's states",
                expected="0 to the number of states minus 1",
                got=", ".join(bad),
            )
        if self.numbers is not None and len(self.numbers.values) != len(codes):
            raise DataError(
                "The numbers do not fit the codes",
                expected=f"{len(codes)} rows",
                got=f"{len(self.numbers.values)}",
            )
        kept_codes = np.asfortranarray(codes, dtype=CODE_DTYPE)
        if kept_codes.flags.writeable:
            if np.may_share_memory(kept_codes, self.codes):  # the caller may write to its array later
                kept_codes = kept_codes.copy(order="F")
            kept_codes.flags.writeable = False
        object.__setattr__(self, "codes", kept_codes)

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    @cached_property
    def features(self) -> NDArray[np.int16]:
        """Codes without the label column, shape (n_rows, n_features), column-major and read-only."""
        label = self.schema.label_index
        if label == 0:
            return self.codes[:, 1:]
        if label == len(self.schema.columns) - 1:
            return self.codes[:, :-1]
        features = self.codes.T[list(self.schema.feature_indices)].T
        features.flags.writeable = False
        return features

    @property
    def feature_schema(self) -> FeatureSchema:
        """Meaning of the columns of ``features``."""
        return self.schema.features

    @cached_property
    def y(self) -> NDArray[np.bool_]:
        """Whether the label is favorable, shape (n_rows,)."""
        return np.asarray(self.codes[:, self.schema.label_index] == self.schema.favorable_code)

    @cached_property
    def deprived(self) -> NDArray[np.bool_]:
        """Whether a row belongs to the deprived group, shape (n_rows,)."""
        return self.schema.deprived_among(lambda i: self.codes[:, i])

    @cached_property
    def groups(self) -> NDArray[np.int16]:
        """Group of each row, as a position in the schema's ``groups``, shape (n_rows,)."""
        if len(self.schema.sensitive_features) > 1:
            return self.deprived.astype(CODE_DTYPE)
        return self.codes[:, self.schema.sensitive_index]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of schema and codes, as 64 hexadecimal digits."""
        h = hashlib.sha256(repr(self.schema).encode())
        h.update(repr(self.codes.shape).encode())
        # Little-endian bytes of the column-major matrix: the same on every machine.
        h.update(self.codes.astype("<i2").tobytes(order="F"))
        return h.hexdigest()

    def twin(self, *, numbers: bool = False) -> Table:
        """Return a new table of the same rows, which derives features and labels itself."""
        twin = object.__new__(Table)  # the codes are checked already
        for name in ("schema", "codes", "_hidden", *(("numbers",) if numbers else ())):
            object.__setattr__(twin, name, getattr(self, name))
        return twin

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Table:
        """Return the table of some rows, given by positions (repeats allowed) or by a mask."""
        return Table(self.schema, self.codes[rows], self.numbers and self.numbers.take(rows))

    def with_column(self, name: str, codes: NDArray[np.integer]) -> Table:
        """Return a copy in which one column has new codes, shape (n_rows,), and no numbers."""
        changed = self.codes.copy(order="F")
        changed[:, self.schema.index(name)] = codes
        return Table(self.schema, changed, self.numbers and self.numbers.without(name))

    def hide_label(self) -> Table:
        """Return the table with a label column of zeros: the form in which a technique sees test rows.

        A table that has such a column is returned itself.
        """
        return self if self._hidden else self._without_label

    @cached_property
    def _hidden(self) -> bool:
        return not self.codes[:, self.schema.label_index].any()

    @cached_property
    def _without_label(self) -> Table:
        return self.with_column(self.schema.label, np.zeros(len(self), dtype=CODE_DTYPE))

    @cached_property
    def sealed(self) -> Table:
        """The same rows with codes that cannot be made writeable again."""
        for schema in (self.schema, self.feature_schema):
            schema.cardinalities.flags.writeable = False
        numbers = self.numbers and replace(self.numbers, values=read_only(self.numbers.values))
        sealed = self.twin()
        object.__setattr__(sealed, "codes", read_only(self.codes))
        object.__setattr__(sealed, "numbers", numbers)
        return sealed

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame of categoricals with the schema's states and their order."""
        import pandas as pd

        columns = {}
        for i, column in enumerate(self.schema.columns):
            dtype = pd.CategoricalDtype(list(column.states), ordered=column.ordered)
            columns[column.name] = pd.Categorical.from_codes(self.codes[:, i], dtype=dtype)
        return pd.DataFrame(columns)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, schema: Schema) -> Table:
        """Return the table of a data frame that has at least the schema's columns.

        Values are states, as text or categoricals. Raises :class:`DataError` for a missing column, and for a
        value that is no state of its column.
        """
        import pandas as pd

        if missing := [name for name in schema.names if name not in frame.columns]:
            got = "no " + ", no ".join(missing)
            raise DataError("The data frame lacks columns", expected=", ".join(schema.names), got=got)
        codes = np.empty((len(frame), len(schema.columns)), dtype=CODE_DTYPE, order="F")
        for i, column in enumerate(schema.columns):
            values = frame[column.name].astype("object")
            coded = pd.Index(column.states).get_indexer(pd.Index(values, dtype="object"))
            unknown = coded < 0
            if unknown.any():
                raise DataError(
                    f"Column {column.name!r} holds values that its states do not name",
                    expected=few(list(map(repr, column.states)), 8),
                    got=f"{few(list(map(repr, values[unknown].unique())), 8)} in {int(unknown.sum())} rows, "
                    f"the first at row {int(np.flatnonzero(unknown)[0])}",
                    remedy="add the states to the dataset card, or correct the file",
                )
            codes[:, i] = coded
        return cls(schema, codes)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array of one or two dimensions that cannot be made writable."""
    # Users can make an array writable that owns its numbers, but not an array on top of bytes.
    return np.frombuffer(array.tobytes(order="F"), array.dtype).reshape(array.shape, order="F")


def _inside(codes: NDArray[np.int16], cardinalities: NDArray[np.int64]) -> bool:
    """Return whether all codes are states of their columns."""
    if codes.dtype == CODE_DTYPE:
        # As an unsigned number, a negative code is larger than any number of states: one pass for both ends.
        return bool((codes.view(np.uint16).max(axis=0) < cardinalities).all())
    return bool((codes.min(axis=0) >= 0).all() and (codes.max(axis=0) < cardinalities).all())


def distinct(
    codes: NDArray[np.integer], cardinalities: tuple[int, ...]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first position of each distinct row, sorted by its codes, and every row's number among them.

    ``codes``, shape (n_columns, n_rows), are from 0, and below their column's cardinality.
    """
    key, size = np.zeros(codes.shape[1], dtype=np.int64), 1
    for column, states in zip(codes, cardinalities, strict=True):
        if size > 2**62 // states:  # the key would overflow, so it is renumbered first
            known, key = np.unique(key, return_inverse=True)
            size = len(known)
        key, size = key * states + column, size * states
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse
