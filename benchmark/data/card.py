"""Dataset cards: every fact about a dataset, in one TOML file.

A card says where the source files are, how to read them, which columns become which states, and which roles
the columns play. All states are declared, so the schema needs no data. :class:`Card` describes every field,
:mod:`benchmark.data.card_parts` those of its tables; the files in ``datasets/`` are examples, and
``docs/adding/dataset.md`` makes a card of one's own.
"""

import graphlib
import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    Field,
    PositiveInt,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from benchmark.data.card_parts import (
    CardTable,
    CategoricalColumn,
    ColumnCard,
    DeprivedGroup,
    Dropped,
    Edges,
    JudgedLabel,
    Line,
    Missing,
    MissingEntry,
    NetworkSettings,
    NumericColumn,
    RawValues,
    ScoreColumn,
    Slug,
    Source,
    Text,
    Texts,
    require_distinct,
    require_in_file,
    require_known,
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

JUDGED = "judged"
"""What the judged label is called where columns are named: in messages, and in changes of columns."""


class Card(CardTable):
    """A dataset's card."""

    name: Slug  # short name: lower-case letters, digits and underscores
    title: Line  # name for readers
    # description, homepage, licence, citation, bibtex: What the data are, where they are described, under
    # which terms they may be used, whom to cite.
    description: str = ""
    homepage: str = ""
    licence: str = ""
    citation: str = ""
    bibtex: str = ""
    # Known problems of the data, one sentence or two each.
    known_problems: Annotated[tuple[Line, ...], Field(strict=False)] = ()
    warning: Line | None = None  # printed with every table that shows the dataset
    rows: PositiveInt | None = None  # rows after ``filter`` and ``exclude``; another number is an error
    # Rules across fields look at fields above their own, so the order of these lines matters.
    source: Source  # files and format
    # The columns to keep, label included, in order; the key is the column's name in this program.
    columns: Annotated[dict[Text, ColumnCard], Field(min_length=2)]
    missing: MissingEntry | None = None  # the state of missing values in all columns that may lack them
    dropped: Annotated[tuple[Dropped, ...], Field(strict=False)] = ()  # the columns left out, and why
    # Rows to keep: for a column of the file, the raw values wanted.
    filter: Annotated[dict[Text, Texts], AfterValidator(require_in_file)] = Field(default_factory=dict)
    # Rows to leave out: for a column of the file, the raw values not wanted.
    exclude: Annotated[dict[Text, RawValues], AfterValidator(require_in_file)] = Field(default_factory=dict)
    # label, favorable_label: Outcome column (two states), and the state that is good for the individual.
    label: Text
    favorable_label: Text
    # Sensitive column. A list of several in a file names the first, and all of them as ``sensitive``.
    sensitive_feature: Text
    # The state whose members are deprived (AIF360 says *unprivileged*), or several states. A table names a
    # state, or several, for each of several columns, the sensitive one among them: the deprived group is
    # their intersection.
    deprived_group: DeprivedGroup
    # Sensitive columns by whose groups, and by whose intersections, ``groups.csv`` tells all results apart.
    sensitive: Annotated[tuple[Text, ...], Field(strict=False), AfterValidator(require_distinct)] = ()
    score: ScoreColumn | None = None  # the number behind the label
    judged: JudgedLabel | None = None  # the label as people judged it, with judges and persons
    # required_edges, forbidden_edges: Edges (parent, child) that the network must or must not have.
    required_edges: Edges = ()
    forbidden_edges: Edges = ()
    network: NetworkSettings = NetworkSettings()  # how the network is learned

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
        """Columns by whose groups results are told apart, each an ``attribute`` in ``groups.csv``.

        They are those of ``sensitive`` and, of an intersection, those that define it; else there are none.
        """
        crossed = [name for name, _ in self._members] if len(self._members) > 1 else []
        return tuple(dict.fromkeys((*self.sensitive, *crossed)))

    @property
    def behind(self) -> tuple[str, ...]:
        """Columns of the file that are read and are never features: the score, and what people judged."""
        score = () if self.score is None else (self.score.column,)
        return (*score, *(() if self.judged is None else self.judged.sources))

    @property
    def coded(self) -> dict[str, CategoricalColumn | NumericColumn]:
        """The columns, and the judged label as :data:`JUDGED`: all that is read as states."""
        return self.columns if self.judged is None else {**self.columns, JUDGED: self.judged.label}

    @property
    def numbered(self) -> dict[str, NumericColumn]:
        """The features whose numbers are kept, by name."""
        roles = {self.label, self.sensitive_feature, *(name for name, _ in self._members)}
        kept = {n: c for n, c in self.columns.items() if isinstance(c, NumericColumn) and c.numbers}
        return {name: spec for name, spec in kept.items() if name not in roles}

    def schema(self) -> Schema:  # type: ignore[override]  # hides a pydantic method that is deprecated
        """Return columns and roles; no data are needed."""
        columns = tuple(Column(name, spec.states, spec.ordered) for name, spec in self.columns.items())
        single = isinstance(self.deprived_group, str)
        return Schema(columns, **self.roles, deprived_states=() if single else self._members)

    def with_columns(self, changes: Mapping[str, Mapping[str, Any]]) -> Self:
        """Return the card with columns read in another way.

        For a column of the card, ``changes`` are the fields that replace its own: ``{"age": {"bins": [...],
        "states": [...]}}``; ``"judged"`` is the judged label. An UnknownNameError says that the card has no
        such column, a CardError that the changed card breaks rules.
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
        if self.exclude:
            facts["exclude"] = self.exclude
        facts["source"] = self.source.model_dump(include={"format", "column_names", "delimiter", "encoding"})
        if self.source.decimal != ".":
            facts["decimal"] = self.source.decimal
        if self.score is not None:
            facts["score"] = self.score.model_dump()
        if self.judged is not None:
            facts["judged"] = [*self.judged.sources, _facts(self.judged.label, {"source", "description"})]
        if (join := self.source.join) is not None:
            facts["join"] = [join.column, join.key, join.file.sha256, join.file.skip_lines]
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
            missing = TypeAdapter(MissingEntry).validate_python(content["missing"])
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
        require_in_file([spec.source or name for name, spec in columns.items()], info)
        return columns

    @field_validator("missing")
    @classmethod
    def _missing_of_columns(cls, missing: Missing | None, info: ValidationInfo) -> Missing | None:
        _require_columns((missing and missing.columns) or (), info)
        return missing

    @field_validator("dropped")
    @classmethod
    def _dropped_not_kept(cls, dropped: tuple[Dropped, ...], info: ValidationInfo) -> tuple[Dropped, ...]:
        names = [name for group in dropped for name in group.columns]
        require_distinct(names)
        require_in_file(names, info)
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
            require_known(name, columns, "a column")
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
            require_known(state, info.data["columns"][column].states, f"a state of {column!r}")
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
            require_known(name, columns, "a column")
            if name == info.data.get("label"):
                raise ValueError("must not depend on the label")
            states = columns[name].states
            named = {own} if isinstance(own, str) else {*own}
            for state in named:
                require_known(state, states, f"a state of {name!r}")
            if len(named) == len(states):
                raise ValueError(f"must leave a state of {name!r} to others")
            # In one order, because the same group is written in several.
            ordered = tuple(state for state in states if state in named)
            table[name] = ordered if len(ordered) > 1 else ordered[0]
        return table if len(table) > 1 else table[feature]

    @field_validator("sensitive")
    @classmethod
    def _sensitive_are_columns(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        _require_columns(names, info)
        if info.data.get("label") in names:
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
        require_in_file([score.column], info)
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

    @field_validator("judged")
    @classmethod
    def _judged_is_no_feature(cls, judged: JudgedLabel | None, info: ValidationInfo) -> JudgedLabel | None:
        columns, label = info.data.get("columns"), info.data.get("label")
        if judged is None or columns is None:
            return judged
        require_in_file(judged.sources, info)
        if JUDGED in columns:
            raise ValueError(f"cannot stand beside a column of the name {JUDGED!r}")
        if label is not None and {*judged.label.states} != {*columns[label].states}:
            raise ValueError("its label must have the states of the label " + repr(columns[label].states))
        score = info.data.get("score")
        others = [
            *(spec.source or name for name, spec in columns.items()),
            *(name for group in info.data.get("dropped", ()) for name in group.columns),
            *(() if score is None else [score.column]),
        ]
        if both := [name for name in judged.sources if name in others]:
            raise ValueError("names columns that are also kept, dropped or the score: " + repr(both)[1:-1])
        return judged

    @field_validator("required_edges", "forbidden_edges")
    @classmethod
    def _edges_between_columns(cls, edges: Edges, info: ValidationInfo) -> Edges:
        _require_columns(itertools.chain.from_iterable(edges), info)
        if any(parent == child for parent, child in edges):
            raise ValueError("must not lead from a column to itself")
        require_distinct([f"{parent} -> {child}" for parent, child in edges])
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


def _require_columns(names: Iterable[str], info: ValidationInfo) -> None:
    for name in names if "columns" in info.data else ():
        require_known(name, info.data["columns"], "a column")


def _facts(spec: CategoricalColumn | NumericColumn, without: set[str]) -> dict[str, Any]:
    """Return the fields of a column that can change a number; later ones only where they are set."""
    facts: dict[str, Any] = spec.model_dump(exclude={*without, "numbers"})
    later = ("others", "decimal", "thousands", "unit")
    return {name: value for name, value in facts.items() if name not in later or value is not None}


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
        remedy=f"correct {where}; docs/adding/dataset.md explains most, and the comments in "
        "benchmark/data/card.py each",
    )
