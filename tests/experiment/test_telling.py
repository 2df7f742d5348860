"""What techniques are told about a planted bias: the right facts, these alone, and the same for everybody."""

import dataclasses
import itertools
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.columns import DECISION_COUNTS
from benchmark.data.source import Sources
from benchmark.errors import BetabenchError, DeclinedError, TechniqueError
from benchmark.experiment import evaluate
from benchmark.experiment.draws import Split, draw_splits, told
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.export import decisions_frame, groups_frame
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.store import CellResult
from benchmark.experiment.telling import BiasEffect, Telling
from benchmark.metrics import GAP, WORST
from benchmark.techniques import Knowledge, get_technique
from benchmark.techniques.knowledge import FACTS
from tests.helpers.protocol import computed
from tests.helpers.protocol import made as made_of


def prepared(*techniques: Any, bias: Any = "label", plugins: tuple[str, ...] = (), **fields: Any) -> Any:
    """Return a small experiment on rows of German Credit's embedded network, which count as real."""
    given: dict[str, Any] = {
        "datasets": [{"card": "german", "bias": [bias]}],
        "techniques": ["none", *techniques],
        "betas": [0, 0.5],
        "paired_betas": True,
        "train": "data",
        "holdout": 0.3,
        "repetitions": 1,
        "seed": 3,
        "metrics": ["discrimination", "restoration_distance", "agreement"],
        **fields,
    }
    return made_of(plugins, **given)


def block_of(made: PreparedExperiment, level: float = 0.5, **fields: Any) -> Block:
    return next(
        b for b, _ in planned_cells(made) if b.level == level and b == dataclasses.replace(b, **fields)
    )


def fold_of(made: PreparedExperiment, block: Block) -> Split:
    return next(iter(draw_splits(made.datasets[block.dataset], block)))


def cell_of(made: PreparedExperiment, technique: str, level: float = 0.5) -> CellResult:
    """Return one cell of the first repetition, computed by itself."""
    for block, cells in planned_cells(made):
        if block.level == level:
            chosen = tuple(cell for cell in cells if cell.technique == technique)
            return next(iter(Evaluator(made)(block, chosen)))
    raise AssertionError(technique)


def result(cell: CellResult) -> bytes:
    """Return all of a cell's result but its time, as the store has it."""
    return repr(dataclasses.replace(cell, seconds=0.0)).encode()


# --------------------------------------------------------------------------------------------- right facts


def planted_rates(made: PreparedExperiment, block: Block) -> tuple[float, float]:
    """Return both groups' recorded rates, by planting the bias in all rows again and again."""
    data = made.datasets[block.dataset]
    bias, beta = data.biases[block.bias], data.beta_of(block.bias, block.level)
    rates = []
    for seed in range(60):
        rows = bias.plant_in_rows(data.rows, beta, np.random.default_rng(seed))
        deprived = data.test.deprived[rows.positions]
        rates.append([rows.table.y[deprived].mean(), rows.table.y[~deprived].mean()])
    return tuple(np.mean(rates, axis=0))


BOTH = {
    "name": "both",
    "steps": [{"kind": "under_representation", "keep_unfavorable": 0.8}, {"kind": "label"}],
}
KINDS: dict[str, tuple[Any, str, float]] = {  # the bias, its kind, and the sign of the gap
    "label": ("label", "label", 1),
    "borderline": ({"kind": "borderline"}, "label", 1),
    "selection": ({"kind": "selection"}, "selection", 1),
    "left out, then wrong": (BOTH, "label", 1),
    "measurement": ({"kind": "measurement", "column": "housing"}, "label", 0),
    "negative": ({"kind": "label", "rate": 0, "rate_unfavorable": "beta"}, "label", -1),
    "of the favored": ({"kind": "label", "group": "favored"}, "label", 0),
}


