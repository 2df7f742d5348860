"""The entries of an experiment file: datasets with their bias, techniques, classifiers, published numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictInt,
    field_validator,
    model_serializer,
    model_validator,
)

from benchmark.bias import Bias, BiasKind, list_bias_kinds, make_step
from benchmark.columns import HIDDEN, hidden_name, parted_name
from benchmark.data.card import Card, load_card
from benchmark.data.card_parts import DeprivedGroup, Edges, NetworkSettings
from benchmark.declarations import title_of
from benchmark.errors import BiasError, ExperimentError
from benchmark.models import (
    STRICT,
    Derived,
    Free,
    Identifier,
    Identifying,
    Option,
    Planned,
    TechniqueName,
    entry_name,
)
from benchmark.techniques import Technique, find_technique, get_technique


def _require_level(beta: float) -> float:
    if not 0 <= beta <= 1:  # NaN included
        raise ValueError(f"must be from 0 to 1{_of_percent(beta)}")
    return beta


def _of_percent(beta: float) -> str:
    return f": {beta / 100:g} for {beta:g} %" if 1 < beta <= 100 else ""


def levels_of(betas: Sequence[float]) -> tuple[float, ...]:
    """Return levels of bias in order, each once.

    An ExperimentError says that there are none, or that one is out of range.
    """
    bad = [beta for beta in betas if not 0 <= beta <= 1 or math.isnan(beta)]
    if bad or not betas:
        raise ExperimentError(
            "A level of bias is out of range",
            expected="numbers from 0 to 1",
            got=", ".join(map(str, bad)) or "none",
            remedy="write" + _of_percent(bad[0])[1:] if bad and _of_percent(bad[0]) else None,
        )
    return tuple(sorted({float(beta) + 0.0 for beta in betas}))


Beta = Annotated[float, AfterValidator(_require_level)]
TrainRows = Literal["data"] | Annotated[StrictInt, Field(ge=2)]
Folds = Annotated[StrictInt, Field(ge=2)]
Parameters = dict[str, bool | int | float | str]
FigureKind = Literal["auc", "fidelity", "label", "network", "over_beta", "tradeoff"]  # folders of figures/
Encoding = Literal["one_hot", "ordinal", "numbers"]
TunedOn = Literal["biased", "clean", "oracle"]
"""What a setting is chosen on: rows of the biased training sample, rows without bias, or the test rows."""
NOBODY_HAS: tuple[TunedOn, ...] = ("clean", "oracle")
"""Of these, what nobody has who has biased rows: such entries are never recommended, ranked or tested."""

Refit = Literal["clean", "biased"]
"""Of which training rows a reference row is a bootstrap: without planted bias, or with it."""

_SWEEP = re.compile(r"([A-Za-z0-9_.:+-]+)\[(.*)\]")
_ASSIGNED = re.compile(r" *([A-Za-z_][A-Za-z0-9_]*) *= *([^=\[\]]*[^=\[\], ]) *")
_SWEEP_EXAMPLE = '"repair[level=0.25,0.5,0.75,1]", or "lfr[A_z=1,50; prototypes=5,10]" for each pair'


class _Strict(BaseModel):
    model_config = STRICT


class StepEntry(_Strict):
    """A kind of bias with its parameters, which stand beside ``kind`` in a file."""

    kind: Identifier = "cpt"
    parameters: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"kind": data}
        if not isinstance(data, dict):
            return data
        own = {name: data[name] for name in cls.model_fields if name in data}
        others = {name: value for name, value in data.items() if name not in own}
        given = own.get("parameters", {})
        return {**own, "parameters": {**given, **others}} if others and isinstance(given, dict) else own

    @model_validator(mode="after")
    def _parameters_are_valid(self) -> StepEntry:
        if self.kind in list_bias_kinds():  # others may be of plugins, which are loaded later
            try:
                self.to_kind()
            except BiasError as error:
                raise ValueError(error.what) from None
        return self

    def to_kind(self) -> BiasKind:
        """Return the step itself; UnknownNameError and BiasError as :func:`benchmark.bias.make_step` says."""
        return make_step(self.kind, self.parameters)


class BiasEntry(_Strict):
    """A named way of planting bias in a dataset: steps in their order.

    ``betabench list bias-kinds`` shows the kinds that there are. In a file the fields of a single step may
    stand in place of ``steps``; ``cpt``, the default, is the paper's: it scales the outcome's conditional
    probabilities in the learned network. ``name`` is that of the only kind unless given. ``hidden`` is the
    label gap that the same bias adds first, to rows that are then taken for the original ones
    (:func:`benchmark.experiment.expand.expand`); the name says so (:func:`benchmark.columns.hidden_name`).
    """

    name: Identifier
    steps: tuple[StepEntry, ...] = Field(min_length=1)
    hidden: Beta = 0.0

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what most entries do not have."""
        fields: dict[str, Any] = written(self)
        return {name: value for name, value in fields.items() if value or name != HIDDEN}

    @model_validator(mode="after")
    def _name_says_what_is_hidden(self) -> BiasEntry:
        try:
            bias, gap = parted_name(self.name)
        except ValueError:
            bias, gap = self.name, math.nan
        if gap != self.hidden or self.name != hidden_name(bias, gap):
            what = hidden_name("label", self.hidden or 0.05)
            raise ValueError(f"has a name that says of hidden bias what 'hidden' does not; such as {what!r}")
        return self

    @model_validator(mode="before")
    @classmethod
    def _one_step(cls, data: Any) -> Any:
        return cls.in_steps(data)

    @staticmethod
    def in_steps(data: Any) -> Any:
        """Return what a file says of a bias, with ``steps`` in place of the fields of a single one."""
        if isinstance(data, str):
            data = {"kind": data}
        if not isinstance(data, dict) or "steps" in data:
            return data
        name = {"name": data["name"]} if "name" in data else {"name": data.get("kind", "cpt")}
        return {**name, "steps": [{key: value for key, value in data.items() if key != "name"}]}

    def to_bias(self) -> Bias:
        """Return the bias itself; UnknownNameError and BiasError as :func:`benchmark.bias.make_step` says."""
        return Bias(tuple(step.to_kind() for step in self.steps))


