"""Pre-processing techniques against aif360, BlackBoxAuditing and plain pandas: preparation of a sample alone.

Everybody starts from the form that suits them (codes, a frame of categories, an aif360 dataset, a list of
lists of texts), made beforehand, and nobody trains a classifier. Where a technique ranks rows, training the
ranker is part of it for everybody. Results have to be the same: weights to rounding, resampled rows and
changed labels but for ties in the ranking, cells of group and label exactly. Repair draws at random; its
notes say how far apart it leaves the groups' shares. It is measured on fewer rows: others take minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.classifiers import naive_bayes_ranker
from benchmark.data.table import Schema, Table
from benchmark.techniques import Prepared, PreProcessing, Tools, get_technique
from tools.performance import plain
from tools.performance.prepared_inputs import biased_sample, datasets
from tools.performance.timing import Row, alternate, missing, optional

__all__ = ["as_aif360", "measure"]

_LEVEL = 0.5
_ROWS_REPAIRED = 6000


def measure(quick: bool) -> Iterator[Row]:
    """Time the preparation of a training sample of each dataset."""
    for name in datasets(quick):
        table = biased_sample(name, quick)
        yield from _reweighing(name, table, quick)
        yield from _changing(name, table, quick)
        yield from _repair(name, table, quick)


def _prepare(table: Table, technique: str, **parameters: Any) -> Prepared:
    """Prepare a table whose roles nobody has looked up yet."""
    configured = get_technique(technique, **parameters)
    assert isinstance(configured, PreProcessing)
    tools = Tools(_no_classifier, naive_bayes_ranker, np.random.default_rng(0))
    return configured.prepare(Table(table.schema, table.codes), tools)


def _no_classifier(_: NDArray[np.int64]) -> Any:
    raise AssertionError("these techniques train no classifier")


def as_aif360(frame: Any, schema: Schema) -> Any:
    """Return a frame of categories as an aif360 dataset, every column by its codes."""
    from aif360.datasets import BinaryLabelDataset

    numbers = frame.apply(lambda column: column.cat.codes).astype(float)
    numbers[schema.sensitive_feature] = (frame[schema.sensitive_feature] == schema.deprived_group) * 1.0
    return BinaryLabelDataset(
        df=numbers,
        label_names=[schema.label],
        protected_attribute_names=[schema.sensitive_feature],
        favorable_label=float(schema.favorable_code),
        unfavorable_label=float(1 - schema.favorable_code),
    )


def _reweighing(name: str, table: Table, quick: bool) -> Iterator[Row]:
    from aif360.algorithms.preprocessing import Reweighing

    schema, frame, roles = table.schema, table.to_frame(), plain.Roles.of(table.schema)
    dataset = as_aif360(frame, schema)
    sensitive = schema.sensitive_feature

    def theirs() -> Any:
        fitted = Reweighing(unprivileged_groups=[{sensitive: 1}], privileged_groups=[{sensitive: 0}])
        return fitted.fit_transform(dataset).instance_weights

    contestants: dict[str, Callable[[], Any]] = {
        "betabench": lambda: _prepare(table, "reweighing").sample_weight,
        "aif360": theirs,
        "pandas": partial(plain.reweighing, frame, roles),
    }
    weights = {who: np.asarray(run()) for who, run in contestants.items()}
    for found in weights.values():
        np.testing.assert_allclose(found, weights["betabench"], rtol=1e-9)
    notes = dict.fromkeys(contestants, "the same weights")
    yield from alternate(
        "techniques", f"{name}, reweighing", contestants, size=len(table), notes=notes, quick=quick
    )


def _changing(name: str, table: Table, quick: bool) -> Iterator[Row]:
    """Massaging and the samplings: rows and labels out."""
    schema, frame, roles = table.schema, table.to_frame(), plain.Roles.of(table.schema)
    by_pandas: dict[str, Callable[[], Any]] = {
        "massaging": partial(plain.massaging, frame, roles),
        "uniform_sampling": partial(plain.uniform_sampling, frame, roles, 0),
        "preferential_sampling": partial(plain.preferential_sampling, frame, roles),
    }
    for technique, theirs in by_pandas.items():
        contestants: dict[str, Callable[[], Any]] = {
            "betabench": lambda technique=technique: _prepare(table, technique).table,
            "pandas": theirs,
        }
        ours, other = contestants["betabench"](), Table.from_frame(contestants["pandas"](), schema)
        np.testing.assert_array_equal(_cells(ours), _cells(other))
        same = _shared(ours, other)
        if technique != "uniform_sampling" and same < 0.99:
            raise AssertionError(f"{technique}: only {same:.1%} of the rows are the same")
        chosen = "random rows" if technique == "uniform_sampling" else f"{same:.2%} of the rows the same"
        notes = dict.fromkeys(contestants, f"cells of group and label the same, {chosen}")
        yield from alternate(
            "techniques", f"{name}, {technique}", contestants, size=len(table), notes=notes, quick=quick
        )


def _repair(name: str, table: Table, quick: bool) -> Iterator[Row]:
    table = table.take(np.arange(min(len(table), _ROWS_REPAIRED)))
    schema, frame, roles = table.schema, table.to_frame(), plain.Roles.of(table.schema)
    parameters = {"level": _LEVEL, "treatment": "categorical", "repair_label": True}
    contestants: dict[str, Callable[[], Any]] = {
        "betabench": lambda: _prepare(table, "repair", variant="blackbox_auditing", **parameters).table,
        "pandas": lambda: plain.repair(frame, roles, _LEVEL, 0),
    }
    repairer, reason = optional("BlackBoxAuditing.repairers.GeneralRepairer")
    if repairer is None:
        yield missing("techniques", f"{name}, repair", "BlackBoxAuditing", reason)
    else:
        rows = frame.astype(str).to_numpy().tolist()

        def theirs() -> Any:
            return repairer.Repairer(rows, schema.sensitive_index, _LEVEL, False).repair(rows)

        contestants["BlackBoxAuditing"] = theirs
    before = _apart(table, table)
    notes = {}
    for who, run in contestants.items():
        after = run()
        if not isinstance(after, Table):
            import pandas as pd

            after = Table.from_frame(pd.DataFrame(after, columns=list(schema.names)), schema)
        notes[who] = f"groups' shares {_apart(table, after):.4f} apart on average, {before:.4f} before"
    yield from alternate(
        "techniques", f"{name}, repair", contestants, size=len(table), notes=notes, quick=quick
    )


def _cells(table: Table) -> NDArray[np.int64]:
    return np.bincount(table.deprived.view(np.uint8) * 2 + table.y.view(np.uint8), minlength=4)


def _shared(one: Table, other: Table) -> float:
    """Return the share of rows that two tables have in common, whatever their order."""
    rows, counts = np.unique(np.vstack([one.codes, other.codes]), axis=0, return_inverse=True)
    first = np.bincount(counts[: len(one)], minlength=len(rows))
    second = np.bincount(counts[len(one) :], minlength=len(rows))
    return float(np.minimum(first, second).sum() / len(one))


def _apart(original: Table, table: Table) -> float:
    """Return the mean difference of the two groups' shares of a state, over all states of all features."""
    schema, deprived = original.schema, original.deprived
    differences = []
    for i in schema.feature_indices:
        if i != schema.sensitive_index:
            codes, k = table.codes[:, i], schema.columns[i].cardinality
            one, other = (np.bincount(codes[m], minlength=k) / m.sum() for m in (deprived, ~deprived))
            differences.append(np.abs(one - other))
    return float(np.mean(np.concatenate(differences)))
