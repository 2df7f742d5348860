"""What every technique must do, whoever wrote it.

Each check is a function of a technique that raises :class:`NonconformityError` with what it saw. They run on
a small made-up table, so they take milliseconds and need neither data nor network.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Column, Schema, Table
from benchmark.errors import TechniqueError
from benchmark.techniques.base import Estimator, Prepared, PreProcessing, Technique, Tools

__all__ = ["CHECKS", "CheckResult", "NonconformityError", "check_technique", "example_table"]

Status = Literal["passed", "failed", "not applicable"]


class NonconformityError(TechniqueError):
    """A technique breaks a rule that all techniques keep."""


class _NotApplicableError(Exception):
    """The check does not concern this technique; the message says why."""


@dataclass(frozen=True)
class CheckResult:
    """Outcome of one check.

    Parameters
    ----------
    check : str
        The check's name.
    status : {"passed", "failed", "not applicable"}
        Outcome.
    detail : str
        What was wrong, or why the check does not apply; empty if it passed.
    """

    check: str
    status: Status
    detail: str = ""


def example_table(rows: int = 600, seed: int = 7, positives: tuple[bool, bool] = (True, True)) -> Table:
    """Return a made-up table with planted discrimination.

    Parameters
    ----------
    rows : int, default 600
        Number of rows.
    seed : int, default 7
        Of the generator that draws it.
    positives : tuple of bool, default (True, True)
        Whether the favored, and the deprived, group has rows of favorable label.

    Returns
    -------
    Table
        An ordered, two unordered columns (one of them a proxy of the group, one with a state that never
        occurs), a sensitive feature of three states and a label whose favorable state has code 0.
    """
    rng = np.random.default_rng(seed)
    group = rng.choice(3, rows, p=[0.5, 0.35, 0.15])
    deprived = group == 1
    skill = np.clip(rng.normal(3.0 - 0.8 * deprived, 1.4, rows).round(), 0, 6)
    proxy = np.where(rng.random(rows) < 0.7, deprived * 2, rng.integers(0, 4, rows))
    noise = rng.integers(0, 3, rows)
    favorable = rng.random(rows) < 1 / (1 + np.exp(2.6 + 1.1 * deprived - 0.8 * skill))
    favorable &= np.where(deprived, positives[1], positives[0])
    schema = Schema(
        columns=(
            Column("skill", tuple("abcdefg"), ordered=True),
            Column("sex", ("men", "women", "others")),
            Column("proxy", ("north", "east", "south", "west")),
            Column("label", ("hired", "rejected")),
            Column("noise", ("red", "green", "blue", "never")),
        ),
        label="label",
        favorable_label="hired",
        sensitive_feature="sex",
        deprived_group="women",
    )
    return Table(schema, np.column_stack([skill, group, proxy, ~favorable, noise]).astype(np.int16))


def check_technique(
    technique: Technique,
    *,
    classifier: Callable[[NDArray[np.int64]], Estimator] | None = None,
    ranker: Callable[[Table], NDArray[np.float64]] | None = None,
    seed: int = 0,
) -> list[CheckResult]:
    """Run all checks on a configured technique.

    Parameters
    ----------
    technique : Technique
        What is checked, with its parameters.
    classifier, ranker : callable, optional
        As in :class:`Tools`; naive Bayes if left out.
    seed : int, default 0
        Of the generators handed to the technique.

    Returns
    -------
    list of CheckResult
        One for each check, in the order of :data:`CHECKS`.
    """
    bench = _Bench(technique, classifier or _naive_bayes, ranker or _naive_bayes_ranker, seed)
    results = []
    for name, check in CHECKS.items():
        try:
            check(bench)
        except _NotApplicableError as reason:
            results.append(CheckResult(name, "not applicable", str(reason)))
        except NonconformityError as problem:
            results.append(CheckResult(name, "failed", str(problem)))
        except Exception as problem:  # a technique under test may do anything
            results.append(CheckResult(name, "failed", f"{type(problem).__name__}: {problem}"))
        else:
            results.append(CheckResult(name, "passed"))
    return results


@dataclass(frozen=True)
class _Bench:
    """A technique on the workbench."""

    technique: Technique
    classifier: Callable[[NDArray[np.int64]], Estimator]
    ranker: Callable[[Table], NDArray[np.float64]]
    seed: int

    def tools(self) -> Tools:
        return Tools(self.classifier, self.ranker, np.random.default_rng(self.seed))

    def predict(self, train: Table, test: Table) -> NDArray[np.bool_]:
        return self.technique.fit(train, self.tools()).predict(test)

    def prepare(self, train: Table) -> Prepared:
        if not isinstance(self.technique, PreProcessing):
            raise _NotApplicableError("it does not prepare data")
        return self.technique.prepare(train, self.tools())


def _train_and_test() -> tuple[Table, Table]:
    return example_table(), example_table(200, seed=8)


def _demand(held: bool, what: str, **details: Any) -> None:
    if not held:
        raise NonconformityError(what, **details)


def _deterministic(bench: _Bench) -> None:
    """Demand the same predictions from the same seed."""
    train, test = _train_and_test()
    first, second = bench.predict(train, test), bench.predict(train, test)
    _demand(
        np.array_equal(first, second),
        "Two runs with one seed differ",
        got=f"{np.count_nonzero(first != second)} of {len(test)} predictions differ",
        remedy="draw every random number from tools.rng, and never iterate over a set",
    )


def _input_untouched(bench: _Bench) -> None:
    """Demand that training and test tables stay as they were."""
    train, test = _train_and_test()
    before = [(t.codes.tobytes(), t.codes.flags.writeable) for t in (train, test)]
    bench.predict(train, test)
    after = [(t.codes.tobytes(), t.codes.flags.writeable) for t in (train, test)]
    _demand(before == after, "A table was changed in place", remedy="work on a copy: table.codes.copy()")


def _global_state_untouched(bench: _Bench) -> None:
    """Demand that the global generators of Python and NumPy are neither used nor seeded."""
    train, test = _train_and_test()
    original = _global_state()
    try:
        # A state that nobody else sets, so that seeding shows even if an earlier run has seeded already.
        random.seed(f"conformance of {bench.technique.name}")
        np.random.seed(list(bench.technique.name.encode()))  # noqa: NPY002
        before = pickle.dumps(_global_state())
        bench.predict(train, test)
        after = pickle.dumps(_global_state())
    finally:
        random.setstate(original[0])
        np.random.set_state(original[1])  # noqa: NPY002
    _demand(
        before == after,
        "A global random generator was used or seeded",
        remedy="draw every random number from tools.rng",
    )


def _randomness_declared(bench: _Bench) -> None:
    """Demand that the seed is irrelevant unless the technique says that chance decides."""
    _demand_fixed(bench)
    train, test = _train_and_test()
    other = replace(bench, seed=bench.seed + 1)
    _demand(
        np.array_equal(bench.predict(train, test), other.predict(train, test)),
        "Predictions depend on the seed",
        remedy="declare randomised = True",
    )


def _labels_unseen(bench: _Bench) -> None:
    """Demand that predictions do not depend on the labels of the test rows."""
    train, test = _train_and_test()
    flipped = test.with_column("label", 1 - test.codes[:, test.schema.label_index])
    fitted = bench.technique.fit(train, bench.tools())
    again = bench.technique.fit(train, bench.tools())
    _demand(
        np.array_equal(fitted.predict(test), again.predict(flipped)),
        "Predictions depend on test labels",
        remedy="predict from the features only",
    )


def _valid_weights(bench: _Bench) -> None:
    """Demand weights that are finite, not negative and one for each row."""
    prepared = bench.prepare(example_table())
    if prepared.sample_weight is None:
        raise _NotApplicableError("it does not weight rows")
    weight = prepared.sample_weight
    _demand(
        weight.shape == (len(prepared.table),) and bool(np.isfinite(weight).all() and (weight >= 0).all()),
        "Weights are invalid",
        got=f"shape {weight.shape} from {weight.min()} to {weight.max()}",
    )


def _row_order_irrelevant(bench: _Bench) -> None:
    """Demand the same rows from a shuffled table, unless chance decides."""
    _demand_fixed(bench)
    train = example_table()
    shuffled = train.take(np.random.default_rng(1).permutation(len(train)))
    _demand(
        np.array_equal(_sorted_rows(bench.prepare(train)), _sorted_rows(bench.prepare(shuffled))),
        "The result depends on the order of the training rows",
        remedy="declare randomised = True if chance decides, or break ties by what rows hold",
    )


def _names_irrelevant(bench: _Bench) -> None:
    """Demand that renaming columns and states changes no prediction."""
    train, test = _train_and_test()
    _demand(
        np.array_equal(bench.predict(train, test), bench.predict(_renamed(train), _renamed(test))),
        "Predictions depend on the names of columns or states",
        remedy="use the roles of the schema, never names",
    )


def _coding_irrelevant(bench: _Bench) -> None:
    """Demand the same rows whichever codes unordered states have, unless chance decides."""
    _demand_fixed(bench)
    train = example_table()
    recoded = _sorted_rows(_decoded(bench.prepare(_recoded(train))))
    _demand(
        np.array_equal(_sorted_rows(bench.prepare(train)), recoded),
        "The result depends on the codes of unordered states",
        remedy="take the favorable label and the deprived group from the schema, not from code 0 or 1",
    )


def _group_without_positives(bench: _Bench) -> None:
    """Demand a result or a stated reason where one group never has the favorable label."""
    for positives in ((True, False), (False, True)):
        train = example_table(positives=positives)
        reason = bench.technique.skip(train)
        if reason is not None:
            _demand(bool(reason.strip()), "The technique declines without a reason")
            continue
        try:
            bench.predict(train, example_table(200, seed=8))
        except TechniqueError as problem:
            _demand(bool(problem.what.strip()), "The technique fails without a reason")


CHECKS: dict[str, Callable[[_Bench], None]] = {
    "deterministic under a seed": _deterministic,
    "input not mutated": _input_untouched,
    "global random state untouched": _global_state_untouched,
    "randomness declared": _randomness_declared,
    "test labels unseen": _labels_unseen,
    "weights valid": _valid_weights,
    "row order irrelevant": _row_order_irrelevant,
    "names irrelevant": _names_irrelevant,
    "coding irrelevant": _coding_irrelevant,
    "a group without positives": _group_without_positives,
}
"""All checks by name, in the order in which they run."""


def _demand_fixed(bench: _Bench) -> None:
    if bench.technique.randomised:
        raise _NotApplicableError("it is randomised")


def _sorted_rows(prepared: Prepared) -> NDArray[np.float64]:
    weight = prepared.sample_weight
    if weight is None:
        weight = np.ones(len(prepared.table))
    rows = np.column_stack(
        [prepared.table.codes[:, list(prepared.feature_indices)], prepared.table.y, weight]
    )
    return rows[np.lexsort(rows.T)]


def _global_state() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state()  # noqa: NPY002


def _reversed_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return new names whose alphabetical order is the reverse of the old names'."""
    backwards = sorted(names, reverse=True)
    return tuple(f"renamed {backwards.index(name):03d}" for name in names)


