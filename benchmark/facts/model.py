"""The facts of a finished run: numbers, flags and codes with arguments, and no sentence.

Pages, Markdown, the terminal and other programs read the same structure. ``statistics/facts.json`` has it as
JSON, and ``docs/facts.schema.json`` its schema. :mod:`benchmark.wording` has the words.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from benchmark.columns import BLIND

Role = Literal["technique", "baseline", "reference"]
"""A technique; what others are compared with; doing nothing, where something else is the baseline."""

Verdict = Literal["helps", "promising", "not_shown", "harms", "dominated", "not_usable"]
"""Verdict on a technique at one level of bias, for one goal."""

Goal = Literal["restore", "equalize"]
Choice = Literal["least", "cheap"]


def _six_digits(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _six_digits(inner) for name, inner in value.items()}
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") if math.isfinite(value) else None


Number = Annotated[float | None, BeforeValidator(_six_digits)]
"""A number with six significant digits, so that texts round the numbers in JSON; None where it is unknown."""


class Fact(BaseModel):
    """A part of the facts."""

    # Parts are made from records with the same attributes.
    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)

    @classmethod
    def from_record(cls, record: Any, **others: Any) -> Self:
        """Return a fact with the fields that a record has by the same names, and others.

        The ends of an estimate ``change`` are the record's ``change_low`` and ``change_high``.
        """
        values = {
            name: Estimate.of(record, name) if field.annotation is Estimate else getattr(record, name)
            for name, field in cls.model_fields.items()
            if name not in others and hasattr(record, name)
        }
        return cls(**values, **others)


class Reason(Fact):
    """A code with the arguments of its words."""

    code: str
    args: Annotated[dict[str, Any], BeforeValidator(_six_digits)] = {}


class Estimate(Fact):
    """A mean over repetitions, with the ends of its interval of 95 %."""

    mean: Number = None
    low: Number = None
    high: Number = None

    @classmethod
    def of(cls, row: Any, name: str) -> Estimate:
        """Return the estimate in the columns NAME, NAME_low and NAME_high of a row."""
        return cls(
            mean=getattr(row, name), low=getattr(row, f"{name}_low"), high=getattr(row, f"{name}_high")
        )


class Shares(Fact):
    """Shares of the test rows that get the favorable prediction."""

    all: Number = None
    deprived: Number = None
    favored: Number = None


class Technique(Fact):
    """A technique of the run."""

    name: str
    title: str
    stage: str = ""  # pre, in or post
    method: str  # the registered technique
    parameters: dict[str, Any] = {}
    tuned: str = ""  # rows that its setting was chosen on
    knows: str = BLIND  # what it is told about the bias, in words
    source: str = ""  # publication

    @property
    def full_title(self) -> str:
        """The title, with what it is told."""
        return self.title if self.knows == BLIND else f"{self.title} (told {self.knows})"


class Metric(Fact):
    """A metric of the run."""

    name: str
    title: str
    formula: str = ""
    ideal: Number = None
    better: str = "none"  # higher, lower, closer_to_ideal or none
    source: str = ""


class GroupRows(Fact):
    """Test rows of a group, and those with the favorable label."""

    rows: int
    favorable: int


class Dose(Fact):
    """A level of bias in doses: the label gap that is added."""

    dose: float
    beta: Number = None  # None if it is out of reach
    gap: Number = None  # added in expectation; at most, if the dose is out of reach
    pooled: bool = True  # with other datasets: False if nearly every label is touched, or the gap is another


class Bias(Fact):
    """A bias that is planted in a dataset."""

    name: str
    kind: str
    description: str  # of its declaration, with the columns
    inert: bool = False  # changes nothing that the label depends on
    doses: tuple[Dose, ...] = ()
    # Between the labels of training rows, by level of bias.
    label_gaps: dict[float, Number] = Field(
        {}, validation_alias=AliasChoices("label_gaps", "network_discrimination_by_beta")
    )


class Dataset(Fact):
    """A dataset of the run."""

    name: str
    title: str
    embedded: bool  # the shipped network stands in for real data
    rows: int  # of the test data
    train_rows: int
    sensitive: str
    deprived_group: str
    label: str
    favorable_label: str
    deprived: GroupRows | None = None
    favored: GroupRows | None = None
    warning: str = ""  # of its card
    notes: tuple[str, ...] = ()  # of its card and its reading
    accept: Number = None  # share that every technique accepts, if it is given
    bias: tuple[Bias, ...] = ()
    description: str = ""  # of its card, as bibtex and known problems
    bibtex: str = ""
    known_problems: tuple[str, ...] = ()
    card_changed: bool = False  # since the run


class Standing(Fact):
    """A technique at one level of bias, for one goal."""

    technique: str
    knows: str = BLIND  # what it is told about the bias
    role: Role
    baseline: str | None = None  # what it is compared with, where techniques bring learners of their own
    verdict: Verdict | None = None  # None for roles
    reason: Reason | None = None  # of the verdict
    remarks: tuple[Reason, ...] = ()  # what its numbers hide
    value: Estimate  # of the goal's metric: what is left
    distance: Number = None  # mean distance of the value from 0; more than its size if its sign changes
    change: Estimate  # of the value, from the baseline on the same samples
    gain: Estimate  # how much nearer to 0; its interval holds for all techniques of the level, and decides
    accuracy: Estimate
    accuracy_change: Estimate
    accepted: Shares
    repetitions: int = 0  # with a value
    dominated_by: str | None = None
    # Of those that know as much, it is the technique to take: at all, or at no cost.
    best: tuple[Choice, ...] = ()
    tied: tuple[Choice, ...] = ()  # no farther from the goal than the best, practically


class Level(Fact):
    """All techniques at one level of bias, for one goal."""

    level: float  # β or dose
    beta: Number = None  # β of the level
    reason: Reason | None = None  # why nothing can be said of any technique here
    bias_effect: Estimate | None = None  # of the bias on the baseline's discrimination
    detectable: Number = None  # smallest difference from the baseline that this run shows, typically
    constant: Constant | None = None
    floor: Number = None  # least accuracy of a technique that is usable
    # The baseline first, then those that are told nothing, by verdict and distance, then the others.
    techniques: tuple[Standing, ...]

    def best(self, choice: Choice = "least", knows: str = BLIND) -> Standing | None:
        """Return the technique to take, at all or at no cost, of those that know as much, or None."""
        return next((row for row in self.techniques if choice in row.best and row.knows == knows), None)

    def before(self, technique: Standing | None = None) -> Standing | None:
        """Return what a technique is compared with, or the first baseline; None if that has no results."""
        baselines = [row for row in self.techniques if row.role == "baseline"]
        named = technique.baseline if technique else None
        return next((row for row in baselines if row.technique == named), next(iter(baselines), None))


class Constant(Fact):
    """The best constant answer: nobody, everybody, or a given share by lot."""

    accuracy: Number
    accepts: Number  # share


class Answers(Fact):
    """The answers for one goal in one scenario."""

    goal: Goal
    metric: str
    highest: float  # the highest level of bias that can be compared
    levels: tuple[Level, ...]

    @property
    def at_highest(self) -> Level:
        """The answers at the highest level of bias that can be compared."""
        return next(level for level in self.levels if level.level == self.highest)


class Values(Fact):
    """A metric in a scenario; rows are levels of bias, columns the scenario's techniques."""

    metric: str
    mean: tuple[tuple[Number, ...], ...]
    low: tuple[tuple[Number, ...], ...]
    high: tuple[tuple[Number, ...], ...]
    change: tuple[tuple[Number, ...], ...]  # from the baseline
    change_low: tuple[tuple[Number, ...], ...]
    change_high: tuple[tuple[Number, ...], ...]
    p: tuple[tuple[Number, ...], ...]  # corrected for the number of techniques and levels
    shown: tuple[str, ...]  # a letter each: b better and useful, r better, w worse, . neither


