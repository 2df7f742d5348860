"""Running an experiment: plan, compute what is missing, store, and hand over what is stored."""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import platform
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.classifiers import make_classifier
from benchmark.columns import BIASED, TRUTH, Test
from benchmark.errors import ExperimentError, StoreError
from benchmark.experiment import unprocessing
from benchmark.experiment.counts import BlockName, CellName, CountsOfCells
from benchmark.experiment.draws import draw_folds
from benchmark.experiment.engine import Engine
from benchmark.experiment.evaluate import (
    Cell,
    Evaluator,
    cell_result,
)
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import PAPER_METRICS, WHOLE, Block, Experiment, Shard
from benchmark.experiment.pool import Finished, Limits, Task
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.experiment.scoring import (
    DECISIONS,
    Decisions,
    Place,
    Scored,
    Scorer,
    counts_by_place,
    joint_counts,
    metric_values,
    scorers_of,
    scoring_digest,
    scoring_of,
    unpack,
)
from benchmark.experiment.store import CellResult, LastRun, MetricValue, Store, Stored
from benchmark.experiment.tune import TuningEvaluator
from benchmark.experiment.versions import software
from benchmark.metrics import FAILING, get_metric, metric_names

_MIXED = (
    "Note: the workers' processors, or how libraries use them, are of several kinds, between which the last "
    "digits of some techniques' numbers may differ; manifest.json names them"
)

_BATCH = 100  # cells whose predictions are in memory together

Progress = Callable[[int, int, float], None]
"""Takes how many cells are finished, of how many, and the seconds since this run began its first."""


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave."""

    cells: list[CellResult]  # all of the plan, in its order, without their counts
    computed: int  # how many of them this run computed; the others were in the store
    seconds: float  # wall time of this run's computing
    engine: str  # what computed them
    shard: Shard = WHOLE  # which part of the experiment the plan is
    plan: str = ""  # digest of the cells' keys
    processors: tuple[Mapping[str, Any], ...] = ()  # kinds of them that this run computed on
    counts: Mapping[CellName, NDArray[np.float64]] = field(default_factory=dict)  # means; see CountsOfCells
    biased: Mapping[BlockName, float] = field(default_factory=dict)  # shares of favorable labels; see there
    hidden: Mapping[BlockName, Mapping[Test, float]] = field(default_factory=dict)  # the same

    @property
    def failures(self) -> Counter[str]:
        """Number of cells without a result by status."""
        return Counter(cell.status for cell in self.cells if cell.status != "ok")

    @property
    def ok(self) -> bool:
        """Whether every cell has a result or a reason that belongs to the technique, not to an accident.

        A technique may decline, and an optimization may not converge; both are findings. A metric that fails
        is an accident.
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
    """Compute the cells that the store lacks, write each soon after it is finished; return all of the plan.

    Results do not depend on the engine. With ``retry_failed``, cells that failed, crashed or took too long
    are computed again. ``say`` gets a sentence if workers have processors of several kinds.

    Raises
    ------
    ExperimentError
        If there are fewer blocks than shards, or the engine cannot compute.
    StoreError
        If the store does not keep what is written to it.
    """
    planned = planned_cells(prepared, shard)
    stored = store.statuses()
    again = {"failed", "crashed", "timeout"} if retry_failed else set()
    limit = prepared.experiment.time_limit
    lost = _score_again(prepared, store, planned, stored) | _without_frontier(
        prepared, store, planned, stored
    )
    missing = [
        Task(block, left)
        for block, cells in planned
        if (left := tuple(c for c in cells if c.key in lost or _is_missing(stored.get(c.key), again, limit)))
    ]
    # Repetition by repetition, so that every dataset has results early: an interrupted run answers, too.
    missing.sort(key=lambda task: task.block.repetition)
    keys = [cell.key for _, cells in planned for cell in cells]
    plan = hashlib.sha256("".join(keys).encode()).hexdigest()
    total, to_do = len(keys), sum(len(task.cells) for task in missing)
    last_run = LastRun(prepared.experiment.name, plan, total - to_do, total)
    store.write((), last_run)
    progress(last_run.finished, total, 0.0)
    started, began, mixed = time.perf_counter(), math.inf, False
    for finished in engine.run(
        missing,
        functools.partial(_evaluator, prepared, _software(prepared)),
        Limits(limit, prepared.experiment.memory_limit),
    ):
        last_run = replace(last_run, finished=last_run.finished + len(finished))
        store.write(_cell_results(prepared, finished), last_run)
        now = time.perf_counter()
        # Workers take seconds to start, which is no part of the rate at which they compute.
        began = min(began, now - max(one.result.seconds for one in finished))
        progress(last_run.finished, total, now - began)
        if not mixed and len(engine.processors) > 1:
            mixed = True
            say(_MIXED)
    seconds = time.perf_counter() - started
    counts = CountsOfCells()
    batches = (store.read(keys[start : start + _BATCH]) for start in range(0, len(keys), _BATCH))
    read = itertools.chain.from_iterable(batches)
    levels = (block.level for block, cells in planned for _ in cells)
    # A store knows what was planted; all that comes after it speaks of levels.
    cells = list(counts.taken_from(replace(c, beta=level) for c, level in zip(read, levels, strict=False)))
    if len(cells) != len(keys):
        raise StoreError(
            f"{store.path} lacks cells that were written to it",
            expected=f"{len(keys)} cells",
            got=str(len(cells)),
            remedy="check the disk, and run the same command again",
        )
    processors = tuple(engine.processors)
    told = counts.means, counts.biased, counts.hidden
    return Outcome(cells, to_do, seconds, engine.name, shard, plan, processors, *told)


