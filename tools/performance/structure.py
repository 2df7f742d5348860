"""Structure search: hill climbing and tabu search against pgmpy and pyAgrum, all by BIC, on the real tables.

Everybody gets the table in the form that suits them best, made beforehand: codes, a frame of texts, a frame
of numerals. None is told of required edges. Searches end in different graphs, as they break ties in different
ways, so all graphs are scored by the same function; the score stands beside the time. pgmpy's search depends
on the hash seed of its process: its scores differ from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmark.data.card_parts import AlgorithmName, NetworkSettings
from benchmark.data.table import Table
from benchmark.network.search import learn_structure
from benchmark.seeding import generator
from tests.helpers.structures import structure_score
from tools.performance.prepared_inputs import biased_sample, datasets
from tools.performance.timing import Row, alternate, missing, optional

__all__ = ["measure"]

Parents = tuple[tuple[int, ...], ...]


def measure(quick: bool) -> Iterator[Row]:
    """Time the searches on each dataset."""
    for name, data in datasets(quick).items():
        table = biased_sample(name, quick) if quick else data.test
        contestants: dict[str, Callable[[], Parents]] = {
            "betabench, hill climbing": partial(_ours, table, "hill_climbing"),
            "betabench, tabu": partial(_ours, table, "tabu"),
            "betabench, tabu, 20 restarts": partial(_ours, table, "tabu", 20),
            "pgmpy, hill climbing": partial(_pgmpy, table, table.to_frame().astype(str)),
        }
        pyagrum, reason = optional("pyagrum")
        if pyagrum is None:
            yield missing("structure", name, "pyAgrum, greedy hill climbing", reason)
        else:
            pyagrum.setNumberOfThreads(1)
            frame = table.to_frame().apply(lambda column: column.cat.codes)
            contestants["pyAgrum, greedy hill climbing"] = partial(_pyagrum, pyagrum, table, frame)
        found = {who: run() for who, run in contestants.items()}
        codes, sizes = table.codes, table.schema.cardinalities
        reached = {who: structure_score(codes, sizes, parents) for who, parents in found.items()}
        notes = {who: f"BIC {score:,.1f}" for who, score in reached.items()}
        yield from alternate("structure", name, contestants, size=len(table), notes=notes, quick=quick)


def _ours(table: Table, algorithm: AlgorithmName, restarts: int = 0) -> Parents:
    rng = generator(0, purpose="speed of structure search")
    sizes = table.schema.cardinalities
    settings = NetworkSettings(algorithm=algorithm, restarts=restarts)
    return learn_structure(table.codes, sizes, settings, rng=rng).parents


def _pgmpy(table: Table, frame: Any) -> Parents:
    from pgmpy.estimators import HillClimbSearch

    states = {column.name: list(column.states) for column in table.schema.columns}
    search = HillClimbSearch(frame, state_names=states)
    graph = search.estimate(scoring_method="bic-d", show_progress=False)
    return _parents(table, lambda name: graph.get_parents(name))


def _pyagrum(pyagrum: Any, table: Table, frame: Any) -> Parents:
    learner = pyagrum.BNLearner(frame)
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    learner.useNoPrior()
    graph = learner.learnDAG()
    return _parents(
        table, lambda name: [learner.nameFromId(p) for p in graph.parents(learner.idFromName(name))]
    )


def _parents(table: Table, of: Callable[[str], list[str]]) -> Parents:
    schema = table.schema
    return tuple(tuple(sorted(map(schema.index, of(name)))) for name in schema.names)