class Frontier(Fact):
    """Discrimination and accuracy that thresholds by group on untreated scores reach."""

    level: float
    discrimination: tuple[Number, ...]
    accuracy: tuple[Number, ...]
    inside: tuple[str, ...] = ()  # techniques that it dominates


class Decisions(Fact):
    """People to whom a technique gives back what the bias took, and who pay, at one level of bias.

    Values are estimates by name of the metric of :mod:`benchmark.metrics.restoration`.
    """

    level: float
    technique: str
    role: Role
    restores: bool  # helps to restore, and gives back more than a refit
    values: dict[str, Estimate]
    refit_biased: dict[str, Number]


class Scenario(Fact):
    """A dataset under one bias, with one classifier, on one test."""

    dataset: str
    bias: str
    classifier: str
    test: str
    heading: str  # the dataset's title, and what else tells it from other scenarios
    file: str  # distinct name for files
    baseline: str  # empty where techniques bring learners of their own
    inert: bool
    techniques: tuple[str, ...]
    levels: tuple[float, ...]
    answers: tuple[Answers, ...]
    unanswered: Reason | None = None  # why the goal to restore has no answer
    values: tuple[Values, ...] = ()
    frontier: tuple[Frontier, ...] = ()
    decisions: tuple[Decisions, ...] = ()