@dataclass(frozen=True)
class Measured:
    """What is known of how long an experiment's cells take."""

    planned: Sequence[tuple[Block, tuple[Cell, ...]]]
    stored: Mapping[str, Stored]  # by key, those of other experiments among them
    cut_off: Mapping[str, float]  # by key, cells that had not ended after so many seconds
    computed: int  # cells that were computed and stored for it


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
    """Compute some cells of a plan until time is up, of all sorts as far as there is time, and store them.

    Of each sort, a dataset's bias with a technique and a classifier, there are at most so many ``samples`` in
    the end, those that the store had among them. Nothing is stored of a cell that is cut off, because a run
    may give it more time. Errors are those of :func:`compute`.
    """
    planned = planned_cells(prepared, shard)
    stored, cut_off, computed = store.statuses(), dict[str, float](), 0
    tasks = _sampled(prepared.experiment, planned, stored, samples)
    total, done = sum(len(task.cells) for task in tasks), 0
    expected = _software(prepared)
    if not tasks:
        return Measured(planned, stored, cut_off, computed)
    progress(done, total, 0.0)
    began = time.perf_counter()
    for finished in engine.run(tasks, functools.partial(_evaluator, prepared, expected), limits):
        timeouts = {one.cell.key: one.result.seconds for one in finished if one.result.status == "timeout"}
        late = {key: took for key, took in timeouts.items() if took < prepared.experiment.time_limit}
        cut_off |= late
        kept = [one for one in finished if one.cell.key not in late]
        store.write(_cell_results(prepared, kept))
        computed += len(kept)
        done += len(finished)
        progress(done, total, time.perf_counter() - began)
    return Measured(planned, store.statuses(), cut_off, computed)


