"""No stale number: each field of an experiment file, changed by itself, and what becomes of stored cells.

Every field of every table is listed in ``CHANGES``, with another value of it; one that is missing there makes
a test fail. For each protocol an experiment is computed before and after the change. Then a cell's key has to
change if its rows or answers do, and, but for what ``MAY`` excuses, only then. A run in the folder of the
former experiment has to give what a run in a new folder gives.
"""

import copy
import dataclasses
import functools
import itertools
import json
import shutil
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from benchmark.bias import Bias, BiasKind, list_bias_kinds, make_step
from benchmark.bias.base import BiasEdit
from benchmark.data import Table
from benchmark.data.source import Sources
from benchmark.declarations import declaration_dir, kind_of, list_declarations
from benchmark.experiment import keys
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.entries import (
    ClassifierEntry,
    DatasetEntry,
    StepEntry,
    TechniqueEntry,
)
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment, describe_bias
from benchmark.experiment.store import CellResult
from benchmark.experiment.telling import Telling
from benchmark.experiment.tune import TuningEvaluator
from benchmark.models import Derived, Free, Option
from benchmark.runs.comparison import earlier_results
from benchmark.runs.manifest import settings_of
from tests.helpers.cards import POINTS, YEARS, card_of
from tests.helpers.marks import nightly_but
from tests.helpers.protocol import computed as compute_again
from tests.helpers.protocol import keys as keys_of

Content = dict[str, Any]
Place = tuple[str, str, float, int, str, str]

COLUMNS = {
    "years": YEARS,
    "level": POINTS,
    "town": "north south west",
    "race": "a b c",
    "sex": "m f",
    "hired": "no yes",
}
SCORE = 'score = { column = "points", threshold = 50, minimum = 0, maximum = 100 }'
CARD = card_of("jobs", "hired=yes", "sex=f", COLUMNS, SCORE)

PROTOCOLS: dict[str, Content] = {
    "network": {},
    "data": {"train": "data", "holdout": 0.3},
    "holdout": {"holdout": 0.3},
    "folds": {"train": "data", "folds": 3},
}
EDIT = {"attribute": "sex", "group": "f", "direction": "deprive", "if_not_parent": "ignore"}
# In the network of all rows it is no parent of the label; in that of the rows beside the holdout it is.
ELSEWHERE = {"attribute": "level", "group": "low", "if_not_parent": "ignore"}
NUMBERED = {"classifier": "logistic_regression", "name": "numbers", "encoding": "numbers"}
DOSED: Content = {"betas": [], "doses": [0.05], "paired_betas": True}
TUNE = {"trials": 3, "validation": ["biased"], "on": 0.3}
TOLD: Content = {
    "plugins": ["PLUGIN"],
    "classifiers": [{"classifier": "logistic_regression", "name": "bins"}],
    "techniques": [
        {"technique": "none"},
        {"technique": "gap_weights"},
        {"technique": "gap_weights", "name": "other", "parameters": {"hide_group": True}},
        {"technique": "rate_weights"},
        {"technique": "bound_weights"},
        {"technique": "refusal_weights"},
    ],
    "knows": [
        {"fact": "gap", "kind": "wrong"},
        {"fact": "bounds"},
        {"fact": "refusals", "m": 10, "draws": 2},
    ],
}


def first(*path: str | int, **fields: Any) -> Callable[[Content], None]:
    """Return what changes fields of the table at a path."""

    def change(content: Content) -> None:
        found: Any = content
        for name in path:
            found = found[name] if isinstance(name, int) else found.setdefault(name, {})
        for name, value in fields.items():
            if value is None:
                found.pop(name, None)
            else:
                found[name] = value

    return change