class Rank(Fact):
    """Mean rank of a technique in a metric; 1 is the nearest to the ideal."""

    technique: str
    mean_rank: Number  # None without a value somewhere
    groups: str = ""  # techniques with a common number are not shown to differ
    constant: bool = False  # no rank: it gives nearly everybody one answer somewhere
    usable: bool = True  # wherever it is ranked


class Ranks(Fact):
    """Ranks of techniques in a metric over datasets and levels of bias."""

    metric: str
    knows: str = BLIND  # what all but doing nothing are told about the bias
    datasets: tuple[str, ...]  # with something to rank by
    asked: int  # number of datasets that had all techniques
    bias: str
    classifier: str
    test: str
    p: Number = None  # Friedman's
    needed: int = 0  # datasets that a claim about two techniques takes; 0 if there are as many
    techniques: tuple[Rank, ...]  # best first


class Gap(Fact):
    """The largest difference of a rate between groups of an attribute, and its change by a technique."""

    scenario: int
    level: float
    metric: str
    attribute: str
    technique: str
    gap: Number
    change: Estimate
    wider: Number  # share of the repetitions


class Regret(Fact):
    """What it costs to choose settings on biased or clean rows, on average over techniques and datasets."""

    bias: str
    classifier: str
    level: float
    chosen_on: str
    regret: Estimate
    beyond: Number  # share of the fits that break the constraint of the rule
    beyond_oracle: Number


class Missing(Fact):
    """Results or values without a number, for reasons that differ only in numbers."""

    status: str
    reason: str  # the first of them, in the words of the program that failed
    count: int
    techniques: tuple[str, ...]
    datasets: tuple[str, ...]
    levels: tuple[float, ...]
    metrics: tuple[str, ...]


class HiddenRow(Fact):
    """Measured: how well ranks under planted bias agree with the truth, at a dose that labels hide."""

    goal: Goal
    hidden: float
    dose: float
    datasets: int
    agreement: Estimate  # Kendall's tau
    by_chance: Number  # the least that chance alone would leave
    regret: Estimate  # of the choice, against the best technique
    drop_regret: Number
    nothing_regret: Number


class Hidden(Fact):
    """What bias that the labels hide makes of the answers."""

    reason: Reason  # known, unknown, not_measured, ...
    recorded_gap: Number = None
    true_gap: Number = None
    classifier: str = ""  # of the measurement
    others: tuple[str, ...] = ()  # classifiers of the run for which it is not known
    rows: tuple[HiddenRow, ...] = ()


class Protocol(Fact):
    """How training and test rows were obtained."""

    train: str  # network or data
    holdout: Number = None
    folds: int | None = None
    repetitions: int
    seed: int
    overlaps: bool  # training and test rows of all repetitions are splits of the same rows
    tests: tuple[str, ...]


class Criteria(Fact):
    """Requirements for the verdict that a technique helps."""

    margin: float
    least_group_share: float
    least_overall_share: float
    accuracy_slack: float
    least_repetitions: int
    nearly_all: float
    alpha: float


class Run(Fact):
    """The run that the facts are of."""

    name: str
    title: str
    level_name: Literal["beta", "dose"]
    levels: tuple[float, ...]
    protocol: Protocol
    criteria: Criteria
    cells: int
    cells_missing: int
    tuned_by: str = ""
    versions: dict[str, str] = {}
    finished: str = ""
    commands: tuple[str, ...] = ()  # that give the same numbers and files again


class Use(Fact):
    """The first technique to take at the highest level of bias, and lines of Python that apply it."""

    scenario: int
    goal: Goal
    level: float
    technique: str
    code: str = ""
    reason: Reason | None = None  # why there are no lines


class Facts(Fact):
    """All facts of a finished run."""

    version: Literal[1] = 1
    run: Run
    techniques: tuple[Technique, ...]
    metrics: tuple[Metric, ...]
    datasets: tuple[Dataset, ...]
    scenarios: tuple[Scenario, ...]
    ranks: tuple[Ranks, ...] = ()
    gaps: tuple[Gap, ...] = ()
    regrets: tuple[Regret, ...] = ()
    missing: tuple[Missing, ...] = ()
    hidden: Hidden | None = None
    use: Use | None = None  # None if no technique helps