def _sampled(
    experiment: Experiment,
    planned: Sequence[tuple[Block, tuple[Cell, ...]]],
    stored: Mapping[str, Stored],
    samples: int,
) -> list[Task]:
    """Return tasks of few cells of each sort: techniques take turns, and each takes turns with all else.

    Blocks at the middle level of bias come first. Where settings are chosen, entries of a technique stay
    together, because they share what is tried.
    """
    middle = experiment.levels[len(experiment.levels) // 2]
    blocks = sorted(planned, key=lambda own: (own[0].repetition, abs(own[0].level - middle)))
    registered = {entry.name: entry.technique for entry in experiment.techniques}
    found: dict[str, dict[tuple[str, str, str], list[Task | None]]] = {}
    had: Counter[tuple[str, ...]] = Counter()
    for block, cells in blocks:
        together: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells:
            name = registered[cell.technique] if experiment.tune else cell.technique
            together.setdefault((name, cell.classifier), []).append(cell)
        for (name, classifier), own in together.items():
            sort = block.dataset, block.bias, name, classifier
            if had[sort] < samples:
                had[sort] += 1
                missing = tuple(cell for cell in own if cell.key not in stored)
                others = found.setdefault(name, {}).setdefault((*sort[:2], classifier), [])
                others.append(Task(block, missing) if missing else None)  # a place, so that others come first
    # The same place in all lists is of different datasets and classifiers: each begins one further.
    turned = []
    for number, of in enumerate(found.values()):
        lists = list(of.values())
        lists = lists[number % len(lists) :] + lists[: number % len(lists)]
        turned.append(list(itertools.chain(*itertools.zip_longest(*lists))))
    levels = itertools.chain(*itertools.zip_longest(*turned))
    return [task for task in levels if task is not None]


def _evaluator(prepared: PreparedExperiment, expected: Mapping[str, str]) -> Evaluator:
    """Make a worker's evaluator; raise if it would compute with other software than its cells' keys say."""
    evaluator = (Evaluator if prepared.experiment.tune is None else TuningEvaluator)(prepared)
    found = _software(prepared)
    if differing := sorted({name for name, _ in expected.items() ^ found.items()}):
        raise ExperimentError(
            f"A worker on {platform.node()} has other software than the run that it computes for",
            expected=", ".join(f"{name} {expected.get(name, 'absent')}" for name in differing[:3]),
            got=", ".join(f"{name} {found.get(name, 'absent')}" for name in differing[:3]),
            remedy="install the same there, change no file during a run, and start the same command again",
        )
    return evaluator


def _software(prepared: PreparedExperiment) -> dict[str, str]:
    extras = {make_classifier(c.classifier).entry.extra for c in prepared.experiment.classifiers} - {""}
    return software(prepared.plugins, extras.union(*(t.packages for t in prepared.techniques.values())))


def _is_missing(stored: Stored | None, again: set[str], time_limit: float) -> bool:
    """Return whether a cell is to be computed: never was, is to be retried, or now has more time."""
    if stored is None:
        return True
    return stored.status in again or (stored.status == "timeout" and stored.seconds < time_limit)


def _score_again(
    prepared: PreparedExperiment,
    store: Store,
    planned: Sequence[tuple[Block, tuple[Cell, ...]]],
    stored: Mapping[str, Stored],
) -> set[str]:
    """Bring metrics of stored cells up to date; return the keys of those that have to be computed for it.

    These are cells whose predictions were not kept, or not all that a metric needs, because none needed it.
    """
    experiment, measured = prepared.experiment, prepared.experiment.measured
    names = metric_names(measured)
    # What compares decisions is measured on the original test alone, and in truth.
    compared = tuple(test for test in experiment.tests if test in DECISIONS)
    tests = {name: compared if get_metric(name).of_run else experiment.tests for name in names}
    wanted = {MetricValue(name, None, "", test).stored_name for name in names for test in tests[name]}
    references = {cell.key: cell.reference for _, cells in planned for cell in cells}
    lost: set[str] = set()
    for dataset, data in prepared.datasets.items():
        digest = scoring_digest(names, data.strata, data.attributes)
        blocks = {cell.key: block for block, cells in planned if block.dataset == dataset for cell in cells}
        finished = [(key, stored[key]) for key in blocks if key in stored and stored[key].status == "ok"]
        stale = [
            key
            for key, old in finished
            if not wanted <= old.metrics
            # Decisions that were counted beside other models, and are not asked for, do no harm.
            or old.scoring.partition("/")[0] != digest
            or (references[key] and old.scoring != scoring_of(digest, references[key]))
        ]
        if not stale:
            continue
        scorer = Scorer(
            data.test,
            measured,
            data.strata,
            data.attributes,
            true=not data.entry.audit,
        )
        # Cells of a block stand together: what it was scored on is drawn once for all of them.
        scorers = functools.lru_cache(maxsize=1)(functools.partial(_scorers, prepared, common=scorer))
        for start in range(0, len(stale), _BATCH):
            updated = []
            for old in store.read(stale[start : start + _BATCH]):
                rows = store.rows(old.key)
                scored = None
                if not data.attributes or joint_counts(old.counts, data.attributes):
                    scored = _scored_again(scorers(blocks[old.key]), old, rows)
                reference = references[old.key]
                decisions = Decisions.stored(old.counts, experiment.tests) if reference else ()
                if scored is None or (reference and {own.reference for own in decisions} != {reference}):
                    lost.add(old.key)
                else:
                    found = metric_values(scored, experiment.tests)
                    found += tuple(m for own in decisions for m in own.metrics(scorer))
                    scoring = scoring_of(digest, reference)
                    updated.append(replace(old, metrics=found, scoring=scoring, rows=rows))
            store.write(updated)
    return lost


def _without_frontier(
    prepared: PreparedExperiment,
    store: Store,
    planned: Sequence[tuple[Block, tuple[Cell, ...]]],
    stored: Mapping[str, Stored],
) -> set[str]:
    """Return the keys of stored cells whose frontier lacks a test, because it was not asked for then.

    A frontier is made from scores of training rows, which no store keeps: such a cell has to be computed.
    """
    first = f"{unprocessing.ACCURACY}[{unprocessing.RELAXATIONS[0]:g}]"
    asked = [test for test in prepared.experiment.tests if test != TRUTH]  # which hidden bias alone adds
    names = [MetricValue(first, None, "", test).stored_name for test in asked]
    assert names[0] == first  # of the original test, which every run has
    if len(names) == 1:
        return set()
    keys = [c.key for _, cells in planned for c in cells if c.key in stored and stored[c.key].status == "ok"]
    known = store.having(first, keys)
    lost: set[str] = set()
    for name in names[1:]:
        lost |= known - store.having(name, sorted(known))
    return lost


def _scorers(prepared: PreparedExperiment, block: Block, *, common: Scorer) -> Mapping[Place, Scorer]:
    """Return what scores the stored answers of a block's cells."""
    experiment, data = prepared.experiment, prepared.datasets[block.dataset]
    if common.needs_rows and (experiment.splits or BIASED in experiment.tests):
        return scorers_of(list(draw_folds(data, block, experiment)), common, data.test)
    return defaultdict(lambda: common)  # counts do for any rows


def _scored_again(
    scorers: Mapping[Place, Scorer], cell: CellResult, packed: bytes | None
) -> dict[Place, Scored] | None:
    """Return metrics of what is stored of a cell; None if that does not suffice."""
    counts = counts_by_place(cell.counts)
    answers = {} if packed is None else unpack(packed, {place: scorers[place].n_rows for place in counts})
    again = {place: scorers[place].score_again(own, answers.get(place)) for place, own in counts.items()}
    complete = {place: own for place, own in again.items() if own is not None}
    return complete if len(complete) == len(again) else None


def _cell_results(prepared: PreparedExperiment, finished: Iterable[Finished]) -> Iterator[CellResult]:
    """Yield results in which a lost cell, too, says where it stands."""
    for block, cell, result in finished:
        if isinstance(result, CellResult):
            yield result
        else:
            data = prepared.datasets[block.dataset]
            yield cell_result(data, block, cell, result.status, result.reason, seconds=result.seconds)


def headline_metrics(experiment: Experiment) -> tuple[str, ...]:
    """Return the metrics that tables and figures show.

    An UnknownNameError says that a metric is unknown, an ExperimentError that one is asked for which is not
    computed, or which has one value for each group.
    """
    computed = metric_names(experiment.metrics)
    for name in metric_names(experiment.headline):
        if name not in computed:
            got, remedy = "it is not among 'metrics'", "add it to 'metrics', or take it out of 'headline'"
        elif get_metric(name).compare == "each_group":
            got = "it has a value for each group"
            remedy = (
                "take it out of 'headline'; its values are in metrics.csv, and 'betabench report' shows them"
            )
        else:
            continue
        raise ExperimentError(
            f"The metric {name!r} cannot be shown in tables and figures",
            expected="metrics of the experiment with one value for each cell",
            got=got,
            remedy=remedy,
        )
    single = tuple(name for name in computed if get_metric(name).compare != "each_group")
    paper = tuple(name for name in PAPER_METRICS if name in computed)
    restoring = tuple(name for name in single if get_metric(name).of_run)
    return metric_names(experiment.headline) or (*paper, *restoring) or single
