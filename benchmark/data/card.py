"""Dataset cards: every fact about a dataset, in one TOML file.

A card says where the source files are, how to read them, which states the columns have, and which roles they
play. All states are declared, so the schema needs no data. :class:`Card` describes every field, and
:mod:`benchmark.data.card_parts` the fields of its tables. The files in ``datasets/`` are examples;
``docs/adding/dataset.md`` shows how to write a card.
"""

import difflib
import hashlib
import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    Field,
    PositiveInt,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from benchmark.data import card_parts as parts
from benchmark.data.table import Column, Schema
from benchmark.data.table import States as GroupStates
from benchmark.declarations import (
    checked,
    find_declaration,
    list_declarations,
    listed_values,
    read_declaration,
    read_toml,
)
from benchmark.errors import CardError, UnknownNameError

_EXAMPLE = '"acs_income[state=HI]"'
_EXPLAINED = (
    "docs/adding/dataset.md explains most, and the comments in benchmark/data/card.py each. Rules between "
    "fields are checked when all fields are right"
)
JUDGED = "judged"
"""Name of the judged label in messages and in changes of columns."""


class Card(parts.CardTable):
    """A dataset's card."""

    name: parts.Slug  # short name: lower-case letters, digits and underscores
    title: parts.Line  # name for readers
    # description, homepage, licence, citation, bibtex: What the data are, where they are described, the terms
    # of use, and whom to cite.
    description: str = ""
    homepage: str = ""
    licence: str = ""
    citation: str = ""
    bibtex: str = ""
    # field, country, years: What, where and when the data are about, as ``"credit"``, ``"United States"`` and
    # ``"2010-2015"``. not_for: What they must not be used for, one sentence.
    field: str = ""
    country: str = ""
    years: str = ""
    not_for: str = ""
    # One name for all cards that tell of the same people, or of some of them; the card's own name unless
    # given. A cluster is one source: it counts once in a test over sources.
    cluster: parts.Slug = ""
    # Known problems of the data, one or two sentences each.
    known_problems: Annotated[tuple[parts.Line, ...], Field(strict=False)] = ()
    warning: parts.Line | None = None  # printed with every table that shows the dataset
    rows: PositiveInt | None = None  # rows after ``filter`` and ``exclude``; another number is an error
    source: parts.Source  # files and format
    # The columns to keep, label included, in order; the key is the column's name in this program.
    columns: Annotated[dict[parts.Text, parts.ColumnCard], Field(min_length=2)]
    missing: parts.MissingEntry | None = None  # the state of missing values, where columns may have some
    dropped: Annotated[tuple[parts.Dropped, ...], Field(strict=False)] = ()  # the columns left out, and why
    # A column of the file. Of rows with the same value only the first counts, before ``filter``, ``exclude``
    # and ``conditions``. A row without a value counts by itself.
    first_of: parts.Text | None = None
    # Rows to keep: raw values by column of the file.
    filter: dict[parts.Text, parts.Texts] = Field(default_factory=dict)
    # Rows to leave out: raw values by column of the file.
    exclude: dict[parts.Text, parts.RawValues] = Field(default_factory=dict)
    # Conditions on numbers that rows to keep fulfill, by column of the file.
    conditions: dict[parts.Text, parts.Conditions] = Field(default_factory=dict)
    # label, favorable_label: Outcome column (two states), and its state that is good for people.
    label: parts.Text
    favorable_label: parts.Text
    # Sensitive column. A list in a file names the first one here, and all of them as ``sensitive``.
    sensitive_feature: parts.Text
    # The state, or states, whose members are deprived (AIF360: *unprivileged*). A table gives such states for
    # several columns, the sensitive one included: the deprived group is their intersection.
    deprived_group: parts.DeprivedGroup
    # Sensitive columns whose groups, and their intersections, have results of their own in ``groups.csv``.
    sensitive: Annotated[
        tuple[parts.Text, ...], Field(strict=False), AfterValidator(parts.require_distinct)
    ] = ()
    score: parts.ScoreColumn | None = None  # the number behind the label
    judged: parts.JudgedLabel | None = None  # the label that people gave, with judges and persons
    # The column of the file that names the person of each row. A person's rows stand on one side of every
    # split. It is no feature. A row without a name is a person of its own. ``"rows"``, for files without
    # such a column: rows with the same features are one person's.
    person: parts.Text | None = None
    # required_edges, forbidden_edges: Edges (parent, child) that the network must or must not have.
    required_edges: parts.Edges = ()
    forbidden_edges: parts.Edges = ()
    network: parts.NetworkSettings = parts.NetworkSettings()  # how the network is learned

    edition: dict[str, str] = Field(default_factory=dict)  # values of the parameters that chose the file

    _path: Path | None = PrivateAttr(default=None)

    @property
    def path(self) -> Path | None:
        """The file of the card, if it was read from one."""
        return self._path

    @property
    def folder(self) -> str:
        """Name of the folder of the source files, in data directories and in the cache."""
        return self.source.folder or self.name

    @property
    def roles(self) -> dict[str, str]:
        """Label, favorable label, sensitive feature and deprived group, by the names of these fields.

        The name of a deprived group of several states reads well after "sensitive feature = ".
        """
        names = ("label", "favorable_label", "sensitive_feature")
        group = " and ".join(f"{name} = {' or '.join(states)}" for name, states in self._members)
        roles = {name: getattr(self, name) for name in names}
        return {**roles, "deprived_group": group.removeprefix(f"{self.sensitive_feature} = ")}

    @property
    def _members(self) -> GroupStates:
        """Columns and states that define the deprived group, the sensitive feature first."""
        group = self.deprived_group
        table = group if isinstance(group, dict) else {self.sensitive_feature: group}
        names = sorted(table, key=lambda name: (name != self.sensitive_feature, name))
        texts = ((name, table[name]) for name in names)
        return tuple((name, (text,) if isinstance(text, str) else text) for name, text in texts)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Columns whose groups have results of their own, each an ``attribute`` in ``groups.csv``.

        These are the ``sensitive`` columns and the columns that define an intersection.
        """
        crossed = [name for name, _ in self._members] if len(self._members) > 1 else []
        return tuple(dict.fromkeys((*self.sensitive, *crossed)))

    @property
    def behind(self) -> tuple[str, ...]:
        """Columns of the file that are read but are no features: score, judged label's and person's."""
        score = () if self.score is None else (self.score.column,)
        person = () if self.person in (None, parts.EQUAL_ROWS) else (self.person,)
        return (*score, *(() if self.judged is None else self.judged.sources), *person)

    @property
    def columns_of_file(self) -> tuple[str, ...]:
        """Columns of the file that are read for each row, each once."""
        return tuple(dict.fromkeys((*itertools.chain(*map(self.read_from, self.columns)), *self.behind)))

    def read_from(self, name: str) -> tuple[str, ...]:
        """Return the columns of the file that a column is read from: one, or its indicators."""
        spec = self.columns[name]
        if isinstance(spec, parts.CategoricalColumn) and spec.indicators:
            return tuple(spec.indicators)
        return (spec.source or name,)

    @property
    def coded(self) -> dict[str, parts.CategoricalColumn | parts.NumericColumn]:
        """All that is read as states: the columns, and the judged label as :data:`JUDGED`."""
        return self.columns if self.judged is None else {**self.columns, JUDGED: self.judged.label}

    @property
    def numbered(self) -> dict[str, parts.NumericColumn]:
        """The features that keep their numbers, by name."""
        roles = {self.label, self.sensitive_feature, *(name for name, _ in self._members)}
        with_numbers = {
            n: c for n, c in self.columns.items() if isinstance(c, parts.NumericColumn) and c.numbers
        }
        return {name: spec for name, spec in with_numbers.items() if name not in roles}

    def schema(self) -> Schema:  # type: ignore[override]  # hides a pydantic method that is deprecated
        """Return the columns and their roles."""
        columns = tuple(Column(name, spec.states, spec.ordered) for name, spec in self.columns.items())
        single = isinstance(self.deprived_group, str)
        return Schema(columns, **self.roles, deprived_states=() if single else self._members)

    def with_columns(self, changes: Mapping[str, Mapping[str, Any]]) -> Self:
        """Return the card with some columns read in another way.

        ``changes`` gives fields to replace, by column: ``{"age": {"bins": [...], "states": [...]}}``.
        ``"judged"`` is the judged label. Raises an UnknownNameError for a column that the card lacks, and a
        CardError if the changed card breaks rules.
        """
        if not changes:
            return self
        content = self.model_dump()
        for name, fields in changes.items():
            if name not in self.coded:
                raise UnknownNameError("column", name, self.coded)
            changed = content["columns"][name] if name in self.columns else content["judged"]["label"]
            changed |= fields
        return self._changed(content)

    def with_groups(
        self, sensitive: Sequence[str] = (), mitigate: str | None = None, deprived_group: Any = None
    ) -> Self:
        """Return the card with other groups.

        ``mitigate`` becomes the sensitive feature; it needs a ``deprived_group``. A CardError says that the
        groups do not fit the card.
        """
        if not sensitive and mitigate is None and deprived_group is None:
            return self
        feature = mitigate or self.sensitive_feature
        if mitigate is None and isinstance(deprived_group, Mapping) and feature not in deprived_group:
            feature = next(iter(deprived_group), feature)
        if feature != self.sensitive_feature and deprived_group is None:
            # A state of the same name would be taken for the deprived group.
            raise CardError(
                f"The deprived group of {feature!r} is not known",
                expected=f"'deprived_group' together with 'mitigate' {feature!r}",
                remedy=f"name the states of {feature!r} whose members are deprived",
            )
        content = self.model_dump()
        if self.missing is not None:  # the columns that may lack values stay the same
            others = self.columns.keys() - {self.label, self.sensitive_feature}
            content["missing"]["columns"] = self.missing.columns or tuple(sorted(others))
        content["sensitive_feature"] = feature
        content["sensitive"] = tuple(sensitive) or self.sensitive
        if deprived_group is not None:
            content["deprived_group"] = deprived_group
        return self._changed(content)

    def _changed(self, content: dict[str, Any]) -> Self:
        where = f"The dataset card {self._path or self.name}, as the experiment changes it,"
        remedy = f"correct the dataset's entry in the experiment; {_EXPLAINED}"
        card = checked(type(self), content, where, remedy, CardError)
        card._path = self._path
        return card

    @property
    def digest(self) -> str:
        """SHA-256, as 64 hexadecimal digits, of everything in the card that can change a result.

        Prose, addresses and locations of files do not count, and ``missing`` counts as states and values of
        columns. ``numbers`` does not count, because keys of cells hold the numbers themselves.
        """
        return self._digest()

    @property
    def rows_digest(self) -> str:
        """SHA-256, as 64 hexadecimal digits, of everything that can change the rows or the learned network.

        It leaves out the order of states and the groups, and otherwise covers the same as :attr:`digest`.
        """
        return self._digest("ordered", groups=False)

    def _digest(self, *without: str, groups: bool = True) -> str:
        facts = self.model_dump(include={"name", "filter", "network", *self.roles})
        if not groups:
            del facts["sensitive_feature"], facts["deprived_group"]
        elif self.sensitive:
            facts["sensitive"] = self.sensitive
        optional = {name: getattr(self, name) for name in ("exclude", "conditions", "first_of", "person")}
        facts |= {name: value for name, value in optional.items() if value}
        facts["source"] = self.source.model_dump(include={"format", "column_names", "delimiter", "encoding"})
        if self.source.decimal != ".":
            facts["decimal"] = self.source.decimal
        if self.source.sheet is not None:
            facts["sheet"] = self.source.sheet
        if self.score is not None:
            facts["score"] = self.score.model_dump()
        if self.judged is not None:
            facts["judged"] = [*self.judged.sources, _facts(self.judged.label, {"source", "description"})]
        if (join := self.source.join) is not None:
            facts["join"] = [join.column, join.key, join.file.sha256, join.file.skip_lines]
        facts["files"] = [(file.sha256, file.skip_lines) for file in self.source.files]
        if any(left_out := [file.without_lines for file in self.source.all_files]):
            facts["without_lines"] = left_out
        # A list, because the order of columns can change a result, and JSON's keys are sorted.
        prose = {"source", "description", *without}
        columns = self.columns.items()
        facts["columns"] = [(name, spec.source or name, _facts(spec, prose)) for name, spec in columns]
        # The order of edges means nothing.
        facts["required_edges"] = sorted(self.required_edges)
        facts["forbidden_edges"] = sorted(self.forbidden_edges)
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @model_validator(mode="before")
    @classmethod
    def _missing_in_columns(cls, content: Any) -> Any:
        """Return the content with the state of missing values added to each column that may lack some."""
        try:
            missing = TypeAdapter(parts.MissingEntry).validate_python(content["missing"])
            roles = {content["label"], content["sensitive_feature"]}
            columns = dict(content["columns"])
            for name in missing.columns or columns.keys() - roles:
                columns[name] = _with_missing(columns[name], missing)
        except (ValidationError, LookupError, TypeError, ValueError):
            return content  # the field is absent, or its own rules report the error
        return {**content, "columns": columns}

    @model_validator(mode="before")
    @classmethod
    def _first_of_several(cls, content: Any) -> Any:  # runs before the one above
        if isinstance(content, dict) and isinstance(named := content.get("sensitive_feature"), list | tuple):
            return {"sensitive": named, **content, "sensitive_feature": named[0] if named else ""}
        return content

    @model_validator(mode="after")
    def _fields_fit(self) -> Self:
        if rules := list(self._broken_rules()):
            raise PydanticCustomError("fields", "{first}", {"first": rules[0], "rules": rules})
        object.__setattr__(self, "cluster", self.cluster or self.name)  # the model is frozen for others
        # One order of states, because a group can be written in several.
        order = {
            name: tuple(s for s in self.columns[name].states if s in named) for name, named in self._members
        }
        group = {name: named if len(named) > 1 else named[0] for name, named in order.items()}
        object.__setattr__(self, "deprived_group", group if len(group) > 1 else group[self.sensitive_feature])
        return self

    def _broken_rules(self) -> Iterator[str]:
        """Yield the rules between fields that the card breaks, each after the name of a field."""
        label, feature, columns = self.label, self.sensitive_feature, self.columns
        for field in ("label", "sensitive_feature"):
            yield from _unless_known(field, getattr(self, field), columns, "a column")
        if not {label, feature} <= columns.keys():
            return
        states = columns[label].states
        if len(states) != 2:
            yield "label: must have two states, but has " + ", ".join(map(repr, states))
        yield from _unless_known("favorable_label", self.favorable_label, states, f"a state of {label!r}")
        if feature == label:
            yield "sensitive_feature: must not be the label itself"
        if feature not in dict(self._members):
            yield f"deprived_group: must name states of the sensitive feature {feature!r}, too"
        for name, named in self._members:
            yield from _unless_known("deprived_group", name, columns, "a column")
            if name == label != feature:
                yield "deprived_group: must not depend on the label"
            states = columns[name].states if name in columns else named
            for state in named:
                yield from _unless_known("deprived_group", state, states, f"a state of {name!r}")
            if name in columns and {*states} <= {*named}:
                yield f"deprived_group: must leave at least one state of {name!r} outside the deprived group"
        for name in self.sensitive:
            yield from _unless_known("sensitive", name, columns, "a column")
        if label in self.sensitive:
            yield "sensitive: must not name the label"
        if self.sensitive and feature not in self.sensitive:
            yield f"sensitive: must name the sensitive feature {feature!r} among them"
        for name in (self.missing and self.missing.columns) or ():
            yield from _unless_known("missing", name, columns, "a column")
        if self.judged is not None and {*self.judged.label.states} != {*columns[label].states}:
            yield f"judged: its label must have the states of the label {columns[label].states}"
        if self.judged is not None and JUDGED in columns:
            yield f"judged: cannot stand beside a column of the name {JUDGED!r}"
        if self.judged is not None and self.person is not None:
            yield "person: is named under [judged] already"
        if self.first_of is not None and len(self.source.files) > 1:
            yield "first_of: needs rows of one file, because it does not compare files"
        for name in columns:
            others = itertools.chain(self.behind, *(self.read_from(other) for other in {*columns} - {name}))
            if self.read_from(name) != (columns[name].source or name,) and name in others:
                yield f"columns: {name!r} has indicators, so no column of the file may have its name"
        yield from self._used_twice()

    def _used_twice(self) -> Iterator[str]:
        """Yield the columns of the file that have two uses; only label and score may have the same one."""
        features = [source for name in self.columns if name != self.label for source in self.read_from(name)]
        uses = [
            ("score", () if self.score is None else (self.score.column,)),
            ("label", self.read_from(self.label)),
            ("dropped", tuple(itertools.chain.from_iterable(group.columns for group in self.dropped))),
            ("judged", () if self.judged is None else self.judged.sources),
            ("person", () if self.person in (None, parts.EQUAL_ROWS) else (self.person,)),
        ]
        taken = dict.fromkeys(features, "columns")
        for field, names in uses:
            for name in names:
                if name in taken and (field, taken[name]) not in (("label", "score"), ("label", "columns")):
                    yield f"{field}: names {name!r}, which '{taken[name]}' names already"
                taken.setdefault(name, field)


def _unless_known(field: str, name: str, choices: Collection[str], description: str) -> Iterator[str]:
    """Yield the rule that a field breaks if it names none of the choices."""
    if name not in choices:
        close = difflib.get_close_matches(name, choices, n=1)
        hint = f", did you mean {close[0]!r}?" if close else ", one of " + ", ".join(map(repr, choices))
        yield f"{field}: must name {description}{hint}; got {name!r}"


def _facts(spec: parts.CategoricalColumn | parts.NumericColumn, without: set[str]) -> dict[str, Any]:
    """Return a column's fields that can change a result; fields of later versions only if they are set."""
    facts: dict[str, Any] = spec.model_dump(exclude={*without, "numbers"})
    later = ("others", "decimal", "thousands", "unit", "codes", "indicators", "bin_states")
    return {name: value for name, value in facts.items() if name not in later or value is not None}


