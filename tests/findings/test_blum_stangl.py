"""The made-up worlds of experiments/blum_stangl.toml, and what theory predicts in them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from benchmark.bias import Rows
from benchmark.cli import main
from benchmark.columns import RESULT_COLUMNS
from benchmark.data import Table
from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.experiment.plan import load_experiment
from benchmark.network.learn import learn_network
from benchmark.statistics.recovery import recoveries
from benchmark.text.writing import plain_or_packed

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "blum_stangl"
EXPERIMENT = load_experiment("blum_stangl")
WORLDS = [entry.name for entry in EXPERIMENT.datasets]
TECHNIQUES = ("eg_tpr", "to_tpr", "eg_odds", "reweighing_favored", "reweighing")
NOISE = 0.2

Array = NDArray[np.float64]


@functools.cache
def population(world: str) -> Table:
    return load_dataset(ROOT / "experiments" / "equal_rates" / f"{world}.toml").table


def masses(table: Table) -> Array:
    """Return the share of each group, cell of features and label, shape (2, 12, 2)."""
    features = [table.schema.index(name) for name in ("skill", "degree", "town")]
    cell = np.ravel_multi_index(table.codes[:, features].T, (3, 2, 2))
    shares = np.zeros((2, 12, 2))
    np.add.at(shares, (table.deprived.astype(int), cell, table.y.astype(int)), 1 / len(table))
    return shares


def biased(world: str, bias: str, beta: float) -> Array:
    """Return the masses of the population with a bias planted, exactly."""
    table = population(world)
    found = masses(table)
    someone = [int(np.argmax(table.deprived == group)) for group in (False, True)]
    [steps] = [entry.to_bias().steps for entry in EXPERIMENT.datasets[0].bias if entry.name == bias]
    for step in steps if beta else ():
        chances = step.chances(Rows.of(table), beta)  # the same for all rows of a group
        if chances.left_out is not None:
            found = found * (1 - chances.left_out[someone][:, None, :])
        if chances.turned is not None:
            turned = found * chances.turned[someone][:, None, :]
            found = found - turned + turned[:, :, ::-1]
    return found / found.sum()


def optimum(mass: Array, labels: tuple[int, ...] = ()) -> Array:
    """Return the chances of a favorable answer, shape (2, 12), that err least on ``mass``.

    Of ``labels`` the groups are answered favorably at the same rate.
    """
    cost = mass[:, :, 0] - mass[:, :, 1]
    rates = mass / mass.sum(axis=1, keepdims=True)
    equal = [np.stack([rates[0, :, label], -rates[1, :, label]]).ravel() for label in labels]
    found = linprog(
        cost.ravel(),
        A_eq=np.array(equal) if equal else None,
        b_eq=np.zeros(len(equal)) if equal else None,
        bounds=(0, 1),
        method="highs-ds",
    )
    return np.asarray(found.x).reshape(2, 12)


def reweighed(mass: Array, rate: str) -> Array:
    cells = mass.sum(axis=1)
    if rate == "favored":
        weight = np.ones((2, 2))
        weight[1, 1] = cells[0, 1] / cells[0, 0] * cells[1, 0] / cells[1, 1]
    else:
        weight = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / cells
    return mass * weight[:, None, :]


ANSWERS: dict[str, Callable[[Array], Array]] = {
    "none": optimum,
    "eg_tpr": lambda mass: optimum(mass, (1,)),
    "to_tpr": lambda mass: optimum(mass, (1,)),
    "eg_odds": lambda mass: optimum(mass, (0, 1)),
    "reweighing_favored": lambda mass: optimum(reweighed(mass, "favored")),
    "reweighing": lambda mass: optimum(reweighed(mass, "common")),
}
"""What each technique would answer if it found its optimum."""


def accuracy(world: str, answers: Array) -> float:
    clean = masses(population(world))
    return float((clean[:, :, 1] * answers + clean[:, :, 0] * (1 - answers)).sum())


def recovered(world: str, bias: str, beta: float, technique: str, n_rows: int | None = None) -> float:
    """Return the recovery by a technique's optimum on the biased population, or on 100 samples of it."""
    mass = biased(world, bias, beta)
    nothing = accuracy(world, optimum(mass))
    rng = np.random.default_rng(0)
    trained = [mass]
    if n_rows is not None:
        trained = [rng.multinomial(n_rows, mass.ravel()).reshape(mass.shape) / n_rows for _ in range(100)]
    reached = np.mean([accuracy(world, ANSWERS[technique](own)) for own in trained])
    return float((reached - nothing) / (1 - NOISE - nothing))


SCENARIOS = [
    (world, bias, beta)
    for world in WORLDS
    for bias in (entry.name for entry in EXPERIMENT.datasets[0].bias)
    for beta in EXPERIMENT.betas
    if beta
]


@pytest.mark.parametrize("world", WORLDS)
def test_the_worlds_are_what_the_theorems_assume(world: str) -> None:
    share = masses(population(world))
    groups = share.sum(axis=(1, 2))
    assert share[:, :, 1].sum(axis=1) / groups == pytest.approx([0.38, 0.38])
    favorable = share[:, :, 1] / share.sum(axis=2)
    assert np.minimum(favorable, 1 - favorable) == pytest.approx(np.full((2, 12), NOISE))
    qualified = (share.sum(axis=2) * (favorable > 0.5)).sum(axis=1) / groups
    assert qualified == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize("world", WORLDS)
