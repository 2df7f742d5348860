"""What is drawn for a block: its random streams, its splits, what is trained on, and what is tested on.

All numbers pass through here, so it is part of :data:`benchmark.experiment.versions.HARNESS`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmark.bias import Bias, Planted, Rows
from benchmark.columns import BIASED, ORIGINAL, TRUTH, Test
from benchmark.data.raw_numbers import numbered
from benchmark.data.table import Table
from benchmark.seeding import generator

if TYPE_CHECKING:
    from benchmark.experiment.plan import Block, Experiment
    from benchmark.experiment.prepare import PreparedDataset

Axes = dict[str, str | int | float]
_Numbering = Callable[[Table, NDArray[np.intp] | None, str], Table]


@dataclass(frozen=True, eq=False)
class TestRows:
    """Rows that techniques are tested on."""

    __test__ = False  # pytest would take it for a test

    seen: Table  # what a technique sees of them: their features as they are recorded, no labels
    truth: Table  # what they are scored with: true features, and the labels of the test
    # Which of the original test rows they are, shape (n_rows,), where a technique sees the very same of
    # them: what it says is the same, too.
    among: NDArray[np.intp] | None = None


@dataclass(frozen=True, eq=False)
class Fold:
    """What is trained on, and the rows of each test that have to be predicted."""

    axes: Axes  # what its random numbers are for
    train: Table
    tests: Mapping[Test, TestRows]
    # Positions among the scene's rows, ascending: of those that train was made from, the real rows before
    # bias or those that the network is of, if not all; of those that train has, if they are real; and of the
    # original test rows, if not all.
    known: NDArray[np.intp] | None = None
    kept: NDArray[np.intp] | None = None
    tested: NDArray[np.intp] | None = None


def axes(data: PreparedDataset, block: Block, experiment: Experiment) -> Axes:
    """Return what the random numbers of a block are for; see :func:`benchmark.seeding.axis_seed`."""
    return _axes(data, experiment, block.level, block.repetition)


def _axes(data: PreparedDataset, experiment: Experiment, level: float, repetition: int) -> Axes:
    unpaired: Axes = {} if experiment.paired_betas else {"beta": level}
    return {"dataset": data.name, **unpaired, "repetition": repetition}


def draw_folds(
    data: PreparedDataset, block: Block, experiment: Experiment, *, in_truth: bool = False
) -> Iterator[Fold]:
    """Yield what the techniques of a block are trained and tested on: one fold unless there are several.

    Asked for it ``in_truth``, no bias is hidden in the rows.
    """
    own, bias = axes(data, block, experiment), data.biases[block.bias]
    beta = data.beta_of(block.bias, block.level)
    if not experiment.splits:
        whole = data.planted(block.bias, beta)[0]
        train = whole.draw(data.n_train, generator(experiment.seed, purpose="sample", **own))
        fill = numbering(data, experiment, own, None)
        every = data.rows
        tests = _tests(every, bias, beta, whole, experiment, own, fill, every.kept, every.table)
        yield Fold(own, fill(train, None, "train"), tests)
        return
    hides = block.bias in data.hidden and not in_truth
    source = _source(data, block, experiment, own, hides)
    for number, (train_rows, test_rows) in enumerate(split(data, experiment, own)):
        fold = own if data.folds is None else {**own, "fold": number}
        rng = generator(experiment.seed, purpose="sample", **fold)
        planted: Planted | None = None
        kept: NDArray[np.intp] | None = None
        train_rows = train_rows[source.trained[train_rows]]
        if experiment.train == "data":
            if data.n_train < len(train_rows):
                train_rows = np.sort(rng.choice(train_rows, data.n_train, replace=False))
            if hides:
                train_rows, test_rows = (
                    np.intersect1d(part, source.kept) for part in (train_rows, test_rows)
                )
            biased = bias.plant_in_rows(source.train.take(source.places(train_rows)), beta, rng)
            train, kept = biased.table, biased.kept
        else:
            planted = bias.plant_unchecked(data.network_of(train_rows), beta)
            train = planted.draw(data.n_train, rng)
        places = source.places(test_rows)
        held_out, known = source.test.apart(places), source.known.take(places)
        fill = numbering(data, experiment, fold, train_rows)
        tests = _tests(held_out, bias, beta, planted, experiment, fold, fill, test_rows, known)
        if hides:
            true = data.test.take(test_rows)
            tests[TRUTH] = TestRows(tests[ORIGINAL].seen, true, np.arange(len(true)))
        yield Fold(fold, fill(train, kept, "train"), tests, train_rows, kept, test_rows)


def _taken_for_original(data: PreparedDataset, block: Block, experiment: Experiment) -> Rows:
    """Return all rows with the hidden bias of a block, as rows in which nothing has been planted yet."""
    # Without the level of bias and the gap: what a greater gap hides holds what a smaller one does.
    own: Axes = {"dataset": data.name, "repetition": block.repetition}
    rng = generator(experiment.seed, purpose="hidden", **own)
    rows = data.biases[block.bias].plant_in_rows(data.rows, data.hidden_beta(block.bias), rng)
    label = data.test.schema.label_index
    labels = data.test.codes[:, label].copy()
    labels[rows.kept] = rows.table.codes[:, label]
    return replace(rows, before=data.test.with_column(data.test.schema.label, labels))


@dataclass(frozen=True, eq=False)
class _Source:
    """All rows of a scene, as a block trains and tests on some of them."""

    train: Rows
    test: Rows
    trained: NDArray[np.bool_]  # which of them are trained on at all, shape (n_rows,)
    known: Table  # what is known of those that are tested, before bias

    @property
    def kept(self) -> NDArray[np.intp]:
        """Positions of the rows among the scene's, ascending: hidden bias may leave some out."""
        return self.train.kept

    def places(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where rows are, given by their positions among the scene's."""
        return np.searchsorted(self.kept, rows)


def _source(data: PreparedDataset, block: Block, experiment: Experiment, own: Axes, hides: bool) -> _Source:
    """Return the scene's rows: with bias hidden in them, or as they were recorded.

    Where chance decided who belongs to which group, the clean model learns from the favored group alone, and
    answers as if everybody belonged to it. The audit's own bias brings the rows of the other group. Another
    bias is planted in the favored rows: everybody, tested or not, gets a group that is drawn anew, the same
    at all levels of bias.
    """
    rows = _taken_for_original(data, block, experiment) if hides else data.rows
    if not data.entry.audit:
        return _Source(rows, rows, np.ones(len(data.test), dtype=np.bool_), rows.table)
    favored = ~data.test.deprived
    lots = generator(experiment.seed, purpose="group", **own)
    if data.biases[block.bias].of_audit:
        who, trained = rows, np.ones(len(favored), dtype=np.bool_)
    else:
        groups = data.recorded_groups
        who, trained = rows.in_groups(groups[lots.integers(len(groups), size=len(favored))]), favored
    if block.level > 0:
        return _Source(who, who, trained, who.table)
    return _Source(rows, who, favored, data.as_favored)


def sealed_fold(fold: Fold) -> Fold:
    """Return a fold of which techniques can change nothing that they see."""
    tests = {name: replace(rows, seen=rows.seen.sealed) for name, rows in fold.tests.items()}
    return replace(fold, train=fold.train.sealed, tests=tests)


def numbering(
    data: PreparedDataset, experiment: Experiment, own: Axes, known: NDArray[np.intp] | None
) -> _Numbering:
    """Return what gives a table numbers, told which of the scene's rows it has, and what they are for.

    They are drawn from the ``known`` rows, or from all (:func:`~benchmark.data.raw_numbers.numbered`).
    Where no classifier takes numbers, the table is left as it is.
    """
    numbers = data.numbers
    if numbers is None:
        return lambda table, *_: table

    def number(table: Table, rows: NDArray[np.intp] | None, part: str) -> Table:
        def lots(column: str) -> np.random.Generator:
            return generator(experiment.seed, purpose="numbers", part=part, column=column, **own)

        return numbered(table, data.test, numbers, known, rows, lots)

    return number


def split(
    data: PreparedDataset, experiment: Experiment, own: Axes
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the positions of rows to train on and to test on, each ascending, by the axes of a block.

    Where people judged the rows it is the judges who are parted. A person goes with the judge of one of the
    person's rows, drawn at random, and is tested in that row alone. The rows to train on are those of the
    other judges and persons; rows that cross are left out.
    """
    rng, judged = generator(experiment.seed, purpose="split", **own), data.judged
    parted = np.arange(len(data.test)) if judged is None else judged.judges
    n_parted = int(parted.max()) + 1
    shuffled = rng.permutation(n_parted)
    if data.folds is not None:
        parts = np.array_split(shuffled, data.folds)
    else:
        assert experiment.holdout is not None
        parts = [shuffled[: n_held_out(n_parted, experiment.holdout)]]
    row_of_person = None
    if judged is not None:
        order = rng.permutation(len(parted))
        row_of_person = order[np.unique(judged.persons[order], return_index=True)[1]]
    for part in parts:
        held_out = np.isin(parted, part)
        if judged is None or row_of_person is None:
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)
            continue
        tested = np.sort(row_of_person[held_out[row_of_person]])
        crossing = np.isin(judged.persons, judged.persons[tested])
        yield np.flatnonzero(~held_out & ~crossing), tested


def split_sizes(data: PreparedDataset, experiment: Experiment) -> list[tuple[int, int]]:
    """Return how many rows are trained on and tested on in each split of each repetition and level.

    Where chance decided who belongs to which group, those are counted that the clean model is trained on.
    """
    trained = ~data.test.deprived if data.entry.audit else np.ones(len(data.test), dtype=np.bool_)
    levels = experiment.levels[:1] if experiment.paired_betas else experiment.levels
    return [
        (int(np.count_nonzero(trained[train])), len(test))
        for level, repetition in itertools.product(levels, range(experiment.repetitions))
        for train, test in split(data, experiment, _axes(data, experiment, level, repetition))
    ]


def n_held_out(n_rows: int, holdout: float) -> int:
    """Return how many rows a share of them is: at least one, and at least one less than all."""
    return min(max(round(holdout * n_rows), 1), n_rows - 1)


def _tests(
    rows: Rows,
    bias: Bias,
    beta: float,
    planted: Planted | None,
    experiment: Experiment,
    own: Axes,
    fill: _Numbering,
    which: NDArray[np.intp],
    known: Table,
) -> dict[Test, TestRows]:
    """Return the rows of each test that needs its own: balanced ones are original ones with weights.

    ``which`` of the scene's rows they are is told ``fill``; ``known`` is what is known of them before bias.
    """
    before = rows.table

    def lots() -> np.random.Generator:
        # The same for all tests: where nothing is planted, they are the same rows.
        return generator(experiment.seed, purpose="observe", **own)

    original = TestRows(fill(bias.observe(known, beta, lots()).hide_label(), which, ORIGINAL), before)
    tests: dict[Test, TestRows] = {ORIGINAL: original}
    if BIASED in experiment.tests:
        if planted is not None and bias.edits_network:
            # What an edited network says of people is in no row of the others: other people are drawn.
            changed = planted.draw_rows(len(before), lots())
            tests[BIASED] = TestRows(fill(changed.table.hide_label(), None, BIASED), changed.truth)
        else:
            changed = bias.plant_in_rows(rows, beta, lots())
            seen, same = changed.table.hide_label(), not bias.records_anew
            # What is recorded anew may be the same as well: no label or row was changed before.
            same = same or np.array_equal(seen.codes, original.seen.codes[changed.kept])
            seen = fill(seen, which[changed.kept], BIASED)
            tests[BIASED] = TestRows(seen, changed.truth, changed.kept if same else None)
    return tests