def _with_missing(column: Mapping[str, Any], missing: parts.Missing) -> dict[str, Any]:
    if not isinstance(column["states"], list | tuple):
        raise TypeError  # the column's own rule reports the error
    states = [*column["states"]]
    values = {raw: missing.state for raw in missing.values if raw not in states} | column.get("values", {})
    if missing.state in states:
        return {**column, "values": values}
    # The state of missing values has no place in the order of the others.
    order = {"ordered": False} if column.get("ordered") else {}
    return {**column, **order, "states": [*states, missing.state], "values": values}


def load_card(name_or_path: str | Path) -> Card:
    """Return the checked card of a shipped name, such as ``"adult"``, or of a TOML file's path.

    ``"acs_income[state=HI]"`` names an edition of the card's file. Raises an UnknownNameError if there is no
    such card or edition. A CardError says that it is not TOML, or lists the rules that it breaks, each with
    its field and the wrong value.
    """
    name, chosen = _named_edition(str(name_or_path))
    path = find_declaration("datasets", name)
    content = _with_edition(read_declaration("datasets", path), path, chosen)
    remedy = f"correct these fields; {_EXPLAINED}"
    card = checked(Card, content, f"The dataset card {path}", remedy, CardError)
    card._path = path.resolve()
    return card


@cache
def list_cards() -> tuple[Card, ...]:
    """Return all shipped cards, sorted by name."""
    return tuple(load_card(name) for name in list_declarations("datasets"))