DATASET, BIAS = ("datasets", 0), ("datasets", 0, "bias", 0)
EDITS = (*BIAS, "steps", 0, "edits", 0)


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of one field; in ``only`` these protocols, and of names that are new, what they were."""

    apply: Callable[[Content], None]
    only: tuple[str, ...] = tuple(PROTOCOLS)
    former: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # Of the experiment: one with "tuned" techniques, with techniques that are "told" something, with a
    # classifier of "numbers", with "paired" levels, or with "dosed" bias.
    variant: str = ""


HELD, FOLDED = ("data", "holdout"), ("folds",)
WHOLE = ("network", *HELD)  # where techniques can be tuned


def tuned(**fields: Any) -> Change:
    return Change(first("tune", **fields), WHOLE, variant="tuned")


def learned(content: Content) -> None:
    """Let a technique's own learner have the first classifier's name."""
    content["techniques"].append({"technique": "prejudice_remover"})
    content["classifiers"][0] = {
        "classifier": "bins",
        "learner_of": "prejudice_remover",
        "parameters": {"eta": 0.0},
    }


def told(number: int, **fields: Any) -> Change:
    """Return a change of what techniques are told: 0 the gap, 1 bounds, 2 refusals, 3 what was not there."""

    def change(content: Content) -> None:
        content["knows"].append({})
        first("knows", number, **fields)(content)
        content["knows"] = [telling for telling in content["knows"] if telling]

    return Change(change, variant="told")


def network(**fields: Any) -> Change:
    return Change(first(*DATASET, "network", **fields))


# Another value, or several, of every field of an experiment file.
CHANGES: dict[str, tuple[Change, ...]] = {
    "name": (Change(first(name="other")),),
    "title": (Change(first(title="Other")),),
    "description": (Change(first(description="Other.")),),
    "seed": (Change(first(seed=4)),),
    "repetitions": (Change(first(repetitions=2)),),
    "betas": (Change(first(betas=[0.0, 0.6, 0.8])),),
    "doses": (Change(first(betas=[], doses=[0.05], paired_betas=True), HELD),),
    "hidden": (
        Change(first(hidden=[0.0, 0.05]), ("data",), variant="dosed"),
        Change(first(hidden=[0.05]), ("data",), variant="dosed"),
    ),
    "train_rows": (Change(first(train_rows=180)),),
    "train": (
        Change(first(train="network"), ("data", "folds")),
        Change(first(train="data"), ("holdout",)),
    ),
    "holdout": (
        Change(first(holdout=0.4), HELD),
        Change(first(holdout=0.3), ("network",)),
        Change(first(holdout=0.3, folds=None), FOLDED),
    ),
    "folds": (
        Change(first(folds=4), FOLDED),
        Change(first(folds=3), ("network",)),
        Change(first(folds=3, holdout=None), HELD),
    ),
    "tests": (
        Change(first(tests=["original", "biased"])),
        Change(first(tests=["original", "balanced"])),
    ),
    "paired_betas": (Change(first(paired_betas=True)),),
    "mixed_learners": (Change(first(mixed_learners=True)),),
    "time_limit": (Change(first(time_limit=100.0)),),
    "memory_limit": (Change(first(memory_limit=8000.0)),),
    "smallest_group": (Change(first(smallest_group=5)),),
    "metrics": (Change(first(metrics=["accuracy", "auc", "equalized_odds_difference"])),),
    "headline": (Change(first(headline=["accuracy"])),),
    "figures": (Change(first(figures=["tradeoff"])),),
    "plugins": (Change(first(plugins=["PLUGIN"])),),
    "published": (Change(first(published={"title": "Others", "file": "published/cardoso2019.toml"})),),
    "knows.fact": (told(0, fact="rates"),),
    "knows.name": (
        dataclasses.replace(
            told(0, name="new"), former={"gap_weights_new": "gap_weights", "other_new": "other"}
        ),
    ),
    "knows.title": (told(0, title="told wrongly"),),
    "knows.only": (told(0, only=["gap_weights", "other"]),),
    "knows.kind": (told(0, kind="right"), told(2, kind="wrong")),
    "knows.factor": (told(0, factor=0.5),),
    "knows.feared": (told(0, feared=0.2),),
    "knows.deprived": (told(1, deprived=0.1), told(3, fact="rates", deprived=0.1)),
    "knows.favored": (told(3, fact="rates", favored=0.1),),
    "knows.width": (told(1, width=0.2),),
    "knows.m": (told(2, m=20), told(3, fact="refusals", name="more")),
    "knows.wrong": (told(2, wrong=0.4),),
    "knows.draws": (told(2, draws=3),),
    "datasets.card": (Change(first(*DATASET, card="OTHER")),),
    "datasets.name": (Change(first(*DATASET, name="others"), former={"others": "jobs"}),),
    "datasets.baseline_reason": (Change(first(*DATASET, baseline_reason="it is the paper's")),),
    "datasets.baseline": (Change(first(*DATASET, baseline="repair")),),
    "datasets.accept": (Change(first(*DATASET, accept=0.7)),),
    "datasets.audit": (Change(first(*DATASET, audit=True), ("data", "folds"), variant="paired"),),
    "datasets.train_rows": (Change(first(*DATASET, train_rows=180)),),
    "datasets.folds": (Change(first(*DATASET, folds=4), FOLDED),),
    "datasets.columns": (
        Change(first(*DATASET, columns={"level": {"bins": [0, 50, 100], "states": ["low", "high"]}})),
        Change(first(*DATASET, columns={"town": {"ordered": True}})),
        Change(first(*DATASET, columns={"level": {"numbers": False}}), variant="numbers"),
    ),
    "datasets.techniques": (Change(first(*DATASET, techniques=["none"])),),
    "datasets.parameters": (Change(first(*DATASET, parameters={"repair": {"level": 1.0}})),),
    "datasets.strata": (Change(first(*DATASET, strata="town")),),
    "datasets.true_rates.deprived": (
        Change(first(*DATASET, true_rates={"deprived": 0.4, "favored": 0.5})),
    ),
    "datasets.true_rates.favored": (
        Change(first(*DATASET, true_rates={"deprived": 0.2, "favored": 0.5})),
    ),
    "datasets.sensitive": (Change(first(*DATASET, sensitive=["sex", "race"])),),
    "datasets.mitigate": (Change(first(*DATASET, mitigate="race", deprived_group="a")),),
    "datasets.deprived_group": (Change(first(*DATASET, deprived_group="m")),),
    "datasets.network.algorithm": (network(algorithm="exact"),),
    "datasets.network.score": (network(score="bdeu"),),
    "datasets.network.max_indegree": (network(max_indegree=1),),
    "datasets.network.tabu_length": (network(tabu_length=1),),
    "datasets.network.restarts": (network(restarts=1),),
    "datasets.network.equivalent_sample_size": (network(equivalent_sample_size=50.0),),
    "datasets.network.pseudo_count": (network(pseudo_count=20.0),),
    "datasets.network.min_count": (network(min_count=40),),
    "datasets.network.required_edges": (network(required_edges=[["town", "race"]]),),
    "datasets.network.forbidden_edges": (network(forbidden_edges=[["level", "hired"]]),),
    "datasets.bias.name": (Change(first(*BIAS, name="renamed"), former={"renamed": "edited"}),),
    "datasets.bias.steps": (
        Change(lambda c: c["datasets"][0]["bias"][0]["steps"].append({"kind": "label", "rate": 0.5})),
        Change(lambda c: c["datasets"][0]["bias"][0]["steps"].append({"kind": "proxy", "column": "hint"})),
    ),
    "datasets.bias.steps.kind": (Change(lambda c: c["datasets"][0]["bias"][0].update(steps=["label"])),),
    "datasets.bias.steps.parameters": (
        Change(lambda c: c["datasets"][0]["bias"][0]["steps"][0]["edits"].append(ELSEWHERE)),
    ),
    "edits.attribute": (
        Change(first(*EDITS, attribute="years", group="few")),
    ),
    "edits.group": (Change(first(*EDITS, group="m")),),
    "edits.direction": (Change(first(*EDITS, direction="favor")),),
    "edits.if_not_parent": (Change(first(*EDITS, if_not_parent="error")),),
    "techniques.technique": (Change(first("techniques", 1, technique="reweighing", parameters=None)),),
    "techniques.name": (Change(first("techniques", 1, name="renamed"), former={"renamed": "repair"}),),
    "techniques.title": (Change(first("techniques", 1, title="Other")),),
    "techniques.parameters": (Change(first("techniques", 1, parameters={"level": 1.0})),),
    "techniques.sweep": (Change(first("techniques", 1, sweep="repair[level]")),),
    "techniques.refit": (Change(first("techniques", 1, refit="biased", refit_of="none"), HELD),),
    "techniques.refit_of": (Change(first("techniques", 1, refit_of="none"), HELD),),
    "techniques.told": (Change(first("techniques", 1, told={"fact": "gap"}), variant="told"),),
    "techniques.tuned": (Change(first("techniques", 1, tuned="clean"), WHOLE, variant="tuned"),),
    "classifiers.classifier": (Change(first("classifiers", 0, classifier="logistic_regression"), HELD),),
    "classifiers.name": (Change(first("classifiers", 0, name="renamed"), former={"renamed": "bins"}),),
    "classifiers.parameters": (Change(first("classifiers", 0, parameters={"confidence": 0.01})),),
    "classifiers.encoding": (Change(first("classifiers", 1, encoding="one_hot"), variant="numbers"),),
    "classifiers.learner_of": (Change(learned),),
    "tune.trials": (tuned(trials=5),),
    "tune.rule": (tuned(rule="min |discrimination|"),),
    "tune.validation": (tuned(validation=["biased", "clean"]),),
    "tune.on": (tuned(on=0.5),),
}  # fmt: skip

UNHEARD = ("name", "title", "only")  # fields of what is told that no technique hears of

# Fields of which a key may change though no number does, and why.
MAY = {
    "tests": "points of a frontier are made from scores of training rows, which no store has",
    "datasets.bias.name": "is stored with a cell",
    "techniques.name": "is stored with a cell",
    "knows.name": "the same",
    "classifiers.name": "is stored with a cell",
    "edits.if_not_parent": "acts where a split's network lacks the edge, which is known once it is learned",
    "edits.attribute": "acts where a split's network has the edge, which is known once it is learned",
    "edits.direction": "the same",
    "edits.group": "the same",
    "datasets.network": "may lead to the same network",
    "datasets.columns": "the tables differ by their schemas",
    "datasets.bias.steps": "kinds are named where nothing is planted as well",
    "datasets.parameters": "may lead to the same answers",
    "techniques.technique": "the same",
    "techniques.parameters": "the same",
    "classifiers.parameters": "the same",
    "classifiers.encoding": "the same",
    "techniques.told": "the same",
    "techniques.tuned": "another setting may be chosen, or the same",
    "tune": "the same",
    **{
        f"knows.{field}": "what is told may lead to the same answers, and does where nothing is planted"
        for field in Telling.model_fields
        if field not in UNHEARD
    },
}


def models_of(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the tables that a field's type holds."""
    is_class = isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias)
    if is_class and issubclass(annotation, BaseModel):
        yield annotation
    for own in typing.get_args(annotation):
        yield from models_of(own)


