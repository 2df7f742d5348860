"""A technique under test: made-up tables for it, its answers, and the difference between two of them."""

from __future__ import annotations

import contextlib
import pickle
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.conformance.results import NotApplicableError, captured_output
from benchmark.data.table import Column, Schema, Table
from benchmark.techniques import base
from benchmark.techniques.knowledge import FACTS, Examined, Fact, Knowledge
from benchmark.techniques.post_processing import Adjustment, PostProcessing, Scored


def example_table(
    rows: int = 600, seed: int = 7, positives: tuple[bool, bool] = (True, True), extra_columns: int = 0
) -> Table:
    """Return a made-up table with planted discrimination.

    It has an ordered column, the skill, and two unordered columns: a proxy of the group, and a column with a
    state that never occurs. The sensitive feature has three states. The label's favorable state has code 0.
    ``positives`` says whether the favored, and the deprived, group has rows of favorable label.
    ``extra_columns`` depend on the skill, have 2 to 16 states, and are alternately ordered and unordered.
    """
    rng = np.random.default_rng(seed)
    group = rng.choice(3, rows, p=[0.5, 0.35, 0.15])
    deprived = group == 1
    skill = np.clip(rng.normal(3.0 - 0.8 * deprived, 1.4, rows).round(), 0, 6)
    proxy = np.where(rng.random(rows) < 0.7, deprived * 2, rng.integers(0, 4, rows))
    noise = rng.integers(0, 3, rows)
    favorable = rng.random(rows) < 1 / (1 + np.exp(2.6 + 1.1 * deprived - 0.8 * skill))
    favorable &= np.where(deprived, positives[1], positives[0])
    sizes = [2 + 5 * i % 15 for i in range(extra_columns)]
    extra = [(skill * size / 7 + rng.integers(0, size, rows)).astype(int) % size for size in sizes]
    columns = (
        Column("skill", tuple("abcdefg"), ordered=True),
        Column("sex", ("men", "women", "others")),
        Column("proxy", ("north", "east", "south", "west")),
        Column("label", ("hired", "rejected")),
        Column("noise", ("red", "green", "blue", "never")),
        *(Column(f"extra{i}", tuple(map(str, range(k))), ordered=i % 2 == 0) for i, k in enumerate(sizes)),
    )
    schema = Schema(
        columns, label="label", favorable_label="hired", sensitive_feature="sex", deprived_group="women"
    )
    codes = np.column_stack([skill, group, proxy, ~favorable, noise, *extra])
    return Table(schema, codes.astype(np.int16))


def facts_of(table: Table) -> Knowledge:
    """Return the facts about the bias in a made-up table: skilled rows of the deprived group were refused.

    Rows of half of the skills are looked at again, so that the order of rows does not count.
    """
    skill = table.codes[:, 0]
    true = table.y | (table.deprived & (skill >= 4))
    recorded, rate, other = (
        float(labels[rows].mean()) if rows.any() else 0.0
        for labels, rows in ((table.y, table.deprived), (true, table.deprived), (true, ~table.deprived))
    )
    refusals, clean_rows = (
        Examined(rows, true[rows])
        for rows in map(np.flatnonzero, (table.deprived & ~table.y & (skill % 2 == 0), skill % 2 == 0))
    )
    return Knowledge(
        direction=True,
        kind="label",
        gap=rate - recorded,
        rates=(rate, other),
        bounds=(max(rate - 0.05, 0.0), min(rate + 0.05, 1.0)),
        refusals=refusals,
        clean_rows=clean_rows,
    )


def train_and_test() -> tuple[Table, Table]:
    """Return rows of the example to train on, and others."""
    return example_table(), example_table(200, seed=8)


def made_up_scores(table: Table) -> NDArray[np.float64]:
    """Return made-up scores, which are lower for the deprived, shape (n_rows,)."""
    skill = table.codes[:, table.schema.index("skill")]
    chance = np.random.default_rng(3).normal(0.0, 0.8, len(table))
    return np.asarray(1 / (1 + np.exp(2.6 + 0.6 * table.deprived - 0.8 * skill - chance)))


def scored(table: Table) -> Scored:
    """Return rows without labels, and made-up scores, which are lower for the deprived."""
    return Scored(table.hide_label(), made_up_scores(table))


