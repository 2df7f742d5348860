"""Every registered technique conforms, and the checks catch those that do not."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from benchmark.techniques import (
    Predictor,
    Prepared,
    PreProcessing,
    Technique,
    Tools,
    get_technique,
    list_techniques,
)
from benchmark.techniques.conformance import CHECKS, check_technique, example_table

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "repair": [
        {"variant": variant, "level": level, "treatment": treatment, "repair_label": True,
         "repair_sensitive": True, "repair_test": True}
        for variant in ("feldman", "blackbox_auditing")
        for level in (0.0, 0.5, 1.0)
        for treatment in ("schema", "categorical", "ordinal")
    ]
}  # fmt: skip
CONFIGURED = [(n, p) for n in list_techniques() for p in [{}, *VARIANTS.get(n, [])]]


@pytest.mark.parametrize(("name", "parameters"), CONFIGURED, ids=str)
def test_every_registered_technique_conforms(name: str, parameters: dict[str, Any]) -> None:
    results = check_technique(get_technique(name, **parameters))
    assert [r.check for r in results] == list(CHECKS)
    assert [r for r in results if r.status == "failed"] == []


class Good(PreProcessing):
    name, reference, summary, version = "good", "r", "s", "1"

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train)


class Moody(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        rng = np.random.default_rng()
        return Prepared(train.with_column("skill", rng.permutation(train.codes[:, 0])))


class Vandal(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        train.codes.flags.writeable = True
        train.codes[0, 0] = 6 - train.codes[0, 0]
        return Prepared(train)


class Seeder(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        np.random.seed(0)  # noqa: NPY002
        return Prepared(train)


class Dice(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        random.random()
        return Prepared(train)


class SecretlyRandom(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train.with_column("skill", tools.rng.permutation(train.codes[:, 0])))


class OrderBound(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train.take(np.arange(300)))


class NameBound(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        names = [n for n in sorted(train.schema.names) if n != train.schema.label]
        return Prepared(train, features=(names[0],))


class CodeBound(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train, sample_weight=1.0 + train.codes[:, train.schema.sensitive_index])


class Negative(Good):
    def prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train, sample_weight=np.where(train.y, 1.0, -1.0))

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: np.zeros(len(test), dtype=bool))


class Fragile(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        if not train.y[train.deprived].any():
            raise ZeroDivisionError("no positives")
        return Prepared(train)


class Peeking(Technique):
    """Overrides the public method, which is the only way round the hiding of labels."""

    name, stage, reference, summary, version = "peeking", "in", "r", "s", "1"

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: test.y)

    def fit(self, train: Table, tools: Tools) -> Predictor:
        return self._fit(train, tools)


@pytest.mark.parametrize(
    ("technique", "check"),
    [
        (Moody, "deterministic under a seed"),
        (Vandal, "input not mutated"),
        (Seeder, "global random state untouched"),
        (Dice, "global random state untouched"),
        (SecretlyRandom, "randomness declared"),
        (OrderBound, "row order irrelevant"),
        (NameBound, "names irrelevant"),
        (CodeBound, "coding irrelevant"),
        (Negative, "weights valid"),
        (Fragile, "a group without positives"),
        (Peeking, "test labels unseen"),
    ],
)
def test_each_check_catches_its_offender(technique: type[Technique], check: str) -> None:
    failed = {r.check: r.detail for r in check_technique(technique()) if r.status == "failed"}
    assert check in failed
    assert failed[check]


def test_every_check_has_an_offender_and_a_good_technique_passes() -> None:
    marks = test_each_check_catches_its_offender.pytestmark  # type: ignore[attr-defined]
    assert {check for _, check in marks[0].args[1]} == set(CHECKS)
    assert all(r.status != "failed" for r in check_technique(Good()))


def test_a_stated_reason_is_a_valid_answer() -> None:
    class Reasoned(Fragile):
        def skip(self, train: Table) -> str | None:
            return None if train.y[train.deprived].any() else "the deprived group has no positives"

    results = {r.check: r.status for r in check_technique(Reasoned())}
    assert results["a group without positives"] == "passed"
    with pytest.raises(TechniqueError, match="has no positives"):
        Reasoned().fit(example_table(positives=(True, False)), None)  # type: ignore[arg-type]