def test_what_is_learned_of_a_world_is_the_world(world: str) -> None:
    card = load_card(ROOT / "experiments" / "equal_rates" / f"{world}.toml")
    table = population(world)
    network = learn_network(table, card.network, required_edges=card.required_edges)
    rows, counts = np.unique(table.codes, axis=0, return_counts=True)
    learned = np.ones(len(rows))
    for child, parents in enumerate(network.parents):
        sizes = [table.schema.cardinalities[parent] for parent in parents]
        configuration = np.ravel_multi_index(tuple(rows[:, list(parents)].T), sizes) if parents else 0
        learned *= network.cpts[child][configuration, rows[:, child]]
    assert learned == pytest.approx(counts / len(table))


@pytest.mark.parametrize(("world", "bias", "beta"), SCENARIOS)
def test_equal_opportunity_is_predicted_to_recover_where_the_theorem_says(
    world: str, bias: str, beta: float
) -> None:
    keep_favorable, keep_unfavorable, turned = {
        "under_representation": (1 - beta, 1.0, 0.0),
        "label": (1.0, 1.0, beta),
        "both": (1 - 0.2 * beta, 1 - 0.8 * beta, 0.8 * beta),
    }[bias]
    deprived = float(population(world).deprived.mean())
    clear, favorable = 1 - 2 * NOISE, keep_favorable * (1 - 2 * turned)
    conditions = (
        (1 - deprived) * clear + deprived * ((1 - NOISE) * favorable - NOISE * keep_unfavorable),
        (1 - deprived) * clear + deprived * ((1 - NOISE) * keep_unfavorable - NOISE * favorable),
    )
    best = accuracy(world, ANSWERS["eg_tpr"](biased(world, bias, beta)))
    recovers = best == pytest.approx(1 - NOISE)
    assert recovers == (min(conditions) > 0)


def measured() -> pd.DataFrame:
    """Return the recovery of accuracy on the original data, by world, bias, level and technique."""
    results = pd.read_csv(plain_or_packed(FOLDER / "results.csv"))
    found = recoveries(results[results["metric"] == "accuracy"], "none")
    return found.set_index(["dataset", "bias", "beta", "technique"])


def verdict(low: float, high: float, prediction: float) -> str:
    """Return whether a prediction holds, by the interval of the recovery and the rule of the experiment."""
    if low <= 0.9 <= high:
        return "?"
    return "holds" if (low > 0.9) == (prediction > 0.9) else "fails"


def table_of_recoveries() -> Iterator[tuple[str, str]]:
    """Yield how the row of each scenario begins."""
    found = measured()
    for world, bias, beta in SCENARIOS:
        cells = []
        for technique in TECHNIQUES:
            row = found.loc[world, bias, beta, technique]
            if row["reason"]:
                cells.append("-")
                continue
            prediction = recovered(world, bias, beta, technique)
            low, high = row["recovery_low"], row["recovery_high"]
            shown = f"{row['recovery']:.2f} [{low:.2f}, {high:.2f}]"
            cells.append(f"{prediction:.2f}: {shown} {verdict(low, high, prediction)}")
        if set(cells) != {"-"}:
            yield f"| `{world}` | {bias} | {beta:g} | " + " | ".join(cells) + " | ", ""


def table_of_samples() -> Iterator[tuple[str, str]]:
    """Yield how rows begin and end: what equal opportunity recovers at best on samples of three sizes."""
    found = measured()
    for world, bias, beta in SCENARIOS:
        row = found.loc[world, bias, beta, "eg_tpr"]
        if not row["reason"] and recovered(world, bias, beta, "eg_tpr") > 0.9:
            best = (f"{recovered(world, bias, beta, 'eg_tpr', n):.2f}" for n in (20_000, 200_000, 2_000_000))
            yield f"| `{world}` | {bias} | {beta:g} | ", f"| {' / '.join(best)} |"


@pytest.mark.parametrize(
    "table", [table_of_recoveries, pytest.param(table_of_samples, marks=pytest.mark.nightly)]
)
def test_the_findings_are_what_was_measured(table: Callable[[], Iterator[tuple[str, str]]]) -> None:
    text = (FOLDER / "FINDINGS.md").read_text(encoding="utf-8").splitlines()
    for begin, end in table():
        assert any(line.startswith(begin) and line.endswith(end) for line in text), begin


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.nightly
def test_computing_again_gives_the_committed_numbers(tmp_path: Path) -> None:
    words = [
        "run",
        "--experiment",
        "blum_stangl",
        "--datasets",
        "apart",
        "--betas",
        "0.9",
        "--repetitions",
        "1",
    ]
    words += ["--techniques", "none", "reweighing_favored", "eg_tpr", "--workers", "1", "--no-figures"]
    main([*words, "--offline", "--output", str(tmp_path)])
    again, committed = (
        pd.read_csv(path, dtype={"value": str}).set_index(list(RESULT_COLUMNS[:-1]))["value"]
        for path in (tmp_path / "results.csv", plain_or_packed(FOLDER / "results.csv"))
    )
    assert len(again) >= 3 * 3 * 7
    pd.testing.assert_series_equal(again, committed.loc[again.index])