def _reversed_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return new names whose alphabetical order is the reverse of the old names'."""
    backwards = sorted(names, reverse=True)
    return tuple(f"renamed {backwards.index(name):03d}" for name in names)


def renamed(table: Table) -> Table:
    """Return a table with other names of columns and states, in the reverse order."""
    schema = table.schema
    columns = tuple(
        Column(name, _reversed_names(column.states), column.ordered)
        for name, column in zip(_reversed_names(schema.names), schema.columns, strict=True)
    )
    label, sensitive = columns[schema.label_index], columns[schema.sensitive_index]
    favorable, deprived = label.states[schema.favorable_code], sensitive.states[schema.deprived_code]
    return Table(Schema(columns, label.name, favorable, sensitive.name, deprived), table.codes)


def recoded(table: Table, names: Iterable[str] | None = None) -> Table:
    """Return a table with the codes of unordered columns shifted by one: the named columns, or all.

    Roles are included. No state keeps its code, as the middle of three states would in a reversal.
    """
    columns = table.schema.columns
    for name in [c.name for c in columns if not c.ordered] if names is None else names:
        states = table.schema.column(name).cardinality
        table = _permuted(table, name, (np.arange(states) + 1) % states)
    return table


def swapped(table: Table) -> Table:
    """Return a table with exchanged codes of the deprived group and of the other group of :func:`merged`."""
    schema = table.schema
    codes = np.arange(schema.column(schema.sensitive_feature).cardinality)
    pair = [schema.deprived_code, _other_code(schema)]
    codes[pair] = codes[pair[::-1]]
    return _permuted(table, schema.sensitive_feature, codes)


def _permuted(table: Table, name: str, new: NDArray[np.integer]) -> Table:
    """Return a table with a new code for each state of a column; ``new`` has shape (n_states,)."""
    schema = table.schema
    i, column = schema.index(name), schema.column(name)
    states = tuple(column.states[old] for old in np.argsort(new))
    columns = (*schema.columns[:i], replace(column, states=states), *schema.columns[i + 1 :])
    codes = table.codes.copy(order="F")
    codes[:, i] = new[codes[:, i]]
    return Table(replace(schema, columns=columns), codes)


def flipped(table: Table) -> Table:
    """Return a table in which every row has the other label."""
    return table.with_column(table.schema.label, 1 - table.codes[:, table.schema.label_index])


def told_by_skill(rows: int, seed: int, wrong: float = 0.0) -> Table:
    """Return the example with a label that follows from the skill, and with the same skill in all groups.

    A share ``wrong`` of the labels is wrong. Then a copy of the label predicts it better than the skill.
    """
    table, rng = example_table(rows, seed), np.random.default_rng(seed)
    schema = table.schema
    skill = rng.permutation(table.codes[:, schema.index("skill")])
    favorable = (skill >= 3) ^ (rng.random(rows) < wrong)
    return base.with_labels(table.with_column("skill", skill), favorable)


def merged(table: Table) -> Table:
    """Return a table in which all rows outside of the deprived group have one state."""
    schema = table.schema
    codes = np.where(table.deprived, schema.deprived_code, _other_code(schema))
    return table.with_column(schema.sensitive_feature, codes)


def _other_code(schema: Schema) -> int:
    return 0 if schema.deprived_code != 0 else 1


class Shown(Table):
    """Rows whose labels stay visible, although every predictor hides them."""

    def hide_label(self) -> Table:
        """Return the same rows."""
        return self


# Sums in another order differ by rounding, which may change weights by this share, and decisions of scores
# this near to 1/2.
_TOLERANCE = 1e-6
# Mean shares of favorable answers that differ by more do not differ by chance. With this number of seeds it
# is three standard errors even in the smallest compared cell, 41 rows, if coins decided its answers. Answers
# that are the same row by row under the first seeds need no more of them.
_SEEDS, _SEEDS_IF_ALIKE = 50, 3
SHARE_TOLERANCE = 0.05

AnswerPairs: TypeAlias = Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]
"""Pairs of answers to two questions about the same rows, one pair for each seed."""

