"""Dataset cards: every fact about a dataset, in one TOML file.

A card says where the source files are, how to read them, which columns become which states, and which roles
the columns play. All states are declared, so the schema needs no data. :class:`Card` describes every field;
the files in ``datasets/`` are examples, and ``docs/adding/dataset.md`` makes a card of one's own.
"""

import difflib
import graphlib
import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from benchmark.data.table import Column, Schema
from benchmark.data.table import States as GroupStates
from benchmark.declarations import (
    broken_rules,
    count_of,
    find_declaration,
    list_declarations,
    read_declaration,
)
from benchmark.errors import CardError, UnknownNameError

AlgorithmName = Literal["tabu", "hill_climbing", "exact"]
ScoreName = Literal["bic", "bdeu"]
Names = TypeVar("Names", list[str], tuple[str, ...])
Wanted = TypeVar("Wanted", bound=Iterable[str])
Text = Annotated[str, Field(min_length=1)]
# What tables, lists and headings hold is one line, whatever breaks the file has in it.
Line = Annotated[Text, AfterValidator(lambda text: " ".join(text.split()))]
Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# TOML has arrays only, so tuples alone are read leniently; everything else keeps its type strictly.
Texts = Annotated[tuple[Text, ...], Field(strict=False, min_length=1)]
Edge = Annotated[tuple[Text, Text], Field(strict=False)]
Edges = Annotated[tuple[Edge, ...], Field(strict=False)]
Steps = Annotated[
    tuple[Text, ...],
    Field(strict=False),
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
]


def _require_distinct(names: Names) -> Names:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
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


def _require_in_file(names: Wanted, info: ValidationInfo) -> Wanted:
    source = info.data.get("source")
    if source is not None and source.column_names is not None:  # else the file's header will tell
        for name in names:
            if name not in source.column_names:
                raise ValueError(f"reads {name!r}, which source.column_names does not list")
    return names


States = Annotated[Texts, AfterValidator(_require_distinct)]
DeprivedGroup = Text | States | Annotated[dict[Text, Text | States], Field(min_length=1)]
Values = Annotated[dict[str, Text], AfterValidator(_require_targets)]
Others = Annotated[Text | None, AfterValidator(_require_state)]


class _Declaration(BaseModel):
    # Values in files are read without surrounding blanks, so states and names have none either.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_strip_whitespace=True)


class SourceFile(_Declaration):
    """One file that rows are read from.

    Parameters
    ----------
    name : str, optional
        Name under which the file lies in a data directory or in the cache, unpacked.
    path : str, optional
        Instead of ``name``: a file of one's own, relative to the card.
    url : str, optional
        Where ``name`` can be downloaded (http or https): the file itself, gzipped or not, or an archive.
    member : str or list of str, default []
        Path of the file inside the archive (zip, tar, tar.gz); two or more steps if archives are nested.
    archive_sha256 : str, optional
        SHA-256 of what ``url`` delivers.
    sha256 : str, optional
        SHA-256 of the unpacked file. Without it, any content is accepted.
    size : int, optional
        Bytes of the unpacked file: lets a truncated file be called so.
    skip_lines : int, default 0
        Lines before the header or, without one, before the first row.
    """

    name: Annotated[str, Field(pattern=r"^[^/\\]+$")] | None = None
    path: Text | None = None
    url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    member: Steps = ()
    archive_sha256: Sha256 | None = None
    sha256: Sha256 | None = None
    size: PositiveInt | None = None
    skip_lines: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if (self.name is None) == (self.path is None):
            raise ValueError("needs either 'name' (looked up or downloaded) or 'path' (relative to the card)")
        if self.url is None and (self.member or self.archive_sha256):
            raise ValueError("'member' and 'archive_sha256' describe a download, so they need 'url'")
        if self.path is not None and self.url is not None:
            raise ValueError("'path' names a file of one's own, so it cannot have 'url'")
        return self


