"""Random draws of a block: its seeds, its splits, its training samples and its test rows.

All random numbers of a block pass through here, so the module is part of
:data:`benchmark.experiment.versions.HARNESS`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmark.bias import Planted, Rows
from benchmark.columns import BIASED, ORIGINAL, TRUTH, Test
from benchmark.data.row_facts import units_of, with_numbers
from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.experiment.plan import Block
from benchmark.experiment.prepared import PreparedDataset
from benchmark.experiment.telling import EXAMINED, BiasEffect, Telling
from benchmark.seeding import generator
from benchmark.techniques import Technique
from benchmark.techniques.knowledge import Examined, Fact, Knowledge

Axes = dict[str, str | int | float]
Positions = NDArray[np.intp]
_Numbering = Callable[[Table, Positions | None, str], Table]


@dataclass(frozen=True, eq=False)
class TestRows:
    """Rows that techniques are tested on."""

    __test__ = False  # pytest would take it for a test

    seen: Table  # the rows as a technique sees them: recorded features, no labels
    truth: Table  # the rows for scoring: true features, and the labels of the test
    # Positions among the original test rows, shape (n_rows,), if a technique sees the same of both.
    among: Positions | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """A training sample, and the rows of each test that has rows of its own."""

    axes: Axes  # of its random numbers
    train: Table
    tests: Mapping[Test, TestRows]
    # Ascending positions of rows: the source of ``train`` or of its network, the rows of ``train``, if real,
    # and the original test rows, if not all.
    before_bias: Positions | None = None
    after_bias: Positions | None = None
    test_rows: Positions | None = None


def axes(data: PreparedDataset, level: float, repetition: int) -> Axes:
    """Return the axes of a block's random numbers; see :func:`benchmark.seeding.axis_seed`."""
    unpaired: Axes = {} if data.experiment.paired_betas else {"beta": level}
    return {"dataset": data.name, **unpaired, "repetition": repetition}


def draw_splits(data: PreparedDataset, block: Block) -> Iterator[Split]:
    """Yield the splits of a block: one, unless each of several parts is tested in turn."""
    seed_axes, experiment = axes(data, block.level, block.repetition), data.experiment
    bias = data.biases[block.bias]
    beta = data.beta(block)
    if not experiment.splits:
        whole = data.planted(block.bias, beta)
        rows = data.rows
        train = whole.draw(data.n_train, generator(experiment.seed, purpose="sample", **seed_axes))
        fill = numbering(data, seed_axes, None)
        tests = _tests(data, block, seed_axes, rows, whole, fill, rows.positions, rows.table)
        yield Split(seed_axes, fill(train, None, "train"), tests)
        return
    source = _source(data, block, seed_axes)
    for number, (train_rows, test_rows) in enumerate(split_rows(data, block.level, block.repetition)):
        split_axes = seed_axes if data.n_folds is None else {**seed_axes, "fold": number}
        rng = generator(experiment.seed, purpose="sample", **split_axes)
        planted: Planted | None = None
        after_bias: Positions | None = None
        train_rows = train_rows[source.trained[train_rows]]
        if experiment.train == "data":
            if data.n_train < len(train_rows):
                train_rows = np.sort(rng.choice(train_rows, data.n_train, replace=False))
            if block.has_truth:
                train_rows = np.intersect1d(train_rows, source.positions)
                test_rows = np.intersect1d(test_rows, source.positions)
            biased = bias.plant_in_rows(source.train.take(source.find(train_rows)), beta, rng)
            train, after_bias = biased.table, biased.positions
        else:
            planted = bias.plant_unchecked(data.network_of(train_rows), beta)
            train = planted.draw(data.n_train, rng)
        test_positions = source.find(test_rows)
        held_out = source.test.apart(test_positions)
        observed = source.observed.take(test_positions)
        fill = numbering(data, split_axes, train_rows)
        tests = _tests(data, block, split_axes, held_out, planted, fill, test_rows, observed)
        if block.has_truth:
            true = data.test.take(test_rows)
            tests[TRUTH] = TestRows(tests[ORIGINAL].seen, true, np.arange(len(true)))
        yield Split(split_axes, fill(train, after_bias, "train"), tests, train_rows, after_bias, test_rows)