class NetworkEntry(NetworkSettings):
    """Learning settings that replace those of the dataset's card; what is left out stays as in the card."""

    required_edges: Edges = ()
    forbidden_edges: Edges = ()

    @property
    def changes(self) -> dict[str, Any]:
        """The settings that the experiment file names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class TrueRates(_Strict):
    """Rates of the favorable label in the deprived and in the favored group that are known from outside."""

    deprived: float = Field(ge=0, le=1)
    favored: float = Field(ge=0, le=1)


class DatasetEntry(Identifying):
    """A dataset of the experiment; docs/adding/experiment_fields.md explains the fields."""

    card: Derived[str]  # a shipped name, or the path of a TOML file, relative to the experiment file
    name: Derived[Identifier] = ""  # in results; that of the card unless given
    bias: Derived[tuple[BiasEntry, ...]] = Field(min_length=1)
    # The technique that counts as doing nothing, for the paper's Tables 2 and 5; or "own".
    baseline: Planned[Identifier] = "none"
    baseline_reason: Free[str] = ""  # why it is not "none", as words after its title: "the paper's baseline"
    # Whether its group was drawn at random, so that the clean model is that of the favored group.
    audit: Option[StrictBool] = False
    train_rows: Derived[TrainRows | None] = None  # where it is not that of the experiment
    folds: Derived[Folds | None] = None  # where they are not those of the experiment
    network: Derived[NetworkEntry] = NetworkEntry()
    # In the card's words: order or, of real data, other bins, states.
    columns: Derived[dict[str, dict[str, Any]]] = Field(default={})
    techniques: Planned[tuple[Identifier, ...]] = ()  # the entries to run on it; all unless given
    # Those that differ for it, by the technique's registered name.
    parameters: Derived[dict[str, Parameters]] = Field(default={})
    strata: Free[str | None] = None  # column to stratify by, for metrics that need one
    true_rates: Free[TrueRates | None] = None  # what labels should say of the groups, known from outside
    # Columns by whose groups results are told apart; the card's unless given.
    sensitive: Derived[tuple[str, ...]] = ()
    mitigate: Derived[str | None] = None  # the one that techniques see as sensitive; the card's unless given
    deprived_group: Derived[DeprivedGroup | None] = None  # where it is not the card's

    def find_card(self) -> Card:
        """Return the card, read and with its groups as the entry says; errors as of `load_card`."""
        card = load_card(self.card).with_columns(self.columns)
        return card.with_groups(self.sensitive, self.mitigate, self.deprived_group)

    @model_validator(mode="before")
    @classmethod
    def _default_name(cls, data: Any) -> Any:
        if isinstance(data, dict) and "card" in data:
            if isinstance(data.get("bias"), dict | str):
                data = {**data, "bias": [data["bias"]]}
            return {
                "name": str(data["card"]).replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".toml"),
                **data,
            }
        return data


class TechniqueEntry(Identifying):
    """A technique with its parameters, under the name that tables show.

    ``sweep`` names the list of values that it is one of (:func:`listed_techniques`), and ``tuned`` says what
    its parameters are chosen on (:func:`benchmark.experiment.rule.with_tuned`); both are empty of most.
    ``refit`` says that it is the untreated learner ``refit_of`` on a bootstrap of its clean or of its biased
    training rows (:func:`benchmark.experiment.expand.expand`): a reference, no technique.
    """

    technique: Derived[TechniqueName]
    name: Derived[Identifier] = ""
    title: Free[str] = ""
    parameters: Derived[Parameters] = Field(default={})
    sweep: Free[str] = ""
    tuned: Derived[TunedOn | None] = None
    refit: Derived[Refit | None] = None
    refit_of: Derived[str] = ""

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what most entries do not have."""
        fields: dict[str, Any] = written(self)
        some = ("sweep", "tuned", "refit", "refit_of")
        return {name: value for name, value in fields.items() if value or name not in some}

    @model_validator(mode="before")
    @classmethod
    def _default_names(cls, data: Any) -> Any:
        if isinstance(data, dict) and "technique" in data:
            name = data.get("name", entry_name(str(data["technique"])))
            return {"title": title_of(str(name)), **data, "name": name}
        return data

    @property
    def unconstrained(self) -> Mapping[str, Any] | None:
        """The parameters at which the technique is its own learner, or None if it takes a classifier."""
        technique = find_technique(self.technique)
        return None if technique is None else technique.unconstrained

    @property
    def is_own_learner(self) -> bool:
        """Whether it is a learner of the technique's own, without mitigation; a refit of one is none."""
        if self.refit is not None:
            return False
        brings_one = self.unconstrained is not None
        return brings_one and is_own_learner(get_technique(self.technique, **self.parameters))

    @property
    def learner(self) -> Technique:
        """The learner that the technique brings, without mitigation; errors as of `get_technique`."""
        return get_technique(self.technique, **{**self.parameters, **(self.unconstrained or {})})