@pytest.mark.parametrize("name", KINDS)
def test_facts_are_those_of_the_planted_bias(name: str) -> None:
    bias, kind, sign = KINDS[name]
    made = prepared(bias=bias)
    (data,) = made.datasets.values()
    block, y, deprived = block_of(made), data.test.y, data.test.deprived
    recorded, true = planted_rates(made, block), (y[deprived].mean(), y[~deprived].mean())
    planted = data.told(block)
    assert planted.recorded == pytest.approx(recorded, abs=0.006)
    assert planted.true == pytest.approx(true, abs=1e-9)
    everything = dataclasses.replace(get_technique("none"))
    object.__setattr__(everything, "knows", FACTS)
    fold = fold_of(made, block)
    known = next(told(Telling(fact="clean_rows"), everything, planted, fold, y, 0))
    assert known.told == FACTS
    assert (known.kind, np.sign(round(known.gap, 9))) == (kind, sign)
    assert known.gap == pytest.approx(true[0] - recorded[0], abs=0.006)
    assert known.direction is (sign >= 0)
    assert known.rates == pytest.approx(true, abs=1e-9)
    assert known.bounds == pytest.approx((true[0] - 0.05, true[0] + 0.05))
    clean = data.told(block_of(made, 0.0))
    assert (clean.kind, clean.gap) == (planted.kind, pytest.approx(0, abs=1e-9))


def test_the_truth_is_before_hidden_bias() -> None:
    made = prepared(betas=[], doses=[0.05], hidden=[0, 0.1])
    (data,) = made.datasets.values()
    y, deprived = data.test.y, data.test.deprived
    for hidden, level in itertools.product((0, 0.1), (0, 0.05)):
        planted = data.told(block_of(made, level, hidden=hidden))
        assert planted.gap == pytest.approx(hidden + level, abs=1e-6)
        assert planted.true[0] == pytest.approx(y[deprived].mean())
    block = block_of(made, 0.0, hidden=0.1)
    fold = fold_of(made, block)
    refusal = get_technique("refusal_weights")
    wrong = [
        k.refusals.favorable.mean() for k in told(Telling(fact="refusals"), refusal, planted, fold, y, 0)
    ]
    assert min(wrong) > 0  # though nothing was planted on top


def test_what_is_told_has_the_stated_errors() -> None:
    planted, fold, y = BiasEffect("label", (0.3, 0.5), (0.4, 0.6)), None, None

    def numbers(technique: str, **fields: Any) -> dict[str, Any]:
        (known,) = told(Telling(**fields), get_technique(technique), planted, fold, y, 0)
        return vars(known)

    assert numbers("gap_weights", fact="gap") == {"kind": "label", "gap": pytest.approx(0.1)}
    half = numbers("gap_weights", fact="gap", factor=0.5, kind="wrong")
    assert half == {"kind": "selection", "gap": pytest.approx(0.05)}
    assert numbers("gap_weights", fact="gap", feared=-0.2)["gap"] == -0.2
    rates = numbers("rate_weights", fact="rates", deprived=0.05, favored=0.5)
    assert rates == {"rates": pytest.approx((0.45, 1.0))}
    bounds = numbers("rate_bounds", fact="bounds", deprived=-0.1, width=0.4)["bounds"]
    assert bounds == pytest.approx((0, 0.7))


@pytest.mark.real_data
def test_facts_of_what_people_judged(data_dir: Path) -> None:
    experiment = Experiment(
        datasets=[{"card": "school_performance", "bias": ["judged"]}],
        techniques=["none", "gap_weights", "refusal_weights"],
        betas=[0, 1],
        paired_betas=True,
        train="data",
        folds=3,
        repetitions=1,
        seed=3,
    )
    made = prepare_experiment(load_for_run(experiment), Sources(data_dir, offline=True))
    (data,) = made.datasets.values()
    deprived = data.test.deprived
    planted = data.told(block_of(made, 1.0))
    assert planted.kind == "label"
    assert planted.true[0] == pytest.approx(data.test.y[deprived].mean())
    rows = data.biases["judged"].plant_in_rows(data.rows, 1.0, np.random.default_rng(0))
    assert planted.recorded[0] == pytest.approx(rows.table.y[deprived[rows.positions]].mean())
    fold = fold_of(made, block_of(made, 1.0))
    refusals = get_technique("refusal_weights")
    for known in told(Telling(fact="refusals"), refusals, planted, fold, data.test.y, 3):
        positions = fold.after_bias[known.refusals.rows]
        assert (known.refusals.favorable == data.test.y[positions]).all()
    assert cell_of(made, "refusal_weights", 1.0).status == "ok"