def _with_hidden_bias(data: PreparedDataset, block: Block) -> Rows:
    """Return all rows with the hidden bias of a block, as rows without planted bias."""
    # The seed has neither level nor gap, so that a greater gap contains the changes of a smaller one.
    seed_axes: Axes = {"dataset": data.name, "repetition": block.repetition}
    rng = generator(data.experiment.seed, purpose="hidden", **seed_axes)
    rows = data.biases[block.bias].plant_in_rows(data.rows, data.hidden_beta(block), rng)
    label = data.test.schema.label_index
    labels = data.test.codes[:, label].copy()
    labels[rows.positions] = rows.table.codes[:, label]
    return replace(rows, before=data.test.with_column(data.test.schema.label, labels))


@dataclass(frozen=True, eq=False)
class _Source:
    """All rows of a dataset, of which a block takes some to train and some to test on."""

    train: Rows
    test: Rows
    trained: NDArray[np.bool_]  # rows that may be trained on, shape (n_rows,)
    observed: Table  # the rows as seen in tests, before bias

    @property
    def positions(self) -> Positions:
        """Ascending positions among the dataset's rows; hidden bias may leave some out."""
        return self.train.positions

    def find(self, rows: Positions) -> Positions:
        """Return positions in this source, from positions among the dataset's rows."""
        return np.searchsorted(self.positions, rows)


def _source(data: PreparedDataset, block: Block, seed_axes: Axes) -> _Source:
    """Return the dataset's rows, with hidden bias or as they were recorded.

    If groups were drawn at random, the clean model learns from the favored group alone, and answers as if
    everybody belonged to it. The audit's own bias adds the rows of the other group. Any other bias is planted
    in the favored rows: everybody gets a new random group, the same at all levels of bias.
    """
    rows = _with_hidden_bias(data, block) if block.has_truth else data.rows
    if not data.entry.audit:
        return _Source(rows, rows, np.ones(len(data.test), dtype=np.bool_), rows.table)
    favored = ~data.test.deprived
    rng = generator(data.experiment.seed, purpose="group", **seed_axes)
    if data.biases[block.bias].of_audit:
        everybody, trained = rows, np.ones(len(favored), dtype=np.bool_)
    else:
        groups = data.recorded_groups
        everybody, trained = rows.in_groups(groups[rng.integers(len(groups), size=len(favored))]), favored
    if block.level > 0:
        return _Source(everybody, everybody, trained, everybody.table)
    return _Source(rows, everybody, favored, data.as_favored)


def numbering(data: PreparedDataset, seed_axes: Axes, source_rows: Positions | None) -> _Numbering:
    """Return a function that adds numbers to a table, from the dataset's rows that it has and its purpose.

    Numbers are drawn from ``source_rows``, or from all (:func:`~benchmark.data.row_facts.with_numbers`), if
    a classifier takes them. Techniques cannot change the returned table.
    """
    numbers = data.numbers
    if numbers is None:
        return lambda table, *_: table.sealed

    def number(table: Table, rows: Positions | None, part: str) -> Table:
        def column_rng(column: str) -> np.random.Generator:
            return generator(data.experiment.seed, purpose="numbers", part=part, column=column, **seed_axes)

        return with_numbers(table, data.test, numbers, source_rows, rows, column_rng).sealed

    return number


def split_rows(data: PreparedDataset, level: float, repetition: int) -> Iterator[tuple[Positions, Positions]]:
    """Yield ascending positions of rows to train on and to test on, drawn for a level and a repetition.

    All rows of a person are on one side. Judged rows are split by judges. A person belongs to the judge of
    one of the person's rows, drawn at random, and is tested in that row alone. Training rows are of other
    judges and other persons; all other rows are left out.
    """
    rng = generator(data.experiment.seed, purpose="split", **axes(data, level, repetition))
    judged = data.judged
    units = units_of(data.persons, np.arange(len(data.test))) if judged is None else judged.judges
    n_units = int(units.max()) + 1
    shuffled = rng.permutation(n_units)
    if data.n_folds is not None:
        parts = np.array_split(shuffled, data.n_folds)
    else:
        assert data.experiment.holdout is not None
        parts = [shuffled[: n_held_out(n_units, data.experiment.holdout)]]
    row_of_person = None
    if judged is not None:
        order = rng.permutation(len(units))
        row_of_person = order[np.unique(judged.persons[order], return_index=True)[1]]
    for part in parts:
        held_out = np.isin(units, part)
        if judged is None or row_of_person is None:
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)
            continue
        tested = np.sort(row_of_person[held_out[row_of_person]])
        crossing = np.isin(judged.persons, judged.persons[tested])
        yield np.flatnonzero(~held_out & ~crossing), tested


