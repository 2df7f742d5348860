"""A run of an experiment: plan its cells, compute and store the missing ones, return all of them."""

import functools
import hashlib
import math
import platform
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from benchmark.columns import BIASED, ORIGINAL, TRUTH, TUNED, Test
from benchmark.errors import ExperimentError, StoreError
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.engine import Engine
from benchmark.experiment.evaluate import Cell, Evaluator, cell_result, coordinates
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import WHOLE, Block, Experiment, Shard
from benchmark.experiment.pool import Limits, Task
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.scoring import (
    DECISIONS,
    DRAWS,
    JOINT,
    Decisions,
    Scorer,
    SplitTest,
    decision_metrics,
    metric_values,
    scored_again,
    scorer_of,
    scorers_of,
    scoring_identity,
    scoring_of,
)
from benchmark.experiment.store import CellResult, LastRun, Store, Stored
from benchmark.experiment.tune import TuningEvaluator
from benchmark.experiment.versions import software
from benchmark.metrics import FAILING

_MIXED = (
    "the workers have several kinds of processors, or libraries use them differently. The last digits "
    "of some techniques' numbers may differ between them; manifest.json names them"
)

_SAID_LATE = 2  # cells of one sort that took too long, from which this is said
_LATE = (
    "{n} cells of {2} with the classifier {3} ended without a result, by the time limit of {limit} "
    "seconds (dataset {0}, bias {1}). Others may end so as well. 'time_limit' in the experiment file gives "
    "more time."
)

Plan = Sequence[tuple[Block, tuple[Cell, ...]]]
"""Blocks with their cells."""

Progress = Callable[[int, int, float], None]
"""Takes the numbers of finished and of planned cells, and the seconds since this run began its first."""

FavorableShares: TypeAlias = dict[tuple[str, str, float, int, Test], float]
"""Shares of favorable labels in the rows of tests, as means over splits.

Keys are dataset, shown bias, level of bias, repetition and test.
"""


def _without_counts(cells: Iterable[CellResult], shares: FavorableShares) -> Iterator[CellResult]:
    """Yield cells without the counts that ``shares`` are taken from; other contents of ``counts`` stay."""
    tests: tuple[Test, ...] = (ORIGINAL, BIASED, TRUTH)
    for cell in cells:
        block = (cell.dataset, cell.shown_bias, cell.level, cell.repetition)
        for test in tests:
            if test in cell.counts and (*block, test) not in shares:
                splits = [np.asarray(counts) for counts in cell.counts[test]]
                shares[*block, test] = float(np.mean([split[:, 1].sum() / split.sum() for split in splits]))
        kept = (DRAWS, JOINT, TUNED, *DECISIONS.values())
        yield replace(cell, counts={key: cell.counts[key] for key in kept if key in cell.counts})


@dataclass(frozen=True)
class Outcome:
    """The results of an experiment."""

    cells: list[CellResult]  # all of the plan, in its order, without their counts
    computed: int  # how many of them this run computed; the others were in the store
    seconds: float  # wall time of this run's computing
    engine: str  # its name
    shard: Shard = WHOLE  # the part of the experiment that was planned
    plan: str = ""  # digest of the cells' keys
    processors: tuple[Mapping[str, Any], ...] = ()  # their kinds in this run
    favorable: FavorableShares = field(default_factory=dict)

    @property
    def failures(self) -> Counter[str]:
        """Number of cells without a result by status."""
        return Counter(cell.status for cell in self.cells if cell.status != "ok")

    @property
    def ok(self) -> bool:
        """Whether no cell and no metric failed by accident.

        It is no accident that a technique declines a cell, or that an optimization does not converge.
        """
        broken = any(
            m.value is None and m.reason.startswith(FAILING) for cell in self.cells for m in cell.metrics
        )
        return not broken and not self.failures.keys() - {"skipped", "not_converged"}