class Source(_Declaration):
    """Where the rows are and how to read them; surrounding blanks never belong to a value.

    Parameters
    ----------
    files : list of SourceFile
        Read one after the other.
    format : {"csv", "arff"}
        Format of all files.
    folder : str, optional
        Sub-folder of data directories and of the cache; the card's name unless given. Cards that read the
        same files share it.
    column_names : list of str, optional
        Names of the files' columns, for CSV without a header line. In headers, the second ``a`` is called
        ``a.1``, the third ``a.2``.
    delimiter : str, default ","
        What separates the values of a CSV line.
    decimal : {".", ","}, default "."
        What stands before the decimal places of a number.
    encoding : str, default "utf-8-sig"
        Text encoding; the default is UTF-8 with or without a byte order mark.
    instructions : str, default ""
        How to get the files by hand, where no URL may be given.
    """

    files: Annotated[tuple[SourceFile, ...], Field(strict=False, min_length=1)]
    format: Literal["csv", "arff"]
    folder: Slug | None = None
    column_names: States | None = None
    # A tab or a blank separates as well.
    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1, strip_whitespace=False)] = ","
    decimal: Literal[".", ","] = "."
    encoding: Text = "utf-8-sig"
    instructions: str = ""

    @field_validator("column_names")
    @classmethod
    def _csv_only(cls, names: tuple[str, ...] | None, info: ValidationInfo) -> tuple[str, ...] | None:
        if names is not None and info.data.get("format") == "arff":
            raise ValueError("is for CSV files; an ARFF file names its columns itself")
        return names

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, encoding: str) -> str:
        try:
            "".encode(encoding)
        except LookupError:
            raise ValueError("must be a text encoding that Python knows, such as 'latin-1'") from None
        return encoding


class CategoricalColumn(_Declaration):
    """A column of categories.

    Parameters
    ----------
    kind : "categorical"
        Tells the two kinds of column apart.
    states : list of str
        All possible values, in their natural order if they have one.
    ordered : bool, default False
        Whether they have one.
    values : dict of str to str, default {}
        What a raw value is called, where it is not a state by itself: ``{"0" = "no", "1" = "yes"}``.
    others : str, optional
        The state of every value that the card does not name, where such values may be: states that few rows
        have need not be listed, and stay unnamed.
    source : str, optional
        The column's name in the file, where it differs.
    description : str, default ""
        What the column means.
    """

    kind: Literal["categorical"]
    states: States
    ordered: bool = False
    values: Values = {}
    others: Others = None
    source: Text | None = None
    description: str = ""


