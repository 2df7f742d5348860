"""Tables and values of a dataset's card; :mod:`benchmark.data.card` puts them together."""

import itertools
import operator
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from benchmark.data.number_form import Thousands, Unit
from benchmark.text.words import as_number

AlgorithmName = Literal["tabu", "hill_climbing", "exact"]
ScoreName = Literal["bic", "bdeu"]
Names = TypeVar("Names", list[str], tuple[str, ...])
Text = Annotated[str, Field(min_length=1)]
# Text for tables, lists and headings: one line, even if the file breaks it.
Line = Annotated[Text, AfterValidator(lambda text: " ".join(text.split()))]
Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# TOML has arrays only, so lists are accepted as tuples. All other types are strict.
Texts = Annotated[tuple[Text, ...], Field(strict=False, min_length=1)]
RawValues = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
Edge = Annotated[tuple[Text, Text], Field(strict=False)]
Edges = Annotated[tuple[Edge, ...], Field(strict=False)]
Steps = Annotated[
    tuple[Text, ...],
    Field(strict=False),
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
]


def require_distinct(names: Names) -> Names:
    """Return the names; a ValueError lists those that repeat."""
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError("must be distinct, but repeats " + ", ".join(map(repr, repeated)))
    return names


def _require_targets(values: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    for raw, state in values.items():
        if state not in info.data.get("states", (state,)):
            raise ValueError(f"leads from {raw!r} to {state!r}, which is not among the states")
    return values


def _require_state(state: str | None, info: ValidationInfo) -> str | None:
    if state is not None and state not in info.data.get("states", (state,)):
        raise ValueError(f"must name one of the states, but is {state!r}")
    return state


States = Annotated[Texts, AfterValidator(require_distinct)]
DeprivedGroup = Text | States | Annotated[dict[Text, Text | States], Field(min_length=1)]
Values = Annotated[dict[str, Text], AfterValidator(_require_targets)]
Indicators = Annotated[dict[Text, Text], Field(min_length=1), AfterValidator(_require_targets)] | None
Others = Annotated[Text | None, AfterValidator(_require_state)]

EQUAL_ROWS = "rows"
"""The ``person`` of a card in which rows with the same features are one person's."""

REST = "*"
"""Name of all columns of a file that its card does not mention."""

_CONDITION = re.compile(r"(<=|>=|<|>)\s*(-?[0-9.]+)")
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def condition_of(text: str) -> Callable[[str], bool]:
    """Return whether a raw value fulfills a condition such as ``"> 100"``; a value that is no number fails.

    A ValueError says that the text is no condition.
    """
    if (match := _CONDITION.fullmatch(text.strip())) is None or (limit := as_number(match[2])) is None:
        raise ValueError(f"must be conditions such as '> 100', but has {text!r}")
    compare, limit = _COMPARE[match[1]], float(limit)

    def holds(raw: str) -> bool:
        number = as_number(raw.strip())
        return number is not None and compare(number, limit)

    return holds


def _require_conditions(conditions: Texts) -> Texts:
    for text in conditions:
        condition_of(text)
    return conditions


Conditions = Annotated[Texts, AfterValidator(_require_conditions)]


class CardTable(BaseModel):
    """A table of a card, or the card itself."""

    # Values in files are read without surrounding blanks, so states and names are as well.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_strip_whitespace=True)


class SourceFile(CardTable):
    """One file that rows are read from."""

    # Name of the unpacked file in a data directory or in the cache.
    name: Annotated[str, Field(pattern=r"^[^/\\]+$")] | None = None
    path: Text | None = None  # instead of ``name``: a file of yours, relative to the card
    # Download address of ``name`` (http or https): the file itself, gzipped or not, or an archive.
    url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    # Path of the file in the archive (zip, tar, tar.gz); several steps if archives are nested.
    member: Steps = ()
    archive_sha256: Sha256 | None = None  # SHA-256 of the download
    # SHA-256 of the unpacked file. Without it, any content is accepted.
    sha256: Sha256 | None = None
    size: PositiveInt | None = None  # bytes of the unpacked file; tells that a file is truncated
    # Lines before the header or, without a header, before the first row.
    skip_lines: Annotated[int, Field(ge=0)] = 0
    # Numbers of lines, or of rows of a sheet, that are no rows of the table, such as a total.
    without_lines: Annotated[tuple[PositiveInt, ...], Field(strict=False)] = ()

    @property
    def archive_name(self) -> str:
        """The name of the archive that the URL leads to; empty if the file is not in one."""
        return self.url.rpartition("/")[2] if self.url and self.member else ""

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if (self.name is None) == (self.path is None):
            raise ValueError("needs either 'name' (looked up or downloaded) or 'path' (relative to the card)")
        if self.url is None and (self.member or self.archive_sha256):
            raise ValueError("'member' and 'archive_sha256' describe a download, so they need 'url'")
        if self.path is not None and self.url is not None:
            raise ValueError("'path' names a file of yours, so it cannot have 'url'")
        return self


class Join(CardTable):
    """A file whose columns are added to the rows of the others.

    A row gets the columns of the joined row that has the same key; a row without a match is left out. If both
    have a column ``a``, the joined column is called ``a.1``.
    """

    file: SourceFile  # the file, read as the others are
    column: Text  # the column of the other files that has the key
    key: Text  # the column of this file that has the key; no value repeats


class Source(CardTable):
    """The location of the rows and the way to read them; surrounding blanks never belong to a value."""

    files: Annotated[tuple[SourceFile, ...], Field(strict=False, min_length=1)]  # read one after the other
    # Format of all files. Of a workbook, one sheet is read: the first, unless ``sheet`` names another.
    format: Literal["csv", "arff", "xlsx", "parquet", "rda"]
    sheet: Text | None = None
    # Folder of the files in data directories and in the cache; the card's name unless given. Cards that read
    # the same files share it.
    folder: Slug | None = None
    # Names of the files' columns, for files without a header line. In headers, the second ``a`` is called
    # ``a.1``, the third ``a.2``, and the third column without a name ``column_3``.
    column_names: States | None = None
    # Separator of the values of a CSV line: any character, a tab or a blank as well.
    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1, strip_whitespace=False)] = ","
    decimal: Literal[".", ","] = "."  # decimal mark of numbers
    encoding: Text = "utf-8-sig"  # text encoding; the default is UTF-8 with or without a byte order mark
    instructions: str = ""  # how to get the files by hand, if no URL can be given
    join: Join | None = None  # a file whose columns are added to the rows
    # A TOML file, relative to the card, with one source file for each edition, such as a state or a year. It
    # takes the place of ``files`` and ``folder``.
    editions: Text | None = None

    @property
    def all_files(self) -> tuple[SourceFile, ...]:
        """The files of rows, then the file that is joined to them."""
        return (*self.files, *(() if self.join is None else (self.join.file,)))