def is_own_learner(technique: Technique) -> bool:
    """Whether a configured technique is a learner of its own, without mitigation."""
    free = technique.unconstrained
    return free is not None and technique.parameters == {**technique.parameters, **free}


def listed_techniques(name: str) -> list[dict[str, Any]]:
    """Return the entries that a name in a list of techniques stands for: one, or one of each swept value.

    In ``"repair[level=0.25,0.5]"`` the values are swept; several parameters, between semicolons, are crossed.
    A ValueError says that the values are malformed.
    """
    match = _SWEEP.fullmatch(name.strip())
    if match is None:
        if "[" in name:
            raise ValueError(f"has malformed values; expected a list such as {_SWEEP_EXAMPLE}")
        return [{"technique": name}]
    technique, lists = match.groups()
    values: dict[str, list[str]] = {}
    for part in lists.split(";"):
        assigned = _ASSIGNED.fullmatch(part)
        if assigned is None or assigned[1] in values:
            raise ValueError(
                f"has malformed values, {part.strip()!r}; expected a list such as {_SWEEP_EXAMPLE}"
            )
        values[assigned[1]] = texts = [text.strip() for text in assigned[2].split(",")]
        if len(set(texts)) < len(texts) or "" in texts:
            raise ValueError(
                f"has a value of {assigned[1]!r} that is empty or repeats; expected such as {_SWEEP_EXAMPLE}"
            )
    return [
        {
            "technique": technique,
            "name": "_".join((entry_name(technique), *chosen)),
            "title": f"{title_of(entry_name(technique))} {', '.join(chosen)}",
            "parameters": dict(zip(values, map(_swept_value, chosen), strict=True)),
            "sweep": name.strip(),
        }
        for chosen in itertools.product(*values.values())
    ]


