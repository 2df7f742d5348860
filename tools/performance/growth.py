"""How time and memory grow with rows, attributes and techniques.

Everything runs in processes of its own, so that their peaks of memory are theirs. A contestant is a step of
the work; there is nothing to compare it with but itself at another size. Seconds are processor time of the
one thread that works, which other programs disturb least.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.data.card import load_card
from benchmark.data.card_parts import NetworkSettings
from benchmark.data.source import Sources
from benchmark.data.table import Column, Schema, Table
from benchmark.experiment.entries import TechniqueEntry
from benchmark.experiment.evaluate import Cell, Evaluator
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.plan import load_experiment, plan_blocks
from benchmark.experiment.prepare import embedded_network_path, prepare_experiment
from benchmark.experiment.scoring import Scorer
from benchmark.network.bif import read_bif
from benchmark.network.learn import learn_network
from benchmark.network.model import Network, sample
from benchmark.seeding import generator
from benchmark.techniques import Tools, get_technique
from tools.performance.child import in_own_process, own_peak

__all__ = ["attributes", "measure", "rows", "techniques"]

ROWS = tuple(10**k for k in range(3, 8))
ATTRIBUTES = (5, 10, 20, 30, 40, 50, 60)
TECHNIQUES = (1, 2, 5, 10, 15, 20, 25)
ATTRIBUTE_ROWS = 20_000
COUNTED = ("paper", "rates", "fairlearn", "disparities", "aif360")

Steps = dict[str, float]


def measure(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure every growth in turn, small sizes first."""
    for n_rows in ROWS[:2] if quick else ROWS:
        for repetition in range(1 if quick or n_rows > 10**6 else 3):
            yield from _steps("rows", n_rows, repetition, in_own_process("growth:rows", n_rows=n_rows))
    for repetition in range(1 if quick else 3):
        for count in ATTRIBUTES[:2] if quick else ATTRIBUTES:
            arguments = {"count": count, "n_rows": 2_000 if quick else ATTRIBUTE_ROWS}
            yield from _steps(
                "attributes", count, repetition, in_own_process("growth:attributes", **arguments)
            )
    for repetition in range(1 if quick else 3):
        for count in TECHNIQUES[:2] if quick else TECHNIQUES:
            found = in_own_process("growth:techniques", count=count, n_rows=1_000 if quick else None)
            yield from _steps("techniques", count, repetition, found)


def _steps(case: str, size: int, repetition: int, found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for step, seconds in found["seconds"].items():
        yield {
            "part": "growth",
            "case": case,
            "contestant": step,
            "size": size,
            "repetition": repetition,
            "seconds": seconds,
            "bytes": found["bytes"] if step == "total" else "",
            "note": found.get("note", ""),
        }


def rows(n_rows: int) -> dict[str, Any]:
    """Draw a training and a test sample of the Adult network, train C4.5 and score it."""
    network = _adult()
    _sample_fit_evaluate(network, 100)  # compiles
    before = own_peak()
    seconds, facts = _sample_fit_evaluate(network, n_rows)
    return {
        "seconds": seconds,
        "bytes": own_peak(),
        "note": f"{facts}; {_mib(before)} MiB held before, by imports and compiled code",
    }


def attributes(count: int, n_rows: int) -> dict[str, Any]:
    """Learn a random network of so many attributes from a sample of it, and draw, train and score."""
    network = random_network(count)
    _sample_fit_evaluate(network, 100)
    learn_network(sample(random_network(5), 100, generator(0, purpose="growth")), NetworkSettings())
    data = sample(network, n_rows, generator(0, purpose="data of the structure search"))
    started = time.process_time()
    learned = learn_network(data, NetworkSettings())
    searched = time.process_time() - started
    seconds, facts = _sample_fit_evaluate(learned, n_rows)
    true, found = set(network.edges), set(learned.edges)
    shared = sum((a, b) in found or (b, a) in found for a, b in true)
    return {
        "seconds": {**seconds, "structure search": searched, "total": seconds["total"] + searched},
        "bytes": own_peak(),
        "note": f"{shared} of {len(true)} edges found, {len(found) - shared} others; {facts}",
    }


def techniques(count: int, n_rows: int | None) -> dict[str, Any]:
    """Compute one block of Adult with massaging under so many names."""
    names = [f"massaging_{number}" for number in range(count)]
    entries = tuple(TechniqueEntry(technique="massaging", name=name) for name in names)
    paper = narrow(load_experiment("paper"), datasets=["adult"], betas=[0.5], repetitions=2)
    dataset = paper.datasets[0].model_copy(update={"baseline": names[0], "techniques": (), "parameters": {}})
    changes: dict[str, Any] = {"datasets": (dataset,), "techniques": entries}
    if n_rows is not None:
        changes["train_rows"] = n_rows
    experiment = paper.model_copy(update=changes)
    evaluator = Evaluator(prepare_experiment(expand(experiment), Sources(offline=True)))
    first, second = plan_blocks(experiment)
    list(evaluator(first, (Cell(names[0], "c45", "warm"),)))
    cells = tuple(Cell(technique, classifier, technique) for technique, classifier in second.cells)
    started = time.process_time()
    results = list(evaluator(second, cells))
    total = time.process_time() - started
    if any(result.status != "ok" or result.counts != results[0].counts for result in results):
        raise AssertionError("copies of a technique differ")
    return {
        "seconds": {"total": total, "per technique": total / count},
        "bytes": own_peak(),
    }


def _adult() -> Network:
    card = load_card("adult")
    path = embedded_network_path(card)
    assert path is not None
    return read_bif(path, card.schema())


def random_network(count: int) -> Network:
    """Return a network of columns of three states (label and sensitive feature: two), two parents at most.

    The probabilities are uneven enough for the edges to be found again.
    """
    rng = generator(0, purpose="random network", attributes=count)
    states = ("a", "b", "c")
    columns = tuple(Column(f"x{i}", states[:2] if i in {0, count - 1} else states) for i in range(count))
    schema = Schema(columns, f"x{count - 1}", "a", "x0", "a")
    parents = tuple(
        tuple(sorted(rng.choice(i, size=min(i, 2), replace=False).tolist())) for i in range(count)
    )
    sizes = schema.cardinalities
    cpts = tuple(
        rng.dirichlet(np.full(sizes[i], 0.5), size=int(np.prod(sizes[list(own)])))
        for i, own in enumerate(parents)
    )
    return Network(schema, parents, cpts)


def _sample_fit_evaluate(network: Network, n_rows: int) -> tuple[Steps, str]:
    seconds: Steps = {}

    def timed(step: str, call: Callable[[], Any]) -> Any:
        started = time.process_time()
        result = call()
        seconds[step] = time.process_time() - started
        return result

    test = sample(network, n_rows, generator(0, purpose="growth, test"))
    train: Table = timed("sample", lambda: sample(network, n_rows, generator(0, purpose="growth, training")))
    factory = make_classifier("c45")
    tools = Tools(lambda sizes: factory.build(sizes, 0), naive_bayes_ranker, generator(0, purpose="growth"))
    predictor = timed("fit", lambda: get_technique("none").fit(train, tools))
    hidden = test.hide_label()
    predicted = timed("predict", lambda: predictor.predict(hidden))
    scorer = Scorer(test, COUNTED)
    asked = scorer.ask(hidden, predicted, None, predictor.predict)
    scores = timed("metrics", lambda: scorer.score(asked).results)
    return {**seconds, "total": sum(seconds.values())}, f"accuracy {scores.values['accuracy']:.4f}"


def _mib(size: int | str) -> str:
    return f"{size / 2**20:.0f}" if isinstance(size, int) else "unknown"