class NumericColumn(_Declaration):
    """A column of numbers, cut into bins.

    Parameters
    ----------
    kind : "numeric"
        Tells the two kinds of column apart.
    bins : list of float
        Increasing edges e0 < e1 < ... < ek, ``inf`` allowed: bin i holds e(i) <= x < e(i+1), and the last
        bin holds its upper edge too, as in :func:`numpy.histogram`.
    states : list of str
        One name for each bin, then the states that only ``values`` leads to.
    values : dict of str to str, default {}
        Raw values that are not numbers: ``{"?" = "unknown"}``.
    others : str, optional
        The state of every value that the card does not name, where such values may be: states that few rows
        have need not be listed, and stay unnamed.
    numbers : bool, default False
        Whether the numbers are kept beside the bins, for classifiers with ``encoding = "numbers"``. Nothing
        of them is written to a file. The label and the sensitive columns have none, whatever this says.
    source : str, optional
        The column's name in the file, where it differs.
    description : str, default ""
        What the column means, and its unit.
    """

    kind: Literal["numeric"]
    bins: Annotated[tuple[float, ...], Field(strict=False, min_length=2)]
    states: States
    values: Values = {}
    others: Others = None
    numbers: bool = False
    source: Text | None = None
    description: str = ""

    @property
    def ordered(self) -> bool:
        """Whether the states have an order: bins have, a state beside the bins has no place in it."""
        return len(self.states) == len(self.bins) - 1

    @field_validator("bins")
    @classmethod
    def _increasing(cls, bins: tuple[float, ...]) -> tuple[float, ...]:
        if not all(low < high for low, high in itertools.pairwise(bins)):  # false for nan, too
            raise ValueError("must increase strictly")
        return bins

    @field_validator("states")
    @classmethod
    def _one_per_bin(cls, states: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        bins = info.data.get("bins")
        if bins is not None and len(states) < len(bins) - 1:
            raise ValueError(f"must name each of the {len(bins) - 1} bins, but has {len(states)} names")
        return states

    @model_validator(mode="after")
    def _states_reachable(self) -> Self:
        stray = [
            s for s in self.states[len(self.bins) - 1 :] if s not in (*self.values.values(), self.others)
        ]
        if stray:
            found = f"has {len(self.bins) - 1} bins but {len(self.states)} states"
            raise ValueError(f"{found}, and no raw value leads to {', '.join(map(repr, stray))}")
        return self


ColumnCard = Annotated[CategoricalColumn | NumericColumn, Field(discriminator="kind")]


class Dropped(_Declaration):
    """Columns of the file that are left out, and why.

    Parameters
    ----------
    columns : list of str
        Their names in the file.
    reason : str
        One sentence.
    """

    columns: Texts
    reason: Line


MISSING_VALUES = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""Raw values that stand for none, unless a card names others."""


class Missing(_Declaration):
    """How values are read that are missing; in a card, the name of the state alone stands for all of it.

    Parameters
    ----------
    state : str
        The state that they become: the last one of its columns, unless these list it themselves.
    values : list of str
        Raw values that count as missing, where a column does not know them; :data:`MISSING_VALUES` unless
        given.
    columns : list of str, optional
        Columns of the card that may lack values; all but the label and the sensitive feature unless given.
        A state that no row has still adds parameters, which the score penalizes: fewer edges may be learned.
    """

    state: Text
    values: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] = MISSING_VALUES
    columns: Texts | None = None


_MissingEntry = Annotated[
    Missing, BeforeValidator(lambda entry: {"state": entry} if isinstance(entry, str) else entry)
]


class ScoreColumn(_Declaration):
    """The number behind the label, which some kinds of bias act on and no technique sees.

    Parameters
    ----------
    column : str
        Its name in the file. No column of the card but the label may be read from it.
    threshold : float
        The smallest number with which the label is favorable.
    minimum, maximum : float, optional
        The smallest and the greatest number that there are; those of the rows unless given.
    """

    column: Text
    threshold: Annotated[float, Field(allow_inf_nan=False)]
    minimum: Annotated[float, Field(allow_inf_nan=False)] | None = None
    maximum: Annotated[float, Field(allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _threshold_between(self) -> Self:
        low, high = self.minimum, self.maximum
        if (low is not None and self.threshold <= low) or (high is not None and self.threshold > high):
            raise ValueError("its threshold must be above its minimum, and not above its maximum")
        return self


class NetworkSettings(_Declaration):
    """How the dataset's Bayesian network is learned.

    Parameters
    ----------
    algorithm : {"tabu", "hill_climbing", "exact"}, default "tabu"
        Structure search.
    score : {"bic", "bdeu"}, default "bic"
        What it maximizes.
    max_indegree : int, optional
        Most parents that a column may have; no limit unless given.
    tabu_length : int, default 10
        Structures visited last, to which tabu search does not return.
    restarts : int, default 0
        Random restarts of the greedy searches.
    equivalent_sample_size : float, default 1.0
        Imaginary rows of the BDeu score.
    pseudo_count : float, default 0.0
        Added to each count when probabilities are estimated; 0 is maximum likelihood.
    min_count : int, default 1
        Fewest rows that a probability may rest on: rarer parent configurations, and rarer states under each,
        are pooled as :func:`benchmark.network.pooling.fit_pooled` says. 1 pools nothing.
    """

    algorithm: AlgorithmName = "tabu"
    score: ScoreName = "bic"
    max_indegree: PositiveInt | None = None
    tabu_length: PositiveInt = 10
    restarts: Annotated[int, Field(ge=0)] = 0
    equivalent_sample_size: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    pseudo_count: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    min_count: PositiveInt = 1

    @model_serializer(mode="wrap")
    def _without_the_default(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Digests and manifests that were written when nothing could be pooled stay what they are.
        settings: dict[str, Any] = dump(self)
        if self.min_count == 1:
            del settings["min_count"]
        return settings


class Card(_Declaration):
    """A dataset's card.

    Parameters
    ----------
    name : str
        Short name: lower-case letters, digits and underscores.
    title : str
        Name for readers.
    description, homepage, licence, citation, bibtex : str, default ""
        What the data are, where they are described, under which terms they may be used, whom to cite.
    known_problems : list of str, default []
        Known problems of the data, one sentence or two each.
    warning : str, optional
        Printed with every table that shows the dataset.
    rows : int, optional
        Rows after ``filter``; another number is an error.
    source : Source
        Files and format.
    columns : dict of str to CategoricalColumn or NumericColumn
        The columns to keep, label included, in order; the key is the column's name in this program.
    missing : str or Missing, optional
        The state of missing values in all columns that may lack them.
    dropped : list of Dropped, default []
        The columns left out, and why.
    filter : dict of str to list of str, default {}
        Rows to keep: for a column of the file, the raw values wanted.
    label, favorable_label : str
        Outcome column (two states), and the state that is good for the individual.
    sensitive_feature : str
        Sensitive column. A list of several in a file names the first, and all of them as ``sensitive``.
    deprived_group : str, list of str, or dict
        The state whose members are deprived (AIF360 says *unprivileged*), or several states. A table names a
        state, or several, for each of several columns, the sensitive one among them: the deprived group is
        their intersection.
    sensitive : list of str, default []
        Sensitive columns by whose groups, and by whose intersections, ``groups.csv`` tells all results apart.
    score : ScoreColumn, optional
        The number behind the label.
    required_edges, forbidden_edges : list of pairs of str, default []
        Edges (parent, child) that the network must or must not have.
    network : NetworkSettings, optional
        How the network is learned.
    """

    name: Slug
    title: Line
    description: str = ""
    homepage: str = ""
    licence: str = ""
    citation: str = ""
    bibtex: str = ""
    known_problems: Annotated[tuple[Line, ...], Field(strict=False)] = ()
    warning: Line | None = None
    rows: PositiveInt | None = None
    # Rules across fields look at fields above their own, so the order of these lines matters.
    source: Source
    columns: Annotated[dict[Text, ColumnCard], Field(min_length=2)]
    missing: _MissingEntry | None = None
    dropped: Annotated[tuple[Dropped, ...], Field(strict=False)] = ()
    filter: Annotated[dict[Text, Texts], AfterValidator(_require_in_file)] = {}
    label: Text
    favorable_label: Text
    sensitive_feature: Text
    deprived_group: DeprivedGroup
    sensitive: Annotated[tuple[Text, ...], Field(strict=False), AfterValidator(_require_distinct)] = ()
    score: ScoreColumn | None = None
    required_edges: Edges = ()
    forbidden_edges: Edges = ()
    network: NetworkSettings = NetworkSettings()

    _path: Path | None = PrivateAttr(default=None)

    @property
    def path(self) -> Path | None:
        """The file that the card was read from, if any."""
        return self._path

    @property
    def folder(self) -> str:
        """Sub-folder of data directories and of the cache that holds the source files."""
        return self.source.folder or self.name

    @property
    def roles(self) -> dict[str, str]:
        """Label, favorable label, sensitive feature and deprived group, by the names of these fields.

        A deprived group that is no single state has a name that is read after "sensitive feature = ".
        """
        names = ("label", "favorable_label", "sensitive_feature")
        group = " and ".join(f"{name} = {' or '.join(states)}" for name, states in self._members)
        roles = {name: getattr(self, name) for name in names}
        return {**roles, "deprived_group": group.removeprefix(f"{self.sensitive_feature} = ")}

    @property
    def _members(self) -> GroupStates:
        """Who is deprived, the sensitive feature first."""
        own = self.deprived_group
        table = own if isinstance(own, dict) else {self.sensitive_feature: own}
        names = sorted(table, key=lambda name: (name != self.sensitive_feature, name))
        texts = ((name, table[name]) for name in names)
        return tuple((name, (text,) if isinstance(text, str) else text) for name, text in texts)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Columns by whose groups results are told apart; none where there is nothing but one group."""
        crossed = [name for name, _ in self._members] if len(self._members) > 1 else []
        return tuple(dict.fromkeys((*self.sensitive, *crossed)))

    @property
    def numbered(self) -> dict[str, NumericColumn]:
        """The features whose numbers are kept, by name."""
        roles = {self.label, self.sensitive_feature, *(name for name, _ in self._members)}
        kept = {name: spec for name, spec in self.columns.items() if getattr(spec, "numbers", False)}
        return {n: c for n, c in kept.items() if n not in roles and isinstance(c, NumericColumn)}

    def schema(self) -> Schema:  # type: ignore[override]  # hides a pydantic method that is deprecated
        """Return columns and roles; no data are needed."""
        columns = tuple(Column(name, spec.states, spec.ordered) for name, spec in self.columns.items())
        single = isinstance(self.deprived_group, str)
        return Schema(columns, **self.roles, deprived_states=() if single else self._members)

    def with_columns(self, changes: Mapping[str, Mapping[str, Any]]) -> Self:
        """Return the card with columns read in another way.

        For a column of the card, ``changes`` are the fields that replace its own: ``{"age": {"bins": [...],
        "states": [...]}}``. An UnknownNameError says that the card has no such column, a CardError that the
        changed card breaks rules.
        """
        if not changes:
            return self
        content = self.model_dump()
        for name, fields in changes.items():
            if name not in self.columns:
                raise UnknownNameError("column", name, self.columns)
            content["columns"][name] |= fields
        return self._changed(content)

    def with_groups(
        self, sensitive: Sequence[str] = (), mitigate: str | None = None, deprived_group: Any = None
    ) -> Self:
        """Return the card with other groups; what is left out stays as it is.

        ``mitigate`` is the column that becomes the sensitive feature, of which ``deprived_group`` is said
        then; a CardError says that something does not fit.
        """
        if not sensitive and mitigate is None and deprived_group is None:
            return self
        feature = mitigate or self.sensitive_feature
        if mitigate is None and isinstance(deprived_group, Mapping) and feature not in deprived_group:
            feature = next(iter(deprived_group), feature)
        if feature != self.sensitive_feature and deprived_group is None:
            raise CardError(
                f"The deprived group of {feature!r} is not known",
                expected=f"'deprived_group' beside 'mitigate', as the card {self.name!r} says it of "
                f"{self.sensitive_feature!r} alone",
                got="none",
                remedy=f"name the states of {feature!r} whose members are deprived",
            )
        content = self.model_dump()
        if self.missing is not None:  # as read with the card's own roles
            others = self.columns.keys() - {self.label, self.sensitive_feature}
            content["missing"]["columns"] = self.missing.columns or tuple(sorted(others))
        content["sensitive_feature"] = feature
        content["sensitive"] = tuple(sensitive) or self.sensitive
        if deprived_group is not None:
            content["deprived_group"] = deprived_group
        return self._changed(content)

    def _changed(self, content: dict[str, Any]) -> Self:
        try:
            card = type(self).model_validate(content)
        except ValidationError as error:
            raise _card_error(self._path or Path(self.name), error, changed=True) from None
        card._path = self._path
        return card

    def title_as(self, entry: str) -> str:
        """Return the title for readers of an experiment that names the dataset ``entry``."""
        return self.title if entry == self.name else f"{self.title} ({entry})"

    @property
    def digest(self) -> str:
        """SHA-256, 64 hexadecimal digits, of everything in the card that can change a number.

        Prose, addresses and places of files are not among it; ``missing`` is, as the states and values of its
        columns. Nor is which numbers are kept: what reads them names them itself.
        """
        return self._digest()

    @property
    def rows_digest(self) -> str:
        """SHA-256, 64 hexadecimal digits, of everything that can change the rows or the learned network.

        It is that of :attr:`digest` but for which columns count as ordered, and for the groups.
        """
        return self._digest("ordered", groups=False)

    def _digest(self, *without: str, groups: bool = True) -> str:
        facts = self.model_dump(include={"name", "filter", "network", *self.roles})
        if not groups:
            del facts["sensitive_feature"], facts["deprived_group"]
        elif self.sensitive:
            facts["sensitive"] = self.sensitive
        facts["source"] = self.source.model_dump(include={"format", "column_names", "delimiter", "encoding"})
        if self.source.decimal != ".":
            facts["decimal"] = self.source.decimal
        if self.score is not None:
            facts["score"] = self.score.model_dump()
        facts["files"] = [(file.sha256, file.skip_lines) for file in self.source.files]
        # As a list, because the order of columns can change a number and that of JSON's keys cannot.
        facts["columns"] = [
            (name, spec.source or name, _facts(spec, {"source", "description", *without}))
            for name, spec in self.columns.items()
        ]
        # The order in which edges are listed means nothing.
        facts["required_edges"] = sorted(self.required_edges)
        facts["forbidden_edges"] = sorted(self.forbidden_edges)
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @model_validator(mode="before")
    @classmethod
    def _first_of_several(cls, content: Any) -> Any:
        if isinstance(content, dict) and isinstance(named := content.get("sensitive_feature"), list | tuple):
            return {"sensitive": named, **content, "sensitive_feature": named[0] if named else ""}
        return content

    @model_validator(mode="before")
    @classmethod
    def _missing_in_columns(cls, content: Any) -> Any:
        """Let each column that may lack values say so itself."""
        try:
            missing = TypeAdapter(_MissingEntry).validate_python(content["missing"])
            roles = {content["label"], content["sensitive_feature"]}
            columns = dict(content["columns"])
            for name in missing.columns or columns.keys() - roles:
                columns[name] = _with_missing(columns[name], missing)
        except (ValidationError, LookupError, TypeError, ValueError):
            return content  # there is no such field, or its own rules say what is wrong
        return {**content, "columns": columns}

    @field_validator("columns")
    @classmethod
    def _columns_in_file(cls, columns: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        _require_in_file([spec.source or name for name, spec in columns.items()], info)
        return columns

    @field_validator("missing")
    @classmethod
    def _missing_of_columns(cls, missing: Missing | None, info: ValidationInfo) -> Missing | None:
        for name in (missing and missing.columns) or ():
            if "columns" in info.data:
                _require_known(name, info.data["columns"], "a column")
        return missing

    @field_validator("dropped")
    @classmethod
    def _dropped_not_kept(cls, dropped: tuple[Dropped, ...], info: ValidationInfo) -> tuple[Dropped, ...]:
        names = [name for group in dropped for name in group.columns]
        _require_distinct(names)
        _require_in_file(names, info)
        kept = {spec.source or name for name, spec in info.data.get("columns", {}).items()}
        both = [name for name in names if name in kept]
        if both:
            raise ValueError("names columns that are also kept: " + ", ".join(map(repr, both)))
        return dropped

    @field_validator("label", "sensitive_feature")
    @classmethod
    def _role_is_a_column(cls, name: str, info: ValidationInfo) -> str:
        columns = info.data.get("columns")
        if columns is not None:
            _require_known(name, columns, "a column")
            states = columns[name].states
            if info.field_name == "label" and len(states) != 2:
                raise ValueError("must have two states, but has " + ", ".join(map(repr, states)))
            if len(states) < 2:
                raise ValueError(
                    f"must have the deprived group and another state, but has only {states[0]!r}"
                )
        if info.field_name == "sensitive_feature" and name == info.data.get("label"):
            raise ValueError("must not be the label itself")
        return name

    @field_validator("favorable_label")
    @classmethod
    def _favorable_is_a_state(cls, state: str, info: ValidationInfo) -> str:
        column = info.data.get("label")
        if column is not None and "columns" in info.data:
            _require_known(state, info.data["columns"][column].states, f"a state of {column!r}")
        return state

    @field_validator("deprived_group")
    @classmethod
    def _deprived_are_states(cls, group: Any, info: ValidationInfo) -> Any:
        feature, columns = info.data.get("sensitive_feature"), info.data.get("columns")
        if feature is None or columns is None:
            return group
        table = dict(group) if isinstance(group, dict) else {feature: group}
        if feature not in table:
            raise ValueError(f"must name states of the sensitive feature {feature!r}, too")
        for name, own in table.items():
            _require_known(name, columns, "a column")
            if name == info.data.get("label"):
                raise ValueError("must not depend on the label")
            states = columns[name].states
            named = {own} if isinstance(own, str) else {*own}
            for state in named:
                _require_known(state, states, f"a state of {name!r}")
            if len(named) == len(states):
                raise ValueError(f"must leave a state of {name!r} to others")
            # In one order, because the same group is written in several.
            ordered = tuple(state for state in states if state in named)
            table[name] = ordered if len(ordered) > 1 else ordered[0]
        return table if len(table) > 1 else table[feature]

    @field_validator("sensitive")
    @classmethod
    def _sensitive_are_columns(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for name in names:
            if "columns" in info.data:
                _require_known(name, info.data["columns"], "a column")
            if name == info.data.get("label"):
                raise ValueError("must not name the label")
        feature = info.data.get("sensitive_feature")
        if names and feature is not None and feature not in names:
            raise ValueError(f"must name the sensitive feature {feature!r} among them")
        return names

    @field_validator("score")
    @classmethod
    def _score_is_no_feature(cls, score: ScoreColumn | None, info: ValidationInfo) -> ScoreColumn | None:
        if score is None:
            return None
        _require_in_file([score.column], info)
        features = [
            name
            for name, spec in info.data.get("columns", {}).items()
            if (spec.source or name) == score.column and name != info.data.get("label")
        ]
        if features:
            kept = ", ".join(map(repr, features))
            raise ValueError(f"is the number behind the label, so it cannot be a feature too: {kept}")
        if any(score.column in group.columns for group in info.data.get("dropped", ())):
            raise ValueError(f"reads {score.column!r}, which is also dropped")
        return score

    @field_validator("required_edges", "forbidden_edges")
    @classmethod
    def _edges_between_columns(cls, edges: Edges, info: ValidationInfo) -> Edges:
        for name in itertools.chain.from_iterable(edges):
            if "columns" in info.data:
                _require_known(name, info.data["columns"], "a column")
        if any(parent == child for parent, child in edges):
            raise ValueError("must not lead from a column to itself")
        _require_distinct([f"{parent} -> {child}" for parent, child in edges])
        both = [edge for edge in edges if edge in info.data.get("required_edges", ())]
        if both:
            raise ValueError("are also required: " + ", ".join(f"{a} -> {b}" for a, b in both))
        return edges

    @field_validator("required_edges")
    @classmethod
    def _required_is_acyclic(cls, edges: Edges) -> Edges:
        order = graphlib.TopologicalSorter[str]()
        for parent, child in edges:
            order.add(child, parent)
        try:
            order.prepare()
        except graphlib.CycleError as error:
            raise ValueError("must not form a cycle, but do: " + " -> ".join(error.args[1])) from None
        return edges


def _facts(spec: CategoricalColumn | NumericColumn, without: set[str]) -> dict[str, Any]:
    """Return the fields of a column that can change a number: ``others``, which is new, where it is set."""
    without = {*without, "numbers"}
    return spec.model_dump(exclude=without if spec.others is not None else {*without, "others"})


def _with_missing(column: Mapping[str, Any], missing: Missing) -> dict[str, Any]:
    if not isinstance(column["states"], list | tuple):
        raise TypeError  # the column's own rule says so
    states = [*column["states"]]
    values = {raw: missing.state for raw in missing.values if raw not in states} | column.get("values", {})
    if missing.state in states:
        return {**column, "values": values}
    # A state beside the others has no place in their order.
    order = {"ordered": False} if column.get("ordered") else {}
    return {**column, **order, "states": [*states, missing.state], "values": values}


def load_card(name_or_path: str | Path) -> Card:
    """Read and check a dataset card.

    Parameters
    ----------
    name_or_path : str or Path
        Name of a shipped card (``"adult"``), or path of a TOML file.

    Raises
    ------
    UnknownNameError
        If there is no such card.
    CardError
        If it is not TOML or breaks rules: each with its field and the value found.
    """
    path = find_declaration("datasets", str(name_or_path))
    try:
        card = Card.model_validate(read_declaration("datasets", path))
    except ValidationError as error:
        raise _card_error(path, error) from None
    card._path = path.resolve()
    return card


def list_cards() -> tuple[Card, ...]:
    """Return all shipped cards, sorted by name."""
    return tuple(load_card(name) for name in list_declarations("datasets"))


def _require_known(name: str, known: Iterable[str], what: str) -> None:
    known = list(known)
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f", did you mean {close[0]!r}?" if close else ", one of " + ", ".join(map(repr, known))
        raise ValueError(f"must name {what}{hint}")


def _card_error(path: Path, error: ValidationError, *, changed: bool = False) -> CardError:
    """Return what is wrong with a card, or with what an experiment's entry makes of it."""
    rules = broken_rules(error, Card, "a card")
    count = count_of(rules)
    if any(detail["loc"][:1] in {("columns",), ("source",)} for detail in error.errors()):
        rules.append("(rules that build on a field named above were not checked)")
    begin = f"The dataset card {path}{', as the experiment changes it,' if changed else ''} breaks {count}"
    where = "the dataset's entry in the experiment" if changed else "these fields"
    return CardError(
        f"{begin}:\n  " + "\n  ".join(rules),
        remedy=f"correct {where}; docs/adding/dataset.md explains most, and the docstrings of "
        "benchmark.data.card each",
    )