def split_sizes(data: PreparedDataset) -> list[tuple[int, int]]:
    """Return the numbers of training and test rows in each split of each repetition and level.

    The list is empty if they do not vary. If groups were drawn at random, only the clean model's training
    rows count.
    """
    experiment = data.experiment
    if not (experiment.splits and (data.entry.audit or data.persons is not None or data.judged is not None)):
        return []
    trained = ~data.test.deprived if data.entry.audit else np.ones(len(data.test), dtype=np.bool_)
    levels = experiment.levels[:1] if experiment.paired_betas else experiment.levels
    return [
        (int(np.count_nonzero(trained[train])), len(test))
        for level, repetition in itertools.product(levels, range(experiment.repetitions))
        for train, test in split_rows(data, level, repetition)
    ]


def n_held_out(n_rows: int, holdout: float) -> int:
    """Return the number of rows of a holdout: at least one, and at most all but one."""
    return min(max(round(holdout * n_rows), 1), n_rows - 1)


def _tests(
    data: PreparedDataset,
    block: Block,
    seed_axes: Axes,
    rows: Rows,
    planted: Planted | None,
    fill: _Numbering,
    positions: Positions,
    observed: Table,
) -> dict[Test, TestRows]:
    """Return the rows of each test that needs its own; balanced tests weight the original rows.

    ``positions`` are the rows' among the dataset's, and ``observed`` are the rows as seen before bias.
    """
    before, bias = rows.table, data.biases[block.bias]
    beta = data.beta(block)
    # The same for all tests, so that their rows are equal without planted bias.
    new_rng = partial(generator, data.experiment.seed, purpose="observe", **seed_axes)
    original = TestRows(
        fill(bias.observe(observed, beta, new_rng()).hide_label(), positions, ORIGINAL), before
    )
    tests: dict[Test, TestRows] = {ORIGINAL: original}
    if BIASED in data.experiment.tests:
        if planted is not None and bias.edits_network:
            # No original row shows the edited network, so other people are drawn.
            changed = planted.draw_rows(len(before), new_rng())
            tests[BIASED] = TestRows(fill(changed.table.hide_label(), None, BIASED), changed.truth)
        else:
            changed = bias.plant_in_rows(rows, beta, new_rng())
            seen, same = changed.table.hide_label(), not bias.records_anew
            # New records can be the same as well, because no label or row was changed before.
            same = same or np.array_equal(seen.codes, original.seen.codes[changed.positions])
            seen = fill(seen, positions[changed.positions], BIASED)
            tests[BIASED] = TestRows(seen, changed.truth, changed.positions if same else None)
    return tests


def told(
    telling: Telling,
    technique: Technique,
    planted: BiasEffect,
    split: Split,
    true: NDArray[np.bool_] | None,
    seed: int,
) -> Iterator[Knowledge]:
    """Yield what a technique is told in a training sample, for each draw.

    ``true`` are the true labels of all of the dataset's rows, if they are known, and ``seed`` is the
    experiment's.
    """
    numbers = vars(telling.numbers(technique, planted))
    needed = [fact for fact in EXAMINED if fact in technique.knows]
    for draw in range(telling.n_draws):
        examined = {fact: _examined(telling, fact, split, true, seed, draw) for fact in needed}
        yield Knowledge(**numbers, **examined)


def _examined(
    telling: Telling, fact: Fact, split: Split, true: NDArray[np.bool_] | None, seed: int, draw: int
) -> Examined:
    """Return rows of a training sample that are looked at again, drawn without replacement.

    The rows of a smaller number are among those of a greater one, and so are the errors of a smaller share.
    """
    if split.after_bias is None:
        raise DeclinedError(
            "Only real rows can be looked at again",
            expected='real rows to train on: train = "data", with holdout or folds',
            got="rows drawn from a network",
        )
    if true is None:
        raise DeclinedError(
            "Whoever looks at rows again cannot tell their true labels",
            expected="a bias whose true labels are known",
            got="the bias of an audit, whose groups were drawn at random",
        )
    train, labels = split.train, true[split.after_bias]
    rng = generator(seed, purpose="told", fact=fact, draw=draw, **split.axes)
    refused = train.deprived & ~train.y
    candidates = np.flatnonzero(refused) if fact == "refusals" else np.arange(len(train))
    rows = rng.permutation(candidates)[: telling.m]
    errs = rng.random(len(candidates))[: len(rows)] < telling.wrong
    return Examined(rows, labels[rows] ^ errs)
