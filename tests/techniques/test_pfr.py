"""Prejudice-free representations keep the columns that do not tell the group."""

import numpy as np
import pytest

from benchmark.conformance import example_table
from benchmark.errors import TechniqueError
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.pfr import audit
from tests.helpers.tables import table
from tests.helpers.techniques import prepare

# Half of the rows are deprived; x0 tells them, x1 is right in 7 of 10 rows, x2 in 5 of 10.
GROUP = np.repeat([0, 1], 100)
HINT = np.where(np.arange(200) % 10 < 7, GROUP, 1 - GROUP)
NOISE = np.where(np.arange(200) // 10 % 2 == 0, GROUP, 1 - GROUP)
LABEL = np.arange(200) % 3 == 0
TOLD = table(GROUP, LABEL, GROUP, HINT, NOISE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("max_auc", "kept"),
    [
        (1.0, ("x0", "x1", "x2")),
        (0.99, ("x1", "x2")),
        (0.701, ("x1", "x2")),
        (0.699, ("x2",)),
        (0.501, ("x2",)),
    ],
)
def test_columns_go_until_the_group_is_told_no_better_than_allowed(
    max_auc: float, kept: tuple[str, ...]
) -> None:
    # Alone, x1 ranks a deprived row above a favored one with probability 0.7² + 2 × 0.7 × 0.3 / 2 = 0.7.
    prepared = prepare("pfr", TOLD, max_auc=max_auc)
    assert prepared.features == kept
    assert prepared.table is TOLD
    assert prepared.transform is None


def test_audit_agrees_with_another_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    data = example_table()
    columns = [2, 4]
    encoding = Encoding.of(data, use_sensitive=False, treatment="categorical")
    spans = [encoding.spans[encoding.columns.index(i)] for i in columns]
    parts = [encoding.features(data)[:, span] for span in spans]
    X = np.column_stack([np.ones(len(data)), *parts])
    model = LogisticRegression(C=1 / (1e-4 * len(data)), fit_intercept=False, tol=1e-9, max_iter=10_000)
    score = model.fit(X, data.deprived).decision_function(X)
    auc, importance = audit(data, columns)
    assert auc == pytest.approx(roc_auc_score(data.deprived, score.round(6)), abs=1e-6)
    ends = np.cumsum([1] + [part.shape[1] for part in parts])
    for part, begin, end, found in zip(parts, ends, ends[1:], importance, strict=False):
        contribution = part @ model.coef_[0, begin:end]
        assert found == pytest.approx(np.abs(contribution - contribution.mean()).mean(), rel=1e-3)


def test_a_proxy_goes_before_noise() -> None:
    assert prepare("pfr", example_table(), max_auc=0.8).features == ("skill", "noise")
    assert prepare("pfr", example_table(), max_auc=0.6).features == ("noise",)


def test_fails_where_no_column_may_stay() -> None:
    with pytest.raises(TechniqueError, match=r"removed all columns.*at most 0.6.*AUC of 1.000 from the last"):
        prepare("pfr", table(GROUP, LABEL, GROUP))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("states", "members"),
    [([3, 1, 3, 4, 7], (4, 1)), ([7, 1, 2, 4], (4, 6)), ([2, 7], (4, 3)), ([8, 4, 1, 5], (5, 1))],
)
def test_a_column_that_tells_nothing_stays_at_an_auc_of_one_half(
    states: list[int], members: tuple[int, int]
) -> None:
    # Each state has the same share of both groups, so that the auditor's AUC is 1/2 but for rounding.
    rows = [(group, x) for x, n in enumerate(states) for group in (0, 1) for _ in range(n * members[group])]
    group, x = np.array(rows).T
    data = table(group.tolist(), (np.arange(len(x)) % 2).tolist(), x.tolist(), states=len(states))
    assert prepare("pfr", data, max_auc=0.5).features == ("x0",)