def _renamed(table: Table) -> Table:
    schema = table.schema
    columns = tuple(
        Column(name, _reversed_names(column.states), column.ordered)
        for name, column in zip(_reversed_names(schema.names), schema.columns, strict=True)
    )
    label, sensitive = columns[schema.label_index], columns[schema.sensitive_index]
    renamed = Schema(
        columns,
        label.name,
        label.states[schema.favorable_code],
        sensitive.name,
        sensitive.states[schema.deprived_code],
    )
    return Table(renamed, table.codes)


def _recoded(table: Table) -> Table:
    """Reverse the codes of all unordered columns, the label and the sensitive feature included."""
    columns = table.schema.columns
    reversed_columns = tuple(c if c.ordered else replace(c, states=c.states[::-1]) for c in columns)
    return Table(replace(table.schema, columns=reversed_columns), _reversed_codes(table))


def _decoded(prepared: Prepared) -> Prepared:
    """Undo :func:`_recoded` on prepared data."""
    return replace(prepared, table=_recoded(prepared.table))


def _reversed_codes(table: Table) -> NDArray[np.int16]:
    codes = table.codes.copy(order="F")
    for i, column in enumerate(table.schema.columns):
        if not column.ordered:
            codes[:, i] = column.cardinality - 1 - codes[:, i]
    return codes


def _naive_bayes(cardinalities: NDArray[np.int64]) -> Estimator:
    from sklearn.naive_bayes import CategoricalNB

    estimator: Estimator = CategoricalNB(min_categories=cardinalities)
    return estimator


def _naive_bayes_ranker(table: Table) -> NDArray[np.float64]:
    columns = list(table.schema.feature_indices)
    model: Any = _naive_bayes(table.schema.cardinalities[columns])
    model.fit(table.codes[:, columns], table.y)
    return np.asarray(model.predict_proba(table.codes[:, columns])[:, 1])
