"""Entries of an experiment file: datasets with their bias, techniques, classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)

from benchmark.bias import Bias, BiasKind, list_bias_kinds, make_step
from benchmark.classifiers import ClassifierFactory, make_classifier
from benchmark.columns import BLIND
from benchmark.data.card import Card, load_card
from benchmark.data.card_parts import DeprivedGroup, Edges, NetworkSettings
from benchmark.declarations import listed_values, title_of, value_of
from benchmark.errors import BiasError, ExperimentError
from benchmark.experiment.telling import Telling
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

    An ExperimentError says that a level is out of range, or that there is none.
    """
    bad = [beta for beta in betas if not 0 <= beta <= 1]  # NaN included
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
FigureKind = Literal["auc", "network", "over_beta", "tradeoff"]  # folders of figures/
Encoding = Literal["one_hot", "ordinal", "numbers"]
TunedOn = Literal["biased", "clean", "oracle"]
"""Rows that a setting is chosen on: of the biased training sample, without bias, or the test rows."""
NOBODY_HAS: tuple[TunedOn, ...] = ("clean", "oracle")
"""Rows that do not exist in practice: entries tuned on them have no verdict, rank or test."""

Refit = Literal["clean", "biased"]
"""Training rows whose bootstrap a reference row is trained on: without planted bias, or with it."""

_SWEEP_EXAMPLE = '"repair[level=0.25,0.5,0.75,1]", or "lfr[A_z=1,50; prototypes=5,10]" for each pair'
_EDITION_EXAMPLE = '"acs_income[state=HI,NM]", or "acs_income[state=HI; year=2015]" for both'


class _Strict(BaseModel):
    model_config = STRICT


class StepEntry(_Strict):
    """A kind of bias with its parameters, which are written beside ``kind`` in a file."""

    kind: Identifier = "cpt"
    parameters: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"kind": data}
        if not isinstance(data, dict):
            return data
        fields = {name: data[name] for name in cls.model_fields if name in data}
        others = {name: value for name, value in data.items() if name not in fields}
        given = fields.get("parameters", {})
        return {**fields, "parameters": {**given, **others}} if others and isinstance(given, dict) else fields

    @model_validator(mode="after")
    def _parameters_are_valid(self) -> StepEntry:
        if self.kind in list_bias_kinds():  # other kinds may come from plugins, which are loaded later
            try:
                self.to_kind()
            except BiasError as error:
                raise ValueError(error.what) from None
        return self

    def to_kind(self) -> BiasKind:
        """Return the step itself; raises the errors of :func:`benchmark.bias.make_step`."""
        return make_step(self.kind, self.parameters)