@pytest.mark.real_data
def test_nobody_re_examines_the_rows_of_an_audit(data_dir: Path) -> None:
    experiment = Experiment(
        datasets=[{"card": "ru_audit", "audit": True, "bias": ["audited"]}],
        techniques=["none", "gap_weights", "refusal_weights"],
        betas=[0, 1],
        paired_betas=True,
        train="data",
        folds=3,
        repetitions=1,
        seed=3,
    )
    made = prepare_experiment(load_for_run(experiment), Sources(data_dir, offline=True))
    assert cell_of(made, "gap_weights", 1.0).status == "ok"
    cell = cell_of(made, "refusal_weights", 1.0)
    assert (cell.status, "cannot tell their true labels" in cell.reason) == ("skipped", True)


# ------------------------------------------------------------------------------------------- these alone


SPIES = """
from benchmark.techniques import Predictor, register
from benchmark.techniques.restoring import Restorer

HEARD = []
SETS = [(), ("gap",), ("kind", "gap"), ("direction",), ("rates",), ("bounds", "kind"), ("refusals",)]
SETS += [("refusals", "direction"), ("clean_rows",), ("direction", "kind", "clean_rows")]


class Spy(Restorer):
    summary, reference, version = "hears", "none", "1"
    reads = ()

    def _prepare(self, train, tools):
        HEARD.append((self.name, self.knows, set(vars(tools.known))))
        for fact in self.reads:
            getattr(tools.known, fact)
        return self.weighted(train, 1.0 + train.y, tools)


class Own(Spy):
    def fit(self, train, tools):
        HEARD.append((self.name, self.knows, set(vars(tools.known))))
        return Predictor(lambda test: test.deprived)


def declared(base, number, facts, reads=()):
    fields = {"name": f"{base.__name__.lower()}_{number}", "knows": facts, "reads": reads}
    register(type("Made", (base,), {"__module__": __name__, **fields}))


for number, facts in enumerate(SETS):
    declared(Spy, number, facts)
    declared(Own, number, facts)
declared(Spy, "reading", ("gap",), reads=("rates",))
declared(Spy, "blind", (), reads=("gap",))
"""


def test_a_technique_hears_what_it_declares_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "spies.py").write_text(SPIES)
    spies = [f"{base}_{number}" for base in ("spy", "own") for number in range(10)]
    spies += ["spy_reading", "spy_blind"]
    two = {"fact": "refusals", "draws": 2}
    made = prepared(*spies, plugins=(str(tmp_path / "spies.py"),), knows=[two])
    (spy,) = {type(technique) for technique in made.techniques.values() if technique.name == "spy_1"}
    heard = sys.modules[spy.__module__].HEARD
    for world in (made, pickle.loads(pickle.dumps(made))):
        heard.clear()
        cells = [cell for block, own in planned_cells(world) for cell in Evaluator(world)(block, own)]
        assert {name for name, _, _ in heard} == {*spies}
        assert all(set(knows) == facts for _, knows, facts in heard)
        said = {cell.technique: (cell.status, cell.reason) for cell in cells}
        assert [name for name, (status, _) in said.items() if status != "ok"] == ["spy_blind", "spy_reading"]
        status, reason = said["spy_reading"]
        assert status == "failed"
        assert "reads the 'rates' of the bias, which it was not told" in reason
        assert "Expected: 'rates' among the facts that it declares in 'knows'. Got: gap." in reason
        assert "Got: nothing. What to do: declare the fact, or do without it" in said["spy_blind"][1]
        # A fit of its own is not replaced by the halves of another, whatever the number of draws.
        own = [cell for cell in cells if cell.technique == "own_6"]
        assert [m.value for cell in own for m in cell.metrics if m.metric == "discrimination"] == [-1, -1]


Truth = Callable[..., tuple[BiasEffect, Any]]


def with_truth(monkeypatch: pytest.MonkeyPatch, change: Truth) -> None:
    """Let techniques be told of another truth, while scores stay those of the right one."""

    def other(own: Telling, technique: Any, planted: BiasEffect, fold: Split, true: Any, seed: int) -> Any:
        return told(own, technique, *change(own, technique, planted, fold, true, seed), seed)

    monkeypatch.setattr(evaluate, "told", other)