def _named_edition(name: str) -> tuple[str, dict[str, str]]:
    """Return the name of a card, and the values of parameters that choose its edition.

    A CardError says that several editions are named, or that the values are malformed.
    """
    try:
        card, editions = listed_values(name, _EXAMPLE)
        if len(editions) > 1:
            raise ValueError(f"stands for several datasets; expected one edition, such as {_EXAMPLE}")
    except ValueError as error:
        raise CardError(f"The name {name!r} {error}", remedy="correct the brackets") from None
    return card, editions[0] if editions else {}


def _with_edition(content: dict[str, Any], path: Path, chosen: Mapping[str, str]) -> dict[str, Any]:
    """Return a card's content with the source file of one edition, by default the first.

    ``path`` is the card's file. The file of editions names the parameters by their ``defaults``; each of its
    ``editions`` has a value for all of them, and is otherwise a source file with its ``folder``. Only the
    default edition keeps the card's number of rows. An UnknownNameError says that there is no such edition.
    """
    source: Any = content.get("source")
    source = source if isinstance(source, dict) else {}
    if not isinstance(name := source.get("editions"), str):
        if chosen:
            raise CardError(f"The dataset card {path} has no editions", remedy="leave the brackets out")
        return content
    listed = read_toml(path.parent / name, "file of editions", CardError, "correct 'editions' in the card")
    defaults: dict[str, str] = listed["defaults"]
    for parameter in chosen:
        if parameter not in defaults:
            raise UnknownNameError("parameter", parameter, defaults)
    wanted = {**defaults, **chosen}
    for edition in listed["editions"]:
        if all(edition[parameter].lower() == wanted[parameter].lower() for parameter in defaults):
            break
    else:
        raise UnknownNameError("edition", _listed(wanted), [_listed(e, defaults) for e in listed["editions"]])
    file = {key: value for key, value in edition.items() if key not in (*defaults, "folder")}
    kept = {key: value for key, value in source.items() if key != "editions"}
    content = {
        **content,
        "source": {**kept, "files": [file], "folder": edition["folder"]},
        "edition": {parameter: edition[parameter] for parameter in defaults},
    }
    if any(edition[parameter] != value for parameter, value in defaults.items()):
        content.pop("rows", None)
        content["title"] = f"{content.get('title', '')}, {_listed(edition, chosen)}"
    return content


def _listed(values: Mapping[str, str], names: Mapping[str, str] | None = None) -> str:
    return "; ".join(f"{name}={values[name]}" for name in (names or values))