class BiasEntry(_Strict):
    """A named bias of a dataset, as steps in their order (``betabench list bias-kinds`` shows all kinds).

    A file may give the fields of a single step in place of ``steps``. The default kind, ``cpt``, is the
    paper's: it scales the label's conditional probabilities in the learned network.
    """

    name: Identifier  # the kind of a single step unless given
    steps: tuple[StepEntry, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _one_step(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = {"kind": data}
        if not isinstance(data, dict) or "steps" in data:
            return data
        step = {key: value for key, value in data.items() if key != "name"}
        return {"name": data.get("name", data.get("kind", "cpt")), "steps": [step]}

    def to_bias(self) -> Bias:
        """Return the bias itself; raises the errors of :func:`benchmark.bias.make_step`."""
        return Bias(tuple(step.to_kind() for step in self.steps))


class NetworkEntry(NetworkSettings):
    """Learning settings that replace the card's; settings that are not given stay as in the card."""

    required_edges: Edges = ()
    forbidden_edges: Edges = ()

    @property
    def changes(self) -> dict[str, Any]:
        """The settings that the experiment file names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class TrueRates(_Strict):
    """Rates of the favorable label in both groups, known from outside the data."""

    deprived: float = Field(ge=0, le=1)
    favored: float = Field(ge=0, le=1)


class DatasetEntry(Identifying):
    """A dataset of the experiment; docs/adding/experiment_fields.md explains the fields."""

    card: Derived[str]  # a shipped name, or the path of a TOML file, relative to the experiment file
    name: Derived[Identifier] = ""  # in results; the card's unless given
    bias: Derived[tuple[BiasEntry, ...]] = Field(min_length=1)
    # The technique that counts as no mitigation, for the paper's Tables 2 and 5.
    baseline: Planned[Identifier] = "none"
    baseline_reason: Free[str] = ""  # why it is not "none", as words after its title: "the paper's baseline"
    # Whether its group was drawn at random, so that the clean model learns from the favored group.
    audit: Option[StrictBool] = False
    # Share of the test rows that each technique accepts, by its own scores; by default those that it predicts
    # to be favorable (:mod:`benchmark.experiment.evaluate.Acceptance`).
    accept: Option[Annotated[float, Field(gt=0, lt=1)] | None] = None
    train_rows: Derived[TrainRows | None] = None  # the experiment's unless given
    folds: Derived[Folds | None] = None  # the experiment's unless given
    network: Derived[NetworkEntry] = NetworkEntry()
    # Changes of columns in the card's words: their order or, with real data, other bins and states.
    columns: Derived[dict[str, dict[str, Any]]] = Field(default={})
    techniques: Planned[tuple[Identifier, ...]] = ()  # the entries to run on it; all unless given
    # Parameters that differ on this dataset, by the technique's registered name.
    parameters: Derived[dict[str, Parameters]] = Field(default={})
    strata: Free[str | None] = None  # column to stratify by, for metrics that need one
    true_rates: Free[TrueRates | None] = None  # right rates of favorable labels, known from outside the data
    sensitive: Derived[tuple[str, ...]] = ()  # columns whose groups have results; the card's unless given
    mitigate: Derived[str | None] = None  # column that techniques see as sensitive; the card's unless given
    deprived_group: Derived[DeprivedGroup | None] = None  # the card's unless given

    def find_card(self) -> Card:
        """Return the card with the entry's columns and groups; raises the errors of `load_card`."""
        card = load_card(self.card).with_columns(self.columns)
        return card.with_groups(self.sensitive, self.mitigate, self.deprived_group)

    @model_validator(mode="before")
    @classmethod
    def _default_name(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if isinstance(data.get("bias"), dict | str):
            data = {**data, "bias": [data["bias"]]}
        return {"name": _dataset_name(str(data["card"])), **data} if "card" in data else data


class TechniqueEntry(Identifying):
    """A technique with its parameters, under the name that tables show."""

    only_if_set = ("sweep", "told", "tuned", "refit", "refit_of")

    technique: Derived[TechniqueName]
    name: Derived[Identifier] = ""
    title: Free[str] = ""
    parameters: Derived[Parameters] = Field(default={})
    sweep: Free[str] = ""  # the list of values that it belongs to, if any (:func:`listed_techniques`)
    # What it is told about the bias, if anything (:func:`benchmark.experiment.expand.expand`).
    told: Derived[Telling | None] = None
    # Rows that its parameters are chosen on, if any (:func:`benchmark.experiment.expand.expand`).
    tuned: Derived[TunedOn | None] = None
    # refit, refit_of: The rows whose bootstrap a reference row is trained on, and its untreated learner
    # (:func:`benchmark.experiment.expand.expand`). It is no technique.
    refit: Derived[Refit | None] = None
    refit_of: Derived[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _default_names(cls, data: Any) -> Any:
        if isinstance(data, dict) and "technique" in data:
            name = data.get("name", entry_name(str(data["technique"])))
            return {"title": title_of(str(name)), **data, "name": name}
        return data

    @property
    def knowledge(self) -> str:
        """What it is told about the bias, in words."""
        return self.told.words if self.told else BLIND

    @property
    def full_title(self) -> str:
        """The title, with what it is told."""
        return f"{self.title} (told {self.knowledge})" if self.told else self.title

    @property
    def unconstrained(self) -> Mapping[str, Any] | None:
        """The parameters that switch the technique's mitigation off, or None if it takes a classifier."""
        technique = find_technique(self.technique)
        return None if technique is None else technique.unconstrained

    @property
    def learner(self) -> Technique | None:
        """The technique's own learner without mitigation, or None if it takes a classifier.

        Raises the errors of :func:`benchmark.techniques.get_technique`.
        """
        free = self.unconstrained
        return None if free is None else get_technique(self.technique, **{**self.parameters, **free})


def _dataset_name(card: str) -> str:
    """Return the name of an entry that declares none: the card's, followed by the edition that it names."""
    path, editions = listed_values(card, _EDITION_EXAMPLE)
    name = path.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".toml")
    return "_".join((name, *(value.lower() for chosen in editions[:1] for value in chosen.values())))


def listed_techniques(name: str) -> list[dict[str, Any]]:
    """Return the entries of a name in a list of techniques: one entry, or one for each swept value.

    ``"repair[level=0.25,0.5]"`` sweeps values; several parameters, separated by semicolons, are crossed. A
    ValueError says that the values are malformed.
    """
    technique, swept = listed_values(name, _SWEEP_EXAMPLE)
    if not swept:
        return [{"technique": technique}]
    return [
        {
            "technique": technique,
            "name": "_".join((entry_name(technique), *chosen.values())),
            "title": f"{title_of(entry_name(technique))} {', '.join(chosen.values())}",
            "parameters": {parameter: value_of(value) for parameter, value in chosen.items()},
            "sweep": name.strip(),
        }
        for chosen in swept
    ]


def listed_datasets(name: str) -> list[dict[str, Any]]:
    """Return the entries of a name in a list of datasets: one entry, or one for each named edition.

    ``"acs_income[state=HI,NM]"`` names two editions. A ValueError says that the values are malformed.
    """
    card, editions = listed_values(name, _EDITION_EXAMPLE)
    if not editions:
        return [{"card": card}]
    return [{"card": f"{card}[{'; '.join(f'{k}={v}' for k, v in chosen.items())}]"} for chosen in editions]


class ClassifierEntry(Identifying):
    """A classifier with its parameters, under the name that tables show; or the learner of a technique."""

    only_if_set = ("learner_of",)

    classifier: Derived[str]
    name: Derived[Identifier] = ""
    parameters: Derived[Parameters] = Field(default={})
    encoding: Derived[Encoding] = "one_hot"  # how states become numbers, if it reads numbers
    # The technique whose own learner it is, with its parameters (:func:`benchmark.experiment.expand.expand`).
    learner_of: Derived[str] = ""

    @property
    def learner(self) -> Technique | None:
        """The learner of a technique, without mitigation; None for a classifier."""
        return get_technique(self.learner_of, **self.parameters) if self.learner_of else None

    @property
    def factory(self) -> ClassifierFactory | None:
        """The declared classifier, or None for the learner of a technique; errors as `make_classifier`."""
        return None if self.learner_of else make_classifier(self.classifier, self.parameters, self.encoding)

    @model_validator(mode="before")
    @classmethod
    def _default_name(cls, data: Any) -> Any:
        if isinstance(data, dict) and "classifier" in data:
            return {"name": str(data["classifier"]).rsplit(".", 1)[-1], **data}
        return data