_Change: TypeAlias = Callable[[Table], Table]
_Question: TypeAlias = Callable[[Adjustment], NDArray[np.bool_]]


@dataclass(frozen=True)
class TechniqueUnderTest:
    """A technique under test, with its tools."""

    technique: base.Technique
    classifier: Callable[[NDArray[np.int64]], base.Estimator]
    ranker: Callable[[Table], NDArray[np.float64]]
    seed: int
    known: Knowledge | None = None  # in place of the facts of the example

    def tools(self, train: Table) -> base.Tools:
        """Return the tools of a new fit."""
        rng = np.random.default_rng(self.seed)
        known = facts_of(train) if self.known is None else self.known
        return base.Tools(self.classifier, self.ranker, rng, known=known.only(self.technique.knows))

    def fit(self, train: Table) -> base.Predictor:
        """Return the predictor trained on a table."""
        return self.technique.fit(train, self.tools(train))

    def predict(self, train: Table, test: Table) -> NDArray[np.bool_]:
        """Return the predictions for a table after training on another one."""
        return self.fit(train).predict(test)

    def calls_classifier(self) -> bool:
        """Return whether a fit on the example table builds a classifier."""
        calls: list[NDArray[np.int64]] = []

        def noted(cardinalities: NDArray[np.int64]) -> base.Estimator:
            calls.append(cardinalities)
            return self.classifier(cardinalities)

        replace(self, classifier=noted).fit(example_table())
        return bool(calls)

    @cached_property
    def trial(self) -> _Trial:
        """A fit on the example table that several checks share."""
        train, test = train_and_test()
        before = [_content(table) for table in (train, test)]
        with captured_output() as written:
            heard = _Heard(set(), **vars(facts_of(train)))
            predictor = replace(self, known=heard).fit(train)
            predictions_and_scores(predictor, test)
        changed = before != [_content(t) for t in (train, test)]
        return _Trial(predictor, "".join(written), changed, heard.read)

    @cached_property
    def repetition(self) -> tuple[Answers, bool]:
        """The answers of a second fit, and whether it used a global generator."""
        _ = self.trial  # first, because libraries may use these generators when they are imported
        with _marked_global_state() as marked:
            return replace(self).answers(), _global_state() != marked

    def answers(self, test: Table | None = None) -> Answers:
        """Return all visible results of the fit: predictions, scores, and prepared data if there are any."""
        test = example_table(200, seed=8) if test is None else test
        data = _data(self.prepared, test) if isinstance(self.technique, base.PreProcessing) else None
        return Answers(*predictions_and_scores(self.fitted, test), data)

    @property
    def fitted(self) -> base.Predictor:
        """The predictor trained on the example table."""
        return self.trial.predictor

    @cached_property
    def prepared(self) -> base.Prepared:
        """The example table as the technique prepares it."""
        if not isinstance(self.technique, base.PreProcessing):
            raise NotApplicableError("it does not prepare data")
        return self.technique.prepare(example_table(), self.tools(example_table()))

    def demand_fixed(self) -> None:
        """Let no check go on if chance decides."""
        if self.technique.randomised:
            raise NotApplicableError("it is randomized")

    def demand_repeatable(self) -> None:
        """Let no check go on if the same rows get another answer each time."""
        if self.answers().differences(self.answers()):
            raise NotApplicableError("it gives the same rows another answer each time")

    def difference(self, first: tuple[Table, Table], second: tuple[Table, Table]) -> float:
        """Return the share of the result that differs between two pairs of training and test rows.

        The result is prepared data, or predictions. Predictions with scores of 1/2, but for rounding, do not
        differ.
        """
        if isinstance(self.technique, base.PreProcessing):
            prepared = [self.technique.prepare(train, self.tools(train)) for train, _ in (first, second)]
            return _data(prepared[0], first[1]).distance(_data(prepared[1], second[1]))
        fits = [self.fit(train) for train, _ in (first, second)]
        differ = fits[0].predict(first[1]) != fits[1].predict(second[1])
        if differ.any() and fits[0].predict_score is not None:
            differ &= np.abs(fits[0].predict_score(first[1]) - 0.5) > _TOLERANCE
        return float(np.mean(differ))

    def effect_of(self, change: _Change, before: _Change = lambda table: table) -> float:
        """Return the share of the result that a change of the tables changes, unless chance decides.

        For post-processing it is the largest change of a group's share of favorable answers; 0 if chance
        explains it.
        """
        if isinstance(self.technique, PostProcessing):
            rows, held_out = scored(before(example_table(400, seed=8))), before(example_table())
            changed = Scored(change(rows.table).hide_label(), rows.score)
            questions = (lambda adjust: adjust(rows), lambda adjust: adjust(changed))
            pairs = self.adjusted(*questions, held_out=held_out, change=change)
            largest = share_difference(pairs, rows.table.codes[:, rows.table.schema.sensitive_index])
            return largest if largest > SHARE_TOLERANCE else 0.0
        self.demand_fixed()
        train, test = map(before, train_and_test())
        return self.difference((train, test), (change(train), change(test)))

    def adjusted(
        self,
        first: _Question,
        second: _Question,
        held_out: Table | None = None,
        change: _Change | None = None,
    ) -> AnswerPairs:
        """Yield the answers of an adjustment to two questions, for each seed.

        With a ``change``, the second adjustment is learned from changed held-out rows with the same scores.
        """
        held_out = example_table() if held_out is None else held_out
        score, technique = made_up_scores(held_out), self.technique
        assert isinstance(technique, PostProcessing)
        for i in range(_SEEDS):
            seeded = replace(self, seed=self.seed + i)
            adjust = changed = technique._adjust(Scored(held_out, score), seeded.tools(held_out))
            if change is not None:
                other = change(held_out)
                changed = technique._adjust(Scored(other, score), seeded.tools(other))
            yield first(adjust), second(changed)


