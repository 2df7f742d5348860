"""Which metrics lack a property, and random rows for metrics that other programs have."""

from typing import Any

import numpy as np
import pytest

from benchmark.metrics import Predictions, evaluate, list_metrics

# Metrics of which a property does not hold, and why.
NOT_MIRRORED = {
    "abroca": "an area between two curves, which is not negative",
    "flip_test": "asks the rows of one group for neighbors in the other, and not the other way round",
    "label_kl_divergence": "a divergence of one group from the other",
    "predicted_positive_share": "the groups' shares sum to 1",
}
NOT_WEIGHTED = {
    **dict.fromkeys(("consistency", "flip_test"), "neighbors are rows, whatever their weights"),
    **dict.fromkeys(
        ("alternation_divergence", "alternation_gap"), "one row has no spread, whatever its weight"
    ),
}


def cases(source: str, test: str) -> list[Any]:
    """Return the metrics that a program has, and their names there, as parameters of a test."""
    return [
        pytest.param(item, equivalent, id=f"{item.name}-{equivalent.name}")
        for item in list_metrics().values()
        for equivalent in item.equivalents
        if (equivalent.source, equivalent.test) == (source, test)
    ]


def random_rows(n_groups: int, *, weighted: bool = True, seed: int = 1) -> Predictions:
    """Return rows whose groups differ in size, labels, predictions and scores, tied ones among them."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(n_groups, 900, p=np.arange(1, n_groups + 1) / np.arange(1, n_groups + 1).sum())
    y_true = rng.random(900) < 0.3 + 0.1 * codes
    y_score = np.clip(rng.normal(0.35 + 0.2 * y_true + 0.05 * codes, 0.25), 0.01, 0.99).round(2)
    weight = rng.integers(1, 5, 900) / 2 if weighted else None
    return Predictions(codes, tuple("abcde"[:n_groups]), y_true, y_score > 0.5, y_score, sample_weight=weight)


def as_pair(rows: Predictions, metric: str, deprived: int) -> dict[str, float]:
    """Return a metric of two groups by :func:`evaluate`."""
    scores = {"y_score": rows.y_score, "sample_weight": rows.sample_weight}
    return dict(evaluate(rows.y_true, rows.y_pred, rows.codes == deprived, metrics=[metric], **scores).values)