def test_another_truth_changes_nothing_for_whom_it_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("gap_weights", "refusal_weights")
    made = prepared(*names)
    before = {name: result(cell_of(made, name)) for name in names}

    def same_gap(_: Any, __: Any, planted: BiasEffect, fold: Split, true: Any, seed: int) -> Any:
        (recorded, _), (rate, _) = planted.recorded, planted.true
        return BiasEffect(planted.kind, (recorded, 0.1), (rate, 0.99)), fold, ~true

    def turned(*, drawn: bool) -> Truth:
        def change(own: Any, technique: Any, planted: BiasEffect, fold: Split, true: Any, seed: int) -> Any:
            looked_at = np.zeros(len(true), dtype=bool)
            for known in told(own, technique, planted, fold, true, seed):
                looked_at[fold.after_bias[known.refusals.rows]] = True
            assert 50 < looked_at.sum() < len(looked_at) / 2
            true = np.where(looked_at == drawn, ~true, true)
            return BiasEffect("selection", (0.1, 0.1), (0.9, 0.9)), fold, true

        return change

    with_truth(monkeypatch, same_gap)
    assert result(cell_of(made, "gap_weights")) == before["gap_weights"]
    with_truth(monkeypatch, turned(drawn=False))
    assert result(cell_of(made, "refusal_weights")) == before["refusal_weights"]
    with_truth(monkeypatch, turned(drawn=True))
    assert result(cell_of(made, "refusal_weights")) != before["refusal_weights"]


# ---------------------------------------------------------------------------------------- re-examined rows


@pytest.mark.parametrize("protocol", [{}, {"holdout": None, "folds": 3}, {"train_rows": 300}])
def test_refusals_are_drawn_without_replacement_and_nested(protocol: dict[str, Any]) -> None:
    made = prepared(**protocol)
    block = block_of(made)
    (data,) = made.datasets.values()
    both = get_technique("refusal_weights")
    object.__setattr__(both, "knows", ("refusals", "clean_rows"))
    planted, folds = data.told(block), list(draw_splits(data, block))

    def drawn(fold: Split, **fields: Any) -> list[Knowledge]:
        own = Telling(fact="clean_rows", **fields)
        return list(told(own, both, planted, fold, data.test.y, made.experiment.seed))

    for fold in folds:
        true = data.test.y[fold.after_bias]
        refused = fold.train.deprived & ~fold.train.y
        few, more = drawn(fold, m=20), drawn(fold, m=60)
        errs, more_err = drawn(fold, m=60, wrong=0.1), drawn(fold, m=60, wrong=0.3)
        everybody = drawn(fold, m=10**6, draws=1)[0]
        assert {*everybody.refusals.rows} == {*np.flatnonzero(refused)}
        assert {*everybody.clean_rows.rows} == {*range(len(true))}
        assert len(few) == len(more) == 20
        assert len({tuple(own.refusals.rows) for own in few}) == 20, "draws differ"
        for drawings in zip(few, more, errs, more_err, strict=True):
            for fact, asked in (("refusals", refused), ("clean_rows", np.ones(len(true), bool))):
                small, large, one, three = (getattr(own, fact) for own in drawings)
                assert len(small) == 20
                assert len({*large.rows}) == len(large) == min(60, asked.sum())
                assert asked[large.rows].all()
                assert (large.favorable == true[large.rows]).all()
                for own, part in ((small, 20), (one, 60), (three, 60)):
                    assert (own.rows == large.rows[:part]).all()
                wrong, more_wrong = (own.favorable != large.favorable for own in (one, three))
                assert (wrong <= more_wrong).all()
        for share, drawings in ((0.1, errs), (0.3, more_err)):
            wrong = [own.refusals.favorable != true[own.refusals.rows] for own in drawings]
            assert np.mean(wrong) == pytest.approx(share, abs=0.04)


OPTIMIZING = """
import numpy as np

from benchmark.techniques import Convergence, Prepared, register
from benchmark.techniques.restoring import Restorer


@register
class Optimizing(Restorer):
    name, summary, reference, version = "optimizing", "optimizes", "none", "1"
    knows = ("refusals",)

    def _prepare(self, train, tools):
        return Prepared(train, convergence=Convergence(7, 0.0, 1e-6))
"""