def _swept_value(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class ClassifierEntry(Identifying):
    """A classifier with its parameters, under the name that tables show."""

    classifier: Derived[str]
    name: Derived[Identifier] = ""
    parameters: Derived[Parameters] = Field(default={})
    encoding: Derived[Encoding] = "one_hot"  # how it gets states, if it reads numbers

    @model_validator(mode="before")
    @classmethod
    def _default_name(cls, data: Any) -> Any:
        if isinstance(data, dict) and "classifier" in data:
            return {"name": str(data["classifier"]).rsplit(".", 1)[-1], **data}
        return data


class PublishedMetric(_Strict):
    """Which metric repeats a published one, and whether with the other sign; a name alone stands for both."""

    metric: str
    negated: bool = False

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, data: Any) -> Any:
        return {"metric": data} if isinstance(data, str) else data


class PublishedDataset(_Strict):
    """Which of the experiment's datasets repeats the published numbers of one.

    ``name`` is the dataset's published name, and ``techniques`` are the published names of the techniques
    that this holds for; empty for all that no other entry names.
    """

    name: str
    techniques: tuple[str, ...] = ()
    entry: str
    bias: Identifier | None = None  # only needed where the experiment has several, as is the classifier
    classifier: Identifier | None = None


class PublishedVariant(_Strict):
    """One way in which the experiment repeats a published dataset; in a file, a name alone stands for both.

    ``name`` is its name in the summary of the variants, and ``techniques`` names the entry by published
    technique where this variant says that another one repeats it.
    """

    name: str
    entry: str
    bias: Identifier | None = None
    classifier: Identifier | None = None
    techniques: dict[str, Identifier] = {}

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, data: Any) -> Any:
        return {"name": data, "entry": data} if isinstance(data, str) else data


class PublishedEntry(_Strict):
    """Published numbers that the experiment repeats; they are compared with, and change nothing.

    A dataset, technique or metric that is not mentioned has the same name in both.
    """

    title: str  # the authors of the numbers, for headings
    file: str  # CSV, relative to the folder of the shipped experiments, or absolute
    baseline: str | None = None  # the published technique that is each dataset's ``baseline``
    techniques: dict[str, Identifier] = {}  # entry by published technique, where names differ
    datasets: tuple[PublishedDataset, ...] = ()  # where their counterparts are, if not under the same name
    metrics: dict[str, PublishedMetric] = {}  # by published metric, where names or signs differ
    groups: dict[str, tuple[int, ...]] = {}  # tables that are summarized together, by heading
    # Ways of repeating a published dataset, by its published name; each is summarized on its own.
    variants: dict[str, tuple[PublishedVariant, ...]] = {}

    @field_validator("datasets")
    @classmethod
    def _one_answer_each(cls, datasets: tuple[PublishedDataset, ...]) -> tuple[PublishedDataset, ...]:
        asked = [(d.name, technique) for d in datasets for technique in d.techniques or ("all others",)]
        repeated = [pair for i, pair in enumerate(asked) if pair in asked[:i]]
        if repeated:
            raise ValueError("two entries answer for {!r}, technique {!r}".format(*repeated[0]))
        return datasets

    def dataset(self, name: str, technique: str) -> PublishedDataset:
        """Return where a published technique's numbers on a published dataset have their counterpart."""
        same = PublishedDataset(name=name, entry=name)
        own = [entry for entry in self.datasets if entry.name == name]
        general = next((entry for entry in own if not entry.techniques), same)
        return next((entry for entry in own if technique in entry.techniques), general)

    def metric(self, name: str) -> PublishedMetric:
        """Return what repeats a published metric."""
        return self.metrics.get(name) or PublishedMetric(metric=name)

    def technique(self, name: str, baseline: str) -> str:
        """Return the entry that repeats a published technique on a dataset with that baseline."""
        return baseline if name == self.baseline else self.techniques.get(name, name)