def compute(
    prepared: PreparedExperiment,
    store: Store,
    *,
    engine: Engine,
    shard: Shard = WHOLE,
    retry_failed: bool = False,
    progress: Progress = lambda _done, _planned, _seconds: None,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Return all results of a plan; cells that the store lacks are computed, and stored as they finish.

    Results do not depend on the engine. With ``retry_failed``, cells that failed, crashed or took too long
    are computed again. ``say`` gets a note if workers have several kinds of processors, or if cells of one
    technique take too long. An ExperimentError says that there are fewer blocks than shards, or that the
    engine cannot compute. A StoreError says that the store lacks written cells.
    """
    planned = planned_cells(prepared, shard)
    stored = store.statuses()
    retried = {"failed", "crashed", "timeout"} if retry_failed else set()
    limit = prepared.experiment.time_limit
    incomplete = _score_again(prepared, store, planned, stored)

    def is_missing(key: str) -> bool:
        cell = stored.get(key)
        if cell is None or key in incomplete or cell.status in retried:
            return True
        return cell.status == "timeout" and cell.seconds < limit  # it has more time now

    missing = [
        Task(block, to_compute)
        for block, cells in planned
        if (to_compute := tuple(cell for cell in cells if is_missing(cell.key)))
    ]
    # By repetition, so that every dataset has results early, and even an interrupted run gives answers.
    missing.sort(key=lambda task: task.block.repetition)
    keys = [cell.key for _, cells in planned for cell in cells]
    plan = hashlib.sha256("".join(keys).encode()).hexdigest()
    total, to_do = len(keys), sum(len(task.cells) for task in missing)
    last_run = LastRun(prepared.experiment.name, plan, total - to_do, total)
    store.write((), last_run)
    progress(last_run.finished, total, 0.0)
    started, began, mixed = time.perf_counter(), math.inf, False
    late = Counter[tuple[str, str, str, str]]()
    for results in _computed(prepared, engine, missing, Limits(limit, prepared.experiment.memory_limit)):
        last_run = replace(last_run, finished=last_run.finished + len(results))
        store.write(results, last_run)
        now = time.perf_counter()
        # The rate of computing does not include the seconds in which workers start.
        began = min(began, now - max(result.seconds for result in results))
        progress(last_run.finished, total, now - began)
        for result in results:
            if result.status == "timeout":
                sort = result.dataset, result.bias, result.technique, result.classifier
                late[sort] += 1
                if late[sort] == _SAID_LATE:
                    say(_LATE.format(*sort, n=_SAID_LATE, limit=f"{limit:g}"))
        if not mixed and len(engine.processors) > 1:
            mixed = True
            say(_MIXED)
    seconds = time.perf_counter() - started
    favorable: FavorableShares = {}
    # A key identifies numbers; the plan says which level and names they have here.
    places = (
        coordinates(prepared.datasets[block.dataset], block, cell)
        for block, cells in planned
        for cell in cells
    )
    stored_cells = (replace(c, **place) for c, place in zip(store.read(keys), places, strict=False))
    cells = list(_without_counts(stored_cells, favorable))
    if len(cells) != len(keys):
        raise StoreError(
            f"{store.path} lacks cells that were written to it",
            expected=f"{len(keys)} cells",
            got=str(len(cells)),
            remedy="check the disk, and run the same command again",
        )
    return Outcome(cells, to_do, seconds, engine.name, shard, plan, tuple(engine.processors), favorable)


@dataclass(frozen=True)
class Measured:
    """Times of an experiment's cells."""

    planned: Plan
    stored: Mapping[str, Stored]  # by key, also of other experiments
    cut_off: Mapping[str, float]  # by key, the seconds after which unfinished cells were cut off
    computed: int  # how many cells were computed and stored for it


def measure(
    prepared: PreparedExperiment,
    store: Store,
    shard: Shard = WHOLE,
    *,
    engine: Engine,
    limits: Limits,
    samples: int,
    progress: Progress = lambda _done, _planned, _seconds: None,
) -> Measured:
    """Return times of a plan's cells; some cells of each sort are computed and stored until time is up.

    A sort is a dataset's bias with a technique and a classifier. For each sort the store has at most
    ``samples`` cells in the end, with those from before. A cell that is cut off is not stored, because a run
    may give it more time. Errors are the same as of :func:`compute`.
    """
    planned, stored = planned_cells(prepared, shard), store.statuses()
    tasks = _sampled(prepared.experiment, planned, stored, samples)
    total, done, cut_off = sum(len(task.cells) for task in tasks), 0, dict[str, float]()
    began, limit = time.perf_counter(), prepared.experiment.time_limit
    for results in _computed(prepared, engine, tasks, limits):
        cut_off |= {r.key: r.seconds for r in results if r.status == "timeout" and r.seconds < limit}
        store.write(result for result in results if result.key not in cut_off)
        done += len(results)
        progress(done, total, time.perf_counter() - began)
    return Measured(planned, store.statuses(), cut_off, done - len(cut_off))


def _sampled(experiment: Experiment, planned: Plan, stored: Mapping[str, Stored], samples: int) -> list[Task]:
    """Return tasks of a few cells of each sort; techniques take turns, and so do the sorts of each technique.

    Blocks at the middle level of bias come first. In experiments that tune, entries of a technique stay
    together, because they share their trials.
    """
    middle = experiment.levels[len(experiment.levels) // 2]
    registered = {entry.name: entry.technique for entry in experiment.techniques}
    sampled: dict[str, dict[tuple[str, str, str], list[Task]]] = {}
    for block, cells in sorted(planned, key=lambda item: (item[0].repetition, abs(item[0].level - middle))):
        together: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells:
            name = registered[cell.technique] if experiment.tune else cell.technique
            together.setdefault((name, cell.classifier), []).append(cell)
        for (name, classifier), group in together.items():
            sort = block.dataset, block.shown_bias, classifier
            tasks = sampled.setdefault(name, {}).setdefault(sort, [])
            if len(tasks) < samples:
                tasks.append(Task(block, tuple(cell for cell in group if cell.key not in stored)))
    ranked = [
        # Each technique begins one sort further, so that neighbors have other datasets and classifiers.
        (turn * len(sorts) + (place - number) % len(sorts), number, task)
        for number, sorts in enumerate(sampled.values())
        for place, tasks in enumerate(sorts.values())
        for turn, task in enumerate(tasks)
    ]
    return [task for *_, task in sorted(ranked, key=itemgetter(0, 1)) if task.cells]


def _computed(
    prepared: PreparedExperiment, engine: Engine, tasks: Sequence[Task], limits: Limits
) -> Iterator[list[CellResult]]:
    """Yield results as they are computed; a :class:`Failure` of the pool becomes a result."""
    evaluator = functools.partial(_evaluator, prepared, _software(prepared))
    for finished in engine.run(tasks, evaluator, limits):
        yield [
            own
            if isinstance(own, CellResult)
            else cell_result(
                prepared.datasets[block.dataset], block, cell, own.status, own.reason, seconds=own.seconds
            )
            for block, cell, own in finished
        ]


def _evaluator(prepared: PreparedExperiment, expected: Mapping[str, str]) -> Evaluator:
    """Return a worker's evaluator; raise if its software differs from the software in cells' keys."""
    evaluator = (Evaluator if prepared.experiment.tune is None else TuningEvaluator)(prepared)
    installed = _software(prepared)
    if differing := sorted({name for name, _ in expected.items() ^ installed.items()}):
        raise ExperimentError(
            f"A worker on {platform.node()} has other software than the run that it computes for",
            expected=", ".join(f"{name} {expected.get(name, 'absent')}" for name in differing[:3]),
            got=", ".join(f"{name} {installed.get(name, 'absent')}" for name in differing[:3]),
            remedy="install the same there, change no file during a run, and start the same command again",
        )
    return evaluator


def _software(prepared: PreparedExperiment) -> dict[str, str]:
    factories = [c.factory for c in prepared.experiment.classifiers]
    extras = {factory.entry.extra for factory in factories if factory is not None} - {""}
    return software(prepared.plugins, extras.union(*(t.packages for t in prepared.techniques.values())))


def _score_again(
    prepared: PreparedExperiment, store: Store, planned: Plan, stored: Mapping[str, Stored]
) -> set[str]:
    """Bring metrics of stored cells up to date; return the keys of cells that must be computed again.

    Their stored predictions lack something that a metric needs, because no metric needed it before.
    """
    experiment, incomplete = prepared.experiment, set[str]()

    @functools.cache
    def scoring(dataset: str) -> tuple[Scorer, str]:
        data = prepared.datasets[dataset]
        return scorer_of(data), scoring_identity(data)

    def updated() -> Iterator[CellResult]:
        for block, cells in planned:
            scorer, digest = scoring(block.dataset)
            wanted = {cell.key: scoring_of(digest, cell.reference) for cell in cells}
            references = {cell.key: cell.reference for cell in cells}
            finished = [key for key in wanted if key in stored and stored[key].status == "ok"]
            stale = [key for key in finished if stored[key].scoring != wanted[key]]
            scorers = _scorers(prepared, block, common=scorer) if stale else {}
            for old in store.read(stale, predictions=True):
                reference = references[old.key]
                scored = scored_again(scorers, scorer, old)
                decisions = Decisions.stored(old.counts, experiment.tests) if reference else ()
                if scored is None or (reference and {d.reference for d in decisions} != {reference}):
                    incomplete.add(old.key)
                    continue
                metrics = metric_values(scored, experiment.tests, old.counts.get(DRAWS, 1))
                if reference:
                    metrics += decision_metrics(old.counts, scorer, experiment.tests)
                yield replace(old, metrics=metrics, scoring=wanted[old.key])

    store.write(updated())
    return incomplete


def _scorers(prepared: PreparedExperiment, block: Block, *, common: Scorer) -> Mapping[SplitTest, Scorer]:
    """Return the scorers of stored answers of a block's cells."""
    experiment, data = prepared.experiment, prepared.datasets[block.dataset]
    if common.needs_rows and (experiment.splits or BIASED in experiment.tests):
        return scorers_of(list(draw_splits(data, block)), common, data.test)
    return defaultdict(lambda: common)  # counts are scored without rows