def test_cells_that_share_a_model_report_its_convergence(tmp_path: Path) -> None:
    (tmp_path / "optimizing.py").write_text(OPTIMIZING)
    few, more = ({"fact": "refusals", "name": f"m{m}", "m": m, "draws": 2} for m in (5, 9))
    made = prepared("optimizing", plugins=(str(tmp_path / "optimizing.py"),), knows=[few, more])
    block, cells = next(own for own in planned_cells(made) if own[0].level == 0.5)
    told_one = tuple(cell for cell in cells if cell.technique.startswith("optimizing"))
    for order in (told_one, told_one[::-1]):
        assert [own.convergence and own.convergence.steps for own in Evaluator(made)(block, order)] == [7, 7]


def test_rows_of_a_network_cannot_be_examined() -> None:
    made = prepared("gap_weights", "refusal_weights", train="network", holdout=None)
    assert cell_of(made, "gap_weights").status == "ok"
    cell = cell_of(made, "refusal_weights")
    assert cell.status == "skipped"
    assert "Only real rows can be looked at again. Expected: real rows to train on" in cell.reason


AVERAGED = ("discrimination", "restoration_distance", "agreement")


def values_of(cell: CellResult) -> dict[tuple[str, int | None], float]:
    assert cell.status == "ok", cell.reason
    return {(m.metric, m.fold): m.value for m in cell.metrics if m.metric in AVERAGED and m.value is not None}


@pytest.mark.parametrize("protocol", [{}, {"holdout": None, "folds": 3}], ids=["holdout", "folds"])
def test_means_over_draws_are_means_of_single_draws(
    protocol: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = prepared("refusal_weights", knows=[{"fact": "refusals", "m": 20, "draws": 4}], **protocol)
    together = cell_of(made, "refusal_weights")
    single = []
    for draw in range(4):

        def one(*given: Any, draw: int = draw) -> Iterator[Knowledge]:
            return itertools.islice(told(*given), draw, draw + 1)

        monkeypatch.setattr(evaluate, "told", one)
        single.append(cell_of(made, "refusal_weights"))
    apart = [values_of(cell) for cell in single]
    assert len({tuple(own.values()) for own in apart}) > 1
    n_folds = 4 if protocol else 1  # with that of all folds together
    assert len(values_of(together)) == len(AVERAGED) * n_folds
    for key, value in values_of(together).items():
        assert value == pytest.approx(np.mean([own[key] for own in apart]), abs=1e-12), key
    frame, frames = decisions_frame([together]), [decisions_frame([cell]) for cell in single]
    people = [own[list(DECISION_COUNTS)].to_numpy(dtype=float) for own in frames]
    assert frame[list(DECISION_COUNTS)].to_numpy() == pytest.approx(np.mean(people, axis=0))
    assert list(frame["fold"]) == list(frames[0]["fold"])


def test_groups_count_each_person_once() -> None:
    crossed = {"card": "german", "bias": ["label"], "sensitive": ["age", "housing"]}
    made = prepared("refusal_weights", datasets=[crossed], smallest_group=10)
    cells = [cell_of(made, name) for name in ("none", "refusal_weights")]
    none, drawn = (groups_frame(made, [cell]).set_index(["attribute", "group", "metric"]) for cell in cells)
    single = [row for row in none.index if row[1] not in (WORST, GAP)]
    assert len(single) > 10
    assert (drawn.loc[single, "n"] == none.loc[single, "n"]).all()


def test_stored_cells_are_scored_again_and_not_computed_again(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"knows": ["gap", {"fact": "refusals", "draws": 3}], "holdout": None, "folds": 3}
    names = ("gap_weights", "refusal_weights")
    more = {**fields, "metrics": ["discrimination", "restoration_distance", "agreement", "precision"]}
    first = computed(prepared(*names, **fields), tmp_path / "used.sqlite")
    again = computed(prepared(*names, **more), tmp_path / "used.sqlite")
    new = computed(prepared(*names, **more))
    assert first.computed == new.computed > again.computed == 0
    for old, own in zip(again.cells, new.cells, strict=True):
        assert old.key == own.key
        assert sorted(old.metrics, key=repr) == sorted(own.metrics, key=repr)


# ----------------------------------------------------------------------------------------------- an axis


def names_of(made: PreparedExperiment) -> dict[str, str]:
    return {entry.name: entry.full_title for entry in made.experiment.techniques if entry.told}


def test_each_telling_is_an_entry() -> None:
    half = {"fact": "gap", "name": "half", "factor": 0.5}
    err = {"fact": "refusals", "name": "err", "wrong": 0.05, "title": "sloppy examiners"}
    other = {"technique": "gap_weights", "name": "other", "parameters": {"hide_group": True}}
    made = prepared("gap_weights", "rate_weights", "refusal_weights", knows=["gap", half, err])
    assert names_of(made) == {
        "gap_weights": "Gap weights (told the gap)",
        "gap_weights_half": "Gap weights (told half the gap)",
        "refusal_weights_err": "Refusal weights (told sloppy examiners)",
        "rate_weights": "Rate weights (told the rates)",  # no telling is for it
    }
    made = prepared("gap_weights", other, "reweighing", knows=["gap", {**half, "only": ["other"]}])
    assert {*names_of(made)} == {"gap_weights", "other", "other_half"}
    entries = [entry for entry in made.experiment.techniques if not entry.refit]
    assert [entry.knowledge for entry in entries] == ["nothing"] * 2 + ["the gap"] * 2 + ["half the gap"]
    assert load_for_run(made.experiment).experiment == made.experiment
    written = made.experiment.model_dump(mode="json")
    assert Experiment.model_validate(written) == made.experiment


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"fact": "gap", "factor": 2, "kind": "wrong"}, "twice the gap, wrong kind"),
        ({"fact": "gap", "factor": 1.5}, "1.5 times the gap"),
        ({"fact": "gap", "feared": 0.05}, "a gap of 0.05"),
        ({"fact": "rates", "deprived": 0.05}, "the rates, +0.05 and +0"),
        ({"fact": "bounds", "deprived": -0.1}, "the rate -0.1 ±0.05"),
        ({"fact": "refusals", "m": 10, "wrong": 0.1}, "10 refusals, 10 % wrong"),
        ({"fact": "clean_rows", "title": "a few rows"}, "a few rows"),
    ],
)
def test_a_telling_has_words(fields: dict[str, Any], words: str) -> None:
    assert Telling(**fields).words == words