class CategoricalColumn(CardTable):
    """A column of categories."""

    kind: Literal["categorical"]  # tells the two kinds of column apart
    states: States  # all possible values, in their natural order if they have one
    ordered: bool = False  # whether the states have a natural order
    # States of raw values that are no states themselves: ``{"0" = "no", "1" = "yes"}``.
    values: Values = {}
    # The state of all values that the card does not name, so that rare values need not be listed.
    others: Others = None
    source: Text | None = None  # the column's name in the file, if it differs
    # In place of ``source``: columns of the file that are true (1, true, yes) or false (0, false, no), and
    # the state of rows in which each is true. No two are true in a row. ``others`` is the state if none is.
    indicators: Indicators = None
    description: str = ""  # what the column means

    @model_validator(mode="after")
    def _read_once(self) -> Self:
        if self.indicators and self.source:
            raise ValueError("has 'indicators', which name columns of the file, so it cannot have 'source'")
        return self


class NumericColumn(CardTable):
    """A column of numbers, cut into bins."""

    kind: Literal["numeric"]  # tells the two kinds of column apart
    # Increasing edges e0 < e1 < ... < ek, ``inf`` allowed: bin i holds e(i) <= x < e(i+1), and the last bin
    # holds its upper edge too, as in :func:`numpy.histogram`.
    bins: Annotated[tuple[float, ...], Field(strict=False, min_length=2)]
    states: States  # one name for each bin, then the states that only ``values`` leads to
    # The state of each bin, where several bins share one, as chapters of codes do; the states have no order.
    bin_states: Texts | None = None
    values: Values = {}  # states of raw values that are not numbers: ``{"?" = "unknown"}``
    others: Others = None  # as of categorical columns
    decimal: Literal[".", ","] | None = None  # this column's decimal mark; the source's unless given
    thousands: Thousands | None = None  # separator of thousands, as in ``1,234``
    unit: Unit | None = None  # a sign beside the numbers, which is ignored
    # true where the numbers are codes of categories, whose bins have no order
    codes: Literal[True] | None = None
    # Whether to keep the numbers beside the bins, for classifiers with ``encoding = "numbers"``. They are
    # written to no file. The label and the sensitive columns never keep numbers.
    numbers: bool = False
    source: Text | None = None  # the column's name in the file, if it differs
    description: str = ""  # what the column means, and its unit

    @property
    def ordered(self) -> bool:
        """Whether the states have an order: only if all states are bins of numbers that are no codes."""
        return (self.codes or self.bin_states) is None and len(self.states) == len(self.bins) - 1

    @property
    def bin_names(self) -> tuple[str, ...]:
        """The state of each bin."""
        return self.bin_states or self.states[: len(self.bins) - 1]

    @model_validator(mode="after")
    def _bins_and_states_fit(self) -> Self:
        if not all(low < high for low, high in itertools.pairwise(self.bins)):  # false for nan, too
            raise ValueError(f"its bins must increase strictly, but are {[*self.bins]}")
        n_bins, reached = len(self.bins) - 1, (*self.values.values(), self.others)
        if len(names := self.bin_names) != n_bins:
            raise ValueError(f"must name each of the {n_bins} bins, but has {len(names)} names")
        if unknown := sorted({*names} - {*self.states}):
            raise ValueError("its 'bin_states' must be states, but have " + ", ".join(map(repr, unknown)))
        if stray := ", ".join(repr(state) for state in self.states if state not in (*names, *reached)):
            counts = f"has {n_bins} bins but {len(self.states)} states"
            raise ValueError(f"{counts}, and no raw value leads to {stray}")
        if self.thousands is not None and self.thousands == self.decimal:
            raise ValueError("its 'thousands' must differ from its 'decimal'")
        return self


