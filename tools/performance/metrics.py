"""Metrics of 20 groups on 50,000 rows against fairlearn's MetricFrame and aif360's ClassificationMetric.

Either library is asked for what it has and we have too, for all groups, and has to give the same values, or
the part stops. Its data structures are made on the clock, as ours are: they are made anew for every
prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmark.metrics import Predictions, list_metrics
from benchmark.metrics import measure as measure_groups
from benchmark.seeding import generator
from tools.performance.timing import Row, alternate

__all__ = ["measure"]

_ROWS, _GROUPS = 50_000, 20
_OF_FAIRLEARN = (
    "selection_rate",
    "true_positive_rate",
    "true_negative_rate",
    "false_positive_rate",
    "false_negative_rate",
)
_OVERALL_OF_FAIRLEARN = ("demographic_parity_difference", "demographic_parity_ratio")


def measure(quick: bool) -> Iterator[Row]:
    """Time metrics of each group, and of each group against all others."""
    rows = _rows(_ROWS // 10 if quick else _ROWS)
    cases: dict[str, dict[str, Callable[[], dict[tuple[str, str], float]]]] = {
        "each group, fairlearn's metrics": {
            "betabench": partial(_ours, rows, (*_OF_FAIRLEARN, *_OVERALL_OF_FAIRLEARN)),
            "fairlearn, MetricFrame": partial(_fairlearn, rows),
        },
        "each group against the rest, aif360's metrics": {
            "betabench": partial(_ours, rows, _names_of_aif360()),
            "aif360, ClassificationMetric": partial(_aif360, rows),
        },
    }
    for case, contestants in cases.items():
        (_, ours), (_, theirs) = ((who, run()) for who, run in contestants.items())
        if ours.keys() != theirs.keys():
            raise AssertionError(f"{case}: other values: {sorted(ours.keys() ^ theirs.keys())}")
        for key, value in ours.items():
            np.testing.assert_allclose(theirs[key], value, rtol=1e-9, atol=1e-12, err_msg=str(key))
        notes = dict.fromkeys(contestants, f"the same {len(ours)} values")
        yield from alternate("metrics", case, contestants, size=len(rows), notes=notes, quick=quick)
    everything = [m.name for m in list_metrics().values() if m.from_counts]
    one: dict[str, Callable[[], Any]] = {"betabench": partial(_ours, rows, everything)}
    notes = {"betabench": f"{len(_ours(rows, everything))} values of {len(everything)} metrics"}
    yield from alternate("metrics", "all metrics of counts", one, size=len(rows), notes=notes, quick=quick)


def _rows(n_rows: int) -> Predictions:
    rng = generator(0, purpose="speed of metrics")
    codes = rng.integers(_GROUPS, size=n_rows)
    y_true = rng.random(n_rows) < 0.3 + 0.02 * codes
    y_pred = np.where(rng.random(n_rows) < 0.2, ~y_true, y_true)
    return Predictions(codes, tuple(f"group {g}" for g in range(_GROUPS)), y_true, y_pred)


def _ours(rows: Predictions, names: Any) -> dict[tuple[str, str], float]:
    fresh = Predictions(rows.codes, rows.names, rows.y_true, rows.y_pred)  # nothing counted beforehand
    return {(m.metric, m.group): m.value for m in measure_groups(fresh, names, reference=rows.names[0])}


def _fairlearn(rows: Predictions) -> dict[tuple[str, str], float]:
    import fairlearn.metrics as theirs

    functions = {name: getattr(theirs, name) for name in _OF_FAIRLEARN}
    given = {"y_true": rows.y_true, "y_pred": rows.y_pred, "sensitive_features": rows.codes}
    frame = theirs.MetricFrame(metrics=functions, **given)
    values = {
        (name, rows.names[int(code)]): float(value)
        for name, column in frame.by_group.items()
        for code, value in column.items()
    }
    return values | {(n, ""): float(getattr(theirs, n)(**given)) for n in _OVERALL_OF_FAIRLEARN}


def _aif360_equivalents() -> dict[str, tuple[str, int]]:
    """Return what ClassificationMetric calls our metrics of one group against the rest, and the sign."""
    found: dict[str, tuple[str, int]] = {}
    for item in list_metrics().values():
        for other in item.equivalents:
            if other.source == "AIF360" and item.from_counts and item.compare == "one_against_rest":
                found.setdefault(item.name, (other.name, -1 if other.relation == "negated" else 1))
    return found


def _names_of_aif360() -> tuple[str, ...]:
    return tuple(_aif360_equivalents())


def _aif360(rows: Predictions) -> dict[tuple[str, str], float]:
    import pandas as pd
    from aif360.datasets import BinaryLabelDataset
    from aif360.metrics import ClassificationMetric

    def dataset(labels: Any) -> Any:
        frame = pd.DataFrame({"group": rows.codes, "label": labels}, dtype=float)
        return BinaryLabelDataset(df=frame, label_names=["label"], protected_attribute_names=["group"])

    labelled, predicted = dataset(rows.y_true), dataset(rows.y_pred)
    values = {}
    for code, name in enumerate(rows.names):
        others = [{"group": float(g)} for g in range(_GROUPS) if g != code]
        of = ClassificationMetric(
            labelled, predicted, unprivileged_groups=[{"group": float(code)}], privileged_groups=others
        )
        for ours, (theirs, sign) in _aif360_equivalents().items():
            values[ours, name] = sign * float(getattr(of, theirs)())
    return values