ERRORS: dict[str, tuple[list[Any], str]] = {
    "no fact": (["gapp"], "'gap'"),
    "another fact's field": ([{"fact": "gap", "m": 5}], "'m' says nothing of the fact 'gap'"),
    "one name": (["gap", "gap"], "the name 'gap' is used twice"),
    "two gaps": ([{"fact": "gap", "factor": 2, "feared": 0.1}], "'factor' and 'feared' both say which gap"),
    "mostly wrong": ([{"fact": "refusals", "wrong": 0.6}], "less than 0.5"),
    "no entry": ([{"fact": "gap", "only": ["gap_wheights"]}], "not among the techniques: none, gap_weights"),
    "not needed": ([{"fact": "gap", "only": ["none"]}], "Expected: gap_weights. Got: none."),
}


@pytest.mark.parametrize("wrong", ERRORS)
def test_a_wrong_telling_is_an_error(wrong: str) -> None:
    knows, said = ERRORS[wrong]
    with pytest.raises((BetabenchError, ValueError), match=r"knows") as caught:
        prepared("gap_weights", knows=knows)
    assert said in str(caught.value)


def test_a_technique_that_was_told_nothing_says_what_it_needs() -> None:
    made = prepared()
    fold = fold_of(made, block_of(made))
    tools = Evaluator(made)._tools  # what the harness hands over before anything is told
    cell = planned_cells(made)[0][1][0]
    shared = Evaluator(made)._shared(fold, fold.train)
    with pytest.raises(DeclinedError) as caught:
        get_technique("gap_weights").fit(fold.train, tools(cell, "gap_weights", shared))
    assert str(caught.value) == (
        "gap_weights has to be told something about the bias. Expected: kind, gap. Got: no kind. What to do: "
        "name what it may know: 'knows' in an experiment file, told=... in Python."
    )
    with pytest.raises(TechniqueError, match=r"'gapp' is no fact about a bias\. Expected: direction, kind,"):
        Knowledge(gapp=0.1)