class _Heard(Knowledge):
    """Knowledge that notes which facts are read."""

    read: set[str]  # names of the facts that anybody tried to read

    def __init__(self, read: set[str], **facts: Any) -> None:
        super().__init__(**facts)
        self.read = read

    def only(self, facts: Iterable[Fact]) -> Knowledge:
        return _Heard(self.read, **{name: own for name, own in vars(self).items() if name in {*facts}})

    def __getattribute__(self, name: str) -> Any:
        if name in FACTS:
            self.read.add(name)
        return super().__getattribute__(name)


@dataclass(frozen=True)
class _Trial:
    predictor: base.Predictor
    written: str
    tables_changed: bool
    read: set[str]  # facts about the bias that it tried to read


def predictions_and_scores(
    predictor: base.Predictor, test: Table
) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None]:
    """Return predictions, and scores if there are any."""
    predicted = predictor.predict(test)
    return predicted, None if predictor.predict_score is None else predictor.predict_score(test)


@dataclass(frozen=True)
class _Data:
    """Training rows of a classifier with their weights, and the rows that it predicts from, in words."""

    rows: NDArray[np.str_]
    weight: NDArray[np.float64]
    shown: NDArray[np.str_]

    def distance(self, other: _Data) -> float:
        """Return the share of weight on different training rows, or of different test rows if it is larger.

        The order of training rows does not count, nor does rounding.
        """
        _, distinct = np.unique(np.concatenate([self.rows, other.rows]), return_inverse=True)
        split = len(self.rows)
        first = np.bincount(distinct[:split], self.weight, distinct.max() + 1)
        second = np.bincount(distinct[split:], other.weight, distinct.max() + 1)
        apart = np.abs(first - second)
        apart[apart <= _TOLERANCE * np.maximum(first, second)] = 0.0
        return float(max(apart.sum() / (first + second).sum(), np.mean(self.shown != other.shown)))

    def differences(self, other: _Data) -> list[str]:
        differ = {
            "prepared training rows differ": not np.array_equal(self.rows, other.rows),
            "weights differ": self.weight.shape != other.weight.shape
            or not np.allclose(self.weight, other.weight, rtol=_TOLERANCE),
            "transformed test rows differ": not np.array_equal(self.shown, other.shown),
        }
        return [text for text, seen in differ.items() if seen]