ColumnCard = Annotated[CategoricalColumn | NumericColumn, Field(discriminator="kind")]


class Dropped(CardTable):
    """Columns of the file that are left out, and why."""

    columns: Texts  # their names in the file; "*" stands for all that the card does not mention
    reason: Line  # one sentence


MISSING_VALUES = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""Raw values that mean missing, unless a card names others."""

MISSING_MARKS = frozenset({*MISSING_VALUES, "-", "--", ".", "n/a", "na", "<NA>", "#N/A", "Null", "NaT"})
"""Values that mean missing in a file without a card, and in a column that names persons."""


class Missing(CardTable):
    """How missing values are read; a card may give the name of the state alone."""

    state: Text  # the state of missing values: the last one of a column, unless the column lists it
    # Raw values that mean missing, unless a column names them itself.
    values: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] = MISSING_VALUES
    # Columns of the card that may lack values; all but the label and the sensitive feature unless given. A
    # state without rows still adds parameters, which the score penalizes: fewer edges may be learned.
    columns: Texts | None = None


MissingEntry = Annotated[
    Missing, BeforeValidator(lambda entry: {"state": entry} if isinstance(entry, str) else entry)
]


class ScoreColumn(CardTable):
    """The number behind the label: some kinds of bias act on it, and no technique sees it."""

    # Its name in the file. No column of the card but the label may be read from it.
    column: Text
    # The smallest number with which the label is favorable.
    threshold: Annotated[float, Field(allow_inf_nan=False)]
    # minimum, maximum: The smallest and the greatest possible number; by default those of the rows.
    minimum: Annotated[float, Field(allow_inf_nan=False)] | None = None
    maximum: Annotated[float, Field(allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _threshold_between(self) -> Self:
        low, high = self.minimum, self.maximum
        if (low is not None and self.threshold <= low) or (high is not None and self.threshold > high):
            raise ValueError("its threshold must be above its minimum, and not above its maximum")
        return self


class JudgedLabel(CardTable):
    """The label that people gave; no technique sees it unless the bias ``judged`` plants it.

    No column of the card may be read from the same columns of the file.
    """

    label: ColumnCard  # how the judged label is read from its ``source``; it has the label's states
    # judge, person: The columns of the file that name who judged, and who was judged.
    judge: Text
    person: Text

    @property
    def sources(self) -> tuple[str, str, str]:
        """The columns of the file that are read for it."""
        assert self.label.source is not None  # by the rule below
        return self.label.source, self.judge, self.person

    @model_validator(mode="after")
    def _label_has_a_source(self) -> Self:
        if self.label.source is None:
            raise ValueError("its label needs the 'source' that it is read from")
        return self


class NetworkSettings(CardTable):
    """How the dataset's Bayesian network is learned."""

    algorithm: AlgorithmName = "tabu"  # structure search
    score: ScoreName = "bic"  # the score that the search maximizes
    max_indegree: PositiveInt | None = None  # most parents of a column; no limit unless given
    tabu_length: PositiveInt = 10  # number of recent structures that tabu search avoids
    restarts: Annotated[int, Field(ge=0)] = 0  # random restarts of the greedy searches
    # Imaginary rows of the BDeu score.
    equivalent_sample_size: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    # Added to each count when probabilities are estimated; 0 is maximum likelihood.
    pseudo_count: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    # Fewest rows that a probability may rest on. Rarer parent configurations and states are pooled
    # (:func:`benchmark.network.learn.fit_pooled`). 1 pools nothing.
    min_count: PositiveInt = 1

    @model_serializer(mode="wrap")
    def _without_the_default(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Digests and manifests from before ``min_count`` existed stay the same.
        settings: dict[str, Any] = dump(self)
        if self.min_count == 1:
            del settings["min_count"]
        return settings