def fields_of(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the paths of all fields of a table and of those that it holds, leaves only."""
    for name, field in model.model_fields.items():
        inner = list(models_of(field.annotation))
        # What an entry is told has the fields of ``knows``.
        inner = [own for own in inner if own is not Telling or not prefix]
        yield from (path for own in inner for path in fields_of(own, f"{prefix}{name}."))
        if not inner or inner == [StepEntry]:  # of which there may be more or fewer
            yield prefix + name


def test_every_field_of_an_experiment_file_is_changed() -> None:
    edits = {f"edits.{field.name}" for field in dataclasses.fields(BiasEdit)}
    assert set(fields_of(Experiment)) | edits == set(CHANGES)
    for path in MAY:
        assert any(own == path or own.startswith(path + ".") for own in CHANGES), path


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Cards of 360 rows, and of the same rows but one."""
    folder = tmp_path_factory.mktemp("jobs")
    rng = np.random.default_rng(3)
    n = 360
    level, years = rng.uniform(0, 100, n), rng.exponential(5, n)
    town, sex, race = rng.integers(3, size=n), rng.integers(2, size=n), rng.integers(3, size=n)
    points = np.clip(level * 0.6 + 3 * years - 25 * sex + 4 * (town == 0) + rng.normal(0, 9, n) + 14, 0, 100)
    points = np.round(points, 2)
    rows = ["years,level,town,race,sex,points,hired"]
    for i in range(n):
        where = f"{('north', 'south', 'west')[town[i]]},{'abc'[race[i]]},{'mf'[sex[i]]}"
        rows.append(
            f"{years[i]:.2f},{level[i]:.2f},{where},{points[i]},{('no', 'yes')[int(points[i] >= 50)]}"
        )
    for name, kept in (("jobs", rows), ("other", rows[:-1])):
        (folder / f"{name}.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
        (folder / f"{name}.toml").write_text(CARD.replace("jobs.csv", f"{name}.csv"), encoding="utf-8")
    plugin = folder / "plugin.py"
    plugin.write_text(PLUGIN, encoding="utf-8")
    return {"CARD": str(folder / "jobs.toml"), "OTHER": str(folder / "other.toml"), "PLUGIN": str(plugin)}


PLUGIN = """
from benchmark.bias import Bias, BiasKind, register
from benchmark.techniques import register as register_technique
from benchmark.techniques.restoring import Restorer


@register
class Quiet(BiasKind):
    name, summary, reference, version = "quiet", "Plants nothing", "none", "1"

    def chances(self, rows, beta):
        return None


@register_technique
class BoundWeights(Restorer):
    name, summary, reference, version = "bound_weights", "Weights by the greater bound", "none", "1"
    knows = ("kind", "bounds")

    def _prepare(self, train, tools):
        return self.by_rates(train, tools, tools.known.kind, tools.known.bounds[1])
"""


def content_of(protocol: str, variant: str = "") -> Content:
    """Return an experiment as its file has it."""
    own: Content = {"tuned": "biased"} if variant == "tuned" else {"parameters": {"level": 0.5}}
    content: Content = {
        "name": "fields",
        "title": "Fields",
        "seed": 3,
        "repetitions": 1,
        "betas": [0.0, 0.6],
        "train_rows": 200,
        "metrics": ["accuracy", "discrimination", "auc"],
        "datasets": [
            {
                "card": "CARD",
                "name": "jobs",
                "bias": [{"name": "edited", "steps": [{"kind": "cpt", "edits": [dict(EDIT)]}]}],
            }
        ],
        "techniques": [
            {"technique": "none"},
            {"technique": "repair", "name": "repair", **own},
        ],
        "classifiers": [{"classifier": "c45", "name": "bins"}],
        **PROTOCOLS[protocol],
    }
    if variant == "tuned":
        content["tune"] = dict(TUNE)
    elif variant == "numbers":
        content["classifiers"].append(NUMBERED)
    elif variant == "paired":
        content["paired_betas"] = True
    elif variant == "told":
        content |= TOLD
    elif variant == "dosed":
        content |= DOSED
    return copy.deepcopy(content)


def made(
    content: Content, cards: Mapping[str, str], model: type[Experiment] = Experiment
) -> PreparedExperiment:
    text = json.dumps(content)
    for name, path in cards.items():
        text = text.replace(f'"{name}"', json.dumps(path))
    return prepare_experiment(load_for_run(model.model_validate(json.loads(text))), Sources(offline=True))


def rows_of(prepared: PreparedExperiment, block: Block, *, numbers: bool) -> list[Any]:
    """Return all rows that are drawn for a block, as cells with or without numbers see them."""

    def table(own: Table) -> tuple[Any, ...]:
        return own.digest, own.numbers.values.tobytes() if numbers and own.numbers is not None else None

    folds = draw_splits(prepared.datasets[block.dataset], block)
    return [
        (table(fold.train), {name: (table(own.seen), table(own.truth)) for name, own in fold.tests.items()})
        for fold in folds
    ]


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is known of a cell that was computed without a store."""

    key: str
    rows: list[Any]
    result: CellResult

    def answers(self, metrics: frozenset[str]) -> tuple[Any, ...]:
        """Return what the technique said, and the values of some metrics."""
        own = self.result
        values = [m for m in own.metrics if m.metric in metrics and m.test == "original"]
        return own.status, own.reason, _originals(own.counts), values

    def stored(self) -> tuple[Any, ...]:
        """Return all that a run hands over of it."""
        own = self.result
        values = sorted((*own.metrics, *own.frontier), key=repr)
        return own.status, own.reason, values, own.counts, own.convergence


def _originals(counts: Any) -> Any:
    """Return the counts of the original test, however many tests and attributes there are."""
    return counts.get("original")


def facts_of(prepared: PreparedExperiment, former: Mapping[str, str]) -> dict[Place, Facts]:
    evaluator = (Evaluator if prepared.experiment.tune is None else TuningEvaluator)(prepared)
    encoded = {entry.name for entry in prepared.experiment.classifiers if entry.encoding == "numbers"}
    found: dict[Place, Facts] = {}
    for block, cells in planned_cells(prepared):
        rows = [rows_of(prepared, block, numbers=numbers) for numbers in (False, True)]
        for cell, result in zip(cells, evaluator(block, cells), strict=True):
            names = block.dataset, block.bias, cell.technique, cell.classifier
            dataset, bias, technique, classifier = (former.get(name, name) for name in names)
            # A single gap is compared with the same rows without it.
            if block.hidden and len(prepared.experiment.hidden) > 1:
                bias = f"{bias}, {block.hidden} hidden"
            place = dataset, bias, block.level, block.repetition, technique, classifier
            found[place] = Facts(cell.key, rows[cell.classifier in encoded], result)
    return found


Computing = Callable[[str, str], tuple[dict[Place, Facts], Path]]


def computing(cards: Mapping[str, str], folder: Path) -> Computing:
    """Return what computes the experiment of a protocol once, and stores it in a folder."""

    @functools.cache
    def computed(protocol: str, variant: str) -> tuple[dict[Place, Facts], Path]:
        prepared, path = made(content_of(protocol, variant), cards), folder / f"{protocol} {variant}.sqlite"
        compute_again(prepared, path)
        return facts_of(prepared, {}), path

    return computed


@pytest.fixture(scope="module")
def before(cards: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Computing:
    return computing(cards, tmp_path_factory.mktemp("stores"))


def excused(path: str) -> bool:
    return any(path == own or path.startswith(own + ".") for own in MAY)


def hold(
    path: str, change: Change, protocol: str, before: Computing, cards: Mapping[str, str], folder: Path
) -> None:
    """Assert that keys change where rows or answers do, and that a used folder gives what a new one does."""
    old, store_path = before(protocol, change.variant)
    content = content_of(protocol, change.variant)
    change.apply(content)
    prepared = made(content, cards)
    new = facts_of(prepared, change.former)
    common = frozenset({"accuracy", "discrimination"})
    assert old.keys() & new.keys()
    for place in old.keys() & new.keys():
        was, now = old[place], new[place]
        differs = (was.rows, was.answers(common)) != (now.rows, now.answers(common))
        if differs:
            assert was.key != now.key, f"{path}, {protocol}: other numbers under the same key: {place}"
        elif not excused(path):
            assert was.key == now.key, f"{path}, {protocol}: the same numbers under another key: {place}"
    used = folder / f"{protocol}.sqlite"
    shutil.copy(store_path, used)
    outcome = compute_again(prepared, used)
    for own, (place, now) in zip(outcome.cells, new.items(), strict=True):
        kept = dataclasses.replace(own, counts=now.result.counts)  # which are not handed over
        assert Facts(own.key, [], kept).stored() == now.stored(), f"{path}, {protocol}: stale in {place}"


# Quick tests change each field in one of the protocols that know it, in turn; nightly ones in the others.
# What is told by day costs least with a holdout.
CASES = [
    pytest.param(path, protocol, marks=() if protocol == quick else pytest.mark.nightly)
    for turn, (path, changes) in enumerate(CHANGES.items())
    for protocols in [[name for name in PROTOCOLS if any(name in change.only for change in changes)]]
    for quick in ["data" if path.startswith("knows.") else protocols[turn % len(protocols)]]
    for protocol in protocols
]


@pytest.mark.parametrize(("path", "protocol"), CASES)
def test_a_changed_field_leaves_no_stale_number(
    path: str, protocol: str, before: Computing, cards: Any, tmp_path: Path
) -> None:
    for number, change in enumerate(CHANGES[path]):
        if protocol in change.only:
            (folder := tmp_path / str(number)).mkdir()
            hold(path, change, protocol, before, cards, folder)


@pytest.mark.parametrize("protocol", nightly_but("holdout", PROTOCOLS))
def test_edits_are_in_every_key(protocol: str, before: Computing, cards: Any) -> None:
    """So that what follows from an edit is never left to chance: keys differ where bias is planted."""
    old, _ = before(protocol, "")
    for path in ("edits.attribute", "edits.group", "edits.direction"):
        content = content_of(protocol)
        CHANGES[path][0].apply(content)
        new = facts_of(made(content, cards), {})
        assert {place[2] for place in old if old[place].key != new[place].key} == {0.6}, path
        assert all(old[place].rows != new[place].rows for place in old if place[2] > 0), path


# A change that finds each part of a cell's identity missing; where another part would notice it too, both.
FOUND_BY: dict[tuple[str, ...], tuple[str, int, str]] = {
    ("test", "score"): ("datasets.card", 0, "data"),
    ("steps",): ("edits.group", 0, "data"),
    ("network",): ("datasets.network.pseudo_count", 0, "network"),
    ("split",): ("holdout", 0, "data"),
    ("learning",): ("datasets.network.forbidden_edges", 0, "holdout"),
    ("tests",): ("tests", 0, "data"),
    ("paired_betas",): ("paired_betas", 0, "data"),
    ("numbers",): ("datasets.columns", 2, "data"),
    ("train_rows",): ("train_rows", 0, "data"),
    ("seed",): ("seed", 0, "data"),
    ("hidden",): ("hidden", 1, "data"),
    ("classifier",): ("classifiers.parameters", 0, "data"),
    ("technique",): ("techniques.parameters", 0, "data"),
}


@pytest.mark.parametrize("parts", nightly_but(("hidden",), FOUND_BY), ids="+".join)
def test_a_part_that_is_taken_out_of_the_key_is_found(
    parts: tuple[str, ...], cards: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, (path, number, protocol) = keys._identity, FOUND_BY[parts]
    change = CHANGES[path][number]

    def less(*given: Any) -> dict[str, Any]:
        found = whole(*given)
        entries = {name: found[name]["entry"] for name in ("technique", "classifier")}
        # Of techniques and classifiers the names stay, so that an experiment's cells differ.
        return {name: own for name, own in found.items() if name not in parts} | {"entries": entries}

    monkeypatch.setattr(keys, "_identity", less)
    (tmp_path / "before").mkdir()
    with pytest.raises(AssertionError, match="under the same key"):
        hold(path, change, protocol, computing(cards, tmp_path / "before"), cards, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("field", [own for own in Telling.model_fields if own not in UNHEARD])
def test_what_is_told_but_not_in_the_key_is_found(
    field: str, cards: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Telling, "key", lambda *_: {})
    (tmp_path / "before").mkdir()
    path, change = f"knows.{field}", CHANGES[f"knows.{field}"][0]
    with pytest.raises(AssertionError, match="under the same key"):
        hold(path, change, "folds", computing(cards, tmp_path / "before"), cards, tmp_path)


class _Dataset(DatasetEntry):
    lots: Option[int] = 0


class _Technique(TechniqueEntry):
    lots: Option[int] = 0


class _Classifier(ClassifierEntry):
    lots: Option[int] = 0


class _Optional(Experiment):
    """An experiment in which the protocol and each entry have an option more."""

    lots: Option[int] = 0
    noted: Free[str] = ""
    datasets: Derived[tuple[_Dataset, ...]]
    techniques: Derived[tuple[_Technique, ...]]
    classifiers: Derived[tuple[_Classifier, ...]]


def found(folder: Path, experiment: Experiment) -> tuple[tuple[str, ...], bool]:
    """Return how the results in a folder differ from an experiment, and whether some would be lost."""
    earlier = earlier_results(folder, experiment, {})
    return earlier.differing, earlier.lost


@pytest.mark.parametrize(
    ("path", "field", "affected"),
    [
        ((), "lots", {"none", "repair"}),
        (DATASET, "lots", {"none", "repair"}),
        (("techniques", 1), "lots", {"repair"}),
        (("classifiers", 0), "lots", {"none", "repair"}),
    ],
)
def test_an_option_that_is_declared_is_in_keys_and_tells_folders_apart(
    path: tuple[str | int, ...], field: str, affected: set[str], cards: Any, tmp_path: Path
) -> None:
    content = content_of("data")
    before, without = made(content, cards), made(content | {"noted": "free"}, cards, _Optional)
    assert keys_of(before) == keys_of(without), "older keys stay as they are"
    first(*path, lots=1)(content)
    after = made(content, cards, _Optional)
    new = keys_of(after)
    assert {place[1] for place, key in keys_of(before).items() if new[place] != key} == affected
    settings = json.loads(without.experiment.model_dump_json())
    (tmp_path / "manifest.json").write_text(json.dumps({"experiment": settings}))
    assert found(tmp_path, without.experiment.model_copy(update={"title": "Other"})) == ((), False)
    assert found(tmp_path, after.experiment) == (("other lots",), True)


def test_a_folder_of_a_version_without_an_option_has_its_default(cards: Any, tmp_path: Path) -> None:
    content = content_of("data")
    without = made(content, cards).experiment
    settings = json.loads(without.model_dump_json(exclude={"paired_betas"}))
    (tmp_path / "manifest.json").write_text(json.dumps({"experiment": settings}))
    assert found(tmp_path, without) == ((), False)
    first(paired_betas=True)(content)
    assert found(tmp_path, made(content, cards).experiment) == (("other paired_betas",), True)


@pytest.mark.parametrize("name", [n for n in list_declarations("experiments") if kind_of(n) is None])
def test_a_shipped_experiment_replaces_its_own_tables_without_a_note(name: str, tmp_path: Path) -> None:
    experiment = load_for_run(name).experiment
    written = json.dumps(settings_of(experiment))
    assert str(declaration_dir("experiments")) not in written
    (tmp_path / "manifest.json").write_text(json.dumps({"experiment": json.loads(written)}))
    assert found(tmp_path, experiment) == ((), False)


def test_a_field_that_declares_nothing_is_an_error() -> None:
    with pytest.raises(
        TypeError, match=r"Forgetful.lots does not declare[\s\S]*Option\[...\]: its value is in"
    ):

        class Forgetful(Experiment):
            lots: int = 0


def test_fields_that_are_in_keys_by_themselves_are_found_there(cards: Any) -> None:
    prepared = made(content_of("data") | {"paired_betas": True}, cards)
    (block, *_) = (block for block, _ in planned_cells(prepared))
    identity = keys.sample_identity(prepared, block)
    assert identity.items() >= {"seed": 3, "paired_betas": True}.items()


AXES = {"dataset", "bias", "beta", "repetition"}


def test_every_part_of_a_key_is_tried(cards: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: set[str] = set()
    whole = keys._identity

    def noted(*given: Any) -> dict[str, Any]:
        parts.update(found := whole(*given))
        return found

    monkeypatch.setattr(keys, "_identity", noted)
    more = {"tests": ["original", "biased"], "paired_betas": True}
    for protocol in PROTOCOLS:
        planned_cells(made(content_of(protocol, "numbers") | more, cards))
    planned_cells(made(content_of("data", "dosed") | {"hidden": [0.05]}, cards))
    assert parts == {*itertools.chain(*FOUND_BY), *AXES, "code"}  # which test_versions.py holds


@pytest.mark.parametrize("name", list_bias_kinds())
def test_every_parameter_of_every_kind_of_bias_is_in_the_key(name: str) -> None:
    kind: type[BiasKind] = list_bias_kinds()[name]
    (described,) = describe_bias(Bias((make_step(name, {}),)))
    assert set(described["parameters"]) == set(kind.model_fields)