@dataclass(frozen=True)
class Answers:
    """All visible results of a fit."""

    predicted: NDArray[np.bool_]
    score: NDArray[np.float64] | None
    data: _Data | None

    def differences(self, other: Answers) -> str:
        """Return the differences between two answers in words; "" if they agree."""
        differences = []
        wrong = np.count_nonzero(self.predicted != other.predicted)
        if wrong:
            differences.append(f"{wrong} of {len(self.predicted)} predictions differ")
        if self.score is None or other.score is None:
            if self.score is not other.score:
                differences.append("only one has scores")
        elif not np.allclose(self.score, other.score, rtol=0, atol=_TOLERANCE):
            differences.append(f"scores differ by up to {np.abs(self.score - other.score).max():.3g}")
        if self.data is not None and other.data is not None:
            differences.extend(self.data.differences(other.data))
        return ", ".join(differences)


def predicted_in_parts(predictor: base.Predictor, rows: Table, part: NDArray[np.bool_]) -> AnswerPairs:
    """Yield predictions of rows at once and in two parts, in a new order each time, so that draws change."""
    rng = np.random.default_rng(1)
    for _ in range(_SEEDS):
        order = rng.permutation(len(rows))
        at_once, apart = (np.empty(len(rows), dtype=np.bool_) for _ in range(2))
        at_once[order] = predictor.predict(rows.take(order))
        for members in (order[part[order]], order[~part[order]]):
            apart[members] = predictor.predict(rows.take(members))
        yield at_once, apart


def share_difference(pairs: AnswerPairs, cells: NDArray[np.integer]) -> float:
    """Return the largest difference, of all cells, between the mean shares of favorable answers."""
    excess, alike = np.zeros(len(cells)), True
    for i, (answers, others) in enumerate(pairs):
        alike = alike and np.array_equal(answers, others)
        if alike and i + 1 == _SEEDS_IF_ALIKE:
            return 0.0
        excess += answers.astype(float) - others
    members = np.bincount(cells)
    return float(np.abs(np.bincount(cells, excess)[members > 0] / members[members > 0]).max() / _SEEDS)


def _data(prepared: base.Prepared, test: Table) -> _Data:
    rows = _in_words(prepared, prepared.table, label=True)
    weight = np.ones(len(rows)) if prepared.sample_weight is None else prepared.sample_weight
    shown = test if prepared.transform is None else prepared.transform(test.hide_label())
    return _Data(rows, weight, _in_words(prepared, shown, label=False))


def _in_words(prepared: base.Prepared, table: Table, *, label: bool) -> NDArray[np.str_]:
    """Return the names of the states of each row's features, which do not depend on codes."""
    columns = [*prepared.feature_indices, *([table.schema.label_index] if label else [])]
    states = [np.array(table.schema.columns[i].states)[table.codes[:, i]] for i in columns]
    return np.array(["|".join(row) for row in zip(*states, strict=True)])


def _content(table: Table) -> tuple[bytes | bool, ...]:
    codes, features = table.codes, table.features
    arrays = (codes, features, table.y, table.deprived)
    return *(array.tobytes() for array in arrays), codes.flags.writeable, features.flags.writeable


@contextlib.contextmanager
def _marked_global_state() -> Iterator[bytes]:
    """Give the global generators a state that no seed of a technique gives them, so that seeding shows."""
    original = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        random.seed("conformance")
        np.random.seed(list(b"conformance"))  # noqa: NPY002
        yield _global_state()
    finally:
        random.setstate(original[0])
        np.random.set_state(original[1])  # noqa: NPY002


def _global_state() -> bytes:
    return pickle.dumps((random.getstate(), np.random.get_state()))  # noqa: NPY002


class Weightless:
    """A classifier whose ``fit`` takes no weights."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, X: NDArray[np.int16], y: NDArray[np.int64]) -> Self:
        """Train on codes."""
        self._estimator.fit(X, y)
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._estimator, name)


class Scoreless:
    """A classifier that estimates no probabilities."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, X: NDArray[np.int16], y: NDArray[np.int64], sample_weight: Any = None) -> Self:
        """Train on codes."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self._estimator.fit(X, y, **weights)
        return self

    def predict(self, X: NDArray[np.int16]) -> NDArray[np.int64]:
        """Return 0 or 1 for each row."""
        return np.asarray(self._estimator.predict(X))
